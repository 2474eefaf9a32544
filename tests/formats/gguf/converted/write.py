#!/usr/bin/python3
"""Writes a small model three times into this folder: model.safetensors, model.zt converted from it, and model.gguf with its
matrices quantized. Needs PyPI's gguf 0.19.0, safetensors 0.8.0 and ztensor 2.1.2."""
from pathlib import Path

import gguf
import numpy
import safetensors.numpy
import ztensor

HERE = Path(__file__).resolve().parent
TYPES = {"embed.weight": gguf.GGMLQuantizationType.Q8_0, "blk.0.up.weight": gguf.GGMLQuantizationType.Q4_0,
         "norm.weight": gguf.GGMLQuantizationType.F32}


def main():
    random = numpy.random.default_rng(14)
    model = {name: random.normal(0, 0.02, shape).astype(numpy.float16 if len(shape) > 1 else numpy.float32)
             for name, shape in (("embed.weight", (16, 64)), ("blk.0.up.weight", (8, 64)), ("norm.weight", (64,)))}
    safetensors.numpy.save_file(model, HERE / "model.safetensors")
    ztensor.convert(str(HERE / "model.safetensors"), str(HERE / "model.zt"), align=4096)
    writer = gguf.GGUFWriter(HERE / "model.gguf", "llama")
    writer.add_name("converted")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    for name, array in model.items():
        quantized = gguf.quants.quantize(array.astype(numpy.float32), TYPES[name])
        writer.add_tensor(name, quantized, raw_dtype=TYPES[name])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
