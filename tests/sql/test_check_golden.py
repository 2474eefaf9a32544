"""zt_check over the golden files, compared with a checker that knows their expectations and their bytes only."""
import hashlib
import math
import re
import struct

import pytest

import corpus
from support import rows, value

ENCODINGS = {"2": ("raw", "zt.zstd-seekable/1")}    # Earlier versions have raw and zstd
# format: the roles that it needs, in the order in which they are missed
ROLES = {"dense": ["data"], "sparse_csr": ["values", "indices", "indptr"], "sparse_coo": ["values", "coords"],
         "quantized_group": ["packed_weight", "scales", "zeros"], "zt.mx/1": ["data", "scales"], "zt.quant_group/1": ["data", "scales"]}
INDEX_ROLES = ("indices", "indptr", "coords")


class Checker:
    """Finds (object, component, severity, rule) by the specifications."""

    def __init__(self, db, path, expected, full, how):
        self.db, self.path, self.expected, self.full, self.how = db, path, expected, full, how
        self.data = path.read_bytes()
        self.old, self.new = expected["generation"] == "0.1", expected["generation"] == "2"
        self.types = corpus.TYPES_2 if self.new else corpus.TYPES
        self.severities = dict(rows(db, "SELECT rule, severity FROM zt_rules"))
        self.found = []

    def find(self, rule, object=None, component=None):
        self.found.append((object and object["name"], component and component["name"], self.severities[rule], rule))

    def run(self):
        if not self.old and not self.new and not re.fullmatch(r"1(\.[012](\..*)?)?", self.expected["version"]):
            self.find("unknown-version")
        if self.expected["manifest_length"]:    # It is a data shard that has none: what its bytes are is not known
            self.layout()
        self.shards()
        for object in self.expected["objects"]:
            sound = [self.component(object, c) for c in object["components"]]
            self.object(object, all(sound))
        return sorted(self.found, key=repr)

    # --- The file's layout

    def layout(self):
        blobs = [(c["offset"], c["offset"] + c["length"], o, c) for o, c in corpus.components_of(self.expected)
                 if c["length"] and not c.get("shard")]
        owned = bytearray(self.expected["manifest_offset"])
        owned[:8] = b"\1" * 8
        for begin, end, *_ in blobs:
            owned[begin:end] = b"\1" * (end - begin)
        for gap in re.finditer(rb"\0+", owned):
            if len(gap[0]) > (65536 if self.new else 64):
                self.find("gap")
            if self.full and not self.old and any(self.data[gap.start():gap.end()]):
                self.find("nonzero-padding")
        ranges = {}
        for begin, end, object, component in blobs:
            ranges.setdefault((begin, end), (object, component))
        ordered = sorted(ranges)
        for i, (begin, end) in enumerate(ordered):
            if any(other_end > begin for _, other_end in ordered[:i]):
                self.find("overlapping-blobs", *ranges[begin, end])

    def shards(self):
        for shard in self.expected.get("shards") or []:
            if self.full and (self.how == "blob" or not shard["file"]):
                self.find("missing-shard")

    # --- Components: whether the object's values can be asked for

    def component(self, object, component):
        later = self.expected["generation"] == "1.2" and self.version() >= 2
        sound = self.typed(object, component)
        if later and object["format"] in ("sparse_csr", "sparse_coo") and component["name"] in INDEX_ROLES and component["dtype"] != "u64":
            self.find("index-dtype", object, component)
        if later and component["encoding"] == "zstd" and component["verbatim"].get("uncompressed_length") is None:
            self.find("missing-decoded-length", object, component)
        self.digest(object, component)
        return self.decoded(object, component) and sound

    def version(self):
        return int((self.expected["version"].split(".") + ["0"])[1])

    def typed(self, object, component):
        dtype, type = component["dtype"], component["type"]
        if dtype not in corpus.WIDTHS:
            self.find("unknown-dtype", object, component)
        elif type is not None and type not in corpus.WIDTHS and type not in self.types:
            self.find("unknown-type", object, component)
        elif type is not None and self.types.get(type, (type,))[0] != dtype:
            self.find("type-storage", object, component)
        else:
            return True
        return False

    def digest(self, object, component):
        if component["digest"] is None:
            self.find("missing-digest", object, component)
            return
        if corpus.out_of_reach((object, component), self.how):
            return
        status = corpus.digest_status(component)
        if status == "unsupported":
            self.find("unknown-digest", object, component)
        if status == "malformed":
            self.find("malformed-digest", object, component)
        if status == "mismatch" and self.full:
            self.find("digest-mismatch", object, component)

    def decoded(self, object, component):
        if component["encoding"] not in ENCODINGS.get(self.expected["generation"], ("raw", "zstd")):
            self.find("unknown-encoding", object, component)
            return False
        if not self.full:
            return True
        if corpus.out_of_reach((object, component), self.how):
            self.find("missing-shard", object, component)
            return False
        if component["decoded_sha256"] is None:
            self.find("decoded-length" if "decoded length" in object["dense_note"] else "encoding", object, component)
            return corpus.decoded_length(object, component) is not None
        blob = component["name"] == "data" and object["format"].startswith("sparse")   # Of 0.1: indices are among the bytes
        if component["dtype"] == "bool" and not blob and re.search(rb"[^\0\1]", self.bytes(object, component)):
            self.find("bool-byte", object, component)
        if self.new and component["type"] == "bool" and re.search(rb"[^\0\1]", self.bytes(object, component)):
            self.find("invalid-value", object, component)
            return False
        return True

    def bytes(self, object, component):
        """The decoded bytes: those that have the hash which the expectation states."""
        got = value(self.db, "SELECT zt_blob(?, ?, ?)", str(self.path), object["name"], component["name"])
        assert hashlib.sha256(got).hexdigest() == component["decoded_sha256"]
        return got

    # --- Objects

    def object(self, object, sound):
        parts = {c["name"]: c for c in object["components"]}
        if object["format"] not in ROLES:
            self.find("unknown-format", object)
            return
        if object["format"] == "quantized_group" and not {"bits", "group_size", "packing"} <= set(object["attributes"] or {}):
            self.find("quantized-attributes", object)
            return
        one_blob = self.old and object["format"] != "dense"
        for role in ["data"] if one_blob else ROLES[object["format"]]:
            if role not in parts and not (role == "packed_weight" and "data" in parts):
                self.find("missing-component", object)
                return
        if not sound:
            return
        if object["format"] == "dense":
            size = corpus.dense_size(object["elements"], parts["data"]["dtype"], parts["data"]["type"], self.types)
            if corpus.decoded_length(object, parts["data"]) != size:
                self.find("length", object, parts["data"])
        elif object["format"] == "quantized_group":
            self.quantized(object, parts)
        elif "/" in object["format"]:
            pass    # Those of zTensor 2 in the golden files are all sound
        elif one_blob:
            self.one_blob(object, parts["data"])
        elif object["format"] == "sparse_csr":
            self.csr(object, parts)
        else:
            self.coo(object, parts)

    def length(self, object, component):
        """Decoded; None where it cannot be had at this level."""
        known = corpus.decoded_length(object, component)
        return component["decoded_length"] if known is None and self.full else known

    def count(self, object, component):
        size = self.length(object, component)
        width = corpus.dense_size(1, component["dtype"], component["type"], self.types)
        assert size is None or size % width == 0
        return None if size is None else size // width

    def integers(self, object, component):
        data, width = self.bytes(object, component), corpus.WIDTHS[component["dtype"]]
        return [int.from_bytes(data[i:i + width], "little", signed=component["dtype"][0] == "i") for i in range(0, len(data), width)]

    def csr(self, object, parts):
        values, indices, indptr = (self.count(object, parts[role]) for role in ROLES["sparse_csr"])
        if len(object["shape"]) != 2:
            self.find("sparse-shape", object)
        elif None in (values, indices, indptr):
            return
        elif indptr != object["shape"][0] + 1:
            self.find("indptr", object)
        elif indices != values:
            self.find("sparse-length", object)
        elif self.full:
            self.csr_indices(object, self.integers(object, parts["indptr"]), self.integers(object, parts["indices"]))

    def csr_indices(self, object, indptr, indices):
        if indptr[0] != 0 or indptr[-1] != len(indices) or indptr != sorted(indptr):
            self.find("indptr", object)
        elif any(not 0 <= i < object["shape"][1] for i in indices):
            self.find("index-range", object)
        else:
            self.order(object, [row * object["shape"][1] + i for row in range(object["shape"][0]) for i in indices[indptr[row]:indptr[row + 1]]])

    def coo(self, object, parts):
        values, coords = (self.count(object, parts[role]) for role in ROLES["sparse_coo"])
        if None in (values, coords):
            return
        if coords != len(object["shape"]) * values:
            self.find("sparse-length", object)
        elif self.full:
            flat = self.integers(object, parts["coords"])
            self.coo_cells(object, list(zip(*[flat[d * values:(d + 1) * values] for d in range(len(object["shape"]))])))

    def coo_cells(self, object, cells):
        if any(not 0 <= i < n for cell in cells for i, n in zip(cell, object["shape"])):
            self.find("index-range", object)
        else:
            self.order(object, cells)

    def one_blob(self, object, data):
        """0.1: indptr, indices, values; or for each value its indices and itself. Indices are u64."""
        size, width = self.length(object, data), corpus.WIDTHS[data["dtype"]]
        if size is None:
            return
        entry = 8 + width if object["format"] == "sparse_csr" else 8 * len(object["shape"]) + width
        rest = size - 8 * (object["shape"][0] + 1) if object["format"] == "sparse_csr" else size
        if rest < 0 or rest % entry:
            self.find("sparse-length", object, data)
            return
        if not self.full:
            return
        content, n = self.bytes(object, data), rest // entry
        if object["format"] == "sparse_csr":
            indptr = list(struct.unpack_from(f"<{object['shape'][0] + 1}Q", content))
            self.csr_indices(object, indptr, list(struct.unpack_from(f"<{n}Q", content, size - rest)))
        else:
            self.coo_cells(object, [struct.unpack_from(f"<{len(object['shape'])}Q", content, i * entry) for i in range(n)])

    def order(self, object, cells):
        if self.new and len(set(cells)) < len(cells):
            self.find("repeated-cell", object)
        elif not self.new:
            if any(b < a for a, b in zip(cells, cells[1:])):
                self.find("unsorted-indices", object)
            if len(set(cells)) < len(cells):
                self.find("duplicate-indices", object)

    def quantized(self, object, parts):
        attributes, codes = object["attributes"], math.prod(object["shape"])
        words, scales, zeros = (self.count(object, parts.get(role) or parts["data"]) for role in ROLES["quantized_group"])
        if (words, scales, zeros) != (codes // int(attributes["packing"].split("_")[0]), *[codes // attributes["group_size"]] * 2):
            self.find("quantized-length", object)


@pytest.mark.parametrize("name, file, expected", corpus.golden(), ids=[name for name, _, _ in corpus.golden()])
@pytest.mark.parametrize("how", ["path", "blob"])
@pytest.mark.parametrize("level", ["quick", "full"])
def test_findings_are_those_of_the_expectation(db, how, level, name, file, expected):
    source = corpus.source_of(file, how)
    got = rows(db, "SELECT path, object, component, severity, rule, message FROM zt_check(?, ?)", source, level)
    assert {row[0] for row in got} <= {corpus.path_of(source)} and all(row[5] for row in got)
    assert sorted([row[1:5] for row in got], key=repr) == Checker(db, file, expected, level == "full", how).run()


def test_the_golden_files_break_many_rules(db):
    found = {row[0] for row in rows(db, "SELECT DISTINCT rule FROM zt_check(?, 'full')", str(corpus.GOLDEN))}
    assert len(found) >= 25
