from dowse.parsing.document_parsing import outline
from dowse.reading.outlines import Outline

GUIDE = "# Guide\n\nText.\n\n## Use it {#use}\n\n<a id=deep></a>Deep.\n\n## Use it\n\nAgain.\n"


def test_an_outline_is_the_one_that_the_reader_makes() -> None:
    found, expected = outline(GUIDE, ["deep", "use_it", "nothing"]), Outline(GUIDE)
    assert found.headings == expected.headings
    for anchor in ("guide", "use", "deep", "use_it"):
        assert found.section(anchor) == expected.section(anchor) is not None
    assert found.section("nothing") is None


def test_a_text_that_the_parser_cannot_cope_with_has_no_headings() -> None:
    assert outline(">" * 900_000, ["a"]).headings == ()
