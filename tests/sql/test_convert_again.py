"""Golden zTensor files through zt_writer again: canonical ones come out as they are, and mode='update' keeps what no row changes."""
import shutil
import sqlite3

import pytest

import conversion
from conversion import FOLDERS
from support import rows

ZTENSOR = next(f for f in FOLDERS if f.parent.name == "ztensor")
STORED = "SELECT object, component, dtype, type, encoding, digest, stored FROM zt_components(?) ORDER BY 1, 2"
ATTRIBUTES = "SELECT object, key, quote(value) || '', type FROM zt_attributes(?)"   # Before 3.35, quote(1) is no text
UPDATED = [ZTENSOR / version / f"{name}.zt" for version, names in {
    "v1.2": "hand_attributes hand_unknown_dtype hand_unknown_encoding hand_unknown_format hand_unknown_type wheel_attributes wheel_types hand_complex hand_fp8 hand_quantized hand_names wheel_append wheel_checksums wheel_dtypes wheel_empty wheel_quantized wheel_sparse wheel_zstd",
    "v2": "hand_attribute_kinds hand_unknown_vocabulary wheel_logical wheel_attributes wheel_canonical wheel_names wheel_quant wheel_ranks wheel_sparse"}.items() for name in names.split()]
REFUSED = {
    "v2/hand_bad_data.zt": "object 'digest_wrong': component 'data': its bytes do not have its digest",
    "v1.2/hand_minor_version.zt": "files of its format and version cannot be updated; write its rows to another file"}


@pytest.fixture(scope="module")
def db():
    connection = conversion.connection()
    yield connection
    connection.close()


@pytest.mark.parametrize("name", ["wheel_canonical"])
def test_a_canonical_file_comes_out_byte_for_byte(db, tmp_path, name):
    source = ZTENSOR / "v2" / f"{name}.zt"
    ((target, _, refused),) = conversion.conversions(db, str(source), "ztensor-2", tmp_path)
    assert refused == {}
    with open(target, "rb") as file:
        assert file.read() == source.read_bytes()


def test_empty_parts_share_the_place_of_the_first(db, tmp_path):
    """As zTensor's own library has it: equal parts are one, also those of no bytes."""
    target = tmp_path / "empty.zt"
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}')")
    db.execute("INSERT INTO temp.out(name, data, dtype, shape) VALUES('a', x'', 'f32', '[0]'), ('b', x'01', 'u8', '[1]'), ('c', x'', 'f32', '[0]')")
    db.execute("DROP TABLE temp.out")
    assert rows(db, "SELECT object, offset, length FROM zt_components(?)", str(target)) == [("a", 65536, 0), ("b", 65536, 1), ("c", 65536, 0)]


def refused(db, target, format):
    """Add an attribute to the file. The message of a refusal, or None."""
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{target}', mode='update', format='{format}')")
    try:
        db.execute("INSERT INTO temp.out(key, value) VALUES('added', 1)")
        return None
    except sqlite3.Error as error:
        return str(error)
    finally:
        db.execute("DROP TABLE temp.out")


@pytest.mark.parametrize("path", UPDATED, ids=[p.stem for p in UPDATED])
def test_update_of_one_attribute_keeps_the_rest(db, tmp_path, path):
    target = str(shutil.copy(path, tmp_path))
    before = rows(db, STORED, target), rows(db, ATTRIBUTES, target)
    assert refused(db, target, "ztensor-2" if path.parent.name == "v2" else "ztensor-1.2") is None
    added = (None, "added", "1", "integer")
    assert rows(db, STORED, target) == before[0]
    assert sorted(rows(db, ATTRIBUTES, target), key=str) == sorted([*before[1], added], key=str)


@pytest.mark.parametrize("name", REFUSED)
def test_update_that_would_lose_something_is_refused(db, tmp_path, name):
    path = ZTENSOR / name
    target = str(shutil.copy(path, tmp_path))
    assert REFUSED[name] in refused(db, target, "ztensor-2" if "v2" in name else "ztensor-1.2")
    with open(target, "rb") as file:
        assert file.read() == path.read_bytes()
