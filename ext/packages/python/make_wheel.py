"""The wheels: python3 python/make_wheel.py PLATFORM..., of the libraries that native/build.py built.

The same files give the same bytes. It is also the package's build backend for pip, with the library that `make` built.
"""
import base64
import hashlib
import io
import pathlib
import sys
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "native")]
import sources
from release import DIST, PLATFORMS, RELEASE, ROOT, VERSION, Failed, chosen_platforms, library_of, main

PROJECT = tomllib.loads((HERE / "pyproject.toml").read_text())["project"]
NAME = PROJECT["name"].replace("-", "_")
INFO = f"{NAME}-{VERSION}.dist-info"
WHEN = (2020, 1, 1, 0, 0, 0)   # The time of every file


def metadata(licenses):
    terms = dict.fromkeys(term for _, term, _ in licenses)
    lines = ["Metadata-Version: 2.4", f"Name: {PROJECT['name']}", f"Version: {VERSION}", f"Summary: {RELEASE['description']}",
             f"License-Expression: {' AND '.join(terms)}"]
    lines += [f"License-File: {license_name(part)}" for part, _, _ in licenses]
    lines += [f"Keywords: {','.join(PROJECT['keywords'])}", f"Requires-Python: {PROJECT['requires-python']}"]
    lines += [f"Requires-Dist: {need}" for need in PROJECT["dependencies"]]
    for extra, needs in PROJECT["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {need}; extra == "{extra}"' for need in needs)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / PROJECT["readme"]).read_text()]
    return "\n".join(lines)


def entry_points():
    groups = {"console_scripts": PROJECT["scripts"], **PROJECT["entry-points"]}
    return "".join(f"[{group}]\n" + "".join(f"{name} = {what}\n" for name, what in points.items()) + "\n"
                   for group, points in groups.items())


def license_name(part):
    return f"LICENSE.{part}"


def files_of(library, tag, licenses):
    """{path in the wheel: bytes}"""
    found = {}
    for path in sorted((HERE / "src").rglob("*")):
        inside = path.relative_to(HERE / "src")
        if path.is_file() and not any(p.startswith(".") or p == "__pycache__" for p in inside.parts):
            found[inside.as_posix()] = path.read_bytes()
    for path in sorted((ROOT / "sql").glob("*.sql")):
        found[f"{NAME}/sql/{path.name}"] = path.read_bytes()
    found[f"{NAME}/{library.name}"] = library.read_bytes()
    tags = "".join(f"Tag: py3-none-{part}\n" for part in tag.split("."))
    found[f"{INFO}/METADATA"] = metadata(licenses).encode()
    found[f"{INFO}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: ztensor\nRoot-Is-Purelib: false\n{tags}".encode()
    found[f"{INFO}/entry_points.txt"] = entry_points().encode()
    for part, _, path in licenses:
        found[f"{INFO}/licenses/{license_name(part)}"] = path.read_bytes()
    return found


def record(files):
    lines = []
    for path, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(data)}\n")
    return "".join(lines) + f"{INFO}/RECORD,,\n"


def write(library, tag, licenses, directory):
    files = files_of(library, tag, licenses)
    files[f"{INFO}/RECORD"] = record(files).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, WHEN)
            entry.create_system = 3   # Unix, wherever it is made
            entry.external_attr = (0o100755 if path.endswith(library.name) else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{NAME}-{VERSION}-py3-none-{tag}.whl"
    path.write_bytes(made.getvalue())
    return path


def wheels(*names):
    for name in chosen_platforms(names):
        library = library_of(name)
        if not library.exists():
            raise Failed(f"{library.relative_to(ROOT)} is not there: native/build.py {name} builds it")
        path = write(library, PLATFORMS[name]["wheel"], sources.licenses(name), DIST)
        print(f"{path.relative_to(ROOT)}, {path.stat().st_size:,} bytes", flush=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """What pip calls for `pip install ext/packages/python`."""
    import sysconfig

    library = next((ROOT / name for name in ("ztensor.so", "ztensor.dylib", "ztensor.dll") if (ROOT / name).exists()), None)
    if library is None:
        raise Failed(f"there is no ztensor.so in {ROOT}: make builds it")
    tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    own = [("ztensor", RELEASE["license"], ROOT / "LICENSE")]
    return write(library, tag, own, pathlib.Path(wheel_directory)).name


if __name__ == "__main__":
    main(wheels)
