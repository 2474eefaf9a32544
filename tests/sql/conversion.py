"""Files that zt_writer makes of the golden files of every format, object by object: a refused object does not hide the others.
test_convert_files.py reads them with the extension itself; tests/interop/test_writing.py with the formats' own libraries."""
import json
import os
import sqlite3
from types import SimpleNamespace

from support import ROOT, open_connection, rows, value

SUFFIXES = {"ztensor-2": ".zt", "ztensor-1.2": ".zt", "safetensors": ".safetensors", "gguf": ".gguf", "npz": ".npz", "npy": ".npy"}
FOLDERS = sorted((ROOT / "tests" / "formats").glob("*/golden"))
ENTRY = "sqlite3_ztensor_write_init"
INSERT = "INSERT INTO temp.out(name, source, object) VALUES(?2, ?1, ?2)"
INSERT_ATTRIBUTE = """INSERT INTO temp.out(key, value, type, stored_type)
  SELECT key, value, type, stored_type FROM zt_attributes(?) WHERE object IS NULL AND key = ?"""


def connection():
    return open_connection(entry=ENTRY)


def sources(db, folder):
    """The readable files below a folder, by path."""
    paths = sorted(str(p) for p in folder.rglob("*") if p.is_file() and p.suffix != ".json")
    return [p for p in paths if value(db, "SELECT error IS NULL FROM zt_files(?)", p)]


def objects(db, source):
    """{name: object} in the file's order."""
    found = rows(db, "SELECT object, format, dtype, type, shape, rank, elements, components, attributes, fingerprint FROM zt_objects(?)", source)
    names = "name format dtype type shape rank elements components attributes fingerprint".split()
    return {row[0]: SimpleNamespace(**dict(zip(names, row[:8])), attributes=json.loads(row[8]), fingerprint=row[9]) for row in found}


def shown(name):
    """The place of an object in a message, as far as it is neither escaped nor cut."""
    plain = name.isprintable() and len(name.encode()) < 500
    return f"object '{name}': " if plain else "object '"


def file_attributes(db, source):
    """{key: (value, type, stored_type)} of the file itself."""
    return {row[0]: row[1:] for row in rows(db, "SELECT key, value, type, stored_type FROM zt_attributes(?) WHERE object IS NULL", source)}


def insert_each(db, sql, source, names):
    """Run a statement for each name. {name: message} of the failures."""
    refused = {}
    for name in names:
        try:
            db.execute(sql, (source, name))
        except sqlite3.Error as error:
            refused[name] = str(error)
    return refused


def commit(db, source, format, names, target, options, refused):
    """Write the named objects, and the file's attributes, to the target in one transaction; add to `refused` the objects whose
    INSERT fails. The message of COMMIT's failure, or None."""
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}', format='{format}'{options})")
    try:
        db.execute("BEGIN")
        failed = insert_each(db, INSERT, source, names)
        refused.update(failed)
        if len(failed) < len(names):
            keys = file_attributes(db, source).keys() - {"general.alignment"}   # GGUF's is the argument align
            insert_each(db, INSERT_ATTRIBUTE, source, sorted(keys))
        try:
            db.execute("COMMIT")
            return None
        except sqlite3.Error as error:
            if db.in_transaction:
                db.execute("ROLLBACK")
            return str(error)
    finally:
        db.execute("DROP TABLE temp.out")


def convert(db, source, format, names, target, options=""):
    """Write the named objects of a file, each under its name, to a new file at target. {name: message} of those that are
    refused. Without any object that can be written there is no file."""
    refused = {}
    if os.path.exists(target):
        os.unlink(target)
    while True:
        left = [name for name in names if name not in refused]
        message = commit(db, source, format, left, target, options, refused)
        if message is None:
            return refused
        assert not os.path.exists(target), message
        culprits = [name for name in left if shown(name) in message]   # COMMIT's failure names one object
        assert len(culprits) == 1, (source, message)
        refused[culprits[0]] = message


def conversions(db, source, format, directory, options=""):
    """Yield (target, {name in the target: name in the source}, refused): one file of all objects, or for npy one of each, up to
    100."""
    names = list(objects(db, source))
    for i, group in enumerate([[name] for name in names[:100]] if format == "npy" else [names]):
        target = str(directory / f"{format}.{i}{SUFFIXES[format]}")
        refused = convert(db, source, format, group, target, options)
        kept = {name: name for name in group if name not in refused}
        if format == "npy":
            kept = {f"{format}.{i}": name for name in kept}
        assert os.path.exists(target) == bool(kept)
        yield target, kept, refused
