"""`ztensor-sql serve`"""
import click

from ..session import Trouble, is_database
from . import options


@click.command("serve", short_help="Show a collection or a catalog in the browser.")
@options.SOURCES
@options.DB
@click.option("--port", default=8001, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 chooses a free one.")
@click.option("--quick", is_flag=True, help="Read no tensors, and leave out everything that needs their values.")
@click.option("--title", help="The collection's name on the page, in place of its directory's.")
@options.SQL
@options.REMOTE
def command(sources, db, port, quick, title, show):
    """Show a collection, or a catalog, in the browser.

    A collection's catalog (--db) is first brought up to date, with findings and statistics. A catalog is shown as it is.
    """
    from ..places import catalog_of, refuse_pipes
    from ..server import serve

    refuse_pipes(sources)
    if is_database(sources[0]):
        if len(sources) > 1:
            raise Trouble(f"{sources[0]}: a catalog is shown alone; ztensor-sql merge makes one of several")
        serve(sources[0], None, port, quick, show, title)
    else:
        serve(sources, db or catalog_of(sources), port, quick, show, title)
