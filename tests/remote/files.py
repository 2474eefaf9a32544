"""A web server's face: files with ranges and conditions."""
import dataclasses
import email.utils
import functools
import hashlib
from pathlib import Path

from server import Answer

MODIFIED = 1_700_000_000


@functools.lru_cache(1024)
def small_digest_of(algorithm, data, before):
    return hashlib.new(algorithm, before + data).hexdigest()


def digest_of(algorithm, data, before=b""):
    """Of what a server stores, which has it ready: that of small files is computed once."""
    small = isinstance(data, bytes) and len(data) <= 1 << 17
    return (small_digest_of if small else small_digest_of.__wrapped__)(algorithm, data, before)


def date(seconds):
    return email.utils.formatdate(seconds, usegmt=True)


@dataclasses.dataclass
class File:
    """A file, and how its server behaves."""
    data: bytes
    etag: str | None = ""          # "": of the bytes; None: none
    modified: int | None = MODIFIED
    ranges: bool = True            # Whether it reads ranges
    conditions: bool = True        # Whether it reads If-Match and If-None-Match
    headers: dict = dataclasses.field(default_factory=dict)

    def tag(self):
        return f'"{digest_of("md5", self.data)}"' if self.etag == "" else self.etag


def serve(request, file):
    """The answer to a GET of a file (RFC 9110, sections 13 and 14)."""
    if request.method != "GET":
        return Answer(405, {"Allow": "GET"})
    tag, size, headers = file.tag(), len(file.data), {"Content-Type": "application/octet-stream", **file.headers}
    if tag is not None:
        headers["ETag"] = tag
    if file.modified is not None:
        headers["Last-Modified"] = date(file.modified)
    if file.ranges:
        headers["Accept-Ranges"] = "bytes"
    if file.conditions and tag is not None:
        if "if-match" in request.headers and request.headers["if-match"] not in ("*", tag):
            return Answer(412, headers)
        if request.headers.get("if-none-match") == tag:
            return Answer(304, headers)
    if not file.ranges or request.range is None:
        return Answer(200, headers, file.data)
    first, last = request.range
    if first < 0:
        first = max(0, size + first)
        last = size - 1
        if size == 0:
            first = 0
    if first >= size or (last is not None and last < first):
        return Answer(416, {**headers, "Content-Range": f"bytes */{size}"})
    last = size - 1 if last is None else min(last, size - 1)
    headers["Content-Range"] = f"bytes {first}-{last}/{size}"
    return Answer(206, headers, memoryview(file.data)[first:last + 1])


class Files:
    """Files by their paths, and directories of this machine below others."""

    def __init__(self, files=None, **directories):
        self.files = {path: file if isinstance(file, File) else File(file) for path, file in (files or {}).items()}
        self.directories = {f"/{name}/": Path(path) for name, path in directories.items()}

    def put(self, path, data, **how):
        self.files[path] = File(data, **how)
        return self.files[path]

    def find(self, path):
        if path in self.files:
            return self.files[path]
        for prefix, directory in self.directories.items():
            if path.startswith(prefix) and ".." not in path and (directory / path.removeprefix(prefix)).is_file():
                local = directory / path.removeprefix(prefix)
                self.files[path] = File(local.read_bytes(), modified=int(local.stat().st_mtime))
                return self.files[path]
        return None

    def __call__(self, request):
        file = self.find(request.path)
        return serve(request, file) if file else Answer(404, {"Content-Type": "text/html"}, b"<html>there is no such page</html>")
