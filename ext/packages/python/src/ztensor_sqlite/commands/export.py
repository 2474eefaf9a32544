"""`ztensor-sql export`"""
import click

from ..sources import Source
from . import options


@click.command("export", short_help="Write a tensor to a numpy file or to stdout.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=options.complete_source_or_name)
@click.argument("tensor")
@click.argument("out")
@click.option("--dtype", metavar="TYPE", shell_complete=options.complete_dtype,
              help="Convert the values: f32, float16, torch.int8, '<f8', ... The default is the tensor's own type, if numpy has it.")
@options.SQL
@options.QUIET
@options.REMOTE
def command(sources, tensor, out, dtype, show, quiet):
    """Write a tensor to a numpy file (.npy). If OUT is `-`, its bytes go to stdout.

    In a folder, or among several files, the tensor is searched by its name.
    """
    from .. import npy

    view = options.View(quiet=quiet, show=show)
    session = view.session()
    written, shape = npy.export(session, Source(*sources), tensor, out, dtype, view.progress(session))
    view.say(f"{'stdout' if out == npy.STDOUT else out}: {written}{shape}")
