"""The page: a plugin of Datasette that shows the catalogs among its databases, at /-/ztensor.

It reads tables and never loads the extension, so a visitor's request opens no tensor file. The pages have no scripts, and nothing in
them comes from other servers.
"""
import functools
import pathlib
import re
from urllib.parse import urlencode

import jinja2
from datasette import Response, hookimpl
from datasette.utils import tilde_decode, tilde_encode

from . import charts, words
from .queries import compare, duplicates, findings, model, models, overview, shared

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin", "X-Content-Type-Options": "nosniff"}


@functools.lru_cache(maxsize=None)
def environment():
    # Not in a directory named templates, which Datasette would take for ones that replace its own
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(HERE / "html"), autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(words.FILTERS)
    made.globals.update(bar=charts.bar, spark=charts.spark, histogram=charts.histogram, profile=charts.profile)
    return made


def render(template, **context):
    return Response.html(environment().get_template(template).render(context), headers=HEADERS)


def problem(message, status):
    return Response.html(environment().get_template("problem.html").render(message=message, title="Not found" if status == 404 else "Error"),
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
    """A page that shows the result of a catalog query. The query takes a connection, the numbers in the address, and the
    parameters. It gives None if there is no such thing."""
    async def answer(datasette, request):
        name = tilde_decode(request.url_vars["database"])
        if name not in await catalogs(datasette, request.actor):
            return problem("There is no such catalog here.", 404)
        named = {key: int(value) for key, value in request.url_vars.items() if key != "database"}
        parameters = Parameters(request)

        def ask(connection):
            return question(connection, parameters, **named), words.shorter(shared.roots(connection))

        context, short = await datasette.databases[name].execute_fn(ask)
        if context is None:
            return problem("The catalog has no such thing.", 404)
        base = datasette.urls.path(f"/-/ztensor/{tilde_encode(name)}")
        return render(template, base=base, catalog=name, datasette_url=datasette.urls.database(name), here=parameters, short=short, **context)
    return answer


class Parameters:
    """The parameters of the address, and addresses with other parameters."""

    def __init__(self, request):
        self.path, self.all = request.path, {key: request.args.get(key) for key in request.args}

    def text(self, key):
        return (self.all.get(key) or "").strip()

    def count(self, key, default=0):
        text = self.text(key)
        return int(text) if re.fullmatch("[0-9]{1,15}", text) else default

    def one_of(self, key, values):
        return self.text(key) if self.text(key) in values else values[0]

    def other(self, **changes):
        return self.path + "?" + urlencode({k: v for k, v in {**self.all, **changes}.items() if v not in (None, "")})


async def style(datasette, request):
    return Response((HERE / "page.css").read_text(), content_type="text/css; charset=utf-8", headers=HEADERS)


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
        (catalog + "/duplicates$", view("duplicates.html", duplicates.duplicates)),
        (catalog + "/copies$", view("copies.html", duplicates.copies)),
        (catalog + "/findings$", view("findings.html", findings.findings)),
        (catalog + "/suspects$", view("suspects.html", findings.suspects)),
        (catalog + "/unreadable$", view("unreadable.html", findings.unreadable)),
        (catalog + "/", nothing),
    ]


def warm(connection):
    """Run the slow queries of a large catalog before a visitor waits for them."""
    for question in (overview.whole, duplicates.whole):
        shared.remembered(connection, question)


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
