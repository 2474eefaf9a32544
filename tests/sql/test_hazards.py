"""Files that change, vanish, cannot be read, or are used from several threads."""
import hashlib
import os
import sqlite3
import threading

import pytest

import corpus
import writer
from support import message, open_connection, place, prefix, rows, value

KIB100 = 100_000


@pytest.fixture
def three(save):
    """A file with three objects of 100 kB each: too much for a reader to have fetched it all beforehand."""
    return save("three.zt", writer.write({name: writer.dense(name.encode() * KIB100) for name in "abc"}))


def started(db, sql, *arguments):
    """A statement that stands on its first row."""
    return db.execute(sql, arguments)


BYTES = "SELECT object, data FROM zt_components(?)"
WHOLE = [(name, name.encode() * KIB100) for name in "abc"]


# ----------------------------------------------------------------------------------------- while a statement is running

def test_a_file_replaced_between_two_columns_is_no_row_of_two_states(db, three, tmp_path):
    larger = tmp_path / "new"
    larger.write_bytes(writer.write({"d": writer.dense(b"d" * 4 * KIB100)}))
    size = os.path.getsize(three)
    db.create_function("replace_it", 0, lambda: os.replace(larger, three))
    [row] = rows(db, "SELECT size, replace_it(), version, objects, stored_bytes, error, error_kind FROM zt_files(?)", three)
    told = prefix(three) + "the file was replaced while it was read"
    assert row == (size, None, None, None, None, told, "transient")
    assert value(db, "SELECT objects FROM zt_files(?)", three) == 1


def test_a_file_deleted_while_a_statement_runs_is_read_to_its_end(db, three):
    cursor = started(db, BYTES, three)
    os.unlink(three)
    assert cursor.fetchall() == WHOLE


def test_a_file_replaced_while_a_statement_runs_is_read_to_its_end(db, three, save):
    cursor = started(db, BYTES, three)
    os.replace(save("other.zt", writer.sample()), three)
    assert cursor.fetchall() == WHOLE
    # The next statement sees the new one.
    assert rows(db, "SELECT object FROM zt_objects(?)", three) == [("layer1.weight",), ("layer1.bias",)]


def test_a_file_truncated_while_a_statement_runs_is_an_error_and_no_crash(db, three):
    cursor = started(db, BYTES, three)
    os.truncate(three, KIB100 + 1000)
    with pytest.raises(sqlite3.OperationalError) as caught:
        cursor.fetchall()
    assert str(caught.value).startswith(place(three, "b", "data"))


def test_a_file_overwritten_by_a_shorter_one_while_a_statement_runs_is_an_error_and_no_crash(db, three):
    cursor = started(db, "SELECT object, stored, digest_status FROM zt_components(?)", three)
    with open(three, "wb") as file:
        file.write(writer.sample())
    with pytest.raises(sqlite3.OperationalError) as caught:
        cursor.fetchall()
    assert str(caught.value).startswith(place(three, "b", "data"))


def test_listing_goes_on_though_the_file_was_truncated(db, three):
    # The manifest was validated when the file was opened, and is in memory.
    cursor = started(db, "SELECT object, length FROM zt_components(?)", three)
    os.truncate(three, 0)
    assert cursor.fetchall() == [(name, KIB100) for name in "abc"]


def test_a_file_of_a_directory_deleted_while_a_statement_runs_is_an_unreadable_file(db, tree):
    cursor = started(db, "SELECT path FROM zt_objects(?, 'skip') WHERE object = 'layer1.bias'", tree.path)
    os.unlink(tree.files[3])
    assert cursor.fetchall() == [(f,) for f in tree.files if f != tree.files[3]]


# ------------------------------------------------------------------------------------------------------ between statements

def test_a_file_replaced_by_a_shorter_one(db, three):
    assert rows(db, BYTES, three) == WHOLE
    with open(three, "wb") as file:
        file.write(writer.sample())
    assert rows(db, BYTES, three) == [("layer1.weight", b"\x01" * 12), ("layer1.bias", b"\x02" * 4)]
    assert message(db, "SELECT zt_blob(?, 'c')", three).startswith(place(three, "c"))


def test_a_file_truncated_between_statements_is_unreadable(db, three):
    assert rows(db, BYTES, three) == WHOLE
    os.truncate(three, os.path.getsize(three) - 1)
    assert message(db, BYTES, three).startswith(prefix(three))
    assert message(db, "SELECT zt_blob(?, 'a')", three).startswith(prefix(three))


def test_a_file_that_becomes_a_fifo_is_refused_and_not_opened(shell, sample):
    # In the shell, which has a time limit: opening the FIFO would wait for a writer.
    got = shell(f"""SELECT hex(zt_blob('{sample}', 'layer1.bias'));
                    .shell rm '{sample}'; mkfifo '{sample}'
                    SELECT hex(zt_blob('{sample}', 'layer1.bias'));
                    SELECT object FROM zt_objects('{sample}');
                    SELECT 'end';""")
    assert got.out.splitlines() == ["02020202", "end"]
    assert got.err.count(prefix(sample)) == 2


def test_a_file_that_becomes_a_directory_is_one(db, sample):
    assert value(db, "SELECT count(*) FROM zt_objects(?)", sample) == 2
    os.unlink(sample)
    os.mkdir(sample)
    assert rows(db, "SELECT * FROM zt_objects(?)", sample) == []
    assert message(db, "SELECT zt_blob(?, 'layer1.bias')", sample).startswith(prefix(sample))


# --------------------------------------------------------------------------------------------------------- permissions

def test_a_file_without_permission_is_unreadable(another_user):
    directory, run = another_user
    for name, mode in (("open.zt", 0o644), ("secret.zt", 0)):
        with open(f"{directory}/{name}", "wb") as file:
            file.write(writer.sample())
        os.chmod(f"{directory}/{name}", mode)
    secret = f"{directory}/secret.zt"
    got = run(f"SELECT count(*) FROM zt_objects('{directory}/open.zt')", f"SELECT * FROM zt_objects('{secret}')",
              f"SELECT zt_blob('{secret}', 'layer1.bias')", f"SELECT * FROM zt_objects('{secret}', 'skip')",
              f"SELECT objects, size, error LIKE 'ztensor: {secret}: %' FROM zt_files('{directory}')",
              f"SELECT DISTINCT path FROM zt_objects('{directory}', 'skip')")
    assert got[0] == "[(2,)]"
    assert got[1].startswith("1 " + prefix(secret)) and got[2].startswith("1 " + prefix(secret))
    assert got[3] == "[]"
    assert got[4] == f"[(2, {len(writer.sample())}, None), (None, {len(writer.sample())}, 1)]"
    assert got[5] == f"[('{directory}/open.zt',)]"


def test_a_directory_that_cannot_be_listed_is_found_by_its_path_too(another_user):
    directory, run = another_user
    for name in ("locked", "open"):
        os.mkdir(f"{directory}/{name}")
    os.chmod(f"{directory}/locked", 0)
    query = f"SELECT path, error LIKE '%locked: cannot list the directory: %' FROM zt_files('{directory}')"
    expected = f"[('{directory}/locked', 1)]"
    assert run(query, f"{query} WHERE path = '{directory}/locked'", f"{query} WHERE path = '{directory}/open'") == [
        expected, expected, "[]"]


# ------------------------------------------------------------------------------------------------------------- threads

def test_threads_with_a_connection_each_read_the_right_bytes():
    files = [(str(path), e) for name, path, e in corpus.golden() if name.startswith(("v1.2/wheel", "v0.1/wheel", "v2/wheel"))]
    expected = sorted((path, o["name"], c["decoded_sha256"]) for path, e in files for o, c in corpus.components_of(e))
    begin = threading.Barrier(4)
    results = []

    def work():
        db = open_connection()
        begin.wait()
        try:
            for _ in range(5):
                got = [(path, object, hashlib.sha256(data).hexdigest()) for path, _ in files for object, data in
                       db.execute("SELECT object, data FROM zt_components(?)", (path,))]
                results.append(sorted(got) == expected)
        finally:
            db.close()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 20


def while_changing(change, read):
    """Calls change(n) in another thread until read() has returned here."""
    done = threading.Event()

    def work():
        n = 0
        while not done.is_set():
            change(n)
            n += 1

    thread = threading.Thread(target=work)
    thread.start()
    try:
        read()
    finally:
        done.set()
        thread.join()


def test_a_file_replaced_again_and_again_is_read_as_one_or_the_other(db, save, tmp_path):
    versions = [writer.write({name: writer.dense(name.encode() * size) for name in names})
                for names, size in (("ab", 5000), ("abc", 3000))]
    wanted = [[(n, n.encode() * 5000) for n in "ab"], [(n, n.encode() * 3000) for n in "abc"]]
    path = save("x.zt", versions[0])
    seen = []

    def replace(n):
        os.replace(save("new.zt", versions[n % 2]), path)

    def read():
        for _ in range(500):
            got = rows(db, BYTES, path)
            assert got in wanted
            seen.append(wanted.index(got))
            assert value(db, "SELECT zt_blob(?, 'a')", path) in (b"a" * 5000, b"a" * 3000)

    while_changing(replace, read)
    assert len(seen) == 500


def test_a_file_rewritten_in_place_again_and_again_gives_rows_or_an_error(db, save):
    # A read may get half of each; the rows must still be rows of one of the manifests.
    versions = [writer.write({name: writer.dense(name.encode() * size) for name in names})
                for names, size in (("ab", 5000), ("cde", 3000))]
    path = save("x.zt", versions[0])
    outcomes = []

    def rewrite(n):
        with open(path, "wb") as file:
            file.write(versions[n % 2])

    def read():
        for _ in range(500):
            try:
                outcomes.append([(name, len(data)) for name, data in rows(db, BYTES, path)])
            except sqlite3.OperationalError as error:
                assert str(error).startswith(prefix(path))
                outcomes.append("error")

    while_changing(rewrite, read)
    whole = [[(n, 5000) for n in "ab"], [(n, 3000) for n in "cde"]]
    assert [o for o in outcomes if o != "error" and o not in whole] == []
    assert len(outcomes) == 500


def test_threads_that_load_the_extension_at_the_same_time():
    begin = threading.Barrier(8)
    results = []

    def work():
        begin.wait()
        for _ in range(10):
            db = open_connection()
            results.append(value(db, "SELECT count(*) FROM zt_objects(?)", writer.sample()))
            db.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2] * 80


def test_a_connection_may_move_from_thread_to_thread(db, three):
    got = []
    for _ in range(3):
        thread = threading.Thread(target=lambda: got.append(rows(db, BYTES, three)))
        thread.start()
        thread.join()
    assert got == [WHOLE] * 3
