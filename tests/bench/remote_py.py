"""Headers of safetensors files by other libraries: pyarrow's S3, huggingface_hub.

    remote_py.py arrow PREFIX [THREADS]   of all files below s3://models/PREFIX, with as many threads as pyarrow has by itself, or so many
    remote_py.py hub NAME       of all files of a model, by the library's function for models in shards, with its threads
    remote_py.py hub-each NAME  of the same files one after the other, by its function for one file
    remote_py.py list PREFIX    the number of keys below s3://models/PREFIX, by pyarrow
    remote_py.py digest         the sha256 of the tensor in s3://models/large.safetensors, by pyarrow

Prints seconds, and how many tensors there are and how many bytes they have.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import sys
import time
from concurrent.futures import ThreadPoolExecutor


def arrow():
    from pyarrow import fs
    scheme, _, authority = os.environ["AWS_ENDPOINT_URL"].partition("://")
    return fs.S3FileSystem(endpoint_override=authority, scheme=scheme, region="us-east-1")


def of_arrow(prefix: str, threads: str = "") -> list[int]:
    from pyarrow import fs, io_thread_count, set_io_thread_count
    if threads:
        set_io_thread_count(int(threads))
    system = arrow()
    paths = [info.path for info in system.get_file_info(fs.FileSelector(f"models/{prefix}"))]

    def header(path: str) -> list[int]:
        with system.open_input_file(path) as file:
            size, = struct.unpack("<Q", file.read_at(8, 0))
            return count(json.loads(file.read_at(size, 8)))

    with ThreadPoolExecutor(io_thread_count()) as pool:
        return total(pool.map(header, paths))


def of_hub(name: str) -> list[int]:
    import huggingface_hub
    api = huggingface_hub.HfApi(endpoint=os.environ["HF_ENDPOINT"])
    return of_parsed(api.get_safetensors_metadata(name).files_metadata.values())


def of_hub_each(name: str) -> list[int]:
    import huggingface_hub
    api = huggingface_hub.HfApi(endpoint=os.environ["HF_ENDPOINT"])
    paths = [path for path in api.list_repo_files(name) if path.endswith(".safetensors")]
    return of_parsed(api.parse_safetensors_file_metadata(name, path) for path in paths)


def of_parsed(files) -> list[int]:
    return total([len(file.tensors), sum(one.data_offsets[1] - one.data_offsets[0] for one in file.tensors.values())] for file in files)


def count(header: dict) -> list[int]:
    tensors = [value for key, value in header.items() if key != "__metadata__"]
    return [len(tensors), sum(one["data_offsets"][1] - one["data_offsets"][0] for one in tensors)]


def total(found) -> list[int]:
    return [sum(column) for column in zip(*found)]


def keys(prefix: str) -> list[int]:
    from pyarrow import fs
    return [len(arrow().get_file_info(fs.FileSelector(f"models/{prefix}")))]


def digest(_: str = "") -> list[str]:
    with arrow().open_input_stream("models/large.safetensors") as file:
        size, = struct.unpack("<Q", file.read(8))
        file.read(size)
        state = hashlib.sha256()
        while block := file.read(8 << 20):
            state.update(block)
    return ["sha256:" + state.hexdigest()]


if __name__ == "__main__":
    ways = {"arrow": of_arrow, "hub": of_hub, "hub-each": of_hub_each, "list": keys, "digest": digest}
    if sys.argv[1].startswith("hub"):
        import huggingface_hub   # Its import is not measured
    else:
        import pyarrow.fs
    start = time.perf_counter()
    found = ways[sys.argv[1]](*sys.argv[2:])
    seconds = time.perf_counter() - start
    print(f"{seconds:.6f} {time.process_time():.6f}", *found, sep="\t")
