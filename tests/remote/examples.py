"""The hub and the bucket of the pages' examples: what `hf://example/tiny-llama` and `s3://models` are there."""
import json
import struct

import s3
from files import File
from hub import Hub
from server import Server

LAYERS = 2


def safetensors(tensors, metadata=None):
    """A file of {name: (dtype, shape, bytes)}."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def tensor(dtype, *shape):
    count = 1
    for size in shape:
        count *= size
    return dtype, list(shape), bytes(i % 64 for i in range(count * {"F32": 4, "BF16": 2}[dtype]))


def model():
    """A model in two files, with its index."""
    first = {"model.embed_tokens.weight": tensor("BF16", 64, 32), "lm_head.weight": tensor("BF16", 64, 32)}
    second = {"model.norm.weight": tensor("F32", 32)}
    for i in range(LAYERS):
        second[f"model.layers.{i}.self_attn.q_proj.weight"] = tensor("BF16", 32, 32)
        second[f"model.layers.{i}.mlp.down_proj.weight"] = tensor("BF16", 32, 96)
        second[f"model.layers.{i}.input_layernorm.weight"] = tensor("F32", 32)
    names = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    index = {"metadata": {}, "weight_map": {**dict.fromkeys(first, names[0]), **dict.fromkeys(second, names[1])}}
    return {"config.json": b'{"model_type": "llama"}', "README.md": b"# tiny-llama\n", "model.safetensors.index.json": json.dumps(index).encode(),
            names[0]: safetensors(first, {"format": "pt"}), names[1]: safetensors(second, {"format": "pt"})}


def bucket():
    """Runs: a sound one, one that was cut while it was uploaded, and a sign-in page under the name of a checkpoint."""
    weights = safetensors({"w": tensor("F32", 8, 8), "b": tensor("F32", 8)})
    other = safetensors({"w": tensor("F32", 8, 8), "b": tensor("F32", 8), "ema.w": tensor("F32", 8, 8)})
    files = {"runs/1/model.safetensors": weights, "runs/2/model.safetensors": weights[:-40], "runs/3/model.safetensors": other,
             "runs/3/last.ckpt": b"<!DOCTYPE html><html>Sign in</html>", "runs/3/log.txt": b"done\n"}
    return s3.Bucket({key: File(data) for key, data in files.items()}, public=True)


class Examples:
    """The servers, and the environment that leads to them."""

    def __init__(self):
        hub = Hub()
        hub.repository("example/tiny-llama").commit(model())
        store = s3.S3(models=bucket())
        self.servers = [Server(hub), Server(hub.store), Server(store)]
        hub.store_origin = self.servers[1].origin
        self.environment = {"ZTENSOR_REMOTE": " ".join(server.origin for server in self.servers), "HF_ENDPOINT": self.servers[0].origin,
                            "AWS_ENDPOINT_URL": self.servers[2].origin, "AWS_NO_SIGN_REQUEST": "YES"}

    def close(self):
        for server in self.servers:
            server.close()
