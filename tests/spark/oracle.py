"""SQLite's answers about a collection, as rows of Spark."""
import sqlite3
from decimal import Decimal

import ztensor_sqlite

# The tables that give a row's object in no column, and what they take behind it
PER_OBJECT = {"elements": "", "rows": ", :dtype", "histogram": ", :bins", "compare": ", :other, :object"}
# The columns of components that one tensor may have and another not
FAILING = {"data", "stored", "digest_status", "hash"}


def connect():
    return ztensor_sqlite.connect()


def typed(value, kind):
    """A value as Spark's type has it."""
    if kind == "decimal(20,0)" and value is not None:
        return Decimal(value)   # The extension has integers beyond 64 bits as text
    if kind != "string" or value is None or isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.hex()
    return {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(value, repr(value))


def rows(db, table, source, kinds, **options):
    """All rows: of the files that can be read, and one for each that cannot, or part of one. `kinds`: {column: type}."""
    found = []
    for key, values in asked(db, table, str(source), list(kinds), options):
        row = {**key, **values}
        found.append(tuple(typed(row.get(name), kind) for name, kind in kinds.items()))
    return found


def asked(db, table, source, names, options):
    if table == "files":
        return all_of(db, names, "zt_files(:source)", source, options)
    if table == "check":
        return all_of(db, names, "zt_check(:source, :level)", source, {"level": "quick", **options})
    unreadable = [({"path": path}, {"error": error}) for path, error in
                  db.execute("SELECT path, error FROM zt_files(?) WHERE error IS NOT NULL", (source,))]
    if table in PER_OBJECT:
        keys = [dict(zip(("path", "object"), row)) for row in db.execute("SELECT path, object FROM zt_objects(?, 'skip')", (source,))]
        return unreadable + one_by_one(db, names, f"zt_{table}(:path, :object{PER_OBJECT[table]})", "", keys, options)
    if table == "components" and FAILING & set(names):
        keys = [dict(zip(("path", "object", "component"), row)) for row in
                db.execute("SELECT path, object, component FROM zt_components(?, 'skip')", (source,))]
        where = " WHERE object = :object AND component = :component"
        return unreadable + one_by_one(db, names, "zt_components(:path)", where, keys, options)
    if table == "stats":   # 'skip' would pass over tensors without values
        source_of = ("(SELECT path AS readable FROM zt_files(:source) WHERE error IS NULL LIMIT -1) AS f JOIN zt_stats(f.readable)")
        return unreadable + all_of(db, names, source_of, source, options)
    return unreadable + all_of(db, names, f"zt_{table}(:source, 'skip')", source, options)


def columns_of(db, names, table):
    own = {row[1] for row in db.execute(f"PRAGMA table_xinfo(zt_{table})")}
    return [name for name in names if name in own]


def all_of(db, names, tables, source, options):
    own = columns_of(db, names, tables.rpartition("zt_")[2].partition("(")[0])
    selected = ", ".join(f'"{name}"' for name in own)
    return [({}, dict(zip(own, row))) for row in db.execute(f"SELECT {selected} FROM {tables}", {"source": source, **options})]


def one_by_one(db, names, table, where, keys, options):
    found = []
    own = [name for name in columns_of(db, names, table.removeprefix("zt_").partition("(")[0]) if name != "object" or where]
    defaults = {"dtype": None, "bins": None, "other": None}
    for key in keys:
        try:
            selected = ", ".join(f'"{name}"' for name in own)
            for row in db.execute(f"SELECT {selected} FROM {table}{where}", {**defaults, **options, **key}):
                found.append((key, dict(zip(own, row))))
        except sqlite3.Error as error:
            found.append((key, {"error": str(error)}))
    return found
