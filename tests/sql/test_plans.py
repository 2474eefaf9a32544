"""The cost of a query: LIMIT and OFFSET, ORDER BY, and the files and bytes that are left alone.

Measured in steps of SQLite's machine, in files opened and in bytes read (strace), never in time.
"""
import os
import re
import sqlite3
import struct

import pytest

import writer
from support import message, rows

VERSION = sqlite3.sqlite_version_info
LIMITS = VERSION >= (3, 38
                     )  # SQLite says what LIMIT and OFFSET are, and which value an argument has
MIB = 1 << 20


@pytest.fixture
def few_steps(db):
    """rows_of(sql, ...): the rows, in at most 100,000 steps; then SQLite ends the query."""
    taken = [0]

    def count():
        taken[0] += 1
        return taken[0] > 100

    def rows_of(sql, *arguments):
        taken[0] = 0
        db.set_progress_handler(count, 1000)
        try:
            return rows(db, sql, *arguments)
        finally:
            db.set_progress_handler(None, 1000)

    return rows_of


# --------------------------------------------------------------------------------- LIMIT and OFFSET

FAR = 1_000_000_000 if LIMITS else 1000


@pytest.fixture
def huge(tmp_path):
    """The path of a file of 2^31 elements, 2^21 rows, a hole but for the last two bytes."""
    return writer.sparse_file(tmp_path / "huge.zt", [1 << 21, 1024], "u8", 1 << 31, b"\1\2")


END = 1 << 31 if LIMITS else 3000


@pytest.mark.parametrize("limit, first, count", [
    (f"LIMIT 2 OFFSET {FAR}", FAR, 2),
    (f"LIMIT {FAR}, 2", FAR, 2),
    ("LIMIT 3", 0, 3),
    ("LIMIT 0", 0, 0),
    (f"LIMIT 0 OFFSET {FAR}", 0, 0),
    ("LIMIT 2 OFFSET -7", 0, 2),
    *([("LIMIT -1 OFFSET 2147483647", END - 1, 1),
       ("LIMIT 5 OFFSET 2147483645", END - 3, 3)] if LIMITS else []),
    # Before 3.46 SQLite counts up to an offset that it keeps in a register: one beyond 31 bits.
    *([("LIMIT 5 OFFSET 2147483648", 0, 0),
       ("LIMIT 2 OFFSET 9223372036854775807", 0, 0)] if VERSION >= (3, 46) else []),
])
def test_an_offset_is_gone_to_and_not_counted_up_to(few_steps, huge, limit, first, count):
    expected = range(first, first + count)
    got = few_steps(f"SELECT position FROM zt_elements(?, 'w') {limit}", huge)
    assert got == [(position, ) for position in expected]
    got = few_steps(f"SELECT value, position FROM zt_elements(?, 'w') {limit}", huge)
    assert got == [({(1 << 31) - 2: 1, (1 << 31) - 1: 2}.get(p, 0), p) for p in expected]


@pytest.mark.skipif(not LIMITS, reason="SQLite before 3.38 counts up to every OFFSET")
@pytest.mark.parametrize("as_list", [False, True])
@pytest.mark.parametrize("table, key, far, last", [
    ("zt_elements(?, 'w')", "position", 1_000_000_000, (1 << 31) - 1),
    ("zt_rows(?, 'w', 'u8')", "row", 2_000_000, (1 << 21) - 1)])
def test_an_offset_is_gone_to_in_either_order(few_steps, huge, table, key, far, last, as_list):
    source = f'["{huge}"]' if as_list else huge
    ordered = f"SELECT {key} FROM {table} ORDER BY {key}"
    assert few_steps(f"{ordered} LIMIT 2 OFFSET {far}", source) == [(far, ), (far + 1, )]
    assert few_steps(f"{ordered} DESC LIMIT 2 OFFSET {far}", source) == [(last - far, ), (last - far - 1, )]
    assert few_steps(f"{ordered} DESC LIMIT 1", source) == [(last, )]
    assert few_steps(f"SELECT max({key}) FROM {table}", source) == [(last, )]
    got = few_steps(f"SELECT {key} FROM {table} WHERE {key} < 7 ORDER BY {key} DESC LIMIT 9 OFFSET 5", source)
    assert got == [(1, ), (0, )]


def test_an_offset_of_rows_is_gone_to(few_steps, huge):
    far = 2_000_000 if LIMITS else 1000
    assert few_steps(f"SELECT row FROM zt_rows(?, 'w') LIMIT 2 OFFSET {far}", huge) == [(far, ),
                                                                                        (far + 1, )]
    if LIMITS:
        got = few_steps(
            "SELECT row, substr(vector, -2) FROM zt_rows(?, 'w', 'u8') LIMIT 9 OFFSET 2097151",
            huge)
        assert got == [(2097151, b"\1\2")]


def test_a_value_behind_an_offset_is_read_alone(trace, huge):
    got = trace(f"SELECT value FROM zt_elements('{huge}', 'w') LIMIT 2 OFFSET {FAR};")
    assert got.out.split() == ["0", "0"]
    assert got.bytes_read(huge) < MIB


@pytest.mark.parametrize("sql", [
    "SELECT position FROM {} WHERE value % 2 = 0 LIMIT 3 OFFSET 2",
    "SELECT position FROM {} LIMIT 3 OFFSET 2",
    "SELECT position FROM {} WHERE position > 4 LIMIT 3 OFFSET 2",
    "SELECT position FROM {} WHERE position IN (2, 4, 6, 8) LIMIT 2 OFFSET 1",
    "SELECT DISTINCT value / 4 FROM {} LIMIT 2 OFFSET 1",
    "SELECT position FROM {} ORDER BY position DESC LIMIT 3 OFFSET 2",
    "SELECT position FROM {} ORDER BY value LIMIT 3 OFFSET 2",
    "SELECT count(*) FROM {} LIMIT 1 OFFSET 0",
    "SELECT value / 4, count(*) FROM {} GROUP BY 1 LIMIT 2 OFFSET 1",
    "SELECT count(*) FROM (SELECT * FROM {} LIMIT 5 OFFSET 9)",
    "SELECT e.position, x FROM {} e CROSS JOIN t LIMIT 3 OFFSET 5",
    "SELECT e.position, x FROM t CROSS JOIN {} e LIMIT 3 OFFSET 11",
    "SELECT x, (SELECT position FROM {} WHERE position > x LIMIT 1 OFFSET 1) FROM t",
    "SELECT position FROM {} UNION ALL SELECT x FROM t LIMIT 3 OFFSET 11",
    "SELECT position, row_number() OVER () FROM {} LIMIT 2 OFFSET 3",
    "SELECT x, position FROM t LEFT JOIN {} e ON position = x LIMIT 2 OFFSET 1",
    "SELECT position FROM {} WHERE position < 3 OR position > 8 LIMIT 2 OFFSET 3",
    "SELECT position FROM {} WHERE path LIKE '%' LIMIT 2 OFFSET 3",
    "SELECT position FROM {} WHERE path IS NULL LIMIT 2 OFFSET 3",
    # SQLite passes the first comparison of row values as >= and <=, and drops the rows that the others do not let through.
    "SELECT position FROM {} WHERE (position, value) > (3, 100) LIMIT 2",
    "SELECT position FROM {} WHERE (position, value) > (3, 100) LIMIT 1",
    "SELECT position FROM {} WHERE (position, value) >= (3, 100) LIMIT 2 OFFSET 1",
    "SELECT position FROM {} WHERE (position, value) > (3, 100) LIMIT -1 OFFSET 1",
    "SELECT position FROM {} WHERE (position, value) < (3, 0) ORDER BY position DESC LIMIT 3",
    "SELECT position FROM {} WHERE (position, value) <= (3, 0) ORDER BY position DESC LIMIT 2 OFFSET 1",
    "SELECT position FROM {} WHERE (position, value) BETWEEN (3, 100) AND (7, 100) LIMIT 2",
    "SELECT position FROM {} WHERE (position, value) > (SELECT 3, 100) LIMIT 2",
    "SELECT position FROM {} WHERE (position, value) > (SELECT x, 100 FROM t) LIMIT 2",
    "SELECT position FROM {} WHERE (position, value) > (3, 100) AND position < 9 LIMIT 2",
    "SELECT EXISTS (SELECT 1 FROM {} WHERE (position, value) > (3, 100))",
    "SELECT (SELECT position FROM {} WHERE (position, value) > (3, 100))",
    "SELECT x, (SELECT position FROM {} WHERE (position, value) > (x, 100)) FROM t",
    "SELECT x FROM t WHERE EXISTS (SELECT 1 FROM {} WHERE (position, value) > (x + 3, 100) AND position < 8)",
    "SELECT position FROM {} WHERE (position, value) = (3, 3) LIMIT 1",
    "SELECT position FROM {} WHERE (position, value) IN (VALUES (3, 4), (5, 5)) LIMIT 1",
    "SELECT position FROM {} WHERE position >= 4 LIMIT 3 OFFSET 2",
    "SELECT position FROM {} WHERE position <= (SELECT max(x) FROM t) LIMIT 3 OFFSET 2",
])
def test_limits_choose_the_rows_of_an_ordinary_table(db, sql):
    image = writer.write({"w": writer.dense(bytes(range(12)), [3, 4])})
    db.execute("CREATE TABLE t(x)")
    db.execute("INSERT INTO t VALUES (3), (7)")
    db.execute("CREATE TABLE copy(path TEXT, position INTEGER, coords TEXT, value)")
    db.execute("INSERT INTO copy SELECT path, position, coords, value FROM zt_elements(?, 'w')",
               (image, ))
    assert rows(db, sql.format("zt_elements(?, 'w')"), image) == rows(db, sql.format("copy"))


@pytest.fixture
def long(tmp_path):
    """A SELECT of the positions of 150,000 elements."""
    path = writer.sparse_file(tmp_path / "long.zt", [150_000], "u8", 150_000, b"\1\2")
    return f"SELECT position FROM zt_elements('{path}', 'w')"


@pytest.mark.parametrize("compound", [
    "{0} UNION ALL {0}", "{0} union/* ' */all {0}", "-- it's both\n{0} UNION ALL {0}",
    "SELECT * FROM twice", "WITH c AS (SELECT '[]' AS [a 'b], * FROM twice) SELECT position FROM c"
])
def test_an_offset_of_a_compound_is_right_or_refused(db, long, compound):
    """SQLite before 3.46 hands it to each side, so that rows would be missing."""
    if "twice" in compound:
        db.execute(f"CREATE TEMP VIEW twice AS {long} UNION ALL {long}")
    sql = compound.format(long)
    if LIMITS and VERSION < (3, 46):
        assert message(db, f"{sql} LIMIT 2 OFFSET 150001") == (
            f"ztensor: SQLite {sqlite3.sqlite_version} hands the OFFSET of a compound SELECT to"
            " each side: write OFFSET 0+150001")
        sql += " LIMIT 2 OFFSET 0+150001"
    else:
        sql += " LIMIT 2 OFFSET 150001"
    assert rows(db, sql) == [(1, ), (2, )]


@pytest.mark.parametrize("kind, expected", [("EXCEPT", [140000]), ("INTERSECT", [140001])])
def test_an_offset_beside_another_compound_is_right_or_refused(db, long, kind, expected):
    sql = f"SELECT * FROM ({long} LIMIT 2 OFFSET 140000) {kind} SELECT 140001"
    if LIMITS and VERSION < (3, 46):
        assert "write OFFSET 0+140000" in message(db, sql)
        sql = sql.replace("OFFSET ", "OFFSET 0+")
    assert rows(db, sql) == [(n, ) for n in expected]


def test_words_in_quotes_and_comments_make_no_compound(db, long):
    sql = long.replace("position", """position, 'it''s a union', 1 AS "union", 2 AS [union], 3 AS `union`,
                       4 AS union$, 5 AS union\xe9 /* union */""")
    got = rows(db, f"{sql} -- union\n LIMIT 1 OFFSET 140000 /* a union")
    assert got == [(140000, "it's a union", 1, 2, 3, 4, 5)]


def test_limits_go_over_files(db, tree):
    sql = "SELECT path, position FROM zt_elements(?, 'layer1.bias')"
    everything = rows(db, sql, tree.path)
    for limit, offset in ((3, 2), (2, 3), (5, 4), (20, 0), (1, 19), (1, 20), (-1, 7), (0, 1)):
        end = offset + limit if limit >= 0 else None
        assert rows(db, f"{sql} LIMIT {limit} OFFSET {offset}", tree.path) == everything[offset:end]
        sql_objects = "SELECT path, object FROM zt_objects(?)"
        assert rows(db, f"{sql_objects} LIMIT {limit} OFFSET {offset}",
                    tree.path) == rows(db, sql_objects, tree.path)[offset:end]


@pytest.mark.parametrize("table", ["zt_objects", "zt_components", "zt_stats"])
def test_a_limit_opens_no_file_that_it_does_not_need(trace, tree, table):
    got = trace(f"SELECT path FROM {table}('{tree.path}') LIMIT 1;")
    opened = list(dict.fromkeys(got.tensor_files()))
    assert opened[:1] == tree.files[:1]
    assert len(opened) < 5


# ----------------------------------------------------------------------------------------- ORDER BY


def plan(db, sql):
    return " / ".join(row[3] for row in rows(db, "EXPLAIN QUERY PLAN " + sql))


@pytest.mark.parametrize(
    "table", ["zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_stats", "zt_check"])
@pytest.mark.parametrize("order", [
    "SELECT path FROM {} ORDER BY path", "SELECT path, count(*) FROM {} GROUP BY path",
    "SELECT path FROM {} ORDER BY path ASC LIMIT 2",
    "SELECT DISTINCT path FROM {} ORDER BY path"
])
def test_paths_come_in_order_and_are_not_sorted_again(db, tree, table, order):
    sql = order.format(f"{table}('{tree.path}')")
    if "DISTINCT" not in sql or VERSION >= (3, 38):
        assert "TEMP B-TREE" not in plan(db, sql)
    found = [row[0] for row in rows(db, sql)]
    assert found == sorted(found) and (found or table in ("zt_attributes", "zt_check"))


@pytest.mark.parametrize("order", [
    "path DESC", "path, object", "path, object DESC", "object", "path COLLATE NOCASE",
    "length(path), path", "path || ''", "path NULLS LAST"
])
def test_any_other_order_is_right_too(db, tree, order):
    if "NULLS" in order and VERSION < (3, 30):
        return
    db.execute("CREATE TABLE copy AS SELECT path, object FROM zt_objects(?)", (tree.path, ))
    columns = order.replace(" DESC", "").replace(" NULLS LAST", "")
    sql = f"SELECT {columns} FROM {{}} ORDER BY {order}"
    assert rows(db, sql.format("zt_objects(?)"), tree.path) == rows(db, sql.format("copy"))


SPARSE = writer.sparse_coo([3, 4], [(2, 3), (0, 3), (1, 1)], b"\x01\x02\x03")


@pytest.mark.parametrize("sql, objects", [
    ("SELECT position FROM zt_elements('{}', 'w') ORDER BY position",
     writer.dense(bytes(range(12)), [3, 4])),
    ("SELECT row FROM zt_rows('{}', 'w') ORDER BY row", writer.dense(bytes(range(12)), [3, 4])),
    ("SELECT row FROM zt_rows('{}', 'w') ORDER BY row", SPARSE),
])
def test_rows_of_one_object_come_in_order_and_are_not_sorted_again(db, save, sql, objects):
    sql = sql.format(save("w.zt", writer.write({"w": objects})))
    if LIMITS:
        assert "TEMP B-TREE" not in plan(db, sql)
    found = rows(db, sql)
    assert found == sorted(found) and len(found) > 2


def test_what_is_not_stored_in_order_is_sorted(db, save, tree):
    path = save("coo.zt", writer.write({"w": SPARSE}))
    assert rows(db,
                f"SELECT position FROM zt_elements('{path}', 'w') ORDER BY position") == [(3, ),
                                                                                          (5, ),
                                                                                          (11, )]
    assert rows(db, f"SELECT position FROM zt_elements('{path}', 'w') ORDER BY position DESC") == [
        (11, ), (5, ), (3, )
    ]
    for table, column in (("zt_elements", "position"), ("zt_rows", "row")):
        sql = f"SELECT {column} FROM {table}('{tree.path}', 'layer1.bias') ORDER BY {column}"
        found = rows(db, sql)
        assert len(found) == 20 and found == sorted(found)


# ------------------------------------------------------------------------------- what is left alone


@pytest.mark.parametrize("condition", [
    "mtime > 4e9", "size < 0", "path LIKE 'none%'", "path GLOB 'none*'", "path = 'x'",
    "size > 1e9 AND mtime > 0", "path > 'zzz' COLLATE BINARY", "mtime IS NULL"
])
@pytest.mark.parametrize("columns", ["version", "objects, stored_bytes", "attributes", "error"])
def test_files_that_no_row_needs_are_not_opened(trace, tree, condition, columns):
    got = trace(f"SELECT path, {columns} FROM zt_files('{tree.path}') WHERE {condition};")
    assert (got.out, got.err) == ("", "")
    assert got.tensor_files() == []


def test_of_files_that_are_chosen_by_time_only_these_are_opened(trace, tree):
    for i, path in enumerate(tree.files):
        os.utime(path, (1000 + i, 1000 + i))
    got = trace(f"SELECT path, version FROM zt_files('{tree.path}') WHERE mtime > 1002.5;")
    assert got.out.splitlines() == [f"{path}|1.2.0" for path in tree.files[3:]]
    assert list(dict.fromkeys(got.tensor_files())) == tree.files[3:]


@pytest.fixture
def halves(save):
    """The path of a file with a bf16 tensor from 1 to 2 MiB and an f32 tensor from 2 to 3 MiB."""
    objects = {
        "half": writer.dense(bytes(MIB), [MIB // 2], "bf16"),
        "whole": writer.dense(struct.pack("<f", 1.5) * (MIB // 4), [MIB // 4], "f32")
    }
    return save("halves.zt", writer.write(objects, first_offset=MIB, gap=MIB))


@pytest.mark.parametrize("tables", [
    "zt_stats('{0}') s JOIN zt_objects('{0}') o USING (path, object)",
    "zt_objects('{0}') o JOIN zt_stats('{0}') s USING (path, object)",
    "zt_objects('{0}') o, zt_stats('{0}') s"
])
@pytest.mark.parametrize("of", ["file", "directory"])
def test_statistics_are_made_of_chosen_tensors_only(trace, halves, tables, of):
    source = halves if of == "file" else os.path.dirname(halves)
    where = "o.path = s.path AND o.object = s.object AND" if "," in tables.split("USING")[0] else ""
    got = trace(
        f"SELECT o.object, s.mean FROM {tables.format(source)} WHERE {where} o.dtype = 'bf16';")
    assert got.out.split() == ["half|0.0"]
    assert got.bytes_read(halves, MIB, 2 * MIB) >= MIB
    assert got.bytes_read(halves, 2 * MIB, 3 * MIB) == 0


@pytest.mark.parametrize(
    "condition",
    ["object LIKE 'HAL_'", "object GLOB 'ha*'", "object = 'half'", "object IN ('half')"])
@pytest.mark.parametrize("query", [
    "SELECT object, mean IS NOT NULL FROM zt_stats('{}') WHERE {}",
    "SELECT object, length(data) > 0 FROM zt_components('{}') WHERE {}"
])
def test_a_pattern_of_objects_is_applied_before_anything_is_read(trace, halves, condition, query):
    got = trace(query.format(halves, condition) + ";")
    assert got.out.split() == ["half|1"]
    assert got.bytes_read(halves, 2 * MIB, 3 * MIB) == 0


@pytest.mark.parametrize("order", ["f JOIN {o} USING (path)", "f, {o} WHERE o.path = f.path"])
def test_files_and_their_objects_are_joined_file_by_file(trace, save, order, tmp_path):
    """A file is looked up, not searched for among all of them, each of which would be opened."""
    for i in range(24):
        save(f"many/{i:02}.zt", writer.sample())
    source = tmp_path / "many"
    joined = order.format(o=f"zt_objects('{source}') o")
    got = trace(f"SELECT count(*) FROM zt_files('{source}') {joined};")
    assert got.out.split() == ["48"]
    assert len(got.tensor_files()) <= 2 * 24


@pytest.mark.parametrize("sql", [
    "SELECT count(*) FROM zt_objects('{0}') o JOIN zt_components('{0}') c USING (path, object)",
    "SELECT count(*) FROM names JOIN zt_objects('{0}') o ON o.object = names.object",
    "SELECT count(*) FROM zt_files('{0}') f JOIN zt_objects('{0}') o USING (path)",
    "SELECT count(*) FROM files JOIN zt_components(files.path) c",
])
def test_no_index_is_made_for_a_join(db, tree, sql):
    db.execute("CREATE TABLE names(object TEXT PRIMARY KEY)")
    db.execute("INSERT INTO names VALUES ('layer1.bias')")
    db.execute("CREATE TABLE files AS SELECT path FROM zt_files(?)", (tree.path, ))
    sql = sql.format(tree.path)
    assert not re.search("AUTO(MATIC|MATIC PARTIAL)? .*INDEX", plan(db, sql))
    assert rows(db, sql) == [(5 if "names" in sql else 10, )]


COUNT_UP = "WITH RECURSIVE c(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i < 999)"


@pytest.mark.parametrize("sql", [
    """SELECT sum(a.value = b.value)
       FROM zt_elements('{0}', 'raw') a JOIN zt_elements('{0}', 'zstd') b USING (position)""",
    """SELECT sum(a.value = b.value)
       FROM zt_elements('{0}', 'zstd') a JOIN zt_elements('{0}', 'raw') b USING (position)""",
    "SELECT sum(b.value IS NOT NULL) FROM p JOIN zt_elements('{0}', 'zstd') b ON position = x",
    """SELECT sum(b.value IS NOT NULL)
       FROM p CROSS JOIN zt_elements('{0}', 'zstd') b ON position = x""",
])
def test_compressed_values_are_not_decoded_again_for_each_that_is_looked_up(trace, save, sql):
    """The frame is a raw block: as much is read as is decoded."""
    data = os.urandom(20_000)
    path = save(
        "z.zt",
        writer.write({"raw": writer.dense(data), "zstd": writer.zstd_parts(writer.dense(data))}))
    got = trace(f"""CREATE TABLE p(x INTEGER PRIMARY KEY);
                    {COUNT_UP} INSERT INTO p SELECT i * 19 FROM c;
                    {sql.format(path)};""")
    assert got.out.split() == ["1000" if " p " in sql else "20000"]
    assert got.bytes_read(path) < 10 * len(data)


@pytest.mark.parametrize("values", ["IN (SELECT x FROM p)", "IN ({})"])
def test_rows_that_are_listed_decode_the_tensor_once(trace, save, values):
    path = save("z.zt",
                writer.write({"w": writer.zstd_parts(writer.dense(os.urandom(MIB), [4096, 256]))}))
    chosen = ", ".join(str(4 * i) for i in range(1000))
    got = trace(f"""CREATE TABLE p(x INTEGER PRIMARY KEY);
                    {COUNT_UP} INSERT INTO p SELECT i * 4 FROM c;
                    SELECT count(vector), sum(length(vector)) FROM zt_rows('{path}', 'w', 'u8')
                    WHERE row {values.format(chosen)};""")
    assert got.out.split() == [f"1000|{1000 * 256}"]
    assert got.bytes_read(path) < 3 * MIB
