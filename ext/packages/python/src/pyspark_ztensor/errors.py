"""What ends a query, or one statement of it."""
import os


class ZtensorError(Exception):
    """Ends the query. The message is one line that says what is wrong and what is allowed."""

    def __init__(self, message):
        super().__init__(message)
        # Else Spark shows the worker's stack. The worker ends with the exception, so that nobody else has the variable.
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"


class StatementError(Exception):
    """Ends a statement: what the extension says of a file."""
