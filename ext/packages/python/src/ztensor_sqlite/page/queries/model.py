"""A model, and a tensor of it."""
import re

from markupsafe import Markup

from ... import pairs
from ...pairs import in_words
from .. import words
from ..tables import Column, Table
from .checkpoints import checkpoints
from .findings import SEVERITIES
from .layers import strips, tree
from .overview import share
from .shared import FILE, counted, one, rows
from .whole import whole

LICENCE = re.compile(r"(?:^|[._: -])licen[sc]es?(?:[._: -]|$)", re.I)


def model(connection, parameters, file):
    """The model that a file belongs to."""
    found = whole(connection, file)
    if found is None:
        return None
    numbers = [part["id"] for part in found["files"]]
    files, several = in_words(numbers), len(found["files"]) > 1 or found["parts"] > 1
    stated = rows(connection, f"SELECT key, value FROM attribute WHERE file IN ({files}) AND key LIKE '%licen_e%' ORDER BY id LIMIT 20")
    of = [Column("path", "file", "path")] if several else []
    return {
        "title": _title(found["path"]), "file": found, "several": several,
        "licences": [row for row in stated if LICENCE.search(row["key"] or "") and row["value"] not in (None, "")],
        "tree": tree(connection, numbers, parameters.text("unfold") == "1"), "strips": strips(connection, numbers),
        "tensors": _tensors(files, of),
        "files": Table("files of the model", [
            Column("path", "file", "path"), Column("tensors", kind="number"), Column("bytes", kind="bytes"), Column("modified", kind="when"), Column("error", "why it cannot be read", "long")],
            f"""
                SELECT f.path, a.objects AS tensors, f.size AS bytes, datetime(f.mtime, 'unixepoch') AS modified, f.error
                FROM file AS f LEFT JOIN layout AS l ON l.id = f.layout LEFT JOIN architecture AS a ON a.id = l.architecture WHERE f.id IN ({files})""",
            order="path", size=20),
        "findings": Table("findings", [
            Column("severity", kind="severity", choices=SEVERITIES[:2]), Column("rule"), Column("message", kind="long"), Column("object", "tensor"),
            Column("component"), *of], f"""
                SELECT g.severity, g.rule, g.message, g.object, g.component, f.path, g.id AS finding
                FROM file AS f CROSS JOIN finding AS g ON g.file = f.id WHERE f.id IN ({files}) AND g.severity IS NOT 'note'""",
            order="severity finding", size=20),
        "types": Table("bytes by type", [
            Column("type"), Column("tensors", kind="number"), Column("bytes", kind="bytes"), share()], f"""
                SELECT type, tensors, bytes, round(100.0 * bytes / nullif(sum(bytes) OVER (), 0), 2) AS percent
                FROM (SELECT coalesce(k.type, k.dtype, 'not known') AS type, sum(s.objects) AS tensors, sum(s.bytes) AS bytes
                      FROM file AS f JOIN share AS s ON s.layout = f.layout JOIN kinds AS k ON k.id = s.kind WHERE f.id IN ({files}) GROUP BY 1)""",
            order="-bytes type", size=20, css="narrow"),
        "attributes": Table("attributes", [
            Column("key"), Column("value", kind="long"), Column("type"), *of], f"""
                SELECT a.key, CASE WHEN a.type IN ('null', 'true', 'false') THEN a.type ELSE a.value END AS value, a.type, f.path, a.id AS number
                FROM file AS f CROSS JOIN attribute AS a ON a.file = f.id WHERE f.id IN ({files})""", order="number", size=50),
        "runs": Table("runs", [
            Column("tracker"), Column("run"), Column("name"), Column("status"), Column("logged", kind="when"), *of], f"""
                SELECT r.tracker, r.run, r.name, r.status, datetime(r.logged, 'unixepoch') AS logged, f.path
                FROM file AS f CROSS JOIN host AS h ON h.id = f.host CROSS JOIN run_files AS r ON r.path = f.path AND r.host IN ('', h.name)
                WHERE f.id IN ({files})""", order="logged tracker run", size=20),
        "same": _others(connection, found, "SELECT id FROM file WHERE fingerprint = ? ORDER BY path LIMIT 50", found["fingerprint"]),
        "family": family(connection, found),
    }


GENERIC = re.compile(r"(model|pytorch_model|adapter_model|diffusion_pytorch_model|tf_model|flax_model|consolidated|checkpoint|weights|params)(\.\w+)*\.\w+")


def _title(path):
    """The name of the file, with its folder's if many files have the name."""
    words = re.split(r"[/\\]", path)
    return "/".join(words[-2 if GENERIC.fullmatch(words[-1]) else -1:])


def family(connection, found):
    """Models with the same names, types and shapes. Models that have been compared with it come first."""
    others = _others(connection, found, """
        SELECT f.id FROM layout AS l JOIN file AS f ON f.layout = l.id WHERE l.architecture = ? ORDER BY f.mtime, f.path LIMIT 50""",
                     found["architecture"])
    held = pairs.held(connection, [(min(other["id"], found["id"]), max(other["id"], found["id"])) for other in others])
    for other in others:
        other["compared"] = (min(other["id"], found["id"]), max(other["id"], found["id"])) in held
    return sorted(others, key=lambda other: not other["compared"])


def _others(connection, found, sql, *values):
    """The models of files, but for the one that was found."""
    numbers = dict.fromkeys(min(pairs.model_of(connection, number)) for number, in connection.execute(sql, values).fetchall())
    return [{"id": number, "path": whole(connection, number)["path"]} for number in numbers if number != found["id"]]


def reasons(row, page):
    """Why a tensor is suspect."""
    said = [("bad", f"{words.number(row['nans'])} NaN")] if row["nans"] else []
    said += [("bad", f"{words.number(row['infs'])} infinite")] if row["infs"] else []
    said += [("warn", "all zero" if row["elements"] else "empty")] if row["zeros"] is not None and row["zeros"] == row["elements"] else []
    return Markup(" ").join(Markup('<span class="{}">{}</span>').format(*one) for one in said) or ("" if row["error"] is None else
                                                                                                Markup('<span class="dim">{}</span>').format(words.shown(row["error"], 300)))


VALUES = [Column("min", kind="brief"), Column("max", kind="brief"), Column("mean", kind="brief"), Column("std", kind="brief"),
          Column("bins", "histogram", "bins")]


def _tensors(files, of):
    return Table("tensors", [
        Column("object", "tensor", link="model/{file}/{name}", css="name"), Column("type"), Column("shape"), Column("elements", kind="number"), Column("bytes", kind="bytes"), *VALUES,
        Column("zeros", kind="number"), Column("nans", "NaN", "number"), Column("infs", "infinite", "number"), Column("error", "suspect", show=reasons), *of,
        Column("file", hidden=True), Column("name", hidden=True)], f"""
            SELECT n.name AS object, coalesce(k.type, k.dtype) AS type, s.shape, {counted("s.elements")} AS elements,
                   {counted("o.stored_bytes")} AS bytes, t.min, t.max, t.mean, t.std, t.bins, t.zeros, t.nans, t.infs, t.error, f.path, f.id AS file,
                   n.id AS name, (SELECT min(offset) FROM part WHERE layout = o.layout AND name = o.name) AS stored
            FROM file AS f CROSS JOIN layout_objects AS o ON o.layout = f.layout JOIN name AS n ON n.id = o.name JOIN kinds AS k ON k.id = o.kind
                 JOIN shape AS s ON s.id = o.shape LEFT JOIN statistic AS t ON t.file = f.id AND t.name = o.name
            WHERE f.id IN ({files})""", order="path stored object", main=True)


def tensor(connection, parameters, file, name):
    found = one(connection, FILE, file)
    if found is None:
        return None
    this = one(connection, f"""
        SELECT n.name AS object, k.format, coalesce(k.type, k.dtype) AS type, s.shape, {counted("s.elements")} AS count, {counted("o.stored_bytes")} AS bytes,
               o.components, o.attributes, p.fingerprint, t.*
        FROM layout_objects AS o JOIN name AS n ON n.id = o.name JOIN kinds AS k ON k.id = o.kind JOIN shape AS s ON s.id = o.shape
             LEFT JOIN fingerprint AS p ON p.file = ?1 AND p.name = o.name LEFT JOIN statistic AS t ON t.file = ?1 AND t.name = o.name
        WHERE o.layout = ?2 AND o.name = ?3""", file, found["layout"], name)
    if this is None:
        return None
    run = checkpoints(connection, file, found["path"], name)
    place = {"file": file, "layout": found["layout"], "name": name, "data": found["data_offset"]}
    return {
        "title": this["object"], "file": found, "tensor": this, "number": name, **({"run": run[0], "steps": run[1]} if run else {}),
        "parts": Table("components", [
            Column("component"), Column("type"), Column("encoding"), Column("offset", kind="number"), Column("bytes", kind="number"), Column("digest", css="value"),
            Column("shard", "other file")], f"""
                SELECT s.component, coalesce(CASE WHEN k.format GLOB 'gguf.*' THEN k.type END, s.type, s.dtype) AS type, s.encoding,
                       CASE WHEN p.shard IS NULL THEN p.offset + :data ELSE p.offset END AS offset, {counted("p.length")} AS bytes,
                       coalesce(d.stated, d.algorithm || ':' || lower(hex(d.value))) AS digest, p.shard
                FROM part AS p JOIN storage AS s ON s.id = p.storage JOIN layout_objects AS o ON o.layout = p.layout AND o.name = p.name
                     JOIN kinds AS k ON k.id = o.kind LEFT JOIN digest AS d ON d.file = :file AND d.name = p.name AND d.storage = p.storage
                WHERE p.layout = :layout AND p.name = :name""", place, order="component", size=20),
        "findings": rows(connection, """
            SELECT component, severity, rule, message FROM finding WHERE file = ? AND object = ? AND severity IS NOT 'note'
            ORDER BY severity, id""", file, this["object"]),
        "copies": Table("the same values elsewhere", [
            Column("tensor", link="model/{file}/{name}", css="name"), Column("path", "file", "path", link="model/{file}"), Column("file", hidden=True), Column("name", hidden=True)], """
                SELECT n.name AS tensor, f.path, f.id AS file, n.id AS name
                FROM fingerprint AS p JOIN file AS f ON f.id = p.file JOIN name AS n ON n.id = p.name
                WHERE p.fingerprint = :fingerprint AND NOT (p.file = :file AND p.name = :name)""",
            {"fingerprint": this["fingerprint"], "file": file, "name": name}, order="path tensor", size=20),
        "others": Table("the same tensor in models of the same kind", [
            Column("path", "file", "path", link="model/{file}/{name}"), Column("modified", kind="when"), *VALUES, Column("nans", "NaN", "number"),
            Column("file", hidden=True), Column("name", hidden=True)], """
                SELECT f.path, datetime(f.mtime, 'unixepoch') AS modified, t.min, t.max, t.mean, t.std, t.bins, t.nans, f.id AS file, t.name
                FROM layout AS l JOIN file AS f ON f.layout = l.id JOIN statistic AS t ON t.file = f.id AND t.name = :name
                WHERE l.architecture = :architecture AND f.id <> :file""",
            {"name": name, "architecture": found["architecture"], "file": file}, order="modified path", size=20),
    }
