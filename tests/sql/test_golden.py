"""Every golden file of zTensor, through its path and as a BLOB: each table says what the file's expectation says. What tables
say of all formats alike is in test_formats.py."""
import hashlib

import pytest

import corpus
from support import message, place, rows, value

FILES = pytest.mark.parametrize("name, file, expected", corpus.golden(), ids=[name for name, _, _ in corpus.golden()])
BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def test_there_are_files_of_every_generation():
    generations = [expected["generation"] for _, _, expected in corpus.golden()]
    assert {g: generations.count(g) for g in sorted(set(generations))} == {"0.1": 20, "1.0": 15, "1.1": 20, "1.2": 47, "2": 26}


@FILES
def test_the_file_is_the_one_the_expectation_is_about(name, file, expected):
    assert sha256(file.read_bytes()) == expected["sha256"]


@FILES
@BOTH_WAYS
def test_zt_files_gives_one_row(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    (row,) = rows(db, """SELECT path, container, version, size, mtime, objects, components, stored_bytes, decoded_bytes,
                                manifest_bytes, attributes, error FROM zt_files(?)""", source)
    components = corpus.components_of(expected)
    assert row[:4] == (corpus.path_of(source), "ztensor", expected["version"] or "0.1.0", expected["file_size"])
    assert row[4] == (pytest.approx(file.stat().st_mtime, abs=1e-6) if how == "path" else None)
    assert row[5:10] == (len(expected["objects"]), len(components), sum(c["length"] for _, c in components),
                         corpus.total([corpus.decoded_length(o, c) for o, c in components]), expected["manifest_length"])
    assert repr(corpus.parse(row[10])) == repr(corpus.plain(expected["attributes"] or {}))
    assert row[11] is None


@FILES
@BOTH_WAYS
def test_zt_components_lists_the_components_in_manifest_order(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    got = rows(db, """SELECT path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length,
                             digest FROM zt_components(?)""", source)
    assert got == [corpus.component_row(corpus.path_of(source), o, c) for o, c in corpus.components_of(expected)]


@FILES
@BOTH_WAYS
def test_stored_bytes_are_those_in_the_file(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    for object, component in corpus.in_reach(corpus.components_of(expected), how):
        stored = value(db, "SELECT stored FROM zt_components(?) WHERE object = ? AND component = ?", source, object["name"],
                       component["name"])
        assert sha256(stored) == component["stored_sha256"]


@FILES
@BOTH_WAYS
def test_digest_status_is_that_of_each_component(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    for object, component in corpus.in_reach(corpus.components_of(expected), how):
        status = value(db, "SELECT digest_status FROM zt_components(?) WHERE object = ? AND component = ?", source,
                       object["name"], component["name"])
        assert status == corpus.digest_status(component)


@FILES
@BOTH_WAYS
def test_data_and_zt_blob_are_the_decoded_bytes(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    from_column = "SELECT data FROM zt_components(?) WHERE object = ? AND component = ?"
    from_function = "SELECT zt_blob(?, ?, ?)"
    for object, component in corpus.in_reach(corpus.components_of(expected), how):
        at = source, object["name"], component["name"]
        if component["decoded_sha256"] is None:
            assert message(db, from_column, *at).startswith(place(*at))
            assert message(db, from_function, *at).startswith(place(*at))
        else:
            assert sha256(value(db, from_column, *at)) == component["decoded_sha256"]
            assert sha256(value(db, from_function, *at)) == component["decoded_sha256"]


@FILES
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
