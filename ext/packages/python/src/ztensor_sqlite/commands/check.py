"""`ztensor-sql check`"""
import click

from ..session import quote
from . import options

FINDINGS = ["path", "object", "component", "severity", "rule", "message"]


@click.command("check")
@options.SOURCES
@click.option("--full", is_flag=True, help="Read every byte: digests, padding, compressed data, indices of sparse tensors.")
@click.option("--notes", is_flag=True, help="Also list tensors without values, such as text, and the reason.")
@options.rows
def command(sources, full, notes, view):
    """Check files against their formats' rules. Status 1 if there is an error.

    A tensor without values, such as text, is a note, not a finding: nothing is wrong with it.
    """
    source = options.source_of(sources)
    session = view.session()
    options.is_single(session, source)
    level = "full" if full else "quick"
    found = {"error": 0, "warning": 0, "note": 0}

    def counted():
        for row in session.rows(f"SELECT path, object, component, severity, rule, message FROM zt_check({quote(source)}, {quote(level)})"):
            found[row[3]] += 1
            if notes or row[3] != "note":
                yield row

    def count(severity):
        return f"{found[severity]} {severity}{'s' * (found[severity] != 1)}"

    view.show(FINDINGS, counted())
    files = session.value(f"SELECT count(path) FROM zt_files({quote(source)})")
    rest = f" ({count('note')}{'' if notes else ': --notes'})" if found["note"] else ""
    view.say(f"{files} file{'s' * (files != 1)}: {count('error')}, {count('warning')}{rest}")
    return int(found["error"] > 0)
