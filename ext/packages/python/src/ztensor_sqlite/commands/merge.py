"""`ztensor-sql merge`"""
import click

from . import options


@click.command("merge", short_help="Merge catalogs into one.")
@click.argument("others", nargs=-1, required=True, metavar="CATALOG...", type=click.Path())
@click.option("--db", required=True, metavar="FILE", type=click.Path(), help="The catalog that the others are merged into.")
@options.YES
@options.form
def command(others, db, yes, view):
    """Merge catalogs, such as those of other machines, into the catalog that --db names."""
    from ..catalog import MERGED, can_merge, merge

    can_merge(others, options.database(db))
    options.may_make(db, yes)
    view.show(MERGED, list(merge(view.session(db), others)))
