"""The packages for Node: python3 npm/make_npm.py, of the libraries that native/build.py built: one for each system, and one
that names them as optional dependencies, of which npm installs the one that fits."""
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "native")]
import sources
from archive import write_tar_gz
from release import DIST, PLATFORMS, RELEASE, ROOT, VERSION, Failed, library_of, main

NAME = "ztensor-sqlite"


def terms(licenses):
    return " AND ".join(dict.fromkeys(term for _, term, _ in licenses))


def pack(name, files, **more):
    """An archive as `npm pack` makes it, with a package.json of what is common and of `more`."""
    package = {"name": name, "version": VERSION, "description": RELEASE["description"], "license": RELEASE["license"], **more}
    files = {"package.json": json.dumps(package, indent=2).encode() + b"\n", **files}
    path = write_tar_gz(DIST / f"{name}-{VERSION}.tgz", {f"package/{file}": data for file, data in files.items()})
    print(f"{path.relative_to(ROOT)}, {path.stat().st_size:,} bytes", flush=True)


def platform_package(platform):
    library = library_of(platform)
    if not library.exists():
        raise Failed(f"{library.relative_to(ROOT)} is not there: native/build.py {platform} builds it")
    system, processor, *libc = platform.split("-")
    licenses = sources.licenses(platform)
    only = {"os": [system], "cpu": [processor]}
    if system == "linux":
        only["libc"] = libc or ["glibc"]
    files = {library.name: library.read_bytes(), "README.md": f"The library of {NAME} for {platform}.\n".encode()}
    files |= {f"LICENSE.{part}": path.read_bytes() for part, _, path in licenses}
    pack(f"{NAME}-{platform}", files, **only, license=terms(licenses))


def make():
    for platform in PLATFORMS:
        platform_package(platform)
    files = {name: (HERE / name).read_bytes() for name in ("README.md", "index.d.ts", "index.js")}
    pack(NAME, {**files, "LICENSE": (ROOT / "LICENSE").read_bytes()}, main="index.js", types="index.d.ts",
         engines={"node": ">=18"}, keywords=["sqlite", "tensor", "safetensors", "gguf", "onnx"],
         optionalDependencies={f"{NAME}-{platform}": VERSION for platform in PLATFORMS})


if __name__ == "__main__":
    main(make)
