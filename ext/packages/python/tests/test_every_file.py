"""What looks at models and their values, over all test files, good and broken: it answers, or the extension's own error is the error."""
import sqlite3

import pytest
from commanding import GOLDEN
from ztensor_sqlite import differences, findings, models, modules
from ztensor_sqlite.session import Session, Trouble, quote

FORMATS = sorted(path.name for path in GOLDEN.iterdir())


@pytest.fixture(scope="module")
def session():
    return Session()


def files(format, kind):
    return sorted(str(path) for path in (GOLDEN / format / kind).rglob("*") if path.is_file() and path.suffix not in (".json", ".md", ".txt"))


def answered(function, *arguments):
    """The answer, or None if there is an error that a user can read."""
    try:
        return function(*arguments)
    except Trouble:
        return None
    except sqlite3.OperationalError as error:
        assert str(error).startswith("ztensor: "), error
        return None


def tree_of(session, path):
    tensors = models.tensors(session, models.one(session, path))
    rows = modules.tree([modules.Tensor(*tensor[1:]) for tensor in tensors], show_tensors=True)
    leaves = [row for row in rows if row.is_tensor]
    assert rows[0].tensors == len(tensors) == sum(row.tensors for row in leaves)
    assert rows[0].parameters == sum(row.parameters for row in leaves) and rows[0].bytes == sum(row.bytes for row in leaves)
    return rows


@pytest.mark.parametrize("format", FORMATS)
def test_trees(session, format):
    trees = [answered(tree_of, session, path) for kind in ("golden", "hostile") for path in files(format, kind)]
    assert any(trees)


@pytest.mark.parametrize("format", FORMATS)
def test_a_good_file_differs_in_nothing_from_itself(session, format):
    compared = 0
    for path in files(format, "golden"):
        if session.value(f"SELECT error FROM zt_files({quote(path)})") is not None:   # Data beside an index
            continue
        model = models.one(session, path)
        rows = differences.diff(session, model, model, say=lambda text: None)
        elsewhere = {name for name, in session.run(f"SELECT object FROM zt_components({quote(path)}) WHERE shard IS NOT NULL")}
        assert [row for row in rows if row.change != "same" and not (row.error and row.object in elsewhere)] == [], path
        compared += len(rows)
    assert compared


@pytest.mark.parametrize("format", FORMATS)
def test_findings(session, format):
    for kind in ("golden", "hostile"):
        folder = str(GOLDEN / format / kind)
        found, indexes = models.survey(session, folder)
        for row in [*findings.of_models(session, found, indexes), *findings.of_values(session, folder)]:
            assert row[3] == findings.RULES[row[4]][0] or row[4] == "zero-lora-b", row
