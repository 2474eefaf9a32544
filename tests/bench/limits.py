"""The work that no program can avoid on this machine, for each task that is measured: bytes read or written, results copied,
digests and decoding by the library that ours uses, too, the rows of a virtual table that computes nothing. It is done by as many
threads as ours has, on the same files; least.c, walk.c and bare.c do it."""

from __future__ import annotations

import os
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Callable, Iterable

from auditing import digests, large_parts, parts
from harness import WORK, Limit, Sample, added, build, c_library, c_program, host, per_item, program, python, run, touching
from joins import SOME, asked
from listing import LARGE, TOTALS, c_walk, walk
from threads import tuned
from values import hdf5, npz, quantized, sparse, tensors, vectors
from written import workload

THREADS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

# ---- the programs ----


def least(work: str, pieces: Path, threads: int = THREADS) -> Sample:
    """See least.c."""
    libraries = ["-lzstd", "-lisal", "-lcrypto", "-lpthread"]
    return program(c_program("least", "-march=native", *libraries), work, threads, pieces)


def pieces(name: str, lines: Iterable[str]) -> Path:
    target = WORK / f"{name}.pieces"
    target.write_text("".join(f"{line}\n" for line in lines))
    return target


def asking(name: str, sql: str, *values: str) -> Path:
    """Pieces from a query of ours: offset, stored bytes, bytes of the result, path."""
    before = os.getcwd()
    os.chdir(WORK)
    try:
        with closing(sqlite3.connect(":memory:")) as db:
            db.enable_load_extension(True)
            db.load_extension(str(build().extension.with_suffix("")))
            return pieces(name, (" ".join(map(str, row)) for row in db.execute(sql, values)))
    finally:
        os.chdir(before)


def rows(n: int, sql: str = TOTALS + "bare(?1)") -> Sample:
    """What SQLite itself takes for the rows of a virtual table."""
    return program(host(), "--ext", c_library("bare"), "once", sql, n)


# ---- limits, each of which ours is measured in turn with ----


def manifests(source: str, threads: int = THREADS) -> Sample:
    """As many bytes as the manifests have."""
    return touching(LARGE, least("read", asking("manifests", "SELECT 0, manifest_bytes, 0, path FROM zt_files(?)", source), threads))


def reading(*sources: str, threads: int = THREADS) -> Sample:
    stored = " UNION ALL ".join("SELECT offset, length, 0, path FROM zt_components(?)" for _ in sources)
    return least("read", asking("reading", stored, *sources), threads)


def decoding(work: str, source: str, threads: int = THREADS, objects: str = "*") -> Sample:
    sql = "SELECT offset, length, coalesce(decoded_length, length), path FROM zt_components(?) WHERE object GLOB ?"
    return least(work, asking(work, sql, source, objects), threads)


def results(source: str, size: int, work: str = "result") -> Sample:
    """Elements of that many bytes."""
    sql = f"SELECT c.offset, c.length, o.elements*{size}, path FROM zt_objects(?1) AS o JOIN zt_components(?1) AS c USING (path, object)"
    return least(work, asking("results", sql, source))


def matrix(source: str) -> Sample:
    sql = """SELECT c.offset, c.length, iif(row_number() OVER ()=1, o.elements*4, 0), path
             FROM zt_objects(?1) AS o JOIN zt_components(?1) AS c USING (path, object)"""
    return least("zeros", asking("matrix", sql, source))


def members(name: str) -> Sample:
    """An archive's are decoded one after the other: each is one stream, and SQLite asks for one value at a time."""
    with zipfile.ZipFile(WORK / name) as archive, open(WORK / name, "rb") as file:
        found = []
        for each in archive.infolist():
            file.seek(each.header_offset + 26)
            head = 30 + sum(int.from_bytes(file.read(2), "little") for _ in range(2))
            found.append(f"{each.header_offset + head} {each.compress_size} {each.file_size} {name}")
    return least("inflate", pieces("members", found), 1)


def chunks(name: str) -> Sample:
    return least("inflate", pieces("chunks", run(*python("hdf5_chunks.py"), name).splitlines()))


def names(n: int) -> Sample:
    return rows(n, "SELECT count(*), sum(length(object)), sum(length(object)), sum(length), min(object), max(object) FROM bare(?1)")



def joined_numbers() -> Sample:
    """A join of two tables by their key."""
    table = ("CREATE TABLE {0}(position INTEGER PRIMARY KEY, value REAL);"
             "INSERT INTO {0} WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 19999) SELECT i, i*0.5 FROM n;")
    return program(host(), "fill", table.format("a") + table.format("b"),
                   "SELECT count(*), sum(a.value*b.value) FROM a JOIN b USING (position)", "SELECT 1")


def looking_up() -> Sample:
    names_of, sql = "million.names", "SELECT length FROM bare(1) WHERE ?1 <> ''"
    return per_item(program(host(), "--ext", c_library("bare"), "lookup", names_of, sql))


MILLION = 1_000_000
TREE = "tree"
WALK = "C walk"
BARE = "rows of a bare virtual table"
WALK_AND_BARE = f"{WALK}, {BARE}"
READ_AND_BARE = f"reading as many bytes, {BARE}"
COPIED = "reading, and copying as many bytes as the results have"
NUMBERS = "reading the numbers"

CHECKS = "Names and texts are checked for UTF-8 and duplicates, and indexed; the C walk checks nothing."
PARSED = "Each byte is parsed and checked, and names and byte ranges are compared with each other. Reading is a copy by the kernel."
ROW = "A row's columns are decoded from the manifest when it is reached."
CONVERTED = "Numbers are converted in the nearest cache, and copied from there."
TURNS = "SQLite keeps a row's value until the next is there: two results take turns in memory."
SUMS = "Each number becomes f64 for two sums; its bounds and zeros are found, too."
BLOCKS = "Each number of a block takes several instructions."
SCATTERED = "Elements are stored one by one at their places, after the zeros."
SHUFFLED = "Shuffled bytes are put in order after they are decoded."
JOINED = "SQLite looks each row up in an index of its own, on one thread."
FOUND = "SQLite's own tables are there before: no file is read for them."
COMPARED = "SQL compares the rows of the catalog with those of the directory."
ALONE = "One thread writes the file."
WRITTEN = "An xxh3 of each tensor is computed while it is written."


def walking(source: str, n: int, threads: int = THREADS) -> Callable[[], Sample]:
    return lambda: added(touching(LARGE, c_walk(source, threads)), rows(n))


def naming(source: str, n: int) -> Callable[[], Sample]:
    return lambda: added(manifests(source, 1), names(n))


def scanning(source: str, n: int) -> Callable[[], Sample]:
    return lambda: added(manifests(source), rows(n))


def copying(source: Callable[[], str], size: int, reason: str) -> Limit:
    return Limit(COPIED, lambda: results(source(), size), reason)


def summing(dtype: str) -> Limit:
    return Limit(NUMBERS, lambda: reading(tensors(dtype)), SUMS)


def digesting(algorithm: str, source: Callable[[], str]) -> Limit:
    return Limit(f"reading and {algorithm}", lambda: decoding(algorithm, source()))


def writing(size: int, work: str = "write", reason: str = WRITTEN) -> Limit:
    what = "reading, and writing as many bytes to a new file" if work == "write" else "reading, zstd 3 and writing"
    return Limit(what, lambda: results(workload("model"), size, work), reason)


# By the name of a measurement, in the order of the table. A task has one, even where it is measured against several alternatives
LIMITS = {
    "million-native": Limit(WALK_AND_BARE, walking("million.zt", MILLION, 1), CHECKS),
    "million-again": Limit(BARE, lambda: rows(MILLION), ROW),
    "million-max": Limit(WALK_AND_BARE, lambda: added(touching(LARGE, c_walk("million.zt")), rows(MILLION, "SELECT max(object) FROM bare(?1)")), CHECKS),
    "million-lookup": Limit("a row of a bare virtual table", looking_up, "The name is hashed and compared, and its row decoded."),
    "million-2-rust": Limit(READ_AND_BARE, lambda: added(manifests("million-2.zt", 1), rows(MILLION)), PARSED),
    "tree-c": Limit(WALK_AND_BARE, walking(TREE, MILLION), CHECKS),
    "safetensors-rust": Limit(READ_AND_BARE, lambda: added(manifests("large.safetensors", 1), rows(750_000)), PARSED),
    "safetensors-tree-rust": Limit(READ_AND_BARE, scanning("safetensors-tree", MILLION), PARSED),
    "gguf-py": Limit(READ_AND_BARE, lambda: added(manifests("many.gguf", 1), rows(20_000)), PARSED),
    "pt-list": Limit(READ_AND_BARE, naming("many.pt", 10_000), "The pickle's machine runs, and its objects are put together."),
    "onnx-list": Limit(READ_AND_BARE, naming("large.onnx", 1), PARSED),
    "tflite-list": Limit(READ_AND_BARE, naming("large.tflite", 1), PARSED),
    "hdf5-list": Limit(READ_AND_BARE, naming("many.h5", 10_000), "Each dataset has a header of its own, with several messages."),
    "blob-raw": Limit("reading into memory that is kept", lambda: decoding("result", "raw.zt"), TURNS),
    "blob-raw-calls": Limit("reading into memory that is kept", lambda: decoding("result", "raw.zt"), TURNS),
    "blob-zstd": Limit("libzstd into memory that is kept, one thread", lambda: decoding("zstd", "zstd.zt", 1)),
    "range-frame": Limit("reading and decoding 1 frame", None, "The file is opened and its manifest and table of frames are read."),
    "range-frames": Limit("reading and decoding 2 frames", None, "The file is opened and its manifest and table of frames are read."),
    "join-tree": Limit("SQLite's own tables, indexed", None, FOUND),
    "join-pinned": Limit(f"{WALK} of both files", lambda: c_walk("pair", THREADS), CHECKS),
    "join-files": Limit(WALK_AND_BARE, walking("shelf", 375_000), "SQLite joins the rows on one thread, and the columns of each are decoded."),
    "join-elements": Limit("SQLite's own tables, by their keys", joined_numbers, "For each row of the one table, the other is asked anew."),
    "join-names": Limit(READ_AND_BARE, scanning("tree/run-0?/*.zt", 100_000), JOINED),
    "join-size": Limit("SQLite's own tables", None, FOUND),
    "join-expression": Limit(READ_AND_BARE, scanning(SOME, 24_000), PARSED),
    "join-runs": Limit("SQLite's own tables", None, FOUND),
    "join-lateral": Limit(WALK_AND_BARE, walking(TREE, MILLION), "Each path opens a table anew, and its one file."),
    "in-rows": Limit(f"libzstd, {BARE}", lambda: added(decoding("zstd", asked(), 1, "table"), rows(1000)),
                     "Each row is looked up on its own, and is a value of its own."),
    "dense-f32-f16": copying(lambda: tensors("f32"), 2, CONVERTED),
    "dense-f16-f32": copying(lambda: tensors("f16"), 4, CONVERTED),
    "dense-bf16-f32": copying(lambda: tensors("bf16"), 4, CONVERTED),
    "dense-f8_e4m3fn-f32": copying(lambda: tensors("f8_e4m3fn"), 4, CONVERTED),
    **{f"dense-{kind.replace('_', '-')}": copying(lambda kind=kind: quantized(kind), 4, BLOCKS)
       for kind in ("q4_k", "q6_k", "q8_0", "q4_0", "iq4_xs")},
    "stats-f32": summing("f32"),
    "stats-bf16": summing("bf16"),
    "stats-f16": summing("f16"),
    "hdf5-chunked": Limit("reading and ISA-L's inflate", lambda: chunks(hdf5("chunked")), "Chunks are put into their places in the result."),
    "hdf5-shuffled": Limit("reading and ISA-L's inflate", lambda: chunks(hdf5("shuffled")), SHUFFLED),
    "hdf5-contiguous": Limit("reading into memory that is kept", lambda: decoding("result", hdf5("contiguous")), TURNS),
    "npz-stored": Limit("reading into memory that is kept", lambda: decoding("result", npz("stored")), TURNS),
    "npz-deflated": Limit("reading and ISA-L's inflate, one thread", lambda: members(npz("deflated"))),
    "sparse-csr": Limit("reading, and pages of zeros", lambda: matrix(sparse("csr.zt")), SCATTERED),
    "sparse-coo": Limit("reading, and pages of zeros", lambda: matrix(sparse("coo.zt")), SCATTERED),
    "sparse-coo-sorted": Limit("reading, and pages of zeros", lambda: matrix(sparse("coo-sorted.zt")), SCATTERED),
    "rows-vec": Limit(f"{NUMBERS}, {BARE}", lambda: added(reading(vectors()), rows(100_000)), "Each row's numbers are converted, and are a value of their own."),
    "check-sha256": digesting("sha256", lambda: digests("sha256")),
    "check-crc32c": digesting("crc32c", lambda: digests("crc32c")),
    "digest-sha256": digesting("sha256", lambda: digests("sha256")),
    "digest-crc32c": digesting("crc32c", lambda: digests("crc32c")),
    "digest-xxh3": digesting("xxh3", parts),
    "threads-rust-xxh3": digesting("xxh3", large_parts),
    "threads-rust-sha256": digesting("sha256", lambda: digests("sha256", "16x16")),
    "check-quick": Limit(WALK, lambda: c_walk(TREE, THREADS), "Each of a million components has no digest: that is a row with a message, which the query drops."),
    "refresh-first": Limit("INSERT of the same rows", None, "The files are read and checked, and the catalog has more indexes."),
    "refresh-nothing": Limit("listing directories and fstatat", lambda: program(walk(), "--stat", 1, TREE), COMPARED),
    "refresh-one": Limit("listing directories and fstatat", lambda: program(walk(), "--stat", 1, TREE), COMPARED),
    "threads-compare": Limit(NUMBERS, lambda: reading(tensors("f32"), tuned()), SUMS),
    "compare-numpy": Limit(f"{NUMBERS}, one thread", lambda: reading(tensors("f32"), tuned(), threads=1), SUMS),
    "write-copy": writing(4),
    "write-convert": writing(4),
    "write-save": writing(4, reason=ALONE),
    "write-bf16": writing(2),
    "write-zstd": writing(4, "compress"),
    "remote-headers-limit": Limit("round trips / 32", None),
    "remote-digest-line": Limit("bytes / width", None),
}
