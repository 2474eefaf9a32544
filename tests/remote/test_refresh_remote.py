"""refresh.sql over remote sources: a file is unchanged by its tag, and nothing that cannot be reached is taken for gone."""
import dataclasses
import hashlib
import io
import json
import os
import sqlite3

import numpy
import pytest

import s3 as s3_face
from catalogs import SQL, create
from conftest import FORMATS
from hub import TOKEN
from server import Answer
from support import message, rows, value
from test_requests import safetensors

SOURCE = "s3://models/runs/"
SECRETS = (s3_face.SECRET, s3_face.ACCESS, "AWS4")


@pytest.fixture
def catalog(tmp_path):
    return create(tmp_path / "catalog.db", "audit.sql")


@pytest.fixture
def opened(catalog, remote):
    """opened(servers ...): a connection to the catalog that may reach them, with refresh.sql."""
    def opened(*servers, **settings):
        db = remote(*servers, database=catalog, **{"ttl": 0, **settings})
        db.executescript((SQL / "refresh.sql").read_text().replace(":source", "NULL"))
        return db

    return opened


def refresh(db, source=SOURCE):
    """The report as a dict, without its zeros and the source."""
    db.execute("INSERT INTO refresh(source) VALUES (?)", (source,))
    cursor = db.execute("SELECT * FROM refresh ORDER BY rowid DESC LIMIT 1")
    report = dict(zip([column[0] for column in cursor.description], cursor.fetchone()))
    assert report.pop("source") == source
    return report.pop("host"), {name: count for name, count in report.items() if count}


@pytest.fixture
def bucket(bucket_server):
    for i in range(20):
        bucket_server.bucket.put(f"runs/{i:02}.safetensors", safetensors(f"w{i}"))
    return bucket_server


def known(db):
    return rows(db, "SELECT path, size, etag, objects, error_kind FROM files ORDER BY path")


def state(bucket, db):
    return [(f"s3://models/{key}", len(file.data), file.tag(), 1, None) for key, file in sorted(bucket.bucket.files.items())]


def test_a_bucket_is_catalogued(bucket, opened):
    db = opened(bucket.server, ttl=600)
    host, report = refresh(db)
    assert (host, report) == (bucket.server.authority, {"files": 20, "added": 20})
    assert known(db) == state(bucket, db)
    assert rows(db, "SELECT DISTINCT host, source, root FROM files") == [(bucket.server.authority, SOURCE, SOURCE.rstrip("/"))]
    assert rows(db, "SELECT count(*), min(object) FROM objects") == [(20, "w0")]
    assert len(bucket.server.log) <= 2 + 20
    text = "\n".join(db.iterdump())
    assert len(text) > 10_000 and not any(secret in text for secret in SECRETS)


def test_an_unchanged_bucket_of_10000_files_costs_its_listing(bucket_server, opened):
    data = safetensors()
    for i in range(10_000):
        bucket_server.bucket.put(f"runs/{i:05}.safetensors", data, etag='"1"')
    db = opened(bucket_server.server)
    assert refresh(db)[1] == {"files": 10_000, "added": 10_000}
    bucket_server.server.log.clear()
    assert refresh(db)[1] == {"files": 10_000, "unchanged": 10_000}
    assert [r for r in bucket_server.server.log if "list-type" not in r.target] == []
    assert len(bucket_server.server.log) == 10


def test_a_new_tag_is_a_change_and_a_new_time_is_none(bucket, opened):
    db = opened(bucket.server)
    refresh(db)
    bucket.bucket.files["runs/03.safetensors"].modified += 1000
    bucket.bucket.put("runs/04.safetensors", safetensors("x4"))
    bucket.bucket.put("runs/new.safetensors", safetensors("new"))
    del bucket.bucket.files["runs/05.safetensors"]
    bucket.server.log.clear()
    assert refresh(db)[1] == {"files": 20, "added": 1, "changed": 1, "unchanged": 18, "removed": 1}
    asked = {r.path for r in bucket.server.log if "list-type" not in r.target}
    assert asked <= {f"/models/runs/{name}.safetensors" for name in ("04", "05", "new")}
    assert known(db) == state(bucket, db)
    assert rows(db, "SELECT change, path FROM changes WHERE change <> 'added' OR path GLOB '*new*' ORDER BY path") == [
        ("changed", "s3://models/runs/04.safetensors"), ("removed", "s3://models/runs/05.safetensors"), ("added", "s3://models/runs/new.safetensors")]


def test_without_tags_size_and_time_count(bucket_server, opened):
    for i in range(3):
        bucket_server.bucket.put(f"runs/{i}.safetensors", safetensors(f"w{i}"), etag=None)
    db = opened(bucket_server.server)
    refresh(db)
    assert refresh(db)[1] == {"files": 3, "unchanged": 3}
    bucket_server.bucket.files["runs/1.safetensors"].modified += 1
    assert refresh(db)[1] == {"files": 3, "unchanged": 2, "changed": 1}


def test_a_remote_file_never_moves(bucket, opened):
    db = opened(bucket.server)
    refresh(db)
    bucket.bucket.files["runs/other.safetensors"] = bucket.bucket.files.pop("runs/00.safetensors")
    bucket.bucket.sorted = None
    assert refresh(db)[1] == {"files": 20, "added": 1, "removed": 1, "unchanged": 19}


@pytest.mark.parametrize("answer", [Answer(500), Answer(403), Answer(200, {}, b"<html>")], ids=["500", "403", "no listing"])
def test_a_listing_that_fails_removes_nothing(bucket, opened, answer):
    db = opened(bucket.server)
    refresh(db)
    before = known(db)
    bucket.server.when(lambda r: "list-type" in r.target, answer)
    with pytest.raises(sqlite3.OperationalError, match="s3://models/runs/"):
        refresh(db)
    assert known(db) == before and rows(db, "SELECT count(*) FROM changes WHERE change <> 'added'") == [(0,)]
    bucket.server.forget()
    assert refresh(db)[1] == {"files": 20, "unchanged": 20}


@pytest.mark.parametrize("page", [1, 2])
def test_a_listing_that_fails_at_its_second_page(bucket, opened, page):
    bucket.bucket.page = 8
    db = opened(bucket.server)
    refresh(db)
    bucket.server.when(lambda r: "continuation-token" in r.target, Answer(503), after=page - 1)
    with pytest.raises(sqlite3.OperationalError):
        refresh(db)
    assert known(db) == state(bucket, db)


@pytest.mark.parametrize("status, kind", [(503, "transient"), (403, "denied")])
def test_files_that_cannot_be_read_now_stay(bucket, opened, status, kind):
    db = opened(bucket.server)
    refresh(db)
    before = known(db)
    for i in (1, 2):
        bucket.bucket.put(f"runs/{i:02}.safetensors", safetensors("other", count=9))
    bucket.bucket.put("runs/new.safetensors", safetensors("new"))
    bucket.server.when("0", Answer(status))
    bucket.server.when("new", Answer(status))
    report = refresh(db)[1]
    assert report == {"files": 21, "added": 1, "unchanged": 18, "kept": 2, "broken": 1}
    assert [row for row in known(db) if "new" not in row[0]] == before
    assert rows(db, "SELECT error_kind FROM files WHERE path GLOB '*new*'") == [(kind,)]
    bucket.server.forget()
    assert refresh(db)[1] == {"files": 21, "changed": 2, "retried": 1, "unchanged": 18}
    assert known(db) == state(bucket, db)


def test_urls_of_the_web(web, opened):
    urls = [web.url(f"/{name}.safetensors") for name in "abc"]
    for name in "abc":
        web.face.put(f"/{name}.safetensors", safetensors(name))
    db = opened(web)
    source = json.dumps(urls, separators=(",", ":"))
    assert refresh(db, source) == (web.authority, {"files": 3, "added": 3})
    web.log.clear()
    assert refresh(db, source)[1] == {"files": 3, "unchanged": 3}
    # One is gone, one cannot be reached: that is not gone
    del web.face.files["/a.safetensors"]
    web.when("/b.safetensors", Answer(503))
    assert refresh(db, source)[1] == {"files": 1, "unchanged": 1, "removed": 1, "kept": 1}
    assert [path for path, *_ in known(db)] == urls[1:]
    web.forget()
    assert refresh(db, source)[1] == {"files": 2, "unchanged": 2}


def test_a_url_with_a_query_is_refused(web, opened):
    web.face.put("/a.safetensors", safetensors())
    db = opened(web)
    for source in (web.url("/a.safetensors") + "?X-Amz-Signature=secret", json.dumps([web.url("/a.safetensors"), web.url("/a.safetensors") + "?x"])):
        with pytest.raises(sqlite3.Error, match="a URL with a query may be a credential") as caught:
            refresh(db, source)
        assert "secret" not in str(caught.value)
    assert rows(db, "SELECT count(*) FROM root") == [(0,)] and web.log == []


def test_sources_of_several_hosts_are_refused(web, bucket, opened, tmp_path):
    db = opened(web, bucket.server)
    for source in ([web.url("/a.zt"), SOURCE], [SOURCE, str(tmp_path)]):
        with pytest.raises(sqlite3.Error, match="several hosts"):
            refresh(db, json.dumps(source))


def test_two_machines_have_one_row(bucket, opened):
    db = opened(bucket.server)
    for machine in ("a", "b"):
        db.execute("SELECT zt_host(?)", (machine,)).fetchall()
        host, report = refresh(db)
        assert host == bucket.server.authority
    assert report == {"files": 20, "unchanged": 20}
    assert rows(db, "SELECT count(*), count(DISTINCT host) FROM files") == [(20, 1)]


def test_local_sources_as_before(bucket, opened, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "a.safetensors").write_bytes(safetensors())
    db = opened(bucket.server)
    assert refresh(db, str(tmp_path / "models"))[1] == {"files": 1, "added": 1}
    refresh(db)
    assert refresh(db, str(tmp_path / "models"))[1] == {"files": 1, "unchanged": 1}
    assert value(db, "SELECT etag FROM files WHERE path GLOB '/*'") is None


def test_passes_take_the_files_of_the_host_that_is_named(bucket, opened):
    db = opened(bucket.server)
    refresh(db)
    bucket.server.log.clear()
    db.execute("INSERT INTO refresh_pass(pass) VALUES ('fingerprint')")
    assert rows(db, 'SELECT files, "left" FROM refresh_pass') == [(0, 0)] and bucket.server.log == []
    db.execute("INSERT INTO refresh_pass(pass, files, host) VALUES ('fingerprint', 15, ?1), ('check', 100, ?1)", (bucket.server.authority,))
    assert rows(db, 'SELECT files, "left" FROM refresh_pass WHERE host = ?', bucket.server.authority) == [(15, 5), (20, 0)]
    assert value(db, "SELECT count(*) FROM files WHERE fingerprint = zt_fingerprint(path)") == 15
    # A file that has changed since is left for the next refresh
    bucket.bucket.put("runs/19.safetensors", safetensors("other"))
    db.execute("INSERT INTO refresh_pass(pass, files, host) VALUES ('fingerprint', 100, ?1)", (bucket.server.authority,))
    assert rows(db, 'SELECT files, "left" FROM refresh_pass ORDER BY rowid DESC LIMIT 1') == [(4, 1)]


def test_the_hub_is_catalogued(hub_server, opened):
    repository = hub_server.face.repository("org/model")
    repository.commit({f"{i}.safetensors": safetensors(f"w{i}", count=300) for i in range(5)})
    db = opened(*hub_server.allowed)
    assert refresh(db, "hf://org/model") == (hub_server.server.authority, {"files": 5, "added": 5})
    hub_server.server.log.clear()
    hub_server.store.log.clear()
    assert refresh(db, "hf://org/model")[1] == {"files": 5, "unchanged": 5}
    assert len(hub_server.server.log) <= 2 and hub_server.store.log == []
    repository.commit({f"{i}.safetensors": safetensors(f"w{i}", count=300 + (i == 2)) for i in range(5)})
    assert refresh(db, "hf://org/model")[1] == {"files": 5, "unchanged": 4, "changed": 1}


@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_renamed_repository_is_unchanged(hub_server, opened, status):
    """The hub's second answer states the digest, behind a redirect of its own."""
    repository = hub_server.face.repository("org/new")
    repository.commit({"a.safetensors": safetensors(count=300), "small.safetensors": safetensors("s", count=1)})
    for at in (hub_server.origin, ""):
        hub_server.server.when("/old/name", lambda request: Answer(status, {"Location": at + request.target.replace("/old/name", "/org/new")}))
        db = opened(*hub_server.allowed)
        db.execute("DELETE FROM sources")
        assert refresh(db, "hf://old/name")[1] == {"files": 2, "added": 2}
        assert rows(db, "SELECT f.etag = z.etag FROM files AS f, zt_files('hf://old/name') AS z WHERE z.path = f.path AND z.path GLOB '*/a.*'") == [(1,)]
        db.execute("INSERT INTO refresh_pass(pass, files, host) VALUES ('fingerprint', 100, ?1)", (hub_server.server.authority,))
        assert refresh(db, "hf://old/name")[1] == {"files": 2, "unchanged": 2}
        assert value(db, "SELECT count(fingerprint) FROM files") == 2
        db.close()
        hub_server.server.forget()


def test_a_mirror_that_has_the_bytes_itself(hub_server, opened):
    """Its store's own tag does not replace the digest that it stated."""
    repository = hub_server.face.repository("org/model")
    repository.commit({"a.safetensors": safetensors(count=300)})
    hub_server.face.store_origin = hub_server.origin
    hub_server.server.when(lambda request: "/resolve/" not in request.path and "/api/" not in request.path,
                           lambda request: dataclasses.replace(answer := hub_server.face.store(request), headers={**answer.headers, "ETag": '"of-the-store"'}))
    db = opened(hub_server.server)
    for expected in ({"files": 1, "added": 1}, {"files": 1, "unchanged": 1}):
        assert refresh(db, "hf://org/model")[1] == expected
    assert rows(db, "SELECT f.etag = z.etag FROM files AS f, zt_files('hf://org/model') AS z") == [(1,)]
    assert value(db, "SELECT error FROM zt_stats('hf://org/model')") is None


def test_without_a_token_nothing_private_is_gone(hub_server, opened, monkeypatch):
    """The hub says 401 then, and that there is no such repository."""
    repository = hub_server.face.repository("org/private")
    repository.private = True
    names = ["a.safetensors", "b.safetensors"]
    repository.commit({name: safetensors(count=300) for name in names})
    source = json.dumps([f"hf://org/private/{name}" for name in names])
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert refresh(opened(*hub_server.allowed), source)[1] == {"files": 2, "added": 2}
    monkeypatch.delenv("HF_TOKEN")
    db = opened(*hub_server.allowed)
    assert refresh(db, source)[1] == {"kept": 2}
    assert rows(db, "SELECT objects, error FROM files") == [(1, None)] * 2
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    repository.commit({"a.safetensors": safetensors(count=300)})
    db = opened(*hub_server.allowed)
    assert refresh(db, source)[1] == {"files": 1, "unchanged": 1, "removed": 1}   # With one, it is believed


CONTENTS = ("files", "objects", "components", "attributes")


def contents(db, path):
    """All that the catalog tells of a file, but for times."""
    times = {"refreshed", "fingerprinted", "checked", "file", "layout", "architecture"}
    told = {}
    for view in CONTENTS:
        columns = [row[0] for row in db.execute("SELECT name FROM pragma_table_info(?)", (view,)) if row[0] not in times]
        told[view] = sorted(map(repr, rows(db, f"SELECT {', '.join(columns)} FROM {view} WHERE path = ?", path)))
    return told, rows(db, "SELECT count(*) FROM architecture"), rows(db, "SELECT count(*) FROM layout")


def anew(catalog, opened, web):
    """A connection to an empty catalog, and a server without rules."""
    os.unlink(catalog)
    create(catalog, "audit.sql")
    web.forget()
    return opened(web, retries=0)


@pytest.mark.parametrize("name", ["wheel_attributes", "wheel_quant", "hand_attribute_kinds", "wheel_dtypes"])
def test_each_request_of_a_refresh_may_fail(web, opened, catalog, name):
    """A file that cannot be reached any more while it is read has an error, not fewer rows, and is read again."""
    path = web.url("/x.zt")
    web.face.put("/x.zt", (FORMATS / f"ztensor/golden/v2/{name}.zt").read_bytes())
    whole = opened(web, retries=0)
    refresh(whole, path)
    expected, requests = contents(whole, path), len(web.log)
    whole.close()
    assert requests > 5 and expected[0]["objects"]
    failed = 0
    for n in range(requests):
        db = anew(catalog, opened, web)
        web.when("/x.zt", Answer(503), times=1, after=n)
        try:
            report = refresh(db, path)[1]
        except sqlite3.OperationalError as failure:   # The source itself could not be reached
            assert "503" in str(failure) and known(db) == []
            continue
        if report.get("broken"):
            failed += 1
            assert rows(db, "SELECT error_kind, attributes FROM files") == [("transient", None)] and rows(db, "SELECT * FROM objects") == []
            assert rows(db, "SELECT * FROM attribute") == rows(db, "SELECT * FROM digest") == []
            assert rows(db, "SELECT count(*) FROM architecture") == rows(db, "SELECT count(*) FROM layout") == [(0,)]
            assert refresh(db, path)[1] == {"files": 1, "retried": 1}
        assert contents(db, path) == expected, n
        db.close()
    assert failed > 2


def test_a_file_has_the_tag_of_the_state_that_was_read(bucket_server, opened):
    """A listing is newer than what is still remembered of a file."""
    bucket_server.bucket.put("runs/x.safetensors", safetensors("a"))
    db = opened(bucket_server.server, ttl=600)
    rows(db, "SELECT * FROM zt_objects('s3://models/runs/x.safetensors')")
    bucket_server.bucket.put("runs/x.safetensors", safetensors("bb", count=99))
    assert refresh(db)[1] == {"files": 1, "added": 1}
    told = rows(db, "SELECT f.size, f.etag, o.object FROM files AS f JOIN objects AS o USING (path)")
    file = bucket_server.bucket.files["runs/x.safetensors"]
    assert told in ([(len(file.data), file.tag(), "bb")], [(len(safetensors("a")), f'"{hashlib.md5(safetensors("a")).hexdigest()}"', "a")])
    db.execute("SELECT zt_remote(?)", ('{"ttl":0}',)).fetchall()
    refresh(db)
    assert rows(db, "SELECT f.size, f.etag, o.object FROM files AS f JOIN objects AS o USING (path)") == [(len(file.data), file.tag(), "bb")]


@pytest.mark.parametrize("pass_", ["fingerprint", "check"])
def test_a_pass_that_a_server_breaks_off_goes_on_later(web, opened, pass_):
    path = web.url("/x.safetensors")
    web.face.put("/x.safetensors", safetensors(count=400_000))
    db = opened(web, retries=0)
    refresh(db, path)
    web.when(lambda r: r.range and r.range[0] != 0, Answer(503))

    def take():
        db.execute("INSERT INTO refresh_pass(pass, host) VALUES (?, ?)", (pass_, web.authority))
        return rows(db, 'SELECT files, "left" FROM refresh_pass ORDER BY rowid DESC LIMIT 1')[0]

    assert take() == (1, 1) and take() == (0, 1)
    assert rows(db, "SELECT fingerprint FROM files") == [(None,)]
    assert rows(db, "SELECT count(*), count(DISTINCT rule), min(rule) FROM findings") == [(1, 1, "unreadable") if pass_ == "check" else (0, 0, None)]
    web.forget()
    assert take() == (0, 1) and refresh(db, path)[1] == {"files": 1, "unchanged": 1}
    assert take() == (1, 0) and take() == (0, 0) and rows(db, "SELECT * FROM findings") == []
    assert pass_ == "check" or rows(db, "SELECT fingerprint = zt_fingerprint(path) FROM files") == [(1,)]


@pytest.mark.parametrize("pass_", ["fingerprint", "check"])
def test_a_file_that_cannot_be_read_holds_up_no_other(web, opened, pass_):
    """A loop until `files` is 0 reaches all others."""
    urls = [web.url(f"/{i}.safetensors") for i in range(5)]
    for i in range(5):
        web.face.put(f"/{i}.safetensors", safetensors(f"w{i}", count=400_000))
    db = opened(web, retries=0)
    refresh(db, json.dumps(urls))
    web.when(lambda r: r.path == "/0.safetensors" and r.range and r.range[0] != 0, Answer(503))
    passes = []
    while not passes or passes[-1][0]:
        db.execute("INSERT INTO refresh_pass(pass, files, host) VALUES (?, 2, ?)", (pass_, web.authority))
        passes += rows(db, 'SELECT files, "left" FROM refresh_pass ORDER BY rowid DESC LIMIT 1')
    assert passes == [(2, 4), (2, 2), (1, 1), (0, 1)]
    done = "fingerprinted" if pass_ == "fingerprint" else "checked"
    assert rows(db, f"SELECT path FROM file WHERE {done} IS NULL") == [(urls[0],)]


def test_each_request_of_a_pass_may_fail(web, opened, catalog):
    """Also beside a tensor that never has a fingerprint."""
    file = io.BytesIO()
    numpy.savez(file, a=numpy.arange(300_000, dtype="u1"), o=numpy.array([{}], dtype=object), b=numpy.arange(400_000, dtype="u1"))
    web.face.put("/x.npz", file.getvalue())
    path, every = web.url("/x.npz"), "SELECT object, fingerprint FROM zt_objects(?, 'skip') WHERE object <> 'o' ORDER BY 1"
    db = opened(web)
    expected = rows(db, every, path)
    web.log.clear()
    refresh(db, path)
    db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
    requests = len(web.log)
    db.close()
    told = "SELECT n.name, p.fingerprint FROM fingerprint AS p JOIN name AS n ON n.id = p.name WHERE n.name <> 'o' ORDER BY 1"
    failed = 0
    for n in range(requests):
        db = anew(catalog, opened, web)
        refresh(db, path)
        web.when("/x.npz", Answer(503), times=1, after=n)
        for _ in range(2):
            db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
            web.forget()
            assert rows(db, told) == expected or rows(db, "SELECT fingerprinted FROM file") == [(None,)], n
            failed += rows(db, told) != expected
            refresh(db, path)
        db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
        assert rows(db, told) == expected and rows(db, "SELECT fingerprinted IS NULL FROM file") == [(0,)]
        db.close()
    assert failed > 1


def test_places_of_external_data_that_are_no_urls(web, opened):
    """One file of a stranger breaks off no refresh."""
    from test_onnx import beside
    web.face.put("/ok.safetensors", safetensors())
    urls = [web.url("/ok.safetensors")]
    for i, location in enumerate(("", ".", "/", "./", "a\nb.bin", "a\x7fb.bin", "..")):
        web.face.put(f"/{i}.onnx", beside(location, length="16"))
        urls.append(web.url(f"/{i}.onnx"))
    db = opened(web, retries=0)
    report = refresh(db, json.dumps(urls))[1]
    assert report["files"] == report["added"] == len(urls)
    assert refresh(db, json.dumps(urls))[1].get("changed", 0) == 0
    web.face.put("/other.safetensors", safetensors())
    assert refresh(db, web.url("/other.safetensors"))[1] == {"files": 1, "added": 1}
    db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
    assert rows(db, "SELECT count(*) FROM files WHERE path GLOB '*safetensors' AND fingerprint IS NOT NULL") == [(2,)]


@pytest.fixture
def model(web):
    """The URL of an ONNX file; model(location): its external data are there. Their URL comes back."""
    from test_onnx import beside

    def model(location):
        web.face.put("/m/model.onnx", beside(location, length="16"))
        web.face.put(f"/m/{location}", bytes(range(16)))
        return web.url("/m/model.onnx"), f"/m/{location}"

    return model


@pytest.mark.parametrize("location", ["w.bin", "a b.bin", "wei?ghts.bin", "wei#ghts.bin", "a%20b.bin", "\u00e9/w.bin"])
def test_external_data_are_watched_by_their_tag(web, opened, model, location):
    path, data = model(location)
    db = opened(web, retries=0)
    assert refresh(db, path)[1] == {"files": 1, "added": 1}
    assert refresh(db, path)[1] == {"files": 1, "unchanged": 1}
    db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
    web.face.put(data, bytes(reversed(range(16))))
    assert refresh(db, path)[1] == {"files": 1, "changed": 1}
    db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
    assert rows(db, "SELECT fingerprint IS NOT NULL, fingerprint = zt_fingerprint(path) FROM files") == [(1, 1)]
    assert refresh(db, path)[1] == {"files": 1, "unchanged": 1}


def test_external_data_below_parts_that_a_url_leaves_out(web, opened, model):
    from test_onnx import beside
    path, data = model("w.bin")
    web.face.put("/m/model.onnx", beside(".//./w.bin", length="16"))
    db = opened(web, retries=0)
    refresh(db, path)
    assert rows(db, "SELECT path, size FROM external") == [(web.url(data), 16)]


@pytest.mark.parametrize("status", [503, 403])
def test_external_data_that_cannot_be_reached_are_no_change(web, opened, model, status):
    path, data = model("w.bin")
    db = opened(web, retries=0)
    refresh(db, path)
    db.execute("INSERT INTO refresh_pass(pass, host) VALUES ('fingerprint', ?)", (web.authority,))
    before = known(db), value(db, "SELECT fingerprint FROM files")
    web.when(data, Answer(status))
    assert refresh(db, path)[1] == {"files": 1, "kept": 1}
    assert (known(db), value(db, "SELECT fingerprint FROM files")) == before and before[1]
    web.forget()
    assert refresh(db, path)[1] == {"files": 1, "unchanged": 1}
    assert rows(db, "SELECT change FROM changes") == [("added",)]
    # Data that are gone are a change
    del web.face.files[data]
    assert refresh(db, path)[1] == {"files": 1, "changed": 1}


def test_offline_a_catalog_keeps_what_it_knew(bucket, opened):
    db = opened(bucket.server)
    refresh(db)
    before = known(db)
    bucket.server.close()
    with pytest.raises(sqlite3.OperationalError):
        refresh(db)
    assert known(db) == before


def test_a_merge_takes_tags_along(bucket, opened, catalog, tmp_path, remote):
    db = opened(bucket.server)
    refresh(db)
    before = known(db)
    db.close()
    other = create(tmp_path / "other.db", "audit.sql")
    db = sqlite3.connect(other)
    db.execute("ATTACH ? AS incoming", (catalog,))
    db.executescript((SQL / "merge.sql").read_text())
    db.execute("INSERT INTO merge DEFAULT VALUES")
    assert known(db) == before
    db.close()
