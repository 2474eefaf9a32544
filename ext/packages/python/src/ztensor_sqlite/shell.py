"""An SQL shell with ztensor loaded. It is apsw's shell, because a sqlite3 shell may not be installed."""
import signal

from . import load
from .session import Session, Trouble, wait

INTRO = "Tensor files are tables: SELECT path, object, dtype, shape FROM zt_objects('models'); .help lists the shell's own commands.\n"


def run(database, statements):
    """Run the statements, or those on stdin, and return the status."""
    try:
        import apsw
        import apsw.shell
    except ImportError:
        raise Trouble("the shell needs apsw, which is not installed: pip install apsw") from None

    class Shell(apsw.shell.Shell):
        """apsw's shell, whose `.parameter set` is as the sqlite3 shell's, since the scripts for that one are run in it."""

        def command_parameter(self, words):
            words = [*words[:1], *(word.lstrip(":$@") for word in words[1:2]), *words[2:]]
            if len(words) == 3 and words[0] == "set":
                try:
                    self.bindings[words[1]] = self.db.execute(f"SELECT ({words[2]})").get
                except apsw.Error:   # No SQL: the text itself
                    self.bindings[words[1]] = words[2]
            else:
                super().command_parameter(words)

        command_parameter.__doc__ = apsw.shell.Shell.command_parameter.__doc__

    signal.signal(signal.SIGINT, signal.default_int_handler)
    apsw.connection_hooks.append(lambda opened: load(opened, remote=Session.remote))   # So that what .open opens has it, too
    try:
        shell = Shell(db=apsw.Connection(database))
    except apsw.Error as error:
        raise Trouble(f"{database}: {error}") from None
    shell.bail = bool(statements) or not shell.interactive
    if shell.bail:   # No one is there to try again
        wait(shell.db)
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
