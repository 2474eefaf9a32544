"""Measurements of listing files and of handing out their bytes as they are."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Callable

from harness import (HERE, MEGABYTE, WORK, BenchError, Measurement, Sample, added_memory,
                     allowed, build, c_program, generate, host, is_newer, lazily, library,
                     library2, ours, per_item, program, python, read_afresh, run,
                     system_python, touching, venv)

# ---- programs ----


def walk() -> Path:
    return c_program("walk", "-lpthread")


def fetch() -> Path:
    return c_program("fetch", "-lzstd")


# ---- workloads ----


def generate_c(kind: str, *names: str) -> None:
    gen = c_program("gen", "-lzstd", "-lm")
    generate(kind, [gen], [gen], *names)


def million() -> None:
    generate_c("million", "million.zt", "million.names")


def tree() -> None:
    generate_c("tree", "tree")


def safetensors() -> None:
    generate_c("safetensors", "large.safetensors")


def safetensors_tree() -> None:
    generate_c("safetensors-tree", "safetensors-tree")


def blobs() -> None:
    generate_c("blobs", "raw.zt", "zstd.zt")


def million_2() -> None:
    generate_c("million-2", "million-2.zt")


def seekable() -> str:
    """The zTensor 2 file of one f32 tensor of 1 GiB in 1,024 frames, written by the format's own library."""
    generate("seekable", [library2()], [library2(), "write"], "seekable.zt")
    return "seekable.zt"


def gguf() -> None:
    generate("gguf", [HERE / "gguf_py.py"], [*python("gguf_py.py"), "write"], "many.gguf")


def pytorch() -> None:
    generate("pytorch", [HERE / "torch_py.py"], [*system_python("torch_py.py"), "write"], "many.pt")


def onnx() -> None:
    generate("onnx", [HERE / "onnx_py.py"], [*python("onnx_py.py"), "write"], "large.onnx")


def tflite() -> None:
    generate("tflite", [HERE / "tflite_py.py"], [*python("tflite_py.py"), "write"], "large.tflite")


def hdf5() -> None:
    generate("hdf5", [HERE / "hdf5_py.py"], [*python("hdf5_py.py"), "write"], "many.h5")


def tensorflow_python() -> list[Path]:
    return [venv("tensorflow", "tensorflow-requirements.txt") / "bin" / "python", HERE / "tensorflow_py.py"]


def checkpoint() -> None:
    generate("checkpoint", [HERE / "tensorflow_py.py"], [*tensorflow_python(), "write"], "many.index")


def native(index: bool) -> Path:
    """The million rows as a table of a database. The index gets a database of its own: where there is one, SQLite
    answers max(object) and count(*) from it, and the comparison would be with something else."""
    million()
    table, indexed = WORK / "million.db", WORK / "million-index.db"
    if not is_newer(table, WORK / "million.stamp", build().extension):
        print("importing workload million into SQLite ...", file=sys.stderr)
        new = WORK / "million.db.new"
        new.unlink(missing_ok=True)
        indexed.unlink(missing_ok=True)
        run(host(), "--db", new, "--ext", build().extension, "exec",
            "CREATE TABLE components AS SELECT * FROM zt_components(?1)", "million.zt")
        new.rename(table)
        os.sync()
    if index and not is_newer(indexed, table):
        new = WORK / "million-index.db.new"
        shutil.copyfile(table, new)
        run(host(), "--db", new, "exec", "CREATE INDEX components_object ON components(object)")
        new.rename(indexed)
        os.sync()
    return indexed if index else table


def manifest_size(path: Path) -> int:
    with open(path, "rb") as file:
        file.seek(-16, os.SEEK_END)
        return int.from_bytes(file.read(8), "little")


# ---- measurements ----


def native_table(*scenario: object, index: bool = False) -> Sample:
    return lazily(lambda: program(host(), "--db", native(index), *scenario))


TOTALS = "SELECT count(*), sum(length) FROM "
MAXIMUM = "SELECT max(object) FROM "
LENGTH = "SELECT length FROM "
NAMES = "SELECT count(*), sum(length(object)), sum(length(shape)), sum(elements), min(type), max(type) FROM "
ONE_QUERY = ["rows", "SELECT zt_blob(?1, object) FROM zt_objects(?1)"]
ONE_CALL_EACH = ["calls", "SELECT object FROM zt_objects(?1)", "SELECT zt_blob(?1, ?2)"]


LARGE = 400  # MB: a manifest of a million components, and what is kept of it


def aggregate(scenario: str, select: str) -> tuple[Sample, Sample]:
    million()
    theirs = native_table(scenario, select + "components")
    return touching(LARGE, ours(scenario, select + "zt_components(?1)", "million.zt")), touching(LARGE, theirs)


def lookup() -> tuple[Sample, Sample]:
    million()
    theirs = native_table("lookup", "million.names", LENGTH + "components WHERE object = ?1", index=True)
    mine = ours("lookup", "million.names", LENGTH + "zt_components(?1) WHERE object = ?2", "million.zt")
    return per_item(mine), per_item(theirs)


def memory() -> tuple[Sample, Sample]:
    """The query's memory beyond a process that only loads the extension, against its limit."""
    million()
    most = manifest_size(WORK / "million.zt") + 48 * MEGABYTE
    expected = c_walk("million.zt")().results
    return added_memory(TOTALS + "zt_components(?1)", "million.zt"), allowed(most, *expected)


def c_walk(path: str, threads: int = 1) -> Sample:
    return program(walk(), threads, path)


def rust_list(path: str) -> Sample:
    return program(library(), "list", path)


def rust_safetensors(path: str) -> Sample:
    return program(library(), "safetensors", path)


def safetensors_memory() -> tuple[Sample, Sample]:
    safetensors()
    path = WORK / "large.safetensors"
    with open(path, "rb") as file:
        header = int.from_bytes(file.read(8), "little")
    expected = rust_safetensors(path.name)().results
    return added_memory(TOTALS + "zt_components(?1)", path.name), allowed(header + 48 * MEGABYTE, *expected)


def rust2_list(way: str) -> Callable[[str], Sample]:
    return lambda path: program(library2(), "list", way, path)


def gguf_py(path: str) -> Sample:
    return program(*python("gguf_py.py"), "list", path)


def torch_load(path: str) -> Sample:
    return program(*system_python("torch_py.py"), "list", path)


def onnx_load(path: str) -> Sample:
    return program(*python("onnx_py.py"), "list", path)


def tflite_load(path: str) -> Sample:
    return program(*python("tflite_py.py"), "list", path)


def h5py_visit(path: str) -> Sample:
    return program(*python("hdf5_py.py"), "list", path)


def tensorflow_load(path: str) -> Sample:
    return program(*tensorflow_python(), "list", path)


def naming(workload: Callable[[], None], path: str, other: Callable[[str], Sample]) -> tuple[Sample, Sample]:
    """Names, shapes and types of all tensors."""
    workload()
    return ours("once", NAMES + "zt_objects(?1)", path), other(path)


def listing(workload: Callable[[], None], path: str, other: Callable[[str], Sample]) -> tuple[Sample, Sample]:
    workload()
    return touching(LARGE, ours("once", TOTALS + "zt_components(?1)", path)), touching(LARGE, other(path))


def extraction(path: str, *scenario: str) -> tuple[Sample, Sample]:
    """Before the clock matters, both sides must have handed out the same bytes."""
    blobs()
    read_afresh(path)
    kind, *sql = scenario
    touch = ["--touch", 64]  # as fetch.c
    theirs = program(fetch(), path)
    expected = program(fetch(), "--check", path)().results
    found = ours(kind, "--check", *sql, path)().results
    if found != expected:
        raise BenchError(f"zt_blob gives other bytes than the baseline: {found}, not {expected}")
    return ours(*touch, kind, *sql, path), theirs


GIB = 1 << 30
RANGE = "SELECT zt_blob(?1, 'weight', 'data', ?2, 4096)"


def range_of_frames(start: int) -> tuple[Sample, Sample]:
    """Before the clock matters, both sides must have handed out the same bytes."""
    path = read_afresh(seekable())
    place = ours("once", "SELECT offset, length FROM zt_components(?1)", path)().results
    frames = c_program("frames", "-lzstd")
    expected = program(frames, "--check", path, *place, start, 4096)().results
    found = ours("rows", "--check", RANGE, path, start)().results
    if found != expected:
        raise BenchError(f"zt_blob gives other bytes than the baseline: {found}, not {expected}")
    return ours("rows", RANGE, path, start), program(frames, path, *place, start, 4096)


MEASUREMENTS = [
    Measurement("million-native", "1 file, 1,000,000 components", "count(*), sum(length)", "native table", "ms", 2.0,
                lambda: aggregate("once", TOTALS)),
    Measurement("million-rust", "1 file, 1,000,000 components", "count(*), sum(length)", "Rust library", "ms", 0.10,
                lambda: listing(million, "million.zt", rust_list)),
    Measurement("million-c", "1 file, 1,000,000 components", "count(*), sum(length)", "C walk", "ms", None,
                lambda: listing(million, "million.zt", c_walk)),
    Measurement("million-again", "1 file, 1,000,000 components", "asked again", "native table", "ms", 1.25,
                lambda: aggregate("again", TOTALS)),
    Measurement("million-max", "1 file, 1,000,000 components", "max(object)", "native table", "ms", 2.5,
                lambda: aggregate("once", MAXIMUM)),
    Measurement("million-memory", "1 file, 1,000,000 components", "peak memory", "manifest + 48 MB", "MB", 1.0,
                memory),
    Measurement("million-lookup", "1 file, 1,000,000 components", "one object by name", "native, indexed", "us", 3.0,
                lookup),
    Measurement("million-2-rust", "zTensor 2, 1,000,000 components", "count(*), sum(length)", "Rust library", "ms", 0.06,
                lambda: listing(million_2, "million-2.zt", rust2_list("open"))),
    Measurement("million-2-manifest", "zTensor 2, 1,000,000 components", "count(*), sum(length)",
                "Rust library, the manifest only", "ms", None,
                lambda: listing(million_2, "million-2.zt", rust2_list("manifest"))),
    Measurement("tree-c", "10,000 files of 100 objects", "count(*), sum(length)", "C walk", "ms", 1.3,
                lambda: listing(tree, "tree", c_walk)),
    Measurement("tree-rust", "10,000 files of 100 objects", "count(*), sum(length)", "Rust library", "ms", 0.17,
                lambda: listing(tree, "tree", rust_list)),
    Measurement("safetensors-rust", "safetensors, 750,000 tensors", "count(*), sum(length)", "Rust crate", "ms", 0.15,
                lambda: listing(safetensors, "large.safetensors", rust_safetensors)),
    Measurement("safetensors-memory", "safetensors, 750,000 tensors", "peak memory", "header + 48 MB", "MB", 1.0,
                safetensors_memory),
    Measurement("safetensors-tree-rust", "10,000 safetensors files of 100", "count(*), sum(length)", "Rust crate", "ms", 0.30,
                lambda: listing(safetensors_tree, "safetensors-tree", rust_safetensors)),
    Measurement("gguf-py", "GGUF, 20,000 tensors, 256,000 tokens", "count(*), sum(length)", "gguf-py", "ms", 0.02,
                lambda: listing(gguf, "many.gguf", gguf_py)),
    Measurement("pt-list", "PyTorch, 10,000 tensors", "names, shapes, types", "torch.load", "ms", 0.05,
                lambda: naming(pytorch, "many.pt", torch_load)),
    Measurement("onnx-list", "ONNX, 1 GB of initializers", "names, shapes, types", "onnx.load", "ms", 0.05,
                lambda: naming(onnx, "large.onnx", onnx_load)),
    Measurement("tflite-list", "TensorFlow Lite, 100 MB in 400 layers", "names, shapes, types", "its interpreter's loading", "ms", 0.05,
                lambda: naming(tflite, "large.tflite", tflite_load)),
    Measurement("hdf5-list", "HDF5, 10,000 datasets", "names, shapes, types", "h5py", "ms", 0.05,
                lambda: naming(hdf5, "many.h5", h5py_visit)),
    Measurement("tensorflow-list", "TensorFlow, 10,000 variables", "names, shapes, types", "load_checkpoint", "ms", 0.1,
                lambda: naming(checkpoint, "many.index", tensorflow_load)),
    Measurement("blob-raw", "64 tensors of 16 MiB, raw", "zt_blob, one query", "pread", "ms", 1.25,
                lambda: extraction("raw.zt", *ONE_QUERY)),
    Measurement("blob-raw-calls", "64 tensors of 16 MiB, raw", "zt_blob, a call each", "pread", "ms", 1.25,
                lambda: extraction("raw.zt", *ONE_CALL_EACH)),
    Measurement("blob-zstd", "64 tensors of 16 MiB, zstd", "zt_blob, one query", "ZSTD_decompress", "ms", 1.08,
                lambda: extraction("zstd.zt", *ONE_QUERY)),
    Measurement("range-frame", "1 GiB in frames of 1 MiB", "zt_blob, 4 KiB of 1",
                "decoding 1 frame", "ms", 3.0, lambda: range_of_frames(GIB // 2)),
    Measurement("range-frames", "1 GiB in frames of 1 MiB", "zt_blob, 4 KiB of 2",
                "decoding 2 frames", "ms", 3.0, lambda: range_of_frames(GIB // 2 - 2048)),
]
