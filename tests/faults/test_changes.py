"""Files and directories that change while a statement reads them: the old state, the new one, or an error that says so."""
import os
import re
import shutil
import sqlite3
import struct
from collections import Counter

import pytest

import statements
import writer
from conftest import MATRIX, newest, older
from faults import Log, answer, connect, descriptors, failing, left_open

# The message about a file that changes while it is open.
CHANGED = r"the file was written to while it was read|the file was cut short while it was read: byte \d+ is missing"


class Change:
    """Before the n-th call, something happens to the files."""

    def __init__(self, n, happen):
        self.n, self.happen, self.calls = n, happen, 0
        self.call = self.path = None

    def __call__(self, call, path, size):
        self.calls += 1
        if self.calls == self.n:
            self.call, self.path = call, path
            self.happen()
        return 0


def old_times(path):
    """The file was written long ago, so that a change shows in its times."""
    os.utime(path, (1_600_000_000, 1_600_000_000))


def other(data):
    """The same file with other values: as long, and as sound, but for the digests of 0.1 to 1.2."""
    return data.replace(struct.pack("<f", MATRIX[0]), struct.pack("<f", 4.25))


def other_manifest(data):
    """The same file with an attribute of another value, as sound but for the hash of the manifest, which is made anew."""
    return data.replace(b"\x61k\x01", b"\x61k\x02")


@pytest.fixture
def file(tmp_path):
    """file(name): a file of one of the generations in its first state; `b.zt` with its shard."""
    new, shard = newest()

    def make(name):
        for n, data in {"a.zt": older("1.2"), "c.zt": older("0.1"), "b.zt": new, "b-s.zt": shard}.items():
            if n[0] == name[0]:
                (tmp_path / n).write_bytes(data)
                old_times(tmp_path / n)
        return str(tmp_path / name)

    return make


def overwrite(path, data):
    with open(path, "r+b") as file:
        file.write(data)


def replace(path, data):
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)


def grow(path):
    with open(path, "ab") as file:
        file.write(bytes(100))


# Changes of a file: each takes its path, and the bytes that it had.
HAPPENS = {
    "is cut to nothing": lambda path, data: os.truncate(path, 0),
    "is cut in half": lambda path, data: os.truncate(path, len(data) // 2),
    "loses its last byte": lambda path, data: os.truncate(path, len(data) - 1),
    "grows": lambda path, data: grow(path),
    "is replaced": lambda path, data: replace(path, other(data)),
    "is replaced by one that is shorter": lambda path, data: replace(path, writer.sample()),
    "is rewritten": lambda path, data: overwrite(path, other(data)),
    "is rewritten in its manifest": lambda path, data: overwrite(path, other_manifest(data)),
    "is rewritten with what it had": lambda path, data: overwrite(path, data),
    "is overwritten with noise": lambda path, data: overwrite(path, bytes(i * 7 & 255 for i in range(len(data)))),
    "is removed": lambda path, data: os.unlink(path),
    "becomes a directory": lambda path, data: (os.unlink(path), os.mkdir(path)),
    "becomes a FIFO": lambda path, data: (os.unlink(path), os.mkfifo(path)),
}


IN_PLACE = [HAPPENS[what] for what in HAPPENS if re.match("is cut|loses|grows|is rewritten|is overwritten", what)]


def concerns(statement, changing):
    """Not all statements are tried: what they share is the same. Of a shard, those that read its bytes."""
    if changing == "a.zt":
        return not re.search("zt_(json|value|elements|content_id)", statement.sql)
    if changing == "b.zt":
        return statement.name in ("zt_objects", "zt_objects skip", "zt_check full", "zt_manifest(p)", "zt_json(p, 'z')")
    # Shards are opened anew for each column: data and digest_status may be of two states.
    return re.search("'w'|zt_stats|fingerprint|zt_check full", statement.sql)


def restore(path, data):
    if os.path.isdir(path):
        os.rmdir(path)
    elif os.path.lexists(path):
        os.unlink(path)
    with open(path, "wb") as file:
        file.write(data)
    old_times(path)


def fresh(sql, root, question):
    """The answer of a new connection, which leaves nothing open."""
    db = connect()
    with failing(root, question):
        got = answer(db, sql)
        assert left_open() == 0, sql
    db.close()
    return got


def without_times(rows):
    """zt_files gives the time of the change, which only the change itself tells."""
    return [[v for v in row if not isinstance(v, float) or v < 1e9] for row in rows] if isinstance(rows, list) else rows


def reason(text, path, itself):
    """True if a message names the file; `itself`: and says that it has changed, and not what came of that."""
    fault = CHANGED if itself else ".*"
    return re.fullmatch(f"ztensor: {re.escape(str(path))}: (object '[^']*': )?(component '[^']*': )?({fault})", text)


def assert_old_or_new(statement, path, states, got, itself, said):
    """Rows are those of one of the states, or an error names the file; rows that report errors may stand among others."""
    if isinstance(got, sqlite3.Error):
        assert got.sqlite_errorcode == sqlite3.SQLITE_ERROR and reason(str(got), path, itself), said
        return "error"
    got = without_times(got)
    for name, rows in states.items():
        if got == rows:
            return name
    known = [row for rows in states.values() if isinstance(rows, list) for row in rows]
    # A hash is had or skipped by itself.
    if statement.skips and (got == [] or ("hash" in statement.sql and all(row in known for row in got))):
        return "skipped"
    # Row by row: of what was read before the change, and why the rest was not.
    assert statement.reports and any(row[-1] for row in got), said
    assert all(reason(row[-1] or "", path, itself) for row in got if row not in known), said
    return "row"


# A finding of zt_check about a change has that as its message.
def reporting(statement):
    statement.sql = statement.sql.replace("message LIKE '%cannot %'", "severity = 'error'")
    return statement


@pytest.mark.parametrize("what", HAPPENS)
def test_a_file_changes_at_any_call(tmp_path, file, what, capsys):
    tally, before = Counter(), descriptors()
    for name, changing in (("a.zt", "a.zt"), ("b.zt", "b.zt"), ("b.zt", "b-s.zt")):
        path, target = file(name), str(tmp_path / changing)
        with open(target, "rb") as f:
            data = f.read()
        for statement in map(reporting, statements.of_file(path)):
            if not concerns(statement, changing):
                continue
            log = Log()
            states = {"old": without_times(fresh(statement.sql, tmp_path, log))}
            HAPPENS[what](target, data)
            states["new"] = without_times(fresh(statement.sql, tmp_path, Log()))
            for n in range(1, len(log.calls) + 1):
                restore(target, data)
                change = Change(n, lambda: HAPPENS[what](target, data))
                got = fresh(statement.sql, tmp_path, change)
                # Open since the first fstat(), and the same file still
                itself = changing == name and n > log.calls.index("fstat") + 1 and HAPPENS[what] in IN_PLACE
                said = f"{changing} {what} before call {n} ({change.call}) of {statement.sql}\ngave {got!r}\nnot {states}"
                assert change.call, said
                tally[assert_old_or_new(statement, path, states, got, itself, said)] += 1
            restore(target, data)
    with capsys.disabled():
        print(f"\na file {what}: {dict(tally)}", end="")
    assert tally.total() > 0 and descriptors() == before


# --------------------------------------------------------------------------------------------- in the middle of a tensor

MEGABYTE = bytes(range(256)) * 4096


@pytest.mark.parametrize("component", ["raw", "zstd", "seekable"])
def test_a_file_is_cut_in_the_middle_of_a_tensor(tmp_path, component):
    """At each read: which byte is missing is told, of the file or the shard that it is missing from."""
    raw = writer.dense(MEGABYTE)
    encoded = {"raw": raw, "zstd": writer.zstd_parts(raw), "seekable": writer.seekable_dense(MEGABYTE, 1 << 16)}
    path = tmp_path / "m.zt"
    data = writer.write({"w": encoded[component]}, "2" if component == "seekable" else "1.2")
    for sql in (f"SELECT zt_hash('{path}', 'w', 'data', 'xxh3')",
                f"SELECT sum(value) FROM zt_elements('{path}', 'w') WHERE position > 900000",
                f"SELECT zt_blob('{path}', 'w')", f"SELECT count(error), max(error) FROM zt_stats('{path}')"):
        restore(path, data)
        log = Log()
        clean = fresh(sql, tmp_path, log)
        opened = log.calls.index("fstat") + 2
        cuts = []
        for n in range(opened, len(log.calls) + 1):
            restore(path, data)
            got = fresh(sql, tmp_path, Change(n, lambda: os.truncate(path, len(data) // 2)))
            text = got[0][1] if "zt_stats" in sql and isinstance(got, list) and got[0][0] else str(got)
            if got == clean:
                assert n == len(log.calls), sql   # Only what closes the file
                continue
            assert reason(text, path, True), f"{sql}, call {n}: {text}"
            cuts.append(text)
        missing = {int(text.split()[-3]) for text in cuts if text.endswith(" is missing")}
        # Where the end is read alone, that is where it begins.
        assert missing and min(missing) >= len(data) // 2 and ("zt_elements" in sql or min(missing) == len(data) // 2), sql


def test_a_shard_is_named_by_what_is_wrong_with_it(tmp_path, file):
    path, shard = file("b.zt"), str(tmp_path / "b-s.zt")
    size = os.path.getsize(shard)
    sql = f"SELECT zt_blob('{path}', 'w')"
    place = f"ztensor: {path}: object 'w': component 'data': shard {shard}"
    log = Log()
    fresh(sql, tmp_path, log)
    said = set()
    for n in range(1, len(log.calls) + 1):
        restore(shard, newest()[1])
        got = fresh(sql, tmp_path, Change(n, lambda: os.truncate(shard, 4100)))
        if isinstance(got, sqlite3.Error):
            said.add(str(got))
    short = f"{place}: the file was cut short while it was read: byte"
    assert said == {f"{place} has 4100 bytes, and should have {size}", f"{short} 4100 is missing", f"{short} {size - 48} is missing",
                    f"{place}: the file was written to while it was read"}


# ----------------------------------------------------------------------------------------------------------- directories

MOVES = {
    "vanishes": lambda d: shutil.rmtree(d),
    "is renamed": lambda d: d.rename(d.with_name("elsewhere")),
    "becomes a file": lambda d: (shutil.rmtree(d), d.write_bytes(b"x")),
    "becomes a link to itself": lambda d: (shutil.rmtree(d), d.symlink_to(d)),
    "is emptied": lambda d: [path.unlink() for path in d.iterdir()],
}


def plant(top):
    """Three directories of a file each."""
    for path in top.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
    for name in ("x", "y", "z"):
        (top / name).mkdir()
        (top / name / "1.zt").write_bytes(writer.sample())
        old_times(top / name / "1.zt")


@pytest.mark.parametrize("what", MOVES)
def test_a_directory_changes_while_it_is_listed(tmp_path, what, capsys):
    """The rows of all other directories are there; those of this one, or an error that names it, or neither if it has gone."""
    top, moved = tmp_path / "top", tmp_path / "top/y"
    top.mkdir()
    tally = Counter()
    for source in (top, f"{top}/**/*.zt", f"{top}/*/1.zt"):
        sql = f"SELECT path, objects, error FROM zt_files('{source}')"
        plant(top)
        log = Log()
        clean = fresh(sql, tmp_path, log)
        assert len(clean) == 3
        for n in range(1, len(log.calls) + 1):
            plant(top)
            change = Change(n, lambda: MOVES[what](moved))
            got = fresh(sql, tmp_path, change)
            said = f"{what} before call {n} ({change.call} {change.path}) of {sql}: {got}"
            others = [row for row in got if not row[0].startswith(str(moved)) and "elsewhere" not in row[0]]
            assert others == [row for row in clean if not row[0].startswith(str(moved))], said
            for row in got:
                assert row in clean or "elsewhere" in row[0] or row[2].startswith(f"ztensor: {row[0]}: "), said
            tally["same" if got == clean else "error" if any(row[2] for row in got) else "gone"] += 1
    with capsys.disabled():
        print(f"\na directory {what}: {dict(tally)}", end="")
    assert set(tally) >= {"same", "gone"}


@pytest.mark.parametrize("table", ["zt_files", "zt_objects", "zt_check"])
def test_the_directory_that_a_source_names_vanishes(tmp_path, table):
    """It was there when it was looked at: to find nothing in it would be wrong."""
    top = tmp_path / "top"
    top.mkdir()
    sql = f"SELECT path FROM {table}('{top}')"
    log = Log()
    plant(top)
    fresh(sql, tmp_path, log)
    for n in range(2, log.calls.index("opendir") + 2):
        plant(top)
        got = fresh(sql, tmp_path, Change(n, lambda: shutil.rmtree(top)))
        error = f"ztensor: {top}: cannot list the directory: No such file or directory"
        assert got == [(str(top),)] if table != "zt_objects" else str(got) == error, (n, got)
        top.mkdir()
