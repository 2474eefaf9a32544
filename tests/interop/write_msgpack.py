"""Writes files with the PyPI package msgpack by the rules of flax.serialization, which itself comes with jax, and beside each what that
package and numpy read in it: write_msgpack.py FOLDER"""
import sys
from pathlib import Path

import ml_dtypes
import msgpack
import numpy as np

from foreign import Record

TYPES = {"bool": "bool", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
         "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "bfloat16": "bf16", "complex64": "complex64",
         "complex128": "complex128", "float8_e4m3fn": "f8_e4m3fn", "float8_e5m2": "f8_e5m2", "float8_e4m3fnuz": "f8_e4m3fnuz",
         "float8_e5m2fnuz": "f8_e5m2fnuz", "float8_e8m0fnu": "f8_e8m0"}
ARRAY, COMPLEX, SCALAR = 1, 2, 3
MARK = "__msgpack_chunked_array__"


# ------------------------------------------------------------------------------------------------- as flax writes

def packed_array(array):
    return msgpack.packb((array.shape, array.dtype.name, array.tobytes("C")), use_bin_type=True)


def extension(value):
    if isinstance(value, np.ndarray):
        return msgpack.ExtType(ARRAY, packed_array(value))
    if isinstance(value, complex):
        return msgpack.ExtType(COMPLEX, msgpack.packb((value.real, value.imag)))
    return msgpack.ExtType(SCALAR, packed_array(np.asarray(value)))


def state(tree, most):
    """Lists and tuples as maps of digits, and arrays above a number of bytes in chunks."""
    if isinstance(tree, (list, tuple)):
        tree = {str(i): value for i, value in enumerate(tree)}
    if isinstance(tree, dict):
        return {key: state(value, most) for key, value in tree.items()}
    if not isinstance(tree, np.ndarray) or tree.nbytes <= most:
        return tree
    n, flat = max(1, most // tree.dtype.itemsize), tree.reshape(-1)
    chunks = [flat[i:i + n] for i in range(0, flat.size, n)]
    return {MARK: True, "shape": state(tree.shape, most), "chunks": state(chunks, 1 << 40)}


# -------------------------------------------------------------------------------------------------- as flax reads

def restored_array(data):
    shape, name, buffer = msgpack.unpackb(data, raw=True)
    dtype = np.dtype(getattr(ml_dtypes, name.decode(), None) or name.decode())
    return np.frombuffer(buffer, dtype).reshape(shape)


def restored(code, data):
    if code == ARRAY:
        return restored_array(data)
    if code == COMPLEX:
        return complex(*msgpack.unpackb(data))
    value = restored_array(data)[()] if code == SCALAR else None
    return msgpack.ExtType(code, data) if value is None or isinstance(value, np.ndarray) else value


def shown(value):
    """A leaf as an attribute."""
    if isinstance(value, (complex, np.complexfloating)):
        return [value.real.item() if hasattr(value.real, "item") else value.real, value.imag.item() if hasattr(value.imag, "item") else value.imag]
    if isinstance(value, bytes):
        return value.hex()
    return float(value) if value.__class__ is ml_dtypes.bfloat16 else value.item() if isinstance(value, np.generic) else value


def note_tree(record, path, tree):
    if isinstance(tree, dict) and MARK in tree:
        chunks = [tree["chunks"][str(i)] for i in range(len(tree["chunks"]))]
        shape = [tree["shape"][str(i)] for i in range(len(tree["shape"]))]
        array = np.concatenate(chunks).reshape(shape)
        record.tensor(path, "dense", TYPES[array.dtype.name], shape, array.tobytes(), attributes={"dtype": array.dtype.name, "chunks": len(chunks)})
    elif isinstance(tree, (dict, list)) and tree:
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            note_tree(record, str(key) if path is None else f"{path}/{key}", value)
    elif isinstance(tree, np.ndarray):
        record.tensor(path or "", "dense", TYPES[tree.dtype.name], tree.shape, tree.tobytes(), attributes={"dtype": tree.dtype.name})
    else:
        record.attribute(path, shown(tree))


def write(path, tree, most=1 << 30):
    path.write_bytes(msgpack.packb(state(tree, most), default=extension, strict_types=True))
    read(path).save()


def read(path):
    record = Record(path, "msgpack")
    root = msgpack.unpackb(path.read_bytes(), ext_hook=restored, raw=False)
    if isinstance(root, np.ndarray) or root:
        note_tree(record, None, root)
    return record


def array_of(rng, name, shape):
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    n = int(np.prod(shape))
    return rng.integers(0, 2, n).astype(bool).reshape(shape) if name == "bool" else np.frombuffer(rng.bytes(n * dtype.itemsize), dtype).reshape(shape)


def main(folder):
    folder, rng = Path(folder), np.random.default_rng(31)

    def plain(*shape):
        return rng.standard_normal(shape).astype("f4")

    write(folder / "dtypes.msgpack", {name: [array_of(rng, name, shape) for shape in ((3, 5), (), (0, 2), (1, 2, 3, 4))] for name in TYPES})
    write(folder / "lone.msgpack", plain(2, 3))
    write(folder / "empty.msgpack", {})
    write(folder / "params.msgpack", {"params": {f"Dense_{i}": {"kernel": plain(4, 3), "bias": plain(3)} for i in range(3)}, "batch_stats": {"mean": plain(7)}})
    write(folder / "names.msgpack", {name: plain(2) for name in ("a.b.c", "Ünïcode", "水", "emoji 🎉", "quote \" and \\", "tab\t", "", "x" * 300)})
    numbers = [0, 1, 127, 128, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, -1, -32, -33, -128, -129, -32768, -32769, -2**31, -2**31 - 1, -2**63]
    write(folder / "state.msgpack", {
        "step": 7, "opt": [{"mu": plain(2)}, {}, ()], "numbers": numbers, "reals": [0.1, -0.0, 1e300, 5e-324], "on": True, "off": False, "none": None,
        "text": ["", "a" * 31, "b" * 32, "c" * 256, "d" * 65536, "水"], "bytes": [b"", b"\0\xff" * 200], "complex": 1.5 - 2j,
        "scalars": [np.float32(0.1), np.float64(0.1), np.float16(0.1), np.int8(-3), np.uint64(2**64 - 1), np.int64(-2**63), np.bool_(True), np.complex64(1 - 2j),
                    ml_dtypes.bfloat16(1.5)]})
    write(folder / "chunks.msgpack", {name: array_of(rng, name, (23, 7)) for name in TYPES}, most=64)
    write(folder / "many.msgpack", {f"layers_{i}": {"w": plain(1 + i % 3, 7)} for i in range(2000)})


if __name__ == "__main__":
    main(sys.argv[1])
