"""Measurements of the command ztensor-sql, whole processes from their start to their end."""

from __future__ import annotations

import os
import time
from pathlib import Path

from harness import HERE, Measurement, Reading, Sample, allowed, build, children_cpu, lazily, run, venv
from listing import tree

PACKAGE = HERE.parent.parent / "ext" / "packages" / "python" / "src"


def whole(*command: object) -> Sample:
    """A program; its result is how many lines it prints."""

    def sample() -> Reading:
        used, start = children_cpu(), time.perf_counter()
        lines = run(*command).count("\n")
        return Reading(time.perf_counter() - start, children_cpu() - used, [str(lines)])

    return sample


def ls(source: str) -> Sample:
    """The command of this source tree, with the library that make built there."""
    def words() -> list[object]:
        python: Path = venv("command", "command-requirements.txt") / "bin" / "python"
        return ["env", f"PYTHONPATH={PACKAGE}", "PYTHONDONTWRITEBYTECODE=1", python, "-m", "ztensor_sqlite", "ls", source]

    return lazily(lambda: whole(*words()))


def ls_one() -> tuple[Sample, Sample]:
    tree()
    return ls("tree/run-00/step-00000.zt"), allowed(0.15, 101)


def ls_many() -> tuple[Sample, Sample]:
    tree()
    query = "SELECT path, count(*), sum(stored_bytes), sum(elements) FROM zt_objects('tree') GROUP BY path"
    return ls("tree"), whole("sqlite3", "-header", ":memory:", f".load {build().extension.with_suffix('')}", query)


MEASUREMENTS = [
    Measurement("command-ls-one", "1 file of 100 objects", "ztensor-sql ls", "150 ms", "ms", 1.0, ls_one),
    Measurement("command-ls", "10,000 files of 100 objects", "ztensor-sql ls", "that query in the sqlite3 shell", "ms", 1.5, ls_many),
]
