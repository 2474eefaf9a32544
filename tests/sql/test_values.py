"""zt_json, zt_value and zt_hash: a tensor as text, one element of it, a digest of its bytes."""
import hashlib
import json
import math
import re
import sqlite3
import struct

import pytest

import corpus
import reference
import writer
from support import failure, message, place, prefix, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
GOLDEN = pytest.mark.parametrize("name, file, objects", **corpus.golden_objects(corpus.has_dense))
MIB = 1 << 20


def file_of(values, dtype, shape=None):
    return writer.write({"w": writer.typed(reference.encode(dtype, values), [len(values)] if shape is None else shape, dtype)})


# -------------------------------------------------------------------------------------------------------------- zt_json

def as_json(shape, values):
    """The text that is expected; spaces there are none."""
    def text(part):
        return "[" + ",".join(map(text, part)) + "]" if isinstance(part, list) else reference.number(part)

    return text(reference.nested(shape, values))


def meaning(text):
    """JSON with its numbers as (text of an integer) or (repr of a double): tells 1 from 1.0 and -0.0 from 0.0."""
    return json.loads(text, parse_int=lambda digits: ("integer", digits),
                      parse_float=lambda digits: ("real", repr(float(digits))))


@pytest.mark.parametrize("dtype", reference.STORED)
def test_json_of_every_type(db, dtype):
    data = bytes([0, 1, 2, 255]) if dtype == "bool" else bytes(range(256)) + bytes.fromhex("ffffffffffffffff0000000000000080" * 2)
    values = reference.decode(dtype, data)
    shape = [len(values) // 2, 2]
    text = value(db, "SELECT zt_json(?, 'w')", writer.write({"w": writer.typed(data, shape, dtype)}))
    assert meaning(text) == meaning(as_json(shape, values))


@pytest.mark.parametrize("shape", [[6], [2, 3], [3, 2], [6, 1], [1, 6], [1, 2, 3], [3, 1, 2, 1, 1]])
def test_json_is_nested_like_the_shape(db, shape):
    numbers = list(range(6))
    assert json.loads(value(db, "SELECT zt_json(?, 'w')", file_of(numbers, "u8", shape))) == reference.nested(shape, numbers)


@pytest.mark.parametrize("dtype, number, text",
                         [("f32", 1.5, "1.5"), ("i64", -7, "-7"), ("bool", True, "true"), ("f64", math.nan, "null"),
                                                 ("f64", math.inf, "9.0e+999"), ("bf16", -math.inf, "-9.0e+999")])
def test_json_of_a_scalar_is_the_bare_value(db, dtype, number, text):
    assert value(db, "SELECT zt_json(?, 'w')", file_of([number], dtype, [])) == text


@pytest.mark.parametrize("shape, text", [([0], "[]"), ([0, 3], "[]"), ([3, 0], "[[],[],[]]"), ([2, 0, 4], "[[],[]]"),
                                         ([1, 2, 0], "[[[],[]]]"),
                                         ([0, 9223372036854775813], "[]")])
def test_json_of_an_empty_tensor(db, shape, text):
    assert value(db, "SELECT zt_json(?, 'w')", writer.write({"w": writer.dense(b"", shape, "f32")})) == text


@pytest.mark.parametrize("shape", [[(1 << 63) + 5, 0], [1 << 40, 0, 3], [1000, 1000, 1000, 0], [1 << 62, 1 << 62, 1 << 62, 0]])
def test_json_of_an_endless_row_of_nothing_is_too_big(db, shape):
    file = writer.write({"w": writer.dense(b"", shape, "f32")})
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1_000_000)
    error = failure(db, "SELECT zt_json(?, 'w')", file)
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error).startswith(place(file, "w"))


def test_json_that_is_too_big_is_refused_before_it_is_made(shell, save):
    # The most memory that the shell has had, in KiB. A limit of 1 GB is no leave to take that much for 100 bytes of a file.
    path = save("x.zt", writer.write({"w": writer.dense(b"", [1 << 40, 0], "f32")}))
    got = shell(f"SELECT zt_json('{path}', 'w');\n.shell grep VmHWM /proc/$PPID/status")
    assert f"ztensor: {path}: object 'w': " in got.err
    assert int(re.search(r"VmHWM:\s+(\d+) kB", got.out)[1]) < 100 << 10


@pytest.mark.parametrize("number", [0.1, 1 / 3, 2 / 3, 1e21, 1e22, 1e23, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                                    123456789012345680.0, 0.30000000000000004, 9007199254740993.0, 1e15, 1e16, 1e17, 4.35, 100.0,
                                    1e-5, 1e-7, 2.5e-10, -1.5e300, 8.41e21, 2.0 ** 62, 2.0 ** 70, 5e22,
                                    9.5367431640625e-07, 1.0, -0.0, 0.0])
def test_json_has_the_fewest_digits_that_read_back_as_the_same_double(db, number):
    text = value(db, "SELECT zt_json(?, 'w')", file_of([number], "f64", []))
    assert repr(float(text)) == repr(number)
    assert re.fullmatch(r"-?\d+(\.\d+)?([eE][-+]?\d+)?", text) and re.search(r"[.eE]", text)
    assert len(digits(text)) <= len(digits(repr(number)))


def digits(text):
    """The significant digits of a number."""
    return re.split("[eE]", text.lstrip("-"))[0].replace(".", "").strip("0") or "0"


def test_json_of_narrow_floats_is_that_of_the_same_doubles(db):
    assert value(db, "SELECT zt_json(?, 'w')", file_of([0.1, 3.0], "f32")) == "[0.10000000149011612,3.0]"
    assert value(db, "SELECT zt_json(?, 'w')", file_of([0.1, 3.0], "f16")) == "[0.0999755859375,3.0]"


def test_json_of_many_random_doubles_reads_back(db):
    data = hashlib.shake_256(b"doubles").digest(8 * 20_000)
    text = value(db, "SELECT zt_json(?, 'w')", writer.write({"w": writer.dense(data, [20_000], "f64")}))
    values = reference.decode("f64", data)
    assert meaning(text) == meaning(as_json([20_000], values))
    finite = [v for v in values if math.isfinite(v)]
    shown = [t for t in text.strip("[]").split(",") if t != "null" and "999" not in t[-3:]]
    assert [t for t, v in zip(shown, finite) if len(digits(t)) > len(digits(repr(v)))] == []


def test_json_of_many_elements_is_whole(db):
    data = (b"\1\2\3\4\5" * 60_001)
    for object in (writer.dense(data, [5, 60_001]), writer.zstd_parts(writer.dense(data, [5, 60_001]))):
        text = value(db, "SELECT zt_json(?, 'w')", writer.write({"w": object}))
        assert json.loads(text) == reference.nested([5, 60_001], list(data))


@pytest.mark.parametrize("dtype", reference.STORED)
@pytest.mark.parametrize("to", ["f64", "f16", "i8", "bool", "f8_e5m2", "f4_e2m1", "complex64"])
def test_json_of_another_type_is_that_of_the_converted_values(db, dtype, to):
    file = file_of([True, False, True] if dtype == "bool" else [1, 2, 4, 1] if dtype == "f8_e8m0" else [1, 0, 3, 2], dtype)
    if dtype.startswith("complex") and not to.startswith("complex"):
        assert f"cannot become {to}" in message(db, "SELECT zt_json(?, 'w', ?)", file, to)
        return
    n, = json.loads(value(db, "SELECT shape FROM zt_objects(?)", file))
    converted = reference.decode(to, value(db, "SELECT zt_dense(?, 'w', ?)", file, to), n)
    assert meaning(value(db, "SELECT zt_json(?, 'w', ?)", file, to)) == meaning(as_json([n], converted))


@pytest.mark.parametrize("kind", ["raw", "zstd", "csr", "coo"])
@pytest.mark.parametrize("first, count", [(0, 3), (0, 1), (1, 1), (2, 1), (1, 9), (3, 1), (4, 1), (1, 0), (0, 0), (1, None),
                                          (None, 2), (None, None), (0, (1 << 63) - 1), ((1 << 63) - 1, (1 << 63) - 1)])
def test_json_of_a_slice_is_that_of_its_rows(db, kind, first, count):
    object = {"raw": writer.dense(bytes([0, 7, 0, 0, 0, 9]), [3, 2]),
              "zstd": writer.zstd_parts(writer.dense(bytes([0, 7, 0, 0, 0, 9]), [3, 2])),
              "csr": writer.sparse_csr([3, 2], [0, 1, 1, 2], [1, 1], b"\7\x09"),
              "coo": writer.sparse_coo([3, 2], [(0, 1), (2, 1)], b"\7\x09")}[kind]
    file = writer.write({"w": object})
    end = 3 if count is None else (first or 0) + count
    expected = [[0, 7], [0, 0], [0, 9]][first or 0:end]
    assert json.loads(value(db, "SELECT zt_json(?, 'w', NULL, ?, ?)", file, first, count)) == expected
    assert value(db, "SELECT zt_json(?, 'w', 'f32', ?, ?)", file, first, count) == str(
        [list(map(float, row)) for row in expected]).replace(" ", "")
    if count is None:
        assert json.loads(value(db, "SELECT zt_json(?, 'w', NULL, ?)", file, first)) == expected


@pytest.mark.parametrize("shape, first, count, text", [
    ([0], 0, 1, "[]"), ([0, 3], 0, 1, "[]"), ([3, 0], 0, 3, "[[],[],[]]"), ([3, 0], 1, 1, "[[]]"), ([3, 0], 1, None, "[[],[]]"),
    ([3, 0], 3, 1, "[]"), ([2, 2, 0], 1, 5, "[[[],[]]]"), ([1 << 62, 0], (1 << 62) - 2, None, "[[],[]]"),
    ([1 << 62, 0], 5, 1, "[[]]")])
def test_json_of_a_slice_of_an_empty_tensor(db, shape, first, count, text):
    file = writer.write({"w": writer.dense(b"", shape, "f32")})
    assert value(db, "SELECT zt_json(?, 'w', NULL, ?, ?)", file, first, count) == text


def test_json_of_a_slice_of_a_scalar_is_an_error(db):
    file = file_of([1.5], "f32", [])
    assert value(db, "SELECT zt_json(?, 'w', 'f64', NULL, NULL)", file) == "1.5"
    for arguments in ("0", "0, 1", "NULL, 1", "0, NULL"):
        assert message(db, f"SELECT zt_json(?, 'w', NULL, {arguments})", file) == place(file, "w") + (
            "a scalar has no first dimension to slice")


@pytest.mark.parametrize("arguments, what", [("NULL, -1", "first"), ("NULL, 0.5, 1", "first"), ("NULL, 0, -1", "count"),
                                             ("NULL, 0, 'x'", "count")])
def test_json_of_a_slice_that_is_none_is_an_error(db, arguments, what):
    assert message(db, f"SELECT zt_json(?, 'w', {arguments})", file_of([1], "u8")).startswith(f"ztensor: zt_json: {what} must be ")


def test_json_names_the_element_that_the_type_does_not_have(db):
    file = file_of([1, 2, 3, 300], "i16", [2, 2])
    text = place(file, "w") + "element [1,1] is 300, which u8 does not have"
    assert message(db, "SELECT zt_json(?, 'w', 'u8')", file) == text
    assert message(db, "SELECT zt_json(?, 'w', 'u8', 1)", file) == text
    assert value(db, "SELECT zt_json(?, 'w', 'u8', 0, 1)", file) == "[[1,2]]"


def test_json_of_many_converted_elements_is_whole(db):
    data = b"\1\2\3\4\5" * 60_001
    file = writer.write({"w": writer.zstd_parts(writer.dense(data, [60_001, 5]))})
    assert json.loads(value(db, "SELECT zt_json(?, 'w', 'f64', 1)", file)) == [[1.0, 2.0, 3.0, 4.0, 5.0]] * 60_000


def test_json_of_a_slice_may_be_of_more_than_the_limit(db):
    file = writer.write({"w": writer.dense(bytes(90_000), [90_000])})
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    assert failure(db, "SELECT zt_json(?, 'w')", file).sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert value(db, "SELECT zt_json(?, 'w', NULL, 89998)", file) == "[0,0]"
    assert failure(db, "SELECT zt_json(?, 'w', 'f32', 0, 25000)", file).sqlite_errorcode == sqlite3.SQLITE_TOOBIG


def test_json_has_the_json_subtype(db):
    file = writer.write({"w": writer.dense(b"\1\2", [1, 2]), "s": writer.dense(b"\3", []), "t": writer.dense(b"\1", [], "bool")})
    assert value(db, "SELECT json_array(zt_json(?1, 'w'), zt_json(?1, 's'), zt_json(?1, 't'))", file) == "[[[1,2]],3,true]"
    assert value(db, "SELECT json_array(zt_json(?1, 'w', 'i8'), zt_json(?1, 'w', NULL, 0), zt_json(?1, 'w', NULL, 1, 1))",
                 file) == "[[[1,2]],[[1,2]],[]]"


def test_json_feeds_json_each(db):
    assert rows(db, "SELECT value, type FROM json_each(zt_json(?, 'w'))", file_of([1.0, 2.5, math.nan], "f32")) == [
        (1.0, "real"), (2.5, "real"), (None, "null")]
    assert rows(db, "SELECT value, type FROM json_each(zt_json(?, 'w'))", file_of([1, -2], "i8")) == [
        (1, "integer"), (-2, "integer")]


@GOLDEN
@BOTH_WAYS
def test_json_of_golden_objects_is_that_of_their_dense_form(db, how, name, file, objects):
    source = corpus.source_of(file, how)
    for object in corpus.in_reach(objects, how):
        dtype = corpus.element_type(object)
        # That these bytes are the right ones is tested in test_dense.py.
        values = reference.decode(dtype, value(db, "SELECT zt_dense(?, ?)", source, object["name"]), object["elements"])
        if max(object["shape"], default=0) > 1 << 32:
            continue    # An endless row of empty rows: above
        text = value(db, "SELECT zt_json(?, ?)", source, object["name"])
        assert meaning(text) == meaning(as_json(object["shape"], values))
        for position, number in corpus.sample_values(object):
            part = meaning(text)
            for i in corpus.coordinates(object["shape"], position):
                part = part[i]
            assert part == meaning(reference.number(number))


def test_json_over_the_limit_of_sqlite_is_too_big(db):
    for shape, count in (([50_001], 50_001), ([25_001, 2], 50_002)):
        file = writer.write({"w": writer.dense(bytes(count), shape)})
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
        error = failure(db, "SELECT zt_json(?, 'w')", file)
        assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG and str(error).startswith(place(file, "w"))
    file = writer.write({"w": writer.dense(bytes(49_000))})
    assert len(value(db, "SELECT zt_json(?, 'w')", file)) == 98_001


# ------------------------------------------------------------------------------------------------------------- zt_value

@pytest.mark.parametrize("dtype", reference.STORED)
def test_one_element_of_every_type(db, dtype):
    data = bytes(range(240, 256)) + bytes.fromhex("ffffffffffffffff0000000000000080" * 2)
    data = bytes([0, 1, 2, 255]) if dtype == "bool" else data
    file = writer.write({"w": writer.typed(data, [len(reference.decode(dtype, data))], dtype)})
    for i, wanted in enumerate(reference.decode(dtype, data)):
        shown = value(db, "SELECT zt_value(?, 'w', ?)", file, i)
        if isinstance(wanted, complex):
            assert meaning(shown) == meaning(reference.shown(dtype, wanted))
        else:
            assert repr(shown) == repr(reference.shown(dtype, wanted))


@pytest.mark.parametrize("dtype, number, kind, shown", [
    ("u8", 5, "integer", 5), ("i64", -(1 << 63), "integer", -(1 << 63)), ("u64", (1 << 63) - 1, "integer", (1 << 63) - 1),
    ("u64", 1 << 63, "text", "9223372036854775808"), ("u64", (1 << 64) - 1, "text", "18446744073709551615"),
    ("bool", True, "integer", 1),
    ("f32", 2.0, "real", 2.0), ("f64", math.inf, "real", math.inf), ("f16", -math.inf, "real", -math.inf),
    ("bf16", math.nan, "null", None),
    ("f8_e5m2", 0.5, "real", 0.5)])
def test_values_have_the_storage_class_of_their_type(db, dtype, number, kind, shown):
    assert rows(db, "SELECT typeof(zt_value(?1, 'w', 0)), zt_value(?1, 'w', 0)", file_of([number], dtype)) == [(kind, shown)]


def test_a_complex_element_is_json(db):
    file = file_of([1.5 - 2j, complex(math.nan, -math.inf)], "complex64")
    got = rows(db, "SELECT typeof(zt_value(?1, 'w', 0)), zt_value(?1, 'w', 0), zt_value(?1, 'w', 1)", file)[0]
    assert (got[0], meaning(got[1]), meaning(got[2])) == ("text", meaning("[1.5,-2.0]"), meaning("[null,-9.0e+999]"))
    assert "-9.0e+999" in got[2]


@pytest.mark.parametrize("shape", [[6], [2, 3], [3, 2], [1, 2, 3], [3, 1, 2, 1, 1]])
def test_indices_are_zero_based_and_one_for_each_dimension(db, shape):
    file = file_of([10, 11, 12, 13, 14, 15], "u8", shape)
    marks = ", ?" * len(shape)
    for position in range(6):
        assert value(db, f"SELECT zt_value(?, 'w'{marks})", file, *corpus.coordinates(shape, position)) == 10 + position


def test_a_scalar_needs_no_index(db):
    file = file_of([2.5], "f64", [])
    assert value(db, "SELECT zt_value(?, 'w')", file) == 2.5
    assert message(db, "SELECT zt_value(?, 'w', 0)", file).startswith(place(file, "w"))


def test_sixty_four_indices(db):
    file = writer.write({"w": writer.dense(b"\7\x09", [1] * 63 + [2])})
    assert value(db, f"SELECT zt_value(?, 'w'{', 0' * 63}, 1)", file) == 9


@pytest.mark.parametrize("indices", ["", ", 0", ", 0, 0, 0", ", 2, 0", ", 0, 3", ", -1, 0", ", 0, -1", ", 0.5, 0", ", 0, 1.5",
                                     ", 1 << 62, 0", ", 9223372036854775807, 9223372036854775807", ", -9223372036854775808, 0",
                                     ", 1e300, 0", ", 'x', 0", ", X'30', 0"])
def test_wrong_indices_are_an_error(db, indices):
    file = file_of(list(range(6)), "u8", [2, 3])
    assert message(db, f"SELECT zt_value(?, 'w'{indices})", file).startswith("ztensor: ")


def test_an_index_out_of_range_is_named(db):
    file = file_of(list(range(6)), "u8", [2, 3])
    text = message(db, "SELECT zt_value(?, 'w', 1, 77)", file)
    assert text.startswith(place(file, "w")) and "77" in text


@pytest.mark.parametrize("shape", [[0], [0, 3], [3, 0]])
def test_an_empty_tensor_has_no_element(db, shape):
    file = writer.write({"w": writer.dense(b"", shape, "f32")})
    assert message(db, f"SELECT zt_value(?, 'w'{', 0' * len(shape)})", file).startswith(place(file, "w"))


def test_a_null_source_or_object_gives_null(db, sample):
    assert rows(db, """SELECT zt_value(NULL, 'w', 0), zt_value(?1, NULL, 0), zt_json(NULL, 'w'), zt_json(?1, NULL),
                              zt_json(NULL, 'w', 'f32', 0, 1), zt_json(?1, NULL, 'f32', 0), zt_json(?1, NULL, 'f32'),
                              zt_hash(NULL, 'w', 'sha256'), zt_hash(?1, NULL, 'sha256'),
                              zt_hash(NULL, 'w', NULL, 'sha256'), zt_hash(?1, NULL, NULL, 'sha256')""", sample) == [(None,) * 11]


@GOLDEN
@BOTH_WAYS
def test_samples_of_golden_objects_are_what_zt_value_gives(db, how, name, file, objects):
    source = corpus.source_of(file, how)
    for object in corpus.in_reach(objects, how):
        marks = ", ?" * len(object["shape"])
        for position, number in corpus.sample_values(object):
            shown = value(db, f"SELECT zt_value(?, ?{marks})", source, object["name"],
                          *corpus.coordinates(object["shape"], position))
            if isinstance(number, complex):
                assert meaning(shown) == meaning(reference.shown(None, number))
            else:
                assert repr(shown) == repr(reference.shown(None, number))


@pytest.mark.parametrize("object", [
    writer.sparse_csr([2, 3], [0, 1, 2], [1, 2], b"\7\x09"), writer.sparse_coo([2, 3], [(1, 2), (0, 1)], b"\x09\7"),
    writer.zstd_parts(writer.dense(bytes([0, 7, 0, 0, 0, 9]), [2, 3]))])
def test_every_kind_of_object_has_values(db, object):
    file = writer.write({"w": object})
    assert [value(db, "SELECT zt_value(?, 'w', ?, ?)", file, i // 3, i % 3) for i in range(6)] == [0, 7, 0, 0, 0, 9]


def test_values_of_big_endian_data(db):
    file = writer.write({"w": writer.dense(struct.pack(">3h", 1, -2, 300), [3], "i16", data_endianness="big")}, "0.1")
    sql = "SELECT zt_value(?1, 'w', 0), zt_value(?1, 'w', 1), zt_value(?1, 'w', 2), zt_json(?1, 'w')"
    assert rows(db, sql, file) == [(1, -2, 300, "[1,-2,300]")]


def test_values_of_tensors_of_any_size(db, tmp_path):
    elements = (5 << 30) // 4
    path = writer.sparse_file(tmp_path / "large.zt", [elements // 4, 4], "f32", 4 * elements, struct.pack("<2f", 1.5, 2.5))
    assert value(db, "SELECT zt_value(?, 'w', ?, 3)", path, elements // 4 - 1) == 2.5
    assert value(db, "SELECT zt_value(?, 'w', ?, 2)", path, elements // 4 - 1) == 1.5
    assert value(db, "SELECT zt_value(?, 'w', 0, 0)", path) == 0.0


# -------------------------------------------------------------------------------------------------------------- zt_hash

def patterned(count):
    return bytes(i * 31 % 251 for i in range(count))


def sha256(data):
    return "sha256:" + hashlib.sha256(data).hexdigest()


def crc32c(data):
    """RFC 3720, one bit after the other."""
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return f"crc32c:{crc ^ 0xffffffff:08x}"


# XXH3-64 with seed 0 of patterned(n), by the Python package xxhash: every branch of the algorithm by length.
XXH3 = {
    0: "2d06800538d394c2", 1: "c44bdff4074eecdb", 3: "3698b80191e625f9", 4: "2e4ac2f1c52157fc", 8: "60e1baa91347a1f2",
    9: "9c88fc32c37b56cb",
    16: "8626370b70d8ac70", 17: "aa7a5f479409a664", 64: "5a3c985ddf6e1a7c", 128: "040e97756280237a", 129: "f0f4dc98ce461dfd",
    240: "8acecb90be72b9c3", 241: "82d3ebf50a3e9c42", 512: "683dcf374dfee2e2", 1024: "cbdff56b050f2c1c", 1025: "9babf50235cea0a0",
    100_000: "02df1e985a776b74"}


@pytest.mark.parametrize("count", XXH3)
@pytest.mark.parametrize("encoding", ["raw", "zstd", "two frames"])
def test_digests_are_over_the_decoded_bytes(db, count, encoding):
    data = patterned(count)
    object = writer.dense(data)
    if encoding != "raw":
        stored = writer.zstd(data) if encoding == "zstd" else writer.zstd(data[:count // 3]) + writer.zstd(data[count // 3:])
        object = writer.dense(stored, [count], encoding="zstd", uncompressed_length=count)
    file = writer.write({"w": object})
    for algorithm, digest in (("sha256", sha256(data)), ("crc32c", crc32c(data)), ("xxh3", "xxh3:" + XXH3[count])):
        for component in (None, "data"):
            assert value(db, "SELECT zt_hash(?, 'w', ?, ?)", file, component, algorithm) == digest


def test_a_well_known_crc32c(db):
    file = writer.write({"w": writer.dense(b"123456789")})
    assert value(db, "SELECT zt_hash(?, 'w', NULL, 'crc32c')", file) == "crc32c:e3069283"


def test_digests_keep_their_leading_zeros(db):
    # So has the xxh3 of 128 bytes, above.
    data = next(bytes([a, b]) for a in range(256) for b in range(256) if crc32c(bytes([a, b])).startswith("crc32c:00"))
    assert value(db, "SELECT zt_hash(?, 'w', NULL, 'crc32c')", writer.write({"w": writer.dense(data)})) == crc32c(data)


def test_big_endian_bytes_are_hashed_as_they_are(db):
    data = struct.pack(">3h", 1, 2, 3)
    file = writer.write({"w": writer.dense(data, [3], "i16", data_endianness="big")}, "0.1")
    assert value(db, "SELECT zt_hash(?, 'w', NULL, 'sha256')", file) == sha256(data)


@pytest.mark.parametrize("name, file, expected", corpus.golden(), ids=[n for n, _, _ in corpus.golden()])
def test_golden_components_have_the_sha256_of_their_expectation(db, name, file, expected):
    for object, component in corpus.components_of(expected):
        at = str(file), object["name"], component["name"]
        if component["decoded_sha256"] is None:
            assert message(db, "SELECT zt_hash(?, ?, ?, 'sha256')", *at).startswith(place(*at))
        else:
            assert value(db, "SELECT zt_hash(?, ?, ?, 'sha256')", *at) == "sha256:" + component["decoded_sha256"]


def test_without_a_component_it_is_the_only_one(db, sample):
    assert value(db, "SELECT zt_hash(?, 'layer1.bias', NULL, 'sha256')", sample) == sha256(b"\2" * 4)
    file = writer.write({"s": writer.csr()})
    text = message(db, "SELECT zt_hash(?, 's', NULL, 'sha256')", file)
    assert text.startswith(place(file, "s")) and all(role in text for role in ("values", "indices", "indptr"))
    assert value(db, "SELECT zt_hash(?, 's', 'values', 'sha256')", file) == sha256(b"\7\x09")


@pytest.mark.parametrize("algorithm", ["md5", "", "SHA256", "xxh64", "sha256:", "crc32", 256, b"sha256"])
def test_an_unknown_algorithm_is_an_error_that_lists_the_known_ones(db, sample, algorithm):
    text = message(db, "SELECT zt_hash(?, 'layer1.bias', NULL, ?)", sample, algorithm)
    assert text.startswith("ztensor: ") and all(known in text for known in ("sha256", "crc32c", "xxh3"))


@pytest.mark.parametrize("algorithm", ["sha256", "crc32c", "xxh3"])
def test_with_three_arguments_the_third_is_the_algorithm(db, sample, algorithm):
    assert value(db, "SELECT zt_hash(?1, 'layer1.bias', ?2) = zt_hash(?1, 'layer1.bias', 'data', ?2)", sample, algorithm) == 1
    file = writer.write({"s": writer.csr()})
    assert message(db, "SELECT zt_hash(?, 's', ?)", file, algorithm) == place(file, "s") + (
        "name one of its components: 'values', 'indices', 'indptr'")


@pytest.mark.parametrize("algorithm", ["md5", "", "SHA256", 256, b"sha256", None])
def test_three_arguments_without_an_algorithm_are_an_error_that_lists_them(db, sample, algorithm):
    text = message(db, "SELECT zt_hash(?, 'layer1.bias', ?)", sample, algorithm)
    assert text.startswith("ztensor: ") and all(known in text for known in ("sha256", "crc32c", "xxh3"))


@pytest.mark.parametrize("object, component", [("w", "data"), ("s", "indptr")])
def test_a_component_without_an_algorithm_is_an_error_that_lists_them(db, object, component):
    file = writer.write({"w": writer.dense(b"1"), "s": writer.csr()})
    assert message(db, "SELECT zt_hash(?, ?, ?)", file, object, component) == place(file, object) + (
        f"'{component}' is a component: name an algorithm after it: 'sha256', 'crc32c', 'xxh3'")


def test_an_algorithm_is_one_also_where_a_component_has_its_name(db):
    file = writer.write({"w": {"shape": [1], "components": {"xxh3": {"bytes": b"1", "dtype": "u8"}}}})
    assert value(db, "SELECT zt_hash(?, 'w', 'sha256')", file) == sha256(b"1")
    assert value(db, "SELECT zt_hash(?1, 'w', 'xxh3') = zt_hash(?1, 'w', 'xxh3', 'xxh3')", file) == 1


def test_hashes_of_tensors_of_any_size(db, save):
    count = 1_000_000
    packed = writer.dense(writer.zstd_repeat(b"\5", count), [count], encoding="zstd", uncompressed_length=count)
    path = save("x.zt", writer.write({"raw": writer.dense(b"\5" * count), "zstd": packed}))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    for name in ("raw", "zstd"):
        assert value(db, "SELECT zt_hash(?, ?, NULL, 'sha256')", path, name) == sha256(b"\5" * count)


def test_what_cannot_be_decoded_cannot_be_hashed(db):
    for stated in (99, 101):
        file = writer.write({"w": writer.dense(writer.zstd(bytes(100)), [100], encoding="zstd", uncompressed_length=stated)})
        assert message(db, "SELECT zt_hash(?, 'w', NULL, 'sha256')", file).startswith(place(file, "w", "data"))


# ------------------------------------------------------------------------------------------------------------ all of them

CALLS = ["zt_json({}, 'layer1.bias')", "zt_json({}, 'layer1.bias', 'f32', 0, 1)", "zt_value({}, 'layer1.bias', 1)",
         "zt_hash({}, 'layer1.bias', 'crc32c')", "zt_hash({}, 'layer1.bias', NULL, 'crc32c')"]
EACH_CALL = pytest.mark.parametrize("call", CALLS)


@EACH_CALL
def test_a_missing_object_is_named_and_a_close_one_suggested(db, sample, call):
    text = message(db, "SELECT " + call.format("?").replace("bias", "bais"), sample)
    assert text.startswith(place(sample, "layer1.bais")) and "did you mean 'layer1.bias'?" in text


@EACH_CALL
def test_exactly_one_file_is_taken(db, tree, call):
    for source in (tree.path, tree.path + "/*.zt", tree.path + "/none.zt"):
        assert message(db, "SELECT " + call.format("?"), source).startswith("ztensor: ")


@EACH_CALL
def test_an_unsound_file_is_an_error_that_names_it(db, save, call):
    for source in (save("x.zt", b"broken"), b"broken"):
        assert message(db, "SELECT " + call.format("?"), source).startswith(prefix(source))


@pytest.mark.parametrize("call", ["zt_json()", "zt_json(?1)", "zt_json(?1, 'w', 'f32', 0, 1, 2)", "zt_value()", "zt_value(?1)",
                                  "zt_hash(?1)", "zt_hash(?1, 'w')", "zt_hash(?1, 'w', 'data', 'sha256', 1)"])
def test_a_wrong_number_of_arguments_is_an_error(db, sample, call):
    assert call.split("(")[0] in message(db, f"SELECT {call}, ?1", sample)


@pytest.fixture
def large(save):
    """The path of a file whose blobs, a million u8 each, lie from 1 MiB to 3 MiB."""
    objects = {name: writer.dense(bytes([x]) * MIB, [1024, 1024]) for name, x in (("a", 1), ("b", 2))}
    return save("large.zt", writer.write(objects, first_offset=MIB, gap=MIB))


def test_one_value_of_raw_data_reads_only_its_bytes(trace, large):
    got = trace(f"SELECT zt_value('{large}', 'b', 500, 7);")
    assert got.out.strip() == "2"
    assert got.bytes_read(large, MIB, 2 * MIB) == 0
    assert 1 <= got.bytes_read(large, 2 * MIB, 3 * MIB) <= 4096
    assert got.bytes_read(large, 2 * MIB + 500 * 1024 + 7, 2 * MIB + 500 * 1024 + 8) == 1


def test_a_hash_reads_its_component_and_once(trace, large):
    got = trace(f"SELECT zt_hash('{large}', 'b', 'data', 'sha256');")
    assert got.out.strip() == sha256(b"\2" * MIB)
    assert (got.bytes_read(large, MIB, 2 * MIB), got.bytes_read(large, 2 * MIB, 3 * MIB)) == (0, MIB)
