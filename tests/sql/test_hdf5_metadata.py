"""Metadata of HDF5 that hardly a library writes: blocks of pages, old forms, and what is cut or leads nowhere."""
import os
import struct

import pytest
import write_hdf5 as hdf5
from support import ROOT, message, rows, value

NONE = hdf5.NONE
LISTED = "SELECT object, format, shape FROM zt_objects(?)"
DENSE = "SELECT zt_dense(?, 'w')"
UNREADABLE = '{"$opaque":"h5 unreadable"}'


def plain(*messages, file=None, **more):
    """A file of a dataset w, whose root has these messages, too."""
    f = file or hdf5.File()
    return f.end(hdf5.link("w", f.plain()), *messages, **more)


def faults(db, data):
    return rows(db, "SELECT object, message FROM zt_check(?) WHERE severity = 'error'", data)


def refused(db, data):
    return message(db, LISTED, data)


def is_read(db, data, name="w"):
    return value(db, "SELECT zt_dense(?, ?)", data, name) == hdf5.DATA


# ---- The superblock

def old(*changes, name="userblock"):
    """A golden file with an old superblock, changed there."""
    return hdf5.golden(name, b"\x89HDF", *changes)


@pytest.mark.parametrize("name, change", [("userblock", (9, b"\1")), ("userblock", (12, b"\1")), ("userblock", (16, b"\0\0")), ("btree", (24, b"\0\0"))])
def test_numbers_of_an_old_superblock(db, name, change):
    assert "a superblock of unknown form" in refused(db, old(change, name=name))


def test_a_superblock_of_a_few_bytes(db):
    for n in (8, 15):
        assert "a superblock of version 0" in refused(db, b"\x89HDF\r\n\x1a\n".ljust(n, b"\0"))


def test_a_file_without_a_stated_end(db):
    assert is_read(db, plain(end=NONE) + bytes(8))


def test_a_drivers_block(db):
    size = len(old()) - 512
    family = struct.pack("<B3xI8s", 0, 8, b"NCSAfami")
    assert "go beyond the end of the file" in refused(db, old((40, struct.pack("<Q", 512)), (48, struct.pack("<Q", size))) + family)
    names = rows(db, LISTED, old())
    other = struct.pack("<B3xI8s", 0, 8, b"NCSAnone")
    assert rows(db, LISTED, old((48, struct.pack("<Q", size))) + other) == names
    assert rows(db, LISTED, old((48, struct.pack("<Q", size - 8)))) == names   # Too near the end for a name


def test_a_large_file_may_have_large_metadata(db, save):
    path = save("w.h5", plain(end=NONE))
    os.truncate(path, 140 << 20)
    assert is_read(db, path)


def test_a_header_of_more_than_2_gib(db, save):
    f = hdf5.File()
    f.put(bytes(16))
    at = f.put(struct.pack("<4sBBQ", b"OHDR", 2, 3, 1 << 31))
    path = save("w.h5", f.end(hdf5.link("w", at), end=NONE))
    os.truncate(path, (1 << 31) + (1 << 20))
    assert "a header of more bytes than the file" in refused(db, path)


# ---- Headers and links

def near_end(make, before):
    """The file that make(address) gives, with an address so many bytes before its end."""
    return make(len(make(0)) - before)


def test_a_header_at_the_end_of_the_file(db):
    def make(at):
        f = hdf5.File()
        return f.end(hdf5.link("w", at)) + struct.pack("<4sBB6x", b"OHDR", 2, 0x20)
    data = bytearray(near_end(make, 12))
    struct.pack_into("<Q", data, 28, len(data))
    data[44:48] = struct.pack("<I", hdf5.checksum(bytes(data[:44])))
    assert f"1 bytes at address {len(data) + 10} go beyond the end of the file" in refused(db, bytes(data))


def test_a_header_with_times_and_phases(db):
    f = hdf5.File()
    body = hdf5.space(4) + hdf5.message(hdf5.TYPE, hdf5.F32) + hdf5.contiguous(f.put(hdf5.DATA), 16)
    w = f.put(hdf5.summed(struct.pack("<4sBB16xHHI", b"OHDR", 2, 0x32, 8, 6, len(body)) + body))
    assert is_read(db, f.end(hdf5.link("w", w)))


def test_a_header_of_more_than_4_mib(db, save):
    f = hdf5.File()
    sound = [(1, struct.pack("<BBB5xQ", 1, 1, 0, 4)), (3, hdf5.F32 + bytes(4)), (8, struct.pack("<BBQQ6x", 3, 1, f.put(hdf5.DATA), 16))]
    body = b"".join(struct.pack("<HHB3x", type, len(data), 0) + data for type, data in [(0, bytes(65528))] * 70 + sound)
    w = f.put(struct.pack("<BBHII4x", 1, 0, 73, 1, len(body)) + body)   # Version 1 has no checksum
    assert is_read(db, save("w.h5", f.end(hdf5.link("w", w))))


def test_a_message_that_was_unknown_and_was_marked_so(db):
    assert is_read(db, plain(hdf5.message(22, b"", 0x30)))


def test_the_sum_of_a_continuation(db):
    f = hdf5.File()
    block = f.put(b"OCHK" + bytes(12))
    assert f"the checksum of the 16 bytes at address {block} is wrong" in refused(db, plain(hdf5.message(hdf5.CONTINUATION, struct.pack("<QQ", block, 16)), file=f))


@pytest.mark.parametrize("type, data, fault", [
    (hdf5.LINK, b"\1\0\5w", "a link message of unknown form"), (hdf5.LINK_INFO, struct.pack("<BBQ", 0, 0, 48), "a link info message of unknown form"),
    (hdf5.ATTRIBUTE_INFO, struct.pack("<BBQ", 0, 0, 48), "an attribute info of unknown form"),
    (hdf5.ATTRIBUTE_INFO, struct.pack("<BBQQ", 0, 0, 0, 48), "no 'FRHP' at address 0"), (hdf5.SYMBOLS, struct.pack("<QQ", 48, 1 << 40), "32 bytes at address 1099511627776 go"),
    (hdf5.SYMBOLS, struct.pack("<QQ", 48, 0), "no 'HEAP' at address 0")])
def test_messages_of_a_group_that_are_cut_or_lead_nowhere(db, type, data, fault):
    assert fault in refused(db, plain(hdf5.message(type, data)))


@pytest.mark.parametrize("type, data", [
    (hdf5.LINK_INFO, struct.pack("<BBQQ", 0, 0, 48, NONE)), (hdf5.ATTRIBUTE_INFO, struct.pack("<BBQQ", 0, 0, 48, NONE)), (hdf5.SYMBOLS, struct.pack("<QQ", NONE, 48))])
def test_messages_of_a_group_that_lead_to_no_tree(db, type, data):
    assert is_read(db, plain(hdf5.message(type, data)))


# ---- Groups of symbols

def local_heap(f, text, free=NONE):
    return f.put(struct.pack("<4sB3xQQQ", b"HEAP", 0, len(text), free, f.put(text)))


def group_node(*children, level=0, first=0):
    """Each child with the key behind it."""
    return struct.pack("<4sBBHQQQ", b"TREE", 0, level, len(children), NONE, NONE, first) + b"".join(struct.pack("<QQ", *child) for child in children)


def symbols(*entries):
    return struct.pack("<4sBBH", b"SNOD", 1, 0, len(entries)) + b"".join(struct.pack("<QQ24x", *entry) for entry in entries)


def group_of(make, text=b"\0a\0b\0"):
    """A file whose root's tree is what make(file, the address of a dataset) gives."""
    f = hdf5.File()
    heap = local_heap(f, text)
    return f.end(hdf5.message(hdf5.SYMBOLS, struct.pack("<QQ", make(f, f.plain()), heap)))


def over(f, child, first=0, last=3, level=1):
    return f.put(group_node((child, last), level=level, first=first))


@pytest.mark.parametrize("make, fault", [
    (lambda f, w: over(f, f.put(group_node((f.put(symbols((1, w))), 3))), first=90), "a name beyond the end of the local heap"),
    (lambda f, w: over(f, f.put(group_node((f.put(symbols((1, w))), 3), first=90))), "a name beyond the end of the local heap"),
    (lambda f, w: over(f, f.put(group_node((f.put(symbols((1, w))), 3), first=1)), first=3), "a node's keys beyond those of the node above at address"),
    (lambda f, w: over(f, f.put(group_node((f.put(symbols((1, w))), 3))), level=2), "a wrong level of a B-tree's node at address"),
    (lambda f, w: f.put(group_node((f.put(symbols((1, w))), 3), first=90)), "a name beyond the end of the local heap"),
    (lambda f, w: f.put(group_node((1 << 40, 3))), "address 1099511627776 is beyond the end of the file")])
def test_nodes_of_a_groups_tree(db, make, fault):
    assert fault in refused(db, group_of(make))


@pytest.mark.parametrize("text, free", [(b"\0" * 8 + struct.pack("<QQ", 1, 0), 8), (b"\0" * 8 + struct.pack("<QQ", 1, 17), 8)])
def test_free_space_of_no_bytes_and_of_more_than_are_left(db, text, free):
    f = hdf5.File()
    heap = local_heap(f, text, free)
    assert "a broken list of free space in a local heap" in refused(db, f.end(hdf5.message(hdf5.SYMBOLS, struct.pack("<QQ", 48, heap))))


def test_a_local_heap_that_is_nowhere(db):
    f = hdf5.File()
    heap = f.put(struct.pack("<4sB3xQQQ", b"HEAP", 0, 8, NONE, 1 << 40))
    assert "8 bytes at address 1099511627776 go beyond the end" in refused(db, f.end(hdf5.message(hdf5.SYMBOLS, struct.pack("<QQ", 48, heap))))


def test_a_node_without_symbols(db):
    data = group_of(lambda f, w: f.put(group_node((f.put(symbols()), 0), (f.put(symbols((1, w))), 1))))
    assert is_read(db, data, "a")


def test_a_node_at_the_end_of_the_file(db):
    f = hdf5.File()
    heap = local_heap(f, b"\0")
    for part in ("tree", "symbols"):
        def make(at):
            g = hdf5.File()
            g.bytes = bytearray(f.bytes)
            tree = at if part == "tree" else g.put(group_node((at, 0)))
            return g.end(hdf5.message(hdf5.SYMBOLS, struct.pack("<QQ", tree, heap)))
        data = near_end(make, 4)
        assert f"8 bytes at address {len(data) - 4} go beyond the end of the file" in refused(db, data)


def test_a_name_of_more_than_65535_bytes(db):
    data = group_of(lambda f, w: f.put(group_node((f.put(symbols((1, w))), 1))), b"\0" + b"n" * 65536 + b"\0")
    assert "a name that is empty, longer than 65535 bytes" in refused(db, data)
    data = group_of(lambda f, w: f.put(group_node((f.put(symbols((1, w))), 1))), b"\0" + b"n" * 65535 + b"\0")
    assert is_read(db, data, "n" * 65535)


# ---- Fractal heaps, and B-trees of version 2

def leaf(f, type, *records):
    return f.put(hdf5.summed(struct.pack("<4sBB", b"BTLF", 0, type) + b"".join(records)))


def head_of(f, type, root, record, count=1, node=512, depth=0):
    return f.put(hdf5.summed(struct.pack("<4sBBIHHBBQHQ", b"BTHD", 0, type, node, record, depth, 100, 40, root, count, count)))


def dense(f, heap, tree):
    """A file whose root has links in this heap."""
    return f.end(hdf5.message(hdf5.LINK_INFO, struct.pack("<BBQQ", 0, 0, heap, tree)))


def in_heap(type=5, **more):
    """(a file in the making, a heap with a link to w, its ID, the link itself)"""
    f = hdf5.File()
    body = hdf5.link("w", f.plain())[4:]
    start = 19 if more.get("sums", True) else 15
    return f, hdf5.heap(f, body, **more), hdf5.managed(start, len(body)), body


def record(id, type=5):
    return bytes(4 if type == 5 else 8) + id


@pytest.mark.parametrize("type", [5, 6])
@pytest.mark.parametrize("sums", [True, False])
def test_links_by_hash_and_in_order(db, type, sums):
    f, heap, id, _ = in_heap(sums=sums)
    assert is_read(db, dense(f, heap, head_of(f, type, leaf(f, type, record(id, type)), len(record(id, type)))))


@pytest.mark.parametrize("make, fault", [
    (lambda f, r: 1 << 40, "38 bytes at address 1099511627776 go"), (lambda f, r: f.put(bytes(64)), "no 'BTHD' at address"),
    (lambda f, r: f.put(struct.pack("<4s60x", b"BTHD")), "the checksum of the 38 bytes at address"), (lambda f, r: head_of(f, 5, f.put(bytes(64)), 12), "no 'BTLF' at address"),
    (lambda f, r: head_of(f, 5, f.put(b"BTLF\0\5" + r + bytes(4)), 12), "the checksum of the 22 bytes at address"),
    (lambda f, r: head_of(f, 5, 48, 7, node=10737418, depth=2), "no 'BTIN' at address 48"),   # Some 2^58 records
    (lambda f, r: head_of(f, 5, 48, 12, count=100), "a node with more records than it has room for")])
def test_a_tree_that_is_broken(db, make, fault):
    f, heap, id, _ = in_heap()
    assert fault in refused(db, dense(f, heap, make(f, record(id))))


def test_a_tree_without_nodes(db):
    f, heap, _, _ = in_heap()
    assert rows(db, LISTED, dense(f, heap, head_of(f, 5, NONE, 12))) == []


def test_a_heap_at_the_end_of_the_file(db):
    def make(at):
        return hdf5.File().end(hdf5.message(hdf5.LINK_INFO, struct.pack("<BBQQ", 0, 0, at, 48))) + struct.pack("<4s2xB2x", b"FRHP", 8)
    data = bytearray(near_end(make, 9))
    struct.pack_into("<Q", data, 28, len(data))
    data[44:48] = struct.pack("<I", hdf5.checksum(bytes(data[:44])))
    assert f"146 bytes at address {len(data) - 9} go beyond the end of the file" in refused(db, bytes(data))


def indirect(f, rows, **entries):
    """An indirect block of rows of 4 blocks: the addresses of some."""
    addresses = [entries.get(f"at_{i}", NONE) for i in range(4 * rows)]
    return f.put(hdf5.summed(struct.pack(f"<4sBQH{4 * rows}Q", b"FHIB", 0, 0, 0, *addresses)))


def test_an_indirect_block_in_another(db):
    """Row 4 of blocks of 512 bytes has 4096, which have 2 rows."""
    f = hdf5.File()
    body = hdf5.link("w", f.plain())[4:]
    block = struct.pack("<4sBQH", b"FHDB", 0, 0, 0)
    block = f.put((block + struct.pack("<I", hdf5.checksum((block + bytes(4) + body).ljust(512, b"\0"))) + body).ljust(512, b"\0"))
    id = hdf5.managed(16384 + 19, len(body))
    sound = f.bytes
    for inner, fault in (({"at_0": block}, None), ({}, "an object in a block that is absent in the heap")):
        f = hdf5.File()
        f.bytes = bytearray(sound)
        heap = hdf5.heap(f, root=indirect(f, 5, at_16=indirect(f, 2, **inner)), rows=5)
        data = dense(f, heap, hdf5.tree2(f, 5, [record(id)]))
        assert fault in refused(db, data) if fault else is_read(db, data)
    f.bytes = bytearray(sound)
    data = dense(f, hdf5.heap(f, root=indirect(f, 5), rows=5), hdf5.tree2(f, 5, [record(id)]))
    assert "an object in a block that is absent in the heap" in refused(db, data)


def test_an_indirect_block_in_the_place_of_a_node(db):
    """It was met as a node: its entry is beyond the end."""
    f = hdf5.File()
    at = f.next() + 152 + 40
    heap = hdf5.heap(f, root=at, rows=40)
    tree = head_of(f, 5, at, 12)
    assert leaf(f, 5, record(hdf5.managed(65000, 4))) == at
    data = dense(f, heap, tree)
    assert f"8 bytes at address {at + 15 + 8 * 23} go beyond the end of the file" in refused(db, data)


@pytest.mark.parametrize("length", [9, 12])
def test_huge_objects_by_number(db, length):
    f = hdf5.File()
    body = hdf5.link("w", f.plain())[4:]
    place = f.put(body)
    huge = hdf5.tree2(f, 1, [struct.pack("<3Q", 48, 16, 6), struct.pack("<3Q", place, len(body), 7), struct.pack("<3Q", 48, 16, 8)])
    short = hdf5.tree2(f, 1, [struct.pack("<2Q", place, len(body))])
    id = struct.pack("<BQ", 0x10, 7).ljust(length, b"\0")
    sound = bytes(f.bytes)
    for tree, number, fault in ((huge, id, None), (short, id, "an ID that leads to no object"), (huge, b"\x10\5".ljust(length, b"\0"), "an ID that leads to no object")):
        f = hdf5.File()
        f.bytes = bytearray(sound)
        data = dense(f, hdf5.heap(f, id_length=length, huge=tree), hdf5.tree2(f, 5, [record(number)]))
        assert fault in refused(db, data) if fault else is_read(db, data)


# ---- Attributes and types

I32 = hdf5.type_of(0, 4, struct.pack("<HH", 0, 32), 8)
I8 = hdf5.type_of(0, 1, struct.pack("<HH", 0, 8), 8)


def raw_attribute(name, type, space, data=b"", flags=0, version=3):
    return hdf5.message(hdf5.ATTRIBUTE, struct.pack("<BBHHHB", version, flags, len(name), len(type), len(space), 0) + name + type + space + data)


ONE = struct.pack("<4BQ", 2, 1, 0, 1, 1)


@pytest.mark.parametrize("attribute, fault", [
    (raw_attribute(b"a\0", struct.pack("<BBQ", 3, 2, 1 << 40), ONE, b"abcd", 1), "attribute 'a': 12 bytes at address 1099511627776 go beyond the end of the file"),
    (raw_attribute(b"a\0", I32, struct.pack("<BBQ", 3, 2, 1 << 40), b"abcd", 2), "attribute 'a': 12 bytes at address 1099511627776 go beyond the end of the file"),
    (raw_attribute(b"a\0", I32, b"\3" + ONE[1:], b"abcd"), "attribute 'a': a dataspace of unknown version, or of more than 32 dimensions"),
    (hdf5.message(hdf5.ATTRIBUTE, b"\3\0\2"), "attribute 'hdf5.unread': an attribute of unknown form"),
    (raw_attribute(b"", I32, ONE, b"abcd"), "attribute 'hdf5.unread': an attribute whose name does not end where it should"),
    (raw_attribute(b"ab", I32, ONE, b"abcd"), "attribute 'hdf5.unread': an attribute whose name does not end where it should")])
def test_attributes_that_cannot_be_read(db, attribute, fault):
    data = plain(attribute)
    assert faults(db, data) == [(None, fault)]
    assert value(db, "SELECT value FROM zt_attributes(?) WHERE object IS NULL", data) == UNREADABLE


@pytest.mark.parametrize("bits, data", [(1, bytes(4)), (2, b"    ")])
def test_a_text_that_is_all_padding(db, bits, data):
    assert value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'a'", plain(hdf5.attribute("a", hdf5.type_of(3, 4, bits=bits), data))) == b""


def test_texts_in_others_take_more_than_the_file_is_worth(db):
    """A compound of 300 texts, and an array of variable length, of as many."""
    f = hdf5.File()
    heap = f.put(struct.pack("<4sB3xQHHIQ", b"GCOL", 1, 32 + 60000, 1, 1, 0, 60000) + b"x" * 60000)
    texts = struct.pack("<IQI", 60000, heap, 1) * 300
    compound = hdf5.type_of(6, 4800, b"".join(f"m{i}".encode() + b"\0" + struct.pack("<H", 16 * i) + hdf5.TEXT for i in range(300)), 300, 3)
    of_texts = f.put(struct.pack("<4sB3xQHHIQ", b"GCOL", 1, 32 + 4800, 1, 1, 0, 4800) + texts)
    sound = bytes(f.bytes)
    for attribute in (hdf5.attribute("a", compound, texts), hdf5.attribute("a", hdf5.type_of(9, 16, hdf5.TEXT), struct.pack("<IQI", 300, of_texts, 1))):
        f = hdf5.File()
        f.bytes = bytearray(sound)
        assert "the attributes' values take more memory than the file is worth" in refused(db, plain(attribute, file=f))


def array(type, size, *shape):
    return hdf5.type_of(10, size, bytes([len(shape)]) + struct.pack(f"<{len(shape)}I", *shape) + type, version=3)


BAD = hdf5.type_of(15, 4)
CUT_WITHIN = "a datatype of unknown version or without a size"


@pytest.mark.parametrize("type, fault", [
    (hdf5.type_of(6, 4, b"x", 1, 3), CUT_WITHIN), (hdf5.type_of(6, 4, b"", 1, 3), CUT_WITHIN),
    (hdf5.type_of(6, 4, b"x\0\0" + BAD, 1, 3), "a datatype of unknown class"), (hdf5.type_of(8, 4, BAD + b"A\0" + bytes(4), 1, 3), "a datatype of unknown class"),
    (hdf5.type_of(8, 1, I8 + b"AB", 2, 3), "a datatype that is cut short"), (array(BAD, 4, 1), "a datatype of unknown class"),
    (array(hdf5.F32, 4, *[0xffffffff] * 3), "an array whose size is not that of its elements"), (hdf5.type_of(11, 8, BAD, version=5), "a datatype of unknown class"),
    (hdf5.type_of(0, 4, b"\xff\xff"), "a datatype that is cut short"), (hdf5.type_of(0, 4, b"\xff\xff\1\0"), "an integer of bits that it does not have"),
    (b"\x10\0\0", CUT_WITHIN)])
def test_types_that_are_cut_or_contain_others(db, type, fault):
    data = hdf5.beside(hdf5.contiguous(48, 16), type=type)
    assert faults(db, data) == [("w", fault)]


def test_a_compound_of_arrays_is_no_complex_number(db):
    """Version 1 states an array's dimensions beside its name."""
    def kind(dimensions):
        members = b"".join(name.ljust(8, b"\0") + struct.pack("<IB27x", at, dimensions) + hdf5.F32 for name, at in ((b"r", 0), (b"i", 4)))
        return rows(db, "SELECT format, type FROM zt_objects(?) WHERE object = 'w'", hdf5.beside(hdf5.contiguous(48, 32), type=hdf5.type_of(6, 8, members, 2)))
    assert (kind(0), kind(1)) == ([("dense", "complex64")], [("hdf5.compound", "u8")])


@pytest.mark.parametrize("shared, fault", [
    (struct.pack("<BB6xQ", 1, 0, 48), None), (struct.pack("<BB4x", 1, 0), "a shared message of unknown form"), (struct.pack("<BB", 2, 0), "a shared message of unknown form"),
    (struct.pack("<BBQ", 0, 0, 48), "a shared message of unknown form"), (struct.pack("<BBQ", 2, 0, 128), "a shared message leads to none of its type"),
    (struct.pack("<BBQ", 2, 0, 1 << 40), "12 bytes at address 1099511627776 go beyond the end of the file")])
def test_a_committed_type(db, shared, fault):
    f = hdf5.File()
    assert f.put(hdf5.header(hdf5.message(hdf5.TYPE, hdf5.F32))) == 48
    f.put(bytes(128 - f.next()))
    assert f.put(hdf5.header(hdf5.message(hdf5.TYPE, struct.pack("<BBQ", 2, 0, 48), 2))) == 128   # It is itself shared
    w = f.put(hdf5.header(hdf5.space(4), hdf5.message(hdf5.TYPE, shared, 2), hdf5.contiguous(f.put(hdf5.DATA), 16)))
    data = f.end(hdf5.link("b", f.plain()), hdf5.link("w", w))
    if fault:
        assert faults(db, data) == [("w", fault)]
    else:
        assert is_read(db, data)


# ---- Datasets

STRING = hdf5.type_of(3, 4)


def old_layout(kind, sizes, address, version=1):
    return hdf5.message(hdf5.LAYOUT, struct.pack(f"<BBB5xQ{len(sizes)}I", version, len(sizes), kind, address, *sizes))


def test_an_old_layout_of_a_scalar(db):
    f = hdf5.File()
    data = hdf5.beside(old_layout(1, (), f.put(hdf5.DATA)), shape=(), file=f)
    assert value(db, "SELECT zt_value(?, 'w')", data) == 1


@pytest.mark.parametrize("layout, shape, fault", [
    (old_layout(1, (4,), 48), (1 << 62, 4), f"its {NONE} bytes at address 48 go beyond the end of the file"),
    (hdf5.chunked(NONE, 4), (), "chunks of another rank than the dataset"),
    (hdf5.layout_4(1, 48, width=8, chunk=1 << 63, element=4), (4,), "chunks of more than 1 GiB")])
def test_layouts_of_a_wrong_size(db, layout, shape, fault):
    assert faults(db, hdf5.beside(layout, shape=shape)) == [("w", fault)]


def test_a_shape_of_nothing_may_be_large(db):
    data = hdf5.beside(hdf5.contiguous(NONE, 0), shape=(1 << 62, 1 << 62, 0))
    assert (faults(db, data), value(db, DENSE, data)) == ([], b"")


def test_shuffled_by_no_bytes(db):
    assert message(db, DENSE, hdf5.of_chunks(hdf5.DATA, hdf5.filters(2, values=(0,)))).endswith("a chunk is shuffled by elements of 0 bytes")


def test_filters_of_a_dataset_in_one_piece_are_not_applied(db):
    f = hdf5.File()
    data = hdf5.beside(hdf5.contiguous(f.put(hdf5.DATA), 16), hdf5.filters(1), file=f)
    assert is_read(db, data)
    assert rows(db, "SELECT encoding FROM zt_components(?) WHERE object = 'w'", data) == [("raw",)]
    assert rows(db, "SELECT key FROM zt_attributes(?) WHERE object = 'w'", data) == [("hdf5.layout",)]


@pytest.mark.parametrize("layout, more", [
    (hdf5.chunked(NONE, 4, 4), [hdf5.message(hdf5.FILL, struct.pack("<BBIH", 3, 0x20, 2, 0))]),   # A fill value of another size
    (hdf5.contiguous(NONE, 16), [hdf5.message(hdf5.FILL, bytes([3, 0x10]))])])                        # None
def test_texts_have_no_values_whatever_their_fill_value_is(db, layout, more):
    data = hdf5.beside(layout, *more, type=STRING)
    assert faults(db, data) == []
    assert "its elements are text" in message(db, DENSE, data)


def test_texts_in_chunks_that_are_not_decoded(db):
    filters = hdf5.message(hdf5.FILTERS, struct.pack("<BBHHHH", 2, 1, 32000, 0, 0, 0))
    f = hdf5.File()
    data = hdf5.beside(hdf5.chunked(f.put(hdf5.tree(((0,), 16, 0, f.put(hdf5.DATA)))), 4, 4), filters, type=STRING, file=f)
    assert "its elements are text" in message(db, DENSE, data)


def test_a_dataset_of_nothing_has_a_type(db):
    null = hdf5.message(hdf5.SPACE, bytes([2, 0, 0, 2]))
    f = hdf5.File()
    where = hdf5.contiguous(NONE, 0)
    data = f.end(hdf5.link("b", f.plain()), hdf5.link("w", f.put(hdf5.header(null, where))))
    assert faults(db, data) == [("w", "a dataset without a type")]


def test_fill_values_take_more_than_the_file_is_worth(db):
    """One is kept for each dataset, and shared by 100 of them."""
    f = hdf5.File()
    fill = f.put(hdf5.header(hdf5.message(hdf5.FILL, struct.pack("<BBI", 3, 0x20, 60000) + bytes(60000))))
    shared = hdf5.message(hdf5.FILL, struct.pack("<BBQ", 2, 0, fill), 2)
    ws = [f.dataset(hdf5.chunked(NONE, 4, 60000), shared, type=hdf5.type_of(3, 60000)) for _ in range(100)]
    assert "names and attributes take more memory than the file is worth" in refused(db, f.end(*(hdf5.link(f"w{i}", w) for i, w in enumerate(ws))))


# ---- Indexes of chunks

def chunks_of(make, kind=0, shape=(4,), parameters=b"", most=None, more=(), rank=None):
    """A file of a dataset w, of a chunk of 4 elements: the index's address is what make(file, an address of 4 elements) gives."""
    f = hdf5.File()
    at = make(f, f.put(hdf5.DATA))
    rank = len(shape)
    if kind:
        layout = hdf5.message(hdf5.LAYOUT, struct.pack("<5B", 4, 2, 0, rank + 1, 1) + bytes([1] * (rank - 1) + [4, 4, kind]) + parameters + struct.pack("<Q", at))
    else:
        layout = hdf5.chunked(at, *[1] * (rank - 1), 4, 4)
    most = shape if most is None else most
    space = hdf5.message(hdf5.SPACE, struct.pack(f"<4B{2 * rank}Q", 2, rank, 1, 1, *shape, *most))
    w = f.put(hdf5.header(space, hdf5.message(hdf5.TYPE, hdf5.F32), layout, hdf5.message(hdf5.FILL, bytes([3, 0])), *more))
    return f.end(hdf5.link("b", f.plain()), hdf5.link("w", w))


def chunk_node(*keys, kind=1, level=0, count=None):
    """Keys (coordinates, with the byte's), each but the last with a child's address in front of the next."""
    body = b"".join(struct.pack(f"<II{len(at)}Q", 16, 0, *at) + (b"" if child is None else struct.pack("<Q", child)) for at, child in keys)
    return struct.pack("<4sBBHQQ", b"TREE", kind, level, len(keys) - 1, NONE, NONE) + body


@pytest.mark.parametrize("make, fault", [
    (lambda f, d: f.put(chunk_node(((1, 0), d), ((4, 0), None))), "a chunk that does not begin in the grid"),
    (lambda f, d: f.put(chunk_node(((0, 4), d), ((4, 0), None))), "keys that do not ascend in the node at address"),
    (lambda f, d: f.put(chunk_node(((0, 0), d), ((4, 0), None), kind=0)), "no node of a B-tree of chunks at address"),
    (lambda f, d: f.put(chunk_node(((0, 0), d), ((4, 0), None), level=64)), "no node of a B-tree of chunks at address"),
    (lambda f, d: f.put(chunk_node(((0, 0), f.put(chunk_node(((0, 0), d), ((4, 0), None)))), ((4, 0), None), level=2)), "no node of a B-tree of chunks at address"),
    (lambda f, d: 1 << 40, "address 1099511627776 is beyond the end of the file")])
def test_nodes_of_a_tree_of_chunks(db, make, fault):
    ((object, found),) = faults(db, chunks_of(make))
    assert object == "w" and found.startswith(fault)


def test_a_tree_of_chunks_of_two_levels(db):
    assert is_read(db, chunks_of(lambda f, d: f.put(chunk_node(((0, 0), f.put(chunk_node(((0, 0), d), ((0, 4), None)))), ((4, 0), None), level=1))))


def test_every_coordinate_of_a_chunk_is_in_the_grid(db):
    for at in ((0, 1, 0), (1, 0, 0)):
        f = hdf5.File()
        node = f.put(chunk_node((at, f.put(bytes(32))), ((2, 0, 0), None)))
        assert faults(db, hdf5.beside(hdf5.chunked(node, 2, 4, 4), shape=(2, 4), file=f)) == [("w", "a chunk that does not begin in the grid")]


def test_a_chunk_without_an_address_was_never_written(db):
    for data in (chunks_of(lambda f, d: f.put(chunk_node(((0, 0), NONE), ((4, 0), None)))),
                 chunks_of(lambda f, d: hdf5.tree2(f, 10, [struct.pack("<QQ", NONE, 0)]), 5, parameters=bytes(6))):
        assert (faults(db, data), value(db, DENSE, data)) == ([], bytes(16))


def test_two_places_of_a_chunk(db):
    data = chunks_of(lambda f, d: hdf5.tree2(f, 10, [struct.pack("<QQ", d, n) for n in (1, 0, 1)]), 5, shape=(8,), parameters=bytes(6))
    assert faults(db, data) == [("w", "chunk 1 has two places")]


def test_chunks_one_behind_the_other_for_the_largest_shape(db):
    assert is_read(db, chunks_of(lambda f, d: d, 2, most=(4,)))
    assert faults(db, chunks_of(lambda f, d: d, 2, most=(1 << 63,))) == [("w", "chunks beyond the end of the file")]


# An array in pages: each has its checksum

def page(*addresses, wrong=0):
    data = hdf5.summed(struct.pack(f"<{len(addresses)}Q", *addresses))
    return data[:-1] + bytes([data[-1] ^ wrong])


def fixed(f, n, page_bits, block):
    return f.put(hdf5.summed(struct.pack("<4sBBBBQQ", b"FAHD", 0, 0, 8, page_bits, n, block)))


def fixed_pages(f, n, bits, *pages, page_bits=1):
    """An array of n entries in these pages."""
    return fixed(f, n, page_bits, f.put(hdf5.summed(struct.pack("<4sBBQ", b"FADB", 0, 0, 0) + bits) + b"".join(pages)))


ROWS = struct.pack("<12f", *[1, 2, 3, 4] * 3)


def test_pages_of_an_array(db):
    def data(bits, *pages, n=3, **more):
        return chunks_of(lambda f, d: fixed_pages(f, n, bits, *(page(*([d] * k), wrong=wrong) for k, wrong in pages), **more), 3, shape=(12,), parameters=b"\1")
    assert value(db, DENSE, data(b"\xc0", (2, 0), (1, 0))) == ROWS
    assert value(db, DENSE, data(b"\x40", (2, 1), (1, 0))) == bytes(32) + ROWS[32:]   # The first was never written
    assert value(db, DENSE, data(b"\x80", (2, 0), (1, 1))) == ROWS[:32] + bytes(16)
    (fault,) = faults(db, data(b"\xc0", (2, 0), (1, 1)))
    assert fault[1].startswith("the checksum of the 12 bytes at address")
    (fault,) = faults(db, data(b"\xff", (2, 0), n=300, page_bits=7))
    assert fault[1].endswith("go beyond the end of the file")


def test_arrays_of_nothing(db):
    for make in (lambda f, d: fixed(f, 1, 10, NONE), lambda f, d: fixed(f, 0, 10, d)):
        data = chunks_of(make, 3, parameters=b"\12")
        assert (faults(db, data), value(db, DENSE, data)) == ([], bytes(16))
    data = chunks_of(lambda f, d: extensible(f, NONE), 4, parameters=bytes(5))
    assert (faults(db, data), value(db, DENSE, data)) == ([], bytes(16))


def extensible(f, block):
    """An extensible array: an entry in the index block, 2 data blocks of 2 and 4, and super blocks; of each 2 entries a page."""
    return f.put(hdf5.summed(struct.pack("<4sBB6B48xQ", b"EAHD", 0, 0, 8, 8, 1, 2, 2, 1, block)))


def test_pages_of_an_extensible_array(db):
    """Its super block 2 has 2 data blocks of 4 entries, which are 2 pages each."""
    def make(f, d, bits=b"\xd0\0", wrong=0, head_wrong=0, super_wrong=0):
        def block(*pages):
            head = hdf5.summed(struct.pack("<4sBBQB", b"EADB", 0, 0, 0, 0))
            return f.put(head[:-1] + bytes([head[-1] ^ head_wrong]) + b"".join(pages))
        blocks = [block(page(d, d), page(d, d)), block(page(0, 0, wrong=1), page(d, d, wrong=wrong))]
        super_block = hdf5.summed(struct.pack("<4sBBQB", b"EASB", 0, 0, 0, 0) + bits + struct.pack("<2Q", *blocks))
        super_block = f.put(super_block[:-1] + bytes([super_block[-1] ^ super_wrong]))
        direct = [NONE] * 2
        index = f.put(hdf5.summed(struct.pack("<4sBBQQ", b"EAIB", 0, 0, 0, d) + struct.pack("<8Q", *direct, super_block, *[NONE] * 5)))
        return extensible(f, index)
    def data(**more):
        return chunks_of(lambda f, d: make(f, d, **more), 4, shape=(60,), most=(NONE,), parameters=bytes(5))
    # Entry 0; the 2 of super block 0 and the 4 of super block 1 are not there; then 8, of which 2 were never written
    there = [i == 0 or i in (7, 8, 9, 10, 13, 14) for i in range(15)]
    assert value(db, DENSE, data()) == b"".join(hdf5.DATA if yes else bytes(16) for yes in there)
    for more, bytes_of_it in (({"wrong": 1}, 20), ({"head_wrong": 1}, 19), ({"super_wrong": 1}, 37)):
        (fault,) = faults(db, data(**more))
        assert fault[1].startswith(f"the checksum of the {bytes_of_it} bytes at address")
