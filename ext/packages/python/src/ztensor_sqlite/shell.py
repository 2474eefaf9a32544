"""An SQL shell with ztensor loaded. It is apsw's shell, because a sqlite3 shell may not be installed."""
import signal

from . import load
from .session import Session, Trouble

INTRO = "Tensor files are tables: SELECT path, object, dtype, shape FROM zt_objects('models'); .help lists the shell's own commands.\n"


def run(database, statements):
    """Run the statements, or those on stdin, and return the status."""
    try:
        import apsw
        import apsw.shell
    except ImportError:
        raise Trouble("the shell needs apsw, which is not installed: pip install apsw") from None

    signal.signal(signal.SIGINT, signal.default_int_handler)
    apsw.connection_hooks.append(lambda opened: load(opened, remote=Session.remote))   # So that what .open opens has it, too
    try:
        shell = apsw.shell.Shell(db=apsw.Connection(database))
    except apsw.Error as error:
        raise Trouble(f"{database}: {error}") from None
    shell.bail = bool(statements) or not shell.interactive
    try:
        for statement in statements:
            shell.process_complete_line(statement)
        if not statements:
            shell.cmdloop(INTRO)
    except (apsw.Error, apsw.shell.Shell.Error) as error:
        if not hasattr(error, "_handle_exception_saw_this"):
            shell.write(shell.stderr, f"ztensor-sql: {error}\n")   # The others the shell has told
        return 2
    return 0
