"""zt_given: the value that a query gives, or an error in the words of a view."""
import sqlite3

import pytest

from support import message, rows

NOFS = "sqlite3_ztensor_nofs_init"


@pytest.mark.parametrize("value", ["text", "", 1, 2.5, b"\x00\xff", "NUL\0inside"])
def test_it_is_what_it_is_compared_with(db, value):
    assert rows(db, "SELECT value, typeof(value), usage FROM zt_given('words') WHERE value = ?1", value) == rows(
        db, "SELECT ?1, typeof(?1), 'words'", value)


def test_several_values_are_several_rows(db):
    assert rows(db, "SELECT value FROM zt_given('words') WHERE value IN ('b', 'a', 3) ORDER BY value") == [(3,), ("a",), ("b",)]
    assert rows(db, "SELECT j.value, g.value FROM json_each('[1, 2]') AS j JOIN zt_given('words') AS g ON g.value = j.value") == [(1, 1), (2, 2)]
    assert rows(db, "SELECT a.value, b.value FROM zt_given('a') AS a JOIN zt_given('b') AS b ON b.value = a.value WHERE a.value = 1") == [(1, 1)]


@pytest.mark.parametrize("given, text", [("'a'", "a"), ("''", ""), ("5", "5"), ("2.5", "2.5"), ("'NUL' || char(0) || 'inside'", "NUL\0inside"), ("x'00ff'", b"\x00\xff")])
def test_text_is_what_it_is_compared_with_as_text(db, given, text):
    assert rows(db, f"SELECT text, value FROM zt_given('words') WHERE text = {given}") == [(text, None)]
    assert rows(db, f"SELECT text FROM zt_given('words') WHERE text IN ({given})") == [(text,)]


def test_value_and_text_are_given_each(db):
    assert rows(db, "SELECT value, text FROM zt_given('words') WHERE value = 5 AND text = 7") == [(5, "7")]


def test_null_is_equal_to_nothing(db):
    assert rows(db, "SELECT * FROM zt_given('words') WHERE value = NULL") == []


@pytest.mark.parametrize("where", ["", "WHERE value LIKE '%x%'", "WHERE value > 'x'", "WHERE value = 'a' OR value LIKE 'b'", "WHERE value IS NULL"])
def test_without_one_it_is_an_error(db, where):
    assert message(db, f"SELECT * FROM zt_given('the view needs a path') {where}") == "ztensor: the view needs a path"


def test_without_words_it_says_how_it_is_called(db):
    assert message(db, "SELECT * FROM zt_given") == "ztensor: zt_given needs a value: SELECT * FROM zt_given('what to say') WHERE value = 'x'"
    assert rows(db, "SELECT value FROM zt_given WHERE value = 'a'") == [("a",)]
    assert "too many arguments on zt_given() - max 1" in message(db, "SELECT * FROM zt_given('a', 'b')")


def test_it_is_there_without_files_and_in_stored_views(connect):
    db = connect(entry=NOFS)
    db.execute("CREATE VIEW twice AS SELECT g.value AS n, 2 * g.value AS twice FROM zt_given('twice needs a number') AS g")
    assert rows(db, "SELECT twice FROM twice WHERE n = 21") == [(42,)]
    assert message(db, "SELECT twice FROM twice") == "ztensor: twice needs a number"
    assert "may not be modified" in message(db, "DELETE FROM zt_given")


def test_rows_have_numbers_of_their_own(db):
    # RIGHT and FULL JOIN take rows of one number for one row
    query = "SELECT rowid, value, text FROM zt_given('words') WHERE "
    numbers = [n for where in ("value IN ('a', 'b', 1, '1')", "text IN ('a', 'b')", "value = 'a' AND text = 'b'") for n, _, _ in rows(db, query + where)]
    assert len(set(numbers)) == len(numbers) == 7 and min(numbers) >= 0
    assert rows(db, query + "value = 'a'") == rows(db, query + "value IN ('z', 'a') AND value = 'a'")


@pytest.mark.skipif(sqlite3.sqlite_version_info < (3, 39), reason="SQLite has no FULL JOIN yet")
def test_an_outer_join_keeps_every_value(db):
    sql = "SELECT j.value, g.value FROM json_each('[1, 2]') AS j FULL JOIN zt_given('words') AS g ON g.value = j.value WHERE g.value IN (1, 3)"
    if (3, 44) <= sqlite3.sqlite_version_info < (3, 45):   # It does not tell of the values in WHERE
        assert message(db, sql) == "ztensor: words"
    else:
        assert rows(db, sql) == [(1, 1), (None, 3)]


def test_words_that_are_null_are_none(db):
    assert message(db, "SELECT * FROM zt_given(NULL)").startswith("ztensor: zt_given needs a value: ")
    assert rows(db, "SELECT value, usage FROM zt_given WHERE value = 'a'") == [("a", None)]
