"""`ztensor-sql serve` brings a collection's catalog up to date. Datasette then shows it, on this machine only."""
import contextlib
import functools
import os
import pathlib
import signal
import sqlite3
import sys

from . import catalog, pairs, places
from .comparisons import Comparisons
from .output import Progress
from .session import Session, Trouble, is_database, wait

HOST = "127.0.0.1"


def serve(source, db, port, quick, show, title=None):
    """Show a catalog, which `source` is, or the collection of one or several sources, whose catalog `db` is."""
    try:
        import uvicorn
        from datasette.app import Datasette
        from datasette.database import Database
    except ImportError:
        raise Trouble("the page needs Datasette, which is not installed: pip install 'ztensor-sqlite[datasette]'") from None
    plug_in()
    path = source if isinstance(source, str) and is_database(source) else db
    if path == source:
        prepare(path, show)
        kept = keeping(path)
    else:
        update(source, path, quick, show)
        kept = path

    class ReadOnly(Database):
        """A database to which no connection can write."""

        def connect(self, write=False):
            connection = pairs.read_only(self.path)
            if kept not in (None, path):
                pairs.attach(connection, kept)
            return connection

    name = pathlib.Path(path).stem
    shown = Datasette(settings={"default_allow_sql": True, "allow_download": False}, metadata={"databases": {name: {"title": title}}} if title else None)
    shown.add_database(ReadOnly(shown, path=path), name=name)
    work = contextlib.nullcontext()
    if kept:
        work = contextlib.closing(Comparisons(path, kept))
        shown.ztensor_comparisons = {name: work.thing}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    with contextlib.suppress(KeyboardInterrupt), work:   # The usual end
        run(uvicorn, LocalOnly(shown.app()), port)


def plug_in():
    """Add the page to Datasette's plugins, among which it is where the package is installed."""
    from datasette.plugins import pm

    from . import page

    if page not in pm.get_plugins():
        pm.register(page, "ztensor_sqlite.page")


def update(sources, path, quick, show):
    """Bring a collection's catalog up to date, with everything that the page needs."""
    if os.path.exists(path) and os.path.getsize(path) and not is_database(path):
        raise Trouble(f"{path}: this is no SQLite database")
    if catalog.is_of_another(path):
        raise Trouble(f"{path}: this database has tables, and is no catalog; ztensor-sql catalog --yes makes one in it")
    sources = [sources] if isinstance(sources, str) else sources
    for source in sources if not os.path.exists(path) else ():
        if not catalog.count(source):
            raise Trouble(f"{source}: there is no tensor file")
    if path == places.catalog_of(sources):
        places.make_room(path)
    session = Session(path, show)
    catalog.prepare(session)
    progress = functools.partial(Progress, session=session)
    rows = catalog.refresh(session, sources, progress)
    for source, files, *_ in rows:
        if not files:
            raise Trouble(f"{source}: there is no tensor file")
    files, added, changed, broken = (sum(row[i] for row in rows) for i in (1, 2, 3, 8))
    print(f"{path}: {files} files, {added + changed} of them new or changed, {broken} unreadable", file=sys.stderr)
    if not quick:
        for name in ("fingerprint", "check"):
            for host in catalog.hosts(session):
                catalog.second_pass(session, name, host, progress)
        catalog.measure(session, progress)
    session.connection.close()


def keeping(path):
    """The file for comparisons of a catalog that is shown as it is; None if it cannot be made."""
    try:
        return pairs.make_kept(path)
    except (OSError, sqlite3.Error) as error:
        print(f"comparisons cannot be kept, and are not made: {error}", file=sys.stderr)
        return None


def prepare(path, show):
    """Give a catalog the views and tables that the page asks for, if it lacks them."""
    from .page.queries.shared import is_catalog

    Session.catalog = path
    try:
        with contextlib.closing(pairs.read_only(path)) as connection:
            wait(connection)
            ready = is_catalog(connection)
            if connection.execute("PRAGMA application_id").fetchone()[0] != catalog.APPLICATION:
                raise Trouble(f"{path}: this is no catalog")
    except sqlite3.Error as error:
        raise Trouble(f"{path}: {error}") from None
    if not ready:
        session = Session(path, show)
        catalog.prepare(session)
        session.connection.close()


class LocalOnly:
    """Answers only requests that name this machine by its own names, and takes forms only from its own pages. A foreign page whose name
    was made to resolve to this machine gets no answer."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] == "http" and not self.is_local(scope["method"], dict(scope["headers"])):
            await self.pass_over(receive)
            await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
            await send({"type": "http.response.body", "body": b"this server answers its own machine alone\n"})
            return
        await self.app(scope, receive, send)

    @staticmethod
    async def pass_over(receive, most=1 << 20):
        """Read a body to its end, or so many bytes: closing a connection with unread bytes may lose the answer."""
        more = True
        while more and most > 0:
            message = await receive()
            most -= len(message.get("body", b""))
            more = message.get("more_body", False)

    @staticmethod
    def is_local(method, headers):
        host = headers.get(b"host", b"").decode("latin-1")
        if host.rsplit(":", 1)[0] not in (HOST, "localhost"):
            return False
        # Browsers send the origin with each form
        return method in ("GET", "HEAD", "OPTIONS") or headers.get(b"origin", b"").decode("latin-1") == "http://" + host


def run(uvicorn, app, port):
    import socket

    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name == "posix":
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        raise Trouble(f"port {port}: {os.strerror(error.errno)}") from None
    listening.listen()
    print(f"http://{HOST}:{listening.getsockname()[1]}/-/ztensor", flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listening])
