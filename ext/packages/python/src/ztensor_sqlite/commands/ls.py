"""`ztensor-sql ls`"""
import click

from .. import output
from ..session import quote
from . import options

FILES = ["path", "container", "version", ("size", output.BYTES), "objects", ("stored_bytes", output.BYTES), "error"]
TENSORS = ["path", "object", "format", "dtype", "type", ("shape", output.JSON), ("stored_bytes", output.BYTES)]


@click.command("ls")
@options.SOURCES
@click.option("-t", "--tensors", is_flag=True, help="List the tensors of all files instead of the files.")
@options.rows
def command(sources, tensors, view):
    """List files, or the tensors of one file."""
    source = options.source_of(sources)
    session = view.session()
    single = options.is_single(session, source)
    if single or tensors:
        return options.show_tensors(session, view, "zt_objects", TENSORS, source, single)
    rows = session.run(f"SELECT path, container, version, size, objects, stored_bytes, error FROM zt_files({quote(source)})")
    view.show(FILES, rows)
    return int(any(row[-1] is not None for row in rows))
