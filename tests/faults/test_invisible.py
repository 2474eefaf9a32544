"""The system may do this to a call without a fault: signals, reads that give little, and advice not taken."""
import errno
import mmap
import random
import re
import subprocess
from collections import Counter

import pytest

import statements
import writer
from faults import ERRORS, WRITING, Log, answer, connect, failing, left_open
from support import EXTENSION, ROOT, open_connection

CALLS = re.compile(r"(open|openat|openat2|creat|fopen|fdopen|f?l?statx?|fstatat|__[fl]?xstat|p?readv?2?|lseek|fread|close|fclose"
                   r"|p?writev?2?|ftruncate|truncate|f(data)?sync|linkat|link|renameat2?|rename|unlink|unlinkat|f?chmod|f?chown|mkdir|syscall"
                   r"|opendir|fdopendir|readdir|readdir_r|scandir|closedir|access|faccessat|readlink|realpath|mmap|madvise"
                   r"|posix_fadvise|clock_gettime|gettimeofday|ioctl|fcntl)(64)?(_2|_chk)?")


def symbols(path, *options):
    listed = subprocess.run(["nm", "-D", *options, path], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listed.splitlines()}


def test_every_call_that_the_extension_makes_of_the_system_can_fail():
    made = {name for name in symbols(EXTENSION + ".so", "--undefined-only") if CALLS.fullmatch(name)}
    library, = {line.split()[-1] for line in open("/proc/self/maps") if line.endswith("/faults.so\n")}
    writing = {name.partition(":")[0] for name in WRITING}
    assert set(ERRORS) <= {name.removesuffix("64") for name in made} <= set(ERRORS) | writing
    assert made <= symbols(library, "--defined-only")


def all_statements(tree):
    for name in ("d/a.zt", "d/b.zt", "d/sub/c.zt", "o.onnx"):
        yield from statements.of_file(tree / name)
    yield from statements.of_directory(tree)


class Interrupted:
    """Each call is ended by a signal so many times before it is made. One that closes is not made again."""

    def __init__(self, times):
        self.times, self.left, self.counts = times, times, Counter()

    def __call__(self, call, path, size):
        self.counts[call] += 1
        if call in ("close", "closedir"):
            return errno.EINTR
        if self.left == 0:
            self.left = self.times
            return 0
        self.left -= 1
        return errno.EINTR


class Short:
    """Reads give so many bytes at most; `pick` says how many."""

    def __init__(self, pick):
        self.pick, self.counts = pick, Counter()

    def __call__(self, call, path, size):
        if call == "pread" and size[0] > 1:
            size[0] = min(size[0], self.pick())
            self.counts[call] += 1
        return 0


def seeded(most):
    generator = random.Random(most)
    return lambda: generator.randint(1, most)


WITH_PATHS = set(ERRORS) - {"madvise", "mmap", "clock_gettime"}
EVERYWHERE = {
    "interrupted once": (lambda: Interrupted(1), WITH_PATHS),
    "interrupted often": (lambda: Interrupted(40), WITH_PATHS),
    "a byte at a time": (lambda: Short(lambda: 1), {"pread"}),
    "a few bytes at a time": (lambda: Short(seeded(7)), {"pread"}),
    "many bytes at a time": (lambda: Short(seeded(300)), {"pread"}),
}


@pytest.mark.parametrize("how", EVERYWHERE)
def test_rows_are_the_same(tree, how, capsys):
    make, functions = EVERYWHERE[how]
    total = Counter()
    for statement in all_statements(tree):
        db = connect()
        clean = answer(db, statement.sql)
        db.close()
        db = connect()
        question = make()
        with failing(tree, question):
            got = answer(db, statement.sql)
            assert left_open() == 0
        db.close()
        assert isinstance(clean, list) and got == clean, f"{statement.sql}: {got}"
        assert question.counts.total() > 0, statement.sql
        total += question.counts
    with capsys.disabled():
        print(f"\n{how}: {dict(total)}", end="")
    assert set(total) == functions


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Tensors large enough for advice about their memory: dense, and one of four million zeros and one."""
    directory = tmp_path_factory.mktemp("large")
    size = 12 << 20
    path = directory / "large.zt"
    path.write_bytes(writer.write({"w": writer.dense(bytes(range(256)) * (size // 256)),
                                   "s": writer.sparse_coo([size], [(5,)], b"\x07")}))
    return path


def test_advice_and_memory_that_are_refused_change_nothing(large):
    sql = f"""SELECT zt_hash('{large}', 'w', 'data', 'xxh3'), zt_blob('{large}', 'w') = zt_dense('{large}', 'w'),
                     hex(substr(zt_dense('{large}', 's'), 1, 8)), length(replace(hex(zt_dense('{large}', 's')), '00', '')),
                     zt_dense('{large}', 's', 'u8', 5, 1), zt_dense('{large}', 'w') = zt_blob('{large}', 'w')"""
    db = connect()
    clean = answer(db, sql)
    assert clean[0][1:] == (1, "0000000000070000", 2, b"\x07", 1)
    for refused in ("madvise", "mmap"):
        for error in ERRORS[refused]:
            counts = Counter()

            def refuse(call, path, size):
                counts[call] += 1
                return getattr(errno, error) if call == refused else 0

            with failing(large.parent, refuse, pathless=True):
                assert answer(db, sql) == clean
            assert counts[refused] > 0
    db.close()


def test_memory_of_the_host_is_never_given_back(large):
    """The one advice is that large pages are welcome: what else may lie in them is not the extension's to know."""
    db = connect()
    given = set()

    def note(call, path, size):
        if call == "madvise":
            given.add(size[0])
        return 0

    with failing(large.parent, note, pathless=True):
        for call in ("zt_blob", "zt_dense"):
            for name in ("w", "s"):
                answer(db, f"SELECT length({call}('{large}', '{name}', {'NULL' if call == 'zt_dense' else repr('data')}))")
    db.close()
    assert given == {mmap.MADV_HUGEPAGE}


def test_without_a_clock_nothing_is_remembered_and_all_is_right(tree):
    path = tree / "d/a.zt"
    sql = f"SELECT zt_manifest('{path}'), zt_json('{path}', 'w')"
    db = connect()
    clean = answer(db, sql)
    counts = Counter()

    def refuse(call, path, size):
        counts[call] += 1
        return errno.EINVAL if call == "clock_gettime" else 0

    with failing(tree, refuse, pathless=True):
        assert answer(db, sql) == clean
    assert counts["clock_gettime"] > 0
    db.close()


# The system's calls that write, however a source names them; and what opens a file for writing
CHANGES = re.compile(r"(?<![>.\w])(pwrite\w*|writev?|ftruncate\w*|truncate|f(data)?sync|linkat|link|renameat2?|rename|unlink|unlinkat|f?chmod|f?chown"
                     r"|mkdir|mkstemp|tmpfile|fopen|fdopen|creat|MoveFile\w*|DeleteFile\w*|SetEndOfFile|WriteFile|FlushFileBuffers)\s*\("
                     r"|\bO_(CREAT|TMPFILE|WRONLY|RDWR|TRUNC|APPEND)\b|\bGENERIC_WRITE\b")


def code(path):
    """A source without its comments."""
    return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)


def sources_with(pattern):
    return {str(path.relative_to(ROOT / "ext")) for path in sorted((ROOT / "ext").glob("*/*.c")) if re.search(pattern, code(path))}


def test_two_files_call_what_writes_and_one_way_leads_there():
    assert sources_with(CHANGES) == {"core/os_write_posix.c", "core/os_write_windows.c"}
    ways = "|".join(sorted(set(re.findall(r"\bzt_os_\w+(?=\()", code(ROOT / "ext/core/os_write.h")))))
    assert "zt_os_create" in ways
    assert sources_with(rf"\b({ways})\(") == {"core/output.c", "core/os_write_posix.c", "core/os_write_windows.c"}
    assert sources_with(r"\bzt_output_open\(") == {"core/output.c", "sqlite/writer_commit.c", "sqlite/write_sources.c"}
    assert sources_with(r"\bzt_write_sources_new\([^)]*\bpath\b") == {"sqlite/writer_commit.c"}   # The others' rows wait in memory
    assert sources_with(r"\bzt_writer_commit\(") == {"sqlite/writer_commit.c", "sqlite/table_writer.c"}


def test_no_statement_writes_unless_the_host_loaded_the_entry_that_does(tree):
    """Neither by the usual entry point nor by the one without files: there is no module that could."""
    pack = [f"SELECT length(zt_pack('{format}', 'w', path, 'w')) FROM (SELECT '{tree}/d/a.zt' AS path)" for format in ("ztensor-2", "npz")]
    writer = f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{tree}/d/new.zt')"
    made = Counter()
    for entry in (None, "sqlite3_ztensor_nofs_init"):
        for sql in [statement.sql for statement in all_statements(tree)] + pack + [writer]:
            db = open_connection(entry=entry)
            log = Log()
            with failing(tree, log, pathless=True):
                got = answer(db, sql)
            db.close()
            made.update(log.calls)
            assert sql != writer or str(got) == "no such module: zt_writer"
    assert made["open"] > 100 and made["pread"] > 100 and made["fstat"] > 100
    assert set(made) <= set(ERRORS)


def test_the_calls_that_write_are_seen_where_the_host_loaded_it(tree, tmp_path):
    db = open_connection(entry="sqlite3_ztensor_write_init")
    log = Log()
    with failing(tmp_path, log):
        db.execute(f"CREATE VIRTUAL TABLE temp.out USING zt_writer('{tmp_path}/new.zt')")
        db.execute(f"INSERT INTO out(name, source) VALUES ('w', '{tree}/d/a.zt')")
    db.close()
    assert {"pwrite", "fsync"} <= set(log.calls)
