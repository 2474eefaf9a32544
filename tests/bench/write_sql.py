"""Our side of writing: write_sql.py EXTENSION FILE TO DTYPE ARGUMENTS. One INSERT ... SELECT of a whole file, of which COMMIT
is a part. Prints the seconds and the processors' seconds. DTYPE may be `-`."""

from __future__ import annotations

import sqlite3
import sys
import time
from pathlib import Path


def main(extension: str, path: str, to: str, dtype: str, arguments: str) -> None:
    Path(to).unlink(missing_ok=True)
    db = sqlite3.connect(":memory:", isolation_level=None)
    db.enable_load_extension(True)
    db.execute("SELECT load_extension(?, 'sqlite3_ztensor_write_init')", [extension])
    db.execute(f"CREATE VIRTUAL TABLE temp.target USING zt_writer('{to}'{arguments})")
    start, cpu = time.perf_counter(), time.process_time()
    db.execute("INSERT INTO target(name, source, object, dtype) SELECT object, path, object, ? FROM zt_objects(?)",
               [None if dtype == "-" else dtype, path])
    print(f"{time.perf_counter() - start:.6f} {time.process_time() - cpu:.6f}\t")
    Path(to).unlink()


if __name__ == "__main__":
    main(*sys.argv[1:])
