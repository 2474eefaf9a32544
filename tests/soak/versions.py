"""Writes the files that the soak puts in place again and again: python3 tests/soak/versions.py build/soak/versions

Below the directory there is one for each version, 1 to VERSIONS, with the same names in each. Every value in a file of
version v is v, and so is its attribute `version`; digests are right, and all versions of a file have the same size, so that
nothing but the content (and what the system says of a file) tells them apart. The shard alone has a size of its own in each
version, since its size is what a model knows its shard by.
"""
import os
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "sql"))
import writer  # noqa: E402

VERSIONS = 5
SIDE = 16          # Side of the sparse matrices, every cell of which is stored
ROWS, COLUMNS = 64, 32
LARGE = 1 << 18    # Bytes of the object `large`
FRAME = 1 << 13    # Bytes of a seekable frame
HUGE = 1 << 26     # Bytes of the file for long statements, which is a hole but for its end


def f32(version, count):
    return struct.pack("<f", version) * count


def with_digest(object, field="digest"):
    """Every component that has none gets a digest of its stored bytes."""
    parts = {role: {field: writer.sha256(part["bytes"]), **part} for role, part in object["components"].items()}
    return dict(object, components=parts)


def cells():
    return [(row, column) for row in range(SIDE) for column in range(SIDE)]


def sparse(version):
    columns = [column for _, column in cells()]
    values = f32(version, SIDE * SIDE)
    return {"csr": writer.sparse_csr([SIDE, SIDE], [SIDE * i for i in range(SIDE + 1)], columns, values, "f32"),
            "coo": writer.sparse_coo([SIDE, SIDE], cells(), values, "f32")}


def sparse_0_1(version):
    """Indices and values in one blob."""
    u64, n = struct.Struct("<Q").pack, SIDE * SIDE
    value = f32(version, 1)
    csr = b"".join(u64(SIDE * i) for i in range(SIDE + 1)) + b"".join(u64(column) for _, column in cells()) + value * n
    coo = b"".join(u64(row) + u64(column) + value for row, column in cells())
    return {"csr": dict(writer.dense(csr, [SIDE, SIDE], "f32"), format="sparsecsr"),
            "coo": dict(writer.dense(coo, [SIDE, SIDE], "f32"), format="sparsecoo")}


def quantized(version, generation):
    """Codes that are all 1, and a scale that is the version."""
    codes, scales = [1] * (ROWS * COLUMNS), f32(version, ROWS)
    if generation != "2":
        return writer.quantized([ROWS, COLUMNS], codes, 4, COLUMNS, "i32", scales, f32(0, ROWS))
    attributes = {"bits": 4, "group_size": COLUMNS, "axis": 1, "scale_form": "f32_factors", "zero_point": {"form": "none"},
                  "packing": {"word": "u32", "order": "lsb_first", "per_word": 8}}
    return {"shape": [ROWS, COLUMNS], "format": "zt.quant_group/1", "attributes": attributes,
            "components": {"data": {"dtype": "u32", "bytes": writer.packed(codes, 4, "u32")},
                           "scales": {"dtype": "f32", "bytes": scales}}}


def compressed(version, generation):
    data = f32(version, ROWS * COLUMNS)
    if generation == "2":
        return writer.seekable_dense(data, FRAME, [ROWS, COLUMNS], "f32", digest=writer.sha256(data))
    object = writer.zstd_parts(writer.dense(data, [ROWS, COLUMNS], "f32"))
    if generation in ("0.1", "1.0"):
        del object["components"]["data"]["uncompressed_length"]
    return object


def objects(version, generation):
    """The same names in every generation; `packed` is quantized where a generation can say so."""
    plain = writer.dense(f32(version, ROWS * COLUMNS), [ROWS, COLUMNS], "f32")
    all = {"dense": plain, "compressed": compressed(version, generation), "large": writer.dense(bytes([version]) * LARGE),
           "packed": plain if generation in ("0.1", "1.0") else quantized(version, generation),
           **(sparse_0_1(version) if generation == "0.1" else sparse(version))}
    all = {name: with_digest(object, "checksum" if generation == "0.1" else "digest") for name, object in all.items()}
    if generation != "1.0":
        all["dense"]["attributes"] = {"version": version}
    return all


def whole(version, generation):
    return writer.write(objects(version, generation), generation, None if generation == "0.1" else {"version": version})


def sharded(version):
    """A model whose object `large` is in a shard, and that shard."""
    data = bytes([version]) * (version * writer.ALIGNMENT_2)
    shard = writer.data_shard(data)
    large = writer.in_shard("part", writer.ALIGNMENT_2, len(data), digest=writer.sha256(data))
    model = writer.write_2({**objects(version, "2"), "large": large}, {"version": version}, {"part": shard})
    return model, shard


def files(version):
    model, shard = sharded(version)
    return {**{f"v{g}.zt": whole(version, g) for g in ("0.1", "1.0", "1.1", "1.2", "2")},
            "rewritten.zt": whole(version, "1.2"), "rewritten2.zt": whole(version, "2"),
            "sharded.zt": model, "sharded-part.zt": shard}


def main(directory):
    os.makedirs(directory, exist_ok=True)
    for version in range(1, VERSIONS + 1):
        folder = os.path.join(directory, str(version))
        os.makedirs(folder, exist_ok=True)
        for name, data in files(version).items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(data)
    writer.sparse_file(os.path.join(directory, "huge.zt"), [HUGE // 4], "f32", HUGE, f32(1, 1))


if __name__ == "__main__":
    main(*sys.argv[1:])
