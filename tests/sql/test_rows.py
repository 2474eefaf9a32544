"""zt_rows: the slices of a tensor along its first dimension, each as a vector."""
import os
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
# A 5 by 3 tensor: row r is r, r + 0.5, 2 - r.
ROWS = [[float(r), r + 0.5, 2.0 - r] for r in range(5)]
FLAT = [v for row in ROWS for v in row]
VECTORS = [struct.pack("<3f", *row) for row in ROWS]


def matrix(dtype="f32"):
    return writer.dense(reference.encode(dtype, FLAT), [5, 3], dtype)


# ---------------------------------------------------------------------------------------------------------------- rows

KINDS = {
    "f32": writer.write({"w": matrix()}),
    "f64": writer.write({"w": matrix("f64")}),
    "bf16": writer.write({"w": matrix("bf16")}),
    "zstd": writer.write({"w": writer.zstd_parts(matrix())}),
    "zstd without a length": writer.write({"w": writer.dense(writer.zstd(b"".join(VECTORS)), [5, 3], "f32", encoding="zstd")},
                                          "1.1"),
    "big-endian": writer.write({"w": writer.dense(struct.pack(">15f", *FLAT), [5, 3], "f32", data_endianness="big")}, "0.1"),
    "csr": writer.write({"w": writer.sparse_csr([5, 3], [0, 2, 5, 8, 11, 14], [1, 2] + [0, 1, 2] * 4,
                                                struct.pack("<14f", *FLAT[1:]), "f32")}),
    "coo": writer.write({"w": writer.sparse_coo([5, 3], [(i // 3, i % 3) for i in range(14, 0, -1)],
                                                struct.pack("<14f", *FLAT[:0:-1]), "f32")}),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


@EACH_KIND
@BOTH_WAYS
def test_each_index_of_the_first_dimension_is_a_row_of_f32(db, save, kind, how):
    source = KINDS[kind] if how == "blob" else save("x.zt", KINDS[kind])
    got = rows(db, "SELECT * FROM zt_rows(?, 'w')", source)
    assert [row[:2] for row in got] == [(corpus.path_of(source), r) for r in range(5)]
    assert [struct.unpack("<3f", vector) for _, _, vector in got] == [tuple(row) for row in ROWS]


@EACH_KIND
@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16", "i8", "i64", "bool", "f8_e4m3fn", "complex64"])
def test_vectors_are_converted_to_the_dtype(db, kind, dtype):
    got = rows(db, "SELECT row, vector FROM zt_rows(?, 'w', ?)", KINDS[kind], dtype)
    assert got == [(r, reference.encode(dtype, row)) for r, row in enumerate(ROWS)]


@pytest.mark.parametrize("argument", ["", ", NULL"])
def test_the_column_dtype_shows_the_default(db, argument):
    call = f"zt_rows(?, 'w'{argument})"
    assert rows(db, f"SELECT DISTINCT dtype FROM {call}", KINDS["f32"]) == [("f32",)]
    assert rows(db, f"SELECT count(*) FROM {call} WHERE dtype IS NULL", KINDS["f32"]) == [(0,)]
    assert rows(db, f"SELECT count(*) FROM {call} WHERE dtype <> 'f16'", KINDS["f32"]) == [(5,)]


def test_a_null_dtype_is_f32(db):
    assert rows(db, "SELECT vector FROM zt_rows(?, 'w', NULL)", KINDS["f64"]) == [(v,) for v in VECTORS]


@EACH_KIND
def test_a_vector_is_the_same_as_often_as_it_is_asked_for(db, kind):
    got = rows(db, "SELECT vector, length(vector), vector, hex(vector) FROM zt_rows(?, 'w')", KINDS[kind])
    assert [row[0] for row in got] == [row[2] for row in got]
    assert [struct.unpack("<3f", row[0]) for row in got] == [tuple(row) for row in ROWS]
    assert [row[1:] for row in got] == [(12, row[0], row[0].hex().upper()) for row in got]


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool", "f16", "bf16", "f64"])
def test_its_own_dtype_gives_the_stored_bytes(db, dtype):
    data = bytes(range(48))
    file = writer.write({"w": writer.dense(data, [3, 16 // reference.WIDTHS[dtype]], dtype)})
    assert rows(db, "SELECT vector FROM zt_rows(?, 'w', ?)", file, dtype) == [(data[i:i + 16],) for i in (0, 16, 32)]


@pytest.mark.parametrize("shape", [[4], [4, 1], [4, 2, 3], [1, 6], [2, 1, 2, 1, 3]])
def test_a_row_is_all_there_is_at_its_index(db, shape):
    count = math.prod(shape)
    data = struct.pack(f"<{count}f", *range(count))
    file = writer.write({"w": writer.dense(data, shape, "f32")})
    width = len(data) // shape[0]
    expected = [(r, data[r * width:(r + 1) * width]) for r in range(shape[0])]
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'w')", file) == expected


@pytest.mark.parametrize("shape, expected",
                         [([0], []), ([0, 3], []), ([2, 0], [(0, b""), (1, b"")]), ([2, 3, 0], [(0, b""), (1, b"")])])
def test_rows_of_empty_tensors(db, shape, expected):
    file = writer.write({"w": writer.dense(b"", shape, "f32")})
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'w')", file) == expected


def test_a_sparse_tensor_without_rows_is_read_for_what_is_wrong_with_it(db):
    one = struct.pack("<f", 1)
    coo = writer.write({"w": writer.sparse_coo([0, 3], [(0, 0)], one, "f32")})
    assert message(db, "SELECT * FROM zt_rows(?, 'w')", coo) == place(coo, "w") + "coordinate 0 of value 0 in dimension 0, which has 0"
    assert rows(db, "SELECT * FROM zt_rows(?, 'w', NULL, 'skip')", coo) == []
    csr = writer.write({"w": writer.sparse_csr([0, 3], [1], [0], one, "f32")})
    assert message(db, "SELECT count(*) FROM zt_rows(?, 'w')", csr) == place(csr, "w") + "indptr begins with 1, not 0"


def test_a_dtype_that_is_none_is_an_error(db):
    assert message(db, "SELECT row FROM zt_rows(?, 'w', 'f33')", KINDS["f32"]).startswith("ztensor: dtype 'f33' is not known: there are f64, f32, ")


def test_a_tensor_without_a_shape_has_no_rows_even_to_count(db):
    nested = corpus.FORMATS / "pytorch" / "golden" / "torch_2.7" / "nested_tensor.pt"
    assert message(db, "SELECT count(*) FROM zt_rows(?, 'nt')", str(nested)) == place(nested, "nt") + "its rows have shapes of their own"


def test_a_tensor_of_rank_0_has_no_rows_to_give(db):
    file = writer.write({"s": writer.dense(struct.pack("<f", 1), [], "f32")})
    assert message(db, "SELECT * FROM zt_rows(?, 's')", file).startswith(place(file, "s"))


def test_a_value_that_does_not_fit_is_an_error_that_names_it(db):
    file = writer.write({"w": writer.dense(struct.pack("<4f", 1, 2, 3, 400), [2, 2], "f32")})
    assert rows(db, "SELECT vector FROM zt_rows(?, 'w', 'u8') WHERE row = 0", file) == [(b"\1\2",)]
    text = message(db, "SELECT vector FROM zt_rows(?, 'w', 'u8') WHERE row = 1", file)
    assert text.startswith(place(file, "w")) and "[1,1]" in text.replace(", ", ",")


def test_complex_rows_need_a_complex_dtype(db):
    data = reference.encode("complex64", [1 + 2j, 3 - 4j])
    file = writer.write({"w": writer.typed(data, [2, 1], "complex64")})
    assert message(db, "SELECT vector FROM zt_rows(?, 'w')", file).startswith(place(file, "w"))
    assert rows(db, "SELECT vector FROM zt_rows(?, 'w', 'complex64')", file) == [(data[:8],), (data[8:],)]


@pytest.mark.parametrize("name, file, objects", **corpus.golden_objects(corpus.has_dense))
def test_golden_objects_have_the_rows_of_their_dense_form(db, name, file, objects):
    for object in objects:
        dtype = corpus.element_type(object)
        if max(object["shape"], default=0) > 1 << 32:
            # A huge number of empty rows.
            got = rows(db, "SELECT row, vector FROM zt_rows(?, ?) WHERE row = 1 << 32", str(file), object["name"])
            assert got == [(1 << 32, b"")]
        elif object["shape"]:
            got = rows(db, "SELECT row, vector FROM zt_rows(?, ?, ?)", str(file), object["name"], dtype)
            whole = value(db, "SELECT zt_dense(?, ?)", str(file), object["name"])
            assert [row for row, _ in got] == list(range(object["shape"][0]))
            if dtype == "f4_e2m1":    # Each row begins with a new byte
                width = object["elements"] // object["shape"][0]
                values = [reference.decode(dtype, vector, width) for _, vector in got]
                assert sum(values, []) == reference.decode(dtype, whole, object["elements"])
            else:
                assert b"".join(vector for _, vector in got) == whole
            assert len({len(vector) for _, vector in got}) <= 1
        else:
            at = str(file), object["name"]
            assert message(db, "SELECT * FROM zt_rows(?, ?)", *at).startswith(place(*at))


@pytest.mark.parametrize("order", ["", "ORDER BY row DESC"])
@pytest.mark.parametrize("layout", ["dense", "zstd", "sparse"])
def test_only_rows_that_have_no_vector_are_null(db, layout, order):
    """Rows that are read together with one of them have theirs."""
    without, n = [3, 500, 501, 777, 998], 1000
    numbers = [-1.0 if row in without else row % 200 for row in range(n)]
    data = struct.pack("<2000f", *(x for number in numbers for x in (number, 7)))
    object = {"dense": lambda: writer.dense(data, [n, 2], "f32"),
              "zstd": lambda: writer.dense(writer.zstd(data), [n, 2], "f32", encoding="zstd", uncompressed_length=len(data)),
              "sparse": lambda: writer.sparse_coo([n, 2], [(r, c) for r in range(n) for c in range(2)], data, "f32")}[layout]()
    got = rows(db, f"SELECT row, vector FROM zt_rows(?, 'w', 'u8', 'skip') {order}", writer.write({"w": object}))
    assert sorted(got) == [(row, None if row in without else bytes([row % 200, 7])) for row in range(n)]


# ------------------------------------------------------------------------------------------------------ conditions on row

@EACH_KIND
def test_conditions_on_row_choose_the_same_rows_as_of_an_ordinary_table(db, kind):
    db.execute("CREATE TABLE copy(row INTEGER, vector BLOB)")
    db.execute("INSERT INTO copy SELECT row, vector FROM zt_rows(?, 'w')", (KINDS[kind],))
    chosen = 0
    for condition in (*conditions.of("row"), "row = 2 OR length(vector) = 0"):
        sql = f"SELECT row, vector FROM {{}} WHERE {condition}"
        expected = rows(db, sql.format("copy"))
        assert sorted(rows(db, sql.format("zt_rows(?, 'w')"), KINDS[kind])) == sorted(expected), condition
        chosen += len(expected)
    assert chosen > 0
    for order in ("row", "row DESC", "vector DESC"):
        sql = f"SELECT row FROM {{}} WHERE row > 0 ORDER BY {order}"
        assert rows(db, sql.format("zt_rows(?, 'w')"), KINDS[kind]) == rows(db, sql.format("copy"))


@EACH_KIND
def test_rows_join_with_those_of_an_ordinary_table(db, kind):
    db.execute("CREATE TABLE ids(name, id)")
    db.executemany("INSERT INTO ids VALUES (?, ?)",
                   [("c", 2), ("a", 0), ("e", 4), ("x", 5), ("c again", 2), ("y", None), ("z", 1.5)])
    got = rows(db, "SELECT name, vector FROM ids JOIN zt_rows(?, 'w') ON row = id ORDER BY name", KINDS[kind])
    assert [(name, struct.unpack("<3f", v)) for name, v in got] == [(n, tuple(ROWS[i])) for n, i in
                                                                  (("a", 0), ("c", 2), ("c again", 2), ("e", 4))]
    got = rows(db, "SELECT name, row FROM ids LEFT JOIN zt_rows(?, 'w') ON row = id ORDER BY name", KINDS[kind])
    assert got == [("a", 0), ("c", 2), ("c again", 2), ("e", 4), ("x", None), ("y", None), ("z", None)]


def test_rows_of_tensors_of_any_size_are_found(db, tmp_path):
    elements = (5 << 30) // 4
    path = writer.sparse_file(tmp_path / "large.zt", [elements // 4, 4], "f32", 4 * elements, struct.pack("<4f", 1, 2, 3, 4))
    last = elements // 4 - 1
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'w') WHERE row > ?", path, last - 2) == [
        (last - 1, bytes(16)), (last, struct.pack("<4f", 1, 2, 3, 4))]
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'w', 'u8') WHERE row = ?", path, last) == [(last, b"\1\2\3\4")]
    assert rows(db, "SELECT row FROM zt_rows(?, 'w') LIMIT 1", path) == [(0,)]


def test_a_row_over_the_limit_of_sqlite_is_too_big(db):
    file = writer.write({"w": writer.dense(bytes(60_000), [2, 30_000])})
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    assert [len(v) for v, in rows(db, "SELECT vector FROM zt_rows(?, 'w', 'f16')", file)] == [60_000] * 2
    with pytest.raises(sqlite3.Error) as caught:
        rows(db, "SELECT vector FROM zt_rows(?, 'w')", file)
    assert caught.value.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(caught.value).startswith(place(file, "w"))
    assert rows(db, "SELECT row FROM zt_rows(?, 'w')", file) == [(0,), (1,)]


@pytest.mark.parametrize("kind", ["raw", "zstd", "csr", "coo"])
def test_many_rows_that_each_fit_the_limit_of_sqlite_come_out(db, save, kind):
    data = bytes(i % 251 for i in range(200_000))
    object = {
        "raw": lambda: writer.dense(data, [200, 1000]),
        "zstd": lambda: writer.zstd_parts(writer.dense(data, [200, 1000])),
        "csr": lambda: writer.sparse_csr([200, 1000], range(201), [0] * 200, data[::1000]),
        "coo": lambda: writer.sparse_coo([200, 1000], [(r, 0) for r in range(200)], data[::1000])}[kind]()
    path = save("x.zt", writer.write({"w": object}))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    got = rows(db, "SELECT vector FROM zt_rows(?, 'w', 'u8')", path)
    expected = [data[i:i + 1000] if kind in ("raw", "zstd") else data[i:i + 1] + bytes(999) for i in range(0, len(data), 1000)]
    assert [vector for vector, in got] == expected


# ------------------------------------------------------------------------------------------------------------- sources

def test_a_directory_or_pattern_gives_the_rows_of_each_file_that_has_the_object(db, tree, save):
    save("tree/other.zt", writer.write({"something": writer.dense(b"\x09")}))
    expected = [(f, r, bytes([i + 1] * 4)) for i, f in enumerate(tree.files) for r in range(3)]
    for source in (tree.path, tree.path + "/**/*.zt"):
        assert rows(db, "SELECT path, row, vector FROM zt_rows(?, 'layer1.weight', 'u8')", source) == expected
    assert rows(db, "SELECT path, row FROM zt_rows(?, 'something')", tree.path) == [(tree.path + "/other.zt", 0)]
    assert rows(db, "SELECT * FROM zt_rows(?, 'nothing')", tree.path) == []
    got = rows(db, "SELECT path, row FROM zt_rows(?, 'layer1.weight') WHERE row = 1 AND path LIKE '%/b/%'", tree.path)
    assert got == [(tree.files[1], 1), (tree.files[2], 1)]


def test_the_arguments_are_seen_in_the_hidden_columns(db, sample):
    got = rows(db, """SELECT source, object, dtype, vector FROM zt_rows
                      WHERE source = ? AND object = 'layer1.bias' AND dtype = 'u8'""", sample)
    assert got == [(sample, "layer1.bias", "u8", b"\2")] * 4


def test_it_can_be_given_a_name(db, sample):
    db.execute(f"CREATE VIRTUAL TABLE temp.vectors USING zt_rows({quoted(sample)}, 'layer1.weight', u8)")
    assert rows(db, "SELECT row, vector FROM vectors WHERE row > 0") == [(1, b"\1" * 4), (2, b"\1" * 4)]


def test_a_list_of_dtypes_gives_the_rows_in_each(db, sample):
    got = rows(db, """SELECT dtype, vector FROM zt_rows(?, 'layer1.bias')
                      WHERE dtype IN ('u8', 'f16') AND row = 1 ORDER BY dtype""", sample)
    assert got == [("f16", b"\0\x40"), ("u8", b"\2")]


# ------------------------------------------------------------------------------------------------- what is read, security

@pytest.fixture
def large(save):
    """The path of a file whose blobs, 1024 rows of 256 f32 each, lie from 1 MiB to 3 MiB: `a` all 1.0, `b` all 2.0."""
    objects = {name: writer.dense(struct.pack("<f", x) * (MIB // 4), [1024, 256], "f32") for name, x in (("a", 1), ("b", 2))}
    return save("large.zt", writer.write(objects, first_offset=MIB, gap=MIB))


@pytest.mark.parametrize("condition, first, count", [
    ("row = 500", 500, 1), ("row BETWEEN 10 AND 12", 10, 3), ("row >= 1023", 1023, 1), ("row < 2", 0, 2), ("row = 5000", 0, 0),
    ("row IN (7, 8)", 7, 2), ("row = 2.5", 0, 0)])
def test_chosen_rows_of_raw_data_are_all_that_is_read(trace, large, condition, first, count):
    got = trace(f"""SELECT count(*), sum(length(vector)), max(vector) = min(vector)
                    FROM zt_rows('{large}', 'a') WHERE {condition};""")
    assert got.out.strip() == (f"{count}|{1024 * count}|1" if count else "0||")
    inside = got.bytes_read(large, MIB + 1024 * first, MIB + 1024 * (first + count))
    assert got.bytes_read(large, MIB, 3 * MIB) == inside == 1024 * count


def test_rows_whose_vectors_nobody_asks_for_read_nothing_of_the_tensor(trace, large):
    got = trace(f"SELECT count(*), max(row) FROM zt_rows('{large}', 'a');")
    assert got.out.strip() == "1024|1023"
    assert got.bytes_read(large, MIB, 3 * MIB) == 0


def test_all_rows_read_every_byte_once(trace, large):
    got = trace(f"SELECT sum(length(vector)) FROM zt_rows('{large}', 'b');")
    assert got.out.strip() == str(MIB)
    assert (got.bytes_read(large, MIB, 2 * MIB), got.bytes_read(large, 2 * MIB, 3 * MIB)) == (0, MIB)


def test_the_first_row_of_zstd_data_needs_its_beginning_only(trace, save):
    data = writer.zstd(bytes(range(256)) * 4096)   # 1 MiB in raw blocks of 128 KiB
    path = save("z.zt", writer.write({"w": writer.dense(data, [4096, 256], encoding="zstd", uncompressed_length=MIB)},
                                     first_offset=MIB, gap=MIB))
    got = trace(f"SELECT hex(vector) = '{bytes(range(256)).hex().upper()}' FROM zt_rows('{path}', 'w', 'u8') WHERE row = 1;")
    assert got.out.strip() == "1"
    assert got.bytes_read(path, MIB, 2 * MIB) <= MIB // 2


def test_all_rows_of_zstd_data_are_not_decoded_again_for_each(trace, save):
    data = writer.zstd(bytes(range(256)) * 4096)
    path = save("z.zt", writer.write({"w": writer.dense(data, [4096, 256], encoding="zstd", uncompressed_length=MIB)},
                                     first_offset=MIB, gap=MIB))
    got = trace(f"SELECT count(*), sum(vector = '') FROM zt_rows('{path}', 'w', 'u8');")
    assert got.out.strip() == "4096|0"
    assert got.bytes_read(path, MIB, 2 * MIB + 4096) <= 2 * MIB




# ---- Objects without values

def broken_csr():
    return writer.sparse_csr([4, 3], [0, 1, 2, 3, 4], [0, 1, 9, 1], struct.pack("<4f", 1, 2, 3, 4), "f32")


@pytest.mark.parametrize("make", [lambda: writer.dense(bytes(24), [4, 6], "f33"), broken_csr, lambda: dict(writer.dense(bytes(8), [4, 2]), format="odd")],
                         ids=["dtype", "indices", "format"])
@pytest.mark.parametrize("columns", ["count(*)", "count(row), max(row)", "count(vector)", "count(*), count(vector)", "group_concat(row)"])
@pytest.mark.parametrize("where", ["", "WHERE row < 2", "WHERE row IN (1, 3)", "ORDER BY row DESC"])
def test_an_object_without_values_has_no_rows_whatever_is_asked_for(db, make, columns, where):
    file = writer.write({"w": make()})
    query = f"SELECT {columns} FROM (SELECT row, {'vector' if 'vector' in columns else 'NULL AS vector'} FROM zt_rows(?, 'w', 'f32', ?) {where})"
    assert {value or 0 for value in rows(db, query, file, "skip")[0]} == {0}
    if make is not broken_csr:    # Its first rows can be read
        assert place(file, "w") in message(db, query, file, "abort")


def test_a_sparse_tensor_is_looked_through_once(trace, save):
    n = 50_000
    path = save("s.zt", writer.write({"w": writer.sparse_csr([n, 3], list(range(n + 1)), [1] * n, bytes(4 * n), "f32")}))
    asked = ", ".join(str(row) for row in range(0, n, n // 50))
    got = trace(f"SELECT count(vector) FROM zt_rows('{path}', 'w', 'f32', 'skip') WHERE row IN ({asked});")
    assert got.out.strip() == "50"
    assert got.bytes_read(path, 0, os.path.getsize(path)) < 4 * os.path.getsize(path)


def test_rows_of_a_tensor_that_is_cut_are_there_without_vectors(db):
    """Unlike those of a sparse one, which may have elements anywhere."""
    file = writer.write({"w": writer.dense(writer.zstd(bytes(4096))[:-9], [4, 1024], encoding="zstd", uncompressed_length=4096)})
    assert rows(db, "SELECT row, vector IS NULL FROM zt_rows(?, 'w', 'u8', 'skip')", file) == [(0, 0), (1, 0), (2, 0), (3, 1)]
