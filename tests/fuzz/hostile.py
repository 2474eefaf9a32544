"""The cost of each hostile file: python3 hostile.py TARGET

TARGET, a fuzz_diff that replays files, reads it through its path and as a BLOB with every table and function. Each file has
a process of its own; one that fails, takes more than 20 times the processor time of the median file or more than 128 MiB, is
told. Seconds would be a bound on the machine. Memory that the sanitizer keeps after it was freed is not counted.
"""
import os
import statistics
import subprocess
import sys
from pathlib import Path

MOST_TIMES, MOST_MIB = 20, 128
ENVIRONMENT = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}


def measure(target, path):
    """(seconds, MiB, how the process failed, and what it said; "" if it did not)"""
    child = subprocess.Popen([target, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT)
    said = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    failure = f"exit status {child.returncode}\n{said}" if child.returncode else ""
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, failure


def least(target, path, found, most):
    """The same. A machine with other work takes longer than a file is worth: what takes too long is measured again."""
    for _ in range(2):
        if found[2] or found[0] <= most:
            break
        found = min(found, measure(target, path))
    return found


def main(target):
    files = sorted(path for path in Path("tests/formats").glob("*/hostile/**/*") if path.is_file() and path.suffix not in (".json", ".md", ".txt"))
    once = [measure(target, path) for path in files]
    usual = statistics.median(seconds for seconds, _, _ in once)
    measured = [(*least(target, path, found, MOST_TIMES * usual), path.name) for path, found in zip(files, once)]
    bad = 0
    for seconds, size, failure, name in measured:
        if failure or seconds > MOST_TIMES * usual or size > MOST_MIB:
            print(f"hostile: {name}: {seconds:.2f} s, {seconds / usual:.1f} times the median, {size:.0f} MiB\n{failure}", end="")
            bad += 1
    slowest, largest = max(measured), max(measured, key=lambda m: m[1])
    print(f"hostile: {len(files)} files by path and as a BLOB, {bad} failed or beyond {MOST_TIMES} times the median of {usual:.3f} s and {MOST_MIB} MiB;"
          f" slowest {slowest[0]:.2f} s ({slowest[3]}), largest {largest[1]:.0f} MiB ({largest[3]})")
    return 1 if bad else 0


sys.exit(main(*sys.argv[1:]))
