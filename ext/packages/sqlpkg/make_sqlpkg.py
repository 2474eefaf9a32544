"""An archive of the library for each system, and the manifest with which sqlpkg installs them: python3 sqlpkg/make_sqlpkg.py"""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "native")]
import sources
from archive import write_tar_gz
from release import DIST, PLATFORMS, RELEASE, ROOT, VERSION, Failed, library_of, main, sha256

SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
PROCESSORS = {"x64": "amd64", "arm64": "arm64"}


def archive(platform):
    """Without directories, which sqlpkg does not make."""
    library = library_of(platform)
    if not library.exists():
        raise Failed(f"{library.relative_to(ROOT)} is not there: native/build.py {platform} builds it")
    files = {library.name: library.read_bytes()}
    files |= {script.name: script.read_bytes() for script in sorted((ROOT / "sql").glob("*.sql"))}
    files |= {f"LICENSE.{part}": path.read_bytes() for part, _, path in sources.licenses(platform)}
    path = write_tar_gz(DIST / f"ztensor-{VERSION}-{platform}.tar.gz", files)
    print(f"{path.relative_to(ROOT)}, {path.stat().st_size:,} bytes", flush=True)
    return path


def make():
    archives = {platform: archive(platform) for platform in PLATFORMS}
    files = {}
    for platform, path in archives.items():
        system, processor, *libc = platform.split("-")
        if not libc:   # It knows one Linux
            files[f"{SYSTEMS[system]}-{PROCESSORS[processor]}"] = path
    manifest = {
        "owner": "ztensor", "name": "ztensor", "version": VERSION, "homepage": RELEASE["home"], "license": RELEASE["license"],
        "description": RELEASE["description"], "keywords": ["tensor", "safetensors", "gguf", "onnx"],
        "assets": {"path": RELEASE["archives"], "files": {system: path.name for system, path in files.items()},
                   "checksums": {path.name: f"sha256-{sha256(path)}" for path in files.values()}},
    }
    path = DIST / "sqlpkg.json"
    path.write_text(json.dumps(manifest, indent=2) + "\n")
    print(path.relative_to(ROOT))


if __name__ == "__main__":
    main(make)
