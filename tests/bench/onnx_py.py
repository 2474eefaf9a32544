"""ONNX with the format's own Python package.

    onnx_py.py write KIND FILE  a model of 100 initializers of 10 MB
    onnx_py.py list FILE        how many it has, and what their names, shapes and types come to

The latter prints seconds, those of the processors, then what it found, like the programs in C (bench.h).
"""

from __future__ import annotations

import math
import sys
import time

import numpy
import onnx
from onnx import helper, numpy_helper

TENSORS, ROWS, COLUMNS = 100, 2500, 1000


def write(path: str) -> None:
    values = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS), numpy.float32)
    tensors = [numpy_helper.from_array(values, f"layers.{i}.weight") for i in range(TENSORS)]
    onnx.save(helper.make_model(helper.make_graph([], "model", [], [], tensors)), path)


def list_tensors(path: str) -> None:
    wall, cpu = time.perf_counter(), time.process_time()
    tensors = onnx.load(path).graph.initializer
    types = {onnx.TensorProto.DataType.Name(tensor.data_type) for tensor in tensors}
    found = [len(tensors), sum(len(tensor.name) for tensor in tensors),
             sum(len(str(list(tensor.dims)).replace(" ", "")) for tensor in tensors), sum(math.prod(tensor.dims) for tensor in tensors),
             *(each.replace("FLOAT", "f32") for each in (min(types), max(types)))]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{wall:.6f} {cpu:.6f}", *found, sep="\t")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", _, path]:
            write(path)
        case ["list", path]:
            list_tensors(path)
        case _:
            sys.exit(__doc__)
