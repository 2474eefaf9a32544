"""Faults: findings of checks, suspect tensors, files that cannot be read."""
from ..tables import Column, Table

SUSPECT = "nans > 0 OR infs > 0 OR zeros = elements"   # The index of measures.sql is over these words
SEVERITIES = ("error", "warning", "note")
FILE, OBJECT = Column("file", hidden=True), Column("name", hidden=True)

# B of an adapter is zero until it is trained: lora_B of PEFT, lora_up of kohya, lora_b of GGUF
IS_LORA = "(n.name LIKE '%lora!_b%' ESCAPE '!' OR n.name LIKE '%lora!_up%' ESCAPE '!')"
REASONS = ("NaN", "infinite", "NaN and infinite", "all zero", "empty", "LoRA B is zero")


def findings(connection, parameters):
    return {"title": "Findings", "findings": Table("findings", [
        Column("path", "file", "path", link="model/{file}"), Column("severity", kind="severity", choices=SEVERITIES[:2]), Column("rule"),
        Column("message", kind="long"), Column("object", "tensor", css="name"), Column("component"), FILE], """
            SELECT f.path, g.severity, g.rule, g.message, g.object, g.component, f.id AS file, g.id AS finding
            FROM finding AS g JOIN file AS f ON f.id = g.file WHERE g.severity IS NOT 'note'""",
        order="severity finding", main=True, empty="There are no findings.")}


def suspects(connection, parameters):
    """Tensors whose values are suspect, the worst first. The zero LoRA B matrices of a file are one line."""
    return {"title": "Suspect tensors", "suspects": Table("suspect tensors", [
        Column("severity", kind="severity", choices=SEVERITIES, by="rank"), Column("reason", choices=REASONS),
        Column("object", "tensor", link=lambda row: f"model/{row['file']}/{row['name']}" if row["name"] else f"model/{row['file']}?object=lora", css="name"),
        Column("path", "file", "path", link="model/{file}"), Column("nans", "NaN", "number"), Column("infs", "infinite", "number"),
        Column("zeros", kind="number"), Column("elements", kind="number"), FILE, OBJECT], SUSPECTS, order="rank -nans -infs path object",
        kept=True, main=True, empty="No measured tensor has NaN, infinities, or only zeros.")}


SUSPECTS = f"""
    SELECT CASE rank WHEN 1 THEN 'error' WHEN 2 THEN 'warning' ELSE 'note' END AS severity, reason, object, f.path, nans, infs, zeros, elements,
           s.file, s.name, rank
    FROM (SELECT s.file, s.name, n.name AS object, s.nans, s.infs, s.zeros, s.elements,
                 CASE WHEN nans > 0 OR infs > 0 THEN 1 WHEN elements > 0 THEN 2 ELSE 3 END AS rank,
                 CASE WHEN nans > 0 AND infs > 0 THEN 'NaN and infinite' WHEN nans > 0 THEN 'NaN' WHEN infs > 0 THEN 'infinite'
                      WHEN elements > 0 THEN 'all zero' ELSE 'empty' END AS reason
          FROM statistic AS s JOIN name AS n ON n.id = s.name
          WHERE ({SUSPECT}) AND NOT (zeros = elements AND elements > 0 AND {IS_LORA})
          UNION ALL
          SELECT s.file, NULL, CASE count(*) WHEN 1 THEN n.name ELSE count(*) || ' matrices such as ' || min(n.name) END, 0, 0, sum(zeros), sum(elements),
                 4, 'LoRA B is zero'
          FROM statistic AS s JOIN name AS n ON n.id = s.name
          WHERE ({SUSPECT}) AND zeros = elements AND elements > 0 AND {IS_LORA} GROUP BY s.file) AS s
         JOIN file AS f ON f.id = s.file"""


def unreadable(connection, parameters):
    return {"title": "Unreadable files", "unreadable": Table("unreadable files", [
        Column("path", "file", "path", link="model/{file}"), Column("error", "why", "long"), Column("kind"), Column("bytes", kind="bytes"),
        Column("modified", kind="when"), FILE], """
            SELECT f.path, f.error, f.error_kind AS kind, f.size AS bytes, datetime(f.mtime, 'unixepoch') AS modified, f.id AS file
            FROM troubles AS t JOIN file AS f ON f.id = t.file WHERE t.trouble = 'broken'""",
        order="path", main=True, empty="All files can be read, but for those of formats that are not read.")}


def unsupported(connection, parameters):
    return {"title": "Unsupported files", "unsupported": Table("unsupported files", [
        Column("path", "file", "path", link="model/{file}"), Column("error", "why", "long"), Column("bytes", kind="bytes"),
        Column("modified", kind="when"), FILE], """
            SELECT f.path, f.error, f.size AS bytes, datetime(f.mtime, 'unixepoch') AS modified, f.id AS file
            FROM troubles AS t JOIN file AS f ON f.id = t.file WHERE t.trouble = 'unsupported'""",
        order="path", main=True, empty="There are none.")}
