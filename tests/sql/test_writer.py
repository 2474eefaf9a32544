"""zt_writer: its arguments, the target, COMMIT and its failures, and which bytes a file gets."""
import os
import random
import sqlite3
import stat
import struct

import pytest

import support
import writer
from support import open_connection, rows, value
from writing import ENTRY, attributes, declare, insert, listing, names, open_writer, put, refusal, tensors

FORMATS = "'ztensor-2', 'ztensor-1.2', 'safetensors', 'gguf', 'npy', 'npz'"


@pytest.fixture
def db(connect):
    return connect(entry=ENTRY)


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """Tests name files relative to a directory of their own."""
    monkeypatch.chdir(tmp_path)


def f32(*numbers):
    return struct.pack(f"<{len(numbers)}f", *numbers)


# ------------------------------------------------------------------------------------------------------- arguments

@pytest.mark.parametrize("arguments, message", [
    ("", "zt_writer needs a path: zt_writer('model.zt')"), ("''", "zt_writer needs a path: zt_writer('model.zt')"),
    ("'a.pt'", f"a.pt: its name does not say the format: give format, one of {FORMATS}"),
    ("'.zt'", f".zt: its name does not say the format: give format, one of {FORMATS}"),
    ("'a.zt', format='onnx'", f"a.zt: there is no format 'onnx' to write; there are {FORMATS}"),
    ("'a.zt', 'b'", "zt_writer: arguments behind the path have names: 'b'"),
    ("'a.zt', color='x'", "zt_writer has no argument 'color'; it takes path, format, mode, order, align, encoding, level,"
                          " digest, drop, sync"),
    ("'a.zt', mode='create', mode='create'", "zt_writer: the argument mode is given twice"),
    ("'a.zt', path='b.zt'", "zt_writer: the argument path is given twice"),
    ("'a.zt', mode='append'", "a.zt: mode must be 'create' or 'replace' or 'update', not 'append'"),
    ("'a.zt', order='size'", "a.zt: order must be 'name' or 'row', not 'size'"),
    ("'a.zt', sync='maybe'", "a.zt: sync must be 'full' or 'off', not 'maybe'"),
    ("'a.zt', align=", "a.zt: align must be an integer, not ''"),
    ("'a.zt', align=-1", "a.zt: align must be an integer, not '-1'"),
    ("'a.zt', align=99999999999999999999", "a.zt: align must be an integer, not '99999999999999999999'"),
    ("'a.zt', align=5000", "a.zt: align must be a power of two from 4096 to 1073741824, not 5000"),
    ("'a.zt', align=2048", "a.zt: align must be a power of two from 4096 to 1073741824, not 2048"),
    ("'a.zt', format='ztensor-1.2', align=32", "a.zt: align must be a power of two from 64 to 1073741824, not 32"),
    ("'a.gguf', align=4", "a.gguf: align must be a power of two from 8 to 1073741824, not 4"),
    ("'a.npz', align=64", "a.npz: npz has no use for align"), ("'a.npy', align=64", "a.npy: npy has no use for align"),
    ("'a.safetensors', align=64", "a.safetensors: safetensors has no use for align"),
    ("'a.zt', level=3", "a.zt: a level needs an encoding that has levels"),
    ("'a.zt', encoding='zstd', level=0", "a.zt: level must be 1 to 22, not 0"),
    ("'a.zt', encoding='zstd', level=23", "a.zt: level must be 1 to 22, not 23"),
    ("'a.npz', encoding='deflate', level=10", "a.npz: level must be 1 to 9, not 10"),
    ("'a.zt', encoding='deflate'", "a.zt: ztensor-2 has no encoding 'deflate'"),
    ("'a.npz', encoding='zstd'", "a.npz: npz has no encoding 'zstd'"),
    ("'a.gguf', encoding='zstd'", "a.gguf: gguf has no encoding 'zstd'"),
    ("'a.zt', digest='crc32c'", "a.zt: ztensor-2 has no digest 'crc32c'"),
    ("'a.zt', format='ztensor-1.2', digest='xxh3'", "a.zt: ztensor-1.2 has no digest 'xxh3'"),
    ("'a.npz', digest='sha256'", "a.npz: npz has no digest 'sha256'")])
def test_arguments_that_cannot_be(db, arguments, message):
    assert refusal(db, f"CREATE VIRTUAL TABLE temp.out USING zt_writer({arguments})") == (1, "ztensor: " + message)
    assert rows(db, "SELECT name FROM temp.sqlite_master") == [] and listing(".") == []


@pytest.mark.parametrize("arguments", [
    "'a.zt'", "path='a.zt'", "  'a.zt' , format = ztensor-2, MODE='create'", "'a.zt', align='4096'", "'a.zt', order='row'",
    "'a.zt', align=1048576", "'a.zt', encoding='zstd', level=22", "'a.zt', digest='sha256'", "'a.zt', digest='none'",
    "'a.zt', sync='off'", "'a.zt', encoding='raw'", "'a.zt', drop='attributes'"])
def test_arguments_that_can_be(db, arguments):
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer({arguments})")
    assert listing(".") == []
    put(db, "t", f32(1, 2), "f32", "[2]")
    assert tensors(db, "a.zt") == {"t": ("f32", "[2]", f32(1, 2))} and listing(".") == ["a.zt"]
    assert value(db, "SELECT count(*) FROM zt_check('a.zt') WHERE severity = 'error'") == 0


@pytest.mark.parametrize("path, arguments, container, version", [
    ("a.zt", [], "ztensor", "2"), ("a.ZT", [], "ztensor", "2"), ("a.zt", ["format='ztensor-1.2'"], "ztensor", "1.2.0"),
    ("a.safetensors", [], "safetensors", None), ("a.gguf", [], "gguf", "3"), ("a.npz", [], "npz", None),
    ("a.npy", [], "npy", "1.0"), ("other", ["format='npz'"], "npz", None), ("a.zt", ["format='gguf'"], "gguf", "3")])
def test_formats(db, path, arguments, container, version):
    declare(db, path, *arguments)
    put(db, "a", f32(1, 2, 3), "f32", "[3]")
    assert rows(db, "SELECT container, version, error FROM zt_files(?)", path) == [(container, version, None)]
    assert value(db, "SELECT data FROM zt_components(?)", path) == f32(1, 2, 3)


def test_every_row_has_its_own_encoding_and_digest(db):
    declare(db, "a.zt", "encoding='zstd'")
    db.execute("BEGIN")
    zeros = bytes(40000)
    put(db, "default", zeros)
    put(db, "raw", zeros, encoding="raw", digest="sha256")
    put(db, "nine", zeros, encoding="zstd", level=9, digest="none")
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape, level) VALUES('x', x'00', 'u8', '[1]', 23)")[1] == \
        "ztensor: a.zt: object 'x': level must be 1 to 22, not 23"
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape, digest) VALUES('x', x'00', 'u8', '[1]', 'md5')")[1] == \
        "ztensor: a.zt: object 'x': ztensor-2 has no digest 'md5'"
    db.execute("COMMIT")
    found = rows(db, "SELECT object, encoding, length < 4000, substr(digest, 1, 5), digest_status, data = zeroblob(40000) "
                     "FROM zt_components('a.zt') ORDER BY object")
    assert found == [("default", "zt.zstd-seekable/1", 1, "xxh3:", "ok", 1), ("nine", "zt.zstd-seekable/1", 1, None, None, 1),
                     ("raw", "raw", 0, "sha25", "ok", 1)]


def test_dropped_attributes(db):
    """Attributes of an object stay behind where the format has none, if the table says so; those of the file do not."""
    declare(db, "src.zt", name="src")
    db.execute("BEGIN")
    put(db, "a", table="src")
    insert(db, "src", name="a", key="k", value=1)
    db.execute("COMMIT")
    declare(db, "a.safetensors", name="kept")
    code, message = refusal(db, "INSERT INTO kept(name, source) VALUES('a', 'src.zt')")
    assert code == 1 and message.startswith("ztensor: a.safetensors: object 'a': ") and "attribute" in message
    declare(db, "a.safetensors", "drop='attributes'")
    db.execute("BEGIN")
    db.execute("INSERT INTO out(name, source) VALUES('a', 'src.zt')")
    insert(db, name="a", key="other", value=1)
    insert(db, name=None, key="licence", value="MIT")
    db.execute("COMMIT")
    assert attributes(db, "a.safetensors") == [(None, "licence", "MIT", "text")]


# ---------------------------------------------------------------------------------------------------- where it may be

def test_it_is_for_temp_alone(db):
    for schema in ("", "main."):
        assert refusal(db, f"CREATE VIRTUAL TABLE {schema}x USING zt_writer('m.zt')") == (
            1, "ztensor: zt_writer is for temp alone: CREATE VIRTUAL TABLE temp.x ...")


def test_a_schema_that_brings_one_along():
    """Whoever opens a database file does not thereby write a file."""
    made = sqlite3.connect("evil.db")
    made.execute("CREATE TABLE x_rows(a)")
    made.execute("PRAGMA writable_schema = ON")
    made.execute("INSERT INTO sqlite_master VALUES('table', 'x', 'x', 0, "
                 "'CREATE VIRTUAL TABLE x USING zt_writer(''evil.zt'', mode=''replace'')')")
    made.commit()
    made.close()
    db = open_connection("evil.db", ENTRY)
    for sql in ("SELECT * FROM x", "INSERT INTO x(name, data, dtype, shape) VALUES('a', x'00', 'u8', '[1]')", "DROP TABLE x"):
        assert "zt_writer is for temp alone" in refusal(db, sql)[1]
    assert listing(".") == ["evil.db"]
    db.close()


def test_it_is_for_statements_of_the_user(db):
    declare(db, "a.zt")
    db.execute("CREATE TABLE t(a)")
    db.execute("CREATE TEMP TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO out(name, key, value) VALUES(NULL, 'k', 1); END")
    assert refusal(db, "INSERT INTO t VALUES(1)") == (1, 'unsafe use of virtual table "out"')
    assert listing(".") == []


def test_without_the_entry_point_there_is_no_writer(connect):
    for entry in (None, "sqlite3_ztensor_init", "sqlite3_ztensor_nofs_init"):
        assert refusal(connect(entry=entry), "CREATE VIRTUAL TABLE temp.x USING zt_writer('a.zt')") == (1, "no such module: zt_writer")


def test_entry_points_in_any_order(connect):
    def load(db, entry):
        db.execute("SELECT load_extension(?, ?)", (support.EXTENSION, entry))

    nofs, full = "sqlite3_ztensor_nofs_init", "sqlite3_ztensor_init"
    for first, then in ((nofs, ENTRY), (ENTRY, nofs)):
        db = connect(entry=first)
        with pytest.raises(sqlite3.OperationalError):
            load(db, then)
    for i, order in enumerate([(full, ENTRY), (ENTRY, full), (ENTRY, ENTRY), (ENTRY,)]):
        db = connect(load=False)
        for entry in order:
            load(db, entry)
        declare(db, f"{i}.zt")
        put(db, "a")
        assert names(db, f"{i}.zt") == ["a"]


def test_it_cannot_be_renamed(db):
    declare(db, "a.zt")
    assert refusal(db, "ALTER TABLE temp.out RENAME TO other") == (1, "ztensor: a zt_writer cannot be renamed")
    put(db, "a")
    assert names(db, "a.zt") == ["a"]


def test_defensive_connections(db):
    """Its own table is a shadow table, which nobody else changes then."""
    declare(db, "a.zt")
    with open_defensive() as safe:
        declare(safe, "b.zt")
        put(safe, "b")
        assert names(safe, "b.zt") == ["b"]
        safe.execute("DROP TABLE out")
        assert rows(safe, "SELECT name FROM temp.sqlite_master") == []


def open_defensive():
    """Through the pragma-less way that Python 3.12 has; else an ordinary connection."""
    db = open_connection(entry=ENTRY)
    if hasattr(db, "setconfig"):
        db.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    return db


# --------------------------------------------------------------------------------------------------------- the target

def test_an_existing_file(db):
    declare(db, "a.zt")
    put(db, "old")
    before = open("a.zt", "rb").read()
    for sql in ("INSERT INTO out(name, data, dtype, shape) VALUES('new', x'01', 'u8', '[1]')",):
        assert refusal(db, sql) == (1, "ztensor: a.zt: there is a file already; mode='replace' replaces it")
    assert open("a.zt", "rb").read() == before
    declare(db, "a.zt", "mode='replace'", name="again")
    put(db, "new", table="again")
    assert names(db, "a.zt") == ["new"]
    put(db, "newer", table="again")
    assert names(db, "a.zt") == ["newer"] and listing(".") == ["a.zt"]


@pytest.mark.parametrize("mode", ["create", "replace", "update"])
@pytest.mark.parametrize("path, message", [
    ("dir.zt", "is a directory, and no file can be written there"), ("fifo.zt", "is a FIFO, and no file can be written there"),
    ("/dev/null", "is a device, and no file can be written there"), ("dangling.zt", "is a symbolic link to a file that does not exist"),
    ("nowhere/a.zt", "No such file or directory")])
def test_targets_that_cannot_be(db, path, message, mode):
    os.mkdir("dir.zt")
    os.mkfifo("fifo.zt")
    os.symlink("gone.zt", "dangling.zt")
    declare(db, path, "format='ztensor-2'", f"mode='{mode}'")
    error = refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('new', x'01', 'u8', '[1]')")
    assert error[1].startswith(f"ztensor: {path}: ")
    assert message in error[1] or (mode == "update" and "there is no such file to update" in error[1])
    assert listing(".") == ["dangling.zt", "dir.zt", "fifo.zt"] and stat.S_ISFIFO(os.stat("fifo.zt").st_mode)


def test_symbolic_links_are_followed(db):
    declare(db, "real.zt", name="first")
    put(db, "old", table="first")
    os.mkdir("sub")
    os.symlink("../real.zt", "sub/link.zt")
    declare(db, "sub/link.zt", "mode='replace'")
    put(db, "new")
    assert os.readlink("sub/link.zt") == "../real.zt" and names(db, "real.zt") == ["new"]
    assert listing(".") == ["real.zt", "sub"] and listing("sub") == ["link.zt"]


def test_permission_bits(db):
    mask = os.umask(0o027)
    try:
        declare(db, "a.zt", "mode='replace'")
        put(db, "a")
        assert stat.S_IMODE(os.stat("a.zt").st_mode) == 0o640
        os.chmod("a.zt", 0o604)
        put(db, "b")
        assert stat.S_IMODE(os.stat("a.zt").st_mode) == 0o604 and names(db, "a.zt") == ["b"]
    finally:
        os.umask(mask)


def test_hard_links_keep_the_old_bytes(db):
    declare(db, "a.zt", "mode='replace'")
    put(db, "old")
    os.link("a.zt", "b.zt")
    put(db, "new")
    assert (names(db, "a.zt"), names(db, "b.zt")) == (["new"], ["old"])


def test_names_with_wildcards(db):
    for path in ("a[1].zt", "*.zt", "it's.zt", "["):
        declare(db, path, "mode='replace'", "format='ztensor-2'", name="w")
        put(db, "a", table="w")
        db.execute("DROP TABLE w")
        declare(db, path, "mode='update'", "format='ztensor-2'", name="w")
        put(db, "b", table="w")
        db.execute("DROP TABLE w")
        assert names(db, path) == ["a", "b"]
        os.unlink(path)


# ------------------------------------------------------------------------------------------------------ transactions

def test_nothing_is_there_before_commit(db):
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "a", bytes(3 << 20))
    assert [name for name in listing(".") if not name.startswith(".")] == []
    db.execute("COMMIT")
    assert listing(".") == ["a.zt"]


def test_transactions_without_rows(db):
    declare(db, "a.zt")
    db.execute("INSERT INTO out(name, data, dtype, shape) SELECT 'a', x'00', 'u8', '[1]' WHERE 0")
    for sql in ("SELECT count(*) FROM out", "DELETE FROM out", "UPDATE out SET name = 'a'"):
        db.execute("BEGIN")
        db.execute(sql).fetchall()
        db.execute("COMMIT")
    db.execute("BEGIN")
    refusal(db, "INSERT INTO out(name) VALUES('a')")
    db.execute("COMMIT")
    assert listing(".") == []


def test_closing_writes_nothing(db):
    other = open_writer("a.zt")
    other.execute("BEGIN")
    put(other, "a", bytes(1 << 20))
    other.close()
    assert listing(".") == []


def test_drop_in_a_transaction_forgets_its_rows(db):
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "a")
    db.execute("DROP TABLE out")
    db.execute("COMMIT")
    assert listing(".") == []


def test_create_in_a_transaction(db):
    db.execute("BEGIN")
    declare(db, "a.zt")
    put(db, "a")
    db.execute("ROLLBACK")
    assert refusal(db, "SELECT * FROM out")[1] == "no such table: out" and listing(".") == []
    db.execute("BEGIN")
    declare(db, "a.zt")
    put(db, "a")
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["a"]


def test_two_tables_in_one_transaction(db):
    declare(db, "a.zt", name="one")
    declare(db, "b.npz", name="two")
    db.execute("BEGIN")
    put(db, "x", table="one")
    put(db, "y", b"\2", table="two")
    db.execute("COMMIT")
    assert rows(db, "SELECT path, object FROM zt_objects('*')") == [("a.zt", "x"), ("b.npz", "y")]


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_when_one_of_two_fails_neither_is_written(db, order):
    """The one that was in its place already gives it back."""
    for path in ("one.zt", "two.zt"):
        declare(db, path, "mode='replace'", name=path[:3])
        put(db, "old", table=path[:3])
    db.execute("CREATE TABLE t(a)")
    before = {path: open(path, "rb").read() for path in ("one.zt", "two.zt")}
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    for table in order:
        put(db, "new", table=table)
    insert(db, "two", name="absent", key="k", value=1)
    assert refusal(db, "COMMIT")[1] == "ztensor: two.zt: object 'absent': there is no such object for its attribute 'k'"
    assert not db.in_transaction and rows(db, "SELECT * FROM t") == []
    assert {path: open(path, "rb").read() for path in before} == before and listing(".") == ["one.zt", "two.zt"]


def test_two_connections_that_create_one_file(db, connect):
    other = connect(entry=ENTRY)
    declare(db, "a.zt")
    declare(other, "a.zt")
    db.execute("BEGIN")
    put(db, "slow")
    put(other, "fast")
    assert refusal(db, "COMMIT") == (1, "ztensor: a.zt: there is a file already; mode='replace' replaces it")
    assert names(db, "a.zt") == ["fast"] and listing(".") == ["a.zt"]


def test_the_last_commit_replaces(db, connect):
    other = connect(entry=ENTRY)
    for each in (db, other):
        declare(each, "a.zt", "mode='replace'")
        each.execute("BEGIN")
    put(db, "first")
    put(other, "last")
    db.execute("COMMIT")
    other.execute("COMMIT")
    assert names(db, "a.zt") == ["last"] and listing(".") == ["a.zt"]


# --------------------------------------------------------------------------------------- a COMMIT that is not the last

@pytest.fixture
def busy(connect):
    """(writer, hold, release): a connection with a transaction whose COMMIT is busy while another one reads the database."""
    db = connect("m.db", ENTRY)
    db.execute("PRAGMA busy_timeout = 0")
    db.execute("CREATE TABLE t(a)")
    db.execute("INSERT INTO t VALUES(0), (0)")
    declare(db, "a.zt", "mode='replace'")
    put(db, "old")
    reader = connect("m.db")
    cursor = reader.execute("SELECT * FROM t")
    cursor.fetchone()
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    put(db, "new")
    assert refusal(db, "COMMIT") == (sqlite3.SQLITE_BUSY, "database is locked")
    yield db, cursor
    cursor.close()


def test_a_busy_commit_is_tried_again(busy):
    db, reading = busy
    reading.close()
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["new"] and value(db, "SELECT count(*) FROM t") == 3
    assert [name for name in listing(".") if "partial" in name] == []


def test_a_busy_commit_is_rolled_back(busy):
    db, reading = busy
    db.execute("ROLLBACK")
    assert names(db, "a.zt") == ["old"]
    reading.close()
    put(db, "later")
    assert names(db, "a.zt") == ["later"] and [name for name in listing(".") if "partial" in name] == []


def test_after_a_busy_commit_rows_are_not_lost(busy):
    """Its rows are in the file already: more of them would make another file, without the first ones."""
    db, reading = busy
    waits = "ztensor: a.zt: COMMIT has written it, and the database was busy: COMMIT again, or ROLLBACK"
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('more', x'00', 'u8', '[1]')") == (1, waits)
    assert refusal(db, "SELECT * FROM out") == (1, waits)
    reading.close()
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["new"] and [name for name in listing(".") if "partial" in name] == []


def test_a_progress_handler_ends_commit(db):
    declare(db, "a.zt", "mode='replace'", "encoding='zstd'", "level=19")
    put(db, "old")
    db.execute("CREATE TABLE t(a)")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    put(db, "new", random.Random(1).randbytes(8 << 20))
    steps = iter(range(1 << 30))
    db.set_progress_handler(lambda: next(steps) > 20, 1)    # Not before SQLite's own steps are done
    code, message = refusal(db, "COMMIT")
    db.set_progress_handler(None, 0)
    assert (code, "interrupt" in message) == (sqlite3.SQLITE_INTERRUPT, True)
    assert not db.in_transaction and rows(db, "SELECT * FROM t") == []
    assert names(db, "a.zt") == ["old"] and listing(".") == ["a.zt"]
    put(db, "next")
    assert names(db, "a.zt") == ["next"]


# --------------------------------------------------------------------------------------------------------- bad input

@pytest.mark.parametrize("columns, message", [
    ({"name": "", "data": b"1", "dtype": "u8", "shape": "[1]"}, "object '': ztensor-2 needs a name; name the object"),
    ({"name": "n" * 1025, "data": b"1", "dtype": "u8", "shape": "[1]"}, "1024 bytes"),
    ({"name": "a\0b", "data": b"1", "dtype": "u8", "shape": "[1]"}, "object 'a\\x00b': ztensor-2 names cannot hold U+0000; rename the object"),
    ({"name": b"blob", "data": b"1", "dtype": "u8", "shape": "[1]"}, "name must be TEXT"),
    ({"name": "a", "data": b"123", "dtype": "u8", "shape": "[2]"}, "object 'a': component 'data': 2 elements of u8 are 2 bytes, and data has 3"),
    ({"name": "a", "data": b"1", "dtype": "u7", "shape": "[1]"}, "object 'a': dtype 'u7' is not known"),
    ({"name": "a", "data": b"1", "dtype": "u8"}, "object 'a': data needs dtype and shape"),
    ({"name": "a", "data": b"1", "shape": "[1]"}, "object 'a': data needs dtype and shape"),
    ({"name": "a", "data": "1", "dtype": "u8", "shape": "[1]"}, "object 'a': data must be a BLOB"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "1"}, "object 'a': shape must be a JSON array of at most 64 integers from 0 on"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[-1]"}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1.0]"}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1] x"}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": str([1] * 65)}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[4294967296,4294967296]"}, "the shape has more than 2^64 elements"),
    ({"name": "a", "data": b"1", "dtype": "f64", "shape": "[4611686018427387904]"}, "object 'a'"),
    ({"name": "a", "data": b"\2", "dtype": "bool", "shape": "[1]"}, "object 'a': component 'data': byte 0 is 0x02: a bool is 0 or 1"),
    ({"name": "a", "data": b"\xf0", "dtype": "f4_e2m1", "shape": "[1]"}, "object 'a': component 'data'"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "object": "b"}, "object 'a': a tensor with data has no object"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "source": "b.zt"}, "object 'a': a tensor has source or data, not both"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "format": "sparse_bsr"},
     "object 'a': format with data is 'dense', 'sparse_csr' or 'sparse_coo', not 'sparse_bsr'"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "format": "sparse_coo"}, "object 'a': data of a sparse tensor needs a component"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "component": "values"}, "object 'a'"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "value": 1}, "value"),
    ({"name": "a"}, "object 'a': a tensor needs source or data; an attribute, a key"),
    ({"data": b"1", "dtype": "u8", "shape": "[1]"}, "a tensor needs a name"),
    ({"name": "a", "source": "src.zt", "shape": "[2]"}, "object 'a': a tensor with a source has no shape"),
    ({"name": "a", "source": "src.zt", "component": "data"}, "object 'a': a tensor with a source has no component"),
    ({"name": "a", "source": "src.zt", "format": "sparse_csr"}, "object 'a': its format is 'dense': format is NULL, which keeps it, or 'dense'"),
    ({"name": "a", "source": "src.zt", "object": "z"}, "src.zt: object 'z': no such object"),
    ({"name": "a", "source": "gone.zt"}, "gone.zt: cannot open: No such file or directory"),
    ({"name": "a", "source": "*.zt"}, "*.zt: no such file; a function takes exactly one file, not a pattern"),
    ({"name": "a", "source": b"junk"}, "<blob>: not a tensor file of a known format"),
    ({"name": "a", "source": 5}, "object 'a': the source must be a path (TEXT) or a tensor file (BLOB), not a number"),
    ({"key": "k", "value": 1, "dtype": "u8"}, "an attribute has no dtype"),
    ({"key": "k", "value": 1, "data": b"1"}, "an attribute has no data"),
    ({"key": "k", "value": 1, "type": "colour"}, "type"),
    ({"key": "k", "value": "x", "type": "integer"}, "a.zt: value 'x' is not of type integer"),
    ({"key": b"k", "value": 1}, "key must be TEXT")])
def test_rows_that_cannot_be(db, columns, message):
    declare(db, "src.zt", name="src")
    put(db, "a", table="src")
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "kept")
    places = ",".join("?" * len(columns))
    code, text = refusal(db, f"INSERT INTO out({','.join(columns)}) VALUES({places})", *columns.values())
    assert text.startswith("ztensor: ") and message in text
    assert rows(db, "SELECT name FROM out") == [("kept",)]
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["kept"]


@pytest.mark.parametrize("path, dtype, data, shape, cure", [
    ("a.npz", "bf16", bytes(2), "[1]", "npz cannot hold bf16; give dtype 'f32'"),
    ("a.gguf", "bool", bytes(1), "[1]", "gguf"), ("a.gguf", "u16", bytes(2), "[1]", "gguf"),
    ("a.safetensors", "complex128", bytes(16), "[1]", "safetensors"),
    ("a.gguf", "f32", bytes(4), "[1,1,1,1,1]", "gguf tensors have at most 4 dimensions")])
def test_what_a_format_cannot_hold(db, path, dtype, data, shape, cure):
    declare(db, path)
    error = refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('w', ?, ?, ?)", data, dtype, shape)
    assert error[0] == 1 and error[1].startswith(f"ztensor: {path}: object 'w': ") and cure in error[1]
    assert listing(".") == []


def test_npy_holds_one(db):
    declare(db, "a.npy")
    db.execute("BEGIN")
    put(db, "a")
    put(db, "b")
    assert refusal(db, "COMMIT") == (1, "ztensor: a.npy: npy holds one tensor, and there are 2; npz holds any number")
    assert listing(".") == []


# ---------------------------------------------------------------------------------------------------------- sources

def test_references(db):
    """Kept, converted, renamed; by path and by BLOB."""
    declare(db, "src.zt", name="src")
    db.execute("BEGIN")
    put(db, "a", f32(1, 2), "f32", "[2]", "src")
    insert(db, "src", name="a", key="k", value=1)
    insert(db, "src", name="a", key="l", value="x")
    insert(db, "src", name=None, key="file", value="x")
    db.execute("COMMIT")
    image = open("src.zt", "rb").read()
    declare(db, "out.zt")
    db.execute("BEGIN")
    db.execute("INSERT INTO out(name, source) VALUES('a', 'src.zt')")
    db.execute("INSERT INTO out(name, source, object, dtype) VALUES('half', ?, 'a', 'f16')", (image,))
    insert(db, name="a", key="k", value=2)
    assert rows(db, "SELECT name, typeof(source), object, dtype, shape, format, bytes FROM out WHERE key IS NULL") == [
        ("a", "text", "a", "f32", "[2]", "dense", 8), ("half", "blob", "a", "f16", "[2]", "dense", 4)]
    assert value(db, "SELECT source FROM out WHERE name = 'half'") == image
    db.execute("COMMIT")
    assert tensors(db, "out.zt") == {"a": ("f32", "[2]", f32(1, 2)), "half": ("f16", "[2]", struct.pack("<2e", 1, 2))}
    assert attributes(db, "out.zt") == [("a", "k", 2, "integer"), ("a", "l", "x", "text"), ("half", "k", 1, "integer"),
                                        ("half", "l", "x", "text")]


def test_the_target_as_its_own_source(db):
    declare(db, "a.zt", "mode='replace'")
    db.execute("INSERT INTO out(name, data, dtype, shape) VALUES('a', x'01', 'u8', '[1]'), ('b', x'02', 'u8', '[1]')")
    db.execute("INSERT INTO out(name, source, object) SELECT 'new.' || object, path, object FROM zt_objects('a.zt')")
    assert tensors(db, "a.zt") == {"new.a": ("u8", "[1]", b"\1"), "new.b": ("u8", "[1]", b"\2")}


def test_a_source_that_changed(db):
    declare(db, "src.zt", name="src")
    put(db, "a", table="src")
    db.execute("CREATE TABLE t(a)")
    declare(db, "a.zt", "mode='replace'")
    put(db, "old")
    before = open("a.zt", "rb").read()
    declare(db, "other.zt", name="other")
    put(db, "a", b"\7", table="other")
    for change in (lambda: open("src.zt", "ab").write(b"x"), lambda: os.truncate("src.zt", 100), lambda: os.unlink("src.zt"),
                   lambda: os.rename("other.zt", "src.zt")):
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES(1)")
        db.execute("INSERT INTO out(name, source) VALUES('a', 'src.zt')")
        change()
        code, message = refusal(db, "COMMIT")
        assert message.startswith("ztensor: src.zt: ") and not db.in_transaction and rows(db, "SELECT * FROM t") == []
        assert open("a.zt", "rb").read() == before
        open("src.zt", "wb").close()
        os.unlink("src.zt")
        put(db, "a", table="src")
    assert listing(".") == ["a.zt", "src.zt"]


def test_a_digest_that_does_not_match(db, save):
    declare(db, "src.zt", name="src")
    put(db, "a", f32(1, 2), "f32", "[2]", "src")
    image = bytearray(open("src.zt", "rb").read())
    image[image.index(f32(1, 2))] ^= 1
    save("bad.zt", bytes(image))
    declare(db, "a.safetensors")
    db.execute("BEGIN")
    db.execute("INSERT INTO out(name, source) VALUES('a', 'bad.zt')")
    assert refusal(db, "COMMIT") == (1, "ztensor: bad.zt: object 'a': component 'data': its bytes do not have its digest")
    assert listing(".") == ["bad.zt", "src.zt"]


def test_sparse_tensors(db):
    """By components; by reference kept, and made dense."""
    declare(db, "s.zt")
    db.execute("BEGIN")
    parts = {"values": (f32(5, 6), "f32"), "indices": (struct.pack("<2Q", 1, 0), "u64"), "indptr": (struct.pack("<3Q", 0, 1, 2), "u64")}
    for role, (data, dtype) in parts.items():
        put(db, "s", data, dtype, "[2,3]", format="sparse_csr", component=role)
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape, format, component) VALUES('s', x'00', 'u8', '[2,2]', 'sparse_csr', 'other')")
    assert "there is a component of this name" in refusal(
        db, "INSERT INTO out(name, data, dtype, shape, format, component) VALUES('s', ?, 'f32', '[2,3]', 'sparse_csr', 'values')",
        f32(5, 6))[1]
    db.execute("COMMIT")
    declare(db, "kept.zt", name="kept")
    db.execute("INSERT INTO kept(name, source) VALUES('s', 's.zt')")
    assert open("kept.zt", "rb").read() == open("s.zt", "rb").read()
    declare(db, "d.npz", name="dense")
    assert "dense" in refusal(db, "INSERT INTO dense(name, source) VALUES('s', 's.zt')")[1]
    db.execute("INSERT INTO dense(name, source, format) VALUES('s', 's.zt', 'dense')")
    assert tensors(db, "d.npz") == {"s": ("f32", "[2,3]", f32(0, 5, 0, 6, 0, 0))}


def test_a_sparse_tensor_without_a_component(db):
    declare(db, "s.zt")
    db.execute("BEGIN")
    put(db, "s", f32(5), "f32", "[2,3]", format="sparse_csr", component="values")
    assert refusal(db, "COMMIT")[1].startswith("ztensor: s.zt: object 's': ")
    assert listing(".") == []


# ------------------------------------------------------------------------------------------------------- which bytes

ARRAYS = [("w%d" % i, random.Random(i).randbytes(4 * n), "f32", f"[{n}]") for i, n in enumerate((0, 1, 7, 300001, 64))] + [
    ("B", b"\3\0\1", "i8", "[3]"), ("m", bytes(24), "i64", "[1,3]")]


@pytest.mark.parametrize("path, arguments, texts", [
    ("a.zt", [], True), ("a.zt", ["encoding='zstd'"], True), ("a.zt", ["format='ztensor-1.2'"], True),
    ("a.zt", ["format='ztensor-1.2'", "encoding='zstd'"], True), ("a.safetensors", [], True), ("a.npz", [], False),
    ("a.npz", ["encoding='deflate'"], False), ("a.gguf", [], True)])
def test_the_same_rows_give_the_same_bytes(path, arguments, texts):
    found = {}
    for threads in (1, 4):
        for source in ("value", "reference"):
            for seed in range(2):
                db = open_connection(entry=ENTRY)
                db.execute("SELECT zt_threads(?)", (threads,))
                given = ARRAYS + ([("", "k1", "v"), ("", "k2", "é")] if texts else [])
                random.Random(seed).shuffle(given)
                os.makedirs("d", exist_ok=True)
                target = f"d/{threads}{source}{seed}.{path.split('.')[1]}"
                declare(db, target, *arguments)
                db.execute("BEGIN")
                for row in given:
                    if len(row) == 3:
                        insert(db, name=None, key=row[1], value=row[2])
                    elif source == "value":
                        put(db, *row)
                    else:
                        insert(db, name=row[0], source=f"d/{threads}value0.{path.split('.')[1]}")
                db.execute("COMMIT")
                assert sorted(names(db, target)) == sorted(row[0] for row in ARRAYS)
                db.close()
                found[target] = open(target, "rb").read()
    assert len(set(found.values())) == 1 and len(found) == 8
    assert sorted(found) == ["d/" + name for name in listing("d")]


def test_order(db):
    for order, expected in (("row", ["b", "a", "B"]), ("name", ["B", "a", "b"])):
        declare(db, f"{order}.npz", f"order='{order}'", name="o" + order)
        db.execute("BEGIN")
        for name in ("b", "a", "B"):
            put(db, name, table="o" + order)
        db.execute("COMMIT")
        assert names(db, f"{order}.npz") == expected


# ------------------------------------------------------------------------------------------------ its table of rows

@pytest.mark.parametrize("change", [
    "offset = 1 << 40", "offset = -1", "length = -5", "length = 1 << 62", "source_number = 99", "source_number = -7",
    "source_number = 4294967295", "offset = NULL", "shape = 5, dtype = 6, name = NULL"])
def test_a_changed_table_of_rows_is_an_error(db, change):
    """Anyone may write it on a connection that is not defensive."""
    declare(db, "src.zt", name="src")
    put(db, "r", table="src")
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "a")
    db.execute("INSERT INTO out(name, source) VALUES('r', 'src.zt')")
    db.execute(f"UPDATE temp.out_rows SET {change}")
    for sql in ("SELECT * FROM out", "UPDATE out SET digest = 'none'", "COMMIT"):
        try:
            db.execute(sql).fetchall()
        except sqlite3.Error:
            pass
    if db.in_transaction:
        db.execute("ROLLBACK")
    assert listing(".") == ["src.zt"]
