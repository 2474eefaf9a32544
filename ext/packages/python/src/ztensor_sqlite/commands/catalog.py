"""`ztensor-sql catalog`"""
import os

import click

from . import options


@click.command("catalog")
@options.SOURCES
@options.DB
@click.option("--fingerprint", is_flag=True, help="Read all bytes, and save fingerprints, which find tensors and files with the same values.")
@click.option("--check", is_flag=True, help="Read all bytes, and save the findings of `check --full`.")
@click.option("--statistics", is_flag=True, help="Read all bytes, and save statistics, histograms, and distances between models of the same kind.")
@options.YES
@options.form
def command(sources, db, fingerprint, check, statistics, yes, view):
    """Make a catalog of collections, or bring it up to date.

    Only new and changed files are read. A pass over all bytes that was stopped continues where it stopped.
    """
    from ..catalog import REFRESHED, count, hosts, measure, prepare, refresh, second_pass

    if not os.path.exists(options.database(db)):   # Missing sources make no new catalog
        for source in sources:
            count(source)
    options.may_make(db, yes)
    session = view.session(db)
    prepare(session)
    view.show(REFRESHED, refresh(session, sources, options.progress))
    for name, wanted in (("fingerprint", fingerprint), ("check", check)):
        if wanted:
            view.say(f"{name}: {sum(second_pass(session, name, host, options.progress) for host in hosts(session))} files")
    if statistics:
        view.say("statistics: {} files, {} pairs".format(*measure(session, options.progress)))
