"""The words of a query are found in lines and texts."""

from dowse.searching.passages import MAX_LINE_CHARACTERS, Passage, found_terms, holds_phrase, shorten_lines
from dowse.text.analysis import terms_of


def weights(*words: str) -> dict[str, float]:
    return {term: 1.0 for word in words for term in terms_of(word)}


def test_lines_are_numbered_across_a_gap() -> None:
    assert Passage(3, 4, "a\nb").numbered_lines == [(3, "a"), (4, "b")]
    assert Passage(3, 9, "a\n… 9\nb", numbers=(3, 0, 9)).numbered_lines == [(3, "a"), (0, "… 9"), (9, "b")]


def test_a_phrase_is_its_words_in_order() -> None:
    for text, phrase, expected in (
        ("the access token expires", "access token", True),
        ("the access\n  token expires", "Access Token", True),
        ("access the token", "access token", False),
        ("my_access token", "access token", False),
        ("accesstoken", "access token", False),
        ("anything", "...", False),
    ):
        assert holds_phrase(text, phrase) is expected


def test_matches_are_whole_words_also_by_their_parts() -> None:
    assert list(found_terms("x = getUserName(1)", weights("user"))) == [(4, 15, "user")]
    assert list(found_terms("nothing", weights("user"))) == []


def test_only_the_part_of_a_very_long_line_around_the_first_match_is_shown() -> None:
    """One line of 144,000 characters took a whole reply, and no other file was shown."""
    long = "filler " * 10_000 + "apple" + " filler" * 10_000
    shown = shorten_lines(Passage(1, 3, f"first\n{long}\nlast"), weights("apple"))
    first, middle, last = shown.text.split("\n")
    assert (first, last) == ("first", "last")
    assert middle.startswith("…")
    assert middle.endswith("…")
    assert "apple" in middle
    assert len(middle) == MAX_LINE_CHARACTERS + 2
    short = Passage(1, 2, "a\nb")
    assert shorten_lines(short, {}) is short
