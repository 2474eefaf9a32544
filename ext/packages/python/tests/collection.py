"""A collection of some 200 tensor files of everyday kinds, for tests: `make(directory)`, or `collection.py DIRECTORY`.

Folders, of which the tests know the names below:

    hub/ORG/NAME/    models as they are on the hub: base models, fine-tunes, sharded ones, adapters, a pipeline of several models
    gguf/            quantizations of two of them, and models in several files
    runs/RUN/        checkpoints of training, with optimizers
    backup/          copies, and links of both kinds
    damaged/         models with NaN, infinities and zeros
    broken/          files that cannot be read, and unsupported/, legacy/, names/, arrays/, other/: as they are called
    hole/            a file of 8 GB that takes a few bytes of the disk

The same call makes the same bytes and times.
"""
import bz2
import io
import json
import lzma
import os
import pathlib
import shutil
import sys
import tarfile
import zipfile
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[4]
FORMATS = ROOT / "tests" / "formats"
sys.path.insert(0, str(ROOT / "tests" / "sql"))
import writer
from tensor_files import bf16, f16, f32, gguf, i64, onnx, rounded, safetensors, safetensors_head, torch

HIDDEN, INNER, LAYERS, HEADS, KV_HEADS, VOCABULARY = 32, 256, 4, 4, 2, 64

BASE = "hub/acme/tiny-llama"                       # f32 that bf16 holds, stored as bf16
CHAT = "hub/acme/tiny-llama-chat"                  # of BASE: layers 2 and 3 differ
FROZEN = "hub/acme/tiny-llama-frozen"              # of BASE: lm_head and the last norm differ
SHARDED = "hub/acme/tiny-llama-sharded"            # the tensors of BASE in three files
MISSING_SHARD = "hub/acme/tiny-llama-incomplete"   # without model-00002-of-00003.safetensors
WRONG_TOTAL = "hub/acme/tiny-llama-resized"        # metadata.total_size of its index is wrong
WRONG_INDEX = "hub/acme/tiny-llama-misfiled"       # a tensor is elsewhere, one in no file, one not in the index
SHARDED_BIN = "hub/acme/tiny-llama-bin"            # the tensors of BASE in two files of PyTorch
TWO_FORMATS = "hub/acme/tiny-llama-both"           # model.safetensors and pytorch_model.bin
PIPELINE = "hub/acme/tiny-diffusion"               # several models below one folder
GGUF_SPLIT = "gguf/tiny-llama-split"               # three files, complete; MISSING lacks the second one
GGUF_MISSING = "gguf/tiny-llama-split-incomplete"
FRESH_LORA = "hub/acme/lora-fresh-{}"              # 0 to 5: lora_B is zero, as a new adapter's is
TRAINED_LORA = "hub/acme/lora-trained-{}"          # 0 to 5
NAN, INFINITE, ZERO = "damaged/nan-layers.safetensors", "damaged/infinite.safetensors", "damaged/zero.safetensors"
NAN_LAYERS = (1, 3)                                # of NAN
HOLE = "hole/huge.safetensors"
RUN = "runs/pretrain"                              # step-100 to step-1000, folders with model.safetensors, optimizer.pt ...
RUN_OF_FILES = "runs/finetune"                     # step-100.zt to step-800.zt, with the optimizer's tensors
STEPS = range(100, 1001, 100)

# Each unreadable file, and zt_files.error_kind
BROKEN = {"broken/truncated.safetensors": "broken", "broken/half-header.safetensors": "broken", "broken/truncated.gguf": "broken",
          "broken/truncated.zt": "broken", "broken/truncated.pt": "broken", "broken/empty.safetensors": "unknown",
          "broken/lfs-pointer.safetensors": "unknown", "broken/login-page.gguf": "unknown", "broken/zeros.npy": "unknown",
          "broken/overlapping.safetensors": "broken", "broken/text.bin.pt": "unknown"}
UNSUPPORTED = {"unsupported/before-gguf.ggml.pt": "unsupported", "unsupported/weights.pkl": "unsupported", "unsupported/model.onnx": "unsupported",
               "unsupported/all-compressed.pt2": "unsupported", "unsupported/torch-0.1.9.pt": "unsupported"}


def make(directory, hole=True):
    """Make the collection in a new directory, and return its path."""
    root = pathlib.Path(directory)
    root.mkdir(parents=True)
    for part in (_hub, _adapters, _gguf, _runs, _damaged, _broken, _unsupported, _legacy, _names, _arrays, _other):
        part(root)
    if hole:
        _hole(root / HOLE)
    _backup(root)
    _date(root)
    return root


def _date(root):
    """One minute between files, in the order of their numbers and names: a step of a run comes before the next one."""
    paths = sorted((p for p in root.rglob("*") if not p.is_symlink()), key=lambda p: [(len(part), part) for part in p.relative_to(root).parts])
    for i, path in enumerate(paths):
        os.utime(path, (1_700_000_000 + 60 * i,) * 2)


# ---- Models

def values(name, *shape, scale=0.05):
    """The same values for the same name, as bf16 has them. This generator of numpy is frozen."""
    return rounded(np.random.RandomState(zlib.crc32(name.encode())).normal(0, scale, shape).astype("f4"))


def llama(name="tiny-llama", layers=LAYERS, inner=INNER):
    """{name: array} of a model of llama's kind, as transformers names its tensors."""
    tensors = {"model.embed_tokens.weight": values(name + "embed", VOCABULARY, HIDDEN)}
    for i in range(layers):
        tensors |= _layer(f"model.layers.{i}.", f"{name}{i}", inner)
    return tensors | {"model.norm.weight": rounded(1 + values(name + "norm", HIDDEN)), "lm_head.weight": values(name + "head", VOCABULARY, HIDDEN)}


def _layer(at, seed, inner):
    kv = HIDDEN * KV_HEADS // HEADS
    shapes = {"self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (kv, HIDDEN), "self_attn.v_proj": (kv, HIDDEN),
              "self_attn.o_proj": (HIDDEN, HIDDEN), "mlp.gate_proj": (inner, HIDDEN), "mlp.up_proj": (inner, HIDDEN),
              "mlp.down_proj": (HIDDEN, inner)}
    tensors = {f"{at}{part}.weight": values(seed + part, *shape) for part, shape in shapes.items()}
    for norm in ("input_layernorm", "post_attention_layernorm"):
        tensors[f"{at}{norm}.weight"] = 1 + values(seed + norm, HIDDEN)
    return {key: rounded(value) for key, value in tensors.items()}


def tuned(tensors, name, chosen=lambda tensor: True, scale=0.01):
    """A fine-tune: the chosen tensors differ a little."""
    return {key: rounded(value + values(name + key, *value.shape, scale=scale)) if chosen(key) else value for key, value in tensors.items()}


def qwen2(name="tiny-qwen2"):
    """As llama, with biases of q, k and v, and without lm_head, which is the embedding."""
    tensors = llama(name, layers=2, inner=64)
    del tensors["lm_head.weight"]
    for i in range(2):
        for part, size in (("q", HIDDEN), ("k", HIDDEN // 2), ("v", HIDDEN // 2)):
            tensors[f"model.layers.{i}.self_attn.{part}_proj.bias"] = values(f"{name}{i}{part}", size)
    return tensors


def gemma(name="tiny-gemma"):
    """As llama, with norms around 0, to which 1 is added in use, and without lm_head."""
    tensors = llama(name, layers=2, inner=64)
    del tensors["lm_head.weight"]
    return {key: rounded(value - 1) if key.endswith("norm.weight") else value for key, value in tensors.items()}


def phi3(name="tiny-phi3"):
    """As llama, with q, k and v in one tensor, and so gate and up."""
    tensors = llama(name, layers=2, inner=64)
    for i in range(2):
        at = f"model.layers.{i}."
        tensors[at + "self_attn.qkv_proj.weight"] = np.concatenate([tensors.pop(f"{at}self_attn.{part}_proj.weight") for part in "qkv"])
        tensors[at + "mlp.gate_up_proj.weight"] = np.concatenate([tensors.pop(f"{at}mlp.{part}_proj.weight") for part in ("gate", "up")])
    return tensors


def mixtral(name="tiny-mixtral"):
    """As llama, with three experts in place of the inner layers."""
    tensors = {key: value for key, value in llama(name, layers=2, inner=64).items() if ".mlp." not in key}
    for i in range(2):
        at = f"model.layers.{i}.block_sparse_moe."
        tensors[at + "gate.weight"] = values(at + "gate", 3, HIDDEN)
        for j in range(3):
            for part, shape in (("w1", (64, HIDDEN)), ("w2", (HIDDEN, 64)), ("w3", (64, HIDDEN))):
                tensors[f"{at}experts.{j}.{part}.weight"] = values(f"{name}{i}{j}{part}", *shape)
    return tensors


def gpt2(name="tiny-gpt2"):
    tensors = {"wte.weight": values(name + "wte", VOCABULARY, HIDDEN), "wpe.weight": values(name + "wpe", 16, HIDDEN)}
    for i in range(2):
        for part, shape in (("ln_1", (HIDDEN,)), ("attn.c_attn", (HIDDEN, 3 * HIDDEN)), ("attn.c_proj", (HIDDEN, HIDDEN)), ("ln_2", (HIDDEN,)),
                            ("mlp.c_fc", (HIDDEN, 4 * HIDDEN)), ("mlp.c_proj", (4 * HIDDEN, HIDDEN))):
            tensors[f"h.{i}.{part}.weight"] = values(f"{name}{i}{part}", *shape)
            tensors[f"h.{i}.{part}.bias"] = values(f"{name}{i}{part}bias", shape[-1])
    return tensors | {"ln_f.weight": values(name + "lnf", HIDDEN), "ln_f.bias": values(name + "lnfb", HIDDEN)}


def bert(name="tiny-bert"):
    tensors = {f"bert.embeddings.{part}_embeddings.weight": values(name + part, rows, HIDDEN)
               for part, rows in (("word", VOCABULARY), ("position", 16), ("token_type", 2))}
    for i in range(2):
        for part, shape in (("attention.self.query", (HIDDEN, HIDDEN)), ("attention.self.key", (HIDDEN, HIDDEN)), ("attention.self.value", (HIDDEN, HIDDEN)),
                            ("attention.output.dense", (HIDDEN, HIDDEN)), ("attention.output.LayerNorm", (HIDDEN,)),
                            ("intermediate.dense", (64, HIDDEN)), ("output.dense", (HIDDEN, 64)), ("output.LayerNorm", (HIDDEN,))):
            tensors[f"bert.encoder.layer.{i}.{part}.weight"] = values(f"{name}{i}{part}", *shape)
            tensors[f"bert.encoder.layer.{i}.{part}.bias"] = values(f"{name}{i}{part}bias", shape[0])
    return tensors


def convolutions(name, channels=(3, 8, 16)):
    tensors = {}
    for i, (before, after) in enumerate(zip(channels, channels[1:])):
        tensors[f"down_blocks.{i}.conv.weight"] = values(f"{name}{i}", after, before, 3, 3)
        tensors[f"down_blocks.{i}.conv.bias"] = values(f"{name}{i}b", after)
        tensors[f"down_blocks.{i}.norm.weight"] = 1 + values(f"{name}{i}n", after)
    return tensors


# ---- hub/

def stored(tensors, dtype=bf16):
    return {name: dtype(array) for name, array in tensors.items()}


def _config(folder, **config):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=2))


LLAMA_CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INNER,
                "num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "num_key_value_heads": KV_HEADS, "vocab_size": VOCABULARY}


def _hub(root):
    base = llama()
    top = lambda tensor: tensor.startswith(("model.layers.2.", "model.layers.3."))
    head = lambda tensor: tensor in ("lm_head.weight", "model.norm.weight")
    models = {BASE: base, CHAT: tuned(base, "chat", top), FROZEN: tuned(base, "frozen", head), "hub/acme/tiny-llama-code": tuned(base, "code"),
              "hub/acme/tiny-llama-instruct": tuned(tuned(base, "chat", top), "instruct", head)}
    for where, tensors in models.items():
        safetensors(root / where / "model.safetensors", stored(tensors), format="pt")
        _config(root / where, **LLAMA_CONFIG)
    for name, tensors, kind in (("tiny-mistral", llama("tiny-mistral", layers=2, inner=64), "mistral"), ("tiny-qwen2", qwen2(), "qwen2"),
                                ("tiny-gemma", gemma(), "gemma"), ("tiny-phi3", phi3(), "phi3"), ("tiny-mixtral", mixtral(), "mixtral"),
                                ("tiny-gpt2", gpt2(), "gpt2"), ("tiny-bert", bert(), "bert")):
        safetensors(root / "hub/globex" / name / "model.safetensors", stored(tensors), format="pt")
        _config(root / "hub/globex" / name, model_type=kind, num_attention_heads=HEADS, num_key_value_heads=KV_HEADS)
    _sharded(root, base)
    folder = root / TWO_FORMATS
    safetensors(folder / "model.safetensors", stored(base), format="pt")
    torch(folder / "pytorch_model.bin", stored(base))
    _config(folder, **LLAMA_CONFIG)
    for part, name, tensors in (("unet", "diffusion_pytorch_model", convolutions("unet", (4, 8, 16, 16))), ("vae", "diffusion_pytorch_model", convolutions("vae")),
                                ("text_encoder", "model", bert("text"))):
        safetensors(root / PIPELINE / part / f"{name}.safetensors", stored(tensors, f32), format="pt")
        safetensors(root / PIPELINE / part / f"{name}.fp16.safetensors", stored(tensors, f16), format="pt")
        _config(root / PIPELINE / part, model_type=part)


def _sharded(root, base):
    for where, damage in ((SHARDED, None), (MISSING_SHARD, "missing"), (WRONG_TOTAL, "total"), (WRONG_INDEX, "index")):
        _config(root / where, **LLAMA_CONFIG)
        shards = _shards(stored(base), 3, root / where / "model-{:05}-of-{:05}.safetensors", safetensors)
        index = _index(shards, "model-{:05}-of-{:05}.safetensors")
        if damage == "total":
            index["metadata"]["total_size"] += 4096
        if damage == "index":
            index["weight_map"]["model.norm.weight"] = "model-00001-of-00003.safetensors"
            index["weight_map"]["model.rotary.inv_freq"] = "model-00002-of-00003.safetensors"
            del index["weight_map"]["model.layers.0.mlp.up_proj.weight"]
        (root / where / "model.safetensors.index.json").write_text(json.dumps(index, indent=2))
    (root / MISSING_SHARD / "model-00002-of-00003.safetensors").unlink()
    shards = _shards(stored(base), 2, root / SHARDED_BIN / "pytorch_model-{:05}-of-{:05}.bin", torch)
    (root / SHARDED_BIN / "pytorch_model.bin.index.json").write_text(json.dumps(_index(shards, "pytorch_model-{:05}-of-{:05}.bin"), indent=2))
    _config(root / SHARDED_BIN, **LLAMA_CONFIG)


def _parts(tensors, count):
    """Tensors in so many groups, in their order."""
    names = list(tensors)
    step = -(-len(names) // count)
    return [{name: tensors[name] for name in names[first:first + step]} for first in range(0, len(names), step)]


def _shards(tensors, count, pattern, write):
    shards = _parts(tensors, count)
    for i, shard in enumerate(shards):
        write(pathlib.Path(str(pattern).format(i + 1, count)), shard)
    return shards


def _index(shards, pattern):
    return {"metadata": {"total_size": sum(len(body) for shard in shards for _, _, body in shard.values())},
            "weight_map": {name: pattern.format(i + 1, len(shards)) for i, shard in enumerate(shards) for name in shard}}


def _adapters(root):
    """Adapters of rank 4 for q and v of each layer. lora_B of a fresh one is zero by design."""
    for i in range(6):
        for where, trained in ((FRESH_LORA.format(i), False), (TRAINED_LORA.format(i), True)):
            tensors = {}
            for layer in range(LAYERS):
                for part, rows in (("q_proj", HIDDEN), ("v_proj", HIDDEN // 2)):
                    at = f"base_model.model.model.layers.{layer}.self_attn.{part}."
                    tensors[at + "lora_A.weight"] = values(f"{where}{at}A", 4, HIDDEN)
                    tensors[at + "lora_B.weight"] = values(f"{where}{at}B", rows, 4) if trained else np.zeros((rows, 4), "f4")
            safetensors(root / where / "adapter_model.safetensors", stored(tensors, f32), format="pt")
            (root / where / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "target_modules": ["q_proj", "v_proj"]}))


# ---- gguf/

def of_llama_cpp(tensors, permuted=True, plus_one=False):
    """The tensors with llama.cpp's names and conventions: rows of q and k in another order, norms that have their 1."""
    names = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
             "self_attn.qkv_proj": "attn_qkv", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
             "mlp.gate_up_proj": "ffn_up", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm"}
    whole = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight", "lm_head.weight": "output.weight"}
    out = {}
    for name, array in tensors.items():
        if name in whole:
            new = whole[name]
        else:
            _, _, layer, *part, kind = name.split(".")
            new = f"blk.{layer}.{names['.'.join(part)]}.{kind}"
            heads = {"self_attn.q_proj": HEADS, "self_attn.k_proj": KV_HEADS}.get(".".join(part))
            if heads and permuted:
                array = array.reshape(heads, 2, len(array) // heads // 2, -1).swapaxes(1, 2).reshape(array.shape)
        out[new] = array + 1 if plus_one and new.endswith("norm.weight") else array
    return out


def _keys(architecture, layers, name, inner=INNER):
    keys = {"general.architecture": architecture, "general.name": name}
    keys |= {f"{architecture}.{key}": value for key, value in (
        ("block_count", layers), ("context_length", 128), ("embedding_length", HIDDEN), ("feed_forward_length", inner), ("attention.head_count", HEADS),
        ("attention.head_count_kv", KV_HEADS), ("rope.dimension_count", HIDDEN // HEADS), ("attention.layer_norm_rms_epsilon", 1e-5))}
    return keys | {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": [f"<{i}>" for i in range(VOCABULARY)]}


def kinds(tensors, kind):
    """Types as llama.cpp mixes them: vectors stay f32, and rows that are not whole blocks of 256 take the type below."""
    below = {"q4_k": "q5_0", "q6_k": "q8_0"}
    return {name: ("f32" if array.ndim == 1 else below[kind] if kind in below and array.shape[-1] % 256 else kind, array) for name, array in tensors.items()}


def _gguf(root):
    base = llama()
    chat = tuned(base, "chat", lambda tensor: tensor.startswith(("model.layers.2.", "model.layers.3.")))
    for name, tensors, wanted in (("tiny-llama", base, ("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_1", "Q5_0", "Q4_1", "Q4_0", "Q4_K_M")),
                                  ("tiny-llama-chat", chat, ("F16", "Q8_0", "Q5_0", "Q4_0", "Q4_K_M"))):
        for kind in wanted:
            gguf(root / f"gguf/{name}-{kind}.gguf", _keys("llama", LAYERS, name), kinds(of_llama_cpp(tensors), kind.lower().removesuffix("_m")))
    for name, tensors, plus_one in (("qwen2", qwen2(), False), ("gemma", gemma(), True), ("phi3", phi3(), False)):
        gguf(root / f"gguf/tiny-{name}-BF16.gguf", _keys(name, 2, f"tiny-{name}", 64), kinds(of_llama_cpp(tensors, False, plus_one), "bf16"))
    parts = _parts(kinds(of_llama_cpp(base), "q8_0"), 3)
    for where in (GGUF_SPLIT, GGUF_MISSING):
        for i, part in enumerate(parts):
            if (where, i) != (GGUF_MISSING, 1):
                keys = _keys("llama", LAYERS, "tiny-llama") if i == 0 else {}
                keys |= {"split.no": ("u16", i), "split.count": ("u16", 3), "split.tensors.count": ("i32", sum(map(len, parts)))}
                gguf(root / where / f"tiny-llama-Q8_0-{i + 1:05}-of-00003.gguf", keys, part)


# ---- runs/

def _step(name, step):
    """Weights that converge."""
    final, noise = llama(name, layers=2, inner=64), 4 / (step / 100)
    return {key: rounded(value + noise * values(f"{name}{step}{key}", *value.shape, scale=0.01)) for key, value in final.items()}


def _runs(root):
    for step in STEPS:
        folder, tensors = root / RUN / f"step-{step}", _step("pretrain", step)
        safetensors(folder / "model.safetensors", stored(tensors, f32), format="pt")
        state = {i: {"step": f32(np.float32(step)), "exp_avg": f16(array * 0.1), "exp_avg_sq": f16(array * array)} for i, array in enumerate(tensors.values())}
        torch(folder / "optimizer.pt", {"state": state, "param_groups": [{"lr": 1e-3, "betas": [0.9, 0.95], "params": list(state)}]})
        torch(folder / "scheduler.pt", {"base_lrs": [1e-3], "last_epoch": step, "_step_count": step + 1})
        torch(folder / "rng_state.pth", {"cpu": i64(np.arange(step, step + 16))})
        (folder / "trainer_state.json").write_text(json.dumps({"global_step": step, "log_history": [{"loss": 4 - step / 500, "step": step}]}))
    for step in STEPS[:8]:
        tensors = _step("finetune", step)
        objects = {f"model.{name}": array for name, array in tensors.items()}
        objects |= {f"optimizer.state.{i}.{kind}": array * factor for i, array in enumerate(tensors.values()) for kind, factor in (("exp_avg", 0.1), ("exp_avg_sq", 0.01))}
        path = root / RUN_OF_FILES / f"step-{step}.zt"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(writer.write({name: _dense(array) for name, array in objects.items()}, "2", attributes={"step": step, "lr": 1e-4}))
    for i, rate in enumerate(("1e-2", "3e-3", "1e-3", "3e-4", "1e-4", "3e-5")):
        for seed in (0, 1):
            safetensors(root / f"runs/sweep/lr={rate},seed={seed}/best.safetensors", stored(convolutions(f"sweep{i}{seed}"), f32), lr=rate, seed=str(seed))


def _dense(array):
    return writer.dense(f32(array)[2], list(array.shape), "f32")


# ---- backup/

def _backup(root):
    folder = root / "backup"
    folder.mkdir()
    for i, name in enumerate(("tiny-llama", "tiny-llama-chat", "tiny-llama-code")):
        source = root / "hub/acme" / name / "model.safetensors"
        shutil.copyfile(source, folder / f"{name} (copy).safetensors")
        shutil.copyfile(source, folder / f"{name}-2024.safetensors")
        os.link(source, folder / f"{name}-linked.safetensors")
        (folder / f"{name}-latest.safetensors").symlink_to(os.path.relpath(source, folder))
    (folder / "current").symlink_to("../hub/acme/tiny-llama-chat")
    (folder / "gone.safetensors").symlink_to("nowhere.safetensors")
    safetensors(folder / "same-values.safetensors", stored(llama(), bf16), note="other metadata, so other bytes")


# ---- damaged/, broken/, unsupported/

def _damaged(root):
    base = llama()
    damage = {NAN: (np.nan, lambda key: any(key.startswith(f"model.layers.{i}.") for i in NAN_LAYERS)), INFINITE: (np.inf, lambda key: ".0.mlp" in key),
              ZERO: (0, lambda key: "o_proj" in key)}
    for where, (value, chosen) in damage.items():
        tensors = {key: array.copy() for key, array in base.items()}
        for key, array in tensors.items():
            if chosen(key):
                array[...] = value if value == 0 else np.where(np.arange(array.size).reshape(array.shape) % 7 == 0, value, array)
        safetensors(root / where, stored(tensors), format="pt")
    everything = llama()
    for key, value in (("model.layers.0.mlp.up_proj.weight", 0), ("model.layers.1.mlp.up_proj.weight", np.inf), ("model.layers.2.mlp.up_proj.weight", np.nan)):
        everything[key] = np.full_like(everything[key], value)
    safetensors(root / "damaged/all-of-these.safetensors", stored(everything))
    halves = llama()
    halves["lm_head.weight"] = halves["lm_head.weight"] * np.float32(1e9)   # Beyond f16
    with np.errstate(over="ignore"):
        safetensors(root / "damaged/overflowed.safetensors", stored(halves, f16))
    safetensors(root / "damaged/nan-adapter/adapter_model.safetensors", {
        "base_model.model.q_proj.lora_A.weight": f32(np.full((4, HIDDEN), np.nan, "f4")), "base_model.model.q_proj.lora_B.weight": f32(np.zeros((HIDDEN, 4), "f4"))})


def _broken(root):
    folder = root / "broken"
    folder.mkdir()
    whole = (root / BASE / "model.safetensors").read_bytes()
    (folder / "truncated.safetensors").write_bytes(whole[:len(whole) // 2])
    (folder / "half-header.safetensors").write_bytes(whole[:200])
    (folder / "truncated.gguf").write_bytes((root / "gguf/tiny-llama-Q4_0.gguf").read_bytes()[:9000])
    (folder / "truncated.zt").write_bytes((root / RUN_OF_FILES / "step-100.zt").read_bytes()[:-1000])
    (folder / "truncated.pt").write_bytes((root / RUN / "step-100/optimizer.pt").read_bytes()[:-3000])
    (folder / "empty.safetensors").write_bytes(b"")
    (folder / "lfs-pointer.safetensors").write_text(
        f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0123456789abcdef' * 4}\nsize 4976698672\n")
    (folder / "login-page.gguf").write_text("<!doctype html><html><head><title>Sign in</title></head><body>Sign in to download</body></html>\n")
    (folder / "zeros.npy").write_bytes(bytes(4096))
    (folder / "text.bin.pt").write_text("These are not the weights that you are looking for.\n")
    head = {name: {"dtype": "F32", "shape": [4], "data_offsets": place} for name, place in (("a", [0, 16]), ("b", [8, 24]))}
    (folder / "overlapping.safetensors").write_bytes(safetensors_head(head) + bytes(24))


def _unsupported(root):
    folder = root / "unsupported"
    folder.mkdir()
    (folder / "before-gguf.ggml.pt").write_bytes(b"lmgg" + bytes(range(64)))
    (folder / "weights.pkl").write_bytes(bz2.compress(b"weights"))
    (folder / "model.onnx").write_bytes(lzma.compress(b"weights", format=lzma.FORMAT_XZ))
    with zipfile.ZipFile(folder / "all-compressed.pt2", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("model.safetensors", (1980, 1, 1, 0, 0, 0)), (root / FROZEN / "model.safetensors").read_bytes(), zipfile.ZIP_DEFLATED)
    with tarfile.open(folder / "torch-0.1.9.pt", "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in ("sys_info", "pickle", "tensors", "storages"):
            member = tarfile.TarInfo(name)
            member.size = 16
            archive.addfile(member, io.BytesIO(bytes(16)))


# ---- legacy/: zTensor's generations

def _legacy(root):
    folder = root / "legacy"
    folder.mkdir()
    for generation in ("0.1", "1.0", "1.1", "1.2"):
        for i in range(3):
            tensors = convolutions(f"legacy{generation}{i}")
            (folder / f"v{generation}-{i}.zt").write_bytes(writer.write({name: _dense(array) for name, array in tensors.items()}, generation))
    (folder / "v1.2-sparse.zt").write_bytes(writer.write({"mask": writer.csr()}, "1.2"))
    (folder / "v2-0.zt").write_bytes(writer.write({name: _dense(array) for name, array in convolutions("legacy2").items()}, "2"))


# ---- names/, arrays/, other/, hole/

NAMES = ["模型.safetensors", "модель.safetensors", "modèle.safetensors", "mode\u0300le.safetensors", "نموذج.safetensors", "🦙.safetensors",
         "with space.safetensors", "model (1) [final].safetensors", "100%.safetensors", "a'b\"c.safetensors", "#1?.safetensors", "--help.safetensors",
         "tab\there.safetensors", "a,b;c&d.safetensors"]


def _names(root):
    for i, name in enumerate(NAMES):
        safetensors(root / "names" / name, {f"重み.{i}": f32(values(name, 8, 4)), "bias [0]": f32(values(name + "b", 8))})


def _arrays(root):
    folder = root / "arrays"
    folder.mkdir()
    for i in range(10):
        np.save(folder / f"embeddings-{i:03}.npy", values(f"embeddings{i}", 64, 16))
    for i in range(6):
        _npz(folder / f"dataset-{i:02}.npz", {"x": values(f"x{i}", 100, 8), "y": np.arange(100, dtype="<i8") % 10})


def _npz(path, arrays):
    with zipfile.ZipFile(path, "w") as archive:
        for name, array in arrays.items():
            body = io.BytesIO()
            np.save(body, array)
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), body.getvalue())


COPIES = {"hdf5": ["keras.weights.h5", "keras_legacy.h5"], "tflite": ["float16.tflite", "int8.tflite"], "msgpack": ["params.msgpack", "train_state.msgpack"],
          "matlab": ["numbers.mat", "structs.mat"], "pickle": ["sklearn_p4.pkl", "tree_model_p4.pkl", "pipeline.joblib"], "archive": ["model.keras", "pipeline.dduf"],
          "tensorflow": ["checkpoint.index", "checkpoint.data-00000-of-00001"], "pytorch": ["views.pt", "legacy_state_dict.pt"]}


def _other(root):
    folder = root / "other"
    folder.mkdir()
    for kind, names in COPIES.items():
        for name in names:
            shutil.copyfile(FORMATS / kind / "golden" / name, folder / name)
    classifier = {"fc1.weight": f32(values("fc1", 16, 8)), "fc1.bias": f32(values("fc1b", 16)), "fc2.weight": f32(values("fc2", 4, 16)), "shape": i64(np.array([1, 8]))}
    onnx(folder / "classifier.onnx", classifier)
    onnx(folder / "classifier-external/model.onnx", classifier, external="model.onnx.data")
    onnx(folder / "classifier-copy/model.onnx", classifier, external="model.onnx.data")


def _hole(path):
    """One tensor of 2^31 zeros as f32, and one of three numbers behind it."""
    numbers = f32(np.array([1, 2, 3], "f4"))[2]
    size = 1 << 33
    head = safetensors_head({"embedding.weight": {"dtype": "F32", "shape": [1 << 21, 1 << 10], "data_offsets": [0, size]},
                             "bias": {"dtype": "F32", "shape": [3], "data_offsets": [size, size + len(numbers)]}})
    path.parent.mkdir()
    with open(path, "wb") as file:
        file.write(head)
        file.seek(len(head) + size)
        file.write(numbers)


if __name__ == "__main__":
    print(make(sys.argv[1]))
