"""Asks Datasette, as it is by default, for the page of every table and view of a catalog, and refreshes the catalog in it:
browse_datasette.py CATALOG EXTENSION SCRIPTS SOURCE. It prints {"pages": {name: [status, error]}, "refreshed": [row]}."""
import asyncio
import json
import sys
from pathlib import Path

from datasette import hookimpl
from datasette.app import Datasette
from datasette.plugins import pm

CATALOG, EXTENSION, SCRIPTS, SOURCE = sys.argv[1:]
PAIRS = ("component_pairs", "differences")   # Of two files, which a question names


class Refreshing:
    """The plugin that sql/README.md shows."""

    __name__ = "Refreshing"

    @hookimpl
    def prepare_connection(self, conn):
        conn.enable_load_extension(True)
        conn.load_extension(EXTENSION)
        if not conn.execute("PRAGMA query_only").fetchone()[0]:
            conn.executescript(Path(SCRIPTS, "refresh.sql").read_text())


async def main():
    datasette = Datasette([CATALOG], settings={"sql_time_limit_ms": 60000})   # A second by itself, which a busy machine may need
    await datasette.invoke_startup()
    pages = {}
    db = datasette.get_database("catalog")
    for name in [*await db.table_names(), *await db.view_names()]:
        asked = {"path_a": f"{SOURCE}/0.zt", "path_b": f"{SOURCE}/20.zt"} if name in PAIRS else {}
        response = await datasette.client.get(f"/catalog/{name}.json", params={"_shape": "objects", **asked})
        pages[name] = [response.status_code, response.json().get("error")]
    pm.register(Refreshing())
    writing = Datasette([CATALOG])
    await writing.invoke_startup()
    db = writing.get_database("catalog")
    await db.execute_write("INSERT INTO refresh(source) VALUES (?)", [SOURCE])
    rows = await db.execute_write_fn(lambda conn: conn.execute("SELECT files, unchanged FROM refresh").fetchall())
    print(json.dumps({"pages": pages, "refreshed": [list(row) for row in rows]}))


asyncio.run(main())
