"""Archives around tensor files: what Python's zipfile writes, names, attributes, and the values of members."""
import bz2
import io
import json
import pickle
import struct
import zipfile

import numpy
import pytest

import corpus
import write_npz as binary
import write_onnx as written
import writer
from support import message, rows, value

STORED, DEFLATED = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED


def safetensors(metadata=None, **tensors):
    header, data = ({"__metadata__": metadata} if metadata else {}), b""
    for name, array in tensors.items():
        raw = array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def archive(members, method=STORED, front=b"", **options):
    """front: bytes before the archive, which its offsets do not count."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, **options) as z:
        for name, data in members.items():
            z.writestr(name, data)
    return front + file.getvalue()


def npy(array):
    file = io.BytesIO()
    numpy.save(file, array)
    return file.getvalue()


def names(db, source):
    return [name for name, in rows(db, "SELECT object FROM zt_objects(?)", source)]


A, B = numpy.arange(6.0).reshape(2, 3), numpy.arange(4.0)
ONE, TWO = safetensors(a=A), safetensors(b=B)
GGUF = (corpus.FORMATS / "gguf" / "golden" / "kv_types.gguf").read_bytes()


@pytest.mark.parametrize("front", [b"", b"MZqFpD='\n" + bytes(500), b"\x7fELF" + bytes(99), b"#!/bin/sh\nexit\n"], ids=["", "MZ", "ELF", "sh"])
@pytest.mark.parametrize("zip64", [False, True])
def test_a_member_is_read_wherever_it_stands(db, save, front, zip64):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        with z.open("a/b.safetensors", "w", force_zip64=zip64) as member:
            member.write(ONE)
        z.writestr("config.json", "{}")
    data = front + file.getvalue()
    for source in (data, save("x.zip", data)):
        assert rows(db, "SELECT container, version, objects FROM zt_files(?)", source) == [("safetensors", None, 1)]
        assert value(db, "SELECT zt_dense(?, 'a')", source) == A.astype("<f4").tobytes()
        offset, = rows(db, "SELECT offset FROM zt_components(?)", source)[0]
        assert data[offset:offset + 24] == A.astype("<f4").tobytes()
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []
        assert value(db, "SELECT zt_fingerprint(?)", source) == value(db, "SELECT zt_fingerprint(?)", ONE)


def test_a_prefix_that_is_no_program_is_none(db):
    assert rows(db, "SELECT error_kind FROM zt_files(?)", archive({"a.safetensors": ONE}, front=b"text\n")) == [("unknown",)]


def test_names_of_several_begin_with_their_members_path(db):
    source = archive({"x/a.safetensors": safetensors({"k": "v", "é\\": "w"}, a=A), "readme.md": b"text", "y.gguf": GGUF, "plain": TWO})
    gguf = names(db, GGUF)
    assert names(db, source) == ["x/a.safetensors/a", *[f"y.gguf/{name}" for name in gguf], "plain/b"]
    assert rows(db, "SELECT container, version FROM zt_files(?)", source) == [("archive", None)]
    inner = rows(db, "SELECT key, value, type, stored_type FROM zt_attributes(?) WHERE object IS NULL", GGUF)
    assert rows(db, "SELECT key, value, type, stored_type FROM zt_attributes(?) WHERE object IS NULL", source) == [
        ("x/a.safetensors/k", "v", "text", None), ("x/a.safetensors/é\\", "w", "text", None), *[(f"y.gguf/{row[0]}", *row[1:]) for row in inner]]
    assert json.loads(value(db, "SELECT attributes FROM zt_files(?)", source)).keys() == {
        "x/a.safetensors/k", "x/a.safetensors/é\\", *[f"y.gguf/{row[0]}" for row in inner]}
    assert json.loads(value(db, "SELECT zt_manifest(?)", source)) == {
        "x/a.safetensors": json.loads(value(db, "SELECT zt_manifest(?)", safetensors({"k": "v", "é\\": "w"}, a=A))),
        "y.gguf": json.loads(value(db, "SELECT zt_manifest(?)", GGUF)), "plain": json.loads(value(db, "SELECT zt_manifest(?)", TWO))}
    of = "SELECT attributes FROM zt_objects(?) WHERE object = ?"
    assert all(value(db, of, source, f"y.gguf/{name}") == value(db, of, GGUF, name) for name in gguf)
    pair = "SELECT key, value, type, stored_type FROM zt_attributes(?) WHERE object = ?"
    assert all(rows(db, pair, source, f"y.gguf/{name}") == rows(db, pair, GGUF, name) != [] for name in gguf)


def test_attributes_of_one_are_its_own(db):
    for select in ("SELECT key, value, type, stored_type FROM zt_attributes(?)", "SELECT zt_manifest(?)", "SELECT object, attributes FROM zt_objects(?)"):
        assert rows(db, select, archive({"m.gguf": GGUF})) == rows(db, select, GGUF)


def test_what_is_no_tensor_file_is_passed_over(db):
    source = archive({"x.bin": b"no GGUF", "w": ONE, "empty.safetensors": b"", "folder.safetensors/": b"", "__MACOSX/._w.gguf": b"\0\5\x16\7", "__MACOSX/._w.npy": b"\0\5\x16\7"})
    assert names(db, source) == ["a"] and rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


def test_a_member_that_is_a_tensor_file_by_its_name_alone_is_a_finding(db):
    """Its first bytes may be damaged."""
    for beside in ({"w": ONE}, {"a.npy": npy(A)}, {"a": npy(A)}):
        source = archive({"d/x.gguf": b"GGUE" + bytes(60), **beside})
        assert names(db, source) == ["a"]
        assert rows(db, "SELECT object, severity, rule, message FROM zt_check(?)", source) == [
            (None, "warning", "archive-named", "member 'd/x.gguf': not a tensor file of a known format")]


def test_a_member_is_named_by_the_last_part_of_its_path(db):
    """Also behind Windows' separator. A hidden part, an empty one, one of 256 bytes and one with U+0000 name nothing."""
    others = ["d/.gguf", "d.gguf/", "x" * 252 + ".gguf", "x\0.gguf"]
    source = binary.archive(*(binary.Member(name, b"GGUE" + bytes(60)) for name in ["d\\x.gguf", "y" * 250 + ".gguf", *others]), binary.Member("w", ONE))
    assert rows(db, "SELECT object, rule, message FROM zt_check(?)", source) == [
        (None, "archive-named", f"member '{name}': not a tensor file of a known format") for name in ("d\\x.gguf", "y" * 250 + ".gguf")]


@pytest.mark.parametrize("path, raw", [("data/weights/weight_0", 1), ("m/data/constants/tensor_12", 1), ("mdata/weights/weight_0", 0), ("weight_0", 0),
                                       ("12", 0), ("data/weights/weight_", 0)])
def test_a_tensor_of_pytorchs_export_is_known_by_its_path(db, path, raw):
    source = archive({path: b"raw" * 8, "w": ONE})
    assert rows(db, "SELECT object, rule FROM zt_check(?)", source) == [(path, "archive-raw")][:raw]


def test_a_member_of_a_format_that_is_not_read_is_an_object(db):
    """Whatever it is called."""
    said = "a file compressed by bz2, which is not read"
    for name in ("x.gguf", "x"):
        source = archive({name: bz2.compress(b"text"), "w": ONE})
        assert names(db, source) == [name, "a"]
        assert rows(db, "SELECT object, rule, message FROM zt_check(?)", source) == [(name, "unsupported-format", said)]
        assert message(db, "SELECT zt_dense(?, ?)", source, name).endswith(said)
    assert rows(db, "SELECT error_kind, error FROM zt_files(?)", archive({"x": bz2.compress(b"text")})) == [
        ("unsupported", f"ztensor: <blob>: member 'x': {said}")]


def test_bytes_that_only_resemble_a_format_are_a_tensor_file_by_their_name(db):
    """A pickle and ONNX have no magic number, GGUF has one."""
    cut = pickle.dumps({"a": 1}, 4)[:-1]
    said = f"the pickle ends at byte {len(cut)} without STOP"
    for name, data, expected in (("x", cut, []), ("x.pkl", cut, [("x.pkl", "pickle-cut", said)]), ("x", b"GGUF" + bytes(2), [
            ("x", "gguf-header", "the file has 6 bytes, a GGUF header has 24")])):
        source = archive({name: data, "w": ONE})
        assert rows(db, "SELECT object, rule, message FROM zt_check(?)", source) == expected


def test_an_archive_of_settings_alone_is_none(db):
    source = archive({"settings": pickle.dumps({"a": 1})})
    assert rows(db, "SELECT error_kind, error FROM zt_files(?)", source) == [
        ("unknown", "ztensor: <blob>: a zip archive in which no member is a tensor file")]


def test_a_member_that_is_not_read_has_no_attributes_and_no_manifest(db):
    """It stands before, between and behind others."""
    one, two, unread = safetensors({"k": "v"}, a=A), safetensors({"l": "w"}, b=B), bz2.compress(b"text")
    source = archive({"0": unread, "a": one, "1": unread, "b": two, "2": unread})
    assert rows(db, "SELECT object, key, value FROM zt_attributes(?)", source) == [(None, "a/k", "v"), (None, "b/l", "w")]
    manifests = json.loads(value(db, "SELECT zt_manifest(?)", source))
    assert manifests == {"a": json.loads(value(db, "SELECT zt_manifest(?)", one)), "b": json.loads(value(db, "SELECT zt_manifest(?)", two)),
                         "0": None, "1": None, "2": None}


@pytest.mark.parametrize("entries, fault", [
    ({"location": "w", "length": "4"}, None), ({"location": "./w"}, None), ({"location": "w", "offset": "0"}, None),
    ({"location": ".//w", "offset": "4", "length": "4"}, None),
    ({"location": "w", "offset": "9"}, "its bytes end behind those of the member that they are in"),
    ({"location": "xy/w"}, "its bytes are in a file that the archive does not have"),
    ({"location": "/w"}, "the location of its external data is not relative")])
def test_external_data_of_a_member(db, entries, fault):
    model = written.model(written.graph([written.tensor("w", [1], written.FLOAT, written.external(**entries))]))
    source = archive({"d/m.onnx": model, "d/w": numpy.array([1, 2], "<f4").tobytes()[:4 if len(entries) == 1 else 8]})
    assert rows(db, "SELECT message FROM zt_check(?, 'full')", source) == [(fault,)] * bool(fault)
    if not fault:
        assert value(db, "SELECT zt_json(?, 'w')", source) == ("[2.0]" if entries.get("offset") == "4" else "[1.0]")


def test_many_tensors_of_a_member_have_all_their_names(db):
    text = json.dumps({f"{i:05x}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for i in range(70000)}).encode()
    source = archive({"m.safetensors": struct.pack("<Q", len(text)) + text})
    assert rows(db, "SELECT count(*), min(object), max(object) FROM zt_objects(?)", source) == [(70000, "00000", f"{69999:05x}")]


def test_a_member_that_is_not_read_is_an_object(db):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("a.safetensors", ONE)
        z.writestr("b.safetensors", TWO, DEFLATED)
        z.writestr("c.zip", archive({"d.safetensors": TWO}))
        z.writestr("e.zt", writer.sample())
        z.writestr("notes.txt", b"text" * 99, DEFLATED)
    source = file.getvalue()
    assert rows(db, "SELECT object, shape, dtype, fingerprint IS NULL FROM zt_objects(?)", source) == [
        ("a", "[2,3]", "f32", 0), *[(name, None, None, 1) for name in ("b.safetensors", "c.zip", "e.zt")]]
    assert rows(db, "SELECT object, rule FROM zt_check(?)", source) == [
        ("b.safetensors", "archive-compressed"), ("c.zip", "archive-in-archive"), ("e.zt", "archive-in-archive")]
    assert value(db, "SELECT zt_fingerprint(?)", source) is None
    assert value(db, "SELECT zt_dense(?, 'a')", source) == A.astype("<f4").tobytes()
    assert message(db, "SELECT zt_dense(?, 'b.safetensors')", source).endswith("it is compressed by 'deflate', and not read")


def test_of_an_archive_of_which_nothing_is_read_the_reason_is_said(db):
    for source, kind in ((archive({"b.safetensors": TWO}, DEFLATED), "unsupported"), (archive({"c.npz": archive({"w.npy": npy(A)})}), "unsupported"),
                         (archive({"b.safetensors": TWO[:20]}), "broken"), (archive({"b.txt": b"text"}, DEFLATED), "unknown"),
                         (archive({"e.zt": writer.sample()}), "unsupported"), (archive({"f.zt": b"none"}), "unknown")):
        assert rows(db, "SELECT objects, error_kind FROM zt_files(?)", source) == [(None, kind)]


def test_arrays_of_numpy_are_called_as_in_an_npz(db):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as z:
        z.writestr("d/x.npy", npy(A), DEFLATED)
        z.writestr("m.safetensors", TWO)
        z.writestr("y", npy(B))
    source = file.getvalue()
    assert names(db, source) == ["d/x", "y", "m.safetensors/b"]
    assert json.loads(value(db, "SELECT zt_json(?, 'd/x')", source)) == A.tolist()
    assert json.loads(value(db, "SELECT zt_json(?, 'y')", source)) == B.tolist()
    assert rows(db, "SELECT container FROM zt_files(?)", source) == [("archive",)]
    assert rows(db, "SELECT container FROM zt_files(?)", archive({"x.npy": npy(A), "config.json": b"{}"})) == [("npz",)]


def test_a_model_of_sentencepiece_is_no_tensor_file(db):
    """DDUF has them; they are messages of protobuf, like ONNX."""
    piece = b"\n\x0e\n\x05<unk>\x15\0\0\0\0\x18\x02" + b"\n\x0c\n\x03<s>\x15\0\0\0\0\x18\x03"
    assert names(db, archive({"tokenizer/spiece.model": piece, "m.safetensors": ONE})) == ["a"]


def test_a_rule_of_a_members_format_holds_in_the_archive(db):
    """A hole in the header's ranges is one in the member."""
    text = json.dumps({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}, "b": {"dtype": "F32", "shape": [1], "data_offsets": [8, 12]}}).encode()
    source = struct.pack("<Q", len(text)) + text + bytes(12)
    find = "SELECT object, rule FROM zt_check(?)"
    assert rows(db, find, archive({"m.safetensors": source})) == rows(db, find, source) == [(None, "hole")]


def test_a_file_of_many_members_is_bounded(db):
    """AR6: archive-members."""
    many = archive({f"{i}.safetensors": safetensors() for i in range(16385)})
    assert message(db, "SELECT * FROM zt_objects(?)", many) == "ztensor: <blob>: more than 16384 members are tensor files"
    assert rows(db, "SELECT rule FROM zt_check(?)", many) == [("archive-members",)]


def test_the_names_of_archives_are_in_directories(db, save, tmp_path):
    for name in ("a.dduf", "b.llamafile", "c.pt2", "d.zip"):
        save(name, archive({"m.safetensors": ONE}))
    assert rows(db, "SELECT count(*) FROM zt_files(?)", str(tmp_path)) == [(3,)]


def test_a_tensor_of_an_archive_is_written_with_its_values(db):
    source = archive({"m.gguf": GGUF, "x/a.safetensors": ONE})
    packed = value(db, "SELECT zt_pack('ztensor-2', 'w', ?, 'x/a.safetensors/a')", source)
    assert json.loads(value(db, "SELECT zt_json(?, 'w')", packed)) == A.tolist()


def folder(name, *patterns):
    """The files of a golden model in several files: {path below its folder: bytes}, the first is the model."""
    root = corpus.FORMATS / name
    return {str(path.relative_to(root)): path.read_bytes() for pattern in patterns for path in sorted(root.glob(pattern))}


@pytest.mark.parametrize("model", [("tensorflow/golden", "sharded.index", "sharded.data-*"), ("tensorflow/golden", "hand_slices.index", "hand_slices.data-*"),
                                   ("onnx/golden/external", "hand.onnx", "weights.bin", "sub/*"), ("onnx/golden/external", "hand_sparse.onnx", "sub/*"),
                                   ("onnx/golden/external", "hand_no_length.onnx", "sub/*")])
def test_a_model_of_several_files_has_its_values_in_an_archive(db, save, model):
    """Its other files are found from its own directory on, whether or not the archive has another model."""
    files = folder(*model)
    path = str(corpus.FORMATS / model[0] / model[1])
    sql = "SELECT object, component, dtype, digest, hash, zt_blob(?1, object, component) FROM zt_components(?1)"
    findings = "SELECT component, rule, message FROM zt_check(?, 'full')"
    expected, found = rows(db, sql, path), rows(db, findings, path)
    inside = {"variables/" + name: data for name, data in files.items()}
    alone = save("alone.zip", archive(inside))
    assert rows(db, sql, alone) == expected
    assert rows(db, findings, alone) == found
    assert rows(db, "SELECT count(shard), sum(length) FROM zt_components(?)", alone) == [(0, sum(len(blob) for *_, blob in expected))]
    both = archive({"m.safetensors": ONE, **inside})
    assert [(name.removeprefix(f"variables/{model[1]}/"), *more) for name, *more in rows(db, sql, both)][1:] == expected
    assert rows(db, findings, both) == found


def test_files_of_a_model_that_an_archive_does_not_have(db):
    """The files that are there are read; the name of each missing file is that of its model."""
    files = folder("tensorflow/golden", "sharded.index", "sharded.data-0000[02]*")
    source = archive({"a/" + name: data for name, data in files.items()})
    missing = "its bytes are in a file that the archive does not have"
    assert rows(db, "SELECT object, component, rule, message FROM zt_check(?, 'full')", source) == [
        ("part1/w", "data", "archive-external", missing), ("z1", "data", "archive-external", missing)]
    assert rows(db, "SELECT object, shard FROM zt_components(?) WHERE shard IS NOT NULL", source) == [
        ("part1/w", "sharded.data-00001-of-00003"), ("z1", "sharded.data-00001-of-00003")]
    assert value(db, "SELECT zt_json(?, 'part2/w')", source) == value(db, "SELECT zt_json(?, 'part2/w')", str(corpus.FORMATS / "tensorflow/golden/sharded.index"))
    assert message(db, "SELECT zt_json(?, 'z1')", source) == f"ztensor: <blob>: object 'z1': component 'data': {missing}"


@pytest.mark.parametrize("order", [1, -1])
def test_views_of_a_member_may_share_bytes_whichever_member_is_last(db, order):
    views = (corpus.FORMATS / "pytorch/golden/legacy_views.pt").read_bytes()
    source = archive(dict([("a.pt", views), ("b.safetensors", ONE)][::order]))
    assert rows(db, "SELECT count(*) FROM zt_objects(?) WHERE object LIKE 'a.pt/%'", source) == rows(db, "SELECT count(*) FROM zt_objects(?)", views)
    assert rows(db, "SELECT rule FROM zt_check(?)", source) == []


def held():
    """Sound files that may be members: no zTensor, no archives, and none whose bytes are in files beside it."""
    for format in corpus.formats():
        if format not in ("ztensor", "npz", "archive", "npy"):
            for name, path, expected in corpus.golden(format):
                if not zipfile.is_zipfile(path):
                    yield pytest.param(path, id=f"{format}/{name}")


@pytest.mark.parametrize("path", held())
def test_a_member_has_the_values_that_it_has_as_a_file(db, path):
    """Also those that lie in several places, or in chunks, whose offsets count from the member's begin."""
    inside = archive({"readme.txt": b"x" * 100, path.name: path.read_bytes()})
    image = path.read_bytes()   # Of a BLOB nothing is looked for beside it
    sql = "SELECT object, format, dtype, shape, attributes, fingerprint, (SELECT count(*) FROM zt_components(?1) AS c WHERE c.object = o.object) FROM zt_objects(?1) AS o"
    assert rows(db, sql, inside) == rows(db, sql, image)
    sql = "SELECT object, component, hash FROM zt_components(?, 'skip')"
    assert rows(db, sql, inside) == rows(db, sql, image)
