"""This module shows ztensor's tables in Spark, read on all machines of a cluster:

    spark.read.format("ztensor").option("table", "objects").load("/models/**/*.safetensors")

Spark finds the module by its name, and takes DefaultSource, if its workers run the Python that has this package. register() tells
it of both. README-spark.md describes the tables.
"""
import os
import sys

from pyspark.sql.datasource import DataSource

from . import schema as schemas
from .reader import Reader
from .scan import Scan

__all__ = ["DefaultSource", "register"]


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


def register(spark):
    """Let a session read `ztensor`, with this Python in its workers: the one of a virtual environment that is not activated, too.

    The workers' Python is spark.pyspark.python, if that is set, else PYSPARK_PYTHON, else this one. On a cluster,
    the package must be there on every machine.
    """
    context = spark.sparkContext
    context.pythonExec = context.getConf().get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable
    spark.dataSource.register(DefaultSource)
