"""zt_writer makes of every golden file one of every format that can be written. All objects that the format can hold are there
with their values, types, shapes, layouts and attributes; the others are refused with the reason that INTERFACE gives."""
import re
import sqlite3

import pytest

import conversion
from conversion import FOLDERS, SUFFIXES, objects
from support import rows, value

NUMBERS = {"f64", "f32", "f16", "i64", "i32", "i16", "i8"}
UNSIGNED = {"u8", "u16", "u32", "u64", "bool"}
FP8 = {"f8_e4m3fn", "f8_e5m2", "f8_e4m3fnuz", "f8_e5m2fnuz"}
TYPES = {
    "ztensor-2": NUMBERS | UNSIGNED | FP8 | {"bf16", "f8_e8m0", "f4_e2m1", "complex64", "complex128"},
    "ztensor-1.2": NUMBERS | UNSIGNED | FP8 | {"bf16", "complex64", "complex128"},
    "safetensors": NUMBERS | UNSIGNED | FP8 | {"bf16", "f8_e8m0", "f4_e2m1", "complex64"},
    "gguf": NUMBERS | {"bf16"},
    "npz": NUMBERS | UNSIGNED | {"complex64", "complex128"}}
TYPES["npy"] = TYPES["npz"]
SPARSE = {"sparse_csr", "sparse_coo", "torch._rebuild_sparse_tensor"}


@pytest.fixture(scope="module")
def db():
    db = conversion.connection()
    yield db
    db.close()


def is_blocks(o):
    return o.format.startswith("gguf.")


def refused_layout(format, o):
    """Why the format cannot hold the layout, as a pattern."""
    if o.format.startswith(("torch.sparse_bs", "torch.sparse_csc", "matlab.sparse")):
        return "no format holds '"
    if is_blocks(o):
        return None if format in ("gguf", "ztensor-2") else f"{format} cannot hold blocks of "
    if o.format in SPARSE and not format.startswith("ztensor"):
        return f"{format} cannot hold sparse_c..; format='dense'"
    own = {"quantized_group": "ztensor-1.2", "zt.quant_group/1": "ztensor-2", "zt.mx/1": "ztensor-2"}
    if own.get(o.format, format) != format:
        return f"{format} cannot hold {o.format}; format='dense'"
    return None


def refused_type(format, o):
    if is_blocks(o) or o.format in ("quantized_group", "zt.quant_group/1", "zt.mx/1"):
        return None
    if o.type not in TYPES[format]:
        return f"{format} cannot hold {o.type}(; give dtype '|, nor other complex numbers; leave it out)"
    if format == "safetensors" and o.type == "f4_e2m1" and o.elements % 2:
        return "safetensors cannot hold an odd number of f4_e2m1 elements; give dtype '"
    return None


def refused_name(format, o):
    size = len(o.name.encode())
    if format == "ztensor-2" and size == 0:
        return "ztensor-2 needs a name; name the object"
    if size > {"ztensor-2": 1024, "gguf": 63}.get(format, size):
        return f"{format} names have at most [0-9]+ bytes: this object's has {size}; rename it"
    return None


def reasons(db, source, format, o):
    """Patterns of the reasons to refuse an object whose values can be had."""
    found = [refused_layout(format, o), refused_type(format, o), refused_name(format, o)]
    if source.endswith(".zt") and o.attributes and not format.startswith("ztensor"):
        found.append(f"{format} cannot hold attributes of an object; drop='attributes' leaves them out")
    if format == "gguf" and (o.rank or 0) > 4:
        found.append(f"gguf tensors have at most 4 dimensions, and this one has {o.rank}; ")
    if format == "ztensor-2" and o.format in SPARSE and value(db, "SELECT sum(rule GLOB '*duplicate*') FROM zt_check(?, 'full') WHERE object = ?",
                                                             source, o.name):
        found.append("two stored elements lie in one cell; format='dense' of zt_writer adds them")
    if o.format == "dense" and o.components > 1 and not has_complex_parts(db, source, o):
        found.append("its layout has no component '.*', which the new one would lack; format='dense' of zt_writer leaves it out")
    if has_mismatch(db, source, o):
        found.append("its bytes do not have its digest")
    if has_tag(db, source, o):
        found.append("a value with a CBOR tag cannot be written")
    return [pattern for pattern in found if pattern]


def has_complex_parts(db, source, o):
    return rows(db, "SELECT component FROM zt_components(?) WHERE object = ?", source, o.name) == [("real",), ("imag",)]


def has_mismatch(db, source, o):
    try:
        return value(db, "SELECT count(*) FROM zt_components(?) WHERE object = ? AND digest_status = 'mismatch'", source, o.name) > 0
    except sqlite3.Error:   # There are no bytes
        return False


def has_tag(db, source, o):
    return source.endswith("hand_attributes.zt") and o.name == "o"


def values(db, source, name):
    """The dense bytes, and the fault if there is none."""
    try:
        return value(db, "SELECT zt_dense(?, ?)", source, name), None
    except sqlite3.Error as error:
        return None, str(error)


def fault(message):
    """A message without the place."""
    return message.rsplit("': ", 1)[-1]


def check_refused(db, source, format, o, message):
    patterns = reasons(db, source, format, o)
    broken = values(db, source, o.name)[1]
    assert message.startswith("ztensor: ") and (conversion.shown(o.name) in message)
    if broken and message.endswith(fault(broken)):
        return
    assert any(re.search(pattern, message) for pattern in patterns), (message, patterns, broken)


def layout(format):
    """The layout's name in any container."""
    return format.removesuffix("/1").replace("torch._rebuild_sparse_tensor", "sparse_coo").replace("tensorflow.sliced", "dense")


def check_written(db, source, format, o, target, got):
    assert reasons(db, source, format, o) == [], (source, o.name)
    assert (got.type, got.shape, layout(got.format)) == (o.type, o.shape, layout(o.format))
    if o.type == "bool":
        assert got.dtype == ("u8" if format == "ztensor-2" else "bool")
    else:
        assert got.dtype == o.dtype
    assert got.fingerprint == o.fingerprint
    data, broken = values(db, source, o.name)
    assert values(db, target, got.name)[0] == data
    if broken:   # The elements of some blocks have no definition
        assert is_blocks(o) and value(db, "SELECT zt_blob(?, ?)", target, got.name) == value(db, "SELECT zt_blob(?, ?)", source, o.name)
    if source.endswith(".zt") and format.startswith("ztensor"):
        assert got.attributes == o.attributes


def check_file(db, source, format, target, names):
    got = objects(db, target)
    assert set(got) == set(names)
    before = objects(db, source)
    for name, old in names.items():
        check_written(db, source, format, before[old], target, got[name])
    assert rows(db, "SELECT * FROM zt_check(?, 'full') WHERE severity = 'error'", target) == []
    assert rows(db, "SELECT * FROM zt_components(?) WHERE digest_status <> 'ok'", target) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=[f.parent.name for f in FOLDERS])
@pytest.mark.parametrize("format", SUFFIXES)
def test_every_file_in_every_format(db, tmp_path, folder, format):
    written = 0
    for source in conversion.sources(db, folder):
        before = objects(db, source)
        for target, names, refused in conversion.conversions(db, source, format, tmp_path):
            for name, message in refused.items():
                check_refused(db, source, format, before[name], message)
            if names:
                check_file(db, source, format, target, names)
                written += len(names)
    assert written > 0
