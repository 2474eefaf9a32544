"""How the benchmark runs programs and measures them: bench.py prints the tables, listing.py,
joins.py, values.py, auditing.py and threads.py say what is measured, and limits.py what no program can avoid.

Memory that a measurement uses much of is touched first (`touch`): allocated, written and freed again, on either side,
before its clock starts. A virtual machine gives memory that lay idle for seconds back to its host, and the first touch
after that takes ten times as long as otherwise, whoever is the one to pay for it. For a like reason big files are read
afresh before they are measured (`read_afresh`): what the page cache holds of a file that lay idle for minutes may be in
pieces, from which reading takes three times as long.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Callable, Iterator, NamedTuple, Sequence

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build" / "bench"
BUILT = ROOT / ("ztensor.dylib" if sys.platform == "darwin" else "ztensor.so")
CFLAGS = "-std=c11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion".split()
MEGABYTE = 1_000_000


class BenchError(Exception):
    """A measurement that cannot be made."""


class CutError(BenchError):
    """A program was ended because it took too long."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"takes longer than {seconds:g} s")
        self.seconds = seconds


@dataclass
class Plan:
    """How much is measured."""

    samples: int = 7  # of either side
    cut: float = 120.0  # seconds after which a program is ended
    budget: float = 300.0  # seconds for a measurement, which takes as many samples as fit in


PLAN = Plan()
CUT: list[float | None] = [None]  # the seconds that a program may take; None: all it needs


@contextmanager
def cutting(seconds: float | None) -> Iterator[None]:
    before = CUT[0]
    CUT[0] = seconds
    try:
        yield
    finally:
        CUT[0] = before


def run(*command: object, text: str = "") -> str:
    """Runs a program in the work directory, so that paths in the workloads' rows are short, and returns its output.
    text is its input."""
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, cwd=WORK, input=text, capture_output=True, text=True,
                              check=False, timeout=CUT[0])
    except subprocess.TimeoutExpired as error:
        raise CutError(error.timeout) from error
    except OSError as error:
        raise BenchError(f"{words[0]}: {error.strerror}") from error
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
        raise BenchError(f"{Path(words[0]).name}: {lines[-1]}")
    return done.stdout


# ---- builds ----


@dataclass(frozen=True)
class Build:
    """The subject of a measurement. The extension is a copy: one run measures one build, whatever make does
    meanwhile."""

    extension: Path
    scripts: Path  # the sql/ that goes with it
    place: Path  # of databases whose content may depend on the build


def copy_build(built: Path, place: Path) -> Build:
    """The scripts lie beside what was built, as in any clone; ours serve where there are none."""
    place.mkdir(parents=True, exist_ok=True)
    extension, new = place / BUILT.name, place / f"{BUILT.name}.new"
    shutil.copy2(built, new)  # its time tells whether tables made with it are still good
    new.rename(extension)  # a process may still have the old one mapped
    scripts = built.resolve().parent / "sql"
    return Build(extension, scripts if scripts.is_dir() else ROOT / "sql", place)


CURRENT: list[Build] = []


def use(chosen: Build) -> None:
    """From here on measurements are prepared for this build."""
    CURRENT[:] = [chosen]


def build() -> Build:
    return CURRENT[0]


# ---- programs ----


def is_newer(target: Path, *sources: Path) -> bool:
    return target.exists() and all(target.stat().st_mtime >= source.stat().st_mtime for source in sources)


def c_program(name: str, *libraries: str) -> Path:
    target = WORK / name
    sources = [HERE / f"{name}.c", HERE / "bench.h", HERE / "manifest.h"]
    if not is_newer(target, *sources):
        run(os.environ.get("CC", "cc"), *CFLAGS, sources[0], "-o", target, *libraries)
    return target


def c_library(name: str) -> Path:
    """A library that a program loads: an extension, or one that takes the place of some of the system's calls."""
    target = WORK / f"{name}.so"
    if not is_newer(target, HERE / f"{name}.c"):
        run(os.environ.get("CC", "cc"), *CFLAGS, "-shared", "-fPIC", HERE / f"{name}.c", "-o", target, "-ldl")
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


def venv(name: str = "venv", requirements: str = "requirements.txt") -> Path:
    """The virtual environment of the baselines and generators in Python."""
    environment, stamp, wanted = WORK / name, WORK / f"{name}.stamp", HERE / requirements
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


def system_python(script: str) -> list[Path]:
    """The same with the packages of the Python that runs this."""
    return [Path(sys.executable), HERE / script]


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


# ---- samples: functions that run one side once ----


class Reading(NamedTuple):
    value: float  # seconds or bytes
    cpu: float | None  # seconds of processors; None: nobody asked
    results: list[str]


Sample = Callable[[], Reading]


def program(*command: object) -> Sample:
    """A program that prints one line: its value, perhaps the processors' seconds after a space,
    then its results."""

    def sample() -> Reading:
        clock, *results = run(*command).rstrip("\n").split("\t")
        value, *cpu = map(float, clock.split())
        return Reading(value, cpu[0] if cpu else None, results)

    return sample


def ours(*scenario: object) -> Sample:
    return program(host(), "--ext", build().extension, *scenario)


def with_threads(n: int, sql: str) -> str:
    return f"SELECT zt_threads({n}); {sql}"


def touching(megabytes: int, sample: Sample) -> Sample:
    """For sides that do not touch memory themselves: a process before theirs does."""
    def touched() -> Reading:
        run(host(), "--touch", megabytes, "exec", "SELECT 1")
        return sample()

    return touched


def lazily(make: Callable[[], Sample]) -> Sample:
    """A side whose preparation takes long and may not be needed: a comparison of two builds asks
    for ours alone."""
    made = cache(make)

    def sample() -> Reading:
        with cutting(None):
            side = made()
        return side()

    return sample


def children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


CLOCK = "SELECT printf('%.3f', (julianday('now') - 2440587.5)*86400.0);"


def shell(database: Path, commands: list[str], before: Sequence[str] = (), after: Sequence[str] = ()) -> Sample:
    """Commands for SQLite's shell, whose clock knows milliseconds. It does not run for those before
    and after them; what the latter print are the results. The processors' seconds are those of the
    whole process."""
    silent = ".output /dev/null"
    script = "\n".join([silent, *before, ".output", CLOCK, silent, *commands, ".output", CLOCK, *after])

    def sample() -> Reading:
        before_it = children_cpu()
        output = run("sqlite3", "-batch", "-bail", "-list", "-noheader", database, text=script)
        start, end, *results = output.splitlines()
        return Reading(float(end) - float(start), children_cpu() - before_it,
                       [value for line in results for value in line.split("|")])

    return sample


def added_memory(*query: object) -> Sample:
    """The peak memory of a process that runs a query, beyond that of one that only loads the extension."""
    loaded, queried = ours("peak"), ours("peak", *query)

    def sample() -> Reading:
        peak = queried()
        return Reading(peak.value - loaded().value, None, peak.results)

    return sample


def allowed(value: float, *results: object) -> Sample:
    """In place of an alternative: what it may be, and the results that are expected."""
    return lambda: Reading(value, None, [str(result) for result in results])


def expecting(sample: Sample, *results: object) -> Sample:
    """For sides that find different things: each must find what it is expected to."""
    expected = [str(result) for result in results]

    def checked() -> Reading:
        found = sample()
        if found.results != expected:
            raise BenchError(f"found {found.results}, not {expected}")
        return found._replace(results=[])

    return checked


def slowest(*samples: Sample) -> Sample:
    def sample() -> Reading:
        found = [each() for each in samples]
        return Reading(max(each.value for each in found), None,
                       [text for each in found for text in each.results])

    return sample


def added(*samples: Sample) -> Sample:
    """One after the other."""
    def sample() -> Reading:
        found = [each() for each in samples]
        cpus = [each.cpu for each in found]
        return Reading(sum(each.value for each in found), None if None in cpus else sum(cpus), [])

    return sample


def per_item(sample: Sample) -> Sample:
    """Divides the seconds by the number of items, which is the first result."""

    def divided() -> Reading:
        found = sample()
        return found._replace(value=found.value / int(found.results[0]))

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


@dataclass
class Limit:
    """The work that no program can avoid on this machine, where a measurement has its name."""

    what: str
    prepare: Callable[[], Sample] | None  # None: that is what the alternative does
    reason: str = ""  # why ours takes more than NEAR times as long


NEAR = 1.3
UNITS = {"ms": 1e3, "us": 1e6, "MB": 1 / MEGABYTE, "requests": 1.0}


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


@dataclass
class Series:
    """The result of one side."""

    readings: list[Reading] = field(default_factory=list)  # those that count
    cut: float | None = None  # seconds after which it was ended; then there are no readings

    def values(self, unit: str) -> list[float]:
        return [reading.value * UNITS[unit] for reading in self.readings]

    def cpus(self) -> list[float]:
        """Empty if they are not known of each, or too few for the clock."""
        found = [reading.cpu or 0.0 for reading in self.readings]
        return found if all(cpu > 0 for cpu in found) else []

    def take(self, side: Sample) -> None:
        if self.cut is None:
            try:
                self.readings.append(side())
            except CutError as error:
                self.cut, self.readings = error.seconds, []


def take_samples(item: Measurement, sides: Sequence[Sample]) -> list[Series]:
    """Samples of the sides in turn, one and then the other first. The first of each is the warm-up,
    which counts only where the budget allows no other."""
    series = [Series() for _ in sides]
    start = time.monotonic()
    for turn in range(PLAN.samples + 1):
        pairs = list(zip(series, sides))
        with cutting(PLAN.cut):
            for one, side in pairs if turn % 2 == 0 else reversed(pairs):
                one.take(side)
        if all(one.cut for one in series):
            raise BenchError(f"either side takes longer than {PLAN.cut:g} s")
        found = [one.readings[-1].results for one in series[:2] if one.readings]  # a limit finds no more than it needs
        if not all(same(found[0], other) for other in found):
            raise BenchError(f"results differ: {found[0]}, {found[1]}")
        if item.once or time.monotonic() - start > PLAN.budget * (turn + 1) / (turn + 2):
            break
    for one in series:
        one.readings = one.readings[1:] or one.readings
    return series


def show_samples(item: Measurement, names: Sequence[str], series: Sequence[Series]) -> None:
    for name, one in zip(names, series):
        shown = " ".join(f"{value:.4g}" for value in one.values(item.unit))
        print(f"{item.name} {name}: {shown or 'cut'}", file=sys.stderr)


def typical_value(item: Measurement, series: Series) -> float | None:
    """Of what was cut it is only known that it is longer, and nothing where a sample is not the
    program's seconds."""
    if series.readings:
        return item.typical(series.values(item.unit))
    return series.cut * UNITS[item.unit] if series.cut and item.unit == "ms" else None


def show_value(item: Measurement, series: Series) -> str:
    value = typical_value(item, series)
    return "cut" if value is None else ("> " if series.cut else "") + f"{value:.4g}"


def show_ratio(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 100 else f"{ratio:.0f}"


def ratio_of(item: Measurement, mine: Series, theirs: Series) -> tuple[float, str]:
    """The ratio and how it is shown: it is more than that where our side was cut, and less where
    the other was."""
    a, b = typical_value(item, mine), typical_value(item, theirs)
    if a is None or b is None:
        return (math.inf, "-") if mine.cut else (0.0, "-")
    return a / b, ("> " if mine.cut else "< " if theirs.cut else "") + show_ratio(a / b)


def cpu_ratio(mine: Series, theirs: Series) -> str:
    a, b = mine.cpus(), theirs.cpus()
    return show_ratio(statistics.median(a) / statistics.median(b)) if a and b else ""


def count_samples(series: Sequence[Series]) -> str:
    return str(min(len(one.readings) for one in series if one.readings))


HEADER = ["workload", "what", "alternative", "unit", "ours", "theirs", "ratio", "bound", "within",
          "cpu", "n"]
LIMITED = ["workload", "what", "limit", "unit", "ours", "least", "times", "cpu", "reason"]


class Rows(NamedTuple):
    """What a measurement has in the tables."""

    ratio: list[str]
    limit: list[str] | None = None  # as LIMITED


def limit_row(item: Measurement, limit: Limit, mine: Series, least: Series) -> list[str]:
    ratio, shown = ratio_of(item, mine, least)
    return [item.workload, item.what, limit.what, item.unit, show_value(item, mine), show_value(item, least), shown,
            cpu_ratio(mine, least), (limit.reason or "?") if ratio > NEAR else ""]


def measure(item: Measurement, limit: Limit | None, verbose: bool) -> Rows:
    """The item's rows of the tables."""
    sides = item.prepare()
    if limit and limit.prepare:
        sides = (*sides, limit.prepare())
    series = take_samples(item, sides)
    if verbose:
        show_samples(item, ("ours", "theirs", "limit")[:len(series)], series)
    mine, theirs = series[:2]
    ratio, shown = ratio_of(item, mine, theirs)
    verdict = "" if item.bound is None else "yes" if ratio <= item.bound else "NO"
    return Rows([item.workload, item.what, item.alternative, item.unit, show_value(item, mine),
                 show_value(item, theirs), shown, "" if item.bound is None else f"{item.bound:.2f}",
                 verdict, cpu_ratio(mine, theirs), count_samples(series)],
                limit_row(item, limit, mine, series[-1]) if limit else None)


# ---- one build against another ----

COMPARED = ["measurement", "workload", "what", "unit", "new", "old", "least", "median", "most",
            "bound", "within", "cpu", "n"]
NO_WORSE = 1.05


def paired(mine: Sequence[float], theirs: Sequence[float]) -> list[float]:
    return [a / b for a, b in zip(mine, theirs)]


def compare(item: Measurement, new: Build, old: Build, verbose: bool) -> Rows:
    """A row about our side alone, made by two builds. Each sample of the one is compared with that
    of the other taken next to it, since both then met the same machine. A build is worse where its
    seconds and those of the processors say so; where only one of them does, that is a question."""
    sides = []
    for each in (new, old):
        use(each)
        sides.append(item.prepare()[0])
    series = take_samples(item, sides)
    if verbose:
        show_samples(item, ("new", "old"), series)
    mine, theirs = series
    ratio, shown = ratio_of(item, mine, theirs)
    least = most = ""
    ratios = paired(mine.values(item.unit), theirs.values(item.unit))
    if ratios:
        ratio = statistics.median(ratios)
        least, shown, most = (show_ratio(value) for value in (min(ratios), ratio, max(ratios)))
    cpus = paired(mine.cpus(), theirs.cpus())
    cpu = statistics.median(cpus) if cpus else ratio
    worse = [ratio > NO_WORSE, cpu > NO_WORSE]
    verdict = "NO" if all(worse) else "?" if any(worse) else "yes"
    return Rows([item.name, item.workload, item.what, item.unit, show_value(item, mine),
                 show_value(item, theirs), least, shown, most, f"{NO_WORSE:.2f}", verdict,
                 show_ratio(cpu) if cpus else "", count_samples(series)])
