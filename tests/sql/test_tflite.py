"""TensorFlow Lite: data beyond 2 GB, external buffers, and quantized integers as the numbers that they stand for."""
import bisect
import json
import os
import sqlite3
import struct

import pytest

import write_tflite as tflite
from support import message, place, rows, value

NOFS = "sqlite3_ztensor_nofs_init"
DATA = tflite.floats(3, 4)


def test_data_beyond_2_gb(db, tmp_path):
    """Of a file that has no other bytes there."""
    path, at = tmp_path / "m.tflite", (5 << 30) + 16
    with open(path, "wb") as f:
        f.write(tflite.file(tflite.two(bytes_of=tflite.behind(at, len(DATA)))))
        f.seek(at)
        f.write(DATA)
    assert rows(db, "SELECT object, offset, length FROM zt_components(?) WHERE object = 'w'", str(path)) == [("w", at, len(DATA))]
    assert value(db, "SELECT zt_dense(?, 'w')", str(path)) == DATA
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", str(path)) == []
    os.truncate(path, at + len(DATA) - 1)
    assert message(db, "SELECT zt_dense(?, 'w')", str(path)) == place(str(path), "w", "data") + "its bytes go beyond the file"
    assert value(db, "SELECT zt_dense(?, 'fine')", str(path)) == tflite.floats(1, 2)


@pytest.fixture
def external(save):
    """A model with an external buffer of 16 bytes, in a file of 20."""
    save("models/sub/w.bin", b"----" + DATA)
    return save("models/m.tflite", tflite.file(tflite.outside(tflite.external(5, 0, 4, 16), groups=["sub/w.bin"])))


def test_an_external_buffer_is_in_a_file_below_the_models_directory(db, external):
    assert value(db, "SELECT zt_dense(?, 'w')", external) == DATA
    assert rows(db, "SELECT shard, offset, length FROM zt_components(?) WHERE object = 'w'", external) == [("sub/w.bin", 4, 16)]


def test_a_blob_has_no_external_buffer(connect, external):
    with open(external, "rb") as f:
        data = f.read()
    db = connect(entry=NOFS)
    assert "a BLOB has none" in message(db, "SELECT zt_dense(?, 'w')", data)
    assert value(db, "SELECT zt_dense(?, 'fine')", data) == tflite.floats(1, 2)


def test_a_link_out_of_the_directory_is_not_followed(db, save, tmp_path):
    save("secret.bin", DATA)
    path = save("models/m.tflite", tflite.file(tflite.outside(tflite.external(5, 0, 0, 16), groups=["w.bin"])))
    os.symlink(tmp_path / "secret.bin", tmp_path / "models" / "w.bin")
    assert message(db, "SELECT zt_dense(?, 'w')", path).startswith(place(path, "w", "data"))


# The query of ext/REFERENCE.md
DEQUANTIZED = """
    WITH q AS (SELECT object, attributes, json_array_length(attributes, '$.scale') AS scales FROM zt_objects(?1) WHERE object = ?2),
         e AS (SELECT q.*, position, value, CASE scales WHEN 1 THEN 0
                      ELSE json_extract(coords, '$[' || json_extract(attributes, '$.quantized_dimension') || ']') END AS i
               FROM q, zt_elements(?1, q.object))
    SELECT (value - json_extract(attributes, '$.zero_point[' || i || ']')) * json_extract(attributes, '$.scale[' || i || ']')
    FROM e ORDER BY position"""


@pytest.mark.parametrize("shape, axis, scales, zeros", [([2, 3], 0, [0.5, 2.0], [1, -1]), ([2, 3], 1, [1.0, 2.0, 4.0], [0, 1, 2]), ([6], 0, [0.25], [128])])
def test_a_query_makes_numbers_of_quantized_integers(db, shape, axis, scales, zeros):
    quantization = tflite.Table({2: tflite.Vector("f", scales), 3: tflite.Vector("q", zeros), 6: tflite.Number("i", axis)})
    model = tflite.model([tflite.subgraph(tflite.tensor("w", shape, tflite.INT8, 1, {4: quantization}))], [tflite.data(bytes([1, 2, 3, 255, 254, 128]))])
    stored = [1, 2, 3, -1, -2, -128]
    place_of = [0] * 6 if len(scales) == 1 else [k // shape[1] if axis == 0 else k % shape[1] for k in range(6)]
    expected = [((n - zeros[i]) * scales[i],) for n, i in zip(stored, place_of)]
    assert rows(db, DEQUANTIZED, tflite.file(model), "w") == expected
    assert value(db, "SELECT zt_json(?, 'w', NULL)", tflite.file(model)) == json.dumps(
        stored if len(shape) == 1 else [stored[:3], stored[3:]], separators=(",", ":"))


def test_tensors_without_bytes_are_not_listed(db):
    tensors = [tflite.tensor("none", [4], buffer=0), tflite.tensor("empty", [4], buffer=2), tflite.tensor("w", [4], buffer=1)]
    model = tflite.file(tflite.model([tflite.subgraph(*tensors)], [tflite.data(DATA), tflite.data(b"")]))
    assert rows(db, "SELECT object, json_extract(attributes, '$.tensor') FROM zt_objects(?)", model) == [("w", 2)]


def test_a_version_that_is_absent_is_null(db):
    model = tflite.model([tflite.subgraph(tflite.FINE)], [tflite.FINE_DATA] * 2)
    del model.fields[0]
    assert rows(db, "SELECT version, objects FROM zt_files(?)", tflite.file(model)) == [(None, 1)]


@pytest.mark.parametrize("n", range(0, 353, 7))
def test_a_file_that_is_cut_is_refused_or_says_what_is_missing(db, n):
    data = tflite.file(tflite.two())[:n]
    ((objects, error),) = rows(db, "SELECT objects, error FROM zt_files(?)", data)
    assert (objects is None) == (error is not None)
    if error is None:
        found = rows(db, "SELECT rule FROM zt_check(?)", data)
        assert found and {rule for rule, in found} <= {"tflite-data"}


def test_many_subgraphs_of_the_same_tensors_cost_no_more_than_the_file(db):
    shared = tflite.Tables([tflite.FINE] * 2000)
    data = tflite.file(tflite.model([tflite.Table({0: shared})] * 2000, [tflite.FINE_DATA] * 2))
    assert "vectors of tables take more bytes than the file" in message(db, "SELECT count(*) FROM zt_objects(?)", data)


# ---- Rare and broken forms

LISTED = "SELECT * FROM zt_objects(?)"
BEYOND = "a reference leads beyond the file"
NOWHERE = 0x7fffffff


def refused(db, root):
    return message(db, LISTED, tflite.file(root))


def lists(*items):
    return tflite.Tables(items)


def bad(field):
    """A table whose field is not in it."""
    return tflite.Table({}, vtable=struct.pack("<HH", 6 + 2 * field, 4) + b"\0\0" * field + b"\2\0")


@pytest.mark.parametrize("root, fault", [
    (tflite.model([tflite.subgraph(NOWHERE)], []), BEYOND), (tflite.model([NOWHERE], []), BEYOND),
    (tflite.two(model_more={6: lists(NOWHERE), 5: tflite.Vector("i", [1, 2])}), BEYOND),                        # Metadata
    (tflite.two(model_more={9: lists(NOWHERE)}), BEYOND),                                                       # An external buffer that nothing refers to
    (tflite.model([tflite.subgraph(tflite.FINE)], [tflite.FINE_DATA, tflite.FINE_DATA, NOWHERE, tflite.FINE_DATA]), BEYOND),   # Such a buffer
    (tflite.outside(NOWHERE, tflite.external(5, 0, 0, 16)), BEYOND), (tflite.outside(bad(0)), "does not lie within its table"),
    (tflite.two(buffer=0, more={10: tflite.u32(5)}, model_more={8: lists(NOWHERE), 9: lists(tflite.external(5, 0, 0, 16))}), BEYOND)])
def test_tables_that_are_not_there(db, root, fault):
    assert fault in refused(db, root)


def test_metadata_of_a_buffer_that_is_not_there(db):
    source = tflite.file(tflite.two(model_more={6: lists(tflite.Table({0: tflite.text(""), 1: tflite.u32(99)}), tflite.Table({1: tflite.u32(1)}))}))
    assert value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'metadata'", source) == '["",null]'
    assert value(db, "SELECT zt_dense(?, 'w')", source) == DATA


@pytest.mark.parametrize("buffer", [tflite.behind(16, 0), tflite.behind(1, 16), tflite.behind(0, 0)])
def test_a_buffer_of_no_bytes(db, buffer):
    assert rows(db, "SELECT object FROM zt_objects(?)", tflite.file(tflite.two(bytes_of=buffer))) == [("fine",)]


def test_the_first_of_two_faults_is_told(db):
    source = tflite.file(tflite.outside(tflite.external(5, 3, 0, 16, b"\xff")))
    assert rows(db, "SELECT message FROM zt_check(?) WHERE object = 'w' AND severity = 'error'", source) == [("the model does not have the group of its external buffer",)]
    source = tflite.file(tflite.outside(tflite.external(4, 0, 0, 16), tflite.external(3, 0, 0, 16)))
    assert rows(db, "SELECT message FROM zt_check(?) WHERE object = 'w' AND severity = 'error'", source) == [("no external buffer of the model has its number",)]


@pytest.mark.parametrize("kind, shown", [(2, "BlockwiseQuantization"), (3, "MultiAxisQuantization")])
def test_quantization_without_its_details(db, kind, shown):
    source = tflite.file(tflite.two(more={4: tflite.Table({4: tflite.Number("B", kind)})}))
    attributes = json.loads(value(db, "SELECT attributes FROM zt_objects(?) WHERE object = 'w'", source))
    assert attributes["quantization_details"] == {"kind": shown}


@pytest.mark.parametrize("length", range(10, 26))
def test_the_last_name_is_too_much(db, length):
    """A tensor of 64 dimensions takes more than was asked for its name."""
    shared = tflite.tensor("n" * length, [0] + [2**31 - 1] * 63)

    def listed(n):
        try:
            return len(rows(db, LISTED, tflite.file(tflite.model([tflite.subgraph(*[shared] * n)], [tflite.data(tflite.floats(3))]))))
        except sqlite3.OperationalError as error:
            assert "names and what is shown as text take more than" in str(error)
            return None
    n = bisect.bisect_left(range(4000), True, key=lambda n: listed(n) is None)
    assert n > 10 and listed(n - 1) == n - 1
