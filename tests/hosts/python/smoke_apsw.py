"""The extension in apsw, which brings its own SQLite: smoke_apsw.py EXTENSION, in the project's root."""
import platform
import sys

import apsw

import expected
from expected import BROKEN, MODEL, OBJECTS, QUERY, WRONG, content, fails, image, many, same


def connect():
    db = apsw.Connection(":memory:")
    db.enable_load_extension(True)
    db.load_extension(sys.argv[1])
    return db


def check(db):
    content(lambda sql, *arguments: db.execute(sql, arguments).get)
    for model, broken, name in (MODEL, BROKEN, BROKEN), (image(MODEL), memoryview(image(BROKEN)), "<blob>"):
        same(db.execute(QUERY, (model,)).get, OBJECTS)
        fails(apsw.SQLError, f"ztensor: {name}: {WRONG}", db.execute, QUERY, (broken,))


def thread(_):
    """A connection of the thread's own; closing it by force while one of its statements runs."""
    db = connect()
    for _ in range(50):
        check(db)
    running = db.execute(QUERY, (MODEL,))
    same(next(running), OBJECTS[0])
    db.close(True)


def other_library():
    """Python's own sqlite3 is another SQLite library in the same process: the same file of the extension must refuse it."""
    import sqlite3
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    text = "ztensor serves another SQLite library in this process already: load a copy of the file"
    fails(sqlite3.OperationalError, f"error during initialization: {text}", db.load_extension, sys.argv[1])


def main():
    db = many(connect, check, thread)
    other_library()
    check(db)
    version = apsw.sqlite_lib_version()
    same(f"SQLite {version}," in db.execute("SELECT zt_version()").get, True)
    print(f"Python {platform.python_version()}, apsw {apsw.apsw_version()}, SQLite {version}: {len(expected.checks)} checks")


main()
