"""Sources of `ztensor-sql`: several of them, pipes, URLs, catalogs and folders without tensor files."""
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time

import numpy as np
import pytest
from commanding import GOLDEN, Command, Server
from tensor_files import floats, safetensors

TENSOR_COMMANDS = {"ls": (), "stats": (), "check": (), "export": ("w", "out.npy")}


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture
def runs(tmp_path):
    """Three runs, each with a model, one of whose names begins like a JSON array, and one like a pattern."""
    names = [("1", "model"), ("2", "model"), ("3", '["a"]'), ("3", "[b]")]
    return [safetensors(tmp_path / "runs" / run / f"{name}.safetensors", {"w": floats(i, 1), "b": floats(i)}) for i, (run, name) in enumerate(names)]


def paths(rows):
    return [row["path"] for row in rows]


# ---- Several sources

def test_a_shells_glob_gives_several_sources(command, runs):
    """The words are in one list, in which names are what they are."""
    done = subprocess.run(["sh", "-c", f"{command.typed} ls runs/*/*.safetensors --json"], capture_output=True, text=True,
                          cwd=command.directory, env=command.variables, timeout=60)
    names = sorted(f"runs/{path.parent.name}/{path.name}" for path in runs)
    assert done.returncode == 0 and sorted(paths(json.loads(done.stdout))) == names
    assert sorted(paths(command.json("stats", *runs, "--name", "w"))) == sorted(map(str, runs))
    assert command("check", *runs)[1] == "4 files: 0 errors, 0 warnings\n"


@pytest.mark.parametrize("words, found", [
    (['["a"].safetensors', "[b].safetensors"], ['["a"].safetensors', "[b].safetensors"]), (['["a"].safetensors'], 1), (["[b].safetensors"], 1),
    (['["*.safetensors"]', "[b].safetensors"], ['["a"].safetensors', "[b].safetensors"]), (["[bc].safetensor[s]"], ["[b].safetensors"]),
    (["[!c]*.safetensors"], ['["a"].safetensors', "[b].safetensors"]), (['["[b].safetensors"]'], ["[b].safetensors"])])
def test_names_that_begin_with_a_bracket(command, runs, words, found):
    """A name is itself, a JSON array is a list, and anything else is a pattern."""
    command.directory = runs[2].parent
    if words == ["[bc].safetensor[s]"]:
        words = ["[[]b[]].safetensor[s]"]
    rows = command.json("ls", *words)
    assert len(rows) == 2 and "dtype" in rows[0] if found == 1 else paths(rows) == found


def test_a_source_that_is_missing_among_others_is_told(command, runs):
    rows = command.json("ls", "nowhere.zt", runs[0], status=1)
    assert paths(rows) == ["nowhere.zt", str(runs[0])] and "No such file" in rows[0]["error"]
    for name in ("stats", "ls"):
        out, err = command(name, "nowhere.zt", runs[0], "--name", "w", status=1)
        assert len(out.splitlines()) == 2 and err.count("nowhere.zt: cannot open: No such file or directory") == 1


def test_a_file_without_tensors_among_others_is_no_trouble(command, runs, tmp_path):
    empty = safetensors(tmp_path / "empty.safetensors", {})
    (tmp_path / "broken.safetensors").write_bytes(b"\xff" * 16)
    for name in ("stats", "ls"):
        words = [name, empty, *runs, *(["-t"] if name == "ls" else [])]
        out, err = command(*words)
        assert len(out.splitlines()) == 1 + 8 and "empty" not in err
        assert "broken.safetensors" in command(*words, "broken.safetensors", status=1)[1]


def test_two_paths_of_one_file_are_one_row_only_if_they_are_the_same(command, runs):
    assert len(command.json("ls", runs[0], runs[0], runs[1])) == 2


def test_a_name_that_is_not_utf8_among_several(command, runs, tmp_path):
    odd = tmp_path / os.fsdecode(b"m\xff.safetensors")
    shutil.copy(runs[0], odd)
    out, _ = command("ls", odd.name, runs[0])
    assert [line.split("\t")[0] for line in out.splitlines()[1:]] == [odd.name, str(runs[0])]


# ---- Models in several files

@pytest.fixture
def sharded(tmp_path):
    folder = tmp_path / "sharded"
    index = {}
    for i in (1, 2):
        path = safetensors(folder / f"model-0000{i}-of-00002.safetensors", {f"layer.{i}": floats(i, 2)})
        index[f"layer.{i}"] = path.name
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": 16}, "weight_map": index}))
    return folder


def test_a_model_in_several_files_is_one(command, sharded, tmp_path):
    """Its tensors have no path beside them, and are found by their names."""
    for words in (["sharded"], ["sharded/model.safetensors.index.json"], sorted(sharded.glob("*.safetensors")), ["sharded/*.safetensors"]):
        rows = command.json("stats", *words)
        assert [(row["object"], row["max"]) for row in rows] == [("layer.1", 2), ("layer.2", 2)] and "path" not in rows[0]
        assert command.json("tree", *words)[0]["tensors"] == 2
        command("export", *words, "layer.2", "w2.npy")
        assert np.load(tmp_path / "w2.npy").tolist() == [2, 2]
    assert "did you mean 'layer.2' or 'layer.1'?" in command.refused("export", "sharded", "layer.3", "out.npy")
    assert paths(command.json("ls", "sharded/model.safetensors.index.json")) == ["sharded/model-00001-of-00002.safetensors", "sharded/model-00002-of-00002.safetensors"]
    (sharded / "model-00002-of-00002.safetensors").unlink()
    out, err = command("stats", "sharded", status=1)
    assert len(out.splitlines()) == 2 and "model-00002-of-00002.safetensors" in err
    assert "model-00002-of-00002.safetensors" in command.refused("export", "sharded", "layer.2", "out.npy")
    assert "model-00002-of-00002.safetensors" in command("ls", "sharded/model.safetensors.index.json", status=1)[1]
    safetensors(sharded / "model-00002-of-00002.safetensors", {}).write_bytes(b"\xff" * 16)
    (sharded / "model-00001-of-00002.safetensors").unlink()
    _, err = command("stats", "sharded/model.safetensors.index.json", status=1)   # Both faults are told
    assert "model-00001-of-00002.safetensors" in err and "model-00002-of-00002.safetensors" in err


def test_a_name_in_several_files_is_refused(command, runs):
    assert "more than one tensor has the name 'w', in " in command.refused("export", *runs, "w", "out.npy")
    assert command("export", runs[1], "b", "-")[0].endswith("\n\0\0\udc80?")   # 1 as f32


# ---- Pipes

def piped(command, shell, status=0, script="bash"):
    """What a line of a shell gives, in which $Z is the command. No copy of a pipe is left."""
    there = command.directory / "tmp"
    there.mkdir(exist_ok=True)
    done = subprocess.run([script, "-c", shell.replace("$Z", command.typed)], capture_output=True, cwd=command.directory,
                          env={**command.variables, "TMPDIR": str(there)}, timeout=60)
    assert done.returncode == status, (done.stdout, done.stderr)
    assert list(there.iterdir()) == []
    return done.stdout.decode(errors="replace"), done.stderr.decode()


def files_of_one(container):
    """A file of the format that needs no other file."""
    folder = {"hdf5": "hdf5/golden", "pickle": "pickle/golden"}.get(container, f"{container}/golden")
    found = [path for path in sorted((GOLDEN / folder).rglob("*")) if path.is_file() and path.suffix not in (".json", ".py", ".md", ".txt", ".sql")]
    return found[0]


@pytest.mark.parametrize("way", ["cat {} | $Z ls - --csv", "cat {} | $Z ls /dev/stdin --csv", "$Z ls - --csv < {}", "$Z ls <(cat {}) --csv",
                                 "mkfifo pipe; cat {} > pipe & $Z ls pipe --csv"])
def test_what_comes_out_of_a_pipe_is_read(command, runs, way):
    out, err = piped(command, way.format(runs[1]))
    assert out == 'object,dtype,shape,elements,stored_bytes\r\nw,f32,[2],2,8\r\nb,f32,[1],1,4\r\n'
    assert err == "1 file, 2 tensors, 3 parameters, 12 B, 32 bits per weight; f32 2\n"


def test_a_pipe_has_its_own_name(command, runs):
    """It is `-`, wherever a path is shown; and the copy's path is nowhere."""
    out, err = piped(command, f"cat {runs[1]} | $Z ls -l - {runs[0]} --json")
    assert paths(json.loads(out)) == ["-", str(runs[0])]
    out, err = piped(command, f"cat {runs[1]} | $Z stats - {runs[0]}")
    assert [line.split("\t")[0] for line in out.splitlines()[1:]] == ["-", "-", str(runs[0]), str(runs[0])]
    assert piped(command, "echo hello there | $Z stats -", 2)[1] == "ztensor-sql: ztensor: -: not a tensor file of a known format\n"
    assert piped(command, "true | $Z ls -", 2)[1] == "ztensor-sql: ztensor: -: the file is empty\n"
    out, _ = piped(command, f"$Z diff <(cat {runs[0]}) <(cat {runs[1]}) --json", 1)
    assert {row["object"] for row in json.loads(out)} == {"w", "b"}
    assert piped(command, f"cat {runs[1]} | $Z diff - {runs[1]}")[1] == "2 tensors: 2 the same, 0 not\n"


def test_a_format_in_several_files_says_what_is_missing(command):
    path = GOLDEN / "onnx" / "golden" / "external" / "hand.onnx"
    out, _ = piped(command, f"cat {path} | $Z stats - --json")
    errors = [row["error"] for row in json.loads(out) if row["error"]]
    assert errors and all(error.startswith("ztensor: -: object ") and "ztensor-" not in error for error in errors)


@pytest.mark.parametrize("container", ["safetensors", "gguf", "npz", "pytorch", "onnx", "tflite", "matlab", "msgpack", "hdf5"])
def test_every_format_in_one_file_can_come_out_of_a_pipe(command, container, tmp_path):
    path = files_of_one(container)
    out, _ = piped(command, f"cat '{path}' | $Z ls - --json", script="sh")
    assert json.loads(out) == command.json("ls", path)


def test_an_array_that_comes_out_of_a_pipe_is_called_stdin(command, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(3))
    assert json.loads(piped(command, "cat x.npy | $Z ls - --json")[0])[0]["object"] == "stdin"


def test_a_copy_is_removed_whatever_ends_the_command(command, runs, tmp_path):
    there = tmp_path / "tmp"
    there.mkdir()
    for how in (signal.SIGKILL, signal.SIGINT):
        with subprocess.Popen(command.words(["stats", "-"]), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              cwd=tmp_path, env={**command.variables, "TMPDIR": str(there)}) as done:
            done.stdin.write(runs[0].read_bytes())
            done.stdin.flush()
            _until(lambda: list(there.iterdir()))
            done.send_signal(how)
            assert done.wait(60) == -how
        _until(lambda: not list(there.iterdir()))


KILLED = """
import os, signal, sys

events, most, place, *words = 0, int(sys.argv[1]), *sys.argv[2:]

def look(event, values):
    global events
    if event in ("open", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.rename") and str(values[0]).startswith(place):
        events += 1
        if events > most:
            os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(look)
from ztensor_sqlite import command

command.main(words)
"""


@pytest.mark.parametrize("words, input, left", [(["stats", "-"], "m.safetensors", []), (["export", "m.safetensors", "w", "{}/o.npy"], None, ["o.npy"]),
                                                (["migrate", "{}", "--write"], None, ["old.zt"])])
def test_nothing_unfinished_stays_whenever_the_command_is_killed(command, tmp_path, words, input, left):
    """The process kills itself before the first thing that it does in a directory, before the second and so on, until nothing is left
    to do."""
    safetensors(tmp_path / "m.safetensors", {"w": floats(1, 2)})
    there = tmp_path / "there"
    there.mkdir()
    if words[0] == "migrate":
        shutil.copy(GOLDEN / "ztensor" / "golden" / "v1.2" / "wheel_save_file.zt", there / "old.zt")
    for most in range(100):
        done = subprocess.run([command.python, "-c", KILLED, str(most), str(there), *(word.format(there) for word in words)], cwd=tmp_path,
                              input=(tmp_path / input).read_bytes() if input else b"", timeout=60, env={**command.variables, "TMPDIR": str(there)})
        _until(lambda: {path.name for path in there.iterdir()} <= set(left))
        if done.returncode == 0:
            break
        assert done.returncode == -signal.SIGKILL
    assert 3 <= most < 99 and [path.name for path in there.iterdir()] == left


def _until(true):
    for _ in range(600):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within 30 s")


def test_no_room_for_a_copy_is_told(command, runs):
    """A file system of one page. A limit on the size of files has the same effect as a full disk, but another message."""
    done = subprocess.run(["bash", "-c", f"ulimit -f 1; trap '' XFSZ; head -c 100000 /dev/zero | {command.typed} ls -"], capture_output=True,
                          text=True, cwd=command.directory, env=command.variables, timeout=60)
    assert done.returncode == 2 and done.stderr == "ztensor-sql: -: File too large\n"


def test_a_catalog_is_of_no_pipe(command):
    for name in ("catalog", "serve"):
        assert command.refused(name, "-") == "-: a catalog is of files and not of a pipe"


# ---- URLs, catalogs, empty folders

def test_a_url_says_what_opens_it(command, runs):
    url = "https://host.test/m.safetensors"
    for words in (["ls", url], ["stats", url], ["export", url, "w", "out.npy"], ["check", url]):
        if words[0] != "check":   # An unreadable file is a finding there
            assert command.refused(*words) == f"{url}: this is a URL, and nothing is sent unless --remote is given: `ztensor-sql --remote ls {url}` opens it"
    command.variables["ZTENSOR_REMOTE"] = "https://elsewhere.test"
    for words in (["--remote", "ls", url], ["ls", "--remote", url]):
        assert "not allowed" in command.refused(*words)


def test_a_catalog_says_that_it_is_one(command, runs, tmp_path):
    command("catalog", "runs", "--db", "catalog.db")
    with sqlite3.connect(tmp_path / "other.db") as db:
        db.execute("CREATE TABLE t(x)")
    before = {path: path.read_bytes() for path in tmp_path.glob("*.db*")}
    for name, more in TENSOR_COMMANDS.items():
        said = command.refused(name, "catalog.db", *more)
        assert said.startswith("catalog.db: this is a catalog; `ztensor-sql serve catalog.db` shows it, and `ztensor-sql shell catalog.db -c ")
        assert command.refused(name, "other.db", *more).startswith("other.db: this is an SQLite database, and no tensor file; `ztensor-sql shell other.db`")
    assert command("shell", "catalog.db", "-c", "SELECT path FROM files ORDER BY path LIMIT 1")[0].strip().endswith("runs/1/model.safetensors")
    assert {path: path.read_bytes() for path in tmp_path.glob("*.db*")} == before


@pytest.mark.parametrize("words", [["ls", "E"], ["ls", "-t", "E"], ["ls", "E", "E/x*"], ["stats", "E"], ["check", "E"], ["export", "E", "w", "out.npy"],
                                   ["diff", "E", "E"], ["tree", "E"], ["catalog", "E"], ["serve", "E", "--port", "0"]])
def test_an_empty_folder_is_the_same_to_all_commands(command, tmp_path, words):
    (tmp_path / "empty").mkdir()
    said = command.refused(*(word.replace("E", "empty") for word in words))
    assert said in ("empty: there is no tensor file", "empty, empty/x*: there is no tensor file")
    assert os.listdir(tmp_path) == ["empty"] and os.listdir(tmp_path / "empty") == []


def test_a_folder_that_was_emptied_is_told_and_its_files_are_removed(command, runs):
    command("catalog", "runs", "--db", "catalog.db")
    for path in runs:
        path.unlink()
    out, err = command("catalog", "runs", "--db", "catalog.db", "--json", status=2)
    assert json.loads(out)[0]["removed"] == 4 and err == "ztensor-sql: runs: there is no tensor file\n"


# ---- Where catalogs are

def test_a_catalog_is_put_into_no_folder_that_it_describes(command, runs, tmp_path):
    """It is in the user's directory of state, the same one each time, for the same sources."""
    folder = tmp_path / "runs"
    before = sorted(folder.rglob("*"))
    command.directory = folder
    for words in (["."], [folder], [str(folder) + "/"], ["../runs"]):
        _, err = command("catalog", *words)
        assert err.startswith(f"catalog: {tmp_path}/state/ztensor-sqlite/runs-") and err.endswith(".db\n")
    command("catalog", "1", "2")
    command("catalog", "2", "1")
    command("catalog", "*/*")
    assert sorted(folder.rglob("*")) == before
    assert [path.name.partition("-")[0] for path in sorted((tmp_path / "state" / "ztensor-sqlite").iterdir())] == ["1", "catalog", "runs"]
    assert (tmp_path / "state" / "ztensor-sqlite").stat().st_mode & 0o777 == 0o700


def test_nor_does_serve_put_one_there(command, runs, tmp_path):
    """Its catalog is the one that `catalog` makes of the same sources."""
    before = sorted((tmp_path / "runs").rglob("*"))
    command.directory = tmp_path / "runs"
    _, err = command("catalog", "1", "3")
    with Server(command, "3", "1", "--quick", log=tmp_path / "log") as server:
        assert server.get("/-/ztensor")[0] == 200
    assert err == "catalog: {}\n".format(*(tmp_path / "state" / "ztensor-sqlite").glob("*.db"))
    assert sorted((tmp_path / "runs").rglob("*")) == before


def test_it_is_put_where_it_is_told(command, runs, tmp_path):
    assert command("catalog", "runs", "--db", "runs/own.db")[1] == ""
    assert (tmp_path / "runs" / "own.db").exists() and not (tmp_path / "state").exists()


def test_a_source_around_the_users_directory_needs_a_name(command, runs, tmp_path):
    for source in (tmp_path, tmp_path / "**" / "*.safetensors"):
        assert f"the catalog would be in this folder, as {tmp_path}/state/" in command.refused("catalog", source)
    assert not (tmp_path / "state").exists()


def test_a_users_directory_that_cannot_be_made(command, runs, tmp_path):
    (tmp_path / "state").write_text("a file")
    assert "--db names another file" in command.refused("catalog", "runs")


@pytest.mark.parametrize("broken, status", [(b"\xff" * 16, 1), (b"BZh91AY&SY" + bytes(30), 1), (None, 0)])
def test_catalog_tells_of_unreadable_files_by_its_status(command, runs, tmp_path, broken, status):
    if broken:
        (tmp_path / "runs" / "broken.pkl").write_bytes(broken)
    for name in ("catalog", "ls"):
        command(name, "runs", status=status)
