"""PyTorch's files: what pickles mean, by archives made opcode by opcode (tests/formats/pytorch/write_pytorch.py). Files of torch
itself are in test_golden.py and test_hostile.py."""
import io
import json
import math
import pickle
import random
import struct
import tarfile
import zipfile
import zlib

import numpy as np
import pytest

import corpus
import write_npz as binary
import write_pytorch
from support import everything, message, place, rows, value
from write_pytorch import ONES, archive, built, call, evil, integer, name, of, ordered, pickled, put, storage, tensor, text
from write_pytorch import sparse as sparse_parts

HOSTILE = corpus.FORMATS / "pytorch" / "hostile"


def leaves(db, source):
    return json.loads(value(db, "SELECT attributes FROM zt_files(?)", source))


def long(n, size=1200):
    return b"\x8b" + struct.pack("<I", size) + n.to_bytes(size, "little", signed=True)


def names(db, source):
    return [object for object, in rows(db, "SELECT object FROM zt_objects(?)", source)]


def attributes(db, source, object=""):
    return json.loads(value(db, "SELECT attributes FROM zt_objects(?) WHERE object = ?", source, object))


def dense(db, source, object=""):
    return np.frombuffer(value(db, "SELECT zt_dense(?, ?)", source, object), value(db, "SELECT dtype FROM zt_objects(?) WHERE object = ?", source,
                                                                                   object).replace("f32", "<f4").replace("i64", "<i8")).tolist()


# ------------------------------------------------------------------------------------------------------- what is walked

def test_paths_are_keys_and_indices(db):
    source = of({"a": [1, {"b": (2.5, "x")}], "c": {"d": tensor()}, "": {"": None}, "e": [], "f": {}})
    assert leaves(db, source) == {"a.0": 1, "a.1.b.0": 2.5, "a.1.b.1": "x", ".": None}
    assert names(db, source) == ["c.d"]


def test_keys_that_are_no_text_are_written_as_python_shows_them(db):
    keys = {integer(7): 0, integer(-7): 1, put(0.5): 2, b"N": 3, b"\x88": 4, b"\x89": 5, put((1, "a")): 6, put(("x",)): 7, b"C\2\xff\0": 8,
            put(((1, 2), None)): 9, name("os", "system"): 10, evil(): 11, put((evil(),)): 12,
            long(2**70): 13, long(-2**70): 14, put((long(-2**63 - 1),)): 15, long(2**500): 16, put((long(2**9000),)): 17, put(math.inf): 18,
            put(-math.inf): 19, put((math.nan, -0.0)): 20}
    assert list(leaves(db, of(keys))) == ["7", "-7", "0.5", "None", "True", "False", "(1, a)", "(x,)", "ff00", "((1, 2), None)", "os.system", "...",
                                          "(...,)", str(2**70), str(-2**70), f"({-2**63 - 1},)", str(2**500), "(...,)#2", "inf", "-inf",
                                          "(nan, -0.0)"]


def test_keys_are_shown_in_part(db):
    """Tuples are shown four deep, with at most 16 items."""
    keys = {put((((((1,),),),),)): 0, put(tuple(range(16))): 1, put(tuple(range(17))): 2}
    assert list(leaves(db, of(keys))) == ["((((...,),),),)", str(tuple(range(16))), "..."]


def test_a_long_key_is_refused(db):
    key = text("x" * (1 << 19)) + b"q\0"
    source = of({b"(" + key + b"h\0" * 100000 + b"t": 0})
    assert leaves(db, source) == {"...": 0}
    assert message(db, "SELECT * FROM zt_attributes(?)", of({b"(" + key + b"h\0" * 15 + b"t": 0})).endswith("a path of more than 1048576 bytes")


def test_values_keep_their_types(db):
    big = 2**70
    source = of({"int": -5, "big": b"\x8a\x09" + big.to_bytes(9, "little"), "real": 1.0, "yes": True, "none": None, "text": "\u03b1", "bytes": b"C\2\xffa",
                 "surrogate": text("\ud800")})
    got = rows(db, "SELECT key, value, type FROM zt_attributes(?)", source)
    assert got == [("int", -5, "integer"), ("big", str(big), "integer"), ("real", 1.0, "real"), ("yes", 1, "true"), ("none", None, "null"),
                   ("text", "\u03b1", "text"), ("bytes", b"\xffa", "blob"), ("surrogate", b"\xed\xa0\x80", "blob")]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("bits", [63, 64, 65, 127, 128, 1000])
def test_integers_of_any_size(db, sign, bits):
    numbers = [sign * 2**bits + more for more in (-1, 0, 1)]
    raw = b"](" + b"".join(long(n, 200) + b"L%dL\n" % n for n in numbers) + b"e"
    assert [v for v, in rows(db, "SELECT cast(value AS TEXT) FROM zt_attributes(?)", of(raw))] == [str(n) for n in numbers for _ in range(2)]


def test_a_lone_value_has_the_empty_path(db):
    assert leaves(db, of("x")) == {"": "x"}
    assert names(db, of(tensor())) == [""]
    assert value(db, "SELECT zt_json(?, '')", of(tensor())) == "[1.0,2.0,3.0,4.0]"


def test_paths_that_collide_are_numbered(db):
    source = of({"a.b": 1, "a": {"b": 2}, "a.b#2": 3, integer(1): 4, "1": 5, b"\x89": tensor(), "False": tensor()})
    assert leaves(db, source) == {"a.b": 1, "a.b#2": 2, "a.b#2#2": 3, "1": 4, "1#2": 5}
    assert names(db, source) == ["False", "False#2"]


def test_many_values_of_one_path_are_numbered_in_order(db):
    """x.x.x.x is what leads through {"x": {"x.x": {"x": ...}}} and through each other way to write it."""
    def ways(n):
        return {".".join("x" * k): ways(n - k) for k in range(1, n + 1)} if n else {"a": None, "b": tensor()}

    source, path = of(ways(12)), ".".join("x" * 12)
    assert list(leaves(db, source)) == [f"{path}.a"] + [f"{path}.a#{i}" for i in range(2, 2049)]
    assert names(db, source) == [f"{path}.b"] + [f"{path}.b#{i}" for i in range(2, 2049)]


def test_sets_are_their_values(db):
    source = of({"new": b"\x8f(K\1K\2\x90", "frozen": b"(K\3\x91", "old": call("__builtin__", "set", [4, 5]), "other": call("builtins", "frozenset", [6])})
    assert leaves(db, source) == {"new.0": 1, "new.1": 2, "frozen.0": 3, "old.0": 4, "old.1": 5, "other.0": 6}


def test_of_an_ordered_dict_the_entries_count(db):
    metadata = ordered({"a": tensor()}) + put({"_metadata": ordered({"": {"version": 1}})}) + b"b"
    assert names(db, of(metadata)) == ["a"] and leaves(db, of(metadata)) == {}
    assert leaves(db, of(call("collections", "OrderedDict", [["x", 1], ["y", [2]]]))) == {"x": 1, "y.0": 2}


def test_a_modules_tensors_are_found_in_its_state(db):
    linear = built("torch.nn.modules.linear", "Linear", {"training": True, "_parameters": ordered({"weight": tensor()}), "in_features": 4})
    source = of(built("net", "Net", {"_modules": ordered({"fc": linear})}))
    assert names(db, source) == ["_modules.fc._parameters.weight"]
    assert leaves(db, source) == {"": {"$opaque": "net.Net", "args": []}, "_modules.fc": {"$opaque": "torch.nn.modules.linear.Linear", "args": []},
                                  "_modules.fc.training": True, "_modules.fc.in_features": 4}


def test_a_module_is_known_by_its_three_dicts(db):
    """Where one of them is none, all keys are shown."""
    for buffers, expected in (({"b": tensor()}, ["w", "b"]), (5, ["_parameters.w"]), ([tensor()], ["_parameters.w", "_buffers.0"])):
        state = {"_parameters": ordered({"w": tensor()}), "_buffers": buffers, "_modules": ordered({})}
        assert names(db, of(built("net", "Net", state))) == expected


def test_the_state_of_an_object_may_be_two_dicts(db):
    """That of its attributes, and that of its slots."""
    assert names(db, of({"o": built("m", "C", ({"a": tensor()}, {"b": tensor()}))})) == ["o.a", "o.b"]
    assert names(db, of({"o": built("m", "C", (None, {"b": tensor()})), "p": built("m", "C", ({"a": tensor()}, None))})) == ["o.b", "p.a"]


def test_the_state_of_an_ordered_dict_is_walked_if_it_holds_a_tensor(db):
    source = of(ordered({"a": tensor()}) + put({"hook": tensor()}) + b"b")
    assert sorted(names(db, source)) == ["a", "hook"]


def test_a_call_that_returns_its_argument_has_one(db):
    assert leaves(db, of({"w": call("builtins", "set"), "v": tensor()})) == {"w": {"$opaque": "builtins.set", "args": []}}


def test_what_would_be_put_into_a_call_is_walked(db):
    default = call("collections", "defaultdict", name("builtins", "list")) + put("k") + put(1) + b"s"
    queue = call("collections", "deque") + b"K\2a"
    slots = built("m", "C", (None, {"x": 3}))
    assert leaves(db, of({"d": default, "q": queue, "s": slots})) == {
        "d": {"$opaque": "collections.defaultdict", "args": [{"$opaque": "builtins.list"}]}, "d.k": 1, "q": {"$opaque": "collections.deque", "args": []}, "q.0": 2,
        "s": {"$opaque": "m.C", "args": []}, "s.x": 3}


def test_what_is_opaque_says_what_it_is(db):
    got = leaves(db, of({
        "global": name("torch", "float16"), "size": call("torch", "Size", (2, 3)), "device": call("torch", "device", "cuda", 0),
        "tensor": call("f", "g", tensor()), "nested": call("f", "g", (((1,),),)), "dict": call("f", "g", {"a": 1}), "extension": b"\x82\5",
        "id": b"Pabc\n", "called": call("f", "g") + b")R", "long": call("f", "g", "x" * 70000), "args": name("f", "g") + b"NR"}))
    assert got == {
        "global": {"$opaque": "torch.float16"}, "size": {"$opaque": "torch.Size", "args": [[2, 3]]},
        "device": {"$opaque": "torch.device", "args": ["cuda", 0]}, "tensor": {"$opaque": "f.g"}, "nested": {"$opaque": "f.g", "args": [[[[1]]]]},
        "dict": {"$opaque": "f.g", "args": [{"a": 1}]}, "extension": {"$opaque": "copyreg.extension_5"},
        "id": {"$opaque": "persistent id"}, "called": {"$opaque": "f.g", "args": []}, "long": {"$opaque": "f.g"}, "long.0": "x" * 70000,
        "args": {"$opaque": "f.g", "args": None}}


def test_what_a_call_is_called_is_looked_for_in_its_callee(db):
    """At most 8 calls deep, and in a persistent id that has a class."""
    class_id = put(("other", name("m", "C"))) + b"Q"
    got = leaves(db, of({
        "8": name("f", "g") + b")R" * 8, "9": name("f", "g") + b")R" * 9, "number": b"K\1)R", "id": class_id + b")R", "number_id": put((5, 6)) + b"Q)R",
        "module": put(("module", name("m", "D"))) + b"Q)R"}))
    assert {key: found["$opaque"] for key, found in got.items()} == {
        "8": "f.g", "9": "unknown", "number": "unknown", "id": "m.C", "number_id": "persistent id", "module": "m.D"}


@pytest.mark.parametrize("part", ["args", "keywords", "list", "dict", "state", "behind"])
def test_a_call_is_shown_whole_where_it_and_its_parts_take_little(db, part):
    """64 KiB. What goes beyond may be a text, or the part around it."""
    def made(n):
        long, inner = text("x" * n), name("f", "g")
        return call("f", "h", *{"behind": (long, inner + b")R")}.get(part, ())) if part == "behind" else call("f", "h", {"args": inner + long + b"\x85R", "keywords": inner + b")}" + text("k") + long + b"s\x92", "list": inner + b")R" + long + b"a",
                               "dict": inner + b")R" + text("k") + long + b"s", "state": inner + b")R" + long + b"b"}[part])

    shown = []
    for n in [*range(65340, 65536, 1)]:
        found = leaves(db, of({"w": made(n)}))["w"]
        shown.append("args" in found)
        assert found["$opaque"] == "f.h"
    assert shown == sorted(shown, reverse=True) and shown[0] and not shown[-1]


def test_keywords_that_take_much_are_listed_below_their_call(db):
    def made(n):
        return of({"w": name("f", "g") + b")}" + text("k") + text("x" * n) + b"s\x92"})

    assert leaves(db, made(10)) == {"w": {"$opaque": "f.g", "args": [], "kwargs": {"k": "x" * 10}}}
    assert leaves(db, made(70000)) == {"w": {"$opaque": "f.g"}, "w.k": "x" * 70000}


def test_a_set_among_arguments_is_shown(db):
    assert leaves(db, of({"w": call("f", "g", b"\x8f(K\1K\2\x90")})) == {"w": {"$opaque": "f.g", "args": [[1, 2]]}}


def test_a_cycle_is_followed_once(db):
    source = archive(b"\x80\x02}q\0(" + text("self") + b"h\0" + text("w") + tensor() + text("list") + b"]q\1(h\1h\0e" + b"u.")
    assert leaves(db, source) == {"": {"$opaque": "cycle"}, "self": {"$opaque": "cycle"}, "list": {"$opaque": "cycle"}, "list.0": {"$opaque": "cycle"},
                                  "list.1": {"$opaque": "cycle"}}
    assert names(db, source) == ["w"]


def test_a_cycle_through_an_object_is_told_at_the_object(db):
    """Also where its state, or its arguments, are a list that is being walked."""
    source = archive(b"\x80\2}(" + text("o") + name("m", "C") + b")\x81q\0}(" + text("me") + b"h\0" + text("w") + tensor() + b"ubu.")
    assert leaves(db, source) == {"o": {"$opaque": "cycle"}, "o.me": {"$opaque": "cycle"}} or leaves(db, source)["o.me"] == {"$opaque": "cycle"}
    assert names(db, source) == ["o.w"]
    for opcodes in (name("m", "C") + b")\x81h\0b", name("m", "f") + b"h\0R"):
        source = archive(b"\x80\2]q\0(" + opcodes + tensor() + b"e.")
        assert names(db, source) == ["1"] and leaves(db, source)["0"]["$opaque"] in ("m.C", "m.f")


def test_of_many_cycles_the_first_are_told_where_they_begin(db):
    source = archive(b"\x80\2](" + b"]q\0h\0a" * 5000 + tensor() + b"e.")
    found = leaves(db, source)
    assert [f"{i}" in found for i in (0, 4095, 4096, 4999)] == [True, True, False, False] and found["4999.0"] == {"$opaque": "cycle"}
    assert names(db, source) == ["5000"]


@pytest.mark.parametrize("long", [
    name("f", "g" * 20000), tensor(location="c" * 20000), tensor(key="0" * 20000), tensor(kind="x" * 20000 + "Storage"),
    call("torch._utils", "_rebuild_qtensor", storage(), 0, (4,), (1,), (name("m" * 20000, "n"), evil()), False, ordered())], ids=range(5))
def test_what_is_shared_is_measured_in_each_place(db, long):
    source = archive(b"\x80\x02" + long + b"q\1(" + b"h\1" * 4000 + b"t.")
    assert message(db, "SELECT * FROM zt_objects(?)", source).startswith("ztensor: <blob>: paths and values take more than 17")
    assert rows(db, "SELECT rule FROM zt_check(?)", source) == [("torch-size",)]


def test_lists_of_many_small_values(db):
    source = archive(b"\x80\x02(" + b"N" * 300000 + b"K\5" * 300000 + b"t.")
    assert rows(db, "SELECT count(*), sum(value) FROM zt_attributes(?)", source) == [(600000, 1500000)]


def test_what_takes_more_than_a_little_is_listed_whole(db):
    """12 MB of texts, which are measured before all are put down; so are those of the other pickle."""
    pickle = b"\x80\x02" + text("x" * 1000) + b"q\1(" + put(tensor()) + b"h\1" * 12000 + put(tensor()) + b"t."
    source = archive(pickle, constants={"constants.pkl": pickle, "constants/0": ONES})
    assert names(db, source) == ["0", "12001", "constants.0", "constants.12001"]
    assert rows(db, "SELECT count(*), min(value), max(value) FROM zt_attributes(?) WHERE object IS NULL", source) == [(24000, "x" * 1000, "x" * 1000)]
    source = archive(pickle, constants={"constants.pkl": pickle.replace(b"h\1", b"h\1" * 2), "constants/0": ONES})
    assert "paths and values take more than" in message(db, "SELECT * FROM zt_objects(?)", source)


def test_what_is_shared_is_found_in_each_place(db):
    source = archive(b"\x80\x02}(" + text("a") + put({"w": tensor(), "lr": 0.5}) + b"q\0" + text("b") + b"h\0u.")
    assert names(db, source) == ["a.w", "b.w"] and leaves(db, source) == {"a.lr": 0.5, "b.lr": 0.5}


# -------------------------------------------------------------------------------------------------------------- tensors

@pytest.mark.parametrize("module", ["torch", "torch.cuda"])
@pytest.mark.parametrize("kind, width, format, dtype, type", [
    ("Double", 8, "dense", "f64", "f64"), ("Float", 4, "dense", "f32", "f32"), ("Half", 2, "dense", "f16", "f16"), ("BFloat16", 2, "dense", "bf16", "bf16"),
    ("Long", 8, "dense", "i64", "i64"), ("Int", 4, "dense", "i32", "i32"), ("Short", 2, "dense", "i16", "i16"), ("Char", 1, "dense", "i8", "i8"),
    ("Byte", 1, "dense", "u8", "u8"), ("Bool", 1, "dense", "bool", "bool"), ("ComplexFloat", 8, "dense", "f32", "complex64"),
    ("ComplexDouble", 16, "dense", "f64", "complex128"), ("QInt8", 1, "torch.qint8", "i8", "i8"), ("QUInt8", 1, "torch.quint8", "u8", "u8"),
    ("QInt32", 4, "torch.qint32", "i32", "i32"), ("Untyped", 1, "dense", "u8", "u8")])
def test_storages_of_every_class(db, module, kind, width, format, dtype, type):
    source = of(tensor(kind=kind + "Storage", module=module), storages={"0": bytes(4 * width)})
    assert rows(db, "SELECT format, dtype, type, stored_bytes FROM zt_objects(?)", source) == [(format, dtype, type, 4 * width)]


@pytest.mark.parametrize("kind, format", [("QUInt4x2Storage", "torch.quint4x2"), ("FutureStorage", "dense")])
def test_a_dtype_that_is_not_known_is_listed(db, kind, format):
    source = of({"w": tensor(kind=kind), "v": tensor()})
    assert rows(db, "SELECT object, format, shape, stored_bytes FROM zt_objects(?)", source) == [("w", format, "[4]", None), ("v", "dense", "[4]", 16)]
    assert message(db, "SELECT zt_blob(?, 'w')", source).startswith(place(source, "w"))
    assert dense(db, source, "v") == [1, 2, 3, 4]


def v3(dtype, *more, **options):
    return call("torch._utils", "_rebuild_tensor_v3", storage(kind="UntypedStorage", module="torch.storage", **options), 1, (2,), (1,), False, ordered(),
                name("torch", dtype), *more)


@pytest.mark.parametrize("dtype", ["uint4", "int4", "uint2", "int2", "uint1"])
def test_types_of_less_than_a_byte_are_not_known(db, dtype):
    """torch has each element in a byte of its own."""
    source = of(v3(dtype, elements=3), storages={"0": b"\1\2\3"})
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", source) == [("", "[2]")]
    assert message(db, "SELECT zt_dense(?, '')", source).endswith(f"dtype '{dtype}' is not known")


@pytest.mark.parametrize("dtype, ours, type, width", [
    ("uint16", "u16", "u16", 2), ("uint32", "u32", "u32", 4), ("uint64", "u64", "u64", 8), ("float8_e5m2", "u8", "f8_e5m2", 1),
    ("float8_e4m3fnuz", "u8", "f8_e4m3fnuz", 1), ("float32", "f32", "f32", 4)])
def test_untyped_storages_have_the_dtype_of_the_call(db, dtype, ours, type, width):
    source = of(v3(dtype, elements=3 * width), storages={"0": bytes(range(3 * width))})
    assert rows(db, "SELECT dtype, type, data FROM zt_components(?)", source) == [(ours, type, bytes(range(width, 3 * width)))]
    assert attributes(db, source)["storage_elements"] == 3 * width


def test_the_oldest_call_does_not_say_whether_it_requires_grad(db):
    source = of(call("torch._utils", "_rebuild_tensor", storage(), 0, (4,), (1,)))
    assert attributes(db, source) == {"storage": "0", "storage_offset": 0, "stride": [1], "location": "cpu", "storage_elements": 4, "contiguous": True}


@pytest.mark.parametrize("function, more", [("_rebuild_parameter", ()), ("_rebuild_parameter_with_state", ({"a": 1},))])
def test_a_parameter_says_whether_it_requires_grad(db, function, more):
    source = of(call("torch._utils", function, tensor(location="cuda:0"), True, ordered(), *more))
    assert attributes(db, source) == {"storage": "0", "storage_offset": 0, "stride": [1], "location": "cuda:0", "storage_elements": 4,
                                      "requires_grad": True, "contiguous": True, "parameter": True}


def test_a_parameter_without_its_second_argument_says_nothing(db):
    source = of(call("torch._utils", "_rebuild_parameter", call("torch._utils", "_rebuild_tensor", storage(), 0, (4,), (1,))))
    assert attributes(db, source).get("requires_grad") is None and attributes(db, source)["parameter"] is True


@pytest.mark.parametrize("inner, grad", [
    (call("torch._utils", "_rebuild_meta_tensor_no_storage", name("torch", "float32"), (2,), (1,), False), True),
    (call("torch.nn.parameter", "UninitializedParameter", False), True), (call("torch.nn.parameter", "UninitializedBuffer", False), True)])
def test_a_parameter_says_it_for_what_is_in_it(db, inner, grad):
    of_inner = attributes(db, of(inner)).get("requires_grad")
    source = of(call("torch._utils", "_rebuild_parameter", inner, True, ordered()))
    assert attributes(db, source)["requires_grad"] is grad and of_inner is False
    assert attributes(db, of(inner)).get("parameter") is (True if b"UninitializedParameter" in inner else None)


@pytest.mark.parametrize("hooks, shown", [(ordered(), []), (ordered() + put({"h": tensor()}) + b"b", ["w.h"]), (ordered({"h": tensor()}), ["w.h"])])
def test_hooks_are_walked_if_there_are_any(db, hooks, shown):
    source = of({"w": call("torch._utils", "_rebuild_tensor_v2", storage(), 0, (4,), (1,), False, hooks)})
    assert names(db, source) == ["w", *shown]


def test_a_tensor_with_more_states_than_are_kept_is_opaque(db):
    for n in (8, 9):
        source = of({"w": call("torch._utils", "_rebuild_tensor_v2", storage(), 0, (4,), (1,), False, ordered(), None,
                               *({f"s{i}": tensor()} for i in range(n)))})
        assert [key for key in names(db, source) if key != "w"][-n:] == [f"w.s{i}" if n == 8 else f"w.{7 + i}.s{i}" for i in range(n)]


@pytest.mark.parametrize("metadata, want", [
    ({"conj": True}, [1, -2, 3, -4]), ({"neg": True}, [-1, -2, -3, -4]), ({"conj": True, "neg": True}, [-1, 2, -3, 4]), ({"conj": False}, [1, 2, 3, 4]),
    (b"N", [1, 2, 3, 4])])
def test_values_are_negated_and_conjugated_and_bytes_are_not(db, metadata, want):
    source = of(tensor((2,), kind="ComplexFloatStorage", elements=2, metadata=metadata))
    assert rows(db, "SELECT format, type FROM zt_objects(?)", source) == [("dense", "complex64")]
    assert value(db, "SELECT zt_blob(?, '')", source) == ONES
    assert value(db, "SELECT zt_dense(?, '')", source) == struct.pack("<4f", *want)
    for word in ("conj", "neg"):
        assert attributes(db, source).get(word) is (metadata.get(word) or None if isinstance(metadata, dict) else None)


def test_what_is_not_complex_is_its_own_conjugate(db):
    source = of(tensor(metadata={"conj": True}))
    assert rows(db, "SELECT format, zt_json(?1, '') FROM zt_objects(?1)", source) == [("dense", "[1.0,2.0,3.0,4.0]")]


@pytest.mark.parametrize("kind, letter, values, want", [
    ("Float", "f", [0.0, 1.5, float("inf"), -2], [-0.0, -1.5, float("-inf"), 2]), ("Double", "d", [0.0, 1e300], [-0.0, -1e300]),
    ("Half", "e", [0.0, 0.5, -3], [-0.0, -0.5, 3]), ("Long", "q", [5, -2**63, 0], [-5, -2**63, 0]), ("Short", "h", [1, -7], [-1, 7]),
    ("Byte", "B", [1, 0, 255], [255, 0, 1])])
@pytest.mark.parametrize("strided", [False, True])
def test_numbers_of_every_kind_are_negated(db, kind, letter, values, want, strided):
    stored = [v for x in values for v in (x, 3)] if strided else values
    data = struct.pack(f"<{len(stored)}{letter}", *stored)
    source = of(tensor((len(values),), (2,) if strided else (1,), kind=kind + "Storage", elements=len(stored), metadata={"neg": True}), storages={"0": data})
    assert value(db, "SELECT zt_dense(?, '')", source) == struct.pack(f"<{len(want)}{letter}", *want)
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@pytest.mark.parametrize("dtype, metadata, format", [("float8_e4m3fnuz", {"neg": True}, "torch.neg"), ("bool", {"neg": True}, "torch.neg"),
                                                     ("float8_e5m2fnuz", {"conj": True}, "torch.conj"), ("float8_e8m0fnu", {"neg": True}, "torch.neg")])
def test_what_has_no_sign_of_its_own_is_listed(db, dtype, metadata, format):
    source = of(v3(dtype, metadata, elements=3), storages={"0": b"\1\0\1"})
    assert rows(db, "SELECT format, fingerprint FROM zt_objects(?)", source) == [(format, None)]
    assert message(db, "SELECT zt_dense(?, '')", source) == place(source, "") + f"no meaning of format '{format}' is known"
    assert rows(db, "SELECT zt_fingerprint(?)", source) == [(None,)]


def test_the_sign_of_a_type_that_is_not_known_is_not_known(db):
    for kind in ("OtherStorage", "QUInt4x2Storage"):
        source = of(tensor(kind=kind, metadata={"neg": True}))
        assert rows(db, "SELECT format FROM zt_objects(?)", source) == [("torch.neg",)]


def test_a_storage_of_another_class_has_the_elements_of_the_call(db):
    source = of(call("torch._utils", "_rebuild_tensor_v3", storage(kind="OtherStorage"), 1, (2,), (1,), False, ordered(), name("torch", "float32")))
    assert value(db, "SELECT zt_json(?, '')", source) == "[2.0,3.0]"


@pytest.mark.parametrize("quantizer, shown", [
    ((0.5, 1), [0.5, 1]), ([0.5, 1], None), (tuple(range(16)), list(range(16))), (tuple(range(17)), None), ((1, "x" * 2**21), [1, None]), ((evil(), {"a": 1}), [{"$opaque": "posix.mkdir"}, {"a": 1}])],
    ids=range(6))
def test_quantizers_are_shown_in_part(db, quantizer, shown):
    source = of(call("torch._utils", "_rebuild_qtensor", storage(kind="QInt8Storage", elements=16), 0, (4,), (1,), quantizer, False, ordered()))
    assert attributes(db, source)["quantizer"] == shown


def test_the_tensors_of_a_quantizer_of_channels_are_listed_below_it(db):
    quantizer = (name("torch", "per_channel_affine"), tensor(key="1"), tensor(key="2"), 0)
    source = of(call("torch._utils", "_rebuild_qtensor", storage(kind="QInt8Storage"), 0, (4,), (1,), quantizer, False, ordered()))
    part = {"$opaque": "torch._utils._rebuild_tensor_v2"}
    assert attributes(db, source)["quantizer"] == ["torch.per_channel_affine", part, part, 0]
    assert names(db, source) == ["", "quantizer.1", "quantizer.2"]


@pytest.mark.parametrize("quantizer, listed", [
    ((0.5, tensor(), 3), ["q.quantizer.1"]), ([tensor(), tensor()], ["q.quantizer.0", "q.quantizer.1"]), ((5, {"k": (6, tensor())}), ["q.quantizer.1.k.1"]), (tensor(), ["q.quantizer"]),
    (call("m", "f", tensor()), ["q.quantizer.0"]), (tuple([0] * 20 + [tensor()]), ["q.quantizer.20"]), ((0.5, put((5, 6))), [])], ids=range(7))
def test_tensors_of_any_quantizer_are_listed_and_nothing_else_of_it(db, quantizer, listed):
    """Other states of the tensor keep their places."""
    q = call("torch._utils", "_rebuild_qtensor", storage(kind="QInt8Storage"), 0, (4,), (1,), quantizer, False, {"h": tensor(), "n": 7})
    source = of({"q": q, "v": tensor()})
    assert names(db, source) == ["q", *listed, "q.h", "v"] and leaves(db, source) == {"q.n": 7}
    for name in listed:
        assert value(db, "SELECT zt_blob(?, ?, 'data')", source, name) == ONES


LOADED = call("torch.storage", "_load_from_bytes", b"C\x01x")
NUMBERED = put(("storage", name("torch", "FloatStorage"), 5, "cpu", 4)) + b"Q"


@pytest.mark.parametrize("value_, unread", [(LOADED, "w"), (NUMBERED, "w"), (call("m", "f", LOADED), "w.0"), (call("torch._utils", "_rebuild_tensor_v2", LOADED, 0, (4,), (1,)), "w.0"),
                                            (call("torch._utils", "_rebuild_tensor_v2", NUMBERED, 0, (4,), (1,)), "w.0")], ids=range(5))
def test_a_storage_that_is_not_read_is_listed_without_values(db, value_, unread):
    source = of({"w": value_, "v": tensor()})
    assert rows(db, "SELECT object, format, shape, components FROM zt_objects(?)", source) == [(unread, "torch.unread", None, 0), ("v", "dense", "[4]", 1)]
    assert unread in leaves(db, source) and value(db, "SELECT zt_fingerprint(?)", source) is None
    assert rows(db, "SELECT object, rule FROM zt_check(?)", source) == [(unread, "no-values")]


@pytest.mark.parametrize("shape, stride, offset, contiguous, want", [
    ((2, 2), (2, 1), 0, True, [1, 2, 3, 4]), ((2, 2), (1, 2), 0, False, [1, 3, 2, 4]), ((3, 2), (1, 1), 0, False, [1, 2, 2, 3, 3, 4]),
    ((2, 3), (1, 0), 2, False, [3, 3, 3, 4, 4, 4]), ((1, 3), (99, 1), 1, True, [2, 3, 4]), ((2, 1), (1, 7), 2, True, [3, 4]),
    ((), (), 3, True, [4]), ((2,), (3,), 0, False, [1, 4])])
def test_views(db, shape, stride, offset, contiguous, want):
    source = of(tensor(shape, stride, offset))
    assert dense(db, source) == want
    assert attributes(db, source)["contiguous"] is contiguous
    span = 1 + sum((n - 1) * s for n, s in zip(shape, stride))
    assert value(db, "SELECT zt_blob(?, '')", source) == ONES[4 * offset:4 * (offset + span)]


def test_values_of_an_expanded_tensor_are_counted_as_often_as_they_occur(db):
    """2^61 elements, of which four are stored."""
    source = of(tensor((1 << 30, 2, 1 << 29, 2), (0, 2, 0, 1)))
    each = 1 << 59
    l2 = math.sqrt(30 * each)
    assert rows(db, "SELECT elements, zeros, nans, infs, min, max, mean, l2 FROM zt_stats(?)", source) == [
        (4 * each, 0, 0, 0, 1, 4, 2.5, pytest.approx(l2))]
    assert rows(db, "SELECT low, high, count FROM zt_histogram(?, '') WHERE bins = 3", source) == [(1, 2, each), (2, 3, each), (3, 4, 2 * each)]
    assert rows(db, "SELECT elements, equal, max_abs, dot, cosine FROM zt_compare(?1, '', ?1, '')", source) == [
        (4 * each, 4 * each, 0, 30 * each, 1)]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


FAR = 2**62


@pytest.mark.parametrize("made, says", [
    (tensor(elements=FAR, kind="DoubleStorage"), f"its storage has {FAR} elements, and the record 16 bytes"),
    (tensor((2,), (FAR,)), f"{FAR + 1} elements from element 0 end beyond its storage, which has 16 bytes"),
    (tensor(offset=FAR - 1), f"4 elements from element {FAR - 1} end beyond its storage, which has 16 bytes"),
    (tensor((6, 2), (FAR, 1)), "its strides lead beyond 2^64 elements"), (tensor((4, 4, 2), (FAR, FAR, 1)), "its strides lead beyond 2^64 elements"),
    (tensor(view=(("v", 0, -1),)), "a view of -1 elements from 0 on does not lie in its storage, which has 16 bytes"),
    (tensor(view=(("v", FAR, 1),)), f"a view of 1 elements from {FAR} on does not lie in its storage, which has 16 bytes"),
    (tensor(view=(("v", 0, FAR),)), f"a view of {FAR} elements from 0 on does not lie in its storage, which has 16 bytes")])
def test_numbers_beyond_64_bits_lie_in_no_storage(db, made, says):
    source = of({"w": made, "v": tensor()})
    assert rows(db, "SELECT object, message FROM zt_check(?) WHERE severity = 'error'", source) == [("w", says)]
    assert message(db, "SELECT zt_dense(?, 'w')", source) == place(source, "w", "data") + says
    assert dense(db, source, "v") == [1, 2, 3, 4]


def test_views_of_one_storage_are_no_finding(db):
    source = of({"a": tensor(), "b": tensor((2,), offset=1), "c": tensor((0,), (1,), 4)})
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []
    assert rows(db, "SELECT object, length FROM zt_components(?)", source) == [("a", 16), ("b", 8), ("c", 0)]


@pytest.mark.parametrize("order, shown", [(b"little", "little"), (b"big", "big"), (b"big\n", "big")])
def test_the_archive_says_the_byte_order(db, order, shown):
    source = of({"w": tensor(), "b": tensor(kind="ByteStorage")}, byteorder=order)
    assert rows(db, "SELECT object, byte_order FROM zt_components(?)", source) == [("w", shown), ("b", "little")]
    want = struct.unpack(">4f" if shown == "big" else "<4f", ONES)
    assert value(db, "SELECT zt_dense(?, 'w')", source) == struct.pack("<4f", *want)


def test_storages_that_are_compressed_are_decoded(db):
    data = struct.pack("<1000f", *range(1000))
    source = of({"a": tensor((1000,), elements=1000), "b": tensor((10, 2), (3, 100), 5, elements=1000)}, storages={"0": data},
                methods={"data/0": zipfile.ZIP_DEFLATED})
    assert rows(db, "SELECT encoding, decoded_length, data = ? FROM zt_components(?) WHERE object = 'a'", data, source) == [("deflate", 4000, 1)]
    assert value(db, "SELECT zt_blob(?, 'a', 'data', 40, 8)", source) == data[40:48]
    assert dense(db, source, "b") == [5 + 3 * i + 100 * k for i in range(10) for k in range(2)]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


def test_another_method_is_listed(db):
    source = of({"w": tensor(key="1"), "v": tensor()}, storages={"0": ONES, "1": ONES}, methods={"data/1": zipfile.ZIP_BZIP2})
    assert rows(db, "SELECT object, encoding FROM zt_components(?)", source) == [("w", "bzip2"), ("v", "raw")]
    assert "encoding 'bzip2' is not known" in message(db, "SELECT zt_dense(?, 'w')", source)
    assert dense(db, source, "v") == [1, 2, 3, 4]


def sparse(indices, values, size, layout="torch.sparse_coo"):
    return call("torch._utils", "_rebuild_sparse_tensor", call("torch.serialization", "_get_layout", layout), (indices, values, call("torch", "Size", size)))


def test_strides_of_a_sparse_tensors_indices_repeat_no_values(db):
    """Its indices are one row, expanded to two: (0, 0) and (2, 2)."""
    indices = tensor((2, 2), (0, 1), key="i", elements=2, kind="LongStorage")
    source = of({"w": sparse(indices, tensor((2,)), (3, 3))}, storages={"0": ONES, "i": struct.pack("<2q", 0, 2)})
    assert dense(db, source, "w") == [1, 0, 0, 0, 0, 0, 0, 0, 2]
    assert rows(db, "SELECT elements, zeros, min, max FROM zt_stats(?)", source) == [(9, 7, 0, 2)]
    assert rows(db, "SELECT count FROM zt_histogram(?, 'w') WHERE bins = 2", source) == [(7,), (2,)]
    assert rows(db, "SELECT elements, equal FROM zt_compare(?1, 'w', ?1, 'w')", source) == [(9, 9)]


def test_a_sparse_tensor(db):
    storages = {"0": struct.pack("<4q", 0, 1, 2, 0), "1": struct.pack("<2f", 5, 6)}
    indices, values = tensor((2, 2), (2, 1), kind="LongStorage"), tensor((2,), key="1", elements=2)
    source = of({"s": sparse(indices, values, (2, 3))}, storages=storages)
    assert rows(db, "SELECT format, dtype, shape, components FROM zt_objects(?)", source) == [("torch._rebuild_sparse_tensor", "f32", "[2,3]", 2)]
    assert value(db, "SELECT zt_json(?, 's')", source) == "[[0.0,0.0,5.0],[6.0,0.0,0.0]]"
    assert rows(db, "SELECT component, dtype, data FROM zt_components(?)", source) == [("values", "f32", storages["1"]), ("indices", "i64", storages["0"])]


def test_coordinates_as_coalesce_leaves_them(db):
    """Those of a dimension lie one after the other, and behind them what was there before: stride (3, 1) of shape (2, 2)."""
    storages = {"0": struct.pack("<6q", 0, 1, 9, 1, 0, 9), "1": struct.pack("<2f", 2, 1)}
    indices = tensor((2, 2), (3, 1), kind="LongStorage", elements=6)
    source = of({"s": sparse(indices, tensor((2,), (1,), key="1", elements=2), (2, 2))}, storages=storages)
    assert value(db, "SELECT zt_json(?, 's')", source) == "[[0.0,2.0],[1.0,0.0]]"
    assert rows(db, "SELECT coords, value FROM zt_elements(?, 's')", source) == [("[0,1]", 2.0), ("[1,0]", 1.0)]
    assert rows(db, "SELECT rule FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []


@pytest.mark.parametrize("keys", [("a", "b"), (1, "1"), (1, 2), (0.5, 1), (None, False), (2**60, 2**60 + 1), (-2**60, -2**60 - 1)], ids=str)
def test_keys_that_differ_are_no_key_twice(db, keys):
    assert rows(db, "SELECT error FROM zt_files(?)", of({keys[0]: 1, keys[1]: 2})) == [(None,)]


def coo(indices, values, size):
    """Indices and values are (shape, stride), and perhaps metadata."""
    return of({"s": sparse(tensor(*indices, key="i", elements=16, kind="LongStorage"), tensor(*values), size)},
              storages={"0": ONES, "i": struct.pack("<16q", *[0, 1, 2] + [0] * 13)})


@pytest.mark.parametrize("indices, values, size", [
    (((1, 2), (2, 1)), ((-1,), (1,)), (3,)), (((1, 2), (2, 1)), ((2,), (1,), 0, {"neg": True}), (3,)),
    (((1, 2), (2, 1), 0, {"neg": True}), ((2,), (1,)), (3,)), (((2,), (1,)), ((2,), (1,)), (3,)), (((1, 2), (2, 1)), ((), ()), (3,)),
    (((1, 3), (3, 1)), ((2,), (1,)), (3,)), (((1, 2), (2, 1)), ((2, 1, 1), (1, 1, 1)), (3,)), (((2, 2), (2, 1)), ((2,), (1,)), (3,)),
    (((1, 2), (2, 1)), ((2, 2), (2, 1)), (3, 3)), (((2, 1 << 40), (0, 0)), ((1 << 40,), (0,)), (3, 3)), (((1, 2), (2, 1)), ((2, 1 << 40), (0, 0)), (3, 1 << 40))])
def test_coordinates_that_are_not_put_together_are_listed(db, indices, values, size):
    source = coo(indices, values, size)
    assert message(db, "SELECT zt_dense(?, 's')", source) == place(source, "s") + "its indices and values do not have the shapes and strides that are read"
    assert rows(db, "SELECT format, shape, fingerprint FROM zt_objects(?)", source) == [
        ("torch._rebuild_sparse_tensor", json.dumps(size).replace(" ", ""), None)]
    assert rows(db, "SELECT component FROM zt_components(?)", source) == [("values",), ("indices",)]


def strided(numbers, shape, strides, offset):
    """A view of numbers, as nested lists."""
    if not shape:
        return numbers[offset]
    return [strided(numbers, shape[1:], strides[1:], offset + i * strides[0]) for i in range(shape[0])]


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("indices, values, size", [
    ((2, 3, 1, 2, 0), ((3,), (1,), 0), (5, 5)),                   # edges.t()
    ((2, 3, 1, 2, 4), ((3,), (2,), 1), (5, 5)), ((2, 3, 3, 1, 1), ((3,), (0,), 2), (5, 5)), ((1, 3, 0, 0, 2), ((3,), (1,), 0), (5,)),
    ((3, 3, 2, 5, 0), ((3,), (5,), 2), (5, 5, 5)), ((1, 3, 99, 4, 1), ((3, 2), (1, 4), 0), (5, 2)), ((1, 3, 3, 1, 0), ((3, 2, 2), (4, 1, 2), 1), (5, 2, 2)),
    ((1, 3, 0, 0, 0), ((3,), (2,), 0), (5,)), ((2, 1, 1, 1, 0), ((1, 2), (7, 3), 0), (5, 5, 2)), ((1, 3, 3, 1, 0), ((3, 2), (0, 1), 0), (5, 2)),
    ((0, 2, 1, 1, 0), ((2,), (0,), 3), ()), ((1, 3, 3, 2, 0), ((3, 0), (1, 1), 0), (5, 0))])
def test_coordinates_and_values_at_strides(db, indices, values, size, compression):
    """Indices: dimensions, number, strides, offset."""
    places, numbers = [0, 1, 4, 2, 3, 3, 0, 2, 1, 4, 4, 0, 1, 2, 3, 0], [float(i) for i in range(1, 17)]
    dimensions, n, step, each, first = indices
    shape, strides, offset = values
    source = of({"s": sparse(tensor((dimensions, n), (step, each), offset=first, key="i", elements=16, kind="LongStorage"),
                             tensor(shape, strides, offset=offset, key="0", elements=16), size)},
                storages={"0": struct.pack("<16f", *numbers), "i": struct.pack("<16q", *places)}, methods={"data/0": compression, "data/i": compression})
    whole, want = math.prod(shape[1:]), [0.0] * math.prod(size)
    flat = strided(numbers, shape, strides, offset)
    for i in range(n):
        place = 0
        for d in range(dimensions):
            place = place * size[d] + places[first + d * step + i * each]
        block = np.array(flat[i]).ravel()
        for k in range(whole):
            want[place * whole + k] += block[k]
    assert rows(db, "SELECT format FROM zt_objects(?)", source) == [("torch._rebuild_sparse_tensor",)]
    assert dense(db, source, "s") == want
    assert value(db, "SELECT count(*) FROM zt_elements(?, 's')", source) == n * whole
    assert rows(db, "SELECT rule FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []
    assert rows(db, "SELECT fingerprint FROM zt_objects(?)", source) == rows(
        db, "SELECT fingerprint FROM zt_objects(?)", of({"s": tensor(size, tuple(math.prod(size[d + 1:]) for d in range(len(size))), elements=len(want))},
                                                        storages={"0": struct.pack(f"<{len(want)}f", *want)}))


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("format", ["ztensor-2", "ztensor-1.2"])
def test_a_sparse_scalar_is_written_or_refused(db, n, format):
    """It has no coordinates, and any number of values, whose sum it is."""
    source = of({"s": sparse(tensor((0, n), (max(n, 1), 1), key="i", elements=0, kind="LongStorage"), tensor((n,), elements=4), ())}, storages={"0": ONES, "i": b""})
    if format == "ztensor-2":
        assert "ztensor-2 cannot hold sparse_coo without a dimension; format='dense'" in message(db, "SELECT zt_pack(?, 's', ?, 's')", format, source)
        return
    packed = value(db, "SELECT zt_pack(?, 's', ?, 's')", format, source)
    assert rows(db, "SELECT object, shape, zt_json(?1, object) FROM zt_objects(?1)", packed) == [("s", "[]", value(db, "SELECT zt_json(?, 's')", source))]


def test_many_coordinates_at_strides(db):
    """More than are read at once: a list of edges, and a column of a table."""
    n, wide = 20000, 5000
    random = np.random.default_rng(1)
    edges, table = random.integers(0, 90, (n, 2)), random.integers(0, 100, (n, 3)).astype("f4")
    want = np.zeros((90, 90), "f4")
    np.add.at(want, (edges[:, 0], edges[:, 1]), table[:, 1])
    source = of({"s": sparse(tensor((2, n), (1, 2), key="i", elements=2 * n, kind="LongStorage"), tensor((n,), (3,), offset=1, elements=3 * n), (90, 90)),
                 "far": sparse(tensor((1, 7), (1, wide), key="i", elements=2 * n, kind="LongStorage"), tensor((7,), (wide,), elements=3 * n), (90,))},
                storages={"0": table.tobytes(), "i": edges.astype("<i8").tobytes()})
    assert dense(db, source, "s") == want.ravel().tolist()
    far = np.zeros(90, "f4")
    np.add.at(far, edges.ravel()[:7 * wide:wide], table.ravel()[:7 * wide:wide])
    assert dense(db, source, "far") == far.tolist()
    assert value(db, "SELECT sum(value) FROM zt_elements(?, 's')", source) == float(table[:, 1].sum())


def test_coordinates_of_one_value_may_lie_apart(db):
    source = coo(((2, 1), (2, 7)), ((1,), (1,)), (2, 3))
    assert value(db, "SELECT zt_json(?, 's')", source) == "[[0.0,0.0,1.0],[0.0,0.0,0.0]]"


def test_a_sparse_tensor_whose_values_are_vectors(db):
    storages = {"0": struct.pack("<2q", 0, 2), "1": struct.pack("<4f", 5, 6, 7, 8)}
    source = of({"s": sparse(tensor((1, 2), (2, 1), kind="LongStorage", elements=2), tensor((2, 2), (2, 1), key="1"), (3, 2))}, storages=storages)
    assert value(db, "SELECT zt_blob(?, 's', 'values')", source) == storages["1"]
    assert value(db, "SELECT zt_json(?, 's')", source) == "[[5.0,6.0],[0.0,0.0],[7.0,8.0]]"
    assert rows(db, "SELECT coords, value FROM zt_elements(?, 's')", source) == [("[0,0]", 5.0), ("[0,1]", 6.0), ("[2,0]", 7.0), ("[2,1]", 8.0)]


def compressed(layout, size, indptr, indices, shape, kind="Long", letter="q"):
    """A sparse tensor of compressed rows or columns, whose values, 1, 2 ..., have that shape."""
    n, stride = math.prod(shape), tuple(math.prod(shape[i + 1:]) for i in range(len(shape)))
    storages = {"a": struct.pack(f"<{len(indptr)}{letter}", *indptr), "b": struct.pack(f"<{len(indices)}{letter}", *indices),
                "c": struct.pack(f"<{n}f", *range(1, n + 1))}
    parts = [tensor((len(indptr),), key="a", elements=len(indptr), kind=kind + "Storage"), tensor((len(indices),), key="b", elements=len(indices), kind=kind + "Storage"),
             tensor(shape, stride, key="c", elements=n), call("torch", "Size", size)]
    return of({"s": call("torch._utils", "_rebuild_sparse_tensor", call("torch.serialization", "_get_layout", f"torch.sparse_{layout}"), tuple(parts))}, storages=storages)


COMPRESSED = [
    ("csr", (3, 4), [0, 2, 2, 3], [3, 0, 1], (3,)), ("csc", (4, 3), [0, 2, 2, 3], [3, 0, 1], (3,)), ("csr", (2, 3), [0, 2, 2], [1, 1], (2,)),
    ("bsr", (4, 6), [0, 1, 3], [1, 0, 1], (3, 2, 3)), ("bsc", (4, 6), [0, 1, 3], [1, 0, 1], (3, 2, 3)), ("bsr", (4, 2), [0, 0, 1], [0], (1, 2, 2)),
    ("bsc", (3, 8), [0, 1, 1, 2, 2], [0, 2], (2, 1, 2)), ("bsr", (0, 4), [0], [], (0, 2, 2)), ("csc", (3, 0), [0], [], (0,)), ("bsr", (6, 4), [0, 1, 2], [1, 1], (2, 3, 2))]


@pytest.mark.parametrize("kind, letter", [("Long", "q"), ("Int", "i")])
@pytest.mark.parametrize("layout, size, indptr, indices, shape", COMPRESSED)
def test_compressed_rows_and_columns_and_blocks_of_them(db, layout, size, indptr, indices, shape, kind, letter):
    source = compressed(layout, size, indptr, indices, shape, kind, letter)
    height, width = shape[1:] or (1, 1)
    want = [[0] * size[1] for _ in range(size[0])]
    stored = []
    for line in range(len(indptr) - 1):
        for block in range(indptr[line], indptr[line + 1]):
            row, column = (indices[block], line) if layout in ("csc", "bsc") else (line, indices[block])
            for i in range(height * width):
                y, x, v = row * height + i // width, column * width + i % width, 1 + block * height * width + i
                want[y][x] += v
                stored.append((f"[{y},{x}]", float(v)))
    flat = [v for line in want for v in line]
    assert dense(db, source, "s") == flat
    assert rows(db, "SELECT coords, value FROM zt_elements(?, 's')", source) == stored
    assert rows(db, "SELECT vector FROM zt_rows(?, 's')", source) == [(struct.pack(f"<{size[1]}f", *line),) for line in want]
    assert rows(db, "SELECT elements, zeros FROM zt_stats(?)", source) == [(len(flat), flat.count(0))]
    assert rows(db, "SELECT fingerprint FROM zt_objects(?)", source) == rows(
        db, "SELECT fingerprint FROM zt_objects(?)", of({"s": tensor(size, (size[1], 1), elements=len(flat))}, storages={"0": struct.pack(f"<{len(flat)}f", *flat)}))
    assert rows(db, "SELECT rule, message FROM zt_check(?, 'full') WHERE severity = 'error'", source) == []
    lines = [indices[begin:end] for begin, end in zip(indptr, indptr[1:])]
    unsorted = [line for line in lines if line != sorted(line)]
    assert rows(db, "SELECT severity FROM zt_check(?, 'full') WHERE rule = 'unsorted-indices'", source) == [("warning",)] * bool(unsorted)
    format = "sparse_csr" if layout == "csr" else f"torch.sparse_{layout}"
    assert rows(db, "SELECT format, type, shape, components FROM zt_objects(?)", source) == [(format, "f32", json.dumps(size).replace(" ", ""), 3)]


def test_a_large_matrix_of_blocks_is_read_in_any_order(db):
    """More stored elements than are read at once, in windows that begin within blocks."""
    n, lines = 3, 60
    indptr = [i * 40 for i in range(lines + 1)]
    indices = [(7 * k + line) % 50 for line in range(lines) for k in range(40)]
    source = compressed("bsr", (lines * 3, 50 * 5), indptr, indices, (40 * lines, 3, 5))
    cells = {}
    for line in range(lines):
        for block in range(indptr[line], indptr[line + 1]):
            for i in range(15):
                key = (line * 3 + i // 5, indices[block] * 5 + i % 5)
                cells[key] = cells.get(key, 0) + 1 + block * 15 + i
    want = [cells.get((y, x), 0) for y in range(lines * 3) for x in range(250)]
    assert dense(db, source, "s") == want
    for row in (0, 1, 2, 100, 178, 179):
        assert value(db, "SELECT zt_dense(?, 's', 'f32', ?, 1)", source, row) == struct.pack("<250f", *want[250 * row:250 * row + 250])
    assert rows(db, "SELECT count(*), sum(value) FROM zt_elements(?, 's')", source) == [(36000, sum(range(1, 36001)))]


@pytest.mark.parametrize("layout, size, shape, says", [
    ("bsr", (4, 6), (3, 2, 0), "2 x 0 do not fill 4 x 6"), ("bsr", (4, 6), (3, 0, 3), "0 x 3 do not fill 4 x 6"), ("bsr", (4, 5), (3, 2, 3), "2 x 3 do not fill 4 x 5"),
    ("bsc", (5, 6), (3, 2, 3), "2 x 3 do not fill 5 x 6")])
def test_blocks_that_do_not_fill_the_matrix_are_an_error(db, layout, size, shape, says):
    source = compressed(layout, size, [0, 1, 3], [1, 0, 1], shape)
    assert message(db, "SELECT zt_dense(?, 's')", source) == place(source, "s") + "blocks of " + says
    assert rows(db, "SELECT object, message FROM zt_check(?, 'full') WHERE severity = 'error'", source) == [("s", "blocks of " + says)]


@pytest.mark.parametrize("size, shape, why", [
    ((2, 3, 4), (2, 2), "it is a sparse matrix of arrays, its dense dimensions, whose values are not put together"),
    ((3, 4), (2, 2), "its indices and values do not have the shapes and strides that are read")])
def test_sparse_tensors_that_are_not_put_together_are_listed(db, size, shape, why):
    source = compressed("csr", size, [0, 1, 2], [0, 1], shape)
    assert rows(db, "SELECT format, shape, fingerprint FROM zt_objects(?)", source) == [("torch.sparse_csr", json.dumps(size).replace(" ", ""), None)]
    assert message(db, "SELECT zt_dense(?, 's')", source) == place(source, "s") + why
    assert rows(db, "SELECT message FROM zt_check(?) WHERE object = 's'", source) == [(why,)]
    assert rows(db, "SELECT component, length FROM zt_components(?)", source) == [("values", 4 * math.prod(shape)), ("indices", 16), ("indptr", 24)]


def test_a_batch_of_sparse_matrices_is_listed(db):
    line, lines = tensor((2, 2), (2, 1)), tensor((2, 3), (3, 1), elements=6)
    source = of({"s": sparse_parts("csr", lines, line, line, (2, 2, 4))}, storages={"0": bytes(48)})
    assert rows(db, "SELECT message FROM zt_check(?) WHERE object = 's' AND severity = 'note'", source) in (
        [], [("it is a batch of sparse matrices, whose values are not put together",)])
    assert "it is a batch of sparse matrices, whose values are not put together" in message(db, "SELECT zt_dense(?, 's')", source)


def test_parts_of_compressed_rows_have_one_dimension_and_are_contiguous(db):
    line, wide = tensor((2,), (1,)), tensor((2, 1), (1, 1))
    why = "its indices and values do not have the shapes and strides that are read"
    for parts in ((tensor((2,), (2,)), line, line), (line, tensor((2,), (2,)), line), (wide, line, line), (line, wide, line),
                  (line, line, tensor((2,), (2,))), (line, line, tensor((2,), (1,), metadata={"neg": True}))):
        source = of({"s": sparse_parts("csr", *parts, (1, 4))})
        assert rows(db, "SELECT message FROM zt_check(?) WHERE object = 's' AND rule <> 'no-values'", source) == [(why,)] or message(
            db, "SELECT zt_dense(?, 's')", source).endswith(why)


def test_a_tensor_without_bytes_has_a_type(db):
    for dtype, type in (("float32", "f32"), ("complex64", "complex64")):
        source = of(call("torch._utils", "_rebuild_meta_tensor_no_storage", name("torch", dtype), (2,), (1,), False))
        assert rows(db, "SELECT type, shape, components FROM zt_objects(?)", source) == [(type, "[2]", 0)]


def test_a_sparse_tensor_has_the_type_of_its_values(db):
    source = of({"s": sparse_parts("csr", tensor((2,), kind="LongStorage", elements=2), tensor((1,), kind="LongStorage", elements=2),
                                   tensor((1,), kind="ComplexFloatStorage", elements=2), (1, 4))})
    assert rows(db, "SELECT type FROM zt_objects(?)", source) == [("complex64",)]


OPAQUE = [
    sparse(tensor(), tensor(), (2, 3), "torch.sparse_csr"), sparse(b"N", tensor(), (2, 3)), tensor(("a",)), tensor((1, 2)), tensor(kind="Float"),
    call("torch._utils", "_rebuild_tensor_v2", evil(), 0, (4,), (1,)), call("torch._utils", "_rebuild_parameter", evil(), True, ordered()),
    call("torch._utils", "_rebuild_tensor_v2"), v3("float32")[:-2] + b"0tR", tensor((1,) * 65, (1,) * 65), name("torch._utils", "_rebuild_tensor_v2") + b"NR",
    call("torch._utils", "_rebuild_meta_tensor_no_storage", 1), call("torch._utils", "_rebuild_meta_tensor_no_storage", name("torch", "float32"), "x"),
    call("torch._utils", "_rebuild_tensor_v2", put((5, 1)) + b"Q", 0, (4,), (1,)), tensor(metadata={5: True}), tensor(metadata={f"m{i}": True for i in range(17)}),
    v3("float32", 5), call("torch._utils", "_rebuild_tensor_v3", storage(), 0, (4,), (1,), False, ordered(), name("os", "float32")),
    call("torch._utils", "_rebuild_nested_tensor", tensor(), tensor(), tensor(), b"N"), sparse(tensor((1, 2)), tensor(), (2, 3)),
    sparse(call("torch._utils", "_rebuild_parameter", tensor(), True, ordered()), tensor(), (2, 3)), sparse(tensor(), tensor(), 5),
    call("torch._utils", "_rebuild_tensor_v2", put(("storage", 5, "0", "cpu", 4)) + b"Q", 0, (4,), (1,)),
    sparse_parts("csr", b"N", tensor(), tensor(), (2, 2)), sparse_parts("csr", tensor(), tensor(), tensor(), 5)]


@pytest.mark.parametrize("broken", OPAQUE, ids=range(len(OPAQUE)))
def test_what_is_not_called_as_torch_does_is_opaque(db, broken):
    """The tensors among its arguments are rows all the same. Where one of them is a storage, its own row has no values."""
    source = of({"w": broken, "v": tensor()})
    found = rows(db, "SELECT object, format FROM zt_objects(?)", source)
    unread = ("w", "pickle.unread") in found
    assert found[-1] == ("v", "dense") and all(name.startswith("w.") for name, _ in found[unread:-1])
    assert unread <= (value(db, "SELECT zt_fingerprint(?)", source) is None)
    assert leaves(db, source)["w"]["$opaque"].startswith("torch._utils._rebuild")


@pytest.mark.parametrize("storages, made", [
    ((storage(),), True), ((1, storage()), True), ((name("c", "C"), name("d", "D"), (storage(), 0, (2, 2), (2, 1)), {}), True), (([storage()],), False),
    ((tensor(),), False), ((1, "t"), False)])
def test_what_an_unknown_function_makes_of_a_storage_is_not_known(db, storages, made):
    """Shape and strides are the function's: the storage has a row, and so has what is made of it."""
    source = of({"w": call("own", "rebuild", *storages)})
    assert (("w", "pickle.unread", None) in rows(db, "SELECT object, format, shape FROM zt_objects(?)", source)) == made
    assert [said for said, in rows(db, "SELECT message FROM zt_check(?) WHERE object = 'w'", source)] == ["a function that is not known makes it of a storage"] * made
    assert (value(db, "SELECT zt_fingerprint(?)", source) is None) == made


def test_tensors_of_fastai_before_torch_2(db):
    for shape, strides, first in (((2, 2), (2, 1), [[0, 1], [2, 3]]), ((2, 2), (1, 2), [[0, 2], [1, 3]]), ((2,), (2,), [0, 2])):
        made = call("fastai.torch_core", "_rebuild_from_type", name("torch._utils", "_rebuild_tensor_v2"), name("fastai.torch_core", "TensorImage"),
                    (storage(), 0, shape, strides, False, ordered()), {"img_size": 2})
        source = of({"w": made}, storages={"0": struct.pack("<4f", 0, 1, 2, 3)})
        assert json.loads(value(db, "SELECT zt_json(?, 'w')", source)) == first and names(db, source) == ["w"]
        assert rows(db, "SELECT * FROM zt_check(?, 'full')", source) == []


@pytest.mark.parametrize("data, is_file", [
    (b"\x80\x02" + b"N" * 20 + b".", True), (b"PK\3\4" + bytes(20), True), (b"\x89HDF\r\n\x1a\n" + bytes(20), True), (b"\x93NUMPY\1\0" + bytes(20), True),
    (b"GGUF" + bytes(20), True), (b"ZTEN1000" + bytes(20), True), (b"\x89ZT2\r\n\x1a\n" + bytes(20), True),
    (b"MATLAB 7.3 MAT-file".ljust(40), True), (struct.pack("<I", 28) + b"TFL3" + bytes(30), True), *[(pickle.dumps(0x1950a86a20f9469cfc6c, n) + b"\0\0", True) for n in range(6)],
    (pickle.dumps(0x1950a86a20f8469cfc6c, 0) + b"\0", False), (pickle.dumps(0x1950a86a20f9469cfd6c, 2) + b"\0\0", False),
    (pickle.dumps(0x1950a86a20f9469cfd6c, 4) + b"\0", False), (b"\x80\x02" + b"N" * 20, False), (b"\x80\x06" + b"N" * 20 + b".", False), (b"PK\3\4", False), (b"P" * 50, False), (b"\xff" * 50, False)])
def test_bytes_that_begin_as_a_tensor_file_are_an_object(db, data, is_file):
    """As skorch's and TransformerEngine's. They are an attribute, too."""
    for source in (of({"w": b"C" + bytes([len(data)]) + data, "v": tensor()}), pickle.dumps({"w": data, "v": np.ones(2)})):
        assert (("w", "pickle.unread") in rows(db, "SELECT object, format FROM zt_objects(?)", source)) == is_file
        assert value(db, "SELECT value FROM zt_attributes(?) WHERE key = 'w'", source) == data
        assert (value(db, "SELECT zt_fingerprint(?)", source) is None) == is_file


# ------------------------------------------------------------------------------------------------------------- archives

def test_the_constants_of_torchscript_are_tensors_of_their_own(db):
    constants = {"constants.pkl": b"\x80\x02" + put((tensor(), 5)) + b".", "constants/0": ONES[::-1], "code/__torch__.py": b"def forward(): ..."}
    module = built("__torch__", "M", {"w": tensor(), "sizes": call("torch.jit._pickle", "build_intlist", [2, 3]), "training": False})
    source = of(module, constants=constants)
    assert names(db, source) == ["w", "constants.0"]
    assert leaves(db, source) == {"": {"$opaque": "__torch__.M", "args": []}, "sizes.0": 2, "sizes.1": 3, "training": False, "constants.1": 5}
    assert rows(db, "SELECT object, json_extract(attributes, '$.storage') FROM zt_objects(?)", source) == [("w", "0"), ("constants.0", "constants/0")]
    assert value(db, "SELECT zt_blob(?, 'constants.0')", source) == ONES[::-1] and value(db, "SELECT zt_blob(?, 'w')", source) == ONES


def test_members_may_come_in_any_order(db):
    with zipfile.ZipFile(io.BytesIO(of({"w": tensor()}))) as z:
        members = {i.filename: z.read(i) for i in z.infolist()}
    buffer = io.BytesIO(b"")
    with zipfile.ZipFile(buffer, "w") as z:
        for path, raw in reversed(members.items()):
            z.writestr(path, raw)
    assert dense(db, buffer.getvalue(), "w") == [1, 2, 3, 4]


def test_records_near_and_far_in_any_order(db):
    random.seed(15)
    sizes = [random.choice([1, 1, 2, 100, 5000, 20000]) for _ in range(300)]
    storages = {str(i): struct.pack("<%di" % n, *range(i, i + n)) for i, n in enumerate(sizes)}
    order = random.sample(range(300), 300)
    source = of({f"t{i}": tensor((sizes[i],), key=str(i), elements=sizes[i], kind="IntStorage") for i in order}, storages=storages)
    assert rows(db, "SELECT object, data FROM zt_components(?)", source) == [(f"t{i}", storages[str(i)]) for i in order]


def test_what_an_archive_does_not_say_is_null(db):
    source = of({})
    with zipfile.ZipFile(io.BytesIO(source)) as z:
        pickle = z.read("m/data.pkl")
    buffer = io.BytesIO(b"")
    with zipfile.ZipFile(buffer, "w") as z:
        z.writestr("x/data.pkl", pickle)
    assert rows(db, "SELECT container, version, objects, attributes, manifest_bytes FROM zt_files(?)", buffer.getvalue()) == [
        ("pytorch", None, 0, "{}", len(pickle))]
    assert json.loads(value(db, "SELECT zt_manifest(?)", buffer.getvalue())) == {"archive": "x", "version": None, "byteorder": None, "leaves": {}}


@pytest.mark.parametrize("file", ["checkpoint.pt", "modern.pt"])
def test_an_archive_behind_a_program(db, save, file):
    """Whether its offsets count from the file's begin or from its own, and whatever record is the first."""
    source = (corpus.FORMATS / "pytorch" / "golden" / file).read_bytes()
    program = b"#!/bin/sh\nexit\n"
    own = program + source
    for made in (own, save("m.pt", own)):
        assert rows(db, "SELECT container, version, attributes FROM zt_files(?)", made) == rows(db, "SELECT container, version, attributes FROM zt_files(?)", source)
        for sql in ("SELECT object, format, dtype, shape, attributes FROM zt_objects(?)", "SELECT object, component, encoding, length, data FROM zt_components(?)"):
            assert rows(db, sql, made) == rows(db, sql, source) != []
        assert rows(db, "SELECT offset FROM zt_components(?)", made) == [
            (None if offset is None else offset + len(program),) for offset, in rows(db, "SELECT offset FROM zt_components(?)", source)]
        assert rows(db, "SELECT rule, message FROM zt_check(?, 'full')", made) == rows(db, "SELECT rule, message FROM zt_check(?, 'full')", source)


def test_a_program_with_the_pickle_behind_other_records(db):
    buffer = io.BytesIO()
    buffer.write(b"MZ" + bytes(100))
    with zipfile.ZipFile(buffer, "a") as z:
        for path, raw in (("m/version", b"3\n"), ("m/data/0", ONES), ("m/data.pkl", pickled({"w": tensor()}))):
            z.writestr(path, raw)
    assert rows(db, "SELECT container, version, objects FROM zt_files(?)", buffer.getvalue()) == [("pytorch", "3", 1)]
    assert dense(db, buffer.getvalue(), "w") == [1, 2, 3, 4]
    assert rows(db, "SELECT error_kind FROM zt_files(?)", b"MZ" + bytes(100)) == [("unknown",)]


@pytest.mark.parametrize("options", [{}, {"methods": {"data/0": zipfile.ZIP_DEFLATED}}, {"storages": {}}], ids=["stored", "deflated", "lost"])
def test_without_a_version_all_else_is_as_with_one(db, options):
    """The first entry kept of an archive is not mistaken for a missing one."""
    def answers(version):
        source = of(tensor(), version=version, **options)
        dense, = rows(db, "SELECT CASE WHEN error IS NULL THEN zt_json(?1, object) ELSE error END FROM zt_stats(?1)", source)
        return dense, rows(db, "SELECT format, attributes FROM zt_objects(?)", source), rows(db, "SELECT encoding FROM zt_components(?)", source)

    assert answers(None) == answers(b"3\n")


@pytest.mark.parametrize("beside, said", [
    ("", None), ("m", None), ("x", None), ("mx/model.gguf", 1), ("n/model.gguf", 1), ("m/model.gguf", 1), ("m/data/model.gguf", None), ("m/a", None), ("m/.pkl", None),
    ("m/constants.pkl", None), ("m/" + "x" * 5000 + ".gguf", None), ("n\0.gguf", None)])
def test_another_tensor_file_beside_the_pickle_is_said(db, beside, said):
    members = [binary.Member("m/data.pkl", pickled({"w": tensor()})), binary.Member("m/data/0", ONES), binary.Member(beside, pickled(5))]
    source = binary.archive(*members)
    assert rows(db, "SELECT object, rule, message FROM zt_check(?)", source) == [
        (None, "torch-beside", f"member '{beside}' is not read beside the model's pickle"),
        (beside, "no-values", "it has no values: it is another tensor file in this one, which is not read")] * bool(said)
    assert rows(db, "SELECT object, format, shape FROM zt_objects(?)", source) == [("w", "dense", "[4]")] + [(beside, "torch.unread", None)] * bool(said)
    assert (value(db, "SELECT zt_fingerprint(?)", source) is None) == bool(said)


def test_another_file_of_torch_behind_the_last_storage_is_an_object(db):
    """As when torch.save() is called again with one file, before 1.6; other bytes are none."""
    first, second = write_pytorch.legacy({"w": write_pytorch.old()}), write_pytorch.legacy({"v": write_pytorch.old()})
    assert rows(db, "SELECT object, format FROM zt_objects(?)", first + second) == [("w", "dense"), ("", "file.unread")]
    assert value(db, "SELECT zt_blob(?, '')", first + second) == second
    assert value(db, "SELECT zt_fingerprint(?)", first + second) is None
    for behind in (b"", b"\x80", b"\x80\x02", b"more", bytes(100)):
        assert rows(db, "SELECT object FROM zt_objects(?)", first + behind) == [("w",)]
        assert value(db, "SELECT zt_fingerprint(?)", first + behind) == value(db, "SELECT zt_fingerprint(?)", first)


@pytest.mark.parametrize("n, found", [(100, True), (5000, False)])
def test_a_record_of_a_very_long_name_is_none(db, n, found):
    """A pickle of more than 4,096 bytes in an archive."""
    long = "m" * n
    source = binary.archive(binary.Member(long + "/data.pkl", pickled({"w": tensor()})), binary.Member(long + "/data/0", ONES))
    assert rows(db, "SELECT container, objects FROM zt_files(?)", source) == [("pytorch" if found else "pickle", 1)]


@pytest.mark.parametrize("record, version", [(b"3\r\n ", "3"), (b"\n", None), (b"\xff\n", None), (b"1\0002", None)])
def test_a_version_is_text_without_white_space_at_its_end(db, record, version):
    source = of(tensor(), version=record)
    assert rows(db, "SELECT version, objects FROM zt_files(?)", source) == [(version, 1)]
    assert rows(db, "SELECT version FROM zt_files(?)", of(tensor(), methods={"version": zipfile.ZIP_BZIP2})) == [(None,)]


def test_a_deflated_pickle_of_empty_blocks(db):
    """More than are read at once give no bytes."""
    raw = pickled({"w": tensor()})
    packed = zlib.compressobj(wbits=-15)
    packed = packed.flush(zlib.Z_SYNC_FLUSH) + b"\0\0\0\xff\xff" * 60000 + packed.compress(raw) + packed.flush()
    source = binary.archive(binary.Member("m/data.pkl", raw, 8, data=packed), binary.Member("m/data/0", ONES))
    assert dense(db, source, "w") == [1, 2, 3, 4]


def test_archives_and_tars_that_are_not_torchs(db):
    def tar(name):
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode="w") as t:
            t.addfile(tarfile.TarInfo(name), io.BytesIO())
        return file.getvalue()

    for source in (binary.archive(), binary.archive(binary.Member("", b"x")), tar("other"), tar("storagesx"), tar("tensor"), tar("")):
        assert rows(db, "SELECT objects, error_kind FROM zt_files(?)", source) in ([(None, "unknown")], [(0, None)])
    local = binary.archive(binary.Member("m/x", b"x"))
    local = local[:local.index(b"PK\1\2")]
    for source in (binary.archive(binary.Member("", b"x", local=b"m/x")), local + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 0, 0, 0, len(local), 0)):
        assert rows(db, "SELECT objects FROM zt_files(?)", source) in ([(None,)], [(0,)])
    for source in (tar("storages"), tar("tensors/1")):
        assert "tar" in message(db, "SELECT * FROM zt_objects(?)", source)


def test_other_archives_are_none_of_torchs(db):
    buffer = io.BytesIO(b"")
    with zipfile.ZipFile(buffer, "w") as z:
        z.writestr("word/document.xml", "<x/>")
    assert "no member is a tensor file" in message(db, "SELECT * FROM zt_objects(?)", buffer.getvalue())


def test_a_directory_stands_for_its_checkpoints(db, save):
    data = of({"epoch": 3, "w": tensor()})
    wanted = [save(name, data) for name in ("a.pt", "b.pth", "pytorch_model.bin", "pytorch_model-00001-of-00002.bin")]
    save("other.bin", data)
    directory = wanted[0].rpartition("/")[0]
    assert {path for path, in rows(db, "SELECT path FROM zt_files(?)", directory)} == set(wanted)
    assert rows(db, "SELECT sum(value) FROM zt_attributes(?) WHERE key = 'epoch'", directory) == [(12,)]


def test_no_pickle_is_ever_executed(db, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in sorted(HOSTILE.rglob("*.pt")):
        everything(db, str(path))
        rows(db, "SELECT * FROM zt_check(?, 'full')", str(path))
    assert list(tmp_path.iterdir()) == []


def test_a_file_cut_anywhere_is_an_error(db):
    whole = of({"w": tensor(), "epoch": 3})
    for n in range(len(whole)):
        text = message(db, "SELECT * FROM zt_objects(?)", whole[:n])
        assert text.startswith("ztensor: <blob>: "), n


def test_a_pickle_cut_anywhere_is_an_error(db):
    whole = pickled({"w": tensor(), "list": [1, (2.5, None)], "size": call("torch", "Size", (2,)), "module": built("a", "B", {"c": 1})})
    assert len(leaves(db, archive(whole))) == 6
    for n in range(len(whole)):
        assert f"the pickle ends at byte {n} without STOP" in (text := message(db, "SELECT * FROM zt_objects(?)", archive(whole[:n]))) \
            or "goes beyond the pickle's end" in text


def test_ten_thousand_tensors(db):
    n = 10000
    source = archive(b"\x80\x02}(" + b"".join(text(f"layer.{i}.weight") + tensor((1,), offset=i % 4) for i in range(n)) + b"u.")
    assert rows(db, "SELECT count(*), sum(elements), min(object), max(object) FROM zt_objects(?)", source) == [(n, n, "layer.0.weight", "layer.9999.weight")]
    assert dense(db, source, "layer.9999.weight") == [4]


# ------------------------------------------------------------------------------------------------------------- records

@pytest.mark.parametrize("method, encoding", [(12, "bzip2"), (14, "lzma"), (93, "zip.93")])
def test_a_method_that_is_not_known_is_named(db, method, encoding):
    source = bytearray(of(tensor(), methods={"data/0": zipfile.ZIP_BZIP2}))
    at = source.rindex(b"m/data/0")
    source[at - 36:at - 34] = method.to_bytes(2, "little")
    source = bytes(source)
    assert rows(db, "SELECT encoding FROM zt_components(?)", source) == [(encoding,)]
    assert message(db, "SELECT zt_dense(?, '')", source).endswith(f"component 'data': encoding '{encoding}' is not known")


def test_a_version_that_cannot_be_had_hides_nothing(db):
    source = of(tensor())
    assert json.loads(value(db, "SELECT zt_manifest(?)", source))["version"] == "3"
    source = source.replace(b"m/version", b"n/version", 1)    # In the local header
    assert json.loads(value(db, "SELECT zt_manifest(?)", source))["version"] is None
    assert dense(db, source) == [1, 2, 3, 4]


def test_values_are_not_guessed_where_a_byte_order_cannot_be_had(db):
    source = of(tensor(), byteorder=b"little")
    assert dense(db, source) == [1, 2, 3, 4]
    source = source.replace(b"m/byteorder", b"n/byteorder", 1)
    assert message(db, "SELECT zt_dense(?, '')", source).endswith("record 'm/byteorder' says '', not 'little' or 'big'")


@pytest.mark.parametrize("record", ["version", "byteorder"])
def test_a_small_record_may_be_compressed(db, record):
    source = of({"w": tensor()}, storages={"0": struct.pack(">4f", 1, 2, 3, 4)}, byteorder=b"big\n", methods={record: zipfile.ZIP_DEFLATED})
    assert value(db, "SELECT zt_json(?, 'w')", source) == "[1.0,2.0,3.0,4.0]"
    assert rows(db, "SELECT version, byte_order FROM zt_files(?1), zt_components(?1)", source) == [("3", "big")]
