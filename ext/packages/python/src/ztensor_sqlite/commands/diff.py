"""`ztensor-sql diff`"""
import click

from .. import models, output
from ..session import Trouble
from ..sources import Source
from . import options

CHANGES = ["object", "other_object", "change", "elements", "equal", "nans", "rmse", "max_abs", "cosine", "distance", "error", "note", "type",
           "other_type", ("shape", output.JSON), ("other_shape", output.JSON)]


@click.command("diff", short_help="Show the tensors that differ between two models.")
@click.argument("a", type=click.Path())
@click.argument("b", type=click.Path())
@click.option("--all", "everything", is_flag=True, help="Also show tensors that are the same.")
@click.option("--map", "mapped", type=click.Choice(["auto", "none"]), default="auto", show_default=True,
              help="How other names belong together: of GGUF by llama.cpp's tables, and without a wrapper's prefix; or not at all.")
@click.option("--db", metavar="FILE", help="Save the distances in this catalog, for its page. The catalog must have both files.")
@options.rows
def command(a, b, everything, mapped, db, view):
    """Show the tensors that differ between two models, the most distant first. Status 1 if there are any.

    A model is a file, a folder that holds one model, an index (*.index.json), or a pattern of its files. The distance of two tensors is
    the norm of their difference divided by the larger of their norms: 0 to 2.
    """
    from .. import catalog, measures
    from ..differences import diff

    if db:
        catalog.exists(db)
    session = view.session(db or ":memory:")
    if db:
        catalog.must_be(session, db)
    first, second = (models.one(session, Source(word).text) for word in (a, b))
    for model in (first, second) if db else ():
        if len(model.files) != 1:
            raise Trouble(f"{model.name}: --db saves the distances of single files; the page compares models of several")
    pair = measures.pair_of(session, first.name, second.name) if db else None
    with view.reading(session, "diff", models.bytes_of([first, second])):
        rows = diff(session, first, second, view.condition(), mapped == "auto", view.say)
    if not rows:
        view.must_match(session, Source(*first.files, *second.files))
    different = [row for row in rows if row.change != "same"]
    view.show(CHANGES, rows if everything else different)
    view.say(f"{output.counted(len(rows), 'tensor')}: {len(rows) - len(different)} the same, {len(different)} not")
    if db:
        catalog.prepare(session)
        with measures.transaction(session):
            measures.compare(session, [pair])
    missing = [models.tell_missing(model) for model in (first, second)]
    return int(bool(different) or any(missing))


command.columns = [column if isinstance(column, str) else column[0] for column in CHANGES]
