"""Catalogs: made, refreshed and merged by the scripts of sql/, with progress."""
import os

from .measures import SCRIPT, batches, distances, statistics
from .session import Session, Trouble, is_database, quote

REFRESHED = ["source", "files", "added", "changed", "retried", "unchanged", "removed", "kept", "broken", "moved", "unsupported",
             "others"]
MERGED = ["catalog", "added", "replaced", "removed", "unchanged"]
APPLICATION = 0x7A744361   # application_id of a catalog


def exists(path):
    """Refuse a file that is not a catalog, before SQLite would make a database of it."""
    if not os.path.exists(path):
        raise Trouble(f"{path}: there is no such catalog")
    if not is_database(path):
        raise Trouble(f"{path}: this is no catalog")


def must_be(session, path, schema="main"):
    """Refuse another program's database, which the scripts would turn into a catalog."""
    if session.value(f"PRAGMA {schema}.application_id") != APPLICATION:
        raise Trouble(f"{path}: this is no catalog")


def application_of(path):
    """The application_id of a database. Its file is only read, and nothing beside it is written."""
    with open(path, "rb") as file:
        return int.from_bytes(file.read(72)[68:], "big")   # As SQLite's file format says


def is_of_another(path):
    """Whether there is a database with tables that is not a catalog. catalog.sql itself refuses one with an application_id."""
    if path == ":memory:" or not os.path.exists(path) or not is_database(path):
        return False
    asked = Session(path)
    return asked.value("PRAGMA application_id") == 0 and asked.value("SELECT count(*) FROM sqlite_master") > 0


def count(source):
    """The number of files. A missing source is an error, as it is for a refresh."""
    asked = Session()
    asked.run(f"SELECT count(*) FROM zt_objects({quote(source)}) WHERE path = ''")
    return asked.value(f"SELECT count(path) FROM zt_files({quote(source)})")


def prepare(session):
    """Make a catalog, or bring the views of one up to date."""
    session.shipped("catalog.sql", "audit.sql")
    session.script(SCRIPT)


def refresh(session, sources, progress):
    """Bring the catalog up to date with each source, and give the rows of REFRESHED."""
    session.shipped("refresh.sql")
    with progress("manifests") as bar:
        if bar.is_seen:
            _tell(session.connection, session, bar)
        for source in sources:
            session.run(f"INSERT INTO refresh(source) VALUES ({quote(source)})")
    return session.run(f"SELECT {', '.join(REFRESHED)} FROM refresh WHERE source IS NOT NULL")


def _tell(connection, session, bar):
    """Show the progress of a refresh. Its own statements report when it begins to read, and each file that it has read. This is not
    part of the SQL that is shown."""
    session.function("ztensor_sql_total", 1, bar.total)
    session.function("ztensor_sql_read", 0, bar.advance)
    connection.execute("CREATE TEMP TRIGGER ztensor_sql_total AFTER UPDATE OF refreshed ON main.root BEGIN"
                       " SELECT ztensor_sql_total((SELECT count(*) FROM refresh_listed WHERE state IN ('added', 'changed', 'retried'))); END")
    connection.execute("CREATE TEMP TRIGGER ztensor_sql_read AFTER UPDATE OF read ON refresh_listed BEGIN SELECT ztensor_sql_read(); END")


def hosts(session):
    """This machine, and the endpoints of the sources that were just refreshed."""
    return [host for host, in session.run("SELECT zt_host() UNION SELECT host FROM refresh WHERE host IS NOT NULL")]


def second_pass(session, name, host, progress):
    """Fingerprint or check the remaining files of a host. Each statement is a transaction."""
    column = {"check": "checked", "fingerprint": "fingerprinted"}[name]
    left = session.value(f"SELECT count(*) FROM file AS f JOIN host AS h ON h.id = f.host"
                         f" WHERE h.name = {quote(host)} AND f.error IS NULL AND f.{column} IS NULL")
    done = 0
    with progress(name, left) as bar:
        for files in batches(range(left)):
            session.run(f"INSERT INTO refresh_pass(pass, files, host) VALUES ({quote(name)}, {len(files)}, {quote(host)})")
            passed = session.value("SELECT files FROM refresh_pass ORDER BY rowid DESC LIMIT 1")
            if not passed:   # The remaining files cannot be read now
                break
            done += passed
            bar.advance(passed)
    return done


def measure(session, progress):
    return statistics(session, progress), distances(session, progress)


def can_merge(others, db):
    """Refuse files that cannot be merged into a catalog, before the catalog is made."""
    asked = Session()
    asked.shipped("catalog.sql")
    version = asked.value("PRAGMA main.user_version")
    for other in others:
        exists(other)
        if os.path.exists(db) and os.path.samefile(other, db):
            raise Trouble(f"{other}: this is the catalog that the others are merged into")
        asked.run(f"ATTACH {quote(other)} AS incoming")
        must_be(asked, other, "incoming")
        if asked.value("PRAGMA incoming.user_version") != version:
            raise Trouble(f"{other}: this is a catalog of another version: `ztensor-sql catalog SOURCE --db {other}` brings it up to date")
        asked.run("DETACH incoming")


def merge(session, others):
    """Merge catalogs into this one, and give the rows of MERGED."""
    session.shipped("catalog.sql", "audit.sql", "merge.sql")
    for other in others:
        session.run(f"ATTACH {quote(other)} AS incoming")
        session.run("INSERT INTO merge DEFAULT VALUES")
        session.run("DETACH incoming")
        yield (other, *session.run("SELECT added, replaced, removed, unchanged FROM merge ORDER BY rowid DESC LIMIT 1")[0])
