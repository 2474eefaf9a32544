"""gen_values.py f32|f16|f8 FILE         64 tensors of 16 MiB
gen_values.py tuned FILE              the numbers of f32, each a thousandth of another normal number away
gen_values.py zeros FILE              400 f32 tensors of 256 MiB of zeros with digests, which take no room on the disk
gen_values.py big RAW ZSTD            one f32 tensor of 1 GiB, 262,144 x 1,024, raw and in one zstd frame
gen_values.py sparse CSR COO SORTED   one 15,000 x 15,000 f32 matrix with 4,000,000 nonzeros: as CSR, as COO in the
                                      order in which scipy.sparse.random() draws them, and as COO sorted row by row
gen_values.py vectors FILE            100,000 embeddings of 768 bf16
gen_values.py asked FILE              4,096 x 64 f32 in one zstd frame; 20,000 f32, raw and again so
gen_values.py npz STORED DEFLATED     1,000 f32 arrays of 1 MiB, by numpy.savez() and savez_compressed()
gen_values.py hdf5-values FILE...     64 f32 datasets of 16 MiB, by h5py: contiguous, in deflated chunks of 256 KiB, shuffled

The numbers are normal with standard deviation 1, without NaN; f8 has all byte patterns.
"""

from __future__ import annotations

import hashlib
import sys
from typing import Iterator

import h5py
import ml_dtypes
import numpy
import scipy.sparse
from layout import Writer

TENSORS = 64
TENSOR_BYTES = 16 << 20
COLUMNS = 4096
SIDE, NONZEROS = 15_000, 4_000_000


def normal(seed: int, count: int) -> numpy.ndarray:
    return numpy.random.default_rng(seed).standard_normal(count, numpy.float32)


def tensors(kind: str) -> Iterator[numpy.ndarray]:
    for i in range(TENSORS):
        if kind == "f8":
            yield numpy.random.default_rng(i).integers(256, size=TENSOR_BYTES, dtype=numpy.uint8)
        else:
            dtype = numpy.dtype({"f32": "<f4", "f16": "<f2"}[kind])
            yield normal(i, TENSOR_BYTES // dtype.itemsize).astype(dtype)


def gen_tensors(kind: str, path: str) -> None:
    dtype, logical = ("u8", "f8_e4m3fn") if kind == "f8" else (kind, None)
    file = Writer(path)
    for i, array in enumerate(tensors(kind)):
        name = f"layers.{i:02}.weight"
        file.add_object(name, (array.size // COLUMNS, COLUMNS))
        file.add(name, "data", dtype, [array], logical)
    file.close()


def gen_tuned(path: str) -> None:
    file = Writer(path)
    for i, array in enumerate(tensors("f32")):
        name = f"layers.{i:02}.weight"
        file.add_object(name, (array.size // COLUMNS, COLUMNS))
        file.add(name, "data", "f32", [array + numpy.float32(0.001) * normal(TENSORS + i, array.size)])
    file.close()


def gen_zeros(path: str) -> None:
    mebibyte, digest = bytes(1 << 20), hashlib.sha256()
    for _ in range(256):
        digest.update(mebibyte)
    file = Writer(path)
    for i in range(400):
        name = f"layers.{i:03}.weight"
        file.add_object(name, (16_384, 4096))
        file.add_hole(name, "data", "f32", 256 << 20, f"sha256:{digest.hexdigest()}")
    file.close()


def gen_big(raw: str, zstd: str) -> None:
    """The same numbers as in the f32 file."""
    for path in (raw, zstd):
        file = Writer(path)
        file.add_object("weight", (TENSORS * TENSOR_BYTES // 4096, 1024))
        file.add("weight", "data", "f32", tensors("f32"), zstd=path == zstd)
        file.close()


def write_sparse(path: str, form: str, components: dict[str, numpy.ndarray]) -> None:
    file = Writer(path)
    file.add_object("matrix", (SIDE, SIDE), form)
    for role, array in components.items():
        values = role == "values"
        file.add("matrix", role, "f32" if values else "u64", [array.astype(numpy.float32 if values else numpy.uint64)])
    file.close()


def gen_sparse(csr_path: str, coo_path: str, sorted_path: str) -> None:
    coo = scipy.sparse.random(SIDE, SIDE, NONZEROS / SIDE**2, "coo", numpy.float32, rng=numpy.random.default_rng(1))
    csr = coo.tocsr()
    csr.sort_indices()
    write_sparse(csr_path, "sparse_csr", {"values": csr.data, "indices": csr.indices, "indptr": csr.indptr})
    for path, matrix in ((coo_path, coo), (sorted_path, csr.tocoo())):
        coords = numpy.concatenate([matrix.row, matrix.col])
        write_sparse(path, "sparse_coo", {"values": matrix.data, "coords": coords})


def gen_vectors(path: str) -> None:
    array = normal(2, 100_000 * 768).astype(ml_dtypes.bfloat16)
    file = Writer(path)
    file.add_object("embedding", (100_000, 768))
    file.add("embedding", "data", "bf16", [array.view(numpy.uint16)])
    file.close()


def gen_asked(path: str) -> None:
    file = Writer(path)
    table, line = normal(3, 4096 * 64), normal(4, 20_000)
    for name, array, shape, zstd in (("table", table, (4096, 64), True),
                                     ("raw", line, (20_000,), False),
                                     ("zstd", line, (20_000,), True)):
        file.add_object(name, shape)
        file.add(name, "data", "f32", [array], zstd=zstd)
    file.close()


def gen_npz(stored: str, deflated: str) -> None:
    """Numbers such as these deflate by a twelfth, as trained weights do."""
    arrays = {f"layers.{i:03}.weight": normal(i, 1 << 18).reshape(512, 512) for i in range(1000)}
    numpy.savez(stored, **arrays)
    numpy.savez_compressed(deflated, **arrays)


def gen_hdf5(contiguous: str, chunked: str, shuffled: str) -> None:
    chunks = {"chunks": (256, 256), "compression": "gzip"}
    for path, how in (contiguous, {}), (chunked, chunks), (shuffled, {**chunks, "shuffle": True}):
        with h5py.File(path, "w") as file:
            for i in range(64):
                file.create_dataset(f"layers.{i:02}.weight", data=normal(i, 1 << 22).reshape(2048, 2048), **how)


def main() -> None:
    kind, *paths = sys.argv[1:]
    if kind == "big":
        gen_big(*paths)
    elif kind == "tuned":
        gen_tuned(*paths)
    elif kind == "zeros":
        gen_zeros(*paths)
    elif kind == "sparse":
        gen_sparse(*paths)
    elif kind == "vectors":
        gen_vectors(*paths)
    elif kind == "asked":
        gen_asked(*paths)
    elif kind == "npz":
        gen_npz(*paths)
    elif kind == "hdf5-values":
        gen_hdf5(*paths)
    else:
        gen_tensors(kind, *paths)


if __name__ == "__main__":
    main()
