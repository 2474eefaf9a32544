"""Comparisons that visitors of the page ask for. They are made one after the other, each in a process of its own (comparer.py)."""
import json
import os
import subprocess
import sys
import threading

MOST = 64      # Comparisons that wait
KEPT = 256     # Failures that are remembered
SECONDS = 10   # A process may take to end, before it is killed

PROGRAM = "import sys; sys.path[:] = [path for path in sys.path if path] + [sys.argv.pop(1)]; from ztensor_sqlite.comparer import main; sys.exit(main())"


class Job:
    """A comparison: `state` is waiting, running, stopped or failed. `progress` has tensors, of_tensors, bytes and of_bytes."""

    def __init__(self, pair):
        self.pair, self.state, self.progress, self.error = pair, "waiting", None, None


class Seen:
    """The comparisons at the time before a page reads their results: one that has ended since is still under way on that page, which
    then loads itself again."""

    def __init__(self, comparisons, jobs):
        self.comparisons, self.jobs = comparisons, jobs

    def of(self, a, b):
        """The comparison of two models that is waiting or running, or has failed; or None."""
        return self.jobs.get((min(a, b), max(a, b)))

    def before(self, job):
        return self.comparisons.before(job)


class Comparisons:
    """Models are named by their first files. A pair is two of these numbers, the smaller one first. A finished comparison is forgotten
    here: its results are in the database."""

    def __init__(self, catalog, kept):
        self.paths = [os.path.abspath(catalog), os.path.abspath(kept)]
        self.jobs, self.change = {}, threading.Condition()
        self.process = self.thread = None
        self.is_closed = False

    def seen(self):
        with self.change:
            return Seen(self, dict(self.jobs))

    def before(self, job):
        """The number of comparisons that come before a waiting one."""
        with self.change:
            return [other for other in self.jobs.values() if other.state in ("waiting", "running")].index(job) if job.state == "waiting" else 0

    def ask(self, a, b):
        """Have two models compared, unless that is already to be done. Gives False if too many wait."""
        pair = min(a, b), max(a, b)
        with self.change:
            if pair in self.jobs and self.jobs[pair].state in ("waiting", "running"):
                return True
            if self.is_closed or sum(job.state == "waiting" for job in self.jobs.values()) >= MOST:
                return False
            self.jobs.pop(pair, None)
            self.jobs[pair] = Job(pair)
            if self.thread is None:
                self.thread = threading.Thread(target=self._work, daemon=True)
                self.thread.start()
            self.change.notify_all()
            return True

    def stop(self, a, b):
        """Stop a comparison that is waiting or running. Gives True, as ask() does if it could do its part."""
        with self.change:
            job = self.jobs.get((min(a, b), max(a, b)))
            if job and job.state in ("waiting", "running"):
                running, job.state = job.state == "running", "stopped"
                if running:
                    self._end(self.process)
                self.change.notify_all()
        return True

    def close(self):
        """Stop all, and wait for the process's end."""
        with self.change:
            self.is_closed = True
            for job in self.jobs.values():
                if job.state in ("waiting", "running"):
                    job.state = "stopped"
            if self.process:
                self._end(self.process)
            self.change.notify_all()
        if self.thread:
            self.thread.join(2 * SECONDS)

    @staticmethod
    def _end(process):
        """Let a process end: it ends with its stdin. If it does not in time, it is killed."""
        try:
            process.stdin.close()
        except OSError:
            pass
        timer = threading.Timer(SECONDS, process.kill)
        timer.daemon = True
        timer.start()

    def _work(self):
        while True:
            with self.change:
                self.change.wait_for(lambda: self.is_closed or any(job.state == "waiting" for job in self.jobs.values()))
                if self.is_closed:
                    return
                job = next(job for job in self.jobs.values() if job.state == "waiting")
                job.state = "running"
                try:
                    self.process = self._start(job)
                except OSError as error:
                    self._finish(job, f"its process cannot be started: {error.strerror}")
                    continue
            self._follow(job)

    def _start(self, job):
        package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        return subprocess.Popen([sys.executable, "-c", PROGRAM, package, *self.paths, *map(str, job.pair)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _follow(self, job):
        """Read what the process says, to its end."""
        error = ended = None
        with self.process.stdout as lines:
            for line in lines:
                said = json.loads(line)
                error, ended = said.get("error", error), said.get("ended", ended)
                if "tensors" in said:
                    job.progress = said
        status = self.process.wait()
        if not ended and not error:
            error = f"its process ended with status {status}"
        with self.change:
            self._finish(job, error)
            self.process = None

    def _finish(self, job, error):
        """Forget a comparison that succeeded. Remember one that failed or was stopped, as long as there are few."""
        if error is None:
            self.jobs.pop(job.pair, None)
            return
        if job.state == "running":
            job.state, job.error = "failed", error.encode("utf-8", "backslashreplace").decode()
        for pair in [pair for pair, other in self.jobs.items() if other.state in ("failed", "stopped")][:-KEPT]:
            del self.jobs[pair]
