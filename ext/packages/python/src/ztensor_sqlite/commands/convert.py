"""`ztensor-sql convert`"""
import os

import click

from .. import dtypes, models, output
from ..session import Session, Trouble, quote
from ..sources import STDIN, Source
from . import options

FILES = ["path", "container", "version", "tensors", "parameters", ("size", output.BYTES)]
FORMATS = ["ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npy", "npz"]


@click.command("convert", short_help="Write models into one file of any format.")
@options.SOURCES
@click.argument("target", metavar="DST", type=click.Path())
@click.option("--format", type=click.Choice(FORMATS), help="The format. The default is by DST's name: .zt is ztensor-2.")
@click.option("--dtype", "wanted_dtype", metavar="TYPE", shell_complete=options.complete_dtype,
              help="Convert floats and quantized tensors to this type. Integers and booleans stay.")
@click.option("--dense", is_flag=True, help="Fill in the zeros of sparse tensors, and make quantized ones f32, or what --dtype says.")
@click.option("--compress", is_flag=True, help="Compress: zstd in zTensor, deflate in npz.")
@click.option("--level", type=int, metavar="N", help="Of compression: 1 to 22 for zstd, 1 to 9 for deflate.")
@click.option("--digest", metavar="ALGORITHM", help="Of zTensor: xxh3, sha256, crc32c or none.")
@options.ALIGN
@click.option("--drop-optimizer", is_flag=True, help="Leave out the state of an optimizer: exp_avg, momentum_buffer, optimizer.* ...")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Leave out tensors whose names match.")
@click.option("--drop-attributes", is_flag=True, help="Leave out attributes that the format cannot hold.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="Set an attribute of the file. One that was a number stays one.")
@click.option("--force", is_flag=True, help="Replace DST, if there is one.")
@options.form
def command(sources, target, settings, wanted_dtype, view, **wishes):
    """Write the tensors of one or several models into one file.

    A source is a file, a folder that holds one model, an index (*.index.json), or a pattern of its files: a sharded model becomes one
    file. DST is the old file, or the complete new one, at any moment. If a format cannot hold something, that is an error, and nothing is written.
    """
    from .. import writing

    if target == STDIN:
        raise Trouble("-: a file is written, and not into a pipe; ./- is a file")
    dtype = wanted_dtype and (dtypes.canonical(wanted_dtype) or _unknown(wanted_dtype))
    if wishes["level"] is not None and not wishes["compress"]:
        raise click.UsageError("--level needs --compress")
    wanted = writing.Wanted(target, dtype=dtype, settings=[_setting(text) for text in settings], **wishes)
    session = Session(show=view.show_sql, write=True)
    found = _models(session, sources)
    try:
        written = writing.convert(session, found, wanted, view.reading(session, "convert", models.bytes_of(found)))
    except Exception as error:
        if isinstance(error, Trouble) or type(error).__module__ not in ("sqlite3", "apsw", "_apsw"):
            raise
        raise Trouble(writing.cured(error)) from None
    _tell(view, written)
    parameters = f"(SELECT CAST(total(elements) AS INTEGER) FROM zt_objects({quote(target)}))"
    view.show(FILES, session.run(f"SELECT path, container, version, objects, {parameters}, size FROM zt_files({quote(target)})"))


command.columns = [column if isinstance(column, str) else column[0] for column in FILES]


def _unknown(dtype):
    raise Trouble(f"--dtype: {dtypes.similar(dtype)}")


def _setting(text):
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise Trouble(f"--set {text}: this is not KEY=VALUE")
    return key, value


def _models(session, words):
    """The models of these sources. Incomplete ones are refused: the file would look complete."""
    if len(words) == 1 or any(os.path.isdir(word) or models.is_index(word) for word in words):
        found = [models.one(session, Source(word).text) for word in words]
    else:
        found = models.of(session, Source(*words).text)
    for model in found:
        models.must_be_there(model)
        if model.missing:
            raise Trouble(f"{model.name}: {models.lacking(model)}")
    if not found:
        raise Trouble(f"{Source(*words)}: there is no tensor file")
    return found


def _tell(view, written):
    if written.tensors:
        view.say(f"{output.counted(written.tensors, 'tensor')} of optimizers left out")
    if written.attributes:
        view.say(f"{output.counted(len(written.attributes), 'attribute')} left out: {_some(written.attributes)}")
    for key, path in written.other[:10]:
        view.say(output.plain(f"{path}: attribute '{key}' has another value there, and the first file's is kept"))


def _some(names):
    return ", ".join(map(output.plain, names[:5])) + (", ..." if len(names) > 5 else "")
