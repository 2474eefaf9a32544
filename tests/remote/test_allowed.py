"""What may be reached: the list, addresses, redirects. A server that is not allowed sees no request, and no connection."""
import hashlib
import json
import os
import subprocess
import sys

import pytest

from conftest import ENTRY
from files import Files
from server import Answer, Proxy
from support import EXTENSION, ROOT, failure, message, open_connection, rows, value
from test_errors import trouble
from test_listings import refused
from test_requests import safetensors

NAME = "/a/m.safetensors"


@pytest.fixture
def file(web):
    for name in (NAME, "/ab/m.safetensors", "/a b/m.safetensors", "/m.safetensors", "/b/m.safetensors"):
        web.face.put(name, safetensors())
    return web


def allowed(db, url):
    kinds = rows(db, "SELECT error_kind FROM zt_files(?)", url)
    assert kinds in ([(None,)], [("denied",)]), rows(db, "SELECT error FROM zt_files(?)", url)
    return kinds == [(None,)]


@pytest.mark.parametrize("entry, path, expected", [
    ("", NAME, True), ("/", NAME, True), ("/a/", NAME, True), ("/a", NAME, True), ("/a/m.safetensors", NAME, True), ("/a", "/ab/m.safetensors", False),
    ("/a/", "/ab/m.safetensors", False), ("/b", NAME, False), ("/a%20b/", "/a%20b/m.safetensors", True), ("/%61/", NAME, True), ("/a", "/%61/m.safetensors", True),
    ("/a", "/a/../b/m.safetensors", False), ("/a", "/a/%2e%2e/b/m.safetensors", False), ("/a", "/a/%2E./b/m.safetensors", False),
    ("/a", "/a/..%2fb/m.safetensors", False), ("/a", "/./a/m.safetensors", False), ("/a", "//a/m.safetensors", False)])
def test_a_prefix_ends_at_a_slash_and_is_compared_decoded(file, remote, entry, path, expected):
    db = remote(file.origin + entry)
    assert allowed(db, file.origin + path) == expected
    assert bool(file.log) == expected


def test_scheme_host_and_port_are_compared(file, serve, remote):
    other = serve(file.face)
    for entry in (other.origin, f"https://{file.authority}", f"http://127.0.0.2:{file.port}", "http://127.0.0.1", f"http://127.0.0.1:{file.port // 10}",
                  f"http://localhost:{file.port}", f"http://127.0.0.1.nip.invalid:{file.port}"):
        assert not allowed(remote(entry), file.origin + NAME)
    assert file.count == 0
    for entry in (file.origin.upper(), file.origin, f"* {file.origin}", f"{other.origin}  {file.origin}/a"):
        assert allowed(remote(entry), file.origin + NAME)
    for scheme in ("HTTP", "hTTp"):
        assert allowed(remote(file.origin), f"{scheme}://{file.authority}{NAME}")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0", "[::1]", "[::ffff:127.0.0.1]", "[::]", "0.0.0.0"])
def test_a_star_reaches_no_address_of_this_network(serve, remote, authority, tls, monkeypatch, host):
    monkeypatch.setenv("CURL_CA_BUNDLE", authority.bundle)
    server = serve(Files({NAME: safetensors()}), tls=tls)
    db = remote("*", timeout=3)
    (kind, error), = rows(db, "SELECT error_kind, error FROM zt_files(?)", f"https://{host}:{server.port}{NAME}")
    # ::1 is not there on each machine: then there is no connection, either
    assert kind == "denied" or (":" in host and kind == "transient"), error
    assert server.count == 0


@pytest.mark.parametrize("address", ["10.0.0.1", "192.168.0.1", "172.16.0.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "[fe80::1]", "[fd00:ec2::254]",
                                     "[ff02::1]", "[64:ff9b::7f00:1]", "255.255.255.255"])
def test_private_link_local_and_multicast_addresses(remote, address):
    assert trouble(remote("*", timeout=2), f"https://{address}/latest/meta-data.zt")[0] == "denied"


def test_http_needs_an_entry_that_says_so(remote):
    assert trouble(remote("*", timeout=2), "http://example.com/m.zt")[0] == "denied"
    assert trouble(remote("https://example.com", timeout=2), "http://example.com/m.zt")[0] == "denied"


def test_a_name_that_resolves_to_this_machine_is_an_address_of_it(file, serve, remote, tls, authority, monkeypatch):
    monkeypatch.setenv("CURL_CA_BUNDLE", authority.bundle)
    server = serve(file.face, tls=tls)
    assert trouble(remote("*"), f"https://localhost:{server.port}{NAME}")[0] == "denied"
    assert server.count == 0
    assert allowed(remote(f"https://localhost:{server.port}"), f"https://localhost:{server.port}{NAME}")


@pytest.mark.parametrize("narrowed", [False, True])
def test_a_connection_to_this_machine_is_none_for_a_star(serve, remote, tls, authority, monkeypatch, narrowed):
    """Connections are kept: one that an entry allowed must not carry what only `*` allows, on public addresses."""
    monkeypatch.setenv("CURL_CA_BUNDLE", authority.bundle)
    server = serve(Files({NAME: safetensors(), "/b/m.safetensors": safetensors()}), tls=tls)
    origin = f"https://localhost:{server.port}"
    db = remote(origin + ("" if narrowed else "/a/"), "*")
    assert allowed(db, origin + NAME)
    if narrowed:
        db.execute("SELECT zt_remote(?)", (json.dumps({"allow": ["*"]}),)).fetchall()
    for host in ("localhost", "LOCALHOST", "localhost.", "127.0.0.1", "2130706433"):
        assert not allowed(db, f"https://{host}:{server.port}/b/m.safetensors")
    assert server.paths == [NAME]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1.", "localhost", "LOCALHOST.", "a.localhost", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0", "[::1]",
                                  "[::ffff:10.0.0.1]", "169.254.169.254", "[fe80::1]"])
def test_an_address_behind_a_proxy_is_an_address(remote, monkeypatch, host):
    """A proxy resolves names. What is written as an address, or as this machine, is known without it."""
    with Proxy({}) as proxy:
        monkeypatch.setenv("https_proxy", proxy.origin)
        assert not allowed(remote("*"), f"https://{host}/latest/m.safetensors")
        assert proxy.log == []
        assert trouble(remote("*"), "https://localhostess.test/m.safetensors")[0] == "transient"
        assert len(proxy.log) == 1


@pytest.mark.parametrize("host", ["xlocalhost", "h", "..."])
def test_a_name_that_is_not_this_machines(remote, host):
    assert trouble(remote("*", timeout=2), f"https://{host}:9/m.safetensors")[0] == "transient"


def test_a_name_that_leads_to_an_address_of_this_network(serve, tls):
    """Only the connection knows the address of such a name. Nor does a connection serve that another entry allowed."""
    server = serve(Files({NAME: safetensors()}), tls=tls)
    origin = f"https://inside.test:{server.port}"
    script = """if 1:
        import json, sqlite3, sys
        extension, *urls = sys.argv[1:]
        db = sqlite3.connect(":memory:")
        db.enable_load_extension(True)
        db.execute("SELECT load_extension(?, 'sqlite3_ztensor_remote_init')", (extension,))
        print(json.dumps([db.execute("SELECT error_kind, error FROM zt_files(?)", (url,)).fetchone() for url in urls]))"""
    preloaded = " ".join([os.environ.get("LD_PRELOAD", ""), str(ROOT / "build/resolver.so")])
    for entry in ("*", f"{origin}/b/ *"):
        done = subprocess.run([sys.executable, "-c", script, EXTENSION, origin + "/b/m.safetensors", origin + NAME], check=True, timeout=60,
                              capture_output=True, text=True, env={**os.environ, "LD_PRELOAD": preloaded, "ZTENSOR_REMOTE": entry})
        (_, other), (kind, error) = json.loads(done.stdout)
        assert kind == "denied" and error.startswith(f"ztensor: {origin + NAME}: its host has an address that is not public")
        assert ("that is not public" in other) == (entry == "*")
        assert server.log == [] and server.count == (entry != "*")


def test_narrowing_only_takes_away(file, serve, remote):
    other = serve(file.face)
    db = remote(file, other)
    assert allowed(db, file.origin + NAME) and allowed(db, other.origin + NAME)
    db.execute("SELECT zt_remote(?)", (json.dumps({"allow": [file.origin + "/a/"]}),)).fetchall()
    assert allowed(db, file.origin + NAME) and not allowed(db, other.origin + NAME) and not allowed(db, file.origin + "/b/m.safetensors")
    # A list that names more is an error, or gives no more
    try:
        db.execute("SELECT zt_remote(?)", (json.dumps({"allow": [file.origin, other.origin, "*"]}),)).fetchall()
    except Exception as error:
        assert "allow" in str(error)
    assert not allowed(db, other.origin + NAME) and not allowed(db, file.origin + "/b/m.safetensors")
    db.execute("SELECT zt_remote(?)", (json.dumps({"allow": []}),)).fetchall()
    assert not allowed(db, file.origin + NAME)


def test_narrowing_has_an_end(file, remote):
    db = remote(file)
    for _ in range(63):
        db.execute("SELECT zt_remote(?)", (json.dumps({"allow": [file.origin]}),)).fetchall()
    assert message(db, "SELECT zt_remote(?)", json.dumps({"allow": [file.origin]})) == "ztensor: what may be reached was narrowed 63 times already"
    assert allowed(db, file.origin + NAME)


def test_the_list_is_read_when_the_entry_point_is_called(file, remote, monkeypatch):
    db = remote(file)
    monkeypatch.setenv("ZTENSOR_REMOTE", "*")
    assert allowed(db, file.origin + NAME)
    db = remote("https://elsewhere.test")
    monkeypatch.setenv("ZTENSOR_REMOTE", file.origin)
    assert not allowed(db, file.origin + NAME)


@pytest.mark.parametrize("list", ["ftp://host", "host", "https://", "https://user@host", "https://u:p@host/", "s3:", "https://host/a?b", "**"])
def test_an_entry_that_is_none_is_an_error_of_the_entry_point(monkeypatch, list):
    monkeypatch.setenv("ZTENSOR_REMOTE", list)
    with pytest.raises(Exception, match="ZTENSOR_REMOTE|allow|entry"):
        open_connection(entry=ENTRY)


def test_a_user_in_a_url_is_refused(file, remote):
    url = f"http://user:secret@{file.authority}{NAME}"
    (kind, error), = rows(remote(file), "SELECT error_kind, error FROM zt_files(?)", url)
    assert kind == "denied" and "secret" not in error
    assert file.count == 0


def test_an_entry_of_s3_allows_names_through_their_endpoint(bucket_server, remote):
    for key in ("public/m.safetensors", "private/m.safetensors"):
        bucket_server.bucket.put(key, safetensors())
    # The endpoint is an address of this machine, which only an entry of its own allows
    assert not allowed(remote("s3://models/public/"), "s3://models/public/m.safetensors")
    assert bucket_server.server.count == 0
    assert allowed(remote(bucket_server.server), "s3://models/private/m.safetensors")
    # In path style the endpoint's own paths are those of buckets and keys
    db = remote(f"{bucket_server.origin}/models/public/")
    assert allowed(db, "s3://models/public/m.safetensors") and not allowed(db, "s3://models/private/m.safetensors")
    bucket_server.server.log.clear()
    for source in ("s3://models/private/*", "s3://models/*", "s3://other/public/*"):
        refused(db, source)
    assert bucket_server.server.log == []


def test_entries_of_names_at_amazons_own_hosts(serve, remote, authority, tls, monkeypatch):
    import s3 as s3_face
    face = s3_face.S3()
    face.suffix = ".s3.us-east-1.amazonaws.com"
    face.bucket("models").public = True
    for key in ("public/m.safetensors", "public/n.safetensors", "private/m.safetensors", "publican.safetensors"):
        face.bucket("models").put(key, safetensors())
    server = serve(face, tls=tls)
    monkeypatch.setenv("AWS_CA_BUNDLE", authority.bundle)
    with Proxy({"models.s3.us-east-1.amazonaws.com:443": server, "other.s3.us-east-1.amazonaws.com:443": server}) as proxy:
        monkeypatch.setenv("https_proxy", proxy.origin)
        for entry in ("s3://models/public/", "s3://models/public"):
            db = remote(entry)
            assert allowed(db, "s3://models/public/m.safetensors")
            assert len(rows(db, "SELECT path FROM zt_files('s3://models/public/*')")) == 2
            server.log.clear()
            for name in ("private/m.safetensors", "publican.safetensors"):
                assert not allowed(db, "s3://models/" + name)
            assert not allowed(db, "s3://other/public/m.safetensors")
            for source in ("s3://models/private/*", "s3://models/*", "s3://models/**/m.safetensors", "s3://other/public/*"):
                refused(db, source)
            assert server.log == []
        assert allowed(remote("https://models.s3.us-east-1.amazonaws.com"), "s3://models/private/m.safetensors")
        assert allowed(remote("*"), "s3://models/private/m.safetensors")


# ---- Redirects

def redirect(to, status=302):
    return Answer(status, {"Location": to})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_followed(file, serve, remote, status):
    other = serve(Files({"/there.safetensors": safetensors("there")}))
    file.when("/from", redirect(other.origin + "/there.safetensors", status))
    db = remote(file, other)
    url = file.origin + "/from.safetensors"
    # path is the source as it was named
    assert rows(db, "SELECT path, object FROM zt_objects(?)", url) == [(url, "there")]
    file.when("/relative", redirect("../a/m.safetensors", status))
    assert rows(db, "SELECT object FROM zt_objects(?)", file.origin + "/x/relative.safetensors") == [("w",)]


def test_five_redirects_and_no_more(file, remote):
    for i in range(9):
        file.when(f"/{i}.safetensors", redirect(f"/{i + 1}.safetensors" if i < 8 else NAME))
    db = remote(file, retries=3)
    file.rules[4][1] = redirect(NAME)
    assert allowed(db, file.origin + "/0.safetensors")
    file.rules[4][1] = redirect("/5.safetensors")
    file.rules[5][1] = redirect(NAME)
    file.log.clear()
    # Another connection, which has not seen where it leads
    assert trouble(remote(file, retries=3), file.origin + "/0.safetensors")[0] == "denied"
    assert len(file.log) == 6


def test_a_redirect_in_a_circle(file, remote):
    file.when("/loop", redirect("/loop.safetensors"))
    db = remote(file, retries=3)
    assert trouble(db, file.origin + "/loop.safetensors")[0] == "denied"
    assert len(file.log) == 6


@pytest.mark.parametrize("to", ["file:///etc/passwd", "ftp://127.0.0.1/x", "gopher://127.0.0.1:70/_x", "data:,x", "javascript:1", "s3://models/x", "dict://x/", "//",
                                "http:///x", "", "\\\\host\\x", "ldap://x/", "scp://x/y"])
def test_a_redirect_to_another_scheme_is_refused(file, remote, to):
    file.when("/from", redirect(to))
    kind, _ = trouble(remote(file), file.origin + "/from.safetensors")
    assert kind == "denied" or (kind in ("transient", "missing") and to in ("", "\\\\host\\x"))
    assert len(file.log) <= 6


@pytest.mark.parametrize("to", ["ftp://127.0.0.1/x", "http:///x", "http://user:secret@127.0.0.1/x"])
def test_why_a_redirect_is_refused(file, remote, to):
    file.when("/from", redirect(to))
    _, text = trouble(remote(file), file.origin + "/from.safetensors")
    assert text == "a redirect to a URL of another scheme, without a host, or with a password"


def test_a_redirect_without_a_place(file, remote):
    file.when("/from", Answer(302))
    assert trouble(remote(file), file.origin + "/from.safetensors")[0] in ("denied", "transient")


def test_a_redirect_to_a_place_that_is_not_allowed(file, serve, remote):
    other = serve(Files({NAME: safetensors()}))
    db = remote(file.origin + "/a/", retries=2)
    for to in (other.origin + NAME, f"http://127.0.0.2:{other.port}{NAME}", f"http://localhost:{other.port}{NAME}", file.origin + "/b/m.safetensors",
               f"{file.origin}/a/../b/m.safetensors", f"{file.origin}/a/%2e%2e/b/m.safetensors", f"http://user:p@{file.authority}{NAME}",
               f"http://{file.authority}@{other.authority}{NAME}", "http://169.254.169.254/latest/", f"//{other.authority}{NAME}"):
        file.forget()
        file.when("/a/from", redirect(to))
        assert trouble(db, file.origin + "/a/from.safetensors")[0] == "denied", to
        assert len(file.log) == 1
    assert other.count == 0


def test_never_from_https_to_http(serve, file, remote, tls, authority, monkeypatch):
    monkeypatch.setenv("CURL_CA_BUNDLE", authority.bundle)
    secure = serve(Files(), tls=tls)
    secure.when("/from", redirect(file.origin + NAME))
    kind, text = trouble(remote(secure, file), secure.origin + "/from.safetensors")
    assert (kind, text) == ("denied", "a redirect to another scheme than https")
    assert file.count == 0
    file.when("/from", redirect(secure.origin + "/there.safetensors"))
    secure.face.put("/there.safetensors", safetensors())
    assert allowed(remote(secure, file), file.origin + "/from.safetensors")


@pytest.mark.parametrize("then, last", [
    (redirect("/two.safetensors"), "/two.safetensors"), (None, "/from.safetensors"), (Answer(404), None)], ids=["elsewhere", "here", "nowhere"])
def test_where_a_redirect_led_may_be_gone(file, serve, remote, then, last):
    """The source's own URL is then asked for again."""
    data = safetensors(count=300_000)
    other = serve(Files({"/one.safetensors": data}))
    for name in ("/two.safetensors", "/from.safetensors"):
        file.face.put(name, data)
    file.when("/from", redirect(other.origin + "/one.safetensors"), times=1)
    file.when("/from", then) if then else None
    other.when("/one", Answer(404), after=1)
    statement, url = "SELECT zt_hash(?, 'w', 'sha256')", file.origin + "/from.safetensors"
    if last:
        assert value(remote(file, other), statement, url) == "sha256:" + hashlib.sha256(data[-300_000:]).hexdigest()
        assert file.paths[-1] == last
    else:
        assert message(remote(file, other), statement, url).endswith("cannot read: 404")


def test_where_a_redirect_led_may_lead_on_to_nothing(file, serve, remote):
    other = serve(Files({"/one.safetensors": safetensors(count=300_000)}))
    file.when("/from", redirect(other.origin + "/one.safetensors"))
    other.when("/one", redirect("/nowhere"), after=1)
    assert message(remote(file, other), "SELECT zt_hash(?, 'w', 'sha256')", file.origin + "/from.safetensors").endswith("cannot read: 404")


def test_a_redirect_amid_the_values_is_checked_again(file, serve, remote):
    other = serve(Files({NAME: safetensors(count=3_000_000)}))
    file.face.put(NAME, safetensors(count=3_000_000))
    file.when(NAME, redirect(other.origin + NAME), after=1)
    assert file.url(NAME) in message(remote(file), "SELECT zt_hash(?, 'w', 'sha256')", file.url(NAME))
    assert other.count == 0


def test_the_hubs_own_stores(serve, remote, authority, tls, monkeypatch):
    """Behind a proxy, by their names: huggingface.co redirects to *.hf.co, and to no other."""
    from hub import Hub
    monkeypatch.setenv("SSL_CERT_FILE", authority.bundle)
    face = Hub()
    face.scheme = "https"
    face.repository("org/model").commit({"m.safetensors": safetensors("large", count=1000)})
    hub, store = serve(face, tls=tls), serve(face.store, tls=tls)
    servers = {"huggingface.co:443": hub, "cdn-lfs.hf.co:443": store, "cas-bridge.xethub.hf.co:443": store, "other.test:443": store, "evilhf.co:443": store}
    with Proxy(servers) as proxy:
        monkeypatch.setenv("https_proxy", proxy.origin)
        for entry in ("hf://org/", "https://huggingface.co", "*"):
            face.store_origin = "https://cdn-lfs.hf.co"
            assert allowed(remote(entry), "hf://org/model/m.safetensors")
        store.log.clear()
        for elsewhere in ("https://other.test", "https://evilhf.co", "http://cdn-lfs.hf.co"):
            face.store_origin = elsewhere
            assert not allowed(remote("hf://org/"), "hf://org/model/m.safetensors")
        assert not allowed(remote("hf://other/"), "hf://org/model/m.safetensors")
        assert store.log == []
        assert not [r for r in hub.log if "cdn" in r.headers["host"]]


def test_shards_stay_below_the_files_directory(web, serve, remote, monkeypatch):
    """External data of ONNX: its place is told by the file, which a stranger made."""
    from test_onnx import beside
    other = serve(Files({"/x.bin": b"x" * 64}))
    places = ("x.bin", "a b%.bin", "../y.bin", "/y.bin", other.origin + "/x.bin", "sub/../../y.bin", "s3://models/y.bin", "//127.0.0.1/y.bin",
              "\\\\host\\y.bin")
    for i, place in enumerate(places):
        web.face.put(f"/dir/{i}.onnx", beside(place))
        rows(remote(web), "SELECT path, object, hash FROM zt_components(?, 'skip')", web.url(f"/dir/{i}.onnx"))
    below = ("x.bin", "a b%.bin", other.origin.replace("//", "/") + "/x.bin", "s3:/models/y.bin", "\\\\host\\y.bin")
    assert {r.path for r in web.log if not r.path.endswith(".onnx")} == {f"/dir/{name}" for name in below}
    assert other.count == 0


def test_a_local_file_leads_to_no_network(web, remote, tmp_path):
    from test_onnx import beside
    for place in (web.origin + "/x.bin", "s3://models/x.bin", "//127.0.0.1/x.bin"):
        (tmp_path / "m.onnx").write_bytes(beside(place))
        rows(remote(web), "SELECT path, object, hash FROM zt_components(?, 'skip')", str(tmp_path / "m.onnx"))
    assert web.count == 0
