"""A cluster of one machine: two executors, each a Java process of its own with one core and 1 GB."""
import os
import signal
import sys
import threading
import time
from pathlib import Path

from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parents[2]
EXECUTORS = 2


def start():
    """A session whose workers find these tests' modules, and that talks to nobody but this machine."""
    os.environ.update(PYTHONPATH=str(Path(__file__).parent), PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1",
                      SPARK_LOCAL_HOSTNAME="localhost", PYTHONDONTWRITEBYTECODE="1")
    builder = SparkSession.builder.master(f"local-cluster[{EXECUTORS},1,1024]").appName("ztensor")
    for name, value in {"spark.driver.memory": "1g", "spark.executor.memory": "1g", "spark.ui.enabled": "false",
                        "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4",
                        "spark.sql.warehouse.dir": "/nonexistent", "spark.log.level": "OFF"}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def executors(session):
    """The process ids of the executors."""
    application, found = session.sparkContext.applicationId, []
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            try:
                arguments = (directory / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue   # It has ended
            if b"org.apache.spark.executor.CoarseGrainedExecutorBackend" in arguments and application.encode() in arguments:
                found.append(int(directory.name))
    return found


class Killer(threading.Thread):
    """Kills an executor when so many tasks of the running stage are complete. `stage` is what that was then."""

    def __init__(self, session, complete):
        super().__init__(daemon=True)
        self.session, self.complete, self.stage, self.stopped = session, complete, None, False

    def run(self):
        tracker = self.session.sparkContext.statusTracker()
        while not self.stopped:
            for stage in tracker.getActiveStageIds():
                info = tracker.getStageInfo(stage)
                if info and info.numCompletedTasks >= self.complete and info.numActiveTasks == EXECUTORS:
                    self.stage = info
                    os.kill(executors(self.session)[0], signal.SIGKILL)
                    return
            time.sleep(0.01)

    def __enter__(self):
        deadline = time.time() + 120
        while len(executors(self.session)) < EXECUTORS:   # One that was killed before is replaced
            assert time.time() < deadline, "there are no executors"
            time.sleep(0.1)
        self.start()
        return self

    def __exit__(self, *exception):
        self.stopped = True
        self.join()
