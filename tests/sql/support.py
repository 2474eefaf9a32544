"""Paths, connections and failures, for conftest.py and the tests."""
import ctypes
import os
import sqlite3
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Each format's folder may have a module that writes such files
sys.path += map(str, sorted((ROOT / "tests" / "formats").iterdir()))


def extension_path():
    """Without the suffix, as load_extension() and .load take it. ZTENSOR overrides the one in the project's root."""
    path = os.path.abspath(os.environ.get("ZTENSOR", ROOT / "ztensor"))
    return path[:-3] if path.endswith(".so") else path


EXTENSION = extension_path()
# AddressSanitizer keeps its notes of a library's globals, a megabyte, when the library is unloaded: here it stays.
STAYS = ctypes.CDLL(EXTENSION + ".so") if "libasan" in os.environ.get("LD_PRELOAD", "") else None
SOURCE_TABLES = ["zt_files", "zt_objects", "zt_components", "zt_attributes"]
# zt_files reports an unreadable file in its `error` column; these three raise.
RAISING_TABLES = ["zt_objects", "zt_components", "zt_attributes"]
# SQLite 3.35, the first that has it, crashes with RETURNING of a virtual table in temp, whatever its module is.
RETURNING = sqlite3.sqlite_version_info >= (3, 36)
# Earlier ones ask nothing of a trigger in temp, which is the user's own.
TRIGGERS_REFUSED = sqlite3.sqlite_version_info >= (3, 40)
TODAYS_PLANS = pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 38), reason="Older planners choose otherwise, and say it in other words")


def open_connection(database=":memory:", entry=None, load=True):
    """A connection with the extension: the usual entry point, or the named one, or none."""
    db = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    db.enable_load_extension(True)
    if entry:
        db.execute("SELECT load_extension(?, ?)", (EXTENSION, entry)).fetchall()   # To its end: it would be in the way of VACUUM
    elif load:
        db.load_extension(EXTENSION)
    return db


def rows(db, sql, *arguments):
    return db.execute(sql, arguments).fetchall()


def value(db, sql, *arguments):
    """The one value of a statement that gives one row of one column."""
    (row,) = rows(db, sql, *arguments)
    (only,) = row
    return only


def failure(db, sql, *arguments):
    """Runs a statement that must fail before its first row; returns the exception."""
    before = []
    with pytest.raises(sqlite3.Error) as caught:
        for row in db.execute(sql, arguments):
            before.append(row)
    assert before == []
    return caught.value


def message(db, sql, *arguments):
    """As failure(), but the text. The failure must be an ordinary one: SQLITE_ERROR."""
    error = failure(db, sql, *arguments)
    assert error.sqlite_errorcode == sqlite3.SQLITE_ERROR, error
    return str(error)


def prefix(source):
    """The beginning of a message about this source."""
    return "ztensor: <blob>: " if isinstance(source, bytes) else f"ztensor: {source}: "


def place(source, object=None, component=None):
    """The beginning of a message: file, object, component, as far as they are given."""
    text = prefix(source)
    if object is not None:
        text += f"object '{object}': "
    if component is not None:
        text += f"component '{component}': "
    return text


def quoted(text):
    """As an SQL string literal, for the shell."""
    return "'" + str(text).replace("'", "''") + "'"


EVERYTHING = ["SELECT * FROM zt_objects(?)", "SELECT * FROM zt_components(?)", "SELECT * FROM zt_attributes(?)",
              "SELECT digest_status, stored, data FROM zt_components(?)", "SELECT zt_manifest(?)"]


def everything(db, source):
    """All that can be had of a file, with neither path nor time of change: rows, and errors without their prefix."""
    found, whole = [], source if isinstance(source, bytes) else Path(source).read_bytes()   # Of a compressed file, stored bytes are all of it
    for sql in EVERYTHING:
        try:
            found.append([tuple(None if v in (source, whole) else v for v in row) for row in db.execute(sql, (source,))])
        except sqlite3.Error as error:
            text = str(error)
            assert text.startswith(prefix(source)), text
            found.append((error.sqlite_errorcode, text[len(prefix(source)):]))
    return found
