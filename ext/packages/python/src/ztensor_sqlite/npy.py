"""Writes a tensor to a numpy file, or to stdout."""
import json
import os
import stat
import sys

from ._connection import entry_points
from ._native import Native, source_value
from .dtypes import canonical, similar
from .names import find
from .output import Progress, plain
from .session import Trouble, quote

STDOUT = "-"

# What zt_dense() is asked for, and what numpy calls it. numpy lacks the types that have another name on the left: theirs has all of
# their values.
DTYPES = {"f64": "<f8", "f32": "<f4", "f16": "<f2", "i64": "<i8", "i32": "<i4", "i16": "<i2", "i8": "|i1", "u64": "<u8", "u32": "<u4",
          "u16": "<u2", "u8": "|u1", "bool": "|b1", "complex64": "<c8", "complex128": "<c16"}
WIDER = {"bf16": "f32", "i4": "i8", "i2": "i8", "u4": "u8", "u2": "u8"}
SLICE = 64 << 20   # Bytes that are read at once, if a row of the tensor is not longer


def item_size(dtype):
    return int(DTYPES[dtype][2:])


def header(dtype, shape):
    """The header before the elements: version 1.0, or 2.0 if the header is too long for 1.0."""
    fields = f"{{'descr': '{DTYPES[dtype]}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))}{',' * (len(shape) == 1)}), }}"
    version, width = (b"\1\0", 2) if len(fields) < 65000 else (b"\2\0", 4)
    before = 8 + width
    fields += " " * (-(before + len(fields) + 1) % 64) + "\n"
    return b"\x93NUMPY" + version + len(fields).to_bytes(width, "little") + fields.encode("latin-1")


def export(session, source, name, out, dtype, progress=Progress):
    """Write the values of a source's only tensor of this name to the file `out`, or to stdout. The file appears when it is complete."""
    if out == STDOUT and sys.stdout.isatty():
        raise Trouble("-: stdout is a terminal; a tensor's bytes go into a pipe or a file")
    path, _, _, shape = find(session, source, name)
    if shape is None:
        raise Trouble(f"{path}: object '{name}': its shape is not known")
    shape = json.loads(shape)
    dtype = _numpy_dtype(session, path, name, dtype)
    if out != STDOUT and os.path.exists(out) and os.path.exists(path) and os.path.samefile(path, out):
        raise Trouble(f"{out}: this is the file that the tensor is in")
    with progress(name, _size_of(shape, dtype), unit="bytes", delay=0.5) as bar:
        _write(out, header(dtype, shape), _slices(session, path, name, shape, dtype, bar))
    return dtype, shape


def _numpy_dtype(session, path, name, dtype):
    if dtype:
        known = canonical(dtype)
        if known is None:
            raise Trouble(f"--dtype: {similar(dtype, DTYPES)}")
        if known not in DTYPES:
            raise Trouble(f"'{dtype}' is no dtype of numpy: {', '.join(DTYPES)}")
        return known
    own = Native(session.connection, entry_points(True, False, session.remote)).value_type(source_value(path), name)
    dtype = own if own in DTYPES else WIDER.get(own, "f32")
    if dtype != own:
        print(plain(f"{path}: object '{name}': numpy has no {own}: written as {dtype}"), file=sys.stderr)
    return dtype


def _size_of(shape, dtype):
    size = item_size(dtype)
    for n in shape:
        size *= n
    return size


def _slices(session, path, name, shape, dtype, bar):
    call = f"{quote(path)}, {quote(name)}, {quote(dtype)}"
    if not shape:
        yield session.value(f"SELECT zt_dense({call})")
        return
    row = _size_of(shape[1:], dtype)
    step = max(1, SLICE // row) if row else max(1, shape[0])
    for first in range(0, shape[0], step):
        count = min(step, shape[0] - first)
        data = session.value(f"SELECT zt_dense({call}, {first}, {count})")
        if len(data) != row * count:
            raise Trouble(f"{path}: object '{name}': {len(data)} bytes where {row * count} should be: the file was changed meanwhile")
        yield data
        bar.advance(len(data))


def _write(out, head, parts):
    """Replace a file, or the target of a link, by a complete file. Write directly into a device or a pipe."""
    try:
        if out == STDOUT:
            _fill(sys.stdout.buffer, head, parts)
            sys.stdout.flush()
        elif _is_no_file(out):
            with open(out, "wb") as stream:
                _fill(stream, head, parts)
        else:
            _replace(os.path.realpath(out) if os.path.islink(out) else out, head, parts)
    except OSError as error:   # Its own words may name the unfinished file
        raise Trouble(f"{out}: {error.strerror}") from None


def _is_no_file(path):
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return False


def _replace(path, head, parts):
    from . import removal

    with removal.unfinished(os.path.dirname(path) or os.curdir, ".npy") as unfinished:
        with open(unfinished, "wb") as file:
            _fill(file, head, parts)
        os.chmod(unfinished, 0o666 & ~_umask())
        os.replace(unfinished, path)


def _fill(file, head, parts):
    file.write(head)
    for part in parts:
        file.write(part)


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask
