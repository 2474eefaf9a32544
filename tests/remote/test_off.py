"""Without the entry point of remote sources nothing is sent, and libcurl is not loaded."""
import os
import subprocess
import sys

import pytest

from conftest import ENTRY
from support import EXTENSION, open_connection, rows, value
from test_requests import safetensors

PLAIN, NOFS = "sqlite3_ztensor_init", "sqlite3_ztensor_nofs_init"

SCRIPT = """
import sqlite3, sys
extension, entry, *statements = sys.argv[1:]
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.execute("SELECT load_extension(?, ?)", (extension, entry)).fetchall()
for sql in statements:
    try:
        print(db.execute(sql).fetchall())
    except sqlite3.Error as error:
        print(error)
maps = open("/proc/self/maps").read()
print("curl" in maps, "libz" in maps or "ztensor" in maps)
print([row for row in open("/proc/self/net/tcp")][:0], len([d for d in __import__("os").listdir("/proc/self/fd")]) < 20)
"""


@pytest.mark.parametrize("entry", [PLAIN, NOFS, ENTRY])
def test_local_reading_calls_no_network(tmp_path, entry):
    """As the system sees it (strace), also with the entry point of remote sources."""
    (tmp_path / "m.safetensors").write_bytes(safetensors())
    statements = [f"SELECT count(*) FROM zt_objects('{tmp_path}/*.safetensors')", f"SELECT zt_hash('{tmp_path}/m.safetensors', 'w', 'sha256')",
                  f"SELECT count(*) FROM zt_stats(x'{safetensors().hex()}')"]
    if entry != ENTRY:
        statements += ["SELECT error FROM zt_files('s3://models/*.zt')", "SELECT zt_manifest('https://example.com/m.zt')"]
    log = tmp_path / "log"
    subprocess.run(["strace", "-f", "-qq", "-e", "trace=network", "-o", log, sys.executable, "-c", SCRIPT, EXTENSION, entry, *statements], check=True,
                   capture_output=True, timeout=60, env={**os.environ, "ZTENSOR_REMOTE": "*"})
    assert log.read_text() == ""


def run(entry, *statements, allow="*"):
    done = subprocess.run([sys.executable, "-c", SCRIPT, EXTENSION, entry, *statements], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "ZTENSOR_REMOTE": allow})
    assert done.stderr == ""
    *said, loaded, _ = done.stdout.splitlines()
    assert loaded.endswith("True")
    return said, loaded.startswith("True")


@pytest.mark.parametrize("entry", [PLAIN, NOFS, "sqlite3_ztensor_write_init"])
def test_no_request_and_no_library(web, bucket_server, entry):
    web.face.put("/m.zt", safetensors())
    bucket_server.bucket.put("m.zt", safetensors())
    said, loaded = run(entry, f"SELECT error FROM zt_files('{web.origin}/m.zt')", "SELECT * FROM zt_objects('s3://models/*.zt')",
                       "SELECT zt_manifest('s3://models/m.zt')", "SELECT * FROM zt_objects('hf://org/model')", "SELECT zt_version()",
                       "SELECT zt_remote()", allow=f"* {web.origin} {bucket_server.origin}")
    assert not loaded and web.count == bucket_server.server.count == 0
    if entry != NOFS:
        assert all(ENTRY in line for line in said[:4]), said
    assert "zt_remote" in said[5]


def test_the_entry_point_by_itself_loads_no_library(web):
    web.face.put("/m.zt", safetensors())
    local = os.path.join(os.path.dirname(__file__), "..", "formats", "gguf", "converted", "model.gguf")
    said, loaded = run(ENTRY, f"SELECT count(*) FROM zt_objects('{local}')", "SELECT zt_version()", "SELECT zt_remote()", allow=web.origin)
    assert said[0] == "[(3,)]" and not loaded and "curl" not in said[1]
    said, loaded = run(ENTRY, f"SELECT objects FROM zt_files('{web.origin}/m.zt')", "SELECT zt_version()", allow=web.origin)
    assert said[0] == "[(1,)]" and loaded and "curl" in said[1]


def test_what_is_off_is_said(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    db = open_connection()
    for url in ("s3://b/x.zt", "s3://b/*.zt", "hf://org/model/**", "https://host/x.zt", "http://host/*", "s3://b/"):
        (path, kind, error), = rows(db, "SELECT path, error_kind, error FROM zt_files(?)", url)
        assert (path, kind) == (url, "denied") and ENTRY in error
    db.close()


def test_entry_points_together(web, monkeypatch):
    """Remote sources are added to the usual ones; where no file is opened, they are refused, and the other way round."""
    monkeypatch.setenv("ZTENSOR_REMOTE", web.origin)
    web.face.put("/m.zt", safetensors())
    sql = "SELECT objects FROM zt_files(?)"
    db = open_connection()
    assert rows(db, "SELECT error_kind FROM zt_files(?)", web.origin + "/m.zt") == [("denied",)]
    rows(db, "SELECT load_extension(?, ?)", EXTENSION, ENTRY)
    assert rows(db, sql, web.origin + "/m.zt") == [(1,)]
    rows(db, "SELECT load_extension(?, ?)", EXTENSION, ENTRY)
    rows(db, "SELECT load_extension(?, ?)", EXTENSION, PLAIN)
    assert rows(db, sql, web.origin + "/m.zt") == [(1,)]
    with pytest.raises(Exception, match="nofs|file"):
        rows(db, "SELECT load_extension(?, ?)", EXTENSION, NOFS)
    db.close()
    db = open_connection(entry=NOFS)
    with pytest.raises(Exception, match="nofs|file"):
        rows(db, "SELECT load_extension(?, ?)", EXTENSION, ENTRY)
    assert "zt_remote" not in {name for name, in rows(db, "SELECT name FROM pragma_function_list")}
    db.close()
    for order in ((ENTRY, "sqlite3_ztensor_write_init"), ("sqlite3_ztensor_write_init", ENTRY)):
        db = open_connection(entry=order[0])
        rows(db, "SELECT load_extension(?, ?)", EXTENSION, order[1])
        assert rows(db, sql, web.origin + "/m.zt") == [(1,)]
        assert "zt_writer" in {name for name, in rows(db, "SELECT name FROM pragma_module_list")}
        db.close()


def test_a_view_of_a_database_reaches_nothing(web, tmp_path, monkeypatch):
    """A stranger's database may have views and triggers."""
    monkeypatch.setenv("ZTENSOR_REMOTE", web.origin)
    path = str(tmp_path / "x.db")
    db = open_connection(path, entry=ENTRY)
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute(f"CREATE VIEW v AS SELECT * FROM zt_files('{web.origin}/m.zt')")
    db.execute(f"CREATE TABLE t(x DEFAULT 1)")
    db.execute(f"CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT zt_manifest('{web.origin}/m.zt'); END")
    for sql in ("SELECT * FROM v", "INSERT INTO t DEFAULT VALUES"):
        with pytest.raises(Exception, match="unsafe use"):
            rows(db, sql)
    db.execute("CREATE VIEW w AS SELECT zt_remote('{\"ttl\": 5}')")
    with pytest.raises(Exception, match="unsafe use"):
        rows(db, "SELECT * FROM w")
    db.close()
    assert web.count == 0
