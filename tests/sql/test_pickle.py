"""Plain pickles and joblib's dumps: what Python and numpy themselves write, what is shown of it, and what is never done."""
import array
import bz2
import collections
import gzip
import io
import json
import os
import pickle
import random
import struct
import zipfile
import zlib

import numpy
import pytest

import corpus
import write_pickle as written
from support import message, rows, value

PROTOCOLS = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
A, B = numpy.arange(6.0).reshape(2, 3), numpy.arange(12, dtype="<i2").reshape(3, 4)


def attributes(db, source):
    return json.loads(value(db, "SELECT attributes FROM zt_files(?)", source))


def arrays(db, source):
    return {name: (type, json.loads(shape)) for name, type, shape in rows(db, "SELECT object, type, shape FROM zt_objects(?)", source)}


@PROTOCOLS
def test_arrays_have_their_values_in_every_protocol(db, save, protocol):
    data = {"a": A, "f": numpy.asfortranarray(B), "big": B.astype(">i4"), "part": A[:, ::2], "none": numpy.zeros((0, 3)), "one": numpy.array(7, "u1"),
            "list": [A, {"x": B}]}
    raw = pickle.dumps(data, protocol)
    for source in (raw, save("m.pkl", raw)):
        assert rows(db, "SELECT container, version FROM zt_files(?)", source) == [("pickle", str(protocol) if protocol > 1 else None)]
        assert arrays(db, source) == {"a": ("f64", [2, 3]), "f": ("i16", [3, 4]), "big": ("i32", [3, 4]), "part": ("f64", [2, 2]), "none": ("f64", [0, 3]),
                                      "one": ("u8", []), "list.0": ("f64", [2, 3]), "list.1.x": ("i16", [3, 4])}
        for name, array in {"a": A, "f": B, "big": B.astype("<i4"), "part": A[:, ::2], "one": data["one"], "list.0": A}.items():
            assert value(db, "SELECT zt_dense(?, ?)", source, name) == numpy.ascontiguousarray(array).tobytes()
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@PROTOCOLS
def test_leaves_are_attributes(db, protocol):
    data = {"n": 3, "x": 0.5, "t": "text", "none": None, "yes": True, "big": 1 << 80, "list": [1, [], {}], "set": {5}, 7: "seven", (1, 2): "pair",
            "scalar": numpy.float32(0.25), "ordered": collections.OrderedDict(a=1)}
    shown = attributes(db, pickle.dumps(data, protocol))
    expected = {"n": 3, "x": 0.5, "t": "text", "none": None, "yes": True, "big": 1 << 80, "list.0": 1, "list.1": [], "list.2": {}, "set.0": 5, "7": "seven",
                "(1, 2)": "pair", "scalar": 0.25, "ordered.a": 1}
    if protocol < 3:    # A set is a call before protocol 4
        shown.pop("set", None), shown.pop("set.0", None), expected.pop("set.0")
    assert shown == expected or {k: v for k, v in shown.items() if not k.startswith("set")} == {
        k: v for k, v in expected.items() if not k.startswith("set")}


@PROTOCOLS
def test_the_same_array_twice_is_two_objects(db, protocol):
    source = pickle.dumps({"a": A, "b": [A]}, protocol)
    assert arrays(db, source) == {"a": ("f64", [2, 3]), "b.0": ("f64", [2, 3])}
    assert len(set(rows(db, "SELECT offset, length, hash FROM zt_components(?)", source))) == 1


@PROTOCOLS
def test_an_array_of_numpys_records_is_one_of_records(db, protocol):
    """Its dtype names the class numpy.record, where others have V and the bytes of an element."""
    record = numpy.rec.array([(1, 2.5, A), (2, 3.5, A)], [("id", "<i4"), ("x", ">f8"), ("part", "<f8", (2, 3))])
    source = pickle.dumps({"r": record, "w": A}, protocol)
    assert rows(db, "SELECT object, format, dtype, shape, stored_bytes IS NULL, json_extract(attributes, '$.descr') FROM zt_objects(?)", source) == [
        ("r", "numpy.structured", "u8", "[2]", protocol < 3, '[["id","<i4"],["x",">f8"],["part","<f8",[2,3]]]'),
        ("w", "dense", "f64", "[2,3]", protocol < 3, "<f8")]
    assert value(db, "SELECT data FROM zt_components(?) WHERE object = 'r'", source) == record.tobytes()
    assert rows(db, "SELECT rule, object FROM zt_check(?, 'full')", source) == [("no-values", "r")]


def test_a_record_and_a_date_say_what_they_are(db):
    record = numpy.array([(1, 2.5, [1, 2], (3,))], [("id", "<i4"), ("x", ">f8"), ("part", "u1", 2), ("in", [("y", "<i2")])])
    source = pickle.dumps({"r": record, "d": numpy.array(["2026-01-02"], "M8[D]"), "s": numpy.array([1], "m8[25s]"), "o": numpy.array([None, 1], object)})
    of = "SELECT json(json_extract(attributes, '$.descr')), format FROM zt_objects(?) WHERE object = ?"
    assert rows(db, of, source, "r") == [('[["id","<i4"],["x",">f8"],["part","|u1",[2]],["in",[["y","<i2"]]]]', "numpy.structured")]
    of = "SELECT json_extract(attributes, '$.descr'), format FROM zt_objects(?) WHERE object = ?"
    assert [rows(db, of, source, name)[0] for name in "dso"] == [("<M8[D]", "numpy.datetime64"), ("<m8[25s]", "numpy.timedelta64"), ("|O", "numpy.object")]
    assert attributes(db, source) == {"o.0": None, "o.1": 1}


def fields_of(*fields):
    """A dict of (name, dtype)."""
    return b"}(" + b"".join(written.text(name) + written.tuple_of(type, written.number(0)) for name, type in fields) + b"u"


def names_of(*names):
    return written.tuple_of(*map(written.text, names))


def class_of(module, name):
    return written.name("numpy", "dtype") + written.name(module, name) + b"\x89\x88\x87R"


def nested(depth):
    type = written.dtype()
    for _ in range(depth):
        type = written.dtype("V8", "|", names_of("x"), fields_of(("x", type)))
    return type


F4, I4 = written.dtype(), written.dtype("i4")
FEW = [("a", F4), ("b", I4)]


@pytest.mark.parametrize("type, expected", [
    (written.dtype("V8", "|", names_of("a", "b"), fields_of(*FEW)), '[["a","<f4"],["b","<i4"]]'),
    (written.dtype("V8", "|", names_of("a", "b"), fields_of(*FEW[::-1])), '[["a","<f4"],["b","<i4"]]'),   # In another order
    (written.dtype("V8", "|", names_of("a"), fields_of(("a", class_of("ml_dtypes", "bfloat16")))), '[["a","bfloat16"]]'),
    (written.dtype("V8", "|", names_of("a"), fields_of(("a", written.dtype("f4", "=")))), '[["a","|f4"]]'),
    (written.dtype("V8", "|", names_of("a", "c"), fields_of(*FEW)), None),            # A name that no field has
    (written.dtype("V8", "|", names_of("a", "b"), b"N"), None),                       # No fields
    (written.dtype("V8", "|", b"]", fields_of(*FEW)), None),                          # A list of names
    (written.dtype("V8", "|", written.tuple_of(written.number(1)), fields_of(*FEW)), None),
    (written.dtype("V8", "|", names_of("a"), fields_of(("a", written.number(4)))), None),   # A number in place of a dtype
    (written.dtype("V8", "|", names_of("a"), b"}(" + written.text("a") + written.number(4) + b"u"), None),
    (written.dtype("V8", "|", names_of(*map(str, range(513))), fields_of(*((str(i), F4) for i in range(513)))), None),
    (nested(8), "[[\"x\"," * 8 + '"<f4"' + "]]" * 8), (nested(9), None)])
def test_the_fields_of_a_record_as_the_pickle_has_them(db, type, expected):
    source = written.pickle(("r", written.array(written.blob(bytes(16)), (2,), type)), ("w", written.array()))
    assert rows(db, "SELECT object, format, json_extract(attributes, '$.descr') FROM zt_objects(?)", source) == [
        ("r", "numpy.structured", expected), ("w", "dense", "<f4")]


RECORD = written.dtype("V8", "|", names_of("a"), fields_of(("a", F4)))


def described(type):
    """A pickle of a record with one field of that type."""
    return written.pickle(("r", written.array(written.blob(bytes(8)), (1,), written.dtype("V8", "|", names_of("a"), fields_of(("a", type))))), ("w", written.array()))


def dated(*unit):
    """A dtype of dates, whose state has that unit."""
    return (written.name("numpy", "dtype") + written.text("M8") + b"\x89\x88\x87R(" + written.number(4) + written.text("<") + b"NNN" + written.number(-1) * 2
            + written.number(0) + b"}(" + b"".join(unit) + b"t\x86tb")


@pytest.mark.parametrize("type, expected", [
    (dated(b"C\1D", written.number(1)), "<M8[D]"), (dated(b"C\2ns", written.number(25)), "<M8[25ns]"), (dated(written.text("s"), b"N"), "<M8[s]"),
    (dated(b"N", written.number(1)), "<M8"), (dated(b"C\0", written.number(1)), "<M8"), (dated(written.text("123456789"), written.number(1)), "<M8"),
    (dated(b"C\1\x1f", written.number(1)), "<M8"), (dated(b"C\1\x7f", written.number(1)), "<M8"),
    (class_of("m", "x" * 32), "x" * 32), (class_of("m", "x" * 33), ""), (written.dtype("f" * 32), "<" + "f" * 32), (written.dtype("f" * 33), ""),
    (written.dtype(""), ""), (written.dtype("f4", ""), "|f4"), (written.dtype("f4", "<<"), "|f4"),
    (written.name("numpy", "dtype") + written.number(4) + b"\x89\x88\x87R", "")])
def test_a_type_is_shown_as_far_as_it_is_one(db, type, expected):
    assert rows(db, "SELECT object, json_extract(attributes, '$.descr[0][1]') FROM zt_objects(?)", described(type)) == [("r", expected), ("w", None)]


@pytest.mark.parametrize("names, shown", [([f"{i:03}" for i in range(100)], True), ([f"{i:03}" for i in range(130)], False),
                                          ([str(i) * 80 for i in range(100, 373)], False)])
def test_the_fields_that_are_shown_are_bounded(db, names, shown):
    """16,384 entries are looked at, which stand in the opposite order here, and 64 KiB are shown."""
    fields = fields_of(*((name, F4) for name in (names if len(names) == 273 else reversed(names))))
    source = written.pickle(("r", written.array(written.blob(bytes(8)), (1,), written.dtype("V8", "|", names_of(*names), fields))))
    found, = rows(db, "SELECT json_extract(attributes, '$.descr') FROM zt_objects(?)", source)
    assert found == (json.dumps([[name, "<f4"] for name in names], separators=(",", ":")) if shown else None,)


def test_a_field_whose_name_is_no_text_is_passed_over(db):
    fields = b"}(" + written.number(1) + b"N" + written.text("a") + written.tuple_of(F4, written.number(0)) + b"u"
    source = written.pickle(("r", written.array(written.blob(bytes(8)), (1,), written.dtype("V8", "|", names_of("a"), fields))))
    assert rows(db, "SELECT json_extract(attributes, '$.descr') FROM zt_objects(?)", source) == [('[["a","<f4"]]',)]


def test_a_record_without_a_size_has_none(db):
    source = written.pickle(("r", written.array(written.blob(bytes(8)), (1,), written.dtype("Z8", "|", names_of("a"), fields_of(("a", F4))))))
    assert rows(db, "SELECT object, format, dtype FROM zt_objects(?)", source) == [("r", "numpy.structured", None)]


def wrapped(state, behind=b"\x00" + written.ONES):
    return written.name("joblib.numpy_pickle", "NumpyArrayWrapper") + b")\x81" + state + b"b" + behind


@pytest.mark.parametrize("state, fault", [
    (b"]", "its dtype is not known"),                                                         # Not a dict
    (b"}(" + b"".join(written.text(f"k{i}") + b"N" for i in range(64)) + written.text("dtype") + F4 + b"u", "its dtype is not known"),   # Too far behind
    (b"}(" + written.number(1) + b"N" + written.text("dtype") + F4 + b"u", "its shape is invalid"),
    (b"}(" + written.text("shape") + written.text("4") + written.text("dtype") + F4 + b"u", "its shape is invalid")])
def test_the_state_of_an_array_of_joblib(db, state, fault):
    source = written.pickle(("w", wrapped(state)))
    assert message(db, "SELECT * FROM zt_objects(?)", source).endswith(f"an array of joblib: {fault}")


def test_records_with_objects_are_a_pickle_behind_their_wrapper(db):
    """A flag of their dtype says it; one that is no number says nothing."""
    record = written.dtype("V8", "|", names_of("a"), fields_of(("a", written.OBJECTS)), 1)
    plain = written.dtype("V8", "|", names_of("a"), fields_of(("a", F4))).replace(written.number(0) + b"tb", b"Ntb")
    source = written.pickle(("o", written.wrapper((2,), record, alignment=None, behind=written.LISTED)), ("p", written.wrapper((1,), plain, behind=b"\0" + bytes(8))),
                            ("v", written.array()))
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("o", "numpy.structured"), ("p", "numpy.structured"), ("v", "dense")]
    assert attributes(db, source) == {"o.0": 1, "o.1": None}
    assert value(db, "SELECT zt_dense(?, 'v')", source) == written.ONES


def test_a_dtype_that_changes_behind_its_wrapper(db):
    """Its state comes after the elements, and says that they are objects."""
    type = written.name("numpy", "dtype") + written.text("V4") + b"\x89\x88\x87Rq\5"
    state = b"h\5" + tuple_state(1) + b"b0"
    source = written.pickle(("w", written.wrapper((4,), type)), ("v", state + written.array()))
    assert message(db, "SELECT zt_dense(?, 'w')", source).endswith("object 'w': its elements are not there")
    assert value(db, "SELECT zt_dense(?, 'v')", source) == written.ONES


@pytest.mark.parametrize("packed", [bytes, zlib.compress, gzip.compress], ids=["plain", "zlib", "gzip"])
@pytest.mark.parametrize("data", [written.blob(b"abc"), written.text("abc")], ids=["bytes", "text"])
def test_elements_without_values_have_their_bytes(db, packed, data):
    """Those that they should have are not those that are there."""
    if data[:1] != b"B":   # Before protocol 3, bytes are text
        data = written.name("_codecs", "encode") + written.tuple_of(data, written.text("latin1")) + b"R"
    source = packed(written.pickle(*((name, written.array(data, shape, sized(n))) for name, shape, n in (("w", (2**61, 2), 16), ("v", (2,), 2), ("u", (3,), 1)))))
    assert rows(db, "SELECT rule, object, message FROM zt_check(?, 'full') WHERE severity = 'error'", source) == [
        ("length", "w", "its elements are 2^64-1 bytes or more, and it has 3"), ("length", "v", "its elements are 4 bytes, and it has 3")]
    assert rows(db, "SELECT object, decoded_length, zt_blob(?1, object) FROM zt_components(?1)", source) == [(name, 3, b"abc") for name in "wvu"]


def sized(n):
    """The dtype of bytes, of n each."""
    return (written.name("numpy", "dtype") + written.text(f"S{n}") + b"\x89\x88\x87R"
            + written.tuple_of(written.number(3), written.text("|"), b"N", b"N", b"N", written.number(n), written.number(1), written.number(0)) + b"b")


def tuple_state(flags):
    return written.tuple_of(written.number(3), written.text("|"), b"N", b"N", b"N", written.number(-1), written.number(-1), written.number(flags))


def test_objects_of_joblib_of_a_dtype_that_is_none(db):
    inner = b"\x80\2" + written.array(b"](N" + b"Ne", (2,), written.name("os", "system")) + b"."
    source = written.pickle(("w", written.wrapper((2,), written.OBJECTS, alignment=None, behind=inner)), ("v", written.array()))
    assert message(db, "SELECT zt_dense(?, 'w')", source).endswith("object 'w': its elements are not an array of objects")


def scalar(type, data):
    return written.name("numpy.core.multiarray", "scalar") + type + data + b"\x86R"


def test_results_that_are_not_as_python_makes_them_are_calls(db):
    date = written.name("datetime", "date") + written.tuple_of(b"C\4\x07\xea\1\2")
    entries = {"date": date + b"R", "none": written.name("datetime", "date") + b")R", "number": written.name("datetime", "date") + written.tuple_of(b"K\1") + b"R",
               "keywords": date + b"}" + written.text("a") + b"K\1s\x92", "list": date + b"R(K\1e", "dict": date + b"RK\1K\2s",
               "unsized": scalar(written.dtype("Z4"), b"C\4abcd"), "sized": scalar(F4, b"C\4\0\0\x80?"), "short": scalar(F4, b"C\3\0\0\x80")}
    found = attributes(db, written.pickle(*entries.items()))
    assert found["date"] == "2026-01-02" and found["sized"] == 1.0
    assert {name: found[name]["$opaque"] for name in entries if name not in ("date", "sized")} == {
        "none": "datetime.date", "number": "datetime.date", "keywords": "datetime.date", "list": "datetime.date", "dict": "datetime.date",
        "unsized": "numpy.core.multiarray.scalar", "short": "numpy.core.multiarray.scalar"}


@pytest.mark.parametrize("name", [*"?bBhHiIqQefdFD", "bool", "int64", "float32", "complex64"])
def test_types_may_have_numpys_letters_and_names(db, name):
    dtype = numpy.dtype(name)
    element = numpy.array([-3]).astype(dtype)
    raw = written.pickle(("s", scalar(written.dtype(name), written.blob(element.tobytes()))), ("w", written.array(written.blob(element.tobytes()), (1,), written.dtype(name))))
    plain = pickle.dumps({"s": element[0], "w": element}, 2)
    assert pickle.loads(raw) == pickle.loads(plain) == {"s": element[0], "w": element}
    shown = "SELECT key, value, type FROM zt_attributes(?) WHERE key = 's'"
    assert rows(db, shown, raw) == rows(db, shown, plain) != []
    assert rows(db, "SELECT object, format, dtype, type, zt_dense(?1, 'w') FROM zt_objects(?1)", raw) == [
        ("w", "dense", *rows(db, "SELECT dtype, type FROM zt_objects(?)", plain)[0], element.tobytes())]


def test_keys_of_numpys_scalars_are_as_python_shows_them(db):
    def complex(real, imag):
        return scalar(written.dtype("c16"), b"C\x10" + struct.pack("<dd", real, imag))

    nan = struct.unpack("<d", b"\0\0\0\0\0\0\xf8\xff")[0]
    keys = [complex(1, 2), complex(1, -2), complex(1, -0.0), complex(1, nan), complex(0, -2),
            scalar(written.dtype("S1024", "|"), written.blob(b"x" * 1024)), scalar(written.dtype("S1025", "|"), written.blob(b"x" * 1025))]
    source = b"\x80\4}(" + b"".join(key + b"K\1" for key in keys) + b"u."
    assert list(attributes(db, source)) == ["(1+2j)", "(1-2j)", "(1-0j)", "(1+nanj)", "-2j", "78" * 1024, "..."]


@pytest.mark.parametrize("code, known", [("latin1", 1), ("latin-1", 1), ("iso-8859-1", 1), ("utf-8", 0), (None, 0)])
def test_a_text_that_stands_for_bytes_says_so(db, code, known):
    source = b"\x80\4" + written.name("_codecs", "encode") + b"\x8c\3a\xc3\xbf" + (written.text(code) if code else b"N") + b"\x86R."
    assert rows(db, "SELECT value, type FROM zt_attributes(?)", source)[0] == ((b"a\xff", "blob") if known else (
        '{"$opaque":"_codecs.encode"}', "object"))


def test_a_long_pickle_of_bytes_is_one(db):
    """Its first 8 bytes are a length in safetensors, too, behind which no brace stands."""
    source = b"\x80\4\x8e" + bytes(8) + b"0" + written.blob(bytes(10 << 20)) + b"."
    assert rows(db, "SELECT container, version, objects FROM zt_files(?)", source) == [("pickle", "4", 0)]
    dropped = b"\x80\4" + written.blob(bytes(64 << 20)) + b"0" + written.text("t") + b"."
    assert rows(db, "SELECT objects, attributes FROM zt_files(?)", dropped) == [(0, '{"":"t"}')]


def test_compressed_pickles_of_every_size(db):
    """Elements that are passed over; none; a stream of which 64 KiB give no bytes; more than are read at once; and one that is cut among elements."""
    noise = random.Random(3).randbytes(400000)
    raw = written.pickle(("w", written.wrapper((100000,), behind=b"\0" + noise)), ("n", written.wrapper((0,), behind=b"\0")), ("v", written.array()))
    late = zlib.compressobj()
    late = late.compress(raw[:20]) + late.flush(zlib.Z_SYNC_FLUSH) + b"\0\0\0\xff\xff" * 60000 + late.compress(raw[20:]) + late.flush()
    for source in (raw, zlib.compress(raw), gzip.compress(raw), zlib.compress(raw, 0), late):
        assert arrays(db, source) == {"w": ("f32", [100000]), "n": ("f32", [0]), "v": ("f32", [4])}
        assert value(db, "SELECT zt_dense(?, 'v')", source) == written.ONES
        assert value(db, "SELECT zt_dense(?, 'w')", source) == noise
    much = random.Random(4).randbytes(10 << 20)
    assert value(db, "SELECT zt_dense(?, 'a')", zlib.compress(pickle.dumps({"a": numpy.frombuffer(much, "u1")}, 5), 0)) == much
    cut = zlib.compress(raw)[:200000]
    assert message(db, "SELECT * FROM zt_objects(?)", cut).endswith("deflate: the stored bytes end within the stream")
    assert rows(db, "SELECT error_kind FROM zt_files(?)", b"\x1f\x8b\7" + gzip.compress(raw)[3:]) == [("unknown",)]


@pytest.mark.parametrize("protocol", range(6))
def test_a_file_of_torch_before_16_in_gzip_is_not_read(db, protocol):
    """Its values are behind its pickles."""
    import write_pytorch
    parts = [0x1950a86a20f9469cfc6c, 1001, {}]
    raw = b"".join(pickle.dumps(part, protocol) for part in parts) + write_pytorch.pickled({}) + pickle.dumps([], protocol)
    assert rows(db, "SELECT container, error FROM zt_files(?)", raw) == [("pytorch", None)]
    packed = gzip.compress(raw)
    assert rows(db, "SELECT error_kind, objects FROM zt_files(?)", packed) == [("unknown", None)]
    assert message(db, "SELECT * FROM zt_objects(?)", packed) == "ztensor: <blob>: not a tensor file, but compressed by gzip: is one in it?"
    assert rows(db, "SELECT error_kind FROM zt_files(?)", zlib.compress(raw)) == [("unknown",)]


def test_many_arrays_of_joblib(db):
    source = written.pickle(("first", written.array()), *((f"a{i}", written.wrapper((1000,), behind=b"\0" + bytes([i]) * 4000)) for i in range(40)))
    for packed in (source, zlib.compress(source)):
        assert [value(db, "SELECT zt_dense(?, ?)", packed, f"a{i}") for i in (0, 17, 39)] == [bytes([i]) * 4000 for i in (0, 17, 39)]
        assert len(rows(db, "SELECT * FROM zt_objects(?)", packed)) == 41
        assert value(db, "SELECT zt_dense(?, 'first')", packed) == written.ONES
    assert rows(db, "SELECT object, offset FROM zt_components(?)", source) == [("first", source.index(written.ONES))] + [
        (f"a{i}", source.index(b"\0" + bytes([i]) * 4000) + 1) for i in range(40)]


def test_a_pickle_without_a_mark_of_any_length(db):
    for source, kind in ((b"(lp0\n" + b"I1\na" * 5000 + b".", None), (b"It is a text." * 1000, "unknown"), (b"(text." * 2000, "unknown"), (b"(" + b"I1\n" * 3000 + b"text.", "unknown"),
                         (b"\0.", "unknown"), (b"\0\0\0.", "unknown")):
        assert rows(db, "SELECT error_kind FROM zt_files(?)", source) == [(kind,)]


@pytest.mark.parametrize("pack", [zlib.compress, gzip.compress, lambda data: zlib.compress(data, 0), lambda data: zlib.compress(data, 1)],
                         ids=["zlib", "gzip", "stored", "fast"])
def test_a_compressed_pickle_is_one(db, save, pack):
    raw = pickle.dumps({"a": A, "b": B}, 4)
    packed = pack(raw)
    for source in (packed, save("m.joblib", packed)):
        assert value(db, "SELECT zt_dense(?, 'b')", source) == B.tobytes()
        assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", raw)
        assert rows(db, "SELECT offset, length, decoded_length FROM zt_components(?)", source) == [(0, len(packed), 48), (0, len(packed), 24)]
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


def packed_members(*parts):
    return b"".join(gzip.compress(part, mtime=0) for part in parts)


def test_members_of_gzip_are_one_stream(db, save):
    """As in RFC 1952: a pickle in pieces, empty members, and zeros between members and behind the last, which Python passes over, too."""
    raw = pickle.dumps({"a": A, "b": B}, 4)
    empty = gzip.compress(b"", mtime=0)
    for packed in (packed_members(raw[:100], raw[100:]), packed_members(raw[:1], raw[1:2], raw[2:]), packed_members(*(raw[i:i + 1] for i in range(len(raw)))),
                   packed_members(raw) + empty, empty * 3 + packed_members(raw), packed_members(raw) + bytes(10), packed_members(raw) + bytes(1 << 20),
                   packed_members(raw[:50]) + bytes(300000) + packed_members(raw[50:]) + bytes(3) + empty + bytes(1)):
        assert gzip.decompress(packed) == raw
        for source in (packed, save("m.pkl.gz", packed)):
            assert value(db, "SELECT zt_dense(?, 'b')", source) == B.tobytes()
            assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", raw)
            assert rows(db, "SELECT offset, length, decoded_length FROM zt_components(?)", source) == [(0, len(packed), 48), (0, len(packed), 24)]
            assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


def test_members_of_gzip_across_windows(db, save):
    """Their headers and checksums lie at every place of the windows that are read."""
    noise = random.Random(5).randbytes(700000)
    raw = pickle.dumps({"a": numpy.frombuffer(noise, "u1"), "b": B}, 4)
    packed = packed_members(*(raw[i:i + 97] for i in range(0, len(raw), 97)))
    for source in (packed, save("m.pkl.gz", packed)):
        assert value(db, "SELECT zt_dense(?, 'a')", source) == noise
        assert value(db, "SELECT zt_dense(?, 'b')", source) == B.tobytes()


def test_what_is_behind_a_member_of_gzip(db):
    """Other bytes in a member are what they are in one stream, and bytes that are no member are wrong wherever they are."""
    raw = pickle.dumps({"a": A, "b": B}, 4)
    packed = packed_members(raw, b"more")
    assert value(db, "SELECT zt_dense(?, 'b')", packed) == B.tobytes()
    assert rows(db, "SELECT severity, rule, message FROM zt_check(?, 'full')", packed) == [("warning", "pickle-behind", "4 decoded bytes follow behind the pickle")]
    for behind, said in ((b"more", "4 bytes follow behind the stream's end"), (bytes(100000) + b"more", "4 bytes follow behind the stream's end"),
                         (bytes(9) + b"\x1f\x8b\7", "an invalid header"), (b"\x1f\x8b\x08\x20" + bytes(30), "an invalid header"),
                         (b"\x1f", "the stored bytes end within the stream"), (packed_members(raw)[:-1], "the stored bytes end within the stream"),
                         (packed_members(raw)[:-8] + bytes(8), "its bytes do not have the checksum behind"),
                         (packed_members(raw)[:-1] + b"\1", "its bytes do not have the checksum behind")):
        assert message(db, "SELECT * FROM zt_objects(?)", packed_members(raw) + behind).endswith("deflate: " + said)
    assert message(db, "SELECT * FROM zt_objects(?)", zlib.compress(raw) + bytes(4)).endswith("deflate: 4 bytes follow behind the stream's end")


def test_other_compressions_are_said(db):
    assert rows(db, "SELECT error_kind FROM zt_files(?)", bz2.compress(pickle.dumps(A))) == [("unsupported",)]


def test_what_is_compressed_and_no_pickle_is_unknown(db):
    for data in (zlib.compress(b"text"), gzip.compress(b"\x80\x04"), zlib.compress(b""), b"\x78\x9c", b"\x1f\x8b\x08"):
        assert rows(db, "SELECT error_kind FROM zt_files(?)", data) == [("unknown",)]


def test_elements_of_joblib_are_not_read_when_a_file_is_opened(db, save):
    """They would be 4 GiB."""
    hole = written.pickle(("w", written.wrapper((1 << 30,), behind=b"\x00@@@@")), ("v", written.array()))
    at = hole.index(b"\x00@@@@") + 1
    path = save("m.joblib", hole[:at])
    with open(path, "r+b") as file:
        file.seek(at + (4 << 30))
        file.write(hole[at + 4:])
    assert arrays(db, path) == {"w": ("f32", [1 << 30]), "v": ("f32", [4])}
    assert rows(db, "SELECT object, offset, length FROM zt_components(?)", path) == [
        ("w", at, 4 << 30), ("v", at + (4 << 30) + hole[at + 4:].index(written.ONES), 16)]
    assert value(db, "SELECT zt_dense(?, 'w', 'f32', 1000000000, 2)", path) == bytes(8)


def test_a_pickle_beyond_its_bound_is_not_read(db, save):
    path = save("m.pkl", b"\x80\x04\x8e" + (300 << 20).to_bytes(8, "little"))
    os.truncate(path, (300 << 20) + 12)
    assert rows(db, "SELECT error, error_kind FROM zt_files(?)", path) == [
        (f"ztensor: {path}: a pickle of more than 256 MiB, beside joblib's arrays", "unsupported")]


class Calls:
    def __reduce__(self):
        return os.mkdir, ("PICKLE_WAS_EXECUTED",)


@PROTOCOLS
def test_nothing_is_called(db, tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    source = pickle.dumps({"a": A, "b": Calls(), "c": [Calls(), A]}, protocol)
    assert arrays(db, source) == {"a": ("f64", [2, 3]), "c.1": ("f64", [2, 3])}
    assert attributes(db, source) == {"b": {"$opaque": f"{os.mkdir.__module__}.mkdir"}, "c.0": {"$opaque": f"{os.mkdir.__module__}.mkdir"}}
    assert os.listdir() == []


class Model:
    def __init__(self):
        self.weights, self.rate = A, 0.5


@PROTOCOLS
def test_an_object_is_its_class_and_its_state(db, protocol):
    source = pickle.dumps([Model()], protocol)
    assert arrays(db, source) == {"0.weights": ("f64", [2, 3])}
    assert attributes(db, source) == {"0": {"$opaque": f"{__name__}.Model"}, "0.rate": 0.5}


def test_an_array_among_arguments_is_listed_by_its_place(db):
    source = b"\x80\x04" + written.name("m", "f") + b"(" + written.number(5) + written.array() + b"N" + b"tR."
    assert arrays(db, source) == {"1": ("f32", [4])} and attributes(db, source) == {"": {"$opaque": "m.f"}}


def test_an_array_in_a_list_of_arguments_is_listed_and_what_is_beside_it_is_not(db):
    source = b"\x80\4" + written.name("m", "f") + written.tuple_of(b"](" + written.number(5) + written.array() + b"](K\6" + written.array() + b"ee") + b"R."
    assert arrays(db, source) == {"0.1": ("f32", [4]), "0.2.1": ("f32", [4])} and attributes(db, source) == {"": {"$opaque": "m.f"}}


@pytest.mark.parametrize("callee, args, shown", [
    (("copyreg", "_reconstructor"), written.name("m", "C"), "m.C"), (("copy_reg", "_reconstructor"), written.name("m", "C"), "m.C"),
    (("m", "_reconstructor"), written.name("m", "C"), "m._reconstructor"), (("copyreg", "_reconstructor"), written.number(5), "copyreg._reconstructor"),
    (("copyreg", "other"), written.name("m", "C"), "copyreg.other")])
def test_an_object_of_an_old_protocol_is_called_by_its_class(db, callee, args, shown):
    source = b"\x80\4" + written.name(*callee) + args + written.name("builtins", "object") + b"N\x87R."
    assert attributes(db, source) == {"": {"$opaque": shown}}


def test_what_is_called_without_a_name_is_unknown(db):
    assert attributes(db, b"\x80\4K\1)R.") == {"": {"$opaque": "unknown"}}


@pytest.mark.parametrize("module, function, said", [("torch._utils", "_rebuild_other", 1), ("torch", "_rebuild_", 0), ("torch", "_remake_all", 0), ("other", "_rebuild_x", 0),
                                                    ("t", "_rebuild_x", 0)])
def test_a_call_that_makes_a_tensor_of_pytorch_is_said(db, module, function, said):
    source = b"\x80\4" + written.name(module, function) + b")R."
    assert [rule for rule, in rows(db, "SELECT rule FROM zt_check(?)", source)] == ["pickle-tensor", "no-values"][:2 * said]
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("", "torch.unread")] * said
    assert attributes(db, source) == {"": {"$opaque": f"{module}.{function}"}}


def loaded(data=b"1"):
    """A storage as pickle.dump() has it: a function's call, with the bytes of torch.save."""
    return written.name("torch.storage", "_load_from_bytes") + written.blob(data) + b"\x85R"


def made(function="_rebuild_tensor_v2", storage=None, shape=written.tuple_of(written.number(2), written.number(3)), *more):
    stride = written.tuple_of(written.number(3), written.number(1))
    return written.name("torch._utils", function) + written.tuple_of(storage or loaded(), written.number(0), shape, stride, b"\x89", b"}", *more) + b"R"


PACKAGED = written.tuple_of(written.text("storage"), written.name("torch", "HalfStorage"), written.number(0), written.text("cpu"), written.number(6)) + b"Q"
FLOAT = written.name("torch", "float32")
AS_PARAMETER = written.name("torch._utils", "_rebuild_parameter") + b"(" + made() + b"\x88}tR"
QUANTIZER = written.tuple_of(written.name("torch", "per_channel_affine"), made(), written.array(), written.number(0))


@pytest.mark.parametrize("torch, listed", [
    (made(), {"w": (None, "[2,3]", {})}), (made("_rebuild_tensor"), {"w": (None, "[2,3]", {})}), (made("_rebuild_tensor_v3", None, b")", FLOAT), {"w": ("f32", "[]", {})}),
    (made(storage=PACKAGED), {"w": ("f16", "[2,3]", {})}), (made(shape=written.number(6)), {"w": (None, None, {})}),
    (made(shape=written.tuple_of(written.number(2), b"N")), {"w": (None, None, {})}), (made(shape=written.tuple_of(written.number(-2))), {"w": (None, None, {})}),
    (AS_PARAMETER, {"w": (None, "[2,3]", {"parameter": True, "requires_grad": True})}), (made("_rebuild_other"), {"w": (None, None, {})}),
    (loaded(), {"w": (None, None, {})}), (PACKAGED, {"w": (None, None, {})}), (written.name("m", "f") + b"(" + written.number(5) + loaded() + b"tR", {"w.1": (None, None, {})}),
    (written.name("m", "f") + b"(" + AS_PARAMETER + b"tR", {"w.0": (None, "[2,3]", {"parameter": True, "requires_grad": True})}),
    (written.name("torch._utils", "_rebuild_sparse_tensor") + b"(" + made() + b"tR", {"w": (None, None, {}), "w.0": (None, "[2,3]", {})})], ids=range(14))
def test_a_tensor_of_pytorch_is_listed_without_values(db, save, torch, listed):
    raw = written.pickle(("w", torch), ("v", written.array()))
    for source in (raw, zlib.compress(raw), save("m.pkl", gzip.compress(raw))):
        got = {name: (type, shape, json.loads(more)) for name, type, shape, more in rows(
            db, "SELECT object, type, shape, attributes FROM zt_objects(?) WHERE format = 'torch.unread' AND components = 0", source)}
        assert got == listed
        assert rows(db, "SELECT object, format FROM zt_objects(?) EXCEPT SELECT object, 'torch.unread' FROM zt_objects(?)", source, source) == [("v", "dense")]
        assert value(db, "SELECT zt_fingerprint(?)", source) is None
        assert rows(db, "SELECT object, fingerprint FROM zt_objects(?) WHERE object <> 'v'", source) == [(name, None) for name in listed]
        first = next(iter(listed))
        assert rows(db, "SELECT object, rule, message FROM zt_check(?)", source) == [
            (None, "pickle-tensor", f"'{first}' is a tensor of PyTorch, which is not read in a plain pickle"),
            *((name, "no-values", "it has no values: it is a tensor of PyTorch whose storage is not read") for name in listed)]


def test_a_quantized_tensor_of_pytorch_is_listed_with_the_tensors_of_its_quantizer(db):
    source = written.pickle(("w", written.name("torch._utils", "_rebuild_qtensor") + written.tuple_of(
        loaded(), written.number(0), written.tuple_of(written.number(4)), written.tuple_of(written.number(1)), QUANTIZER, b"\x89", b"}") + b"R"))
    assert rows(db, "SELECT object, format, shape FROM zt_objects(?)", source) == [
        ("w", "torch.unread", "[4]"), ("w.4.1", "torch.unread", "[2,3]"), ("w.4.2", "dense", "[4]")]


def test_files_that_differ_in_a_tensor_of_pytorch_have_no_fingerprint_in_common(db):
    sources = [written.pickle(("a", written.array()), ("w", made(storage=loaded(data)))) for data in (b"1", b"2")]
    assert [value(db, "SELECT zt_fingerprint(?)", source) for source in sources] == [None, None]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as z:
        z.writestr("p/model.pkl", sources[0])
    assert value(db, "SELECT zt_fingerprint(?)", packed.getvalue()) is None
    assert arrays(db, packed.getvalue()) == {"a": ("f32", [4]), "w": (None, [2, 3])}


def test_a_shape_may_be_a_list_or_a_number(db):
    for shape, expected in ((b"](J\2\0\0\0K\2e", [2, 2]), (b"K\4", [4])):
        state = written.tuple_of(written.number(1), shape, F4, b"\x89", written.blob(written.ONES))
        assert arrays(db, written.pickle(("w", written.array(state=state)))) == {"w": ("f32", expected)}


def of_jax(module="jax._src.array", function="_reconstruct_array", maker="_reconstruct", state=None):
    state = state or written.tuple_of(written.number(1), written.tuple_of(written.number(4)), written.dtype(), b"\x89", written.blob(written.ONES))
    return (written.name(module, function) + b"(" + written.name("numpy.core.multiarray", maker)
            + written.tuple_of(written.name("numpy", "ndarray"), written.tuple_of(written.number(0)), written.blob(b"b")) + state
            + b"}" + written.text("weak_type") + b"\x89stR")


@pytest.mark.parametrize("name", [("jax._src.array", "_reconstruct_array"), ("jax._src.device_array", "reconstruct_device_array"),
                                  ("dill._dill", "_create_array"), ("dill.dill", "_create_array")])
def test_an_array_of_jax_or_dill_is_numpys(db, name):
    source = written.pickle(("w", of_jax(*name)), ("v", written.array()))
    assert arrays(db, source) == {"w": ("f32", [4]), "v": ("f32", [4])} and attributes(db, source) == {}
    assert value(db, "SELECT zt_dense(?, 'w')", source) == written.ONES
    assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", pickle.dumps(dict.fromkeys("wv", numpy.arange(1, 5, dtype="f4"))))
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@pytest.mark.parametrize("name", [("numpy", "array"), ("numpy", "frombuffer"), ("array", "array"), ("array", "_array_reconstructor"), ("pyarrow.lib", "_restore_array"),
                                  ("polars.series.series", "Series"), ("polars.dataframe.frame", "DataFrame")])
def test_arrays_of_other_kinds_have_no_values(db, name):
    for source in [written.pickle(("w", written.name(*name) + written.tuple_of(written.blob(bytes([i]) * 8)) + b"R"), ("v", written.array())) for i in range(2)]:
        assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("w", "numpy.unknown"), ("v", "dense")]
        assert rows(db, "SELECT object, severity, message FROM zt_check(?)", source) == [("w", "warning", "it is an array of a kind that is not read")]
        assert value(db, "SELECT zt_fingerprint(?)", source) is None


def test_keys_with_a_nul_are_written_as_python_shows_them(db):
    """As gensim's Doc2Vec has one. A key that is so written already is another."""
    source = pickle.dumps({"\0": A, "a\0\0b": 1, "\\x00": B, ("\0", 1): 2, "n": {"\0": 3}})
    assert [name for name, in rows(db, "SELECT object FROM zt_objects(?)", source)] == ["\\x00", "\\x00#2"]
    assert value(db, "SELECT zt_dense(?, '\\x00')", source) == A.tobytes()
    assert attributes(db, source) == {"a\\x00\\x00b": 1, "(\\x00, 1)": 2, "n.\\x00": 3}


def blob_call(data, *more):
    """As Keras' and spaCy's models: a function of bytes, which are in no attribute."""
    return written.name("own", "unpickle") + written.tuple_of(data, *more) + b"R"


@pytest.mark.parametrize("hidden, said", [
    (blob_call(written.blob(bytes(17))), True), (blob_call(written.blob(bytes(16))), False), (blob_call(b"N", b"](" + written.blob(bytes(50)) + b"e"), True),
    (blob_call(written.name("io", "BytesIO") + b")\x81" + written.tuple_of(written.blob(b"PK\3\4" + bytes(50)), b"K\0", b"N") + b"b"), True),
    (blob_call(written.name("_codecs", "encode") + written.tuple_of(written.text("x" * 17), written.text("latin1")) + b"R"), True),
    (blob_call(written.array()), False), (blob_call(written.text("t" * 100)), False),
    (written.name("types", "CodeType") + written.tuple_of(written.blob(bytes(100))) + b"R", False),
    (blob_call(written.name("types", "CodeType") + written.tuple_of(written.blob(bytes(100))) + b"R"), False),
    (written.name("cloudpickle", "_builtin_type") + written.tuple_of(written.text("CodeType")) + b"R" + written.tuple_of(written.blob(bytes(100))) + b"R", False)])
def test_bytes_that_an_unknown_function_gets_are_an_object(db, hidden, said):
    source = written.pickle(("w", hidden), ("v", written.array()))
    found = rows(db, "SELECT object, format FROM zt_objects(?)", source)
    assert (("w", "pickle.unread") in found) == said and ("v", "dense") in found
    assert [row for row in rows(db, "SELECT object, severity, rule, message FROM zt_check(?)", source)] == [
        ("w", "warning", "unknown-format", "a function that is not known makes it of bytes, which may hold tensors")] * said
    assert (value(db, "SELECT zt_fingerprint(?)", source) is None) == said


class Made:
    """Made by __new__ of bytes, one of them by its name: of protocols 2 and 3 by functools.partial."""
    def __new__(cls, *given, **named):
        return object.__new__(cls)

    def __getnewargs_ex__(self):
        return (b"y" * 40,), {"k": b"z" * 50}


TENSOR_FILES = [
    b"PK\3\4" + bytes(30), b"\x89HDF\r\n\x1a\n" + bytes(30), b"\x93NUMPY\1\0" + bytes(30), b"GGUF\3\0\0\0" + bytes(30), b"ZTEN1000" + bytes(30),
    b"\2\0\0\0\0\0\0\0{}" + bytes(30), b"MATLAB 5.0 MAT-file" + bytes(30), pickle.dumps([1] * 20, 4)]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_bytes_of_each_protocol_are_told(db, protocol):
    """As bytes, as text that becomes bytes, and as a bytearray."""
    for data in TENSOR_FILES:
        source = pickle.dumps({"b": data, "a": bytearray(data), "none": b"\xff\0\0\0\0\0\0\0{}" + bytes(30), "short": data[:16]}, protocol)
        assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("b", "pickle.unread"), ("a", "pickle.unread")]
        assert value(db, "SELECT zt_fingerprint(?)", source) is None
    if protocol >= 2:
        source = pickle.dumps({"m": Made()}, protocol)
        assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("m", "pickle.unread")]


def test_bytes_behind_many_other_values_are_found(db):
    many = b"](" + b"".join(written.text(f"word {i}") for i in range(5000)) + b"e"
    source = written.pickle(("w", blob_call(many, written.blob(bytes(50)))))
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("w", "pickle.unread")]


def test_tensors_of_tensorflow_are_their_argument(db):
    """An array of numpy, or one of its scalars, which is an attribute."""
    def made(value):
        return written.name("tensorflow.python.framework.ops", "convert_to_tensor") + written.tuple_of(value) + b"R"
    scalar = written.name("numpy.core.multiarray", "scalar") + written.tuple_of(written.dtype("i4"), written.blob(b"\7\0\0\0")) + b"R"
    source = written.pickle(("v", made(written.array())), ("step", made(scalar)))
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("v", "dense")] and attributes(db, source) == {"step": 7}
    assert value(db, "SELECT zt_dense(?, 'v')", source) == written.ONES


def test_an_array_of_pythons_own_has_no_values(db):
    for protocol in range(2, 6):
        assert rows(db, "SELECT object, format FROM zt_objects(?)", pickle.dumps({"w": array.array("d", [1, 2])}, protocol)) == [("w", "numpy.unknown")]


@pytest.mark.parametrize("module", ["joblib", "sklearn.externals.joblib"])
@pytest.mark.parametrize("name", ["NDArrayWrapper", "ZNDArrayWrapper"])
def test_wrappers_of_joblib_before_0_10_have_no_values(db, module, name):
    """scikit-learn had a joblib of its own."""
    state = b"}(" + written.text("filename") + written.text("w_01.npy") + b"u"
    source = written.pickle(("w", written.name(f"{module}.numpy_pickle", name) + b")\x81" + state + b"b"))
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("w", "numpy.unknown")]
    assert value(db, "SELECT zt_fingerprint(?)", source) is None


@pytest.mark.parametrize("made_so, why", [
    ({"maker": "_mareconstruct"}, "it is not made by numpy's function"), ({"state": b"N"}, "its state is invalid"), ({"state": b")"}, "its state is invalid")])
def test_an_array_of_jax_that_is_not_understood_has_no_values(db, made_so, why):
    source = written.pickle(("w", of_jax(**made_so)))
    assert rows(db, "SELECT object, shape, fingerprint FROM zt_objects(?)", source) == [("w", None, None)]
    assert value(db, "SELECT zt_fingerprint(?)", source) is None
    assert [(rule, why in text) for rule, text in rows(db, "SELECT rule, message FROM zt_check(?)", source)] == [("unknown-format", True)]
    bare = written.name("jax._src.array", "_reconstruct_array") + b")R"
    assert rows(db, "SELECT object, format FROM zt_objects(?)", written.pickle(("w", bare))) == [("w", "numpy.unknown")]


class Own(numpy.ndarray):
    """An array that a function of its own makes, with numpy's state or more than that."""
    more = ()

    def __reduce__(self):
        return empty_own, (1,), (*super().__reduce__()[2], *self.more)

    def __setstate__(self, state):
        super().__setstate__(state[:5])


class More(Own):
    more = ({"unit": "m"},)


def empty_own(_):
    return numpy.ndarray.__new__(Own, (0,))


class Beside(numpy.ndarray):
    """An array whose state has something beside numpy's, as astropy's quantities do."""

    def __reduce__(self):
        made, arguments, state = super().__reduce__()
        return made, arguments, (state, {"unit": "m"})

    def __setstate__(self, state):
        super().__setstate__(state[0])


@pytest.mark.parametrize("kind", [Own, More, Beside])
@PROTOCOLS
def test_arrays_of_derived_classes_that_have_functions_of_their_own(db, kind, protocol):
    raw = pickle.dumps({"w": A.view(kind), "n": 1}, protocol)
    assert pickle.loads(raw)["w"].tobytes() == A.tobytes()
    assert arrays(db, raw) == {"w": ("f64", [2, 3])} and value(db, "SELECT zt_dense(?, 'w')", raw) == A.tobytes()


LATER = pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))    # Whose pickles have a mark


@LATER
def test_several_pickles_in_a_file_are_a_tuple(db, save, protocol):
    """As when pickle.dump() is called again with the same file."""
    parts = [{"a": A, "n": 1}, B, None, {"a": B, "list": [A]}, "text", {}]
    raw = b"".join(pickle.dumps(part, protocol) for part in parts)
    for source in (raw, save("m.pkl", raw), gzip.compress(raw), packed_members(*(pickle.dumps(part, protocol) for part in parts)), zlib.compress(raw)):
        assert arrays(db, source) == {"0.a": ("f64", [2, 3]), "1": ("i16", [3, 4]), "3.a": ("i16", [3, 4]), "3.list.0": ("f64", [2, 3])}
        for name, array in {"0.a": A, "1": B, "3.a": B, "3.list.0": A}.items():
            assert value(db, "SELECT zt_dense(?, ?)", source, name) == array.tobytes()
        assert attributes(db, source) == {"0.n": 1, "2": None, "4": "text", "5": {}}
        assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", pickle.dumps(tuple(parts)))
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@LATER
def test_several_pickles_of_one_pickler_share_its_memo(db, protocol):
    file = io.BytesIO()
    pickler = pickle.Pickler(file, protocol)
    names = [f"name {i}" for i in range(300)]
    parts = [{"a": A, "names": names}, {"a": B, "names": names}, [A, names[:2]]]
    for part in parts:
        pickler.dump(part)
    raw = file.getvalue()
    assert value(db, "SELECT zt_fingerprint(?)", raw) == value(db, "SELECT zt_fingerprint(?)", pickle.dumps(tuple(parts)))
    assert attributes(db, raw) == attributes(db, pickle.dumps(tuple(parts)))
    assert value(db, "SELECT zt_dense(?, '1.a')", raw) == B.tobytes() and value(db, "SELECT zt_dense(?, '2.0')", raw) == A.tobytes()


def test_many_pickles(db, save):
    """They are read piece by piece: their bytes move while they are walked."""
    noise = random.Random(9).randbytes(3000)
    raw = b"".join(pickle.dumps({"i": i, "w": numpy.frombuffer(noise[:i % 3000], "u1")}) for i in range(4000))
    for source in (raw, save("m.pkl", raw)):
        assert rows(db, "SELECT objects FROM zt_files(?)", source) == rows(db, "SELECT count(*) FROM zt_attributes(?) WHERE object IS NULL", source) == [(4000,)]
        for i in (0, 1, 1999, 2999, 3999):
            assert value(db, "SELECT zt_dense(?, ?)", source, f"{i}.w") == noise[:i % 3000]
            assert value(db, "SELECT value FROM zt_attributes(?) WHERE key = ?", source, f"{i}.i") == i
    assert rows(db, "SELECT objects, error FROM zt_files(?)", pickle.dumps(5) * 100000) == [(0, None)]


def test_pickles_with_arrays_of_joblib_behind_each_other(db):
    parts = [written.pickle(("w", written.wrapper()), ("x", written.array())), pickle.dumps(A), written.pickle(("w", written.wrapper((2,), written.OBJECTS, alignment=None, behind=written.LISTED)))]
    source = b"".join(parts)
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("0.w", "dense"), ("0.x", "dense"), ("1", "dense"), ("2.w", "numpy.object")]
    assert value(db, "SELECT zt_dense(?, '0.w')", source) == written.ONES and value(db, "SELECT zt_dense(?, '1')", source) == A.tobytes()


def test_pickles_that_end_early(db):
    """Up to the mark of the second, the rest is a gap; then it is a pickle without its end."""
    first, second = pickle.dumps({"a": A}), pickle.dumps({"b": B})
    for n in range(len(second)):
        source = first + second[:n]
        if n < 3:
            assert rows(db, "SELECT rule, severity FROM zt_check(?)", source) == ([("gap", "warning")] if n else []) and arrays(db, source) == {"a": ("f64", [2, 3])}
        else:
            said = message(db, "SELECT * FROM zt_objects(?)", source)
            assert said.endswith((f"the pickle ends at byte {len(source)} without STOP", "its argument goes beyond the pickle's end"))


def test_bytes_behind_a_pickle_are_a_gap(db):
    for raw in (pickle.dumps({"a": A}), pickle.dumps({"a": A}) + pickle.dumps(B)):
        for behind in (b"more", b"\x80", b"\x80\x04", b"\x80\x06N.", b"\x80\x01N.", b"N.", bytes(1000)):
            assert rows(db, "SELECT rule, severity, message FROM zt_check(?)", raw + behind) == [
                ("gap", "warning", f"bytes {len(raw)} to {len(raw + behind)} belong to no component")]


def test_a_text_that_ends_with_a_dot_is_no_pickle(db):
    for text in (b"It is a text.", b"Item 1\nItem 2.", b"(see there).", b"I am.", b"", b".", b"K.", b"Some words, and a number: 5.\nThe end."):
        assert rows(db, "SELECT error_kind FROM zt_files(?)", text) in ([("unknown",)], [("broken",)])
        assert b"\n" not in text or rows(db, "SELECT error_kind FROM zt_files(?)", text) == [("unknown",)]


def test_a_lone_value_is_a_file_without_tensors(db):
    for protocol in range(6):
        assert rows(db, "SELECT container, objects, attributes FROM zt_files(?)", pickle.dumps(5, protocol)) == [("pickle", 0, '{"":5}')]


def test_a_broken_array_of_joblib_names_its_place(db):
    source = written.pickle(("w", written.wrapper((9,))))
    assert "bytes of an array's elements should follow" in message(db, "SELECT * FROM zt_objects(?)", source)


@pytest.mark.parametrize("behind", [b"\x80\x04K\x05.", b"\x80\x04" + written.array() + b"."], ids=["a number", "an array of numbers"])
def test_joblibs_objects_are_an_array_of_them_in_another_pickle(db, behind):
    source = written.pickle(("w", written.wrapper((2,), written.dtype("O8", "|"), alignment=None, behind=behind)), ("v", written.array()))
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("w", "numpy.object"), ("v", "dense")]
    assert message(db, "SELECT zt_dense(?, 'w')", source).endswith("object 'w': its elements are not an array of objects")
    assert value(db, "SELECT zt_dense(?, 'v')", source) == written.ONES


def test_files_in_a_directory(db, save, tmp_path):
    for name in ("a.pkl", "b.pickle", "c.joblib", "d.bin"):
        save(name, pickle.dumps(A))
    assert [os.path.basename(path) for path, in rows(db, "SELECT path FROM zt_files(?)", str(tmp_path))] == ["a.pkl", "b.pickle", "c.joblib"]


def test_torchs_files_stay_torchs(db):
    for path in sorted((corpus.FORMATS / "pytorch" / "golden").glob("*.pt")):
        assert rows(db, "SELECT container FROM zt_files(?)", str(path)) == [("pytorch",)]


def test_a_pickle_in_an_archive(db):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("model.pkl", pickle.dumps({"a": A, "n": 1}))
        z.writestr("settings", pickle.dumps({"rate": 1}))
    source = file.getvalue()
    assert rows(db, "SELECT container, version, attributes FROM zt_files(?)", source) == [("pickle", "4", '{"n":1}')]
    assert value(db, "SELECT zt_dense(?, 'a')", source) == A.tobytes()


def test_a_header_whose_length_begins_like_a_pickle_is_one_of_safetensors(db):
    """0x2e0280 bytes: PROTO 2, STOP. And where no brace follows, it is a pickle, of 128."""
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'.ljust(0x2E0280)
    source = len(header).to_bytes(8, "little") + header + bytes(4)
    assert rows(db, "SELECT container, objects FROM zt_files(?)", source) == [("safetensors", 1)]
    assert rows(db, "SELECT container, version FROM zt_files(?)", b"\x80\2K\x80.") == [("pickle", "2")]
    assert rows(db, "SELECT container FROM zt_files(?)", b"\x80\2\x80\2N.") == [(None,)]


def test_reals_as_keys_are_as_python_shows_them(db):
    """Also those that it begins to write with an exponent."""
    numbers = random.Random(5)
    keys = [0.0, -0.0, 1e15, -1e16, 9007199254740993.0, 9999999999999998.0, 1e16 + 2, 99999999999999984.0, 1e17, 123456789012345.6, 1e-4, 1e-5, 5e-324]
    keys += [numbers.choice((1, -1)) * numbers.uniform(1, 10) * 10.0 ** numbers.randrange(-7, 19) for _ in range(3000)]
    assert [key for key, in rows(db, "SELECT key FROM zt_attributes(?)", pickle.dumps([{key: 1} for key in keys], 2))] == [
        f"{i}.{key}" for i, key in enumerate(keys)]


@pytest.mark.parametrize("protocol", range(2, 6))
def test_empty_containers_are_told_whatever_they_are(db, protocol):
    tree = {"dict": {}, "list": [], "ordered": collections.OrderedDict(), "counter": collections.Counter(), "given": collections.OrderedDict([]), "a": numpy.ones(1)}
    found = dict(rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", pickle.dumps(tree, protocol)))
    assert found == {"dict": "{}", "list": "[]", "ordered": '{"$opaque":"collections.OrderedDict"}', "given": '{"$opaque":"collections.OrderedDict"}',
                     "counter": '{"$opaque":"collections.Counter"}'}


@pytest.mark.parametrize("first", range(2, 6))
@pytest.mark.parametrize("behind", [pickle.dumps({"b": numpy.arange(9.0)}, 0), bytes(100)], ids=["pickle", "zeros"])
def test_bytes_behind_a_pickle_are_a_gap_whatever_its_arrays_are_written_as(db, first, behind):
    data = pickle.dumps({"a": numpy.arange(3.0)}, first)
    assert rows(db, "SELECT rule, message FROM zt_check(?)", data + behind) == [("gap", f"bytes {len(data)} to {len(data) + len(behind)} belong to no component")]
