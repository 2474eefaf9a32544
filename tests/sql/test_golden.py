"""Every golden file of every format, through its path and as a BLOB: each table says what the file's expectation says."""
import hashlib

import pytest

import corpus
import reference
from support import message, place, rows, value

FOUND = [(f"{format}/{name}", file, expected) for format in corpus.formats() for name, file, expected in corpus.golden(format)]
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


def files(chosen=lambda name: True):
    found = [row for row in FOUND if chosen(row[0])]
    return pytest.mark.parametrize("name, file, expected", found, ids=[name for name, _, _ in found])


FILES, OF_ZTENSOR, OF_OTHERS = files(), files(lambda name: name.startswith("ztensor/")), files(lambda name: not name.startswith("ztensor/"))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_there_are_files_of_every_format_and_generation():
    for format in corpus.formats():
        assert corpus.golden(format), format
        assert (corpus.FORMATS / format / "README.md").exists(), f"no formats/{format}/README.md"
    generations = [expected["generation"] for _, _, expected in corpus.golden()]
    assert {g: generations.count(g) for g in sorted(set(generations))} == {"0.1": 20, "1.0": 15, "1.1": 20, "1.2": 47, "2": 26}


@FILES
@BOTH_WAYS
def test_zt_files_gives_one_row(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    (row,) = rows(db, """SELECT path, container, version, size, mtime, objects, components, stored_bytes, decoded_bytes,
                                manifest_bytes, attributes, error FROM zt_files(?)""", source)
    components = corpus.components_of(expected)
    assert sha256(file.read_bytes()) == expected["sha256"]
    assert row[:4] == (corpus.path_of(source), *corpus.container_of(expected), expected["file_size"])
    assert row[4] == (pytest.approx(file.stat().st_mtime, abs=1e-6) if how == "path" else None)
    assert row[5:10] == (len(expected["objects"]), len(components), corpus.total([c["length"] for _, c in components]),
                         corpus.total([corpus.decoded_length(o, c) for o, c in components]), expected["manifest_length"])
    assert repr(corpus.parse(row[10])) == repr(corpus.plain(expected["attributes"] or {}))
    assert row[11] is None


@FILES
@BOTH_WAYS
def test_zt_objects_lists_the_objects(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    got = [row[:5] + (corpus.parse(row[5]),) + row[6:11] + (corpus.parse(row[11]),)
           for row in rows(db, """SELECT path, object, format, dtype, type, shape, rank, elements, components, stored_bytes,
                                         decoded_bytes, attributes FROM zt_objects(?)""", source)]
    assert repr(got) == repr([corpus.object_row(corpus.path_of(source), o) for o in expected["objects"]])


@FILES
@BOTH_WAYS
def test_zt_components_lists_the_components(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    got = rows(db, """SELECT path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length,
                             digest, shard FROM zt_components(?)""", source)
    assert got == [corpus.component_row(corpus.path_of(source), o, c) for o, c in corpus.components_of(expected)]


@FILES
@BOTH_WAYS
def test_components_have_their_bytes(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    where = "FROM zt_components(?) WHERE object = ? AND component = ?"
    for object, component in corpus.components_of(expected):
        at = source, object["name"], component["name"]
        there = not corpus.out_of_reach((object, component), how)
        if there and component["stored_sha256"]:
            assert sha256(value(db, f"SELECT stored {where}", *at)) == component["stored_sha256"]
        for sql in (f"SELECT data {where}", "SELECT zt_blob(?, ?, ?)"):
            if there and component["decoded_sha256"]:
                assert sha256(value(db, sql, *at)) == component["decoded_sha256"]
            else:
                assert message(db, sql, *at).startswith(place(*at))


@OF_ZTENSOR
@BOTH_WAYS
def test_digest_status_is_that_of_each_component(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    for object, component in corpus.in_reach(corpus.components_of(expected), how):
        status = value(db, "SELECT digest_status FROM zt_components(?) WHERE object = ? AND component = ?", source,
                       object["name"], component["name"])
        assert status == corpus.digest_status(component)


@FILES
@BOTH_WAYS
def test_zt_attributes_lists_the_files_own_and_then_each_objects(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    got = [row[:3] + (corpus.parse(row[3]) if row[4] in ("array", "object") else row[3], row[4])
           for row in rows(db, "SELECT path, object, key, value, type FROM zt_attributes(?)", source)]
    assert repr(got) == repr(corpus.attribute_rows(corpus.path_of(source), expected))


@OF_OTHERS
@BOTH_WAYS
def test_stored_type_is_the_type_in_the_formats_words(db, how, name, file, expected):
    got = rows(db, "SELECT key, stored_type FROM zt_attributes(?) WHERE object IS NULL", corpus.source_of(file, how))
    types = expected.get("attribute_types") or dict.fromkeys(expected["attributes"] or {})
    assert dict(got) == types and len(got) == len(types)


@OF_ZTENSOR
@BOTH_WAYS
def test_zt_manifest_is_the_manifest_as_json(db, how, name, file, expected):
    data = file.read_bytes()
    begin = expected["manifest_offset"]
    got = value(db, "SELECT zt_manifest(?)", corpus.source_of(file, how))
    if begin is None:
        assert got is None    # A data shard has none
    else:
        manifest = corpus.decode(data[begin:begin + expected["manifest_length"]])
        assert repr(corpus.parse(got)) == repr(corpus.plain(manifest))


@FILES
@BOTH_WAYS
def test_values_are_those_of_the_expectation(db, how, name, file, expected):
    source, expected = corpus.source_of(file, how), corpus.seen(expected, how)
    for object in expected["objects"]:
        at, dense = (source, object["name"]), corpus.dense_of(object)
        if corpus.out_of_reach(object, how) or (dense is None and object["format"] not in corpus.QUANTIZED):
            for sql in ("SELECT zt_dense(?, ?)", "SELECT zt_dense(?, ?, 'f32')", f"SELECT zt_dense(?, ?, NULL, 0, {slice_of(object)})"):
                text = message(db, sql, *at)
                assert text.startswith(place(*at)) and len(text) > len(place(*at))
            assert rows(db, "SELECT elements, zeros, nans, infs, min, max, mean, std, l2, error <> '' FROM zt_stats(?) WHERE object = ?", *at) == [
                (corpus.integer(object["elements"])[0], *[None] * 8, 1)]
        elif dense:
            # Of blocks, sha256 has each NaN as some machine computed it
            digest = dense["f32_sha256" if object["format"].startswith("gguf.") else "sha256"]
            assert sha256(value(db, "SELECT zt_dense(?, ?)", *at)) == digest, object["name"]
            if dense.get("f32_sha256"):
                assert sha256(reference.with_one_nan(value(db, "SELECT zt_dense(?, ?, 'f32')", *at))) == dense["f32_sha256"], object["name"]


def slice_of(object):
    """How much of its first dimension has what is wrong with an object: an element, or what is there at all."""
    elements = object.get("dense_note") in ("a bool byte other than 0 and 1", "duplicate coordinates")
    return object["shape"][0] if elements else 1


@OF_OTHERS
@BOTH_WAYS
def test_zt_check_finds_no_error(db, how, name, file, expected):
    """test_check_golden.py has the findings in those of zTensor."""
    expected = corpus.seen(expected, how)
    undefined = {o["name"] for o in expected["objects"] if corpus.dense_of(o) is None or corpus.out_of_reach(o, how)}
    found = rows(db, "SELECT object, severity, rule, message FROM zt_check(?, 'full')", corpus.source_of(file, how))
    assert [row for row in found if row[1] == "error" and row[0] not in undefined] == []
