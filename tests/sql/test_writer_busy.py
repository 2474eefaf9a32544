"""zt_writer: a COMMIT that another reader of the database makes wait leaves the target alone, and the next one writes it."""
import os
import resource
import shutil
import sqlite3
import threading

import pytest

from support import rows, value
from writing import BUSY, ENTRY, IOERR, declare, inside, listing, names, put, refusal  # noqa: F401


pytestmark = pytest.mark.usefixtures("inside")
CANTOPEN = 14
WAITS = "ztensor: a.zt: COMMIT has begun, and the database was busy: COMMIT again, or ROLLBACK"


class Busy:
    """A connection whose COMMIT is busy while another one reads `database`."""

    def __init__(self, connect, database="m.db"):
        self.db = connect("m.db", ENTRY)
        self.db.execute("PRAGMA busy_timeout = 0")
        self.db.execute("ATTACH 'n.db' AS n")
        for schema in ("main", "n"):
            self.db.execute(f"CREATE TABLE {schema}.{schema}_t(a)")
            self.db.execute(f"INSERT INTO {schema}_t VALUES(0), (0)")
        declare(self.db, "a.zt", "mode='replace'")
        put(self.db, "old")
        self.old = open("a.zt", "rb").read()
        self.reader = connect(database)
        self.hold()

    def hold(self):
        self.reading = self.reader.execute("SELECT name FROM sqlite_master, (VALUES(1), (2), (3))")
        self.reading.fetchone()

    def release(self):
        self.reading.close()

    def assert_untouched(self):
        assert open("a.zt", "rb").read() == self.old and files() == ["a.zt"]


def files():
    return [name for name in listing(".") if not name.startswith(("m.db", "n.db"))]


@pytest.fixture(params=["main", "n"])
def busy(connect, request):
    schema = request.param
    held = Busy(connect, "m.db" if schema == "main" else "n.db")
    held.change = f"INSERT INTO {schema}_t VALUES(1)"
    held.count = f"SELECT count(*) FROM {schema}_t"
    yield held
    held.release()


def test_the_target_is_as_it_was_until_a_commit_succeeds(busy):
    """A process that dies meanwhile leaves nothing."""
    db = busy.db
    db.execute("BEGIN")
    db.execute(busy.change)
    put(db, "new")
    for _ in range(3):
        assert refusal(db, "COMMIT") == (BUSY, "database is locked") and db.in_transaction
        busy.assert_untouched()
    for sql in ("INSERT INTO out(name, data, dtype, shape) VALUES('more', x'00', 'u8', '[1]')", "SELECT * FROM out"):
        assert refusal(db, sql) == (1, WAITS)
    busy.release()
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["new"] and files() == ["a.zt"] and value(db, busy.count) == 3


def test_a_rollback_forgets_it(busy):
    db = busy.db
    db.execute("BEGIN")
    db.execute(busy.change)
    put(db, "new")
    assert refusal(db, "COMMIT")[0] == BUSY
    db.execute("ROLLBACK")
    busy.assert_untouched()
    busy.release()
    put(db, "later")
    assert names(db, "a.zt") == ["later"] and files() == ["a.zt"] and value(db, busy.count) == 2


def test_the_last_release_of_savepoints_is_a_commit(busy):
    db = busy.db
    db.execute("SAVEPOINT s")
    db.execute(busy.change)
    put(db, "new")
    assert refusal(db, "RELEASE s")[0] == BUSY
    busy.assert_untouched()
    busy.release()
    db.execute("RELEASE s")
    assert names(db, "a.zt") == ["new"] and files() == ["a.zt"] and value(db, busy.count) == 3


def test_rows_that_are_undone_after_it_are_not_written(busy):
    db = busy.db
    db.execute("BEGIN")
    db.execute(busy.change)
    db.execute("SAVEPOINT s")
    put(db, "new")
    assert refusal(db, "COMMIT")[0] == BUSY
    db.execute("ROLLBACK TO s")
    assert rows(db, "SELECT name FROM out") == []
    busy.release()
    db.execute("COMMIT")
    busy.assert_untouched()
    assert value(db, busy.count) == 3


def test_rows_before_the_savepoint_are_written_alone(busy):
    db = busy.db
    db.execute("BEGIN")
    db.execute(busy.change)
    put(db, "first")
    db.execute("SAVEPOINT s")
    put(db, "second")
    assert refusal(db, "COMMIT")[0] == BUSY
    db.execute("ROLLBACK TO s")
    assert rows(db, "SELECT name FROM out") == [("first",)]
    put(db, "third")
    busy.release()
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["first", "third"] and files() == ["a.zt"]


def test_a_savepoint_after_it_changes_nothing(busy):
    db = busy.db
    db.execute("BEGIN")
    db.execute(busy.change)
    db.execute("SAVEPOINT before")
    put(db, "new")
    assert refusal(db, "COMMIT")[0] == BUSY
    db.execute("SAVEPOINT after")
    db.execute(busy.change)
    db.execute("ROLLBACK TO after")
    db.execute("RELEASE after")
    busy.release()
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["new"] and files() == ["a.zt"] and value(db, busy.count) == 3


def test_a_file_that_came_meanwhile_is_not_replaced(busy):
    db = busy.db
    declare(db, "b.zt", name="new")
    db.execute("BEGIN")
    db.execute(busy.change)
    put(db, "b", table="new")
    assert refusal(db, "COMMIT")[0] == BUSY
    shutil.copy("a.zt", "b.zt")
    busy.release()
    assert refusal(db, "COMMIT")[1] == "ztensor: b.zt: there is a file already; mode='replace' replaces it"
    assert open("b.zt", "rb").read() == busy.old and value(db, busy.count) == 2


def test_a_file_that_changed_meanwhile_is_not_replaced(busy, connect):
    db, other = busy.db, connect(entry=ENTRY)
    for one in (db, other):
        declare(one, "a.zt", "mode='update'", name="updated")
    db.execute("BEGIN")
    db.execute(busy.change)
    put(db, "ours", table="updated")
    assert refusal(db, "COMMIT")[0] == BUSY
    put(other, "theirs", table="updated")
    busy.release()
    assert refusal(db, "COMMIT") == (1, "ztensor: a.zt: the file has changed since the transaction began")
    assert names(db, "a.zt") == ["old", "theirs"] and value(db, busy.count) == 2 and files() == ["a.zt"]


def test_two_tables_wait_together(busy):
    db = busy.db
    declare(db, "b.zt", name="second")
    db.execute("BEGIN")
    db.execute(busy.change)
    put(db, "new")
    put(db, "b", table="second")
    assert refusal(db, "COMMIT")[0] == BUSY
    busy.assert_untouched()
    busy.release()
    db.execute("COMMIT")
    assert (names(db, "a.zt"), names(db, "b.zt"), files()) == (["new"], ["b"], ["a.zt", "b.zt"])


def test_a_busy_handler_is_asked(connect):
    """The reader ends meanwhile, so COMMIT succeeds."""
    busy = Busy(connect)
    busy.db.execute("PRAGMA busy_timeout = 20000")
    busy.db.execute("BEGIN")
    busy.db.execute("INSERT INTO main_t VALUES(1)")
    put(busy.db, "new")
    timer = threading.Timer(0.2, busy.release)
    timer.start()
    busy.db.execute("COMMIT")
    timer.join()
    assert names(busy.db, "a.zt") == ["new"] and files() == ["a.zt"]


def test_readers_of_a_log_are_in_no_way(connect):
    db = connect("m.db", ENTRY)
    assert rows(db, "PRAGMA journal_mode = WAL") == [("wal",)]
    db.execute("CREATE TABLE t(a)")
    db.execute("INSERT INTO t VALUES(0)")
    reader = connect("m.db")
    reading = reader.execute("SELECT * FROM t, (VALUES(1), (2), (3))")
    reading.fetchone()
    declare(db, "a.zt")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    put(db, "a")
    db.execute("COMMIT")
    reading.close()
    assert names(db, "a.zt") == ["a"] and value(reader, "SELECT count(*) FROM t") == 2


@pytest.mark.parametrize("begin", [
    ["BEGIN IMMEDIATE"], ["BEGIN", "PRAGMA user_version = 7"], ["PRAGMA cache_spill = 0", "BEGIN", "INSERT INTO main_t VALUES(1)"]])
def test_the_new_file_is_in_place_if_sqlite_locks_the_database_later(connect, begin):
    """No page can be written before the commit: none has changed, the first one alone, or SQLite may not. ROLLBACK puts the old file back."""
    busy = Busy(connect)
    db = busy.db
    for end, found in (("ROLLBACK", "old"), ("COMMIT", "new")):
        for sql in begin:
            db.execute(sql).fetchall()
        put(db, "new")
        assert refusal(db, "COMMIT")[0] == BUSY
        assert names(db, "a.zt") == ["new"] and len(files()) == 2
        if end == "COMMIT":
            busy.release()
        db.execute(end)
        assert names(db, "a.zt") == [found] and files() == ["a.zt"]


def test_no_file_of_temp_is_made_if_only_a_tensor_file_is_written(connect, monkeypatch):
    """A folder for temporary files may be missing or full."""
    monkeypatch.setenv("SQLITE_TMPDIR", os.path.abspath("gone"))
    db = connect("m.db", ENTRY)
    declare(db, "a.zt")
    put(db, "a")
    assert names(db, "a.zt") == ["a"]


def limited(kind, value_, db):
    """The failure of COMMIT with at most that much of a resource; None: it succeeds."""
    limits = resource.getrlimit(kind)
    resource.setrlimit(kind, (value_, limits[1]))
    try:
        db.execute("COMMIT")
    except sqlite3.Error as error:
        return error.sqlite_errorcode & 0xff, str(error)
    finally:
        resource.setrlimit(kind, limits)
    return None


def test_a_database_that_cannot_be_written(connect):
    """SQLite's pages are written before the file is in its place."""
    db = connect("m.db", ENTRY)
    db.execute("PRAGMA cache_size = -40000")
    db.execute("CREATE TABLE t(a)")
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "a")
    db.execute("INSERT INTO t VALUES(zeroblob(10000000))")
    assert limited(resource.RLIMIT_FSIZE, 5000000, db) == (IOERR, "ztensor: a.zt: the database: disk I/O error")
    assert not db.in_transaction and files() == [] and rows(db, "SELECT * FROM t") == []


def test_a_database_whose_journal_is_in_memory(connect):
    """SQLite cannot undo a flush that fails: its pages are written behind the file, which is put back."""
    db = connect("m.db", ENTRY)
    for sql in ("PRAGMA cache_size = -40000", "PRAGMA journal_mode = memory", "CREATE TABLE t(a)", "INSERT INTO t VALUES(0)"):
        db.execute(sql).fetchall()
    declare(db, "a.zt", "mode='replace'")
    put(db, "old")
    db.execute("BEGIN")
    put(db, "new")
    db.execute("INSERT INTO t VALUES(zeroblob(10000000))")
    assert limited(resource.RLIMIT_FSIZE, 5000000, db) == (IOERR, "disk I/O error")
    assert not db.in_transaction and names(db, "a.zt") == ["old"] and files() == ["a.zt"]
    for reader in (db, connect("m.db")):
        assert rows(reader, "PRAGMA integrity_check") == [("ok",)] and rows(reader, "SELECT * FROM t") == [(0,)]


@pytest.mark.parametrize("attached, changed", [("memory", "main"), ("delete", "n"), ("memory", "n")])
def test_other_databases_journals(connect, attached, changed):
    """A database that does not change does not matter, nor does one that has a journal."""
    busy = Busy(connect, "m.db" if changed == "main" else "n.db")
    assert rows(busy.db, f"PRAGMA n.journal_mode = {attached}") == [(attached,)]
    busy.db.execute("BEGIN")
    busy.db.execute(f"INSERT INTO {changed}_t VALUES(1)")
    put(busy.db, "new")
    assert refusal(busy.db, "COMMIT")[0] == BUSY
    early = attached == "delete" or (changed == "main" and sqlite3.sqlite_version_info >= (3, 34))   # Before, all count as changed
    assert names(busy.db, "a.zt") == ["old" if early else "new"]
    busy.db.execute("ROLLBACK")
    busy.release()
    assert names(busy.db, "a.zt") == ["old"] and files() == ["a.zt"]


@pytest.mark.parametrize("main, journal, early", [(":memory:", "memory", True), (":memory:", "off", False), ("", "delete", True), ("", "memory", True), ("", "off", False),
                                                  ("m.db", "delete", True), ("m.db", "memory", False)])
def test_a_database_without_a_file_may_have_its_journal_in_memory(connect, main, journal, early):
    """But none is too few: its pages may be written to a temporary file, which may fail."""
    db = connect(main, ENTRY)
    for sql in ("PRAGMA busy_timeout = 0", f"PRAGMA journal_mode = {journal}", "ATTACH 'n.db' AS n", "CREATE TABLE main.t(a)", "CREATE TABLE n.u(a)", "INSERT INTO u VALUES(0)"):
        db.execute(sql).fetchall()
    declare(db, "a.zt", "mode='replace'")
    put(db, "old")
    reader = connect("n.db")
    reading = reader.execute("SELECT a FROM u, (VALUES(1), (2), (3))")
    reading.fetchone()
    for sql in ("BEGIN", "INSERT INTO t VALUES(1)", "INSERT INTO u VALUES(1)"):
        db.execute(sql)
    put(db, "new")
    assert refusal(db, "COMMIT")[0] == BUSY and names(db, "a.zt") == ["old" if early else "new"]
    reading.close()
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["new"] and files() == ["a.zt"]


@pytest.mark.parametrize("answer", [sqlite3.SQLITE_DENY, sqlite3.SQLITE_IGNORE])
@pytest.mark.parametrize("asked", ["database_list", "journal_mode"])
def test_an_authorizer_that_hides_the_databases(connect, answer, asked):
    """They are locked as usual."""
    busy = Busy(connect)
    busy.db.execute("BEGIN")
    busy.db.execute("INSERT INTO main_t VALUES(1)")
    put(busy.db, "new")
    busy.db.set_authorizer(lambda action, one, *_: answer if action == sqlite3.SQLITE_PRAGMA and one == asked else sqlite3.SQLITE_OK)
    assert refusal(busy.db, "COMMIT")[0] == BUSY
    busy.db.set_authorizer(None)
    assert names(busy.db, "a.zt") == ["old"]
    busy.release()


def test_few_files_may_be_open(connect):
    """A COMMIT has all that it needs, or changes nothing; temp does without a file."""
    found = set()
    for n in range(8):
        name = f"{n}.zt"
        db = connect("m.db", ENTRY)
        db.execute("CREATE TABLE IF NOT EXISTS t(a)")
        declare(db, name)
        db.execute("BEGIN")
        put(db, "a")
        db.execute("INSERT INTO t VALUES(?)", (n,))
        free = [i for i in range(500) if not os.path.exists(f"/proc/self/fd/{i}")]
        failure = limited(resource.RLIMIT_NOFILE, free[n], db)
        if failure:
            assert failure[0] in (1, CANTOPEN, IOERR) and failure[1].endswith("Too many open files")
        assert value(db, "SELECT count(*) FROM t WHERE a = ?", n) == (0 if failure else 1)
        assert not db.in_transaction and (name in files()) == (not failure)
        found.add(failure is None)
    assert found == {False, True}
