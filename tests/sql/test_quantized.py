"""quantized_group objects: (code - zero) * scale, in f32."""
import math
import random
import struct

import numpy
import pytest

import corpus
import reference
import writer
from support import message, place, rows, value

FLOAT32 = numpy.float32


def dequantized(shape, codes, group_size, scales, zeros):
    """(code - zero) * scale in f32, for one scale and one zero per group along the last dimension."""
    groups = shape[-1] // group_size if shape[-1] else 0
    out = []
    for i, code in enumerate(codes):
        row, column = divmod(i, shape[-1])
        group = row * groups + column // group_size
        out.append((FLOAT32(code) - FLOAT32(zeros[group])) * FLOAT32(scales[group]))
    return numpy.array(out, "<f4").tobytes()


def numbers(count, seed):
    noise = random.Random(seed)
    return [noise.randrange(-1000, 1000) / 64 for _ in range(count)]


def example(shape=(2, 16), bits=4, group_size=8, word="i32", scale_dtype="f32", zero_dtype="f32", zeros=None, **changes):
    """(object, its dequantized f32 bytes): all codes occur, the highest bit of words too."""
    shape = list(shape)
    count = math.prod(shape)
    groups = count // group_size
    codes = [(i * 7 + i // 5 + (1 << bits) - 1) % (1 << bits) for i in range(count)]
    scales = reference.encode(scale_dtype, numbers(groups, 1))
    zeros = reference.encode(zero_dtype, zeros or [i % (1 << bits) for i in range(groups)])
    object = writer.quantized(shape, codes, bits, group_size, word, scales, zeros, scale_dtype, zero_dtype)
    object.update(changes)
    return object, dequantized(shape, codes, group_size, reference.decode(scale_dtype, scales),
                               reference.decode(zero_dtype, zeros))


def dense(db, object, dtype=None, generation="1.2"):
    return value(db, "SELECT zt_dense(?, 'q', ?)", writer.write({"q": object}, generation), dtype)


# ----------------------------------------------------------------------------------------------------------- the values

@pytest.mark.parametrize("word", ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_codes_lie_in_words_lowest_bits_first(db, bits, word):
    object, expected = example((2, 64), bits, 32, word)
    assert dense(db, object) == expected


@pytest.mark.parametrize("bits, word, columns", [(8, "u8", 3), (4, "u8", 6), (2, "i16", 24), (1, "i8", 8), (8, "i64", 16)])
def test_any_number_of_bits_that_fills_a_word_will_do(db, bits, word, columns):
    object, expected = example((3, columns), bits, columns, word)
    assert dense(db, object) == expected


@pytest.mark.parametrize("shape", [(16,), (1, 16), (5, 16), (2, 3, 16), (2, 1, 2, 3, 16)])
@pytest.mark.parametrize("group_size", [1, 2, 8, 16])
def test_groups_lie_along_the_last_dimension_and_rows_are_all_others(db, shape, group_size):
    object, expected = example(shape, group_size=group_size)
    assert dense(db, object) == expected


@pytest.mark.parametrize("scale_dtype", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("zero_dtype", ["f32", "f16", "bf16"])
def test_scales_and_zeros_may_be_of_any_width(db, scale_dtype, zero_dtype):
    object, expected = example((4, 32), scale_dtype=scale_dtype, zero_dtype=zero_dtype)
    assert dense(db, object) == expected


@pytest.mark.parametrize("zero_dtype", ["i32", "u8", "i8", "i64", "u16"])
def test_zeros_may_be_integers(db, zero_dtype):
    object, expected = example((4, 32), zero_dtype=zero_dtype)
    assert dense(db, object) == expected


def test_zeros_may_be_fractions_and_beyond_the_codes(db):
    object, expected = example((2, 16), zeros=[0.5, -3.25, 99.0, 1e-9])
    assert dense(db, object) == expected


def test_the_difference_is_rounded_before_it_is_scaled(db):
    # 2^24 + 1 is no f32: it is rounded to 2^24, and three times that is 50331648. The exact product would give 50331652.
    object = writer.quantized([1, 1], [1], 8, 1, "u8", struct.pack("<f", 3), struct.pack("<f", -float(1 << 24)))
    assert reference.decode("f32", dense(db, object)) == [50331648.0]


def test_scales_may_be_infinite_or_nan(db):
    object = writer.quantized([1, 4], [0, 1, 2, 3], 8, 1, "u8", struct.pack("<4f", math.inf, -math.inf, math.nan, 1e38),
                              struct.pack("<4f", 0, 0, 0, -10))
    assert repr(reference.decode("f32", dense(db, object))) == repr([math.nan, -math.inf, math.nan, math.inf])


def test_the_weights_may_be_called_data(db):
    object, expected = example()
    object["components"] = {{"packed_weight": "data"}.get(role, role): c for role, c in object["components"].items()}
    assert dense(db, object) == expected


@pytest.mark.parametrize("generation", ["1.1", "1.2"])
def test_components_may_be_compressed(db, generation):
    object, expected = example()
    assert dense(db, writer.zstd_parts(object), generation=generation) == dense(db, object, generation=generation) == expected


def test_an_empty_tensor_is_an_empty_blob(db):
    for shape in ((0, 16), (4, 0), (2, 0, 16)):
        object, _ = example(shape)
        assert dense(db, object) == b""


def test_more_roles_than_needed_are_fine(db):
    object, expected = example()
    object["components"]["g_idx"] = {"dtype": "i32", "bytes": bytes(64)}
    assert dense(db, object) == expected


# ------------------------------------------------------------------------------------------------------ other functions

@pytest.mark.parametrize("dtype", ["f64", "f16", "bf16", "f8_e4m3fn", "i64", "bool", "complex64"])
def test_a_conversion_is_of_the_f32_value(db, dtype):
    object, expected = example()
    assert dense(db, object, "f32") == expected
    assert dense(db, object, dtype) == reference.encode(dtype, reference.decode("f32", expected))


@pytest.mark.parametrize("first, count", [(0, 1), (1, 2), (3, 1), (2, 100), (4, 1), (0, 0)])
def test_a_slice_is_that_part_of_the_whole(db, first, count):
    for object, expected in (example((4, 16)), example((4, 2, 16), 2, 4, "u16")):
        step = len(expected) // 4
        for made in (object, writer.zstd_parts(object)):
            file = writer.write({"q": made})
            got = value(db, "SELECT zt_dense(?, 'q', NULL, ?, ?)", file, first, count)
            assert got == expected[step * first:step * (first + count)]


@pytest.mark.parametrize("first, count", [(0, 1), (3, 5), (8, 7), (15, 1), (1, 15)])
def test_a_slice_of_rank_1_may_begin_within_a_word_and_a_group(db, first, count):
    object, expected = example((16,))
    file = writer.write({"q": object})
    assert value(db, "SELECT zt_dense(?, 'q', NULL, ?, ?)", file, first, count) == expected[4 * first:4 * (first + count)]


def test_functions_and_tables_see_the_f32_values(db):
    object, expected = example((2, 16))
    file = writer.write({"q": object})
    values = reference.decode("f32", expected)
    assert corpus.parse(value(db, "SELECT zt_json(?, 'q')", file)) == reference.nested([2, 16], values)
    assert [value(db, "SELECT zt_value(?, 'q', ?, ?)", file, i // 16, i % 16) for i in range(32)] == values
    assert rows(db, "SELECT position, value FROM zt_elements(?, 'q')", file) == list(enumerate(values))
    assert rows(db, "SELECT row, vector FROM zt_rows(?, 'q')", file) == [(0, expected[:64]), (1, expected[64:])]
    assert rows(db, "SELECT elements, min, max FROM zt_stats(?)", file) == [(32, min(values), max(values))]


@pytest.mark.parametrize("name, path, objects", **corpus.golden_objects(lambda object: object["format"] == "quantized_group"))
def test_golden_objects_have_the_values_of_their_codes(db, name, path, objects):
    for object in objects:
        at = str(path), object["name"]
        attributes = object["attributes"]
        parts = {c["name"]: value(db, "SELECT zt_blob(?, ?, ?)", *at, c["name"]) for c in object["components"]}
        if "packing" not in attributes or len(parts["zeros"]) != len(parts["scales"]):
            # Not said how codes are packed, or not one zero for each group.
            assert message(db, "SELECT zt_dense(?, ?)", *at).startswith(place(*at))
            continue
        weight = numpy.frombuffer(parts["packed_weight"], {"i32": "<u4", "u8": "u1"}[object["components"][0]["dtype"]])
        shifts = numpy.arange(0, 8 * weight.itemsize, attributes["bits"], weight.dtype)
        codes = (weight[:, None] >> shifts & (1 << attributes["bits"]) - 1).reshape(-1, attributes["group_size"]).astype("<f4")
        scales, zeros = (numpy.frombuffer(parts[role], "<f2").astype("<f4")[:, None] for role in ("scales", "zeros"))
        assert value(db, "SELECT zt_dense(?, ?)", *at) == ((codes - zeros) * scales).tobytes()


# ------------------------------------------------------------------------------------------------------ what is refused

def refused(db, object):
    """The message with which an object is refused, without its place."""
    file = writer.write({"q": object})
    text = message(db, "SELECT zt_dense(?, 'q')", file)
    assert text.startswith(place(file, "q"))
    for sql in ("SELECT zt_dense(?, 'q', 'f16', 0, 1)", "SELECT zt_json(?, 'q')", "SELECT zt_value(?, 'q', 0, 0)",
                "SELECT * FROM zt_elements(?, 'q')", "SELECT * FROM zt_rows(?, 'q')"):
        assert message(db, sql, file).startswith(place(file, "q"))
    elements, mean, error = rows(db, "SELECT elements, mean, error FROM zt_stats(?)", file)[0]
    assert elements == math.prod(object["shape"]) and mean is None and error
    return text[len(place(file, "q")):]


def with_attributes(**changes):
    """The example with other attributes; None takes one away."""
    object, _ = example()
    attributes = {**object["attributes"], **changes}
    return dict(object, attributes={k: v for k, v in attributes.items() if v is not None})


def with_component(role, **fields):
    object, _ = example()
    object["components"][role] = dict(object["components"][role], **fields)
    return object


@pytest.mark.parametrize("name", ["bits", "group_size", "packing"])
def test_a_missing_attribute_is_named(db, name):
    assert name in refused(db, with_attributes(**{name: None}))


@pytest.mark.parametrize("key, bits, said", [
    ("bits", writer.tag(2, b"\1" + bytes(8)), "the attribute 'bits' must be an unsigned integer"),   # 2^64
    (writer.tag(1, "bits"), 4, "quantized_group needs the attribute 'bits'")])
def test_an_attribute_is_a_plain_number_of_a_plain_name(db, key, bits, said):
    scales = struct.pack("<2f", 1, 1)
    object = writer.quantized([2, 8], [1] * 16, 4, 8, "u32", scales, scales)
    del object["attributes"]["bits"]
    object["attributes"][key] = bits
    source = writer.write({"w": object})
    assert message(db, "SELECT zt_dense(?, 'w')", source) == place(source, "w") + said
    assert rows(db, "SELECT message FROM zt_check(?) WHERE rule = 'quantized-attributes'", source) == [(said,)]


def test_no_attributes_at_all_are_an_error(db):
    object, _ = example()
    del object["attributes"]
    assert refused(db, object)


@pytest.mark.parametrize("role", ["packed_weight", "scales", "zeros"])
def test_a_missing_role_is_named(db, role):
    object, _ = example()
    del object["components"][role]
    assert role in refused(db, object)


@pytest.mark.parametrize("name", ["bits", "group_size"])
@pytest.mark.parametrize("wrong", [0, -1, "4", 4.0, True, [4], b"4", -(1 << 64), writer.tag(1, 4)])
def test_bits_and_group_size_are_integers_from_1_on(db, name, wrong):
    assert name in refused(db, with_attributes(**{name: wrong}))


@pytest.mark.parametrize("name, wrong", [
    ("bits", 3), ("bits", 8), ("bits", 9), ("bits", 16), ("bits", 1 << 63), ("bits", (1 << 64) - 1), ("group_size", 5),
    ("group_size", 32), ("group_size", 4), ("group_size", 1 << 63), ("group_size", (1 << 64) - 1)])
def test_attributes_that_contradict_the_rest_are_an_error(db, name, wrong):
    assert refused(db, with_attributes(**{name: wrong}))


@pytest.mark.parametrize("packing", ["8_per_u8", "4_per_i32", "16_per_i32", "0_per_i32", "-8_per_i32", "per_i32", "8_per_",
                                     "8_per_f32", "8_per_i33", "8per_i32", " 8_per_i32", "8_per_i32 ", "8_per_int32",
                                     "08_per_i32x", "", 8, b"8_per_i32", "8_per_i32\0", "18446744073709551624_per_i32",
                                     "8_per_u32", "8_PER_I32", ["8_per_i32"], writer.tag(1, "8_per_i32")])
def test_packing_names_the_word_and_how_many_codes_fill_it(db, packing):
    assert "packing" in refused(db, with_attributes(packing=packing))


@pytest.mark.parametrize("role, fields", [
    ("packed_weight", {"bytes": bytes(12)}), ("packed_weight", {"bytes": bytes(20)}), ("packed_weight", {"bytes": b""}),
    ("packed_weight", {"bytes": bytes(15)}), ("packed_weight", {"dtype": "f32"}), ("packed_weight", {"dtype": "q4"}),
    ("scales", {"bytes": bytes(12)}), ("scales", {"bytes": bytes(20)}), ("scales", {"bytes": b""}),
    ("scales", {"bytes": bytes(15)}),
    ("scales", {"dtype": "i32"}), ("scales", {"dtype": "q4"}), ("scales", {"dtype": "f16"}),
    ("zeros", {"bytes": bytes(12)}), ("zeros", {"bytes": bytes(20)}), ("zeros", {"bytes": b""}), ("zeros", {"dtype": "q4"}),
    ("zeros", {"dtype": "f16"}), ("packed_weight", {"encoding": "lz4"}), ("scales", {"encoding": "lz4"}),
    ("zeros", {"encoding": "lz4"}),
    ("packed_weight", {"type": "mystery"}), ("scales", {"type": "mystery"}),
])
def test_a_component_that_contradicts_the_rest_is_an_error(db, role, fields):
    assert refused(db, with_component(role, **fields))


@pytest.mark.parametrize("shape, group_size, word",
                         [((4, 4), 4, "i32"), ((2, 12), 12, "i32"), ((8, 4), 8, "i32"), ((2, 4, 4), 16, "i32"),
                          ((16, 1), 1, "u8")])
def test_a_last_dimension_that_is_no_multiple_of_the_group_or_the_word_is_an_error(db, shape, group_size, word):
    count = math.prod(shape)
    groups = count // group_size
    object = writer.quantized(list(shape), [1] * count, 4, group_size, word, bytes(4 * groups), bytes(4 * groups))
    assert refused(db, object)


def test_other_objects_of_the_file_are_whole(db):
    file = writer.write({"q": with_attributes(bits=None), "w": writer.dense(b"\1\2")})
    assert value(db, "SELECT zt_dense(?, 'w')", file) == b"\1\2"
    assert message(db, "SELECT zt_dense(?, 'q')", file).startswith(place(file, "q"))
