"""Joins, and conditions on arguments and names: the same rows as of ordinary tables.

What test_random.py asks at random, said plainly where it once went wrong or is easily got wrong.
"""
import os
import sqlite3

import pytest

import writer
from support import SOURCE_TABLES, failure, quoted, rows, value

NAMES = ["0", "00", "0.0", "-0", "1", "1e3", "1000", "a"]
# SQLite hands over all values of an IN in one call. Before, it compared each again as if it came
# from no column.
IN_AT_ONCE = sqlite3.sqlite_version_info >= (3, 38)


@pytest.fixture
def numbers(save):
    """The path of a file with objects whose names look like numbers, two elements each."""
    return save(
        "numbers.zt",
        writer.write({name: writer.dense(bytes([i, i + 100]), [2])
                      for i, name in enumerate(NAMES)}))


@pytest.fixture
def native(db, numbers):
    """`ints`, and `o`, an ordinary table with what zt_objects says of `numbers`."""
    db.execute("CREATE TABLE ints(i INTEGER)")
    db.executemany("INSERT INTO ints VALUES (?)", [(i, ) for i in (0, 1, 1000, 5, None)])
    db.execute("CREATE TABLE o(path TEXT, object TEXT, dtype TEXT)")
    db.execute("INSERT INTO o SELECT path, object, dtype FROM zt_objects(?)", (numbers, ))
    return db


# ----------------------------------------------------------------- arguments are texts, not numbers

ALIKE = "('0', '00', '0.0', '1e3', '1000', 'a')"


@pytest.mark.parametrize("table, each", [("zt_elements", 2), ("zt_rows", 2)])
def test_objects_that_look_like_numbers_are_told_apart(db, numbers, table, each):
    sql = f"""SELECT object, count(*) FROM {table} WHERE source = ? AND object IN {ALIKE}
              GROUP BY object ORDER BY 1"""
    assert rows(db, sql,
                numbers) == [(name, each) for name in ("0", "0.0", "00", "1000", "1e3", "a")]
    got = rows(db,
               f"SELECT object FROM {table} WHERE source = ? AND (object = '0' OR object = '00')",
               numbers)
    assert sorted(got) == [("0", )] * each + [("00", )] * each


@pytest.mark.parametrize("name", NAMES)
def test_an_object_is_what_its_column_says(db, numbers, name):
    assert rows(db, "SELECT DISTINCT object, typeof(object) FROM zt_elements(?, ?)", numbers,
                name) == [(name, "text")]
    assert value(db, "SELECT count(*) FROM zt_elements(?, ?) WHERE object = ?", numbers, name,
                 name) == 2


@pytest.mark.parametrize("table", SOURCE_TABLES)
def test_sources_that_look_like_numbers_are_told_apart(db, tmp_path, monkeypatch, table):
    monkeypatch.chdir(tmp_path)
    for name in ("01", "1.0", "1"):
        with open(name, "wb") as file:
            file.write(writer.write({"w": writer.dense(b"x")}, attributes={"k": name}))
    sql = f"""SELECT DISTINCT path, source, typeof(source) FROM {table}
              WHERE source IN ('01', '1.0') ORDER BY 1"""
    assert rows(db, sql) == [("01", "01", "text"), ("1.0", "1.0", "text")]
    assert rows(
        db,
        f"SELECT DISTINCT path FROM {table} WHERE source = '01' OR source = '1.0' ORDER BY 1") == [
            ("01", ), ("1.0", )
        ]
    assert rows(db, f"SELECT path FROM {table}('01') WHERE source = '1.0'") == []


@pytest.mark.parametrize("name", ["00", "1e3", "-0"])
def test_a_table_made_from_a_query_keeps_the_text_of_an_argument(db, numbers, name):
    db.execute("CREATE TABLE kept AS SELECT source, object, value FROM zt_elements(?, ?)",
               (numbers, name))
    assert rows(db, "SELECT DISTINCT source, object, typeof(object) FROM kept") == [(numbers, name,
                                                                                     "text")]


def test_a_table_made_from_a_query_keeps_a_blob_of_a_source(db):
    image = writer.sample()
    db.execute("CREATE TABLE kept AS SELECT source, object FROM zt_objects(?)", (image, ))
    assert rows(db, "SELECT DISTINCT source FROM kept") == [(image, )]


# -------------------------------------------------------------------------- a name may be any value


def test_a_number_may_be_equal_to_several_names(native, numbers):
    """A number is compared with texts as a number: no look-up by name finds all it equals."""
    wanted = "SELECT i FROM ints i LEFT JOIN {} o ON o.path = ? AND o.object = i.i"
    expected = rows(native, wanted.format("o"), numbers)
    assert len(expected) == 9  # 0 is four names, 1000 two; 5 and NULL are none
    for table in ("zt_objects(?2)", "zt_stats(?2)"):
        got = rows(native, wanted.replace("?", "?1").format(table), numbers, numbers)
        assert sorted(got, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("other",
                         ["CAST(i.i AS TEXT)", "i.i || ''", "i.i", "+i.i", "CAST(i.i AS REAL)"])
@pytest.mark.parametrize("columns", ["i.i", "i.i, o.object", "count(*)"])
def test_a_left_join_keeps_every_row(native, numbers, other, columns):
    sql = f"SELECT {columns} FROM ints i LEFT JOIN {{}} o ON o.path = ?1 AND o.object = {other}"
    got = rows(native, sql.format("zt_objects(?1)"), numbers)
    assert sorted(got, key=repr) == sorted(rows(native, sql.format("o"), numbers), key=repr)


@pytest.mark.parametrize("column", ["i", "CAST(i AS TEXT)", "i || ''", "CAST(i AS REAL)", "i + 0"])
@pytest.mark.parametrize("table", ["zt_files", "zt_objects", "zt_check"])
def test_a_path_in_numbers_is_compared_as_sqlite_does(db, tmp_path, monkeypatch, table, column):
    monkeypatch.chdir(tmp_path)
    for name in ("01", "1", "2.0"):
        with open(name, "wb") as file:
            file.write(writer.sample())
    db.execute("CREATE TABLE ints(i INTEGER)")
    db.executemany("INSERT INTO ints VALUES (?)", [(1, ), (2, ), (None,)])
    db.execute("CREATE TABLE copy(path TEXT)")
    db.execute(f"INSERT INTO copy SELECT path FROM {table}('[0-9]*')")
    sql = f"SELECT path FROM {{}} WHERE path IN (SELECT {column} FROM ints)"
    if IN_AT_ONCE or column not in ("i", "CAST(i AS REAL)"):
        assert sorted(rows(db, sql.format(f"{table}('[0-9]*')"))) == sorted(
            rows(db, sql.format("copy")))
    sql = f"SELECT i, path FROM ints JOIN {{}} c ON c.path = {column}"
    assert sorted(rows(db,
                       sql.format(f"{table}('[0-9]*')"))) == sorted(rows(db, sql.format("copy")))


@pytest.mark.parametrize("length", [300, 5000, 100_000])
@pytest.mark.parametrize(
    "table", ["zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_stats", "zt_check"])
def test_a_path_too_long_for_the_system_is_equal_to_none(db, sample, tree, table, length):
    columns = "path, size" if table == "zt_files" else "path"
    for source in (sample, tree.path):
        for condition in ("path = ?2", "path IN (?2, 'x')", "path = ?2 AND path LIKE '%'"):
            for name in ("x" * length, "/" + "x" * length, "x/" * (length // 2)):
                assert rows(db, f"SELECT {columns} FROM {table}(?1) WHERE {condition}", source,
                            name) == []


# ------------------------------------------------------------------------------- optional arguments


@pytest.mark.parametrize("sql, expected", [
    ("SELECT row FROM zt_rows(?, 'a', NULL) WHERE row < 1 OR row > 0", [(0, ), (1, )]),
    ("SELECT object FROM zt_objects(?, NULL) WHERE path = 'x' OR object = 'a'", [("a", )]),
    ("SELECT object FROM zt_objects(?, NULL) WHERE object = '0' OR object = 'a'", [("0", ),
                                                                                   ("a", )]),
    ("SELECT count(*) FROM zt_components(?, NULL) WHERE path = 'x' OR object = 'a' OR rank", None),
    ("SELECT count(*) FROM zt_check(?, NULL) WHERE path = 'x' OR object = 'a'", [(1, )]),
    ("SELECT object FROM zt_stats(?, NULL) WHERE path = 'x' OR object = 'a'", [("a", )]),
    ("SELECT count(*) FROM ints LEFT JOIN zt_objects(?, NULL) o ON o.object = 'a' OR o.path = i", [
        (5, )
    ]),
    ("""SELECT object FROM zt_objects
         WHERE source = ? AND on_error = NULL AND (path = 'x' OR object = 'a')""",
     [("a", )]),
])
def test_an_optional_argument_given_as_null_is_not_given(native, numbers, sql, expected):
    if expected is None:
        assert "no such column" in str(failure(native, sql, numbers))
    else:
        assert sorted(rows(native, sql, numbers)) == expected


# --------------------------------------------------------------------- queries that have a solution


def test_an_argument_that_cannot_be_had_in_one_way_may_be_had_in_another(native, numbers):
    native.execute("CREATE TABLE s(src)")
    native.executemany("INSERT INTO s VALUES (?)", [(numbers, ), ("x", ), (None,)])
    assert rows(native, "SELECT path FROM zt_files WHERE source = path AND source = ?",
                numbers) == [(numbers, )]
    assert rows(native, "SELECT path FROM zt_files WHERE source = ? AND source = path",
                numbers) == [(numbers, )]
    got = rows(
        native,
        """SELECT a.object, s.src FROM zt_objects(?) a
           LEFT JOIN s ON s.src = a.source AND a.source = 'x'""",
        numbers)
    assert got == [(name, None) for name in NAMES]
    got = rows(
        native,
        """SELECT a.object, s.src FROM zt_objects(?) a JOIN s ON s.src = a.source
           WHERE a.object = '00'""",
        numbers)
    assert got == [("00", numbers)]
    got = rows(
        native,
        "SELECT count(*) FROM zt_objects(?1) a JOIN zt_objects(?1) b ON a.source = b.source",
        numbers)
    assert got == [(64, )]


def test_a_lateral_call_with_or_and_group_by_has_a_solution(native, numbers):
    native.execute("CREATE TABLE s(src)")
    native.execute("INSERT INTO s VALUES (?)", (numbers, ))
    sql = """SELECT o.object, count(*) FROM s JOIN zt_objects(s.src) o
             WHERE o.object = '0' OR o.object = '00' OR o.path = 'x' GROUP BY o.object ORDER BY 1"""
    assert rows(native, sql) == [("0", 1), ("00", 1)]
    sql = """SELECT o.object, count(c.component) FROM s JOIN zt_objects(s.src) o
             JOIN zt_components(s.src) c USING (path, object)
             WHERE o.object = 'a' OR c.object = '1' GROUP BY o.object ORDER BY 1"""
    assert rows(native, sql) == [("1", 1), ("a", 1)]


@pytest.mark.parametrize("sql", [
    """SELECT count(*) FROM zt_files f JOIN zt_objects(f.path) o ON o.path = f.path
       WHERE f.source IN (?, 'none*')""",
    """SELECT count(*) FROM zt_objects o JOIN zt_components(o.path) c USING (path, object)
       WHERE o.source IN (?, 'none*')""",
    """SELECT count(*) FROM zt_objects o JOIN zt_components(o.source) c USING (path, object)
       WHERE o.source = ? AND o.on_error IN ('skip', 'skip')""",
])
def test_a_list_of_arguments_joins_with_what_follows_from_it(db, numbers, sql):
    try:
        assert value(db, sql, numbers) == 8
    except sqlite3.Error as error:  # It asks for a plan without the list, is refused it, and gives up
        assert not IN_AT_ONCE and ("no query solution" == str(error) or "needs a source" in str(error))


# ------------------------------------------------------------------- sources that come from other tables


@pytest.fixture
def star(db, numbers, sample):
    """Ordinary tables of paths, beside which each lateral call has several that look it up."""
    for name in ("nt", "other"):
        db.execute(f"CREATE TABLE {name}(path TEXT, object TEXT, n INTEGER)")
        db.execute(f"INSERT INTO {name} SELECT path, object, rank FROM zt_objects(?)", (numbers, ))
        db.execute(f"INSERT INTO {name} SELECT path, object, rank FROM zt_objects(?)", (sample, ))
    for table in ("zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_stats"):
        db.execute(f"CREATE TABLE copy_{table} AS SELECT *, source FROM {table}(?)", (numbers, ))
        db.execute(f"INSERT INTO copy_{table} SELECT *, source FROM {table}(?)", (sample, ))
    return db


@pytest.mark.parametrize("second", ["zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_stats"])
@pytest.mark.parametrize("third", ["zt_files", "zt_objects", "zt_attributes"])
@pytest.mark.parametrize("where", [
    "EXISTS (SELECT 1 FROM nt WHERE nt.path = t2.path)",
    "EXISTS (SELECT 1 FROM nt WHERE nt.path = t2.path) AND EXISTS (SELECT 1 FROM other WHERE other.path = t3.path)",
    "t1.path = t2.path AND EXISTS (SELECT 1 FROM nt, other WHERE nt.path = t2.path AND other.object = nt.object)",
    "EXISTS (SELECT 1 FROM nt WHERE nt.path = t3.path AND nt.n = t1.n)",
])
def test_sources_that_come_from_tables_before_are_had_in_every_order(star, second, third, where):
    calls = [f"{second}(t1.path) t2", f"{third}(t2.path) t3", "zt_files(t2.source) t4"]
    terms = ["t2.source = t1.path", "t3.source = t2.path", "t4.source = t2.source"]
    sql = "SELECT t1.object, t2.path, t3.rowid > 0, t4.size FROM nt t1 JOIN {} JOIN {} JOIN {} WHERE {} ORDER BY 1, 2, 3, 4"
    copies = [f"copy_{second} t2", f"copy_{third} t3", "copy_zt_files t4"]
    expected = rows(star, sql.format(*copies, f"{' AND '.join(terms)} AND {where}"))
    assert rows(star, sql.format(*calls, where)) == expected
    named = [f"{table} {alias}" for table, alias in ((second, "t2"), (third, "t3"), ("zt_files", "t4"))]
    assert rows(star, sql.format(*named, f"{where} AND {' AND '.join(terms)}")) == expected


@pytest.mark.skipif(not IN_AT_ONCE, reason="Before 3.38 nothing tells which argument is an IN, nor which value is known")
@pytest.mark.parametrize("sql, count", [
    ("zt_components(r.path) c ON c.path = r.path", 32), ("zt_components(r.path) c ON r.path = c.path", 32),
    ("zt_objects(r.path) c ON c.path = r.path AND c.object = l.name", 4),
    ("nt c ON c.path = r.path LEFT JOIN zt_files(r.path) f ON r.path LIKE '%.zt' AND r.path GLOB 'x*'", 32)])
def test_arguments_from_two_tables_and_a_path_from_a_third_have_a_plan(star, numbers, sql, count):
    star.execute("CREATE TABLE m(a)")
    star.execute("INSERT INTO m VALUES (?)", (numbers, ))
    star.execute("CREATE TABLE l(name TEXT)")
    star.execute("INSERT INTO l VALUES ('0'), ('a')")
    assert value(star, f"SELECT count(*) FROM m, l JOIN zt_rows(m.a, l.name) r JOIN {sql}") == count


@pytest.mark.skipif(not IN_AT_ONCE, reason="Before 3.38 SQLite hands over the values of an IN one by one")
@pytest.mark.parametrize("rows_in", ["0, 1", "SELECT n FROM nt"])
def test_a_list_of_objects_has_a_plan_beside_a_list_of_rows_in_an_outer_join(star, numbers, rows_in):
    sql = f"""SELECT r.object, r.row, count(*) FROM zt_rows r LEFT JOIN other ON r.row IN ({rows_in}) AND other.n = r.row
              JOIN zt_files(r.source) f WHERE r.source = ? AND r.object IN ('0', 'a') GROUP BY 1, 2 ORDER BY 1, 2"""
    ones = value(star, "SELECT count(*) FROM other WHERE n = 1")
    assert rows(star, sql, numbers) == [("0", 0, 1), ("0", 1, ones), ("a", 0, 1), ("a", 1, ones)]
    sql = "SELECT count(*) FROM zt_rows WHERE source = ? AND object IN ('0', 'a') AND row IN (1, 5)"
    assert value(star, sql, numbers) == 2


def test_an_argument_that_comes_from_a_table_before_is_no_condition_on_its_default(star, numbers):
    """Three tables that look up what zt_rows gives: SQLite then prefers to begin with zt_rows."""
    star.execute("CREATE TABLE kinds(dtype TEXT)")
    star.execute("INSERT INTO kinds VALUES ('u8'), ('i16')")
    star.execute("CREATE TABLE some AS SELECT value AS row FROM json_each('[0, 1]')")
    sql = """SELECT k.dtype, r.row, hex(r.vector) FROM kinds k JOIN zt_rows(?, '1', k.dtype) r
             JOIN some a ON a.row = r.row JOIN some b ON b.row = r.row JOIN some c ON c.row = r.row ORDER BY 1, 2"""
    expected = [(d, *row) for d in ("i16", "u8")
                for row in rows(star, "SELECT row, hex(vector) FROM zt_rows(?, '1', ?) WHERE row < 2", numbers, d)]
    assert rows(star, sql, numbers) == expected != []


# ---------------------------------------------------------------------------------- OR of arguments


def test_either_of_two_arguments_gives_the_rows_of_both(db, numbers, sample, save):
    again = save("again.zt", open(numbers, "rb").read())
    sql = """SELECT path, object FROM zt_objects
             WHERE (source = ?1 AND dtype = 'u8') OR (source = ?2 AND rank = 1)
                OR (source = ?3 AND rank = 2)"""
    assert sorted(rows(db, sql, numbers, again,
                       sample)) == sorted([(path, name) for path in (numbers, again)
                                           for name in NAMES] + [(sample, "layer1.weight")])
    # The same file twice, by two sources: its rows differ by the column source.
    pattern = os.path.dirname(numbers) + "/num*.zt"
    sql = """SELECT source, object FROM zt_objects
             WHERE (source = ?1 AND rank = 1) OR (source = ?2 AND dtype = 'u8')"""
    assert sorted(rows(db, sql, numbers, pattern)) == sorted(
        (s, name) for s in (numbers, pattern) for name in NAMES)


@pytest.mark.parametrize("table", ["zt_elements", "zt_rows"])
def test_either_of_two_objects_gives_the_rows_of_both(db, numbers, table):
    what = "position" if table == "zt_elements" else "row"
    sql = f"""SELECT object, {what} FROM {table}
              WHERE (source = ?1 AND object = 'a' AND {what} >= 0)
                 OR (source = ?1 AND object = '0')"""
    assert sorted(rows(db, sql, numbers)) == [("0", 0), ("0", 1), ("a", 0), ("a", 1)]


def test_either_of_two_dtypes_gives_the_rows_in_both(db, numbers):
    sql = """SELECT dtype, row, hex(vector) FROM zt_rows WHERE source = ?1 AND object = 'a'
             AND ((dtype = 'u8' AND row >= 0) OR (dtype = 'i8' AND row < 2))"""
    assert sorted(rows(db, sql, numbers)) == [("i8", 0, "07"), ("i8", 1, "6B"), ("u8", 0, "07"),
                                              ("u8", 1, "6B")]


def test_either_of_two_levels_gives_the_findings_of_both(db, numbers):
    quick = rows(db, "SELECT level, object, rule FROM zt_check(?, 'quick')", numbers)
    full = rows(db, "SELECT level, object, rule FROM zt_check(?, 'full')", numbers)
    assert quick and full
    for condition in ("level IN ('quick', 'full')", "level = 'quick' OR level = 'full'"):
        sql = f"SELECT level, object, rule FROM zt_check WHERE source = ? AND ({condition})"
        assert sorted(rows(db, sql, numbers)) == sorted(quick + full)
    sql = """SELECT level, object, rule FROM zt_check WHERE
             (source = ?1 AND level = 'quick' AND rule > '')
             OR (source = ?1 AND level = 'full' AND object > '')"""
    assert sorted(rows(db, sql, numbers)) == sorted(quick + full)


@pytest.mark.parametrize(
    "condition", ["on_error IN ('abort', 'skip')", "on_error = 'skip' OR on_error = 'abort'"])
def test_either_of_two_ways_with_errors_gives_the_rows_of_both(db, numbers, condition):
    sql = f"SELECT on_error, count(*) FROM zt_objects WHERE source = ? AND ({condition}) GROUP BY 1"
    assert rows(db, sql, numbers) == [("abort", 8), ("skip", 8)]


# ----------------------------------------------------------------------------------- LIKE in a join


@pytest.mark.parametrize("operator, pattern", [("LIKE", "%/b/%"), ("GLOB", "*/b/*"),
                                               ("NOT LIKE", "%/b/%"), ("NOT GLOB", "*/b/*"),
                                               ("=", "x"), ("IS", "x"), (">", "x")])
@pytest.mark.parametrize("table", ["zt_files", "zt_objects"])
def test_a_condition_on_the_left_of_a_left_join_loses_no_row_of_it(db, tree, table, operator,
                                                                   pattern):
    db.execute("CREATE TABLE t(x)")
    db.execute("INSERT INTO t VALUES (1), (2)")
    db.execute("CREATE TABLE copy(path TEXT)")
    db.execute(f"INSERT INTO copy SELECT path FROM {table}(?)", (tree.path, ))
    db.execute(f"CREATE VIRTUAL TABLE temp.named USING {table}({quoted(tree.path)})")
    joins = ["{} a LEFT JOIN t", "{} a LEFT JOIN t ON 1 LEFT JOIN t t2",
             "{} a left/* ' */outer\njoin t", "{} a LEFT -- it's\n JOIN t"]
    if sqlite3.sqlite_version_info >= (3, 39):
        joins += ["{} a FULL JOIN t", "{} a FULL OUTER JOIN t", "t RIGHT JOIN {} a"]
    for join in joins:
        sql = f"SELECT a.path, t.x FROM {join} ON a.path {operator} '{pattern}'"
        assert sorted(rows(db, sql.format("named")), key=repr) == sorted(
            rows(db, sql.format("copy")), key=repr)


@pytest.mark.parametrize("operator, pattern", [("LIKE", "LAYER1.W%"), ("GLOB", "*.bias")])
def test_a_pattern_on_the_right_of_a_left_join_chooses_there(db, tree, operator, pattern):
    db.execute("CREATE TABLE t(x)")
    db.execute("INSERT INTO t VALUES (1), (2)")
    sql = f"""SELECT x, count(o.path) FROM t LEFT JOIN zt_objects(?) o ON o.object {operator} ?
              GROUP BY x"""
    assert rows(db, sql, tree.path, pattern) == [(1, 5), (2, 5)]
    assert rows(db, sql, tree.path, "none") == [(1, 0), (2, 0)]
    sql = f"""SELECT x, count(o.path) FROM t LEFT JOIN zt_objects(?) o ON o.path {operator} ?
              GROUP BY x"""
    assert rows(db, sql, tree.path, "*") == [(1, 10 if operator == "GLOB" else 0),
                                             (2, 10 if operator == "GLOB" else 0)]


# ------------------------------------------------------------------------------------------- rowids


@pytest.mark.parametrize("table, columns", [
    ("zt_files", ["path", "size", "version", "attributes", "source"]),
    ("zt_objects", ["path", "object", "shape", "attributes", "source"]),
    ("zt_components", ["path", "object", "offset", "data", "digest_status", "source"]),
    ("zt_stats", ["path", "object", "mean", "source"]), ("zt_check", ["rule", "message", "source"])
])
def test_a_row_of_a_blob_has_one_rowid_whatever_columns_are_asked_for(db, table, columns):
    image = writer.sample()
    expected = rows(db, f"SELECT rowid FROM {table}(?)", image)
    assert len(set(expected)) == len(expected) > 0
    for column in columns:
        assert [(row[0], )
                for row in rows(db, f"SELECT rowid, {column} FROM {table}(?)", image)] == expected


@pytest.mark.parametrize("table, columns, at", [
    ("zt_stats", "object, max", 0.5), ("zt_elements", "value", 0.5), ("zt_rows", "vector", 0.5),
    ("zt_components", "hash", 0.5), ("zt_objects", "fingerprint", 0.5),
    ("zt_objects", "attributes", 0.9), ("zt_attributes", "value", 0.9)])
def test_or_loses_no_row_of_blobs_that_differ_in_a_byte(db, table, columns, at):
    # The first half are a tensor's bytes, the second a long manifest.
    x = {**writer.dense(bytes(100000), [100000], "u8"), "attributes": {"k": "0" * 100000}}
    image = bytearray(writer.write({"x": x}))
    other = bytearray(image)
    other[int(len(image) * at) - 5000] += 1
    sql = f"SELECT {columns} FROM {table} WHERE (source = ?1 AND object = 'x')"
    each = [rows(db, sql, bytes(source)) for source in (image, other)]
    assert each[0] != each[1]
    got = rows(db, f"{sql} OR (source = ?2 AND object = 'x')", bytes(image), bytes(other))
    assert sorted(got) == sorted(each[0] + each[1])


def test_rows_of_different_arguments_have_different_rowids(db, numbers):
    for sql in (
            "SELECT rowid FROM zt_elements WHERE source = ? AND object IN ('0', '00', 'a')",
            """SELECT rowid FROM zt_rows
               WHERE source = ? AND object = 'a' AND dtype IN ('u8', 'i8', 'f64')""",
            "SELECT rowid FROM zt_objects WHERE source = ? AND on_error IN ('abort', 'skip')",
            "SELECT rowid FROM zt_check WHERE source = ? AND level IN ('quick', 'full')"):
        found = rows(db, sql, numbers)
        assert len(found) > 2 and len(set(found)) == len(found)


def test_a_list_of_paths_that_follows_from_the_outer_row_finds_each_of_them(db, save, tmp_path):
    # More files than are remembered one by one, and one of them in every list.
    paths = [save(f"many/f{i:02}.zt", writer.sample()) for i in range(20)]
    db.execute("CREATE TABLE pairs(l, r)")
    db.executemany("INSERT INTO pairs VALUES (?, ?)", [(paths[0], path) for path in paths[1:]])
    for table, each in (("zt_files", 1), ("zt_objects", 2)):
        sql = f"SELECT count(*) FROM pairs CROSS JOIN {table}(?) AS o ON o.path IN (l, r)"
        assert value(db, sql, str(tmp_path / "many")) == 2 * 19 * each


def test_skip_goes_on_behind_an_object_that_breaks_in_the_middle(db, save):
    n = 5000   # More than are read at once; the last index is beyond the dense form
    coords = b"".join(i.to_bytes(8, "little") for i in [*range(n - 1), 25000])
    broken = {"format": "sparse_coo", "shape": [n], "components": {
        "values": {"dtype": "u8", "bytes": b"\1" * n}, "coords": {"dtype": "u64", "bytes": coords}}}
    path = save("broken.zt", writer.write({"a": broken, "b": writer.dense(b"\5\6")}))
    sql = "SELECT count(*) FROM zt_elements(?, ?, 'skip')"
    assert value(db, sql, path, "a") < n
    assert value(db, sql, path, "b") == 2
    assert "of value 4999" in str(pytest.raises(sqlite3.Error, rows, db,
                                                sql.replace("skip", "abort"), path, "a").value)


def test_a_file_rewritten_between_two_rows_is_read_as_it_is_by_then(db, save, tmp_path):
    path = save("d/a.zt", writer.sample())
    other = save("d/b.zt", writer.sample())
    larger = writer.write({name: writer.dense(b"\1\2\3") for name in "xyz"})
    db.create_function("rewrite", 1, lambda i: i == 3 and open(path, "wb").write(larger) and 0)
    sql = """WITH t(i, p) AS (VALUES (1, ?1), (2, ?2), (3, ?1), (4, ?2), (5, ?1), (6, ?1))
             SELECT i, rewrite(i), size, objects, error FROM t CROSS JOIN zt_files(?3) f
             WHERE f.path = t.p ORDER BY +f.rowid IS NULL"""
    last = [row[2:] for row in rows(db, sql, path, other, str(tmp_path / "d")) if row[0] > 4]
    assert last and set(last) == {(len(larger), 3, None)}


# ------------------------------------------------------------------------------ BLOBs, and their source


@pytest.fixture
def large():
    """A file that as a BLOB is not kept unless something may ask for it."""
    objects = {"t": writer.dense(bytes(range(20)), [10, 2]), "u": writer.dense(b"\1", [1])}
    return writer.write(objects, attributes={"a": 1}, gap=100_000)


@pytest.mark.parametrize("sql, expected", [
    ("SELECT object FROM zt_objects(?1) WHERE object = 't' OR path = 'x'", ["t"]),
    ("SELECT object FROM zt_objects(?1) WHERE object = 't' oR/**/(dtype = 'u8' AND object = 'u')", ["t", "u"]),
    ("SELECT row FROM zt_rows(?1, 't', 'u8') WHERE row <= 1 OR row = 5", [0, 1, 5]),
    ("SELECT o.object FROM (SELECT ?1 AS image) i JOIN zt_objects(i.image) o WHERE o.object = 'u' OR o.path = 'x'", ["u"]),
    ("SELECT o.object FROM (SELECT ?1 AS image) i LEFT JOIN zt_objects(i.image) o ON o.object = 'u' OR o.path = 'x'", ["u"]),
    ("SELECT object FROM zt_objects WHERE source = ?1 AND (object = 't' OR path = 'x')", ["t"]),
    ("SELECT key FROM zt_attributes(?1) WHERE object IS NULL AND (key = 'a' OR object = 'x' OR path = 'y')", ["a"]),
    ("SELECT length(source) > 100000 FROM zt_files(?1)", [1]),
    ("SELECT length(\"Source\") > 100000 FROM zt_objects(?1) LIMIT 1", [1]),
    ("SELECT source = ?1 FROM zt_objects(?1)", [1, 1]),
])
def test_the_source_of_a_large_blob_is_there_where_sqlite_compares_it(db, large, sql, expected):
    assert sorted(first for first, *_ in rows(db, sql, large)) == expected
    db.execute("CREATE TEMP TABLE images(image)")
    db.execute("INSERT INTO images VALUES (?)", (large, ))
    for call in ("zt_objects", "zt_attributes", "zt_files"):
        db.execute(f"CREATE TEMP VIEW view_{call} AS SELECT c.* FROM images JOIN {call}(images.image) c"
                   " WHERE c.path = 'x' OR c.rowid IS NOT NULL")
        assert value(db, f"SELECT count(*) > 0 FROM view_{call}") == 1


@pytest.mark.parametrize("table, column", [("zt_objects", "path"), ("zt_files", "path"), ("zt_stats", "path"),
                                           ("zt_attributes", "path"), ("zt_attributes", "object")])
@pytest.mark.parametrize("values", ["SELECT i FROM ints", "SELECT r FROM reals", "1, 2.5", "SELECT NULL", "NULL", "X'31'"])
def test_a_column_that_is_null_is_none_of_a_list_of_numbers(db, large, table, column, values):
    db.execute("CREATE TABLE ints(i INTEGER)")
    db.execute("INSERT INTO ints VALUES (0), (1), (2), (NULL)")
    db.execute("CREATE TABLE reals(r REAL)")
    db.execute("INSERT INTO reals VALUES (0.0), (1.5), (NULL)")
    small = writer.write({"t": writer.dense(b"\1", [1])}, attributes={"a": 1})
    for image in (small, large):
        assert rows(db, f"SELECT * FROM {table}(?)", image) != []
        assert rows(db, f"SELECT * FROM {table}(?) WHERE {column} IN ({values})", image) == []
        assert rows(db, f"SELECT * FROM {table}(?) WHERE {column} = 1", image) == []
