"""release.toml, and where things are, for the scripts that make packages."""
import hashlib
import pathlib
import platform
import subprocess
import sys
import tomllib

PACKAGES = pathlib.Path(__file__).resolve().parent
ROOT = PACKAGES.parent.parent
BUILD = ROOT / "build" / "packages"
DIST = BUILD / "dist"   # The finished packages

RELEASE = tomllib.loads((PACKAGES / "release.toml").read_text())
VERSION = RELEASE["version"]
PLATFORMS = RELEASE["platform"]


class Failed(Exception):
    """Something that the person who builds has to know: said in a line, without a traceback."""


def main(function):
    """Run a script's function with the arguments of the command line."""
    try:
        function(*sys.argv[1:])
    except Failed as e:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {e}")


def this_platform():
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    return f"linux-{machine}"


def chosen_platforms(names):
    """The platforms of these names; `this` is this machine's, `all` are all."""
    chosen = []
    for name in names:
        chosen += PLATFORMS if name == "all" else [this_platform() if name == "this" else name]
    unknown = [name for name in chosen if name not in PLATFORMS]
    if unknown or not chosen:
        raise Failed(f"no platform {' '.join(unknown) or 'given'}; there are: all this {' '.join(PLATFORMS)}")
    return chosen


def library_of(name):
    """Where the library of that platform is built."""
    return BUILD / "native" / name / PLATFORMS[name]["library"]


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def run(*command, **options):
    """A command whose output is shown only if it fails."""
    command = [str(word) for word in command]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    except FileNotFoundError:
        raise Failed(f"there is no {command[0]}; ext/packages/README.md says what building needs") from None
    if done.returncode:
        raise Failed(f"{' '.join(command[:4])} ... failed:\n{done.stdout[-4000:]}")
    return done.stdout
