"""What is in the wheels, and what installing them leaves."""
import base64
import hashlib
import re
import subprocess
import sys
import zipfile

import pytest
from conftest import BUILD, PLATFORMS, ROOT, environment, sha256, this_platform, wheel_of
from release import PACKAGES, RELEASE, VERSION, library_of

HERE = PACKAGES / "python"
BUILT = [name for name in PLATFORMS if library_of(name).exists()]


def test_the_version_is_that_of_the_extension():
    source = (ROOT / "ext" / "sqlite" / "function_version.c").read_text()
    assert re.search(r'#define ZT_VERSION "(.*)"', source)[1] == VERSION


@pytest.mark.parametrize("platform", BUILT)
def test_files(platform):
    """The package, the scripts, the library as it was built, a licence for each part; RECORD tells all of it."""
    path = wheel_of(platform)
    assert 200_000 < path.stat().st_size < 2_000_000
    with zipfile.ZipFile(path) as wheel:
        files = {name: wheel.read(name) for name in wheel.namelist()}
    info = f"ztensor_sqlite-{VERSION}.dist-info"
    library = library_of(platform)
    assert files[f"ztensor_sqlite/{library.name}"] == library.read_bytes()
    scripts = {f"ztensor_sqlite/sql/{script.name}" for script in (ROOT / "sql").glob("*.sql")}
    sources = {str(source.relative_to(HERE / "src")) for source in (HERE / "src").rglob("*.*")
               if source.is_file() and source.suffix != ".pyc"}
    assert scripts | sources <= set(files)
    assert not [name for name in files if "__pycache__" in name or name.endswith(".pyc")]
    texts = {name.rpartition("LICENSE.")[2]: text.decode() for name, text in files.items() if "/licenses/" in name}
    expected = {"ztensor", "zstd", "zlib", "isa-l", "xxhash", "zig"}
    expected |= {"aws-lc"} if platform.startswith("linux") else set()
    expected |= {"mingw-w64"} if platform.startswith("win") else set()
    assert set(texts) == expected
    assert texts["ztensor"] == (ROOT / "LICENSE").read_text()
    assert "Meta Platforms" in texts["zstd"] and "Intel Corporation" in texts["isa-l"] and "Yann Collet" in texts["xxhash"]
    assert "Mark Adler" in texts["zlib"]
    metadata = files[f"{info}/METADATA"].decode()
    assert f"\nVersion: {VERSION}\n" in metadata and "\nLicense-Expression: MIT AND BSD-3-Clause" in metadata
    recorded = [line.rsplit(",", 2) for line in files[f"{info}/RECORD"].decode().splitlines()]
    assert {name for name, _, _ in recorded} == set(files)
    for name, digest, size in recorded:
        if name != f"{info}/RECORD":
            assert int(size) == len(files[name])
            assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(files[name]).digest()).rstrip(b"=").decode()


def test_the_second_build_is_the_same_to_the_byte(wheel):
    """Of all that is compiled here, with nothing kept of the first; the wheel, too."""
    library, before = library_of(this_platform()), sha256(wheel)
    first = sha256(library)
    subprocess.run(["rm", "-rf", BUILD / "zig"], check=True)
    library.unlink()
    wheel.unlink()
    for script in ("native/build.py", "python/make_wheel.py"):
        subprocess.run([sys.executable, PACKAGES / script, "this"], check=True)
    assert (sha256(library), sha256(wheel)) == (first, before)


@pytest.mark.parametrize("platform", [name for name in BUILT if name.startswith("linux")])
def test_what_a_library_for_linux_needs_and_shows(platform):
    def lines(*command):
        return subprocess.run([*command, library_of(platform)], capture_output=True, text=True, check=True).stdout.splitlines()

    needed = {line.split("[")[1].rstrip("]") for line in lines("readelf", "-dW") if "(NEEDED)" in line}
    musl = platform.endswith("musl")
    assert needed <= ({"libc.so"} if musl else
                      {"libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"})
    symbols = [line.split() for line in lines("readelf", "--dyn-syms", "-W")[3:]]
    shown = {s[7].partition("@")[0] for s in symbols if len(s) > 7 and s[6] != "UND" and s[4] in ("GLOBAL", "WEAK")}
    header = (ROOT / "ext" / "bindings.h").read_text() + (ROOT / "ext" / "ztensor.c").read_text()
    assert shown == set(re.findall(r"\b(sqlite3_ztensor_\w+)\(", header)) and len(shown) == 9
    asked = {s[7] for s in symbols if len(s) > 7 and s[6] == "UND"}
    assert not [s for s in asked if s.startswith(("sqlite3", "ZSTD", "SHA256", "crc32", "deflate", "XXH"))]


@pytest.mark.parametrize("platform", BUILT)
def test_no_library_tells_where_it_was_built(platform):
    library = library_of(platform).read_bytes()
    for directory in {str(ROOT), str(BUILD), str(ROOT.parent)}:
        assert directory.encode() not in library


@pytest.mark.parametrize("platform", ["linux-x64", "linux-arm64"])
def test_auditwheel_confirms_the_tag(platform):
    made = environment("auditwheel", "auditwheel==6.8.2")
    wheel = wheel_of(platform)
    said = subprocess.run([made.directory / "bin" / "auditwheel", "show", wheel], capture_output=True, text=True,
                          env=made.variables | {"PATH": f"{made.directory}/bin:/usr/bin:/bin"})
    assert said.returncode == 0, said.stderr
    machine = {"linux-x64": "x86_64", "linux-arm64": "aarch64"}[platform]
    assert re.search(rf'is consistent with the\s+following platform tag:\s+"manylinux_2_17_{machine}"', said.stdout), said.stdout


def test_uninstalling_leaves_nothing(clean, wheel):
    """As it is without its dependencies, which pip leaves; all modules imported, so that Python has compiled them."""
    before = clean.installed()
    clean.pip("install", "--no-deps", "--no-index", wheel)
    assert clean.run("print(json.dumps(len(ztensor_sqlite.connect().execute('SELECT * FROM zt_files(?)', (golden,)).fetchall())))") == 1
    assert len(clean.installed()) > len(before)
    clean.pip("uninstall", "-y", "ztensor-sqlite")
    assert clean.installed() == before
