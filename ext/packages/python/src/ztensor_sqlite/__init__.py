"""ztensor for SQLite from Python: tensor files as SQL tables.

    import ztensor_sqlite
    ztensor_sqlite.query("SELECT object, dtype, shape FROM zt_objects(:source)", {}, "model.safetensors").df()
    ztensor_sqlite.tensor("model.safetensors", "classifier.bias")

    conn = ztensor_sqlite.connect()
    conn.execute("SELECT object, dtype, shape FROM zt_objects('model.safetensors')")
"""
from ._connection import LoadError, connect, load, loadable_path, sql_path
from ._query import Query, query
from ._save import save
from ._tensor import Tensor, Tensors, tensor, tensors

__all__ = ["LoadError", "Query", "Tensor", "Tensors", "connect", "load", "loadable_path", "query", "save", "sql_path", "tensor",
           "tensors"]
