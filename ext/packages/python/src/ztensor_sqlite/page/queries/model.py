"""A model, and a tensor of it."""
import os
import re

from .shared import FILE, one, pattern, rows, sheet, with_shares

LICENCE = re.compile(r"(?:^|[._: -])licen[sc]es?(?:[._: -]|$)", re.I)


def model(connection, parameters, file):
    found = one(connection, FILE, file)
    if found is None:
        return None
    attributes = rows(connection, "SELECT key, value, type FROM attribute WHERE file = ? ORDER BY id LIMIT 200", file)
    return {
        "title": os.path.basename(found["path"]), "file": found, "attributes": attributes,
        "licences": [a for a in attributes if LICENCE.search(a["key"] or "") and a["value"] not in (None, "")],
        "dtypes": with_shares(rows(connection, """
            SELECT coalesce(k.type, k.dtype, 'not known') AS name, sum(s.objects) AS objects, sum(s.bytes) AS bytes
            FROM share AS s JOIN kinds AS k ON k.id = s.kind WHERE s.layout = ? GROUP BY 1 ORDER BY 3 DESC""", found["layout"])),
        "findings": rows(connection, """
            SELECT object, component, severity, rule, message FROM finding WHERE file = ? AND severity <> 'note'
            ORDER BY severity, id LIMIT 200""", file),
        "runs": rows(connection, """
            SELECT tracker, run, name, status, logged FROM run_files WHERE path = ? AND host IN ('', ?) ORDER BY logged""",
                     found["path"], found["host_name"]),
        "same": rows(connection, "SELECT id, path FROM file WHERE fingerprint = ? AND id <> ? ORDER BY path LIMIT 50", found["fingerprint"], file),
        "family": family(connection, found),
        **_tensors(connection, parameters, found),
    }


def family(connection, found):
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
