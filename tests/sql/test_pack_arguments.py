"""zt_pack: arguments that cannot be, and what the message names."""
import io
import sqlite3

import numpy
import pytest

from support import failure, message, rows, value

FORMATS = "the formats are 'ztensor-2', 'ztensor-1.2', 'safetensors', 'gguf', 'npy' and 'npz'"
DATA = ["'npz'", "'w'", "x'01'", "'u8'", "'[1]'"]


def packed(arguments):
    return f"SELECT zt_pack({', '.join(arguments)})"


@pytest.mark.parametrize("format, said", [
    ("NULL", f"format must not be NULL; {FORMATS}"), ("x'6e707a'", f"format must be TEXT; {FORMATS}"),
    ("'onnx'", f"there is no format 'onnx' to write; {FORMATS}"), ("''", f"there is no format '' to write; {FORMATS}"),
    ("'NPZ'", f"there is no format 'NPZ' to write; {FORMATS}"), ("7", f"there is no format '7' to write; {FORMATS}"),
    ("'npz' || char(0)", f"format has U+0000 in it; {FORMATS}"),
    ("'a' || char(10, 27) || 'b'", f"there is no format 'a\\n\\x1bb' to write; {FORMATS}")])
def test_an_unknown_format_lists_those_that_there_are(db, format, said):
    for arguments in ([format, *DATA[1:]], [format, "'w'", "'a.npz'", "'w'"]):
        assert message(db, packed(arguments)) == f"ztensor: zt_pack: {said}"


@pytest.mark.parametrize("place, said", [
    (1, "name must not be NULL"), (2, "object 'w': data must not be NULL"), (3, "object 'w': dtype must not be NULL"),
    (4, "object 'w': shape must not be NULL")])
def test_null_is_named(db, place, said):
    arguments = list(DATA)
    arguments[place] = "NULL"
    assert message(db, packed(arguments)) == f"ztensor: zt_pack: {said}"


def test_null_as_a_source_is_named(db):
    assert message(db, packed(["'npz'", "'w'", "NULL", "'w'"])) == "ztensor: zt_pack: object 'w': source must not be NULL"
    assert message(db, packed(["'npz'", "NULL", "'a.npz'", "'w'"])) == "ztensor: zt_pack: name must not be NULL"


def test_the_first_row_that_cannot_be_is_the_error_of_its_group(db):
    sql = "SELECT zt_pack('npz', column1, column2, 'u8', '[1]') FROM (VALUES ('a', x'01'), ('b', NULL), (NULL, x'01'))"
    assert message(db, sql) == "ztensor: zt_pack: object 'b': data must not be NULL"


def test_a_group_has_one_format(db):
    sql = "SELECT zt_pack(column1, column2, x'01', 'i8', '[1]') FROM (VALUES ('npz', 'a'), ('npz', 'b'), ('gguf', 'c'))"
    assert message(db, sql) == "ztensor: zt_pack: the format differs between rows of a group"
    grouped = rows(db, sql.replace("SELECT", "SELECT column1,") + " GROUP BY 1 ORDER BY 1")
    assert [(format, value(db, "SELECT group_concat(object) FROM zt_objects(?)", image)) for format, image in grouped] == [
        ("gguf", "c"), ("npz", "a,b")]


def test_tensors_that_cannot_be_together_are_an_error(db):
    sql = "SELECT zt_pack('npy', column1, x'01', {}, '[1]') FROM (VALUES ('a'), ('b'))"
    assert message(db, sql.format("'u8'")) == "ztensor: zt_pack: npy holds one tensor, and there are 2; npz holds any number"
    assert message(db, sql.format("'u16'")) == "ztensor: zt_pack: object 'a': component 'data': 1 elements of u16 are 2 bytes, and data has 1"


def test_a_file_longer_than_a_blob_may_be_is_an_error(db):
    compressed = io.BytesIO()
    numpy.savez_compressed(compressed, w=numpy.zeros(100_000, "u1"))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50_000)
    error = failure(db, "SELECT zt_pack('npz', 'w', ?, 'w')", compressed.getvalue())
    assert (error.sqlite_errorcode, str(error)) == (
        sqlite3.SQLITE_TOOBIG, "ztensor: zt_pack: the file would be longer than the limit of 50000 bytes on a result")


def test_values_that_have_changed_are_an_error(db):
    image = value(db, "SELECT zt_pack('ztensor-2', 'w', ?, 'u8', '[8]')", b"12345678")
    assert message(db, "SELECT zt_pack('npz', 'w', ?, 'w')", image.replace(b"12345678", b"12345687")) == (
        "ztensor: <blob>: object 'w': component 'data': its bytes do not have its digest")


def test_an_object_that_is_null_has_the_new_name(db):
    image = value(db, packed(DATA))
    assert value(db, "SELECT zt_pack('npz', 'w', ?, NULL)", image) == image
    assert rows(db, "SELECT object FROM zt_objects(?)", image) == [("w",)]


def test_without_rows_it_is_null(db):
    assert rows(db, "SELECT zt_pack('onnx', 'w', NULL, NULL) WHERE 0") == [(None,)]


def test_it_is_in_every_entry(connect):
    for entry in ("sqlite3_ztensor_init", "sqlite3_ztensor_nofs_init", "sqlite3_ztensor_write_init"):
        assert message(connect(entry=entry), packed(["NULL", *DATA[1:]])) == f"ztensor: zt_pack: format must not be NULL; {FORMATS}"
