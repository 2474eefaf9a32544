"""Rows in the order that a query asks for: of rowids, and of positions where it is not known before the query runs
how many files there are."""
import os
import sqlite3
import struct

import pytest

import writer
from support import EXTENSION, message, open_connection, prefix, quoted, rows, value

VERSION = sqlite3.sqlite_version_info
IMAGE = writer.write({"w": writer.dense(struct.pack("<6f", 3, 1, -1, 2, 0.5, 7), [3, 2], "f32"),
                      "v": writer.dense(b"\1\2", [2], digest="crc32c:0x00000000")}, attributes={"a": 1, "b": 2})
CALLS = ["zt_files({})", "zt_objects({})", "zt_components({})", "zt_attributes({})", "zt_elements({}, 'w')",
         "zt_rows({}, 'w')", "zt_stats({})", "zt_check({}, 'full')", "zt_histogram({}, 'w', 3)"]


# ----------------------------------------------------------------------------------------- rowids

@pytest.mark.parametrize("call", [*CALLS, "zt_rules", "zt_compare({0}, 'w', {0}, 'w')"])
@pytest.mark.parametrize("kind", ["file", "blob", "directory"])
def test_rows_come_in_the_order_of_their_rowids(db, save, call, kind):
    path = save("d/a.zt", IMAGE)
    save("d/b.zt", writer.write({"w": writer.dense(b"\1\2\3", [3])}))
    if kind == "directory" and "compare" in call:
        return
    source = {"file": path, "blob": IMAGE, "directory": path[:-5]}[kind]
    call, arguments = call.format("?1"), (source, ) if "{" in call else ()
    rowids = [rowid for rowid, in rows(db, f"SELECT rowid FROM {call}", *arguments)]
    assert len(set(rowids)) == len(rowids) > 0
    for direction in ("ASC", "DESC"):
        got = rows(db, f"SELECT rowid FROM {call} ORDER BY rowid {direction}", *arguments)
        assert got == [(r, ) for r in sorted(rowids, reverse=direction == "DESC")]
        got = rows(db, f"SELECT rowid FROM {call} ORDER BY rowid {direction} LIMIT 2 OFFSET 1", *arguments)
        assert got == [(r, ) for r in sorted(rowids, reverse=direction == "DESC")[1:3]]
    assert rows(db, f"SELECT min(rowid), max(rowid) FROM {call}", *arguments) == [(min(rowids), max(rowids))]
    assert value(db, f"SELECT min(rowid) FROM {call}", *arguments) == min(rowids)
    assert value(db, f"SELECT max(rowid) FROM {call}", *arguments) == max(rowids)


def test_rows_of_no_path_that_are_grouped_by_rowid_stay_apart(db):
    sql = "SELECT count(*) FROM zt_histogram(?, 'w', 3) GROUP BY rowid ORDER BY rowid DESC"
    assert rows(db, sql, IMAGE) == [(1, ), (1, ), (1, )]


@pytest.mark.parametrize("call, without", [
    ("zt_objects(?1, 'abort')", "zt_objects(?1)"), ("zt_check(?1, 'quick')", "zt_check(?1)"),
    ("zt_histogram(?1, 'w', '64')", "zt_histogram(?1, 'w')")])
def test_an_argument_that_says_its_default_makes_no_other_rows(db, call, without):
    name = without.split("(")[0]
    file = writer.write({"w": writer.dense(b"\1\2", [2]), "odd": writer.dense(b"\1", [2])})
    assert rows(db, f"SELECT rowid FROM {call}", file) == rows(db, f"SELECT rowid FROM {without}", file) != []
    objects = " AND object = 'w'" if "'w'" in call else ""
    argument = {"zt_objects": "on_error = 'abort'", "zt_check": "level = 'quick'", "zt_histogram": "bins = '64'"}[name]
    both = f"SELECT rowid FROM {name} WHERE (source = ?1{objects} AND {argument}) OR (source = ?1{objects})"
    assert sorted(rows(db, both, file)) == sorted(rows(db, f"SELECT rowid FROM {without}", file))


@pytest.mark.parametrize("columns", ["rowid", "rowid, object", "rowid, mean", "ROWID", "_rowid_", "oid", '"oid"'])
def test_the_rowid_of_a_large_blob_does_not_depend_on_what_else_is_asked_for(db, columns):
    file = writer.write({"w": writer.dense(b"\1\2", [2])}, gap=70000)
    rowid = value(db, "SELECT rowid FROM zt_stats(?) WHERE max = 2", file)
    assert [row[0] for row in rows(db, f"SELECT {columns} FROM zt_stats(?)", file)] == [rowid]


@pytest.mark.parametrize("image", [b"", b"no tensor file"])
def test_the_rowid_of_a_blob_that_is_no_file_does_not_depend_on_what_else_is_asked_for(db, image):
    rowid = value(db, "SELECT rowid FROM zt_files(?)", image)
    for columns in ("rowid, size", "rowid, error", "rowid, *"):
        assert [row[0] for row in rows(db, f"SELECT {columns} FROM zt_files(?)", image)] == [rowid]


# ------------------------------------------------------------------------------- positions of several files

DENSE = writer.dense(struct.pack("<6f", *range(6)), [3, 2], "f32")
COMPLEX = writer.dense(struct.pack("<4f", *range(4)), [2], "f32", type="complex64")
SPARSE = writer.sparse_coo([3, 4], [(2, 3), (0, 3), (1, 1)], b"\x01\x02\x03")
OBJECTS = {"dense": DENSE, "packed": writer.zstd_parts(writer.dense(bytes(range(40)), [20, 2])), "sparse": SPARSE,
           "csr": writer.sparse_csr([2, 3], [0, 2, 3], [2, 0, 1], b"\x07\x08\x09"), "empty": writer.dense(b"", [0, 3])}
RANGES = ["", "WHERE position > 1", "WHERE position BETWEEN 1 AND 4 AND position <> 3", "WHERE position = 3",
          "WHERE position >= 2.5 AND position < '6'", "WHERE path LIKE '%e%'", "WHERE position IN (5, 1)"]


@pytest.fixture
def mixed(db, save):
    """A directory of files with an object `w` of every kind, and a table of the same elements and rows."""
    paths = [save(f"mixed/{kind}.zt", writer.write({"w": object})) for kind, object in OBJECTS.items()]
    save("mixed/none.zt", writer.write({"v": DENSE}))
    source = paths[0][:-len("/dense.zt")]
    db.execute("CREATE TABLE elements AS SELECT *, rowid AS number FROM zt_elements(?, 'w')", (source, ))
    db.execute("CREATE TABLE matrix AS SELECT *, rowid AS number FROM zt_rows(?, 'w')", (source, ))
    return source


@pytest.mark.parametrize("direction", ["", "DESC"])
@pytest.mark.parametrize("limit", ["", "LIMIT 4", "LIMIT 5 OFFSET 3", "LIMIT 5 OFFSET 200000", "LIMIT -1 OFFSET 2"])
@pytest.mark.parametrize("where", RANGES)
def test_positions_of_several_files_come_in_order(db, mixed, where, limit, direction):
    for table, copy, key in (("zt_elements(?, 'w')", "elements", "position"), ("zt_rows(?, 'w')", "matrix", "row")):
        condition = where.replace("position", key)
        sql = f"SELECT {key} FROM {{}} {condition} ORDER BY {key} {direction} {limit}"
        assert rows(db, sql.format(table), mixed) == rows(db, sql.format(copy))
        got = rows(db, f"SELECT * FROM {table} {condition} ORDER BY {key} {direction}", mixed)
        expected = rows(db, f"SELECT * FROM {copy} {condition}")
        assert sorted(got, key=repr) == sorted((row[:-1] for row in expected), key=repr)


@pytest.mark.parametrize("direction", ["", "DESC"])
@pytest.mark.parametrize("kind", OBJECTS)
@pytest.mark.parametrize("as_blob", [False, True])
def test_positions_of_one_file_come_in_order_both_ways(db, save, kind, direction, as_blob):
    file = writer.write({"w": OBJECTS[kind]})
    source = file if as_blob else save("x.zt", file)
    for where in RANGES[:5]:
        sql = f"SELECT position, coords, value, rowid, source = ?1, object, on_error FROM zt_elements(?1, 'w') {where}"
        expected = sorted(rows(db, sql, source), reverse=direction == "DESC")
        assert rows(db, f"{sql} ORDER BY position {direction}", source) == expected
        assert rows(db, f"{sql} ORDER BY position {direction} LIMIT 2 OFFSET 1", source) == expected[1:3]


def test_columns_of_sorted_rows_are_those_of_the_scan(db, mixed):
    sql = """SELECT path, position, coords, value, rowid, typeof(value), source, object, on_error
             FROM zt_elements(?, 'w', 'skip')"""
    assert sorted(rows(db, sql + " ORDER BY position", mixed), key=repr) == sorted(rows(db, sql, mixed), key=repr)
    columns = "json_array(coords, position, object), hex(substr(path, -3)), rowid"
    sql = f"SELECT {columns} FROM zt_elements(?, 'w', 'skip')"
    assert sorted(rows(db, sql + " ORDER BY position DESC", mixed)) == sorted(rows(db, sql, mixed))
    assert rows(db, sql + " ORDER BY position DESC LIMIT 1", mixed)[0][0] == '["[19,1]",39,"w"]'.replace('"[19,1]"', "[19,1]")


def test_sorted_complex_values_have_the_json_subtype(db, save):
    for name in "ab":
        save(f"c/{name}.zt", writer.write({"w": COMPLEX}))
    sql = "SELECT json_array(value) FROM zt_elements(?, 'w') ORDER BY position DESC"
    path = save("c/c.zt", writer.write({"w": COMPLEX}))[:-5]
    assert rows(db, sql, path) == [("[[2.0,3.0]]", )] * 3 + [("[[0.0,1.0]]", )] * 3


def test_tables_with_a_name_and_a_shadow_sort_too(db, mixed):
    db.execute("CREATE VIRTUAL TABLE temp.\"o\"\"dd\" USING zt_elements(object=w)")
    db.execute("CREATE TABLE main.zt_elements(source, object)")
    got = rows(db, 'SELECT position, object FROM temp."o""dd"(?) ORDER BY position DESC LIMIT 3', mixed)
    assert got == [(39, "w"), (38, "w"), (37, "w")]


def test_sorting_begins_anew_for_each_source_of_a_join(db, mixed, save):
    one = save("one.zt", writer.write({"w": DENSE}))
    db.execute("CREATE TABLE s(id, src)")
    db.executemany("INSERT INTO s VALUES (?, ?)", [(1, mixed), (2, one), (3, mixed), (4, None), (5, one)])
    sql = """SELECT id, (SELECT group_concat(position) FROM (SELECT position FROM zt_elements(s.src, 'w')
                         ORDER BY position DESC LIMIT 3)) FROM s ORDER BY id"""
    assert rows(db, sql) == [(1, "39,38,37"), (2, "5,4,3"), (3, "39,38,37"), (4, None), (5, "5,4,3")]


@pytest.mark.parametrize("order", ["position", "position DESC"])
def test_what_is_wrong_with_a_file_ends_sorting(db, mixed, save, order):
    path = save("mixed/zz.zt", b"broken")
    sql = "SELECT position FROM zt_elements(?, 'w'{}) ORDER BY " + order
    assert message(db, sql.format(""), mixed).startswith(prefix(path))
    assert len(rows(db, sql.format(", 'skip'"), mixed)) == value(db, "SELECT count(*) FROM elements")


def test_an_authorizer_that_refuses_a_column_does_not_hear_of_it_in_sorting(db, mixed):
    read = set()

    def authorize(action, first, second, database, trigger):
        if action == 20:   # SQLITE_READ
            read.add((first, second))
        return sqlite3.SQLITE_DENY if second in ("value", "coords") else sqlite3.SQLITE_OK

    db.set_authorizer(authorize)
    assert rows(db, "SELECT position FROM zt_elements(?, 'w') ORDER BY position LIMIT 2", mixed) != []
    assert {column for _, column in read} <= {"position", "source", "object", "on_error", "sql", "type", "ROWID", ""}


def test_sorting_ends_when_the_host_asks(db, mixed):
    db.set_progress_handler(lambda: True, 1)
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        rows(db, "SELECT position FROM zt_elements(?, 'w') ORDER BY position", mixed)
    db.set_progress_handler(None, 1)
    assert rows(db, "SELECT position FROM zt_elements(?, 'w') ORDER BY position LIMIT 1", mixed) == [(0, )]


@pytest.mark.parametrize("wrap", [lambda object: object, writer.zstd_parts])
def test_values_are_read_backward_as_forward(db, save, wrap):
    numbers = [(i * 7919) % 65521 for i in range(3_000_000)]
    data = struct.pack(f"<{len(numbers)}H", *numbers)
    path = save("x.zt", writer.write({"w": wrap(writer.dense(data, [3000, 1000], "u16"))}))
    got = rows(db, "SELECT position, value FROM zt_elements(?, 'w') ORDER BY position DESC", path)
    assert got == list(zip(reversed(range(len(numbers))), reversed(numbers)))
    sql = "SELECT value FROM zt_elements(?, 'w') WHERE position % 500000 = 1 ORDER BY position DESC"
    assert rows(db, sql, path) == [(numbers[i], ) for i in range(2_500_001, 0, -500_000)]


# -------------------------------------------------------------------------------------------- groups

@pytest.mark.parametrize("group, order", [
    ("object, path", "object, path"), ("path, object", "path, object"), ("object, path", "path, object"),
    ("path, object", "path DESC, object DESC"), ("object, path", "object DESC, path DESC"), ("path, object", "object, path")])
def test_groups_come_in_the_order_asked_for(db, mixed, save, group, order):
    save("mixed/more.zt", writer.write({"z": DENSE, "a": DENSE, "w": DENSE}))
    db.execute("CREATE TABLE copy AS SELECT path, object FROM zt_objects(?)", (mixed, ))
    for what in (f"{group}, count(*)", group):
        sql = f"SELECT {what} FROM {{}} GROUP BY {group} ORDER BY {order}"
        assert rows(db, sql.format("zt_objects(?)"), mixed) == rows(db, sql.format("copy"))
    sql = f"SELECT DISTINCT {group} FROM {{}} ORDER BY {order}"
    assert rows(db, sql.format("zt_objects(?)"), mixed) == rows(db, sql.format("copy"))


@pytest.mark.parametrize("direction", ["", " DESC"])
def test_positions_of_a_declared_source_come_in_order(db, mixed, direction):
    db.execute(f"CREATE VIRTUAL TABLE temp.declared USING zt_elements({quoted(mixed)}, 'w')")
    got = rows(db, f"SELECT position FROM declared WHERE position > 1 ORDER BY position{direction}")
    assert got == sorted(rows(db, "SELECT position FROM declared WHERE position > 1"), reverse=bool(direction)) != []


def test_paths_are_in_the_order_of_the_database_s_encoding(save, tmp_path):
    """SQLite compares the bytes of UTF-16 in such a database."""
    for name in ("z", "A", "\uff5e", "\U0001f600"):
        save(f"{name}.zt", writer.sample())
    db = open_connection(load=False)
    db.execute("PRAGMA encoding = 'UTF-16le'")
    db.execute("CREATE TABLE first(a)")
    db.load_extension(EXTENSION)
    names = [os.path.basename(path)[:-3] for path, in rows(db, "SELECT path FROM zt_files(?) ORDER BY path", str(tmp_path))]
    db.close()
    assert names == sorted(names, key=lambda name: name.encode("utf-16-le")) != sorted(names)


def test_positions_of_several_files_come_backward_in_each(db, mixed):
    forward = rows(db, "SELECT path, position FROM zt_elements(?, 'w')", mixed)
    assert rows(db, "SELECT path, position FROM zt_elements(?, 'w') ORDER BY path, position DESC", mixed) == sorted(
        sorted(forward, key=lambda row: row[1], reverse=True), key=lambda row: row[0])


def test_a_table_with_a_source_sorts_what_only_goes_forward(db, save):
    path = save("s.zt", writer.write({"s": writer.csr()}))
    db.execute(f"CREATE VIRTUAL TABLE temp.e USING zt_elements({quoted(path)}, 's')")
    assert rows(db, "SELECT path, position, object FROM e ORDER BY position DESC") == [(path, 5, "s"), (path, 1, "s")]


def test_a_path_that_looks_like_an_array_is_none(db, save, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("[a].zt", "b.zt"):
        save(name, writer.write({"w": writer.dense(b"\1")}))
    sql = "SELECT json_array(path, coords) FROM zt_elements((SELECT ?), 'w') ORDER BY position"
    assert sorted(rows(db, sql, '["[[]a].zt", "b.zt"]')) == [('["[a].zt",[0]]',), ('["b.zt",[0]]',)]
