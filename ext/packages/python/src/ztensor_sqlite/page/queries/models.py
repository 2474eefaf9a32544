"""The list of models. A model in several files is one row."""
from ..tables import Column, Table


def models(connection, parameters):
    return {"title": "Models", "models": Table("models", [
        Column("path", "model", "path", link="model/{file}"), Column("container", "format"), Column("version"), Column("tensors", kind="number"),
        Column("parameters", kind="large"), Column("bytes", kind="bytes"), Column("parts", kind="number"), Column("missing"),
        Column("modified", kind="when"), Column("errors", kind="number"), Column("warnings", kind="number"), Column("file", hidden=True)], """
            SELECT w.path, w.container, w.version, w.objects AS tensors, w.parameters, w.size AS bytes, w.parts, w.missing, w.modified, w.file,
                   (SELECT nullif(count(*), 0) FROM finding WHERE file = w.file AND severity = 'error') AS errors,
                   (SELECT nullif(count(*), 0) FROM finding WHERE file = w.file AND severity = 'warning') AS warnings
            FROM whole_models AS w""", order="path", kept=True, main=True, empty="There are no models.")}
