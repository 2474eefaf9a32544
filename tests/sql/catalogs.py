"""Catalogs for the tests of sql/: made, refreshed and asked as users do it, by the sqlite3 shell."""
import json
import re
import socket
import sqlite3
import subprocess
import time
from types import SimpleNamespace

from support import EXTENSION, ROOT, quoted

SQL = ROOT / "sql"
SCRIPTS = ["catalog.sql", "refresh.sql", "audit.sql"]
SHELL_SECONDS = 60
HOST = socket.gethostname()
# Columns that both the catalog and the zt_ tables have.
FILES = "path, container, version, size, mtime, objects, components, stored_bytes, decoded_bytes, manifest_bytes, " \
        "attributes, error"
OBJECTS = "path, object, format, dtype, type, shape, rank, elements, components, stored_bytes, decoded_bytes, attributes"
COMPONENTS = "path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length, digest, shard"
ATTRIBUTES = "path, object, key, value, type"


def shell(database, *commands, cwd=None, prefix=(), input=None):
    """The sqlite3 shell with commands as arguments, or a script as its input."""
    done = subprocess.run([*prefix, "sqlite3", "-batch", str(database), *commands], cwd=cwd, input=input, capture_output=True,
                          text=True, timeout=SHELL_SECONDS, stdin=None if input is not None else subprocess.DEVNULL)
    return SimpleNamespace(out=done.stdout, err=done.stderr, code=done.returncode)


def parameter(text):
    """The shell's command that sets :source, with both quotes."""
    return '.parameter set :source "' + quoted(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def refresh_commands(source):
    return [f".load {EXTENSION}", parameter(source), ".mode json", f".read {SQL}/refresh.sql"]


# The shell's arguments that convert a catalog of the first version
MIGRATE = ["-bail", "BEGIN IMMEDIATE", f".read {SQL}/migrate.sql", f".read {SQL}/catalog.sql", "COMMIT"]


def beside_another_writer(database, *commands):
    """The shell, which may wait for another program that is writing the database when the commands begin, and ends later."""
    other = sqlite3.connect(database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    process = subprocess.Popen(["sqlite3", "-batch", "-bail", str(database), ".timeout 60000", ".system echo begun", *commands],
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "begun\n"
    time.sleep(0.3)
    other.execute("ROLLBACK")
    other.close()
    out, err = process.communicate(timeout=SHELL_SECONDS)
    return SimpleNamespace(out=out, err=err, code=process.returncode)


def refresh(database, source, cwd=None):
    """Refreshes, and gives the report as a dict, without its zeros and the source."""
    done = shell(database, *refresh_commands(source), cwd=cwd)
    assert (done.err, done.code) == ("", 0)
    [report] = json.loads(done.out)
    assert (report.pop("source"), report.pop("host")) == (source, HOST)
    return {name: count for name, count in report.items() if count}


def create(path, *scripts):
    """A new catalog, or the views of an old one made anew."""
    for script in ("catalog.sql", *scripts):
        done = shell(path, input=(SQL / script).read_text())
        assert (done.out, done.err, done.code) == ("", "", 0)
    return str(path)


def ask(database, sql, *arguments):
    """Rows, by a connection without ztensor."""
    db = sqlite3.connect(database)
    try:
        return db.execute(sql, arguments).fetchall()
    finally:
        db.close()


def state(database):
    """All that a catalog says of files, but for the time of reading them."""
    return [ask(database, f"SELECT {columns} FROM {table} ORDER BY {order}") for table, columns, order in
            [("files", "source, " + FILES, "path"), ("objects", OBJECTS, "1, 2"), ("components", COMPONENTS, "1, 2, 3"),
             ("attributes", ATTRIBUTES, "1, 2, 3, 4"), ("run_files", "*", "1, 2, 3, 4")]]


def views(script):
    """The names of the views that a script creates, in its order."""
    return re.findall(r"^CREATE (?:TEMP )?VIEW (?:main\.)?(\w+)", (SQL / script).read_text(), re.MULTILINE)
