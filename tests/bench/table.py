#!/usr/bin/python3
"""Puts the ratios of the last `make bench` into README's table, and its limits into the reference's: `make bench-table`.

Refused unless they are of one run that measured every row of both, of the sources that are committed now.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import limits

ROOT = Path(__file__).resolve().parent.parent.parent
MEASURED = ROOT / "build" / "bench" / "measured.json"
README, REFERENCE = ROOT / "README.md", ROOT / "ext" / "REFERENCE.md"
SOURCES = ["ext/core", "ext/container", "ext/tensor", "ext/sqlite", "ext/ztensor.c", "tests/bench"]

LIMITED = re.compile(r"^(<!-- measured: limits -->)$.*?^(<!-- end -->)$", re.M | re.S)

# How a row's task begins, and the measurements whose ratios it has
ROWS = {
    "min, max, mean, std": ["stats-f32-file", "stats-bf16-file"],
    "distance between two f32 models": ["compare-numpy"],
    "listing 10,000 zTensor files": ["tree-rust"],
    "listing a safetensors file": ["safetensors-rust"],
    "listing a GGUF file": ["gguf-py"],
    "listing a PyTorch file": ["pt-list"],
    "listing an ONNX model": ["onnx-list"],
    "values of 1,000 arrays": ["npz-deflated", "npz-stored"],
    "verifying the xxh3 digests": ["digest-xxh3"],
    "verifying the sha256 digests": ["threads-rust-sha256"],
}


def sources() -> str:
    """Which sources are committed; with a word more where others lie in the folder."""
    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True).stdout

    trees = git("rev-parse", *(f"HEAD:{path}" for path in SOURCES)).split()
    return " ".join(trees + (["changed"] if git("status", "--porcelain", "--", *SOURCES) else []))


def save(samples: int, ratios: dict[str, str], limited: dict[str, list[str]]) -> None:
    """The results of one run, by the names of its measurements. limited: as harness.LIMITED."""
    try:
        of = sources()
    except (OSError, subprocess.CalledProcessError):
        of = "unknown"
    MEASURED.write_text(json.dumps({"sources": of, "samples": samples, "ratios": ratios, "limited": limited}, indent=1) + "\n")


def with_ratios(page: str, ratios: dict[str, str]) -> str:
    """The page with these ratios in its table."""
    for task, names in ROWS.items():
        row = re.compile(rf"^(\| {re.escape(task)}[^|]*\|[^|]*\|) [^|]* \|$", re.M)
        shown = "; ".join(ratios[name] for name in names)
        page, found = row.subn(lambda m, shown=shown: f"{m[1]} {shown} |", page)
        if found != 1:
            raise ValueError(f"README has {found} rows that begin with '{task}'")
    return page


def with_limits(page: str, limited: dict[str, list[str]]) -> str:
    """The page with these rows in its table of limits, in the order of LIMITS."""
    lines = ["| files | task | limit | limit, ms | ztensor, ms | times | times, processors | reason, above 1.3 |", "|---|---|---|---|---|---|---|---|"]
    for name in limits.LIMITS:
        workload, what, limit, unit, ours, least, times, cpu, reason = limited[name]
        unit = "" if unit == "ms" else f" {unit}"
        lines.append(f"| {workload} | {what} | {limit} | {least}{unit} | {ours}{unit} | {times} | {cpu} | {reason} |")
    page, found = LIMITED.subn("\n".join([r"\1", *lines, r"\2"]), page)
    if found != 1:
        raise ValueError(f"the reference has {found} tables of limits")
    return page


def with_samples(page: str, samples: int) -> str:
    return re.sub(r"(medians of\s+up\s+to\s+)\d+(\s+samples)", rf"\g<1>{samples}\g<2>", page)


def main() -> int:
    if not MEASURED.exists():
        sys.exit("run make bench first")
    measured = json.loads(MEASURED.read_text())
    missing = sorted({name for names in ROWS.values() for name in names} - {*measured["ratios"]} | {*limits.LIMITS} - {*measured["limited"]})
    if missing:
        sys.exit(f"the last run of make bench has not measured {', '.join(missing)}")
    if "changed" in measured["sources"] or measured["sources"] != sources():
        sys.exit("the last run of make bench is not of the sources that are committed now")
    if unexplained := sorted(name for name in limits.LIMITS if measured["limited"][name][-1] == "?"):
        sys.exit(f"limits.py has no reason for {', '.join(unexplained)}")
    pages = {README: with_ratios(README.read_text(), measured["ratios"]), REFERENCE: with_limits(REFERENCE.read_text(), measured["limited"])}
    for path, page in pages.items():
        path.write_text(with_samples(page, measured["samples"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
