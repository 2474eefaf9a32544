"""Tests that run inside an environment with the wheel, by test_installed.py."""
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
