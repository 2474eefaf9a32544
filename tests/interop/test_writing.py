"""Files that zt_writer makes of all golden files, and of those that the libraries have just written: the formats' own libraries
read every object in them, with the bytes, types, shapes and attributes that the extension reads in the source."""
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sql"))
import conversion  # noqa: E402  (it is there only now)
from support import rows  # noqa: E402

BUILD = ROOT / "build" / "interop"
# Name: the format, further arguments, the environment, and the library's name in read_written.py
WAYS = {
    "ztensor-2": ("ztensor-2", "", "2.1.2", "2.1.2"),
    "ztensor-2-zstd": ("ztensor-2", ", encoding='zstd', digest='sha256'", "2.1.2", "2.1.2"),
    "ztensor-1.2": ("ztensor-1.2", "", "1.2.3", "1.2.3"),
    "ztensor-1.2-zstd": ("ztensor-1.2", ", encoding='zstd', digest='sha256'", "1.2.3", "1.2.3"),
    "safetensors": ("safetensors", "", "safetensors", "safetensors"),
    "gguf": ("gguf", "", "gguf", "gguf"),
    "npz": ("npz", "", "numpy", "npz"),
    "npz-deflate": ("npz", ", encoding='deflate'", "numpy", "npz"),
    "npy": ("npy", "", "numpy", "npy")}
# How the libraries name the types
NUMPY = {"bool": "|b1", "i8": "|i1", "u8": "|u1", **{t: f"<{t[0]}{int(t[1:]) // 8}" for t in "i16 u16 i32 u32 i64 u64 f16 f32 f64".split()},
         "complex64": "<c8", "complex128": "<c16"}
SAFETENSORS = {"bool": "BOOL", "complex64": "C64", "f8_e4m3fn": "F8_E4M3", "f8_e5m2": "F8_E5M2", "f8_e4m3fnuz": "F8_E4M3FNUZ",
               "f8_e5m2fnuz": "F8_E5M2FNUZ", "f8_e8m0": "F8_E8M0", "f4_e2m1": "F4"}
LONG = {"f": "float", "i": "int", "u": "uint", "b": "bfloat"}


def unreadable(db, way, target):
    """Why the library cannot read the file: gguf-py takes a scalar of bf16 for blocks, and does not know ggml's newest blocks."""
    if way != "gguf":
        return None
    found = conversion.objects(db, target).values()
    if any(o.type == "bf16" and o.rank == 0 for o in found):
        return "IndexError: tuple index out of range"
    if any(o.format == "gguf.q2_0" for o in found):
        return "is not a valid GGMLQuantizationType"
    return None


def long(dtype):
    return dtype if dtype == "bool" else LONG[dtype[0]] + dtype.lstrip("bfiu")


def library_type(way, dtype, type):
    """A component's entry as the library of that way has it, without the digest."""
    if way.startswith("ztensor-2"):
        return [dtype, type]
    if way.startswith("ztensor-1.2"):
        return [long(dtype), type if type != dtype else long(dtype)]
    if way == "safetensors":
        return [SAFETENSORS.get(type, type.upper())]
    if way == "gguf":
        return [type.upper()]
    return [NUMPY[type]]


@pytest.fixture(scope="module")
def db():
    connection = conversion.connection()
    yield connection
    connection.close()


def folders():
    yield from conversion.FOLDERS
    yield BUILD / "files"
    yield from sorted(f for f in (BUILD / "foreign").iterdir())


def write_all(db, way):
    """{target: (source, {name in the target: name in the source})}"""
    format, options = WAYS[way][:2]
    found = {}
    for i, source in enumerate(s for folder in folders() for s in conversion.sources(db, folder)):
        directory = BUILD / "written" / way / str(i)
        directory.mkdir(parents=True)
        for target, names, _ in conversion.conversions(db, source, format, directory, options):
            if names:
                found[target] = (source, names)
    return found


def read_all(way, targets):
    environment, library = WAYS[way][2:]
    done = subprocess.run([BUILD / environment / "bin" / "python", ROOT / "tests" / "interop" / "read_written.py", library],
                          input=json.dumps(targets), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def components(db, way, path, objects):
    """{name: {role: entry}} as the library of that way has them."""
    found = {name: {} for name in objects}
    for name, role, dtype, type, data in rows(db, "SELECT object, component, dtype, type, data FROM zt_components(?)", path):
        blocks = way == "gguf" and objects[name].format.startswith("gguf.")
        entry = [objects[name].format.removeprefix("gguf.").upper()] if blocks else library_type(way, dtype, type)
        found[name][role] = [*entry, hashlib.sha256(data).hexdigest()]
    return found


def check_object(way, o, wanted, got):
    if not (way == "gguf" and o.format == "gguf.q8_1"):   # The library takes its blocks for longer ones than ggml's
        assert got["components"] == wanted
    if "layout" in got:
        assert got["layout"].removeprefix("zt.").removesuffix("/1") == o.format.removeprefix("zt.").removesuffix("/1")
    if not (way == "gguf" and o.format != "dense"):   # The library's shape of blocks is one of bytes
        assert got["shape"] == json.loads(o.shape)


def check_values(db, source, names, target):
    """The extension reads the same values in both."""
    before, after = conversion.objects(db, source), conversion.objects(db, target)
    for name, old in names.items():
        assert (after[name].fingerprint, after[name].type, after[name].shape) == (before[old].fingerprint, before[old].type, before[old].shape)


def check_file(db, way, source, names, target, record):
    reason = unreadable(db, way, target)
    if reason or isinstance(record, str):
        assert reason in record, (source, record)
        return
    found = record["objects"]
    if way == "npy":
        found = {name: found[""] for name in names}
    assert set(found) == set(names)
    objects = conversion.objects(db, target)
    wanted = components(db, way, target, objects)
    for name, o in objects.items():
        check_object(way, o, wanted[name], found[name])
    check_values(db, source, names, target)
    if "attributes" in record:
        check_attributes(db, target, record["attributes"])


def check_attributes(db, target, got):
    """Keys, and the values that JSON has."""
    wanted = conversion.file_attributes(db, target)
    assert set(got) == set(wanted)
    for key, (value, type, _) in wanted.items():
        if type in ("text", "integer"):
            assert str(got[key]) == str(value)
        elif type in ("true", "false"):
            assert got[key] is (type == "true")


@pytest.mark.parametrize("way", WAYS)
def test_the_library_reads_what_was_written(db, way):
    shutil.rmtree(BUILD / "written" / way, ignore_errors=True)
    written = write_all(db, way)
    records = read_all(way, list(written))
    for target, (source, names) in written.items():
        check_file(db, way, source, names, target, records[target])
        if way == "ztensor-2":
            check_canonical(source, records[target])
    shutil.rmtree(BUILD / "written" / way)


def check_canonical(source, record):
    """zTensor's own library makes the very same file; it refuses names that are not NFC."""
    assert record["undigested"] == 0
    assert record["same"] is True or "NFC" in record["same"], source
