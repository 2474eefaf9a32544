"""Tensors as arrays of numpy or torch."""
from __future__ import annotations

import json
import os
import warnings
from typing import Any, Iterator, Mapping, NamedTuple

from . import _native

# ztensor's types, and what numpy (some with ml_dtypes) and torch call them
NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "i64": "int64", "i32": "int32", "i16": "int16",
         "i8": "int8", "u64": "uint64", "u32": "uint32", "u16": "uint16", "u8": "uint8", "bool": "bool",
         "f8_e4m3fn": "float8_e4m3fn", "f8_e5m2": "float8_e5m2", "f8_e4m3fnuz": "float8_e4m3fnuz",
         "f8_e5m2fnuz": "float8_e5m2fnuz", "f8_e8m0": "float8_e8m0fnu", "f4_e2m1": "float4_e2m1fn", "i4": "int4", "u4": "uint4",
         "i2": "int2", "u2": "uint2", "complex64": "complex64", "complex128": "complex128"}
TYPES = {long: short for short, long in NAMES.items()}
OF_NUMPY = ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool",
            "complex64", "complex128")
# Types that share bytes in files, and not in numpy: the type that they are read as, and the bits that numpy has of an element
PACKED = {"i4": ("i8", 0x0f), "u4": ("u8", 0x0f), "i2": ("i8", 0x03), "u2": ("u8", 0x03)}


class Facts(NamedTuple):
    """A tensor's row of zt_objects. `shape` is None if the file does not tell."""
    path: str | None
    object: str
    format: str
    type: str | None
    shape: tuple[int, ...] | None
    stored_bytes: int | None
    attributes: str | None


_COLUMNS = "CAST(path AS BLOB), object, format, type, shape, stored_bytes, attributes"


def _path(data: bytes | None) -> str | None:
    """A path of a result, which need not be UTF-8."""
    return None if data is None else os.fsdecode(data)


def _facts(row: Any) -> Facts:
    path, name, form, kind, shape, stored, attributes = row
    return Facts(_path(path), name, form, kind, None if shape is None else tuple(json.loads(shape)), stored, attributes)


def tensor(path: Any, name: str, dtype: Any = None, rows: slice | None = None, framework: str = "numpy", *, connection: Any = None,
           remote: bool = False) -> Any:
    """A tensor's values: a numpy array of its shape, row-major, in memory of its own; of any size.

    `path`: one file's path (text or pathlib's), URI, URL or bytes; or several files (a list, a pattern, a directory, an index such
    as model.safetensors.index.json), exactly one of which has the tensor.
    `dtype`: the type to convert to, by one rounding to nearest even: a name of ztensor's (f32, bf16, i8 has 8 bits), a long name
    (float32), or a dtype of numpy or torch. None: the tensor's own type, and float32 if it is quantized.
    `rows`: indices of the first dimension, as a slice with step 1; only these are read.
    `framework`: "torch" gives a torch.Tensor instead.

    bf16, fp8, fp4 and integers of 4 and 2 bits are types of the package ml_dtypes. ImportError: it is not installed, or it lacks the
    type. sqlite3.OperationalError: there is no such tensor (a name that is close is named), it has no values, or a value does not
    fit `dtype`. TypeError, ValueError: an argument makes no sense.
    """
    source, own = _source_value(path), _native.native(connection, remote)
    wanted = None if dtype is None else _type_name(dtype)
    return _read(own, _find(own, source, name), source, wanted, rows, framework)


def _type_name(dtype: Any) -> str:
    """ztensor's name of a type."""
    if not isinstance(dtype, str):
        if type(dtype).__module__ == "torch":
            dtype = str(dtype)
        else:
            import numpy

            dtype = numpy.dtype(dtype).name
    name: str = dtype.rpartition("torch.")[2]
    name = TYPES.get(name, name)
    if name not in NAMES:
        raise ValueError(f"{dtype!r} is no type: {', '.join(NAMES)}")
    return name


def _models() -> Any:
    """The module models, which states no types."""
    from . import models

    return models


def _source_value(path: Any) -> Any:
    """A source as SQL takes it, which is the files of an index if it is one."""
    models = _models()
    source = _native.source_value(path)
    if not isinstance(source, str) or not models.is_index(source):
        return source
    index = models.read_index(source)
    if index.error:
        raise ValueError(f"{source}: {index.error}")
    there = [file for file in index.files(source) if os.path.exists(file)]
    if not there:
        raise ValueError(f"{source}: none of its files is there")
    return _native.source_value(there)


class _Session(NamedTuple):
    """The statements of a connection, as models asks them."""
    own: _native.Native

    def run(self, sql: str) -> list[Any]:
        return list(self.own.rows(sql))


def _lacking(own: _native.Native, source: Any) -> list[str]:
    """For each model of a source that lacks files, the words that say so."""
    if not isinstance(source, str) or os.path.isfile(source):
        return []
    models = _models()
    paths = [_path(path) for path, in own.rows("SELECT CAST(path AS BLOB) FROM zt_files(?)", (source,))]
    found = models.survey_files(_Session(own), source, paths)[0]
    return [f"{model.name}: {models.lacking(model)}" for model in found if model.missing]


def _find(own: _native.Native, source: Any, name: str) -> Facts:
    if not isinstance(name, str):
        raise TypeError(f"a tensor's name is text, not {type(name).__qualname__}")
    found = list(own.rows(f"SELECT {_COLUMNS} FROM zt_objects(?) WHERE object = ? LIMIT 2", (source, name)))
    if len(found) > 1:
        raise ValueError(f"{_path(found[0][0])} and {_path(found[1][0])} have a tensor {name!r} each: name one file")
    if not found:
        _missing(own, source, name)
    return _facts(found[0])


def _file(path: str | None, source: Any) -> Any:
    """A file as the extension's functions take it. `source` is its bytes if it has no path."""
    return source if path is None else _native.path_text(path)


def _missing(own: _native.Native, source: Any, name: str) -> None:
    """Raise the extension's error, which names the tensor that was probably meant."""
    import sqlite3

    if lacking := _lacking(own, source):
        raise sqlite3.OperationalError(f"ztensor: no file has an object '{name}'; {'; '.join(lacking)}")
    files = [_path(path) for path, in own.rows("SELECT CAST(path AS BLOB) FROM zt_files(?) LIMIT 2", (source,))]
    if len(files) == 1:
        list(own.rows("SELECT zt_dense(?, ?)", (_file(files[0], source), name)))
    raise sqlite3.OperationalError(f"ztensor: no file of {source if isinstance(source, str) else '<blob>'} has an object '{name}'")


def _read(own: _native.Native, facts: Facts, source: Any, wanted: str | None, rows: slice | None, framework: str) -> Any:
    if framework not in ("numpy", "torch"):
        raise ValueError(f"framework is 'numpy' or 'torch', not {framework!r}")
    where = f"{facts.path or '<blob>'}: object '{facts.object}'"
    file = _file(facts.path, source)
    if facts.shape is None:
        list(own.rows("SELECT zt_dense(?, ?)", (file, facts.object)))   # Its error says why
        raise ValueError(f"{where}: its shape is not known")
    name = wanted or own.value_type(file, facts.object)
    shape, part = _rows_of(where, facts.shape, rows)
    if framework == "torch":
        return _read_torch(own, file, facts.object, name, shape, part, where)
    return _read_numpy(own, file, facts.object, name, shape, part, where)


def _rows_of(where: str, shape: tuple[int, ...], rows: slice | None) -> tuple[tuple[int, ...], tuple[int, int] | None]:
    """The shape of the result, and the first row and the number of rows; None: all of a tensor."""
    if rows is None:
        return shape, None
    if not isinstance(rows, slice):
        raise TypeError(f"rows is a slice, such as slice(0, 10), not {type(rows).__qualname__}")
    if not shape:
        raise ValueError(f"{where}: a scalar has no rows")
    first, end, step = rows.indices(shape[0])
    if step != 1:
        raise ValueError("rows has step 1; take every other row of the result")
    count = max(0, end - first)
    return (count, *shape[1:]), (min(first, shape[0]), count)


def _read_numpy(own: _native.Native, file: Any, name: str, short: str, shape: tuple[int, ...], part: Any, where: str) -> Any:
    import numpy

    final = numpy_dtype(short, where)
    read, mask = PACKED.get(short, (short, None))
    if short == "f4_e2m1":
        return _read_nibbles(own, file, name, shape, part, final)
    array = numpy.empty(shape, numpy.uint8 if mask or short not in NAMES else final)
    own.dense(file, name, read, part, array.ctypes.data, array.nbytes)
    if mask:
        array &= mask
    return array.view(final)


def _read_nibbles(own: _native.Native, file: Any, name: str, shape: tuple[int, ...], part: Any, final: Any) -> Any:
    """Two elements of each byte, the first in the low bits."""
    import math

    import numpy

    count = math.prod(shape)
    packed = numpy.empty((count + 1) // 2, numpy.uint8)
    own.dense(file, name, "f4_e2m1", part, packed.ctypes.data, packed.nbytes)
    elements = numpy.empty(2 * len(packed), numpy.uint8)
    elements[0::2] = packed & 0x0f
    elements[1::2] = packed >> 4
    return elements[:count].view(final).reshape(shape)


def numpy_dtype(short: str, where: str) -> Any:
    """numpy's type of ztensor's one; `where` begins the error's message."""
    import numpy

    long = NAMES[short]
    if long in OF_NUMPY:
        return numpy.dtype(long)
    try:
        import ml_dtypes
    except ModuleNotFoundError:
        raise ImportError(f"{where}: numpy has no {short}: pip install ml_dtypes, or give a dtype, such as 'f32'",
                          name="ml_dtypes") from None
    if not hasattr(ml_dtypes, long):
        raise ImportError(f"{where}: ml_dtypes {ml_dtypes.__version__} has no {long}: pip install -U ml_dtypes, or give a dtype, such "
                          "as 'f32'", name="ml_dtypes")
    return numpy.dtype(getattr(ml_dtypes, long))


def _read_torch(own: _native.Native, file: Any, name: str, short: str, shape: tuple[int, ...], part: Any, where: str) -> Any:
    try:
        import torch
    except ModuleNotFoundError:
        raise ImportError(f"{where}: framework='torch' needs torch: pip install torch", name="torch") from None
    dtype = getattr(torch, NAMES[short], None)
    if dtype is None or short in PACKED or short == "f4_e2m1":
        raise ValueError(f"{where}: torch has no tensors of {short}: give a dtype, such as 'f32'")
    made = torch.empty(shape, dtype=dtype)
    own.dense(file, name, short, part, made.data_ptr(), made.numel() * made.element_size())
    return made


def tensors(source: Any, *, connection: Any = None, remote: bool = False) -> Tensors:
    """The tensors of a file, or of all files of a source, as a lazy mapping from names to Tensor.

        with_names = tensors("model.safetensors")
        with_names["embed.weight"].shape    # No value is read
        with_names["embed.weight"][:10]     # These rows are

    `source` is as tensor()'s `path`. A warning says which files a model lacks. ValueError: two of its files have a tensor of one
    name each. sqlite3.OperationalError: a file cannot be read.
    """
    found = Tensors(_source_value(source), connection, remote)
    for words in _lacking(found._native(), found._source):
        warnings.warn(words, stacklevel=2)
    return found


class Tensors(Mapping[str, "Tensor"]):
    """The result of tensors(). The files' directories of tensors are read at once, values on demand. KeyError: there is no such
    tensor; the message names the one that was probably meant."""

    def __init__(self, source: Any, connection: Any, remote: bool) -> None:
        self._source = source
        self._connection = connection
        self._remote = remote
        self._facts: dict[str, Facts] = {}
        for row in self._native().rows(f"SELECT {_COLUMNS} FROM zt_objects(?)", (source,)):
            before = self._facts.setdefault(row[1], facts := _facts(row))
            if before is not facts:
                raise ValueError(f"{before.path} and {facts.path} have a tensor {facts.object!r} each: name one file")

    def _native(self) -> _native.Native:
        return _native.native(self._connection, self._remote)

    def __getitem__(self, name: str) -> Tensor:
        if name in self._facts:
            return Tensor(self, self._facts[name])
        import sqlite3

        try:
            _missing(self._native(), self._source, name)
        except sqlite3.OperationalError as error:
            raise KeyError(str(error)) from None
        raise KeyError(name)   # The file has it now

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __contains__(self, name: object) -> bool:
        return name in self._facts

    def __repr__(self) -> str:
        return f"<{len(self)} tensors of {self._source if isinstance(self._source, str) else 'a file in memory'}>"


class Tensor:
    """A tensor of Tensors. Its properties are known; its values are read by numpy.asarray(t), t.numpy(), t.torch(), t[...]."""

    def __init__(self, owner: Tensors, facts: Facts) -> None:
        self._owner = owner
        self._facts = facts

    @property
    def name(self) -> str:
        return self._facts.object

    @property
    def path(self) -> str | None:
        """The file. None: it was given as bytes."""
        return self._facts.path

    @property
    def format(self) -> str:
        """How it is stored: `dense`, `sparse_csr`, `gguf.q4_0` and so on."""
        return self._facts.format

    @property
    def type(self) -> str | None:
        """ztensor's name of its type, such as `bf16`. None: it has none."""
        return self._facts.type

    @property
    def dtype(self) -> Any:
        """numpy's type of its values, as numpy() returns them. ImportError: that needs ml_dtypes. sqlite3.OperationalError: it has
        no values."""
        file = _file(self.path, self._owner._source)
        return numpy_dtype(self._owner._native().value_type(file, self.name), f"{self.path or '<blob>'}: object '{self.name}'")

    @property
    def shape(self) -> tuple[int, ...]:
        """Its dimensions, the outermost first. ValueError: the file does not tell."""
        if self._facts.shape is None:
            raise ValueError(f"{self.path or '<blob>'}: object '{self.name}': its shape is not known")
        return self._facts.shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its elements."""
        import math

        return math.prod(self.shape)

    @property
    def stored_bytes(self) -> int | None:
        """The bytes that it takes in the file. None: unknown."""
        return self._facts.stored_bytes

    @property
    def attributes(self) -> dict[str, Any]:
        return dict(json.loads(self._facts.attributes or "{}"))

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("a scalar has no length")
        return self.shape[0]

    def numpy(self, dtype: Any = None, rows: slice | None = None) -> Any:
        """Its values, as tensor() gives them."""
        return self._read(dtype, rows, "numpy")

    def torch(self, dtype: Any = None, rows: slice | None = None) -> Any:
        """Its values as a torch.Tensor."""
        return self._read(dtype, rows, "torch")

    def _read(self, dtype: Any, rows: slice | None, framework: str) -> Any:
        wanted = None if dtype is None else _type_name(dtype)
        return _read(self._owner._native(), self._facts, self._owner._source, wanted, rows, framework)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("the values are in a file: an array of them is a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    def __getitem__(self, index: Any) -> Any:
        """An array of the chosen elements. A slice or an integer for the first dimension reads only those rows."""
        first, *others = index if isinstance(index, tuple) and index else (index,)
        if isinstance(first, slice) and first.step in (None, 1) and self.shape:
            return self.numpy(rows=first)[(slice(None), *others)]
        if hasattr(first, "__index__") and self.shape and not hasattr(first, "shape"):
            row = range(self.shape[0])[first]
            return self.numpy(rows=slice(row, row + 1))[(0, *others)]
        return self.numpy()[index]

    def __repr__(self) -> str:
        return f"<tensor {self.name!r}: {self.type or self.format}, shape {self._facts.shape}>"
