"""Tensors into files."""
from __future__ import annotations

import contextlib
import json
import math
import os
import sys
from typing import Any, Mapping

from . import _native
from ._connection import connect
from ._tensor import TYPES, Tensor

VALUE_MAX = 1_000_000_000   # Bytes of a value of SQLite's; a larger tensor goes through a file
_SAFETENSORS = {"f64": "F64", "f32": "F32", "f16": "F16", "bf16": "BF16", "i64": "I64", "i32": "I32", "i16": "I16", "i8": "I8", "u64": "U64",
                "u32": "U32", "u16": "U16", "u8": "U8", "bool": "BOOL", "f8_e4m3fn": "F8_E4M3", "f8_e5m2": "F8_E5M2",
                "f8_e4m3fnuz": "F8_E4M3FNUZ", "f8_e5m2fnuz": "F8_E5M2FNUZ", "f8_e8m0": "F8_E8M0", "complex64": "C64"}
_OPTIONS = ("order", "align", "encoding", "level", "digest", "drop", "sync")


def save(path: str | os.PathLike[str], mapping: Mapping[str, Any], format: str | None = None,
         attributes: Mapping[str, Any] | None = None, *, replace: bool = False,
         tensor_attributes: Mapping[str, Mapping[str, Any]] | None = None, **options: Any) -> None:
    """Write tensors into a new file, which appears when it is complete.

    `mapping`: names and tensors: arrays of numpy (ml_dtypes' types, too), tensors of torch, Tensor of tensors(), which are copied
    from file to file, and whatever numpy.asarray() takes. Arrays that are contiguous are not copied.
    `format`: `ztensor-2`, `ztensor-1.2`, `safetensors`, `gguf`, `npy` or `npz`. None: by the name's end.
    `attributes` of the file and, by tensor, `tensor_attributes`: text, numbers, booleans, None, bytes, and lists and dictionaries
    without NaN and bytes, with text as keys, as far as the format can hold them.
    `replace`: an existing file is replaced. Without it, it is an error.
    `options` are zt_writer's: order, align, encoding ("zstd"), level, digest, drop, sync.

    sqlite3.OperationalError: the format cannot hold a tensor or an attribute, or the file cannot be written; the file is then as
    it was before. TypeError: a value is no tensor.
    """
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise TypeError(f"save() has no option {unknown[0]!r}; it has {', '.join(_OPTIONS)}")
    if not isinstance(mapping, Mapping):
        raise TypeError(f"tensors are a mapping from names to arrays, not {type(mapping).__qualname__}")
    if not mapping:
        raise ValueError("there is no tensor to write")
    arguments = {"format": format, "mode": "replace" if replace else "create", **options}
    own = _Writer(_native.path_text(os.fspath(path)), arguments)
    try:
        own.write(mapping, attributes or {}, tensor_attributes or {})
    finally:
        own.close()


class _Writer:
    """A connection of its own, because who runs query() cannot write."""

    def __init__(self, path: str, arguments: Mapping[str, Any]) -> None:
        self.path = path
        self.connection = connect(write=True)
        if hasattr(self.connection, "isolation_level"):
            self.connection.isolation_level = None
        self.spools = contextlib.ExitStack()
        given = "".join(f", {name}={_quoted(value)}" for name, value in arguments.items() if value is not None)
        self.run(f"CREATE VIRTUAL TABLE temp.written USING zt_writer({_quoted(path)}{given})")

    def run(self, sql: str, parameters: tuple[Any, ...] = ()) -> None:
        import sqlite3

        try:
            self.connection.execute(sql, parameters)
        except Exception as error:
            if "mode='replace'" in str(error):   # What save() calls replace=True
                raise sqlite3.OperationalError(str(error).replace("mode='replace'", "replace=True")) from None
            if isinstance(error, sqlite3.Error):
                raise
            raise _native._as_sqlite3(error) from None

    def close(self) -> None:
        self.connection.close()
        self.spools.close()

    def write(self, mapping: Mapping[str, Any], attributes: Mapping[str, Any], of_tensors: Mapping[str, Mapping[str, Any]]) -> None:
        self.run("BEGIN")
        for name, value in mapping.items():
            self.tensor(name, value)
        for name, values in of_tensors.items():
            self.attributes(name, values)
        self.attributes(None, attributes)
        self.run("COMMIT")

    def attributes(self, name: str | None, values: Mapping[str, Any]) -> None:
        for key, value in values.items():
            self.run("INSERT INTO written(name, key, value, type) VALUES (?, ?, ?, ?)", (name, key, *_attribute(value)))

    def tensor(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            source = value._owner._source if value.path is None else _native.path_text(value.path)
            self.run("INSERT INTO written(name, source, object) VALUES (?, ?, ?)", (name, source, value.name))
            return
        short, shape, data = _bytes_of(name, value)
        if len(data) > VALUE_MAX:
            self.run("INSERT INTO written(name, source, object) VALUES (?, ?, 'tensor')", (name, self.spool(short, shape, data)))
            return
        self.run("INSERT INTO written(name, data, dtype, shape) VALUES (?, ?, ?, ?)", (name, data, short, json.dumps(shape)))

    def spool(self, short: str, shape: list[int], data: memoryview) -> str:
        """A file beside the target with this one tensor, which SQLite cannot take as a value."""
        from . import removal

        if short not in _SAFETENSORS:
            raise ValueError(f"a tensor of {short} has at most {VALUE_MAX} bytes here, not {len(data)}")
        head = json.dumps({"tensor": {"dtype": _SAFETENSORS[short], "shape": shape, "data_offsets": [0, len(data)]}}).encode()
        head += b" " * (-len(head) % 8)
        made = self.spools.enter_context(removal.unfinished(os.path.dirname(self.path) or os.curdir, ".partial"))
        with open(made, "wb") as file:
            file.write(len(head).to_bytes(8, "little") + head)
            file.write(data)
        return made


def _quoted(value: Any) -> str:
    return "'" + str(value).replace("'", "''") + "'"


def _attribute(value: Any) -> tuple[Any, str | None]:
    """A value of SQLite's, and the type of zt_attributes."""
    value = _plain(value)
    if value is None:
        return None, "null"
    if isinstance(value, bool):
        return int(value), "true" if value else "false"
    if isinstance(value, int):
        return (value if -2**63 <= value < 2**63 else str(value)), "integer"
    if isinstance(value, float):
        return value, "real"
    if isinstance(value, str):
        return value, "text"
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value), "blob"
    if isinstance(value, (Mapping, list, tuple)):
        return _json(value), "object" if isinstance(value, Mapping) else "array"
    raise TypeError(f"an attribute is no {type(value).__qualname__}")


def _plain(value: Any) -> Any:
    """A number of numpy's or torch's as Python's own. Arrays and times, which would become a number, stay as they are."""
    is_time = getattr(getattr(value, "dtype", None), "kind", None) in ("m", "M")
    return value.item() if hasattr(value, "item") and not getattr(value, "shape", ()) and not is_time else value


def _json(value: Any) -> str:
    """A list, a dictionary, or what is in one, without a change: JSON itself has no NaN, and text alone as keys."""
    value = _plain(value)
    if isinstance(value, Mapping):
        others = [key for key in value if not isinstance(key, str)]
        if others:
            raise TypeError(f"a key in an attribute is text, and {others[0]!r} is none")
        return "{" + ",".join(f"{json.dumps(key)}:{_json(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_json, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        if math.isnan(value):
            raise ValueError("NaN can be an attribute, but not stand in a list or a dictionary")
        return "9e999" if value > 0 else "-9e999"
    if value is None or isinstance(value, (bool, int, float, str)):
        return json.dumps(value)
    raise TypeError(f"a list or a dictionary that is an attribute has no {type(value).__qualname__}")


def _bytes_of(name: str, value: Any) -> tuple[str, list[int], memoryview]:
    """ztensor's type, the shape, and the elements, row-major and little-endian; the array's own memory if it is so."""
    import numpy

    torch = sys.modules.get("torch")   # It has been imported if the value is of it, or of a class that somebody derived
    values, long = _from_torch(name, value) if torch and isinstance(value, torch.Tensor) else (value, None)
    if isinstance(values, numpy.ma.MaskedArray) and numpy.ma.is_masked(values):
        raise TypeError(f"tensor {name!r}: no format has masked elements: filled() gives an array without them")
    values = numpy.asarray(values)
    long = long or values.dtype.name
    if long not in TYPES:
        raise TypeError(f"tensor {name!r}: no format has {long}")
    shape = list(values.shape)
    if values.dtype.byteorder == ">" or (values.dtype.byteorder == "=" and sys.byteorder == "big"):
        values = values.astype(values.dtype.newbyteorder("<"))
    flat = numpy.ascontiguousarray(values).reshape(-1).view(numpy.uint8)
    if TYPES[long] in ("f4_e2m1", "i4", "u4"):
        flat = _nibbles(flat)
    elif TYPES[long] in ("i2", "u2"):
        flat = _nibbles(_nibbles(flat, 2), 4)
    data: Any = flat
    return TYPES[long], shape, memoryview(data)


def _nibbles(elements: Any, bits: int = 4) -> Any:
    """Two elements of that many bits in each byte, the first in the low bits."""
    import numpy

    elements = elements & ((1 << bits) - 1)
    if len(elements) % 2:
        elements = numpy.append(elements, numpy.uint8(0))
    return elements[0::2] | elements[1::2] << bits


def _from_torch(name: str, tensor: Any) -> tuple[Any, str]:
    """numpy's array over a tensor's memory, and the name of its type, which numpy may lack."""
    import torch

    if isinstance(tensor, torch.nn.parameter.UninitializedTensorMixin) or tensor.device.type == "meta":
        raise TypeError(f"tensor {name!r}: it has no values yet")
    if tensor.layout != torch.strided or getattr(tensor, "is_nested", False):
        layout = "a nested tensor" if tensor.layout == torch.strided else f"of layout {tensor.layout}"
        raise TypeError(f"tensor {name!r}: it is {layout}, and only dense tensors are written")
    long = str(tensor.dtype).rpartition(".")[2]
    if long not in TYPES:
        raise TypeError(f"tensor {name!r}: no format has {long}")
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    if tensor.dtype.is_complex:
        return tensor.numpy(), long
    widths = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
    return tensor.view(widths[tensor.element_size()]).numpy(), long
