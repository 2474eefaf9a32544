"""`ztensor-sql tree`"""
import os
import sys

import click

from .. import models, output
from ..session import quote
from ..sources import Source
from . import options

COLUMNS = ["module", "copies", "tensors", "parameters", ("bytes", output.BYTES), "share", "types", ("shape", output.JSON)]

SHARED = """SELECT total(n - 1), total((n - 1) * length) FROM (SELECT length, count(*) AS n FROM zt_components({})
            WHERE offset IS NOT NULL AND length > 0 GROUP BY path, shard, offset, length HAVING n > 1)"""


@click.command("tree", short_help="Show the modules of a model.")
@click.argument("words", nargs=-1, required=True, metavar="MODEL", type=click.Path())
@click.option("--depth", type=click.IntRange(0), metavar="N", help="Only N levels below the model.")
@click.option("-t", "--tensors", is_flag=True, help="List the tensors, too, and not only the modules that they are in.")
@click.option("--unfold", is_flag=True, help="List each of several modules that are alike.")
@options.form
def command(words, depth, tensors, unfold, view):
    """Show a model's modules with their parameters, bytes, and share of the bytes. Status 1 if a part of the model is not there.

    A MODEL is a file, a folder that holds one model, an index (*.index.json), its files, or a pattern of them. Modules that are alike are
    one line, such as layers.[0-31], with the sums of all of them.
    """
    from ..modules import Tensor, tree

    session = view.session()
    found = models.one(session, Source(*words).text)
    rows = tree([Tensor(*tensor[1:]) for tensor in models.tensors(session, found)], depth, tensors, not unfold)
    is_table = view.form is None and sys.stdout.isatty()
    view.show(COLUMNS, (_cells(row, found.name, is_table) for row in rows))
    ((shared, size),) = session.run(SHARED.format(quote(found.source)))
    if shared:
        view.say(f"{output.counted(int(shared), 'tensor')} {'share' if shared > 1 else 'shares'} the bytes of another one, such as tied weights: {output.size(size)} count more than once")
    return models.tell_missing(found)


def _cells(row, name, is_table):
    """A row; on a terminal, a module is indented and has only its own part of the name."""
    module, copies, share = row.module if row.level else name, row.copies, row.share
    if is_table:
        module = "  " * row.level + (row.label if row.level else os.path.basename(name))
        copies = copies if copies > 1 else None
        share = f"{100 * share:.1f} %".rjust(7)
    return module, copies, row.tensors, row.parameters, row.bytes, share, " ".join(row.types), row.shape


command.columns = [column if isinstance(column, str) else column[0] for column in COLUMNS]
