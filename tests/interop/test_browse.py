"""Tools that browse a catalog, from PyPI: Datasette, with its default limit of a second, and DuckDB."""
import bz2
import json
import os
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "sql")]
import writer  # noqa: E402  (it is there only now)
from catalogs import create, refresh  # noqa: E402
from support import EXTENSION, open_connection  # noqa: E402

BUILD = ROOT / "build" / "interop"
FILES, LAYERS = 200, 100
OTHERS = 9   # Files beside them that are made below


def safetensors(number):
    """One of four architectures, of 100 tensors, with bytes of its own."""
    entries = {"__metadata__": {"run": str(number), "license": "mit"}}
    for i in range(LAYERS):
        entries[f"layer.{number % 4}.{i}.weight"] = {"dtype": "F32", "shape": [4], "data_offsets": [16 * i, 16 * i + 16]}
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + struct.pack("<I", number) * 4 * LAYERS


def ztensor(number):
    data = [struct.pack("<4f", *[number // 20 * 1000 + i] * 4) for i in range(LAYERS)]
    return writer.write({f"layer.{i}": writer.dense(d, [4], "f32", digest=writer.sha256(d)) for i, d in enumerate(data)},
                        attributes={"run": str(number)})


def npy(descr, shape, data):
    header = repr({"descr": descr, "fortran_order": False, "shape": shape}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.fixture(scope="module")
def catalog(tmp_path_factory):
    """(catalog, models): of 200 files with fingerprints, findings and runs."""
    directory = tmp_path_factory.mktemp("browse")
    models = directory / "models"
    models.mkdir()
    for number in range(FILES):
        name, data = (f"{number}.zt", ztensor(number)) if number % 5 == 0 else (f"{number}.safetensors", safetensors(number))
        (models / name).write_bytes(data)
    (models / "broken.zt").write_bytes(b"broken")
    (models / "tied.zt").write_bytes(writer.write({
        "w": writer.dense(b"w" * 8, digest=writer.sha256(b"other")),
        "tied": {"shape": [8], "components": {"data": {"offset": 64, "length": 8}}}}))
    os.link(models / "0.zt", models / "again.zt")
    for number in (1, 2):
        (models / f"whole-0000{number}-of-00002.safetensors").write_bytes(safetensors(1000 + number))
    (models / "texts.npy").write_bytes(npy("<U1", (2,), "ab".encode("utf-32-le")))
    (models / "model.bin").write_bytes(bz2.compress(b"weights"))
    path = create(directory / "catalog.db", "audit.sql")
    refresh(path, str(models))
    db = open_connection(path)
    db.executescript((ROOT / "sql" / "refresh.sql").read_text())
    db.execute("INSERT INTO refresh_pass(pass, files) VALUES ('fingerprint', 1000), ('check', 1000)")
    db.execute("INSERT INTO run_files SELECT 'mine', 'm.db', file, 'n', 'finished', path, 1, host FROM files WHERE file % 2")
    db.execute("INSERT INTO run_files VALUES ('mine', 'm.db', 'lost', 'n', 'finished', '/gone', 1, '')")
    db.commit()
    db.close()
    for name in ("late", "later"):   # After the passes: only their digests are known
        (models / f"{name}.zt").write_bytes(ztensor(1000 * 20))
    (directory / "others").mkdir()
    (directory / "others" / "LICENSE").write_bytes(b"no tensors")
    refresh(path, str(models))
    (directory / "others" / "shard.zt").write_bytes(writer.data_shard(b"1234567"))
    (directory / "others" / "old.zt").write_bytes(writer.write({"of an earlier version": writer.dense(b"1234567")}))
    refresh(path, str(directory / "others" / "*"))
    db = sqlite3.connect(path)
    db.execute("UPDATE architecture SET digest = substr(digest, 3) WHERE id IN (SELECT t.architecture FROM tensor AS t"
               " JOIN name AS n ON n.id = t.name WHERE n.name = 'of an earlier version')")
    db.commit()
    db.close()
    return path, models


def run(environment, *arguments):
    done = subprocess.run([BUILD / environment / "bin" / "python", ROOT / "tests" / "interop" / f"browse_{environment}.py", *arguments],
                          capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def names(path, kind):
    with sqlite3.connect(path) as db:
        return {name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,))}


def test_datasette_shows_every_table_and_view_and_refreshes(catalog):
    path, models = catalog
    found = run("datasette", path, EXTENSION, str(ROOT / "sql"), str(models))
    assert set(found["pages"]) == names(path, "table") | names(path, "view")
    assert {name: page for name, page in found["pages"].items() if page != [200, None]} == {}
    assert found["refreshed"] == [[FILES + OTHERS, FILES + OTHERS]]


def test_duckdb_reads_every_table_and_view(catalog):
    path, _ = catalog
    found = run("duckdb", path)
    with sqlite3.connect(path) as db:
        assert found["tables"] == {name: db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names(path, "table")}
        assert set(found["views"]) == names(path, "view")
        for name, rows in found["views"].items():
            ours = db.execute(f"SELECT * FROM {name} LIMIT 100").fetchall()
            assert len(rows) == len(ours) and [[v is None for v in row] for row in rows] == [[v is None for v in row] for row in ours], name
        assert [name for name, rows in found["views"].items() if not rows] == []
    blobs = {(table, column) for table, columns in found["types"].items() for column, type in columns.items() if type == "BLOB"}
    assert blobs == {("attribute", "value"), ("digest", "value"), ("repeated", "value")}   # Which they are
