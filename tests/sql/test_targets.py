"""Objects and components that a function's arguments name: how a message leads to the right name."""
import pytest

import writer
from support import message, place

MANY = [f"part {i}" for i in range(17)]
FILE = writer.write({
    "many": {"shape": [1], "format": "acme", "components": {name: {"dtype": "u8", "bytes": b"x"} for name in MANY}},
    "none": {"shape": [1], "format": "acme", "components": {}}, "layer.weight": writer.dense(b"x"), "n" * 129: writer.dense(b"x"), "": writer.dense(b"x")})
FIRST = ", ".join(f"'{name}'" for name in MANY[:16])


@pytest.mark.parametrize("arguments, object, component, said", [
    ("'many'", "many", None, f"name one of its components: {FIRST}, ..."),
    ("'many', NULL", "many", None, f"name one of its components: {FIRST}, ..."),
    ("'many', 'scales'", "many", "scales", f"no such component; it has {FIRST}, ..."),
    ("'many', 'prt 16'", "many", "prt 16", "no such component; did you mean 'part 16'?"),
    ("'none'", "none", None, "it has no component"), ("'none', 'data'", "none", "data", "no such component; it has none"),
    ("'layer.weight', x'64617461'", "layer.weight", None, "the component's name must be TEXT, not a BLOB"),
    ("x'6d616e79'", None, None, "the object's name must be TEXT, not a BLOB"), ("7", "7", None, "no such object"),
    ("'LAYER.WEIGHT'", "LAYER.WEIGHT", None, "no such object; did you mean 'layer.weight'?"),
    (f"'{'n' * 128}'", "n" * 128, None, "no such object"), (f"'{'n' * 130}'", "n" * 130, None, "no such object")])
def test_a_name_that_is_none(db, arguments, object, component, said):
    assert message(db, f"SELECT zt_blob(?, {arguments})", FILE) == place(FILE, object, component) + said
