"""What is wrong: findings of checks, suspect tensors, files that cannot be read."""
from .shared import sheet

SUSPECT = "nans > 0 OR infs > 0 OR zeros = elements"   # The index of measures.sql is over these words


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
