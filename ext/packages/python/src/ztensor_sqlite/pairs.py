"""Comparisons of the models of a catalog: which files a model has, which pairs of files have to be compared, and where the results are.

`ztensor-sql serve` keeps the results of its own catalogs in their tables pair and distance (measures.sql). A catalog that is shown as it
is gets no row: the results are in a file in the user's cache directory, which has the same tables and says which reading of each file
they are of. The functions here take any connection of sqlite3 to the catalog; none needs the extension.
"""
import hashlib
import os
import pathlib
import re
import sqlite3

from .places import cache_directory

PART = re.compile(r"(.*)-\d{5}-of-\d{5,6}(\.[^./]*)", re.S)
KEPT = "kept"   # The schema of the file with results, where it is attached

# The tables of measures.sql, without its triggers. A file's row in `reading` says when the catalog read the file.
TABLES = """
CREATE TABLE IF NOT EXISTS catalog(path TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS reading(file INTEGER PRIMARY KEY, path TEXT NOT NULL, refreshed INTEGER);
CREATE TABLE IF NOT EXISTS pair(a INTEGER NOT NULL, b INTEGER NOT NULL, at INTEGER NOT NULL, error TEXT, PRIMARY KEY(a, b)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS pair_b ON pair(b);
CREATE TABLE IF NOT EXISTS distance(
  a INTEGER NOT NULL, b INTEGER NOT NULL, name INTEGER NOT NULL, change TEXT NOT NULL, elements INTEGER, equal INTEGER, nans INTEGER,
  rmse REAL, max_abs REAL, cosine REAL, square REAL, error TEXT, PRIMARY KEY(a, b, name)) WITHOUT ROWID;
"""

CURRENT = f"""EXISTS (SELECT 1 FROM {KEPT}.reading AS r CROSS JOIN main.file AS g ON g.id = r.file
                      WHERE r.file = p.{{side}} AND g.path = r.path AND g.refreshed IS r.refreshed)"""


def read_only(path):
    """A connection that cannot write."""
    connection = sqlite3.connect(_uri(path), uri=True, check_same_thread=False)
    connection.execute("PRAGMA cache_size = -65536")   # KiB, for each of Datasette's threads: pages of large catalogs read much of them
    return connection


def _uri(path):
    return pathlib.Path(path).resolve().as_uri() + "?mode=ro"


# ---- Models

def model_of(connection, file):
    """The numbers of a model's files in their order, from any of them. Most models have one."""
    found = connection.execute("SELECT path FROM file WHERE id = ?", (file,)).fetchone()
    match = found and PART.fullmatch(found[0])
    row = match and connection.execute("SELECT host, model, parts FROM model_parts WHERE file = ?", (file,)).fetchone()
    if not row:
        return [file] if found else []
    # All parts have this beginning, which the index of paths finds
    return [part for part, in connection.execute("""
        SELECT p.file FROM file AS f CROSS JOIN model_parts AS p ON p.file = f.id
        WHERE f.path >= ?1 || '-' AND f.path < ?1 || '.' AND p.host = ?2 AND p.model = ?3 AND p.parts = ?4 ORDER BY p.number""",
                                                 (match[1], *row))]


def in_words(numbers):
    """Numbers as a list of SQL."""
    return ", ".join(map(str, map(int, numbers)))


def file_pairs(connection, a, b):
    """The pairs of files of two models, given by their files, that have a name in common. The smaller number is the first of a pair."""
    found = connection.execute(f"""
        SELECT DISTINCT min(f.id, g.id), max(f.id, g.id)
        FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN file AS g CROSS JOIN layout AS m ON m.id = g.layout
        WHERE f.id IN ({in_words(a)}) AND g.id IN ({in_words(b)}) AND f.id <> g.id
          AND EXISTS (SELECT 1 FROM tensor AS t CROSS JOIN tensor AS u ON u.architecture = m.architecture AND u.name = t.name
                      WHERE t.architecture = l.architecture)
        ORDER BY 1, 2""")
    return [tuple(row) for row in found]


# ---- Results

def make_kept(catalog):
    """The path of the file with the results of a catalog that is shown as it is. The file is made if it is missing."""
    real = os.path.realpath(catalog)
    path = os.path.join(cache_directory(), "pairs-" + hashlib.sha256(os.fsencode(real)).hexdigest()[:32] + ".db")
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    connection = sqlite3.connect(path)
    try:
        connection.executescript(TABLES)
        connection.execute("INSERT OR IGNORE INTO catalog VALUES (?)", (real,))
        connection.commit()
    finally:
        connection.close()
    return path


def attach(connection, kept):
    """Let a connection to the catalog also see the results in a file."""
    connection.execute(f"ATTACH ? AS {KEPT}", (_uri(kept),))


def held(connection, wanted):
    """Where the results of pairs of files are: {(a, b): (schema, time, error)}. Results in the cache count if the catalog has not read the
    files again since, and has no result of its own."""
    wanted, found = sorted(set(wanted)), {}
    schemas = [name for _, name, _ in connection.execute("PRAGMA database_list").fetchall()]
    for first in range(0, len(wanted), 500):
        some = ", ".join(f"({int(a)}, {int(b)})" for a, b in wanted[first:first + 500])
        if KEPT in schemas:
            current = " AND ".join(CURRENT.format(side=side) for side in "ab")
            for a, b, at, error in connection.execute(f"SELECT a, b, at, error FROM {KEPT}.pair AS p WHERE (a, b) IN (VALUES {some}) AND {current}"):
                found[a, b] = KEPT, at, error
        for a, b, at, error in connection.execute(f"SELECT a, b, at, error FROM main.pair WHERE (a, b) IN (VALUES {some})"):
            found[a, b] = "main", at, error
    return found


def distances(places, name=None):
    """The rows of `distance` for pairs of files, as a SELECT: of all tensors, or of the one with this number of a name. The pairs are those of
    held()."""
    parts = []
    for schema in ("main", KEPT):
        some = ", ".join(f"({a}, {b})" for (a, b), (place, _, error) in sorted(places.items()) if place == schema and error is None)
        if some:
            parts.append(f"SELECT * FROM {schema}.distance WHERE (a, b) IN (VALUES {some})" + (f" AND name = {name}" if name is not None else ""))
    return " UNION ALL ".join(parts) or "SELECT * FROM main.distance WHERE 0"
