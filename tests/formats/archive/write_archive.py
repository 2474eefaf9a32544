#!/usr/bin/python3
"""Writes hostile/: archives that break one rule each or look odd, and cases.json; and golden/hand_*, archives around golden files of other
formats, whose expectations are those of their members. Byte by byte, after PKWARE's APPNOTE.TXT.

Whoever adds a case adds a row to cases() and runs this; what it writes is kept, so that tests need no step before them.
"""
import hashlib
import json
import struct
import sys
from pathlib import Path

FORMATS = Path(__file__).resolve().parent.parent
HERE = FORMATS / "archive"
sys.path[:0] = [str(FORMATS / "npy"), str(FORMATS / "npz")]
from write_npy import array, write  # noqa: E402
from write_npz import BZIP2, DEFLATE, Member, archive  # noqa: E402

PROGRAM = b"MZqFpD='\n" + bytes(range(256)) * 4


def safetensors(**tensors):
    """Tensors of four f32 each; None for a name: the file has a hole."""
    header = json.dumps({name: {"dtype": "F32", "shape": [4], "data_offsets": [16 * i, 16 * i + 16]} for i, name in enumerate(tensors)}).encode()
    return struct.pack("<Q", len(header)) + header + b"".join(struct.pack("<4f", *values) for values in tensors.values())


W = safetensors(w=(1, 2, 3, 4))
V = safetensors(v=(5, 6, 7, 8))


# ---------------------------------------------------------------------------------------------------- sound files

def golden(path):
    """A file of another format, and what is in it."""
    file = FORMATS / path
    return file.read_bytes(), json.loads(file.with_suffix("").with_suffix(".expected.json").read_text())


def data_of(raw, member):
    """Where a member's data begin."""
    at = raw.index(struct.pack("<H", len(member.name)) + b"\0\0" + member.name) + 4 + len(member.name)
    assert raw[at:at + len(member.data)] == member.data
    return at


def moved(expected, base, prefix):
    """The objects of a member, as the archive has them."""
    objects = json.loads(json.dumps(expected["objects"]))
    for object in objects:
        object["name"] = prefix + object["name"]
        for component in object["components"]:
            if component["offset"] is not None:
                component["offset"] += base
    return objects


def expectation(name, raw, what, members, container, directory):
    """members: [(Member, its expectation, the prefix of its names)]"""
    one = len(members) == 1
    attributes, types = {}, {}
    for _, expected, prefix in members:
        attributes |= {prefix + key: value for key, value in (expected["attributes"] or {}).items()}
        types |= {prefix + key: expected.get("attribute_types", {}).get(key) for key in expected["attributes"] or {}}
    found = {"file": f"archive/{name}", "container": container, "written_by": "hand", "exercises": what,
             "version": members[0][1]["version"] if one else None, "file_size": len(raw), "sha256": hashlib.sha256(raw).hexdigest(),
             "manifest_length": members[0][1]["manifest_length"] if one else directory, "attributes": attributes,
             "objects": [object for member, expected, prefix in members
                         for object in moved(expected, data_of(raw, member), prefix)]}
    if any(types.values()):
        found["attribute_types"] = types
    (HERE / "golden" / name).write_bytes(raw)
    (HERE / "golden" / f"{name.rsplit('.', 1)[0]}.expected.json").write_text(json.dumps(found, indent=1) + "\n")


def directory_size(raw):
    return struct.unpack("<I", raw[-10:-6])[0]


def write_golden():
    st, st_expected = golden("safetensors/golden/hand_order.safetensors")
    gguf, gguf_expected = golden("gguf/golden/kv_types.gguf")
    pt, pt_expected = golden("pytorch/golden/checkpoint.pt")

    both = [Member("text/a.safetensors", st), Member("llm/model.gguf", gguf), Member("model_index.json", b"{}")]
    raw = archive(*both)
    expectation("hand_two_formats.zip", raw, "members of two formats: the container is archive",
                [(both[0], st_expected, "text/a.safetensors/"), (both[1], gguf_expected, "llm/model.gguf/")], "archive", directory_size(raw))

    exported = [Member("serialized_exported_program.json", b"{}"), Member("serialized_state_dict.pt", pt), Member("version", b"7.0")]
    raw = archive(*exported)
    expectation("hand_exported.pt2", raw, "torch.export: PyTorch's archive in an archive", [(exported[1], pt_expected, "")], "pytorch", 0)

    member = Member("model.gguf", gguf)
    raw = PROGRAM + archive(member, Member(".args", b"-m\nmodel.gguf\n"))
    expectation("hand_own_offsets.llamafile", raw, "an archive behind a program, whose offsets count from the archive's begin",
                [(member, gguf_expected, "")], "gguf", 0)

    member = Member("model.gguf", gguf)
    raw = PROGRAM + archive(member, end64=True)
    expectation("hand_own_offsets_64.llamafile", raw, "the same with a zip64 end record", [(member, gguf_expected, "")], "gguf", 0)


# --------------------------------------------------------------------------------------------------- broken files

def unread(name, number, finding, message, what, member, length, **more):
    """An archive of one member that is not read, 'x', and a sound one."""
    return (name, archive(member, Member("y.safetensors", V)), "lists_but_no_bytes", number, finding, message, what,
            {"object": member.name.decode(), "length": length, "decoded_length": None, **more})


def cases():
    yield "path-not-utf8", archive(Member(b"\xff.safetensors", W), Member("y.safetensors", V)), "open_error", "AR1", "archive-path", "member '\\xff.safetensors': a path that is not UTF-8, or has U+0000 in it", "a path in another code"
    yield "path-nul", archive(Member("x\0.safetensors", W), Member("y.safetensors", V)), "open_error", "AR1", "archive-path", "member 'x': a path that is not UTF-8, or has U+0000 in it", "a path with U+0000"
    yield "path-not-utf8-packed", archive(Member(b"\xff.safetensors", W, DEFLATE), Member("y.safetensors", V)), "open_error", "AR1", "archive-path", "member '\\xff.safetensors': a path that is not UTF-8, or has U+0000 in it", "a compressed member whose path is in another code"
    yield "member-twice", archive(Member("x.safetensors", W), Member("x.safetensors", W)), "open_error", "AR2", "archive-duplicate", "two tensors of the archive have this name", "a member twice", {"object": "x.safetensors/w"}
    yield "name-twice-in-effect", archive(Member("x", safetensors(**{"y/w": (1, 2, 3, 4)})), Member("x/y", W)), "open_error", "AR2", "archive-duplicate", "two tensors of the archive have this name", "two paths that make one name", {"object": "x/y/w"}
    yield "compressed-alone", archive(Member("x.safetensors", W, DEFLATE)), "open_error", "AR8", "archive-unread", "member 'x.safetensors': it is compressed by 'deflate', and not read", "the one tensor file is compressed"
    deflated = Member("x.safetensors", W, DEFLATE)
    yield unread("compressed", "AR3", "archive-compressed", "it is compressed by 'deflate', and not read", "a deflated tensor file beside another", deflated, len(deflated.data))
    packed = Member("x.gguf", W, BZIP2)
    yield unread("compressed-bzip2", "AR3", "archive-compressed", "it is compressed by 'bzip2', and not read", "a tensor file packed by bzip2", packed, len(packed.data))
    inner = archive(Member("w.npy"))
    yield "archive-alone", archive(Member("x.npz", inner)), "open_error", "AR8", "archive-unread", "member 'x.npz': it is an archive in the archive, which is not read", "an npz in an archive"
    yield unread("archive-beside", "AR4", "archive-in-archive", "it is an archive in the archive, which is not read", "an npz beside a tensor file", Member("x.npz", inner), len(inner))
    ztensor = (FORMATS / "ztensor/hostile/1.2-not-zip.zt").read_bytes()
    yield unread("nested", "AR4", "archive-in-archive", "it is an archive in the archive, which is not read", "an archive around a zTensor file", Member("x.zip", ztensor), len(ztensor))
    file = next((FORMATS / "ztensor/golden").rglob("*.zt")).read_bytes()
    yield unread("ztensor-beside", "AR4", "archive-in-archive", "it is a zTensor file in the archive, which is not read", "a zTensor file beside a tensor file", Member("x.zt", file), len(file))
    yield "ztensor-alone", archive(Member("x.zt", file)), "open_error", "AR8", "archive-unread", "member 'x.zt': it is a zTensor file in the archive, which is not read", "a zTensor file in an archive"
    yield ("ztensor-arrays", archive(Member("a.npy", array()), Member("x.zt", file)), "lists_but_no_bytes", "AR4", "archive-in-archive",
           "it is a zTensor file in the archive, which is not read", "a zTensor file beside an array", {"object": "x.zt", "length": len(file), "decoded_length": None})
    none, pointer = b"no safetensors", b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 16\n"
    sound = Member("y.safetensors", V)
    yield "ok-named", archive(Member("x.safetensors", none), sound), "ok", "AR11", "archive-named", "member 'x.safetensors': not a tensor file of a known format", "a member that is called like a tensor file"
    yield "ok-named-lfs", archive(Member("x.GGUF", pointer), sound), "ok", "AR11", "archive-named", "member 'x.GGUF': not a tensor file, but text like a git-lfs pointer's: was it pulled?", "a pointer in place of a tensor file"
    yield "ok-named-arrays", archive(Member("a.npy", array()), Member("x.safetensors", none)), "ok", "AR11", "archive-named", "member 'x.safetensors': not a tensor file of a known format", "a member that is called like a tensor file beside an array"
    onnx = (FORMATS / "onnx/hostile/external-missing.onnx").read_bytes()
    file = b"not-there.bin"   # As the model names it
    for name, beside, message, what in (
            ("", [], "its bytes are in a file that the archive does not have", "external data that the archive does not have"),
            ("-elsewhere", [Member(b"y/" + file, b"x" * 16)], "its bytes are in a file that the archive does not have", "external data in another directory"),
            ("-compressed", [Member(file, b"x" * 16, DEFLATE)], "its bytes are in a member that is compressed, and not read", "compressed external data"),
            ("-encrypted", [Member(file, b"x" * 16, flags=1)], "its bytes are in a member that cannot be read", "encrypted external data"),
            ("-end", [Member(file, b"x" * 15)], "its bytes end behind those of the member that they are in", "external data that are cut")):
        yield (f"external{name}", archive(Member("x.onnx", onnx), *beside), "lists_but_no_bytes", "AR5", "archive-external", message, what,
               {"object": "w", "length": 16, "decoded_length": 16})
    many = safetensors(**{f"w{i}": (0, 0, 0, 0) for i in range(400)})
    huge = archive(Member("x" * 4096, many), Member("y" * 4096, V))
    yield "names-huge", huge, "open_error", "AR7", "archive-names", "the names of its objects take more memory than a file of %d bytes is worth" % len(huge), "a long path before each of many names"
    yield unread("exported-raw", "AR9", "archive-raw", "its type and shape are in a JSON of PyTorch's export, which is not read", "a weight of torch.export", Member("m/data/weights/weight_0", b"raw" * 8), 24)
    yield "exported-raw-alone", archive(Member("m/archive_format", b"pt2"), Member("m/data/weights/weight_0", b"raw" * 8)), "open_error", "AR8", "archive-unread", "member 'm/data/weights/weight_0': its type and shape are in a JSON of PyTorch's export, which is not read", "a model of torch.export"
    # Members with faults of their own, beside a sound one
    yield unread("encrypted", "ZP8", "zip-encrypted", "it is encrypted", "an encrypted tensor file", Member("x.safetensors", W, flags=1), None)
    yield unread("sizes-differ", "ZP7", "zip-sizes", "it is stored as it is, and has two different sizes", "stored, and two sizes", Member("x.safetensors", W, size=9), None)
    yield unread("local-none", "ZP10", "zip-local-header", "byte 0: no local header of member 'x.safetensors'", "another name in the local header", Member("x.safetensors", W, local=b"z.safetensors"), None)
    yield unread("local-tensors", "ZP10", "zip-local-header", "byte 0: no local header of member 'x.safetensorz'", "the name of a tensor file in the local header alone", Member("x.safetensorz", W, local=b"x.safetensors"), None)
    yield ("local-array", archive(Member("a.nqy", array(), local=b"a.npy"), Member("y.safetensors", V)), "lists_but_no_bytes", "ZP10", "zip-local-header",
           "byte 0: no local header of member 'a.nqy'", "the name of an array in the local header alone, beside a tensor file", {"object": "a.nqy", "length": None, "decoded_length": None})
    cut = W[:40]
    said = f"the header's length is {len(W) - 24}, but 32 bytes follow: the file is cut"
    yield unread("member-cut", "O1", "header-length", said, "a tensor file that is cut", Member("x.safetensors", cut), len(cut))
    yield "member-cut-alone", archive(Member("x.safetensors", cut)), "open_error", "O1", "header-length", f"member 'x.safetensors': {said}", "the one tensor file is cut"
    yield "no-tensors", archive(Member("config.json", b"{}"), Member("x.safetensors", b"no safetensors")), "open_error", "NZ3", "npz-empty", "a zip archive in which no member is a tensor file of a known format", "a member that is called like a tensor file"
    for name, member in (("", Member("x.safetensors", W, crc=1)), ("-other", Member("readme.txt", b"text", DEFLATE, crc=1))):
        yield (f"ok-crc{name}", archive(member, Member("y.safetensors", V)), "ok", "AR10", "archive-crc",
               f"member '{member.name.decode()}' does not have the digest 'crc32:00000001' of the archive's directory", "a wrong CRC-32", {"level": "full"})
    yield "ok-crc-0", archive(Member("x.safetensors", W, crc=0), Member("y.safetensors", V)), "ok", None, None, None, "a CRC-32 of 0"
    yield "ok-dotdot", archive(Member("../../x.safetensors", W), Member("y.safetensors", V)), "ok", None, None, None, "a path that leaves the archive"
    yield "ok-external", archive(Member("x.onnx", onnx), Member("not-there.bin", b"x" * 16), Member("y.safetensors", V)), "ok", None, None, None, "external data that the archive has"
    yield "ok-others", archive(Member("folder/", b""), Member("x", W), Member("model_index.json", b"{}"), Member("secret.txt", b"text", flags=1),
                               Member("config.json", b"{}", DEFLATE), Member("empty.safetensors", b""), Member("__MACOSX/._y.safetensors", b"none")), "ok", None, None, None, "members that are no tensor files"
    yield "ok-arrays", archive(Member("x.safetensors", W), Member("a.npy", array(), DEFLATE), Member("b", array())), "ok", None, None, None, "arrays of numpy beside a tensor file"


if __name__ == "__main__":
    write_golden()
    write(HERE / "hostile", "zip", list(cases()))
