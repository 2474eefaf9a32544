#!/usr/bin/python3
"""Writes hand_* of golden/ and all of hostile/: checkpoints of TensorFlow, byte by byte, with the contents that a correct reader finds.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
from pathlib import Path

import tables
from tables import F32, F8, INT4, QINT8, block, entry, footer, handle, header, table, trailer

HERE = Path(__file__).resolve().parent
ONES = struct.pack("<4f", 1, 1, 1, 1)
TYPES = {1: ("f32", None), 2: ("f64", None), 3: ("i32", None), 4: ("u8", None), 5: ("i16", None), 10: ("bool", None), 18: ("f64", "complex128"), 24: ("u8", "f8_e5m2"),
         26: ("u8", "f8_e4m3fnuz"), 28: ("u8", "f8_e5m2fnuz")}
LISTED = {11: "qint8", 27: "float8_e4m3b11fnuz", 29: "int4", 30: "uint4", 31: "int2", 32: "uint2", 33: "float4_e2m1fn"}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def count(shape):
    n = 1
    for size in shape:
        n *= size
    return n


# ------------------------------------------------------------------------------------------------------ sound files

def swapped(dtype, data):
    """Little-endian elements of big-endian ones."""
    width = {"f64": 8, "f32": 4, "i32": 4, "i16": 2}.get(dtype, 1)
    return b"".join(data[i:i + width][::-1] for i in range(0, len(data), width))


def expected_component(name, type, data, shard, offset, big):
    dtype, logical = TYPES.get(type, ("u8", None))
    order = "big" if big and (type in LISTED or dtype not in ("u8", "bool")) else "little"
    return {"name": name, "dtype": dtype, "type": logical, "encoding": "raw", "byte_order": order,
            "offset": offset, "length": len(data), "decoded_length": len(data), "stored_sha256": sha256(data), "decoded_sha256": sha256(data),
            "shard": shard, "digest": f"crc32c:{tables.crc32c(data):08x}"}


def expected_object(name, type, shape, data, components, big, slices):
    dtype, logical = TYPES.get(type, ("u8", None))
    plain = swapped(dtype, data) if big else data
    listed = LISTED.get(type)
    return {"name": name, "shape": shape, "elements": count(shape), "format": "tensorflow.sliced" if slices else f"tensorflow.{listed}" if listed else "dense",
            "dtype": dtype, "type": logical, "attributes": {"tensor_type": type, **({"slices": len(slices)} if slices else {})}, "components": components,
            "dense": None if listed else {"dtype": dtype, "type": logical, "sha256": sha256(plain)},
            "dense_status": "undefined" if listed else "given", "dense_note": "not numbers of this model" if listed else None}


def golden(name, what, tensors, shards=1, endianness=0, producer=1, **how):
    path = HERE / "golden" / f"{name}.index"
    tables.write(path, tensors, shards, endianness, producer, **how)
    at, objects = [0] * shards, []
    for tensor, type, shape, data, *more in tensors:
        shard, slices = (*more, *(0, None)[len(more):])
        components = []
        for i, extent in enumerate(slices or [None]):
            part, file = tables.cut(data, shape, extent) if slices else data, (shard + i) % shards
            components.append(expected_component(tables.slice_text(extent) if slices else "data", type, part, f"{name}.data-{file:05}-of-{shards:05}", at[file], endianness == 1))
            at[file] += len(part)
        objects.append(expected_object(tensor, type, shape, data, components, endianness == 1, slices))
    raw = path.read_bytes()
    expected = {"file": f"tensorflow/{name}.index", "container": "tensorflow", "written_by": "write_tensorflow.py", "exercises": what, "version": str(producer),
                "file_size": len(raw), "sha256": sha256(raw), "manifest_length": len(raw),
                "attributes": {"num_shards": shards, "endianness": "BIG" if endianness else "LITTLE"}, "objects": sorted(objects, key=lambda o: o["name"].encode())}
    path.with_suffix(".expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def write_golden():
    layers = [(f"model/layer_{i:03}/kernel/.ATTRIBUTES/VARIABLE_VALUE", F32, [2, 2], struct.pack("<4f", i, -i, i / 3, 1e-9 * i)) for i in range(60)]
    golden("hand_snappy", "blocks of Snappy, seven entries each; literals, and copies of all three kinds", layers, each=7, packed=True)
    golden("hand_blocks", "blocks of one entry, each key whole; two files of data", [(*t, i % 2) for i, t in enumerate(layers[:5])], shards=2, each=1, restart=1)
    golden("hand_big_endian", "a checkpoint of a big-endian machine", [
        ("b", 10, [3], b"\1\0\1"), ("c", 18, [1], struct.pack(">2d", 1.5, -2)), ("d", 2, [2], struct.pack(">2d", 3, 4)), ("f", F32, [2, 1], struct.pack(">2f", 5, 6)),
        ("f8", F8, [2], b"\x3c\xc0"), ("i", 5, [2], struct.pack(">2h", -300, 7)), ("q", QINT8, [2], b"\1\2")], endianness=1)
    golden("hand_types", "types that TensorFlow 2.21 writes, as it does; a rank of 0, and of 64", [
        ("e4m3fnuz", 26, [2], b"\x40\xc8"), ("e5m2", F8, [2], b"\x3c\xc0"), ("e5m2fnuz", 28, [2], b"\x40\xc4"), ("b11", 27, [2], b"\x58\xe0"),
        ("f4", 33, [2], b"\x02\x0c"), ("int2", 31, [2], b"\1\2"), ("int4", INT4, [2], b"\x01\x0e"), ("scalar", 3, [], b"\7\0\0\0"),
        ("uint2", 32, [2], b"\1\2"), ("uint4", 30, [2], b"\1\2"), ("x" * 300, F32, [1] * 64, ONES[:4]), ("é ñ", F32, [0, 5], b"")], producer=2)
    def numbers(n):
        return struct.pack(f"<{n}f", *(i / 8 for i in range(n)))

    golden("hand_slices", "partitioned variables: by rows, by columns, in a grid, in no grid, at large places, of three dimensions; in two files of data", [
        ("columns", F32, [3, 5], numbers(15), 0, [(None, (0, 2)), (None, (2, 3))]), ("deep", 10, [2, 3, 4], bytes(i % 3 == 0 for i in range(24)), 1, [(None, (1, 2), None), (None, (0, 1), None)]),
        ("grid", 18, [3, 4], struct.pack("<24d", *range(24)), 0, [((a, m), (b, n)) for a, m in ((0, 1), (1, 2)) for b, n in ((0, 3), (3, 1))]),
        ("long", 4, [20000], bytes(i % 251 for i in range(20000)), 0, [((a, n),) for a, n in ((0, 63), (63, 1), (64, 8000), (8064, 192), (8256, 11744))]),
        ("mill", F32, [3, 3], numbers(9), 0, [((0, 1), (0, 2)), ((0, 2), (2, 1)), ((2, 1), (1, 2)), ((1, 2), (0, 1)), ((1, 1), (1, 1))]),
        ("one", 3, [2], struct.pack("<2i", 7, -7), 0, [((0, 2),)]), ("plain", F32, [1], numbers(1), 1), ("rows \u00ff", 5, [4, 2], struct.pack("<8h", *range(8)), 1, [((2, 2), (0, 2)), ((0, 2), None)])],
        shards=2)
    golden("hand_empty", "a checkpoint without a tensor", [])


# ----------------------------------------------------------------------------------------------------- broken files

NAMES = [b"", b"b", b"w"]


def values(w=None, b=None, head=None):
    return [header() if head is None else head, b or entry(F32, [4], 16, 16, tables.crc32c(ONES)), w or entry(F32, [4], 0, 16, tables.crc32c(ONES))]


def index(w=None, b=None, head=None, names=NAMES):
    return table(zip(names, values(w, b, head)))


def of_body(body, kind=0, crc=None, places=None):
    """A table of one block of that body."""
    out = body + (trailer(body, kind) if crc is None else bytes([kind]) + crc)
    at = len(out)
    places = [(b"x", handle(0, len(body)))] if places is None else places
    last = block(places, 1)
    return out + last + trailer(last) + footer((at, len(last)), (at, len(last)))


def entries(*parts):
    """A block's body of (shared, key's own bytes, value)."""
    return b"".join(tables.varint(shared) + tables.varint(len(own)) + tables.varint(len(value)) + own + value for shared, own, value in parts) + struct.pack("<II", 0, 1)


def packed(body):
    return of_body(tables.snappy(body), 1)


def cases():
    """(name, index, files of data, expectation, rule, what zt_check calls it, message, what is odd, more)."""
    sound, body = index(), block(zip(NAMES, values()))
    entry_fault = "the entry at byte 9 of its block goes beyond it, or shares more than the key before has"
    yield "footer-short", sound[-40:], "open_error", *("LT1", "leveldb-footer", "the file has 40 bytes, a table has 48 to 1073741824"), "less than a footer"
    yield "footer-varint", sound[:-48] + b"\xff" * 40 + sound[-8:], "open_error", *("LT1", "leveldb-footer", "its last 48 bytes are no footer of a table"), "numbers that do not end"
    yield "footer-65-bits", sound[:-48] + (b"\xff" * 9 + b"\x02").ljust(40, b"\0") + sound[-8:], "open_error", *("LT1", "leveldb-footer", "its last 48 bytes are no footer of a table"), "a number of 65 bits"
    yield "first-half-missing", sound[len(sound) // 2:], "open_error", *("LT2", "leveldb-range", "a block of 15 bytes at 75 does not lie between 0 and the footer at 24"), "the first half is missing"
    yield "index-wraps", sound[:-48] + footer((0, 0), (2**64 - 4, 20)), "open_error", *("LT2", "leveldb-range", f"a block of 20 bytes at {2**64 - 4} does not lie between 0 and the footer at {len(sound) - 48}"), "offset and size of the index wrap"
    yield "index-size-max", sound[:-48] + footer((0, 0), (0, 2**64 - 1)), "open_error", *("LT2", "leveldb-range", f"a block of {2**64 - 1} bytes at 0 does not lie between 0 and the footer at {len(sound) - 48}"), "an index of 2^64 - 1 bytes"
    yield "block-past-end", of_body(body, places=[(b"x", handle(0, 1 << 32))]), "open_error", *("LT2", "leveldb-range", f"a block of {1 << 32} bytes at 0 does not lie between 0 and the footer at {len(body) + 5 + 23}"), "a block of 4 GiB"
    yield "block-in-the-footer", of_body(body, places=[(b"x", handle(40, len(body)))]), "open_error", *("LT2", "leveldb-range", f"a block of {len(body)} bytes at 40 does not lie between 0 and the footer at {len(body) + 5 + 19}"), "a block that reaches into the footer"
    yield "block-twice", of_body(body, places=[(b"x", handle(0, len(body))), (b"y", handle(0, len(body)))]), "open_error", *("LT2", "leveldb-range", f"a block of {len(body)} bytes at 0 does not lie between {len(body) + 5} and the footer at {len(body) + 5 + 29}"), "a block that the index has twice"
    yield "no-handle", of_body(body, places=[(b"x", b"\x80")]), "open_error", *("LT2", "leveldb-range", "an entry of the index states no place of a block"), "a handle that does not end"
    yield "checksum", of_body(body, crc=struct.pack("<I", tables.masked(tables.crc32c(body + b"\0") ^ 1))), "open_error", *("LT3", "leveldb-checksum", f"the block at 0 has the checksum {tables.crc32c(body + bytes(1)):08x}, and states {tables.crc32c(body + bytes(1)) ^ 1:08x}"), "a checksum with another bit"
    yield "compression-2", of_body(body, 2), "open_error", *("LT4", "leveldb-compression", "the block at 0 has compression 2, which is not read"), "a block of Zstandard, as LevelDB writes since 1.23"
    wrong = "open_error", *("LT5", "leveldb-snappy", "the block at 0 does not decode to the length that it states")
    for name, data, what in (("lies", b"\xff\xff\xff\xff\x0f", "4 GiB out of nothing"), ("length-cut", b"\x80", "a length that does not end"), ("length-36-bits", b"\xff\xff\xff\xff\x7f\0", "a length of 35 bits"),
                             ("literal-past-end", b"\x05\x10ab", "a literal of more bytes than there are"), ("literal-length-cut", b"\x05\xf4\x01", "a literal's length that is cut"),
                             ("literal-too-long", b"\x02\x08abc", "a literal that makes more than the length"), ("distance-0", b"\x08\x0cabcd\x01\0", "a copy from no distance"),
                             ("distance-past-begin", b"\x08\x0cabcd\x01\x05", "a copy from in front of the block"), ("copy-cut", b"\x08\x0cabcd\x0e\x01", "a copy without its distance"),
                             ("copy-too-long", b"\x06\x0cabcd\x01\x01", "a copy that makes more than the length"), ("too-short", b"\x09\x0cabcd", "fewer bytes than the length")):
        yield f"snappy-{name}", of_body(data, 1), *wrong, what
    for name, made, n, restarts in (("max", block(zip(NAMES, values()), restarts=2**32 - 1), len(body), 2**32 - 1), ("none", b"\0\0\0", 3, 0), ("one-too-many", struct.pack("<I", 1), 4, 1)):
        yield f"restarts-{name}", of_body(made), "open_error", *("LT6", "leveldb-restarts", f"the block at 0 has {n} bytes, and {restarts} restarts"), "a block without room for its restarts"
    head = (0, b"", header())
    for name, part, what in (("shared-more", (5, b"w", b""), "a key that shares more than the key before has"), ("key-past-end", None, "a key of 2^63 bytes")):
        made = entries(head, part) if part else entries(head)[:-8] + b"\0" + tables.varint(1 << 63) + b"\0" + entries()
        yield name, of_body(made), "open_error", *("LT7", "leveldb-entry", entry_fault), what
    yield "value-past-end", of_body(entries(head)[:-8] + b"\0\1\x7fw" + entries()), "open_error", *("LT7", "leveldb-entry", entry_fault), "a value that reaches into the restarts"
    yield "entry-cut", of_body(entries(head)[:-8] + b"\0\x80" + struct.pack("<I", 0)), "open_error", *("LT7", "leveldb-entry", entry_fault), "an entry that is cut in its lengths"
    yield "first-entry-shares", two_blocks(), "open_error", *("LT7", "leveldb-entry", "the entry at byte 0 of its block goes beyond it, or shares more than the key before has"), "a block's first key shares bytes of the block before"
    order = "open_error", *("LT8", "leveldb-order", "a key does not sort behind the key before it")
    yield "key-twice", index(names=[b"", b"w", b"w"]), *order, "a key twice"
    yield "keys-descend", index(names=[b"", b"w", b"b"]), *order, "keys that descend"
    yield "key-a-prefix", index(names=[b"", b"ww", b"w"]), *order, "a key before its own prefix"
    yield "index-descends", of_body(body, places=[(b"x", handle(0, len(body))), (b"a", handle(0, 0))]), *order, "keys of the index that descend"
    no_header = "open_error", *("TB1", "tensorflow-header", "its first entry is not a checkpoint's header")
    yield "no-header", table([(b"w", values()[2])]), *no_header, "no entry with the empty key"
    yield "no-entry", table([]), *no_header, "a table without an entry"
    yield "of-another-program", table([(b"key", b"value")]), *no_header, "a table of LevelDB that is no checkpoint"
    meta = tables.message(1, tables.message(1, tables.message(1, b"w") + tables.message(2, tables.shape_of([4])) + tables.number(3, F32)))
    yield "version-1", table([(b"", meta), (tables.slice_key("w", [None]), tables.message(2, b""))]), "open_error", *("TB7", "tensorflow-version", "it is a checkpoint of version 1, which is not read"), "a checkpoint of version 1"
    yield "header-cut", index(head=b"\x1a\x7f"), "open_error", *("PB3", "protobuf-length", "byte 1: a field goes beyond the message that it is in"), "a header whose version goes beyond it"
    yield "name-utf8", index(names=[b"", b"b", b"\xff"]), "open_error", *("TB2", "tensorflow-name", "a name is not UTF-8, or has U+0000 in it"), "a name that is not UTF-8"
    yield "name-nul", index(names=[b"", b"b", b"w\0"]), "open_error", *("TB2", "tensorflow-name", "a name is not UTF-8, or has U+0000 in it"), "U+0000 in a name"
    names = [(b"", header())] + [(b"w" * 30000 + b"%04d" % i, values()[2]) for i in range(100)]
    large = table(names, restart=1000)
    yield "keys-large", large, "open_error", *("TB3", "tensorflow-keys", f"its keys and slices, and 64 bytes for each key, take more than {(1 << 20) + 16 * len(large)} bytes"), "3 MB of names in 64 KB"
    yield "entry-varint", index(w=b"\x08" + b"\xff" * 10 + b"\1"), "open_error", *("PB1", "protobuf-varint", "byte 1: a varint of more than 64 bits"), "an entry with a number of more than 64 bits", {"object": "w"}
    yield "entry-group", index(w=b"\x0c"), "open_error", *("PB2", "protobuf-field", "byte 0: a group ends that did not begin"), "an entry with the end of a group", {"object": "w"}
    for name, w, number, finding, text, what in (
            ("offset-negative", entry(F32, [4], -16, 16), "TB4", "tensorflow-range", "its offset or its size is negative", "offset -16"),
            ("size-negative", entry(F32, [4], 0, -1), "TB4", "tensorflow-range", "its offset or its size is negative", "size -1"),
            ("end-overflow", entry(F32, [4], 2**63 - 1, 16), "TB4", "tensorflow-range", "its offset and its size make more than 2^63 bytes", "an end beyond 2^63"),
            ("shard-negative", entry(F32, [4], 0, 16, shard=-1), "TB5", "tensorflow-shard", "the number of its file of data is negative, or not below the number of files", "shard -1"),
            ("shard-1", entry(F32, [4], 0, 16, shard=1), "TB5", "tensorflow-shard", "the number of its file of data is negative, or not below the number of files", "a shard that is not there")):
        yield name, index(w), *("lists_but_no_bytes", number, finding, text), what, {"object": "w", "component": "data"}
    name = "data-short.data-00000-of-00001"
    yield "data-short", index(), *("lists_but_no_bytes", "X6", "external-range", f"its 16 bytes from 16 on go beyond the 20 of '{name}'"), "a file of data of 20 bytes", {"object": "b", "component": "data", "data": ONES + ONES[:4], "sized": True}
    yield "data-missing", index(), *("lists_only", "X5", "external-file", None), "no file of data", {"object": "b", "data": None}
    yield "digest", index(w=entry(F32, [4], 0, 16, 1)), *("digest_mismatch", "W8", "digest-mismatch", None), "bytes that have not their checksum", {"object": "w", "component": "data"}
    unknown = "its shape is unknown, has a negative dimension, or more than 2^64 elements"
    for name, w, what in (("shape-overflow", entry(F32, [1 << 62, 4], 0, 16), "2^64 elements"), ("shape-negative", entry(F32, [-4], 0, 16), "a dimension of -4"), ("rank-65", entry(F32, [1] * 65, 0, 16), "65 dimensions"),
                          ("rank-unknown", tables.number(1, F32) + tables.message(2, tables.number(3, 1)) + tables.number(5, 16), "an unknown rank")):
        yield name, index(w), *("lists_but_no_dense", "L1", "unknown-format", unknown), what, {"object": "w"}
    yield "size-less", index(w=entry(F32, [5], 0, 16)), *("lists_but_no_dense", "D1", "length", "5 elements of f32 are 20 bytes, and it has 16"), "16 bytes in place of 20", {"object": "w"}
    for name, type in (("dtype-99", 99), ("dtype-0", 0), ("dtype-negative", -1), ("dtype-of-a-reference", 101)):
        yield name, index(w=entry(type, [4], 0, 16)), *("lists_but_no_dense", "L1", "unknown-format", "no meaning of format 'tensorflow.unknown' is known"), f"type {type}", {"object": "w"}
    whole, broken = ((0, 2), (2, 2)), "lists_but_no_dense"

    def sliced(*listed, stored=whole, of=(4,), w=None, **other):
        """An index with a variable `w` of these slices, of which those are stored."""
        listed = [e if isinstance(e[0], tuple) else (e,) for e in listed]
        stored = [e if isinstance(e[0], tuple) else (e,) for e in stored]
        parts = [(tables.slice_key("w", e), other.get("part") or entry(F32, [n for _, n in e], 0, 4 * count(n for _, n in e))) for e in stored]
        return table([(b"", header()), *sorted(parts), (b"w", w or entry(F32, of, 0, 0, slices=listed))])

    place = "a slice has no elements, does not lie in it, or has another rank"
    diagonal = [tuple((i, 1) for _ in range(3)) for i in range(102)]
    for name, raw, text, what in (
            ("missing", sliced((0, 2)), "its slices do not have all of its elements", "the second half is missing"),
            ("hole", sliced((0, 1), (3, 1), stored=((0, 1), (3, 1))), "its slices do not have all of its elements", "two elements in the middle are missing"),
            ("overlap", sliced((0, 3), (2, 2), stored=((0, 3), (2, 2))), "its slices overlap", "one element twice"),
            ("twice", sliced((0, 2), (0, 2), (2, 2)), "its slices overlap", "a slice that is listed twice"),
            ("many-times", sliced(*[(0, 2)] * 9), "its slices overlap", "a slice that is listed nine times"),
            ("corner", sliced(*(corner := (((0, 1), (0, 2)), ((1, 1), (1, 1)))), stored=corner, of=(2, 2)), "its slices do not have all of its elements", "one corner is missing"),
            ("begin", sliced((1, 3), stored=((1, 3),)), "its slices do not have all of its elements", "the first element is missing"),
            ("other-rank", sliced(*whole, part=entry(F32, [2, 1], 0, 8)), "a slice has another type, or another shape than its place", "slices of two dimensions"),
            ("no-rank", sliced(*whole, part=tables.number(1, F32) + tables.message(2, tables.number(3, 1)) + tables.number(5, 8)), "a slice has another type, or another shape than its place", "slices of an unknown rank"),
            ("start-and-all", sliced((0, 2), (2, -1)), place, "a slice of all from 2 on"),
            ("absent", sliced((0, 1), (1, 3)), "a slice is not in the index", "slices other than those that are stored"),
            ("beyond", sliced((0, 2), (2, 3)), place, "a slice beyond the end"),
            ("far", sliced((0, 2), (2**63 - 1, 2)), place, "a slice at 2^63 - 1"),
            ("long", sliced((0, 2), (2, 2**63 - 1)), place, "a slice of 2^63 - 1 elements"),
            ("negative", sliced((-2, 4), (2, 2)), place, "a slice from -2 on"),
            ("length-negative", sliced((0, -2), (2, 2)), place, "a slice of -2 elements"),
            ("empty", sliced((0, 2), (2, 2), (4, 0)), place, "a slice of no elements"),
            ("rank-less", sliced(((0, 4),), stored=(), of=(2, 2)), place, "a slice of one dimension of two"),
            ("rank-more", sliced(((0, 4), (0, 1)), stored=()), place, "a slice of two dimensions of one"),
            ("of-a-scalar", sliced(((0, 1),), stored=(), of=()), "it has slices, and a shape that has none", "a scalar with a slice"),
            ("of-nothing", sliced(((0, 0),), stored=(), of=(0,)), "it has slices, and a shape that has none", "no elements, and a slice"),
            ("other-type", sliced(*whole, part=entry(3, [2], 0, 8)), "a slice has another type, or another shape than its place", "slices of i32 of a variable of f32"),
            ("other-shape", sliced(*whole, part=entry(F32, [3], 0, 12)), "a slice has another type, or another shape than its place", "slices of 3 elements at places of 2"),
            ("sliced-slice", sliced(*whole, part=entry(F32, [2], 0, 0, slices=[((0, 2),)])), "a slice has another type, or another shape than its place", "slices with slices"),
            ("cells", sliced(*diagonal, stored=diagonal, of=(102,) * 3), "its slices cut it into more than 2^20 cells", "102 slices along a diagonal")):
        yield f"slices-{name}", raw, *(broken, "TB6", "tensorflow-slices", text), what, {"object": "w", "external": False, "data": None}
    yield "ok-slices-of-none", sliced((0, 2), (2, 2), w=entry(F32, [4], 0, 16)), "ok", *("TB8", "tensorflow-slice", "2 of its slices are of no variable"), "slices whose variable has none"
    yield "slices-size", sliced(*whole, part=entry(F32, [2], 0, 4)), *(broken, "D1", "length", "2 elements of f32 are 8 bytes, and it has 4"), "slices of 4 bytes in place of 8", {"object": "w", "component": "0,2"}
    yield "slices-cut", table([(b"", header()), (tables.slice_key("w", [(0, 4)]), b"\x08" + b"\xff" * 10 + b"\1"), (b"w", entry(F32, [4], 0, 0, slices=[((0, 4),)]))]), "open_error", *("PB1", "protobuf-varint", "byte 1: a varint of more than 64 bits"), "the entry of a slice has a number of more than 64 bits"
    yield "slices-of-no-rank", sliced(((0, 1),), stored=(), w=tables.number(1, F32) + tables.message(2, tables.number(3, 1)) + tables.message(7, b"")), *(broken, "L1", "unknown-format", unknown), "a slice of an unknown rank", \
        {"object": "w", "external": False, "data": None}
    ends = "goes beyond the message that it is in"
    unusual = b"".join(tables.message(7, tables.number(5, 1) + tables.message(2, b"x") + tables.message(1, tables.number(1, start) + tables.message(5, b"y") + tables.number(2, 2) + tables.number(9, 1))) for start in (0, 2))
    yield "ok-slices-unknown-fields", sliced(*whole, w=entry(F32, [4], 0, 0) + unusual), *("ok", None, None, None), "unknown fields in slices", {"object": "w"}
    yield "slices-extent-cut", sliced(*whole, w=entry(F32, [4], 0, 0) + tables.message(7, tables.message(1, b"\x08"))), *("open_error", "PB3", "protobuf-length", f"byte 13: a field {ends}"), "a slice that is cut in a number", \
        {"object": "w"}
    parts = ((0, 1 << 49), (1 << 49, (1 << 60) - (1 << 49)))
    for name, of, listed in (("2-60", 1 << 60, parts), ("2-63", 2**63 - 1, ((0, 2**63 - 1),))):
        stored = [(tables.slice_key("w", [e]), entry(4, [e[1]], 0, e[1])) for e in listed[:-1]] + [(tables.slice_key("w", [listed[-1]]), entry(5, [listed[-1][1]], 0, 0))]
        raw = table([(b"", header()), *sorted(stored), (b"w", entry(4, [of], 0, 0, slices=[(e,) for e in listed]))])
        yield f"slices-of-{name}", raw, *(broken, "TB6", "tensorflow-slices", "a slice has another type, or another shape than its place"), f"slices of {name.replace('-', '^')} bytes, the last of another type", \
            {"object": "w", "external": False, "data": None}
    for name, number, finding, text, part in (("shard", "TB5", "tensorflow-shard", "the number of its file of data is negative, or not below the number of files", entry(F32, [2], 0, 8, shard=-1)),
                                              ("offset", "TB4", "tensorflow-range", "its offset or its size is negative", entry(F32, [2], -8, 8))):
        stored = [(tables.slice_key("w", [whole[0]]), part), (tables.slice_key("w", [whole[1]]), entry(F32, [2], 8, 8))]
        yield f"slices-{name}-negative", table([(b"", header()), *stored, (b"w", entry(F32, [4], 0, 0, slices=[(e,) for e in whole]))]), *("lists_but_no_bytes", number, finding, text), f"a slice whose {name} is negative", {"object": "w", "component": "0,2"}
    dim = tables.message(2, tables.message(2, tables.message(2, b"name") + tables.number(1, 4)))
    crc = tables.varint(6 << 3 | 5) + struct.pack("<I", tables.masked(tables.crc32c(ONES)))
    for name, more, what in (("dimension-named", dim, "a dimension with a name"), ("dimension-named-behind", tables.message(2, tables.message(2, tables.number(1, 4) + tables.message(2, b"name"))), "a dimension with a name behind its size"),
                             ("shape-ranked", tables.message(2, tables.number(3, 0) + b"\x18\0" + tables.shape_of([4]) + tables.number(9, 1)), "a shape that says that its rank is known"),
                             ("field-9", tables.number(9, 7) + tables.message(2, tables.shape_of([4])), "an unknown number")):
        yield f"ok-{name}", index(w=tables.number(1, F32) + more + tables.number(5, 16) + crc), *("ok", None, None, None), what, {"object": "w"}
    yield "digest-dimension-named", index(w=tables.number(1, F32) + dim + tables.number(5, 16) + crc[:1] + bytes(4)), *("digest_mismatch", "W8", "digest-mismatch", None), "a dimension with a name, and another checksum", \
        {"object": "w", "component": "data"}
    for name, w, number, finding, text, what in (
            ("number-missing", b"\x08", "PB3", "protobuf-length", f"byte 1: a field {ends}", "a type without its number"), ("number-cut", b"\x08\x80", "PB3", "protobuf-length", f"byte 1: a varint {ends}", "a type that is cut"),
            ("shape-missing", b"\x12", "PB3", "protobuf-length", f"byte 1: a field {ends}", "a shape without its length"), ("shape-cut", b"\x12\x7f", "PB3", "protobuf-length", f"byte 1: a field {ends}", "a shape that is cut"),
            ("dimension-cut", b"\x12\2\x12\x7f", "PB3", "protobuf-length", f"byte 3: a field {ends}", "a dimension that is cut"),
            ("size-cut", b"\x12\3\x12\1\x08", "PB3", "protobuf-length", f"byte 5: a field {ends}", "a dimension without its size"), ("crc-cut", b"\x35\0\0", "PB3", "protobuf-length", f"byte 1: a number {ends}", "a checksum of two bytes")):
        yield f"entry-{name}", index(w=w), *("open_error", number, finding, text), what, {"object": "w"}
    yield "endianness-2", table([(b"", header(endianness=2)), (b"w", values()[2])]), *("lists_but_no_dense", "L8", "byte-order", "byte order 'unknown' is not known"), "endianness 2", {"object": "w", "data": ONES}
    yield "ok-no-digest", index(w=entry(F32, [4], 0, 16)), *("ok", None, None, None), "no checksum", {"object": "w"}
    yield "ok-fields-twice", index(w=b"\x08\x02" + entry(F32, [2], 0, 4) + tables.message(2, tables.shape_of([2])) + tables.number(5, 16) + b"\x52\x01x"), *("ok", None, None, None), "fields that stand twice, and an unknown one", {"object": "w"}
    yield "ok-shards-max", index(head=header(shards=2**31 - 1)), *("lists_only", "X5", "external-file", None), "2^31 - 1 files of data, of which there is none", {"object": "w", "data": None}


def two_blocks():
    """A block whose first key shares a byte with the last key of the block before."""
    first, second = block([(b"", header()), (b"w", values()[2])]), entries((1, b"x", values()[1]))
    out = first + trailer(first)
    at = len(out)
    out += second + trailer(second)
    last = block([(b"w", handle(0, len(first))), (b"x", handle(at, len(second)))], 1)
    return out + last + trailer(last) + footer((len(out), len(last)), (len(out), len(last)))


def write_hostile():
    folder, found = HERE / "hostile", []
    for path in folder.iterdir():
        path.unlink()
    for name, raw, expect, number, finding, message, what, *more in cases():
        more = dict(*more)
        data = more.pop("data", ONES + ONES)
        (folder / f"{name}.index").write_bytes(raw)
        if expect != "open_error" and data is not None:
            (folder / f"{name}.data-00000-of-00001").write_bytes(data)
        case = {"file": f"{name}.index", "expect": expect, "number": number, "finding": finding, "message": message, "object": None, "rule": what,
                "size": len(raw), "sha256": sha256(raw), **more}
        found.append(case if expect == "open_error" else {"external": True, **case})
    (folder / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]\n")


if __name__ == "__main__":
    write_golden()
    write_hostile()
