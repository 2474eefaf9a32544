"""Names of types, as people and other tools write them."""
from .session import Trouble, quote

# Each of ztensor's types with its other names, in lower case. Names on which tools disagree (float, int, long) are not here
SPELLINGS = {
    "f64": "float64 double <f8 >f8 =f8 fp64", "f32": "float32 single <f4 >f4 =f4 fp32", "f16": "float16 half <f2 >f2 =f2 fp16",
    "bf16": "bfloat16", "i64": "int64 <i8 >i8 =i8", "i32": "int32 <i4 >i4 =i4", "i16": "int16 short <i2 >i2 =i2", "i8": "int8 |i1",
    "u64": "uint64 <u8 >u8 =u8", "u32": "uint32 <u4 >u4 =u4", "u16": "uint16 <u2 >u2 =u2", "u8": "uint8 byte |u1", "bool": "bool_ boolean |b1",
    "f8_e4m3fn": "f8_e4m3 float8_e4m3fn fp8_e4m3fn fp8_e4m3", "f8_e5m2": "float8_e5m2 fp8_e5m2", "f8_e4m3fnuz": "float8_e4m3fnuz",
    "f8_e5m2fnuz": "float8_e5m2fnuz", "f8_e8m0": "float8_e8m0fnu f8_e8m0fnu", "f4_e2m1": "float4_e2m1fn f4_e2m1fn fp4", "f6_e2m3": "float6_e2m3fn",
    "f6_e3m2": "float6_e3m2fn", "i4": "int4", "u4": "uint4", "i2": "int2", "u2": "uint2", "complex64": "c64 cfloat <c8 >c8 =c8",
    "complex128": "c128 cdouble <c16 >c16 =c16",
    **dict.fromkeys("q4_0 q4_1 q5_0 q5_1 q8_0 q8_1 q2_k q3_k q4_k q5_k q6_k q8_k iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s iq4_nl iq4_xs"
                    " tq1_0 tq2_0 mxfp4 nvfp4 q1_0 q2_0 mxfp6_e2m3 mxfp6_e3m2 mxfp8_e4m3 mxfp8_e5m2 mxint8 qint8 quint8".split(), "")}
CANONICAL = {spelling: dtype for dtype, others in SPELLINGS.items() for spelling in (dtype, *others.split())}
AMBIGUOUS = {"float": "f32, f64", "int": "i32, i64", "long": "i32, i64", "fp8": "f8_e4m3fn, f8_e5m2", "float8": "f8_e4m3fn, f8_e5m2",
             "complex": "complex64, complex128"}
PREFIXES = ("torch.", "numpy.", "np.", "ml_dtypes.", "jnp.", "tf.", "ggml_type_", "gguf.")

_MX = """CASE type WHEN 'f4_e2m1' THEN 'mxfp4' WHEN 'f6_e2m3' THEN 'mxfp6_e2m3' WHEN 'f6_e3m2' THEN 'mxfp6_e3m2'
          WHEN 'f8_e4m3fn' THEN 'mxfp8_e4m3' WHEN 'f8_e5m2' THEN 'mxfp8_e5m2' WHEN 'i8' THEN 'mxint8' ELSE format END"""
_BITS = """CASE WHEN json_valid(attributes) THEN CASE WHEN json_type(attributes, '$.bits') = 'integer' AND
          json_extract(attributes, '$.bits') IN (1, 2, 3, 4, 5, 6, 7, 8, 16) THEN 'int' || json_extract(attributes, '$.bits') END END"""

# The type of a tensor's elements in a row of zt_objects, as SQL. The storage of quantized and other packed elements says nothing about them
LOGICAL = f"""CASE WHEN format IN ('dense', 'sparse_csr', 'sparse_coo') THEN type
     WHEN format GLOB 'gguf.*' THEN replace(substr(format, 6), '/1', '')
     WHEN format IN ('quantized_group', 'zt.quant_group/1') THEN coalesce({_BITS}, format)
     WHEN format = 'zt.mx/1' THEN {_MX}
     WHEN format IN ('torch.qint8', 'torch.quint8', 'torch.qint32', 'torch.quint4x2', 'torch.quint2x4') THEN substr(format, 7)
     WHEN coalesce(type, 'u8') = 'u8' AND (format GLOB 'tensorflow.?*' OR format GLOB 'numpy.?*' OR format GLOB 'hdf5.?*' OR
          format GLOB 'tflite.?*' OR format GLOB 'onnx.?*') THEN substr(format, instr(format, '.') + 1)
     ELSE coalesce(type, dtype) END"""


_KINDS = ("format", "dtype", "type", "bits")   # Keys of zt_files.types that decide LOGICAL


def kind(counted):
    """The values that decide LOGICAL, of the tensors that an object of zt_files.types counts."""
    return tuple(map(counted.get, _KINDS))


def of_kinds(session, kinds):
    """LOGICAL by kind."""
    import json

    kinds = list(kinds)
    columns = ", ".join(f"json_extract(value, '$[{at}]') AS {name}" for at, name in enumerate(_KINDS))
    rows = session.bound(f"WITH kinds AS (SELECT {columns} FROM json_each(?)), tensors AS (SELECT *, json_object('bits', bits) AS attributes FROM kinds)"
                         f" SELECT {LOGICAL} FROM tensors", json.dumps(kinds))
    return dict(zip(kinds, (name for (name,) in rows)))


def canonical(name):
    """ztensor's name of a type, or None if the name is not known."""
    plain = name.strip().lower()
    for prefix in PREFIXES:
        plain = plain.removeprefix(prefix)
    return CANONICAL.get(plain)


def similar(name, among=SPELLINGS):
    """The end of a message about an unknown name. `among` are the types that would do."""
    import difflib

    plain = name.strip().lower()
    if plain in AMBIGUOUS:
        return f"'{name}' may mean several types: {AMBIGUOUS[plain]}"
    near = difflib.get_close_matches(plain, CANONICAL, 3)
    near = list(dict.fromkeys(CANONICAL[spelling] for spelling in near if CANONICAL[spelling] in among))
    return f"'{name}' is no type" + (f"; did you mean {' or '.join(near)}?" if near else f": {', '.join(among)}")


def is_known(name):
    """Whether it is a pattern, or a spelling of a type."""
    return _is_pattern(name) or canonical(name) is not None


def _is_pattern(name):
    return bool(set(name) & set("*?["))


def condition(name):
    """SQL that is true for the tensors of a type: any spelling of a type, a pattern such as 'q4*', or a name that only files know."""
    if _is_pattern(name):
        return f"{LOGICAL} GLOB {quote(name)}"
    if name.strip().lower() in AMBIGUOUS:
        raise Trouble(f"--dtype: {similar(name)}")
    return f"{LOGICAL} IN ({quote(canonical(name) or name)}, {quote(name)})"
