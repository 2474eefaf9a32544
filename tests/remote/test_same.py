"""Every test file of every format through each face: the rows, values, findings and errors are those of the local file."""
import re
import urllib.parse

import pytest

import corpus
from corpus import FORMATS
from files import Files
from support import rows

ALL = sorted(path for format in corpus.formats() for folder in ("golden", "hostile") for path in (FORMATS / format / folder).rglob("*")
             if path.is_file() and path.suffix not in (".json", ".md", ".txt", ".py"))
GOLDEN = {path for format in corpus.formats() for _, path, _ in corpus.golden(format)}
# The columns that tell where a file is and which state it is of are those that differ
FILE = "container, version, size, objects, components, stored_bytes, decoded_bytes, manifest_bytes, attributes, error, error_kind, architecture, layout, " \
       "data_offset, digests"
TABLES = {
    "zt_files": f"SELECT path, {FILE} FROM zt_files(?)",
    "zt_check": "SELECT * FROM zt_check(?, 'full')",
    "zt_objects": "SELECT *, fingerprint FROM zt_objects(?, 'skip')",
    "zt_components": "SELECT * FROM zt_components(?, 'skip')",
}
OF_SOUND = {
    "zt_attributes": "SELECT *, stored_type FROM zt_attributes(?)",
    "bytes": "SELECT object, component, hash, digest_status, length(stored), zt_hash(stored, 'xxh3') FROM zt_components(?, 'skip')",
    "zt_stats": "SELECT * FROM zt_stats(?)",
    "manifest": "SELECT zt_manifest(?)",
    "fingerprint": "SELECT zt_fingerprint(?)",
}
OF_SOUND["bytes"] = "SELECT object, component, hash, digest_status, length(stored), stored FROM zt_components(?, 'skip')"
OF_OBJECT = {"dense": "SELECT zt_dense(?1, ?2)", "rows": "SELECT * FROM zt_rows(?1, ?2) LIMIT 500", "elements": "SELECT position, coords, value FROM zt_elements(?1, ?2) LIMIT 500"}
# A file that is not there is told by each system in its own words
MISSING = re.compile(r"cannot open: (?:No such file or directory|404(?: \w+)?)")
# A shard named `.` is a directory here, and there a URL without a file
NAMED = {("onnx/hostile/external-directory.onnx", "zt_check")}


def attempt(db, sql, *arguments):
    try:
        return db.execute(sql, arguments).fetchall()
    except Exception as error:   # The error is what is compared
        return type(error).__name__, str(error)


def everything(db, source, prefix, golden, shown=None):
    """All that a connection says of a file, the beginning of its path (in messages, and encoded in URLs) left out."""
    found = {name: attempt(db, sql, source) for name, sql in {**TABLES, **(OF_SOUND if golden else {})}.items()}
    if golden:
        for object, in rows(db, "SELECT object FROM zt_objects(?, 'skip')", source):
            for name, sql in OF_OBJECT.items():
                found[name, object] = attempt(db, sql, source, object)
    return clean(found, prefix)


def clean(found, prefix):
    if isinstance(found, str):
        return MISSING.sub("<missing>", urllib.parse.unquote(found).replace(prefix, "")) if prefix in urllib.parse.unquote(found) else found
    if isinstance(found, dict):
        return {name: clean(value, prefix) for name, value in found.items()}
    return type(found)(clean(value, prefix) for value in found) if isinstance(found, (list, tuple)) else found


@pytest.fixture(scope="module")
def local():
    """{path: what it says}"""
    from support import open_connection
    db, known = open_connection(), {}

    def local(path):
        if path not in known:
            known[path] = everything(db, str(path), str(FORMATS) + "/", path in GOLDEN)
        return known[path]

    return local


def compare(db, local, prefix, encode=False):
    """Differences between local files and those below a prefix."""
    differences, read = [], 0
    for path in ALL:
        name = str(path.relative_to(FORMATS))
        source = prefix + (urllib.parse.quote(name) if encode else name)
        here, there = local(path), everything(db, source, prefix, path in GOLDEN)
        differences += [(name, key, here[key], there.get(key)) for key in here
                        if (name, key) not in NAMED and repr(here[key]) != repr(there.get(key))]
        read += here["zt_files"][0][10] is None
    return differences, read


def same(db, local, prefix, encode=False):
    differences, read = compare(db, local, prefix, encode)
    assert read > 400
    assert differences[:3] == [] and len(differences) == 0


def test_there_are_files_of_all_formats():
    assert len(ALL) > 1500 and len(GOLDEN) > 200
    assert {path.relative_to(FORMATS).parts[0] for path in ALL} == set(corpus.formats())


def test_http(serve, remote, local):
    server = serve(Files(formats=FORMATS))
    same(remote(server, ttl=3600), local, server.origin + "/formats/", encode=True)
    assert {request.method for request in server.log} == {"GET"}


def test_https(serve, remote, local, authority, tls, monkeypatch):
    monkeypatch.setenv("CURL_CA_BUNDLE", authority.bundle)
    server = serve(Files(formats=FORMATS), tls=tls)
    same(remote(server, ttl=3600), local, server.origin + "/formats/", encode=True)


@pytest.mark.parametrize("name", ["a b%20c", "ü?d=1", "m#.x"])
@pytest.mark.parametrize("query", ["", "?download=true.index"])
def test_files_of_data_are_named_as_their_index_is(web, remote, tmp_path, name, query):
    """A URL is percent-encoded, and may have a query; the name of a checkpoint's file of data has neither."""
    golden, sql = FORMATS / "tensorflow/golden", "SELECT object, shard, length, hash FROM zt_components(?)"
    for suffix in ("index", *(f"data-0000{i}-of-00003" for i in range(3))):
        data = (golden / f"sharded.{suffix}").read_bytes()
        web.face.put(f"/dir/{name}.{suffix}", data)
        (tmp_path / f"{name}.{suffix}").write_bytes(data)
    expected = rows(remote(web), sql, str(tmp_path / f"{name}.index"))
    assert expected[0][1] == f"{name}.data-00000-of-00003"
    assert rows(remote(web), sql, web.origin + urllib.parse.quote(f"/dir/{name}.index") + query) == expected


def fill(put):
    """Gives all files of the formats to a face: siblings, too."""
    for path in sorted(FORMATS.rglob("*")):
        if path.is_file() and path.suffix not in (".md", ".py") and not path.name.endswith(".expected.json"):
            put(str(path.relative_to(FORMATS)), path.read_bytes())


def test_s3(bucket_server, remote, local):
    fill(lambda name, data: bucket_server.bucket.put("formats/" + name, data))
    same(remote(bucket_server.server, ttl=3600), local, "s3://models/formats/")
    assert all("authorization" in request.headers for request in bucket_server.server.log)


def test_the_hub(hub_server, remote, local):
    files = {}
    fill(files.__setitem__)
    hub_server.face.repository("org/model").commit(files)
    same(remote(*hub_server.allowed, ttl=3600), local, "hf://org/model/")


def test_a_pattern_gives_the_rows_of_all_its_files(bucket_server, hub_server, remote, local):
    """A scan, which reads ahead, says the same as one file after the other."""
    files = {}
    fill(files.__setitem__)
    hub_server.face.repository("org/model").commit(files)
    for name, data in files.items():
        bucket_server.bucket.put(name, data)
    db = remote(bucket_server.server, *hub_server.allowed)
    for prefix in ("s3://models/", "hf://org/model/"):
        expected = []
        for name in sorted(files, key=str.encode):
            if (FORMATS / name) in set(ALL):
                expected += local(FORMATS / name)["zt_objects"]
        got = rows(db, "SELECT *, fingerprint FROM zt_objects(?, 'skip') WHERE path GLOB '*/golden/*' OR path GLOB '*/hostile/*'", prefix + "**/*")
        listed = {name for name in files if not any(part.startswith(".") for part in name.split("/"))}
        got = [row for row in clean(got, prefix) if FORMATS / row[0] in set(ALL)]
        expected = [row for row in expected if row[0] in listed]
        assert len(got) > 2000 and got == expected
