"""msgpack of flax and msgpack-numpy: long texts, arrays in chunks read in parts, files in bytes, and what is taken for msgpack."""
import bisect
import contextlib
import json
import pickle
import sqlite3
import threading
import struct

import pytest

import write_msgpack as msgpack
from support import message, open_connection, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


def source_of(save, how, data):
    return data if how == "blob" else save("m.msgpack", data)


@pytest.mark.parametrize("n", [(1 << 20) - 1, 1 << 20, (1 << 20) + 1])
def test_texts_and_bytes_are_shown_up_to_a_mebibyte(db, n):
    data = msgpack.pack({"text": "x" * n, "bytes": b"\1" * n})
    got = dict(rows(db, "SELECT key, value FROM zt_attributes(?)", data))
    if n <= 1 << 20:
        assert got == {"text": "x" * n, "bytes": b"\1" * n}
    else:
        assert {key: json.loads(shown) for key, shown in got.items()} == {
            "text": {"$opaque": "msgpack text", "bytes": n}, "bytes": {"$opaque": "msgpack bytes", "bytes": n}}


def chunks(sizes):
    """An array of [2, n/2] in chunks of so many elements, and its bytes."""
    data = struct.pack(f"<{sum(sizes)}i", *range(100, 100 + sum(sizes)))
    parts, at = [], 0
    for n in sizes:
        parts.append(msgpack.array([n], "int32", data[4 * at:4 * (at + n)]))
        at += n
    return msgpack.pack({"w": msgpack.chunked(msgpack.in_order([2, sum(sizes) // 2]), msgpack.in_order(parts)), "fine": msgpack.array([1], "int8", b"\5")}), data


@BOTH_WAYS
@pytest.mark.parametrize("sizes", [[20], [7, 7, 6], [1] * 20, [0, 3, 0, 17, 0], [19, 1]])
def test_every_part_of_an_array_in_chunks(db, save, how, sizes):
    packed, data = chunks(sizes)
    source = source_of(save, how, packed)
    assert rows(db, "SELECT encoding, offset, length, decoded_length FROM zt_components(?) WHERE object = 'w'", source) == [
        ("msgpack.chunked", None, None, len(data))]
    for first in range(0, len(data), 3):
        for n in (0, 1, 4, 13, len(data)):
            assert value(db, "SELECT zt_blob(?, 'w', 'data', ?, ?)", source, first, n) == data[first:first + n]
    assert [value(db, "SELECT zt_value(?, 'w', ?, ?)", source, i // 10, i % 10) for i in reversed(range(20))] == list(reversed(range(100, 120)))
    assert value(db, "SELECT zt_dense(?, 'w', NULL, 1, 1)", source) == data[40:]
    assert rows(db, "SELECT value FROM zt_elements(?, 'w') WHERE position BETWEEN 5 AND 8", source) == [(105,), (106,), (107,), (108,)]
    assert rows(db, "SELECT min, max FROM zt_stats(?) WHERE object = 'w'", source) == [(100, 119)]
    assert value(db, "SELECT zt_hash(?, 'w', 'crc32c')", source) == value(db, "SELECT zt_hash(?, 'w', 'crc32c')", msgpack.pack({"w": msgpack.array([20], "int32", data)}))
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


def test_chunks_and_one_array_have_the_same_fingerprint(db):
    packed, data = chunks([7, 13])
    whole = msgpack.pack({"w": msgpack.array([2, 10], "int32", data), "fine": msgpack.array([1], "int8", b"\5")})
    assert value(db, "SELECT zt_fingerprint(?)", packed) == value(db, "SELECT zt_fingerprint(?)", whole)


@pytest.mark.parametrize("n", range(0, 150, 3))
def test_a_file_that_is_cut_is_refused(db, n):
    whole = msgpack.two(msgpack.array([4, 4], "float64", bytes(range(128))))
    assert len(whole) > 150 and rows(db, "SELECT objects FROM zt_files(?)", whole) == [(2,)]
    ((error, kind),) = rows(db, "SELECT error, error_kind FROM zt_files(?)", whole[:n])
    assert error and kind == ("broken" if n > 11 else "unknown")    # There the first array begins


@pytest.mark.parametrize("data", [b"\x93\1\2\3", b"\xa5hello", b"\7", b"\xc0", b"\xd4\2\0", b"\xc7\0\7", b"\x81", b"\x80\xc0", b"\xde\0\1\xa1w"])
def test_what_is_no_map_and_no_array_is_not_taken_for_msgpack(db, data):
    assert rows(db, "SELECT container, error_kind FROM zt_files(?)", data) == [(None, "unknown")]


def test_maps_of_other_programs_are_read_as_far_as_they_go(db):
    data = msgpack.pack({"a": {"b": [1, 2.5, "x"]}, "time": msgpack.ext(-1, bytes(4))})
    assert rows(db, "SELECT container, objects, attributes FROM zt_files(?)", data) == [
        ("msgpack", 0, '{"a/b/0":1,"a/b/1":2.5,"a/b/2":"x","time":{"$opaque":"msgpack ext -1"}}')]


def test_maps_with_the_keys_of_chunks_are_maps_without_the_mark(db):
    tree = {"x": 1, "y": 2, "z": b"\0"}
    for _ in range(60):
        tree = {"shape": 1, "chunks": tree, "z": 1}
    assert rows(db, "SELECT objects FROM zt_files(?)", msgpack.pack(tree)) == [(0,)]
    assert value(db, "SELECT count(*) FROM zt_attributes(?)", msgpack.pack(tree)) == 123


def beside(**chunk):
    """A map of chunks with other parts, beside a fine array."""
    parts = {"shape": msgpack.Map(msgpack.in_order([2])), "chunks": msgpack.Map(msgpack.in_order([msgpack.array([2], "float32", bytes(8))])), **chunk}
    return msgpack.two(msgpack.Map([(msgpack.MARK, True), *parts.items()]))


HALF = msgpack.array([1], "float32", bytes(4))
ARRAY, SHAPE, CHUNKS = ("its extension is not a shape, a dtype and bytes", "its shape does not have all dimensions",
                        "its chunks are not all there, or not of one dtype")


@pytest.mark.parametrize("data, says", [
    *[(msgpack.two(msgpack.ext(1, whole[:n])), ARRAY) for whole in (msgpack.pack([[4, 5], "float32", b"abcd"]),) for n in range(len(whole))],
    (msgpack.two(msgpack.array([1], "a\0b", b"abcd")), ARRAY),
    *[(beside(shape=shape), SHAPE) for shape in (4, [2], {"": 2}, {"-1": 2}, {":": 2}, {"0" * 40: 2}, msgpack.Map([(0, 2)]))],
    *[(beside(chunks=chunks), CHUNKS) for chunks in (4, [HALF], {"": HALF}, {"/": HALF}, msgpack.Map([(0, HALF)]), {"0": msgpack.array([1], "float32", bytes(4), 3)})]])
def test_an_array_that_is_none_is_listed_with_its_fault(db, data, says):
    assert rows(db, "SELECT object, message FROM zt_check(?)", data) == [("w", says)]
    assert rows(db, "SELECT object, type FROM zt_objects(?)", data)[0] == ("fine", "f32")
    assert message(db, "SELECT zt_dense(?, 'w')", data).endswith(says)


def test_data_may_be_text_as_they_were_before_there_were_bytes(db):
    data = msgpack.two(msgpack.ext(1, msgpack.pack([[2], "int16", "abcd"])))
    assert value(db, "SELECT zt_dense(?, 'w')", data) == b"abcd"


def test_an_array_in_chunks_that_is_cut_is_refused(db):
    """In each of its keys and values."""
    whole, at = beside(), len(msgpack.pack(msgpack.Map([msgpack.FINE]))) + 2
    for n in range(at, len(whole)):
        assert "goes beyond what it is in" in message(db, "SELECT * FROM zt_objects(?)", whole[:n]), n


@pytest.mark.parametrize("parts", [[1], [1, 2, 3], 5, ["a", 2], [1, "b"]], ids=str)
def test_what_is_no_complex_number_is_opaque(db, parts):
    data = msgpack.two(msgpack.ext(2, msgpack.pack(parts)))
    assert json.loads(value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'w'", data)) == {"$opaque": "msgpack ext 2"}


# ---- Rare forms

ARRAY = msgpack.array([1], "int8", b"\5")
LISTED = "SELECT * FROM zt_objects(?)"


def leaves(db, data):
    return dict(rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", data))


def test_leaves_that_are_empty_or_false(db):
    assert leaves(db, msgpack.pack({"text": "", "bytes": b"", "no": False, "yes": True, "w": ARRAY})) == {"text": "", "bytes": b"", "no": 0, "yes": 1}


def test_more_items_than_are_read_without_a_question(db):
    data = msgpack.pack({"w": ARRAY, "list": [1] * 70000})
    assert value(db, "SELECT count(*) FROM zt_attributes(?) WHERE object IS NULL", data) == 70000


def test_a_key_that_is_no_text(db):
    assert "byte 3: a key is not text or bytes of UTF-8 without U+0000, nor an integer" in message(db, LISTED, msgpack.pack(msgpack.Map([(None, ARRAY)])))
    assert "not a tensor file of a known format" in message(db, LISTED, msgpack.pack(msgpack.Map([([], ARRAY)])) + b"\xc0")


def test_marks_that_are_not_the_first_keys_of_their_maps_are_noted_once(db):
    late = msgpack.Map([("a", 1), (msgpack.MARK, True)])
    found = rows(db, "SELECT rule, message FROM zt_check(?) WHERE rule = 'msgpack-mark'", msgpack.pack({"w": ARRAY, "x": late, "y": late}))
    assert len(found) == 1 and found[0][1].endswith("the mark of an array in chunks is not the first key of its map")


def test_keys_as_long_as_those_of_an_array_in_chunks(db):
    other = msgpack.Map([("x" * len(msgpack.MARK), True), ("shape", 1)])
    more = msgpack.Map([*msgpack.chunked(msgpack.in_order([1]), msgpack.in_order([ARRAY])), ("shapx", 1), ("chunkx", 2)])
    data = msgpack.pack({"other": other, "w": more})
    assert leaves(db, data) == {"other/" + "x" * len(msgpack.MARK): 1, "other/shape": 1}
    assert value(db, "SELECT zt_dense(?, 'w')", data) == b"\5"


def test_a_key_of_an_array_in_chunks_that_is_cut(db):
    for key in (b"\xdc\0\5\1", b"\xdc\0\1\xdc\0\5\1"):
        data = msgpack.pack({"fine": ARRAY, "w": 0})[:-1] + b"\xde\0\2" + msgpack.pack(msgpack.MARK) + b"\xc3" + key
        assert "goes beyond what it is in" in message(db, LISTED, data)


def test_a_chunk_of_more_bytes_than_64_bits_count(db):
    chunk = msgpack.array([1 << 61, 7], "float64", b"")
    data = msgpack.pack({"w": msgpack.chunked(msgpack.in_order([1]), msgpack.in_order([chunk]))})
    assert rows(db, "SELECT message FROM zt_check(?) WHERE object = 'w'", data) == [("a chunk has other bytes than its shape",)]


# ---- Arrays of msgpack-numpy

ND = msgpack.numpy_array([2], "<f4", msgpack.floats(1, 2))


@pytest.mark.parametrize("descr, kind, shown, format, says", [
    ([["a", "<i4"], [b"b", [["c", "<f8", [2]]]]], b"V", [["a", "<i4"], ["b", [["c", "<f8", [2]]]]], "numpy.structured", "its elements are records of several fields"),
    ([["", "|O"]], b"O", [["", "|O"]], "numpy.object", "its elements are objects of Python, pickles, which are never executed"),
    ("<U3", b"", "<U3", "numpy.unicode", "its elements are text"), ("<M8[D]", b"", "<M8[D]", "numpy.datetime64", "its elements are times")])
def test_arrays_of_other_elements_are_listed_without_values(db, descr, kind, shown, format, says):
    data = msgpack.two(msgpack.numpy_array([2], descr, bytes(24), kind))
    (attributes, *found), = rows(db, "SELECT attributes, shape, format, type FROM zt_objects(?) WHERE object = 'w'", data)
    assert found == ["[2]", format, "u8" if isinstance(descr, str) else None] and json.loads(attributes) == {"descr": shown}
    assert rows(db, "SELECT rule, message FROM zt_check(?, 'full') WHERE object = 'w'", data) == [("no-values", f"it has no values: {says}")]
    assert value(db, "SELECT zt_blob(?, 'w')", data) == bytes(24)
    assert value(db, "SELECT zt_fingerprint(?)", data) is None


@pytest.mark.parametrize("shape, descr, n, says", [
    ([0], "<U1", 0, None), ([0, 3], "|S3", 0, None), ([0], "<f16", 0, None), ([2], "|S3", 6, None), ([], "<U2", 8, None), ([2], "|S3", 5, "its elements are 6 bytes, and it has 5"),
    ([2, 2], "<U1", 15, "its elements are 16 bytes, and it has 15"), ([2**60, 2], "<U4", 8, "its elements are 2^64-1 bytes or more, and it has 8"),
    ([2**60, 2], "|V16", 0, "its elements are 2^64-1 bytes or more, and it has 0")])
def test_elements_without_values_have_their_bytes(db, shape, descr, n, says):
    data = msgpack.two(msgpack.numpy_array(shape, descr, bytes(n)))
    assert [message for rule, message in rows(db, "SELECT rule, message FROM zt_check(?)", data) if rule != "no-values"] == ([says] if says else [])


def test_each_kind_of_mark_is_told_once(db):
    fine = msgpack.chunked(msgpack.in_order([1]), msgpack.in_order([msgpack.array([1], "int8", b"\5")]))
    further, second = msgpack.Map([*fine, ("w", ARRAY)]), msgpack.Map([("w", ARRAY), *fine])
    cut = msgpack.Map([*fine[:1], ("w", ARRAY)])
    kinds = [message.partition(": ")[2] for message in ("byte: an array in chunks has keys whose values are not read", "byte: the mark of an array in chunks is not the first key of its map")]
    for tree, want in ((dict(a=further, b=second, c=further, d=second), kinds), (dict(a=second, b=further), kinds[::-1]), (dict(a=cut), kinds[:1]), (dict(a=fine), [])):
        said = rows(db, "SELECT message FROM zt_check(?) WHERE rule = 'msgpack-mark'", msgpack.pack(tree))
        assert [text.partition(": ")[2] for text, in said] == want


def test_a_descr_that_is_cut_is_told(db):
    data = msgpack.pack({"w": msgpack.numpy_array([2], [["a", "<f4"], ["b", "<i4"]], bytes(16), b"V")})
    for n in range(data.index(b"<f4") - 3, data.index(b"<i4") + 4):
        assert "goes beyond what it is in" in message(db, "SELECT * FROM zt_objects(?)", data[:n])


@pytest.mark.parametrize("descr, kind", [("|V2", "numpy.void"), ("|O", "numpy.object"), ("<f4", "dense"), ("<" + "x" * 22, "numpy.unknown"), ("<" + "x" * 23, "numpy.structured"),
                                         (["x" * 31], "numpy.structured")])
def test_a_field_without_a_name_is_the_element(db, descr, kind):
    """So numpy describes bytes without a type, and objects."""
    data = msgpack.two(msgpack.numpy_array([2], [["", descr]], bytes(8), b"V"))
    assert rows(db, "SELECT format, attributes FROM zt_objects(?) WHERE object = 'w'", data) == [(kind, json.dumps({"descr": [["", descr]]}, separators=(",", ":")))]


def changed(key, other):
    return msgpack.Map([(k, other if k == key else v) for k, v in ND])


DEEP = ["<i4"]
for _ in range(16):
    DEEP = [DEEP]


@pytest.mark.parametrize("pairs", [
    changed(b"nd", False), changed(b"nd", 1), changed(b"type", 4), changed(b"type", ""), changed(b"type", "x" * 65), changed(b"type", b"\xff"),
    changed(b"type", {"a": "<i4"}), changed(b"type", [["a", None]]), changed(b"type", [["a" * 257, "<i4"]]), changed(b"type", DEEP), changed(b"kind", 1),
    changed(b"shape", 2), changed(b"shape", [-2]), changed(b"shape", ["2"]), changed(b"data", [1, 2]), changed(b"data", None),
    msgpack.Map([*ND, (b"more", 1)]), msgpack.Map([*ND, ND[0]]), msgpack.Map(ND[:4]), msgpack.Map([*ND[:4], ND[0]]), msgpack.Map([*ND[:4], (b"datb", b"")]),
    msgpack.Map([*ND[:4], (None, 1)])], ids=range(22))
def test_maps_that_are_not_quite_an_array_are_maps(db, pairs):
    if pairs[-1][0] is None:
        assert "is not text or bytes of UTF-8" in message(db, LISTED, msgpack.two(pairs))
        return
    data = msgpack.two(pairs)
    assert rows(db, "SELECT object FROM zt_objects(?)", data) == [("fine",)]
    found = {key.split("/")[1].split("#")[0] for key in leaves(db, data)}
    assert found == {key.decode() for key, _ in pairs}


def test_an_array_of_msgpack_numpy_as_deep_as_a_map_may_be(db):
    def nested(levels):
        return msgpack.two(msgpack.Raw(b"\x91" * levels + msgpack.pack(ND)))
    assert rows(db, "SELECT count(*) FROM zt_objects(?)", nested(62)) == [(2,)]
    assert "nested more than 64 deep" in message(db, LISTED, nested(63))


def test_a_lone_array_of_msgpack_numpy(db):
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", msgpack.pack(ND)) == [("", "[2]")]
    assert value(db, "SELECT zt_json(?, '')", msgpack.pack(ND)) == "[1.0,2.0]"


@pytest.mark.parametrize("n", range(0, 100, 3))
def test_a_file_of_msgpack_numpy_that_is_cut_is_refused(db, n):
    whole = msgpack.pack({"w": msgpack.numpy_array([4, 4], "<f8", bytes(range(128)))})
    ((error, kind),) = rows(db, "SELECT error, error_kind FROM zt_files(?)", whole[:n])
    assert error and kind == ("broken" if n > 18 else "unknown")    # There the array's mark and a byte for each of its items are


# ---- Files in bytes

ZIP = b"PK\3\4" + bytes(40)


@pytest.mark.parametrize("inner", [ZIP, msgpack.pack({"state": ZIP}), msgpack.pack({"w": ND}), msgpack.pack({"w": ARRAY}),
                                   b"\x1f\0\0\0\0\0\0\0" + b"{}".ljust(31), b"\x80\5" + bytes(20) + b".", msgpack.pack([ND]), msgpack.pack([1, [ARRAY, ARRAY]]),
                                   *[pickle.dumps(0x1950a86a20f9469cfc6c, n) + pickle.dumps(1001, n) + b"}" for n in range(6)], struct.pack("<I", 28) + b"TFL3" + bytes(30),
                                   b"MATLAB 7.3 MAT-file".ljust(512) + b"\x89HDF\r\n\x1a\n"], ids=range(16))
@pytest.mark.parametrize("how", ["path", "blob"])
def test_bytes_that_are_a_file_with_tensors_are_an_object_without_values(db, save, inner, how):
    source = source_of(save, how, msgpack.pack({"w": ARRAY, "shims": [[inner]], "x": 1}))
    assert rows(db, "SELECT object, shape, format FROM zt_objects(?) WHERE object <> 'w'", source) == [("shims/0/0", None, "msgpack.unread")]
    assert leaves(db, source) == {"x": 1}
    assert value(db, "SELECT zt_blob(?, 'shims/0/0')", source) == inner
    assert rows(db, "SELECT object, rule, message FROM zt_check(?, 'full')", source) == [
        ("shims/0/0", "no-values", "it has no values: its bytes are a file of their own, which is not read")]
    assert value(db, "SELECT zt_fingerprint(?)", source) is None


@pytest.mark.parametrize("inner", [msgpack.pack({"w": ND}), ZIP], ids=["array", "file"])
@pytest.mark.parametrize("levels", range(1, 12))
def test_files_in_bytes_in_bytes(db, levels, inner):
    """As those of a whole pipeline of spaCy. Beyond eight levels, msgpack in bytes may have tensors."""
    for _ in range(levels):
        inner = msgpack.pack({"f": inner, "x": 1})
    assert rows(db, "SELECT object, format FROM zt_objects(?)", inner) == [("f", "msgpack.unread")]
    assert value(db, "SELECT zt_fingerprint(?)", inner) is None


@pytest.mark.parametrize("broken", [b"\xc1" * 17, b"\x8f" + bytes(20), b"\xdb" + b"\xff" * 20, b"\x91" * 100], ids=range(4))
@pytest.mark.parametrize("names", ["abc", "bca", "cab"], ids=range(3))
def test_bytes_that_parse_like_msgpack_at_first_hide_no_others(db, broken, names):
    """As values of arrays do."""
    for other in (ARRAY, ND, ZIP):
        inner = msgpack.pack(dict(zip(names, (broken, other, msgpack.numpy_array([17], "|u1", broken[:17].ljust(17))))))
        assert rows(db, "SELECT object, format FROM zt_objects(?)", msgpack.pack({"f": inner, "w": ARRAY})) == [("f", "msgpack.unread"), ("w", "dense")]
        assert rows(db, "SELECT object FROM zt_objects(?)", msgpack.pack({"f": msgpack.pack([broken, inner, broken]), "x": broken})) == [("f",)]


def test_bytes_in_bytes_without_end():
    """A small stack is enough."""
    inner = bytes(20)
    for _ in range(30_000):
        inner = b"\x91\xc6" + len(inner).to_bytes(4, "big") + inner
    found, before = [], threading.stack_size(256 << 10)

    def look():
        with contextlib.closing(open_connection()) as db:
            found.append(rows(db, "SELECT format FROM zt_objects(?)", msgpack.pack({"f": inner})))

    thread = threading.Thread(target=look)
    thread.start()
    threading.stack_size(before)
    thread.join()
    assert found == [[("msgpack.unread",)]]


@pytest.mark.parametrize("text", ["GGUF is a format of llama.cpp", "ZTENSOR files are the best", "MATLAB 5.0 MAT-file written by me", "PK\3\4" + "x" * 30,
                                  "GGUF" + "\u00e9" * 511 + "\u20ac" * 700 + "\U0001f600" * 500, "GGUFx" + "\u00e9" * 511 + "\u20ac" * 700 + "\U0001f600" * 500])
def test_texts_that_begin_like_a_file_are_texts(db, text):
    assert leaves(db, msgpack.pack({"w": ARRAY, "x": text})) == {"x": text}


@pytest.mark.parametrize("inner", [ZIP, b"\x93NUMPY" + b"x" * 30, b"GGUF\3" + bytes(30), msgpack.pack({"w": ND}), b"MATLAB 5.0 MAT-file".ljust(124) + b"\0\1IM" + bytes(8),
                                   b"\xde\x01\x10" + b"".join(msgpack.pack("%03d" % i) + msgpack.pack(ND if i == 271 else i % 9) for i in range(272)),
                                   b"GGUF" + b"x" * 1020 + b"\x80", b"GGUF" + b"x" * 5000 + b"\xc3", b"GGUF" + "\u00e9".encode() * 3000 + b"\0"], ids=range(9))
def test_bytes_of_old_writers_are_texts(db, inner):
    """msgpack had no bytes before 2013."""
    data = msgpack.pack({"w": ARRAY, "f": msgpack.Raw(msgpack.counted((0xD9, 0xDA, 0xDB), len(inner)) + inner)})
    assert rows(db, "SELECT object, format FROM zt_objects(?) WHERE object <> 'w'", data) == [("f", "msgpack.unread")]
    assert value(db, "SELECT zt_blob(?, 'f')", data) == inner


def test_such_bytes_can_be_read_as_a_file(db):
    data = msgpack.pack({"shims": [msgpack.pack({"inner": ND})]})
    assert rows(db, "SELECT object, type FROM zt_objects(zt_blob(?, 'shims/0'))", data) == [("inner", "f32")]


@pytest.mark.parametrize("inner", [ZIP[:16], b"PK\3\5" + bytes(40), msgpack.pack({"a": list(range(20))}), msgpack.pack({"a": ZIP})[:-1], msgpack.pack([ND])[:-1], b"", bytes(100),
                                   b"\x80\5" + bytes(20), msgpack.pack(None) * 20], ids=range(9))
def test_other_bytes_are_attributes(db, inner):
    assert leaves(db, msgpack.pack({"w": ARRAY, "x": inner})) == {"x": inner}


# Names and texts are kept as long as all take no more than the file is worth

def listed(db, data):
    try:
        rows(db, LISTED, data)
    except sqlite3.OperationalError as error:
        assert "names and what is shown as text take more than" in str(error)
        return False
    return True


def least(holds):
    """The least number for which that holds, as it does for all above."""
    return bisect.bisect_left(range(1000), True, key=holds)


def filled(n, *more):
    """A file of n leaves of long names, and then these pairs."""
    return msgpack.pack(msgpack.Map([("w", ARRAY), ("p" * 20000, msgpack.Map([(f"a{i}", 1) for i in range(n)])), *more]))


@pytest.mark.parametrize("last", [
    [("text", "t" * 99000)], [("k" * 99000, 1)],
    [("a", msgpack.array([90000], "int8", bytes(90000))), ("z", msgpack.chunked(msgpack.in_order([1]), msgpack.Map([(i % 100, 0) for i in range(6000)])))]], ids=["text", "key", "chunks"])
def test_the_last_text_is_too_much(db, last):
    size = len(msgpack.pack(msgpack.Map(last)))
    pad = ("z", msgpack.array([size], "int8", bytes(size)))   # As many bytes, which are not kept
    n = least(lambda n: not listed(db, filled(n, pad))) - 1
    assert n > 10 and not listed(db, filled(n, *last))


def test_what_is_kept_of_an_array_is_more_than_was_asked_for(db):
    array = msgpack.array([0] + [1 << 62] * 63, "d" * 64, b"")
    n = least(lambda n: not listed(db, filled(n, ("x", array))))
    few = least(lambda few: not listed(db, filled(n - 1, ("q" * 200, msgpack.Map([(f"q{i}", 1) for i in range(few)])), ("x", array), ("y", 1))))
    assert n > 10 and few > 0
