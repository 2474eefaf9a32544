#!/bin/sh
# Has the format's own libraries write files, one release of each generation from PyPI in a virtual environment of its own,
# and reads them with the extension. The environments stay in build/interop, so that only the first run downloads.
set -eu
cd "$(dirname "$0")/../.."

tests=tests/interop
build=build/interop

# environment VERSION: make $build/VERSION with that release and a numpy that all of them work with. Not every Python has
# wheels of each; the first that has them will do.
environment() {
  env=$build/$1
  [ -e "$env/complete" ] && return
  for python in python3 /usr/bin/python3; do
    rm -rf "$env"
    if "$python" -m venv "$env" &&
       "$env/bin/python" -m pip -q --disable-pip-version-check install --only-binary :all: "ztensor==$1" numpy==2.2.6 ml_dtypes==0.5.1; then
      touch "$env/complete"
      echo "interop: ztensor $1 for $("$env/bin/python" -V)"
      return
    fi
  done
  echo "interop: no Python here can install ztensor $1" >&2
  exit 1
}

# write VERSION SCRIPT ARGUMENT...: files written by that release, each with a record of what was handed to it.
write() {
  environment "$1"
  version=$1 script=$2
  shift 2
  mkdir -p "$build/files/$version"
  "$build/$version/bin/python" "$tests/$script" "$build/files/$version" "$@"
}

rm -rf "$build/files"
write 0.1.4 write_0_1.py
write 1.0.1 write_1_0.py 1.0
write 1.1.1 write_1_0.py 1.1
write 1.2.3 write_1_2.py

"${PYTHON:-/usr/bin/python3}" -m pytest -q -p no:cacheprovider "$tests"
