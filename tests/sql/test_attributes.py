"""Attributes: zt_attributes and the JSON columns, for every kind of CBOR value and key."""
import sqlite3
import struct

import pytest

import corpus
import writer
from support import rows, value
from writer import Pairs, Raw, simple, tag

INFINITY = float("inf")
# (CBOR value, value column, type column, JSON)
VALUES = [
    (None, None, "null", "null"), (writer.UNDEFINED, None, "null", "null"), (simple(0), None, "null", "null"),
    (simple(19), None, "null", "null"), (simple(255), None, "null", "null"),
    (True, 1, "true", "true"), (False, 0, "false", "false"),
    (0, 0, "integer", "0"), (-1, -1, "integer", "-1"), ((1 << 63) - 1, (1 << 63) - 1, "integer", "9223372036854775807"),
    (-1 << 63, -1 << 63, "integer", "-9223372036854775808"),
    (1 << 63, "9223372036854775808", "integer", "9223372036854775808"),
    ((1 << 64) - 1, "18446744073709551615", "integer", "18446744073709551615"),
    (-(1 << 63) - 1, "-9223372036854775809", "integer", "-9223372036854775809"),
    (-1 << 64, "-18446744073709551616", "integer", "-18446744073709551616"),
    # bignums, RFC 7049 section 2.4.2: tag 2 is n, tag 3 is -1 - n
    (tag(2, b"\x07"), 7, "integer", "7"), (tag(3, b"\x07"), -8, "integer", "-8"), (tag(2, b""), 0, "integer", "0"),
    (tag(2, b"\0\0\x01\0"), 256, "integer", "256"),
    (tag(2, b"\x01" + bytes(8)), str(1 << 64), "integer", str(1 << 64)),
    (tag(3, b"\x01" + bytes(8)), str(-1 - (1 << 64)), "integer", str(-1 - (1 << 64))),
    (tag(2, b"\xff" * 40), str((1 << 320) - 1), "integer", str((1 << 320) - 1)),
    (tag(3, b"\xff" * 40), str(-(1 << 320)), "integer", str(-(1 << 320))),
    (tag(3, struct.pack(">Q", (1 << 63) - 1)), -1 << 63, "integer", str(-1 << 63)),
    (0.5, 0.5, "real", "0.5"), (-0.0, -0.0, "real", "-0.0"), (3.0, 3.0, "real", "3.0"), (0.1, 0.1, "real", "0.1"),
    (5e-324, 5e-324, "real", "5e-324"), (1.7976931348623157e308, 1.7976931348623157e308, "real", "1.7976931348623157e308"),
    (2.0 ** 53 + 2, 2.0 ** 53 + 2, "real", "9007199254740994.0"), (1 / 3, 1 / 3, "real", repr(1 / 3)),
    (Raw(b"\xf9\x3e\x00"), 1.5, "real", "1.5"), (Raw(b"\xf9\x00\x01"), 2.0 ** -24, "real", repr(2.0 ** -24)),
    (Raw(b"\xfa\x3d\xcc\xcc\xcd"), 0.10000000149011612, "real", "0.10000000149011612"),
    (INFINITY, INFINITY, "real", "9.0e+999"), (-INFINITY, -INFINITY, "real", "-9.0e+999"),
    (Raw(b"\xf9\x7c\x00"), INFINITY, "real", "9.0e+999"), (float("nan"), None, "real", "null"),
    (Raw(b"\xf9\x7e\x00"), None, "real", "null"), (Raw(b"\xfa\x7f\xc0\x00\x00"), None, "real", "null"),
    ("text", "text", "text", '"text"'), ("", "", "text", '""'), ("a\0b", "a\0b", "text", r'"a\u0000b"'),
    ('q"\\\n\t\x01\x7f/é🐍', 'q"\\\n\t\x01\x7f/é🐍', "text", '"q\\"\\\\\\n\\t\\u0001\x7f/é🐍"'),
    (Raw(b"\x7f\x61a\x60\x62bc\xff"), "abc", "text", '"abc"'),
    (b"\x00\xAB", b"\x00\xAB", "blob", '"00ab"'), (b"", b"", "blob", '""'),
    (Raw(b"\x5f\x41\x01\x41\x02\xff"), b"\x01\x02", "blob", '"0102"'),
    ([], [], "array", "[]"), ([1, [b"\xff", None]], [1, ["ff", None]], "array", '[1,["ff",null]]'),
    ([writer.UNDEFINED, float("nan"), INFINITY, simple(99)], [None, None, INFINITY, None], "array", "[null,null,9.0e+999,null]"),
    (Raw(b"\x9f\x01\x02\xff"), [1, 2], "array", "[1,2]"),
    ({}, corpus.Map(), "object", "{}"),
    ({"b": 1, "a": {"c": True}}, corpus.Map([("b", 1), ("a", corpus.Map([("c", True)]))]), "object", '{"b":1,"a":{"c":true}}'),
    (Raw(b"\xbf\x61k\x01\xff"), corpus.Map([("k", 1)]), "object", '{"k":1}'),
    (tag(0, "2024-01-15T10:30:00Z"), "2024-01-15T10:30:00Z", "text", '"2024-01-15T10:30:00Z"'), (tag(1, 1.5), 1.5, "real", "1.5"),
    (tag(24, b"\x01"), b"\x01", "blob", '"01"'), (tag(100, tag(1000, 5)), 5, "integer", "5"),
    (tag(5, [1, 2]), [1, 2], "array", "[1,2]"),
    (tag(2, "not bytes"), "not bytes", "text", '"not bytes"'),
    ([tag(2, b"\x01" + bytes(8)), tag(32, "u")], [1 << 64, "u"], "array", '[18446744073709551616,"u"]'),
]
EACH_VALUE = pytest.mark.parametrize("cbor, sql, type, json", VALUES, ids=range(len(VALUES)))


def with_attributes(attributes, object_attributes=None):
    object = writer.dense(b"x")
    if object_attributes is not None:
        object["attributes"] = object_attributes
    return writer.write({"w": object}, attributes=attributes)


@EACH_VALUE
def test_a_value_becomes_the_sql_value_of_its_kind(db, cbor, sql, type, json):
    (got, got_type), = rows(db, "SELECT value, type FROM zt_attributes(?)", with_attributes({"k": cbor}))
    if type in ("array", "object"):
        got = corpus.parse(got)
    assert (repr(got), got_type) == (repr(sql), type)


@EACH_VALUE
def test_the_value_of_an_object_attribute_is_the_same(db, cbor, sql, type, json):
    file = with_attributes({"k": cbor}, {"k": cbor})
    got = rows(db, "SELECT object, key, value, type FROM zt_attributes(?)", file)
    assert [(o, k) for o, k, _, _ in got] == [(None, "k"), ("w", "k")]
    assert repr(got[0][2:]) == repr(got[1][2:])


@EACH_VALUE
def test_a_custom_field_of_0_1_is_the_same(db, cbor, sql, type, json):
    file = writer.write({"w": dict(writer.dense(b"x"), attributes={"custom": cbor})}, "0.1")
    reference = rows(db, "SELECT 'w', 'custom', value, type FROM zt_attributes(?)", with_attributes({"k": cbor}))
    assert repr(rows(db, "SELECT object, key, value, type FROM zt_attributes(?)", file)) == repr(reference)


@pytest.mark.parametrize("key, found", [(7, "an unsigned integer"), (tag(5, "shape"), "a tag"), (Raw(b"\x41\x61"), "a byte string")])
def test_custom_fields_of_0_1_have_texts_as_keys(db, key, found):
    file = writer.write({"w": dict(writer.dense(b"x"), attributes={key: 1})}, "0.1")
    with pytest.raises(sqlite3.OperationalError, match=f"object 'w': manifest byte [0-9]+: expected a text key, found {found}"):
        rows(db, "SELECT * FROM zt_objects(?)", file)


@EACH_VALUE
def test_a_value_in_json(db, cbor, sql, type, json):
    file = with_attributes({"k": cbor}, {"k": [cbor]})
    wanted = repr(corpus.parse(json))
    for query, pick in [("SELECT attributes FROM zt_files(?)", lambda root: dict(root)["k"]),
                        ("SELECT attributes FROM zt_objects(?)", lambda root: dict(root)["k"][0]),
                        ("SELECT zt_manifest(?)", lambda root: dict(dict(root)["attributes"])["k"])]:
        assert repr(pick(corpus.parse(value(db, query, file)))) == wanted


def test_infinities_are_written_as_sqlite_does(db):
    text = value(db, "SELECT attributes FROM zt_files(?)", with_attributes({"a": [INFINITY, -INFINITY]}))
    assert text.replace(" ", "") == '{"a":[9.0e+999,-9.0e+999]}'


def test_json_is_read_by_sqlites_own_functions(db):
    file = with_attributes({"a": {"b": [1, 2.5, "x", None, True]}})
    assert rows(db, "SELECT json_extract(attributes, '$.a.b[1]'), json_valid(attributes) FROM zt_files(?)", file) == [(2.5, 1)]
    assert rows(db, "SELECT json_array(value) FROM zt_attributes(?)", file) == [('[{"b":[1,2.5,"x",null,true]}]',)]
    assert value(db, "SELECT json_array(zt_manifest(?)) LIKE '[{%'", file) == 1


@pytest.mark.parametrize("key, text", [
    (0, "0"), (-6, "-6"), (1 << 63, "9223372036854775808"), (-1 << 64, "-18446744073709551616"), (True, "true"), (False, "false"),
    (None, "null"), (writer.UNDEFINED, "null"), (1.5, "1.5"), (b"\x01\xAB", "01ab"), ("", ""), ("text", "text"),
    ("żółć 🐍", "żółć 🐍"),
    (tag(2, b"\x01" + bytes(8)), str(1 << 64)), ([1, "a"], '[1,"a"]'), ({"a": 1}, '{"a":1}'), ('q"\\', 'q"\\'), ("a\0b", "a\0b"),
])
def test_a_key_that_is_not_text_is_the_text_of_its_json_form(db, key, text):
    file = with_attributes(Pairs([(key, "v")]), Pairs([(key, "v")]))
    assert rows(db, "SELECT object, key, value FROM zt_attributes(?)", file) == [(None, text, "v"), ("w", text, "v")]
    for sql in ("SELECT attributes FROM zt_files(?)", "SELECT attributes FROM zt_objects(?)"):
        assert corpus.parse(value(db, sql, file)) == [(text, "v")]


def test_keys_that_differ_only_in_kind_are_three_attributes(db):
    file = with_attributes(Pairs([(0, "integer"), ("0", "text"), (b"\x00", "bytes")]))
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", file) == [("0", "integer"), ("0", "text"), ("00", "bytes")]


def test_attributes_come_in_manifest_order_the_files_own_first(db):
    def numbered(*keys):
        return Pairs((k, i) for i, k in enumerate(keys))
    attributes = {"z": numbered("b", "a"), "none": {}, "a": numbered("y", "x")}
    objects = {name: dict(writer.dense(b"x"), attributes=a) for name, a in attributes.items()}
    file = writer.write(objects, attributes=numbered("q", "p", "r"))
    assert rows(db, "SELECT object, key, value FROM zt_attributes(?)", file) == [
        (None, "q", 0), (None, "p", 1), (None, "r", 2), ("z", "b", 0), ("z", "a", 1), ("a", "y", 0), ("a", "x", 1)]
    assert rows(db, "SELECT object, attributes FROM zt_objects(?)", file) == [
        ("z", '{"b":0,"a":1}'), ("none", "{}"), ("a", '{"y":0,"x":1}')]


@pytest.mark.parametrize("attributes", [None, {}, Raw(b"\xf6")])
def test_without_attributes_the_json_is_an_empty_object(db, attributes):
    file = with_attributes(attributes, attributes)
    assert rows(db, "SELECT * FROM zt_attributes(?)", file) == []
    assert rows(db, "SELECT attributes FROM zt_files(?)", file) == [("{}",)]
    assert rows(db, "SELECT attributes FROM zt_objects(?)", file) == [("{}",)]


def test_the_layout_of_0_1_is_a_plain_text(db):
    """A tag, or another type, makes another value of it."""
    for layout in (writer.tag(1, "csr"), 5):
        file = writer.write({"w": dict(writer.dense(b"x"), format="sparse", attributes={"sparse_format": layout})}, "0.1")
        assert rows(db, "SELECT format FROM zt_objects(?)", file) == [("sparse",)]


def test_the_specified_fields_of_0_1_are_no_attributes(db):
    object = writer.dense(b"x", checksum="crc32c:0x00000000", data_endianness="little")
    file = writer.write({"w": dict(object, attributes={"sparse_format": "csr", "step": 7})}, "0.1")
    assert rows(db, "SELECT object, key, value FROM zt_attributes(?)", file) == [("w", "sparse_format", "csr"), ("w", "step", 7)]
    assert rows(db, "SELECT attributes FROM zt_objects(?)", file) == [('{"sparse_format":"csr","step":7}',)]
    assert rows(db, "SELECT attributes FROM zt_files(?)", file) == [("{}",)]


def test_attributes_of_deep_nesting_come_whole(db):
    deep = "bottom"
    for _ in range(60):
        deep = [deep]
    text = value(db, "SELECT value FROM zt_attributes(?)", with_attributes({"k": deep}))
    assert text == "[" * 60 + '"bottom"' + "]" * 60


@pytest.mark.parametrize("condition, expected", [
    ("object IS NULL", [(None, "a"), (None, "b")]), ("object = 'w'", [("w", "a"), ("w", "c")]),
    ("key = 'a'", [(None, "a"), ("w", "a")]),
    ("object = 'w' AND key = 'c'", [("w", "c")]), ("object IS NULL AND key = 'c'", []),
    ("key IN ('b', 'c', 'b')", [(None, "b"), ("w", "c")]),
    ("object = 'w' OR key = 'b'", [(None, "b"), ("w", "a"), ("w", "c")]), ("object IS NOT NULL AND type = 'real'", [("w", "c")]),
    ("object <> 'w'", []), ("object = 'none'", []), ("object IN ('w', NULL)", [("w", "a"), ("w", "c")]),
])
def test_conditions_choose_the_right_attributes(db, condition, expected):
    file = with_attributes({"a": 1, "b": "x"}, {"a": 2, "c": 0.5})
    assert rows(db, f"SELECT object, key FROM zt_attributes(?) WHERE {condition}", file) == expected


def test_large_text_and_bytes_come_whole(db):
    file = with_attributes({"t": "ż" * 100_000, "b": b"\xfe" * 100_000})
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", file) == [("t", "ż" * 100_000), ("b", b"\xfe" * 100_000)]
    assert value(db, "SELECT attributes FROM zt_files(?)", file) == '{"t":"%s","b":"%s"}' % ("ż" * 100_000, "fe" * 100_000)
