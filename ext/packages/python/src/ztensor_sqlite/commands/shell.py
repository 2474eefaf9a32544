"""`ztensor-sql shell`"""
import click

from . import options


@click.command("shell")
@click.argument("database", default=":memory:")
@click.argument("statements", nargs=-1)
def command(database, statements):
    """Start an SQL shell with ztensor loaded, on a database if one is named.

    It runs the STATEMENTS if there are any, otherwise the statements on stdin.
    """
    from ..shell import run

    return run(options.database(database), statements)
