"""zt_writer: what a SELECT shows outside of a transaction, and what becomes of one that is open when a transaction ends."""
import os
import shutil
import sqlite3

import pytest

from support import rows, value
from writing import ENTRY, declare, insert, inside, listing, names, put, refusal  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")
ABORT, LOCKED = 4, 6
ENDED = "the transaction whose rows this statement reads has ended, or was undone in part"
SHOWN = "SELECT rowid, *, bytes FROM out"


@pytest.fixture
def db(connect, inside):
    """A connection, a file a.zt with five tensors and two attributes, and the table `out` that updates it."""
    db = connect(entry=ENTRY)
    declare(db, "a.zt", name="made")
    db.execute("BEGIN")
    for name in "abcde":
        put(db, name, name.encode(), table="made")
    insert(db, "made", name=None, key="licence", value="MIT")
    insert(db, "made", name="b", key="k", value=2.5)
    db.execute("COMMIT")
    db.execute("DROP TABLE made")
    declare(db, "a.zt", "mode='update'")
    return db


# ---------------------------------------------------------------------------------- a file's rows, without a transaction

def test_the_rows_are_those_with_which_a_transaction_begins(db):
    shown = rows(db, SHOWN)
    db.execute("BEGIN")
    assert rows(db, SHOWN) == shown
    db.execute("COMMIT")
    assert [(row[1], row[2], row[-1]) for row in shown] == [(name, "a.zt", 1) for name in "abcde"] + [
        (None, None, None), ("b", None, None)]
    assert [(row[12], row[13]) for row in shown[-2:]] == [("licence", "MIT"), ("k", 2.5)]


def test_nothing_is_left(db):
    before = os.stat("a.zt")
    assert value(db, "SELECT count(*) FROM out") == 7 and not db.in_transaction
    assert rows(db, "SELECT * FROM temp.out_zt") == [] and listing(".") == ["a.zt"]
    db.execute("CREATE TABLE other(a)")
    db.execute("VACUUM")
    db.execute("DROP TABLE out")
    assert (os.stat("a.zt").st_ino, os.stat("a.zt").st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("where, found", [
    ("name = 'b'", ["b", "b"]), ("name > 'c'", ["d", "e"]), ("name IS NULL", [None]), ("rowid = 3", ["c"]), ("rowid = 8", []),
    ("name IN ('e', 'a', 'x')", ["a", "e"]), ("name = 'A'", []), ("name = 'A' COLLATE NOCASE", ["a"])])
def test_where(db, where, found):
    assert [name for name, in rows(db, f"SELECT name FROM out WHERE {where} ORDER BY rowid")] == found


def test_rows_are_copied(db):
    db.execute("CREATE TABLE t AS SELECT name, bytes FROM out WHERE key IS NULL")
    db.execute("INSERT INTO t SELECT name || name, bytes FROM out WHERE key IS NULL")
    assert [name for name, _ in rows(db, "SELECT * FROM t")] == [*"abcde", "aa", "bb", "cc", "dd", "ee"]
    declare(db, "b.zt", name="other")
    db.execute("INSERT INTO other SELECT * FROM out")
    assert names(db, "b.zt") == [*"abcde"] and value(db, "SELECT count(*) FROM zt_attributes('b.zt')") == 2


def test_a_table_with_itself(db):
    assert value(db, "SELECT group_concat(x.name || y.name) FROM out x JOIN out y ON x.name < y.name AND x.key IS NULL AND y.key IS NULL "
                     "WHERE y.name < 'd'") == "ab,ac,bc"
    assert value(db, "SELECT count(*) FROM out x JOIN out y") == 49
    assert rows(db, "SELECT name, (SELECT count(*) FROM out y WHERE y.name < x.name AND key IS NULL) FROM out x WHERE rowid < 4") == [
        ("a", 0), ("b", 1), ("c", 2)]


def test_the_file_is_read_once_for_a_subquery_that_begins_again(db):
    """Not once for each row of the table around it, which has the rows of the same file."""
    read = []

    def authorize(action, *names):
        read.extend(name for name in names[:1] if name == "zt_objects")
        return 0

    db.set_authorizer(authorize)
    assert value(db, "SELECT sum((SELECT count(*) FROM out y WHERE y.name < x.name)) FROM out x") > 0
    db.set_authorizer(None)
    assert 0 < len(read) < 7


def test_two_statements_at_once(db):
    first = db.execute("SELECT name FROM out WHERE key IS NULL")
    assert first.fetchone() == ("a",)
    second = db.execute("SELECT name FROM out WHERE key IS NULL")
    db.execute("DELETE FROM out WHERE name = 'c'")
    third = db.execute("SELECT name FROM out WHERE key IS NULL")
    assert third.fetchone() == second.fetchone() == ("a",)
    assert first.fetchall() == [*map(tuple, "bcde")] and [*map("".join, third)] == [*"bde"]
    assert [*map("".join, second)] in ([*"bcde"], [*"bde"])


def test_another_file_is_another_answer(db, connect):
    assert value(db, "SELECT count(*) FROM out") == 7
    other = connect(entry=ENTRY)
    declare(other, "a.zt", "mode='replace'")
    put(other, "theirs")
    assert rows(db, "SELECT name FROM out") == [("theirs",)]
    os.remove("a.zt")
    assert refusal(db, "SELECT name FROM out") == (1, "ztensor: a.zt: there is no such file to update")


def test_a_statement_that_is_open_when_a_transaction_begins(db):
    """Its rows are those of the file when it began."""
    open_ = db.execute("SELECT name FROM out WHERE key IS NULL")
    assert open_.fetchone() == ("a",)
    db.execute("BEGIN")
    db.execute("DELETE FROM out WHERE name > 'b'")
    put(db, "f")
    assert rows(db, "SELECT name FROM out WHERE key IS NULL") == [("a",), ("b",), ("f",)]
    assert open_.fetchone() == ("b",)
    db.execute("COMMIT")
    assert open_.fetchall() == [("c",), ("d",), ("e",)] and names(db, "a.zt") == ["a", "b", "f"]


def test_a_join_that_is_open_when_a_transaction_begins_and_ends(db):
    """The inner loop begins again, in the transaction and after it."""
    open_ = db.execute("SELECT x.name || y.name FROM out x CROSS JOIN out y WHERE x.key IS NULL AND y.key IS NULL")
    found = [open_.fetchone()[0] for _ in range(7)]
    db.execute("BEGIN")
    db.execute("DELETE FROM out WHERE name = 'c'")
    found += [open_.fetchone()[0] for _ in range(7)]
    db.execute("COMMIT")
    found += [pair for pair, in open_]
    assert found == [x + y for x in "abcde" for y in "abcde"]


def test_within_a_change_of_the_same_table(db):
    """A statement that changes the table is a transaction by itself."""
    db.execute("UPDATE out SET name = name || (SELECT count(*) FROM out) WHERE name = 'a' AND (SELECT max(name) FROM out) = 'e'")
    assert sorted(names(db, "a.zt")) == ["a7", "b", "c", "d", "e"]
    db.execute("DELETE FROM out WHERE key IS NULL AND name IN (SELECT name FROM out WHERE name > 'b')")
    assert sorted(names(db, "a.zt")) == ["a7", "b"]
    db.execute("INSERT INTO out(name, source, object) SELECT name || 2, source, object FROM out WHERE key IS NULL")
    assert sorted(names(db, "a.zt")) == ["a7", "a72", "b", "b2"]


@pytest.mark.parametrize("begin", [None, "BEGIN"])
def test_errors_of_the_file(db, begin):
    """A missing file, none of a tensor file, one of another format, and one that cannot be taken whole."""
    for path, text in (("gone.zt", "there is no such file to update"), ("junk.zt", "not a tensor file"),
                       ("a.npz", "the file is ztensor-2, which format='ztensor-2' updates")):
        if path == "junk.zt":
            open(path, "wb").write(b"junk" * 100)
        if path == "a.npz":
            shutil.copy("a.zt", path)
        declare(db, path, "mode='update'", *(["format='npz'"] if path == "a.npz" else []), name="other")
        if begin:
            db.execute(begin)
        for _ in range(2):
            code, message = refusal(db, "SELECT * FROM other")
            assert code == 1 and message.startswith(f"ztensor: {path}: ") and text in message
        if begin:
            db.execute("ROLLBACK")
        db.execute("DROP TABLE other")


def test_a_connection_that_may_not_write(db):
    db.execute("PRAGMA query_only = 1")
    shown = rows(db, SHOWN)
    db.execute("BEGIN")
    assert rows(db, SHOWN) == shown and len(shown) == 7
    db.execute("COMMIT")


@pytest.mark.parametrize("mode", ["create", "replace"])
def test_other_modes_have_no_rows_outside_of_a_transaction(db, mode):
    declare(db, "n.zt", f"mode='{mode}'", name="new")
    assert rows(db, "SELECT * FROM new") == []
    put(db, "x", table="new")
    assert rows(db, "SELECT * FROM new") == []
    db.execute("BEGIN")
    assert rows(db, "SELECT * FROM new") == []
    db.execute("COMMIT")


@pytest.mark.parametrize("statement", ["SELECT count(*) FROM out", "UPDATE out SET name = 'z' WHERE name = 'a'",
                                       "DELETE FROM out WHERE name = 'a'"])
def test_the_last_rowid_stays(db, statement):
    db.execute("CREATE TABLE t(a)")
    db.execute("INSERT INTO t(rowid) VALUES(77)")
    for sql in (statement, "BEGIN", statement, "COMMIT"):
        db.execute(sql).fetchall()
        assert value(db, "SELECT last_insert_rowid()") == 77
    db.execute("BEGIN")
    put(db, "new")
    assert rows(db, "SELECT last_insert_rowid()") == rows(db, "SELECT rowid FROM out WHERE name = 'new'")


# ------------------------------------------------------------------------------------------- the end of a transaction

@pytest.fixture(params=["create", "replace", "update"])
def begun(db, request):
    """A transaction with five tensors, in each mode."""
    if request.param != "update":
        db.execute("DROP TABLE out")
        declare(db, "n.zt", f"mode='{request.param}'")
    db.execute("BEGIN")
    if request.param != "update":
        for name in "abcde":
            put(db, name, name.encode())
    return db


def test_rows_that_a_statement_reads_after_the_end(begun):
    """A shorter answer would be a wrong one."""
    for end in ("COMMIT", "ROLLBACK"):
        for sql in ("SELECT name FROM out ORDER BY +rowid", "SELECT name FROM out", "SELECT name FROM out WHERE name IN ('a', 'c', 'e')",
                    "SELECT t.n FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) t CROSS JOIN out WHERE out.name = 'a' AND out.key IS NULL",
                    "SELECT out.name FROM out CROSS JOIN (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3) t"):
            if not begun.in_transaction:
                if os.path.exists("n.zt"):
                    os.remove("n.zt")
                begun.execute("BEGIN")
                for name in "abcde":
                    begun.execute("INSERT OR IGNORE INTO out(name, data, dtype, shape) VALUES(?, x'00', 'u8', '[1]')", (name,))
            whole = rows(begun, sql)
            open_ = begun.execute(sql)
            found = [open_.fetchone()]
            begun.execute(end)
            if "ORDER BY" in sql:   # It had read all of them
                assert found + open_.fetchall() == whole
                continue
            with pytest.raises(Exception) as caught:
                found += open_.fetchall()
            assert caught.value.sqlite_errorcode & 0xff == ABORT and str(caught.value).endswith(ENDED)
            open_.close()


def test_rows_that_a_statement_reads_after_a_rollback_to(begun):
    begun.execute("SAVEPOINT one")
    for name in "xyz":
        put(begun, name)
    within = begun.execute("SELECT name FROM out WHERE key IS NULL")
    assert within.fetchone() == ("a",)
    begun.execute("ROLLBACK TO one")
    with pytest.raises(Exception) as caught:
        within.fetchall()
    assert caught.value.sqlite_errorcode & 0xff == ABORT and str(caught.value).endswith(ENDED)
    assert rows(begun, "SELECT name FROM out WHERE key IS NULL") == [*map(tuple, "abcde")]


def test_a_savepoint_that_is_the_transaction(db):
    db.execute("SAVEPOINT one")
    put(db, "x")
    open_ = db.execute("SELECT name FROM out")
    open_.fetchone()
    db.execute("ROLLBACK TO one")
    with pytest.raises(Exception) as caught:
        open_.fetchall()
    assert caught.value.sqlite_errorcode & 0xff == ABORT
    open_.close()
    db.execute("RELEASE one")
    assert names(db, "a.zt") == [*"abcde"]


def test_a_rollback_to_a_savepoint_within_the_statement_s_life(begun):
    """What it has not read yet is there, as before the savepoint."""
    before = begun.execute("SELECT name FROM out WHERE key IS NULL")
    assert before.fetchone() == ("a",)
    begun.execute("SAVEPOINT one")
    begun.execute("DELETE FROM out WHERE name > 'b'")
    begun.execute("SAVEPOINT two")
    within = begun.execute("SELECT name FROM out WHERE key IS NULL")
    within.fetchone()
    begun.execute("RELEASE two")
    begun.execute("ROLLBACK TO one")
    assert before.fetchall() == [*map(tuple, "bcde")]
    with pytest.raises(Exception) as caught:   # Released into the savepoint that is undone
        within.fetchall()
    assert caught.value.sqlite_errorcode & 0xff == ABORT


def test_statements_that_fail_or_succeed_beside_an_open_one(begun):
    begun.execute("SAVEPOINT one")
    open_ = begun.execute("SELECT name FROM out WHERE key IS NULL")
    assert open_.fetchone() == ("a",)
    assert "object of this name" in refusal(begun, "INSERT INTO out(name, data, dtype, shape) "
                                                   "SELECT * FROM (VALUES('x', x'00', 'u8', '[1]'), ('a', x'00', 'u8', '[1]'))")[1]
    assert open_.fetchone() == ("b",)
    put(begun, "y")
    begun.execute("RELEASE one")
    assert open_.fetchall() == [*map(tuple, "cdey")]


def test_a_table_is_not_dropped_while_it_is_read(begun):
    open_ = begun.execute("SELECT name FROM out WHERE key IS NULL")
    assert open_.fetchone() == ("a",)
    assert refusal(begun, "DROP TABLE out")[0] == LOCKED
    assert open_.fetchall() == [*map(tuple, "bcde")]
    begun.execute("DROP TABLE out")
    begun.execute("ROLLBACK")


# ------------------------------------------------------------------------------------------ tables that come and go

def test_a_table_with_rows_is_not_dropped_within_a_savepoint(begun):
    """ROLLBACK TO would bring the table back, and COMMIT would not hear of its rows."""
    put(begun, "x")
    begun.execute("SAVEPOINT one")
    assert refusal(begun, "DROP TABLE out")[0] == LOCKED
    begun.execute("ROLLBACK TO one")
    assert rows(begun, "SELECT name FROM out WHERE key IS NULL") == [*map(tuple, "abcdex")]
    begun.execute("RELEASE one")
    begun.execute("DROP TABLE out")
    begun.execute("COMMIT")
    assert "n.zt" not in listing(".") and names(begun, "a.zt") == [*"abcde"]


def test_a_drop_that_is_undone_with_the_rows(connect):
    db = connect(entry=ENTRY)
    declare(db, "n.zt")
    db.execute("SAVEPOINT one")
    put(db, "x")
    db.execute("DROP TABLE out")
    db.execute("ROLLBACK TO one")
    assert rows(db, "SELECT * FROM out") == []
    put(db, "y")
    db.execute("COMMIT")
    assert names(db, "n.zt") == ["y"]


def test_a_table_that_is_made_in_the_transaction(connect):
    db = connect(entry=ENTRY)
    db.execute("BEGIN")
    declare(db, "n.zt")
    put(db, "x", b"\1")
    assert rows(db, "SELECT name FROM out") == [("x",)]
    db.execute("COMMIT")
    assert names(db, "n.zt") == ["x"] and rows(db, "SELECT name FROM out") == []


@pytest.mark.parametrize("again", [None, "n.zt", "m.zt"])
def test_a_table_whose_making_is_undone(connect, again):
    db = connect(entry=ENTRY)
    db.execute("CREATE TABLE t(a)")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    db.execute("SAVEPOINT one")
    declare(db, "n.zt")
    put(db, "x", b"\1")
    db.execute("ROLLBACK TO one")
    if again:
        declare(db, again)
        put(db, "y", b"\2")
        put(db, "z", b"\3")
    db.execute("COMMIT")
    assert listing(".") == ([again] if again else []) and rows(db, "SELECT * FROM t") == [(1,)]
    if again:
        assert rows(db, "SELECT object, data FROM zt_components(?)", again) == [("y", b"\2"), ("z", b"\3")]


def test_rows_that_were_there_before_are_an_error(connect):
    """They have no bytes, and would take those of other rows."""
    db = connect(entry=ENTRY)
    declare(db, "n.zt")
    db.execute("BEGIN")
    put(db, "x", b"\1")
    db.execute("CREATE TEMP TABLE kept AS SELECT * FROM out_zt")
    db.execute("DELETE FROM out")
    db.execute("COMMIT")
    db.execute("INSERT INTO out_zt SELECT * FROM kept")
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('y', x'02', 'u8', '[1]')") == (
        1, "ztensor: n.zt: the table that keeps its rows has some of another transaction: DROP the table and make it again")
    assert listing(".") == []
    db.execute("DROP TABLE out")
    declare(db, "n.zt")
    put(db, "y", b"\2")
    assert rows(db, "SELECT object, data FROM zt_components('n.zt')") == [("y", b"\2")]


def test_a_row_whose_transaction_ends_while_it_is_shown(db):
    """A function between its columns undoes it; or the next row of another table asks for rows once more."""
    def undo():
        db.execute("ROLLBACK TO s")
        return 1

    db.create_function("undo", 0, undo)
    for column in ("name", "rowid"):
        db.execute("SAVEPOINT r")
        db.execute("SAVEPOINT s")
        assert ENDED in refusal(db, f"SELECT undo(), {column} FROM out")[1]
        db.execute("ROLLBACK TO r")
        db.execute("RELEASE r")
    db.execute("BEGIN")
    shown = db.execute("SELECT column1, name FROM (VALUES(1), (2), (3), (4)) LEFT JOIN out ON name = 'none'")
    assert shown.fetchone() == (1, None)
    db.execute("COMMIT")
    with pytest.raises(sqlite3.Error, match=ENDED):
        shown.fetchall()


def test_a_file_that_changes_its_mode_between_two_looks(db):
    """The rows of one statement are kept for another one, as long as nothing of the file changes."""
    first = db.execute(SHOWN)
    shown = first.fetchone()
    os.chmod("a.zt", 0o600)
    assert rows(db, SHOWN)[0] == shown and first.fetchone() == rows(db, SHOWN)[1]
