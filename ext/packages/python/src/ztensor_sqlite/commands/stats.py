"""`ztensor-sql stats`"""
import click

from .. import dtypes
from ..sources import Source
from . import options

STATISTICS = ["path", "object", "dtype", "elements", "zeros", "nans", "infs", "min", "max", "mean", "std", "l2", "error"]


@click.command("stats")
@options.SOURCES
@options.rows
def command(sources, view):
    """Show statistics of each tensor: zeros, NaN, min, max, mean, std, norm (l2).

    min, max, mean, std and norm are those of the finite values.
    """
    source = Source(*sources)
    session = view.session()
    single = source.is_single(session)
    skip = "" if single else ", 'skip'"
    objects = f"zt_objects({source.sql}{skip}) AS o"
    measured = ", ".join(f"s.{name}" for name in STATISTICS[3:])
    count = 0

    def counted():
        nonlocal count
        for row in session.rows(f"SELECT o.path, o.object, {dtypes.LOGICAL}, {measured} FROM {objects}"
                                f" CROSS JOIN zt_stats(o.path) AS s ON s.object = o.object WHERE {view.condition('o.object')}"):
            count += 1
            yield row[1:] if single else row

    bar = view.reading(session, "stats", f"SELECT total(stored_bytes) FROM {objects} WHERE {view.condition('o.object')}")
    view.show(STATISTICS[1:] if single else STATISTICS, counted(), bar)
    if not count:
        view.must_match(session, source)
    return int(not single and options.unreadable(session, source) > 0)


command.columns = STATISTICS
