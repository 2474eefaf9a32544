"""load(), connect() and loadable_path() of the installed wheel."""
import pathlib
import re
import subprocess

import pytest

FIRST = """
def first(conn):
    return list(conn.execute("SELECT count(*) FROM zt_objects(?)", (golden,)))[0][0]
def says(function, *arguments, **options):
    try:
        function(*arguments, **options)
    except Exception as e:
        return f"{type(e).__name__}: {e}"
def end(value):
    print(json.dumps(value))
"""
OBJECTS = 17


@pytest.mark.parametrize("opened", ["sqlite3.connect(':memory:')", "apsw.Connection(':memory:')"])
def test_a_connection_has_the_tables_and_twice_changes_nothing(drivers, opened):
    assert drivers.run(FIRST + f"""
import apsw, sqlite3
conn = {opened}
ztensor_sqlite.load(conn)
before = first(conn)
ztensor_sqlite.load(conn)
end([before, first(conn)])""") == [OBJECTS, OBJECTS]


@pytest.mark.parametrize("order", ["(a, b)", "(b, a)"])
def test_two_sqlite_libraries_in_one_process(drivers, order, tmp_path):
    """The second gets a copy, further connections of both the one that there is, and nothing is left."""
    version, counts, copies = drivers.run(FIRST + f"""
import apsw, pathlib, sqlite3, tempfile
counts, versions = [], set()
for turn in range(3):
    a, b = sqlite3.connect(':memory:'), apsw.Connection(':memory:')
    for conn in {order}:
        ztensor_sqlite.load(conn)
        counts.append(first(conn))
        versions.add(list(conn.execute('SELECT sqlite_version()'))[0][0])
end([len(versions), counts, len(list(pathlib.Path(tempfile.gettempdir()).glob('ztensor-sqlite-*')))])""", TMPDIR=str(tmp_path))
    assert (version, counts, copies) == (2, [OBJECTS] * 6, 1)
    assert list(tmp_path.iterdir()) == []


def test_many_threads_of_two_libraries_share_one_copy(drivers, tmp_path):
    counts, copies = drivers.run(FIRST + """
import apsw, concurrent.futures, pathlib, sqlite3, tempfile
def one(i):
    conn = sqlite3.connect(':memory:') if i % 2 else apsw.Connection(':memory:')
    ztensor_sqlite.load(conn)
    return first(conn)
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    counts = list(pool.map(one, range(64)))
end([counts, len(list(pathlib.Path(tempfile.gettempdir()).glob('ztensor-sqlite-*')))])""", TMPDIR=str(tmp_path))
    assert counts == [OBJECTS] * 64
    assert copies == 1


def test_a_forked_process_leaves_the_copies_of_its_parent(drivers, tmp_path):
    assert drivers.run(FIRST + """
import apsw, os, pathlib, sqlite3, sys, tempfile
a, b = sqlite3.connect(':memory:'), apsw.Connection(':memory:')
ztensor_sqlite.load(a)
ztensor_sqlite.load(b)
child = os.fork()
if child == 0:
    sys.exit()
os.waitpid(child, 0)
copies = len(list(pathlib.Path(tempfile.gettempdir()).glob('ztensor-sqlite-*')))
c = apsw.Connection(':memory:')
ztensor_sqlite.load(c)
end([copies, first(c)])""", TMPDIR=str(tmp_path)) == [1, OBJECTS]


def test_sqlalchemy(drivers):
    """A connection; and an engine, in each connection that its pool opens."""
    assert drivers.run(FIRST + """
import sqlalchemy
count = sqlalchemy.text("SELECT count(*) FROM zt_objects(:path)")
with sqlalchemy.create_engine('sqlite://').connect() as conn:
    ztensor_sqlite.load(conn)
    ztensor_sqlite.load(conn)
    one = conn.execute(count, {'path': golden}).scalar()
engine = sqlalchemy.create_engine('sqlite://', poolclass=sqlalchemy.NullPool)
ztensor_sqlite.load(engine)
ztensor_sqlite.load(engine)
two = []
for i in range(2):
    with engine.connect() as conn:
        two.append(conn.execute(count, {'path': golden}).scalar())
with sqlalchemy.create_engine('sqlite://').connect() as conn:
    ztensor_sqlite.load(conn, files=False)
    refused = says(conn.execute, count, {'path': golden})
end([one, two, 'opens no files' in refused or refused])""") == [OBJECTS, [OBJECTS, OBJECTS], True]


def test_every_connection_of_a_pool(drivers, tmp_path):
    """Those that were there before, those that are opened later, and those of a new pool."""
    assert drivers.run(FIRST + """
import sqlalchemy
count = sqlalchemy.text("SELECT count(*) FROM zt_objects(:path)")
counts = []
def ask(engine, connections):
    opened = [engine.connect() for i in range(connections)]
    counts.extend(conn.execute(count, {'path': golden}).scalar() for conn in opened)
    for conn in opened:
        conn.close()
engine = sqlalchemy.create_engine('sqlite:///' + arguments[0], pool_size=3)
for conn in [engine.connect() for i in range(2)]:
    conn.close()
before = says(ask, engine, 1)
ztensor_sqlite.load(engine)
ask(engine, 4)
engine.dispose()
ask(engine, 2)
memory = sqlalchemy.create_engine('sqlite://')
memory.connect().close()
ztensor_sqlite.load(memory)
ask(memory, 1)
end(['no such table: zt_objects' in before, counts])""", tmp_path / "pool.db") == [True, [OBJECTS] * 7]


def test_an_engine_that_cannot_have_it_says_so_at_once(drivers):
    assert drivers.run(FIRST + """
import sqlite3, sqlalchemy
engine = sqlalchemy.create_engine('sqlite://')
class Other:
    name = 'postgresql'
other = sqlalchemy.create_engine('sqlite://')
other.dialect = Other()
class AsyncEngine:
    sync_engine = engine
AsyncEngine.__module__ = 'sqlalchemy.ext.asyncio'
class WithoutExtensions:
    close = lambda self: None
WithoutExtensions.__module__ = 'sqlite3'
said = [says(ztensor_sqlite.load, other)]
engine.dialect.dbapi.connect = lambda path: WithoutExtensions()
end([*said, says(ztensor_sqlite.load, engine), says(ztensor_sqlite.load, AsyncEngine())])""") == [
        "LoadError: the engine's database is postgresql, not sqlite",
        "LoadError: this Python's sqlite3 was built without extensions; apsw has them: ztensor_sqlite.connect() takes it",
        "TypeError: an AsyncEngine hands its connections to another thread; pass a connection of sqlite3 or apsw to load()"]


@pytest.mark.parametrize("opened", ["sqlite3.connect(':memory:')", "apsw.Connection(':memory:')"])
def test_writing_and_remote_sources_are_asked_for(drivers, opened):
    assert drivers.run(FIRST + f"""
import apsw, sqlite3
def has(conn):
    return [list(conn.execute("SELECT count(*) FROM pragma_module_list WHERE name = 'zt_writer'"))[0][0],
            list(conn.execute("SELECT count(DISTINCT name) FROM pragma_function_list WHERE name = 'zt_remote'"))[0][0]]
seen = []
for options in ({{}}, {{'write': True}}, {{'remote': True}}, {{'write': True, 'remote': True}}):
    conn = {opened}
    ztensor_sqlite.load(conn, **options)
    seen.append(has(conn))
    conn = ztensor_sqlite.connect(**options)
    seen.append(has(conn))
conn = {opened}
ztensor_sqlite.load(conn)
ztensor_sqlite.load(conn, write=True)
seen.append(has(conn))
end([seen, says(ztensor_sqlite.connect, files=False, write=True), says(ztensor_sqlite.connect, files=False, remote=True)])""") == [
        [[0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [0, 1], [1, 1], [1, 1], [1, 0]],
        "ValueError: write=True needs files=True: without files, no path is opened",
        "ValueError: remote=True needs files=True: without files, no path is opened"]


@pytest.mark.parametrize("opened", ["sqlite3.connect(':memory:')", "apsw.Connection(':memory:')"])
def test_without_files_nothing_opens_a_path(drivers, opened):
    blob, refused, still, later = drivers.run(FIRST + f"""
import apsw, pathlib, sqlite3
conn = {opened}
ztensor_sqlite.load(conn, files=False)
blob = list(conn.execute("SELECT count(*) FROM zt_objects(?)", (pathlib.Path(golden).read_bytes(),)))[0][0]
refused = says(first, conn)
ztensor_sqlite.load(conn)
still = says(first, conn)
other = {opened}
ztensor_sqlite.load(other)
end([blob, refused, still, says(ztensor_sqlite.load, other, False)])""")
    assert blob == OBJECTS
    assert "opens no files" in refused and refused == still
    assert later.startswith("LoadError: ") and later.endswith("ztensor is loaded already, and opens files")


@pytest.mark.parametrize("opened", ["sqlite3.connect(':memory:')", "apsw.Connection(':memory:')"])
def test_who_may_load_extensions_is_as_before(drivers, opened):
    off, on = drivers.run(FIRST + f"""
import apsw, sqlite3
def may(conn):
    return says(lambda: list(conn.execute("SELECT load_extension('/nowhere')")))
conn = {opened}
ztensor_sqlite.load(conn)
off = may(conn)
conn = {opened}
conn.enable_load_extension(True)
ztensor_sqlite.load(conn)
end([off, may(conn)])""")
    assert "not authorized" in off
    assert "cannot open shared object file" in on


def test_connect(drivers, tmp_path):
    kind, count, kept, name, refused = drivers.run(FIRST + """
import sqlite3
conn = ztensor_sqlite.connect(arguments[0], timeout=1)
kind, count = type(conn).__module__, first(conn)
conn.execute("CREATE TABLE t AS SELECT path FROM zt_files(?)", (golden,))
conn.commit()
conn.close()
kept = ztensor_sqlite.connect(arguments[0]).execute("SELECT path FROM t").fetchall()
refused = says(first, ztensor_sqlite.connect(files=False))
class WithoutExtensions: pass
sqlite3.Connection = WithoutExtensions
conn = ztensor_sqlite.connect(arguments[0])
end([kind, count, kept == [(golden,)] == list(conn.execute("SELECT path FROM t")), type(conn).__module__, refused])""",
                                                     tmp_path / "a.db")
    assert (kind, count, kept) == ("sqlite3", OBJECTS, True)
    assert name.startswith("apsw")
    assert "opens no files" in refused


def test_connect_without_extensions_and_without_apsw(clean, wheel):
    clean.pip("install", "--no-deps", wheel)
    assert clean.run(FIRST + """
import sqlite3
class WithoutExtensions: pass
sqlite3.Connection = WithoutExtensions
WithoutExtensions.__module__ = 'sqlite3'
end([says(ztensor_sqlite.connect), says(ztensor_sqlite.load, WithoutExtensions())])""") == [
        "LoadError: this Python's sqlite3 was built without extensions, and apsw is not installed: pip install 'ztensor-sqlite[apsw]'",
        "LoadError: this Python's sqlite3 was built without extensions; apsw has them: ztensor_sqlite.connect() takes it"]


def test_what_is_no_connection(drivers):
    assert drivers.run(FIRST + """
import sqlalchemy
end([says(ztensor_sqlite.load, 'a.db'), says(ztensor_sqlite.load, sqlalchemy.text('SELECT 1'))])""") == [
        "TypeError: a connection of sqlite3, apsw or SQLAlchemy is needed, not str",
        "TypeError: an engine or a connection of SQLAlchemy is needed, not TextClause"]


def test_loadable_path_is_what_the_shell_loads(drivers):
    path, scripts = drivers.run(FIRST + "end([ztensor_sqlite.loadable_path(), ztensor_sqlite.sql_path()])")
    done = subprocess.run(["sqlite3", "-bail", ":memory:", f".load {path}", "SELECT zt_version()",
                           f".read {scripts}/catalog.sql", "SELECT count(*) FROM files"], capture_output=True, text=True)
    assert re.fullmatch(r"0\.1\.0 \(SQLite [\d.]+, zstd 1\.5\.7, AWS-LC\)\n0\n", done.stdout), done.stderr


def test_a_library_that_cannot_be_loaded_is_named(clean, wheel):
    clean.pip("install", "--no-deps", wheel)
    path = clean.run(FIRST + "end(ztensor_sqlite.loadable_path())")
    pathlib.Path(path).write_text("This is no library.")
    broken = clean.run(FIRST + "end(says(ztensor_sqlite.connect))")
    assert broken.startswith("LoadError: ") and path in broken and ".so.so" not in broken
    pathlib.Path(path).unlink()
    missing = clean.run(FIRST + "end(says(ztensor_sqlite.connect))")
    assert missing.startswith("LoadError: there is no ztensor.so in ") and path.rpartition("/")[0] in missing


def test_nothing_asks_the_network(drivers, tmp_path):
    log = tmp_path / "calls"
    count = drivers.run(FIRST + "conn = ztensor_sqlite.connect()\nend(first(conn))",
                        before=["/usr/bin/strace", "-f", "-e", "trace=%network,openat", "-o", log])
    assert count == OBJECTS
    calls = log.read_text()
    assert "ztensor.so" in calls
    assert not re.search(r"\b(socket|connect|sendto|sendmsg)\(", calls)
