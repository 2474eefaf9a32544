"""sql/merge.sql: catalogs of several machines become one, whatever their order, however often, and if it is killed."""
import itertools
import os
import random
import shutil
import sqlite3
import time

import pytest

import writer
from catalogs import MIGRATE, SQL, ask, create, shell
from killer import Killer
from support import open_connection
from writer import dense

# All that a catalog says, without the numbers of its rows
SAID = {"files": "path, source, container, version, size, mtime, objects, components, stored_bytes, attributes, error, refreshed, error_kind,"
                 " distinct_bytes, fingerprint, device, inode, host, root",
        "objects": "host, path, object, format, dtype, type, shape, rank, elements, components, stored_bytes, decoded_bytes, attributes, fingerprint",
        "components": "host, path, object, component, dtype, type, encoding, byte_order, offset, length, decoded_length, digest, shard, digest_of",
        "attributes": "host, path, object, key, value, type", "roots": "host, path, source, files, refreshed", "findings": "host, path, object, rule",
        "changes": "*", "run_files": "*", "metrics": "*"}


def said(catalog):
    return {table: sorted(ask(catalog, f"SELECT {columns} FROM {table}"), key=repr) for table, columns in SAID.items()}


def model(fill, **attributes):
    return writer.write({"w": dense(bytes([fill]) * 8, digest=writer.sha256(bytes([fill]) * 8)), "v": writer.csr(),
                         "a": dict(dense(b"1"), attributes={"bits": fill})}, attributes=attributes)


@pytest.fixture
def machine(tmp_path):
    """machine(host, {name: bytes}, at): the host's catalog, refreshed at that time over just these files, which are all of its own."""
    def machine(host, files, at=1000):
        models = tmp_path / host / "models"
        shutil.rmtree(models, ignore_errors=True)
        models.mkdir(parents=True)
        for name, data in files.items():
            (models / name).parent.mkdir(exist_ok=True)
            (models / name).write_bytes(data)
        catalog = create(tmp_path / host / "catalog.db", "audit.sql")
        db = open_connection(catalog)
        db.executescript((SQL / "refresh.sql").read_text())
        began = int(time.time())
        db.execute("INSERT INTO refresh(source, host) VALUES (?, ?)", (str(models), host))
        for table, column in (("file", "refreshed"), ("root", "refreshed"), ("change", "at")):   # As if it had been then
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} >= ?", (at, began))
        db.commit()
        db.close()
        return catalog

    return machine


def merge(target, *catalogs):
    """The reports."""
    commands = [f".read {SQL}/merge.sql"]
    for catalog in catalogs:
        commands += [f"ATTACH 'file:{catalog}?mode=ro' AS incoming", "INSERT INTO merge DEFAULT VALUES", "DETACH incoming"]
    done = shell(target, *commands, "SELECT * FROM merge")
    assert (done.err, done.code) == ("", 0)
    return [tuple(map(int, line.split("|"))) for line in done.out.splitlines()]


@pytest.fixture
def three(machine):
    return [machine("a", {"x.zt": model(1), "y.zt": model(2, license="MIT")}), machine("b", {"x.zt": model(3), "broken.zt": b"broken"}),
            machine("c", {})]


def test_a_merged_catalog_says_what_each_says(tmp_path, three):
    merged = create(tmp_path / "merged.db", "audit.sql")
    assert merge(merged, *three) == [(2, 0, 0, 0), (2, 0, 0, 0), (0, 0, 0, 0)]
    expected = [said(catalog) for catalog in three]
    for table, rows in said(merged).items():
        if table == "metrics":
            assert rows == expected[0][table]
        else:
            assert rows == sorted((row for each in expected for row in each[table]), key=repr), table
    assert ask(merged, "PRAGMA foreign_key_check") == ask(merged, "SELECT * FROM sqlite_master WHERE name = 'incoming'") == []
    assert {host for host, in ask(merged, "SELECT host FROM files")} == {"a", "b"}
    [(shared,)] = ask(merged, "SELECT count(*) FROM architecture")
    assert shared == 1   # All three readable files share it


def test_merging_again_and_in_another_order_changes_nothing(tmp_path, three):
    merged, other = create(tmp_path / "merged.db"), create(tmp_path / "other.db")
    merge(merged, *three)
    before = said(merged)
    assert merge(merged, *three) == [(0, 0, 0, 2), (0, 0, 0, 2), (0, 0, 0, 0)]
    merge(other, *reversed(three))
    assert said(merged) == said(other) == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_newer_refresh_wins(tmp_path, machine, order):
    """It read one file anew, and did not find another any more."""
    old = shutil.copy(machine("a", {"x.zt": model(1), "gone.zt": model(2), "stays.zt": model(4)}, at=1000), tmp_path / "old.db")
    new = machine("a", {"x.zt": model(3, n=1), "stays.zt": model(4), "new.zt": model(5)}, at=2000)
    catalogs = [old, new]
    merged = create(tmp_path / "merged.db")
    merge(merged, *(catalogs[i] for i in order))
    assert {table: rows for table, rows in said(merged).items() if table != "changes"} == {
        table: rows for table, rows in said(new).items() if table != "changes"}
    assert set(said(new)["changes"]) >= set(said(merged)["changes"])


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_file_in_the_place_of_a_directory(tmp_path, machine, order):
    """The newer catalog has no history: it was made when the file was there. A directory that could not be listed would keep what is below."""
    old = shutil.copy(machine("a", {"run.zt/x.zt": model(1), "stays.zt": model(4)}, at=1000), tmp_path / "old.db")
    new = machine("a", {"run.zt": b"broken", "stays.zt": model(4)}, at=2000)
    file = edited(new, tmp_path / "file.db", "DELETE FROM change")
    directory = edited(new, tmp_path / "directory.db", "DELETE FROM change", "UPDATE file SET error_kind = 'denied' WHERE error IS NOT NULL")
    for catalog, count in ((file, 2), (directory, 3)):
        merged = create(tmp_path / f"merged{count}.db")
        merge(merged, *([old, catalog][i] for i in order))
        assert ask(merged, "SELECT count(*) FROM file") == [(count,)]


def test_a_number_of_an_inode_that_is_used_again(tmp_path, machine):
    """Catalogs of one host, of two sources: the older one has the number that the newer one's file has now."""
    passed(machine("a", {"gone.zt": model(1)}, at=1000), "a", "fingerprint")
    old = shutil.copy(tmp_path / "a" / "catalog.db", tmp_path / "old.db")
    new = edited(machine("a", {"new.zt": model(2)}, at=2000), tmp_path / "new.db", "DELETE FROM change")
    old = edited(old, tmp_path / "same.db", f"ATTACH '{new}' AS new", "UPDATE file SET (device, inode) = (SELECT device, inode FROM new.file)",
                 "UPDATE stamp SET birth = (SELECT birth FROM new.stamp) - 1", "UPDATE root SET source = source || '/old'")
    for order in ((old, new), (new, old)):
        merged = create(tmp_path / f"merged{order.index(old)}.db")
        merge(merged, *order)
        assert ask(merged, "SELECT inode IS NULL, fingerprint IS NULL FROM file ORDER BY path") == [(1, 0), (0, 1)]
        assert ask(merged, "SELECT names, files FROM totals") == [(2, 2)]
        assert merge(merged, *order) == [(0, 0, 0, 1)] * 2
        assert ask(merged, "SELECT names, files FROM totals") == [(2, 2)]


def test_what_a_second_pass_found_comes_later(tmp_path, machine):
    catalog = machine("a", {"x.zt": model(1)})
    merged = create(tmp_path / "merged.db")
    merge(merged, catalog)
    db = open_connection(catalog)
    db.executescript("UPDATE host SET name = zt_host();" + (SQL / "refresh.sql").read_text())
    db.execute("INSERT INTO refresh_pass(pass) VALUES ('fingerprint'), ('check')")
    db.executescript("UPDATE host SET name = 'a'")
    db.close()
    assert merge(merged, catalog) == [(0, 1, 0, 0)]
    assert said(merged)["objects"] == said(catalog)["objects"] and ask(merged, "SELECT count(fingerprint) FROM file") == [(1,)]


def passed(catalog, host, *passes):
    """Second passes over that host's files, as if this were it."""
    db = open_connection(catalog)
    db.execute("SELECT zt_host(?)", (host,))
    db.executescript((SQL / "refresh.sql").read_text())
    db.executemany("INSERT INTO refresh_pass(pass) VALUES (?)", [(each,) for each in passes])
    assert all(files for files, in db.execute("SELECT files FROM refresh_pass"))
    db.commit()
    db.close()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_each_second_pass_comes_along(tmp_path, machine, order):
    """Of two catalogs of the same files."""
    damaged = writer.write({"w": dense(b"x", digest=writer.sha256(b"y"))})
    one = machine("a", {"x.zt": model(1), "damaged.zt": damaged})
    two = shutil.copy(one, tmp_path / "two.db")
    passed(one, "a", "fingerprint")
    passed(two, "a", "check")
    merged = create(tmp_path / "merged.db")
    assert merge(merged, *([one, two][i] for i in order)) == [(2, 0, 0, 0), (0, 2, 0, 0)]
    assert said(merged)["objects"] == said(one)["objects"] and said(merged)["findings"] == said(two)["findings"] != []
    assert ask(merged, "SELECT count(fingerprint), count(checked), count(fingerprinted) FROM file") == [(2, 2, 2)]
    assert merge(merged, one, two) == [(0, 0, 0, 2)] * 2


def test_a_file_that_changed_loses_what_was_known_of_it(tmp_path, machine):
    old = shutil.copy(machine("a", {"x.zt": model(1)}, at=1000), tmp_path / "old.db")
    passed(old, "a", "fingerprint", "check")
    merged = create(tmp_path / "merged.db")
    assert merge(merged, old, machine("a", {"x.zt": model(2, n=1)}, at=2000)) == [(1, 0, 0, 0), (0, 1, 0, 0)]
    assert ask(merged, "SELECT fingerprint, fingerprinted, checked FROM file") == [(None, None, None)]
    assert ask(merged, "SELECT count(*) FROM fingerprint") == ask(merged, "SELECT count(*) FROM finding") == [(0,)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_two_read_in_one_second_the_later_state_stays(tmp_path, machine, order):
    old = shutil.copy(machine("a", {"x.zt": model(1)}, at=1000), tmp_path / "old.db")
    new = machine("a", {"x.zt": model(1, longer=True)}, at=1000)
    merged = create(tmp_path / "merged.db")
    merge(merged, *([old, new][i] for i in order))
    assert said(merged)["files"] == said(new)["files"] != said(old)["files"]


class Collection:
    """The collection of a host that changes, its catalog, and the one that this is merged into again and again."""

    def __init__(self, tmp_path):
        tmp_path.mkdir(exist_ok=True)
        self.directory, self.at = tmp_path / "models", 1000
        self.catalog, self.merged = create(tmp_path / "a.db"), create(tmp_path / "merged.db")

    def put(self, name, data):
        path = self.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        return path

    def refresh(self, *sources):
        """A while after the last time."""
        began, self.at = int(time.time()), self.at + 1000
        db = open_connection(self.catalog)
        db.executescript((SQL / "refresh.sql").read_text())
        for source in sources:
            db.execute("INSERT INTO refresh(source, host) VALUES (?, 'a')", (str(self.directory / source),))
        for table, column in (("file", "refreshed"), ("root", "refreshed"), ("change", "at")):
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} >= ?", (self.at, began))
        db.commit()
        db.close()
        [report] = merge(self.merged, self.catalog)
        return report

    def assert_merged(self):
        mine, theirs = said(self.merged), said(self.catalog)
        assert all(mine[table] == theirs[table] for table in ("files", "objects", "components", "attributes"))


def test_a_file_that_moves_to_where_another_was_is_that_one_no_more(tmp_path):
    c = Collection(tmp_path)
    a, b = c.put("a.zt", model(1)), c.put("b.zt", model(2, n=1))
    assert c.refresh("") == (2, 0, 0, 0)
    b.unlink()
    assert c.refresh("") == (0, 0, 1, 1)
    a.rename(b)
    assert c.refresh("") == (1, 0, 1, 0)
    c.assert_merged()
    b.unlink()
    c.put("a.zt", model(3)).rename(b)
    c.refresh("")
    c.assert_merged()


def test_a_file_moves_onto_another_between_two_merges(tmp_path):
    c = Collection(tmp_path)
    a, b = c.put("a.zt", model(1)), c.put("b.zt", model(2, n=1))
    c.refresh("")
    merged, c.merged = c.merged, create(tmp_path / "aside.db")
    b.unlink()
    c.refresh("")
    a.rename(b)
    c.refresh("")
    c.merged = merged
    assert merge(merged, c.catalog) == [(0, 1, 1, 0)]
    c.assert_merged()


@pytest.mark.parametrize("between", [(), ("sub",)], ids=["", "found by the other source meanwhile"])
@pytest.mark.parametrize("last", ["", "sub"])
def test_what_any_source_removes_is_removed(tmp_path, between, last):
    c = Collection(tmp_path)
    c.put("a.zt", model(1))
    b = c.put("sub/b.zt", model(2))
    c.refresh("", "sub")
    for source in between:
        c.refresh(source)
    b.unlink()
    assert c.refresh(last)[2] == 1
    c.assert_merged()
    old = create(tmp_path / "other.db")
    assert merge(old, c.merged, c.catalog) == [(1, 0, 0, 0), (0, 0, 0, 1)]


@pytest.mark.parametrize("seed", range(10))
def test_after_any_history_the_merged_catalog_is_the_last_one(tmp_path, seed):
    """Files of a few names come, change, move, are linked and go; two sources of which one is in the other are refreshed, or one of them;
    and merges come when they come."""
    chosen, c = random.Random(seed), Collection(tmp_path)
    late = create(tmp_path / "late.db")
    names = ["a.zt", "b.zt", "sub/c.zt", "sub/d.zt"]
    for name in names:
        c.put(name, model(1))
    c.refresh("", "sub")
    for _ in range(8):
        for _ in range(chosen.randint(1, 3)):
            path, other = (c.directory / name for name in chosen.sample(names, 2))
            change = chosen.choice(["put", "break", "move", "link", "remove"])
            if change == "put" or not path.exists():
                c.put(path.relative_to(c.directory), model(chosen.randint(1, 3), n=chosen.randint(1, 9)))
            elif change == "break":
                path.write_bytes(b"broken")
            elif change == "move":
                path.rename(other)
            elif change == "link":
                other.unlink(missing_ok=True)
                os.link(path, other)
            else:
                path.unlink()
        (c.directory / "sub").mkdir(exist_ok=True)
        c.refresh(*chosen.choice([("",), ("sub",), ("", "sub"), ("sub", "")]))
        c.assert_merged()
        if chosen.random() < 0.3:
            merge(late, c.catalog)
    merge(late, c.catalog)
    c.merged = late
    c.assert_merged()
    fresh = Collection(tmp_path / "fresh")
    fresh.directory = c.directory
    c.refresh("", "sub")
    fresh.refresh("", "sub")
    columns = "path, source, size, mtime, error, objects"
    assert ask(c.catalog, f"SELECT {columns} FROM files ORDER BY 1") == ask(fresh.catalog, f"SELECT {columns} FROM files ORDER BY 1")


def test_a_catalog_of_the_first_version_is_nobodys(tmp_path, three):
    db = sqlite3.connect(tmp_path / "old.db")
    db.executescript((SQL.parent / "tests" / "sql" / "older_catalog.sql").read_text())
    db.close()
    shell(tmp_path / "old.db", *MIGRATE)
    merged = create(tmp_path / "merged.db")
    merge(merged, three[0])
    before = said(merged)
    done = shell(merged, f".read {SQL}/merge.sql", f"ATTACH '{tmp_path}/old.db' AS incoming", "INSERT INTO merge DEFAULT VALUES")
    assert "on a host without a name: refresh their sources there first" in done.err
    assert said(merged) == before


def nested(tmp_path):
    """Three catalogs of one collection: what a source found, its directory's source did not find any more later, in a catalog that
    never knew of it."""
    c = Collection(tmp_path)
    path = c.put("sub/y.zt", model(1))
    catalogs = []
    for sources, at in ((("sub",), 1000), (("",), 2000), (("",), 3000)):
        c.catalog, c.at = create(tmp_path / f"{at}.db"), at - 1000
        if at == 3000:
            path.unlink()
        c.refresh(*sources)
        catalogs.append(c.catalog)
    return catalogs


@pytest.mark.parametrize("order", itertools.permutations(range(3)))
def test_in_any_order_of_nested_sources_it_is_the_same(tmp_path, order):
    catalogs = nested(tmp_path)
    merged = create(tmp_path / "other.db")
    merge(merged, *(catalogs[i] for i in order))
    assert ask(merged, "SELECT path FROM file") == ask(merged, "SELECT * FROM layout") == []
    before = said(merged)
    merge(merged, *catalogs)
    assert said(merged) == before


def looks(tmp_path, *steps):
    """The collection, and a catalog for each step: what is done before it, and the source that is refreshed then."""
    c, catalogs = Collection(tmp_path), []
    for i, (change, source) in enumerate(steps):
        c.catalog, c.merged = create(tmp_path / f"look{i}.db"), create(tmp_path / f"aside{i}.db")
        change(c)
        c.refresh(source)
        catalogs.append(c.catalog)
    return c, catalogs


def merged_in_all_orders(tmp_path, c, catalogs):
    """The paths that are left, which are the same in any order, and after each catalog came again."""
    results = set()
    for i, order in enumerate(itertools.permutations(catalogs)):
        merged = create(tmp_path / f"order{i}.db")
        merge(merged, *order)
        before = said(merged)
        assert [report[:3] for report in merge(merged, *order)] == [(0, 0, 0)] * len(catalogs)
        assert said(merged) == before
        results.add(tuple(os.path.relpath(path, c.directory) for path, in ask(merged, "SELECT path FROM file ORDER BY path")))
    [paths] = results
    return list(paths)


def puts(*names):
    return lambda c: [c.put(name, model(1)) for name in names]


def removes(*names):
    return lambda c: [(c.directory / name).unlink() for name in names]


def test_what_a_later_look_found_again_stays(tmp_path):
    c, catalogs = looks(tmp_path, (puts("q.zt", "k.zt"), ""), (removes("q.zt"), ""), (puts("q.zt"), "*.zt"))
    assert merged_in_all_orders(tmp_path, c, catalogs) == ["k.zt", "q.zt"]


@pytest.mark.parametrize("found, source, later", [
    (".q.zt", ".*.zt", ""), ("q.ckpt", "*.ckpt", ""), (".h/q.zt", ".h", ""), ("b/q.zt", "b*/q.zt", ""), ("q.zt", "q*", "k*"),
    ("sub/q.zt", "sub", "*.zt"), ("q.zt", "q*", "[kl].zt")])
def test_what_a_later_look_passes_over_stays(tmp_path, found, source, later):
    """By its name, or since it came to the directory by another link."""
    def prepare(c):
        puts(found if not found.startswith("b/") else "k.zt", "k.zt")(c)
        if found.startswith("b/"):
            os.mkdir(tmp_path / "linked")
            (tmp_path / "linked" / "q.zt").write_bytes(model(1))
            for name in ("a", "b"):
                os.symlink(tmp_path / "linked", c.directory / name)
    c, catalogs = looks(tmp_path, (prepare, source), (puts(), later))
    assert found in merged_in_all_orders(tmp_path, c, catalogs)


def test_a_file_is_as_it_was_found_last_though_another_look_read_it_later(tmp_path):
    """It was moved away, another one was there, and it came back: it is read again, as its ctime tells that something was done to it."""
    def away(c):
        (c.directory / "q.zt").rename(tmp_path / "kept")
        c.put("q.zt", model(2, n=1))
    c, catalogs = looks(tmp_path, (puts("q.zt"), ""), (away, ""), (removes("q.zt"), ""))
    (tmp_path / "kept").rename(c.directory / "q.zt")
    c.catalog, c.merged = catalogs[0], create(tmp_path / "aside.db")
    c.refresh("")
    assert merged_in_all_orders(tmp_path, c, catalogs) == ["q.zt"]
    for i in range(6):
        assert ask(tmp_path / f"order{i}.db", "SELECT value FROM attributes WHERE key = 'n'") == []
        assert ask(tmp_path / f"order{i}.db", "SELECT refreshed FROM file") == [(5000,)]   # Its ctime is another


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_is_below_a_directory_that_cannot_be_listed_is_as_it_was_read(tmp_path, machine, order):
    old = machine("a", {"x.zt": model(1)}, at=1000)
    [(path,)] = ask(old, "SELECT path FROM file")
    directory = os.path.dirname(path)
    closed = edited(old, tmp_path / "closed.db", "UPDATE root SET refreshed = 3000",
                    f"INSERT INTO file(host, path, root, refreshed, error, error_kind) VALUES (1, '{directory}', 1, 3000, 'e', 'denied')")
    new = machine("a", {"x.zt": model(2, n=1)}, at=2000)
    merged = create(tmp_path / "merged.db")
    merge(merged, *([closed, new][i] for i in order))
    assert ask(merged, "SELECT refreshed FROM file WHERE path = '%s'" % path) == [(2000,)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_the_source_is_the_one_that_found_it_last(tmp_path, order):
    c = Collection(tmp_path)
    c.put("sub/y.zt", model(1))
    one, two, merged = create(tmp_path / "one.db"), create(tmp_path / "two.db"), create(tmp_path / "other.db")
    for c.catalog, c.at, source in ((one, 1000, ""), (two, 2000, "sub"), (one, 3000, "")):
        c.refresh(source)
    for _ in range(2):
        merge(merged, *([one, two][i] for i in order))
        assert ask(merged, "SELECT source FROM files") == [(str(c.directory),)]


def edited(catalog, path, *statements):
    db = sqlite3.connect(shutil.copy(catalog, path))
    db.executescript(";".join(statements))
    db.close()
    return path


# One catalog may know more of the same file: is a fingerprint in the other one of this state?
ELSEWHERE = {"INSERT INTO external VALUES (1, '/s', 8, 1.5, 7)": False, "UPDATE file SET inode = inode + 1": False, "SELECT 1": True,
             "UPDATE file SET refreshed = refreshed + 1": True, "INSERT INTO external VALUES (1, '/s', 8, 1.0, 7)": False}


@pytest.mark.parametrize("later", ELSEWHERE)
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_fingerprint_is_of_one_state_of_all_files(tmp_path, machine, order, later):
    plain = machine("a", {"x.zt": model(1)})
    one = edited(plain, tmp_path / "one.db", "UPDATE file SET fingerprint = 'f', fingerprinted = 9",
                 *["INSERT INTO external VALUES (1, '/s', 8, 1.0, 7)"] * ("1.5" in later))
    two = edited(plain, tmp_path / "two.db", later)
    merged = create(tmp_path / "merged.db")
    merge(merged, *([one, two][i] for i in order))
    assert ask(merged, "SELECT fingerprint FROM file") == [("f" if ELSEWHERE[later] else None,)]


def test_what_is_below_a_directory_that_cannot_be_listed_stays(tmp_path, machine):
    old = machine("a", {"x.zt": model(1)}, at=1000)
    [(path,)] = ask(old, "SELECT path FROM file")
    new = edited(old, tmp_path / "new.db", "DELETE FROM file", "DELETE FROM change", "UPDATE root SET refreshed = 2000",
                 f"INSERT INTO file(host, path, root, refreshed, error, error_kind) VALUES (1, '{os.path.dirname(path)}', 1, 2000, 'e', 'denied')")
    for order in ((old, new), (new, old)):
        merged = create(tmp_path / f"{os.path.basename(order[0])}-merged.db")
        merge(merged, *order)
        assert ask(merged, "SELECT path FROM file WHERE error IS NULL") == [(path,)]


def put_runs(catalog, *runs):
    """(run, status, path, logged, host) each."""
    db = sqlite3.connect(catalog)
    db.executemany("INSERT OR REPLACE INTO run_files VALUES ('mine', 'm.db', ?, 'n', ?, ?, ?, ?)", runs)
    db.commit()
    db.close()


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_a_run_the_later_state_stays(tmp_path, machine, order):
    old = machine("a", {})
    new = shutil.copy(old, tmp_path / "new.db")
    put_runs(old, ("r1", "running", "/m/x.zt", 1, "a"), ("r2", "running", "/m/y.zt", None, "a"))
    put_runs(new, ("r1", "finished", "/m/x.zt", 2, "a"), ("r2", "failed", "/m/y.zt", None, "a"))
    merged = create(tmp_path / "merged.db")
    merge(merged, *([old, new][i] for i in order))
    assert ask(merged, "SELECT run, status, logged FROM run_files") == [("r1", "finished", 2), ("r2", "failed", None)]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_run_without_a_host_is_its_catalogs(tmp_path, machine, order):
    one, two = machine("a", {"x.zt": model(1)}), machine("b", {"x.zt": model(1)})
    path = str(tmp_path / "a" / "models" / "x.zt")
    db = sqlite3.connect(two)
    db.execute("UPDATE file SET path = ?", (path,))   # The same path on both machines
    db.commit()
    db.close()
    put_runs(one, ("r1", "finished", path, 1, ""), ("r2", "finished", "/gone.zt", 1, ""))
    merged = create(tmp_path / "merged.db", "audit.sql")
    merge(merged, *([one, two][i] for i in order))
    assert ask(merged, "SELECT run, host FROM run_files ORDER BY run") == [("r1", "a"), ("r2", "")]
    assert ask(merged, "SELECT run, host FROM runs ORDER BY run") == [("r1", "a"), ("r2", None)]
    assert ask(merged, "SELECT host FROM unreferenced_files") == [("b",)]


def test_outdated_files_stay_outdated_until_a_later_refresh_is_merged(tmp_path, machine):
    old = shutil.copy(machine("a", {"x.zt": model(1), "y.zt": model(2)}, at=1000), tmp_path / "old.db")
    shell(old, "UPDATE architecture SET digest = 'of an older version'")
    merged = create(tmp_path / "merged.db")
    assert merge(merged, old) == [(2, 0, 0, 0)]
    assert ask(merged, "SELECT substr(path, -5), host FROM outdated_files ORDER BY 1") == [("/x.zt", "a"), ("/y.zt", "a")]
    merge(merged, machine("a", {"x.zt": model(1), "y.zt": model(2)}, at=2000))
    assert ask(merged, "SELECT * FROM outdated_files") == []
    merge(merged, old)
    assert ask(merged, "SELECT * FROM outdated_files") == []


def test_what_is_no_catalog_is_refused(tmp_path, three):
    merged = create(tmp_path / "merged.db")
    before = said(merged)
    shell(tmp_path / "empty.db", "CREATE TABLE t(x)")
    altered = shutil.copy(three[0], tmp_path / "altered.db")
    shell(altered, "ALTER TABLE file ADD COLUMN more")
    attached = [f".read {SQL}/merge.sql", "ATTACH '%s' AS incoming", "INSERT INTO merge DEFAULT VALUES"]
    older = shutil.copy(three[0], tmp_path / "older.db")   # Of version 4
    shell(older, "DROP VIEW outdated_files", "PRAGMA user_version = 4")
    for other, message in (("empty.db", "no such table: incoming."), ("altered.db", "a catalog of another version"),
                           ("older.db", "a catalog of another version")):
        done = shell(merged, *(command.replace("%s", str(tmp_path / other)) for command in attached))
        assert message in done.err
    assert "no such table" in shell(tmp_path / "new.db", *(command.replace("%s", three[0]) for command in attached)).err
    assert said(merged) == before


def test_killed_at_any_moment_it_is_the_old_catalog_or_the_new_one(tmp_path, machine):
    def many(n):
        return writer.write({f"layer.{n}.{i}.weight": dense(bytes([n]) * 4, digest=writer.sha256(bytes([n, i]))) for i in range(100)})

    old, work = create(tmp_path / "old.db"), tmp_path / "work.db"
    merge(old, machine("a", {f"{i}.zt": many(i) for i in range(20)}))
    incoming = machine("b", {f"{i}.zt": many(i) for i in range(60)})
    new = shutil.copy(old, tmp_path / "new.db")
    began = time.monotonic()
    merge(new, incoming)
    killer = Killer(time.monotonic() - began)
    states, outcomes, within = {"old": said(old), "new": said(new)}, [], 0
    for _ in range(30):
        shutil.copy(old, work)
        killer.run(["sqlite3", "-batch", str(work), f".read {SQL}/merge.sql", f"ATTACH 'file:{incoming}?mode=ro' AS incoming",
                    "INSERT INTO merge DEFAULT VALUES"])
        within += os.path.exists(f"{work}-journal")
        assert ask(work, "PRAGMA integrity_check") == [("ok",)]
        [outcome] = [name for name, state in states.items() if state == said(work)]
        outcomes.append(outcome)
    assert set(outcomes) == {"old", "new"} and within > 0
