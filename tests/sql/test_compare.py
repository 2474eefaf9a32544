"""zt_compare: one row, how far two tensors are from each other; zt_histogram: how one is spread."""
import math
import random
import sqlite3
from fractions import Fraction

import numpy
import pytest

import corpus
import reference
import writer
from support import message, place, rows, value
from test_stats import exact_root

MEASURES = "elements, equal, nans, max_abs, mean_abs, rmse, l2, other_l2, dot, cosine"
ACCURACY = 1e-12
OUTER = sqlite3.sqlite_version_info
PAIRS = [("f32", "f32"), ("f64", "f64"), ("f16", "bf16"), ("f32", "f64"), ("i64", "f32"), ("u8", "i8"), ("bool", "u64")]


def real(number):
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def measures(one, other):
    """The measures, worked out with fractions: rounded once, at the very end."""
    pairs = [(a, b) for a, b in zip(one, other) if a == a and b == b]
    head = (len(one), sum(a == b for a, b in pairs), len(one) - len(pairs))
    if not pairs:
        return head + (None,) * 7
    pairs = [(Fraction(a), Fraction(b)) for a, b in pairs]
    distances = [abs(a - b) for a, b in pairs]
    n, aa, bb = len(pairs), sum(a * a for a, _ in pairs), sum(b * b for _, b in pairs)
    dot = sum(a * b for a, b in pairs)
    cosine = None
    if aa and bb:
        squared = dot * dot / (aa * bb)
        cosine = exact_root(squared) * (1 if dot > 0 else -1)
    return head + (float(max(distances)), float(sum(distances) / n), exact_root(sum(d * d for d in distances) / n),
                   exact_root(aa), exact_root(bb), real(dot), cosine)


def assert_measures(got, one, other):
    wanted = measures(one, other)
    assert got[:3] == wanted[:3]
    size = sum(abs(a * b) for a, b in zip(one, other) if a == a and b == b and math.isfinite(a * b))
    for name, shown, expected in zip(MEASURES.split(", ")[3:], got[3:], wanted[3:]):
        scale = {"dot": size, "cosine": 1}.get(name, expected)
        assert type(shown) is type(expected), name
        assert shown == expected or abs(shown - expected) <= max(ACCURACY * abs(scale), 1e-323), (name, shown, expected)



def encode(dtype, values):
    return reference.encode(dtype, values)


def write(path, dtype, values, shape=None):
    path.write_bytes(writer.write({"w": writer.dense(encode(dtype, values), shape or [len(values)], dtype)}))
    return str(path)


def compared(db, a, b, one="w", other="w"):
    (row,) = rows(db, f"SELECT {MEASURES}, error FROM zt_compare(?, ?, ?, ?)", a, one, b, other)
    assert row[-1] is None, row[-1]
    return row[:-1]


@pytest.mark.parametrize("n", [1, 7, 8, 4096, 4097, 70001])
@pytest.mark.parametrize("dtypes", PAIRS, ids="-".join)
def test_measures_of_random_numbers(db, tmp_path, dtypes, n):
    chance = random.Random(repr((dtypes, n)))
    sides = []
    for k, dtype in enumerate(dtypes):
        if dtype == "bool":
            values = [chance.randrange(2) for _ in range(n)]
        elif dtype[0] in "iu":
            values = [chance.randrange(0, 100) for _ in range(n)]
        else:
            values = [chance.choice([0.0, -0.0, 1.0, chance.gauss(0, 3)]) for _ in range(n)]
        data = encode(dtype, values)
        sides.append((write(tmp_path / f"{k}.zt", dtype, values), reference.decode(dtype, data, n)))
    (a, one), (b, other) = sides
    assert_measures(compared(db, a, b), one, other)
    assert compared(db, a, a)[1:6] == (n, 0, 0.0, 0.0, 0.0)


SPECIAL = {
    "sums that vanish on the way": ([2.0**60, 1.0, -2.0**60, 2.0**100, -2.0**100, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1e200]),
    "large beside small ones, and the other way round": ([1e-300, 1e100], [1e250, 1e-120]),
    "large ones beside zeros": ([0.0, 5.0], [1e300, 1e-130]),
    "a NaN in one, in the other and in both": ([math.nan, 1.0, math.nan, 4.0], [1.0, math.nan, math.nan, 2.0]),
    "all pairs have one": ([math.nan, 1.0], [1.0, math.nan]),
    "zeros of both signs": ([0.0, -0.0], [-0.0, 0.0]),
    "nothing but zeros on one side": ([0.0, 0.0], [1.0, 2.0]),
    "squares beyond f64": ([1e200, -3e200, 1.0], [1e200, 1e200, 2.0]),
    "squares below f64": ([1e-200, 2e-200], [3e-200, -1e-200]),
    "large on one side, small on the other": ([1e250, 2e250], [1e-250, 3e-250]),
    "the smallest": ([5e-324, 5e-324], [1e-323, 0.0]),
    "near to each other": ([1.0, 1e-170], [1.0, 2e-170]),
    "opposites": ([1.5, -2.5], [-1.5, 2.5]),
}


@pytest.mark.parametrize("pair", SPECIAL.values(), ids=SPECIAL)
def test_special_numbers(db, tmp_path, pair):
    for repeat in (1, 3000):
        one, other = (list(side) * repeat for side in pair)
        assert_measures(compared(db, write(tmp_path / "a.zt", "f64", one), write(tmp_path / "b.zt", "f64", other)), one, other)


def test_infinities(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [math.inf, -math.inf, 1.0, math.inf])
    b = write(tmp_path / "b.zt", "f32", [math.inf, -math.inf, 1.0, 2.0])
    assert compared(db, a, b) == (4, 3, 0, math.inf, math.inf, math.inf, math.inf, math.inf, math.inf, None)
    c = write(tmp_path / "c.zt", "f32", [0.0, -math.inf, 1.0, 2.0])
    assert compared(db, a, c)[8:] == (None, None)   # An infinity times 0


def test_of_nothing_the_counts_are_0(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [], [3, 0])
    assert compared(db, a, a) == (0, 0, 0) + (None,) * 7


def test_a_scalar(db, tmp_path):
    a, b = write(tmp_path / "a.zt", "f32", [3.0], []), write(tmp_path / "b.zt", "i16", [-4], [])
    assert compared(db, a, b) == (1, 0, 0, 7.0, 7.0, 7.0, 3.0, 4.0, -12.0, -1.0)


def test_any_container_and_layout_against_any_other(db):
    """The same small model as safetensors, zTensor 2 and, quantized, GGUF."""
    folder = corpus.FORMATS / "gguf" / "converted"
    paths = sorted(str(p) for p in folder.iterdir() if p.suffix in (".zt", ".safetensors", ".gguf"))
    assert len(paths) >= 3
    names = {path: [name for name, in rows(db, "SELECT object FROM zt_objects(?)", path)] for path in paths}
    seen = 0
    for a in paths:
        for b in paths:
            for name in set(names[a]) & set(names[b]):
                got = rows(db, f"SELECT {MEASURES}, error FROM zt_compare(?, ?, ?, ?)", a, name, b, name)[0]
                one, other = (numpy.frombuffer(value(db, "SELECT zt_dense(?, ?, 'f64')", p, name)) for p in (a, b))
                if got[-1] is None:
                    assert_measures(got[:-1], one.tolist(), other.tolist())
                    seen += 1
    assert seen > 20


def test_sparse_against_dense(db, tmp_path):
    one = writer.sparse_coo([3, 4], [[0, 2, 1], [1, 3, 0]], encode("f32", [1.0, 2.0, -3.0]), "f32")
    values = [0.5] * 12
    path = tmp_path / "a.zt"
    path.write_bytes(writer.write({"s": one, "d": writer.dense(encode("f32", values), [3, 4], "f32")}))
    dense = numpy.frombuffer(value(db, "SELECT zt_dense(?, 's', 'f64')", str(path))).tolist()
    assert_measures(compared(db, str(path), str(path), "s", "d"), dense, values)
    assert_measures(compared(db, str(path), str(path), "d", "s"), values, dense)


def test_blobs_are_sources(db, tmp_path):
    a, b = tmp_path / "a.zt", tmp_path / "b.zt"
    write(a, "f32", [1.0, 2.0])
    write(b, "f32", [1.0, 4.0])
    assert compared(db, a.read_bytes(), b.read_bytes()) == compared(db, str(a), str(b)) == compared(db, a.read_bytes(), str(b))


def test_what_keeps_values_from_being_had_is_the_rows_error(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])
    b = write(tmp_path / "b.zt", "f32", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2])
    flat = write(tmp_path / "c.zt", "f32", [1.0] * 6)
    complex_ = tmp_path / "z.zt"
    complex_.write_bytes(writer.write({"w": writer.typed(encode("f32", [1.0] * 12), [2, 3], "complex64")}))
    lost = str(tmp_path / "lost.zt")

    def error(*arguments):
        (row,) = rows(db, f"SELECT error, {MEASURES} FROM zt_compare(?, ?, ?, ?)", *arguments)
        assert row[1:] == (None,) * 10
        return row[0]

    assert error(a, "w", b, "w") == place(a, "w") + "the shapes differ: [2,3] and [3,2]"
    assert error(a, "w", flat, "w") == place(a, "w") + "the shapes differ: [2,3] and [6]"
    assert error(str(complex_), "w", a, "w").endswith("complex numbers are not compared")
    assert error(a, "w", str(complex_), "w").endswith("complex numbers are not compared")
    assert error(a, "w", lost, "w").startswith(f"ztensor: {lost}: ")
    assert error(lost, "w", a, "w").startswith(f"ztensor: {lost}: ")
    assert error(a, "v", b, "w") == place(a, "v") + "no such object"


def test_the_damaged_one_is_named(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [1.0] * 6)
    b = tmp_path / "b.zt"
    b.write_bytes(writer.write({"w": writer.dense(b"no frame", [6], "f32", encoding="zstd", uncompressed_length=24)}))
    (row,) = rows(db, "SELECT error FROM zt_compare(?, 'w', ?, 'w')", a, str(b))
    assert row[0].startswith(place(str(b), "w"))
    (row,) = rows(db, "SELECT error FROM zt_compare(?, 'w', ?, 'w')", str(b), a)
    assert row[0].startswith(place(str(b), "w"))


def test_a_source_that_cannot_be_opened_is_named_alone(db, tmp_path):
    # The file opened before has an object; this one has none. The message must name nothing of the row before.
    good, none = write(tmp_path / "good.zt", "f32", [1.0]), str(tmp_path / "none.zt")
    for other, said in ((none, f"ztensor: {none}: cannot open: No such file or directory"), (b"PK", "ztensor: <blob>: not a tensor file of a known format")):
        assert value(db, "SELECT error FROM zt_compare(?, 'w', ?, 'w')", good, other) == said
        assert value(db, "SELECT error FROM zt_compare(?, 'w', ?, 'w')", other, good) == said
    image = open(good, "rb").read()
    broken = [image[:n] for n in range(0, len(image), 7)] + [b"\x08", b"\x08\x00", b"\xff" * 40]
    for data in broken:
        got = rows(db, "WITH s(b) AS (VALUES (?1), (?2), (?1)) SELECT error FROM s, zt_compare(s.b, 'w', ?1, 'w')", image, data)
        assert [error for error, in got] == [None, value(db, "SELECT error FROM zt_compare(?2, 'w', ?1, 'w')", image, data), None]


def test_null_gives_no_row_and_a_missing_argument_is_an_error(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [1.0])
    for arguments in ((None, "w", a, "w"), (a, None, a, "w"), (a, "w", None, "w"), (a, "w", a, None)):
        assert rows(db, "SELECT * FROM zt_compare(?, ?, ?, ?)", *arguments) == []
    for sql in ("SELECT * FROM zt_compare", "SELECT * FROM zt_compare('x', 'w')", "SELECT * FROM zt_compare('x', 'w', 'y')"):
        assert message(db, sql) == ("ztensor: zt_compare needs two sources and objects:"
                                    " SELECT * FROM zt_compare('a.zt', 'layer.weight', 'b.zt', 'layer.weight')")


def test_laterally_it_gives_the_distance_per_layer(db, tmp_path):
    layers = {f"l{i}": [float(i + k) for k in range(6)] for i in range(5)}
    paths = []
    for k in range(2):
        path = tmp_path / f"{k}.zt"
        path.write_bytes(writer.write({name: writer.dense(encode("f32", [v + k * i for v in values]), [6], "f32")
                                       for i, (name, values) in enumerate(layers.items())}))
        paths.append(str(path))
    got = rows(db, """SELECT a.object, c.max_abs FROM zt_objects(?1) a JOIN zt_objects(?2) b USING (object),
                             zt_compare(?1, a.object, ?2, b.object) c ORDER BY 1""", *paths)
    assert got == [(f"l{i}", float(i)) for i in range(5)]
    both = rows(db, "SELECT source, object FROM zt_compare WHERE source = ?1 AND (object = 'l1' OR object = 'l2')"
                    " AND other_source = ?2 AND other_object = 'l1'", *paths)
    assert sorted(both) == [(paths[0], "l1"), (paths[0], "l2")]
    assert len(rows(db, "SELECT rmse FROM zt_compare WHERE source = ?1 AND object IN ('l1', 'l3')"
                        " AND other_source = ?2 AND other_object IN ('l1', 'l3', 'l4')", *paths)) == 6


def test_the_names_of_objects_are_text(db, save):
    a = str(save("a.zt", writer.write({"1": writer.dense(b"\1\2", [2])})))
    assert rows(db, "SELECT equal, object, other_object FROM zt_compare(?1, 1, ?1, 1.0)", a) == [(None, "1", "1.0")]
    assert rows(db, "SELECT c.equal, o.object FROM zt_compare(?1, 1, ?1, '1') c JOIN zt_objects(?1) o ON o.object = c.object", a) == [(2, "1")]


# ---------------------------------------------------------------------------------------------------- zt_histogram

def histogram(db, source, *bins):
    return rows(db, f"SELECT bin, low, high, count FROM zt_histogram(?, 'w'{', ?' * len(bins)})", source, *bins)


def counted(values, edges):
    """How many values each bin has, by its edges alone."""
    counts = [0] * (len(edges) - 1)
    for v in values:
        if math.isfinite(v):
            counts[max(i for i in range(len(counts)) if v >= edges[i] or i == 0)] += 1
    return counts


@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "i8", "u64", "bool"])
@pytest.mark.parametrize("bins", [2, 3, 64, 1000])
def test_each_value_is_in_the_bin_of_its_edges(db, tmp_path, dtype, bins):
    chance = random.Random(repr((dtype, bins)))
    values = [chance.randrange(2) if dtype == "bool" else chance.randrange(0, 100) if dtype[0] in "iu" else chance.gauss(0, 1)
              for _ in range(5000)]
    values = reference.decode(dtype, encode(dtype, values), len(values))
    got = histogram(db, write(tmp_path / "a.zt", dtype, values), bins)
    edges = [row[1] for row in got] + [got[-1][2]]
    assert [row[0] for row in got] == list(range(bins))
    assert [row[2] for row in got[:-1]] == edges[1:-1]
    assert edges[0] == min(values) and edges[-1] == max(values)
    assert numpy.allclose(numpy.diff(edges), (max(values) - min(values)) / bins)
    assert [row[3] for row in got] == counted(values, edges)


def test_what_is_not_finite_is_in_no_bin(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [math.nan, math.inf, -math.inf, 1.0, 2.0, 3.0])
    assert histogram(db, a, 2) == [(0, 1.0, 2.0, 1), (1, 2.0, 3.0, 2)]
    b = write(tmp_path / "b.zt", "f32", [math.nan, math.inf])
    assert histogram(db, b) == [] == histogram(db, write(tmp_path / "c.zt", "f32", [], [0]))


def test_equal_values_are_one_bin(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [2.5] * 7 + [math.nan])
    assert histogram(db, a) == [(0, 2.5, 2.5, 7)]
    assert histogram(db, write(tmp_path / "b.zt", "f32", [-1.0, 1.0]), 1) == [(0, -1.0, 1.0, 2)]


def test_there_are_64_bins_unless_told_otherwise(db, tmp_path):
    a = write(tmp_path / "a.zt", "f32", [0.0, 1.0])
    assert len(histogram(db, a)) == 64 == len(histogram(db, a, None))
    assert len(histogram(db, a, 65536)) == 65536
    for bins in (0, -1, 65537, 100000, "000064", "many", "1e2", 2.5, ""):
        assert message(db, "SELECT * FROM zt_histogram(?, 'w', ?)", a, bins) == (
            f"ztensor: bins must be an integer from 1 to 65536, not '{bins}'")
        assert message(db, f"CREATE VIRTUAL TABLE temp.t USING zt_histogram('{a}', w, bins='{bins}')") == (
            f"ztensor: bins must be an integer from 1 to 65536, not '{bins}'")


def test_bins_is_an_integer_column(db, tmp_path):
    a = write(tmp_path / "a.zt", "f64", list(range(100)))
    for argument, bins in (("4", 4), ("4.0", 4), ("'4'", 4), ("'4.0'", 4), ("'00004'", 4), ("NULL", 64)):
        assert rows(db, f"SELECT DISTINCT bins, typeof(bins) FROM zt_histogram(?, 'w', {argument})", a) == [(bins, "integer")]
        assert value(db, f"SELECT count(*) FROM zt_histogram(?, 'w', {argument}) WHERE bins > 10", a) == (0 if bins == 4 else 64)
        assert value(db, f"SELECT count(*) FROM zt_histogram(?, 'w', {argument}) WHERE bins < 10", a) == (4 if bins == 4 else 0)
    assert rows(db, "SELECT bins, count(*) FROM zt_histogram(?, 'w') WHERE bins IN (2, '2', 2.0, 3) GROUP BY bins", a) == [(2, 2), (3, 3)]
    assert rows(db, "SELECT bins, count(*) FROM zt_histogram(?, 'w') WHERE bins = 2 OR bins = '2.0' GROUP BY bins", a) == [(2, 2)]
    db.execute(f"CREATE VIRTUAL TABLE temp.h USING zt_histogram('{a}', w, bins='5.0')")
    assert rows(db, "SELECT DISTINCT bins, typeof(bins) FROM h") == [(5, "integer")]
    assert value(db, "SELECT count(*) FROM h WHERE bins = 7") == 7


def test_a_whole_number_of_bins_may_be_a_real(db, tmp_path):
    """As for every other count: sqrt(), ceil() and a division give a REAL."""
    a = write(tmp_path / "a.zt", "f32", [0.0, 1.0, 2.0])
    assert histogram(db, a, 2.0) == histogram(db, a, 2) == [(0, 0.0, 1.0, 1), (1, 1.0, 2.0, 2)]
    assert len(histogram(db, a, 65536.0)) == 65536
    for bins in ("0.0", "-2.0", "65537.0", "2.", "2.00", "2.0x", "2.5", ".0"):
        assert message(db, "SELECT * FROM zt_histogram(?, 'w', ?)", a, bins) == (
            f"ztensor: bins must be an integer from 1 to 65536, not '{bins}'")


@pytest.mark.parametrize("values", [[-1.7e308, 1.7e308, 0.0, 1e300], [5e-324, 1e-323, 1.5e-323], [1e300, math.nextafter(1e300, 2e300)],
                                    [1e10, 1e10 + 1, 1e10 + 0.5]], ids=str)
def test_the_ends_of_f64(db, tmp_path, values):
    got = histogram(db, write(tmp_path / "a.zt", "f64", values), 4)
    edges = [row[1] for row in got] + [got[-1][2]]
    assert edges == sorted(edges) and edges[0] == min(values) and edges[-1] == max(values)
    assert [row[3] for row in got] == counted(values, edges) and sum(row[3] for row in got) == len(values)


def test_a_histogram_of_what_cannot_be_interpreted_is_an_error(db, tmp_path):
    a = tmp_path / "a.zt"
    a.write_bytes(writer.write({"w": writer.typed(encode("f32", [1.0] * 2), [1], "complex64")}))
    assert message(db, "SELECT * FROM zt_histogram(?, 'w')", str(a)).startswith(place(str(a), "w") + "complex numbers have no")
    assert "needs a source and an object" in message(db, "SELECT * FROM zt_histogram")
    assert rows(db, "SELECT * FROM zt_histogram(NULL, 'w')") == [] == rows(db, "SELECT * FROM zt_histogram(?, NULL)", str(a))


def test_conditions_on_arguments(db, save):
    path = save("a.zt", writer.write({"w": writer.dense(b"\1\2")}))
    sql = "SELECT equal FROM zt_compare(?1, 'w', ?1, 'w') WHERE source {} ?1 AND object {} 'w'"
    assert [rows(db, sql.format(sign, sign), path) for sign in (">=", ">", "IS")] == [[(2,)], [], [(2,)]]


# ------------------------------------------------------------------------------------------------------------ names

@pytest.fixture
def two(save):
    """Two files: `w` of 1, 2 and 3; `w` and `v` of 1, 2 and 5."""
    far = writer.dense(bytes([1, 2, 5]))
    return save("a.zt", writer.write({"w": writer.dense(bytes([1, 2, 3]))})), save("b.zt", writer.write({"w": far, "v": far}))


@pytest.mark.parametrize("arguments, asked", [
    ("'{a}', 'w', '{b}', 'w'", ""), ("'{a}', \"w\", '{b}', v", ""), ("source='{a}', object=w, other_source='{b}', other_object=v", ""),
    ("other_object=w, other_source='{b}', object=w, source='{a}'", ""), ("'{a}', w, other_source='{b}', other_object=w", ""), ("'{a}', w", "('{a}', 'w', '{b}', 'v')"),
    ("'{a}', w", " WHERE other_source = '{b}' AND other_object = 'v'"), ("", "('{a}', 'w', '{b}', 'v')"), ("other_object=none", "('{a}', 'w', '{b}', 'v')")])
def test_it_can_be_given_a_name(db, two, arguments, asked):
    a, b = two
    db.execute(f"CREATE VIRTUAL TABLE temp.d USING zt_compare({arguments.format(a=a, b=b)})")
    for table in ("d", "temp.d"):
        assert rows(db, f"SELECT elements, equal, max_abs, source, object, other_source FROM {table}{asked.format(a=a, b=b)}") == [(3, 2, 2.0, a, "w", b)]


@pytest.mark.parametrize("arguments, said", [
    ("'a', 'b', 'c', 'd', 'e'", "zt_compare takes at most 4 arguments"), ("path='a'", "zt_compare has no argument 'path'; it takes source, object, other_source, other_object"),
    ("source='a', source='b'", "zt_compare: the argument source is given twice"), ("'a', source='b'", "zt_compare: the argument source is given twice"),
    ("source='a', 'b'", "zt_compare: an argument without a name comes after one with a name: 'b'")])
def test_arguments_of_a_name_are_checked(db, arguments, said):
    assert message(db, f"CREATE VIRTUAL TABLE temp.d USING zt_compare({arguments})") == f"ztensor: {said}"


def test_a_name_lacks_what_it_is_not_given(db, two):
    db.execute(f"CREATE VIRTUAL TABLE temp.d USING zt_compare('{two[0]}', 'w')")
    assert message(db, "SELECT * FROM d").startswith("ztensor: zt_compare needs two sources and objects")
    assert message(db, f"SELECT * FROM d WHERE other_source = '{two[1]}'").startswith("ztensor: zt_compare needs two sources and objects")


@pytest.mark.skipif(OUTER < (3, 39), reason="SQLite has RIGHT JOIN from 3.39 on")
def test_a_name_stands_on_the_right_side_of_a_right_join(db, two):
    """Where SQLite drops the arguments of a call."""
    db.execute(f"CREATE VIRTUAL TABLE temp.d USING zt_compare('{two[0]}', 'w', '{two[1]}', 'w')")
    for join in ("RIGHT JOIN", "FULL JOIN"):
        assert (None, 2) in rows(db, f"SELECT x, equal FROM (SELECT 9 AS x) {join} d ON x = equal")


def test_many_of_one_name(db, two):
    """The arguments of a join, beside those of the name."""
    a, b = two
    db.execute(f"CREATE VIRTUAL TABLE temp.d USING zt_compare(other_source='{b}', other_object=v)")
    assert rows(db, "SELECT o.path, o.object, d.equal FROM zt_objects(?) o JOIN d ON d.source = o.path AND d.object = o.object ORDER BY 1, 2", f'["{a}","{b}"]') == [
        (a, "w", 2), (b, "v", 3), (b, "w", 3)]
