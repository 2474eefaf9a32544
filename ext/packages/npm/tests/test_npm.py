"""The packages for Node, installed by npm from the archives, in both drivers."""
import json
import os
import pathlib
import subprocess
import sys
import tarfile

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent))
from release import BUILD, DIST, PLATFORMS, ROOT, VERSION, library_of, sha256, this_platform

MODEL = ROOT / "tests" / "formats" / "ztensor" / "golden" / "v1.2" / "wheel_names.zt"
DRIVERS = ["better-sqlite3@12.11.1", "node@24.9.0"]


def npm(directory, *arguments):
    # Where no binary of a driver can be had it is compiled, with the headers that came with node
    prefix = pathlib.Path(subprocess.run(["which", "node"], capture_output=True, text=True).stdout.strip()).parent.parent
    nodedir = {"npm_config_nodedir": str(prefix)} if (prefix / "include/node/node.h").exists() else {}
    subprocess.run(["npm", "--prefix", directory, "--silent", "--no-audit", "--no-fund", *arguments], check=True,
                   env=os.environ | nodedir)


@pytest.fixture(scope="session")
def drivers():
    directory = BUILD / "node"
    if not (directory / "complete").exists():
        directory.mkdir(parents=True, exist_ok=True)
        npm(directory, "install", *DRIVERS)
        (directory / "complete").touch()
    return directory / "node_modules"


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    """The package and that for this machine; of the others npm finds none, and goes on."""
    directory = tmp_path_factory.mktemp("npm")
    npm(directory, "install", "--offline", DIST / f"ztensor-sqlite-{VERSION}.tgz",
        DIST / f"ztensor-sqlite-{this_platform()}-{VERSION}.tgz")
    return directory


@pytest.mark.parametrize("driver,copies", [("better-sqlite3", 0), ("node:sqlite", 0), ("better-sqlite3, taken", 1)])
def test_load(drivers, installed, tmp_path, driver, copies):
    node = "node" if driver.startswith("better-sqlite3") else drivers / "node" / "bin" / "node"
    (installed / "load.js").write_text((HERE / "load.js").read_text())
    done = subprocess.run([node, installed / "load.js", driver, MODEL], capture_output=True, text=True,
                          env=os.environ | {"NODE_PATH": str(drivers), "TMPDIR": str(tmp_path), "NODE_NO_WARNINGS": "1"})
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    said = found["said"]
    assert said["path"] == said["blob"] == 17
    assert "opens no files" in said["refused"]
    assert "ztensor is loaded already, and opens files" in said["late"]
    assert found["copies"] == copies
    assert list(tmp_path.iterdir()) == []
    assert found["wrong"].startswith("TypeError: ztensor-sqlite: a Database of better-sqlite3 or")
    assert sha256(found["library"]) == sha256(library_of(this_platform()))


def test_without_the_library_the_error_names_its_package(tmp_path):
    npm(tmp_path, "install", "--offline", DIST / f"ztensor-sqlite-{VERSION}.tgz")
    done = subprocess.run(["node", "-e", "require('ztensor-sqlite').loadablePath()"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 1
    assert f"Error: ztensor-sqlite: the package ztensor-sqlite-{this_platform()} is not installed" in done.stderr


@pytest.mark.parametrize("platform", PLATFORMS)
def test_files(platform):
    with tarfile.open(DIST / f"ztensor-sqlite-{platform}-{VERSION}.tgz") as tar:
        files = {name.removeprefix("package/"): tar.extractfile(name).read() for name in tar.getnames()}
    package = json.loads(files["package.json"])
    library = library_of(platform)
    assert files[library.name] == library.read_bytes()
    assert (package["name"], package["version"]) == (f"ztensor-sqlite-{platform}", VERSION)
    assert [package["os"], package["cpu"], package.get("libc")] == [
        [platform.split("-")[0]], [platform.split("-")[1]],
        None if not platform.startswith("linux") else ["musl" if platform.endswith("musl") else "glibc"]]
    assert {"LICENSE.ztensor", "LICENSE.zstd", "LICENSE.zlib", "LICENSE.isa-l", "LICENSE.xxhash"} <= set(files)
