"""The tests in installed/, in an environment with the wheel and the packages that people use beside it."""
import os
import pathlib
import subprocess

import pytest
from conftest import TESTS, environment, with_wheel

PACKAGES = ["apsw==3.54.1.0", "sqlalchemy==2.1.9", "numpy==2.4.6", "ml_dtypes==0.6.0", "pyarrow==26.0.1", "pandas==3.1.1",
            "polars==2.1.0", "nbclient==0.11.0", "nbformat==5.11.1", "ipykernel==7.4.0", "pytest==9.2.0", "mypy==2.4.1"]


@pytest.fixture(scope="session")
def science(wheel):
    return with_wheel(environment("science", *PACKAGES), wheel)


@pytest.mark.parametrize("file", sorted(path.name for path in (TESTS / "installed").glob("check_*.py")))
def test_inside(science, file, tmp_path):
    done = subprocess.run([science.python, "-W", "error::DeprecationWarning:ztensor_sqlite", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "inside",
                           "-o", "python_files=check_*.py", f"--basetemp={tmp_path / 'inside'}", TESTS / "installed" / file],
                          capture_output=True, text=True, env={**science.variables, "PYTHONPATH": str(TESTS / "installed"), "PATH": f"{science.variables['PATH']}:{os.environ['PATH']}"},
                          cwd=tmp_path, timeout=1200)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
