"""HDF5 with h5py.

    hdf5_py.py write KIND FILE  a file of 10,000 datasets in 100 groups
    hdf5_py.py list FILE        how many it has, and what their names, shapes and types come to
"""

from __future__ import annotations

import h5py
import library
import numpy

GROUPS, EACH = 100, 100
TYPES = {"float32": "f32"}


def write(path: str) -> None:
    values = numpy.random.default_rng(1).standard_normal((4, 8), numpy.float32)
    with h5py.File(path, "w") as file:
        for i in range(GROUPS * EACH):
            file[f"layers.{i // EACH}/weight.{i % EACH}"] = values


def found(path: str) -> tuple:
    tensors = []

    def visit(name: str, item: h5py.HLObject) -> None:
        if isinstance(item, h5py.Dataset):
            tensors.append(library.Tensor(name, item.shape, item.size, TYPES[item.dtype.name]))

    with h5py.File(path) as file:
        file.visititems(visit)
    return library.summary(tensors)


if __name__ == "__main__":
    library.main(__doc__, write, found)
