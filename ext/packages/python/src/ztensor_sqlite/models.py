"""Which tensor files are one model.

A model is a file, or several files that belong together by one of these rules:

- An index beside them names them: *.safetensors.index.json, *.bin.index.json, also with a variant: *.safetensors.index.fp16.json.
- They are numbered: model-00001-of-00003.safetensors, or .gguf, .bin and so on. This is all that is known of remote files.
- zTensor: model.zt names shards, which are files beside it. Those without tensors of their own belong to it.

group() decides from paths, and opens nothing. of() and one() ask the extension and the folders about a source.
"""
import json
import os
import re
import sys
from typing import NamedTuple, Optional

from . import output
from .dtypes import LOGICAL
from .session import Trouble, quote

INDEX = re.compile(r".*\.(safetensors|bin|pt|pth|ckpt|h5|msgpack)\.index(\.[^./]+)?\.json", re.DOTALL)
INDEX_MOST = 64 << 20   # Bytes of the largest index that is read
NUMBERED = re.compile(r"(?P<stem>.*)-(?P<number>\d{5})-of-(?P<total>\d{5})(?P<end>\.[^/]+)", re.DOTALL)
TOTAL_MOST = 1000   # Files. A larger total in a name is no number of files

# Files of a training's checkpoint that are no model, beside one that is
COMPANIONS = re.compile(r"(optimizer|scheduler|scaler|rng_state\w*|random_states_\d+|training_args|sampler\w*|dl_state_dict)\.[a-z]+")


class Model(NamedTuple):
    name: str                     # a source that gives it: its path, the pattern of numbered files, or its index
    files: tuple                  # the paths of its files that are there; in them are all its tensors
    missing: tuple = ()           # the paths of those that should be there, too
    index: Optional[str] = None   # the path of the index that names them
    parts: tuple = ()             # the paths of files that only have bytes of its tensors

    @property
    def source(self):
        """All its files as a source of the extension's tables. Functions take only the single ones, in `files`."""
        return self.files[0] if len(self.files) == 1 else json.dumps(self.files, ensure_ascii=False)

    @property
    def is_whole(self):
        return not self.missing


class Index(NamedTuple):
    """The contents of a file *.index.json. `error` is set if it cannot be used."""
    tensors: dict                 # the file of each tensor
    total_size: object = None
    error: Optional[str] = None

    def files(self, path):
        """The paths of the files that the index at this path names."""
        return [_beside(path, name) for name in sorted(set(self.tensors.values()))]


# ---- From paths alone

def group(paths, indexes=None, shards=None, is_there=None):
    """The models of these paths, in their order. An index none of whose files is there is no model beside a complete one: who
    fetches a model in one format often has the index of the other one, too.

    `indexes`: {path of an index: Index}. `shards`: {path of a zTensor file: paths of the shards that it names, except those that have
    tensors of their own}. `is_there(path)` tells of other paths whether they exist; without it, only the given paths do.
    """
    paths = list(dict.fromkeys(paths))
    known = set(paths)
    is_there = is_there or known.__contains__
    order = {path: i for i, path in enumerate(paths)}
    numbers = {path: found for path in paths if (found := _numbered(path))}
    taken, models = set(), []

    def add(name, files, expected=(), index=None, parts=()):
        files, parts = ([path for path in dict.fromkeys(some) if path in known and path not in taken] for some in (files, parts))
        missing = tuple(path for path in dict.fromkeys(expected) if path not in known and not is_there(path))
        if files or missing:
            taken.update(files, parts)
            models.append(Model(name, tuple(files), missing, index, tuple(parts)))

    for path, index in (indexes or {}).items():
        expected = index.files(path)
        series = {_series(found) for name in expected if (found := _numbered(name))}
        unnamed = [p for p, found in numbers.items() if _series(found) in series]
        add(path, sorted([*expected, *unnamed]), expected, path)
    for path, parts in (shards or {}).items():
        if path not in taken:
            add(path, [path], parts, parts=parts)
    series = {}
    for path, found in numbers.items():
        if path not in taken and not (found["end"] == ".zt" and found["stem"] + ".zt" in known):
            series.setdefault(_series(found), []).append(path)
    for (stem, total, end), files in series.items():
        expected = [f"{stem}-{i:05}-of-{total}{end}" for i in range(1, int(total) + 1)]
        add(f"{_escaped(stem)}-*-of-{total}{_escaped(end)}" if len(expected) > 1 else files[0], expected, expected)
    for path in paths:
        if path not in taken:
            add(path, [path])
    there = {_beside(model.name, "") for model in models if model.files}
    models = [model for model in models if model.files or _beside(model.name, "") not in there]
    return sorted(models, key=lambda model: min((order[path] for path in model.files), default=len(paths)))


def _numbered(path):
    """The parts of a numbered file's path."""
    found = NUMBERED.fullmatch(path)
    return found if found and 1 <= int(found["number"]) <= int(found["total"]) <= TOTAL_MOST else None


def _series(found):
    return found["stem"], found["total"], found["end"]


def _escaped(text):
    """The text as a part of a pattern."""
    return re.sub(r"[][*?]", lambda c: f"[{c[0]}]" if c[0] != "]" else "]", text)


# ---- Of a source

def of(session, source):
    """The models of a source, in the order of their files. A file that is named is itself, even if it is one of several."""
    return survey(session, source)[0]


def survey(session, source):
    """The models of a source, and {path of an index: Index} of the indexes beside their files, or in the folder that the source names."""
    if is_index(source):   # A JSON file is no tensor file
        index = read_index(source)
        return _local(session, filter(os.path.exists, index.files(source)), {source: index}), {source: index}
    return survey_files(session, source, [path for path, in session.run(f"SELECT path FROM zt_files({quote(source)})")])


def survey_files(session, source, paths):
    """Do as survey() with the paths of a source's files."""
    if paths == [source]:
        return [Model(source, (source,))], {}
    folders = dict.fromkeys(_beside(path, "") for path in paths if not is_remote(path))
    if os.path.isdir(source):   # Its index may name files none of which is there
        folders.setdefault(os.path.join(source, ""))
    indexes = {path: read_index(path) for folder in folders for path in _indexes_in(folder)}
    return _local(session, paths, indexes), indexes


def one(session, source):
    """The only model of a source; of a folder, the only one in it and not in folders below. A checkpoint's optimizer, scheduler and
    the like beside it are no models."""
    models = of(session, source)
    if not models:
        raise Trouble(f"{source}: there is no tensor file")
    folder = source.rstrip("/")
    here = [model for model in models if _beside(model.name, "").rstrip("/") == folder]
    rest, here_rest = ([model for model in some if not COMPANIONS.fullmatch(os.path.basename(model.name))] for some in (models, here))
    models = next((some for some in (models, here, rest, here_rest) if len(some) == 1), models)
    if len(models) > 1:
        named = ", ".join(model.name for model in models[:3]) + (", ..." if len(models) > 3 else "")
        raise Trouble(f"{source}: there are {len(models)} models in it, name one: {named}")
    return models[0]


def must_be_there(model):
    """Refuse a model of which no file is there."""
    if not model.files:
        raise Trouble(f"{model.name}: {lacking(model)}")


def lacking(model):
    """The words for files that are not there."""
    count = len(model.missing)
    return f"{count} of its {count + len(model.files)} files {'are' if count != 1 else 'is'} missing: {in_short(model.missing)}"


def in_short(paths):
    """The names of some of these files."""
    return ", ".join(map(os.path.basename, paths[:3])) + (f" and {len(paths) - 3} more" if len(paths) > 3 else "")


def tell_missing(model):
    """Say that files are missing, and return the command's status."""
    if model.missing:
        print(output.plain(f"{model.name}: {lacking(model)}"), file=sys.stderr)
    return int(bool(model.missing))


def tensors(session, model, *more):
    """(path, name, elements, stored bytes, type, shape) of each tensor, and more expressions of SQL. An unreadable file is an error."""
    must_be_there(model)
    columns = ", ".join(("path", "object", "elements", "stored_bytes", LOGICAL, "shape", *more))
    return session.run(f"SELECT {columns} FROM zt_objects({quote(model.source)})")


def bytes_of(models):
    """A statement for the bytes of all files of models. A file that two of them have counts twice."""
    files = json.dumps([path for model in models for path in model.files], ensure_ascii=False)
    return f"SELECT total(f.size) FROM json_each({quote(files)}) AS p CROSS JOIN zt_files(p.value) AS f"


def is_index(source):
    """Whether a source is an index of this machine."""
    return INDEX.fullmatch(source) is not None and not is_remote(source) and os.path.isfile(source)


def is_remote(path):
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is not None


def _beside(path, name):
    return path[:len(path) - len(os.path.basename(path))] + name


def _local(session, paths, indexes):
    paths = list(paths)
    return group(paths, indexes, _shards(session, paths), lambda path: not is_remote(path) and os.path.exists(path))


def _indexes_in(folder):
    try:
        names = os.listdir(folder or os.curdir)
    except OSError:   # The source's own errors tell of it
        return []
    return [folder + name for name in sorted(names) if INDEX.fullmatch(name)]


def _shards(session, paths):
    """{path of a zTensor file: paths of its shards without tensors}, of those files that others beside them could be shards of."""
    known = {path for path in paths if path.endswith(".zt")}
    stems = {path[:-3] for path in known}
    owners = {path[:at] for path in known for at in range(len(path)) if path[at] == "-" and path[:at] in stems}
    found = {}
    for stem in sorted(owners):
        for shard, in session.run(f"SELECT DISTINCT shard FROM zt_components({quote(stem + '.zt')}, 'skip') WHERE shard IS NOT NULL"):
            path = f"{stem}-{shard}.zt"
            if not os.path.exists(path) or not session.run(f"SELECT 1 FROM zt_files({quote(path)}) WHERE objects > 0"):
                found.setdefault(stem + ".zt", []).append(path)
    return found


def read_index(path):
    """The Index in a file. Names of files lead nowhere but beside it."""
    try:
        if not os.path.isfile(path):   # A pipe would never end
            return Index({}, error="this is no regular file")
        if os.path.getsize(path) > INDEX_MOST:
            return Index({}, error=f"it has more than {INDEX_MOST >> 20} MiB")
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
    except OSError as error:
        return Index({}, error=error.strerror or str(error))
    except (ValueError, RecursionError):
        return Index({}, error="this is not JSON")
    tensors = said.get("weight_map") if isinstance(said, dict) else None
    if not isinstance(tensors, dict) or not all(isinstance(name, str) for name in tensors.values()):
        return Index({}, error="there is no weight_map of names of files")
    if not all(map(_is_text, tensors)):
        return Index({}, error="a name of a tensor is not UTF-8 without U+0000")
    outside = next((name for name in tensors.values() if not _is_beside(name)), None)
    if outside is not None:
        return Index({}, error=f"{outside!r} is no name of a file beside it")
    metadata = said.get("metadata")
    return Index(tensors, metadata.get("total_size") if isinstance(metadata, dict) else None)


def _is_text(name):
    """Whether a name may be one of a tensor. JSON may have halves of surrogate pairs."""
    return "\0" not in name and not any("\ud800" <= c <= "\udfff" for c in name)


def _is_beside(name):
    return _is_text(name) and name not in ("", os.curdir, os.pardir) and not set(name) & set(r"/\:")
