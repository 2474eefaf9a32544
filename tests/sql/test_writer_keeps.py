"""zt_writer with mode='update': what is left alone stays as it is stored, whether or not it is understood."""
import io
import json
import os
import resource
import shutil
import sqlite3
import struct
import zipfile

import pytest

import corpus
import writer
from support import rows, value
from writing import ENTRY, FULL, attributes, declare, insert, inside, names, put, refusal  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")

# Columns of a component but its place
FACTS = ("SELECT object, component, dtype, type, encoding, byte_order, length, decoded_length, digest, shard, offset"
         " FROM zt_components(?) ORDER BY 1, 2")
SHOWN = "SELECT object, key, value, type, stored_type FROM zt_attributes(?) ORDER BY 1, 2"


@pytest.fixture
def db(connect):
    return connect(entry=ENTRY)


def save(path, data):
    with open(path, "wb") as file:
        file.write(data)


def load(path):
    with open(path, "rb") as file:
        return file.read()


def u64(*numbers):
    return struct.pack(f"<{len(numbers)}Q", *numbers)


# ------------------------------------------------------------------------------------------------- every readable file

FILES = [path for format in corpus.formats() for kind in ("golden", "hostile")
         for path in sorted((corpus.FORMATS / format).rglob(f"{kind}/**/*"))
         if path.suffix in (".zt", ".safetensors", ".gguf", ".npz", ".npy")]


def entries(path):
    """{object: what a manifest of zTensor says of it, without places and attributes}; empty for other formats."""
    data = load(path)
    if data.startswith(writer.MAGIC_2):
        offset, length = struct.unpack("<QQ", data[-40:-24])
    elif data.startswith(writer.MAGIC_1):
        length, = struct.unpack("<Q", data[-16:-8])
        offset = len(data) - 16 - length
    else:
        return {}
    root = corpus.decode(data[offset:offset + length]) if length else {"objects": {}}
    root = {key: of for key, of in corpus.pairs(root["value"] if "$tag" in root else root) if isinstance(key, str)}
    found = {}
    for name, object in corpus.pairs(root["objects"]):
        parts = [parts for key, parts in corpus.pairs(object) if key in ("components", "parts")]
        found[name] = ([pair for pair in corpus.pairs(object) if pair[0] not in ("attributes", "components", "parts")],
                       [(role, [pair for pair in corpus.pairs(part) if pair[0] not in ("offset", "blob")])
                        for role, part in corpus.pairs(parts[0])])
    return found


def state(db, path):
    """All that must stay: facts and stored bytes of each component, attributes, entries of the manifest."""
    data, components = load(path), {}
    for name, *facts, shard, offset in rows(db, FACTS, path):
        length = 16 if facts[5] is None else facts[5]
        stored = data[offset:offset + length] if shard is None and offset is not None else offset
        components.setdefault(name, []).append((facts, shard, stored))
    return components, rows(db, SHOWN, path), entries(path)


def renamed(found, old, new):
    components, shown, objects = found
    return ({new if name == old else name: rest for name, rest in components.items()},
            sorted(((new if name == old else name, *rest) for name, *rest in shown), key=lambda row: ((row[0] or ""), row[1])),
            {new if name == old else name: rest for name, rest in objects.items()})


def without(found, gone):
    components, shown, objects = found
    return ({name: rest for name, rest in components.items() if name != gone},
            [row for row in shown if row[0] != gone], {name: rest for name, rest in objects.items() if name != gone})


def by_owner(found):
    return found[0], sorted(found[1], key=lambda row: ((row[0] or ""), row[1])), found[2]


@pytest.mark.parametrize("version", ["1", "1.", "1.1", "1.3"])
def test_a_file_of_another_version_is_not_updated(db, version):
    """Nor one whose version is shorter than a number that is known."""
    file = writer.write({"w": writer.dense(b"abcd")}, "1.2", version=version)
    save("a.zt", file)
    with pytest.raises(sqlite3.Error):
        declare(db, "a.zt", "mode='update'", name="u")
        db.execute("DELETE FROM u")
    assert load("a.zt") == file


MISMATCH, LOSS = "its bytes do not have its digest", ", which an update would lose; "


@pytest.mark.parametrize("path", FILES, ids=["-".join(path.parts[-3:]) for path in FILES])
def test_an_update_keeps_all_else(db, path):
    name = path.name
    shutil.copy(path, name)
    for shard in path.parent.glob(f"{path.stem}-*.zt"):
        shutil.copy(shard, shard.name)
    error, container, version = db.execute("SELECT error, container, version FROM zt_files(?)", (name,)).fetchone()
    if error is not None or (container == "ztensor" and not version.startswith(("1.2", "2"))) or "big_endian" in name:
        return
    before = state(db, name)
    file = load(name)
    first = next(iter(before[0]), None)
    for change in ("attribute", "rename", "delete"):
        if change == "attribute" and container not in ("ztensor", "safetensors", "gguf"):
            continue
        if change != "attribute" and (first is None or container == "npy"):
            continue
        save(name, file)
        declare(db, name, "mode='update'", name="u")
        try:
            db.execute({"attribute": "INSERT INTO u(key, value) VALUES('zz.new', 'x')",
                        "rename": "UPDATE u SET name = 'zz.renamed' WHERE name = ?",
                        "delete": "DELETE FROM u WHERE name = ?"}[change], () if change == "attribute" else (first,))
        except sqlite3.Error as failed:
            assert load(name) == file
            if LOSS in str(failed):
                db.execute("DROP TABLE u")
                continue
            assert path.parent.name == "hostile" or MISMATCH in str(failed), str(failed)
            assert ": object '" in str(failed) or str(failed).startswith(f"ztensor: {name}: the key '"), str(failed)
            db.execute("DROP TABLE u")
            continue
        db.execute("DROP TABLE u")
        after = state(db, name)
        if change == "attribute":
            assert (None, "zz.new", "x", "text", "str" if container == "gguf" else None) in after[1]
            after = after[0], [row for row in after[1] if row[:2] != (None, "zz.new")], after[2]
            assert after == before
        elif change == "rename":
            assert by_owner(after) == by_owner(renamed(before, first, "zz.renamed"))
        else:
            assert after == without(before, first)


# ------------------------------------------------------------------------------------------- what is not understood

VENDOR = {
    "dtype": {"shape": [4], "components": {"data": {"dtype": "u8", "type": "acme.q/2", "bytes": b"abcd"}}},
    "layout": {"shape": [9], "format": "acme.tree/1", "components": {"root": {"dtype": "u8", "bytes": b"12345"}, "values": {"bytes": b""}}},
    "plain": {"shape": [2], "components": {"data": {"bytes": b"\1\2"}}, "attributes": {"k": 1}},
}


@pytest.fixture(params=["1.2", "2"])
def vendor(db, request):
    """A file with types, layouts and encodings that are not known, and the table `u` that updates it."""
    encoding = {"encoding": "acme.lz/1", "bytes": b"zz", **({"uncompressed_length": 8} if request.param == "2" else {})}
    objects = {**VENDOR, "encoding": {"shape": [8], "components": {"data": encoding}}}
    save("v.zt", writer.write(objects, request.param, {"file": "yes"}))
    declare(db, "v.zt", "mode='update'", name="u")
    return request.param


def test_rows_that_are_not_understood_are_shown_as_they_are(db, vendor):
    db.execute("BEGIN")
    assert rows(db, "SELECT name, dtype, shape, format, bytes FROM u WHERE key IS NULL ORDER BY name") == [
        ("dtype", None, "[4]", "dense", 4), ("encoding", "u8", "[8]", "dense", 8 if vendor == "2" else None), ("layout", "u8", "[9]", "acme.tree/1", 5),
        ("plain", "u8", "[2]", "dense", 2)]
    db.execute("ROLLBACK")


@pytest.mark.parametrize("change", ["dtype = 'f32'", "encoding = 'zstd'", "format = 'sparse_coo'", "digest = 'sha256'", "level = 3, encoding = 'zstd'"])
def test_a_change_of_such_a_row_is_an_error(db, vendor, change):
    before = load("v.zt")
    for name, why in (("dtype", "component 'data': type 'acme.q/2' is not known"), ("encoding", "component 'data': encoding 'acme.lz/1' is not known"),
                      ("layout", "acme.tree/1")):
        code, message = refusal(db, f"UPDATE u SET {change} WHERE name = ?", name)
        assert code == 1 and message.startswith(f"ztensor: v.zt: object '{name}': ") and why in message
    assert load("v.zt") == before


EXTRA = {
    "dense": {"shape": [4], "components": {"data": {"bytes": b"\1\2\3\4"}, "mask": {"bytes": b"\1"}}},
    "csr": {"shape": [1, 4], "format": "sparse_csr", "components": {
        "values": {"bytes": b"\7"}, "indices": {"dtype": "u64", "bytes": u64(2)}, "indptr": {"dtype": "u64", "bytes": u64(0, 1)},
        "coords": {"bytes": b"\1"}}},
    "coo": {"shape": [4], "format": "sparse_coo", "components": {
        "values": {"bytes": b"\7"}, "coords": {"dtype": "u64", "bytes": u64(2)}, "indices": {"bytes": b"\1"}}},
    "real": {"shape": [1, 4], "format": "sparse_csr", "components": {   # Values in `real` and `imag` have no `values`
        "values": {"bytes": b"\7"}, "indices": {"dtype": "u64", "bytes": u64(2)}, "indptr": {"dtype": "u64", "bytes": u64(0, 1)},
        "real": {"bytes": b"\1"}}}}


@pytest.mark.parametrize("name, extra", [("dense", "mask"), ("csr", "coords"), ("coo", "indices"), ("real", "real")])
def test_a_component_that_the_layout_does_not_have(db, name, extra):
    save("e.zt", writer.write({name: EXTRA[name]}))
    before = load("e.zt")
    declare(db, "e.zt", "mode='update'", name="u")
    declare(db, "new.zt", "digest='sha256'")
    for sql in ("UPDATE u SET encoding = 'zstd' WHERE name = ?", "INSERT INTO out(name, source) VALUES(?, 'e.zt')"):
        code, message = refusal(db, sql, name)
        assert code == 1 and message.endswith(
            f".zt: object '{name}': its layout has no component '{extra}', which the new one would lack; format='dense' of zt_writer leaves it out")
    assert load("e.zt") == before
    db.execute("INSERT INTO out(name, source, format) VALUES(?, 'e.zt', 'dense')", (name,))
    assert rows(db, "SELECT zt_dense(path, object) FROM zt_objects('new.zt')") == [(b"\1\2\3\4" if name == "dense" else b"\0\0\7\0",)]
    db.execute("UPDATE u SET name = 'again' WHERE name = ?", (name,))
    assert value(db, "SELECT data FROM zt_components('e.zt') WHERE object = 'again' AND component = ?", extra) == b"\1"


@pytest.mark.parametrize("broken", [None, "data", "mask"])
def test_digests_of_all_components_are_checked_where_one_is_left_out(db, broken):
    parts = {"data": bytes(range(8)), "mask": bytes(8)}
    save("e.zt", writer.write({"w": {"shape": [8], "components": {
        role: {"bytes": data, "digest": writer.sha256(data + b"x" * (role == broken))} for role, data in parts.items()}}}))
    declare(db, "new.zt")
    if broken:
        code, message = refusal(db, "INSERT INTO out(name, source, format) VALUES('w', 'e.zt', 'dense')")
        assert code == 1 and message.endswith("its bytes do not have its digest")
    else:
        db.execute("INSERT INTO out(name, source, format) VALUES('w', 'e.zt', 'dense')")
        assert rows(db, "SELECT component, data FROM zt_components('new.zt')") == [("data", parts["data"])]


def test_such_rows_are_renamed_deleted_and_get_attributes(db, vendor):
    before = state(db, "v.zt")
    db.execute("BEGIN")
    db.execute("UPDATE u SET name = 'x.' || name WHERE name IN ('dtype', 'encoding')")
    db.execute("DELETE FROM u WHERE name = 'plain'")
    insert(db, "u", name="layout", key="seen", value=1)
    db.execute("COMMIT")
    after = state(db, "v.zt")
    assert {name: after[0][name] for name in after[0]} == {
        "x.dtype": before[0]["dtype"], "x.encoding": before[0]["encoding"], "layout": before[0]["layout"]}
    assert after[1] == [(None, "file", "yes", "text", None), ("layout", "seen", 1, "integer", None)]
    assert {name.replace("x.", ""): entry for name, entry in after[2].items()} == {name: before[2][name] for name in ("dtype", "encoding", "layout")}


def test_fields_whose_keys_are_no_text(db):
    """They are not known, either. Those of an object stay, on their side of its attributes."""
    shard = writer.data_shard(b"there")
    save("v-1.zt", shard)
    objects = {"w": {"shape": [], "format": "acme.tree/1", "components": {"root": writer.in_shard("1", 4096, 5)["components"]["data"]}}}
    body, placed = writer.place_blobs(objects, 4096, 4096)
    fields = {5: "five", **writer.object_2(placed["w"]), writer.Raw(b"\xf4"): "false"}
    root = {7: "seven", "shards": {"1": {"size": len(shard), "digest": writer.sha256(shard)}}, "objects": {"w": fields}}
    save("v.zt", writer.with_manifest_2(bytes(body), writer.cbor(writer.deterministic(root))))
    declare(db, "v.zt", "mode='update'", name="u")
    insert(db, "u", name="w", key="seen", value=1)
    assert rows(db, "SELECT object, key, value FROM zt_attributes('v.zt')") == [("w", "seen", 1)]
    assert value(db, "SELECT data FROM zt_components('v.zt')") == b"there"
    manifest = load("v.zt")
    places = [manifest.index(field) for field in (b"\5" + writer.cbor("five"), writer.cbor("attributes"), b"\xf4" + writer.cbor("false"))]
    assert places == sorted(places)


def root_1(data):
    """The pairs of the root map of a file of 1.2."""
    length, = struct.unpack("<Q", data[-16:-8])
    return corpus.pairs(corpus.decode(data[-16 - length:-16]))


def root_2(data):
    offset, length = struct.unpack("<QQ", data[-40:-24])
    return corpus.pairs(corpus.decode(data[offset:offset + length]))


FIELDS = {"a": 1, "generator": "acme 1", "signature": {"by": "x", "of": [1, 2]}, "zz": None}


@pytest.mark.parametrize("gone", [False, True], ids=["with its tensor", "without tensors"])
@pytest.mark.parametrize("version", ["1.2", "2"])
def test_fields_of_the_file_that_are_not_known(db, version, gone):
    """They stay, in their order among the others, also if no tensor does."""
    save("a.zt", writer.write({"w": writer.dense(b"\1")}, version, root={**FIELDS, **({7: "seven"} if version == "2" else {})}))
    before = (root_2 if version == "2" else root_1)(load("a.zt"))
    declare(db, "a.zt", "mode='update'", name="u")
    db.execute("DELETE FROM u" if gone else "UPDATE u SET name = 'v'")
    assert names(db, "a.zt") == ([] if gone else ["v"])
    after = (root_2 if version == "2" else root_1)(load("a.zt"))
    known = ("objects", "version", "attributes")
    assert sorted([pair for pair in after if pair[0] not in known], key=str) == sorted([pair for pair in before if pair[0] not in known], key=str)
    assert len(after) == len(before)
    encoded = [writer.cbor(key) for key, _ in after]
    assert version == "1.2" or encoded == sorted(encoded)
    insert(db, "u", key="k", value=1)
    assert attributes(db, "a.zt") == [(None, "k", 1, "integer")]
    assert len((root_2 if version == "2" else root_1)(load("a.zt"))) == len(before) + 1
    assert rows(db, "SELECT rule FROM zt_check('a.zt') WHERE severity = 'error'") == []


@pytest.mark.parametrize("change", ["dtype = 'f32'", "encoding = 'zstd'", "digest = 'sha256'", "format = 'dense', encoding = 'zstd'"])
@pytest.mark.parametrize("version, place", [("1.2", "object"), ("1.2", "component"), ("2", "object"), ("2", "component")])
def test_fields_of_a_tensor_that_are_not_known(db, version, place, change):
    """They stay with its bytes. Other bytes might contradict them, so that these are an error."""
    entry = {"shape": [1], "components": {"data": {"bytes": b"\1"}}}
    if place == "object":
        entry["fields"] = {"scale": 2.5}
    else:
        entry["components"]["data"]["scale"] = 2.5
    save("a.zt", writer.write({"w": entry, "x": writer.dense(b"\2")}, version))
    before = load("a.zt")
    assert b"scale" in before
    declare(db, "a.zt", "mode='update'", name="u")
    code, message = refusal(db, f"UPDATE u SET {change}")
    assert (code, message) == (1, "ztensor: a.zt: object 'w': the manifest has a field 'scale' of it, which is not understood and would be"
                                  " lost with its stored bytes; INSERT it into another file, or again under another name")
    assert load("a.zt") == before
    db.execute(f"UPDATE u SET {change} WHERE name = 'x'")
    db.execute("UPDATE u SET name = 'v' WHERE name = 'w'")
    assert b"scale" in load("a.zt")
    db.execute("INSERT INTO u(name, source, object, dtype) VALUES('y', 'a.zt', 'v', 'f32')")
    assert load("a.zt").count(b"scale") == 1


def test_a_field_of_a_tensor_whose_key_is_no_text(db):
    save("a.zt", writer.write({"w": {"shape": [1], "fields": {5: "five"}, "components": {"data": {"bytes": b"\1"}}}}, "2"))
    declare(db, "a.zt", "mode='update'", name="u")
    assert "the manifest has a field of it, which is not understood" in refusal(db, "UPDATE u SET dtype = 'f32'")[1]


def header(data):
    length, = struct.unpack("<Q", data[:8])
    return json.loads(data[8:8 + length])


def save_safetensors(path, header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    save(path, struct.pack("<Q", len(text)) + text + data)


def test_fields_of_a_tensor_of_safetensors(db):
    """As they are written, with the white space in them."""
    save_safetensors("a.safetensors", rb'''{"w": {"comment" : "a\\u0022\\ud83d\\ude00", "dtype":"U8", "nested":{"a": [1, {"b" : null}]}, "shape":[1],
        "data_offsets":[0,1], "e\\u0031" :
        1.50}, "x":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}''', b"\1\2")
    before = header(load("a.safetensors"))
    declare(db, "a.safetensors", "mode='update'", name="u")
    assert refusal(db, "UPDATE u SET dtype = 'f32'") == (
        1, "ztensor: a.safetensors: object 'w': the manifest has a field 'comment' of it, which is not understood and would be lost with its stored"
           " bytes; INSERT it into another file, or again under another name")
    assert header(load("a.safetensors")) == before
    db.execute("UPDATE u SET dtype = 'f32' WHERE name = 'x'")
    db.execute("UPDATE u SET name = 'v' WHERE name = 'w'")
    after = header(load("a.safetensors"))
    places = {"data_offsets": after["v"]["data_offsets"]}
    assert after["v"] == {**before["w"], **places} and list(after["x"]) == ["dtype", "shape", "data_offsets"]
    assert b"1.50" in load("a.safetensors") and b'{"a": [1, {"b" : null}]}' in load("a.safetensors")


def save_npz(path, comment=b"", member_comment=b"", **members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in members.items():
            info = zipfile.ZipInfo(name)
            info.comment = member_comment
            archive.writestr(info, NPY if text is None else text)
        archive.comment = comment
    save(path, load(path).replace(b"zz.json", b"\xff\xfe.json"))


NPY = b"\x93NUMPY\1\0v\0" + b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n\7"
UNLISTED = [
    ({"config.json": "{}"}, {}, "member 'config.json'"),
    ({"config.json": "{}", "b": "", "folder/": ""}, {}, "3 members without a row, the first 'config.json'"),
    ({"zz.json": "x"}, {}, "member of number 1"),
    ({}, {"comment": b"made by me"}, "a comment"),
    ({}, {"member_comment": b"x"}, "a comment"),
    ({"config.json": "{}"}, {"comment": b"made by me"}, "member 'config.json' and a comment"),
]


@pytest.mark.parametrize("members, options, what", UNLISTED, ids=[what for _, _, what in UNLISTED])
def test_an_archive_with_what_no_row_shows_is_not_updated(db, members, options, what):
    save_npz("a.npz", **options, **{"a.npy": None}, **members)
    before = load("a.npz")
    declare(db, "a.npz", "mode='update'", name="u")
    db.execute("BEGIN")
    for sql in ("SELECT * FROM u", "UPDATE u SET name = 'c'", "DELETE FROM u", "INSERT INTO u(name, source) VALUES('z', 'a.npz')"):
        assert refusal(db, sql) == (1, f"ztensor: a.npz: beside its rows the file has {what}, which an update would lose; INSERT its rows into"
                                       " another file")
    db.execute("COMMIT")
    assert load("a.npz") == before
    declare(db, "b.npz", name="o")
    db.execute("INSERT INTO o(name, source) SELECT object, path FROM zt_objects('a.npz')")
    assert names(db, "b.npz") == ["a"]


def test_an_archive_with_a_member_that_is_not_looked_at(db):
    """It is packed by a method that is not read, and not called as an array is."""
    with zipfile.ZipFile("a.npz", "w") as archive:
        archive.writestr("a.npy", NPY)
        archive.writestr("w.bin", NPY, zipfile.ZIP_BZIP2)
    declare(db, "a.npz", "mode='update'", name="u")
    assert "beside its rows the file has member 'w.bin', which" in refusal(db, "DELETE FROM u")[1]


def test_shards_are_kept_where_they_are(db):
    """With their table, whether or not they are there."""
    shard = writer.data_shard(b"there")
    save("m-1.zt", shard)
    save("m.zt", writer.write_2({"far": writer.in_shard("1", 4096, 5), "gone": writer.in_shard("2", 4096, 1), "here": writer.dense(b"\1")},
                                shards={"1": shard, "2": shard}))
    before = state(db, "m.zt")
    declare(db, "m.zt", "mode='update'", name="u")
    db.execute("UPDATE u SET name = 'near' WHERE name = 'far'")
    assert by_owner(state(db, "m.zt")) == by_owner(renamed(before, "far", "near"))
    assert value(db, "SELECT data FROM zt_components('m.zt', 'skip') WHERE object = 'near'") == b"there"
    db.execute("DELETE FROM u WHERE name IN ('near', 'gone')")
    assert names(db, "m.zt") == ["here"] and b"shards" not in load("m.zt")


def test_a_table_of_shards_that_no_tensor_needed_is_kept(db):
    save("m.zt", writer.write_2({"here": writer.dense(b"\1")}, shards={"1": writer.data_shard(b"there")}))
    before = dict(root_2(load("m.zt")))["shards"]
    declare(db, "m.zt", "mode='update'", name="u")
    for change in ("UPDATE u SET name = 'x'", "DELETE FROM u", "INSERT INTO u(key, value) VALUES('k', 1)"):
        db.execute(change)
        assert dict(root_2(load("m.zt")))["shards"] == before


def test_types_of_ggml_that_are_not_known(db):
    """Their bytes go up to the next tensor's."""
    def text(z):
        return struct.pack("<Q", len(z)) + z
    infos = [(b"b", 99, 0), (b"a", 0, 64), (b"z", 98, 96)]
    head = b"GGUF" + struct.pack("<IQQ", 3, 3, 0) + b"".join(
        text(name) + struct.pack("<IQIQ", 1, 1 if type == 0 else 40, type, offset) for name, type, offset in infos)
    data = bytes(range(64)) + struct.pack("<f", 2.5) + bytes(28) + bytes(range(50))
    save("q.gguf", head + bytes(-len(head) % 32) + data)
    declare(db, "q.gguf", "mode='update'", name="u")
    db.execute("BEGIN")
    assert rows(db, "SELECT name, dtype, format, bytes FROM u ORDER BY name") == [
        ("a", "f32", "dense", 4), ("b", "u8", "gguf.unknown", None), ("z", "u8", "gguf.unknown", None)]
    insert(db, "u", key="general.name", value="x")
    db.execute("COMMIT")
    file = load("q.gguf")
    for name, type, stored in (("b", 99, data[:64]), ("z", 98, data[96:])):
        assert value(db, "SELECT value FROM zt_attributes('q.gguf') WHERE object = ? AND key = 'ggml_type'", name) == type
        offset = value(db, "SELECT offset FROM zt_components('q.gguf') WHERE object = ?", name)
        assert file[offset:offset + len(stored)] == stored
    assert value(db, "SELECT data FROM zt_components('q.gguf') WHERE object = 'a'") == struct.pack("<f", 2.5)


# -------------------------------------------------------------------------------------------------------- attributes

# Values that SQL does not show whole
ODD = {"bytes": [b"\1\2"], "bignum": writer.tag(2, b"\1" + bytes(8)), "minus": writer.tag(3, b"\1" + bytes(8)),
       "tagged": writer.tag(0, "2020-01-01"), "keys": {1: "a", "1": "b"}, "wide": 1.5, "undefined": writer.UNDEFINED,
       "deep": {"a": [{"b": [float("nan"), b"x"]}]}, "plain": "text"}


def test_attributes_keep_their_bytes(db):
    """In the file, of an object, and where their object has another name; the others may change."""
    save("a.zt", writer.write({"w": {**writer.dense(b"\1"), "attributes": ODD}}, attributes=ODD))
    declare(db, "a.zt", "mode='update'", name="u")
    db.execute("BEGIN")
    insert(db, "u", key="new", value=1)
    db.execute("UPDATE u SET value = 'other' WHERE key = 'plain'")
    db.execute("UPDATE u SET name = 'x' WHERE name = 'w'")
    assert value(db, "SELECT count(*) FROM u WHERE data IS NOT NULL") == 0
    db.execute("COMMIT")
    file = load("a.zt")
    for key, stored in ODD.items():
        wanted = writer.cbor(key) + writer.cbor("other" if key == "plain" else stored)
        assert file.count(wanted) == 2, key
    assert ("x", "plain", "other", "text") in attributes(db, "a.zt")


def test_attributes_keep_their_bytes_in_version_2(db):
    odd = {"bytes": [b"\1\2"], "keys": {1: "a", "1": "b"}, "deep": {"a": [{"b": [float("nan"), b"x"]}]}}
    save("a.zt", writer.write({"w": {**writer.dense(b"\1"), "attributes": odd}}, "2", odd))
    declare(db, "a.zt", "mode='update'", name="u")
    insert(db, "u", key="new", value=1)
    for key, stored in odd.items():
        assert load("a.zt").count(writer.cbor(key) + writer.cbor(writer.deterministic(stored))) == 2, key


def test_an_attribute_that_changes_is_taken_from_sql(db):
    save("a.zt", writer.write({"w": writer.dense(b"\1")}, attributes={"big": writer.tag(2, b"\1" + bytes(8)), "odd": [b"\1"]}))
    declare(db, "a.zt", "mode='update'", name="u")
    code, message = refusal(db, "UPDATE u SET value = '18446744073709551617' WHERE key = 'big'")
    assert code == 1 and "attribute" in message or "value" in message
    db.execute("UPDATE u SET value = 5 WHERE key = 'big'")
    db.execute("UPDATE u SET key = 'same' WHERE key = 'odd'")
    assert attributes(db, "a.zt") == [(None, "big", 5, "integer"), (None, "same", '["01"]', "array")]
    assert writer.cbor("same") + writer.cbor([b"\1"]) in load("a.zt")


def test_metadata_of_gguf_keep_their_bytes(db):
    """NaN with its bits, arrays of arrays of several types, and text that is not UTF-8."""
    def text(z):
        return struct.pack("<Q", len(z)) + z
    values = {b"nan": b"\6\0\0\0\1\0\xc0\xff", b"latin": b"\x09\0\0\0\x08\0\0\0" + struct.pack("<Q", 1) + text(b"\xff"),
              b"mixed": b"\x09\0\0\0\x09\0\0\0" + struct.pack("<QIQBIQb", 2, 0, 1, 200, 1, 1, -1)}
    head = b"GGUF" + struct.pack("<IQQ", 3, 0, len(values)) + b"".join(text(key) + stored for key, stored in values.items())
    save("g.gguf", head + bytes(-len(head) % 32))
    declare(db, "g.gguf", "mode='update'", name="u")
    insert(db, "u", key="new", value=1)
    for key, stored in values.items():
        assert text(key) + stored in load("g.gguf")


# ---------------------------------------------------------------------------------------------------- other arguments

def test_deflated_members_keep_their_bytes(db):
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (9000,), }".ljust(117) + b"\n"
    member = b"\x93NUMPY\1\0v\0" + header + bytes(9000)
    with zipfile.ZipFile("d.npz", "w") as archive:
        for level in (1, 9):
            archive.writestr(f"level{level}.npy", member, zipfile.ZIP_DEFLATED, level)
        archive.writestr("text.npy", member.replace(b"|u1'", b"|S1'"), zipfile.ZIP_DEFLATED, 5)
    before = state(db, "d.npz")
    declare(db, "d.npz", "mode='update'", name="u")
    db.execute("UPDATE u SET name = 'zz' WHERE name = 'level9'")
    assert by_owner(state(db, "d.npz")) == by_owner(renamed(before, "level9", "zz"))
    with zipfile.ZipFile("d.npz") as archive:
        assert archive.testzip() is None and archive.read("zz.npy") == member
        assert archive.getinfo("zz.npy").compress_size == len(before[0]["level9"][0][2])
    data = bytearray(load("d.npz"))
    data[data.index(before[0]["level1"][0][2]) + 20] ^= 0xff
    save("d.npz", data)
    code, message = refusal(db, "UPDATE u SET name = 'y' WHERE name = 'zz'")
    assert code and "object 'level1'" in message and load("d.npz") == data


def test_the_argument_align_contradicts_the_file(db):
    """The attribute is changed, or the argument is left out."""
    declare(db, "a.gguf", "align=64", name="made")
    put(db, "w", b"\1\0\0\0", "f32", "[1]", "made")
    declare(db, "a.gguf", "align=32", "mode='update'", name="u")
    assert refusal(db, "UPDATE u SET name = 'x' WHERE name = 'w'") == (
        1, "ztensor: a.gguf: attribute 'general.alignment' is 64, and align 32; change one, or leave it out")
    db.execute("BEGIN")
    db.execute("DELETE FROM u WHERE key = 'general.alignment'")
    db.execute("UPDATE u SET name = 'x' WHERE name = 'w'")
    db.execute("COMMIT")
    assert names(db, "a.gguf") == ["x"] and attributes(db, "a.gguf") == [("x", "ggml_type", 0, "integer"), ("x", "ne", "[1]", "array")]


@pytest.mark.parametrize("align", [131072, 1 << 20])
def test_a_large_alignment_is_no_gap(db, align):
    declare(db, "a.zt", f"align={align}")
    db.execute("INSERT INTO out(name, data, dtype, shape) VALUES('a', x'01', 'u8', '[1]'), ('b', x'02', 'u8', '[1]')")
    assert rows(db, "SELECT rule, message FROM zt_check('a.zt', 'full')") == []


# ----------------------------------------------------------------------------------------------------------- shapes


@pytest.fixture
def csr(db):
    declare(db, "s.zt")
    db.execute("BEGIN")
    for component, data, dtype in (("values", b"\1\2\3", "u8"), ("indices", u64(0, 2, 1), "u64"), ("indptr", u64(0, 2, 3), "u64")):
        put(db, "s", data, dtype, "[2,3]", format="sparse_csr", component=component)
    return db


def test_the_shape_of_a_sparse_tensor_changes(csr):
    csr.execute("UPDATE out SET shape = '[2,5]' WHERE name = 's'")
    csr.execute("COMMIT")
    assert rows(csr, "SELECT shape, zt_dense(path, object) FROM zt_objects('s.zt')") == [("[2,5]", b"\1\0\2\0\0\0\3\0\0\0")]


def test_rows_are_added_to_a_sparse_tensor(csr):
    csr.execute("UPDATE out SET shape = '[3,3]', data = CASE component WHEN 'indptr' THEN ? ELSE data END WHERE name = 's'", (u64(0, 2, 3, 3),))
    csr.execute("COMMIT")
    assert rows(csr, "SELECT shape, zt_dense(path, object) FROM zt_objects('s.zt')") == [("[3,3]", b"\1\0\2\0\3\0\0\0\0")]


@pytest.mark.parametrize("shape, message", [
    ("[2,2]", "component 'indices': index 1 is 2, beyond the dimension of 2"),
    ("[3,3]", "component 'indptr': indptr has 3 entries for 3 rows, not one more"), ("[6]", "sparse_csr has two dimensions, not 1")])
def test_a_shape_that_the_indices_do_not_allow(csr, shape, message):
    code, text = refusal(csr, "UPDATE out SET shape = ? WHERE name = 's'", shape)
    assert code == 1 and text.startswith("ztensor: s.zt: object 's': ") and message in text
    csr.execute("COMMIT")
    assert value(csr, "SELECT shape FROM zt_objects('s.zt')") == "[2,3]"


@pytest.mark.parametrize("key, shown", [(1, "1"), (writer.tag(5, "k"), '"k"')])
def test_keys_that_are_no_text(db, key, shown):
    """A writer has no row for such an attribute."""
    tensors = {"a": {}, "odd": {"attributes": writer.Pairs([(key, "x")])}, "z": {}}
    save("odd.zt", writer.write({name: {**writer.dense(b"1"), **fields} for name, fields in tensors.items()}))
    declare(db, "odd.zt", "mode='update'", name="u")
    for sql in ("SELECT * FROM u", "UPDATE u SET digest = 'none' WHERE name = 'z'"):
        assert refusal(db, sql) == (1, f"ztensor: odd.zt: object 'odd': the key '{shown}' of an attribute is not text: the file cannot be updated")
    save("file.zt", writer.write({"a": writer.dense(b"1")}, attributes=writer.Pairs([(key, "x")])))
    declare(db, "file.zt", "mode='update'", name="f")
    assert refusal(db, "SELECT * FROM f") == (1, f"ztensor: file.zt: the key '{shown}' of an attribute is not text: the file cannot be updated")
    declare(db, "new.zt")
    assert refusal(db, "INSERT INTO out(name, source) SELECT object, path FROM zt_objects('odd.zt') ORDER BY object") == (
        1, "ztensor: new.zt: object 'odd': a key of its attributes is not text")


@pytest.mark.parametrize("change", ["shape = '[2,4]'", "format = 'sparse_coo'"])
def test_components_with_several_shapes(csr, change):
    csr.execute(f"UPDATE out SET {change} WHERE component = 'values'")
    assert refusal(csr, "COMMIT") == (1, "ztensor: s.zt: object 's': its components differ in format or shape")


def test_components_with_several_ranks(db):
    declare(db, "s.zt")
    db.execute("BEGIN")
    for component, data in (("values", u64(5)), ("coords", u64(1, 2))):
        put(db, "s", data, "u64", "[2,3]", format="sparse_coo", component=component)
    db.execute("UPDATE out SET shape = '[6]' WHERE component = 'values'")
    assert refusal(db, "COMMIT") == (1, "ztensor: s.zt: object 's': its components differ in format or shape")


def test_the_shape_of_a_tensor_with_a_source(csr):
    csr.execute("COMMIT")
    declare(csr, "s.zt", "mode='update'", name="u")
    assert refusal(csr, "UPDATE u SET shape = '[2,5]'") == (
        1, "ztensor: s.zt: object 's': its source has another shape: shape is NULL, which keeps that, or the same")


@pytest.mark.parametrize("name", ["a.zt", "a.safetensors", "a.npy", "a.npz", "a.gguf", "b.zt"])
def test_an_empty_shape_that_overflows(db, name):
    """numpy and safetensors do not read it; the bytes of its other dimensions are what counts."""
    declare(db, name, *["format='ztensor-1.2'"] * (name == "b.zt"))
    for shape in ("[0, 9223372036854775807, 9]", "[9, 9223372036854775807, 0]", "[0, 2305843009213693952]"):
        assert refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('w', x'', 'f32', ?)", shape) == (
            1, f"ztensor: {name}: object 'w': the shape overflows: its dimensions besides 0 make more than 2^63 bytes")
    db.execute("INSERT INTO out(name, data, dtype, shape) VALUES('w', x'', 'f32', '[0,1152921504606846976]')")
    assert value(db, "SELECT shape FROM zt_objects(?)", name) == "[0,1152921504606846976]"


def test_a_sparse_shape_that_overflows(db):
    declare(db, "a.zt")
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape, format, component) VALUES('w', x'', 'f32', '[4294967296,4294967296]',"
                       " 'sparse_coo', 'values')") == (1, "ztensor: a.zt: object 'w': the shape has 2^64 elements or more")


def test_attributes_that_readers_would_refuse(db):
    for name, arguments, most in (("a.zt", [], 30), ("b.zt", ["format='ztensor-1.2'"], 62)):
        declare(db, name, *arguments, name=name[0])
        fits = "[" * most + "1" + "]" * most
        assert refusal(db, f"INSERT INTO {name[0]}(key, value, type) VALUES('k', '[' || ? || ']', 'array')", fits) == (
            1, f"ztensor: {name}: attribute 'k' is nested deeper than {most} levels, which readers refuse; make it flatter, or text")
        db.execute(f"INSERT INTO {name[0]}(key, value, type) VALUES('k', ?, 'array')", (fits,))
        assert attributes(db, name) == [(None, "k", fits, "array")]


def test_no_room_for_what_is_noted_beside_a_row(db):
    """A row found room, but the note that there is a change did not, which depends on the lengths of names. Then the row's name is gone."""
    noted = 0
    for n in range(100, 152):
        names = [f"{i:0{n}}" for i in range(40)]
        save("long.zt", writer.write({name: {**writer.dense(b"1"), "attributes": {"k": "v"}} for name in names}))
        declare(db, "long.zt", "mode='update'", name="u")
        db.execute("BEGIN")
        assert value(db, "SELECT count(*) FROM u") == 80
        db.execute(f"PRAGMA temp.max_page_count = {value(db, 'PRAGMA temp.page_count') + 1}")
        code, text = refusal(db, "UPDATE u SET value = hex(zeroblob(300)) WHERE key IS NOT NULL")
        assert code == FULL and text in {f"ztensor: long.zt: {place}database or disk is full" for place in ["", *(f"object '{name}': " for name in names)]}
        noted += "object" not in text
        db.execute("PRAGMA temp.max_page_count = 1000000")
        db.execute("DROP TABLE u")
    assert noted > 2


@pytest.fixture
def own(db):
    """A GGUF with values that keep their bytes, one of which is long."""
    declare(db, "a.gguf")
    db.execute("BEGIN")
    insert(db, name="w", data=bytes(4), dtype="f32", shape="[1]")
    insert(db, key="long", value="[" + ",".join(["1.5"] * 50000) + "]", type="array", stored_type="arr[f32]")
    insert(db, key="n", value=5, stored_type="u8")
    db.execute("COMMIT")
    declare(db, "a.gguf", "mode='update'", name="u")
    return db


def limited(kind, value_, sql, db):
    """The failure of a query with at most that much of a resource; None: it succeeds."""
    limits = resource.getrlimit(kind)
    resource.setrlimit(kind, (value_, limits[1]))
    try:
        rows(db, sql)
    except sqlite3.Error as error:
        return str(error)
    finally:
        resource.setrlimit(kind, limits)
    return None


def test_values_that_cannot_be_kept(own):
    """Nothing is changed, and the next transaction finds all rows."""
    found = []
    for kind, values in ((resource.RLIMIT_NOFILE, range(8)), (resource.RLIMIT_FSIZE, (50000,))):
        for value_ in values:
            free = [i for i in range(500) if not os.path.exists(f"/proc/self/fd/{i}")]
            own.execute("BEGIN")
            found.append(limited(kind, free[value_] if kind == resource.RLIMIT_NOFILE else value_, "SELECT * FROM u", own))
            own.rollback()
    assert found[0] == "ztensor: a.gguf: cannot open: Too many open files" and None in found[:8]
    assert all(each is None or (each.startswith("ztensor: a.gguf: ") and each.endswith(": Too many open files") and each.count("ztensor:") == 1)
               for each in found[:8])
    assert found[8] == "ztensor: a.gguf: writing: File too large"
    assert value(own, "SELECT count(*) FROM u") == 3


@pytest.mark.parametrize("change", ["SELECT count(*) FROM u", "UPDATE u SET value = 6 WHERE key = 'n'"])
def test_kept_values_that_cannot_be_read_back(own, change):
    before = load("a.gguf")
    own.execute("BEGIN")
    rows(own, "SELECT count(*) FROM u")
    for fd in os.listdir("/proc/self/fd"):
        link = f"/proc/self/fd/{fd}"
        if os.path.islink(link) and os.readlink(link).startswith(os.getcwd()) and "(deleted)" in os.readlink(link):
            os.truncate(link, 0)
    own.execute("UPDATE u SET name = 'v' WHERE name = 'w'")
    with pytest.raises(sqlite3.Error, match="^ztensor: a.gguf: reading back: Input/output error$"):
        own.execute(change)
        own.execute("COMMIT")
    assert load("a.gguf") == before


@pytest.mark.parametrize("sql", ["UPDATE u SET data = NULL WHERE key = 'n'", "UPDATE u SET stored_type = 'u16' WHERE key = 'n'"])
def test_a_kept_value_of_which_one_column_is_set(own, sql):
    own.execute(sql)
    assert rows(own, "SELECT value, type, stored_type FROM u WHERE key = 'n'") == [(5, "integer", "u16" if "u16" in sql else "u8")]


@pytest.mark.parametrize("where", ["offset", "(SELECT max(offset + length) FROM u_zt)"])
def test_a_kept_value_without_bytes(own, where):
    """The first one says whose bytes they are."""
    before = load("a.gguf")
    own.execute("BEGIN")
    rows(own, "SELECT count(*) FROM u")
    own.execute(f"UPDATE u_zt SET offset = {where}, length = 0 WHERE key = 'n'")
    own.execute("UPDATE u SET name = 'v' WHERE name = 'w'")
    with pytest.raises(sqlite3.Error, match="^ztensor: a.gguf: the table that keeps its rows was changed$"):
        own.execute("COMMIT")
    assert load("a.gguf") == before
