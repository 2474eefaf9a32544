"""The extension in Python's own sqlite3: smoke_sqlite3.py EXTENSION, in the project's root."""
import platform
import sqlite3
import sys

import expected
from expected import BROKEN, MODEL, OBJECTS, QUERY, WRONG, content, fails, image, many, same


def connect():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(sys.argv[1])
    return db


def check(db):
    def value(sql, *arguments):
        return db.execute(sql, arguments).fetchone()[0]

    content(value)
    for model, broken, name in (MODEL, BROKEN, BROKEN), (image(MODEL), memoryview(image(BROKEN)), "<blob>"):
        same(db.execute(QUERY, (model,)).fetchall(), OBJECTS)
        fails(sqlite3.OperationalError, f"ztensor: {name}: {WRONG}", db.execute, QUERY, (broken,))


def thread(_):
    """A connection of the thread's own; closing it while one of its statements runs."""
    db = connect()
    for _ in range(50):
        check(db)
    running = db.execute(QUERY, (MODEL,))
    same(next(running), OBJECTS[0])
    db.close()
    fails(sqlite3.ProgrammingError, "Cannot operate on a closed database.", next, running)


def main():
    db = many(connect, check, thread)
    same(f"SQLite {sqlite3.sqlite_version}," in db.execute("SELECT zt_version()").fetchone()[0], True)
    print(f"Python {platform.python_version()}, sqlite3, SQLite {sqlite3.sqlite_version}: {len(expected.checks)} checks")


main()
