"""Measurements of how much several threads are worth: against one, against what people use today, and on files that are
slow to open."""

from __future__ import annotations

from typing import Callable

from auditing import STATUS, digests, large_parts, status, verify
from harness import (HERE, Measurement, Sample, added_memory, allowed, build, c_library, generate, host, ours, program, python,
                     read_afresh, with_threads)
from listing import TOTALS, million, tree
from values import BIG, MIB, STATS, big, interruption, tensors

# ---- workloads ----


def tuned() -> str:
    """The file of 64 f32 tensors of 16 MiB, a thousandth beside those of f32."""
    generate("tuned", [HERE / "gen_values.py", HERE / "layout.py"], python("gen_values.py"), "tuned.zt")
    return "tuned.zt"


def hole() -> str:
    """A file of 100 GB that takes no room: 400 tensors of 256 MiB, of zeros."""
    generate("zeros", [HERE / "gen_values.py", HERE / "layout.py"], python("gen_values.py"), "zeros.zt")
    return "zeros.zt"


def late() -> str:
    """The pattern of 2,000 files of the tree."""
    tree()
    return "tree/run-[01]?/*.zt"


# ---- measurements ----


def two(sql: str, path: str, *others: str) -> tuple[Sample, Sample]:
    """Two threads against one."""
    return ours("once", with_threads(2, sql), path, *others), ours("once", with_threads(1, sql), path, *others)


def two_read(sql: str, path: str) -> tuple[Sample, Sample]:
    return two(sql, read_afresh(path))


FULL = "SELECT count(*) FROM zt_check(?1, 'full')"
DISTANCES = ("SELECT count(*), sum(c.elements), sum(c.rmse), sum(c.l2), sum(c.other_l2), sum(c.dot)"
             " FROM zt_objects(?1) AS o, zt_compare(?1, o.object, ?2, o.object) AS c WHERE c.error IS NULL")


def listing(sql: str) -> tuple[Sample, Sample]:
    tree()
    return two(sql, "tree")


def few() -> tuple[Sample, Sample]:
    """Work that is over before a thread has begun."""
    tree()
    return two(TOTALS + "zt_components(?1)", "tree/run-00/*.zt")


def opening() -> tuple[Sample, Sample]:
    million()
    return two("SELECT version, objects FROM zt_files(?1)", "million.zt")


def verifying(path: str, way: str) -> tuple[Sample, Sample]:
    return status(read_afresh(path)), verify(way, path)


def distances() -> tuple[Sample, Sample]:
    return two(DISTANCES, read_afresh(tensors("f32")), read_afresh(tuned()))


def numpy_distances() -> tuple[Sample, Sample]:
    mine, other = read_afresh(tensors("f32")), read_afresh(tuned())
    return (ours("once", with_threads(1, DISTANCES), mine, other),
            program(*python("baseline.py"), "--touch", 128, "compare", mine, other))


def distances_memory() -> tuple[Sample, Sample]:
    mine, other = tensors("f32"), tuned()
    expected = program(*python("baseline.py"), "compare", mine, other)().results
    return added_memory(with_threads(1, DISTANCES), mine, other), allowed(64 * MIB, *expected)


def late_files() -> tuple[Sample, Sample]:
    """Measures waiting: as many threads as there usually are, which here is as many as processors."""
    path = late()
    command = ["env", f"LD_PRELOAD={c_library('late')}", host(), "--ext", build().extension, "once"]
    sql = TOTALS + "zt_components(?1)"
    return (program(*command, sql, path), program(*command, with_threads(1, sql), path))


def check_memory() -> tuple[Sample, Sample]:
    return added_memory(with_threads(8, FULL), hole()), allowed(96 * MIB, 0)


TREE = "10,000 files of 100 objects"
LARGE = "16 tensors of 64 MiB, "
MODELS = "2 models of 64 f32 tensors of 16 MiB"
ONE = "1 thread"


def against_one(name: str, workload: str, what: str, bound: float | None,
                prepare: Callable[[], tuple[Sample, Sample]]) -> Measurement:
    return Measurement(f"threads-{name}", workload, f"{what}, 2 threads", ONE, "ms", bound, prepare)


MEASUREMENTS = [
    against_one("check-sha256", LARGE + "sha256", "zt_check, full", 0.58,
                lambda: two_read(FULL, digests("sha256", "16x64"))),
    against_one("check-xxh3", LARGE + "xxh3", "zt_check, full", 0.70, lambda: two_read(FULL, large_parts())),
    against_one("digest-sha256", LARGE + "sha256", "digest_status", 0.58,
                lambda: two_read(STATUS[1], digests("sha256", "16x64"))),
    against_one("digest-xxh3", LARGE + "xxh3", "digest_status", 0.70, lambda: two_read(STATUS[1], large_parts())),
    against_one("stats-f32", "64 tensors of 16 MiB, f32", "zt_stats", 0.60, lambda: two_read(STATS, tensors("f32"))),
    against_one("stats-bf16", "64 tensors of 16 MiB, bf16", "zt_stats", 0.60, lambda: two_read(STATS, tensors("bf16"))),
    against_one("tree", TREE, "count(*), sum(length)", 0.65, lambda: listing(TOTALS + "zt_components(?1)")),
    against_one("few", "100 files of 100 objects", "count(*), sum(length)", None, few),
    against_one("manifest", "1 file, 1,000,000 components", "opened", 0.80, opening),
    against_one("compare", MODELS, "zt_compare", 0.60, distances),
    Measurement("threads-rust-xxh3", LARGE + "xxh3", "digest_status", "Rust library, verify: maps", "ms", 0.8,
                lambda: verifying(large_parts(), "2")),
    Measurement("threads-rust-sha256", "16 tensors of 16 MiB, sha256", "digest_status", "Rust library, reading", "ms", 0.55,
                lambda: verifying(digests("sha256", "16x16"), "read")),
    Measurement("compare-numpy", MODELS, "zt_compare, 1 thread", "numpy, with reading", "ms", 0.5, numpy_distances),
    Measurement("compare-memory", MODELS, "zt_compare, peak memory", "64 MiB", "MB", 1.0, distances_memory),
    Measurement("threads-late", "2,000 files of 100, each 10 ms late", "count(*), sum(length)", ONE, "ms", 1 / 12, late_files),
    Measurement("threads-check-memory", "400 tensors of 256 MiB of zeros", "zt_check, 8 threads, peak memory", "96 MiB",
                "MB", 1.0, check_memory, once=True),
    Measurement("threads-interrupt-stats", BIG + "raw", "zt_stats, 8 threads, interrupted", "100 ms", "ms", 1.0,
                lambda: interruption("WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT sum(mean)"
                                     " FROM n, zt_stats(?1)", big("raw"), 8), max),
]
