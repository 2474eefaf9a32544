"""ggml's blocks in GGUF, and what ggml's own library makes of them.

blocks.py TYPE FILE    64 tensors, each 16 MiB as f32, in blocks of the type, q4_k for one

The numbers are normal with standard deviation 1. Quantizing takes long, so all tensors have the same ones. The library
is that of PyPI's libggml-python, built for any x86-64 or arm64, like those of PyPI's llama-cpp packages.
"""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path
from typing import Iterator

import gguf
import libggml
import numpy

TENSORS = 64
ROWS, COLUMNS = 1024, 4096


class Traits(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("elements", ctypes.c_int64), ("interleave", ctypes.c_int64),
                ("bytes", ctypes.c_size_t), ("is_quantized", ctypes.c_bool), ("to_float", ctypes.c_void_p),
                ("from_float", ctypes.c_void_p)]


def library() -> ctypes.CDLL:
    [path] = Path(libggml.__file__).parent.rglob("libggml-base.so")
    found = ctypes.CDLL(str(path))
    found.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
    found.ggml_quantize_chunk.restype = ctypes.c_size_t
    return found


class Blocks:
    """A tensor's bytes, and the library's function that takes these, results and how many those are."""

    def __init__(self, path: str, tensor: gguf.ReaderTensor) -> None:
        self.name = tensor.name
        self.elements = int(tensor.n_elements)
        self.size = int(tensor.n_bytes)
        self.path, self.offset = path, int(tensor.data_offset)
        traits = library().ggml_get_type_traits(int(tensor.tensor_type))[0]
        self.to_float = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(traits.to_float)

    def read(self, into: numpy.ndarray) -> numpy.ndarray:
        with open(self.path, "rb", buffering=0) as file:
            file.seek(self.offset)
            if file.readinto(into[:self.size].data) != self.size:
                sys.exit(f"{self.path} is cut")
        return into[:self.size]

    def convert(self, data: numpy.ndarray, out: numpy.ndarray) -> None:
        self.to_float(data.ctypes.data, out.ctypes.data, self.elements)


def read(path: str) -> Iterator[Blocks]:
    for tensor in gguf.GGUFReader(path).tensors:
        yield Blocks(path, tensor)


def quantize(kind: gguf.GGMLQuantizationType) -> numpy.ndarray:
    values = numpy.random.default_rng(1).standard_normal((ROWS, COLUMNS), numpy.float32)
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    out = numpy.empty((ROWS, COLUMNS // elements * size), numpy.uint8)
    library().ggml_quantize_chunk(int(kind), values.ctypes.data_as(ctypes.c_void_p), out.ctypes.data_as(ctypes.c_void_p),
                                  ctypes.c_int64(0), ctypes.c_int64(ROWS), ctypes.c_int64(COLUMNS), None)
    return out


def write(name: str, path: str) -> None:
    kind = gguf.GGMLQuantizationType[name.upper()]
    data = quantize(kind)
    writer = gguf.GGUFWriter(path, "llama")
    for i in range(TENSORS):
        writer.add_tensor(f"blk.{i}.ffn_up.weight", data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(*sys.argv[1:])
