"""zt_elements and zt_rows are alike in their arguments, names, unreadable files and rowids."""
import sqlite3

import pytest

import writer
from support import message, place, prefix, quoted, rows

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
TABLES = pytest.mark.parametrize("table", ["zt_elements", "zt_rows"])


@pytest.mark.parametrize("table, arguments, columns, hidden", [
    ("zt_elements", ", 'layer1.bias'", ["path", "position", "coords", "value"], ["source", "object", "on_error"]),
    ("zt_rows", ", 'layer1.bias'", ["path", "row", "vector"], ["source", "object", "dtype", "on_error"]),
    ("zt_stats", "", ["path", "object", "elements", "zeros", "nans", "infs", "min", "max", "mean", "std", "l2", "error"], ["source", "on_error"])])
def test_the_columns_and_their_order(db, sample, table, arguments, columns, hidden):
    db.execute(f"CREATE TEMP VIEW v AS SELECT * FROM {table}({quoted(sample)}{arguments})")
    assert [row[1] for row in rows(db, "PRAGMA table_info(v)")] == columns
    assert rows(db, "SELECT name, hidden FROM pragma_table_xinfo(?) ORDER BY hidden, cid", table) == [
        (name, 0) for name in columns] + [(name, 1) for name in hidden]


@TABLES
@BOTH_WAYS
def test_a_missing_object_of_a_literal_file_is_an_error_that_suggests_the_one_meant(db, save, table, how):
    source = writer.sample() if how == "blob" else save("x.zt", writer.sample())
    text = message(db, f"SELECT * FROM {table}(?, 'layer1.wieght')", source)
    assert text.startswith(place(source, "layer1.wieght")) and "did you mean 'layer1.weight'?" in text


@TABLES
def test_an_unreadable_file_among_many_is_an_error_that_names_it(db, tree, save, table):
    broken = save("tree/a0.zt", b"broken")
    with pytest.raises(sqlite3.OperationalError) as caught:
        rows(db, f"SELECT * FROM {table}(?, 'layer1.bias')", tree.path)
    assert str(caught.value).startswith(prefix(broken))


@TABLES
@pytest.mark.parametrize("condition", ["", " WHERE {} = 99"])
def test_an_unreadable_file_after_one_that_gives_no_row_is_named_alone(db, save, tmp_path, table, condition):
    save("d/a.zt", writer.write({"w": writer.dense(b"", [0, 3])}))
    broken = save("d/b.zt", b"broken")
    query = f"SELECT * FROM {table}(?, 'w')" + condition.format("row" if table == "zt_rows" else "position")
    assert message(db, query, str(tmp_path / "d")) == message(db, "SELECT * FROM zt_objects(?)", broken)


@TABLES
def test_a_literal_path_that_does_not_exist_is_an_error(db, tmp_path, table):
    missing = str(tmp_path / "none.zt")
    assert message(db, f"SELECT * FROM {table}(?, 'w')", missing).startswith(prefix(missing))


@TABLES
def test_a_null_source_or_object_gives_no_rows(db, sample, table):
    for arguments in ((None, "w"), (sample, None), (None, None)):
        assert rows(db, f"SELECT * FROM {table}(?, ?)", *arguments) == []


@TABLES
@pytest.mark.parametrize("arguments", ["", "()", "('{}')"])
def test_without_its_arguments_it_says_how_to_call_it(db, sample, table, arguments):
    assert f"{table}('model.zt'" in message(db, f"SELECT * FROM {table}{arguments.format(sample)}")


@pytest.mark.parametrize("arguments", ["zt_elements(?, 'layer1.bias', 'skip', 1)", "zt_rows(?, 'layer1.bias', 'f32', 'skip', 1)"])
def test_it_takes_no_more_arguments_than_it_has(db, sample, arguments):
    assert "too many arguments" in message(db, f"SELECT * FROM {arguments}", sample)


@TABLES
def test_the_name_of_an_object_is_all_of_it(db, table):
    file = writer.write({"w": writer.dense(bytes(4), [4], dtype="u8")})
    assert "U+0000" in message(db, f"SELECT * FROM {table}(?, 'w' || char(0) || 'x')", file)
    assert "must be TEXT, not a BLOB" in message(db, f"SELECT * FROM {table}(?, x'77')", file)


@pytest.mark.parametrize("table, key, count", [("zt_elements", "position", 60), ("zt_rows", "row", 15)])
def test_rowids_are_unique_and_the_same_whatever_the_condition(db, tree, table, key, count):
    sql = f"SELECT rowid, path, {key} FROM {table}(?, 'layer1.weight')"
    everything = rows(db, sql, tree.path)
    assert len({rowid for rowid, _, _ in everything}) == count
    for condition in (f"{key} = 1", f"{key} > 0 AND path LIKE '%/b/%'", f"path = '{tree.files[4]}'", f"{key} IN (0, 2)"):
        got = rows(db, f"{sql} WHERE {condition}", tree.path)
        assert got and set(got) <= set(everything)
