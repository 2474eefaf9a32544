"""The columns by which a catalog tells files apart: kinds of errors, device and inode, digests of architecture and layout; zt_absolute() and zt_host()."""
import json
import os
import socket
import sqlite3
import struct
import subprocess
import sys

import pytest

import corpus
import writer
from support import EXTENSION, rows
from writer import dense


def hidden(db, source, column):
    return [value for value, in db.execute(f"SELECT {column} FROM zt_files(?)", (str(source),))]


def file(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return str(path)


# ------------------------------------------------------------------------------------------------------- kinds of errors

def test_kinds_of_errors(db, tmp_path):
    kinds = {"missing": str(tmp_path / "none.zt"), "broken": file(tmp_path / "broken.zt", writer.sample()[:-9]),
             "unknown": file(tmp_path / "text.zt", b"no tensors in here"), None: file(tmp_path / "fine.zt", writer.sample())}
    os.mkfifo(tmp_path / "fifo.zt")
    os.symlink("nowhere", tmp_path / "link.zt")
    os.symlink("loop.zt", tmp_path / "loop.zt")
    for kind, path in [*kinds.items(), ("unknown", tmp_path / "fifo.zt"), ("missing", tmp_path / "link.zt"), ("missing", tmp_path / "loop.zt"),
                       ("missing", file(tmp_path / "f", b"") + "/x.zt"), ("missing", tmp_path / ("n" * 300))]:
        assert hidden(db, path, "error_kind") == [kind], path
    assert rows(db, "SELECT error_kind, error IS NULL FROM zt_files(?)", b"no tensors") == [("unknown", 0)]


def test_what_is_not_allowed_is_denied(tmp_path):
    """By a user whom modes keep out."""
    path = file(tmp_path / "x.zt", writer.sample())
    os.chmod(path, 0)
    os.mkdir(tmp_path / "closed", 0)
    for part in (tmp_path, *list(tmp_path.parents)[:2]):
        os.chmod(part, 0o755)
    program = ("import sqlite3, sys; db = sqlite3.connect(':memory:'); db.enable_load_extension(True); db.load_extension(sys.argv[1]);"
               "print([db.execute('SELECT error_kind FROM zt_files(?)', (p,)).fetchall() for p in sys.argv[2:]])")
    become = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    done = subprocess.run([sys.executable, "-c", program, EXTENSION, path, str(tmp_path / "closed")], capture_output=True, text=True,
                          check=False, **become)
    assert done.stdout == "[[('denied',)], [('denied',)]]\n", done.stderr


@pytest.mark.parametrize("name", ["0.1-dup-object-name.zt", "1.2-dtype-empty.zt"])
def test_a_hostile_file_is_broken_or_fine(db, name):
    path = corpus.FORMATS / "ztensor" / "hostile" / name
    [(kind, error)] = db.execute("SELECT error_kind, error FROM zt_files(?)", (str(path),))
    assert kind == ("broken" if error else None)


# ------------------------------------------------------------------------------------------------------ which file it is

def test_device_and_inode_open_no_file(db, tmp_path):
    path = file(tmp_path / "x.zt", b"whatever")
    os.link(path, tmp_path / "y.zt")
    state = os.stat(path)
    assert rows(db, "SELECT device, inode FROM zt_files(?)", str(tmp_path)) == [(state.st_dev, state.st_ino)] * 2
    assert rows(db, "SELECT device, inode, mtime FROM zt_files(?)", writer.sample()) == [(None, None, None)]
    assert rows(db, "SELECT inode FROM zt_files(?)", str(tmp_path / "none")) == [(None,)]


# --------------------------------------------------------------------------------------------- architectures and layouts

def model(order="wv", fill=b"\1", shape=(8,), dtype="u8", **options):
    objects = {"w": dense(fill * 8, list(shape), dtype, digest=writer.sha256(fill)), "v": writer.csr()}
    return writer.write({name: objects[name] for name in order}, **options)


def outline(db, data):
    [row] = rows(db, "SELECT architecture, layout FROM zt_files(?)", data)
    return row


def test_an_architecture_is_names_formats_types_and_shapes(db):
    architecture, layout = outline(db, model())
    assert outline(db, model(fill=b"\2", attributes={"long": "x" * 500})) == (architecture, layout)
    assert outline(db, model("vw")) [0] == architecture
    assert outline(db, model(first_offset=128)) == (architecture, layout)   # Offsets are counted from the first
    others = [model("w"), model(shape=(2, 4)), model(dtype="i8"), model(shape=(8, 1))]
    assert len({architecture, *(outline(db, data)[0] for data in others)}) == 5
    assert architecture.startswith("sha256:") and len(architecture) == 71


def test_a_layout_is_where_and_how_all_is_stored(db):
    plain = {"w": dense(b"12345678")}
    layouts = [outline(db, writer.write(objects)) for objects in (
        plain, {"w": dense(writer.zstd(b"12345678"), [8], encoding="zstd", uncompressed_length=8)},
        {"w": dict(dense(b"12345678"), attributes={"a": 1})}, {"w": dict(dense(b"12345678"), attributes={"a": True})},
        {"w": dict(dense(b"12345678"), attributes={"a": "61"})}, {"w": dict(dense(b"12345678"), attributes={"a": b"a"})})]
    assert len({architecture for architecture, _ in layouts}) == 1 and len({layout for _, layout in layouts}) == 6


def test_the_same_architecture_in_other_containers(db):
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    of_safetensors = struct.pack("<Q", len(header)) + header + bytes(8)
    of_zt = writer.write({"w": dense(bytes(8), [2], "f32")})
    assert outline(db, of_safetensors)[0] == outline(db, of_zt)[0]


def test_data_offsets_and_numbers_of_digests_are_those_of_the_rows(db):
    n = 0
    for path, offset, digests in db.execute("SELECT path, data_offset, digests FROM zt_files(?) WHERE error IS NULL", (str(corpus.FORMATS),)):
        [expected] = db.execute("SELECT min(offset) FILTER (WHERE shard IS NULL), count(digest) FROM zt_components(?)", (path,))
        assert (offset, digests) == expected, path
        n += 1
    assert n > 300


def test_files_with_equal_digests_have_equal_rows(db):
    """Over all files there are; of offsets, what lies between them."""
    seen = {}
    for path, *key in db.execute("SELECT path, architecture, layout, data_offset FROM zt_files(?) WHERE error IS NULL", (str(corpus.FORMATS),)):
        architecture, layout, at = key
        objects = sorted(rows(db, "SELECT object, format, dtype, type, shape, stored_bytes, decoded_bytes, attributes FROM zt_objects(?)", path), key=repr)
        parts = rows(db, """SELECT object, component, dtype, type, encoding, byte_order, CASE WHEN shard IS NULL THEN offset - ? ELSE offset END,
                                   length, decoded_length, shard, digest_of FROM zt_components(?) ORDER BY 1, 2""", at, path)
        assert seen.setdefault((architecture, layout), (objects, parts)) == (objects, parts), path
    assert len(seen) > 100


def test_digests_taken_apart(db):
    digests = ["sha256:" + "AB" * 32, "SHA256:" + "ab" * 32, "crc32c:0x0000ABCD", "xxh3:0123456789abcdef", "md5:00", "sha256:12", "", "crc32c:",
               "sha256:" + "00" * 50]
    data = writer.write({f"{i}": dense(b"x", digest=digest) for i, digest in enumerate(digests)})
    assert rows(db, "SELECT digest_algorithm, hex(digest_value) FROM zt_components(?)", data) == [
        ("sha256", "AB" * 32), ("sha256", "AB" * 32), ("crc32c", "0000ABCD"),
        *6 * [(None, "")]]   # 1.2 knows no xxh3
    assert rows(db, "SELECT digest_algorithm, hex(digest_value) FROM zt_components(?)", writer.write_2({"w": dense(b"x", digest=digests[3])})) == [
        ("xxh3", "0123456789ABCDEF")]
    assert rows(db, "SELECT DISTINCT digest_of FROM zt_components(?)", data) == [("stored",)]
    assert rows(db, "SELECT DISTINCT digest_of FROM zt_components(?)", writer.write_2({"w": dense(b"x")})) == [("decoded",)]


# ------------------------------------------------------------------------------------------------------------- functions

@pytest.fixture
def here(tmp_path, monkeypatch):
    os.makedirs(tmp_path / "models/odd[1]")
    os.symlink("models", tmp_path / "link")
    file(tmp_path / "models/a.zt", b"")
    file(tmp_path / "models/odd[1]/b*.zt", b"")
    os.symlink("a.zt", tmp_path / "models/name.zt")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return os.path.realpath(tmp_path)


@pytest.mark.parametrize("source, absolute", [
    ("models", "/models"), ("./models/", "/models"), ("link", "/models"), ("models/../link/a.zt", "/models/a.zt"), (".", ""),
    ("models/name.zt", "/models/name.zt"), ("models/**/*.zt", "/models/**/*.zt"), ("*.zt", "/*.zt"), ("link/[a]*.zt", "/models/[a]*.zt"),
    ("models/odd[1]", "/models/odd[1]"), ("models/odd[1]/b*.zt", "/models/odd[1]/b*.zt"), ("none.zt", "/none.zt"), ("no/ne.zt", "/no/ne.zt"),
    ("~", ""), ("~/models/*.zt", "/models/*.zt"), ("models/odd[[]1]/*.zt", "/models/odd[[]1]/*.zt"),
])
def test_absolute(db, here, source, absolute):
    [(found,)] = rows(db, "SELECT zt_absolute(?)", source)
    assert found == here + absolute
    listed = [[os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path)) for path, in rows(db, "SELECT path FROM zt_files(?)", s)]
              for s in (source, found)]
    assert listed[0] == listed[1]
    assert rows(db, "SELECT zt_absolute(?)", found) == [(found,)]


def test_absolute_of_a_uri_and_a_list(db, here):
    assert rows(db, "SELECT zt_absolute(?)", f"file://{here}/link/a%2Ezt") == [(f"{here}/models/a.zt",)]
    assert rows(db, "SELECT zt_absolute(?)", '["link", "a \\"b\\".zt", "é*"]') == [
        (json.dumps([f"{here}/models", f'{here}/a "b".zt', f"{here}/é*"], ensure_ascii=False, separators=(",", ":")),)]
    assert rows(db, "SELECT zt_absolute('[]'), zt_absolute(NULL)") == [("[]", None)]


def test_absolute_refuses_what_is_no_path(db):
    for value, message in ((b"x", "a BLOB has no path"), (7, "not a number"), ("file://elsewhere/x", "a host other than localhost"),
                           ('["a", 7]', "element 1 is a number"), ('["[\\"a\\"]"]', "a list of sources cannot be an element of a list")):
        with pytest.raises(sqlite3.OperationalError, match=message):
            db.execute("SELECT zt_absolute(?)", (value,)).fetchall()


def test_the_endpoint_of_a_source(db, monkeypatch):
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    sources = ("https://Host:8443/x.zt", "http://host:80/x.zt", "s3://bucket/x.zt", "hf://org/model/x.zt", "x.zt", "file:///x.zt", b"x", None)
    assert [rows(db, "SELECT zt_endpoint(?)", source)[0][0] for source in sources] == [
        "host:8443", "host", "s3.amazonaws.com", "huggingface.co", None, None, None, None]
    with pytest.raises(sqlite3.OperationalError, match=r"^ztensor: the source must be a path \(TEXT\) or a tensor file \(BLOB\), not a number$"):
        db.execute("SELECT zt_endpoint(7)").fetchall()


def test_host(db):
    assert rows(db, "SELECT zt_host()") == [(socket.gethostname(),)]
    assert rows(db, "SELECT zt_host('box'), zt_host()") == [("box", "box")]
    for name in ("", "a\0b", 7, b"box"):
        with pytest.raises(sqlite3.OperationalError, match="^ztensor: a host's name is a text that is not empty$"):
            db.execute("SELECT zt_host(?)", (name,)).fetchall()
    assert rows(db, "SELECT zt_host()") == [("box",)]
    assert rows(db, "SELECT zt_host(NULL), zt_host()") == [(socket.gethostname(),) * 2]


def test_nothing_is_told_of_the_machine_where_no_files_are_opened():
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, 'sqlite3_ztensor_nofs_init')", (EXTENSION,))
    for call, message in (("zt_host()", "does not read the machine's name"), ("zt_absolute('x')", "opens no files")):
        with pytest.raises(sqlite3.OperationalError, match=message):
            db.execute(f"SELECT {call}").fetchall()
    db.close()
