"""Writes the database of an Optuna storage, optuna.db, and an artifact store: python write_optuna.py DIRECTORY. times.json has
the seconds since 1970 at which trials completed."""
import json
import os
import sys
import time
import warnings

import ml_dtypes
import numpy
import optuna
from optuna.artifacts import FileSystemArtifactStore, upload_artifact
from optuna.trial import TrialState
import ztensor

LATER = 3600  # seconds after the end of its trial that a changed file has been written
NEW = hasattr(optuna.Trial, "set_constraint")  # Optuna 5; before, a sampler noted constraints


def save(path, **arrays):
    with ztensor.Writer(path) as writer:
        for name, array in arrays.items():
            writer.write_numpy(name, array)
    return path


def trial(study, values=None, state=None, artifacts=(), attributes=None, constraint=None):
    """A trial with artifacts and user attributes; gives the artifacts' ids."""
    t = study.ask()
    found = [upload_artifact(artifact_store=store, file_path=path, study_or_trial=t) for path in artifacts]
    for key, value in (attributes or {}).items():
        t.set_user_attr(key, value)
    if constraint is not None and NEW:
        t.set_constraint("memory", constraint)
    elif constraint is not None:
        t.set_user_attr("constraint", [constraint])
    if state != TrialState.RUNNING:
        study.tell(t, values, state=state)
        times[f"{study.study_name}/{t.number}"] = time.time()
    return found


def shift(path, name):
    os.utime(path, (times[name] + LATER,) * 2)


# Optuna 4 notes local time: of a zone far from UTC, which the test uses, too.
os.environ["TZ"] = "TEST-9"
time.tzset()
optuna.logging.set_verbosity(optuna.logging.ERROR)
warnings.simplefilter("ignore")
directory, = sys.argv[1:]
os.makedirs(directory, exist_ok=True)
os.chdir(directory)
directory = os.getcwd()
os.makedirs("store [1] 5%")
store = FileSystemArtifactStore("store [1] 5%")
times, uploaded = {}, {}

small = save("small.zt", weight=numpy.zeros((3, 4), "float32"), bias=numpy.arange(5).astype(ml_dtypes.bfloat16))
large = save("large.zt", head=numpy.zeros((70, 90), "float16"))
odd = save("o d [d] %41?.zt", head=numpy.zeros(3, "uint8"))
for decoy in ("o d d %41x.zt", "o d [d] A?.zt"):  # what that name would match as a pattern, and mean as a URI
    save(decoy, decoy=numpy.zeros(99, "uint8"))
later = save("later.zt", head=numpy.zeros(3, "int64"))
arrays = "arrays.npz"
numpy.savez(arrays, a=numpy.zeros((2, 3), "float32"), b=numpy.arange(4, dtype="int64"))
for name, data in {"notes.txt": b"no tensors", "broken.zt": b"ZTEN1000, but no more"}.items():
    with open(name, "wb") as file:
        file.write(data)

# --- One objective ---

sampler = None if NEW else optuna.samplers.TPESampler(constraints_func=lambda t: t.user_attrs.get("constraint", [-1.0]))
one = optuna.create_study(storage="sqlite:///optuna.db", study_name="one", direction="minimize", sampler=sampler)
uploaded["0"] = trial(one, 0.3, artifacts=[small, "notes.txt"])
uploaded["1"] = trial(one, 0.2, artifacts=[large], attributes={"model": f"{directory}/{small}", "loss": float("nan"), "n": 7})
trial(one, 0.1)
trial(one, 0.05, attributes={"model": small}, constraint=1.0)
trial(one, 0.4, attributes={"files": {"best": [f"file://{directory}/small.zt", "notes.txt"], "last": odd}}, constraint=0.0)
trial(one, state=TrialState.FAIL, attributes={"model": small})
trial(one, state=TrialState.PRUNED, artifacts=[small])
uploaded["7"] = trial(one, state=TrialState.RUNNING, artifacts=[small])
trial(one, 0.5, attributes={"model": "broken.zt"})
uploaded["9"] = trial(one, 0.6, artifacts=[small, small], attributes={
    "gone": f"{directory}/gone.zt", "later": later, "remote": "s3://bucket/m.zt", "host": "file://elsewhere/m.zt",
    "no uri": "file:///100%.zt", "text": "about x.zt files"})
shift(later, "one/9")
os.remove(f"store [1] 5%/{uploaded['9'][0]}")
shift(f"store [1] 5%/{uploaded['9'][1]}", "one/9")
uploaded["study"] = [upload_artifact(artifact_store=store, file_path=large, study_or_trial=one)]
one.set_user_attr("best", small)

# --- Two objectives, infinite values, values that tie ---

two = optuna.create_study(storage="sqlite:///optuna.db", study_name="two", directions=["minimize", "maximize"])
trial(two, [1.0, 5.0], attributes={"model": small})
trial(two, [float("inf"), float("inf")], attributes={"model": large})
trial(two, [1.0, float("-inf")], attributes={"model": odd})

# --- Files of another format ---

three = optuna.create_study(storage="sqlite:///optuna.db", study_name="three")
uploaded["three"] = trial(three, 1.0, artifacts=[arrays], attributes={"model": arrays})

with open("times.json", "w") as file:
    json.dump({"times": times, "uploaded": uploaded, "sizes": {p: os.path.getsize(p) for p in (small, large, odd, later, arrays)}}, file, indent=1)
