"""`ztensor-sql stats`"""
import click

from . import options

STATISTICS = ["path", "object", "elements", "zeros", "nans", "infs", "min", "max", "mean", "std", "l2", "error"]


@click.command("stats")
@options.SOURCES
@options.rows
def command(sources, view):
    """Show statistics of each tensor: zeros, NaN, min, max, mean, std, norm (l2)."""
    source = options.source_of(sources)
    session = view.session()
    return options.show_tensors(session, view, "zt_stats", STATISTICS, source, options.is_single(session, source))
