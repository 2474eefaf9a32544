"""The libraries say the same as the one that `make` built, wherever they can be run."""
import pathlib
import re
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from release import PACKAGES

SAME = re.compile(r"\w+[\w-]*: \d{4,} statements, \d{5,} lines of answers and \d+ errors, the same on both machines")


@pytest.mark.parametrize("platform", ["linux-x64", "linux-arm64", "win32-x64"])
def test_the_answers_are_the_same(platform):
    done = subprocess.run(["sh", PACKAGES / "native" / "answers.sh", platform], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert SAME.search(done.stdout)
