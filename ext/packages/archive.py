"""Archives whose bytes depend on nothing but the files in them."""
import gzip
import io
import tarfile

from release import DIST, PACKAGES, ROOT, VERSION

WHEN = 1577836800   # 2020-01-01, the time of every file


def write_tar_gz(path, files):
    """{name: bytes} as an archive; names in order."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size, entry.mtime, entry.mode = len(data), WHEN, 0o644
            tar.addfile(entry, io.BytesIO(data))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(made.getvalue(), 9, mtime=0))
    return path


def source_archive():
    """The sources from which distributions build, without the tests; in dist/."""
    files = {}
    for part in ("LICENSE", "Makefile", "README.md", "ext", "sql"):
        paths = [ROOT / part] if (ROOT / part).is_file() else sorted((ROOT / part).rglob("*"))
        for path in paths:
            if path.is_file() and PACKAGES not in path.parents:
                files[f"ztensor-{VERSION}/{path.relative_to(ROOT)}"] = path.read_bytes()
    return write_tar_gz(DIST / f"ztensor-{VERSION}.tar.gz", files)
