"""zt_writer: rows of the open transaction, as SELECT, UPDATE, DELETE, conflicts and savepoints see and change them."""
import sqlite3

import pytest

from support import open_connection, rows, value
from writing import CONSTRAINT, ENTRY, FULL, attributes, declare, insert, listing, names, open_writer, put, refusal, tensors


@pytest.fixture
def out(tmp_path):
    """A connection in a transaction, and the table `out` with two tensors and four attributes."""
    db = open_writer(tmp_path / "out.zt")
    db.execute("BEGIN")
    put(db, "a", b"\1\2\3\4")
    put(db, "b", b"\0\0\x80\x3f", "f32", "[1]")
    for name, key, what in ((None, "licence", "MIT"), ("a", "k1", 1), ("a", "k2", 2.5), ("b", "k1", b"\xff")):
        insert(db, name=name, key=key, value=what)
    yield db
    db.close()


# ------------------------------------------------------------------------------------------------------ select

def test_rows_are_shown(out):
    assert rows(out, "SELECT name, dtype, shape, format, hex(data), bytes FROM out WHERE key IS NULL") == [
        ("a", "u8", "[4]", "dense", "01020304", 4), ("b", "f32", "[1]", "dense", "0000803F", 4)]
    assert rows(out, "SELECT name, key, value, bytes FROM out WHERE key IS NOT NULL") == [
        (None, "licence", "MIT", None), ("a", "k1", 1, None), ("a", "k2", 2.5, None), ("b", "k1", b"\xff", None)]


def test_columns(out):
    shown = [name for name, *_ in out.execute("SELECT * FROM out").description]
    assert shown == ["name", "source", "object", "data", "dtype", "shape", "format", "component", "encoding", "level",
                     "digest", "key", "value", "type", "stored_type"]


@pytest.mark.parametrize("where, found", [
    ("name = 'a'", ["a", "a", "a"]), ("name = 'A'", []), ("name = 'A' COLLATE NOCASE", ["a", "a", "a"]),
    ("name = 'a ' COLLATE RTRIM", ["a", "a", "a"]), ("name = x'61'", []), ("name = NULL", []), ("name IS NULL", [None]),
    ("name IS 'b'", ["b", "b"]), ("name IN ('b', 'c', 'a')", ["a", "a", "a", "b", "b"]), ("name > 'a'", ["b", "b"]),
    ("rowid = 1", ["a"]), ("rowid = 1.5", []), ("rowid = 1 AND name = 'b'", []),
    ("rowid > 5", ["b"]), ("name = 'a' AND name = 'b'", [])])
def test_where(out, where, found):
    assert sorted(n or "" for n, in rows(out, f"SELECT name FROM out WHERE {where}")) == [n or "" for n in found]
    # Without the table's own plans, too.
    assert sorted(n or "" for n, in rows(out, f"SELECT name FROM (SELECT +rowid AS rowid, +name AS name FROM out) "
                                              f"WHERE {where}")) == [n or "" for n in found]


def test_names_that_look_like_numbers(tmp_path):
    db = open_writer(tmp_path / "out.zt")
    db.execute("BEGIN")
    put(db, "5")
    assert rows(db, "SELECT name FROM out WHERE name = 5") == [("5",)]
    assert rows(db, "SELECT name FROM out WHERE name = 5.0") == []


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_encodings_of_the_database(tmp_path, encoding):
    db = open_connection(entry=ENTRY)
    db.execute(f"PRAGMA encoding = '{encoding}'")
    declare(db, tmp_path / "é.zt")
    db.execute("BEGIN")
    put(db, "naïve 😀")
    insert(db, name="naïve 😀", key="clé", value="é")
    assert rows(db, "SELECT name, key FROM out WHERE name = 'naïve 😀'") == [("naïve 😀", None), ("naïve 😀", "clé")]
    db.execute("UPDATE out SET name = 'ü' WHERE name = 'naïve 😀'")
    db.execute("COMMIT")
    assert tensors(db, tmp_path / "é.zt") == {"ü": ("u8", "[4]", b"\1\2\3\4")}
    assert attributes(db, tmp_path / "é.zt") == [("ü", "clé", "é", "text")]


def test_no_rows_outside_of_a_transaction(out):
    out.execute("COMMIT")
    assert rows(out, "SELECT * FROM out") == []


# --------------------------------------------------------------------------------------------- update and delete

def test_update(out, tmp_path):
    out.execute("UPDATE out SET name = 'c' WHERE name = 'a'")
    out.execute("UPDATE out SET value = 7, type = NULL WHERE name = 'c' AND key = 'k1'")
    out.execute("UPDATE out SET shape = '[2,2]' WHERE name = 'c' AND key IS NULL")
    out.execute("COMMIT")
    assert tensors(out, tmp_path / "out.zt") == {"b": ("f32", "[1]", b"\0\0\x80\x3f"), "c": ("u8", "[2,2]", b"\1\2\3\4")}
    assert attributes(out, tmp_path / "out.zt") == [(None, "licence", "MIT", "text"), ("b", "k1", b"\xff", "blob"),
                                                    ("c", "k1", 7, "integer"), ("c", "k2", 2.5, "real")]


@pytest.mark.parametrize("value_, type_, change, then", [
    (b"", "blob", "value = x''", (b"", "blob")), (b"", "blob", "value = x'00'", (b"\0", "blob")),
    (5, "integer", "type = 'real'", (5.0, "real")), (5, "integer", "value = 5", (5, "integer")),
    ("[1]", "array", "type = 'text'", ("[1]", "text")), (5, "integer", "stored_type = NULL, data = NULL", (5, "integer"))])
def test_update_of_an_attribute(out, tmp_path, value_, type_, change, then):
    insert(out, key="x", value=value_, type=type_)
    out.execute(f"UPDATE out SET {change} WHERE key = 'x'")
    out.execute("COMMIT")
    assert [row[2:] for row in attributes(out, tmp_path / "out.zt") if row[1] == "x"] == [then]


def test_delete(out, tmp_path):
    out.execute("DELETE FROM out WHERE name = 'a'")
    out.execute("COMMIT")
    assert names(out, tmp_path / "out.zt") == ["b"]
    assert [row[:2] for row in attributes(out, tmp_path / "out.zt")] == [(None, "licence"), ("b", "k1")]


def test_attribute_whose_object_was_deleted(out, tmp_path):
    out.execute("DELETE FROM out WHERE name = 'b' AND key IS NULL")
    code, message = refusal(out, "COMMIT")
    assert (code, message) == (1, f"ztensor: {tmp_path}/out.zt: object 'b': there is no such object for its attribute 'k1'")
    assert listing(tmp_path) == []


def test_all_rows_deleted(out, tmp_path):
    out.execute("DELETE FROM out")
    out.execute("COMMIT")
    assert listing(tmp_path) == []


def test_update_of_a_row_into_one_that_cannot_be(out):
    before = rows(out, "SELECT rowid, * FROM out")
    code, message = refusal(out, "UPDATE out SET shape = '[5]' WHERE name = 'a' AND key IS NULL")
    assert code == 1 and message.endswith("object 'a': component 'data': 5 elements of u8 are 5 bytes, and data has 4")
    assert rows(out, "SELECT rowid, * FROM out") == before


@pytest.mark.parametrize("change, text", [
    ("shape = '[4,2]'", "8 elements of u8 are 8 bytes, and data has 4"),
    ("dtype = 'f16'", "4 elements of f16 are 8 bytes, and data has 4"),
    ("dtype = 'bool'", "byte 1 is 0x02: a bool is 0 or 1"),
    ("source = 'x.zt'", "a tensor has source or data, not both"),
    ("key = 'k', value = 1", "an attribute has no dtype"),
    ("format = 'sparse_csr', component = 'values'", "sparse_csr"),
    ("data = NULL", "a tensor needs source or data"), ("data = 'text'", "data must be a BLOB"),
    ("name = NULL", "a tensor needs a name"), ("name = ''", "needs a name")])
def test_update_of_a_tensor_by_value_checks_its_bytes(out, change, text):
    before = rows(out, "SELECT rowid, * FROM out")
    assert text in refusal(out, f"UPDATE out SET {change} WHERE name = 'a' AND key IS NULL")[1]
    assert rows(out, "SELECT rowid, * FROM out") == before


def test_bytes_are_not_written(out):
    for sql in ("UPDATE out SET bytes = 5 WHERE name = 'b'", "INSERT INTO out(name, key, value, bytes) VALUES('a', 'z', 1, 1)",
                "UPDATE out SET bytes = NULL WHERE name = 'b' AND key IS NULL", "UPDATE out SET bytes = '4' WHERE name = 'b'",
                "UPDATE out SET bytes = -1 WHERE key = 'k2'", "UPDATE out SET bytes = 4 WHERE key = 'k2'",
                "INSERT INTO out(name, data, dtype, shape, bytes) VALUES('c', x'00', 'u8', '[1]', 2)"):
        assert refusal(out, sql)[1].endswith("bytes follows from the other columns")


def test_bytes_that_are_so(out):
    """A row that is copied with all its columns says what is so."""
    out.execute("UPDATE out SET bytes = bytes, name = 'c' WHERE name = 'b'")
    out.execute("INSERT INTO out(name, data, dtype, shape, bytes) VALUES('d', x'0000', 'u8', '[2]', 2)")
    assert rows(out, "SELECT name, bytes FROM out WHERE key IS NULL") == [("a", 4), ("c", 4), ("d", 2)]


# ------------------------------------------------------------------------------------------------------ conflicts

def test_duplicates(out, tmp_path):
    before = rows(out, "SELECT rowid, * FROM out")
    prefix = f"ztensor: {tmp_path}/out.zt: object "
    for sql, text in (
            ("INSERT INTO out(name, data, dtype, shape) VALUES('a', x'00', 'u8', '[1]')", "'a': there is an object of this name"),
            ("INSERT INTO out(name, key, value) VALUES('a', 'k2', 0)", "'a': there is an attribute 'k2'"),
            ("UPDATE out SET name = 'a' WHERE name = 'b' AND key IS NULL", "'a': there is an object of this name"),
            ("UPDATE out SET key = 'k2' WHERE key = 'k1'", "'a': there is an attribute 'k2'"),
            ("INSERT INTO out(rowid, name, key, value) SELECT rowid, 'a', 'new', 0 FROM out WHERE key = 'k2'",
             "'a': there is a row of this rowid")):
        assert refusal(out, sql) == (CONSTRAINT, prefix + text)
        assert rows(out, "SELECT rowid, * FROM out") == before


def test_ignored_conflicts_leave_both_rows(out):
    before = rows(out, "SELECT rowid, * FROM out")
    out.execute("INSERT OR IGNORE INTO out(name, data, dtype, shape) VALUES('a', x'00', 'u8', '[1]')")
    out.execute("INSERT OR IGNORE INTO out(name, key, value) VALUES('a', 'k2', 0)")
    out.execute("UPDATE OR IGNORE out SET key = 'k2' WHERE key = 'k1' AND name = 'a'")
    out.execute("UPDATE OR IGNORE out SET name = 'a' WHERE name = 'b'")
    assert rows(out, "SELECT rowid, * FROM out") == before


def test_conflicts_that_fail_leave_both_rows(out):
    before = rows(out, "SELECT rowid, * FROM out")
    for conflict in ("FAIL", "ABORT"):
        refusal(out, f"UPDATE OR {conflict} out SET key = 'k2' WHERE key = 'k1' AND name = 'a'")
        refusal(out, f"INSERT OR {conflict} INTO out(name, key, value) VALUES('a', 'k2', 0)")
        assert rows(out, "SELECT rowid, * FROM out") == before


def test_conflict_that_rolls_back(out, tmp_path):
    refusal(out, "INSERT OR ROLLBACK INTO out(name, key, value) VALUES('a', 'k2', 0)")
    assert not out.in_transaction and rows(out, "SELECT * FROM out") == [] and listing(tmp_path) == []


def test_replaced_conflicts(out, tmp_path):
    out.execute("INSERT OR REPLACE INTO out(name, data, dtype, shape) VALUES('a', x'09', 'u8', '[1]')")
    out.execute("INSERT OR REPLACE INTO out(name, key, value) VALUES('a', 'k2', 'z')")
    out.execute("REPLACE INTO out(name, key, value) VALUES(NULL, 'licence', 'GPL')")
    out.execute("UPDATE OR REPLACE out SET key = 'k2' WHERE name = 'a' AND key = 'k1'")
    out.execute("COMMIT")
    assert tensors(out, tmp_path / "out.zt")["a"] == ("u8", "[1]", b"\t")
    assert attributes(out, tmp_path / "out.zt")[:2] == [(None, "licence", "GPL", "text"), ("a", "k2", 1, "integer")]


def test_replacing_by_name_and_rowid(out):
    """Both rows that are in the way go."""
    rowid = value(out, "SELECT rowid FROM out WHERE name = 'b' AND key IS NULL")
    out.execute("INSERT OR REPLACE INTO out(rowid, name, data, dtype, shape) VALUES(?, 'a', x'07', 'u8', '[1]')", (rowid,))
    assert rows(out, "SELECT rowid, name, hex(data) FROM out WHERE key IS NULL") == [(rowid, "a", "07")]


def test_rowids_are_above_0(out):
    for rowid in (0, -1, -1 << 63):
        assert refusal(out, "INSERT OR REPLACE INTO out(rowid, name, key, value) VALUES(?, 'a', 'z', 0)", rowid)[1].endswith(
            "out.zt: rowid must be an integer above 0")
    out.execute("DELETE FROM out")
    put(out, "first")
    assert rows(out, "SELECT rowid, name FROM out WHERE rowid = 1") == [(1, "first")]


def test_a_replacement_that_cannot_be_leaves_the_row(out):
    before = rows(out, "SELECT rowid, * FROM out")
    refusal(out, "INSERT OR REPLACE INTO out(name, data, dtype, shape) VALUES('a', x'09', 'u8', '[2]')")
    assert rows(out, "SELECT rowid, * FROM out") == before


# ------------------------------------------------------------------------------------------- statements and savepoints

def test_a_statement_that_fails_takes_its_rows_alone(out):
    before = rows(out, "SELECT rowid, * FROM out")
    code, message = refusal(out, "INSERT INTO out(name, data, dtype, shape) "
                                 "SELECT 'z' || column1, x'00', 'u8', column2 FROM (VALUES(1, '[1]'), (2, '[1]'), (3, '[2]'))")
    assert code == 1 and "object 'z3': component 'data': 2 elements of u8 are 2 bytes, and data has 1" in message
    assert rows(out, "SELECT rowid, * FROM out") == before and out.in_transaction


def test_savepoints(out, tmp_path):
    out.execute("SAVEPOINT one")
    put(out, "c", b"c")
    out.execute("SAVEPOINT two")
    out.execute("DELETE FROM out WHERE name = 'a'")
    put(out, "d", b"d")
    out.execute("ROLLBACK TO two")
    assert value(out, "SELECT group_concat(name) FROM out WHERE key IS NULL") == "a,b,c"
    out.execute("RELEASE two")
    put(out, "e", b"e")
    out.execute("RELEASE one")
    out.execute("SAVEPOINT three")
    out.execute("UPDATE out SET name = 'f' WHERE name = 'e'")
    put(out, "g", b"g")
    out.execute("ROLLBACK TO three")
    put(out, "h", b"h")
    out.execute("COMMIT")
    written = tensors(out, tmp_path / "out.zt")
    assert list(written) == ["a", "b", "c", "e", "h"]
    assert [written[name][2] for name in "ceh"] == [b"c", b"e", b"h"]


def test_a_savepoint_is_a_transaction(tmp_path):
    db = open_writer(tmp_path / "out.zt")
    db.execute("SAVEPOINT one")
    put(db, "a")
    assert listing(tmp_path) == []
    db.execute("RELEASE one")
    assert names(db, tmp_path / "out.zt") == ["a"]


def test_rollback(out, tmp_path):
    out.execute("ROLLBACK")
    assert rows(out, "SELECT * FROM out") == [] and listing(tmp_path) == []
    out.execute("BEGIN")
    put(out, "z")
    out.execute("COMMIT")
    assert names(out, tmp_path / "out.zt") == ["z"] and attributes(out, tmp_path / "out.zt") == []


# ------------------------------------------------------------------------------------- statements of the table's own

@pytest.mark.parametrize("sql", [
    "UPDATE out SET name = 'z' WHERE name = 'a'", "UPDATE OR IGNORE out SET name = 'b' WHERE name = 'a'",
    "INSERT OR IGNORE INTO out(name, data, dtype, shape) VALUES('a', x'00', 'u8', '[1]')",
    "INSERT OR REPLACE INTO out(name, data, dtype, shape) VALUES('a', x'00', 'u8', '[1]')"])
@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_no_statement_of_its_own_locks_tables(out, sql, end):
    out.execute("CREATE TABLE other(a)")
    out.execute(sql)
    out.execute(end)
    if end == "COMMIT":
        out.execute("DROP TABLE other")
    out.execute("VACUUM")


def test_a_commit_that_fails_locks_no_table(out):
    out.execute("ROLLBACK")
    out.execute("CREATE TABLE other(a)")
    out.execute("BEGIN")
    put(out, "a")
    insert(out, name="b", key="k", value=1)
    assert "there is no such object" in refusal(out, "COMMIT")[1]
    out.execute("DROP TABLE other")
    out.execute("VACUUM")


@pytest.mark.parametrize("made", ["before", "in the transaction"])
def test_a_temporary_database_that_is_full_ends_the_transaction(tmp_path, made):
    """SQLite rolls back by itself, while the row is being stored."""
    db = open_connection(entry=ENTRY)
    if made == "before":
        declare(db, tmp_path / "out.zt")
    db.execute("BEGIN")
    if made != "before":
        declare(db, tmp_path / "out.zt")
    db.execute("PRAGMA temp.max_page_count = 16")
    with pytest.raises(sqlite3.Error) as caught:
        for i in range(1000):
            name = f"{i:0200}"
            put(db, name)
    assert (caught.value.sqlite_errorcode, str(caught.value)) == (
        FULL, f"ztensor: {tmp_path}/out.zt: object '{name}': database or disk is full")
    assert not db.in_transaction and listing(tmp_path) == []
    db.execute("PRAGMA temp.max_page_count = 1000")
    if made == "before":
        put(db, "a")
        assert names(db, tmp_path / "out.zt") == ["a"]
    db.close()


# ------------------------------------------------------------------------------- the table that keeps the rows

@pytest.mark.parametrize("sql", ["UPDATE out SET name = 'x' WHERE name = 'b' AND key IS NULL", "COMMIT"])
def test_places_that_are_none(out, tmp_path, sql):
    out.execute("UPDATE temp.out_zt SET offset = 99999 WHERE name = 'b' AND key IS NULL")
    assert refusal(out, sql)[1] == "ztensor: " + str(tmp_path / "out.zt") + ": the table that keeps its rows was changed"


def test_bytes_in_no_place_are_given_again(out, tmp_path):
    out.execute("UPDATE temp.out_zt SET offset = 99999 WHERE name = 'b' AND key IS NULL")
    out.execute("UPDATE out SET data = x'05060708' WHERE name = 'b' AND key IS NULL")
    out.execute("COMMIT")
    assert tensors(out, tmp_path / "out.zt")["b"] == ("f32", "[1]", b"\5\6\7\10")


def test_a_path_that_is_gone(out, sample):
    insert(out, name="s", source=sample, object="layer1.bias")
    out.execute("UPDATE temp.out_zt SET source = NULL WHERE name = 's'")
    assert rows(out, "SELECT source, object FROM out WHERE name = 's' AND rowid = 7") == [(None, "layer1.bias")]


@pytest.mark.parametrize("number", [77, 2**32 - 1, 2**32, -5])
def test_a_source_that_is_none_is_given_again(out, tmp_path, save, sample, number):
    insert(out, name="s", source=sample, object="layer1.bias")
    out.execute("UPDATE temp.out_zt SET source_number = ? WHERE name = 's'", (number,))
    assert rows(out, "SELECT source FROM out WHERE name = 's'") == [(sample,)]
    other = save("other.zt", open(sample, "rb").read().replace(b"\2\2\2\2", b"\3\3\3\3"))
    out.execute("UPDATE out SET source = ? WHERE name = 's'", (other,))
    out.execute("COMMIT")
    assert tensors(out, tmp_path / "out.zt")["s"] == ("u8", "[4]", b"\3\3\3\3")


def test_rows_that_are_gone(tmp_path):
    """Another table of the same file asks for them, too."""
    db = open_writer(tmp_path / "out.zt")
    declare(db, tmp_path / "out.zt", name="other")
    db.execute("BEGIN")
    put(db, "a")
    db.execute("DROP TABLE temp.out_zt")
    gone = f"ztensor: {tmp_path}/out.zt: no such table: temp.out_zt"
    assert refusal(db, "INSERT INTO other(key, value) VALUES('k', 1)")[1] == gone
    db.execute("SAVEPOINT s")
    assert refusal(db, "DROP TABLE out")[1] == "SQL logic error"
    assert refusal(db, "COMMIT")[1] == gone
    assert not db.in_transaction and listing(tmp_path) == []
    db.close()


def test_a_mark_of_another_transaction(tmp_path):
    db = open_writer(tmp_path / "out.zt")
    db.execute("BEGIN")
    db.execute("INSERT INTO temp.out_zt(id, owner, part) VALUES(0, x'', 'loaded')")
    assert "has some of another transaction: DROP the table" in refusal(db, "INSERT INTO out(key, value) VALUES('k', 1)")[1]
    db.close()


def test_a_table_without_rows_is_dropped_in_a_savepoint(out, tmp_path):
    out.execute("SAVEPOINT s")
    assert refusal(out, "DROP TABLE out")[1] == "database table is locked"
    out.execute("DELETE FROM out")
    out.execute("DROP TABLE out")
    out.execute("COMMIT")
    assert listing(tmp_path) == []


def test_a_place_where_there_are_no_bytes_at_all(tmp_path, sample):
    db = open_writer(tmp_path / "out.zt")
    db.execute("BEGIN")
    insert(db, name="s", source=sample, object="layer1.bias")
    db.execute("UPDATE temp.out_zt SET offset = 0, length = 1")
    assert refusal(db, "COMMIT")[1].endswith("the table that keeps its rows was changed")
    db.close()


def test_tables_that_are_connected_again(tmp_path):
    """A schema that is read again connects tables in the order of their use."""
    db = open_writer(tmp_path / "one.zt", name="one")
    declare(db, tmp_path / "two.zt", name="two")
    db.execute("BEGIN")
    db.execute("DROP TABLE one")
    db.execute("ROLLBACK")
    db.execute("BEGIN")
    for name in ("two", "one"):
        assert rows(db, f"SELECT * FROM {name}") == []
        put(db, name, table=name)
    db.execute("COMMIT")
    assert [names(db, tmp_path / f"{name}.zt") for name in ("one", "two")] == [["one"], ["two"]]
    db.close()
