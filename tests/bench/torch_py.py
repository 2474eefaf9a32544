"""PyTorch's files with torch itself.

    torch_py.py write KIND FILE  a file of 10,000 small tensors
    torch_py.py list FILE        how many tensors it has, and what their names, shapes and types come to

Tensors are small, so that a torch that maps no files, as before 2.1, reads little more than one that does.
"""

from __future__ import annotations

import inspect

import library
import torch

TENSORS = 10_000


def write(path: str) -> None:
    torch.save({f"layers.{i // 10}.block.{i % 10}.weight": torch.full((16, 1 + i % 16), float(i)) for i in range(TENSORS)}, path)


def found(path: str) -> tuple:
    known = inspect.signature(torch.load).parameters
    how = {name: True for name in ("mmap", "weights_only") if name in known}
    return library.summary(library.Tensor(name, tensor.shape, tensor.numel(), str(tensor.dtype).replace("torch.float", "f"))
                           for name, tensor in torch.load(path, **how).items())


if __name__ == "__main__":
    library.main(__doc__, write, found)
