"""Connections that write, and files written with zt_writer, for the tests of writing."""
import os
import sqlite3
import struct

import pytest

import support
from support import rows

BUSY, INTERRUPT, IOERR, FULL, TOOBIG, CONSTRAINT = 5, 9, 10, 13, 18, 19    # SQLITE_..., which not every module sqlite3 has
ENTRY = "sqlite3_ztensor_write_init"


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """Tests name files relative to a directory of their own."""
    monkeypatch.chdir(tmp_path)


def f32(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


def open_writer(path, *arguments, name="out", db=None, database=":memory:"):
    """A connection with a table `name` that writes to the path; arguments as SQL: "mode='replace'"."""
    db = db or support.open_connection(database, ENTRY)
    declare(db, path, *arguments, name=name)
    return db


def declare(db, path, *arguments, name="out"):
    listed = ", ".join([support.quoted(path), *arguments])
    db.execute(f"CREATE VIRTUAL TABLE temp.{name} USING zt_writer({listed})")


def put(db, name, data=b"\1\2\3\4", dtype="u8", shape=None, table="out", **columns):
    """Inserts a tensor by value; its shape is that of one dimension of bytes, if none is given."""
    columns = {"name": name, "data": data, "dtype": dtype, "shape": shape or f"[{len(data)}]", **columns}
    insert(db, table=table, **columns)


def insert(db, table="out", **columns):
    places = ",".join("?" * len(columns))
    db.execute(f"INSERT INTO {table}({','.join(columns)}) VALUES({places})", tuple(columns.values()))


def refusal(db, sql, *arguments):
    """(primary result code, message) of a statement that fails."""
    try:
        db.execute(sql, arguments).fetchall()
    except sqlite3.Error as error:
        return error.sqlite_errorcode & 0xff, str(error)
    raise AssertionError(f"no error: {sql}")


def tensors(db, path):
    """{name: (dtype, shape, bytes)} of a file's dense tensors, in its order."""
    found = rows(db, "SELECT o.object, c.type, o.shape, c.data FROM zt_objects(?1) o JOIN zt_components(?1) c USING(object)", str(path))
    return {name: (dtype, shape, data) for name, dtype, shape, data in found}


def names(db, path):
    """The names of a file's objects, in its order."""
    return [name for name, in rows(db, "SELECT object FROM zt_objects(?)", str(path))]


def attributes(db, path):
    return rows(db, "SELECT object, key, value, type FROM zt_attributes(?)", str(path))


def listing(directory):
    """All names in a directory, hidden ones, too."""
    return sorted(os.listdir(directory))
