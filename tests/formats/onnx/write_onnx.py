#!/usr/bin/python3
"""Writes golden/hand_*, hostile/ and their descriptions: ONNX models that have what onnx's own helpers do not write, that break
one rule each, or look odd. Byte by byte, after onnx.proto and protobuf's encoding.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLOAT, UINT8, INT8, UINT16, INT16, INT32, INT64, STRING, BOOL, FLOAT16, DOUBLE, UINT32, UINT64 = range(1, 14)
COMPLEX64, BFLOAT16, UINT4, INT4, UINT2, INT2, FLOAT6 = 14, 16, 21, 22, 25, 26, 27


# ---------------------------------------------------------------------------------------------- protobuf's encoding

def varint(n):
    n %= 1 << 64
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def tag(number, type):
    return varint(number << 3 | type)


def field(number, value):
    """An integer is a varint, a text or bytes what is counted, a float one of 4 bytes."""
    if isinstance(value, int):
        return tag(number, 0) + varint(value)
    if isinstance(value, float):
        return tag(number, 5) + struct.pack("<f", value)
    raw = value.encode() if isinstance(value, str) else value
    return tag(number, 2) + varint(len(raw)) + raw


def fields(number, values):
    return b"".join(field(number, value) for value in values)


def double(number, value):
    return tag(number, 1) + struct.pack("<d", value)


def packed(number, values):
    return field(number, b"".join(map(varint, values)))


def pair(key, value):
    return field(1, key) + field(2, value)


# ----------------------------------------------------------------------------------------------- the messages of ONNX

def tensor(name, dims, type, *data):
    return (fields(1, dims) + (field(2, type) if type is not None else b"") + (field(8, name) if name is not None else b"") + b"".join(data))


def raw(data):
    return field(9, data)


def external(**entries):
    return b"".join(field(13, pair(key, value)) for key, value in entries.items()) + field(14, 1)


def attribute(name, *values):
    return field(1, name) + b"".join(values)


def node(op, name="", outputs=(), attributes=()):
    return fields(2, outputs) + (field(3, name) if name else b"") + field(4, op) + fields(5, attributes)


def sparse(values, indices, dims):
    return (field(1, values) if values is not None else b"") + (field(2, indices) if indices is not None else b"") + fields(3, dims)


def graph(initializers=(), nodes=(), sparses=(), name="g"):
    return fields(1, nodes) + (field(2, name) if name else b"") + fields(5, initializers) + fields(15, sparses)


def model(*graphs, more=b"", ir=10):
    return (field(1, ir) if ir is not None else b"") + fields(7, graphs) + field(8, field(2, 21)) + more


def numbers(n, code="f", first=1):
    return struct.pack(f"<{n}{code}", *range(first, first + n))


def floats(first, n=1):
    return numbers(n, "f", first)


# ------------------------------------------------------------------------------------------------- good files

def described(name, dtype, shape, attributes, stored, dense=None, encoding="raw", type=None, offset=None, role="data", shard=None, length=0):
    """An object of one component: the bytes in the file that are its own, found there, and what they mean."""
    return {"name": name, "shape": shape, "dtype": dtype, "type": type, "attributes": attributes, "dense": stored if dense is None else dense,
            "parts": [{"name": role, "dtype": dtype, "type": type, "stored": stored, "encoding": encoding, "offset": offset, "shard": shard,
                       "decoded": stored if dense is None else dense, "length": length}]}


def expectation(file, data, attributes, objects, exercises, version):
    def component(part):
        scattered, in_shard = part["offset"] == "scattered", part["shard"]
        offset = None if scattered else part["offset"] if part["offset"] is not None else data.index(part["stored"])
        if not scattered and part["offset"] is None:
            assert data.count(part["stored"]) == 1, part["stored"]
        length = None if scattered or part["length"] is None else len(part["stored"])
        return {"name": part["name"], "dtype": part["dtype"], "type": part["type"], "encoding": part["encoding"], "byte_order": "little",
                "offset": offset, "length": length, "decoded_length": None if part["length"] is None and in_shard else len(part["decoded"]),
                "stored_sha256": None if scattered else sha256(part["stored"]), "decoded_sha256": sha256(part["decoded"]), "shard": in_shard}

    def described_object(o):
        elements = 1
        for n in o["shape"]:
            elements *= n
        return {"name": o["name"], "shape": o["shape"], "elements": elements, "format": o.get("format", "dense"), "dtype": o["dtype"], "type": o["type"],
                "attributes": o["attributes"], "components": [component(part) for part in o["parts"]],
                "dense": {"dtype": o["dtype"], "type": o["type"], "sha256": sha256(o["dense"])}, "dense_status": "given", "dense_note": None}

    return {"file": file, "container": "onnx", "written_by": "write_onnx.py", "exercises": exercises, "version": version, "file_size": len(data),
            "sha256": sha256(data), "manifest_length": 0, "attributes": attributes, "objects": [described_object(o) for o in objects]}


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def initializer(type=FLOAT, field="raw_data", **more):
    return {"role": "initializer", "data_type": type, **more, "field": field}


def inside(where, role="attribute", type=FLOAT, field="raw_data", name=None):
    return {"role": role, "data_type": type, "where": where, "field": field, **({"tensor_name": name} if name else {})}


def hand_nodes():
    """Names: of nodes without any, of lists, functions and training_info, and those that come again."""
    objects, at = [], iter(range(1, 100))

    def one(name, attributes, given=""):
        data = floats(100 + next(at))
        objects.append(described(name, "f32", [1], attributes, data))
        return tensor(given, [1], FLOAT, raw(data)) if given is not None else tensor(None, [1], FLOAT, raw(data))

    def constant(output, name, given=""):
        return node("Constant", outputs=[output], attributes=[attribute("value", field(5, one(name, inside(name, "constant", name=given), given)))])

    initializers = [one("w", initializer(), "w"), one("w#2", initializer(), "w#2"), one("w#3", initializer(), "w"), one("", initializer(), None),
                    one("w#4", initializer(), "w")]

    def sparse_one(name, attributes, first):
        stored, indices = floats(first, 2), struct.pack("<2q", 5, 1 + first % 4)
        cells = [0.0] * 6
        cells[5], cells[1 + first % 4] = first, first + 1
        parts = [{"name": "values", "dtype": "f32", "type": None, "stored": stored, "encoding": "raw", "offset": None, "shard": None, "decoded": stored,
                  "length": 0},
                 {"name": "indices", "dtype": "i64", "type": None, "stored": indices, "encoding": "raw", "offset": None, "shard": None,
                  "decoded": indices, "length": 0}]
        objects.append({"name": name, "shape": [2, 3], "dtype": "f32", "type": None, "format": "sparse_coo",
                        "attributes": {**attributes, "indices_shape": [2]}, "dense": struct.pack("<6f", *cells), "parts": parts})
        return sparse(tensor("sv", [2], FLOAT, raw(stored)), tensor("", [2], INT64, raw(indices)), [2, 3])

    nodes = [node("Relu", "plain", ["y"]),
             node("ConstantOfShape", outputs=["", "z"], attributes=[attribute("value", field(5, one("z.value", inside("z.value"))))]),
             node("Operator", attributes=[attribute("value", field(5, one("Operator.value", inside("Operator.value", name="t"), "t")))]),
             constant("out", "out", "t"),
             node("Constant", outputs=["sp"], attributes=[attribute("sparse_value", field(22, sparse_one("sp", inside("sp", "constant", name="sv"), 2000)))]),
             node("List", "many", attributes=[attribute("ts", field(10, one("many.ts", inside("many.ts"))), field(10, one("many.ts#2", inside("many.ts")))),
                                              attribute("ss", field(23, sparse_one("many.ss", inside("many.ss", name="sv"), 3001))),
                                              attribute("i", field(3, 7), field(20, 2))]),
             node("Loop", "loop", attributes=[attribute("gs", field(11, graph([one("loop.gs/w", initializer(), "w")])),
                                                        field(11, graph([one("loop.gs/w#2", initializer(), "w")], [constant("k", "loop.gs/k")])))])]
    training = field(20, field(1, graph([one("training_info.initialization/m", initializer(), "m")]))
                     + field(2, graph([one("training_info.algorithm/lr", initializer(), "lr")])))
    function = field(25, field(1, "F") + field(7, constant("c", "F/c")) + field(11, attribute("alpha", field(5, one("F/alpha", inside("F/alpha"))))))
    # A function's defaults come before its nodes
    objects[-2:] = objects[:-3:-1]
    props = fields(14, [pair("a", "1"), pair("b", "2"), pair("a", "3"), pair("c", b"\xff"), field(1, "d"), field(2, "e")])
    data = model(graph(initializers, nodes), more=field(8, field(1, "") + field(2, 22)) + field(8, field(1, "x.y") + field(2, 2**40)) + training + function + props)
    attributes = {"ir_version": 10, "opset_import": {"": 22, "x.y": 2**40},
                  "metadata_props": {"a": "3", "b": "2", "c": {"$bytes": "ff"}, "d": "", "": "e"}, "nodes": 8, "graph": "g"}
    # Objects are listed in their order in the graph: initializers, then nodes; a sparse one in a node when its node comes
    return data, attributes, objects, "names of nodes, lists, functions, training_info; names that come again", "10"


def hand_fields():
    """Data in every kind of field, in pieces, merged, amid fields that are unknown."""
    objects, initializers = [], []

    def add(name, dims, type, dtype, field_name, data, stored, dense=None, encoding="raw", logical=None, scattered=False, shape=None):
        initializers.append(tensor(name, dims, type, data))
        objects.append(described(name, dtype, shape or list(dims), initializer(type, field_name), stored, dense, encoding, logical,
                                 "scattered" if scattered else None))

    unpacked, of_varints = "protobuf.unpacked", "protobuf.varint"
    add("f32.unpacked", [3], FLOAT, "f32", "float_data", fields(4, [1.5, -2.0, 3.0]), b"", struct.pack("<3f", 1.5, -2, 3), unpacked, scattered=True)
    add("f32.one", [1], FLOAT, "f32", "float_data", field(4, 7.5), b"", struct.pack("<f", 7.5), unpacked, scattered=True)
    add("f32.pieces", [4], FLOAT, "f32", "float_data", field(4, floats(1)) + field(4, floats(2, 2)) + field(4, 9.0), b"", struct.pack("<4f", 1, 2, 3, 9),
        unpacked, scattered=True)
    add("f64.unpacked", [2], DOUBLE, "f64", "double_data", double(10, 0.1) + double(10, -1e300), b"", struct.pack("<2d", 0.1, -1e300), unpacked, scattered=True)
    add("i64.unpacked", [3], INT64, "i64", "int64_data", field(7, -1) + packed(7, [2**62]) + field(7, 5), b"", struct.pack("<3q", -1, 2**62, 5), unpacked,
        scattered=True)
    add("u64.unpacked", [2], UINT64, "u64", "uint64_data", field(11, 2**64 - 1) + field(11, 0), b"", struct.pack("<2Q", 2**64 - 1, 0), unpacked, scattered=True)
    add("i8.unpacked", [2], INT8, "i8", "int32_data", field(5, -128) + field(5, 127), b"", struct.pack("<2b", -128, 127), unpacked, scattered=True)
    five = varint(2**32 - 3) + varint(-4) + varint(2**31 - 1)
    add("i32.of-32-bits", [3], INT32, "i32", "int32_data", field(5, five), five, struct.pack("<3i", -3, -4, 2**31 - 1), of_varints)
    long = b"\x81\x80\x80\x80\x80\x80\x80\x80\x80\x00" + b"\x02"
    add("u8.long-varints", [2], UINT8, "u8", "int32_data", field(5, long), long, b"\x01\x02", of_varints)
    add("u4.typed", [3], UINT4, "u8", "int32_data", packed(5, [0xA5, 0x0C]), varint(0xA5) + varint(0x0C), b"\xa5\x0c", of_varints, "u4")
    add("i4.typed", [4], INT4, "u8", "int32_data", packed(5, [0x8F, 0x71]), varint(0x8F) + varint(0x71), b"\x8f\x71", of_varints, "i4")
    add("u2.typed", [5], UINT2, "u8", "int32_data", packed(5, [0xE4, 0x03]), varint(0xE4) + varint(0x03), b"\xe4\x03", of_varints, "u2")
    add("i2.typed", [8], INT2, "u8", "int32_data", packed(5, [0x1B, 0xB1]), varint(0x1B) + varint(0xB1), b"\x1b\xb1", of_varints, "i2")
    add("c64.unpacked", [1], COMPLEX64, "f32", "float_data", fields(4, [0.5, -0.25]), b"", struct.pack("<2f", 0.5, -0.25), unpacked, "complex64", True)
    add("raw.twice", [2], FLOAT, "f32", "raw_data", raw(b"forgotten") + raw(floats(10, 2)), floats(10, 2))
    add("raw.and-typed", [2], FLOAT, "f32", "raw_data", field(4, floats(66, 2)) + raw(floats(20, 2)), floats(20, 2))
    add("typed.of-another-type", [0], FLOAT, "f32", None, packed(5, [1, 2]), b"")
    objects[-1]["parts"][0]["offset"] = "begin"
    group = tag(99, 3) + field(1, 5) + tag(98, 3) + tag(98, 4) + field(2, b"in a group") + tag(99, 4)
    add("amid-unknown", [2], FLOAT, "f32", "raw_data", group + field(77, 5) + field(12, "doc") + fields(78, [1.0]) + double(79, 1.0) + raw(floats(30, 2)) + field(2, "?") + field(9, 5) + group,
        floats(30, 2))
    initializers.append(fields(1, [2]) + packed(1, [1, 3]) + field(2, UINT8) + field(8, "before") + field(2, FLOAT) + field(8, "dims.mixed") + raw(floats(40, 6)))
    objects.append(described("dims.mixed", "f32", [2, 1, 3], initializer(), floats(40, 6)))
    merged = attribute("value", field(5, fields(1, [2]) + field(2, FLOAT) + raw(b"lost")), field(5, fields(1, [3]) + raw(floats(50, 6))))
    objects.append(described("m.value", "f32", [2, 3], inside("m.value"), floats(50, 6)))
    again = described("second", "f32", [1], initializer(), floats(70))
    objects.insert(len(objects) - 1, again)
    data = model(graph(initializers, [node("M", "m", attributes=[merged])], name="first"), graph([tensor("second", [1], FLOAT, raw(floats(70)))], name="last"),
                 more=field(3, "") + field(5, -1) + field(100, "?"))
    place = data.index(b"typed.of-another-type")
    for o in objects:
        if o["name"] == "typed.of-another-type":
            o["parts"][0]["offset"] = place - 6
    attributes = {"ir_version": 10, "producer_version": "", "model_version": -1, "opset_import": {"": 21}, "nodes": 1, "graph": "last"}
    return data, attributes, objects, "typed fields of every width, packed, unpacked and in pieces; merged messages; unknown fields", "10"


def hand_no_version():
    data = model(graph([tensor("w", [2], FLOAT, raw(floats(1, 2)))], name=""), ir=None)
    return data, {"opset_import": {"": 21}}, [described("w", "f32", [2], initializer(), floats(1, 2))], "neither ir_version nor a name", None


SHARD = bytes(range(64, 64 + 40))
INDICES = struct.pack("<4q", 9, 5, 1, 9)


def hand_external():
    """Beside it is sub/w.bin, of 40 bytes."""
    def beside(name, attributes, start, end, location, length=0):
        o = described(name, "u8", [end - start], {"role": "initializer", "data_type": UINT8, "external_data": attributes, "field": "external"},
                      SHARD[start:end], offset=start, shard=location, length=length)
        return o

    rest = {"location": "sub/w.bin", "offset": "32", "checksum": "abc"}
    ranges = {"location": "./sub//w.bin", "offset": "8", "length": "8"}
    whole = {"location": "sub/w.bin"}
    objects = [beside("rest", rest, 32, 40, "sub/w.bin", None), beside("range", ranges, 8, 16, "./sub//w.bin"), beside("all", whole, 0, 40, "sub/w.bin", None)]
    data = model(graph([tensor(o["name"], o["shape"], UINT8, external(**o["attributes"]["external_data"])) for o in objects]))
    return data, {"ir_version": 10, "opset_import": {"": 21}, "graph": "g"}, objects, "external data in a directory, without length", "10"


def hand_no_length():
    """External data without a length, and other bytes behind them in the file."""
    def beside(name, dtype, number, dims, offset, size, type=None):
        place = {"location": "sub/w.bin", "offset": str(offset)}
        o = described(name, dtype, dims, {"role": "initializer", "data_type": number, "external_data": place, "field": "external"},
                      SHARD[offset:offset + size], offset=offset, shard="sub/w.bin", length=None, type=type)
        return o, tensor(name, dims, number, external(**place))

    made = [beside("f32", "f32", FLOAT, [2], 4, 8), beside("u8", "u8", UINT8, [3], 4, 3), beside("scalar", "f32", FLOAT, [], 36, 4),
            beside("none", "u8", UINT8, [0], 40, 0), beside("empty", "f32", FLOAT, [3, 0], 0, 0)]
    o = {"name": "sparse", "shape": [2, 3], "dtype": "u8", "type": None, "format": "sparse_coo", "dense": bytes([0, SHARD[1], 0, 0, 0, SHARD[0]]),
         "attributes": {**initializer(UINT8, "external", external_data={"location": "sub/w.bin"}), "role": "sparse_initializer", "indices_shape": [2]},
         "parts": [{"name": name, "dtype": dtype, "type": None, "stored": stored, "encoding": "raw", "offset": start, "shard": location, "decoded": stored,
                    "length": None} for name, dtype, stored, start, location in (("values", "u8", SHARD[:2], 0, "sub/w.bin"),
                                                                               ("indices", "i64", INDICES[8:24], 8, "sub/i.bin"))]}
    sparses = [sparse(tensor("sparse", [2], UINT8, external(location="sub/w.bin")), tensor("", [2], INT64, external(location="sub/i.bin", offset="8")), [2, 3])]
    data = model(graph([part for _, part in made], sparses=sparses))
    attributes = {"ir_version": 10, "opset_import": {"": 21}, "graph": "g"}
    return data, attributes, [of for of, _ in made] + [o], "external data without length, and other bytes behind them", "10"


def hand_external_sparse():
    """Sparse tensors whose indices are in a file of their own, with values beside the model, and within it."""
    def part(name, dtype, stored, start, location):
        return {"name": name, "dtype": dtype, "type": None, "stored": stored, "encoding": "raw", "offset": start, "shard": location, "decoded": stored, "length": 0}

    indices = external(location="sub/i.bin", offset="8", length="16")
    place = {"location": "sub/w.bin", "offset": "6", "length": "2"}
    objects, sparses = [], []
    for name, values, more, field, part_of in (("beside", external(**place), {"external_data": place}, "external", part("values", "u8", SHARD[6:8], 6, "sub/w.bin")),
                                               ("within", raw(b"\xf7\xf8"), {}, "raw_data", part("values", "u8", b"\xf7\xf8", None, None))):
        first, second = part_of["stored"]
        objects.append({"name": name, "shape": [2, 3], "dtype": "u8", "type": None, "format": "sparse_coo",
                        "attributes": {**initializer(UINT8, field, **more), "role": "sparse_initializer", "indices_shape": [2]},
                        "dense": bytes([0, second, 0, 0, 0, first]), "parts": [part_of, part("indices", "i64", INDICES[8:24], 8, "sub/i.bin")]})
        sparses.append(sparse(tensor(name, [2], UINT8, values), tensor("", [2], INT64, indices), [2, 3]))
    return model(graph(sparses=sparses)), {"ir_version": 10, "opset_import": {"": 21}, "graph": "g"}, objects, "sparse tensors whose indices are external data", "10"


# ------------------------------------------------------------------------------------------------- hostile files

FINE = tensor("fine", [2], FLOAT, raw(floats(1, 2)))


def two(*parts, name="w", dims=(4,), type=FLOAT):
    """A model of the tensor, and one that is fine."""
    return model(graph([tensor(name, dims, type, *parts), FINE]))


def with_sparse(values, indices, dims):
    return model(graph([FINE], sparses=[sparse(values, indices, dims)]))


def nested(depth):
    inner = graph([FINE])
    for _ in range(depth - 1):
        inner = graph(nodes=[node("If", "n", attributes=[attribute("b", field(6, inner))])], name="")
    return model(inner)


def groups(depth):
    return tag(50, 3) * depth + tag(50, 4) * depth


VALUES = tensor("w", [2], FLOAT, raw(floats(5, 2)))


def positions(*values, dims=None, type=INT64):
    return tensor("i", dims or [len(values)], type, raw(struct.pack(f"<{len(values)}q", *values)))


def cases():
    """(file's name, contents, what must come of it, number of the rule that it breaks, object, the message, what is odd)"""
    refused, no_bytes, no_dense, ok = "open_error", "lists_but_no_bytes", "lists_but_no_dense", "ok"
    yield "varint-11", model(graph([tensor("w", [1], FLOAT), field(2, b""), b"\x10" + b"\x80" * 10 + b"\x01"])), refused, "PB1", None, "byte 23: a varint of more than 64 bits", "a varint of 11 bytes"
    yield "varint-65-bits", model(graph([b"\x10" + b"\xff" * 9 + b"\x02"])), refused, "PB1", None, "byte 10: a varint of more than 64 bits", "a varint of 65 bits"
    yield "field-0", model(graph([b"\x02\x00"])), refused, "PB2", None, "byte 9: no field has the number 0 and the type 2", "field number 0"
    yield "field-number-max", model(graph([tag(2**29, 0) + b"\x00"])), refused, "PB2", None, "byte 9: no field has the number 536870912 and the type 0", "field number 2^29"
    yield "wire-type-6", model(graph([b"\x0e\x00"])), refused, "PB2", None, "byte 9: no field has the number 1 and the type 6", "wire type 6"
    yield "group-end", model(graph([b"\x0c"])), refused, "PB2", None, "byte 9: a group ends that did not begin", "the end of a group that did not begin"
    yield "group-of-another", model(graph([tag(50, 3) + tag(51, 4)])), refused, "PB2", None, "byte 11: groups do not end as they begin", "a group that ends as another"
    yield "group-depth-65", model(graph([groups(65)])), refused, "PB2", None, "byte 139: groups are nested more than 64 deep", "groups nested 65 deep"
    yield "group-open", model(graph([tag(50, 3) + field(1, 1)])), refused, "PB3", None, "byte 9: a group goes beyond the message that it is in", "a group that does not end"
    yield "length-past-parent", model(graph([b"\x4a\x7f"]), more=field(6, "x" * 200)), refused, "PB3", None, "byte 10: a field goes beyond the message that it is in", "raw_data whose length goes beyond its tensor"
    yield "length-max", model(graph([b"\x4a" + varint(2**64 - 1)])), refused, "PB3", None, "byte 10: a field goes beyond the message that it is in", "raw_data of 2^64 - 1 bytes"
    yield "number-cut", model(graph([b"\x65\x00\x00"])), refused, "PB3", None, "byte 10: a number goes beyond the message that it is in", "a fixed number cut short"
    yield "varint-cut", model(graph([b"\x10\x80"])), refused, "PB3", None, "byte 10: a varint goes beyond the message that it is in", "a varint cut short"
    yield "tag-cut", model(graph([b"\x80"])), refused, "PB3", None, "byte 9: a varint goes beyond the message that it is in", "a tag cut short"
    yield "dims-cut", model(graph([field(1, b"\x80")])), refused, "PB3", None, "byte 11: a varint goes beyond the message that it is in", "packed dimensions cut short"
    yield "file-cut", two(raw(floats(3, 4)))[:40], refused, "PB3", None, "byte 3: a field goes beyond the message that it is in", "a file cut in a tensor"
    yield "text", b"# not a model\r\n" * 9, refused, "T1", None, "not a tensor file of a known format", "text"
    yield "text-that-parses", b":\n0123456789", refused, "T1", None, "not a tensor file of a known format", "text that may be a field like graph"
    yield "field-of-no-model", field(1, 10) + tag(7, 0) + b"\x01", refused, "T1", None, "not a tensor file of a known format", "a graph that is a number"
    yield "no-graph", field(1, 10) + field(2, "x") + field(8, field(2, 21)), refused, "OX1", None, "the model has no graph", "a model without a graph"
    yield "depth-65", nested(65), refused, "OX2", None, "graphs are nested more than 64 deep", "graphs nested 65 deep"
    yield "depth-2000", nested(2000), refused, "OX2", None, "graphs are nested more than 64 deep", "graphs nested 2,000 deep"
    yield "utf8-name", two(raw(floats(3, 4)), name=b"w\xff"), refused, "OX4", None, "byte 9: the name of this tensor, or of its node, is not UTF-8, or has U+0000 in it", "a name that is not UTF-8"
    yield "nul-in-a-name", two(raw(floats(3, 4)), name="w\0"), refused, "OX4", None, "byte 9: the name of this tensor, or of its node, is not UTF-8, or has U+0000 in it", "a name with U+0000"
    yield "rank-65", two(raw(floats(3, 1)), dims=[1] * 65), refused, "OX5", None, "byte 140: a tensor of more than 64 dimensions", "65 dimensions"
    yield "shape-overflow", two(raw(floats(3, 1)), dims=[2**32, 2**32]), refused, "OX5", None, "byte 9: the product of a tensor's dimensions does not fit 64 bits", "2^64 elements"
    yield "value-of-u8", two(packed(5, [1, 256]), dims=[2], type=UINT8), no_bytes, "PB4", "w", "protobuf.varint: number 1 is 256, which does not fit u8", "256 as uint8"
    yield "value-of-i16", two(field(5, 5) + field(5, -32769), dims=[2], type=INT16), no_bytes, "PB4", "w", "protobuf.unpacked: number 1 is -32769, which does not fit i16", "-32769 as int16"
    yield "value-of-i32", two(packed(5, [2**32]), dims=[1], type=INT32), no_bytes, "PB4", "w", "protobuf.varint: number 0 is 4294967296, which does not fit i32", "2^32 as int32"
    yield "value-of-u32", two(packed(11, [2**32]), dims=[1], type=UINT32), no_bytes, "PB4", "w", "protobuf.varint: number 0 is 4294967296, which does not fit u32", "2^32 as uint32"
    yield "value-of-f16", two(packed(5, [65536]), dims=[1], type=FLOAT16), no_bytes, "PB4", "w", "protobuf.varint: number 0 is 65536, which does not fit f16", "17 bits as float16"
    yield "values-cut", two(field(7, b"\x01\x80"), dims=[2], type=INT64), no_bytes, "PB3", "w", "byte 19: a varint goes beyond the message that it is in", "packed values cut short"
    yield "values-more", two(packed(7, [1, 2, 3]), dims=[2], type=INT64), no_bytes, "E4", "w", "protobuf.varint: decodes to more than the 16 bytes that the manifest states", "three values for a shape of two"
    yield "values-fewer", two(packed(7, [1]), dims=[2], type=INT64), no_bytes, "E3", "w", "protobuf.varint: decodes to 8 bytes, the manifest states 16", "one value for a shape of two"
    yield "floats-cut", two(field(4, bytes(6)) + field(4, bytes(2)), dims=[2]), no_bytes, "PB5", "w", "protobuf.unpacked: 6 bytes are no whole number of f32 elements", "packed floats of 6 bytes"
    yield "indices-of-rank-3", with_sparse(VALUES, positions(1, 2, dims=[2, 1, 1]), [6]), no_bytes, "OX3", "w", "it has neither one dimension, nor two of which the second is the tensor's rank", "indices of three dimensions"
    yield "indices-of-another-rank", with_sparse(VALUES, positions(0, 1, 1, 1, 0, 0, dims=[2, 3]), [2, 3]), no_bytes, "OX3", "w", "it has neither one dimension, nor two of which the second is the tensor's rank", "rows of three indices in two dimensions"
    yield "index-out", with_sparse(VALUES, positions(1, 6), [2, 3]), no_dense, "K2", "w", "index 6 of value 1, and there are 6 elements", "an index equal to the number of elements"
    yield "index-negative", with_sparse(VALUES, positions(-1, 2), [2, 3]), no_dense, "L7", "w", "component 'indices': entry 0 is negative", "a negative index"
    yield "coordinate-out", with_sparse(VALUES, positions(0, 1, 1, 3, dims=[2, 2]), [2, 3]), no_dense, "K2", "w", "coordinate 3 of value 1 in dimension 1, which has 3", "a coordinate beyond its dimension"
    yield "indices-fewer", with_sparse(VALUES, positions(1), [6]), no_dense, "K1", "w", "indices has 1 entries for 2 values with 1 each", "one index for two values"
    yield "indices-of-other-dimensions", with_sparse(VALUES, positions(1, 2, dims=[110]), [6]), no_bytes, "D1", "w", "it has not the bytes that its dimensions demand", "110 indices of two"
    yield "values-of-other-dimensions", with_sparse(tensor("w", [3], FLOAT, raw(floats(5, 2))), positions(1, 2), [6]), no_bytes, "D1", "w", "it has not the bytes that its dimensions demand", "three values of two"
    yield "indices-of-floats", with_sparse(VALUES, tensor("i", [2], FLOAT, raw(floats(1, 2))), [6]), no_dense, "K3", "w", "indices are integers, not f32", "indices that are floats"
    yield "indices-missing", with_sparse(VALUES, None, [6]), no_bytes, "OX3", "w", "it has no dtype that is known", "no indices"
    yield "dims-negative", two(raw(floats(3, 4)), dims=[-2, -2]), no_bytes, "OX6", "w", "a dimension is negative", "negative dimensions whose product fits"
    yield "segment", two(raw(floats(3, 4)), field(3, field(1, 0) + field(2, 4))), no_bytes, "OX7", "w", "it is a segment of a tensor", "a segment of a tensor"
    yield "external-absolute", two(external(location="/etc/hostname", length="4")), no_bytes, "OX8", "w", "the location of its external data is not relative", "an absolute path"
    yield "external-dotdot", two(external(location="../golden/raw.onnx")), no_bytes, "OX8", "w", "the location of its external data has a part that is '..'", "a file above the model's directory, which is there"
    yield "external-dotdot-within", two(external(location="a/../ok-rank-0.onnx")), no_bytes, "OX8", "w", "the location of its external data has a part that is '..'", "a path with .. that comes back"
    yield "external-no-location", two(external(offset="0")), no_bytes, "OX8", "w", "its external data have no location", "no location"
    yield "external-utf8", two(external(location=b"\xff")), no_bytes, "OX8", "w", "the location of its external data is not UTF-8, or has U+0000 in it", "a location that is not UTF-8"
    yield "external-offset-text", two(external(location="x.bin", offset="0x10")), no_bytes, "OX8", "w", "offset and length of its external data are no decimal numbers of 64 bits", "an offset that is no decimal number"
    yield "external-length-negative", two(external(location="x.bin", length="-1")), no_bytes, "OX8", "w", "offset and length of its external data are no decimal numbers of 64 bits", "a negative length"
    yield "external-end-overflow", two(external(location="x.bin", offset=str(2**64 - 1), length="2")), no_bytes, "OX8", "w", "offset and length of its external data are no decimal numbers of 64 bits", "offset and length of more than 64 bits together"
    yield "external-missing", two(external(location="not-there.bin", length="16")), no_bytes, "X5", "w", None, "a file that is not there"
    yield "external-directory", two(external(location=".", length="16")), no_bytes, "X5", "w", None, "a directory"
    yield "external-past-end", two(external(location="external-past-end.onnx", offset="4096", length="16")), no_bytes, "X6", "w", None, "a range beyond the file"
    yield "external-offset-past-end", two(external(location="external-past-end.onnx", offset="4096")), no_bytes, "X6", "w", None, "an offset beyond the file"
    yield "names-large", model(graph(nodes=[node("N", "n" * 30000, attributes=[attribute("a", fields(10, [b"\x08\x00"] * 400))])])), refused, "OX9", None, "names and what is shown as text take more than 2060736 bytes", "a long name of a node with many tensors"
    yield "values-in-two-messages", model(graph([FINE], [node("N", "n", attributes=[attribute("w", field(5, tensor("", [2], FLOAT, field(4, 1.0))), field(5, field(4, 2.0)))])])), no_bytes, "OX10", "n.w", "its values are in several messages", "values of a merged tensor in two messages"
    yield "no-data", two(), no_dense, "D1", "w", "4 elements of f32 are 16 bytes, and it has 0", "a shape of four and no data"
    yield "raw-short", two(raw(floats(3, 3))), no_dense, "D1", "w", "4 elements of f32 are 16 bytes, and it has 12", "12 bytes for a shape of 16"
    yield "data-type-99", two(raw(floats(3, 4)), type=99), no_dense, "L1", "w", "no meaning of format 'onnx.unknown' is known", "a type of the future"
    yield "data-type-max", two(raw(floats(3, 4)), type=2**64 - 1), no_dense, "L1", "w", "no meaning of format 'onnx.unknown' is known", "a type of 64 bits"
    yield "data-type-none", two(raw(floats(3, 4)), type=None), no_dense, "L1", "w", "no meaning of format 'onnx.unknown' is known", "no type"
    yield "six-bits", two(raw(bytes(3)), type=FLOAT6), no_dense, "L5", "w", "type 'f6_e2m3' is not known", "elements of six bits"
    yield "ok-depth-64", nested(64), ok, None, None, None, "graphs nested 64 deep"
    yield "ok-group-depth-64", model(graph([tensor("w", [2], FLOAT, raw(floats(1, 2)), groups(64))])), ok, None, None, None, "groups nested 64 deep"
    yield "ok-rank-64", two(raw(floats(3, 1)), dims=[1] * 64), ok, None, None, None, "64 dimensions"
    yield "ok-rank-0", two(raw(floats(3, 1)), dims=[]), ok, None, None, None, "a scalar"
    yield "ok-nothing", model(graph(name="")), ok, None, None, None, "an empty graph"
    yield "ok-empty-of-many", two(raw(b""), dims=[2**62, 2**62, 0]), ok, None, None, None, "no elements, whatever the other dimensions are"
    yield "ok-constants", model(graph([tensor("w", [1], FLOAT, raw(floats(1)))], nodes=[
        node("Constant", name, [], [attribute(name, values)]) for name, values in (
            ("value_float", field(2, 1.5)), ("value_int", field(3, -7)), ("value_floats", fields(7, [1.5, 2.5])), ("value_ints", packed(8, [1, -2])))],
        )), ok, None, None, None, "constants that are numbers and no TensorProto"


FINDINGS = {
    "T1": "magic", "PB1": "protobuf-varint", "PB2": "protobuf-field", "PB3": "protobuf-length", "PB4": "protobuf-value", "PB5": "protobuf-packed",
    "OX1": "onnx-graph", "OX2": "onnx-depth", "OX3": "onnx-indices", "OX4": "onnx-name", "OX5": "onnx-dimensions", "OX6": "onnx-negative-dimension",
    "OX7": "onnx-segment", "OX8": "onnx-external", "OX9": "onnx-size", "OX10": "onnx-split-values", "X5": "external-file", "X6": "external-range",
    "E3": "decoded-length", "E4": "decoded-length", "K1": "sparse-length", "K2": "index-range", "K3": "index-type", "L7": "index-range",
    "L1": "unknown-format", "L5": "unknown-type", "D1": "length",
}


def write_golden():
    golden = HERE / "golden"
    (golden / "external" / "sub").mkdir(parents=True, exist_ok=True)
    (golden / "external" / "sub" / "w.bin").write_bytes(SHARD)
    (golden / "external" / "sub" / "i.bin").write_bytes(INDICES)
    for path, made in (("hand_nodes", hand_nodes()), ("hand_fields", hand_fields()), ("hand_no_version", hand_no_version()), ("external/hand", hand_external()),
                       ("external/hand_sparse", hand_external_sparse()), ("external/hand_no_length", hand_no_length())):
        data, attributes, objects, exercises, version = made
        (golden / f"{path}.onnx").write_bytes(data)
        expected = expectation(f"onnx/{path}.onnx", data, attributes, objects, exercises, version)
        (golden / f"{path}.expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


def write_hostile():
    rows = []
    (HERE / "hostile").mkdir(exist_ok=True)
    for name, data, expect, number, object, message, what in cases():
        (HERE / "hostile" / f"{name}.onnx").write_bytes(data)
        row = {"file": f"{name}.onnx", "expect": expect, "number": number, "finding": FINDINGS.get(number), "message": message, "object": object,
               "rule": what, "size": len(data), "sha256": sha256(data)}
        if expect == "lists_but_no_bytes":
            row["sized"] = True
        if name.startswith(("indices-of-other-", "values-of-other-")):
            row["component"] = name.partition("-")[0]
        if number in ("X5", "X6"):
            row["external"] = True
        rows.append(row)
    (HERE / "hostile" / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


if __name__ == "__main__":
    write_golden()
    write_hostile()
