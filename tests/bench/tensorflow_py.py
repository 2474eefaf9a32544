"""TensorFlow's checkpoints with the format's own library.

    tensorflow_py.py write KIND FILE  the index of a checkpoint of 10,000 variables, and its file of data beside it
    tensorflow_py.py list FILE        how many it has, and what their names, shapes and types come to

The variables are all f32, which is not asked for: get_variable_to_dtype_map would take as long again.
"""

from __future__ import annotations

import gc
import math

import library
import numpy
import tensorflow

LAYERS, EACH = 100, 100


def write(path: str) -> None:
    values = numpy.random.default_rng(1).standard_normal((4, 8), numpy.float32)
    names = [f"model/layer_{i}/weight_{j}/.ATTRIBUTES/VARIABLE_VALUE" for i in range(LAYERS) for j in range(EACH)]
    tensorflow.raw_ops.SaveV2(prefix=path.removesuffix(".index"), tensor_names=names, shape_and_slices=[""] * len(names),
                              tensors=[tensorflow.constant(values)] * len(names))


def found(path: str) -> tuple:
    reader = tensorflow.train.load_checkpoint(path.removesuffix(".index"))
    return library.summary(library.Tensor(name, shape, math.prod(shape), "f32")
                           for name, shape in reader.get_variable_to_shape_map().items())


if __name__ == "__main__":
    gc.freeze()  # or the time would be that of a collection of tensorflow's own objects
    library.main(__doc__, write, found)
