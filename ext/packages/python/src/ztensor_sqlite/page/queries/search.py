"""A tensor across all models."""
from .. import filters
from ..tables import Column, Table
from .model import VALUES, reasons
from .shared import counted

# The order of the joins is the order of the rows. By names, a sheet of tensors in the order of names is found without looking at all others.
# By files, all statistics are read as they are stored.
BY_NAMES = """name AS n CROSS JOIN tensor AS x ON x.name = n.id CROSS JOIN layout AS l ON l.architecture = x.architecture
                 CROSS JOIN file AS f ON f.layout = l.id"""
BY_FILES = """file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN tensor AS x ON x.architecture = l.architecture
                 CROSS JOIN name AS n ON n.id = x.name"""
TENSORS = f"""
            SELECT n.name AS object, f.path, coalesce(k.type, k.dtype) AS type, s.shape, {counted("s.elements")} AS elements,
                   CASE WHEN d.layout IS NULL THEN (SELECT {counted("p.length")} FROM part AS p WHERE p.layout = l.id AND p.name = n.id)
                        ELSE {counted("d.stored_bytes")} END AS bytes,
                   t.min, t.max, t.mean, t.std, t.bins, t.zeros, t.nans, t.infs, t.error, f.id AS file, n.id AS name
            FROM {{}}
                 CROSS JOIN kinds AS k ON k.id = x.kind CROSS JOIN shape AS s ON s.id = x.shape
                 LEFT JOIN detail AS d ON d.layout = l.id AND d.name = n.id LEFT JOIN statistic AS t ON t.file = f.id AND t.name = n.id"""
FEW = 100_000


def tensors(connection, parameters):
    by_names = parameters.text("sort").removeprefix("-") in ("", "object") or _are_few(connection, parameters.text("object"))
    return {"title": "Tensors", "tensors": Table("tensors of all models", [
        Column("object", "tensor", link="model/{file}/{name}", css="name"), Column("path", "file", "path", link="model/{file}"), Column("type"), Column("shape"),
        Column("elements", kind="number"), Column("bytes", kind="bytes"), *VALUES, Column("zeros", kind="number"), Column("nans", "NaN", "number"),
        Column("infs", "infinite", "number"), Column("error", "suspect", show=reasons), Column("file", hidden=True), Column("name", hidden=True)],
        TENSORS.format(BY_NAMES if by_names else BY_FILES), order="object path", main=True, keys=("file", "name"), by_keys=TENSORS.format(BY_FILES))}


def _are_few(connection, name):
    """Whether few tensors have such a name."""
    try:
        conditions = filters.text("n.name", name) if name else []
    except filters.Unclear:
        return True
    for condition, value in conditions:
        (count,) = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM {BY_NAMES} WHERE {condition.replace(' *', ' ?')} LIMIT {FEW + 1})",
                                      (value,)).fetchone()
        return count <= FEW
    return False
