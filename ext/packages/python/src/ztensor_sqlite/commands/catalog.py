"""`ztensor-sql catalog`"""
import os

import click

from .. import output
from ..session import Trouble
from . import options


@click.command("catalog", short_help="Make a catalog of collections, or refresh it.")
@options.SOURCES
@options.DB
@click.option("--fingerprint", is_flag=True, help="Read all bytes, and save fingerprints, which find tensors and files with the same values.")
@click.option("--check", is_flag=True, help="Read all bytes, and save the findings of `check --full`.")
@click.option("--statistics", is_flag=True, help="Read all bytes, and save statistics, histograms, and distances between models of the same kind.")
@options.YES
@options.form
def command(sources, db, fingerprint, check, statistics, yes, view):
    """Make a catalog of collections, or bring it up to date. Status 1 if a file cannot be read.

    Only new and changed files are read. A pass over all bytes that was stopped continues where it stopped.
    """
    from ..catalog import REFRESHED, count, hosts, measure, prepare, refresh, second_pass
    from ..places import catalog_of, make_room, refuse_pipes

    refuse_pipes(sources)
    path = db or catalog_of(sources)
    if not os.path.exists(options.database(path)):   # Sources without files make no new catalog
        for source in sources:
            if not count(source):
                raise Trouble(f"{source}: there is no tensor file")
    if not db:
        make_room(path)
    options.may_make(path, yes)
    session = view.session(path)
    progress = view.progress(session)
    prepare(session)
    rows = refresh(session, sources, progress)
    view.show(REFRESHED, rows)
    for name, wanted in (("fingerprint", fingerprint), ("check", check)):
        if wanted:
            view.say(f"{name}: {output.counted(sum(second_pass(session, name, host, progress) for host in hosts(session)), 'file')}")
    if statistics:
        files, pairs = measure(session, progress)
        view.say(f"statistics: {output.counted(files, 'file')}, {output.counted(pairs, 'pair')}")
    if not db:
        view.say(f"catalog: {path}")
    found = [dict(zip(REFRESHED, row)) for row in rows]
    for row in found:
        if not row["files"]:
            raise Trouble(f"{row['source']}: there is no tensor file")
    return int(any(row["broken"] or row["unsupported"] or row["kept"] for row in found))
