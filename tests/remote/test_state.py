"""A row and a value are of one state of a file, whatever a server does with conditions."""
import pytest

from files import MODIFIED, File, serve
from server import Answer
from support import message, rows, value
from test_requests import of_tensors, safetensors

NAME = "/m.safetensors"
SIZE = 12_000_000   # Of several requests
FIRST = safetensors(count=SIZE)


@pytest.fixture
def file(web):
    """A file whose values need more requests than its header."""
    return web.face.put(NAME, FIRST)


def replaced_after(web, count, data, **how):
    """The file is another one after so many requests."""
    def replace(_):
        old = web.face.files[NAME]
        web.face.put(NAME, data, **{"etag": None if old.etag is None else "", "conditions": old.conditions, "modified": old.modified, **how})

    web.when(NAME, replace, times=1, after=count)


OTHER = safetensors("v", count=SIZE - 1000, pad_header=100)
LIKE = safetensors("w", count=SIZE).replace(b"\5\6\7", b"\7\6\5")   # As large


@pytest.mark.parametrize("conditions", [True, False])
@pytest.mark.parametrize("other", [OTHER, LIKE], ids=["another size", "the same size"])
@pytest.mark.parametrize("after", [1, 2])
@pytest.mark.parametrize("statement", ["SELECT zt_hash(?, 'w', 'sha256')", "SELECT hash FROM zt_components(?)", "SELECT zt_dense(?, 'w', 'u8', 7000000)"])
def test_a_file_that_changes_amid_its_values(web, file, remote, conditions, other, after, statement):
    """Each has a server of its own: requests that ended may still arrive."""
    file.conditions = conditions
    assert other != file.data
    replaced_after(web, after, other)
    db = remote(web, retries=2)
    assert "changed while it was read" in message(db, statement, web.url(NAME))
    assert len(web.log) > after and all(r.headers.get("if-match") for r in web.log[1:])
    # The next statement reads the new state
    assert value(db, "SELECT object FROM zt_objects(?)", web.url(NAME)) == ("v" if other is OTHER else "w")


def test_a_file_that_changes_amid_its_header(web, remote):
    big = safetensors(pad_header=200_000, count=10)
    web.face.put(NAME, big)
    replaced_after(web, 1, safetensors("v", pad_header=200_000, count=10).replace(b"xxx", b"yyy"))
    db = remote(web)
    (kind, error), = rows(db, "SELECT error_kind, error FROM zt_files(?)", web.url(NAME))
    assert kind == "transient" and "changed while it was read" in error
    assert value(db, "SELECT object FROM zt_objects(?)", web.url(NAME)) == "v"


@pytest.mark.parametrize("how, other", [({"etag": None}, {"modified": 1_800_000_000}), ({"etag": None}, {"data": OTHER}),
                                        ({"etag": None, "modified": None}, {"data": OTHER})],
                         ids=["Last-Modified", "size beside Last-Modified", "size"])
def test_without_a_tag(web, remote, how, other):
    web.face.put(NAME, FIRST, **how)
    replaced_after(web, 1, other.get("data", LIKE), **{**how, **{k: v for k, v in other.items() if k != "data"}})
    assert "changed while it was read" in message(remote(web), "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME))


@pytest.mark.parametrize("conditions", [True, False])
@pytest.mark.parametrize("other", [OTHER, LIKE, b""], ids=["another size", "the same size", "empty"])
def test_a_file_that_changed_since_it_was_known(web, file, remote, conditions, other):
    """Its header is not read again, so that the first answer is one about the values."""
    file.conditions = conditions
    db = remote(web, ttl=3600)
    assert value(db, "SELECT object FROM zt_objects(?)", web.url(NAME)) == "w"
    web.log.clear()
    web.face.put(NAME, other, conditions=conditions)
    assert "changed while it was read" in message(db, "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME))
    assert web.log[0].range[0] > 0


def test_a_file_whose_tag_is_told_no_more(web, file, remote):
    db = remote(web, ttl=3600)
    expected = value(remote(web), "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME))
    assert value(db, "SELECT object FROM zt_objects(?)", web.url(NAME)) == "w"
    file.etag = None
    assert value(db, "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME)) == expected


CHANGED = "SELECT object, mean, error LIKE '%: the file changed while it was read' FROM zt_stats(?)"
SIX = of_tensors({f"w{i}": bytes([i]) * 100_000 for i in range(6)})
TURNED = of_tensors({f"w{i}": bytes([i]) * 100_000 for i in reversed(range(6))})   # As large


@pytest.mark.parametrize("ttl", [3600, 0])
def test_no_answer_of_another_state_is_taken_after_the_first_one(web, remote, ttl):
    """The file is replaced before its values are asked for; the server reads If-None-Match, if at all."""
    web.face.put(NAME, SIX, conditions=ttl == 0)
    db = remote(web, ttl=ttl)
    assert rows(db, CHANGED, web.url(NAME)) == [(f"w{i}", i, None) for i in range(6)]
    replaced_after(web, 1 if ttl == 0 else 0, TURNED, conditions=False)
    assert rows(db, CHANGED, web.url(NAME)) == [(f"w{i}", None, 1) for i in range(6)]


def test_the_time_is_compared_where_no_tag_is_told(web, remote):
    web.face.put(NAME, SIX)
    db = remote(web, ttl=3600)
    assert value(db, "SELECT count(*) FROM zt_objects(?)", web.url(NAME)) == 6
    web.face.put(NAME, TURNED, etag=None, modified=MODIFIED + 1)
    assert rows(db, CHANGED, web.url(NAME)) == [(f"w{i}", None, 1) for i in range(6)]


def test_a_file_without_tag_and_time_is_not_kept(web, remote):
    web.face.put(NAME, safetensors("a"), etag=None, modified=None)
    db = remote(web, ttl=3600)
    assert rows(db, "SELECT object FROM zt_objects(?)", web.url(NAME)) == [("a",)]
    web.face.put(NAME, safetensors("b"), etag=None, modified=None)
    assert rows(db, "SELECT object FROM zt_objects(?)", web.url(NAME)) == [("b",)]


def test_a_weak_tag_is_shown_and_no_condition(web, remote):
    web.face.put(NAME, safetensors(count=SIZE), etag='W/"1"')
    db = remote(web)
    assert value(db, "SELECT etag FROM zt_files(?)", web.url(NAME)) == 'W/"1"'
    assert value(db, "SELECT length(zt_blob(?, 'w'))", web.url(NAME)) == SIZE
    assert not any("if-match" in r.headers for r in web.log)


def test_one_digest_is_of_one_size(hub_server, remote):
    """The store has a file of another size than the hub lists for its digest."""
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors(count=300)})
    other = safetensors("other", count=900)
    hub_server.store.when(lambda request: True, lambda request: serve(request, File(other)))
    db = remote(*hub_server.allowed)
    assert "changed while it was read" in message(db, "SELECT size, object FROM zt_files('hf://org/model') JOIN zt_objects('hf://org/model') USING (path)")


def test_columns(web, remote):
    file = web.face.put(NAME, safetensors())
    db = remote(web)
    assert rows(db, "SELECT path, size, mtime, etag, device, inode FROM zt_files(?)", web.url(NAME)) == [
        (web.url(NAME), len(file.data), 1_700_000_000.0, file.tag(), None, None)]
    assert len(web.log) == 1
    web.face.put("/none.zt", b"x" * 99, etag=None, modified=None)
    assert rows(db, "SELECT size, mtime, etag FROM zt_files(?)", web.url("/none.zt")) == [(99, None, None)]
    # A time that nanoseconds since 1970 cannot state
    for modified, mtime in ((9_223_372_036, 9_223_372_036.0), (9_223_372_037, None)):
        web.face.put("/late.zt", b"x" * 99, modified=modified)
        assert value(remote(web), "SELECT mtime FROM zt_files(?)", web.url("/late.zt")) == mtime


def test_a_local_file_has_no_tag(remote, tmp_path):
    (tmp_path / "m.safetensors").write_bytes(safetensors())
    assert rows(remote("*"), "SELECT etag, device IS NULL FROM zt_files(?)", str(tmp_path / "m.safetensors")) == [(None, 0)]


def test_a_revision_of_the_hub_is_read_by_its_commit(hub_server, remote):
    repository = hub_server.face.repository("org/model")
    old = repository.commit({"m.safetensors": safetensors("old", count=SIZE), "config.json": b"{}"})
    server, store = hub_server.allowed
    db = remote(server, store)

    def move(_):
        repository.commit({"m.safetensors": safetensors("new", count=SIZE)})

    server.when("/resolve/", move, times=1, after=1)
    url = "hf://org/model/m.safetensors"
    assert rows(db, "SELECT object, fingerprint IS NULL FROM zt_objects(?)", url)[0][0] == "old"
    assert all(old in r.path for r in server.log if "/resolve/" in r.path)


def test_a_hub_that_moves_between_the_listing_and_the_files(hub_server, remote):
    repository = hub_server.face.repository("org/model")
    old = {f"{i}.safetensors": safetensors(f"old{i}", count=300) for i in range(10)}
    repository.commit(old)
    server, store = hub_server.allowed
    server.when("/resolve/", lambda _: repository.commit({f"{i}.safetensors": safetensors(f"new{i}", count=300) for i in range(10)}) and None, times=1, after=3)
    assert rows(remote(server, store), "SELECT object FROM zt_objects('hf://org/model/*.safetensors')") == [(f"old{i}",) for i in range(10)]


def test_a_key_that_changes_after_the_listing(bucket_server, remote):
    for i in range(5):
        bucket_server.bucket.put(f"{i}.safetensors", safetensors(f"w{i}"))

    def replace(_):
        bucket_server.bucket.put("3.safetensors", safetensors("other", count=77))

    bucket_server.server.when("safetensors", replace, times=1)
    got = rows(remote(bucket_server.server), "SELECT path, size, objects, stored_bytes, error_kind FROM zt_files('s3://models/*.safetensors')")
    assert len(got) == 5
    row = got[3]
    # Either an error, or all of the new state: never the listing's size beside the new rows
    assert row[4] == "transient" or row[1:4] == (len(safetensors("other", count=77)), 1, 77)


def test_the_head_and_the_tail_are_of_one_state(web, remote):
    """A zip archive is asked for at both ends at once."""
    import io
    import numpy

    def npz(seed):
        file = io.BytesIO()
        numpy.savez(file, w=numpy.arange(seed, seed + 100_000))
        return file.getvalue()

    for conditions in (True, False):
        web.forget()
        web.face.put("/m.npz", npz(0), conditions=conditions)

        def replace(_):
            web.face.put("/m.npz", npz(1), conditions=conditions)

        web.when("/m.npz", replace, times=1, after=1)
        (objects, kind, error), = rows(remote(web), "SELECT objects, error_kind, error FROM zt_files(?)", web.url("/m.npz"))
        assert (objects, kind) == (None, "transient") and "changed" in error


def test_a_condition_that_fails_is_a_change(web, file, remote):
    web.when(NAME, Answer(412), after=1)
    assert "changed while it was read" in message(remote(web, retries=2), "SELECT zt_hash(?, 'w', 'sha256')", web.url(NAME))
