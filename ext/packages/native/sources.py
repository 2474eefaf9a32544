"""The sources and tools that release.toml names: fetched once into build/packages, and checked."""
import os
import pathlib
import shutil
import sys
import tarfile
import venv

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from release import BUILD, RELEASE, ROOT, Failed, run, sha256

SOURCES = RELEASE["source"]
ARCHIVES = BUILD / "archives"
UNPACKED = BUILD / "sources"
TOOLS = BUILD / "tools"


def name_of(source):
    kind = "crate" if "crate" in source else "sdist"
    return f"{source[kind]}-{source['version']}.{'crate' if kind == 'crate' else 'tar.gz'}"


def check(path, expected):
    found = sha256(path)
    if found != expected:
        raise Failed(f"{path.name}: its SHA-256 is {found}, not {expected}, as release.toml says")


def fetch_crates(missing):
    """By cargo, which keeps each crate's archive in its own directory."""
    project = BUILD / "crates"
    (project / "src").mkdir(parents=True, exist_ok=True)
    (project / "src" / "lib.rs").write_text("")
    wanted = "".join(f"{s['crate']} = \"={s['version'].split('+')[0]}\"\n" for s in missing)
    (project / "Cargo.toml").write_text(
        f'[package]\nname = "fetched"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n{wanted}')
    run("cargo", "fetch", "-q", "--target", "x86_64-unknown-linux-gnu", cwd=project)
    cargo = pathlib.Path(os.environ.get("CARGO_HOME") or pathlib.Path.home() / ".cargo")
    for source in missing:
        found = sorted(cargo.glob(f"registry/cache/*/{name_of(source)}"))
        if not found:
            raise Failed(f"cargo fetched no {name_of(source)}")
        shutil.copy(found[0], ARCHIVES)


def fetch_sdists(missing):
    for source in missing:
        run(TOOLS / "bin" / "python", "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
            "-d", ARCHIVES, f"{source['sdist']}=={source['version']}")


def fetch_tools():
    """The tools, by pip, in an environment of their own."""
    wanted = "".join(f"{name}=={tool['version']} --hash=sha256:{tool['sha256']}\n"
                     for name, tool in RELEASE["tool"].items())
    stamp = TOOLS / "requirements.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    shutil.rmtree(TOOLS, ignore_errors=True)
    venv.create(TOOLS, with_pip=True)
    (TOOLS / "wanted.txt").write_text(wanted)
    run(TOOLS / "bin" / "python", "-m", "pip", "install", "-q", "--no-deps", "--require-hashes", "-r", TOOLS / "wanted.txt")
    stamp.write_text(wanted)


def fetch():
    """All of them; what is there already is taken as it is, if it has its checksum."""
    fetch_tools()
    ARCHIVES.mkdir(parents=True, exist_ok=True)
    missing = [s for s in SOURCES.values() if not (ARCHIVES / name_of(s)).exists()]
    if any("crate" in s for s in missing):
        fetch_crates([s for s in missing if "crate" in s])
    fetch_sdists([s for s in missing if "sdist" in s])
    for name, source in SOURCES.items():
        archive = ARCHIVES / name_of(source)
        check(archive, source["sha256"])
        unpack(archive, source["sha256"], UNPACKED / name)


def unpack(archive, checksum, to):
    """Without the directory that all of an archive is in."""
    stamp = to / ".checksum"
    if stamp.exists() and stamp.read_text() == checksum:
        return
    shutil.rmtree(to, ignore_errors=True)
    aside = to.parent / (to.name + ".new")
    shutil.rmtree(aside, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(aside)   # Its checksum is the known one
    (inner,) = aside.iterdir()
    inner.rename(to)
    aside.rmdir()
    stamp.write_text(checksum)


def licenses(platform):
    """(name of the part, SPDX expression, file) of each licence that a platform's library stands under, the own one first."""
    (zig,) = TOOLS.glob("lib/python*/site-packages/ziglang")
    found = [("ztensor", RELEASE["license"], ROOT / "LICENSE")]
    parts = [(name, source, UNPACKED / name) for name, source in SOURCES.items()]
    parts += [(name, part, zig) for name, part in RELEASE["runtime"].items()]
    for name, part, directory in parts:
        if "license" in part and platform in part.get("platforms", [platform]):
            found.append((name, part["license"], directory / part["license_file"]))
    return found
