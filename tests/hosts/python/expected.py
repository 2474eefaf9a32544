"""The extension's answers about two files, the same in every host, on connections and threads; and a count of the checks."""
from concurrent.futures import ThreadPoolExecutor

MODEL = "tests/formats/ztensor/golden/v1.2/wheel_save_file.zt"
QUERY = "SELECT object, dtype, shape, elements FROM zt_objects(?)"
OBJECTS = [("blk.0.attn.k", "i64", "[3,4]", 12), ("blk.0.attn.q", "bf16", "[3,4]", 12),
           ("model.embed.weight", "f32", "[3,4]", 12)]
BYTES = bytes.fromhex("7f8080007f7f7fff803f80bf813fcd3dc07f807f80ff0080")    # blk.0.attn.q as it is
ROW = bytes.fromhex("0000803f000080bf0000813f0000cd3d")                      # Its second row as f32
BROKEN = "tests/formats/ztensor/hostile/1.2-align-65.zt"
WRONG = "object 'w': component 'data': manifest byte 121: offset 65 is not a multiple of 64"

checks = []    # Appending is safe among threads


def same(actual, wanted):
    if actual != wanted:
        raise AssertionError(f"{actual!r} is not {wanted!r}")
    checks.append(wanted)


def fails(kind, text, call, *arguments):
    """The call must raise that exception with that text."""
    try:
        got = call(*arguments)
    except kind as error:
        return same(str(error), text)
    raise AssertionError(f"{got!r} in place of an error")


def content(value):
    """The checks that any connection must pass. value(SQL, arguments...): the one value of a statement."""
    same(value("SELECT zt_blob(?, 'blk.0.attn.q')", MODEL), BYTES)
    same(value("SELECT zt_dense(?, 'blk.0.attn.q', 'f32', 1, 1)", MODEL), ROW)
    same(value("SELECT error FROM zt_files(?)", BROKEN), f"ztensor: {BROKEN}: {WRONG}")
    same(value("SELECT dtype FROM zt_objects('tests/formats/ztensor/golden/v1.2/hand_zero_components.zt') LIMIT 1"), None)


def image(path):
    with open(path, "rb") as file:
        return file.read()


def many(connect, check, thread):
    """Connections that outlive each other, and threads. Returns one that is left."""
    first, second = connect(), connect()
    check(first)
    first.close()
    check(second)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(thread, range(4)))
    return second
