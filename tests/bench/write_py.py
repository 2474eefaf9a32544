"""Writing tensor files, as people do it today.

    write_py.py model FILE              writes a safetensors file of 64 f32 tensors of 16 MiB, by rows as weights have them
    write_py.py small FILE              20,000 f32 tensors of 16 elements
    write_py.py copy FILE TO            copies a file in windows of 1 MiB
    write_py.py copy-sync FILE TO       the same, and fsync
    write_py.py convert FILE TO         ztensor.convert of zTensor 2's library
    write_py.py save FILE TO            safetensors.numpy.save_file of the file's arrays, which are in memory before the clock starts
    write_py.py writer FILE TO CODEC    ztensor.Writer of the file's arrays, which are in memory before the clock starts

Prints the seconds and the processors' seconds, and then nothing: what is written is compared by tests.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

import numpy

WINDOW = 1 << 20


def write_safetensors(path: str, count: int, elements: int) -> None:
    size = 4 * elements
    header = json.dumps({f"layers.{i:05}.weight": {"dtype": "F32", "shape": [elements], "data_offsets": [i * size, (i + 1) * size]}
                         for i in range(count)}).encode()
    header += b" " * (-len(header) % 8)
    random = numpy.random.default_rng(1)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        for _ in range(count):
            file.write(random.standard_normal(elements, numpy.float32).tobytes())


def copy(path: str, to: str, sync: bool) -> None:
    window = memoryview(bytearray(WINDOW))
    source, target = os.open(path, os.O_RDONLY), os.open(to, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    while n := os.readv(source, [window]):
        os.write(target, window[:n])
    if sync:
        os.fsync(target)
    os.close(source)
    os.close(target)


def arrays_of(path: str) -> dict:
    from safetensors.numpy import load_file
    return load_file(path)


def timed(work, *values) -> None:
    start, cpu = time.perf_counter(), time.process_time()
    work(*values)
    print(f"{time.perf_counter() - start:.6f} {time.process_time() - cpu:.6f}\t")


def save(arrays: dict, to: str) -> None:
    from safetensors.numpy import save_file
    save_file(arrays, to)


def writer(arrays: dict, to: str, codec: str) -> None:
    import ztensor
    canonical = codec == "raw"
    with ztensor.Writer(to, canonical=canonical) as file:
        for name in sorted(arrays):
            part = {"dtype": "f32", "data": arrays[name].tobytes(), **({} if canonical else {"encoding": codec})}
            file.add_object(name, list(arrays[name].shape), {"data": part}, layout="dense")


def main(kind: str, path: str, *rest: str) -> None:
    for to in rest[:1]:
        Path(to).unlink(missing_ok=True)
    if kind == "model":
        write_safetensors(path, 64, 1 << 22)
    elif kind == "small":
        write_safetensors(path, 20_000, 16)
    elif kind in ("copy", "copy-sync"):
        timed(copy, path, rest[0], kind == "copy-sync")
    elif kind == "convert":
        import ztensor
        timed(ztensor.convert, path, rest[0])
    elif kind == "save":
        timed(save, arrays_of(path), rest[0])
    else:
        timed(writer, arrays_of(path), *rest)
    for to in rest[:1]:
        Path(to).unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
