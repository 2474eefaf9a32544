"""safetensors: headers in any order and of any size, all dtypes, and indexes of several files. The files of formats/safetensors are read by
test_golden.py and test_hostile.py."""
import json
import random
import re
import struct

import pytest

import corpus
from support import ROOT, failure, message, quoted, rows, value

HERE = ROOT / "tests" / "formats" / "safetensors"


def written(header, data=b""):
    header = header.encode()
    return struct.pack("<Q", len(header)) + header + data


def entry(name, begin, end, dtype="F32", shape=()):
    return '%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}' % (json.dumps(name), dtype, json.dumps(list(shape)), begin, end)


# ----------------------------------------------------------------------------------------------- kept files

@pytest.mark.parametrize("name, file, expected", corpus.golden("safetensors"), ids=[name for name, _, _ in corpus.golden("safetensors")])
def test_zt_manifest_is_the_header(db, name, file, expected):
    header = json.loads(file.read_bytes()[8:8 + expected["manifest_length"]])
    got = json.loads(value(db, "SELECT zt_manifest(?)", str(file)))
    assert got == header and list(got) == list(header)


def test_a_directory_has_them(db):
    directory = HERE / "sharded"
    assert rows(db, "SELECT path FROM zt_files(?)", str(directory)) == [(str(path),) for path in sorted(directory.glob("*.safetensors"))]


def test_each_rule_has_a_file():
    """The rules above the driver, and those of JSON: O9 and O10 are zt_check's."""
    driver = (ROOT / "ext" / "container" / "safetensors.c").read_text()
    reader = (ROOT / "ext" / "core" / "json_read.h").read_text()
    rules = set(re.findall(r"^\*\*   (O\d+|N1)  ", driver, re.M)) | {"O9", "O10"} | set(re.findall(r"^\*\*   (J\d+)  ", reader, re.M))
    assert len(rules) == 10 + 1 + 11
    assert rules - {c["file"].split("-")[0] for c in corpus.hostile() if c["format"] == "safetensors"} == set()


@pytest.mark.parametrize("name, objects", [
    ("ok-offset-order", [("a", "[1]"), ("e", "[0]"), ("b", "[1]"), ("c", "[2]")]),
    ("ok-escaped-everything", [("a", "[4]")]),
    ("ok-empty-first", [("a", "[4]"), ("e", "[0]"), ("f", "[0]")]),
    ("ok-empty-and-huge", [("a", "[4]"), ("e", "[0,9223372036854775808,4]")]),
    ("O10-empty-within", [("a", "[4]"), ("e", "[0]")]),
    ("O10-huge-before-0", [("a", "[4]"), ("e", "[9223372036854775808,4,0]")])])
def test_objects_of_odd_files(db, name, objects):
    path = str(HERE / "hostile" / f"{name}.safetensors")
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", path) == objects
    for object, shape in objects:
        assert rows(db, "SELECT shape FROM zt_objects(?) WHERE object = ?", path, object) == [(shape,)]


@pytest.mark.parametrize("name, message", [
    ("O10-empty-within", "object 'e' has no bytes and is within another one, and safetensors' library refuses this"),
    ("O10-empty-within-2", "object 'e' has no bytes and is within another one, and safetensors' library refuses this (the first of 2)"),
    ("O10-huge-before-0", "object 'e' has dimensions before a 0 whose product is beyond 64 bits, and safetensors' library refuses this")])
def test_what_the_library_refuses_is_a_finding(db, name, message):
    path = str(HERE / "hostile" / f"{name}.safetensors")
    assert rows(db, "SELECT object, severity, rule, message FROM zt_check(?)", path) == [(None, "error", "safetensors-library", message)]


def test_what_is_ignored_is_in_the_manifest(db):
    path = str(HERE / "hostile" / "ok-ignored-fields.safetensors")
    assert value(db, "SELECT zt_manifest(?)", path) == (
        '{"a":{"x":[9.0e+999,-0.5,1.8446744073709552e+19,{"y":null}],"dtype":"F32","shape":[4],"data_offsets":[0,16],"x":true}}')


# ------------------------------------------------------------------------------------------------- made here

@pytest.mark.parametrize("name", ["dtypes", "hand_json", "hand_order", "names"])
def test_a_file_cut_anywhere_is_refused(db, name):
    data = (HERE / "golden" / f"{name}.safetensors").read_bytes()
    for n in range(0, len(data), 1 if len(data) < 2000 else 7):
        assert message(db, "SELECT * FROM zt_objects(?)", data[:n]).startswith("ztensor: <blob>: ")


def test_names_in_any_order_and_escaped_are_found(db, tmp_path):
    """Each name escaped in another way, the tensors in an order that is neither that of names nor of bytes."""
    generator = random.Random(7)
    names = [f"t{i}" for i in range(300)]
    offsets = list(range(300))
    generator.shuffle(offsets)
    entries = [(name, offset, generator.choice([name, "\\u0074" + name[1:], "t" + "".join("\\u%04x" % ord(c) for c in name[1:])]))
               for name, offset in zip(names, offsets)]
    header = ",".join('"%s":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}' % (written_as, offset, offset + 1) for _, offset, written_as in entries)
    path = tmp_path / "shuffled.safetensors"
    path.write_bytes(written('{"__metadata__":{"\\u0061":"\\u0062"},' + header + "}", bytes(i % 256 for i in range(300))))
    expected = [name for name, _, _ in sorted(entries, key=lambda e: e[1])]
    assert [row[0] for row in rows(db, "SELECT object FROM zt_objects(?)", str(path))] == expected
    for name, offset, _ in entries:
        assert value(db, "SELECT zt_blob(?, ?)", str(path), name) == bytes([offset % 256])
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", str(path)) == [("a", "b")]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", str(path)) == []


def test_a_duplicate_far_away_is_found(db):
    names = [f"t{i:05d}" for i in range(3000)] + ["t0\\u003000\\u0031"]
    header = "{" + ",".join('"%s":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % name for name in names) + "}"
    assert re.search(r"object 't00001': header byte \d+: the name stands twice$", message(db, "SELECT * FROM zt_objects(?)", written(header)))


def test_metadata_keys_may_come_in_any_order(db):
    keys = [f"k{i * 7919 % 1000}" for i in range(1000)]
    metadata = ",".join('"%s":"%d"' % (key, i) for i, key in enumerate(keys))
    source = written('{"__metadata__":{' + metadata + "}}")
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", source) == [(key, str(i)) for i, key in enumerate(keys)]
    again = written('{"__metadata__":{' + metadata + ',"k\\u0035":""}}')
    assert message(db, "SELECT * FROM zt_objects(?)", again).endswith("a key stands twice in __metadata__")


@pytest.mark.parametrize("length, refused", [(100_000_000, None), (100_000_001, "the header's length, 100000001, is more than 100000000")])
def test_the_greatest_header(db, tmp_path, length, refused):
    path = tmp_path / "large.safetensors"
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", length) + b"{")
        f.seek(7 + length)
        f.write(b"}")
    error = failure(db, "SELECT * FROM zt_objects(?)", str(path))
    # The hole is NULs, which the first walk meets at once
    assert str(error) == f"ztensor: {path}: " + (refused or "header byte 1: a name was expected")


def test_a_header_that_begins_with_many_blanks_is_none(db):
    for blanks, opens in (200, True), (300, False):
        source = written(" " * blanks + "{}")
        if opens:
            assert rows(db, "SELECT container FROM zt_files(?)", source) == [("safetensors",)]
        else:
            assert message(db, "SELECT * FROM zt_objects(?)", source).endswith("not a tensor file of a known format")


def test_every_dtype(db):
    """All 22 of the format."""
    types = {"BOOL": ("bool", "bool", 8), "U8": ("u8", "u8", 8), "I8": ("i8", "i8", 8), "I16": ("i16", "i16", 16), "U16": ("u16", "u16", 16),
             "I32": ("i32", "i32", 32), "U32": ("u32", "u32", 32), "I64": ("i64", "i64", 64), "U64": ("u64", "u64", 64), "F16": ("f16", "f16", 16),
             "BF16": ("bf16", "bf16", 16), "F32": ("f32", "f32", 32), "F64": ("f64", "f64", 64), "F8_E5M2": ("u8", "f8_e5m2", 8),
             "F8_E4M3": ("u8", "f8_e4m3fn", 8), "F8_E8M0": ("u8", "f8_e8m0", 8), "F8_E4M3FNUZ": ("u8", "f8_e4m3fnuz", 8),
             "F8_E5M2FNUZ": ("u8", "f8_e5m2fnuz", 8), "F4": ("u8", "f4_e2m1", 4), "F6_E2M3": ("u8", "f6_e2m3", 6), "F6_E3M2": ("u8", "f6_e3m2", 6),
             "C64": ("f32", "complex64", 64)}
    assert len(types) == 22
    at, entries = 0, []
    for word, (_, _, bits) in types.items():
        entries.append(entry(word, at, at + bits, word, [8]))
        at += bits
    source = written("{" + ",".join(entries) + "}", bytes(at))
    assert rows(db, "SELECT object, dtype, type, stored_bytes FROM zt_objects(?)", source) == [
        (word, dtype, type, bits) for word, (dtype, type, bits) in types.items()]
    for word, (_, _, bits) in types.items():
        if word.startswith("F6_"):
            assert message(db, "SELECT zt_dense(?, ?)", source, word).endswith(
                f"component 'data': no specification defines the packing of its elements, so type '{word.lower()}' is not known")
        else:
            assert value(db, "SELECT zt_dense(?, ?)", source, word) == bytes(bits)


def test_nofs_reads_a_blob(connect):
    data = (HERE / "golden" / "dtypes.safetensors").read_bytes()
    assert value(connect(entry="sqlite3_ztensor_nofs_init"), "SELECT count(*) FROM zt_objects(?)", data) == 13


# ------------------------------------------------------------------------------------------- index of a model

def findings(shell, folder):
    done = shell(f".mode json\n.parameter set :folder \"{quoted(folder)}\"\n.read {quoted(ROOT / 'sql' / 'safetensors_index.sql')}")
    assert done.err == ""
    return [(row["index"], row["finding"], row["name"], row["detail"]) for row in json.loads(done.out or "[]")]


@pytest.mark.parametrize("folder", ["sharded", "sharded_disagree"])
def test_the_index_of_a_model(shell, folder):
    expected = json.loads((HERE / folder / "model.safetensors.index.expected.json").read_text())
    found = findings(shell, HERE / folder)
    assert sorted([finding, name] for _, finding, name, _ in found) == sorted(expected["findings"])
    assert {index for index, _, _, _ in found} <= {str(HERE / folder / "model.safetensors.index.json")}


def test_what_an_index_says_that_is_not_so_has_its_details(shell):
    found = {(finding, name): detail for _, finding, name, detail in findings(shell, HERE / "sharded_disagree")}
    assert found["wrong_shard", "model.embed.weight"] == "model-00001-of-00002.safetensors"
    assert found["not_in_shard", "only.in.index"] == "model-00001-of-00002.safetensors"
    assert found["not_in_index", "only.in.shard"] == "model-00002-of-00002.safetensors"
    assert "No such file" in found["missing_shard", "model-00003-of-00003.safetensors"]
    assert found["total_size", 81] == sum(o["components"][0]["length"] for name, _, expected in corpus.golden("safetensors")
                                          if name.startswith("sharded_disagree/") for o in expected["objects"])


def test_indexes_at_any_depth_and_broken_ones(shell, tmp_path):
    deep = tmp_path / "it's" / "deep"
    deep.mkdir(parents=True)
    (deep / "a.safetensors").write_bytes(written('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"))
    (deep / "b.safetensors").write_bytes(b"cut")
    (deep / "good.safetensors.index.json").write_text('{"weight_map":{"w":"a.safetensors"},"metadata":{"total_size":1}}')
    (deep / "m.safetensors.index.json").write_text('{"weight_map":{"w":"b.safetensors","v":"a.safetensors"}}')
    (deep / "n.safetensors.index.json").write_text("{")
    (deep / "null.safetensors.index.json").write_text('{"weight_map":{"w":"a.safetensors","ghost":null}}')
    (tmp_path / "o.safetensors.index.json").write_text('{"weight_map":[]}')
    found = [(index[len(str(tmp_path)) + 1:], finding, name) for index, finding, name, _ in findings(shell, tmp_path)]
    assert found == [
        ("it's/deep/m.safetensors.index.json", "not_in_shard", "v"), ("it's/deep/m.safetensors.index.json", "unreadable_shard", "b.safetensors"),
        ("it's/deep/m.safetensors.index.json", "wrong_shard", "w"),
        ("it's/deep/n.safetensors.index.json", "broken_index", None), ("it's/deep/null.safetensors.index.json", "not_in_shard", "ghost"), ("o.safetensors.index.json", "broken_index", None)]


@pytest.mark.parametrize("index", ["model.safetensors.index.fp16.json", "model.safetensors.fp16.index.json", "model.fp16.safetensors.index.json"])
def test_indexes_of_variants(shell, tmp_path, index):
    """As diffusers calls them."""
    (tmp_path / index).write_text('{"metadata":{},"weight_map":{"w":"model.fp16-00001-of-00001.safetensors"}}')
    (tmp_path / "w.safetensors.index.notes.json").write_text("{")
    assert [row[:3] for row in findings(shell, tmp_path)] == [(str(tmp_path / index), "missing_shard", "model.fp16-00001-of-00001.safetensors")]


@pytest.mark.parametrize("folder, shard, other", [("m[v2]", "2.safetensors", "mv/2.safetensors"), ("m*", "2.safetensors", "m1/2.safetensors"),
                                                  ("m?", "2.safetensors", "m1/2.safetensors"), ("m", "[2].safetensors", "m/2.safetensors"),
                                                  ("m", "*.safetensors", "m/2.safetensors"), ("m", "?.safetensors", "m/2.safetensors"),
                                                  ("m", "sub", "m/sub/2.safetensors"), ("m", "", "m/2.safetensors")])
def test_a_shard_that_is_missing_is_no_other_file(shell, tmp_path, folder, shard, other):
    """The names of the file and its folder do not matter."""
    for path in (tmp_path / folder / "1.safetensors", tmp_path / other):
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(written('{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', b"x"))
    index = tmp_path / folder / "m.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"v": shard, "w": "1.safetensors"}}))
    [(path, finding, name, detail)] = findings(shell, tmp_path / folder)
    assert (path, finding, name) == (str(index), "missing_shard", shard) and f"{tmp_path / folder}/{shard}: " in detail


def test_shards_are_found_whatever_they_are_called(shell, tmp_path):
    folder = tmp_path / "m[v2]*?"
    folder.mkdir()
    for tensor, name in (("v", "[1].safetensors"), ("w", "*.safetensors"), ("x", "?.safetensors")):
        (folder / name).write_bytes(written('{"%s":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}' % tensor, b"x"))
    index = {"metadata": {"total_size": 3}, "weight_map": {"v": "[1].safetensors", "w": "*.safetensors", "x": "?.safetensors"}}
    (folder / "m.safetensors.index.json").write_text(json.dumps(index))
    assert findings(shell, tmp_path) == []


@pytest.mark.parametrize("offsets, sound", [
    ("[0,4]", 1), (" [0,4]", 1), ("[0 ,4]", 1), ("[ 0,4]", 1), ("[0, 4 ]", 1), ("5", 0), ("[]", 0), ("[ ]", 0), ("[0]", 0), ('["a",4]', 0), ('[0,"a"]', 0), ('[ "a",4]', 0),
    ('[ 0, "a"]', 0), ("[0,4,5]", 0), ("[ 0, 4, 5]", 0), (' ["a",4]', 0), (' [0,"a"]', 0), (" []", 0), (" [0]", 0), (" [0,4,5]", 0), ("{}", 0), ("[0,4", 0), ("[ 0 4]", 0)])
@pytest.mark.parametrize("form", ['{"w":{"dtype":"F32","shape":[],"data_offsets":%s}}', '{"w":{"data_offsets":%s,"dtype":"F32","shape":[]}}'])
def test_places_of_data_in_any_form(db, form, offsets, sound):
    source = written(form % offsets, struct.pack("<f", 5))
    if sound:
        assert value(db, "SELECT zt_json(?, 'w')", source) == "5.0"
    else:
        assert rows(db, "SELECT error_kind FROM zt_files(?)", source) == [("broken",)]


@pytest.mark.parametrize("header", [
    '{"w":{"dtype":"F32",5:1}}', '{"w":{5:1}}', '{"__metadata__":{5:"a"}}', '{"__metadata__":{"a":"b" "c"}}', '{"__metadata__":{"a":5}}', '{"__metadata__":', '{"__metadata__":5}',
    '{"__metadata__":[]}', '{"__metadata__":n}', '{"__metadata__":{"a":"b","a":"c"}}', '{"w":{"x":{,"dtype":"F32"}}', '{"w":{"x":1 "dtype":"F32"}}'])
def test_a_broken_header_is_refused(db, header):
    assert rows(db, "SELECT error_kind FROM zt_files(?)", written(header)) == [("broken",)]


def test_a_manifest_has_values_of_every_type(db):
    more = {"x": [False, True, None, -5, -0.0, 0, 2**63, -2**63, 1.5, "t\n", {"y": [False]}]}
    source = written(json.dumps({"w": {"dtype": "F32", "shape": [], "data_offsets": [0, 4], **more}}), bytes(4))
    assert json.loads(value(db, "SELECT zt_manifest(?)", source))["w"]["x"] == more["x"]
    assert value(db, "SELECT zt_manifest(?)", written('{"w":{"dtype":"F32","shape":[],"data_offsets":[0,0],"x":[-0,-1]}}'.replace("0,0", "0,4"), bytes(4))) == (
        '{"w":{"dtype":"F32","shape":[],"data_offsets":[0,4],"x":[0,-1]}}')
