"""Checkpoints of TensorFlow in plain Python: tables of LevelDB, after doc/table_format.md, with the messages of tensor_bundle.proto."""
import struct

MAGIC = 0xdb4775248b80fb57
F32, F64, I32, TEXT, BOOL, QINT8, INT4, F8 = 1, 2, 3, 7, 10, 11, 29, 24


def crc32c_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC32C = crc32c_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def masked(crc):
    return ((crc >> 15 | crc << 17) + 0xa282ead8) & 0xffffffff


def varint(n):
    n &= (1 << 64) - 1
    out = b""
    while n >= 0x80:
        out, n = out + bytes([n & 0x7f | 0x80]), n >> 7
    return out + bytes([n])


# ------------------------------------------------------------------------------------------------------- messages

def number(field, value):
    """A field with a varint; none if it is 0."""
    return varint(field << 3) + varint(value) if value else b""


def message(field, data):
    return varint(field << 3 | 2) + varint(len(data)) + data


def shape_of(shape):
    return b"".join(message(2, number(1, size)) for size in shape)


def header(shards=1, endianness=0, producer=1):
    return number(1, shards) + number(2, endianness) + message(3, number(1, producer))


def entry(dtype, shape, offset, size, crc=None, shard=0, slices=()):
    """A BundleEntryProto. crc: of the stored bytes, or None; slices: as of slice_key()."""
    extents = [b"".join(message(1, number(1, e[0]) + varint(2 << 3) + varint(e[1]) if e else b"") for e in extent) for extent in slices]
    return (number(1, dtype) + message(2, shape_of(shape)) + number(3, shard) + number(4, offset) + number(5, size)
            + (b"" if crc is None else varint(6 << 3 | 5) + struct.pack("<I", masked(crc))) + b"".join(message(7, e) for e in extents))


def signed_ordered(n):
    """A number so that bytes sort as numbers do: as many first bits as bytes, in a number's sign turned round, and two's complement."""
    length = (n if n >= 0 else ~n).bit_length() // 7 + 1
    mark = ((1 << length) - 1) << (length * 8 - length)
    return ((n & ((1 << length * 8) - 1)) ^ mark).to_bytes(length, "big")


def slice_key(name, extent):
    """The key of the slice: ((start, length), ...), or None for all of a dimension."""
    text = name.encode().replace(b"\xff", b"\xff\x00").replace(b"\0", b"\0\xff")
    return b"\0" + text + b"\0\1" + b"\1" + bytes([len(extent)]) + b"".join(signed_ordered(a) + signed_ordered(n) for a, n in (e or (0, -1) for e in extent))


def slice_text(extent):
    """The slice as tensorflow writes it."""
    return ":".join("-" if e is None else f"{e[0]},{e[1]}" for e in extent)


def ranges(shape, extent):
    """[(start, length)] of a slice."""
    return [e or (0, n) for e, n in zip(extent, shape)]


def cut(raw, shape, extent):
    """The bytes of a slice of an array."""
    elements = 1
    for n in shape:
        elements *= n
    width = len(raw) // elements

    def at(d, first):
        start, n = ranges(shape, extent)[d]
        if d + 1 == len(shape):
            return raw[(first * shape[d] + start) * width:][:n * width]
        return b"".join(at(d + 1, first * shape[d] + i) for i in range(start, start + n))

    return at(0, 0)


# --------------------------------------------------------------------------------------------------------- tables

def block(entries, restart=16, restarts=None):
    """The body of a block: keys share what they have in common with the key before, but each `restart`th."""
    out, places, last = b"", [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % restart == 0:
            places.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        last = key
    places = places or [0]
    return out + b"".join(struct.pack("<I", p) for p in places) + struct.pack("<I", len(places) if restarts is None else restarts)


def snappy(data):
    """A block of Snappy: copies of four bytes or more, at most 64, that are at most 65535 bytes away; else literals."""
    out, at, begin, seen = varint(len(data)), 0, 0, {}

    def literal(begin, end):
        found = b""
        while begin < end:
            n = min(end - begin, 1 << 16)
            found += (bytes([(n - 1) << 2]) if n <= 60 else bytes([60 << 2, n - 1]) if n <= 256 else b"\xf4" + struct.pack("<H", n - 1)) + data[begin:begin + n]
            begin += n
        return found

    while at + 4 <= len(data):
        word = data[at:at + 4]
        before = seen.get(word)
        seen[word] = at
        if before is None or at - before > 65535:
            at += 1
            continue
        n = 4
        while n < 64 and at + n < len(data) and data[before + n] == data[at + n]:
            n += 1
        distance = at - before
        out += literal(begin, at)
        if n <= 11 and distance < 2048:
            out += bytes([1 | (n - 4) << 2 | distance >> 8 << 5, distance & 0xff])
        elif at % 3:
            out += bytes([2 | (n - 1) << 2]) + struct.pack("<H", distance)
        else:
            out += bytes([3 | (n - 1) << 2]) + struct.pack("<I", distance)
        at += n
        begin = at
    return out + literal(begin, len(data))


def trailer(body, kind=0):
    return bytes([kind]) + struct.pack("<I", masked(crc32c(body + bytes([kind]))))


def handle(offset, size):
    return varint(offset) + varint(size)


def footer(metaindex, index):
    return (handle(*metaindex) + handle(*index)).ljust(40, b"\0") + struct.pack("<Q", MAGIC)


def table(entries, each=None, packed=False, restart=16):
    """A table of sorted (key, value); each: entries in a block, None: all."""
    out, places = b"", []
    entries = list(entries)

    def put(body):
        nonlocal out
        body, kind = (snappy(body), 1) if packed else (body, 0)
        place = len(out), len(body)
        out += body + trailer(body, kind)
        return place

    for i in range(0, max(len(entries), 1), each or max(len(entries), 1)):
        part = entries[i:i + (each or len(entries))]
        places.append(((part[-1][0] if part else b"") + b"\0", handle(*put(block(part, restart)))))
    metaindex, index = put(block([])), put(block(places, 1))
    return out + footer(metaindex, index)


def write(path, tensors, shards=1, endianness=0, producer=1, **how):
    """The files of a checkpoint. tensors: [(name, dtype, shape, bytes)], or with the shard's number behind; a name may be bytes, a key as it is. With
    slices behind the shard's number, the first of them is in that file, the next one in the next ..."""
    data, entries = [b""] * shards, []

    def put(key, dtype, shape, raw, shard):
        entries.append((key, entry(dtype, shape, len(data[shard]), len(raw), crc32c(raw), shard)))
        data[shard] += raw

    for name, dtype, shape, raw, *more in tensors:
        shard, slices = (*more, *(0, None)[len(more):])
        if not slices:
            put(name if isinstance(name, bytes) else name.encode(), dtype, shape, raw, shard)
            continue
        entries.append((name.encode(), entry(dtype, shape, 0, 0, slices=slices)))
        for i, extent in enumerate(slices):
            put(slice_key(name, extent), dtype, [n for _, n in ranges(shape, extent)], cut(raw, shape, extent), (shard + i) % shards)
    path.write_bytes(table([(b"", header(shards, endianness, producer)), *sorted(entries)], **how))
    for i, raw in enumerate(data):
        path.with_name(f"{path.name.removesuffix('.index')}.data-{i:05}-of-{shards:05}").write_bytes(raw)
