"""Text analysis: folded words are the words that Tantivy finds in a folded text."""

from hypothesis import given
from hypothesis import strategies as st

from dowse.text.analysis import WHOLE_ANALYZER, fold, folded_spans, folded_words


@given(st.text(max_size=40))
def test_folded_words_are_those_that_the_index_has(text: str) -> None:
    assert WHOLE_ANALYZER.analyze(fold(text)) == folded_words(text)


def test_words_are_found_without_regard_to_case_accents_and_width() -> None:
    for text, words in (
        ("Café e\u0301te\u0301", ["cafe", "ete"]),
        ("straße ﬁn ПОИСК Ёлки", ["strasse", "fin", "поиск", "елки"]),
        ("snake_case wasn’t", ["snake", "case", "wasn", "t"]),
        ("全文検索", ["全文", "文検", "検索"]),
    ):
        assert folded_words(text) == words


def test_signs_after_a_single_letter_make_another_word() -> None:
    plain, plus, sharp = (folded_words(text) for text in ("C", "C++", "c#"))
    assert plain != plus != sharp != plain
    assert folded_words("use C++, not ABC++ or #c") == ["use", *plus, "not", "abc", "or", "c"]
    assert list(folded_spans("use C++")) == [("use", 0, 3), (plus[0], 4, 7)]
