"""Statements over remote files while memory is short: each ends with SQLITE_NOMEM or with its rows, and frees all memory."""
import json
import subprocess
import sys

import pytest

import s3 as s3_face
import writer
from hub import TOKEN
from server import Answer
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


@pytest.fixture
def files(bucket_server, hub_server, web, monkeypatch):
    """The statements read these files."""
    hub_server.face.repository("org/model").commit({"m.safetensors": safetensors(count=300_000), "n.safetensors": safetensors()})
    for i in range(4):
        bucket_server.bucket.put(f"{i:02}.safetensors", safetensors(f"w{i}"))
    bucket_server.bucket.put("named", safetensors("named"))
    bucket_server.bucket.put("named/below.safetensors", safetensors("below"))
    web.face.put("/m.zt", writer.write({"w": writer.dense(bytes(range(256)) * 1000)}))
    web.face.put("/b.safetensors", safetensors(count=200_000))
    web.when("/moved", Answer(302, {"Location": "/m.zt"}))
    monkeypatch.setenv("ZTENSOR_REMOTE", " ".join([bucket_server.origin + "/models/", hub_server.origin, hub_server.store.origin, web.origin]))


def swept(script, *arguments):
    done = subprocess.run([sys.executable, "-c", script, EXTENSION, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (arguments, done.stderr)
    return json.loads(done.stdout)


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_sweep_of_limits(files, statement):
    failed, used = swept(SWEEP, statement)
    assert failed > 20 and used == 0


# Every allocation of SQLite and the extension fails, one in each run. No other module has the methods: pysqlite holds Python's
# lock in calls that wait for threads, which then need it for them
EACH = """
import _sqlite3, ctypes, json, sys
library, statement = sys.argv[1:]
sqlite = ctypes.CDLL(_sqlite3.__file__)
V, I, P = ctypes.c_void_p, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)
ALLOCATE, AGAIN, ROW = ctypes.CFUNCTYPE(V, I), ctypes.CFUNCTYPE(V, V, I), ctypes.CFUNCTYPE(I, V, I, P, P)
OK, NOMEM, SET, GET = 0, 7, 4, 5
sqlite.sqlite3_memory_used.restype = ctypes.c_int64

class Methods(ctypes.Structure):
    _fields_ = [("malloc", ALLOCATE), ("free", V), ("realloc", AGAIN), ("size", V), ("round", V), ("init", V), ("end", V), ("data", V)]

def fails():
    global left
    left -= 1
    return left == 0

real, own, left = Methods(), Methods(), 0
sqlite.sqlite3_shutdown()
sqlite.sqlite3_config(GET, ctypes.byref(real))
ctypes.memmove(ctypes.byref(own), ctypes.byref(real), ctypes.sizeof(own))
own.malloc = ALLOCATE(lambda n: None if fails() else real.malloc(n))
own.realloc = AGAIN(lambda p, n: None if fails() else real.realloc(p, n))
assert sqlite.sqlite3_config(SET, ctypes.byref(own)) == OK

def under(which):
    global left
    db, rows = V(), []
    take = ROW(lambda _, n, values, names: rows.append(values[:n]) or 0)
    assert sqlite.sqlite3_open(b":memory:", ctypes.byref(db)) == OK
    sqlite.sqlite3_enable_load_extension(db, 1)
    loads = "LOAD" in statement
    if loads:
        left = which
    rc = sqlite.sqlite3_load_extension(db, library.encode(), b"sqlite3_ztensor_remote_init", None)
    assert rc == OK or loads
    if not loads:
        left = which
    rc = NOMEM if rc != OK else sqlite.sqlite3_exec(db, statement.encode(), take, None, None)
    made, left = which - left, 0
    assert sqlite.sqlite3_close(db) == OK
    return rc, rows, made

rc, expected, made = under(0)
assert rc == OK, rc
failed = reached = 0
for which in range(1, made + 1):
    rc, rows, made = under(which)
    reached += made >= which   # The first run, which connected, made more of them
    if rc == NOMEM:   # The row before may lack a text: sqlite3_column_text() says NULL
        failed += 1
        assert rows[:-1] == expected[:max(0, len(rows) - 1)], (which, rows)
    else:
        assert (rc, rows) == (OK, expected), (which, rc, rows)
print(json.dumps([failed, reached, sqlite.sqlite3_memory_used()]))
"""

MORE = [
    "SELECT path, object FROM zt_objects('WEB/moved.zt')",
    "SELECT path FROM zt_files('hf://org/model/*.safetensors') WHERE path='hf://org/model/n.safetensors'",
    "SELECT object AS HF_HOME FROM zt_objects('hf://org/model/n.safetensors')",
    "SELECT object AS HOME FROM zt_objects('hf://org/model/n.safetensors')",
    "SELECT object AS AWS_FILES FROM zt_objects('s3://models/named')",
    "SELECT 'LOAD'",
    # A file whose state is known; one that is asked whether it changed
    "SELECT object FROM zt_objects('WEB/b.safetensors'); SELECT zt_hash('WEB/b.safetensors', 'w', 'sha256')",
    """SELECT zt_remote('{"ttl":0}') IS NULL; SELECT object FROM zt_objects('WEB/b.safetensors'); SELECT etag, objects FROM zt_files('WEB/b.safetensors')""",
    "SELECT path, objects FROM zt_files('s3://models/') WHERE path='s3://models/02.safetensors'",
    """SELECT zt_remote('{"allow":["WEB/a","hf://org/"]}')""",
]


@pytest.mark.parametrize("statement", STATEMENTS + MORE)
def test_every_allocation_fails(files, web, bucket_server, hub_server, monkeypatch, environment, tmp_path, statement):
    hub_server.face.repository("org/model").private = True
    token = {"HF_HOME": tmp_path / "token", "HOME": environment / ".cache/huggingface/token"}.get(statement.partition(" AS ")[2].partition(" ")[0])
    if token:
        token.parent.mkdir(parents=True, exist_ok=True)
        token.write_text(TOKEN)
        monkeypatch.setenv("HF_HOME" if token.parent == tmp_path else "HOME", str(tmp_path if token.parent == tmp_path else environment))
    else:
        monkeypatch.setenv("HF_TOKEN", TOKEN)
    if " AS AWS_FILES " in statement:
        (environment / ".aws").mkdir()
        (environment / ".aws/credentials").write_text(f"[default]\naws_access_key_id={s3_face.ACCESS}\naws_secret_access_key={s3_face.SECRET}\n")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.delenv(name)
    bucket_server.bucket.region, bucket_server.bucket.page = "eu-west-1", 4
    failed, reached, used = swept(EACH, statement.replace("WEB", web.origin))
    assert failed > reached // 2 and used == 0
    assert not hub_server.server.asked("/tree/main") + hub_server.server.asked("/resolve/main/")   # Its commit, or no request
