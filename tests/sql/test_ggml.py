"""Blocks of ggml: gguf.q4_k/1 and the like of zTensor 2, in every table and function that gives values."""
import numpy
import pytest

import writer
from support import ROOT, message, place, rows, value

BLOCKS = ROOT / "tests" / "formats" / "gguf" / "blocks"
TYPES = sorted(path.stem for path in BLOCKS.glob("*.f32"))


def example(type):
    """A file of one object of two rows, and its values."""
    values = numpy.frombuffer((BLOCKS / f"{type}.f32").read_bytes(), "<f4").reshape(2, -1)
    object = {"shape": list(values.shape), "format": f"gguf.{type}/1", "components": {"data": {"bytes": (BLOCKS / f"{type}.blocks").read_bytes()}}}
    return writer.write_2({"w": object}), values


def shown(x):
    """SQL has no NaN."""
    return None if numpy.isnan(x) else float(x)


def test_all_types_are_here():
    assert len(TYPES) == 25


@pytest.mark.parametrize("type", TYPES)
def test_values_are_those_of_ggml(db, type):
    file, values = example(type)
    wide = values.shape[1]
    assert rows(db, "SELECT format, dtype FROM zt_objects(?)", file) == [(f"gguf.{type}/1", "u8")]
    assert value(db, "SELECT zt_dense(?, 'w')", file) == values.tobytes()
    assert rows(db, "SELECT vector FROM zt_rows(?, 'w')", file) == [(row.tobytes(),) for row in values]
    assert rows(db, "SELECT value FROM zt_elements(?, 'w')", file) == [(shown(x),) for x in values.ravel()]
    for i, j in ((0, 0), (0, wide - 1), (1, 0), (1, wide // 2 + 1), (1, wide - 1)):
        assert value(db, "SELECT zt_value(?, 'w', ?, ?)", file, i, j) == shown(values[i, j])


@pytest.mark.parametrize("type", TYPES)
def test_slices_begin_and_end_anywhere(db, type):
    file, values = example(type)
    flat = values.ravel()
    for first in (0, 1, 31, 32, 33, 255, 256, 257, flat.size - 1):
        if first >= flat.size:
            continue
        for n in (1, 2, 31, 32, 33, 300):
            i, j = divmod(first, values.shape[1])
            got = rows(db, "SELECT value FROM zt_elements(?, 'w') LIMIT ? OFFSET ?", file, n, first)
            assert got == [(shown(x),) for x in flat[first:first + n]]


@pytest.mark.parametrize("type", TYPES)
def test_statistics(db, type):
    file, values = example(type)
    (counts, least, most), = [(row[:4], *row[4:]) for row in rows(db, "SELECT elements, zeros, nans, infs, min, max FROM zt_stats(?)", file)]
    assert counts == (values.size, int((values == 0).sum()), int(numpy.isnan(values).sum()), int(numpy.isinf(values).sum()))
    finite = values[numpy.isfinite(values)]
    assert (least, most) == (finite.min(), finite.max())


@pytest.mark.parametrize("type, size", [("q8_1", 36), ("q8_k", 292)])
def test_types_whose_elements_nobody_defines_have_no_values(db, type, size):
    object = {"shape": [1, 256], "format": f"gguf.{type}/1", "components": {"data": {"bytes": bytes(256 // (32 if size == 36 else 256) * size)}}}
    file = writer.write_2({"q": object, "w": writer.dense(b"\1\2")})
    assert message(db, "SELECT zt_dense(?, 'q')", file) == f"{place(file, 'q')}no specification defines the elements of {type}"
    assert len(value(db, "SELECT zt_blob(?, 'q')", file)) == len(object["components"]["data"]["bytes"])
    assert value(db, "SELECT zt_dense(?, 'w')", file) == b"\1\2"


def test_settings_of_blocks_are_left_behind_and_other_attributes_come_along(db):
    object = {"shape": [1, 32], "format": "gguf.q8_0/1", "components": {"data": {"bytes": bytes(34)}}, "attributes": {"note": "x"}}
    packed = value(db, "SELECT zt_pack('ztensor-2', 'w', ?, 'w')", writer.write_2({"w": object}))
    assert ("note", "x") in rows(db, "SELECT key, value FROM zt_attributes(?)", packed)
