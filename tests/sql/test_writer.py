"""zt_writer: its arguments, the target, COMMIT and its failures, and which bytes a file gets."""
import os
import random
import shutil
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

import corpus
import support
from support import TRIGGERS_REFUSED, message, open_connection, rows, value
from writing import ENTRY, INTERRUPT, attributes, declare, f32, insert, inside, listing, names, open_writer, put, refusal, tensors  # noqa: F401

FORMATS = "the formats are 'ztensor-2', 'ztensor-1.2', 'safetensors', 'gguf', 'npy' and 'npz'"


pytestmark = pytest.mark.usefixtures("inside")


@pytest.fixture
def db(connect, inside):
    return connect(entry=ENTRY)


# ------------------------------------------------------------------------------------------------------- arguments

@pytest.mark.parametrize("format", ["onnx", "pickle", "hdf5"])
def test_a_format_that_is_only_read_is_not_updated(db, format):
    """Whatever its name says: another format would be no way out."""
    source = next(path for path in sorted((corpus.FORMATS / format / "golden").iterdir()) if path.is_file() and path.suffix != ".json")
    shutil.copy(source, "model")
    said = "ztensor: model: files of its format and version cannot be updated; write its rows to another file"
    assert message(db, "CREATE VIRTUAL TABLE temp.out USING zt_writer('model', mode=update)") == said


@pytest.mark.parametrize("arguments, message", [
    ("", "zt_writer needs a path: zt_writer('model.zt')"), ("''", "zt_writer needs a path: zt_writer('model.zt')"),
    ("'a.pt'", f"a.pt: its name does not say the format: give the argument format; {FORMATS}"),
    ("'.zt'", f".zt: its name does not say the format: give the argument format; {FORMATS}"),
    ("'a.zt', format='onnx'", f"a.zt: there is no format 'onnx' to write; {FORMATS}"),
    ("'a.zt', 'b'", "zt_writer: arguments behind the path have names: 'b'"),
    ("'a.zt', color='x'", "zt_writer has no argument 'color'; it takes path, format, mode, order, align, encoding, level,"
                          " digest, drop, sync"),
    ("'a.zt', mode='create', mode='create'", "zt_writer: the argument mode is given twice"),
    ("'a.zt', path='b.zt'", "zt_writer: the argument path is given twice"),
    ("'a.zt', mode='append'", "a.zt: mode must be 'create', 'replace' or 'update', not 'append'"),
    ("'a.zt', mode=", "a.zt: mode must be 'create', 'replace' or 'update', not ''"),
    ("'a.zt', drop=''", "a.zt: drop must be 'nothing' or 'attributes', not ''"),
    ("'a.zt', order='size'", "a.zt: order must be 'name' or 'row', not 'size'"),
    ("'a.zt', sync='maybe'", "a.zt: sync must be 'full' or 'off', not 'maybe'"),
    *((f"'a.zt', align={value}", f"a.zt: align must be a power of two from 4096 to 1073741824, not '{value}'")
      for value in ("", "-1", "-4096", "0", "5000", "2048", "2147483648", "99999999999999999999", "0x1000", "4096.0", "4 096")),
    ("'a.zt', align=' 4096'", "a.zt: align must be a power of two from 4096 to 1073741824, not ' 4096'"),
    ("'a.zt', format='ztensor-1.2', align=32", "a.zt: align must be a power of two from 64 to 1073741824, not '32'"),
    ("'a.gguf', align=4", "a.gguf: align must be a power of two from 8 to 1073741824, not '4'"),
    ("'a.npz', align=64", "a.npz: npz has no use for align"), ("'a.npy', align=64", "a.npy: npy has no use for align"),
    ("'a.safetensors', align=64", "a.safetensors: safetensors has no use for align"),
    ("'a.zt', drop='attributes'", "a.zt: ztensor-2 has no use for drop: its objects have attributes"),
    ("'a.zt', drop='attributes', format='ztensor-1.2'", "a.zt: ztensor-1.2 has no use for drop: its objects have attributes"),
    ("'a.zt', level=3", "a.zt: level needs encoding='zstd'"), ("'a.npz', level=3", "a.npz: level needs encoding='deflate'"),
    ("'a.gguf', level=3", "a.gguf: gguf has no use for level"), ("'a.npy', level=3", "a.npy: npy has no use for level"),
    ("'a.zt', encoding='zstd', level=-1", "a.zt: level must be 1 to 22, not -1"),
    *((f"'a.zt', encoding='zstd', level={value}", f"a.zt: level must be an integer, not '{value}'")
      for value in ("", "-", "3.0", "+3", "99999999999999999999")),
    ("'a.zt', encoding='zstd', level=0", "a.zt: level must be 1 to 22, not 0"),
    ("'a.zt', encoding='zstd', level=23", "a.zt: level must be 1 to 22, not 23"),
    ("'a.npz', encoding='deflate', level=10", "a.npz: level must be 1 to 9, not 10"),
    ("'a.zt', encoding='deflate'", "a.zt: ztensor-2 has no encoding 'deflate'; it has 'raw' and 'zstd'"),
    ("'a.npz', encoding='zstd'", "a.npz: npz has no encoding 'zstd'; it has 'raw' and 'deflate'"),
    ("'a.gguf', encoding='zstd'", "a.gguf: gguf has no encoding 'zstd'; it has 'raw'"),
    ("'a.zt', digest='crc32c'", "a.zt: ztensor-2 has no digest 'crc32c'; it has 'none', 'xxh3' and 'sha256'"),
    ("'a.zt', format='ztensor-1.2', digest='xxh3'", "a.zt: ztensor-1.2 has no digest 'xxh3'; it has 'none', 'sha256' and 'crc32c'"),
    ("'a.npz', digest='sha256'", "a.npz: npz has no digest 'sha256'; it has 'none'")])
def test_arguments_that_cannot_be(db, arguments, message):
    assert refusal(db, f"CREATE VIRTUAL TABLE temp.out USING zt_writer({arguments})") == (1, "ztensor: " + message)
    assert rows(db, "SELECT name FROM temp.sqlite_master") == [] and listing(".") == []


def test_a_broken_file_to_update_says_what_is_broken_in_it(db, tmp_path):
    """Its name does not say the format."""
    (tmp_path / "model").write_bytes(b"GGUF\3\0\0\0")
    assert refusal(db, "CREATE VIRTUAL TABLE temp.u USING zt_writer('model', mode='update')") == (
        1, "ztensor: model: the file has 8 bytes, a GGUF header has 24")


@pytest.mark.parametrize("arguments", [
    "'a.zt'", "path='a.zt'", "  'a.zt' , format = ztensor-2, MODE='create'", "'a.zt', align='4096'", "'a.zt', order='row'",
    "'a.zt', align=1048576", "'a.zt', encoding='zstd', level=22", "'a.zt', digest='sha256'", "'a.zt', digest='none'",
    "'a.zt', sync='off'", "'a.zt', encoding='raw'", "'a.zt', drop=nothing",
    "'a.zt', drop='nothing'", '"a.zt", encoding="zstd", level="5"'])
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
        "ztensor: a.zt: object 'x': ztensor-2 has no digest 'md5'; it has 'none', 'xxh3' and 'sha256'"
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


def test_a_table_that_has_the_name_of_its_rows(db):
    db.execute("CREATE TABLE temp.out_zt(a)")
    assert refusal(db, "CREATE VIRTUAL TABLE temp.out USING zt_writer('m.zt')") == (1, 'table "out_zt" already exists')
    db.execute("DROP TABLE temp.out_zt")
    declare(db, "m.zt")
    put(db, "a")
    assert names(db, "m.zt") == ["a"]


def test_a_schema_that_brings_one_along():
    """Whoever opens a database file does not thereby write a file."""
    made = sqlite3.connect("evil.db")
    made.execute("CREATE TABLE x_zt(a)")
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
    if TRIGGERS_REFUSED:
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


def test_defensive_connections(shell):
    """Its own table is a shadow table then, which no other statement changes."""
    done = shell("""
        .dbconfig defensive on
        CREATE VIRTUAL TABLE temp.out USING zt_writer('b.zt');
        BEGIN;
        INSERT INTO out(name, data, dtype, shape) VALUES('b', x'01', 'u8', '[1]');
        DELETE FROM out_zt;
        COMMIT;
        DROP TABLE out;
        SELECT object, (SELECT count(*) FROM temp.sqlite_master) FROM zt_objects('b.zt');""", entry=ENTRY)
    assert done.out.splitlines()[-1] == "b|0" and "out_zt may not be modified" in done.err


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
    ("/dev/null", "is a device, and no file can be written there"), ("dangling.zt", "is a symbolic link that leads to no file"),
    ("loop.zt", "is a symbolic link that leads to no file"), ("above.zt", "is a symbolic link that leads to no file"),
    ("nowhere/a.zt", "No such file or directory")])
def test_targets_that_cannot_be(db, path, message, mode):
    os.mkdir("dir.zt")
    os.mkfifo("fifo.zt")
    for link, to in (("dangling.zt", "gone.zt"), ("loop.zt", "loop.zt"), ("above.zt", "nowhere/a.zt")):
        os.symlink(to, link)
    declare(db, path, "format='ztensor-2'", f"mode='{mode}'")
    error = refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('new', x'01', 'u8', '[1]')")
    assert error[1].startswith(f"ztensor: {path}: ")
    assert message in error[1] or (mode == "update" and "there is no such file to update" in error[1])
    assert listing(".") == ["above.zt", "dangling.zt", "dir.zt", "fifo.zt", "loop.zt"] and stat.S_ISFIFO(os.stat("fifo.zt").st_mode)


@pytest.mark.parametrize("url", ["https://host/a.zt", "s3://bucket/a.zt", "S3://b/a b.zt", "sqlite:///x.zt"])
def test_urls_are_no_targets(db, url):
    for mode in ("create", "replace", "update"):
        assert refusal(db, f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{url}', mode={mode}, format='ztensor-2')") == (
            1, f"ztensor: {url}: a URL of scheme '{url.partition(':')[0]}' is not written: targets are files of this machine")


def test_the_query_of_a_url_stays_secret(db):
    """Messages go to logs."""
    error = refusal(db, "CREATE VIRTUAL TABLE temp.out USING zt_writer('https://host/a.zt?key=secret')")
    assert error[1].startswith("ztensor: https://host/a.zt?...: a URL of scheme 'https' is not written")


def test_a_target_is_named_as_a_source_is(db, monkeypatch):
    """A file: URI and the home directory."""
    here = os.getcwd()
    monkeypatch.setenv("HOME", here)
    for path, made in ((f"file://{here}/a%20b.zt", "a b.zt"), ("file:c.npz", "c.npz"), (f"file://localhost{here}/%25.zt", "%.zt"),
                       ("~/home.gguf", "home.gguf")):
        for mode in ("create", "replace", "update"):
            declare(db, path, f"mode='{mode}'", name="w")
            if mode == "update":
                db.execute("UPDATE w SET name = 'b'")
            else:
                put(db, "a", dtype="i8", table="w")
            db.execute("DROP TABLE w")
        assert names(db, path) == names(db, made) == ["b"]
    assert listing(".") == ["%.zt", "a b.zt", "c.npz", "home.gguf"]


def test_a_name_that_exists_is_that_name(db):
    open("file:a.zt", "wb").close()
    declare(db, "file:a.zt", "mode='replace'")
    put(db, "a")
    assert listing(".") == ["file:a.zt"] and names(db, "file:a.zt") == ["a"]


@pytest.mark.parametrize("path, said", [
    ("file://host/a.zt", "a file: URI with a host other than localhost"), ("file:a%zz.zt", "a file: URI with a bad percent-encoding"),
    ("file:a.zt?mode=ro", "a file: URI with a query or fragment")])
def test_uris_that_cannot_be(db, path, said):
    assert refusal(db, f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{path}')") == (1, f"ztensor: {path}: {said}")


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


# ------------------------------------------------------------------------------------------------ a COMMIT that fails

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
    assert (code, "interrupt" in message) == (INTERRUPT, True)
    assert not db.in_transaction and rows(db, "SELECT * FROM t") == []
    assert names(db, "a.zt") == ["old"] and listing(".") == ["a.zt"]
    put(db, "next")
    assert names(db, "a.zt") == ["next"]


@pytest.mark.parametrize("once", [False, True])
def test_an_interrupt_ends_commit_between_rows(db, once):
    """A connection asks by a statement of its own, which selects from `t`; the answer is yes once, or always from then on."""
    declare(db, "a.zt")
    asks = []
    db.set_authorizer(lambda *authorized: asks.append(1) or 0 if authorized[4] == "t" else 0)
    db.set_progress_handler(lambda: asks and (not once or asks.pop()), 1)
    assert refusal(db, "INSERT INTO out(key, value) VALUES('a', 1), ('b', 2), ('c', 3)")[0] == INTERRUPT
    db.set_progress_handler(None, 1)
    db.set_authorizer(None)
    assert not db.in_transaction and listing(".") == []


def test_an_interrupt_ends_commit(db):
    declare(db, "a.zt", "encoding='zstd'", "level=22")
    db.execute("BEGIN")
    put(db, "a", random.Random(1).randbytes(32 << 20))
    timer = threading.Timer(0.05, db.interrupt)
    timer.start()
    assert refusal(db, "COMMIT")[0] == INTERRUPT
    timer.join()
    assert not db.in_transaction and listing(".") == []


@pytest.mark.parametrize("sparse", [False, True])
def test_a_directory_that_went_away(db, sparse):
    """The message names no tensor, whatever was looked at last."""
    os.mkdir("d")
    declare(db, "d/a.zt")
    db.execute("CREATE TABLE t(a)")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    put(db, "a")
    for role, data, dtype in (("values", f32(5), "f32"), ("indices", bytes(8), "u64"), ("indptr", bytes(8) + b"\1" + bytes(7), "u64")) if sparse else ():
        put(db, "s", data, dtype, "[1,3]", format="sparse_csr", component=role)
    os.rename("d", "e")
    code, message = refusal(db, "COMMIT")
    assert code == 1 and message.startswith("ztensor: d/a.zt: ") and message.endswith("No such file or directory") and "object" not in message
    assert listing("e") == [] and rows(db, "SELECT * FROM t") == []


@pytest.mark.parametrize("path", ["none/b.zt", "file/b.zt", "n" * 256 + ".zt"])
def test_a_target_that_cannot_be_undoes_its_statement_alone(db, path):
    """SQLITE_IOERR would undo the transaction, and commit the statements after it one by one."""
    Path("file").write_bytes(b"")
    declare(db, "a.zt", "mode='replace'")
    declare(db, path, "mode='replace'", name="other")
    db.execute("CREATE TABLE t(a)")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    put(db, "one")
    code, message = refusal(db, "INSERT INTO other(name, data, dtype, shape) VALUES('w', x'01', 'u8', '[1]')")
    assert code == 1 and message.startswith(f"ztensor: {path}: looking at ") and db.in_transaction
    put(db, "two")
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["one", "two"] and rows(db, "SELECT * FROM t") == [(1,)] and listing(".") == ["a.zt", "file"]


@pytest.mark.parametrize("name", ['"a b"', '"a""b"', '"a\'b"', '"select"', '"%s"', "out_zt"])
def test_names_of_the_table(db, name):
    declare(db, "a.zt", name=name)
    put(db, "a", table="temp." + name)
    assert names(db, "a.zt") == ["a"]
    db.execute(f"DROP TABLE temp.{name}")
    assert rows(db, "SELECT name FROM temp.sqlite_master") == []


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
    db.execute(f"UPDATE temp.out_zt SET {change}")
    for sql in ("SELECT * FROM out", "UPDATE out SET digest = 'none'", "COMMIT"):
        try:
            db.execute(sql).fetchall()
        except sqlite3.Error:
            pass
    if db.in_transaction:
        db.execute("ROLLBACK")
    assert listing(".") == ["src.zt"]


@pytest.mark.parametrize("format, align, warned", [("ztensor-1.2", 64, 0), ("ztensor-1.2", 256, 3), ("ztensor-2", 4096, 0), ("ztensor-2", 262144, 0)])
def test_what_is_said_against_an_alignment(db, format, align, warned):
    """1.2 has at most 63 bytes of padding. Writers of zTensor 2 choose the alignment."""
    declare(db, "a.zt", f"format='{format}'", f"align={align}")
    db.execute("BEGIN")
    for name, size in (("a", 1), ("b", 300), ("c", 0), ("d", 1)):
        put(db, name, bytes(size))
    db.execute("COMMIT")
    assert rows(db, "SELECT rule FROM zt_check('a.zt', 'full')") == [("gap",)] * warned
