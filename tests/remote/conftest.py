"""Fixtures: servers on loopback, the four faces, and connections that may reach them."""
import json
import os
from types import SimpleNamespace

import pytest

from support import ROOT, open_connection   # First: it knows where the formats' own modules are
import certificates
import s3 as s3_face
from files import Files
from hub import Hub
from s3 import S3
from server import Server

ENTRY = "sqlite3_ztensor_remote_init"
FORMATS = ROOT / "tests" / "formats"
OF_THE_USER = ("AWS_", "HF_", "HUGGING", "ZTENSOR_REMOTE", "CURL_", "SSL_CERT", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
               "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@pytest.fixture(autouse=True)
def environment(monkeypatch, tmp_path):
    """No setting of the user's: no key, token, proxy or endpoint, and a home that is empty."""
    for name in list(os.environ):
        if name.startswith(OF_THE_USER):
            monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    """The certificate authority of this run."""
    return certificates.Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def tls(authority):
    """A server's TLS with a certificate for the names of these tests."""
    return authority.context()


@pytest.fixture
def serve():
    """serve(face, ...): a Server, closed after the test."""
    servers = []

    def serve(face, **options):
        servers.append(Server(face, **options))
        return servers[-1]

    yield serve
    for server in servers:
        server.close()


@pytest.fixture
def web(serve):
    """A plain web server with no file; web.face.put(path, data) adds one."""
    return serve(Files())


@pytest.fixture
def remote(monkeypatch):
    """remote(servers or entries ..., **settings): a connection that may reach these, with settings of zt_remote()."""
    opened = []

    def remote(*allowed, database=":memory:", **settings):
        entries = [one.origin if hasattr(one, "origin") else one for one in allowed]
        monkeypatch.setenv("ZTENSOR_REMOTE", " ".join(entries))
        opened.append(open_connection(database, entry=ENTRY))
        # Seconds are left to tests that are about them
        settings = {"timeout": 10, "retries": 0, **settings}
        opened[-1].execute("SELECT zt_remote(?)", (json.dumps(settings),)).fetchall()
        return opened[-1]

    yield remote
    for db in opened:
        db.close()


@pytest.fixture
def bucket_server(serve, monkeypatch):
    """S3 with one bucket, `models`, whose keys are in the environment: .server, .face, .bucket."""
    face = S3()
    server = serve(face)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", server.origin)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_face.ACCESS)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_face.SECRET)
    return SimpleNamespace(server=server, face=face, bucket=face.bucket("models"), origin=server.origin)


@pytest.fixture
def hub_server(serve, monkeypatch):
    """The hub, and the store that it redirects to, which is another origin: .server, .store, .face, .origin; .allowed has
    both."""
    face = Hub()
    server, store = serve(face), serve(face.store)
    face.store_origin = store.origin
    monkeypatch.setenv("HF_ENDPOINT", server.origin)
    return SimpleNamespace(server=server, store=store, face=face, origin=server.origin, allowed=(server, store))
