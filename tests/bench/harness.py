"""How the benchmark runs programs and measures them: bench.py prints the table, listing.py, values.py and auditing.py
say what is measured.

Memory that a measurement uses much of is touched first (`touch`): allocated, written and freed again, on either side,
before its clock starts. A virtual machine gives memory that lay idle for seconds back to its host, and the first touch
after that takes ten times as long as otherwise, whoever is the one to pay for it. For a like reason big files are read
afresh before they are measured (`read_afresh`): what the page cache holds of a file that lay idle for minutes may be in
pieces, from which reading takes three times as long.
"""

from __future__ import annotations

import math
import os
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Sequence

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "bench"
BUILT = ROOT / ("ztensor.dylib" if sys.platform == "darwin" else "ztensor.so")
EXTENSION = WORK / BUILT.name  # a copy: one run measures one build, whatever make does meanwhile
CFLAGS = "-std=c11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion".split()
MEGABYTE = 1_000_000


class BenchError(Exception):
    """A measurement that cannot be made."""


def run(*command: object, text: str = "") -> str:
    """Runs a program in the work directory, so that paths in the workloads' rows are short, and returns its output.
    text is its input."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=WORK, input=text, capture_output=True, text=True, check=False)
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
    return c_program("host", "-lsqlite3", "-lpthread")


def rust_program(directory: str, name: str) -> Path:
    """Cargo itself knows whether there is anything to build."""
    target = WORK / directory
    run("cargo", "build", "--quiet", "--release", "--locked", "--manifest-path", HERE / directory / "Cargo.toml",
        "--target-dir", target)
    return target / "release" / name


def library() -> Path:
    """The program that uses the format's own Rust library."""
    return rust_program("rust", "library")


def library2() -> Path:
    """The one that uses the library of zTensor 2."""
    return rust_program("rust2", "library2")


def venv() -> Path:
    """The virtual environment of the baselines and generators in Python."""
    environment, stamp, wanted = WORK / "venv", WORK / "venv.stamp", HERE / "requirements.txt"
    if not is_newer(stamp, wanted):
        print("installing Python packages ...", file=sys.stderr)
        shutil.rmtree(environment, ignore_errors=True)
        run(sys.executable, "-m", "venv", environment)
        run(environment / "bin" / "pip", "-q", "--disable-pip-version-check", "install", "--only-binary", ":all:",
            "-r", wanted)
        stamp.touch()
    return environment


def python(script: str) -> list[Path]:
    """The command that runs a script of this directory with these packages."""
    return [venv() / "bin" / "python", HERE / script]


# ---- workloads ----


def generate(kind: str, sources: list[Path], command: list[Path], *names: str) -> None:
    """Has a command write the workload's files, and a stamp once they are whole."""
    stamp = WORK / f"{kind}.stamp"
    if is_newer(stamp, *sources):
        return
    for name in names:
        if (WORK / name).is_dir():
            shutil.rmtree(WORK / name)
    print(f"writing workload {kind} ...", file=sys.stderr)
    run(*command, kind, *names)
    os.sync()  # or the pages would be written out while something is measured
    stamp.touch()


def read_afresh(name: str) -> str:
    """Has the page cache drop a workload's file and read it again."""
    with open(WORK / name, "rb", buffering=0) as file:
        if hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        while file.read(MEGABYTE):
            pass
    return name


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


CLOCK = "SELECT printf('%.3f', (julianday('now') - 2440587.5)*86400.0);"


def shell(database: Path, commands: list[str], before: Sequence[str] = (), after: Sequence[str] = ()) -> Sample:
    """Commands for SQLite's shell, whose clock knows milliseconds. It does not run for those before and after them;
    what the latter print are the results."""
    silent = ".output /dev/null"
    script = "\n".join([silent, *before, ".output", CLOCK, silent, *commands, ".output", CLOCK, *after])

    def sample() -> tuple[float, list[str]]:
        lines = run("sqlite3", "-batch", "-bail", "-list", "-noheader", database, text=script).splitlines()
        start, end, *results = lines
        return float(end) - float(start), [field for line in results for field in line.split("|")]

    return sample


def added_memory(*query: object) -> Sample:
    """The peak memory of a process that runs a query, beyond that of one that only loads the extension."""
    loaded, queried = ours("peak"), ours("peak", *query)

    def sample() -> tuple[float, list[str]]:
        before, _ = loaded()
        peak, results = queried()
        return peak - before, results

    return sample


def limit(value: float, *results: object) -> Sample:
    """In place of an alternative: what it may be, and the results that are expected."""
    return lambda: (value, [str(result) for result in results])


def expecting(sample: Sample, *results: object) -> Sample:
    """For sides that find different things: each must find what it is expected to."""
    expected = [str(result) for result in results]

    def checked() -> tuple[float, list[str]]:
        value, found = sample()
        if found != expected:
            raise BenchError(f"found {found}, not {expected}")
        return value, []

    return checked


def slowest(*samples: Sample) -> Sample:
    def sample() -> tuple[float, list[str]]:
        values, results = zip(*(each() for each in samples))
        return max(values), [text for each in results for text in each]

    return sample


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
    typical: Callable[[list[float]], float] = statistics.median  # of several samples
    once: bool = False  # one sample without a warm-up, of what takes very long


UNITS = {"ms": 1e3, "us": 1e6, "MB": 1 / MEGABYTE}


def is_real(text: str) -> bool:
    return "." in text or "e" in text.lower()


def same(mine: list[str], theirs: list[str]) -> bool:
    """Reals may differ as much as numpy's sums do; everything else is equal."""
    if len(mine) != len(theirs):
        return False
    for a, b in zip(mine, theirs):
        try:
            if a != b and not (is_real(a) and math.isclose(float(a), float(b), rel_tol=1e-4, abs_tol=1e-6)):
                return False
        except ValueError:
            return False
    return True


def measure(item: Measurement, samples: int, verbose: bool) -> list[str]:
    """The item's row of the table."""
    sides = item.prepare()
    values: tuple[list[float], list[float]] = ([], [])
    for i in range(1 if item.once else samples + 1):
        found = [side() for side in sides]
        if not same(found[0][1], found[1][1]):
            raise BenchError(f"results differ: ours {found[0][1]}, theirs {found[1][1]}")
        if i > 0 or item.once:  # the first is the warm-up
            for series, (value, _) in zip(values, found):
                series.append(value * UNITS[item.unit])
    if verbose:
        for side, series in zip(("ours", "theirs"), values):
            print(f"{item.name} {side}: " + " ".join(f"{value:.4g}" for value in series), file=sys.stderr)
    mine, theirs = (item.typical(series) for series in values)
    ratio = mine / theirs
    verdict = "" if item.bound is None else "yes" if ratio <= item.bound else "NO"
    return [item.workload, item.what, item.alternative, item.unit, f"{mine:.4g}", f"{theirs:.4g}", f"{ratio:.3f}",
            "" if item.bound is None else f"{item.bound:.2f}", verdict]
