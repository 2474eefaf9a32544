"""zt_elements: one row for each element of a dense object, or for each stored element of a sparse one."""
import collections
import json
import math
import sqlite3
import struct

import pytest

import conditions
import corpus
import reference
import writer
from support import message, place, quoted, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
MIB = 1 << 20
NUMBERS = [0.0, 1.5, -2.0, math.inf, -math.inf, math.nan, -0.0, 8.0, 9.0, 10.0, 11.0, 12.0]


def twelve(dtype="f32"):
    """A file of one tensor of shape [3, 4]."""
    return writer.write({"w": writer.typed(reference.encode(dtype, NUMBERS), [3, 4], dtype)})


def text(values):
    """The values in a form that tells -0.0 from 0.0 and 1 from 1.0; NaN is None."""
    return [repr(v) for v in values]


def same_value(shown, expected):
    """Compares a value of the table with the expected one. Complex numbers are JSON, whose spaces do not count."""
    if isinstance(expected, complex):
        return repr(json.loads(shown)) == repr(json.loads(reference.shown(None, expected)))
    return repr(shown) == repr(reference.shown(None, expected))


# ---------------------------------------------------------------------------------------------------------------- rows

@BOTH_WAYS
def test_a_dense_object_gives_one_row_for_each_element_in_row_major_order(db, save, how):
    source = twelve() if how == "blob" else save("x.zt", twelve())
    got = rows(db, "SELECT * FROM zt_elements(?, 'w')", source)
    assert [row[:3] for row in got] == [(corpus.path_of(source), p, f"[{p // 4},{p % 4}]") for p in range(12)]
    assert text(row[3] for row in got) == text(None if v != v else v for v in NUMBERS)


@BOTH_WAYS
def test_a_sparse_object_gives_its_stored_elements_in_storage_order(db, save, how):
    file = writer.write({"csr": writer.sparse_csr([3, 4], [0, 2, 2, 3], [3, 1, 0], struct.pack("<3h", 5, 0, -7), "i16"),
                         "coo": writer.sparse_coo([2, 3, 2], [(1, 2, 1), (0, 0, 0), (1, 0, 1)], struct.pack("<3f", 5, 0, -7),
                                                  "f32")})
    source = file if how == "blob" else save("x.zt", file)
    assert rows(db, "SELECT position, coords, value FROM zt_elements(?, 'csr')", source) == [
        (3, "[0,3]", 5), (1, "[0,1]", 0), (8, "[2,0]", -7)]
    assert rows(db, "SELECT position, coords, value FROM zt_elements(?, 'coo')", source) == [
        (11, "[1,2,1]", 5.0), (0, "[0,0,0]", 0.0), (7, "[1,0,1]", -7.0)]


def test_a_scalar_has_one_element_at_no_coordinates(db):
    file = writer.write({"s": writer.dense(struct.pack("<d", 2.5), [], "f64")})
    assert rows(db, "SELECT position, coords, value FROM zt_elements(?, 's')", file) == [(0, "[]", 2.5)]


@pytest.mark.parametrize("shape", [[0], [0, 5], [5, 0], [0, (1 << 63) + 5], [(1 << 63) + 5, 0]])
def test_an_empty_tensor_has_no_rows(db, shape):
    file = writer.write({"w": writer.dense(b"", shape, "f32")})
    assert rows(db, "SELECT * FROM zt_elements(?, 'w')", file) == []
    assert rows(db, "SELECT * FROM zt_elements(?, 'w') WHERE position = 0", file) == []


@pytest.mark.parametrize("dtype", reference.STORED)
def test_values_of_every_type_have_their_storage_class(db, dtype):
    data = b"\0\1\2\xff" if dtype == "bool" else bytes(range(256)) + bytes.fromhex("ffffffffffffffff0000000000000080" * 2)
    expected = reference.decode(dtype, data)
    got = rows(db, "SELECT position, value FROM zt_elements(?, 'w')",
               writer.write({"w": writer.typed(data, [len(expected)], dtype)}))
    assert [p for p, _ in got] == list(range(len(expected)))
    for (_, shown), wanted in zip(got, expected):
        assert same_value(shown, wanted)


def test_coords_and_complex_values_have_the_json_subtype(db):
    file = writer.write({"c": writer.typed(reference.encode("complex64", [1.5 - 2j]), [1, 1], "complex64")})
    assert json.loads(value(db, "SELECT json_array(coords, value) FROM zt_elements(?, 'c')", file)) == [[0, 0], [1.5, -2.0]]


@pytest.mark.parametrize("name, file, objects", **corpus.golden_objects(corpus.has_dense))
def test_golden_objects_have_the_elements_of_their_dense_form(db, name, file, objects):
    for object in objects:
        dtype = corpus.element_type(object)
        # test_dense.py tests these bytes.
        values = reference.decode(dtype, value(db, "SELECT zt_dense(?, ?)", str(file), object["name"]), object["elements"])
        for position, wanted in corpus.sample_values(object):
            assert repr(values[position]) == repr(wanted)
        got = rows(db, "SELECT position, coords, value FROM zt_elements(?, ?)", str(file), object["name"])
        assert all(json.loads(coords) == corpus.coordinates(object["shape"], p) for p, coords, _ in got)
        positions = [p for p, _, _ in got]
        if object["format"] == "dense":
            assert positions == list(range(object["elements"]))
        stored = collections.Counter(positions)
        assert all(same_value(shown, values[p]) for p, _, shown in got if stored[p] == 1)
        empty = set(range(object["elements"])) - set(positions)
        assert {repr(values[p]) for p in empty} <= {"0", "0.0", "False", "0j"}


@pytest.fixture
def two_of_many(save):
    """Booleans of zTensor 2, two of which are none."""
    data = bytearray(i % 3 == 1 for i in range(50000))
    data[5000] = data[30000] = 2
    return save("two.zt", writer.write({"w": writer.dense(bytes(data), [50000], "bool")}, "2"))


@pytest.mark.parametrize("order", ["", "ORDER BY position DESC"])
def test_only_elements_that_have_no_value_are_null(db, two_of_many, order):
    """Elements that are read together with one of them have theirs."""
    got = rows(db, f"SELECT position, value FROM zt_elements(?, 'w', 'skip') {order}", two_of_many)
    assert sorted(got) == [(i, None if i in (5000, 30000) else int(i % 3 == 1)) for i in range(50000)]


def test_elements_that_were_read_before_a_failure(db, two_of_many):
    got = rows(db, """SELECT position, e.value FROM json_each('[0, 1, 0]') AS j CROSS JOIN zt_elements(?, 'w', 'skip') AS e
                      WHERE position BETWEEN j.value AND 40000 * j.value""", two_of_many)
    assert (got[:2], got[-1]) == ([(0, 0), (1, 1)], (0, 0))


@pytest.mark.parametrize("order", ["", "ORDER BY position", "ORDER BY position DESC", "LIMIT 5"])
def test_stored_elements_without_an_end_are_no_rows_with_skip(db, save, order):
    """Some of a tensor's rows would look like all of them."""
    for name, fault in (("a.zt", None), ("b.zt", 15000), ("c.zt", None)):
        cells = [(20000 if i == fault else i,) for i in range(20000)]
        save(name, writer.write({"w": writer.sparse_coo([20000], cells, bytes(20000))}))
    source = save("list", b"").replace("list", "*.zt")
    got = rows(db, f"SELECT path, count(*) FROM (SELECT path FROM zt_elements(?, 'w', 'skip') WHERE position < 16000 {order}) GROUP BY path", source)
    n = 5 if "LIMIT" in order else 16000
    assert got == [(source.replace("*", name), n) for name in "ac"[:1 if n == 5 else 2]]
    assert rows(db, f"SELECT * FROM zt_elements(?, 'w', 'skip') {order}", source.replace("*", "b")) == []


# ------------------------------------------------------------------------------------------------- conditions on position

FILES = {
    "dense": twelve(),
    "zstd": writer.write({"w": writer.zstd_parts(writer.dense(bytes(range(12)), [12]))}),
    "csr": writer.write({"w": writer.sparse_csr([3, 4], [0, 2, 2, 6], [3, 1, 0, 2, 2, 3], bytes(range(1, 7)))}),
    "coo": writer.write({"w": writer.sparse_coo([3, 4], [(2, 3), (0, 3), (1, 1), (0, 3), (0, 0)], bytes(range(1, 6)))}),
    "quantized": writer.write({"w": writer.quantized([3, 4], [0, 1, 2, 3] * 3, 8, 4, "u8", struct.pack("<3f", 1, 2, 3),
                                                     bytes(12))}),
    "scalar": writer.write({"w": writer.dense(b"\7", [])}),
}


@pytest.mark.parametrize("condition, expected", [
    ("position > 9223372036854775806", 3), ("position > 9.3e18", 2), ("position > 1e19", 1), ("position < 1e19", 4), ("position < 'x'", 5),
    ("position > '9400000000000000000'", 2)])
def test_positions_beyond_2_63_are_not_miscounted(db, condition, expected):
    """A LIMIT is right or refused: such positions are text, and only SQLite knows how it converts text to a number."""
    coords = [(2, 5), (0, 7), (1, 1 << 61), (2, 2 * 10**17), (2, 1 << 61)]
    huge = writer.write({"w": writer.sparse_coo([3, 1 << 62], coords, bytes(range(1, 6)), "u8", "u64")})
    sql = f"SELECT position FROM zt_elements(?1, 'w') WHERE {condition}"
    whole = rows(db, sql, huge)
    assert len(whole) == expected
    for end, some in ((" LIMIT 1", slice(1)), (" LIMIT 9 OFFSET 1", slice(1, 10))):
        try:
            assert rows(db, sql + end, huge) == whole[some]
        except sqlite3.OperationalError as error:
            assert "not an INTEGER: write + before the column" in str(error) and "806" not in condition
        assert rows(db, sql + end, FILES["coo"]) == rows(db, sql, FILES["coo"])[some]   # It has no such position


@pytest.mark.parametrize("kind", FILES)
def test_conditions_on_position_choose_the_same_rows_as_of_an_ordinary_table(db, kind):
    copy_into_table(db, FILES[kind])
    chosen = 0
    for condition in (*conditions.of("position"), "position = 2 OR value = 8"):
        sql = f"SELECT position, coords FROM {{}} WHERE {condition}"
        expected = rows(db, sql.format("copy"))
        assert sorted(rows(db, sql.format("zt_elements(?, 'w')"), FILES[kind])) == sorted(expected), condition
        chosen += len(expected)
    assert chosen > 0


def copy_into_table(db, file):
    """Copies all elements into an ordinary table, whose answers are right."""
    db.execute("CREATE TABLE copy(position INTEGER, coords TEXT, value)")
    db.execute("INSERT INTO copy SELECT position, coords, value FROM zt_elements(?, 'w')", (file,))
    assert rows(db, "SELECT count(*) > 0 FROM copy") == [(1,)]


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("order", ["position", "position DESC", "value, position", "coords DESC"])
@pytest.mark.parametrize("condition", ["1", "position > 2", "position BETWEEN 1 AND 9"])
def test_rows_come_in_the_order_asked_for(db, kind, order, condition):
    copy_into_table(db, FILES[kind])
    sql = f"SELECT {order.replace(' DESC', '')} FROM {{}} WHERE {condition} ORDER BY {order}"
    assert rows(db, sql.format("zt_elements(?, 'w')"), FILES[kind]) == rows(db, sql.format("copy"))


UNSORTED = {
    "csr": FILES["csr"],
    "coo": FILES["coo"],
    "sorted csr": writer.write({"w": writer.csr()}),
    "sorted coo with repeats": writer.write({"w": writer.sparse_coo([3, 4], [(0, 1), (0, 1), (2, 0), (2, 3)],
                                                                    bytes(range(4)))}),
    "nothing stored": writer.write({"w": writer.sparse_coo([3, 4], [], b"")}),
    "no elements": writer.write({"w": writer.sparse_csr([0, 5], [0], [], b"")}),
    "0.1 csr": writer.write({"w": {"shape": [3, 4], "format": "sparsecsr", "components": {"data": {
        "bytes": struct.pack("<10Q6B", 0, 2, 2, 6, 3, 1, 0, 2, 2, 3, *range(1, 7))}}}}, "0.1"),
    "0.1 coo": writer.write({"w": {"shape": [3, 4], "format": "sparsecoo", "components": {"data": {
        "bytes": struct.pack("<" + 5 * "2QB", 2, 3, 1, 0, 3, 2, 1, 1, 3, 0, 3, 4, 0, 0, 5)}}}}, "0.1"),
    "thousands": writer.write({"w": writer.sparse_coo(
        [100, 100], [(i * 37 % 101 % 100, i * 59 % 97) for i in range(9001)], bytes(i % 251 for i in range(9001)))}),
}
LITERAL_IS_KNOWN = sqlite3.sqlite_version_info >= (3, 38)   # SQLite knows literals when it plans a statement


def literal(file):
    return f"x'{file.hex()}'"


@pytest.mark.parametrize("kind", UNSORTED)
@pytest.mark.parametrize("order", ["position", "position DESC"])
def test_stored_elements_come_in_the_order_of_their_positions(db, kind, order):
    """Elements of one position stay in storage order, if the positions ascend."""
    db.execute("CREATE TABLE copy AS SELECT position, coords, value, rowid AS id FROM zt_elements(?, 'w')",
               (UNSORTED[kind],))
    source = f"(SELECT *, rowid AS id FROM zt_elements({literal(UNSORTED[kind])}, 'w'))"
    for condition in ("1", "position > 2", "position BETWEEN 1 AND 9", "position = 3",
                      "position > 1 AND position < 99", "position IN (11, 3, 0)", "position < 0", "value % 2",
                      "position > 2 AND value > 3"):
        for limit in ("", "LIMIT 1", "LIMIT 3 OFFSET 2", "LIMIT 100 OFFSET 4000", "LIMIT 0",
                      "LIMIT -1 OFFSET 1"):
            sql = f"SELECT position, coords, value, id FROM {{}} WHERE {condition} ORDER BY {order}{{}} {limit}"
            expected = rows(db, sql.format("copy", ", rowid"))
            assert rows(db, sql.format(source, "")) == expected, (condition, limit)


@pytest.mark.parametrize("name, file, objects", **corpus.golden_objects(corpus.has_dense))
def test_golden_objects_come_in_the_order_of_their_positions(db, name, file, objects):
    for object in objects:
        source = f"zt_elements({quoted(file)}, {quoted(object['name'])})"
        stored = rows(db, f"SELECT position, rowid, coords, value FROM {source}")
        ordered = rows(db, f"SELECT position, rowid, coords, value FROM {source} ORDER BY position")
        assert ordered == sorted(stored, key=lambda row: row[0]), object["name"]


@pytest.mark.parametrize("source, order, sorts", [
    ("{path}", "position", False), ("{blob}", "position", False), ("?", "position", False),
    ("{path}", "path, position", False), ("{pattern}", "path, position", False),
    ("{path}", "position DESC", False), ("?", "position DESC", False), ("?", "path, position DESC", True),
    ("{path}", "value", True), ("{pattern}", "position", LITERAL_IS_KNOWN)])
def test_the_order_of_positions_needs_no_sorting_by_sqlite(db, save, source, order, sorts):
    path = save("x.zt", FILES["coo"])
    source = source.format(path=quoted(path), blob=literal(FILES["coo"]),
                           pattern=quoted(path.replace("x.zt", "*.zt")))
    sql = f"EXPLAIN QUERY PLAN SELECT * FROM zt_elements({source}, 'w') ORDER BY {order}"
    plan = rows(db, sql, *[path] * (source == "?"))
    assert any("TEMP B-TREE" in detail for *_, detail in plan) == sorts


def test_files_of_a_pattern_come_each_in_the_order_of_positions(db, save):
    paths = [save(f"many/{kind}.zt", FILES[kind]) for kind in ("coo", "csr", "dense")]
    got = rows(db, "SELECT path, position FROM zt_elements(?, 'w') ORDER BY path, position",
               paths[0].replace("coo", "*"))
    assert got == sorted(got)
    assert [path for path, _ in got] == [paths[0]] * 5 + [paths[1]] * 6 + [paths[2]] * 12


def test_rows_in_order_can_be_asked_for_again_and_again(db, save):
    path = save("x.zt", FILES["csr"])
    got = rows(db, f"""WITH w(low) AS (VALUES (0), (3), (9), (2))
                       SELECT low, (SELECT group_concat(position) FROM (
                         SELECT position FROM zt_elements({quoted(path)}, 'w') WHERE position >= low ORDER BY position)) FROM w""")
    assert got == [(0, "1,3,8,10,10,11"), (3, "3,8,10,10,11"), (9, "10,10,11"), (2, "3,8,10,10,11")]


@pytest.mark.parametrize("kind", FILES)
def test_positions_join_with_those_of_an_ordinary_table(db, kind):
    db.execute("CREATE TABLE wanted(p)")
    db.executemany("INSERT INTO wanted VALUES (?)", [(0,), (3,), (3,), (11,), (12,), (-1,), (2.5,), (None,), ("3",), (b"3",)])
    copy_into_table(db, FILES[kind])
    for join in ("CROSS JOIN", "LEFT JOIN"):
        for condition in ("position = p", "position > p", "position BETWEEN p AND p + 2"):
            sql = f"SELECT p, position, coords FROM wanted {join} {{}} AS e ON {condition}"
            expected = rows(db, sql.format("copy"))
            got = rows(db, sql.format("zt_elements(?, 'w')"), FILES[kind])
            assert expected and sorted(got, key=repr) == sorted(expected, key=repr)


def test_a_limit_and_an_offset_choose_their_rows(db):
    assert rows(db, "SELECT position FROM zt_elements(?, 'w') LIMIT 3 OFFSET 5", twelve()) == [(5,), (6,), (7,)]
    assert rows(db, "SELECT position FROM zt_elements(?, 'w') WHERE position > 8 LIMIT 1 OFFSET 2", twelve()) == [(11,)]


def test_elements_of_tensors_of_any_size_are_found(db, tmp_path):
    elements = (5 << 30) // 4
    path = writer.sparse_file(tmp_path / "large.zt", [elements // 4, 4], "f32", 4 * elements, struct.pack("<2f", 1.5, 2.5))
    assert rows(db, "SELECT position, coords, value FROM zt_elements(?, 'w') WHERE position >= ?", path, elements - 3) == [
        (elements - 3, f"[{elements // 4 - 1},1]", 0.0), (elements - 2, f"[{elements // 4 - 1},2]", 1.5),
        (elements - 1, f"[{elements // 4 - 1},3]", 2.5)]
    assert rows(db, "SELECT value FROM zt_elements(?, 'w') LIMIT 1", path) == [(0.0,)]


def test_many_elements_come_out_whole(db):
    # More elements than any window has.
    count = 300_007
    data = b"".join(i.to_bytes(4, "little") for i in range(count))
    for object in (writer.dense(data, [count], "u32"), writer.zstd_parts(writer.dense(data, [count], "u32"))):
        file = writer.write({"w": object})
        sql = "SELECT count(*), sum(position = value), min(position), max(position) FROM zt_elements(?, 'w')"
        assert rows(db, sql, file) == [(count, count, 0, count - 1)]
        assert rows(db, "SELECT value FROM zt_elements(?, 'w') WHERE position BETWEEN 200000 AND 200002", file) == [
            (200000,), (200001,), (200002,)]


# ------------------------------------------------------------------------------------------------------------- sources

def test_a_directory_or_pattern_gives_the_rows_of_each_file_that_has_the_object(db, tree, save):
    save("tree/other.zt", writer.write({"something": writer.dense(b"\x09")}))
    expected = [(f, p, v) for i, f in enumerate(tree.files) for p, v in enumerate([i + 1] * 12)]
    for source in (tree.path, tree.path + "/**/*.zt"):
        assert rows(db, "SELECT path, position, value FROM zt_elements(?, 'layer1.weight')", source) == expected
    assert rows(db, "SELECT path, value FROM zt_elements(?, 'something')", tree.path) == [(tree.path + "/other.zt", 9)]
    assert rows(db, "SELECT * FROM zt_elements(?, 'nothing')", tree.path) == []
    assert rows(db, "SELECT * FROM zt_elements(?, 'w')", tree.path + "/none*.zt") == []


def test_conditions_on_path_and_position_work_together(db, tree):
    sql = "SELECT path, position, value FROM zt_elements(?, 'layer1.weight') WHERE position = 3 AND path LIKE '%/b/%'"
    assert rows(db, sql, tree.path) == [(tree.files[1], 3, 2), (tree.files[2], 3, 3)]
    sql = "SELECT value FROM zt_elements(?, 'layer1.weight') WHERE path = ? AND position < 2"
    assert rows(db, sql, tree.path, tree.files[4]) == [(5,), (5,)]


def test_the_arguments_can_be_given_as_conditions_and_are_seen_in_the_hidden_columns(db, sample):
    got = rows(db, "SELECT source, object, value FROM zt_elements WHERE source = ? AND object = 'layer1.bias'", sample)
    assert got == [(sample, "layer1.bias", 2)] * 4


def test_a_list_of_objects_gives_the_rows_of_each(db, sample):
    got = rows(db, """SELECT object, count(*), sum(value) FROM zt_elements(?)
                      WHERE object IN ('layer1.weight', 'layer1.bias') GROUP BY object""", sample)
    assert got == [("layer1.bias", 4, 8), ("layer1.weight", 12, 12)]
    assert rows(db, "SELECT * FROM zt_elements(?, 'layer1.bias') WHERE object = 'layer1.weight'", sample) == []


def test_the_object_may_come_from_another_table(db, sample):
    got = rows(db, """SELECT o.object, count(*), sum(value) FROM zt_objects(?1) o, zt_elements(?1, o.object) e
                      GROUP BY 1 ORDER BY 1""", sample)
    assert got == [("layer1.bias", 4, 8), ("layer1.weight", 12, 12)]


def test_an_object_that_cannot_be_interpreted_is_an_error(db):
    file = writer.write({"w": writer.dense(b"123", [4])})
    assert message(db, "SELECT * FROM zt_elements(?, 'w')", file).startswith(place(file, "w"))
    assert message(db, "SELECT * FROM zt_elements(?, 'w') WHERE position = 0", file).startswith(place(file, "w"))


# ------------------------------------------------------------------------------------------------- what is read, security

def test_rowids_of_stored_elements_are_unique_and_the_same_whatever_the_condition(db):
    # Two of the stored elements share a position.
    everything = rows(db, "SELECT rowid, position, value FROM zt_elements(?, 'w')", FILES["coo"])
    assert len({rowid for rowid, _, _ in everything}) == 5
    for condition in ("position = 3", "position > 2", "position BETWEEN 0 AND 4"):
        got = rows(db, f"SELECT rowid, position, value FROM zt_elements(?, 'w') WHERE {condition}", FILES["coo"])
        assert got and set(got) <= set(everything)


def test_it_is_read_only(db, sample):
    db.execute(f"CREATE VIRTUAL TABLE temp.e USING zt_elements({quoted(sample)}, 'layer1.bias')")
    assert rows(db, "SELECT position, value FROM e") == [(i, 2) for i in range(4)]
    for sql in ("DELETE FROM e", "UPDATE e SET value = 1", "INSERT INTO e(value) VALUES (1)"):
        with pytest.raises(sqlite3.OperationalError, match="may not be modified"):
            db.execute(sql)


@pytest.fixture
def large(save):
    """The path of a file whose blobs, a million u8 each, lie from 1 MiB to 3 MiB."""
    objects = {name: writer.dense(bytes([x]) * MIB, [1024, 1024]) for name, x in (("a", 1), ("b", 2))}
    return save("large.zt", writer.write(objects, first_offset=MIB, gap=MIB))


def test_a_range_of_positions_of_raw_data_reads_little_more_than_the_range(trace, large):
    got = trace(f"SELECT sum(value), count(*) FROM zt_elements('{large}', 'a') WHERE position BETWEEN 500000 AND 500002;")
    assert got.out.strip() == "3|3"
    assert 3 <= got.bytes_read(large, MIB, 2 * MIB) <= 64 * 1024
    assert got.bytes_read(large, 2 * MIB, 3 * MIB) == 0


def test_an_impossible_condition_reads_nothing_of_the_tensor(trace, large):
    got = trace(f"SELECT count(*) FROM zt_elements('{large}', 'a') WHERE position > 5000000;\n"
                f"SELECT count(*) FROM zt_elements('{large}', 'a') WHERE position = 2.5;")
    assert got.out.split() == ["0", "0"]
    assert got.bytes_read(large, MIB, 3 * MIB) == 0


def test_an_element_keeps_its_rowid_whatever_the_condition(db, save):
    """OR and FULL JOIN recognise rows by their rowid."""
    matrix = writer.sparse_csr([300, 4], [2 * i for i in range(301)], [1, 3] * 300, bytes(i % 250 + 1 for i in range(600)))
    path = save("csr.zt", writer.write({"w": matrix}))
    db.execute(f"CREATE VIRTUAL TABLE temp.e USING zt_elements('{path}', w)")
    whole = dict(rows(db, "SELECT position, rowid FROM e"))
    for low in (0, 5, 700, 1190):
        assert dict(rows(db, "SELECT position, rowid FROM e WHERE position >= ?", low)) == {
            position: rowid for position, rowid in whole.items() if position >= low}
    got = rows(db, "SELECT position FROM e WHERE position = 1 OR position > 1194 OR position BETWEEN 40 AND 44")
    assert sorted(got) == [(1,), (41,), (43,), (1195,), (1197,), (1199,)]


def test_bytes_of_objects_without_elements_are_checked(db):
    junk = dict(encoding="zstd", uncompressed_length=0)
    file = writer.write({
        "dense": writer.dense(b"junk", [0, 3], dtype="u8", **junk),
        "coo": {"shape": [2], "format": "sparse_coo", "components": {
            "values": {"dtype": "u8", "bytes": b""}, "coords": {"dtype": "u64", "bytes": b"junk", **junk}}},
        "csr": {"shape": [0, 5], "format": "sparse_csr", "components": {
            "values": {"dtype": "u8", "bytes": b"junk", **junk}, "indices": {"dtype": "u64", "bytes": b""},
            "indptr": {"dtype": "u64", "bytes": bytes(8)}}}})
    for name in ("dense", "coo", "csr"):
        for sql in ("SELECT * FROM zt_elements(?, ?)", "SELECT zt_dense(?, ?)", "SELECT zt_json(?, ?)"):
            assert "zstd: Unknown frame descriptor" in message(db, sql, file, name), (name, sql)
