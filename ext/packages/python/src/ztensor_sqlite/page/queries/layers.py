"""A model's layers: the tree of its modules, and strips of their statistics."""
from ... import modules
from ...pairs import in_words
from .shared import rows

MOST = 1200   # Rows of a tree; a larger one is shown without tensors, then to a smaller depth

# The tensors of a model's files
TENSORS = """SELECT n.name AS object, n.id AS name, f.id AS file, s.elements, CASE typeof(o.stored_bytes) WHEN 'integer' THEN o.stored_bytes END AS bytes,
       coalesce(k.type, k.dtype, 'not known') AS type, coalesce(s.shape, 'not known') AS shape
FROM file AS f CROSS JOIN layout_objects AS o ON o.layout = f.layout CROSS JOIN name AS n ON n.id = o.name CROSS JOIN kinds AS k ON k.id = o.kind
     CROSS JOIN shape AS s ON s.id = o.shape
WHERE f.id IN ({})"""

STATISTICS = """SELECT n.name AS object, t.std, max(abs(CAST(t.min AS REAL)), abs(CAST(t.max AS REAL))) AS largest, t.nans, t.infs, t.elements, t.error,
       t.file IS NOT NULL AS is_measured
FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN tensor AS o ON o.architecture = l.architecture CROSS JOIN name AS n ON n.id = o.name
     LEFT JOIN statistic AS t ON t.file = f.id AND t.name = o.name
WHERE f.id IN ({})"""


class Node:
    """A module of the tree, or a tensor of it, which has a shape. A tensor that stands for one alone has an address."""

    def __init__(self, row, places):
        self.row, self.parts = row, []
        self.address = places.get(row.module) if row.shape is not None and row.copies == 1 else None


def tree(connection, files, is_unfolded=False):
    """The tree of the modules of a model's files, and whether it is shown without its tensors or its inner modules."""
    found = rows(connection, TENSORS.format(in_words(files)))
    tensors = [modules.Tensor(row["object"], row["elements"], row["bytes"], row["type"], row["shape"]) for row in found]
    places = {row["object"]: f"model/{row['file']}/{row['name']}" for row in found}
    listed = modules.tree(tensors, show_tensors=True, fold=not is_unfolded)
    cut = None
    if len(listed) > MOST:
        listed, cut = [row for row in listed if row.shape is None], "tensors"
    depth = max((row.level for row in listed), default=0)
    while len(listed) > MOST and depth > 1:
        depth -= 1
        listed, cut = [row for row in listed if row.level <= depth], "inner modules and tensors"
    if len(listed) > MOST:
        listed, cut = listed[:MOST], "most modules"
    return {"root": _nested(listed, places), "cut": cut, "is_unfolded": is_unfolded, "is_folded": any(row.copies > 1 for row in listed)}


def _nested(listed, places):
    above = []
    for row in listed:
        node = Node(row, places)
        del above[row.level:]
        if above:
            above[-1].parts.append(node)
        above.append(node)
    return above[0] if above else None


def strips(connection, files):
    """Cells of the layers' std and of their largest absolute values, in the model's order."""
    found = sorted(rows(connection, STATISTICS.format(in_words(files))), key=lambda row: modules.sort_key(row["object"]))
    if not any(row["is_measured"] for row in found):
        return None
    return {"std": [(row["object"], row["std"], mark(row)) for row in found], "largest": [(row["object"], row["largest"], mark(row)) for row in found]}


def mark(row):
    """The peculiarity of a tensor's values: NaN, infinities, or that they are not known."""
    said = [f"{word} in {row[key]:,} of {row['elements']:,}" for word, key in (("NaN", "nans"), ("infinite", "infs")) if row[key]]
    if said:
        return " and ".join(said) + " elements"
    return row["error"] if row["error"] else None if row["is_measured"] else "not measured"
