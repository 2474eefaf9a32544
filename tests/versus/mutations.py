"""Mutants of files that keep some of their structure: mutant(format, data, rng).

Bytes change anywhere, more often where headers are. Numbers become others, in binary and as text. Parts change places. The content of a
header is changed as a tree or as text, and then its lengths, digests and archives are made to fit again.
"""
import io
import json
import re
import struct
import sys
import zipfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "sql"))
import writer  # noqa: E402  (it is there only now)

ODD = [0, 1, 2, 3, 4, 7, 8, 15, 16, 31, 32, 63, 64, 65, 127, 128, 255, 256, 65535, 65536, 1 << 31, (1 << 31) - 1, (1 << 32) - 1, 1 << 32,
       1 << 53, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
DIGITS, WORD = re.compile(rb"\d+"), re.compile(rb"[A-Za-z_][A-Za-z0-9_]*")
BLANKS = [b" ", b"\n", b"\t", b"\0", b"\r", b"\xc2\xa0", b"", b",", b"'", b'"', b"\\", b"L", b"+", b"-", b"_", b"0", b".0", b"e0", b"#", b"/", b"\x0b"]


# --------------------------------------------------------------------------------------------------------- bytes

def place(data, rng):
    """The place of a byte, near the front or the end, where headers are, or anywhere."""
    near = min(len(data), rng.choice((64, 512, 4096)))
    return rng.choice((rng.randrange(near), rng.randrange(near), len(data) - 1 - rng.randrange(near), rng.randrange(len(data))))


def flip(data, rng):
    at = place(data, rng)
    data[at] ^= 1 << rng.randrange(8)


def overwrite(data, rng):
    data[place(data, rng)] = rng.choice((0, 1, 255, rng.randrange(256)))


def number(data, rng):
    """An integer of 1, 2, 4 or 8 bytes in either order, more often one that is small, becomes another."""
    width, order = rng.choice((1, 2, 4, 8)), rng.choice(("little", "little", "big"))
    if len(data) < width:
        return
    for _ in range(8):
        at = min(place(data, rng), len(data) - width)
        old = int.from_bytes(data[at:at + width], order)
        if 0 < old < 1 << 20:
            break
    data[at:at + width] = (near(old, rng) % (1 << 8 * width)).to_bytes(width, order)


def near(old, rng):
    return rng.choice((old + 1, old - 1, old * 2, old // 2, old + 8, old - 8, rng.choice(ODD), -old, old ^ (1 << rng.randrange(64)), rng.randrange(1 << 16)))


def swap(data, rng):
    length = rng.choice((1, 2, 4, 8, 16, 32))
    if len(data) >= 2 * length:
        a, b = (min(place(data, rng), len(data) - length) for _ in "ab")
        data[a:a + length], data[b:b + length] = data[b:b + length], data[a:a + length]


def move(data, rng):
    """Bytes are repeated elsewhere, or taken away."""
    length = rng.choice((1, 1, 2, 4, 8, 16, 64))
    a, b = place(data, rng), place(data, rng)
    if rng.random() < .5:
        data[b:b] = data[a:a + length]
    elif len(data) > length:
        del data[a:a + length]


def cut(data, rng):
    del data[max(1, rng.choice((len(data) - 1 - rng.randrange(min(len(data), 64)), rng.randrange(len(data))))):]


def grow(data, rng):
    data += rng.choice((b"\0", b"\0" * 8, b"\0" * 64, rng.randbytes(1 + rng.randrange(40))))


BYTES = (flip, flip, overwrite, number, number, number, number, swap, move, cut, grow)


def changed(data, rng, kinds=BYTES):
    """With one change, sometimes with more."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if data:
            rng.choice(kinds)(data, rng)
    return bytes(data)


# ---------------------------------------------------------------------------------------------------------- text

def digits(data, rng):
    found = list(DIGITS.finditer(data))
    if found:
        match = rng.choice(found)
        data[match.start():match.end()] = b"%d" % near(int(match[0][:30]), rng)


def word(data, rng):
    found = list(WORD.finditer(data))
    if found:
        match, other = rng.choice(found), rng.choice(found)[0]
        data[match.start():match.end()] = rng.choice((other, match[0].lower(), match[0].upper(), match[0][:-1], match[0] + b"x"))


def blank(data, rng):
    """Bytes are added between two tokens, or in one."""
    at = rng.choice([m.start() for m in re.finditer(rb"[\[\](){}:,'\"]", data)] or [0]) + rng.randrange(2)
    data[at:at] = rng.choice(BLANKS)


TEXT = (digits, digits, word, word, blank, blank, flip, overwrite, swap, move)


# --------------------------------------------------------------------------------------------------------- trees

def places(tree):
    """[(map or list, key)] of all that is in a tree."""
    for key, value in list(tree.items()) if isinstance(tree, dict) else list(enumerate(tree)):
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from places(value)


def other_value(value, all, rng):
    if isinstance(value, bool) or value is None:
        return rng.choice((True, False, None, 0, 1, "", []))
    if isinstance(value, int) and rng.random() < .9:
        return near(value, rng)
    if isinstance(value, str) and rng.random() < .9:
        texts = [parent[key] for parent, key in all if isinstance(parent[key], str)]
        return rng.choice((rng.choice(texts), value.upper(), value.lower(), value[:-1], value + "x", "", value + "\0", value + "\u00e9"))
    if isinstance(value, list) and rng.random() < .7:
        return rng.choice((value[:-1], value + value[-1:], value[::-1], value + [1], [0] + value, [1] * 65, value + [0]))
    parent, key = rng.choice(all)
    return rng.choice((parent[key], None, True, -1, 1.5, 2.0, "", "1", [], {}, [value], 1e300))


def change(tree, rng):
    """Changes one place."""
    all = list(places(tree))
    if not all:
        return
    parent, key = rng.choice(all)
    kind = rng.random()
    if kind < .7:
        parent[key] = other_value(parent[key], all, rng)
    elif kind < .8:
        del parent[key]
    elif kind < .9 and isinstance(parent, dict):
        names = [k for p, k in all if isinstance(k, str)]
        parent[rng.choice((rng.choice(names), str(key) + "x", "", str(key)[:-1], "\u00e9" + str(key)))] = parent[key]
    else:
        other, place = rng.choice(all)
        parent[key], other[place] = other[place], parent[key]


def tree_changed(tree, rng):
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        change(tree, rng)
    return tree


# ------------------------------------------------------------------------------------------------------- formats

def safetensors(data, rng):
    length = int.from_bytes(data[:8], "little")
    header, body = data[8:8 + length], data[8 + length:]
    if rng.random() < .5:
        header = changed(header, rng, TEXT)
    else:
        header = json.dumps(tree_changed(json.loads(header), rng), ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    if rng.random() < .3:
        body = changed(body, rng, (grow, cut))
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + body


def npy(data, rng):
    begin = 10 if data[6] == 1 else 12
    length = int.from_bytes(data[8:begin], "little")
    header = changed(data[begin:begin + length].rstrip(b" \n"), rng, TEXT)
    header += b" " * (-(begin + len(header) + 1) % rng.choice((64, 64, 16, 1))) + b"\n"
    return data[:8] + (len(header) % (1 << 8 * (begin - 8))).to_bytes(begin - 8, "little") + header + data[begin + length:]


def npz(data, rng):
    """Another archive of the members, of which some are changed; their sums are right."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        infos = old.infolist()
        chosen = rng.choice(infos).filename if infos else None
        for info in infos:
            content, name = old.read(info), info.filename
            if name == chosen and content[:6] == b"\x93NUMPY":
                content = rng.choice((npy, changed))(content, rng)
            if rng.random() < .1:
                name = rng.choice((name.removesuffix(".npy"), name + ".npy", name.upper(), "a/../" + name, "/" + name, rng.choice(infos).filename, name + "\u00e9"))
            new.writestr(zipfile.ZipInfo(name), content, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
    return out.getvalue()


def uncbor(data, at=0):
    """(value, end). The manifests of test files have no tags, and nothing indefinite."""
    major, argument, at = data[at] >> 5, data[at] & 31, at + 1
    if argument >= 24:
        width = 1 << argument - 24
        if argument > 27:
            raise ValueError("indefinite")
        argument, at = int.from_bytes(data[at:at + width], "big"), at + width
    if major < 2:
        return (argument if major == 0 else -1 - argument), at
    if major < 4:
        found = data[at:at + argument]
        return (found if major == 2 else found.decode()), at + argument
    if major > 5:
        raise ValueError("no such value here") if major == 6 or argument not in (20, 21, 22) else None
        return {20: False, 21: True, 22: None}[argument], at
    items = []
    for _ in range(argument * (major - 3)):
        item, at = uncbor(data, at)
        items.append(item)
    return (items if major == 4 else dict(zip(items[::2], items[1::2]))), at


def manifest(bytes_, rng, encode):
    """A manifest that says something else."""
    if rng.random() < .3:
        return changed(bytes_, rng)
    return writer.cbor(encode(tree_changed(uncbor(bytes_)[0], rng)))


def ztensor_1(data, rng):
    end = len(data) - (16 if data.endswith(writer.MAGIC_1) else 8)
    length = int.from_bytes(data[end:end + 8], "little")
    new = manifest(data[end - length:end], rng, lambda tree: tree)
    return data[:end - length] + new + struct.pack("<Q", len(new)) + data[end + 8:]


def ztensor_2(data, rng):
    offset, length = struct.unpack_from("<QQ", data, len(data) - 40)
    new = manifest(data[offset:offset + length], rng, writer.deterministic)
    return data[:offset] + new + writer.footer_2(offset, new)


FORMATS = {"safetensors": safetensors, "npy": npy, "npz": npz, "ztensor-1": ztensor_1, "ztensor-2": ztensor_2}


def mutant(format, data, rng):
    """The header changes and is made to fit in two of three cases, if the format has one; else bytes change."""
    if format in FORMATS and rng.random() < .67:
        try:
            return FORMATS[format](data, rng)
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, UnicodeError, RecursionError, AttributeError, NotImplementedError,
                zipfile.BadZipFile, struct.error):
            pass    # The seed is not of that form
    return changed(data, rng)
