"""A join looks up its pinned columns in an index that the statement makes: the rows of the scan, in its order, and no others.

Compared with ordinary tables, and with the same query in which a + before the column keeps SQLite from telling the extension
what it is compared with.
"""
import json
import os
import sqlite3
import struct
import unicodedata

import pytest

import writer
from random_collection import TABLES, Collection
from support import message, rows, value

VERSION = sqlite3.sqlite_version_info
# Before 3.38, SQLite does not say whether a column is compared with a value or with a list.
INDEXED = VERSION >= (3, 38)
FRAME = [name for name in TABLES if name != "zt_rules"]
AFFINITIES = {"v": "", "t": "TEXT", "i": "INTEGER", "r": "REAL"}
ODD = [
    None, 0, 1, 1000, -1, 2**53 + 1, 1.0, 0.5, 1e3, -0.0, 1e20, float("inf"), 0.1 + 0.2, "", "0", "00", "1", "01", " 1", "1 ", "1.0",
    "1e3", "1E3", "Inf", "INF", "0.3", "a", "A", "a ", "b", "é", "a\0b", "A\0c", b"", b"a", b"1", b"0"
]
COMPARED = [
    "b.{c} = p.{v}", "p.{v} = b.{c}", "b.{c} IS p.{v}", "b.{c} = p.{v} COLLATE NOCASE", "b.{c} COLLATE RTRIM = p.{v}",
    "b.{c} = +p.{v}", "b.{c} = p.{v} AND b.{o} IS p.w", "b.{c} IN (p.{v}, p.w)"
]


# ------------------------------------------------------------------------------ any column of any table

@pytest.fixture
def collection(connect, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Collection_of(connect())


class Collection_of:
    """The tables of test_random.py, and `probes`: what columns are compared with, under each affinity."""

    def __init__(self, db):
        self.db = db
        self.tables = Collection(db).tables
        db.execute("PRAGMA automatic_index = OFF")  # The rows of ordinary tables then come in their order, too

    def in_order(self, table, call):
        """An ordinary table of a call's rows, in the order of the scan."""
        copy = "scan_" + table.copies[call]
        declared = ", ".join(f'"{c.name}" {c.type}' for c in table.columns)
        names = ", ".join(f'"{c.name}"' for c in table.columns)
        self.db.execute(f"CREATE TABLE {copy}({declared})")
        self.db.execute(f"INSERT INTO {copy}({names}) SELECT {names} FROM {table.call(call)}")
        return copy

    def probe(self, of, column):
        self.db.execute("DROP TABLE IF EXISTS probes")
        self.db.execute("CREATE TABLE probes(v, t TEXT, i INTEGER, r REAL, w)")
        found = [v for v, in self.db.execute(f'SELECT DISTINCT "{column}" FROM {of} LIMIT 24')]
        for v in [*ODD, *found] * 3:
            self.db.execute("INSERT INTO probes VALUES (?1, ?1, ?1, ?1, ?2)", (v, found[0] if found else None))


def shown(answer):
    return [[(type(v), v) for v in row] for row in answer]


def asked(db, sql):
    try:
        return shown(rows(db, sql))
    except sqlite3.Error as error:
        return str(error)


def calls_of(table):
    """A call with many rows, and one of a BLOB."""
    counted = sorted(table.copies, key=lambda call: table.counts[call])
    return counted[-1], *[call for call in counted if call[0].startswith("(")][-1:]


@pytest.mark.parametrize("name", FRAME)
def test_rows_are_those_of_an_ordinary_table_in_their_order(collection, name):
    db, table = collection.db, collection.tables[name]
    table.counts = {call: value(db, f"SELECT count(*) FROM {copy}") for call, copy in table.copies.items()}
    columns = [c.name for c in table.columns if not c.argument]
    found = 0
    for call in calls_of(table):
        copy = collection.in_order(table, call)
        for k, column in enumerate(columns):
            collection.probe(copy, column)
            for n, condition in enumerate(COMPARED):
                affinity = list(AFFINITIES)[(k + n) % 4]
                if " IN " in condition and not INDEXED:
                    continue
                other = columns[(k + n) % len(columns)]
                used = ", ".join(f"b.{c}" for c in dict.fromkeys([column, other, columns[n % len(columns)]]))
                join = ["CROSS JOIN", "LEFT JOIN"][(k + n) % 2]
                sql = f"SELECT p.rowid, {used} FROM probes p {join} {{}} b ON {condition.format(c=column, o=other, v=affinity)}"
                expected = asked(db, sql.format(copy))
                got = asked(db, sql.format(table.call(call)))
                if " IN " in condition:  # In the order of the values, where the column is that of the rows' places
                    expected, got = sorted(expected, key=repr), sorted(got, key=repr)
                assert got == expected, sql.format(table.call(call))
                found += len(expected)
    assert found > 100


@pytest.mark.parametrize("name", ["zt_files", "zt_objects", "zt_components", "zt_attributes", "zt_stats", "zt_check"])
def test_a_table_is_joined_with_itself_by_any_column(collection, name):
    db, table = collection.db, collection.tables[name]
    call = next(c for c in table.copies if c[0] == "'d'" and c[1:] in ((), (None,)))
    copy, columns = collection.in_order(table, call), [c.name for c in table.columns if not c.argument]
    for k, column in enumerate(columns):
        other = columns[(k + 3) % len(columns)]
        sql = f"""SELECT a.path, a.{column}, b.path, b.{other} FROM {{0}} a LEFT JOIN {{0}} b
                  ON a.{column} = b.{column} AND b.path <= a.path"""
        assert asked(db, sql.format(table.call(call))) == asked(db, sql.format(copy)), column


# ----------------------------------------------------------------------------------- what it costs

@pytest.fixture
def steps(db):
    """steps(sql, ...): the rows, and how many steps of SQLite's machine they took, in hundreds. A scan takes some by the time
    that goes by, too: so two are compared that take as long."""
    taken = [0]

    def count():
        taken[0] += 1
        return False   # apsw insists on it

    def steps(sql, *arguments):
        taken[0] = 0
        db.set_progress_handler(count, 100)
        try:
            return rows(db, sql, *arguments), taken[0]
        finally:
            db.set_progress_handler(None, 100)

    return steps


@pytest.fixture
def many(save, tmp_path):
    """A directory of 100 files of 10 tensors, of as many shapes as there are files."""
    for i in range(100):
        objects = {f"layers.{k}.bias": writer.dense(bytes(i + 1), [i + 1]) for k in range(10)}
        save(f"many/{i:03}.zt", writer.write(objects, attributes={"key": i}))
    return str(tmp_path / "many")


@pytest.mark.parametrize("table, pinned, matches", [
    ("zt_files", "a.size = b.size", None), ("zt_files", "a.manifest_bytes = b.manifest_bytes", None),
    ("zt_objects", "a.shape = b.shape AND a.object = b.object", 1000), ("zt_objects", "a.shape = b.shape", 10000),
    ("zt_objects", "a.object = b.object AND a.path < b.path", 10 * 100 * 99 // 2),
    ("zt_components", "a.offset = b.offset AND a.length = b.length", None), ("zt_attributes", "a.value = b.value", 100),
    ("zt_stats", "a.elements = b.elements AND a.zeros = b.zeros", 10000),
])
def test_a_join_takes_fewer_steps_than_scans_do(steps, db, many, table, pinned, matches):
    db.execute(f"CREATE TABLE copy AS SELECT * FROM {table}(?)", (many,))
    sql = f"SELECT count(*), count(a.path || b.path) FROM {{0}} a JOIN {{0}} b ON {pinned}"
    free = sql.replace(pinned, pinned.replace("a.", "+a.").replace("b.", "+b."))
    expected = rows(db, sql.format("copy"))
    got, ours = steps(sql.format(f"{table}(?1)"), many)
    scanned = steps(free.format(f"{table}(?1)"), many)
    assert got == scanned[0] == expected and expected[0][0] == (matches or expected[0][0])
    assert ours < 0.8 * scanned[1] or not (INDEXED or pinned.startswith("a.object"))


def test_what_a_column_of_another_table_says_of_a_name_is_looked_up(db, many):
    db.execute("CREATE TABLE n(i)")
    db.executemany("INSERT INTO n VALUES (?)", [(i,) for i in range(10)])
    for source in ("?1", f"'{many}'"):
        sql = f"SELECT count(*) FROM n JOIN zt_objects({source}) o ON o.object = 'layers.' || n.i || '.bias'"
        assert rows(db, sql, *([many] if "?" in source else [])) == [(1000,)]
        plan = [row[3] for row in rows(db, "EXPLAIN QUERY PLAN " + sql, *([many] if "?" in source else []))]
        assert "n" in plan[0].split() and "automatic index (object=?)" in plan[1]


def test_the_plan_says_what_the_index_is_by_and_has(db):
    sql = """EXPLAIN QUERY PLAN SELECT b.path FROM zt_objects('d') a CROSS JOIN zt_objects('d') b
             ON a.shape IS b.shape COLLATE NOCASE AND b.dtype = a.dtype AND b.rank = 2"""
    if not INDEXED:
        sql = sql.replace("a.shape IS b.shape COLLATE NOCASE", "a.object = b.object")
        assert rows(db, sql)[1][3].endswith("automatic index (object=?) covering (path, object, dtype, rank)")
        return
    plan = rows(db, sql)[1][3]
    assert plan.startswith("SCAN ") and " VIRTUAL TABLE INDEX " in plan
    assert "automatic index (" in plan and "shape IS ? NOCASE" in plan and "dtype=?" in plan
    assert plan.endswith("covering (path, dtype, shape, rank)")
    assert "rank=?" not in plan


def test_what_is_asked_once_has_no_index(db, sample):
    for where in ("", " WHERE dtype = 'f32'", " WHERE object = 'a'", " WHERE path = 'x' AND object = 'a'"):
        plan = rows(db, f"EXPLAIN QUERY PLAN SELECT * FROM zt_objects('{sample}')" + where)
        assert ("automatic" in str(plan)) == (not INDEXED and where == " WHERE object = 'a'")


def test_files_are_opened_for_the_rows_that_match(trace, many, tmp_path):
    joined = f"""CREATE TABLE p(size); WITH RECURSIVE c(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM c WHERE i < 99)
                 INSERT INTO p SELECT -i FROM c; INSERT INTO p VALUES ({os.path.getsize(many + '/007.zt')});
                 SELECT version, objects FROM p CROSS JOIN zt_files('{many}') f ON f.size = p.size;"""
    got = trace(joined)
    same = [f for f in sorted(os.listdir(many)) if os.path.getsize(f"{many}/{f}") == os.path.getsize(many + "/007.zt")]
    assert got.out.split() == ["1.2.0|10"] * len(same)
    assert len(set(got.tensor_files())) == len(same) < 100


def test_tensors_are_read_once_for_a_join_by_their_values(trace, save):
    data = os.urandom(1 << 20)
    path = save("w.zt", writer.write({f"t{i}": writer.dense(data[i << 14:][:1 << 14]) for i in range(64)}))
    got = trace(f"SELECT count(*) FROM zt_components('{path}') a JOIN zt_components('{path}') b ON a.hash = b.hash;")
    assert got.out.split() == ["64"]
    assert got.bytes_read(path) < 5 * len(data) or not INDEXED


def test_rows_that_need_too_much_memory_are_scanned(db, save):
    """72 rows of a MiB; no two are alike."""
    path = save("w.zt", writer.write({"w": writer.dense(os.urandom(72 << 20), [72, 1 << 20])}))
    db.execute("CREATE TABLE v(x)")
    for row in (71, 5, 5, 30):
        db.execute("INSERT INTO v SELECT vector FROM zt_rows(?, 'w', 'u8') WHERE row = ?", (path, row))
    before = value(db, "SELECT count(*) FROM zt_rows(?, 'w', 'u8')", path)
    got = rows(db, "SELECT row FROM v CROSS JOIN zt_rows(?, 'w', 'u8') r ON r.vector = v.x", path)
    assert (before, got) == (72, [(71,), (5,), (5,), (30,)])


# -------------------------------------------------------------------------- what is wrong, and what changes

def odd_directory(save, tmp_path):
    for i in range(20):
        save(f"odd/{i:02}.zt", writer.sample())
    save("odd/99.zt", b"broken")
    return str(tmp_path / "odd")


def test_a_file_that_cannot_be_read_fails_as_in_the_scan(db, save, tmp_path):
    source = odd_directory(save, tmp_path)
    pairs = value(db, "SELECT sum(n * n) FROM (SELECT count(*) AS n FROM zt_objects(?, 'skip') GROUP BY dtype)", source)
    for pinned in ("b.dtype = a.dtype", "+b.dtype = a.dtype"):
        sql = f"SELECT count(*) FROM zt_objects(?1, 'skip') a CROSS JOIN zt_objects(?1{{}}) b ON {pinned}"
        assert "99.zt" in message(db, sql.format(""), source)
        assert value(db, sql.format(", 'skip'"), source) == pairs


def test_a_value_that_no_row_asks_for_fails_nothing(db, save):
    """The hash of a tensor with wrong bytes is an error; a scan does not reach it if another column differs."""
    broken = writer.dense(b"\1\2\3", [3])
    broken["components"]["data"] = dict(broken["components"]["data"], encoding="zstd")
    objects = {f"t{i:02}": writer.dense(bytes([i]), [1]) for i in range(30)}
    path = save("w.zt", writer.write({**objects, "z": broken}))
    sql = """SELECT count(*) FROM zt_components(?1) a CROSS JOIN zt_components(?1) b
             ON b.length = a.length AND b.object < 'u' AND b.hash = a.hash WHERE a.object < 'u'"""
    assert value(db, sql, path) == 30
    assert "'z'" in message(db, "SELECT count(*) FROM zt_components(?1) a JOIN zt_components(?1) b USING (hash)", path)


@pytest.mark.parametrize("table, columns", [("zt_files", "b.size, b.objects, b.error IS NULL"),
                                            ("zt_files", "b.size, b.manifest_bytes, b.components"),
                                            ("zt_objects", "b.object, b.shape, b.elements")])
@pytest.mark.parametrize("at", [1, 2, 3, 30, 79])
def test_of_a_file_that_is_replaced_meanwhile_a_row_is_of_one_state(db, save, tmp_path, table, columns, at):
    """Both states, or for zt_files a file that changed under it; no mixture."""
    paths = [save(f"d/{i}.zt", writer.sample()) for i in range(8)]
    larger = writer.write({name: writer.dense(bytes(7), [7]) for name in "xyz"})
    db.create_function("rewrite", 1, lambda i: i == at and open(paths[3], "wb").write(larger) and 0)
    db.execute("CREATE TABLE n(i INTEGER PRIMARY KEY, size, dtype)")
    query = f"SELECT {columns} FROM {table}(?1) b WHERE b.path = ?2"
    states = rows(db, query, str(tmp_path / "d"), paths[3])
    sizes = (os.path.getsize(paths[3]), len(larger))
    for i in range(80):
        db.execute("INSERT INTO n VALUES (?, ?, 'u8')", (i, sizes[i % 2]))
    pinned = "b.size = n.size" if table == "zt_files" else "b.path >= '' AND b.type IS coalesce(n.dtype, '')"
    got = rows(db, f"SELECT rewrite(n.i), b.path, {columns} FROM n CROSS JOIN {table}(?1) b ON {pinned}", str(tmp_path / "d"))
    states += rows(db, query, str(tmp_path / "d"), paths[3])
    of_it = {row[2:] for row in got if row[1] == paths[3]}
    if table == "zt_files":
        of_it = {row for row in of_it if row[1] is not None and row[2]}
    assert of_it and of_it <= set(states)


def test_a_column_that_is_json_stays_json(db, many):
    sql = "SELECT json_object('s', b.shape) FROM zt_objects(?1) a JOIN zt_objects(?1) b ON {}a.shape = b.shape LIMIT 30 OFFSET 900"
    got = rows(db, sql.format(""), many)
    assert len(got) == 30 and got == rows(db, sql.format("+"), many)
    assert all(isinstance(json.loads(row[0])["s"], list) for row in got)


def test_rowids_are_those_of_the_scan(db, many):
    sql = "SELECT a.rowid, b.rowid FROM zt_objects(?1) a CROSS JOIN zt_objects(?1) b ON {}b.shape = a.shape WHERE a.path LIKE '%/00%'"
    assert rows(db, sql.format(""), many) == rows(db, sql.format("+"), many)


def test_a_statement_is_interrupted_while_it_makes_an_index(db, many):
    asked = []
    db.set_progress_handler(lambda: asked.append(1) or len(asked) > 20, 100)
    sql = "SELECT count(*) FROM zt_stats(?1) a JOIN zt_stats(?1) b ON a.mean = b.mean"
    with pytest.raises(sqlite3.OperationalError, match="interrupted"):
        rows(db, sql, many)
    db.set_progress_handler(None, 100)
    assert value(db, sql, many) == 1000 * 1000


def test_the_same_cursor_is_asked_for_other_arguments_in_between(db, save):
    paths = [save(f"{name}.zt", writer.write({f"t{i}": writer.dense(bytes(i % 5 + n), [i % 5 + n]) for i in range(20)}))
             for n, name in enumerate("ab", 1)]
    db.execute("CREATE TABLE s(id INTEGER PRIMARY KEY, path, elements)")
    for i in range(400):
        db.execute("INSERT INTO s VALUES (?, ?, ?)", (i, paths[i // 100 % 2], i % 7))
    sql = "SELECT s.id, o.object FROM s CROSS JOIN zt_objects(s.path) o ON {}o.elements = s.elements"
    assert rows(db, sql.format("")) == rows(db, sql.format("+")) != []


def test_a_floating_point_value_and_the_text_that_it_is_shown_as_are_found(db, save):
    numbers = [0.1 + 0.2, 1 / 3, 1e300 / 7, 5e-324, 123456789.123456789, 1e15, 1e16 + 2, 2.5, float("inf"), 7, float("-inf"), -1e15, 2e15 + 1,
               999999999999999, -999999999999999, 999999999999999.9]
    names = [value(db, "SELECT ? || ''", n) for n in numbers]
    path = save("w.zt", writer.write({"w": writer.dense(struct.pack(f"<{len(numbers)}d", *numbers), [len(numbers)], "f64"),
                                      **{name: writer.dense(b"\1", [1]) for name in names}}))
    db.execute("CREATE TABLE elements(position INTEGER, value)")
    db.execute("INSERT INTO elements SELECT position, value FROM zt_elements(?, 'w')", (path,))
    db.execute("CREATE TABLE objects(object TEXT, type TEXT)")
    db.execute("INSERT INTO objects SELECT object, type FROM zt_objects(?)", (path,))
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, v)")
    for i in range(20):
        db.executemany("INSERT INTO t(v) VALUES (?1)", [(n,) for n in numbers])
    for table, of in ("elements", "zt_elements(?, 'w')"), ("objects", "zt_objects(?)"):
        column = "value" if table == "elements" else "object"
        sql = f"SELECT k, b.{column} FROM t CROSS JOIN {{}} b ON b.{column} = +v"
        got = rows(db, sql.format(of), path)
        assert got == rows(db, sql.format(table)) and len(got) == 20 * len(numbers)


def test_a_collation_of_the_host_s_own_has_no_index(db, many):
    """Nothing is known of the texts that it calls equal: here, those of one length."""
    db.create_collation("length", lambda a, b: len(a) - len(b))
    db.execute("CREATE TABLE copy AS SELECT path, object FROM zt_objects(?)", (many,))
    sql = "SELECT count(*) FROM (SELECT DISTINCT object FROM copy) t CROSS JOIN {} b ON b.object = t.object COLLATE length"
    assert value(db, sql.format("zt_objects(?)"), many) == value(db, sql.format("copy")) == 10_000
    plan = rows(db, "EXPLAIN QUERY PLAN " + sql.format("zt_objects(?)"), many)
    assert not any("automatic index" in step for *_, step in plan if "VIRTUAL" in step)


def test_row_values_that_differ_as_texts_find_a_row_once(db, save):
    """Their hashes are equal, as '1' and '1.0' may be compared as numbers. SQLite before 3.38 checks no more than that the row is listed."""
    path = save("a.zt", writer.write({name: writer.dense(b"1") for name in ("1", "w", "2")}))
    db.execute("CREATE TABLE names(object TEXT, rank INTEGER)")
    db.executemany("INSERT INTO names VALUES (?, 1)", [("1",), ("01",), ("1.0",), ("w",)])
    db.execute("CREATE TABLE copy AS SELECT object, rank FROM zt_objects(?)", (path,))
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY)")
    db.executemany("INSERT INTO t VALUES (?)", [(k,) for k in range(500)])
    sql = "SELECT k, b.object FROM t CROSS JOIN {} b WHERE (b.object, b.rank) IN (SELECT object, rank FROM names) ORDER BY 1, 2"
    got = rows(db, sql.format("zt_objects(?)"), path)
    assert got == rows(db, sql.format("copy")) and len(got) == 1000


@pytest.mark.parametrize("name", ["NOCASE", "RTRIM"])
@pytest.mark.parametrize("key", [str.casefold, lambda text: text.strip(" -").upper(), lambda text: unicodedata.normalize("NFKD", text).rstrip(" ")],
                         ids=["case", "punctuation", "marks"])
def test_a_collation_that_the_host_replaces_finds_what_it_calls_equal(db, save, name, key):
    """As hosts replace NOCASE, so that it knows letters beyond ASCII."""
    db.create_collation(name, lambda a, b: (key(a) > key(b)) - (key(a) < key(b)))
    texts = ["\u00e9", "\u00c9", "-w", "w", "W", "\ufb01", "fi ", "", "x"]
    path = save("a.zt", writer.write({text: writer.dense(b"1") for text in texts}))
    db.execute("CREATE TABLE copy AS SELECT object FROM zt_objects(?)", (path,))
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, v TEXT)")
    db.executemany("INSERT INTO t(v) VALUES (?)", [(text,) for text in texts] * 60)
    sql = f"SELECT k, b.object FROM t CROSS JOIN {{}} b ON b.object = t.v COLLATE {name}"
    got = rows(db, sql.format("zt_objects(?)"), path)
    assert sorted(got) == sorted(rows(db, sql.format("copy"))) and len(got) > len(texts) * 60


def test_texts_that_are_equal_in_some_way_are_found(db, save):
    """As numbers, without their case, without blanks behind them: also beyond the bytes that are hashed at once."""
    long = "Ab" * 150
    pairs = [("1000", "1e3"), ("+7", "7"), (" 8", "8"), (".5", "0.5"), ("\t9", "9"), ("\0", "\0"), (long, long.upper()), (long + "c", long.lower() + "C"),
             ("x  ", "x"), ("\0001", "\0001"), (-2**53 - 1, -2**53 - 1), (10**15, 1e15), (2**62, str(2**62)), (-10**15 + 1, -1e15 + 1)]
    path = save("a.zt", writer.write({"w": writer.dense(b"1")}, attributes={str(i): a for i, (a, _) in enumerate(pairs)}))
    db.execute("CREATE TABLE attributes(key, value)")
    db.execute("INSERT INTO attributes SELECT key, value FROM zt_attributes(?)", (path,))
    db.execute("CREATE TABLE t(k INTEGER PRIMARY KEY, v, n NUMERIC, t TEXT)")
    for i in range(20):
        db.executemany("INSERT INTO t(v, n, t) VALUES (?1, ?1, ?1)", [(v,) for pair in pairs for v in pair])
    for compared in ("b.value = {}", "b.value = {} COLLATE NOCASE", "b.value = {} COLLATE RTRIM", "b.value IS {}"):
        for column in "vnt":
            sql = f"SELECT k, b.key FROM t CROSS JOIN {{}} b ON {compared.format(column)} ORDER BY k, b.key"
            got = rows(db, sql.format("zt_attributes(?)"), path)
            assert got == rows(db, sql.format("attributes")) and len(got) >= 20 * len(pairs) // 2


def test_a_key_of_more_columns_than_an_index_has(db, save):
    """SQLite compares the others."""
    path = save("a.zt", writer.write({f"t{i}": writer.dense(bytes(i % 3), [i % 3]) for i in range(60)}))
    keys = [name for _, name, *_ in db.execute("PRAGMA table_info(zt_components)")]
    assert len(keys) > 8
    sql = "SELECT count(*) FROM zt_components(?1) a CROSS JOIN zt_components(?1) b ON " + " AND ".join(f"{{0}}b.{key} IS a.{key}" for key in keys)
    for source in (path, open(path, "rb").read()):
        assert value(db, sql.format(""), source) == value(db, sql.format("+"), source) == 60


def test_values_that_are_read_late_of_a_blob(db):
    image = writer.write({"w": writer.dense(b"1")})
    numbers = "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM n WHERE i < 2000)"
    sql = "{} SELECT i, container, version, objects FROM n CROSS JOIN zt_files(?1) b ON {}b.size = i"
    assert rows(db, sql.format(numbers, ""), image) == rows(db, sql.format(numbers, "+"), image) == [(len(image), "ztensor", "1.2.0", 1)]


def test_an_index_of_many_rows(db, save):
    path = save("a.zt", writer.write({"w": writer.dense(struct.pack("<20000f", *range(20000)), [20000], "f32")}))
    sql = ("SELECT count(*), sum(b.position) FROM zt_elements(?1, 'w') a CROSS JOIN zt_elements(?1, 'w') b ON b.value = a.value * 100"
           " WHERE a.position < 250")
    assert rows(db, sql, path) == [(200, 100 * 199 * 100)]
