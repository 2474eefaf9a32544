"""Reads a query's files, partition by partition."""
from urllib.parse import quote_from_bytes

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceReader, InputPartition

from . import schema as schemas
from . import values
from .connection import Connection
from .errors import StatementError, ZtensorError
from .tables import FILE

# What a batch has at most, but for its last row
BATCH_ROWS, BATCH_BYTES = 10_000, 32 << 20
THREADS_MAX = 64   # The extension's own limit
# A file that is gone is an error of the extension, unless its name is a pattern, or that of a directory: of files that it
# finds then there are no rows, and this has none, either
THERE = f"SELECT path IS NULL FROM zt_files({FILE}) WHERE path = {FILE}"


def shown(path):
    """A path as text. A path that is not UTF-8 becomes a URI, which opens the same file."""
    try:
        return path.decode()
    except UnicodeDecodeError:
        return "file://" + quote_from_bytes(path)


def connect(remote):
    """The reader in a worker. It uses the processors of its own task; the others belong to other tasks."""
    task = TaskContext.get()
    return Connection(threads=task and min(task.cpus(), THREADS_MAX), remote=remote)


class Reader(DataSourceReader):
    """The reader is made where the query is planned, and copied to the workers."""

    def __init__(self, scan, schema):
        self.scan = scan
        self.names = [field.name.lower() for field in schema]
        with Connection() as connection:
            schemas.check(scan.table, scan.table.columns(connection), schema)
            self.sql = scan.table.statement(self.names, connection, scan.only)
        self.kinds = [field.dataType.simpleString() for field in schema]
        self.arrow = pyarrow.schema([(field.name, values.ARROW[kind]) for field, kind in zip(schema, self.kinds)])
        self.error_at = self.names.index("error") if "error" in self.names else None

    def partitions(self):
        reads = self.scan.table.reads_tensors(self.names, self.scan.bindings["level"])
        return [InputPartition(paths) for paths in self.scan.partitions(reads)]

    def read(self, partition):
        rows, size = [], 0
        with connect(self.scan.remote) as connection:
            for path in partition.value or ():   # None is what Spark makes of no partitions
                for row in self._file(connection, path):
                    rows.append((path, row))
                    size += sum(len(v) for v in row if v.__class__ in (str, bytes))
                    if len(rows) >= BATCH_ROWS or size >= BATCH_BYTES:
                        yield self._batch(rows)
                        rows, size = [], 0
        if rows:
            yield self._batch(rows)

    def _file(self, connection, path):
        """The rows of a file, with a row for each thing that cannot be read."""
        bindings = {**self.scan.bindings, "path": path, "shown": shown(path)}
        count = 0
        for count, row in enumerate(self._parts(connection, bindings), 1):
            yield row
        if not count and self.scan.table.of_files and not connection.rows(THERE, bindings):
            yield self._failed(bindings, f"ztensor: {bindings['shown']}: is no longer a file")

    def _parts(self, connection, bindings):
        try:
            listing = self.scan.table.listing(self.names, self.scan.only)
            parts = connection.rows(listing, bindings) if listing else [()]
        except StatementError as error:
            yield self._failed(bindings, str(error))
            return
        for part in parts:
            named = {**bindings, **dict(zip(self.scan.table.keys(self.names), part))}
            try:
                yield from connection.each(self.sql, named)
            except StatementError as error:
                yield self._failed(named, str(error))

    def _error(self, message):
        if self.error_at is None:
            raise ZtensorError(f"{message} (a column 'error' in .schema() makes that a row)")
        return message

    def _failed(self, bindings, message):
        """The row for a thing that cannot be read."""
        known = {key: bindings.get(key) for key in self.scan.table.keys(self.names)}
        known.update(path=bindings["shown"], error=self._error(message))
        return tuple(known.get(name) for name in self.names)

    def _batch(self, rows):
        columns = [list(column) for column in zip(*(row for _, row in rows))]
        arrays = [None] * len(columns)
        # The errors last: values that are none of their column's type add to them
        for i in sorted(range(len(columns)), key=lambda i: i == self.error_at):
            arrays[i], reasons = values.array(columns[i], self.kinds[i])
            for row, reason in reasons.items():
                error = self._error(f"ztensor: {shown(rows[row][0])}: column {self.names[i]!r}: {reason}; as string it can be had")
                columns[self.error_at][row] = columns[self.error_at][row] or error
        return pyarrow.RecordBatch.from_arrays(arrays, schema=self.arrow)
