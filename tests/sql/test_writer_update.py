"""zt_writer with mode='update': a file as a table that can be changed."""
import fcntl
import os
import shutil
import sqlite3
import struct
import tempfile
import threading
import zipfile
from pathlib import Path

import pytest

import corpus
import writer
from support import ROOT, rows, value
from writing import ENTRY, attributes, declare, insert, inside, listing, names, put, refusal  # noqa: F401

STORED = "SELECT object, component, dtype, type, encoding, length, digest, digest_status FROM zt_components(?) ORDER BY 1, 2"


GOLDEN = ROOT / "tests/formats/ztensor/golden"

pytestmark = pytest.mark.usefixtures("inside")


@pytest.fixture
def db(connect, inside):
    """A connection, a file with three tensors that are stored in different ways, and the table `out` that updates it."""
    db = connect(entry=ENTRY)
    declare(db, "a.zt", name="made")
    db.execute("BEGIN")
    numbers = struct.pack("<1000f", *range(1000))
    put(db, "a", numbers, "f32", "[10,100]", "made", encoding="zstd", level=19, digest="sha256")
    put(db, "b", numbers[:4000], "f32", "[1000]", "made", digest="none")
    put(db, "c", bytes(4000), "f32", "[1000]", "made", encoding="zstd")
    for name, key, what in ((None, "licence", "MIT"), (None, "n", 5), ("a", "k", 2.5), ("a", "l", "x")):
        insert(db, "made", name=name, key=key, value=what)
    db.execute("COMMIT")
    db.execute("DROP TABLE made")
    declare(db, "a.zt", "mode='update'")
    return db


def state(db, path="a.zt"):
    """{object: everything about its components}, and the attributes."""
    return {row[0]: row for row in rows(db, STORED, path)}, attributes(db, path)


def stored(db, name, path="a.zt"):
    """The stored bytes of an object's only component."""
    offset, length = rows(db, "SELECT offset, length FROM zt_components(?) WHERE object = ?", path, name)[0]
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(length)


# ---------------------------------------------------------------------------------------------------- what is shown

def test_the_transaction_begins_with_the_files_rows(db):
    db.execute("BEGIN")
    assert rows(db, "SELECT name, source, dtype, shape, format, key, value, type, bytes FROM out") == [
        ("a", "a.zt", "f32", "[10,100]", "dense", None, None, None, 4000),
        ("b", "a.zt", "f32", "[1000]", "dense", None, None, None, 4000),
        ("c", "a.zt", "f32", "[1000]", "dense", None, None, None, 4000),
        (None, None, None, None, None, "n", 5, "integer", None), (None, None, None, None, None, "licence", "MIT", "text", None),
        ("a", None, None, None, None, "k", 2.5, "real", None), ("a", None, None, None, None, "l", "x", "text", None)]
    db.execute("COMMIT")


@pytest.mark.parametrize("statement", [
    "SELECT * FROM out", "DELETE FROM out WHERE name = 'z'", "UPDATE out SET name = 'y' WHERE name = 'z'",
    "INSERT INTO out(name, key, value) SELECT 'a', 'k', 1 WHERE 0",
    "INSERT OR IGNORE INTO out(name, key, value) VALUES('a', 'k', 1)"])
def test_a_transaction_that_changes_nothing_writes_nothing(db, statement):
    before = os.stat("a.zt")
    db.execute("BEGIN")
    db.execute(statement).fetchall()
    db.execute("COMMIT")
    db.execute(statement).fetchall()
    after = os.stat("a.zt")
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_statement_that_fails_alone_writes_nothing(db):
    before = os.stat("a.zt")
    db.execute("BEGIN")
    assert "there is an object of this name" in refusal(
        db, "INSERT INTO out(name, data, dtype, shape) VALUES('a', x'00', 'u8', '[1]')")[1]
    db.execute("COMMIT")
    assert os.stat("a.zt").st_ino == before.st_ino


# -------------------------------------------------------------------------------------------------------- each change

def test_rows_left_alone_keep_stored_bytes(db):
    components, attached = state(db)
    kept = {name: stored(db, name) for name in "ac"}
    db.execute("DELETE FROM out WHERE name = 'b'")
    assert state(db) == ({name: components[name] for name in "ac"}, attached)
    assert {name: stored(db, name) for name in "ac"} == kept and listing(".") == ["a.zt"]


def test_rename(db):
    components, _ = state(db)
    kept = stored(db, "a")
    db.execute("UPDATE out SET name = 'z' || name WHERE name IN ('a', 'c')")
    after, attached = state(db)
    assert after == {"b": components["b"], "za": ("za", *components["a"][1:]), "zc": ("zc", *components["c"][1:])}
    assert attached == [(None, "n", 5, "integer"), (None, "licence", "MIT", "text"), ("za", "k", 2.5, "real"), ("za", "l", "x", "text")]
    assert stored(db, "za") == kept


def test_convert(db):
    components, attached = state(db)
    db.execute("UPDATE out SET dtype = 'f16' WHERE name = 'a' AND key IS NULL")
    after, _ = state(db)
    assert after["a"][2:6] == ("f16", "f16", "raw", 2000) and after["a"][7] == "ok"
    assert value(db, "SELECT data FROM zt_components('a.zt') WHERE object = 'a'") == struct.pack("<1000e", *range(1000))
    assert {name: after[name] for name in "bc"} == {name: components[name] for name in "bc"} and attributes(db, "a.zt") == attached


def test_compress_and_decompress(db):
    data = rows(db, "SELECT object, data FROM zt_components('a.zt') ORDER BY 1")
    db.execute("UPDATE out SET encoding = CASE name WHEN 'b' THEN 'zstd' ELSE 'raw' END WHERE key IS NULL")
    after, _ = state(db)
    assert [after[name][4] for name in "abc"] == ["raw", "zt.zstd-seekable/1", "raw"]
    assert after["b"][5] < 4000 and [after[name][7] for name in "abc"] == ["ok", "ok", "ok"]
    assert rows(db, "SELECT object, data FROM zt_components('a.zt') ORDER BY 1") == data


def test_digests(db):
    db.execute("UPDATE out SET digest = 'sha256' WHERE name IN ('b', 'c')")
    after, _ = state(db)
    assert [(after[name][6].split(":")[0], after[name][7]) for name in "abc"] == [("sha256", "ok")] * 3
    db.execute("UPDATE out SET digest = 'none' WHERE key IS NULL")
    assert [row[6:] for row in state(db)[0].values()] == [(None, None)] * 3


def test_attributes(db):
    components, _ = state(db)
    kept = {name: stored(db, name) for name in "abc"}
    db.execute("BEGIN")
    db.execute("UPDATE out SET value = 'GPL' WHERE name IS NULL AND key = 'licence'")
    db.execute("DELETE FROM out WHERE name = 'a' AND key = 'k'")
    insert(db, name="c", key="new", value=b"\1")
    db.execute("COMMIT")
    assert state(db) == (components, [(None, "n", 5, "integer"), (None, "licence", "GPL", "text"), ("a", "l", "x", "text"),
                                      ("c", "new", b"\1", "blob")])
    assert {name: stored(db, name) for name in "abc"} == kept


def test_insert_and_replace(db):
    components, attached = state(db)
    put(db, "new", b"\1\2")
    db.execute("INSERT OR REPLACE INTO out(name, data, dtype, shape) VALUES('b', x'07', 'u8', '[1]')")
    after, _ = state(db)
    assert list(after) == ["a", "b", "c", "new"] and after["b"][2:6] == ("u8", "u8", "raw", 1)
    assert {name: after[name] for name in "ac"} == {name: components[name] for name in "ac"} and attributes(db, "a.zt") == attached


def test_a_tensor_gets_other_bytes(db):
    assert refusal(db, "UPDATE out SET data = x'07' WHERE name = 'b'") == (
        1, "ztensor: a.zt: object 'b': a tensor has source or data, not both")
    db.execute("UPDATE out SET source = NULL, object = NULL, data = x'07', dtype = 'u8', shape = '[1]' WHERE name = 'b'")
    assert value(db, "SELECT data FROM zt_components('a.zt') WHERE object = 'b'") == b"\7"


def test_everything_is_deleted(db):
    db.execute("DELETE FROM out")
    assert state(db) == ({}, []) and value(db, "SELECT error FROM zt_files('a.zt')") is None


def test_savepoints(db):
    before = state(db)
    db.execute("BEGIN")
    db.execute("SAVEPOINT one")
    db.execute("DELETE FROM out WHERE name = 'a'")
    db.execute("ROLLBACK TO one")
    assert value(db, "SELECT count(*) FROM out") == 7
    db.execute("COMMIT")
    assert state(db) == before
    db.execute("BEGIN")
    db.execute("SAVEPOINT one")
    db.execute("DELETE FROM out WHERE name = 'a'")
    db.execute("RELEASE one")
    db.execute("ROLLBACK")
    assert state(db) == before
    db.execute("DELETE FROM out WHERE name = 'a'")
    assert list(state(db)[0]) == ["b", "c"]


def test_the_second_transaction_begins_with_the_new_file(db):
    db.execute("DELETE FROM out WHERE name = 'a'")
    db.execute("UPDATE out SET name = 'd' WHERE name = 'b'")
    assert names(db, "a.zt") == ["c", "d"]


# ---------------------------------------------------------------------------------------------------------- failures

def test_a_file_that_is_not_there(db):
    declare(db, "gone.zt", "mode='update'", name="gone")
    for sql in ("INSERT INTO gone(name, key, value) VALUES(NULL, 'k', 1)", "DELETE FROM gone"):
        assert refusal(db, sql) == (1, "ztensor: gone.zt: there is no such file to update")
    assert listing(".") == ["a.zt"]


def test_another_format(db):
    shutil.copy("a.zt", "b.npz")
    declare(db, "b.npz", "mode='update'", "format='npz'", name="other")
    assert refusal(db, "DELETE FROM other") == (1, "ztensor: b.npz: the file is ztensor-2, which format='ztensor-2' updates")


def test_the_format_is_the_file_s_own(db):
    """Whatever its name ends with."""
    shutil.copy("a.zt", "b.npz")
    declare(db, "b.npz", "mode='update'", name="other")
    db.execute("DELETE FROM other WHERE name = 'a'")
    assert db.execute("SELECT container, version FROM zt_files('b.npz')").fetchall() == [("ztensor", "2")]


@pytest.fixture
def read_only(db):
    """A directory with m.zt, in which this user may make no file."""
    with tempfile.TemporaryDirectory() as directory:
        shutil.copy("a.zt", directory)
        os.chmod(directory, 0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        yield directory
        os.seteuid(user)
        os.chmod(directory, 0o755)


WHOLE = ["ztensor/golden/v1.2/hand_attributes.zt", "ztensor/hostile/1.2-ok-attribute-tags.zt", "gguf/hostile/ok-mixed-nested.gguf",
         "gguf/hostile/ok-alignment-24.gguf"]


@pytest.mark.parametrize("path", WHOLE)
def test_attributes_that_sql_does_not_show_whole_are_shown(db, path):
    """The same within a transaction and outside."""
    shutil.copy(ROOT / "tests/formats" / path, ".")
    declare(db, Path(path).name, "mode='update'", name="u")
    shown = "SELECT name, key, quote(value), type, stored_type FROM u"
    outside = rows(db, shown)
    db.execute("BEGIN")
    assert rows(db, shown) == outside != []
    db.execute("ROLLBACK")
    own = not path.startswith("gguf")   # Attributes of its tensors are not rows that can be changed
    assert [row[1] for row in outside if row[1] is not None] == [key for name, key, _, _ in attributes(db, Path(path).name) if own or name is None]


@pytest.mark.parametrize("first", [None, "INSERT INTO u(name, key, value) VALUES('a', 'k', 1)"])
def test_select_where_no_file_can_be_made(connect, read_only, first):
    """Rows are shown as they are, inside of a transaction, too; a change is an error of its statement alone."""
    db = connect(entry=ENTRY)
    declare(db, f"{read_only}/a.zt", "mode='update'", name="u")
    expected = rows(db, "SELECT name, key, value FROM u")
    assert [name for name, key, _ in expected if key is None] == ["a", "b", "c"]
    db.execute("CREATE TABLE t(x)")
    db.execute("BEGIN")
    db.execute("INSERT INTO t VALUES(1)")
    refused = (1, f"ztensor: {read_only}/a.zt: making a file in its directory: Permission denied")
    assert first is None or refusal(db, first) == refused
    assert rows(db, "SELECT name, key, value FROM u") == expected
    assert refusal(db, "DELETE FROM u WHERE name = 'a'") == refused
    db.execute("DELETE FROM u WHERE name = 'none'")
    db.execute("INSERT INTO t VALUES(2)")
    db.execute("COMMIT")
    assert rows(db, "SELECT x FROM t") == [(1,), (2,)] and listing(read_only) == ["a.zt"]


def test_a_file_that_changed_meanwhile(db, connect):
    db.execute("BEGIN")
    db.execute("DELETE FROM out WHERE name = 'a'")
    other = connect(entry=ENTRY)
    declare(other, "a.zt", "mode='replace'")
    put(other, "theirs")
    assert refusal(db, "COMMIT") == (1, "ztensor: a.zt: the file has changed since its row was inserted")
    assert names(db, "a.zt") == ["theirs"] and listing(".") == ["a.zt"]


@pytest.mark.parametrize("change", ["DELETE FROM out", "DELETE FROM out WHERE name IS NOT NULL"])
def test_a_change_meanwhile_is_not_lost_if_no_tensor_is_kept(db, connect, change):
    db.execute("BEGIN")
    db.execute(change)
    put(db, "ours")
    other = connect(entry=ENTRY)
    declare(other, "a.zt", "mode='update'")
    put(other, "theirs")
    before = names(db, "a.zt")
    assert "theirs" in before
    assert refusal(db, "COMMIT") == (1, "ztensor: a.zt: the file has changed since the transaction began")
    assert names(db, "a.zt") == before and listing(".") == ["a.zt"]


def test_two_that_update_wait_for_each_other(db, connect):
    """From the check that the file is the same until it is replaced: another one holds the directory, and changes it."""
    other = connect(entry=ENTRY)
    declare(other, "a.zt", "mode='replace'")
    directory = os.open(".", os.O_RDONLY)
    fcntl.flock(directory, fcntl.LOCK_EX)
    said = []
    ours = threading.Thread(target=lambda: said.append(refusal(db, "DELETE FROM out WHERE name = 'a'")))
    ours.start()
    ours.join(0.3)
    put(other, "theirs")
    os.close(directory)
    ours.join()
    ((code, text),) = said
    assert code == 1 and text.startswith("ztensor: a.zt: the file has changed since ")   # A slow machine sees it earlier
    assert names(db, "a.zt") == ["theirs"] and listing(".") == ["a.zt"]


def test_a_change_meanwhile_is_not_lost_if_there_are_attributes_alone(connect, inside):
    db, other = connect(entry=ENTRY), connect(entry=ENTRY)
    declare(db, "b.zt", name="made")
    insert(db, table="made", key="k", value=1)
    for one in (db, other):
        declare(one, "b.zt", "mode='update'")
    db.execute("BEGIN")
    insert(db, key="ours", value=2)
    insert(other, key="theirs", value=3)
    assert refusal(db, "COMMIT") == (1, "ztensor: b.zt: the file has changed since the transaction began")
    assert attributes(db, "b.zt") == [(None, "k", 1, "integer"), (None, "theirs", 3, "integer")]
    insert(db, key="ours", value=2)
    assert [row[1] for row in attributes(db, "b.zt")] == ["k", "ours", "theirs"]


@pytest.mark.parametrize("first", ["SELECT * FROM out", "INSERT INTO out(name, key, value) VALUES(NULL, 'k', 1)",
                                   "INSERT INTO out(name, data, dtype, shape) VALUES('x', x'00', 'u8', '[1]')", "DELETE FROM out"])
def test_a_file_that_cannot_be_taken_whole_is_not_taken_in_part(db, first):
    """Its last array has no header: that before it is a row by then, which COMMIT must not take for the file."""
    header = b"{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }".ljust(117) + b"\n"
    with zipfile.ZipFile("m.npz", "w") as archive:
        archive.writestr("a.npy", b"\x93NUMPY\1\0v\0" + header + b"\7")
        archive.writestr("b.npy", b"\x93NUMPY\1\0v\0{")
    before = open("m.npz", "rb").read()
    db.execute("DROP TABLE out")
    declare(db, "m.npz", "mode='update'")
    db.execute("BEGIN")
    for _ in range(2):
        assert "object 'b': component 'data': it ends within the header" in refusal(db, first)[1]
    db.execute("COMMIT")
    assert open("m.npz", "rb").read() == before


# -------------------------------------------------------------------------------------------------------- each format

FILES = [(format, path) for format in corpus.formats() for path in sorted((corpus.FORMATS / format).rglob("golden/**/*"))
         if path.suffix in (".zt", ".safetensors", ".gguf", ".npz")]
SAME = ("SELECT object, component, dtype, type, encoding, length, digest, digest_status, data FROM zt_components(?) "
        "ORDER BY 1, 2")
ELEMENTS = "SELECT object, zt_dense(path, object) FROM zt_objects(?) ORDER BY 1"
# Files with components that cannot be decoded, or whose shards are elsewhere
UNDECODABLE = ("big_endian_q.gguf", "hand_unknown_encoding.zt", "hand_zstd.zt", "crate_overlay.zt", "hand_sharded.zt", "hand_sharded_missing.zt",
               "hand_unknown_vocabulary.zt")
KINDS = "SELECT object, format, dtype, type, shape FROM zt_objects(?) ORDER BY 1"
ATTRIBUTES = "SELECT object, key, value, type, stored_type FROM zt_attributes(?) WHERE type <> 'object' ORDER BY 1, 2"


@pytest.mark.parametrize("path", [path for _, path in FILES], ids=[f"{format}-{path.parent.name}-{path.name}" for format, path in FILES])
def test_golden_files_are_the_same_after_an_update(db, path):
    """One tensor comes and goes; or the file cannot be written, which is said and leaves it as it is."""
    name = "t" + path.suffix
    shutil.copy(path, name)
    before = open(name, "rb").read()
    found = rows(db, "SELECT container, version, error FROM zt_files(?)", name)[0]
    if found[2] is not None or (found[0] == "ztensor" and found[1] in ("0.1.0", "1.1.0")):
        return
    arguments = ["format='ztensor-1.2'"] if found[0] == "ztensor" and found[1].startswith("1") else []
    declare(db, name, "mode='update'", *arguments, name="u")
    # Big-endian numbers become little-endian ones.
    bytes_of = ELEMENTS if "big_endian" in path.name else SAME
    try:
        wanted = [rows(db, sql, name) for sql in (bytes_of, KINDS, ATTRIBUTES)]
    except sqlite3.Error:
        assert path.name in UNDECODABLE
        wanted = None
    try:
        put(db, "zz.new", b"\1\0\0\0", "f32", "[1]", "u")
    except sqlite3.Error as error:
        assert str(error).startswith(f"ztensor: t") and open(name, "rb").read() == before
        return
    assert "zz.new" in names(db, name)
    db.execute("DELETE FROM u WHERE name = 'zz.new'")
    if wanted:
        assert [rows(db, sql, name) for sql in (bytes_of, KINDS, ATTRIBUTES)] == wanted
    assert listing(".") == sorted(["a.zt", name])


# ------------------------------------------------------------------------------------------------------ quantized tensors

QUANTIZED = {"zt.mx/1": ("v2/wheel_quant.zt", "mxfp4", "block_size", "mx-attributes"),
             "zt.quant_group/1": ("v2/wheel_quant.zt", "affine", "bits", "quant-group-attributes"),
             "quantized_group": ("v1.2/hand_quantized.zt", "model.layers.0.self_attn.q_proj", "group_size", "quantized-attributes")}


@pytest.mark.parametrize("layout", QUANTIZED)
def test_attributes_that_a_layout_needs(connect, layout, inside):
    """An error of COMMIT, in place of a file that cannot be read."""
    file, name, key, rule = QUANTIZED[layout]
    source = str(GOLDEN / file)
    db = connect(entry=ENTRY)
    declare(db, "q.zt", f"format='{'ztensor-2' if '/v2' in source else 'ztensor-1.2'}'", "mode='replace'", name="new")
    insert(db, "new", name=name, source=source, object=name)
    before = value(db, "SELECT zt_dense('q.zt', ?)", name)
    assert rows(db, "SELECT * FROM zt_check('q.zt', 'full') WHERE severity = 'error'") == [] and before
    declare(db, "q.zt", "mode='update'", name="u")
    for sql in (f"DELETE FROM u WHERE key = '{key}'", "DELETE FROM u WHERE key IS NOT NULL", f"UPDATE u SET value = 'x', type = 'text' WHERE key = '{key}'"):
        code, message = refusal(db, sql)
        assert code == 1 and message.startswith(f"ztensor: q.zt: object '{name}': ") and "attribute '" in message
        assert "IS NOT NULL" in sql or f"attribute '{key}'" in message
        assert value(db, "SELECT zt_dense('q.zt', ?)", name) == before
    # Others may change
    db.execute("INSERT INTO u(name, key, value) VALUES(?, 'note', 'mine')", (name,))
    assert value(db, "SELECT zt_dense('q.zt', ?)", name) == before
    # An attribute of a row in place of the source's
    db.execute("BEGIN")
    insert(db, "new", name=name, source=source, object=name)
    insert(db, "new", name=name, key=key, value="x")
    assert refusal(db, "COMMIT")[0] == 1 and value(db, "SELECT zt_dense('q.zt', ?)", name) == before


def test_a_quantized_tensor_that_was_broken_before_stays(connect, inside):
    """An update of others does not need it to be sound, and may mend it."""
    file, name, key, rule = QUANTIZED["quantized_group"]
    broken = "SELECT min(rule) FROM zt_check('q.zt', 'full') WHERE severity = 'error'"
    db = connect(entry=ENTRY)
    declare(db, "q.zt", "format='ztensor-1.2'", "mode='replace'", name="new")
    insert(db, "new", name=name, source=str(GOLDEN / file), object=name)
    data = Path("q.zt").read_bytes()
    Path("q.zt").write_bytes(data.replace(b"group_size", b"group_sizf"))
    assert value(db, broken) == rule
    declare(db, "q.zt", "mode='update'", name="u")
    put(db, "more", table="u")
    assert sorted(names(db, "q.zt")) == sorted(["more", name]) and value(db, broken) == rule
    db.execute("INSERT INTO u(name, key, value) VALUES(?, 'group_size', 32)", (name,))
    assert value(db, broken) is None and value(db, "SELECT zt_dense('q.zt', ?)", name) == value(db, "SELECT zt_dense(?, ?)", str(GOLDEN / file), name)


def test_a_quantized_tensor_without_components_stays(connect, inside):
    Path("q.zt").write_bytes(writer.write({"w": {"shape": [2, 64], "format": "quantized_group", "components": {}}}))
    db = connect(entry=ENTRY)
    declare(db, "q.zt", "mode='update'", name="u")
    put(db, "more", table="u")
    assert rows(db, "SELECT object, format FROM zt_objects('q.zt') ORDER BY 1") == [("more", "dense"), ("w", "quantized_group")]


@pytest.mark.parametrize("name", ["q_8_1_8_k", "q_ternary_mx"])
def test_blocks_whose_elements_are_not_defined_are_copied(connect, inside, name):
    source = str(ROOT / f"tests/formats/gguf/golden/{name}.gguf")
    db = connect(entry=ENTRY)
    declare(db, "q.zt", name="new")
    db.execute("INSERT INTO new(name, source) SELECT object, path FROM zt_objects(?)", (source,))
    stored = "SELECT object, data FROM zt_components(?) ORDER BY 1"
    assert rows(db, stored, "q.zt") == rows(db, stored, source) != []
    declare(db, "q.zt", "mode='update'", name="u")
    put(db, "more", table="u")
    assert len(rows(db, stored, "q.zt")) == 1 + len(rows(db, stored, source))


@pytest.mark.parametrize("name", sorted(path.name for path in GOLDEN.glob("v2/*.zt") if path.name != "hand_bad_data.zt"))
def test_all_tensors_stay_if_one_is_added(connect, inside, name):
    """Those of shards, those of shards that are missing, and those that are not understood."""
    for file in GOLDEN.glob("v2/*.zt"):
        shutil.copy(file, ".")
    listed = "SELECT object, format, attributes FROM zt_objects(?) ORDER BY object = 'zzz', 1"
    db = connect(entry=ENTRY)
    before = rows(db, listed, name)
    declare(db, name, "mode='update'", name="u")
    put(db, "zzz", table="u")
    assert rows(db, listed, name) == before + [("zzz", "dense", "{}")]
