"""`make install`, Debian's package, and what is made for sqlpkg, Homebrew and conda."""
import json
import pathlib
import re
import subprocess
import sys
import tarfile

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from release import DIST, RELEASE, ROOT, VERSION, library_of, sha256, this_platform

VERSION_SAID = re.compile(rf"{re.escape(VERSION)} \(SQLite [\d.]+, zstd [\d.]+, .+\)\n")
SCRIPTS = {path.name for path in (ROOT / "sql").glob("*.sql")}


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def loads(path):
    return VERSION_SAID.fullmatch(run("sqlite3", "-bail", ":memory:", f".load {path}", "SELECT zt_version()"))


def test_make_install(tmp_path):
    run("make", "-C", ROOT, "install", f"DESTDIR={tmp_path}", "prefix=/usr")
    assert {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()} == (
        {"usr/lib/ztensor.so"} | {f"usr/share/ztensor/{name}" for name in SCRIPTS})
    assert loads(tmp_path / "usr" / "lib" / "ztensor")


@pytest.fixture(scope="session")
def deb(tmp_path_factory):
    (package,) = DIST.glob(f"libsqlite3-mod-ztensor_{VERSION}_*.deb")
    to = tmp_path_factory.mktemp("deb")
    run("dpkg-deb", "-x", package, to)
    return package, to


def test_debian_files(deb):
    package, to = deb
    library = next(to.glob("usr/lib/*/ztensor.so"))
    assert library.parent.name == run("dpkg-architecture", "-qDEB_HOST_MULTIARCH").strip()
    assert {path.name for path in to.glob("usr/share/ztensor/*")} == SCRIPTS
    depends = re.findall(r"\S+", run("dpkg-deb", "-f", package, "Depends").replace(",", " "))
    assert {"libc6", "libisal2", "libssl3", "libzstd1", "zlib1g"} <= set(depends)
    assert run("dpkg-deb", "-f", package, "Version").strip() == VERSION
    assert loads(library)


def test_debian_load_needs_no_path(deb):
    """In a place where the library's directory is the system's and the package's, one above the other."""
    library = next(deb[1].glob("usr/lib/*/ztensor.so"))
    directory = pathlib.Path("/") / library.parent.relative_to(deb[1])
    said = run("unshare", "--mount", "--map-root-user", "sh", "-euc", f"""
mount -t overlay -o lowerdir={library.parent}:{directory} overlay {directory}
cd /
sqlite3 -bail :memory: '.load ztensor' 'SELECT zt_version()'""")
    assert VERSION_SAID.fullmatch(said)


def test_lintian_finds_no_error(deb):
    said = run("lintian", "--allow-root", "--fail-on=error", deb[0])
    assert not re.search(r"^E: ", said, re.M), said


def test_sqlpkg():
    """What its client does: the archive of this system, its checksum, and its files, which lie in no directory."""
    manifest = json.loads((DIST / "sqlpkg.json").read_text())
    assert (manifest["owner"], manifest["name"], manifest["version"]) == ("ztensor", "ztensor", VERSION)
    assets = manifest["assets"]
    assert set(assets["files"]) == {"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"}
    for name in assets["files"].values():
        archive = DIST / name
        assert assets["checksums"][name] == f"sha256-{sha256(archive)}"
        with tarfile.open(archive) as tar:
            assert all(entry.isfile() and "/" not in entry.name for entry in tar)
    with tarfile.open(DIST / f"ztensor-{VERSION}-{this_platform()}.tar.gz") as tar:
        assert tar.extractfile("ztensor.so").read() == library_of(this_platform()).read_bytes()
        assert SCRIPTS <= set(tar.getnames())


@pytest.mark.parametrize("name", ["ztensor.rb", "recipe.yaml"])
def test_recipes_are_of_the_archive(name):
    text = (DIST / name).read_text()
    assert not re.search(r"@[A-Z]+@", text)
    assert sha256(DIST / f"ztensor-{VERSION}.tar.gz") in text
    assert f"{RELEASE['archives']}/ztensor-{VERSION}.tar.gz" in text


def test_the_archive_of_sources_builds(tmp_path):
    """What Homebrew and conda run, in nothing but what is in it."""
    with tarfile.open(DIST / f"ztensor-{VERSION}.tar.gz") as tar:
        tar.extractall(tmp_path)
    run("make", "-j2", "-C", tmp_path / f"ztensor-{VERSION}", "install", "OPT=-O1", f"prefix={tmp_path / 'to'}")
    assert loads(tmp_path / "to" / "lib" / "ztensor")
