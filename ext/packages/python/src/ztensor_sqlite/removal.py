"""Files and directories that are left nowhere, however the process ends."""
from __future__ import annotations

import atexit
import contextlib
import os
import shutil
from typing import Any, Iterator

_removers: list[Any] = []   # Processes that live as long as this one


def at_the_end(path: str) -> None:
    """Let a file or directory, which is made afterwards, be removed when this process has ended, even by a signal that no process can
    handle."""
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    _removers.append(_remover(path))


@contextlib.contextmanager
def unfinished(directory: str, suffix: str) -> Iterator[str]:
    """The path of a new file, which is removed unless it has been moved to another path at the end."""
    path = os.path.join(directory, f".ztensor-{os.urandom(16).hex()}{suffix}")
    remover = _remover(path)
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield path
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        if remover:   # It has nothing left to do
            remover.kill()
            remover.communicate()


def _remover(path: str) -> Any:
    """A process that removes a file or directory when this one has ended; none on Windows."""
    if os.name != "posix":
        return None
    import subprocess

    # The shell reads from a pipe that only this process can write to: it gets the end of the file when this process has ended
    return subprocess.Popen(["/bin/sh", "-c", 'trap "" INT TERM HUP; read -r _; rm -rf -- "$0"', os.path.abspath(path)], stdin=subprocess.PIPE,
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
