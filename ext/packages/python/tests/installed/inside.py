"""Fixtures of the tests that run inside an environment with the wheel, by test_installed.py. No conftest.py, which would take the
place of the one above it where one pytest runs all tests of packages."""
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[5]


@pytest.fixture(scope="session")
def golden():
    """The folder of all formats' test files."""
    return ROOT / "tests" / "formats"


@pytest.fixture
def without(monkeypatch):
    """Make a module look as if it were not installed."""
    import sys

    return lambda module: monkeypatch.setitem(sys.modules, module, None)
