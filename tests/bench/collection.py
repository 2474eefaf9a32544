#!/usr/bin/python3
"""Measures the catalog over a large collection, which it makes: tests/bench/collection.py [--files N] [--rows N] DIRECTORY

Of 20 files 19 are safetensors and one is of zTensor 1.2 with a sha256 of each tensor, a tenth of which other files have, too. They
are of one architecture in a hundred files, and each has metadata of its own, of another length. Data of safetensors are holes: the
disk takes what the headers need. What is measured, each against another in the same run:

- bytes of the catalog, all tables and indexes together, for each tensor;
- a refresh with nothing changed, against listing names, sizes and times by zt_files, and by find;
- the first refresh, against inserting the same rows (of files, objects, components and attributes) from tables without keys into
  ones with the keys (path), (path, object), (path, object, component): of as many files as --rows says;
- the first 100 rows of each view, and differences of two named files;
- merging 10 catalogs, each of a tenth of the files, against copying their tables' rows by plain INSERTs.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "sql"))
import writer  # noqa: E402  (of the tests)

EXTENSION = os.environ.get("ZTENSOR", str(ROOT / "ztensor")).removesuffix(".so")
TENSORS = 300
PER_ARCHITECTURE = 100
SHAPES = [[4096, 4096], [4096], [11008, 4096], [4096, 11008], [1024, 4096]]


# ---- the collection ----

def header(architecture: int) -> tuple[bytes, int]:
    """The entries of a safetensors header, and the bytes of data."""
    chosen = random.Random(architecture)
    entries, at = {}, 0
    for i in range(TENSORS):
        shape = chosen.choice(SHAPES)
        size = 2
        for n in shape:
            size *= n
        name = f"model.layers.{i // 9}.{('self_attn.q_proj', 'self_attn.k_proj', 'mlp.up_proj')[i % 3]}.{architecture % 50}.{i % 9}.weight"
        entries[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    return json.dumps(entries, separators=(",", ":")).encode()[1:], at


def write_safetensors(path: str, number: int, rest: bytes, size: int) -> None:
    metadata = json.dumps({"__metadata__": {"run": "x" * (number % 40) + str(number), "format": "pt", "license": "mit"}},
                          separators=(",", ":")).encode()[:-1]
    text = metadata + b"," + rest
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + size)


def write_ztensor(path: str, number: int) -> None:
    """The digests are not those of the bytes, which nobody reads here."""
    def digest(i: int) -> str:
        of = f"shared {i}" if i % 10 == 0 else f"{number} {i}"
        return "sha256:" + hashlib.sha256(of.encode()).hexdigest()

    objects = {f"encoder.{number // 20 % 50}.block.{i}.weight": writer.dense(b"\0" * 8, [4], "f16", digest=digest(i))
               for i in range(TENSORS)}
    Path(path).write_bytes(writer.write(objects, attributes={"run": str(number)}))


def make(directory: Path, files: int) -> None:
    if (directory / "made").exists() and (directory / "made").read_text() == str(files):
        return
    headers: dict[int, tuple[bytes, int]] = {}
    for number in range(files):
        part = directory / "models" / f"{number % 10}" / f"{number // 1000:03}"
        part.mkdir(parents=True, exist_ok=True)
        if number % 20 == 19:
            write_ztensor(f"{part}/{number:06}.zt", number)
            continue
        architecture = number // PER_ARCHITECTURE
        if architecture not in headers:
            headers = {architecture: header(architecture)}
        write_safetensors(f"{part}/{number:06}.safetensors", number, *headers[architecture])
    (directory / "made").write_text(str(files))


# ---- measuring ----

def shell(database: Path | str, *commands: str) -> float:
    began = time.monotonic()
    done = subprocess.run(["sqlite3", "-batch", str(database), *commands], capture_output=True, text=True, check=False)
    if done.returncode or done.stderr:
        raise SystemExit(done.stderr)
    return time.monotonic() - began


def say(what: str, value: str) -> None:
    print(f"{what:<56} {value}", flush=True)


def catalog(path: Path, source: str | None = None) -> float:
    """A new catalog, and how long its first refresh takes."""
    path.unlink(missing_ok=True)
    shell(path, f".read {ROOT}/sql/catalog.sql", f".read {ROOT}/sql/audit.sql")
    return refresh(path, source) if source else 0


def refresh(path: Path, source: str) -> float:
    return shell(path, f".load {EXTENSION}", f".parameter set :source {source}", f".read {ROOT}/sql/refresh.sql")


def listing(source: str) -> tuple[float, float]:
    ours = shell(":memory:", f".load {EXTENSION}", f"SELECT sum(length(path)), sum(size), sum(mtime) FROM zt_files('{source}')")
    began = time.monotonic()
    subprocess.run(["find", source, "-type", "f", "-printf", "%p %s %T@\n"], stdout=subprocess.DEVNULL, check=True)
    return ours, time.monotonic() - began


KEYED = {"files": "path", "objects": "path, object", "components": "path, object, component", "attributes": None}


def insert_rows(full: Path, directory: Path, files: int) -> float:
    """Copies the rows of four views over the first files of a catalog, from tables without keys into tables with keys."""
    rows, keyed = directory / "rows.db", directory / "keyed.db"
    for path in (rows, keyed):
        path.unlink(missing_ok=True)
    shell(full, f"ATTACH '{rows}' AS r",
          *(f"CREATE TABLE r.{name} AS SELECT v.* FROM file AS f JOIN {name} AS v ON v.file = f.id WHERE f.id <= {files}" for name in KEYED))
    with sqlite3.connect(rows) as db:
        for name, key in KEYED.items():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
            end = f", PRIMARY KEY({key})) WITHOUT ROWID" if key else ")"
            shell(keyed, f"CREATE TABLE {name}({', '.join(columns)}{end}")
    seconds = shell(keyed, f"ATTACH '{rows}' AS r", "BEGIN", *(f"INSERT INTO main.{name} SELECT * FROM r.{name}" for name in KEYED), "COMMIT")
    rows.unlink()
    keyed.unlink()
    return seconds


def views(full: Path) -> None:
    with sqlite3.connect(full) as db:
        names = [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
        took = {}
        for name in names:
            began = time.monotonic()
            db.execute(f"SELECT * FROM {name} LIMIT 100").fetchall()
            took[name] = time.monotonic() - began
        slowest = sorted(took, key=took.__getitem__, reverse=True)
        say("first 100 rows of each view, the slowest five (limit 10)", ", ".join(f"{n} {took[n]:.2f} s" for n in slowest[:5]))
        began = time.monotonic()
        copies = db.execute("SELECT count(*) FROM duplicates").fetchone()[0]
        say("duplicates, all of them (limit 1)", f"{time.monotonic() - began:.2f} s, {copies} rows")
        a, b = (db.execute("SELECT path FROM file WHERE id = ?", (i,)).fetchone()[0] for i in (1, 2))
        began = time.monotonic()
        rows = len(db.execute("SELECT * FROM differences WHERE path_a = ? AND path_b = ?", (a, b)).fetchall())
        say("differences of two named files (limit 1)", f"{time.monotonic() - began:.3f} s, {rows} rows")


def merge(directory: Path, source: str) -> None:
    parts = [directory / f"part-{i}.db" for i in range(10)]
    for i, part in enumerate(parts):
        catalog(part, f"{source}/{i}")
    tables = ["host", "root", "name", "shape", "kind", "storage", "architecture", "tensor", "layout", "part", "detail", "share", "file", "digest",
              "fingerprint", "attribute", "finding", "change"]
    target, copy = directory / "merged.db", directory / "copied.db"
    with sqlite3.connect(parts[0]) as db:
        objects = db.execute("SELECT sum(a.objects) FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture").fetchone()[0]
        stored = sum(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0] for t in tables)
    catalog(target)
    merging = sum(shell(target, f".read {ROOT}/sql/merge.sql", f"ATTACH 'file:{part}?mode=ro' AS incoming", "INSERT INTO merge DEFAULT VALUES")
                  for part in parts)
    copying = 0.0
    for part in parts:   # Into a catalog of its own, with its keys and indexes: two have the same numbers
        catalog(copy)
        copying += shell(copy, f"ATTACH 'file:{part}?mode=ro' AS incoming", "DELETE FROM metrics", "BEGIN",
                         *(f"INSERT INTO main.{t} SELECT * FROM incoming.{t}" for t in tables), "COMMIT")
    say("merging 10 catalogs against copying them (limit 2.5)",
        f"{merging:.1f} s / {copying:.1f} s = {merging / copying:.2f}; each {objects} objects, {stored} rows stored")
    for path in (*parts, target, copy):
        path.unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=5000)
    options = parser.parse_args()
    directory = options.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    make(directory, options.files)
    source, full = str(directory / "models"), directory / "catalog.db"
    listing(source)
    first = catalog(full, source)
    tensors = options.files * TENSORS
    say("bytes of the catalog for each tensor (limit 60)", f"{full.stat().st_size / tensors:.1f}, of {tensors} tensors")
    again = min(refresh(full, source) for _ in range(3))
    ours, find = (min(times) for times in zip(*(listing(source) for _ in range(3))))
    say("refresh with nothing changed against listing (limit 3)", f"{again:.2f} s / {ours:.2f} s = {again / ours:.2f} (find {find:.2f} s)")
    rows = min(options.rows, options.files)
    inserting = insert_rows(full, directory, rows) * options.files / rows
    say("first refresh against inserting the same rows (limit 2)", f"{first:.1f} s / {inserting:.1f} s = {first / inserting:.2f}")
    views(full)
    merge(directory, source)
    full.unlink()


if __name__ == "__main__":
    main()
