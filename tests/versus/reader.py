"""Reads files with a format's own library, one after another: python reader.py FORMAT, under the Python that has it.

Each line of the input is a path. Each line of the output is a JSON object, {"error": text} or {"objects": {NAME: FACTS}}. FACTS are
`format`, `type`, `shape`, `bytes` (sha256 of the values, or of the bytes where there are no values), `f32` (sha256 of dequantized
values) and `parts` ({ROLE: [dtype, type, sha256]}), null where the library does not tell.
"""
import json
import re
import resource
import sys
import warnings
from pathlib import Path

INTEROP = Path(__file__).resolve().parents[1] / "interop"
sys.path.insert(0, str(INTEROP))
# Layouts of zTensor 2 that have another name in the tables
LAYOUT = re.compile(r"^zt\.(sparse_csr|sparse_coo)/1$")
MEMORY = 4 << 30    # A library may believe what a file says of its size


def facts(object):
    """The facts about an object of a Record."""
    valued = object["dtype"] is not None
    return {"format": object["format"], "type": object["dtype"] if valued else None, "shape": object["shape"],
            "bytes": object["sha256"], "f32": object["f32_sha256"]}


def of_record(read, named=str, **options):
    """As the writers of test files read them: they share the walk of each library's objects."""
    def found(path):
        objects = read(Path(path), **options).what["objects"]
        return {named(o["name"]): facts(o) for o in objects}, len(objects)
    return found


def of_ztensor(read):
    """A dimension of 2^63 and more is a negative number in Python."""
    def found(path):
        objects = read(path)["objects"]
        return {name: {"format": LAYOUT.sub(r"\1", o["layout"]), "shape": [n % (1 << 64) for n in o["shape"]], "parts": {role: short(part) for role, part in o["components"].items()}}
                for name, o in objects.items()}, len(objects)
    return found


def short(part):
    from content import SHORT    # Needs what only some of the environments have
    return [SHORT.get(part[0], part[0]), SHORT.get(part[1], part[1]), part[2]]


def matlab(module):
    from scipy.io.matlab import matfile_version
    return lambda path, **how: module.read(path, flags=(), level="4" if matfile_version(path)[0] == 0 else "5")


def utf8(name):
    """scipy takes names as Latin-1."""
    try:
        return name.encode("latin-1").decode()
    except UnicodeError:
        return name


def reader(format):
    if format in ("ztensor-1", "ztensor-2"):
        import read_written
        return of_ztensor(read_written.read_ztensor_1 if format == "ztensor-1" else read_written.read_ztensor_2_parts)
    module = __import__(f"write_{format}")
    return {"matlab": lambda: of_record(matlab(module), named=utf8), "tflite": lambda: of_record(module.read, interpreted=False),
            "npy": lambda: of_record(module.read, allow_pickle=False), "npz": lambda: of_record(module.read, allow_pickle=False)
            }.get(format, lambda: of_record(module.read))()


def answer(found, path):
    try:
        objects, count = found(path)
        return {"objects": objects, "count": count}
    except BaseException as error:    # Panics of Rust are no Exceptions
        if isinstance(error, (KeyboardInterrupt, SystemExit)):
            raise
        return {"error": f"{type(error).__name__}: {error}"[:400]}


def main(format):
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    found = reader(format)
    for line in sys.stdin:
        print(json.dumps(answer(found, line.rstrip("\n"))), flush=True)


main(sys.argv[1])
