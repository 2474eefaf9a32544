"""The place of a catalog that the user has not named: outside of the folders that it describes."""
import hashlib
import os
import re
import sys

from .session import Trouble
from .sources import STDIN, is_url

NOT_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def state_directory():
    """The user's directory for the state of programs. A catalog keeps history, which cannot be made again as a cache can."""
    return _directory("XDG_STATE_HOME", (".local", "state"), "Application Support")


def cache_directory():
    """The user's directory for files that can be made again."""
    return _directory("XDG_CACHE_HOME", (".cache",), "Caches")


def _directory(variable, usual, library):
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", library)
    else:
        base = os.environ.get(variable) or os.path.join(home, *usual)
    return os.path.join(base, "ztensor-sqlite")


def catalog_of(sources):
    """The path of the catalog of these sources, the same one each time."""
    known = sorted({_absolute(source) for source in sources})
    stem = NOT_A_NAME.sub("-", os.path.basename(known[0].rstrip("/"))).strip("-.") or "catalog"
    digest = hashlib.sha256(os.fsencode("\0".join(known))).hexdigest()[:12]
    path = os.path.join(state_directory(), f"{stem[:40]}-{digest}.db")
    for source in known:
        if not is_url(source) and os.path.realpath(path).startswith(os.path.join(_fixed(source), "")):
            raise Trouble(f"{source}: the catalog would be in this folder, as {path}; --db names another file")
    return path


def make_room(path):
    """Make the directory of a catalog of catalog_of()."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    except OSError as error:
        raise Trouble(f"{error.filename}: {error.strerror}; --db names another file") from None


def refuse_pipes(sources):
    """A catalog describes files that stay."""
    if STDIN in sources:
        raise Trouble("-: a catalog is of files and not of a pipe")


def _absolute(source):
    return source if is_url(source) or source.startswith("[") else os.path.realpath(os.path.expanduser(source))


def _fixed(source):
    """The directory before the first part of a path that is a pattern."""
    parts = re.split(r"[*?\[]", source, maxsplit=1)
    return source if len(parts) == 1 or os.path.lexists(source) else os.path.dirname(parts[0])
