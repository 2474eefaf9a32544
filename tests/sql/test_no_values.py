"""Tensors without readable values: each is a row, a finding that says why, and no part of any fingerprint."""
import io
import sqlite3
import zipfile

import numpy
import pytest

import corpus
import write_gguf as gguf
import write_onnx as onnx
from support import message, place, prefix, rows, value
from write_npy import array, shaped
from write_npz import DEFLATE, Member, archive

FILES = sorted(path for format in corpus.formats() for folder in ("golden", "hostile") for path in (corpus.FORMATS / format / folder).rglob("*")
               if path.is_file() and path.suffix not in (".json", ".md", ".txt"))


def without_values(db, source):
    """{object: why} of those that zt_dense gives nothing of; None where the file cannot be opened."""
    try:
        names = [name for name, in rows(db, "SELECT object FROM zt_objects(?)", source)]
    except sqlite3.Error:
        return None
    found = {}
    for name in names:
        try:
            db.execute("SELECT zt_dense(?, ?)", (source, name)).fetchone()
        except sqlite3.Error as error:
            found[name] = str(error)
    return found


def fingerprint(db, source):
    """(fingerprint, None), or (None, the message)."""
    try:
        return value(db, "SELECT zt_fingerprint(?)", source), None
    except sqlite3.Error as error:
        return None, str(error)


def test_there_are_many_files():
    assert len(FILES) > 900


@pytest.mark.parametrize("format", corpus.formats())
@pytest.mark.parametrize("how", ["path", "blob"])
def test_a_tensor_without_values_is_a_finding_and_makes_no_fingerprint(db, format, how):
    """Over all files of tests/formats. Where the values are not known there is none; where the file is broken that is an error."""
    seen = {"NULL": 0, "error": 0, "whole": 0}
    for path in FILES:
        if path.relative_to(corpus.FORMATS).parts[0] != format:
            continue
        source = corpus.source_of(path, how)
        lost = without_values(db, source)
        if lost is None:
            continue
        got, error = fingerprint(db, source)
        findings = rows(db, "SELECT object, severity, message FROM zt_check(?, 'full')", source)
        reasons = dict(rows(db, "SELECT object, fingerprint_error FROM zt_objects(?) WHERE fingerprint IS NULL", source))
        lost = {name: reasons.get(name) if why.endswith("on a result") else why for name, why in lost.items()}   # 64 GiB
        assert reasons == lost, path
        for name, why in lost.items():
            about = [(severity, text) for object, severity, text in findings if object == name]
            assert about, (path, name, why)
            assert any(why.endswith(text) for _, text in about) or any(severity == "error" for severity, _ in about), (path, name, why, about)
        if not lost:
            assert got is not None, path
        elif error is None:
            assert got is None, path
        else:   # A broken object is an error, and has a finding of severity error
            assert error in lost.values(), path
            assert any(severity == "error" and object in lost for object, severity, _ in findings), path
        seen["whole" if not lost else "error" if error else "NULL"] += 1
    wanted = {"whole", *("NULL" for _, _, expected in corpus.golden(format) for o in expected["objects"] if corpus.dense_of(o) is None),
              *("error" for case in corpus.hostile(format) if case["expect"].startswith("lists_but"))}
    assert wanted <= {kind for kind, n in seen.items() if n}, seen


@pytest.mark.parametrize("format", ["npy", "npz"])
def test_what_numpy_wrote_has_notes_at_most(db, format):
    notes = rows(db, "SELECT severity, rule FROM zt_check(?, 'full') WHERE rule <> 'gap'", str(corpus.FORMATS / format / "golden"))
    assert len(notes) > 2 and set(notes) == {("note", "no-values")}


# ------------------------------------------------------------------------------------------------- arrays of numpy

def saved(data):
    file = io.BytesIO()
    numpy.save(file, data)
    return file.getvalue()


TEXT, TIMES = "its elements are text", "its elements are times"
ORDINARY = {
    "names": (numpy.array(["a", "bc"]), TEXT), "bytes": (numpy.array([b"a", b"bc"]), TEXT),
    "mixed": (numpy.array([1, "x", None], dtype=object), "its elements are objects of Python, pickles, which are never executed"),
    "when": (numpy.array(["2024-01-01"], dtype="M8[D]"), TIMES), "took": (numpy.array([3], dtype="m8[s]"), TIMES),
    "rows": (numpy.zeros(2, dtype=[("a", "<i4"), ("b", "<f8")]), "its elements are records of several fields"),
    "raw": (numpy.zeros(2, dtype="V7"), "its elements are bytes without a type"),
    "long": (numpy.zeros(2, dtype=numpy.longdouble), "long doubles have the format of the machine that wrote them"),
}


@pytest.mark.parametrize("level", ["quick", "full"])
def test_text_and_objects_of_an_ordinary_npz_are_notes(db, save, level):
    file = io.BytesIO()
    numpy.savez_compressed(file, weight=numpy.eye(2), **{name: data for name, (data, _) in ORDINARY.items()})
    path = save("m.npz", file.getvalue())
    assert rows(db, "SELECT object, component, severity, rule, message FROM zt_check(?, ?)", path, level) == [
        (name, None, "note", "no-values", "it has no values: " + why) for name, (_, why) in ORDINARY.items()]
    for name, (_, why) in ORDINARY.items():
        assert message(db, "SELECT zt_dense(?, ?)", path, name) == place(path, name) + "it has no values: " + why
    assert rows(db, "SELECT object FROM zt_objects(?) WHERE fingerprint IS NOT NULL", path) == [("weight",)]
    assert value(db, "SELECT zt_fingerprint(?)", path) is None


def test_text_of_onnx_is_a_note(db):
    file = onnx.model(onnx.graph([onnx.tensor("t", [2], onnx.STRING, onnx.field(6, b"a"), onnx.field(6, b"b"))]))
    assert rows(db, "SELECT object, component, severity, rule, message FROM zt_check(?, 'full')", file) == [
        ("t", None, "note", "no-values", "it has no values: its elements are text")]
    assert value(db, "SELECT zt_fingerprint(?)", file) is None


# ml_dtypes 0.6.0 and numpy 2.4.6: the descr that numpy.save writes for arrays of each of its types. `|` is what numpy makes of `<`
# when such an array is loaded and saved again.
OF_ML_DTYPES = {
    "f1": ("numpy has no type f1: it is probably float8_e5m2 of ml_dtypes", ["float8_e5m2"]),
    "V2": ("numpy has no meaning for V2: it is probably bfloat16 of ml_dtypes", ["bfloat16"]),
    "W4": ("numpy has no type W4: it is probably complex32 or bcomplex32 of ml_dtypes", ["complex32", "bcomplex32"]),
    "V1": ("numpy has no meaning for V1: it is probably a type of ml_dtypes, float8 or smaller, and the file does not say which",
           ["float4_e2m1fn", "float6_e2m3fn", "float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
            "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu", "int1", "int2", "int4", "uint1", "uint2", "uint4"]),
}


@pytest.mark.parametrize("order", ["<", "|", ">", "="])
@pytest.mark.parametrize("type", OF_ML_DTYPES)
def test_types_of_ml_dtypes_are_said_to_be_probably_theirs(db, save, type, order):
    why, width = "it has no values: " + OF_ML_DTYPES[type][0], int(type[1])
    data = bytes(range(1, 1 + 3 * width))
    whole = array(shaped("(3,)", f"'{order}{type}'"), data)
    for source in (save("w.npy", whole), whole, archive(Member("w.npy", whole)), archive(Member("w.npy", whole, DEFLATE))):
        (name, dtype, shape, error), = rows(db, "SELECT object, dtype, shape, fingerprint_error FROM zt_objects(?)", source)
        assert (dtype, shape, error) == ("u8", "[3]", f"{prefix(source)}object '{name}': {why}")
        assert value(db, "SELECT zt_blob(?, ?)", source, name) == data
        assert rows(db, "SELECT severity, rule, message FROM zt_check(?, 'full')", source) == [("note", "no-values", why)]
        assert value(db, "SELECT error FROM zt_stats(?)", source).endswith(why)
        assert value(db, "SELECT zt_fingerprint(?)", source) is None


def test_what_numpy_has_itself_is_not_said_to_be_theirs(db):
    for descr in ("<f2", "<V3", "<V4", "<V16"):
        file = array(shaped("(2,)", f"'{descr}'"), bytes(2 * int(descr[2:])))
        assert rows(db, "SELECT message FROM zt_check(?) WHERE message LIKE '%ml_dtypes%'", file) == []


# Files whose own bytes end somewhere, and files that may stand behind them
FIRST = [corpus.FORMATS / path for path in (
    "npz/golden/stored.npz", "npz/golden/deflated.npz", "archive/golden/model.keras", "archive/golden/one.dduf",
    "pytorch/hostile/ok-behind.pt", "pytorch/hostile/ok-legacy-no-storage.pt", "pickle/hostile/ok-several.pkl", "npy/golden/dtype_f32.npy",
    "npy/golden/several.npy", "hdf5/golden/tree.h5", "hdf5/golden/userblock.h5", "gguf/golden/align_8.gguf", "gguf/golden/big_endian.gguf")]
NEXT = {"npy": array(), "pickle": (corpus.FORMATS / "pickle/golden/array_alone.pkl").read_bytes(), "hdf5": (corpus.FORMATS / "hdf5/golden/tree.h5").read_bytes(),
        "gguf": (corpus.FORMATS / "gguf/golden/align_8.gguf").read_bytes(), "npz": archive(Member("w.npy", array()))}


@pytest.mark.parametrize("behind", NEXT)
@pytest.mark.parametrize("path", FIRST, ids=lambda p: p.name)
def test_a_tensor_file_behind_another_one_is_an_object_without_values(db, save, path, behind):
    """numpy.save(f) after torch.save(..., f) with one open file. The first file's reader does not look there."""
    whole = path.read_bytes().removesuffix(b"x" if path.name == "ok-behind.pt" else b"")
    own = rows(db, "SELECT object, format, shape FROM zt_objects(?)", whole)
    both = whole + NEXT[behind]
    if path.suffix == ".npy" and behind == "npy" or path.suffix == ".pkl" and behind == "pickle":
        assert len(rows(db, "SELECT object FROM zt_objects(?)", both)) > len(own)      # Read as well
        return
    if behind == "npz" and path.parts[-3] in ("npz", "archive", "pytorch") and "legacy" not in path.name:
        assert "several zip archives, one behind the other" in message(db, "SELECT object FROM zt_objects(?)", both)
        return
    found = rows(db, "SELECT object, format, shape FROM zt_objects(?)", both)
    assert found == own + [("", "file.unread", None)]
    assert value(db, "SELECT zt_blob(?, '')", both) == NEXT[behind]
    assert rows(db, "SELECT offset, length, encoding, dtype FROM zt_components(?) WHERE object = ''", both) == [(len(whole), len(NEXT[behind]), "raw", "u8")]
    why = "it is another tensor file in this one, which is not read"
    check = rows(db, "SELECT object, severity, rule, message FROM zt_check(?, 'full')", both)
    assert ("", "note", "no-values", f"it has no values: {why}") in check
    assert any(object is None and severity == "warning" and rule in ("gap", "zip-behind", "torch-behind", "npy-behind", "hdf5-behind")
               for object, severity, rule, _ in check)
    assert value(db, "SELECT zt_fingerprint(?)", both) is None


def test_a_file_behind_another_one_has_a_free_name(db):
    members = [Member(f"{name}.npy", array()) for name in ("", "#2")]
    assert rows(db, "SELECT object, format FROM zt_objects(?)", archive(*members) + array()) == [("", "dense"), ("#2", "dense"), ("#3", "file.unread")]
    taken = [Member(f"{name}.npy", array()) for name in ["", *(f"#{i}" for i in range(2, 65))]]
    found = rows(db, "SELECT object, format FROM zt_objects(?)", archive(*taken) + array())
    assert len(found) == 65 and found[-1] == ("#65", "file.unread")


@pytest.mark.parametrize("comment", [b"", b"why"])
def test_what_is_no_file_behind_an_archive_is_a_warning(db, comment):
    whole = archive(Member("w.npy", array()))[:-2] + bytes([len(comment), 0]) + comment
    assert rows(db, "SELECT object FROM zt_objects(?)", whole + array()) == [("w",), ("",)]
    for behind in (b"\0", b"\x93NUMPY", b"x" * 400):
        assert rows(db, "SELECT object FROM zt_objects(?)", whole + behind) == [("w",)]
        assert rows(db, "SELECT severity, rule, message FROM zt_check(?)", whole + behind) == [
            ("warning", "zip-behind", f"{len(behind)} bytes follow behind the archive")]
        assert value(db, "SELECT zt_fingerprint(?)", whole + behind) == value(db, "SELECT zt_fingerprint(?)", whole)


def test_a_file_behind_another_one_need_not_end_with_it(db):
    for whole in (archive(Member("w.npy", array())), (corpus.FORMATS / "pytorch/hostile/ok-legacy-no-storage.pt").read_bytes()):
        assert ("", "file.unread") in rows(db, "SELECT object, format FROM zt_objects(?)", whole + NEXT["pickle"] + b"\n")


def test_archives_in_a_row_whose_offsets_count_from_the_file(db):
    """numpy.savez(f) twice: Python's zipfile writes where it stands, and its readers see the last archive alone."""
    f = io.BytesIO()
    numpy.savez(f, first=numpy.ones(3))
    end = f.tell()
    numpy.savez(f, second=numpy.ones(2))
    assert message(db, "SELECT * FROM zt_objects(?)", f.getvalue()).endswith(
        f"several zip archives, one behind the other, as torch.distributed.checkpoint writes them: the last one begins at byte {end}")
    numpy.savez(f)      # It has no member
    assert "several zip archives" in message(db, "SELECT * FROM zt_objects(?)", f.getvalue())
    assert rows(db, "SELECT severity, rule FROM zt_check(?)", f.getvalue()) == [("error", "zip-several")]


@pytest.mark.parametrize("comment, between", [(b"", b"\n"), (b"why", b""), (b"PK\5\6", array()), (b"", b"x" * 65535)])
def test_archives_with_something_between_them(db, comment, between):
    f = io.BytesIO(archive(Member("first.npy", array()))[:-2] + bytes([len(comment), 0]) + comment + between)
    f.seek(0, io.SEEK_END)
    numpy.savez(f, second=numpy.ones(2))
    assert "several zip archives, one behind the other" in message(db, "SELECT * FROM zt_objects(?)", f.getvalue())


def test_bytes_before_the_first_member_are_a_warning(db):
    """Where a member was taken out of the directory, or another archive ended further before."""
    f = io.BytesIO(archive(Member("first.npy", array())) + b"x" * 65536)
    f.seek(0, io.SEEK_END)
    before = f.tell()
    numpy.savez(f, second=numpy.ones(2))
    assert rows(db, "SELECT object FROM zt_objects(?)", f.getvalue()) == [("second",)]
    assert rows(db, "SELECT object, severity, rule, message FROM zt_check(?)", f.getvalue()) == [
        (None, "warning", "zip-before", f"{before} bytes stand before the first member")]


@pytest.mark.parametrize("make", [lambda f: f, lambda f: f.tensor("w", [3], data=bytes(12))], ids=["keys", "tensor"])
def test_a_gguf_file_ends_with_its_last_padding_or_before_it(db, make):
    """gguf-py pads tensors, but not keys alone."""
    bare = make(gguf.File().key("k", 0, 1)).bytes()
    own = rows(db, "SELECT object, format FROM zt_objects(?)", bare)
    assert len(bare) % 32
    for first in (bare, bare + bytes(-len(bare) % 32)):
        assert rows(db, "SELECT object, format FROM zt_objects(?)", first) == own
        assert rows(db, "SELECT object, format FROM zt_objects(?)", first + array()) == own + [("", "file.unread")]
        assert value(db, "SELECT zt_blob(?, '')", first + array()) == array()
        assert ("gap", f"the last {len(array())} bytes are another tensor file") in rows(db, "SELECT rule, message FROM zt_check(?)", first + array())


@pytest.mark.parametrize("inner", ["gguf/golden/align_8.gguf", "pickle/hostile/ok-several.pkl", "safetensors/golden/dtypes.safetensors"])
def test_a_file_behind_an_archive_of_one_file(db, inner):
    """Gaps are those of the member: the archive's directory and what is behind it are none."""
    inner = corpus.FORMATS / inner
    f = io.BytesIO()
    with zipfile.ZipFile(f, "w") as made:
        made.writestr("model" + inner.suffix, inner.read_bytes())
    sound = rows(db, "SELECT object, rule, message FROM zt_check(?, 'full')", f.getvalue())
    both = rows(db, "SELECT object, rule, message FROM zt_check(?, 'full')", f.getvalue() + array())
    assert sorted(set(both) - set(sound), key=str) == [
        ("", "no-values", "it has no values: it is another tensor file in this one, which is not read"),
        (None, "zip-behind", f"{len(array())} bytes follow behind the archive")] and set(sound) <= set(both)
    assert value(db, "SELECT zt_blob(?, '')", f.getvalue() + array()) == array()
