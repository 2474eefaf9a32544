"""zt_stats: one row of statistics for each object, over its logical values."""
import math
import random
import sqlite3
import struct
from fractions import Fraction

import numpy
import pytest

import corpus
import reference
import writer
from support import message, prefix, quoted, rows, value

BOTH_WAYS = pytest.mark.parametrize("how", ["path", "blob"])
MEASURES = "elements, zeros, nans, infs, min, max, mean, std, l2"
ACCURACY = 1e-12


def exact_root(number):
    """The square root of a fraction, to about 60 digits, as a double; an infinity if it is too large for one."""
    if not number:
        return 0.0
    scale = 4 ** max(0, 200 - number.numerator.bit_length() + number.denominator.bit_length())
    try:
        return float(Fraction(math.isqrt(number.numerator * scale // number.denominator), math.isqrt(scale)))
    except OverflowError:
        return math.inf


def statistics(values):
    """The measures, worked out with fractions: rounded once, at the very end. Behind them the mean of the absolute values."""
    finite = [v for v in values if isinstance(v, int) or math.isfinite(v)]
    counts = (len(values), sum(v == 0 for v in values), sum(v != v for v in values),
              sum(v in (math.inf, -math.inf) for v in values))
    if not finite:
        return counts + (None,) * 6
    exact = [Fraction(v) for v in finite]
    total, squares, n = sum(exact), sum(v * v for v in exact), len(exact)
    mean, size = total / n, sum(map(abs, exact)) / n
    ends = [reference.shown(None, int(v) if isinstance(v, bool) else v) for v in (min(finite), max(finite))]
    return counts + (*ends, float(mean), exact_root(squares / n - mean * mean), exact_root(squares), float(size))


def compare(got, expected):
    """Counts, and the ends with their storage class, exactly; mean, std and l2 to twelve digits.

    Where the mean of the absolute values is given as well, the mean is as accurate as that: values that cancel each other
    leave fewer digits of theirs.
    """
    assert got[:4] == expected[:4]
    assert got[4:6] == expected[4:6] and list(map(type, got[4:6])) == list(map(type, expected[4:6]))
    mean, std, l2, *size = expected[6:]
    scales = (mean if not size else size[0], std, l2)
    for name, shown, wanted, scale in zip(("mean", "std", "l2"), got[6:], (mean, std, l2), scales):
        assert type(shown) is type(wanted), name
        assert shown == wanted or abs(shown - wanted) <= max(ACCURACY * abs(scale), 1e-323), (name, shown, wanted)


def of(db, object, generation="1.2"):
    """The measures of an object that is alone in its file."""
    got, = rows(db, f"SELECT {MEASURES}, error FROM zt_stats(?)", writer.write({"w": object}, generation))
    assert got[-1] is None
    return got[:-1]


def of_values(db, values, dtype):
    return of(db, writer.typed(reference.encode(dtype, values), [len(values)], dtype))


# ---------------------------------------------------------------------------------------------------------------- rows

@BOTH_WAYS
def test_there_is_one_row_for_each_object_in_manifest_order(db, save, how):
    file = writer.write({"b": writer.dense(bytes([0, 1, 3])), "a": writer.dense(struct.pack("<2f", -1.5, 1.5), [2, 1], "f32")})
    source = file if how == "blob" else save("x.zt", file)
    path = corpus.path_of(source)
    assert rows(db, "SELECT path, object, elements, zeros, nans, infs, min, max, mean, l2, error FROM zt_stats(?)", source) == [
        (path, "b", 3, 1, 0, 0, 0, 3, 4 / 3, math.sqrt(10), None), (path, "a", 2, 0, 0, 0, -1.5, 1.5, 0.0, math.sqrt(4.5), None)]


def special(dtype):
    """Corners of a type and a random lot, NaN and infinities among them where the type has them."""
    if reference.is_float(dtype):
        values = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, math.nan, math.inf, -math.inf, math.nan, -2.5, 100.0]
        return reference.decode(dtype, reference.encode(dtype, values * 3 + [i / 8 for i in range(-40, 40)]))
    if dtype == "bool":
        return [True, False, True, True]
    width, signed = reference.INTEGERS[dtype]
    low, high = (-(1 << 8 * width - 1), (1 << 8 * width - 1) - 1) if signed else (0, (1 << 8 * width) - 1)
    return [0, 0, 1, low, high, high, low + 1, high - 1, 7]


REAL = [t for t in reference.STORED if t not in reference.COMPLEX]


@pytest.mark.parametrize("dtype", REAL)
def test_the_measures_of_every_type(db, dtype):
    values = special(dtype)
    compare(of_values(db, values, dtype), statistics(values))


@pytest.mark.parametrize("dtype", REAL)
def test_one_value(db, dtype):
    for number in (1, 0) if dtype == "bool" else (1, 0, 3):
        values = reference.decode(dtype, reference.encode(dtype, [number]))
        got = of_values(db, values, dtype)
        compare(got, statistics(values))
        assert got[7] == 0.0


def test_min_and_max_of_integers_are_integers_and_beyond_int64_text(db):
    got = of_values(db, [0, (1 << 64) - 1], "u64")
    assert got[4:6] == (0, "18446744073709551615")
    assert of_values(db, [-5, 7], "i8")[4:6] == (-5, 7)
    assert of_values(db, [True, False], "bool")[4:6] == (0, 1)
    big = (1 << 53) + 1
    assert of_values(db, [-big, big, (1 << 63) - 1, -(1 << 63)], "i64")[4:6] == (-(1 << 63), (1 << 63) - 1)
    assert of_values(db, [-big, big], "i64")[4:6] == (-big, big)


@pytest.mark.parametrize("dtype", REAL)
def test_an_empty_tensor_has_counts_of_0_and_nothing_else(db, dtype):
    assert of(db, writer.typed(b"", [0, 3], dtype)) == (0, 0, 0, 0, None, None, None, None, None)


@pytest.mark.parametrize("values, nans, infs",
                         [([math.nan], 1, 0), ([math.inf, -math.inf, math.nan], 1, 2), ([math.inf] * 5, 0, 5)])
@pytest.mark.parametrize("dtype", ["f64", "f32", "f16", "bf16", "f8_e5m2"])
def test_without_a_finite_value_there_are_only_counts(db, dtype, values, nans, infs):
    assert of_values(db, values, dtype) == (len(values), 0, nans, infs, None, None, None, None, None)


def test_minus_zero_is_a_zero(db):
    assert of_values(db, [0.0, -0.0, -0.0, 1.0], "f32")[1] == 3


def test_every_nonzero_byte_of_a_bool_is_1(db):
    compare(of(db, writer.dense(bytes([0, 1, 2, 255]), [4], "bool")), statistics([False, True, True, True]))


def test_a_scalar_is_one_value(db):
    assert of(db, writer.dense(struct.pack("<d", -2.5), [], "f64")) == (1, 0, 0, 0, -2.5, -2.5, -2.5, 0.0, 2.5)


# ------------------------------------------------------------------------------------------------------------- accuracy

noise = random.Random(11)
HARD = {
    "large mean and small deviation": [1e8 + 1e-3 * noise.gauss(0, 1) for _ in range(5000)],
    "larger mean and smaller deviation": [1e15 + noise.choice((0.0, 0.125, 0.25)) for _ in range(3000)],
    "squares overflow": [1e300 * noise.uniform(0.5, 1) for _ in range(1000)],
    "sum overflows": [1e308, 1e308, 1e308, -1e307],
    "sum overflows on the way": [0.9e308, 0.9e308, -0.85e308, -0.84e308],
    "squares underflow": [1e-300 * noise.uniform(0.5, 1) for _ in range(1000)],
    "subnormal": [5e-324 * k for k in range(1, 200)],
    "huge and tiny": [1e300, 1e-300, 3e300, 3e-300] * 50,
    "a huge outlier first": [1e200] + [noise.gauss(5, 2) for _ in range(3000)],
    **{f"an outlier of {size:g} first": [size] + [noise.gauss(0, 1) for _ in range(5000)] for size in (1e2, 1e4, 1e6, 1e8, 1e12)},
    "zero first, the rest far away": [0.0] + [1e8 + 1e-3 * noise.gauss(0, 1) for _ in range(5000)],
    "an outlier in the middle": [noise.gauss(3, 1) for _ in range(3000)] + [1e15] + [noise.gauss(3, 1) for _ in range(3000)],
    "an outlier last": [noise.gauss(5, 2) for _ in range(3000)] + [1e12],
    "all equal": [0.1] * 4097,
    "all equal and large": [123456789.123] * 5000,
    "two halves": [1e9] * 2500 + [1e9 + 1] * 2500,
    "alternating": [(-1) ** i * 1e10 + i for i in range(4001)],
    "growing": [1.1 ** i for i in range(-3000, 3000)],
}


@pytest.mark.parametrize("name", HARD)
def test_hard_data_keeps_twelve_digits(db, name):
    values = HARD[name]
    expected = statistics(values)
    got = of_values(db, values, "f64")
    if expected[7] == 0:
        # Of equal values the deviation is 0, or what one rounding of the mean leaves of it.
        assert got[7] <= 1e-15 * abs(expected[6])
        got = got[:7] + (0.0,) + got[8:]
    compare(got, expected)


@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f8_e4m3fn", "f8_e5m2", "i64", "u64", "i32", "i8", "u16", "bool"])
@pytest.mark.parametrize("count", [1, 2, 3, 31, 64, 65, 1023, 4099])
def test_any_count_of_any_type_keeps_twelve_digits(db, dtype, count):
    data = random.Random(f"{dtype} {count}").randbytes(count * reference.WIDTHS[dtype])
    values = reference.decode(dtype, data)
    compare(of(db, writer.typed(data, [count], dtype)), statistics(values))


@pytest.mark.parametrize("dtype", ["f64", "f32", "i32", "u8"])
@pytest.mark.parametrize("packed", [False, True])
def test_many_elements_keep_twelve_digits(db, dtype, packed):
    # More than any window that a reader may work in. Sums of numpy are not exact enough; those of integers and fsum are.
    generator = numpy.random.default_rng(3)
    count = 400_003
    array = {"f64": lambda: 1e6 + generator.normal(size=count), "f32": lambda: generator.normal(3, 1, count).astype("<f4"),
             "i32": lambda: generator.integers(-1 << 31, 1 << 31, count, dtype="<i4"),
             "u8": lambda: generator.integers(0, 256, count, dtype="u1")}[dtype]()
    object = writer.dense(array.tobytes(), [count], dtype)
    got = of(db, writer.zstd_parts(object) if packed else object)
    wide = [int(v) for v in array] if dtype in ("i32", "u8") else [float(v) for v in array]
    total = sum(wide) if dtype in ("i32", "u8") else math.fsum(wide)
    mean = total / count
    std, l2 = math.sqrt(math.fsum((v - mean) ** 2 for v in wide) / count), math.sqrt(math.fsum(v * v for v in wide))
    compare(got, (count, wide.count(0), 0, 0, min(wide), max(wide), mean, std, l2))


# ---------------------------------------------------------------------------------------------------------- other objects

def test_implicit_zeros_of_a_sparse_object_count(db):
    values = [0, 7.5, 0, 0, -2.5, 0]
    for object in (writer.sparse_csr([2, 3], [0, 1, 2], [1, 1], struct.pack("<2d", 7.5, -2.5), "f64"),
                   writer.sparse_coo([2, 3], [(1, 1), (0, 1)], struct.pack("<2d", -2.5, 7.5), "f64")):
        compare(of(db, object), statistics([float(v) for v in values]))
        compare(of(db, writer.zstd_parts(object)), statistics([float(v) for v in values]))


@pytest.mark.parametrize("values, expected", [([3.0, 5.0], [0.0, 3.0, 5.0]), ([-3.0, -5.0], [-5.0, -3.0, 0.0])])
def test_an_implicit_zero_may_be_the_least_or_the_greatest(db, values, expected):
    object = writer.sparse_coo([3], [(0,), (2,)], struct.pack("<2f", *values), "f32")
    compare(of(db, object), statistics(expected))
    full = writer.sparse_coo([2], [(0,), (1,)], struct.pack("<2f", *values), "f32")
    compare(of(db, full), statistics(values))


@pytest.mark.parametrize("shape", [[1000], [10, 100_000], [1 << 20, 1 << 20], [1 << 62]])
def test_a_few_values_among_very_many_zeros_keep_twelve_digits(db, shape):
    values = [2.0, 3.5, 0.1]
    object = writer.sparse_coo(shape, [[0] * (len(shape) - 1) + [i] for i in (1, 5, 9)], struct.pack("<3d", *values), "f64")
    n = math.prod(shape)
    mean, squares = sum(map(Fraction, values)) / n, sum(Fraction(v) ** 2 for v in values)
    compare(of(db, object), (n, n - 3, 0, 0, 0.0, 3.5, float(mean), exact_root(squares / n - mean * mean), exact_root(squares)))


def test_an_implicit_zero_is_finite_though_all_stored_values_are_not(db):
    object = writer.sparse_coo([3], [(0,), (2,)], struct.pack("<2f", math.nan, math.inf), "f32")
    assert of(db, object) == (3, 1, 1, 1, 0.0, 0.0, 0.0, 0.0, 0.0)


def test_stored_zeros_count_once(db):
    object = writer.sparse_csr([2, 2], [0, 2, 2], [0, 1], struct.pack("<2f", 0, 4), "f32")
    compare(of(db, object), statistics([0.0, 4.0, 0.0, 0.0]))


@pytest.mark.parametrize("kind", ["csr", "coo"])
@pytest.mark.parametrize("dtype, stored, total", [
    ("f32", [1.5, 2.5, -4.0], 0.0), ("u8", [10, 20, 30], 60), ("f64", [1e308, 1e308, 1.0], math.inf),
    ("f16", [2048.0, 1.0, 1.0], 2048.0), ("f32", [math.inf, -math.inf, 1.0], math.nan)])
def test_values_of_one_cell_are_added_up_first(db, kind, dtype, stored, total):
    data = reference.encode(dtype, stored)
    object = (writer.sparse_csr([2, 2], [0, 0, 3], [1, 1, 1], data, dtype) if kind == "csr" else
              writer.sparse_coo([2, 2], [(1, 1)] * 3, data, dtype))
    zero = 0 if dtype == "u8" else 0.0
    compare(of(db, object), statistics([zero, zero, zero, total]))


def test_duplicates_far_apart_are_added_up(db):
    coords = [(i * 37 % 100,) for i in range(300)]
    numbers = [float(i % 11 - 5) for i in range(300)]
    dense = [0.0] * 200
    for (at,), number in zip(coords, numbers):
        dense[at] += number
    compare(of(db, writer.sparse_coo([200], coords, struct.pack("<300f", *numbers), "f32")), statistics(dense))


@pytest.mark.parametrize("object, values", [
    (writer.sparse_csr([0, 3], [0], [], b"", "f32"), []), (writer.sparse_coo([2, 0], [], b"", "f32"), []),
    (writer.sparse_coo([2, 2], [], b"", "f32"), [0.0] * 4), (writer.sparse_csr([1, 2], [0, 0], [], b"", "i16"), [0, 0])])
def test_sparse_objects_without_stored_elements(db, object, values):
    compare(of(db, object), statistics(values))


def test_big_endian_values_are_swapped(db):
    object = writer.dense(struct.pack(">3i", -5, 7, 1), [3], "i32", data_endianness="big")
    compare(of(db, object, "0.1"), statistics([-5, 7, 1]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_a_complex_object_has_a_row_too(db, dtype):
    # Complex numbers have no order: nothing is said of them, or why not.
    file = writer.write({"w": writer.typed(reference.encode(dtype, [3 + 4j, 0j]), [2], dtype)})
    (name, elements, *measures, error), = rows(db, f"SELECT object, {MEASURES}, error FROM zt_stats(?)", file)
    assert (name, elements, measures[3:5]) == ("w", 2, [None, None])
    assert measures == [None] * 8 and error


@pytest.mark.parametrize("name, file, objects", **corpus.golden_objects(corpus.has_dense))
def test_golden_objects_have_the_statistics_of_their_dense_form(db, name, file, objects):
    got = {row[0]: row[1:] for row in rows(db, f"SELECT object, {MEASURES}, error FROM zt_stats(?)", str(file))}
    for object in objects:
        dtype = corpus.element_type(object)
        if dtype in reference.COMPLEX:
            continue
        values = reference.decode(dtype, value(db, "SELECT zt_dense(?, ?)", str(file), object["name"]), object["elements"])
        *measures, error = got[object["name"]]
        assert error is None
        compare(tuple(measures), statistics(values))
        assert measures[2] == object["dense"]["nan"] and measures[3] == object["dense"]["pos_inf"] + object["dense"]["neg_inf"]


# ---------------------------------------------------------------------------------------------- what cannot be interpreted

@BOTH_WAYS
def test_the_reason_is_the_message_of_zt_dense(db, save, how):
    file = writer.write({"w": writer.dense(b"123", [4]), "v": writer.dense(b"1", format="odd"), "u": writer.dense(b"\1")})
    source = file if how == "blob" else save("x.zt", file)
    got = dict(rows(db, "SELECT object, error FROM zt_stats(?)", source))
    assert got == {"w": message(db, "SELECT zt_dense(?, 'w')", source), "v": got["v"], "u": None}


# ------------------------------------------------------------------------------------------------------------- sources

def test_all_files_of_a_directory(db, tree):
    assert rows(db, "SELECT path, object, elements, max FROM zt_stats(?)", tree.path) == [
        row for i, f in enumerate(tree.files) for row in ((f, "layer1.weight", 12, i + 1), (f, "layer1.bias", 4, 2))]
    assert rows(db, "SELECT path, max FROM zt_stats(?) WHERE object = 'layer1.weight' AND path LIKE '%/b/%'", tree.path) == [
        (tree.files[1], 2), (tree.files[2], 3)]


def test_it_joins_the_other_tables(db, tree):
    got = rows(db, """SELECT object, shape, max FROM zt_objects(?1) JOIN zt_stats(?1) USING (path, object)
                      ORDER BY object DESC""", tree.files[3])
    assert got == [("layer1.weight", "[3,4]", 4), ("layer1.bias", "[4]", 2)]


def test_an_unreadable_file_ends_the_query_or_is_skipped(db, tree, save):
    broken = save("tree/a0.zt", b"broken")
    for arguments in ("?", "?, 'abort'"):
        with pytest.raises(sqlite3.OperationalError) as caught:
            rows(db, f"SELECT * FROM zt_stats({arguments})", tree.path)
        assert str(caught.value).startswith(prefix(broken))
    assert value(db, "SELECT count(*) FROM zt_stats(?, 'skip')", tree.path) == 10


def test_a_null_source_gives_no_rows_and_none_at_all_says_how_to_call_it(db):
    assert rows(db, "SELECT * FROM zt_stats(NULL)") == []
    assert "zt_stats('model.zt')" in message(db, "SELECT * FROM zt_stats")


def test_it_can_be_given_a_name(db, sample):
    db.execute(f"CREATE VIRTUAL TABLE temp.s USING zt_stats({quoted(sample)}, skip)")
    assert rows(db, "SELECT object, mean FROM s") == [("layer1.weight", 1.0), ("layer1.bias", 2.0)]


# ------------------------------------------------------------------------------------------------- what is read, security

def test_tensors_over_the_limit_of_sqlite_have_statistics(db, save):
    count = 1_000_000
    path = save("x.zt", writer.write({"raw": writer.dense(b"\3" * count), "zstd": writer.dense(
        writer.zstd_repeat(b"\5", count), [count], encoding="zstd", uncompressed_length=count)}))
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100_000)
    assert rows(db, "SELECT object, elements, min, max, mean, std, l2 FROM zt_stats(?)", path) == [
        ("raw", count, 3, 3, 3.0, 0.0, 3000.0), ("zstd", count, 5, 5, 5.0, 0.0, 5000.0)]


@pytest.fixture
def large(save):
    """The path of a file whose blobs, a million u8 each, lie from 1 MiB to 3 MiB."""
    objects = {name: writer.dense(bytes([x]) * (1 << 20), [1024, 1024]) for name, x in (("a", 1), ("b", 2))}
    return save("large.zt", writer.write(objects, first_offset=1 << 20, gap=1 << 20))


def test_only_the_objects_asked_for_are_read_and_once(trace, large):
    got = trace(f"SELECT min, max, mean, std FROM zt_stats('{large}') WHERE object = 'b';")
    assert got.out.strip() == "2|2|2.0|0.0"
    assert got.bytes_read(large, 1 << 20, 2 << 20) == 0
    assert got.bytes_read(large, 2 << 20, 3 << 20) == 1 << 20


def test_names_and_sizes_need_no_tensor_byte(trace, large):
    got = trace(f"SELECT object, elements FROM zt_stats('{large}');")
    assert got.out.splitlines() == ["a|1048576", "b|1048576"]
    assert got.bytes_read(large, 1 << 20, 3 << 20) == 0


def test_the_mean_of_equal_values_is_that_value(db):
    x = 1e9 + 0.1
    file = writer.write({"w": writer.dense(struct.pack("<d", x) * 100001, [100001], dtype="f64")})
    assert rows(db, "SELECT min, max, mean, std FROM zt_stats(?)", file) == [(x, x, x, 0.0)]
