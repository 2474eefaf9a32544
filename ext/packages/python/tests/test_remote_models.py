"""Whole models on the hub and in a bucket, by the servers of tests/remote."""
import os
import sys

import pytest
from commanding import Command
from conftest import ROOT

sys.path.append(str(ROOT / "tests" / "remote"))

HUB = "hf://example/tiny-llama"
PARTS = HUB + "/model-*-of-00002.safetensors"


@pytest.fixture(scope="module")
def environment():
    from examples import Examples

    return Examples().environment


@pytest.fixture
def command(tmp_path, environment):
    made = Command(tmp_path)
    made.variables = {**made.variables, **environment}
    return made


def test_a_model_on_the_hub_is_one_by_the_numbers_of_its_files(command):
    rows = command.json("tree", HUB, "--remote")
    assert [row["module"] for row in rows] == [PARTS, "model", "model.embed_tokens", "model.layers.[0-1]", "model.layers.[0-1].self_attn.q_proj",
                                               "model.layers.[0-1].mlp.down_proj", "model.layers.[0-1].input_layernorm", "model.norm", "lm_head"]
    assert (rows[0]["tensors"], rows[0]["parameters"]) == (9, 2 * 64 * 32 + 2 * (32 * 32 + 32 * 96 + 32) + 32)
    assert command.json("tree", PARTS, "--remote") == rows


def test_it_is_compared_and_written(command, tmp_path):
    command("convert", HUB, "local.zt", "--remote")
    out, err = command("diff", HUB, "local.zt", "--remote")
    assert (out, err) == ("", "9 tensors: 9 the same, 0 not\n")
    assert command("check", HUB, "--remote")[1] == "2 files: 0 errors, 0 warnings\n"


def test_several_models_of_a_bucket_are_named(command):
    assert "there are 4 models in it, name one: s3://models/runs/1/model.safetensors, " in command.refused("tree", "s3://models/runs", "--remote")


def test_nothing_is_asked_without_leave(command):
    assert "nothing is sent unless --remote is given" in command.refused("tree", HUB)
    assert os.listdir(command.directory) == []
