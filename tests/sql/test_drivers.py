"""A format needs more than its driver: the folder of its files, a file for each of its rules, and words where the formats are named.
What is generated of the drivers, test_readme.py compares; tests/unit/test_rules.c holds the table itself to what it means."""
import pytest

import corpus
import drivers
from support import ROOT

FORMATS = list(drivers.formats())
EACH = pytest.mark.parametrize("format", FORMATS)
RULES = drivers.rules()
# They tell their readers which formats there are, each in its own words
PAGES = ["README.md", "ext/REFERENCE.md", "ext/packages/release.toml", "ext/packages/debian/debian/control", "ext/packages/npm/README.md",
         "ext/packages/python/README.md", "ext/packages/python/src/ztensor_sqlite/command.py"]


def rules_of(format):
    """{number: slug} of all lists that the format's drivers have."""
    return {number: slug for driver in drivers.formats()[format] for name in driver.rules for number, slug in RULES[name].items()}


def test_the_table_was_understood():
    assert len(FORMATS) >= 7 and len(RULES) >= 19 and sum(map(len, RULES.values())) >= 231
    assert all(driver.rules and all(RULES[name] for name in driver.rules) for driver in drivers.drivers())
    assert all(sum((driver.files for driver in found), []) for found in drivers.formats().values())


def test_each_format_has_a_folder_and_each_folder_a_driver():
    assert sorted(drivers.formats()) == corpus.formats()


@EACH
def test_the_sound_files_are_of_the_format(format):
    """An archive is shown as the files in it, and has a name of its own only for files of several formats."""
    shown = {expected.get("container", "ztensor") for _, _, expected in corpus.golden(format)}
    assert shown == {format} or (format == "archive" and format in shown and shown < set(FORMATS))


@EACH
def test_a_file_that_is_refused_has_the_number_and_the_name_of_one_rule(format):
    """Of another format's, if it is taken for one of these."""
    known = {pair for rules in RULES.values() for pair in rules.items()}
    assert [case["file"] for case in corpus.hostile(format)
            if case["expect"] == "open_error" and "number" in case and (case["number"], case["finding"]) not in known] == []


@EACH
def test_each_rule_has_a_file_that_breaks_it(format):
    assert sorted(set(rules_of(format).values()) - corpus.findings()) == []


@EACH
def test_what_is_made_elsewhere_is_made_there(format):
    for finding, path in corpus.elsewhere(format).items():
        number, = (number for number, slug in rules_of(format).items() if slug == finding)
        assert number in (ROOT / path).read_text()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_names_the_formats_names_all_of_them(page):
    text = (ROOT / page).read_text().lower()
    assert [format for format in drivers.formats() if format not in text] == []
