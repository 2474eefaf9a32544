"""A script that is run by the Python of a virtual environment, which is not activated: the workers' Python would be another one."""
import json
import os
import subprocess
import sys

import pytest

SCRIPT = """
import json, sys
from pyspark.sql import SparkSession
import pyspark_ztensor

builder = SparkSession.builder.master("local[1]")
for name, value in {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.sql.warehouse.dir": "/nonexistent", **json.loads(sys.argv[2])}.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
def ask():
    try:
        return spark.read.format("ztensor").option("table", "objects").load(sys.argv[1]).count()
    except Exception as error:
        return str(error)
before = ask()
pyspark_ztensor.register(spark)
print("answer", json.dumps([before, ask(), spark.sparkContext.pythonExec]))
"""


@pytest.mark.parametrize("configuration", [{}, {"spark.pyspark.python": sys.executable}])
def test_one_line_registers_it(files, configuration):
    variables = {name: value for name, value in os.environ.items() if name not in ("PYSPARK_PYTHON", "PYTHONPATH", "VIRTUAL_ENV", "PYSPARK_GATEWAY_PORT",
                 "PYSPARK_GATEWAY_SECRET", "SPARK_HIDE_TRACEBACK")}
    variables |= {"PATH": "/usr/bin:/bin", "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", SCRIPT, files / "a.zt", json.dumps(configuration)], capture_output=True, text=True, env=variables, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("answer ")]
    before, after, python = json.loads(line.removeprefix("answer "))
    assert after == 15 and python == sys.executable
    assert "DATA_SOURCE_NOT_FOUND" in before   # Spark looks for data sources with the Python of PYSPARK_PYTHON or PATH alone
