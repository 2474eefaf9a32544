"""Files freshly written by the libraries of other formats (run.sh makes them): the tables and functions give what those
libraries themselves read in them."""
import hashlib
import json
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sql"))
from support import open_connection, rows, value  # noqa: E402  (it is there only now)

FILES = ROOT / "build" / "interop" / "foreign"
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
def source(request, record, expected):
    path = record.with_name(expected["file"])
    return str(path) if request.param == "path" else path.read_bytes()


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_each_library_wrote_files():
    assert {r.parent.name + "/" + r.stem for r in RECORDS} == {
        *("gguf/" + name for name in ("plain", "big", "quantized", "blocks", "vocabulary")),
        *("safetensors/" + name for name in ("dtypes", "names", "many", "empty", "metadata"))}


@EACH_FILE
def test_zt_files(db, source, expected):
    (row,) = rows(db, "SELECT container, version, objects, components, attributes, error FROM zt_files(?)", source)
    n = len(expected["objects"])
    assert row[:4] == (expected["container"], expected["version"], n, n) and row[5] is None
    assert json.loads(row[4]) == expected["attributes"]


@EACH_FILE
def test_zt_objects(db, source, expected):
    got = rows(db, "SELECT object, format, type, shape FROM zt_objects(?)", source)
    wanted = [(o["name"], o["format"], o["dtype"], o["shape"]) for o in expected["objects"]]
    got = [(name, format, dtype if format == "dense" else None, json.loads(shape)) for name, format, dtype, shape in got]
    if expected["container"] == "safetensors":   # Its library gives them in no order
        got, wanted = sorted(got), sorted(wanted)
    assert got == wanted


@EACH_FILE
def test_bytes(db, source, expected):
    got = dict(rows(db, """SELECT object, iif(format = 'dense', zt_dense(?1, object), zt_blob(?1, object))
                           FROM zt_objects(?1)""", source))
    assert {name: sha256(data) for name, data in got.items()} == {o["name"]: o["sha256"] for o in expected["objects"]}


@EACH_FILE
def test_values_of_blocks(db, source, expected):
    blocks = [o for o in expected["objects"] if o["f32_sha256"]]
    for o in blocks:
        values = numpy.frombuffer(value(db, "SELECT zt_dense(?, ?)", source, o["name"]), "<f4").copy()
        values[numpy.isnan(values)] = numpy.nan
        assert sha256(values.tobytes()) == o["f32_sha256"], o["name"]
    if isinstance(source, str):
        assert len(blocks) == {"quantized.gguf": 8, "blocks.gguf": 23}.get(expected["file"], 0)


@EACH_FILE
def test_nothing_is_wrong_with_them(db, source):
    assert rows(db, "SELECT rule, message FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []
