"""The command's connection, which can show the SQL that it runs."""
import itertools
import os
import sys

from . import LoadError, connect, loadable_path, sql_path


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
        if self._is_sqlite3():
            self.connection.isolation_level = None
            self.connection.text_factory = _text
        self.connection.execute("PRAGMA busy_timeout = 60000")   # Another program may be at work on the catalog

    def _is_sqlite3(self):
        return hasattr(self.connection, "text_factory")

    def _say(self, text):
        if self.show:
            print(text, file=sys.stderr)

    def rows(self, sql):
        """The rows of a statement, as they come."""
        self._say(sql.strip() + ";")
        cursor = self.connection.execute(sql)
        return cursor if self._is_sqlite3() else self._decoded(cursor, sql)

    def _decoded(self, cursor, sql):
        """The rows from apsw. apsw fails at text that is not UTF-8; from there on the rows are queried again, with text as bytes."""
        given = 0
        try:
            for row in cursor:
                yield row
                given += 1
            return
        except UnicodeDecodeError:
            pass
        names = [f"c{i}" for i in range(len(self.connection.execute(sql).get_description()))]
        asked = ", ".join(f"typeof({name}) = 'text', CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"
                          for name in names)
        rows = self.connection.execute(f"WITH r({', '.join(names)}) AS MATERIALIZED ({sql}) SELECT {asked} FROM r")
        for row in itertools.islice(rows, given, None):
            yield tuple(_text(value) if is_text else value for is_text, value in zip(row[::2], row[1::2]))

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
            if self._is_sqlite3():
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
        if self._is_sqlite3():
            self.connection.create_function(name, count, function)
        else:
            self.connection.create_scalar_function(name, function, count)


def _word(text):
    """A word of a command of the shell."""
    return text if text.isprintable() and not set(text) & set(" \"'\\") else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _text(data):
    return data.decode("utf-8", "surrogateescape")
