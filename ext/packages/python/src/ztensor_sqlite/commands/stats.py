"""`ztensor-sql stats`"""
import click

from .. import dtypes, models
from ..sources import Source
from . import options

STATISTICS = ["path", "object", "dtype", "elements", "zeros", "nans", "infs", "min", "max", "mean", "std", "l2", "error"]


@click.command("stats", short_help="Show statistics of each tensor.")
@options.SOURCES
@options.rows
def command(sources, view):
    """Show statistics of each tensor: zeros, NaN, min, max, mean, std, norm (l2).

    min, max, mean, std and norm are those of the finite values. The tensors of one model in several files are one list, and its index
    (*.index.json) is a SOURCE, too.
    """
    source = Source(*sources)
    session = view.session()
    model = source.model(session)
    alone = model is not None and model.is_whole and len(model.files) == 1   # An error of a file among others is told at the end
    skip = "" if alone else ", 'skip'"
    objects = f"zt_objects({source.sql}{skip}) AS o"
    measured = ", ".join(f"s.{name}" for name in STATISTICS[3:])
    read = set()

    def counted():
        for row in session.rows(f"SELECT o.path, o.object, {dtypes.LOGICAL}, {measured} FROM {objects}"
                                f" CROSS JOIN zt_stats(o.path) AS s ON s.object = o.object WHERE {view.condition('o.object')}"):
            read.add(row[0])
            yield row[1:] if model else row

    bar = view.reading(session, "stats", f"SELECT total(stored_bytes) FROM {objects} WHERE {view.condition('o.object')}")
    view.show(STATISTICS[1:] if model else STATISTICS, counted(), bar)
    if not read:
        view.must_match(session, source, model)
    broken = 0 if alone else options.unreadable(session, source, read)
    missing = models.tell_missing(model) if model else 0
    return int(broken > 0 or missing > 0)


command.columns = STATISTICS
