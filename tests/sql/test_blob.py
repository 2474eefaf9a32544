"""zt_blob: the decoded bytes of a component, or a range of them."""
import sqlite3
import struct

import pytest

import writer
from support import failure, message, place, rows, value

DATA = bytes(range(100))
KINDS = {
    "raw": writer.write({"w": writer.dense(DATA)}),
    "zstd": writer.write({"w": writer.dense(writer.zstd(DATA), [100], encoding="zstd", uncompressed_length=100)}),
    "zstd without a length": writer.write({"w": writer.dense(writer.zstd(DATA), [100], encoding="zstd")}, "1.1"),
    "several frames": writer.write({"w": writer.dense(writer.zstd(DATA[:30]) + writer.zstd(DATA[30:]), [100], encoding="zstd",
                                                      uncompressed_length=100)}),
    "0.1": writer.write({"w": writer.dense(DATA)}, "0.1"),
    "2": writer.write({"w": writer.dense(DATA)}, "2"),
    "2 seekable": writer.write({"w": writer.seekable_dense(DATA, 30)}, "2"),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


@pytest.fixture
def source(save):
    """source(kind, how): one of the files above, as a path or as its bytes."""
    return lambda kind, how: KINDS[kind] if how == "blob" else save("x.zt", KINDS[kind])


@EACH_KIND
@BOTH_WAYS
def test_two_and_three_arguments_give_the_whole_component(db, source, kind, how):
    file = source(kind, how)
    assert value(db, "SELECT zt_blob(?, 'w')", file) == DATA
    assert value(db, "SELECT zt_blob(?, 'w', 'data')", file) == DATA


@EACH_KIND
@BOTH_WAYS
@pytest.mark.parametrize("start, length", [
    (0, 100), (0, 1), (99, 1), (10, 20), (0, 0), (50, 0), (100, 0), (90, 100), (99, 2), (100, 1), (101, 1), (1 << 62, 5),
    (0, (1 << 63) - 1), (1, (1 << 63) - 1), ((1 << 63) - 1, (1 << 63) - 1)])
def test_a_range_is_clipped_at_the_end(db, source, kind, how, start, length):
    got = value(db, "SELECT zt_blob(?, 'w', 'data', ?, ?)", source(kind, how), start, length)
    assert got == DATA[start:start + length]


@EACH_KIND
@BOTH_WAYS
@pytest.mark.parametrize("start", [0, 1, 30, 99, 100, 101, 1 << 62, (1 << 63) - 1])
def test_a_start_without_a_length_goes_to_the_end(db, source, kind, how, start):
    assert value(db, "SELECT zt_blob(?, 'w', 'data', ?)", source(kind, how), start) == DATA[start:]


@EACH_KIND
def test_an_empty_range_is_an_empty_blob_and_not_null(db, kind):
    assert rows(db, "SELECT typeof(zt_blob(?1, 'w', 'data', 7, 0)), typeof(zt_blob(?1, 'w', 'data', 1000, 5))", KINDS[kind]) == [
        ("blob", "blob")]


def test_an_empty_component_is_an_empty_blob_and_not_null(db):
    file = writer.write({"w": writer.dense(b"", [0, 3]),
                         "z": writer.dense(writer.zstd(b""), [0], encoding="zstd", uncompressed_length=0)})
    assert rows(db, "SELECT zt_blob(?1, 'w'), zt_blob(?1, 'z'), zt_blob(?1, 'w', 'data', 0, 5)", file) == [(b"", b"", b"")]


@pytest.mark.parametrize("arguments, expected", [
    ("NULL", DATA), ("NULL, NULL", DATA), ("NULL, NULL, NULL", DATA), ("'data', NULL, NULL", DATA), ("'data', NULL", DATA),
    ("NULL, 90", DATA[90:]), ("'data', 90, NULL", DATA[90:]),
    ("'data', NULL, 10", DATA[:10]), ("NULL, 10, 10", DATA[10:20])])
def test_a_null_optional_argument_means_its_default(db, arguments, expected):
    assert value(db, f"SELECT zt_blob(?, 'w', {arguments})", KINDS["raw"]) == expected


def test_a_null_object_gives_null(db):
    assert rows(db, """SELECT zt_blob(?1, NULL), zt_blob(?1, NULL, 'data'), zt_blob(?1, NULL, 'data', 0),
                              zt_blob(?1, NULL, 'data', 0, 1)""", KINDS["raw"]) == [(None,) * 4]


@pytest.mark.parametrize("start, length", [("-1", "1"), ("0", "-1"), ("-100", "-1"), ("0.5", "1"), ("0", "1.5"), ("-1.5", "1"),
                                           ("-9223372036854775808", "1"), ("0", "-9223372036854775808")])
def test_a_negative_or_fractional_start_or_length_is_an_error(db, start, length):
    assert message(db, f"SELECT zt_blob(?, 'w', 'data', {start}, {length})", KINDS["raw"]).startswith("ztensor: ")


@pytest.mark.parametrize("start", ["-1", "0.5", "'x'", "x'31'"])
def test_a_start_alone_must_be_an_index_too(db, start):
    assert message(db, f"SELECT zt_blob(?, 'w', 'data', {start})", KINDS["raw"]).startswith("ztensor: zt_blob: start must be ")


@pytest.mark.parametrize("arguments", ["", "?1", "?1, 'w', 'data', 0, 1, 2"])
def test_any_other_number_of_arguments_is_an_error(db, arguments):
    assert "zt_blob" in message(db, f"SELECT zt_blob({arguments}), ?1", KINDS["raw"])


# ---------------------------------------------------------------------------------------------- objects, components

def test_each_component_of_an_object_can_be_had(db):
    file = writer.write({"s": writer.csr()})
    assert rows(db, "SELECT zt_blob(?1, 's', 'values'), zt_blob(?1, 's', 'indices'), zt_blob(?1, 's', 'indptr')", file) == [
        (b"\x07\x09", struct.pack("<2Q", 1, 2), struct.pack("<3Q", 0, 1, 2))]


def test_without_a_component_several_are_an_error_that_lists_them(db):
    file = writer.write({"s": writer.csr()})
    text = message(db, "SELECT zt_blob(?, 's')", file)
    assert text.startswith(place(file, "s"))
    assert all(role in text for role in ("values", "indices", "indptr"))


def test_an_object_without_components_has_no_bytes(db):
    file = writer.write({"n": {"shape": [], "format": "marker"}})
    assert message(db, "SELECT zt_blob(?, 'n')", file).startswith(place(file, "n"))


def test_bytes_are_in_the_byte_order_of_the_file(db):
    data = struct.pack(">2f", 1.0, 2.0)
    file = writer.write({"w": writer.dense(data, [2], "f32", data_endianness="big")}, "0.1")
    assert value(db, "SELECT zt_blob(?, 'w')", file) == data
    assert rows(db, "SELECT byte_order, data FROM zt_components(?)", file) == [("big", data)]


def test_names_are_compared_exactly(db):
    names = {"w": b"1", "W": b"2", "w ": b"3", "": b"4", "1": b"5", "é": b"6", "e\u0301": b"7", "x'y": b"8", "日本": b"9"}
    file = writer.write({name: writer.dense(data) for name, data in names.items()})
    assert {n: value(db, "SELECT zt_blob(?, ?)", file, n) for n in names} == names
    for absent in ("É", "w  ", "ww"):
        assert message(db, "SELECT zt_blob(?, ?)", file, absent).startswith(place(file, absent))


def test_a_name_is_not_cut_at_a_nul(db):
    file = writer.write({"w": writer.dense(b"1")})
    assert message(db, "SELECT zt_blob(?, ?)", file, "w\0x").startswith("ztensor: <blob>: ")
    assert rows(db, "SELECT object FROM zt_objects(?) WHERE object = ?", file, "w\0x") == []


def test_a_missing_object_is_named_and_a_close_one_suggested(db, sample):
    text = message(db, "SELECT zt_blob(?, 'layer1.wieght')", sample)
    assert text.startswith(place(sample, "layer1.wieght"))
    assert "did you mean 'layer1.weight'?" in text


def test_nothing_is_suggested_where_nothing_is_close(db, sample):
    text = message(db, "SELECT zt_blob(?, 'optimizer.step')", sample)
    assert text.startswith(place(sample, "optimizer.step"))
    assert "did you mean" not in text


def test_a_missing_component_is_named_and_so_is_the_one_that_was_meant(db):
    file = writer.write({"s": writer.csr()})
    text = message(db, "SELECT zt_blob(?, 's', 'indptrs')", file)
    assert text.startswith(place(file, "s", "indptrs"))
    assert "'indptr'" in text


def test_a_missing_object_of_an_empty_file_is_an_error(db):
    file = writer.write({})
    assert message(db, "SELECT zt_blob(?, 'w')", file).startswith(place(file, "w"))


# ------------------------------------------------------------------------------------------------------------- sizes

LIMIT = 100_000


@pytest.mark.parametrize("generation", ["0.1", "1.0", "1.1", "1.2"])
@BOTH_WAYS
def test_a_result_over_the_limit_of_sqlite_is_too_big(db, save, generation, how):
    # A BLOB's file itself must fit: only zstd makes more of it.
    packed = writer.dense(writer.zstd_repeat(b"\x05", LIMIT + 1), [LIMIT + 1], encoding="zstd")
    file = writer.write({"w": packed}, generation)
    file = file if how == "blob" else save("x.zt", file)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
    for sql in ("SELECT zt_blob(?, 'w')", "SELECT data FROM zt_components(?)", "SELECT zt_blob(?, 'w', 'data', 0, 1 << 40)"):
        error = failure(db, sql, file)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
        assert str(error).startswith(place(file, "w", "data"))
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 1, 1 << 40)", file) == b"\x05" * LIMIT
    assert value(db, "SELECT zt_blob(?, 'w', 'data', ?, 9)", file, LIMIT - 2) == b"\x05\x05\x05"


def test_raw_bytes_over_the_limit_of_sqlite_are_too_big(db, save):
    path = save("x.zt", writer.write({"w": writer.dense(bytes(LIMIT + 1)), "v": writer.dense(b"\x06" * LIMIT)}))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LIMIT)
    for sql in ("SELECT zt_blob(?, 'w')", "SELECT stored FROM zt_components(?)", "SELECT data FROM zt_components(?)"):
        error = failure(db, sql, path)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
        assert str(error).startswith(place(path, "w", "data"))
    assert value(db, "SELECT zt_blob(?, 'v')", path) == b"\x06" * LIMIT


def test_ranges_work_on_tensors_of_any_size(db, tmp_path):
    # 5 GiB, a hole but for its last bytes: more than a result, and more than 32 bits, can hold.
    size = 5 << 30
    whole = writer.write({"w": {"shape": [size], "components": {"data": {"offset": 64, "length": size}}}})
    path = tmp_path / "large.zt"
    with open(path, "wb") as file:
        file.write(whole[:8])
        file.seek(64 + size - 4)
        file.write(b"tail" + whole[8:])
    path = str(path)
    assert value(db, "SELECT zt_blob(?, 'w', 'data', ?, 100)", path, size - 6) == b"\0\0tail"
    assert value(db, "SELECT zt_blob(?, 'w', NULL, ?)", path, size - 6) == b"\0\0tail"
    assert value(db, "SELECT zt_blob(?, 'w', 'data', ?, 2)", path, 1 << 32) == b"\0\0"
    assert rows(db, "SELECT length, decoded_length FROM zt_components(?)", path) == [(size, size)]
    error = failure(db, "SELECT zt_blob(?, 'w')", path)
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert str(error).startswith(place(path, "w", "data"))


def test_a_wrong_declared_length_is_an_error_for_the_whole(db):
    for stated in (99, 101):
        file = writer.write({"w": writer.dense(writer.zstd(DATA), [100], encoding="zstd", uncompressed_length=stated)})
        assert message(db, "SELECT zt_blob(?, 'w')", file).startswith(place(file, "w", "data"))


MANY = bytes(range(256)) * 40_000   # Enough for threads of the call's own


@pytest.mark.parametrize("function", ["zt_blob", "zt_dense"])
def test_any_number_of_threads_gives_the_same_bytes_of_zstd_in_frames(db, save, function):
    stored = writer.zstd_frames(MANY, 1_000_000)
    file = save("x.zt", writer.write({"w": writer.dense(stored, [len(MANY)], encoding="zstd", uncompressed_length=len(MANY))}))
    for threads in (1, 2, 8):
        value(db, "SELECT zt_threads(?)", threads)
        assert value(db, f"SELECT {function}(?, 'w')", file) == MANY


@pytest.mark.parametrize("damage, text", [
    (lambda frames: frames[:3_000_000] + frames[3_000_001:], "zstd: "),
    (lambda frames: frames[:-1], "zstd: Src size is incorrect"),
    (lambda frames: frames + b"x", "zstd: "),
    (lambda frames: frames + writer.zstd(b"y", 1), "zstd: decodes to more than the 10240000 bytes that the manifest states"),
    (lambda frames: writer.zstd(b"", 1) + frames, "zstd: "),
])
def test_any_number_of_threads_gives_the_same_error_about_zstd_in_frames(db, save, damage, text):
    stored = damage(writer.zstd_frames(MANY, 1_000_000))
    file = save("x.zt", writer.write({"w": writer.dense(stored, [len(MANY)], encoding="zstd", uncompressed_length=len(MANY))}))
    told = set()
    for threads in (1, 2, 8):
        value(db, "SELECT zt_threads(?)", threads)
        told.add(message(db, "SELECT zt_blob(?, 'w')", file))
    assert len(told) == 1
    assert text in told.pop()


def test_zstd_of_a_sparse_object_is_decoded_though_its_length_is_unknown(db):
    object = writer.csr()
    object["components"]["values"].update(bytes=writer.zstd(b"\x07\x09"), encoding="zstd")
    file = writer.write({"s": object}, "1.1")
    assert rows(db, "SELECT decoded_length, data FROM zt_components(?) WHERE component = 'values'", file) == [(None, b"\x07\x09")]
    assert value(db, "SELECT zt_blob(?, 's', 'values', 1, 1)", file) == b"\x09"
