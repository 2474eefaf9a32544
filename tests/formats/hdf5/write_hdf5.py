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
SHARED_TABLE, SYMBOLS, DRIVER, ATTRIBUTE_INFO, CACHE_IMAGE = 15, 17, 20, 21, 24
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


def tree(*chunks, rank=1, level=0, end=None, width=4):
    """A leaf of a B-tree of chunks: (coordinates, size, mask, address). end: the coordinates of the last key, which are those of the last chunk,
    but that its byte is behind an element of this width."""
    keys = b"".join(struct.pack(f"<II{rank + 1}QQ", size, mask, *at, 0, address) for at, size, mask, address in chunks)
    if end is None:
        end = chunks[-1][0] if chunks else (0,) * rank
    return struct.pack("<4sBBHQQ", b"TREE", 1, level, len(chunks), NONE, NONE) + keys + bytes(8) + struct.pack(f"<{rank + 1}Q", *end, width)


def tree2(f, type, records, record=None, node=512, depth=0, count=None):
    """The address of a B-tree of version 2, whose root is a leaf of these records."""
    size = len(records[0]) if record is None else record
    root = f.put(summed(struct.pack("<4sBB", b"BTLF", 0, type) + b"".join(records)))
    return f.put(summed(struct.pack("<4sBBIHHBBQHQ", b"BTHD", 0, type, node, size, depth, 100, 40, root, len(records) if count is None else count,
                                    len(records))))


DEFLATED = struct.pack("<BBHHHI", 2, 1, 1, 1, 1, 6)   # Filters of a heap: deflate of level 6


def heap(f, data=b"", id_length=8, filters=b"", version=0, width=4, start=512, largest=512, bits=16, root=None, rows=0, sums=True, sum=None, huge=NONE, mask=0, pack=zlib.compress):
    """The address of a fractal heap, whose root is a direct block of these data. filters: it is packed."""
    block = struct.pack("<4sBQH", b"FHDB", 0, 0, 0)
    if sums:
        body = (block + bytes(4) + data).ljust(start, b"\0")
        block += struct.pack("<I", checksum(body) if sum is None else sum)
    block = (block + data).ljust(start, b"\0")
    stored = pack(block) if filters else block
    more = struct.pack("<QI", len(stored), mask) + filters if filters else b""
    return f.put(summed(struct.pack("<4sBHHBIQQ", b"FRHP", version, id_length, len(filters), 2 if sums else 0, 400, 0, huge) + bytes(80)
                        + struct.pack("<HQQHHQH", width, start, largest, bits, 1, f.put(stored) if root is None else root, rows) + more))


IN_BLOCK = 19   # Where the data of a direct block begin


def managed(offset, length):
    return struct.pack("<BHH", 0, offset, length).ljust(8, b"\0")


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

    def end(self, *messages, root=None, sizes=(8, 8), version=3, flags=0, extension=NONE, end=None):
        """The whole file, whose root has these messages."""
        root = self.put(header(*messages)) if root is None else root
        head = struct.pack("<8sBBBBQQQQ", b"\x89HDF\r\n\x1a\n", version, *sizes, flags, 0, extension, end or len(self.bytes), root)
        self.bytes[:48] = summed(head)
        return bytes(self.bytes)


def beside(*more, shape=(4,), type=F32, file=None):
    """A file of a dataset w with these messages, and a sound one beside it."""
    f = file or File()
    w = f.dataset(*more, shape=shape, type=type)
    return f.end(link("b", f.plain()), link("w", w))


def extended(message):
    """A file with this message in the superblock's extension."""
    f = File()
    return f.end(link("w", f.plain()), extension=f.put(header(message)))


def of_chunks(raw, *more, width=4, size=None, mask=0, chunk=4, shape=(4,), first=0, second=None, end=None):
    """A file of a dataset w with a chunk of these stored bytes."""
    f = File()
    chunks = [((first,), len(raw) if size is None else size, mask, f.put(raw))]
    if second is not None:
        chunks.append(((second,), *chunks[0][1:]))
    return beside(chunked(f.put(tree(*chunks, end=end, width=width)), chunk, width), *more, shape=shape, file=f)


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


def elsewhere_cases():
    """Files whose metadata libhdf5 reads elsewhere."""
    unread = "HD18", "hdf5-elsewhere"
    image = message(CACHE_IMAGE, struct.pack("<BQQ", 0, 48, 16))
    yield refused("cache-image", *unread, "its metadata are in the image of a cache, which is not read", "an image of libhdf5's cache", extended(image))
    for name in ("multi", "family"):
        fault = f"it is one of several files, which the {name} driver has written"
        id = f"NCSA{name[:4]}".encode()
        raw = bytearray(extended(message(DRIVER, b"\0" + id + struct.pack("<HQ", 8, 4096))))
        raw[28:36] = quad(len(raw) + 1)
        yield refused(f"driver-{name}", *unread, fault, f"the {name} driver in the superblock's extension", summed(bytes(raw[:44])) + bytes(raw[48:]))
        old = golden("userblock", b"\x89HDF")
        block, end = struct.pack("<B3xI8s", 0, 8, id), len(old) - 512
        yield refused(f"driver-{name}-old", *unread, fault, f"the {name} driver, to which the superblock leads", of_userblock(b"\x89HDF", (40, quad(1 << 20)), (48, quad(end))) + block)
    yield "ok-driver-family", extended(message(DRIVER, b"\0NCSAfami" + struct.pack("<HQ", 8, 4096))), "ok", None, None, None, "a family of one file"
    yield "ok-driver-cut", extended(message(DRIVER, b"\0NCSA")), "ok", None, None, None, "a driver without a whole name"


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
    yield refused("continuation-cut", "HD4", "hdf5-header", "a continuation that is cut short", "a continuation of 8 bytes", File().end(message(CONTINUATION, bytes(8))))
    yield refused("continuation-large", "HD4", "hdf5-header", "a header of more bytes than the file", "a block of 2^40 bytes", File().end(message(CONTINUATION, struct.pack("<QQ", 0, 1 << 40))))
    f = File()
    yield refused("header-large", "HD4", "hdf5-header", "a block of more bytes than the file", "a header of 4 GiB", f.end(link("w", f.put(struct.pack("<4sBBI", b"OHDR", 2, 2, MASK)))))
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
    yield faulty("chunk-twice", "HD14", "hdf5-chunks", "keys that do not ascend in the node at address 64", "two chunks at one place", of_chunks(DATA, second=0))
    yield faulty("chunk-order", "HD14", "hdf5-chunks", "keys that do not ascend in the node at address 64", "two chunks in another order", of_chunks(DATA, first=4, second=0, shape=(8,)))
    for name, of_leaf, of_root, byte in (("before", 0, 4, 4), ("behind", 8, 0, 4), ("at-the-end-of", 4, 0, 0)):
        f = File()
        leaf = f.put(tree(((of_leaf,), 16, 0, f.put(DATA))))
        root = f.put(tree(((of_root,), 16, 0, leaf), level=1, end=(4,), width=byte))
        yield faulty(f"chunk-{name}-node", "HD14", "hdf5-chunks", f"keys beyond those of the node above at address {leaf}", f"a chunk {name.replace('-', ' ')} the keys of its node", beside(chunked(root, 4, 4), shape=(12,), file=f))
    yield faulty("chunk-end", "HD14", "hdf5-chunks", "keys that do not ascend in the node at address 64", "a last key before the chunk", of_chunks(DATA, first=4, shape=(8,), end=(0,)))
    yield faulty("chunk-last-key", "HD14", "hdf5-chunks", "a chunk that does not begin in the grid", "a last key that is in no chunk's place", of_chunks(DATA, end=(5,)))
    yield faulty("chunk-past-end", "HD14", "hdf5-chunks", f"a chunk of {0xffffffff} bytes at address 48 goes beyond the end of the file", "a chunk longer than the file", of_chunks(DATA, size=0xffffffff))
    yield faulty("chunk-between", "HD14", "hdf5-chunks", "a chunk that does not begin in the grid", "a chunk from element 1 on", of_chunks(DATA, second=1))


def of_links(ids, record=None, type=5, file=None, tree=None, **more):
    """A file whose root has its links in a fractal heap: IDs in the records of a B-tree, `tree` its numbers."""
    f = file or File()
    heap_at = heap(f, **more)
    records = [struct.pack("<I", 0) + id for id in ids]
    at = tree2(f, type, records, record, **(tree or {}))
    return heap_at, at, f.end(message(LINK_INFO, struct.pack("<BBQQ", 0, 0, heap_at, at)))


def heap_cases():
    """Fractal heaps and B-trees of version 2: each is that of a sound file but for one number."""
    f = File()
    w = f.plain()
    body = link("w", w)[4:]
    one = [managed(IN_BLOCK, len(body))]
    sound = {"data": body, "file": f}

    def broken(name, text, what, ids=one, number="HD6", finding="hdf5-heap", **more):
        g = File()
        g.bytes = bytearray(more.pop("file", f).bytes)
        heap_at, tree_at, raw = of_links(ids, **{**sound, "file": g, **more})
        return refused(name, number, finding, text.format(heap=heap_at, tree=tree_at), what, raw)

    g = File()
    g.bytes = bytearray(f.bytes)
    yield "ok-heap", of_links(one, **{**sound, "file": g})[2], "ok", None, None, None, "a link in a heap", {"object": "w"}
    g = File()
    g.bytes = bytearray(f.bytes)
    tiny = bytes([0x20 | len(body) - 1]) + body
    yield "ok-heap-tiny", of_links([tiny], data=b"", file=g, id_length=len(tiny))[2], "ok", None, None, None, "a link in its ID", {"object": "w"}
    g = File()
    g.bytes = bytearray(f.bytes)
    tiny = (bytes([0x20, len(body) - 1]) + body).ljust(18, b"\0")
    yield "ok-heap-tiny-18", of_links([tiny], data=b"", file=g, id_length=18)[2], "ok", None, None, None, "a link in an ID of 18 bytes", {"object": "w"}
    g = File()
    g.bytes = bytearray(f.bytes)
    huge = b"\x10" + struct.pack("<QQ", g.put(body), len(body))
    yield "ok-heap-huge", of_links([huge], data=b"", file=g, id_length=17)[2], "ok", None, None, None, "a link whose ID has its address", {"object": "w"}
    yield broken("heap-version", "'FRHP' of version 1 at address {heap}", "a heap of version 1", version=1)
    unread = {"number": "HD20", "finding": "hdf5-heap-filters"}
    for name, filters, what in (("filters", b"\2\1\2\0\0\0\0\0", "a heap with the filter shuffle"), ("filters-two", b"\2\2\1\0\0\0\0\0\1\0\0\0\0\0", "a heap that is deflated twice"),
                                ("filters-none", b"\2\0", "no filter in the message of them"), ("filters-version", b"\3\1\1\0\0\0\0\0", "filters of version 3"),
                                ("filters-cut", b"\2\1\1", "a message of 3 bytes"), ("filters-65", DEFLATED.ljust(65, b"\0"), "a message of 65 bytes")):
        yield broken(f"heap-{name}", "filters, which are not read, in the heap at address {heap}", what, filters=filters, **unread)
    yield broken("heap-packed-huge", "filters, which are not read, in the heap at address {heap}", "an object outside the blocks of a packed heap", filters=DEFLATED,
                 ids=[b"\x10" + struct.pack("<QQ", 48, len(body))], id_length=17, **unread)
    yield broken("heap-packed-large", "more than 64 MiB, or 16384 blocks, of compressed links", "a block of 128 MiB in 127 KiB", filters=DEFLATED, start=1 << 27, largest=1 << 27, sum=0,
                 bits=32, data=b"", ids=[struct.pack("<BIH", 0, IN_BLOCK + 2, 4) + b"\0"], pack=lambda block: zlib.compress(block, 9), **unread)
    other = "a compressed block that does not become its size in the heap at address {heap}"
    for name, pack, text, what, number, finding in (
            ("less", lambda block: zlib.compress(block[:-1]), other, "511 bytes in place of 512", "HD6", "hdf5-heap"),
            ("more", lambda block: zlib.compress(block + b"1"), other, "513 bytes in place of 512", "HD6", "hdf5-heap"),
            ("cut", lambda block: zlib.compress(block)[:-5], other, "a stream without its end", "HD6", "hdf5-heap"),
            ("little", lambda block: b"", other, "no byte", "HD6", "hdf5-heap"),
            ("no-stream", lambda block: b"\x78\x9c" + b"\xff" * 40, "deflate: an invalid block", "bytes that are no stream", "E2", "encoding"),
            ("no-block", lambda block: zlib.compress(bytes(512)), "no 'FHDB' at address 144", "zeros", "HD6", "hdf5-heap")):
        yield broken(f"heap-packed-{name}", text, f"a packed block: {what}", filters=DEFLATED, pack=pack, number=number, finding=finding)
    yield broken("heap-packed-sum", "the checksum of the block at address 144 is wrong", "another checksum of a packed block", number="HD2", finding="hdf5-checksum", sum=1, filters=DEFLATED)
    yield broken("heap-packed-plain", other, "a block that is not packed, of 511 bytes", filters=DEFLATED, mask=1, pack=lambda block: block[:-1])
    old = struct.pack("<BB6xHHHHII", 1, 1, 1, 0, 1, 1, 6, 0)
    for name, more in (("packed", {"filters": DEFLATED}), ("packed-old", {"filters": old}), ("packed-plain", {"filters": DEFLATED, "mask": 1, "pack": bytes})):
        g = File()
        g.bytes = bytearray(f.bytes)
        yield f"ok-heap-{name}", of_links(one, **{**sound, "file": g, **more})[2], "ok", None, None, None, f"a link in a heap: {name}", {"object": "w"}
    yield broken("heap-id-65", "a wrong ID length in the heap at address {heap}", "IDs of 65 bytes", id_length=65)
    g = File()
    g.bytes = bytearray(f.bytes)
    at, _, raw = of_links(one, data=body, file=g)
    yield refused("heap-header-sum", "HD2", "hdf5-checksum", f"the checksum of the 146 bytes at address {at} is wrong", "a bit of a heap's checksum", raw[:at + 145] + bytes([raw[at + 145] ^ 1]) + raw[at + 146:])
    g = File()
    g.bytes = bytearray(f.bytes)
    yield broken("heap-direct", "no 'FHDB' at address 144", "zeros in place of a direct block", root=g.put(bytes(512)), file=g)
    yield broken("heap-indirect", "no 'FHIB' at address 48", "data in place of an indirect block", root=48, rows=1)
    yield broken("heap-nowhere", f"512 bytes at address {1 << 40} go beyond the end of the file", "a block behind the end", number="HD3", finding="hdf5-address", root=1 << 40)
    for name, more in (("width", {"width": 3}), ("start", {"start": 500}), ("largest", {"largest": 700}), ("order", {"largest": 256}),
                       ("large", {"largest": 1 << 31}), ("bits-0", {"bits": 0}), ("bits-65", {"bits": 65})):
        yield broken(f"heap-{name}", "a wrong table of blocks in the heap at address {heap}", f"the table of blocks: {name}", **more)
    yield broken("heap-sum", "the checksum of the block at address 144 is wrong", "another checksum of a direct block", number="HD2", finding="hdf5-checksum", sum=1)
    yield broken("heap-small", "a small block in the heap at address {heap}", "direct blocks of 16 bytes", ids=[managed(0, 4)], data=b"", start=16, largest=16)
    yield broken("heap-absent", "an object in a block that is absent in the heap at address {heap}", "no root block", root=NONE)
    yield broken("heap-past-block", "an object beyond its block in the heap at address {heap}", "an object of 512 bytes from 19 on", ids=[managed(IN_BLOCK, 512)])
    yield broken("heap-past-rows", "an object beyond the last row in the heap at address {heap}", "an object in row 1 of 1", ids=[managed(2048, 4)], rows=1)
    g = File()
    g.bytes = bytearray(f.bytes)
    table = g.put(summed(struct.pack("<4sBQH", b"FHIB", 0, 0, 0) + bytes(12 * 8)))
    yield broken("heap-blocks", "a wrong table of blocks in the heap at address {heap}", "an indirect block that is no larger than a row", ids=[managed(4096, 4)], rows=3,
                 root=table, file=g)
    yield broken("heap-id-cut", "an ID that is too short in the heap at address {heap}", "an ID of 3 bytes", ids=[managed(IN_BLOCK, len(body))[:3]], id_length=3)
    yield broken("heap-id-tiny", "an ID that is too short in the heap at address {heap}", "16 bytes in an ID of 8", ids=[b"\x2f" + bytes(7)])
    yield broken("heap-id-kind", "an ID of unknown kind in the heap at address {heap}", "an ID of kind 3", ids=[b"\x30" + bytes(7)])
    yield broken("heap-id-nowhere", "an ID that leads to no object in the heap at address {heap}", "a huge object without a tree of them", ids=[b"\x10" + bytes(7)])
    yield broken("heap-id-0", "a wrong ID length in the heap at address {heap}", "IDs of 0 bytes", id_length=0)
    yield broken("tree2-type", "records of another type in the B-tree at address {tree}", "a tree of attributes", type=8)
    yield broken("tree2-depth", "a wrong size or depth in the B-tree at address {tree}", "33 levels", tree={"depth": 33})
    yield broken("tree2-record-0", "a wrong size or depth in the B-tree at address {tree}", "records of 0 bytes", record=0)
    yield broken("tree2-node", "a wrong size or depth in the B-tree at address {tree}", "nodes without room for a record", tree={"node": 21})
    yield broken("tree2-small", "a small node in the B-tree at address {tree}", "nodes without room for a child", record=4, tree={"node": 16, "depth": 1})
    yield broken("tree2-levels", "too many levels in the B-tree at address {tree}", "32 levels of nodes of 4 GiB", tree={"node": MASK, "depth": 32})
    yield broken("link-record", "a record of a link that is too short", "records of 11 bytes for IDs of 8", ids=[one[0][:7]])

    def attributes(f, data):
        return f.end(link("w", f.plain()), message(ATTRIBUTE_INFO, data))
    yield refused("link-info", "HD5", "hdf5-group", "a link info message of unknown form", "link info of version 1", File().end(message(LINK_INFO, struct.pack("<BBQQ", 1, 0, NONE, NONE))))
    yield refused("attribute-info", "HD4", "hdf5-header", "an attribute info of unknown form", "attribute info of version 1", attributes(File(), struct.pack("<BBQQ", 1, 0, NONE, NONE)))
    for name, text, record, id_length in (("attribute-record", "a record of an attribute that is too short", bytes(8), 8), ("attribute-id", "IDs of another length", bytes(7) + b"\2", 7)):
        f = File()
        at = heap(f, id_length=id_length)
        yield refused(name, "HD6", "hdf5-heap", text, name, attributes(f, struct.pack("<BBQQ", 0, 0, at, tree2(f, 8, [record]))))


def symbol_cases():
    """Groups of symbols."""
    def group(f, tree, heap):
        return f.end(message(SYMBOLS, struct.pack("<QQ", tree, heap)))

    def node(*children, level=0, version=0, signature=b"TREE", last=0):
        return struct.pack("<4sBBHQQ", signature, version, level, len(children), NONE, NONE) + b"".join(struct.pack("<QQ", 0, child) for child in children) + struct.pack("<Q", last)

    def symbols(*entries, signature=b"SNOD"):
        return struct.pack("<4sBBH", signature, 1, 0, len(entries)) + b"".join(
            struct.pack("<QQIII12x", name, address, kind, 0, *(path or [0])) for name, address, kind, *path in entries)

    def names(f, text):
        return f.put(struct.pack("<4sB3xQQQ", b"HEAP", 0, len(text), NONE, f.put(text)))

    def broken(name, text, what, make, number="HD5", finding="hdf5-group"):
        f = File()
        at = names(f, b"\0w\0x")
        tree = make(f, f.plain())
        return refused(name, number, finding, text.format(tree=tree), what, group(f, tree, at))
    f = File()
    at = names(f, b"\0w\0x\0")
    leaf = f.put(symbols((1, f.plain(), 0), (3, 48, 2)))
    yield "ok-symbols", group(f, f.put(node(leaf, last=3)), at), "ok", None, None, None, "a symbol, and a soft link", {"object": "w"}
    yield refused("symbols-cut", "HD5", "hdf5-group", "a symbol table message that is cut short", "half of a symbol table message", File().end(message(SYMBOLS, bytes(8))))
    yield broken("symbols-tree", "no node of a group's B-tree at address {tree}", "zeros as the tree", lambda f, w: f.put(bytes(64)))
    yield broken("group-tree-kind", "no node of a group's B-tree at address {tree}", "a B-tree of chunks", lambda f, w: f.put(node(version=1)))
    yield broken("symbols-level", "a wrong level of a B-tree's node at address {tree}", "level 65", lambda f, w: f.put(node(level=65)))
    yield broken("symbols-node", "no 'SNOD' at address 48", "a heap in place of symbols", lambda f, w: f.put(node(48)))
    yield broken("symbols-name", "a name beyond the end of the local heap", "a name from byte 4 on, of 4", lambda f, w: f.put(node(f.put(symbols((4, w, 0))))))
    f = File()
    at = names(f, b"\0w\0x\0")
    leaf = f.put(symbols((1, f.plain(), 0), (3, 48, 2, 5)))
    yield refused("symbols-soft", "HD5", "hdf5-group", "a name beyond the end of the local heap", "a soft link to a path from byte 5 on, of 5",
                  group(f, f.put(node(leaf, last=3)), at))
    yield broken("symbols-unended", "a name beyond the end of the local heap", "a name without its NUL", lambda f, w: f.put(node(f.put(symbols((3, w, 0))))))
    yield broken("symbols-nowhere", f"address {1 << 40} is beyond the end of the file", "a child behind the end", lambda f, w: f.put(node(1 << 40)), "HD3", "hdf5-address")


def type_cases():
    """Datatypes."""
    two = b"a\0b\0"
    for name, text, what, type in (
            ("enum-float", "an enum that is not of integers", "an enum of floats", type_of(8, 4, F32 + two + bytes(8), 2, 3)),
            ("enum-size", "an enum that is not of integers", "an enum of 2 bytes, of u8", type_of(8, 2, U8 + two + bytes(4), 2, 3)),
            ("array-rank-0", "an array of a wrong rank", "an array without dimensions", type_of(10, 4, b"\0" + F32, version=3)),
            ("array-rank-33", "an array of a wrong rank", "an array of 33 dimensions", type_of(10, 4, b"\x21" + bytes(132) + F32, version=3)),
            ("array-size", "an array whose size is not that of its elements", "two floats in 4 bytes", type_of(10, 4, struct.pack("<BI", 1, 2) + F32, version=3)),
            ("array-large", "an array whose size is not that of its elements", "2^64 floats in 4 bytes", type_of(10, 4, struct.pack("<B2I", 2, MASK, MASK) + F32, version=3)),
            ("complex-integer", "a complex type that is not of two floats", "two integers", type_of(11, 2, U8, version=5)),
            ("complex-size", "a complex type that is not of two floats", "two floats in 4 bytes", type_of(11, 4, F32, version=5)),
            ("complex-odd", "a complex type that is not of two floats", "two floats in 9 bytes", type_of(11, 9, F32, version=5)),
            ("type-version-0", "a datatype of unknown version or without a size", "version 0", type_of(0, 4, struct.pack("<HH", 0, 32), version=0)),
            ("type-version-6", "a datatype of unknown version or without a size", "version 6", type_of(0, 4, struct.pack("<HH", 0, 32), version=6))):
        yield faulty(name, "HD11", "hdf5-datatype", text, what, beside(contiguous(48, 16), type=type))


def layout_4(kind, address, parameters=b"", flags=0, chunk=4, width=1, element=4, rank=2):
    return message(LAYOUT, struct.pack("<5B", 4, 2, flags, rank, width) + chunk.to_bytes(max(width, 1), "little") + element.to_bytes(max(width, 1), "little")
                   + bytes([kind]) + parameters + struct.pack("<Q", address))


def index_cases():
    """Layouts of chunks, and their indexes."""
    def layout(name, text, what, *messages, **more):
        return faulty(name, "HD12", "hdf5-layout", text, what, beside(*messages, **more))

    def indexed(name, text, what, kind, make, *more, parameters=b"", shape=(4,)):
        f = File()
        at = make(f)
        return faulty(name, "HD14", "hdf5-chunks", text.format(at=at), what, beside(layout_4(kind, at, parameters), *more, shape=shape, file=f))

    yield layout("chunk-rank-0", "chunks of a wrong rank", "a rank of 0", message(LAYOUT, struct.pack("<BBBQ", 3, 2, 0, 48)))
    yield layout("chunk-rank-34", "chunks of a wrong rank", "a rank of 34", message(LAYOUT, struct.pack("<BBBQ", 3, 2, 34, 48) + bytes(136)))
    yield layout("chunk-bytes-0", "chunks of a wrong rank", "numbers of 0 bytes", layout_4(1, 48, width=0))
    yield layout("chunk-bytes-9", "chunks of a wrong rank", "numbers of 9 bytes", layout_4(1, 48, width=9))
    yield layout("layout-rank-34", "chunks of more than 32 dimensions", "34 sizes in version 1", message(LAYOUT, struct.pack("<BBB5xQ", 1, 34, 2, 48) + bytes(136)))
    yield layout("layout-cut", "a layout that is cut short", "an address of 4 bytes", message(LAYOUT, bytes([3, 1, 0, 0, 0, 0])))
    yield layout("layout-version-0", "a layout of unknown version", "version 0", message(LAYOUT, bytes([0, 1]) + bytes(16)))
    yield layout("fill-version-0", "a fill value of unknown version", "version 0", contiguous(48, 16), message(FILL, bytes(16)))
    yield layout("fill-version-4", "a fill value of unknown version", "version 4", contiguous(48, 16), message(FILL, b"\4" + bytes(15)))
    yield layout("fill-cut", "a fill value that is cut short", "1 of 4 bytes", contiguous(48, 16), message(FILL, struct.pack("<BBIB", 3, 0x20, 4, 0)))
    yield layout("fill-size", "a fill value of another size than the elements", "a fill value of 2 bytes", chunked(NONE, 4, 4), message(FILL, struct.pack("<BBIH", 3, 0x20, 2, 0)))
    yield layout("absent-2-66", "data of more than 2^64 bytes", "2^64 elements, never written", contiguous(NONE, 0), shape=(1 << 62, 4))
    yield layout("chunks-2-65", "data of more than 2^64 bytes", "2^63 elements in chunks", chunked(NONE, 1, 4), shape=(1 << 63,))
    yield layout("absent-bytes-2-64", "data of more than 2^64 bytes", "2^64 elements of a byte, never written", contiguous(NONE, 0), shape=(1 << 32, 1 << 32), type=U8)
    yield layout("chunks-bytes-2-66", "data of more than 2^64 bytes", "2^66 chunks of a byte", chunked(NONE, 1, 1, 1), shape=(1 << 33, 1 << 33), type=U8)
    f = File()
    yield faulty("type-missing", "HD12", "hdf5-layout", "a dataset without a type", "no datatype", f.end(link("b", f.plain()), link("w", f.put(header(space(4), contiguous(48, 16))))))
    f = File()
    yield faulty("space-missing", "HD12", "hdf5-layout", "a dataset without a type", "no dataspace", f.end(link("b", f.plain()), link("w", f.put(header(message(TYPE, F32), contiguous(48, 16))))))
    yield faulty("filters-version-0", "HD13", "hdf5-filters", "filters of unknown version, or more than 32", "version 0", beside(chunked(NONE, 4, 4), message(FILTERS, bytes(8))))
    yield faulty("filters-version-3", "HD13", "hdf5-filters", "filters of unknown version, or more than 32", "version 3", beside(chunked(NONE, 4, 4), message(FILTERS, b"\3" + bytes(7))))
    for name, data, text in (("space-version-0", bytes([0, 1, 0, 0]), None), ("space-version-3", bytes([3, 1, 0, 0]), None), ("space-kind", bytes([2, 1, 0, 3]), None),
                             ("space-null-rank", bytes([2, 1, 0, 2]), None), ("space-cut", bytes([2, 1, 0, 1, 0]), "a dataspace that is cut short")):
        f = File()
        w = f.put(header(message(SPACE, data + (b"" if text else bytes(8))), message(TYPE, F32), contiguous(48, 16)))
        yield faulty(name, "HD10", "hdf5-dataspace", text or "a dataspace of unknown version, or of more than 32 dimensions", f"a dataspace: {name[6:]}",
                     f.end(link("b", f.plain()), link("w", w)))

    yield indexed("index-kind", "an unknown kind of index of chunks", "kind 9", 9, lambda f: 48)
    yield indexed("index-kind-0", "an unknown kind of index of chunks", "kind 0", 0, lambda f: 48)
    yield indexed("index-implicit", "chunks beyond the end of the file", "a chunk of 16 bytes at the end", 2, lambda f: 1 << 20)
    yield indexed("index-implicit-filter", "chunks beyond the end of the file", "chunks of one size with a filter", 2, lambda f: f.put(DATA), filters(1))

    def fixed(f, entry=8, page_bits=10, n=1, block=None):
        """A header of an array, and a block of one entry."""
        at = f.next()
        block = at + 32 if block is None else block
        f.put(summed(struct.pack("<4sBBBBQQ", b"FAHD", 0, 0, entry, page_bits, n, block)))
        f.put(summed(struct.pack("<4sBBQQ", b"FADB", 0, 0, at, 48)))
        return at
    yield indexed("index-fixed-entry", "an array with entries of another size at address {at}", "entries of 9 bytes", 3, lambda f: fixed(f, entry=9), parameters=b"\0")
    for size in (12, 21):
        yield indexed(f"index-fixed-{size}", "an array with entries of another size at address {at}", f"filtered entries of {size} bytes", 3, lambda f: fixed(f, entry=size), filters(1), parameters=b"\0")
    yield indexed("index-fixed-n", "an array of more entries than the file has bytes at address {at}", "2^40 entries", 3, lambda f: fixed(f, n=1 << 40), parameters=b"\0")
    yield indexed("index-fixed-block", "no 'FADB' at address 48", "a block of text", 3, lambda f: fixed(f, block=f.put(b"x" * 64)), parameters=b"\0")
    yield indexed("index-fixed-bytes", "a block of more bytes than the file at address 48", "a block longer than the file", 3,
                  lambda f: fixed(f, n=200, block=48), parameters=b"\0")

    def extensible(f, entry=8, bits=32, first=1, least=16, pointers=4, page_bits=10, block=NONE):
        return f.put(summed(struct.pack("<4sBB6B48xQ", b"EAHD", 0, 1, entry, bits, first, least, pointers, page_bits, block)))
    for name, more in (("bits-0", {"bits": 0}), ("bits-64", {"bits": 64}), ("least", {"least": 3}), ("log", {"least": 16, "bits": 3}), ("pointers-0", {"pointers": 0}),
                       ("pointers-3", {"pointers": 3}), ("page", {"page_bits": 63}), ("direct", {"pointers": 128, "bits": 5})):
        yield indexed(f"index-extensible-{name}", "an extensible array of a wrong form at address {at}", f"an extensible array: {name}", 4, lambda f: extensible(f, **more), parameters=bytes(5))
    yield indexed("index-extensible-entry", "an array with entries of another size at address {at}", "entries of 9 bytes", 4, lambda f: extensible(f, entry=9), parameters=bytes(5))

    def blocks(f, direct, supers, **more):
        """An extensible array, of whose index block the addresses but the last are NONE."""
        n = direct + supers
        block = f.put(summed(struct.pack("<4sBBQ8x", b"EAIB", 0, 0, 0) + struct.pack(f"<{n}Q", *[NONE] * (n - 1), 48)))
        return extensible(f, least=128, block=block, **more)
    yield indexed("index-data-block", "a block of more entries than the file has bytes at address 48", "a data block of 2,048 entries", 4, lambda f: blocks(f, 30, 0, pointers=16, bits=14), parameters=bytes(5))
    yield indexed("index-super-block", "a block of more bytes than the file at address 48", "a super block of 2^16 data blocks", 4, lambda f: blocks(f, 6, 30, pointers=4, bits=40), parameters=bytes(5))
    record = struct.pack("<QQ", 48, 0)
    yield indexed("index-tree2", "a B-tree with records of another kind at address {at}", "records of filtered chunks", 5, lambda f: tree2(f, 11, [record + bytes(8)]), parameters=bytes(6))
    yield indexed("index-tree2-short", "a B-tree with records of another kind at address {at}", "records of 15 bytes", 5, lambda f: tree2(f, 10, [record[:15]]), parameters=bytes(6))
    for size in (20, 29):
        yield indexed(f"index-tree2-{size}", "a B-tree with records of another kind at address {at}", f"filtered records of {size} bytes", 5,
                      lambda f: tree2(f, 11, [record.ljust(size, b"\0")]), filters(1), parameters=bytes(6))
    yield indexed("chunk-4-gib", "a chunk of more than 4 GiB at address 48", "a filtered chunk of 4 GiB", 5,
                  lambda f: tree2(f, 11, [struct.pack("<QQIQ", 48, 1 << 32, 0, 0)]), filters(1), parameters=bytes(6))


def shared_cases():
    """The table of shared messages, to which the superblock's extension leads."""
    def table(f, version=0, types=1 << TYPE, wrong=0, heap_at=None, signature=b"SMTB", **more):
        heap_at = heap(f, data=F32, **more) if heap_at is None else heap_at
        data = summed(struct.pack("<4sBBHIHHHQQ", signature, 0, 0, types, 50, 50, 40, 1, NONE, heap_at))
        return f.put(data[:-1] + bytes([data[-1] ^ wrong]))

    def file(make=table, n=1, cut=False):
        f = File()
        data = struct.pack("<BQB", 0, make(f), n)
        extension = f.put(header(message(SHARED_TABLE, data[:4] if cut else data)))
        id = struct.pack("<BB", 3, 1) + managed(IN_BLOCK, len(F32))
        where = contiguous(f.put(DATA), 16)
        return f.end(link("b", f.plain()), link("w", f.put(header(space(4), message(TYPE, id, 2), where))), extension=extension)
    yield "ok-shared", file(), "ok", None, None, None, "a datatype in the heap of shared messages", {"object": "w"}
    for name, text, raw in (
            ("form", "a table of shared messages of unknown form", file(n=0)),
            ("form-9", "a table of shared messages of unknown form", file(n=9)),
            ("form-cut", "a table of shared messages of unknown form", file(cut=True)),
            ("table", "no table of shared messages", file(lambda f: table(f, signature=b"SMTX"))),
            ("ids", "a heap of IDs of another length", file(lambda f: table(f, id_length=7))),
            ("other", "a shared message of a type that no index has", file(lambda f: table(f, types=1 << SPACE)))):
        yield faulty(f"shared-{name}", "HD17", "hdf5-shared", text, f"shared messages: {name}", raw)
    yield faulty("shared-sum", "HD2", "hdf5-checksum", "the checksum of the 38 bytes at address 712 is wrong", "a bit of the table's checksum", file(lambda f: table(f, wrong=1)))
    yield faulty("shared-nowhere", "HD3", "hdf5-address", f"38 bytes at address {1 << 40} go beyond the end of the file", "a table behind the end", file(lambda f: 1 << 40))
    yield faulty("shared-heap", "HD6", "hdf5-heap", "no 'FRHP' at address 0", "the superblock in place of a heap", file(lambda f: table(f, heap_at=0)))


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
    whole = f.end(link("w", f.plain()))
    yield "ok-plain", whole, "ok", None, None, None, "a dataset", more
    yield "ok-fletcher", of_chunks(DATA + fletcher(DATA), filters(3)), "ok", None, None, None, "a checksum", more
    shuffled = bytes(DATA[4 * i + k] for k in range(4) for i in range(4))
    packed = zlib.compress(shuffled)
    yield "ok-filters", of_chunks(packed + fletcher(packed), filters(2, 1, 3, values=(4,))), "ok", None, None, None, "all three filters", more
    f = File()
    w = f.plain()
    unclosed = "ok", "HD19", "hdf5-open", "its writer has not closed it: what was written last may be missing"
    yield "ok-swmr", f.end(link("w", w), flags=5, end=100), *unclosed, "a file that is read while it is written, and states an older end", more
    f = File()
    yield "ok-open", f.end(link("w", f.plain()), flags=1), *unclosed, "a file that its writer has not closed", more
    yield "ok-behind", whole + b"more", "ok", "HD21", "hdf5-behind", "4 bytes follow behind its end", "bytes behind the end that the superblock states", more
    yield "ok-chunk-freed", beside(layout_4(1, 1 << 40), shape=(0,)), "ok", None, None, None, "the place of a lone chunk, which a dataset without elements had", {"object": "w"}
    yield "ok-chunk-outside", of_chunks(DATA, second=1 << 40), "ok", None, None, None, "a chunk far outside the dataset", more
    f = File()
    yield "ok-attribute-unreadable", f.end(attribute("a", TEXT, struct.pack("<IQI", 4, 1 << 50, 1)), link("w", f.plain())), "ok", "HD3", "hdf5-address", f"attribute 'a': 16 bytes at address {1 << 50} go beyond the end of the file", "an attribute's text in a heap behind the end", more
    f = File()
    w = f.dataset(contiguous(f.put(DATA), 16), attribute("a", TEXT, struct.pack("<IQI", 4, f.put(bytes(64)), 1)))
    yield "ok-attribute-heap", f.end(link("w", w)), "ok", "HD9", "hdf5-global-heap", "attribute 'a': no 'GCOL' at address 64", "a dataset's attribute with its text in a heap of zeros", more
    f = File()
    yield "ok-attribute-deep", f.end(attribute("a", U8, bytes(1), (1,) * 32), link("w", f.plain())), "ok", None, None, None, "an attribute of 32 dimensions", more
    yield "fill-2-54", beside(chunked(NONE, 1024, 4), message(FILL, bytes([3, 0])), shape=(1 << 52,)), "lists_but_no_bytes", None, None, None, "2^54 bytes, of which none is stored", {"object": "w", "component": None, "sized": True, "limits": {"mib": 64}}
    yield "short", beside(contiguous(48, 12)), "lists_but_no_dense", "D1", "length", "4 elements of f32 are 16 bytes, and it has 12", "12 bytes in place of 16", {"object": "w"}


def cases():
    yield from file_cases()
    yield from elsewhere_cases()
    yield from old_cases()
    yield from header_cases()
    yield from dataset_cases()
    yield from heap_cases()
    yield from symbol_cases()
    yield from type_cases()
    yield from index_cases()
    yield from shared_cases()
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
