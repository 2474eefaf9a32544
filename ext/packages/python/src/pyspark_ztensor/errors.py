"""Failures that end a query, or one statement of it."""
import os


class ZtensorError(Exception):
    """Ends the query. The message is one line with the fault and the allowed values."""

    def __init__(self, message):
        super().__init__(message)
        # Else Spark shows the worker's stack. The worker ends with the exception, so that nobody else has the variable.
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"


class StatementError(Exception):
    """Ends a statement. The message is the extension's error about a file."""
