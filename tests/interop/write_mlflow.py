"""Writes an MLflow database, mlflow.db, with artifacts, and checkpoints.db, with those of the example in sql/EXAMPLES.md:
python write_mlflow.py DIRECTORY CHECKPOINTS. ids.json says which run is which."""
import hashlib
import json
import logging
import os
import sqlite3
import sys
import warnings

os.environ.update(MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", GIT_PYTHON_REFRESH="quiet")
warnings.simplefilter("ignore")

import ml_dtypes  # noqa: E402
import mlflow  # noqa: E402
import numpy  # noqa: E402
import ztensor  # noqa: E402

LATER = 3600  # seconds after the end of its run that a changed file has been written


def save(path, compress=None, checksum="sha256", **arrays):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with ztensor.Writer(path) as writer:
        for name, array in arrays.items():
            writer.write_numpy(name, array, compress=compress, checksum=checksum)
    return path


def small(fill=0):
    return {"weight": numpy.full((3, 4), fill, "float32"), "bias": numpy.arange(5).astype(ml_dtypes.bfloat16)}


def digest(array):
    """The file's record of that array, stored raw."""
    return "sha256:" + hashlib.sha256(array.tobytes()).hexdigest()


def run(name, experiment, artifacts=(), metrics=None, status="FINISHED", tags=None):
    """A run with artifacts: (file, directory of the artifact)."""
    started = mlflow.start_run(experiment_id=experiment, run_name=name)
    for path, place in artifacts:
        mlflow.log_artifact(path, place)
    for key, value in (metrics or {}).items():
        mlflow.log_metric(key, 0.5)
        mlflow.log_metric(key, value)
    mlflow.set_tags(tags or {})
    mlflow.end_run(status)
    ids[name] = started.info.run_id
    return started.info.run_id


def artifact(name, path):
    """Where an artifact of a run of the experiment `tuning` is."""
    return f"mlruns/{tuning}/{ids[name]}/artifacts/{path}"


def shift(name, path, seconds):
    """As if the artifact had been written so long after its run ended."""
    ended = client.get_run(ids[name]).info.end_time / 1000
    os.utime(artifact(name, path), (ended + seconds, ended + seconds))


logging.getLogger("mlflow").setLevel(logging.ERROR)
directory, checkpoints = map(os.path.abspath, sys.argv[1:])
os.makedirs(directory, exist_ok=True)
os.chdir(directory)
directory = os.getcwd()
mlflow.set_tracking_uri("sqlite:///mlflow.db")
client = mlflow.MlflowClient()
ids = {}

net = save("files/net.zt", **small())
step = save("files/step 1.zt", compress=3, head=numpy.zeros((7, 9), "float16"))
partial = save("files/partial.zt", embed=numpy.ones((2, 2), "int8"))
arrays = "files/arrays.npz"
numpy.savez(arrays, a=numpy.zeros((2, 3), "float32"), b=numpy.arange(4, dtype="int64"))
for name, data in {"notes.txt": b"no tensors", "broken.zt": b"ZTEN1000, but no more"}.items():
    with open(f"files/{name}", "wb") as file:
        file.write(data)

# --- One experiment where MLflow puts it by itself, with runs of every state ---

tuning = mlflow.create_experiment("tuning")
run("small", tuning, [(net, "model")], {"acc": 0.9, "val_loss": 0.2})
run("large", tuning, [(net, None), (step, "checkpoints/all")], {"acc": 0.8, "val_loss": 0.1})
run("bare", tuning, [("files/notes.txt", None)], {"acc": 0.95, "val_loss": 0.3})
run("nan", tuning, [(net, None)], {"acc": float("nan"), "val_loss": float("inf")})
run("broken", tuning, [("files/broken.zt", None)], {"acc": 0.1})
run("arrays", tuning, [(arrays, "deep/er")])
run("killed", tuning, [(partial, None)], {"acc": 0.99}, "KILLED")
run("deleted", tuning, [(net, None)], {"acc": 1.0})
client.delete_run(ids["deleted"])
try:
    with mlflow.start_run(experiment_id=tuning, run_name="failed") as started:
        ids["failed"] = started.info.run_id
        mlflow.log_artifact(partial)
        mlflow.log_metric("acc", 0.98)
        raise ValueError("diverged")
except ValueError:
    pass
ids["running"] = client.create_run(tuning, run_name="running").info.run_id
client.log_artifact(ids["running"], partial)
client.log_metric(ids["running"], "acc", 0.97)


class Model(mlflow.pyfunc.PythonModel):
    def predict(self, model_input: list[str]) -> list[str]:
        return model_input


with mlflow.start_run(experiment_id=tuning, run_name="pyfunc") as started:
    ids["pyfunc"] = started.info.run_id
    mlflow.log_metric("acc", 0.7)
    model = mlflow.pyfunc.log_model(name="net", python_model=Model(), artifacts={"weights": step}, pip_requirements=[])
    ids["model"] = model.model_id

# --- Files that changed, and some that did not ---

tags = {f"digest:net.zt:{name}:data": digest(array) for name, array in small().items()}
for name in ("overwritten", "deleted file", "soon"):
    run(name, tuning, [(net, None)])
for name in ("same digest", "other digest", "other bytes", "wrong tag"):
    run(name, tuning, [(net, None)], tags=dict(tags, **{"digest:net.zt:bias:data": "sha256:00"}) if name == "wrong tag" else tags)
save(artifact("overwritten", "net.zt"), **small(1))
shift("overwritten", "net.zt", LATER)
os.remove(artifact("deleted file", "net.zt"))
shift("soon", "net.zt", 30)
save(artifact("other digest", "net.zt"), **small(2))
shift("other digest", "net.zt", -1)
with open(artifact("other bytes", "net.zt"), "r+b") as file:
    file.seek(64)
    file.write(b"\xff")
shift("other bytes", "net.zt", -1)

# --- Where artifacts can be: MLflow says where it put them, or that it could not ---

places = {"space [1] 5% *": "{0}/space [1] 5% *", "question?": "{0}/question?", "decoded": "{0}/deco%64ed",
          "uri": "file://{0}/u%20r%20%5Bi%5D%2A%3F%25", "raw uri": "file://{0}/r a w [uri]", "one slash": "file:{0}/one",
          "localhost": "file://localhost{0}/host", "s3": "s3://bucket/mlflow", "proxied": "mlflow-artifacts:/here",
          "dbfs": "dbfs:/here", "no uri": "file://{0}/100%", "nul": "file://{0}/a%00b"}
stored = {}
for name, place in places.items():
    experiment = mlflow.create_experiment(name, artifact_location=place.format(directory + "/places"))
    ids[name] = client.create_run(experiment, run_name=name).info.run_id
    try:
        client.log_artifact(ids[name], net, "sub")
        stored[name] = True
    except Exception:  # of many kinds, also ImportError
        stored[name] = False
    client.set_terminated(ids[name])
for decoy in ("space 1 5% *", "u r i*?%", "r a w u"):  # what these names would match as patterns
    save(f"places/{decoy}/{ids['uri']}/artifacts/decoy.zt", **small())

# --- In another database, the runs and the checkpoints of the example in sql/EXAMPLES.md ---

mlflow.set_tracking_uri("sqlite:///checkpoints.db")
experiment = mlflow.create_experiment("checkpoints")
example = sqlite3.connect(f"file:{checkpoints}/mlflow.db?mode=ro", uri=True)
for like, name, rate in example.execute("SELECT run_uuid, name, value FROM runs JOIN params USING (run_uuid)").fetchall():
    with mlflow.start_run(experiment_id=experiment, run_name=name):
        mlflow.log_param("lr", rate)
        for epoch, loss in example.execute("SELECT step, value FROM metrics WHERE run_uuid = ? ORDER BY step", (like,)):
            mlflow.log_metric("train_loss", 1.0, epoch)
            mlflow.log_metric("val_loss", loss, epoch)
            mlflow.log_artifact(f"{checkpoints}/{name}/epoch-{epoch}.pt", "checkpoints")

with open("ids.json", "w") as file:
    json.dump({"ids": ids, "stored": stored, "sizes": {p: os.path.getsize(p) for p in (net, step, partial, arrays)}}, file, indent=1)
