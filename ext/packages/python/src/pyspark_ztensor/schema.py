"""A table's columns in Spark, and their possible types."""
from pyspark.sql.types import BinaryType, DecimalType, DoubleType, LongType, StringType, StructField, StructType

from .connection import Connection
from .errors import ZtensorError

TYPES = {"string": StringType(), "bigint": LongType(), "double": DoubleType(), "decimal(20,0)": DecimalType(20, 0), "binary": BinaryType()}
# What a column is unless .schema() says otherwise. The extension declares no type where values are of several.
DEFAULTS = {"TEXT": "string", "INTEGER": "bigint", "REAL": "double", "BLOB": "binary"}
MIXED = {"attributes": "string", "elements": "double", "stats": "double", "histogram": "double"}


def default(table):
    with Connection() as connection:
        return StructType([StructField(c.name, TYPES[DEFAULTS.get(c.declared) or MIXED[table.name]])
                           for c in table.columns(connection) if c.visible])


def check(table, columns, schema):
    visible, hidden = ([c.name for c in columns if c.visible is which] for which in (True, False))
    for field in schema:
        if field.name.lower() not in visible + hidden:
            more = f"; and, hidden, {', '.join(hidden)}" if hidden else ""
            raise ZtensorError(f"table {table.name!r} has no column {field.name!r}: it has {', '.join(visible)}{more}")
        if field.dataType.simpleString() not in TYPES:
            raise ZtensorError(f"column {field.name!r} may be {', '.join(TYPES)}, not {field.dataType.simpleString()}")
        if not field.nullable:
            raise ZtensorError(f"column {field.name!r} may be NULL: leave NOT NULL out")
