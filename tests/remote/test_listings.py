"""Patterns and directories of S3 and the hub, and listings that lie."""
import json

import pytest

from server import Answer
from support import message, rows, value
from test_requests import safetensors

def refused(db, source):
    """The error of a listing, which every table has, with 'skip', too: a query shows no part of a bucket as if it were all of it."""
    error = message(db, "SELECT path FROM zt_objects(?, 'skip')", source)
    assert error.startswith(f"ztensor: {source}: ")
    assert message(db, "SELECT path, size, error FROM zt_files(?)", source) == error
    return error


KEYS = ["a.zt", "b/one.zt", "b/two.safetensors", "b/deep/er/x.zt", "b//double.zt", "b/../up.zt", "./dot.zt", ".hidden.zt", "b/.hidden/x.zt", "c-d/z.zt", "c/y.zt",
        "c d/s p.zt", "c+d/p+q.zt", "d%41/%20.zt", "ü/日本.zt", "[x].zt", "star*.zt", "star1.zt", "x.zt", "q?.zt", "x/readme.txt", "x/model.bin", "x/a&b=<c>.zt", "z~'!().zt",
        "same", "same/below.zt", "e/", "e/f.zt", "UPPER.ZT", "b/a.zt/inner.zt", "tail .zt", "#1.zt"]


@pytest.fixture
def keys(bucket_server):
    for key in KEYS:
        bucket_server.bucket.put(key, safetensors(key) if not key.endswith("/") else b"")
    return bucket_server


@pytest.fixture
def found(keys, remote):
    db = remote(keys.server)

    def found(source):
        names = [path for path, in rows(db, "SELECT path FROM zt_files(?)", source)]
        assert all(name.startswith("s3://models/") for name in names)
        return [name.removeprefix("s3://models/") for name in names]

    return found


def order(names):
    return sorted(names, key=str.encode)


@pytest.mark.parametrize("key", [key for key in KEYS if not key.endswith("/")])
def test_a_key_that_exists_is_taken_literally(keys, remote, key):
    """And is asked for as it is: //, .., % and all."""
    db = remote(keys.server)
    path = "s3://models/" + key
    assert rows(db, "SELECT path, object FROM zt_objects(?)", path) == [(path, key)]


PATTERNS = {
    "*.zt": ["a.zt", "[x].zt", "star*.zt", "star1.zt", "x.zt", "q?.zt", "z~'!().zt", "tail .zt", "#1.zt"],
    "b/*.zt": ["b/one.zt"],
    "b/*": ["b/one.zt", "b/two.safetensors"],
    "b/**/*.zt": ["b/one.zt", "b/deep/er/x.zt", "b//double.zt", "b/a.zt/inner.zt"],
    "**/x.zt": ["x.zt", "b/deep/er/x.zt"],
    "c?d/*.zt": ["c-d/z.zt", "c d/s p.zt", "c+d/p+q.zt"],
    "[a-c]/*.zt": ["b/one.zt", "c/y.zt"],
    "[[]x].zt": ["[x].zt"],
    "q[?].zt": ["q?.zt"],
    ".*.zt": [".hidden.zt"],
    "b/.hidden/*": ["b/.hidden/x.zt"],
    "ü/*": ["ü/日本.zt"],
    "d%41/*": ["d%41/%20.zt"],
    "x/*": ["x/readme.txt", "x/model.bin", "x/a&b=<c>.zt"],
    "nothing/*.zt": [],
    "same/*": ["same/below.zt"],
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(found, pattern):
    assert found("s3://models/" + pattern) == order(PATTERNS[pattern])


def test_a_pattern_with_a_slash_at_its_end_stands_for_directories(found):
    assert found("s3://models/[b]/") == found("s3://models/b/") != []
    assert found("s3://models/x*/") == ["x/a&b=<c>.zt", "x/model.bin"]
    assert found("s3://models/nothing*/") == []


def test_patterns_of_all(found):
    names = found("s3://models/**/*")
    assert names == order(names) and len(names) == len(set(names))
    hidden = [key for key in KEYS if any(part.startswith(".") for part in key.split("/"))]
    assert set(names) == set(KEYS) - set(hidden) - {"e/"} | {name for name in names if name in ("b/../up.zt",)}


def test_a_prefix_stands_for_the_tensor_files_below(found):
    assert found("s3://models/b/") == order(["b/one.zt", "b/two.safetensors", "b/deep/er/x.zt", "b//double.zt", "b/a.zt/inner.zt"])
    assert found("s3://models/b") == found("s3://models/b/")
    assert found("s3://models/x") == ["x/a&b=<c>.zt", "x/model.bin"]
    # A key that exists is the key, and with a slash the prefix
    assert found("s3://models/same") == ["same"]
    assert found("s3://models/same/") == ["same/below.zt"]
    every = found("s3://models/")
    assert found("s3://models") == every and "UPPER.ZT" in every and "x/readme.txt" not in every and "a.zt" in every and ".hidden.zt" not in every


def test_a_prefix_of_many_pages(keys, found):
    keys.bucket.page = 1
    assert found("s3://models/b") == found("s3://models/b/") == order(["b/one.zt", "b/two.safetensors", "b/deep/er/x.zt", "b//double.zt", "b/a.zt/inner.zt"])


@pytest.mark.parametrize("source, names", [("*.safetensors", []), ("b/*.safetensors", ["b/two.safetensors"]), ("c", ["c/y.zt"]), ("same", ["same"]), ("a.zt", ["a.zt"])])
def test_a_scheme_has_no_case(keys, remote, source, names):
    db, expected = remote(keys.server), [("S3://models/" + name,) for name in names]
    assert rows(db, "SELECT path FROM zt_files(?)", "S3://models/" + source) == expected
    for path, in expected:
        assert rows(db, "SELECT path FROM zt_files(?) WHERE path=?", "S3://models/" + source, path) == [(path,)]


def test_a_key_with_pattern_characters_is_taken_first(found):
    assert found("s3://models/star*.zt") == ["star*.zt"]
    assert found("s3://models/[x].zt") == ["[x].zt"]


@pytest.mark.parametrize("source", [*PATTERNS, "", "b/", "b", "b/deep", "b/.hidden/", "same/", "same", "x", "e", "a.zt", "**/*", "star*.zt", "[x].zt"])
@pytest.mark.parametrize("columns", ["path, size, error_kind FROM zt_files", "path, object FROM zt_objects"])
def test_a_path_that_is_asked_for_is_a_row_of_the_source(keys, remote, source, columns):
    """A row of the whole listing, not of a key elsewhere, which may be shorter than the source's; and there is no other error."""
    db, source = remote(keys.server), "s3://models/" + source
    listed = {path: (path, *rest) for path, *rest in rows(db, f"SELECT {columns}(?)", source)}
    for key in [*KEYS, "none.zt", "b/none.zt", "sam"]:
        want = "s3://models/" + key
        assert rows(db, f"SELECT {columns}(?) WHERE path=?", source, want) == ([listed[want]] if want in listed else []), want


def test_no_key_and_nothing_below_is_missing(keys, remote):
    db = remote(keys.server)
    assert rows(db, "SELECT path, error_kind FROM zt_files('s3://models/none.zt')") == [("s3://models/none.zt", "missing")]
    assert "NoSuchBucket" in refused(db, "s3://none/*.zt")
    assert "NoSuchBucket" in message(db, "SELECT * FROM zt_objects('s3://none/')")


def test_a_bucket_that_refuses_to_be_listed(keys, remote):
    keys.bucket.listable = False
    db = remote(keys.server)
    for source in ("s3://models/*.zt", "s3://models/b/", "s3://models/**/*"):
        assert "AccessDenied" in refused(db, source)
    assert rows(db, "SELECT object FROM zt_objects('s3://models/a.zt')") == [("a.zt",)]


def test_a_list_of_local_and_remote_sources(keys, web, remote, tmp_path):
    (tmp_path / "l.zt").write_bytes(safetensors("local"))
    web.face.put("/w.zt", safetensors("web"))
    source = json.dumps([web.origin + "/w.zt", str(tmp_path / "l.zt"), "s3://models/b/*.zt", str(tmp_path)])
    assert rows(remote(keys.server, web), "SELECT path, object FROM zt_objects(?)", source) == [
        (web.origin + "/w.zt", "web"), (str(tmp_path / "l.zt"), "local"), ("s3://models/b/one.zt", "b/one.zt")]   # A path once


@pytest.mark.parametrize("how", [{"space": "%20"}, {"encodes": False}, {"page": 3}, {"page": 1}, {"late": True}], ids=str)
def test_listings_of_other_servers(keys, remote, how):
    if "encodes" not in how:
        for name, setting in how.items():
            setattr(keys.bucket, name, setting)
        expected = PATTERNS
    else:
        keys.bucket.encodes = False
        expected = PATTERNS
    db = remote(keys.server, ttl=0)
    for pattern in ("c?d/*.zt", "x/*", "d%41/*", "ü/*", "*.zt"):
        assert [p.removeprefix("s3://models/") for p, in rows(db, "SELECT path FROM zt_files(?)", "s3://models/" + pattern)] == order(expected[pattern])


def test_an_http_pattern_is_literal(web, remote):
    web.face.put("/*.zt", safetensors("star"))
    web.face.put("/[a].zt", safetensors("brackets"))
    db = remote(web)
    for name, object in (("*.zt", "star"), ("[a].zt", "brackets")):
        assert rows(db, "SELECT path, object FROM zt_objects(?)", f"{web.origin}/{name}") == [(f"{web.origin}/{name}", object)]
    assert rows(db, "SELECT error_kind FROM zt_files(?)", web.origin + "/b*.zt") == [("missing",)]


def test_a_query_is_part_of_the_source(web, remote):
    web.when(lambda r: r.target == "/m?id=1&x=%20*", Answer(200, {"ETag": '"1"'}, safetensors("one")))
    url = web.origin + "/m?id=1&x=%20*"
    assert rows(remote(web), "SELECT path, object FROM zt_objects(?)", url) == [(url, "one")]


def test_gs_and_az_say_how(remote):
    db = remote("*")
    assert "AWS_ENDPOINT_URL" in message(db, "SELECT * FROM zt_objects('gs://b/x.zt')")
    assert "https" in message(db, "SELECT * FROM zt_objects('az://b/x.zt')")
    for url in ("ftp://h/x.zt", "zzz://x", "abfss://c@a/x"):
        assert rows(db, "SELECT error_kind FROM zt_files(?)", url) == [("denied",)]


# ---- Listings that lie, or go in circles

HEAD = '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'


def page(*keys, token=None, more="", size=3, truncated=None):
    entries = "".join(f"<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>&quot;1&quot;</ETag><Size>{size}</Size></Contents>"
                      for key in keys)
    truncated = truncated or ("true" if token else "false")
    token = f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
    return (HEAD + f"<IsTruncated>{truncated}</IsTruncated>{token}{entries}{more}</ListBucketResult>").encode()


LIES = {
    "a shorter key": page("d"),
    "no XML": b"no listing at all",
    "nothing": b"",
    "HTML": b"<html><body>Sign in</body></html>",
    "another document": b'<?xml version="1.0"?><ListAllMyBucketsResult></ListAllMyBucketsResult>',
    "cut": page("d/a.zt")[:-30],
    "cut within an entry": page("d/a.zt")[:page("d/a.zt").index(b"<ETag>") + 9],
    "a page without a token": page("d/a.zt", truncated="true"),
    "the same token again": page("d/a.zt", token="again"),
    "a negative size": page("d/a.zt", size=-1),
    "a size of nonsense": page("d/a.zt", size="many"),
    "a size beyond all": page("d/a.zt", size=1 << 70),
    "a broken entity": page("d/&nonsense;.zt"),
    "an entry without a key": page().replace(b"</ListBucketResult>", b"<Contents><Size>3</Size></Contents></ListBucketResult>"),
    "entities that grow": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><ListBucketResult><Contents><Key>d/&b;.zt</Key><Size>1</Size></Contents></ListBucketResult>',
    "an entity of a file": b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><ListBucketResult><Contents><Key>d/&a;.zt</Key><Size>1</Size></Contents></ListBucketResult>',
    "deep": HEAD.encode() + b"<a>" * 100_000,
}


@pytest.mark.parametrize("lie", LIES)
def test_a_listing_that_is_none(bucket_server, remote, lie):
    bucket_server.server.when("", Answer(200, {"Content-Type": "application/xml"}, LIES[lie]))
    db = remote(bucket_server.server, retries=1)
    for source in ("s3://models/d/", "s3://models/d/*.zt"):
        bucket_server.server.log.clear()
        refused(db, source)
        assert 2 <= len(bucket_server.server.log) <= 16


def test_keys_that_were_not_asked_for_are_no_rows(bucket_server, model, remote):
    bucket_server.server.when("", Answer(200, {}, page("elsewhere/a.zt", "d/../a.zt", "../d/a.zt", "/d/a.zt")))
    db = remote(bucket_server.server, *model.allowed)
    for source in ("s3://models/d/*.zt", "s3://models/d/**/*.zt", "s3://models/d/"):
        assert "another prefix" in refused(db, source)
    listed = [{"type": "file", "path": path, "size": 3, "oid": "x"} for path in ("../m.zt", "sub/../m.zt", "/m.zt", "sub/../../m.zt")]
    model.server.when("/tree/", Answer(200, {}, json.dumps(listed).encode()))
    refused(db, "hf://org/model/**/*.zt")


def test_a_listing_in_a_circle(bucket_server, remote):
    pages = {"": page("d/a.zt", token="one"), "one": page("d/b.zt", token="two"), "two": page("d/c.zt", token="one")}
    bucket_server.server.when("", lambda r: Answer(200, {}, pages[r.query.get("continuation-token", "")]))
    refused(remote(bucket_server.server), "s3://models/d/")
    assert len(bucket_server.server.log) < 40


def test_a_listing_that_never_ends(bucket_server, remote):
    """New tokens for the same keys."""
    count = iter(range(10 ** 9))
    bucket_server.server.when("", lambda r: Answer(200, {}, page("d/a.zt", token=f"t{next(count)}")))
    refused(remote(bucket_server.server), "s3://models/d/")
    assert len(bucket_server.server.log) < 40


def test_a_listing_of_empty_pages(bucket_server, remote):
    """Servers may give some: what they skip is behind them. Others have no end."""
    count = iter(range(10 ** 9))
    bucket_server.server.when("", lambda r: Answer(200, {}, page("d/a.zt") if next(count) == 100 else page(token=f"t{next(count)}")))
    assert rows(remote(bucket_server.server), "SELECT path FROM zt_files('s3://models/d/')") == [("s3://models/d/a.zt",)]
    bucket_server.server.forget()
    bucket_server.server.when("", lambda r: Answer(200, {}, page(token=f"t{next(count)}")))
    refused(remote(bucket_server.server), "s3://models/d/")
    assert len(bucket_server.server.log) <= 2000    # Two statements


def test_a_part_of_a_listing_is_none(bucket_server, remote):
    bucket_server.server.when("", Answer(206, {"Content-Range": "bytes 0-10/1000"}, page("d/a.zt")))
    assert "206" in refused(remote(bucket_server.server), "s3://models/d/")


def test_a_page_that_is_lost_is_asked_for_again(bucket_server, remote):
    for i in range(2500):
        bucket_server.bucket.put(f"d/{i:04}.zt", b"")
    bucket_server.server.when(lambda r: "continuation-token" in r.target, Answer(500), times=1, after=1)
    assert value(remote(bucket_server.server, retries=1), "SELECT count(*) FROM (SELECT path FROM zt_files('s3://models/d/'))") == 2500
    bucket_server.server.forget()
    bucket_server.server.when(lambda r: "continuation-token" in r.target, Answer(500))
    assert "500" in refused(remote(bucket_server.server, retries=1), "s3://models/d/")


NO_PAGES = {"no JSON": b"<html>", "cut": b'[{"type": "file", ', "another document": b'{"error": "x"}', "elsewhere": b'[{"type": "file", "path": "../m.zt", "size": 3, "oid": "x"}]'}


@pytest.mark.parametrize("part", ["/tree/", "/revision/"])
@pytest.mark.parametrize("page", NO_PAGES)
def test_a_page_of_the_hub_that_is_none_is_asked_for_again(model, remote, part, page):
    source = "hf://org/model/*.safetensors"
    expected = rows(remote(*model.allowed), "SELECT path FROM zt_files(?)", source)
    model.server.when(part, Answer(200, {}, NO_PAGES[page]), times=1)
    assert rows(remote(*model.allowed, retries=1), "SELECT path FROM zt_files(?)", source) == expected != []
    model.server.forget()
    model.server.when(part, Answer(200, {}, NO_PAGES[page]))
    assert ("no listing" if part == "/tree/" else "no commit") in refused(remote(*model.allowed, retries=2), source)
    assert len(model.server.asked(part)) == 6   # Two statements


def test_a_page_of_s3_that_is_none_is_asked_for_again(bucket_server, remote):
    bucket_server.bucket.put("d/a.zt", b"")
    for name in LIES.keys() - {"the same token again"}:   # Of which the first one is a page
        bucket_server.server.forget()
        bucket_server.server.when("", Answer(200, {}, LIES[name]), times=1)
        assert rows(remote(bucket_server.server, retries=1), "SELECT path FROM zt_files('s3://models/d/*')") == [("s3://models/d/a.zt",)], name


@pytest.mark.parametrize("path", ["/m.zt", "other/m.zt", "sub", "subx/m.zt", "sub/../m.zt"])
def test_a_page_of_a_directory_has_its_files_alone(model, remote, path):
    model.server.when("/tree/", Answer(200, {}, json.dumps([{"type": "file", "path": path, "size": 3, "oid": "x"}]).encode()))
    assert "no listing" in refused(remote(*model.allowed), "hf://org/model/sub/*.zt")


@pytest.mark.parametrize("answer", [b'{"sha": 5}', b'{"sha": "%s"}' % (b"z" * 40), b'{"sha": "%s"}' % (b"a" * 39), b'{"sha": "\\u0061%s"}' % (b"a" * 39), b'{"sha": "\\x"}', b"{1: 2}"])
def test_an_answer_without_a_commit(model, remote, answer):
    model.server.when("/revision/", Answer(200, {}, answer))
    assert "names no commit" in refused(remote(*model.allowed), "hf://org/model/*.zt")


@pytest.mark.parametrize("rest", ["1: 2", '"siblings": [{1: 2}]', '"siblings": [{"rfilename": "\\x"}]', '"siblings": [5, {"rfilename": 5}]'])
def test_what_else_a_revision_says_is_a_hint(model, remote, rest):
    commit = model.face.repositories["models/org/model"].revisions["main"]
    source = "hf://org/model/*.safetensors"
    expected = rows(remote(*model.allowed), "SELECT object FROM zt_objects(?)", source)
    model.server.when("/revision/", Answer(200, {}, f'{{"sha": "{commit}", {rest}}}'.encode()))
    assert rows(remote(*model.allowed), "SELECT object FROM zt_objects(?)", source) == expected != []


def test_a_revision_of_forty_letters_is_no_commit(model, remote):
    model.face.repository("org/model").commit({"old.safetensors": safetensors("old")}, "z" * 40)
    assert rows(remote(*model.allowed), "SELECT object FROM zt_objects(?)", f"hf://org/model@{'z' * 40}/old.safetensors") == [("old",)]
    assert [r for r in model.server.log if "/revision/" in r.path]


# ---- Regions

def test_the_region_that_was_asked_is_no_other(bucket_server, remote):
    bucket_server.server.when("", Answer(403, {"x-amz-bucket-region": "us-east-1"}))
    assert rows(remote(bucket_server.server), "SELECT error_kind FROM zt_files('s3://models/m.safetensors')") == [("denied",)]
    assert len(bucket_server.server.log) == 1


@pytest.mark.parametrize("moved", ["400", "301"])
def test_a_bucket_of_another_region(bucket_server, remote, moved):
    bucket_server.bucket.region, bucket_server.face.moved = "eu-west-1", moved
    for i in range(20):
        bucket_server.bucket.put(f"d/{i:02}.safetensors", safetensors())
    db = remote(bucket_server.server)
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/d/*')") == 20
    refused = [r for r in bucket_server.server.log if r.status in (301, 400)]
    assert 1 <= len(refused) <= 2    # It is remembered
    assert rows(db, "SELECT object FROM zt_objects('s3://models/d/07.safetensors')") == [("w",)]


def test_the_answer_of_a_region_is_followed_once(bucket_server, remote):
    bucket_server.bucket.put("m.zt", safetensors())
    regions = iter(f"r-{i}" for i in range(100))
    bucket_server.server.when("", lambda r: Answer(400, {"x-amz-bucket-region": next(regions)}, b"<Error><Code>AuthorizationHeaderMalformed</Code></Error>"))
    (kind,), = rows(remote(bucket_server.server), "SELECT error_kind FROM zt_files('s3://models/m.zt')")
    assert kind in ("transient", "denied") and len(bucket_server.server.log) <= 3


def test_regions_of_the_environment(bucket_server, remote, monkeypatch):
    bucket_server.bucket.region = "eu-west-1"
    bucket_server.bucket.put("m.zt", safetensors())
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    for region in (None, "eu-west-1"):
        if region:
            monkeypatch.setenv("AWS_REGION", region)
            monkeypatch.setenv("AWS_DEFAULT_REGION", "us-west-2")
        bucket_server.server.log.clear()
        assert len(rows(remote(bucket_server.server), "SELECT * FROM zt_objects('s3://models/m.zt')")) == 1
        assert {r.status for r in bucket_server.server.log} == {206}


# ---- The hub

@pytest.fixture
def model(hub_server):
    files = {name: safetensors(name, count=200 if "large" in name else 4) for name in
             ("model.safetensors", "large-00001-of-00002.safetensors", "large-00002-of-00002.safetensors", "sub/large.safetensors", "sub/deep/a b.zt", "sub/ü+%.zt",
              ".hidden.safetensors", "config.json", "[x].zt")}
    hub_server.face.repository("org/model").commit(files)
    hub_server.face.repository("org/model").commit({"old.safetensors": safetensors("old")}, "refs/pr/1")
    hub_server.face.repository("org/data", "datasets").commit({"d/embeddings.npy.zt": safetensors("data", count=300)})
    return hub_server


def of_the_hub(db, source):
    return [path.removeprefix("hf://org/model/") for path, in rows(db, "SELECT path FROM zt_files(?)", source)]


def test_patterns_of_the_hub(model, remote):
    db = remote(*model.allowed)
    tensors = ["[x].zt", "large-00001-of-00002.safetensors", "large-00002-of-00002.safetensors", "model.safetensors", "sub/deep/a b.zt", "sub/large.safetensors",
               "sub/ü+%.zt"]
    assert of_the_hub(db, "hf://org/model") == of_the_hub(db, "hf://org/model/") == order(tensors)
    assert of_the_hub(db, "hf://org/model/*.safetensors") == tensors[1:4]
    assert of_the_hub(db, "hf://org/model/**/*.zt") == order(["[x].zt", "sub/deep/a b.zt", "sub/ü+%.zt"])
    assert of_the_hub(db, "hf://org/model/sub") == of_the_hub(db, "hf://org/model/sub/") == order(tensors[4:])
    assert of_the_hub(db, "hf://org/model/[x].zt") == ["[x].zt"]
    assert of_the_hub(db, "hf://org/model/nothing/*") == []
    for name in tensors:
        assert rows(db, "SELECT path, object FROM zt_objects(?)", "hf://org/model/" + name) == [("hf://org/model/" + name, name)]
    assert rows(db, "SELECT path, object FROM zt_objects('hf://org/model@refs%2Fpr%2F1/*')") == [("hf://org/model@refs%2Fpr%2F1/old.safetensors", "old")]
    commit = model.face.repositories["models/org/model"].revisions["main"]
    assert rows(db, "SELECT object FROM zt_objects(?)", f"hf://org/model@{commit}/model.safetensors") == [("model.safetensors",)]
    assert rows(db, "SELECT path, object FROM zt_objects('hf://datasets/org/data/d/*')") == [("hf://datasets/org/data/d/embeddings.npy.zt", "data")]


@pytest.mark.parametrize("source", ["hf://org/model/", "hf://org/model/sub/", "hf://org/model/**/*.safetensors", "s3://models/b/", "s3://models/b/**/*.zt"])
@pytest.mark.parametrize("condition, chosen", [("GLOB '*b/*t*'", lambda path: "b/" in path and "t" in path.partition("b/")[2]), ("LIKE 'none'", lambda path: False)])
def test_conditions_on_the_path(model, keys, remote, source, condition, chosen):
    db = remote(*model.allowed, keys.server)
    every = [path for path, in rows(db, "SELECT path FROM zt_files(?)", source)]
    kept = [(path,) for path in every if chosen(path)]
    for table in ("zt_files", "zt_objects"):
        assert rows(remote(*model.allowed, keys.server), f"SELECT path FROM {table}(?) WHERE path {condition}", source) == kept
        for path in every:
            assert rows(remote(*model.allowed, keys.server), f"SELECT path FROM {table}(?) WHERE path=?", source, path) == [(path,)]


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_prefix_whose_listing_fails(keys, remote, after):
    """One listing tells whether it is a key, another one the keys below it."""
    keys.bucket.page = 1
    keys.server.when(lambda r: "list-type" in r.target, Answer(503), after=after)
    assert "503" in refused(remote(keys.server), "s3://models/b")


def test_a_bucket_that_none_is(remote):
    assert rows(remote("*"), "SELECT path, error_kind FROM zt_files('s3://a b/*.zt')") == [("s3://a b/*.zt", "missing")]


def test_columns_of_the_hub(model, remote):
    import hashlib
    db = remote(*model.allowed)
    data = model.face.repositories["models/org/model"].commits[model.face.repositories["models/org/model"].revisions["main"]]
    listed = rows(db, "SELECT path, size, mtime, etag FROM zt_files('hf://org/model/')")
    for path, size, mtime, etag in listed:
        name = path.removeprefix("hf://org/model/")
        assert (size, mtime) == (len(data[name]), None)
        if len(data[name]) >= 100:
            assert etag == f'"{hashlib.sha256(data[name]).hexdigest()}"'
        # One file says the same as the listing
        assert rows(remote(*model.allowed), "SELECT path, size, etag FROM zt_files(?)", path) == [(path, size, etag)]


def test_requests_of_the_hub(model, remote):
    repository = model.face.repository("org/many")
    repository.commit({f"m/{i:04}.safetensors": safetensors(f"w{i}", count=300) for i in range(2500)})
    db = remote(*model.allowed)
    server, store = model.allowed
    assert value(db, "SELECT count(*) FROM (SELECT path, size, etag FROM zt_files('hf://org/many/m/'))") == 2500
    assert len([r for r in server.log if "/tree/" in r.path]) == 3 and len(server.log) <= 4 and store.log == []
    assert not any("expand=true" in r.target.lower() for r in server.log)
    server.log.clear()
    assert value(db, "SELECT count(*) FROM zt_objects('hf://org/many/m/00*.safetensors')") == 100
    assert len([r for r in server.log if "/resolve/" in r.path]) == 100 and len(store.log) == 100


HUB_LIES = {
    "no JSON": b"<html>", "nothing": b"", "an object": b'{"error": "echoes"}', "cut": b'[{"type": "file", "path": "m.zt", "size": 3',
    "an entry that is none": b"[1]", "a path that is none": b'[{"type": "file", "path": 5, "size": 3, "oid": "x"}]',
    "a size below zero": b'[{"type": "file", "path": "m.zt", "size": -3, "oid": "x"}]',
    "deep": b"[" * 100_000}


@pytest.mark.parametrize("lie", HUB_LIES)
def test_a_listing_of_the_hub_that_is_none(model, remote, lie):
    server, _ = model.allowed
    server.when("/tree/", Answer(200, {"Content-Type": "application/json"}, HUB_LIES[lie]))
    assert "echoes" not in refused(remote(*model.allowed, retries=1), "hf://org/model/*.zt")


def test_a_listing_of_the_hub_in_a_circle_or_elsewhere(model, remote, serve):
    server, store = model.allowed
    other = serve(model.face)
    row = b'[{"type": "file", "path": "m.zt", "size": 3, "oid": "x"}]'
    for to in (f"{server.origin}/api/models/org/model/tree/main?cursor=1", f"{other.origin}/api/models/org/model/tree/main?cursor=1", "file:///etc/passwd"):
        server.forget()
        server.when("/tree/", lambda r, to=to: Answer(200, {"Link": f'<{to}>; rel="next"'}, row))
        refused(remote(server, store, other), "hf://org/model/*.zt")
        assert len(server.log) < 40
    assert other.log == []


@pytest.mark.parametrize("length", [2, 3, 7])
def test_a_listing_of_the_hub_in_a_larger_circle(model, remote, length):
    server, store = model.allowed
    row = b'[{"type": "file", "path": "m.zt", "size": 3, "oid": "x"}]'
    following = lambda r: (int(r.query.get("cursor", 0)) + 1) % length
    server.when("/tree/", lambda r: Answer(200, {"Link": f'<{server.origin}{r.raw_path}?cursor={following(r)}>; rel="next"'}, row))
    refused(remote(server, store), "hf://org/model/*.zt")
    assert len(server.log) < 40
