"""Names of tensors: what they tell, and what llama.cpp calls the tensors of transformers' models in GGUF.

The tables have the architectures for which llama.cpp's names and its changes of values are known for certain. For every other one, and
for every other name, there is no answer.
"""
import re
from typing import NamedTuple, Optional

# The second matrix of a low-rank adapter. Training begins with zeros in it: PEFT, diffusers, kohya's scripts, llama.cpp
LORA_B = re.compile(r"(^|[._])(lora_B|lora_up|lora_embedding_B|lora\.up|lora_b)([._]|$)")

# The state of an optimizer in a checkpoint: by the module that it is in, or by the names that PyTorch's optimizers give
OPTIMIZER = re.compile(r"(^|[./])(optimizers?|optim|optimizer_states?|optimizer_state_dict|opt_state)([./]|$)"
                       r"|(^|[./])(exp_avg|exp_avg_sq|max_exp_avg_sq|momentum_buffer|exp_avg_sq_row|exp_avg_sq_col)([./]|$)"
                       r"|^state\.\d+\.(step|sum|square_avg|grad_avg|acc_delta|exp_inf|prev|step_size)$|^param_groups\.\d+\.")


# What wrappers put before all names, or before most of them: torch's parallel and compiled modules, transformers' and PEFT's models,
# and checkpoints that keep the model beside an optimizer
WRAPPERS = ("module.", "_orig_mod.", "module._orig_mod.", "_orig_mod.module.", "model.", "base_model.model.", "base_model.", "transformer.",
            "state_dict.", "state_dict.model.", "model_state_dict.", "model.module.", "language_model.", "bert.", "roberta.")


def is_lora_b(name):
    return LORA_B.search(name) is not None


def is_optimizer(name):
    return OPTIMIZER.search(name) is not None


def wrapper(names, others):
    """(prefix, whether it is before `names` and not before `others`) by which most names belong together; None if none do."""
    best = (0, None)
    for is_first, wrapped, bare in ((True, names, set(others)), (False, others, set(names))):
        for prefix in WRAPPERS:
            count = sum(name.startswith(prefix) and name[len(prefix):] in bare for name in wrapped)
            best = max(best, (count, (prefix, is_first)), key=lambda found: found[0])
    return best[1]


# ---- transformers and llama.cpp

class Counterpart(NamedTuple):
    """A tensor in GGUF. `change` says how its values are made from those of transformers:

    None: they are the same. "rows": the rows of each head are in another order. "plus one": 1 is added. "expert": they are those
    at the index `expert` of the first dimension.
    """
    name: str
    change: Optional[str] = None
    expert: Optional[int] = None


class Architecture(NamedTuple):
    parts: dict                 # {a layer's part in transformers: in GGUF}
    experts: tuple = ()         # (pattern of an expert's part, {its matrix: in GGUF})
    permuted: bool = False      # whether rows of q and k are in another order
    plus_one: bool = False      # whether norms are stored with the 1 that transformers adds


ENDS = {"embed_tokens": "token_embd", "norm": "output_norm", "lm_head": "output"}
_ATTENTION = {"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
              "self_attn.o_proj": "attn_output"}
_DENSE = {"mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}
_NORM = {"post_attention_layernorm": "ffn_norm"}
_HEADS = {"self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm"}
_GEMMA2 = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm", "post_feedforward_layernorm": "post_ffw_norm"}
_SHARED = {"mlp.gate": "ffn_gate_inp", "mlp.shared_expert_gate": "ffn_gate_inp_shexp", "mlp.shared_expert.gate_proj": "ffn_gate_shexp",
           "mlp.shared_expert.up_proj": "ffn_up_shexp", "mlp.shared_expert.down_proj": "ffn_down_shexp"}
_MIXTRAL = (re.compile(r"block_sparse_moe\.experts\.(\d+)\.(\w+)"), {"w1": "ffn_gate_exps", "w2": "ffn_down_exps", "w3": "ffn_up_exps"})
_QWEN_MOE = (re.compile(r"mlp\.experts\.(\d+)\.(\w+)"), {"gate_proj": "ffn_gate_exps", "down_proj": "ffn_down_exps", "up_proj": "ffn_up_exps"})

# By general.architecture of GGUF. Mistral's and Mixtral's is llama
ARCHITECTURES = {
    "llama": Architecture({**_ATTENTION, **_DENSE, **_NORM, "block_sparse_moe.gate": "ffn_gate_inp"}, _MIXTRAL, permuted=True),
    "qwen2": Architecture({**_ATTENTION, **_DENSE, **_NORM}),
    "qwen3": Architecture({**_ATTENTION, **_DENSE, **_NORM, **_HEADS}),
    "qwen2moe": Architecture({**_ATTENTION, **_DENSE, **_NORM, **_SHARED}, _QWEN_MOE),
    "qwen3moe": Architecture({**_ATTENTION, **_DENSE, **_NORM, **_HEADS, **_SHARED}, _QWEN_MOE),
    "gemma": Architecture({**_ATTENTION, **_DENSE, **_NORM}, plus_one=True),
    "gemma2": Architecture({**_ATTENTION, **_DENSE, **_GEMMA2}, plus_one=True),
    "gemma3": Architecture({**_ATTENTION, **_DENSE, **_GEMMA2, **_HEADS}, plus_one=True),
    "phi3": Architecture({"input_layernorm": "attn_norm", "self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output", **_NORM,
                          "mlp.gate_up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}),
}
# A text model within another one has its names behind these
PREFIX = re.compile(r"(?:language_model\.)?(?:model\.)?(?:language_model\.)?")
LAYER = re.compile(r"layers\.(\d+)\.(.+)\.(weight|bias)")
GGUF_NAME = re.compile(r"(token_embd|output_norm|output)\.weight|blk\.\d+\..+")

# Tensors that one side computes, and does not store
COMPUTED = {"rotary_emb.inv_freq": "llama.cpp computes it", "rope_freqs.weight": "transformers computes it",
            "rope_factors_long.weight": "transformers has it in config.json", "rope_factors_short.weight": "transformers has it in config.json"}


def is_gguf(names):
    """Whether a model's tensors are named as llama.cpp does."""
    return any(name.startswith("blk.") or name == "token_embd.weight" for name in names)


def in_gguf(name, architecture):
    """The Counterpart of a tensor of transformers, or None."""
    rules = ARCHITECTURES[architecture]
    short = name[PREFIX.match(name).end():]
    part, _, kind = short.rpartition(".")
    if part in ENDS and kind == "weight":
        return Counterpart(f"{ENDS[part]}.weight", "plus one" if part == "norm" and rules.plus_one else None)
    found = LAYER.fullmatch(short)
    if not found:
        return None
    layer, part, kind = found.groups()
    if part in rules.parts:
        return Counterpart(f"blk.{layer}.{rules.parts[part]}.{kind}", _change(part, rules))
    expert = rules.experts and rules.experts[0].fullmatch(part)
    if expert and expert[2] in rules.experts[1]:
        return Counterpart(f"blk.{layer}.{rules.experts[1][expert[2]]}.{kind}", "expert", int(expert[1]))
    return None


def _change(part, rules):
    if rules.permuted and part in ("self_attn.q_proj", "self_attn.k_proj"):
        return "rows"
    return "plus one" if rules.plus_one and part.endswith("norm") else None


def why_alone(name, architecture):
    """Why a tensor of either side has no counterpart on the other one."""
    for end, reason in COMPUTED.items():
        if name.endswith(end):
            return reason
    if GGUF_NAME.fullmatch(name):
        return "no tensor of the other model is its counterpart by this architecture's table"
    found = in_gguf(name, architecture)
    if not found:
        return "there is no counterpart by this architecture's table"
    tied = ": llama.cpp uses token_embd.weight in its place" if found.name == "output.weight" else ""
    return f"its counterpart, {found.name}, is not there{tied}"
