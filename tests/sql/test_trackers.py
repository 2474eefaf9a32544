"""Scripts for experiment trackers on databases made by hand, of what the trackers' own cannot be told to have. tests/interop has theirs."""
import io
import os

import numpy
import pytest

import writer
from catalogs import SQL
from support import ROOT, rows

SACRED = """
CREATE TABLE experiment(experiment_id INTEGER PRIMARY KEY, name); INSERT INTO experiment VALUES(1, 'e');
CREATE TABLE run(id INTEGER PRIMARY KEY, run_id, status, result, stop_time, experiment_id);
INSERT INTO run VALUES(1, 'r', 'COMPLETED', 0.5, '2020-01-01 00:00:00', 1);
CREATE TABLE artifact(artifact_id INTEGER PRIMARY KEY, run_id, filename, content);
CREATE TABLE resource(resource_id INTEGER PRIMARY KEY, filename, content); CREATE TABLE runs_resources(run_id, resource_id);"""
MLFLOW = """
CREATE TABLE experiments(experiment_id INTEGER PRIMARY KEY, name, artifact_location); INSERT INTO experiments VALUES(1, 'e', '/none');
CREATE TABLE runs(run_uuid, name, status, end_time, lifecycle_stage, artifact_uri, experiment_id);
CREATE TABLE inputs(source_type, source_id, destination_type, destination_id); CREATE TABLE tags(key, value, run_uuid);
CREATE TABLE latest_metrics(run_uuid, key, value, is_nan);"""
OPTUNA = """
CREATE TABLE studies(study_id INTEGER PRIMARY KEY, study_name); INSERT INTO studies VALUES(1, 's');
CREATE TABLE version_info(library_version); INSERT INTO version_info VALUES('4.0.0');
CREATE TABLE trials(trial_id INTEGER PRIMARY KEY, number, study_id, state, datetime_start, datetime_complete);
CREATE TABLE trial_user_attributes(trial_id, key, value_json); CREATE TABLE study_user_attributes(study_id, key, value_json);
CREATE TABLE trial_system_attributes(trial_id, key, value_json); CREATE TABLE study_system_attributes(study_id, key, value_json);
CREATE TABLE trial_values(trial_id, objective, value, value_type); CREATE TABLE study_directions(study_id, objective, direction);"""


@pytest.fixture
def catalog(db, tmp_path, monkeypatch):
    """catalog(): a catalog of the current directory."""
    monkeypatch.chdir(tmp_path)

    def catalog():
        db.executescript((SQL / "catalog.sql").read_text())
        db.executescript((SQL / "refresh.sql").read_text())
        db.execute("INSERT INTO refresh(source) VALUES('.')")
        return db

    return catalog


def npy(values):
    out = io.BytesIO()
    numpy.save(out, numpy.array(values, "f4"))
    return out.getvalue()


def npz(**arrays):
    out = io.BytesIO()
    numpy.savez(out, **{name: numpy.array(values, "f4") for name, values in arrays.items()})
    return out.getvalue()


def scattered(dtype, fill):
    """Bytes in several places."""
    import write_msgpack as msgpack
    parts = [msgpack.array([2], dtype, bytes([fill] * 8)) for _ in range(2)]
    return msgpack.pack({"w": msgpack.chunked(msgpack.in_order([4]), msgpack.in_order(parts)), "t": "text"})


SHARDED = writer.write_2({"w": writer.in_shard("s", 4096, 3)}, shards={"s": writer.data_shard(b"abc")})
NPZ = npz(a=[1, 2], b=[3])
LOST = NPZ[:26] + b"\1" + NPZ[27:]   # The local header of a has another name
OUTSIDE = (ROOT / "tests/formats/tflite/golden/external/hand.tflite").read_bytes()   # A bit of it puts its tensors inside
LOGGED = {  # name: what was logged, what is there, same, (added, removed, changed)
    "same.npy": (npy([1, 2, 3]), npy([1, 2, 3]), 1, None),
    "values.npy": (npy([1, 2, 3]), npy([9, 9, 9]), 0, (0, 0, 1)),
    "shape.npy": (npy([1, 2, 3]), npy([1, 2]), 0, (0, 0, 1)),
    "two.npy": (npy([1]) + npy([2]), npy([1]) + npy([3]), 0, (0, 0, 1)),
    "same.msgpack": (scattered("float32", 1), scattered("float32", 1), 1, None),
    "values.msgpack": (scattered("float32", 1), scattered("float32", 2), 0, (0, 0, 1)),
    "text.msgpack": (scattered("float32", 1), scattered("float32", 1).replace(b"text", b"tent"), 0, (0, 0, 0)),
    "same.zt": (SHARDED, SHARDED, 1, None),
    "lost.npz": (NPZ, LOST, 0, (0, 0, 1)), "same lost.npz": (LOST, LOST, 1, None),
    "inside.tflite": (OUTSIDE, OUTSIDE[:53] + bytes([OUTSIDE[53] ^ 1]) + OUTSIDE[54:], 0, (0, 0, 3)),
    "shard.zt": (writer.data_shard(b"abc"), writer.data_shard(b"abc"), 1, None),
}


def test_what_sacred_logged_is_compared_with_what_is_there(catalog):
    db = catalog()
    db.execute("ATTACH ':memory:' AS sacred")
    db.executescript(SACRED.replace("CREATE TABLE ", "CREATE TABLE sacred.").replace("INSERT INTO ", "INSERT INTO sacred."))
    for name, (logged, there, _, _) in LOGGED.items():
        with open(name, "wb") as file:
            file.write(there)
        db.execute("INSERT INTO sacred.artifact(run_id, filename, content) VALUES('r', ?, ?)", (name, logged))
    catalog()
    db.executescript((SQL / "sacred.sql").read_text())
    assert dict(rows(db, "SELECT name, same FROM sacred_compared")) == {name: same for name, (_, _, same, _) in LOGGED.items()}
    assert {name: tuple(counts) for name, *counts in rows(db, "SELECT name, added, removed, changed FROM sacred_changed_models")} == {
        name: counts for name, (_, _, same, counts) in LOGGED.items() if not same}


@pytest.mark.parametrize("table", ["artifact", "resource"])
def test_a_content_that_is_text_is_no_path(catalog, table):
    """It would show another file than the one that was logged."""
    with open("there.zt", "wb") as file:
        file.write(writer.sample())
    db = catalog()
    db.execute("ATTACH ':memory:' AS sacred")
    db.executescript(SACRED.replace("CREATE TABLE ", "CREATE TABLE sacred.").replace("INSERT INTO ", "INSERT INTO sacred."))
    db.execute("INSERT INTO sacred.artifact(run_id, filename, content) VALUES('r', 'logged.zt', 'there.zt')" if table == "artifact" else
               "INSERT INTO sacred.resource(resource_id, filename, content) VALUES(1, 'logged.zt', 'there.zt')")
    db.execute("INSERT INTO sacred.runs_resources VALUES('r', 1)")
    db.executescript((SQL / "sacred.sql").read_text())
    assert rows(db, "SELECT role, name, parameters, size, error FROM sacred_models") == [
        (table, "logged.zt", None, len("there.zt"), "ztensor: <blob>: not a tensor file of a known format")]


def test_mlflow_finds_names_in_capitals_as_a_refresh_does(catalog):
    names = ["Model.SAFETENSORS", "MODEL.PT", "sub/w.Zt", "PyTorch_Model.BIN", "notes.TXT", "[x].ZT"]
    for name in names:
        os.makedirs(os.path.dirname(f"r1/artifacts/{name}"), exist_ok=True)
        with open(f"r1/artifacts/{name}", "wb") as file:
            file.write(writer.sample())
    db = catalog()
    db.execute("ATTACH ':memory:' AS mlflow")
    db.executescript(MLFLOW.replace("CREATE TABLE ", "CREATE TABLE mlflow.").replace("INSERT INTO ", "INSERT INTO mlflow."))
    db.execute("INSERT INTO mlflow.runs VALUES('r1', 'n', 'FINISHED', 1000, 'active', ?, 1)", (f"{os.getcwd()}/r1/artifacts",))
    db.executescript((SQL / "mlflow.sql").read_text())
    names.remove("notes.TXT")
    assert sorted(rows(db, "SELECT artifact FROM mlflow_models")) == sorted((name,) for name in names)
    assert rows(db, "SELECT path FROM run_files ORDER BY 1") == rows(db, "SELECT path FROM files ORDER BY 1") != []


def test_a_path_with_a_colon_behind_a_slash_is_no_uri(catalog):
    for name in ("runs/2026-11-29T12:00:00/model.zt", "runs/plain/model.zt"):
        os.makedirs(os.path.dirname(name))
        with open(name, "wb") as file:
            file.write(writer.sample())
    db = catalog()
    db.execute("ATTACH ':memory:' AS optuna")
    db.executescript(OPTUNA.replace("CREATE TABLE ", "CREATE TABLE optuna.").replace("INSERT INTO ", "INSERT INTO optuna."))
    paths = {1: "runs/2026-11-29T12:00:00/model.zt", 2: "runs/plain/model.zt", 3: "s3:model.zt", 4: "a+b.c-1:model.zt"}
    for trial, path in paths.items():
        db.execute("INSERT INTO optuna.trials VALUES(?1, ?1, 1, 'COMPLETE', '2026-11-29 12:00:00', '2026-11-29 12:00:00')", (trial,))
        db.execute("INSERT INTO optuna.trial_user_attributes VALUES(?, 'model', json_quote(?))", (trial, path))
    db.executescript((SQL / "optuna.sql").read_text().replace(":artifacts", "NULL"))
    assert {trial for trial, parameters in rows(db, "SELECT trial, parameters FROM optuna_models") if parameters} == {1, 2}
    assert {run for run, in rows(db, "SELECT run FROM run_files")} >= {"1", "2"}
