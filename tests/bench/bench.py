#!/usr/bin/python3
"""Measures the extension against its alternatives and prints one table of ratios.

    bench.py [--only PATTERN] [--samples N] [--fresh] [--verbose]

Builds its programs and workloads below build/bench/ and keeps them for the next run. A measurement takes a warm-up
and then N samples of either side in turn, each in a fresh process; its ratio is that of the medians. Both sides time
themselves, from before they open the file until they have the result, and print what they found: where the results
differ, there is no ratio. A missed bound does not fail the run (exit status 0), a measurement that could not be made
does (1).
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import platform
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "bench"
BUILT = ROOT / ("ztensor.dylib" if sys.platform == "darwin" else "ztensor.so")
EXTENSION = WORK / BUILT.name  # a copy: one run measures one build, whatever make does meanwhile
CFLAGS = "-std=c11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion".split()
MEGABYTE = 1_000_000


class BenchError(Exception):
    """A measurement that cannot be made."""


def run(*command: object) -> str:
    """Runs a program in the work directory, so that paths in the workloads' rows are short, and returns its output."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=WORK, capture_output=True, text=True, check=False)
    except OSError as error:
        raise BenchError(f"{words[0]}: {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise BenchError(f"{Path(words[0]).name}: {lines[-1]}")
    return done.stdout


# ---- programs ----


def is_newer(target: Path, *sources: Path) -> bool:
    return target.exists() and all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def c_program(name: str, *libraries: str) -> Path:
    target = WORK / name
    sources = [HERE / f"{name}.c", HERE / "bench.h", HERE / "manifest.h"]
    if not is_newer(target, *sources):
        run(os.environ.get("CC", "cc"), *CFLAGS, sources[0], "-o", target, *libraries)
    return target


def host() -> Path:
    return c_program("host", "-lsqlite3")


def walk() -> Path:
    return c_program("walk")


def fetch() -> Path:
    return c_program("fetch", "-lzstd")


def rust_listing() -> Path:
    """Cargo itself knows whether there is anything to build."""
    target = WORK / "rust"
    run("cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", HERE / "rust" / "Cargo.toml",
        "--target-dir", target)
    return target / "release" / "listing"


# ---- workloads ----


def generate(kind: str, *names: str) -> None:
    """Has gen write the workload's files, and a stamp once they are whole."""
    program = c_program("gen", "-lzstd", "-lm")
    stamp = WORK / f"{kind}.stamp"
    if is_newer(stamp, program):
        return
    for name in names:
        if (WORK / name).is_dir():
            shutil.rmtree(WORK / name)
    print(f"writing workload {kind} ...", file=sys.stderr)
    run(program, kind, *names)
    os.sync()  # or the pages would be written out while something is measured
    stamp.touch()


def million() -> None:
    generate("million", "million.zt", "million.names")


def tree() -> None:
    generate("tree", "tree")


def blobs() -> None:
    generate("blobs", "raw.zt", "zstd.zt")


def native(index: bool) -> Path:
    """The million rows as a table of a database. The index gets a database of its own: where there is one, SQLite
    answers max(object) and count(*) from it, and the comparison would be with something else."""
    million()
    table, indexed = WORK / "million.db", WORK / "million-index.db"
    if not is_newer(table, WORK / "million.stamp", EXTENSION):
        print("importing workload million into SQLite ...", file=sys.stderr)
        new = WORK / "million.db.new"
        new.unlink(missing_ok=True)
        indexed.unlink(missing_ok=True)
        run(host(), "--db", new, "--ext", EXTENSION, "exec",
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


# ---- samples: functions that run one side once and return (value, results) ----

Sample = Callable[[], tuple[float, list[str]]]


def program(*command: object) -> Sample:
    """A program that prints one line: its value, then its results."""

    def sample() -> tuple[float, list[str]]:
        value, *results = run(*command).rstrip("\n").split("\t")
        return float(value), results

    return sample


def ours(*scenario: object) -> Sample:
    return program(host(), "--ext", EXTENSION, *scenario)


def native_table(*scenario: object, index: bool = False) -> Sample:
    return program(host(), "--db", native(index), *scenario)


def per_item(sample: Sample) -> Sample:
    """Divides the seconds by the number of items, which is the first result."""

    def divided() -> tuple[float, list[str]]:
        seconds, results = sample()
        return seconds / int(results[0]), results

    return divided


# ---- measurements ----


@dataclass
class Measurement:
    name: str  # what --only matches
    workload: str
    what: str
    alternative: str
    unit: str
    bound: float | None  # None: for orientation only
    prepare: Callable[[], tuple[Sample, Sample]]  # ours, theirs


UNITS = {"ms": 1e3, "us": 1e6, "MB": 1 / MEGABYTE}
TOTALS = "SELECT count(*), sum(length) FROM "
MAXIMUM = "SELECT max(object) FROM "
LENGTH = "SELECT length FROM "
ONE_QUERY = ["rows", "SELECT zt_blob(?1, object) FROM zt_objects(?1)"]
ONE_CALL_EACH = ["calls", "SELECT object FROM zt_objects(?1)", "SELECT zt_blob(?1, ?2)"]


def aggregate(scenario: str, select: str) -> tuple[Sample, Sample]:
    theirs = native_table(scenario, select + "components")
    return ours(scenario, select + "zt_components(?1)", "million.zt"), theirs


def lookup() -> tuple[Sample, Sample]:
    theirs = native_table("lookup", "million.names", LENGTH + "components WHERE object = ?1", index=True)
    mine = ours("lookup", "million.names", LENGTH + "zt_components(?1) WHERE object = ?2", "million.zt")
    return per_item(mine), per_item(theirs)


def memory() -> tuple[Sample, Sample]:
    """What the query needs beyond a process that only loads the extension, against what it may need."""
    million()
    loaded = ours("peak")
    queried = ours("peak", TOTALS + "zt_components(?1)", "million.zt")
    allowed = manifest_size(WORK / "million.zt") + 48 * MEGABYTE
    expected = program(walk(), "million.zt")()[1]

    def mine() -> tuple[float, list[str]]:
        before, _ = loaded()
        peak, results = queried()
        return peak - before, results

    return mine, lambda: (allowed, expected)


def listing(workload: Callable[[], None], path: str, other: Callable[[], Path]) -> tuple[Sample, Sample]:
    workload()
    theirs = program(other(), path)
    return ours("once", TOTALS + "zt_components(?1)", path), theirs


def extraction(path: str, *scenario: str) -> tuple[Sample, Sample]:
    """Before the clock matters, both sides must have handed out the same bytes."""
    blobs()
    kind, *sql = scenario
    theirs = program(fetch(), path)
    expected = program(fetch(), "--check", path)()[1]
    found = ours(kind, "--check", *sql, path)()[1]
    if found != expected:
        raise BenchError(f"zt_blob gives other bytes than the baseline: {found}, not {expected}")
    return ours(kind, *sql, path), theirs


MEASUREMENTS = [
    Measurement("million-native", "1 file, 1,000,000 components", "count(*), sum(length)", "native table", "ms", 2.0,
                lambda: aggregate("once", TOTALS)),
    Measurement("million-rust", "1 file, 1,000,000 components", "count(*), sum(length)", "Rust library", "ms", 0.10,
                lambda: listing(million, "million.zt", rust_listing)),
    Measurement("million-c", "1 file, 1,000,000 components", "count(*), sum(length)", "C walk", "ms", None,
                lambda: listing(million, "million.zt", walk)),
    Measurement("million-again", "1 file, 1,000,000 components", "asked again", "native table", "ms", 1.25,
                lambda: aggregate("again", TOTALS)),
    Measurement("million-max", "1 file, 1,000,000 components", "max(object)", "native table", "ms", 2.5,
                lambda: aggregate("once", MAXIMUM)),
    Measurement("million-memory", "1 file, 1,000,000 components", "peak memory", "manifest + 48 MB", "MB", 1.0,
                memory),
    Measurement("million-lookup", "1 file, 1,000,000 components", "one object by name", "native, indexed", "us", 3.0,
                lookup),
    Measurement("tree-c", "10,000 files of 100 objects", "count(*), sum(length)", "C walk", "ms", 1.8,
                lambda: listing(tree, "tree", walk)),
    Measurement("tree-rust", "10,000 files of 100 objects", "count(*), sum(length)", "Rust library", "ms", 0.22,
                lambda: listing(tree, "tree", rust_listing)),
    Measurement("blob-raw", "64 tensors of 16 MiB, raw", "zt_blob, one query", "pread", "ms", 1.25,
                lambda: extraction("raw.zt", *ONE_QUERY)),
    Measurement("blob-raw-calls", "64 tensors of 16 MiB, raw", "zt_blob, a call each", "pread", "ms", 1.25,
                lambda: extraction("raw.zt", *ONE_CALL_EACH)),
    Measurement("blob-zstd", "64 tensors of 16 MiB, zstd", "zt_blob, one query", "ZSTD_decompress", "ms", 1.08,
                lambda: extraction("zstd.zt", *ONE_QUERY)),
]

HEADER = ["workload", "what", "alternative", "unit", "ours", "theirs", "ratio", "bound", "within"]


def measure(item: Measurement, samples: int, verbose: bool) -> list[str]:
    """The item's row of the table."""
    sides = item.prepare()
    values: tuple[list[float], list[float]] = ([], [])
    for i in range(samples + 1):
        found = [side() for side in sides]
        if found[0][1] != found[1][1]:
            raise BenchError(f"results differ: ours {found[0][1]}, theirs {found[1][1]}")
        if i > 0:  # the first is the warm-up
            for series, (value, _) in zip(values, found):
                series.append(value * UNITS[item.unit])
    if verbose:
        for side, series in zip(("ours", "theirs"), values):
            print(f"{item.name} {side}: " + " ".join(f"{value:.4g}" for value in series), file=sys.stderr)
    mine, theirs = (statistics.median(series) for series in values)
    ratio = mine / theirs
    verdict = "" if item.bound is None else "yes" if ratio <= item.bound else "NO"
    return [item.workload, item.what, item.alternative, item.unit, f"{mine:.4g}", f"{theirs:.4g}", f"{ratio:.3f}",
            "" if item.bound is None else f"{item.bound:.2f}", verdict]


def print_table(rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [HEADER, *rows]) for i in range(len(HEADER))]
    for row in [HEADER, ["-" * width for width in widths], *rows]:
        cells = [cell.rjust(w) if 4 <= i <= 7 else cell.ljust(w) for i, (cell, w) in enumerate(zip(row, widths))]
        print("| " + " | ".join(cells) + " |")


def arguments() -> argparse.Namespace:
    names = ", ".join(item.name for item in MEASUREMENTS)
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"Measurements: {names}.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", default="*", help="measure only these, e.g. 'million' or '*-rust'")
    parser.add_argument("--samples", metavar="N", type=int, default=7, help="samples of either side (default 7)")
    parser.add_argument("--fresh", action="store_true", help="build programs and workloads anew")
    parser.add_argument("--verbose", action="store_true", help="print every sample to stderr")
    options = parser.parse_args()
    if options.samples < 1:
        parser.error("at least one sample is needed")
    return options


def main() -> int:
    options = arguments()
    chosen = [item for item in MEASUREMENTS if fnmatch.fnmatch(item.name, f"*{options.only}*")]
    if not chosen:
        sys.exit(f"no measurement is named {options.only!r}")
    if not BUILT.exists():
        sys.exit(f"{BUILT.name} is missing: run make")
    if options.fresh and WORK.exists():
        shutil.rmtree(WORK)
    WORK.mkdir(parents=True, exist_ok=True)
    shutil.copy2(BUILT, EXTENSION)  # with its time, which tells whether tables made with it are still good
    rows, failures = [], []
    for item in chosen:
        try:
            rows.append(measure(item, options.samples, options.verbose))
        except BenchError as error:
            failures.append(f"{item.name}: could not be measured: {error}")
            rows.append([item.workload, item.what, item.alternative, item.unit, "-", "-", "-", "-", "-"])
    print(f"Medians of {options.samples} samples, each from a fresh process; page cache warm; {platform.machine()}, "
          f"{os.cpu_count()} CPUs.")
    print_table(rows)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
