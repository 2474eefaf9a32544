"""Ten thousand files, four of them broken in four ways: every table goes on, and says which they are."""
import hashlib
import os

import pytest

import writer

COUNT = 10_000
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + hashlib.sha256(b"").hexdigest().encode() + b"\nsize 12345\n"
# The broken files' findings, in the order of paths
CUT, LFS, FLIPPED, SECRET = 17, 4711, 5000, 9998


@pytest.fixture
def collection(another_user):
    """(paths, run): the files, whose owner alone could read one of them, and run(statements) as another user."""
    directory, run = another_user
    paths = [f"{directory}/models/{i // 100:02}/{i % 100:02}.zt" for i in range(COUNT)]
    good = writer.write({"w": writer.sealed(writer.dense(b"\1" * 12, [3, 4])), "b": writer.sealed(writer.dense(b"\2" * 4))})
    at = good.index(b"\2" * 4)
    contents = {CUT: good[:-1], LFS: POINTER, FLIPPED: good[:at] + b"\3" + good[at + 1:]}
    for i, path in enumerate(paths):
        if i % 100 == 0:
            os.makedirs(os.path.dirname(path))
        with open(path, "wb") as file:
            file.write(contents.get(i, good))
    os.chmod(paths[SECRET], 0)
    return paths, f"{directory}/models", run


def test_four_broken_files_of_ten_thousand(collection):
    paths, directory, run = collection
    unreadable = [paths[i] for i in (CUT, LFS, SECRET)]
    got = run(
        f"SELECT count(*), count(size), count(error), sum(objects), sum(stored_bytes) FROM zt_files('{directory}')",
        f"SELECT path, error LIKE 'ztensor: ' || path || ': _%', objects, version FROM zt_files('{directory}') WHERE error IS NOT NULL",
        f"SELECT path, object, component, severity, rule FROM zt_check('{directory}')",
        f"SELECT path, object, component, severity, rule FROM zt_check('{directory}', 'full')",
        f"""SELECT count(*) FROM zt_files('{directory}') AS f JOIN zt_check('{directory}') AS c USING (path)
            WHERE f.error = 'ztensor: ' || path || ': ' || message""",
        f"SELECT count(*), count(DISTINCT path), sum(elements), sum(stored_bytes) FROM zt_objects('{directory}', 'skip')",
        f"SELECT count(*), sum(max) FROM zt_stats('{directory}', 'skip') WHERE object = 'w'",
        f"SELECT sum(stored_bytes) FROM zt_objects('{directory}', 'abort')",
        f"SELECT sum(stored_bytes) FROM zt_objects('{directory}')",
        f"SELECT sum(max) FROM zt_stats('{directory}/9*/*.zt')",
    )
    readable = COUNT - 3
    assert got[0] == f"[({COUNT}, {COUNT}, 3, {2 * readable}, {16 * readable})]"
    assert got[1] == repr([(path, 1, None, None) for path in unreadable])
    errors = [(path, None, None, "error", rule) for path, rule in zip(unreadable, ("manifest-size", "magic", "unreadable"))]
    assert got[2] == repr(errors)
    assert got[3] == repr([*errors[:2], (paths[FLIPPED], "b", "data", "error", "digest-mismatch"), errors[2]])
    assert got[4] == "[(3,)]"
    assert got[5] == f"[({2 * readable}, {readable}, {16 * readable}, {16 * readable})]"
    assert got[6] == f"[({readable}, {readable})]"
    for text in got[7:9]:
        assert text.startswith(f"1 ztensor: {paths[CUT]}: ")
    assert got[9] == f"1 ztensor: {paths[SECRET]}: cannot open: Permission denied"
