"""Writes files with the PyPI package safetensors, and beside each what that package reads in it: write_safetensors.py FOLDER"""
import random
import sys
from pathlib import Path

import numpy as np
from safetensors import TensorSpec, deserialize, safe_open, serialize_file

from foreign import Record

# The types that its bindings can write: the name that they take, bits of an element
TYPES = [
    ("bool", 8), ("uint8", 8), ("int8", 8), ("int16", 16), ("uint16", 16),
    ("float16", 16), ("bfloat16", 16), ("int32", 32), ("uint32", 32), ("float32", 32),
    ("int64", 64), ("uint64", 64), ("float64", 64), ("float8_e5m2", 8),
    ("float8_e4m3fn", 8), ("float8_e8m0fnu", 8), ("float8_e4m3fnuz", 8),
    ("float8_e5m2fnuz", 8), ("float4_e2m1fn_x2", 8), ("complex64", 64),
]
NAMES = ["a.b.c", "weight", "Ünïcode", "水", "emoji 🎉", 'quote " and \\', "tab\tnewline\n", "\x7f", "'", "", "%00", "layer/0/w"]


def write(path, tensors, metadata=None):
    """tensors: {name: (the bindings' dtype, shape, bytes)}."""
    kept = {name: np.frombuffer(data or b"\0", np.uint8) for name, (_, _, data) in tensors.items()}
    serialize_file({name: TensorSpec(dtype=dtype, shape=list(shape), data_ptr=kept[name].ctypes.data, data_len=len(data))
                    for name, (dtype, shape, data) in tensors.items()}, str(path), metadata)
    note(path)


def read(path):
    types = {spec: model for spec, model in {
        "BOOL": "bool", "U8": "u8", "I8": "i8", "I16": "i16", "U16": "u16", "F16": "f16", "BF16": "bf16", "I32": "i32",
        "U32": "u32", "F32": "f32", "I64": "i64", "U64": "u64", "F64": "f64", "F8_E5M2": "f8_e5m2", "F8_E4M3": "f8_e4m3fn",
        "F8_E8M0": "f8_e8m0", "F8_E4M3FNUZ": "f8_e4m3fnuz", "F8_E5M2FNUZ": "f8_e5m2fnuz", "F4": "f4_e2m1",
        "C64": "complex64"}.items()}
    record = Record(path, "safetensors")
    with safe_open(str(path), "numpy") as opened:
        for key, value in (opened.metadata() or {}).items():
            record.attribute(key, value)
    for name, tensor in deserialize(Path(path).read_bytes()):
        record.tensor(name, "dense", types.get(tensor["dtype"], tensor["dtype"].lower()), tensor["shape"], bytes(tensor["data"]))
    return record


def note(path):
    read(path).save()


def main(folder):
    rng = random.Random(14)
    folder = Path(folder)

    def tensor(spec, bits, shape):
        n = int(np.prod(shape)) * bits // 8
        data = bytes(rng.randrange(2) for _ in range(n)) if spec == "bool" else rng.randbytes(n)
        return spec, shape, data

    shapes = [(5,), (3, 4), (2, 0, 3), (1, 2, 3, 4), ()]   # Two elements of four bits are one of the bindings': no scalar
    write(folder / "dtypes.safetensors", {f"{spec}.{k}": tensor(spec, bits, shape) for spec, bits in TYPES
                                          for k, shape in enumerate(shapes[:4 if "_x2" in spec else 5])},
          {"format": "pt", "für": "水\n", "": "empty key", "quote\"": "\\"})
    write(folder / "names.safetensors", {name: tensor("float32", 32, (2, 3)) for name in NAMES})
    write(folder / "many.safetensors", {f"layers.{i}.w": tensor("bfloat16", 16, (1 + i % 3,)) for i in range(3000)}, {"n": "3000"})
    write(folder / "empty.safetensors", {}, None)
    write(folder / "metadata.safetensors", {}, {f"key {i}": i * "x" for i in range(300)})


if __name__ == "__main__":
    main(sys.argv[1])
