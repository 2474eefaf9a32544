"""Fixtures: connections with the extension loaded, files to read, and the real sqlite3 shell."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import pytest

import support
import tracing
import writer

SHELL_SECONDS = 60  # no test measures time: this only ends a run that hangs


@pytest.fixture
def connect():
    """Opens connections (see support.open_connection) and closes them after the test."""
    opened = []

    def connect(*arguments, **options):
        opened.append(support.open_connection(*arguments, **options))
        return opened[-1]

    yield connect
    for db in opened:
        db.close()


@pytest.fixture
def db(connect):
    return connect()


@pytest.fixture
def elsewhere(tmp_path):
    """A directory on another file system than tmp_path's."""
    on = next(place for place in ("/dev/shm", support.ROOT / "build") if os.stat(place).st_dev != os.stat(tmp_path).st_dev)
    with tempfile.TemporaryDirectory(dir=on) as directory:
        yield directory


def run_shell(script, arguments=("sqlite3", "-batch", ":memory:"), entry="", cwd=None):
    """Runs an SQL script with the sqlite3 shell; `entry` names another entry point than the usual."""
    # The shell knows its own commands (.shell, .limit) only at the beginning of a line.
    script = re.sub(r"^ +\.", ".", f".load {support.EXTENSION} {entry}\n{script}\n", flags=re.MULTILINE)
    done = subprocess.run(arguments, input=script, cwd=cwd, capture_output=True, text=True, timeout=SHELL_SECONDS)
    return SimpleNamespace(out=done.stdout, err=done.stderr, code=done.returncode)


@pytest.fixture
def shell():
    """shell(sql): what the sqlite3 shell prints for it."""
    return run_shell


@pytest.fixture
def trace(tmp_path):
    """trace(sql): the same, and every file opened and every byte read on the way (tracing.Trace)."""
    def trace(script, entry="", cwd=None):
        log = tmp_path / "strace.log"
        done = run_shell(script, tracing.command(log) + ["sqlite3", "-batch", ":memory:"], entry, cwd)
        return tracing.Trace(log.read_text(), done)

    return trace


@pytest.fixture
def save(tmp_path):
    """save(name, bytes): writes a file below the test's own directory and gives its path as text."""
    def save(name, data):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return str(path)

    return save


@pytest.fixture
def sample(save):
    """The path of a small good file: layer1.weight (3 by 4 ones) and layer1.bias (four twos), all u8."""
    return save("sample.zt", writer.sample())


@pytest.fixture
def tree(save, tmp_path):
    """The path of a directory with the same good file at five places, in the order in which sources give them."""
    names = ["a.zt", "b/one.zt", "b/two.zt", "c-d/z.zt", "c/y.zt"]
    for i, name in enumerate(names):
        save("tree/" + name, writer.sample(fill=bytes([i + 1])))
    return SimpleNamespace(path=str(tmp_path / "tree"), files=[str(tmp_path / "tree" / name) for name in names])


# Root may read everything: another user must try. Prints what the statements give, one line each.
AS_ANOTHER_USER = """
import os, sqlite3, sys
extension, *statements = sys.argv[1:]
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(extension)
for sql in statements:
    try:
        print(db.execute(sql).fetchall())
    except sqlite3.Error as error:
        print(error.sqlite_errorcode, error)
"""


@pytest.fixture
def another_user():
    """(directory, run): a directory that everyone may enter, and run(statements) as a user without privileges."""
    directory = tempfile.mkdtemp()
    os.chmod(directory, 0o755)
    extension = shutil.copy(support.EXTENSION + ".so", directory)

    def run(*statements):
        done = subprocess.run([sys.executable, "-c", AS_ANOTHER_USER, extension[:-3], *statements], cwd=directory,
                              capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    yield directory, run
    shutil.rmtree(directory)
