"""What goes wrong is the row's error with its kind, is tried again or not, and is never a wrong row."""
import contextlib
import gzip
import hashlib
import json
import os
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import _sqlite3
import pytest

import s3 as s3_face
import writer
from conftest import FORMATS
from files import Files
from hub import TOKEN
from server import RESET, STALL, Answer
from support import EXTENSION, failure, message, open_connection, rows, value
from test_listings import refused
from test_requests import of_tensors, safetensors, settings

NAME = "/dir/m.safetensors"
SECRETS = [s3_face.SECRET, TOKEN, "aSignatureOfTheStore", "echoes"]


@pytest.fixture
def file(web):
    """The URL of a sound file."""
    web.face.put(NAME, safetensors())
    return web.url(NAME)


def trouble(db, url):
    """(kind, message) of one file, which no other table reads either. The message begins with the URL, its query left out."""
    (path, size, objects, error, kind), = rows(db, "SELECT path, size, objects, error, error_kind FROM zt_files(?)", url)
    shown = re.sub(r"\?.*", "?...", url)
    assert (path, objects) == (url, None)
    assert error.startswith(f"ztensor: {shown}: "), error
    assert not any(secret in error for secret in SECRETS) and "\n" not in error and "<" not in error
    return kind, error[len(f"ztensor: {shown}: "):]


def attempts(server, db, url, text=NAME):
    """(kind, message, requests) of one statement."""
    server.log.clear()
    kind, error = trouble(db, url)
    return kind, error, len([r for r in server.log if text in r.path])


ONCE = {
    404: "missing", 410: "missing", 401: "denied", 403: "denied", 407: "denied", 400: "transient", 402: "transient", 405: "transient", 418: "transient",
    451: "transient", 501: "transient", 505: "transient", 204: "transient", 304: "transient"}


@pytest.mark.parametrize("status", ONCE)
def test_a_status_that_is_not_tried_again(web, file, remote, status):
    web.when(NAME, Answer(status, {}, b"" if status in (204, 304) else b"<html>secret echoes</html>"))
    kind, error, count = attempts(web, remote(web, retries=3), file)
    assert (kind, count) == (ONCE[status], 1) and str(status) in error


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_a_status_that_is_tried_again(web, file, remote, status):
    web.when(NAME, Answer(status, {}, b"echoes"))
    db = remote(web, retries=2)
    kind, error, count = attempts(web, db, file)
    assert (kind, count) == ("transient", 3) and str(status) in error
    assert settings(db)["retried"] == 2
    assert attempts(web, remote(web, retries=0), file)[2] == 1
    # It passes: the row is the file's
    web.forget()
    web.when(NAME, Answer(status), times=2)
    assert rows(remote(web, retries=2), "SELECT object FROM zt_objects(?)", file) == [("w",)]


def test_what_stands_behind_a_status_is_not_shown(web, file, remote):
    web.when(NAME, Answer(500, {"Content-Type": "application/xml"}, b"<Error><Code>Internal Error secret</Code><Message>echoes</Message></Error>"))
    kind, error, _ = attempts(web, remote(web), file)
    assert kind == "transient" and "secret" not in error
    web.forget()
    web.when(NAME, Answer(403, {"Content-Type": "application/xml"}, b"<Error><Code>AccessDenied</Code><Message>echoes</Message></Error>"))
    assert "AccessDenied" in attempts(web, remote(web), file)[1]


def test_retry_after_is_obeyed(web, file, remote):
    web.when(NAME, Answer(429, {"Retry-After": "1"}), times=1)
    began = time.monotonic()
    assert rows(remote(web, retries=1), "SELECT object FROM zt_objects(?)", file) == [("w",)]
    assert time.monotonic() - began > 0.9
    # Longer than 20 seconds: it ends the tries
    web.forget()
    web.when(NAME, Answer(503, {"Retry-After": "3600"}))
    began = time.monotonic()
    assert attempts(web, remote(web, retries=3), file)[2] == 1
    assert time.monotonic() - began < 10


TRANSIENT = {
    "reset": RESET,
    "closed without a word": Answer(head=b"", then="close"),
    "no HTTP": Answer(head=b"SSH-2.0-OpenSSH_9.2\r\n\r\n", then="close"),
    "cut short": lambda data: Answer(206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, data, cut=20, then="close"),
    "reset in the body": lambda data: Answer(206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, data, cut=20, then="reset"),
    "another range": lambda data: Answer(206, {"Content-Range": f"bytes 1-{len(data) - 1}/{len(data)}"}, data[1:]),
    "a range without a Content-Range": lambda data: Answer(206, {}, data),
    "a Content-Range of nonsense": lambda data: Answer(206, {"Content-Range": f"bytes {len(data)}-0/x"}, data),
    "a range of a larger file than it is": lambda data: Answer(206, {"Content-Range": f"bytes 0-{len(data) - 1}/3"}, data),
    "a shorter body than the range": lambda data: Answer(206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, data[:-1]),
    "a longer body than the range": lambda data: Answer(206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, data + b"x"),
    "more bytes than asked for": lambda data: Answer(206, {"Content-Range": "bytes 0-99999/100000"}, data.ljust(100_000, b" ")),
    "several ranges": lambda data: Answer(206, {"Content-Type": "multipart/byteranges; boundary=x"}, b"--x\r\n\r\n" + data + b"\r\n--x--\r\n"),
    "gzip that was not asked for": lambda data: Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(data)),
    "gzip of a range": lambda data: Answer(206, {"Content-Encoding": "gzip", "Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, gzip.compress(data)),
}


@pytest.mark.parametrize("fault", TRANSIENT)
def test_an_answer_that_proves_nothing_is_transient_and_tried_again(web, file, remote, fault):
    data = web.face.files[NAME].data
    answer = TRANSIENT[fault](data) if callable(TRANSIENT[fault]) else TRANSIENT[fault]
    web.when(NAME, answer)
    kind, error, count = attempts(web, remote(web, retries=1), file)
    assert (kind, count) == ("transient", 2), error
    assert "%" not in error
    web.forget()
    web.when(NAME, answer, times=1)
    assert rows(remote(web, retries=1), "SELECT object, shape FROM zt_objects(?)", file) == [("w", "[4]")]


def test_the_same_answers_amid_the_values(web, remote):
    data = safetensors(count=3_000_000)
    web.face.put(NAME, data)
    expected = "sha256:" + hashlib.sha256(data[-3_000_000:]).hexdigest()
    db = remote(web, retries=1)
    url = web.url(NAME)
    for fault in (RESET, Answer(503), lambda r: Answer(206, {"Content-Range": f"bytes 0-9/{len(data)}"}, data[:10]),
                  lambda r: Answer(206, {"Content-Range": f"bytes {r.range[0]}-{r.range[1]}/{len(data)}"}, data[r.range[0]:r.range[1] + 1], cut=5000, then="reset"),
                  lambda r: Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(data))):
        web.forget()
        web.when(lambda r: r.range != (0, 65535), fault, times=1)
        assert value(db, "SELECT zt_hash(?, 'w', 'sha256')", url) == expected
        web.forget()
        web.when(lambda r: r.range != (0, 65535), fault)
        error = failure(db, "SELECT zt_hash(?, 'w', 'sha256')", url)
        assert str(error).startswith(f"ztensor: {url}: ")


def test_a_server_that_fails_amid_the_values_says_nothing_about_the_tensor(web, remote):
    """Its fingerprint is then an error, and not NULL, as that of a tensor without values is."""
    web.face.put(NAME, safetensors(count=300_000))
    url = web.url(NAME)
    web.when(lambda r: r.range != (0, 65535), Answer(503))
    db = remote(web)
    said = message(db, "SELECT fingerprint FROM zt_objects(?)", url)
    assert said.startswith(f"ztensor: {url}: object 'w': ") and "503" in said
    assert rows(db, "SELECT fingerprint_error FROM zt_objects(?)", url) == [(said,)]
    assert rows(db, "SELECT object, fingerprint FROM zt_objects(?, 'skip')", url) == [("w", None)]
    web.forget()
    assert value(db, "SELECT fingerprint FROM zt_objects(?)", url).startswith("xxh3-128:")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("body", [lambda r, data: data, lambda r, data: b"", lambda r, data: data[r.range[0]:r.range[1] + 1]], ids=["all", "none", "the range"])
def test_a_server_that_forgets_ranges_amid_the_values(web, remote, body, chunked):
    """A whole answer in place of a range is another one than asked for, whatever it has."""
    data = safetensors(count=300_000)
    web.face.put(NAME, data)
    url, later = web.url(NAME), lambda r: r.range != (0, 65535)
    web.when(later, lambda r: Answer(200, {}, body(r, data), chunked=chunked), times=1)
    db = remote(web, retries=1)
    expected = "sha256:" + hashlib.sha256(data[-300_000:]).hexdigest()
    assert value(db, "SELECT zt_hash(?, 'w', 'sha256')", url) == expected and settings(db)["retried"] == 1
    web.forget()
    web.when(later, lambda r: Answer(200, {}, body(r, data), chunked=chunked))
    assert "the server sent other bytes than those asked for" in message(db, "SELECT zt_hash(?, 'w', 'sha256')", url)


@pytest.mark.parametrize("answer", [Answer(200, {}, bytes(1000)), Answer(416), Answer(501), Answer(503, {"Retry-After": "20"}), RESET,
                                    Answer(206, {"Content-Range": "bytes 0-9/1024999"}, bytes(10))], ids=["all", "416", "501", "503", "reset", "another range"])
def test_a_server_without_ranges_from_the_end(web, remote, answer):
    """The end of a file is asked for beside its beginning in order to save a request: without it, there is one more."""
    web.face.put("/m.zt", writer.write({"w": writer.dense(bytes(range(256)) * 4000)}))
    web.when(lambda r: r.range == (-65536, None), answer)
    db = remote(web, retries=3)
    assert rows(db, "SELECT object FROM zt_objects(?)", web.url("/m.zt")) == [("w",)]
    assert settings(db)["retried"] == 0 and len(web.log) <= 4


def test_no_connection(remote):
    with socket.create_server(("127.0.0.1", 0)) as closed:
        origin = "http://127.0.0.1:%d" % closed.getsockname()[1]
    assert trouble(remote(origin, retries=1), origin + "/x.zt")[0] == "transient"


def test_a_name_that_does_not_resolve(remote):
    kind, error = trouble(remote("http://nowhere.invalid", retries=0, timeout=5), "http://nowhere.invalid/x.zt")
    assert kind == "transient"


def test_a_proxy_that_does_not_resolve(web, file, remote, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://nowhere.invalid:9")
    assert trouble(remote(web, timeout=5), file) == ("transient", "the host's name does not resolve")
    assert web.log == []


@pytest.mark.parametrize("fault", ["before the head", "in the body"])
def test_a_server_that_stalls_ends_by_the_timeout(web, file, remote, fault):
    data = web.face.files[NAME].data
    web.when(NAME, STALL if fault == "before the head" else Answer(
        206, {"Content-Range": f"bytes 0-{len(data) - 1}/{len(data)}"}, data, cut=20, then="stall"))
    began = time.monotonic()
    kind, error, count = attempts(web, remote(web, retries=1, timeout=1), file)
    assert (kind, count) == ("transient", 2), error
    assert 1.8 < time.monotonic() - began < 20


def test_a_server_that_takes_connections_and_says_nothing(serve, remote):
    for silent in (serve(Files(), silent=True),):
        assert trouble(remote(silent, timeout=1), silent.origin + "/x.zt")[0] == "transient"
        assert trouble(remote(f"https://{silent.authority}", timeout=1), f"https://{silent.authority}/x.zt")[0] == "transient"


@pytest.mark.parametrize("options", [{"days": "-1"}, {"names": "DNS:elsewhere.test"}, {"signed": False}],
                         ids=["expired", "of another name", "signed by itself"])
def test_a_certificate_that_proves_nothing(serve, remote, authority, monkeypatch, options):
    monkeypatch.setenv("CURL_CA_BUNDLE", authority.bundle)
    server = serve(Files({NAME: safetensors()}), tls=authority.context("bad", **options))
    kind, error = trouble(remote(server, retries=3), server.origin + NAME)
    assert kind == "denied" and "certificate" in error
    assert server.log == [] and server.count == 1    # Not tried again


def test_a_file_of_authorities_that_is_not_there(serve, remote, tls, monkeypatch, tmp_path):
    monkeypatch.setenv("CURL_CA_BUNDLE", str(tmp_path / "none.pem"))
    server = serve(Files({NAME: safetensors()}), tls=tls)
    assert trouble(remote(server, retries=3), server.origin + NAME) == ("denied", "the file of CA certificates cannot be used")
    assert server.log == []


@pytest.mark.parametrize("library", ["no library", "another library"])
def test_a_system_without_libcurl(web, file, tmp_path, library):
    content = b"no library" if library == "no library" else Path(_sqlite3.__file__).read_bytes()
    for name in ("libcurl.so.4", "libcurl-gnutls.so.4"):
        (tmp_path / name).write_bytes(content)
    script = """if 1:
        import sqlite3, sys
        db = sqlite3.connect(":memory:")
        db.enable_load_extension(True)
        db.execute("SELECT load_extension(?, 'sqlite3_ztensor_remote_init')", (sys.argv[1],))
        print(*db.execute("SELECT error_kind, error FROM zt_files(?)", (sys.argv[2],)).fetchone(), sep="|")"""
    done = subprocess.run([sys.executable, "-c", script, EXTENSION, file], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "LD_LIBRARY_PATH": str(tmp_path), "ZTENSOR_REMOTE": web.origin})
    assert done.stdout.strip() == f"denied|ztensor: {file}: remote sources need libcurl 7.66 or later: install the package libcurl4, or libcurl", done.stderr
    assert web.log == []


def test_an_unknown_authority(serve, remote, tls):
    server = serve(Files({NAME: safetensors()}), tls=tls)
    assert trouble(remote(server, retries=3), server.origin + NAME)[0] == "denied"
    assert server.log == []


# ---- Servers without ranges

def test_a_server_without_ranges(web, remote):
    data = safetensors(count=200_000)
    web.face.put(NAME, data, ranges=False)
    db = remote(web)
    expected = "sha256:" + hashlib.sha256(data[-200_000:]).hexdigest()
    assert rows(db, "SELECT object, hash FROM zt_components(?)", web.url(NAME))[0][0] == "w"
    assert value(db, "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME)) == expected
    assert web.log[0].status == 200


def test_a_server_without_ranges_has_the_end_of_a_file_in_one_answer(web, remote):
    web.face.put("/m.zt", writer.write({"w": writer.dense(bytes(range(256)))}), ranges=False)
    assert rows(remote(web), "SELECT object FROM zt_objects(?)", web.url("/m.zt")) == [("w",)]
    web.face.put("/empty.zt", b"", ranges=False)
    assert rows(remote(web), "SELECT size, error_kind FROM zt_files(?)", web.url("/empty.zt")) == [(0, "unknown")]


@pytest.mark.parametrize("source, said", [
    ("hf://org/model", "not the name of a file of the hub"), ("hf://org/model/", "not the name of a file of the hub"), ("s3://models", "not the name of an object: s3://bucket/key"),
    ("s3://models/", "not the name of an object: s3://bucket/key"), ("s3://a b/m.zt", "not the name of an object: s3://bucket/key")])
def test_values_are_of_a_file(hub_server, bucket_server, remote, source, said):
    assert said in message(remote(*hub_server.allowed, bucket_server.server), "SELECT zt_hash(?, 'w', 'sha256')", source)
    assert hub_server.server.log == bucket_server.server.log == []


def test_a_large_file_of_a_server_without_ranges_is_denied(web, remote):
    web.face.put(NAME, safetensors(count=(64 << 20) + 1), ranges=False)
    kind, error, count = attempts(web, remote(web, retries=3), web.url(NAME))
    assert (kind, count) == ("denied", 1) and "range" in error
    web.forget()
    # It claims no size, and goes on and on
    web.when(NAME, Answer(200, {}, safetensors(count=70 << 20), chunked=True))
    kind, error, count = attempts(web, remote(web, retries=3), web.url(NAME))
    assert (kind, count) == ("denied", 1), error


@pytest.mark.parametrize("answer", [
    Answer(206, {"Content-Range": "bytes 0-65535/9223372036854775807"}, bytes(65536)),
    Answer(206, {"Content-Range": "bytes 0-65535/99999999999999999999999999"}, bytes(65536)),
    Answer(206, {"Content-Range": "bytes 0-65535/*"}, bytes(65536)),
    Answer(200, {}, b"x", length=1 << 62, then="close"),
    Answer(200, {"ETag": '"' + "x" * 100_000 + '"'}, b"x"),
], ids=["of 2^63-1 bytes", "of too many digits", "of an unknown size", "2^62 bytes", "a long tag"])
def test_sizes_that_servers_claim_take_no_memory(web, file, remote, answer):
    web.when(NAME, answer)
    kind, _, _ = attempts(web, remote(web), file)
    assert kind in ("transient", "denied", "unknown", "broken")


FLOODS = {
    "headers": (b"HTTP/1.1 206 Partial Content\r\n", b"X-A: " + b"y" * 1000 + b"\r\n"),
    "a header": (b"HTTP/1.1 206 Partial Content\r\nX-A: ", b"y" * 1000),
    "hints": (b"", b"HTTP/1.1 103 Early Hints\r\nX-A: 1\r\n\r\n"),
    "trailers": (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n", b"X-A: 1\r\n"),
    "chunks": (b"HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 0-3/4\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    "whole": (b"HTTP/1.1 404 Not Found\r\n\r\n", b"x" * 1000)
}


@pytest.mark.parametrize("flood", FLOODS)
def test_an_answer_without_an_end(remote, flood):
    """Of headers, of one header, of announcements, behind the body: all of it is bounded, and is that file's error alone."""
    begin, more = FLOODS[flood]

    def answer(listener):
        connection, _ = listener.accept()
        with connection:
            connection.recv(1 << 16)
            connection.sendall(begin)
            while connection.send(more * 64):
                pass

    def serve(listener):
        with contextlib.suppress(OSError):
            answer(listener)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, args=(listener,), daemon=True).start()
        origin = f"http://127.0.0.1:{listener.getsockname()[1]}"
        db = remote(origin)
        timer = threading.Timer(5, db.interrupt)
        timer.start()
        assert trouble(db, origin + NAME)[0] == ("missing" if flood == "whole" else "transient")
        timer.cancel()


@pytest.mark.parametrize("query", ["SELECT count(*) FROM zt_objects(?)", "SELECT sum(length(stored)) / 4 FROM zt_components(?)"], ids=["metadata", "values"])
def test_large_files_of_a_server_without_ranges_come_one_by_one(serve, remote, query):
    """Small ones let it be thought that many may come at once: the others would be 1.4 GB. For values, the files stay open."""
    files = Files({f"/{i:02}.safetensors": safetensors() for i in range(10)})
    large = safetensors(padding=48 << 20)
    for i in range(10, 40):
        files.put(f"/{i:02}.safetensors", large, ranges=False, etag='"0"')
    server = serve(files)
    db, over, most = remote(server, timeout=60), threading.Event(), []

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * 4096

    def watch():
        while not over.wait(0.005):
            most.append(resident())

    before = resident()
    threading.Thread(target=watch).start()
    try:
        assert value(db, query, json.dumps([server.url(f"/{i:02}.safetensors") for i in range(40)])) == 40
    finally:
        over.set()
    assert max(most) - before < 400 << 20


@pytest.mark.parametrize("ranges", [True, False])
def test_a_wrong_digest_is_no_failure_to_read_a_shard(web, remote, ranges):
    """Bytes that came are judged in the file's name, as those of local shards are."""
    hostile = FORMATS / "tensorflow" / "hostile"
    for name in ("digest.index", "digest.data-00000-of-00001"):
        web.face.put("/" + name, (hostile / name).read_bytes(), ranges=ranges)
    statement = "SELECT rule, message FROM zt_check(?, 'full')"
    here, there = rows(open_connection(), statement, str(hostile / "digest.index")), rows(remote(web), statement, web.url("/digest.index"))
    assert there == here and here[0][0] == "digest-mismatch"


def test_a_shard_that_the_server_refuses_is_no_fault_of_the_file(web, remote):
    web.face.put("/digest.index", (FORMATS / "tensorflow" / "hostile" / "digest.index").read_bytes())
    web.when("digest.data", Answer(403))
    found = set(rows(remote(web), "SELECT rule, message FROM zt_check(?, 'full') WHERE severity = 'error'", web.url("/digest.index")))
    assert found == {("unreadable", f"shard {web.url('/digest.data-00000-of-00001')}: cannot open: 403")}


def test_416(web, remote):
    # A file without a byte is told by 416, and is a sound answer
    web.face.put("/empty.zt", b"")
    assert rows(remote(web), "SELECT size, error_kind FROM zt_files(?)", web.url("/empty.zt")) == [(0, "unknown")]
    web.face.put(NAME, safetensors())
    web.when(NAME, Answer(416, {"Content-Range": "bytes */100"}))
    assert attempts(web, remote(web), web.url(NAME))[0] == "transient"
    # Amid the values: with a strong tag it is known that the file changed
    for etag, said in (("", "the file changed while it was read"), (None, "the server has other bytes than those asked for (416)")):
        web.forget()
        web.face.put(NAME, safetensors(count=300_000), etag=etag)
        web.when(lambda r: r.range != (0, 65535), Answer(416, {"Content-Range": "bytes */0"}))
        assert said in message(remote(web), "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME))


@pytest.mark.parametrize("gone", [Answer(404), Answer(503), RESET, STALL], ids=["404", "503", "reset", "stall"])
def test_a_place_that_a_redirect_led_to_and_that_is_gone(serve, remote, gone):
    """The source's own URL is asked again, which leads elsewhere now, by each request that was under way there."""
    face = Files()
    first, second = places = [serve(face), serve(face)]
    origin = serve(lambda r: Answer(302, {"Location": places[0].url(NAME)}))
    face.put(NAME, of_tensors({f"w{i:02}": bytes([i]) * 150_000 for i in range(40)}))

    def go(_):
        if len(places) == 2:
            del places[0]
        return gone

    places[0].when(NAME, go, after=2)
    db = remote(origin, *places, timeout=1)
    assert rows(db, "SELECT object, mean FROM zt_stats(?)", origin.url(NAME)) == [(f"w{i:02}", i) for i in range(40)]
    assert 2 <= len(origin.log) <= 1 + len(first.log) - 2 and len(second.log) > 1


@pytest.mark.parametrize("statement", ["SELECT count(fingerprint) FROM zt_objects(?)", "SELECT zt_fingerprint(?)"])
def test_the_first_tensor_that_cannot_be_read_ends_a_statement(web, remote, statement):
    """Threads have many small tensors before them then, and do not wait for each."""
    web.face.put(NAME, of_tensors({f"w{i:04}": bytes([i % 251]) * 3000 for i in range(1500)}))
    web.when(NAME, STALL, after=3)
    db = remote(web, timeout=1)
    value(db, "SELECT zt_threads(8)")
    assert message(db, statement, web.url(NAME)).endswith("the server did not answer in time")
    assert len(web.log) <= 24


def test_what_every_tensor_behind_would_meet_is_asked_for_once(web, remote):
    """zt_stats goes on after an error: it must not wait for each of 1,500 tensors."""
    answers = [(STALL, "the server did not answer in time"), (Answer(status=404), "404"), (Answer(status=410), "410"),
               (Answer(status=412), "the file changed while it was read")]
    for i, (answer, said) in enumerate(answers):
        path = f"/{i}.safetensors"
        web.face.put(path, of_tensors({f"w{i:04}": bytes([i % 251]) * 3000 for i in range(1500)}))
        web.when(path, answer, after=3)
        db = remote(web, timeout=1, retries=1)
        web.log.clear()
        found = rows(db, "SELECT object, mean, error FROM zt_stats(?)", web.url(path))
        assert [name for name, _, _ in found] == [f"w{i:04}" for i in range(1500)]
        assert all(mean == i % 251 and error is None if mean is not None else said in error and f"'w{i:04}'" in error for i, (_, mean, error) in enumerate(found))
        assert 0 < sum(mean is None for _, mean, _ in found) < 1500 and len(web.log) <= 24, (answer, len(web.log))
        web.forget()
        assert value(db, "SELECT count(*) FROM zt_stats(?) WHERE error IS NULL", web.url(path)) == 1500   # The next statement asks again


@pytest.mark.parametrize("status", [400, 403, 503, 520])
def test_a_range_that_the_server_cannot_read_is_no_reason_for_others(web, remote, status):
    web.face.put(NAME, of_tensors({f"w{i}": bytes([i]) * 100_000 for i in range(6)}))
    web.when(NAME, lambda r: Answer(status=status) if r.range and r.range[0] <= 250_000 <= r.range[1] else None)
    found = rows(remote(web, retries=0), "SELECT object, mean FROM zt_stats(?)", web.url(NAME))
    assert ("w2", None) in found and found[-1] == ("w5", 5), found


# ---- Bytes that are no tensor file

def test_a_sign_in_page_is_unknown(web, remote):
    web.face.put(NAME, b"<!DOCTYPE html><html>Sign in</html>")
    assert trouble(remote(web), web.url(NAME))[0] == "unknown"


def test_a_broken_file_is_broken(web, remote):
    web.face.put(NAME, safetensors()[:-1])
    assert trouble(remote(web), web.url(NAME))[0] == "broken"


# ---- One file's error is that file's

def test_the_rest_goes_on(web, remote):
    for name in ("/a.safetensors", "/c.safetensors"):
        web.face.put(name, safetensors(name))
    web.when("/b.safetensors", Answer(503))
    db = remote(web)
    a, b, c = (web.url(f"/{name}.safetensors") for name in "abc")
    source = json.dumps([a, b, c])
    assert rows(db, "SELECT path, objects, error_kind FROM zt_files(?)", source) == [(a, 1, None), (b, None, "transient"), (c, 1, None)]
    assert rows(db, "SELECT path FROM zt_objects(?, 'skip')", source) == [(a,), (c,)]
    with pytest.raises(sqlite3.OperationalError, match="503"):
        rows(db, "SELECT path FROM zt_objects(?)", source)
    assert rows(db, "SELECT path, severity FROM zt_check(?)", source) == [(b, "error")]


# ---- S3

def s3_trouble(server, remote, url="s3://models/m.safetensors", **settings):
    return trouble(remote(server.server, **settings), url)


def test_errors_of_s3(bucket_server, remote, monkeypatch):
    bucket_server.bucket.put("m.safetensors", safetensors())
    db = remote(bucket_server.server, retries=2)
    kind, error = trouble(db, "s3://models/none.safetensors")
    assert kind == "missing" and "NoSuchKey" in error
    kind, error = trouble(db, "s3://nothing/none.safetensors")
    assert kind == "missing" and "NoSuchBucket" in error
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    kind, error = s3_trouble(bucket_server, remote)
    assert kind == "denied" and error.endswith("SignatureDoesNotMatch")   # It was signed
    monkeypatch.setenv("AWS_NO_SIGN_REQUEST", "YES")
    kind, error = s3_trouble(bucket_server, remote)
    assert kind == "denied" and error.endswith("AccessDenied, and it was not signed (AWS_ACCESS_KEY_ID, AWS_PROFILE)")
    assert "authorization" not in bucket_server.server.log[-1].headers


@pytest.mark.parametrize("name", ["slow down", "listing"])
def test_s3_says_slow_down(bucket_server, remote, name):
    bucket_server.bucket.put("d/m.safetensors", safetensors())
    slow = Answer(503, {"Content-Type": "application/xml"}, b"<Error><Code>SlowDown</Code><Message>echoes</Message></Error>")
    bucket_server.server.when("", slow, times=1)
    url = "s3://models/d/m.safetensors" if name == "slow down" else "s3://models/d/"
    assert rows(remote(bucket_server.server, retries=1), "SELECT path, objects FROM zt_files(?)", url) == [("s3://models/d/m.safetensors", 1)]
    bucket_server.server.forget()
    bucket_server.server.when("", slow)
    db = remote(bucket_server.server, retries=1)
    if name == "listing":
        assert "SlowDown" in refused(db, url)
    else:
        assert trouble(db, url)[0] == "transient"


# ---- The hub

def test_errors_of_the_hub(hub_server, remote):
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors()})
    db = remote(*hub_server.allowed, retries=2)
    for url, word in (("hf://org/none/m.safetensors", "RepoNotFound"), ("hf://org/model/none.safetensors", "EntryNotFound"),
                      ("hf://org/model@v9/m.safetensors", "RevisionNotFound")):
        kind, error = trouble(db, url)
        assert kind == "missing" and word in error, (kind, error)
    hub_server.face.repository("org/gated").commit({"m.safetensors": safetensors()})
    hub_server.face.repositories["models/org/gated"].gated = True
    kind, error = trouble(db, "hf://org/gated/m.safetensors")
    assert kind == "denied" and error.endswith("401 GatedRepo, and no token was sent (HF_TOKEN)")
    for pattern in ("hf://org/none/*.safetensors", "hf://org/gated/**/*.zt"):
        refused(db, pattern)


def test_a_refusal_of_the_hub_names_no_token_where_one_was_sent(hub_server, remote, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_another")
    kind, error = trouble(remote(*hub_server.allowed), "hf://org/private/m.safetensors")
    assert kind == "denied" and error.endswith("cannot open: 401")


def test_a_refusal_later_says_that_no_token_was_sent(hub_server, remote):
    """The request has a header then, which is none of a token."""
    hub_server.face.cached = False
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors(count=1)})
    db = remote(*hub_server.allowed, ttl=0)
    assert rows(db, "SELECT objects FROM zt_files('hf://org/model/m.safetensors')") == [(1,)]
    hub_server.server.when("m.safetensors", Answer(403))
    kind, error = trouble(db, "hf://org/model/m.safetensors")
    assert "if-none-match" in hub_server.server.log[-1].headers
    assert kind == "denied" and error.endswith("cannot open: 403, and no token was sent (HF_TOKEN)")


@pytest.mark.parametrize("source", ["hf://org/model/", "s3://models/"])
def test_a_page_that_is_too_long(hub_server, bucket_server, remote, source):
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors()})
    db = remote(*hub_server.allowed, bucket_server.server)
    for server in (hub_server.server, bucket_server.server):
        server.when(lambda r: "/tree/" in r.path or "list-type" in r.target, Answer(200, {}, b"x", length=1 << 62, then="close"))
    assert refused(db, source).endswith("an answer of more than 16777216 bytes")


def test_a_refusal_of_the_store_is_none_of_the_hub(hub_server, remote):
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors(count=200)})
    hub_server.store.when("", Answer(403))
    kind, error = trouble(remote(*hub_server.allowed), "hf://org/model/m.safetensors")
    assert kind == "denied" and error.endswith("cannot open: 403")


@pytest.mark.parametrize("source", ["hf://org/model@refs/pr/1/m.safetensors", "hf://org/model@refs/pr/1/*.safetensors"])
def test_a_revision_with_a_slash_says_how_it_is_written(hub_server, remote, source):
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors()}, "refs/pr/1")
    db = remote(*hub_server.allowed)
    error = refused(db, source) if "*" in source else trouble(db, source)[1]
    assert error.endswith("404 RevisionNotFound; a / in a revision is written %2F: hf://org/repo@refs%2Fpr%2F1/path")
    assert rows(db, "SELECT object FROM zt_objects(?)", source.replace("refs/pr/1", "refs%2Fpr%2F1")) == [("w",)]


@pytest.mark.parametrize("source", ["hf://", "hf://gpt2", "hf://gpt2/", "hf://org/model@/", "hf://datasets/org", "hf://org/my model/m.zt",
                                    "hf://my org/model/*.zt"])
def test_what_names_no_file_of_the_hub_says_how_one_is_named(hub_server, remote, source):
    kind, error = trouble(remote(*hub_server.allowed), source)
    assert kind == "missing" and "letters, digits, '-', '_' and '.'" in error and error.endswith("hf://org/repo/path, hf://org/repo@revision/path or hf://datasets/org/repo/path")
