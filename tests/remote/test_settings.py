"""zt_remote(json): settings that cannot be change nothing, and the message says why."""
import pytest

from support import message, value

ENTRY = "an entry of 'allow' that is empty, or has a space"
TIMEOUT = "'timeout' must be an integer from 1 to 86400"


@pytest.mark.parametrize("settings, said", [
    ('"allow": [""]', ENTRY), ('"allow": ["https://models.test/a https://models.test/b"]', ENTRY), ('"allow": ["https://models.test/\\u0000"]', ENTRY),
    ('"allow": ["https://models.test/a", 1]', "byte 46: expected text, found an integer"),
    ('"allow": "https://models.test/a"', "byte 20: expected an array, found text"), ('"timeout": ', "byte 22: a value was expected"),
    *((f'"timeout": {wrong}', TIMEOUT) for wrong in ("0", "86401", "1.5", "-1", "18446744073709551616", '"9"', "[9]", "null")),
    ('"time": 9', "no setting 'time'; there are 'allow', 'connections', 'timeout', 'retries', 'ttl'"), ("1: 2", "byte 11: a name was expected")])
def test_what_cannot_be_changes_nothing(remote, settings, said):
    db = remote("https://models.test/")
    before = value(db, "SELECT zt_remote()")
    assert message(db, "SELECT zt_remote(?)", f'{{"ttl": 7, {settings}}}') == f"ztensor: zt_remote(): {said}"
    assert value(db, "SELECT zt_remote(NULL)") == before


@pytest.mark.parametrize("settings, said", [
    ("[7]", "byte 0: expected an object, found an array"), ('{"ttl": 7} 8', "byte 11: 1 bytes after the root value"),
    (7, "the settings are a JSON object (TEXT)"), (b'{"ttl": 7}', "the settings are a JSON object (TEXT)")])
def test_settings_are_one_object(remote, settings, said):
    db = remote()
    before = value(db, "SELECT zt_remote()")
    assert message(db, "SELECT zt_remote(?)", settings) == f"ztensor: zt_remote(): {said}"
    assert value(db, "SELECT zt_remote()") == before
