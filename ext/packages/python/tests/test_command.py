"""`ztensor-sql`: what it prints, with which status, and what it leaves behind."""
import contextlib
import json
import math
import os
import pty
import re
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from commanding import GOLDEN, Command, floats, on_terminal, safetensors
from conftest import INSTALLED, PACKAGE, ROOT
import ztensor_sqlite

V12 = GOLDEN / "ztensor" / "golden" / "v1.2"
HOSTILE = GOLDEN / "ztensor" / "hostile"
NAN = float("nan")

# The command as in a Python whose sqlite3 loads no extensions: the arguments are the status that it must have, and its own
WITH_APSW = """
import sqlite3, sys
import ztensor_sqlite.command as command
class Connection: pass
sqlite3.Connection = Connection
try:
    command.main(sys.argv[2:])
except SystemExit as ended:
    assert (ended.code or 0) == int(sys.argv[1]), ended.code
"""


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture
def models(tmp_path):
    """Two models of one kind, and one that cannot be read."""
    a = safetensors(tmp_path / "models" / "a.safetensors", {
        "same": floats(1, 2, 3), "near": floats(3, 4), "far": floats(1, 0), "nan": floats(NAN, 1), "nan.other": floats(NAN, 1), "gone": floats(5),
        "reshaped": floats(1, 2)}, licence="mit")
    b = safetensors(tmp_path / "models" / "b.safetensors", {
        "same": floats(1, 2, 3), "near": floats(3, 5), "far": floats(0, 1), "nan": floats(NAN, 1), "nan.other": floats(NAN, 2), "new": floats(6),
        "reshaped": floats(1, 2, 3)})
    (tmp_path / "models" / "broken.safetensors").write_bytes(b"\xff" * 16)
    os.utime(a, (1, 1))
    os.utime(b, (2, 2))
    return a, b


def test_it_is_the_package_that_the_tests_are_about(command):
    """The wheel, with nothing of the source tree in reach; or the source tree."""
    code = "import json, sys, ztensor_sqlite as package; print(json.dumps([package.__file__, package.loadable_path(), package.sql_path(), *sys.path]))"
    place, *found = json.loads(command.python_code(code))
    assert os.path.dirname(place) == str(PACKAGE / "ztensor_sqlite") == os.path.dirname(ztensor_sqlite.__file__)
    if INSTALLED:
        assert found[:2] == [f"{PACKAGE}/ztensor_sqlite/{name}" for name in ("ztensor.so", "sql")]
        environment = str(PACKAGE.parents[2])
        assert [path for path in found if path.startswith(str(ROOT)) and not path.startswith(environment)] == []


# ---- ls, check, stats

def test_ls_of_a_file_lists_its_tensors(command):
    path = V12 / "wheel_quantized.zt"
    expected = [{"object": name, "dtype": "int4", "shape": [64, 256], "elements": 16384, "stored_bytes": size}
                for name, size in (("q_proj", 10240), ("q_proj.z", 10138))]
    assert command.json("ls", path) == expected
    assert command("ls", path)[0].splitlines()[1] == "q_proj\tint4\t[64,256]\t16384\t10240"


def test_ls_of_a_directory_lists_files_and_says_which_are_broken(command, models):
    found = command.json("ls", "models", status=1)
    assert [(row["path"], row["container"], row["objects"]) for row in found] == [
        ("models/a.safetensors", "safetensors", 7), ("models/b.safetensors", "safetensors", 7), ("models/broken.safetensors", None, None)]
    assert found[0]["size"] == models[0].stat().st_size and found[0]["error"] is None and "broken.safetensors" in found[2]["error"]
    out, err = command("ls", "models", "--tensors", status=1)
    assert len(out.splitlines()) == 1 + 14 and err.count("broken.safetensors") == 1
    assert command("ls", "models/[ab].safetensors")[1] == "2 files, 14 tensors, 29 parameters, 116 B, 32 bits per weight; f32 14\n"


# Python imports these slowly, and `ls` does not need them
SLOW = {"apsw", "ctypes.util", "difflib", "json", "pathlib", "rich", "shutil", "tempfile", "urllib.parse", "ztensor_sqlite._query", "ztensor_sqlite._save",
        "ztensor_sqlite._tensor"}


def test_ls_begins_at_once(command, models):
    code = """import sys
from ztensor_sqlite import command
try: command.main(["ls", sys.argv[1]])
except SystemExit: print(*sys.modules, sep="\\n")"""
    said = command.python_code(code, models[0]).splitlines()
    assert "same\tf32\t[3]\t3\t12" in said and "ztensor_sqlite.commands.ls" in said
    assert SLOW & set(said) == set()


def test_a_terminal_gets_a_table(command, models):
    lines = on_terminal(command, "ls", "models/a.safetensors")
    assert lines[0].split() == ["object", "dtype", "shape", "elements", "stored_bytes"]
    assert set(lines[1]) == {"─", " "} and lines[2].split() == ["same", "f32", "[3]", "3", "12", "B"]


def test_names_cannot_do_anything_to_a_terminal(command, tmp_path):
    path = safetensors(tmp_path / "odd.safetensors", {"a\tb\x1b[31m\nc": floats(1)})
    assert command("ls", path)[0].splitlines()[1] == "a\\tb\\x1b[31m\\nc\tf32\t[1]\t1\t4"
    assert command.json("ls", path)[0]["object"] == "a\tb\x1b[31m\nc"


def test_a_path_that_is_not_utf8(command, tmp_path):
    name = os.fsdecode(b"m\xff.safetensors")
    safetensors(tmp_path / "odd" / name, {"w": floats(1)})
    assert command("ls", os.path.join("odd", name))[0].splitlines()[1].startswith("w\t")
    assert command("ls", "odd")[0].splitlines()[1].startswith("odd/" + name)


def test_such_a_path_also_where_apsw_is_used(command, tmp_path):
    name = os.fsdecode(b"m\xff.safetensors")
    path = safetensors(tmp_path / "odd" / name, {"w": floats(1)})
    safetensors(tmp_path / "odd" / "a.safetensors", {"v": floats(2)})
    (tmp_path / "odd" / os.fsdecode(b"z\xff.safetensors")).write_bytes(b"\xff" * 16)

    def asked(*arguments, status):
        return json.loads(command.python_code(WITH_APSW, status, *arguments))

    listed = asked("ls", "odd", "--json", status=1)
    assert [(row["path"], row["objects"]) for row in listed] == [
        ("odd/a.safetensors", 1), ("odd/" + name, 1), (os.fsdecode(b"odd/z\xff.safetensors"), None)]
    assert "not a tensor file" in listed[2]["error"]
    assert [(row["path"], row["object"]) for row in asked("ls", "odd", "-t", "--json", status=1)] == [
        ("odd/a.safetensors", "v"), ("odd/" + name, "w")]
    assert [row["rule"] for row in asked("check", "odd", "--json", status=1)] == ["magic"]
    assert [(row["path"], row["max"]) for row in asked("stats", "odd", "--json", status=1)] == [
        ("odd/a.safetensors", 2), ("odd/" + name, 1)]
    assert asked("diff", path, path, "--all", "--json", status=0)[0]["change"] == "same"
    command.python_code(WITH_APSW, 0, "export", path, "w", "w.npy")
    assert np.load(tmp_path / "w.npy").tolist() == [1]


def test_check_tells_by_its_status(command, models):
    assert command("check", models[0]) == ("", "1 file: 0 errors, 0 warnings\n")
    out, err = command("check", "models", status=1)
    assert err == "3 files: 1 error, 0 warnings\n" and "broken.safetensors" in out
    assert command("check", V12 / "hand_digests.zt", status=1)[1] == "1 file: 2 errors, 1 warning\n"
    found = command.json("check", V12 / "hand_digests.zt", "--full", status=1)
    assert [row["object"] for row in found if row["rule"] == "digest-mismatch"] == ["crc32c.wrong", "sha256.wrong", "zstd.of_decoded"]
    warned = GOLDEN / "gguf" / "golden" / "q_8_1_8_k.gguf"   # Warnings alone are no failure
    assert command("check", warned)[1] == "1 file: 0 errors, 2 warnings\n"
    assert command.json("check", models[0]) == []


def test_a_note_is_no_finding(command, tmp_path):
    np.savez(tmp_path / "m.npz", w=np.eye(2), names=np.array(["a", "b"]), any=np.array([None, 1], dtype=object))
    for options in ([], ["--full"]):
        assert command("check", "m.npz", *options) == ("", "1 file: 0 errors, 0 warnings (2 notes: --notes)\n")
        assert command.json("check", "m.npz", *options) == []
    out, err = command("check", "m.npz", "--notes")
    assert err == "1 file: 0 errors, 0 warnings (2 notes)\n" and out.count("no-values") == 2
    assert [(row["object"], row["severity"], row["message"]) for row in command.json("check", "m.npz", "--notes")] == [
        ("names", "note", "it has no values: its elements are text"),
        ("any", "note", "it has no values: its elements are objects of Python, pickles, which are never executed")]
    (tmp_path / "broken.npz").write_bytes((tmp_path / "m.npz").read_bytes()[:-1])
    assert command("check", "*.npz", status=1)[1] == "2 files: 1 error, 0 warnings (2 notes: --notes)\n"


def test_stats_are_numpys(command, tmp_path):
    values = np.linspace(-3, 5, 1000).astype("f4")
    np.save(tmp_path / "x.npy", values)
    (row,) = command.json("stats", tmp_path / "x.npy")
    wide = values.astype("f8")
    assert (row["object"], row["elements"], row["zeros"], row["nans"], row["error"]) == ("x", 1000, 0, 0, None)
    assert np.allclose([row[key] for key in ("min", "max", "mean", "std", "l2")], [wide.min(), wide.max(), wide.mean(), wide.std(), np.linalg.norm(wide)])


# ---- diff

def test_diff_puts_the_most_distant_layers_first(command, models):
    found = command.json("diff", *models, "--all", status=1)
    assert [(row["object"], row["change"]) for row in found] == [
        ("gone", "removed"), ("new", "added"), ("reshaped", "incomparable"), ("far", "changed"), ("nan.other", "changed"), ("near", "changed"),
        ("nan", "same"), ("same", "same")]
    by_name = {row["object"]: row for row in found}
    assert math.isclose(by_name["near"]["distance"], 1 / math.sqrt(34)) and math.isclose(by_name["far"]["distance"], math.sqrt(2))
    assert by_name["near"]["max_abs"] == 1 and by_name["near"]["equal"] == 1 and by_name["same"]["distance"] == 0
    assert (by_name["reshaped"]["shape"], by_name["reshaped"]["other_shape"]) == ([2], [3]) and by_name["reshaped"]["error"]
    out, err = command("diff", *models, status=1)
    assert len(out.splitlines()) == 1 + 6 and err == "8 tensors: 2 the same, 6 not\n"


def test_a_file_does_not_differ_from_itself(command, models):
    assert command("diff", models[0], models[0]) == ("", "7 tensors: 7 the same, 0 not\n")


def test_diff_knows_formats(command):
    converted = GOLDEN / "gguf" / "converted"
    assert command("diff", converted / "model.safetensors", converted / "model.zt")[1] == "3 tensors: 3 the same, 0 not\n"


def distances(path):
    return ask(path, "SELECT name.name, change, square FROM distance JOIN name ON name.id = distance.name ORDER BY 1")


def test_integers_that_f64_has_not_are_told_apart(command, tmp_path):
    """Also in a catalog. `wide` and `small` have the same bits in both files."""
    most = 2 ** 53
    for name, more in (("a", 0), ("b", 1)):
        np.savez(tmp_path / f"{name}.npz", signed=np.array([most + more]), unsigned=np.array([2 ** 63 + more], "u8"),
                 wide=np.array([most + 1, -5]), small=np.array([5, 6]), none=np.array([], "i8"))
    found = {row["object"]: row["change"] for row in command.json("diff", "a.npz", "b.npz", "--all", status=1)}
    assert found == {"signed": "changed", "unsigned": "changed", "wide": "same", "small": "same", "none": "same"}
    command("catalog", "a.npz", "b.npz", "--statistics", "--db", "catalog.db")
    assert [(name, change) for name, change, _ in distances(tmp_path / "catalog.db")] == sorted(found.items())
    np.savez(tmp_path / "s.npz", x=np.array([2 ** 60 + 1, 3]), y=np.array([4]))
    np.savez(tmp_path / "u.npz", x=np.array([2 ** 60, 3], "u8"), y=np.array([4], "u8"))
    assert {row["object"]: row["change"] for row in command.json("diff", "s.npz", "u.npz", "--all", status=1)} == {"x": "changed", "y": "same"}
    np.savez(tmp_path / "f.npz", x=np.array([2.0 ** 50]))
    np.savez(tmp_path / "i.npz", x=np.array([2 ** 50]))
    assert command("diff", "f.npz", "i.npz")[1] == "1 tensor: 1 the same, 0 not\n"


def test_what_is_not_compared_by_its_values_is_by_fingerprints(command, tmp_path):
    for name, last in (("a", 2), ("b", 3)):
        np.savez(tmp_path / f"{name}.npz", same=np.array([1 + 2j]), other=np.array([1, last * 1j]))
    np.savez(tmp_path / "narrow.npz", same=np.array([1 + 2j], "c8"))
    found = command.json("diff", "a.npz", "b.npz", "--all", status=1)
    assert [(row["object"], row["change"], row["distance"]) for row in found] == [("other", "changed", None), ("same", "same", 0)]
    assert command.json("diff", "a.npz", "narrow.npz", status=1)[-1]["change"] == "incomparable"   # Of another type
    command("catalog", "a.npz", "b.npz", "--statistics", "--db", "catalog.db")
    assert distances(tmp_path / "catalog.db") == [("other", "changed", None), ("same", "same", None)]


def test_components_tell_where_nothing_knows_the_values(command, tmp_path):
    def written(name, **tensors):
        safetensors(tmp_path / name, {"x": floats(1, 2), **tensors})

    written("a.safetensors", w=("NEW_4", [2], b"ab"))
    written("b.safetensors", w=("NEW_4", [2], b"ab"), more=floats(1))
    written("c.safetensors", w=("NEW_4", [2], b"ac"))
    assert [(row["object"], row["change"]) for row in command.json("diff", "a.safetensors", "b.safetensors", "--all", status=1)] == [
        ("more", "added"), ("w", "same"), ("x", "same")]
    assert [row["change"] for row in command.json("diff", "a.safetensors", "c.safetensors", status=1)] == ["incomparable"]


def test_files_of_the_same_bytes_do_not_differ(command, tmp_path):
    """Nor where neither values nor components can be had."""
    path = GOLDEN / "onnx" / "golden" / "other_types.onnx"
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_bytes(path.read_bytes())
    assert command("diff", path, path) == ("", "19 tensors: 19 the same, 0 not\n")
    command("catalog", "a.onnx", "b.onnx", "--statistics", "--db", "catalog.db")
    assert {change for _, change, _ in distances(tmp_path / "catalog.db")} == {"same"}


@pytest.mark.parametrize("one, other, distance", [
    ([1e308, 1e308], [-1e308, -1e308], 2), ([1e308, 0], [-1e308, 1e308], math.sqrt(2.5)), ([1e308], [1e307], 0.9),
    ([math.inf, 1], [math.inf, 2], None), ([1.7e308, 1.7e308], [1.7e308, 1], None), ([-math.inf], [1], None)])
def test_a_distance_is_two_at_most(command, tmp_path, one, other, distance):
    np.savez(tmp_path / "a.npz", x=np.array(one))
    np.savez(tmp_path / "b.npz", x=np.array(other))
    (row,) = command.json("diff", "a.npz", "b.npz", status=1)
    assert row["change"] == "changed" and row["distance"] == (distance if distance is None else pytest.approx(distance))


# ---- export

def test_export_is_what_numpy_reads(command, tmp_path):
    """All in one process, since there are many."""
    arrays = {}
    for dtype in ("f8", "f4", "f2", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", "c8", "c16"):
        for shape in ((), (0,), (5,), (3, 0), (3, 2, 4)):
            values = (np.arange(np.prod(shape, dtype=int)) * 3 % 7).astype(dtype).reshape(shape)
            arrays[str(len(arrays))] = np.asfortranarray(values) if values.ndim > 1 else values
    np.savez(tmp_path / "in.npz", **arrays)
    command.python_code("""
import sys
from ztensor_sqlite import npy, session, sources
for name in sys.argv[1:]:
    npy.export(session.Session(), sources.Source('in.npz'), name, name + '.npy', None)""", *arrays)
    for name, values in arrays.items():
        read = np.load(tmp_path / f"{name}.npy")
        assert read.dtype == values.dtype and read.shape == values.shape and (read == values).all()
    command("export", "in.npz", "9", "9.npy")
    assert (np.load(tmp_path / "9.npy") == arrays["9"]).all()


def test_export_of_what_numpy_lacks_says_so(command, tmp_path):
    safetensors(tmp_path / "m.safetensors", {"w": ("BF16", [2], b"\x80\x3f\x00\xc0"), "q": ("F8_E4M3", [2], b"\x38\x40")})
    _, err = command("export", "m.safetensors", "w", "w.npy")
    assert "numpy has no bf16: written as f32" in err and np.load(tmp_path / "w.npy").tolist() == [1, -2]
    assert "numpy has no f8_e4m3fn: written as f32" in command("export", "m.safetensors", "q", "q.npy")[1]
    assert np.load(tmp_path / "q.npy").tolist() == [1, 2]
    command("export", "m.safetensors", "w", "w.npy", "--dtype", "i8")
    assert np.load(tmp_path / "w.npy").tolist() == [1, -2] and np.load(tmp_path / "w.npy").dtype == np.int8


def test_export_keeps_the_type_of_a_layout_that_numpy_lacks(command, tmp_path):
    """MATLAB's sparse matrix is of f64, and some of its values are none of f32."""
    command("export", GOLDEN / "matlab" / "golden" / "hand_sparse.mat", "spare", tmp_path / "a.npy")
    assert b"'<f8'" in (tmp_path / "a.npy").read_bytes()[:100]


def test_export_reads_large_tensors_a_part_at_a_time(command, tmp_path):
    values = np.arange(1 << 14, dtype="i4").reshape(1 << 7, 1 << 7)
    np.save(tmp_path / "in.npy", values)
    said = command.python_code("""
from ztensor_sqlite import npy, output, session, sources
npy.SLICE = 5000
shown = session.Session()
print(npy.export(shown, sources.Source('in.npy'), 'in', 'out.npy', None),
      len(list(npy._slices(shown, 'in.npy', 'in', [128, 128], 'i32', output.Progress('in')))))""")
    assert said == "('i32', [128, 128]) 15\n" and (np.load(tmp_path / "out.npy") == values).all()


def test_export_leaves_nothing_behind_that_is_not_whole(command, models, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    assert "no such object; did you mean 'near'" in command.refused("export", "models/a.safetensors", "nea", "out.npy")
    assert "the file that the tensor is in" in command.refused("export", "models/a.safetensors", "near", "models/a.safetensors")
    assert "no dtype of numpy" in command.refused("export", "models/a.safetensors", "near", "out.npy", "--dtype", "bf16")
    assert "more than one tensor" in command.refused("export", "models/[ab].safetensors", "near", "out.npy")
    assert "element" in command.refused("export", "models/a.safetensors", "nan", "out.npy", "--dtype", "i8")
    near = ("export", "models/a.safetensors", "near")
    assert command.refused(*near, "no-such-directory/out.npy") == "no-such-directory/out.npy: No such file or directory"
    assert command.refused(*near, "new.npy/") == "new.npy/: No such file or directory"
    assert command.refused(*near, "models") == "models: Is a directory"
    assert sorted(tmp_path.rglob("*")) == before
    (tmp_path / "loop.npy").symlink_to("loop.npy")
    assert command.refused(*near, "loop.npy") == "loop.npy: Too many levels of symbolic links"
    assert os.readlink(tmp_path / "loop.npy") == "loop.npy"


def test_export_follows_a_link(command, models, tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "old.npy").write_bytes(b"old")
    for name in ("old.npy", "new.npy"):
        (tmp_path / name).symlink_to(os.path.join("there", name))
        command("export", "models/a.safetensors", "near", name)
        assert (tmp_path / name).is_symlink() and np.load(tmp_path / "there" / name).tolist() == [3, 4]
    (tmp_path / "own.npy").symlink_to("models/a.safetensors")
    assert "the file that the tensor is in" in command.refused("export", "models/a.safetensors", "near", "own.npy")


def test_export_writes_into_a_pipe(command, models, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    done = subprocess.Popen(command.words(["export", "models/a.safetensors", "near", "pipe"]), stderr=subprocess.PIPE, cwd=tmp_path,
                            env=command.variables)
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)   # One that waits would do so for ever if nobody writes
    said = done.communicate(timeout=60)[1]
    read = os.read(reader, 1 << 16)
    os.close(reader)
    assert (done.returncode, said) == (0, b"pipe: f32[2]\n")
    assert stat.S_ISFIFO(os.lstat(tmp_path / "pipe").st_mode)
    (tmp_path / "read.npy").write_bytes(read)
    assert np.load(tmp_path / "read.npy").tolist() == [3, 4]


# ---- catalog, merge

def ask(path, sql):
    with sqlite3.connect(path) as db:
        return db.execute(sql).fetchall()


def test_catalog_is_refreshed(command, models, tmp_path):
    (first,) = command.json("catalog", "models", "--db", "catalog.db", status=1)
    (second,) = command.json("catalog", "models", "--db", "catalog.db", status=1)
    assert (first["files"], first["added"], first["broken"]) == (3, 3, 1) and (second["added"], second["unchanged"]) == (0, 3)
    safetensors(models[0], {"same": floats(9, 9, 9)})
    (third,) = command.json("catalog", "models", "--db", "catalog.db", status=1)
    assert (third["changed"], third["unchanged"]) == (1, 2)
    assert ask(tmp_path / "catalog.db", "SELECT count(*) FROM objects") == [(8,)]


def test_passes_read_what_is_new(command, models, tmp_path):
    _, err = command("catalog", "models", "--fingerprint", "--check", "--statistics", "--db", "catalog.db", status=1)
    assert err.splitlines() == ["fingerprint: 2 files", "check: 2 files", "statistics: 2 files, 0 pairs"]
    _, err = command("catalog", "models", "--fingerprint", "--check", "--statistics", "--db", "catalog.db", status=1)
    assert err.splitlines() == ["fingerprint: 0 files", "check: 0 files", "statistics: 0 files, 0 pairs"]
    safetensors(models[0], {"same": floats(9, 9, 9)})
    assert command("catalog", "models", "--statistics", "--db", "catalog.db", status=1)[1] == "statistics: 1 file, 0 pairs\n"
    assert ask(tmp_path / "catalog.db", "SELECT name.name, elements, min, max, bins FROM statistic JOIN name ON name.id = statistic.name"
                                        " JOIN file ON file.id = statistic.file WHERE path LIKE '%a.safetensors'") == [("same", 3, 9.0, 9.0, "[3]")]


def test_statistics_are_those_of_zt_stats(command, tmp_path):
    command("catalog", GOLDEN / "gguf" / "golden", V12, "--statistics", "--db", "c.db")
    listed = command.json("stats", json.dumps([str(GOLDEN / "gguf" / "golden"), str(V12)]))
    kept = ask(tmp_path / "c.db", "SELECT path, n.name, elements, zeros, nans, infs, min, max, mean, std, l2, s.error FROM statistic AS s"
                                  " JOIN file ON file.id = s.file JOIN name AS n ON n.id = s.name")
    assert len(kept) > 400 and sorted(kept, key=repr) == sorted(((*row.values(),)[:2] + (*row.values(),)[3:] for row in listed), key=repr)
    for elements, nans, infs, least, bins in ask(tmp_path / "c.db", "SELECT elements, nans, infs, min, bins FROM statistic WHERE error IS NULL"):
        assert (bins is None) == (least is None)
        if bins:
            assert sum(json.loads(bins)) == elements - nans - infs


def test_neighbours_of_a_family_are_compared(command, tmp_path):
    for i, value in enumerate((1, 2, 4)):
        os.utime(safetensors(tmp_path / "run" / f"{9 - i}.safetensors", {"w": floats(value, 0), "b": floats(1)}), (i, i))
    assert command("catalog", "run", "--statistics", "--db", "catalog.db")[1] == "statistics: 3 files, 2 pairs\n"
    found = ask(tmp_path / "catalog.db", "SELECT a.path, b.path, n.name, change, square FROM distance AS d JOIN file AS a ON a.id = d.a"
                                         " JOIN file AS b ON b.id = d.b JOIN name AS n ON n.id = d.name ORDER BY a.mtime + b.mtime, n.name")
    assert [({os.path.basename(a)[0], os.path.basename(b)[0]}, *rest) for a, b, *rest in found] == [
        ({"9", "8"}, "b", "same", 0), ({"9", "8"}, "w", "changed", pytest.approx(0.25)), ({"8", "7"}, "b", "same", 0),
        ({"8", "7"}, "w", "changed", pytest.approx(0.25))]
    command("diff", "run/9.safetensors", "run/7.safetensors", "--db", "catalog.db", status=1)
    assert ask(tmp_path / "catalog.db", "SELECT count(*) FROM pair") == [(3,)]
    (tmp_path / "run" / "8.safetensors").unlink()
    command("catalog", "run", "--db", "catalog.db")
    assert ask(tmp_path / "catalog.db", "SELECT count(*), (SELECT count(*) FROM distance), (SELECT count(*) FROM statistic) FROM pair") == [(1, 2, 4)]


@pytest.mark.parametrize("what", ["statistics", "distances"])
def test_a_pass_that_was_stopped_goes_on(command, tmp_path, what):
    for i in range(40):
        safetensors(tmp_path / "run" / f"{i}.safetensors", {"w": floats(i, 1)})
    command("catalog", "run", "--db", "catalog.db")
    command.python_code("""
import os, signal, sys
from ztensor_sqlite import catalog, measures, session
class Stopped:
    def __init__(self, what, total): self.seen = 0
    def __enter__(self): return self
    def __exit__(self, *_): pass
    def advance(self, count):
        self.seen += count
        if self.seen > 10: os._exit(0)
class Whole(Stopped):
    def advance(self, count): pass
opened = session.Session('catalog.db')
if sys.argv[1] == 'distances': measures.statistics(opened, Whole)
getattr(measures, sys.argv[1])(opened, Stopped)
raise SystemExit('it was not stopped')""", what)
    table = {"statistics": "measured", "distances": "pair"}[what]
    ((done,),) = ask(tmp_path / "catalog.db", f"SELECT count(*) FROM {table}")
    assert 10 < done < 39
    err = command("catalog", "run", "--statistics", "--db", "catalog.db")[1]
    assert err == {"statistics": f"statistics: {40 - done} files, 39 pairs\n", "distances": f"statistics: 0 files, {39 - done} pairs\n"}[what]


@pytest.mark.parametrize("gone", ["1.safetensors", "[0]*.safetensors"])
def test_one_file_that_is_gone_does_not_end_a_pass(command, tmp_path, gone):
    """Nor is it another one, if its name is a pattern that finds it."""
    for i, name in enumerate(["0.safetensors", gone, "2.safetensors"]):
        path = safetensors(tmp_path / "run" / name, {"w": floats(i, 1)})
        os.utime(path, (i, i))
    command("catalog", "run", "--db", "catalog.db")
    said = command.python_code("""
import os, sys
from ztensor_sqlite import measures, output, session
opened = session.Session('catalog.db')
os.unlink('run/' + sys.argv[1])
print(measures.statistics(opened, output.Progress), measures.distances(opened, output.Progress))
print(opened.run("SELECT count(*), count(error) FROM pair"), opened.run("SELECT count(*) FROM distance"))""", gone)
    assert said == "3 2\n[(2, 2)] [(0,)]\n"


def test_a_pass_over_no_file_is_the_last_one(command, models):
    """Files that cannot be read just now are left."""
    command("catalog", "models", "--db", "catalog.db", status=1)
    said = command.python_code("""
from ztensor_sqlite import catalog, output, session
opened = session.Session('catalog.db')
opened.shipped('refresh.sql')
opened.run('DROP TRIGGER refresh_pass_insert')
opened.run('CREATE TEMP TRIGGER refresh_pass_insert AFTER INSERT ON refresh_pass BEGIN UPDATE refresh_pass SET files = 0; END')
print(catalog.second_pass(opened, 'check', opened.value('SELECT zt_host()'), output.Progress), opened.run('SELECT count(*) FROM refresh_pass'))""")
    assert said == "0 [(1,)]\n"


@pytest.mark.parametrize("words", [["catalog", "--statistics"], ["catalog", "--check"]])
def test_a_catalog_that_another_program_writes_is_waited_for(command, models, tmp_path, words):
    """As two jobs that overlap need it, and two people who serve one folder."""
    command(*words, "models", "--db", "c.db", status=1)   # One file is broken
    other = sqlite3.connect(tmp_path / "c.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    begun = subprocess.Popen(command.words([*words, "models", "--db", "c.db"]), cwd=tmp_path, env=command.variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with pytest.raises(subprocess.TimeoutExpired):
        begun.wait(3)
    other.execute("COMMIT")
    out, err = begun.communicate(timeout=60)
    assert begun.returncode == 1 and b"locked" not in err, err


def test_a_full_disk_is_told_without_a_number(command, models):
    done = subprocess.run(command.words(["ls", "models"]), cwd=command.directory, env=command.variables, stdout=open("/dev/full", "w"), stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2 and done.stderr.endswith("ztensor-sql: stdout: No space left on device\n")


def test_diff_makes_no_catalog_of_another_database(command, models, tmp_path):
    with sqlite3.connect(tmp_path / "own.db") as db:
        db.execute("CREATE TABLE t(x)")
    command("catalog", "models/a.safetensors", "--db", "catalog.db")
    before = (tmp_path / "own.db").read_bytes(), ask(tmp_path / "catalog.db", "SELECT * FROM sqlite_master")
    pair = ("diff", "models/a.safetensors", "models/b.safetensors", "--db")
    assert command.refused(*pair, "own.db") == "own.db: this is no catalog"
    assert command.refused(*pair, "catalog.db") == "models/b.safetensors: this file is not in the catalog"   # Nor is the difference shown
    assert ((tmp_path / "own.db").read_bytes(), ask(tmp_path / "catalog.db", "SELECT * FROM sqlite_master")) == before


MADE_IN = {"catalog": ("catalog", "models/a.safetensors", "--db", "own.db"), "merge": ("merge", "catalog.db", "--db", "own.db"),
           "serve": ("serve", "models", "--db", "own.db", "--port", "0")}


@pytest.mark.parametrize("what", MADE_IN)
def test_a_database_of_somebodys_is_not_made_a_catalog_unasked(command, models, tmp_path, what):
    with sqlite3.connect(tmp_path / "own.db") as db:
        db.execute("CREATE TABLE t(x)")
    command("catalog", "models/a.safetensors", "--db", "catalog.db")
    before = (tmp_path / "own.db").read_bytes()
    assert command.refused(*MADE_IN[what]).startswith("own.db: this database has tables, and is no catalog; ")
    assert (tmp_path / "own.db").read_bytes() == before
    if what != "serve":
        command(*MADE_IN[what], "--yes")
        assert ask(tmp_path / "own.db", "SELECT count(*) FROM files") == [(1,)]
        command(*MADE_IN[what])   # By now it is one


# Commands that write catalog.db, or read it while another program has it for itself, and the lock of that program
BESIDE = {"catalog": (["catalog", "models/a.safetensors", "--db", "catalog.db"], "IMMEDIATE"),
          "merge": (["merge", "other.db", "--db", "catalog.db"], "IMMEDIATE"),
          "serve": (["serve", "models", "--db", "catalog.db", "--port", "0"], "IMMEDIATE"),
          "serve a catalog": (["serve", "catalog.db", "--port", "0"], "EXCLUSIVE"),
          "shell": (["shell", "catalog.db", "-c", "DELETE FROM file"], "IMMEDIATE")}
IMPATIENT = """
import sys
import ztensor_sqlite.session as session
session.WAIT = 0.5
import ztensor_sqlite.command as command
command.main(sys.argv[1:])
"""


@pytest.fixture
def locked(command, models, tmp_path):
    """Lock catalog.db, and give the connection that has the lock."""
    for name in ("other.db", "catalog.db"):
        command("catalog", "models/a.safetensors", "--db", name)
    with contextlib.closing(sqlite3.connect(tmp_path / "catalog.db", isolation_level=None, check_same_thread=False)) as other:
        yield lambda lock: other.execute(f"BEGIN {lock}") and other


@pytest.mark.parametrize("what", BESIDE)
def test_another_program_that_goes_on_writing_is_told(command, locked, what):
    words, lock = BESIDE[what]
    locked(lock)
    begun = time.monotonic()
    done = subprocess.run([command.python, "-c", IMPATIENT, *words], capture_output=True, text=True, cwd=command.directory, env=command.variables, timeout=60)
    said = "database is locked" if what == "shell" else "catalog.db: another program is writing this database, and has not ended within 0.5 seconds"
    assert (done.returncode, done.stderr) == (2, f"ztensor-sql: {said}\n")
    assert time.monotonic() - begun > 0.5


@pytest.mark.parametrize("what", [what for what in BESIDE if "serve" not in what])
def test_another_program_that_ends_is_waited_for(command, locked, what):
    words, lock = BESIDE[what]
    other = locked(lock)
    ended = threading.Timer(2, other.execute, ["ROLLBACK"])
    ended.start()
    command(*words)
    assert ended.finished.is_set()
    ended.join()


def test_at_a_terminal_it_is_a_question(command, models, tmp_path):
    for answer, made in (("n", 0), ("y", 1)):
        with sqlite3.connect(tmp_path / f"{answer}.db") as db:
            db.execute("CREATE TABLE t(x)")
        master, slave = pty.openpty()
        os.write(master, f"{answer}\n".encode())
        done = subprocess.run(command.words(["catalog", "models/a.safetensors", "--db", f"{answer}.db"]), stdin=slave, capture_output=True, text=True,
                              cwd=tmp_path, env=command.variables, timeout=60)
        os.close(master)
        os.close(slave)
        assert "has tables, and is no catalog. Make one in it?" in done.stderr
        assert done.returncode == (0 if made else 2)
        assert ask(tmp_path / f"{answer}.db", "SELECT count(*) FROM sqlite_master WHERE name = 'file'") == [(made,)]


def test_statistics_pass_over_no_table_of_somebodys(command, models, tmp_path):
    command("catalog", "models/a.safetensors", "--db", "catalog.db")
    with sqlite3.connect(tmp_path / "catalog.db") as db:
        for name in ("measured", "statistic", "pair", "distance"):
            db.execute(f"DROP TABLE {name}")
        db.execute("DROP TRIGGER measures_delete")
        db.execute("DROP TRIGGER measures_update")
        db.execute("CREATE TABLE pair(mine)")
    assert "a table, view, index or trigger of somebody's own" in command.refused("catalog", "models/a.safetensors", "--db", "catalog.db")
    assert ask(tmp_path / "catalog.db", "SELECT name FROM sqlite_master WHERE name IN ('measured', 'pair')") == [("pair",)]


@pytest.mark.parametrize("arguments", [("merge", "nowhere.db"), ("merge", "text.txt"), ("merge", "other.db"), ("catalog", "nowhere"),
                                       ("catalog", "models", "nowhere"), ("serve", "nowhere", "--port", "0"),
                                       ("serve", "empty", "--port", "0")])
def test_what_fails_leaves_no_database(command, models, tmp_path, arguments):
    (tmp_path / "text.txt").write_text("no database")
    (tmp_path / "empty").mkdir()
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE t(x)")
    before = sorted(tmp_path.rglob("*"))
    command.refused(*arguments, "--db", "new.db")
    assert sorted(tmp_path.rglob("*")) == before


def test_merge(command, models, tmp_path):
    command("catalog", "models/a.safetensors", "--db", "one.db")
    command("catalog", "models/b.safetensors", "--db", "two.db")
    found = command.json("merge", "one.db", "two.db", "one.db", "--db", "all.db")
    assert [(row["catalog"], row["added"], row["unchanged"]) for row in found] == [("one.db", 1, 0), ("two.db", 1, 0), ("one.db", 0, 1)]
    assert ask(tmp_path / "all.db", "SELECT count(*) FROM files") == [(2,)]
    assert "merged into" in command.refused("merge", "all.db", "--db", "all.db")


# ---- --sql, the shell

SUMMARIES = tuple("0123456789")   # How the lines for people begin


@pytest.mark.parametrize("arguments", [("ls", "models/a.safetensors"), ("stats", "models/[ab].safetensors"), ("check", "models", "--full"),
                                       ("diff", "models/a.safetensors", "models/b.safetensors"), ("catalog", "models", "--db", "it's.db")])
def test_the_sqlite3_shell_runs_the_sql_that_is_shown(command, models, tmp_path, arguments):
    with_sql = subprocess.run(command.words([*arguments, "--sql"]), capture_output=True, text=True, cwd=tmp_path, env=command.variables)
    sql = "\n".join(line for line in with_sql.stderr.splitlines() if not line.startswith(SUMMARIES))
    done = subprocess.run(["sqlite3", "-batch", "-bail"], input=".mode tabs\n" + sql, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    if arguments[0] == "catalog":
        assert "models\t3\t0\t0\t0\t3" in done.stdout
    else:
        assert with_sql.stdout.splitlines()[1].split("\t")[0] in done.stdout


def test_shell(command, models, tmp_path):
    assert command("shell", input="SELECT count(*) FROM zt_files('models');\n")[0] == "3\n"
    assert command("shell", ":memory:", "SELECT count(*) FROM zt_files('models')", "SELECT 2")[0] == "3\n2\n"
    command("shell", "new.db", "CREATE TABLE t AS SELECT object FROM zt_objects('models/a.safetensors')")
    assert ask(tmp_path / "new.db", "SELECT count(*) FROM t") == [(7,)]
    out, err = command("shell", input="SELECT 1;\nSELEKT;\nSELECT 2;\n", status=2)
    assert out == "1\n" and "syntax error" in err
    assert command("shell", input=".open new.db\nSELECT count(*) FROM zt_objects('models/a.safetensors');\n")[0] == "7\n"


# ---- Remote sources

@pytest.fixture
def web(models):
    """A web server that has the two models."""
    sys.path.append(str(ROOT / "tests" / "remote"))
    from files import Files
    from server import Server
    with Server(Files(models=models[0].parent)) as server:
        yield server


def test_remote_sources(command, web, models):
    command.variables["ZTENSOR_REMOTE"] = web.origin
    url = web.url("/models/a.safetensors")
    assert command.json("--remote", "ls", url) == command.json("ls", models[0])
    assert web.log and "sqlite3_ztensor_remote_init" in command("--remote", "ls", "--sql", url)[1]
    assert json.dumps(command.json("--remote", "diff", url, models[1], status=1)).replace(url, str(models[0])) == json.dumps(
        command.json("diff", *models, status=1))
    command("--remote", "catalog", url, "--fingerprint", "--check", "--db", "catalog.db")
    assert command("--remote", "shell", "catalog.db", "SELECT h.name, path, fingerprint IS NULL, checked IS NULL FROM file AS f JOIN host AS h ON h.id = f.host")[0].split() == [
        f"{web.authority}|{url}|0|0"]
    web.log.clear()
    assert "ztensor-sql --remote" in command.refused("ls", url)
    assert "not allowed" in command.refused("--remote", "ls", "https://elsewhere.test/a.safetensors")
    assert web.log == []


# ---- What cannot be

@pytest.mark.parametrize("arguments, said", [
    (["ls", "nowhere.zt"], "cannot open"),
    (["ls", "nowhere*.zt"], "nowhere*.zt: there is no tensor file"),
    (["ls", "https://host/model.safetensors"], "ztensor-sql --remote"),
    (["catalog", "hf://org/model"], "ztensor-sql --remote"),
    (["check", "nowhere/*.zt"], "there is no tensor file"),
    (["check", "empty"], "empty: there is no tensor file"),
    (["stats", "models/broken.safetensors"], "broken.safetensors"),
    (["ls", '["models/a.safetensors", 5]'], "source"),
    (["diff", "models", "models/a.safetensors"], "models: there are 3 models in it, name one: "),
    (["diff", "models/a.safetensors", "models/b.safetensors", "--db", "nowhere.db"], "nowhere.db: there is no such catalog"),
    (["diff", "models/a.safetensors", "models/b.safetensors", "--db", "text.txt"], "text.txt: this is no catalog"),
    (["catalog", "nowhere"], "nowhere"),
    (["catalog", "models", "--db", "text.txt"], "text.txt: this is no SQLite database"),
    (["catalog", "models", "--db", "nowhere/c.db"], "nowhere/c.db"),
    (["catalog", "models", "--db", "models"], "models: this is no SQLite database"),
    (["catalog", "models", "--db", "other.db"], "another program"),
    (["merge", "nowhere.db", "--db", "new.db"], "nowhere.db: there is no such catalog"),
    (["merge", "text.txt", "--db", "new.db"], "text.txt: this is no catalog"),
    (["merge", "other.db", "--db", "new.db"], "other.db: this is no catalog"),
    (["merge", "older.db", "--db", "new.db"], "older.db: this is a catalog of another version: `ztensor-sql catalog SOURCE --db older.db`"),
    (["serve", "nowhere"], "nowhere"),
    (["serve", "empty"], "there is no tensor file"),
    (["serve", "other.db"], "other.db: this is no catalog"),
    (["serve", "models", "--port", "99999999"], "99999999"),
    (["shell", "text.txt"], "text.txt: this is no SQLite database"),
    (["export", "models", "w"], "Missing argument"),
    (["ls"], "Missing argument"),
    (["ls", "--nonsense", "models"], "--nonsense"),
    (["nonsense"], "nonsense"),
])
def test_bad_input_is_one_line_and_status_2(command, models, tmp_path, arguments, said):
    (tmp_path / "text.txt").write_text("no database at all, and longer than a header of one\n" * 4)
    (tmp_path / "empty").mkdir()
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("PRAGMA application_id = 5")
        db.execute("CREATE TABLE t(x)")
    with sqlite3.connect(tmp_path / "older.db") as db:
        db.execute("PRAGMA application_id = 0x7A744361")
        db.execute("PRAGMA user_version = 4")
    assert said in command.refused(*arguments)
    assert not (tmp_path / "nowhere.db").exists()


def test_help_tells_the_commands(command):
    out = command("--help")[0]
    names = ("ls", "tree", "stats", "check", "diff", "export", "convert", "migrate", "catalog", "merge", "serve", "shell", "completion")
    assert re.findall(r"^  ([a-z]+) +[A-Z][^.]*\.$", out, re.M) == list(names)
    assert command(status=2)[1].startswith("Usage")
    assert command("--version")[0].startswith("0.")


def test_a_reader_that_goes_away_is_no_trouble(command):
    done = subprocess.Popen(command.words(["ls", GOLDEN, "--tensors"]), stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=command.directory,
                            env=command.variables)
    done.stdout.readline()
    done.stdout.close()
    err = done.stderr.read().decode()
    done.wait(60)
    assert "Traceback" not in err and "Error" not in err


@pytest.mark.parametrize("redirected, status", [
    ("ls models/a.safetensors 2>&-", 0), ("ls nowhere.zt 2>&-", 2), ("export models/a.safetensors near out.npy >&-", 0),
    ("ls models/a.safetensors >&-", 2), ("ls models/a.safetensors >&- 2>&-", 2), ("ls models/a.safetensors >/dev/full", 2),
    ("--version >/dev/full", 2), ("check models >/dev/full", 2), ("check models >/dev/full 2>&1", 2),
    ("check models/a.safetensors 2>/dev/full", 2)])
def test_what_takes_no_words(command, models, redirected, status):
    done = subprocess.run(["sh", "-c", f"{command.typed} {redirected}"], capture_output=True, text=True,
                          cwd=command.directory, env=command.variables, timeout=60)
    assert done.returncode == status and "Traceback" not in done.stderr and "Exception" not in done.stderr
    if status == 2 and "2>" not in redirected:
        assert done.stderr.splitlines()[-1].startswith("ztensor-sql: "), done.stderr


def test_an_interrupt_ends_the_shell(command):
    with subprocess.Popen(command.words(["shell"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          cwd=command.directory, env=command.variables) as done:
        done.stdin.write("SELECT 1;\n")
        done.stdin.flush()
        assert done.stdout.readline() == "1\n"
        done.send_signal(signal.SIGINT)
        assert done.wait(60) == 130 and "Traceback" not in done.stderr.read()


def test_python_without_extensions_uses_apsw(command, models):
    assert json.loads(command.python_code(WITH_APSW, 1, "catalog", "models", "--statistics", "--check", "--json", "--db", "catalog.db"))[0]["files"] == 3


def test_a_terminal_sees_how_far_a_refresh_is(command, models):
    master, slave = pty.openpty()
    done = subprocess.run(command.words(["catalog", "models", "--statistics", "--json", "--db", "catalog.db"]), stdout=subprocess.PIPE, stderr=slave, cwd=command.directory,
                          env={**command.variables, "TERM": "xterm", "COLUMNS": "120"}, timeout=60)
    os.close(slave)
    said = os.read(master, 1 << 20).decode()
    assert done.returncode == 1 and json.loads(done.stdout)[0]["added"] == 3
    assert "manifests" in said and "3/3" in said and "2/2" in said
