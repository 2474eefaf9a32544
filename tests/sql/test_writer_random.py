"""zt_writer: random statements in a transaction, compared with the same ones on a plain table, and the file that COMMIT writes."""
import random
import sqlite3

import pytest

from support import rows
from writing import ENTRY, declare, f32, inside, put  # noqa: F401

pytestmark = pytest.mark.usefixtures("inside")
COLUMNS = "name, source, object, dtype, key, value"
SHOWN = "SELECT {id} AS id, name, source, object, key, value FROM {table} ORDER BY 1"
NAMES = ["a", "b", "c", "d", "é"]


@pytest.fixture
def db(connect, inside):
    db = connect(entry=ENTRY)
    declare(db, "src.zt", name="made")
    db.execute("BEGIN")
    for i in range(3):
        put(db, f"s{i}", f32(*range(i + 1)), "f32", f"[{i + 1}]", "made")
    db.execute("COMMIT")
    return db


def statement(choose):
    """One that changes {table}; {id} is its rowid."""
    name, other, key = choose.choice(NAMES), choose.choice(NAMES), choose.choice(["k", "l"])
    conflict = choose.choice(["", "", "OR IGNORE ", "OR REPLACE ", "OR FAIL ", "OR ABORT "])
    tensors = f"INSERT {conflict}INTO {{table}}({COLUMNS}) "
    where = choose.choice([f"name = '{name}'", "key IS NULL", "key = 'k'", f"name > '{name}'", f"{{id}} = {choose.randrange(1, 9)}",
                           f"{{id}} > {choose.randrange(1, 9)}", "name IS NULL", f"+name IN ('{name}', '{other}')"])
    return choose.choice([
        tensors + f"VALUES('{name}', 'src.zt', 's{choose.randrange(3)}', NULL, NULL, NULL)",
        tensors + f"VALUES('{name}', 'src.zt', 's1', 'f16', NULL, NULL), ('{other}', 'src.zt', 's2', 'f64', NULL, NULL)",
        tensors + f"VALUES('{name}', NULL, NULL, NULL, '{key}', {choose.randrange(9)}), (NULL, NULL, NULL, NULL, '{key}', 'v')",
        tensors + f"SELECT name || 'x', source, object, dtype, key, value FROM {{table}} WHERE {where} AND name IS NOT NULL",
        f"DELETE FROM {{table}} WHERE {where}",
        f"UPDATE {conflict}{{table}} SET name = '{name}' WHERE {where} AND name IS NOT NULL",
        f"UPDATE {conflict}{{table}} SET {{id}} = {{id}} + {choose.randrange(1, 4)} WHERE {where}",
        f"UPDATE {conflict}{{table}} SET dtype = '{choose.choice(['f16', 'f32', 'bf16'])}' WHERE key IS NULL AND {where}",
        f"UPDATE {conflict}{{table}} SET value = value || '!', key = '{key}' WHERE key IS NOT NULL AND {where}",
        f"UPDATE {{table}} SET name = name, key = key, object = object WHERE {where}"])


def attempt(db, sql, table, number):
    try:
        db.execute(sql.format(table=table, id=number))
    except sqlite3.Error as error:
        return error.sqlite_errorcode & 0xff
    return None


def same(db):
    mine, plain = (rows(db, SHOWN.format(table=table, id=number)) for table, number in (("out", "rowid"), ("plain", "id")))
    return mine == plain


@pytest.mark.parametrize("seed", range(60))
def test_random_statements(db, seed):
    choose = random.Random(seed)
    db.execute(f"CREATE TEMP TABLE plain(id INTEGER PRIMARY KEY, {COLUMNS})")
    db.execute("CREATE UNIQUE INDEX temp.one ON plain(ifnull(name, x''), ifnull(key, x''))")
    declare(db, "out.zt", "mode='replace'", "format='ztensor-1.2'")
    db.execute("BEGIN")
    savepoints = 0
    done = []
    for _ in range(60):
        move = choose.random()
        if move < 0.08:
            db.execute(f"SAVEPOINT p{savepoints}")
            savepoints += 1
        elif move < 0.14 and savepoints:
            to = choose.randrange(savepoints)
            db.execute(f"ROLLBACK TO p{to}")
            savepoints = to + 1
        elif move < 0.2 and savepoints:
            savepoints = choose.randrange(savepoints)
            db.execute(f"RELEASE p{savepoints}")
        else:
            sql = statement(choose)
            done.append(sql)
            assert attempt(db, sql, "out", "rowid") == attempt(db, sql, "plain", "id"), done[-3:]
        assert same(db), done[-3:]
    for table in ("out", "plain"):
        db.execute(f"DELETE FROM {table} WHERE key IS NOT NULL AND name NOT IN (SELECT name FROM {table} WHERE key IS NULL)")
    declare(db, "plain.zt", "mode='replace'", "format='ztensor-1.2'", name="again")
    db.execute(f"INSERT INTO again({COLUMNS}) SELECT {COLUMNS} FROM plain ORDER BY random()")
    db.execute("INSERT INTO out(name, data, dtype, shape) VALUES('last', x'00', 'u8', '[1]')")
    db.execute("INSERT INTO again(name, data, dtype, shape) VALUES('last', x'00', 'u8', '[1]')")
    db.execute("COMMIT")
    assert open("out.zt", "rb").read() == open("plain.zt", "rb").read()
    declare(db, "out.zt", "mode='update'", name="updated")
    assert [row[0] for row in rows(db, "SELECT name FROM updated WHERE key IS NULL ORDER BY 1")] == sorted(
        [name for name, in rows(db, "SELECT name FROM plain WHERE key IS NULL")] + ["last"])
