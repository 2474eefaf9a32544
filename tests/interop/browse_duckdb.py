"""Has DuckDB read every table of a catalog, and every view of it, through its sqlite scanner: browse_duckdb.py CATALOG. It prints
{"tables": {name: rows}, "views": {name: [rows]}, "types": {table: {column: type}}}."""
import json
import sqlite3
import sys
from pathlib import Path

import duckdb
import duckdb_extension_sqlite_scanner

catalog = sys.argv[1]
with sqlite3.connect(catalog) as db:
    names = {kind: [name for name, in db.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,))] for kind in ("table", "view")}


def shown(view):
    """The columns of a view. sqlite_query() takes all for text, so what is a BLOB, as a digest's value, is asked for as hexadecimal digits."""
    with sqlite3.connect(catalog) as db:
        rows = db.execute(f"SELECT * FROM {view} LIMIT 100")
        titles = [title for title, *_ in rows.description]
        blobs = {title for row in rows for title, value in zip(titles, row) if isinstance(value, bytes)}
    return ", ".join(f'hex("{title}")' if title in blobs else f'"{title}"' for title in titles)


scanner = next(Path(duckdb_extension_sqlite_scanner.__path__[0]).rglob("*.duckdb_extension"))
duck = duckdb.connect(config={"allow_unsigned_extensions": "true"})
duck.execute(f"LOAD '{scanner}'")
duck.execute(f"ATTACH '{catalog}' AS catalog (TYPE sqlite, READ_ONLY)")
print(json.dumps({
    "tables": {name: len(duck.execute(f'FROM catalog."{name}"').fetchall()) for name in names["table"]},
    "types": {name: {column: type for column, type, *_ in duck.execute(f'DESCRIBE catalog."{name}"').fetchall()} for name in names["table"]},
    "views": {name: [list(row) for row in duck.execute(f"FROM sqlite_query('catalog', 'SELECT {shown(name)} FROM {name} LIMIT 100')").fetchall()]
              for name in names["view"]},
}))
