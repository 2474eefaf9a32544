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

# The bounds in REFERENCE.md: for floats; for integers; and, for floats narrower than f64, for the mean, beside the root mean square
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


def whole(values):
    """Numbers as integers, in units of 2^-1074: their sums cost less than those of fractions."""
    return [v << 1074 if isinstance(v, int) else (ratio := v.as_integer_ratio())[0] << 1074 - ratio[1].bit_length() + 1 for v in values]


def assert_statistics(got, dtype, values, more_zeros=0):
    numbers = whole(values)
    n, total = len(numbers) + more_zeros, Fraction(sum(numbers), 1 << 1074)
    squares = Fraction(sum(v * v for v in numbers), 1 << 2148)
    mean, std, l2 = got
    exact = total / n
    bound = FLOATS if reference.is_float(dtype) else INTEGERS
    if dtype == "f64" or not reference.is_float(dtype):
        assert mean == float(exact)
    else:
        assert abs(Fraction(mean) - exact) <= max(NARROW_MEAN * Fraction(exact_root(squares / n)), LEAST)
    variance = squares / n - exact * exact
    if variance == 0:
        assert (mean, std) == (float(exact), 0.0)
    assert near(std, exact_root(variance), bound), (std, exact_root(variance))
    root = exact_root(squares)
    assert math.isinf(l2) if math.isinf(root) else near(l2, root, bound), (l2, root)


def statistics(db, object):
    (*got, error), = rows(db, "SELECT mean, std, l2, error FROM zt_stats(?)", writer.write({"w": object}))
    assert error is None
    return got


# ---------------------------------------------------------------------------------------------------------- floats

def cancelling(n, chance):
    """Numbers of all sizes and their opposites, and one without an opposite."""
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
    assert_statistics(statistics(db, object), dtype, values, elements - len(values))


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
        # A huge value is in another range than the one that it cancels
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
    mean = Fraction(sum(whole(array.tolist())), MANY << 1074)
    assert abs(Fraction(got[0]) - mean) <= NARROW_MEAN if dtype == "f32" else got[0] == float(mean)


# ------------------------------------------------------------------------------------------------------- comparison

# The bounds in REFERENCE.md for products: beside their sum, beside the product of the lengths, and for narrower floats
DOT, DOT_LENGTHS, NARROW_DOT = Fraction(1, 10 ** 15), Fraction(1, 10 ** 20), Fraction(1, 10 ** 12)
COSINE = Fraction(1, 10 ** 12)


def compared(db, one, other):
    first, second = (writer.write({"w": object}) for object in (one, other))
    (*got, error), = rows(db, "SELECT equal, max_abs, mean_abs, rmse, l2, other_l2, dot, cosine, error"
                              " FROM zt_compare(?, 'w', ?, 'w')", first, second)
    assert error is None
    return got


def shown(number):
    """The nearest double."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def assert_comparison(got, dtypes, one, other):
    equal, most, mean, rmse, l2, other_l2, dot, cosine = got
    x, y, unit = whole(one), whole(other), 1 << 1074
    n, distances = len(x), [abs(a - b) for a, b in zip(x, y)]
    xx, yy, xy, dd = (Fraction(sum(p), unit * unit) for p in ([a * a for a in x], [b * b for b in y], [a * b for a, b in zip(x, y)],
                                                             [d * d for d in distances]))
    assert equal == sum(a == b for a, b in zip(x, y))
    assert most == shown(Fraction(max(distances), unit))
    assert near(mean, Fraction(sum(distances), n * unit), FLOATS)
    for got_root, exact in ((rmse, dd / n), (l2, xx), (other_l2, yy)):
        root = exact_root(exact)
        assert math.isinf(got_root) if math.isinf(root) else near(got_root, root, FLOATS)
    lengths = exact_root_of(xx * yy)
    narrow = all(reference.is_float(t) and t != "f64" for t in dtypes)
    if abs(xy) <= Fraction(math.nextafter(math.inf, 0)):
        allowed = NARROW_DOT * lengths if narrow else DOT * abs(xy) + DOT_LENGTHS * lengths
        assert abs(Fraction(dot) - xy) <= max(allowed, LEAST), (dot, float(xy))
    else:
        assert dot == shown(xy)
    if not lengths:
        assert cosine is None
        return
    assert abs(Fraction(cosine) - xy / lengths) <= COSINE
    if xy * xy == xx * yy and set(map(abs, y)) == set(map(abs, x)):
        assert cosine == (1 if xy > 0 else -1)


def exact_root_of(number):
    """The root of a fraction to 200 bits, as a fraction, however large it is."""
    if not number:
        return Fraction(0)
    shift = 400 - (number.numerator.bit_length() - number.denominator.bit_length())
    shift += shift % 2
    scaled = number * Fraction(2) ** shift
    return Fraction(math.isqrt(scaled.numerator // scaled.denominator)) / Fraction(2) ** (shift // 2)


def dense_of(dtype, values):
    values, data = stored(dtype, values)
    return values, writer.dense(data, [len(values)], dtype)


@pytest.mark.parametrize("n", [1, 33, 4097])
@pytest.mark.parametrize("dtypes", [("f64", "f64"), ("f32", "f32"), ("bf16", "f64"), ("f16", "f32")], ids="-".join)
@pytest.mark.parametrize("case", FLOAT_CASES)
def test_comparison_of_floats(db, case, dtypes, n):
    make, chance = FLOAT_CASES[case], random.Random(f"{case} {n}")
    (one, first), (other, second) = (dense_of(dtype, make(n, chance)) for dtype in dtypes)
    assert_comparison(compared(db, first, second), dtypes, one, other)


@pytest.mark.parametrize("n", [1, 3, 1000, 4096, 4099, 20000])
@pytest.mark.parametrize("dtype", ["f64", "f32", "bf16", "f16", "i64", "u64", "i32", "u8"])
def test_the_cosine_of_a_tensor_with_itself_is_1_and_with_its_opposite_minus_1(db, dtype, n):
    cases = FLOAT_CASES if reference.is_float(dtype) else INTEGER_CASES
    for case, make in cases.items():
        chance = random.Random(f"{case} {n}")
        values = make(n, chance) if reference.is_float(dtype) else [make(*ends(dtype), chance) for _ in range(n)]
        values, object = dense_of(dtype, values)
        if not any(values):
            continue
        got = compared(db, object, object)
        assert got[:4] == [n, 0.0, 0.0, 0.0] and got[7] == 1.0 and got[4] == got[5], case
        if reference.is_float(dtype):
            assert compared(db, object, dense_of(dtype, [-v for v in values])[1])[7] == -1.0, case
            halves, half = dense_of(dtype, [v / 4 for v in values])
            if [4 * v for v in halves] == values:
                assert compared(db, object, half)[7] == 1.0, case


def test_products_that_cancel_leave_what_is_left(db):
    chance = random.Random(3)
    for n in (3, 10, 4096, 9001):
        one = [chance.gauss(0, 1) * 10.0 ** chance.randrange(0, 10) for _ in range(n)]
        other = [chance.gauss(0, 1) for _ in range(n)]
        one, other = one + [-v for v in one] + [3.0], other + other + [2.0 ** -20]
        (_, first), (_, second) = dense_of("f64", one), dense_of("f64", other)
        assert compared(db, first, second)[6] == pytest.approx(3 * 2.0 ** -20, rel=1e-6)


@pytest.mark.parametrize("n", [1, 33, 4097])
@pytest.mark.parametrize("dtypes", [("i64", "i64"), ("u64", "u64"), ("i64", "u64"), ("u64", "i32"), ("i32", "i32"), ("u8", "i8"), ("i16", "u16")],
                         ids="-".join)
@pytest.mark.parametrize("case", INTEGER_CASES)
def test_comparison_of_integers(db, case, dtypes, n):
    chance = random.Random(f"{case} {n}")
    (one, first), (other, second) = (dense_of(t, [INTEGER_CASES[case](*ends(t), chance) for _ in range(n)]) for t in dtypes)
    assert_comparison(compared(db, first, second), dtypes, one, other)


def test_integers_that_f64_does_not_tell_apart_are_not_equal(db):
    big = 1 << 60
    first, second = (dense_of("i64", [big, big + k, -big])[1] for k in (0, 1))
    assert compared(db, first, second)[:3] == [2, 1.0, 1 / 3]
    low, high = dense_of("i64", [-(1 << 63)])[1], dense_of("u64", [(1 << 64) - 1])[1]
    assert compared(db, low, high)[:4] == [0, 3 * 2.0 ** 63, 3 * 2.0 ** 63, 3 * 2.0 ** 63]
    assert compared(db, dense_of("i64", [-1])[1], dense_of("u64", [(1 << 64) - 1])[1])[0] == 0


def test_a_mean_of_differences_beyond_f64_is_not(db):
    one, first = dense_of("f64", [1.5e308] + [0.0] * 9)
    other, second = dense_of("f64", [-1.5e308] + [0.0] * 9)
    got = compared(db, first, second)
    assert got[1] == math.inf and got[2] == pytest.approx(3e307, rel=1e-12) and got[3] == pytest.approx(3e307 * math.sqrt(10), rel=1e-12)


@pytest.mark.parametrize("dtype", ["f64", "f32", "i64"])
def test_a_comparison_by_any_number_of_threads_gives_the_same_bits(db, save, dtype):
    array = many(dtype)
    path = save("x.zt", writer.write({"w": writer.dense(array.tobytes(), [MANY], dtype), "v": writer.dense(array[::-1].tobytes(), [MANY], dtype)}))
    seen = set()
    for threads in (1, 2, 3, 8):
        value(db, "SELECT zt_threads(?)", threads)
        (got,) = rows(db, "SELECT mean_abs, rmse, l2, other_l2, coalesce(dot, 0.0), cosine FROM zt_compare(?1, 'w', ?1, 'v')", path)
        seen.add(struct.pack("<6d", *got))
        assert value(db, "SELECT cosine FROM zt_compare(?1, 'w', ?1, 'w')", path) == 1.0
    assert len(seen) == 1


# -------------------------------------------------------------------------------------------------------- histograms

@pytest.mark.parametrize("bins", [1, 2, 7, 64, 65536])
@pytest.mark.parametrize("dtype, low, high", [("i64", 1 << 60, (1 << 60) + 10), ("u64", (1 << 64) - 1000, (1 << 64) - 1), ("u64", 0, (1 << 64) - 1),
                                              ("i64", -(1 << 63), (1 << 63) - 1), ("i64", -(1 << 63), 5 - (1 << 63)), ("i64", 0, (1 << 53) + 1),
                                              ("i64", -(1 << 53), 3), ("u64", (1 << 62) + 1, (1 << 62) + 2)], ids=str)
def test_bins_of_integers_beyond_f64_have_integers_as_ends(db, dtype, low, high, bins):
    chance = random.Random(f"{low} {bins}")
    values = [low, high] + [chance.randrange(low, high + 1) for _ in range(5000)]
    got = rows(db, "SELECT low, high, count FROM zt_histogram(?, 'w', ?)", writer.write({"w": dense_of(dtype, values)[1]}), bins)
    assert all(isinstance(edge, str if int(edge) >= 1 << 63 else int) for row in got for edge in row[:2])
    edges = [int(row[0]) for row in got] + [int(got[-1][1])]
    assert edges == [low - (-i * (high - low) // bins) for i in range(bins + 1)]
    assert [int(row[1]) for row in got] == edges[1:]
    counts = [0] * bins
    for v in values:
        counts[min((v - low) * bins // (high - low), bins - 1)] += 1
    assert [row[2] for row in got] == counts


def test_integers_that_f64_holds_have_reals_as_ends_and_equal_ones_one_bin(db):
    def histogram(dtype, values):
        return rows(db, "SELECT bin, low, high, count FROM zt_histogram(?, 'w', 2)", writer.write({"w": dense_of(dtype, values)[1]}))

    assert histogram("i64", [0, (1 << 53) - 1]) == [(0, 0.0, 2.0 ** 52 - 0.5, 1), (1, 2.0 ** 52 - 0.5, 2.0 ** 53 - 1, 1)]
    assert histogram("i64", [(1 << 53) + 1] * 3) == [(0, (1 << 53) + 1, (1 << 53) + 1, 3)]
    assert histogram("u64", [(1 << 64) - 1]) == [(0, "18446744073709551615", "18446744073709551615", 1)]
    assert histogram("u64", []) == []
