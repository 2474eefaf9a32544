#!/bin/sh
# The data source of ext/packages/python in a Spark cluster of this machine: `make test-spark`. Arguments go to pytest.
# PyPI's packages stay in build/spark, so that only the first run downloads.
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
  $env/bin/python -m pip -q --disable-pip-version-check install wheel==0.48.0
  $env/bin/python -m pip -q --disable-pip-version-check install --only-binary :all: --no-binary pyspark --no-build-isolation -r $tests/requirements.txt
  cp $tests/requirements.txt $env/complete
fi
export PYTHONDONTWRITEBYTECODE=1
$env/bin/python -m pytest -q "${@:-$tests}"
