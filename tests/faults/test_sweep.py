"""Each call that a statement makes of the system fails in turn: the answer without the fault, or an error that names it."""
from collections import Counter

import pytest

import statements
from faults import ERRORS, Fault, Log, Refused, answer, connect, descriptors, failing, judge, left_open

FILES = ["d/a.zt", "d/b.zt", "d/sub/c.zt", "h.gguf", "n.npz", "o.onnx", "p.joblib", "q.dduf"]


def run(statement, question, root, warm=False, threads=1):
    """The answer of a connection of its own; `warm`: that has just run the statement."""
    db = connect(threads)
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


def sweep_threads(statement, root, in_turn, tally):
    """The same of what fails always: other calls are made, in another order, each time. A call that fails once may be made
    again, by the thread that needs what it gives."""
    log = Log()
    clean = run(statement, log, root)
    before = descriptors()
    for call, path in sorted(set(zip(log.calls, log.paths))):
        for error, _ in in_turn(call):
            fault = Refused(call, path, error)
            got = run(statement, fault, root, threads=8)
            tally[call, error] += fault.injected > 0
            tally[judge(statement, clean, got, fault)] += 1
    assert descriptors() == before, statement.sql
    return len(log.calls)


def test_every_call_fails_while_eight_threads_make_it(tree, capsys):
    tally, in_turn = Counter(), InTurn()
    every = [*statements.of_directory(tree), *(s for name in FILES for s in statements.of_file(tree / name))]
    calls = sum(sweep_threads(s, tree, in_turn, tally) for s in every)
    injected = report(capsys, "eight threads", calls, tally)
    assert {"open", "stat", "fstat", "pread", "opendir"} <= {call for (call, _), n in injected.items() if n}
