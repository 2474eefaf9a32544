"""SQLite's values as values of Spark's types: exactly the same value, or NULL and the reason."""
from decimal import Decimal

import pyarrow

BIGINT = range(-(1 << 63), 1 << 63)
DECIMAL_LIMIT = 10 ** 20

# Of Spark's types, and as it names them, those that a column may have
ARROW = {"string": pyarrow.string(), "bigint": pyarrow.int64(), "double": pyarrow.float64(), "decimal(20,0)": pyarrow.decimal128(20, 0),
         "binary": pyarrow.binary()}


# What Arrow takes for these exactly, or not at all. It cuts floats that are no integers.
TAKEN = {"bigint": {int}, "double": {float, int}, "decimal(20,0)": {int}, "binary": {bytes}}


def array(values, kind):
    """(a column, {row: the reason why it has no value there})."""
    if kind == "string":
        return pyarrow.array([v if v is None or v.__class__ is str else as_string(v) for v in values], ARROW[kind]), {}
    if {v.__class__ for v in values} <= TAKEN[kind] | {type(None)}:
        try:
            return pyarrow.array(values, ARROW[kind]), {}
        except (pyarrow.ArrowInvalid, OverflowError):
            pass   # Not all of them have a value there
    convert, reasons = CONVERSIONS[kind], {}
    converted = [None if v is None else convert(v) for v in values]
    for i, (value, result) in enumerate(zip(values, converted)):
        if result is None and value is not None:
            reasons[i] = f"{shown(value)} is no {kind}"
    return pyarrow.array(converted, ARROW[kind]), reasons


def shown(value):
    text = as_string(value)
    return text if len(text) <= 40 else text[:40] + "..."


def as_string(value):
    """Bytes as hexadecimal digits; numbers with the fewest digits that read back as the same number."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, str) else repr(value)


def integer(value):
    """An integer. The extension gives integers beyond 64 bits as text."""
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and value.isascii() and value.removeprefix("-").isdigit():
        return int(value)
    return None


def as_bigint(value):
    found = integer(value)
    return found if found is not None and found in BIGINT else None


def as_decimal(value):
    found = integer(value)
    return Decimal(found) if found is not None and abs(found) < DECIMAL_LIMIT else None


def as_double(value):
    if isinstance(value, float):
        return value
    found = integer(value)
    return float(found) if found is not None and abs(found) < DECIMAL_LIMIT and int(float(found)) == found else None


def as_binary(value):
    return value.encode() if isinstance(value, str) else value if isinstance(value, bytes) else None


CONVERSIONS = {"bigint": as_bigint, "double": as_double, "decimal(20,0)": as_decimal, "binary": as_binary}
