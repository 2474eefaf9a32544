"""`ztensor-sql` at a terminal: widths, colours, progress, and the shell; and what shells complete."""
import fcntl
import os
import pty
import re
import select
import signal
import sqlite3
import struct
import subprocess
import termios
import time

import pytest
from commanding import GOLDEN, Command
from conftest import ROOT
from tensor_files import floats, safetensors

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Terminal:
    """A program at a terminal of so many columns. `out` and `err` say which of its streams are there; the others are pipes."""

    def __init__(self, words, directory, variables, columns=80, out=True, err=True, input=False):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        variables = {name: value for name, value in variables.items() if name not in ("COLUMNS", "LINES")}
        self.process = subprocess.Popen(words, stdin=slave if input else None, stdout=slave if out else subprocess.PIPE, stderr=slave if err else subprocess.PIPE,
                                        cwd=directory, env={"TERM": "xterm", **variables})
        os.close(slave)

    def read(self, until=None):
        """What it prints, to the end, or until it prints that."""
        said = b""
        while until is None or until not in said:
            ready, _, _ = select.select([self.master], [], [], 30)
            assert ready, said
            try:
                part = os.read(self.master, 65536)
            except OSError:   # What Linux says at the end
                break
            if not part:
                break
            said += part
        return said.decode()

    def write(self, text):
        os.write(self.master, text.encode())

    def end(self):
        """(status, what it printed at the terminal)"""
        said = self.read()
        os.close(self.master)
        return self.process.wait(60), said


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


def at(command, *arguments, status=0, **how):
    """The lines at a terminal."""
    found, said = Terminal(command.words(arguments), command.directory, {**command.variables, **how.pop("variables", {})}, **how).end()
    assert found == status, said
    return said.split("\r\n")[:-1]


@pytest.fixture
def models(tmp_path):
    folder = tmp_path / "collection" / "of" / "models-with-long-names"
    for i in range(3):
        safetensors(folder / f"checkpoint-{i}-of-a-long-training.safetensors", {
            f"model.layers.{k}.self_attn.{part}_proj.weight": floats(k, 1e-7, 3) for k in range(2) for part in "qk"})
    (folder / "broken-\u6f22\u5b57.safetensors").write_bytes(b"\xff" * 16)
    (folder / "cut.safetensors").write_bytes((folder / "checkpoint-0-of-a-long-training.safetensors").read_bytes()[:-20])
    return folder


# ---- Widths

def width(text):
    import unicodedata
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


@pytest.mark.parametrize("columns", [40, 60, 80, 100, 132, 200])
def test_tables_keep_to_the_terminals_width(command, models, columns):
    for words, status in ((["ls", "collection"], 1), (["ls", "-l", "collection"], 1), (["ls", "-t", "collection"], 1), (["stats", "collection"], 1),
                          (["check", "collection"], 1)):
        lines = [ESCAPE.sub("", line) for line in at(command, *words, status=status, columns=columns, err=False)]
        assert len(lines) > 3 and max(map(width, lines)) <= columns, (words, max(lines, key=width))


def test_paths_are_shortened_in_the_middle_and_errors_do_not_repeat_them(command, models):
    lines = [ESCAPE.sub("", line) for line in at(command, "ls", "collection", status=1, columns=100, err=False)]
    rows = [line.split("  ")[0].rstrip() for line in lines[2:]]
    assert [row for row in rows if row] and all(re.fullmatch(r"(colle.*)?….*\.safetensors", row) for row in rows if row)
    said = " ".join(" ".join(lines).split())
    assert "ztensor:" not in said and "data_offsets end at 36, but there are 28 bytes" in said
    whole = [ESCAPE.sub("", line) for line in at(command, "ls", "collection", status=1, columns=300, err=False)]
    assert f"{models.relative_to(command.directory)}/cut.safetensors" in " ".join(whole)
    (tabs, _) = command("ls", "collection", status=1)
    assert f"{models.relative_to(command.directory)}/cut.safetensors\t" in tabs and "…" not in tabs


def test_names_stay_apart_on_a_terminal_of_80_columns(command, models, tmp_path):
    """Numbers give way to the names that tell rows apart, and those that the rows are ordered by come last."""
    a, b = (safetensors(tmp_path / f"{name}.safetensors", {f"layers.{k}.attn.{part}_proj.weight": floats(k + at, 1e-7, 3) for k in range(12) for part in "qk"})
            for name, at in (("a", 0), ("b", 1)))
    for words, status, rows in ((["diff", a, b], 1, 24), (["stats", a], 0, 24), (["ls", "-l", a], 0, 24), (["ls", "collection"], 1, 5)):
        lines = [ESCAPE.sub("", line) for line in at(command, *words, status=status, columns=80, err=False)]
        found = [name for line in lines[2:] if not line.startswith("(") and (name := line[:line.find("  ")])]
        assert len(found) == len(set(found)) == rows, (words, found)
        assert max(map(width, lines)) <= 80
        assert words[0] != "diff" or {"change", "distance"} <= set(lines[0].split())
        assert words[0] != "stats" or {"nans", "min", "max", "mean", "std"} <= set(lines[0].split())


def test_columns_that_have_no_room_are_told(command, models):
    lines = at(command, "stats", "collection", status=1, columns=60, err=False)
    hidden = int(re.fullmatch(r"\((\d) columns more: --json\)", lines[-1])[1])
    whole = at(command, "stats", "collection", status=1, columns=300, err=False)
    assert len(lines[0].split()) + hidden == len(whole[0].split()) == 12 and len(lines) == len(whole) + 1


def test_a_terminal_of_no_known_width_has_80_columns(command, models):
    lines = at(command, "ls", "-l", "collection", status=1, columns=0, err=False)
    assert 60 < max(width(ESCAPE.sub("", line)) for line in lines) <= 80
    lines = at(command, "ls", "-l", "collection", status=1, columns=80, err=False, variables={"COLUMNS": "50"})
    assert max(width(ESCAPE.sub("", line)) for line in lines) <= 80


# ---- Colours

def test_severities_have_colours_at_a_terminal_only(command, models):
    path = GOLDEN / "ztensor" / "golden" / "v1.2" / "hand_digests.zt"
    said = "\n".join(at(command, "check", path, status=1))
    assert "\x1b[31merror\x1b[0m" in said and "\x1b[33mwarning\x1b[0m" in said
    assert "1 file: \x1b[31m2 errors\x1b[0m, \x1b[33m1 warning\x1b[0m" in said
    assert "\x1b[31m" in "\n".join(at(command, "ls", "collection", status=1))
    for variables in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        for words in (["check", path], ["ls", "collection"]):
            assert "\x1b" not in "\n".join(at(command, *words, status=1, variables=variables))
    assert "\x1b[31m" in "\n".join(at(command, "check", path, status=1, variables={"NO_COLOR": ""}))   # As https://no-color.org says
    assert "\x1b" not in "".join(command("check", path, status=1))
    terminal = Terminal(command.words(["check", path]), command.directory, command.variables, out=False)   # Only stderr is a terminal
    out = terminal.process.stdout.read().decode()
    status, err = terminal.end()
    assert status == 1 and "\x1b" not in out and "\x1b[31m2 errors" in err
    assert "\x1b" not in at(command, "check", path, status=1, err=False, variables={"NO_COLOR": "1"})[0]


def test_json_and_csv_have_no_colours(command):
    path = GOLDEN / "ztensor" / "golden" / "v1.2" / "hand_digests.zt"
    for form in ("--json", "--csv"):
        assert "\x1b" not in "\n".join(at(command, "check", path, form, status=1, err=False))


# ---- Progress

@pytest.fixture
def large(tmp_path):
    """Files with one tensor of 40 GB, all of them a hole."""
    for name, dtype, elements in (("f32", "F32", 10**10), ("same", "F32", 10**10), ("bool", "BOOL", 4 * 10**10)):
        head = f'{{"w":{{"dtype":"{dtype}","shape":[{elements}],"data_offsets":[0,{4 * 10**10}]}}}}'.encode()
        with open(tmp_path / f"{name}.safetensors", "wb") as file:
            file.write(struct.pack("<Q", len(head)) + head)
            file.truncate(8 + len(head) + 4 * 10**10)


@pytest.mark.parametrize("words, pattern", [
    (["stats", "f32.safetensors"], r"stats .*\d(\.\d+)? (MB|GB)/40 GB"), (["check", "--full", "bool.safetensors"], r"check .*\d(\.\d+)? (MB|GB)/40 GB"),
    (["export", "f32.safetensors", "w", "/dev/null"], r"w .*\d(\.\d+)? (MB|GB)/40 GB"),
    (["diff", "f32.safetensors", "same.safetensors"], r"diff .*\d(\.\d+)? (MB|GB)/80 GB"),
    (["catalog", "f32.safetensors", "--db", "c.db", "--statistics"], r"statistics .*0/1, \d(\.\d+)? (MB|GB)")])
def test_progress_within_one_tensor(command, large, words, pattern):
    """The command is ended as soon as the bar is seen, which is while it reads the only tensor."""
    terminal = Terminal(command.words(words), command.directory, command.variables, columns=120, out=False)
    said, begun = "", time.monotonic()
    while not re.search(pattern, ESCAPE.sub("", said)) and time.monotonic() - begun < 60:
        assert terminal.process.poll() is None, said
        if select.select([terminal.master], [], [], 1)[0]:
            said += os.read(terminal.master, 65536).decode()
    terminal.process.send_signal(signal.SIGINT)
    assert re.search(pattern, ESCAPE.sub("", said)), said
    assert terminal.process.wait(60) in (-signal.SIGINT, 130)
    os.close(terminal.master)


def test_no_progress_elsewhere(command, models):
    """Neither in a pipe, nor for what is done at once, nor with -q."""
    assert command("catalog", "collection", "--db", "c.db", "--statistics", status=1)[1] == "statistics: 3 files, 2 pairs\n"
    assert at(command, "stats", models / "checkpoint-0-of-a-long-training.safetensors", out=False) == []
    assert at(command, "catalog", "collection", "--db", "d.db", "--statistics", "-q", status=1) == []


# ---- The shell

def test_sql_as_the_first_word_is_refused(command, tmp_path):
    assert command.refused("shell", "select 1") == \
        'select 1: there is no such database, and a new one\'s name ends in .db; SQL is given as: ztensor-sql shell -c "select 1"'
    assert command.refused("shell", "SELECT '$x'").endswith("""ztensor-sql shell -c 'SELECT '\\''$x'\\'''""")
    assert command.refused("shell", "new.sqlite", "SELECT 1").startswith("new.sqlite: there is no such database")
    assert list(tmp_path.iterdir()) == []
    assert command("shell", "-c", "select 1", "-c", "select 2")[0] == "1\n2\n"
    command("shell", "new.db", "-c", "CREATE TABLE t(x)")
    with sqlite3.connect(tmp_path / "new.db") as db:
        assert db.execute("SELECT name FROM sqlite_master").fetchall() == [("t",)]
    (tmp_path / "new.db").rename(tmp_path / "new.sqlite")
    assert command("shell", "new.sqlite", ".tables")[0].split() == ["t"]
    (tmp_path / "empty").touch()   # SQLite takes an empty file for an empty database
    assert command("shell", "empty", "SELECT 1")[0] == "1\n"


def test_parameters_of_the_shell_take_text(command, models):
    given = {":source": "collection/of", "$n": "3", "@sum": "1+1", "text": '"it\'s"', "quoted": "'SELECT 1'", "dashed": "a-b.c"}
    lines = [f".parameter set {name} {value}" for name, value in given.items()]
    out, _ = command("shell", input="\n".join([*lines, "SELECT $source, typeof($n), :sum, @text, $quoted, :dashed;", "SELECT count(*) FROM zt_files($source);",
                                               ".parameter unset :source", "SELECT 1;"]))
    assert out == "collection/of|integer|2|it's|SELECT 1|a-b.c\n5\n1\n"


def test_a_script_takes_its_parameter(command):
    """As in the sqlite3 shell."""
    out, _ = command("shell", "-c", f".parameter set :source {GOLDEN / 'gguf' / 'golden' / 'split' / '*-0000[13]-*'}", "-c", f".read {ROOT / 'sql' / 'splits.sql'}")
    assert "missing|" in out and "-00002-of-00003.gguf" in out


# ---- Completion

@pytest.fixture
def bash(command, models):
    """What a bash has on its line after a tabulator. It finds the command on its PATH, and has its completion."""
    bin = command.directory / "bin"
    bin.mkdir()
    (bin / "ztensor-sql").write_text(f'#!/bin/sh\nexec {command.typed} "$@"\n')
    (bin / "ztensor-sql").chmod(0o755)
    safetensors(command.directory / "one.safetensors", {"layers.0.query": floats(1), "layers.0.key": floats(2), "$(touch ran)": floats(3), "norm": floats(4)})
    shell = Terminal(["bash", "--norc", "--noprofile", "-i"], command.directory, {**command.variables, "PATH": f"{bin}:{os.environ['PATH']}", "TERM": "dumb"},
                     columns=200, input=True)
    shell.write("""eval "$(ztensor-sql completion bash)"; bind -x '"\\C-x\\C-p": printf "<%s>" "$READLINE_LINE"'; bind "set bell-style none"; echo rea''dy\n""")
    shell.read(b"ready\r\n")

    def completed(line):
        shell.write(line + "\t\x18\x10")
        said = ESCAPE.sub("", shell.read(b">"))
        shell.write("\x15")
        return re.search("<(.*)>", said, re.DOTALL)[1]

    yield completed
    shell.process.kill()
    shell.process.wait()
    os.close(shell.master)


COMPLETED = [("ztensor-sql st", "ztensor-sql stats "), ("ztensor-sql ls --sor", "ztensor-sql ls --sort "), ("ztensor-sql ls on", "ztensor-sql ls one.safetensors "),
             ("ztensor-sql diff one.safetensors on", "ztensor-sql diff one.safetensors one.safetensors "),
             ("ztensor-sql ls collection/of/models-with-long-names/cu", "ztensor-sql ls collection/of/models-with-long-names/cut.safetensors "),
             ("ztensor-sql stats --sort zer", "ztensor-sql stats --sort zeros "), ("ztensor-sql stats --dtype bf", "ztensor-sql stats --dtype bf16 "),
             ("ztensor-sql stats one.safetensors --name layers.0.q", "ztensor-sql stats one.safetensors --name layers.0.query "),
             ("ztensor-sql export one.safetensors no", "ztensor-sql export one.safetensors norm "), ("ztensor-sql completion z", "ztensor-sql completion zsh "),
             ("ztensor-sql export collection/of/models-with-long-names model.layers.1.self_attn.q", "ztensor-sql export collection/of/models-with-long-names model.layers.1.self_attn.q_proj.weight "),
             ("ztensor-sql convert one.safetensors two.zt --dtype bf", "ztensor-sql convert one.safetensors two.zt --dtype bf16 ")]


def test_a_bash_completes(bash, command):
    for line, completed in COMPLETED:
        assert bash(line) == completed
    # A name that bash would run is none to complete
    assert bash("ztensor-sql export one.safetensors '$") == "ztensor-sql export one.safetensors '$"
    assert bash("ztensor-sql export one.safetensors layers.0.") == "ztensor-sql export one.safetensors layers.0."   # Two begin so
    assert not (command.directory / "ran").exists()


@pytest.mark.parametrize("shell, said", [("bash", "complete -o nosort -F _ztensor_sql_completion ztensor-sql"), ("zsh", "#compdef ztensor-sql"),
                                         ("fish", "complete --no-files --command ztensor-sql")])
def test_completion_of_each_shell(command, shell, said):
    assert said in command("completion", shell)[0]
    assert "is not one of" in command.refused("completion", "tcsh")
    assert f"completion {shell}" in command("completion", "--help")[0]
