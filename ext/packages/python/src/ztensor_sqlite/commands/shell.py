"""`ztensor-sql shell`"""
import os

import click

from ..session import Trouble
from . import options


@click.command("shell", short_help="Start an SQL shell with ztensor loaded.")
@click.argument("database", default=":memory:", type=click.Path())
@click.argument("statements", nargs=-1)
@click.option("-c", "--command", "commands", multiple=True, metavar="SQL", help="Run this statement, or a command such as .tables.")
@options.REMOTE
def command(database, statements, commands):
    """Start an SQL shell with ztensor loaded, on a database if one is named. A new database's name ends in .db.

    It runs the SQL of -c, or the STATEMENTS, if there are any. Otherwise it runs the statements on stdin.
    """
    from ..shell import run

    if database not in (":memory:", "") and not os.path.exists(database) and not database.endswith(".db"):
        raise Trouble(f"{database}: there is no such database, and a new one's name ends in .db; SQL is given as: ztensor-sql shell -c {_quoted(database)}")
    return run(options.database(database), [*commands, *statements])


def _quoted(text):
    """The text as a shell takes it."""
    return '"' + text + '"' if not set(text) & set('"$`\\!\n') else "'" + text.replace("'", "'\\''") + "'"
