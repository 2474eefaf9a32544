"""The page's queries of a catalog: of its tables and views (sql/catalog.sql, sql/audit.sql) and of those of measures.sql.

Each query is a function of a connection, the address's parameters and the numbers in it. It gives the data for its template, or None
if there is no such thing. Long lists are read one sheet at a time, so that a page of a large catalog takes no longer.
"""
import os
import re

from ..catalog import APPLICATION

SHEET = 100
SUSPECT = "nans > 0 OR infs > 0 OR zeros = elements"   # The index of measures.sql is over these words


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


_kept = {}


def remembered(connection, question):
    """The result of a query of the whole collection, repeated only when the database's file has changed."""
    path = connection.execute("SELECT file FROM pragma_database_list WHERE name = 'main'").fetchone()[0]
    state = [(found.st_mtime_ns, found.st_size, found.st_ino) for name in (path, path + "-wal") if os.path.exists(name) for found in [os.stat(name)]]
    if _kept.get((path, question), (None,))[0] != state or not path:
        _kept[path, question] = state, question(connection)
    return _kept[path, question][1]


def warm(connection):
    """Run the slow queries of a large catalog before a visitor waits for them."""
    remembered(connection, _whole)
    remembered(connection, _duplicates)


def pattern(text):
    """The LIKE pattern that finds a text anywhere. A text longer than SQLite's limit gives NULL, which finds nothing."""
    made = "%" + re.sub(r"([\\%_])", r"\\\1", text) + "%"
    return made if len(made.encode()) <= 50_000 else None


# ---- The collection

def roots(connection):
    """The directories of its collections."""
    return [path for path, in connection.execute("SELECT DISTINCT path FROM root")]


def overview(connection, parameters):
    return {"title": "Overview", **remembered(connection, _whole)}


def _whole(connection):
    return {
        "total": one(connection, """
            SELECT files, broken + unsupported AS unreadable, bytes_on_disk AS bytes, objects AS tensors, parameters,
                   (SELECT count(*) FROM file WHERE error IS NULL AND id NOT IN (SELECT file FROM measured)) AS unmeasured,
                   (SELECT count(*) FROM file WHERE error IS NULL AND checked IS NULL) AS unchecked,
                   (SELECT count(*) FROM file WHERE error IS NULL AND fingerprinted IS NULL) AS unprinted
            FROM totals"""),
        "sources": rows(connection, "SELECT source, host, files, broken, bytes, refreshed FROM sources ORDER BY source"),
        "dtypes": _with_shares(rows(connection, "SELECT coalesce(type, dtype, 'not known') AS name, objects, bytes FROM dtype_totals")),
        "formats": rows(connection, """
            SELECT container, version, files, objects, stored_bytes AS bytes FROM generations ORDER BY files DESC, container, version"""),
        "unreadable": rows(connection, """
            SELECT f.error_kind, count(*) AS files FROM troubles AS t JOIN file AS f ON f.id = t.file WHERE t.trouble <> 'other'
            GROUP BY 1 ORDER BY 2 DESC"""),
        "rules": rows(connection, """
            SELECT rule, severity, count(*) AS findings, count(DISTINCT file) AS files FROM finding
            WHERE severity <> 'note' GROUP BY rule, severity ORDER BY severity, 3 DESC, 1"""),
        "suspects": one(connection, f"SELECT count(*) AS tensors, count(DISTINCT file) AS files FROM statistic WHERE {SUSPECT}"),
        "largest": rows(connection, """
            SELECT f.id, f.path, f.container, f.size, a.parameters FROM file AS f
            JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture
            ORDER BY f.size DESC, f.path LIMIT 10"""),
        "changes": rows(connection, """
            SELECT CASE WHEN c.at < 100000000000 THEN c.at ELSE c.at / 1000 END AS at, c.change, c.path, c.was, f.id FROM change AS c LEFT JOIN file AS f ON f.host = c.host AND f.path = c.path
            ORDER BY c.id DESC LIMIT 10"""),
        "licences": one(connection, """
            SELECT count(*) AS files, (SELECT count(*) FROM unlicensed_files) AS without FROM file WHERE error IS NULL"""),
    }


def _with_shares(found, key="bytes"):
    total = sum(row[key] or 0 for row in found) or 1
    return [{**row, "share": (row[key] or 0) / total} for row in found]


ORDERS = {"path": "f.path", "largest": "f.size DESC, f.path", "newest": "f.mtime DESC, f.path", "parameters": "a.parameters DESC, f.path"}


def models(connection, parameters):
    order = parameters.one_of("order", list(ORDERS))
    found = sheet(connection, parameters, f"""
        SELECT f.id, f.path, f.container, f.version, f.size, f.mtime, a.objects, a.parameters, h.name AS host
        FROM file AS f JOIN layout AS l ON l.id = f.layout JOIN architecture AS a ON a.id = l.architecture JOIN host AS h ON h.id = f.host
        WHERE f.path LIKE ? ESCAPE '\\' ORDER BY {ORDERS[order]}""", pattern(parameters.text("q")))
    for row in found["rows"]:
        row.update(one(connection, "SELECT sum(severity = 'error') AS errors, sum(severity = 'warning') AS warnings FROM finding WHERE file = ?",
                       row["id"]))
    return {"title": "Models", "order": order, "choices": list(ORDERS), **found}


def findings(connection, parameters):
    rule = parameters.text("rule")
    return {"title": "Findings", "rule": rule, **sheet(connection, parameters, """
        SELECT f.id, f.path, g.object, g.component, g.severity, g.rule, g.message FROM finding AS g JOIN file AS f ON f.id = g.file
        WHERE ? IN ('', g.rule) AND g.severity <> 'note' ORDER BY g.id""", rule)}


def suspects(connection, parameters):
    return {"title": "Suspect tensors", **sheet(connection, parameters, f"""
        SELECT f.id, f.path, n.id AS name, n.name AS object, s.elements, s.zeros, s.nans, s.infs
        FROM (SELECT * FROM statistic WHERE {SUSPECT}) AS s JOIN file AS f ON f.id = s.file JOIN name AS n ON n.id = s.name
        ORDER BY s.file, s.name""")}


def unreadable(connection, parameters):
    return {"title": "Unreadable files", **sheet(connection, parameters, """
        SELECT f.id, f.path, f.size, f.mtime, f.error_kind, f.error FROM troubles AS t JOIN file AS f ON f.id = t.file
        WHERE t.trouble <> 'other' ORDER BY f.path""")}


MOST = 1000   # The most wasteful contents are shown


def _duplicates(connection):
    kinds, shown = {}, []
    for row in connection.execute("SELECT digest, dtype, length, copies, files, spare_bytes, evidence FROM duplicates"):
        digest, dtype, length, number, files, spare, evidence = row
        kind = kinds.setdefault(evidence, {"evidence": evidence, "contents": 0, "spare": 0})
        kind["contents"] += 1
        kind["spare"] += spare or 0
        if len(shown) < MOST:
            shown.append({"digest": digest, "dtype": dtype, "length": length, "copies": number, "files": files, "spare_bytes": spare,
                          "evidence": evidence})
    return {"kinds": sorted(kinds.values(), key=lambda kind: -kind["spare"]), "shown": shown,
            "total": {"contents": sum(k["contents"] for k in kinds.values()), "spare": sum(k["spare"] for k in kinds.values())},
            "models": rows(connection, """
                SELECT fingerprint, count(*) AS files, sum(size) - max(size) AS spare, min(path) AS first_path, min(file) AS id FROM same_models
                GROUP BY fingerprint ORDER BY spare DESC, fingerprint LIMIT 50""")}


def duplicates(connection, parameters):
    found, first = remembered(connection, _duplicates), parameters.count("from")
    return {"title": "Duplicates", **found, "rows": found["shown"][first:first + SHEET], "first": first,
            "before": parameters.other(**{"from": max(0, first - SHEET) or None}) if first else None,
            "after": parameters.other(**{"from": first + SHEET}) if len(found["shown"]) > first + SHEET else None}


def copies(connection, parameters):
    digest = parameters.text("digest")
    algorithm, _, value = digest.partition(":")
    data = bytes.fromhex(value) if re.fullmatch("([0-9a-f]{2})+", value) else b""
    found = sheet(connection, parameters, """
        SELECT f.id, f.path, n.id AS name, n.name AS object, s.component
        FROM digest AS d JOIN file AS f ON f.id = d.file JOIN name AS n ON n.id = d.name JOIN storage AS s ON s.id = d.storage
        WHERE d.value = ? AND d.algorithm = ?
          AND NOT EXISTS (SELECT 1 FROM refuted_digests AS r WHERE r.file = d.file AND r.name = d.name AND r.storage = d.storage)
        UNION ALL
        SELECT f.id, f.path, n.id, n.name, NULL
        FROM fingerprint AS p JOIN file AS f ON f.id = p.file JOIN name AS n ON n.id = p.name
        WHERE p.fingerprint = ?
        ORDER BY 2, 4, 5""", data, algorithm, digest)
    return {"title": "Copies", "digest": digest, **found} if found["rows"] else None


# ---- A model

FILE = """SELECT f.*, h.name AS host_name, a.id AS architecture, a.objects, a.parameters, l.components,
                 CASE typeof(l.stored_bytes) WHEN 'blob' THEN CAST(l.stored_bytes AS TEXT) ELSE l.stored_bytes END AS stored_bytes,
                 (SELECT 1 FROM measured WHERE file = f.id) AS measured, (SELECT error FROM measured WHERE file = f.id) AS unmeasured
          FROM file AS f JOIN host AS h ON h.id = f.host LEFT JOIN layout AS l ON l.id = f.layout
               LEFT JOIN architecture AS a ON a.id = l.architecture
          WHERE f.id = ?"""

LICENCE = re.compile(r"(?:^|[._: -])licen[sc]es?(?:[._: -]|$)", re.I)


def model(connection, parameters, file):
    found = one(connection, FILE, file)
    if found is None:
        return None
    attributes = rows(connection, "SELECT key, value, type FROM attribute WHERE file = ? ORDER BY id LIMIT 200", file)
    return {
        "title": os.path.basename(found["path"]), "file": found, "attributes": attributes,
        "licences": [a for a in attributes if LICENCE.search(a["key"] or "") and a["value"] not in (None, "")],
        "dtypes": _with_shares(rows(connection, """
            SELECT coalesce(k.type, k.dtype, 'not known') AS name, sum(s.objects) AS objects, sum(s.bytes) AS bytes
            FROM share AS s JOIN kinds AS k ON k.id = s.kind WHERE s.layout = ? GROUP BY 1 ORDER BY 3 DESC""", found["layout"])),
        "findings": rows(connection, """
            SELECT object, component, severity, rule, message FROM finding WHERE file = ? AND severity <> 'note'
            ORDER BY severity, id LIMIT 200""", file),
        "runs": rows(connection, """
            SELECT tracker, run, name, status, logged FROM run_files WHERE path = ? AND host IN ('', ?) ORDER BY logged""",
                     found["path"], found["host_name"]),
        "same": rows(connection, "SELECT id, path FROM file WHERE fingerprint = ? AND id <> ? ORDER BY path LIMIT 50", found["fingerprint"], file),
        "family": _family(connection, found),
        **_tensors(connection, parameters, found),
    }


def _family(connection, found):
    """Files with the same names, types and shapes. Files that have been compared with it come first."""
    return rows(connection, """
        SELECT f.id, f.path, f.mtime, p.at IS NOT NULL AS compared
        FROM layout AS l JOIN file AS f ON f.layout = l.id LEFT JOIN pair AS p ON p.a = min(f.id, ?1) AND p.b = max(f.id, ?1)
        WHERE l.architecture = ?2 AND f.id <> ?1 ORDER BY p.at IS NULL, f.mtime, f.path LIMIT 50""", found["id"], found["architecture"])


TENSOR_ORDERS = {"stored": "first_offset", "name": "n.name", "bytes": "o.stored_bytes DESC, n.name", "std": "t.std DESC, n.name",
                 "largest": "max(abs(CAST(t.min AS REAL)), abs(CAST(t.max AS REAL))) DESC, n.name"}


def _tensors(connection, parameters, found):
    order = parameters.one_of("order", list(TENSOR_ORDERS))
    return {"order": order, "choices": list(TENSOR_ORDERS), **sheet(connection, parameters, f"""
        SELECT n.id AS name, n.name AS object, k.format, coalesce(k.type, k.dtype) AS type, s.shape, s.elements, o.stored_bytes AS bytes,
               t.zeros, t.nans, t.infs, t.min, t.max, t.mean, t.std, t.bins, t.error,
               (SELECT min(offset) FROM part WHERE layout = o.layout AND name = o.name) AS first_offset
        FROM layout_objects AS o JOIN name AS n ON n.id = o.name JOIN kinds AS k ON k.id = o.kind JOIN shape AS s ON s.id = o.shape
             LEFT JOIN statistic AS t ON t.file = ? AND t.name = o.name
        WHERE o.layout = ? AND n.name LIKE ? ESCAPE '\\' ORDER BY {TENSOR_ORDERS[order]}""",
                 found["id"], found["layout"], pattern(parameters.text("q")))}


def tensor(connection, parameters, file, name):
    found = one(connection, FILE, file)
    if found is None:
        return None
    this = one(connection, """
        SELECT n.name AS object, k.format, coalesce(k.type, k.dtype) AS type, s.shape, s.elements AS count, o.stored_bytes AS bytes,
               o.components, o.attributes, p.fingerprint, t.*
        FROM layout_objects AS o JOIN name AS n ON n.id = o.name JOIN kinds AS k ON k.id = o.kind JOIN shape AS s ON s.id = o.shape
             LEFT JOIN fingerprint AS p ON p.file = ?1 AND p.name = o.name LEFT JOIN statistic AS t ON t.file = ?1 AND t.name = o.name
        WHERE o.layout = ?2 AND o.name = ?3""", file, found["layout"], name)
    if this is None:
        return None
    return {
        "title": this["object"], "file": found, "tensor": this, "number": name,
        "parts": rows(connection, """
            SELECT s.component, s.dtype, s.type, s.encoding, p.length, p.shard,
                   CASE WHEN p.shard IS NULL THEN p.offset + ?1 ELSE p.offset END AS offset,
                   coalesce(d.stated, d.algorithm || ':' || lower(hex(d.value))) AS digest
            FROM part AS p JOIN storage AS s ON s.id = p.storage
                 LEFT JOIN digest AS d ON d.file = ?2 AND d.name = p.name AND d.storage = p.storage
            WHERE p.layout = ?3 AND p.name = ?4 ORDER BY s.component""", found["data_offset"], file, found["layout"], name),
        "findings": rows(connection, """
            SELECT component, severity, rule, message FROM finding WHERE file = ? AND object = ? AND severity <> 'note'
            ORDER BY severity, id""", file, this["object"]),
        "copies": rows(connection, """
            SELECT f.id, f.path, n.id AS name, n.name AS object FROM fingerprint AS p JOIN file AS f ON f.id = p.file JOIN name AS n ON n.id = p.name
            WHERE p.fingerprint = ? AND NOT (p.file = ? AND p.name = ?) ORDER BY f.path, n.name LIMIT 50""", this["fingerprint"], file, name),
        "others": rows(connection, """
            SELECT f.id, f.path, t.mean, t.std, t.min, t.max, t.bins
            FROM layout AS l JOIN file AS f ON f.layout = l.id JOIN statistic AS t ON t.file = f.id AND t.name = ?
            WHERE l.architecture = ? AND f.id <> ? ORDER BY f.mtime, f.path LIMIT 50""", name, found["architecture"], file),
    }


# ---- Two models

def compare(connection, parameters):
    a, b = (one(connection, FILE, parameters.count(key)) for key in "ab")
    if a is None:
        return None
    if b is None:
        return {"title": "Compare", "a": a, "b": None, "family": _family(connection, a), **sheet(connection, parameters, """
            SELECT f.id, f.path FROM file AS f WHERE f.error IS NULL AND f.id <> ? AND f.path LIKE ? ESCAPE '\\' ORDER BY f.path""",
                                                                            a["id"], pattern(parameters.text("q")))}
    low, high = sorted((a["id"], b["id"]))
    layers = [(row["name"], row["distance"]) for row in rows(connection, """
        SELECT n.name, CASE WHEN d.change = 'same' THEN 0.0 ELSE d.square END AS distance
        FROM distance AS d JOIN name AS n ON n.id = d.name WHERE d.a = ? AND d.b = ?""", low, high)]
    layers = [(name, None if square is None else square ** 0.5) for name, square in sorted(layers, key=lambda layer: natural(layer[0]))]
    return {
        "title": "Compare", "a": a, "b": b, "layers": layers, "most": max((d for _, d in layers if d is not None), default=0),
        "pair": one(connection, "SELECT * FROM pair WHERE a = ? AND b = ?", low, high),
        "counts": rows(connection, "SELECT change, count(*) AS tensors FROM distance WHERE a = ? AND b = ? GROUP BY change ORDER BY change", low, high),
        "swapped": parameters.other(a=b["id"], b=a["id"], **{"from": None}),
        "differences": rows(connection, """
            SELECT object, part, change, before, after FROM differences WHERE file_a = ? AND file_b = ? LIMIT 200""", a["id"], b["id"]),
        **sheet(connection, parameters, """
            SELECT n.id AS name, n.name AS object, d.change, d.elements, d.equal, d.rmse, d.max_abs, d.cosine, d.square, d.error
            FROM distance AS d JOIN name AS n ON n.id = d.name
            WHERE d.a = ? AND d.b = ? ORDER BY d.change = 'same', d.square IS NOT NULL, d.square DESC, n.name""", low, high),
    }


def natural(name):
    """A sort key that puts layer 2 before layer 10."""
    return [(int(word), "") if word.isascii() and word.isdigit() else (-1, word) for word in re.split("([0-9]{1,15})", name)]
