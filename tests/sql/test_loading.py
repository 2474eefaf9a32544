"""Entry points, loading more than once, and what a schema made by a stranger may not do."""
import os
import re
import sqlite3
import subprocess
import sys

import pytest

import corpus
import writer
from support import EXTENSION, RAISING_TABLES, SOURCE_TABLES, failure, message, place, rows, value

NOFS = "sqlite3_ztensor_nofs_init"
TABLES = pytest.mark.parametrize("table", SOURCE_TABLES)
LIMITS = {"LENGTH": 0, "SQL_LENGTH": 1}   # Numbers of SQLITE_LIMIT_
FUNCTIONS = pytest.mark.parametrize("call", [
    "zt_blob({}, 'layer1.bias')", "zt_manifest({})", "zt_dense({}, 'layer1.bias')", "zt_json({}, 'layer1.bias')", "zt_json({}, 'layer1.bias', 'f32', 0, 1)",
    "zt_value({}, 'layer1.bias', 1)", "zt_hash({}, 'layer1.bias', 'crc32c')", "zt_hash({}, 'layer1.bias', NULL, 'crc32c')"])
CALLS = pytest.mark.parametrize("call", [f"{table}({{}})" for table in (*SOURCE_TABLES, "zt_stats", "zt_check")] + [
    f"{table}({{}}, 'layer1.bias')" for table in ("zt_elements", "zt_rows")])


def test_the_entry_point_is_found_by_the_name_of_the_file(connect, sample):
    db = connect(load=False)
    assert "no such table" in message(db, "SELECT * FROM zt_objects(?)", sample)
    db.load_extension(EXTENSION)
    assert value(db, "SELECT count(*) FROM zt_objects(?)", sample) == 2


def test_the_entry_point_can_be_named(connect, sample):
    assert value(connect(entry="sqlite3_ztensor_init"), "SELECT count(*) FROM zt_objects(?)", sample) == 2


AUTOMATIC = """
import _sqlite3, ctypes, sqlite3, sys
assert ctypes.CDLL(_sqlite3.__file__).sqlite3_auto_extension(ctypes.CDLL(sys.argv[1]).sqlite3_ztensor_init) == 0
for _ in range(2):
    print(sqlite3.connect(":memory:").execute("SELECT count(*) FROM zt_objects(?)", (sys.argv[2],)).fetchone()[0])
"""


def test_it_can_be_loaded_into_every_connection(sample):
    """Of Python's own sqlite3, whatever stands in its place here."""
    done = subprocess.run([sys.executable, "-E", "-c", AUTOMATIC, EXTENSION + ".so", sample], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("2\n2\n", "")


@pytest.mark.parametrize("entry", [None, NOFS])
def test_the_version(connect, entry):
    version = value(connect(entry=entry), "SELECT zt_version()")
    assert re.match(r"0\.1\.0\b", version)
    assert re.search(r"zstd\W{0,2}\d+\.\d+", version)


def test_each_connection_loads_for_itself(connect, sample):
    first, second, without = connect(), connect(), connect(load=False)
    assert value(first, "SELECT count(*) FROM zt_objects(?)", sample) == 2
    first.close()
    assert value(second, "SELECT count(*) FROM zt_objects(?)", sample) == 2
    assert "no such function" in message(without, "SELECT zt_version()")


# ----------------------------------------------------------------------------------------------------- loading twice

@pytest.mark.parametrize("entry", [None, NOFS])
def test_loading_twice_succeeds_and_changes_nothing(connect, entry):
    db = connect(entry=entry)
    file = writer.sample()
    db.execute("CREATE TABLE model AS SELECT ? AS file", (file,))
    query = "SELECT object, zt_blob(file, object) FROM model, zt_objects(file)"
    before = rows(db, query)
    assert before == [("layer1.weight", b"\x01" * 12), ("layer1.bias", b"\x02" * 4)]
    for _ in range(3):
        if entry:
            db.execute("SELECT load_extension(?, ?)", (EXTENSION, entry))
        else:
            db.load_extension(EXTENSION)
        assert rows(db, query) == before


def test_loading_again_leaves_named_tables_alone(db, sample):
    db.execute(f"CREATE VIRTUAL TABLE temp.models USING zt_objects('{sample}')")
    assert len(rows(db, "SELECT * FROM models")) == 2
    db.load_extension(EXTENSION)
    assert len(rows(db, "SELECT * FROM models")) == 2


def test_the_extension_can_be_loaded_by_a_statement_that_uses_it(db, tree):
    got = rows(db, """SELECT path, object, zt_blob(path, object), load_extension(?2), zt_blob(path, object)
                      FROM zt_objects(?1)""", tree.path, EXTENSION)
    assert got == [(f, o, data, None, data) for i, f in enumerate(tree.files)
                   for o, data in (("layer1.weight", bytes([i + 1]) * 12), ("layer1.bias", b"\x02" * 4))]


def test_the_extension_can_be_loaded_while_a_statement_of_it_runs(db, tree):
    cursor = db.execute("SELECT path, object FROM zt_objects(?)", (tree.path,))
    got = []
    for row in cursor:
        got.append(row)
        rows(db, "SELECT load_extension(?)", EXTENSION)
        rows(db, "SELECT load_extension(?, 'sqlite3_ztensor_init')", EXTENSION)
    assert got == [(f, o) for f in tree.files for o in ("layer1.weight", "layer1.bias")]


# --------------------------------------------------------------------------------------- the entry point for no files

@pytest.fixture
def nofs(connect):
    return connect(entry=NOFS)


@TABLES
def test_nofs_refuses_every_source_that_is_a_path(nofs, tree, table):
    for source in (tree.files[0], tree.path, tree.path + "/*.zt", "file://" + tree.files[0], tree.path + "/none.zt", "x"):
        assert message(nofs, f"SELECT * FROM {table}(?)", source).startswith("ztensor: ")
        assert message(nofs, f"SELECT * FROM {table} WHERE source = ?", source).startswith("ztensor: ")


@CALLS
def test_nofs_reads_blobs_and_no_path_in_the_tables(nofs, db, sample, call):
    sql = "SELECT * FROM " + call.format("?")
    blob = writer.write({"layer1.bias": writer.dense(b"\2" * 4)}, attributes={"k": "v"})
    assert rows(nofs, sql, blob) == rows(db, sql, blob) != []
    for source in (sample, "file://" + sample, "file:x", sample + "x", "none.zt", "*.zt"):
        assert message(nofs, sql, source).startswith("ztensor: ")


@FUNCTIONS
def test_nofs_reads_blobs_and_no_path_in_the_functions(nofs, db, sample, call):
    sql = "SELECT " + call.format("?")
    assert value(nofs, sql, writer.sample()) == value(db, sql, writer.sample()) is not None
    for source in (sample, "file://" + sample, sample + "x"):
        assert message(nofs, sql, source).startswith("ztensor: ")


@pytest.mark.parametrize("table", RAISING_TABLES)
def test_nofs_gives_no_row_of_a_file_with_skip_either(nofs, sample, table):
    # An error and an empty result both reveal nothing.
    try:
        got = rows(nofs, f"SELECT * FROM {table}(?, 'skip')", sample)
    except sqlite3.OperationalError as error:
        assert str(error).startswith("ztensor: ")
        return
    assert got == []


@CALLS
def test_nofs_makes_no_named_table_over_files(nofs, sample, call):
    with pytest.raises(sqlite3.OperationalError, match="ztensor: "):
        nofs.execute("CREATE VIRTUAL TABLE temp.models USING " + call.format(f"'{sample}'"))
        rows(nofs, "SELECT * FROM models")


def test_nofs_does_not_tell_whether_a_file_exists(nofs, sample):
    texts = {message(nofs, "SELECT zt_blob(?, 'layer1.bias')", path).replace(path, "") for path in (sample, sample + "x")}
    assert len(texts) == 1


def test_nofs_opens_nothing(trace, tree):
    sources = [tree.files[0], tree.path, tree.path + "/*.zt", "file://" + tree.files[0]]
    queries = [f"SELECT * FROM {table}('{s}');" for table in SOURCE_TABLES for s in sources]
    queries += [f"SELECT * FROM {table}('{s}', 'skip');" for table in RAISING_TABLES for s in sources]
    queries += [f"SELECT {f};" for s in sources for f in (f"zt_blob('{s}', 'layer1.bias')", f"zt_manifest('{s}')")]
    queries += [f"SELECT path, size FROM zt_files('{s}');" for s in sources]
    got = trace("\n".join(queries) + "\nSELECT 'end';", entry=NOFS)
    # zt_files may report the refusal in its error column or as an error: no other answer is allowed.
    assert got.out.splitlines()[-1] == "end"
    assert "layer1" not in got.out
    assert [path for path in got.opened if path.startswith(tree.path)] == []
    assert EXTENSION + ".so" in got.opened


def test_nofs_opens_nothing_by_its_libraries_either(trace):
    file = f"x'{writer.sample().hex()}'"
    queries = [f"SELECT zt_hash({file}, 'layer1.bias', 'data', '{a}');" for a in ("sha256", "crc32c", "xxh3")]
    queries += [f"SELECT * FROM {table}({file});" for table in SOURCE_TABLES]
    queries += [f"SELECT zt_version(), zt_content_id({file}), zt_dense({file}, 'layer1.bias');"]
    least, got = trace("SELECT zt_version();", entry=NOFS), trace("\n".join(queries), entry=NOFS)
    assert "sha256:" in got.out
    known = set(least.opened) | {"/dev/urandom"}   # SQLite opens it; a sanitizer opens files below /proc
    assert {path for path in got.opened if not path.startswith("/proc/")} <= known


@pytest.mark.parametrize("name", ["v0.1/hand_checksums", "v1.0/wheel_csr", "v1.1/hand_zstd", "v1.2/wheel_sparse", "v2/wheel_sparse"])
def test_nofs_reads_blobs_as_the_other_entry_point_does(nofs, db, name):
    file = corpus.GOLDEN.joinpath(name + ".zt").read_bytes()
    for sql in ("SELECT * FROM zt_files(?)", "SELECT * FROM zt_objects(?)",
                "SELECT *, data, stored, digest_status FROM zt_components(?)",
                "SELECT zt_manifest(?)", "SELECT zt_blob(?1, object, component) FROM zt_components(?1)"):
        assert rows(nofs, sql, file) == rows(db, sql, file) != []


def test_nofs_reads_the_attributes_of_a_blob(nofs):
    file = writer.write({"w": dict(writer.dense(b"x"), attributes={"b": 2})}, attributes={"a": [1]})
    assert rows(nofs, "SELECT object, key, value FROM zt_attributes(?)", file) == [(None, "a", "[1]"), ("w", "b", 2)]


@pytest.mark.parametrize("arguments", ["", ", 'data'", ", 'data', 200000, 10", ", 'data', 99991, 10"])
def test_nofs_decodes_no_more_than_the_limit_of_sqlite(nofs, db, arguments):
    size = 1_000_000
    packed = writer.dense(writer.zstd_repeat(b"\x05", size), [size], encoding="zstd", uncompressed_length=size)
    file = writer.write({"w": packed})
    for connection in (nofs, db):
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    error = failure(nofs, f"SELECT zt_blob(?, 'w'{arguments})", file)
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert str(error).startswith(place(file, "w", "data"))
    if "10" in arguments:
        # The other entry point may decode a large component for a range.
        assert value(db, f"SELECT zt_blob(?, 'w'{arguments})", file) == b"\x05" * 10
    assert value(nofs, "SELECT zt_blob(?, 'w', 'data', 90000, 10)", file) == b"\x05" * 10


# SQLite itself needs some of it: to name a column, and to keep a statement's text
@pytest.mark.parametrize("length", [120, 200, 399, 100_000])
@pytest.mark.parametrize("call", ["zt_files(?1)", "zt_objects(?1)", "zt_components(?1)", "zt_attributes(?1)",
                                  "zt_elements(?1, 'layer1.bias')", "zt_rows(?1, 'layer1.bias')", "zt_stats(?1)",
                                  "zt_check(?1)", "zt_histogram(?1, 'layer1.bias')", "zt_rules",
                                  "zt_compare(?1, 'layer1.bias', ?1, 'layer1.bias')"])
@pytest.mark.parametrize("limits", [["LENGTH"], ["SQL_LENGTH"], ["LENGTH", "SQL_LENGTH"]])
def test_tables_are_there_however_short_values_must_be(connect, monkeypatch, tmp_path, call, length, limits):
    monkeypatch.chdir(tmp_path)   # A relative path is a value, too
    (tmp_path / "x.zt").write_bytes(writer.sample())
    sql, arguments = f"SELECT count(*) FROM {call}", ["x.zt"] if "?" in call else []
    unlimited, db = value(connect(), sql, *arguments), connect()
    for limit in limits:
        db.setlimit(LIMITS[limit], length)
    assert value(db, sql, *arguments) == unlimited
    assert [db.setlimit(LIMITS[limit], length) for limit in limits] == [length] * len(limits)


def test_a_value_that_is_longer_than_the_limit_is_too_big_and_not_out_of_memory(connect, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.zt").write_bytes(writer.sample())
    db = connect()
    db.setlimit(LIMITS["LENGTH"], 120)
    error = failure(db, "SELECT zt_manifest('x.zt')")
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG


def test_nofs_stays_what_it_is_when_the_other_entry_point_is_loaded_too(nofs, sample):
    # A plugin of the host, or SQL that may load extensions, must not open what the host has closed.
    rows(nofs, "SELECT load_extension(?, 'sqlite3_ztensor_init')", EXTENSION)
    assert message(nofs, "SELECT * FROM zt_objects(?)", sample).startswith("ztensor: ")
    assert message(nofs, "SELECT zt_blob(?, 'layer1.bias')", sample).startswith("ztensor: ")
    assert value(nofs, "SELECT count(*) FROM zt_objects(?)", writer.sample()) == 2


def test_nofs_reads_null_and_numbers_as_the_other_entry_point_does(nofs):
    assert rows(nofs, "SELECT * FROM zt_objects(NULL)") == []
    assert rows(nofs, "SELECT zt_blob(NULL, 'w')") == [(None,)]
    assert message(nofs, "SELECT * FROM zt_objects(1)").startswith("ztensor: ")


# ------------------------------------------------------------------------------------------------------- direct only

@CALLS
def test_a_view_stored_in_the_database_cannot_use_a_table(db, sample, call):
    use = call.format(f"'{sample}'")
    db.execute(f"CREATE VIEW stored AS SELECT * FROM {use}")
    db.execute(f"CREATE TEMP VIEW mine AS SELECT * FROM {use}")
    assert f'unsafe use of virtual table "{call.partition("(")[0]}"' in message(db, "SELECT * FROM stored")
    assert rows(db, "SELECT * FROM mine") == rows(db, f"SELECT * FROM {use}")


def test_a_connection_that_trusts_no_schema_can_use_both(db, sample):
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute(f"CREATE TEMP VIEW mine AS SELECT object, zt_blob('{sample}', object) FROM zt_objects('{sample}')")
    assert rows(db, "SELECT * FROM mine") == [("layer1.weight", b"\x01" * 12), ("layer1.bias", b"\x02" * 4)]


def test_a_stored_view_of_a_schema_that_is_not_trusted_can_use_what_reads_nothing(db):
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("CREATE TABLE t AS SELECT 'w' AS object, 'xxh3-128:00000000000000000000000000000000' AS fingerprint")
    for i, what in enumerate(("zt_fingerprint(object, fingerprint)", "zt_version()", "zt_threads()")):
        db.execute(f"CREATE VIEW stored{i} AS SELECT {what} AS v FROM t")
        assert rows(db, f"SELECT v FROM stored{i}") == rows(db, f"SELECT {what} FROM t")


@FUNCTIONS
def test_a_view_stored_in_the_database_cannot_use_a_function(db, sample, call):
    expression = call.format(f"'{sample}'")
    db.execute(f"CREATE VIEW stored AS SELECT {expression} AS v")
    db.execute(f"CREATE TEMP VIEW mine AS SELECT {expression} AS v")
    assert "unsafe use of" in message(db, "SELECT * FROM stored")
    assert value(db, "SELECT v FROM mine") == value(db, f"SELECT {expression}")


@pytest.mark.parametrize("use", ["zt_blob('{}', 'layer1.bias')", "zt_manifest('{}')", "(SELECT count(*) FROM zt_objects('{}'))"])
def test_a_trigger_stored_in_the_database_cannot_use_either(db, sample, use):
    use = use.format(sample)
    db.execute("CREATE TABLE stored(x)")
    db.execute("CREATE TABLE mine(x)")
    db.execute("CREATE TABLE log(x)")
    db.execute(f"CREATE TRIGGER a AFTER INSERT ON stored BEGIN INSERT INTO log SELECT {use}; END")
    db.execute(f"CREATE TEMP TRIGGER b AFTER INSERT ON mine BEGIN INSERT INTO log SELECT {use}; END")
    assert "unsafe use of" in message(db, "INSERT INTO stored VALUES (1)")
    db.execute("INSERT INTO mine VALUES (1)")
    assert rows(db, "SELECT x FROM log") == rows(db, f"SELECT {use}")


def test_a_database_made_by_a_stranger_reads_no_file(connect, tmp_path, sample):
    database = tmp_path / "theirs.db"
    maker = connect(database)
    maker.execute(f"CREATE VIEW trap AS SELECT zt_blob('{sample}', 'layer1.bias') AS v")
    maker.execute(f"CREATE VIEW trap2 AS SELECT object AS v FROM zt_objects('{sample}')")
    maker.execute("CREATE TABLE t(x)")
    maker.execute(f"CREATE VIEW trap3 AS SELECT 1 AS v FROM t WHERE zt_blob('{sample}', 'layer1.bias') IS NOT NULL")
    maker.close()
    assert os.path.getsize(database) > 0
    victim = connect(database)
    for view in ("trap", "trap2", "trap3"):
        assert "unsafe use of" in message(victim, f"SELECT v FROM {view}")


def test_an_authorizer_in_the_way_does_not_undo_nofs(connect):
    db = connect(entry=NOFS)
    db.set_authorizer(lambda action, *rest: sqlite3.SQLITE_DENY if action == 31 and rest[1] == "zt_version" else sqlite3.SQLITE_OK)
    with pytest.raises(sqlite3.OperationalError, match="cannot tell what is loaded"):
        db.load_extension(EXTENSION)
    db.set_authorizer(None)
    assert " nofs " in value(db, "SELECT zt_version()")
