import shutil

import cluster
import pytest

DESCRIBING = {".json", ".md", ".txt", ".py", ".db"}


@pytest.fixture(scope="session")
def spark():
    """One session for all tests: a start takes long."""
    session = cluster.start()
    yield session
    session.stop()


@pytest.fixture(scope="session")
def collection(tmp_path_factory):
    """A directory of more than 2,000 files: the test files of all formats, twice."""
    root = tmp_path_factory.mktemp("collection")
    for team in ("north", "south"):
        shutil.copytree(cluster.ROOT / "tests" / "formats", root / team, ignore=lambda directory, names:
                        [name for name in names if any(name.endswith(suffix) for suffix in DESCRIBING)])
    assert sum(path.is_file() for path in root.rglob("*")) > 2000
    return root


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The current directory, with two files of the same tensors and one that is no tensor file."""
    monkeypatch.setenv("SPARK_HIDE_TRACEBACK", "")   # An error sets it for the worker that it ends; this restores it
    golden = cluster.ROOT / "tests" / "formats" / "ztensor" / "golden" / "v1.2" / "wheel_zstd.zt"
    for name in ("a.zt", "b.zt"):
        shutil.copy(golden, tmp_path / name)
    (tmp_path / "broken.zt").write_bytes(b"no tensors")
    monkeypatch.chdir(tmp_path)
    return tmp_path
