"""zt_writer with mode='update': what is left alone stays as it is stored, whether or not it is understood."""
import io
import shutil
import sqlite3
import struct
import zipfile

import pytest

import corpus
import writer
from support import rows, value
from writing import ENTRY, attributes, declare, insert, inside, names, put, refusal  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")

# Columns of a component but its place
FACTS = ("SELECT object, component, dtype, type, encoding, byte_order, length, decoded_length, digest, shard, offset"
         " FROM zt_components(?) ORDER BY 1, 2")
SHOWN = "SELECT object, key, value, type, stored_type FROM zt_attributes(?) ORDER BY 1, 2"


@pytest.fixture
def db(connect):
    return connect(entry=ENTRY)


def save(path, data):
    with open(path, "wb") as file:
        file.write(data)


def load(path):
    with open(path, "rb") as file:
        return file.read()


# ------------------------------------------------------------------------------------------------- every readable file

FILES = [path for format in corpus.formats() for kind in ("golden", "hostile")
         for path in sorted((corpus.FORMATS / format).rglob(f"{kind}/**/*"))
         if path.suffix in (".zt", ".safetensors", ".gguf", ".npz", ".npy")]


def entries(path):
    """{object: what a manifest of zTensor says of it, without places and attributes}; empty for other formats."""
    data = load(path)
    if data.startswith(writer.MAGIC_2):
        offset, length = struct.unpack("<QQ", data[-40:-24])
    elif data.startswith(writer.MAGIC_1):
        length, = struct.unpack("<Q", data[-16:-8])
        offset = len(data) - 16 - length
    else:
        return {}
    root = corpus.decode(data[offset:offset + length]) if length else {"objects": {}}
    root = {key: of for key, of in corpus.pairs(root["value"] if "$tag" in root else root) if isinstance(key, str)}
    found = {}
    for name, object in corpus.pairs(root["objects"]):
        parts = [parts for key, parts in corpus.pairs(object) if key in ("components", "parts")]
        found[name] = ([pair for pair in corpus.pairs(object) if pair[0] not in ("attributes", "components", "parts")],
                       [(role, [pair for pair in corpus.pairs(part) if pair[0] not in ("offset", "blob")])
                        for role, part in corpus.pairs(parts[0])])
    return found


def state(db, path):
    """All that must stay: facts and stored bytes of each component, attributes, entries of the manifest."""
    data, components = load(path), {}
    for name, *facts, shard, offset in rows(db, FACTS, path):
        length = 16 if facts[5] is None else facts[5]
        stored = data[offset:offset + length] if shard is None and offset is not None else offset
        components.setdefault(name, []).append((facts, shard, stored))
    return components, rows(db, SHOWN, path), entries(path)


def renamed(found, old, new):
    components, shown, objects = found
    return ({new if name == old else name: rest for name, rest in components.items()},
            sorted(((new if name == old else name, *rest) for name, *rest in shown), key=lambda row: ((row[0] or ""), row[1])),
            {new if name == old else name: rest for name, rest in objects.items()})


def without(found, gone):
    components, shown, objects = found
    return ({name: rest for name, rest in components.items() if name != gone},
            [row for row in shown if row[0] != gone], {name: rest for name, rest in objects.items() if name != gone})


def by_owner(found):
    return found[0], sorted(found[1], key=lambda row: ((row[0] or ""), row[1])), found[2]


MISMATCH = "its bytes do not have its digest"


@pytest.mark.parametrize("path", FILES, ids=["-".join(path.parts[-3:]) for path in FILES])
def test_an_update_keeps_all_else(db, path):
    name = path.name
    shutil.copy(path, name)
    for shard in path.parent.glob(f"{path.stem}-*.zt"):
        shutil.copy(shard, shard.name)
    error, container, version = db.execute("SELECT error, container, version FROM zt_files(?)", (name,)).fetchone()
    if error is not None or (container == "ztensor" and not version.startswith(("1.2", "2"))) or "big_endian" in name:
        return
    before = state(db, name)
    file = load(name)
    first = next(iter(before[0]), None)
    for change in ("attribute", "rename", "delete"):
        if change == "attribute" and container not in ("ztensor", "safetensors", "gguf"):
            continue
        if change != "attribute" and (first is None or container == "npy"):
            continue
        save(name, file)
        declare(db, name, "mode='update'", name="u")
        try:
            db.execute({"attribute": "INSERT INTO u(key, value) VALUES('zz.new', 'x')",
                        "rename": "UPDATE u SET name = 'zz.renamed' WHERE name = ?",
                        "delete": "DELETE FROM u WHERE name = ?"}[change], () if change == "attribute" else (first,))
        except sqlite3.Error as failed:
            assert load(name) == file
            assert path.parent.name == "hostile" or MISMATCH in str(failed), str(failed)
            assert ": object '" in str(failed), str(failed)
            db.execute("DROP TABLE u")
            continue
        db.execute("DROP TABLE u")
        after = state(db, name)
        if change == "attribute":
            assert (None, "zz.new", "x", "text", "str" if container == "gguf" else None) in after[1]
            after = after[0], [row for row in after[1] if row[:2] != (None, "zz.new")], after[2]
            assert after == before
        elif change == "rename":
            assert by_owner(after) == by_owner(renamed(before, first, "zz.renamed"))
        else:
            assert after == without(before, first)
