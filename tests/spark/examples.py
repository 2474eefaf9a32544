"""The examples of README-spark.md. Each ```python block that a ```text block follows is run, in one session and one directory, and
must print just that. `build/spark/bin/python tests/spark/examples.py --write` puts in what they print; test_readme.py compares."""
import contextlib
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path

import cluster

PAGE = cluster.ROOT / "ext" / "packages" / "python" / "README-spark.md"
EXAMPLE = re.compile(r"^```python\n((?:(?!```).)*)^```\n+```text\n((?:(?!```).)*)^```$", re.M | re.S)


def collection(directory):
    """The examples' `models`: a model in three formats, checkpoints of two runs, and a file that is cut."""
    models = Path(directory) / "models"
    shutil.copytree(cluster.ROOT / "tests" / "formats" / "pytorch" / "checkpoints", models, ignore=shutil.ignore_patterns("*.db"))
    for path in (cluster.ROOT / "tests" / "formats" / "gguf" / "converted").glob("model.*"):
        shutil.copy(path, models)
    (models / "cut.safetensors").write_bytes((models / "model.safetensors").read_bytes()[:1000])


def printed(programs):
    """The output of each, one after the other. Spark takes a relative path from where it was started."""
    known, texts = {}, []
    with tempfile.TemporaryDirectory() as directory:
        collection(directory)
        for program in programs:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(re.sub("(?<=['\"])(?=(models|landed)/)", f"{directory}/", program), known)
            texts.append("".join(line.rstrip() + "\n" for line in out.getvalue().rstrip().splitlines()))
    return texts


def write():
    text = PAGE.read_text()
    texts = iter(printed([program for program, _ in EXAMPLE.findall(text)]))
    PAGE.write_text(EXAMPLE.sub(lambda found: f"```python\n{found[1]}```\n\n```text\n{next(texts)}```", text))


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    session = cluster.start()
    write()
    session.stop()
