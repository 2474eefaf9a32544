"""Two models, or one against several."""
import re

from ... import pairs
from .. import charts
from ..order import model_order
from ..tables import Column, Table
from .shared import rows
from .whole import whole

MOST = 8        # Models beside the base
NAMES = 16      # Names by which related models are found
OFFERED = 50    # Models that are offered first

# The tensors of a model's files
TENSORS = """SELECT t.name, f.id AS file, t.kind, t.shape
        FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN tensor AS t ON t.architecture = l.architecture
        WHERE f.id IN ({})"""


def compare(connection, parameters):
    base = whole(connection, parameters.count("a"))
    others = [whole(connection, number) for number in numbers(parameters.text("b"))]
    if base is None or None in others:
        return None
    others = list({other["id"]: other for other in others if other["id"] != base["id"]}.values())
    if not others or parameters.text("choose"):
        return _choice(connection, base, others)
    found = [Pair(connection, base, other) for other in others]
    layers = _layers(connection, base, found)
    context = {
        "title": "Compare", "a": base, "found": found, "layers": layers, "jobs": _jobs(base, found),
        "chart": _chart(found) if any(pair.is_known for pair in found) else None,
        "choose": parameters.other(choose=1, **{"from": None}),
    }
    if len(found) == 1:
        context.update(swapped=parameters.other(a=others[0]["id"], b=base["id"], **{"from": None}), unmatched=_unmatched(base, others[0]))
        if len(base["files"]) == len(others[0]["files"]) == 1:
            context["differences"] = _differences(base, others[0])
    return context


def _jobs(base, found):
    """The state of each comparison, given those that can be asked for: [(pair, job or None)]. A job is waiting, running, stopped or failed."""
    def jobs(work):
        return [(pair, None if work is None or pair.is_complete else work.of(base["id"], pair.other["id"])) for pair in found]
    return jobs


def running(jobs):
    """Whether a comparison has not ended."""
    return any(job and job.state in ("waiting", "running") for _, job in jobs)


def startable(jobs):
    """The pairs that can be compared, and are not about to be."""
    return [pair for pair, job in jobs if pair.wanted and not pair.is_complete and not running([(pair, job)])]


def _chart(found):
    """Its drawing, given the function that shortens paths."""
    def chart(short):
        return charts.profiles([(f"{k}: {short(pair.other['path'])}" if len(found) > 1 else "", pair.cells) for k, pair in enumerate(found, 1)])
    return chart


def numbers(text, most=MOST):
    """The numbers of models in an address: 12,13"""
    return [int(word) for word in dict.fromkeys(text.split(",")) if re.fullmatch("[0-9]{1,15}", word)][:most]


def known(connection, some):
    """The numbers of models that a form names by their files; empty if there are fewer than two, or one is unknown."""
    models = [pairs.model_of(connection, number) for number in some]
    found = list(dict.fromkeys(min(files) for files in models if files))
    return found if all(models) and len(found) > 1 else []


class Pair:
    """What is known of the base and another model. `cells` are the layers for the chart, in the base's order."""

    def __init__(self, connection, base, other):
        self.base, self.other = base, other
        self.wanted = pairs.file_pairs(connection, *([file["id"] for file in model["files"]] for model in (base, other)))
        self.places = pairs.held(connection, self.wanted)
        self.errors = sorted({error for _, _, error in self.places.values() if error is not None})
        self.is_complete = bool(self.wanted) and len(self.places) == len(self.wanted) and not self.errors
        self.is_known = any(error is None for _, _, error in self.places.values())
        self.is_itself = {file["id"] for file in base["files"]} == {file["id"] for file in other["files"]}
        self.is_same = base["fingerprint"] is not None and base["fingerprint"] == other["fingerprint"]
        self.counts, self.cells = {}, []
        self.only_base = self.only_other = 0
        self.most = self.farthest = None
        self.nans = []

    def take(self, row, k):
        """Count a tensor of the base, whose columns for this model end with the number k, and make its cell."""
        change, distance, nans = row[f"change_{k}"], row[f"distance_{k}"], row[f"nans_{k}"]
        if change is None:
            self.only_base += 1
        else:
            self.counts[change] = self.counts.get(change, 0) + 1
        if distance is not None and (self.most is None or distance > self.most):
            self.most, self.farthest = distance, row["object"]
        mark = {None: "not in the other model", "not compared": change, "incomparable": "not comparable"}.get(change)
        if nans:
            mark = f"NaN in {nans:,} of {row[f'elements_{k}']:,} pairs"
            self.nans.append({"object": row["object"], "name": row["name"], "file": row["file"], "nans": nans, "elements": row[f"elements_{k}"]})
        elif change == "changed" and distance is None:
            mark = "infinite: a norm is infinite"
        self.cells.append((row["object"], distance, mark))


def _layers(connection, base, found):
    """The table of the base's tensors, with their distances in each other model. All pairs take their counts and cells from it."""
    source, columns = _source(base, found), _columns(base, found)
    for row in sorted(rows(connection, source), key=lambda row: model_order(row["object"])):
        for k, pair in enumerate(found, 1):
            pair.take(row, k)
    for pair in found:
        pair.only_other = connection.execute(f"WITH x AS ({_tensors(base)}), y AS ({_tensors(pair.other)})"
                                             " SELECT count(*) FROM y WHERE name NOT IN (SELECT name FROM x)").fetchone()[0]
    order = "-nans_1 -distance_1 object" if len(found) == 1 else "-largest object"
    return Table("layers by distance", columns, source, order=order, main=True, empty="There are no tensors.")


def _tensors(model):
    return TENSORS.format(pairs.in_words(file["id"] for file in model["files"]))


def _source(base, found):
    """A row for each tensor of the base. Its columns for a model end with the model's number. A tensor that is not in the model has no change."""
    tables, chosen, joins = [f"x AS MATERIALIZED (\n        {_tensors(base)})"], [], []
    for k, pair in enumerate(found, 1):
        tables += [f"y{k} AS MATERIALIZED (\n        {_tensors(pair.other)})", f"d{k} AS MATERIALIZED (\n        {pairs.distances(pair.places)})"]
        chosen.append(f"""
       CASE WHEN y{k}.file IS NULL THEN NULL WHEN y{k}.file = x.file THEN 'same' ELSE coalesce(d{k}.change, 'not compared') END AS change_{k},
       CASE WHEN y{k}.file = x.file OR d{k}.change = 'same' THEN 0.0 ELSE sqrt(d{k}.square) END AS distance_{k},
       d{k}.elements AS elements_{k}, d{k}.equal AS equal_{k}, d{k}.nans AS nans_{k}, d{k}.max_abs AS max_abs_{k}, d{k}.cosine AS cosine_{k},
       d{k}.error AS error_{k}""")
        joins.append(f"""
     LEFT JOIN y{k} ON y{k}.name = x.name
     LEFT JOIN d{k} ON d{k}.name = x.name AND d{k}.a = min(x.file, y{k}.file) AND d{k}.b = max(x.file, y{k}.file)""")
    largest = ", ".join(f"coalesce(distance_{k}, -1)" for k in range(1, len(found) + 1))
    return f"""SELECT *, max({largest}, -1) AS largest
FROM (WITH {", ".join(tables)}
SELECT n.name AS object, x.name, x.file, s.shape, coalesce(q.type, q.dtype) AS type, {",".join(chosen)}
FROM x JOIN name AS n ON n.id = x.name JOIN shape AS s ON s.id = x.shape JOIN kinds AS q ON q.id = x.kind{"".join(joins)})"""


def _columns(base, found):
    columns = [Column("object", "layer", link="model/{file}/{name}")]
    if len(found) > 1:
        for k, pair in enumerate(found, 1):
            columns += [Column(f"distance_{k}", f"distance {k}", "brief"), Column(f"nans_{k}", f"NaN {k}", "number"),
                        Column(f"change_{k}", f"change {k}")]
        columns.append(Column("largest", hidden=True, kind="brief"))
    else:
        columns += [Column("distance_1", "distance", "brief"), Column("max_abs_1", "largest difference", "brief"), Column("cosine_1", "cosine", "brief"),
                    Column("equal_1", "equal", "number"), Column("elements_1", "elements", "number"), Column("nans_1", "NaN", "number"),
                    Column("change_1", "change", show=_change), Column("error_1", "reason")]
    return columns + [Column("shape"), Column("type"), Column("file", hidden=True), Column("name", hidden=True)]


def _change(row):
    return "only in the base" if row["change_1"] is None else row["change_1"]


def _unmatched(base, other):
    """Tensors that only one of two models has."""
    return Table("tensors without a partner", [
        Column("object", "tensor", link="model/{file}/{name}"), Column("place", "is in", choices=("A", "B")), Column("shape"), Column("type"),
        Column("file", hidden=True), Column("name", hidden=True)], f"""
WITH x AS MATERIALIZED ({_tensors(base)}), y AS MATERIALIZED ({_tensors(other)})
SELECT n.name AS object, u.place, s.shape, coalesce(k.type, k.dtype) AS type, u.file, u.name
FROM (SELECT 'A' AS place, * FROM x WHERE name NOT IN (SELECT name FROM y)
      UNION ALL
      SELECT 'B', * FROM y WHERE name NOT IN (SELECT name FROM x)) AS u
     JOIN name AS n ON n.id = u.name JOIN shape AS s ON s.id = u.shape JOIN kinds AS k ON k.id = u.kind""", order="place object",
                 empty="None: both models have the same names.")


def _differences(base, other):
    return Table("differences known to the catalog", [
        Column("object", "tensor", show=lambda row: row["object"] or "(the file)"), Column("part"), Column("change"),
        Column("before", "in A", "long"), Column("after", "in B", "long")],
                 "SELECT object, part, change, before, after FROM differences WHERE file_a = :a AND file_b = :b", {"a": base["id"], "b": other["id"]},
                 empty="None: names, shapes, types, encodings, attributes and, by digests and fingerprints, contents are the same.")


# ---- The choice of models

def _choice(connection, base, chosen):
    return {"title": "Compare", "a": base, "found": None, "chosen": [other["id"] for other in chosen], "most": MOST,
            "related": _related(connection, base, chosen), "models": Table("all models", [
                Column("path", "model", "path", link=f"compare?a={base['id']}&b={{file}}"), Column("container", "format"), Column("tensors", kind="number"),
                Column("parameters", kind="large"), Column("modified", kind="when"), Column("file", hidden=True)], """
                    SELECT path, container, objects AS tensors, parameters, modified, file FROM whole_models WHERE file <> :a""",
                                                                           {"a": base["id"]}, order="path", main=True)}


def _related(connection, base, chosen):
    """The chosen models, and those that share most names with the base: a base model or its fine-tunes. Models of the same kind come first."""
    names = [name for name, in connection.execute(f"SELECT DISTINCT name FROM ({_tensors(base)}) ORDER BY name")]
    some = names[::-(-len(names) // NAMES) or 1]
    found, own = {}, base["architecture"]
    for row in rows(connection, f"""
            SELECT f.id, f.path, f.mtime, l.architecture = ?1 AS is_alike, c.shared
            FROM (SELECT architecture, count(*) AS shared FROM tensor WHERE name IN ({pairs.in_words(some)}) GROUP BY architecture
                  ORDER BY architecture = ?1 DESC, 2 DESC LIMIT {4 * OFFERED}) AS c
                 CROSS JOIN layout AS l ON l.architecture = c.architecture CROSS JOIN file AS f ON f.layout = l.id
            ORDER BY is_alike DESC, c.shared DESC, f.mtime, f.path LIMIT {4 * OFFERED}""", own):
        if len(found) >= OFFERED:
            break
        number = min(pairs.model_of(connection, row["id"]))
        if number != base["id"] and number not in found:
            found[number] = {"id": number, "path": row["path"] if number == row["id"] else None, "is_alike": row["is_alike"],
                             "share": row["shared"] / len(some)}
    for number, row in found.items():
        row["path"] = whole(connection, number)["path"]
    asked = [{"id": other["id"], "path": other["path"], "is_alike": False, "share": None} for other in chosen if other["id"] not in found]
    return asked + list(found.values())
