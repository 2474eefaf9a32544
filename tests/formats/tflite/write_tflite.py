#!/usr/bin/python3
"""Writes golden/external/hand*, golden/hand_blocks.tflite, hostile/ and their descriptions: models that have what the converter does
not write, that break one rule each, or look odd. Byte by byte, after schema.fbs and the format of flatbuffers.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLOAT32, INT32, UINT8, INT8, STRING, RESOURCE, VARIANT, INT2, UINT4, FLOAT8_E4M3FN, FLOAT8_E5M2 = 0, 2, 3, 9, 5, 13, 14, 19, 20, 21, 22


# ------------------------------------------------------------------------------------------------- flatbuffers

class Number:
    """A field that is its number; also a reference that leads anywhere."""

    def __init__(self, format, value):
        self.raw = struct.pack("<" + format, value)


def u32(value):
    return Number("I", value)


class Table:
    """Fields by number. vtable: replaces the whole one; head: its size, and that of the table."""

    def __init__(self, fields, vtable=None, head=None):
        self.fields, self.vtable, self.head = fields, vtable, head


class Tables(list):
    """A vector of tables; an int is a reference that leads anywhere. count: instead of their number."""
    count = None


class Vector:
    """A vector of numbers or bytes; count: instead of their number."""

    def __init__(self, format, values, count=None):
        self.n, self.raw = len(values) if count is None else count, values if format == "B" else struct.pack(f"<{len(values)}{format}", *values)


def text(z):
    return Vector("B", z.encode() if isinstance(z, str) else z)


class Writer:
    """Each thing once, before those that it refers to, as references only lead forward."""

    def __init__(self):
        self.out, self.places = bytearray(b"\0\0\0\0TFL3"), {}

    def pad(self, alignment):
        self.out += bytes(-len(self.out) % alignment)

    def refer(self, at, thing):
        """Write a thing, if it is not there, and refer to it at that place."""
        if id(thing) not in self.places or self.places[id(thing)][0] < at:
            self.places[id(thing)] = self.write(thing), thing   # Alive, so that its id stays its own
        place, _ = self.places[id(thing)]
        struct.pack_into("<I", self.out, at, place - at)

    def write(self, thing):
        if isinstance(thing, Table):
            return self.table(thing)
        if isinstance(thing, Tables):
            self.pad(4)
            at = len(self.out)
            self.out += struct.pack("<I", len(thing) if thing.count is None else thing.count) + bytes(4 * len(thing))
            for i, one in enumerate(thing):
                if isinstance(one, int):
                    struct.pack_into("<I", self.out, at + 4 + 4 * i, one)
                else:
                    self.refer(at + 4 + 4 * i, one)
            return at
        self.pad(8)
        self.out += bytes(4)   # So that elements of 8 bytes are aligned
        at = len(self.out)
        self.out += struct.pack("<I", thing.n) + thing.raw + b"\0"
        return at

    def table(self, table):
        body, offsets, waiting = bytearray(4), [0] * (max(table.fields, default=-1) + 1), []
        for number, value in table.fields.items():
            raw = value.raw if isinstance(value, Number) else bytes(4)
            body += bytes(-len(body) % len(raw))
            offsets[number] = len(body)
            if not isinstance(value, Number):
                waiting.append((len(body), value))
            body += raw
        vtable = struct.pack("<HH", *(table.head or (4 + 2 * len(offsets), len(body)))) + struct.pack(f"<{len(offsets)}H", *offsets)
        vtable = vtable if table.vtable is None else table.vtable
        self.pad(8)
        self.out += bytes(-len(vtable) % 8) + vtable
        at = len(self.out)
        struct.pack_into("<i", body, 0, len(vtable))
        self.out += body
        for place, value in waiting:
            self.refer(at + place, value)
        return at


def file(root):
    writer = Writer()
    writer.refer(0, root)
    return bytes(writer.out)


# ----------------------------------------------------------------------------------------- the tables of schema.fbs

def tensor(name=None, shape=None, type=FLOAT32, buffer=1, more=()):
    fields = {1: Number("b", type), 2: u32(buffer), **dict(more)}
    if shape is not None:
        fields[0] = Vector("i", shape)
    if name is not None:
        fields[3] = text(name)
    return Table(fields)


def data(raw):
    return Table({0: Vector("B", raw)})


def behind(offset, size):
    return Table({1: Number("Q", offset), 2: Number("Q", size)})


def subgraph(*tensors, name=None, operators=0):
    fields = {0: Tables(tensors), 3: Tables([Table({})] * operators)}
    return Table(fields if name is None else {**fields, 4: text(name)})


def model(subgraphs, buffers, more=(), version=3):
    fields = {0: u32(version), 2: Tables(subgraphs), 4: Tables([Table({}), *buffers]), **dict(more)}
    return Table(fields)


def group(name):
    return Table({0: text(name)})


def external(id, group, offset, length, packing="unpacked"):
    fields = {0: u32(id), 1: u32(group), 2: Number("Q", offset), 3: Number("Q", length)}
    return Table(fields if packing is None else {**fields, 4: text(packing)})


def floats(first, n=1):
    return struct.pack(f"<{n}f", *range(first, first + n))


# ------------------------------------------------------------------------------------------------- good files

def described(name, dtype, shape, attributes, stored, type=None, shard=None, offset=None, format="dense", encoding="raw", why=None):
    return {"name": name, "shape": shape, "dtype": dtype, "type": type, "attributes": attributes, "stored": stored, "shard": shard, "offset": offset,
            "format": format, "encoding": encoding, "why": why}


def expectation(path, raw, attributes, objects, exercises):
    def component(o):
        known = o["encoding"] == "raw"
        return {"name": "data", "dtype": o["dtype"], "type": o["type"], "encoding": o["encoding"], "byte_order": "little",
                "offset": raw.index(o["stored"]) if o["offset"] is None else o["offset"], "length": len(o["stored"]),
                "decoded_length": len(o["stored"]) if known else None, "stored_sha256": sha256(o["stored"]),
                "decoded_sha256": sha256(o["stored"]) if known else None, "shard": o["shard"]}

    def one(o):
        elements = 1
        for n in o["shape"]:
            elements *= n
        return {"name": o["name"], "shape": o["shape"], "elements": elements, "format": o["format"], "dtype": o["dtype"], "type": o["type"],
                "attributes": o["attributes"], "components": [component(o)],
                "dense": None if o["why"] else {"dtype": o["dtype"], "type": o["type"], "sha256": sha256(o["stored"])},
                "dense_status": "undefined" if o["why"] else "given", "dense_note": o["why"]}

    return {"file": f"tflite/{path}.tflite", "container": "tflite", "written_by": "write_tflite.py", "exercises": exercises, "version": "3",
            "file_size": len(raw), "sha256": sha256(raw), "manifest_length": 0, "attributes": attributes, "objects": [one(o) for o in objects]}


def sha256(raw):
    return hashlib.sha256(raw).hexdigest()


def facts(tensor, buffer, tensor_type, subgraph=0, **more):
    return {"subgraph": subgraph, "tensor": tensor, "buffer": buffer, "tensor_type": tensor_type, **more}


def hand_blocks():
    """Types and quantization of later schemas."""
    raw = [bytes([0xE4, 0x01]), bytes([0x21, 0x43, 0x05]), bytes([0x38, 0xB8, 0x40]), bytes([0x3C, 0xBC, 0x42]), bytes([0x11, 0x22]), bytes([0x33, 0x44]), bytes([0x55, 0x66]), bytes([0x77, 0x08])]
    blocks = Table({4: Number("B", 2), 5: Table({0: Number("i", 5), 1: Number("i", -1), 2: Number("i", 32)})})
    axes = Table({4: Number("B", 3), 5: Table({0: Number("i", 3), 1: Number("i", 4), 2: Number("i", 2), 3: Vector("i", [0, 1])})})
    given = [("int2", [5], INT2, 1, ()), ("uint4", [5], UINT4, 2, ()), ("e4m3", [3], FLOAT8_E4M3FN, 3, ()), ("e5m2", [3], FLOAT8_E5M2, 4, ()),
             ("blocks", [2], INT8, 5, {4: blocks}), ("custom", [2], INT8, 6, {4: Table({4: Number("B", 1)})}), ("future", [2], INT8, 7, {4: Table({4: Number("B", 9)})}), ("axes", [1, 2], INT8, 8, {4: axes})]
    made = file(model([subgraph(*(tensor(*one) for one in given), operators=2)], [data(one) for one in raw], {3: text("blocks")}))
    types = [("INT2", "u8", "i2"), ("UINT4", "u8", "u4"), ("FLOAT8_E4M3FN", "u8", "f8_e4m3fn"), ("FLOAT8_E5M2", "u8", "f8_e5m2"), *[("INT8", "i8", None)] * 4]
    details = [{}] * 4 + [{"quantization_details": it} for it in (
        {"kind": "BlockwiseQuantization", "scales": 5, "zero_points": -1, "block_size": 32}, {"kind": "CustomQuantization"}, {"kind": 9},
        {"kind": "MultiAxisQuantization", "scales": 3, "zero_points": 4, "block_size": 2, "quantized_dimensions": [0, 1]})]
    objects = [described(one[0], dtype, one[1], facts(i, i + 1, name, **more), stored, type)
               for i, (one, (name, dtype, type), stored, more) in enumerate(zip(given, types, raw, details))]
    return made, {"subgraphs": 1, "operators": 2, "description": "blocks"}, objects, "types and quantization of later schemas; operators"


WEIGHTS = bytes(range(64, 64 + 40))


def hand_external():
    """Beside it is sub/w.bin, of 40 bytes. Ids are in no order."""
    given = [("all", [40], 7, 0, 40, "unpacked", "sub/w.bin"), ("range", [8], 0x80000000, 8, 8, None, "./sub//w.bin"), ("packed", [8], 3, 32, 8, "int4_in_tiles", "sub/w.bin")]
    made = file(model([subgraph(*(tensor(name, shape, UINT8, 0, {10: u32(id)}) for name, shape, id, *_ in given))], [], {
        8: Tables([group("sub/w.bin"), group("./sub//w.bin")]),
        9: Tables([external(id, location != "sub/w.bin", *where) for _, _, id, *where, location in given])}))
    objects = [described(name, "u8", shape, facts(i, 0, "UINT8", external_buffer=id), WEIGHTS[offset:offset + length], shard=location, offset=offset,
                         encoding="int4_in_tiles" if name == "packed" else "raw", why="no meaning of the packing is known" if name == "packed" else None)
               for i, (name, shape, id, offset, length, _, location) in enumerate(given)]
    return made, {"subgraphs": 1, "operators": 0}, objects, "external buffers in a file beside the model, one of them packed"


# ------------------------------------------------------------------------------------------------- hostile files

FINE = tensor("fine", [2], FLOAT32, 2)
FINE_DATA = data(floats(1, 2))


def two(name="w", shape=(4,), type=FLOAT32, buffer=1, bytes_of=None, more=(), model_more=()):
    """A model of that tensor, and one that is fine."""
    return model([subgraph(tensor(name, shape, type, buffer, more), FINE)], [data(floats(3, 4)) if bytes_of is None else bytes_of, FINE_DATA], model_more)


def outside(*externals, groups=("w.bin",), id=5):
    return two(buffer=0, bytes_of=data(b""), more={10: u32(id)}, model_more={8: Tables([group(name) for name in groups]), 9: Tables(externals)})


def cut(raw, n):
    return raw[:n]


def counted(tables, n):
    tables.count = n
    return tables


def cases():
    """name, table or bytes, expectation, number, object, message, fault"""
    refused, no_bytes, no_dense, only, ok = "open_error", "lists_but_no_bytes", "lists_but_no_dense", "lists_only", "ok"
    whole = file(two())
    root = struct.unpack_from("<I", whole)[0]
    yield "magic", whole[:4] + b"TFL9" + whole[8:], refused, "T1", None, "not a tensor file of a known format", "another identifier"
    yield "root-beyond", struct.pack("<I", 2**32 - 1) + whole[4:], refused, "FB3", None, "byte 0: a reference leads beyond the file", "a root at 2^32 - 1"
    yield "cut-behind-the-magic", cut(whole, 8), refused, "FB3", None, "byte 0: a reference leads beyond the file", "eight bytes"
    yield "cut-in-a-vtable", cut(whole, root + 4), refused, "FB1", None, f"byte {root}: a table's bytes go beyond the file, or end before its head does", "a file that ends in its root"
    yield "vtable-beyond", whole[:root] + struct.pack("<i", -2**31) + whole[root + 4:], refused, "FB1", None, f"byte {root}: a table's vtable does not lie within the file", "a vtable beyond the file"
    yield "vtable-before", whole[:root] + struct.pack("<i", root + 1) + whole[root + 4:], refused, "FB1", None, f"byte {root}: a table's vtable does not lie within the file", "a vtable before the file"
    for name, head, message, what in (
            ("vtable-long", (65534, 8), "vtable does not end within the file, between two entries", "a vtable of 65,534 bytes"),
            ("vtable-odd", (9, 8), "vtable does not end within the file, between two entries", "a vtable of nine bytes"),
            ("vtable-short", (2, 8), "vtable does not end within the file, between two entries", "a vtable shorter than its head"),
            ("table-long", (4, 65535), "bytes go beyond the file, or end before its head does", "a table of 65,535 bytes"),
            ("table-short", (4, 3), "bytes go beyond the file, or end before its head does", "a table shorter than its head")):
        raw = file(two(bytes_of=Table({0: Vector("B", floats(3, 4))}, head=head)))
        yield name, raw, refused, "FB1", None, f"byte {at_of(raw, head)}: a table's {message}", what
    raw = file(two(bytes_of=Table({0: Vector("B", b"wwww")}, vtable=struct.pack("<HHH", 6, 8, 6))))
    yield "field-cut-by-its-table", raw, refused, "FB2", None, f"byte {at_of(raw, (6, 8, 6))}: field 0 does not lie within its table", "a field that ends behind its table"
    raw = file(two(bytes_of=Table({0: Vector("B", b"wwww")}, vtable=struct.pack("<HHH", 6, 8, 2))))
    yield "field-in-the-head", raw, refused, "FB2", None, f"byte {at_of(raw, (6, 8, 2))}: field 0 does not lie within its table", "a field in the table's head"
    raw = file(two(more={0: u32(2**32 - 1)}, shape=None))
    yield "shape-beyond", raw, refused, "FB3", None, f"byte {raw.index(bytes([255] * 4))}: a reference leads beyond the file", "a shape at 2^32 - 1"
    raw = file(two(more={0: Vector("i", [4], 2**31)}, shape=None))
    yield "shape-of-many", raw, refused, "FB3", None, f"byte {raw.index(struct.pack('<I', 2**31)) + 4}: a vector of 2147483648 elements goes beyond the file", "a shape of 2^31 dimensions"
    raw = file(two(model_more={4: counted(Tables([Table({})]), 2**32 - 1)}))
    yield "buffers-max", raw, refused, "FB3", None, f"byte {raw.index(bytes([255] * 4)) + 4}: a vector of 4294967295 elements goes beyond the file", "2^32 - 1 buffers"
    raw = file(two(more={3: u32(0x7FFFFFFF)}, name=None))
    yield "name-beyond", raw, refused, "FB3", None, f"byte {raw.index(struct.pack('<I', 0x7FFFFFFF))}: a reference leads beyond the file", "a name beyond the file"
    shared = Tables([FINE] * 400)
    raw = file(model([Table({0: shared})] * 40, [data(floats(3, 4)), FINE_DATA]))
    yield "tensors-shared", raw, refused, "FB4", None, f"byte {raw.index(struct.pack('<I', 400)) + 4}: vectors of tables take more bytes than the file", "one vector of tensors in many subgraphs"
    raw = file(model([subgraph(*[tensor("n" * 9000, [1])] * 4000)], [data(floats(3))]))
    yield "names-large", raw, refused, "TL5", None, f"names and what is shown as text take more than {(1 << 20) + 32 * len(raw)} bytes", "a long name of many tensors"
    raw = file(two(name=b"\xff"))
    yield "name-utf8", raw, refused, "TL1", None, name_message(raw), "a name that is not UTF-8"
    raw = file(two(name=b"a\0b"))
    yield "name-nul", raw, refused, "TL1", None, name_message(raw), "a name with U+0000"
    yield "shape-negative", two(shape=[-4]), no_bytes, "TL2", "w", "a dimension is negative", "a negative dimension"
    yield "shape-negative-twice", two(shape=[-2, -2]), no_bytes, "TL2", "w", "a dimension is negative", "negative dimensions whose product fits"
    yield "shape-overflow", two(shape=[2**31 - 1] * 3), no_bytes, "TL2", "w", "the product of its dimensions does not fit 64 bits", "2^93 elements"
    yield "rank-65", two(shape=[1] * 65), no_bytes, "TL2", "w", "it has more than 64 dimensions", "65 dimensions"
    yield "buffer-of-none", two(buffer=9), no_bytes, "TL3", "w", "its buffer is not one of the model's", "buffer 9 of three"
    yield "buffer-max", two(buffer=2**32 - 1), no_bytes, "TL3", "w", "its buffer is not one of the model's", "buffer 2^32 - 1"
    yield "data-beyond", two(bytes_of=Table({0: Vector("B", floats(3, 4), 2**31)})), no_bytes, "TL4", "w", "its bytes go beyond the file", "2^31 bytes of data"
    yield "behind-beyond", two(bytes_of=behind(1 << 20, 16)), no_bytes, "TL4", "w", "its bytes go beyond the file", "data behind the file"
    yield "behind-cut", two(bytes_of=behind(16, 1 << 20)), no_bytes, "TL4", "w", "its bytes go beyond the file", "data that end behind the file"
    yield "behind-overflow", two(bytes_of=behind(2**64 - 8, 16)), no_bytes, "TL4", "w", "its bytes go beyond the file", "offset and size of more than 64 bits together"
    yield "external-of-none", outside(external(6, 0, 0, 16)), no_bytes, "TL6", "w", "no external buffer of the model has its number", "an external buffer that is not there"
    yield "external-no-group", outside(external(5, 1, 0, 16)), no_bytes, "TL6", "w", "the model does not have the group of its external buffer", "a group that is not there"
    yield "external-absolute", outside(external(5, 0, 0, 16), groups=["/etc/passwd"]), no_bytes, "TL6", "w", "the location of its external data is not relative", "an absolute path"
    yield "external-dotdot", outside(external(5, 0, 0, 16), groups=["../write_tflite.py"]), no_bytes, "TL6", "w", "the location of its external data has a part that is '..'", "a file above the model's directory, which is there"
    yield "external-no-name", outside(external(5, 0, 0, 16), groups=[""]), no_bytes, "TL6", "w", "its external data have no location", "a group without a name"
    yield "external-utf8", outside(external(5, 0, 0, 16), groups=[b"\xff"]), no_bytes, "TL6", "w", "the location of its external data is not UTF-8, or has U+0000 in it", "a location that is not UTF-8"
    yield "external-overflow", outside(external(5, 0, 2**64 - 8, 16)), no_bytes, "TL6", "w", "offset and length of its external buffer go beyond 64 bits", "offset and length of more than 64 bits together"
    yield "external-packing-utf8", outside(external(5, 0, 0, 16, b"\xff")), no_bytes, "TL6", "w", "the packing of its bytes is not UTF-8", "a packing that is not UTF-8"
    yield "external-missing", outside(external(5, 0, 0, 16)), no_bytes, "X5", "w", None, "a file that is not there"
    yield "external-past-end", outside(external(5, 0, 4096, 16), groups=["external-past-end.tflite"]), no_bytes, "X6", "w", None, "a range beyond the file"
    yield "shape-more", two(shape=[5]), no_dense, "D1", "w", "5 elements of f32 are 20 bytes, and it has 16", "five elements, and bytes for four"
    yield "type-99", two(type=99), no_dense, "L1", "w", "no meaning of format 'tflite.unknown' is known", "a type of the future"
    yield "type-negative", two(type=-1), no_dense, "L1", "w", "no meaning of format 'tflite.unknown' is known", "a negative type"
    yield "resource", two(type=RESOURCE), no_dense, "L11", "w", "it has no values: its elements are handles", "handles of resources"
    yield "variant", two(type=VARIANT), no_dense, "L11", "w", "it has no values: its elements are of any type", "variants"
    yield "text", two(type=STRING), no_dense, "L11", "w", "it has no values: its elements are text", "text"
    yield "sparse", two(more={6: Table({})}), no_dense, "L11", "w", "it has no values: only blocks of a sparse tensor are stored", "a sparse tensor"
    yield "ok-rank-64", two(shape=[4] + [1] * 63), ok, None, None, None, "64 dimensions"
    yield "ok-no-subgraph", Table({}), ok, None, None, None, "an empty table"
    yield "ok-no-name", two(name=None), ok, None, None, None, "a tensor without a name"
    yield "ok-offset-1", two(bytes_of=behind(1, 16)), ok, None, None, None, "an offset that is none"
    yield "ok-empty-data", two(bytes_of=data(b"")), ok, None, None, None, "data of no bytes"
    unused = ok, "TL7", None
    of_1, w = data(floats(3, 4)), tensor("w", [4])
    yield "ok-buffer-unused", model([subgraph(FINE)], [of_1, FINE_DATA]), *unused, "neither a tensor nor metadata refers to buffer 1", "a buffer that nothing refers to"
    yield "ok-buffers-unused", model([], [of_1, FINE_DATA]), *unused, "neither tensors nor metadata refer to 2 buffers, the first is buffer 1", "buffers without a tensor"
    yield "ok-external-unused", two(model_more={8: Tables([group("w.bin")]), 9: Tables([external(5, 0, 0, 16)])}), *unused, "neither a tensor nor metadata refers to external buffer 5", "an external buffer that no tensor has"
    yield "ok-buffer-of-metadata", model([subgraph(w)], [of_1, FINE_DATA], {6: Tables([Table({0: text("m"), 1: u32(2)})])}), ok, None, None, None, "a buffer of metadata"
    yield "ok-buffer-of-a-list", model([subgraph(w)], [of_1, FINE_DATA], {5: Vector("i", [2])}), ok, None, None, None, "a buffer of metadata without a name"
    yield "ok-names", model([subgraph(FINE, FINE, tensor("fine#2", [2], FLOAT32, 2)), subgraph(FINE, name=""), subgraph(FINE, name="subgraph_1")], [data(b""), FINE_DATA]), ok, None, None, None, "names that repeat, also with their numbers"


def at_of(raw, vtable):
    """Where the table behind that vtable is."""
    head = struct.pack(f"<{len(vtable)}H", *vtable)
    places = [at for at in range(0, len(raw) - 4) if raw[at - struct.unpack_from("<i", raw, at)[0]:].startswith(head) and 0 < struct.unpack_from("<i", raw, at)[0] <= min(at, 64)]
    assert len(places) == 1, places
    return places[0]


def name_message(raw):
    """The tensor w is the first one."""
    root, = struct.unpack_from("<I", raw)

    def field(table, number):
        vtable = table - struct.unpack_from("<i", raw, table)[0]
        at = table + struct.unpack_from("<H", raw, vtable + 4 + 2 * number)[0]
        return at + struct.unpack_from("<I", raw, at)[0]

    def first(vector):
        return vector + 4 + struct.unpack_from("<I", raw, vector + 4)[0]

    at = first(field(first(field(root, 2)), 0))
    return f"byte {at}: the name of this tensor, or of its subgraph, is not UTF-8, or has U+0000 in it"


FINDINGS = {
    "T1": "magic", "FB1": "flatbuffer-table", "FB2": "flatbuffer-field", "FB3": "flatbuffer-reference", "FB4": "flatbuffer-shared",
    "TL1": "tflite-name", "TL2": "tflite-shape", "TL3": "tflite-buffer", "TL4": "tflite-data", "TL5": "tflite-size", "TL6": "tflite-external", "TL7": "tflite-unused",
    "X5": "external-file", "X6": "external-range", "L1": "unknown-format", "L11": "no-values", "D1": "length",
}


def write_golden():
    golden = HERE / "golden"
    (golden / "external" / "sub").mkdir(parents=True, exist_ok=True)
    (golden / "external" / "sub" / "w.bin").write_bytes(WEIGHTS)
    for path, made in (("hand_blocks", hand_blocks()), ("external/hand", hand_external())):
        raw, attributes, objects, exercises = made
        (golden / f"{path}.tflite").write_bytes(raw)
        expected = expectation(path, raw, attributes, objects, exercises)
        (golden / f"{path}.expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def write_hostile():
    rows = []
    (HERE / "hostile").mkdir(exist_ok=True)
    for name, made, expect, number, object, message, what in cases():
        raw = made if isinstance(made, bytes) else file(made)
        (HERE / "hostile" / f"{name}.tflite").write_bytes(raw)
        row = {"file": f"{name}.tflite", "expect": expect, "number": number, "finding": FINDINGS.get(number), "message": message, "object": object,
               "rule": what, "size": len(raw), "sha256": sha256(raw)}
        if expect == "lists_but_no_bytes":
            row["sized"] = True
        if number in ("X5", "X6"):
            row["external"] = True
        rows.append(row)
    (HERE / "hostile" / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    write_golden()
    write_hostile()
