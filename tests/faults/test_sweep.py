"""Each call that a statement makes of the system fails in turn: the answer without the fault, or an error that names it."""
from collections import Counter

import pytest

import statements
from faults import ERRORS, Fault, Log, answer, descriptors, failing, judge, left_open
from support import open_connection

FILES = ["d/a.zt", "d/b.zt", "d/sub/c.zt", "h.gguf", "n.npz", "o.onnx"]


def run(statement, question, root, warm):
    """The answer of a connection of its own; `warm`: that has just run the statement."""
    db = open_connection()
    if warm:
        answer(db, statement.sql)
    with failing(root, question):
        got = answer(db, statement.sql)
        left = left_open()
    db.close()
    assert left == 0, f"{statement.sql}: {left} open"
    return got


def sweep(statement, root, errors, tally, warm=False):
    """All calls fail, one by one, as errors(function) says: (error, lasting) ... Returns how many there are."""
    log = Log()
    clean = run(statement, log, root, warm)
    assert log.calls and isinstance(clean, list), f"{statement.sql}: {clean}"
    before = descriptors()
    for n, function in enumerate(log.calls, 1):
        for error, lasting in errors(function):
            fault = Fault(n, error, lasting)
            got = run(statement, fault, root, warm)
            assert fault.injected and fault.call == function
            tally[function, error] += 1
            tally[judge(statement, clean, got, fault)] += 1
    assert descriptors() == before, statement.sql
    return len(log.calls)


def every_error(function):
    return [(error, lasting) for error in ERRORS[function] for lasting in (False, True)]


class InTurn:
    """Two errors for each call, so that each function gets each of its errors now and then."""

    def __init__(self):
        self.turns = Counter()

    def __call__(self, function):
        for lasting in (False, True):
            errors = ERRORS[function]
            self.turns[function] += 1
            yield errors[self.turns[function] % len(errors)], lasting


def report(capsys, what, calls, tally):
    injected = {key: count for key, count in tally.items() if isinstance(key, tuple)}
    outcomes = {key: count for key, count in tally.items() if not isinstance(key, tuple)}
    with capsys.disabled():
        print(f"\n{what}: {calls} calls, {sum(injected.values())} faults of {len(injected)} kinds: {outcomes}", end="")
    return injected


@pytest.mark.parametrize("name", FILES)
def test_every_call_of_a_statement_of_one_file_fails_with_every_error(tree, capsys, name):
    tally = Counter()
    calls = sum(sweep(s, tree, every_error, tally) for s in statements.of_file(tree / name))
    injected = report(capsys, name, calls, tally)
    for function in ("open", "stat", "fstat", "pread", "close"):
        assert {error for call, error in injected if call == function} == set(ERRORS[function])


def test_every_call_of_a_statement_of_many_files_fails(tree, capsys):
    tally, in_turn = Counter(), InTurn()
    calls = sum(sweep(s, tree, in_turn, tally) for s in statements.of_directory(tree))
    injected = report(capsys, "directories", calls, tally)
    for function in ("open", "stat", "lstat", "fstat", "pread", "close", "opendir", "readdir", "closedir"):
        assert {error for call, error in injected if call == function} == set(ERRORS[function])


def test_every_call_fails_while_manifests_are_remembered(tree, capsys):
    tally, in_turn = Counter(), InTurn()
    calls = sum(sweep(s, tree, in_turn, tally, warm=True) for s in statements.of_file(tree / "d/b.zt"))
    report(capsys, "remembered", calls, tally)
