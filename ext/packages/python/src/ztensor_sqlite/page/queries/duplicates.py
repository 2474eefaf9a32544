"""Contents with several copies."""
import json
import re

from markupsafe import Markup

from ..tables import Column, Kept, Table

FILE = Column("file", hidden=True)
NAMES = 5   # So many copies of a model are named in its line

CONTENTS = """
    SELECT d.object AS tensor, d.type, d.length AS bytes, d.copies, d.files, d.spare_bytes AS spare, d.evidence, d.first_path, d.last_path, d.digest
    FROM duplicates AS d"""

# Copies are places: several names of one file are one. The bytes of a model are those of its files and of the other files that hold its
# tensors. Other files that several copies share are not wasted.
MODELS = f"""
    WITH place AS (
      SELECT fingerprint, min(path) AS path, file, container, size, count(*) AS names,
             size + (SELECT coalesce(sum(x.size), 0) FROM external AS x WHERE x.file = w.file) AS bytes
      FROM whole_models AS w WHERE fingerprint IS NOT NULL GROUP BY fingerprint, place
    ), same AS (
      SELECT * FROM (SELECT *, count(*) OVER copies AS copies, row_number() OVER (copies ORDER BY path) AS number FROM place
                     WINDOW copies AS (PARTITION BY fingerprint))
      WHERE copies > 1
    ), others AS (
      SELECT fingerprint, sum(size) AS bytes
      FROM (SELECT DISTINCT s.fingerprint, x.path, x.size FROM same AS s JOIN external AS x ON x.file = s.file) GROUP BY fingerprint
    )
    SELECT min(s.path) AS path, count(*) AS copies, sum(names) AS names, group_concat(DISTINCT s.container) AS formats, max(s.bytes) AS bytes,
           sum(s.size) + coalesce(o.bytes, 0) - max(s.bytes) AS spare,
           json_group_array(json_array(s.file, s.path)) FILTER (WHERE number <= {NAMES}) AS models, s.fingerprint
    FROM same AS s LEFT JOIN others AS o ON o.fingerprint = s.fingerprint GROUP BY s.fingerprint"""


def duplicates(connection, parameters):
    return {
        "title": "Duplicates", "spare": totals(connection), "kinds": kinds(connection),
        "models": Table("models with several copies", [
            Column("models", show=_models, css="name"), Column("copies", kind="number"), Column("names", kind="number"), Column("formats"), Column("bytes", "bytes of one", "bytes"),
            Column("spare", "wasted", "bytes"), Column("fingerprint", hidden=True)], MODELS, order="-spare path", kept=True, size=20, main=True),
        "contents": Table("contents with several copies", [
            Column("tensor", link="copies?digest={digest}", css="name"), Column("type"), Column("bytes", "bytes of one", "bytes"), Column("copies", kind="number"),
            Column("files", kind="number"), Column("spare", "wasted", "bytes"), Column("first_path", "one copy", "path"),
            Column("last_path", "another", "path"), Column("evidence", choices=("proof", "values", "candidate")), Column("digest", css="value")],
            CONTENTS, order="-spare digest", kept=True)}


def _models(row, page):
    """The copies, each on its line."""
    models = json.loads(row["models"])
    lines = [Markup('<a href="{}/model/{}">{}</a>').format(page["base"], file, page["short"](path)) for file, path in models]
    if row["copies"] > len(models):
        lines.append(Markup('<a href="{}/copies?model={}">{} more</a>').format(page["base"], row["fingerprint"], row["copies"] - len(models)))
    return Markup("<br>").join(lines)


def copies(connection, parameters):
    """The places of a content, or the copies of a model."""
    if parameters.text("model"):
        return _found(connection, parameters, parameters.text("model"), "Copies of a model", [
            Column("path", "model", "path", link="model/{file}"), Column("container", "format"), Column("version"), Column("bytes", kind="bytes"), FILE],
            """
            SELECT path, container, version, size AS bytes, file FROM same_models WHERE fingerprint = :fingerprint""",
            {"fingerprint": parameters.text("model")}, "path")
    digest = parameters.text("digest")
    algorithm, _, value = digest.partition(":")
    data = bytes.fromhex(value) if re.fullmatch("([0-9a-f]{2})+", value) else b""
    return _found(connection, parameters, digest, "Copies", [
        Column("tensor", link="model/{file}/{name}", css="name"), Column("path", "file", "path", link="model/{file}"), Column("component"), FILE,
        Column("name", hidden=True)], """
            SELECT n.name AS tensor, f.path, s.component, f.id AS file, n.id AS name
            FROM digest AS d JOIN file AS f ON f.id = d.file JOIN name AS n ON n.id = d.name JOIN storage AS s ON s.id = d.storage
            WHERE d.value = :value AND d.algorithm = :algorithm
              AND NOT EXISTS (SELECT 1 FROM refuted_digests AS r WHERE r.file = d.file AND r.name = d.name AND r.storage = d.storage)
            UNION ALL
            SELECT n.name, f.path, NULL, f.id, n.id
            FROM fingerprint AS p JOIN file AS f ON f.id = p.file JOIN name AS n ON n.id = p.name
            WHERE p.fingerprint = :digest""", {"value": data, "algorithm": algorithm, "digest": digest}, "path tensor component")


def _found(connection, parameters, digest, title, columns, source, values, order):
    if not connection.execute(f"SELECT 1 FROM ({source}) LIMIT 1", values).fetchone():
        return None
    return {"title": title, "digest": digest, "copies": Table("copies", columns, source, values, order=order, main=True)}


def totals(connection):
    (found,) = Kept.rows(connection, CONTENTS, {}, "SELECT count(*) AS contents, coalesce(sum(spare), 0) AS bytes FROM {}")
    (models,) = Kept.rows(connection, MODELS, {}, "SELECT count(*) AS models, coalesce(sum(copies), 0) AS copies, coalesce(sum(spare), 0) AS bytes FROM {}")
    return {**found, "models": models}


def kinds(connection):
    return Kept.rows(connection, CONTENTS, {}, "SELECT evidence, count(*) AS contents, sum(spare) AS bytes FROM {} GROUP BY 1 ORDER BY 3 DESC")
