#!/usr/bin/python3
"""Writes hostile/: npz files that break one rule each or look odd, and cases.json. Byte by byte, after PKWARE's APPNOTE.TXT.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import bz2
import lzma
import struct
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "npy"))
from write_npy import ONES, array, shaped, write  # noqa: E402

HERE = Path(__file__).resolve().parent / "hostile"
STORED, DEFLATE, BZIP2, LZMA = 0, 8, 12, 14
MAX = 0xFFFFFFFF


def deflate(raw):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(raw) + packer.flush()


def packed(raw, method):
    if method == DEFLATE:
        return deflate(raw)
    if method == BZIP2:
        return bz2.compress(raw)
    if method == LZMA:
        return b"\x09\x04\x05\x00" + lzma.compress(raw, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1}])
    return raw


class Member:
    """A member; what is given of the directory's fields stands there instead of what is true."""

    def __init__(self, name, raw=None, method=STORED, data=None, **fields):
        raw = array() if raw is None else raw
        self.name, self.method = name.encode() if isinstance(name, str) else name, method
        self.data = packed(raw, method) if data is None else data
        self.fields = {"crc": zlib.crc32(raw), "stored": len(self.data), "size": len(raw), "flags": 0, "disk": 0, "extra": b"",
                       "local": self.name, "padding": 0, **fields}


def archive(*members, comment=b"", count=None, offset=None, size=None, disk=0, end64=None, locator=None, disks=1, between=b"", tail=None, begin=b""):
    """A zip archive. end64: there is a zip64 end record, for whose locator another place may be given."""
    body, directory = begin, b""
    for m in members:
        f = m.fields
        header = f.get("header", len(body))
        if not f.get("shared"):
            body += struct.pack("<4s5H3I2H", b"PK\3\4", 20, f["flags"], m.method, 0, 33, f["crc"], min(f["stored"], MAX),
                                min(f["size"], MAX), len(f["local"]), f["padding"]) + f["local"] + m.data
        directory += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, f["flags"], m.method, 0, 33, f["crc"], f["stored"], f["size"],
                                 len(m.name), len(f["extra"]), 0, f["disk"], 0, 0, header) + m.name + f["extra"] + f.get("behind", b"")
    n = len(members) if count is None else count
    size = len(directory) if size is None else size
    offset = len(body) if offset is None else offset
    raw = body + directory + between
    if end64:
        raw += struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 45, 45, 0, 0, n, n, size, offset)
        raw += struct.pack("<4sIQI", b"PK\6\7", 0, len(body) + len(directory) if locator is None else locator, disks)
        n, size, offset = 0xFFFF, MAX, MAX
    raw += struct.pack("<4s4H2IH", b"PK\5\6", disk, disk and 0, n, n, size, offset, len(comment)) + comment
    return raw[:tail]


def small():
    return [Member("w.npy"), Member("other.npy")]


def broken(name, number, finding, message, what, member, length=None, decoded=None):
    """An archive of one member that is broken, 'w', and a sound one."""
    return (name, archive(member, Member("other.npy", method=DEFLATE)), "lists_but_no_bytes", number, finding, message, what,
            {"object": "w", "length": length, "decoded_length": decoded})


def directory_cases():
    yield "end-missing", archive(*small(), tail=-22), "open_error", "ZP1", "zip-end", "the archive's end record is missing: the file may be cut short", "no end record"
    yield "end-cut", archive(*small(), tail=-1), "open_error", "ZP1", "zip-end", "the archive's end record is missing: the file may be cut short", "the last byte is missing"
    yield "end-alone", b"PK\3\4", "open_error", "ZP1", "zip-end", "the archive's end record is missing", "four bytes"
    yield "directory-past-end", archive(*small(), offset=2**31), "open_error", "ZP2", "zip-directory", "a directory of 106 bytes at 2147483648 does not end at its end record, at 468", "a directory behind the end"
    yield "directory-gap", archive(*small(), between=b"gap"), "open_error", "ZP2", "zip-directory", "a directory of 106 bytes at 362 does not end at its end record, at 471", "bytes between directory and end record"
    yield "directory-elsewhere", archive(*small(), disk=1), "open_error", "ZP2", "zip-directory", "a part of an archive in several: its directory is not all here", "the directory begins on another disk"
    yield "locator-disks", archive(*small(), end64=True, disks=2), "open_error", "ZP2", "zip-directory", "a part of an archive in several: its directory is not all here", "an archive on two disks"
    yield "locator-past-end", archive(*small(), end64=True, locator=2**62), "open_error", "ZP3", "zip64-locator", "the zip64 locator points to byte 4611686018427387904, behind itself", "a locator that points beyond the file"
    yield "locator-elsewhere", archive(*small(), end64=True, locator=7), "open_error", "ZP3", "zip64-locator", "the zip64 locator points to byte 7, where no record begins that ends before it", "a locator that points to no record"
    yield "count-more", archive(*small(), count=3), "open_error", "ZP4", "zip-entries", "3 entries are more than a directory of 106 bytes has room for", "one entry more than there is"
    yield "count-less", archive(*small(), count=1), "open_error", "ZP4", "zip-entries", "byte 413: the directory goes on behind its 1 entries", "one entry less than there is"
    yield "entry-behind", archive(Member("w.npy", behind=b"junk"), Member("other.npy")), "open_error", "ZP4", "zip-entries", "byte 413: the directory has 2 entries, and number 1 is not whole", "bytes between two entries"
    yield "many-share-one", archive(Member("m0.npy"), *(Member(f"m{i}.npy", shared=True, header=0) for i in range(1, 300))), "open_error", "ZP11", "zip-overlap", "members 'm0.npy' and 'm1.npy' share bytes of the archive", "300 entries with one local header"
    inner = array()
    yield "quoted", archive(Member("w.npy", data=inner + struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, 144, 144, 5, 0) + b"v.npy" + inner, stored=323, size=323),
                            Member("v.npy", shared=True, header=179)), "open_error", "ZP11", "zip-overlap", "members 'w.npy' and 'v.npy' share bytes of the archive", "a member within another"
    yield "no-array", archive(Member("word/document.xml", b"<w/>"), Member("readme.txt", b"text")), "open_error", "NZ3", "npz-empty", "a zip archive in which no member is a tensor file of a known format", "no member is an array"
    yield "name-not-utf8", archive(Member(b"\xff.npy"), Member("other.npy")), "open_error", "NZ1", "npz-name", "member '\\xff.npy': a name that is not UTF-8, or has U+0000 in it", "a name in another code"
    yield "name-nul", archive(Member(b"a\0b.npy"), Member("other.npy")), "open_error", "NZ1", "npz-name", "member 'a': a name that is not UTF-8, or has U+0000 in it", "a name with U+0000"
    yield "name-twice", archive(Member("w.npy"), Member("w.npy")), "open_error", "NZ2", "npz-duplicate-member", "two members have this name", "a member twice", {"object": "w"}
    yield "name-twice-in-effect", archive(Member("w.npy"), Member("w")), "open_error", "NZ2", "npz-duplicate-member", "two members have this name", "one name with and without .npy", {"object": "w"}
    wide = array(shaped("(1,)", f"[('{'a' * 200000}', '<f4')]"), ONES[:4], (2, 0))
    yield "headers-huge", archive(*(Member(f"{i}.npy", wide, DEFLATE) for i in range(12))), "open_error", "NZ4", "npz-headers", "the headers of its members take more memory than a file of 4730 bytes is worth", "names of fields that a bomb makes"


def member_cases():
    raw = array()
    yield broken("zip64-missing", "ZP5", "zip64-field", "its size or place is in a zip64 field, which is missing", "sizes of 0xFFFFFFFF and no zip64 field", Member("w.npy", stored=MAX, size=MAX))
    yield broken("zip64-huge", "ZP6", "zip-range", "its bytes would lie beyond the archive's directory", "zip64 sizes of 2^63 and more", Member("w.npy", stored=MAX, size=MAX, extra=struct.pack("<2H2Q", 1, 16, 2**63, 2**63 + 5)))
    yield broken("past-end", "ZP6", "zip-range", "its bytes would lie beyond the archive's directory", "a member longer than the file", Member("w.npy", stored=5000, size=5000))
    yield broken("local-past-end", "ZP6", "zip-range", "its bytes would lie beyond the archive's directory", "a local header beyond the file", Member("w.npy", header=2**31))
    yield broken("sizes-differ", "ZP7", "zip-sizes", "it is stored as it is, and has two different sizes", "stored, and two sizes", Member("w.npy", size=145))
    yield broken("encrypted", "ZP8", "zip-encrypted", "it is encrypted", "an encrypted member", Member("w.npy", flags=1))
    yield broken("encrypted-strongly", "ZP8", "zip-encrypted", "it is encrypted", "a member that is strongly encrypted", Member("w.npy", flags=64))
    yield broken("patch", "ZP8", "zip-encrypted", "it is a patch of another file", "a member that is a patch", Member("w.npy", flags=32))
    yield broken("spanned", "ZP9", "zip-spanned", "it is in another part of a spanned archive", "a member on another disk", Member("w.npy", disk=2))
    yield broken("local-renamed", "ZP10", "zip-local-header", "byte 0: no local header of member 'w.npy'", "another name in the local header", Member("w.npy", local=b"v.npy"))
    yield broken("local-none", "ZP10", "zip-local-header", "byte 1: no local header of member 'w.npy'", "no local header where the entry says", Member("w.npy", header=1, stored=100, size=100))
    yield broken("extra-into-next", "ZP11", "zip-overlap", "members 'w.npy' and 'other.npy' share bytes of the archive", "an extra field of the local header that is not there", Member("w.npy", padding=40))
    for method, name in ((BZIP2, "bzip2"), (LZMA, "lzma"), (93, "zip.93")):
        member = Member("w.npy", raw, method)
        yield broken(f"method-{name.replace('.', '-')}", "E1", "unknown-encoding", f"encoding '{name}' is not known", f"a member packed by {name}", member, len(member.data))
    yield broken("deflate-garbage", "E2", "encoding", "deflate: an invalid block", "bytes that are no deflate stream", Member("w.npy", raw, DEFLATE, b"\xff" * 40), length=40)
    yield broken("deflate-empty", "E2", "encoding", "deflate: the stored bytes end within the stream", "a deflated member of no byte", Member("w.npy", raw, DEFLATE, b""), length=0)
    yield broken("deflate-nothing", "E3", "decoded-length", "deflate: decodes to 0 bytes, the directory states 144", "a stream of no byte", Member("w.npy", raw, DEFLATE, deflate(b"")), length=2)
    noise = array(shaped("(1000,)"), bytes(i * i * 7 % 251 for i in range(4000)))
    cut, behind = deflate(noise)[:-30], deflate(noise) + b"more"
    yield broken("deflate-cut", "E2", "encoding", "deflate: the stored bytes end within the stream", "a stream without its end", Member("w.npy", noise, DEFLATE, cut), length=len(cut), decoded=4000)
    yield broken("deflate-behind", "E2", "encoding", "deflate: 4 bytes follow behind the stream's end", "bytes behind the stream", Member("w.npy", noise, DEFLATE, behind), length=len(behind), decoded=4000)
    bomb = deflate(raw + bytes(1 << 24))
    yield broken("deflate-bomb", "E4", "decoded-length", "deflate: decodes to more than the 144 bytes that the manifest states", "16 MiB behind a size of 144", Member("w.npy", raw, DEFLATE, bomb), length=len(bomb), decoded=16)
    short = deflate(raw[:140])
    yield broken("deflate-short", "E3", "decoded-length", "deflate: decodes to 140 bytes, the manifest states 144", "4 bytes less than the directory says", Member("w.npy", raw, DEFLATE, short), length=len(short), decoded=16)
    nameless = ("ZP10", "zip-local-header", "byte 0: no local header of member 'w.nqy'")
    yield ("local-array", archive(Member("w.nqy", local=b"w.npy"), Member("other.npy")), "lists_but_no_bytes", *nameless, "a name of an array in the local header alone", {"object": "w.nqy", "length": None, "decoded_length": None})
    yield ("local-others", archive(Member("u.txt", header=1, stored=10, size=10), Member("w.txt", local=b"w.dat"), Member("other.npy")), "ok",
           None, None, None, "names in local headers that are of no array")
    for name, member, what in [("npy-magic", Member("w.npy", bytes([raw[0] ^ 1]) + raw[1:]), "an array whose first byte has another bit"),
                               ("npy-magic-deflated", Member("w.npy", bytes(144), DEFLATE), "a deflated array without its magic number"),
                               ("npy-empty", Member("w.npy", b""), "a member without a byte")]:
        yield (name, archive(member, Member("other.npy", method=DEFLATE)), "lists_but_no_dense", "NZ5", "npz-array", "it is no npy array", what, {"object": "w"})
    yield broken("npy-short", "NY2", "npy-length", "it ends within the header", "a member of 9 bytes", Member("w.npy", raw[:9]), length=9)
    yield broken("npy-version", "NY1", "npy-version", "npy version 9.0 cannot be read, 1.0, 2.0 and 3.0 can", "an array of version 9.0", Member("w.npy", array(version=(9, 0))), length=144)
    yield broken("npy-length", "NY2", "npy-length", "the header has 60010 bytes, of which there are 144", "a header longer than the member", Member("w.npy", array(length=60000)), length=144)
    yield broken("npy-call", "NY4", "npy-header", "byte 10 of the header: a dict was expected", "a Python call", Member("w.npy", array("__import__('os').mkdir('PICKLE_WAS_EXECUTED')"), DEFLATE), length=len(deflate(array("__import__('os').mkdir('PICKLE_WAS_EXECUTED')"))))
    yield broken("npy-elements", "NY7", "npy-elements", "the number of elements, or of their bytes, does not fit 64 bits", "2^96 elements", Member("w.npy", array(shaped("(4294967296, 4294967296, 4294967296)"))), length=144)
    for method, name in ((STORED, "stored"), (DEFLATE, "deflated")):
        yield (f"data-short-{name}", archive(Member("w.npy", array(shaped("(5,)")), method), Member("other.npy")), "lists_but_no_dense", "D1", "length",
               "5 elements of f32 are 20 bytes, and it has 16", "16 bytes in place of 20", {"object": "w"})
        yield (f"text-short-{name}", archive(Member("w.npy", array(shaped("(2,)", "'<U5'"), bytes(35)), method), Member("other.npy")), "lists_but_no_dense", "D1", "length",
               "it has no values: its elements are text", "35 bytes in place of 40, of a type that is only listed", {"object": "w"})
    yield ("object-code", archive(Member("w.npy", array(shaped("(1,)", "'|O'"), b"cos\nmkdir\n(S'PICKLE_WAS_EXECUTED'\ntR.")), Member("other.npy")),
           "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are objects of Python, pickles, which are never executed", "objects whose pickle would run code", {"object": "w"})


def odd_cases():
    for method, name in ((STORED, "stored"), (DEFLATE, "deflated")):
        yield f"ok-crc-{name}", archive(Member("w.npy", method=method, crc=1), Member("other.npy")), "ok", "W8", "digest-mismatch", None, "a wrong CRC-32"
    yield "ok-empty", archive(), "ok", None, None, None, "no member, as np.savez() has it"
    yield "ok-comment", archive(*small(), comment=b"PK\5\6" + b"\1" * 18 + b"PK\5\6\0"), "ok", None, None, None, "an end record within the comment"
    yield "ok-comment-long", archive(*small(), comment=b"PK" * 32767), "ok", None, None, None, "a comment of 65,534 bytes"
    yield "ok-zip64", archive(*small(), end64=True), "ok", None, None, None, "a zip64 end record"
    yield "ok-others", archive(Member("folder/", b""), Member("readme.txt", b"text"), Member("folder/w", method=DEFLATE), Member("__MACOSX/._w.npy", b"\0\5\26\7\0\2\0\0"),
                               Member("packed.txt", b"text", BZIP2)), "ok", None, None, None, "members that are no arrays"
    secret, lost = Member("secret.txt", b"text", flags=1), Member(b"\xff", b"text", header=2**31)
    yield "ok-unseen", archive(Member("w.npy"), secret), "ok", "ZP8", "zip-encrypted", "member 'secret.txt': it is encrypted", "an encrypted member of another name"
    yield "ok-unseen-name", archive(Member("w.npy"), lost), "ok", "ZP6", "zip-range", "member 1: its bytes would lie beyond the archive's directory", "a lost member whose name is in another code"
    yield "ok-unseen-two", archive(secret, lost, Member("w.npy")), "ok", "ZP8", "zip-encrypted", "member 'secret.txt': it is encrypted (the first of 2 members that could not be looked at)", "two members that cannot be looked at"
    lines = b"a text\n" * 9
    yield "ok-unseen-packed", archive(Member("w.npy"), Member("folder/notes.txt", lines, LZMA)), "ok", "E1", "unknown-encoding", "member 'folder/notes.txt': encoding 'lzma' is not known", "a packed member whose name tells that it is no array"
    yield "ok-unseen-small", archive(Member("w.npy"), Member("w", b"text", BZIP2)), "ok", None, None, None, "a packed member that is too small to be an array"
    for method, name in ((BZIP2, "bzip2"), (LZMA, "lzma"), (93, "zip.93")):
        member = Member("x.y/w", method=method)
        yield (f"unseen-{name.replace('.', '-')}", archive(member, Member("other.npy")), "lists_but_no_bytes", "E1", "unknown-encoding", f"encoding '{name}' is not known",
               f"a member packed by {name}, of another name than an array's", {"object": "x.y/w", "length": len(member.data), "decoded_length": None})
    yield ("unseen-encrypted", archive(Member("w", flags=1), Member("other.npy")), "lists_but_no_bytes", "ZP8", "zip-encrypted", "it is encrypted", "an encrypted member, of another name than an array's",
           {"object": "w", "length": None, "decoded_length": None})
    yield "unseen-alone", archive(Member("LICENSE", lines, BZIP2), Member("notes.txt", lines, BZIP2)), "open_error", "NZ3", "npz-empty", "a zip archive in which no member is a tensor file of a known format", "packed members alone, of which none is known to be an array"
    yield "ok-trailing", archive(Member("w.npy", array(data=ONES + b"more"), DEFLATE)), "ok", "NZ6", "npz-behind", "member 'w': 4 bytes follow behind its array", "bytes behind the data of a member"
    yield "ok-before", archive(Member("w.npy"), begin=b"PK\3\4" + bytes(60)), "ok", "ZP14", "zip-before", "64 bytes stand before the first member", "a member that was taken out of the directory"
    long = array(shaped("(4,)", f"[('{'a' * 3000}', '<f4')]"))
    yield "long-header-stored", archive(Member("w.npy", long), Member("v.npy")), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are records of several fields", "a header of 3 KB", {"object": "w"}
    yield "long-header-deflated", archive(Member("w.npy", long, DEFLATE), Member("v.npy")), "lists_but_no_dense", "L11", "no-values", "it has no values: its elements are records of several fields", "a header of 3 KB", {"object": "w"}


if __name__ == "__main__":
    write(HERE, "npz", [*directory_cases(), *member_cases(), *odd_cases()])
