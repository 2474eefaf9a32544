"""A query: its options, and the files of its source."""
import os
import re
import struct

from .connection import Connection
from .errors import StatementError, ZtensorError
from .tables import TABLES

COMMON = ("table", "path", "paths", "files_per_partition", "bytes_per_partition", "remote")
BOOLEANS = {"true": True, "false": False}
LEVELS = ("quick", "full")
URL = re.compile(rb"[A-Za-z][A-Za-z0-9+.-]+://")
BINS_MAX = 65536


class Scan:
    """The query as plain values, because it goes from process to process."""

    def __init__(self, options):
        self.table = _table(options)
        _check_names(self.table, options)
        self.source = _source(self.table, options)
        self.files_per_partition = _number(options, "files_per_partition", 1 << 31, 200)
        self.bytes_per_partition = _number(options, "bytes_per_partition", 1 << 50, 256 << 20)
        self.remote = _boolean(options, "remote")
        self.only = options.get("object")
        self.bindings = {"only": self.only, "level": options.get("level", LEVELS[0]), "dtype": options.get("dtype"),
                         "bins": _number(options, "bins", BINS_MAX, None)}
        if self.bindings["level"] not in LEVELS:
            raise ZtensorError(f"option 'level' is {' or '.join(LEVELS)}, not {self.bindings['level']!r}")
        try:
            with Connection(remote=self.remote) as connection:
                _check_dtype(connection, self.bindings["dtype"])
                self.bindings["other"] = _other(connection, self.table, options)
        except StatementError as error:
            raise ZtensorError(str(error)) from None

    def partitions(self, reads):
        """[[path]]: lists of a number of files, or, if tensors are read, of a number of bytes."""
        if not self.table.of_files:
            return [[b""]]
        found, bytes_left = [], 0
        for path, size in self._files():
            if not found or len(found[-1]) == self.files_per_partition or reads and bytes_left <= 0:
                found.append([])
                bytes_left = self.bytes_per_partition
            found[-1].append(path)
            bytes_left -= size or 0
        return found

    def _files(self):
        """[(path, size)], without opening a file. Paths are absolute, because workers have other directories."""
        try:
            with Connection(remote=self.remote) as connection:
                rows = connection.rows("SELECT CAST(path AS BLOB), size FROM zt_files(?)", [self.source])
        except StatementError as error:
            raise ZtensorError(str(error)) from None
        return [(_absolute(path), size) for path, size in rows]


def _absolute(path):
    return path if URL.match(path) else os.path.join(os.getcwdb(), path)


def _table(options):
    name = options.get("table")
    if name not in TABLES:
        given = "is missing" if name is None else f"is {name!r}"
        raise ZtensorError(f"option 'table' {given}: there are {', '.join(TABLES)}")
    return TABLES[name]


def _check_names(table, options):
    for name in options:
        if name in COMMON or name in table.options:
            continue
        tables = [other.name for other in TABLES.values() if name in other.options]
        if tables:
            raise ZtensorError(f"option {name!r} is for {', '.join(tables)}, not for table {table.name!r}")
        raise ZtensorError(f"option {name!r} is not known: table {table.name!r} has {', '.join(COMMON + table.options)}")


def _source(table, options):
    """Spark makes a JSON array of several paths, which the extension takes for a list."""
    source = options.get("paths", options.get("path"))
    if table.of_files and source is None:
        raise ZtensorError("load() needs a source: a path, a pattern, a directory, or a list of them")
    if not table.of_files and source is not None:
        raise ZtensorError(f"table {table.name!r} has no source: call load() without a path")
    return source


def _number(options, name, most, default):
    text = options.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20 and 1 <= int(text) <= most):
        raise ZtensorError(f"option {name!r} is a whole number from 1 to {most}, not {text!r}")
    return int(text)


def _boolean(options, name):
    text = options.get(name, "false")
    if text.lower() not in BOOLEANS:
        raise ZtensorError(f"option {name!r} is true or false, not {text!r}")
    return BOOLEANS[text.lower()]


def _check_dtype(connection, dtype):
    """Ask the extension whether it knows the dtype, by the rows of a file with a single f32, 1.0."""
    header = b'{"data":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    connection.rows("SELECT count(*) FROM zt_rows(?, 'data', ?)", [struct.pack("<Q", len(header)) + header + b"\0\0\x80\x3f", dtype])


def _other(connection, table, options):
    """The file that each file is compared with."""
    if table.name != "compare":
        return None
    if "other" not in options:
        raise ZtensorError("option 'other' is missing: the file that each file is compared with")
    files = connection.rows("SELECT CAST(path AS BLOB), error FROM zt_files(?)", [options["other"]])
    if len(files) != 1:
        raise ZtensorError(f"option 'other' is one file, and {options['other']!r} are {len(files)}")
    (path, error), = files
    if error is not None:
        raise ZtensorError(f"option 'other': {error}")
    return _absolute(path)
