"""Writes models with the schema's code in the PyPI package ai-edge-litert, and beside each what that code, and the package's
interpreter, read in it: write_tflite.py FOLDER"""
import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from foreign import Record

TYPES = {"FLOAT32": "f32", "FLOAT16": "f16", "INT32": "i32", "UINT8": "u8", "INT64": "i64", "BOOL": "bool", "INT16": "i16",
         "COMPLEX64": "complex64", "INT8": "i8", "FLOAT64": "f64", "COMPLEX128": "complex128", "UINT64": "u64", "UINT32": "u32",
         "UINT16": "u16", "INT4": "i4", "BFLOAT16": "bf16", "INT2": "i2", "UINT4": "u4", "FLOAT8_E4M3FN": "f8_e4m3fn",
         "FLOAT8_E5M2": "f8_e5m2"}
NUMBERS = {name: getattr(schema.TensorType, name) for name in [*TYPES, "STRING"]}
NAMES = {number: name for name, number in NUMBERS.items()}
BITS = {"f32": 32, "f16": 16, "i32": 32, "u8": 8, "i64": 64, "bool": 8, "i16": 16, "complex64": 64, "i8": 8, "f64": 64, "complex128": 128,
        "u64": 64, "u32": 32, "u16": 16, "i4": 4, "bf16": 16, "i2": 2, "u4": 4, "f8_e4m3fn": 8, "f8_e5m2": 8}
# What the interpreter gives as arrays of the same bytes
PLAIN = {"FLOAT32", "FLOAT16", "INT32", "UINT8", "INT64", "BOOL", "INT16", "COMPLEX64", "INT8", "FLOAT64", "UINT64", "UINT32", "UINT16"}


class Model:
    def __init__(self):
        self.model = schema.ModelT()
        self.model.version, self.model.description = 3, "interop"
        self.model.buffers, self.model.subgraphs = [schema.BufferT()], []

    def subgraph(self, name):
        graph = schema.SubGraphT()
        graph.name, graph.tensors, graph.inputs, graph.outputs, graph.operators = name, [], [], [], []
        self.model.subgraphs.append(graph)

    def tensor(self, name, type, shape, data, **more):
        """data: bytes, the index of a buffer, or None."""
        tensor = schema.TensorT()
        tensor.name, tensor.type, tensor.shape = name, NUMBERS[type], list(shape)
        if isinstance(data, bytes):
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data, np.uint8)
            self.model.buffers.append(buffer)
        tensor.buffer = data if isinstance(data, int) else 0 if data is None else len(self.model.buffers) - 1
        for field, value in more.items():
            setattr(tensor, field, value)
        self.model.subgraphs[-1].tensors.append(tensor)
        return tensor.buffer

    def packed(self):
        builder = flatbuffers.Builder(1 << 20)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())

    def save(self, path, interpreted=True):
        path.write_bytes(self.packed())
        note(path, interpreted)

    def save_behind(self, path):
        """The bytes of all buffers lie behind the flatbuffer, whose length does not depend on where."""
        given = [None if buffer.data is None else bytes(buffer.data) for buffer in self.model.buffers]
        for buffer, data in zip(self.model.buffers, given):
            if data is not None:
                buffer.data, buffer.offset, buffer.size = None, 2, len(data)
        end, tail = len(self.packed()), b""
        for buffer, data in zip(self.model.buffers, given):
            if data is not None:
                tail += bytes(-(end + len(tail)) % 16)
                buffer.offset = end + len(tail)
                tail += data
        assert len(self.packed()) == end
        path.write_bytes(self.packed() + tail)
        note(path)


def quantized(**fields):
    """min, max, scale, zeroPoint, quantizedDimension"""
    q = schema.QuantizationParametersT()
    for field, value in fields.items():
        setattr(q, field, value)
    return q


def text(of):
    return of.decode() if of is not None else ""


def bytes_of(path, whole, model, tensor):
    """(bytes, the other file) of a tensor; None: it has none."""
    if tensor.externalBuffer:
        external, = (e for e in model.externalBuffers if e.id == tensor.externalBuffer)
        name = text(model.externalBufferGroups[external.group].name)
        return (path.parent / name).read_bytes()[external.offset:external.offset + external.length], name
    buffer = model.buffers[tensor.buffer]
    if buffer.data is not None and len(buffer.data):
        return bytes(buffer.data), None
    return (whole[buffer.offset:buffer.offset + buffer.size], None) if buffer.offset > 1 and buffer.size else (None, None)


def listed(values):
    return None if values is None or not len(values) else [v.item() for v in np.asarray(values)]


def attributes_of(tensor):
    q = tensor.quantization
    found = {"tensor_type": NAMES[tensor.type], "buffer": tensor.buffer}
    for key, values in (("min", q and q.min), ("max", q and q.max), ("scale", q and q.scale), ("zero_point", q and q.zeroPoint),
                        ("shape_signature", tensor.shapeSignature)):
        if listed(values):
            found[key] = listed(values)
    return found


def read(path, interpreted=True):
    whole = path.read_bytes()
    model = schema.ModelT.InitFromPackedBuf(whole)
    record, taken = Record(path, "tflite", str(model.version)), set()
    record.attribute("subgraphs", len(model.subgraphs))
    record.attribute("operators", sum(len(graph.operators) for graph in model.subgraphs if graph.operators is not None))
    record.attribute("description", text(model.description))
    for key, values in (("metadata", [text(m.name) for m in model.metadata or []]), ("signatures", [text(s.signatureKey) for s in model.signatureDefs or []])):
        if values:
            record.attribute(key, values)
    for i, graph in enumerate(model.subgraphs):
        interpreter = Interpreter(model_path=str(path)) if interpreted and i == 0 else None
        for k, tensor in enumerate(graph.tensors):
            data, shard = bytes_of(path, whole, model, tensor)
            if data is None:
                continue
            type = NAMES[tensor.type]
            if interpreter and type in PLAIN and not shard:
                assert interpreter.get_tensor(k).tobytes() == data, tensor.name
            name = (f"{text(graph.name) or f'subgraph_{i}'}/" if i else "") + text(tensor.name)
            number = next(n for n in range(1, 1 << 20) if (name, n) not in taken)
            taken.add((name, number))
            format = "tflite.string" if type == "STRING" else "dense"
            record.tensor(name if number == 1 else f"{name}#{number}", format, TYPES.get(type), listed(tensor.shape) or [],
                          data, attributes=attributes_of(tensor), shard=shard)
    return record


def note(path, interpreted=True):
    read(path, interpreted).save()


def data_of(rng, type, shape):
    elements, dtype = int(np.prod(shape)), TYPES[type]
    if dtype == "bool":
        return rng.integers(0, 2, elements).astype(np.uint8).tobytes()
    bits = elements * BITS[dtype]
    data = bytearray(rng.bytes((bits + 7) // 8))
    if bits % 8:
        data[-1] &= (1 << bits % 8) - 1
    return bytes(data)


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(31)
    model = Model()
    model.subgraph("main")
    for type in TYPES:
        for shape in ((3, 5), (), (1, 2, 3, 4)):
            model.tensor(f"{type}.{len(shape)}", type, shape, data_of(rng, type, shape))
    model.tensor("STRING", "STRING", [2], np.array([2, 16, 17, 20], "<i4").tobytes() + "a水".encode())
    model.tensor("activation", "FLOAT32", [1, 7], None, shapeSignature=[-1, 7])
    model.save(folder / "types.tflite", interpreted=False)

    model = Model()
    model.subgraph("main")
    for type in sorted(PLAIN):
        model.tensor(type, type, [4, 3], data_of(rng, type, (4, 3)))
    model.save(folder / "interpreted.tflite")
    model.save_behind(folder / "behind.tflite")

    model = Model()
    model.subgraph("main")
    model.tensor("per.tensor", "UINT8", [6], data_of(rng, "UINT8", (6,)), quantization=quantized(scale=[0.1], zeroPoint=[128], min=[-1.5], max=[2.5]))
    for axis, n in enumerate((4, 5)):
        scale = rng.random(n).astype("f4").tolist()
        model.tensor(f"per.axis.{axis}", "INT8", [4, 5], data_of(rng, "INT8", (4, 5)), shapeSignature=[-1, 5],
                     quantization=quantized(scale=scale, zeroPoint=[0] * n, quantizedDimension=axis))
    model.tensor("bias", "INT32", [5], data_of(rng, "INT32", (5,)), quantization=quantized(scale=[1e-5] * 5, zeroPoint=[2**40, -2**40, 0, 1, -1]))
    model.save(folder / "quantized.tflite")

    model = Model()
    for name in ("main", "body", None):
        model.subgraph(name)
        shared = model.tensor("w", "FLOAT32", [2, 3], data_of(rng, "FLOAT32", (2, 3)))
        model.tensor("tied", "INT32", [3, 2], shared)
        for again in ("w", "", "Ünïcode/水", "", "quote \" and \\"):
            model.tensor(again, "INT16", [4], data_of(rng, "INT16", (4,)))
        operator = schema.OperatorT()
        operator.inputs, operator.outputs = [0], [1]
        model.model.subgraphs[-1].operators = [operator] * 3
    metadata, signature = schema.MetadataT(), schema.SignatureDefT()
    metadata.name, metadata.buffer, signature.signatureKey = "min_runtime_version", 0, "serving_default"
    model.model.metadata, model.model.signatureDefs, model.model.operatorCodes = [metadata], [signature], [schema.OperatorCodeT()]
    model.save(folder / "subgraphs.tflite", interpreted=False)

    model = Model()
    model.subgraph("main")
    weights, externals = b"", []
    for i in range(3):
        data = data_of(rng, "FLOAT32", (i + 1, 16))
        external = schema.ExternalBufferT()
        external.id, external.group, external.offset, external.length, external.packing = 0x80000000 | i, 0, len(weights), len(data), "unpacked"
        externals.append(external)
        weights += data
        model.tensor(f"w{i}", "FLOAT32", [i + 1, 16], None, externalBuffer=external.id)
    group = schema.ExternalBufferGroupT()
    group.name = "weights.bin"
    model.model.externalBuffers, model.model.externalBufferGroups = externals, [group]
    (folder / "weights.bin").write_bytes(weights)
    model.save(folder / "external.tflite", interpreted=False)

    model = Model()
    model.subgraph("main")
    for i in range(2000):
        model.tensor(f"layers.{i}.w", "FLOAT32", [1 + i % 3, 7], data_of(rng, "FLOAT32", (1 + i % 3, 7)))
    model.save(folder / "many.tflite")
    model = Model()
    model.subgraph("main")
    model.save(folder / "empty.tflite", interpreted=False)


if __name__ == "__main__":
    main(sys.argv[1])
