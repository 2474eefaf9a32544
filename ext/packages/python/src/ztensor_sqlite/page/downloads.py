"""Downloads of a table: all rows that pass its filters, as CSV or JSON. Rows are sent as they are read."""
import asyncio
import csv
import io
import json
import re

from datasette.utils.asgi import AsgiStream

from ..output import json_text

ROWS = 1000   # Are read and sent at a time


class Csv:
    """As RFC 4180 says, with a line of names. NULL is an empty field, a BLOB its hexadecimal digits."""

    type, end = "text/csv; charset=utf-8", ""

    def __init__(self, names):
        self.begin = self.text([names])

    def text(self, rows):
        made = io.StringIO()
        csv.writer(made).writerows([value.hex() if isinstance(value, bytes) else value for value in row] for row in rows)
        return made.getvalue()


class Json:
    """An array of objects."""

    type, begin, end = "application/json; charset=utf-8", "[", "\n]\n"

    def __init__(self, names):
        self.names, self.separator = [json.dumps(name) for name in names], "\n"

    def text(self, rows):
        made = []
        for row in rows:
            made.append(self.separator + "{" + ", ".join(f"{name}: {json_text(value)}" for name, value in zip(self.names, row)) + "}")
            self.separator = ",\n"
        return "".join(made)


FORMS = {"csv": Csv, "json": Json}


def response(database, table, form, name, headers):
    written = FORMS[form](table.names)
    file = re.sub("[^A-Za-z0-9._-]+", "_", name) + "." + form

    async def send(writer):
        loop = asyncio.get_running_loop()
        connection, cursor = await loop.run_in_executor(None, _begin, database, table)
        try:
            await writer.write(written.begin)
            while rows := await loop.run_in_executor(None, cursor.fetchmany, ROWS):
                await writer.write(written.text(rows))
            await writer.write(written.end)
        finally:
            await loop.run_in_executor(None, connection.close)

    return AsgiStream(send, headers={**headers, "Content-Disposition": f'attachment; filename="{file}"'}, content_type=written.type)


def _begin(database, table):
    connection = database.connect()   # Its own, which may take longer than a page
    connection.text_factory = lambda text: str(text, "utf-8", "replace")
    return connection, connection.execute(table.statement(table.names), table.bound)
