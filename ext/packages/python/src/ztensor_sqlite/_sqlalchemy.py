"""The extension in the connections of SQLAlchemy."""
from __future__ import annotations

from typing import Any

from ._connection import LoadError, load_sqlite


def load_sqlalchemy(conn: Any, entries: list[str]) -> None:
    """Load the extension into a connection, or into every connection of an engine's pool."""
    import sqlalchemy

    if isinstance(conn, sqlalchemy.engine.Engine):
        _check(conn)
        _Loader(entries).listen(conn)
    elif isinstance(conn, sqlalchemy.engine.Connection):
        pooled: Any = conn.connection
        load_sqlite(getattr(pooled, "driver_connection", None) or pooled.dbapi_connection, entries)
    elif hasattr(conn, "sync_engine"):
        raise TypeError("an AsyncEngine hands its connections to another thread; pass a connection of sqlite3 or apsw to load()")
    else:
        raise TypeError(f"an engine or a connection of SQLAlchemy is needed, not {type(conn).__qualname__}")


def _check(engine: Any) -> None:
    """Fail now, and not with the first connection, if no connection of this engine can have the extension."""
    if engine.dialect.name != "sqlite":
        raise LoadError(f"the engine's database is {engine.dialect.name}, not sqlite")
    trial = engine.dialect.dbapi.connect(":memory:")
    try:
        load_sqlite(trial, ["sqlite3_ztensor_init"])
    finally:
        trial.close()


class _Loader:
    """Loads the extension when a connection is opened, and when one that was there before is checked out."""

    def __init__(self, entries: list[str]) -> None:
        self.entries = entries
        self.mark = ("ztensor_sqlite", *entries)

    def listen(self, engine: Any) -> None:
        from sqlalchemy import event

        event.listen(engine, "connect", self.opened)
        event.listen(engine, "checkout", self.checked_out)

    def opened(self, connection: Any, record: Any) -> None:
        load_sqlite(connection, self.entries)
        record.info[self.mark] = True   # It goes with the connection, not with the record

    def checked_out(self, connection: Any, record: Any, proxy: Any) -> None:
        if self.mark not in record.info:
            self.opened(connection, record)
