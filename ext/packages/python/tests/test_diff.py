"""`ztensor-sql diff` of whole models, and of models of transformers with their GGUF."""
import json
import math

import collection as parts
import numpy as np
import pytest
import writer
from commanding import Command, floats, safetensors
from tensor_files import bf16, f32, gguf
from ztensor_sqlite import naming

BASE = parts.BASE
ORDER = "compared in the order of rows that llama.cpp gives to q and k"
MAPPED = "names are mapped between transformers and GGUF, architecture {}"


@pytest.fixture
def command(collection):
    return Command(collection)


def test_a_sharded_model_and_its_one_file_are_the_same(command):
    for folder in (parts.SHARDED, parts.SHARDED_BIN, parts.SHARDED + "/model.safetensors.index.json", "backup/same-values.safetensors"):
        out, err = command("diff", BASE, folder)
        assert (out, err) == ("", "39 tensors: 39 the same, 0 not\n"), folder
    assert command("diff", parts.GGUF_SPLIT, "gguf/tiny-llama-Q8_0.gguf")[1] == "39 tensors: 39 the same, 0 not\n"


def test_a_fine_tune_differs_in_the_layers_that_were_trained(command):
    rows = command.json("diff", BASE, parts.CHAT, status=1)
    assert len(rows) == 18 and {row["object"].split(".")[2] for row in rows} == {"2", "3"}
    assert [row["distance"] for row in rows] == sorted((row["distance"] for row in rows), reverse=True)
    values = {name: array for name, array in parts.llama().items()}
    tuned = parts.tuned(values, "chat")
    for row in rows:
        a, b = (model[row["object"]].astype("f8") for model in (values, tuned))
        expected = np.linalg.norm(a - b) / max(np.linalg.norm(a), np.linalg.norm(b))
        assert math.isclose(row["distance"], expected, rel_tol=1e-9), row


def test_a_missing_shard_is_no_difference_of_the_models(command):
    out, err = command("diff", BASE, parts.MISSING_SHARD, "--json", status=1)
    rows = json.loads(out)
    assert len(rows) == 13 and {(row["change"], row["note"]) for row in rows} == {("removed", "the other model lacks model-00002-of-00003.safetensors")}
    assert "1 of its 3 files is missing" in err
    assert {row["change"] for row in command.json("diff", parts.MISSING_SHARD, BASE, status=1)} == {"added"}


def test_a_folder_of_several_models_is_refused(command):
    assert "there are 2 models in it, name one" in command.refused("diff", BASE, parts.TWO_FORMATS)
    assert command.refused("diff", BASE, "nowhere") == "ztensor: nowhere: cannot open: No such file or directory"


def test_a_catalog_keeps_distances_of_single_files(command, tmp_path):
    command("catalog", "hub", "--db", tmp_path / "c.db")
    assert "--db saves the distances of single files" in command.refused("diff", BASE, parts.SHARDED, "--db", tmp_path / "c.db")
    command("diff", BASE, parts.CHAT, "--db", tmp_path / "c.db", status=1)


def test_a_tensor_in_two_files_of_a_model_is_refused(command, tmp_path):
    for number in (1, 2):
        safetensors(tmp_path / f"m-0000{number}-of-00002.safetensors", {"w": floats(number)})
    assert "tensor 'w' is in two files" in command.refused("diff", tmp_path, BASE)


# ---- transformers and GGUF

@pytest.mark.parametrize("model, other, architecture, count", [
    (BASE, "gguf/tiny-llama-F32.gguf", "llama", 39), (BASE, "gguf/tiny-llama-BF16.gguf", "llama", 39), (parts.SHARDED, "gguf/tiny-llama-F32.gguf", "llama", 39),
    ("hub/globex/tiny-qwen2", "gguf/tiny-qwen2-BF16.gguf", "qwen2", 26), ("hub/globex/tiny-gemma", "gguf/tiny-gemma-BF16.gguf", "gemma", 20),
    ("hub/globex/tiny-phi3", "gguf/tiny-phi3-BF16.gguf", "phi3", 15)])
def test_a_model_and_its_gguf_are_the_same(command, model, other, architecture, count):
    for a, b in ((model, other), (other, model)):
        out, err = command("diff", a, b)
        assert (out, err) == ("", f"{MAPPED.format(architecture)}\n{count} tensors: {count} the same, 0 not\n")


def test_what_was_changed_is_said(command):
    rows = {row["object"]: row for row in command.json("diff", BASE, "gguf/tiny-llama-F32.gguf", "--all")}
    q, v = rows["model.layers.1.self_attn.q_proj.weight"], rows["model.layers.1.self_attn.v_proj.weight"]
    assert (q["other_object"], q["change"], q["elements"], q["distance"], q["note"]) == ("blk.1.attn_q.weight", "same", 1024, 0.0, ORDER)
    assert (v["other_object"], v["change"], v["note"]) == ("blk.1.attn_v.weight", "same", None)
    norms = [row for row in command.json("diff", "hub/globex/tiny-gemma", "gguf/tiny-gemma-BF16.gguf", "--all") if "norm" in row["object"]]
    assert len(norms) == 5 and {row["note"] for row in norms} == {"compared with 1 added, as llama.cpp stores norms of this architecture"}


def test_quantizations_are_at_the_distance_of_their_bits(command):
    """Each of a tensor in another order of rows, too: a wrong order would be at distance 1.4."""
    worst = {}
    for kind in ("Q8_0", "Q6_K", "Q5_0", "Q4_0"):
        rows = command.json("diff", BASE, f"gguf/tiny-llama-{kind}.gguf", status=1)
        assert len(rows) == 30 and {row["other_type"] for row in rows} <= {kind.lower(), "q8_0"}, kind
        worst[kind] = max(row["distance"] for row in rows)
    assert worst["Q8_0"] < 0.01 < worst["Q6_K"] < 0.03 < worst["Q5_0"] < 0.06 < worst["Q4_0"] < 0.12


def test_distances_of_reordered_tensors_are_those_of_their_values(command):
    rows = {row["object"]: row for row in command.json("diff", BASE, "gguf/tiny-llama-chat-F16.gguf", status=1)}
    base = parts.llama()
    chat = parts.tuned(base, "chat", lambda name: name.startswith(("model.layers.2.", "model.layers.3.")))
    for name in ("model.layers.2.self_attn.q_proj.weight", "model.layers.3.self_attn.k_proj.weight"):
        a, b = base[name].astype("f8"), chat[name].astype("f2").astype("f8")
        row = rows[name]
        assert math.isclose(row["distance"], np.linalg.norm(a - b) / max(np.linalg.norm(a), np.linalg.norm(b)), rel_tol=1e-9)
        assert math.isclose(row["rmse"], math.sqrt(((a - b) ** 2).mean()), rel_tol=1e-9) and math.isclose(row["max_abs"], abs(a - b).max(), rel_tol=1e-9)
        assert math.isclose(row["cosine"], (a * b).sum() / np.linalg.norm(a) / np.linalg.norm(b), rel_tol=1e-9)
        assert row["equal"] == (a == b).sum() and row["nans"] == 0


def test_experts_are_compared_one_by_one(command, tmp_path):
    tensors = {name: array for name, array in parts.mixtral().items()}
    stacked = parts.of_llama_cpp({name: array for name, array in tensors.items() if "block_sparse_moe" not in name})
    for layer in range(2):
        at = f"model.layers.{layer}.block_sparse_moe."
        stacked[f"blk.{layer}.ffn_gate_inp.weight"] = tensors[at + "gate.weight"]
        for part, name in (("w1", "ffn_gate_exps"), ("w2", "ffn_down_exps"), ("w3", "ffn_up_exps")):
            stacked[f"blk.{layer}.{name}.weight"] = np.stack([tensors[f"{at}experts.{i}.{part}.weight"] for i in range(3)])
    path = gguf(tmp_path / "mixtral.gguf", parts._keys("llama", 2, "mixtral", 64), {name: ("f32", array) for name, array in stacked.items()})
    assert command("diff", "hub/globex/tiny-mixtral", path)[1].endswith("35 tensors: 35 the same, 0 not\n")
    assert command("diff", path, "hub/globex/tiny-mixtral")[1].endswith("35 tensors: 35 the same, 0 not\n")
    stacked["blk.1.ffn_up_exps.weight"] = stacked["blk.1.ffn_up_exps.weight"].copy()
    stacked["blk.1.ffn_up_exps.weight"][2] += 1
    stacked["blk.0.ffn_up_exps.weight"] = np.concatenate([stacked["blk.0.ffn_up_exps.weight"]] * 2)
    path = gguf(tmp_path / "changed.gguf", parts._keys("llama", 2, "mixtral", 64), {name: ("f32", array) for name, array in stacked.items()})
    rows = command.json("diff", "hub/globex/tiny-mixtral", path, status=1)
    assert [(row["object"][13:], row["change"]) for row in rows] == [
        (f"0.block_sparse_moe.experts.{i}.w3.weight", "incomparable") for i in range(3)] + [("1.block_sparse_moe.experts.2.w3.weight", "changed")]
    assert rows[0]["error"] == "3 experts of shape [64,32], and shape [6,64,32]" and rows[3]["max_abs"] == 1.0


def test_names_that_the_table_lacks_are_told(command, tmp_path):
    tensors = {name: bf16(array) for name, array in parts.llama().items()}
    tensors |= {"model.layers.0.self_attn.rotary_emb.inv_freq": floats(1, 2), "model.layers.0.self_attn.lookahead.weight": floats(1)}
    path = safetensors(tmp_path / "more.safetensors", tensors)
    rows = command.json("diff", path, "gguf/tiny-llama-F32.gguf", status=1)
    assert [(row["object"], row["change"], row["note"]) for row in rows] == [
        ("model.layers.0.self_attn.lookahead.weight", "removed", "there is no counterpart by this architecture's table"),
        ("model.layers.0.self_attn.rotary_emb.inv_freq", "removed", "llama.cpp computes it")]


def test_a_head_that_is_the_embedding_is_told(command, tmp_path):
    tensors = {name: ("f32", array) for name, array in parts.of_llama_cpp(parts.llama()).items() if name != "output.weight"}
    tensors["blk.0.attn_sinks"] = ("f32", parts.values("sinks", 4))
    path = gguf(tmp_path / "tied.gguf", parts._keys("llama", 4, "tied"), tensors)
    rows = command.json("diff", BASE, path, status=1)
    assert [(row["object"], row["change"], row["note"]) for row in rows] == [
        ("blk.0.attn_sinks", "added", "no tensor of the other model is its counterpart by this architecture's table"),
        ("lm_head.weight", "removed", "its counterpart, output.weight, is not there: llama.cpp uses token_embd.weight in its place")]


def test_an_architecture_that_is_not_known_is_told(command, tmp_path):
    base = {name: ("f32", array) for name, array in parts.of_llama_cpp(parts.llama()).items()}
    for keys, said in (({"general.architecture": "cohere9"}, "its architecture, cohere9, is not among llama, "), ({}, "it states no general.architecture")):
        path = gguf(tmp_path / "model.gguf", keys, base)
        out, err = command("diff", BASE, path, status=1)
        assert f"names are not mapped: {said}" in err and err.endswith("78 tensors: 0 the same, 78 not\n")
        assert {line.split("\t")[2] for line in out.splitlines()[1:]} == {"added", "removed"}
    assert command("diff", BASE, "gguf/tiny-llama-F32.gguf", "--map", "none", status=1)[1] == "78 tensors: 0 the same, 78 not\n"


@pytest.mark.parametrize("heads, said", [({"llama.attention.head_count": 3}, "3"), ({}, "None"), ({"llama.attention.head_count": "4"}, "4"),
                                         ({"llama.attention.head_count": 0}, "0"), ({"llama.attention.head_count": 64}, "64")])
def test_without_a_number_of_heads_that_fits_there_is_no_distance(command, tmp_path, heads, said):
    tensors = {name: ("f32", array) for name, array in parts.of_llama_cpp(parts.llama()).items()}
    path = gguf(tmp_path / "model.gguf", {"general.architecture": "llama", **heads}, tensors)
    rows = command.json("diff", BASE, path, status=1)
    assert len(rows) == 8 and {(row["change"], row["distance"], row["error"]) for row in rows} == {
        ("incomparable", None, f"llama.cpp has put its rows in another order, which depends on the number of heads: {said}")}


def test_other_shapes_and_nan_among_reordered_tensors(command, tmp_path):
    tensors = parts.of_llama_cpp(parts.llama())
    tensors["blk.0.attn_q.weight"] = np.zeros((32, 16), "f4")
    tensors["blk.1.attn_q.weight"] = np.full((32, 32), np.nan, "f4")
    tensors["blk.2.attn_q.weight"] = np.full((32, 32), 3e38, "f4")
    path = gguf(tmp_path / "model.gguf", parts._keys("llama", 4, "x"), {name: ("f32", array) for name, array in tensors.items()})
    rows = {row["object"].split(".")[2]: row for row in command.json("diff", BASE, path, status=1)}
    assert len(rows) == 3 and (rows["0"]["change"], rows["0"]["error"]) == ("incomparable", "shape [32,32] and shape [32,16]")
    assert (rows["1"]["change"], rows["1"]["nans"], rows["1"]["distance"]) == ("incomparable", 1024, None)
    assert rows["2"]["change"] == "changed" and math.isclose(rows["2"]["distance"], 1, rel_tol=1e-6)
    again = command.json("diff", path, path, status=0)
    assert again == []


def test_odd_tensors_among_those_that_are_reordered(command, tmp_path):
    """Each is a row with its reason, whatever the files say."""
    odd = [writer.dense(bytes(4), [], "f32"), writer.dense(b"", [0, 4], "f32"), writer.dense(b"", [8, 0], "f32"), writer.dense(bytes(64), [8, 1], "i64"),
           writer.dense(bytes(32), [8, 4], "f99"), writer.dense(bytes(32), [8, 4], "u8", type="f8_e5m2"), writer.dense(bytes(8), [8, 4], "f32")]
    paths = []
    for path, name in (("a.zt", "model.layers.{}.self_attn.q_proj.weight"), ("b.zt", "blk.{}.attn_q.weight")):
        paths.append(tmp_path / path)
        paths[-1].write_bytes(writer.write({name.format(i): object for i, object in enumerate(odd)}, "1.2",
                                           {"general.architecture": "llama", "llama.attention.head_count": 4}))
    rows = {row["object"].split(".")[2]: row for row in command.json("diff", *paths, "--all", status=1)}
    assert {number for number, row in rows.items() if row["change"] == "same"} == {"2", "5"} and len(rows) == len(odd)
    reasons = {"0": "the number of heads: 4", "1": "the number of heads: 4", "3": "integers of 64 bits are not put in order", "4": "f99", "6": "32 elements of f32 are 128 bytes, and it has 8"}
    for number, reason in reasons.items():
        assert rows[number]["change"] == "incomparable" and reason in rows[number]["error"], rows[number]


def test_names_of_files_cannot_do_anything_to_a_terminal(command, tmp_path):
    path = gguf(tmp_path / "model.gguf", {"general.architecture": "\x1b[2J"}, {name: ("f32", array) for name, array in parts.of_llama_cpp(parts.llama()).items()})
    assert "its architecture, \\x1b[2J, is not among" in command("diff", BASE, path, status=1)[1]


def test_a_selection_of_tensors(command):
    rows = command.json("diff", BASE, parts.CHAT, "--name", "*.3.*norm*", status=1)
    assert sorted(row["object"] for row in rows) == ["model.layers.3.input_layernorm.weight", "model.layers.3.post_attention_layernorm.weight"]
    assert command("diff", BASE, parts.CHAT, "--name", "*.0.*")[1] == "9 tensors: 9 the same, 0 not\n"
    assert command("diff", BASE, "gguf/tiny-llama-F32.gguf", "--name", "blk.2.*", "--all")[1].endswith("9 tensors: 9 the same, 0 not\n")


# ---- Models within a wrapper

@pytest.mark.parametrize("prefix", naming.WRAPPERS)
def test_names_within_a_wrapper(command, tmp_path, prefix):
    tensors = {"a.w": floats(1), "b.w": floats(2), "c": floats(3)}
    bare = safetensors(tmp_path / "bare.safetensors", tensors)
    tensors["b.w"] = floats(4)
    wrapped = safetensors(tmp_path / "wrapped.safetensors", {**{prefix + name: tensor for name, tensor in tensors.items()}, "epoch": floats(7)})
    for a, b, side in ((bare, wrapped, "second"), (wrapped, bare, "first")):
        out, err = command("diff", a, b, "--csv", status=1)
        assert err == f"names are compared without '{prefix}' of the {side} model\n4 tensors: 2 the same, 2 not\n"
        assert "epoch" in out and "changed" in out
    assert command("diff", bare, wrapped, "--map", "none", status=1)[1] == "7 tensors: 0 the same, 7 not\n"


# ---- Names alone

@pytest.mark.parametrize("architecture, name, expected", [
    ("llama", "model.embed_tokens.weight", ("token_embd.weight", None, None)), ("llama", "lm_head.weight", ("output.weight", None, None)),
    ("llama", "model.layers.31.self_attn.k_proj.weight", ("blk.31.attn_k.weight", "rows", None)),
    ("llama", "model.layers.0.self_attn.q_proj.bias", ("blk.0.attn_q.bias", "rows", None)),
    ("llama", "language_model.model.layers.3.mlp.up_proj.weight", ("blk.3.ffn_up.weight", None, None)),
    ("llama", "model.layers.1.block_sparse_moe.experts.7.w2.weight", ("blk.1.ffn_down_exps.weight", "expert", 7)),
    ("qwen3", "model.layers.1.self_attn.q_norm.weight", ("blk.1.attn_q_norm.weight", None, None)),
    ("qwen3moe", "model.layers.1.mlp.experts.127.down_proj.weight", ("blk.1.ffn_down_exps.weight", "expert", 127)),
    ("qwen2moe", "model.layers.1.mlp.shared_expert.up_proj.weight", ("blk.1.ffn_up_shexp.weight", None, None)),
    ("gemma2", "model.layers.1.post_attention_layernorm.weight", ("blk.1.post_attention_norm.weight", "plus one", None)),
    ("gemma2", "model.layers.1.pre_feedforward_layernorm.weight", ("blk.1.ffn_norm.weight", "plus one", None)),
    ("gemma3", "model.layers.1.self_attn.k_norm.weight", ("blk.1.attn_k_norm.weight", "plus one", None)),
    ("gemma", "model.norm.weight", ("output_norm.weight", "plus one", None)), ("phi3", "model.layers.1.mlp.gate_up_proj.weight", ("blk.1.ffn_up.weight", None, None)),
    ("llama", "model.layers.1.self_attn.qkv_proj.weight", None), ("llama", "vision_tower.layers.1.self_attn.q_proj.weight", None), ("llama", "model.norm.bias", None)])
def test_names_in_gguf(architecture, name, expected):
    assert naming.in_gguf(name, architecture) == expected


def test_names_of_adapters_and_optimizers():
    assert all(map(naming.is_lora_b, ["base_model.model.q.lora_B.weight", "q.lora_B.default.weight", "lora_unet_x.lora_up.weight", "q.lora.up.weight", "blk.0.attn_q.weight.lora_b"]))
    assert not any(map(naming.is_lora_b, ["q.lora_A.weight", "x.lora_down.weight", "lora_Bias.weight", "explora_b2"]))
    assert all(map(naming.is_optimizer, ["optimizer.state.0.exp_avg", "optim.0", "state.3.exp_avg_sq", "opt_state/0/mu", "optimizer/vars/3"]))
    assert not any(map(naming.is_optimizer, ["model.optimal.weight", "optimizers_guide", "model.exp_average"]))
