"""An interrupt, a progress handler and the end of a cursor end all requests. Bounds here are generous: a run that hangs fails."""
import socket
import sqlite3
import threading
import time

import pytest

from files import Files
from server import STALL, Answer
from support import rows
from test_requests import TOLD, safetensors

NAME = "/m.safetensors"
BOUND = 3.0    # Seconds; a try ends after 30


def interrupted(db, sql, *arguments, after=0.3):
    """Runs a statement that does not end by itself, interrupts it, and gives the seconds until it had ended."""
    at = []

    def interrupt():
        at.append(time.monotonic())
        db.interrupt()

    timer = threading.Timer(after, interrupt)
    timer.start()
    with pytest.raises(sqlite3.OperationalError) as caught:
        db.execute(sql, arguments).fetchall()
    ended = time.monotonic()
    timer.cancel()
    assert caught.value.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT, caught.value
    return ended - at[0]


def pausing(web, remote):
    web.when(NAME, Answer(503, {"Retry-After": "20"}))
    return remote(web, timeout=30, retries=3), web.origin + NAME


def stalled(web, remote):
    web.when(NAME, STALL)
    return remote(web, timeout=30), web.origin + NAME


def stalled_amid_the_body(web, remote):
    data = safetensors()
    web.when(NAME, Answer(206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, data, cut=10, then="stall"))
    return remote(web, timeout=30), web.origin + NAME


@pytest.mark.parametrize("state", [pausing, stalled, stalled_amid_the_body])
def test_an_interrupt(web, remote, state):
    db, url = state(web, remote)
    assert interrupted(db, "SELECT * FROM zt_files(?)", url) < BOUND


def test_an_interrupt_in_a_handshake(serve, remote):
    silent = serve(Files(), silent=True)
    assert interrupted(remote(f"https://{silent.authority}", timeout=30), "SELECT * FROM zt_files(?)", f"https://{silent.authority}/x.zt") < BOUND


def test_an_interrupt_while_connecting(remote):
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        port = full.getsockname()[1]
        others = []
        for _ in range(4):    # Its backlog is full: the system drops what comes
            other = socket.socket()
            other.setblocking(False)
            other.connect_ex(("127.0.0.1", port))
            others.append(other)
        time.sleep(0.1)
        db = remote(f"http://127.0.0.1:{port}", timeout=30)
        assert interrupted(db, "SELECT * FROM zt_files(?)", f"http://127.0.0.1:{port}/x.zt") < BOUND
        for other in others:
            other.close()


def test_an_interrupt_of_a_listing(bucket_server, remote):
    bucket_server.server.when("", STALL)
    db = remote(bucket_server.server, timeout=30)
    assert interrupted(db, "SELECT * FROM zt_files('s3://models/*.zt')") < BOUND


def test_an_interrupt_of_many_files(bucket_server, remote):
    for i in range(200):
        bucket_server.bucket.put(f"{i:03}.zt", safetensors())
    bucket_server.server.when(".zt", STALL, after=20)
    db = remote(bucket_server.server, timeout=30)
    threads = threading.active_count()
    assert interrupted(db, "SELECT * FROM zt_objects('s3://models/*.zt')", after=1) < BOUND
    assert len(list_of_threads()) <= threads + 40
    bucket_server.server.rules.clear()
    assert len(rows(db, "SELECT * FROM zt_objects('s3://models/*.zt')")) == 200


def test_requests_that_wait_for_their_turn_are_not_sent_any_more(bucket_server, remote):
    """Sixteen connections, and 32 requests: of as many files, the beginning and the end each."""
    for i in range(20):
        bucket_server.bucket.put(f"{i:03}.zt", safetensors())
    bucket_server.server.when(".zt", STALL)
    db = remote(bucket_server.server, timeout=30, connections=16)
    assert interrupted(db, "SELECT * FROM zt_objects('s3://models/*.zt')", after=1) < BOUND
    time.sleep(0.2)
    assert len(bucket_server.server.asked(".zt")) == (16 if TOLD else 2)


def test_an_interrupt_amid_values(serve, remote):
    slow = serve(Files({NAME: safetensors(count=20 << 20)}), rate=1 << 20)
    assert interrupted(remote(slow, timeout=30), "SELECT zt_hash(?, 'w', 'sha256')", slow.origin + NAME, after=1) < BOUND


def test_a_progress_handler(web, remote):
    db, url = stalled(web, remote)
    began = time.monotonic()
    db.set_progress_handler(lambda: time.monotonic() - began > 0.3, 1)
    # It is asked between SQLite's steps. Within one, a host that wants more has sqlite3_interrupt()
    timer = threading.Timer(1, db.interrupt)
    timer.start()
    with pytest.raises(sqlite3.OperationalError):
        rows(db, "SELECT * FROM zt_files(?)", url)
    timer.cancel()
    assert time.monotonic() - began < 1 + BOUND


def test_the_end_of_a_cursor(bucket_server, remote):
    for i in range(200):
        bucket_server.bucket.put(f"{'silent' if i >= 20 else 'a'}{i:03}.zt", safetensors())
    bucket_server.server.when("/silent", STALL)
    db = remote(bucket_server.server, timeout=30)
    cursor = db.execute("SELECT * FROM zt_objects('s3://models/*.zt')")
    assert len(cursor.fetchmany(10)) == 10
    began = time.monotonic()
    cursor.close()
    assert time.monotonic() - began < BOUND


def list_of_threads():
    import os
    return os.listdir("/proc/self/task")


def test_no_thread_outlives_a_statement(bucket_server, remote):
    for i in range(100):
        bucket_server.bucket.put(f"{i:03}.zt", safetensors())
    db = remote(bucket_server.server)
    script = """
import os, sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.execute("SELECT load_extension(?, ?)", (sys.argv[1], "sqlite3_ztensor_remote_init")).fetchall()
before = len(os.listdir("/proc/self/task"))
cursor = db.execute("SELECT count(*) FROM zt_objects('s3://models/*.zt')")
print(cursor.fetchall(), len(os.listdir("/proc/self/task")) - before)
cursor = db.execute("SELECT * FROM zt_objects('s3://models/*.zt')")
cursor.fetchmany(3)
cursor.close()
print(len(os.listdir("/proc/self/task")) - before)
"""
    import os
    import subprocess
    import sys
    from support import EXTENSION
    done = subprocess.run([sys.executable, "-c", script, EXTENSION], env={**os.environ, "ZTENSOR_REMOTE": bucket_server.origin}, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("[(100,)] 0\n0\n", "")


def test_memory_is_bounded_whatever_a_server_sends(serve, remote):
    """In a process of its own: 40 files that claim 60 MB each from a server without ranges are no 2.4 GB."""
    import os
    import resource
    import subprocess
    import sys
    from support import EXTENSION
    data = safetensors(count=60_000_000)
    server = serve(lambda r: Answer(200, {"ETag": '"1"'}, data))
    script = """
import json, resource, sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.execute("SELECT load_extension(?, ?)", (sys.argv[1], "sqlite3_ztensor_remote_init")).fetchall()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(db.execute("SELECT count(*) FROM zt_objects(?)", (json.dumps([f"{sys.argv[2]}/{i}.safetensors" for i in range(12)]),)).fetchall())
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10)
"""
    done = subprocess.run([sys.executable, "-c", script, EXTENSION, server.origin], env={**os.environ, "ZTENSOR_REMOTE": server.origin},
                          capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    first, megabytes = done.stdout.split("\n")[:2]
    assert first == "[(12,)]" and int(megabytes) < 200
