"""zt_pack: arguments that cannot be, and what the message names."""
import pytest

from support import message, rows, value

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


def test_an_object_that_is_null_has_the_new_name(db):
    image = value(db, packed(DATA))
    assert value(db, "SELECT zt_pack('npz', 'w', ?, NULL)", image) == image
    assert rows(db, "SELECT object FROM zt_objects(?)", image) == [("w",)]


def test_without_rows_it_is_null(db):
    assert rows(db, "SELECT zt_pack('onnx', 'w', NULL, NULL) WHERE 0") == [(None,)]


def test_it_is_in_every_entry(connect):
    for entry in ("sqlite3_ztensor_init", "sqlite3_ztensor_nofs_init", "sqlite3_ztensor_write_init"):
        assert message(connect(entry=entry), packed(["NULL", *DATA[1:]])) == f"ztensor: zt_pack: format must not be NULL; {FORMATS}"
