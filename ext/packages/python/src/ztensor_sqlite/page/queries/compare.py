"""Two models."""
from .model import family
from .shared import FILE, natural, one, pattern, rows, sheet


def compare(connection, parameters):
    a, b = (one(connection, FILE, parameters.count(key)) for key in "ab")
    if a is None:
        return None
    if b is None:
        return {"title": "Compare", "a": a, "b": None, "family": family(connection, a), **sheet(connection, parameters, """
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
