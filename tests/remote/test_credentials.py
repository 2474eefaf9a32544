"""Keys and tokens: from where they come, to which place they go, and where they never are."""
import json
import sqlite3

import pytest

import s3 as s3_face
from files import Files
from hub import TOKEN
from server import Answer, Proxy
from support import rows, value
from test_requests import safetensors

KEY, SECRET, SESSION = "AKIDOTHEROTHER", "another/secret+of=tests", "a-session-token-of-tests"


@pytest.fixture
def bare(bucket_server, monkeypatch):
    """S3 with a file, the endpoint being known, and no key."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    bucket_server.bucket.put("m.zt", safetensors())
    return bucket_server


def reads(db, source="s3://models/m.zt"):
    (error, kind), = rows(db, "SELECT error, error_kind FROM zt_files(?)", source)
    assert kind in (None, "denied") or "InvalidToken" in error, error
    return kind is None


def test_of_the_environment(bare, remote, monkeypatch):
    assert not reads(remote(bare.server))
    assert "authorization" not in bare.server.log[-1].headers
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_face.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_face.SECRET)
    assert reads(remote(bare.server))
    bare.face.keys = {s3_face.ACCESS: (s3_face.SECRET, SESSION)}
    assert not reads(remote(bare.server))
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)
    assert reads(remote(bare.server))


def test_of_files(bare, remote, monkeypatch, environment, tmp_path):
    directory = environment / ".aws"
    directory.mkdir()
    (directory / "credentials").write_text(f"""# keys
[default]
aws_access_key_id = {s3_face.ACCESS}
aws_secret_access_key={s3_face.SECRET}

[ other ]
aws_access_key_id = {KEY}
aws_secret_access_key = {SECRET}
aws_session_token = {SESSION}
""")
    (directory / "config").write_text("[default]\nregion = eu-west-1\n[profile other]\nregion = us-west-2\n")
    bare.face.keys = {s3_face.ACCESS: (s3_face.SECRET, None), KEY: (SECRET, SESSION)}
    for profile, region in ((None, "eu-west-1"), ("other", "us-west-2")):
        if profile:
            monkeypatch.setenv("AWS_PROFILE", profile)
        bare.bucket.region = region
        bare.server.log.clear()
        assert reads(remote(bare.server)), profile
        assert {r.status for r in bare.server.log} == {206}
    monkeypatch.setenv("AWS_PROFILE", "none")
    assert not reads(remote(bare.server))
    monkeypatch.delenv("AWS_PROFILE")
    bare.bucket.region = "us-east-1"
    for name in ("credentials", "config"):
        (directory / name).rename(tmp_path / name)
    assert not reads(remote(bare.server))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    assert reads(remote(bare.server))
    monkeypatch.delenv("AWS_SHARED_CREDENTIALS_FILE")
    (tmp_path / "config").write_text(f"[default]\naws_access_key_id = {s3_face.ACCESS}\naws_secret_access_key = {s3_face.SECRET}\nendpoint_url = {bare.origin}\n")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3")
    assert reads(remote(bare.server))


def test_unsigned(bare, remote, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_face.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
    bare.bucket.public = True
    assert not reads(remote(bare.server))
    for value in ("YES", "true", "1"):
        monkeypatch.setenv("AWS_NO_SIGN_REQUEST", value)
        assert reads(remote(bare.server)), value
    monkeypatch.setenv("AWS_NO_SIGN_REQUEST", "no")
    assert not reads(remote(bare.server))


@pytest.mark.parametrize("environment_has", [{"AWS_ACCESS_KEY_ID": KEY}, {"AWS_SECRET_ACCESS_KEY": SECRET}, {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": SECRET}])
@pytest.mark.parametrize("profile", ["aws_access_key_id = x", "aws_secret_access_key = x"])
def test_half_a_key_is_none(bare, remote, monkeypatch, environment, environment_has, profile):
    bare.bucket.public = True
    (environment / ".aws").mkdir()
    (environment / ".aws/credentials").write_text(f"[default]\n{profile}\n")
    for name, text in environment_has.items():
        monkeypatch.setenv(name, text)
    assert reads(remote(bare.server))
    assert "authorization" not in bare.server.log[-1].headers


def test_the_requester_pays(bucket_server, remote, monkeypatch):
    bucket_server.bucket.put("m.zt", safetensors())
    bucket_server.bucket.requester_pays = True
    assert not reads(remote(bucket_server.server))
    monkeypatch.setenv("AWS_REQUEST_PAYER", "another")
    assert not reads(remote(bucket_server.server))
    monkeypatch.setenv("AWS_REQUEST_PAYER", "requester")
    assert reads(remote(bucket_server.server)) and len(rows(remote(bucket_server.server), "SELECT path FROM zt_files('s3://models/*')")) == 1


def test_endpoints(bucket_server, serve, remote, monkeypatch):
    bucket_server.bucket.put("m.zt", safetensors())
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    assert reads(remote(bucket_server.server))     # That of S3 comes first
    monkeypatch.delenv("AWS_ENDPOINT_URL_S3")
    monkeypatch.setenv("AWS_ENDPOINT_URL", bucket_server.origin + "/")
    assert reads(remote(bucket_server.server))


@pytest.mark.parametrize("bucket, region, host", [
    ("models", "cn-north-1", "models.s3.cn-north-1.amazonaws.com.cn"), ("my.models", "us-east-1", "s3.us-east-1.amazonaws.com"),
    ("my.models", "cn-north-1", "s3.cn-north-1.amazonaws.com.cn")])
def test_names_of_amazons_hosts(remote, monkeypatch, bucket, region, host):
    """A bucket with a dot is in the path: no certificate has its name."""
    monkeypatch.setenv("AWS_REGION", region)
    with Proxy({}) as proxy:
        monkeypatch.setenv("https_proxy", proxy.origin)
        assert rows(remote("*"), "SELECT error_kind FROM zt_files(?)", f"s3://{bucket}/m.zt") == [("transient",)]
        assert {r.target for r in proxy.log} == {host + ":443"}


@pytest.mark.parametrize("name, text, error", [
    ("AWS_REGION", "US EAST", "AWS_REGION is no region"), ("AWS_ENDPOINT_URL_S3", "///", "the URL is not of http or https"),
    ("AWS_ENDPOINT_URL_S3", "http://user@host", "a URL with a user or a password is not used")])
@pytest.mark.parametrize("signed", [True, False])
def test_settings_of_s3_that_are_none(bucket_server, remote, monkeypatch, name, text, error, signed):
    monkeypatch.setenv(name, text)
    if not signed:
        monkeypatch.setenv("AWS_NO_SIGN_REQUEST", "1")
    assert rows(remote("*"), "SELECT error_kind, error FROM zt_files('s3://models/m.zt')") == [("denied", f"ztensor: s3://models/m.zt: {error}")]


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-1"])
def test_amazons_own_hosts(serve, remote, authority, tls, monkeypatch, region):
    """Without an endpoint: a bucket a host, by https, with the CA of AWS_CA_BUNDLE."""
    face = s3_face.S3()
    face.suffix = f".s3.{region}.amazonaws.com"
    face.bucket("models").region = region
    for key in ("m.zt", "d/a b+c.zt"):
        face.bucket("models").put(key, safetensors())
    server = serve(face, tls=tls)
    monkeypatch.setenv("AWS_CA_BUNDLE", authority.bundle)
    monkeypatch.setenv("AWS_REGION", region)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_face.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_face.SECRET)
    with Proxy({f"models.s3.{region}.amazonaws.com:443": server}) as proxy:
        monkeypatch.setenv("https_proxy", proxy.origin)
        db = remote("s3://models")
        assert rows(db, "SELECT path, objects FROM zt_files('s3://models/**/*.zt')") == [("s3://models/d/a b+c.zt", 1), ("s3://models/m.zt", 1)]
        assert {r.target for r in proxy.log} == {f"models.s3.{region}.amazonaws.com:443"}


def test_the_hubs_token(hub_server, remote, monkeypatch, environment, tmp_path):
    repository = hub_server.face.repository("org/model")
    repository.commit({"m.zt": safetensors(count=1000)})
    repository.private = True
    url = "hf://org/model/m.zt"

    def kind():
        (kind,), = rows(remote(*hub_server.allowed), "SELECT error_kind FROM zt_files(?)", url)
        return kind

    assert kind() == "missing"
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert kind() is None
    monkeypatch.delenv("HF_TOKEN")
    for path, name in ((environment / ".cache/huggingface/token", None), (tmp_path / "hf/token", "HF_HOME"), (tmp_path / "own", "HF_TOKEN_PATH")):
        assert kind() == "missing"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TOKEN + "\n")
        if name:
            monkeypatch.setenv(name, str(path.parent if name == "HF_HOME" else path))
        assert kind() is None, path
        path.unlink()
        if name:
            monkeypatch.delenv(name)
    # Variables without a text, a file without a token, and no home
    for name in ("HF_TOKEN", "HF_TOKEN_PATH", "HF_HOME"):
        monkeypatch.setenv(name, "")
    (environment / ".cache/huggingface/token").write_text(TOKEN)
    assert kind() is None
    (environment / ".cache/huggingface/token").write_text("\n")
    assert kind() == "missing" and "authorization" not in hub_server.server.log[-1].headers
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    assert kind() in ("denied", "missing")


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SESSION_TOKEN"])
def test_a_key_that_no_header_can_have(bucket_server, remote, monkeypatch, name):
    monkeypatch.setenv(name, "AKID\r\nX-Other: 1")
    assert rows(remote(bucket_server.server), "SELECT error_kind, error FROM zt_files('s3://models/m.zt')") == [
        ("denied", "ztensor: s3://models/m.zt: a credential that no header can have")]
    assert bucket_server.server.log == []


def test_a_token_that_no_header_can_have(hub_server, remote, monkeypatch):
    """It could end the header, and add another one."""
    hub_server.face.repository("org/model").commit({"m.zt": safetensors()})
    monkeypatch.setenv("HF_TOKEN", TOKEN + "\r\nX-Other: 1")
    assert rows(remote(*hub_server.allowed), "SELECT error_kind, error FROM zt_files('hf://org/model/m.zt')") == [
        ("denied", "ztensor: hf://org/model/m.zt: a credential that no header can have")]
    assert hub_server.server.log == []


@pytest.mark.parametrize("endpoint, expected", [("", "huggingface.co"), ("http://127.0.0.1:9//", "127.0.0.1:9"), ("///", None), ("ftp://host", None)])
def test_the_hubs_endpoint(remote, monkeypatch, endpoint, expected):
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    db = remote("https://none.test")
    if expected:
        assert value(db, "SELECT zt_endpoint('hf://org/model/m.zt')") == expected
    else:
        with pytest.raises(sqlite3.Error, match="the URL is not of http or https"):
            value(db, "SELECT zt_endpoint('hf://org/model/m.zt')")
    assert value(db, "SELECT zt_endpoint('xy://org/model/m.zt')") is None


def test_no_credential_at_another_host(hub_server, bucket_server, web, remote, monkeypatch):
    hub_server.face.repository("org/model").commit({"m.zt": safetensors(count=3_000_000)})
    bucket_server.bucket.put("m.zt", safetensors())
    web.face.put("/m.zt", safetensors())
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    # S3 redirects to another place, too
    bucket_server.bucket.put("moved.zt", safetensors())
    bucket_server.server.when("moved", Answer(307, {"Location": web.origin + "/m.zt"}))
    db = remote(*hub_server.allowed, bucket_server.server, web)
    for url in ("hf://org/model/m.zt", "s3://models/m.zt", "s3://models/moved.zt", web.origin + "/m.zt"):
        rows(db, "SELECT object, hash FROM zt_components(?, 'skip')", url)
        rows(db, "SELECT * FROM zt_files(?)", url)
    assert hub_server.store.log and all("authorization" not in r.headers and "cookie" not in r.headers for r in hub_server.store.log)
    assert hub_server.server.log and all(r.headers["authorization"] == f"Bearer {TOKEN}" for r in hub_server.server.log)
    assert all(not any(name.startswith(("x-amz", "authorization", "cookie")) for name in r.headers) for r in web.log)
    assert all(TOKEN not in json.dumps(r.headers) for r in bucket_server.server.log)


def test_neither_netrc_nor_cookies_nor_a_referer(web, remote, environment):
    (environment / ".netrc").write_text("machine 127.0.0.1 login user password secret\ndefault login user password secret\n")
    (environment / ".netrc").chmod(0o600)
    web.face.put("/m.zt", safetensors(), headers={"Set-Cookie": "a=b"})
    db = remote(web, ttl=0)
    for _ in range(2):
        rows(db, "SELECT * FROM zt_files(?)", web.origin + "/m.zt")
    web.when("/from", Answer(302, {"Location": "/m.zt", "Set-Cookie": "c=d"}))
    rows(db, "SELECT * FROM zt_files(?)", web.origin + "/from?signed=secret")
    assert not {"authorization", "cookie", "referer"} & {name for r in web.log for name in r.headers}


def test_no_credential_in_a_row_an_error_or_a_setting(hub_server, bucket_server, web, remote, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION)     # Which the server does not know: all is an error
    hub_server.face.repository("org/model").commit({"m.zt": safetensors(count=1000)})
    bucket_server.bucket.put("m.zt", safetensors())
    hub_server.store.when("", Answer(403, {"Content-Type": "application/xml"}, f"<Error><Code>{TOKEN}</Code></Error>".encode()))
    web.when("/m.zt", Answer(404))
    db = remote(*hub_server.allowed, bucket_server.server, web)
    said = []
    signed = web.origin + "/m.zt?X-Amz-Signature=aSignatureOfAURL"
    for source in ("hf://org/model/m.zt", "s3://models/m.zt", "s3://models/*.zt", "hf://org/none/*", signed):
        for sql in ("SELECT * FROM zt_files(?)", "SELECT * FROM zt_objects(?)", "SELECT * FROM zt_check(?)", "SELECT zt_manifest(?)", "SELECT zt_blob(?, 'w')"):
            try:
                said.append([column for row in db.execute(sql, (source,)) for column in row if column != signed])
            except sqlite3.Error as error:
                said.append(str(error))
    said += [value(db, "SELECT zt_remote()"), value(db, "SELECT zt_version()")]
    text = repr(said)
    for secret in (TOKEN, SESSION, s3_face.SECRET, s3_face.ACCESS, "aSignatureOfAURL", "aSignatureOfTheStore", "Authorization", "Bearer"):
        assert secret not in text, secret


def test_a_plain_proxy(web, remote, monkeypatch):
    web.face.put("/m.zt", safetensors())
    with Proxy({"models.test": web}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.origin)
        assert reads(remote("http://models.test"), "http://models.test/m.zt")
        assert proxy.log and {(r.target, r.headers["host"]) for r in proxy.log} == {("/m.zt", "models.test")}
        # Names are checked, which the proxy resolves
        assert not reads(remote("http://other.test"), "http://models.test/m.zt")
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        web.log.clear()
        before = len(proxy.log)
        assert reads(remote(web), web.origin + "/m.zt") and len(proxy.log) == before


@pytest.mark.parametrize("entries, exempt", [
    ("*", True), ("127.0.0.1", True), ("0.0.1", True), (".0.0.1", True), ("other, 0.0.1", True), ("7.0.0.1", False), ("1.127.0.0.1", False), ("127.0.0.2", False),
    (".", False), ("other,127, ", False), ("", False)])
@pytest.mark.parametrize("variable", ["no_proxy", "NO_PROXY"])
def test_hosts_that_need_no_proxy(web, remote, monkeypatch, entries, exempt, variable):
    web.face.put("/m.zt", safetensors())
    with Proxy({web.authority: web}) as proxy:
        monkeypatch.setenv("http_proxy", proxy.origin)
        monkeypatch.setenv(variable, entries)
        assert reads(remote(web), web.origin + "/m.zt")
        assert (proxy.log == []) == exempt
