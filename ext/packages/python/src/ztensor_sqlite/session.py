"""The command's connection, which can show the SQL that it runs."""
import os
import sys

from . import LoadError, _text, connect, loadable_path, sql_path


class Trouble(Exception):
    """A failure for the user, in one line, with status 2."""


def quote(value):
    """A value as SQL writes it. Text that is not UTF-8, such as some paths, or has U+0000 in it, is written as its bytes."""
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    try:
        value.encode()
        is_plain = "\0" not in value
    except UnicodeEncodeError:
        is_plain = False
    if not is_plain:
        return f"CAST(x'{os.fsencode(value).hex()}' AS TEXT)"
    return "'" + value.replace("'", "''") + "'"


def is_database(path):
    """Whether the path is of an SQLite database. Nothing is read from a pipe."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(16) == b"SQLite format 3\0"
    except (OSError, ValueError):
        return False


WAIT = 60   # Seconds for which a statement waits for another program that is writing the database


def wait(connection):
    """Let the statements of a connection wait for other programs."""
    connection.execute(f"PRAGMA busy_timeout = {int(1000 * WAIT)}")


class Session:
    """Statements run one after the other, each in its own transaction. Values are written into them. `show` prints them on stderr
    in a form that the sqlite3 shell can run."""

    remote = False   # Whether the command's sources may be remote
    catalog = None   # The path of the last database that was opened, for messages

    def __init__(self, database=":memory:", show=False, write=False):
        self.show = show
        if database != ":memory:":
            Session.catalog = database
            self._say(f".open {_word(database)}")
        self._say(f".load {_word(os.path.splitext(loadable_path())[0])}{' sqlite3_ztensor_remote_init' if self.remote else ''}")
        if write:
            self._say(f".load {_word(os.path.splitext(loadable_path())[0])} sqlite3_ztensor_write_init")
        try:
            self.connection = connect(database, remote=self.remote, write=write)
        except LoadError:
            raise
        except Exception as error:   # Of sqlite3 or of apsw
            raise Trouble(f"{database}: {error}") from None
        if _text.is_sqlite3(self.connection):
            self.connection.isolation_level = None
        _text.prepare(self.connection)
        wait(self.connection)

    def _say(self, text):
        if self.show:
            print(text, file=sys.stderr)

    def rows(self, sql):
        """The rows of a statement, as they come."""
        self._say(sql.strip() + ";")
        return _text.rows(self.connection, sql)

    def run(self, sql):
        """All rows of a statement."""
        return list(self.rows(sql))

    def value(self, sql):
        """The first value of the only row."""
        ((value, *_),) = self.run(sql)
        return value

    def bound(self, sql, *values):
        """All rows of a statement with values that are too long to be written into it."""
        self._say(f"-- {sql}   -- with values of {', '.join(str(len(value)) for value in values)} bytes")
        return list(self.connection.execute(sql, values))

    def script(self, path):
        """Run the statements of a file in one transaction. Its parameters are NULL."""
        self._say(f".read {_word(path)}")
        with open(path, encoding="utf-8") as file:
            text = file.read()
        # Scripts read before they write, and SQLite waits for no other writer on behalf of one that has read
        text = f"BEGIN IMMEDIATE;\n{text}\n;COMMIT;"
        try:
            if _text.is_sqlite3(self.connection):
                self.connection.executescript(text)
            else:
                for _ in self.connection.execute(text, {"source": None}):
                    pass
        finally:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def shipped(self, *names):
        """Run scripts of sql/."""
        for name in names:
            self.script(os.path.join(sql_path(), name))

    def function(self, name, count, function):
        """Let statements call a function of Python."""
        if _text.is_sqlite3(self.connection):
            self.connection.create_function(name, count, function)
        else:
            self.connection.create_scalar_function(name, function, count)


def _word(text):
    """A word of a command of the shell."""
    return text if text.isprintable() and not set(text) & set(" \"'\\") else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
