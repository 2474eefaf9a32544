"""Files freshly written by the libraries of other formats (run.sh makes them): the tables and functions give what those
libraries themselves read in them."""
import hashlib
import json
import os
import sqlite3
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sql"))
from support import open_connection, rows, value  # noqa: E402  (it is there only now)

FILES = ROOT / "build" / "interop" / "foreign"
RECORDS = sorted(FILES.glob("*/*.json"))
# The formats of which the values are compared; of others, the bytes
DENSE = ("tensorflow.sliced", "dense", "matlab.sparse", "sparse_coo", "torch._rebuild_sparse_tensor", "sparse_csr", "torch.sparse_csc", "torch.sparse_bsr", "torch.sparse_bsc")
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
    written = {format: {r.stem for r in RECORDS if r.parent.name == format} for format in os.listdir(FILES)}
    assert len(written.pop("npy")) == 67   # Every dtype, in either byte order and either order of the elements; others
    values, models = ("every", "others", "nested", "lone", "leaf"), ("pipeline", "tree", "forest", "boosting", "svc", "neighbours", "perceptron",
                                                                     "words", "codes", "sparse")
    kinds = ("plain", "one", "zlib", "gzip")
    for format in ("pickle", "pickle_older"):
        assert written.pop(format) == {*(f"{name}_{protocol}" for name in values for protocol in range(6)),
                                       *(f"{name}_{kind}" for name in values for kind in kinds),
                                       *(f"{name}_{protocol}" for name in models for protocol in (2, 4, 5)),
                                       *(f"model_{name}_{kind}" for name in models for kind in kinds)}
    assert written == {
        "archive": {f"{name}{end}" for name in ("one", "two", "program", "both") for end in ("", "_64")},
        "gguf": {"plain", "big", "quantized", "blocks", "vocabulary"},
        "safetensors": {"dtypes", "names", "many", "empty", "metadata"},
        "npz": {*(f"{kind}{what}" for kind in ("stored", "deflated") for what in ("", "_names", "_others", "_many", "_zeros", "_none")),
                *(f"scipy_{form}{kind}" for form in ("csr", "csc", "coo", "bsr", "dia") for kind in ("", "_deflated"))},
        "tflite": {"types", "interpreted", "behind", "quantized", "subgraphs", "external", "many", "empty"},
        "msgpack": {"dtypes", "lone", "empty", "params", "names", "state", "chunks", "many"},
        "matlab": {"level_4", *(f"{name}{kind}" for kind in ("", "_deflated", "_columns")
                                for name in ("numbers", "empty", "structs", "cells", "texts", "sparse", "many", "nothing"))},
        "tensorflow": {f"{name}{kind}" for kind in ("", "_snappy") for name in ("types", "shapes", "names", "many", "shards", "empty", "partitioned")},
        "hdf5": {*(f"{what}_{version}" for what in ("types", "others", "chunks", "storage", "tree", "attributes")
                   for version in ("earliest", "v108", "v110", "v112", "latest") if (what, version) != ("attributes", "earliest")),
                 "ordered", "userblock", "long", "long_old", "pytables"},
        "keras": {f"{name}{end}" for name in ("dense", "convolutions", "words", "functional") for end in ("", "_weights.weights", "_legacy")},
        "msgpack_numpy": {"arrays", "older", "thinc"},
        "flax": {"variables", "adamw", "sgd", "lion", "leaves", "chunks"},
        "onnx": {"raw", "typed", "names", "many", "nodes", "external", "properties", "empty"},
        "pytorch": {"dtypes", "state_dict", "pytorch_model", "checkpoint", "views", "sparse", "quantized", "module", "parameters",
                    "tensor", "list", "odd_keys", "empty", "many", "script", "layouts", "nested", "subclasses", "lazily", "calls", "meta", "blocks", "arrays",
                    *(f"{kind}{protocol}" for kind in ("protocol", "legacy") for protocol in (2, 3, 4, 5)),
                    *(f"legacy_{name}" for name in ("views", "module", "quantized", "tensor", "layouts", "lazily"))}}


@EACH_FILE
def test_zt_files(db, source, expected):
    (row,) = rows(db, "SELECT container, version, objects, components, attributes, error FROM zt_files(?)", source)
    components = sum(o["components"] for o in expected["objects"])
    assert row[:4] == (expected["container"], expected["version"], len(expected["objects"]), components) and row[5] is None
    got, wanted = known(json.loads(row[4])), expected["attributes"]
    if expected["container"] == "safetensors":   # Its library gives them in no order
        got, wanted = dict(sorted(got.items())), dict(sorted(wanted.items()))
    if expected["all"]:
        assert list(got.items()) == list(wanted.items())


def known(attributes):
    """Without what torch does not show: what a pickle would call is there, but not which call it is."""
    return {key: {"$opaque": None} if isinstance(value, dict) and "$opaque" in value else value for key, value in attributes.items()}


def name_of(source, expected, o):
    """An array of its own has the file's name."""
    return "data" if expected["container"] == "npy" and not isinstance(source, str) else o["name"]


def shard_of(source, expected, o):
    """A file of data has the name of its index."""
    if expected["container"] != "tensorflow" or isinstance(source, str):
        return o["shard"]
    return "data" + o["shard"][len(expected["file"].removesuffix(".index")):]


@EACH_FILE
def test_zt_objects(db, source, expected):
    got = rows(db, "SELECT object, format, type, shape, attributes FROM zt_objects(?)", source)
    wanted = [(name_of(source, expected, o), o["format"], o["dtype"], o["shape"], o["attributes"]) for o in expected["objects"]]
    got = [(name, format, dtype if format in (*DENSE, "torch.meta") else None, shape and json.loads(shape),
            {key: value for key, value in json.loads(attributes).items() if key in o["attributes"]})
           for (name, format, dtype, shape, attributes), o in zip(got, expected["objects"])]
    if expected["container"] == "safetensors":   # Its library gives them in no order
        got, wanted = sorted(got, key=str), sorted(wanted, key=str)
    assert got == wanted


@EACH_FILE
def test_bytes(db, source, expected):
    objects = {name_of(source, expected, o): o for o in expected["objects"]}
    shards = dict(rows(db, "SELECT DISTINCT object, shard FROM zt_components(?)", source))
    assert shards == {name: shard_of(source, expected, o) for name, o in objects.items() if o["components"]}
    beside = {name for name, o in objects.items() if o["shard"] and isinstance(source, bytes)}
    digests = {name: o["sha256"] for name, o in objects.items() if o["sha256"] and name not in beside}
    read = f"iif(format IN {DENSE}, zt_dense(?1, object), zt_blob(?1, object))"
    got = rows(db, f"SELECT object, {read} FROM zt_objects(?1) WHERE object IN (SELECT value FROM json_each(?2))", source, json.dumps([*digests]))
    assert {name: sha256(data) for name, data in got} == digests
    for name in beside:
        with pytest.raises(sqlite3.OperationalError, match=f"object '{name}'"):
            value(db, "SELECT zt_dense(?, ?)", source, name)


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
def test_nothing_is_wrong_with_them(db, source, expected):
    """But that a BLOB has no file beside it."""
    found = rows(db, "SELECT DISTINCT rule, object FROM zt_check(?, 'full') WHERE severity = 'error'", source)
    assert found == [("external-file", o["name"]) for o in expected["objects"] if o["shard"] and isinstance(source, bytes)]
