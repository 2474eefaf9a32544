"""The modules of a model, as the names of its tensors nest them: model.layers.0.mlp is in model.layers.0.

Numbered modules that are alike, which have the same names, types and shapes in them, are folded into one: model.layers.[0-31]. A module
that has only one other in it, and no tensor, is one with it.
"""
import re
from typing import NamedTuple, Optional

LEVELS = 64   # Modules in one another; a name's other parts are one part
PARTS = re.compile(r"[./]")

# The places of a model's parts, by the names of modules at its top: what comes first, and what comes last
FIRST = re.compile(r"(token_embd|tok_embeddings|wte|wpe|shared|position_embd|token_types|\w*embed\w*)")
LAST = re.compile(r"(norm|ln_f|final_\w*norm\w*|output_norm|final_layernorm)")
HEAD = re.compile(r"(lm_head|output|head|score|classifier|embed_out)")


class Tensor(NamedTuple):
    name: str
    elements: int       # decimal text above 2^63, as in zt_objects
    bytes: int          # stored ones; None if they are not known
    type: str           # as people call it: bf16, q5_0
    shape: str = "[]"   # a JSON array


class Row(NamedTuple):
    """A line of the tree: a module, or a tensor."""
    module: str              # the whole name, such as model.layers.[0-3].mlp; '' for the model itself
    label: str               # its own part
    level: int               # 0 for the model itself
    copies: int              # of folded modules
    tensors: int
    parameters: int
    bytes: int
    share: float             # of the model's bytes, 0 to 1
    types: tuple             # the largest first
    shape: Optional[str]     # of a tensor; None if it is not known
    is_tensor: bool


class _Module:
    """`name` has the separator before it."""

    def __init__(self, name, copies=1):
        self.name, self.copies = name, copies
        self.modules, self.leaves = {}, {}   # {name: _Module}, {name: _Leaf}
        self.tensors = self.parameters = self.bytes = 0
        self.types = {}                      # {type: bytes}
        self.likeness = None                 # a number that only modules that are alike have

    def count(self):
        """Add up what is in it."""
        for part in self.modules.values():
            part.count()
        for part in (*self.leaves.values(), *self.modules.values()):
            self.tensors += part.tensors
            self.parameters += part.parameters
            self.bytes += part.bytes
            for kind, size in part.types.items():
                self.types[kind] = self.types.get(kind, 0) + size
        return self


class _Leaf:
    """A tensor, or one in each of several modules that are folded."""

    def __init__(self, name, tensor):
        self.name, self.shape = name, tensor.shape
        self.tensors, self.parameters, self.bytes = 1, int(tensor.elements or 0), int(tensor.bytes or 0)
        self.types = {tensor.type: self.bytes}

    def add(self, other):
        self.tensors += other.tensors
        self.parameters += other.parameters
        self.bytes += other.bytes
        for kind, size in other.types.items():
            self.types[kind] = self.types.get(kind, 0) + size


def tree(tensors, depth=None, show_tensors=False, fold=True):
    """The rows of a model's tree, from the model itself down to `depth` levels below it. `tensors` are Tensors."""
    top = _Module("")
    for tensor in tensors:
        _put(top, tensor)
    if fold:
        _fold(top, {})
    top.count()
    rows = []
    _list(rows, top, "", 0, float("inf") if depth is None else depth, show_tensors, top.bytes)
    return rows


def _put(module, tensor):
    parts = _parts(tensor.name)
    for part in parts[:-1]:
        module = module.modules.setdefault(part, _Module(part))
    leaf, number = parts[-1], 2
    while leaf in module.leaves:   # The same name in several files
        leaf, number = f"{parts[-1]}#{number}", number + 1
    module.leaves[leaf] = _Leaf(leaf, tensor)


def _parts(name):
    """The parts of a name, each but the first with its separator. A separator at an end is no separator."""
    ends = [found.start() for found in PARTS.finditer(name, 1, max(1, len(name) - 1))][:LEVELS]
    return [name[start:end] for start, end in zip([0, *ends], [*ends, len(name)])]


# ---- Folding

def _fold(module, numbers):
    """Replace numbered modules that are alike, from the innermost on. `numbers` has the numbers given to contents so far."""
    alike = {}
    for name, part in module.modules.items():
        _fold(part, numbers)
        if _index(name) is not None:
            alike.setdefault(part.likeness, []).append(part)
    if any(len(parts) > 1 for parts in alike.values()):
        folded = [_merged(sorted(parts, key=lambda part: _index(part.name))) if len(parts) > 1 else parts[0] for parts in alike.values()]
        others = [part for name, part in module.modules.items() if _index(name) is None]
        module.modules = {part.name: part for part in (*others, *folded)}
    content = (tuple(sorted((leaf.name, leaf.shape, *leaf.types) for leaf in module.leaves.values())),
               tuple(sorted((name, part.likeness) for name, part in module.modules.items())))
    module.likeness = numbers.setdefault(content, len(numbers))


def _index(name):
    """The number of a numbered module."""
    found = re.fullmatch(r"[./]?(0|[1-9][0-9]{0,8})", name)
    return int(found[1]) if found else None


def _merged(parts):
    """One module in place of several that are alike."""
    first = parts[0]
    separator = first.name[:1] if first.name[0] in "./" else ""
    whole = _Module(f"{separator}[{ranges([_index(part.name) for part in parts])}]", len(parts))
    whole.likeness = first.likeness
    _add(whole, parts)
    return whole


def _add(whole, parts):
    for part in parts:
        for name, leaf in part.leaves.items():
            if name in whole.leaves:
                whole.leaves[name].add(leaf)
            else:
                whole.leaves[name] = leaf
    for name, module in parts[0].modules.items():
        whole.modules[name] = _Module(name, module.copies)
        _add(whole.modules[name], [part.modules[name] for part in parts])


def ranges(numbers):
    """0, 1, 2, 5 as `0-2,5`."""
    runs = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


# ---- Rows

def _list(rows, module, path, level, depth, show_tensors, total):
    """Add the rows of a module and of what is in it."""
    copies = module.copies
    label = module.name
    while level and len(module.modules) == 1 and not module.leaves:
        (module,) = module.modules.values()
        copies *= module.copies
        label += module.name
    path += label
    rows.append(_row(module, path, label, level, copies, total))
    if level >= depth:
        return
    for part in sorted(module.modules.values(), key=_place if level < 2 else _number):
        _list(rows, part, path, level + 1, depth, show_tensors, total)
    for leaf in module.leaves.values():
        if show_tensors or not level:
            rows.append(_row(leaf, path + leaf.name, leaf.name, level + 1, copies, total))


def _row(part, path, label, level, copies, total):
    types = tuple(sorted(part.types, key=lambda kind: -part.types[kind]))
    share = part.bytes / total if total else 0.0
    is_tensor = isinstance(part, _Leaf)
    return Row(path, label.lstrip("./") or label, level, copies, part.tensors, part.parameters, part.bytes, share, types,
               part.shape if is_tensor else None, is_tensor)


def _number(module):
    """Where a module stands among those beside it: numbered ones by their numbers, others as they come."""
    found = re.match(r"[./]?\[?([0-9]{1,9})\b", module.name)
    return int(found[1]) if found else -1


def _place(module):
    """The same at a model's top: what makes vectors of tokens first, then layers, then the last norm, then the head."""
    name = module.name.lstrip("./")
    rank = 0 if FIRST.fullmatch(name) else 2 if LAST.fullmatch(name) else 3 if HEAD.fullmatch(name) else 1
    return rank, _number(module)


def in_order(names):
    """Names of tensors in the order of the model: layers by their numbers, its first parts first and its head last."""
    return sorted(names, key=sort_key)


def sort_key(name):
    """The key by which in_order() sorts."""
    key = []
    for level, part in enumerate(_parts(name)):
        module = _Module(part)
        key.append((*(_place(module) if level < 2 else (1, _number(module))), part))
    return key
