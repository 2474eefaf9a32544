"""The servers of these tests by themselves: what they answer is what the tests rely on."""
import hashlib
import http.client
import json
import socket
import ssl
import time
import urllib.parse
import xml.etree.ElementTree

import pytest

import files
import hub
import s3
import signature
from server import RESET, STALL, Answer, Proxy, Request

XMLNS = "{http://s3.amazonaws.com/doc/2006-03-01/}"


def get(server, target, context=None, method="GET", **headers):
    """(status, headers, body) of one request on a connection of its own."""
    host, port = server.address, server.port
    connection = http.client.HTTPSConnection(host, port, timeout=10, context=context) if context else http.client.HTTPConnection(host, port, timeout=10)
    try:
        connection.request(method, target, headers={name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer.status, dict(answer.headers), answer.read()
    finally:
        connection.close()


@pytest.mark.parametrize("asked, status, part, of", [
    (None, 200, b"0123456789", None), ("bytes=0-3", 206, b"0123", "bytes 0-3/10"), ("bytes=7-", 206, b"789", "bytes 7-9/10"),
    ("bytes=-4", 206, b"6789", "bytes 6-9/10"), ("bytes=-40", 206, b"0123456789", "bytes 0-9/10"), ("bytes=8-80", 206, b"89", "bytes 8-9/10"),
    ("bytes=10-", 416, b"", "bytes */10"), ("bytes=3-2", 416, b"", "bytes */10"), ("bytes=1-2,4-5", 200, b"0123456789", None)])
def test_ranges(web, asked, status, part, of):
    web.face.put("/a b", b"0123456789")
    got, headers, body = get(web, "/a%20b", **({"Range": asked} if asked else {}))
    assert (got, body, headers.get("Content-Range")) == (status, part, of)
    assert headers["ETag"] == f'"{hashlib.md5(b"0123456789").hexdigest()}"'
    assert [(r.path, r.status, r.sent) for r in web.log] == [("/a b", status, len(part))]


def test_conditions(web):
    file = web.face.put("/x", b"abc")
    tag = file.tag()
    assert [get(web, "/x", If_Match=value)[0] for value in (tag, "*", '"other"')] == [200, 200, 412]
    assert [get(web, "/x", If_None_Match=value)[0] for value in (tag, '"other"')] == [304, 200]
    file.conditions = False
    assert get(web, "/x", If_Match='"other"')[0] == 200
    assert get(web, "/x", method="HEAD")[0] == 405


def test_faults(web):
    web.face.put("/x", b"x" * 1000)
    web.when("/x", RESET, times=1)
    with pytest.raises((ConnectionResetError, http.client.RemoteDisconnected)):
        get(web, "/x")
    web.when("/x", Answer(200, {}, b"x" * 1000, cut=500, then="close"), times=1)
    with pytest.raises(http.client.IncompleteRead):
        get(web, "/x")
    web.when("/x", STALL, times=1)
    connection = http.client.HTTPConnection(web.address, web.port, timeout=0.2)
    connection.request("GET", "/x")
    with pytest.raises(socket.timeout):
        connection.getresponse()
    connection.close()
    web.when("/x", Answer(503, {"Retry-After": "1"}), times=1, after=1)
    assert [get(web, "/x")[0] for _ in range(3)] == [200, 503, 200]
    web.when("/x", Answer(200, {}, b"in pieces" * 20_000, chunked=True), times=1)
    assert get(web, "/x")[2] == b"in pieces" * 20_000


def test_tls_with_its_own_authority(serve, authority, tls):
    server = serve(files.Files({"/x": b"abc"}), tls=tls)
    assert get(server, "/x", ssl.create_default_context(cafile=authority.bundle))[2] == b"abc"
    with pytest.raises(ssl.SSLCertVerificationError):
        get(server, "/x", ssl.create_default_context())
    for options in ({"days": "-1"}, {"names": "DNS:elsewhere.test"}, {"signed": False}):
        other = serve(files.Files({"/x": b"abc"}), tls=authority.context("other", **options))
        with pytest.raises(ssl.SSLCertVerificationError):
            get(other, "/x", ssl.create_default_context(cafile=authority.bundle))


def test_latency_and_a_limited_line(serve):
    server = serve(files.Files({"/x": b"x" * 2_000_000}), latency=0.05, rate=10_000_000)
    began = time.monotonic()
    assert len(get(server, "/x")[2]) == 2_000_000
    assert 0.28 < time.monotonic() - began < 5


def test_a_proxy_knows_the_names(serve, authority, tls):
    server = serve(files.Files({"/x": b"abc"}), tls=tls)
    with Proxy({"models.test:443": server}) as proxy:
        host, _, port = proxy.origin.removeprefix("http://").partition(":")
        connection = http.client.HTTPSConnection(host, int(port), timeout=10, context=ssl.create_default_context(cafile=authority.bundle))
        connection.set_tunnel("models.test", 443)
        connection.request("GET", "/x")
        assert connection.getresponse().read() == b"abc"
        connection.close()
        assert [r.target for r in proxy.log] == ["models.test:443"]


# ---- S3

DOCUMENTED = {"example": ("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", None)}


def documented(target, names, stated, **more):
    """A request of Amazon's documentation of Signature Version 4."""
    headers = {"host": "examplebucket.s3.amazonaws.com", "x-amz-date": "20130524T000000Z", "x-amz-content-sha256": signature.EMPTY, **more}
    headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential=example/20130524/us-east-1/s3/aws4_request,SignedHeaders={names},"
                                f"Signature={stated}")
    return Request("GET", target, headers)


def test_the_documented_signatures_are_right():
    names = "host;x-amz-content-sha256;x-amz-date"
    known = [("/test.txt", "host;range;x-amz-content-sha256;x-amz-date", "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
              {"range": "bytes=0-9"}),
             ("/?lifecycle", names, "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543", {}),
             ("/?max-keys=2&prefix=J", names, "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7", {})]
    for target, signed, stated, more in known:
        signature.verify(documented(target, signed, stated, **more), DOCUMENTED)
        for other in (stated[:-1] + "0", stated.replace(stated[0], "e")):
            with pytest.raises(signature.Refused, match="SignatureDoesNotMatch"):
                signature.verify(documented(target, signed, other, **more), DOCUMENTED)


def signed(server, path, query="", region="us-east-1", access=s3.ACCESS, secret=s3.SECRET, **more):
    """(status, headers, body) of a request that is signed as a client does it."""
    raw = urllib.parse.quote(path, safe="/~")
    at = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    headers = {"host": server.authority, "x-amz-content-sha256": signature.EMPTY, "x-amz-date": at, **more}
    names, scope = sorted(headers), f"{at[:8]}/{region}/s3/aws4_request"
    canonical = signature.canonical_request("GET", raw, query, headers, names, signature.EMPTY)
    stated = signature.signature(secret, scope, signature.string_to_sign(at, scope, canonical))
    headers["authorization"] = f"AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders={';'.join(names)}, Signature={stated}"
    return get(server, raw + ("?" + query if query else ""), **headers)


def code(answer):
    return answer[0], xml.etree.ElementTree.fromstring(answer[2]).findtext("Code")


ODD_KEYS = ["a b", "a+b", "a//b", "a/../b", "./x", "ü/\u65e5", "%41", "x?y", "x#y", "a&b=c", "*[z]", "~", "'q\"", "e ", "&amp;<x>", "a\\b"]


def test_objects_by_signature(bucket_server):
    server, bucket = bucket_server.server, bucket_server.bucket
    for key in ODD_KEYS:
        bucket.put(key, key.encode())
    for key in ODD_KEYS:
        assert signed(server, "/models/" + key)[2] == key.encode(), key
    assert code(signed(server, "/models/none")) == (404, "NoSuchKey")
    assert code(signed(server, "/missing/x")) == (404, "NoSuchBucket")
    assert code(get(server, "/models/~")) == (403, "AccessDenied")
    assert code(signed(server, "/models/~", secret="another")) == (403, "SignatureDoesNotMatch")
    assert code(signed(server, "/models/~", access="AKNONE")) == (403, "InvalidAccessKeyId")
    bucket_server.face.keys[s3.ACCESS] = (s3.SECRET, "session")
    assert code(signed(server, "/models/~")) == (400, "InvalidToken")
    assert signed(server, "/models/~", **{"x-amz-security-token": "session"})[0] == 200
    bucket.public = True
    assert get(server, "/models/~")[2] == b"~"


def test_regions(bucket_server):
    bucket_server.bucket.region = "eu-west-1"
    bucket_server.bucket.put("x", b"1")
    for moved, status, word in (("400", 400, "AuthorizationHeaderMalformed"), ("301", 301, "PermanentRedirect")):
        bucket_server.face.moved = moved
        answer = signed(bucket_server.server, "/models/x")
        assert (*code(answer), answer[1]["x-amz-bucket-region"]) == (status, word, "eu-west-1")
    assert signed(bucket_server.server, "/models/x", region="eu-west-1")[2] == b"1"


def listing(server, **query):
    """All pages: (keys, prefixes, number of pages)."""
    keys, prefixes, pages, token = [], [], 0, {}
    while True:
        text = urllib.parse.urlencode({"list-type": 2, "encoding-type": "url", **query, **token}, quote_via=urllib.parse.quote)
        status, _, body = signed(server, "/models/", text)
        assert status == 200
        root = xml.etree.ElementTree.fromstring(body)
        keys += [urllib.parse.unquote_plus(e.findtext(XMLNS + "Key")) for e in root.iter(XMLNS + "Contents")]
        prefixes += [urllib.parse.unquote_plus(e.findtext(XMLNS + "Prefix")) for e in root.iter(XMLNS + "CommonPrefixes")]
        pages += 1
        if root.findtext(XMLNS + "IsTruncated") == "false":
            return keys, prefixes, pages
        token = {"continuation-token": root.findtext(XMLNS + "NextContinuationToken")}


def test_listings(bucket_server):
    bucket = bucket_server.bucket
    for key in [*ODD_KEYS, *(f"many/{i // 100:03}/{i:05}.zt" for i in range(2500))]:
        bucket.put(key, b"")
    every = sorted(bucket.files, key=str.encode)
    assert listing(bucket_server.server) == (every, [], 3)
    assert listing(bucket_server.server, prefix="many/000/") == ([f"many/000/{i:05}.zt" for i in range(100)], [], 1)
    bucket.page = 7
    assert listing(bucket_server.server, prefix="many/", delimiter="/") == ([], [f"many/{i:03}/" for i in range(25)], 4)
    roots = listing(bucket_server.server, delimiter="/")
    assert roots[0] == [key for key in every if "/" not in key] and set(roots[1]) == {k.partition("/")[0] + "/" for k in every if "/" in k}


# ---- The hub

def test_the_hub(hub_server):
    face, server = hub_server.face, hub_server.server
    repository = face.repository("org/model")
    old = repository.commit({"config.json": b"{}", "sub/model.safetensors": b"o" * 200}, "v/1")
    new = repository.commit({"config.json": b"{}", "sub/model.safetensors": b"n" * 200, "sub/deep/x.zt": b"x"})
    assert json.loads(get(server, "/api/models/org/model/revision/v%2F1")[2])["sha"] == old
    rows = json.loads(get(server, "/api/models/org/model/tree/main?recursive=true")[2])
    assert [(r["type"], r["path"], r["size"], "lfs" in r) for r in rows] == [
        ("file", "config.json", 2, False), ("directory", "sub", 0, False), ("directory", "sub/deep", 0, False), ("file", "sub/deep/x.zt", 1, False),
        ("file", "sub/model.safetensors", 200, True)]
    face.page = 2
    status, headers, body = get(server, "/api/models/org/model/tree/main?recursive=true")
    pages = [json.loads(body)]
    while "Link" in headers:
        target = headers["Link"].partition(">")[0].removeprefix(f"<{server.origin}")
        status, headers, body = get(server, target)
        pages.append(json.loads(body))
    assert sum(pages, []) == rows and len(pages) == 3
    status, headers, _ = get(server, "/org/model/resolve/main/sub/model.safetensors")
    assert (status, headers["X-Repo-Commit"], headers["X-Linked-Size"]) == (302, new, "200")
    assert headers["X-Linked-ETag"] == f'"{hashlib.sha256(b"n" * 200).hexdigest()}"'
    target = headers["Location"].removeprefix(hub_server.store.origin)
    assert get(hub_server.store, target, Range="bytes=0-1")[2] == b"nn"
    assert get(hub_server.store, target, Authorization="Bearer x")[0] == 400
    status, headers, _ = get(server, f"/org/model/resolve/{old}/config.json")
    assert status == 307 and get(server, headers["Location"])[2] == b"{}"
    for target, status, error in (("/org/none/resolve/main/x", 401, "RepoNotFound"), ("/org/model/resolve/main/none", 404, "EntryNotFound"),
                                  ("/api/models/org/model/tree/v2", 404, "RevisionNotFound")):
        got = get(server, target)
        assert (got[0], got[1]["X-Error-Code"]) == (status, error)
    repository.private = True
    target = "/api/models/org/model/revision/main"
    assert [get(server, target)[0], get(server, target, Authorization=f"Bearer {hub.TOKEN}")[0], get(server, target, Authorization="Bearer x")[0]] == [
        401, 200, 401]
