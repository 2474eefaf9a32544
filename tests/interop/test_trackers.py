"""sql/mlflow.sql, sql/optuna.sql and sql/sacred.sql, on databases that the packages themselves wrote (run.sh has them do it)."""
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "sql")]
import readme  # noqa: E402  (it is there only now)
import writer  # noqa: E402
from support import EXTENSION, open_connection, quoted  # noqa: E402

TRACKERS = ROOT / "build" / "interop" / "trackers"
NAMES = ["mlflow", "optuna", "sacred"]
WRITTEN = {"mlflow": ["mlflow"], "optuna": ["optuna-4", "optuna-5"], "sacred": ["sacred"]}
OPTUNA = pytest.mark.parametrize("session", WRITTEN["optuna"], indirect=True)
MLFLOW = pytest.mark.parametrize("session", WRITTEN["mlflow"], indirect=True)
SACRED = pytest.mark.parametrize("session", WRITTEN["sacred"], indirect=True)
EACH = pytest.mark.parametrize("session", sum(WRITTEN.values(), []), indirect=True)
ZONE = "TEST-9"  # that of the writers: Optuna 4 notes local time
STORE = "store [1] 5%"
NET = (17, "bf16,f32")  # parameters and dtypes of the model that all three log
ARRAYS = (10, "f32,i64")  # and of the npz
CODE = (0, None)  # and of a pickled class, which has no arrays


def script(name):
    return ROOT / "sql" / f"{name}.sql"


def catalogued(source):
    """Commands that refresh the session's catalog."""
    return [f".read '{script('refresh')}'", f"INSERT INTO refresh(source) VALUES ({quoted(source)})"]


def views(name):
    return re.findall(r"^CREATE TEMP VIEW (\w+)", script(name).read_text(), re.M)


class Session:
    """The sqlite3 shell with a catalog, in the directory where the tracker's runs ran."""

    def __init__(self, written, directory, database=None):
        self.name = written.split("-")[0]
        self.home = TRACKERS / written
        self.catalog = directory / "catalog.db"
        self.database = database or self.home / f"{self.name}.db"

    def run(self, *commands):
        arguments = ["sqlite3", "-batch", "-json", str(self.catalog), f".load '{EXTENSION}'", f".read '{script('catalog')}'"]
        done = subprocess.run([*arguments, *commands], cwd=self.home, capture_output=True, text=True, timeout=60,
                              env=dict(os.environ, TZ=ZONE))
        return done.stdout, done.stderr

    def open(self):
        """The user's statements before the query."""
        uri = f"file:{quote(str(self.database))}?mode=ro"
        parameter = [f'.parameter set :artifacts "{quoted(STORE)}"'] if self.name == "optuna" else []
        return [*parameter, f"ATTACH {quoted(uri)} AS {self.name}", f".read '{script(self.name)}'"]

    def ask(self, sql, *before):
        """The rows of a statement as tuples; the script is read first."""
        out, err = self.run(*before, *self.open(), sql)
        assert err == "", err
        return [tuple(row.values()) for row in json.loads(out or "[]", object_pairs_hook=lambda pairs: Row(pairs))]

    def note(self, name):
        return json.loads((self.home / name).read_text())


class Row(list):
    """A row of which columns may have the same name."""

    def values(self):
        return [value for _, value in self]


@pytest.fixture
def session(request, tmp_path):
    return Session(request.param, tmp_path)


@pytest.fixture
def ids(session):
    return session.note("ids.json")["ids"]


def seconds(text):
    return datetime.fromisoformat(text + "+00:00").timestamp()


# ----------------------------------------------------------------------------------------------------------- all three

@pytest.mark.parametrize("name", NAMES)
def test_a_comment_before_each_view_says_which_question_it_answers(name):
    comments = re.findall(r"((?:^--.*\n)+)^CREATE TEMP VIEW (\w+)", script(name).read_text(), re.M)
    assert [view for _, view in comments] == views(name)
    assert [view for comment, view in comments if "?" not in comment.splitlines()[0]] == [f"{name}_refresh"]


@EACH
def test_each_view_runs_and_has_rows(session):
    for view in views(session.name):
        columns = "run, length(content)" if view == "sacred_contents" else "*"
        assert session.ask(f"SELECT {columns} FROM {view}", *catalogued(session.home)), view


@EACH
def test_the_trackers_database_is_not_written(session):
    digest = hashlib.sha256(session.database.read_bytes()).hexdigest()
    beside = sorted(os.listdir(session.home))
    # Attached without mode=ro, too
    out, err = session.run(f"ATTACH {quoted(session.database)} AS {session.name}", f".read '{script(session.name)}'",
                           f"SELECT * FROM {session.name}_best_models")
    assert (err, hashlib.sha256(session.database.read_bytes()).hexdigest()) == ("", digest)
    assert sorted(os.listdir(session.home)) == beside


@EACH
def test_reading_the_script_again_replaces_the_rows_of_that_database_only(session):
    others = ("INSERT INTO run_files VALUES "
              f"('{session.name}', '/other.db', 'r', 'n', 'finished', 'p', 1, ''), ('own', 'd', 'r', 'n', 's', 'p', 1, '')")
    stale = f"INSERT INTO run_files VALUES ('{session.name}', {quoted(session.database)}, 'stale', 'n', 'failed', 'p', 1, '')"
    sql = "SELECT * FROM run_files ORDER BY tracker, database, run, path"
    first = session.ask(sql, *catalogued(session.home))
    assert first and {(row[0], row[1]) for row in first} == {(session.name, str(session.database))}
    again = session.ask(sql, others, stale, *session.open(), f"DETACH {session.name}")
    assert [row for row in again if row[1] == str(session.database)] == first
    assert len(again) == len(first) + 2


@EACH
def test_a_refresh_that_fails_changes_nothing(session):
    session.ask("SELECT 1", *catalogued(session.home))
    before = session.ask("SELECT * FROM run_files")
    trap = "CREATE TRIGGER trap BEFORE INSERT ON run_files BEGIN SELECT raise(ABORT, 'no room'); END"
    out, err = session.run(trap, *session.open())
    assert "no room" in err
    assert session.run("SELECT count(*) AS n FROM run_files") == (f'[{{"n":{len(before)}}}]\n', "")


@pytest.mark.parametrize("name", NAMES)
def test_a_database_of_something_else_gives_an_error_and_changes_nothing(name, tmp_path):
    session = Session(WRITTEN[name][0], tmp_path, tmp_path / "empty.db")
    sqlite3.connect(session.database).close()
    session.database.touch()
    rows = f"INSERT INTO run_files VALUES ('{name}', {quoted(session.database)}, 'r', 'n', 'finished', 'p', 1, '')"
    out, err = session.run(rows, *session.open())
    assert "no such table" in err
    assert session.run("SELECT count(*) AS n FROM run_files") == ('[{"n":1}]\n', "")


@pytest.mark.parametrize("name", NAMES)
def test_the_example_in_the_comment(name, tmp_path):
    home = TRACKERS / WRITTEN[name][-1]
    example = "".join(re.findall(r"^--   (.*)\n", script(name).read_text(), re.M)).replace("\\", "")
    shutil.copy(home / f"{name}.db", tmp_path)
    shutil.copy(EXTENSION + ".so", tmp_path / "ztensor.so")
    os.symlink(ROOT / "sql", tmp_path / "sql")
    if name == "optuna":
        os.symlink(home / STORE, tmp_path / "artifacts")
    done = subprocess.run(["sh", "-c", example], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    lines = [[cell.strip() for cell in line.strip("│").split("│")] for line in done.stdout.splitlines() if line.startswith("│")]
    best = [dict(zip(lines[0], line)) for line in lines[1:]]
    column, expected = {"mlflow": ("artifact", ["checkpoints/all/step 1.zt", "net.zt", "model/net.zt", "net.zt"]),
                        "optuna": ("trial", ["1", "1", "0", "4", "4", "8", "0", "0", "0", "2", "1", "1", "0", "2"]),
                        "sacred": ("run", ["2", "2", "0", "0", "0"])}[name]
    assert sorted(row[column] for row in best) == sorted(expected)


@EACH
def test_the_command_that_the_page_shows(session, tmp_path):
    command, = re.findall(rf"^sqlite3 (?:.+\\\n)*?.*sql/{session.name}\.sql(?:(?!```).+\n)+", (ROOT / "sql" / "README.md").read_text(), re.M)
    for old, new in (("catalog.db", session.catalog), ("./ztensor", EXTENSION), ("sql/", f"{ROOT}/sql/"),
                     (f"file:{session.name}.db", f"file:{quote(str(session.database))}"), ("artifacts artifacts", f'artifacts \\"{quoted(STORE)}\\"')):
        command = command.replace(old, str(new))
    session.run()   # Makes the catalog
    done = subprocess.run(["sh", "-c", command], cwd=session.home, capture_output=True, text=True, timeout=60,
                          env=dict(os.environ, TZ=ZONE))
    assert done.stderr == "" and ".zt" in done.stdout


@EACH
def test_the_script_is_plain_sql_for_other_programs(session, monkeypatch):
    monkeypatch.chdir(session.home)
    monkeypatch.setenv("TZ", ZONE)
    time.tzset()
    db = open_connection()
    db.executescript(script("catalog").read_text())
    db.execute(f"ATTACH {quoted(session.database)} AS {session.name}")
    db.executescript(script(session.name).read_text())
    if session.name == "optuna":
        db.execute("UPDATE temp.optuna_store SET directory = ?", (STORE,))
        db.execute("INSERT INTO optuna_refresh SELECT file FROM pragma_database_list WHERE name = 'optuna'")
    columns = "metric, rank_min" if session.name == "mlflow" else "objective, rank" if session.name == "optuna" else "rank_min"
    sql = f"SELECT * FROM {session.name}_best_models ORDER BY {columns}, name, size"
    assert [repr(row) for row in db.execute(sql)] == [repr(row) for row in session.ask(sql)]
    sql = "SELECT * FROM run_files ORDER BY run, path"
    assert db.execute(sql).fetchall() == session.ask(sql)
    db.close()
    monkeypatch.undo()
    time.tzset()


# -------------------------------------------------------------------------------------------------------------- mlflow

@MLFLOW
def test_mlflow_models(session, ids):
    got = session.ask("SELECT name, run, status, artifact, parameters, dtypes, size, error FROM mlflow_models "
                      "WHERE experiment = 'tuning' ORDER BY name, artifact")
    sizes = session.note("ids.json")["sizes"]
    net, step = (*NET, sizes["files/net.zt"]), (63, "f16", sizes["files/step 1.zt"])
    partial = (4, "i8", sizes["files/partial.zt"])
    expected = [("arrays", "FINISHED", "deep/er/arrays.npz", *ARRAYS, sizes["files/arrays.npz"]),
                ("broken", "FINISHED", "broken.zt", None, None, 21),
                ("failed", "FAILED", "partial.zt", *partial), ("killed", "KILLED", "partial.zt", *partial),
                ("large", "FINISHED", "checkpoints/all/step 1.zt", *step), ("large", "FINISHED", "net.zt", *net),
                ("nan", "FINISHED", "net.zt", *net),
                *[(name, "FINISHED", "net.zt", *net) for name in ("other bytes", "other digest", "overwritten")],
                ("pyfunc", "FINISHED", "artifacts/step 1.zt", *step),
                ("pyfunc", "FINISHED", "python_model.pkl", *CODE, ANY), ("running", "RUNNING", "partial.zt", *partial),
                ("same digest", "FINISHED", "net.zt", *net), ("small", "FINISHED", "model/net.zt", *net),
                ("soon", "FINISHED", "net.zt", *net), ("wrong tag", "FINISHED", "net.zt", *net)]
    assert got == [(name, ids[name], *rest, ANY if name == "broken" else None) for name, *rest in expected]
    assert [row[-1][:9] for row in got if row[0] == "broken"] == ["ztensor: "]


class Any:
    def __eq__(self, other):
        return other is not None


ANY = Any()


@MLFLOW
def test_mlflow_best_models(session):
    by_direction = session.ask("SELECT DISTINCT metric, direction, CASE rank WHEN rank_min THEN 'min' END FROM mlflow_best_models ORDER BY metric")
    assert ("val_loss", "min", "min") in by_direction
    assert session.ask("SELECT count(*) FROM mlflow_best_models WHERE direction = 'max' AND rank IS NOT rank_max") == [(0,)]
    got = session.ask("SELECT metric, rank_min, rank_max, value, name, artifact, parameters, dtypes FROM mlflow_best_models "
                      "ORDER BY metric, rank_min, artifact")
    # Not here: what is not finished, whatever its metric; NaN. `bare` has no models; its ranks are missing.
    step = (63, "f16")
    assert got == [
        ("acc", 1, 5, 0.1, "broken", "broken.zt", None, None),
        ("acc", 2, 4, 0.7, "pyfunc", "artifacts/step 1.zt", *step), ("acc", 2, 4, 0.7, "pyfunc", "python_model.pkl", *CODE),
        ("acc", 3, 3, 0.8, "large", "checkpoints/all/step 1.zt", *step), ("acc", 3, 3, 0.8, "large", "net.zt", *NET),
        ("acc", 4, 2, 0.9, "small", "model/net.zt", *NET),
        ("val_loss", 1, 4, 0.1, "large", "checkpoints/all/step 1.zt", *step), ("val_loss", 1, 4, 0.1, "large", "net.zt", *NET),
        ("val_loss", 2, 3, 0.2, "small", "model/net.zt", *NET),
        ("val_loss", 4, 1, pytest.approx(sys.float_info.max), "nan", "net.zt", *NET)]


@MLFLOW
def test_mlflow_failed_models(session):
    assert session.ask("SELECT name, status, artifact, parameters, dtypes FROM mlflow_failed_models ORDER BY name") == [
        ("failed", "FAILED", "partial.zt", 4, "i8"), ("killed", "KILLED", "partial.zt", 4, "i8")]


@MLFLOW
def test_mlflow_changed_models(session):
    got = session.ask("SELECT name, artifact, change, ended, written FROM mlflow_changed_models ORDER BY name")
    # Not here: `soon`, written within the margin; `same digest`; what is still running.
    assert [row[:3] for row in got] == [
        ("other bytes", "net.zt", "another digest"), ("other digest", "net.zt", "another digest"),
        ("overwritten", "net.zt", "written after the run"), ("wrong tag", "net.zt", "another digest")]
    assert [seconds(written) - seconds(ended) for name, *_, ended, written in got if name == "overwritten"] == [3600]


@MLFLOW
def test_mlflow_places(session, ids):
    stored = session.note("ids.json")["stored"]
    assert [name for name, there in stored.items() if not there] == ["s3", "proxied", "dbfs", "nul"]
    got = session.ask("SELECT name, run, artifact, parameters, path FROM mlflow_models WHERE experiment <> 'tuning' ORDER BY name")
    # Also not here, though MLflow can read it: `no uri`, a percent sign in a file: URI that encodes nothing.
    here = sorted(name for name, there in stored.items() if there and name != "no uri")
    assert [row[:4] for row in got] == [(name, ids[name], "sub/net.zt", 17) for name in here]
    assert all(Path(row[4]).is_file() for row in got)


@MLFLOW
def test_mlflow_places_that_cannot_be_files_do_not_end_a_query(session, ids, tmp_path):
    copy = tmp_path / "copy.db"
    shutil.copy(session.database, copy)
    places = ["file://elsewhere/a", "file:///a?b", "file:///a#b", "file:///%zz", "file:///%4", "file:///%", "file:///%00", "file:x",
              "file:", "", None, "s3://b/[", "[", "**", "no/such/place", "/a%zz%41", "C:\\mlruns", "viewfs://x"]
    with sqlite3.connect(copy) as db:
        experiments = dict(db.execute("SELECT name, experiment_id FROM experiments"))
        for i, place in enumerate(places):
            db.execute("INSERT INTO runs(run_uuid, name, status, start_time, end_time, lifecycle_stage, artifact_uri, experiment_id) "
                       "VALUES (?, 'odd', 'FINISHED', 1, 2, 'active', ?, ?)", (f"odd{i}", place, experiments["tuning"]))
    session = Session("mlflow", tmp_path, copy)
    assert session.ask("SELECT count(*), sum(name = 'odd') FROM mlflow_models") == [(24, 0)]
    assert session.ask("SELECT count(*) FROM mlflow_places WHERE run LIKE 'odd%'") == [(len(places),)]


@MLFLOW
def test_models_without_tensors_and_with_more_elements_than_an_integer_holds(session, tmp_path):
    copy, place = tmp_path / "copy.db", tmp_path / "artifacts"
    shutil.copy(session.database, copy)
    place.mkdir()
    huge = {f"t{i}": writer.sparse_coo([1 << 31, 1 << 31], [], b"") for i in range(3)}
    for name, objects in {"none": {}, "one": {"t": huge["t0"]}, "sum": huge,
                          "text": {"t": writer.sparse_coo([1 << 32, (1 << 32) - 1], [], b"")}}.items():
        (place / f"{name}.zt").write_bytes(writer.write(objects))
    with sqlite3.connect(copy) as db:
        db.execute("UPDATE runs SET artifact_uri = ? WHERE name = 'small'", (str(place),))
    got = Session("mlflow", tmp_path, copy).ask(
        "SELECT substr(path, -8), parameters, dtypes, error FROM mlflow_models WHERE name = 'small'")
    most = (1 << 63) - 1
    assert got == [("/none.zt", 0, None, None), ("s/one.zt", 1 << 62, "u8", None), ("s/sum.zt", most, "u8", None),
                   ("/text.zt", most, "u8", None)]


@MLFLOW
def test_mlflow_opens_the_files_of_the_runs_that_are_asked_for(session, ids, tmp_path):
    """The first session fills run_files and opens all; the second has the views only."""
    sql = script("mlflow").read_text()
    (tmp_path / "views.sql").write_text(sql[:sql.index("-- run_files.")])
    asked = "SELECT name, artifact, parameters FROM mlflow_best_models WHERE metric = 'val_loss' AND rank_min <= 1"
    done = subprocess.run(
        ["strace", "-f", "-e", "trace=openat", "-o", tmp_path / "log", "sqlite3", ":memory:", f".load '{EXTENSION}'",
         f".read '{script('catalog')}'", f"ATTACH {quoted(session.database)} AS mlflow", f".read '{tmp_path}/views.sql'", asked],
        cwd=session.home, capture_output=True, text=True, timeout=60)
    assert (sorted(done.stdout.split("\n")), done.stderr) == (["", "large|checkpoints/all/step 1.zt|63", "large|net.zt|17"], "")
    opened = re.findall(r'"(.*\.zt)"', (tmp_path / "log").read_text())
    assert opened and all(ids["large"] in path for path in opened)


@MLFLOW
def test_run_files_of_mlflow(session, ids):
    got = session.ask("SELECT tracker, database, run, name, status, path, logged FROM run_files")
    assert len(got) == 24 and {row[:2] for row in got} == {("mlflow", str(session.database))}
    names = {run: name for name, run in ids.items()}
    assert all(names[run] == name and Path(path).is_file() and os.path.isabs(path) for _, _, run, name, _, path, _ in got)
    assert {row[3]: row[4] for row in got if row[4] != "finished"} == {"failed": "failed", "killed": "KILLED", "running": "running"}
    assert [row[3] for row in got if row[6] is None] == ["running"]
    files = session.ask("SELECT r.name, f.mtime - r.logged FROM run_files AS r JOIN zt_files(r.path) AS f WHERE r.name = 'overwritten'")
    assert files == [("overwritten", pytest.approx(3600, abs=0.01))]


@MLFLOW
def test_the_example_with_checkpoints(session):
    """MLflow has logged the same."""
    database = "tests/formats/pytorch/checkpoints/mlflow.db"
    (program, expected), = [(program, expected) for language, program, expected in readme.examples(readme.TOUR) if database in program]
    assert readme.run("sql", program.replace(database, quote(str(session.home / "checkpoints.db"))), readme.TOUR) == expected
    assert len(expected.splitlines()) == 3 + 6 + 1


# -------------------------------------------------------------------------------------------------------------- optuna

@OPTUNA
def test_optuna_models(session):
    got = session.ask("SELECT study, trial, state, name, parameters, dtypes, size, path, error FROM optuna_models "
                      "ORDER BY study, trial IS NULL, trial, name, path")
    sizes, uploaded = session.note("times.json")["sizes"], session.note("times.json")["uploaded"]
    small, large, odd = (*NET, sizes["small.zt"]), (6300, "f16", sizes["large.zt"]), (3, "u8", sizes["o d [d] %41?.zt"])
    nothing, arrays = (None, None, None), (*ARRAYS, sizes["arrays.npz"])

    def stored(trial, i=0):
        return f"{STORE}/{uploaded[trial][i]}"

    pruned, = [row[7] for row in got if row[2] == "PRUNED"]
    def gone(path):
        return f"ztensor: {path}: cannot open: No such file or directory"

    # A pattern, where there is no such file: [1] is a class.
    ninth = sorted([(stored("9", 0), *nothing, "no such file"), (stored("9", 1), *small, None)])
    expected = [
        ("one", 0, "COMPLETE", "small.zt", *small, stored("0"), None),
        ("one", 1, "COMPLETE", "large.zt", *large, stored("1"), None),
        ("one", 1, "COMPLETE", "model", *small, f"{session.home}/small.zt", None),
        ("one", 3, "COMPLETE", "model", *small, "small.zt", None),
        ("one", 4, "COMPLETE", "files", *small, f"{session.home}/small.zt", None),
        ("one", 4, "COMPLETE", "files", *odd, "o d [d] %41?.zt", None),
        ("one", 5, "FAIL", "model", *small, "small.zt", None),
        ("one", 6, "PRUNED", "small.zt", *small, pruned, None),
        ("one", 7, "RUNNING", "small.zt", *small, stored("7"), None),
        ("one", 8, "COMPLETE", "model", None, None, 21, "broken.zt", ANY),
        ("one", 9, "COMPLETE", "gone", *nothing, f"{session.home}/gone.zt", gone(f"{session.home}/gone.zt")),
        ("one", 9, "COMPLETE", "host", *nothing, "file://elsewhere/m.zt", "not a file here"),
        ("one", 9, "COMPLETE", "later", 3, "i64", sizes["later.zt"], "later.zt", None),
        ("one", 9, "COMPLETE", "no uri", *nothing, "file:///100%.zt", "not a file here"),
        ("one", 9, "COMPLETE", "remote", *nothing, "s3://bucket/m.zt", "not a file here"),
        *[("one", 9, "COMPLETE", "small.zt", *row[1:4], row[0], row[4]) for row in ninth],
        ("one", None, None, "best", *small, "small.zt", None),
        ("one", None, None, "large.zt", *large, stored("study"), None),
        ("three", 0, "COMPLETE", "arrays.npz", *arrays, stored("three"), None),
        ("three", 0, "COMPLETE", "model", *arrays, "arrays.npz", None),
        ("two", 0, "COMPLETE", "model", *small, "small.zt", None),
        ("two", 1, "COMPLETE", "model", *large, "large.zt", None),
        ("two", 2, "COMPLETE", "model", *odd, "o d [d] %41?.zt", None)]
    assert got == expected


@OPTUNA
def test_optuna_best_models(session):
    got = session.ask("SELECT study, objective, direction, rank, value, trial, name, parameters, dtypes FROM optuna_best_models "
                      "ORDER BY study, objective, rank, trial, name, parameters DESC, error")
    infinity, nothing = float("inf"), (None, None)
    # Trial 2 has no models; 3, better than all, violates a constraint; 5 failed, 6 was pruned, 7 is running.
    one = [(2, 0.2, 1, "large.zt", 6300, "f16"), (2, 0.2, 1, "model", *NET), (3, 0.3, 0, "small.zt", *NET),
           (4, 0.4, 4, "files", *NET), (4, 0.4, 4, "files", 3, "u8"), (5, 0.5, 8, "model", *nothing),
           *[(6, 0.6, 9, name, *nothing) for name in ("gone", "host")], (6, 0.6, 9, "later", 3, "i64"),
           *[(6, 0.6, 9, name, *nothing) for name in ("no uri", "remote")], (6, 0.6, 9, "small.zt", *NET),
           (6, 0.6, 9, "small.zt", *nothing)]
    two = [(0, "MINIMIZE", 1, 1.0, 0, "model", *NET), (0, "MINIMIZE", 1, 1.0, 2, "model", 3, "u8"),
           (0, "MINIMIZE", 3, infinity, 1, "model", 6300, "f16"), (1, "MAXIMIZE", 1, infinity, 1, "model", 6300, "f16"),
           (1, "MAXIMIZE", 2, 5.0, 0, "model", *NET), (1, "MAXIMIZE", 3, -infinity, 2, "model", 3, "u8")]
    three = [("three", 0, "MINIMIZE", 1, 1.0, 0, name, *ARRAYS) for name in ("arrays.npz", "model")]
    assert got == [("one", 0, "MINIMIZE", *row) for row in one] + three + [("two", *row) for row in two]


@OPTUNA
def test_optuna_failed_models(session):
    got = session.ask("SELECT study, trial, state, name, parameters, dtypes, path, error FROM optuna_failed_models")
    assert got == [("one", 5, "FAIL", "model", *NET, "small.zt", None)]


@OPTUNA
def test_optuna_changed_models(session):
    times, uploaded = session.note("times.json")["times"], session.note("times.json")["uploaded"]["9"]
    got = session.ask("SELECT study, trial, name, change, path, ended, written FROM optuna_changed_models ORDER BY name, change")
    assert [row[:5] for row in got] == [
        ("one", 9, "gone", "gone", f"{session.home}/gone.zt"), ("one", 9, "later", "written after the trial", "later.zt"),
        ("one", 9, "small.zt", "gone", f"{STORE}/{uploaded[0]}"),
        ("one", 9, "small.zt", "written after the trial", f"{STORE}/{uploaded[1]}")]
    assert [seconds(row[5]) for row in got] == pytest.approx([times["one/9"]] * 4, abs=2)
    assert [row[6] and seconds(row[6]) for row in got] == [None, pytest.approx(times["one/9"] + 3600, abs=2)] * 2


@OPTUNA
def test_optuna_without_a_store(session):
    opened = session.open()[1:]  # :artifacts is not set
    session.open = lambda: opened
    assert session.ask("SELECT count(*), sum(error LIKE '%: No such file or directory') FROM optuna_models WHERE path IS NOT NULL") == [(16, 1)]
    assert session.ask("SELECT name, path, error FROM optuna_models WHERE path IS NULL") == [
        (name, None, "not a file here") for name in ("small.zt", "large.zt", *["small.zt"] * 4, "arrays.npz", "large.zt")]
    assert session.ask("SELECT count(*) FROM run_files WHERE path LIKE 'store%'") == [(0,)]


@OPTUNA
def test_run_files_of_optuna(session):
    times, uploaded = session.note("times.json")["times"], session.note("times.json")["uploaded"]
    got = session.ask("SELECT run, name, status, path, logged FROM run_files ORDER BY CAST(run AS INTEGER), path")
    home, store = session.home, f"{session.home}/{STORE}"
    assert [row[:4] for row in got if row[1] in ("one", "one/5", "one/6", "one/7")] == [
        ("study:1", "one", None, f"{home}/small.zt"), ("study:1", "one", None, f"{store}/{uploaded['study'][0]}"),
        ("6", "one/5", "failed", f"{home}/small.zt"), ("7", "one/6", "PRUNED", ANY), ("8", "one/7", "running", f"{store}/{uploaded['7'][0]}")]
    ninth = [f"{home}/gone.zt", f"{home}/later.zt", *sorted(f"{store}/{id}" for id in uploaded["9"])]
    assert [row for row in got if row[1] == "one/9"] == [
        ("10", "one/9", "finished", path, pytest.approx(times["one/9"], abs=2)) for path in ninth]
    assert {row[1]: row[4] for row in got if row[4]} == pytest.approx(
        {name: time for name, time in times.items() if name != "one/2"}, abs=2)
    assert sorted(row[1] for row in got if row[4] is None) == ["one", "one", "one/7"]


# -------------------------------------------------------------------------------------------------------------- sacred

def ask_catalogued(session, sql):
    return session.ask(sql, *catalogued(session.home))


@SACRED
def test_sacred_models(session):
    runs = session.note("runs.json")["runs"]
    got = session.ask("SELECT run, status, role, name, parameters, dtypes, size, error FROM sacred_models ORDER BY run, role, name")
    size = {name: (session.home / "files" / name).stat().st_size for name in ("partial.zt", "base.zt", "we[i]rd 5%.zt", "net.zt", "arrays.npz")}
    first, partial = (str(runs["first"]), "COMPLETED"), (4, "i8", size["partial.zt"], None)
    kept = (19, "bf16,f32,i8", (session.home / "logged/keep.zt").stat().st_size, None)
    assert got == [
        (*first, "artifact", "checkpoints/keep.zt", *kept), (*first, "artifact", "net.zt", *kept),
        (*first, "artifact", "we[i]rd 5%.zt", *NET, size["we[i]rd 5%.zt"], None),
        (*first, "resource", f"{session.home}/files/base.zt", 20, "f16,f32", size["base.zt"], None),
        (str(runs["second"]), "COMPLETED", "artifact", "arrays.npz", *ARRAYS, size["arrays.npz"], None),
        (str(runs["second"]), "COMPLETED", "artifact", "net.zt", 26, "bf16,f32,i8", size["net.zt"], None),
        (str(runs["broken"]), "COMPLETED", "artifact", "broken.zt", None, None, 21, ANY),
        (str(runs["failed"]), "FAILED", "artifact", "partial.zt", *partial),
        (str(runs["interrupted"]), "INTERRUPTED", "artifact", "partial.zt", *partial),
        (str(runs["late"]), "TIMEOUT", "artifact", "partial.zt", *partial),
        (str(runs["late"] + 1), "RUNNING", "artifact", "partial.zt", *partial)]


@SACRED
def test_of_an_artifact_logged_twice_the_last_counts(session):
    got = session.ask("SELECT zt_value(content, 'weight', 0, 0) FROM sacred_contents WHERE run = '0' AND name = 'net.zt'")
    assert got == [(1.0,)]


@SACRED
def test_sacred_best_models(session):
    got = session.ask("SELECT experiment, rank_min, rank_max, result, run, name, parameters, dtypes FROM sacred_best_models "
                      "ORDER BY rank_min, name")
    # `bare` did best, or worst, and has no models; `broken` has no result.
    assert got == [("tuning", 2, 2, 0.25, "2", "arrays.npz", *ARRAYS), ("tuning", 2, 2, 0.25, "2", "net.zt", 26, "bf16,f32,i8"),
                   ("tuning", 3, 1, 0.5, "0", "checkpoints/keep.zt", 19, "bf16,f32,i8"),
                   ("tuning", 3, 1, 0.5, "0", "net.zt", 19, "bf16,f32,i8"), ("tuning", 3, 1, 0.5, "0", "we[i]rd 5%.zt", *NET)]


@SACRED
def test_sacred_failed_models(session):
    assert session.ask("SELECT status, role, name, parameters, dtypes FROM sacred_failed_models ORDER BY status") == [
        (status, "artifact", "partial.zt", 4, "i8") for status in ("FAILED", "INTERRUPTED", "TIMEOUT")]


@SACRED
def test_sacred_changed_models(session):
    got = ask_catalogued(session, "SELECT run, role, name, path, added, removed, changed, size_now - size_logged, error "
                                  "FROM sacred_changed_models ORDER BY role, name")
    base = f"{session.home}/files/base.zt"
    assert got == [("0", "artifact", "net.zt", f"{session.home}/files/net.zt", 1, 1, 1, 7, None),
                   ("0", "artifact", "we[i]rd 5%.zt", f"{session.home}/files/we[i]rd 5%.zt", 0, 0, 1, 0, None),
                   ("0", "resource", base, base, 0, 0, 1, 0, None)]
    # A resource's file is known without a catalog.
    assert session.ask("SELECT name FROM sacred_changed_models", "DELETE FROM files") == [(base,)]


@SACRED
@pytest.mark.parametrize("content, expected", [
    (None, []), (b"ZTEN1000, but no more", [(0, 3, 0, "unreadable")]),
    (writer.write({"weight": writer.dense(bytes(12), [3, 4]), "other": writer.dense(b"")}), [(1, 2, 1, None)])])
def test_sacred_models_of_which_the_file_is(session, tmp_path, content, expected):
    if content is not None:
        (tmp_path / "net.zt").write_bytes(content)
    got = session.ask("SELECT added, removed, changed, CASE WHEN error LIKE 'ztensor: %' THEN 'unreadable' END "
                      "FROM sacred_changed_models WHERE role = 'artifact' AND run = '0'",
                      *catalogued(tmp_path))
    assert got == expected


@SACRED
def test_run_files_of_sacred(session):
    stopped = session.note("runs.json")["stopped"]
    got = ask_catalogued(session, "SELECT run, name, status, path, logged FROM run_files ORDER BY run, path")
    partial = "files/partial.zt"
    expected = [("0", "finished", "files/base.zt"), ("0", "finished", "files/net.zt"), ("0", "finished", "files/we[i]rd 5%.zt"),
                ("0", "finished", "logged/keep.zt"), ("2", "finished", "files/arrays.npz"),
                ("2", "finished", "files/net.zt"), ("4", "finished", "files/broken.zt"),
                ("5", "failed", partial), ("6", "INTERRUPTED", partial), ("7", "TIMEOUT", partial), ("8", "running", partial)]
    assert [row[:4] for row in got] == [(run, f"tuning/{run}", status, f"{session.home}/{path}") for run, status, path in expected]
    assert [row[4] for row in got[:4]] == pytest.approx([stopped["first"]] * 4, abs=2)
    assert got[-1][4] is None
