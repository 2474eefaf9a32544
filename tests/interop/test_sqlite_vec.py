"""Vectors from zt_rows are what sqlite-vec takes: the example of sql/EXAMPLES.md, run with the package from PyPI."""
import random
import re
import struct
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "sql"))
import writer  # noqa: E402  (it is there only now)
from support import EXTENSION  # noqa: E402

PYTHON = ROOT / "build" / "interop" / "sqlite-vec" / "bin" / "python"
EXAMPLE = re.search(r"^```python\n((?:(?!```).)*import sqlite_vec.*?)^```", (ROOT / "sql" / "EXAMPLES.md").read_text(), re.M | re.S)[1]


def bf16(x):
    """The two bytes of a float that bf16 has."""
    return struct.pack("<f", x)[2:]


@pytest.mark.parametrize("encoding", ["raw", "zstd"])
def test_the_example_finds_the_nearest_rows(tmp_path, encoding):
    numbers = random.Random(4)
    table = [[numbers.randrange(-64, 64) / 4 for _ in range(4)] for _ in range(500)]
    data = b"".join(bf16(x) for row in table for x in row)
    stored = writer.zstd(data) if encoding == "zstd" else data
    fields = {"encoding": "zstd", "uncompressed_length": len(data)} if encoding == "zstd" else {}
    (tmp_path / "embeddings.zt").write_bytes(
        writer.write({"tok_embed.weight": writer.dense(stored, [500, 4], dtype="bf16", **fields)}))
    done = subprocess.run([PYTHON, "-c", EXAMPLE.replace("./ztensor", EXTENSION)], cwd=tmp_path, capture_output=True, text=True,
                          timeout=120)
    assert done.returncode == 0, done.stderr
    distances = sorted((sum((a - b) ** 2 for a, b in zip(row, table[7])) ** 0.5, i) for i, row in enumerate(table))
    found = eval(done.stdout)
    assert [i for i, _ in found[:1]] == [7] and found[0][1] == 0
    assert [d for _, d in found] == pytest.approx([d for d, _ in distances[:3]], rel=1e-6)
