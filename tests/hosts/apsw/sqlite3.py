"""The part of Python's sqlite3 that the SQL suite uses, over apsw, which brings an SQLite of its own: with this directory in front of
the others in PYTHONPATH, `import sqlite3` means this module, in the suite and in the programs that it starts."""
import contextlib
import functools
import io
import weakref

import apsw
import apsw.shell
from apsw import (SQLITE_CREATE_VTABLE, SQLITE_DENY, SQLITE_ERROR, SQLITE_FUNCTION, SQLITE_IGNORE, SQLITE_INSERT,  # noqa: F401
                  SQLITE_INTERRUPT, SQLITE_LIMIT_LENGTH, SQLITE_OK, SQLITE_PRAGMA, SQLITE_RECURSIVE, SQLITE_TOOBIG)

apsw.allow_missing_dict_bindings(True)   # As sqlite3: a parameter that executescript() meets is NULL
sqlite_version = apsw.sqlite_lib_version()
sqlite_version_info = tuple(map(int, sqlite_version.split(".")))


class Error(Exception):
    pass


class DatabaseError(Error):
    pass


class OperationalError(DatabaseError):
    pass


class DataError(DatabaseError):
    pass


class IntegrityError(DatabaseError):
    pass


CLASSES = {apsw.TooBigError: DataError, apsw.ConstraintError: IntegrityError, apsw.MismatchError: IntegrityError,
           apsw.CorruptError: DatabaseError, apsw.NotADBError: DatabaseError}


@contextlib.contextmanager
def errors():
    """apsw's errors as those of sqlite3; apsw's texts begin with the name of the class."""
    try:
        yield
    except apsw.NoMemError as error:
        raise MemoryError from error
    except apsw.Error as error:
        raised = CLASSES.get(type(error), OperationalError)(str(error).removeprefix(type(error).__name__ + ": "))
        raised.sqlite_errorcode = getattr(error, "extendedresult", SQLITE_ERROR)
        raise raised from error


def note(cursor, rows, sql, arguments):
    """Before the first step, which may be the last: what the columns are called."""
    cursor().description = [(name, *[None] * 6) for name, _ in rows.get_description()]
    return True


class Cursor:
    def __init__(self, connection, sql, arguments):
        self.description = None
        self.rows = connection.cursor()
        self.rows.exec_trace = functools.partial(note, weakref.ref(self))   # No circle: what is forgotten is closed
        with errors():
            self.rows.execute(sql, arguments)

    def __iter__(self):
        return self

    def __next__(self):
        with errors():
            return next(self.rows)

    def fetchone(self):
        return next(self, None)

    def fetchall(self):
        return list(self)

    def close(self):
        self.rows.close(True)


class Connection:
    def __init__(self, database, isolation_level="", check_same_thread=True):
        self.automatic = isolation_level is not None
        with errors():
            self.apsw = apsw.Connection(str(database))

    def __getattr__(self, name):
        return getattr(self.apsw, name)

    def execute(self, sql, arguments=()):
        self.begin(sql)
        return Cursor(self.apsw, sql, arguments)

    def begin(self, sql):
        """sqlite3 begins a transaction before a statement that writes, unless it is told not to."""
        if self.automatic and self.apsw.get_autocommit() and sql.lstrip()[:6].upper() in ("INSERT", "UPDATE", "DELETE"):
            self.apsw.execute("BEGIN")

    def executemany(self, sql, sequence):
        self.begin(sql)
        with errors():
            self.apsw.executemany(sql, sequence)

    def executescript(self, sql):
        self.commit()
        with errors():
            list(self.apsw.execute(sql, {}))   # To the end: it stops at rows

    def commit(self):
        if not self.apsw.get_autocommit():
            self.apsw.execute("COMMIT")

    def rollback(self):
        if not self.apsw.get_autocommit():
            self.apsw.execute("ROLLBACK")

    def close(self):
        self.apsw.close(True)

    def load_extension(self, path):
        with errors():
            self.apsw.load_extension(path)

    def setlimit(self, category, limit):
        return self.apsw.limit(category, limit)

    def set_authorizer(self, authorizer):
        self.apsw.authorizer = authorizer

    def set_progress_handler(self, handler, steps):
        """One that raises ends the statement."""
        def asked():
            try:
                return bool(handler())
            except Exception:
                return True
        self.apsw.set_progress_handler(handler and asked, steps)

    def create_function(self, name, arguments, function):
        self.apsw.create_scalar_function(name, function, arguments)

    def iterdump(self):
        out = io.StringIO()
        apsw.shell.Shell(db=self.apsw, stdout=out).process_command(".dump")
        return (line for line in out.getvalue().splitlines() if not line.startswith("-- "))   # The time, among others


def connect(database, **options):
    return Connection(database, **options)
