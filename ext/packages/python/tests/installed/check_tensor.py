"""tensor() and tensors(): arrays of numpy."""
import json
import os
import pathlib
import sqlite3
import warnings

import ml_dtypes
import numpy as np
import pytest

import ztensor_sqlite
from ztensor_sqlite import query, save, tensor, tensors
from ztensor_sqlite._tensor import NAMES


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("tensor") / "a.safetensors"
    save(path, {"w": np.arange(12, dtype="f4").reshape(4, 3), "h": np.array([1, 0.5], ml_dtypes.bfloat16), "s": np.float64(2.5)})
    return path


def test_every_golden_tensor_is_what_zt_dense_returns(golden):
    conn = ztensor_sqlite.connect()
    types, refused = set(), 0
    for path, name, kind, form, shape in conn.execute("SELECT path, object, type, format, shape FROM zt_objects(?, 'skip')", (f"{golden}/*/golden/**",)):
        try:
            (data,), = conn.execute("SELECT zt_dense(?, ?)", (path, name)).fetchall()
        except sqlite3.OperationalError as error:
            with pytest.raises((sqlite3.OperationalError, ValueError)) as raised:
                tensor(path, name)
            assert str(raised.value) == str(error)
            refused += 1
            continue
        array = tensor(path, name)
        assert array.shape == tuple(json.loads(shape)) and array.flags.c_contiguous and array.flags.writeable
        types.add(array.dtype.name)
        assert array.dtype.name == (NAMES[kind] if form in ("dense", "matlab.sparse", "sparse_csr", "sparse_coo") else array.dtype.name), (path, name)
        assert tensors(path)[name].dtype == array.dtype
        if array.dtype.name not in ("int4", "uint4", "int2", "uint2", "float4_e2m1fn"):
            assert array.tobytes() == data, (path, name)
        if array.dtype.kind != "c":   # Against the extension's conversion to f64
            (wide,), = conn.execute("SELECT zt_dense(?, ?, 'f64')", (path, name)).fetchall()
            assert np.array_equal(array.astype("f8").ravel(), np.frombuffer(wide, "f8"), equal_nan=True), (path, name)
    assert types == set(NAMES.values())
    assert refused > 10


def test_rows(file):
    whole = tensor(file, "w")
    assert whole.tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    for rows in (slice(1, 3), slice(-1, None), slice(None), slice(2, 2), slice(9, 20), slice(None, -1)):
        part = tensor(file, "w", rows=rows)
        assert part.shape == whole[rows].shape and np.array_equal(part, whole[rows]), rows


@pytest.mark.parametrize("dtype", ["f64", "float64", np.float64, np.dtype("f8"), "torch.float64"])
def test_conversion(file, dtype):
    array = tensor(file, "h", dtype)
    assert array.dtype == np.float64 and array.tolist() == [1, 0.5]


def test_sources(file, tmp_path):
    other = tmp_path / "b.npy"
    np.save(other, np.ones(2))
    for source in (file, str(file), os.fsencode(file), file.parent / "*.safetensors", [file, other], file.read_bytes()):
        if isinstance(source, bytes) and source == os.fsencode(file):
            continue   # bytes are a file's content
        assert tensor(source, "s") == 2.5 and tensor(source, "s").shape == ()
        assert set(tensors(source)) >= {"w", "h", "s"}


def failure(function, *arguments, **options):
    with pytest.raises(Exception) as raised:
        function(*arguments, **options)
    return type(raised.value), str(raised.value)


def test_errors(file, tmp_path, without):
    assert failure(tensor, file, "W") == (sqlite3.OperationalError, f"ztensor: {file}: object 'W': no such object; did you mean 'w'?")
    assert failure(tensor, tmp_path / "no.zt", "w") == (sqlite3.OperationalError, f"ztensor: {tmp_path / 'no.zt'}: cannot open: No such file or directory")
    assert failure(tensor, tmp_path / "*.zt", "w") == (sqlite3.OperationalError, f"ztensor: no file of {tmp_path / '*.zt'} has an object 'w'")
    kind, said = failure(tensor, file, "w", "int5")
    assert kind is ValueError and said.startswith("'int5' is no type: f64, f32, ")
    assert failure(tensor, file, "w", rows=3) == (TypeError, "rows is a slice, such as slice(0, 10), not int")
    assert failure(tensor, file, "w", rows=slice(0, 4, 2)) == (ValueError, "rows has step 1; take every other row of the result")
    assert failure(tensor, file, "s", rows=slice(0, 1)) == (ValueError, f"{file}: object 's': a scalar has no rows")
    assert failure(tensor, file, "w", "i8", slice(0, 1), "jax") == (ValueError, "framework is 'numpy' or 'torch', not 'jax'")
    assert failure(tensor, file, 1) == (TypeError, "a tensor's name is text, not int")
    save(tmp_path / "nan.npy", {"nan": np.array([1, np.nan])})
    assert failure(tensor, tmp_path / "nan.npy", "nan", "i32") == (
        sqlite3.OperationalError, f"ztensor: {tmp_path / 'nan.npy'}: object 'nan': element [1] is NaN, which i32 does not have")
    without("ml_dtypes")
    assert failure(tensor, file, "h") == (ImportError, f"{file}: object 'h': numpy has no bf16: pip install ml_dtypes, or give a dtype, such as 'f32'")
    assert tensor(file, "h", "f32").tolist() == [1, 0.5]
    without("torch")
    assert failure(tensor, file, "w", framework="torch") == (ImportError, f"{file}: object 'w': framework='torch' needs torch: pip install torch")


def test_two_files_with_one_name(file, tmp_path):
    save(tmp_path / "b.npz", {"w": np.ones(1)})
    expected = (ValueError, f"{file} and {tmp_path / 'b.npz'} have a tensor 'w' each: name one file")
    assert failure(tensor, [file, tmp_path / "b.npz"], "w") == expected and failure(tensors, [file, tmp_path / "b.npz"]) == expected


def test_tensors_are_lazy(file):
    found = tensors(file)
    assert sorted(found) == ["h", "s", "w"] and len(found) == 3 and "w" in found and "x" not in found
    w = found["w"]
    assert (w.name, w.shape, w.ndim, w.size, len(w), w.dtype, w.type, w.format, w.stored_bytes) == ("w", (4, 3), 2, 12, 4, np.float32, "f32", "dense", 48)
    assert w.path == str(file) and w.attributes == {} and repr(w) == "<tensor 'w': f32, shape (4, 3)>" and repr(found) == f"<3 tensors of {file}>"
    assert w[1].tolist() == [3, 4, 5] and w[-1, 2] == 11 and w[1:3, 0].tolist() == [3, 6] and w[:, 1].tolist() == [1, 4, 7, 10]
    assert w[[0, 2]].tolist() == [[0, 1, 2], [6, 7, 8]] and w[::2].tolist() == [[0, 1, 2], [6, 7, 8]] and found["s"][()] == 2.5
    with pytest.raises(IndexError):
        w[4]
    assert np.asarray(w, "f8").sum() == 66 and (np.asarray(w) + 1)[0, 0] == 1
    assert {name: value.shape for name, value in found.items()} == {"w": (4, 3), "h": (2,), "s": ()}
    assert failure(lambda: found["W"]) == (KeyError, repr(f"ztensor: {file}: object 'W': no such object; did you mean 'w'?"))
    assert found.get("x") is None
    with pytest.raises(ValueError):
        np.array(w, copy=False)


def test_an_index_is_its_files_and_those_that_are_missing_are_told(tmp_path):
    one, two = (tmp_path / f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
    save(one, {"a": np.arange(3.0)})
    save(two, {"b": np.arange(4.0)})
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {}, "weight_map": {"a": one.name, "b": two.name}}))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert set(tensors(index)) == set(tensors(tmp_path)) == {"a", "b"}
        assert tensor(index, "b").tolist() == [0, 1, 2, 3]
    two.unlink()
    for source in (index, tmp_path, [one]):
        with pytest.warns(UserWarning) as told:
            assert list(tensors(source)) == ["a"]
        assert [str(each.message) for each in told] == [f"{index}: 1 of its 2 files is missing: {two.name}"] and told[0].filename == __file__
        assert failure(tensor, source, "b") == (sqlite3.OperationalError, f"ztensor: no file has an object 'b'; {index}: 1 of its 2 files is missing: {two.name}")
    one.unlink()
    assert failure(tensors, index) == (ValueError, f"{index}: none of its files is there")
    index.write_text("{}")
    assert failure(tensor, index, "a") == (ValueError, f"{index}: there is no weight_map of names of files")


def test_only_a_tensors_directory_is_read(tmp_path):
    """Lazily: a file whose values are gone still tells shapes."""
    path = tmp_path / "a.npz"
    np.savez_compressed(path, w=np.arange(1000))
    data = bytearray(path.read_bytes())
    data[200:400] = b"\0" * 200
    path.write_bytes(data)
    found = tensors(path)
    assert found["w"].shape == (1000,)
    with pytest.raises(sqlite3.OperationalError):
        found["w"].numpy()


def test_more_than_a_value_of_sqlite_holds(tmp_path):
    """1.2 GB, nearly all of it a hole: one row, so that no range of rows is less."""
    path, size = tmp_path / "large.safetensors", 1_200_000_000
    head = json.dumps({"w": {"dtype": "F16", "shape": [1, size // 2], "data_offsets": [0, size]}}).encode()
    with open(path, "wb") as file:
        file.write(len(head).to_bytes(8, "little") + head)
        file.seek(size - 4, os.SEEK_CUR)
        file.write(np.array([1.5, -2], "f2").tobytes())
    array = tensor(path, "w")
    assert array.shape == (1, size // 2) and array[0, -2:].tolist() == [1.5, -2] and not array[0, :-2].any()
    with pytest.raises(sqlite3.Error, match="too big|limit"):
        query("SELECT zt_dense(?, 'w')", [path]).rows()


def test_a_file_that_changes_between_is_an_error(file, tmp_path, monkeypatch):
    from ztensor_sqlite import _tensor

    path = tmp_path / "a.npy"
    np.save(path, np.ones(10))
    found = tensors(path)
    np.save(path, np.ones(20))
    assert failure(found["a"].numpy) == (sqlite3.OperationalError, f"ztensor: {path}: object 'a': 20 elements of f64 are not the 80 bytes of the "
                                         "caller's array: the file has changed")
