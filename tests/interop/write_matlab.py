"""Writes MATLAB files with scipy, and beside each what scipy reads in it: write_matlab.py FOLDER"""
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

from foreign import Record

CLASSES = {"f8": "double", "f4": "single", "i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32",
           "i8": "int64", "u8": "uint64"}
NAMES = {"f8": "f64", "f4": "f32", "c16": "complex128", "c8": "complex64", "b1": "bool",
         **{f"{kind}{width}": f"{kind}{8 * width}" for kind in "iu" for width in (1, 2, 4, 8)}}


class Reader:
    """Notes what scipy read, in the order of the file: arrays of numbers as tensors, all else as attributes."""

    def __init__(self, record, flags):
        self.record, self.flags = record, flags

    def walk(self, path, value, typed):
        """typed: the same with MATLAB's types, of which scipy drops imaginary parts."""
        if value.dtype.kind in "iuf" and typed.dtype == bool:
            value = value.astype(bool)
        if scipy.sparse.issparse(value):
            self.sparse(path, value)
        elif value.dtype.names is not None or value.dtype == object and value.size == 0 and value.ndim == 1:
            self.struct(path, value, typed)
        elif value.dtype == object:
            self.cells(path, value, typed)
        elif value.dtype.kind == "U":
            rows = [str(row) for row in value]
            self.record.attribute(path, rows[0] if len(rows) == 1 else rows or "")
        else:   # Without MATLAB's types, numbers have those in which they are stored
            self.numbers(path, typed if {value.dtype.kind, typed.dtype.kind} <= set("iuf") else value)

    def struct(self, path, value, typed):
        names = value.dtype.names or ()
        if value.size == 0 or not names:
            self.record.attribute(path, {})
        for i, (element, types) in enumerate(zip(value.ravel(order="F"), typed.ravel(order="F")) if names else ()):
            for name in names:
                self.walk(f"{path}.{i}.{name}" if value.size > 1 else f"{path}.{name}", element[name], types[name])

    def cells(self, path, value, typed):
        if value.size == 0:
            self.record.attribute(path, [])
        for i, (element, types) in enumerate(zip(value.ravel(order="F"), typed.ravel(order="F"))):
            self.walk(f"{path}.{i}", element, types)

    def sparse(self, path, value):
        dense = value.toarray()
        if dense.dtype.kind in "iu":    # As scipy stored them; MATLAB has doubles
            dense = dense.astype("f8")
        if path in self.flags:          # scipy does not tell sparse booleans
            dense = dense.astype(bool)
        four = self.record.what["version"] == "4"
        self.record.tensor(path, "sparse_coo" if four else "matlab.sparse", NAMES[dense.dtype.str[1:]], value.shape, dense.tobytes(),
                           components=3 - four + (dense.dtype.kind == "c"), attributes={"class": "sparse"})

    def numbers(self, path, value):
        code = value.dtype.str[1:]
        part = {"c16": "f8", "c8": "f4"}.get(code, code)
        self.record.tensor(path, "dense", NAMES[code], value.shape, np.ascontiguousarray(value.astype(value.dtype.newbyteorder("<"))).tobytes(),
                           components=1 + (part != code), attributes={"class": "logical" if code == "b1" else CLASSES[part]})


def read(path, flags, level="5"):
    record = Record(path, "matlab", level)
    reader = Reader(record, flags)
    with warnings.catch_warnings(action="ignore"):
        typed = scipy.io.loadmat(path, mat_dtype=True)
    for name, value in scipy.io.loadmat(path).items():
        if name not in ("__header__", "__version__", "__globals__", "__function_workspace__"):
            reader.walk(name, value, typed[name])
    return record


def note(path, flags, level="5"):
    read(path, flags, level).save()


def cell(*values):
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def variables(rng):
    numbers = {f"n_{code}": (rng.random((3, 4)) * 100).astype(code) for code in CLASSES}
    numbers.update({"n_bool": rng.random((2, 5)) > 0.5, "n_c16": rng.random((2, 3)) + 1j * rng.random((2, 3)), "n_c8": (rng.random(5) * 1j).astype("c8"),
                    "scalar": 7.5, "integer": 3, "yes": True, "row": np.arange(4.0), "deep": rng.integers(-9, 9, (2, 3, 4, 2)).astype("i2"),
                    "big": np.arange(6, dtype=">i4").reshape(2, 3), "c_deep": rng.random((2, 3, 2)) * (1 + 2j)})
    yield "numbers", numbers
    yield "empty", {"none": np.zeros((0, 0)), "rows": np.zeros((0, 3), "i4"), "columns": np.zeros((4, 0), "c16"), "text": "", "cells": np.empty((0, 0), object),
                    "sparse": scipy.sparse.csc_matrix((3, 2)), "flags": np.zeros((0, 2), bool)}
    yield "structs", {"s": {"w": rng.random((2, 2)), "deep": {"deeper": {"x": np.float32(1)}}, "text": "a text", "sparse": scipy.sparse.eye(3, format="csc")},
                      "array": np.array([(1.0, [1, 2]), (2.0, [3, 4]), (3.0, [5, 6])], dtype=[("a", "f8"), ("b", "i2", (2,))]).reshape(3, 1),
                      "matrix": np.array([[(i * j,) for i in range(3)] for j in range(2)], dtype=[("v", "u1")]), "a" * 63: np.ones(2)}
    yield "cells", {"c": cell(np.arange(3.0), "text", cell(np.int8(1), cell("inner", 2 + 3j)), {"f": np.ones((1, 2))}),
                    "m": np.array([[cell(1), "x"], [np.zeros((2, 2)), True]], dtype=object)}
    yield "texts", {"ascii": "hello", "latin": "é ñ ß", "wide": "日本 x", "rows": np.array(["ab", "cd", "ef"]), "one": np.array(["only"]), "s": {"t": "in a struct"}}
    yield "sparse", {"s": scipy.sparse.random(20, 30, 0.1, "csc", random_state=1), "i": scipy.sparse.csc_matrix(np.eye(4, dtype="i4")), "l": scipy.sparse.csc_matrix(np.eye(4, dtype="i8") * 2**53),
                     "b": scipy.sparse.csc_matrix(np.eye(3, 5) > 0), "c": scipy.sparse.csc_matrix(np.array([[0, 1j], [2, 0]])), "r": scipy.sparse.csr_matrix(np.ones((2, 3)))}
    yield "many", {f"layer_{i}": rng.random((i % 5 + 1, i % 3 + 1)).astype("f4") for i in range(300)}
    yield "nothing", {}


def level_4(rng):
    """Arrays and texts of two dimensions at most."""
    return {**{f"n_{code}": (rng.random((3, 4)) * 100).astype(code) for code in ("f8", "f4", "i4", "i2", "u2", "u1")}, "n_c16": rng.random((2, 3)) + 2j, "scalar": 7.5,
            "vector": np.arange(5.0), "none": np.zeros((0, 3)), "text": "a text", "rows": np.array(["ab", "cd"]), "s": scipy.sparse.random(20, 30, 0.1, "csc", random_state=1),
            "c": scipy.sparse.csc_matrix(np.array([[0, 1j], [2, 0]])), "zeros": scipy.sparse.csc_matrix((3, 2))}


def main(folder):
    folder = Path(folder)
    scipy.io.savemat(folder / "level_4.mat", level_4(np.random.default_rng(6)), format="4")
    note(folder / "level_4.mat", (), "4")
    for name, values in variables(np.random.default_rng(5)):
        for kind, how in (("", {}), ("_deflated", {"do_compression": True}), ("_columns", {"oned_as": "column", "long_field_names": True})):
            path = folder / f"{name}{kind}.mat"
            scipy.io.savemat(path, values, format="5", **how)
            note(path, {key for key, value in values.items() if scipy.sparse.issparse(value) and value.dtype == bool})


if __name__ == "__main__":
    main(sys.argv[1])
