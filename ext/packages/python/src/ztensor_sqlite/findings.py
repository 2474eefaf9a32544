"""Findings about whole models and about values, beside those of zt_check, which are about single files.

A finding is (path, object, component, severity, rule, message), as a row of zt_check. RULES has the rules that are not in zt_rules.
"""
import collections
import json
import os

from . import models, naming
from .dtypes import LOGICAL
from .session import quote
from . import sql_path

# {rule: (severity, meaning)}. missing-shard is a rule of zt_rules, too, for zTensor 2
RULES = {
    "missing-shard": ("error", "every file that an index names, and every one of numbered files, is there"),
    "broken-index": ("error", "an index is JSON, and has a weight_map of names of files beside it"),
    "wrong-shard": ("error", "a tensor is in the file that the index names for it"),
    "not-in-shard": ("error", "a tensor that the index names is in one of the files"),
    "repeated-tensor": ("error", "a tensor is in one file of a model"),
    "not-in-index": ("warning", "the index names every tensor of the files"),
    "total-size": ("warning", "metadata.total_size of an index is the number of bytes of all tensors"),
    "absent-model": ("note", "a file that an index names is there, or no other model is in its folder"),
    "split-misnamed": ("error", "the keys split.no and split.count of a GGUF file are those in its name"),
    "split-tensors": ("error", "all files of a GGUF model have as many tensors as split.tensors.count states"),
    "split-unmarked": ("warning", "a GGUF file whose name has a number among others has the keys split.no and split.count"),
    "nan-values": ("error", "no element is NaN"),
    "infinite-values": ("warning", "no element is infinite"),
    "zero-values": ("warning", "not all elements of a matrix of floats are 0"),
    "zero-vector": ("note", "not all elements of a vector or of integers are 0"),
    "zero-lora-b": ("note", "LoRA's B matrices are 0 before training, and only then"),
}
# The findings of sql/splits.sql; those that have none here are found otherwise
SPLITS = {"misnamed": "split-misnamed", "tensors": "split-tensors", "unmarked": "split-unmarked"}
MOST = 100   # Tensors that one finding about an index names one by one


def _finding(path, name, rule, message, severity=None):
    return path, name, None, severity or RULES[rule][0], rule, message


# ---- Whole models

def of_models(session, found, indexes):
    """The findings about models that are more than one file, and about indexes: what models.survey() gives."""
    for path, index in indexes.items():
        if index.error:
            yield _finding(path, None, "broken-index", index.error)
        elif all(model.index != path for model in found):
            yield _finding(path, None, "absent-model", f"none of the {len(index.files(path))} files that it names is there")
    for model in found:
        index, place = indexes.get(model.index), model.index or (model.files or model.missing)[0]
        for path in model.missing:
            yield _finding(place, None, "missing-shard", f"there is no file '{os.path.basename(path)}'" + _counted_in(index, path))
        if len(model.files) > 1:
            yield from _repeated(session, model)
        if index:
            yield from _of_index(session, model, index)
        elif len(model.files) + len(model.missing) > 1 and place.endswith(".gguf"):
            yield from _of_splits(session, model)


def _counted_in(index, path):
    """How many tensors a missing file has, if an index tells."""
    if not index:
        return ""
    count = sum(shard == os.path.basename(path) for shard in index.tensors.values())
    return f", which has {count} tensor{'s' * (count != 1)} by the index"


def _repeated(session, model):
    rows = session.run("SELECT min(path), object, json_group_array(path) FROM (SELECT DISTINCT path, object"
                       f" FROM zt_objects({quote(model.source)}, 'skip')) GROUP BY object HAVING count(*) > 1 ORDER BY object")
    for path, name, paths in rows:
        yield _finding(path, name, "repeated-tensor", f"it is in {len(json.loads(paths))} files: {models.in_short(sorted(json.loads(paths)))}")


def _of_index(session, model, index):
    """Compare an index with its files. Tensors of a file that cannot be read are not missing: the file is what is wrong."""
    readable = {os.path.basename(path) for path, in session.run(f"SELECT path FROM zt_files({quote(model.source)}) WHERE error IS NULL")}
    found = collections.defaultdict(set)
    for path, name in session.run(f"SELECT path, object FROM zt_objects({quote(model.source)}, 'skip')"):
        found[name].add(os.path.basename(path))
    for name, shard in index.tensors.items():
        if name in found and shard not in found[name]:
            yield _finding(model.index, name, "wrong-shard", f"the index says '{shard}', and it is in '{min(found[name])}'")
        elif name not in found and shard in readable:
            yield _finding(model.index, name, "not-in-shard", f"the index says '{shard}', and no file has it")
    for name in sorted(found.keys() - index.tensors.keys()):
        yield _finding(model.index, name, "not-in-index", f"it is in '{min(found[name])}', and the index does not name it")
    if index.total_size is not None and len(readable) == len(model.files) and not model.missing:
        # Tensors that share their bytes, as tied weights of PyTorch do, count once
        total = session.value("SELECT coalesce(sum(length), 0) FROM (SELECT DISTINCT path, coalesce(offset, object || char(0) || component),"
                              f" decoded_length AS length FROM zt_components({quote(model.source)}, 'skip'))")
        if index.total_size != total:
            yield _finding(model.index, None, "total-size", f"metadata.total_size is {_short(index.total_size)}, and the tensors have {total} bytes")


def _short(value):
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:40] + "..."


def _of_splits(session, model):
    """The findings of sql/splits.sql about a model."""
    with open(os.path.join(sql_path(), "splits.sql"), encoding="utf-8") as file:
        lines = file.read().splitlines()
    script = "\n".join(line for line in lines if not line.startswith("--")).strip().rstrip(";")
    for finding, path, message in session.run(script.replace(":source", quote(json.dumps(model.files, ensure_ascii=False)))):
        if finding in SPLITS:
            yield _finding(path, None, SPLITS[finding], message)


# ---- Values

# What matters most comes first: NaN, infinities, matrices of zeros, then what may be meant
ORDER = ("nan-values", "infinite-values", "zero-values", "zero-vector", "zero-lora-b")

SUSPECTS = f"""SELECT s.path, s.object, s.elements, s.zeros, s.nans, s.infs, rank > 1 AND ({LOGICAL} GLOB '*f[0-9]*' OR format GLOB 'gguf.*')
FROM zt_objects({{source}}, 'skip') AS o JOIN zt_stats({{source}}, 'skip') AS s ON s.path = o.path AND s.object = o.object
WHERE s.error IS NULL AND {{condition}}"""


def of_values(session, source, condition="1"):
    """The findings about the values of a source's tensors, the worst first. Every byte is read. `condition` is SQL that selects tensors,
    with o.object as their name."""
    found, lora = [], collections.defaultdict(list)
    for path, name, elements, zeros, nans, infs, is_matrix in session.rows(SUSPECTS.format(source=quote(source), condition=condition)):
        if naming.is_lora_b(name):
            lora[path].append((name, elements, elements and zeros == elements))
        if nans:
            more = f", and {infs} infinite" if infs else ""
            found.append((nans / elements, _finding(path, name, "nan-values", _of(nans, elements, "NaN") + more)))
        elif infs:
            found.append((infs / elements, _finding(path, name, "infinite-values", _of(infs, elements, "infinite"))))
        elif elements and zeros == elements and not naming.is_lora_b(name):
            rule = "zero-values" if is_matrix else "zero-vector"
            found.append((elements, _finding(path, name, rule, _of(elements, elements, "0"))))
    found += [(0, finding) for path, matrices in lora.items() for finding in _of_lora(path, matrices)]
    return [finding for _, finding in sorted(found, key=lambda item: (ORDER.index(item[1][4]), item[1][3] == "note", -item[0]))]


def _of(count, elements, what):
    if count == elements:
        return f"all {elements} elements are {what}" if elements > 1 else f"the element is {what}"
    return f"{count} of {elements} elements {'are' if count != 1 else 'is'} {what}"


def _of_lora(path, matrices):
    """One line for an adapter that has not been trained; a line for each matrix that is 0 beside others that are not."""
    zero = [name for name, _, is_zero in matrices if is_zero]
    if zero and len(zero) == len(matrices):
        count = f"all {len(zero)} B matrices are" if len(zero) > 1 else "the B matrix is"
        yield _finding(path, zero[0] if len(zero) == 1 else None, "zero-lora-b", f"{count} 0 by design: an adapter that has not been trained")
    elif zero:
        for name in zero:
            others = len(matrices) - len(zero)
            yield _finding(path, name, "zero-lora-b", f"a B matrix is 0, while {others} others of this adapter have been trained", "warning")
