"""Features of zTensor 2 alone: shards, a manifest with a hash and one encoding, seekable frames, content digests, strict values.

What it has in common with the other generations is tested with theirs; what breaks its rules is in test_hostile.py.
"""
import hashlib
import math
import os
import shutil
import sqlite3

import pytest

import corpus
import reference
import writer
from support import failure, message, place, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
V2 = corpus.GOLDEN / "v2"
MIB = 1 << 20


def golden(name):
    return next((path, expected) for n, path, expected in corpus.golden() if n == "v2/" + name)


# -------------------------------------------------------------------------------------------------- the golden files

SHARDED = [(name, path, expected) for name, path, expected in corpus.golden() if expected.get("shards")]
EACH_SHARDED = pytest.mark.parametrize("name, file, expected", SHARDED, ids=[name for name, _, _ in SHARDED])


@EACH_SHARDED
@BOTH_WAYS
def test_bytes_that_are_out_of_reach_are_an_error_that_names_the_shard(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    for item in corpus.components_of(expected):
        for component in corpus.out_of_reach(item, how):
            at = source, item[0]["name"], component["name"]
            column = "FROM zt_components(?) WHERE object = ? AND component = ?"
            for sql in ("SELECT zt_blob(?, ?, ?)", "SELECT zt_hash(?, ?, ?, 'sha256')", f"SELECT data {column}",
                        f"SELECT stored {column}", *([f"SELECT digest_status {column}"] if component["digest"] else [])):
                text = message(db, sql, *at)
                assert text.startswith(place(*at)) and "shard" in text and component["shard"] in text, sql
            if component["digest"] is None:
                assert value(db, f"SELECT digest_status {column}", *at) is None


@EACH_SHARDED
@BOTH_WAYS
def test_values_that_are_out_of_reach_are_an_error_that_names_the_shard(db, how, name, file, expected):
    source = corpus.source_of(file, how)
    for object in expected["objects"]:
        for component in corpus.out_of_reach(object, how):
            for sql in ("SELECT zt_dense(?, ?)", "SELECT zt_json(?, ?)", "SELECT value FROM zt_elements(?, ?)",
                        "SELECT vector FROM zt_rows(?, ?)"):
                text = message(db, sql, source, object["name"])
                assert text.startswith(place(source, object["name"], component["name"])) and component["shard"] in text
            (error,) = rows(db, "SELECT error FROM zt_stats(?) WHERE object = ?", source, object["name"])[0]
            assert component["shard"] in error


@BOTH_WAYS
def test_a_file_whose_shards_are_missing_lists_and_its_own_parts_can_be_read(db, how):
    path, expected = golden("hand_sharded_missing")
    source = corpus.source_of(path, how)
    assert rows(db, "SELECT objects, components, error FROM zt_files(?)", source) == [(2, 2, None)]
    assert value(db, "SELECT count(*) FROM zt_objects(?)", source) == 2
    (near,) = [o for o in expected["objects"] if o["name"] == "near"]
    assert hashlib.sha256(value(db, "SELECT zt_dense(?, 'near')", source)).hexdigest() == near["dense"]["sha256"]


@BOTH_WAYS
def test_a_data_shard_has_no_objects(db, how):
    source = corpus.source_of(golden("hand_sharded-part-1")[0], how)
    assert rows(db, "SELECT version, objects, components, manifest_bytes, attributes, error FROM zt_files(?)", source) == [
        ("2", 0, 0, 0, "{}", None)]
    for table in ("zt_objects", "zt_components", "zt_attributes", "zt_stats"):
        assert rows(db, f"SELECT * FROM {table}(?)", source) == []
    assert message(db, "SELECT zt_blob(?, 'far')", source).startswith(place(source, "far"))
    assert rows(db, "SELECT * FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []


# -------------------------------------------------------------------------------------------------------------- shards

DATA = bytes(range(200))


@pytest.fixture
def sharded(save):
    """sharded(...): the path of a root with an object in shard s, and what is beside it. `shard`: the file's bytes."""
    def sharded(shard=writer.data_shard(DATA), table=None, name="model.zt", stem="model", **fields):
        if shard is not None:
            save(f"{stem}-s.zt", shard)
        objects = {"far": writer.in_shard("s", 4096, 200, **fields), "near": writer.dense(b"abc")}
        return save(name, writer.write_2(objects, shards={"s": table or shard}))

    return sharded


def test_a_shard_is_the_file_beside_the_root_that_has_both_names(db, sharded):
    path = sharded()
    assert rows(db, "SELECT zt_blob(?1, 'far'), zt_blob(?1, 'far', 'data', 10, 3), zt_dense(?1, 'far')", path) == [
        (DATA, DATA[10:13], DATA)]
    assert rows(db, "SELECT stored, data, offset, length FROM zt_components(?) WHERE object = 'far'", path) == [
        (DATA, DATA, 4096, 200)]


def test_a_shard_may_be_a_whole_file(db, sharded):
    shard = writer.write_2({"w": writer.dense(DATA)})
    assert value(db, "SELECT zt_blob(?, 'far')", sharded(shard)) == DATA


def test_the_root_may_be_named_by_a_relative_path_and_by_a_uri(db, sharded, monkeypatch, tmp_path):
    path = sharded()
    monkeypatch.chdir(tmp_path)
    for source in ("model.zt", "./model.zt", "file://" + path):
        assert value(db, "SELECT zt_blob(?, 'far')", source) == DATA


def test_a_directory_lists_root_and_shard_and_reads_through_the_root(db, sharded, tmp_path):
    sharded()
    got = rows(db, "SELECT path, object, data FROM zt_components(?)", str(tmp_path))
    assert got == [(str(tmp_path / "model.zt"), "far", DATA), (str(tmp_path / "model.zt"), "near", b"abc")]


def test_a_shard_of_another_size_is_an_error_of_its_parts(db, sharded):
    for shard in (writer.data_shard(DATA + bytes(4096)), writer.data_shard(DATA)[:-1], b""):
        path = sharded(shard, table={"size": 8192 + 40, "digest": writer.sha256(b"")})
        text = message(db, "SELECT zt_blob(?, 'far')", path)
        assert text.startswith(place(path, "far", "data")) and str(len(shard)) in text and "8232" in text
        assert value(db, "SELECT zt_blob(?, 'near')", path) == b"abc"


def test_a_missing_shard_is_an_error_of_its_parts_that_names_the_file(db, sharded):
    path = sharded(None, table={"size": 8232, "digest": writer.sha256(b"")})
    text = message(db, "SELECT zt_dense(?, 'far')", path)
    assert text.startswith(place(path, "far", "data")) and "model-s.zt" in text
    assert value(db, "SELECT zt_blob(?, 'near')", path) == b"abc"


def test_zt_check_says_what_is_wrong_with_shards(db, sharded):
    """X1, X2, X3, X4 (ext/container/shard.h)."""
    def wrong(path):
        return rows(db, "SELECT object, component, rule FROM zt_check(?, 'full') WHERE severity = 'error'", path)

    shard = writer.data_shard(DATA)
    assert wrong(sharded()) == []
    for rule, name, file, table in (
            ("missing-shard", "a", None, {"size": 8232, "digest": writer.sha256(b"")}),
            ("shard-format", "c", bytes(len(shard)), {"size": len(shard), "digest": writer.sha256(bytes(len(shard)))}),
            ("shard-size", "b", shard[:-1], {"size": len(shard), "digest": writer.sha256(shard)})):
        assert wrong(sharded(file, table=table, name=name + ".zt", stem=name)) == [(None, None, rule), ("far", "data", rule)]
    table = {"size": len(shard), "digest": writer.xxh3(b"other")}
    assert wrong(sharded(table=table)) == [(None, None, "shard-digest")]
    assert wrong(sharded(table={**table, "digest": writer.xxh3(shard)})) == []


@pytest.mark.parametrize("digest, rule, said", [("blake3:00", "digest-algorithm", "unsupported"), ("sha256:00", "malformed-digest", "malformed")])
@pytest.mark.parametrize("level", ["quick", "full"])
def test_a_shards_digest_that_cannot_be_checked(db, sharded, digest, rule, said, level):
    path = sharded(table={"size": len(writer.data_shard(DATA)), "digest": digest})
    assert rows(db, "SELECT object, rule, message FROM zt_check(?, ?) WHERE severity = 'error'", path, level) == [
        (None, rule, f"the digest of shard 's', '{digest}', is {said}")]


def test_a_full_check_finds_what_a_quick_one_does_where_a_shard_is_missing(db, sharded):
    path = sharded(None, table={"size": 8232, "digest": "sha256:00"})
    found = {level: [rule for rule, in rows(db, "SELECT rule FROM zt_check(?, ?) WHERE severity = 'error' AND object IS NULL", path, level)] for level in ("quick", "full")}
    assert found == {"quick": ["malformed-digest"], "full": ["malformed-digest", "missing-shard"]}


def test_listing_opens_no_shard(trace, sharded):
    path = sharded()
    got = trace(f"""SELECT count(*), sum(length), max(digest IS NULL) FROM zt_components('{path}');
                    SELECT objects FROM zt_files('{path}'); SELECT max(shape) FROM zt_objects('{path}');""")
    assert got.out.split() == ["2|203|1", "2", "[3]"]
    assert set(got.tensor_files()) == {path}


def test_of_a_shard_only_what_is_asked_for_is_read(trace, save):
    shard = writer.data_shard(b"\1" * MIB, b"\2" * MIB)
    sibling = save("m-s.zt", shard)
    path = save("m.zt", writer.write_2({"a": writer.in_shard("s", 4096, MIB), "b": writer.in_shard("s", 4096 + MIB, MIB)},
                                       shards={"s": shard}))
    got = trace(f"SELECT hex(zt_blob('{path}', 'b', 'data', 1000, 2));")
    assert got.out.strip() == "0202"
    assert got.bytes_read(sibling, 0, 4096 + MIB) <= 4096 and got.bytes_read(sibling) <= 65536


def test_a_digest_is_of_the_bytes_in_the_shard(db, sharded):
    for digest, status in ((writer.xxh3(DATA), "ok"), (writer.sha256(DATA), "ok"), (writer.xxh3(b""), "mismatch")):
        path = sharded(digest=digest)
        assert rows(db, "SELECT object, digest_status FROM zt_components(?)", path) == [("far", status), ("near", None)]


def test_parts_of_one_object_may_be_in_several_places(db, save):
    object = writer.csr()
    indices = object["components"]["indices"].pop("bytes")
    object["components"]["indices"].update(shard="i", offset=4096, length=len(indices))
    shard = writer.data_shard(indices)
    save("m-i.zt", shard)
    path = save("m.zt", writer.write_2({"s": object}, shards={"i": shard}))
    assert value(db, "SELECT zt_dense(?, 's')", path) == b"\0\7\0\0\0\x09"
    assert value(db, "SELECT error FROM zt_stats(?)", path) is None
    assert "shard 'i'" in message(db, "SELECT zt_dense(?, 's')", open(path, "rb").read())


def test_encoded_parts_may_be_in_shards(db, save):
    stored = writer.seekable(DATA, 64)
    shard = writer.data_shard(stored)
    save("m-s.zt", shard)
    object = writer.in_shard("s", 4096, len(stored), [200], encoding=writer.SEEKABLE, decoded_length=200,
                             digest=writer.xxh3(DATA))
    path = save("m.zt", writer.write_2({"w": object}, shards={"s": shard}))
    assert rows(db, "SELECT data, digest_status FROM zt_components(?)", path) == [(DATA, "ok")]
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 100, 50)", path) == DATA[100:150]


def test_a_shard_that_is_no_regular_file_is_refused_without_opening_it(db, sharded, tmp_path):
    path = sharded(None, table={"size": 8232, "digest": writer.sha256(b"")})
    os.mkfifo(tmp_path / "model-s.zt")
    assert message(db, "SELECT zt_blob(?, 'far')", path).startswith(place(path, "far", "data"))


def test_nofs_opens_no_shard(connect, sharded):
    nofs = connect(entry="sqlite3_ztensor_nofs_init")
    data = open(sharded(), "rb").read()
    assert rows(nofs, "SELECT object, shard FROM zt_components(?)", data) == [("far", "s"), ("near", None)]
    assert "shard 's'" in message(nofs, "SELECT zt_blob(?, 'far')", data)


# ----------------------------------------------------------------------------------------------------------- digests

def test_digests_are_of_the_decoded_bytes(db):
    for digest, status in ((writer.xxh3(DATA), "ok"), (writer.sha256(DATA), "ok"),
                           (writer.xxh3(writer.seekable(DATA, 64)), "mismatch")):
        data = writer.write_2({"w": writer.seekable_dense(DATA, 64, digest=digest)})
        assert value(db, "SELECT digest_status FROM zt_components(?)", data) == status


def test_zt_hash_gives_what_a_manifest_states(db):
    for n in (0, 1, 3, 8, 16, 17, 128, 129, 240, 241, 1024, 300_000):
        blob = bytes(i * 7 & 255 for i in range(n))
        assert value(db, "SELECT zt_hash(?, 'w', 'data', 'xxh3')", writer.write_2({"w": writer.dense(blob)})) == writer.xxh3(blob)


# ---------------------------------------------------------------------------------------------------- content digests

def content_id(objects):
    """By the definition. objects: as the manifest has them."""
    def part(p):
        return {k: p[k] for k in ("dtype", "type", "digest") if k in p}

    def object(o):
        kept = {k: o[k] for k in ("shape", "layout", "attributes") if k in o}
        return {**kept, "parts": {role: part(p) for role, p in o["parts"].items()}}

    item = ["zt.content/1", {name: object(o) for name, o in objects.items()}]
    return "sha256:" + hashlib.sha256(writer.cbor(writer.deterministic(item))).hexdigest()


def digested(objects):
    """The same objects, each part with its digest."""
    return {name: dict(o, components={role: dict(c, digest=writer.xxh3(c["bytes"])) for role, c in o["components"].items()})
            for name, o in objects.items()}


MODEL = digested({"w": dict(writer.dense(DATA, [10, 20]), attributes={"a": [1, 2.5, None, {"zz": 1, "b": "x"}], "aa": -0.0}),
                  "s": writer.csr(), "flags": writer.dense(b"\0\1", dtype="bool"), "long " * 20: writer.dense(b"")})


def test_the_content_digest_is_that_of_its_definition(db):
    expected = content_id({name: writer.object_2(o) for name, o in MODEL.items()})
    assert value(db, "SELECT zt_content_id(?)", writer.write_2(MODEL)) == expected


@pytest.mark.parametrize("line", (V2 / "content.txt").read_text().splitlines())
def test_the_content_digest_is_that_of_the_formats_own_library(db, line):
    digest, name = line.split(" ")   # As crate ztensor 2.1.1 computed it: Manifest::content_digest with Sha256
    for source in (str(V2 / name), (V2 / name).read_bytes()):
        assert value(db, "SELECT zt_content_id(?)", source) == (None if digest == "-" else digest)


def test_the_content_digest_does_not_depend_on_how_tensors_are_packed(db, save):
    ids = set()
    ids.add(value(db, "SELECT zt_content_id(?)", writer.write_2(MODEL)))
    ids.add(value(db, "SELECT zt_content_id(?)", writer.write_2(dict(reversed(MODEL.items())), first_offset=65536, gap=9999)))
    ids.add(value(db, "SELECT zt_content_id(?)", writer.write_2(MODEL, attributes={"file": 1}, root={"unknown": 1})))
    w = {"digest": writer.xxh3(DATA), "shape": [10, 20]}
    attributes = MODEL["w"]["attributes"]
    packed = {**MODEL, "w": dict(writer.seekable_dense(DATA, 64, **w), attributes=attributes)}
    ids.add(value(db, "SELECT zt_content_id(?)", writer.write_2(packed)))
    far = {**MODEL, "w": dict(writer.in_shard("s", 4096, 200, **w), attributes=attributes)}
    shards = {"s": {"size": 8232, "digest": writer.sha256(b"")}}
    ids.add(value(db, "SELECT zt_content_id(?)", save("missing.zt", writer.write_2(far, shards=shards))))
    assert len(ids) == 1 and None not in ids


def test_another_model_has_another_content_digest(db):
    changed = [MODEL, {k: v for k, v in MODEL.items() if k != "s"}, {**MODEL, "w": dict(MODEL["w"], shape=[20, 10])},
               {**MODEL, "w": dict(MODEL["w"], attributes={})},
               {**MODEL, "w": {k: v for k, v in MODEL["w"].items() if k != "attributes"}},
               {**MODEL, "v": MODEL["w"]}, {**MODEL, **digested({"flags": writer.dense(b"\0\1")})},
               {**MODEL, **digested({"flags": writer.dense(b"\1\1", dtype="bool")})}]
    ids = [value(db, "SELECT zt_content_id(?)", writer.write_2(model)) for model in changed]
    assert len(set(ids)) == len(changed) and None not in ids


def test_there_is_no_content_digest_where_a_part_has_none(db):
    assert value(db, "SELECT zt_content_id(?)", writer.write_2({**MODEL, "plain": writer.dense(b"1")})) is None
    assert value(db, "SELECT zt_content_id(?)", writer.sample()) is None
    assert value(db, "SELECT zt_content_id(NULL)") is None


def test_a_model_without_objects_has_a_content_digest(db):
    assert value(db, "SELECT zt_content_id(?)", writer.write_2({})) == content_id({})


@pytest.mark.parametrize("name, file, expected", [g for g in corpus.golden() if g[0].startswith("v2/wheel")],
                         ids=[g[0] for g in corpus.golden() if g[0].startswith("v2/wheel")])
@BOTH_WAYS
def test_the_content_digest_of_golden_files_is_that_of_its_definition(db, how, name, file, expected):
    assert value(db, "SELECT zt_content_id(?)", corpus.source_of(file, how)) == content_id_of_manifest(file, expected)


def content_id_of_manifest(file, expected):
    begin = expected["manifest_offset"]
    manifest = corpus.decode(file.read_bytes()[begin:begin + expected["manifest_length"]])
    return content_id(from_json(manifest)["objects"])


def from_json(item):
    """The result of corpus.decode, as Python's values."""
    if isinstance(item, list):
        return [from_json(i) for i in item]
    if not isinstance(item, dict):
        return item
    if "$float" in item:
        return float(item["$float"])
    if "$bytes" in item:
        return bytes.fromhex(item["$bytes"])
    return {k: from_json(v) for k, v in item["$map"]}


@pytest.mark.parametrize("source", ["'nowhere.zt'", "'*.zt'", "X'00'", "5"])
def test_what_is_no_file_has_no_content_digest(db, source):
    failure(db, f"SELECT zt_content_id({source})")


def test_zt_content_id_cannot_be_used_by_a_view_stored_in_the_database(db):
    db.execute("CREATE VIEW stored AS SELECT zt_content_id(X'00') AS id")
    assert "unsafe use" in message(db, "SELECT * FROM stored")


# ---------------------------------------------------------------------------------------------------- seekable frames

LARGE = bytes(i * i >> 5 & 255 for i in range(1000))


@pytest.mark.parametrize("size", [1, 7, 250, 333, 999, 1000, 2000])
@pytest.mark.parametrize("checksums", [False, True])
@BOTH_WAYS
def test_any_range_of_frames_is_that_of_the_content(db, save, how, size, checksums):
    object = writer.dense(writer.seekable(LARGE, size, checksums), [1000], encoding=writer.SEEKABLE, decoded_length=1000)
    file = writer.write_2({"w": object})
    file = file if how == "blob" else save("x.zt", file)
    assert value(db, "SELECT zt_blob(?, 'w')", file) == value(db, "SELECT zt_dense(?, 'w')", file) == LARGE
    for start, n in ((0, 1), (999, 1), (249, 2), (250, 250), (333, 333), (500, 1000), (1000, 1), (0, 0), (666, 1)):
        assert value(db, "SELECT zt_blob(?, 'w', 'data', ?, ?)", file, start, n) == LARGE[start:start + n]
    some = rows(db, "SELECT value FROM zt_elements(?, 'w') WHERE position BETWEEN 240 AND 260", file)
    assert [v for v, in some] == list(LARGE[240:261])


def test_an_empty_part_may_have_no_frame_and_one_without_content(db):
    for stored in (writer.seek_table([]), writer.checked_frame(b"") + writer.seek_table([(len(writer.checked_frame(b"")), 0)])):
        data = writer.write_2({"w": writer.dense(stored, [0, 3], encoding=writer.SEEKABLE, decoded_length=0)})
        assert rows(db, "SELECT zt_blob(?1, 'w'), zt_dense(?1, 'w')", data) == [(b"", b"")]


def test_a_range_reads_only_the_frames_that_have_it(trace, save):
    frames, size = 16, 128 << 10
    content = bytes(range(256)) * (frames * size // 256)
    path = save("x.zt", writer.write_2({"w": writer.seekable_dense(content, size)}, first_offset=MIB, gap=MIB))
    got = trace(f"SELECT hex(zt_blob('{path}', 'w', 'data', {8 * size - 2}, 4));")
    assert got.out.strip() == "FEFF0001"
    # Two of them, and the table.
    assert 2 * size < got.bytes_read(path, MIB, MIB + frames * size) < 2 * size + 65536


def test_content_that_does_not_have_its_checksum_is_refused(db):
    stored = bytearray(writer.seekable(LARGE, 500))
    stored[20] ^= 1
    data = writer.write_2({"w": writer.dense(bytes(stored), [1000], encoding=writer.SEEKABLE, decoded_length=1000)})
    assert message(db, "SELECT zt_blob(?, 'w')", data).startswith(place(data, "w", "data"))
    assert message(db, "SELECT zt_blob(?, 'w', 'data', 0, 1)", data).startswith(place(data, "w", "data"))
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 500, 500)", data) == LARGE[500:]


def test_frames_over_the_limit_of_sqlite_are_read_in_ranges(db):
    data = writer.write_2({"w": writer.seekable_dense(bytes(300_000) + b"\1" * 1000, 1000)})
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, len(data) + 1)
    big = writer.dense(writer.seek_table([(0, 0)]), [1 << 40], encoding=writer.SEEKABLE, decoded_length=1 << 40)
    assert value(db, "SELECT zt_blob(?, 'w', 'data', 299999, 2)", data) == b"\0\1"
    error = failure(db, "SELECT zt_blob(?, 'w')", writer.write_2({"w": big}))
    assert error.sqlite_errorcode == sqlite3.SQLITE_TOOBIG


# -------------------------------------------------------------------------------------------------------- strict values

def test_a_bool_other_than_0_and_1_is_refused_where_it_is_read(db):
    data = writer.write_2({"w": writer.dense(b"\0\1\2\1", dtype="bool"), "good": writer.dense(b"\1\0", dtype="bool")})
    for sql in ("SELECT zt_dense(?, 'w')", "SELECT zt_json(?, 'w')", "SELECT zt_value(?, 'w', 2)",
                "SELECT zt_dense(?, 'w', 'f32', 2, 1)"):
        assert message(db, sql, data).startswith(place(data, "w", "data"))
    assert value(db, "SELECT zt_dense(?, 'w', NULL, 0, 2)", data) == b"\0\1"
    assert rows(db, "SELECT object FROM zt_stats(?) WHERE error IS NOT NULL", data) == [("w",)]
    assert value(db, "SELECT zt_json(?, 'good')", data) == "[true,false]"
    assert rows(db, "SELECT object FROM zt_check(?, 'full') WHERE severity = 'error'", data) == [("w",)]


@pytest.mark.parametrize("index", ["u32", "u64"])
def test_sparse_objects_have_indices_of_u32_or_u64(db, index):
    for object in (writer.sparse_csr([2, 3], [0, 1, 2], [1, 2], b"\7\x09", index=index),
                   writer.sparse_coo([2, 3], [(1, 2), (0, 1)], b"\x09\7", index=index)):
        assert value(db, "SELECT zt_dense(?, 's')", writer.write_2({"s": object})) == b"\0\7\0\0\0\x09"


def test_types_of_zt_2_are_read(db):
    nibbles = bytes([0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe])
    objects = {"f4": ("f4_e2m1", nibbles, [2, 8]), "odd": ("f4_e2m1", b"\x21\x07", [3]), "e8": ("f8_e8m0", b"\0\x7e\x7f\xfe", [4])}
    data = writer.write_2({name: writer.dense(stored, shape, type=type) for name, (type, stored, shape) in objects.items()})
    for name, (type, stored, shape) in objects.items():
        values = reference.decode(type, stored, math.prod(shape))
        assert value(db, "SELECT zt_dense(?, ?, 'f64')", data, name) == reference.encode("f64", values)
        shown = [v for v, in rows(db, "SELECT value FROM zt_elements(?, ?)", data, name)]
        assert shown == values
    assert value(db, "SELECT zt_value(?, 'odd', 2)", data) == reference.decode("f4_e2m1", b"\x07")[0]


# ---------------------------------------------------------------------------------------------------- quantized layouts

def check_values(db, source, name, wanted):
    """All ways to the values of an object give those that are wanted."""
    dense = value(db, "SELECT zt_dense(?, ?)", source, name)
    assert reference.comparable("f32", dense) == reference.comparable("f32", reference.encode("f32", wanted))
    shown = [reference.shown("f32", v) for v in reference.decode("f32", dense)]
    assert [v for v, in rows(db, "SELECT value FROM zt_elements(?, ?)", source, name)] == shown
    assert b"".join(v for v, in rows(db, "SELECT vector FROM zt_rows(?, ?)", source, name)) == dense
    assert rows(db, "SELECT elements, error FROM zt_stats(?) WHERE object = ?", source, name) == [(len(wanted), None)]


@BOTH_WAYS
def test_quantized_golden_objects_have_the_values_of_their_codes(db, how):
    file, expected = golden("wheel_quant")
    source = corpus.source_of(file, how)
    for object in expected["objects"]:
        name, shape, attributes = object["name"], object["shape"], object["attributes"]
        parts = {c["name"]: value(db, "SELECT zt_blob(?, ?, ?)", source, name, c["name"]) for c in object["components"]}
        types = {c["name"]: corpus.logical_type(c) for c in object["components"]}
        if object["format"] == "zt.mx/1":
            check_values(db, source, name, reference.mx(shape, attributes, types["data"], parts["data"], parts["scales"]))
        elif object["format"] == "zt.quant_group/1":
            numbers = {role: reference.decode(types[role], parts[role]) for role in parts if role != "data"}
            check_values(db, source, name, reference.quant_group(shape, attributes, parts["data"], **numbers))


@pytest.mark.parametrize("dtype", ["f4_e2m1", "f8_e4m3fn", "f8_e5m2", "i8"])
@pytest.mark.parametrize("shape, axis, size", [([4, 8], 1, 4), ([4, 8], 1, 8), ([4, 8], 0, 2), ([4, 8], None, 2), ([2, 6, 2], 1, 3),
                                               ([32], 0, 32)], ids=str)
def test_blocks_of_zt_mx_run_along_their_axis(db, dtype, shape, axis, size):
    n = 32 if shape != [2, 6, 2] else 24
    data = bytes(i * 37 & 255 for i in range(n // 2 if dtype == "f4_e2m1" else n))
    scales = bytes((120 + 3 * i) & 255 if i != 1 else 255 for i in range(n // size))
    attributes = {"block_size": size, "scale_form": "e8m0_exponent", **({} if axis is None else {"axis": axis})}
    stored = {"dtype": "i8"} if dtype == "i8" else {"type": dtype}
    object = {"shape": shape, "format": "zt.mx/1", "attributes": attributes,
              "components": {"data": {"bytes": data, **stored}, "scales": {"bytes": scales, "type": "f8_e8m0"}}}
    check_values(db, writer.write_2({"q": object}), "q", reference.mx(shape, attributes, dtype, data, scales))


@pytest.mark.parametrize("word, bits", [("u8", 2), ("u8", 4), ("u8", 8), ("u16", 4), ("u32", 2), ("u32", 4), ("u32", 8), ("u64", 4)])
@pytest.mark.parametrize("order", ["lsb_first", "msb_first"])
@pytest.mark.parametrize("point", [{"form": "none"}, {"form": "implied", "value": 3}, {"form": "tensor", "packing": "plain"},
                                   {"form": "tensor", "packing": "same_as_data"}], ids=str)
@pytest.mark.parametrize("axis, size", [(0, 2), (1, 8), (1, 16), (0, 0)])
def test_codes_of_zt_quant_group_are_unpacked(db, word, bits, order, point, axis, size):
    shape, n = [4, 32], 128
    groups = n // (size or 1)
    data = bytes(i * 73 + 5 & 255 for i in range(n * bits // 8))
    scales = [(i % 7 - 3) / 4 for i in range(groups)]
    attributes = {"bits": bits, "group_size": size, "axis": axis, "scale_form": "f32_factors", "zero_point": point,
                  "packing": {"word": word, "order": order, "per_word": int(word[1:]) // bits}}
    components = {"data": {"dtype": word, "bytes": data}, "scales": {"dtype": "f32", "bytes": reference.encode("f32", scales)}}
    zeros = None
    if point.get("packing") == "plain":
        zeros = [i % 5 - 1 for i in range(groups)]
        components["zeros"] = {"dtype": "i8", "bytes": reference.encode("i8", zeros)}
    elif point["form"] == "tensor":
        zeros = bytes(i * 41 & 255 for i in range(groups * bits // 8))
        if len(zeros) % (int(word[1:]) // 8):
            return    # Zeros that fill no word
        components["zeros"] = {"dtype": word, "bytes": zeros}
    object = {"shape": shape, "format": "zt.quant_group/1", "attributes": attributes, "components": components}
    check_values(db, writer.write_2({"q": object}), "q", reference.quant_group(shape, attributes, data, scales, zeros))


# ------------------------------------------------------------------------------------------------------------- the rest

def test_a_sharded_model_may_be_moved_as_a_whole(db, tmp_path):
    for name in ("hand_sharded.zt", "hand_sharded-part-1.zt"):
        shutil.copy(V2 / name, tmp_path / name.replace("hand_sharded", "renamed"))
    got, expected = (value(db, "SELECT zt_dense(?, 'far')", str(p)) for p in (tmp_path / "renamed.zt", V2 / "hand_sharded.zt"))
    assert got == expected


@pytest.mark.parametrize("shards, place, fault", [
    ({"": {"size": 8192, "digest": "xxh3:" + "0" * 16}}, ("", 4096, 16), "an empty name"), ({".s": {"size": 8192, "digest": "xxh3:" + "0" * 16}}, (".s", 4096, 16), "shard"),
    ({"s": {"size": 3, "digest": "xxh3:" + "0" * 16}}, ("s", 4096, 16), "s"), ({"s": {"size": 40, "digest": "xxh3:" + "0" * 16}}, ("s", 0, 1), "s")])
def test_a_shard_that_cannot_be(db, shards, place, fault):
    """Its name is empty or hidden, and its size leaves no room for a blob."""
    error, kind = rows(db, "SELECT error, error_kind FROM zt_files(?)", writer.write_2({"w": writer.in_shard(*place)}, shards=shards))[0]
    assert kind == "broken" and fault in error


def test_a_blob_is_the_manifest_or_lies_beside_it(db):
    """Its own length is a number of two bytes in it."""
    def file(more):
        length = 100
        for _ in range(4):
            object = {"shape": [length + more], "layout": "dense", "parts": {"data": {"blob": [4096, length + more], "dtype": "u8"}}}
            manifest = writer.cbor(writer.deterministic({"objects": {"w": object}}))
            length = len(manifest)
        return writer.with_manifest_2(bytes(4096), manifest), manifest

    source, manifest = file(0)
    shown = rows(db, "SELECT error_kind FROM zt_files(?)", source)
    assert shown == [(None,)] and value(db, "SELECT data FROM zt_components(?)", source) == manifest
    for more in (-1, 1):
        assert rows(db, "SELECT error_kind FROM zt_files(?)", file(more)[0]) == [("broken",)]
