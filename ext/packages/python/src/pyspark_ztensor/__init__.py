"""This module shows ztensor's tables in Spark, read on all machines of a cluster:

    spark.read.format("ztensor").option("table", "objects").load("/models/**/*.safetensors")

Spark finds the module by its name, and takes DefaultSource. README-spark.md describes the tables.
"""
from pyspark.sql.datasource import DataSource

from . import schema as schemas
from .reader import Reader
from .scan import Scan

__all__ = ["DefaultSource"]


class DefaultSource(DataSource):
    """No filters are pushed down to it: Spark keeps one that was pushed once, and later queries lack rows."""

    @classmethod
    def name(cls):
        return "ztensor"

    def __init__(self, options):
        super().__init__(options)
        self.scan = Scan(options)

    def schema(self):
        return schemas.default(self.scan.table)

    def reader(self, schema):
        return Reader(self.scan, schema)
