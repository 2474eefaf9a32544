"""Arguments: lists of sources, names in CREATE VIRTUAL TABLE, on_error, lost files."""
import json
import os
import sqlite3

import pytest

import writer
from support import failure, message, prefix, quoted, rows, value

LISTED = ["zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_stats", "zt_check"]
TABLES = pytest.mark.parametrize("table", LISTED)
WITH_OBJECT = pytest.mark.parametrize("table", ["zt_elements", "zt_rows"])


def has(db, table, column):
    return (column, ) in rows(db, f"SELECT name FROM pragma_table_xinfo('{table}')")


# -------------------------------------------------------------------------------- a list of sources


def paths(db, *sources):
    return [path for path, in rows(db, "SELECT path FROM zt_files(?)", json.dumps(list(sources)))]


def test_a_json_array_is_a_list_of_sources_in_its_order(db, tree):
    a, one, two, z, y = tree.files
    assert paths(db, y, a) == [y, a]
    assert paths(db, f"{tree.path}/c*/*.zt", a) == [z, y, a]
    assert paths(db, f"{tree.path}/b", f"file://{y}") == [one, two, y]
    assert paths(db) == []
    assert paths(db, f"{tree.path}/none*.zt", a) == [a]


@TABLES
def test_every_table_takes_a_list(db, tree, table):
    source = json.dumps([tree.files[3], f"{tree.path}/b"])
    files = {tree.files[i] for i in (1, 2, 3)}
    if table != "zt_attributes":
        assert {path for path, in rows(db, f"SELECT path FROM {table}(?)", source)} == files
    got = rows(db, f"SELECT path FROM {table}(?) ORDER BY path", source)
    assert got == sorted(got)
    assert rows(db, f"SELECT DISTINCT source FROM {table}(?)",
                source) == ([(source, )] if got else [])
    got = rows(db, f"SELECT DISTINCT path FROM {table}(?) WHERE path = ?", source, tree.files[3])
    assert got in ([(tree.files[3], )], []) and (got or table == "zt_attributes")


@WITH_OBJECT
def test_a_list_of_files_gives_the_elements_of_each(db, tree, table):
    source = json.dumps([tree.files[4], tree.files[0]])
    got = rows(db, f"SELECT path, count(*) FROM {table}(?, 'layer1.bias') GROUP BY path ORDER BY path", source)
    assert got == [(tree.files[0], 4), (tree.files[4], 4)]


def test_text_in_a_list_is_json(db, save):
    for name in ('quo"te.zt', "żółć.zt", "back\\slash.zt"):
        path = save(name, writer.sample())
        assert paths(db, path) == [path]
    path = save("ab.zt", writer.sample())
    escaped = json.dumps([path]).replace("ab.zt", "\\u0061b.zt").replace("/", "\\/")
    assert rows(db, "SELECT path FROM zt_files(?)", f" \n{escaped}\t") == [(path, )]


def test_a_file_of_that_name_is_a_file(db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = '["a.zt"]'
    for file in (name, "a.zt"):
        with open(file, "wb") as out:
            out.write(writer.sample())
    assert rows(db, "SELECT path FROM zt_files(?)", name) == [(name, )]
    os.unlink(name)
    assert rows(db, "SELECT path FROM zt_files(?)", name) == [("a.zt", )]


def test_functions_take_one_file_and_no_list(db, sample):
    for sql in ("SELECT zt_blob(?, 'layer1.bias')", "SELECT zt_manifest(?)",
                "SELECT zt_dense(?, 'layer1.bias')"):
        assert message(db, sql, json.dumps([sample, sample])).startswith("ztensor: ")


def test_a_missing_file_of_a_list_is_named(db, sample, tmp_path):
    missing = str(tmp_path / "none.zt")
    source = json.dumps([sample, missing])
    with pytest.raises(sqlite3.OperationalError) as caught:
        rows(db, "SELECT * FROM zt_objects(?)", source)
    assert str(caught.value).startswith(prefix(missing))
    assert rows(db, "SELECT DISTINCT path FROM zt_objects(?, 'skip')", source) == [(sample, )]
    got = rows(db, "SELECT path, error IS NULL FROM zt_files(?)", source)
    assert got == [(sample, 1), (missing, 0)]


def test_a_home_directory_is_found(db, save, tmp_path, monkeypatch):
    path = save("home/sub/x.zt", writer.sample())
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert rows(db, "SELECT path FROM zt_files('~/sub/x.zt')") == [(path, )]
    assert rows(db, "SELECT path FROM zt_files('~/sub')") == [(path, )]
    assert rows(db, "SELECT path FROM zt_files('~/*/*.zt')") == [(path, )]
    assert value(db, "SELECT length(zt_blob('~/sub/x.zt', 'layer1.bias'))") == 4
    assert rows(db, "SELECT path FROM zt_files(?)", '["~/sub/x.zt"]') == [(path, )]


# ------------------------------------------------------------------------- a file that is not there


def test_a_missing_file_is_a_row_with_an_error(db, tmp_path):
    missing = str(tmp_path / "none.zt")
    (row, ) = rows(
        db, "SELECT path, size, mtime, container, version, objects, error, source FROM zt_files(?)",
        missing)
    assert row[:6] == (missing, None, None, None, None, None) and row[7] == missing
    assert row[6].startswith(prefix(missing))
    assert rows(db, "SELECT path, error IS NULL FROM zt_files(?) WHERE path = ?", missing,
                missing) == [(missing, 0)]
    assert rows(db, "SELECT path FROM zt_files(?) WHERE path = 'x'", missing) == []
    assert value(db, "SELECT count(*) FROM zt_files(?)", missing) == 1


def test_a_lost_file_is_one_row_however_often_it_is_named(db, tree):
    sources = [*tree.files, "none.zt"]
    for sql, paths in [
        ("SELECT path FROM zt_files(?) WHERE path IN (SELECT value FROM json_each(?))", sources * 2),
        ("SELECT f.path FROM json_each(?2) CROSS JOIN zt_files(?1) f ON f.path = value", sources)
    ]:
        found = rows(db, f"{sql} ORDER BY 1", json.dumps(sources), json.dumps(paths))
        assert [path for path, in found] == sorted(sources)


def test_what_is_not_remote_has_no_entity_tag(db, save, sample):
    for source in (sample, save("broken.zt", b"broken"), "none.zt", b"", open(sample, "rb").read()):
        assert rows(db, "SELECT etag FROM zt_files(?)", source) == [(None, )]


def test_a_join_survives_a_lost_file(db, sample, tmp_path):
    missing = str(tmp_path / "none.zt")
    db.execute("CREATE TABLE runs(id, artifact)")
    db.executemany("INSERT INTO runs VALUES (?, ?)", [(1, sample), (2, missing), (3, None),
                                                      (4, sample)])
    for join in ("LEFT JOIN zt_files(artifact) f", "LEFT JOIN zt_files f ON f.source = artifact"):
        got = rows(db, f"SELECT id, f.path, version, error IS NULL FROM runs {join} ORDER BY id")
        assert got == [(1, sample, "1.2.0", 1), (2, missing, None, 0), (3, None, None, 1),
                       (4, sample, "1.2.0", 1)]
    got = rows(
        db, "SELECT id, count(object) FROM runs LEFT JOIN zt_objects(artifact, 'skip') GROUP BY id")
    assert got == [(1, 2), (2, 0), (3, 0), (4, 2)]
    assert message(db,
                   "SELECT id, object FROM runs JOIN zt_objects(artifact) WHERE id = 2").startswith(
                       prefix(missing))


# ----------------------------------------------------------------------------- CREATE VIRTUAL TABLE


@pytest.mark.parametrize("arguments", [
    "source='{0}'", "source = '{0}'", 'source="{0}"', "source='{0}', on_error=abort",
    "'{0}', on_error='abort'", "on_error = abort, source = '{0}'", "'{0}', abort", "'{0}'"
])
def test_arguments_may_be_given_by_name(db, tree, save, arguments):
    broken = save("tree/broken.zt", b"broken")
    below = arguments.format(tree.path + "/*/*.zt")
    db.execute(f"CREATE VIRTUAL TABLE temp.some USING zt_objects({below})")
    assert value(db, "SELECT count(*) FROM some") == 8
    db.execute(f"CREATE VIRTUAL TABLE temp.every USING zt_objects({arguments.format(tree.path)})")
    assert str(failure(db, "SELECT count(*) FROM every")).startswith(prefix(broken))
    skipping = arguments.replace("abort", "skip")
    if "skip" in skipping:
        db.execute(
            f"CREATE VIRTUAL TABLE temp.readable USING zt_objects({skipping.format(tree.path)})")
        assert value(db, "SELECT count(*) FROM readable") == 10


@pytest.mark.parametrize("table, arguments", [("zt_objects", "source='x', mode=skip"),
                                              ("zt_objects", "'x', on_error=maybe"),
                                              ("zt_objects", "'x', maybe"),
                                              ("zt_objects", "'x', on_eror=skip"),
                                              ("zt_check", "'x', level=deep"),
                                              ("zt_check", "'x', deep"),
                                              ("zt_check", "'x', on_error=skip"),
                                              ("zt_files", "'x', skip"), ("zt_files", "path='x'"),
                                              ("zt_objects", "source='x', source='y'"),
                                              ("zt_objects", "'x', source='y'"),
                                              ("zt_objects", "'x', skip, more"),
                                              ("zt_objects", "'x', on_error=skip, on_error=skip"),
                                              ("zt_rows", "'x', 'w', dtype=f31"),
                                              ("zt_elements", "'x', 'w', on_error=maybe"),
                                              ("zt_objects", "on_error="),
                                              ("zt_objects", "'x', on_errar=skip"),
                                              ("zt_objects", "source='x', skip"),
                                              ("zt_rows", "object='w', object='v'"),
                                              ("zt_objects", "'x', attributes='{}'")])
def test_an_unknown_name_or_value_is_an_error_when_the_table_is_made(db, table, arguments):
    text = message(db, f"CREATE VIRTUAL TABLE temp.m USING {table}({arguments})")
    assert text.startswith("ztensor: ")
    assert message(db, "SELECT * FROM temp.m") == "no such table: temp.m"


@pytest.mark.parametrize("table, arguments, count",
                         [("zt_elements", "source={0}, object='layer1.bias'", 4),
                          ("zt_elements", "{0}, object=layer1.bias", 4),
                          ("zt_rows", "{0}, 'layer1.weight', dtype=u8", 3),
                          ("zt_rows", "object='layer1.weight', source={0}", 3),
                          ("zt_check", "{0}, level=full", 2),
                          ("zt_check", "level='quick', source={0}", 2),
                          ("zt_files", "source={0}", 1)])
def test_every_table_takes_its_own_names(db, sample, table, arguments, count):
    db.execute(f"CREATE VIRTUAL TABLE temp.m USING {table}({arguments.format(quoted(sample))})")
    assert value(db, "SELECT count(*) FROM m") == count
    assert rows(db, "SELECT DISTINCT source FROM m") == [(sample, )]


@pytest.mark.parametrize("argument, source", [("source\t=\r\n\f'a.zt' ", "a.zt"), ("'it''s'", "it's"),
                                              ('"""a"""', '"a"'), ("'a' 'b'", "a' 'b"),
                                              ("'a' b", "'a' b"), ("|a", "|a")])
def test_an_argument_as_sqlite_hands_it_over(db, argument, source):
    db.execute(f"CREATE VIRTUAL TABLE temp.m USING zt_files({argument})")
    assert rows(db, "SELECT source FROM m") == [(source, )]


def test_a_source_with_an_equals_sign_is_a_source(db, save):
    path = save("run=1/lr=0.1.zt", writer.sample())
    db.execute(f"CREATE VIRTUAL TABLE temp.quoted USING zt_objects({quoted(path)})")
    db.execute(f"CREATE VIRTUAL TABLE temp.named USING zt_objects(source={quoted(path)})")
    for table in ("quoted", "named"):
        assert rows(db, f"SELECT path, object FROM {table}") == [(path, "layer1.weight"),
                                                                 (path, "layer1.bias")]


def test_a_list_in_a_declared_table(db, tree):
    source = quoted(json.dumps([tree.files[4], tree.files[0]]))
    db.execute(f"CREATE VIRTUAL TABLE temp.m USING zt_files(source={source})")
    assert rows(db, "SELECT path FROM m") == [(tree.files[4], ), (tree.files[0], )]
    assert rows(db, "SELECT path FROM m ORDER BY path") == [(tree.files[0], ), (tree.files[4], )]


# ----------------------------------------------------------------------------- an argument too many


@pytest.mark.parametrize("call", [
    "zt_files({0}, 'skip')", "zt_objects({0}, 'skip', 'x')", "zt_objects({0}, 'skip', NULL)",
    "zt_components({0}, 'skip', X'00')", "zt_components({0}, 'skip', 'x', 'y')",
    "zt_attributes({0}, 'skip', 'f32')", "zt_stats({0}, 'skip', 1)", "zt_check({0}, 'quick', 'x')",
    "zt_check({0}, 'quick', 'x', 'y')", "zt_elements({0}, 'layer1.bias', 'skip', 1)",
    "zt_rows({0}, 'layer1.bias', 'f32', 'skip', 1)"
])
def test_an_argument_too_many_is_an_error(db, sample, call):
    text = str(failure(db, f"SELECT * FROM {call.format(quoted(sample))}"))
    assert "argument" in text and ("too many" in text or "at most" in text), text


def test_a_hidden_column_may_be_asked_about(db, sample):
    data = rows(db, "SELECT object, data FROM zt_components(?)", sample)
    for name, bytes_ in data:
        assert rows(db, "SELECT object FROM zt_components(?) WHERE data = ?", sample,
                    bytes_) == [(name, )]
    assert rows(db, "SELECT count(*) FROM zt_components(?) WHERE digest_status = 'ok'",
                sample) == [(0, )]
    assert rows(db, "SELECT count(*) FROM zt_check(?) WHERE meaning = 'a component has a digest'",
                sample) == [(2, )]


# ----------------------------------------------------------------------------------------- on_error


@pytest.fixture
def doubtful(tree, save):
    save("tree/a0.zt", b"broken")
    save("tree/z.zt", writer.write({"layer1.bias": writer.dense(b"\1", [1])})[:-1])
    return tree


SKIPPING = [("zt_elements", "'layer1.bias', 'skip'", 4),
            ("zt_rows", "'layer1.bias', NULL, 'skip'", 4),
            ("zt_rows", "'layer1.bias', 'u8', 'skip'", 4)]


def failure_later(db, sql, *arguments):
    """The failure of a statement that may have given rows before."""
    with pytest.raises(sqlite3.Error) as caught:
        rows(db, sql, *arguments)
    return caught.value


@pytest.mark.parametrize("table, arguments, each", SKIPPING)
def test_unreadable_files_are_skipped_if_one_asks_for_it(db, doubtful, table, arguments, each):
    got = rows(db, f"SELECT path, count(*) FROM {table}(?, {arguments}) GROUP BY path",
               doubtful.path)
    assert got == sorted((path, each) for path in doubtful.files)
    without = arguments.replace("'skip'", "'abort'")
    error = failure_later(db, f"SELECT * FROM {table}(?, {without})", doubtful.path)
    assert str(error).startswith(prefix(doubtful.path + "/a0.zt"))


def test_a_source_that_names_nothing_is_skipped(db):
    elsewhere = "file://elsewhere/x.zt"
    said = f"ztensor: {elsewhere}: a file: URI with a host other than localhost"
    assert message(db, "SELECT * FROM zt_objects(?)", elsewhere) == said
    assert rows(db, "SELECT * FROM zt_objects(?, 'skip')", elsewhere) == []
    assert rows(db, "SELECT path, error FROM zt_files(?)", elsewhere) == [(elsewhere, said)]


@pytest.mark.parametrize("first", [True, False])
def test_a_source_of_several_that_names_nothing_ends_the_query(db, sample, first):
    sources = ["none.zt", sample][::1 if first else -1]
    text = str(failure(db, "SELECT count(*) FROM zt_objects WHERE source IN (?, ?)", *sources))
    assert text == "ztensor: none.zt: cannot open: No such file or directory"
    assert rows(db, "SELECT count(*) FROM zt_objects WHERE source IN (SELECT ? WHERE 0)",
                sample) == [(0, )]
    if sqlite3.sqlite_version_info >= (3, 38):
        assert rows(db, "SELECT path FROM zt_objects WHERE source = ? AND on_error IN (SELECT 1 WHERE 0)",
                    sample) == []


@pytest.mark.parametrize("table, arguments, each", SKIPPING)
def test_a_single_file_may_be_skipped_too(db, doubtful, tmp_path, table, arguments, each):
    for path in (doubtful.path + "/a0.zt", str(tmp_path / "none.zt"), doubtful.path + "/z.zt"):
        assert rows(db, f"SELECT * FROM {table}(?, {arguments})", path) == []
        error = failure(db, f"SELECT * FROM {table}(?, {arguments.replace('skip', 'abort')})", path)
        assert str(error).startswith(prefix(path))
    assert rows(db, f"SELECT * FROM {table}(?, {arguments})", b"broken") == []


@pytest.mark.parametrize("table, arguments", [("zt_elements", "'w', 'maybe'"),
                                              ("zt_rows", "'w', NULL, 'maybe'")])
def test_on_error_has_two_values(db, sample, table, arguments):
    assert message(db, f"SELECT * FROM {table}(?, {arguments})",
                   sample).endswith("on_error must be 'abort' or 'skip', not 'maybe'")


@WITH_OBJECT
def test_on_error_may_be_given_as_a_condition(db, doubtful, table):
    sql = f"""SELECT count(*), count(DISTINCT path) FROM {table}
              WHERE source = ? AND object = ? AND on_error = 'skip'"""
    assert has(db, table, "on_error")
    assert rows(db, sql, doubtful.path, "layer1.bias") == [(20, 5)]
    sql = f"SELECT DISTINCT on_error FROM {table}(?, 'layer1.bias')"
    assert rows(db, sql, doubtful.files[0]) == [("abort", )]


def test_an_empty_blob_twice(db):
    assert rows(db, "SELECT size, error FROM (VALUES(x''), (x'')) CROSS JOIN zt_files(column1)") == 2 * [(0, prefix("<blob>") + "the file is empty")]


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 38), reason="before, SQLite gives the values of an IN one by one")
def test_lists_of_arguments(db, sample):
    """More values than there are between two checks for an interrupt; and a list without any before another one."""
    many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 1100) SELECT printf('%.*c', i, '/') || substr(?, 2) FROM n"
    assert rows(db, f"SELECT count(*) FROM zt_files WHERE source IN ({many})", sample) == [(1100,)]
    assert rows(db, "SELECT path FROM zt_objects WHERE source IN (SELECT 'a' WHERE 0) AND on_error IN ('skip', 'abort')") == []


def test_a_list_without_files_has_no_path(db):
    assert rows(db, "SELECT * FROM zt_files('[]') WHERE path = 'x'") == rows(db, "SELECT * FROM zt_files('[]') WHERE path IN ('x', 'y')") == []


@pytest.mark.parametrize("offset, found", [("1", [1, 2]), ("1.0", [1, 2]), ("'1'", [1, 2]), ("100000", []), ("999999999999", [])])
def test_offsets(db, sample, offset, found):
    sql = "SELECT position FROM zt_elements(?, 'layer1.weight') LIMIT 2 OFFSET "
    assert rows(db, sql + offset, sample) == [(i,) for i in found]


def test_an_offset_after_a_position_that_no_element_has(db, save):
    path = save("long.zt", writer.write({"w": writer.dense(bytes(100002))}))
    for condition in ("position < 1e300", "position > -1e300"):
        assert rows(db, f"SELECT position FROM zt_elements(?, 'w') WHERE {condition} LIMIT -1 OFFSET 100000", path) == [(100000,), (100001,)]


def test_an_order_needs_no_look_at_files_that_are_not_opened(connect, db):
    nofs = connect(entry="sqlite3_ztensor_nofs_init")
    sql = "SELECT position FROM zt_elements('{}', 'w') ORDER BY position"
    assert message(nofs, sql.format("a.zt")).endswith("opens no files")
    assert message(db, sql.format("https://localhost/a.zt")).startswith("ztensor: ")


def test_the_offset_of_files_of_which_one_is_broken(db, save, tmp_path):
    for name in "abc":
        save(f"d/{name}.zt", b"broken" if name == "b" else writer.sample())
    assert message(db, "SELECT object FROM zt_objects(?) LIMIT 1 OFFSET 100000", str(tmp_path / "d")).startswith(prefix(tmp_path / "d/b.zt"))
    assert rows(db, "SELECT object FROM zt_objects(?, 'skip') LIMIT 1 OFFSET 100000", str(tmp_path / "d")) == []
    assert rows(db, "SELECT etag FROM zt_files(?)", str(tmp_path / "d")) == 3 * [(None,)]


def test_an_object_of_the_declaration_or_of_a_join(db, sample):
    db.execute("CREATE TABLE t(o)")
    db.execute("INSERT INTO t VALUES('layer1.bias'), ('layer1.weight')")
    db.execute(f"CREATE VIRTUAL TABLE temp.e USING zt_elements({quoted(sample)}, 'layer1.weight')")
    assert value(db, "SELECT count(*) FROM t CROSS JOIN e ON e.object = t.o") == 16
    assert value(db, "SELECT count(*) FROM e CROSS JOIN t ON e.object = t.o") == 12
