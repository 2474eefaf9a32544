"""S3's face, path style or a bucket a host: GetObject and ListObjectsV2, signatures, regions, requester pays."""
import base64
import bisect
import dataclasses
import datetime
import urllib.parse
from xml.sax.saxutils import escape

import signature
from files import File, serve
from server import Answer

ACCESS, SECRET = "AKIDTESTTESTTEST", "secret/of+tests/that=stands.nowhere"
XML = {"Content-Type": "application/xml", "Server": "AmazonS3"}
PAGE = 1000


@dataclasses.dataclass
class Bucket:
    files: dict = dataclasses.field(default_factory=dict)   # {key: File}
    region: str = "us-east-1"
    public: bool = False            # Whether an unsigned request is served
    listable: bool = True
    requester_pays: bool = False
    space: str = "+"                # A space in a listing of encoding-type=url; some servers say %20
    encodes: bool = True            # Whether it reads encoding-type
    page: int = PAGE
    late: bool = False              # Keys come before what is said of all of them

    def put(self, key, data, **how):
        self.files[key] = File(data, **how)
        self.sorted = None
        return self.files[key]

    sorted: list | None = None

    def keys(self):
        if self.sorted is None or len(self.sorted) != len(self.files):
            self.sorted = sorted(self.files, key=lambda key: key.encode("utf-8", "surrogateescape"))
        return self.sorted


class S3:
    def __init__(self, **buckets):
        self.buckets = {name.replace("_", "-"): bucket for name, bucket in buckets.items()}
        self.keys = {ACCESS: (SECRET, None)}
        self.moved = "400"       # The answer to another region: S3's 400, or 301
        self.heads = False       # Whether HEAD is answered
        self.suffix = None       # ".s3.us-east-1.amazonaws.com": the bucket is in the name of the host

    def bucket(self, name):
        return self.buckets.setdefault(name, Bucket())

    def __call__(self, request):
        try:
            return self.answer(request)
        except signature.Refused as refused:
            status, code = refused.args
            return self.error(request, status, code)

    def error(self, request, status, code, more="", headers=None):
        # S3 shows the request in its answer, and what it has signed: nothing of it may get into a message
        body = (f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{code}</Code><Message>A message of the server that echoes</Message>'
                f"<StringToSign>{SECRET}</StringToSign><Resource>{escape(request.raw_path)}</Resource>{more}<RequestId>4442587FB7D0A2F9</RequestId></Error>")
        return Answer(status, {**XML, **(headers or {})}, body.encode())

    def split(self, request):
        """(bucket, key) of a request."""
        host = request.headers.get("host", "")
        path = request.path
        if self.suffix and host.endswith(self.suffix):
            return host.removesuffix(self.suffix), path[1:]
        name, _, key = path[1:].partition("/")
        return name, key

    def answer(self, request):
        if request.method != "GET" and not (self.heads and request.method == "HEAD"):
            raise signature.Refused(405, "MethodNotAllowed")
        name, key = self.split(request)
        bucket = self.buckets.get(name)
        signed = "authorization" in request.headers
        if signed:
            if bucket and (region := signature.region_of(request)) and region != bucket.region:
                return self.elsewhere(request, bucket, region)
            signature.verify(request, self.keys)
        if bucket is None:
            raise signature.Refused(404, "NoSuchBucket")
        if not signed and not bucket.public:
            raise signature.Refused(403, "AccessDenied")
        if bucket.requester_pays and request.headers.get("x-amz-request-payer") != "requester":
            raise signature.Refused(403, "AccessDenied")
        if key == "":
            return self.list(request, name, bucket)
        if key not in bucket.files:
            raise signature.Refused(*((404, "NoSuchKey") if bucket.listable else (403, "AccessDenied")))
        answer = serve(dataclasses.replace(request, method="GET"), bucket.files[key])
        if request.method == "HEAD":
            return Answer(answer.status, answer.headers, length=len(answer.body))
        if answer.status == 416:
            return self.error(request, 416, "InvalidRange", headers={"Content-Range": answer.headers["Content-Range"]})
        if answer.status == 412:
            return self.error(request, 412, "PreconditionFailed")
        return answer

    def elsewhere(self, request, bucket, region):
        headers = {"x-amz-bucket-region": bucket.region}
        if self.moved == "301":
            return self.error(request, 301, "PermanentRedirect", f"<Endpoint>{request.headers['host']}</Endpoint>", headers)
        return self.error(request, 400, "AuthorizationHeaderMalformed", f"<Region>{bucket.region}</Region>", headers)

    def list(self, request, name, bucket):
        query = request.query
        if query.get("list-type") != "2":
            raise signature.Refused(501, "NotImplemented")
        if not bucket.listable:
            raise signature.Refused(403, "AccessDenied")
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        after = query.get("start-after", "")
        if "continuation-token" in query:
            try:
                after = base64.urlsafe_b64decode(query["continuation-token"].encode()).decode("utf-8", "surrogateescape")
            except ValueError:
                raise signature.Refused(400, "InvalidArgument") from None
        limit = min(int(query.get("max-keys", PAGE)), bucket.page)
        url = bucket.encodes and query.get("encoding-type") == "url"

        def shown(text):
            if not url:
                return escape(text)
            return urllib.parse.quote(text, safe="/", errors="surrogateescape").replace("%20", bucket.space)

        def order(text):
            return text.encode("utf-8", "surrogateescape")

        keys, listed, prefixes, last = bucket.keys(), [], [], None
        # A common prefix that was told on the page before stands for all keys that begin with it
        at = bisect.bisect_right(keys, order(after), key=order) if after else bisect.bisect_left(keys, order(prefix), key=order)
        truncated = False
        while at < len(keys):
            key = keys[at]
            at += 1
            if not key.startswith(prefix):
                if order(key) > order(prefix):
                    break
                continue
            common = None
            if delimiter and delimiter in key[len(prefix):]:
                common = prefix + key[len(prefix):].partition(delimiter)[0] + delimiter
                if common == after or (prefixes and prefixes[-1] == common):
                    continue
            if len(listed) + len(prefixes) == limit:
                truncated = True
                break
            if common is None:
                listed.append(key)
                last = key
            else:
                prefixes.append(common)
                last = common
        body = [f"<Name>{escape(name)}</Name><Prefix>{shown(prefix)}</Prefix><KeyCount>{len(listed) + len(prefixes)}</KeyCount>",
                f"<MaxKeys>{limit}</MaxKeys>", "<EncodingType>url</EncodingType>" if url else "",
                f"<IsTruncated>{'true' if truncated else 'false'}</IsTruncated>"]
        if truncated:
            token = base64.urlsafe_b64encode(order(last)).decode()
            body.append(f"<NextContinuationToken>{token}</NextContinuationToken>")
        entries = []
        for key in listed:
            file = bucket.files[key]
            at_time = datetime.datetime.fromtimestamp(file.modified, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            tag = f"<ETag>{escape(file.tag(), {chr(34): '&quot;'})}</ETag>" if file.tag() else ""
            entries.append(f"<Contents><Key>{shown(key)}</Key><LastModified>{at_time}</LastModified>{tag}"
                           f"<Size>{len(file.data)}</Size><StorageClass>STANDARD</StorageClass></Contents>")
        entries += [f"<CommonPrefixes><Prefix>{shown(common)}</Prefix></CommonPrefixes>" for common in prefixes]
        said = "".join(entries + body if bucket.late else body + entries)
        root = '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        return Answer(200, XML, f"{root}{said}</ListBucketResult>".encode("utf-8", "surrogateescape"))
