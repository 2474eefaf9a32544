"""`ztensor-sql convert` and `migrate`: what they write, and what they leave alone."""
import os
import shutil
import stat
import subprocess

import collection as parts
import pytest
from commanding import GOLDEN, Command, floats, safetensors
from tensor_files import GGML, gguf, torch
from test_command import WITH_APSW
import ztensor_sqlite
from ztensor_sqlite import naming, session, writing


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)


@pytest.fixture
def at(collection):
    return lambda name: collection / name


def rows(sql, *parameters):
    return ztensor_sqlite.connect().execute(sql, tuple(map(str, parameters))).fetchall()


def attributes(path):
    return {key: (value, kind) for key, value, kind in rows("SELECT key, value, coalesce(stored_type, type) FROM zt_attributes(?) WHERE object IS NULL", path)}


# ---- convert

@pytest.mark.parametrize("source", [parts.BASE, parts.SHARDED, parts.SHARDED_BIN, parts.SHARDED + "/model.safetensors.index.json"])
@pytest.mark.parametrize("end, container", [("zt", "ztensor"), ("safetensors", "safetensors"), ("gguf", "gguf")])
def test_a_model_becomes_one_file_with_the_same_tensors(command, at, source, end, container):
    out, err = command("convert", at(source), f"new.{end}", "--drop-attributes")
    assert out.splitlines()[1].split("\t")[:2] == [f"new.{end}", container] and out.splitlines()[1].split("\t")[3:5] == ["39", "114976"]
    assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", at(parts.BASE) / "model.safetensors", command.directory / f"new.{end}") == [(1,)]


def test_shards_as_a_shell_names_them(command, at):
    command("convert", *sorted(at(parts.SHARDED).glob("*.safetensors")), "new.zt")
    assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", at(parts.BASE) / "model.safetensors", command.directory / "new.zt") == [(1,)]


def test_a_split_gguf_becomes_one_with_its_keys(command, at):
    command("convert", at(parts.GGUF_SPLIT), "new.gguf")
    whole = at("gguf/tiny-llama-Q8_0.gguf")
    assert attributes(command.directory / "new.gguf") == attributes(whole)
    assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", whole, command.directory / "new.gguf") == [(1,)]
    assert {row[0] for row in rows("SELECT DISTINCT format FROM zt_objects(?)", command.directory / "new.gguf")} == {"dense", "gguf.q8_0"}


def test_dtype_converts_floats_and_quantized_tensors(command, tmp_path, at):
    safetensors(tmp_path / "mixed.safetensors", {"w": floats(1.5, 1e-9), "ids": ("I64", [1], bytes(8)), "mask": ("BOOL", [1], b"\1")})
    command("convert", "mixed.safetensors", "half.safetensors", "--dtype", "torch.float16")
    assert rows("SELECT object, type, zt_json(path, object) FROM zt_objects(?) ORDER BY object", tmp_path / "half.safetensors") == [
        ("ids", "i64", "[0]"), ("mask", "bool", "[true]"), ("w", "f16", "[1.5,0.0]")]
    command("convert", at("gguf/tiny-llama-Q4_K_M.gguf"), "dense.safetensors", "--dtype", "bf16", "--drop-attributes")
    assert rows("SELECT DISTINCT format, type FROM zt_objects(?)", tmp_path / "dense.safetensors") == [("dense", "bf16")]
    found = rows("SELECT max(c.rmse) FROM zt_objects(?) AS o JOIN zt_compare(?, o.object, o.path, o.object) AS c", tmp_path / "dense.safetensors",
                 at("gguf/tiny-llama-F32.gguf"))
    assert 0 < found[0][0] < 0.005


def test_an_unknown_type_names_what_may_be_meant(command, at):
    assert "did you mean bf16" in command.refused("convert", at(parts.BASE), "new.zt", "--dtype", "bfloat")


def test_sparse_tensors_become_dense(command, at, tmp_path):
    assert command.refused("convert", at("legacy/v1.2-sparse.zt"), "new.safetensors").endswith(
        "object 'mask': safetensors cannot hold sparse_csr; format='dense' of zt_writer writes it dense (here: --dense)")
    assert not (tmp_path / "new.safetensors").exists()
    command("convert", at("legacy/v1.2-sparse.zt"), "new.safetensors", "--dense")
    assert rows("SELECT format, zt_json(path, object) FROM zt_objects(?)", tmp_path / "new.safetensors") == [("dense", "[[0,7,0],[0,0,9]]")]


def test_compression_and_digests(command, at, tmp_path):
    command("convert", at(parts.ZERO), "packed.zt", "--compress", "--level", 9, "--digest", "sha256")
    assert rows("SELECT DISTINCT encoding, digest GLOB 'sha256:*', digest_status FROM zt_components(?)", tmp_path / "packed.zt") == [
        ("zt.zstd-seekable/1", 1, "ok")]
    command("convert", at("arrays/embeddings-000.npy"), "packed.npz", "--compress")
    assert rows("SELECT encoding FROM zt_components(?)", tmp_path / "packed.npz") == [("deflate",)]
    command("convert", at("arrays/embeddings-000.npy"), "old.zt", "--format", "ztensor-1.2")
    assert rows("SELECT version FROM zt_files(?)", tmp_path / "old.zt") == [("1.2.0",)]
    command("convert", at(parts.ZERO), "other.npz", "--format", "ztensor-2", "--compress")   # The format, not the name's end
    command("convert", at("arrays/embeddings-000.npy"), "OTHER.NPZ", "--compress")
    command("convert", at("arrays/embeddings-000.npy"), "other.zt", "--format", "npz", "--compress", "--drop-attributes")
    command("convert", at(parts.ZERO), "OTHER.ZT", "--compress", "--drop-attributes")
    for name, encoding in (("other.npz", "zt.zstd-seekable/1"), ("OTHER.NPZ", "deflate"), ("other.zt", "deflate"), ("OTHER.ZT", "zt.zstd-seekable/1")):
        assert rows("SELECT DISTINCT encoding FROM zt_components(?)", tmp_path / name) == [(encoding,)], name
    assert "safetensors has no encoding 'zstd'; it has 'raw'" in command.refused("convert", at(parts.ZERO), "x.safetensors", "--compress")
    assert "ztensor-2 has no digest 'md5'" in command.refused("convert", at(parts.ZERO), "x.zt", "--digest", "md5")
    assert "--level needs --compress" in command.refused("convert", at(parts.ZERO), "x.zt", "--level", 3)


def test_alignment(command, at, tmp_path, old):
    for align in (4096, 1 << 20):
        command("convert", at(parts.BASE), f"{align}.zt", "--align", align)
        assert rows("SELECT count(*), count(nullif(offset % CAST(? AS INTEGER), 0)) FROM zt_components(?)", align, tmp_path / f"{align}.zt") == [(39, 0)]
    assert "align must be" in command.refused("convert", at(parts.BASE), "x.zt", "--align", 100)
    source = at("gguf/tiny-llama-F16.gguf")
    command("convert", source, "64.gguf", "--align", 64)
    assert command.refused("convert", "64.gguf", "x.gguf", "--align", 32).endswith("change one, or leave it out (here: --set general.alignment=N)")
    assert command.refused("convert", source, "x.gguf", "--set", "general.alignment=32").endswith("must be a u32 and a power of two from 8 on (here: --align)")
    command("convert", "64.gguf", "x.gguf", "--align", 32, "--set", "general.alignment=32")
    command("migrate", "legacy/v1.2-0.zt", "--write", "--align", 4096)
    assert (old / "v1.2-0.zt").stat().st_size < 40_000


def test_the_state_of_optimizers_is_left_out(command, at, tmp_path):
    out, err = command("convert", at(parts.RUN_OF_FILES) / "step-100.zt", "model.zt", "--drop-optimizer")
    assert err == "42 tensors of optimizers left out\n"
    names = [name for name, in rows("SELECT object FROM zt_objects(?)", tmp_path / "model.zt")]
    assert len(names) == 21 and all(name.startswith("model.") for name in names)
    assert attributes(tmp_path / "model.zt") == {"lr": (1e-4, "real"), "step": (100, "integer")}
    assert command.refused("convert", at(parts.RUN) / "step-100/optimizer.pt", "none.zt", "--drop-optimizer") \
        == "none.zt: there is nothing to write: all tensors are of optimizers"
    assert not (tmp_path / "none.zt").exists()


def test_tensors_are_left_out_by_their_names(command, at, tmp_path):
    assert command.refused("convert", at("other/checkpoint.index"), "new.zt").endswith(
        "object '_CHECKPOINTABLE_OBJECT_GRAPH': it has no values: its elements are text (here: --exclude)")
    command("convert", at("other/checkpoint.index"), "new.zt", "--exclude", "_CHECK*", "--exclude", "save_counter*")
    names = {name for name, in rows("SELECT object FROM zt_objects(?)", at("other/checkpoint.index"))}
    assert {name for name, in rows("SELECT object FROM zt_objects(?)", tmp_path / "new.zt")} == {
        name for name in names if not name.startswith(("_CHECK", "save_counter"))} != names


def test_attributes_come_along_and_can_be_set(command, at, tmp_path):
    command("convert", at("backup/same-values.safetensors"), "a.safetensors", "--set", "license=MIT", "--set", "note=a=b", "--set", "empty=")
    assert attributes(tmp_path / "a.safetensors") == {"license": ("MIT", "text"), "note": ("a=b", "text"), "empty": ("", "text")}
    source = at("gguf/tiny-llama-Q4_0.gguf")
    command("convert", source, "b.gguf", "--set", "general.name=new", "--set", "llama.context_length=4096", "--set", "llama.attention.layer_norm_rms_epsilon=1",
            "--set", "x=5")
    before, after = attributes(source), attributes(tmp_path / "b.gguf")
    assert {key: value for key, value in after.items() if before.get(key) != value} == {
        "general.name": ("new", "str"), "llama.context_length": (4096, "u32"), "llama.attention.layer_norm_rms_epsilon": (1.0, "f32"), "x": ("5", "str")}
    command("convert", source, "c.gguf", "--set", "llama.attention.layer_norm_rms_epsilon=1e-5")
    assert attributes(tmp_path / "c.gguf")["llama.attention.layer_norm_rms_epsilon"] == (9.999999747378752e-06, "f32")


@pytest.mark.parametrize("setting, said", [
    ("llama.context_length=many", "it was of type integer, and 'many' is no such value"), ("llama.context_length=NaN", "'NaN' is no such value"),
    ("llama.context_length=1e999", "is no such value"), ("llama.attention.layer_norm_rms_epsilon=1e39", "it was of type f32, and '1e39' is no such value"), ("llama.context_length=99999999999999999999", "is no such value"),
    ("general.name", "this is not KEY=VALUE"), ("=x", "this is not KEY=VALUE")])
def test_settings_that_are_refused(command, at, tmp_path, setting, said):
    assert said in command.refused("convert", at("gguf/tiny-llama-Q4_0.gguf"), "new.gguf", "--set", setting)
    assert os.listdir(tmp_path) == []


def test_a_key_with_a_null_character(command, tmp_path):
    torch(tmp_path / "a.pt", {"w": floats(1), "x\0y": 7, "x": 8})
    command("convert", "a.pt", "new.zt")
    assert attributes(tmp_path / "new.zt") == {"x\\x00y": (7, "integer"), "x": (8, "integer")}


def test_attributes_that_a_format_cannot_hold(command, at):
    source = at("gguf/tiny-llama-F16.gguf")
    assert command.refused("convert", source, "new.safetensors").endswith(
        "safetensors holds text attributes alone; give 'llama.block_count' as text (here: --drop-attributes)")
    err = command("convert", source, "new.safetensors", "--drop-attributes")[1]
    assert err == ("9 attributes left out: llama.block_count, llama.context_length, llama.embedding_length, llama.feed_forward_length,"
                   " llama.attention.head_count, ...\n")
    assert attributes(command.directory / "new.safetensors").keys() == {"general.architecture", "general.name", "tokenizer.ggml.model"}


def test_a_file_that_is_there_is_kept_without_force(command, at, tmp_path):
    (tmp_path / "new.zt").write_text("precious")
    assert command.refused("convert", at(parts.BASE), "new.zt").endswith("there is a file already; mode='replace' replaces it (here: --force)")
    assert command.refused("convert", at(parts.BASE), "-", "--format", "safetensors") == "-: a file is written, and not into a pipe; ./- is a file"
    assert (tmp_path / "new.zt").read_text() == "precious"
    assert command("convert", at(parts.BASE), "new.zt", "--force", "--quiet") == ("", "")
    assert rows("SELECT objects FROM zt_files(?)", tmp_path / "new.zt") == [(39,)]
    command("convert", "new.zt", "new.zt", "--force", "--compress")   # Onto itself
    assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", at(parts.BASE) / "model.safetensors", tmp_path / "new.zt") == [(1,)]
    assert os.listdir(tmp_path) == ["new.zt"]


def test_incomplete_models_and_several_are_refused(command, at):
    assert "1 of its 3 files is missing: model-00002-of-00003.safetensors" in command.refused("convert", at(parts.MISSING_SHARD), "new.zt")
    assert "1 of its 3 files is missing" in command.refused("convert", at(parts.GGUF_MISSING), "new.gguf")
    assert "there are 2 models in it, name one" in command.refused("convert", at(parts.TWO_FORMATS), "new.zt")
    assert "there is an object of this name" in command.refused("convert", at(parts.BASE), at(parts.CHAT), "new.zt")
    assert "cannot open: No such file" in command.refused("convert", "nowhere.zt", "new.zt")
    assert "its name does not say the format" in command.refused("convert", at(parts.BASE), "new.xyz")
    assert os.listdir(command.directory) == []


def test_several_sources_become_one_file(command, tmp_path):
    for name, value in (("a", 1), ("b", 2)):
        safetensors(tmp_path / f"{name}.safetensors", {name: floats(value)}, licence="mit", name=name)
    out, err = command("convert", "a.safetensors", "b.safetensors", "new.zt")
    assert err == "b.safetensors: attribute 'name' has another value there, and the first file's is kept\n"
    assert rows("SELECT object FROM zt_objects(?)", tmp_path / "new.zt") == [("a",), ("b",)]
    assert attributes(tmp_path / "new.zt") == {"licence": ("mit", "text"), "name": ("a", "text")}


def test_the_sql_runs_in_the_shell(command, at, tmp_path):
    sql = command("convert", at(parts.SHARDED), "new.zt", "--sql")[1]
    expected = (tmp_path / "new.zt").read_bytes()
    (tmp_path / "new.zt").unlink()
    subprocess.run(["sqlite3", "-bail", ":memory:"], input=sql, text=True, check=True, cwd=tmp_path, stdout=subprocess.DEVNULL)
    assert (tmp_path / "new.zt").read_bytes() == expected


def test_names_of_any_kind(command, at, tmp_path):
    for name in parts.NAMES:
        if not name.startswith("-"):
            command("convert", at("names") / name, tmp_path / "to" / name if (tmp_path / "to").is_dir() else (tmp_path / "to").mkdir() or tmp_path / "to" / name)
            assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", at("names") / name, tmp_path / "to" / name) == [(1,)], name
    assert "must be UTF-8" in command.refused("convert", at(parts.BASE), os.fsdecode(b"m\xff.zt"))


def test_one_tensor_of_each_block_type_stays_as_it_is(command, at, tmp_path):
    for kind in GGML:
        source = gguf(tmp_path / f"{kind}.gguf", {}, {"w": (kind, parts.values("w", 2, 256))})
        command("convert", source, tmp_path / f"{kind}.zt")
        command("convert", tmp_path / f"{kind}.zt", tmp_path / f"{kind}-again.gguf")
        assert rows("SELECT a.stored = b.stored FROM zt_components(?) AS a, zt_components(?) AS b", source, tmp_path / f"{kind}-again.gguf") == [(1,)], kind


def test_bare_states_of_optimizers():
    assert all(map(naming.is_optimizer, ["state.0.step", "param_groups.0.lr"])) and not any(map(naming.is_optimizer, ["state.0.weight", "x.state.0.step"]))


# ---- migrate

GENERATIONS = {"0.1.0": 3, "1.0": 3, "1.1.0": 3, "1.2.0": 4}


@pytest.fixture
def old(collection, tmp_path):
    return shutil.copytree(collection / "legacy", tmp_path / "legacy")


def test_migrate_first_lists(command, old):
    before = {path.name: path.read_bytes() for path in old.iterdir()}
    out, err = command("migrate", "legacy")
    assert err == "13 files to migrate, 0 left as they are; --write replaces them\n" and len(out.splitlines()) == 14
    assert {path.name: path.read_bytes() for path in old.iterdir()} == before
    found = command.json("migrate", "legacy")
    assert {version: sum(row["version"] == version for row in found) for version in GENERATIONS} == GENERATIONS
    assert all(row["new_version"] == "2" and row["error"] is None and row["new_size"] is None for row in found)


def test_migrate_replaces_each_file_with_the_same_values(command, old, collection):
    os.chmod(old / "v1.1-0.zt", 0o600)
    found = command.json("migrate", "legacy", "--write")
    assert len(found) == 13 and all(row["new_version"] == "2" and row["new_size"] == (command.directory / row["path"]).stat().st_size for row in found)
    for path in old.iterdir():
        assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?), version FROM zt_files(?)", path, collection / "legacy" / path.name, path) == [(1, "2")]
    assert stat.S_IMODE((old / "v1.1-0.zt").stat().st_mode) == 0o600
    assert len(list(old.iterdir())) == 14   # No copies are left
    assert command("migrate", "legacy", "--write") == ("", "0 files migrated, 0 left as they are\n")


def test_migrate_gives_the_new_file_to_the_owner_of_the_old_one(old, monkeypatch):
    given = []
    monkeypatch.setattr(os, "chown", lambda path, user, group: given.append((os.stat(path).st_size > 0, user, group)))
    before = os.stat(old / "v1.1-0.zt")
    writing.migrate(session.Session(write=True), str(old / "v1.1-0.zt"))
    assert given == [(True, before.st_uid, before.st_gid)]


def test_what_cannot_be_migrated_stays(command, tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    golden = GOLDEN / "ztensor" / "golden"
    for path in (golden / "v1.2/wheel_quantized.zt", golden / "v1.2/hand_unknown_dtype.zt", golden / "v0.1/wheel_ranks.zt"):
        shutil.copy(path, folder)
    (folder / "broken.zt").write_bytes((folder / "wheel_ranks.zt").read_bytes()[:-9])
    (folder / "model.safetensors").write_bytes(safetensors(tmp_path / "m.safetensors", {"w": floats(1)}).read_bytes())
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    for more in ((), ("--write",)):
        found = {os.path.basename(row["path"]): row["error"] for row in command.json("migrate", "mixed", *more, status=1)}
        assert found.pop("wheel_ranks.zt") is None
        assert found.keys() == {"broken.zt", "hand_unknown_dtype.zt", "wheel_quantized.zt"} and all(found.values())
        assert "quantized_group" in found["wheel_quantized.zt"]
        after = {path.name: path.read_bytes() for path in folder.iterdir()}
        assert {name for name in after if after[name] != before[name]} == ({"wheel_ranks.zt"} if more else set()) and after.keys() == before.keys()


def test_every_golden_file_of_old_generations(command, tmp_path):
    """Each is replaced by one with its values and attributes, or left as it is with the reason."""
    for generation in ("v0.1", "v1.0", "v1.1", "v1.2"):
        shutil.copytree(GOLDEN / "ztensor" / "golden" / generation, tmp_path / generation)
    found = command.json("migrate", tmp_path, "--write", status=1)
    assert len(found) > 60 and sum(row["error"] is None for row in found) > 40
    for row in found:
        old = GOLDEN / "ztensor" / "golden" / os.path.relpath(row["path"], tmp_path)
        if row["error"] is None:
            assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", old, row["path"]) == [(1,)], row
        else:
            assert old.read_bytes() == open(row["path"], "rb").read(), row


def test_links_are_followed_and_hard_links_keep_the_old_bytes(command, old):
    (old / "link.zt").symlink_to("v0.1-0.zt")
    os.link(old / "v0.1-1.zt", old.parent / "other.zt")
    command("migrate", old / "link.zt", "--write")
    assert (old / "link.zt").is_symlink() and rows("SELECT version FROM zt_files(?)", old / "v0.1-0.zt") == [("2",)]
    command("migrate", old / "v0.1-1.zt", "--write")
    assert rows("SELECT version FROM zt_files(?)", old.parent / "other.zt") == [("0.1.0",)]


# ---- Where Python's sqlite3 loads no extensions

def test_apsw_does_the_same(command, at, old, tmp_path):
    command.python_code(WITH_APSW, 0, "convert", at(parts.SHARDED), tmp_path / "new.zt")
    assert rows("SELECT zt_fingerprint(?) = zt_fingerprint(?)", at(parts.BASE) / "model.safetensors", tmp_path / "new.zt") == [(1,)]
    command.python_code(WITH_APSW, 2, "convert", at("gguf/tiny-llama-F16.gguf"), tmp_path / "x.safetensors")
    command.python_code(WITH_APSW, 0, "migrate", old, "--write")
    assert rows("SELECT DISTINCT version FROM zt_files(?)", old) == [("2",)]
    assert command.python_code(WITH_APSW, 0, "diff", at(parts.BASE), at("gguf/tiny-llama-F32.gguf"), "--all", "--csv").count(",same,") == 39
