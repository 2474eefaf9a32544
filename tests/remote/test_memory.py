"""Statements over remote files while memory is short: each ends with SQLITE_NOMEM or with its rows, and frees all memory."""
import json
import subprocess
import sys

from support import EXTENSION
from test_requests import safetensors

STATEMENTS = [
    "SELECT path, object, shape FROM zt_objects('s3://models/*.safetensors')",
    "SELECT path, size, etag, error FROM zt_files('hf://org/model/')",
    "SELECT zt_hash('hf://org/model/m.safetensors', 'w', 'sha256')",
    "SELECT count(*) FROM zt_objects('s3://models/', 'skip')",
    "SELECT object FROM zt_objects('s3://models/named', 'skip')",
    "SELECT error_kind, etag FROM zt_files('s3://models/gone.safetensors')",
]

SWEEP = """
import _sqlite3, ctypes, json, sqlite3, sys
library, statement = sys.argv[1:]
limit_heap = ctypes.CDLL(_sqlite3.__file__).sqlite3_hard_heap_limit64
used = ctypes.CDLL(_sqlite3.__file__).sqlite3_memory_used
limit_heap.argtypes, limit_heap.restype, used.restype = [ctypes.c_int64], ctypes.c_int64, ctypes.c_int64

def under(more):
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, 'sqlite3_ztensor_remote_init')", (library,)).fetchall()
    if more is not None:
        limit_heap(used() + more)
    try:
        return db.execute(statement).fetchall()
    except (MemoryError, sqlite3.OperationalError) as error:
        assert isinstance(error, MemoryError) or "out of memory" in str(error), (more, error)
        return None
    finally:
        limit_heap(0)
        db.close()

expected, more, failed, right = under(None), 1, 0, 0
while right < 3:
    found = under(more)
    assert found in (None, expected), (more, found)
    failed, right = failed + (found is None), right + (found is not None)
    more += max(997, more // 60)
print(json.dumps([failed, used()]))
"""


def test_a_sweep_of_limits(bucket_server, hub_server, monkeypatch):
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors(count=300_000), "n.safetensors": safetensors()})
    for i in range(12):
        bucket_server.bucket.put(f"{i:02}.safetensors", safetensors(f"w{i}"))
    bucket_server.bucket.put("named", safetensors("named"))
    bucket_server.bucket.put("named/below.safetensors", safetensors("below"))
    monkeypatch.setenv("ZTENSOR_REMOTE", " ".join([bucket_server.origin + "/models/", hub_server.origin, hub_server.store.origin]))
    for statement in STATEMENTS:
        done = subprocess.run([sys.executable, "-c", SWEEP, EXTENSION, statement], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (statement, done.stderr)
        failed, used = json.loads(done.stdout)
        assert failed > 20 and used == 0, statement
