#!/usr/bin/python3
"""Measures how time and memory grow with the work, and prints one exponent of each per row.

    growth.py [--only PATTERN]... [--samples N]

A row does the same work 1, 10 and 100 times as large. The exponent of n is the slope between the least and the largest in
logarithms: 1 where 100 times the work takes 100 times as long. Time is that of the processors, of all threads, which other work on
the machine disturbs less; of several samples the least counts. Memory is the peak of the process beyond that of one that only loads
the extension, and 1 MB at least, so that small differences are not taken for growth. Where time is above the bound, valgrind counts
the instructions of 1 and 10 times the work: if these are within it, the processor's caches are the reason, and the row says so
(caches). Else a row above the bound is marked (NO). The exit status stays 0; a row that could not be measured fails (1).
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from bench import print_table
from harness import BUILT, MEGABYTE, WORK, BenchError, build, copy_build, host, is_newer, program, run, use
from listing import tree

TIMES = (1, 10, 100)
BOUND = 1.05
LEAST_MEMORY = 1.0  # MB


class Work:
    """A statement and its TEXT arguments. A database that it fills is a new one each time."""

    def __init__(self, *arguments: object, database: Path | None = None) -> None:
        self.arguments, self.database = arguments, database

    def command(self, scenario: str) -> list[object]:
        """Of the host: see host.c."""
        if self.database:
            for end in ("", "-journal", "-wal"):
                Path(f"{self.database}{end}").unlink(missing_ok=True)
        return [host(), *(["--db", self.database] if self.database else []), "--ext", build().extension, scenario, *self.arguments]

    def seconds(self) -> float:
        reading = program(*self.command("once"))()
        return reading.cpu or reading.value

    def peak(self) -> float:
        return program(*self.command("peak"))().value

    def instructions(self) -> float:
        """Those that valgrind counts, from the process's start to its end."""
        log = WORK / "growth.counts"
        run("valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={log}", *self.command("once"))
        [line] = [line for line in log.read_text().splitlines() if line.startswith(("summary:", "totals:"))][-1:]
        return float(line.split()[1])


# ---- workloads ----


def components(n: int) -> str:
    """A safetensors file of n tensors of one byte, t0000000 to t0999999, whose data are a hole."""
    path = WORK / f"growth-{n}.safetensors"
    if not is_newer(path, Path(__file__)):
        entries = {f"t{i:07}": {"dtype": "U8", "shape": [1], "data_offsets": [i, i + 1]} for i in range(n)}
        write_hole(path, entries, n)
    return path.name


def bytes_of(n: int) -> str:
    """A safetensors file of one tensor of n bytes, a hole."""
    path = WORK / f"growth-bytes-{n}.safetensors"
    if not is_newer(path, Path(__file__)):
        write_hole(path, {"w": {"dtype": "U8", "shape": [n], "data_offsets": [0, n]}}, n)
    return path.name


def write_hole(path: Path, entries: dict[str, object], n: int) -> None:
    header = json.dumps(entries, separators=(",", ":")).encode()
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + n)


def files(times: int) -> str:
    """A pattern of 100 files of the tree for each time."""
    tree()
    return {1: "tree/run-00/*.zt", 10: "tree/run-0?/*.zt", 100: "tree/*/*.zt"}[times]


# ---- rows ----

TOTALS = "SELECT count(*), sum(length) FROM zt_components(?1)"


def list_components(times: int) -> Work:
    return Work(TOTALS, components(7_500 * times))


def list_files(times: int) -> Work:
    return Work(TOTALS, files(times))


def hash_bytes(times: int) -> Work:
    return Work("SELECT zt_hash(?1, 'w', 'sha256')", bytes_of(10 * MEGABYTE * times))


def statistics_of_bytes(times: int) -> Work:
    return Work("SELECT min, max FROM zt_stats(?1)", bytes_of(10 * MEGABYTE * times))


def check_bytes(times: int) -> Work:
    return Work("SELECT count(*) FROM zt_check(?1, 'full')", bytes_of(10 * MEGABYTE * times))


def joined(kind: str, times: int) -> Work:
    sql = f"SELECT count(*), sum(b.elements) FROM zt_objects(?1) a {kind} zt_objects(?1) b USING (object)"
    return Work(sql, components(7_500 * times))


def looked_up(times: int) -> Work:
    """As many names as a file has tensors, in no order."""
    n = 7_500 * times
    sql = (f"WITH RECURSIVE i(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM i WHERE i+1 < {n})"
           f" SELECT count(*), sum(length(dtype)) FROM i JOIN zt_objects(?1) ON object = printf('t%07d', i*7919 % {n})")
    return Work(sql, components(n))


def lateral(times: int) -> Work:
    """The paths of a table, each the source of a table."""
    sql = "WITH p AS MATERIALIZED (SELECT path FROM zt_files(?1)) SELECT count(*), sum(length) FROM p, zt_components(p.path)"
    return Work(sql, files(times))


def refreshed(times: int) -> Work:
    """The first refresh of a catalog, which is a file."""
    database = build().place / "growth.db"
    script = "\n".join((build().scripts / name).read_text() for name in ("catalog.sql", "refresh.sql"))
    script += "\nSELECT count(*), sum(objects) FROM files;"
    return Work(script, files(times), database=database)


@dataclass
class Row:
    name: str
    work: str  # at one time
    what: str
    prepare: Callable[[int], Work]


ROWS = [
    Row("components", "7,500 components of a manifest", "count(*), sum(length)", list_components),
    Row("files", "100 files of 100 objects", "count(*), sum(length)", list_files),
    Row("digest", "10 MB of a tensor", "zt_hash sha256", hash_bytes),
    Row("stats", "10 MB of a tensor", "zt_stats", statistics_of_bytes),
    Row("check", "10 MB of a tensor", "zt_check, full", check_bytes),
    Row("join", "7,500 rows with 7,500", "JOIN USING (object)", lambda times: joined("JOIN", times)),
    Row("left-join", "7,500 rows with 7,500", "LEFT JOIN USING (object)", lambda times: joined("LEFT JOIN", times)),
    Row("look-up", "7,500 names of 7,500", "object =", looked_up),
    Row("lateral", "100 paths", "JOIN zt_components(path)", lateral),
    Row("catalog", "100 files of 100 objects", "catalog.sql, refresh.sql", refreshed),
]

HEADER = ["row", "at 1", "what", "ms", "MB", "time", "memory", "instructions", "bound", "within", "n"]


def exponent(values: list[float]) -> float:
    return math.log(values[-1] / values[0]) / math.log(TIMES[-1] / TIMES[0])


def measure_row(row: Row, samples: int) -> list[str]:
    works = [row.prepare(times) for times in TIMES]
    loaded = Work().peak()
    seconds = [min([work.seconds() for _ in range(samples + 1)][1:]) for work in works]  # the first is the warm-up
    memory = [max((work.peak() - loaded) / MEGABYTE, LEAST_MEMORY) for work in works]
    slopes = exponent(seconds), exponent(memory)
    within, counted = "yes" if max(slopes) <= BOUND else "NO", ""
    if slopes[0] > BOUND:
        slope = math.log10(works[1].instructions() / works[0].instructions())
        counted = f"{slope:.2f}"
        within = "caches" if max(slope, slopes[1]) <= BOUND else within
    shown = [" ".join(f"{value:.3g}" for value in values) for values in ([s * 1e3 for s in seconds], memory)]
    return [row.name, row.work, row.what, *shown, *(f"{slope:.2f}" for slope in slopes), counted, f"{BOUND:.2f}", within, str(samples)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="PATTERN", action="append", help="measure only these rows")
    parser.add_argument("--samples", metavar="N", type=int, default=5, help="samples of each size (default 5)")
    options = parser.parse_args()
    patterns = options.only or ["*"]
    if not BUILT.exists():
        sys.exit(f"{BUILT.name} is missing: run make")
    use(copy_build(BUILT, WORK))
    shown, failures = [], []
    for row in ROWS:
        if any(fnmatch.fnmatch(row.name, pattern) for pattern in patterns):
            try:
                shown.append(measure_row(row, max(options.samples, 1)))
            except BenchError as error:
                failures.append(f"{row.name}: could not be measured: {error}")
    print("Processor time and peak memory at 1, 10 and 100 times the work, and their exponents.")
    print_table(HEADER, shown)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
