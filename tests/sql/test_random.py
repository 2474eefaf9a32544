"""Thousands of random queries of each table, compared with ordinary tables that hold the same rows.

RANDOM_QUERIES in the environment says how many of each table, RANDOM_SEED which is the first. What
a failure prints can be pasted into a shell: see random_collection.py.
"""
import os
import re
import sqlite3

import pytest

import random_queries
from random_collection import TABLES, Collection

QUERIES = int(os.environ.get("RANDOM_QUERIES", 2000))
FIRST = int(os.environ.get("RANDOM_SEED", 0))
STEPS = 2_000_000  # Of SQLite's machine: a query that takes more of ordinary tables is left. Of ours
PATIENCE = 100     # so many times as many: a scan on a slow machine takes steps by the time that goes by
SHOWN = 3  # Failures
LEFT = "left"
# Where o.path = 'x' is asked for, SQLite may call zt_objects(o.path) with 'x' before it looks for such
# a row in o: there may be no such file.
ASKED_FOR_A_CONSTANT = ("No such file or directory", "File name too long", "no such object",
                        "mixed/broken.zt: not a tensor file")
BLOB_ASKED_FOR = "<blob>: not a tensor file", "<blob>: the file is empty"
WORD_ASKED_FOR = re.compile(r"on_error must be 'abort' or 'skip', not '(.*)'", re.S)

# For a list of sources beside a row value that is looked for in a query, in the ON of an outer join, SQLite
# 3.40 has no plan with the sources.
WITHOUT_SOURCES = re.compile(r"\bLEFT JOIN\b.*\) IN \(SELECT .*\bsource\" IN \(")

# Two arguments from two tables, and a position from a third one that has its source from this one: SQLite asks
# for plans with all of these tables, or one of them. Before 3.38 the extension cannot tell when to leave a path, either.
TWO_TABLES = re.compile(r"choices AS ")
POSITION = re.compile(r'choices AS .*"(row|position)"')

# Where a condition in WHERE is always false, as `x IN ()` is, newer versions of SQLite forget the others there, and keep
# those of ON: `k.source = j.source` alone gives neither of two tables its source. json_each has no solution then, either.
NEVER = " IN ()"
NEVER_OF_JSON = "SELECT 1 FROM json_each j JOIN json_each k ON k.json = j.json WHERE '[1]' = j.json AND j.rowid IN ()"

# With the Bloom filters of SQLite 3.38 to 3.40, which come with automatic indexes, a LEFT JOIN of ordinary tables loses rows: in 3.38
# any, later those that a collation makes equal.
FILTERS_LOSE_ROWS = (3, 38) <= sqlite3.sqlite_version_info < (3, 41)

# SQLite 3.44.0 forgets `t.rowid = v.x` in WHERE where v is a virtual table, its own FTS5, too, on the left of a RIGHT JOIN with t.
ROWID_OF_FTS = """SELECT count(*) FROM temp.fts_t AS t JOIN temp.fts_v AS v RIGHT JOIN (SELECT 1) ON 1
  WHERE t.rowid = v.x AND v.x BETWEEN '0' AND '9'"""


def forgets_rowid(db):
    if sqlite3.sqlite_version_info < (3, 39):    # It has no RIGHT JOIN
        return False
    db.executescript("CREATE TABLE temp.fts_t(a); INSERT INTO temp.fts_t VALUES(1); CREATE VIRTUAL TABLE temp.fts_v USING fts5(x);"
                     "INSERT INTO temp.fts_v VALUES('5')")
    (count,), = db.execute(ROWID_OF_FTS)
    db.executescript("DROP TABLE temp.fts_v; DROP TABLE temp.fts_t")
    return count > 0


class Asker:
    """Asks queries in both forms."""

    def __init__(self, db, collection):
        self.db, self.collection = db, collection
        self.steps, self.limit = 0, STEPS
        db.set_progress_handler(self.progress, 1000)
        self.forgets_rowid = forgets_rowid(db)
        self.forgets_where = self.answer(NEVER_OF_JSON)[1] == "no query solution"

    def progress(self):
        self.steps += 1000
        return self.steps > self.limit

    def parameters_of(self, sql):
        names = set(re.findall(r":(p\d+)\b", sql))
        return {name: self.collection.parameters[name] for name in names}

    def answer(self, sql, limit=STEPS):
        """(rows, None) or (None, what SQLite says)."""
        self.steps, self.limit = 0, limit
        try:
            return self.db.execute(sql, self.parameters_of(sql)).fetchall(), None
        except sqlite3.Error as error:
            return None, str(error)

    def in_circles(self, sql, error):
        circle = POSITION if random_queries.IN_AT_ONCE else TWO_TABLES
        solved = error != "no query solution" and (random_queries.IN_AT_ONCE or "needs a source" not in error)
        return not solved and circle.search(sql)

    def asked_for_a_constant(self, sql, error):
        if any(text in error for text in ASKED_FOR_A_CONSTANT):
            return True
        parameters = self.parameters_of(sql).values()
        if any(text in error for text in BLOB_ASKED_FOR):
            return "x'" in sql.lower() or any(isinstance(value, bytes) for value in parameters)
        word = WORD_ASKED_FOR.search(error)
        return word and ("'" + word[1].replace("'", "''") + "'" in sql or word[1] in map(str, parameters))

    def counted(self, query, rows):
        """The rows that LIMIT and OFFSET leave of all. SQLite 3.40 at times counts others in several LEFT JOINs."""
        (limit, offset), = self.db.execute(f"SELECT column1, column2 FROM (VALUES ({query.counts}{', 0' if ',' not in query.counts else ''}))",
                                           self.parameters_of(query.counts))
        rows = rows[max(offset, 0):]
        return rows if limit < 0 else rows[:limit]

    def ask(self, table, seed):
        """The fault of the answer, or None; LEFT if it takes too long or is refused."""
        virtual, native = random_queries.pair(self.collection, table, seed)
        expected, refused = self.answer(native.sql)
        if refused == "interrupted":
            return LEFT
        got, error = self.answer(virtual.sql, STEPS * PATIENCE)
        if error and (refused or self.asked_for_a_constant(virtual.sql, error)):
            return LEFT
        if error and self.in_circles(virtual.sql, error):
            return LEFT
        if error == "no query solution" and self.forgets_where and NEVER in virtual.sql:
            return LEFT
        if error and "needs a source" in error and WITHOUT_SOURCES.search(virtual.sql):
            return LEFT
        if refused or error:
            what = error or f"it gives rows, but of ordinary tables {refused}"
        else:
            whole = self.answer(native.whole)[0] if native.limited else expected
            what = LEFT if whole is None else random_queries.difference(
                native, expected, whole, got)
            if what and whole and native.limited and native.keys:
                what = random_queries.difference(native, self.counted(native, whole), whole, got)
        if what and self.forgets_rowid and re.search(r"\bRIGHT JOIN\b", virtual.sql) and '"rowid"' in virtual.sql:
            what = LEFT
        if what is None or what is LEFT:
            return what
        return (f"{table}, seed {seed}: {what}\n  {virtual.sql};\n"
                f"  -- must give what this gives:\n  {native.sql};")


@pytest.fixture
def asker(tmp_path, monkeypatch, connect):
    monkeypatch.chdir(tmp_path)  # Paths are relative, so that a seed makes the same text everywhere
    db = connect()
    if FILTERS_LOSE_ROWS:
        db.execute("PRAGMA automatic_index = 0")
    return Asker(db, Collection(db))


@pytest.mark.parametrize("table", TABLES)
def test_random_queries_give_what_ordinary_tables_give(asker, table):
    failed, left = [], 0
    for seed in range(FIRST, FIRST + QUERIES):
        what = asker.ask(table, seed) if table in asker.collection.tables else None
        left += what is LEFT
        if what and what is not LEFT:
            failed.append(what)
        if len(failed) == SHOWN:
            break
    assert not failed, "\n\n".join(["queries with another answer:"] + failed)
    assert left * 50 <= QUERIES


# ------------------------------------------------------------------------------- this test can fail


@pytest.mark.parametrize("change", [
    "DELETE FROM {} WHERE rowid IN (SELECT max(rowid) FROM {})",
    "INSERT INTO {} SELECT * FROM {} LIMIT 1",
    "UPDATE {} SET path = 'elsewhere'",
    "UPDATE {} SET source = CAST(source AS BLOB)",
])
def test_a_wrong_row_is_noticed(asker, change):
    agreed = [seed for seed in range(100) if asker.ask("zt_objects", seed) is None]
    table = asker.collection.tables["zt_objects"]
    for copy in [table.every, *table.copies.values()]:
        asker.db.execute(change.format(copy, copy))
    noticed = [seed for seed in agreed if asker.ask("zt_objects", seed)]
    assert len(agreed) > 80 and len(noticed) > 5


@pytest.mark.parametrize("got, noticed", [([(1, "a"), (2, "b")], False), ([(2, "b"),
                                                                           (1, "a")], True),
                                          ([(1.0, "a"), (2, "b")], True),
                                          ([("1", "a"), (2, "b")], True),
                                          ([(1, b"a"), (2, "b")], True),
                                          ([(1, None), (2, "b")], True), ([(1, "a")], True),
                                          ([(1, "a"), (2, "b"), (2, "b")], True)])
def test_types_and_order_and_number_of_rows_matter(got, noticed):
    expected = [(1, "a"), (2, "b")]
    for query in (random_queries.Query("", [(0, "")]), random_queries.Query("", total=True)):
        assert (random_queries.difference(query, expected, expected, got) is not None) == noticed


def test_of_a_limit_without_order_any_rows_do(asker):
    query = random_queries.Query("", limit=" LIMIT 1")
    whole = [(1, "a"), (2, "b")]
    assert random_queries.difference(query, whole[:1], whole, whole[1:]) is None
    assert random_queries.difference(query, whole[:1], whole, [(3, "c")]) == "other rows"


def test_every_kind_of_query_is_asked(asker):
    """A word that no query has would be a part of SQL that is not compared."""
    texts = [
        random_queries.pair(asker.collection, table, seed)[0].sql
        for table in asker.collection.tables for seed in range(400)
    ]
    words = [
        "LEFT JOIN", "CROSS JOIN", "USING (path)", "USING (path, object)", " IN (SELECT",
        " NOT IN (", *([] if random_queries.EXISTS_ONCE else ["EXISTS"]), "LIKE", "GLOB", "ESCAPE", "BETWEEN", " IS NOT NULL", "IS NULL",
        "COLLATE NOCASE", "DISTINCT", "GROUP BY", "HAVING", "UNION ALL", "EXCEPT", "INTERSECT",
        " OVER (", "ORDER BY", " DESC", "LIMIT", "OFFSET", " OR ", "NOT (", "NULL)", "X'30'",
        "(SELECT image", "temp.given_", "rowid", ":p", 'min(t1."rowid")', 'max(t1."rowid")',
        '"rowid" DESC', "NATURAL JOIN", "NATURAL LEFT JOIN", "WITH RECURSIVE", "WITH w AS", "(VALUES ", " IS NOT TRUE", "likely(",
        "ROWS BETWEEN", "FILTER (", "GROUPS BETWEEN", "LIMIT (SELECT", "JOIN (", "= (SELECT", "COLLATE NOCASE IN (", "OFFSET -1"
    ]
    words += ["IS DISTINCT FROM"] if random_queries.DISTINCT_FROM else []
    words += [" AS MATERIALIZED", "NOT MATERIALIZED"] if random_queries.MATERIALIZED else []
    if random_queries.OUTER_JOINS:
        words += ["RIGHT JOIN", "FULL JOIN"]
    missing = [word for word in words if not any(word in text for text in texts)]
    assert missing == []
