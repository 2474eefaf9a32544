"""Writes the database of a Sacred SqlObserver, sacred.db, and the files that were logged: python write_sacred.py DIRECTORY.
runs.json says which run is which, and when it stopped."""
import json
import logging
import os
import sys
import time
import warnings

warnings.simplefilter("ignore")

import ml_dtypes  # noqa: E402
import numpy  # noqa: E402
from sacred import Experiment  # noqa: E402
from sacred.observers import SqlObserver  # noqa: E402
from sacred.utils import TimeoutInterrupt  # noqa: E402
import ztensor  # noqa: E402


def save(path, **arrays):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with ztensor.Writer(path) as writer:
        for name, array in arrays.items():
            writer.write_numpy(name, array)
    return path


def net(fill, **more):
    return {"weight": numpy.full((3, 4), fill, "float32"), "bias": numpy.arange(5).astype(ml_dtypes.bfloat16), **more}


os.environ["TZ"] = "TEST-9"  # Sacred notes UTC, and not this
time.tzset()
directory, = sys.argv[1:]
os.makedirs(directory, exist_ok=True)
os.chdir(directory)
directory = os.getcwd()
runs, stopped = {}, {}
experiment = Experiment("tuning", base_dir=directory, interactive=True, save_git_info=False)
experiment.logger = logging.getLogger("silent")
experiment.logger.addHandler(logging.NullHandler())
experiment.logger.propagate = False
experiment.captured_out_filter = lambda text: ""
experiment.observers.append(SqlObserver("sqlite:///sacred.db"))


@experiment.main
def main(_run, action):
    return actions[action](_run)


def action(do):
    """Runs it as a run of that name."""
    def observed(_run):
        runs[do.__name__] = _run._id
        return do()
    actions[do.__name__] = observed
    try:
        experiment.run(config_updates={"action": do.__name__}, options={"--capture": "no"})
    except (ValueError, KeyboardInterrupt, TimeoutInterrupt):
        pass
    stopped[do.__name__] = time.time()


actions = {}


@action
def first():
    experiment.add_resource(save("files/base.zt", embed=numpy.zeros((2, 8), "float16"), norm=numpy.ones(4, "float32")))
    experiment.add_artifact(save("files/net.zt", **net(0, old=numpy.zeros(2, "int8"))))
    experiment.add_artifact(save("files/net.zt", **net(1, old=numpy.zeros(2, "int8"))))  # The same name: this one counts
    experiment.add_artifact(save("files/we[i]rd 5%.zt", **net(3)))
    experiment.add_artifact("files/net.zt", "checkpoints/keep.zt")
    return 0.5


@action
def second():
    experiment.add_artifact(save("files/net.zt", **net(2, new=numpy.zeros(9, "int8"))))
    numpy.savez("files/arrays.npz", a=numpy.zeros((2, 3), "float32"), b=numpy.arange(4, dtype="int64"))
    experiment.add_artifact("files/arrays.npz")
    return 0.25


@action
def bare():
    with open("files/notes.txt", "w") as file:
        file.write("no tensors")
    experiment.add_artifact("files/notes.txt")
    return 0.125


@action
def broken():
    with open("files/broken.zt", "wb") as file:
        file.write(b"ZTEN1000, but no more")
    experiment.add_artifact("files/broken.zt")


@action
def failed():
    experiment.add_artifact(save("files/partial.zt", embed=numpy.ones((2, 2), "int8")))
    raise ValueError("diverged")


@action
def interrupted():
    experiment.add_artifact("files/partial.zt")
    raise KeyboardInterrupt


@action
def late():
    experiment.add_artifact("files/partial.zt")
    raise TimeoutInterrupt


def crashed():
    experiment.add_artifact("files/partial.zt")
    os._exit(0)


if os.fork() == 0:
    action(crashed)
os.wait()

# Two files are called keep.zt; one has the logged bytes. The resource has other values of the same size, the file with odd
# letters another shape.
with open("files/net.zt", "rb") as file, open("files/keep.zt", "wb") as copy:
    copy.write(file.read())
save("logged/keep.zt", **net(1, old=numpy.zeros(2, "int8")))
with open("files/base.zt", "r+b") as file:
    file.seek(64)
    file.write(b"\x01")
save("files/we[i]rd 5%.zt", **dict(net(3), weight=numpy.full((4, 3), 3, "float32")))
save("files/weird 5%.zt", **net(9))  # what that name would match as a pattern

with open("runs.json", "w") as file:
    json.dump({"runs": runs, "stopped": stopped}, file, indent=1)
