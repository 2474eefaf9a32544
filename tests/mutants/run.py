"""`make mutants N=1000`: changes one operator, constant, condition or call of ext/ at a time, at random places that tests reach, and
runs the tests that reach it. A change that no test notices survives: it wants a test, or a line in equivalent.txt beside this file.

Fails if fewer than 99 of 100 changes are noticed. The survivors are in build/mutants/survivors.
"""
import argparse
import collections
import os
import pathlib
import random
import resource
import shlex
import subprocess
import sys

import reach
import sites

BUILD = pathlib.Path("build/mutants/tests")
SCRATCH = pathlib.Path("build/mutants/changed")
SURVIVORS = pathlib.Path("build/mutants/survivors")
EQUIVALENT = pathlib.Path(__file__).with_name("equivalent.txt")
FOLDERS = ("core", "container", "tensor", "sqlite")
ELSEWHERE = ("_windows", "inflate_zlib")   # Not compiled on this machine
LEAST = 99
MEMORY = 8 << 30   # Bytes of address space: a changed bound may ask for any


def read_equivalent():
    """{(file, line's text, was, becomes)}: changes that cannot be noticed. A line has these and the reason, between tabs."""
    lines = EQUIVALENT.read_text().splitlines()
    return {tuple(line.split("\t")[:4]) for line in lines if line and not line.startswith("#")}


def key(site, source):
    return site.file, source.splitlines()[site.line - 1].strip(), site.was.replace("\n", " "), site.text.replace("\n", " ")


def compile_commands(file):
    """The commands that compile a source for the C tests and for the extension, with the object's path behind -o."""
    objects = [BUILD / pathlib.Path(file).with_suffix(".o"), BUILD / "loaded" / pathlib.Path(file).relative_to("ext").with_suffix(".o")]
    commands = []
    for made in objects:
        said = subprocess.run(["make", "-n", "-W", file, f"B={BUILD}", f"OPT={reach.OPTIONS}", str(made)], capture_output=True, text=True, check=True)
        (line,) = [line for line in said.stdout.splitlines() if f"-o {made} " in line]
        commands.append((made, [word for word in shlex.split(line) if word not in ("-MMD", "-MP")]))
    return commands


def limit():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.setsid()


def passes(test, seconds):
    run, environment = reach.command(BUILD, test)
    process = subprocess.Popen(run, env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=limit)
    try:
        return process.wait(timeout=10 * seconds + 20) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        try:
            os.killpg(process.pid, 9)
        except ProcessLookupError:
            pass
        process.wait()


class Changed:
    """The build with one object changed; outside `with` it is as before."""

    def __init__(self, site, source):
        SCRATCH.mkdir(parents=True, exist_ok=True)
        self.source = SCRATCH / pathlib.Path(site.file).name
        # Assertions name the file: that is to be the only text of it in the object
        self.source.write_text(f'#line 1 "{site.file}"\n' + source[:site.at] + site.text + source[site.end:])
        self.was = {}
        self.compiled, self.differs = True, False
        for made, command in compile_commands(site.file):
            changed = SCRATCH / f"{len(self.was)}.o"
            command = [str(self.source) if word == site.file else str(changed) if word == str(made) else word for word in command]
            if subprocess.run(command, stderr=subprocess.DEVNULL).returncode:
                self.compiled = False
                return
            self.was[made] = (made.read_bytes(), made.stat(), changed)
            self.differs |= changed.read_bytes() != made.read_bytes()
        self.linked = []

    def __enter__(self):
        for made, (_, _, changed) in self.was.items():
            made.write_bytes(changed.read_bytes())
        return self

    def link(self, test):
        target = reach.program(BUILD, test) if test in reach.PROGRAMS else f"{BUILD}/ztensor.so"
        if target not in self.linked:
            self.linked.append(target)
            reach.make(BUILD, target)

    def __exit__(self, *error):
        for made, (data, stat, _) in self.was.items():
            made.write_bytes(data)
            os.utime(made, ns=(stat.st_atime_ns, stat.st_mtime_ns))
        for target in self.linked:
            pathlib.Path(target).unlink(missing_ok=True)


def killer(changed, site, tests):
    """The test that notices, or None. Tests named after the source come first, then the quick ones."""
    reaching = [name for name, test in tests.items() if site.line in test["reached"].get(site.file, ())]
    stem = pathlib.Path(site.file).stem
    reaching.sort(key=lambda name: (stem not in name, name not in reach.PROGRAMS, tests[name]["seconds"]))
    for name in reaching:
        changed.link(name)
        if not passes(name, tests[name]["seconds"]):
            return name
    return None


def candidates(tests):
    reached = collections.defaultdict(set)
    for test in tests.values():
        for file, lines in test["reached"].items():
            reached[file].update(lines)
    for folder in FOLDERS:
        for path in sorted(pathlib.Path("ext", folder).glob("*.c")):
            if not path.stem.endswith(ELSEWHERE):
                yield from (site for site in sites.sites(str(path), path.read_text()) if site.line in reached[str(path)])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--only", default="", help="a part of the source's path")
    chosen = parser.parse_args()
    seed = random.randrange(1 << 32) if chosen.seed is None else chosen.seed
    tests = reach.measure()
    reach.make(BUILD, f"{BUILD}/ztensor.so", *(reach.program(BUILD, name) for name in reach.PROGRAMS))
    pool = [site for site in candidates(tests) if chosen.only in site.file]
    random.Random(seed).shuffle(pool)
    print(f"mutants: seed {seed}, {len(pool)} changes possible", flush=True)
    known = read_equivalent()
    counts, survivors = collections.Counter(), []
    for site in pool:
        if counts["killed"] + len(survivors) >= chosen.count:
            break
        source = pathlib.Path(site.file).read_text()
        if key(site, source) in known:
            counts["equivalent"] += 1
            continue
        changed = Changed(site, source)
        if not changed.compiled or not changed.differs:
            counts["no change"] += 1
            continue
        with changed:
            name = killer(changed, site, tests)
        if name:
            counts["killed"] += 1
        else:
            survivors.append((site, "\t".join(key(site, source))))
            print(f"{site.file}:{site.line}: survived: {site.was!r} -> {site.text!r}"[:200], flush=True)
    SURVIVORS.write_text("".join(f"{text}\n" for _, text in survivors))
    tried = counts["killed"] + len(survivors)
    print(f"mutants: {tried} changes, {counts['killed']} noticed, {len(survivors)} survived; {counts['equivalent']} known to change "
          f"nothing; {counts['no change']} did not compile or made the same code")
    return tried == 0 or 100 * counts["killed"] < LEAST * tried


if __name__ == "__main__":
    sys.exit(main())
