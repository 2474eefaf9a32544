"""The wheel of this machine, in environments that have nothing but what it brings; and what the tests of the command and its page ask."""
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(TESTS.parent.parent))
from release import BUILD, DIST, PLATFORMS, ROOT, sha256, this_platform

GOLDEN = ROOT / "tests" / "formats" / "ztensor" / "golden" / "v1.2" / "wheel_names.zt"

SOURCES = TESTS.parent / "src"
# The tests of the command and its page ask the source tree, beside the library that `make` built. With INSTALLED=1, which
# `make test-packages` sets, they ask the wheel as pip installs it, and nothing of the source tree is on Python's path
INSTALLED = os.environ.get("INSTALLED", "0") != "0"

# Tests need these besides the wheel
PACKAGES = ["apsw==3.54.1.0", "sqlalchemy==2.1.9"]
COMMAND_PACKAGES = ["apsw==3.54.1.0", "click==8.5.1", "rich==15.0.0", "datasette==0.65.5"]


def wheel_of(platform):
    (path,) = DIST.glob(f"*-py3-none-{PLATFORMS[platform]['wheel']}.whl")
    return path


class Environment:
    """A virtual environment in which the wheel is installed, and no compiler is found."""

    def __init__(self, directory):
        self.directory = directory
        self.python = directory / "bin" / "python"
        self.variables = {"PATH": str(directory / "bin"), "HOME": str(directory), "LANG": "C.UTF-8"}

    def pip(self, *arguments):
        # Where packages come from is this machine's affair
        variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | self.variables
        subprocess.run([self.python, "-m", "pip", "-q", "--disable-pip-version-check", *arguments], env=variables, check=True)

    def run(self, code, *arguments, before=(), **variables):
        """What a program prints as JSON; it gets the paths of a tensor file and of the project, then the arguments."""
        program = "import json, sys, ztensor_sqlite\ngolden, root, *arguments = sys.argv[1:]\n" + code
        done = subprocess.run([*before, self.python, "-c", program, GOLDEN, ROOT, *arguments], capture_output=True, text=True,
                              env=self.variables | variables, cwd=self.directory)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def installed(self):
        return sorted(str(path.relative_to(self.directory)) for path in self.directory.rglob("*"))


def environment(name, *packages):
    directory = BUILD / "environments" / name
    stamp, wanted = directory / "packages", "\n".join(map(str, packages))
    if not stamp.exists() or stamp.read_text() != wanted:
        shutil.rmtree(directory, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", directory], check=True)
        made = Environment(directory)
        made.pip("install", "--only-binary", ":all:", *packages)
        stamp.write_text(wanted)
    return Environment(directory)


def with_wheel(made, wheel):
    """An environment in which this wheel is installed."""
    stamp = made.directory / "wheel"
    if not stamp.exists() or stamp.read_text() != sha256(wheel):
        made.pip("install", "--force-reinstall", "--no-deps", wheel)
        made.pip("install", "--only-binary", ":all:", wheel)   # Its needs, too, where the version in the environment does not do
        stamp.write_text(sha256(wheel))
    return made


@functools.cache
def commands(name="command", *more):
    """The environment in which the command runs, with more packages."""
    made = environment(name + "-installed" * INSTALLED, *COMMAND_PACKAGES, *more)
    return with_wheel(made, wheel_of(this_platform())) if INSTALLED else made


def site_packages(made):
    (path,) = made.directory.glob("lib/python*/site-packages")
    return path


# Where this process, too, finds the package
PACKAGE = site_packages(commands()) if INSTALLED else SOURCES
sys.path.append(str(PACKAGE))


@pytest.fixture(scope="session")
def wheel():
    return wheel_of(this_platform())


@pytest.fixture(scope="session")
def drivers(wheel):
    """The wheel beside apsw and SQLAlchemy."""
    return with_wheel(environment("drivers", *PACKAGES), wheel)


@pytest.fixture
def clean(tmp_path):
    """An environment with nothing in it."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "clean"], check=True)
    return Environment(tmp_path / "clean")


@pytest.fixture(scope="session")
def collection(tmp_path_factory):
    """The files of collection.py. Tests change none of them."""
    from collection import make

    return make(tmp_path_factory.mktemp("everyday") / "collection")
