#!/bin/sh
# The extension in Python: its own sqlite3, and apsw from PyPI, which brings another SQLite. `python.sh suite` runs the whole
# SQL suite through apsw, too, `python.sh random` its random queries.
set -eu
cd "$(dirname "$0")/../.."

python=${PYTHON:-/usr/bin/python3}
env=build/hosts/apsw
extension=${ZTENSOR:-./ztensor}

if [ ! -e "$env/complete" ]; then
  rm -rf "$env"
  "$python" -m venv "$env"
  "$env/bin/python" -m pip -q --disable-pip-version-check install --only-binary :all: \
    apsw==3.54.1.0 numpy==2.2.6 pytest==8.4.2
  touch "$env/complete"
fi

export PYTHONDONTWRITEBYTECODE=1
"$python" tests/hosts/python/smoke_sqlite3.py "$extension"
"$env/bin/python" tests/hosts/python/smoke_apsw.py "$extension"
case ${1:-} in
  suite) tests=tests/sql ;;
  random) tests=tests/sql/test_random.py ;;
  *) exit 0 ;;
esac
PYTHONPATH="$PWD/tests/hosts/apsw" "$env/bin/python" -m pytest -q --tb=short "$tests"
