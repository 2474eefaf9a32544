"""Write the files of this folder again: see README.md. Needs numpy, gguf 0.19.0 and libggml-python 0.20.2.post1 (PyPI)."""
import ctypes
import pathlib

import gguf
import libggml
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent

# Where the f16 scales of a block are
SCALES = {"q4_1": (0, 2), "q5_1": (0, 2), "q2_k": (80, 82), "q3_k": (108,), "q4_k": (0, 2), "q5_k": (0, 2), "q6_k": (208,), "tq1_0": (52,),
          "tq2_0": (64,), "mxfp4": (), "nvfp4": (), "iq1_m": ()}
ORDINARY = (0x2C35, 0xA8F1)
EXTREME = (0x0000, 0x8000, 0x0001, 0x83FF, 0x7BFF, 0x7C00, 0xFC00, 0x7D55)


class Traits(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("elements", ctypes.c_int64), ("interleave", ctypes.c_int64), ("bytes", ctypes.c_size_t),
                ("is_quantized", ctypes.c_bool), ("to_float", ctypes.c_void_p), ("from_float", ctypes.c_void_p)]


def blocks_of(name: str, size: int, rng: np.random.Generator) -> np.ndarray:
    scales = ORDINARY + EXTREME
    blocks = rng.integers(0, 256, (len(scales), size), dtype=np.uint8)
    for turn, at in enumerate(SCALES.get(name, (0,))):
        # A second scale has them in another order
        blocks[:, at:at + 2] = np.roll(np.array(scales, "<u2"), 5*turn).view(np.uint8).reshape(-1, 2)
    if name == "mxfp4":
        blocks[:, 0] = (127, 120, 0, 1, 2, 3, 252, 253, 254, 255)
    if name == "nvfp4":
        blocks[:, :4] = np.array((0x38, 0x41, 0, 1, 7, 8, 9, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF)*4, np.uint8)[:40].reshape(-1, 4)
    if name == "iq1_m":
        for k in range(4):
            blocks[:, 49 + 2*k] = blocks[:, 49 + 2*k] & 15 | (np.array(scales) >> 4*k & 15) << 4
    return blocks


def main() -> None:
    base = next(pathlib.Path(libggml.__file__).parent.rglob("libggml-base.so"))
    library = ctypes.CDLL(str(base))
    library.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
    rng = np.random.default_rng(14)
    for number in range(43):
        traits = library.ggml_get_type_traits(number)[0]
        if not traits.is_quantized or not traits.to_float:
            continue
        name = traits.name.decode().lower()
        blocks = blocks_of(name, traits.bytes, rng)
        values = np.empty(len(blocks)*traits.elements, "<f4")
        convert = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(traits.to_float)
        convert(blocks.ctypes.data, values.ctypes.data, values.size)
        values.view("<u4")[np.isnan(values)] = 0x7FC00000
        if name not in ("q1_0", "q2_0"):
            with np.errstate(all="ignore"):
                other = gguf.dequantize(blocks, gguf.GGMLQuantizationType(number)).ravel()
            assert np.array_equal(np.isnan(other), np.isnan(values))
            assert np.array_equal(other.view("<u4")[~np.isnan(other)], values.view("<u4")[~np.isnan(values)]), name
        (HERE / f"{name}.blocks").write_bytes(blocks.tobytes())
        (HERE / f"{name}.f32").write_bytes(values.tobytes())


main()
