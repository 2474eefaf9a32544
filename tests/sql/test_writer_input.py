"""zt_writer: rows that cannot be, and tensors by reference, sparse and of ggml."""
import json
import os
import sqlite3
import struct

import pytest

import support
import writer
from support import rows, value
from writing import CONSTRAINT, ENTRY, IOERR, TOOBIG, attributes, declare, f32, insert, inside, listing, names, put, refusal, tensors  # noqa: F401


pytestmark = pytest.mark.usefixtures("inside")


@pytest.fixture
def db(connect, inside):
    return connect(entry=ENTRY)


# --------------------------------------------------------------------------------------------------------- bad input

@pytest.mark.parametrize("columns, message", [
    ({"name": "", "data": b"1", "dtype": "u8", "shape": "[1]"}, "object '': ztensor-2 needs a name; name the object"),
    ({"name": "n" * 1025, "data": b"1", "dtype": "u8", "shape": "[1]"}, "1024 bytes"),
    ({"name": "a\0b", "data": b"1", "dtype": "u8", "shape": "[1]"}, "object 'a\\x00b': ztensor-2 names cannot hold U+0000; rename the object"),
    ({"name": b"blob", "data": b"1", "dtype": "u8", "shape": "[1]"}, "name must be TEXT"),
    ({"name": "a", "data": b"123", "dtype": "u8", "shape": "[2]"}, "object 'a': component 'data': 2 elements of u8 are 2 bytes, and data has 3"),
    ({"name": "a", "data": b"1", "dtype": "u7", "shape": "[1]"}, "object 'a': dtype 'u7' is not known"),
    ({"name": "a", "data": b"1", "dtype": "u8"}, "object 'a': data needs dtype and shape"),
    ({"name": "a", "data": b"1", "shape": "[1]"}, "object 'a': data needs dtype and shape"),
    ({"name": "a", "data": "1", "dtype": "u8", "shape": "[1]"}, "object 'a': data must be a BLOB"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "1"}, "object 'a': shape must be a JSON array of at most 64 integers from 0 on"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[-1]"}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1.0]"}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1] x"}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": str([1] * 65)}, "shape must be"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[4294967296,4294967296]"}, "the shape has 2^64 elements or more"),
    ({"name": "a", "data": b"1", "dtype": "f64", "shape": "[4611686018427387904]"}, "object 'a'"),
    ({"name": "a", "data": b"\2", "dtype": "bool", "shape": "[1]"}, "object 'a': component 'data': byte 0 is 0x02: a bool is 0 or 1"),
    ({"name": "a", "data": b"\xf0", "dtype": "f4_e2m1", "shape": "[1]"}, "object 'a': component 'data'"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "object": "b"}, "object 'a': a tensor with data has no object"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "source": "b.zt"}, "object 'a': a tensor has source or data, not both"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "format": "sparse_bsr"},
     "object 'a': format with data is 'dense', 'sparse_csr' or 'sparse_coo', not 'sparse_bsr'"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "format": "sparse_coo"}, "object 'a': data of a sparse tensor needs a component"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "component": "values"}, "object 'a'"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "value": 1}, "value"),
    ({"name": "a"}, "object 'a': a tensor needs source or data; an attribute, a key"),
    ({"data": b"1", "dtype": "u8", "shape": "[1]"}, "a tensor needs a name"),
    ({"name": "a", "source": "src.zt", "shape": "[2]"}, "object 'a': its source has another shape: shape is NULL, which keeps that, or the same"),
    ({"name": "a", "source": "src.zt", "component": "data"}, "object 'a': a tensor with a source has no component"),
    ({"name": "a", "source": "src.zt", "format": "sparse_csr"}, "object 'a': its format is 'dense': format is NULL, which keeps it, or 'dense'"),
    ({"name": "a", "source": "src.zt", "object": "z"}, "src.zt: object 'z': no such object"),
    ({"name": "a", "source": "gone.zt"}, "gone.zt: cannot open: No such file or directory"),
    ({"name": "a", "source": "*.zt"}, "*.zt: no such file; exactly one file is needed, not a pattern"),
    ({"name": "a", "source": b"junk"}, "<blob>: not a tensor file of a known format"),
    ({"name": "a", "source": 5}, "object 'a': the source must be a path (TEXT) or a tensor file (BLOB), not a number"),
    ({"key": "k", "value": 1, "dtype": "u8"}, "an attribute has no dtype"),
    ({"key": "k", "value": 1, "data": b"1"}, "an attribute has no data"),
    ({"key": "k", "value": 1, "type": "colour"}, "type"),
    ({"key": "k", "value": "x", "type": "integer"}, "a.zt: attribute 'k': value 'x' is not of type integer"),
    ({"key": "k", "value": "18446744073709551616", "type": "integer"},
     "a.zt: attribute 'k': integer 18446744073709551616 is beyond 64 bits; type 'text' keeps its digits"),
    ({"key": "k", "value": "[1,]", "type": "array"}, "a.zt: attribute 'k': JSON value byte 3: a comma stands before ]"),
    *(({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", column: word + "\0"}, f"object 'a': {column} has U+0000 in it")
      for column, word in (("dtype", "u8"), ("format", "dense"), ("component", "data"), ("encoding", "zstd"), ("digest", "xxh3"))),
    *(({"key": "k", "value": 1, column: "text\0"}, f"a.zt: {column} has U+0000 in it") for column in ("type", "stored_type")),
    ({"key": "k\n\0", "value": 1}, "a.zt: ztensor-2 names cannot hold U+0000; rename the attribute 'k\\n'"),
    ({"key": b"k", "value": 1}, "key must be TEXT"), ({"key": "k", "value": 1, "stored_type": b"u8"}, "a.zt: stored_type must be TEXT"),
    *(({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", column: b"text"}, f"object 'a': {column} must be TEXT")
      for column in ("shape", "format", "component", "encoding", "digest")),
    *(({"name": "a", "source": "src.zt", column: b"text"}, f"object 'a': {column} must be TEXT") for column in ("object", "shape", "format")),
    ({"name": "a", "source": "src.zt", "shape": "[4"}, "object 'a': shape must be a JSON array of at most 64 integers from 0 on"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1, x]"}, "object 'a': shape must be a JSON array of at most 64 integers from 0 on"),
    ({"name": "a", "data": b"1", "dtype": "u8", "shape": "[1]", "level": "3"}, "object 'a': level must be an integer")])
def test_rows_that_cannot_be(db, columns, message):
    declare(db, "src.zt", name="src")
    put(db, "a", table="src")
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "kept")
    places = ",".join("?" * len(columns))
    code, text = refusal(db, f"INSERT INTO out({','.join(columns)}) VALUES({places})", *columns.values())
    assert text.startswith("ztensor: ") and message in text
    assert rows(db, "SELECT name FROM out") == [("kept",)]
    db.execute("COMMIT")
    assert names(db, "a.zt") == ["kept"]


@pytest.mark.parametrize("path, dtype, data, shape, cure", [
    ("a.npz", "bf16", bytes(2), "[1]", "npz cannot hold bf16; give dtype 'f32'"),
    ("a.gguf", "bool", bytes(1), "[1]", "gguf"), ("a.gguf", "u16", bytes(2), "[1]", "gguf"),
    ("a.safetensors", "complex128", bytes(16), "[1]", "safetensors"),
    ("a.gguf", "f32", bytes(4), "[1,1,1,1,1]", "gguf tensors have at most 4 dimensions")])
def test_what_a_format_cannot_hold(db, path, dtype, data, shape, cure):
    declare(db, path)
    error = refusal(db, "INSERT INTO out(name, data, dtype, shape) VALUES('w', ?, ?, ?)", data, dtype, shape)
    assert error[0] == 1 and error[1].startswith(f"ztensor: {path}: object 'w': ") and cure in error[1]
    assert listing(".") == []


def test_npy_holds_one(db):
    declare(db, "a.npy")
    db.execute("BEGIN")
    put(db, "a")
    put(db, "b")
    assert refusal(db, "COMMIT") == (1, "ztensor: a.npy: npy holds one tensor, and there are 2; npz holds any number")
    assert listing(".") == []


# ---------------------------------------------------------------------------------------------------------- sources

def test_references(db):
    """Kept, converted, renamed; by path and by BLOB."""
    declare(db, "src.zt", name="src")
    db.execute("BEGIN")
    put(db, "a", f32(1, 2), "f32", "[2]", "src")
    insert(db, "src", name="a", key="k", value=1)
    insert(db, "src", name="a", key="l", value="x")
    insert(db, "src", name=None, key="file", value="x")
    db.execute("COMMIT")
    image = open("src.zt", "rb").read()
    declare(db, "out.zt")
    db.execute("BEGIN")
    db.execute("INSERT INTO out(name, source) VALUES('a', 'src.zt')")
    db.execute("INSERT INTO out(name, source, object, dtype) VALUES('half', ?, 'a', 'f16')", (image,))
    insert(db, name="a", key="k", value=2)
    assert rows(db, "SELECT name, typeof(source), object, dtype, shape, format, bytes FROM out WHERE key IS NULL") == [
        ("a", "text", "a", "f32", "[2]", "dense", 8), ("half", "blob", "a", "f16", "[2]", "dense", 4)]
    assert value(db, "SELECT source FROM out WHERE name = 'half'") == image
    db.execute("COMMIT")
    assert tensors(db, "out.zt") == {"a": ("f32", "[2]", f32(1, 2)), "half": ("f16", "[2]", struct.pack("<2e", 1, 2))}
    assert attributes(db, "out.zt") == [("a", "k", 2, "integer"), ("a", "l", "x", "text"), ("half", "k", 1, "integer"),
                                        ("half", "l", "x", "text")]


def test_sources_that_are_named_again(db, save):
    """Each is opened or copied once, and none is taken for another."""
    for name, data in (("x", b"1234"), ("y", b"5678"), ("z", b"56789")):
        save(name + ".zt", writer.write({"a": writer.dense(data)}))
    x, z = (open(path, "rb").read() for path in ("x.zt", "z.zt"))
    declare(db, "out.zt")
    db.execute("BEGIN")
    sources = ["x.zt", "y.zt", "x.zt", x, z, x, "z.zt"]
    for i, source in enumerate(sources):
        db.execute("INSERT INTO out(name, source, object) VALUES(?, ?, 'a')", (str(i), source))
    assert [source for source, in rows(db, "SELECT source FROM out")] == sources
    db.execute("UPDATE out SET source = 'y.zt', shape = shape, dtype = dtype WHERE name = '0'")
    other = refusal(db, "UPDATE out SET source = 'z.zt', shape = shape, dtype = dtype WHERE name = '0'")
    assert other == (1, "ztensor: out.zt: object '0': its source has another shape: shape is NULL, which keeps that, or the same")
    db.execute("COMMIT")
    assert [data for _, _, data in tensors(db, "out.zt").values()] == [b"5678", b"5678", b"1234", b"1234", b"56789", b"1234", b"56789"]


def test_images_that_are_named_again(db):
    """More than are open at a time, and than the table of them begins with; two of the same length are told apart by all bytes."""
    images = [writer.write({"w": writer.dense(bytes([i]) + bytes(20000) + bytes([i // 2]))}) for i in range(20)]
    declare(db, "out.npz")
    db.execute("BEGIN")
    for again in range(2):
        for i, image in enumerate(images):
            insert(db, name=f"{again}.{i:02}", source=image, object="w")
    db.execute("COMMIT")
    assert [(data[0], data[-1]) for _, _, data in tensors(db, "out.npz").values()] == 2 * [(i, i // 2) for i in range(20)]


def test_data_longer_than_a_result_may_be(db):
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "a", bytes(20_000))
    limit = db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 10_000)
    assert refusal(db, "SELECT data FROM out") == (sqlite3.SQLITE_TOOBIG, "string or blob too big")
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limit)
    assert value(db, "SELECT data FROM out") == bytes(20_000)


@pytest.mark.parametrize("again", [0, 8])
@pytest.mark.parametrize("sql", [
    "UPDATE out SET data = x'05060708' WHERE name = 'd'", "UPDATE out SET dtype = 'i8' WHERE name = 'd'",
    "SELECT data FROM out WHERE name = 'd'", "INSERT INTO out(name, source, object) VALUES('n', ?, 'w')",
    "UPDATE out SET source = ? WHERE name = '0'", "COMMIT"])
def test_bytes_that_cannot_be_read_back(db, sql, again):
    images = [writer.write({"w": writer.dense(bytes([i]) * 200000)}) for i in range(10)]
    declare(db, "a.zt")
    db.execute("BEGIN")
    put(db, "d")
    for i, image in enumerate(images + images[:again]):   # These are open, then
        insert(db, name=str(i), source=image, object="w")
    for fd in os.listdir("/proc/self/fd"):
        link = f"/proc/self/fd/{fd}"
        if os.path.islink(link) and os.readlink(link).startswith(os.getcwd()) and "(deleted)" in os.readlink(link):
            os.truncate(link, 0)
    failure = refusal(db, sql, *([images[8 if again else 0]] if "?" in sql else []))
    assert failure == (IOERR, "ztensor: a.zt: reading back: Input/output error")
    if db.in_transaction:
        db.execute("ROLLBACK")
    assert listing(".") == []


def test_the_target_as_its_own_source(db):
    declare(db, "a.zt", "mode='replace'")
    db.execute("INSERT INTO out(name, data, dtype, shape) VALUES('a', x'01', 'u8', '[1]'), ('b', x'02', 'u8', '[1]')")
    db.execute("INSERT INTO out(name, source, object) SELECT 'new.' || object, path, object FROM zt_objects('a.zt')")
    assert tensors(db, "a.zt") == {"new.a": ("u8", "[1]", b"\1"), "new.b": ("u8", "[1]", b"\2")}


def test_a_source_that_changed(db):
    declare(db, "src.zt", name="src")
    put(db, "a", table="src")
    db.execute("CREATE TABLE t(a)")
    declare(db, "a.zt", "mode='replace'")
    put(db, "old")
    before = open("a.zt", "rb").read()
    declare(db, "other.zt", name="other")
    put(db, "a", b"\7", table="other")
    for change in (lambda: os.utime("src.zt", (1, 1)), lambda: open("src.zt", "ab").write(b"x"), lambda: os.truncate("src.zt", 100), lambda: os.unlink("src.zt"),
                   lambda: os.rename("other.zt", "src.zt")):
        db.execute("BEGIN")
        db.execute("INSERT INTO t VALUES(1)")
        db.execute("INSERT INTO out(name, source) VALUES('a', 'src.zt')")
        change()
        code, message = refusal(db, "COMMIT")
        assert message.startswith("ztensor: src.zt: ") and not db.in_transaction and rows(db, "SELECT * FROM t") == []
        assert open("a.zt", "rb").read() == before
        open("src.zt", "wb").close()
        os.unlink("src.zt")
        put(db, "a", table="src")
    assert listing(".") == ["a.zt", "src.zt"]


def test_a_source_on_another_device(db, elsewhere):
    for path in ("a.zt", f"{elsewhere}/a.zt"):
        with open(path, "wb") as file:
            file.write(writer.sample())
    os.symlink("a.zt", "link")
    declare(db, "out.zt")
    db.execute("BEGIN")
    insert(db, name="a", source="link", object="layer1.bias")
    os.unlink("link")
    os.symlink(f"{elsewhere}/a.zt", "link")
    assert refusal(db, "COMMIT") == (1, "ztensor: link: the file has changed since its row was inserted")


def test_an_image_without_bytes(db):
    declare(db, "out.zt")
    db.execute("BEGIN")
    for _ in range(2):
        assert refusal(db, "INSERT INTO out(name, source) VALUES('a', x'')") == (1, "ztensor: <blob>: the file is empty")
    put(db, "minus", b"", shape="[-0]")
    db.execute("COMMIT")
    assert tensors(db, "out.zt") == {"minus": ("u8", "[0]", b"")}


def test_a_digest_that_does_not_match(db, save):
    declare(db, "src.zt", name="src")
    put(db, "a", f32(1, 2), "f32", "[2]", "src")
    image = bytearray(open("src.zt", "rb").read())
    image[image.index(f32(1, 2))] ^= 1
    save("bad.zt", bytes(image))
    declare(db, "a.safetensors")
    db.execute("BEGIN")
    db.execute("INSERT INTO out(name, source) VALUES('a', 'bad.zt')")
    assert refusal(db, "COMMIT") == (1, "ztensor: bad.zt: object 'a': component 'data': its bytes do not have its digest")
    assert listing(".") == ["bad.zt", "src.zt"]


def test_sparse_tensors(db):
    """By components; by reference kept, and made dense."""
    declare(db, "s.zt")
    db.execute("BEGIN")
    parts = {"values": (f32(5, 6), "f32"), "indices": (struct.pack("<2Q", 1, 0), "u64"), "indptr": (struct.pack("<3Q", 0, 1, 2), "u64")}
    for role, (data, dtype) in parts.items():
        put(db, "s", data, dtype, "[2,3]", format="sparse_csr", component=role)
    assert refusal(db, "INSERT INTO out(name, data, dtype, shape, format, component) VALUES('s', x'00', 'u8', '[2,2]', 'sparse_csr', 'other')")
    assert "there is a component of this name" in refusal(
        db, "INSERT INTO out(name, data, dtype, shape, format, component) VALUES('s', ?, 'f32', '[2,3]', 'sparse_csr', 'values')",
        f32(5, 6))[1]
    db.execute("COMMIT")
    declare(db, "kept.zt", name="kept")
    db.execute("INSERT INTO kept(name, source) VALUES('s', 's.zt')")
    assert open("kept.zt", "rb").read() == open("s.zt", "rb").read()
    declare(db, "d.npz", name="dense")
    assert "dense" in refusal(db, "INSERT INTO dense(name, source) VALUES('s', 's.zt')")[1]
    db.execute("INSERT INTO dense(name, source, format) VALUES('s', 's.zt', 'dense')")
    assert tensors(db, "d.npz") == {"s": ("f32", "[2,3]", f32(0, 5, 0, 6, 0, 0))}


def test_a_repeated_cell_adds_up_where_it_becomes_dense(db):
    """In every format, also in one that forbids such cells."""
    source = str(support.ROOT / "tests/formats/ztensor/golden/v1.2/hand_sparse.zt")
    help = "two stored elements lie in one cell; format='dense' of zt_writer adds them"
    assert refusal(db, "SELECT zt_pack('ztensor-2', 'x', ?, 'coo.duplicate')", source)[1].endswith(help)
    declare(db, "sparse.zt", name="sparse")
    assert refusal(db, "INSERT INTO sparse(name, source, object) VALUES('x', ?, 'coo.duplicate')", source)[1].endswith(help)
    for i, format in enumerate(["ztensor-2", "ztensor-1.2", "safetensors", "gguf", "npy", "npz"]):
        declare(db, f"f{i}", f"format='{format}'", name=f"t{i}")
        db.execute(f"INSERT INTO t{i}(name, source, object, format) VALUES('f{i}', ?, 'coo.duplicate', 'dense')", (source,))
        assert rows(db, "SELECT format, zt_json(path, object) FROM zt_objects(?)", f"f{i}") == [("dense", "[0,9,0,2147483647]")]


def test_a_sparse_tensor_without_a_component(db):
    declare(db, "s.zt")
    db.execute("BEGIN")
    put(db, "s", f32(5), "f32", "[2,3]", format="sparse_csr", component="values")
    assert refusal(db, "COMMIT")[1].startswith("ztensor: s.zt: object 's': ")
    assert listing(".") == []


def test_what_has_the_name_of_another(db):
    """A component joins those of its format and shape. Only a whole tensor replaces a whole tensor."""
    component = "INSERT{0} INTO out(name, data, dtype, shape, format, component) VALUES('{1}', ?, 'u64', '{2}', '{3}', '{4}')"
    declare(db, "src.zt", name="src")
    put(db, "t", table="src")
    declare(db, "a.zt")
    db.execute("BEGIN")
    db.execute(component.format("", "s", "[2,3]", "sparse_csr", "values"), (bytes(16),))
    for shape, layout, role in (("[2,4]", "sparse_csr", "indices"), ("[6]", "sparse_coo", "coords"), ("[2,3]", "sparse_coo", "coords")):
        data = bytes(32 if (shape, role) == ("[2,3]", "coords") else 16)
        assert refusal(db, component.format("", "s", shape, layout, role), data) == (
            1, "ztensor: a.zt: object 's': its components differ in format or shape")
    db.execute("INSERT INTO out(name, source) VALUES('t', 'src.zt')")
    tensor = "INSERT{0} INTO out(name, source, object) VALUES('{1}', 'src.zt', 't')"
    for sql, *arguments in [(tensor.format("", "t"),), (tensor.format("", "s"),), (tensor.format(" OR REPLACE", "s"),),
                            *((component.format(how, "t", "[2,3]", "sparse_csr", "values"), bytes(16)) for how in ("", " OR REPLACE"))]:
        name = "t" if "'t'," in sql else "s"
        assert refusal(db, sql, *arguments) == (CONSTRAINT, f"ztensor: a.zt: object '{name}': there is an object of this name")
    db.execute(tensor.format(" OR REPLACE", "t"))
    assert rows(db, "SELECT name, shape, component, source FROM out") == [("s", "[2,3]", "values", None), ("t", "[4]", None, "src.zt")]


GGUF = support.ROOT / "tests" / "formats" / "gguf" / "golden"


@pytest.mark.parametrize("target, arguments, format", [("a.gguf", [], "gguf.q2_k"), ("a.zt", [], "gguf.q2_k/1")])
def test_ggml_blocks_are_copied(db, target, arguments, format):
    declare(db, target, *arguments)
    db.execute("INSERT INTO out(name, source) SELECT object, path FROM zt_objects(?)", (str(GGUF / "q_k.gguf"),))
    blocks = "SELECT object, data FROM zt_components(?) ORDER BY 1"
    assert rows(db, blocks, target) == rows(db, blocks, str(GGUF / "q_k.gguf"))
    assert value(db, "SELECT format FROM zt_objects(?) WHERE object = 'blk.0.q2_k'", target) == format


@pytest.mark.parametrize("target, arguments", [("a.safetensors", []), ("a.npz", []), ("a.zt", ["format='ztensor-1.2'"])])
def test_ggml_blocks_need_a_dtype_elsewhere(db, target, arguments):
    declare(db, target, *arguments)
    source = str(GGUF / "q_k.gguf")
    error = refusal(db, "INSERT INTO out(name, source) VALUES('blk.0.q2_k', ?)", source)
    assert error[1].startswith(f"ztensor: {target}: object 'blk.0.q2_k': ") and error[1].endswith("cannot hold blocks of q2_k; give dtype 'f32'")
    db.execute("INSERT INTO out(name, source, dtype) SELECT object, path, 'f32' FROM zt_objects(?)", (source,))
    assert rows(db, "SELECT dtype, format FROM zt_objects(?) WHERE object = 'blk.0.q2_k'", target) == [("f32", "dense")]
    assert value(db, "SELECT zt_dense(?, 'blk.0.q2_k') = zt_dense(?, 'blk.0.q2_k')", source, target) == 1


def test_settings_of_blocks_stay_behind_where_there_are_no_blocks(db):
    declare(db, "blocks.zt", name="blocks")
    db.execute("INSERT INTO blocks(name, source) VALUES('blk.0.q2_k', ?)", (str(GGUF / "q_k.gguf"),))
    assert [key for _, key, _, _ in attributes(db, "blocks.zt")] == ["block_bytes", "elems_per_block"]
    for target in ("a.safetensors", "a.zt"):
        declare(db, target)
        db.execute("INSERT INTO out(name, source, dtype) VALUES('blk.0.q2_k', 'blocks.zt', 'f32')")
        assert attributes(db, target) == []
        assert value(db, "SELECT zt_dense(?, 'blk.0.q2_k') = zt_dense('blocks.zt', 'blk.0.q2_k')", target) == 1
        db.execute("DROP TABLE out")


FORMATS = support.ROOT / "tests" / "formats"


@pytest.mark.parametrize("path, object, format, message", [
    ("ztensor/golden/v1.2/hand_unknown_type.zt", "type", None, "component 'data': type 'f6_e3m2' is not known"),
    ("hdf5/golden/tree.h5", "compound", None, "it has no values: its elements are records of several fields"),
    ("ztensor/hostile/2-L4-without-data-blob-4096-16-dtype-u32.zt", "x", None, "zt.quant_group/1 needs a component 'data'"),
    ("ztensor/hostile/2-L4-without-data-blob-4096-16-dtype-u32.zt", "x", "zt.quant_group/1",
     "its format 'zt.quant_group/1' has types of its own: dtype is NULL, or format is 'dense'")])
def test_a_dtype_for_a_tensor_without_known_values(db, path, object, format, message):
    declare(db, "a.zt")
    code, text = refusal(db, "INSERT INTO out(name, source, object, dtype, format) VALUES('a', ?, ?, 'u8', ?)", str(FORMATS / path), object, format)
    assert code == 1 and text.endswith(f": {message}")


def test_typed_attributes(db):
    """As zt_attributes shows them, GGUF's stored types with them."""
    source = str(GGUF / "kv_types.gguf")
    declare(db, "a.gguf")
    db.execute("BEGIN")
    db.execute("INSERT INTO out(key, value, type, stored_type) SELECT key, value, type, stored_type FROM zt_attributes(?) "
               "WHERE object IS NULL", (source,))
    db.execute("INSERT INTO out(name, source) SELECT object, path FROM zt_objects(?)", (source,))
    db.execute("COMMIT")
    shown = "SELECT key, value, type, stored_type FROM zt_attributes(?) WHERE object IS NULL ORDER BY 1"
    assert rows(db, shown, "a.gguf") == rows(db, shown, source) != []


@pytest.mark.parametrize("align", [8, 64, 4096])
def test_the_alignment_of_gguf_needs_no_stored_type(db, align):
    declare(db, "a.gguf")
    db.execute("BEGIN")
    insert(db, key="general.alignment", value=align)
    for name in ("v", "w"):
        put(db, name, b"\1\0\0\0", "f32", "[1]")
    db.execute("COMMIT")
    assert rows(db, "SELECT value, stored_type FROM zt_attributes('a.gguf') WHERE object IS NULL") == [(align, "u32")]
    assert [offset % align for offset, in rows(db, "SELECT offset FROM zt_components('a.gguf')")] == [0, 0]
    declare(db, "b.gguf", name="other")
    code, text = refusal(db, "INSERT INTO other(key, value, stored_type) VALUES('general.alignment', ?, 'i64')", align)
    assert code == 1 and text.endswith("b.gguf: attribute 'general.alignment' must be a u32 and a power of two from 8 on")


@pytest.mark.parametrize("leaf, word", [("x", "str"), (5, "i64"), (1.5, "f64"), (True, "bool"), (2**63, "u64")])
def test_the_word_of_an_array_of_gguf_bounds_its_depth(db, leaf, word):
    """It has at most 128 bytes."""
    declare(db, "a.gguf")
    db.execute("BEGIN")
    for depth in range(34):
        text = "[" * depth + json.dumps(leaf) + "]" * depth
        if 5 * depth + len(word) > 128:
            assert "gguf cannot hold attribute" in refusal(db, "INSERT INTO out(key, value, type) VALUES('k', ?, 'array')", text)[1]
        elif depth:
            insert(db, key=f"k{depth:02}", value=text, type="array")
    db.execute("COMMIT")
    found = rows(db, "SELECT key, stored_type FROM zt_attributes('a.gguf') ORDER BY 1")
    assert found == [(f"k{depth:02}", "arr[" * depth + word + "]" * depth) for depth in range(1, len(found) + 1)] and len(found) in (24, 25)


def test_an_unsigned_type_of_gguf_has_no_number_below_0(db):
    declare(db, "a.gguf")
    for type in ("u8", "u16", "u32", "u64"):
        assert refusal(db, "INSERT INTO out(key, value, stored_type) VALUES('k', -5, ?)", type)[0] == 1
    insert(db, key="k", value=-5, stored_type="i8")
    assert rows(db, "SELECT value, stored_type FROM zt_attributes('a.gguf')") == [(-5, "i8")]


def test_an_alignment_that_is_given_may_be_stated_too(db):
    declare(db, "a.gguf", "align=64")
    db.execute("BEGIN")
    insert(db, key="general.alignment", value=64)
    put(db, "w", b"\1\0\0\0", "f32", "[1]")
    db.execute("COMMIT")
    assert rows(db, "SELECT offset % 64 FROM zt_components('a.gguf')") == [(0,)]


def test_control_characters_in_metadata_of_safetensors(db):
    text = "".join(map(chr, range(1, 33))) + "\x7f\"\\"
    declare(db, "a.safetensors")
    db.execute("BEGIN")
    insert(db, key=text, value=text)
    put(db, text)
    db.execute("COMMIT")
    assert rows(db, "SELECT key, value FROM zt_attributes('a.safetensors')") == [(text, text)]
    assert names(db, "a.safetensors") == [text]


# Of XXH3's default secret: what it adds to the eight bytes at 128 and at 192 of its input
SECRETS = bytes.fromhex("ded46de9839097db"), bytes.fromhex("7240a4a4b7b3671f")


def colliding(high):
    """A file whose XXH3 of 128 bits does not depend on the number: a product with 0 has no trace of its other factor, and a sum is
    the same sum."""
    header = b'{"w":{"dtype":"U8","shape":[256],"data_offsets":[0,256]}}'.ljust(120)
    halves = (high & 0xffffffff, -high & 0xffffffff)
    data = b"".join((secret[:4] + struct.pack("<I", half)).ljust(64, b"\0") for secret, half in zip(SECRETS, halves))
    return struct.pack("<Q", len(header)) + header + data.ljust(256, b"\0")


def test_images_of_one_digest_are_told_apart(db):
    images = [colliding(high) for high in (1, 2, 3, 1, 3)]
    declare(db, "a.npz")
    db.execute("BEGIN")
    for i, image in enumerate(images):
        insert(db, name=f"w{i}", source=image, object="w")
    db.execute("COMMIT")
    assert [data for _, _, data in tensors(db, "a.npz").values()] == [image[128:] for image in images]
    packed = value(db, "SELECT zt_pack('npz', 'w' || i, image, 'w') FROM (SELECT 1 AS i, ? AS image UNION ALL SELECT 2, ?)", *images[:2])
    assert value(db, "SELECT zt_dense(?, 'w2')", packed) == images[1][128:]


def test_parts_of_one_digest_are_told_apart(db):
    images = [colliding(high) for high in (1, 2, 1)]
    declare(db, "a.zt")
    db.execute("BEGIN")
    for i, image in enumerate(images):
        put(db, f"w{i}", image)
    db.execute("COMMIT")
    assert [data for _, _, data in tensors(db, "a.zt").values()] == images
    found = rows(db, "SELECT digest, offset FROM zt_components('a.zt') ORDER BY object")
    assert len({digest for digest, _ in found}) == 1 and found[0] == found[2] != found[1]


@pytest.mark.parametrize("count, more, fits", [(0, 1, False), (1, 0, True), (1, 1, False)])
def test_the_longest_header_of_safetensors(db, count, more, fits):
    """With all of its padding."""
    most = 100_000_000
    around = len('{"__metadata__":{"k":""}}') + count * len(',"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}')
    declare(db, "a.safetensors", "sync='off'")
    db.execute("BEGIN")
    insert(db, key="k", value="x" * (most - around + more))
    if count:
        put(db, "a", b"\1")
    if fits:
        db.execute("COMMIT")
        assert rows(db, "SELECT objects, manifest_bytes FROM zt_files('a.safetensors')") == [(count, most)]
    else:
        assert refusal(db, "COMMIT") == (TOOBIG, f"ztensor: a.safetensors: a header of safetensors has at most {most} bytes")
