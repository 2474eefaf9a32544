"""ONNX with the format's own Python package.

    onnx_py.py write KIND FILE  a model of 100 initializers of 10 MB
    onnx_py.py list FILE        how many it has, and what their names, shapes and types come to
"""

from __future__ import annotations

import math

import library
import numpy
import onnx
from onnx import helper, numpy_helper

TENSORS, ROWS, COLUMNS = 100, 2500, 1000


def write(path: str) -> None:
    values = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS), numpy.float32)
    tensors = [numpy_helper.from_array(values, f"layers.{i}.weight") for i in range(TENSORS)]
    onnx.save(helper.make_model(helper.make_graph([], "model", [], [], tensors)), path)


def found(path: str) -> tuple:
    return library.summary(library.Tensor(tensor.name, tensor.dims, math.prod(tensor.dims),
                                          onnx.TensorProto.DataType.Name(tensor.data_type).replace("FLOAT", "f32"))
                           for tensor in onnx.load(path).graph.initializer)


if __name__ == "__main__":
    library.main(__doc__, write, found)
