"""zt_check over sources of every kind: what cannot be read is a finding, what is wrong with the query an error; and what a
check costs: bytes read, memory, time."""
import os
import re
import socket
import sqlite3
import struct
import threading
import time

import pytest

import writer
from support import message, quoted, rows, value

NOFS = "sqlite3_ztensor_nofs_init"
MIB = 1 << 20
GIB = 1 << 30
LEVELS = pytest.mark.parametrize("level", ["quick", "full"])
ROWS = "SELECT path, object, component, severity, rule, message FROM zt_check"


def lines(tree):
    """The rows of a check of that tree, whose files have no digests: (path, object)."""
    return [(file, name) for file in tree.files for name in ("layer1.weight", "layer1.bias")]


# -------------------------------------------------------------------------------------------------------- arguments

def test_the_table_has_the_columns_of_the_contract(db):
    assert rows(db, "SELECT name, type, hidden FROM pragma_table_xinfo('zt_check')") == [
        (name, "TEXT", 0) for name in ("path", "object", "component", "severity", "rule", "message")] + [
        ("source", "BLOB", 1), ("level", "TEXT", 1), ("too many arguments", "", 1), ("meaning", "TEXT", 1),
        ("specification", "TEXT", 1)]


def test_the_arguments_can_be_read_back(db, sample):
    assert rows(db, "SELECT DISTINCT source, level FROM zt_check(?, 'full')", sample) == [(sample, "full")]
    assert rows(db, "SELECT DISTINCT path, source, level FROM zt_check(?, 'quick')", writer.sample()) == [
        (None, writer.sample(), "quick")]


@pytest.mark.parametrize("arguments", ["?", "?, NULL", "?, 'quick'"])
def test_quick_is_the_usual_level(db, arguments):
    file = writer.write({"w": writer.dense(b"\2", dtype="bool", digest="crc32c:00000000")})
    assert rows(db, f"SELECT rule FROM zt_check({arguments})", file) == []
    assert rows(db, "SELECT rule FROM zt_check(?, 'full')", file) == [("digest-mismatch",), ("bool-byte",)]
    assert rows(db, "SELECT rule FROM zt_check WHERE source = ? AND level = 'full'", file) == [("digest-mismatch",), ("bool-byte",)]


@pytest.mark.parametrize("level", ["Full", "", "all", "quick ", "skip", 1, 0.5])
@pytest.mark.parametrize("source", ["sample", "tree", "blob", "none.zt", "none*", None])
def test_another_level_is_an_error(db, sample, tree, source, level):
    source = {"sample": sample, "tree": tree.path, "blob": writer.sample()}.get(source, source)
    text = message(db, "SELECT * FROM zt_check(?, ?)", source, level)
    assert text == f"ztensor: level must be 'quick' or 'full', not '{level}'"


def test_the_level_that_is_not_given_is_quick(db, sample):
    assert rows(db, "SELECT DISTINCT level FROM zt_check(?)", sample) == [("quick",)]
    assert rows(db, "SELECT DISTINCT level FROM zt_check(?, NULL)", sample) == [("quick",)]
    assert rows(db, "SELECT DISTINCT level FROM zt_check(?, 'full')", sample) == [("full",)]


def test_blobs_in_an_or_keep_their_rows(db):
    blobs = [writer.write({name: writer.dense(b"1") for name in names}) for names in (["a", "b"], ["c", "d", "e"])]
    condition = " OR ".join("(source = ? AND rule > '')" for _ in blobs)
    assert value(db, f"SELECT count(*) FROM zt_check WHERE {condition}", *blobs) == 5
    assert value(db, f"SELECT count(*) FROM zt_objects WHERE {condition.replace('rule', 'object')}", *blobs) == 5


@pytest.mark.parametrize("level", [b"full", "fu\0ll"])
def test_a_level_that_is_no_text_is_an_error(db, sample, level):
    assert "level" in message(db, "SELECT * FROM zt_check(?, ?)", sample, level)


@LEVELS
def test_sources_that_are_none(db, tmp_path, level):
    assert rows(db, "SELECT * FROM zt_check(NULL, ?)", level) == []
    assert rows(db, "SELECT * FROM zt_check(?, ?)", str(tmp_path / "*.zt"), level) == []
    assert rows(db, "SELECT * FROM zt_check(?, ?)", str(tmp_path), level) == []
    for number in (1, 2.5):
        message(db, "SELECT * FROM zt_check(?, ?)", number, level)
    assert "zt_check('model.zt')" in message(db, "SELECT * FROM zt_check")


def test_it_can_be_given_a_name(db, tree, save):
    save("tree/d.zt", writer.one(writer.dense(b"\2", dtype="bool")))
    db.execute(f"CREATE VIRTUAL TABLE temp.c USING zt_check({quoted(tree.path)}, full)")
    db.execute(f"CREATE VIRTUAL TABLE temp.q USING zt_check({quoted(tree.path)})")
    assert rows(db, "SELECT path, object FROM c WHERE rule = 'missing-digest'") == lines(tree)
    assert rows(db, "SELECT rule FROM c WHERE path LIKE '%/d.zt'") == [("bool-byte",)]
    assert rows(db, "SELECT rule FROM c('none.zt', 'quick')") == [("unreadable",)]
    assert rows(db, "SELECT rule FROM q WHERE path LIKE '%/d.zt'") == []
    assert rows(db, "SELECT rule FROM q WHERE path LIKE '%/d.zt' AND level = 'full'") == [("bool-byte",)]
    assert "level must be" in message(db, "CREATE VIRTUAL TABLE temp.b USING zt_check('x', 'thorough')")
    with pytest.raises(sqlite3.OperationalError, match="at most 2 arguments"):
        db.execute("CREATE VIRTUAL TABLE temp.d USING zt_check(a, full, skip)")


# ------------------------------------------------------------------------------------------------------ unreadable files

def test_a_path_that_names_nothing_is_a_finding(db, tmp_path):
    for source in (str(tmp_path / "none.zt"), f"file:{tmp_path}/none.zt", "file://elsewhere/none.zt"):
        for level in ("quick", "full"):
            (row,) = rows(db, f"{ROWS}(?, ?)", source, level)
            assert row[1:5] == (None, None, "error", "unreadable") and row[5]
            assert message(db, "SELECT * FROM zt_objects(?)", source) == f"ztensor: {row[0]}: {row[5]}"


@LEVELS
def test_a_file_that_is_none_is_a_finding(db, tmp_path, level):
    fifo, server, loop, dangling = (str(tmp_path / f"{n}.zt") for n in ("fifo", "socket", "loop", "dangling"))
    os.mkfifo(fifo)
    os.symlink(loop, loop)
    os.symlink("nowhere", dangling)
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(server)
        for path in (fifo, server, loop, dangling, "/dev/zero"):
            (row,) = rows(db, f"{ROWS}(?, ?)", path, level)
            assert row[:5] == (path, None, None, "error", "unreadable") and row[5]


@LEVELS
def test_a_directory_with_the_name_of_a_file_is_a_directory(db, save, tmp_path, level):
    inner = save("dir/x.zt/y.zt", b"no tensor file")
    for source in (tmp_path / "dir", tmp_path / "dir/x.zt"):
        assert rows(db, "SELECT path, rule FROM zt_check(?, ?)", str(source), level) == [(inner, "magic")]


@LEVELS
@pytest.mark.parametrize("blob, rule", [(b"", "magic"), (b"garbage", "magic"), (bytes(1000), "magic"), (b"ZTEN1000", "footer")])
def test_a_blob_that_is_no_file_is_a_finding(db, level, blob, rule):
    (row,) = rows(db, f"{ROWS}(?, ?)", blob, level)
    assert row[:5] == (None, None, None, "error", rule) and row[5]


def test_a_file_without_permission_is_a_finding(another_user):
    directory, run = another_user
    for name, mode in (("a.zt", 0o644), ("secret.zt", 0), ("z.zt", 0o644)):
        with open(f"{directory}/{name}", "wb") as file:
            file.write(writer.one(writer.dense(b"\1")))
        os.chmod(f"{directory}/{name}", mode)
    found = f"[('{directory}/secret.zt', None, None, 'error', 'unreadable', 'cannot open: Permission denied')]"
    assert run(*[f"{ROWS}('{directory}{name}', '{level}')" for name in ("", "/*.zt", "/secret.zt") for level in ("quick", "full")]) == [
        found] * 6


def test_a_directory_without_permission_is_a_finding(another_user):
    directory, run = another_user
    for name in ("a", "secret", "z"):
        os.mkdir(f"{directory}/{name}")
        with open(f"{directory}/{name}/x.zt", "wb") as file:
            file.write(writer.write({"w": writer.dense(b"\1")}))
    os.chmod(f"{directory}/secret", 0)
    for level in ("quick", "full"):
        assert run(f"SELECT path, rule, message FROM zt_check('{directory}', '{level}')") == [repr([
            (f"{directory}/a/x.zt", "missing-digest", "there is no digest"),
            (f"{directory}/secret", "unreadable", "cannot list the directory: Permission denied"),
            (f"{directory}/z/x.zt", "missing-digest", "there is no digest")])]


@LEVELS
def test_the_files_after_one_that_cannot_be_read_are_checked(db, tree, save, level):
    cut = save("tree/b/a.zt", writer.sample()[:-3])
    assert rows(db, "SELECT path, object FROM zt_check(?, ?)", tree.path, level) == lines(tree)[:2] + [(cut, None)] + lines(tree)[2:]


def test_a_file_that_changes_while_it_is_checked_is_unreadable(db, save):
    # Said once: what follows would be of another file.
    one_byte = writer.dense(b"\1")
    sparse = writer.sparse_coo([4], [(1,), (2,)], b"\1\2")
    objects = {"a": one_byte, "b": one_byte, "s": sparse, "t": writer.sealed(sparse), "d": writer.sealed(one_byte)}
    path = save("x.zt", writer.write(objects))
    cursor = db.execute("SELECT object, component, rule FROM zt_check(?, 'full')", (path,))
    assert cursor.fetchone() == ("a", "data", "missing-digest")
    os.utime(path, (1, 1))
    *before, last = cursor.fetchall()
    whole = [("b", "data", "missing-digest"), ("s", "values", "missing-digest"), ("s", "coords", "missing-digest")]
    assert last[2] == "unreadable" and before == whole[:len(before)]   # As far as the file was read ahead


# ------------------------------------------------------------------------------------------------------------ joins, pruning

def test_a_join_checks_every_path_of_a_table_missing_ones_too(db, tree):
    db.execute("CREATE TEMP TABLE model(id, path)")
    paths = [tree.files[0], tree.path + "/none.zt", tree.files[1], None, b"garbage"]
    db.executemany("INSERT INTO model VALUES (?, ?)", enumerate(paths))
    got = rows(db, "SELECT id, c.path, c.rule FROM model AS m, zt_check(m.path, 'full') AS c ORDER BY id, c.rowid")
    assert got == [(0, paths[0], "missing-digest")] * 2 + [(1, paths[1], "unreadable")] + [(2, paths[2], "missing-digest")] * 2 + [
        (4, None, "magic")]
    assert rows(db, "SELECT id, count(c.rule) FROM model AS m LEFT JOIN zt_check(m.path) AS c GROUP BY id") == [
        (0, 2), (1, 1), (2, 2), (3, 0), (4, 1)]


def test_it_joins_the_other_tables(db, tree):
    assert rows(db, """SELECT path, object, rule, dtype FROM zt_components(?1) JOIN zt_check(?1) USING (path, object, component)
                       WHERE path LIKE '%/b/%'""", tree.path) == [
        (*line, "missing-digest", "u8") for line in lines(tree) if "/b/" in line[0]]


@pytest.mark.parametrize("condition, kept", [
    ("path = '{root}/c/y.zt'", ["c/y.zt"]), ("path IN ('{root}/c/y.zt', '{root}/a.zt')", ["a.zt", "c/y.zt"]),
    ("path LIKE '%/B/%'", ["b/one.zt", "b/two.zt"]), ("path GLOB '*/c*'", ["c-d/z.zt", "c/y.zt"]),
    ("path = '{root}/none.zt'", []), ("path IS NULL", None), ("path = NULL", []),
])
def test_a_condition_on_path_is_decided_before_a_file_is_opened(trace, tree, condition, kept):
    condition = condition.format(root=tree.path)
    got = trace(f"SELECT DISTINCT path FROM zt_check('{tree.path}', 'full') WHERE {condition};")
    assert sorted(got.out.splitlines()) == [f"{tree.path}/{name}" for name in kept or []]
    if kept is not None:
        assert sorted(set(got.tensor_files())) == [f"{tree.path}/{name}" for name in kept]


@pytest.mark.parametrize("condition", ["object = 'layer1.bias'", "rule = 'missing-digest'", "severity = 'error'", "object IS NULL",
                                       "component = 'data'", "message LIKE '%digest%'", "rowid > 0", "path LIKE '%b%' OR object = 'x'"])
def test_conditions_give_what_they_give_over_an_ordinary_table(db, tree, save, condition):
    save("tree/broken.zt", b"?")
    db.execute(f"CREATE TEMP TABLE copy AS SELECT rowid AS id, * FROM zt_check({quoted(tree.path)}, 'full')")
    assert rows(db, f"{ROWS}(?, 'full') WHERE {condition} ORDER BY 1, 2", tree.path) == rows(
        db, f"SELECT path, object, component, severity, rule, message FROM copy WHERE {condition.replace('rowid', 'id')} ORDER BY 1, 2")


def test_rowids_tell_the_findings_apart(db, tree):
    # Counted here: SQLite takes rowids for distinct.
    for source, count in ((tree.path, 10), (writer.sample(), 2)):
        assert len({row[0] for row in rows(db, "SELECT rowid FROM zt_check(?)", source)}) == count


# --------------------------------------------------------------------------------------------------- the nofs entry point

def test_nofs_checks_blobs(connect):
    nofs = connect(entry=NOFS)
    assert rows(nofs, "SELECT path, object, rule FROM zt_check(?, 'full')", writer.sample()) == [
        (None, "layer1.weight", "missing-digest"), (None, "layer1.bias", "missing-digest")]


def test_what_nofs_may_not_decode_is_a_finding(connect):
    # More than the limit, of a size that the manifest tells and of one that only decoding tells.
    nofs = connect(entry=NOFS)
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MIB)
    size = 8 * MIB
    big = writer.zstd_repeat(b"\1", size)
    stated = writer.sealed(writer.dense(big, [size], encoding="zstd", uncompressed_length=size))
    unstated = writer.sealed({"shape": [size], "components": {"data": {"bytes": b"\1" * 3}, "more": {"bytes": big, "encoding": "zstd"}}}, "1.1")
    small = writer.sealed(writer.zstd_parts(writer.dense(b"\2" * 100, dtype="bool")))
    unstated["shape"] = [3]
    for name, object, generation, component in (("stated", stated, "1.2", "data"), ("unstated", unstated, "1.1", "more")):
        file = writer.write({name: object, "small": small}, generation)
        (first, second) = rows(nofs, f"{ROWS}(?, 'full')", file)
        assert first[:5] == (None, name, component, "error", "limit") and str(MIB) in first[5]
        assert second[1:5] == ("small", "data", "warning", "bool-byte")
        assert rows(nofs, f"{ROWS}(?, 'quick')", file) == []


def test_nofs_says_the_limit_once_of_each_component(connect):
    nofs = connect(entry=NOFS)
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MIB)
    n = 2 * MIB
    zeros = {"bytes": writer.zstd_repeat(b"\0", n), "encoding": "zstd", "uncompressed_length": n}
    coords = {"bytes": writer.zstd_repeat(b"\0", 8 * n), "encoding": "zstd", "uncompressed_length": 8 * n, "dtype": "u64"}
    file = writer.one({"shape": [9], "format": "sparse_coo", "components": {"values": dict(zeros, dtype="u8"), "coords": coords}})
    assert rows(nofs, "SELECT object, component, rule FROM zt_check(?, 'full')", file) == [
        ("w", "values", "limit"), ("w", "coords", "limit")]


def test_nofs_may_not_decode_together_what_it_may_apart(connect):
    nofs = connect(entry=NOFS)
    nofs.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    big = writer.dense(writer.zstd_repeat(b"\1", MIB), [MIB], encoding="zstd", uncompressed_length=MIB)
    zeros = {"bytes": writer.zstd_repeat(b"\0", 80_000), "encoding": "zstd", "uncompressed_length": 80_000}
    both = {"shape": [9], "format": "sparse_coo", "components": {"values": dict(zeros, dtype="f64"), "coords": dict(zeros, dtype="u64")}}
    got = rows(nofs, "SELECT object, component, rule FROM zt_check(?, 'full')", writer.write({"big": writer.sealed(big), "both": writer.sealed(both)}))
    assert got[0] == ("big", "data", "limit")
    assert [(row[0], row[2]) for row in got[1:]] == [("both", "limit")]


# ------------------------------------------------------------------------------------------------------ what a check reads

GENERATIONS = pytest.mark.parametrize("generation", ["0.1", "1.0", "1.1", "1.2"])


@pytest.fixture
def far(save):
    """far(generation): a file whose blobs, of which much could be said, lie from 1 MiB to 3 MiB."""
    def far(generation="1.2"):
        key = "checksum" if generation == "0.1" else "digest"
        objects = {"a": writer.dense(b"\2" * MIB, dtype="bool", **{key: "crc32c:00000000"}),
                   "b": writer.dense(b"\1" * MIB, encoding="zstd", uncompressed_length=MIB, **{key: "crc32c:00000000"})}
        if generation != "0.1":
            objects["c"] = writer.sealed(writer.sparse_coo([4], [(3,), (1,)], b"\1\2"), generation)
        return save(f"far-{generation}.zt", writer.write(objects, generation, first_offset=MIB, gap=MIB))

    return far


@GENERATIONS
def test_a_quick_check_reads_no_byte_beyond_the_manifest(trace, far, generation):
    path = far(generation)
    got = trace(f"SELECT rule FROM zt_check('{path}');")
    assert got.err == "" and set(got.out.split()) == {"gap"}
    assert got.tensor_files() == [path]
    assert got.bytes_read(path, MIB, 3 * MIB) == 0
    assert 0 < got.bytes_read(path) < MIB // 4


@GENERATIONS
def test_a_full_check_reads_every_byte(trace, far, generation):
    path = far(generation)
    got = trace(f"SELECT rule FROM zt_check('{path}', 'full');")
    assert {"gap", "digest-mismatch", "bool-byte", "encoding"} <= set(got.out.split())
    assert got.bytes_read(path, MIB, 3 * MIB) >= 2 * MIB
    if generation != "0.1":   # Whose padding may be anything
        assert got.bytes_read(path) >= os.path.getsize(path)


def test_quick_decodes_nothing_even_where_only_decoding_tells_a_length(trace, save):
    parts = {role: dict(c, bytes=writer.zstd(c["bytes"]), encoding="zstd")
             for role, c in writer.sparse_coo([MIB], [(i,) for i in range(1000)], bytes(1000))["components"].items()}
    path = save("x.zt", writer.one({"shape": [MIB], "format": "sparse_coo", "components": parts}, "1.1", first_offset=MIB, gap=MIB))
    got = trace(f"SELECT rule FROM zt_check('{path}') WHERE rule <> 'gap';")
    assert (got.out, got.err) == ("", "")
    assert got.bytes_read(path, MIB, MIB + 8000) == 0


def test_findings_appear_as_they_are_found(trace, save):
    objects = {"a": writer.dense(b"\2" * 64, dtype="bool"), "b": writer.dense(bytes(16 * MIB))}
    path = save("x.zt", writer.write({n: writer.sealed(o) for n, o in objects.items()}, first_offset=MIB))
    got = trace(f"SELECT object, rule FROM zt_check('{path}', 'full') WHERE rule <> 'gap' LIMIT 1;")
    assert got.out == "a|bool-byte\n"
    assert got.bytes_read(path, 2 * MIB, 16 * MIB) == 0
    got = trace(f"SELECT object, rule FROM zt_check('{path}', 'full') WHERE rule <> 'gap';")
    assert got.out == "a|bool-byte\n"
    assert got.bytes_read(path, 2 * MIB, 16 * MIB) >= 14 * MIB


def test_a_file_is_closed_before_the_next_is_opened(trace, tree):
    got = trace(f"SELECT zt_threads(1); SELECT path FROM zt_check('{tree.path}', 'full') LIMIT 3;")
    assert got.tensor_files() == tree.files[:2]


# --------------------------------------------------------------------------------------------------------- time and memory

def interrupted(db, path, level):
    """Seconds until a check ends that is interrupted after a fifth of one."""
    timer = threading.Timer(0.2, db.interrupt)
    timer.start()
    begin = time.monotonic()
    with pytest.raises(sqlite3.OperationalError) as caught:
        rows(db, "SELECT count(*) FROM zt_check(?, ?)", path, level)
    timer.join()
    assert caught.value.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT
    return time.monotonic() - begin


def holes(path, objects, size):
    """A file of 1.2 that is a hole of so many bytes between header and manifest."""
    whole = writer.write(objects)
    with open(path, "wb") as file:
        file.write(whole[:8])
        file.seek(size)
        file.write(whole[8 + (56 if objects else 0):])
    return str(path)


@pytest.mark.parametrize("what", ["raw", "padding", "digest", "zstd", "sparse"])
def test_a_full_check_can_be_interrupted(db, tmp_path, save, what):
    size = 64 * GIB
    if what == "raw":
        path = writer.sparse_file(tmp_path / "x.zt", [size], "u8", size, b"\1")
    elif what == "padding":
        path = holes(tmp_path / "x.zt", {}, size)
    elif what == "digest":
        data = {"offset": 64, "length": size - 64, "digest": writer.sha256(b"")}
        path = holes(tmp_path / "x.zt", {"w": {"shape": [size - 64], "components": {"data": data}}}, size)
    elif what == "zstd":   # 2 MiB of frames
        frames = writer.zstd_repeat(b"\1", GIB) * (size // GIB)
        path = save("x.zt", writer.one(writer.dense(frames, [size], encoding="zstd", uncompressed_length=size)))
    else:
        n = 2 * GIB
        parts = {"values": {"bytes": writer.zstd_repeat(b"\0", n), "encoding": "zstd", "uncompressed_length": n}, "coords": {
            "dtype": "u64", "bytes": writer.zstd_repeat(b"\0", 8 * n), "encoding": "zstd", "uncompressed_length": 8 * n}}
        path = save("x.zt", writer.one({"shape": [9], "format": "sparse_coo", "components": parts}))
    assert interrupted(db, path, "full") < 5


def peak_kib(shell, sql):
    """The most memory that the sqlite3 shell has had after a statement (test_hostile.py)."""
    out = shell(f"{sql}\n.shell grep VmHWM /proc/$PPID/status").out
    return int(re.search(r"VmHWM:\s+(\d+) kB", out)[1]), out


@pytest.mark.parametrize("what", ["zstd", "coo", "csr", "raw"])
def test_a_full_check_takes_bounded_memory(shell, save, tmp_path, what):
    size, n, expected = 256 * MIB, 4 * MIB, []
    if what == "zstd":
        path = save("x.zt", writer.one(writer.dense(writer.zstd_repeat(b"\1", size), [size], encoding="zstd", uncompressed_length=size)))
    elif what == "raw":
        path, expected = writer.sparse_file(tmp_path / "x.zt", [size], "bool", size, b"\2"), ["missing-digest", "bool-byte"]
    elif what == "coo":    # Descending: every cell has to be sorted
        coords = b"".join(struct.pack("<Q", i) for i in range(n // 4, 0, -1))
        path = save("x.zt", writer.one({"shape": [n], "format": "sparse_coo", "components": {
            "values": {"bytes": writer.zstd_repeat(b"\0", n // 4), "encoding": "zstd", "uncompressed_length": n // 4},
            "coords": {"dtype": "u64", "bytes": coords}}}))
        expected = ["unsorted-indices"]
    else:                  # All in one cell, 8 times 8 MiB of them
        n = 8 * MIB
        path = save("x.zt", writer.one({"shape": [1, 9], "format": "sparse_csr", "components": {
            "values": {"bytes": writer.zstd_repeat(b"\0", 8 * n), "encoding": "zstd", "uncompressed_length": 8 * n, "dtype": "f64"},
            "indices": {"dtype": "u64", "bytes": writer.zstd_repeat(b"\0", 8 * n), "encoding": "zstd", "uncompressed_length": 8 * n},
            "indptr": {"dtype": "u64", "bytes": struct.pack("<2Q", 0, n)}}}))
        expected = ["duplicate-indices"]
    usual, _ = peak_kib(shell, f"SELECT rule FROM zt_check({quoted(save('small.zt', writer.sample()))}, 'full');")
    peak, out = peak_kib(shell, f"SELECT rule FROM zt_check({quoted(path)}, 'full');")
    assert out.split()[:-3] == expected
    assert peak < usual + (32 << 10)


def most_bytes(shell, sql):
    """The most memory that SQLite has handed out, to itself and the extension, when a statement is done; and its one value."""
    out = shell(f".stats on\n{sql}").out
    return int(re.search(r"^Memory Used: +\d+ \(max (\d+)\) bytes", out, re.M)[1]), out.split()[0]


def test_as_many_findings_as_a_file_has_take_no_memory(shell, save):
    count = 50_000
    small = save("small.zt", writer.write({f"{i:05}": writer.dense(b"\1" * 3) for i in range(10)}))
    objects = {f"{i:05}": {"shape": [3], "components": {"data": {"offset": 64, "length": 3}}} for i in range(count)}
    path = save("x.zt", writer.write({"w": writer.dense(b"\1" * 3), **objects}))
    usual, _ = most_bytes(shell, f"SELECT count(*) FROM zt_objects({quoted(path)});")
    peak, found = most_bytes(shell, f"SELECT count(*) FROM zt_check({quoted(path)}, 'full');")
    assert found == str(count + 1)
    assert peak < usual + 32*count + (4 << 20)   # The order of components, windows, and prefetched objects
    assert most_bytes(shell, f"SELECT count(*) FROM zt_check({quoted(small)});")[1] == "10"
