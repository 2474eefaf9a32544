"""Two models, or one against several."""
import re

from ... import pairs
from .. import charts, words
from ...modules import sort_key
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


def seen(found, kinds):
    """Those of the kinds of changes that occur."""
    return [(kind, word) for kind, word in kinds if any(pair.counts.get(kind) for pair in found)]


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
    """The facts about the base and another model. `cells` are the layers for the chart, in the base's order."""

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
        if distance and (self.most is None or distance > self.most):
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
    for row in sorted(rows(connection, source), key=lambda row: sort_key(row["object"])):
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
    """A row for each tensor of the base. Its columns for a model end with the model's number. A tensor that is not in the model has no change.
    The keys of tensor and distance find each row."""
    places, chosen, joins = [], [], []
    for k, pair in enumerate(found, 1):
        kinds = ", ".join(f"({file['architecture']}, {file['id']})" for file in pair.other["files"] if file["architecture"] is not None)
        places.append(f"z{k}(architecture, file) AS (VALUES {kinds or '(NULL, NULL)'})")
        held = {place for place, _, _ in pair.places.values()} or {"main"}
        table = f"{min(held)}.distance"
        if held != {"main"} and not (len(held) == 1 and pair.is_complete):   # The cache may have older results of the other files
            places.append(f"e{k} AS MATERIALIZED ({pairs.distances(pair.places)})")
            table = f"e{k}"
        chosen.append(f"""
       CASE WHEN y{k}.name IS NULL THEN NULL WHEN z{k}.file = f.id THEN 'same' ELSE coalesce(d{k}.change, 'not compared') END AS change_{k},
       CASE WHEN z{k}.file = f.id OR d{k}.change = 'same' THEN 0.0 ELSE sqrt(d{k}.square) END AS distance_{k},
       d{k}.elements AS elements_{k}, d{k}.equal AS equal_{k}, d{k}.nans AS nans_{k}, d{k}.max_abs AS max_abs_{k}, d{k}.cosine AS cosine_{k},
       d{k}.error AS error_{k}""")
        joins.append(f"""
     LEFT JOIN tensor AS y{k} ON y{k}.name = x.name AND y{k}.architecture IN (SELECT architecture FROM z{k})
     LEFT JOIN z{k} ON z{k}.architecture = y{k}.architecture
     LEFT JOIN {table} AS d{k} ON d{k}.a = min(f.id, z{k}.file) AND d{k}.b = max(f.id, z{k}.file) AND d{k}.name = x.name""")
    largest = ", ".join(f"coalesce(distance_{k}, -1)" for k in range(1, len(found) + 1))
    files = pairs.in_words(file["id"] for file in base["files"])
    return f"""SELECT *, max({largest}, -1) AS largest
FROM (WITH {", ".join(places)}
SELECT n.name AS object, x.name, f.id AS file, s.shape, coalesce(q.type, q.dtype) AS type, {",".join(chosen)}
FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout CROSS JOIN tensor AS x ON x.architecture = l.architecture CROSS JOIN name AS n ON n.id = x.name
     CROSS JOIN shape AS s ON s.id = x.shape CROSS JOIN kinds AS q ON q.id = x.kind{"".join(joins)}
WHERE f.id IN ({files}))"""


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


def _change(row, page):
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
        Column("object", "tensor", show=lambda row, page: words.shown(row["object"] or "(the file)", 300)), Column("part"), Column("change"),
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
    """The chosen models, and those that share most names with the base: a base model or its fine-tunes. Models of the same kind come first,
    and those with the same values last."""
    names = [name for name, in connection.execute(f"SELECT DISTINCT name FROM ({_tensors(base)}) ORDER BY name")]
    some = names[::-(-len(names) // NAMES) or 1]
    found = {}
    for row in rows(connection, f"""
            SELECT f.id, f.path, coalesce(f.fingerprint = ?2, 0) AS is_same, l.architecture = ?1 AS is_alike, c.shared
            FROM (SELECT architecture, count(*) AS shared FROM tensor WHERE name IN ({pairs.in_words(some)}) GROUP BY architecture
                  ORDER BY architecture = ?1 DESC, 2 DESC LIMIT {4 * OFFERED}) AS c
                 CROSS JOIN layout AS l ON l.architecture = c.architecture CROSS JOIN file AS f ON f.layout = l.id
            ORDER BY is_same, is_alike DESC, c.shared DESC, f.mtime, f.path LIMIT {4 * OFFERED}""", base["architecture"], base["fingerprint"]):
        number = min(pairs.model_of(connection, row["id"]))
        if number == base["id"] or number not in found and len(found) == OFFERED:
            continue
        model = found.setdefault(number, {"id": number, "is_same": row["is_same"], "is_alike": row["is_alike"], "shared": 0, "of": len(some)})
        model["shared"] += row["shared"]
    for other in chosen:
        found.setdefault(other["id"], {"id": other["id"], "shared": None})
    return [{**row, "path": whole(connection, number)["path"]} for number, row in
            sorted(found.items(), key=lambda item: (item[0] not in [other["id"] for other in chosen], item[1].get("is_same", False)))]
