"""The overview of a collection."""
from .findings import SUSPECT
from .shared import one, remembered, rows, with_shares


def overview(connection, parameters):
    return {"title": "Overview", **remembered(connection, whole)}


def whole(connection):
    return {
        "total": one(connection, """
            SELECT files, broken + unsupported AS unreadable, bytes_on_disk AS bytes, objects AS tensors, parameters,
                   (SELECT count(*) FROM file WHERE error IS NULL AND id NOT IN (SELECT file FROM measured)) AS unmeasured,
                   (SELECT count(*) FROM file WHERE error IS NULL AND checked IS NULL) AS unchecked,
                   (SELECT count(*) FROM file WHERE error IS NULL AND fingerprinted IS NULL) AS unprinted
            FROM totals"""),
        "sources": rows(connection, "SELECT source, host, files, broken, bytes, refreshed FROM sources ORDER BY source"),
        "dtypes": with_shares(rows(connection, "SELECT coalesce(type, dtype, 'not known') AS name, objects, bytes FROM dtype_totals")),
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
