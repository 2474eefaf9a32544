"""Shared by the queries of all pages: rows as dictionaries, and results that are kept."""

from ...catalog import APPLICATION

def is_catalog(connection):
    """Whether a database is a catalog with all tables of the page."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    found = connection.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('file', 'duplicates', 'statistic', 'pair', 'totals')").fetchone()[0]
    return application == APPLICATION and found == 5


def rows(connection, sql, *values):
    """Rows as dictionaries. The values of named parameters are one dictionary."""
    cursor = connection.execute(sql, values[0] if values and isinstance(values[0], dict) else values)
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row)) for row in cursor]


def one(connection, sql, *values):
    found = rows(connection, sql, *values)
    return found[0] if found else None


kept = {}


def remembered(connection, question, ask=None):
    """The result of a query of the whole collection, repeated only when the collection's data have changed. `ask` is the query, if the question
    is only its key."""
    path = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    state = _state(connection)
    if kept.get((path, question), (None,))[0] != state or not path:
        kept[path, question] = state, (ask or question)(connection)
    return kept[path, question][1]


def _state(connection):
    """It changes with each refresh, merge, and pass that reads all bytes. Comparing two models does not change it."""
    return connection.execute("""
        SELECT (SELECT max(refreshed) FROM root), (SELECT max(id) FROM change), (SELECT max(id) FROM finding),
               (SELECT json_array(count(*), max(refreshed), count(checked), max(checked), count(fingerprinted), max(fingerprinted)) FROM file),
               (SELECT json_array(count(*), max(at)) FROM measured)""").fetchone()[:]


def counted(column):
    """A number of bytes or elements. One beyond 64 bits is a BLOB of its digits in the catalog, and text here."""
    return f"CASE typeof({column}) WHEN 'blob' THEN CAST({column} AS TEXT) ELSE {column} END"


def roots(connection):
    """The directories of its collections."""
    return [path for path, in connection.execute("SELECT DISTINCT path FROM root")]


FILE = """SELECT f.*, h.name AS host_name, a.id AS architecture, a.objects, a.parameters, l.components,
                 CASE typeof(l.stored_bytes) WHEN 'blob' THEN CAST(l.stored_bytes AS TEXT) ELSE l.stored_bytes END AS stored_bytes,
                 (SELECT 1 FROM measured WHERE file = f.id) AS measured, (SELECT error FROM measured WHERE file = f.id) AS unmeasured
          FROM file AS f JOIN host AS h ON h.id = f.host LEFT JOIN layout AS l ON l.id = f.layout
               LEFT JOIN architecture AS a ON a.id = l.architecture
          WHERE f.id = ?"""
