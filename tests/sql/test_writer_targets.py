"""zt_writer: two tables for one file, in one transaction."""
import os

import pytest

from support import rows
from writing import ENTRY, declare, inside, listing, names, put, refusal  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")
MODES = [(one, two) for one in ("create", "replace", "update") for two in ("create", "replace", "update")]
BOTH = "the tables 'one' and 'two' would both write this file in one transaction"
BOTH_REVERSED = BOTH.replace("'one' and 'two'", "'two' and 'one'")


@pytest.fixture
def db(connect, inside):
    db = connect(entry=ENTRY)
    db.execute("CREATE TABLE t(a)")
    return db


def declared(db, first, second, modes):
    """Tables `one` and `two`; the file is there if a mode needs it."""
    if "update" in modes:
        declare(db, "a.zt", name="made")
        put(db, "old", table="made")
        db.execute("DROP TABLE made")
    declare(db, first, f"mode='{modes[0]}'", name="one")
    declare(db, second, f"mode='{modes[1]}'", name="two")


@pytest.mark.parametrize("modes", [modes for modes in MODES if "update" not in modes or "create" not in modes])
def test_the_second_one_is_refused(db, modes):
    """The first one's rows would be gone without a word."""
    declared(db, "a.zt", "a.zt", modes)
    db.execute("BEGIN")
    put(db, "x", table="one")
    assert refusal(db, "INSERT INTO two(name, data, dtype, shape) VALUES('y', x'00', 'u8', '[1]')") == (1, f"ztensor: a.zt: {BOTH}")
    db.execute("INSERT INTO t VALUES(1)")
    put(db, "z", table="one")
    db.execute("COMMIT")
    assert sorted(names(db, "a.zt")) == (["old"] if modes[0] == "update" else []) + ["x", "z"] and listing(".") == ["a.zt"]


@pytest.mark.parametrize("change", ["UPDATE two SET name = 'x'", "DELETE FROM two", "DELETE FROM two WHERE name = 'old'"])
def test_every_change_is_one(db, change):
    declared(db, "a.zt", "a.zt", ("update", "update"))
    db.execute("BEGIN")
    db.execute("UPDATE one SET name = 'new'")
    assert refusal(db, change) == (1, f"ztensor: a.zt: {BOTH}")
    assert rows(db, "SELECT name FROM two") == [("old",)]
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["new"]


@pytest.mark.parametrize("spelled", ["./a.zt", "ABSOLUTE", "linked.zt", "folder/../a.zt", "folder/up/a.zt"])
def test_another_spelling(db, spelled):
    os.mkdir("folder")
    os.symlink("..", "folder/up")
    open("a.zt", "wb").close()
    os.symlink("a.zt", "linked.zt")
    for first, second in (("a.zt", spelled), (spelled, "a.zt")):
        first, second = (os.path.abspath("a.zt") if path == "ABSOLUTE" else path for path in (first, second))
        declared(db, first, second, ("replace", "replace"))
        db.execute("BEGIN")
        put(db, "x", table="one")
        assert refusal(db, "INSERT INTO two(name, data, dtype, shape) VALUES('y', x'00', 'u8', '[1]')") == (1, f"ztensor: {second}: {BOTH}")
        db.execute("COMMIT")
        assert names(db, "a.zt") == ["x"]
        db.execute("DROP TABLE one")
        db.execute("DROP TABLE two")


def test_a_spelling_in_a_folder_that_is_not_the_same_at_commit(db):
    """COMMIT looks at the files: the transaction leaves nothing."""
    os.makedirs("folder")
    declared(db, "a.zt", "folder/a.zt", ("replace", "replace"))
    db.execute("BEGIN")
    put(db, "x", table="one")
    put(db, "y", table="two")
    db.execute("INSERT INTO t VALUES(1)")
    os.rmdir("folder")
    os.symlink(".", "folder")
    assert refusal(db, "COMMIT") == (1, f"ztensor: folder/a.zt: {BOTH}")
    assert listing(".") == ["folder"] and rows(db, "SELECT * FROM t") == []


def test_hard_links_are_two_files(db):
    """Each name gets a file of its own."""
    open("a.zt", "wb").close()
    os.link("a.zt", "b.zt")
    declared(db, "a.zt", "b.zt", ("replace", "replace"))
    db.execute("BEGIN")
    put(db, "x", table="one")
    put(db, "y", table="two")
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["x"] and names(db, "b.zt") == ["y"]


def test_rows_that_are_gone_are_in_no_way(db):
    declared(db, "a.zt", "a.zt", ("replace", "replace"))
    db.execute("BEGIN")
    db.execute("SAVEPOINT s")
    put(db, "x", table="one")
    db.execute("ROLLBACK TO s")
    put(db, "y", table="two")
    assert BOTH_REVERSED in refusal(
        db, "INSERT INTO one(name, data, dtype, shape) VALUES('x', x'00', 'u8', '[1]')")[1]
    db.execute("DELETE FROM two")
    put(db, "z", table="one")
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["z"]
    db.execute("BEGIN")
    put(db, "x", table="one")
    db.execute("DROP TABLE one")
    put(db, "w", table="two")
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["w"]


def test_one_after_the_other(db):
    declared(db, "a.zt", "a.zt", ("replace", "update"))
    put(db, "x", table="one")
    put(db, "y", table="two")
    assert sorted(names(db, "a.zt")) == ["x", "y"]
    db.execute("BEGIN")
    assert rows(db, "SELECT name FROM two") == [("x",), ("y",)]
    put(db, "z", table="one")
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["z"]


def test_files_on_two_devices(db, elsewhere):
    declare(db, "a.zt", "mode='replace'", name="one")
    declare(db, f"{elsewhere}/a.zt", "mode='replace'", name="two")
    for _ in range(2):
        db.execute("BEGIN")
        put(db, "x", table="one")
        put(db, "y", table="two")
        db.execute("COMMIT")
    assert names(db, "a.zt") == ["x"] and names(db, f"{elsewhere}/a.zt") == ["y"]


@pytest.mark.parametrize("mode", ["create", "replace"])
def test_a_process_that_changes_its_directory_in_a_transaction(db, mode):
    """The target is the one that was looked at when the first row came."""
    for folder in ("one", "two"):
        os.mkdir(folder)
        if mode == "replace":
            with open(f"{folder}/a.zt", "wb") as file:
                file.write(folder.encode())
    os.chdir("one")
    declare(db, "a.zt", f"mode='{mode}'", name="out")
    db.execute("BEGIN")
    put(db, "x", table="out")
    os.chdir("../two")
    db.execute("COMMIT")
    os.chdir("..")
    assert names(db, "one/a.zt") == ["x"] and listing("one") == ["a.zt"]
    assert listing("two") == (["a.zt"] if mode == "replace" else [])
    if mode == "replace":
        with open("two/a.zt", "rb") as file:
            assert file.read() == b"two"
