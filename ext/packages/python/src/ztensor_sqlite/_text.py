"""Rows whose text is not UTF-8, such as some paths: the str has surrogates for such bytes, as os.fsdecode() gives them."""
from __future__ import annotations

import itertools
import operator
from typing import Any, Iterator


def prepare(connection: Any) -> None:
    """Let a connection, which is our own, give such text, as far as it can: see rows()."""
    if is_sqlite3(connection):
        connection.text_factory = decoded


def is_sqlite3(connection: Any) -> bool:
    """Whether it is a connection of sqlite3, and not of apsw."""
    return hasattr(connection, "text_factory")


decoded = operator.methodcaller("decode", "utf-8", "surrogateescape")   # Of bytes. A function of Python's own is slower


def rows(connection: Any, sql: str, parameters: Any = ()) -> Any:
    """The rows of a statement, as they come, from a connection that is prepared."""
    cursor = connection.execute(sql, parameters)
    return cursor if is_sqlite3(connection) else _of_apsw(connection, cursor, sql, parameters)


def _of_apsw(connection: Any, cursor: Any, sql: str, parameters: Any) -> Iterator[tuple[Any, ...]]:
    """The rows from apsw. apsw fails at such text; from there on the rows are queried again, with text as bytes."""
    given = 0
    try:
        for row in cursor:
            yield row
            given += 1
        return
    except UnicodeDecodeError:
        pass
    names = [f"c{i}" for i in range(len(connection.execute(sql, parameters).get_description()))]
    asked = ", ".join(f"typeof({name}) = 'text', CASE typeof({name}) WHEN 'text' THEN CAST({name} AS BLOB) ELSE {name} END"
                      for name in names)
    again = connection.execute(f"WITH r({', '.join(names)}) AS MATERIALIZED ({sql}) SELECT {asked} FROM r", parameters)
    for row in itertools.islice(again, given, None):
        yield tuple(decoded(value) if is_text else value for is_text, value in zip(row[::2], row[1::2]))
