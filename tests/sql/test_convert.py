"""Conversions between element types, through zt_dense. reference.py computes the expected results."""
import math
import random
import re
import struct

import numpy
import pytest

import reference
import writer
from reference import COMPLEX, FLOATS, INTEGERS, STORED, decode, encode
from support import message, place, value

FP8 = [t for t in FLOATS if t.startswith("f8_")]
HALVES = ["f16", "bf16"]


def interesting(dtype):
    """Bytes of elements of a type: all of them where there are few, else the corners and a random lot (always the same)."""
    if dtype in COMPLEX:
        data = interesting(COMPLEX[dtype])
        return data[:len(data) // reference.WIDTHS[dtype] * reference.WIDTHS[dtype]]
    width = reference.WIDTHS[dtype]
    if width == 1:
        return bytes(range(256))
    bits = 8 * width
    found = {0, 1, 2, (1 << bits) - 1, (1 << bits) - 2}
    for power in range(bits):     # Around every power of two: integers, and the exponents and fractions of floats
        found |= {(1 << power) + d for d in (-1, 0, 1)} | {(1 << bits) - (1 << power) + d for d in (-1, 0, 1)}
    if dtype in FLOATS:
        fraction_bits, bias = FLOATS[dtype][2:4]
        for exponent in range(-26, 66):
            start = (exponent + bias) << fraction_bits
            for keep in (0, 1, 2, 3, 4, 7, 8, 10, 11, 23, 24):        # Ties of every narrower type, and what lies beside them
                if 0 < start < 1 << bits - 1 and keep < fraction_bits:
                    tie = start | 1 << fraction_bits - keep - 1
                    odd = tie | (1 << fraction_bits - keep if keep else 0)
                    found |= {p + d for p in (tie, odd) for d in (-1, 0, 1)}
        found |= {p | 1 << bits - 1 for p in found}
    noise = random.Random(dtype)
    found |= {noise.getrandbits(bits) >> noise.randrange(bits) for _ in range(300)}
    return b"".join((p % (1 << bits)).to_bytes(width, "little") for p in sorted(found))


def convert(db, data, source, target, shape=None):
    """Elements of one type in another, by zt_dense of a file made for it."""
    count = len(data) // reference.WIDTHS[source]
    return value(db, "SELECT zt_dense(?, 'w', ?)", writer.write({"w": writer.typed(data, shape or [count], source)}), target)


# ----------------------------------------------------------------------------------------------------- every pair

@pytest.mark.parametrize("source", STORED)
@pytest.mark.parametrize("target", STORED)
def test_each_type_converts_to_each_other(db, source, target):
    if source in COMPLEX and target not in COMPLEX:
        return
    data = interesting(source)
    values = decode(source, data)
    if target in INTEGERS:
        width = reference.WIDTHS[source]
        keep = [i for i, v in enumerate(values) if reference.expressible(target, v)]
        data = b"".join(data[i * width:(i + 1) * width] for i in keep)
        values = [values[i] for i in keep]
    assert len(values) > 10 or source == "bool"
    got = convert(db, data, source, target)
    if source == target:
        assert got == data
    else:
        assert reference.comparable(target, got) == reference.comparable(target, encode(target, values))


@pytest.mark.parametrize("source", STORED)
def test_its_own_type_leaves_the_bytes_as_they_are(db, source):
    # Signalling NaNs, payloads of NaNs and bools other than 0 and 1 among them.
    data = interesting(source)
    assert convert(db, data, source, source) == convert(db, data, source, None) == data


@pytest.mark.parametrize("source", HALVES)
@pytest.mark.parametrize("target", ["f32", "f64", *FP8, *HALVES])
def test_all_65536_halves_convert(db, source, target):
    data = b"".join(p.to_bytes(2, "little") for p in range(1 << 16))
    got = convert(db, data, source, target)
    if source == target:
        assert got == data
    else:
        assert reference.comparable(target, got) == reference.comparable(target, encode(target, reference.table(source)))


@pytest.mark.parametrize("source", FP8)
def test_all_256_fp8_values_decode(db, source):
    got = decode("f32", convert(db, bytes(range(256)), source, "f32"))
    assert repr(got) == repr(reference.table(source))


@pytest.mark.parametrize("source, target", [(s, t) for s in ("f64", "f32", "f16", "i64", "u64", "i32", "u32", "i8", "u8")
                                            for t in ("f64", "f32") if s != t])
def test_numpy_converts_to_the_same(db, source, target):
    names = {t: f"<{t[0]}{int(t[1:]) // 8}" for t in [*INTEGERS, "f64", "f32", "f16"]}
    noise = numpy.random.default_rng(7)
    width = reference.WIDTHS[source]
    data = interesting(source) + noise.bytes(width * 50_000)
    with numpy.errstate(over="ignore", invalid="ignore"):
        expected = numpy.frombuffer(data, names[source]).astype(names[target])
    got = numpy.frombuffer(convert(db, data, source, target), names[target])
    assert numpy.array_equal(got, expected, equal_nan=True) and (numpy.signbit(got) == numpy.signbit(expected))[got == got].all()


# -------------------------------------------------------------------------------------------------------- rounding

def steps(dtype, up_to=1 << 10):
    """Neighbouring magnitudes of a type, the last one infinity's or the first that is too large."""
    ladder = reference.ladder(dtype)
    every = max(1, len(ladder) // up_to)
    chosen = sorted({*range(0, len(ladder) - 1, every), *range(8), *range(len(ladder) - 9, len(ladder) - 1)})
    return [(i, ladder[i], ladder[i + 1]) for i in chosen]


@pytest.mark.parametrize("target", [*HALVES, *FP8])
@pytest.mark.parametrize("source", ["f64", "f32"])
def test_a_value_between_two_is_rounded_to_the_nearer_one_and_in_the_middle_to_the_even_one(db, source, target):
    values, expected = [], []
    for pattern, low, high in steps(target):
        middle = (low + high) / 2
        if source == "f32" and (middle != float(numpy.float32(middle)) or middle < 1e-37):
            continue
        step = (lambda x, to: float(numpy.nextafter(numpy.float32(x), numpy.float32(to)))) if source == "f32" else math.nextafter
        values += [middle, step(middle, 0), step(middle, math.inf)]
        expected += [pattern + pattern % 2, pattern, pattern + 1]
    nan = reference.encode_one(target, math.nan)
    limit = reference.largest(target)
    if FLOATS[target][4] != "ieee":
        expected = [p if p <= limit else int.from_bytes(nan, "little") for p in expected]
    width = reference.WIDTHS[target]
    wanted = b"".join(p.to_bytes(width, "little") for p in expected)
    got = convert(db, encode(source, values), source, target)
    assert len(values) > 100
    assert reference.comparable(target, got) == reference.comparable(target, wanted)


@pytest.mark.parametrize("source, number, target, expected", [
    # By way of f32 each of these would come to lie in the middle, and be rounded again to the wrong side.
    ("f64", 1 + 2.0 ** -11 + 2.0 ** -40, "f16", 1 + 2.0 ** -10),
    ("f64", 1 + 3 * 2.0 ** -11 - 2.0 ** -40, "f16", 1 + 2.0 ** -10),
    ("f64", 1 + 2.0 ** -8 + 2.0 ** -40, "bf16", 1 + 2.0 ** -7),
    ("f64", 1 + 3 * 2.0 ** -8 - 2.0 ** -40, "bf16", 1 + 2.0 ** -7),
    ("f64", 1 + 2.0 ** -4 + 2.0 ** -40, "f8_e4m3fn", 1.125),
    ("f64", 1 + 2.0 ** -4 + 2.0 ** -40, "f8_e4m3fnuz", 1.125),
    ("f64", 1 + 2.0 ** -3 + 2.0 ** -40, "f8_e5m2", 1.25),
    ("f64", 1 + 3 * 2.0 ** -3 - 2.0 ** -40, "f8_e5m2fnuz", 1.25),
    ("f64", 2.0 ** -25 + 2.0 ** -70, "f16", 2.0 ** -24),
    ("f64", 65519.99999999999, "f16", 65504.0),
    ("f64", 65520.0, "f16", math.inf),
    ("f64", 3.4028235677973366e38, "f32", math.inf),
    ("f64", 3.4028235677973362e38, "f32", 3.4028234663852886e38),
    # By way of f64.
    ("u64", (1 << 63) + (1 << 39) + 1, "f32", 2.0 ** 63 + 2.0 ** 40),
    ("i64", (1 << 62) + (1 << 38) + 1, "f32", 2.0 ** 62 + 2.0 ** 39),
    ("i64", -(1 << 62) - (1 << 38) - 1, "f32", -2.0 ** 62 - 2.0 ** 39),
    ("u64", (1 << 63) + (1 << 55) + 1, "bf16", 2.0 ** 63 + 2.0 ** 56),
    ("i64", (1 << 54) + (1 << 46) + 1, "bf16", 2.0 ** 54 + 2.0 ** 47),
    ("u64", (1 << 64) - 1, "f32", 2.0 ** 64),
    ("u64", (1 << 64) - 1, "f64", 2.0 ** 64),
    ("u64", (1 << 53) + 1, "f64", 2.0 ** 53),
    ("i64", (1 << 63) - 1, "f64", 2.0 ** 63),
    # By way of f32.
    ("u32", (1 << 31) + (1 << 23) + 1, "bf16", 2.0 ** 31 + 2.0 ** 24),
    ("i32", (1 << 30) + (1 << 22) + 1, "bf16", 2.0 ** 30 + 2.0 ** 23),
    ("i32", 2049, "f16", 2048.0), ("i32", 2051, "f16", 2052.0), ("i64", 65519, "f16", 65504.0), ("i64", 65520, "f16", math.inf),
    ("i32", 464, "f8_e4m3fn", 448.0), ("i64", -248, "f8_e4m3fnuz", math.nan), ("u16", 61440, "f8_e5m2", math.inf),
    ("u64", (1 << 64) - 1, "f16", math.inf), ("i64", -(1 << 63), "f8_e5m2", -math.inf), ("u64", 1 << 63, "f8_e4m3fn", math.nan),
])
def test_a_value_is_rounded_once(db, source, number, target, expected):
    got, = decode(target, convert(db, encode(source, [number]), source, target))
    assert repr(got) == repr(expected)


@pytest.mark.parametrize("target", [*HALVES, "f32", *FP8])
def test_a_value_too_large_becomes_an_infinity_or_where_there_is_none_nan(db, target):
    got = decode(target, convert(db, encode("f64", [1e300, -1e300, math.inf, -math.inf]), "f64", target))
    kind = FLOATS[target][4]
    assert repr(got) == repr([math.inf, -math.inf] * 2 if kind == "ieee" else [math.nan] * 4)


@pytest.mark.parametrize("target", ["f64", "f32", *HALVES, *FP8])
@pytest.mark.parametrize("source", ["f64", "f32", *HALVES, *FP8])
def test_nan_stays_nan(db, source, target):
    data = b"".join(p.to_bytes(reference.WIDTHS[source], "little") for p in nans(source))
    assert all(v != v for v in decode(source, data))
    assert all(v != v for v in decode(target, convert(db, data, source, target)))


def nans(dtype):
    """Patterns of NaNs: quiet, signalling, of either sign, with a payload in the lowest bits only."""
    width, exponent_bits, fraction_bits, _, kind = FLOATS[dtype]
    sign = 1 << exponent_bits + fraction_bits
    if kind == "fnuz":
        return [sign]
    if kind == "fn":
        return [sign - 1, 2 * sign - 1]
    infinity = sign - (1 << fraction_bits)
    return [infinity | s | f for s in (0, sign) for f in (1, 1 << fraction_bits - 1, (1 << fraction_bits) - 1)]


@pytest.mark.parametrize("target", FP8)
def test_minus_zero_keeps_its_sign_where_there_is_one(db, target):
    # In the fnuz types its pattern is NaN: what rounds to -0 must become 0.
    expected = b"\0" if FLOATS[target][4] == "fnuz" else b"\x80"
    assert convert(db, encode("f32", [-0.0, -1e-30]), "f32", target) == expected * 2
    assert convert(db, b"\0\x80", "bf16", target) == expected


# ---------------------------------------------------------------------------------------------------------- integers

RANGES = {t: (-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1) if signed else (0, (1 << 8 * width) - 1)
          for t, (width, signed) in INTEGERS.items()}


@pytest.mark.parametrize("target", INTEGERS)
@pytest.mark.parametrize("source", ["f64", "f32", *HALVES])
def test_fractions_are_cut_off_towards_zero(db, source, target):
    values = [0.0, -0.0, 0.5, -0.5, 0.9375, -0.9375, 1.9375, 2.5, 3.5, 100.5, 2.0 ** -14]
    if target[0] == "i":
        values += [-1.0, -1.9375, -2.5, -100.5]
    assert decode(target, convert(db, encode(source, values), source, target)) == [math.trunc(v) for v in values]


@pytest.mark.parametrize("target", INTEGERS)
def test_the_outermost_values_that_fit_do_and_the_next_do_not(db, target):
    low, high = RANGES[target]
    fit = {math.nextafter(high + 1.0, 0), float(low), math.nextafter(low - 1.0, math.inf), -0.9999999999999999}
    fit = {v for v in fit if low <= math.trunc(v) <= high}
    assert decode(target, convert(db, encode("f64", sorted(fit)), "f64", target)) == [math.trunc(v) for v in sorted(fit)]
    misfits = {high + 1.0, math.nextafter(high + 1.0, math.inf), math.nextafter(low - 1.0, -math.inf) if low > -(1 << 53) else
               math.nextafter(float(low), -math.inf), float(low - 1) if low > -(1 << 53) else -1e300, math.nan, math.inf,
               -math.inf, 1e300}
    for misfit in misfits:
        fails(db, encode("f64", [misfit]), "f64", target, [1], "0")


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", INTEGERS)
def test_an_integer_that_does_not_fit_is_an_error(db, source, target):
    low, high = RANGES[target]
    ends = RANGES[source]
    for number in {low - 1, low, high, high + 1, ends[0], ends[1], 0}:
        if ends[0] <= number <= ends[1]:
            data = encode(source, [number])
            if low <= number <= high:
                assert decode(target, convert(db, data, source, target)) == [number]
            else:
                fails(db, data, source, target, [1], "0")


def fails(db, data, source, target, shape, coordinates, arguments=""):
    """Converting must fail with a message that names the element by its coordinates."""
    file = writer.write({"w": writer.typed(data, shape, source)})
    text = message(db, f"SELECT zt_dense(?, 'w', ?{arguments})", file, target)
    assert text.startswith(place(file, "w"))
    assert re.search(rf"\[{coordinates}\]".replace(",", ", ?"), text), text


@pytest.mark.parametrize("source, misfit",
                         [("f32", math.nan), ("f64", 1e10), ("i32", -1), ("bf16", -1.0), ("f8_e5m2", math.inf), ("u64", 1 << 63)])
@pytest.mark.parametrize("shape, position, coordinates", [
    ([7], 0, "0"), ([7], 6, "6"), ([2, 3], 4, "1,1"), ([2, 3, 4], 23, "1,2,3"), ([1, 1, 2, 1], 1, "0,0,1,0"),
    ([50_000, 2], 99_999, "49999,1")])
def test_a_value_that_does_not_fit_is_named_by_its_coordinates(db, source, misfit, shape, position, coordinates):
    count = math.prod(shape)
    one = encode(source, [1])
    data = one * position + encode(source, [misfit]) + one * (count - position - 1)
    fails(db, data, source, "u8", shape, coordinates)
    fails(db, data, source, "u8", shape, coordinates, f", {coordinates.split(',')[0]}, 1")


def test_what_lies_outside_of_a_slice_does_not_hinder_it(db):
    file = writer.write({"w": writer.typed(encode("f32", [math.nan, 1, 2, math.nan]), [4], "f32")})
    assert value(db, "SELECT zt_dense(?, 'w', 'u8', 1, 2)", file) == b"\1\2"


def test_a_scalar_that_does_not_fit_has_no_coordinates(db):
    fails(db, encode("f32", [300.0]), "f32", "u8", [], "")


def test_an_element_of_a_sparse_object_that_does_not_fit_is_named_by_its_coordinates(db):
    file = writer.write({"s": writer.sparse_csr([2, 3], [0, 1, 2], [1, 2], struct.pack("<2f", 7, -9), "f32")})
    assert value(db, "SELECT zt_dense(?, 's', 'i8')", file) == bytes([0, 7, 0, 0, 0, 256 - 9])
    text = message(db, "SELECT zt_dense(?, 's', 'u8')", file)
    assert text.startswith(place(file, "s")) and re.search(r"\[1, ?2\]", text), text


# --------------------------------------------------------------------------------------------------- bool and complex

@pytest.mark.parametrize("target", [t for t in STORED if t not in COMPLEX])
def test_every_nonzero_byte_of_a_bool_is_1(db, target):
    got = convert(db, bytes([0, 1, 2, 0x80, 0xff]), "bool", target)
    assert got == bytes([0, 1, 2, 0x80, 0xff]) if target == "bool" else decode(target, got) == [0, 1, 1, 1, 1]


@pytest.mark.parametrize("source", ["f64", "f32", *HALVES, *FP8])
def test_to_bool_all_but_zero_is_1(db, source):
    values = [0.0, 1.0, -1.0, 0.25, reference.magnitude(source, 1), math.nan]
    expected = [0, 1, 1, 1, 1, 1]
    if FLOATS[source][4] == "ieee":
        values, expected = values + [math.inf], expected + [1]
    if FLOATS[source][4] != "fnuz":
        values, expected = values + [-0.0], expected + [0]
    assert list(convert(db, encode(source, values), source, "bool")) == expected


@pytest.mark.parametrize("source", INTEGERS)
def test_integers_become_bools(db, source):
    values = [0, 1, 2, RANGES[source][0] or 3, RANGES[source][1]]
    if source[1:] != "8":
        values.append(256)    # Its low byte is 0
    assert list(convert(db, encode(source, values), source, "bool")) == [0] + [1] * (len(values) - 1)


@pytest.mark.parametrize("source", COMPLEX)
@pytest.mark.parametrize("target", [t for t in reference.ALL if t not in COMPLEX and t != "bool"])
def test_complex_to_real_is_an_error(db, source, target):
    file = writer.write({"w": writer.typed(encode(source, [1 + 0j, 2 + 0j]), [2], source)})
    assert message(db, "SELECT zt_dense(?, 'w', ?)", file, target).startswith(place(file, "w"))


@pytest.mark.parametrize("target", COMPLEX)
@pytest.mark.parametrize("source", [t for t in STORED if t not in COMPLEX])
def test_a_real_number_becomes_complex_with_imaginary_part_0(db, source, target):
    part = COMPLEX[target]
    values = [1, 0, 1] if source == "bool" else [1, 0, 3, 96]
    got = decode(part, convert(db, encode(source, values), source, target))
    assert repr(got[::2]) == repr([float(v) for v in values])
    assert repr(got[1::2]) == repr([0.0] * len(values))


def test_complex_parts_are_converted_each_for_itself(db):
    values = [complex(1e300, -0.1), complex(-0.0, math.nan), complex(math.inf, 1e-300)]
    got = convert(db, encode("complex128", values), "complex128", "complex64")
    assert repr(decode("f32", got)) == repr([math.inf, numpy.float32(-0.1).item(), -0.0, math.nan, math.inf, 0.0])
    back = convert(db, got, "complex64", "complex128")
    assert repr(decode("f64", back)) == repr(decode("f32", got))


def test_complex64_and_the_f8_types_may_be_dtypes_in_1_1(db):
    objects = {"c": writer.dense(encode("complex64", [1 - 2j]), [1], "complex64"), "e": writer.dense(b"\x38", [1], "f8_e4m3"),
               "f": writer.dense(b"\x3c", [1], "f8_e5m2")}
    file = writer.write(objects, "1.1")
    assert value(db, "SELECT zt_dense(?, 'c', 'complex128')", file) == encode("complex128", [1 - 2j])
    assert value(db, "SELECT zt_dense(?, 'e', 'f32')", file) == encode("f32", [1.0])
    assert value(db, "SELECT zt_dense(?, 'f', 'f32')", file) == encode("f32", [1.0])


# -------------------------------------------------------------------------------------- the small types of zTensor 2

def test_f4_e2m1_is_packed_two_to_a_byte_the_first_in_the_low_half(db):
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0]
    assert convert(db, encode("f32", values), "f32", "f4_e2m1").hex() == "1032547698badcfe"
    assert convert(db, encode("i8", [1, -6, 3]), "i8", "f4_e2m1").hex() == "f205"


@pytest.mark.parametrize("source", ["f64", "f32", *HALVES, "i8", "bool", "f8_e4m3fn"])
def test_values_are_rounded_to_f4_e2m1(db, source):
    values = [1, 0, 1] if source == "bool" else [5, -5, 3, 6, 0, 2, 1] if source == "i8" else [i / 16 for i in range(-96, 97)]
    data = encode(source, values)
    assert convert(db, data, source, "f4_e2m1") == encode("f4_e2m1", decode(source, data))


@pytest.mark.parametrize("misfit", [math.nan, math.inf, -math.inf, 8.0, -8.0, 1e30])
def test_what_f4_e2m1_cannot_express_is_an_error(db, misfit):
    fails(db, encode("f64", [1.0, misfit, 2.0]), "f64", "f4_e2m1", [3, 1], "1,0")


@pytest.mark.parametrize("source", ["f64", "f32", "bf16"])
def test_values_are_rounded_to_f8_e8m0(db, source):
    exponents = range(-126, 128)
    values = [math.ldexp(m, e) for e in exponents for m in (1.0, 1.25, 1.4375, 1.5625, 1.75) if e < 127 or m == 1.0]
    data = encode(source, values)
    assert convert(db, data, source, "f8_e8m0") == encode("f8_e8m0", decode(source, data))


def test_integers_and_nan_become_f8_e8m0(db):
    assert list(convert(db, encode("u64", [1, 2, 1 << 63, 5]), "u64", "f8_e8m0")) == [127, 128, 190, 129]
    assert convert(db, encode("f32", [math.nan]), "f32", "f8_e8m0") == b"\xff"


@pytest.mark.parametrize("misfit", [0.0, -0.0, -1.0, -math.inf, -1e-300])
def test_what_f8_e8m0_cannot_express_is_an_error(db, misfit):
    fails(db, encode("f64", [1.0, misfit]), "f64", "f8_e8m0", [1, 2], "0,1")


@pytest.mark.parametrize("type", ["f8_e8m0", "f4_e2m1"])
def test_a_1_x_file_has_no_such_type(db, type):
    file = writer.write({"w": writer.dense(b"\x7f", [1], type=type)})
    assert message(db, "SELECT zt_dense(?, 'w')", file).startswith(place(file, "w"))


# ------------------------------------------------------------------------------------------------------ other sources

@pytest.mark.parametrize("target", ["f32", "f16", "bf16", "f64", "i64", "u8", "f8_e4m3fn", "bool", "complex64"])
@pytest.mark.parametrize("kind", ["zstd", "big", "csr", "coo"])
def test_every_kind_of_object_converts_alike(db, kind, target):
    numbers = [0, 7, 0, 0, 0, 9]
    stored = struct.pack("<2f", 7, 9)
    file = {
        "zstd": lambda: writer.write({"w": writer.zstd_parts(writer.dense(struct.pack("<6f", *numbers), [2, 3], "f32"))}),
        "big": lambda: writer.write({"w": writer.dense(struct.pack(">6f", *numbers), [2, 3], "f32",
                                                       data_endianness="big")}, "0.1"),
        "csr": lambda: writer.write({"w": writer.sparse_csr([2, 3], [0, 1, 2], [1, 2], stored, "f32")}),
        "coo": lambda: writer.write({"w": writer.sparse_coo([2, 3], [(1, 2), (0, 1)], stored[4:] + stored[:4], "f32")}),
    }[kind]()
    assert value(db, "SELECT zt_dense(?, 'w', ?)", file, target) == encode(target, [float(n) for n in numbers])
    assert value(db, "SELECT zt_dense(?, 'w', ?, 1, 1)", file, target) == encode(target, [0.0, 0.0, 9.0])


@pytest.mark.parametrize("source, target",
                         [("f32", "f16"), ("f64", "f8_e5m2"), ("bf16", "f32"), ("i64", "f32"), ("f32", "i16"), ("f16", "f64")])
@pytest.mark.parametrize("count", [1, 7, 63, 64, 65, 4095, 4097, 100_003])
def test_no_element_is_lost_whatever_the_count(db, source, target, count):
    # Inner loops work on blocks: the ends of blocks, and what does not fill one, must come out as the rest.
    values = [float(i % 2039 - 1000) for i in range(count)] if source[0] != "i" else [i % 2039 - 1000 for i in range(count)]
    data = encode(source, values)
    assert reference.comparable(target, convert(db, data, source, target)) == reference.comparable(
        target, encode(target, decode(source, data)))
