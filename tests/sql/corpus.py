"""The golden and the hostile files, and what the SQL interface must say about them."""
import functools
import json
import math
import struct
from fractions import Fraction
from pathlib import Path

from support import ROOT

FORMATS = ROOT / "tests" / "formats"
GOLDEN, HOSTILE = FORMATS / "ztensor" / "golden", FORMATS / "ztensor" / "hostile"
# Where an object's values are: the first of these roles that it has gives its dtype and type.
VALUE_ROLES = ("data", "values", "packed_weight", "real")
# Formats whose values the model knows, though expected.json leaves them open.
QUANTIZED = ("quantized_group", "zt.quant_group/1", "zt.mx/1")
WIDTHS = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "i32": 4, "i16": 2, "i8": 1,
          "u64": 8, "u32": 4, "u16": 2, "u8": 1, "bool": 1}
# logical type: (its storage type, storage elements per element)
TYPES = {"f8_e4m3fn": ("u8", 1), "f8_e5m2": ("u8", 1), "f8_e4m3fnuz": ("u8", 1), "f8_e5m2fnuz": ("u8", 1),
         "complex64": ("f32", 2), "complex128": ("f64", 2)}
# The same of zTensor 2, where a bool is one of them.
TYPES_2 = {**TYPES, "bool": ("u8", 1), "f8_e8m0": ("u8", 1), "f4_e2m1": ("u8", Fraction(1, 2))}
INT64 = range(-(1 << 63), 1 << 63)


# --------------------------------------------------------------------------------------------------------- files

def formats():
    """The names of the formats: the folders below tests/formats."""
    return sorted(path.name for path in FORMATS.iterdir() if path.is_dir())


def is_data(path):
    """Whether it is a file of data beside the index of a checkpoint, and no file to open."""
    return path.suffix.startswith(".data-")


@functools.lru_cache(maxsize=None)
def golden(format="ztensor"):
    """[(name, path, expectation)] of one format, sorted by name: a file, and the X.expected.json beside it."""
    found = []
    for expectation in (FORMATS / format).rglob("*.expected.json"):
        stem, expected = expectation.name.removesuffix(".expected.json"), json.loads(expectation.read_text())
        if not stem.endswith(".index"):    # Of several files
            path, = (p for p in expectation.parent.glob(stem + ".*") if p.stem == stem and not is_data(p))
            found.append((str(path.relative_to(FORMATS / format).with_suffix("")).removeprefix("golden/"), path, expected))
    return sorted(found, key=lambda g: g[0])


@functools.lru_cache(maxsize=None)
def hostile(format=None):
    """The cases of one format, or of all, as dicts with the `format` and the file's `path`, too."""
    defaults = {"object": None, "finding": None}
    return [{**defaults, **case, "format": name, "path": FORMATS / name / "hostile" / case["file"]} for name in formats()
            if format in (None, name) for case in json.loads((FORMATS / name / "hostile" / "cases.json").read_text())]


@functools.lru_cache(maxsize=None)
def elsewhere(format):
    """{finding: the test that makes such a file}: of those that are too large for a folder, or are made anew each time."""
    path = FORMATS / format / "hostile" / "elsewhere.json"
    return json.loads(path.read_text()) if path.exists() else {}


def findings():
    """The findings of zt_check in the hostile files, by slug."""
    return {case["finding"] for case in hostile()} - {None} | {found for format in formats() for found in elsewhere(format)}


def source_of(path, how):
    """A file as the argument of a table or function: its path, or its bytes."""
    return str(path) if how == "path" else Path(path).read_bytes()


def seen(expected, how):
    """An expectation of a file, as a BLOB of it has it: what is called by the file's name then has none, arrays and shards."""
    if expected.get("container") not in ("npy", "tensorflow") or how == "path":
        return expected
    stem = len(Path(expected["file"]).stem)
    if expected["container"] == "npy":
        return {**expected, "objects": [{**object, "name": "data" + object["name"][stem:]} for object in expected["objects"]]}
    return {**expected, "objects": [{**object, "components": [{**c, "shard": "data" + c["shard"][stem:]} for c in object["components"]]}
                                    for object in expected["objects"]]}


def path_of(source):
    """The column `path` for a source that is one file."""
    return None if isinstance(source, bytes) else source


# -------------------------------------------------------------------------------------------------------- values

class Map(list):
    """A JSON object or CBOR map as [(key, value)]: keeps order and repeated keys."""

    def __repr__(self):
        return "Map" + super().__repr__()


def parse(text):
    """JSON text; objects become Map. Compare parsed values with repr(), which tells 1 from 1.0 and -0.0 from 0.0."""
    return json.loads(text, object_pairs_hook=Map)


def plain(value):
    """A value of expected.json as the JSON a table shows: bytes as hex, undefined as null, no tags, text keys."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if not isinstance(value, dict):
        return value
    if "$bytes" in value:
        return value["$bytes"]
    if "$float" in value:
        return {"NaN": None, "Infinity": float("inf"), "-Infinity": float("-inf")}[value["$float"]]
    if "$undefined" in value or "$simple" in value:
        return None
    if "$tag" in value:
        return untagged(value)
    return Map((key_text(k), plain(v)) for k, v in pairs(value))


def untagged(value):
    """A bignum (tags 2 and 3, RFC 7049 section 2.4.2) is an integer; of any other tag the value is left."""
    inner = value["value"]
    if value["$tag"] in (2, 3) and isinstance(inner, dict) and "$bytes" in inner:
        number = int(inner["$bytes"] or "0", 16)
        return number if value["$tag"] == 2 else -1 - number
    return plain(inner)


def pairs(map_value):
    return map_value["$map"] if "$map" in map_value else map_value.items()


def key_text(key):
    """A map key as text: text as it is, anything else as its JSON form (a byte string: its hex digits)."""
    form = plain(key)
    return form if isinstance(form, str) else json.dumps(form, separators=(",", ":"))


def sql_value(value):
    """(value, type) of zt_attributes for a value of expected.json; a JSON column as its parsed form."""
    if isinstance(value, dict) and "$tag" in value:
        inner = untagged(value)
        # An integer is ready; anything else must not lose the difference between bytes and text.
        return integer(inner) if is_integer(inner) else sql_value(value["value"])
    if isinstance(value, dict):
        if "$bytes" in value:
            return bytes.fromhex(value["$bytes"]), "blob"
        if "$float" in value:
            return plain(value), "real"
        if "$undefined" in value or "$simple" in value:
            return None, "null"
        return plain(value), "object"
    if isinstance(value, list):
        return plain(value), "array"
    if value is None:
        return None, "null"
    if isinstance(value, bool):
        return int(value), "true" if value else "false"
    if isinstance(value, float):
        return value, "real"
    return integer(value) if is_integer(value) else (value, "text")


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def integer(value):
    """An integer is TEXT where SQLite's 64 bits do not hold it."""
    return (value if value in INT64 else str(value)), "integer"


# ---------------------------------------------------------------------------------- what the tables say of a file

def decoded_length(object, component):
    """The decoded length in the manifest; None if only decoding shows it."""
    if "verbatim" not in component:    # No zTensor file's
        return component["decoded_length"]
    stated = component["verbatim"].get("uncompressed_length")
    if component["encoding"] == "raw":
        return component["length"]
    if component["encoding"] == "zt.zstd-seekable/1":
        return component["decoded_length"]
    if component["encoding"] != "zstd":
        return None
    if stated is not None:
        return stated
    if object["format"] == "dense" and component["name"] == "data":
        return dense_size(object["elements"], component["dtype"], component["type"])
    return None


def dense_size(elements, dtype, type, types=TYPES):
    """Bytes of a dense array, None for an unknown type."""
    storage, ratio = types.get(type or dtype, (type or dtype, 1))
    return math.ceil(elements * ratio) * WIDTHS[dtype] if storage == dtype and dtype in WIDTHS else None


def total(values):
    """A sum that is unknown when one of its terms is."""
    return None if None in values else sum(values)


def container_of(expected):
    """The columns container and version of a file."""
    return expected.get("container", "ztensor"), "0.1.0" if expected.get("generation") == "0.1" else expected["version"]


def object_row(path, object):
    """The visible columns of zt_objects; `attributes` and `shape` parsed."""
    parts = object["components"]
    by_role = {c["name"]: c for c in parts}
    holder = object if object["format"] == "tensorflow.sliced" else next((by_role[role] for role in VALUE_ROLES if role in by_role), None)
    return (path, object["name"], object["format"],
            holder and holder["dtype"], (holder and holder["name"] == "real" and object["type"]) or (holder and logical_type(holder)),
            object["shape"], len(object["shape"]), integer(object["elements"])[0], len(parts),
            total([c["length"] for c in parts]), total([decoded_length(object, c) for c in parts]),
            plain(object["attributes"] or {}))


def logical_type(component):
    return component["dtype"] if component["type"] is None else component["type"]


def component_row(path, object, component):
    """The visible columns of zt_components."""
    return (path, object["name"], component["name"], component["dtype"], logical_type(component),
            component["encoding"], component["byte_order"], component["offset"], component["length"],
            decoded_length(object, component), component.get("digest"), component.get("shard"))


def components_of(expected):
    """[(object, component)] in manifest order."""
    return [(o, c) for o in expected["objects"] for c in o["components"]]


def in_reach(objects, how):
    """Those of the objects, or of (object, component), all of whose bytes are there: of a BLOB only what is in no shard."""
    return [item for item in objects if not out_of_reach(item, how)]


def out_of_reach(item, how):
    """The components of an object, or the one of (object, component), whose bytes are not there. A shard's that is missing
    have no hash."""
    components = [item[1]] if isinstance(item, tuple) else item["components"]
    return [c for c in components if c.get("shard") and (how == "blob" or c["stored_sha256"] is None)]


def digest_status(component):
    """By expected.json where it could tell; else by the text: no algorithm, or one that 0.1 to 1.2 do not know."""
    digest = component["digest"]
    if digest is None:
        return None
    if component["digest_ok"] is not None:
        return "ok" if component["digest_ok"] else "mismatch"
    return unverifiable(digest)


def unverifiable(digest):
    algorithm, colon, _ = digest.partition(":")
    return "unsupported" if colon and algorithm not in ("crc32c", "sha256") else "malformed"


def attribute_rows(path, expected):
    """All rows of zt_attributes, (path, object, key, value, type): the file's own, then each object's."""
    owners = [(None, expected["attributes"])] + [(o["name"], o["attributes"]) for o in expected["objects"]]
    return [(path, name, key_text(k), *sql_value(v)) for name, attributes in owners if attributes
            for k, v in pairs(attributes)]


# ------------------------------------------------------------------------------------- what the elements must be

def golden_objects(chosen):
    """{argvalues: [(name, path, objects)], ids} for pytest: the golden files that hold objects of the kind chosen, with these
    objects only."""
    found = [(name, path, list(filter(chosen, expected["objects"]))) for name, path, expected in golden()]
    return {"argvalues": [row for row in found if row[2]], "ids": [name for name, _, objects in found if objects]}


def dense_of(object):
    """The expected dense form of an object, from the library that has one; None if none has."""
    return object["dense"] or object.get("dense_by_ggml")


def has_dense(object):
    return object["dense"] is not None


def element_type(object):
    """The type of the elements of an object that has a dense form, as zt_dense names it."""
    return object["dense"]["type"] or object["dense"]["dtype"]


def sample_values(object):
    """[(flat index, value)] of an expectation, as Python's values (reference.decode gives the same)."""
    type = element_type(object)
    if type.startswith("complex"):
        return [(i, complex(float(re), float(im))) for i, re, im in object["dense"]["samples"]]
    convert = {"i": int, "u": int, "b": lambda text: text == "1"}.get(type[0] if type != "bf16" else "f", float)
    return [(i, convert(text)) for i, text in object["dense"]["samples"]]


def coordinates(shape, position):
    """The indices of the element at a row-major position."""
    found = []
    for size in reversed(shape):
        position, i = divmod(position, size)
        found.append(i)
    return found[::-1]


# ---------------------------------------------------------------------------------------------------------- CBOR

def decode(data):
    """A CBOR item in the vocabulary of expected.json. For good files only: it does not judge."""
    value, end = decode_item(data, 0)
    assert end == len(data)
    return value


def decode_item(data, at):
    major, information = data[at] >> 5, data[at] & 31
    at += 1
    argument = information
    if 24 <= information <= 27:
        width = 1 << (information - 24)
        argument = int.from_bytes(data[at:at + width], "big")
        at += width
    indefinite = information == 31
    if major == 0:
        return argument, at
    if major == 1:
        return -1 - argument, at
    if major in (2, 3):
        content, at = decode_string(data, at, argument, indefinite)
        return ({"$bytes": content.hex()} if major == 2 else content.decode()), at
    if major == 4:
        return decode_many(data, at, argument, indefinite)
    if major == 5:
        flat, at = decode_many(data, at, 2 * argument, indefinite)
        return {"$map": list(zip(flat[::2], flat[1::2]))}, at
    if major == 6:
        inner, at = decode_item(data, at)
        return {"$tag": argument, "value": inner}, at
    return decode_simple(data, at, information, argument), at


def decode_string(data, at, length, indefinite):
    if not indefinite:
        return data[at:at + length], at + length
    content = b""
    while data[at] != 0xff:
        major = data[at] >> 5
        chunk, at = decode_item(data, at)
        content += bytes.fromhex(chunk["$bytes"]) if major == 2 else chunk.encode()
    return content, at + 1


def decode_many(data, at, count, indefinite):
    items = []
    while data[at] != 0xff if indefinite else len(items) < count:
        item, at = decode_item(data, at)
        items.append(item)
    return items, at + indefinite


def decode_simple(data, at, information, argument):
    """False, true, null, undefined, the three widths of floats; anything else is an unassigned simple value."""
    if information in (25, 26, 27):
        width = 1 << (information - 24)
        number, = struct.unpack({2: ">e", 4: ">f", 8: ">d"}[width], data[at - width:at])
        special = "NaN" if number != number else {float("inf"): "Infinity", float("-inf"): "-Infinity"}.get(number)
        return {"$float": special} if special else number
    known = {20: False, 21: True, 22: None, 23: {"$undefined": True}}
    return known.get(argument, {"$simple": argument})
