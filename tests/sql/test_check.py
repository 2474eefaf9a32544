"""zt_check: every rule has a file that breaks it (test_hostile.py), clean files break none, and findings come in order."""
import struct

import pytest

import corpus
import writer
from support import rows, value

COLUMNS = "path, object, component, severity, rule, message"
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
LEVELS = pytest.mark.parametrize("level", ["quick", "full"])


def findings(db, source, level="full"):
    """(object, component, severity, rule, message) of each row; what `path` says is asserted."""
    got = rows(db, f"SELECT {COLUMNS} FROM zt_check(?, ?)", source, level)
    assert {row[0] for row in got} <= {corpus.path_of(source)}
    return [row[1:] for row in got]


def rules(db, source, level="full"):
    return [row[3] for row in findings(db, source, level)]


# ------------------------------------------------------------------------------------------------------------------ rules

def test_every_rule_has_a_file_that_breaks_it(db):
    """A BLOB is never unreadable: test_check_sources.py has what cannot be opened."""
    assert {rule for rule, in rows(db, "SELECT rule FROM zt_rules")} == corpus.findings() | {"unreadable"}


def test_meaning_and_specification_are_those_of_the_rule(db):
    known = {row[0]: row[1:] for row in rows(db, "SELECT rule, severity, meaning, specification FROM zt_rules")}
    found = rows(db, "SELECT DISTINCT rule, severity, meaning, specification FROM zt_check(?, 'full')", str(corpus.HOSTILE))
    assert len(found) > 80
    assert [row[1:] for row in found] == [known[row[0]] for row in found]


# ------------------------------------------------------------------------------------------------------------- clean files

def plain_objects(generation):
    """Dense objects of all types that a generation has, raw and compressed, of several shapes."""
    types = [*writer.LONG_NAMES, *(corpus.TYPES if generation == "1.2" else [])]
    objects = {}
    for type in types:
        storage, _ = corpus.TYPES.get(type, (type, 1))
        for shape in ([], [0], [3, 0], [6], [2, 3]):
            object = writer.typed(bytes([1]) * corpus.dense_size(elements(shape), storage, type), shape, type)
            objects[f"{type} {shape}"] = object
            objects[f"{type} {shape} zstd"] = compressed(object, generation)
    return objects


def elements(shape):
    return 1 if not shape else shape[0] * elements(shape[1:])


def compressed(object, generation):
    """Before 1.2 there was no uncompressed_length."""
    parts = writer.zstd_parts(object)["components"]
    if generation != "1.2":
        parts = {role: {k: v for k, v in c.items() if k != "uncompressed_length"} for role, c in parts.items()}
    return dict(object, components=parts)


def composite_objects(generation):
    if generation == "0.1":
        return {}
    objects = {
        "csr": writer.sparse_csr([3, 4], [0, 2, 2, 3], [1, 3, 0], b"\1\2\3"),
        "csr without values": writer.sparse_csr([2, 2], [0, 0, 0], [], b""),
        "csr of no row": writer.sparse_csr([0, 2], [0], [], b""),
        "coo": writer.sparse_coo([2, 2, 2], [(0, 0, 1), (0, 1, 0), (1, 0, 0)], b"\1\0\1", "bool"),
        "coo without values": writer.sparse_coo([2, 2], [], b""),
        "coo of a scalar": {"shape": [], "format": "sparse_coo", "components": {"values": {"bytes": b"\1"}, "coords": {
            "dtype": "u64", "bytes": b""}}},
    }
    if generation == "1.1":
        objects["other indices"] = writer.sparse_csr([3, 4], [0, 2, 2, 3], [1, 3, 0], b"\1\2\3", index="u16")
    if generation != "1.0":
        objects["quantized"] = writer.quantized([2, 8], [7] * 16, 4, 4, "i32", bytes(16), bytes(16))
    return {**objects, **{name + " zstd": compressed(object, generation) for name, object in objects.items()}}


def objects_of_0_1():
    csr = struct.pack("<3Q2Q", 0, 1, 2, 1, 0) + b"\7\x09"
    coo = struct.pack("<2Q", 0, 1) + b"\1" + struct.pack("<2Q", 1, 1) + b"\2"
    return {
        "big": writer.dense(struct.pack(">3f", 1, 2, 3), [3], "f32", data_endianness="big"),
        "csr": dict(writer.dense(csr, [2, 2]), format="sparse", attributes={"sparse_format": "csr"}),
        "coo": dict(writer.dense(coo, [2, 2]), format="sparse", attributes={"sparse_format": "coo"}),
    }


def clean(generation):
    """A file with all that a generation has, nothing to be said against any of it."""
    objects = {**plain_objects(generation), **composite_objects(generation), **(objects_of_0_1() if generation == "0.1" else {})}
    key = "checksum" if generation == "0.1" else "digest"
    objects["crc32c"] = writer.dense(b"123456789", **{key: "crc32c:0xE3069283"})
    objects["in upper case"] = writer.dense(b"\1", **{key: writer.sha256(b"\1").upper().replace("SHA", "sha")})
    objects = {name: writer.sealed(object, generation) for name, object in objects.items()}
    first = objects["u8 [6]"]["components"]["data"]
    offset = next(o["components"]["data"]["offset"] for n, o in writer.place_blobs(objects, 64)[1].items() if n == "u8 [6]")
    for name in ("tied", "tied again"):
        objects[name] = {"shape": [3, 2], "components": {"data": {"offset": offset, "length": 6, key: first[key]}}}
    return writer.write(objects, generation)


CLEAN = {
    **{generation: clean(generation) for generation in ("0.1", "1.0", "1.1", "1.2")},
    **{f"{g} without an object": writer.write({}, g) for g in ("0.1", "1.0", "1.1", "1.2")},
    **{f"version {v}": writer.one(writer.dense(b"\1"), g, version=v) for g, v in [
        ("1.2", "1.2"), ("1.2", "1"), ("1.2", "1.2.99"), ("1.1", "1.0.0"), ("1.0", "1"), ("1.2", "1.1.0"), ("1.2", "1.2.0-rc1")]},
    "a gap of 64": writer.one(writer.dense(b"\1"), gap=64),
    "compressed without its length, in 1.1": writer.one(compressed(writer.dense(b"\1"), "1.1"), "1.1"),
    "compressed without its length, in 1.0 that says 1.2": writer.one(compressed(writer.dense(b"\1"), "1.0"), "1.0", version="1.2"),
    "nonzero padding in 0.1": writer.one(writer.dense(b"\1"), "0.1").replace(bytes(56), bytes(range(56))),
    "unknown fields and attributes": writer.one(dict(writer.dense(b"\1", odd=[1]), attributes={"k": b"\0"}), attributes={"bits": {}}),
    "an empty blob in a blob's midst": writer.one({"shape": [128], "components": {"data": {"bytes": b"\1" * 128}, "none": {
        "offset": 128, "length": 0, "digest": writer.sha256(b"")}}}),
}


@pytest.mark.parametrize("name", CLEAN)
@BOTH_WAYS
@LEVELS
def test_nothing_is_said_against_a_clean_file(db, save, how, level, name):
    source = CLEAN[name] if how == "blob" else save("x.zt", CLEAN[name])
    assert findings(db, source, level) == []
    assert value(db, "SELECT error IS NULL FROM zt_files(?)", source) == 1


def test_nothing_is_said_against_a_clean_directory(db, save, tmp_path):
    for i, file in enumerate(CLEAN.values()):
        save(f"{i}.zt", file)
    assert value(db, "SELECT count(*) FROM zt_check(?, 'full')", str(tmp_path)) == 0


# ----------------------------------------------------------------------------------------------------- several findings

def test_findings_come_from_the_file_to_its_objects_and_components(db):
    objects = {
        "a": writer.dense(b"\2" * 3, [3], "bool"),
        "b": writer.dense(b"\1", [2], encoding="zstd"),
        "c": writer.sealed(writer.sparse_coo([4], [(3,), (1,), (1,)], b"\1\2\2", "bool", index="u8"))}
    file = bytearray(writer.write(objects, version="1.7", gap=100))
    file[9] = 1
    got = findings(db, bytes(file))
    assert [row[:2] + row[3:4] for row in got] == [
        (None, None, "unknown-version"), (None, None, "nonzero-padding"), (None, None, "gap"),
        ("a", "data", "missing-digest"), ("a", "data", "bool-byte"),
        ("b", "data", "missing-decoded-length"), ("b", "data", "missing-digest"), ("b", "data", "encoding"),
        ("c", "values", "bool-byte"), ("c", "coords", "index-dtype"), ("c", None, "unsorted-indices"),
        ("c", None, "duplicate-indices")]
    assert set(findings(db, bytes(file), "quick")) == {row for row in got if row[3] not in (
        "nonzero-padding", "bool-byte", "encoding", "unsorted-indices", "duplicate-indices")}


@pytest.mark.parametrize("stated", [0, 2, 4, 2**64 - 1])
@pytest.mark.parametrize("level", ["quick", "full"])
def test_raw_bytes_have_the_length_that_is_stated(db, stated, level):
    file = writer.write({"w": writer.sealed(writer.dense(b"abc", uncompressed_length=stated)), "x": writer.sealed(writer.dense(b"abc", uncompressed_length=3))})
    assert findings(db, file, level) == [("w", "data", "error", "decoded-length", f"raw: 3 bytes, not the {stated} that the manifest states")]
    assert value(db, "SELECT zt_blob(?, 'w')", file) == b"abc"


def test_each_gap_is_said_once_and_so_is_its_first_byte(db):
    objects = {n: writer.sealed(writer.dense(b"\1")) for n in "abc"}
    file = bytearray(writer.write(objects))
    for at in (9, 10, 70, 71, 130, 190):
        file[at] = 0xAA
    assert [row[4].split()[1] for row in findings(db, bytes(file))] == ["9", "70", "130"]


def test_a_stored_element_out_of_order_is_told_by_its_number(db):
    coords = [(i,) for i in range(10000)]
    coords[9000] = (17,)
    file = writer.one(writer.sparse_coo([10000], coords, bytes(10000)))
    assert [row[3:] for row in findings(db, file)] == [
        ("unsorted-indices", "stored element 9000 lies in a cell before that of an earlier one"),
        ("duplicate-indices", "1 of 10000 stored elements lie in a cell that has one already")]


@pytest.mark.parametrize("file, found", [("ok-4-columns-ascend", []), ("ok-4-rows-ascend", ["unsorted-indices"])])
def test_sparse_matrices_of_matlab_4_ascend_by_columns(db, file, found):
    assert rules(db, str(corpus.FORMATS / "matlab" / "hostile" / f"{file}.mat")) == found


def test_the_rules_of_one_generation_are_not_those_of_another(db):
    object = writer.sealed(writer.sparse_csr([2, 3], [0, 1, 2], [1, 2], b"\7\x09", index="i32"))
    assert rules(db, writer.write({"w": object}, "1.1")) == []
    assert rules(db, writer.write({"w": object}, "1.2")) == ["index-dtype"] * 2
    assert rules(db, writer.write({"w": object}, "1.2", version="1.1.0")) == []
    assert rules(db, writer.write({"w": object}, "1.2", version="1.9.0")) == ["unknown-version"] + ["index-dtype"] * 2


def test_odd_names_are_shown_as_they_are(db):
    names = ["", "it's", "ü水", "a\nb", "%s%n", "x" * 2000]
    file = writer.write({n: {"shape": [1], "components": {n: {"bytes": b"\1"}, "data": {"bytes": b"\1", "digest": writer.sha256(b"\1")}}}
                         for n in names})
    assert [row[:2] for row in findings(db, file, "quick")] == [(n, n) for n in names]
    file = writer.write({n: writer.sealed(writer.dense(b"\1", [2])) for n in names})
    assert [row[0] for row in findings(db, file, "quick")] == names
