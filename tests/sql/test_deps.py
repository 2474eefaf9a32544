"""tests/deps.sh, which finds out whether what building needs is there."""
import os
import subprocess

from support import ROOT


def test_the_compiler_may_be_called_through_another_program(tmp_path):
    """CC='ccache gcc' is two words. Nothing is installed here: the first sudo, apt-get, dnf and brew on the path fail."""
    for name in ("sudo", "apt-get", "dnf", "brew"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    environment = os.environ | {"CC": "env cc", "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["sh", "tests/deps.sh"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert "a C compiler" not in done.stdout + done.stderr
