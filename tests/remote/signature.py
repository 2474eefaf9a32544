"""AWS Signature Version 4 of a request, worked out from what arrived, as a server does it."""
import hashlib
import hmac
import re
import urllib.parse

EMPTY = hashlib.sha256(b"").hexdigest()


class Refused(Exception):
    """(status, code)"""


def encoded(text, safe=""):
    return urllib.parse.quote(text, safe="~" + safe, errors="surrogateescape")


def canonical_query(raw):
    """Names and values decoded and encoded again, sorted; a + of the request is a + and no space."""
    pairs = []
    for part in raw.split("&") if raw else []:
        name, _, value = part.partition("=")
        pairs.append(tuple(encoded(urllib.parse.unquote(text, errors="surrogateescape")) for text in (name, value)))
    return "&".join(f"{name}={value}" for name, value in sorted(pairs))


def canonical_request(method, raw_path, raw_query, headers, signed, payload):
    path = encoded(urllib.parse.unquote(raw_path, errors="surrogateescape"), "/")
    lines = "".join(f"{name}:{' '.join(headers.get(name, '').split())}\n" for name in signed)
    return "\n".join([method, path, canonical_query(raw_query), lines, ";".join(signed), payload])


def string_to_sign(at, scope, canonical):
    return "\n".join(["AWS4-HMAC-SHA256", at, scope, hashlib.sha256(canonical.encode("utf-8", "surrogateescape")).hexdigest()])


def signature(secret, scope, text):
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


FORM = re.compile(r"AWS4-HMAC-SHA256 Credential=([^/,]+)/(\d{8}/[^/,]+/s3/aws4_request), *SignedHeaders=([a-z0-9;-]+), *Signature=([0-9a-f]{64})")


def region_of(request):
    """The region that a request is signed for; None without a signature."""
    found = FORM.fullmatch(request.headers.get("authorization", ""))
    return found and found[2].split("/")[1]


def verify(request, keys):
    """Raises Refused unless the request is signed by one of keys, {access key: (secret, session token or None)}."""
    headers = request.headers
    found = FORM.fullmatch(headers.get("authorization", ""))
    if not found:
        raise Refused(400, "AuthorizationHeaderMalformed")
    access, scope, signed, stated = found[1], found[2], found[3].split(";"), found[4]
    if access not in keys:
        raise Refused(403, "InvalidAccessKeyId")
    secret, token = keys[access]
    if headers.get("x-amz-security-token") != token:
        raise Refused(403 if token is None else 400, "InvalidToken")
    must = {"host"} | {name for name in headers if name.startswith("x-amz-")}
    if signed != sorted(signed) or not must <= set(signed):
        raise Refused(403, "AccessDenied")
    payload, at = headers.get("x-amz-content-sha256"), headers.get("x-amz-date", "")
    if payload is None:
        raise Refused(400, "MissingSecurityHeader")
    if payload not in (EMPTY, "UNSIGNED-PAYLOAD"):
        raise Refused(400, "XAmzContentSHA256Mismatch")
    if not re.fullmatch(r"\d{8}T\d{6}Z", at) or at[:8] != scope[:8]:
        raise Refused(403, "AccessDenied")
    canonical = canonical_request(request.method, request.raw_path, request.raw_query, headers, signed, payload)
    if not hmac.compare_digest(signature(secret, scope, string_to_sign(at, scope, canonical)), stated):
        raise Refused(403, "SignatureDoesNotMatch")
