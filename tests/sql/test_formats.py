"""Every format but zTensor, which has test_golden.py and test_hostile.py: each table says of each file of tests/formats/NAME
what its expectation says, through its path and as a BLOB, and each hostile file ends as its case says."""
import hashlib
import shutil

import pytest

import corpus
from support import RAISING_TABLES, everything, message, place, rows, value

OTHERS = [name for name in corpus.formats() if name != "ztensor"]
FOUND = [(f"{format}/{name}", file, expected) for format in OTHERS for name, file, expected in corpus.golden(format)]
CASES = [{**case, "path": corpus.FORMATS / format / "hostile" / case["file"]} for format in OTHERS for case in corpus.hostile(format)]
FILES = pytest.mark.parametrize("name, file, expected", FOUND, ids=[name for name, _, _ in FOUND])
ALL = FOUND + [(f"ztensor/{name}", file, expected) for name, file, expected in corpus.golden()]
FILES_OF_ALL = pytest.mark.parametrize("name, file, expected", ALL, ids=[name for name, _, _ in ALL])
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def cases(*expectations):
    chosen = [c for c in CASES if c["expect"] in expectations]
    return pytest.mark.parametrize("case", chosen, ids=[c["file"] for c in chosen])


def test_there_are_files_of_each_format():
    assert OTHERS
    for format in OTHERS:
        assert corpus.golden(format) and corpus.hostile(format), format
        assert (corpus.FORMATS / format / "README.md").exists()


# ------------------------------------------------------------------------------------------------ the golden files

@FILES
@BOTH_WAYS
def test_zt_files_gives_one_row(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    (row,) = rows(db, """SELECT path, container, version, size, objects, components, stored_bytes, decoded_bytes, manifest_bytes,
                                attributes, error FROM zt_files(?)""", source)
    components = corpus.components_of(expected)
    assert sha256(file.read_bytes()) == expected["sha256"]
    assert row[:4] == (corpus.path_of(source), expected["container"], expected["version"], expected["file_size"])
    assert row[4:9] == (len(expected["objects"]), len(components), corpus.total([c["length"] for _, c in components]),
                        corpus.total([c["decoded_length"] for _, c in components]), expected["manifest_length"])
    assert repr(corpus.parse(row[9])) == repr(corpus.plain(expected["attributes"] or {}))
    assert row[10] is None


@FILES_OF_ALL
@BOTH_WAYS
def test_zt_objects_lists_the_objects(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    got = [row[:5] + (corpus.parse(row[5]),) + row[6:11] + (corpus.parse(row[11]),)
           for row in rows(db, """SELECT path, object, format, dtype, type, shape, rank, elements, components, stored_bytes,
                                         decoded_bytes, attributes FROM zt_objects(?)""", source)]
    assert repr(got) == repr([corpus.object_row(corpus.path_of(source), o) for o in expected["objects"]])


@FILES
@BOTH_WAYS
def test_zt_components_lists_the_components_and_their_bytes(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    components = corpus.components_of(expected)
    got = rows(db, """SELECT path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length,
                             digest, shard FROM zt_components(?)""", source)
    assert got == [corpus.component_row(corpus.path_of(source), o, c) + (c.get("shard"),) for o, c in components]
    there = [(o, c) for o, c in corpus.in_reach(components, how) if c["decoded_sha256"]]
    for column in "stored", "data":
        wanted = [(o["name"], c["name"], c[{"stored": "stored_sha256", "data": "decoded_sha256"}[column]]) for o, c in there]
        bytes_of = f"SELECT {column} FROM zt_components(?) WHERE object = ? AND component = ?"
        assert [(o, c, sha256(value(db, bytes_of, source, o, c))) for o, c, digest in wanted if digest] == [w for w in wanted if w[2]]
    for o, c in components:
        if (o, c) not in there:
            text = message(db, "SELECT data FROM zt_components(?) WHERE object = ? AND component = ?", source, o["name"], c["name"])
            assert text.startswith(place(source, o["name"], c["name"]))


@FILES_OF_ALL
@BOTH_WAYS
def test_zt_attributes_lists_the_files_own_and_then_each_objects(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    got = [row[:3] + (corpus.parse(row[3]) if row[4] in ("array", "object") else row[3], row[4])
           for row in rows(db, "SELECT path, object, key, value, type FROM zt_attributes(?)", source)]
    assert repr(got) == repr(corpus.attribute_rows(corpus.path_of(source), expected))


@FILES
@BOTH_WAYS
def test_stored_type_is_the_type_in_the_formats_words(db, how, name, file, expected):
    got = rows(db, "SELECT key, stored_type FROM zt_attributes(?) WHERE object IS NULL", corpus.source_of(file, how))
    types = expected.get("attribute_types") or dict.fromkeys(expected["attributes"] or {})
    assert dict(got) == types and len(got) == len(types)


@FILES
@BOTH_WAYS
def test_values_are_those_of_the_expectation(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    for object in expected["objects"]:
        dense = corpus.dense_of(object)
        if dense is None or corpus.out_of_reach(object, how):
            text = message(db, "SELECT zt_dense(?, ?)", source, object["name"])
            assert text.startswith(place(source, object["name"]))
        else:
            # Of blocks, sha256 has each NaN as some machine computed it
            digest = dense["f32_sha256" if object["format"].startswith("gguf.") else "sha256"]
            assert sha256(value(db, "SELECT zt_dense(?, ?)", source, object["name"])) == digest, object["name"]


@FILES
@BOTH_WAYS
def test_zt_check_finds_no_error(db, how, name, file, expected):
    expected = corpus.seen(expected, how)
    undefined = {o["name"] for o in expected["objects"] if corpus.dense_of(o) is None or corpus.out_of_reach(o, how)}
    found = rows(db, "SELECT object, severity, rule, message FROM zt_check(?, 'full')", corpus.source_of(file, how))
    assert [row for row in found if row[1] == "error" and row[0] not in undefined] == []


# ----------------------------------------------------------------------------------------------- the hostile files

def test_every_hostile_file_has_one_case_and_is_the_file_the_case_is_about():
    for format in OTHERS:
        folder = corpus.FORMATS / format / "hostile"
        on_disk = {path.name: sha256(path.read_bytes()) for path in folder.iterdir() if path.is_file() and path.suffix != ".json"}
        assert on_disk == {case["file"]: case["sha256"] for case in corpus.hostile(format)}
        assert len(on_disk) == len(corpus.hostile(format))


@cases("open_error")
@BOTH_WAYS
def test_an_unsound_file_is_an_error_and_gives_no_row(db, how, case):
    source = corpus.source_of(case["path"], how)
    for table in RAISING_TABLES:
        text = message(db, f"SELECT * FROM {table}(?)", source)
        assert text == place(source, case["object"]) + case["message"]
        assert rows(db, f"SELECT * FROM {table}(?, 'skip')", source) == []
    assert rows(db, "SELECT error FROM zt_files(?)", source) == [(text,)]
    assert message(db, "SELECT zt_manifest(?)", source) == text
    assert rows(db, "SELECT object, severity, rule, message FROM zt_check(?)", source) == [
        (case["object"], "error", case["finding"], case["message"])]


@cases("lists_but_no_bytes")
@BOTH_WAYS
def test_bytes_that_cannot_be_had_do_not_hide_the_others(db, how, case):
    source = corpus.source_of(case["path"], how)
    names = [name for name, in rows(db, "SELECT object FROM zt_objects(?)", source)]
    assert case["object"] in names and len(names) > 1
    for name in names:
        if name == case["object"]:
            for sql in ("SELECT zt_blob(?, ?)", "SELECT zt_dense(?, ?)", "SELECT zt_json(?, ?)"):
                assert message(db, sql, source, name).startswith(place(source, name))
            assert message(db, "SELECT zt_dense(?, ?)", source, name).endswith(case["message"] or "")
        else:
            assert len(value(db, "SELECT zt_dense(?, ?)", source, name)) > 0
    lengths = rows(db, "SELECT object, length, decoded_length FROM zt_components(?)", source)
    if not case.get("sized"):
        assert (case["object"], case.get("length"), case.get("decoded_length")) in lengths
        assert rows(db, "SELECT stored_bytes, decoded_bytes FROM zt_files(?)", source) == [
            (corpus.total([row[1] for row in lengths]), corpus.total([row[2] for row in lengths]))]
    finding = "external-file" if case.get("external") and how == "blob" else case["finding"]
    found = rows(db, "SELECT object, severity, rule FROM zt_check(?, 'full')", source)
    assert (case["object"], value(db, "SELECT severity FROM zt_rules WHERE rule = ?", finding), finding) in found


@cases("lists_but_no_dense")
@BOTH_WAYS
def test_values_that_cannot_be_had_do_not_hide_the_others(db, how, case):
    source = corpus.source_of(case["path"], how)
    if case["path"].suffix == ".npy" and how == "blob":
        case = {**case, "object": "data"}
    assert case["object"] in [name for name, in rows(db, "SELECT object FROM zt_objects(?)", source)]
    for name, component, data in rows(db, "SELECT object, component, data FROM zt_components(?)", source):
        assert value(db, "SELECT zt_blob(?, ?, ?)", source, name, component) == data
        if name == case["object"]:
            text = message(db, "SELECT zt_dense(?, ?)", source, name)
            assert text.startswith(place(source, name)) and text.endswith(case["message"])
        else:
            assert len(value(db, "SELECT zt_dense(?, ?)", source, name)) == len(data)
    assert case["finding"] in [rule for rule, in rows(db, "SELECT rule FROM zt_check(?, 'full') WHERE object = ?", source, case["object"])]


@cases("ok")
@BOTH_WAYS
def test_an_odd_file_is_read(db, how, case):
    source = corpus.source_of(case["path"], how)
    for object, length in rows(db, "SELECT object, decoded_length FROM zt_components(?)", source):
        assert len(value(db, "SELECT zt_dense(?, ?)", source, object)) == length
    assert rows(db, "SELECT rule, message FROM zt_check(?, 'full') WHERE severity = 'error' AND rule IS NOT ?", source,
                case["finding"]) == []
    assert value(db, "SELECT json_valid(zt_manifest(?))", source) == 1


@cases("open_error", "lists_but_no_bytes", "lists_but_no_dense", "ok")
def test_a_path_and_the_bytes_behind_it_say_the_same(db, case, tmp_path):
    path = case["path"]
    if case.get("external"):    # Beside a BLOB there is no file
        return
    if path.suffix == ".npy":    # Whose array is called by its file's name, and in a BLOB `data`
        path = shutil.copy(path, tmp_path / "data.npy")
    assert everything(db, str(path)) == everything(db, corpus.source_of(case["path"], "blob"))
