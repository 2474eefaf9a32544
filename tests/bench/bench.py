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
import sys

import auditing
import listing
import values
from harness import BUILT, EXTENSION, WORK, BenchError, measure

MEASUREMENTS = [*listing.MEASUREMENTS, *values.MEASUREMENTS, *auditing.MEASUREMENTS]

HEADER = ["workload", "what", "alternative", "unit", "ours", "theirs", "ratio", "bound", "within"]


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
