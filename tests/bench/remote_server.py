"""The faces of tests/remote as servers of the benchmark, in a process of their own.

    remote_server.py LATENCY RATE   prints the origins of S3, the hub and the hub's store as a line of JSON. Each line of input is
                                    then answered by one of output: the number of requests since the last one, as JSON

`models` has 1,000 safetensors files with a header below 64 KiB below `headers/`, a file with a tensor of 1 GiB, and 10,000 empty keys
below `keys/`. The hub has 100 of the former. LATENCY is in seconds, RATE in bytes a second, 0 for as many as there may be.
"""

from __future__ import annotations

import json
import mmap
import struct
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "remote"))
import s3
from hub import Hub
from server import Server

FILES, OF_THE_HUB, KEYS, TENSORS = 1000, 100, 10_000, 300
GIB = 1 << 30


def header(tensors: dict[str, int]) -> bytes:
    """Of a file with u8 tensors of these sizes."""
    entries, at = {}, 0
    for name, size in tensors.items():
        entries[name] = {"dtype": "U8", "shape": [size], "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text


def names(number: int) -> list[str]:
    return [f"model.layers.{i}.mlp.down_proj.weight.{number}" for i in range(TENSORS)]


def small(number: int) -> bytes:
    return header(dict.fromkeys(names(number), 256)) + bytes(256 * TENSORS)


def main() -> None:
    latency, rate = map(float, sys.argv[1:])
    face, hub = s3.S3(), Hub()
    face.heads = hub.heads = True   # Others ask by HEAD, too
    bucket = face.bucket("models")
    for i in range(FILES):
        bucket.put(f"headers/{i:05}.safetensors", small(i), etag=f'"{i}"')
    for i in range(KEYS):
        bucket.put(f"keys/{i:05}.safetensors", b"", etag='"0"')
    head = header({"w": GIB})
    large = mmap.mmap(-1, len(head) + GIB, mmap.MAP_PRIVATE)   # Zeros, which take no memory
    large[:len(head)] = head
    bucket.put("large.safetensors", large, etag='"large"')
    files = {f"model-{i + 1:05}-of-{OF_THE_HUB:05}.safetensors": i for i in range(OF_THE_HUB)}
    index = {"metadata": {}, "weight_map": {tensor: name for name, i in files.items() for tensor in names(i)}}
    hub.repository("org/model").commit({"model.safetensors.index.json": json.dumps(index).encode(), **{name: small(i) for name, i in files.items()}})
    servers = [Server(one, latency=latency, rate=rate or None) for one in (face, hub, hub.store)]
    hub.store_origin = servers[2].origin
    print(json.dumps([server.origin for server in servers]), flush=True)
    for _ in sys.stdin:
        print(json.dumps(sum(len(server.log) for server in servers)), flush=True)
        for server in servers:
            server.log.clear()


if __name__ == "__main__":
    main()
