"""The list of models."""
from .shared import one, pattern, sheet

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
