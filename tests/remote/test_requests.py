"""What is asked: requests, bytes and connections, counted by the servers."""
import dataclasses
import hashlib
import json
import os
import sqlite3
import struct
import threading
import time

import numpy
import pytest

import writer
from conftest import ENTRY
from files import Files
from server import STALL, Answer
from support import failure, message, rows, value

KIB = 1 << 10


def safetensors(name="w", count=4, padding=0, pad_header=0):
    """A file with one tensor of so many bytes, its header filled up."""
    header = {"__metadata__": {"x": "x" * pad_header}, name: {"dtype": "U8", "shape": [count], "data_offsets": [0, count]}}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + (bytes(range(251)) * (count // 251 + 1))[:count] + bytes(padding)


def of_tensors(tensors):
    """A file with tensors of these names and bytes, in this order."""
    header, at = {}, 0
    for name, data in tensors.items():
        header[name] = {"dtype": "U8", "shape": [len(data)], "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + b"".join(tensors.values())


def settings(db):
    return json.loads(value(db, "SELECT zt_remote()"))


def bucket_of(bucket_server, count, suffix=".safetensors", make=lambda i: safetensors(f"w{i}")):
    for i in range(count):
        bucket_server.bucket.put(f"many/{i:05}{suffix}", make(i))


def test_a_header_is_one_request(web, remote):
    web.face.put("/m.safetensors", safetensors(count=500_000))
    db = remote(web)
    assert rows(db, "SELECT object, shape, stored_bytes FROM zt_objects(?)", web.url("/m.safetensors")) == [("w", "[500000]", 500_000)]
    request, = web.log
    assert (request.method, request.range, request.sent) == ("GET", (0, 64 * KIB - 1), 64 * KIB)
    assert "accept-encoding" not in request.headers or request.headers["accept-encoding"] == "identity"


def test_metadata_that_goes_on_costs_one_more_for_exactly_the_rest(web, remote):
    data = safetensors(pad_header=300_000, count=100_000)
    web.face.put("/m.safetensors", data)
    assert len(rows(remote(web), "SELECT * FROM zt_objects(?)", web.url("/m.safetensors"))) == 1
    header = 8 + struct.unpack("<Q", data[:8])[0]
    assert [(r.range, r.sent) for r in web.log] == [((0, 65535), 65536), ((65536, header - 1), header - 65536)]


def test_small_reads_behind_the_head_grow(web, remote):
    """MessagePack is walked in small steps: they become few requests, also near the head."""
    web.face.put("/m.msgpack", b"\xdf" + struct.pack(">I", 12_000) + b"".join(b"\xa6%06d\xcb" % i + bytes(8) for i in range(12_000)))
    assert rows(remote(web), "SELECT error FROM zt_files(?)", web.url("/m.msgpack")) == [(None,)]
    assert len(web.log) <= 8, [r.range for r in web.log]


def test_a_thousand_safetensors_are_a_thousand_requests_and_a_listing(bucket_server, remote):
    bucket_of(bucket_server, 1000)
    db = remote(bucket_server.server)
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/many/*.safetensors')") == 1000
    log = bucket_server.server.log
    assert (len(log), len([r for r in log if "list-type" in r.target])) == (1001, 1)
    assert len({r.connection for r in log}) <= 32
    told = settings(db)
    assert (told["requests"], told["retried"]) == (1001, 0)


def test_a_hundred_ztensor_files_are_two_hundred_requests(bucket_server, remote):
    data = writer.write_2({"w": writer.seekable_dense(bytes(300_000), 8, [300_000], "u8")}, {})
    assert len(data) > 64
    bucket_of(bucket_server, 100, ".zt", lambda i: writer.sample(fill=bytes([i + 1])) if i % 2 else data)
    db = remote(bucket_server.server)
    assert value(db, "SELECT count(DISTINCT path) FROM zt_objects('s3://models/many/*.zt')") == 100
    asked = [r for r in bucket_server.server.log if "list-type" not in r.target]
    assert len(asked) <= 200


@pytest.mark.parametrize("name, data", [("m.zt", None), ("m.npz", None)])
def test_a_directory_at_the_end_is_asked_for_beside_the_beginning(web, remote, name, data):
    if name == "m.zt":
        data = writer.write({"w": writer.dense(bytes(range(256)) * 4000)})
    else:
        import io
        file = io.BytesIO()
        numpy.savez(file, w=numpy.arange(300_000))
        data = file.getvalue()
    web.face.put("/" + name, data)
    assert len(rows(remote(web), "SELECT * FROM zt_objects(?)", web.url("/" + name))) == 1
    assert len(web.log) <= 3 and web.bytes <= 3 * 64 * KIB
    assert any(r.range == (-65536, None) or (r.range and r.range[0] >= len(data) - 65536) for r in web.log)


def test_a_large_value_is_several_requests_at_once(web, remote):
    data = safetensors(count=70 << 20)
    web.face.put("/m.safetensors", data)
    assert value(remote(web), "SELECT zt_blob(?, 'w')", web.url("/m.safetensors")) == data[-(70 << 20):]
    sizes = [r.range[1] - r.range[0] + 1 for r in web.log[1:]]
    assert sum(sizes) >= (70 << 20) - 65536 and max(sizes) == 8 << 20 and web.count > 4
    web.log.clear()
    assert value(remote(web), "SELECT zt_hash(?, 'w', 'sha256')", web.url("/m.safetensors")) == "sha256:" + hashlib.sha256(data[-(70 << 20):]).hexdigest()
    sizes = [r.range[1] - r.range[0] + 1 for r in web.log[1:]]
    assert sum(sizes) < 71 << 20 and max(sizes) == 4 << 20


def test_a_small_file_is_one_request(web, remote):
    web.face.put("/small.safetensors", safetensors())
    db = remote(web, ttl=3600)
    url = web.url("/small.safetensors")
    assert rows(db, "SELECT object FROM zt_objects(?)", url) == [("w",)]
    assert len(web.log) == 1


@pytest.mark.parametrize("count", [0, 1])
def test_an_empty_file_and_one_of_a_byte(web, remote, count):
    web.face.put("/x.safetensors", b"x" * count)
    db = remote(web)
    assert rows(db, "SELECT size, error_kind FROM zt_files(?)", web.url("/x.safetensors")) == [(count, "unknown")]


def test_frames_are_not_asked_for_one_by_one(web, remote):
    """Several threads decode the frames of a local file, each of which reads its own."""
    content = bytes(i * i % 251 for i in range(3 << 20))
    frames = writer.zstd_frames(content, 100_000)
    web.face.put("/m.zt", writer.one(writer.dense(frames, [len(content)], encoding="zstd", uncompressed_length=len(content))))
    db = remote(web)
    value(db, "SELECT zt_threads(4)")
    assert value(db, "SELECT zt_dense(?, 'w')", web.url("/m.zt")) == content
    assert len(web.log) < 10, [r.range for r in web.log]


def test_values_are_ranges(web, remote):
    size = 20 << 20
    data = safetensors(count=size)
    web.face.put("/m.safetensors", data)
    db = remote(web)
    assert value(db, "SELECT zt_hash(?, 'w', 'sha256')", web.url("/m.safetensors")).startswith("sha256:")
    begin = len(data) - size
    got = sorted((r.range[0], r.range[1] + 1) for r in web.log[1:])
    assert all(end - first <= 8 << 20 for first, end in got)
    # All of it, once; what came with the header may be spared
    assert got[0][0] in (begin, 65536) and got[-1][1] == len(data)
    assert all(a[1] == b[0] for a, b in zip(got, got[1:]))
    web.log.clear()
    assert value(db, "SELECT hex(zt_blob(?, 'w', 'data', 9000000, 10))", web.url("/m.safetensors")) == bytes(
        i % 251 for i in range(9_000_000, 9_000_010)).hex().upper()
    assert web.bytes < 100 * KIB


def neighbours(count, size, gap):
    """A safetensors file of tensors of so many bytes, with a tensor of `gap` bytes between two of them."""
    entries, at = {}, 0
    for i in range(count):
        for name, n in ((f"w{i:03}", size), (f"x{i:03}", gap)):
            entries[name] = {"dtype": "U8", "shape": [n], "data_offsets": [at, at + n]}
            at += n
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text + (bytes(range(251)) * (at // 251 + 1))[:at]


STORED = "SELECT sum(length(stored)) FROM zt_components(?) WHERE object GLOB 'w*'"
COMPUTED = "SELECT sum(elements) FROM zt_stats(?) WHERE object GLOB 'w*' AND mean > 0"   # By several threads, which ask in any order


@pytest.mark.parametrize("query, gap, most", [(STORED, 0, 12), (STORED, 60_000, 30), (STORED, 70_000, 102), (COMPUTED, 0, 50), (COMPUTED, 60_000, 90),
                                              (COMPUTED, 70_000, 102)])
def test_tensors_near_each_other_are_one_request(web, remote, query, gap, most):
    """Tensors of 100 kB: with less than 64 KiB between them, requests grow; with more, each has its own, and nothing between is asked for."""
    data = neighbours(100, 100_000, gap)
    web.face.put("/m.safetensors", data)
    db = remote(web)
    value(db, "SELECT zt_threads(2)")
    assert value(db, query, web.url("/m.safetensors")) == 10_000_000
    assert len(web.log) <= most, [r.range for r in web.log]
    assert web.bytes <= (len(data) + 200_000 if gap < 64 * KIB else 10_300_000)


@pytest.mark.parametrize("gap, most", [(64, 20), (60_000, 35), (70_000, 103)])
def test_requests_grow_though_each_tensor_is_read_before_the_one_in_front_of_it(web, remote, gap, most):
    """Objects are listed by name, which is not the order of their bytes. Two threads may take turns so in any file: no tensor follows one
    that was asked for."""
    places = {name: writer.dense(bytes([i]) * n) for i in range(100) for name, n in ((f"w{i ^ 1:03}", 100_000), (f"x{i:03}", gap))}
    data = writer.write_2(places, {})
    web.face.put("/m.zt", data)
    db = remote(web)
    value(db, "SELECT zt_threads(1)")
    assert rows(db, "SELECT substr(stored, -1) FROM zt_components(?) WHERE object GLOB 'w*'", web.url("/m.zt")) == [
        (bytes([i ^ 1]),) for i in range(100)]
    assert len(web.log) <= most, [r.range for r in web.log]
    assert web.bytes <= (len(data) + 200_000 if gap < 64 * KIB else 10_300_000)


def test_bytes_that_were_asked_for_and_are_not_read_keep_no_later_request_small(web, remote):
    """In each group, the third tensor is read before the second, and more is asked for behind it, which lies between the groups. All of
    that is more than may be ahead."""
    sizes = [n for n, count in ((2 << 20, 16), (1 << 20, 3), (512 * KIB, 3), (256 * KIB, 3), (128 * KIB, 3), (64 * KIB, 4)) for _ in range(count)]
    places = {}
    for i, size in enumerate(sizes):
        places |= {f"w{i:03}{name}": writer.dense(bytes([i]) * n) for name, n in (("a", size), ("c", 70_000), ("b", 70_000))}
        places[f"x{i:03}"] = writer.dense(bytes(2 * size + 200_000))
    places |= {f"y{i:03}d": writer.dense(bytes([i % 251]) * 30_000) for i in range(400)}
    web.face.put("/m.zt", writer.write_2(places, {}), etag='"x"')
    db = remote(web)
    value(db, "SELECT zt_threads(1)")
    groups = 0
    for object, stored in db.execute("SELECT object, stored FROM zt_components(?) WHERE object GLOB '[wy]*'", [web.url("/m.zt")]):
        groups = groups if object.startswith("y") else len(web.log)
        assert stored == bytes([int(object[1:4]) % 251]) * len(stored)
    assert 2 * len(sizes) < groups and len(web.log) - groups <= 12


def test_requests_grow_up_to_what_another_thread_has_read(web, remote):
    """Each of four threads reads tensors that lie together. Their requests overlap nowhere, though the bytes of others are kept no longer."""
    web.face.put("/m.safetensors", neighbours(100, 100_000, 0))
    db = remote(web)
    value(db, "SELECT zt_threads(4)")
    for _ in range(5):
        web.log.clear()
        assert value(db, COMPUTED, web.url("/m.safetensors")) == 10_000_000
        ranges = sorted((r.range[0], r.range[1] + 1) for r in web.log if r.range)
        assert sum(max(0, a[1] - b[0]) for a, b in zip(ranges, ranges[1:])) <= 200_000, ranges


@pytest.mark.parametrize("threads", [1, 4, 8])
def test_small_tensors_of_frames_are_as_few_requests_as_raw_ones(web, remote, threads):
    """A seek table is read from its end, and the frames before it: the tensor's bytes are asked for at once, also of a tensor alone."""
    random, n = numpy.random.default_rng(34), 20_000
    data = writer.write_2({f"w{i:03}": writer.seekable_dense(random.bytes(n), 1 << 17, [n], "u8") for i in range(300)}, {})
    web.face.put("/m.zt", data)
    db = remote(web)
    value(db, "SELECT zt_threads(?)", threads)
    assert value(db, COMPUTED, web.url("/m.zt")) == 300 * n
    assert len(web.log) <= 180 and web.bytes <= 1.5 * len(data)
    web.log.clear()
    assert value(db, "SELECT sum(length(zt_dense(path, object))) FROM zt_objects(?)", web.url("/m.zt")) == 300 * n
    assert len(web.log) <= 320


def test_no_file_is_opened_for_what_the_listing_says(bucket_server, remote):
    bucket_of(bucket_server, 2500)
    db = remote(bucket_server.server)
    got = rows(db, "SELECT path, size, mtime, etag FROM zt_files('s3://models/many/')")
    assert [(p, s, m, e) for p, s, m, e in got] == [
        (f"s3://models/many/{i:05}.safetensors", len(f.data), 1_700_000_000.0, f.tag())
        for i in range(2500) for f in [bucket_server.bucket.files[f"many/{i:05}.safetensors"]]]
    assert len(bucket_server.server.log) == 3 and all("list-type=2" in r.target for r in bucket_server.server.log)


def test_ten_thousand_keys_are_ten_requests(bucket_server, remote):
    bucket_of(bucket_server, 10_000, make=lambda i: b"")
    db = remote(bucket_server.server)
    assert value(db, "SELECT count(*) FROM (SELECT path, size, etag FROM zt_files('s3://models/**/*.safetensors'))") == 10_000
    assert len(bucket_server.server.log) == 10


def test_a_condition_on_the_path_opens_no_other_file(bucket_server, remote):
    bucket_of(bucket_server, 50)
    db = remote(bucket_server.server)
    assert rows(db, "SELECT object FROM zt_objects('s3://models/many/*') WHERE path LIKE '%/00007.%'") == [("w7",)]
    assert {r.path for r in bucket_server.server.log if "list-type" not in r.target} == {"/models/many/00007.safetensors"}


def files_asked(server):
    return len([r for r in server.log if "list-type" not in r.target])


MANY = "FROM zt_objects('s3://models/many/*')"


@pytest.mark.parametrize("query", [
    f"SELECT object {MANY} LIMIT 1", f"SELECT object {MANY} WHERE dtype = 'u8' LIMIT 1", f"SELECT object {MANY} ORDER BY path LIMIT 1",
    f"SELECT (SELECT object {MANY})", f"SELECT 'w0' WHERE EXISTS (SELECT 1 {MANY})", f"SELECT object FROM (SELECT object, path {MANY}) LIMIT 1"])
def test_limit_1_begins_with_one_file(bucket_server, remote, query):
    bucket_of(bucket_server, 500)
    db = remote(bucket_server.server)
    assert rows(db, query) == [("w0",)]
    assert files_asked(bucket_server.server) <= 2


TOLD = sqlite3.sqlite_version_info >= (3, 38)   # Whether SQLite tells a table that there is a LIMIT


def asked_before_an_interrupt(db, server, sql):
    """How many files a statement asks for that gets no further."""
    timer = threading.Timer(1, db.interrupt)
    timer.start()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        db.execute(sql).fetchall()
    timer.cancel()
    return files_asked(server)


@pytest.mark.parametrize("connections", [4, 32, 128])
def test_a_scan_begins_over_all_connections(bucket_server, remote, connections):
    bucket_of(bucket_server, 200)
    bucket_server.server.when(".safetensors", STALL)
    db = remote(bucket_server.server, timeout=30, connections=connections)
    assert asked_before_an_interrupt(db, bucket_server.server, f"SELECT object {MANY}") == (connections if TOLD else 1)


@pytest.mark.parametrize("connections", [4, 32, 128])
def test_with_a_limit_the_second_file_brings_many(bucket_server, remote, connections):
    """Files that do not come show how many are asked for: one, and then one a connection."""
    bucket_of(bucket_server, 200)
    server = bucket_server.server
    server.when(".safetensors", STALL, after=1)
    db = remote(server, timeout=30, connections=connections)
    assert asked_before_an_interrupt(db, server, f"SELECT object {MANY} LIMIT 150") == 1 + connections


def of_the_hub(hub_server, count):
    hub_server.face.repository("org/model").commit({f"{i:05}.safetensors": safetensors(f"w{i}", count=100) for i in range(count)})
    return "SELECT object FROM zt_objects('hf://org/model/')"


def resolved(hub_server):
    return len(hub_server.server.asked("/resolve/"))


def test_with_a_limit_the_hub_is_asked_for_one_file_first(hub_server, remote):
    sql = of_the_hub(hub_server, 50)
    assert rows(remote(*hub_server.allowed, connections=4), sql + " LIMIT 1") == [("w0",)]
    assert resolved(hub_server) == len(hub_server.store.log) == 1


def test_a_scan_of_the_hub_that_ends_early_has_asked_once_a_connection(hub_server, remote):
    sql = of_the_hub(hub_server, 200)
    remote(*hub_server.allowed, connections=8).execute(sql).close()   # At its first row
    assert 1 <= resolved(hub_server) <= 8


# ---- Files of the hub that are asked for beside their listing

def test_the_first_files_are_asked_for_beside_the_listing(hub_server, remote):
    sql = of_the_hub(hub_server, 20)
    server, late = hub_server.server, 1.0
    server.when("/tree/", lambda request: dataclasses.replace(hub_server.face(request), wait=late))
    assert rows(remote(*hub_server.allowed, connections=4), sql) == [(f"w{i}",) for i in range(20)]
    revision, tree = server.asked("/api/")
    assert [revision.path, tree.path] == [f"/api/models/org/model/{what}" for what in (
        "revision/main", "tree/" + hub_server.face.repository("org/model").revisions["main"])]
    beside = [r for r in server.asked("/resolve/") if r.at < tree.at + late]   # Connections of their own: in any order
    assert sorted(r.path.rpartition("/")[2] for r in beside) == ([f"{i:05}.safetensors" for i in range(3)] if TOLD else [])
    assert resolved(hub_server) == len(hub_server.store.log) == 20


QUIET = ["SELECT path, size, etag FROM zt_files('hf://org/model/')", "SELECT object FROM zt_objects('hf://org/model/nothing/*')",
         "SELECT object FROM zt_objects('hf://org/model/') WHERE path LIKE '%/none%'", "SELECT object FROM zt_objects('hf://org/model/*.gguf')",
         "SELECT object FROM zt_objects('hf://org/model/') WHERE path = 'hf://org/model/none.safetensors'"]


@pytest.mark.parametrize("sql", QUIET)
def test_no_file_is_asked_for_that_is_not_opened(hub_server, remote, sql):
    of_the_hub(hub_server, 20)
    rows(remote(*hub_server.allowed), sql)
    assert (resolved(hub_server), len(hub_server.store.log)) == (0, 0)


def test_known_files_are_not_asked_for_beside_the_listing(hub_server, remote):
    sql = of_the_hub(hub_server, 20)
    db = remote(*hub_server.allowed, ttl=0)
    assert len(rows(db, sql)) == 20
    hub_server.server.log.clear()
    assert len(rows(db, sql)) == 20 and resolved(hub_server) == 0


def test_one_connection_lists_first(hub_server, remote):
    sql = of_the_hub(hub_server, 5)
    assert len(rows(remote(*hub_server.allowed, connections=1), sql)) == 5
    assert ["/resolve/" in r.path for r in hub_server.server.log] == [False, False] + [True] * 5


NAMES = [f"{i:05}.safetensors" for i in range(20)]
HINTS = {
    "none": [], "no array": {"rfilename": NAMES[0]}, "text": "x", "null": None, "no objects": NAMES, "no names": [{"x": 1}, {"rfilename": 5}, {"rfilename": None}],
    "odd": [{"rfilename": name} for name in ("", "/", "..", "../m.safetensors", "a/../m.safetensors", "/m.safetensors", "a\0.safetensors", "x" * 5000 + ".safetensors")],
    "of others": [{"rfilename": f"other{i}.safetensors"} for i in range(50)], "repeated": [{"rfilename": NAMES[3]}] * 50,
    "reversed": [{"rfilename": name} for name in reversed(NAMES)], "deep": [[[[[[{"rfilename": NAMES[0]}]]]]]],
    "many": [{"rfilename": f"{i}.txt"} for i in range(200_000)] + [{"rfilename": "other.safetensors"}]}


@pytest.mark.parametrize("hints", HINTS)
def test_names_that_lie_give_no_row(hub_server, remote, hints):
    sql = of_the_hub(hub_server, 20)
    face = hub_server.face
    revision = {"sha": face.repository("org/model").revisions["main"], "siblings": HINTS[hints]}
    hub_server.server.when("/revision/", Answer(200, {}, json.dumps(revision).encode()))
    assert rows(remote(*hub_server.allowed, connections=4), sql) == [(f"w{i}",) for i in range(20)]
    asked = [r.path.partition("/resolve/")[2].partition("/")[2] for r in hub_server.server.asked("/resolve/")]
    assert sorted(name for name in asked if name in NAMES) == NAMES   # Each once
    others = {name for name in asked if name not in NAMES}
    assert len(others) <= 3 and all(name.startswith("other") for name in others) and ("other.safetensors" not in others)


def test_a_listing_that_fails_ends_what_was_asked_for_beside_it(hub_server, remote):
    sql = of_the_hub(hub_server, 20)
    hub_server.server.when("/resolve/", STALL)
    hub_server.server.when("/tree/", Answer(404, {"X-Error-Code": "RevisionNotFound"}))
    db = remote(*hub_server.allowed, timeout=30)
    before = time.monotonic()
    assert "RevisionNotFound" in message(db, sql)
    assert time.monotonic() - before < 5
    hub_server.server.forget()
    assert len(rows(db, sql)) == 20


def test_an_interrupt_ends_a_listing_and_what_was_asked_for_beside_it(hub_server, remote):
    sql = of_the_hub(hub_server, 20)
    hub_server.server.when(lambda r: "/revision/" not in r.path, STALL)
    db = remote(*hub_server.allowed, timeout=30, connections=4)
    timer = threading.Timer(1, db.interrupt)
    timer.start()
    before = time.monotonic()
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        db.execute(sql).fetchall()
    assert time.monotonic() - before < 3
    assert resolved(hub_server) == (3 if TOLD else 0) and hub_server.store.log == []
    hub_server.server.forget()
    assert len(rows(db, sql)) == 20


def test_a_scan_that_ends_early_has_asked_once_a_connection(bucket_server, remote):
    bucket_of(bucket_server, 200)
    remote(bucket_server.server, connections=8).execute(f"SELECT object {MANY}").close()   # At its first row
    assert 1 <= files_asked(bucket_server.server) <= 8


def test_a_limit_that_sqlite_does_not_tell_of_has_asked_once_a_connection(bucket_server, remote):
    """Such as that of a join. A test of its own: requests of a scan that ended may reach a server later."""
    bucket_of(bucket_server, 200)
    assert rows(remote(bucket_server.server, connections=8), f"SELECT object {MANY} JOIN (VALUES (1), (2)) LIMIT 1") == [("w0",)]
    assert 1 <= files_asked(bucket_server.server) <= 8


@pytest.mark.parametrize("connections", [1, 2, 8])
def test_threads_that_wait_for_answers_are_no_threads_of_the_user(bucket_server, remote, connections):
    bucket_of(bucket_server, 12)
    db = remote(bucket_server.server, connections=connections)
    assert value(db, "SELECT zt_threads(1)") is not None
    assert rows(db, f"SELECT object {MANY}") == [(f"w{i}",) for i in range(12)]


def test_connections_are_few_and_kept(bucket_server, remote):
    bucket_server.server.latency = 0.01
    bucket_of(bucket_server, 200)
    db = remote(bucket_server.server, connections=4, ttl=0)
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/many/*')") == 200
    assert len({r.connection for r in bucket_server.server.log}) <= 5
    before = bucket_server.server.count
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/many/*')") == 200
    assert bucket_server.server.count - before <= 1


def test_many_requests_are_under_way_at_once(bucket_server, remote):
    bucket_of(bucket_server, 200)
    bucket_server.server.latency = 0.05
    db = remote(bucket_server.server)
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/many/*')") == 200
    assert len({r.connection for r in bucket_server.server.log}) > 8


def test_ttl(web, remote):
    web.face.put("/m.safetensors", safetensors())
    url = web.url("/m.safetensors")
    for ttl, more in ((3600, []), (0, [304])):
        web.forget()
        db = remote(web, ttl=ttl)
        assert len(rows(db, "SELECT * FROM zt_objects(?)", url)) == 1
        web.log.clear()
        assert len(rows(db, "SELECT * FROM zt_objects(?)", url)) == 1
        assert [r.status for r in web.log] == more
        assert [r.headers["if-none-match"] for r in web.log] == [web.face.files["/m.safetensors"].tag()] * len(more)


def test_a_listing_says_that_nothing_has_changed(bucket_server, remote):
    bucket_of(bucket_server, 20)
    db = remote(bucket_server.server, ttl=0)
    sql = "SELECT count(*) FROM zt_objects('s3://models/many/*')"
    assert value(db, sql) == 20
    bucket_server.server.log.clear()
    assert value(db, sql) == 20
    assert len(bucket_server.server.log) == 1
    bucket_server.bucket.put("many/00003.safetensors", safetensors("new"))
    bucket_server.server.log.clear()
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/many/*') WHERE object = 'new'") == 1
    assert len(bucket_server.server.log) == 2


def test_announced_bytes_beyond_what_may_be_ahead_are_read_when_they_are_needed(web, remote):
    """At most 64 MiB are ahead: those of one tensor, and the first ones of the other."""
    count, rank = 530_000, 8
    object = writer.sparse_coo([1] * (rank - 1) + [count], [], struct.pack(f"<{count}d", *range(count)), "f64")
    object["components"]["coords"]["bytes"] = bytes(8 * count * (rank - 1)) + struct.pack(f"<{count}Q", *range(count))
    web.face.put("/m.zt", writer.write({"w": object}))
    db = remote(web)
    value(db, "SELECT zt_threads(1)")
    url, size = web.url("/m.zt"), len(web.face.files["/m.zt"].data)
    assert rows(db, "SELECT elements, equal, max_abs FROM zt_compare(?1, 'w', ?1, 'w')", url) == [(count, count, 0)]
    assert 2 * count * 8 * (rank + 1) <= web.bytes <= 2 * size + (8 << 20)


def test_settings(web, remote):
    db = remote(web)
    told = settings(db)
    assert told["allow"] == [web.origin] and (told["requests"], told["bytes"], told["retried"]) == (0, 0, 0)
    assert {name: told[name] for name in ("connections", "timeout", "retries", "ttl")} == {"connections": 32, "timeout": 10, "retries": 0, "ttl": 1}
    web.face.put("/m.safetensors", safetensors())
    rows(db, "SELECT * FROM zt_objects(?)", web.url("/m.safetensors"))
    assert (settings(db)["requests"], settings(db)["bytes"]) == (1, len(web.face.files["/m.safetensors"].data))
    for wrong in ('{"connections": 0}', '{"connections": 129}', '{"nonsense": 1}', '{"timeout": -1}', '{"retries": "x"}', "[]", "x", '{"allow": "x"}'):
        failure(db, "SELECT zt_remote(?)", wrong)


def test_a_forked_child_opens_its_own(web, remote):
    web.face.put("/m.safetensors", safetensors())
    url = web.url("/m.safetensors")
    db = remote(web, ttl=0)
    rows(db, "SELECT * FROM zt_objects(?)", url)
    child = os.fork()
    if child == 0:
        try:
            os._exit(0 if len(rows(db, "SELECT * FROM zt_objects(?)", url)) == 1 else 1)
        finally:
            os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert len(rows(db, "SELECT * FROM zt_objects(?)", url)) == 1
    assert len({r.connection for r in web.log}) == 2
