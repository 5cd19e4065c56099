"""The terms of a query are found in a text where an analysis of the whole text finds them."""

from hypothesis import example, given
from hypothesis import strategies as st

from dowse.searching.term_positions import terms_among, terms_by_line
from dowse.text.analysis import terms_of

WORDS = st.sampled_from(
    ["use", "using", "HTTPServer", "getUser", "user_id", "policies", "dying", "prototype", "typeVar", "XML2Type", "été",
     "Ünicode", "検索", "use検索", "v2", "a", "ability", "x_Type", "TYPE", "über_type"]
)  # fmt: skip
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "", "_", ".", "\n", "-", "é", "—"])), max_size=12).map(
    lambda parts: "".join(word + sign for word, sign in parts)
)


@given(TEXTS, st.frozensets(WORDS, max_size=4))
@example("use検索 useful", frozenset({"use", "検索"}))
@example("dying", frozenset({"die"}))
def test_the_terms_of_a_text_are_those_of_its_analysis(text: str, words: frozenset[str]) -> None:
    terms = frozenset(term for word in words for term in terms_of(word))
    assert terms_among(text, terms) == terms & set(terms_of(text))


def test_a_short_term_counts_as_often_as_it_occurs_and_a_long_one_once_a_line() -> None:
    for text, term, lines in (
        ("def type_of(x):\n    return Type(x)\nprototype", "type", {0: ["type"], 1: ["type"]}),
        ("type type\n\ntype", "type", {0: ["type", "type"], 2: ["type"]}),
        ("redirects redirect\nredirecting", "redirect", {0: ["redirect"], 1: ["redirect"]}),
    ):
        assert terms_by_line([text.encode()], frozenset({term})) == [lines]


@given(st.lists(TEXTS, max_size=4), st.frozensets(WORDS, max_size=4))
def test_the_terms_of_several_texts_are_those_of_each(texts: list[str], words: frozenset[str]) -> None:
    terms = frozenset(term for word in words for term in terms_of(word))
    data = [text.encode() for text in texts]
    assert terms_by_line(data, terms) == [terms_by_line([one], terms)[0] for one in data]
