"""Hosts whose floating-point environment is not IEEE 754's default: core/float_env.h. Answers do not depend on it, and the host
finds it as it was."""
import contextlib
import ctypes
import platform
import struct

import pytest

import writer
import writing

LIBM = ctypes.CDLL("libm.so.6")
# Where fenv_t has the control register, and the bits that make 0 of subnormal numbers, of results and of operands
MACHINES = {"x86_64": (28, 0x8040), "aarch64": (0, 1 << 24)}
UPWARD = {"x86_64": 0x800, "aarch64": 0x400000}
X86 = platform.machine() == "x86_64"
X87, X87_UPWARD, X87_DOUBLE = 0, 0xB7F, 0x27F   # Where fenv_t has the x87's control word; words that round up, and to 53 bits
DIVIDE_BY_ZERO, INVALID, OVERFLOW = 4, 1, 8     # Of x86

F32 = struct.pack("<6I", 1, 0x80000003, 0x7fffff, 0x3eaaaaab, 0x7fc00000, 0x7f800000)
F64 = struct.pack("<2Q2d", 1, 0x8000000000000005, 1 / 3, 1e300)
BF16 = struct.pack("<4H", 1, 0x8003, 0x3eab, 0x7fc0)
F16 = struct.pack("<4H", 1, 0x8003, 0x3555, 0x7e00)
TENSORS = {"f32": (F32, 6), "f64": (F64, 4), "bf16": (BF16, 4), "f16": (F16, 4)}
# One attribute, an f32 that is subnormal, and no tensors
GGUF = b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"a" + struct.pack("<II", 6, 5)
# Attributes that f32 cannot hold, and that it holds as subnormal numbers: whether each is in its shortest form is computed
ZT2 = writer.write({"x": dict(writer.dense(F32, [6], "f32"), attributes={"a": 1e300, "b": 2.0**-140})}, "2", {"a": 2.0**-149})

STATEMENTS = [
    "SELECT zt_json(:a, object), hex(zt_dense(:a, object, 'f64')), zt_value(:a, object, 1) FROM zt_objects(:a)",
    "SELECT hex(zt_dense(:a, object, 'f32')) FROM zt_objects(:a)",
    "SELECT e.* FROM zt_objects(:a) AS o, zt_elements(:a, o.object) AS e",
    "SELECT * FROM zt_stats(:a)",
    "SELECT h.* FROM zt_objects(:a) AS o, zt_histogram(:a, o.object, 3) AS h",
    "SELECT zt_compare.* FROM zt_objects(:a) AS o, zt_compare(:a, o.object, :b, o.object)",
    "SELECT value FROM zt_attributes(:gguf)",
    "SELECT zt_manifest(:gguf)",
    "SELECT hex(zt_pack('safetensors', object, :a, object)) FROM zt_objects(:a)",
    "SELECT hex(zt_pack('ztensor-2', object, :zt, object)) FROM zt_objects(:zt)",
]


@contextlib.contextmanager
def environment(change):
    """The environment that change() makes; it is still there at the end."""
    before, made, after = (ctypes.create_string_buffer(512) for _ in range(3))
    LIBM.fegetenv(before)
    change()
    LIBM.fegetenv(made)
    assert control(made) != control(before)
    try:
        yield
        LIBM.fegetenv(after)
    finally:
        LIBM.fesetenv(before)
    assert control(after) == control(made)


def control(buffer):
    """The registers without their flags, which arithmetic sets."""
    register = struct.unpack_from("<I", buffer, MACHINES[platform.machine()][0])[0] & ~0x3f
    return register, struct.unpack_from("<H", buffer, X87)[0] if X86 else None


def changed(form, place, change):
    """Sets the field at that place of the environment to what change() makes of it."""
    environment = ctypes.create_string_buffer(512)
    LIBM.fegetenv(environment)
    struct.pack_into(form, environment, place, change(struct.unpack_from(form, environment, place)[0]))
    LIBM.fesetenv(environment)


def flush_subnormals():
    place, bits = MACHINES[platform.machine()]
    changed("<I", place, lambda register: register | bits)


def round_upward_in_x87():
    changed("<H", X87, lambda word: X87_UPWARD)


def round_to_double_in_x87():
    changed("<H", X87, lambda word: X87_DOUBLE)


def round_upward():
    LIBM.fesetround(UPWARD[platform.machine()])


def trap_invalid_operations():
    LIBM.feenableexcept(DIVIDE_BY_ZERO | INVALID | OVERFLOW)


@pytest.fixture
def files(db):
    """Two files of the same names, in which the second one's values are the first one's in reverse, and a GGUF."""
    made = {}
    for name, order in (("a", 1), ("b", -1)):
        values = ", ".join("(?, ?, ?)" for _ in TENSORS)
        arguments = [field for dtype, (data, n) in TENSORS.items()
                     for field in (dtype, b"".join(pieces(data, len(data) // n)[::order]), f"[{n}]")]
        made[name] = rows(db, f"WITH t(dtype, data, shape) AS (VALUES {values})"
                              " SELECT zt_pack('safetensors', dtype, data, dtype, shape) FROM t", arguments)[0][0]
    return {**made, "gguf": GGUF, "zt": ZT2}


def rows(db, statement, arguments):
    return db.execute(statement, arguments).fetchall()


def pieces(data, size):
    return [data[at:at + size] for at in range(0, len(data), size)]


def bits(row):
    return [struct.pack("<d", field) if isinstance(field, float) else field for field in row]


CHANGES = [flush_subnormals, round_upward] + [trap_invalid_operations, round_upward_in_x87, round_to_double_in_x87] * X86


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("change", CHANGES)
def test_answers_do_not_depend_on_the_hosts_environment(db, files, statement, change):
    expected = rows(db, statement, files)
    with environment(change):
        got = rows(db, statement, files)
    assert expected and list(map(bits, got)) == list(map(bits, expected))


@pytest.mark.parametrize("change", CHANGES)
def test_written_files_do_not_depend_on_it(db, files, tmp_path, change):
    path = f"{tmp_path}/a.npz"
    out = writing.open_writer(path)
    with environment(change):
        out.execute("INSERT INTO out(name, source, object, dtype)"
                    " SELECT object, :a, object, 'f64' FROM zt_objects(:a)", files)
        out.commit()
    written = rows(db, "SELECT object, hex(zt_dense(source, object)) FROM zt_objects(:path)", {"path": path})
    expected = rows(db, "SELECT object, hex(zt_dense(:a, object, 'f64')) FROM zt_objects(:a)", files)
    assert sorted(written) == sorted(expected) and len(expected) == len(TENSORS)


@pytest.mark.parametrize("change", CHANGES)
def test_a_file_that_is_updated_is_read_in_the_default_environment(db, tmp_path, change):
    """Its name does not say the format."""
    path = tmp_path / "model"
    path.write_bytes(ZT2)
    out = writing.open_writer(tmp_path / "other.zt")
    with environment(change):
        writing.declare(out, path, "mode='update'", name="model")
        found = rows(out, "SELECT name FROM model WHERE key IS NULL", ())
    assert found == [("x",)]
