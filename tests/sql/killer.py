"""Commands that are killed at a random moment."""
import random
import signal
import subprocess
import time


class Killer:
    """Kills before, while or after a command does its work, which takes about so many seconds on a machine that is as busy as it was."""

    def __init__(self, seconds, seed=20241121):
        self.seconds, self.random = seconds, random.Random(seed)

    def run(self, command):
        """Runs the command until it ends, or its moment comes. How long it took, if it ended, is where the next moment may be; a machine
        that has become slower shall not make all kills early ones."""
        began = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        try:
            process.wait(self.random.uniform(0.1, 1.2) * self.seconds)
            self.seconds = time.monotonic() - began
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            self.seconds *= 1.03
