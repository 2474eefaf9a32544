"""Writes tensor files by the extension's table zt_writer: conversions, and zTensor's old generations as zTensor 2."""
import collections
import contextlib
import json
import math
import os
import stat
import struct

from . import naming, removal
from .dtypes import LOGICAL
from .session import Trouble, quote

# What the extension says helps, and the option that does it
CURES = [("change one, or leave it out", "--set general.alignment=N"), ("a u32 and a power of two", "--align"), ("mode='replace'", "--force"), ("format='dense'", "--dense"), ("give the argument format", "--format"), ("give dtype", "--dtype"),
         ("drop='attributes'", "--drop-attributes"), ("cannot hold attribute", "--drop-attributes"),
         ("holds text attributes alone", "--drop-attributes"), ("leave it out", "--exclude"), ("it has no values", "--exclude")]

# Types that --dtype converts. Integers and booleans are numbers of tokens, positions and masks, which a float of 16 bits may not hold
CONVERTED = f"""({LOGICAL} GLOB 'f[0-9]*' OR {LOGICAL} = 'bf16' OR format GLOB 'gguf.*'
                 OR format IN ('quantized_group', 'zt.quant_group/1', 'zt.mx/1'))"""

# Keys of a GGUF file that say which of several it is
SPLIT = ("split.no", "split.count", "split.tensors.count")


class Wanted:
    """The wishes for a new file. `settings` are pairs of a key and the text of a value."""

    def __init__(self, path, format=None, dtype=None, dense=False, compress=False, level=None, digest=None, align=None,
                 drop_optimizer=False, exclude=(), drop_attributes=False, settings=(), force=False):
        self.path, self.format, self.dtype, self.dense = path, format, dtype, dense
        self.compress, self.level, self.digest, self.align = compress, level, digest, align
        self.drop_optimizer, self.exclude, self.drop_attributes = drop_optimizer, exclude, drop_attributes
        self.settings, self.force = dict(settings), force

    @property
    def kind(self):
        """The format, or the end of the name that stands for it."""
        return self.format or os.path.splitext(self.path)[1][1:].lower()

    @property
    def is_ztensor(self):
        return self.kind == "zt" or self.kind.startswith("ztensor")

    def arguments(self):
        """Those of zt_writer."""
        encoding = "deflate" if self.kind == "npz" else "zstd"
        given = {"format": self.format, "mode": "replace" if self.force else None, "encoding": encoding if self.compress else None,
                 "level": self.level, "digest": self.digest, "align": self.align,
                 "drop": "attributes" if self.drop_attributes and not self.is_ztensor else None}
        return "".join(f", {name}={quote(value)}" for name, value in given.items() if value is not None)


class Written:
    """The parts that were left out of a new file."""

    def __init__(self):
        self.tensors = 0        # of optimizers
        self.attributes = []    # keys that the format cannot hold
        self.other = []         # (key, path) of values other than the first one's


def convert(session, models, wanted, bar=contextlib.nullcontext()):
    """Write the tensors of whole models into one file, and return what was Written. The extension's own errors are the errors."""
    written = Written()
    with writer(session, wanted.path, wanted.arguments()):
        for model in models:
            _tensors(session, model, wanted, written)
        _attributes(session, models, wanted, written)
        tensors = session.value("SELECT count(*) FROM temp.written WHERE name IS NOT NULL AND key IS NULL")
        if not tensors and (written.tensors or not session.value("SELECT count(*) FROM temp.written")):
            raise Trouble(f"{wanted.path}: there is nothing to write" + (": all tensors are of optimizers" if written.tensors else ""))
        with bar:
            session.run("COMMIT")
    return written


@contextlib.contextmanager
def writer(session, path, arguments=""):
    """A transaction with the table temp.written, which COMMIT within it makes a file. Without one, nothing is written."""
    try:
        path.encode()
    except UnicodeEncodeError:
        raise Trouble(f"{path}: the name of a file that is written must be UTF-8") from None
    session.run(f"CREATE VIRTUAL TABLE temp.written USING zt_writer({quote(path)}{arguments})")
    try:
        session.run("BEGIN")
        try:
            yield
        finally:
            if session.connection.in_transaction:
                session.run("ROLLBACK")
    finally:
        session.run("DROP TABLE temp.written")


def cured(error):
    """The text of an error, and the option that helps."""
    said = str(error)
    option = next((option for words, option in CURES if words in said), None)
    return f"{said} (here: {option})" if option else said


def _tensors(session, model, wanted, written):
    chosen = " AND ".join(["1", *(f"object NOT GLOB {quote(pattern)}" for pattern in wanted.exclude)])
    if wanted.drop_optimizer:
        names = session.run(f"SELECT object FROM zt_objects({quote(model.source)}) WHERE {chosen}")
        names = [name for name, in names if naming.is_optimizer(name)]
        written.tensors += len(names)
        chosen += f" AND object NOT IN ({', '.join(map(quote, names))})"
    dtype = f"CASE WHEN {CONVERTED} THEN {quote(wanted.dtype)} END" if wanted.dtype else "NULL"
    dense = "CASE WHEN format <> 'dense' THEN 'dense' END" if wanted.dense else "NULL"
    session.run(f"INSERT INTO temp.written(name, source, object, dtype, format) SELECT object, path, object, {dtype}, {dense}"
                f" FROM zt_objects({quote(model.source)}) WHERE {chosen}")


def _attributes(session, models, wanted, written):
    """Attributes of the files: of a key that several have, the first file's. Then those that are set."""
    first = {}
    for model in models:
        rows = session.run("SELECT path, key, type, stored_type, CASE WHEN type = 'blob' THEN hex(value) ELSE value END"
                           f" FROM zt_attributes({quote(model.source)}) WHERE object IS NULL")
        for path, key, *value in rows:
            if len(model.files) > 1 and key in SPLIT or wanted.drop_optimizer and naming.is_optimizer(key):
                continue
            if first.setdefault(key, (path, value))[1] != value and key not in wanted.settings:
                written.other.append((key, path))
    copied = collections.defaultdict(list)
    for key, (path, _) in first.items():
        if key not in wanted.settings:
            copied[path].append(key)
    for path, keys in copied.items():
        _copy(session, path, keys, wanted, written)
    for key, text in wanted.settings.items():
        _set(session, key, text, first[key][1] if key in first else ("text", None, None))


def _copy(session, path, keys, wanted, written):
    """Copy attributes at once, or if the format cannot hold all of them and may leave some out, one after the other."""
    try:
        session.run("INSERT INTO temp.written(key, value, type, stored_type) SELECT key, value, type, stored_type"
                    f" FROM zt_attributes({quote(path)}) WHERE object IS NULL AND key IN ({', '.join(map(quote, keys))})")
    except Exception as error:
        if not wanted.drop_attributes or not str(error).startswith("ztensor:"):
            raise
        if len(keys) == 1:
            written.attributes += keys
        else:
            for half in (keys[:len(keys) // 2], keys[len(keys) // 2:]):
                _copy(session, path, half, wanted, written)


def _set(session, key, text, before):
    """Set an attribute. It keeps the type that it had: what was a number stays one."""
    kind, stored_type, _ = before
    value, kind = (text, "text") if kind == "text" else _read(key, text, kind)
    if stored_type == "f32" and isinstance(value, float):
        value = _nearest_f32(key, text, value)
    value = value if isinstance(value, float) else quote(value)
    session.run(f"INSERT INTO temp.written(key, value, type, stored_type) VALUES ({quote(key)}, {value}, {quote(kind)}, {quote(stored_type)})")


def _nearest_f32(key, text, value):
    """The number that a type of 32 bits has for a decimal one, such as 1e-5."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        raise Trouble(f"--set {key}: it was of type f32, and '{text}' is no such value") from None


def _read(key, text, kind):
    """A value of JSON, as SQL has it, and its type."""
    try:
        value = json.loads(text, parse_constant=lambda name: json.loads("?"))
    except (ValueError, RecursionError):
        value = ...
    if kind == "real" and type(value) is int:
        value = float(value)
    if value is ... or isinstance(value, float) and not math.isfinite(value) or type(value) is int and not -1 << 63 <= value < 1 << 63:
        raise Trouble(f"--set {key}: it was of type {kind}, and '{text}' is no such value")
    if isinstance(value, bool):
        return int(value), "true" if value else "false"
    if isinstance(value, (str, type(None))):
        return value, "text" if isinstance(value, str) else "null"
    if isinstance(value, (int, float)):
        return value, "integer" if isinstance(value, int) else "real"
    return text, "array" if isinstance(value, list) else "object"


# ---- zTensor 0.1 to 1.2

OLD = """SELECT path, version, size, error FROM zt_files({source})
WHERE container = 'ztensor' AND CAST(version AS INTEGER) < 2 OR error IS NOT NULL AND path GLOB '*.zt'"""
COPIED = """INSERT INTO temp.written(name, source, object, encoding) SELECT o.object, o.path, o.object,
  (SELECT 'zstd' FROM zt_components({path}) AS c WHERE c.object = o.object AND c.encoding GLOB '*zstd*' LIMIT 1) FROM zt_objects({path}) AS o"""
ATTRIBUTES = "INSERT INTO temp.written(key, value, type) SELECT key, value, type FROM zt_attributes({path}) WHERE object IS NULL"


def old(session, source):
    """(path, version, size, error) of the files of a source that are of a generation before 2, and of those that cannot be read."""
    return session.run(OLD.format(source=source))


def _new(align):
    return ", format='ztensor-2', mode=replace" + (f", align={align}" if align else "")


def can_migrate(session, path, align=None):
    """Raise the error that migrate() would, as far as nothing is written."""
    with writer(session, os.path.realpath(path), _new(align)):
        _copies(session, path)


def _copies(session, path):
    session.run(COPIED.format(path=quote(path)))
    session.run(ATTRIBUTES.format(path=quote(path)))


def migrate(session, path, align=None):
    """Replace a file by one of zTensor 2 that has the same values and attributes. The file that replaces it has been read and compared
    before. Its permissions and, if that is allowed, its owner stay; its other hard links keep the old bytes."""
    target = os.path.realpath(path)
    before = os.stat(target)
    with removal.unfinished(os.path.dirname(target), ".zt") as copy:
        with writer(session, copy, _new(align)):
            _copies(session, path)
            session.run("COMMIT")
        _compare(session, path, copy)
        with contextlib.suppress(OSError):   # root alone may give files away
            os.chown(copy, before.st_uid, before.st_gid)
        os.chmod(copy, stat.S_IMODE(before.st_mode))
        now = os.stat(target)
        if (now.st_ino, now.st_size, now.st_mtime_ns) != (before.st_ino, before.st_size, before.st_mtime_ns):
            raise Trouble(f"{path}: it has changed meanwhile, and was left as it is")
        os.replace(copy, target)


def _compare(session, path, copy):
    """Raise an error unless both files have the same values and attributes."""
    ((ours, theirs),) = session.run(f"SELECT zt_fingerprint({quote(path)}), zt_fingerprint({quote(copy)})")
    if ours is None:
        raise Trouble(f"{path}: a tensor has no values that are known, so a copy cannot be compared")
    if ours != theirs or _attributes_of(session, path) != _attributes_of(session, copy):
        raise Trouble(f"{path}: the copy differs from it, and was not kept")


def _attributes_of(session, path):
    rows = session.run(f"SELECT object, key, type, value FROM zt_attributes({quote(path)})")
    return {(name, key): (kind, json.loads(value) if kind in ("array", "object") else value) for name, key, kind, value in rows}
