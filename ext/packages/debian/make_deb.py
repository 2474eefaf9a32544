"""The Debian package, of the system that this is: python3 debian/make_deb.py"""
import email.utils
import pathlib
import shutil
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from archive import source_archive
from release import BUILD, DIST, RELEASE, ROOT, VERSION, main, run


def changelog():
    when = email.utils.formatdate(RELEASE["released"].timestamp())
    return (f"ztensor ({VERSION}) unstable; urgency=medium\n\n  * Release {VERSION}.\n\n"
            f" -- the ztensor authors <ztensor@localhost>  {when}\n")


def make():
    source = BUILD / "debian" / f"ztensor-{VERSION}"
    shutil.rmtree(source.parent, ignore_errors=True)
    with tarfile.open(source_archive()) as tar:
        tar.extractall(source.parent)
    shutil.copytree(HERE / "debian", source / "debian")
    (source / "debian" / "changelog").write_text(changelog())
    run("dpkg-buildpackage", "--build=binary", "--no-sign", cwd=source)
    DIST.mkdir(parents=True, exist_ok=True)
    for package in sorted(source.parent.glob("libsqlite3-mod-ztensor_*.deb")):
        shutil.copy(package, DIST)
        print(f"{(DIST / package.name).relative_to(ROOT)}, {package.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(make)
