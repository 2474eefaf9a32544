"""One tensor over the checkpoints of a run. They are files whose paths differ in one number alone, the step."""
import re

from ... import pairs
from .. import charts
from ..tables import Column, Table
from .layers import mark
from .shared import rows

MOST = 500      # Checkpoints of a curve
COMPARED = 8    # That are compared with the first at once
NUMBERS = re.compile(r"([0-9]{1,15})")


def run_of(connection, file, path, name):
    """The checkpoints of the run that a file belongs to, which have a tensor of this name: [(step, file)], by their steps."""
    own, found = NUMBERS.split(path), {}
    if len(own) == 1:
        return []
    # Whole paths differ in one place: candidates begin as the path does, up to its first number
    for number, other in connection.execute("""
            SELECT f.id, f.path FROM file AS f CROSS JOIN layout AS l ON l.id = f.layout
            WHERE f.path >= ?1 AND f.path < ?1 || char(1114111) AND f.host = (SELECT host FROM file WHERE id = ?2)
              AND EXISTS (SELECT 1 FROM tensor AS t WHERE t.architecture = l.architecture AND t.name = ?3)""", (own[0], file, name)):
        words = NUMBERS.split(other)
        if len(words) == len(own):
            differ = [i for i, (word, mine) in enumerate(zip(words, own)) if word != mine]
            for place in differ if len(differ) == 1 else [] if differ else range(1, len(own), 2):
                if place % 2:
                    found.setdefault(place, {})[int(words[place]), number] = None
    steps = max(found.items(), key=lambda item: (len(item[1]), item[0]), default=(0, {}))[1]
    return sorted(steps) if len({step for step, _ in steps}) > 1 else []


def checkpoints(connection, file, path, name):
    """The curves of a tensor and their table; None if the file belongs to no run."""
    run = run_of(connection, file, path, name)
    if not run:
        return None
    count = len(run)
    run = [run[i * count // MOST] for i in range(MOST)] if count > MOST else run
    places = pairs.held(connection, [(min(a, b), max(a, b)) for (_, a), (_, b) in zip(run, run[1:])])
    source = _source(run, places, name)
    found = rows(connection, f"SELECT * FROM ({source}) ORDER BY number")
    first = found[0]["file"]
    others = [row["file"] for row in found if row["file"] != first]
    chosen = others if len(others) <= COMPARED else [others[(i + 1) * len(others) // COMPARED - 1] for i in range(COMPARED)]
    return {
        "count": count, "shown": len(found), "curves": [(title, charts.curve(_points(found, key, kind), title)) for title, key, kind in (
            ("std", "std", mark), ("norm", "norm", mark), ("mean", "mean", mark), ("distance from the checkpoint before", "distance", _distance_mark))],
        "compare": f"compare?a={first}&b={','.join(map(str, chosen))}", "compared": len(chosen),
    }, Table("the tensor over the checkpoints", [
        Column("step", kind="number"), Column("path", "file", "path", link="model/{file}/{name}"), Column("std", kind="brief"), Column("norm", kind="brief"),
        Column("mean", kind="brief"), Column("min", kind="brief"), Column("max", kind="brief"), Column("nans", "NaN", "number"),
        Column("infs", "infinite", "number"), Column("distance", "distance from the one before", "brief"), Column("file", hidden=True), Column("name", hidden=True)],
        source, order="number", size=50)


def _source(run, places, name):
    listed = ",\n            ".join(f"({number}, {step}, {file}, {before})" for number, ((step, file), before) in enumerate(
        zip(run, ["NULL"] + [file for _, file in run])))
    return f"""WITH run(number, step, file, before) AS (
     VALUES {listed}),
     d AS MATERIALIZED ({pairs.distances(places, name)})
SELECT r.number, r.step, f.path, t.std, t.l2 AS norm, t.mean, t.min, t.max, t.nans, t.infs, t.elements, t.error, t.file IS NOT NULL AS is_measured,
       CASE WHEN d.change = 'same' THEN 0.0 ELSE sqrt(d.square) END AS distance, d.change, d.nans AS pairs_nan, r.file, {name} AS name
FROM run AS r JOIN file AS f ON f.id = r.file LEFT JOIN statistic AS t ON t.file = r.file AND t.name = {name}
     LEFT JOIN d ON d.a = min(r.file, r.before) AND d.b = max(r.file, r.before)"""


def _points(found, key, kind):
    """Points for a curve. If two files have one step, they are where their places in the order are."""
    steps = [row["step"] for row in found]
    across = steps if len(set(steps)) == len(steps) else range(len(steps))
    return [(f"step {row['step']:,}", x, row[key], kind(row)) for x, row in zip(across, found)]


def _distance_mark(row):
    if row["pairs_nan"]:
        return f"NaN in {row['pairs_nan']:,} pairs"
    return None if row["distance"] is not None else "the first one" if row["number"] == 0 else row["change"] or "not compared"
