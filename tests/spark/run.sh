#!/bin/sh
# The data source of ext/packages/python in a Spark cluster of this machine: `make test-spark`. Arguments go to pytest.
# PyPI's packages stay in build/spark, so that only the first run downloads; ztensor's own is installed
# each time, with the library that make built.
set -eu
cd "$(dirname "$0")/../.."

tests=tests/spark
env=build/spark
PYTHON=${PYTHON:-/usr/bin/python3}

PYTHON="$PYTHON" sh tests/deps.sh spark
if ! cmp -s $tests/requirements.txt $env/complete; then
  rm -rf $env
  "$PYTHON" -m venv $env
  # Of pyspark there is no wheel
  $env/bin/python -m pip -q --disable-pip-version-check install --only-binary :all: --no-binary pyspark -r $tests/requirements.txt
  cp $tests/requirements.txt $env/complete
fi
$env/bin/python -m pip -q --disable-pip-version-check install --no-deps --force-reinstall ext/packages/python
export PYTHONDONTWRITEBYTECODE=1
$env/bin/python -m pytest -q "${@:-$tests}"
