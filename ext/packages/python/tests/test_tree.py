"""`ztensor-sql tree`: the modules of a model, and folding."""
import collection as parts
import pytest
from commanding import GOLDEN, Command, floats, on_terminal, safetensors
from ztensor_sqlite.modules import Tensor, in_order, ranges, tree


@pytest.fixture
def command(collection):
    return Command(collection)


def test_a_tree_has_modules_with_parameters_bytes_and_share(command):
    rows = {row["module"]: row for row in command.json("tree", parts.BASE)}
    top = rows[parts.BASE + "/model.safetensors"]
    assert (top["tensors"], top["parameters"], top["bytes"], top["share"], top["types"]) == (39, 114976, 229952, 1.0, "bf16")
    layers = rows["model.layers.[0-3]"]
    assert (layers["copies"], layers["tensors"], layers["parameters"]) == (4, 36, 4 * (2 * 32 * 32 + 2 * 16 * 32 + 3 * 256 * 32 + 2 * 32))
    assert rows["model.layers.[0-3].mlp"]["bytes"] == 4 * 3 * 256 * 32 * 2
    assert rows["lm_head"]["share"] == 64 * 32 * 2 / 229952
    assert list(rows)[-1] == "lm_head" and list(rows)[2] == "model.embed_tokens"   # In the order of the model


def test_shares_of_what_is_in_a_module_are_its_share(command):
    rows = command.json("tree", parts.BASE)
    inner = [row for row in rows if row["module"].startswith("model.layers.[0-3].") and row["module"].count(".") == 3]
    assert len(inner) == 4
    (layers,) = (row for row in rows if row["module"] == "model.layers.[0-3]")
    for column in ("tensors", "parameters", "bytes"):
        assert sum(row[column] for row in inner) == layers[column]


def test_depth_tensors_and_unfold(command):
    assert [row["module"] for row in command.json("tree", parts.BASE, "--depth", 1)] == [parts.BASE + "/model.safetensors", "model", "lm_head"]
    rows = {row["module"]: row for row in command.json("tree", parts.BASE, "--tensors")}
    q = rows["model.layers.[0-3].self_attn.q_proj.weight"]
    assert (q["tensors"], q["parameters"], q["shape"]) == (4, 4096, [32, 32]) and rows["model.layers.[0-3]"]["shape"] is None
    names = [row["module"] for row in command.json("tree", parts.BASE, "--unfold", "--depth", 3)]
    assert [name for name in names if "layers" in name][0] == "model.layers" and "model.layers.3" in names


def test_a_sharded_model_and_a_split_one_are_one_tree(command):
    whole = command.json("tree", parts.BASE)
    for folder in (parts.SHARDED, parts.SHARDED_BIN):
        assert command.json("tree", folder)[1:] == whole[1:]
    split = command.json("tree", parts.GGUF_SPLIT)
    assert split[1:] == command.json("tree", "gguf/tiny-llama-Q8_0.gguf")[1:]
    assert {row["types"] for row in split if row["module"].endswith(".attn_q")} == {"q8_0"}


def test_a_model_without_a_shard_says_so(command):
    out, err = command("tree", parts.MISSING_SHARD, status=1)
    assert "1 of its 3 files is missing: model-00002-of-00003.safetensors" in err
    assert out.splitlines()[1].startswith(parts.MISSING_SHARD + "/model.safetensors.index.json\t1\t26\t")
    name = command.json("ls", "-t", parts.MISSING_SHARD)[0]["object"]
    assert "/dev/null: f32[" in command("export", parts.MISSING_SHARD, name, "/dev/null")[1]   # A tensor that is there is written


def test_layers_of_other_types_are_not_folded_with_the_rest(command, tmp_path):
    for name in (parts.WRONG_TOTAL, "gguf/tiny-llama-Q4_K_M.gguf"):
        assert any("[0-3]" in row["module"] for row in command.json("tree", name))
    tensors = {f"layers.{i}.w": floats(1, 2) if i != 3 else ("F16", [2], bytes(4)) for i in range(12)}
    path = safetensors(tmp_path / "mixed.safetensors", tensors)
    rows = command.json("tree", path)
    assert [(row["module"], row["copies"], row["types"]) for row in rows[1:]] == [
        ("layers", 1, "f32 f16"), ("layers.[0-2,4-11]", 11, "f32"), ("layers.3", 1, "f16")]


def test_tied_weights_are_told(command):
    err = command("tree", GOLDEN / "pytorch/golden/views.pt")[1]
    assert err == "2 tensors share the bytes of another one, such as tied weights: 384 B count more than once\n"   # base, transposed, tied
    assert command("tree", parts.BASE)[1] == ""


def test_csv_and_a_terminal(command):
    lines = command("tree", "hub/globex/tiny-gpt2", "--csv", "--depth", 1)[0].split("\r\n")
    assert lines[0] == "module,copies,tensors,parameters,bytes,share,types,shape" and lines[1].startswith("hub/globex/tiny-gpt2/model.safetensors,1,28,28032,56064,1.0,bf16,")
    command.variables["COLUMNS"] = "120"
    shown = on_terminal(command, "tree", "hub/globex/tiny-gpt2", "--depth", 1)
    assert [line.split() for line in shown[2:4]] == [["model.safetensors", "28", "28032", "56.1", "kB", "100.0", "%", "bf16"],
                                                     ["wte", "1", "2048", "4.1", "kB", "7.3", "%", "bf16"]]
    assert shown[3].startswith("  wte ")


def test_several_models_are_refused(command):
    assert "there are 2 models in it, name one: " in command.refused("tree", parts.TWO_FORMATS)
    assert "there is no tensor file" in command.refused("tree", "unsupported/nothing*")
    assert "the header's length" in command.refused("tree", "broken/half-header.safetensors")


# ---- Names alone

def modules(*names, **options):
    return [row.module for row in tree([Tensor(name, 1, 4, "f32") for name in names], **options)][1:]


def test_a_tensor_without_a_name_is_not_called_as_the_model(command, tmp_path):
    path = safetensors(tmp_path / "m.safetensors", {"": floats(1), "w": floats(2)})
    assert [row["module"] for row in command.json("tree", path)] == [str(path), "", "w"]


def test_names_of_any_kind():
    assert modules("w") == ["w"]
    assert modules("a/b/c", "a/b/d") == ["a/b"]
    assert modules("/a/b") == ["/a"]
    assert modules(".a..b.") == [".a."] and modules("...") == ["."] and modules("") == [""]
    assert modules("a.w", "a.w") == ["a"]
    assert modules("h.1.w", "h.01.w", "h.1000000000.w", "h.0.w") == ["h", "h.1000000000", "h.[0-1]", "h.01"]
    assert len(modules(".".join("a" * 100_000))) == 1   # Not as deep as the name


def test_numbers_are_ranges():
    assert ranges([0, 1, 2, 5, 7, 8]) == "0-2,5,7-8" and ranges([3]) == "3"


def test_the_order_of_a_model():
    names = ["lm_head.weight", "model.layers.10.w", "model.layers.2.w", "model.norm.weight", "model.embed_tokens.weight"]
    assert in_order(names) == ["model.embed_tokens.weight", "model.layers.2.w", "model.layers.10.w", "model.norm.weight", "lm_head.weight"]
    names = ["output.weight", "blk.10.w", "blk.9.w", "token_embd.weight", "output_norm.weight"]
    assert in_order(names) == ["token_embd.weight", "blk.9.w", "blk.10.w", "output_norm.weight", "output.weight"]


def test_experts_in_layers_are_folded_twice():
    names = [f"layers.{i}.experts.{j}.w{k}" for i in range(3) for j in range(4) for k in range(2)]
    (top,) = tree([Tensor(name, 2, 4, "f32") for name in names], depth=0)
    assert (top.tensors, top.parameters, top.bytes) == (24, 48, 96)
    (row,) = tree([Tensor(name, 2, 4, "f32") for name in names])[1:]
    assert (row.module, row.copies, row.tensors) == ("layers.[0-2].experts.[0-3]", 12, 24)
