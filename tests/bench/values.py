"""Measurements of what the numbers in tensors are turned into: other types, statistics, dense matrices, vectors; and
of how much memory that takes, and how soon it ends when it must."""

from __future__ import annotations

from functools import cache

from pathlib import Path

from harness import (HERE, Measurement, Sample, added_memory, allowed, build, generate, host, ours,
                     program, python, read_afresh, slowest, venv)
from listing import blobs

MIB = 1 << 20

# ---- workloads ----


def generate_python(kind: str, *names: str) -> None:
    generate(kind, [HERE / "gen_values.py", HERE / "layout.py"], python("gen_values.py"), *names)


def tensors(dtype: str) -> str:
    """The file of 64 tensors of 16 MiB of that type."""
    if dtype == "bf16":
        blobs()
        return "raw.zt"
    kind = "f8" if dtype == "f8_e4m3fn" else dtype
    generate_python(kind, f"{kind}.zt")
    return f"{kind}.zt"


def big(encoding: str) -> str:
    """The file of one f32 tensor of 1 GiB."""
    generate_python("big", "big-raw.zt", "big-zstd.zt")
    return f"big-{encoding}.zt"


def quantized(kind: str) -> str:
    """The GGUF file of 64 tensors that are 16 MiB each as f32."""
    generate(kind, [HERE / "blocks.py"], python("blocks.py"), f"{kind}.gguf")
    return f"{kind}.gguf"


def sparse(path: str) -> str:
    generate_python("sparse", "csr.zt", "coo.zt", "coo-sorted.zt")
    return path


def vectors() -> str:
    generate_python("vectors", "vectors.zt")
    return "vectors.zt"


def npz(kind: str) -> str:
    """The npz of 1,000 f32 arrays of 1 MiB."""
    generate_python("npz", "stored.npz", "deflated.npz")
    return f"{kind}.npz"


# ---- measurements ----


def baseline(*arguments: object) -> Sample:
    return program(*python("baseline.py"), *arguments)


@cache
def check_extension(extension: Path, *arguments: str) -> None:
    baseline("--check", extension, *arguments)()


def check(*arguments: str) -> None:
    """Before the clock matters, both sides must make the same numbers."""
    check_extension(build().extension, *arguments)


def conversion(dtype: str, to: str, where: str) -> tuple[Sample, Sample]:
    path = read_afresh(tensors(dtype))
    check("convert", "file", path, dtype, to)
    touch = ["--touch", 256]
    return (ours(*touch, "rows", f"SELECT zt_dense(?1, object, '{to}') FROM zt_objects(?1)", path),
            baseline(*touch, "convert", where, path, dtype, to))


def dequantization(kind: str, where: str) -> tuple[Sample, Sample]:
    path = read_afresh(quantized(kind))
    check("to_float", "file", path)
    touch = ["--touch", 400]
    return (ours(*touch, "rows", "SELECT zt_dense(?1, object) FROM zt_objects(?1)", path),
            baseline(*touch, "to_float", where, path))


STATS = ("SELECT count(*), sum(elements), sum(nans), min(min), max(max), avg(mean), avg(std)"
         " FROM zt_stats(?1) WHERE error IS NULL")


def statistics(dtype: str, where: str) -> tuple[Sample, Sample]:
    path = read_afresh(tensors(dtype))
    return ours("once", STATS, path), baseline("--touch", 128, "stats", where, path, dtype)


def toarray(path: str) -> tuple[Sample, Sample]:
    check("toarray", read_afresh(sparse(path)))
    touch = ["--touch", 1000]
    return ours(*touch, "rows", "SELECT zt_dense(?1, 'matrix')", path), baseline(*touch, "toarray", path)


def hdf5(kind: str) -> str:
    """The HDF5 file of 64 f32 datasets of 16 MiB."""
    generate_python("hdf5-values", "contiguous.h5", "chunked.h5", "shuffled.h5")
    return f"{kind}.h5"


def arrays(name: str) -> tuple[Sample, Sample]:
    path = read_afresh(name)
    check("load", path)
    touch = ["--touch", 16]
    return (ours(*touch, "rows", "SELECT zt_dense(?1, object) FROM zt_objects(?1)", path),
            baseline(*touch, "load", path))


VECTORS = "zt_rows(?1, 'embedding')"


def embeddings() -> tuple[Sample, Sample]:
    """The rows alone, against the whole of which they are a part."""
    path = read_afresh(vectors())
    [vec] = (venv() / "lib").glob("python*/site-packages/sqlite_vec/vec0.*")
    whole = program(host(), "--ext", build().extension, "--ext", vec, "--touch", 500, "fill",
                    "CREATE VIRTUAL TABLE vectors USING vec0(embedding float[768])",
                    f"INSERT INTO vectors(rowid, embedding) SELECT row, vector FROM {VECTORS}",
                    "SELECT count(*), sum(length(embedding)) FROM vectors", path)
    return ours("once", f"SELECT count(*), sum(length(vector)) FROM {VECTORS}", path), whole


def stats_memory(encoding: str) -> tuple[Sample, Sample]:
    expected = baseline("stats", "file", big("raw"), "f32")().results
    return added_memory(STATS, big(encoding)), allowed(64 * MIB, *expected)


ROW = 200_000  # of 262,144: most of the frame lies before it


def row_memory(encoding: str) -> tuple[Sample, Sample]:
    expected = baseline("row", big("raw"), ROW)().results
    sql = f"SELECT hex(substr(vector, 1, 16)) FROM zt_rows(?1, 'weight') WHERE row = {ROW}"
    return added_memory(sql, big(encoding)), allowed(64 * MIB, *expected)


SQLITE_INTERRUPT, SQLITE_TOOBIG = 9, 18


def too_big(encoding: str) -> tuple[Sample, Sample]:
    sql = "SELECT zt_dense(?1, 'weight')"
    return ours("fails", sql, big(encoding)), allowed(0.010, SQLITE_TOOBIG)


def interruption(sql: str, path: str, threads: int = 0) -> tuple[Sample, Sample]:
    """Interrupted soon after the start and later on; the frame of the zstd file takes twice as long
    to decode. threads: 0 is as many as usual."""
    delays = [5, 50, 150, 300]
    return (slowest(*(ours("--touch", 600, "interrupt", delay, threads, sql, path) for delay in delays)),
            allowed(0.100, *(SQLITE_INTERRUPT for _ in delays)))


IN_MEMORY = "in memory"
WITH_READING = "with reading"


def conversion_rows(dtype: str, to: str, other: str, bound: float) -> list[Measurement]:
    """The bound is on the comparison with arrays that are in memory already, although zt_dense reads the file."""
    name, workload, what = f"dense-{dtype}-{to}", f"64 tensors of 16 MiB, {dtype}", f"zt_dense to {to}"
    return [
        Measurement(name, workload, what, f"{other}, {IN_MEMORY}", "ms", bound,
                    lambda: conversion(dtype, to, "memory")),
        Measurement(f"{name}-file", workload, what, f"{other}, {WITH_READING}", "ms", None,
                    lambda: conversion(dtype, to, "file")),
    ]


def dequantization_rows(kind: str) -> list[Measurement]:
    """The bound as above."""
    name, workload, other = f"dense-{kind.replace('_', '-')}", f"64 tensors of 16 MiB as f32, {kind}", "libggml's to_float"
    return [
        Measurement(name, workload, "zt_dense to f32", f"{other}, {IN_MEMORY}", "ms", 1.3,
                    lambda: dequantization(kind, "memory")),
        Measurement(f"{name}-file", workload, "zt_dense to f32", f"{other}, {WITH_READING}", "ms", None,
                    lambda: dequantization(kind, "file")),
    ]


def statistics_rows(dtype: str, other: str) -> list[Measurement]:
    name, workload, what = f"stats-{dtype}", f"64 tensors of 16 MiB, {dtype}", "zt_stats"
    return [
        Measurement(name, workload, what, f"{other}, {IN_MEMORY}", "ms", 0.12, lambda: statistics(dtype, "memory")),
        Measurement(f"{name}-file", workload, what, f"{other}, {WITH_READING}", "ms", None,
                    lambda: statistics(dtype, "file")),
    ]


MATRIX = "15,000 x 15,000, 4 M nonzeros"
BIG = "1 tensor of 1 GiB, "

MEASUREMENTS = [
    *conversion_rows("f32", "f16", "numpy", 0.15),
    *conversion_rows("f16", "f32", "numpy", 0.25),
    *conversion_rows("bf16", "f32", "ml_dtypes", 1.3),
    *conversion_rows("f8_e4m3fn", "f32", "numpy table", 0.2),
    *(row for kind in ("q4_k", "q6_k", "q8_0", "q4_0", "iq4_xs") for row in dequantization_rows(kind)),
    *statistics_rows("f32", "numpy"),
    *statistics_rows("bf16", "ml_dtypes + numpy"),
    *statistics_rows("f16", "numpy, as f32"),
    Measurement("hdf5-chunked", "HDF5, 64 datasets of 16 MiB, deflated", "zt_dense", "h5py", "ms", 0.6,
                lambda: arrays(hdf5("chunked"))),
    Measurement("hdf5-shuffled", "HDF5, 64 datasets of 16 MiB, shuffled, deflated", "zt_dense", "h5py", "ms", 0.6,
                lambda: arrays(hdf5("shuffled"))),
    Measurement("hdf5-contiguous", "HDF5, 64 datasets of 16 MiB", "zt_dense", "h5py", "ms", 1.2,
                lambda: arrays(hdf5("contiguous"))),
    Measurement("npz-stored", "npz, 1,000 arrays of 1 MiB, stored", "zt_dense", "numpy.load", "ms", 0.5, lambda: arrays(npz("stored"))),
    Measurement("npz-deflated", "npz, 1,000 arrays of 1 MiB, deflated", "zt_dense", "numpy.load", "ms", 0.8,
                lambda: arrays(npz("deflated"))),
    Measurement("sparse-csr", f"CSR {MATRIX}", "zt_dense", "scipy toarray()", "ms", 1.2, lambda: toarray("csr.zt")),
    Measurement("sparse-coo", f"COO {MATRIX}", "zt_dense", "scipy toarray()", "ms", 1.2, lambda: toarray("coo.zt")),
    Measurement("sparse-coo-sorted", f"COO {MATRIX}, sorted", "zt_dense", "scipy toarray()", "ms", 1.2,
                lambda: toarray("coo-sorted.zt")),
    Measurement("rows-vec", "100,000 x 768 bf16", "zt_rows", "insert into sqlite-vec", "ms", 0.2, embeddings),
    Measurement("stats-memory-raw", BIG + "raw", "zt_stats, peak memory", "64 MiB", "MB", 1.0,
                lambda: stats_memory("raw")),
    Measurement("stats-memory-zstd", BIG + "zstd", "zt_stats, peak memory", "64 MiB", "MB", 1.0,
                lambda: stats_memory("zstd")),
    Measurement("rows-memory-raw", BIG + "raw", "zt_rows of one, peak memory", "64 MiB", "MB", 1.0,
                lambda: row_memory("raw")),
    Measurement("rows-memory-zstd", BIG + "zstd", "zt_rows of one, peak memory", "64 MiB", "MB", 1.0,
                lambda: row_memory("zstd")),
    Measurement("toobig-raw", BIG + "raw", "zt_dense, SQLITE_TOOBIG", "10 ms", "ms", 1.0, lambda: too_big("raw")),
    Measurement("toobig-zstd", BIG + "zstd", "zt_dense, SQLITE_TOOBIG", "10 ms", "ms", 1.0, lambda: too_big("zstd")),
    Measurement("interrupt-dense", BIG + "zstd", "zt_dense, interrupted", "100 ms", "ms", 1.0,
                lambda: interruption("SELECT zt_dense(?1, 'weight', 'f16')", big("zstd")), max),
    Measurement("interrupt-stats", BIG + "zstd", "zt_stats, interrupted", "100 ms", "ms", 1.0,
                lambda: interruption("SELECT * FROM zt_stats(?1)", big("zstd")), max),
    Measurement("interrupt-hash", BIG + "zstd", "zt_hash, interrupted", "100 ms", "ms", 1.0,
                lambda: interruption("SELECT zt_hash(?1, 'weight', 'data', 'sha256')", big("zstd")), max),
]
