"""The overview of a collection: first what to act on, then what there is."""
from markupsafe import Markup

from .. import charts
from ..tables import Column, Kept, Table
from . import duplicates, findings
from .shared import one, remembered, rows

FILE = Column("file", hidden=True)


def overview(connection, parameters):
    return {
        "title": "Overview", **remembered(connection, _totals),
        "suspects": Kept.rows(connection, findings.SUSPECTS, {}, """
            SELECT severity, sum(coalesce(nans, 0) > 0) AS nans, sum(coalesce(infs, 0) > 0 AND coalesce(nans, 0) = 0) AS infs, count(*) AS tensors,
                   count(DISTINCT file) AS files FROM {} GROUP BY severity ORDER BY min(rank)"""),
        "spare": duplicates.totals(connection),
        "largest": Table("the largest models", [
            Column("path", "model", "path", link="model/{file}"), Column("container", "format"), Column("parameters", kind="large"),
            Column("bytes", kind="bytes"), FILE], """
                SELECT w.path, w.container, w.parameters, w.size AS bytes, w.file FROM whole_models AS w""", order="-bytes path", size=5, kept=True),
        "types": Table("bytes by type", [
            Column("type"), Column("tensors", kind="number"), Column("bytes", kind="bytes"), share()], """
                SELECT coalesce(type, dtype, 'not known') AS type, sum(objects) AS tensors, sum(bytes) AS bytes, round(sum(percent), 2) AS percent
                FROM dtype_totals GROUP BY 1""", order="-bytes type", kept=True, size=30, css="narrow"),
        "formats": Table("formats and their versions", [
            Column("format"), Column("version"), Column("files", kind="number"), Column("tensors", kind="number"), Column("bytes", kind="bytes")], """
                SELECT container AS format, version, files, objects AS tensors, stored_bytes AS bytes FROM generations""",
            order="-files format version", kept=True, size=30, css="narrow"),
        "rules": Table("findings by rule", [
            Column("rule", link="findings?rule={rule}"), Column("severity", kind="severity", choices=findings.SEVERITIES[:2]),
            Column("findings", kind="number"), Column("files", kind="number")], """
                SELECT rule, severity, count(*) AS findings, count(DISTINCT file) AS files FROM finding
                WHERE severity IS NOT 'note' GROUP BY rule, severity""", order="severity -findings rule", kept=True, size=20, css="narrow"),
        "sources": Table("collections", [
            Column("source", kind="path"), Column("host", "machine"), Column("files", kind="number"), Column("broken", "unreadable", "number"),
            Column("unsupported", kind="number"), Column("bytes", kind="bytes"), Column("refreshed", "last change", "when")], """
                SELECT source, host, files, broken, unsupported, bytes, refreshed FROM sources""", order="source host", kept=True, size=20),
        "changes": Table("the latest changes", [
            Column("at", "when", "when"), Column("change"), Column("path", "file", "path", link="model/{file}"), Column("was", "was before", "path"),
            FILE], """
                SELECT datetime(CASE WHEN c.at < 100000000000 THEN c.at ELSE c.at / 1000 END, 'unixepoch') AS at, c.change, c.path, c.was,
                       f.id AS file, c.id AS number
                FROM change AS c LEFT JOIN file AS f ON f.host = c.host AND f.path = c.path""", order="-number", size=10),
    }


def share(name="percent"):
    """A column with a bar."""
    return Column(name, "share", "number", css="chart", show=lambda row, page: _share(row[name] or 0))


def _share(percent):
    said = f"{percent:.1f} %"
    return Markup('<div class="share">{}<span>{}</span></div>').format(charts.bar(percent / 100, said), said)


def _totals(connection):
    return {
        "total": one(connection, """
            SELECT files, broken, unsupported, others, bytes_on_disk AS bytes, objects AS tensors, parameters,
                   (SELECT count(*) FROM file WHERE error IS NULL AND id NOT IN (SELECT file FROM measured)) AS unmeasured,
                   (SELECT count(*) FROM file WHERE error IS NULL AND checked IS NULL) AS unchecked,
                   (SELECT count(*) FROM file WHERE error IS NULL AND fingerprinted IS NULL) AS unprinted
            FROM totals"""),
        "unreadable_kinds": rows(connection, """
            SELECT f.error_kind AS kind, count(*) AS files FROM troubles AS t JOIN file AS f ON f.id = t.file WHERE t.trouble = 'broken'
            GROUP BY 1 ORDER BY 2 DESC"""),
        "severities": rows(connection, """
            SELECT severity, count(*) AS findings, count(DISTINCT file) AS files FROM finding WHERE severity IS NOT 'note'
            GROUP BY severity ORDER BY severity"""),
        "incomplete": one(connection, "SELECT count(*) AS models FROM whole_models WHERE missing IS NOT NULL"),
        "licences": one(connection, """
            SELECT count(*) AS files, (SELECT count(*) FROM unlicensed_files) AS without FROM file WHERE error IS NULL"""),
    }
