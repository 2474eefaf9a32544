"""Rows of a query, as Python's values or as columns."""
from __future__ import annotations

import numbers
import os
import re
from typing import Any, Iterator, Mapping, Sequence

from . import _native

_SOURCES = re.compile(r"[:@$]source(\d*)\b")


def query(sql: str, parameters: Sequence[Any] | Mapping[str, Any] = (), *sources: Any, connection: Any = None,
          remote: bool = False) -> Query:
    """A query over tensor files, which runs whenever its rows are asked for.

        query("SELECT object, shape FROM zt_objects(:source) WHERE elements > :least", {"least": 1000}, "a.gguf", "b.safetensors").df()

    `parameters` are a sequence for `?`, or a mapping for `:name`. All `sources` together are `:source`; each one is `:source1`,
    `:source2` and so on. A source is a path (text or pathlib's), a pattern, a directory, a URL, a list of these, or the bytes of
    one file. With sources, the parameters have names.

    `connection`: the query runs there (of sqlite3 or apsw; the extension is loaded into it), for example to join files with
    tables of a database. Without it, the query runs in a connection in memory that this thread's queries share.
    remote=True: sources may be URLs of https, s3 and hf.

    TypeError, ValueError: parameters or sources do not fit the SQL. All else that is wrong is an error when the query runs:
    sqlite3.OperationalError, whose message names file and tensor.
    """
    return Query(sql, _bound(sql, parameters, sources), connection, remote)


def _bound(sql: str, parameters: Any, sources: tuple[Any, ...]) -> Any:
    """The parameters with the sources among them."""
    if isinstance(parameters, Mapping):
        parameters = {name: _plain(value) for name, value in parameters.items()}
    else:
        parameters = [_plain(value) for value in parameters]
    if not sources:
        return parameters
    if not isinstance(parameters, Mapping) and len(parameters):
        raise TypeError("with sources, parameters have names: {'least': 10} for :least")
    asked = {number for number in _SOURCES.findall(sql)}
    if not asked:
        raise ValueError("sources are given, but the SQL does not name :source")
    bound = dict(parameters)
    for number in asked:
        if number and not 1 <= int(number) <= len(sources):
            raise ValueError(f"the SQL names :source{number}, but {len(sources)} source{'s are' if len(sources) > 1 else ' is'} given")
        chosen: Any = sources[int(number) - 1] if number else sources[0] if len(sources) == 1 else list(sources)
        bound[f"source{number}"] = _native.source_value(chosen)
    return bound


def _plain(value: Any) -> Any:
    """A parameter as one of SQLite's values: numpy's numbers and pathlib's paths, too."""
    if isinstance(value, (str, bytes, int, float)) or value is None:
        return value
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    return _native.source_value(value) if isinstance(value, os.PathLike) else value


class Query:
    """The result of query(). Iteration gives tuples of Python's values; each asking runs the query again. Text that is not UTF-8,
    such as some paths, has surrogates for such bytes, as os.fsdecode() gives them: it can be opened, and be a source.

    It has Arrow's C stream interface (`__arrow_c_stream__`): pyarrow.table(q), polars.DataFrame(q) and DuckDB read it as it is.
    """

    def __init__(self, sql: str, parameters: Any, connection: Any, remote: bool) -> None:
        self.sql = sql
        self.parameters = parameters
        self._connection = connection
        self._remote = remote

    def _native(self) -> _native.Native:
        return _native.native(self._connection, self._remote)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return map(tuple, self._native().rows(self.sql, self.parameters))

    def rows(self) -> list[tuple[Any, ...]]:
        """All rows."""
        return list(self)

    def value(self) -> Any:
        """The first value of the first row. LookupError: there is no row."""
        for row in self:
            return row[0]
        raise LookupError("the query gives no row")

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A PyCapsule of an ArrowArrayStream with all rows. The types are the values' own: see arrow()."""
        return _capsule(self._native().arrow(self.sql, self.parameters))

    def arrow(self) -> Any:
        """A pyarrow.Table.

        A column is int64, float64, string or binary, as its values are, and NULL is null. Integers and reals together are float64.
        A column without values has its declared type, else null. JSON is text. sqlite3.OperationalError: other mixtures, such as
        text and integers (`value` of zt_attributes; CAST(value AS TEXT) gives it one type), text that is not UTF-8, and
        integers above 2^53 among reals. ImportError: there is no pyarrow.
        """
        return _need("pyarrow", "arrow()").table(self)

    def df(self) -> Any:
        """A pandas.DataFrame, by way of arrow(). ImportError: there is no pandas or pyarrow."""
        _need("pandas", "df()")
        _need("pyarrow", "df()")
        return self.arrow().to_pandas()

    def polars(self) -> Any:
        """A polars.DataFrame, with the types of arrow(). ImportError: there is no polars."""
        return _need("polars", "polars()").DataFrame(self)

    def __repr__(self) -> str:
        return f"query({self.sql!r})"


def _need(module: str, what: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ImportError(f"{what} needs {module}: pip install {module}", name=module) from None


_NAME = b"arrow_array_stream"


def _capsule(stream: _native.ArrowStream) -> object:
    """A capsule that owns the stream, until somebody moves it out."""
    import ctypes

    api = ctypes.pythonapi
    api.PyCapsule_New.restype = ctypes.py_object
    api.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    global _destroy
    _destroy = _destroy or _make_destroy()
    pointer = ctypes.addressof(stream)
    _streams[pointer] = stream   # It lives as long as the capsule, whose destructor drops it
    return api.PyCapsule_New(pointer, _NAME, ctypes.cast(_destroy, ctypes.c_void_p))


_streams: dict[int, _native.ArrowStream] = {}
_destroy: Any = None


def _make_destroy() -> Any:
    import ctypes

    api = ctypes.pythonapi
    get = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", api))

    def destroy(capsule: int) -> None:
        stream = _streams.pop(get(capsule, _NAME))
        if stream.release:
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(stream.release)(ctypes.addressof(stream))

    return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(destroy)
