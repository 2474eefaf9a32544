"""The tensors that differ between two models, each of one file or of several.

Tensors of the same name are compared. If one model has llama.cpp's names and the other one those of transformers, naming.py tells
which belong together, and how llama.cpp has changed their values. A tensor whose values cannot be compared has no distance.
"""
import array
import collections
import json
import math
import struct
from typing import NamedTuple, Optional

from . import models, naming, npy, output
from .measures import are_identical, compared
from .session import Trouble, quote

CHUNK = 32 << 20   # Bytes of values that are put in order at once
MOST = 512 << 20   # Bytes of values that must be in memory at once: a head, a norm, an expert

# The tensors that are compared as they are, with the columns of Difference from `change` to `error`
DIFF = """SELECT p.id, {compared}
FROM temp.diff_pair AS p CROSS JOIN zt_objects(p.path) AS a ON a.object = p.object
     CROSS JOIN zt_objects(p.other_path) AS b ON b.object = p.other_object
     CROSS JOIN zt_compare(p.path, p.object, p.other_path, p.other_object) AS c"""


class Tensor(NamedTuple):
    path: str
    elements: int
    type: str
    shape: str        # a JSON array
    is_chosen: bool   # whether the command's options ask for it


class Difference(NamedTuple):
    object: str
    other_object: Optional[str]   # its name in the second model, if that is another one
    change: str                   # same, changed, incomparable, added, removed
    elements: Optional[int]
    equal: Optional[int] = None
    nans: Optional[int] = None
    rmse: Optional[float] = None
    max_abs: Optional[float] = None
    cosine: Optional[float] = None
    distance: Optional[float] = None
    error: Optional[str] = None   # why there is no distance
    note: Optional[str] = None    # how values were changed before they were compared; why a tensor is alone
    type: Optional[str] = None
    other_type: Optional[str] = None
    shape: Optional[str] = None
    other_shape: Optional[str] = None


class _Pair(NamedTuple):
    object: str
    other_object: str
    change: Optional[str] = None   # of naming.Counterpart, from transformers to GGUF
    expert: Optional[int] = None
    experts: int = 0               # how many of them the model of transformers has


def diff(session, a, b, condition="1", mapped=True, say=print):
    """The Differences of two Models, the most distant tensors first. `condition` is SQL over a row of zt_objects: the tensors of either
    model that are asked for. `say` gets a line for people."""
    ours, theirs = (_tensors(session, model, condition) for model in (a, b))
    pairs = [_Pair(name, name) for name in ours if name in theirs]
    gguf = _mapping(session, a, b, ours, theirs, say) if mapped and not pairs else None
    if gguf:
        pairs = gguf.pairs(ours, theirs)
    elif mapped and not pairs:
        pairs = _unwrapped(ours, theirs, say)
    left, right = {pair.object for pair in pairs}, {pair.other_object for pair in pairs}
    pairs = [pair for pair in pairs if ours[pair.object].is_chosen or theirs[pair.other_object].is_chosen]
    found = [*_compared(session, a, b, [pair for pair in pairs if not pair.change], ours, theirs),
             *(gguf.compare(session, pair, ours[pair.object], theirs[pair.other_object]) for pair in pairs if pair.change)]
    found += [Difference(name, None, "removed", t.elements, note=_why_alone(name, gguf, b), type=t.type, shape=t.shape)
              for name, t in ours.items() if name not in left and t.is_chosen]
    found += [Difference(name, None, "added", t.elements, note=_why_alone(name, gguf, a), other_type=t.type, other_shape=t.shape)
              for name, t in theirs.items() if name not in right and t.is_chosen]
    return sorted(found, key=lambda row: (row.change == "same", row.distance is not None, -(row.distance or 0), row.object,
                                          row.other_object or ""))


def _why_alone(name, gguf, other):
    """The note on a tensor that the other model does not have."""
    if other.missing:
        return f"the other model lacks {models.in_short(other.missing)}"
    return gguf and naming.why_alone(name, gguf.architecture)


def _tensors(session, model, condition):
    tensors = {}
    for path, name, elements, _, kind, shape, chosen in models.tensors(session, model, f"({condition})"):
        if name in tensors:
            raise Trouble(f"{model.name}: tensor '{name}' is in two files: {tensors[name].path} and {path}")
        tensors[name] = Tensor(path, elements, kind, shape, bool(chosen))
    return tensors


# ---- Tensors whose values are compared as they are

def _compared(session, a, b, pairs, ours, theirs):
    session.run("CREATE TEMP TABLE IF NOT EXISTS diff_pair(id INTEGER PRIMARY KEY, path TEXT, object TEXT, other_path TEXT, other_object TEXT)")
    session.run("DELETE FROM temp.diff_pair")
    for first in range(0, len(pairs), 500):
        places = ((ours[pair.object].path, pair.object, theirs[pair.other_object].path, pair.other_object) for pair in pairs[first:first + 500])
        rows = ", ".join(f"({', '.join(map(quote, place))})" for place in places)
        session.run(f"INSERT INTO temp.diff_pair(path, object, other_path, other_object) VALUES {rows}")
    found = []
    for number, change, *numbers, square, error in session.run(DIFF.format(compared=compared("p.path", "p.other_path"))):
        pair = pairs[number - 1]
        distance = 0.0 if change == "same" else None if square is None else math.sqrt(square)
        found.append(_difference(pair, ours, theirs, change, *numbers, distance, error))
    are_single = len(a.files) == len(b.files) == 1
    if any(row.change == "incomparable" for row in found) and are_single and are_identical(session, a.files[0], b.files[0]):
        found = [row._replace(change="same", distance=0.0) for row in found]
    return found


def _difference(pair, ours, theirs, change, elements, *numbers):
    tensor, other = ours[pair.object], theirs[pair.other_object]
    return Difference(pair.object, pair.other_object if pair.other_object != pair.object else None, change, elements, *numbers,
                      type=tensor.type, other_type=other.type, shape=tensor.shape, other_shape=other.shape)


def _unwrapped(ours, theirs, say):
    """The _Pairs of two models, one of which has a wrapper's prefix before its names."""
    found = naming.wrapper(ours, theirs)
    if not found:
        return []
    prefix, is_first = found
    say(f"names are compared without '{prefix}' of the {'first' if is_first else 'second'} model")
    bare = [(name, name[len(prefix):]) for name in (ours if is_first else theirs) if name.startswith(prefix)]
    return [_Pair(name, other) if is_first else _Pair(other, name) for name, other in bare if other in (theirs if is_first else ours)]


# ---- transformers and GGUF

def _mapping(session, a, b, ours, theirs, say):
    """The _Mapping of two models, if exactly one has llama.cpp's names and its architecture is known."""
    sides = [naming.is_gguf(ours), naming.is_gguf(theirs)]
    if sum(sides) != 1:
        return None
    model = a if sides[0] else b
    keys = _keys(session, model)
    architecture = keys.get("general.architecture")
    if architecture not in naming.ARCHITECTURES:
        said = "it states no general.architecture"
        if architecture:
            said = f"its architecture, {architecture}, is not among {', '.join(naming.ARCHITECTURES)}"
        say(output.plain(f"{model.name}: names are not mapped: {said}"))
        return None
    say(f"names are mapped between transformers and GGUF, architecture {architecture}")
    heads = {key: keys.get(f"{architecture}.attention.{key}") for key in ("head_count", "head_count_kv")}
    return _Mapping(architecture, heads["head_count"], heads["head_count_kv"] or heads["head_count"], sides[0])


def _keys(session, model):
    rows = session.run(f"SELECT key, value FROM zt_attributes({quote(model.source)}, 'skip') WHERE object IS NULL"
                       " AND (key = 'general.architecture' OR key GLOB '*.attention.head_count*')")
    return dict(reversed(rows))   # The first file's key is the one that counts


class _Mapping(NamedTuple):
    architecture: str
    heads: object         # an integer, or something else if the file says so
    key_heads: object
    is_first: bool        # whether the first model is the one in GGUF

    def pairs(self, ours, theirs):
        """The _Pairs of two models. Several experts belong to one tensor of GGUF."""
        plain, gguf = (theirs, ours) if self.is_first else (ours, theirs)
        found = {name: naming.in_gguf(name, self.architecture) for name in plain}
        found = {name: other for name, other in found.items() if other and other.name in gguf}
        experts = collections.Counter(other.name for other in found.values())
        return [_Pair(*((other.name, name) if self.is_first else (name, other.name)), other.change, other.expert, experts[other.name])
                for name, other in found.items()]

    def compare(self, session, pair, tensor, other):
        """The Difference of two tensors of which llama.cpp has changed the values."""
        hf, gguf = (other, tensor) if self.is_first else (tensor, other)
        names = (pair.other_object, pair.object) if self.is_first else (pair.object, pair.other_object)
        try:
            note, parts = getattr(self, "_" + pair.change.replace(" ", "_"))(session, pair, (hf, names[0]), (gguf, names[1]))
            sums = _Sums()
            for part in parts:
                sums.add(session, *part)
        except _Incomparable as reason:
            return _difference(pair, {pair.object: tensor}, {pair.other_object: other}, "incomparable", *[None] * 7, str(reason))
        numbers = sums.numbers()
        return _difference(pair, {pair.object: tensor}, {pair.other_object: other}, *numbers)._replace(note=note)

    def _rows(self, session, pair, hf, gguf):
        """GGUF has the two halves of a head's rows in turns."""
        heads = self.key_heads if ".attn_k." in gguf[1] else self.heads
        shape, kind = _same_shape(hf[0], gguf[0]), _exact(hf[0], gguf[0])
        if not shape or not isinstance(heads, int) or not 0 < heads <= shape[0] or shape[0] % (2 * heads):
            raise _Incomparable(f"llama.cpp has put its rows in another order, which depends on the number of heads: {heads}")
        head = shape[0] // heads
        width = _size(kind, shape[1:])
        _must_fit(head * width)
        order = [half * (head // 2) + row for row in range(head // 2) for half in range(2)]
        step = max(1, CHUNK // (width * head)) if width else heads

        def parts():
            for first in range(0, heads, step):
                count = min(step, heads - first)
                values, others = (_dense(session, t, kind, first * head, count * head) for t in (hf, gguf))
                rows = [values[at * width:(at + 1) * width] for at in (h * head + row for h in range(count) for row in order)]
                yield kind, [count * head, *shape[1:]], b"".join(rows), others

        return "compared in the order of rows that llama.cpp gives to q and k", parts()

    def _plus_one(self, session, pair, hf, gguf):
        shape, kind = _same_shape(hf[0], gguf[0]), "f32"
        _must_fit(_size(kind, shape))
        values = array.array("f", (value + 1 for value in _little(array.array("f", _dense(session, hf, kind)))))
        return "compared with 1 added, as llama.cpp stores norms of this architecture", [
            (kind, shape, _little(values).tobytes(), _dense(session, gguf, kind))]

    def _expert(self, session, pair, hf, gguf):
        shape, whole, kind = _shape(hf[0]), _shape(gguf[0]), _exact(hf[0], gguf[0])
        if whole != [pair.experts, *shape] or pair.expert >= pair.experts:
            raise _Incomparable(f"{pair.experts} experts of shape {hf[0].shape}, and shape {gguf[0].shape}")
        _must_fit(_size(kind, shape))
        return f"compared with expert {pair.expert} of the other one", [
            (kind, shape, _dense(session, hf, kind), _dense(session, gguf, kind, pair.expert, 1))]


class _Incomparable(Exception):
    """Why values are not compared."""


def _shape(tensor):
    if tensor.shape is None:
        raise _Incomparable("its shape is not known")
    return json.loads(tensor.shape)


def _same_shape(tensor, other):
    if tensor.shape != other.shape:
        raise _Incomparable(f"shape {tensor.shape} and shape {other.shape}")
    return _shape(tensor)


def _exact(tensor, other):
    """The type that has the values of both."""
    types = {tensor.type, other.type}
    if types & {"i64", "u64"}:
        raise _Incomparable("integers of 64 bits are not put in order")
    return "f64" if types & {"f64", "i32", "u32"} else "f32"


def _size(kind, shape):
    """Bytes of values of a type."""
    size = npy.item_size(kind)
    for n in shape:
        size *= n
    return size


def _must_fit(size):
    if size > MOST:
        raise _Incomparable(f"{size} bytes would have to be put in order at once; {MOST} are the limit")


def _dense(session, tensor, kind, first=None, count=None):
    part = "" if first is None else f", {first}, {count}"
    try:
        return session.value(f"SELECT zt_dense({quote(tensor[0].path)}, {quote(tensor[1])}, {quote(kind)}{part})")
    except Exception as error:
        if not str(error).startswith("ztensor:"):
            raise
        raise _Incomparable(str(error)) from None


def _little(values):
    """An array of this machine's numbers from one in little-endian order, or the reverse."""
    if struct.pack("=H", 1) != struct.pack("<H", 1):
        values.byteswap()
    return values


class _Sums:
    """The distance of two tensors from those of their parts."""

    def __init__(self):
        self.elements = self.equal = self.nans = 0
        self.max_abs = self.squares = self.l2 = self.other_l2 = self.dot = 0.0
        self.is_identical = True

    def add(self, session, kind, shape, data, other):
        """Add a part: values of one type and shape, as bytes."""
        head = npy.header(kind, shape)
        ((elements, equal, nans, max_abs, rmse, l2, other_l2, dot, error),) = session.bound(
            "SELECT elements, equal, nans, max_abs, rmse, l2, other_l2, dot, error FROM zt_compare(?, 'data', ?, 'data')", head + data, head + other)
        if error:
            raise _Incomparable(error)
        self.is_identical = self.is_identical and data == other
        self.elements += elements
        self.equal += equal
        self.nans += nans
        if max_abs is not None:
            self.max_abs = max(self.max_abs, max_abs)
            self.squares += rmse * rmse * (elements - nans)
            self.l2 += l2 * l2
            self.other_l2 += other_l2 * other_l2
            self.dot += dot

    def numbers(self):
        """change, elements, equal, nans, rmse, max_abs, cosine, distance and error."""
        count, longer = self.elements - self.nans, max(self.l2, self.other_l2)
        change = "same" if self.equal == self.elements or self.is_identical else "changed" if self.equal < count else "incomparable"
        rmse, cosine, distance = math.sqrt(self.squares / count) if count else None, None, 0.0 if change == "same" else None
        if count and math.isfinite(self.squares) and math.isfinite(longer):
            norms = math.sqrt(self.l2) * math.sqrt(self.other_l2)
            cosine = max(-1.0, min(1.0, self.dot / norms)) if norms else None
            distance = min(2.0, math.sqrt(self.squares / longer)) if self.squares else 0.0
        return change, self.elements, self.equal, self.nans, rmse, self.max_abs if count else None, cosine, distance, None
