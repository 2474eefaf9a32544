"""Access to writing: the promises of ext/SECURITY.md about zt_writer."""
import sqlite3

import pytest

from support import EXTENSION, TRIGGERS_REFUSED, message, open_connection, rows

WRITE = "sqlite3_ztensor_write_init"
ROW = "INSERT INTO out(name, data, dtype, shape) VALUES ('w', zeroblob(8), 'f32', '[2]')"


@pytest.fixture
def target(tmp_path):
    return tmp_path / "x.zt"


def writer(target, database=":memory:"):
    db = open_connection(database, WRITE)
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}')")
    return db


@pytest.mark.parametrize("entry", ["sqlite3_ztensor_init", "sqlite3_ztensor_nofs_init"])
def test_no_other_entry_point_can_write(target, entry):
    db = open_connection(entry=entry)
    assert message(db, f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}')") == "no such module: zt_writer"
    assert not target.exists()


def test_the_entry_point_that_writes_does_not_join_nofs_nor_nofs_it():
    for first, second in ((WRITE, "sqlite3_ztensor_nofs_init"), ("sqlite3_ztensor_nofs_init", WRITE)):
        db = open_connection(entry=first)
        assert "ztensor is loaded already" in message(db, "SELECT load_extension(?, ?)", EXTENSION, second)


def test_it_may_be_loaded_after_the_usual_one(target):
    db = open_connection()
    db.execute("SELECT load_extension(?, ?)", (EXTENSION, WRITE))
    db.execute("SELECT load_extension(?, ?)", (EXTENSION, WRITE))
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}')")
    db.execute(ROW)
    assert rows(db, "SELECT object FROM zt_objects(?)", str(target)) == [("w",)]


def test_a_table_of_a_database_cannot_write(tmp_path, target):
    path = tmp_path / "stranger.db"
    db = open_connection(path, WRITE)
    assert "zt_writer is for temp alone" in message(db, f"CREATE VIRTUAL TABLE main.out USING zt_writer('{target}')")
    db.execute("CREATE TABLE t(x)")
    db.execute("PRAGMA writable_schema = ON")
    db.execute("INSERT INTO sqlite_master VALUES ('table', 'out', 'out', 0, ?)", (f"CREATE VIRTUAL TABLE out USING zt_writer('{target}')",))
    db.close()
    db = open_connection(path, WRITE)
    assert rows(db, "SELECT count(*) FROM t") == [(0,)]
    assert "zt_writer is for temp alone" in message(db, ROW)
    assert not target.exists()


@pytest.mark.parametrize("temp", ["", "TEMP "])
def test_no_trigger_writes_to_it(tmp_path, target, temp):
    db = writer(target, tmp_path / "a.db")
    db.execute("CREATE TABLE t(x)")
    if temp and not TRIGGERS_REFUSED:
        db.execute(f"CREATE TEMP TRIGGER i AFTER INSERT ON t BEGIN {ROW}; END")
        db.execute("INSERT INTO t VALUES (1)")
        assert rows(db, "SELECT object FROM zt_objects(?)", str(target)) == [("w",)]
        return
    with pytest.raises(sqlite3.OperationalError, match="unsafe use of virtual table|no such table: main.out"):
        db.execute(f"CREATE {temp}TRIGGER i AFTER INSERT ON t BEGIN {ROW}; END")
        db.execute("INSERT INTO t VALUES (1)")
    assert not target.exists()


def test_temp_views_and_triggers_read_it_and_views_of_a_database_do_not(tmp_path, target):
    db = writer(target, tmp_path / "a.db")
    db.execute("CREATE TABLE t(x)")
    db.execute("CREATE VIEW main.v AS SELECT name FROM out")
    db.execute("CREATE TEMP VIEW own AS SELECT name FROM out")
    db.execute("CREATE TEMP TRIGGER i AFTER INSERT ON t WHEN new.x IS NULL BEGIN INSERT INTO t SELECT name FROM out; END")
    db.execute(f"CREATE TEMP TRIGGER o INSTEAD OF INSERT ON own BEGIN {ROW}; END")
    db.execute("BEGIN")
    db.execute(ROW)
    db.execute("INSERT INTO t VALUES (NULL)")
    assert rows(db, "SELECT name FROM own") == rows(db, "SELECT x FROM t WHERE x IS NOT NULL") == [("w",)]
    with pytest.raises(sqlite3.OperationalError, match="no such table: main.out"):
        rows(db, "SELECT * FROM main.v")
    with pytest.raises(sqlite3.Error, match="unsafe use of virtual table" if TRIGGERS_REFUSED else "there is an object of this name"):
        db.execute("INSERT INTO own VALUES ('x')")


def test_an_authorizer_may_deny_all_functions(target):
    db = writer(target)
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action == sqlite3.SQLITE_FUNCTION else sqlite3.SQLITE_OK)
    db.execute("BEGIN")
    db.execute(ROW.replace("zeroblob(8)", "x'0000000000000000'"))
    db.execute("UPDATE out SET name = 'v'")
    assert rows(db, "SELECT rowid, name FROM out") == [(1, "v")]
    db.execute("COMMIT")
    db.set_authorizer(None)
    assert rows(db, "SELECT object FROM zt_objects(?)", str(target)) == [("v",)]


@pytest.mark.parametrize("denied, path", [(sqlite3.SQLITE_CREATE_VTABLE, None), (sqlite3.SQLITE_INSERT, "out")])
def test_an_authorizer_decides(target, denied, path):
    db = open_connection(entry=WRITE)
    asked = []

    def authorize(action, first, second, *_):
        if action == denied and path in (None, first):
            asked.append((first, second))
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    db.set_authorizer(authorize)
    with pytest.raises(sqlite3.DatabaseError, match="not authorized|prohibited"):
        db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}')")
        db.execute(ROW)
    assert asked == [("out", "zt_writer" if denied == sqlite3.SQLITE_CREATE_VTABLE else None)] and not target.exists()


def test_closing_without_commit_writes_nothing(tmp_path, target):
    db = writer(target)
    db.execute("BEGIN")
    db.execute(ROW)
    db.close()
    assert [*tmp_path.iterdir()] == []
