"""`ztensor-sql export`"""
import sys

import click

from ..session import Session
from . import options


@click.command("export")
@click.argument("source")
@click.argument("tensor")
@click.argument("out")
@click.option("--dtype", help="Convert the values: f32, f16, i8, ... The default is the tensor's own type, if numpy has it.")
@options.SQL
def command(source, tensor, out, dtype, show):
    """Write a tensor to a numpy file (.npy)."""
    from .. import npy

    session = Session(show=show)
    options.is_single(session, source)
    written, shape = npy.export(session, source, tensor, out, dtype)
    print(f"{out}: {written}{shape}", file=sys.stderr)
