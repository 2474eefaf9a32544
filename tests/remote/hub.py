"""The hub's face: repositories of models and datasets with revisions, and the store that has the bytes of large files."""
import dataclasses
import hashlib
import json
import re
import urllib.parse

from files import File, digest_of, serve
from server import Answer

TOKEN = "hf_aTokenOfTestsThatStandsNowhere"
PAGE = 1000


def blob_id(data):
    """git's name of a blob."""
    return digest_of("sha1", data, b"blob %d\0" % len(data))


@dataclasses.dataclass
class Repository:
    commits: dict = dataclasses.field(default_factory=dict)     # {commit: {path: bytes}}
    revisions: dict = dataclasses.field(default_factory=dict)   # {branch or tag: commit}
    private: bool = False
    gated: bool = False
    small: int = 100       # Smaller files are in git, and come from the hub itself

    def commit(self, files, revision="main"):
        """A commit of these files alone; gives its name."""
        digest = hashlib.sha1(json.dumps([revision, len(self.commits), sorted(files)]).encode()).hexdigest()
        self.commits[digest] = dict(files)
        self.revisions[revision] = digest
        return digest


class Hub:
    def __init__(self):
        self.repositories = {}    # {"models/org/name": Repository}
        self.store = Store(self)
        self.store_origin = None  # Where large files are redirected to; None: they come from the hub
        self.page = PAGE
        self.heads = False        # Whether HEAD is answered
        self.siblings = None      # The answer about a revision's files; None: their names
        self.cached = True        # Small files are redirected to a path of the hub's own cache

    def repository(self, name, kind="models"):
        return self.repositories.setdefault(f"{kind}/{name}", Repository())

    def __call__(self, request):
        if self.heads and request.method == "HEAD":
            answer = self(dataclasses.replace(request, method="GET"))
            return Answer(answer.status, answer.headers, length=len(answer.body))
        if request.method != "GET":
            return Answer(405)
        authorization = request.headers.get("authorization")
        if authorization not in (None, f"Bearer {TOKEN}"):
            return refusal(401, "", "Invalid credentials in Authorization header")
        known = authorization is not None
        path = request.raw_path
        if found := re.fullmatch(r"/api/resolve-cache/(models|datasets)/([^/]+/[^/]+)/([^/]+)/(.+)", path):
            kind, name, revision, file = found.groups()
            return self.content(request, self.find(kind, name, revision, known), file)
        if found := re.fullmatch(r"/api/(models|datasets)/([^/]+/[^/]+|[^/]+)/(tree|revision)/([^/]+)(?:/(.*))?", path):
            kind, name, what, revision, directory = found.groups()
            repository = self.find(kind, name, revision, known)
            return getattr(self, what)(request, repository, directory or "")
        if found := re.fullmatch(r"/(datasets/)?([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path):
            kind, name, revision, file = found.groups()
            return self.resolve(request, "datasets" if kind else "models", name, revision, file, known)
        return refusal(404, "", "Sorry, we can't find the page you are looking for.")

    def find(self, kind, name, revision, known):
        """(repository, commit, its files), or a refusal."""
        repository = self.repositories.get(f"{kind}/{urllib.parse.unquote(name)}")
        if repository is None or (repository.private and not known):
            return refusal(404 if known else 401, "RepoNotFound", "Repository not found")
        if repository.gated and not known:
            return refusal(401, "GatedRepo", "Access to this model is restricted")
        revision = urllib.parse.unquote(revision)
        commit = repository.revisions.get(revision, revision)
        if commit not in repository.commits:
            return refusal(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        return repository, commit, repository.commits[commit]

    def revision(self, _, found, __):
        if isinstance(found, Answer):
            return found
        siblings = [{"rfilename": path} for path in sorted(found[2], key=str.encode)] if self.siblings is None else self.siblings
        return Answer(200, {"Content-Type": "application/json"}, json.dumps({"id": "x", "sha": found[1], "siblings": siblings}).encode())

    def tree(self, request, found, directory):
        if isinstance(found, Answer):
            return found
        repository, commit, files = found
        directory = urllib.parse.unquote(directory).rstrip("/")
        prefix = directory + "/" if directory else ""
        if directory and not any(path.startswith(prefix) for path in files):
            return refusal(404, "EntryNotFound", f"{directory} does not exist")
        deep = request.query.get("recursive", "false").lower() in ("true", "1")
        rows, directories = [], set()
        for path in sorted(files, key=str.encode):
            if not path.startswith(prefix):
                continue
            parts = path[len(prefix):].split("/")
            for depth in range(1, len(parts) if deep else min(2, len(parts))):
                parent = prefix + "/".join(parts[:depth])
                if parent not in directories:
                    directories.add(parent)
                    rows.append({"type": "directory", "oid": blob_id(parent.encode()), "size": 0, "path": parent})
            if deep or len(parts) == 1:
                rows.append(self.row(repository, path, files[path]))
        begin = int(request.query.get("cursor", "0"))
        limit = min(int(request.query.get("limit", self.page)), self.page)
        headers = {"Content-Type": "application/json; charset=utf-8", "X-Repo-Commit": commit}
        if begin + limit < len(rows):
            query = urllib.parse.urlencode({**request.query, "cursor": begin + limit})
            headers["Link"] = f'<{self.origin(request)}{request.raw_path}?{query}>; rel="next"'
        return Answer(200, headers, json.dumps(rows[begin:begin + limit]).encode())

    def row(self, repository, path, data):
        row = {"type": "file", "oid": blob_id(data), "size": len(data), "path": path}
        if len(data) >= repository.small:
            row["lfs"] = {"oid": digest_of("sha256", data), "size": len(data), "pointerSize": 134}
            row["xetHash"] = digest_of("sha256", data, b"xet")
        return row

    def origin(self, request):
        scheme = getattr(self, "scheme", "http")
        return f"{scheme}://{request.headers['host']}"

    def resolve(self, request, kind, name, revision, file, known):
        found = self.find(kind, name, revision, known)
        if isinstance(found, Answer):
            return found
        repository, commit, files = found
        path = urllib.parse.unquote(file)
        if path not in files:
            return refusal(404, "EntryNotFound", "Entry not found", {"X-Repo-Commit": commit})
        data = files[path]
        headers = {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if len(data) >= repository.small and self.store_origin:
            digest = digest_of("sha256", data)
            self.store.blobs[digest] = data
            headers |= {"X-Linked-Size": len(data), "X-Linked-ETag": f'"{digest}"', "ETag": f'"{digest}"',
                        "Location": f"{self.store_origin}/repos/{digest}?X-Amz-Signature=aSignatureOfTheStore"}
            return Answer(302, headers, b"Found. Redirecting")
        if self.cached:
            headers |= {"Location": f"/api/resolve-cache/{kind}/{name}/{commit}/{file}?etag=%22{blob_id(data)}%22",
                        "X-Linked-Size": len(data), "ETag": f'"{blob_id(data)}"'}
            return Answer(307, headers, b"Temporary Redirect")
        return self.content(request, found, file)

    def content(self, request, found, file):
        """A file of git, from the hub."""
        if isinstance(found, Answer):
            return found
        repository, commit, files = found
        data = files[urllib.parse.unquote(file)]
        tag = digest_of("sha256", data) if len(data) >= repository.small else blob_id(data)
        return serve(request, File(data, f'"{tag}"', None, headers={"X-Repo-Commit": commit}))


class Store:
    """Large files by their digests. It is S3's: an Authorization beside the signature in the URL is an error."""

    def __init__(self, hub):
        self.hub, self.blobs = hub, {}

    def __call__(self, request):
        digest = request.path.rpartition("/")[2]
        if "authorization" in request.headers or "X-Amz-Signature=" not in request.target or request.method != "GET":
            return Answer(400, {"Content-Type": "application/xml"}, b"<Error><Code>InvalidArgument</Code></Error>")
        if digest not in self.blobs:
            return Answer(404, {"Content-Type": "application/xml"}, b"<Error><Code>NoSuchKey</Code></Error>")
        data = self.blobs[digest]
        return serve(request, File(data, f'"{digest_of("md5", data)}"'))


def refusal(status, code, text, headers=None):
    return Answer(status, {"Content-Type": "application/json", **({"X-Error-Code": code} if code else {}),
                           "X-Error-Message": text, **(headers or {})}, json.dumps({"error": f"{text} {TOKEN}"}).encode())
