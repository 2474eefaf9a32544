"""URLs as sources: what is not read is refused as such, and is neither a path of this machine nor a pattern of nothing."""
import json
import pytest

import writer
from support import message, rows, value

URLS = ["s3://bucket/key.zt", "S3://bucket/key.zt", "s3://bucket/prefix/", "s3://bucket", "gs://b/x.safetensors", "az://b/x.zt",
        "hf://org/model/model.safetensors", "https://host/model.zt", "http://host:80/m.zt", "ftp://host/x.npy", "x+y-1.2://z",
        "abfss://c@a.dfs.core.windows.net/x", "sqlite:///x", "s3://", "s3://bücket/\n"]
# A web server lists nothing: there neither of these is a pattern.
WEB = ["https://host/*.zt", "https://host/[a].zt", "HTTP://host/?x"]
PATTERNS = ["s3://b/*.zt", "s3://b/**/*.zt", "gs://b/[ab].zt", "az://b/x?.zt", "hf://org/*/model.safetensors", "zzz://**"]

TABLES = {"zt_files": "", "zt_objects": "", "zt_components": "", "zt_attributes": "", "zt_stats": "", "zt_check": "",
          "zt_elements": ", 'w'", "zt_rows": ", 'w'", "zt_histogram": ", 'w'", "zt_compare": ", 'w', X'00', 'w'"}
FUNCTIONS = ["zt_blob(?, 'w')", "zt_dense(?, 'w')", "zt_json(?, 'w')", "zt_value(?, 'w', 0)", "zt_hash(?, 'w', 'sha256')",
             "zt_manifest(?)", "zt_fingerprint(?)", "zt_content_id(?)", "zt_absolute(?)",
             "zt_pack('npz', 'w', ?, 'w')"]


def refusal(url):
    scheme, shown = url.partition("://")[0], url.replace("\n", "\\n")
    if "?" in shown:
        shown = shown[:shown.index("?") + 1] + "..."
    how = {"gs": "is not read: use s3:// with AWS_ENDPOINT_URL=https://storage.googleapis.com and HMAC keys",
           "az": "is not read: use https:// with a signed URL"}
    if scheme.lower() in ("http", "https", "s3", "hf"):
        said = "is read only by the entry point sqlite3_ztensor_remote_init, which is not loaded"
    else:
        said = how.get(scheme.lower(), "is not read: sources are files of this machine, copy it here first")
    return f"ztensor: {shown}: a URL of scheme '{scheme}' {said}"


def test_every_table_and_function_is_here(db):
    tables = {name for name, in rows(db, "SELECT name FROM pragma_module_list WHERE name LIKE 'zt_%'")}
    assert tables == {*TABLES, "zt_given", "zt_rules"}
    functions = {name for name, in rows(db, "SELECT name FROM pragma_function_list WHERE name LIKE 'zt_%'")}
    assert functions == {call.partition("(")[0] for call in FUNCTIONS} | {"zt_endpoint", "zt_host", "zt_threads", "zt_version"}


@pytest.mark.parametrize("url", URLS + WEB + PATTERNS)
def test_a_url_is_an_unreadable_file_and_a_pattern_is_not_one_of_nothing(db, url):
    everything = rows(db, "SELECT *, error_kind FROM zt_files(?)", url)
    assert everything == [(url, *[None] * 10, refusal(url), "denied")]
    assert rows(db, "SELECT path, size, mtime, device, inode FROM zt_files(?)", url) == [(url, None, None, None, None)]
    # A prefix, it may be: no condition hides that it was not looked for.
    assert message(db, "SELECT * FROM zt_objects(?) WHERE path = 'other'", url) == refusal(url)


@pytest.mark.parametrize("table", [t for t in TABLES if t not in ("zt_files", "zt_check", "zt_compare")])
@pytest.mark.parametrize("url", URLS + WEB + PATTERNS)
def test_it_is_an_error_of_the_tables(db, table, url):
    assert message(db, f"SELECT * FROM {table}(?{TABLES[table]})", url) == refusal(url)
    assert message(db, f"SELECT count(*) FROM {table} WHERE source = ? {'AND object = 1' if TABLES[table] else ''}", url) == refusal(url)


@pytest.mark.parametrize("table", ["zt_objects", "zt_components", "zt_attributes", "zt_stats"])
def test_skip_leaves_a_url_out_and_no_pattern(db, table):
    for url in URLS + WEB:
        assert rows(db, f"SELECT * FROM {table}(?, 'skip')", url) == []
    for pattern in PATTERNS:
        assert message(db, f"SELECT * FROM {table}(?, 'skip')", pattern) == refusal(pattern)


@pytest.mark.parametrize("url", URLS + WEB + PATTERNS)
def test_zt_check_has_it_as_a_finding(db, url):
    (path, object, component, severity, rule, text), = rows(db, "SELECT * FROM zt_check(?)", url)
    assert (path, object, component, severity, rule) == (url, None, None, "error", "unreadable")
    assert refusal(url).endswith(": " + text)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_named_table_says_so(db, pattern):
    db.execute(f"CREATE VIRTUAL TABLE temp.named USING zt_objects('{pattern}')")
    assert message(db, "SELECT * FROM named") == refusal(pattern)


@pytest.mark.parametrize("call", FUNCTIONS)
@pytest.mark.parametrize("url", URLS + WEB + PATTERNS)
def test_it_is_an_error_of_the_functions(db, call, url):
    assert message(db, "SELECT " + call, url) == refusal(url)


def test_zt_compare_says_so_of_either(db):
    file = writer.write({"w": writer.dense(b"1")})
    for a, b in (("s3://b/x.zt", file), (file, "s3://b/x.zt")):
        assert value(db, "SELECT error FROM zt_compare(?, 'w', ?, 'w')", a, b) == refusal("s3://b/x.zt")


def test_in_a_list_a_url_is_one_file_and_a_pattern_ends_the_query(db, tree):
    source = json.dumps(["s3://b/x.zt", tree.files[0], "https://h/y.zt"])
    assert rows(db, "SELECT path, error_kind FROM zt_files(?)", source) == [
        ("s3://b/x.zt", "denied"), (tree.files[0], None), ("https://h/y.zt", "denied")]
    assert message(db, "SELECT * FROM zt_objects(?)", source) == refusal("s3://b/x.zt")
    assert {path for path, in rows(db, "SELECT path FROM zt_objects(?, 'skip')", source)} == {tree.files[0]}
    listed = json.dumps([tree.path, "s3://b/*.zt"])
    for call in ("zt_files(?)", "zt_objects(?, 'skip')", "zt_check(?)"):
        assert message(db, f"SELECT * FROM {call}", listed) == refusal("s3://b/*.zt")
    assert message(db, "SELECT zt_absolute(?)", source) == refusal("s3://b/x.zt")


def test_a_left_join_survives_a_url(db, sample):
    db.execute("CREATE TABLE runs(artifact)")
    db.executemany("INSERT INTO runs VALUES (?)", [(sample,), ("s3://b/run/artifacts",), (None,)])
    assert rows(db, "SELECT artifact, path, objects, error_kind FROM runs LEFT JOIN zt_files(artifact)") == [
        (sample, sample, 2, None), ("s3://b/run/artifacts", "s3://b/run/artifacts", None, "denied"), (None, None, None, None)]


def test_it_is_never_a_path_of_this_machine(db, save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for scheme in ("s3", "https", "zzz"):
        save(f"{scheme}:/b/x.zt", writer.sample())
        url = f"{scheme}://b/x.zt"
        assert rows(db, "SELECT path, size, mtime, objects, error_kind FROM zt_files(?)", url) == [(url, None, None, None, "denied")]
        assert message(db, "SELECT * FROM zt_objects(?)", url) == refusal(url)
        assert message(db, "SELECT zt_manifest(?)", url) == refusal(url)
        # With one slash, or another path to it, it is one.
        for path in (f"{scheme}:/b/x.zt", f"./{scheme}://b/x.zt", str(tmp_path / f"{scheme}:" / "b/x.zt")):
            assert rows(db, "SELECT path, objects FROM zt_files(?)", path) == [(path, 2)]


def test_what_a_pattern_finds_opens_again(db, save, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save("s3:/b/x.zt", writer.sample())
    for source in (".", "**", "s3:/b/*.zt", "s3:/*/x.zt", "[s]3://b/*.zt", "*//b/x.zt", "s3:/", "s3:"):
        (path, error), = rows(db, "SELECT path, error FROM zt_files(?)", source)
        assert error is None
        assert rows(db, "SELECT path, objects FROM zt_files(?)", path) == [(path, 2)]


@pytest.mark.parametrize("name", ["C://x.zt", "C:\\x.zt", "c:/x.zt", "1s3://x.zt", "s 3://x.zt", "s3:x.zt", "://x.zt", "-s://x.zt"])
def test_what_is_no_scheme_is_a_path(db, save, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    assert rows(db, "SELECT error_kind FROM zt_files(?)", name) == [("missing",)]
    save(name, writer.sample())
    assert rows(db, "SELECT path, objects FROM zt_files(?)", name) == [(name, 2)]


def test_file_uris_are_paths(db, sample, tree):
    assert rows(db, "SELECT path, objects FROM zt_files(?)", f"file://{sample}") == [(sample, 2)]
    assert rows(db, "SELECT count(*) FROM zt_files(?)", f"FILE://{tree.path}/*.zt") == [(1,)]
    assert "host other than localhost" in message(db, "SELECT * FROM zt_objects('file://host/x.zt')")


def test_a_query_may_be_a_credential_and_is_in_no_message(db):
    url = "https://host/m.zt?X-Amz-Signature=secret&*"
    (path, error), = rows(db, "SELECT path, error FROM zt_files(?)", url)
    assert path == url and error == refusal(url) and "secret" not in error
    for sql in ("SELECT * FROM zt_objects(?)", "SELECT zt_manifest(?)", "SELECT zt_absolute(?)"):
        assert message(db, sql, url) == refusal(url)


def test_without_files_a_url_is_none_either(connect):
    db = connect(entry="sqlite3_ztensor_nofs_init")
    for url in ("s3://b/x.zt", "s3://b/*.zt", "https://h/x"):
        assert "this connection opens no files" in message(db, "SELECT * FROM zt_objects(?)", url)


# ------------------------------------------------------------------------------------------------ names in a directory

def test_a_directory_is_the_tensor_files_by_their_names(db, save, tmp_path):
    wanted = ["B.GGUF", "Model.bin", "a.ckpt", "adapter_model.bin", "b.ptl", "best.pth.tar", "c.joblib.z", "c.pdparams", "c.pkl.gz",
              "diffusion_pytorch_model.bin", "ip-adapter_sd15.bin", "last.PT",
              "learned_embeds-steps-500.bin", "model.bin", "my-model-00001.bin", "optimizer_1.bin", "pytorch_lora_weights.bin",
              "pytorch_model-00001-of-00002.bin", "rust_model.ot", "v1/x.ckpt"]
    for name in wanted + ["weights.bin", "model.bin.index.json", "a.ckpt.meta", ".model.bin", "my.optimizer.bin", "b.tar"]:
        save("d/" + name, writer.sample())
    root = str(tmp_path / "d")
    assert [path.removeprefix(root + "/") for path, in rows(db, "SELECT path FROM zt_files(?)", root)] == wanted
