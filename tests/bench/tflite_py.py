"""TensorFlow Lite with the format's own interpreter.

    tflite_py.py write KIND FILE  a model of 100 MB: 400 layers
    tflite_py.py list FILE        how many tensors with bytes it has, and what their names, shapes and types come to
"""

from __future__ import annotations

import math

import flatbuffers
import library
import numpy
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

LAYERS, SIZE = 400, 256


def tensor(name: str, shape: list[int], buffer: int) -> schema.TensorT:
    t = schema.TensorT()
    t.name, t.shape, t.type, t.buffer = name, shape, schema.TensorType.FLOAT32, buffer
    return t


def layer(i: int) -> schema.OperatorT:
    """Tensor 0 is the input; weights and output of each layer follow."""
    op = schema.OperatorT()
    op.inputs, op.outputs = [2 * i, 2 * i + 1, -1], [2 * i + 2]
    op.builtinOptionsType, op.builtinOptions = schema.BuiltinOptions.FullyConnectedOptions, schema.FullyConnectedOptionsT()
    return op


def write(path: str) -> None:
    values = numpy.random.default_rng(1)
    model, graph, code = schema.ModelT(), schema.SubGraphT(), schema.OperatorCodeT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
    model.version, model.buffers, graph.tensors = 3, [schema.BufferT()], [tensor("input", [1, SIZE], 0)]
    for i in range(LAYERS):
        buffer = schema.BufferT()
        buffer.data = values.standard_normal((SIZE, SIZE), numpy.float32).view(numpy.uint8).reshape(-1)
        model.buffers.append(buffer)
        graph.tensors += [tensor(f"layers.{i}.weight", [SIZE, SIZE], i + 1), tensor(f"layers.{i}.output", [1, SIZE], 0)]
    graph.inputs, graph.outputs, graph.operators = [0], [2 * LAYERS], [layer(i) for i in range(LAYERS)]
    model.subgraphs, model.operatorCodes = [graph], [code]
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    with open(path, "wb") as f:
        f.write(builder.Output())


def found(path: str) -> tuple:
    interpreter = Interpreter(model_path=path)
    interpreter.allocate_tensors()
    return library.summary(library.Tensor(t["name"], t["shape"].tolist(), math.prod(t["shape"].tolist()), numpy.dtype(t["dtype"]).name.replace("float", "f"))
                           for t in interpreter.get_tensor_details() if t["name"].endswith("weight"))


if __name__ == "__main__":
    library.main(__doc__, write, found)
