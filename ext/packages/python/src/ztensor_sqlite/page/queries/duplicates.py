"""Contents with several copies."""
import re

from .shared import SHEET, remembered, rows, sheet

MOST = 1000   # The most wasteful contents are shown


def whole(connection):
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
    found, first = remembered(connection, whole), parameters.count("from")
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
