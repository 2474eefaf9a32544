"""The usual tools of today: numpy, ml_dtypes, scipy, ggml.

    baseline.py [OPTIONS] convert memory|file FILE FROM TO   every tensor of a file, converted to another type
    baseline.py [OPTIONS] stats memory|file FILE TYPE        min, max, mean, std and count of NaN of every tensor
    baseline.py [OPTIONS] compare FILE OTHER                 how far the f32 tensors of a file are from those of another
    baseline.py [OPTIONS] toarray FILE                       a sparse matrix as a dense one
    baseline.py [OPTIONS] to_float memory|file FILE          every tensor of a GGUF file, from ggml's blocks to f32
    baseline.py [OPTIONS] load FILE                          every array of an npz, or dataset of HDF5
    baseline.py row FILE ROW                                 one row of the file's only tensor; no clock

Prints seconds, those of the processors, then what it found, like the programs in C (bench.h). With
--check EXTENSION each array is compared with what zt_dense makes of the same tensor, and then the
seconds mean nothing. --touch is host.c's.

"memory": the clock starts when all arrays are in memory, and runs for the conversion alone. "file": each tensor is read
with numpy.fromfile() while the clock runs, and forgotten after use. Either way a result is freed when the next one is
there, as in SQLite, and the last one before the clock stops. to_float has one result written over the other.
"""

from __future__ import annotations

import argparse
import math
import sqlite3
import sys
import time
from typing import Callable, Iterator

import blocks
import h5py
import layout
import ml_dtypes
import numpy
import scipy.sparse

DTYPES = {"f32": numpy.float32, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "f8_e4m3fn": numpy.uint8}

# All values of a byte. There are 256, so a table is what one takes for a conversion that numpy does not have.
F8_E4M3FN = numpy.arange(256, dtype=numpy.uint8).view(ml_dtypes.float8_e4m3fn).astype(numpy.float32)


class Checker:
    """Compares arrays with what zt_dense gives."""

    def __init__(self, extension: str, path: str) -> None:
        self.path = path
        self.db = sqlite3.connect(":memory:")
        self.db.enable_load_extension(True)
        self.db.load_extension(extension)

    def check(self, name: str, expected: numpy.ndarray, dtype: str | None) -> None:
        """Bit by bit, only a NaN is as good as any other."""
        [blob] = self.db.execute("SELECT zt_dense(?, ?, ?)", (self.path, name, dtype)).fetchone()
        found, expected = numpy.frombuffer(blob, expected.dtype), expected.ravel()
        if found.size != expected.size:
            sys.exit(f"zt_dense of {name} has {found.size} elements, not {expected.size}")
        bits = f"u{expected.itemsize}"
        other = found.view(bits) != expected.view(bits)
        [places] = numpy.nonzero(other & ~(numpy.isnan(found) & numpy.isnan(expected)))
        if places.size:
            i = places[0]
            sys.exit(f"zt_dense of {name}: element {i} is {found[i]}, not {expected[i]}; {places.size} differ")


class Seen:
    """Counts results like host.c's rows."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.rows = self.bytes = 0
        self.checker = Checker(options.check, options.file) if options.check else None

    def see(self, name: str, array: numpy.ndarray, dtype: str | None = None) -> None:
        self.rows += 1
        self.bytes += array.nbytes
        if self.checker:
            self.checker.check(name, array, dtype)

    def results(self) -> list[object]:
        return [self.rows, self.bytes]


Tensors = Iterator[tuple[str, numpy.ndarray]]


def arrays(path: str, dtype: str) -> Tensors:
    for name, item in layout.read_objects(path).items():
        yield name, layout.read_raw(path, item["components"]["data"], DTYPES[dtype])


def touch_memory(megabytes: int) -> None:
    numpy.ones(megabytes * 1_000_000, numpy.uint8)


class Stopwatch:
    def __init__(self) -> None:
        self.wall, self.cpu = time.perf_counter(), time.process_time()

    def passed(self) -> str:
        return f"{time.perf_counter() - self.wall:.9f} {time.process_time() - self.cpu:.9f}"


def timed(options: argparse.Namespace, consume: Callable[[Tensors], None]) -> str:
    given = arrays(options.file, options.dtype)
    if options.where == "memory":
        given = iter(list(given))
    touch_memory(options.touch)
    start = Stopwatch()
    consume(given)
    return start.passed()


def convert(options: argparse.Namespace) -> tuple[str, list[object]]:
    seen = Seen(options)
    target = DTYPES[options.to]

    def consume(given: Tensors) -> None:
        for name, array in given:
            result = F8_E4M3FN[array] if options.dtype == "f8_e4m3fn" else array.astype(target)
            seen.see(name, result, options.to)

    return timed(options, consume), seen.results()


def stats(options: argparse.Namespace) -> tuple[str, list[object]]:
    """numpy's reductions, for bf16 and f16 after a conversion to f32, for which the clock runs as well: their own are
    no alternative. ml_dtypes adds up bf16 in bf16. numpy's std of f16 overflows over so many elements, and its min and
    max alone take longer than the conversion and everything in f32."""
    found: list[tuple] = []

    def consume(given: Tensors) -> None:
        for _, array in given:
            if array.dtype != numpy.float32:
                array = array.astype(numpy.float32)
            nans = int(numpy.count_nonzero(numpy.isnan(array)))
            found.append((nans, array.size, array.min(), array.max(), array.mean(), array.std()))

    seconds = timed(options, consume)
    nans, sizes, least, most, means, deviations = zip(*found)
    n = len(found)
    return seconds, [n, sum(sizes), sum(nans), float(min(least)), float(max(most)), math.fsum(means) / n,
                     math.fsum(deviations) / n]


def compare(options: argparse.Namespace) -> tuple[str, list[object]]:
    """Each is loaded when it is its turn, and subtracted."""
    touch_memory(options.touch)
    start = Stopwatch()
    found: list[tuple] = []
    for (_, a), (_, b) in zip(arrays(options.file, "f32"), arrays(options.other, "f32")):
        norms = float(numpy.linalg.norm(a)), float(numpy.linalg.norm(b))
        found.append((a.size, float(numpy.linalg.norm(a - b)), *norms, float(numpy.dot(a, b))))
    seconds = start.passed()
    sizes, distances, norms, others, dots = zip(*found)
    return seconds, [len(found), sum(sizes), math.fsum(d / n**0.5 for n, d in zip(sizes, distances)), math.fsum(norms),
                     math.fsum(others), math.fsum(dots)]


def sparse_matrix(path: str):
    item = layout.read_objects(path)["matrix"]
    read = {role: layout.read_raw(path, component, numpy.float32 if role == "values" else numpy.int64)
            for role, component in item["components"].items()}
    if item["format"] == "sparse_csr":
        return scipy.sparse.csr_array((read["values"], read["indices"], read["indptr"]), item["shape"])
    coords = read["coords"].reshape(2, -1)
    return scipy.sparse.coo_array((read["values"], (coords[0], coords[1])), item["shape"])


def toarray(options: argparse.Namespace) -> tuple[str, list[object]]:
    seen = Seen(options)
    matrix = sparse_matrix(options.file)
    touch_memory(options.touch)
    start = Stopwatch()
    dense = matrix.toarray()
    seen.see("matrix", dense)
    del dense
    return start.passed(), seen.results()


def to_float(options: argparse.Namespace) -> tuple[str, list[object]]:
    """With what is read of a file, too, in one place."""
    seen = Seen(options)
    tensors = list(blocks.read(options.file))
    space = numpy.ones(max(each.size for each in tensors), numpy.uint8)
    out = numpy.ones(max(each.elements for each in tensors), numpy.float32)
    there = options.where == "memory"
    given = [each.read(numpy.empty(each.size, numpy.uint8)) if there else None for each in tensors]
    touch_memory(options.touch)
    start = Stopwatch()
    for each, data in zip(tensors, given):
        each.convert(each.read(space) if data is None else data, out)
        seen.see(each.name, out[:each.elements])
    return start.passed(), seen.results()


def load(options: argparse.Namespace) -> tuple[str, list[object]]:
    seen = Seen(options)
    touch_memory(options.touch)
    start = Stopwatch()
    if options.file.endswith(".h5"):
        with h5py.File(options.file) as file:
            for name in file:
                seen.see(name, file[name][()])
        return start.passed(), seen.results()
    with numpy.load(options.file) as file:
        for name in file.files:
            seen.see(name, file[name])
    return start.passed(), seen.results()


def row(options: argparse.Namespace) -> tuple[str, list[object]]:
    [item] = layout.read_objects(options.file).values()
    data = numpy.memmap(options.file, numpy.float32, "r", item["components"]["data"]["offset"], tuple(item["shape"]))
    return "0", [data[options.row].tobytes()[:16].hex().upper()]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", metavar="EXTENSION")
    parser.add_argument("--touch", metavar="MB", type=int, default=0)
    commands = parser.add_subparsers(required=True)
    for function in (convert, stats, compare, toarray, to_float, load, row):
        command = commands.add_parser(function.__name__)
        command.set_defaults(function=function)
        if function in (convert, stats, to_float):
            command.add_argument("where", choices=("memory", "file"))
        command.add_argument("file")
        if function in (convert, stats):
            command.add_argument("dtype", choices=DTYPES)
        if function is convert:
            command.add_argument("to", choices=DTYPES)
        if function is compare:
            command.add_argument("other")
        if function is row:
            command.add_argument("row", type=int)
    return parser.parse_args()


def main() -> None:
    options = arguments()
    seconds, results = options.function(options)
    print("\t".join([seconds, *map(str, results)]))


if __name__ == "__main__":
    main()
