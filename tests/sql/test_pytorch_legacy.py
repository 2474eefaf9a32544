"""PyTorch's files before 1.6: pickles and storages in a row, and how they answer as an archive of the same values does. Also archives
that something else wrote anew: deflated, or with bytes behind them."""
import io
import json
import os
import pickle
import sqlite3
import struct
import sys
import types
import zipfile
import zlib

import pytest

import corpus
from support import message, place, rows, value
from write_pytorch import MAGIC, ONES, SYSTEM, archive, built, call, legacy, name, of, old, ordered, pickled, put, storage, tensor

NOFS = "sqlite3_ztensor_nofs_init"
GOLDEN = corpus.FORMATS / "pytorch" / "golden"
LEGACY = sorted(GOLDEN.glob("legacy*.pt"))
BEHIND = [b"\0", b"\n", b"x" * 22, b"PK\5", b"\0" * 65535]


def objects(db, source):
    return rows(db, "SELECT object, format, dtype, type, shape, elements, json_extract(attributes, '$.storage') FROM zt_objects(?)", source)


def values(db, source):
    """The values of each object, or their fault."""
    found = {}
    for object, in rows(db, "SELECT object FROM zt_objects(?)", source):
        try:
            found[object] = value(db, "SELECT zt_dense(?, ?)", source, object)
        except sqlite3.Error as error:
            found[object] = str(error).removeprefix(place(source, object, "data"))
    return found


def both(change):
    """The same values in an archive and before 1.6: (archive, file). change(tensor) gives values and storages of floats by key."""
    zipped, storages = change(tensor)
    row, _ = change(old)
    return (of(zipped, storages=storages), legacy(row, storages={key: (len(raw) // 4, raw) for key, raw in storages.items()}))


# ------------------------------------------------------------------------------------------------- as an archive says it

KINDS = {
    "one": lambda t: ({"w": t()}, {"0": ONES}),
    "alone": lambda t: (t(), {"0": ONES}),
    "views": lambda t: ({"a": t((2, 2), (2, 1)), "b": t((2, 2), (1, 2)), "c": t((2,), (1,), 2), "d": t((3, 2), (0, 1)), "e": t((), (), 3)}, {"0": ONES}),
    "several": lambda t: ({"a": t(key="9"), "b": t(key="10"), "c": t(key="9", offset=1, shape=(3,))}, {"10": ONES[::-1], "9": ONES}),
    "none": lambda t: ({"a": t((0, 2), (2, 1), elements=0), "b": t(key="1")}, {"0": b"", "1": ONES}),
    "leaves": lambda t: ({"epoch": 3, "lr": [0.5, None, True], "model": ordered({"w": t()}), "net": built("m", "Net", {"x": t(), "y": "z"})}, {"0": ONES}),
    "types": lambda t: ({kind: t((16 // width,), elements=16 // width, key=kind, kind=kind + "Storage")
                         for kind, width in (("Int", 4), ("Float", 4))}, {"Float": ONES, "Int": ONES}),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("nofs", [False, True], ids=["", "nofs"])
def test_the_same_values_in_an_archive_are_the_same(db, connect, kind, nofs):
    db = connect(entry=NOFS) if nofs else db
    zipped, row = both(KINDS[kind])
    assert objects(db, row) == objects(db, zipped) and objects(db, row)
    assert values(db, row) == values(db, zipped) and all(isinstance(v, bytes) for v in values(db, row).values())
    assert value(db, "SELECT attributes FROM zt_files(?)", row) == value(db, "SELECT attributes FROM zt_files(?)", zipped)
    assert value(db, "SELECT zt_fingerprint(?)", row) == value(db, "SELECT zt_fingerprint(?)", zipped) is not None
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", row) == []


def test_the_manifest_says_what_the_file_says_of_itself(db):
    source = legacy({"w": old(), "epoch": 3})
    manifest = {"archive": None, "version": "1001", "byteorder": None, "leaves": {"epoch": 3}}
    assert json.loads(value(db, "SELECT zt_manifest(?)", source)) == manifest
    assert rows(db, "SELECT container, version, manifest_bytes FROM zt_files(?)", source) == [
        ("pytorch", "1001", len(pickled({"w": old(), "epoch": 3})))]


# ------------------------------------------------------------------------------------------------------- all protocols

class Stand:
    """The callables that a pickle calls."""

    def __init__(self, function, *args):
        self.made = function, args

    def __reduce__(self):
        return self.made


def torch_modules(monkeypatch):
    """Modules called torch and torch._utils: pickle.Pickler wants to find what it names."""
    made = {}
    for module, names in (("torch", ["FloatStorage", "LongStorage", "Size"]), ("torch._utils", ["_rebuild_tensor_v2"])):
        made[module] = types.ModuleType(module)
        for what in names:
            setattr(made[module], what, type(what, (), {"__module__": module}))
        monkeypatch.setitem(sys.modules, module, made[module])
    made["torch"]._utils = made["torch._utils"]
    return made["torch"]


def dumped(value, protocol):
    """A pickle as Python's own pickler writes it."""
    buffer = io.BytesIO()

    class Pickler(pickle._Pickler):
        def persistent_id(self, what):
            return what.id if isinstance(what, Id) else None

    Pickler(buffer, protocol).dump(value)
    return buffer.getvalue()


class Id:
    """A storage."""

    def __init__(self, *parts):
        self.id = parts


def file_of(value, protocol, storages, other=None):
    """other: the protocol of all pickles but the fourth."""
    other = protocol if other is None else other
    heads = [pickle.dumps(v, other) for v in (0x1950a86a20f9469cfc6c, 1001, SYSTEM)]
    return b"".join([*heads, dumped(value, protocol), pickle.dumps(list(storages), other)]
                    + [struct.pack("<Q", n) + raw for n, raw in storages.values()])


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("other", [0, 2, 5])
def test_pickles_of_python_in_any_protocol(db, monkeypatch, protocol, other):
    torch = torch_modules(monkeypatch)

    def made(kind, key, n, shape, stride):
        return Stand(torch._utils._rebuild_tensor_v2, Id("storage", getattr(torch, kind), key, "cpu", n, None), 0, shape, stride, False, {})

    source = file_of({"w": made("FloatStorage", "94", 4, (2, 2), (2, 1)), "n": [made("LongStorage", "95", 2, (2,), (1,))], "epoch": 7}, protocol,
                     {"94": (4, ONES), "95": (2, struct.pack("<2q", 5, -6))}, other)
    assert rows(db, "SELECT object, zt_json(?1, object) FROM zt_objects(?1)", source) == [("w", "[[1.0,2.0],[3.0,4.0]]"), ("n.0", "[5,-6]")]
    assert rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", source) == [("epoch", 7)]


LINE = "('storage', <class 'torch.FloatStorage'>, '0', 'cpu', 4, None)"


@pytest.mark.parametrize("line, want", [
    (LINE, [1, 2, 3, 4]), (LINE.replace(", None", ""), [1, 2, 3, 4]), (LINE.replace("torch.Float", "torch.cuda.Float"), [1, 2, 3, 4]),
    (LINE.replace("None", "('v', 0, 4)"), [1, 2, 3, 4]), (LINE.replace("None", "('v', 1, 3)"), None), (LINE.replace("None", "('v', -1, 4)"), None),
    (LINE.replace("torch.Float", "Float"), [1, 2, 3, 4]), (LINE.replace("'0'", "''"), None),
    (LINE.replace("'0'", "'7'"), None), (LINE.replace(" 4", " 5"), None), (LINE.replace(" 4", " -4"), None)])
def test_storages_of_protocol_0_are_lines(db, line, want):
    """torch writes them, and does not read them again; they say all that others do."""
    made = b"P" + line.encode() + b"\n"
    for source in (of({"w": call("torch._utils", "_rebuild_tensor_v2", made, 0, (4,), (1,), False, ordered())}),
                   legacy({"w": call("torch._utils", "_rebuild_tensor_v2", made, 0, (4,), (1,), False, ordered()), "v": old()})):
        found = values(db, source)["w"]
        assert found == struct.pack(f"<{len(want)}f", *want) if want else isinstance(found, str)


@pytest.mark.parametrize("line", ["", "x", "(", "'storage'", LINE + " ", LINE[:-1], LINE.replace("None", "(1, 0, 4)"), LINE.replace("'0'", "'\\\\0'"),
                                  LINE.replace(" 4", " 4x"), LINE.replace(" 4", " " + "4" * 19), LINE.replace("storage'", "module'"),
                                  LINE.replace("<class", "<type"), LINE.replace("'torch.FloatStorage'", "'torch.FloatStorag'"),
                                  LINE.replace(", None", ", "), LINE.replace(" 4", " -"), LINE.replace("'0'", "'0"), LINE.replace(">, ", ", ")]
                         + [line[:n] for line in (LINE, LINE.replace("None", "('v', 0, 4)")) for n in range(1, len(line))]
                         + [LINE.replace("None", view) for view in ("('v'; 0, 4)", "('v', x, 4)", "('v', 0; 4)", "('v', 0, x)", "('v', 0, 4]")])
def test_other_lines_are_opaque(db, line):
    made = b"P" + line.encode() + b"\n"
    source = of({"w": call("torch._utils", "_rebuild_tensor_v2", made, 0, (4,), (1,), False, ordered())})
    assert values(db, source) == {} and rows(db, "SELECT key FROM zt_attributes(?)", source) == [("w",)]


def test_the_first_pickle_is_the_magic_number_and_nothing_else(db):
    """Other pickles may have it anywhere."""
    source = legacy({"w": old()}, magic=MAGIC + b"\x85", version=MAGIC)
    assert message(db, "SELECT * FROM zt_objects(?)", source).endswith("the first pickle is not PyTorch's magic number")
    for magic in (b"\x8a\x0a" + bytes(9) + b"\1", b"K\1"):
        source = legacy({"w": old()}, magic=magic, version=MAGIC)
        assert rows(db, "SELECT rule, object FROM zt_check(?)", source) == [("pickle-storage", "3.w")]


def test_a_broken_pickle_before_much_else_is_told_at_once(db):
    source = legacy({"w": old(elements=100000)}, storages={"0": (100000, bytes(400000))}, system=b"\xff")
    assert "pickle 3 of 5: " in (said := message(db, "SELECT * FROM zt_objects(?)", source)) and said.endswith("opcode 0xff is not known")


def test_a_pickle_without_an_end_is_looked_for_in_256_MiB(db, save):
    head = legacy({"w": old()}, system=b"\x8e" + struct.pack("<Q", 300 << 20))
    path = save("m.pt", head)
    os.truncate(path, 301 << 20)
    assert message(db, "SELECT * FROM zt_objects(?)", path).endswith("it does not end within 256 MiB")
    path = save("n.pt", legacy({"w": old()}, system=b"\x8e" + struct.pack("<Q", 255 << 20)))
    os.truncate(path, 301 << 20)
    assert message(db, "SELECT * FROM zt_objects(?)", path).endswith("opcode 0x00 is not known")


def test_storages_of_a_large_file(db, save):
    """A hole of 300 MiB, and a storage behind it."""
    big = 300 << 20
    head = legacy({"a": old((4,), key="a", elements=big // 4), "b": old(key="b")}, storages={"a": (big // 4, b"")})
    head = pickled_with_keys(head, ["a", "b"])
    path = save("m.pt", head)
    with open(path, "r+b") as file:
        file.seek(len(head) + big)
        file.write(struct.pack("<Q", 4) + ONES)
    assert value(db, "SELECT zt_json(?, 'b')", path) == "[1.0,2.0,3.0,4.0]"
    assert value(db, "SELECT zt_json(?, 'a')", path) == "[0.0,0.0,0.0,0.0]"


def pickled_with_keys(head, keys):
    """The file with other keys of storages."""
    return head.replace(pickled(["a"]), pickled(keys))


def test_a_bare_storage_that_is_a_view_has_its_own_elements(db):
    source = legacy({"s": storage(view=(("v", 1, 2),)), "t": storage(view=(None,))})
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", source) == [("s", "[2]"), ("t", "[4]")]
    assert value(db, "SELECT zt_json(?, 't')", source) == "[1.0,2.0,3.0,4.0]"


# ------------------------------------------------------------------------------------------------------------- storages

WIDTHS = {"Float": 4, "Double": 8, "Half": 2, "BFloat16": 2, "Long": 8, "Int": 4, "Short": 2, "Char": 1, "Byte": 1, "Bool": 1, "ComplexFloat": 8,
          "ComplexDouble": 16, "QInt8": 1, "QUInt8": 1, "QInt32": 4, "QUInt4x2": 1, "QUInt2x4": 1}


@pytest.mark.parametrize("module", ["torch", "torch.cuda"])
@pytest.mark.parametrize("kind", WIDTHS)
def test_the_class_tells_where_the_next_storage_is(db, kind, module):
    source = legacy({"a": old((3,), key="a", elements=3, kind=kind + "Storage", module=module), "b": old(key="b")},
                    storages={"a": (3, bytes(3 * WIDTHS[kind])), "b": (4, ONES)})
    assert value(db, "SELECT zt_json(?, 'b')", source) == "[1.0,2.0,3.0,4.0]"


def test_untyped_storages_count_bytes(db):
    v3 = call("torch._utils", "_rebuild_tensor_v3", storage(key="a", elements=8, kind="UntypedStorage", module="torch.storage", view=(None,)), 0, (4,), (1,),
              False, ordered(), name("torch", "uint16"))
    source = legacy({"a": v3, "b": old(key="b")}, storages={"a": (8, struct.pack("<4H", 1, 2, 3, 65535)), "b": (4, ONES)})
    assert [value(db, "SELECT zt_json(?, ?)", source, object) for object in "ab"] == ["[1,2,3,65535]", "[1.0,2.0,3.0,4.0]"]


def test_a_class_that_is_not_known_hides_what_follows_alone(db):
    source = legacy({key: old(key=key, kind=kind + "Storage") for key, kind in (("a", "Float"), ("b", "Odd"), ("c", "Float"))},
                    storages={key: (4, ONES) for key in "abc"})
    assert value(db, "SELECT zt_json(?, 'a')", source) == "[1.0,2.0,3.0,4.0]"
    text = "no class of storage 'b' is known, so that its size and all later places are not known"
    assert message(db, "SELECT zt_dense(?, 'c')", source) == place(source, "c", "data") + text
    assert message(db, "SELECT zt_dense(?, 'b')", source) == place(source, "b", "data") + "dtype 'Odd' is not known"
    assert set(rows(db, "SELECT object, rule FROM zt_check(?) WHERE rule LIKE 'torch-%'", source)) == {("b", "torch-width"), ("c", "torch-width")}


@pytest.mark.parametrize("first, second", [("Float", "Int"), ("Float", "Long"), ("Long", "Float")])
def test_of_two_classes_the_first_counts(db, first, second):
    """As torch.load() has it, which never tells of the second."""
    source = legacy({"a": old((2,), kind=first + "Storage"), "b": old((2,), kind=second + "Storage"), "c": old(key="1")},
                    storages={"0": (4, bytes(4 * WIDTHS[first])), "1": (4, ONES)})
    found = values(db, source)
    assert found == {"a": bytes(2 * WIDTHS[first]), "c": ONES,
                     "b": f"its storage is of class {second}Storage, and of {first}Storage elsewhere"}


def test_elements_are_little_endian_whatever_the_machine_was(db):
    source = legacy({"w": old()}, system={**SYSTEM, "little_endian": False})
    assert rows(db, "SELECT byte_order, zt_json(?1, 'w') FROM zt_components(?1)", source) == [("little", "[1.0,2.0,3.0,4.0]")]


@pytest.mark.parametrize("view, shape, offset, want", [
    (("v", 1, 2), (2,), 0, [2, 3]), (("v", 1, 2), (1,), 1, [3]), (("v", 0, 4), (4,), 0, [1, 2, 3, 4]), (("v", 4, 0), (0,), 0, []), (("", 3, 1), (1,), 0, [4])])
def test_a_storage_may_be_a_view_of_another(db, view, shape, offset, want):
    source = legacy({"w": old(shape, offset=offset, view=(view,)), "all": old()})
    assert json.loads(value(db, "SELECT zt_json(?, 'w')", source)) == want
    assert json.loads(value(db, "SELECT attributes FROM zt_objects(?) WHERE object = 'w'", source))["view"] == list(view)
    assert value(db, "SELECT zt_json(?, 'all')", source) == "[1.0,2.0,3.0,4.0]"


@pytest.mark.parametrize("view", [("v", 1), "v", ("v", "1", 2), (1, 1, 2)])
def test_a_view_that_is_none_is_told(db, view):
    source = legacy({"w": old(view=(view,)), "v": old()})
    assert values(db, source).get("w") != ONES and values(db, source)["v"] == ONES
    assert rows(db, "SELECT 1 FROM zt_attributes(?) WHERE key = 'w' OR object = 'w'", source)


def test_what_stands_for_a_class_is_that(db):
    """Modules before 1.6: ('module', class, source file, source text)."""
    klass = put(("module", name("net", "Net"), "net.py", "class Net: pass")) + b"Q"
    source = legacy({"m": klass + b")\x81" + put({"w": old(), "training": True}) + b"b", "c": klass})
    assert values(db, source) == {"m.w": ONES}
    assert rows(db, "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL", source) == [
        ("m", '{"$opaque":"net.Net","args":[]}'), ("m.training", 1), ("c", '{"$opaque":"net.Net"}')]


@pytest.mark.parametrize("kind, more", [("Parameter", ()), ("Parameter", (True,)), ("Variable", ())])
def test_parameters_before_0_4(db, kind, more):
    module = "torch.nn.parameter" if kind == "Parameter" else "torch.autograd.variable"
    inner = call("torch._utils", "_rebuild_tensor", storage(view=(None,)), 0, (4,), (1,))
    made = call(module, kind, inner, *more) + (b"" if more else put((True, False, ordered())) + b"b")
    source = legacy({"w": made})
    assert values(db, source) == {"w": ONES}
    found = json.loads(value(db, "SELECT attributes FROM zt_objects(?)", source))
    assert found["requires_grad"] is True and found.get("parameter") == (True if kind == "Parameter" else None)


def test_many_storages_of_any_size(db):
    """A single read of storages that lie close together may end in each of their parts."""
    sizes = [(7 * i) % 61 if i % 500 else 30000 + i for i in range(4000)]
    storages = {str(i): (n, struct.pack(f"<{n}i", *[i] * n)) for i, n in enumerate(sizes)}
    source = legacy({str(i): old((n,), elements=n, key=str(i), kind="IntStorage") for i, n in enumerate(sizes)}, storages=storages)
    assert rows(db, "SELECT sum(elements), count(*) FROM zt_objects(?)", source) == [(sum(sizes), len(sizes))]
    assert rows(db, "SELECT object FROM zt_components(?) WHERE data != zeroblob(0)", source) == [(str(i),) for i, n in enumerate(sizes) if n]
    got = dict(rows(db, "SELECT object, data FROM zt_components(?)", source))
    assert got == {key: raw for key, (_, raw) in storages.items()}


@pytest.mark.parametrize("size", [1, 60000, 65536 - 200, 65536, 65537, 200000, 1 << 20])
def test_pickles_of_any_size(db, size):
    """They are read a piece at a time, in which they need not end, and an opcode's argument need not."""
    source = legacy({"text": "x" * size, "many": [1] * size, "w": old()}, behind=b"\xff" * 100000)
    assert values(db, source) == {"w": ONES}
    assert rows(db, "SELECT value FROM zt_attributes(?) WHERE key = 'text'", source) == [("x" * size,)]
    assert value(db, "SELECT count(*) FROM zt_attributes(?) WHERE key LIKE 'many.%'", source) == size


def test_it_is_read_from_a_file_as_from_a_blob(db, save):
    source = legacy({"text": "x" * 100000, "w": old(), "v": old((20000,), elements=20000, key="1")},
                    storages={"0": (4, ONES), "1": (20000, ONES * 5000)})
    path = save("old.pth", source)
    assert values(db, path) == values(db, source) == {"w": ONES, "v": ONES * 5000}


# ------------------------------------------------------------------------------------------------------- broken and cut

def test_a_file_cut_anywhere_has_no_wrong_values(db):
    whole = legacy({"w": old(), "epoch": 3, "v": old(key="1", kind="HalfStorage", elements=8, shape=(8,))}, storages={"0": (4, ONES), "1": (8, ONES)})
    assert values(db, whole) == {"w": ONES, "v": ONES}
    begin = len(whole) - 48
    for n in (0, *range(2, len(whole))):   # The first byte alone is an empty map of msgpack
        if n < begin:
            text = message(db, "SELECT * FROM zt_objects(?)", whole[:n])
            assert text.startswith("ztensor: <blob>: "), n
            continue
        found = values(db, whole[:n])
        assert list(found) == ["w", "v"], n
        assert found["w"] == ONES if n >= begin + 24 else isinstance(found["w"], str), n
        assert isinstance(found["v"], str) and "file ends" in found["v"] or "from there on" in found["v"], n
        assert {rule for rule, in rows(db, "SELECT rule FROM zt_check(?) WHERE severity = 'error'", whole[:n])} == {"torch-cut"}, n
        assert message(db, "SELECT zt_fingerprint(?)", whole[:n]), n


def test_a_flipped_byte_is_an_error_or_another_value(db):
    """Nothing crashes; what opens has something to show."""
    whole = legacy({"w": old(), "v": old(key="1")}, storages={"0": (4, ONES), "1": (4, ONES)})
    for at in range(len(whole) - 32):
        for bit in (1, 0x80):
            source = whole[:at] + bytes([whole[at] ^ bit]) + whole[at + 1:]
            try:
                found = values(db, source)
                keys = [key for key, in rows(db, "SELECT key FROM zt_attributes(?) WHERE object IS NULL", source)]
            except sqlite3.Error as error:
                assert "ztensor: <blob>: " in str(error), (at, bit)
                continue
            assert found or keys, (at, bit)


def test_what_is_behind_belongs_to_others(db):
    """It has no values, so that nothing is said of them."""
    source = legacy({"w": old()}, behind=legacy({"x": old()}))
    assert value(db, "SELECT zt_dense(?, 'w')", source) == ONES
    assert rows(db, "SELECT object, format FROM zt_objects(?)", source) == [("w", "dense"), ("", "file.unread")]


def test_a_magic_number_alone(db):
    assert "pickle 2 of 5" in message(db, "SELECT * FROM zt_objects(?)", b"\x80\x02" + MAGIC + b".")
    assert "pickle 1 of 5: the pickle ends" in message(db, "SELECT * FROM zt_objects(?)", b"\x80\x02" + MAGIC)
    assert "pickle 2 of 5" in message(db, "SELECT * FROM zt_objects(?)", b"L119547037146038801333356L\n.")


# --------------------------------------------------------------------------------------------------------- written anew

@pytest.mark.parametrize("level", [0, 1, 9])
def test_a_deflated_archive(db, monkeypatch, level):
    monkeypatch.setattr(zlib, "Z_DEFAULT_COMPRESSION", level)
    value_of = {"w": tensor(), "text": "abc" * 50000, "numbers": list(range(1000)), "v": tensor((2,), offset=1)}
    methods = dict.fromkeys(("data.pkl", "data/0", "version", "byteorder"), zipfile.ZIP_DEFLATED)
    plain, packed = (of(value_of, byteorder=b"little", **options) for options in ({}, {"methods": methods}))
    assert objects(db, packed) == objects(db, plain) and values(db, packed) == values(db, plain) == {"w": ONES, "v": ONES[4:12]}
    assert value(db, "SELECT zt_fingerprint(?)", packed) == value(db, "SELECT zt_fingerprint(?)", plain)
    assert value(db, "SELECT zt_manifest(?)", packed) == value(db, "SELECT zt_manifest(?)", plain)
    with zipfile.ZipFile(io.BytesIO(packed)) as z:
        stored = z.getinfo("m/data.pkl").compress_size
    assert rows(db, "SELECT manifest_bytes FROM zt_files(?)", packed) == [(stored,)]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", packed) == []


def test_the_constants_of_torchscript_may_be_deflated(db):
    source = of({"w": tensor()}, constants={"constants.pkl": pickled((tensor(),)), "constants/0": ONES[::-1]},
                methods=dict.fromkeys(("constants.pkl", "constants/0"), zipfile.ZIP_DEFLATED))
    assert values(db, source) == {"w": ONES, "constants.0": ONES[::-1]}


def test_a_deflated_pickle_with_a_flipped_bit_is_refused(db):
    whole = archive(pickled({"w": tensor(), "text": "abcdefgh" * 20}), methods={"data.pkl": zipfile.ZIP_DEFLATED})
    begin = whole.index(b"m/data.pkl") + len("m/data.pkl")
    end = whole.index(b"PK\3\4", begin)
    for at in range(begin, end):
        source = whole[:at] + bytes([whole[at] ^ 0x10]) + whole[at + 1:]
        assert rows(db, "SELECT rule IN ('encoding', 'decoded-length', 'torch-pickle-crc') FROM zt_check(?)", source) == [(1,)], at


def test_what_little_decodes_to_is_bounded(db):
    """8 MiB, and 64 times what is stored: walking a pickle takes memory for each of its bytes."""
    def source(size):
        return archive(b"N" + b"0N" * (size // 2 - 1) + b".", methods={"data.pkl": zipfile.ZIP_DEFLATED})

    with zipfile.ZipFile(io.BytesIO(source(8 << 20))) as z:
        stored = z.getinfo("m/data.pkl").compress_size
    assert rows(db, "SELECT key, value FROM zt_attributes(?)", source((8 << 20) + 32 * stored)) == [("", None)]
    size = (8 << 20) + 128 * stored
    assert f"record 'm/data.pkl' decodes to {size} bytes, for " in message(db, "SELECT * FROM zt_objects(?)", source(size))


@pytest.mark.parametrize("behind", BEHIND, ids=len)
def test_bytes_behind_an_archive(db, save, behind):
    """As many as a comment could have: torch and Python's zipfile look for the end record there."""
    whole = of({"w": tensor(), "epoch": 3})
    path = save("model.pt", whole + behind)
    said = [("zip-behind", f"{len(behind)} bytes follow behind the archive")] * (behind != b"")
    for source in (whole + behind, path):
        assert values(db, source) == {"w": ONES} and rows(db, "SELECT rule, message FROM zt_check(?, 'full')", source) == said
    assert "end record is missing" in message(db, "SELECT * FROM zt_objects(?)", whole + b"\0" * 65536)


def test_two_archives_in_a_row_are_neither(db):
    source = of({"w": tensor()}) + of({"v": tensor()})
    assert "several zip archives, one behind the other" in message(db, "SELECT * FROM zt_objects(?)", source)
    assert rows(db, "SELECT error_kind FROM zt_files(?)", source) == [("unsupported",)]


@pytest.mark.parametrize("path", LEGACY, ids=lambda p: p.stem)
def test_golden_files_with_bytes_behind_them(db, path):
    assert values(db, path.read_bytes() + b"\n") == values(db, path.read_bytes())


def test_a_broken_pickle_among_others_says_what_is_wrong(db):
    for system, value in ((SYSTEM, b"\xff"), (b"\xff", {})):
        assert message(db, "SELECT * FROM zt_objects(?)", legacy(value, system=system)).endswith("byte 2: opcode 0xff is not known")
