"""Names of types as people give them: those of the format, and what numpy, torch, safetensors and GGUF call the same."""
import numpy
import pytest

import reference
import writer
from support import message, rows, value

# Ours: (numpy and torch, safetensors and GGUF)
NAMES = {
    "f64": ("float64", "F64"), "f32": ("float32", "F32"), "f16": ("float16", "F16"), "bf16": ("bfloat16", "BF16"),
    "i64": ("int64", "I64"), "i32": ("int32", "I32"), "i16": ("int16", "I16"), "i8": ("int8", "I8"),
    "u64": ("uint64", "U64"), "u32": ("uint32", "U32"), "u16": ("uint16", "U16"), "u8": ("uint8", "U8"), "bool": ("bool", "BOOL"),
    "f8_e4m3fn": ("float8_e4m3fn", "F8_E4M3"), "f8_e5m2": ("float8_e5m2", "F8_E5M2"),
    "f8_e4m3fnuz": ("float8_e4m3fnuz", "F8_E4M3FNUZ"), "f8_e5m2fnuz": ("float8_e5m2fnuz", "F8_E5M2FNUZ"),
    "f8_e8m0": ("float8_e8m0fnu", "F8_E8M0"), "f4_e2m1": ("float4_e2m1fn", "F4"), "i4": ("int4", "I4"), "u4": ("uint4", "U4"), "i2": ("int2", "I2"), "u2": ("uint2", "U2"), "complex64": ("complex64", "C64"),
    "complex128": ("complex128",)}
OF_NUMPY = ["f64", "f32", "f16", "i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8", "bool", "complex64", "complex128"]
ALL = [(name, ours) for ours, names in NAMES.items() for name in {ours, *names, "torch." + names[0]}]
ALL += [("double", "f64"), ("torch.double", "f64"), ("half", "f16"), ("torch.half", "f16")]
ALL += [(numpy.dtype(NAMES[ours][0]).str, ours) for ours in OF_NUMPY]

VALUES = [1.0, 0.5, 1.0, 0.25]
FILE = writer.write({"w": writer.dense(reference.encode("f32", VALUES), [2, 2], "f32")})


@pytest.mark.parametrize("name, ours", sorted(ALL))
def test_a_name_of_another_means_the_same_type(db, name, ours):
    assert value(db, "SELECT zt_dense(?1, 'w', ?2) = zt_dense(?1, 'w', ?3)", FILE, name, ours) == 1
    assert value(db, "SELECT zt_json(?1, 'w', ?2) = zt_json(?1, 'w', ?3)", FILE, name, ours) == 1
    got = rows(db, "SELECT dtype, vector FROM zt_rows(?1, 'w', ?2)", FILE, name)
    assert got == [(name, vector) for vector, in rows(db, "SELECT vector FROM zt_rows(?1, 'w', ?2)", FILE, ours)]


@pytest.mark.parametrize("ours", OF_NUMPY)
def test_bytes_are_those_of_numpy_for_the_names_of_its_types(db, ours):
    dtype = numpy.dtype(NAMES[ours][0])
    for name in (dtype.name, dtype.str):
        assert value(db, "SELECT zt_dense(?, 'w', ?)", FILE, name) == numpy.array(VALUES, "float32").astype(dtype).tobytes()


# 'float' is 64 bits in numpy and 32 in torch, 'int' and 'long' are of the machine, 'f8' is 8 bytes to numpy and 8 bits to others,
# '>f4' is not what a result is, and ml_dtypes' float8_e4m3 has infinities.
UNKNOWN = ["", "f32 ", " f32", "f3", "f128", "float", "int", "long", "f4", "f8", ">f4", "=f4", "<u1", "float8_e4m3", "f8_e4m3", "int3", "<i3",
           "Float32", "FLOAT32", "Bool", "f32\0", "torch.", "torch.f32", "torch.F32", "torch.<f4", "torch.torch.float32", "Q8_0", 32,
           b"f32"]


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_name_is_an_error_that_lists_the_types(db, name):
    calls = ["SELECT zt_dense(?, 'w', ?)", "SELECT zt_json(?, 'w', ?)"]
    if isinstance(name, (int, str)) and "\0" not in str(name):
        calls.append("SELECT * FROM zt_rows(?, 'w', ?)")
    for sql in calls:
        text = message(db, sql, FILE, name)
        if "\0" in str(name):
            assert text.endswith("the dtype has U+0000 in it")
            continue
        assert text.startswith("ztensor: ") and "is not known" in text
        assert all(f" {ours}" in text for ours in NAMES)


def test_the_message_about_an_unknown_name_has_it(db):
    assert "dtype 'float99' is not known" in message(db, "SELECT zt_dense(?, 'w', 'float99')", FILE)


@pytest.mark.parametrize("name", ["float32", "F32", "BF16", "<f4", "torch.float32"])
def test_a_file_that_names_a_type_so_is_not_understood(db, name):
    file = writer.write({"w": writer.dense(bytes(4), [1], name)})
    assert rows(db, "SELECT dtype, type FROM zt_objects(?)", file) == [(name, name)]
    assert name in message(db, "SELECT zt_dense(?, 'w')", file)
