"""zt_rules: what zt_check knows."""
import corpus
from support import message, rows, value

NOFS = "sqlite3_ztensor_nofs_init"


def test_the_columns(db):
    assert rows(db, "SELECT name, type, hidden FROM pragma_table_xinfo('zt_rules')") == [
        (name, "TEXT", 0) for name in ("rule", "severity", "meaning", "specification")]


def test_each_rule_has_one_row(db):
    assert rows(db, "SELECT count(*) >= 80, count(*) - count(DISTINCT rule), count(*) - count(DISTINCT rowid) FROM zt_rules") == [
        (1, 0, 0)]
    assert rows(db, "SELECT DISTINCT severity FROM zt_rules ORDER BY 1") == [("error",), ("note",), ("warning",)]
    assert rows(db, "SELECT rule FROM zt_rules WHERE severity = 'note'") == [("no-values",)]
    assert rows(db, "SELECT * FROM zt_rules WHERE length(meaning) < 10 OR length(specification) < 5 OR rule GLOB '*[^a-z0-9-]*'") == []


def test_a_rule_that_there_is_not_has_no_row(db):
    assert rows(db, "SELECT * FROM zt_rules WHERE rule = 'none' OR rule IS NULL OR rule = ''") == []


def test_findings_are_joined_with_their_rules(db):
    directory = str(corpus.HOSTILE)
    apart = rows(db, """SELECT c.path, c.rule FROM zt_check(?, 'full') AS c LEFT JOIN zt_rules AS r USING (rule)
                        WHERE r.severity IS NOT c.severity OR r.meaning IS NOT c.meaning
                           OR r.specification IS NOT c.specification""", directory)
    assert apart == []
    counts = rows(db, """SELECT (SELECT count(*) FROM zt_check(?1, 'full')),
                                (SELECT count(*) FROM zt_check(?1, 'full') JOIN zt_rules USING (rule))""", directory)[0]
    assert counts[0] == counts[1] > 100


def test_a_rowid_finds_its_rule(db):
    for rowid, rule in rows(db, "SELECT rowid, rule FROM zt_rules"):
        assert rows(db, "SELECT rule FROM zt_rules WHERE rowid = ?", rowid) == [(rule,)]


def test_two_scans_at_once_do_not_disturb_each_other(db):
    n = value(db, "SELECT count(*) FROM zt_rules")
    assert value(db, "SELECT count(*) FROM zt_rules AS a, zt_rules AS b WHERE a.rule < b.rule") == n * (n - 1) // 2


def test_it_takes_no_source(db, sample):
    assert "too many arguments on zt_rules() - max 0" in message(db, "SELECT * FROM zt_rules(?)", sample)


def test_it_cannot_be_written_nor_made(db):
    assert "may not be modified" in message(db, "DELETE FROM zt_rules")
    assert "no such module: zt_rules" in message(db, "CREATE VIRTUAL TABLE temp.mine USING zt_rules")


def test_nofs_has_it(connect, db):
    assert rows(connect(entry=NOFS), "SELECT * FROM zt_rules") == rows(db, "SELECT * FROM zt_rules")


def test_a_view_stored_in_the_database_may_use_it(db):
    db.execute("PRAGMA trusted_schema = OFF")
    db.execute("CREATE VIEW warnings AS SELECT rule FROM zt_rules WHERE severity = 'warning'")
    assert ("gap",) in rows(db, "SELECT rule FROM warnings")
