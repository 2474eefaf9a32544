"""Finds a tensor by its name, and names that are similar."""
import difflib

from . import models
from .session import Trouble, quote

MOST = 20000   # Names that are compared with one that is not there


def find(session, source, name):
    """(path, format, type, shape) of the only tensor of this name. If there is none, or more than one, the error says so."""
    model = source.model(session)
    skip = "" if model and len(model.files) == 1 else ", 'skip'"
    found = session.run(f"SELECT path, format, type, shape FROM zt_objects({source.sql}{skip}) WHERE object = {quote(name)} LIMIT 2")
    if not found:
        refuse(session, source, name, model)
    if len(found) > 1:
        raise Trouble(f"{source}: more than one tensor has the name '{name}', in {found[0][0]} and {found[1][0]}: name one file")
    return found[0]


def refuse(session, source, name, model=None):
    """Say that there is no such tensor, and which one may have been meant."""
    if model and len(model.files) == 1 and not model.missing:
        session.run(f"SELECT zt_dense({source.sql}, {quote(name)}, 'f32', 0, 0)")   # Its error says so
    names = [found for found, in session.run(f"SELECT DISTINCT object FROM zt_objects({source.sql}, 'skip') LIMIT {MOST}")]
    near = difflib.get_close_matches(name, names, 2)
    lacking = f"; {models.lacking(model)}" if model and model.missing else ""
    raise Trouble(f"{source}: there is no tensor '{name}'{lacking}" + (f"; did you mean {' or '.join(map(repr, near))}?" if near else ""))
