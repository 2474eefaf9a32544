"""zt_threads(), and that rows do not depend on it: not their order, not their bits, not what is wrong."""
import array
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import corpus
import pytest
import writer
from support import EXTENSION, message, rows, value

MIB = 1 << 20


# -------------------------------------------------------------------------------------------------------- the function

def test_how_many_there_are(db):
    usual = value(db, "SELECT zt_threads()")
    assert 1 <= usual <= 16
    for n in (1, 2, 64, 5.0, "7"):
        assert value(db, "SELECT zt_threads(?)", n) == int(n)
        assert value(db, "SELECT zt_threads()") == int(n)
    assert value(db, "SELECT zt_threads(NULL)") == usual


@pytest.mark.parametrize("n", [-1, 0, 65, 2**40, 1.5, "many", b"1"])
def test_a_number_that_is_none_of_threads(db, n):
    before = value(db, "SELECT zt_threads(3)")
    shown = "a BLOB" if isinstance(n, bytes) else n
    assert message(db, "SELECT zt_threads(?)", n) == f"ztensor: the number of threads must be an integer from 1 to 64, not '{shown}'"
    assert value(db, "SELECT zt_threads()") == before


def test_a_connection_has_its_own(connect):
    one, other = connect(), connect()
    value(one, "SELECT zt_threads(1)")
    value(other, "SELECT zt_threads(4)")
    assert (value(one, "SELECT zt_threads()"), value(other, "SELECT zt_threads()")) == (1, 4)


def test_a_view_does_not_set_it(db):
    db.execute("CREATE VIEW v AS SELECT zt_threads(3)")
    assert "unsafe use" in message(db, "SELECT * FROM v")
    db.execute("CREATE VIEW w AS SELECT zt_threads()")
    assert rows(db, "SELECT * FROM w")


# ------------------------------------------------------------------------------------------------------------ the rows

STATEMENTS = (
    "SELECT * FROM zt_files(?1)",
    "SELECT path, error FROM zt_files(?1) ORDER BY path DESC",
    "SELECT * FROM zt_objects(?1, 'skip')",
    "SELECT *, fingerprint, fingerprint_error FROM zt_objects(?1, 'skip') WHERE elements < 1000000",
    "SELECT *, hash FROM zt_components(?1, 'skip')",
    "SELECT * FROM zt_attributes(?1, 'skip')",
    "SELECT * FROM zt_stats(?1, 'skip')",
    "SELECT * FROM zt_check(?1)",
    "SELECT * FROM zt_check(?1, 'full')",
)


def told(db, sql, *arguments):
    """All rows, or those before a failure and what it says."""
    got = []
    try:
        for row in db.execute(sql, arguments):
            got.append(repr(row))   # NaN equals itself then
    except sqlite3.Error as error:
        got.append(str(error))
    return got


@pytest.mark.parametrize("sql", STATEMENTS)
@pytest.mark.parametrize("kind", ["golden", "hostile"])
def test_rows_are_those_of_one_thread(db, sql, kind):
    source = str(corpus.FORMATS / "*" / kind / "**" / "*")
    value(db, "SELECT zt_threads(1)")
    expected = told(db, sql, source)
    assert len(expected) > 100
    for n in (2, 8):
        value(db, "SELECT zt_threads(?)", n)
        assert told(db, sql, source) == expected


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """40 tensors of a quarter of a million f32 each, one of three million, and the same as zstd."""
    some = random.Random(16)
    tensors = [array.array("f", (some.gauss(i, 1 + i) for _ in range(1 << 18))).tobytes() for i in range(4)]
    objects = {f"{i:02}": writer.dense(tensors[i % 4], [1 << 18], "f32", digest=writer.sha256(tensors[i % 4])) for i in range(40)}
    objects["large"] = writer.dense(b"".join(tensors) * 3, [3, 1 << 20], "f32")
    path = tmp_path_factory.mktemp("threads") / "model.zt"
    path.write_bytes(writer.write(objects))
    return str(path)


@pytest.mark.parametrize("sql", [
    "SELECT * FROM zt_stats(?1)", "SELECT * FROM zt_stats(?1) WHERE object = 'large'",
    "SELECT object, hash, digest_status FROM zt_components(?1)", "SELECT * FROM zt_check(?1, 'full')",
    "SELECT c.* FROM zt_objects(?1) AS o, zt_compare(?1, o.object, ?1, CASE WHEN o.object = 'large' THEN 'large' ELSE '03' END) AS c",
    "SELECT * FROM zt_histogram(?1, 'large', 100)", "SELECT object, fingerprint FROM zt_objects(?1)", "SELECT zt_fingerprint(?1)",
])
def test_values_have_the_same_bits(db, model, sql):
    found = []
    for n in (1, 2, 3, 8, 64):
        value(db, "SELECT zt_threads(?)", n)
        found.append(told(db, sql, model))
    assert found[0] and all(each == found[0] for each in found)


@pytest.mark.parametrize("arguments", ["blob:'large'", "blob:'large', 'data', 5, 12000000", "dense:'large'", "dense:'large', 'f16'",
                                       "dense:'large', 'f64', 1, 2", "dense:'large', 'f4_e2m1'", "dense:'large', 'u8'"])
def test_a_large_result_is_that_of_one_thread(db, model, arguments):
    """Also where a conversion fails: the first element is named."""
    function, _, rest = arguments.partition(":")
    found = []
    for n in (1, 2, 3, 8):
        value(db, "SELECT zt_threads(?)", n)
        found.append(told(db, f"SELECT zt_{function}(?, {rest})", model))
    assert all(each == found[0] for each in found)
    assert ("which u8 does not have" in found[0][0]) == ("u8" in rest)


@pytest.fixture(scope="module")
def frames(tmp_path_factory):
    """A zTensor 2 file with a tensor of 40 frames of 64 KiB, and one whose frame 30 has other bytes than its checksum says."""
    some = random.Random(17)
    data = array.array("f", (some.gauss(0, 1) for _ in range(40 << 14))).tobytes()
    shape = [40, 1 << 14]
    good = writer.seekable_dense(data, 1 << 16, shape, "f32")
    stored = bytearray(writer.seekable(data, 1 << 16))
    stored[len(stored) * 3 // 4] ^= 1
    bad = writer.dense(bytes(stored), shape, "f32", encoding=writer.SEEKABLE, decoded_length=len(data))
    path = tmp_path_factory.mktemp("threads") / "frames.zt"
    path.write_bytes(writer.write_2({"good": good, "bad": bad}))
    return str(path)


@pytest.mark.parametrize("sql", [
    "SELECT * FROM zt_stats(?1)", "SELECT * FROM zt_stats(?1) WHERE object = 'bad'", "SELECT object, hash, digest_status FROM zt_components(?1)",
    "SELECT * FROM zt_check(?1, 'full')", "SELECT object, zt_blob(?1, object, 'data', 100000, 1500000) FROM zt_objects(?1)",
    "SELECT count(*), sum(value) FROM zt_elements(?1, 'good')", "SELECT row, vector FROM zt_rows(?1, 'good') WHERE row IN (3, 4, 5, 39, 38, 6)",
])
def test_frames_are_those_of_one_thread(db, frames, sql):
    found = []
    for n in (1, 2, 3, 8):
        value(db, "SELECT zt_threads(?)", n)
        found.append(told(db, sql, frames))
    assert found[0] and all(each == found[0] for each in found)


def test_a_frame_without_content_is_no_lack_of_memory(db, save):
    frame = writer.checked_frame(b"")
    stored = frame + writer.seek_table([(len(frame), 0)])
    path = save("empty.zt", writer.write_2({"e": writer.dense(stored, [0], "f32", encoding=writer.SEEKABLE, decoded_length=0)}))
    for n in (1, 2):
        value(db, "SELECT zt_threads(?)", n)
        assert rows(db, "SELECT data, hash FROM zt_components(?)", path) == [(b"", writer.xxh3(b""))]


@pytest.mark.parametrize("sql", ["SELECT mean FROM zt_stats('{}') LIMIT 1", "SELECT fingerprint FROM zt_objects('{}') LIMIT 1"])
def test_who_stops_early_has_read_little(trace, model, sql):
    got = trace(f"SELECT zt_threads(8); {sql.format(model)};")
    assert len(got.out.split()) == 2
    assert MIB <= got.bytes_read(model, 0, 41 * MIB) <= 2 * MIB + 4096   # And the head of the file


# -------------------------------------------------------------------------------------------------------------- ending

def test_an_interrupt_ends_all_threads(db, model):
    value(db, "SELECT zt_threads(8)")
    for sql in ("SELECT sum(mean) FROM zt_stats(?1) AS a, (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9))",
                "SELECT count(fingerprint) FROM zt_objects(?1), (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9))",
                "SELECT zt_fingerprint(?1), zt_fingerprint(?1), zt_fingerprint(?1) FROM (VALUES (1), (2), (3))",
                "SELECT count(*) FROM zt_check(?1, 'full') AS a, (VALUES (1), (2), (3)) AS b"):
        timer = threading.Timer(0.05, db.interrupt)
        timer.start()
        try:
            db.execute(sql, (model,)).fetchall()
        except sqlite3.OperationalError as error:
            assert str(error) == "interrupted"
        timer.join()
    assert value(db, "SELECT count(*) FROM zt_objects(?)", model) == 41


def test_threads_of_one_call_end_with_it(db, model):
    value(db, "SELECT zt_threads(8)")
    assert len(value(db, "SELECT zt_dense(?, 'large', 'f64')", model)) == 24 * MIB
    wait_for_threads()


def wait_for_threads():
    """None is left, once the system has put them away."""
    for _ in range(200):
        if len(os.listdir("/proc/self/task")) == threading.active_count():
            break
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) == threading.active_count()


def test_a_statement_that_is_left_open(connect, model):
    db = connect()
    value(db, "SELECT zt_threads(8)")
    statement = db.execute("SELECT object, mean FROM zt_stats(?)", (model,))
    first = [statement.fetchone() for _ in range(5)]
    assert [name for name, _ in first] == ["00", "01", "02", "03", "04"]
    statement.close()
    wait_for_threads()


def test_a_process_that_forks_between_statements(db, model):
    value(db, "SELECT zt_threads(4)")
    expected = told(db, "SELECT * FROM zt_stats(?)", model)
    child = os.fork()
    if child == 0:
        os._exit(0 if told(db, "SELECT * FROM zt_stats(?)", model) == expected else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert told(db, "SELECT * FROM zt_stats(?)", model) == expected


def test_a_process_that_forks_within_a_statement(db, model, tmp_path):
    """A thread may have SQLite's lock on memory then, which no thread of the child would give back."""
    for i in range(100):
        os.symlink(model, tmp_path / f"{i}.zt")
    value(db, "SELECT zt_threads(4)")
    stuck, statement = [], db.execute("SELECT * FROM zt_stats(?)", (str(tmp_path),))
    for forked in range(150):
        assert statement.fetchone()
        child = os.fork()
        if child == 0:
            signal.alarm(10)
            sqlite3.connect(":memory:").close()
            os._exit(0)
        stuck += [forked] * (os.waitpid(child, 0)[1] != 0)
        if stuck:
            break
    assert stuck == []


FORKS = """
import _sqlite3, ctypes, os, shutil, signal, sqlite3, sys
extension, source, folder, kind = sys.argv[1:]
sqlite, libc = ctypes.CDLL(_sqlite3.__file__), ctypes.CDLL(None)
sqlite.sqlite3_malloc.restype, sqlite.sqlite3_free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
if kind == "handlers":   # Of the host, which use SQLite before and after each fork
    handler = ctypes.CFUNCTYPE(None)(lambda: sqlite.sqlite3_free(sqlite.sqlite3_malloc(10)))
    # glibc links pthread_atfork() into each program
    register = libc.__register_atfork if hasattr(libc, "__register_atfork") else libc.pthread_atfork
    assert register(handler, handler, handler, None) == 0

def fork():
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        sqlite3.connect(":memory:").execute("SELECT randomblob(1)").fetchall()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0

statements = []
for i in range(2 if kind == "copies" else 1):
    copy = f"{folder}/{i}.so"
    shutil.copyfile(extension + ".so", copy)
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, 'sqlite3_ztensor_init')", (copy,)).fetchall()
    db.execute("SELECT zt_threads(4)").fetchall()
    statements.append(db.execute("SELECT * FROM zt_stats(?)", (source,)))
if kind == "copies":
    for _ in range(20):
        assert all(s.fetchone() for s in statements)
        fork()
for s in statements:
    assert s.fetchone()
    s.close()
fork()
print("done")
"""


@pytest.mark.parametrize("kind", ["copies", "handlers"])
def test_a_fork_beside_others_that_have_a_say_in_it(model, tmp_path, kind):
    """Another copy of the extension, which holds SQLite's locks for a fork, too; or handlers of the host's."""
    (tmp_path / "models").mkdir()
    for i in range(20):
        os.symlink(model, tmp_path / "models" / f"{i}.zt")
    done = subprocess.run([sys.executable, "-c", FORKS, EXTENSION, tmp_path / "models", tmp_path, kind], capture_output=True,
                          text=True, timeout=60)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
