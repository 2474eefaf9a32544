"""Writes files with the PyPI package gguf, and beside each what that package reads in it: write_gguf.py FOLDER"""
import sys
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

from foreign import Record

PLAIN = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I8": np.int8, "I16": np.int16, "I32": np.int32,
         "I64": np.int64}
NO_VALUES = {"Q8_1", "Q8_K", "Q1_0"}   # The package has no dequantizer for them
WRONG_SIZE = {"Q8_1"}                  # It gives a block 40 bytes where ggml has 36


def read(path):
    reader = GGUFReader(path)
    record = Record(path, "gguf", str(int(reader.fields["GGUF.version"].parts[-1][0])))
    for key, field in reader.fields.items():
        if not key.startswith("GGUF."):
            record.attribute(key, field.contents())
    for tensor in reader.tensors:
        kind = tensor.tensor_type.name.lower()
        plain = tensor.tensor_type.name in PLAIN or kind == "bf16"
        data = np.ascontiguousarray(tensor.data)
        data = data.astype(data.dtype.newbyteorder("<"))
        values = None
        if not plain and tensor.tensor_type.name not in NO_VALUES:
            values = dequantize(data.reshape(-1, data.shape[-1]), tensor.tensor_type).astype("<f4")
            values[np.isnan(values)] = np.nan   # One NaN for all
        record.tensor(tensor.name, "dense" if plain else "gguf." + kind, kind if plain else None,
                      [int(n) for n in tensor.shape[::-1]], data.tobytes(), values)
    return record


def note(path):
    read(path).save()


def metadata(writer):
    writer.add_uint8("k.u8", 200)
    writer.add_int8("k.i8", -100)
    writer.add_uint16("k.u16", 60000)
    writer.add_int16("k.i16", -30000)
    writer.add_uint32("k.u32", 4000000000)
    writer.add_int32("k.i32", -2000000000)
    writer.add_float32("k.f32", 0.1)
    writer.add_bool("k.true", True)
    writer.add_bool("k.false", False)
    writer.add_string("k.str", "Ünïcode 水 \n \"quoted\"")
    writer.add_uint64("k.u64", 2**63 - 1)
    writer.add_int64("k.i64", -2**63)
    writer.add_float64("k.f64", 0.1)
    writer.add_array("k.ints", [1, 2, 3])
    writer.add_array("k.floats", [0.5, -1.5])
    writer.add_array("k.strs", ["a", "", "水"])
    writer.add_array("k.bools", [True, False, True])


def write(path, add, endianess=GGUFEndian.LITTLE):
    writer = GGUFWriter(path, "test", endianess=endianess)
    add(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    note(path)


def main(folder):
    folder = Path(folder)
    rng = np.random.default_rng(14)

    def plain(writer):
        metadata(writer)
        for kind, dtype in PLAIN.items():
            for k, shape in enumerate([(7,), (3, 5), (2, 3, 4), (1, 2, 3, 4)]):
                data = (rng.standard_normal(shape) * 100).astype(dtype)
                writer.add_tensor(f"{kind}.{k}", data)

    def quantized(writer):
        for kind in GGMLQuantizationType:
            try:
                data = quantize((rng.standard_normal((3, 512)) * 10).astype(np.float32), kind)
            except NotImplementedError:
                continue
            if kind.name not in PLAIN:
                writer.add_tensor(f"{kind.name}.quantized", data, raw_dtype=kind)

    def blocks(writer):
        for kind in GGMLQuantizationType:
            if kind.name in PLAIN or kind.name in WRONG_SIZE or kind.name == "BF16":
                continue
            elements, size = GGML_QUANT_SIZES[kind]
            data = rng.integers(0, 256, (4, 2 * size), np.uint8)
            writer.add_tensor(f"{kind.name}.random", data, raw_dtype=kind)

    def vocabulary(writer):
        writer.add_array("tokenizer.ggml.tokens", [f"token {i}" for i in range(50000)])
        writer.add_array("tokenizer.ggml.scores", [float(i) for i in range(50000)])
        writer.add_tensor("t", np.zeros(3, np.float32))

    write(folder / "plain.gguf", plain)
    write(folder / "big.gguf", plain, GGUFEndian.BIG)
    write(folder / "quantized.gguf", quantized)
    write(folder / "blocks.gguf", blocks)
    write(folder / "vocabulary.gguf", vocabulary)


if __name__ == "__main__":
    main(sys.argv[1])
