"""A file that is written is the old one or the new one, whole, whatever happens meanwhile: each system call fails, the process
is killed at each of them, the disk is full, the machine loses its power.

CASES are what writes: another one is a function of a path that raises when it fails, and what the path holds before."""
import ctypes
import errno
import itertools
import json
import os
import random
import signal
import sqlite3
import struct
import tempfile
import time
from pathlib import Path

import pytest

from crash import Full, Kill, Record, Short, WRITES, after_power_loss
from faults import ABSENT, ERRORS, LOUD, WRITING, Fault, Log, failing
from support import ROOT, open_connection

KILLS = int(os.environ.get("KILLS", "20"))   # At random moments, of each case; `make nightly` has more
STEP = 64 << 10
SETTLED = 0.021   # A file that is younger is read again, so that the number of calls would depend on the clock
HIDDEN = (".", ".partial")
LIBRARY = ctypes.CDLL(str(ROOT / "build/static/faults/write_file.so"))
CREATE, REPLACE, UPDATE = range(3)


class Failed(Exception):
    pass


class Case:
    """`kept`: the same as `run`, for one that undoes at its end what it did. `targets`: the files that it writes; `before` is in
    each of them. `read`: it is read, too."""

    def __init__(self, name, before, run, synced=True, kept=None, targets=("a.zt",), read=False):
        self.name, self.run, self.synced, self.kept, self.targets, self.read = name, run, synced, kept, targets, read
        self.before = (before,) * len(targets)


def direct(mode, synced=True, keep=True, chunks=5):
    """Writes by way of core/output.h, without SQL."""
    def run(path):
        message = ctypes.create_string_buffer(1000)
        code = LIBRARY.write_file(os.fsencode(path), mode, synced, 7, chunks, keep, message, len(message))
        if code == sqlite3.SQLITE_NOMEM:
            raise MemoryError
        if code:
            raise Failed(message.value.decode())
    return run


def script(sql):
    """Writes by SQL; {path} is the target. With one thread, the calls are the same each time."""
    def run(path):
        db = open_connection(entry="sqlite3_ztensor_write_init")
        try:
            db.execute("SELECT zt_threads(1)")
            db.executescript(sql.format(path=path, **SOURCES))
        finally:
            db.close()
    return run


def table(arguments, rows, name="out", path="{path}"):
    return f"CREATE VIRTUAL TABLE temp.{name} USING zt_writer('{path}', {arguments}); INSERT INTO {name}{rows};"


def safetensors():
    """A file of three tensors of random numbers, which no compression makes smaller."""
    header, data = {}, b""
    for name, dtype, shape, width in (("w", "F32", [130, 256], 4), ("b", "I16", [40000], 2), ("s", "U8", [7], 1)):
        begin = len(data)
        data += random.Random(name).randbytes(width * shape[0] * (shape[1] if len(shape) > 1 else 1))
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


FOLDER = tempfile.TemporaryDirectory()    # Outside of the folders of targets: what is read there does not fail
SOURCES = {"file": f"{FOLDER.name}/source.safetensors", "sparse": ROOT / "tests/formats/ztensor/golden/v1.2/hand_sparse.zt"}
Path(SOURCES["file"]).write_bytes(safetensors())
BY_REFERENCE = "(name, source) SELECT object, path FROM zt_objects('{file}')"
BY_VALUE = "(name, data, dtype, shape) SELECT object, zt_blob(path, object), dtype, shape FROM zt_objects('{file}')"
COMPONENTS = "(name, component, data, dtype, format, shape) SELECT c.object, c.component, c.data, c.dtype, o.format, o.shape" \
             " FROM zt_components('{sparse}') AS c JOIN zt_objects('{sparse}') AS o USING (object) WHERE o.object = 'csr.f32'"
OLD = b"the old file" * 1000


def updated():
    """A file that is updated: that of the first of the tables below."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "old.zt"
        script(table("mode='create'", BY_REFERENCE))(path)
        return path.read_bytes()


UPDATED = updated()
CASES = [
    Case("create", None, direct(CREATE)),
    Case("replace nothing", None, direct(REPLACE)),
    Case("replace", OLD, direct(REPLACE)),
    Case("update", OLD, direct(UPDATE)),
    Case("undo", OLD, direct(REPLACE, keep=False), kept=direct(REPLACE)),
    Case("undo a new one", None, direct(CREATE, keep=False), kept=direct(CREATE)),
    Case("without sync", OLD, direct(REPLACE, synced=False), synced=False),
    Case("table: create", None, script(table("mode='create'", BY_REFERENCE))),
    Case("table: replace", OLD, script(table("mode='replace'", BY_REFERENCE))),
    Case("table: update", UPDATED, script("CREATE VIRTUAL TABLE temp.out USING zt_writer('{path}', mode='update');"
         " BEGIN; UPDATE out SET name = 'renamed' WHERE name = 'b'; DELETE FROM out WHERE name = 's';"
         " INSERT INTO out(name, source, object) VALUES ('more', '{file}', 'w'); COMMIT;"), read=True),
    Case("table: safetensors", OLD, script(table("mode='replace', format='safetensors'", BY_REFERENCE))),
    Case("table: npz, deflated", OLD, script(table("mode='replace', format='npz', encoding='deflate'", BY_REFERENCE))),
    Case("table: gguf", OLD, script(table("mode='replace', format='gguf'", BY_REFERENCE + " WHERE dtype <> 'u8'"))),
    Case("table: 1.2, zstd", OLD, script(table("mode='replace', format='ztensor-1.2', encoding='zstd'", BY_REFERENCE))),
    Case("table: by value", OLD, script("BEGIN;" + table("mode='replace'", BY_VALUE) + f" INSERT INTO out{COMPONENTS}; COMMIT;")),
    Case("table: zstd", OLD, script(table("mode='replace', encoding='zstd'", BY_REFERENCE))),
    Case("table: without sync", OLD, script(table("mode='replace', sync='off'", BY_REFERENCE)), synced=False),
    Case("two tables", OLD, script("BEGIN;" + table("mode='replace'", BY_REFERENCE)
         + table("mode='replace', format='safetensors'", BY_VALUE, "other", "{path}.2") + " COMMIT;"), targets=("a.zt", "a.zt.2")),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class Place:
    """A folder with the targets, as they were before. A content is that of each target."""

    def __init__(self, folder, case):
        self.folder, self.case, self.path = folder, case, folder / case.targets[0]
        self.targets = [folder / name for name in case.targets]
        self.reset()
        (case.kept or case.run)(self.path)
        self.new = self.content()
        self.end = case.before if case.kept else self.new
        self.reset()
        assert all(new is not None and new != old for new, old in zip(self.new, case.before))

    def reset(self):
        for name in os.listdir(self.folder):
            os.unlink(self.folder / name)
        for path, before in zip(self.targets, self.case.before):
            if before is not None:
                path.write_bytes(before)
        if self.case.read:
            time.sleep(SETTLED)

    def content(self):
        return tuple(path.read_bytes() if path.exists() else None for path in self.targets)

    def is_whole(self, content):
        """Each target is the old file or the new one."""
        return all(now in (old, new) for now, old, new in zip(content, self.case.before, self.new))

    def rest(self):
        return [name for name in os.listdir(self.folder) if name not in self.case.targets]

    def assert_whole(self):
        assert self.is_whole(self.content())
        assert all(name.startswith(HIDDEN[0]) and name.endswith(HIDDEN[1]) for name in self.rest())

    def run(self, question=None):
        """The failure, or None."""
        self.reset()
        try:
            if question is None:
                self.case.run(self.path)
            else:
                with failing(self.folder, question):
                    self.case.run(self.path)
        except (Failed, MemoryError, sqlite3.Error) as error:
            return error
        return None

    def fork(self, question):
        """The process number of a child that writes."""
        self.reset()
        child = os.fork()
        if child == 0:
            try:
                self.run_in_child(question)
            finally:
                os._exit(1)
        return child

    def run_in_child(self, question):
        if question is None:
            self.case.run(self.path)
        else:
            with failing(self.folder, question):
                self.case.run(self.path)
        os._exit(0)


@pytest.fixture
def place(tmp_path, case):
    return Place(tmp_path, case)


@each_case
def test_the_file_is_there_and_nothing_beside_it(place, case):
    assert place.run() is None
    assert place.content() == place.end and place.rest() == []


def judge(place, call, fault, got, said):
    content, before = place.content(), place.case.before
    assert place.is_whole(content), said
    gone = call == "stat" and fault.error in ABSENT   # The target is another process's, then: its absence stays
    if got is None:
        assert content == place.end or gone, said
        assert call not in ("pwrite", "fsync", "ftruncate"), said
    elif content != before:   # A failure of COMMIT always leaves the old file; only what undoes a whole one can fail itself
        assert place.case.kept and call in ("stat", "rename", "unlink"), said
    assert place.rest() == [] or call in ("unlink", "rename", "stat"), said
    if got is not None and not isinstance(got, MemoryError):
        assert str(got).startswith(tuple(f"ztensor: {path}: " for path in place.targets)), said
        assert os.strerror(getattr(errno, fault.error)) in str(got) or gone, said


@each_case
def test_each_call_fails_with_each_error(place, case):
    """The old file and an error that has its reason; or the new file. A name may be left where names cannot be removed."""
    log = Log()
    assert place.run(log) is None
    assert {"pwrite", "fsync" if case.synced else "pwrite"} <= set(log.calls)
    failed = 0
    for n, call in enumerate(log.calls, 1):
        for error in (ERRORS | WRITING)[call]:
            for lasting in (False, True):
                fault = Fault(n, error, lasting)
                got = place.run(fault)
                said = f"call {n}: {call}({fault.path}): {error}{', lasting' * lasting}: {got}"
                assert fault.injected, said
                judge(place, call, fault, got, said)
                failed += got is not None
    assert failed > 10


@pytest.mark.parametrize("case", [case for case in CASES if case.name in ("table: replace", "table: update")], ids=lambda case: case.name)
def test_a_source_that_cannot_be_read_is_named(place, case):
    log = Log()
    place.reset()
    with failing(FOLDER.name, log):
        case.run(place.path)
    assert {"open", "pread"} <= set(log.calls)
    failed = 0
    for n, call in enumerate(log.calls, 1):
        for error in ERRORS[call]:
            for lasting in (False, True):
                fault, got = Fault(n, error, lasting), None
                place.reset()
                try:
                    with failing(FOLDER.name, fault):
                        case.run(place.path)
                except (MemoryError, sqlite3.Error) as failure:
                    got = failure
                said = f"call {n}: {call}({fault.path}): {error}{', lasting' * lasting}: {got}"
                assert place.content() == (place.end if got is None else case.before) and place.rest() == [], said
                # Small tensors that could not be read with the next ones are read alone
                assert got or call not in LOUD or (call == "pread" and not lasting), said
                assert got is None or (error == "ENOMEM" if isinstance(got, MemoryError) else fault.names(str(got))), said
                failed += got is not None
    assert failed > 10


@each_case
def test_short_and_interrupted_writes(place, case):
    assert place.run(Short()) is None
    assert place.content() == place.end and place.rest() == []


@each_case
def test_a_disk_that_is_full_at_every_64_kib(place, case):
    room, injected = 0, 0
    while True:
        for error in ("ENOSPC", "EDQUOT", "EIO"):
            full = Full(room, error)
            got = place.run(full)
            if full.injected:
                assert os.strerror(getattr(errno, error)) in str(got)
                assert place.content() == case.before and place.rest() == []
                injected += 1
        if not full.injected:
            break
        room += STEP
    assert got is None and place.content() == place.end and injected > 3


@each_case
def test_a_process_that_is_killed_at_every_call(place, case):
    log = Log()
    assert place.run(log) is None
    seen = set()
    for n in itertools.count(1):
        status = os.waitpid(place.fork(Kill(n)), 0)[1]
        if status == 0:
            break
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"call {n}"
        place.assert_whole()
        seen.add(place.content() == case.before)
    assert True in seen
    assert n == len(log.calls) + 1


@each_case
def test_a_process_that_is_killed_at_random_moments(place, case):
    chance = random.Random(1)
    begin = time.monotonic()
    os.waitpid(place.fork(None), 0)
    takes = time.monotonic() - begin
    for _ in range(KILLS):
        child = place.fork(None)
        time.sleep(chance.random() * takes)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        place.assert_whole()


@each_case
def test_power_is_lost_at_every_call(place, case):
    place.reset()
    record = Record([str(path) for path in place.targets])
    with failing(place.folder, record):
        case.run(place.path)
    states = torn = 0
    for files in after_power_loss(record):
        states += 1
        torn += not place.is_whole([files.get(str(path)) for path in place.targets])
    assert states > len(record.operations) > 7
    # The bytes of a file without fsync may be missing behind its name: that the replay finds this shows that it can
    assert (torn == 0) == case.synced


def test_what_is_tried_is_all_that_writes():
    assert WRITES <= set(WRITING)
