"""A file that is written is the old one or the new one, whole, whatever happens meanwhile: each system call fails, the process
is killed at each of them, the disk is full, the machine loses its power.

CASES are what writes: another one is a function of a path that raises when it fails, and what the path holds before."""
import ctypes
import errno
import os
import random
import signal
import sqlite3
import time

import pytest

from crash import Full, Kill, Record, Short, WRITES, after_power_loss
from faults import ABSENT, ERRORS, WRITING, Fault, Log, connect, failing
from support import ROOT

KILLS = int(os.environ.get("KILLS", "20"))   # At random moments, of each case; `make nightly` has more
STEP = 64 << 10
HIDDEN = (".", ".partial")
LIBRARY = ctypes.CDLL(str(ROOT / "build/static/faults/write_file.so"))
CREATE, REPLACE, UPDATE = range(3)


class Failed(Exception):
    pass


class Case:
    """`kept`: the same as `run`, for one that undoes at its end what it did."""

    def __init__(self, name, before, run, synced=True, kept=None):
        self.name, self.before, self.run, self.synced, self.kept = name, before, run, synced, kept


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
    """Writes by SQL; {path} is the target."""
    def run(path):
        db = connect()
        try:
            db.executescript(sql.format(path=path))
        finally:
            db.close()
    return run


OLD = b"the old file" * 1000
CASES = [
    Case("create", None, direct(CREATE)),
    Case("replace nothing", None, direct(REPLACE)),
    Case("replace", OLD, direct(REPLACE)),
    Case("update", OLD, direct(UPDATE)),
    Case("undo", OLD, direct(REPLACE, keep=False), kept=direct(REPLACE)),
    Case("undo a new one", None, direct(CREATE, keep=False), kept=direct(CREATE)),
    Case("without sync", OLD, direct(REPLACE, synced=False), synced=False),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


class Place:
    """A folder with the target, as it was before."""

    def __init__(self, folder, case):
        self.folder, self.case, self.path = folder, case, folder / "a.zt"
        self.reset()
        (case.kept or case.run)(self.path)
        self.new = self.content()
        self.end = case.before if case.kept else self.new
        self.reset()
        assert self.new is not None and self.new != case.before

    def reset(self):
        for name in os.listdir(self.folder):
            os.unlink(self.folder / name)
        if self.case.before is not None:
            self.path.write_bytes(self.case.before)

    def content(self):
        return self.path.read_bytes() if self.path.exists() else None

    def rest(self):
        return [name for name in os.listdir(self.folder) if name != self.path.name]

    def assert_whole(self):
        assert self.content() in (self.case.before, self.new)
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
    assert content in (before, place.new), said
    gone = call == "stat" and fault.error in ABSENT   # The target is another process's, then: its absence stays
    if got is None:
        assert content == place.end or gone, said
        assert call not in ("pwrite", "fsync", "ftruncate"), said
    elif content != before:   # It could not be put back
        assert place.case.kept or call == "fsync", said
    assert place.rest() == [] or call in ("unlink", "rename", "fstat", "stat"), said
    if got is not None and not isinstance(got, MemoryError):
        assert str(got).startswith(f"ztensor: {place.path}: "), said
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
    for n in range(1, len(log.calls) + 1):
        child = place.fork(Kill(n))
        status = os.waitpid(child, 0)[1]
        assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, f"call {n}"
        place.assert_whole()
        seen.add(place.content() == case.before)
    assert True in seen


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
    record = Record(str(place.path))
    with failing(place.folder, record):
        case.run(place.path)
    states = torn = 0
    for files in after_power_loss(record):
        states += 1
        torn += files.get(str(place.path)) not in (case.before, place.new)
    assert states > len(record.operations) > 8
    # The bytes of a file without fsync may be missing behind its name: that the replay finds this shows that it can
    assert (torn == 0) == case.synced


def test_what_is_tried_is_all_that_writes():
    assert WRITES <= set(WRITING)
