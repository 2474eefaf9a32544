#!/usr/bin/python3
"""Writes golden/hand_leaves.msgpack, hand_chunks.msgpack and hand_numpy.msgpack, hostile/ and their descriptions: files that have what flax does not
write, that break one rule each, or look odd. Byte by byte, after the specification of msgpack, flax.serialization and msgpack-numpy.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
MARK = "__msgpack_chunked_array__"


# ---------------------------------------------------------------------------------------------- msgpack's encoding

class Raw(bytes):
    """What is encoded already."""


class Map(list):
    """Pairs, of which keys may repeat."""


def counted(heads, n):
    """A head with a count of 8, 16 or 32 bits; heads has one for each."""
    width = next(i for i in range(3) if n < 1 << (8 << i) and heads[i] is not None)
    return bytes([heads[width]]) + struct.pack(">" + "BHI"[width], n)


def ext(type, data):
    return Raw(counted((0xC7, 0xC8, 0xC9), len(data)) + struct.pack("b", type) + data)


def pack(value):
    if isinstance(value, Raw):
        return bytes(value)
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return bytes([value]) if 0 <= value < 128 else b"\xcf" + struct.pack(">Q", value) if value > 0 else b"\xd3" + struct.pack(">q", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, str):
        raw = value.encode()
        return (bytes([0xA0 | len(raw)]) if len(raw) < 32 else counted((0xD9, 0xDA, 0xDB), len(raw))) + raw
    if isinstance(value, bytes):
        return counted((0xC4, 0xC5, 0xC6), len(value)) + value
    pairs = list(value.items()) if isinstance(value, dict) else value if isinstance(value, Map) else None
    if pairs is not None:
        return counted((None, 0xDE, 0xDF), len(pairs)) + b"".join(pack(k) + pack(v) for k, v in pairs)
    return counted((None, 0xDC, 0xDD), len(value)) + b"".join(map(pack, value))


def array(shape, dtype, data, type=1):
    return ext(type, pack([shape, dtype, data]))


def chunked(shape, chunks, mark=True):
    """Maps of digits, in the order that they are given in."""
    return Map([(MARK, mark), ("shape", Map(shape)), ("chunks", Map(chunks))])


def numpy_array(shape, descr, data, kind=b"", key=str.encode):
    """As msgpack-numpy writes it, with keys of bytes. `key` makes them of texts."""
    return Map([(key("nd"), True), (key("type"), descr), (key("kind"), kind), (key("shape"), shape), (key("data"), data)])


def in_order(values):
    return [(str(i), value) for i, value in enumerate(values)]


def floats(first, n=1):
    return struct.pack(f"<{n}f", *range(first, first + n))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


# ------------------------------------------------------------------------------------------------- good files

def described(name, dtype, shape, stored, numpy, type=None, chunks=None, dense=None, key="dtype"):
    """dense: the values' bytes, where they are not those that are stored."""
    return {"name": name, "shape": shape, "dtype": dtype, "type": type, "stored": stored, "numpy": numpy, "chunks": chunks, "dense": dense or stored,
            "byte_order": "big" if dense else "little", "key": key}


def place(data, stored):
    assert data.count(stored) == 1, stored
    return data.index(stored)


def expectation(path, data, attributes, objects, exercises):
    def one(o):
        elements = 1
        for n in o["shape"]:
            elements *= n
        whole = o["chunks"] is None
        component = {"name": "data", "dtype": o["dtype"], "type": o["type"], "encoding": "raw" if whole else "msgpack.chunked", "byte_order": o["byte_order"],
                     "offset": place(data, o["stored"]) if whole else None, "length": len(o["stored"]) if whole else None,
                     "decoded_length": len(o["stored"]), "stored_sha256": sha256(o["stored"]) if whole else None, "decoded_sha256": sha256(o["stored"]),
                     "shard": None}
        return {"name": o["name"], "shape": o["shape"], "elements": elements, "format": "dense", "dtype": o["dtype"], "type": o["type"],
                "attributes": {o["key"]: o["numpy"], **({} if whole else {"chunks": o["chunks"]})}, "components": [component],
                "dense": {"dtype": o["dtype"], "type": o["type"], "sha256": sha256(o["dense"])}, "dense_status": "given", "dense_note": None}

    return {"file": f"msgpack/{path}.msgpack", "container": "msgpack", "written_by": "write_msgpack.py", "exercises": exercises, "version": None,
            "file_size": len(data), "sha256": sha256(data), "manifest_length": 0, "attributes": attributes, "objects": [one(o) for o in objects]}


def scalar(dtype, data, shape=()):
    return array(list(shape), dtype, data, 3)


def hand_leaves():
    """Each kind of leaf, and names that repeat."""
    leaves = [
        ("bool", scalar("bool", b"\1"), True), ("u8", scalar("uint8", b"\xfe"), 254), ("i64", scalar("int64", struct.pack("<q", -2**63)), -2**63),
        ("u64", scalar("uint64", b"\xff" * 8), 2**64 - 1), ("i32", scalar("int32", struct.pack("<i", -7)), -7), ("f16", scalar("float16", struct.pack("<e", 0.1)), 0.0999755859375),
        ("bf16", scalar("bfloat16", b"\x80\xbf"), -1.0), ("f64", scalar("float64", struct.pack("<d", 0.1)), 0.1), ("nan", scalar("float32", b"\0\0\xc0\x7f"), {"$float": "NaN"}),
        ("c64", scalar("complex64", struct.pack("<2f", 1.5, -2.0)), [1.5, -2.0]), ("c128", scalar(b"complex128", struct.pack("<2d", 0.1, 2.0)), [0.1, 2.0]),
        ("f8", scalar("float8_e5m2", b"\x3c"), {"$opaque": "msgpack ext 3"}), ("text", scalar("str96", b"abc"), {"$opaque": "msgpack ext 3"}),
        ("cut", scalar("float32", b"\0\0"), {"$opaque": "msgpack ext 3"}), ("row", scalar("float32", floats(20, 2), [2]), {"$opaque": "msgpack ext 3"}),
        ("no scalar", ext(3, b"\xc1"), {"$opaque": "msgpack ext 3"}), ("complex", ext(2, pack([1, -2.5])), [1, -2.5]), ("complex of three", ext(2, pack([1, 2, 3])), {"$opaque": "msgpack ext 2"}),
        ("time", ext(-1, bytes(4)), {"$opaque": "msgpack ext -1"}), ("latin", Raw(b"\xa1\xe9"), {"$bytes": "e9"}), ("", None, None)]
    tree = Map([(key, value) for key, value, _ in leaves])
    tree += [("w", array([2], "float32", floats(1, 2))), ("w", array([2], b"float32", floats(3, 2))), (7, Map([(-7, array([1], "float32", floats(9)))])),
             ("a", {"b": array([1], "float32", floats(10)), "c": 1}), ("a/b", array([1], "float32", floats(11))), ("a/c", 2), ("list", [[array([], "float32", floats(12))], []])]
    attributes = {key: shown for key, _, shown in leaves}
    attributes.update({"a/c": 1, "a/c#2": 2, "list/1": []})
    objects = [described(name, "f32", shape, data, "float32") for name, shape, data in (
        ("w", [2], floats(1, 2)), ("w#2", [2], floats(3, 2)), ("7/-7", [1], floats(9)), ("a/b", [1], floats(10)), ("a/b#2", [1], floats(11)), ("list/0/0", [], floats(12)))]
    return pack(tree), attributes, objects, "every kind of leaf; names that repeat; keys that are integers, lists"


def hand_chunks():
    """Chunks and dimensions in the order of their keys as texts, empty ones among them."""
    parts = [floats(10 * i, i % 4) for i in range(13)]
    flat = b"".join(parts)
    ordered = sorted(in_order([array([len(part) // 4], "float32", part) for part in parts]))
    elements = len(flat) // 4
    tree = {"many": chunked([("1", elements // 2), ("0", 2)], ordered), "one": chunked([], [("0", array([1], "bfloat16", b"\x80\x3f"))], None),
            "alike": Map([("shape", 1), (MARK, True), ("chunks", {})])}
    objects = [described("many", "f32", [2, elements // 2], flat, "float32", chunks=13), described("one", "bf16", [], b"\x80\x3f", "bfloat16", chunks=1)]
    return pack(tree), {"alike/shape": 1, f"alike/{MARK}": True, "alike/chunks": {}}, objects, "chunks in another order; a scalar in a chunk; a map that is none"


def hand_numpy():
    """Arrays of msgpack-numpy: keys of bytes and of text, without a kind, in another order, of big-endian elements."""
    nd, pairs = numpy_array([2, 3], "<f4", floats(1, 6)), numpy_array([2], "<f8", struct.pack("<2d", 0.1, 2.0))
    big, order, old = struct.pack(">3h", 1, -2, 300), numpy_array([2, 2], "|u1", b"\xfe\xfd\xfc\xfb"), numpy_array([2], b"<f4", floats(7, 2), key=str)
    tree = {"params": [{b"W": nd, "b": pairs}, {}], b"big": numpy_array([3], ">i2", big), "old": Map(old[:2] + old[3:]),
            "order": Map(order[::-1]), "complex": numpy_array([], "<c8", floats(20, 2)), "scalar": {b"nd": False, b"type": "<f4", b"data": b"\0\0\0\x40"}}
    attributes = {"params/1": {}, "scalar/nd": False, "scalar/type": "<f4", "scalar/data": {"$bytes": "00000040"}}
    how = [("params/0/W", "f32", [2, 3], floats(1, 6), "<f4"), ("params/0/b", "f64", [2], struct.pack("<2d", 0.1, 2.0), "<f8"), ("big", "i16", [3], big, ">i2", None, None, struct.pack("<3h", 1, -2, 300)),
           ("old", "f32", [2], floats(7, 2), "<f4"), ("order", "u8", [2, 2], b"\xfe\xfd\xfc\xfb", "|u1"), ("complex", "f32", [], floats(20, 2), "<c8", "complex64")]
    return pack(tree), attributes, [described(*what, key="descr") for what in how], "arrays of msgpack-numpy"


# ------------------------------------------------------------------------------------------------- hostile files

FINE = ("fine", array([2], "float32", floats(1, 2)))


def two(value, key="w"):
    return pack(Map([FINE, (key, value)]))


def cases():
    """name, bytes, expectation, number, object, message, fault"""
    refused, no_bytes, no_dense, ok = "open_error", "lists_but_no_bytes", "lists_but_no_dense", "ok"
    at = len(pack(Map([FINE]))) + 2    # Of the second value; its key is one letter
    array_fault = "its extension is not a shape, a dtype and bytes"
    shape_fault, chunks_fault = "its shape does not have all dimensions", "its chunks are not all there, or not of one dtype"
    w = array([4], "float32", floats(3, 4))
    yield "head-c1", two(Raw(b"\xc1")), refused, "MP1", None, f"byte {at}: no item begins with 0xC1", "0xC1"
    whole = two(w)
    yield "cut-in-an-array", whole[:-3], refused, "MP2", None, f"byte {at}: an extension goes beyond what it is in", "an array cut short"
    yield "cut-behind-a-key", whole[:at], refused, "MP2", None, f"byte {at}: an array or map goes beyond what it is in", "a key without a value"
    yield "cut-in-a-number", two(Raw(b"\xcf\0\0\0")), refused, "MP2", None, f"byte {at}: a number goes beyond what it is in", "three bytes of eight"
    yield "cut-in-a-text", two(Raw(b"\xdb\xff\xff\xff\xff")), refused, "MP2", None, f"byte {at}: a text goes beyond what it is in", "a text of 4 GiB"
    yield "cut-in-bytes", two(Raw(b"\xc5\1\0a")), refused, "MP2", None, f"byte {at}: a byte string goes beyond what it is in", "256 bytes, of which one is there"
    yield "list-of-many", two(Raw(b"\xdd\xff\xff\xff\xff")), refused, "MP2", None, f"byte {at}: an array goes beyond what it is in", "a list of 2^32 - 1 items"
    yield "map-of-many", two(Raw(b"\xdf\xff\xff\xff\xff\xa0\xc0")), refused, "MP2", None, f"byte {at}: a map goes beyond what it is in", "a map of 2^32 - 1 pairs"
    yield "ext-max", two(Raw(b"\xc9\xff\xff\xff\xff\1")), refused, "MP2", None, f"byte {at}: an extension goes beyond what it is in", "an extension of 4 GiB"
    yield "ext-without-a-type", two(Raw(b"\xc7\0")), refused, "MP2", None, f"byte {at}: an extension goes beyond what it is in", "an extension that ends before its type"
    yield "depth-65", two(Raw(b"\x91" * 63 + b"\x91\xc0")), refused, "MP3", None, f"byte {at + 63}: arrays and maps are nested more than 64 deep", "lists nested 65 deep, with the map that they are in"
    yield "depth-many", two(Raw(b"\x91" * 50000 + b"\xc0")), refused, "MP3", None, f"byte {at + 63}: arrays and maps are nested more than 64 deep", "50,000 lists in each other"
    deep = pack(chunked([], [("0", w)]))
    yield "depth-of-chunks", two(Raw(b"\x91" * 63 + deep)), refused, "MP3", None, f"byte {at + 63}: arrays and maps are nested more than 64 deep", "an array in chunks, 65 deep"
    yield "trailing", whole + b"\xc0", refused, "MP4", None, f"byte {len(whole)}: bytes follow the first item", "a value behind the map"
    yield "key-utf8", pack(Map([FINE, (Raw(b"\xa1\xff"), 1)])), refused, "MP5", None, key_fault(at - 2), "a key that is not UTF-8"
    yield "key-nul", pack(Map([FINE, ("a\0", 1)])), refused, "MP5", None, key_fault(at - 2), "a key with U+0000"
    yield "key-bytes-utf8", pack(Map([FINE, (b"\xff", 1)])), refused, "MP5", None, key_fault(at - 2), "a key of bytes that is not UTF-8"
    yield "key-nil", pack(Map([FINE, (None, 1)])), refused, "MP5", None, key_fault(at - 2), "a key that is nil"
    for name, data, what in (
            ("array-garbage", b"\xc1\xff", "an array that is no msgpack"), ("array-empty", b"", "an array of no bytes"), ("array-of-two", pack([[4], "float32"]), "an array without bytes"),
            ("array-of-four", pack([[4], "float32", floats(3, 4), 1]), "an array of four items"), ("array-number", pack(4), "an array that is a number"),
            ("array-data-past", pack([[4], "float32", b""])[:-2] + b"\xc4\x20" + floats(3, 4), "bytes that end behind their array"),
            ("array-data-list", pack([[4], "float32", [1, 2]]), "bytes that are a list"), ("array-trailing", pack([[4], "float32", floats(3, 4)]) + b"\xc0", "an item behind an array"),
            ("array-shape-text", pack(["4", "float32", floats(3, 4)]), "a shape that is text"), ("array-shape-negative", pack([[-4], "float32", floats(3, 4)]), "a negative dimension"),
            ("array-dtype-number", pack([[4], 7, floats(3, 4)]), "a dtype that is a number"), ("array-dtype-empty", pack([[4], "", floats(3, 4)]), "a dtype without a name"),
            ("array-dtype-utf8", pack([[4], b"\xff", floats(3, 4)]), "a dtype that is not UTF-8"), ("array-dtype-long", pack([[4], "f" * 65, floats(3, 4)]), "a dtype of 65 bytes")):
        yield name, two(ext(1, data)), no_bytes, "MP6", "w", array_fault, what
    yield "shape-overflow", two(array([2**62, 4], "float32", floats(3, 4))), no_bytes, "MP7", "w", "the product of its dimensions does not fit 64 bits", "2^64 elements"
    yield "rank-65", two(array([1] * 65, "float32", floats(3))), no_bytes, "MP7", "w", "it has more than 64 dimensions", "65 dimensions"
    yield "chunks-rank-65", two(chunked(in_order([1] * 65), [("0", array([1], "float32", floats(3)))])), no_bytes, "MP7", "w", "it has more than 64 dimensions", "65 dimensions of an array in chunks"
    half, other = array([2], "float32", floats(3, 2)), array([2], "int32", bytes(8))
    for name, shape, chunks, what in (
            ("chunks-none", [4], [], "no chunks"), ("chunks-of-two-types", [4], in_order([half, other]), "chunks of two dtypes"), ("chunks-missing", [4], [("0", half), ("2", half)], "a chunk that is not there"),
            ("chunks-twice", [4], [("0", half), ("0", half)], "a chunk that is there twice"), ("chunks-zero", [4], [("0", half), ("01", half)], "a key with a zero in front"),
            ("chunks-of-text", [4], in_order(["a", "b"]), "chunks that are text"), ("chunks-garbage", [4], in_order([half, ext(1, b"\xc1")]), "a chunk that is no msgpack"),
            ("chunks-keys", [4], [("a", half), ("b", half)], "keys that are no digits")):
        yield name, two(chunked(in_order(shape), chunks)), no_bytes, "MP8", "w", chunks_fault, what
    for name, shape, what in (
            ("chunks-shape-missing", [("1", 4)], "a dimension that is not there"), ("chunks-shape-twice", [("0", 4), ("0", 4)], "a dimension that is there twice"),
            ("chunks-shape-text", [("0", "4")], "a dimension that is text"), ("chunks-shape-negative", [("0", -4)], "a negative dimension")):
        yield name, two(chunked(shape, in_order([half, half]))), no_bytes, "MP8", "w", shape_fault, what
    yield "chunks-no-shape", two(Map([(MARK, True), ("chunks", {"0": half})])), no_bytes, "MP8", "w", shape_fault, "chunks without a shape"
    yield "chunks-no-chunks", two(Map([(MARK, True), ("shape", {"0": 4})])), no_bytes, "MP8", "w", chunks_fault, "a shape without chunks"
    full, bytes_fault = array([4], "float32", floats(3, 4)), "a chunk has other bytes than its shape"
    for name, chunks, what in (
            ("chunks-bytes", [array([3], "float32", floats(3, 2)), half], "a chunk of three elements with the bytes of two"), ("chunks-bytes-more", [half, array([1], "float32", floats(3, 2))], "a chunk of one element with the bytes of two"),
            ("chunks-bytes-overflow", [array([2**62, 4], "float32", b""), full], "a chunk of 2^64 elements")):
        yield name, two(chunked(in_order([4]), in_order(chunks))), no_bytes, "MP8", "w", bytes_fault, what
    long = array([1] * 65, "float32", floats(3))
    yield "chunks-bytes-rank", two(chunked(in_order([4]), in_order([long, full]))), no_bytes, "MP8", "w", "a chunk has more than 64 dimensions", "a chunk of 65 dimensions"
    odd = ext(1, pack([[3], "float33", floats(3, 2)]))
    yield "chunks-bytes-unknown", two(chunked(in_order([4]), in_order([odd, odd]))), no_dense, "L2", "w", "dtype 'float33' is not known", "chunks of a dtype of the future"
    yield "chunks-fewer", two(chunked(in_order([5]), in_order([half, half]))), no_dense, "D1", "w", "5 elements of f32 are 20 bytes, and it has 16", "two chunks of two elements for five"
    large = pack(Map([FINE, ("n" * 9000, Map(in_order([w] * 4000)))]))
    yield "names-large", large, refused, "MP9", None, f"names and what is shown as text take more than {(1 << 20) + 32 * len(large)} bytes", "a long key of many arrays"
    yield "shape-more", two(array([5], "float32", floats(3, 4))), no_dense, "D1", "w", "5 elements of f32 are 20 bytes, and it has 16", "five elements, and bytes for four"
    yield "dtype-unknown", two(array([4], "float33", floats(3, 4))), no_dense, "L2", "w", "dtype 'float33' is not known", "a dtype of the future"
    yield "dtype-int4", two(array([4], "int4", bytes(4))), no_dense, "L2", "w", "dtype 'int4' is not known", "elements of four bits, each in a byte"
    yield "numpy-more", two(numpy_array([5], "<f4", floats(3, 4))), no_dense, "D1", "w", "5 elements of f32 are 20 bytes, and it has 16", "five elements of msgpack-numpy, and bytes for four"
    yield "numpy-overflow", two(numpy_array([2**62, 4], "<f4", floats(3, 4))), no_bytes, "MP7", "w", "the product of its dimensions does not fit 64 bits", "2^64 elements of msgpack-numpy"
    yield "numpy-cut", two(numpy_array([4], "<f4", floats(3, 4)))[:-3], refused, "MP2", None, f"byte {at + 43}: a byte string goes beyond what it is in", "an array of msgpack-numpy cut short"
    yield "dtype-text", two(array([2], "str96", bytes(24))), no_dense, "L2", "w", "dtype 'str96' is not known", "text"
    yield "not-a-map", b"\xc1" + whole, refused, "T1", None, "not a tensor file of a known format", "no map"
    yield "no-array", pack({"a": [1] * 9})[:-1], refused, "T1", None, "not a tensor file of a known format", "a map without an array, cut short"
    yield "ok-empty", pack(Map()), ok, None, None, None, "an empty map"
    yield "ok-depth-64", two(Raw(b"\x91" * 63 + bytes(w))), ok, None, None, None, "an array 64 deep"
    yield "ok-rank-64", two(array([4] + [1] * 63, "float32", floats(3, 4))), ok, None, None, None, "64 dimensions"
    behind = Map([("shape", {"0": 4}), (MARK, True), ("chunks", {"0": w})])
    yield "ok-mark-second", two(behind), ok, "MP10", None, f"byte {at + 11}: the mark of an array in chunks is not the first key of its map", "the mark of an array in chunks as the second key"
    yield "ok-key-bytes", pack(Map([FINE, (b"w", 1)])), ok, None, None, None, "a key of bytes"
    yield "ok-key-twice", pack(Map([FINE, FINE])), ok, None, None, None, "a key twice"
    more = chunked(in_order([4]), in_order([half, half]))
    more = Map([*more, ("further", array([1], "float32", b"PK\3\4"))])
    unread = f"byte {at}: an array in chunks has keys whose values are not read"
    yield "ok-chunks-and-more", two(more), ok, "MP10", None, unread, "an array in chunks with another array beside them"
    again = Map([(MARK, True), ("shape", {"0": 3}), ("shape", {"0": 4}), ("chunks", {"0": w})])
    yield "ok-chunks-shape-again", two(again), ok, "MP10", None, unread, "an array in chunks with two shapes, of which the last one counts"
    yield "ok-chunks-of-nothing", two(chunked(in_order([0]), [("0", array([0], "float32", b""))])), ok, None, None, None, "a chunk of no bytes"


def key_fault(at):
    return f"byte {at}: a key is not text or bytes of UTF-8 without U+0000, nor an integer"


FINDINGS = {
    "T1": "magic", "MP1": "msgpack-head", "MP2": "msgpack-length", "MP3": "msgpack-depth", "MP4": "msgpack-trailing", "MP5": "msgpack-key", "MP6": "msgpack-array",
    "MP7": "msgpack-shape", "MP8": "msgpack-chunks", "MP9": "msgpack-size", "MP10": "msgpack-mark", "L2": "unknown-dtype", "D1": "length",
}


def write_golden():
    (HERE / "golden").mkdir(exist_ok=True)
    for path, made in (("hand_leaves", hand_leaves()), ("hand_chunks", hand_chunks()), ("hand_numpy", hand_numpy())):
        data, attributes, objects, exercises = made
        (HERE / "golden" / f"{path}.msgpack").write_bytes(data)
        expected = expectation(path, data, attributes, objects, exercises)
        (HERE / "golden" / f"{path}.expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def write_hostile():
    rows = []
    (HERE / "hostile").mkdir(exist_ok=True)
    for name, data, expect, number, object, message, what in cases():
        (HERE / "hostile" / f"{name}.msgpack").write_bytes(data)
        row = {"file": f"{name}.msgpack", "expect": expect, "number": number, "finding": FINDINGS.get(number), "message": message, "object": object,
               "rule": what, "size": len(data), "sha256": sha256(data)}
        if expect == "lists_but_no_bytes":
            row["sized"] = True
        rows.append(row)
    (HERE / "hostile" / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    write_golden()
    write_hostile()
