"""The shape of the tables: columns, arguments, names of their own, joins."""
import os
import sqlite3

import pytest

import writer
from support import RAISING_TABLES, SOURCE_TABLES, failure, message, place, prefix, rows, value

VISIBLE = {
    "zt_files": {"path": "TEXT", "container": "TEXT", "version": "TEXT", "size": "INTEGER", "mtime": "REAL",
                 "objects": "INTEGER", "components": "INTEGER", "stored_bytes": "INTEGER", "decoded_bytes": "INTEGER",
                 "manifest_bytes": "INTEGER", "attributes": "TEXT", "error": "TEXT"},
    "zt_objects": {"path": "TEXT", "object": "TEXT", "format": "TEXT", "dtype": "TEXT", "type": "TEXT", "shape": "TEXT",
                   "rank": "INTEGER", "elements": "INTEGER", "components": "INTEGER", "stored_bytes": "INTEGER",
                   "decoded_bytes": "INTEGER", "attributes": "TEXT"},
    "zt_components": {"path": "TEXT", "object": "TEXT", "component": "TEXT", "dtype": "TEXT", "type": "TEXT",
                      "encoding": "TEXT", "byte_order": "TEXT", "offset": "INTEGER", "length": "INTEGER",
                      "decoded_length": "INTEGER", "digest": "TEXT", "shard": "TEXT"},
    "zt_attributes": {"path": "TEXT", "object": "TEXT", "key": "TEXT", "value": None, "type": "TEXT"},
}
# Arguments come before hidden output, because positional arguments bind to hidden columns in order.
HIDDEN = {
    "zt_files": ["source", "too many arguments", "error_kind", "device", "inode", "architecture", "layout", "data_offset", "digests", "mtime_ns", "ctime_ns", "birth_ns", "etag", "types"],
    "zt_objects": ["source", "on_error", "too many arguments", "fingerprint", "fingerprint_error"],
    "zt_components": ["source", "on_error", "too many arguments", "data", "stored", "digest_status", "hash", "digest_of", "digest_algorithm", "digest_value"],
    "zt_attributes": ["source", "on_error", "too many arguments", "stored_type"],
}
TABLES = pytest.mark.parametrize("table", SOURCE_TABLES)
RAISING = pytest.mark.parametrize("table", RAISING_TABLES)


@pytest.fixture
def mixed(save, tmp_path):
    """A directory with a good file, a broken one and a good one; each good one has an attribute."""
    good = writer.write({"w": writer.dense(b"abcd", [2, 2])}, attributes={"k": "v"})
    for name, data in [("a.zt", good), ("b.zt", good[:-1]), ("c.zt", good)]:
        save("mixed/" + name, data)
    return str(tmp_path / "mixed")


# ----------------------------------------------------------------------------------------------------------- columns

@TABLES
def test_the_visible_columns_and_their_order(db, table, sample):
    assert [c[0] for c in db.execute(f"SELECT * FROM {table}(?)", (sample,)).description] == list(VISIBLE[table])


@TABLES
def test_the_declared_types(db, table):
    declared = rows(db, "SELECT name, type FROM pragma_table_xinfo(?)", table)
    wanted = VISIBLE[table]
    assert {n: t for n, t in declared if wanted.get(n)} == {n: t for n, t in wanted.items() if t}


@TABLES
def test_the_declared_order_of_visible_and_hidden_columns(db, table):
    declared = rows(db, "SELECT name, hidden FROM pragma_table_xinfo(?)", table)
    assert [n for n, hidden in declared if not hidden] == list(VISIBLE[table])
    assert [n for n, hidden in declared if hidden] == HIDDEN[table]


def test_values_have_the_storage_classes_of_the_contract(db, save):
    path = save("x.zt", writer.write({"w": writer.dense(b"x", [], digest="crc32c:0x00000000")}))
    assert rows(db, """SELECT typeof(path), typeof(container), typeof(version), typeof(size), typeof(mtime), typeof(objects),
                              typeof(components), typeof(stored_bytes), typeof(decoded_bytes), typeof(manifest_bytes),
                              typeof(attributes), typeof(error) FROM zt_files(?)""", path) == [
        ("text", "text", "text", "integer", "real", *["integer"] * 5, "text", "null")]
    assert rows(db, """SELECT typeof(path), typeof(object), typeof(format), typeof(dtype), typeof(type), typeof(shape), typeof(rank),
                              typeof(elements), typeof(components), typeof(stored_bytes), typeof(decoded_bytes),
                              typeof(attributes) FROM zt_objects(?)""", path) == [
        (*["text"] * 6, *["integer"] * 5, "text")]
    assert rows(db, """SELECT typeof(path), typeof(object), typeof(component), typeof(dtype), typeof(type), typeof(encoding),
                              typeof(byte_order), typeof(offset), typeof(length), typeof(decoded_length), typeof(digest),
                              typeof(data), typeof(stored), typeof(digest_status) FROM zt_components(?)""", path) == [
        (*["text"] * 7, *["integer"] * 3, "text", "blob", "blob", "text")]


def test_shape_and_attributes_carry_the_json_subtype(db, save):
    path = save("x.zt", writer.write({"w": dict(writer.dense(b"abcd", [2, 2]), attributes={"a": [1]})}, attributes={"k": {}}))
    assert value(db, "SELECT json_array(shape, attributes) FROM zt_objects(?)", path) == '[[2,2],{"a":[1]}]'
    assert value(db, "SELECT json_array(attributes) FROM zt_files(?)", path) == '[{"k":{}}]'


@pytest.mark.parametrize("shape, text", [([], "[]"), ([7], "[7]"), ([2, 0, 3], "[2,0,3]")])
def test_the_text_of_a_shape_is_json_as_sqlite_writes_it(db, shape, text):
    data = bytes(0 if 0 in shape else 7 if shape else 1)
    assert rows(db, "SELECT shape, rank FROM zt_objects(?)", writer.write({"w": writer.dense(data, shape)})) == [
        (text, len(shape))]


@pytest.mark.parametrize("dimension, elements", [
    ((1 << 63) - 1, (1 << 63) - 1), (1 << 63, "9223372036854775808"), ((1 << 64) - 1, "18446744073709551615")])
def test_elements_beyond_int64_are_text(db, dimension, elements):
    file = writer.write({"w": writer.dense(b"", [dimension])})
    assert rows(db, "SELECT elements, shape FROM zt_objects(?)", file) == [(elements, f"[{dimension}]")]


def test_a_decoded_length_beyond_int64_is_not_a_negative_number(db):
    file = writer.write({"w": writer.dense(writer.zstd(b"x"), [1], encoding="zstd", uncompressed_length=(1 << 64) - 1)})
    length, = rows(db, "SELECT decoded_length FROM zt_components(?)", file)[0]
    assert length in (None, "18446744073709551615")


@pytest.mark.parametrize("component, expected", [
    (dict(bytes=b"abcdefgh", dtype="f32"), 8),
    (dict(bytes=b"abcdefgh", dtype="f32", uncompressed_length=99), 8),
    (dict(bytes=writer.zstd(b"abcdefgh"), dtype="f32", encoding="zstd", uncompressed_length=8), 8),
    (dict(bytes=writer.zstd(b"abcdefgh"), dtype="f32", encoding="zstd", uncompressed_length=9), 9),
    (dict(bytes=writer.zstd(b"abcdefgh"), dtype="f32", encoding="zstd"), 8),
    (dict(bytes=writer.zstd(b"abcdefgh"), dtype="f32", type="complex64", encoding="zstd"), 16),
    (dict(bytes=writer.zstd(b"ab"), dtype="u8", type="f8_e5m2", encoding="zstd"), 2),
    (dict(bytes=writer.zstd(b"ab"), dtype="u8", type="f6_strange", encoding="zstd"), None),
    (dict(bytes=writer.zstd(b"ab"), dtype="q4", encoding="zstd"), None),
    (dict(bytes=b"abcdefgh", dtype="f32", encoding="lz4", uncompressed_length=8), None),
])
def test_decoded_length_is_what_the_manifest_tells(db, component, expected):
    file = writer.write({"w": {"shape": [2], "components": {"data": component}}})
    assert rows(db, "SELECT decoded_length FROM zt_components(?)", file) == [(expected,)]
    assert rows(db, "SELECT decoded_bytes FROM zt_objects(?)", file) == [(expected,)]
    assert rows(db, "SELECT decoded_bytes FROM zt_files(?)", file) == [(expected,)]


def test_mtime_is_seconds_with_a_fraction(db, sample):
    os.utime(sample, ns=(0, 1_700_000_000_250_000_000))
    assert value(db, "SELECT mtime FROM zt_files(?)", sample) == 1_700_000_000.25


def test_a_table_takes_no_more_arguments_than_it_has(db, sample):
    assert message(db, "SELECT * FROM zt_files(?, 'skip')", sample) == "ztensor: zt_files takes at most 1 argument"
    assert "too many arguments" in message(db, "SELECT * FROM zt_stats(?, 'skip', 1)", sample)
    assert "takes at most 2 arguments" in message(db, "SELECT * FROM zt_objects(?, 'skip', 1)", sample)
    assert "takes at most 2 arguments" in message(db, "SELECT * FROM zt_attributes(?, 'skip', 1)", sample)


def test_json_over_the_limit_of_sqlite_is_too_big(db):
    # 80 kB of bytes are 160 kB of hexadecimal digits.
    file = writer.write({"w": dict(writer.dense(b"x"), attributes={"b": b"\xab" * 80_000})})
    queries = ["SELECT length(attributes) FROM zt_objects(?)", "SELECT length(zt_manifest(?))"]
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 170_000)
    assert value(db, queries[0], file) == 160_000 + len('{"b":""}')
    assert value(db, queries[1], file) > 160_000
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    for sql in queries:
        assert failure(db, sql, file).sqlite_errorcode == sqlite3.SQLITE_TOOBIG
    assert value(db, "SELECT value FROM zt_attributes(?)", file) == b"\xab" * 80_000


def test_rows_are_read_only(db, sample):
    for sql in ("INSERT INTO zt_objects(path) VALUES ('x')", "DELETE FROM zt_objects", "UPDATE zt_objects SET path = 'x'"):
        assert "may not be modified" in message(db, sql)
    assert value(db, "SELECT count(*) FROM zt_objects(?)", sample) == 2


# ---------------------------------------------------------------------------------------------------------- on_error

@RAISING
@pytest.mark.parametrize("argument", ["", ", 'abort'", ", NULL"])
def test_abort_is_the_default_and_ends_the_query_at_the_first_unreadable_file(shell, table, mixed, argument):
    # In the shell: Python fetches a row ahead, and loses the last one before an error.
    got = shell(f"SELECT path FROM {table}('{mixed}'{argument});")
    assert got.out.splitlines() == [mixed + "/a.zt"]
    assert prefix(mixed + "/b.zt") in got.err


@RAISING
def test_skip_leaves_out_unreadable_files(db, table, mixed):
    good = [(mixed + "/a.zt",), (mixed + "/c.zt",)]
    assert rows(db, f"SELECT path FROM {table}(?, 'skip')", mixed) == good
    assert rows(db, f"SELECT path FROM {table} WHERE source = ? AND on_error = 'skip'", mixed) == good
    assert rows(db, f"SELECT DISTINCT on_error FROM {table}(?, 'skip')", mixed) == [("skip",)]


@RAISING
@pytest.mark.parametrize("word", ["'ignore'", "'skipped'", "''", "1"])
def test_any_other_on_error_is_an_error(db, table, sample, word):
    text = message(db, f"SELECT * FROM {table}(?, {word})", sample)
    assert text.startswith("ztensor: ") and "abort" in text and "skip" in text


def test_zt_files_never_aborts_over_an_unreadable_file(db, mixed):
    got = rows(db, "SELECT path, objects, error FROM zt_files(?)", mixed)
    assert [(path, objects) for path, objects, _ in got] == [(f"{mixed}/{n}.zt", o) for n, o in (("a", 1), ("b", None), ("c", 1))]
    assert [error is None for _, _, error in got] == [True, False, True]
    assert got[1][2] == message(db, "SELECT * FROM zt_objects(?)", mixed + "/b.zt")


def test_skip_does_not_hide_a_component_that_cannot_be_decoded(db):
    # The file is sound; what fails is one value of one row.
    file = writer.write({"w": writer.dense(b"no frame", encoding="zstd", uncompressed_length=8)})
    assert rows(db, "SELECT component FROM zt_components(?, 'skip')", file) == [("data",)]
    assert message(db, "SELECT data FROM zt_components(?, 'skip')", file).startswith(place(file, "w", "data"))


# ---------------------------------------------------------------------------------------------- CREATE VIRTUAL TABLE

@TABLES
@pytest.mark.parametrize("schema", ["temp", "main"])
def test_a_table_can_be_given_a_name(db, table, tree, schema):
    db.execute(f"CREATE VIRTUAL TABLE {schema}.models USING {table}('{tree.path}/b/*.zt')")
    assert rows(db, "SELECT * FROM models") == rows(db, f"SELECT * FROM {table}(?)", tree.path + "/b/*.zt")
    if table != "zt_attributes":
        assert rows(db, "SELECT DISTINCT path FROM models") == [(tree.files[1],), (tree.files[2],)]
    db.execute("DROP TABLE models")
    assert "no such table" in message(db, "SELECT * FROM models")


@RAISING
@pytest.mark.parametrize("word", ["skip", "'skip'", '"skip"'])
def test_a_named_table_takes_on_error(db, table, mixed, word):
    db.execute(f"CREATE VIRTUAL TABLE temp.models USING {table}('{mixed}', {word})")
    assert rows(db, "SELECT path FROM models") == [(mixed + "/a.zt",), (mixed + "/c.zt",)]


def test_a_named_table_aborts_by_default_and_refuses_another_word(db, mixed):
    db.execute(f"CREATE VIRTUAL TABLE temp.models USING zt_objects('{mixed}')")
    with pytest.raises(sqlite3.OperationalError, match="b.zt"):
        rows(db, "SELECT path FROM models")
    with pytest.raises(sqlite3.OperationalError, match="ztensor: .*abort.*skip"):
        db.execute(f"CREATE VIRTUAL TABLE temp.other USING zt_objects('{mixed}', ignore)")
        rows(db, "SELECT path FROM other")


def test_the_arguments_of_a_named_table_are_unquoted(db, save):
    path = save("it's one.zt", writer.sample())
    literal = path.replace("'", "''")
    db.execute(f"CREATE VIRTUAL TABLE temp.models USING zt_objects('{literal}')")
    assert rows(db, "SELECT DISTINCT path FROM models") == [(path,)]
    double = path.replace('"', '""')
    db.execute(f'CREATE VIRTUAL TABLE temp.models2 USING zt_objects("{double}")')
    assert rows(db, "SELECT DISTINCT path FROM models2") == [(path,)]


def test_a_named_table_sees_the_files_of_the_moment(db, save, tree):
    db.execute(f"CREATE VIRTUAL TABLE temp.models USING zt_files('{tree.path}/b')")
    assert rows(db, "SELECT path FROM models") == [(tree.files[1],), (tree.files[2],)]
    save("tree/b/new.zt", writer.sample())
    assert rows(db, "SELECT path FROM models") == [(f"{tree.path}/b/new.zt",), (tree.files[1],), (tree.files[2],)]


def test_a_named_table_stored_in_a_database_works_when_it_is_opened_again(connect, tmp_path, sample):
    first = connect(tmp_path / "catalog.db")
    first.execute(f"CREATE VIRTUAL TABLE models USING zt_objects('{sample}')")
    first.close()
    again = connect(tmp_path / "catalog.db")
    assert rows(again, "SELECT object FROM models") == [("layer1.weight",), ("layer1.bias",)]


# ------------------------------------------------------------------------------------------------------------- joins

def test_tables_join_using_path_and_object(db, tree):
    got = rows(db, """SELECT o.path, o.object, c.length, o.elements
                      FROM zt_objects(?1) o JOIN zt_components(?1) c USING (path, object)""", tree.path)
    assert sorted(got) == sorted((f, o, n, n) for f in tree.files for o, n in (("layer1.weight", 12), ("layer1.bias", 4)))


def test_an_object_joins_its_attributes(db, save):
    objects = {name: dict(writer.dense(b"x"), attributes={"n": i}) for i, name in enumerate("abc")}
    path = save("x.zt", writer.write(objects))
    assert rows(db, """SELECT object, format, value FROM zt_objects(?1) JOIN zt_attributes(?1) USING (path, object)
                       ORDER BY object""", path) == [("a", "dense", 0), ("b", "dense", 1), ("c", "dense", 2)]


def test_a_table_can_follow_the_paths_of_another(db, tree):
    got = rows(db, "SELECT f.path, o.path, o.object FROM zt_files(?) f JOIN zt_objects(f.path) o", tree.path)
    assert got == [(f, f, o) for f in tree.files for o in ("layer1.weight", "layer1.bias")]


def test_a_correlated_subquery_reads_each_file(db, tree):
    got = rows(db, """SELECT path, (SELECT hex(data) FROM zt_components(f.path) WHERE object = 'layer1.weight')
                      FROM zt_files(?) f""", tree.path)
    assert got == [(f, f"{i + 1:02}" * 12) for i, f in enumerate(tree.files)]


def test_a_table_reads_the_files_in_a_blob_column(db):
    db.execute("CREATE TABLE model(id INTEGER PRIMARY KEY, file BLOB)")
    for n in (1, 2, 3):
        db.execute("INSERT INTO model VALUES (?, ?)", (n, writer.write({f"w{n}": writer.dense(bytes([n]) * n)})))
    assert rows(db, "SELECT id, path, object, elements FROM model JOIN zt_objects(model.file)") == [
        (1, None, "w1", 1), (2, None, "w2", 2), (3, None, "w3", 3)]
    assert rows(db, "SELECT id, data, stored FROM model, zt_components(model.file) ORDER BY id DESC") == [
        (n, bytes([n]) * n, bytes([n]) * n) for n in (3, 2, 1)]
    assert rows(db, "SELECT id, zt_blob(file, 'w' || id) FROM model") == [(n, bytes([n]) * n) for n in (1, 2, 3)]


def test_a_source_may_be_a_value_of_the_moment(db):
    # The bytes belong to an expression; the cursor must not keep a pointer to where they were.
    file = writer.write({f"w{n}": writer.dense(bytes([n]) * 50) for n in range(50)})
    db.execute("CREATE TABLE model AS SELECT ? AS file", (file,))
    expected = [(f"w{n}", bytes([n]) * 50, f"{n:02X}" * 50) for n in range(50)]
    for source in ("substr(?1, 1)", "(SELECT substr(file, 1) FROM model WHERE ?1 IS NOT NULL)", "CAST(?1 AS BLOB)"):
        assert rows(db, f"SELECT object, data, hex(data) FROM zt_components({source})", file) == expected
        db.execute("SELECT randomblob(1000000)").fetchall()


def test_a_left_join_keeps_rows_whose_source_is_null_or_skipped(db, sample):
    db.execute("CREATE TABLE model(id INTEGER PRIMARY KEY, file)")
    db.executemany("INSERT INTO model VALUES (?, ?)", [(1, None), (2, sample), (3, b"broken")])
    assert rows(db, "SELECT id, object FROM model LEFT JOIN zt_objects(model.file, 'skip') ORDER BY id") == [
        (1, None), (2, "layer1.weight"), (2, "layer1.bias"), (3, None)]


def test_a_list_of_sources(db, tree):
    wanted = [tree.files[3], tree.files[0]]
    sql = "SELECT path FROM zt_files WHERE source IN (?, ?)"
    assert sorted(rows(db, sql, *wanted)) == sorted((f,) for f in wanted)
    # A source that is named twice is a member of the list once.
    assert rows(db, sql, wanted[0], wanted[0]) == [(wanted[0],)]
    assert rows(db, "SELECT count(*) FROM zt_objects WHERE source IN (SELECT path FROM zt_files(?))", tree.path) == [(10,)]


def test_two_cursors_of_one_table_do_not_disturb_each_other(db, tree):
    got = rows(db, "SELECT a.path, b.path FROM zt_files(?1) a CROSS JOIN zt_files(?1) b", tree.path)
    assert got == [(a, b) for a in tree.files for b in tree.files]


def test_a_statement_can_be_run_again_with_another_source(db, tree):
    sql = "SELECT data FROM zt_components(?) WHERE object = 'layer1.weight'"
    for i in (0, 3, 0, 1):
        assert rows(db, sql, tree.files[i]) == [(bytes([i + 1]) * 12,)]


def test_order_limit_and_aggregates_see_all_rows(db, tree):
    assert rows(db, "SELECT path FROM zt_files(?) ORDER BY path DESC LIMIT 2 OFFSET 1", tree.path) == [
        (f,) for f in tree.files[::-1][1:3]]
    assert rows(db, "SELECT path FROM zt_files(?) LIMIT 2 OFFSET 3", tree.path) == [(f,) for f in tree.files[3:5]]
    assert rows(db, "SELECT object, count(*), sum(elements) FROM zt_objects(?) GROUP BY object ORDER BY object", tree.path) == [
        ("layer1.bias", 5, 20), ("layer1.weight", 5, 60)]
    # OFFSET counts rows that match, not rows that are read.
    assert rows(db, "SELECT path FROM zt_objects(?) WHERE elements = 12 LIMIT 1 OFFSET 2", tree.path) == [(tree.files[2],)]


def test_bytes_survive_sorting_and_grouping(db, tree):
    got = rows(db, "SELECT data FROM zt_components(?) WHERE object = 'layer1.weight' ORDER BY data DESC", tree.path)
    assert got == [(bytes([i]) * 12,) for i in (5, 4, 3, 2, 1)]
    assert rows(db, "SELECT count(DISTINCT data) FROM zt_components(?)", tree.path) == [(6,)]


def test_result_codes_of_a_table_are_ordinary_errors(db, mixed):
    assert failure(db, "SELECT * FROM zt_objects(?)", mixed + "/b.zt").sqlite_errorcode == sqlite3.SQLITE_ERROR


@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16le", "UTF-16be"])
def test_tables_and_functions_work_in_a_database_of_any_text_encoding(db, save, encoding):
    db.execute(f"PRAGMA encoding = '{encoding}'")
    db.execute("CREATE TABLE t(name)")
    path = save("żółć 🐍.zt", writer.write({"é日": dict(writer.dense(b"abc"), attributes={"ключ": "знач"})}))
    assert rows(db, "SELECT path, object, shape FROM zt_objects(?) WHERE object = 'é日'", path) == [(path, "é日", "[3]")]
    assert rows(db, "SELECT object FROM zt_objects(?) WHERE path LIKE '%ż%' AND path GLOB '*🐍.zt'", path) == [("é日",)]
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", path) == [("ключ", "знач")]
    assert value(db, "SELECT zt_blob(?, 'é日', 'data', 1, 2)", path) == b"bc"
    assert message(db, "SELECT zt_blob(?, 'żó')", path).startswith(place(path, "żó"))


# ------------------------------------------------------------------------------------------------------------- shell

def test_the_sqlite3_shell_loads_the_extension_and_reads_files(shell, sample):
    got = shell(f"SELECT object, dtype, shape FROM zt_objects('{sample}') WHERE rank = 2;\n"
                f"SELECT object FROM zt_objects(readfile('{sample}'));\n"
                f"SELECT hex(zt_blob('{sample}', 'layer1.bias'));")
    assert (got.out.splitlines(), got.err) == (["layer1.weight|u8|[3,4]", "layer1.weight", "layer1.bias", "02020202"], "")
