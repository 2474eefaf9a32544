"""Writes models with the PyPI package onnx, and beside each what that package reads in it: write_onnx.py FOLDER"""
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from foreign import Record

DTYPES = {"FLOAT": "f32", "UINT8": "u8", "INT8": "i8", "UINT16": "u16", "INT16": "i16", "INT32": "i32", "INT64": "i64",
          "BOOL": "bool", "FLOAT16": "f16", "DOUBLE": "f64", "UINT32": "u32", "UINT64": "u64", "COMPLEX64": "complex64",
          "COMPLEX128": "complex128", "BFLOAT16": "bf16", "FLOAT8E4M3FN": "f8_e4m3fn", "FLOAT8E4M3FNUZ": "f8_e4m3fnuz",
          "FLOAT8E5M2": "f8_e5m2", "FLOAT8E5M2FNUZ": "f8_e5m2fnuz", "UINT4": "u4", "INT4": "i4", "FLOAT4E2M1": "f4_e2m1",
          "FLOAT8E8M0": "f8_e8m0", "UINT2": "u2", "INT2": "i2"}
BITS = {"u4": 4, "i4": 4, "f4_e2m1": 4, "u2": 2, "i2": 2}


def packed(dtype, array):
    """The array's bytes; elements of fewer bits one behind the other in a byte, the lowest bits first."""
    if dtype not in BITS:
        return array.astype(array.dtype.newbyteorder("<")).tobytes() if array.dtype.byteorder == ">" else array.tobytes()
    bits, each = BITS[dtype], 8 // BITS[dtype]
    codes = array.reshape(-1).view(np.uint8) & ((1 << bits) - 1)
    codes = np.concatenate([codes, np.zeros(-len(codes) % each, np.uint8)]).reshape(-1, each)
    return sum(codes[:, i].astype(int) << (i * bits) for i in range(each)).astype(np.uint8).tobytes() if len(codes) else b""


def name_of(data_type):
    return DTYPES[TensorProto.DataType.Name(data_type)]


def note_tensor(record, name, role, tensor):
    attributes = {"role": role, "data_type": tensor.data_type}
    if tensor.data_type == TensorProto.STRING:
        record.tensor(name, "onnx.string", None, tensor.dims, None, attributes=attributes)
        return
    places = {entry.key: entry.value for entry in tensor.external_data}
    dtype = name_of(tensor.data_type)
    record.tensor(name, "dense", dtype, tensor.dims, packed(dtype, numpy_helper.to_array(tensor, str(record.path.parent))),
                  attributes=attributes, shard=places.get("location"))


def note_sparse(record, sparse):
    values, indices = numpy_helper.to_array(sparse.values), numpy_helper.to_array(sparse.indices)
    dense = np.zeros(list(sparse.dims), values.dtype)
    if indices.ndim == 1:
        np.add.at(dense.reshape(-1), indices, values)
    else:
        np.add.at(dense, tuple(indices.T), values)
    record.tensor(sparse.values.name, "sparse_coo", name_of(sparse.values.data_type), sparse.dims, dense.tobytes(), components=2,
                  attributes={"role": "sparse_initializer"})


def note_graph(record, graph, prefix=""):
    """The number of its nodes, those of its subgraphs included."""
    for tensor in graph.initializer:
        note_tensor(record, prefix + tensor.name, "initializer", tensor)
    for sparse in graph.sparse_initializer:
        note_sparse(record, sparse)
    count = len(graph.node)
    for node in graph.node:
        for attribute in node.attribute:    # Whatever its type is said to be
            place = f"{prefix}{next(filter(None, (node.name, *node.output, node.op_type)), '')}.{attribute.name}"
            if attribute.HasField("g"):
                count += note_graph(record, attribute.g, place + "/")
            if attribute.HasField("t") and node.op_type == "Constant":
                note_tensor(record, prefix + node.output[0], "constant", attribute.t)
            elif attribute.HasField("t"):
                note_tensor(record, place, "attribute", attribute.t)
    return count


def read(path):
    model = onnx.load(path, load_external_data=False)
    record = Record(path, "onnx", str(model.ir_version))
    for field in ("ir_version", "producer_name", "producer_version", "domain", "model_version", "doc_string"):
        if model.HasField(field):
            record.attribute(field, getattr(model, field))
    if model.opset_import:
        record.attribute("opset_import", {entry.domain: entry.version for entry in model.opset_import})
    if model.metadata_props:
        record.attribute("metadata_props", {entry.key: entry.value for entry in model.metadata_props})
    nodes = note_graph(record, model.graph)
    if nodes:
        record.attribute("nodes", nodes)
    record.attribute("graph", model.graph.name)
    return record


def note(path):
    read(path).save()


def write(path, graph, location=None, **fields):
    model = helper.make_model(graph, producer_name="interop", **fields)
    if location:
        onnx.save(model, path, save_as_external_data=True, location=location, size_threshold=16)
    else:
        onnx.save(model, path)
    note(path)


def graph(initializer=(), nodes=(), sparse=(), name="g"):
    return helper.make_graph(list(nodes), name, [], [], list(initializer), sparse_initializer=list(sparse))


def arrays(rng):
    """An array of each type that numpy and ml_dtypes have for one of onnx's, an odd number of elements."""
    for name in DTYPES:
        dtype = helper.tensor_dtype_to_np_dtype(getattr(TensorProto, name))
        if name == "BOOL":
            yield name, rng.integers(0, 2, (3, 5)).astype(bool)
        elif DTYPES[name] in BITS:
            yield name, rng.integers(0, 1 << BITS[DTYPES[name]], 15).astype(np.uint8).view(dtype).reshape(3, 5)
        else:
            yield name, np.frombuffer(rng.bytes(15 * dtype.itemsize), dtype).reshape(3, 5)


def typed(name, array):
    """As a tensor whose elements are in the field of their type."""
    values = array.reshape(-1)
    if array.dtype.kind not in "biuc" and name not in ("FLOAT", "DOUBLE"):
        values = values.astype(np.float32)
    return helper.make_tensor(f"typed.{name}", getattr(TensorProto, name), array.shape, values)


def plain(rng, name, shape):
    return numpy_helper.from_array(rng.standard_normal(shape).astype("f4"), name)


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(15)
    raw = [helper.make_tensor(f"raw.{name}", getattr(TensorProto, name), array.shape, packed(DTYPES[name], array), raw=True)
           for name, array in arrays(rng)]
    write(folder / "raw.onnx", graph(raw), doc_string="raw_data", domain="ai.example", model_version=7)
    write(folder / "typed.onnx", graph([typed(name, array) for name, array in arrays(rng)]
                                       + [helper.make_tensor("typed.STRING", TensorProto.STRING, [2], ["a", "水"])]))
    names = ["a.b.c", "Ünïcode", "水", "emoji 🎉", "quote \" and \\", "tab\t", "layer/0/w"]
    shapes = [(), (0,), (2, 0, 3), (1, 2, 3, 4, 5, 6, 7)]
    write(folder / "names.onnx", graph([plain(rng, name, (2, 3)) for name in names]
                                       + [plain(rng, f"shape.{k}", shape) for k, shape in enumerate(shapes)]))
    write(folder / "many.onnx", graph([plain(rng, f"layers.{i}.w", (1 + i % 3, 7)) for i in range(500)]))
    linear = helper.make_sparse_tensor(plain(rng, "linear", (3,)), helper.make_tensor("i", TensorProto.INT64, [3], [1, 5, 11]), [3, 4])
    coordinates = helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([1, -2], "i2"), "coordinates"),
        helper.make_tensor("i", TensorProto.INT64, [2, 2], [0, 1, 2, 0]), [3, 2])
    branch = graph([plain(rng, "w", (3,))], [helper.make_node("Constant", [], ["inner"], "k", value=plain(rng, "", (2, 2)))], name="then")
    other = graph([plain(rng, "w", (2,))], name="else")
    nodes = [helper.make_node("Constant", [], ["constant.out"], "constant", value=plain(rng, "v", (4,))),
             helper.make_node("ConstantOfShape", ["shape"], ["filled"], "fill", value=plain(rng, "v", (1,))),
             helper.make_node("If", ["condition"], ["out"], "choose", then_branch=branch, else_branch=other),
             helper.make_node("Relu", ["out"], ["end"], "relu")]
    write(folder / "nodes.onnx", graph([plain(rng, "w", (5,))], nodes, [linear, coordinates]),
          opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.example", 3)])
    write(folder / "external.onnx", graph([plain(rng, f"w{i}", (i, 3)) for i in range(1, 9)]), "external.data")
    with_properties = helper.make_model(graph([plain(rng, "w", (2,))]))
    helper.set_model_props(with_properties, {"author": "x", "日本": "値"})
    onnx.save(with_properties, folder / "properties.onnx")
    note(folder / "properties.onnx")
    onnx.save(onnx.ModelProto(ir_version=10, graph=graph()), folder / "empty.onnx")
    note(folder / "empty.onnx")


if __name__ == "__main__":
    main(sys.argv[1])
