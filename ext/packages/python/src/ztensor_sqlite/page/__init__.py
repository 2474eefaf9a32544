"""The page: a plugin of Datasette that shows the catalogs among its databases, at /-/ztensor.

It reads tables and never loads the extension, so a visitor's request opens no tensor file. The pages have no scripts, and nothing in
them comes from other servers.
"""
import functools
import hmac
import pathlib
import sqlite3
from urllib.parse import parse_qsl, urlencode

import jinja2
from datasette import Response, hookimpl
from datasette.utils import sqlite_timelimit, tilde_decode, tilde_encode

from . import charts, downloads, filters, words
from .address import Parameters
from .queries import compare, duplicates, findings, model, models, overview, search, shared
from .tables import Table

LONGEST = 60   # Seconds that a page may take
HERE = pathlib.Path(__file__).resolve().parent
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff"}


@functools.lru_cache(maxsize=None)
def environment():
    # Not in a directory named templates, which Datasette would take for ones that replace its own
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "html"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(words.FILTERS)
    made.globals.update(bar=charts.bar, spark=charts.spark, histogram=charts.histogram, heat=charts.heat, curve=charts.curve, running=compare.running, startable=compare.startable, seen=compare.seen, filter_help=filters.HELP)
    return made


def render(template, **context):
    return Response.html(environment().get_template(template).render(context), headers=HEADERS)


def problem(message, status):
    return Response.html(environment().get_template("problem.html").render(message=message, title="Not found" if status == 404 else "No answer" if status == 503 else "Error"),
                         status=status, headers=HEADERS)


async def catalogs(datasette, actor):
    """The names of catalogs that have the tables of the page and that this visitor may see."""
    found = []
    for name, database in datasette.databases.items():
        if name != "_internal" and await may_see(datasette, actor, name) and await database.execute_fn(shared.is_catalog):
            found.append(name)
    return found


async def may_see(datasette, actor, name):
    return await datasette.permission_allowed(actor, "view-instance", default=True) and \
        await datasette.permission_allowed(actor, "view-database", resource=name, default=True)


async def index(datasette, request):
    names = await catalogs(datasette, request.actor)
    if len(names) == 1:
        return Response.redirect(datasette.urls.path(f"/-/ztensor/{tilde_encode(names[0])}"))
    return render("index.html", title="Catalogs", base=datasette.urls.path("/-/ztensor"), catalogs=[(n, tilde_encode(n)) for n in names])


def view(template, question):
    """A page that shows the result of a catalog query, or the download of one of its tables. The query takes a connection, the parameters,
    and the numbers in the address. It gives None if there is no such thing."""
    async def answer(datasette, request):
        name = tilde_decode(request.url_vars["database"])
        if name not in await catalogs(datasette, request.actor):
            return problem("There is no such catalog here.", 404)
        named = {key: int(value) for key, value in request.url_vars.items() if key != "database"}
        parameters = Parameters(request.path, ((key, request.args.get(key)) for key in request.args))
        form = parameters.text("as")

        def ask(connection):
            with sqlite_timelimit(connection, 1000 * LONGEST):
                context = question(connection, parameters, **named)
                tables = tables_of(context, parameters)
                if not form:
                    for table in tables.values():
                        table.read(connection)
                return context, tables, shared.roots(connection)

        work = comparisons(datasette, name)
        work = work and work.seen()
        try:
            context, tables, roots = await datasette.databases[name].execute_fn(ask)
        except sqlite3.OperationalError as error:
            if "interrupted" not in str(error):
                raise
            return problem(f"The catalog gave no answer within {LONGEST} seconds. A narrower filter may be faster.", 503)
        table = tables.get(parameters.text("table"))
        if context is None or form and (table is None or form not in downloads.FORMS):
            return problem("The catalog has no such thing.", 404)
        if form:
            return downloads.response(datasette.databases[name], table, form, f"{name}-{table.name}", HEADERS)
        base = datasette.urls.path(f"/-/ztensor/{tilde_encode(name)}")
        return render(template, base=base, catalog=name, datasette_url=datasette.urls.database(name), here=parameters, short=words.shorter(roots),
                      work=work, token=request.scope.get("csrftoken"),
                      collection=datasette.metadata("title", database=name, fallback=False) or words.collection(roots) or name, **context)
    return answer


def comparisons(datasette, name):
    """The comparisons that can be asked for; None in a Datasette that the command `serve` has not made."""
    return getattr(datasette, "ztensor_comparisons", {}).get(name)


def compare_form(act):
    """The answer to a form of the page of two models: it lets `act` do something with each pair of the base and a model, and leads to the
    page. A form that only leads there is asked for with GET."""
    async def answer(datasette, request):
        name = tilde_decode(request.url_vars["database"])
        work = comparisons(datasette, name)
        if name not in await catalogs(datasette, request.actor):
            return problem("There is no such catalog here.", 404)
        asked = request.query_string if request.method == "GET" else (await request.post_body()).decode("utf-8", "replace")
        fields = dict(parse_qsl(asked))
        numbers = compare.numbers(",".join([fields.get("a", ""), *(value for key, value in parse_qsl(asked) if key == "b")]), compare.MOST + 1)
        found = await datasette.databases[name].execute_fn(lambda connection: compare.known(connection, numbers))
        if not found:
            return problem("The catalog has no such models.", 404)
        if request.method != "GET":
            if work is None:
                return problem("Only the command ztensor-sql serve compares models.", 404)
            # Datasette lets forms without any cookie pass
            if not hmac.compare_digest(fields.get("csrftoken", "").encode(), request.scope["csrftoken"]().encode()):
                return problem("This form is not from this page, or too old: go back and load the page again.", 403)
            if not all([act(work, found[0], other) for other in found[1:]]):
                return problem("Too many comparisons are waiting. Try again when some are done.", 503)
        query = urlencode({"a": found[0], "b": ",".join(map(str, found[1:]))})
        return Response.redirect(datasette.urls.path(f"/-/ztensor/{tilde_encode(name)}/compare?{query}"), status=303)
    return answer


start_comparisons = compare_form(lambda work, base, other: work.ask(base, other))
stop_comparisons = compare_form(lambda work, base, other: work.stop(base, other))


def tables_of(context, parameters):
    """The tables of a page, as its address asks for them."""
    tables = {key: value for key, value in (context or {}).items() if isinstance(value, Table)}
    for key, table in tables.items():
        table.ask(key, parameters)
    return tables


async def style(datasette, request):
    return Response("".join((HERE / name).read_text() for name in ("page.css", "charts.css")), content_type="text/css; charset=utf-8", headers=HEADERS)


async def nothing(datasette, request):
    return problem("There is no such page.", 404)


@hookimpl
def register_routes():
    catalog = "^/-/ztensor/(?P<database>[^/]+)"
    return [
        (r"^/-/ztensor\.css$", style),
        ("^/-/ztensor/?$", index),
        (catalog + "/?$", view("overview.html", overview.overview)),
        (catalog + "/models$", view("models.html", models.models)),
        (catalog + "/model/(?P<file>[0-9]{1,15})$", view("model.html", model.model)),
        (catalog + "/model/(?P<file>[0-9]{1,15})/(?P<name>[0-9]{1,15})$", view("tensor.html", model.tensor)),
        (catalog + "/compare$", view("compare.html", compare.compare)),
        (catalog + "/compare/start$", start_comparisons),
        (catalog + "/compare/stop$", stop_comparisons),
        (catalog + "/duplicates$", view("duplicates.html", duplicates.duplicates)),
        (catalog + "/copies$", view("copies.html", duplicates.copies)),
        (catalog + "/findings$", view("findings.html", findings.findings)),
        (catalog + "/suspects$", view("suspects.html", findings.suspects)),
        (catalog + "/tensors$", view("tensors.html", search.tensors)),
        (catalog + "/unsupported$", view("unsupported.html", findings.unsupported)),
        (catalog + "/unreadable$", view("unreadable.html", findings.unreadable)),
        (catalog + "/", nothing),
    ]


def warm(connection):
    """Run the slow queries of a large catalog before a visitor waits for them."""
    for question in (overview.overview, models.models, duplicates.duplicates, findings.suspects):
        for table in tables_of(question(connection, Parameters()), Parameters()).values():
            if table.kept:
                table.read(connection)


@hookimpl
def startup(datasette):
    async def ready():
        for name, database in datasette.databases.items():
            if name != "_internal" and await database.execute_fn(shared.is_catalog):
                await database.execute_fn(warm)
    return ready


@hookimpl
def menu_links(datasette, actor):
    async def links():
        return [{"href": datasette.urls.path("/-/ztensor"), "label": "Tensor files"}] if await catalogs(datasette, actor) else []
    return links
