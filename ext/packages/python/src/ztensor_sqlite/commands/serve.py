"""`ztensor-sql serve`"""
import click

from . import options


@click.command("serve")
@click.argument("source")
@options.DB
@click.option("--port", default=8001, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 chooses a free one.")
@click.option("--quick", is_flag=True, help="Read no tensors, and leave out everything that needs their values.")
@click.option("--title", help="The collection's name on the page, in place of its directory's.")
@options.SQL
def command(source, db, port, quick, title, show):
    """Show a collection, or a catalog, in the browser.

    A collection's catalog (--db) is first brought up to date, with findings and statistics. A catalog is shown as it is.
    """
    from ..server import serve

    serve(source, db, port, quick, show, title)
