"""Files that no driver reads: those of formats that are known by name, and of unknown ones."""
import bz2
import gzip
import io
import json
import lzma
import pickle
import shutil
import struct
import zipfile

import numpy
import pytest

import corpus
import writer
from support import message, rows

PICKLES = {"arrays": {"w": numpy.zeros((2, 2)), "b": [numpy.float32(1)]}}


def archive(members, method=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as z:
        for name, data in members.items():
            z.writestr(name, data)
    return file.getvalue()


def varint(n):
    return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)


def field(number, data):
    """A field of protobuf that has bytes."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def unsupported():
    for magic in (b"ggml", b"ggmf", b"ggjt"):
        yield magic.decode(), magic[::-1] + bytes(60), "a file of GGML before GGUF"
    yield "bz2", bz2.compress(pickle.dumps(PICKLES["arrays"])), "a file compressed by bz2"
    yield "xz", lzma.compress(pickle.dumps(PICKLES["arrays"])), "a file compressed by xz"
    yield "lzma", lzma.compress(pickle.dumps(PICKLES["arrays"]), lzma.FORMAT_ALONE), "a file compressed by lzma"
    yield "lz4", b"\x04\x22\x4d\x18" + bytes(40), "a file compressed by lz4"
    for name, graph in (("graph", bytes(300)), ("short graph", b"")):    # As long as 2 bytes or 1 can say
        meta = b"\x0a\x03\x0a\x01v" + graph
        yield f"SavedModel, {name}", b"\x08\x01" + field(2, meta) + (field(2, meta) if graph else b""), \
            "the graph of a SavedModel of TensorFlow (its variables are in variables/variables.index)"
    yield "joblib before 0.10", b"ZF0x42                 " + bytes(40), "a pickle of joblib before 0.10, compressed"


UNSUPPORTED = list(unsupported())
SOUND = archive({"word/document.xml": b"<w/>", "image.png": b"\x89PNG"})
UNKNOWN = {
    "empty": b"", "text": b"no tensors in here\n", "JSON": b'{"a": [1, 2]}', "index.json": b'{"metadata": {}, "weight_map": {"w": "m.safetensors"}}',
    "PDF": b"%PDF-1.7\n" + bytes(60), "PNG": b"\x89PNG\r\n\x1a\n" + bytes(60), "gzip": b"\x1f\x8b\x08\0" + bytes(60),
    "SQLite": b"SQLite format 3\0" + bytes(84), "ELF": b"\x7fELF\2\1\1" + bytes(60), "Parquet": b"PAR1" + bytes(60) + b"PAR1",
    "tar": b"readme.txt".ljust(257, b"\0") + b"ustar\0" + bytes(800), "YAML": b"model: x\nlr: 0.1\n", "CSV": b"a,b\n1,2\n",
    "HTML": b"<!DOCTYPE html><html></html>", "a pointer of git-lfs": b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    "zip": SOUND, "zip, deflated": archive({"a.txt": b"x" * 1000}, zipfile.ZIP_DEFLATED),
    "a pickle's first byte": b"\x80\x04", "a sentence": b"(dp0 is no pickle.", "80 and a stop": b"\x80\x7f" + bytes(9) + b".",
    "zeros": bytes(4096), "MATLAB's": b"MATLAB is a trademark." * 9,
    "gettext": struct.pack("<IIIII", 0x950412de, 0, 0x1d4, 28, 0x1dc) + bytes(20000),    # A map of msgpack, and an extension 1
    "a version of protobuf": b"\x08\x02" + field(2, b"meta"), "another message": b"\x08\x01" + field(2, b"meta"), "an empty message": b"\x08\x01" + field(2, b"") + b"\x0a\0",
}


def kinds(db, source):
    return rows(db, "SELECT container, objects, error, error_kind FROM zt_files(?)", source)


@pytest.mark.parametrize("name, data, what", UNSUPPORTED, ids=[row[0] for row in UNSUPPORTED])
def test_a_known_format_is_said_to_be_one_that_is_not_read(db, save, name, data, what):
    expected = what + ", which is not read"
    path = save("m.zt", data)
    for source, shown in ((path, path), (data, "<blob>")):
        error = f"ztensor: {shown}: {expected}"
        assert kinds(db, source) == [(None, None, error, "unsupported")]
        assert message(db, "SELECT * FROM zt_objects(?)", source) == message(db, "SELECT zt_manifest(?)", source) == error
        assert rows(db, "SELECT object, severity, rule, message FROM zt_check(?)", source) == [(None, "error", "unsupported-format", expected)]
    assert rows(db, "SELECT * FROM zt_objects(?, 'skip')", path) == []


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_no_tensor_file_is_unknown(db, save, name):
    for source in (save("m.zt", UNKNOWN[name]), UNKNOWN[name]):
        (container, objects, error, kind), = kinds(db, source)
        assert (container, objects, kind) == (None, None, "unknown"), error


@pytest.mark.parametrize("data, by", [(gzip.compress(writer.sample()), "gzip"), (b"\x28\xb5\x2f\xfd\x04" + bytes(60), "zstd")], ids=["gzip", "zstd"])
def test_a_file_that_is_compressed_is_said_to_be(db, data, by):
    assert kinds(db, data) == [(None, None, f"ztensor: <blob>: not a tensor file, but compressed by {by}: is one in it?", "unknown")]


@pytest.mark.parametrize("indent", [None, 2, 4])
def test_the_index_of_a_model_is_said_to_be_one(db, indent):
    for index in ({"metadata": {"total_size": 1}, "weight_map": {"w": "m.safetensors"}}, {"weight_map": {}, "metadata": {}}):
        assert kinds(db, json.dumps(index, indent=indent).encode()) == [
            (None, None, "ztensor: <blob>: not a tensor file, but text like the index of a model in several files: name these", "unknown")]
    assert kinds(db, b'{"meta": 1, "b": 2}')[0][2] == "ztensor: <blob>: not a tensor file of a known format"


def test_a_broken_archive_is_broken(db):
    for data in (SOUND[:-10], SOUND[:30], archive({"a.npy": numpy_file()})[:-1]):
        assert kinds(db, data)[0][3] == "broken", kinds(db, data)


def numpy_file():
    file = io.BytesIO()
    numpy.save(file, numpy.arange(3))
    return file.getvalue()


def test_an_archive_with_an_array_is_one_of_arrays_whatever_else_is_in_it(db):
    assert kinds(db, archive({"notes.txt": b"x", "w.npy": numpy_file()})) == [("npz", 1, None, None)]
    assert kinds(db, archive({})) == [("npz", 0, None, None)]


def test_files_of_pytorch_that_are_refused_are_unsupported(db):
    legacy = b"tensors".ljust(257, b"\0") + b"ustar\0" + bytes(800)
    (_, _, error, kind), = kinds(db, legacy)
    assert kind == "unsupported" and "tar archive" in error


def test_a_version_that_is_not_read_is_unsupported(db):
    for version in (1, 4):
        (_, _, error, kind), = kinds(db, b"GGUF" + struct.pack("<IQQ", version, 0, 0))
        assert kind == "unsupported" and error == f"ztensor: <blob>: GGUF version {version} cannot be read, 2 and 3 can"
    assert kinds(db, writer.write({}, version="3.0.0"))[0][3] == "unsupported"


def test_a_table_of_leveldb_that_is_no_checkpoint_is_unknown(db):
    broken = b"\0\x03\x04key" + bytes(40) + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
    case = next(case for case in corpus.hostile("tensorflow") if case["file"] == "of-another-program.index")
    assert [kinds(db, data)[0][3] for data in (broken, case["path"].read_bytes())] == ["broken", "unknown"]


def test_a_matrix_that_ends_with_the_magic_number_of_leveldb_is_matlabs(db):
    data = struct.pack("<5i", 0, 1, 1, 0, 2) + b"x\0" + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
    (container, _, error, _), = kinds(db, data)
    assert (container, error) == ("matlab", None)


def test_sound_files_have_no_kind(db):
    assert kinds(db, writer.sample()) == [("ztensor", 2, None, None)]


def test_a_checkpoint_whose_prefix_is_a_directory_finds_its_data(db, tmp_path):
    """Keras' save_weights('weights/') gives a file that is called .index."""
    golden = corpus.FORMATS / "tensorflow" / "golden"
    for end in ("index", "data-00000-of-00001"):
        shutil.copy(golden / f"checkpoint.{end}", tmp_path / f".{end}")
    listed = "SELECT object, shard, hash FROM zt_components(?)"
    found, named = (rows(db, listed, path) for path in (str(tmp_path / ".index"), str(golden / "checkpoint.index")))
    assert [row[::2] for row in found] == [row[::2] for row in named] and found
    assert {row[1] for row in found} == {".data-00000-of-00001"}


INDEX = "not a tensor file, but text like the index of a model in several files: name these"
PAGE = "not a tensor file, but a page of HTML: did the download fail?"
NO_FORMAT = "not a tensor file of a known format"


@pytest.mark.parametrize("data, said", [
    (b"{\r\n\t \"metadata\": {}}", INDEX), (b"{\"weight_map\"", INDEX), (b"{\"weight_maps\"", NO_FORMAT), (b"{\"weight_", INDEX), (b"{\"weigh", NO_FORMAT), (b"{   ", NO_FORMAT),
    (b"{" + b" " * 9000 + b"}", NO_FORMAT), (b"<html lang='en'>", PAGE), (b"<!DOCTYPE html>", PAGE), (b"<htm", NO_FORMAT),
    (b"]\0\0\x80\0" + b"\xff" * 8, "a file compressed by lzma, which is not read"), (b"]\1\0\x80\0" + b"\xff" * 8, NO_FORMAT),
    *[(b"]" + struct.pack("<IQ", dictionary, size) + first, "a file compressed by lzma, which is not read" if known else NO_FORMAT)
      for dictionary, size, first, known in ((1 << 23, 1068, b"\0", True), (12288, 0, b"\0", True), (4096, (1 << 40) - 1, b"\0", True), (1 << 23, 1068, b"\1", False),
                                             (1 << 23, 1068, b"", False), (1 << 23, 1 << 40, b"\0", False), (5000, 1, b"\0", False), (2048, 1, b"\0", False), (0, 1, b"\0", False))],
    (b"]\0\0\x80\0" + b"\xff" * 7 + b"\0", NO_FORMAT), (b"]\0\0\x80\0" + b"\xff" * 7, NO_FORMAT),
    (b"\x08\1\x12" + b"\xff" * 9000, NO_FORMAT)])
def test_what_is_told_by_the_first_bytes(db, data, said):
    assert rows(db, "SELECT error FROM zt_files(?)", data) == [(f"ztensor: <blob>: {said}",)]
