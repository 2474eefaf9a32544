"""The collection that the other tests use is what it says."""
import collection as parts
from tensor_files import GGML
import ztensor_sqlite


def rows(sql, *parameters):
    return ztensor_sqlite.connect().execute(sql, parameters).fetchall()


def test_a_second_one_has_the_same_bytes_and_times(collection, tmp_path):
    again = parts.make(tmp_path / "again")
    ours, theirs = ({str(p.relative_to(root)): p for p in root.rglob("*")} for root in (collection, again))
    assert ours.keys() == theirs.keys()
    for name, path in ours.items():
        if path.is_file() and name != parts.HOLE:
            assert path.read_bytes() == theirs[name].read_bytes(), name
            assert path.stat().st_mtime == theirs[name].stat().st_mtime, name


def test_it_has_about_200_files_of_all_formats(collection):
    found = dict(rows("SELECT container, count(*) FROM zt_files(?) WHERE error IS NULL GROUP BY container", str(collection)))
    assert 200 <= sum(found.values()) <= 240
    assert found.keys() == {"gguf", "hdf5", "matlab", "msgpack", "npy", "npz", "onnx", "pickle", "pytorch", "safetensors", "tensorflow",
                            "tflite", "ztensor"}
    assert found["safetensors"] >= 70 and found["gguf"] >= 20 and found["pytorch"] >= 30
    hole = (collection / parts.HOLE).stat()
    assert hole.st_size > 8 << 30 and hole.st_blocks < 1000


def test_unreadable_files_are_those_that_it_names(collection):
    found = rows("SELECT path, error_kind FROM zt_files(?) WHERE error IS NOT NULL", str(collection))
    assert {path.removeprefix(f"{collection}/"): kind for path, kind in found} == {
        **parts.BROKEN, **parts.UNSUPPORTED, "backup/gone.safetensors": "missing"}


def test_quantizations_are_near_what_they_are_made_of(collection):
    """Each type at its own distance: a mistake in a block's layout is far off."""
    most = {"F16": 1e-8, "BF16": 0, "F32": 0, "Q8_0": 0.0003, "Q6_K": 0.0012, "Q5_1": 0.0025, "Q5_0": 0.0025, "Q4_1": 0.005, "Q4_0": 0.005, "Q4_K_M": 0.005}
    base = str(collection / "gguf/tiny-llama-F32.gguf")
    seen = set()
    for kind, rmse in most.items():
        path = str(collection / f"gguf/tiny-llama-{kind}.gguf")
        found = rows("SELECT o.format, o.type, c.rmse FROM zt_objects(?) AS o JOIN zt_compare(?, o.object, o.path, o.object) AS c", path, base)
        assert len(found) == 39 and all(distance is not None and distance <= rmse for *_, distance in found), (kind, found)
        seen |= {type if format == "dense" else format.removeprefix("gguf.") for format, type, _ in found}
    assert seen == GGML.keys()


def test_models_have_the_faults_that_they_are_called_after(collection):
    found = rows("SELECT object, nans, infs, zeros = elements FROM zt_stats(?) WHERE nans OR infs OR zeros = elements", str(collection / parts.NAN))
    assert {name.split(".")[2] for name, *_ in found} == set(map(str, parts.NAN_LAYERS)) and all(nans and not infs for _, nans, infs, _ in found)
    fresh = rows("SELECT object, zeros = elements FROM zt_stats(?)", str(collection / parts.FRESH_LORA.format(0)))
    assert len(fresh) == 16 and all(zero == ("lora_B" in name) for name, zero in fresh)
    assert rows("SELECT count(*) FROM zt_objects(?)", str(collection / parts.SHARDED)) == [(39,)]
    assert rows("SELECT count(*) FROM zt_objects(?)", str(collection / parts.GGUF_SPLIT)) == [(39,)]
    assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", str(collection / parts.BASE / "model.safetensors"),
                str(collection / "backup/same-values.safetensors")) == [(1,)]
