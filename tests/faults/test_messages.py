"""The words, and what follows: a message for each way to fail, and a catalog that forgets no file for a fault."""
import errno
import os
import sqlite3

import pytest

from faults import ABSENT, ERRORS, Fault, Log, answer, connect, descriptors, failing, left_open
from support import ROOT


class First:
    """The first call of a function on a path fails, or with `after` so many more of them."""

    def __init__(self, function, path, error, after=0):
        self.wanted, self.error, self.after = (function, str(path)), error, after

    def __call__(self, call, path, size):
        self.after -= (call, path) == self.wanted
        return getattr(errno, self.error) if (call, path) == self.wanted and self.after == -1 else 0


OBJECTS = "SELECT object FROM zt_objects('{}')"
BLOB = "SELECT zt_blob('{}', 'w')"
IN_W = "object 'w': component 'data': "


@pytest.mark.parametrize("sql, source, function, name, error, after, text", [
    (OBJECTS, "d/a.zt", "stat", "d/a.zt", "EIO", 0, "cannot open: Input/output error"),
    (OBJECTS, "d/a.zt", "open", "d/a.zt", "EACCES", 0, "cannot open: Permission denied"),
    (OBJECTS, "d/a.zt", "open", "d/a.zt", "EMFILE", 0, "cannot open: Too many open files"),
    (OBJECTS, "d/a.zt", "open", "d/a.zt", "ENOENT", 0, "cannot open: No such file or directory"),
    (OBJECTS, "d/a.zt", "fstat", "d/a.zt", "EOVERFLOW", 0, "cannot open: Value too large for defined data type"),
    (OBJECTS, "d/a.zt", "pread", "d/a.zt", "EIO", 0, "cannot read: Input/output error"),
    (OBJECTS, "d/a.zt", "pread", "d/a.zt", "EISDIR", 2, "cannot read: Is a directory"),
    (OBJECTS, "d/a.zt", "fstat", "d/a.zt", "ESTALE", 1, "cannot read: Stale file handle"),
    (BLOB, "d/a.zt", "open", "d/a.zt", "ENFILE", 0, "cannot open: Too many open files in system"),
    (BLOB, "d/a.zt", "pread", "d/a.zt", "EIO", 3, IN_W + "cannot read: Input/output error"),
    (BLOB, "d/b.zt", "open", "d/b-s.zt", "EACCES", 0, IN_W + "shard {shard}: cannot open: Permission denied"),
    (BLOB, "d/b.zt", "pread", "d/b-s.zt", "EIO", 0, IN_W + "shard {shard}: cannot read: Input/output error"),
    (BLOB, "d/b.zt", "pread", "d/b-s.zt", "EIO", 2, IN_W + "shard {shard}: cannot read: Input/output error"),
    (BLOB, "d/b.zt", "fstat", "d/b-s.zt", "ESTALE", 1, IN_W + "shard {shard}: cannot read: Stale file handle"),
    (OBJECTS, "d", "stat", "d", "EIO", 0, "cannot open: Input/output error"),
    (OBJECTS, "d", "stat", "d", "EOVERFLOW", 1, "cannot list the directory: Value too large for defined data type"),
    (OBJECTS, "d", "opendir", "d", "EMFILE", 0, "cannot list the directory: Too many open files"),
    (OBJECTS, "d", "opendir", "d", "ENOENT", 0, "cannot list the directory: No such file or directory"),
    (OBJECTS, "d", "readdir", "d", "EIO", 3, "cannot list the directory: Input/output error"),
])
def test_a_message_names_the_file_and_says_why(tree, sql, source, function, name, error, after, text):
    db = connect()
    with failing(tree, First(function, tree / name, error, after)):
        got = answer(db, sql.format(tree / source))
    db.close()
    assert isinstance(got, sqlite3.Error) and got.sqlite_errorcode == sqlite3.SQLITE_ERROR
    assert str(got) == f"ztensor: {tree / source}: " + text.format(shard=tree / "d/b-s.zt")


@pytest.mark.parametrize("error, rule", [("EIO", "unreadable"), ("EMFILE", "unreadable"), ("ENOENT", "missing-shard")])
def test_a_shard_that_the_system_refuses_is_not_missing(tree, error, rule):
    db = connect()
    path, shard = tree / "d/b.zt", tree / "d/b-s.zt"
    with failing(tree, First("open", shard, error)):
        got = answer(db, f"SELECT rule, message FROM zt_check('{path}', 'full')")
    db.close()
    assert got == [(rule, f"shard {shard}: cannot open: {os.strerror(getattr(errno, error))}")]


def test_a_size_that_cannot_be_told_is_null(tree):
    db = connect()
    path = tree / "d/a.zt"
    for error in ERRORS["stat"]:
        with failing(path, Fault(1, error, lasting=False)):
            got = answer(db, f"SELECT path, size, mtime FROM zt_files('{tree}/d/a*.zt')")
        assert isinstance(got, MemoryError) if error == "ENOMEM" else got == [(str(path), None, None)]
    db.close()


def test_a_refresh_forgets_no_file_for_a_fault(tree, capsys):
    """Files that a listing without its end does not have would be removed from the catalog."""
    first, now, _ = (ROOT / "sql/refresh.sql").read_text().partition("-- ---- Now")
    assert now
    db = connect()
    db.executescript((ROOT / "sql/catalog.sql").read_text())
    db.executescript(first)
    listed = "SELECT path FROM files ORDER BY path"

    def refresh(question):
        with failing(tree, question):
            got = answer(db, f"INSERT INTO refresh(source) VALUES ('{tree}/d')")
            assert left_open() == 0
        return got

    assert refresh(Log()) == []
    paths = answer(db, listed)
    assert len(paths) == 6
    log = Log()
    refresh(log)
    before = descriptors()
    injected = failed = 0
    for n, function in enumerate(log.calls, 1):
        for error in sorted(set(ERRORS[function]) - ABSENT):
            fault = Fault(n, error, lasting=n % 2 == 0)
            db.execute("SAVEPOINT s")
            got = refresh(fault)
            assert fault.injected and (got == [] or isinstance(got, MemoryError) and error == "ENOMEM" or fault.names(str(got)))
            assert set(paths) <= set(answer(db, listed)), f"{function}({fault.path}): {error}"
            db.execute("ROLLBACK TO s")
            db.execute("RELEASE s")
            injected += fault.injected
            failed += got != []
    assert injected > 100 and descriptors() == before
    db.close()
    with capsys.disabled():
        print(f"\nrefresh: {len(log.calls)} calls, {injected} faults, {failed} refreshes failed", end="")
