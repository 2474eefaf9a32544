"""S3 by servers that this project did not write, moto and versitygw, and the signatures of Amazon's own client at the face of tests/remote."""
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "tests" / "remote"), str(ROOT / "tests" / "sql")]
import corpus
import s3
from server import Server
from support import open_connection, rows, value
from test_same import everything

PYTHON = ROOT / "build" / "interop" / "moto" / "bin" / "python"
GATEWAY = ROOT / "build" / "interop" / "gateway" / "versitygw"
ENTRY = "sqlite3_ztensor_remote_init"
ODD = ["a b", "a+b", "ü/日本", "%41", "a&b=c", "~", "'q", "(x)", "a,b;c:d@e"]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The golden files of all formats, and 2,100 small ones."""
    directory = tmp_path_factory.mktemp("served") / "models"
    for format in corpus.formats():
        shutil.copytree(corpus.FORMATS / format / "golden", directory / format / "golden", ignore=shutil.ignore_patterns("*.json", "*.md"))
    sound = (corpus.FORMATS / "gguf" / "converted" / "model.safetensors").read_bytes()
    for key in [*(f"many/{i:04}.safetensors" for i in range(2100)), *(f"odd/{key}.safetensors" for key in ODD)]:
        (directory / key).parent.mkdir(parents=True, exist_ok=True)
        (directory / key).write_bytes(sound)
    return directory


def moto(files):
    """Amazon's API as moto simulates it: a process, and its origin."""
    server = subprocess.Popen([PYTHON, ROOT / "tests" / "interop" / "serve_s3.py", files], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()


def versitygw(files):
    """A gateway to the directory itself, which verifies signatures. Its files have no tags, since they were not uploaded."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen([GATEWAY, "--quiet", "--access", s3.ACCESS, "--secret", s3.SECRET, "--port", f"127.0.0.1:{port}", "posix", files.parent],
                              stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            time.sleep(0.1)
    return server, f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module", params=[moto, versitygw], ids=lambda start: start.__name__)
def db(request, files):
    server, origin = request.param(files)
    before = dict(os.environ)
    os.environ.update(AWS_ENDPOINT_URL=origin, AWS_ACCESS_KEY_ID=s3.ACCESS, AWS_SECRET_ACCESS_KEY=s3.SECRET, AWS_REGION="us-east-1", ZTENSOR_REMOTE=origin)
    db = open_connection(entry=ENTRY)
    yield db
    db.close()
    os.environ.clear()
    os.environ.update(before)
    server.kill()
    server.wait()


def test_every_golden_file_says_the_same(db, files):
    local, count = open_connection(), 0
    for format in corpus.formats():
        for name, path, _ in corpus.golden(format):
            key = path.relative_to(corpus.FORMATS)
            if (files / key).exists():
                here = everything(local, str(files / key), str(files) + "/", True)
                assert repr(everything(db, f"s3://models/{key}", "s3://models/", True)) == repr(here), key
                count += 1
    assert count > 200
    local.close()


def test_listings(db):
    listed = rows(db, "SELECT path, size, etag FROM zt_files('s3://models/many/')")
    assert [path for path, _, _ in listed] == [f"s3://models/many/{i:04}.safetensors" for i in range(2100)]
    assert len({(size, etag) for _, size, etag in listed}) == 1
    assert value(db, "SELECT etag FROM zt_files('s3://models/many/0000.safetensors')") == listed[0][2]
    assert value(db, "SELECT count(*) FROM zt_objects('s3://models/many/*')") == 2100 * 3


@pytest.mark.parametrize("key", ODD)
def test_odd_keys(db, key):
    path = f"s3://models/odd/{key}.safetensors"
    assert rows(db, "SELECT path, objects FROM zt_files(?)", path) == [(path, 3)]
    assert path in [path for path, in rows(db, "SELECT path FROM zt_files('s3://models/odd/**/*')")]


def test_what_is_missing(db):
    for path, word in (("s3://models/none.zt", "NoSuchKey"), ("s3://nothing/none.zt", "NoSuchBucket")):
        (kind, error), = rows(db, "SELECT error_kind, error FROM zt_files(?)", path)
        assert kind == "missing" and word in error


CLIENT = """
import sys
import boto3
from botocore.config import Config
origin, access, secret = sys.argv[1:4]
client = boto3.client("s3", endpoint_url=origin, aws_access_key_id=access, aws_secret_access_key=secret, region_name="us-east-1",
                      config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 1}))
for key in sys.argv[4:]:
    assert client.get_object(Bucket="models", Key=key)["Body"].read() == key.encode(), key
print([item["Key"] for page in client.get_paginator("list_objects_v2").paginate(Bucket="models") for item in page["Contents"]])
"""


def test_amazons_client_agrees_with_the_face_of_the_tests():
    """It signs, and the face verifies: so what the face takes from this extension is right, too."""
    face = s3.S3()
    keys = [*ODD, "a//b", "a/../b", "x?y", "x#y", "*[z]", "e ", "&amp;<x>"]
    for key in keys:
        face.bucket("models").put(key, key.encode())
    with Server(face) as server:
        done = subprocess.run([PYTHON, "-c", CLIENT, server.origin, s3.ACCESS, s3.SECRET, *keys], capture_output=True, text=True, timeout=120)
        assert (done.returncode, done.stdout) == (0, f"{sorted(keys, key=str.encode)}\n"), done.stderr
        done = subprocess.run([PYTHON, "-c", CLIENT, server.origin, s3.ACCESS, "another", *keys], capture_output=True, text=True, timeout=120)
        assert done.returncode != 0 and "SignatureDoesNotMatch" in done.stderr
