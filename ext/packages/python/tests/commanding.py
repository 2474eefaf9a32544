"""The command, in an environment that has what it needs; and tensor files to ask it about."""
import json
import os
import pty
import shlex
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from conftest import INSTALLED, PACKAGE, ROOT, commands
from tensor_files import floats, safetensors

GOLDEN = ROOT / "tests" / "formats"


class Command:
    def __init__(self, directory, more=(), name="command"):
        self.python = commands(name, *more).python
        self.program = [self.python.parent / "ztensor-sql"] if INSTALLED else [self.python, "-m", "ztensor_sqlite"]
        self.directory = directory
        self.variables = {**os.environ, "PYTHONPATH": "" if INSTALLED else str(PACKAGE), "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C.UTF-8",
                          "XDG_STATE_HOME": str(directory / "state"), "XDG_CACHE_HOME": str(directory / "cache")}

    def words(self, arguments):
        return [*self.program, *map(os.fsencode, map(str, arguments))]

    @property
    def typed(self):
        """The command in a line of a shell."""
        return shlex.join(map(str, self.program))

    def __call__(self, *arguments, input="", status=0):
        """What it says on stdout, and on stderr."""
        done = subprocess.run(self.words(arguments), input=input.encode(), capture_output=True, cwd=self.directory, env=self.variables,
                              timeout=120)
        out, err = (text.decode(errors="surrogateescape") for text in (done.stdout, done.stderr))
        assert done.returncode == status, (done.returncode, out, err)
        assert "Traceback" not in err, err
        return out, err

    def json(self, *arguments, status=0):
        return json.loads(self(*arguments, "--json", status=status)[0])

    def refused(self, *arguments):
        """The one line that says why."""
        out, err = self(*arguments, status=2)
        assert out == "" and err.startswith("ztensor-sql: ") and err.count("\n") == 1, (out, err)
        return err[len("ztensor-sql: "):-1]

    def python_code(self, code, *arguments):
        done = subprocess.run([self.python, "-c", code, *map(str, arguments)], capture_output=True, text=True, cwd=self.directory, env=self.variables,
                              timeout=1800)
        assert done.returncode == 0, done.stderr
        return done.stdout


def on_terminal(command, *arguments, status=0):
    """The lines that a command prints on a terminal."""
    master, slave = pty.openpty()
    done = subprocess.Popen(command.words(arguments), stdout=slave, stderr=slave, cwd=command.directory, env=command.variables)
    os.close(slave)
    said = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:   # What Linux says at the end
            break
        if not part:
            break
        said += part
    os.close(master)
    assert done.wait(60) == status, said
    return said.decode().split("\r\n")


class Server:
    """`serve`, until the end of a with statement."""

    def __init__(self, command, *arguments, log=None):
        self.log = log or command.directory / "log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(command.words(["serve", *arguments, "--port", "0"]), stdout=subprocess.PIPE, stderr=log,
                                            text=True, cwd=command.directory, env=command.variables)
        self.address = self.process.stdout.readline().strip()
        assert self.address.endswith("/-/ztensor"), self.log.read_text()
        self.host = self.address.removesuffix("/-/ztensor")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop(signal.SIGTERM)

    def stop(self, how):
        """Its status."""
        self.process.send_signal(how)
        self.process.communicate(timeout=30)
        return self.process.returncode

    def get(self, address, **headers):
        """(status, headers, text)"""
        return self._ask(address, None, headers)

    def post(self, address, fields, **headers):
        """Send a form as a browser does, from one of the server's own pages."""
        headers = {"Origin": self.host, "Content-Type": "application/x-www-form-urlencoded", **headers}
        return self._ask(address, urllib.parse.urlencode(fields).encode(), {key: value for key, value in headers.items() if value is not None})

    def _ask(self, address, data, headers):
        request = urllib.request.Request(address if address.startswith("http") else self.host + address, data, headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()
