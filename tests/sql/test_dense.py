"""zt_dense: the tensor as a row-major array, whole or a slice of it. Conversions are in test_convert.py."""
import sqlite3
import struct

import pytest

import reference
import writer
from support import failure, message, place, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
GENERATIONS = pytest.mark.parametrize("generation", ["0.1", "1.0", "1.1", "1.2"])    # 2 refuses such a file: test_zt2.py
MIB = 1 << 20


# ------------------------------------------------------------------------------------------------------- arguments

# A 5 by 3 tensor of u16: row r is 10r, 10r + 1, 10r + 2.
ROWS = [struct.pack("<3H", *(10 * r + c for c in range(3))) for r in range(5)]
DATA = b"".join(ROWS)
SWAPPED = b"".join(DATA[i:i + 2][::-1] for i in range(0, len(DATA), 2))
KINDS = {
    "raw": writer.write({"w": writer.dense(DATA, [5, 3], "u16")}),
    "zstd": writer.write({"w": writer.dense(writer.zstd(DATA), [5, 3], "u16", encoding="zstd", uncompressed_length=30)}),
    "zstd without a length": writer.write({"w": writer.dense(writer.zstd(DATA), [5, 3], "u16", encoding="zstd")}, "1.1"),
    "several frames": writer.write({"w": writer.dense(writer.zstd(DATA[:7]) + writer.zstd(DATA[7:]), [5, 3], "u16",
                                                      encoding="zstd", uncompressed_length=30)}),
    "1.0": writer.write({"w": writer.dense(DATA, [5, 3], "u16")}, "1.0"),
    "0.1": writer.write({"w": writer.dense(DATA, [5, 3], "u16")}, "0.1"),
    "0.1 zstd": writer.write({"w": writer.dense(writer.zstd(DATA), [5, 3], "u16", encoding="zstd")}, "0.1"),
    "2": writer.write({"w": writer.dense(DATA, [5, 3], "u16")}, "2"),
    "2 seekable": writer.write({"w": writer.seekable_dense(DATA, 7, [5, 3], "u16")}, "2"),
    "2 one frame": writer.write({"w": writer.seekable_dense(DATA, 100, [5, 3], "u16")}, "2"),
    "big-endian": writer.write({"w": writer.dense(SWAPPED, [5, 3], "u16", data_endianness="big")}, "0.1"),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def source(save):
    """source(kind, how): one of the files above, as a path or as its bytes."""
    return lambda kind, how: KINDS[kind] if how == "blob" else save("x.zt", KINDS[kind])


@EACH_KIND
@BOTH_WAYS
def test_two_and_three_arguments_give_the_whole_tensor_in_little_endian(db, source, kind, how):
    file = source(kind, how)
    assert value(db, "SELECT zt_dense(?, 'w')", file) == DATA
    assert value(db, "SELECT zt_dense(?, 'w', 'u16')", file) == DATA
    assert value(db, "SELECT zt_dense(?, 'w', 'i32')", file) == reference.encode("i32", reference.decode("u16", DATA))


@EACH_KIND
@BOTH_WAYS
@pytest.mark.parametrize("first, count", [
    (0, 5), (0, 1), (1, 1), (4, 1), (1, 3), (2, 0), (0, 0), (5, 0), (4, 2), (3, 100), (5, 1), (6, 1), (1 << 40, 1),
    (0, (1 << 63) - 1), (1, (1 << 63) - 1), ((1 << 63) - 1, (1 << 63) - 1)])
def test_a_slice_of_the_first_dimension_is_clipped_at_the_end(db, source, kind, how, first, count):
    file = source(kind, how)
    expected = b"".join(ROWS[first:first + count])
    assert value(db, "SELECT zt_dense(?, 'w', NULL, ?, ?)", file, first, count) == expected
    assert value(db, "SELECT zt_dense(?, 'w', 'f64', ?, ?)", file, first, count) == reference.encode(
        "f64", reference.decode("u16", expected))


@EACH_KIND
@BOTH_WAYS
@pytest.mark.parametrize("first", [0, 1, 4, 5, 6, 1 << 40, (1 << 63) - 1])
def test_a_first_without_a_count_goes_to_the_end(db, source, kind, how, first):
    file = source(kind, how)
    assert value(db, "SELECT zt_dense(?, 'w', NULL, ?)", file, first) == b"".join(ROWS[first:])
    assert value(db, "SELECT zt_dense(?, 'w', 'f64', ?)", file, first) == reference.encode(
        "f64", reference.decode("u16", b"".join(ROWS[first:])))


@pytest.mark.parametrize("arguments, expected", [
    ("NULL", DATA), ("NULL, NULL", DATA), ("NULL, NULL, NULL", DATA), ("'u16', NULL, NULL", DATA), ("'u16', NULL", DATA),
    ("NULL, 2, NULL", b"".join(ROWS[2:])), ("NULL, NULL, 2", b"".join(ROWS[:2])), ("'i16', 4, NULL", ROWS[4])])
def test_a_null_optional_argument_means_its_default(db, arguments, expected):
    assert value(db, f"SELECT zt_dense(?, 'w', {arguments})", KINDS["raw"]) == expected


def test_a_null_source_or_object_gives_null(db):
    assert rows(db, """SELECT zt_dense(NULL, 'w'), zt_dense(?1, NULL), zt_dense(NULL, 'w', 'f32'), zt_dense(?1, NULL, 'f32'),
                              zt_dense(NULL, 'w', 'f32', 0), zt_dense(?1, NULL, 'f32', 0),
                              zt_dense(NULL, 'w', 'f32', 0, 1), zt_dense(?1, NULL, 'f32', 0, 1)""", KINDS["raw"]) == [(None,) * 8]


@pytest.mark.parametrize("arguments", ["", "?1", "?1, 'w', 'f32', 0, 1, 2"])
def test_any_other_number_of_arguments_is_an_error(db, arguments):
    assert "zt_dense" in message(db, f"SELECT zt_dense({arguments}), ?1", KINDS["raw"])


@pytest.mark.parametrize("first, count", [("-1", "1"), ("0", "-1"), ("-5", "-1"), ("0.5", "1"), ("0", "1.5"), ("-1.5", "1"),
                                          ("-9223372036854775808", "1"), ("0", "-9223372036854775808")])
def test_a_negative_or_fractional_slice_is_an_error(db, first, count):
    assert message(db, f"SELECT zt_dense(?, 'w', NULL, {first}, {count})", KINDS["raw"]).startswith("ztensor: ")


@pytest.mark.parametrize("dtype, shown", [("'f33'", "f33"), ("x'663332'", "a BLOB"), ("32", "32")])
def test_a_dtype_that_is_none_is_an_error(db, dtype, shown):
    assert message(db, f"SELECT zt_dense(?, 'w', {dtype})", KINDS["raw"]).startswith(f"ztensor: dtype '{shown}' is not known: there are f64, f32, ")


@pytest.mark.parametrize("sql, word", [("zt_dense(?, 'w', 'f32' || char(0) || 'x')", "the dtype"), ("zt_hash(?, 'w', 'data', 'sha256' || char(0))", "the digest algorithm")])
def test_a_word_with_a_nul_is_not_shown_as_one_that_is_known(db, sql, word):
    assert message(db, f"SELECT {sql}", KINDS["raw"]).endswith(f": {word} has U+0000 in it")


@pytest.mark.parametrize("first", ["-1", "0.5", "'x'", "x'31'"])
def test_a_first_alone_must_be_an_index_too(db, first):
    assert message(db, f"SELECT zt_dense(?, 'w', NULL, {first})", KINDS["raw"]).startswith("ztensor: zt_dense: first must be ")


@pytest.mark.parametrize("shape", [[0], [0, 3], [3, 0], [2, 0, 4], [0, 1 << 62]])
def test_an_empty_tensor_is_an_empty_blob_and_not_null(db, shape):
    file = writer.write({"w": writer.dense(b"", shape, "f32")})
    assert rows(db, "SELECT zt_dense(?1, 'w'), zt_dense(?1, 'w', 'f64'), zt_dense(?1, 'w', NULL, 0, 1)",
                file) == [(b"", b"", b"")]


def test_an_empty_slice_is_an_empty_blob_and_not_null(db):
    assert rows(db, "SELECT typeof(zt_dense(?1, 'w', NULL, 2, 0)), typeof(zt_dense(?1, 'w', 'f32', 9, 1))", KINDS["raw"]) == [
        ("blob", "blob")]


def test_a_tensor_of_rank_0_is_one_element(db):
    file = writer.write({"s": writer.dense(struct.pack("<f", 1.5), [], "f32")})
    assert value(db, "SELECT zt_dense(?, 's')", file) == struct.pack("<f", 1.5)
    assert value(db, "SELECT zt_dense(?, 's', 'f64')", file) == struct.pack("<d", 1.5)


def test_no_slice_is_no_slicing_of_a_tensor_of_rank_0(db):
    # A NULL optional argument means its default, and that is all of it.
    file = writer.write({"s": writer.dense(struct.pack("<f", 1.5), [], "f32")})
    assert value(db, "SELECT zt_dense(?, 's', 'f64', NULL, NULL)", file) == struct.pack("<d", 1.5)


@pytest.mark.parametrize("arguments", ["0", "1", "0, 1", "0, 0", "0, NULL", "NULL, 1", "1, 1"])
def test_slicing_a_tensor_of_rank_0_is_an_error(db, arguments):
    file = writer.write({"s": writer.dense(struct.pack("<f", 1.5), [], "f32")})
    assert message(db, f"SELECT zt_dense(?, 's', NULL, {arguments})", file).startswith(place(file, "s"))


def test_a_tensor_of_rank_1_is_sliced_by_element(db):
    file = writer.write({"w": writer.dense(DATA, [15], "u16")})
    assert value(db, "SELECT zt_dense(?, 'w', NULL, 4, 3)", file) == DATA[8:14]


@pytest.mark.parametrize("dtype", ["i16", "i32", "i64", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"])
def test_big_endian_data_is_swapped_in_units_of_its_width(db, dtype):
    width = reference.WIDTHS[dtype]
    data = bytes(range(1, 6 * width + 1))
    file = writer.write({"w": writer.dense(data, [3, 2], dtype, data_endianness="big")}, "0.1")
    swapped = b"".join(data[i:i + width][::-1] for i in range(0, len(data), width))
    assert value(db, "SELECT zt_dense(?, 'w')", file) == swapped
    assert value(db, "SELECT zt_dense(?, 'w', NULL, 1, 1)", file) == swapped[2 * width:4 * width]
    assert value(db, "SELECT zt_dense(?, 'w', 'f64', 2, 1)", file) == reference.encode(
        "f64", reference.decode(dtype, swapped[4 * width:]))


# ---------------------------------------------------------------------------------------------------- what is missing

def test_a_missing_object_is_named_and_a_close_one_suggested(db, sample):
    text = message(db, "SELECT zt_dense(?, 'layer1.wieght')", sample)
    assert text.startswith(place(sample, "layer1.wieght"))
    assert "did you mean 'layer1.weight'?" in text


def test_a_pattern_is_no_source(db, tree):
    for source in (tree.path, tree.path + "/*.zt"):
        assert message(db, "SELECT zt_dense(?, 'layer1.bias')", source).startswith("ztensor: ")


@GENERATIONS
def test_a_length_that_contradicts_the_shape_is_an_error_of_slices_too(db, generation):
    for data in (DATA[:-2], DATA + b"\0\0", DATA[:-1], b""):
        file = writer.write({"w": writer.dense(data, [5, 3], "u16")}, generation)
        for sql in ("SELECT zt_dense(?, 'w')", "SELECT zt_dense(?, 'w', NULL, 0, 1)", "SELECT zt_dense(?, 'w', 'f32', 0, 0)"):
            assert message(db, sql, file).startswith(place(file, "w"))


# --------------------------------------------------------------------------------------------------------------- sizes

LIMIT = 100_000


@BOTH_WAYS
def test_a_result_over_the_limit_of_sqlite_is_too_big(db, save, how):
    packed = writer.dense(writer.zstd_repeat(b"\x05", LIMIT + 2), [LIMIT // 2 + 1, 2], encoding="zstd",
                          uncompressed_length=LIMIT + 2)
    file = writer.write({"w": packed})
    file = file if how == "blob" else save("x.zt", file)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
    for arguments in ("", ", 'i8'", ", 'i8', 0, 50001", ", 'i16', 0, 25001", ", 'f64', 0, 6251"):
        error = failure(db, f"SELECT zt_dense(?, 'w'{arguments})", file)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
        assert str(error).startswith(place(file, "w"))
    assert value(db, "SELECT zt_dense(?, 'w', 'i8', 0, 50000)", file) == b"\5" * LIMIT
    assert value(db, "SELECT zt_dense(?, 'w', 'i16', 1, 25000)", file) == b"\5\0" * (LIMIT // 2)
    assert value(db, "SELECT zt_dense(?, 'w', 'i64', 50000, 9)", file) == struct.pack("<2q", 5, 5)


def test_a_conversion_that_makes_it_smaller_may_be_of_more_than_the_limit(db, save):
    path = save("x.zt", writer.write({"w": writer.dense(struct.pack("<d", 0.5) * LIMIT, [LIMIT], "f64")}))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
    assert failure(db, "SELECT zt_dense(?, 'w')", path).sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert value(db, "SELECT zt_dense(?, 'w', 'f8_e5m2')", path) == b"\x38" * LIMIT


def test_a_few_stored_bytes_that_mean_a_huge_tensor_are_too_big(db):
    file = writer.write({"s": writer.sparse_coo([1 << 20, 1 << 20], [(1, 2)], b"\x09")})
    error = failure(db, "SELECT zt_dense(?, 's')", file)
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error).startswith(place(file, "s"))


@pytest.mark.parametrize("packed", [False, True])
def test_large_tensors_come_out_whole(db, save, packed):
    count = (40 << 20) + 5
    data = writer.zstd_repeat(b"\x05", count) if packed else b"\x05" * count
    fields = {"encoding": "zstd", "uncompressed_length": count} if packed else {}
    path = save("x.zt", writer.write({"w": writer.dense(data, [count], **fields)}))
    assert value(db, "SELECT zt_dense(?, 'w')", path) == b"\x05" * count
    assert value(db, "SELECT zt_dense(?, 'w', 'u16')", path) == b"\x05\0" * count


def test_slices_work_on_tensors_of_any_size(db, tmp_path):
    # 5 GiB, a hole but for its last bytes: more than a result, and more than 32 bits, can hold.
    elements = (5 << 30) // 4
    path = writer.sparse_file(tmp_path / "large.zt", [elements // 8, 8], "f32", 4 * elements, struct.pack("<8f", *range(8)))
    assert value(db, "SELECT zt_dense(?, 'w', NULL, ?, 9)", path, elements // 8 - 1) == struct.pack("<8f", *range(8))
    assert value(db, "SELECT zt_dense(?, 'w', 'i8', ?, 9)", path, elements // 8 - 2) == bytes(8) + bytes(range(8))
    error = failure(db, "SELECT zt_dense(?, 'w')", path)
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error).startswith(place(path, "w"))


# ---------------------------------------------------------------------------------------------------------- what is read

@pytest.fixture
def large(save):
    """The path of a file whose blobs, 1024 rows of 256 f32 each, lie from 1 MiB to 3 MiB: `a` all 1.0, `b` all 2.0."""
    objects = {name: writer.dense(struct.pack("<f", x) * (MIB // 4), [1024, 256], "f32") for name, x in (("a", 1), ("b", 2))}
    return save("large.zt", writer.write(objects, first_offset=MIB, gap=MIB))


def test_the_whole_reads_only_its_own_component_and_once(trace, large):
    got = trace(f"SELECT length(zt_dense('{large}', 'b', 'f16'));")
    assert got.out.strip() == str(MIB // 2)
    assert (got.bytes_read(large, MIB, 2 * MIB), got.bytes_read(large, 2 * MIB, 3 * MIB)) == (0, MIB)


@pytest.mark.parametrize("dtype, expected", [("NULL", "0000803F" * 512), ("'u8'", "01" * 512)])
def test_a_slice_of_raw_data_reads_only_the_slice(trace, large, dtype, expected):
    got = trace(f"SELECT hex(zt_dense('{large}', 'a', {dtype}, 500, 2));")
    assert got.out.strip() == expected
    assert got.bytes_read(large, MIB, 2 * MIB) == got.bytes_read(large, MIB + 500 * 1024, MIB + 502 * 1024) == 2048
    assert got.bytes_read(large, 2 * MIB, 3 * MIB) == 0


def test_an_empty_slice_reads_nothing_of_the_tensor(trace, large):
    got = trace(f"SELECT length(zt_dense('{large}', 'a', NULL, 5, 0)), length(zt_dense('{large}', 'a', NULL, 5000, 9));")
    assert got.out.strip() == "0|0"
    assert got.bytes_read(large, MIB, 3 * MIB) == 0


def test_a_result_that_is_too_big_is_refused_before_it_is_read(trace, large):
    got = trace(f".limit length 1000000\nSELECT zt_dense('{large}', 'a');\nSELECT zt_dense('{large}', 'a', 'f64', 0, 600);")
    assert got.err.count(f"ztensor: {large}: object 'a': ") == 2
    assert got.bytes_read(large, MIB, 3 * MIB) == 0


def test_a_slice_of_zstd_data_is_read_no_further_than_needed(trace, save):
    data = writer.zstd(bytes(range(256)) * 4096)   # 1 MiB in raw blocks of 128 KiB
    path = save("z.zt", writer.write({"w": writer.dense(data, [4096, 256], encoding="zstd", uncompressed_length=MIB)},
                                     first_offset=MIB, gap=MIB))
    got = trace(f"SELECT hex(zt_dense('{path}', 'w', NULL, 1, 1)) = '{bytes(range(256)).hex().upper()}';")
    assert got.out.strip() == "1"
    assert got.bytes_read(path, MIB, 2 * MIB) <= MIB // 2


# ------------------------------------------------------------------------------------------------------------- security

def test_nofs_makes_no_more_than_the_limit_of_sqlite(connect):
    nofs = connect(entry="sqlite3_ztensor_nofs_init")
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
    bomb = writer.dense(writer.zstd_repeat(b"\1", 1 << 24), [1 << 12, 1 << 12], encoding="zstd", uncompressed_length=1 << 24)
    file = writer.write({"w": bomb})
    # The last row lies behind more decoded bytes than one call may make.
    assert value(nofs, "SELECT zt_dense(?, 'w', NULL, 0, 1)", file) == b"\1" * 4096
    for first in (0, 4095):
        error = failure(nofs, "SELECT zt_dense(?, 'w', NULL, ?, 4096)", file, first)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error).startswith(place(file, "w"))


