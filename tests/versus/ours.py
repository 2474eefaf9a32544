"""Reads files with the extension, as reader.py does with a library: the same input and output.

`findings` are those of zt_check that are errors, or say that matrices are left out, as [object, rule, message]. An object without bytes
has `no`, the reason; one without values `without`.
"""
import hashlib
import json
import os
import resource
import sqlite3
import sys
from pathlib import Path

import numpy

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "sql"))
import support  # noqa: E402  (it is there only now)

MEMORY, LONGEST = 4 << 30, 256 << 20
# The formats whose values are compared; of others, the bytes
DENSE = ("dense", "matlab.sparse", "sparse_coo")


def sha256(data):
    return None if data is None else hashlib.sha256(data).hexdigest()


def one_nan(data):
    """float32 values with one NaN for all."""
    values = numpy.frombuffer(data, "<f4").copy()
    values[numpy.isnan(values)] = numpy.nan
    return values.tobytes()


def attempt(facts, key, ask):
    """Notes what is asked, or why there is none."""
    try:
        facts[key] = ask()
    except sqlite3.Error as error:
        facts.setdefault("no", str(error))


def values(db, path, name, quantized):
    data = support.value(db, "SELECT zt_dense(?, ?)", path, name)
    return sha256(one_nan(data) if quantized else data)


def parts(db, path):
    """{object: {role: [dtype, type, sha256, why there are no bytes, compressed without a digest]}}"""
    found = {}
    for name, role, dtype, type, unchecked in support.rows(
            db, "SELECT object, component, dtype, type, encoding <> 'raw' AND digest IS NULL FROM zt_components(?)", path):
        entry = {"bytes": None}
        attempt(entry, "bytes", lambda: sha256(support.value(db, "SELECT zt_blob(?, ?, ?)", path, name, role)))
        found.setdefault(name, {})[role] = [dtype, type, entry["bytes"], entry.get("no"), unchecked]
    return found


def facts(db, path, name, format, type, shape):
    """`no`: why there are no bytes, `without`: why there are no values."""
    found, dense = {"format": format, "type": None, "shape": shape and json.loads(shape)}, {}
    attempt(dense, "values", lambda: values(db, path, name, (format or "").startswith("gguf.")))
    if "no" in dense:
        found["without"] = dense["no"]
    if format in DENSE:
        return {**found, "type": type, "bytes": dense.get("values"), **({"no": dense["no"]} if "no" in dense else {})}
    if format == "numpy.unknown":   # The type is not understood, so neither is how many bytes there are
        return {**found, "no": dense["no"]}
    attempt(found, "bytes", lambda: sha256(support.value(db, "SELECT zt_blob(?, ?)", path, name)))
    return {**found, "f32": dense.get("values")}


def of_ztensor(db, path, own, name, format, shape):
    found, dense = {"format": format, "shape": json.loads(shape), "parts": {role: part[:3] for role, part in own.items()}}, {}
    found.update({"no": part[3] for part in own.values() if part[3]})
    found.update({"undigested": True for part in own.values() if part[4]})
    attempt(dense, "values", lambda: values(db, path, name, False))
    return {**found, **({"without": dense["no"]} if "no" in dense else {})}


def read(db, path):
    (container, error), = support.rows(db, "SELECT container, error FROM zt_files(?)", path)
    if error:
        return {"error": error.removeprefix(support.prefix(path))}
    listed = support.rows(db, "SELECT object, format, type, shape FROM zt_objects(?)", path)
    if container == "ztensor":
        own = parts(db, path)
        objects = {name: of_ztensor(db, path, own.get(name, {}), name, format, shape) for name, format, _, shape in listed}
    else:
        objects = {row[0]: facts(db, path, *row) for row in listed}
    findings = support.rows(db, "SELECT object, rule, message FROM zt_check(?, 'full') WHERE severity = 'error' OR rule = 'matlab-behind'", path)
    return {"objects": objects, "count": len(listed), "findings": findings, "container": container}


def main():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    db = support.open_connection()
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST)
    for line in sys.stdin:
        path = line.rstrip("\n")
        try:
            found = read(db, path)
        except sqlite3.Error as error:    # Where zt_files has none, nothing else may
            found = {"disagrees": str(error)}
        print(json.dumps(found), flush=True)


main()
