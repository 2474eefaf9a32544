"""Spark gives the rows that SQLite gives, and one for each file, or part of one, that cannot be read: of all tables, over a
collection of all formats, also while an executor is killed."""
import json
from collections import Counter

import cluster
import oracle
import pytest

TYPES = {"TEXT": "string", "INTEGER": "decimal(20,0)", "REAL": "double", "BLOB": "binary"}

# The questions to each table: options, and hidden columns
ASKED = {
    "files": ("files", {}, ["error_kind", "device", "inode", "architecture", "layout", "data_offset", "digests", "types"]),
    "objects": ("objects", {}, []),
    "fingerprints": ("objects", {}, ["fingerprint", "fingerprint_error"]),
    "components": ("components", {}, ["digest_of", "digest_algorithm", "digest_value"]),
    "bytes": ("components", {}, ["data", "stored"]),
    "digests": ("components", {}, ["digest_status"]),
    "hashes": ("components", {}, ["hash"]),
    "attributes": ("attributes", {}, ["stored_type"]),
    "stats": ("stats", {}, []),
    "check": ("check", {}, ["meaning", "specification"]),
    "full check": ("check", {"level": "full"}, []),
    "elements": ("elements", {}, []),
    "rows": ("rows", {"dtype": "f64"}, []),
    "histogram": ("histogram", {"bins": "7"}, []),
    "compare": ("compare", {"other": "north/ztensor/golden/v1.2/wheel_zstd.zt"}, []),
}


@pytest.fixture(scope="module")
def db():
    with oracle.connect() as connection:
        yield connection


@pytest.fixture(scope="module")
def sources(db, collection):
    """{table: what it is asked of}: tensors that have no elements may still have more rows than one can wait for."""
    endless = {path for path, shape, elements in db.execute("SELECT path, shape, elements FROM zt_objects(?, 'skip')", (f"{collection}/**/*",))
               if elements == 0 and json.loads(shape)[0] > 1000}
    assert 0 < len(endless) < 20
    few = [path for path, in db.execute("SELECT path FROM zt_files(?)", (f"{collection}/**/*",)) if path not in endless]
    assert len(few) > 2000
    return {"rows": few}


def columns(db, table, hidden):
    """{name: type}: all that can be seen, and those of the hidden, as types that have all of their values."""
    found = {"path": "string", **({"object": "string"} if table in oracle.PER_OBJECT else {})}
    for _, name, declared, _, _, _, is_hidden in db.execute(f"PRAGMA table_xinfo(zt_{table})"):
        if not is_hidden or name in hidden:
            found[name] = TYPES.get(declared, "string")
    return {**found, "error": "string"}


def asked(spark, db, collection, sources, name, **more):
    """(the query, what it must give)."""
    table, options, hidden = ASKED[name]
    if "other" in options:
        options = {"other": str(collection / options["other"])}
    kinds = columns(db, table, hidden)
    source = sources.get(table, f"{collection}/**/*")
    query = (spark.read.format("ztensor").options(table=table, **options, **more)
             .schema(", ".join(f"`{name}` {kind}" for name, kind in kinds.items())).load(source))
    in_sqlite = json.dumps(source) if isinstance(source, list) else source
    return query, Counter(oracle.rows(db, table, in_sqlite, kinds, **options))


def given(query):
    columns = [column.to_pylist() for column in query.toArrow().columns]
    return Counter(zip(*columns))


def differences(found, expected):
    return {"more": list((found - expected).items())[:3], "missing": list((expected - found).items())[:3]}


@pytest.mark.parametrize("name", ASKED)
def test_the_rows_are_those_of_sqlite(spark, db, collection, sources, name):
    query, expected = asked(spark, db, collection, sources, name)
    assert len(expected) > 2000
    assert differences(given(query), expected) == {"more": [], "missing": []}


@pytest.mark.parametrize("name", ["files", "objects", "digests", "attributes", "stats", "full check", "elements", "rows", "histogram", "compare"])
def test_an_executor_that_is_killed_changes_nothing(spark, db, collection, sources, name):
    query, expected = asked(spark, db, collection, sources, name, files_per_partition=30)
    with cluster.Killer(spark, complete=5) as killer:
        found = given(query)
    assert killer.stage is not None and 5 <= killer.stage.numCompletedTasks < killer.stage.numTasks - 10
    assert differences(found, expected) == {"more": [], "missing": []}
