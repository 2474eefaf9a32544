import examples


def test_the_examples_of_the_readme(spark):
    found = examples.EXAMPLE.findall(examples.PAGE.read_text())
    assert len(found) >= 7
    assert examples.printed([program for program, _ in found]) == [text for _, text in found]
