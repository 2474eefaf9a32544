"""zt_files.types, the tensors of a file counted by their types: what zt_objects says of each of them, added up."""
import json

import pytest

import corpus
import writer
from support import rows, value
from writer import dense

CODED = ("quantized_group", "zt.quant_group/1")


def bits_of(format, attributes):
    bits = json.loads(attributes).get("bits")
    return bits if format in CODED and type(bits) is int and bits >= 0 else None


def counted(db, source):
    """The same from the rows of zt_objects."""
    found = {}
    for format, dtype, type, elements, stored, attributes in db.execute(
            "SELECT format, dtype, type, elements, stored_bytes, attributes FROM zt_objects(?)", (source,)):
        sums = found.setdefault((format, dtype, type, bits_of(format, attributes)), [0, 0, 0])
        for i, number in enumerate((1, elements, stored)):
            sums[i] += int(number or 0)
    return [(*key, *sums) for key, sums in found.items()]


def read(text):
    return [tuple(int(each[name]) if name in ("elements", "stored_bytes") else each.get(name)
                  for name in ("format", "dtype", "type", "bits", "objects", "elements", "stored_bytes")) for each in json.loads(text)]


def types(db, source):
    return read(value(db, "SELECT types FROM zt_files(?)", source))


def test_types_are_those_of_the_rows(db):
    """Over all files there are, of which some have several types in turn."""
    n, turns, coded, opaque = 0, 0, 0, 0
    for path, text in db.execute("SELECT path, types FROM zt_files(?) WHERE error IS NULL", (str(corpus.FORMATS),)):
        expected = counted(db, path)
        assert read(text) == expected, path
        n, turns, coded = n + 1, turns + (len(expected) > 3), coded + any(each[3] for each in expected)
        opaque += any(each[1] is None for each in expected)
    assert n > 300 and turns > 20 and coded > 3 and opaque > 3


def test_the_same_of_a_blob_and_in_either_order_of_columns(db):
    data = writer.write({"a": dense(b"1234", [2], "f16"), "b": dense(b"12345678", [2], "f32"), "c": dense(b"12", [1], "f16"), "s": writer.csr()})
    assert types(db, data) == counted(db, data)
    assert types(db, data)[:2] == [("dense", "f16", "f16", None, 2, 3, 6), ("dense", "f32", "f32", None, 1, 2, 8)]
    for columns in ("types, stored_bytes, decoded_bytes, objects", "objects, decoded_bytes, stored_bytes, types"):
        [row] = rows(db, f"SELECT {columns} FROM zt_files(?)", data)
        by_name = dict(zip(columns.split(", "), row))
        total = value(db, "SELECT sum(stored_bytes) FROM zt_objects(?)", data)
        assert (by_name["stored_bytes"], by_name["decoded_bytes"], by_name["objects"]) == (total, total, 4)
        assert sum(each["stored_bytes"] for each in json.loads(by_name["types"])) == total
    assert value(db, "SELECT json_extract(json_array(types), '$[0][0].objects') FROM zt_files(?)", data) == 2   # It is JSON to SQLite


def test_a_file_without_tensors_and_one_that_cannot_be_read(db, save):
    assert value(db, "SELECT types FROM zt_files(?)", writer.write({})) == "[]"
    assert rows(db, "SELECT types, error IS NULL FROM zt_files(?)", save("broken.zt", writer.sample()[:-9])) == [(None, 0)]
    db.execute(f"CREATE VIRTUAL TABLE temp.named USING zt_files('{save('fine.zt', writer.sample())}')")
    assert types(db, writer.sample()) == read(value(db, "SELECT types FROM named"))


def opaque(shape, format="acme", **attributes):
    return {"shape": shape, "format": format, "components": {}, **({"attributes": attributes} if attributes else {})}


@pytest.mark.parametrize("shapes, expected", [
    ([[(1 << 63) - 1]], (1 << 63) - 1), ([[(1 << 63) - 1], [1]], str(1 << 63)), ([[(1 << 64) - 1]] * 3, str(3 * ((1 << 64) - 1))),
    ([[10 ** 18 - 1], [1]], 10 ** 18), ([[10 ** 18 - 1], [2], [10 ** 18]], 2 * 10 ** 18 + 1), ([[0, 1 << 40]], 0)])
def test_sums_are_exact(db, shapes, expected):
    data = writer.write({f"t{i}": opaque(shape) for i, shape in enumerate(shapes)})
    [each] = json.loads(value(db, "SELECT types FROM zt_files(?)", data))
    assert each["elements"] == expected and each["objects"] == len(shapes)


def test_bits_tell_quantized_tensors_apart(db):
    """Of any layout that may have codes. Only what JSON shows as an integer from 0 on counts."""
    values = [4, 8, 4, True, 4.0, "4", None, -4, (1 << 64) - 1, writer.tag(9, 8)]
    objects = {f"q{i:02}": opaque([i + 1], "quantized_group", bits=bits) for i, bits in enumerate(values)}
    data = writer.write({**objects, "d": dict(dense(b"1"), attributes={"bits": 4})})
    assert [each[0:1] + each[3:5] for each in sorted(types(db, data), key=repr)] == sorted([
        ("dense", None, 1), ("quantized_group", 4, 2), ("quantized_group", 8, 2), ("quantized_group", None, 5),
        ("quantized_group", str((1 << 64) - 1), 1)], key=repr)


def test_as_many_types_as_tensors(db):
    """A file may have any number, in any order, and each is found again."""
    formats = [f"format {i * 7919 % 5000}" for i in range(5000)]
    data = writer.write({f"{i:05}": opaque([i % 5000], format) for i, format in enumerate(formats + formats[::-1])})
    assert types(db, data) == [(format, None, None, None, 2, 4999, 0) for format in formats]


def test_names_of_types_are_escaped(db):
    for format in ('a"b\\c', "\x01\n", "é\U0001f600", ""):
        data = writer.write({"t": opaque([1], format)})
        assert types(db, data) == counted(db, data) == [(format, None, None, None, 1, 1, 0)]


def test_bits_that_are_no_integer_of_64_bits(db, save):
    bits = [4, 2**64 - 1, writer.tag(2, b"\1" + bytes(8)), -4, "4", 4.0, None]
    objects = {str(i): {**dense(b"1"), "format": "quantized_group", "attributes": {"bits": each}} for i, each in enumerate(bits)}
    found = [each.get("bits") for each in json.loads(value(db, "SELECT types FROM zt_files(?)", save("b.zt", writer.write(objects))))]
    assert found == [4, str(2**64 - 1), None]
