"""`ztensor-sql check`"""
import click

from .. import output
from ..session import quote
from ..sources import Source
from . import options

FINDINGS = ["path", "object", "component", "severity", "rule", "message"]


@click.command("check")
@options.SOURCES
@click.option("--full", is_flag=True, help="Read every byte: digests, padding, compressed data, indices of sparse tensors.")
@click.option("--notes", is_flag=True, help="Also list tensors without values, such as text, and the reason.")
@options.rows
def command(sources, full, notes, view):
    """Check files against their formats' rules. Status 1 if there is an error.

    A tensor without values, such as text, is a note, not a finding: nothing is wrong with it. --name and --dtype leave findings
    that concern whole files.
    """
    source = Source(*sources)
    session = view.session()
    source.is_single(session)
    found = {"error": 0, "warning": 0, "note": 0}

    def counted():
        for row in session.rows(f"SELECT path, object, component, severity, rule, message FROM zt_check({source.sql}, {quote('full' if full else 'quick')})"
                                f" AS c WHERE {_selected(view)}"):
            found[row[3]] += 1
            if notes or row[3] != "note":
                yield row

    def count(severity):
        return output.counted(found[severity], severity), severity if found[severity] else None

    rows = counted()
    view.show(FINDINGS, rows, view.reading(session, "check", f"SELECT total(size) FROM zt_files({source.sql})") if full else None)
    for _ in rows:   # Those that --top leaves out count, too
        pass
    files = session.value(f"SELECT count(path) FROM zt_files({source.sql})")
    rest = f" ({count('note')[0]}{'' if notes else ': --notes'})" if found["note"] else ""
    view.say(f"{output.counted(files, 'file')}: ", count("error"), ", ", count("warning"), rest)
    return int(found["error"] > 0)


command.columns = FINDINGS


def _selected(view):
    """SQL that is true for the selected findings in the rows c of zt_check."""
    if not view.is_selective:
        return "1"
    wanted = view.names("c.object")
    if view.dtype is not None:
        wanted += f" AND EXISTS (SELECT 1 FROM zt_objects(c.path, 'skip') AS o WHERE o.object = c.object AND {view.condition('o.object')})"
    return f"(c.object IS NULL OR {wanted})"
