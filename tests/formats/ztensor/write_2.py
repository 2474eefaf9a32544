"""Writes those files of hostile/ whose cases have a `manifest`: zTensor 2, in the notation of tests/unit/zt2.h.

The manifest stands at `at`, 8192 where a case has none, and the footer at `end`, or right behind the manifest. `data` has the bytes of
blobs by their offsets; all others are 0. ^ marks the place that the message names. cases.json gets each file's size and hash.
"""
import hashlib
import json
import re
import sys
from pathlib import Path

HOSTILE = Path(__file__).resolve().parent / "hostile"
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "sql"))
import writer  # noqa: E402

PAGE = writer.ALIGNMENT_2
SIMPLE = {"false": b"\xf4", "true": b"\xf5", "null": b"\xf6"}
TOKEN = re.compile(r"[ ,:]*(?:(?P<mark>\^)|(?P<open>[{[])(?P<more>\+)?(?P<odd>_(?P<width>\d)?)?|(?P<close>[]}])|'(?P<text>[^']*)'(?:\*(?P<times>\d+))?"
                   r"|<(?P<bytes>[^>]*)>|\((?P<depth>\d+)\)|(?P<simple>false|true|null)|(?P<number>-?\d+))")


def counted(major, count, width):
    """The head of a map or an array, in `width` bytes, if given, behind the first."""
    return writer.head(major, count) if width is None else bytes([major << 5 | 24 + width.bit_length() - 1]) + count.to_bytes(width, "big")


def encode(notation):
    """(the manifest's bytes, the position of the mark or None)"""
    outer, at, end = [[b"", 0, None, None]], 0, len(notation.rstrip())   # For each map or array: bytes, items, the mark, its beginning
    while at < end:
        token = TOKEN.match(notation, at)
        at = token.end()
        level = outer[-1]
        if token["mark"]:
            level[2] = len(level[0])
        elif token["depth"]:
            level[0] += b"\x81" * int(token["depth"])
        elif token["open"]:
            outer.append([b"", 0, None, token])
        elif token["close"]:
            content, items, mark, begun = outer.pop()
            map_ = begun["open"] == "{"
            level, major = outer[-1], 5 if map_ else 4
            if begun["odd"] == "_":
                head, content = bytes([major << 5 | 31]), content + b"\xff"
            else:
                head = counted(major, items // (1 + map_) + bool(begun["more"]), begun["width"] and 1 << int(begun["width"]))
            level[2] = len(level[0] + head) + mark if mark is not None else level[2]
            level[0], level[1] = level[0] + head + content, level[1] + 1
        else:
            level[0], level[1] = level[0] + item(token), level[1] + 1
    return outer[0][0], outer[0][2]


def item(token):
    if token["text"] is not None:
        return writer.cbor(token["text"] * int(token["times"] or 1))
    if token["bytes"] is not None:
        return bytes.fromhex(token["bytes"])
    return SIMPLE[token["simple"]] if token["simple"] else writer.cbor(int(token["number"]))


def file(case):
    manifest, mark = encode(case["manifest"])
    stated = re.match(r"manifest byte (\d+): ", case.get("message") or "")
    assert mark == (int(stated[1]) if stated else None), f"{case['file']}: the mark is at {mark}"
    body = bytearray(case.get("at", 2 * PAGE))
    for offset, data in case.get("data", {}).items():
        body[int(offset):int(offset) + len(data) // 2] = bytes.fromhex(data)
    end = max(case.get("end", 0), len(body) + len(manifest))
    gap = bytes(end - len(body) - len(manifest))
    return writer.MAGIC_2 + body[8:] + manifest + gap + writer.footer_2(len(body), manifest)


if __name__ == "__main__":
    cases = json.loads((HOSTILE / "cases.json").read_text())
    for case in cases:
        if "manifest" in case:
            (HOSTILE / case["file"]).write_bytes(file(case))
        data = (HOSTILE / case["file"]).read_bytes()
        case.update(size=len(data), sha256=hashlib.sha256(data).hexdigest())
    (HOSTILE / "cases.json").write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":"), ensure_ascii=False) for c in cases) + "\n]\n")
