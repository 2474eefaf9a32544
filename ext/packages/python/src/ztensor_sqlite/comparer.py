"""The process in which `ztensor-sql serve` compares two models of a catalog.

It gets the catalog, the file for the results (the catalog itself, or the one of pairs.py in the cache) and two numbers of files. It reads
paths in the catalog only. It prints its progress and its end as lines of JSON, and ends when its stdin does, so that it outlives no server.
Results are saved one pair of files at a time, each in a short transaction.
"""
import json
import os
import signal
import sys
import threading
import time

from . import _text, measures, pairs
from .session import Session, Trouble, quote

PAUSE = 0.2   # Seconds between two lines of progress
BUSY = 5000   # Milliseconds that a transaction waits for another program, before it is tried again

TEMPORARY = """
CREATE TEMP TABLE file(id INTEGER PRIMARY KEY, path TEXT);
CREATE TEMP TABLE name(id INTEGER PRIMARY KEY, name TEXT UNIQUE);
CREATE TEMP TABLE compared(a, b, name, change, elements, equal, nans, rmse, max_abs, cosine, square, error, PRIMARY KEY(a, b, name));
"""
IDENTITY = ["size", "mtime", "inode", "mtime_ns", "ctime_ns"]   # Columns of zt_files


def main():
    catalog, kept, a, b = sys.argv[1:]
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)   # The terminal's; stdin ends with the server
    if hasattr(os, "nice"):
        os.nice(5)
    try:
        comparison = Comparison(catalog, kept, int(a), int(b))
        threading.Thread(target=comparison.end_with_stdin, daemon=True).start()
        comparison.run()
    except Exception as error:   # Also those of SQLite, sqlite3 and apsw
        if not isinstance(error, (Trouble, OSError, MemoryError)) and type(error).__module__ not in ("sqlite3", "apsw", "_apsw"):
            raise
        say(error=str(error) or type(error).__name__)
        return 1
    say(ended=True)
    return 0


def say(**line):
    print(json.dumps(line), flush=True)


class Comparison:
    """The comparison of two models, each named by one of its files."""

    def __init__(self, catalog, kept, a, b):
        self.catalog = pairs.read_only(catalog)
        _text.prepare(self.catalog)
        self.session, self.saving = Session(kept), threading.Lock()
        self.is_elsewhere = not os.path.samefile(catalog, kept)
        self.session.run(f"PRAGMA busy_timeout = {BUSY}")
        for statement in TEMPORARY.strip().split(";\n"):
            self.session.run(statement)
        self.session.function("ztensor_sql_compared", 1, self._compared)
        self.models = [pairs.model_of(self.catalog, file) for file in (a, b)]
        if not all(self.models):
            raise Trouble("the catalog no longer has both files")
        if self.is_elsewhere:
            pairs.attach(self.catalog, kept)

    def end_with_stdin(self):
        """End the process when the server ends, or closes the pipe to stop the comparison. A transaction is not cut."""
        while os.read(0, 4096):
            pass
        with self.saving:
            os._exit(3)

    def run(self):
        wanted = pairs.file_pairs(self.catalog, *self.models)
        known = pairs.held(self.catalog, wanted)
        left = [pair for pair in wanted if pair not in known or known[pair][2] is not None]
        files = sorted({file for pair in left for file in pair})
        self._check_machine(files)
        before = {file: self._identities(file) for file in files}
        self.sizes = {pair: self._common(*pair) for pair in left}
        self.done = [0, 0]   # Tensors and bytes
        self.total = [sum(map(len, self.sizes.values())), sum(sum(sizes.values()) for sizes in self.sizes.values())]
        self._tell()
        for pair in left:
            self._compare(pair, before)

    def _rows(self, sql, *values):
        """All rows from the catalog. A statement that is not at its end would keep others from writing."""
        return self.catalog.execute(sql, values).fetchall()

    def _check_machine(self, files):
        here = self.session.value("SELECT zt_host()")
        for path, host, error in self._rows(f"SELECT f.path, h.name, f.error FROM file AS f JOIN host AS h ON h.id = f.host"
                                            f" WHERE f.id IN ({pairs.in_words(files)})"):
            if host != here:
                raise Trouble(f"{path}: this is a file of {host or 'an unnamed machine'}, and only files of this machine are read")
            if error is not None:
                raise Trouble(f"{path}: it cannot be read: {error}")

    def _identities(self, file):
        """When the catalog read a file, after a check that it, and other files with its bytes, are still as they were then."""
        found = self._rows("""
            SELECT f.path, f.refreshed, f.size, f.mtime, f.inode, s.mtime, s.ctime
            FROM file AS f LEFT JOIN stamp AS s ON s.file = f.id AND s.path = '' WHERE f.id = ?""", file)
        if not found:
            raise Trouble("the catalog no longer has both files")
        path, refreshed, *known = found[0]
        self._check(path, known)
        for other, *known in self._rows("""
                SELECT x.path, x.size, x.mtime, x.inode, s.mtime, s.ctime
                FROM external AS x LEFT JOIN stamp AS s ON s.file = x.file AND s.path = x.path WHERE x.file = ?""", file):
            self._check(other, known)
        return path, refreshed

    def _check(self, path, known):
        found = self.session.run(f"SELECT {', '.join(IDENTITY)} FROM zt_files({quote(path)}) WHERE path = {quote(path)}")
        if not found or found[0][0] is None:   # A missing file has a row if its name is no pattern
            raise Trouble(f"{path}: the file has vanished since the catalog read it")
        stamped = known[3] is not None
        if list(found[0])[:5 if stamped else 3] != list(known)[:5 if stamped else 3]:
            raise Trouble(f"{path}: the file has changed since the catalog read it; a refresh of the catalog reads it again")

    def _common(self, low, high):
        """The stored bytes, of both files together, of each tensor that both have. The key is the number of its name."""
        return {name: (size or 0) for name, size in self._rows("""
            SELECT x.name, CASE WHEN typeof(x.stored_bytes) = 'integer' THEN x.stored_bytes END
                         + CASE WHEN typeof(y.stored_bytes) = 'integer' THEN y.stored_bytes END
            FROM file AS f CROSS JOIN file AS g CROSS JOIN layout_objects AS x ON x.layout = f.layout
                 CROSS JOIN layout_objects AS y ON y.layout = g.layout AND y.name = x.name
            WHERE f.id = ? AND g.id = ?""", low, high)}

    def _compare(self, pair, before):
        self.session.run("DELETE FROM temp.file")
        self.session.run("DELETE FROM temp.name")
        self.session.run("DELETE FROM temp.compared")
        for file in pair:
            self.session.run(f"INSERT INTO temp.file VALUES ({file}, {quote(before[file][0])})")
        names = list(self.sizes[pair])
        for first in range(0, len(names), 500):
            self.session.run("INSERT INTO temp.name VALUES " + ", ".join(
                f"({number}, {quote(name)})" for number, name in self._rows(
                    f"SELECT id, name FROM name WHERE id IN ({pairs.in_words(names[first:first + 500])})")))
        self.pair, error = pair, None
        started = list(self.done)
        try:
            measures.compute(self.session, *pair, "temp.compared", told="ztensor_sql_compared")
            if self.session.value("SELECT count(*) FROM temp.compared") != len(names):
                raise Trouble(f"{before[pair[0]][0]}: the files have other tensors than the catalog says; a refresh of the catalog reads them again")
        except Exception as failure:
            if not str(failure).startswith("ztensor:"):
                raise
            error = str(failure)
            self.session.run("DELETE FROM temp.compared")
        for file in pair:   # A file that changed meanwhile has values of both times
            if self._identities(file) != before[file]:
                raise Trouble(f"{before[file][0]}: the catalog has read the file again meanwhile")
        self._save(pair, before, error)
        self.done = [started[0] + len(names), started[1] + sum(self.sizes[pair].values())]
        self._tell()

    def _save(self, pair, before, error):
        statements = [f"DELETE FROM main.distance WHERE a = {pair[0]} AND b = {pair[1]}",
                      "INSERT INTO main.distance SELECT * FROM temp.compared",
                      f"INSERT OR REPLACE INTO main.pair(a, b, at, error) VALUES ({pair[0]}, {pair[1]}, strftime('%s', 'now'), {quote(error)})"]
        if self.is_elsewhere:
            for file in pair:
                path, refreshed = before[file]
                stale = f"SELECT 1 FROM main.reading WHERE file = {file} AND (path <> {quote(path)} OR refreshed IS NOT {quote(refreshed)})"
                statements[:0] = [f"DELETE FROM main.{table} WHERE {file} IN (a, b) AND EXISTS ({stale})" for table in ("distance", "pair")]
                statements.append(f"INSERT OR REPLACE INTO main.reading VALUES ({file}, {quote(path)}, {quote(refreshed)})")
        while True:
            with self.saving:
                try:
                    with measures.transaction(self.session):
                        if not self.is_elsewhere:
                            self._check_refreshed(before, pair)
                        for statement in statements:
                            self.session.run(statement)
                    return
                except Exception as failure:
                    if self.session.connection.in_transaction:   # COMMIT failed
                        self.session.run("ROLLBACK")
                    if "locked" not in str(failure) and "Busy" not in type(failure).__name__:
                        raise
            time.sleep(PAUSE)

    def _check_refreshed(self, before, pair):
        """In the transaction, the catalog must still know the files that were read."""
        for file in pair:
            path, refreshed = before[file]
            if not self.session.value(f"SELECT count(*) FROM main.file WHERE id = {file} AND path = {quote(path)} AND refreshed IS {quote(refreshed)}"):
                raise Trouble(f"{path}: the catalog has read the file again meanwhile")

    def _compared(self, name):
        self.done[0] += 1
        self.done[1] += self.sizes[self.pair].get(name, 0)
        if time.monotonic() - self.last >= PAUSE:
            self._tell()
        return 1

    def _tell(self):
        self.last = time.monotonic()
        say(tensors=self.done[0], of_tensors=self.total[0], bytes=self.done[1], of_bytes=self.total[1])
