"""Files freshly written by the format's own libraries (run.sh makes them): the tables and zt_blob give exactly what the
libraries were given."""
import hashlib
import json
import struct
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sql"))
import reference  # noqa: E402  (they are there only now)
from support import message, open_connection, rows, value  # noqa: E402

FILES = ROOT / "build" / "interop" / "files"
RECORDS = sorted(FILES.glob("*/*.json"))
EACH_FILE = pytest.mark.parametrize("record", RECORDS, ids=[str(r.relative_to(FILES).with_suffix("")) for r in RECORDS])


@pytest.fixture(scope="module")
def db():
    connection = open_connection()
    yield connection
    connection.close()


@pytest.fixture
def expected(record):
    return json.loads(record.read_text())


@pytest.fixture(params=["path", "blob"])
def source(request, record):
    path = record.with_suffix(".zt")
    return str(path) if request.param == "path" else path.read_bytes()


def components(expected):
    """[(object's name, role, component)], sorted."""
    return sorted(((name, role, c) for name, o in expected["objects"].items() for role, c in o["components"].items()),
                  key=lambda item: item[:2])


def in_reach(source, component):
    """A BLOB has no shard beside it."""
    return isinstance(source, str) or "shard" not in component


def test_each_library_wrote_files():
    count = {version.name: len(list(version.glob("*.json"))) for version in sorted(FILES.iterdir())}
    assert count == {"0.1.4": 5, "1.0.1": 8, "1.1.1": 8, "1.2.3": 11, "2.1.2": 17}
    assert [r.with_suffix(".zt") for r in RECORDS] == sorted(FILES.glob("*/*.zt"))


@EACH_FILE
def test_zt_files(db, source, expected):
    (row,) = rows(db, "SELECT container, version, objects, components, decoded_bytes, attributes, error FROM zt_files(?)", source)
    container, version, *rest = row
    assert container == "ztensor"
    assert version == expected["version"] or version.startswith(expected["version"] + ".")
    parts = components(expected)
    *counts, attributes, error = rest
    assert counts == [len(expected["objects"]), len(parts), sum(c["bytes"] for _, _, c in parts)]
    assert json.loads(attributes) == expected["attributes"] and error is None


@EACH_FILE
def test_zt_objects(db, source, expected):
    got = rows(db, "SELECT object, format, shape, rank, components, attributes FROM zt_objects(?) ORDER BY object", source)
    assert [(*row[:2], json.loads(row[2]), *row[3:5], json.loads(row[5])) for row in got] == [
        (name, o["format"], o["shape"], len(o["shape"]), len(o["components"]), o["attributes"])
        for name, o in sorted(expected["objects"].items())]


@EACH_FILE
def test_zt_components(db, source, expected):
    got = rows(db, """SELECT object, component, dtype, type, encoding, byte_order, decoded_length, shard, digest
                      FROM zt_components(?) ORDER BY object, component""", source)
    algorithms = [(*row[:8], row[8] and row[8].split(":")[0]) for row in got]
    assert algorithms == [
        (name, role, c["dtype"], c["type"] or c["dtype"], c["encoding"], "little", c["bytes"], c.get("shard"), c["digest"])
        for name, role, c in components(expected)]


@EACH_FILE
def test_digest_status(db, source, expected):
    for name, role, c in components(expected):
        if in_reach(source, c):
            assert value(db, "SELECT digest_status FROM zt_components(?) WHERE object = ? AND component = ?", source, name,
                         role) == (c["digest"] and "ok"), (name, role)


@EACH_FILE
def test_zt_check_finds_nothing_wrong(db, source, expected):
    if all(in_reach(source, c) for _, _, c in components(expected)):
        assert rows(db, "SELECT * FROM zt_check(?, 'full') WHERE severity = 'error' AND rule <> 'unknown-format'", source) == []


@EACH_FILE
def test_zt_blob(db, source, expected):
    for name, role, c in components(expected):
        if not in_reach(source, c):
            assert f"shard '{c['shard']}'" in message(db, "SELECT zt_blob(?, ?, ?)", source, name, role)
            continue
        data = value(db, "SELECT zt_blob(?, ?, ?)", source, name, role)
        assert (len(data), hashlib.sha256(data).hexdigest()) == (c["bytes"], c["sha256"]), (name, role)


@EACH_FILE
def test_zt_hash(db, source, expected):
    for name, role, c in components(expected):
        if in_reach(source, c):
            assert value(db, "SELECT zt_hash(?, ?, ?, 'sha256')", source, name, role) == "sha256:" + c["sha256"], (name, role)


# The dense form of content.py's sparse tensors.
SPARSE = {"sparse_csr": struct.pack("<24f", *[1.5, 0, -2, 0, 0, 0], *[0] * 6, *[0, 3, 0, 0, 0, 0], *[0, 0, 0, 0, 4.25, 0]),
          "sparse_coo": struct.pack("<24q", *[0, 0, 0, 0, 0, 7], *[0] * 6, *[-8, 0, 0, 0, 0, 0], *[0, 9, 0, 0, 0, 0])}


@EACH_FILE
def test_zt_dense(db, source, expected):
    for name, o in expected["objects"].items():
        if not all(in_reach(source, c) for c in o["components"].values()):
            continue
        if o["format"] == "dense" and "/" in (o["components"]["data"]["type"] or ""):
            assert "type 'somebody.elses/1' is not known" in message(db, "SELECT zt_dense(?, ?)", source, name)
        elif o["format"] == "dense":
            data = value(db, "SELECT zt_dense(?, ?)", source, name)
            assert hashlib.sha256(data).hexdigest() == o["components"]["data"]["sha256"], name
        elif o["format"] in SPARSE:
            assert value(db, "SELECT zt_dense(?, ?)", source, name) == SPARSE[o["format"]], name


@EACH_FILE
def test_zt_dense_of_quantized_objects_is_what_their_codes_stand_for(db, record, expected):
    source = str(record.with_suffix(".zt"))

    def read(name, role):
        return value(db, "SELECT zt_blob(?, ?, ?)", source, name, role)

    for name, o in expected["objects"].items():
        types = {role: c["type"] or c["dtype"] for role, c in o["components"].items()}
        if o["format"] == "zt.mx/1":
            wanted = reference.mx(o["shape"], o["attributes"], types["data"], read(name, "data"), read(name, "scales"))
        elif o["format"] == "zt.quant_group/1":
            numbers = {role: reference.decode(types[role], read(name, role)) for role in types if role != "data"}
            wanted = reference.quant_group(o["shape"], o["attributes"], read(name, "data"), **numbers)
        else:
            continue
        got = value(db, "SELECT zt_dense(?, ?)", source, name)
        assert reference.comparable("f32", got) == reference.comparable("f32", reference.encode("f32", wanted)), name


def test_the_libraries_wrote_sparse_tensors():
    formats = {o["format"] for r in RECORDS for o in json.loads(r.read_text())["objects"].values()}
    assert formats >= {"dense", *SPARSE}


@EACH_FILE
def test_zt_attributes(db, source, expected):
    got = rows(db, "SELECT object, key, value, type FROM zt_attributes(?) ORDER BY object, key", source)
    shown = [(o, k, json.loads(v) if t in ("array", "object") else bool(v) if t in ("true", "false") else v) for o, k, v, t in got]
    owners = [(None, expected["attributes"]), *((name, o["attributes"]) for name, o in expected["objects"].items())]
    assert shown == sorted(((name, k, v) for name, own in owners for k, v in (own or {}).items()),
                           key=lambda row: (row[0] is not None, *row[:2]))
