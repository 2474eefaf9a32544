"""Hosts that have closed their standard streams: what they print must not go into a file that took the number of one."""
import subprocess
import sys
import textwrap

import writing
from support import EXTENSION, rows

HOST = """
    import os, sqlite3, sys, threading
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
    db.commit()
    done.set()
    prints.join()
    log.write(str(sum(printed)))
"""


def test_nothing_that_a_host_prints_goes_into_a_written_file(db, tmp_path):
    source, path, log = (str(tmp_path / name) for name in ("source.zt", "out.npz", "log"))
    n = 16 << 20
    out = writing.open_writer(source)
    out.execute("INSERT INTO out(name, data, dtype, shape) VALUES('a', zeroblob(?1), 'u8', json_array(?1))", (n,))
    out.commit()
    subprocess.run([sys.executable, "-c", textwrap.dedent(HOST), EXTENSION, writing.ENTRY, source, path, log], check=True)
    assert open(log).read() == "0"
    assert rows(db, "SELECT object, shape FROM zt_objects(?)", path) == [("a", f"[{n}]")]
    assert rows(db, "SELECT * FROM zt_check(?, 'full')", path) == []
