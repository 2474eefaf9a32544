"""The data source as Spark's workers call it, without Spark: copied from process to process, partition by partition."""
import pickle

from pyspark.sql.datasource import CaseInsensitiveDict
from pyspark.sql.types import StructField, StructType
from pyspark_ztensor import DefaultSource


def reader(options, schema=None):
    source = pickle.loads(pickle.dumps(DefaultSource(CaseInsensitiveDict(options))))
    return pickle.loads(pickle.dumps(source.reader(schema or source.schema())))


def read(reader, partitions):
    return [row for partition in partitions for batch in reader.read(partition) for row in batch.to_pylist()]


def rows(options, schema=None):
    each = reader(options, schema)
    return read(each, each.partitions())


def fields(**types):
    return StructType([StructField(name, type) for name, type in types.items()])
