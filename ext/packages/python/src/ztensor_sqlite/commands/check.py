"""`ztensor-sql check`"""
import click

from .. import models, output
from ..session import quote
from ..sources import Source
from . import options

FINDINGS = ["path", "object", "component", "severity", "rule", "message"]


@click.command("check", short_help="Check files and models against their rules.")
@options.SOURCES
@click.option("--full", is_flag=True, help="Read every byte: digests, padding, compressed data, indices of sparse tensors.")
@click.option("--values", is_flag=True, help="Read every value, and find tensors with NaN, infinities, or nothing but zeros, the worst first.")
@click.option("--notes", is_flag=True, help="Also list tensors without values, such as text, and the reason; and vectors of zeros.")
@options.rows
def command(sources, full, values, notes, view):
    """Check files against their formats' rules, and models of several files against their index. Status 1 if there is an error.

    Findings about whole models come first: missing files, tensors that are in another file, a wrong total_size. With --values, NaN is
    an error, and infinities and matrices of zeros are warnings. A tensor without values, such as text, is a note, not a finding:
    nothing is wrong with it. --name and --dtype leave findings that concern whole files, and those of files that cannot be read.
    """
    source = Source(*sources)
    session = view.session()
    found_models, indexes = models.survey(session, source.text)
    files = _files(session, source, found_models, indexes)
    found = {"error": 0, "warning": 0, "note": 0}
    hidden = []

    def counted():
        for row in _findings(session, found_models, indexes, files, full, values, view):
            found[row[3]] += 1
            if notes or row[3] != "note" or row[4] == "zero-lora-b":
                yield row
            else:
                hidden.append(row[4])

    def count(severity):
        return output.counted(found[severity], severity), severity if found[severity] else None

    rows = counted()
    view.show(FINDINGS, rows, view.reading(session, "check", f"SELECT total(size) FROM zt_files({quote(files)})") if full or values else None)
    for _ in rows:   # Those that --top leaves out count, too
        pass
    if not any(found.values()) and found_models:
        view.must_match(session, Source(*found_models[0].files) if source.text in indexes else source)
    count_of_files = session.value(f"SELECT count(path) FROM zt_files({quote(files)})")
    rest = f" ({count('note')[0]}{': --notes' if hidden else ''})" if found["note"] else ""
    view.say(f"{output.counted(count_of_files, 'file')}: ", count("error"), ", ", count("warning"), rest)
    return int(found["error"] > 0)


command.columns = FINDINGS


def _files(session, source, found, indexes):
    """The source, or the files that an index names. A source without any file is an error, unless an index has lost them."""
    if source.text in indexes:
        return found[0].source if found else "[]"
    if not found:
        source.is_single(session)
    return source.text


def _findings(session, found, indexes, files, full, values, view):
    """Those about whole models, then those of zt_check, then those about values."""
    from .. import findings

    for row in findings.of_models(session, found, indexes):
        if row[1] is None or session.value(f"SELECT {view.names(quote(row[1]))}"):
            yield row
    level = "full" if full else "quick"
    yield from session.rows(f"SELECT path, object, component, severity, rule, message FROM zt_check({quote(files)}, {quote(level)}) AS c"
                            f" WHERE {_selected(view, files)}")
    if values:
        yield from findings.of_values(session, files, view.condition("o.object"))


def _selected(view, files):
    """SQL that is true for the selected findings in the rows c of zt_check. A file that cannot be read may have any tensor."""
    if not view.is_selective:
        return "1"
    wanted = view.names("c.object")
    if view.dtype is not None:
        wanted += f" AND EXISTS (SELECT 1 FROM zt_objects(c.path, 'skip') AS o WHERE o.object = c.object AND {view.condition('o.object')})"
    return f"(c.object IS NULL OR {wanted} OR c.severity = 'error' AND c.path IN (SELECT path FROM zt_files({quote(files)}) WHERE error IS NOT NULL))"
