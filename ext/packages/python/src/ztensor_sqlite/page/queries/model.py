"""A model, and a tensor of it."""
import os
import re

from markupsafe import Markup

from .. import words
from ..tables import Column, Table
from .findings import SEVERITIES
from .overview import share
from .shared import FILE, counted, one, rows

LICENCE = re.compile(r"(?:^|[._: -])licen[sc]es?(?:[._: -]|$)", re.I)


def model(connection, parameters, file):
    found = one(connection, FILE, file)
    if found is None:
        return None
    layout = {"file": file, "layout": found["layout"]}
    stated = rows(connection, "SELECT key, value FROM attribute WHERE file = ? AND key LIKE '%licen_e%' ORDER BY id LIMIT 20", file)
    return {
        "title": os.path.basename(found["path"]), "file": found,
        "licences": [row for row in stated if LICENCE.search(row["key"] or "") and row["value"] not in (None, "")],
        "tensors": _tensors(layout),
        "findings": Table("findings", [
            Column("severity", kind="severity", choices=SEVERITIES[:2]), Column("rule"), Column("message", kind="long"), Column("object", "tensor"),
            Column("component")], """
                SELECT severity, rule, message, object, component, id AS finding FROM finding WHERE file = :file AND severity IS NOT 'note'""",
            {"file": file}, order="severity finding", size=20),
        "types": Table("bytes by type", [
            Column("type"), Column("tensors", kind="number"), Column("bytes", kind="bytes"), share()], """
                SELECT type, tensors, bytes, round(100.0 * bytes / nullif(sum(bytes) OVER (), 0), 2) AS percent
                FROM (SELECT coalesce(k.type, k.dtype, 'not known') AS type, sum(s.objects) AS tensors, sum(s.bytes) AS bytes
                      FROM share AS s JOIN kinds AS k ON k.id = s.kind WHERE s.layout = :layout GROUP BY 1)""",
            {"layout": found["layout"]}, order="-bytes type", size=20, css="narrow"),
        "attributes": Table("attributes", [
            Column("key"), Column("value", kind="long"), Column("type")], """
                SELECT key, CASE WHEN type IN ('null', 'true', 'false') THEN type ELSE value END AS value, type, id AS number
                FROM attribute WHERE file = :file""", {"file": file}, order="number", size=50),
        "runs": Table("runs", [
            Column("tracker"), Column("run"), Column("name"), Column("status"), Column("logged", kind="when")], """
                SELECT tracker, run, name, status, datetime(logged, 'unixepoch') AS logged FROM run_files
                WHERE path = :path AND host IN ('', :host)""", {"path": found["path"], "host": found["host_name"]}, order="logged tracker run", size=20),
        "same": rows(connection, "SELECT id, path FROM file WHERE fingerprint = ? AND id <> ? ORDER BY path LIMIT 50", found["fingerprint"], file),
        "family": family(connection, found),
    }


def family(connection, found):
    """Files with the same names, types and shapes. Files that have been compared with it come first."""
    return rows(connection, """
        SELECT f.id, f.path, f.mtime, p.at IS NOT NULL AS compared
        FROM layout AS l JOIN file AS f ON f.layout = l.id LEFT JOIN pair AS p ON p.a = min(f.id, ?1) AND p.b = max(f.id, ?1)
        WHERE l.architecture = ?2 AND f.id <> ?1 ORDER BY p.at IS NULL, f.mtime, f.path LIMIT 50""", found["id"], found["architecture"])


def reasons(row, page):
    """Why a tensor is suspect."""
    said = [("bad", f"{words.number(row['nans'])} NaN")] if row["nans"] else []
    said += [("bad", f"{words.number(row['infs'])} infinite")] if row["infs"] else []
    said += [("warn", "all zero" if row["elements"] else "empty")] if row["zeros"] is not None and row["zeros"] == row["elements"] else []
    return Markup(" ").join(Markup('<span class="{}">{}</span>').format(*one) for one in said) or ("" if row["error"] is None else
                                                                                                Markup('<span class="dim">{}</span>').format(words.shown(row["error"], 300)))


VALUES = [Column("min", kind="brief"), Column("max", kind="brief"), Column("mean", kind="brief"), Column("std", kind="brief"),
          Column("bins", "histogram", "bins")]


def _tensors(values):
    return Table("tensors", [
        Column("object", "tensor", link="model/{file}/{name}", css="name"), Column("type"), Column("shape"), Column("elements", kind="number"), Column("bytes", kind="bytes"), *VALUES,
        Column("zeros", kind="number"), Column("nans", "NaN", "number"), Column("infs", "infinite", "number"), Column("error", "suspect", show=reasons),
        Column("file", hidden=True), Column("name", hidden=True)], f"""
            SELECT n.name AS object, coalesce(k.type, k.dtype) AS type, s.shape, {counted("s.elements")} AS elements,
                   {counted("o.stored_bytes")} AS bytes, t.min, t.max, t.mean, t.std, t.bins, t.zeros, t.nans, t.infs, t.error, :file AS file, n.id AS name,
                   (SELECT min(offset) FROM part WHERE layout = o.layout AND name = o.name) AS stored
            FROM layout_objects AS o JOIN name AS n ON n.id = o.name JOIN kinds AS k ON k.id = o.kind JOIN shape AS s ON s.id = o.shape
                 LEFT JOIN statistic AS t ON t.file = :file AND t.name = o.name
            WHERE o.layout = :layout""", values, order="stored object", main=True)


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
    place = {"file": file, "layout": found["layout"], "name": name, "data": found["data_offset"]}
    return {
        "title": this["object"], "file": found, "tensor": this, "number": name,
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
