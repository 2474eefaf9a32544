"""Measurements of what an audit of a collection does: digests compared, files checked, a catalog kept up to date."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Callable

from harness import (WORK, Build, Measurement, Reading, Sample, build, expecting, generate,
                     is_newer, lazily, library, library2, ours, program, read_afresh, shell)
from listing import tree

# ---- workloads ----


def digests(algorithm: str, size: str = "64x4") -> str:
    """The file of that many tensors of that many MiB with digests, written by the format's own
    library."""
    kind = f"{algorithm}-{size}"
    generate(kind, [library()], [library(), "write"], f"{kind}.zt")
    return f"{kind}.zt"


def parts() -> str:
    """The zTensor 2 file of 64 tensors of 16 MiB, each with an xxh3, written by the format's own library."""
    generate("parts", [library2()], [library2(), "write"], "parts.zt")
    return "parts.zt"


def large_parts() -> str:
    """The same, 16 tensors of 64 MiB."""
    generate("large", [library2()], [library2(), "write"], "large-parts.zt")
    return "large-parts.zt"


def damaged(path: str) -> str:
    """A copy in which one bit of a tensor is another."""
    copy = WORK / f"damaged-{path}"
    if not is_newer(copy, WORK / path):
        shutil.copyfile(WORK / path, copy)
        with open(copy, "r+b") as file:
            file.seek(os.path.getsize(copy) // 2)
            [byte] = file.read(1)
            file.seek(-1, os.SEEK_CUR)
            file.write(bytes([byte ^ 1]))
        os.sync()
    return copy.name


# ---- digests ----

TENSORS = 64
STATUS = ["once", "SELECT count(*), count(*) FILTER (WHERE digest_status IS NOT 'ok') FROM zt_components(?1)"]
FINDINGS = ["once", "SELECT count(*) FROM zt_check(?1, 'full')"]


def status(path: str) -> Sample:
    return ours(*STATUS, path)


def full_check(path: str) -> Sample:
    return ours(*FINDINGS, path)


def verify(way: str, path: str) -> Sample:
    """zTensor 2's library has one way, which maps the file."""
    return program(library2(), "verify", path) if way == "2" else program(library(), "verify", way, path)


@cache
def see_damage(_: Build, path: str, way: str) -> None:
    copy = damaged(path)
    for sample in (status(copy), verify(way, copy)):
        expecting(sample, TENSORS, 1)()


def check_damage(path: str, way: str) -> None:
    """Before the clock matters, both sides must see damage where there is some."""
    see_damage(build(), path, way)


def digest_status(algorithm: str, way: str) -> tuple[Sample, Sample]:
    path = read_afresh(parts() if way == "2" else digests(algorithm))
    check_damage(path, way)
    return status(path), verify(way, path)


def check_digests(algorithm: str, way: str) -> tuple[Sample, Sample]:
    path = read_afresh(digests(algorithm))
    check_damage(path, way)
    expecting(full_check(damaged(path)), 1)()
    return expecting(full_check(path), 0), expecting(verify(way, path), TENSORS, 0)


def digest_rows(algorithm: str, bound: float) -> list[Measurement]:
    """The bound is on the comparison with the library's call that verifies what it reads into memory. It verifies
    nothing that it maps; who does so by hand, with the parts that it has for writing, saves the copy."""
    workload = f"64 tensors of 4 MiB, {algorithm}"
    reads, views = "Rust library, reading", "Rust library, by hand from its map"
    return [
        Measurement(f"check-{algorithm}", workload, "zt_check, full", reads, "ms", bound,
                    lambda: check_digests(algorithm, "read")),
        Measurement(f"check-{algorithm}-map", workload, "zt_check, full", views, "ms", None,
                    lambda: check_digests(algorithm, "view")),
        Measurement(f"digest-{algorithm}", workload, "digest_status", reads, "ms", bound,
                    lambda: digest_status(algorithm, "read")),
        Measurement(f"digest-{algorithm}-map", workload, "digest_status", views, "ms", None,
                    lambda: digest_status(algorithm, "view")),
    ]


# ---- checks of many files ----

FILES = 10_000
PATH_BYTES = FILES * len("tree/run-00/step-00000.zt")


def check_quick() -> tuple[Sample, Sample]:
    """Both sides read every manifest. The tree has no digests; whether that is a finding does not matter here."""
    tree()
    return (expecting(ours("rows", "SELECT * FROM zt_check(?1) WHERE rule <> 'missing-digest'", "tree"), 0, 0),
            expecting(ours("rows", "SELECT * FROM zt_files(?1)", "tree"), FILES, PATH_BYTES))


# ---- the catalog ----

SOURCE = [".param init", ".param set :source tree"]


def load() -> str:
    return f".load {build().extension}"


def script(name: str) -> Path:
    return build().scripts / name


def read(name: str) -> str:
    return f".read {script(name)}"


def schema(database: Path) -> None:
    database.unlink(missing_ok=True)
    shell(database, [read("catalog.sql")])()


@cache
def catalog_of(made_with: Build) -> Path:
    tree()
    target, new = made_with.place / "catalog.db", made_with.place / "catalog.db.new"
    refreshing = [load(), *SOURCE, read("refresh.sql")]
    if not is_newer(target, script("catalog.sql"), script("refresh.sql"), made_with.extension):
        print("refreshing a catalog of the tree ...", file=sys.stderr)
        schema(new)
        shell(new, refreshing)()
        new.rename(target)
    shell(target, refreshing)()
    os.sync()
    return target


def catalog() -> Path:
    """A catalog of the tree, up to date."""
    return catalog_of(build())


# The catalog's rows as a user sees them, in tables of their own: with these keys.
KEYED = {"files": "path", "objects": "path, object", "components": "path, object, component", "attributes": ""}


def native_rows() -> Path:
    """The catalog's rows as tables without keys and indexes, in the order of the keys."""
    full, target = catalog(), build().place / "catalog-rows.db"
    if not is_newer(target, full):
        target.unlink(missing_ok=True)
        copies = [f"CREATE TABLE rows.{name} AS SELECT * FROM main.{name} ORDER BY {key or 'path'};" for name, key in KEYED.items()]
        shell(full, [f"ATTACH '{target}' AS rows;", *copies])()
        os.sync()
    return target


def into(empty: Path, commands: list[str], before: list[str]) -> Sample:
    """Fills a copy of a database that has the tables or views."""
    new = build().place / "catalog-new.db"
    totals = [f"SELECT count(*) FROM {name};" for name in KEYED]
    totals.append("SELECT sum(length(path) + size + objects + stored_bytes) FROM files;")
    totals.append("SELECT sum(length(object) + length(shape) + elements) FROM objects;")
    totals.append("SELECT sum(length(object) + length(dtype) + offset + length) FROM components;")
    filling = shell(new, commands, before, totals)

    def sample() -> Reading:
        shutil.copyfile(empty, new)
        try:
            return filling()
        finally:
            new.unlink()

    return sample


def insert_rows() -> Sample:
    rows, empty = native_rows(), build().place / "rows-empty.db"
    empty.unlink(missing_ok=True)
    with closing(sqlite3.connect(rows)) as db:
        columns = {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in KEYED}
    shell(empty, [f"CREATE TABLE {name}({', '.join(columns[name])}" + (f", PRIMARY KEY({key})) WITHOUT ROWID;" if key else ");")
                  for name, key in KEYED.items()])()
    inserts = [f"INSERT INTO main.{name} SELECT * FROM rows.{name};" for name in KEYED]
    return into(empty, ["BEGIN;", *inserts, "COMMIT;"], [f"ATTACH '{rows}' AS rows;"])


def first_refresh() -> tuple[Sample, Sample]:
    tree()
    empty = build().place / "catalog-empty.db"
    schema(empty)
    return into(empty, [read("refresh.sql")], [load(), *SOURCE]), lazily(insert_rows)


# The facts about an unopened file, in the catalog and from the shell's fsdir().
TIMES = ("CAST(mtime AS INTEGER)", "mtime")
SIZES = ("size", "length(data)")


def refresh(known: str, apart: Callable[[], int] = lambda: 0) -> Sample:
    """apart() is called before; what it returns is left out of the sum of what is known."""
    target, before, commands = catalog(), [load(), *SOURCE], [read("refresh.sql")]

    def sample() -> Reading:
        listed = f"SELECT count(*), sum(length(path) - {len(str(WORK)) + 1}), sum({known}) - {apart()} FROM files;"
        return shell(target, commands, before, [listed])()

    return sample


def fsdir(known: str, *others: str, apart: Callable[[], int] = lambda: 0) -> Sample:
    listing = ("CREATE TEMP TABLE listed AS SELECT count(*) AS files, sum(length(name)) AS names,"
               f" sum({known}) AS known FROM fsdir('tree') WHERE name GLOB '*.zt';")
    before = [load()]

    def sample() -> Reading:
        listed = f"SELECT files, names, known - {apart()} FROM listed;"
        return shell(Path(":memory:"), [listing, *others], before, [listed])()

    return sample


def refresh_nothing(known: tuple[str, str]) -> tuple[Sample, Sample]:
    mine, theirs = known
    return refresh(mine), fsdir(theirs)


CHANGED = "tree/run-50/step-50000.zt"


def changed() -> int:
    """When the file was last written."""
    return os.stat(WORK / CHANGED).st_mtime_ns // 1_000_000_000


def change() -> int:
    """As if the file had been written again."""
    found = os.stat(WORK / CHANGED)
    os.utime(WORK / CHANGED, ns=(found.st_atime_ns, found.st_mtime_ns + 1_000_000_000))
    return changed()


def refresh_one() -> tuple[Sample, Sample]:
    mine, theirs = TIMES
    reading = [f"SELECT * FROM {table}('{CHANGED}');"
               for table in ("zt_files", "zt_objects", "zt_components", "zt_attributes")]
    return refresh(mine, change), fsdir(theirs, *reading, apart=changed)


TREE = "10,000 files of 100 objects"

MEASUREMENTS = [
    *digest_rows("sha256", 1.0),
    *digest_rows("crc32c", 1.2),
    Measurement("digest-xxh3", "64 tensors of 16 MiB, xxh3", "digest_status", "Rust library, verify: maps", "ms", 2.0,
                lambda: digest_status("xxh3", "2")),
    Measurement("check-quick", TREE, "zt_check, quick", "zt_files, all columns", "ms", None, check_quick),
    Measurement("refresh-first", TREE, "refresh.sql, new catalog", "INSERT of its rows from native tables", "ms", 2.0,
                first_refresh),
    Measurement("refresh-nothing", TREE, "refresh.sql, no change", "fsdir: names, mtimes", "ms", 3.0,
                lambda: refresh_nothing(TIMES)),
    Measurement("refresh-one", TREE, "refresh.sql, 1 file changed", "fsdir: the same; that file", "ms", 3.0,
                refresh_one),
    # fsdir() of SQLite 3.40 tells a file's size only by reading all of it: 13.8 GB, half a minute. The names and mtimes
    # above cost it what sizes would, a stat() for each file; so that comparison is the one that means something.
    Measurement("refresh-sizes", TREE, "refresh.sql, no change", "fsdir: names, lengths of data", "ms", 3.0,
                lambda: refresh_nothing(SIZES), once=True),
]
