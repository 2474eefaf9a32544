"""Measurements of files that are written: zt_writer beside copies, and beside the formats' own libraries."""

from __future__ import annotations

from typing import Callable

from harness import HERE, Measurement, Sample, build, generate, program, python, read_afresh, system_python

MODEL = "64 f32 tensors of 16 MiB of a safetensors file"
SMALL = "20,000 f32 tensors of 16 elements"


def workload(kind: str) -> str:
    name = f"write-{kind}.safetensors"
    generate(kind, [HERE / "write_py.py"], python("write_py.py"), name)
    return read_afresh(name)


def sides(kind: str, target: str, dtype: str, arguments: str, *theirs: str) -> Callable[[], tuple[Sample, Sample]]:
    """Ours with these arguments of zt_writer, and theirs: what write_py.py does, and what follows its paths."""
    def prepare() -> tuple[Sample, Sample]:
        source = workload(kind)
        what, *rest = theirs
        return (program(*system_python("write_sql.py"), build().extension, source, f"ours-{target}", dtype, arguments),
                program(*python("write_py.py"), what, source, f"theirs-{target}", *rest))

    return prepare


OFF = ", sync=off"
ZSTD = ", sync=off, encoding=zstd"

MEASUREMENTS = [
    Measurement("write-copy", MODEL, "to zTensor 2, sync off", "a copy", "ms", 1.25,
                sides("model", "copy.zt", "-", OFF, "copy")),
    Measurement("write-sync", MODEL, "to zTensor 2, sync full", "a copy and fsync", "ms", 1.15,
                sides("model", "sync.zt", "-", "", "copy-sync")),
    Measurement("write-convert", MODEL, "to zTensor 2, sync off", "ztensor.convert", "ms", 0.6,
                sides("model", "convert.zt", "-", OFF, "convert")),
    Measurement("write-save", MODEL, "to safetensors, sync off", "save_file", "ms", 1.0,
                sides("model", "save.safetensors", "-", OFF, "save")),
    Measurement("write-bf16", MODEL, "to bf16, sync off", "a copy", "ms", 1.3,
                sides("model", "bf16.zt", "bf16", OFF, "copy")),
    Measurement("write-zstd", MODEL, "to zTensor 2, zstd 3", "ztensor.Writer", "ms", 0.6,
                sides("model", "zstd.zt", "-", ZSTD, "writer", "zt.zstd-seekable/1")),
    Measurement("write-small", SMALL, "to zTensor 2, sync off", "ztensor.Writer", "ms", 0.2,
                sides("small", "small.zt", "-", OFF, "writer", "raw")),
]
