"""A connection with the extension, of the one of Python's two drivers that can load it."""
import sqlite3

import ztensor_sqlite

from .errors import StatementError, ZtensorError


class Connection:
    def __init__(self, threads=None, remote=False):
        try:
            self.driver = ztensor_sqlite.connect(remote=remote)
        except ztensor_sqlite.LoadError as error:
            raise ZtensorError(f"ztensor cannot be loaded: {error}") from None
        self.errors, self.memory_errors = sqlite3.Error, ()
        if type(self.driver).__module__ == "apsw":
            import apsw

            self.errors, self.memory_errors = apsw.Error, apsw.NoMemError
        if threads:
            self.rows("SELECT zt_threads(?)", [threads])

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.driver.close()

    def each(self, sql, bindings=()):
        """The rows as they come. Running out of memory is not a file's fault: Spark tries the task again."""
        try:
            yield from self.driver.execute(sql, bindings)
        except self.memory_errors:
            raise MemoryError from None
        except self.errors as error:
            raise StatementError(str(error)) from None

    def rows(self, sql, bindings=()):
        return list(self.each(sql, bindings))
