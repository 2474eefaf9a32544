"""Measurements of remote sources, over servers of this machine that answer late, or by a line of limited width."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from functools import cache

from harness import HERE, Measurement, Reading, Sample, allowed, build, expecting, lazily, program, shell, venv

LATENCY, CONNECTIONS, RATE = 0.030, 32, 125_000_000
FILES, GIB = 1000, 1 << 30
ENTRY = "sqlite3_ztensor_remote_init"
TOTALS = "SELECT count(*), sum(length) FROM zt_components('{}')"


class Servers:
    """A process with the servers, which counts their requests."""

    def __init__(self, latency: float, rate: int) -> None:
        self.process = subprocess.Popen([sys.executable, HERE / "remote_server.py", str(latency), str(rate)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        self.origins = json.loads(self.process.stdout.readline())

    def reach(self) -> None:
        """From here on programs find them."""
        sys.path.append(str(HERE.parent / "remote"))
        import s3
        os.environ.update(ZTENSOR_REMOTE=" ".join(self.origins), AWS_ENDPOINT_URL=self.origins[0], HF_ENDPOINT=self.origins[1],
                          AWS_ACCESS_KEY_ID=s3.ACCESS, AWS_SECRET_ACCESS_KEY=s3.SECRET, AWS_EC2_METADATA_DISABLED="true")

    def requests(self) -> int:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


@cache
def servers(latency: float = LATENCY, rate: int = 0) -> Servers:
    return Servers(latency, rate)


def reaching(found: Servers, sample: Sample) -> Sample:
    def sampled() -> Reading:
        found.reach()
        return sample()

    return sampled


def counting(found: Servers, sample: Sample) -> Sample:
    """The requests of a sample in place of its seconds."""

    def counted() -> Reading:
        found.reach()
        found.requests()
        reading = sample()
        return Reading(found.requests(), None, reading.results)

    return counted


def ours(query: str) -> Sample:
    return shell(":memory:", [f"CREATE TEMP TABLE found AS {query};"],
                 before=[f".load {build().extension.with_suffix('')} {ENTRY}"], after=["SELECT * FROM found;"])


def theirs(*words: str) -> Sample:
    return lazily(lambda: program(venv("remote", "remote-requirements.txt") / "bin" / "python", HERE / "remote_py.py", *words))


def headers_s3(*threads: str) -> tuple[Sample, Sample]:
    found = servers()
    return reaching(found, ours(TOTALS.format("s3://models/headers/"))), reaching(found, theirs("arrow", "headers", *threads))


def headers_requests() -> tuple[Sample, Sample]:
    found = servers()
    return counting(found, ours(TOTALS.format("s3://models/headers/"))), counting(found, theirs("arrow", "headers"))


def headers_limit() -> tuple[Sample, Sample]:
    """A listing, and then the files over the connections."""
    found = servers()
    trips = 1 + FILES / CONNECTIONS
    return reaching(found, expecting(ours(TOTALS.format("s3://models/headers/")), 300_000, 76_800_000)), allowed(trips * LATENCY)


def headers_hub(way: str) -> tuple[Sample, Sample]:
    found = servers()
    return reaching(found, ours(TOTALS.format("hf://org/model/"))), reaching(found, theirs(way, "org/model"))


def keys() -> tuple[Sample, Sample]:
    found = servers()
    query = "SELECT count(*) FROM (SELECT path, size, etag FROM zt_files('s3://models/keys/'))"
    return reaching(found, ours(query)), reaching(found, theirs("list", "keys"))


def keys_requests() -> tuple[Sample, Sample]:
    found = servers()
    query = "SELECT count(*) FROM (SELECT path, size, etag FROM zt_files('s3://models/keys/'))"
    return counting(found, ours(query)), allowed(10, 10_000)


def digest() -> tuple[Sample, Sample]:
    found = servers(LATENCY, RATE)
    query = "SELECT zt_hash('s3://models/large.safetensors', 'w', 'xxh3') IS NOT NULL"
    return reaching(found, expecting(ours(query), 1)), allowed(GIB / RATE)


def digest_arrow() -> tuple[Sample, Sample]:
    found = servers(LATENCY, RATE)
    return reaching(found, ours("SELECT zt_hash('s3://models/large.safetensors', 'w', 'sha256')")), reaching(found, theirs("digest"))


AWAY = "30 ms away"
MEASUREMENTS = [
    Measurement("remote-headers-limit", f"1,000 safetensors in S3, {AWAY}", "count(*), sum(length)", "round trips / 32", "ms", 1.6, headers_limit),
    Measurement("remote-headers-arrow", f"1,000 safetensors in S3, {AWAY}", "count(*), sum(length)", "pyarrow, its threads", "ms", 0.2, headers_s3),
    Measurement("remote-headers-arrow-32", f"1,000 safetensors in S3, {AWAY}", "count(*), sum(length)", "pyarrow, 32 threads", "ms", None,
                lambda: headers_s3("32")),
    Measurement("remote-headers-requests", f"1,000 safetensors in S3, {AWAY}", "requests", "pyarrow", "requests", 0.34, headers_requests),
    Measurement("remote-headers-hub", f"100 safetensors of the hub, {AWAY}", "count(*), sum(length)", "huggingface_hub, shards", "ms", 0.2,
                lambda: headers_hub("hub")),
    Measurement("remote-headers-hub-each", f"100 safetensors of the hub, {AWAY}", "count(*), sum(length)", "huggingface_hub, files", "ms", 0.2,
                lambda: headers_hub("hub-each")),
    Measurement("remote-keys-arrow", f"10,000 keys of S3, {AWAY}", "path, size, etag", "pyarrow", "ms", None, keys),
    Measurement("remote-keys-requests", f"10,000 keys of S3, {AWAY}", "requests", "1,000 keys each", "requests", 1.0, keys_requests),
    Measurement("remote-digest-line", "1 GiB in S3, 125 MB/s", "xxh3", "bytes / width", "ms", 1.15, digest, once=True),
    Measurement("remote-digest-arrow", "1 GiB in S3, 125 MB/s", "sha256", "pyarrow", "ms", None, digest_arrow, once=True),
]
