"""numpy's arrays and scalars in pickles: opcode by opcode, and as Python's pickle module writes them where numpy is there. zt_dense
gives numpy's own bytes; arrays without numbers are listed."""
import datetime
import functools
import json
import math
import pickle
import struct
import zipfile

import numpy
import pytest

from support import message, place, rows, value
from write_pytorch import ONES, STOP, archive, built, call, legacy, name, of, put, tensor, text

OLD, NEW = "numpy.core", "numpy._core"
ENCODINGS = ["bytes", "latin1", "string", "bytearray"]


# ------------------------------------------------------------------------------------------------------ opcode by opcode

def dtype(kind, order="<", version=3, more=(None, None, None, -1, -1, 0), flags=(False, True)):
    return call("numpy", "dtype", kind, *flags) + put((version, order, *more)) + b"b"


def record(size, kind=("numpy", "record")):
    return dtype(name(*kind), "|", more=(None, ("a",), {"a": (dtype("i4"), 0)}, size, 1, 16))


def stored(data, how="bytes"):
    """Bytes, as a protocol writes them."""
    return {"bytes": b"B" + struct.pack("<I", len(data)) + data, "string": b"T" + struct.pack("<i", len(data)) + data,
            "latin1": call("_codecs", "encode", data.decode("latin1"), "latin1"), "opcodes": data,
            "bytearray": call("builtins", "bytearray", b"B" + struct.pack("<I", len(data)) + data)}[how]


def array(shape, of, data, fortran=False, core=OLD, version=(1,), how="bytes", base=("numpy", "ndarray")):
    return (call(f"{core}.multiarray", "_reconstruct", name(*base), (0,), b"C\1b")
            + put((*version, shape, of, fortran, stored(data, how) if isinstance(data, bytes) else data)) + b"b")


def buffer(data, of, shape, order, *axes, core=NEW):
    return call(f"{core}.numeric", "_frombuffer", data, of, shape, order, *axes)


def scalar(of, data, core=OLD, how="bytes"):
    return call(f"{core}.multiarray", "scalar", of, stored(data, how))


def row(db, source, object="w"):
    (found,) = rows(db, "SELECT format, type, shape FROM zt_objects(?) WHERE object = ?", source, object)
    return found[0], found[1], found[2] and json.loads(found[2])


def dense(db, source, object="w"):
    return value(db, "SELECT zt_dense(?, ?, NULL)", source, object)


def attribute(db, source, key="w"):
    (found,) = rows(db, "SELECT value, type FROM zt_attributes(?) WHERE object IS NULL AND key = ?", source, key)
    return found


@pytest.mark.parametrize("core", [OLD, NEW])
@pytest.mark.parametrize("how", ENCODINGS)
@pytest.mark.parametrize("order", "<>")
def test_data_are_bytes_however_they_are_written(db, core, how, order):
    wanted = numpy.array([[1, 2, 3], [-4, 500, 6]], order + "i2")
    source = of({"w": array((2, 3), dtype("i2", order), wanted.tobytes(), core=core, how=how)})
    assert row(db, source) == ("dense", "i16", [2, 3])
    assert dense(db, source) == wanted.astype("<i2").tobytes()
    assert rows(db, "SELECT byte_order FROM zt_components(?)", source) == [("big" if order == ">" else "little",)]
    assert value(db, "SELECT zt_blob(?, 'w')", source) == wanted.tobytes()
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@pytest.mark.parametrize("type, shape, why", [
    (name("os", "system"), (4,), "its dtype is not known"), (dtype("f4"), "4", "its shape is invalid"), (dtype("f4"), (4,), "its elements are not there"),
    (dtype("Z4"), (4,), "its elements are not there")])
def test_an_array_of_joblib_has_no_elements_in_an_archive(db, type, shape, why):
    source = of({"w": built("joblib.numpy_pickle", "NumpyArrayWrapper", {"dtype": type, "shape": shape}), "v": tensor()})
    assert message(db, "SELECT zt_dense(?, 'w')", source).endswith(f"object 'w': {why}")
    assert value(db, "SELECT zt_json(?, 'v')", source) == "[1.0,2.0,3.0,4.0]"


def test_data_that_are_an_escaped_text_are_kept(db):
    """As protocol 0 has them: its bytes are not in the file as they are."""
    source = of({"w": call(f"{OLD}.multiarray", "_reconstruct", name("numpy", "ndarray"), (0,), b"C\1b")
                 + put((1, (4,), dtype("u1"), False, b"S'\\xff\\x00a\\n'\n")) + b"b"})
    assert dense(db, source) == b"\xff\0a\n"
    assert rows(db, "SELECT offset, encoding FROM zt_components(?)", source) == [(None, "pickle")]


def test_elements_without_a_meaning_may_be_more_than_64_bits_of_bytes(db):
    source = of({"w": array((1 << 62,), dtype("S8", "|"), b"abcdefgh"), "v": tensor()})
    assert row(db, source) == ("numpy.bytes", "u8", [1 << 62])
    assert value(db, "SELECT zt_json(?, 'v')", source) == "[1.0,2.0,3.0,4.0]"


def test_objects_with_a_tensor_among_them_in_a_state_without_a_version(db):
    """A state of 4 items."""
    source = of({"w": array((2,), dtype("O8", "|"), [tensor(), 5], version=())})
    assert rows(db, "SELECT object, format FROM zt_objects(?) ORDER BY 1", source) == [("w", "numpy.object"), ("w.0", "dense")]


@pytest.mark.parametrize("how", ["bytes", "latin1", "string"])
def test_where_data_are_in_the_file(db, how):
    """Bytes that stand there as they are have a place; a text's have none, nor have those of a pickle that is deflated."""
    data = bytes(range(128, 256))
    source = of({"w": array((32,), dtype("f4"), data, how=how)})
    (offset, length, encoding), = rows(db, "SELECT offset, length, encoding FROM zt_components(?)", source)
    if how == "latin1":
        assert (offset, length, encoding) == (None, None, "pickle")
        text = message(db, "SELECT stored FROM zt_components(?)", source)
        assert text == place(source, "w", "data") + "its bytes are in the pickle in another form"
    else:
        assert encoding == "raw" and source[offset:offset + length] == data == value(db, "SELECT stored FROM zt_components(?)", source)
    deflated = of({"w": array((32,), dtype("f4"), data, how=how)}, methods={"data.pkl": zipfile.ZIP_DEFLATED})
    assert rows(db, "SELECT offset, length, encoding, decoded_length FROM zt_components(?)", deflated) == [(None, None, "pickle", 128)]
    assert dense(db, source) == dense(db, deflated) == data
    assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", deflated)
    assert value(db, "SELECT zt_hash(?, 'w', 'data', 'sha256')", source) == value(db, "SELECT zt_hash(?, 'w', 'data', 'sha256')", deflated)


def test_parts_of_kept_bytes(db):
    data = bytes(i * 7 % 256 for i in range(1 << 18))
    source = of({"w": array((256, 1024), dtype("u1", "|"), data, how="latin1")})
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 70000, 5000)", source) == data[70000:75000]
    assert value(db, "SELECT zt_value(?, 'w', 255, 1023)", source) == data[-1]
    vector = numpy.frombuffer(data[200 * 1024:201 * 1024], "u1").astype("<f4").tobytes()
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'w') WHERE row = 200", source) == [(200, vector)]
    assert rows(db, "SELECT min, max, sum(elements) FROM zt_stats(?)", source) == [(0, 255, 1 << 18)]


@pytest.mark.parametrize("order, axes", [("C", ()), ("F", ()), ("K", ((0, 1, 2),)), ("K", ((2, 0, 1),)), ("K", ((1, 2, 0),)), ("K", (None,)), ("K", ())])
def test_orders_of_frombuffer(db, order, axes):
    stored_as = numpy.arange(24, dtype="<f4").reshape(2, 3, 4)
    if order == "F":
        wanted = numpy.frombuffer(stored_as.tobytes(), "<f4").reshape((4, 3, 2), order="F")
    else:
        wanted = stored_as.transpose(axes[0]) if axes and axes[0] else stored_as
    shape = (4, 3, 2) if order == "F" else (2, 3, 4)
    source = of({"w": buffer(stored(stored_as.tobytes()), dtype("f4"), shape, order, *axes)})
    assert row(db, source) == ("dense", "f32", list(wanted.shape))
    assert dense(db, source) == wanted.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (2, 3, 4), 6])
@pytest.mark.parametrize("fortran", [False, True, b"K\0", b"K\1"])
def test_shapes(db, shape, fortran):
    order = "F" if fortran in (True, b"K\1") else "C"
    wanted = numpy.arange(math.prod(numpy.shape(numpy.empty(shape))), dtype="<i4").reshape(shape, order=order)
    source = of({"w": array(shape, dtype("i4"), wanted.tobytes(order=order), fortran)})
    assert row(db, source) == ("dense", "i32", list(wanted.shape))
    assert dense(db, source) == wanted.tobytes()


@pytest.mark.parametrize("word, width, type", [("bfloat16", 2, "bf16"), ("float8_e4m3fn", 1, "f8_e4m3fn"), ("float8_e5m2", 1, "f8_e5m2"),
                                               ("float8_e4m3fnuz", 1, "f8_e4m3fnuz"), ("float8_e5m2fnuz", 1, "f8_e5m2fnuz")])
def test_classes_of_ml_dtypes(db, word, width, type):
    """Their dtype is made of the class, as ml_dtypes 0.5 pickles it."""
    of_class = dtype(name("ml_dtypes", word), "<" if width > 1 else "|", more=(None, None, None, width, width, 80))
    data = bytes(range(6 * width))
    source = of({"w": array((6,), of_class, data), "s": scalar(of_class, data[:width])})
    assert row(db, source) == ("dense", type, [6]) and dense(db, source) == data
    assert json.loads(attribute(db, source, "s")[0])["$opaque"] == "numpy.core.multiarray.scalar"


@pytest.mark.parametrize("of_what", [name("ml_dtypes", "int4"), name("ml_dtypes", "none"), name("other", "bfloat16"), "q9", "", "f4" * 40, b"K\4"])
def test_a_type_that_is_not_known_is_listed(db, of_what):
    source = of({"w": array((2,), dtype(of_what, "|"), b"ab"), "v": tensor()})
    assert rows(db, "SELECT object, fingerprint IS NULL FROM zt_objects(?)", source) == [("w", 1), ("v", 0)]
    assert message(db, "SELECT zt_dense(?, 'w')", source).startswith(place(source, "w"))
    assert rows(db, "SELECT object FROM zt_check(?)", source) == [("w",)]
    assert value(db, "SELECT zt_fingerprint(?)", source) is None


LATIN1 = call("_codecs", "encode", "abcd", "latin1")


def nested(times):
    return functools.reduce(lambda made, _: call("builtins", "bytearray", made), range(times), stored(b"abcd"))


def test_bytes_of_bytes(db):
    assert dense(db, of({"w": array((4,), dtype("u1"), nested(4), how="opcodes")})) == b"abcd"


LYING = {
    "short": (array((3,), dtype("f4"), bytes(11)), "3 elements of f32 are 12 bytes, and it has 11"),
    "long": (array((3,), dtype("f4"), bytes(13)), "3 elements of f32 are 12 bytes, and it has 13"),
    "short_latin1": (array((3,), dtype("f4"), bytes(11), how="latin1"), "3 elements of f32 are 12 bytes, and it has 11"),
    "short_fortran": (array((3, 2), dtype("f4"), bytes(23), True), "6 elements of f32 are 24 bytes, and it has 23"),
    "negative": (array((-3,), dtype("f4"), b""), "its shape has a negative dimension"),
    "huge": (array((2**40, 2**40), dtype("f4"), b""), "the product of its dimensions does not fit 64 bits"),
    "huge_bytes": (array((2**62,), dtype("f8"), b"abcd"), None),
    "many_dimensions": (array((1,) * 65, dtype("f4"), b"abcd"), "its shape is invalid"),
    "no_shape": (array("abc", dtype("f4"), b"abcd"), "its shape is invalid"),
    "real_shape": (array((1.0,), dtype("f4"), b"abcd"), "its shape is invalid"),
    "no_latin1": (array((4,), dtype("u1"), call("_codecs", "encode", "水abc", "latin1"), how="opcodes"), "its data are not bytes"),
    "utf8": (array((4,), dtype("u1"), call("_codecs", "encode", "abcd", "utf8"), how="opcodes"), "its data are not bytes"),
    "text": (array((4,), dtype("u1"), "abcd"), "its data are not bytes"),
    "numbers": (array((4,), dtype("u1"), 5), "its data are not bytes"),
    **{f"encoded_{kind}": (array((4,), dtype("u1"), made, how="opcodes"), "its data are not bytes") for kind, made in {
        "errors": call("_codecs", "encode", "abcd", "latin1", "strict"), "state": LATIN1 + put({"a": 1}) + b"b", "entry": LATIN1 + text("a") + b"Ns",
        "item": LATIN1 + b"Na", "keywords": name("_codecs", "encode") + put(("abcd", "latin1")) + put({"a": 1}) + b"\x92",
        "bytes": call("builtins", "bytes", "abcd", "latin1"), "five_times": nested(5)}.items()},
    "no_state": (call("numpy.core.multiarray", "_reconstruct", name("numpy", "ndarray"), (0,), b"C\1b"), "it has no state"),
    "short_state": (call("numpy.core.multiarray", "_reconstruct", name("numpy", "ndarray"), (0,), b"C\1b") + put((1, (4,), dtype("u1"))) + b"b",
                    "its state is invalid"),
    "listed_state": (call("numpy.core.multiarray", "_reconstruct", name("numpy", "ndarray"), (0,), b"C\1b") + put([1, (4,), dtype("u1"), False, stored(b"abcd")])
                     + b"b", "its state is invalid"),
    "order_of_two": (array((4,), dtype("i1", "<>"), b"abcd"), "its dtype is not known"),
    "record_of_others": (array((1,), record(4, ("m", "record")), b"abcd"), "its dtype is not known"),
    "other_class": (array((1,), record(4, ("numpy", "other")), b"abcd"), "its dtype is not known"),
    "record_of_text": (array((1,), record("4"), b"abcd"), "its dtype is not known"),
    "record_below_0": (array((1,), record(-1), b"abcd"), "its dtype is not known"),
    "record_of_2_gib": (array((1,), record(2**31), b"abcd"), "its dtype is not known"),
    "axes_negative": (buffer(stored(bytes(16)), dtype("f4"), (2, 2), "K", (0, -1)), "its axes are not a permutation"),
    "axes_of_text": (buffer(stored(bytes(16)), dtype("f4"), (2, 2), "K", ("a", "b")), "its axes are not a permutation"),
    "axes_twice": (buffer(stored(bytes(16)), dtype("f4"), (2, 2), "K", (0, 0)), "its axes are not a permutation"),
    "axes_beyond": (buffer(stored(bytes(16)), dtype("f4"), (2, 2), "K", (0, 2)), "its axes are not a permutation"),
    "axes_fewer": (buffer(stored(bytes(16)), dtype("f4"), (2, 2), "K", (0,)), "its axes are not a permutation"),
    "order": (buffer(stored(bytes(16)), dtype("f4"), (2, 2), "X"), "its order is neither C nor F"),
    "no_arguments": (call("numpy._core.numeric", "_frombuffer"), "its dtype is not known"),
}


@pytest.mark.parametrize("kind", LYING)
def test_an_array_that_lies_is_listed_with_its_fault(db, kind):
    lie, says = LYING[kind]
    source = of({"w": lie, "v": tensor()})
    assert [object for object, in rows(db, "SELECT object FROM zt_objects(?)", source)] == ["w", "v"]
    text = message(db, "SELECT zt_dense(?, 'w')", source)
    assert text.startswith(place(source, "w")) and (says is None or text.endswith(says)), text
    assert dense(db, source, "v") == ONES
    assert ("w",) in rows(db, "SELECT object FROM zt_check(?, 'full')", source)


LISTED = {
    "structured": (array((2,), dtype("V8", "|", more=(None, ("a", "b"), {"a": (dtype("f4"), 0), "b": (dtype("i4"), 4)}, 8, 1, 16)), bytes(16)), "numpy.structured"),
    "record": (array((2,), record(4), bytes(8)), "numpy.structured"),
    "subarray": (array((2,), dtype("V8", "|", more=((dtype("f4"), (2,)), None, None, 8, 4, 0)), bytes(16)), "numpy.structured"),
    "unicode": (array((2,), dtype("U3", more=(None, None, None, 12, 4, 8)), bytes(24)), "numpy.unicode"),
    "strings": (array((2,), dtype("S3", "|", more=(None, None, None, 3, 1, 0)), b"abcdef"), "numpy.bytes"),
    "datetime": (array((2,), dtype("M8", version=4, more=(None, None, None, -1, -1, 0, ({}, (b"C\2ns", 1, 1, 1)))), bytes(16)), "numpy.datetime64"),
    "timedelta": (array((2,), dtype("m8", version=4, more=(None, None, None, -1, -1, 0, ({}, (b"C\1s", 1, 1, 1)))), bytes(16)), "numpy.timedelta64"),
    "void": (array((2,), dtype("V5", "|", more=(None, None, None, 5, 1, 0)), bytes(10)), "numpy.void"),
    "longdouble": (array((2,), dtype("f16"), bytes(32)), "numpy.longdouble"),
}


@pytest.mark.parametrize("kind", LISTED)
def test_what_has_no_numbers_is_listed(db, kind):
    made, format = LISTED[kind]
    source = of({"w": made})
    assert row(db, source)[0] == format and row(db, source)[2] == [2]
    assert message(db, "SELECT zt_dense(?, 'w')", source).startswith(place(source, "w"))
    assert rows(db, "SELECT DISTINCT object, severity FROM zt_check(?, 'full') WHERE severity <> 'note'", source) in ([], [("w", "warning")])
    assert value(db, "SELECT zt_fingerprint(?)", source) is None


def test_arrays_of_objects_have_what_is_in_them(db):
    objects = dtype("O8", "|", more=(None, None, None, -1, -1, 63))
    inner = array((2,), dtype("f4"), ONES[:8])
    source = of({"w": array((2, 2), objects, [tensor(), "text", inner, None]), "e": array((0,), objects, [])})
    assert rows(db, "SELECT object, format, shape FROM zt_objects(?)", source) == [
        ("w", "numpy.object", "[2,2]"), ("w.0", "dense", "[4]"), ("w.2", "dense", "[2]"), ("e", "numpy.object", "[0]")]
    assert attribute(db, source, "w.1") == ("text", "text") and dense(db, source, "w.2") == ONES[:8]


def test_an_array_before_1_6(db):
    source = legacy({"w": array((4,), dtype("f4"), ONES, how="string"), "s": scalar(dtype("f8"), struct.pack("<d", 0.1), how="string")}, storages={})
    assert dense(db, source) == ONES and attribute(db, source, "s") == (0.1, "real")
    offset, = rows(db, "SELECT offset FROM zt_components(?)", source)[0]
    assert source[offset:offset + 16] == ONES


# --------------------------------------------------------------------------------------------------------------- scalars

SCALARS = [
    (dtype("b1", "|"), b"\1", 1, "true"), (dtype("b1", "|"), b"\0", 0, "false"),
    (dtype("i1", "|"), b"\xff", -1, "integer"), (dtype("u1", "|"), b"\xff", 255, "integer"),
    (dtype("i2", ">"), b"\xff\xfe", -2, "integer"), (dtype("u2", ">"), b"\x01\x02", 258, "integer"), (dtype("i4"), b"\xfe\xff\xff\xff", -2, "integer"),
    (dtype("u4"), b"\xff\xff\xff\xff", 2**32 - 1, "integer"), (dtype("i8"), b"\0" * 7 + b"\x80", -2**63, "integer"),
    (dtype("u8"), b"\xff" * 8, str(2**64 - 1), "integer"), (dtype("f2"), b"\x00\x3c", 1.0, "real"), (dtype("f2"), b"\x01\x00", 2.0**-24, "real"),
    (dtype("f2", ">"), b"\xfc\x00", -math.inf, "real"), (dtype("f4"), struct.pack("<f", 0.1), struct.unpack("<f", struct.pack("<f", 0.1))[0], "real"),
    (dtype("f8", ">"), struct.pack(">d", -0.1), -0.1, "real"), (dtype("f8"), struct.pack("<d", math.nan), None, "real"),
    (dtype("U3", more=(None, None, None, 12, 4, 8)), "a水".encode("utf-32-le").ljust(12, b"\0"), "a水", "text"),
    (dtype("U2", ">", more=(None, None, None, 8, 4, 8)), "😀b".encode("utf-32-be"), "😀b", "text"), (dtype("U1"), bytes(4), "", "text"),
    (dtype("S4", "|", more=(None, None, None, 4, 1, 0)), b"a\0b\0", b"a\0b", "blob"), (dtype("S2", "|"), b"\0\0", b"", "blob"),
]


@pytest.mark.parametrize("of_what, data, wanted, type", SCALARS)
@pytest.mark.parametrize("how", ENCODINGS)
@pytest.mark.parametrize("core", [OLD, NEW])
def test_scalars(db, of_what, data, wanted, type, how, core):
    source = of({"w": scalar(of_what, data, core, how), "v": tensor()})
    found, kind = attribute(db, source)
    assert (found, kind) == (wanted, type)
    assert rows(db, "SELECT object FROM zt_objects(?)", source) == [("v",)]


def test_complex_scalars_are_two_numbers(db):
    for kind, data in (("c8", struct.pack("<2f", 0.5, -2)), ("c16", struct.pack("<2d", 0.5, -2))):
        assert json.loads(attribute(db, of({"w": scalar(dtype(kind), data)}))[0]) == [0.5, -2]


@pytest.mark.parametrize("key, shown", [
    (scalar(dtype("u8"), b"\xff" * 8), str(2**64 - 1)), (scalar(dtype("b1", "|"), b"\0"), "False"), (scalar(dtype("f8"), struct.pack("<d", -math.inf)), "-inf"),
    (call("datetime", "date", stored(bytes([7, 232, 2, 29]))), "2024-02-29"), (scalar(dtype("S5000", "|"), b"\1" * 5000), "..."),
    *[(scalar(dtype("c16"), struct.pack("<2d", key.real, key.imag)), str(key)) for key in map(complex, *zip(
        (0.5, -2.5), (1, -2), (0, 0.5), (-0.0, -0.0), (0.0, -0.0), (math.inf, math.nan), (math.nan, -math.inf), (1e15, -1e300), (1e-5, 3)))]])
def test_keys_that_are_scalars_are_as_python_shows_them(db, key, shown):
    assert rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", of({"w": b"}" + key + b"K\7s"})) == [(f"w.{shown}", 7)]


def test_scalars_are_keys(db):
    i8, u3 = dtype("i8"), dtype("U3", more=(None, None, None, 12, 4, 8))
    items = {scalar(i8, struct.pack("<q", -3)): 1, scalar(u3, "ab".encode("utf-32-le") + bytes(4)): 2, scalar(dtype("f8"), struct.pack("<d", 0.5)): 3,
             scalar(dtype("b1", "|"), b"\1"): tensor(), scalar(dtype("S2", "|"), b"\x0a\xff"): 5}
    source = of({"w": items})
    assert rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", source) == [("w.-3", 1), ("w.ab", 2), ("w.0.5", 3), ("w.0aff", 5)]
    assert rows(db, "SELECT object FROM zt_objects(?)", source) == [("w.True",)]


@pytest.mark.parametrize("made", [scalar(dtype("f4"), b"abc"), scalar(dtype("f4"), b"abcde"), scalar(dtype("f16"), bytes(16)), scalar(dtype("V3", "|"), b"abc"),
                                  scalar(dtype("U1"), b"\0\0\x11\0"), scalar(dtype("U1"), b"\0\xd8\0\0"), call("numpy.core.multiarray", "scalar", dtype("f4")),
                                  call("numpy.core.multiarray", "scalar", dtype("f4"), stored(b"abcd"), 5) + put({"a": 1}) + b"b",
                                  call("numpy.core.multiarray", "scalar", 5, stored(b"abcd")), scalar(dtype("M8"), bytes(8))])
def test_a_scalar_that_is_none_is_opaque(db, made):
    source = of({"w": made, "v": tensor()})
    assert json.loads(attribute(db, source)[0])["$opaque"] == "numpy.core.multiarray.scalar"
    assert rows(db, "SELECT object FROM zt_objects(?)", source) == [("v",)]


# ------------------------------------------------------------------------------------------ as Python's pickle module does

def saved(thing, protocol, **options):
    """A thing as torch.save() would write it."""
    return archive(pickle.dumps(thing, protocol), **options)


NUMBERS = [order + kind for kind in ("i2", "i4", "i8", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16") for order in "<>"] + ["?", "i1", "u1"]
PROTOCOLS = pytest.mark.parametrize("protocol", range(6))


def little(wanted):
    return numpy.ascontiguousarray(wanted).astype(wanted.dtype.newbyteorder("<")).tobytes()


@PROTOCOLS
@pytest.mark.parametrize("kind", NUMBERS)
def test_arrays_of_all_types_as_python_pickles_them(db, kind, protocol):
    """With every byte, in any order of the elements."""
    item = numpy.dtype(kind).itemsize
    raw = bytes(i * 37 % (2 if kind == "?" else 256) for i in range(24 * item))
    plain = numpy.frombuffer(raw, kind).reshape(2, 3, 4)
    wanted = {"plain": plain, "fortran": numpy.asfortranarray(plain), "transposed": plain.transpose(2, 0, 1), "part": plain[:, ::2, 1:], "one": plain[0, 0, 0:1],
              "none": plain[:0], "scalar": numpy.array(plain[1, 2, 3]), "column": plain[:, :, 1], "backwards": plain[::-1], "copied": plain.T.copy()}
    source = saved(wanted, protocol)
    found = dict(rows(db, "SELECT object, shape FROM zt_objects(?) WHERE format = 'dense'", source))
    assert {key: json.loads(shape) for key, shape in found.items()} == {key: list(one.shape) for key, one in wanted.items()}
    for key, one in wanted.items():
        assert dense(db, source, key) == little(one), key
    assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", saved(wanted, (protocol + 3) % 6))
    assert rows(db, "SELECT * FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []


@PROTOCOLS
def test_scalars_of_all_types_as_python_pickles_them(db, protocol):
    wanted = {kind: numpy.frombuffer(bytes([1, 0, 0, 0, 0, 0, 0x30, 0x40] * 2), kind)[0] for kind in NUMBERS if numpy.dtype(kind).kind != "c"}
    wanted |= {"U": numpy.str_("a\0b水"), "S": numpy.bytes_(b"a\0\xff"), "empty": numpy.str_(""), "bool": numpy.bool_(True)}
    source = saved(wanted, protocol)
    found = dict(rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", source))
    assert list(found) == list(wanted)
    for key, one in wanted.items():
        plain = one.item()
        assert found[key] == plain or found[key] == str(plain) or plain != plain and found[key] is None, key


@PROTOCOLS
def test_what_has_no_numbers_as_python_pickles_it(db, protocol):
    wanted = {"structured": numpy.zeros(2, [("a", "f4"), ("b", "U3", 2)]), "text": numpy.array(["ab", "水"]), "bytes": numpy.array([b"ab", b"c"]),
              "dates": numpy.array(["2024-05-06"], "M8[ns]"), "spans": numpy.array([5], "m8[s]"), "long": numpy.zeros(2, "f16"),
              "masked": numpy.ma.array([1.0, 2.0], mask=[0, 1]), "void": numpy.zeros(2, "V5"), "objects": numpy.array([1, "a", None], object)}
    source = saved(wanted, protocol)
    formats = dict(rows(db, "SELECT object, format FROM zt_objects(?) WHERE fingerprint IS NULL", source))
    assert formats == {"structured": "numpy.structured", "text": "numpy.unicode", "bytes": "numpy.bytes", "dates": "numpy.datetime64", "spans": "numpy.timedelta64",
                       "long": "numpy.longdouble", "masked": "numpy.masked", "void": "numpy.void", "objects": "numpy.object"}
    assert attribute(db, source, "objects.1") == ("a", "text")
    assert {object for object, in rows(db, "SELECT object FROM zt_check(?, 'full')", source)} == set(wanted)


@PROTOCOLS
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_subclasses_as_python_pickles_them(db, protocol):
    wanted = {"matrix": numpy.matrix([[1.0, 2.0], [3.0, 4.0]]), "record": numpy.zeros(1, "f8").view(numpy.recarray), "chars": numpy.arange(3)}
    source = saved(wanted, protocol)
    assert dense(db, source, "matrix") == wanted["matrix"].tobytes() and row(db, source, "matrix") == ("dense", "f64", [2, 2])
    assert dense(db, source, "record") == bytes(8)


@PROTOCOLS
def test_one_array_in_several_places_and_in_a_deflated_pickle(db, protocol):
    one = numpy.arange(300, dtype="u2").reshape(15, 20)
    wanted = {"a": one, "b": [one, {"c": one}], "n": numpy.float32(0.5), "when": datetime.datetime(2024, 5, 6, 7, 8, 9, 10)}
    for options in ({}, {"methods": {"data.pkl": zipfile.ZIP_DEFLATED}}):
        source = saved(wanted, protocol, **options)
        assert {name: dense(db, source, name) for name, in rows(db, "SELECT object FROM zt_objects(?)", source)} == dict.fromkeys(("a", "b.0", "b.1.c"), one.tobytes())
        assert attribute(db, source, "n")[0] == 0.5 and attribute(db, source, "when")[0] == "2024-05-06T07:08:09.000010"


FEBRUARY = bytes([0x07, 0xe8, 2, 29])


@pytest.mark.parametrize("word, data, shown", [
    ("date", FEBRUARY, "2024-02-29"), ("date", bytes([0, 1, 1, 1]), "0001-01-01"), ("date", bytes([0x27, 0x0f, 12, 31]), "9999-12-31"),
    ("time", bytes([23, 59, 59, 0x0f, 0x42, 0x3f]), "23:59:59.999999"), ("time", bytes([0x80 | 7, 0, 0, 0, 0, 0]), "07:00:00"),
    ("datetime", FEBRUARY + bytes(6), "2024-02-29T00:00:00"), ("datetime", bytes([0x07, 0xe8, 0x80 | 12, 1, 1, 2, 3, 0, 0, 4]), "2024-12-01T01:02:03.000004"),
    ("date", bytes([0, 0, 1, 1]), None), ("date", bytes([0x27, 0x10, 1, 1]), None), ("date", bytes([7, 232, 0, 1]), None), ("date", bytes([7, 232, 13, 1]), None),
    ("date", bytes([7, 232, 0x80 | 1, 1]), None), ("date", bytes([7, 232, 2, 30]), None), ("date", bytes([7, 232, 2, 0]), None), ("date", FEBRUARY + b"\0", None), ("date", b"", None),
    ("time", bytes([24, 0, 0, 0, 0, 0]), None), ("time", bytes([0, 60, 0, 0, 0, 0]), None), ("time", bytes([0, 0, 60, 0, 0, 0]), None), ("time", bytes([0, 0, 0, 0x0f, 0x42, 0x40]), None),
    ("datetime", bytes([7, 232, 13, 1]) + bytes(6), None), ("datetime", FEBRUARY + bytes([24, 0, 0, 0, 0, 0]), None), ("datetime", FEBRUARY, None)])
def test_dates_and_times_and_calls_that_make_none(db, word, data, shown):
    source = of({"when": call("datetime", word, stored(data))})
    found = attribute(db, source, "when")
    if shown:
        assert found == (shown, "text")
    else:
        assert json.loads(found[0]) == {"$opaque": f"datetime.{word}", "args": [data.hex()]}


@PROTOCOLS
def test_random_states_as_python_pickles_them(db, protocol):
    wanted = numpy.random.RandomState(5).get_state()
    source = saved({"rng": wanted, "generator": numpy.random.default_rng(5)}, protocol)
    assert dense(db, source, "rng.1") == little(wanted[1])
    assert value(db, "SELECT count(*) FROM zt_attributes(?) WHERE object IS NULL", source) < 60


@PROTOCOLS
def test_a_pickle_with_arrays_cut_anywhere_is_an_error(db, protocol):
    data = pickle.dumps({"w": numpy.arange(5.0).reshape(5, 1).T, "s": numpy.float32(1.5)}, protocol)
    for n in range(len(data)):
        source = archive(data[:n])
        assert message(db, "SELECT * FROM zt_objects(?)", source).startswith("ztensor: <blob>: "), n


def test_what_is_pickled_below_other_calls_is_a_row(db):
    source = of({"w": call("functools", "partial", name("m", "f")) + put((name("m", "f"), (array((4,), dtype("f4"), ONES),), {"k": array((2,), dtype("f4"), ONES[:8])}, None))
                 + b"b", "net": built("m", "Net", {"mean": array((1,), dtype("f4"), ONES[:4])})})
    assert {name: dense(db, source, name) for name, in rows(db, "SELECT object FROM zt_objects(?)", source)} == {
        "w.1.0": ONES, "w.2.k": ONES[:8], "net.mean": ONES[:4]}


def test_what_is_no_array_is_none(db):
    source = archive(b"\x80\x02" + put({"w": name("numpy", "ndarray"), "d": dtype("f4"), "e": call("_codecs", "encode", "abc", "latin1"),
                                        "f": call("numpy.core.multiarray", "array", [1, 2])}) + STOP)
    assert rows(db, "SELECT * FROM zt_objects(?)", source) == []
    assert attribute(db, source, "e") == (b"abc", "blob") and text("x") == b"X\1\0\0\0x"
