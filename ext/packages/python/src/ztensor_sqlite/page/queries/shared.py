"""What the queries of all pages share: rows as dictionaries, sheets of long lists, and results that are kept."""
import os
import re

from ...catalog import APPLICATION

SHEET = 100


def is_catalog(connection):
    """Whether a database is a catalog with all tables of the page."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('file', 'duplicates', 'statistic', 'pair', 'totals')").fetchone()[0]
    return application == APPLICATION and found == 5


def rows(connection, sql, *values):
    """Rows as dictionaries."""
    cursor = connection.execute(sql, values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor]


def one(connection, sql, *values):
    found = rows(connection, sql, *values)
    return found[0] if found else None


def sheet(connection, parameters, sql, *values, size=SHEET):
    """A sheet of a list, and the addresses of the next and the previous sheet."""
    first = parameters.count("from")
    found = rows(connection, f"{sql} LIMIT {size + 1} OFFSET {first}", *values)
    return {"rows": found[:size], "first": first,
            "before": parameters.other(**{"from": max(0, first - size) or None}) if first else None,
            "after": parameters.other(**{"from": first + size}) if len(found) > size else None}


kept = {}


def remembered(connection, question):
    """The result of a query of the whole collection, repeated only when the database's file has changed."""
    path = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    state = [(found.st_mtime_ns, found.st_size, found.st_ino) for name in (path, path + "-wal") if os.path.exists(name) for found in [os.stat(name)]]
    if kept.get((path, question), (None,))[0] != state or not path:
        kept[path, question] = state, question(connection)
    return kept[path, question][1]


def pattern(text):
    """The LIKE pattern that finds a text anywhere. A text longer than SQLite's limit gives NULL, which finds nothing."""
    made = "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"
    return made if len(made.encode()) <= 50_000 else None


def roots(connection):
    """The directories of its collections."""
    return [path for path, in connection.execute("SELECT DISTINCT path FROM root")]


def with_shares(found, key="bytes"):
    total = sum(row[key] or 0 for row in found) or 1
    return [{**row, "share": (row[key] or 0) / total} for row in found]


FILE = """SELECT f.*, h.name AS host_name, a.id AS architecture, a.objects, a.parameters, l.components,
                 CASE typeof(l.stored_bytes) WHEN 'blob' THEN CAST(l.stored_bytes AS TEXT) ELSE l.stored_bytes END AS stored_bytes,
                 (SELECT 1 FROM measured WHERE file = f.id) AS measured, (SELECT error FROM measured WHERE file = f.id) AS unmeasured
          FROM file AS f JOIN host AS h ON h.id = f.host LEFT JOIN layout AS l ON l.id = f.layout
               LEFT JOIN architecture AS a ON a.id = l.architecture
          WHERE f.id = ?"""
