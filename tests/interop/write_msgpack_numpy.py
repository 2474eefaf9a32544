"""Writes arrays with msgpack-numpy and a model with thinc, whose copy of msgpack-numpy is srsly's, and beside each what that library
reads in it: write_msgpack_numpy.py FOLDER"""
import sys
from pathlib import Path

import msgpack
import msgpack_numpy
import numpy as np
import srsly
from thinc.api import Relu, Softmax, chain

from foreign import Record

DENSE = {"b1": "bool", "i1": "i8", "i2": "i16", "i4": "i32", "i8": "i64", "u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "f2": "f16", "f4": "f32", "f8": "f64",
         "c8": "complex64", "c16": "complex128"}


def note(record, path, tree):
    """What the library reads, and scalars and complex numbers as the maps that they are in the file."""
    if isinstance(tree, np.ndarray):
        descr = tree.dtype.str
        little = tree.astype(tree.dtype.newbyteorder("<"))
        record.tensor(path, "dense", DENSE[descr[1:]], tree.shape, little.tobytes(), attributes={"descr": descr})
    elif isinstance(tree, np.generic):
        for key, value in (("nd", False), ("type", tree.dtype.str), ("data", tree.tobytes().hex())):
            record.attribute(f"{path}/{key}", value)
    elif isinstance(tree, complex):
        record.attribute(f"{path}/complex", True)
        record.attribute(f"{path}/data", repr(tree))
    elif isinstance(tree, (dict, list)) and tree:
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            note(record, f"{path}/{key}" if path else str(key), value)
    else:
        record.attribute(path, tree.hex() if isinstance(tree, bytes) else tree)


def write(path, data, tree):
    path.write_bytes(data)
    record = Record(path, "msgpack")
    note(record, "", tree)
    record.save()


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(33)
    arrays = {name: {order: [np.frombuffer(rng.bytes(n * int(name[1:])), order + name).reshape(shape) for n, shape in ((6, (2, 3)), (1, ()), (0, (0, 4)))]
                     for order in "<>"} for name in DENSE if name != "b1"}
    tree = {"arrays": arrays, "bool": rng.integers(0, 2, (3, 5)).astype(bool), "columns": np.asfortranarray(rng.standard_normal((3, 2))), "step": np.int64(7),
            "strided": np.arange(20.0)[::3], "complex": 1 - 2j, "text": "x", "list": [1, 2.5, None], "none": {}}
    packed = msgpack.packb(tree, default=msgpack_numpy.encode)
    write(folder / "arrays.msgpack", packed, msgpack.unpackb(packed, object_hook=msgpack_numpy.decode))
    older = msgpack.packb({"w": arrays["f4"]["<"][0], "list": [arrays["i2"][">"][0]]}, default=msgpack_numpy.encode, use_bin_type=False)
    write(folder / "older.msgpack", older, {"w": arrays["f4"]["<"][0], "list": [arrays["i2"][">"][0]]})
    model = chain(Relu(nO=4, nI=3), Softmax(nO=2, nI=4))
    model.initialize(np.zeros((2, 3), "f4"))
    write(folder / "thinc.msgpack", model.to_bytes(), srsly.msgpack_loads(model.to_bytes()))


if __name__ == "__main__":
    main(sys.argv[1])
