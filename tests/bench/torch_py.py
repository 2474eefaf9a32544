"""PyTorch's files with torch itself.

    torch_py.py write KIND FILE  a file of 10,000 small tensors
    torch_py.py list FILE        how many tensors it has, and what their names, shapes and types come to

The latter prints seconds, those of the processors, then what it found, like the programs in C (bench.h). Tensors are small, so
that a torch that maps no files, as before 2.1, reads little more than one that does.
"""

from __future__ import annotations

import inspect
import sys
import time

import torch

TENSORS = 10_000


def write(path: str) -> None:
    torch.save({f"layers.{i // 10}.block.{i % 10}.weight": torch.full((16, 1 + i % 16), float(i)) for i in range(TENSORS)}, path)


def list_tensors(path: str) -> None:
    known = inspect.signature(torch.load).parameters
    how = {name: True for name in ("mmap", "weights_only") if name in known}
    wall, cpu = time.perf_counter(), time.process_time()
    tensors = torch.load(path, **how)
    types = {str(tensor.dtype) for tensor in tensors.values()}
    found = [len(tensors), sum(map(len, tensors)), sum(len(str(list(tensor.shape)).replace(" ", "")) for tensor in tensors.values()),
             sum(tensor.numel() for tensor in tensors.values()), *(each.replace("torch.float", "f") for each in (min(types), max(types)))]
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"{wall:.6f} {cpu:.6f}", *found, sep="\t")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["write", _, path]:
            write(path)
        case ["list", path]:
            list_tensors(path)
        case _:
            sys.exit(__doc__)
