"""Reads files with a format's own library: python read_written.py LIBRARY < PATHS > RECORDS, under the Python that has it.

PATHS is a JSON array. RECORDS is a JSON object: for each path the objects that the library finds, or its error as text.
  {PATH: {"objects": {NAME: OBJECT}, "attributes": {...}, "same": bool}}
  OBJECT: {"shape", "layout", "attributes", "components": {ROLE: [dtype, type, sha256 of the decoded bytes]}}, as far as the
  library tells; "same": the file is, byte for byte, the one that zTensor 2's library makes of it.
"""
import hashlib
import json
import os
import sys


def digest(data):
    return hashlib.sha256(data).hexdigest()


def read_ztensor_2_parts(path):
    """With every byte's digest checked."""
    import ztensor
    objects = {}
    with ztensor.open(path) as source:
        attributes = source.attributes or {}
        for name in source.keys():
            tensor = source[name]
            parts = {role: tensor[role] for role in tensor.parts}
            objects[name] = {"shape": tensor.shape, "layout": tensor.layout,
                             "components": {role: [p.dtype, p.dtype if p.logical is None else p.logical, digest(p.tobytes())] for role, p in parts.items()}}
    checked, undigested = ztensor.verify(path, deep=True)
    return {"objects": objects, "attributes": attributes, "undigested": undigested}


def read_ztensor_2(path):
    return {**read_ztensor_2_parts(path), "same": rewritten(path)}


def rewritten(path):
    """True if zTensor's own conversion of the file is the same file; its error as text."""
    import ztensor
    other = path + ".again"
    try:
        ztensor.convert(path, other)
        with open(path, "rb") as a, open(other, "rb") as b:
            return a.read() == b.read()
    except Exception as error:
        return str(error)
    finally:
        if os.path.exists(other):
            os.unlink(other)


def read_ztensor_1(path):
    """Below read(), which cannot give complex numbers their shape."""
    import ztensor
    objects = {}
    reader = ztensor.Reader(path)._inner
    for name in reader.keys():
        meta = reader._get_metadata(name)
        components = {role: [c["dtype"], c["dtype"] if c.get("type") is None else c["type"], digest(bytes(reader._read_component_raw(name, role)[0]))]
                      for role, c in meta["components"].items()}
        objects[name] = {"shape": meta["shape"], "layout": meta["format"], "attributes": meta["attributes"] or {}, "components": components}
    return {"objects": objects}


def read_safetensors(path):
    import safetensors
    with open(path, "rb") as file:
        data = file.read()
    objects = {name: {"shape": list(t["shape"]), "components": {"data": [t["dtype"], digest(bytes(t["data"]))]}}
               for name, t in safetensors.deserialize(data)}
    length = int.from_bytes(data[:8], "little")
    with safetensors.safe_open(path, "numpy") as file:
        assert set(file.keys()) == set(objects)
        attributes = file.metadata() or {}
    assert length % 8 == 0
    return {"objects": objects, "attributes": attributes}


def read_gguf(path):
    import gguf
    reader = gguf.GGUFReader(path)
    objects = {t.name: {"shape": [int(n) for n in reversed(t.shape)], "components": {"data": [t.tensor_type.name, digest(t.data.tobytes())]}}
               for t in reader.tensors}
    own = ("GGUF.version", "GGUF.tensor_count", "GGUF.kv_count")
    attributes = {key: contents(field) for key, field in reader.fields.items() if key not in own}
    return {"objects": objects, "attributes": attributes}


def contents(field):
    """A key's value; null for text that is not UTF-8."""
    try:
        return field.contents()
    except UnicodeDecodeError:
        return None


def of_array(array):
    return {"shape": list(array.shape), "components": {"data": [array.dtype.str, digest(array.tobytes())]}}


def read_npz(path):
    import numpy
    with numpy.load(path) as file:
        return {"objects": {name: of_array(file[name]) for name in file.files}}


def read_npy(path):
    import numpy
    array = numpy.load(path)
    assert array.flags.c_contiguous
    return {"objects": {"": of_array(array)}}


READERS = {"2.1.2": read_ztensor_2, "1.2.3": read_ztensor_1, "safetensors": read_safetensors, "gguf": read_gguf, "npz": read_npz,
           "npy": read_npy}


def record(read, path):
    try:
        return read(path)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def plain(value):
    """What JSON has no form for."""
    return value.hex() if isinstance(value, bytes) else repr(value)


if __name__ == "__main__":
    read = READERS[sys.argv[1]]
    json.dump({path: record(read, path) for path in json.load(sys.stdin)}, sys.stdout, default=plain)
