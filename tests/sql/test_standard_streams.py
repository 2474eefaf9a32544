"""Hosts that have closed their standard streams: what they print must not go into a file that took the number of one."""
import json
import os
import sqlite3
import subprocess
import sys
import textwrap

import writing
from support import EXTENSION, rows

HOST = """
    import json, os, sqlite3, sys, threading
    extension, entry, source, path, log = sys.argv[1:]
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, ?)", (extension, entry))
    db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{path}')")
    db.execute("INSERT INTO out(name, source, object) VALUES('a', ?, 'a')", (source,))
    done, printed, log = threading.Event(), [], open(log, "w")
    def host_prints():
        while not done.is_set():
            for number in (1, 2):
                try:
                    printed.append(os.write(number, b"printed"))
                except OSError:
                    pass
    for number in range(3):
        os.close(number)
    prints = threading.Thread(target=host_prints)
    prints.start()
    failed = None
    try:
        db.commit()
    except sqlite3.Error as error:
        failed = str(error)
    finally:
        done.set()
        prints.join()
    json.dump([sum(printed), failed], log)
"""


def test_nothing_that_a_host_prints_goes_into_a_written_file(db, tmp_path):
    source, path, log = (str(tmp_path / name) for name in ("source.zt", "out.npz", "log"))
    n = 16 << 20
    out = writing.open_writer(source)
    out.execute("INSERT INTO out(name, data, dtype, shape) VALUES('a', zeroblob(?1), 'u8', json_array(?1))", (n,))
    out.commit()
    subprocess.run([sys.executable, "-c", textwrap.dedent(HOST), EXTENSION, writing.ENTRY, source, path, log], check=True, timeout=120)
    with open(log) as said:
        printed, failed = json.load(said)
    if sqlite3.sqlite_version_info < (3, 35):   # SQLite opens a temporary file of its own, which it cannot write with such a number
        assert failed == f"ztensor: {path}: the database: disk I/O error" and not os.path.exists(path)
        return
    assert (printed, failed) == (0, None)
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", path) == [("a", f"[{n}]")]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", path) == []
