"""The scripts of sql/ that write tensor files: convert, migrate_files, slim, licence. They run in the sqlite3 shell, as users run them."""
import json
import os
import shutil

import pytest

import catalogs
from support import EXTENSION, ROOT, open_connection, rows

SQL = ROOT / "sql"
GOLDEN = ROOT / "tests" / "formats" / "ztensor" / "golden"
CONVERTED = ROOT / "tests" / "formats" / "gguf" / "converted"
CHECKPOINT = ROOT / "tests" / "formats" / "pytorch" / "checkpoints" / "baseline" / "epoch-1.pt"
ZSTD = GOLDEN / "v1.2" / "wheel_zstd.zt"
CSR = GOLDEN / "v1.1" / "wheel_csr.zt"
MODEL = CONVERTED / "model.zt"
EXTRA = ROOT / "tests" / "formats" / "ztensor" / "hostile" / "1.2-ok-extra-role.zt"


def run(script, cwd, **parameters):
    """The script's rows, its errors and its code, run in that folder with these parameters."""
    text = [catalogs.parameter(str(text)).replace(":source", f":{name}", 1) for name, text in parameters.items()]
    done = catalogs.shell(":memory:", f".load {EXTENSION} sqlite3_ztensor_write_init", *text, ".mode json", f".read {SQL}/{script}", cwd=cwd)
    return json.loads(done.out) if done.out else [], done.err, done.code


def ask(sql, *arguments):
    db = open_connection()
    try:
        return rows(db, sql, *map(str, arguments))
    finally:
        db.close()


def fingerprint(path):
    ((print_,),) = ask("SELECT zt_fingerprint(?)", path)
    return print_


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


# ------------------------------------------------------------------------------------------------------- convert

def test_one_file_is_converted_beside_the_old_one(tmp_path):
    shutil.copy(CONVERTED / "model.zt", tmp_path / "model.1.zt")
    found, err, code = run("convert.sql", tmp_path, source="model.1.zt", format="safetensors")
    assert (found, err, code) == ([{"path": "model.1.zt", "target": "model.1.safetensors", "same": 1, "error": None}], "", 0)
    assert ask("SELECT container, objects FROM zt_files(?)", tmp_path / "model.1.safetensors") == [("safetensors", 3)]
    assert names(tmp_path) == ["convert.tmp.sql", "model.1.safetensors", "model.1.zt"]


def test_a_folder_is_converted_and_what_cannot_be_is_named(tmp_path):
    models = tmp_path / "models"
    (models / "deep").mkdir(parents=True)
    shutil.copy(MODEL, models / "deep" / "a.zt")
    shutil.copy(GOLDEN / "v1.1" / "hand_quantized.zt", models / "b.zt")
    (models / "broken.zt").write_bytes(b"ZTEN1000")
    found, err, code = run("convert.sql", tmp_path, source="models", format="npz")
    assert [(row["path"], row["target"], row["same"]) for row in found] == [
        ("models/b.zt", "models/b.npz", None), ("models/broken.zt", "models/broken.npz", None), ("models/deep/a.zt", "models/deep/a.npz", 1)]
    assert found[1]["error"].startswith("ztensor: models/broken.zt: ")
    assert "ztensor: models/b.npz: object" in err and "npz cannot hold quantized_group; format='dense' of zt_writer writes it dense" in err and code == 1
    assert names(models) == ["b.zt", "broken.zt", "deep/a.npz", "deep/a.zt"]
    assert fingerprint(models / "deep" / "a.npz") == fingerprint(MODEL)


def test_attributes_come_along_and_stay_behind_where_a_parameter_says_so(tmp_path):
    shutil.copy(GOLDEN / "v1.2" / "hand_attributes_simple.zt", tmp_path / "a.zt")
    of = "SELECT key, value, type FROM zt_attributes(?) WHERE object IS NULL ORDER BY key"
    assert len(ask(of, tmp_path / "a.zt")) > 1
    found, err, code = run("convert.sql", tmp_path, source="a.zt", format="npz")
    assert "ztensor: a.npz: " in err and code == 1 and found[0]["same"] is None and names(tmp_path) == ["a.zt", "convert.tmp.sql"]
    found, err, code = run("convert.sql", tmp_path, source="a.zt", format="npz", drop="attributes")
    assert (found[0]["same"], err, code) == (1, "", 0)
    os.mkdir(tmp_path / "new")
    found, err, code = run("convert.sql", tmp_path, source="a.zt", folder="new")
    assert (found, err, code) == ([{"path": "a.zt", "target": "new/a.zt", "same": 1, "error": None}], "", 0)
    assert ask(of, tmp_path / "new" / "a.zt") == ask(of, tmp_path / "a.zt")


def test_a_component_that_no_dense_tensor_has(tmp_path):
    shutil.copy(EXTRA, tmp_path / "model.zt")
    before = (tmp_path / "model.zt").read_bytes()
    error = "object 'w': its layout has no component 'mask', which the new one would lack; format='dense' of zt_writer leaves it out"
    for script, parameters in (("convert.sql", {"format": "safetensors"}), ("migrate_files.sql", {})):
        _, err, _ = run(script, tmp_path, source="model.zt", **parameters)
        assert error in err and (tmp_path / "model.zt").read_bytes() == before
    found, err, code = run("convert.sql", tmp_path, source="model.zt", format="safetensors", dense="1")
    assert (found, err, code) == ([{"path": "model.zt", "target": "model.safetensors", "same": 1, "error": None}], "", 0)


def test_blocks_of_ggml_become_dense(tmp_path):
    shutil.copy(CONVERTED / "model.gguf", tmp_path)
    found, err, code = run("convert.sql", tmp_path, source="model.gguf", format="npz", dense="1", dtype="f16", drop="attributes")
    assert (found[0]["same"], err, code) == (0, "", 0)
    assert ask("SELECT object, format, dtype FROM zt_objects(?) ORDER BY 1", tmp_path / "model.npz") == [
        ("blk.0.up.weight", "dense", "f16"), ("embed.weight", "dense", "f16"), ("norm.weight", "dense", "f32")]
    assert ask("SELECT zt_dense(?1, 'embed.weight', 'f16')", tmp_path / "model.npz") == ask(
        "SELECT zt_dense(?1, 'embed.weight', 'f16')", tmp_path / "model.gguf")


def test_a_file_that_is_there_stays(tmp_path):
    shutil.copy(CONVERTED / "model.zt", tmp_path)
    tmp_path.joinpath("model.safetensors").write_bytes(b"mine")
    found, err, code = run("convert.sql", tmp_path, source="model.zt", format="safetensors")
    assert "ztensor: model.safetensors: there is a file already" in err and code == 1 and found[0]["same"] is None
    assert tmp_path.joinpath("model.safetensors").read_bytes() == b"mine"
    before = tmp_path.joinpath("model.zt").read_bytes()
    itself = {"path": "model.zt", "target": "model.zt", "same": None, "error": "not written: its new name is its own; :folder names another folder"}
    assert run("convert.sql", tmp_path, source="model.zt") == ([itself], "", 0)
    assert tmp_path.joinpath("model.zt").read_bytes() == before


HARD_NAMES = ["it's.zt", 'a "b" %d %s.zt', "a\n.shell touch pwned\n.zt", "a');DROP TABLE x;--.zt", "$old #.zt"]


@pytest.mark.parametrize("name", HARD_NAMES)
def test_a_name_is_never_a_statement(tmp_path, name):
    models = tmp_path / "models"
    models.mkdir()
    tmp_path.joinpath("new").mkdir()
    shutil.copy(CSR, models / name)
    found, err, code = run("convert.sql", tmp_path, source="models", format="ztensor-1.2", folder="new")
    assert ([row["same"] for row in found], err, code) == ([1], "", 0)
    assert names(tmp_path) == sorted(["convert.tmp.sql", f"models/{name}", f"new/{name}"])
    found, err, code = run("migrate_files.sql", tmp_path, source="models")
    assert ([(row["path"], row["version"], row["same"]) for row in found], err, code) == ([(f"models/{name}", "2", 1)], "", 0)
    assert names(tmp_path) == sorted(["convert.tmp.sql", f"models/{name}", f"new/{name}"])


# ------------------------------------------------------------------------------------------------- migrate_files

OLD = sorted(path for path in GOLDEN.glob("v[01]*/*.zt"))


def test_old_generations_become_zTensor_2_and_the_others_stay_as_they_are(tmp_path):
    """All golden files of 0.1 to 1.2: each is either migrated, with its tensors and attributes, or the very bytes that it was."""
    models = tmp_path / "models"
    for path in OLD:
        (models / path.parent.name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, models / path.parent.name)
    found, _, code = run("migrate_files.sql", tmp_path, source="models")
    assert len(found) == len(OLD) > 70 and code == 1   # Some cannot be
    migrated = 0
    for row in found:
        old, new = GOLDEN / row["path"].removeprefix("models/"), tmp_path / row["path"]
        if row["version"] == row["old_version"]:
            assert new.read_bytes() == old.read_bytes()
            continue
        assert (row["version"], row["same"], row["error"]) == ("2", 1, None)
        assert fingerprint(new) == fingerprint(old) is not None
        assert ask("SELECT count(*) FROM zt_check(?, 'full') WHERE severity = 'error'", new) == [(0,)]
        scalar = "SELECT object, key, value, type FROM zt_attributes(?) WHERE type NOT IN ('array', 'object') ORDER BY 1, 2"
        assert ask(scalar, new) == ask(scalar, old)
        migrated += 1
    assert migrated > 40
    assert names(tmp_path) == sorted(f"models/{path.parent.name}/{path.name}" for path in OLD)   # Nothing is left


def test_tensors_that_were_compressed_stay_compressed(tmp_path):
    encodings = set()
    for path in (ZSTD, GOLDEN / "v1.1" / "wheel_csr.zt"):
        shutil.copy(path, tmp_path)
        before = dict(ask("SELECT object, encoding FROM zt_components(?)", path))
        found, err, code = run("migrate_files.sql", tmp_path, source=path.name)
        assert ([row["version"] for row in found], err, code) == (["2"], "", 0)
        after = dict(ask("SELECT object, encoding FROM zt_components(?)", tmp_path / path.name))
        assert after == {name: "raw" if encoding == "raw" else "zt.zstd-seekable/1" for name, encoding in before.items()}
        encodings |= {*before.values()}
    assert encodings == {"raw", "zstd"}


def test_a_file_whose_digest_is_wrong_stays_although_its_copy_before_was_right(tmp_path):
    """The copy of the file before is still there when that of the second one fails."""
    first, second = tmp_path / "a.zt", tmp_path / "b.zt"
    shutil.copy(ZSTD, first)
    shutil.copy(GOLDEN / "v1.1" / "hand_digests.zt", second)
    broken = second.read_bytes()
    found, err, code = run("migrate_files.sql", tmp_path, source=str(tmp_path))
    assert [(row["version"], row["same"]) for row in found] == [("2", 1), ("1.1.0", 1)]
    assert "its bytes do not have its digest" in err and code == 1 and second.read_bytes() == broken


def test_newer_files_and_other_formats_are_left_alone(tmp_path):
    shutil.copy(GOLDEN / "v2" / "wheel_zstd.zt", tmp_path)
    shutil.copy(CONVERTED / "model.safetensors", tmp_path)
    assert run("migrate_files.sql", tmp_path, source=str(tmp_path)) == ([], "", 0)
    assert names(tmp_path) == ["model.safetensors", "wheel_zstd.zt"]
    assert (tmp_path / "wheel_zstd.zt").read_bytes() == (GOLDEN / "v2" / "wheel_zstd.zt").read_bytes()


# ---------------------------------------------------------------------------------------------------------- slim

def test_a_checkpoint_without_its_optimizer_in_bf16(tmp_path):
    found, err, code = run("slim.sql", tmp_path, source=CHECKPOINT, target="model.zt")
    assert (found, err, code) == ([{"path": str(CHECKPOINT), "tensors": 8, "elements": 22, "bytes": 88},
                                   {"path": "model.zt", "tensors": 4, "elements": 11, "bytes": 22}], "", 0)
    model = tmp_path / "model.zt"
    assert ask("SELECT DISTINCT dtype FROM zt_objects(?)", model) == [("bf16",)]
    for (name,) in ask("SELECT object FROM zt_objects(?)", model):
        assert ask("SELECT zt_dense(?, ?, 'bf16')", model, name) == ask("SELECT zt_dense(?, ?, 'bf16')", CHECKPOINT, name)
    kept = "SELECT key, value FROM zt_attributes(?) WHERE object IS NULL AND key NOT GLOB 'optim*' ORDER BY key"
    assert ask(kept, model) == ask(kept, CHECKPOINT) != []
    assert ask("SELECT count(*) FROM zt_attributes(?) WHERE key GLOB 'optim*'", model) == [(0,)]


def test_what_is_left_out_and_the_type_are_parameters(tmp_path):
    _, err, code = run("slim.sql", tmp_path, source=CHECKPOINT, target="model.safetensors", drop="*.bias", dtype="f16")
    assert (err, code) == ("", 0)
    assert ask("SELECT count(*), min(dtype), max(dtype) FROM zt_objects(?)", tmp_path / "model.safetensors") == ask(
        "SELECT count(*), 'f16', 'f16' FROM zt_objects(?) WHERE object NOT GLOB '*.bias'", CHECKPOINT)
    found, err, code = run("slim.sql", tmp_path, source=CHECKPOINT, target="model.safetensors")
    assert found == [] and "there is a file already" in err and code != 0


# ------------------------------------------------------------------------------------------------------- licence

def test_a_licence_and_digests_are_added_and_nothing_else_changes(tmp_path):
    for name, digest in (("v1.2/wheel_zstd.zt", "sha256"), ("v2/wheel_zstd.zt", "xxh3")):
        path = tmp_path / "m.zt"
        shutil.copy(GOLDEN / name, path)
        before = ask("SELECT object, format, shape, fingerprint FROM zt_objects(?) ORDER BY 1", path)
        found, err, code = run("licence.sql", tmp_path, file="m.zt", licence="Apache-2.0", digest=digest)
        assert (found, err, code) == ([{"key": "license", "value": "Apache-2.0", "digests": len(before)}], "", 0)
        assert ask("SELECT object, format, shape, fingerprint FROM zt_objects(?) ORDER BY 1", path) == before
        assert ask("SELECT DISTINCT digest_algorithm, digest_status FROM zt_components(?)", path) == [(digest, "ok")]
        found, err, code = run("licence.sql", tmp_path, file="m.zt", licence="MIT", link="https://example.org/mit")
        assert (found, err, code) == ([{"key": "license", "value": "MIT", "digests": len(before)},
                                       {"key": "license.link", "value": "https://example.org/mit", "digests": len(before)}], "", 0)


def test_a_licence_of_gguf_has_the_key_of_gguf(tmp_path):
    shutil.copy(CONVERTED / "model.gguf", tmp_path)
    before = ask("SELECT key, value, stored_type FROM zt_attributes(?) WHERE object IS NULL", tmp_path / "model.gguf")
    found, err, code = run("licence.sql", tmp_path, file="model.gguf", licence="MIT")
    assert (found, err, code) == ([{"key": "general.license", "value": "MIT", "digests": 0}], "", 0)
    after = ask("SELECT key, value, stored_type FROM zt_attributes(?) WHERE object IS NULL", tmp_path / "model.gguf")
    assert sorted(after) == sorted([row for row in before if row[0] != "general.license"] + [("general.license", "MIT", "str")])
    assert fingerprint(tmp_path / "model.gguf") == fingerprint(CONVERTED / "model.gguf")


def test_a_digest_that_the_format_cannot_hold_changes_nothing(tmp_path):
    shutil.copy(CONVERTED / "model.safetensors", tmp_path)
    found, err, code = run("licence.sql", tmp_path, file="model.safetensors", licence="MIT", digest="sha256")
    assert found == [] and "ztensor: model.safetensors: " in err and code != 0
    assert (tmp_path / "model.safetensors").read_bytes() == (CONVERTED / "model.safetensors").read_bytes()
    found, err, code = run("licence.sql", tmp_path, file="model.safetensors", licence="MIT")
    assert (found, err, code) == ([{"key": "license", "value": "MIT", "digests": 0}], "", 0)


# --------------------------------------------------------------------------------------------------- all of them

@pytest.mark.parametrize("script, parameters", [
    ("convert.sql", {"source": "model.zt", "format": "safetensors"}), ("migrate_files.sql", {"source": "model.zt"}),
    ("slim.sql", {"source": "model.zt", "target": "new.zt"}), ("licence.sql", {"file": "model.zt", "licence": "MIT"})])
def test_nothing_runs_if_the_statements_cannot_be_written(tmp_path, script, parameters):
    """A file that an earlier run left there would run instead."""
    shutil.copy(CSR, tmp_path / "model.zt")
    statements = tmp_path / script.replace(".sql", ".tmp.sql")
    statements.mkdir()
    found, err, code = run(script, tmp_path, **parameters)
    assert found == [] and "NOT NULL constraint failed" in err and code != 0 and len(err.splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["model.zt", statements.name])
    assert (tmp_path / "model.zt").read_bytes() == CSR.read_bytes()


@pytest.mark.parametrize("script, parameters, said", [
    ("convert.sql", {}, "the parameter :source is set"), ("migrate_files.sql", {}, "the parameter :source is set"),
    ("slim.sql", {}, "the parameters :source and :target are set"),
    ("slim.sql", {"source": "model.zt"}, "the parameters :source and :target are set"),
    ("slim.sql", {"target": "new.zt"}, "the parameters :source and :target are set"), ("licence.sql", {}, "the parameter :file is one file"),
    ("licence.sql", {"file": "nothing*.zt", "digest": "crc32c"}, "the parameter :file is one file"),
    ("licence.sql", {"file": ".", "licence": "MIT"}, "the parameter :file is one file")])
def test_a_parameter_that_is_missing_is_named_and_nothing_of_an_earlier_run_runs(tmp_path, script, parameters, said):
    for name in ("model.zt", "other.zt"):
        shutil.copy(ZSTD, tmp_path / name)
    _, err, code = run("licence.sql", tmp_path, file="model.zt", digest="sha256")
    assert (err, code) == ("", 0)
    before = {name: (tmp_path / name).read_bytes() for name in names(tmp_path)}
    assert sorted(before) == ["licence.tmp.sql", "model.zt", "other.zt"]
    found, err, code = run(script, tmp_path, **parameters)
    assert found == [] and f"CHECK constraint failed: {said}" in err and code != 0 and len(err.splitlines()) == 1
    assert {name: (tmp_path / name).read_bytes() for name in names(tmp_path)} == before


def test_a_file_that_cannot_be_read_is_in_the_result_of_a_migration(tmp_path):
    shutil.copy(CSR, tmp_path / "a.zt")
    tmp_path.joinpath("cut.zt").write_bytes(CSR.read_bytes()[:100])
    found, err, code = run("migrate_files.sql", tmp_path, source=str(tmp_path))
    assert [(os.path.basename(row["path"]), row["old_version"], row["version"], row["same"]) for row in found] == [
        ("a.zt", "1.1.0", "2", 1), ("cut.zt", None, None, None)]
    assert found[0]["error"] is None and found[1]["error"].startswith(f"ztensor: {tmp_path}/cut.zt: ") and (err, code) == ("", 0)
    found, err, code = run("migrate_files.sql", tmp_path, source="modles")
    assert [(row["path"], row["error"]) for row in found] == [("modles", "ztensor: modles: cannot open: No such file or directory")]
