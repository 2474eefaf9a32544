"""Writes the seed corpus of a fuzz target into a directory: python3 seeds.py TARGET DIRECTORY

fuzz_open and fuzz_nomem start from the golden and hostile files themselves, fuzz_cbor from their manifests. fuzz_sql's inputs are
choices among statements and values, of which any bytes will do.
"""
import hashlib
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
MOST = 8192     # bytes of a seed: mutating what is larger seldom hits what matters
FOOTER_MAGIC = b"ZTEN1000"


def files():
    """[(name, bytes)]"""
    found = sorted((TESTS / "golden").glob("v*/*.zt")) + sorted((TESTS / "hostile").glob("*.zt"))
    contents = [(path.stem, path.read_bytes()) for path in found if path.stat().st_size <= MOST]
    assert contents, f"no files below {TESTS}"
    return contents


def manifest(data):
    """The CBOR bytes of a file, empty if its footer does not say where they are."""
    footer = 16 if len(data) > 16 and data.endswith(FOOTER_MAGIC) else 8
    end = len(data) - footer
    size = int.from_bytes(data[max(end, 0):max(end, 0) + 8], "little")
    return data[end - size:end] if 0 < size <= end else b""


def seeds(target):
    if target in ("fuzz_open", "fuzz_nomem"):
        return files()
    if target == "fuzz_cbor":
        return [(name, manifest(data)) for name, data in files() if manifest(data)]
    if target == "fuzz_sql":
        # Hashes: bytes without order, the same on each run.
        return [(str(i), b"".join(hashlib.sha256(b"%d %d" % (i, k)).digest() for k in range(1 + i % 4))) for i in range(256)]
    raise SystemExit(f"no seeds for {target}")


def main(target, directory):
    directory = Path(directory)
    directory.mkdir(parents=True, exist_ok=True)
    for name, data in seeds(target):
        (directory / name).write_bytes(data)


main(*sys.argv[1:])
