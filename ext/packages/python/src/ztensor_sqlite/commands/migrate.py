"""`ztensor-sql migrate`"""
import click

from .. import output
from ..session import Session, Trouble
from ..sources import Source
from . import options

FILES = ["path", "version", "new_version", ("size", output.BYTES), ("new_size", output.BYTES), "error"]


@click.command("migrate", short_help="Replace zTensor files of old generations.")
@options.SOURCES
@click.option("--write", is_flag=True, help="Replace the files. Without it, they are only listed.")
@options.ALIGN
@options.form
def command(sources, write, align, view):
    """Replace zTensor files of the generations 0.1 to 1.2, each in its place, by files of zTensor 2.

    Without --write, the files are listed, with the error of each that cannot be migrated. Each is first written beside the old one,
    and replaces it only if it has the same values and attributes. Compressed tensors stay compressed. Other files are left alone.
    Status 1 if a file is left as it is, because of an error.
    """
    from .. import writing

    source = Source(*sources)
    session = Session(show=view.show_sql, write=True)
    source.is_single(session)
    rows = []
    with view.progress(session)("migrate") as bar:
        found = writing.old(session, source.sql)
        bar.total(len(found))
        for path, version, size, error in found:
            rows.append(_migrated(session, writing, path, version, size, error, write, align))
            bar.advance()
    view.show(FILES, rows)
    failed = sum(row[-1] is not None for row in rows)
    done, rest = ("migrated", "") if write or len(rows) == failed else ("to migrate", "; --write replaces them")
    view.say(f"{output.counted(len(rows) - failed, 'file')} {done}, {failed} left as {'they are' if failed != 1 else 'it is'}{rest}")
    return int(failed > 0)


command.columns = [column if isinstance(column, str) else column[0] for column in FILES]


def _migrated(session, writing, path, version, size, error, write, align):
    if error is None:
        try:
            (writing.migrate if write else writing.can_migrate)(session, path, align)
        except Exception as reason:
            if not isinstance(reason, (Trouble, OSError)) and type(reason).__module__ not in ("sqlite3", "apsw", "_apsw"):
                raise
            error = str(reason)
    done = write and error is None
    new = session.run("SELECT version, size FROM zt_files(" + writing.quote(path) + ")")[0] if done else (None if error else "2", None)
    return path, version, new[0], size, new[1], error
