"""Measurements of queries that ask many times: joins, lists of values, pages."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

from harness import (WORK, Measurement, Sample, build, expecting, host, is_newer, lazily, ours,
                     program, run, with_threads)
from listing import generate_c, tree
from values import generate_python

# ---- workloads ----


def pair() -> None:
    generate_c("pair", "pair")


def shelf() -> None:
    generate_c("shelf", "shelf")


def hole() -> str:
    generate_c("hole", "hole.zt")
    return "hole.zt"


def asked() -> str:
    generate_python("asked", "asked.zt")
    return "asked.zt"


def database(name: str, workload: str, sql: str, *texts: str) -> Path:
    """Ordinary tables that are made of a workload once."""
    target = WORK / name
    if not is_newer(target, WORK / f"{workload}.stamp", Path(__file__)):
        print(f"making {name} ...", file=sys.stderr)
        new = WORK / f"{name}.new"
        new.unlink(missing_ok=True)
        run(host(), "--db", new, "--ext", build().extension, "exec", sql, *texts)
        new.rename(target)
        os.sync()
    return target


def imported() -> Path:
    """The tree's files as two tables, with the index that a join by both columns wants."""
    tree()
    return database("imported.db", "tree", """
        CREATE TABLE objects AS SELECT * FROM zt_objects(?1);
        CREATE TABLE components AS SELECT * FROM zt_components(?1);
        CREATE INDEX objects_object ON objects(path, object);
        CREATE INDEX components_object ON components(path, object);
        """, "tree")


def pinned() -> Path:
    """1,000 objects of the pair, of the one file and the other in turn, drawn at random."""
    pair()
    return database("pinned.db", "pair", """
        CREATE TABLE wanted AS
        WITH drawn AS (
          SELECT path, object, length,
                 row_number() OVER (PARTITION BY path ORDER BY offset*2654435761%4294967296) AS turn
            FROM zt_components(?1))
        SELECT path, object, length FROM drawn WHERE turn<=500 ORDER BY turn, path;
        """, "pair")


def runs() -> Path:
    """A user's own tables: the paths of the tree, and 100 names that each of its files has. ANALYZE
    tells the planner how few these are."""
    tree()
    return database("runs.db", "tree", """
        CREATE TABLE runs AS SELECT path AS artifact FROM zt_files(?1);
        CREATE TABLE names AS SELECT DISTINCT object FROM zt_objects(?1 || '/run-00/step-00000.zt');
        ANALYZE;
        """, "tree")


def copies() -> Path:
    """2,000 of the tree's files as tables without an index: SQLite makes one where a join wants it."""
    tree()
    return database("copies.db", "tree", """
        CREATE TABLE files AS SELECT path, size FROM zt_files(?1);
        CREATE TABLE objects AS SELECT path, object FROM zt_objects(?1);
        """, SOME)


# ---- measurements ----

SOME = "tree/run-[01]?/*.zt"  # 2,000 files
TEN = "tree/run-00/step-0?000.zt"


def ours_with(tables: Path, *scenario: object) -> Sample:
    """A query over the extension's tables and those of a database."""
    return program(host(), "--db", tables, "--ext", build().extension, *scenario)


def native_join() -> Sample:
    joined = TOTALS + "objects AS o JOIN components AS c" + BY_BOTH
    return program(host(), "--db", imported(), "once", joined)


TOTALS = "SELECT count(*), sum(o.elements), sum(c.length) FROM "
BY_BOTH = " USING (path, object)"


def join_tree() -> tuple[Sample, Sample]:
    tree()
    joined = TOTALS + "zt_objects(?1) AS o JOIN zt_components(?1) AS c" + BY_BOTH
    return ours("once", joined, "tree"), lazily(native_join)


def join_pinned(joined: str) -> tuple[Sample, Sample]:
    """The alternative opens the one file and then the other, as does whoever looks up in them."""
    tables = pinned()
    totals = "SELECT count(*), sum(length) FROM wanted"
    expected = program(host(), "--db", tables, "once", totals)().results
    found = "SELECT count(*), sum(c.length) FROM wanted AS w JOIN "
    mine = ours_with(tables, "once", found + joined, "pair")
    opening = ours("once", "SELECT objects FROM zt_files(?1); SELECT objects FROM zt_files(?2)",
                   "pair/part-00.zt", "pair/part-01.zt")
    return expecting(mine, *expected), expecting(opening, 250_000)


def join_files() -> tuple[Sample, Sample]:
    shelf()
    mine, theirs = (f"SELECT count(*), sum(f.size), sum(o.elements) FROM zt_files(?1) AS f {join}"
                    " zt_objects(?1) AS o USING (path)" for join in ("JOIN", "CROSS JOIN"))
    return ours("once", mine, "shelf"), ours("once", theirs, "shelf")


DOT = "SELECT count(*), sum(a.value*b.value) FROM "


def join_elements() -> tuple[Sample, Sample]:
    joined = "zt_elements(?1, 'raw') AS a JOIN zt_elements(?1, 'zstd') AS b USING (position)"
    copies = "".join(f"CREATE TEMP TABLE {name} AS"
                     f" SELECT position, value FROM zt_elements(?1, '{name}');"
                     f"CREATE INDEX temp.{name}_position ON {name}(position);"
                     for name in ("raw", "zstd"))
    return (ours("once", DOT + joined, asked()),
            ours("once", copies + DOT + "raw AS a JOIN zstd AS b USING (position)", asked()))


def join_names() -> tuple[Sample, Sample]:
    """Each of the names is in each of the files, so that both sides see the same rows."""
    thousand = "tree/run-0?/*.zt"
    found = "SELECT count(*), sum(length(o.shape)) FROM "
    joined = "names AS n JOIN zt_objects(?1) AS o ON o.object = n.object"
    return (ours_with(runs(), "once", found + joined, thousand),
            ours("once", found + "zt_objects(?1) AS o", thousand))


def join_size() -> tuple[Sample, Sample]:
    joined = "SELECT count(*), sum(a.size) FROM {0} AS a JOIN {0} AS b ON a.size = b.size"
    tables = copies()
    return (ours("once", joined.format("zt_files(?1)"), SOME),
            program(host(), "--db", tables, "once", joined.format("files")))


def join_expression() -> tuple[Sample, Sample]:
    """Names of tensors are made of a number, and both orders of the join give the same rows."""
    numbers = "WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i+1 FROM n WHERE i<11)"
    found = "SELECT count(*), sum(length(o.shape)) FROM"
    mine, theirs = (f"{numbers} {found} {tables} ON o.object = 'model.layers.' || n.i || '.mlp.up_proj.weight'"
                    for tables in ("zt_objects(?1) AS o JOIN n", "n CROSS JOIN zt_objects(?1) AS o"))
    tree()
    return ours("once", mine, SOME), ours("once", theirs, SOME)


def join_runs() -> tuple[Sample, Sample]:
    joined = "SELECT count(*) FROM {} AS b ON a.object = b.object AND a.path < b.path"
    tables = copies()
    return (ours("once", joined.format("zt_objects(?1) AS a JOIN zt_objects(?2)"), TEN, SOME),
            program(host(), "--db", tables, "once",
                    joined.format(f"(SELECT * FROM objects WHERE path GLOB '{TEN}') AS a JOIN objects")))


def join_lateral() -> tuple[Sample, Sample]:
    found = "SELECT count(*), sum(c.length) FROM "
    return (ours_with(runs(), "once", found + "runs JOIN zt_components(runs.artifact) AS c"),
            ours("once", with_threads(1, found + "zt_components(?1) AS c"), "tree"))


ROWS = 4096
WANTED = 1000


@cache
def check_rows(extension: Path, path: str, listed: str) -> None:
    """Before the clock matters, the rows must be those of the whole."""
    same = (f"SELECT count(*) FROM zt_rows(?1, 'table') WHERE {listed}"
            " AND vector = zt_dense(?1, 'table', 'f32', row, 1)")
    expecting(program(host(), "--ext", extension, "once", same, path), WANTED)()


def in_rows() -> tuple[Sample, Sample]:
    path = asked()
    listed = f"row IN ({', '.join(str(i * 1597 % ROWS) for i in range(WANTED))})"
    check_rows(build().extension, path, listed)
    found = "SELECT count(*), sum(length(vector)) FROM zt_rows(?1, 'table') WHERE "
    mine = ours("once", found + listed, path)
    whole = ours("once", "SELECT length(zt_dense(?1, 'table'))", path)
    return expecting(mine, WANTED, WANTED * 256), expecting(whole, ROWS * 256)


def offset_elements() -> tuple[Sample, Sample]:
    found = "SELECT position, value FROM zt_elements(?1, 'weight') "
    return (ours("once", found + "LIMIT 2 OFFSET 1000000000", hole()),
            ours("once", found + "WHERE position >= 1000000000 LIMIT 2", hole()))


TREE = "10,000 files of 100 objects"
PAIR = "2 files of 250,000 objects"

MEASUREMENTS = [
    Measurement("join-tree", TREE, "zt_objects JOIN zt_components", "native, indexed", "ms", 3.0,
                join_tree),
    Measurement("join-pinned", PAIR, "1,000 pinned rows", "opening both", "ms", 2.0,
                lambda: join_pinned("zt_components(?1) AS c USING (path, object)")),
    Measurement("join-pinned-lateral", PAIR, "1,000 pinned rows, lateral", "opening both", "ms",
                2.0, lambda: join_pinned("zt_components(w.path) AS c ON c.object = w.object")),
    Measurement("join-files", "24 files of 15,625 objects", "zt_files JOIN zt_objects",
                "CROSS JOIN", "ms", 2.0, join_files),
    Measurement("join-elements", "20,000 f32, raw and zstd", "zt_elements JOIN zt_elements",
                "copies, indexed, joined", "ms", 5.0, join_elements),
    Measurement("join-names", "1,000 files of 100 objects", "100 names JOIN zt_objects",
                "the files scanned", "ms", 3.0, join_names),
    Measurement("join-size", "2,000 files", "zt_files JOIN zt_files", "native, not indexed", "ms", 3.0,
                join_size),
    Measurement("join-expression", "2,000 files of 100 objects", "12 names JOIN zt_objects",
                "CROSS JOIN", "ms", 1.2, join_expression),
    Measurement("join-runs", "10 and 2,000 files of 100 objects", "zt_objects JOIN zt_objects",
                "native, not indexed", "ms", 3.0, join_runs),
    Measurement("join-lateral", TREE, "runs JOIN zt_components",
                "the files scanned, one thread", "ms", 1.3,
                join_lateral),
    Measurement("in-rows", "4,096 x 64 f32, zstd", "zt_rows, 1,000 rows IN", "zt_dense of all",
                "ms", 3.0, in_rows),
    Measurement("offset-elements", "1,200,000,000 u8", "zt_elements, LIMIT, OFFSET", "position >=",
                "ms", 3.0, offset_elements),
]
