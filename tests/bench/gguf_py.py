"""GGUF with the format's own Python package.

    gguf_py.py write KIND FILE  a file of 20,000 small tensors and a vocabulary of 256,000 tokens
    gguf_py.py list FILE        how many tensors it has, and how many bytes they
"""

from __future__ import annotations

import gguf
import library
import numpy

TENSORS, TOKENS = 20_000, 256_000


def write(path: str) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(TENSORS // 10)
    writer.add_token_list([f"token{i}" for i in range(TOKENS)])
    writer.add_token_scores([-float(i) for i in range(TOKENS)])
    writer.add_token_types([1] * TOKENS)
    values = numpy.arange(32, dtype=numpy.float32)
    for i in range(TENSORS):
        writer.add_tensor(f"blk.{i // 10}.ffn_{i % 10}.weight", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def found(path: str) -> tuple:
    tensors = gguf.GGUFReader(path).tensors
    return len(tensors), sum(int(tensor.n_bytes) for tensor in tensors)


if __name__ == "__main__":
    library.main(__doc__, write, found)
