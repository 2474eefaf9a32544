"""Opened files are remembered by a connection, and a changed file is always noticed."""
import os
import time

import corpus
import writer
from support import message, place, prefix, rows, value


def content(n):
    """A file whose bytes depend on n and whose size does not."""
    return writer.write({"w": writer.dense(bytes([n]) * 8)}, attributes={"n": n % 10})


def overwrite(path, data):
    """Writes into the same file: inode and size stay, and the clock of the file system may not have ticked."""
    with open(path, "r+b") as file:
        file.write(data)


# The manifest's and the blob's contents, each through a function and a table.
QUERIES = {
    "SELECT zt_blob(?, 'w')": lambda n: bytes([n]) * 8,
    "SELECT data FROM zt_components(?)": lambda n: bytes([n]) * 8,
    "SELECT value FROM zt_attributes(?)": lambda n: n % 10,
    "SELECT attributes FROM zt_files(?)": lambda n: '{"n":%d}' % (n % 10),
    "SELECT json_extract(zt_manifest(?), '$.attributes.n')": lambda n: n % 10,
}


def test_a_file_rewritten_in_place_with_the_same_size_is_noticed_at_once(db, save):
    path = save("x.zt", content(0))
    for n in range(1, 101):
        overwrite(path, content(n))
        for sql, expected in QUERIES.items():
            assert value(db, sql, path) == expected(n)


def test_a_file_rewritten_in_place_is_noticed_though_its_mtime_was_put_back(db, save):
    path = save("x.zt", content(0))
    for n in range(1, 101):
        overwrite(path, content(n))
        os.utime(path, (1_600_000_000, 1_600_000_000))
        for sql, expected in QUERIES.items():
            assert value(db, sql, path) == expected(n)


def test_a_file_replaced_by_another_of_the_same_size_and_mtime_is_noticed(db, save):
    path = save("x.zt", content(0))
    for n in range(1, 51):
        new = save("new.zt", content(n))
        os.utime(new, (1_600_000_000, 1_600_000_000))
        os.replace(new, path)
        for sql, expected in QUERIES.items():
            assert value(db, sql, path) == expected(n)


def test_a_file_that_becomes_longer_shorter_broken_and_good_again_is_noticed(db, save):
    sql = "SELECT group_concat(object) FROM zt_objects(?)"
    for names in (["a"], ["a", "b", "c"], ["b"], []):
        path = save("x.zt", writer.write({name: writer.dense(b"x") for name in names}))
        assert value(db, sql, path) == (",".join(names) or None)
    save("x.zt", b"broken")
    assert message(db, sql, path).startswith(prefix(path))
    save("x.zt", content(1))
    assert value(db, sql, path) == "w"


def test_a_removed_file_is_noticed(db, sample):
    assert value(db, "SELECT count(*) FROM zt_objects(?)", sample) == 2
    assert value(db, "SELECT zt_blob(?, 'layer1.bias')", sample) == b"\x02" * 4
    os.unlink(sample)
    assert message(db, "SELECT * FROM zt_objects(?)", sample).startswith(prefix(sample))
    assert message(db, "SELECT zt_blob(?, 'layer1.bias')", sample).startswith(prefix(sample))


def test_the_same_file_under_two_names_is_each_time_named_as_it_was_given(db, save, tmp_path):
    path = save("x.zt", content(1))
    link = str(tmp_path / "link.zt")
    os.link(path, link)
    for name in (path, link, path):
        assert rows(db, "SELECT path FROM zt_objects(?)", name) == [(name,)]
        assert message(db, "SELECT zt_blob(?, 'none')", name).startswith(place(name, "none"))


def test_a_relative_path_follows_the_working_directory(db, save, tmp_path, monkeypatch):
    save("one/x.zt", content(1))
    save("two/x.zt", content(2))
    for n, directory in ((1, "one"), (2, "two"), (1, "one")):
        monkeypatch.chdir(tmp_path / directory)
        assert value(db, "SELECT zt_blob('x.zt', 'w')") == bytes([n]) * 8


def test_equal_looking_blobs_are_not_confused(db):
    # Same length, same address now and then: a BLOB must not be known by either.
    db.execute("CREATE TABLE model(n INTEGER PRIMARY KEY, file BLOB)")
    db.executemany("INSERT INTO model VALUES (?, ?)", [(n, content(n)) for n in range(1, 101)])
    assert rows(db, "SELECT n, zt_blob(file, 'w') FROM model") == [(n, bytes([n]) * 8) for n in range(1, 101)]
    assert rows(db, "SELECT n, value FROM model, zt_attributes(file)") == [(n, n % 10) for n in range(1, 101)]


def test_the_manifest_of_a_file_is_read_once_for_many_calls(trace):
    # A file of the repository: one that was written a moment ago may change again within the same tick of the clock.
    path = corpus.HOSTILE / "1.2-ok-2000-objects.zt"
    got = trace(f"""WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 199)
                    SELECT count(zt_blob('{path}', printf('t%04d', i))) FROM n;""")
    assert got.out.strip() == "200"
    size = path.stat().st_size
    assert size // 2 < got.bytes_read(str(path)) < 3 * size


def test_more_files_can_be_read_than_may_be_open_at_once(shell, save, tmp_path):
    paths = [save(f"many/{n:03}.zt", content(n)) for n in range(100)]
    got = shell(f"""SELECT path, hex(data) FROM zt_components('{tmp_path}/many');
                    SELECT path, hex(zt_blob(path, 'w')) FROM zt_files('{tmp_path}/many');""",
                arguments=["sh", "-c", "ulimit -n 40; exec sqlite3 -batch :memory:"])
    expected = [f"{path}|" + f"{n:02X}" * 8 for n, path in enumerate(paths)]
    assert (got.out.splitlines(), got.err) == (expected * 2, "")


def test_files_are_closed_with_the_connection(connect, tree):
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    db = connect()
    assert value(db, "SELECT count(*) FROM zt_objects(?)", tree.path) == 10
    assert rows(db, "SELECT zt_blob(path, 'layer1.bias') FROM zt_files(?)", tree.path) == [(b"\x02" * 4,)] * 5
    db.close()
    assert descriptors() == before


def test_unfinished_and_failed_statements_leave_no_file_open(connect, tree):
    def open_tensor_files():
        return [t for t in (os.readlink(f"/proc/self/fd/{d}") for d in os.listdir("/proc/self/fd")
                            if os.path.islink(f"/proc/self/fd/{d}")) if t.endswith(".zt")]

    db = connect()
    with open(tree.files[3], "ab") as file:
        file.write(b"\n")
    for path in tree.files:
        cursor = db.execute("SELECT data FROM zt_components(?, 'skip')", (path,))
        cursor.fetchone()
        cursor.close()
    assert message(db, "SELECT * FROM zt_objects(?)", tree.files[3]).startswith(prefix(tree.files[3]))
    db.close()
    assert open_tensor_files() == []


def test_a_name_of_its_own_for_each_link_of_a_file(db, tmp_path):
    """An array's name is that of its file: what is kept of one link does not serve the other."""
    (tmp_path / "a.npy").write_bytes(next((corpus.FORMATS / "npy/golden").glob("*.npy")).read_bytes())
    os.link(tmp_path / "a.npy", tmp_path / "b.npy")
    time.sleep(0.1)   # A file that changed a moment ago is not kept
    for name in "aabba":
        assert rows(db, "SELECT object FROM zt_objects(?)", str(tmp_path / f"{name}.npy")) == [(name,)]
    os.chmod(tmp_path / "a.npy", 0o600)   # Changes the time of the file's last change alone
    assert rows(db, "SELECT object, zt_dense(path, object) IS NOT NULL FROM zt_objects(?)", str(tmp_path / "a.npy")) == [("a", 1)]
