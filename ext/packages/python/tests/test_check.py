"""`ztensor-sql check` of whole models, and of values."""
import json
import os
import shutil
import subprocess

import collection as parts
import numpy as np
import pytest
from commanding import Command, floats, safetensors
from tensor_files import bf16, f32, gguf, i64, torch
from conftest import ROOT
import ztensor_sqlite
from ztensor_sqlite import findings


@pytest.fixture
def command(collection):
    return Command(collection)


def found(command, *arguments, status=0):
    """(path's last part, object, severity, rule, message)"""
    return [(os.path.basename(row["path"]), row["object"], row["severity"], row["rule"], row["message"])
            for row in command.json("check", *arguments, status=status)]


INDEX = "model.safetensors.index.json"


# ---- Whole models

@pytest.mark.parametrize("folder", [parts.BASE, parts.SHARDED, parts.SHARDED_BIN, parts.GGUF_SPLIT, parts.PIPELINE, parts.TWO_FORMATS])
def test_sound_models_have_no_findings(command, folder):
    out, err = command("check", folder)
    assert out == "" and err.endswith("0 errors, 0 warnings\n")


def test_a_missing_shard(command):
    expected = [(INDEX, None, "error", "missing-shard", "there is no file 'model-00002-of-00003.safetensors', which has 13 tensors by the index")]
    assert found(command, parts.MISSING_SHARD, status=1) == expected
    assert found(command, f"{parts.MISSING_SHARD}/{INDEX}", status=1) == expected
    assert found(command, "hub", status=1)[0] == expected[0]
    assert found(command, parts.GGUF_MISSING, status=1) == [
        ("tiny-llama-Q8_0-00001-of-00003.gguf", None, "error", "missing-shard", "there is no file 'tiny-llama-Q8_0-00002-of-00003.gguf'")]


def test_a_wrong_total_size(command):
    assert found(command, parts.WRONG_TOTAL) == [
        (INDEX, None, "warning", "total-size", "metadata.total_size is 234048, and the tensors have 229952 bytes")]


def test_an_index_that_disagrees_with_its_files(command):
    assert found(command, parts.WRONG_INDEX, status=1) == [
        (INDEX, "model.norm.weight", "error", "wrong-shard", "the index says 'model-00001-of-00003.safetensors', and it is in 'model-00003-of-00003.safetensors'"),
        (INDEX, "model.rotary.inv_freq", "error", "not-in-shard", "the index says 'model-00002-of-00003.safetensors', and no file has it"),
        (INDEX, "model.layers.0.mlp.up_proj.weight", "warning", "not-in-index", "it is in 'model-00001-of-00003.safetensors', and the index does not name it")]


def test_findings_are_those_of_the_script(command, collection):
    """sql/safetensors_index.sql compares indexes, too, in the sqlite3 shell."""
    done = subprocess.run(["sqlite3", "-list", ":memory:", ".load ./ztensor", f".parameter set :folder '{collection / 'hub'}'", ".read sql/safetensors_index.sql"],
                          capture_output=True, text=True, check=True, cwd=ROOT)
    script = {(os.path.basename(os.path.dirname(path)), finding.replace("_", "-"), name) for path, finding, name, *_ in (line.split("|") for line in done.stdout.splitlines())}
    ours = {(os.path.basename(os.path.dirname(row["path"])), row["rule"], row["object"] or row["message"].split("'")[1] if row["rule"] != "total-size" else "234048")
            for row in command.json("check", "hub", status=1)}
    script.remove((os.path.basename(parts.MISSING_SHARD), "total-size", "229952"))   # Here it follows from the missing shard
    assert ours == script and len(ours) == 5


@pytest.mark.parametrize("text, said", [("{", "this is not JSON"), ("{}", "there is no weight_map of names of files"),
                                        ('{"weight_map": {"w": "../../secret.safetensors"}}', "'../../secret.safetensors' is no name of a file beside it")])
def test_a_broken_index(tmp_path, text, said):
    safetensors(tmp_path / "m" / "a.safetensors", {"w": floats(1)})
    (tmp_path / "m" / INDEX).write_text(text)
    command = Command(tmp_path)
    assert found(command, "m", status=1) == [(INDEX, None, "error", "broken-index", said)]


def test_an_index_without_any_file(tmp_path):
    (tmp_path / INDEX).write_text(json.dumps({"weight_map": {"w": "a.safetensors", "v": "a.safetensors"}}))
    command = Command(tmp_path)
    expected = [(INDEX, None, "error", "missing-shard", "there is no file 'a.safetensors', which has 2 tensors by the index")]
    assert found(command, tmp_path / INDEX, status=1) == expected == found(command, tmp_path, status=1)


def test_an_index_of_files_that_were_not_fetched_is_a_note(collection, tmp_path):
    shutil.copytree(collection / parts.SHARDED, tmp_path / "m")
    shutil.copy(collection / parts.SHARDED_BIN / "pytorch_model.bin.index.json", tmp_path / "m")
    command = Command(tmp_path)
    assert command("check", "m") == ("", "3 files: 0 errors, 0 warnings (1 note: --notes)\n")
    assert found(command, "m", "--notes") == [("pytorch_model.bin.index.json", None, "note", "absent-model", "none of the 2 files that it names is there")]


def test_total_size_of_tied_tensors_counts_them_once(tmp_path):
    """PyTorch stores the bytes of tied weights once, and so does total_size."""
    shared = bf16(parts.values("w", 4, 8))
    torch(tmp_path / "pytorch_model-00001-of-00002.bin", {"a": shared, "b": shared})
    torch(tmp_path / "pytorch_model-00002-of-00002.bin", {"c": shared})
    index = {"metadata": {"total_size": 192}, "weight_map": {"a": "pytorch_model-00001-of-00002.bin", "b": "pytorch_model-00001-of-00002.bin",
                                                             "c": "pytorch_model-00002-of-00002.bin"}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert found(Command(tmp_path), ".") == []
    index["metadata"]["total_size"] = "much"
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert found(Command(tmp_path), ".")[0][3:] == ("total-size", 'metadata.total_size is "much", and the tensors have 192 bytes')


def test_a_tensor_in_two_files_of_a_model(tmp_path):
    for number in (1, 2):
        safetensors(tmp_path / f"m-0000{number}-of-00002.safetensors", {"w": floats(number), f"v{number}": floats(1)})
    assert found(Command(tmp_path), ".", status=1) == [
        ("m-00001-of-00002.safetensors", "w", "error", "repeated-tensor", "it is in 2 files: m-00001-of-00002.safetensors, m-00002-of-00002.safetensors")]


def test_splits_whose_keys_are_wrong(collection, tmp_path):
    def split(number, count, tensors, name):
        keys = {"split.no": ("u16", number), "split.count": ("u16", count), "split.tensors.count": ("i32", tensors)} if count else {}
        gguf(tmp_path / name, keys, {f"w{number}{name[0]}": ("f32", parts.values("w", 4))})

    split(0, 2, 2, "a-00001-of-00002.gguf"), split(1, 2, 2, "a-00002-of-00002.gguf")
    split(0, 2, 9, "b-00001-of-00002.gguf"), split(1, 2, 9, "b-00002-of-00002.gguf")
    split(1, 2, 2, "c-00001-of-00002.gguf"), split(0, 2, 2, "c-00002-of-00002.gguf")
    split(0, 0, 0, "d-00001-of-00002.gguf"), split(1, 2, 2, "d-00002-of-00002.gguf")
    assert [row[:1] + row[2:4] for row in found(Command(tmp_path), ".", status=1)] == [
        ("b-00001-of-00002.gguf", "error", "split-tensors"), ("c-00001-of-00002.gguf", "error", "split-misnamed"),
        ("c-00002-of-00002.gguf", "error", "split-misnamed"), ("d-00001-of-00002.gguf", "warning", "split-unmarked")]


def test_an_unreadable_shard_is_one_finding(collection, tmp_path):
    shutil.copytree(collection / parts.SHARDED, tmp_path / "m")
    path = tmp_path / "m" / "model-00002-of-00003.safetensors"
    path.write_bytes(path.read_bytes()[:5000])
    ((name, object, severity, rule, message),) = found(Command(tmp_path), "m", status=1)
    assert (name, severity, rule) == ("model-00002-of-00003.safetensors", "error", "data-offsets")


def test_a_single_file_is_not_compared_with_an_index(command):
    assert found(command, f"{parts.WRONG_INDEX}/model-00001-of-00003.safetensors") == []


def test_a_selection_of_names_applies_to_models(command):
    assert [row[3] for row in found(command, parts.WRONG_INDEX, "--name", "*norm*", status=1)] == ["wrong-shard"]
    assert [row[3] for row in found(command, parts.WRONG_INDEX, "--sort", "rule", "--top", 1, status=1)] == ["not-in-index"]


# ---- Values

def test_what_matters_comes_first(command):
    rows = found(command, "damaged", "hub/acme", "--values", status=1)
    rules = [rule for *_, rule, _ in rows if rule in ("nan-values", "infinite-values", "zero-values", "zero-lora-b")]
    order = ["nan-values", "infinite-values", "zero-values", "zero-lora-b"]
    assert rules == sorted(rules, key=order.index) and {rule: rules.count(rule) for rule in order} == {
        "nan-values": 18 + 1 + 1, "infinite-values": 3 + 1 + 1, "zero-values": 4 + 1, "zero-lora-b": 6 + 1}
    assert rows[-1] == ("adapter_model.safetensors", None, "note", "zero-lora-b", "all 8 B matrices are 0 by design: an adapter that has not been trained")


def test_values_of_each_model(command):
    rows = found(command, parts.NAN, "--values", status=1)
    assert {row[1].split(".")[2] for row in rows} == set(map(str, parts.NAN_LAYERS)) and {row[2:4] for row in rows} == {("error", "nan-values")}
    assert ("nan-layers.safetensors", "model.layers.1.self_attn.q_proj.weight", "error", "nan-values", "147 of 1024 elements are NaN") in rows
    assert {row[2:] for row in found(command, parts.ZERO, "--values")} == {("warning", "zero-values", "all 1024 elements are 0")}
    assert {row[2:4] for row in found(command, parts.INFINITE, "--values")} == {("warning", "infinite-values")}
    assert found(command, parts.BASE, "--values") == [] == found(command, parts.NAN)   # Only if values are asked for


def test_an_adapter_before_training_is_a_note_and_so_is_not_hidden(command):
    out, err = command("check", parts.FRESH_LORA.format(0), "--values")
    assert out.splitlines()[1].endswith("\tnote\tzero-lora-b\tall 8 B matrices are 0 by design: an adapter that has not been trained")
    assert err == "1 file: 0 errors, 0 warnings (1 note)\n"
    assert command("check", parts.TRAINED_LORA.format(0), "--values") == ("", "1 file: 0 errors, 0 warnings\n")


def test_a_matrix_that_training_left_out_is_a_warning(tmp_path):
    zero, one = (f32(np.full((4, 2), value, "f4")) for value in (0, 1))
    safetensors(tmp_path / "a.safetensors", {"q.lora_B.weight": zero, "v.lora_B.weight": one, "o.lora_B.weight": one, "q.lora_A.weight": one})
    assert found(Command(tmp_path), "a.safetensors", "--values") == [
        ("a.safetensors", "q.lora_B.weight", "warning", "zero-lora-b", "a B matrix is 0, while 2 others of this adapter have been trained")]
    safetensors(tmp_path / "b.safetensors", {"q.lora_A.weight": zero, "q.lora_B.weight": zero})
    assert [row[1:4] for row in found(Command(tmp_path), "b.safetensors", "--values")] == [
        ("q.lora_A.weight", "warning", "zero-values"), ("q.lora_B.weight", "note", "zero-lora-b")]


def test_zeros_that_may_be_meant_are_notes(tmp_path):
    safetensors(tmp_path / "a.safetensors", {"bias": floats(0, 0), "steps": i64(np.zeros((2, 2))), "empty": f32(np.zeros((0, 4), "f4")), "nan": floats(float("nan"))})
    command = Command(tmp_path)
    out, err = command("check", "a.safetensors", "--values", status=1)
    assert err == "1 file: 1 error, 0 warnings (2 notes: --notes)\n" and out.splitlines()[1].endswith("the element is NaN")
    assert [row[1:4] for row in found(command, "a.safetensors", "--values", "--notes", status=1)] == [
        ("nan", "error", "nan-values"), ("steps", "note", "zero-vector"), ("bias", "note", "zero-vector")]


def test_values_of_some_tensors(command):
    assert len(found(command, parts.NAN, "--values", "--name", "*.1.*proj*", status=1)) == 7
    assert found(command, parts.NAN, "--values", "--dtype", "f16") == []


# ---- The page of the rules

def test_the_page_has_the_rules():
    rows = "".join(f"| `{rule}` | {severity} | {meaning} |\n" for rule, (severity, meaning) in findings.RULES.items())
    assert f"| rule | severity | meaning |\n|---|---|---|\n{rows}\n" in (ROOT / "ext/packages/python/README.md").read_text()


def test_rules_that_the_extension_has_mean_the_same():
    known = {rule: severity for rule, severity in ztensor_sqlite.connect().execute("SELECT rule, severity FROM zt_rules")}
    assert {rule: findings.RULES[rule][0] for rule in findings.RULES if rule in known} == {"missing-shard": known["missing-shard"]}
