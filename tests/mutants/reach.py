"""Which tests reach which lines of ext/: each C test program and each SQL test file alone, over sources built with gcov's counters."""
import collections
import json
import os
import pathlib
import subprocess
import time

BUILD = pathlib.Path("build/mutants/reach")
KEPT = pathlib.Path("build/mutants/reach.json")
PROGRAMS = sorted(p.stem for p in pathlib.Path("tests/unit").glob("test_*.c"))
NOBODY = 65534
FILES = sorted(str(p) for p in pathlib.Path("tests/sql").glob("test_*.py"))


# Without debug information, so that equal code makes equal objects. Without optimization, AVX's registers stay in use (test_avx).
OPTIONS = "-O1 -fno-lto"


def make(build, *targets, options=OPTIONS):
    command = ["make", "-s", f"-j{os.cpu_count()}", f"B={build}", f"OPT={options}", *targets]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def program(build, name):
    return f"{build}/unit/{name}"


def command(build, test):
    """The command of one test, and what its environment has besides."""
    if test in PROGRAMS:
        return [program(build, test)], {}
    python = os.environ.get("PYTHON", "/usr/bin/python3")
    return [python, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", test], {"ZTENSOR": str(pathlib.Path(build, "ztensor.so").resolve())}


def _lines(directory):
    """The lines that one run reached, by source file, from the counters below a directory."""
    here = os.getcwd()
    counters = [p for p in pathlib.Path(directory).rglob("*.gcda") if "/ext/" in str(p) or "/loaded/" in str(p)]
    for counter in counters:
        notes = pathlib.Path("/", counter.relative_to(directory)).with_suffix(".gcno")
        counter.with_suffix(".gcno").symlink_to(notes)
    found = collections.defaultdict(set)
    for i in range(0, len(counters), 100):
        said = subprocess.run(["gcov", "--json-format", "--stdout", *map(str, counters[i:i + 100])], capture_output=True, check=True, cwd=here)
        for document in said.stdout.splitlines():
            for file in json.loads(document)["files"]:
                if file["file"].startswith("ext/"):
                    found[file["file"]].update(line["line_number"] for line in file["lines"] if line["count"])
    return {file: sorted(lines) for file, lines in found.items()}


def measure():
    """{test: {"seconds": s, "reached": {file: [lines]}}} of all tests. It is kept for the commit: the next call reads it."""
    commit = subprocess.run(["git", "rev-parse", "HEAD:ext", "HEAD:tests"], capture_output=True, text=True, check=True).stdout
    if KEPT.exists():
        kept = json.loads(KEPT.read_text())
        if kept["commit"] == commit:
            return kept["tests"]
    os.umask(0o002)
    make(BUILD, f"{BUILD}/ztensor.so", *(program(BUILD, name) for name in PROGRAMS), options=f"{OPTIONS} --coverage")
    tests = {}
    for test in PROGRAMS + FILES:
        counters = (BUILD / "counters" / pathlib.Path(test).stem).resolve()
        run, environment = command(BUILD, test)
        counters.mkdir(parents=True, exist_ok=True)
        if os.geteuid() == 0:    # Some tests read as another user, whose group must be able to add to the counters
            os.chown(counters, -1, NOBODY)
            counters.chmod(0o2775)
        begun = time.monotonic()
        done = subprocess.run(run, env={**os.environ, **environment, "GCOV_PREFIX": str(counters)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if done.returncode:
            raise SystemExit(f"{test} fails before anything is changed")
        tests[test] = {"seconds": time.monotonic() - begun, "reached": _lines(counters)}
        subprocess.run(["rm", "-rf", counters], check=True)
    for kind in (PROGRAMS, FILES):
        if not any(tests[test]["reached"] for test in kind):
            raise SystemExit(f"none of {len(kind)} tests reaches a line, {kind[0]} among them")
    print(f"reach: {len(tests)} tests, {sum(test['seconds'] for test in tests.values()):.0f} s")
    KEPT.write_text(json.dumps({"commit": commit, "tests": tests}))
    return tests
