"""`ztensor-sql diff`"""
import math

import click

from .. import output
from ..session import Trouble
from ..sources import Source
from . import options

CHANGES = ["object", "change", "elements", "equal", "nans", "rmse", "max_abs", "cosine", "distance", "error", "type", "other_type",
           ("shape", output.JSON), ("other_shape", output.JSON)]


@click.command("diff")
@click.argument("a")
@click.argument("b")
@click.option("--all", "everything", is_flag=True, help="Also show tensors that are the same.")
@click.option("--db", metavar="FILE", help="Save the distances in this catalog, for its page. The catalog must have both files.")
@options.rows
def command(a, b, everything, db, view):
    """Show the tensors that differ between two files, the most distant first. Status 1 if there are any.

    The distance of two tensors is the norm of their difference divided by the larger of their norms: 0 to 2.
    """
    from .. import catalog, measures

    if db:
        catalog.exists(db)
    session = view.session(db or ":memory:")
    if db:
        catalog.must_be(session, db)
    a, b = Source(a), Source(b)
    for source in (a, b):
        if not source.is_single(session):
            raise Trouble(f"{source}: this is not one file")
    pair = measures.pair_of(session, a.text, b.text) if db else None
    with view.reading(session, "diff", f"SELECT total(size) FROM (SELECT size FROM zt_files({a.sql}) UNION ALL SELECT size FROM zt_files({b.sql}))"):
        rows = [_distanced(row) for row in measures.diff(session, a.text, b.text)]
    different = [row for row in rows if row[1] != "same"]
    view.show(CHANGES, rows if everything else different)
    view.say(f"{len(rows)} tensor{'s' * (len(rows) != 1)}: {len(rows) - len(different)} the same, {len(different)} not")
    if db:
        catalog.prepare(session)
        with measures.transaction(session):
            measures.compare(session, [pair])
    return int(len(different) > 0)


def _distanced(row):
    row = list(row)
    row[8] = 0.0 if row[1] == "same" else None if row[8] is None else math.sqrt(row[8])
    return row
