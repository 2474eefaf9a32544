#!/usr/bin/python3
"""Writes hostile/: HDF5 files that break one rule each or look odd, and their cases in cases.json. Byte by byte, after the HDF5 File
Format Specification 3.0; those of old groups are golden files in which some bytes were changed. Cases of files that begin with h5- are
kept: these files were not written here (README.md).

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent / "hostile"
NONE = (1 << 64) - 1
SPACE, LINK_INFO, TYPE, FILL, LINK, EXTERNAL, LAYOUT, FILTERS, ATTRIBUTE, CONTINUATION = 1, 2, 3, 5, 6, 7, 8, 11, 12, 16
SHARED = struct.pack("<BBQ", 3, 1, 0)    # A message in the heap of shared messages
DATA = struct.pack("<4f", 1, 2, 3, 4)
MASK = 0xffffffff
# Each step: the word to subtract from, the word to subtract, turn and mix in, the word to add, the turn
MIX = [("a", "c", "b", 4), ("b", "a", "c", 6), ("c", "b", "a", 8), ("a", "c", "b", 16), ("b", "a", "c", 19), ("c", "b", "a", 4)]
FINAL = [("c", "b", 14), ("a", "c", 11), ("b", "a", 25), ("c", "b", 16), ("a", "c", 4), ("b", "a", 14), ("c", "b", 24)]


def turn(x, by):
    return (x << by | x >> (32 - by)) & MASK


def checksum(data):
    """Bob Jenkins' lookup3, from 0."""
    s = dict.fromkeys("abc", (0xdeadbeef + len(data)) & MASK)

    def add(block):
        for name, word in zip("abc", struct.unpack("<3I", block)):
            s[name] = s[name] + word & MASK
    while len(data) > 12:
        add(data[:12])
        data = data[12:]
        for x, y, z, by in MIX:
            s[x] = (s[x] - s[y] & MASK) ^ turn(s[y], by)
            s[y] = s[y] + s[z] & MASK
    if data:
        add(data.ljust(12, b"\0"))
        for x, y, by in FINAL:
            s[x] = (s[x] ^ s[y]) - turn(s[y], by) & MASK
    return s["c"]


def summed(data):
    return data + struct.pack("<I", checksum(data))


# ------------------------------------------------------------------------------------------------------- messages

def message(type, data, flags=0):
    return struct.pack("<BHB", type, len(data), flags) + data


def header(*messages, version=2):
    body = b"".join(messages)
    return summed(struct.pack("<4sBBI", b"OHDR", version, 2, len(body)) + body)


def space(*shape, rank=None):
    return message(SPACE, struct.pack(f"<4B{len(shape)}Q", 2, len(shape) if rank is None else rank, 0, 1 if shape else 0, *shape))


def type_of(kind, size, properties=b"", bits=0, version=1):
    return struct.pack("<BHBI", kind | version << 4, bits & 0xffff, bits >> 16, size) + properties


F32 = type_of(1, 4, struct.pack("<HHBBBBI", 0, 32, 23, 8, 0, 23, 127), 0x1f20)
U8 = type_of(0, 1, struct.pack("<HH", 0, 8))
TEXT = type_of(9, 16, type_of(3, 1), 1)


def link(name, address, kind=None, version=1):
    name = name.encode() if isinstance(name, str) else name
    flags = 8 if kind is not None else 0
    return message(LINK, struct.pack("<BB", version, flags) + (b"" if kind is None else bytes([kind])) + bytes([len(name)]) + name
                   + struct.pack("<Q", address))


def contiguous(address, size):
    return message(LAYOUT, struct.pack("<BBQQ", 3, 1, address, size))


def chunked(address, *chunk, rank=None):
    return message(LAYOUT, struct.pack(f"<BBBQ{len(chunk)}I", 3, 2, len(chunk) if rank is None else rank, address, *chunk))


def filters(*numbers, values=()):
    return message(FILTERS, bytes([2, len(numbers)]) + b"".join(struct.pack(f"<HHH{len(values)}I", n, 0, len(values), *values) for n in numbers))


def attribute(name, type, data, shape=(), version=3):
    name, s = name.encode() + b"\0", struct.pack(f"<4B{len(shape)}Q", 2, len(shape), 0, 1 if shape else 0, *shape)
    return message(ATTRIBUTE, struct.pack("<BBHHHB", version, 0, len(name), len(type), len(s), 0) + name + type + s + data)


def tree(*chunks, rank=1, level=0, end=None):
    """A leaf of a B-tree of chunks: (coordinates, size, mask, address). end: the coordinates of the last key, which are those of the last chunk."""
    keys = b"".join(struct.pack(f"<II{rank + 1}QQ", size, mask, *at, 0, address) for at, size, mask, address in chunks)
    return struct.pack("<4sBBHQQ", b"TREE", 1, level, len(chunks), NONE, NONE) + keys + bytes(8) + struct.pack(f"<{rank + 1}Q", *(chunks[-1][0] if end is None else end), 0)


class File:
    """A file in the making: put() gives the address of what it takes."""

    def __init__(self):
        self.bytes = bytearray(48)

    def put(self, data):
        self.bytes += bytes(-len(self.bytes) % 8)
        self.bytes += data
        return len(self.bytes) - len(data)

    def next(self):
        """Where the next put() goes."""
        return len(self.bytes) + -len(self.bytes) % 8

    def dataset(self, *more, shape=(4,), type=F32):
        return self.put(header(space(*shape), message(TYPE, type), *more))

    def plain(self):
        return self.dataset(contiguous(self.put(DATA), 16))

    def end(self, *messages, root=None, sizes=(8, 8), version=3, end=None):
        """The whole file, whose root has these messages."""
        root = self.put(header(*messages)) if root is None else root
        head = struct.pack("<8sBBBBQQQQ", b"\x89HDF\r\n\x1a\n", version, *sizes, 0, 0, NONE, end or len(self.bytes), root)
        self.bytes[:48] = summed(head)
        return bytes(self.bytes)


def beside(*more, shape=(4,), type=F32, file=None):
    """A file of a dataset w with these messages, and a sound one beside it."""
    f = file or File()
    w = f.dataset(*more, shape=shape, type=type)
    return f.end(link("b", f.plain()), link("w", w))


def of_chunks(raw, *more, width=4, size=None, mask=0, chunk=4, shape=(4,), first=0, second=None, end=None):
    """A file of a dataset w with a chunk of these stored bytes."""
    f = File()
    chunks = [((first,), len(raw) if size is None else size, mask, f.put(raw))]
    if second is not None:
        chunks.append(((second,), *chunks[0][1:]))
    return beside(chunked(f.put(tree(*chunks, end=end)), chunk, width), *more, shape=shape, file=f)


def golden(name, signature, *changes):
    """A golden file with other bytes: (offset behind the signature's first byte, bytes)."""
    raw = bytearray((HERE.parent / "golden" / f"{name}.h5").read_bytes())
    at = raw.index(signature)
    for offset, data in changes:
        raw[at + offset:at + offset + len(data)] = data
    return bytes(raw)


def of_userblock(signature, *changes):
    """The smallest file with old structures: its superblock is at 512."""
    return golden("userblock", signature, *changes)


def quad(n):
    return struct.pack("<Q", n)


def fletcher(data):
    words = struct.unpack(f">{(len(data) + 1) // 2}H", data + bytes(len(data) % 2))
    first = second = 0
    for word in words:
        first = (first + word) % 65535
        second = (second + first) % 65535
    return struct.pack("<I", second << 16 | first)


# ---------------------------------------------------------------------------------------------------------- cases

def refused(name, number, finding, text, what, raw):
    return name, raw, "open_error", number, finding, text, what


def faulty(name, number, finding, text, what, raw, **more):
    return name, raw, "lists_but_no_bytes", number, finding, text, what, {"object": "w", "component": "data", **more}


def in_chunk(name, number, finding, text, what, raw):
    stored = {"sized": True, "level": "full"}
    return faulty(name, number, finding, text, what, raw, **stored)


def file_cases():
    f = File()
    sound = f.end(link("w", f.plain()))
    yield refused("superblock-version", "HD1", "hdf5-superblock", "a superblock of version 9", "a superblock of version 9", File().end(version=9))
    yield refused("superblock-sizes", "HD1", "hdf5-superblock", "addresses or lengths of 16 bytes", "addresses of 16 bytes", File().end(sizes=(16, 8)))
    yield refused("superblock-cut", "HD1", "hdf5-superblock", "a superblock that is cut short", "only half of the superblock", sound[:24])
    yield refused("cut", "HD1", "hdf5-superblock", f"it ends after {len(sound) - 1} of {len(sound)} bytes: it is cut short", "the last byte is missing", sound[:-1])
    yield refused("superblock-checksum", "HD2", "hdf5-checksum", "the checksum of the 48 bytes at address 0 is wrong", "a bit of the superblock's checksum", sound[:44] + bytes([sound[44] ^ 1]) + sound[45:])
    root = struct.unpack_from("<Q", sound, 36)[0]
    yield refused("header-checksum", "HD2", "hdf5-checksum", f"the checksum of the {len(sound) - root} bytes at address {root} is wrong", "a bit of the root's last byte", sound[:-1] + bytes([sound[-1] ^ 1]))
    yield refused("root-past-end", "HD3", "hdf5-address", "12 bytes at address 4096 go beyond the end of the file", "a root behind the end", File().end(root=4096))
    yield refused("link-past-end", "HD3", "hdf5-address", f"12 bytes at address {1 << 40} go beyond the end of the file", "a link behind the end", File().end(link("w", 1 << 40)))
    yield refused("root-nowhere", "HD3", "hdf5-address", f"12 bytes at address {NONE} go beyond the end of the file", "the undefined address as the root's", File().end(root=NONE))


def old_cases():
    """Structures without checksums."""
    superblock = "HD1", "hdf5-superblock"
    for name, offset, data, what in (("parts", 10, b"\1", "a root's table of symbols of version 1"), ("nodes", 18, b"\0\0", "nodes without room"),
                                     ("flags", 20, b"\x08", "a flag that is none"), ("free", 32, quad(0), "a place of free space"),
                                     ("kind", 72, b"\3", "a root of an unknown kind of symbols"),
                                     ("driver", 48, quad(1 << 40), "a driver's block behind the end"),
                                     ("driver-0", 48, quad(0), "a driver's block in the superblock's place")):
        yield refused(f"superblock-{name}", *superblock, "a superblock of unknown form", what, of_userblock(b"\x89HDF", (offset, data)))
    yield refused("superblock-base", *superblock, "it ends before it begins", "an end in front of its base", of_userblock(b"\x89HDF", (24, quad(1 << 40))))
    yield refused("root-past-stated-end", "HD3", "hdf5-address", "12 bytes at address 96 go beyond the end of the file", "a root behind the stated end", of_userblock(b"\x89HDF", (40, quad(512 + 96))))
    yield refused("header-no-messages", "HD4", "hdf5-header", "a header of no messages", "a header that states no message, and has some", of_userblock(b"\1\0\1\0\1\0\0\0\x18", (2, b"\0\0")))
    group = "HD5", "hdf5-group"
    root = bytearray(golden("userblock", b"\x89HDF"))
    where = root.index(b"\1\0\1\0\1\0\0\0\x18")
    root[where + 8:where + 12] = struct.pack("<I", 32)
    root[where + 40:where + 48] = bytes(8)
    yield refused("header-more-messages", "HD4", "hdf5-header", "more messages than the header states", "a second message where one is stated", bytes(root))
    yield refused("message-length", "HD4", "hdf5-header", "a message of a length that is no multiple of 8", "a message of 15 bytes", of_userblock(b"\1\0\1\0\1\0\0\0\x18", (18, b"\x0f")))
    for name, flags, what in (("shared", 6, "a message that is shared, and must not be"), ("unknown", 0x20, "a message that was unknown, and was not to be marked so"),
                              ("refused", 0x38, "a message that was unknown to a writer, which must know it")):
        yield refused(f"message-{name}", "HD4", "hdf5-header", "flags that exclude each other", what, File().end(message(ATTRIBUTE, b"", flags)))
    yield refused("symbols-version-0", *group, "a node of symbols of version 0 at address 1072", "a node of symbols of version 0", of_userblock(b"SNOD", (4, b"\0")))
    yield refused("symbols-kind", *group, "a symbol of unknown kind 3", "a symbol with a cache of an unknown kind", of_userblock(b"SNOD", (24, b"\3")))
    yield refused("symbols-version", *group, "'SNOD' of version 2 at address 1072", "a node of symbols of version 2", of_userblock(b"SNOD", (4, b"\2")))
    for name, changes, what in (("past-end", [(16, quad(88))], "free space behind the heap's end"), ("odd", [(16, quad(0)), (40, quad(89))], "free space longer than its heap")):
        yield refused(f"heap-free-{name}", *group, "a broken list of free space in a local heap", what, of_userblock(b"HEAP", *changes))
    yield refused("heap-free-loop", *group, "a broken list of free space in a local heap", "free space that leads to itself", of_userblock(b"\1\0\0\0\0\0\0\0\x48\0\0\0\0\0\0\0", (0, quad(16))))
    yield refused("symbols-room", *group, "a node of 3 entries at address 1072, which has room for 2", "three symbols in the room of two", of_userblock(b"\x89HDF", (16, b"\1\0"), (1078, b"\3")))
    yield refused("symbols-past-end", "HD3", "hdf5-address", "40008 bytes at address 1072 go beyond the end of the file", "nodes of symbols of 40,008 bytes", of_userblock(b"\x89HDF", (16, b"\xf4\1")))
    yield refused("tree-past-end", "HD3", "hdf5-address", "16032 bytes at address 136 go beyond the end of the file", "nodes of a B-tree of 16,032 bytes", of_userblock(b"\x89HDF", (18, b"\xf4\1")))
    yield refused("symbols-before", *group, "name 'w' in a node of symbols behind 'w'", "a name before the tree's key", of_userblock(b"TREE\0", (24, quad(8))))
    yield refused("symbols-behind", *group, "name 'w' in a node of symbols up to ''", "a name behind the tree's key", of_userblock(b"TREE\0", (40, quad(0))))
    yield refused("symbols-key", *group, "a name beyond the end of the local heap", "a tree's key behind the heap", of_userblock(b"TREE\0", (40, quad(88))))
    f = File()
    yield refused("object-of-nothing", "HD4", "hdf5-header", "'x' is neither a group nor a dataset nor a datatype", "an object with a dataspace alone", f.end(link("x", f.put(header(space(4))))))
    snod = golden("dtypes", b"SNOD")
    at = snod.index(b"SNOD")
    names = [snod[at + 8 + 40 * i:at + 16 + 40 * i] for i in range(2)]
    yield refused("symbols-order", *group, "name 'big' in a node of symbols behind 'blk.0.attn.k.f16'", "two names in another order", golden("dtypes", b"SNOD", (8, names[1]), (48, names[0])))


def header_cases():
    f = File()
    yield refused("header-of-nothing", "HD4", "hdf5-header", "no object header at address 48", "a link to zeros", f.end(link("w", f.put(bytes(64)))))
    f = File()
    yield refused("header-version", "HD4", "hdf5-header", "a header of unknown version", "a header of version 3", f.end(link("w", f.put(header(space(4), version=3)))))
    f = File()
    yield refused("message-past-block", "HD4", "hdf5-header", "a message that goes beyond its block", "a message longer than its block", f.end(link("w", f.put(header(struct.pack("<BHB", SPACE, 4000, 0) + bytes(20))))))
    f = File()
    yield refused("continuation-short", "HD4", "hdf5-header", "a continuation of less than 8 bytes", "a block of 4 bytes", f.end(link("w", f.put(header(message(CONTINUATION, struct.pack("<QQ", f.put(bytes(8)), 4)))))))
    f = File()
    f = File()
    yield refused("continuation-empty", "HD4", "hdf5-header", "a continuation that is cut short", "a block of 0 bytes", f.end(link("w", f.put(header(message(CONTINUATION, struct.pack("<QQ", 48, 0)))))))
    f = File()
    yield refused("continuation-unsigned", "HD4", "hdf5-header", "a continuation without its signature", "a block of zeros", f.end(link("w", f.put(header(message(CONTINUATION, struct.pack("<QQ", f.put(bytes(16)), 16)))))))
    f = File()
    yield "ok-attribute-version", f.end(link("w", f.plain()), attribute("a", U8, b"\1", version=9)), "ok", "HD4", "hdf5-header", "attribute 'hdf5.unread': an attribute of unknown form", "an attribute of version 9", {"object": "w"}
    f = File()
    yield ("ok-attribute-name", f.end(link("w", f.plain()), attribute("a\0b", U8, b"\1")), "ok", "HD4", "hdf5-header",
           "attribute 'hdf5.unread': an attribute whose name does not end where it should", "U+0000 in the name of an attribute", {"object": "w"})
    f = File()
    yield "ok-attribute-shared", f.end(link("w", f.plain()), message(ATTRIBUTE, SHARED, 2), message(ATTRIBUTE, SHARED, 2)), "ok", "HD17", "hdf5-shared", "attribute 'hdf5.unread': a shared message, and the file has no table of them", "attributes in a heap of shared messages that is not there", {"object": "w"}
    f = File()
    at = f.next()
    body = message(CONTINUATION, struct.pack("<QQ", at, 32))
    block = summed(b"OCHK" + body + bytes(4))
    f.put(block)
    yield refused("continuation-loop", "HD7", "hdf5-loop", f"two ways lead to the block at address {at}", "a block that leads to itself", f.end(message(CONTINUATION, struct.pack("<QQ", at, len(block)))))
    f = File()
    yield refused("root-is-dataset", "HD5", "hdf5-group", "the root is no group", "a dataset in the root's place", f.end(root=f.plain()))
    yield refused("link-version", "HD5", "hdf5-group", "a link message of unknown form", "a link of version 2", File().end(link("w", 48, version=2)))
    yield refused("link-cut", "HD5", "hdf5-group", "a link message that is cut short", "a link without an address", File().end(message(LINK, b"\1\0\1w")))
    yield refused("heap-of-nothing", "HD6", "hdf5-heap", "no 'FRHP' at address 0", "a heap in the superblock's place", File().end(message(LINK_INFO, struct.pack("<BBQQ", 0, 0, 0, 0))))
    for file, name, shown, what in (("slash", "a/b", "a/b", "a slash in a name"), ("utf-8", b"\xff", "\\xff", "a name that is not UTF-8"),
                                    ("nul", "a\0b", "a", "U+0000 in a name"), ("empty", "", "", "an empty name")):
        f = File()
        yield refused(f"name-{file}", "HD8", "hdf5-name", f"link '{shown}': a name that is empty, longer than 65535 bytes, or not UTF-8, or has U+0000 or"
                      " a slash in it", what, f.end(link(name, f.plain())))
    f = File()
    name, raw, *rest = refused("name-twice", "HD8", "hdf5-name", "two datasets have this name", "two datasets of one name", f.end(link("w", f.plain()), link("w", f.plain())))
    yield name, raw, *rest, {"object": "w"}
    f = File()
    inner = f.plain()
    for _ in range(1025):
        inner = f.put(header(link("g", inner)))
    yield refused("depth-1026", "HD15", "hdf5-depth", "groups more than 1024 deep", "1,026 groups in each other", f.end(link("g", inner)))
    f = File()
    size = 60000
    heap = f.put(struct.pack("<4sB3xQ", b"GCOL", 1, 16 + 16 + size) + struct.pack("<HHIQ", 1, 1, 0, size) + b"x" * size)
    elements = struct.pack("<IQI", size, heap, 1) * 2000
    yield refused("text-again-and-again", "HD16", "hdf5-size", "the attributes' values take more memory than the file is worth",
                  "an attribute of 2,000 elements, which are one text of 60,000 bytes", f.end(link("w", f.plain()), attribute("a", TEXT, elements, (2000,))))


def dataset_cases():
    yield faulty("rank-33", "HD10", "hdf5-dataspace", "a dataspace of unknown version, or of more than 32 dimensions", "33 dimensions", beside(contiguous(48, 4), shape=(1,) * 33))
    most = message(SPACE, struct.pack("<4BQQ", 2, 1, 1, 1, 4, 3))
    f = File()
    where = contiguous(f.put(DATA), 16)
    yield faulty("space-most", "HD10", "hdf5-dataspace", "a dataspace that is larger than its largest shape", "4 elements of at most 3", f.end(link("b", f.plain()), link("w", f.put(header(most, message(TYPE, F32), where)))))
    yield faulty("type-class", "HD11", "hdf5-datatype", "a datatype of unknown class", "class 15", beside(contiguous(48, 16), type=type_of(15, 4)))
    yield faulty("type-without-size", "HD11", "hdf5-datatype", "a datatype of unknown version or without a size", "elements of 0 bytes", beside(contiguous(48, 16), type=type_of(3, 0)))
    gone = "a shared message, and the file has no table of them"
    for name, messages in (("type", [space(4), message(TYPE, SHARED, 2)]), ("space", [message(SPACE, SHARED, 2), message(TYPE, F32)]),
                           ("filters", [space(4), message(TYPE, F32), message(FILTERS, SHARED, 2)]), ("fill", [space(4), message(TYPE, F32), message(FILL, SHARED, 2)])):
        f = File()
        where = contiguous(f.put(DATA), 16)
        yield faulty(f"shared-{name}", "HD17", "hdf5-shared", gone, f"a shared message: {name}", f.end(link("b", f.plain()), link("w", f.put(header(*messages, where)))))
    for name, data, text in (("cut", SHARED[:6], "a shared message that is cut short"), ("version", b"\4" + SHARED[1:], "a shared message of unknown form"),
                             ("nothing", struct.pack("<BBQ", 3, 2, 48), None)):
        f = File()
        f.put(header(space(4)))
        w = f.put(header(space(4), message(TYPE, data, 2), contiguous(48, 16)))
        yield faulty(f"shared-{name}", "HD17", "hdf5-shared", text or "a shared message leads to none of its type", f"a shared datatype: {name}", f.end(link("b", f.plain()), link("w", w)))
    yield faulty("type-cut", "HD11", "hdf5-datatype", "a datatype that is cut short", "half of a float's properties", beside(contiguous(48, 16), type=F32[:14]))
    nested = U8
    for _ in range(17):
        nested = type_of(10, 1, struct.pack("<BI", 1, 1) + nested, version=3)
    yield faulty("type-nested", "HD11", "hdf5-datatype", "datatypes that are nested more than 16 deep", "18 types in each other", beside(contiguous(48, 4), type=nested))
    compound = type_of(6, 4, b"x\0" + b"\x10" + U8, 1, 3)
    yield faulty("type-member", "HD11", "hdf5-datatype", "a member beyond its compound's end", "a member behind its compound", beside(contiguous(48, 16), type=compound))
    yield faulty("layout-missing", "HD12", "hdf5-layout", "a dataset without a layout", "no layout", beside())
    yield faulty("layout-class", "HD12", "hdf5-layout", "a layout of unknown class", "class 7", beside(message(LAYOUT, bytes([3, 7]) + bytes(16))))
    yield faulty("layout-version", "HD12", "hdf5-layout", "a layout of unknown version", "version 6", beside(message(LAYOUT, bytes([6, 1]) + bytes(16))))
    yield faulty("data-past-end", "HD12", "hdf5-layout", f"its 16 bytes at address {1 << 60} go beyond the end of the file", "data behind the end", beside(contiguous(1 << 60, 16)))
    yield faulty("chunk-rank", "HD12", "hdf5-layout", "chunks of another rank than the dataset", "chunks of two dimensions", beside(chunked(NONE, 2, 2, 4)))
    yield faulty("chunk-empty", "HD12", "hdf5-layout", "chunks without elements", "chunks of 0 elements", beside(chunked(NONE, 0, 4)))
    yield faulty("chunk-large", "HD12", "hdf5-layout", "chunks of more than 1 GiB", "chunks of 4 GiB", beside(chunked(NONE, 1 << 30, 4)))
    yield faulty("chunk-width", "HD12", "hdf5-layout", "chunks with elements of another size than the type's", "elements of 8 bytes in chunks of f32", beside(chunked(NONE, 4, 8)))
    yield faulty("filters-33", "HD13", "hdf5-filters", "filters of unknown version, or more than 32", "33 filters", beside(chunked(NONE, 4, 4), filters(*[2] * 33)))
    yield faulty("filters-cut", "HD13", "hdf5-filters", "filters that are cut short", "one of two filters", beside(chunked(NONE, 4, 4), message(FILTERS, bytes([2, 2, 2, 0, 0, 0, 0, 0]))))
    f = File()
    at = f.next()
    f.put(tree(((0,), 16, 0, at), level=1))
    yield faulty("chunk-tree-loop", "HD7", "hdf5-loop", f"two ways lead to the node or block at address {at}", "a node that is its own child", beside(chunked(at, 4, 4), file=f))
    yield faulty("chunk-twice", "HD14", "hdf5-chunks", "chunk 0 has two places", "two chunks at one place", of_chunks(DATA, second=0))
    yield faulty("chunk-order", "HD14", "hdf5-chunks", "keys that do not ascend in the node at address 64", "two chunks in another order", of_chunks(DATA, first=4, second=0, shape=(8,)))
    for name, of_leaf, of_root in (("before", 0, 4), ("behind", 8, 0)):
        f = File()
        leaf = f.put(tree(((of_leaf,), 16, 0, f.put(DATA))))
        root = f.put(tree(((of_root,), 16, 0, leaf), level=1, end=(4,)))
        yield faulty(f"chunk-{name}-node", "HD14", "hdf5-chunks", f"keys beyond those of the node above at address {leaf}", f"a chunk {name} the keys of its node", beside(chunked(root, 4, 4), shape=(12,), file=f))
    yield faulty("chunk-end", "HD14", "hdf5-chunks", "keys that do not ascend in the node at address 64", "a last key before the chunk", of_chunks(DATA, first=4, shape=(8,), end=(0,)))
    yield faulty("chunk-last-key", "HD14", "hdf5-chunks", "a chunk that does not begin in the grid", "a last key that is in no chunk's place", of_chunks(DATA, end=(5,)))
    yield faulty("chunk-past-end", "HD14", "hdf5-chunks", f"a chunk of {0xffffffff} bytes at address 48 goes beyond the end of the file", "a chunk longer than the file", of_chunks(DATA, size=0xffffffff))
    yield faulty("chunk-between", "HD14", "hdf5-chunks", "a chunk that does not begin in the grid", "a chunk from element 1 on", of_chunks(DATA, second=1))


def chunk_cases():
    packed = zlib.compress(DATA)
    yield in_chunk("chunk-short", "CH1", "chunk-size", "a chunk of 16 bytes is stored as 8", "8 bytes in place of 16", of_chunks(DATA[:8]))
    yield in_chunk("chunk-decodes-short", "CH1", "chunk-size", "a chunk decodes to 8 bytes, and has 16", "a stream of 8 bytes in place of 16", of_chunks(zlib.compress(DATA[:8]), filters(1)))
    yield in_chunk("chunk-decodes-long", "CH1", "chunk-size", "a chunk decodes to 17 bytes, and has 16", "a stream of 1 MiB in place of 16 bytes", of_chunks(zlib.compress(bytes(1 << 20)), filters(1)))
    yield in_chunk("chunk-shuffle", "CH1", "chunk-size", "a chunk is shuffled by elements of 0 bytes", "shuffle without its number", of_chunks(DATA, filters(2)))
    yield in_chunk("chunk-no-zlib", "E2", "encoding", "deflate: a chunk that is no zlib stream", "a chunk of text", of_chunks(b"no zlib stream at all", filters(1)))
    yield in_chunk("chunk-zlib-cut", "E2", "encoding", "deflate: the stored bytes end within the stream", "the last bytes of the stream are missing", of_chunks(packed[:-5], filters(1)))
    yield in_chunk("chunk-adler", "E2", "encoding", "deflate: a chunk whose Adler-32 is wrong", "a bit of the Adler-32", of_chunks(packed[:-1] + bytes([packed[-1] ^ 1]), filters(1)))
    yield in_chunk("chunk-fletcher", "CH2", "chunk-checksum", "fletcher32: a chunk whose checksum is wrong", "a bit of the data", of_chunks(DATA[:-1] + b"\x41" + fletcher(DATA), filters(3)))
    yield in_chunk("chunk-large-of-little", "CH1", "chunk-size", f"a chunk of {1 << 29} bytes is stored as {len(packed)}", "a chunk of 512 MiB, of which some bytes are stored", of_chunks(packed, filters(1), chunk=1 << 27, shape=(1 << 27,)))


def odd_cases():
    more = {"object": "w", "component": "data", "dense_sha256": hashlib.sha256(DATA).hexdigest()}
    f = File()
    yield "ok-plain", f.end(link("w", f.plain())), "ok", None, None, None, "a dataset", more
    yield "ok-fletcher", of_chunks(DATA + fletcher(DATA), filters(3)), "ok", None, None, None, "a checksum", more
    shuffled = bytes(DATA[4 * i + k] for k in range(4) for i in range(4))
    packed = zlib.compress(shuffled)
    yield "ok-filters", of_chunks(packed + fletcher(packed), filters(2, 1, 3, values=(4,))), "ok", None, None, None, "all three filters", more
    yield "ok-chunk-outside", of_chunks(DATA, second=1 << 40), "ok", None, None, None, "a chunk far outside the dataset", more
    f = File()
    yield "ok-attribute-unreadable", f.end(attribute("a", TEXT, struct.pack("<IQI", 4, 1 << 50, 1)), link("w", f.plain())), "ok", "HD3", "hdf5-address", f"attribute 'a': 16 bytes at address {1 << 50} go beyond the end of the file", "an attribute's text in a heap behind the end", more
    f = File()
    w = f.dataset(contiguous(f.put(DATA), 16), attribute("a", TEXT, struct.pack("<IQI", 4, f.put(bytes(64)), 1)))
    yield "ok-attribute-heap", f.end(link("w", w)), "ok", "HD9", "hdf5-global-heap", "attribute 'a': no 'GCOL' at address 64", "a dataset's attribute with its text in a heap of zeros", more
    f = File()
    yield "ok-attribute-deep", f.end(attribute("a", U8, bytes(1), (1,) * 32), link("w", f.plain())), "ok", None, None, None, "an attribute of 32 dimensions", more
    yield "fill-2-54", beside(chunked(NONE, 1024, 4), shape=(1 << 52,)), "lists_but_no_bytes", None, None, None, "2^54 bytes, of which none is stored", {"object": "w", "component": None, "sized": True, "limits": {"mib": 64}}
    yield "short", beside(contiguous(48, 12)), "lists_but_no_dense", "D1", "length", "4 elements of f32 are 16 bytes, and it has 12", "12 bytes in place of 16", {"object": "w"}


def cases():
    yield from file_cases()
    yield from old_cases()
    yield from header_cases()
    yield from dataset_cases()
    yield from chunk_cases()
    yield from odd_cases()


def main():
    found = [case for case in json.loads((HERE / "cases.json").read_text()) if case["file"].startswith("h5-")]
    for name, raw, expect, number, finding, text, what, *more in cases():
        (HERE / f"{name}.h5").write_bytes(raw)
        found.append({"file": f"{name}.h5", "expect": expect, "number": number, "finding": finding, "message": text, "object": None,
                      "rule": what, "size": len(raw), "sha256": hashlib.sha256(raw).hexdigest(), **dict(*more)})
    (HERE / "cases.json").write_text("[\n" + ",\n".join(json.dumps(row) for row in found) + "\n]\n")


if __name__ == "__main__":
    main()
