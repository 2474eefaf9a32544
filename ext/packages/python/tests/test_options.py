"""What the options of `ztensor-sql` select, how they order it, and in which form it is printed."""
import csv
import io
import itertools
import json
import os
import re
import subprocess
from collections import Counter

import numpy as np
import pytest
from commanding import GOLDEN, Command
from tensor_files import floats, gguf, safetensors

ROWS = ("ls", "stats", "check", "diff")   # The commands that have all options


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture
def models(tmp_path):
    rng = np.random.default_rng(1)
    safetensors(tmp_path / "m" / "a.safetensors", {
        "layers.0.q_proj": floats(1, 2, 3), "layers.0.k_proj": floats(5), "layers.1.q_proj": ("BF16", [2], b"\x80\x3f\x00\xc0"),
        "norm": ("F16", [1], b"\0\x3c"), "n": ("I64", [1], bytes(8))})
    gguf(tmp_path / "m" / "b.gguf", {}, {"blk.0.attn_q": ("q5_0", rng.normal(size=(2, 64))), "blk.0.attn_k": ("q4_k", rng.normal(size=(1, 256))),
                                         "norm": ("f32", np.array([1, 2]))})
    return tmp_path / "m"


def names(rows):
    return [row["object"] for row in rows]


# ---- Selection

@pytest.mark.parametrize("pattern, found", [("*.q_proj", ["layers.0.q_proj", "layers.1.q_proj"]), ("norm", ["norm"]), ("layers.[1-9].*", ["layers.1.q_proj"]),
                                            ("x*", [])])
def test_name_selects_tensors(command, models, pattern, found):
    path = models / "a.safetensors"
    for name in ("ls", "stats"):
        assert names(command.json(name, path, "--name", pattern)) == found
    assert sorted(names(command.json("diff", path, models / "b.gguf", "--map", "none", "--name", pattern, "--all", status=int(bool(found))))) == sorted(found)


@pytest.mark.parametrize("spelling, found", [
    ("f32", ["layers.0.q_proj", "layers.0.k_proj", "norm"]), ("Q5_0", ["blk.0.attn_q"]), ("gguf.q4_k", ["blk.0.attn_k"]), ("q*", ["blk.0.attn_q", "blk.0.attn_k"]),
    ("torch.bfloat16", ["layers.1.q_proj"]), ("half", ["norm"]), ("<i8", ["n"]), ("F64", [])])
def test_dtype_selects_tensors_by_any_spelling(command, models, spelling, found):
    """In all files, with a path beside each."""
    for name in ("ls", "stats"):
        rows = command.json(name, models, "--dtype", spelling)
        assert names(rows) == found and all("path" in row for row in rows)


def test_a_name_with_a_bracket_is_itself(command, tmp_path):
    safetensors(tmp_path / "m.safetensors", {"w[0]": floats(1), "w0": floats(2), "v": floats(3)})
    assert names(command.json("ls", "m.safetensors", "--name", "w[0]")) == ["w[0]", "w0"]


def test_name_and_dtype_together(command, models):
    assert names(command.json("ls", models, "--name", "norm", "--dtype", "float16")) == ["norm"]


@pytest.mark.parametrize("name", ROWS)
def test_a_name_or_type_that_is_not_there_is_an_error(command, models, name):
    """Not an empty answer: `diff --name` with a slip would say that two models are the same."""
    words = [name, models / "a.safetensors", *([models / "b.gguf"] if name == "diff" else [])]
    assert re.search(r"(there is no tensor .norn.|object .norn.: no such object); did you mean .norm.", command.refused(*words, "--name", "norn"))
    assert command.refused(*words, "--dtype", "bf15") == "--dtype: 'bf15' is no type; did you mean bf16?"
    command(*words, "--dtype", "f64")
    command(*words, "--dtype", "x*")


def test_a_quantized_tensor_has_its_types_name(command, models):
    """In every command and form; and what stores it is nowhere."""
    for words in (["ls", "m/b.gguf"], ["ls", "-l", "m/b.gguf"], ["ls", "-l", "m"], ["stats", "m/b.gguf"], ["tree", "m/b.gguf"], ["ls", "-t", "m", "--csv"]):
        out, err = command(*words)
        assert "q5_0" in out and "q4_k" in out and not re.search(r"\bu8\b", out + err), out


@pytest.mark.parametrize("path, dtypes", [
    ("ztensor/golden/v2", {"mxfp4", "mxfp8_e4m3", "int4"}), ("pytorch/golden", {"qint8", "quint8"}), ("npy/golden", {"unicode"}),
    ("tensorflow/golden", {"string"}), ("onnx/golden", {"i4", "u4"})])
def test_types_of_other_formats_that_are_packed(command, path, dtypes):
    rows = command.json("ls", "-t", GOLDEN / path, status=0)
    assert dtypes <= {row["dtype"] for row in rows}


def test_near_names(command, models):
    for words in (["stats", "m/a.safetensors"], ["ls", "m/a.safetensors"], ["stats", "m"], ["ls", "m"]):
        assert "did you mean 'layers.0.q_proj'" in command.refused(*words, "--name", "layer.0.q_proj")
    for words in (["m/a.safetensors"], ["m"]):
        assert "did you mean 'layers.0.q_proj'" in command.refused("export", *words, "layer.0.q_proj", "out.npy")


@pytest.mark.parametrize("dtype, said", [
    ("float31", "'float31' is no type; did you mean f32"), ("float", "'float' may mean several types: f32, f64"), ("bf16", "'bf16' is no dtype of numpy: f64, f32"),
    ("Q4_K", "'Q4_K' is no dtype of numpy"), ("xyzzy", "'xyzzy' is no type: f64, f32")])
def test_dtypes_that_export_cannot_write(command, models, dtype, said):
    assert said in command.refused("export", "m/a.safetensors", "norm", "out.npy", "--dtype", dtype)


def test_export_takes_every_spelling(command, models, tmp_path):
    for dtype, read in (("float64", "<f8"), ("torch.float16", "<f2"), ("|i1", "|i1"), ("UINT16", "<u2"), ("np.int32", "<i4")):
        command("export", "m/a.safetensors", "norm", "out.npy", "--dtype", dtype)
        assert np.load(tmp_path / "out.npy").dtype.str == read and np.load(tmp_path / "out.npy").tolist() == [1]


def test_the_extension_takes_the_types_that_are_listed(command, models):
    """The table of spellings has all types to which values can be converted."""
    said = command("shell", "-c", "SELECT zt_dense('m/a.safetensors', 'norm', 'xyzzy')", status=2)[1]
    listed = re.findall(r"\b(?:f|bf|i|u)\d+(?:_e\dm\d\w*)?\b|\bbool\b|\bcomplex\d+\b", said)
    code = "import json, sys; from ztensor_sqlite import dtypes; print(json.dumps([dtypes.canonical(name) for name in sys.argv[1:]]))"
    assert len(set(listed)) > 20 and json.loads(command.python_code(code, *listed)) == listed


def test_findings_of_a_name_and_of_whole_files(command, models, tmp_path):
    path = GOLDEN / "ztensor" / "golden" / "v1.2" / "hand_digests.zt"
    (tmp_path / "m" / "broken.safetensors").write_bytes(b"\xff" * 16)
    assert [row["rule"] for row in command.json("check", "m", "--name", "nothing*", status=1)] == ["magic"]
    whole = (tmp_path / "m" / "a.safetensors").read_bytes()
    (tmp_path / "m" / "broken.safetensors").write_bytes(whole[:-8])   # Its only finding is about the first tensor that has no bytes
    for words in (["--name", "norm"], ["--name", "n*"], ["--dtype", "f32"], ["--dtype", "q8_0", "--name", "x*"]):
        assert [row["rule"] for row in command.json("check", "m/broken.safetensors", *words, status=1)] == ["data-offsets"]
        assert [row["rule"] for row in command.json("check", "m", *words, status=1)] == ["data-offsets"]
    full = command.json("check", path, "--full", status=1)
    some = command.json("check", path, "--full", "--name", "*.wrong", status=1)
    assert some == [row for row in full if row["object"] is None or row["object"].endswith(".wrong")] and len(some) < len(full)
    typed = command.json("check", path, "--full", "--dtype", "f32", status=1)
    types = {row["object"]: row["dtype"] for row in command.json("ls", path)}
    assert typed == [row for row in full if row["object"] is None or types.get(row["object"]) == "f32"]


# ---- Order

def test_the_largest_number_comes_first(command, models):
    rows = command.json("ls", "m/a.safetensors", "--sort", "stored_bytes")
    assert [row["stored_bytes"] for row in rows] == [12, 8, 4, 4, 2]
    assert [row["stored_bytes"] for row in command.json("ls", "m/a.safetensors", "--sort", "bytes", "--reverse")] == [2, 4, 4, 8, 12]
    assert names(command.json("ls", "m/a.safetensors", "--sort", "object", "--top", 2)) == ["layers.0.k_proj", "layers.0.q_proj"]
    assert [row["path"][-6:] for row in command.json("ls", "m", "--sort", "objects")] == ["ensors", "b.gguf"]
    assert command.json("stats", "m/a.safetensors", "--sort", "max", "--top", 1)[0]["object"] == "layers.0.k_proj"
    assert command.json("diff", "m/a.safetensors", "m/b.gguf", "--map", "none", "--sort", "object", "--top", 1, status=1)[0]["object"] == "blk.0.attn_k"


def test_what_has_no_value_comes_last(command, models, tmp_path):
    safetensors(tmp_path / "nan.safetensors", {"a": floats(float("nan")), "b": floats(2), "c": floats(1)})
    assert names(command.json("stats", "nan.safetensors", "--sort", "max")) == ["b", "c", "a"]


def test_severities_have_an_order(command):
    rows = command.json("check", GOLDEN / "ztensor" / "golden" / "v1.2", "--notes", "--sort", "severity", status=1)
    found = [row["severity"] for row in rows]
    assert [severity for severity, _ in itertools.groupby(found)] in (["error", "warning"], ["error", "warning", "note"])


def test_reverse_without_a_column(command, models):
    assert names(command.json("ls", "m/a.safetensors", "--reverse"))[0] == "n"


def test_the_totals_are_those_of_all(command, models):
    _, err = command("ls", "m/a.safetensors", "--top", 1)
    assert err == "1 file, 5 tensors, 8 parameters, 30 B, 30 bits per weight; f32 2, bf16 1, f16 1, i64 1\n"
    assert command("check", GOLDEN / "ztensor" / "golden" / "v1.2" / "hand_digests.zt", "--top", 0, status=1) == ("", "1 file: 2 errors, 1 warning\n")


def test_no_such_column(command, models):
    assert command.refused("ls", "m", "--sort", "nonsense") == \
        "--sort nonsense: there is no such column; there are path, container, version, size, objects, stored_bytes, error"


# ---- ls -l and totals

def test_ls_long(command, models, tmp_path):
    (tmp_path / "m" / "broken.safetensors").write_bytes(b"\xff" * 16)
    os.utime(models / "a.safetensors", (86400 * 365, 86400 * 365))
    a, b, broken = command.json("ls", "-l", "m", status=1)
    assert (a["objects"], a["parameters"], a["stored_bytes"], a["bits_per_weight"]) == (5, 8, 30, 30)
    assert a["dtypes"] == {"f32": 2, "bf16": 1, "f16": 1, "i64": 1} and a["modified"].startswith(("1970-12-31", "1971-01-01"))
    assert (b["parameters"], b["dtypes"]) == (128 + 256 + 2, {"f32": 1, "q4_k": 1, "q5_0": 1})
    assert b["bits_per_weight"] == round(8 * (2 * 2 * 22 + 144 + 8) / 386, 3)
    assert broken["parameters"] is broken["dtypes"] is None and "broken.safetensors" in broken["error"]
    for words in (["ls", "-l", "m"], ["ls", "m"], ["ls", "m", "--top", 1]):
        assert command(*words, status=1)[1] == \
            "3 files, 8 tensors, 394 parameters, 270 B, 5.482 bits per weight; f32 3, bf16 1, f16 1, i64 1, q4_k 1, q5_0 1; 1 unreadable\n"
    (row,) = command.json("ls", "-l", "m/b.gguf", "--name", "*_q")
    assert row == {"object": "blk.0.attn_q", "dtype": "q5_0", "shape": [2, 64], "elements": 128, "stored_bytes": 88, "format": "gguf.q5_0", "bits_per_weight": 5.5}


def totals(said):
    """(number of files, unreadable ones, the rest) of the last line on stderr."""
    files, rest, unreadable = re.fullmatch(r"([\d,]+) files?, (.*?)(?:; (\d+) unreadable)?", said.splitlines()[-1]).groups()
    return int(files.replace(",", "")), int(unreadable or 0), rest


FORMATS = ("gguf", "ztensor", "pytorch", "pickle", "onnx", "hdf5", "safetensors", "matlab")


@pytest.mark.parametrize("sources, status", [(FORMATS, 1), (("gguf/golden/*.gguf", "ztensor/golden/v2/", "gguf/golden/*.gguf"), 0)], ids=["all", "some"])
def test_totals_are_the_same_however_they_are_counted(command, models, sources, status):
    """Over quantized, sparse and opaque tensors, broken files, and files without tensors: of each file, and of each tensor."""
    sources = [*(str(GOLDEN / source) for source in sources), "m"]
    tensors, said = command("ls", "-t", *sources, "--json", status=status)
    tensors = json.loads(tensors)
    of_path = {row["path"]: [] for row in tensors}
    for row in tensors:
        of_path[row["path"]].append(row)
    of_tensors = totals(said)
    assert of_tensors[0] == len(of_path) and of_tensors[2].startswith(f"{len(tensors):,} tensors, ")
    assert " q5_0 " in of_tensors[2] and " int4 " in of_tensors[2]
    for words in (["ls"], ["ls", "-l"], ["ls", "--top", 3, "--sort", "objects"]):
        out, said = command(*words, *sources, "--json", status=status)
        files, unreadable, rest = totals(said)
        assert rest == of_tensors[2] and (words[-1] == "objects" or files == len(json.loads(out)))
        assert command(*words, *sources, "--csv", status=status)[1] == said
    rows = command.json("ls", "-l", *sources, status=status)
    assert unreadable == sum(row["error"] is not None for row in rows) and bool(unreadable) == bool(status)
    for row in rows:
        own = of_path.get(row["path"], [])
        counted = Counter(tensor["dtype"] or "no type" for tensor in own)
        assert (row["dtypes"] or {}) == counted and (row["parameters"] or 0) == sum(int(tensor["elements"] or 0) for tensor in own), row["path"]


def test_bits_of_a_type_are_an_integer(command):
    """Other values that equal one in SQL are none."""
    code = """import json, sqlite3, sys
from ztensor_sqlite import dtypes
db = sqlite3.connect(":memory:")
of = "SELECT 'quantized_group' AS format, 'u8' AS dtype, NULL AS type, ? AS attributes"
print(json.dumps([db.execute(f"SELECT {dtypes.LOGICAL} FROM ({of})", (text,)).fetchone()[0] for text in sys.argv[1:]]))"""
    given = {'{"bits":4}': "int4", '{"bits":4.0}': "quantized_group", '{"bits":true}': "quantized_group", '{"bits":9}': "quantized_group", "{}": "quantized_group"}
    assert json.loads(command.python_code(code, *given)) == list(given.values())


# ---- Forms

def test_csv_is_as_rfc_4180_says(command, models, tmp_path):
    odd = {'a"b': floats(1), "c,d": floats(2), " e ": floats(3), "f;g": floats(4)}
    safetensors(tmp_path / "odd,name.safetensors", odd)
    out, _ = command("ls", "-t", "odd,name.safetensors", "m/b.gguf", "--csv")
    assert out.splitlines()[1] == '"odd,name.safetensors","a""b",f32,[1],1,4' and out.count("\r\n") == out.count("\n") == 8
    read = list(csv.reader(io.StringIO(out), strict=True))
    assert read[0] == ["path", "object", "dtype", "shape", "elements", "stored_bytes"] and [row[1] for row in read[1:5]] == list(odd)
    for name in ROWS:
        words = [name, "m/a.safetensors", *(["m/a.safetensors"] if name == "diff" else [])]
        header = command(*words, "--csv")[0].splitlines()[0].split(",")
        assert header and all(re.fullmatch(r"\w+", column) for column in header)


def test_one_form_at_a_time(command, models):
    for name in ("ls", "stats", "check"):
        assert command.refused(name, "m", "--json", "--csv") == "--json and --csv exclude each other"


def test_quiet_says_nothing_but_errors(command, models, tmp_path):
    for name, more in (("ls", []), ("stats", []), ("check", []), ("diff", ["m/a.safetensors"]), ("tree", [])):
        assert command(name, "m/a.safetensors", *more, "-q") == ("", "")
    assert command("diff", "m/a.safetensors", "m/b.gguf", "--map", "none", "-q", status=1) == ("", "")
    assert command("export", "m/a.safetensors", "norm", "out.npy", "--quiet") == ("", "")
    assert command("catalog", "m", "-q", "--fingerprint") == ("", "")
    (tmp_path / "m" / "broken.safetensors").write_bytes(b"\xff" * 16)
    assert command("check", "m", "-q", status=1) == command("ls", "m", "-q", status=1) == ("", "")
    out, err = command("stats", "m", "-q", status=1)
    assert out == "" and err.count("\n") == 1 and "broken.safetensors" in err
    assert command("catalog", "m", "-q", status=1) == ("", "")
    out, err = command("ls", "nowhere.zt", "-q", status=2)
    assert out == "" and err.startswith("ztensor-sql: ")


HOSTILE = "a\x1b[2J\r\u202eb\x9b31m\n\tc\u2028"


def test_names_do_nothing_to_a_terminal_in_any_form(command, models, tmp_path):
    """Neither in rows nor in messages. JSON and CSV are read by programs, but terminals show them."""
    folder = tmp_path / "odd"
    path = safetensors(folder / ("p\x1b[2J.safetensors"), {HOSTILE: floats(1, 2)})
    (folder / "q\x1b[2J.safetensors").write_bytes(b"\xff" * 16)
    for words in (["ls", folder], ["ls", "-t", folder], ["stats", folder], ["check", folder], ["ls", "-l", folder], ["tree", path], ["catalog", folder],
                  ["diff", path, tmp_path / "m" / "a.safetensors", "--map", "none"]):
        for form in ([], ["--json"], ["--csv"]):
            done = subprocess.run(command.words([*words, *form]), capture_output=True, cwd=tmp_path, env=command.variables, timeout=60)
            said = (done.stdout + done.stderr).decode()
            assert done.returncode in (0, 1) and not set(said.replace("\r\n", "\n")) & set("\x1b\r\u202e\x9b\u2028"), (words, form, said)
            assert "\t" not in said or not form
    for words in (["stats", path, "--name", HOSTILE.replace("[", "") + "d"], ["export", path, HOSTILE + "d", "x.npy"], ["ls", "n\x1b[2J.zt"], ["shell", "\x1b[2J"],
                  ["export", path, HOSTILE, "x.npy", "--dtype", "\x1b[2J"], ["ls", path, "--sort", "\x1b[2J"], ["export", path, HOSTILE, "no\x1b/x.npy"]):
        assert "\x1b" not in command.refused(*words)
    assert "\x1b" not in command("export", path, HOSTILE, "x\x1b.npy")[1]
    assert HOSTILE in [row["object"] for row in command.json("ls", path)]


def test_every_command_that_has_rows_has_all_options(command):
    for name in ROWS:
        said = command(name, "--help")[0]
        assert all(option in said for option in ("--name GLOB", "--dtype TYPE", "--sort COLUMN", "--reverse", "--top N", "--json", "--csv", "-q, --quiet", "--sql",
                                                 "--remote")), name
