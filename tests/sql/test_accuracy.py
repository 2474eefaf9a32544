"""How accurate zt_stats and zt_compare are: the bounds that REFERENCE.md states, over numbers that are chosen against them."""
import math
import random
import struct
from fractions import Fraction

import numpy
import pytest

import reference
import writer
from support import rows, value
from test_stats import exact_root

# What REFERENCE.md states. Of floats; of integers; and, of floats narrower than f64, of the mean, beside the root mean square
FLOATS, INTEGERS, NARROW_MEAN = Fraction(1, 10 ** 12), Fraction(1, 10 ** 15), Fraction(1, 10 ** 13)
LEAST = Fraction(math.ulp(0.0))

LENGTHS = [1, 2, 33, 4096, 5001]


def stored(dtype, values):
    """The values as that type has them: floats in its range, rounded; and their bytes."""
    if reference.is_float(dtype) and dtype != "f64":
        top = {"f32": 3e38, "bf16": 3e38, "f16": 6e4}[dtype]
        values = [max(-top, min(top, v)) for v in values]
    data = reference.encode(dtype, values)
    return reference.decode(dtype, data, len(values)), data


def near(shown, exact, bound):
    """Within the bound of it, or a step of the least numbers; an infinity where f64 has no such number."""
    if math.isinf(shown):
        return exact >= Fraction(math.nextafter(math.inf, 0))
    return abs(Fraction(shown) - Fraction(exact)) <= max(bound * abs(Fraction(exact)), LEAST)


def assert_statistics(got, dtype, values, more_zeros=0):
    numbers = [Fraction(v) for v in values]
    n, total, squares = len(numbers) + more_zeros, sum(numbers), sum(v * v for v in numbers)
    mean, std, l2 = got
    exact = total / n
    bound = FLOATS if reference.is_float(dtype) else INTEGERS
    if dtype == "f64" or not reference.is_float(dtype):
        assert mean == float(exact)
    else:
        assert abs(Fraction(mean) - exact) <= max(NARROW_MEAN * Fraction(exact_root(squares / n)), LEAST)
    variance = squares / n - exact * exact
    if variance == 0:
        assert (mean, std) == (float(numbers[0] if numbers else 0), 0.0)
    assert near(std, exact_root(variance), bound), (std, exact_root(variance))
    root = exact_root(squares)
    assert math.isinf(l2) if math.isinf(root) else near(l2, root, bound), (l2, root)


def statistics(db, object):
    (*got, error), = rows(db, "SELECT mean, std, l2, error FROM zt_stats(?)", writer.write({"w": object}))
    assert error is None
    return got


# ---------------------------------------------------------------------------------------------------------- floats

def cancelling(n, chance):
    """Numbers of all sizes and their opposites, and one that is left."""
    half = [chance.uniform(-1, 1) * 2.0 ** chance.randrange(-150, 1020) for _ in range(n // 2)]
    values = half + [-v for v in half] + [chance.gauss(0, 1e-9)] * (n % 2)
    chance.shuffle(values)
    return values


def outliers(n, chance):
    """Where sums may be taken around, there is a number far from all others."""
    values = [chance.gauss(0, 1) for _ in range(n)]
    for start in range(0, n, 4096):
        last = min(start + 4096, n) - 1
        for i in (start, (start + last + 1) // 2, last):
            values[i] = 10.0 ** chance.randrange(1, 150)
    return values


FLOAT_CASES = {
    "all sizes": lambda n, chance: [chance.uniform(-1, 1) * 2.0 ** chance.randrange(-1070, 1023) for _ in range(n)],
    "usual": lambda n, chance: [chance.gauss(0, 1) for _ in range(n)],
    "positive, of many sizes": lambda n, chance: [math.exp(chance.gauss(0, 20)) for _ in range(n)],
    "cancelling": cancelling,
    "huge, one, minus huge": lambda n, chance: [(1e308, 1.0, -1e308)[i % 3] for i in range(n)],
    "huge, less huge, tiny": lambda n, chance: [(1e300, 1e284, 1e-300, 3.0, -1e284, -1e300)[i % 6] for i in range(n)],
    "near overflow": lambda n, chance: [chance.choice([1.7e308, -1.7e308, 1e308, 1.0]) for _ in range(n)],
    "the largest": lambda n, chance: [math.nextafter(math.inf, 0) * (-1) ** (i // 3) for i in range(n)],
    "subnormal": lambda n, chance: [chance.choice([0.0, 5e-324, -5e-324, 1e-310]) for _ in range(n)],
    "neighbours": lambda n, chance: [chance.choice([1 / 3, math.nextafter(1 / 3, 1)]) for _ in range(n)],
    "neighbours far from 0": lambda n, chance: [1e15 + chance.choice([0.0, 0.125, 0.25]) for _ in range(n)],
    "f32's neighbours": lambda n, chance: [2.0 ** 24 + 2 * chance.randrange(3) for _ in range(n)],
    "outliers": outliers,
    "far and a zero": lambda n, chance: [0.0 if i % 4096 == 0 else 1e6 + chance.gauss(0, 1e-3) for i in range(n)],
    **{f"constant {c:g}": lambda n, chance, c=c: [c] * n for c in (0.1, -1 / 3, 1e-310, 1.7e308, 65504.0, 0.0)},
}


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ["f64", "f32", "bf16", "f16"])
@pytest.mark.parametrize("case", FLOAT_CASES)
def test_statistics_of_floats(db, case, dtype, n):
    values, data = stored(dtype, FLOAT_CASES[case](n, random.Random(f"{case} {n}")))
    assert_statistics(statistics(db, writer.dense(data, [n], dtype)), dtype, values)


@pytest.mark.parametrize("n", [3, 5000])
def test_what_is_not_finite_does_not_change_the_mean_of_the_rest(db, n):
    values = cancelling(2 * n + 1, random.Random(n))
    odd = values + [math.nan, math.inf, -math.inf]
    random.Random(n).shuffle(odd)
    finite = [v for v in odd if math.isfinite(v)]
    assert_statistics(statistics(db, writer.dense(reference.encode("f64", odd), [len(odd)], "f64")), "f64", finite)


def test_the_mean_of_f64_is_rounded_to_nearest_and_to_even(db):
    one, ulp = 1.0, 2.0 ** -52
    for values in ([one, one + ulp], [one + ulp, one + 2 * ulp], [-one, -one - ulp], [0.0, 5e-324], [5e-324, 1e-323], [0.0, 1.5e-323],
                   [1.0, 1.0, 1.0 + ulp], [1e308] * 7 + [1.5e308], [3.0, 2.0 ** -60, -2.0 ** -61], [1.0, -1.0], [-5e-324, 0.0, 0.0]):
        assert statistics(db, writer.dense(reference.encode("f64", values), [len(values)], "f64"))[0] == float(sum(map(Fraction, values)) / len(values))


# -------------------------------------------------------------------------------------------------------- integers

def ends(dtype):
    width, signed = reference.INTEGERS[dtype]
    return (-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1) if signed else (0, (1 << 8 * width) - 1)


INTEGER_CASES = {
    "any": lambda low, high, chance: chance.randrange(low, high + 1),
    "both ends": lambda low, high, chance: chance.choice([low, high, 0]),
    "neighbours at the end": lambda low, high, chance: high - chance.randrange(2),
    "neighbours at the beginning": lambda low, high, chance: low + chance.randrange(3),
    "neighbours": lambda low, high, chance: high // 3 + chance.randrange(2),
    "equal to the last": lambda low, high, chance: high,
    "equal to the first": lambda low, high, chance: low,
    "beyond 32 bits": lambda low, high, chance: min(high, chance.choice([0, 1 << 32, (1 << 32) - 1, (1 << 32) + 1])),
}


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("dtype", ["i64", "u64", "i32", "u32", "i16", "u8"])
@pytest.mark.parametrize("case", INTEGER_CASES)
def test_statistics_of_integers(db, case, dtype, n):
    chance = random.Random(f"{case} {dtype} {n}")
    values = [INTEGER_CASES[case](*ends(dtype), chance) for _ in range(n)]
    assert_statistics(statistics(db, writer.dense(reference.encode(dtype, values), [n], dtype)), dtype, values)


def test_the_deviation_of_neighbours_beyond_f64_is_theirs(db):
    for dtype, start in (("i64", 1 << 60), ("i64", -(1 << 63)), ("u64", (1 << 64) - 4), ("i64", (1 << 53) + 1)):
        got = statistics(db, writer.dense(reference.encode(dtype, [start, start + 1, start + 2, start + 3]), [4], dtype))
        assert got[1] == math.sqrt(1.25)


# ---------------------------------------------------------------------------------------- objects of other kinds

@pytest.mark.parametrize("dtype, values", [("f64", [1e308, -1e308, 1e-300]), ("f64", [1e17, 1.0]), ("f32", [3e38, -3e38, 1e-38]),
                                           ("i64", [-(1 << 63), (1 << 63) - 1, 5]), ("u64", [(1 << 64) - 1, 1]), ("u64", [7])], ids=str)
@pytest.mark.parametrize("elements", [5, 4096, 1 << 40])
def test_implicit_zeros(db, dtype, values, elements):
    values, data = stored(dtype, values)
    object = writer.sparse_coo([elements], [(i,) for i in range(len(values))], data, dtype)
    numbers = [Fraction(v) for v in values]
    assert_statistics(statistics(db, object), dtype, numbers, elements - len(values))


@pytest.mark.parametrize("dtype", ["f64", "f32", "i64", "u64"])
def test_of_nothing_there_is_none(db, dtype):
    assert statistics(db, writer.dense(b"", [0], dtype)) == [None] * 3


# ------------------------------------------------------------------------------------------------------ any number of threads

MANY = 3 * (1 << 19) + 4099   # Several ranges, which threads take one each


def many(kind):
    generator = numpy.random.default_rng(5)
    if kind == "i64":
        return generator.integers(-1 << 63, (1 << 63) - 1, MANY, "<i8")
    values = generator.normal(size=MANY)
    if kind == "f64":
        # What is huge is in another range than what it cancels
        values[:1000] = generator.normal(size=1000) * 1e300
        values[-1000:] = -values[:1000]
    return values.astype({"f64": "<f8", "f32": "<f4"}[kind])


@pytest.mark.parametrize("dtype", ["f64", "f32", "i64"])
def test_any_number_of_threads_gives_the_same_bits(db, save, dtype):
    array = many(dtype)
    path = save("x.zt", writer.write({"w": writer.dense(array.tobytes(), [MANY], dtype)}))
    seen = set()
    for threads in (1, 2, 3, 8):
        value(db, "SELECT zt_threads(?)", threads)
        (got,) = rows(db, "SELECT mean, std, l2 FROM zt_stats(?)", path)
        seen.add(struct.pack("<3d", *got))
    assert len(seen) == 1
    if dtype == "f32":
        assert abs(got[0] - math.fsum(array) / MANY) <= 1e-13
    else:
        assert got[0] == float(sum(map(Fraction, array.tolist())) / MANY)
