"""The values of a tensor's elements, and the results of converting them: exact, slow and obvious.

Written from IEEE 754, from the OCP specifications of FP8 and MX, and from what the `fnuz` types are defined as (ONNX); the
extension's own code was no model. Values are Python's: int, float (every element of these types is a double), complex,
False and True for bool.
"""
import bisect
import functools
import math
import struct
from fractions import Fraction

# name: (bytes, bits of the exponent, bits of the fraction, bias, what the highest patterns are)
#   ieee   an infinity, then NaN          fn    no infinity, one NaN
#   fnuz   none; the pattern of -0 is NaN       fin    none
FLOATS = {
    "f64": (8, 11, 52, 1023, "ieee"), "f32": (4, 8, 23, 127, "ieee"),
    "f16": (2, 5, 10, 15, "ieee"), "bf16": (2, 8, 7, 127, "ieee"),
    "f8_e4m3fn": (1, 4, 3, 7, "fn"), "f8_e5m2": (1, 5, 2, 15, "ieee"),
    "f8_e4m3fnuz": (1, 4, 3, 8, "fnuz"), "f8_e5m2fnuz": (1, 5, 2, 16, "fnuz"),
    "f4_e2m1": (None, 2, 1, 1, "fin"),      # Two to a byte, the first in the low half
}
INTEGERS = {f"{sign}{8 * width}": (width, sign == "i") for sign in "iu" for width in (8, 4, 2, 1)}
COMPLEX = {"complex64": "f32", "complex128": "f64"}
E8M0 = "f8_e8m0"                            # 2^(pattern - 127), 0xFF is NaN; no sign, no zero
STORED = [*[t for t in FLOATS if t != "f4_e2m1"], *INTEGERS, "bool", *COMPLEX]   # Types of elements in 1.x files
ALL = [*STORED, E8M0, "f4_e2m1"]            # Types of the argument dtype
WIDTHS = {**{t: f[0] for t, f in FLOATS.items()}, **{t: w for t, (w, _) in INTEGERS.items()},
          "bool": 1, "complex64": 8, "complex128": 16, E8M0: 1}


def is_float(dtype):
    return dtype in FLOATS or dtype == E8M0


# ------------------------------------------------------------------------------------------------- bytes to values

def magnitude(dtype, pattern):
    """The value of the pattern without a sign, as if there were neither infinities nor NaN."""
    _, _, fraction_bits, bias, _ = FLOATS[dtype]
    exponent, fraction = pattern >> fraction_bits, pattern & (1 << fraction_bits) - 1
    if exponent == 0:
        return math.ldexp(fraction, 1 - bias - fraction_bits)
    return math.ldexp(1 << fraction_bits | fraction, exponent - bias - fraction_bits)


def largest(dtype):
    """The pattern of the largest finite value."""
    _, exponent_bits, fraction_bits, _, kind = FLOATS[dtype]
    top = (1 << exponent_bits + fraction_bits) - 1
    return {"ieee": top - (1 << fraction_bits), "fn": top - 1, "fnuz": top, "fin": top}[kind]


def value_of(dtype, pattern):
    """The value of a pattern of a small float type."""
    if dtype == E8M0:
        return math.nan if pattern == 0xff else math.ldexp(1, pattern - 127)
    _, exponent_bits, fraction_bits, _, kind = FLOATS[dtype]
    sign = 1 << exponent_bits + fraction_bits
    rest = pattern & sign - 1
    if kind == "fnuz" and pattern == sign:
        return math.nan
    if rest > largest(dtype):
        return math.copysign(math.inf, -1 if pattern & sign else 1) if kind == "ieee" and rest == largest(dtype) + 1 else math.nan
    return -magnitude(dtype, rest) if pattern & sign else magnitude(dtype, rest)


@functools.lru_cache(maxsize=None)
def table(dtype):
    """The values of all patterns of a type of at most two bytes."""
    bits = 4 if dtype == "f4_e2m1" else 8 * WIDTHS[dtype]
    return [value_of(dtype, pattern) for pattern in range(1 << bits)]


def patterns(dtype, data):
    """Little-endian bytes as unsigned integers."""
    if dtype == "f4_e2m1":
        return [half for byte in data for half in (byte & 15, byte >> 4)]
    width = WIDTHS[dtype]
    return [int.from_bytes(data[i:i + width], "little") for i in range(0, len(data), width)]


def decode(dtype, data, count=None):
    """The values in little-endian bytes; `count` of them where the last byte of f4_e2m1 may have half a byte too much."""
    if dtype == "f4_e2m1":
        return [table(dtype)[pattern] for pattern in patterns(dtype, data)][:count]
    if dtype in COMPLEX:
        parts = decode(COMPLEX[dtype], data)
        return [complex(re, im) for re, im in zip(parts[::2], parts[1::2])]
    if dtype in ("f64", "f32"):
        code = {"f64": "d", "f32": "f"}[dtype]
        return [v for v, in struct.iter_unpack("<" + code, data)]
    if dtype in INTEGERS:
        width, signed = INTEGERS[dtype]
        return [int.from_bytes(data[i:i + width], "little", signed=signed) for i in range(0, len(data), width)]
    if dtype == "bool":
        return [byte != 0 for byte in data]
    return [table(dtype)[pattern] for pattern in patterns(dtype, data)]


# ------------------------------------------------------------------------------------------------- values to bytes

@functools.lru_cache(maxsize=None)
def ladder(dtype):
    """The magnitudes of all finite patterns in order, and the one that would follow: beyond the middle of the way there
    a value is too large."""
    if dtype == E8M0:
        return [math.ldexp(1, pattern - 127) for pattern in range(0x100)]
    return [magnitude(dtype, pattern) for pattern in range(largest(dtype) + 2)]


def nearest(dtype, size):
    """The pattern of the magnitude nearest to a finite size, of two as near the even one."""
    steps = ladder(dtype)
    above = bisect.bisect_left(steps, size)
    if above == len(steps):
        return above - 1
    if above == 0 or steps[above] == size:
        return above
    middle = (steps[above - 1] + steps[above]) / 2    # Exact: one bit more than the type has. int against float is exact too
    if size == middle:
        return above - above % 2
    return above if size > middle else above - 1


def rounded(number, bits):
    """An integer rounded to so many significant bits, ties to even."""
    spare = max(abs(number).bit_length() - bits, 0)
    return round(Fraction(number, 1 << spare)) << spare


class Inexpressible(Exception):
    """The type has nothing for this value."""


def encode_one(dtype, value):
    """The bytes of one value in a type: rounded once, from the exact value. For f4_e2m1, its pattern in one byte."""
    if dtype in COMPLEX:
        value = value if isinstance(value, complex) else (value, 0)
        parts = (value.real, value.imag) if isinstance(value, complex) else value
        return b"".join(encode_one(COMPLEX[dtype], part) for part in parts)
    if isinstance(value, complex):
        raise Inexpressible
    if dtype == "bool":
        return b"\1" if value != 0 else b"\0"          # NaN differs from 0
    if dtype in INTEGERS:
        width, signed = INTEGERS[dtype]
        try:
            return math.trunc(value).to_bytes(width, "little", signed=signed)
        except (OverflowError, ValueError):
            raise Inexpressible from None
    if dtype == "f64":
        return struct.pack("<d", value)                # Python rounds an int once, to even
    if dtype == "f32":
        return encode_f32(value)
    return encode_small(dtype, value)


def encode_f32(value):
    if isinstance(value, int):
        value = float(rounded(value, 24))
    try:
        return struct.pack("<f", value)
    except OverflowError:                              # Said of what rounds to an infinity
        return struct.pack("<f", math.copysign(math.inf, value))


def encode_small(dtype, value):
    value = int(value) if isinstance(value, bool) else value
    negative = math.copysign(1, value) < 0
    if dtype == E8M0:
        if negative or value == 0:
            raise Inexpressible
        return bytes([0xff if value != value else nearest(dtype, value)])
    width, exponent_bits, fraction_bits, _, kind = FLOATS[dtype]
    sign = 1 << exponent_bits + fraction_bits
    nan = sign if kind == "fnuz" else sign - 1
    if value != value:
        pattern = nan
    else:
        pattern = largest(dtype) + 1 if math.isinf(value) else nearest(dtype, abs(value))
        if pattern > largest(dtype) and kind != "ieee":
            pattern = nan
        elif negative and not (kind == "fnuz" and pattern == 0):
            pattern |= sign
    if kind == "fin" and (value != value or nearest(dtype, min(abs(value), 1e9)) > largest(dtype)):
        raise Inexpressible
    return pattern.to_bytes(width or 1, "little")


def encode(dtype, values):
    """Little-endian bytes of the values."""
    out = b"".join(encode_one(dtype, value) for value in values)
    if dtype != "f4_e2m1":
        return out
    out += bytes(len(out) % 2)
    return bytes(low | high << 4 for low, high in zip(out[::2], out[1::2]))


def expressible(dtype, value):
    try:
        encode_one(dtype, value)
        return True
    except Inexpressible:
        return False


# --------------------------------------------------------------------------------------- the quantized layouts of zTensor 2

def f32(value):
    """The nearest value of that type."""
    return decode("f32", encode("f32", [value]))[0]


def group_numbers(shape, axis, size):
    """The index of each element's entry of the scales, in row-major order: they have the shape that has the number of
    groups in place of the axis. Size 0: each has one."""
    size = size or 1
    inner = math.prod(shape[axis + 1:])
    groups = shape[axis] // size
    return [(i // inner // shape[axis] * groups + i // inner % shape[axis] // size) * inner + i % inner
            for i in range(math.prod(shape))]


def mx(shape, attributes, dtype, data, scales):
    """The values of a zt.mx/1 object. `dtype`: of `data`; MXINT8 has 6 bits behind the point."""
    elements = decode(dtype, data, math.prod(shape))
    if dtype == "i8":
        elements = [e / 64 for e in elements]
    powers = decode(E8M0, scales)
    numbers = group_numbers(shape, attributes.get("axis", len(shape) - 1), attributes["block_size"])
    return [f32(element * powers[n]) for element, n in zip(elements, numbers)]


def unpack(packing, bits, data, count):
    """Codes out of words, in the order that `packing` tells."""
    width, per_word = int(packing["word"][1:]) // 8, packing["per_word"]
    words = [int.from_bytes(data[i:i + width], "little") for i in range(0, len(data), width)]
    steps = range(per_word) if packing["order"] == "lsb_first" else range(per_word - 1, -1, -1)
    return [word >> bits * step & (1 << bits) - 1 for word in words for step in steps][:count]


def quant_group(shape, attributes, data, scales, zeros=None):
    """The values of a zt.quant_group/1 object. `scales` and `zeros`: numbers, but for zeros that are packed as the codes are."""
    numbers = group_numbers(shape, attributes["axis"], attributes["group_size"])
    codes = unpack(attributes["packing"], attributes["bits"], data, len(numbers))
    point = attributes["zero_point"]
    if point["form"] != "tensor":
        zeros = [point.get("value", 0)] * len(scales)
    elif point["packing"] == "same_as_data":
        zeros = unpack(attributes["packing"], attributes["bits"], zeros, len(scales))
    return [f32(f32(code - zeros[n]) * f32(scales[n])) for code, n in zip(codes, numbers)]


# -------------------------------------------------------------------------------------------------------- comparing

def comparable(dtype, data):
    """Bytes in a form that is equal if they are, except for the bits of a NaN, which are not promised."""
    if dtype in COMPLEX:
        return comparable(COMPLEX[dtype], data)
    found = patterns(dtype, data)
    if not is_float(dtype):
        return found
    if dtype in ("f64", "f32"):
        return [p if v == v else "nan" for p, v in zip(found, decode(dtype, data))]
    return [p if table(dtype)[p] == table(dtype)[p] else "nan" for p in found]


def with_one_nan(data):
    """f32 with every NaN replaced by 0x7FC00000."""
    return struct.pack(f"<{len(data) // 4}I", *[0x7fc00000 if p == "nan" else p for p in comparable("f32", data)])


def shown(dtype, value):
    """The value as zt_value and zt_elements give it: integers beyond int64 and complex numbers as text, NaN as NULL."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, complex):
        return "[" + ",".join(number(part) for part in (value.real, value.imag)) + "]"
    if isinstance(value, int):
        return value if -(1 << 63) <= value < 1 << 63 else str(value)
    return None if value != value else value


def number(value):
    """A value as JSON."""
    if isinstance(value, complex):
        return shown(None, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if value != value:
        return "null"
    if math.isinf(value):
        return "9.0e+999" if value > 0 else "-9.0e+999"
    return repr(value)


def nested(shape, values):
    """Values in row-major order as nested lists; the value itself if there is no dimension."""
    if not shape:
        return values[0]
    step = math.prod(shape[1:])
    return [nested(shape[1:], values[i * step:(i + 1) * step]) for i in range(shape[0])]
