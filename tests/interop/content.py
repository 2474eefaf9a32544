"""The contents that the writers write, and a record of them. Used by write_*.py, each under the Python that has one version of ztensor.

A file's record, FILE.json, says what a reader must find in it:
  {"version": "1.2", "objects": {NAME: {"format", "shape", "attributes", "components": {ROLE: COMPONENT}}}, "attributes": {}}
  COMPONENT: {"dtype", "type", "encoding", "digest", "bytes", "sha256"}: digest is an algorithm or null; bytes and sha256 are
  of the decoded bytes; "shard" if a shard has them.
It is made from the arrays that were handed to the library, never from the file.
"""
import hashlib
import json
from pathlib import Path

import ml_dtypes
import numpy

SHORT = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "int64": "i64", "int32": "i32", "int16": "i16",
         "int8": "i8", "uint64": "u64", "uint32": "u32", "uint16": "u16", "uint8": "u8", "bool": "bool"}


def dtypes():
    """{name: array}: every dtype, with the values at its ends."""
    arrays = {}
    for name in SHORT:
        if name == "bool":
            array = numpy.array([[True, False, True], [False, False, True]])
        elif name == "bfloat16":
            array = numpy.array([0, -0.0, 1, -1.5, numpy.inf, numpy.nan, 3e38], ml_dtypes.bfloat16)
        elif name.startswith("float"):
            limits = numpy.finfo(name)
            array = numpy.array([0, -0.0, 1.5, limits.max, limits.min, limits.tiny, numpy.inf, -numpy.inf, numpy.nan], name)
        else:
            limits = numpy.iinfo(name)
            array = numpy.array([[0, 1], [limits.min, limits.max]], name)
        arrays["dtype." + name] = array
    return arrays


def ranks():
    """{name: array}: ranks from 1 to 8, sizes around the alignment of 64 bytes, empty ones."""
    arrays = {f"rank.{n}": numpy.arange(2 ** n, dtype="float32").reshape((2,) * n) for n in range(1, 9)}
    arrays.update({f"size.{n}": numpy.arange(n, dtype="uint8") for n in (1, 63, 64, 65, 4096)})
    arrays["empty"] = numpy.zeros((0,), "float32")
    arrays["empty.inside"] = numpy.zeros((3, 0, 2), "int16")
    return arrays


def names():
    """{name: array}: names that are no identifiers."""
    odd = ["a", "A", "layer.0/weight:0", " ", "with space", "it's", 'say "x"', "back\\slash", "\u00e9", "e\u0301", "\u65e5\u672c\u8a9e",
           "\U0001f40d", "%s", "*", "[0]", "1", "-", "a" * 300, "new\nline", "tab\t"]
    return {name: numpy.array([i], "int32") for i, name in enumerate(odd)}


def large():
    """{name: array}: bytes that compress well, that do not, and some of more than one zstd block."""
    random = numpy.random.default_rng(7)
    return {"zeros": numpy.zeros((300, 1000), "float32"), "random": random.standard_normal((100, 999)),
            "steps": numpy.arange(200_000, dtype="int64") // 1000}


def csr():
    """(values, indices, indptr, shape) of a matrix with an empty row and an empty column."""
    return (numpy.array([1.5, -2, 3, 4.25], "float32"), numpy.array([0, 2, 1, 4], "uint64"), numpy.array([0, 2, 2, 3, 4], "uint64"), (4, 6))


def coo():
    """(values, coords, shape): coords has one row per dimension."""
    return numpy.array([7, -8, 9], "int64"), numpy.array([[0, 2, 3], [5, 0, 1]], "uint64"), (4, 6)


def component(array, dtype=None, type=None, encoding="raw", digest=None):
    """The record of a component that has the array's bytes."""
    data = numpy.ascontiguousarray(array).tobytes()
    return {"dtype": dtype or SHORT[array.dtype.name], "type": type, "encoding": encoding, "digest": digest,
            "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def object(shape, components, format="dense", attributes=None):
    """The record of an object."""
    return {"format": format, "shape": list(shape), "attributes": attributes or {}, "components": components}


def dense(array, **options):
    """The record of a dense tensor."""
    return object(array.shape, {"data": component(array, **options)})


def record(path, version, objects, attributes=None):
    """Write the record of the file at path, whose version begins with `version`."""
    Path(path).with_suffix(".json").write_text(json.dumps({"version": version, "objects": objects, "attributes": attributes or {}}))
