"""ztensor for SQLite from Python: tensor files as SQL tables.

    import ztensor_sqlite
    ztensor_sqlite.query("SELECT object, dtype, shape FROM zt_objects(:source)", {}, "model.safetensors").df()
    ztensor_sqlite.tensor("model.safetensors", "classifier.bias")

    conn = ztensor_sqlite.connect()
    conn.execute("SELECT object, dtype, shape FROM zt_objects('model.safetensors')")
"""
from ._connection import LoadError, connect, load, loadable_path, sql_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._query import Query, query
    from ._save import save
    from ._tensor import Tensor, Tensors, tensor, tensors

# Modules that are imported when one of their names is asked for, so that the command begins at once
_LATER = {"Query": "_query", "query": "_query", "save": "_save", "Tensor": "_tensor", "Tensors": "_tensor", "tensor": "_tensor",
          "tensors": "_tensor"}

__all__ = ["LoadError", "Query", "Tensor", "Tensors", "connect", "load", "loadable_path", "query", "save", "sql_path", "tensor",
           "tensors"]


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("." + _LATER[name], __name__), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
