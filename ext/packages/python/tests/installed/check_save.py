"""save(): arrays into files."""
import os
import sqlite3

import ml_dtypes
import numpy as np
import pytest

from ztensor_sqlite import _save, query, save, tensor, tensors

ARRAYS = {name: np.arange(-6, 6).reshape(3, 4).astype(name) for name in ("float64", "float32", "float16", "int64", "int32", "int16", "int8")}
UNSIGNED = {name: np.arange(12).reshape(3, 4).astype(name) for name in ("uint64", "uint32", "uint16", "uint8", "bool")}
SMALL = {name: np.arange(12).reshape(3, 4).astype("f4").astype(getattr(ml_dtypes, name))
         for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz")}
COMPLEX = {"complex64": np.array([1 + 2j], "c8"), "complex128": np.array([[1 - 2j]])}
HOLDS = {"a.zt": ARRAYS | UNSIGNED | SMALL | COMPLEX, "a.safetensors": ARRAYS | UNSIGNED | SMALL | {"complex64": COMPLEX["complex64"]},
         "a.npz": ARRAYS | UNSIGNED | COMPLEX, "a.gguf": ARRAYS | {"bfloat16": SMALL["bfloat16"]}, "a.npy": {"a": ARRAYS["float32"]}}


@pytest.mark.parametrize("name", HOLDS)
def test_what_a_format_holds_comes_back(name, tmp_path):
    save(tmp_path / name, HOLDS[name])
    back = tensors(tmp_path / name)
    assert set(back) == set(HOLDS[name])
    for key, array in HOLDS[name].items():
        assert back[key].numpy().dtype == array.dtype and back[key].shape == array.shape and back[key].numpy().tobytes() == array.tobytes(), key


def test_packed_types(tmp_path):
    array = np.array([[0.5, -6, 3]]).astype(ml_dtypes.float4_e2m1fn)
    save(tmp_path / "a.zt", {"w": array})
    assert query("SELECT stored_bytes FROM zt_objects(?)", [tmp_path / "a.zt"]).value() == 2
    assert tensor(tmp_path / "a.zt", "w").astype("f4").tolist() == [[0.5, -6, 3]]


def test_arrays_of_any_layout(tmp_path):
    base = np.arange(24, dtype="f4").reshape(4, 6)
    save(tmp_path / "a.zt", {"fortran": np.asfortranarray(base), "strided": base[::2, ::3], "reversed": base[::-1], "big": base.astype(">f4"),
                             "scalar": np.float32(7), "empty": np.zeros((0, 3), "f4"), "list": [[1.0, 2.0]]})
    back = {name: value.numpy() for name, value in tensors(tmp_path / "a.zt").items()}
    assert np.array_equal(back["fortran"], base) and np.array_equal(back["strided"], base[::2, ::3]) and np.array_equal(back["reversed"], base[::-1])
    assert np.array_equal(back["big"], base) and back["scalar"] == 7 and back["scalar"].shape == () and back["empty"].shape == (0, 3)
    assert back["list"].tolist() == [[1, 2]]


def test_attributes(tmp_path):
    given = {"epoch": 3, "loss": 0.5, "name": "päth", "done": True, "none": None, "raw": b"\0\1", "tags": ["a", 1], "config": {"k": [1.5]},
             "large": 2**64 - 1, "numpy": np.int32(5)}
    save(tmp_path / "a.zt", {"w": np.ones(1)}, attributes=given, tensor_attributes={"w": {"unit": "m"}})
    rows = query("SELECT object, key, value, type FROM zt_attributes(?) ORDER BY object, key", [tmp_path / "a.zt"]).rows()
    assert rows == [(None, "config", '{"k":[1.5]}', "object"), (None, "done", 1, "true"), (None, "epoch", 3, "integer"),
                    (None, "large", "18446744073709551615", "integer"), (None, "loss", 0.5, "real"), (None, "name", "päth", "text"),
                    (None, "none", None, "null"), (None, "numpy", 5, "integer"), (None, "raw", b"\0\1", "blob"),
                    (None, "tags", '["a",1]', "array"), ("w", "unit", "m", "text")]


def test_what_attributes_have_within_them(tmp_path):
    """Nothing becomes another value on the way."""
    given = {"numbers": [np.float32(0.5), np.int64(-1), np.bool_(True), float("inf"), float("-inf"), -0.0, 2**64 - 1], "deep": {"k": ({"": None},)},
             "nan": float("nan"), "array of one": np.array(7)}
    save(tmp_path / "a.zt", {"w": np.ones(1)}, attributes=given)
    rows = query("SELECT key, value, type FROM zt_attributes(?) ORDER BY key", [tmp_path / "a.zt"]).rows()
    assert rows == [("array of one", 7, "integer"), ("deep", '{"k":[{"":null}]}', "object"), ("nan", None, "real"),
                    ("numbers", "[0.5,-1,true,9.0e+999,-9.0e+999,-0.0,18446744073709551615]", "array")]


@pytest.mark.parametrize("value, kind, said", [
    (np.array([7]), TypeError, "an attribute is no ndarray"), (np.array([7, 8]), TypeError, "an attribute is no ndarray"),
    (np.datetime64("2020-01-01", "ns"), TypeError, "an attribute is no datetime64"),
    ([np.timedelta64(1, "ns")], TypeError, "a list or a dictionary that is an attribute has no timedelta64"),
    ({"k": [b"\0"]}, TypeError, "a list or a dictionary that is an attribute has no bytes"),
    ({1: "x"}, TypeError, "a key in an attribute is text, and 1 is none"), ([{True: 1}], TypeError, "a key in an attribute is text, and True is none"),
    ({"k": {None: 1}}, TypeError, "a key in an attribute is text, and None is none"),
    ([float("nan")], ValueError, "NaN can be an attribute, but not stand in a list or a dictionary")])
def test_what_would_change_in_an_attribute_is_an_error(tmp_path, value, kind, said):
    assert failure(tmp_path / "a.zt", {"w": np.ones(1)}, attributes={"k": value}) == (kind, said)
    assert list(tmp_path.iterdir()) == []


def test_from_file_to_file(tmp_path):
    """Tensor of tensors() is copied as it is, and may be mixed with arrays; the target may be its own source."""
    save(tmp_path / "a.safetensors", SMALL)
    save(tmp_path / "b.zt", {**tensors(tmp_path / "a.safetensors"), "more": np.ones(2)}, encoding="zstd")
    assert query("SELECT DISTINCT encoding FROM zt_components(?)", [tmp_path / "b.zt"]).rows() == [("zt.zstd-seekable/1",)]
    assert tensor(tmp_path / "b.zt", "bfloat16").tobytes() == SMALL["bfloat16"].tobytes()
    save(tmp_path / "c.zt", dict(tensors((tmp_path / "a.safetensors").read_bytes())))
    assert set(tensors(tmp_path / "c.zt")) == set(SMALL)
    kept = dict(tensors(tmp_path / "b.zt"))
    del kept["more"]
    save(tmp_path / "b.zt", kept, replace=True)
    assert set(tensors(tmp_path / "b.zt")) == set(SMALL)


def test_large_tensors_go_through_a_file_that_is_removed(tmp_path, monkeypatch):
    arrays = {name: array for name, array in HOLDS["a.zt"].items() if name != "complex128"}
    save(tmp_path / "small.zt", arrays)
    monkeypatch.setattr(_save, "VALUE_MAX", 5)
    save(tmp_path / "large.zt", arrays)
    assert (tmp_path / "large.zt").read_bytes() == (tmp_path / "small.zt").read_bytes()
    with pytest.raises(ValueError, match="complex128 has at most 5 bytes here, not 16"):
        save(tmp_path / "c.zt", COMPLEX)
    with pytest.raises(ValueError, match="f4_e2m1 has at most 5 bytes here, not 6"):
        save(tmp_path / "c.zt", {"w": np.ones(12).astype(ml_dtypes.float4_e2m1fn)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["large.zt", "small.zt"]


def failure(*arguments, **options):
    with pytest.raises(Exception) as raised:
        save(*arguments, **options)
    return type(raised.value), str(raised.value)


def test_errors_leave_what_was_there(tmp_path):
    path, w = tmp_path / "a.npz", {"w": np.ones(2)}
    assert failure(path, {"w": SMALL["bfloat16"]}) == (sqlite3.OperationalError, f"ztensor: {path}: object 'w': npz cannot hold bf16; give dtype 'f32'")
    assert list(tmp_path.iterdir()) == []
    save(path, w)
    before = path.read_bytes()
    kind, said = failure(path, {"other": np.ones(3)})
    assert kind is sqlite3.OperationalError and said == f"ztensor: {path}: there is a file already; replace=True replaces it"
    assert failure(path, w, replace=True, colour="red") == (
        TypeError, "save() has no option 'colour'; it has order, align, encoding, level, digest, drop, sync")
    assert failure(path, {}) == (ValueError, "there is no tensor to write")
    assert failure(path, {"w": np.array(["text"])}, replace=True) == (TypeError, "tensor 'w': no format has str128")
    assert failure(path, [np.ones(2)], replace=True) == (TypeError, "tensors are a mapping from names to arrays, not list")
    assert failure(path, {"w": np.ma.masked_array([1, 2], [0, 1])}, replace=True) == (
        TypeError, "tensor 'w': no format has masked elements: filled() gives an array without them")
    assert failure(path, w, attributes={"a": object()}, replace=True) == (TypeError, "an attribute is no object")
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["a.npz"]


def test_a_contiguous_array_is_not_copied():
    array = np.arange(10, dtype=ml_dtypes.bfloat16)
    _, _, data = _save._bytes_of("w", array)
    array[0] = 5
    assert bytes(data) == array.tobytes()


def test_a_path_that_is_not_utf8(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.npz")
    save(path, {"w": np.arange(3)})
    assert tensor(path, "w").tolist() == [0, 1, 2] and tensor(tmp_path, "w", "f32").tolist() == [0, 1, 2]
    found = tensors(path)
    assert found["w"].path == path and found["w"].dtype == np.int64 and found["w"][1:].tolist() == [1, 2]
    save(tmp_path / "copy.zt", dict(found))
    assert tensor(tmp_path / "copy.zt", "w").tolist() == [0, 1, 2]
    with pytest.raises(sqlite3.OperationalError, match="object 'x': no such object"):
        tensor(path, "x")
