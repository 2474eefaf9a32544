"""The programs that list a file with the format's own Python package share this.

Each has two commands: `write KIND FILE` writes a file, and `list FILE` prints seconds, those of the processors, then what the
file was found to have, like the programs in C (bench.h).
"""

from __future__ import annotations

import sys
import time
from typing import Callable, Iterable, NamedTuple


class Tensor(NamedTuple):
    name: str
    shape: Iterable[int]
    elements: int
    type: str


def summary(tensors: Iterable[Tensor]) -> tuple:
    """The facts that are compared with our rows: count, lengths of names and of shapes as JSON, elements, the first and last type."""
    tensors = list(tensors)
    shapes = (str(list(each.shape)).replace(" ", "") for each in tensors)
    types = {each.type for each in tensors}
    return (len(tensors), sum(len(each.name) for each in tensors), sum(map(len, shapes)), sum(each.elements for each in tensors),
            min(types), max(types))


def main(usage: str, write: Callable[[str], None], found: Callable[[str], tuple]) -> None:
    match sys.argv[1:]:
        case ["write", _, path]:
            write(path)
        case ["list", path]:
            wall, cpu = time.perf_counter(), time.process_time()
            what = found(path)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            print(f"{wall:.6f} {cpu:.6f}", *what, sep="\t")
        case _:
            sys.exit(usage)
