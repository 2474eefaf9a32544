"""TensorFlow's checkpoints: messages of other wire types, tables that are broken, and slices."""
import os
import struct

import pytest
import tables
from support import message, rows, value
from tables import F32, block, entry, footer, handle, header, number, table, trailer

ENTRY = entry(F32, [4], 0, 16)


def fixed(field, n=7):
    """A number of 4 bytes."""
    return tables.varint(field << 3 | 5) + struct.pack("<I", n)


def refused(db, source):
    return message(db, "SELECT * FROM zt_objects(?)", source)


# ---- Tables

def of_block(body):
    """A table of one block of that body."""
    out = body + trailer(body)
    last = block([(b"x", handle(0, len(body)))], 1)
    return out + last + trailer(last) + footer((len(out), len(last)), (len(out), len(last)))


@pytest.mark.parametrize("entries", [b"\0", b"\0\1", b"\0\0\x80", b"\x80" * 10 + b"\1", b"\0" + b"\xff" * 10, b"\0\0" + b"\x80" * 9 + b"\2"],
                         ids=["no key", "no value", "cut", "65 bits shared", "70 bits of the key", "64 bits of the value"])
def test_an_entry_whose_numbers_are_cut_or_long(db, entries):
    assert "the entry at byte 0 of its block goes beyond it" in refused(db, of_block(entries + struct.pack("<II", 0, 1)))


@pytest.mark.parametrize("place", [b"", b"\0", b"\x80", b"\0\x80"])
def test_an_entry_of_the_index_without_a_place(db, place):
    body = block([(b"", header())])
    out = body + trailer(body)
    last = block([(b"x", place)], 1)
    assert "an entry of the index states no place of a block" in refused(db, out + last + trailer(last) + footer((len(out), len(last)), (len(out), len(last))))


@pytest.mark.parametrize("handles", [b"\xff" * 40, handle(0, 0) + b"\xff" * 38, handle(0, 0) + b"\0" + b"\xff" * 37])
def test_a_footer_without_places(db, handles):
    assert "are no footer of a table" in refused(db, bytes(64) + handles + struct.pack("<Q", tables.MAGIC))


def test_a_table_of_more_than_a_gigabyte(db, save):
    path = save("w.index", b"")
    os.truncate(path, 1 << 30)
    with open(path, "ab") as f:
        f.write(footer((0, 0), (0, 0)))
    assert f"the file has {(1 << 30) + 48} bytes, a table has 48 to {1 << 30}" in refused(db, path)


def test_more_variables_than_are_read_without_a_question(db):
    entries = [(b"", header()), *((f"{i:06}".encode(), number(1, F32)) for i in range(70000))]
    assert value(db, "SELECT count(*) FROM zt_objects(?)", table(entries, each=2000)) == 70000


# ---- Messages: what has another wire type is passed over

@pytest.mark.parametrize("more, shards, producer", [
    (fixed(1), 1, 1), (fixed(2), 1, 1), (number(3, 7), 1, 1), (tables.message(3, fixed(1) + number(2, 9)), 1, 1), (tables.message(3, number(1, 5)), 1, 5)])
def test_a_header_of_other_wire_types(db, more, shards, producer):
    source = table([(b"", header() + more), (b"w", ENTRY)])
    assert rows(db, "SELECT version FROM zt_files(?)", source) == [(str(producer),)]
    assert rows(db, "SELECT value FROM zt_attributes(?) WHERE key = 'num_shards'", source) == [(shards,)]
    assert rows(db, "SELECT value FROM zt_attributes(?) WHERE key = 'endianness'", source) == [("LITTLE",)]


@pytest.mark.parametrize("more, shape", [
    (fixed(2), "[4]"), (number(6, 7), "[4]"), (fixed(7), "[4]"), (number(2, 7), "[4]"), (tables.message(2, fixed(2)), "[4]"), (tables.message(2, fixed(3)), "[4]"),
    (tables.message(2, tables.message(2, fixed(1) + number(1, 3))), "[4,3]"), (tables.message(6, b"abcd"), "[4]"), (number(7, 1), "[4]")])
def test_an_entry_of_other_wire_types(db, more, shape):
    source = table([(b"", header()), (b"w", ENTRY + more)])
    assert rows(db, "SELECT format, dtype, shape FROM zt_objects(?)", source) == [("dense", "f32", shape)]
    assert rows(db, "SELECT digest FROM zt_components(?)", source) == [(None,)]


# ---- Slices

def sliced(of, listed, stored, *more, name="w", **how):
    """A table with a variable of the slices that are listed (bytes: messages as they are), of which those are stored."""
    parts = [(tables.slice_key(name, e), entry(F32, [n for _, n in tables.ranges(of, e)], 0, 8)) for e in stored]
    messages = b"".join(tables.message(7, e) if isinstance(e, bytes) else entry(F32, of, 0, 0, slices=[e])[len(entry(F32, of, 0, 0)):] for e in listed)
    return table(sorted([(b"", header()), *parts, (name.encode(), entry(F32, of, 0, 0) + messages), *more]), **how)


HALVES = [((0, 2),), ((2, 2),)]


def fault(db, source, object="w"):
    return rows(db, "SELECT rule, message FROM zt_check(?, 'quick') WHERE object = ? AND severity = 'error'", source, object)


def test_slices_of_other_wire_types(db):
    extent = tables.message(1, number(2, 2))
    listed = [number(1, 7) + extent, fixed(1) + tables.message(1, number(1, 2) + number(2, 2))]
    assert fault(db, sliced((4,), listed, HALVES)) == []
    assert rows(db, "SELECT component FROM zt_components(?)", sliced((4,), listed, HALVES)) == [("0,2",), ("2,2",)]
    other = (b"x", entry(F32, (2,), 0, 0, slices=[((0, 2),)]) + number(7, 1)), (tables.slice_key("x", ((0, 2),)), entry(F32, [2], 0, 8))
    assert fault(db, sliced((4,), HALVES, HALVES, *other), "x") == []


def test_a_slice_of_fewer_dimensions(db):
    assert fault(db, sliced((2, 2), [tables.message(1, number(2, 2))], [])) == [
        ("tensorflow-slices", "a slice has no elements, does not lie in it, or has another rank")]


def test_a_slice_that_is_cut(db):
    assert "a field goes beyond the message that it is in" in refused(db, sliced((4,), [tables.message(1, number(2, 2)) + b"\x0a\x7f"], HALVES))


def test_two_variables_of_broken_slices(db):
    other = entry(F32, (4,), 0, 0, slices=[((1, 2),)])
    source = sliced((4,), [((1, 2),)], [], (b"x", other))
    assert fault(db, source) == fault(db, source, "x") == [("tensorflow-slices", "a slice is not in the index")]


def test_slices_that_take_more_than_the_file_is_worth(db):
    slices = [((i, 1), *[None] * 63) for i in range(2500)]
    assert "its keys and slices, and 64 bytes for each key, take more than" in refused(db, sliced((2500, *[1] * 63), slices, slices, packed=True))


def test_a_key_of_a_slice_that_is_text(db):
    source = table([(b"", header()), (b"\0text", ENTRY), (b"w", ENTRY)])
    assert rows(db, "SELECT object FROM zt_objects(?)", source) == [("w",)]
    assert '"key":"w"' in value(db, "SELECT zt_manifest(?)", source)
