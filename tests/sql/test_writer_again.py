"""zt_writer: a transaction in which SQLite reads the schema again, and connects the table once more: after ROLLBACK TO if the
transaction has changed the schema, and when another connection has."""
import sqlite3

import pytest

from support import rows, value
from writing import CONSTRAINT, declare, inside, listing, names, open_writer, put, refusal  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")
LOCKED = 6


def read_again_by_rollback(db, path):
    db.execute("SAVEPOINT s")
    put(db, "undone")
    db.execute("ROLLBACK TO s")


def read_again_by_others(db, path):
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE strange(x)")
    other.close()
    assert rows(db, "SELECT * FROM strange") == []


@pytest.mark.parametrize("read_again, mode", [
    (read_again_by_rollback, "create"), (read_again_by_rollback, "update"), (read_again_by_others, "create")])
def test_rows_stay_when_sqlite_reads_the_schema_again(read_again, mode):
    db = open_writer("w.zt", database="main.db")
    if mode == "update":
        put(db, "old")
        db.execute("DROP TABLE out")
        declare(db, "w.zt", "mode='update'")
    old = ["old"] if mode == "update" else []
    db.execute("BEGIN")
    if read_again is read_again_by_rollback:
        db.execute("CREATE TABLE own(x)")
    put(db, "a")
    put(db, "b", b"\7\7")
    read_again(db, "main.db")
    assert rows(db, "SELECT name FROM out") == [(name,) for name in [*old, "a", "b"]]
    put(db, "c")
    db.execute("UPDATE out SET name = 'd' WHERE name = 'a'")
    db.execute("SAVEPOINT t")
    db.execute("DELETE FROM out")
    db.execute("ROLLBACK TO t")
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES ('b', x'00', 'u8', '[1]')") == (
        CONSTRAINT, "ztensor: w.zt: object 'b': there is an object of this name")
    assert rows(db, "SELECT name, hex(data) FROM out WHERE name = 'b'") == [("b", "0707")]
    db.execute("COMMIT")
    assert sorted(names(db, "w.zt")) == [*"bcd", *old]
    assert value(db, "SELECT count(*) FROM out") == (4 if mode == "update" else 0) and listing(".") == ["main.db", "w.zt"]
    if mode == "update":   # The next transaction is the new one's
        db.execute("DELETE FROM out WHERE name <> 'd'")
        assert names(db, "w.zt") == ["d"]
    db.close()


def test_a_table_that_was_connected_again_is_dropped_and_made_again():
    db = open_writer("w.zt")
    db.execute("BEGIN")
    db.execute("CREATE TABLE own(x)")
    put(db, "a")
    read_again_by_rollback(db, None)
    assert refusal(db, "DROP TABLE out")[0] == LOCKED
    db.execute("RELEASE s")
    db.execute("DROP TABLE out")
    declare(db, "w.zt")
    put(db, "new")
    read_again_by_rollback(db, None)
    put(db, "newer")
    db.execute("COMMIT")
    assert names(db, "w.zt") == ["new", "newer"]
    db.close()


def test_a_select_ends_with_the_rows_of_a_table_that_was_connected_again():
    db = open_writer("w.zt")
    db.execute("BEGIN")
    db.execute("CREATE TABLE own(x)")
    for name in "abc":
        put(db, name)
    read_again_by_rollback(db, None)
    open_ = db.execute("SELECT name FROM out")
    assert next(open_) == ("a",)
    db.execute("ROLLBACK")
    with pytest.raises(sqlite3.Error):
        list(open_)
    db.close()
