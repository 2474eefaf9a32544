"""The words of a command line that name tensor files: paths, patterns, directories, URLs, JSON arrays of these, and pipes.

Pipes are copied into temporary files, since tensor files are read at any place. Users see the words, and never those files.
"""
import errno
import os
import re
import stat
import sys

from .output import Progress, renamed
from .session import Trouble, is_database, quote

STDIN = "-"
ALSO_STDIN = (STDIN, "/dev/stdin", "/dev/fd/0")
CHUNK = 1 << 20
A_LIST = re.compile(r'\[\s*["\]]')   # How a JSON array of texts begins


class Source:
    """The files that one or several words name. `sql` is an SQL literal for the extension's tables and functions."""

    def __init__(self, *words):
        if len(words) == 1:
            _refuse_database(words[0])
        self.words = [_opened(word) for given in words for word in _listed(given, len(words) == 1)]
        self.text = self.words[0] if len(self.words) == 1 else several(self.words)
        if len(self.words) == 1 and self.text.startswith("[") and not A_LIST.match(self.text) and not os.path.lexists(self.text):
            self.text = several(self.words)   # A pattern
        self.sql = quote(self.text)

    def __str__(self):
        return ", ".join(self.words[:3]) + (", ..." if len(self.words) > 3 else "")

    @property
    def is_folder(self):
        """Whether it is one folder, which stands for its files without being asked."""
        return len(self.words) == 1 and os.path.isdir(self.text)

    def is_single(self, session):
        """Whether there is one file, which the only word names. A source without any file is an error."""
        found = [path for path, in session.run(f"SELECT path FROM zt_files({self.sql}) LIMIT 2")]
        if not found:
            self.refuse_empty()
        (word, *rest) = self.words
        if rest or len(found) > 1:
            return False
        return found[0] == word or word.startswith("file:") or word.startswith("~") and not os.path.isdir(os.path.expanduser(word))

    def refuse_empty(self):
        raise Trouble(f"{self}: there is no tensor file")

    def model(self, session):
        """The models.Model that the source is, whose files it names from then on; or None if it is several."""
        from . import models

        found = models.of(session, self.text)
        if not found:
            self.refuse_empty()
        if len(found) > 1:
            return None
        models.must_be_there(found[0])
        self.text = found[0].source
        self.sql = quote(self.text)
        return found[0]


def several(words):
    """A JSON array of words, which is a source that the extension takes."""
    import json

    return json.dumps(words, ensure_ascii=False)


def _listed(word, alone):
    """The words in a word: several if it is a JSON array beside other words, where an array cannot be."""
    if alone or not A_LIST.match(word) or os.path.lexists(word):
        return [word]
    import json

    try:
        words = json.loads(word)
    except ValueError:
        return [word]
    return words if all(isinstance(inner, str) for inner in words) else [word]


def _refuse_database(path):
    """Say how to ask a catalog, or another database, which is no tensor file."""
    if path != STDIN and is_database(path):
        import shlex

        from .catalog import APPLICATION, application_of

        if application_of(path) == APPLICATION:
            raise Trouble(f"{path}: this is a catalog; `ztensor-sql serve {shlex.quote(path)}` shows it, and"
                          f" `ztensor-sql shell {shlex.quote(path)} -c 'SELECT * FROM files'` asks it")
        raise Trouble(f"{path}: this is an SQLite database, and no tensor file; `ztensor-sql shell {shlex.quote(path)}` opens it")


# ---- Pipes

def _opened(word):
    """The path of a word's file: the word itself, or a copy of what comes out of a pipe."""
    if word in _copies:
        return _copies[word]
    if word in ALSO_STDIN:
        return _kept(word, _of_stdin(word))
    try:
        mode = os.stat(word).st_mode
    except (OSError, ValueError):   # The extension says what is wrong with it
        return word
    if stat.S_ISFIFO(mode):
        with open(word, "rb", buffering=0) as stream:
            return _kept(word, _copy(word, stream, os.path.basename(word)))
    return word


def _of_stdin(word):
    if sys.stdin is None or sys.stdin.closed:
        raise Trouble(f"{word}: stdin is closed")
    if sys.stdin.isatty():
        raise Trouble(f"{word}: stdin is a terminal; `ztensor-sql ls - < FILE` reads a file")
    stream = sys.stdin.buffer.raw
    if stat.S_ISREG(os.fstat(stream.fileno()).st_mode) and os.path.exists("/dev/stdin") and not stream.tell():
        return "/dev/stdin"   # A file, which needs no copy
    return _copy(word, stream, "stdin")


_copies = {}   # Words and the paths of their copies


def _kept(word, path):
    if word != path:
        _copies[word] = path
        renamed.setdefault(path, word)
    return path


def _copy(word, stream, name):
    from . import removal

    place = _temporary(word)
    directory = os.path.join(place, "ztensor-" + os.urandom(16).hex())
    removal.at_the_end(directory)
    path = os.path.join(directory, name)
    try:
        os.mkdir(directory, 0o700)
        with open(path, "wb") as file, Progress(word, unit="bytes", delay=0.5) as bar:
            while part := stream.read(CHUNK):
                file.write(part)
                bar.advance(len(part))
    except OSError as error:
        more = f" in {place}, where pipes are copied to; TMPDIR names another directory" if error.errno == errno.ENOSPC else ""
        raise Trouble(f"{word}: {error.strerror}{more}") from None
    renamed[path] = word
    renamed[os.path.join(directory, "")] = ""   # Files that a tensor file names beside itself
    return path


def _temporary(word):
    """The directory for copies. Python's tempfile tries each out by a file, which stays there if the command is killed at that moment."""
    for place in (*map(os.environ.get, ("TMPDIR", "TEMP", "TMP")), "/tmp", "/var/tmp"):
        if place and os.path.isdir(place) and os.access(place, os.W_OK | os.X_OK):
            return os.path.abspath(place)
    if os.name == "posix":
        raise Trouble(f"{word}: there is no directory that a pipe can be copied to; TMPDIR names one")
    import tempfile

    return tempfile.gettempdir()


def is_url(source):
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", source) is not None
