"""Which files are one model: from paths, and of sources."""
import json
import os
import shutil

import collection as parts
import pytest
from commanding import GOLDEN, floats, safetensors
from ztensor_sqlite import models
from ztensor_sqlite.models import Index, Model, group
from ztensor_sqlite.session import Session, Trouble


@pytest.fixture
def session():
    return Session()


def grouped(paths, **more):
    return [(model.name, list(model.files), list(model.missing)) for model in group(paths, **more)]


# ---- From paths alone

def test_a_file_is_a_model():
    assert grouped(["b.gguf", "a.safetensors", "b.gguf"]) == [("b.gguf", ["b.gguf"], []), ("a.safetensors", ["a.safetensors"], [])]


def test_numbered_files_are_one_model_and_those_that_lack_are_named():
    paths = ["m/x.zt", "m/a-00003-of-00003.gguf", "m/a-00001-of-00003.gguf", "m/a-00001-of-00002.gguf", "m/a-00002-of-00002.gguf", "n/a-00002-of-00002.gguf"]
    assert grouped(paths) == [
        ("m/x.zt", ["m/x.zt"], []),
        ("m/a-*-of-00003.gguf", ["m/a-00001-of-00003.gguf", "m/a-00003-of-00003.gguf"], ["m/a-00002-of-00003.gguf"]),
        ("m/a-*-of-00002.gguf", ["m/a-00001-of-00002.gguf", "m/a-00002-of-00002.gguf"], []),
        ("n/a-*-of-00002.gguf", ["n/a-00002-of-00002.gguf"], ["n/a-00001-of-00002.gguf"])]


@pytest.mark.parametrize("name", ["a-00000-of-00003.gguf", "a-00004-of-00003.gguf", "a-00001-of-99999.gguf", "a-1-of-3.gguf", "a-00001-of-00003"])
def test_other_numbers_are_part_of_a_name(name):
    assert grouped([name]) == [(name, [name], [])]


def test_one_of_one_is_a_file():
    assert grouped(["a-00001-of-00001.gguf"]) == [("a-00001-of-00001.gguf", ["a-00001-of-00001.gguf"], [])]


def test_remote_files_by_their_numbers():
    at = "hf://org/model/model-0000{}-of-00002.safetensors"
    assert grouped([at.format(1), at.format(2)]) == [("hf://org/model/model-*-of-00002.safetensors", [at.format(1), at.format(2)], [])]


def test_an_index_names_files_of_any_name_and_those_of_its_numbers_that_it_lacks():
    index = Index({"w": "first.safetensors", "v": "a-00001-of-00003.safetensors", "u": "gone.safetensors"})
    paths = ["m/a-00001-of-00003.safetensors", "m/a-00002-of-00003.safetensors", "m/first.safetensors", "m/other.safetensors"]
    found = group(paths, {"m/model.safetensors.index.json": index})
    assert found == [Model("m/model.safetensors.index.json", ("m/a-00001-of-00003.safetensors", "m/a-00002-of-00003.safetensors", "m/first.safetensors"),
                           ("m/gone.safetensors",), "m/model.safetensors.index.json"), Model("m/other.safetensors", ("m/other.safetensors",))]
    assert not found[0].is_whole and found[1].is_whole


def test_shards_of_ztensor_belong_to_the_file_that_names_them():
    paths = ["m/a-00001-of-00002.zt", "m/a-x.zt", "m/a.zt", "m/b-00001-of-00002.zt"]
    assert group(paths, shards={"m/a.zt": ["m/a-x.zt", "m/a-y.zt"]}) == [
        Model("m/a-00001-of-00002.zt", ("m/a-00001-of-00002.zt",)), Model("m/a.zt", ("m/a.zt",), ("m/a-y.zt",), parts=("m/a-x.zt",)),
        Model("m/b-*-of-00002.zt", ("m/b-00001-of-00002.zt",), ("m/b-00002-of-00002.zt",))]


# ---- Of a source

def test_each_folder_of_the_collection_that_holds_one_model(collection, session, monkeypatch):
    monkeypatch.chdir(collection)
    for folder, count in ((parts.BASE, 1), (parts.SHARDED, 3), (parts.MISSING_SHARD, 2), (parts.WRONG_INDEX, 3), (parts.SHARDED_BIN, 2),
                          (parts.GGUF_SPLIT, 3), (parts.GGUF_MISSING, 2), (parts.TRAINED_LORA.format(0), 1), (f"{parts.RUN}/step-100", 1)):
        model = models.one(session, folder)
        assert len(model.files) == count and all(os.path.dirname(path) == folder for path in model.files), model
        assert session.value(f"SELECT count(*) FROM zt_objects('{model.source}')") > 0
        assert model.is_whole == (folder not in (parts.MISSING_SHARD, parts.GGUF_MISSING))
        again = models.one(session, model.name)   # A name is a source
        assert (again.files, again.missing) == (model.files, model.missing), folder


def test_a_folder_of_several_models_is_refused_with_their_names(collection, session):
    with pytest.raises(Trouble, match=r"there are 2 models in it, name one: .*both/model.safetensors, .*both/pytorch_model.bin$"):
        models.one(session, str(collection / parts.TWO_FORMATS))
    with pytest.raises(Trouble, match=r"there are 6 models in it, name one: .*, \.\.\.$"):
        models.one(session, str(collection / parts.PIPELINE))


def test_every_file_of_the_collection_is_in_one_model(collection, session):
    found = models.of(session, str(collection))
    files = [path for model in found for path in (*model.files, *model.parts)]
    assert sorted(files) == sorted(path for path, in session.run(f"SELECT path FROM zt_files('{collection}')"))
    assert [len(model.files) for model in found if len(model.files) > 1] == [2, 3, 2, 2, 3, 3, 3]


def test_a_named_file_is_itself(collection, session):
    path = str(collection / parts.GGUF_SPLIT / "tiny-llama-Q8_0-00001-of-00003.gguf")
    assert models.of(session, path) == [Model(path, (path,))]


def test_two_named_files_of_three_lack_none(collection, session):
    paths = [str(collection / parts.SHARDED / f"model-0000{i}-of-00003.safetensors") for i in (1, 2)]
    (model,) = models.of(session, json.dumps(paths))
    assert list(model.files) == paths and model.is_whole


def test_shards_of_a_ztensor_file(session, tmp_path):
    for name in ("hand_sharded.zt", "hand_sharded-part-1.zt", "crate_overlay.zt", "crate_overlay-base.zt", "crate_overlay-00001-of-00002.zt",
                 "hand_sharded_missing.zt"):
        shutil.copy(GOLDEN / "ztensor" / "golden" / "v2" / name, tmp_path)
    found = {os.path.basename(model.name): model for model in models.of(session, str(tmp_path))}
    assert {name: [os.path.basename(path) for path in model.parts] for name, model in found.items()} == {
        "crate_overlay-00001-of-00002.zt": [], "crate_overlay-base.zt": [], "crate_overlay.zt": [], "hand_sharded.zt": ["hand_sharded-part-1.zt"],
        "hand_sharded_missing.zt": []}   # Shards with tensors of their own are models, too


def test_an_index_all_of_whose_files_are_missing(session, tmp_path):
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"w": "a.safetensors"}}))
    (model,) = models.of(session, str(tmp_path))
    assert model.files == () and model.missing == (str(tmp_path / "a.safetensors"),)
    assert session.value(f"SELECT count(*) FROM zt_objects('{model.source}')") == 0


def test_a_name_with_special_characters_is_a_source(session, tmp_path):
    for number in (1, 2):
        safetensors(tmp_path / "a [b] *?" / f"m[1]-0000{number}-of-00002.safetensors", {f"w{number}": floats(1)})
    (model,) = models.of(session, str(tmp_path))
    assert len(models.one(session, model.name).files) == 2, model.name


# ---- Indexes

@pytest.mark.parametrize("text, error", [
    ("{", "this is not JSON"), ("[" * 100_000, "this is not JSON"), ("[]", "there is no weight_map of names of files"),
    ('{"weight_map": []}', "there is no weight_map of names of files"), ('{"weight_map": {"w": 1}}', "there is no weight_map of names of files"),
    ('{"weight_map": {"w": "../a.safetensors"}}', "'../a.safetensors' is no name of a file beside it"),
    ('{"weight_map": {"w": "/etc/passwd"}}', "'/etc/passwd' is no name of a file beside it"),
    ('{"weight_map": {"w": "s3:x"}}', "'s3:x' is no name of a file beside it"), ('{"weight_map": {"w": ".."}}', "'..' is no name of a file beside it"),
    ('{"weight_map": {"w": ""}}', "'' is no name of a file beside it"), ('{"weight_map": {"w": "a\\u0000"}}', "'a\\x00' is no name of a file beside it"),
    ('{"weight_map": {"w": "\\ud800"}}', "'\\ud800' is no name of a file beside it"),
    ('{"weight_map": {"\\ud800": "a"}}', "a name of a tensor is not UTF-8 without U+0000"),
    ('{"weight_map": {"a\\u0000b": "a"}}', "a name of a tensor is not UTF-8 without U+0000")])
def test_indexes_that_cannot_be_used(session, tmp_path, text, error):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text(text)
    assert models.read_index(str(path)) == Index({}, error=error)
    safetensors(tmp_path / "a.safetensors", {"w": floats(1)})
    assert models.one(session, str(tmp_path)).files == (str(tmp_path / "a.safetensors"),)


def test_a_pipe_that_is_called_an_index_is_not_read(session, tmp_path):
    os.mkfifo(tmp_path / "model.safetensors.index.json")
    safetensors(tmp_path / "a.safetensors", {"w": floats(1)})
    found, indexes = models.survey(session, str(tmp_path))
    assert [index.error for index in indexes.values()] == ["this is no regular file"] and len(found) == 1


def test_names_of_indexes(session, tmp_path):
    for name in ("model.safetensors.index.fp16.json", "pytorch_model.bin.index.json"):
        safetensors(tmp_path / name / "part.safetensors", {"w": floats(1)})
        (tmp_path / name / name).write_text(json.dumps({"weight_map": {"w": "part.safetensors"}}))
        assert models.one(session, str(tmp_path / name)).index == str(tmp_path / name / name)
    (tmp_path / "other").mkdir()
    safetensors(tmp_path / "other" / "w.safetensors", {"w": floats(1)})
    (tmp_path / "other" / "search.index.json").write_text("{}")   # Of another program
    assert models.survey(session, str(tmp_path / "other"))[1] == {}


def test_an_index_of_files_that_were_not_fetched_is_no_model(session, collection, tmp_path):
    shutil.copytree(collection / parts.SHARDED, tmp_path / "m")
    shutil.copy(collection / parts.SHARDED_BIN / "pytorch_model.bin.index.json", tmp_path / "m")
    assert models.one(session, str(tmp_path / "m")).index == str(tmp_path / "m" / "model.safetensors.index.json")


def test_the_model_in_a_folder_and_not_those_below_it(session, tmp_path):
    for name in ("model.safetensors", "original/consolidated.safetensors", "onnx/model.safetensors"):
        safetensors(tmp_path / "m" / name, {"w": floats(1)})
    for source in (tmp_path / "m", f"{tmp_path}/m/"):
        assert models.one(session, str(source)).name == str(tmp_path / "m" / "model.safetensors")
    os.remove(tmp_path / "m" / "model.safetensors")
    with pytest.raises(Trouble, match="there are 2 models in it"):
        models.one(session, str(tmp_path / "m"))
    os.remove(tmp_path / "m" / "onnx" / "model.safetensors")
    assert models.one(session, str(tmp_path / "m")).name.endswith("original/consolidated.safetensors")
