"""An HTTP/1.1 server on loopback: a thread for each connection, a log of all requests, latency, a limited line, and faults.

A face says what a server answers: a function of a Request that gives an Answer. Rules come before the face (Server.when).
"""
import dataclasses
import re
import socket
import ssl
import struct
import threading
import time
import urllib.parse

REASONS = {200: "OK", 206: "Partial Content", 301: "Moved Permanently", 302: "Found", 304: "Not Modified", 400: "Bad Request",
           403: "Forbidden", 404: "Not Found", 412: "Precondition Failed", 416: "Range Not Satisfiable", 503: "Slow Down"}
PIECE = 1 << 16
BODY_DATE = "Wed, 25 Nov 2026 00:00:00 GMT"


@dataclasses.dataclass
class Request:
    """A request as it came in: the target is not decoded, and the names of the headers are in lower case."""
    method: str
    target: str
    headers: dict
    connection: int = 0
    at: float = 0.0
    status: int = 0      # Of the answer; 0: none was sent
    sent: int = 0        # Bytes of the body

    @property
    def raw_path(self):
        return self.target.partition("?")[0]

    @property
    def path(self):
        return urllib.parse.unquote(self.raw_path, errors="surrogateescape")

    @property
    def raw_query(self):
        return self.target.partition("?")[2]

    @property
    def query(self):
        return dict(urllib.parse.parse_qsl(self.raw_query, keep_blank_values=True))

    @property
    def range(self):
        """(first, last) of a range, last being None without an end; (-n, None) of the last n bytes; None without one."""
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("range", ""))
        if not found or found[1] == found[2] == "":
            return None
        if found[1] == "":
            return -int(found[2]), None
        return int(found[1]), int(found[2]) if found[2] else None


@dataclasses.dataclass
class Answer:
    """An answer, and how it is sent: only the first `cut` bytes of the body, and then `then`: keep, close, reset or stall."""
    status: int = 200
    headers: dict = dataclasses.field(default_factory=dict)
    body: bytes = b""
    cut: int | None = None
    then: str = "keep"
    length: int | None = None    # Content-Length; -1: none, so that the end of the connection ends the body
    chunked: bool = False
    wait: float = 0.0            # Seconds before the first byte
    head: bytes | None = None    # In place of the status line and the headers


RESET, STALL = Answer(head=b"", then="reset"), Answer(head=b"", then="stall")


class Line:
    """A line of so many bytes a second, which all connections of a server share."""

    def __init__(self, rate):
        self.rate, self.lock, self.free = rate, threading.Lock(), 0.0

    def carry(self, count):
        with self.lock:
            now = time.monotonic()
            self.free = max(self.free, now - 0.002) + count / self.rate
            pause = self.free - now
        if pause > 0.001:
            time.sleep(pause)


class Server:
    def __init__(self, face, *, tls=None, address="127.0.0.1", latency=0.0, rate=None, silent=False):
        self.face, self.tls, self.address, self.latency = face, tls, address, latency
        self.line = Line(rate) if rate else None
        self.silent = silent                   # Takes connections and says nothing, be it of TLS
        self.log, self.rules, self.handshakes = [], [], []
        self.connections, self.lock, self.over = [], threading.Lock(), threading.Event()
        self.count = 0
        self.listener = socket.create_server((address, 0), backlog=1024)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def authority(self):
        return f"{self.address}:{self.port}"

    @property
    def origin(self):
        return f"{'https' if self.tls else 'http'}://{self.authority}"

    def url(self, path):
        """The URL of a path that is not encoded yet."""
        return self.origin + urllib.parse.quote(path, errors="surrogateescape")

    def close(self):
        self.over.set()
        self.listener.close()
        with self.lock:
            for connection in self.connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # ---- What tests say and ask

    def when(self, path, answer, times=None, after=0):
        """Answers the next `times` requests whose path contains this text, or for which this function is true, by an Answer,
        or by what a function of the request gives, None being the face's answer; the first `after` ones are not concerned."""
        chosen = path if callable(path) else lambda request: path in request.path
        self.rules.append([chosen, answer, times, after])

    def forget(self):
        """Drops the rules and the log."""
        self.rules, self.log = [], []

    @property
    def paths(self):
        return [request.path for request in self.log]

    def asked(self, text=""):
        """The requests whose path or query contains this text."""
        return [request for request in self.log if text in urllib.parse.unquote(request.target, errors="surrogateescape")]

    @property
    def bytes(self):
        return sum(request.sent for request in self.log)

    # ---- Connections

    def accept(self):
        while not self.over.is_set():
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.count += 1
                self.connections.append(connection)
                number = self.count
            threading.Thread(target=self.serve, args=(connection, number), daemon=True).start()

    def serve(self, connection, number):
        plain = connection
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.silent:
                self.over.wait()
                return
            if self.latency:
                time.sleep(self.latency)
            if self.tls:
                try:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                except (ssl.SSLError, OSError) as error:
                    self.handshakes.append(str(error))
                    return
                with self.lock:
                    self.connections[self.connections.index(plain)] = connection
            self.converse(connection, number)
        except (OSError, ValueError):
            pass
        finally:
            with self.lock:
                for one in (plain, connection):
                    if one in self.connections:
                        self.connections.remove(one)
            connection.close()

    def converse(self, connection, number):
        buffer = b""
        while not self.over.is_set():
            while b"\r\n\r\n" not in buffer:
                more = connection.recv(PIECE)
                if not more or len(buffer) > PIECE:
                    return
                buffer += more
            head, _, buffer = buffer.partition(b"\r\n\r\n")
            request = parse(head.decode("latin-1"), number)
            self.log.append(request)
            answer = self.answer(request)
            if self.latency or answer.wait:
                if self.over.wait(self.latency + answer.wait):
                    return
            if not self.send(connection, request, answer):
                return

    def answer(self, request):
        with self.lock:
            for rule in self.rules:
                chosen, answer, times, after = rule
                if not chosen(request):
                    continue
                if after:
                    rule[3] -= 1
                    continue
                if times == 0:
                    continue
                given = answer(request) if callable(answer) else answer
                if given is not None:
                    rule[2] = None if times is None else times - 1
                    return given
        return self.face(request)

    def send(self, connection, request, answer):
        """Whether the connection lives on."""
        head = answer.head
        if head is None:
            request.status = answer.status
            lines = [f"HTTP/1.1 {answer.status} {REASONS.get(answer.status, 'Other')}", f"Date: {BODY_DATE}"]
            lines += [f"{name}: {value}" for name, value in answer.headers.items()]
            if answer.chunked:
                lines.append("Transfer-Encoding: chunked")
            elif answer.length != -1 and answer.status != 304:
                lines.append(f"Content-Length: {len(answer.body) if answer.length is None else answer.length}")
            head = "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n"
        body = memoryview(answer.body)[:answer.cut]
        if self.line or answer.chunked or len(body) > PIECE:
            connection.sendall(head)
            for at in range(0, len(body), PIECE):
                piece = body[at:at + PIECE]
                if self.line:
                    self.line.carry(len(piece))
                request.sent += len(piece)   # Before a client can have it, and ask
                connection.sendall(b"%x\r\n%b\r\n" % (len(piece), piece) if answer.chunked else piece)
            if answer.chunked and answer.then == "keep":
                connection.sendall(b"0\r\n\r\n")
        else:
            request.sent += len(body)
            connection.sendall(head + body)
        if answer.then == "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return False
        if answer.then == "stall":
            connection.settimeout(None)
            while not self.over.is_set() and connection.recv(PIECE):   # Until the client goes
                pass
            return False
        return answer.then == "keep" and answer.length != -1


def parse(head, connection):
    first, *lines = head.split("\r\n")
    method, target, _ = first.split(" ")
    if target.startswith("http://"):   # Of a proxy
        target = "/" + target[len("http://"):].partition("/")[2]
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        name, value = name.strip().lower(), value.strip()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return Request(method, target, headers, connection, time.monotonic())


class Proxy:
    """A proxy for names that exist only here: CONNECT joins the client to the server that is known by host:port, and a GET of
    an absolute http URL is answered by the face of that server."""

    def __init__(self, servers, address="127.0.0.1"):
        self.servers, self.log = servers, []
        self.over = threading.Event()
        self.listener = socket.create_server((address, 0), backlog=256)
        self.origin = f"http://{address}:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.over.set()
        self.listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        head = b""
        try:
            while b"\r\n\r\n" not in head:
                more = connection.recv(PIECE)
                if not more:
                    return
                head += more
            request = parse(head.partition(b"\r\n\r\n")[0].decode("latin-1"), 0)
            self.log.append(request)
            authority = request.target if request.method == "CONNECT" else request.headers["host"]
            server = self.servers.get(authority)
            if server is None:
                connection.sendall(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
                return
            other = socket.create_connection((server.address, server.port))
            if request.method == "CONNECT":
                connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            else:
                other.sendall(head)
            back = threading.Thread(target=pump, args=(other, connection), daemon=True)
            back.start()
            pump(connection, other)
            back.join()
        except OSError:
            pass
        finally:
            connection.close()


def pump(source, target):
    try:
        while data := source.recv(PIECE):
            target.sendall(data)
    except OSError:
        pass
    for one in (source, target):
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
