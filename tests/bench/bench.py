#!/usr/bin/python3
"""Measures the extension against its alternatives and prints one table of ratios, and one of limits.

    bench.py [--only PATTERN]... [--samples N] [--quick] [--fresh] [--verbose]
    bench.py --against OTHER ...

Builds its programs and workloads below build/bench/ and keeps them for the next run. A measurement
takes a warm-up and then N samples of either side in turn, each in a fresh process; its ratio is
that of the medians. Both sides time themselves, from before they open the file until they have the
result, and print what they found: where the results differ, there is no ratio. A missed bound does
not fail the run (exit status 0), a measurement that could not be made does (1).

The ratio, which the bound is about, is of seconds that passed; "cpu" is that of the processors'
seconds, of all threads together, which other work on the machine disturbs less. A program that
takes longer than --cut is ended: the ratio is then more, or less, than what is shown. "n" says how
many samples were taken: fewer than N where they take long.

The second table has, for each task, the work that no program can avoid on this machine (limits.py),
measured in turn with the two sides. Above 1.3 times that, it gives the reason.

--against measures no alternative but two builds: what the table has as ours, by this build and by
OTHER, a ztensor.so or the clone in which it was built, whose scripts in sql/ are then taken, too. A
ratio is that of two samples, one taken after the other; the least, the median and the most of them
are shown. A build is worse (NO) where both kinds of seconds say so; "?" is where only one does.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import platform
import shutil
import sys
from pathlib import Path
from typing import Callable

import auditing
import command
import joins
import limits
import listing
import remote
import table
import threads
import values
import written
from harness import (BUILT, COMPARED, HEADER, LIMITED, PLAN, WORK, BenchError, Build, Measurement, Rows, compare,
                     copy_build, measure, use)

MEASUREMENTS = [*listing.MEASUREMENTS, *joins.MEASUREMENTS, *values.MEASUREMENTS,
                *auditing.MEASUREMENTS, *command.MEASUREMENTS, *threads.MEASUREMENTS,
                *written.MEASUREMENTS, *remote.MEASUREMENTS]

NUMBERS = {"ours", "theirs", "least", "times", "ratio", "new", "old", "median", "most", "bound", "cpu", "n"}


def print_table(header: list[str], rows: list[list[str]]) -> None:
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, ["-" * width for width in widths], *rows]:
        cells = [cell.rjust(width) if title in NUMBERS else cell.ljust(width)
                 for title, cell, width in zip(header, row, widths)]
        print("| " + " | ".join(cells) + " |")


def arguments() -> argparse.Namespace:
    names = ", ".join(item.name for item in MEASUREMENTS)
    parser = argparse.ArgumentParser(description=__doc__, epilog=f"Measurements: {names}.",
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--only", metavar="PATTERN", action="append",
        help="measure only these, e.g. 'million' or '*-rust'; may be given several times")
    add("--against", metavar="OTHER", type=Path, help="measure this build against another one")
    add("--samples", metavar="N", type=int,
        help=f"samples of either side (default {PLAN.samples})")
    add("--cut", metavar="SECONDS", type=float,
        help=f"end a program after so long (default {PLAN.cut:g})")
    add("--budget", metavar="SECONDS", type=float,
        help=f"take fewer samples where N would take longer (default {PLAN.budget:g})")
    add("--quick", action="store_true", help="like --samples 3 --cut 20 --budget 15")
    add("--fresh", action="store_true", help="build programs and workloads anew")
    add("--verbose", action="store_true", help="print every sample to stderr")
    options = parser.parse_args()
    if options.samples is not None and options.samples < 1:
        parser.error("at least one sample is needed")
    return options


def set_plan(options: argparse.Namespace) -> None:
    if options.quick:
        PLAN.samples, PLAN.cut, PLAN.budget = 3, 20.0, 15.0
    for name in ("samples", "cut", "budget"):
        if getattr(options, name) is not None:
            setattr(PLAN, name, getattr(options, name))


def chosen_measurements(patterns: list[str] | None) -> list[Measurement]:
    wanted = [f"*{pattern}*" for pattern in patterns or ["*"]]
    chosen = [item for item in MEASUREMENTS
              if any(fnmatch.fnmatch(item.name, pattern) for pattern in wanted)]
    if not chosen:
        sys.exit(f"no measurement is named {patterns}")
    return chosen


def without_repetitions(items: list[Measurement]) -> list[Measurement]:
    """One of those that differ in the alternative alone."""
    different = {(item.workload, item.what): item for item in reversed(items)}
    return [item for item in items if item in different.values()]


def other_build(path: Path) -> Build:
    built = path / BUILT.name if path.is_dir() else path
    if not built.exists():
        sys.exit(f"{built} is missing")
    return copy_build(built, WORK / "against")


def measure_all(items: list[Measurement], rows_of: Callable[[Measurement], Rows],
                header: list[str]) -> int:
    """Measures, prints the tables, keeps them for the pages' (table.py) and returns the exit status."""
    rows, failures, ratios, limited = [], [], {}, {}
    for item in items:
        try:
            found = rows_of(item)
            rows.append(found.ratio)
            if header is HEADER:
                ratios[item.name] = found.ratio[HEADER.index("ratio")]
            if found.limit:
                limited[item.name] = found.limit
        except BenchError as error:
            failures.append(f"{item.name}: could not be measured: {error}")
            known = {"measurement": item.name, "workload": item.workload, "what": item.what,
                     "alternative": item.alternative, "unit": item.unit}
            rows.append([known.get(title, "-") for title in header])
    print(f"Medians of {PLAN.samples} samples, each from a fresh process; page cache warm; "
          f"{platform.machine()}, {os.cpu_count()} CPUs.")
    print_table(header, rows)
    if limited:
        print_table(LIMITED, list(limited.values()))
    if header is HEADER:
        table.save(PLAN.samples, ratios, limited)
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


def main() -> int:
    options = arguments()
    set_plan(options)
    chosen = chosen_measurements(options.only)
    if not BUILT.exists():
        sys.exit(f"{BUILT.name} is missing: run make")
    if options.fresh and WORK.exists():
        shutil.rmtree(WORK)
    mine = copy_build(BUILT, WORK)
    if options.against:
        other = other_build(options.against)
        return measure_all(without_repetitions(chosen),
                           lambda item: compare(item, mine, other, options.verbose), COMPARED)
    use(mine)
    return measure_all(chosen, lambda item: measure(item, limits.LIMITS.get(item.name), options.verbose), HEADER)


if __name__ == "__main__":
    sys.exit(main())
