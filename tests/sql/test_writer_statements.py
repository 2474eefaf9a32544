"""zt_writer: statements that name more than they change. Rows with all that a SELECT shows of them, UPDATE FROM, and what SQLite has for
tables of its own alone."""
import shutil
import sqlite3
import struct

import pytest

import corpus
from support import RETURNING, TRIGGERS_REFUSED, rows, value
from writing import CONSTRAINT, ENTRY, declare, f32, insert, inside, names, open_writer, put, refusal, tensors  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")
COLUMNS = "name, source, object, data, dtype, shape, format, component, encoding, level, digest, key, value, type, stored_type"
SHOWN = "SELECT rowid, *, bytes FROM out ORDER BY rowid"
STORED = "SELECT object, component, dtype, type, encoding, length, digest FROM zt_components(?) ORDER BY 1, 2"


@pytest.fixture
def db(connect, inside):
    """A connection, and src.zt with a tensor, a compressed one and one of an f8, a CSR tensor, and attributes."""
    db = connect(entry=ENTRY)
    declare(db, "src.zt", name="made")
    db.execute("BEGIN")
    put(db, "a", f32(1, 2, 3, 4), "f32", "[2,2]", "made")
    put(db, "b", bytes(4000), "f32", "[1000]", "made", encoding="zstd", level=19, digest="sha256")
    put(db, "f8", b"\x38\x40", "f8_e4m3fn", "[2]", "made")
    for component, data, dtype in (("values", f32(5), "f32"), ("indices", struct.pack("<Q", 1), "u64"), ("indptr", struct.pack("<3Q", 0, 1, 1), "u64")):
        put(db, "s", data, dtype, "[2,2]", "made", component=component, format="sparse_csr")
    insert(db, "made", name="a", key="k", value=2.5)
    insert(db, "made", name=None, key="licence", value="MIT")
    db.execute("COMMIT")
    return db


def fill(db, table="out"):
    """Rows of each kind: by path, by image, by value, of a sparse tensor, attributes."""
    insert(db, table, name="a", source="src.zt")
    insert(db, table, name="f", source="src.zt", object="f8")
    insert(db, table, name="image", source=open("src.zt", "rb").read(), object="b")
    insert(db, table, name="s", source="src.zt")
    insert(db, table, name="half", source="src.zt", object="a", dtype="f16", encoding="zstd", level=4)
    insert(db, table, name="dense", source="src.zt", object="s", format="dense")
    put(db, "data", b"\1\2\3", table=table)
    put(db, "empty", b"", table=table)
    put(db, "sparse", f32(), "f32", "[0,0]", table, component="values", format="sparse_csr")
    insert(db, table, name="data", key="k", value=b"\1")
    insert(db, table, name=None, key="n", value=7)


# -------------------------------------------------------------------------------- rows with all that is shown of them

def copies(db, first, insert_):
    """Two tables: the rows of the second come from a SELECT of the first. Their files are the same, byte for byte."""
    declare(db, "one.zt", "mode='replace'")
    declare(db, "two.zt", "mode='replace'", name="two")
    db.execute("BEGIN")
    first(db)
    db.execute(insert_)
    assert rows(db, SHOWN.replace("out", "two")) == rows(db, SHOWN)
    db.execute("DELETE FROM out WHERE component IS NOT NULL")   # Its other components are not there
    db.execute("DELETE FROM two WHERE component IS NOT NULL")
    db.execute("COMMIT")
    assert open("one.zt", "rb").read() == open("two.zt", "rb").read()


@pytest.mark.parametrize("insert_", [
    f"INSERT INTO two({COLUMNS}, bytes) SELECT {COLUMNS}, bytes FROM out", "INSERT INTO two SELECT * FROM out",
    f"INSERT INTO two(rowid, {COLUMNS}) SELECT rowid, {COLUMNS} FROM out"])
def test_a_copy_of_the_rows(db, insert_):
    """Types, shapes and formats are given then, and change nothing, but that a type to convert to stays one."""
    copies(db, fill, insert_)


def test_columns_of_zt_objects(db):
    declare(db, "one.zt")
    db.execute("INSERT INTO out(name, source, object, dtype, shape, format) SELECT object, path, object, type, shape, format "
               "FROM zt_objects('src.zt')")
    assert rows(db, "SELECT object, type, shape, format FROM zt_objects('one.zt') ORDER BY 1") == rows(
        db, "SELECT object, type, shape, format FROM zt_objects('src.zt') ORDER BY 1")


def test_a_shape_beside_a_source_is_its_own(db):
    declare(db, "one.zt")
    db.execute("BEGIN")
    insert(db, name="a", source="src.zt", shape=" [ 2, 2 ] ")
    insert(db, name="s", source="src.zt", shape="[2,2]", format="dense")
    for shape in ("[4]", "[2,2,1]", "[2,3]", "[]"):
        code, message = refusal(db, "INSERT INTO out(name, source, object, shape) VALUES('x', 'src.zt', 'a', ?)", shape)
        assert (code, message) == (1, "ztensor: one.zt: object 'x': its source has another shape: shape is NULL, which keeps that, or the same")
        assert "another shape" in refusal(db, "UPDATE out SET shape = ?", shape)[1]
    assert "shape must be a JSON array" in refusal(db, "INSERT INTO out(name, source, shape) VALUES('f8', 'src.zt', 'x')")[1]
    db.execute("UPDATE out SET object = 'b' WHERE name = 'a'")   # The shape was no request
    assert rows(db, "SELECT name, shape FROM out") == [("a", "[1000]"), ("s", "[2,2]")]


def test_the_type_of_stored_numbers_is_no_request(db):
    """What zt_objects shows as dtype: a copy of it is not to make numbers of f8."""
    declare(db, "one.zt")
    db.execute("BEGIN")
    assert rows(db, "SELECT dtype, type FROM zt_objects('src.zt') WHERE object = 'f8'") == [("u8", "f8_e4m3fn")]
    code, message = refusal(db, "INSERT INTO out(name, source, dtype) SELECT object, path, dtype FROM zt_objects('src.zt') WHERE object = 'f8'")
    assert (code, message) == (1, "ztensor: one.zt: object 'f8': u8 is the type of its stored numbers, and f8_e4m3fn that of its values: "
                                  "dtype is NULL, which keeps them, or another one")
    insert(db, name="f8", source="src.zt", dtype="i16")
    db.execute("COMMIT")
    assert tensors(db, "one.zt") == {"f8": ("i16", "[2]", b"\1\0\2\0")}


QUANTIZED = [("ztensor-1.2", "ztensor/golden/v1.2/hand_quantized.zt"), ("ztensor-2", "ztensor/golden/v2/wheel_quant.zt"),
             ("gguf", "gguf/golden/q_k.gguf"), ("ztensor-2", "gguf/golden/q_k.gguf")]


@pytest.mark.parametrize("format, path", QUANTIZED)
def test_quantized_tensors_stay_so(db, format, path):
    """A row that names their format and the type of their stored numbers has them as they are: no dense tensor of these numbers."""
    path = str(corpus.FORMATS / path)
    for name in ("one", "two", "three"):
        declare(db, name, f"format='{format}'", "mode='replace'", name="out" if name == "one" else name)
    db.execute("BEGIN")
    kept = []
    for name, dtype, shape, stored in rows(db, "SELECT object, dtype, shape, format FROM zt_objects(?) WHERE dtype IS NOT NULL", path):
        try:
            insert(db, name=name, source=path)
        except sqlite3.Error:
            continue
        kept.append(name)
        insert(db, "three", name=name, source=path, dtype=dtype, shape=shape, format=stored)
        assert f"{dtype} is the type of its stored numbers: dtype is NULL, which keeps them, or format is 'dense'" in refusal(
            db, "INSERT INTO out(name, source, object, dtype) VALUES('x', ?, ?, ?)", path, name, dtype)[1]
        assert f"its format '{stored}' has types of its own: dtype is NULL, or format is 'dense'" in refusal(
            db, "INSERT INTO out(name, source, object, dtype, format) VALUES('x', ?, ?, 'f16', ?)", path, name, stored)[1]
    db.execute("INSERT INTO two SELECT * FROM out")
    shown = rows(db, SHOWN)
    assert rows(db, SHOWN.replace("out", "two")) == [
        row for row in rows(db, SHOWN.replace("out", "three"))] and len(kept) > 0
    db.execute("UPDATE out SET dtype = dtype, shape = shape, format = format, bytes = bytes, source = source, object = object, name = name")
    assert [row[:5] + row[6:] for row in rows(db, SHOWN)] == [row[:5] + row[6:] for row in shown]
    db.execute("COMMIT")
    assert open("one", "rb").read() == open("two", "rb").read() == open("three", "rb").read()


# --------------------------------------------------------------------------------------------------------- UPDATE FROM

def update_from(db, change, where="1", source="(SELECT 1 AS one)"):
    if sqlite3.sqlite_version_info < (3, 33):
        return db.execute(f"UPDATE out SET {change} WHERE {where.replace('out.', '')}")
    return db.execute(f"UPDATE out SET {change} FROM {source} WHERE {where}")


@pytest.mark.parametrize("column", COLUMNS.split(", ") + ["bytes", "rowid"])
def test_each_column_to_itself(db, column):
    declare(db, "one.zt")
    db.execute("BEGIN")
    fill(db)
    shown = rows(db, SHOWN)
    update_from(db, f"{column} = out.{column}")
    assert rows(db, SHOWN) == shown
    db.execute(f"UPDATE out SET {column} = {column}")
    assert rows(db, SHOWN) == shown


def test_all_columns_to_themselves(db):
    declare(db, "one.zt")
    db.execute("BEGIN")
    fill(db)
    shown = rows(db, SHOWN)
    for _ in range(2):
        db.execute("UPDATE out SET " + ", ".join(f"{column} = {column}" for column in COLUMNS.split(", ") + ["bytes"]))
        assert rows(db, SHOWN) == shown


def test_update_from(db):
    """The same as an UPDATE that finds each value by a subquery."""
    db.execute("CREATE TABLE renamed(old, new, to_type)")
    db.execute("INSERT INTO renamed VALUES('a', 'A', 'f64'), ('half', 'H', 'f32'), ('nothing', 'x', 'f16')")
    declare(db, "one.zt")
    db.execute("BEGIN")
    fill(db)
    db.execute("DELETE FROM out WHERE component IS NOT NULL")
    update_from(db, "name = (SELECT new FROM renamed WHERE old = out.name), dtype = (SELECT to_type FROM renamed WHERE old = out.name)",
                "out.name IN (SELECT old FROM renamed)")
    update_from(db, "value = out.value || '!'", "out.key = 'n'")
    update_from(db, "data = x'090909'", "out.name = 'data' AND out.key IS NULL")
    db.execute("COMMIT")
    assert {name: row[:2] for name, row in tensors(db, "one.zt").items() if name in ("A", "H", "a", "half")} == {
        "A": ("f64", "[2,2]"), "H": ("f32", "[2,2]")}
    assert tensors(db, "one.zt")["data"][2] == b"\t\t\t" and value(db, "SELECT value FROM zt_attributes('one.zt') WHERE key = 'n'") == "7!"


def test_an_update_from_keeps_stored_bytes(db):
    """In a file that is updated: rows that it does not change, and those that are renamed."""
    before = rows(db, STORED, "src.zt")
    declare(db, "src.zt", "mode='update'")
    shown = rows(db, SHOWN)
    db.execute("BEGIN")
    update_from(db, "name = out.name || '2'", "out.name IN ('a', 'b')")
    db.execute("UPDATE out SET dtype = dtype, shape = shape, format = format, source = source, encoding = encoding")
    assert [row[2:] for row in rows(db, SHOWN)] == [row[2:] for row in shown]
    db.execute("COMMIT")
    assert rows(db, STORED, "src.zt") == [(name + "2" if name in "ab" else name, *rest) for name, *rest in before]


def test_update_from_with_another_source(db):
    """Whether the statement asked for the type that was there shows no more, where SQLite gives all columns."""
    declare(db, "one.zt")
    db.execute("BEGIN")
    insert(db, name="x", source="src.zt", object="a")
    update_from(db, "object = 'a', name = 'y'")
    try:
        update_from(db, "object = 'f8'")
    except sqlite3.Error as error:
        assert str(error) == ("ztensor: one.zt: object 'y': its dtype was 'f32', and is 'f8_e4m3fn' in its new source; an UPDATE without FROM "
                              "leaves open no question which is meant")
    else:
        assert rows(db, "SELECT object, dtype, shape FROM out") == [("f8", "f8_e4m3fn", "[2]")]
    db.execute("UPDATE out SET object = 'f8', dtype = 'f32'")
    assert rows(db, "SELECT object, dtype, shape FROM out") == [("f8", "f32", "[2]")]


def test_all_columns_with_another_source_of_the_same_kind(db):
    shutil.copy("src.zt", "copy.zt")
    declare(db, "one.zt")
    db.execute("BEGIN")
    insert(db, name="x", source="src.zt", object="a")
    db.execute("UPDATE out SET bytes = bytes, source = 'copy.zt', dtype = dtype, shape = shape, format = format")
    assert rows(db, "SELECT source, object, dtype, shape, format FROM out") == [("copy.zt", "a", "f32", "[2,2]", "dense")]


# ------------------------------------------------------------------------------------------------- what SQLite refuses

@pytest.mark.parametrize("sql, text", [
    ("INSERT INTO out(key, value) VALUES('k', 1) ON CONFLICT DO NOTHING", "UPSERT not implemented for virtual table"),
    ("INSERT INTO out(key, value) VALUES('n', 1) ON CONFLICT(key) DO UPDATE SET value = 2", "UPSERT not implemented for virtual table"),
    ("UPDATE out SET name = 'z' RETURNING name", "UPDATE RETURNING is not available on virtual tables"),
    ("DELETE FROM out RETURNING name", "DELETE RETURNING is not available on virtual tables"),
    ("CREATE TEMP TRIGGER t AFTER INSERT ON out BEGIN SELECT 1; END", "cannot create triggers on virtual tables"),
    ("CREATE INDEX i ON out(name)", "virtual tables may not be indexed"),
    ("ALTER TABLE out ADD COLUMN z", "virtual tables may not be altered"),
    ("ALTER TABLE out RENAME TO other", "a zt_writer cannot be renamed"),
    ("INSERT INTO plain VALUES(1)", "unsafe use of virtual table"), ("DELETE FROM seen", "unsafe use of virtual table")])
def test_what_sqlite_refuses(db, sql, text):
    declare(db, "one.zt")
    db.execute("CREATE TABLE plain(a)")
    db.execute("CREATE TEMP TRIGGER p AFTER INSERT ON plain BEGIN INSERT INTO out(key, value) VALUES('z', 1); END")
    db.execute("CREATE TEMP VIEW seen AS SELECT name, bytes FROM out")
    db.execute("CREATE TEMP TRIGGER v INSTEAD OF DELETE ON seen BEGIN DELETE FROM out WHERE name = old.name; END")
    db.execute("BEGIN")
    fill(db)
    shown = rows(db, SHOWN)
    if "RETURNING" in sql and sqlite3.sqlite_version_info < (3, 35):
        text = "near \"RETURNING\""
    elif "RETURNING" in sql and not RETURNING:
        pytest.skip("SQLite 3.35 crashes")
    if text.startswith("unsafe") and not TRIGGERS_REFUSED:
        db.execute(sql)
        assert rows(db, SHOWN) != shown
        return
    assert text in refusal(db, sql)[1]
    assert rows(db, SHOWN) == shown and db.in_transaction
    assert rows(db, "SELECT * FROM seen") == [(row[1], row[-1]) for row in shown]


def test_returning_gives_the_values_of_the_statement(db):
    """Not those of the row, which SQLite does not read again: so REFERENCE says."""
    declare(db, "one.zt")
    db.execute("BEGIN")
    sql = "INSERT INTO out(name, source, object) VALUES('x', 'src.zt', 'a')"
    if not RETURNING:
        db.execute(sql)
    else:
        assert rows(db, f"{sql} RETURNING rowid, name, object, dtype, bytes") == [(-1, "x", "a", None, None)]
    assert rows(db, "SELECT last_insert_rowid(), rowid, name, object, dtype, bytes FROM out") == [(1, 1, "x", "a", "f32", 16)]


def test_queries(db):
    """DISTINCT, windows and aggregates are as over a table with these rows."""
    declare(db, "one.zt")
    db.execute("BEGIN")
    fill(db)
    db.execute(f"CREATE TEMP TABLE plain AS SELECT rowid AS id, {COLUMNS}, bytes FROM out")
    for sql in ("SELECT DISTINCT dtype, format FROM out ORDER BY 1, 2", "SELECT DISTINCT name FROM out ORDER BY name DESC",
                "SELECT name, row_number() OVER (ORDER BY name, rowid), sum(bytes) OVER (PARTITION BY dtype ORDER BY rowid), "
                "lag(name) OVER (ORDER BY rowid) FROM out ORDER BY rowid",
                "SELECT count(*), count(bytes), sum(bytes), min(name), max(rowid) FROM out",
                "SELECT dtype, count(*) FROM out GROUP BY dtype HAVING count(*) > 1 ORDER BY 1",
                "SELECT x.name, y.name FROM out x LEFT JOIN out y ON y.name = x.name || 'f' ORDER BY x.rowid",
                "SELECT name FROM out ORDER BY rowid DESC LIMIT 2 OFFSET 1",
                "SELECT name FROM out WHERE rowid BETWEEN 3 AND 5 EXCEPT SELECT name FROM out WHERE bytes > 100 ORDER BY 1"):
        assert rows(db, sql) == rows(db, sql.replace("out", "plain").replace("rowid", "id")), sql


@pytest.mark.parametrize("conflict, stay, fails", [
    ("ROLLBACK", None, True), ("ABORT", ["c"], True), ("FAIL", ["c", "n"], True), ("IGNORE", ["c", "n", "z"], False),
    ("REPLACE", ["n", "c", "z"], False)])
def test_conflicts(db, conflict, stay, fails):
    declare(db, "one.zt")
    db.execute("BEGIN")
    put(db, "c", b"\1")
    sql = (f"INSERT OR {conflict} INTO out(name, data, dtype, shape) "
           "SELECT column1, x'02', 'u8', '[1]' FROM (VALUES('n'), ('c'), ('z'))")
    if fails:
        assert refusal(db, sql) == (CONSTRAINT, "ztensor: one.zt: object 'c': there is an object of this name")
    else:
        db.execute(sql)
    assert db.in_transaction == (stay is not None)
    assert [name for name, in rows(db, "SELECT name FROM out")] == (stay or [])
