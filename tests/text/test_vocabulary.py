"""The words of an index, found by spelling."""

from dowse.text.analysis import rarity
from dowse.text.vocabulary import Vocabulary, similar_words

WORDS = Vocabulary({"search": 9, "searching": 3, "research": 2, "sea": 1, "church": 1, "file": 4, "system": 4})


def test_forms_and_longer_words_are_found() -> None:
    assert WORDS.forms("search") == ["searching"]
    assert dict(WORDS.longer_words("search")) == {"searching": True, "research": False}
    assert WORDS.split_compound("filesystem", 3) == ("file", "system")
    assert not WORDS.split_compound("filesearches", 3)


def test_typos_are_found_fewest_first() -> None:
    assert WORDS.similar_words("saerch", 2)[0] == ("search", 1)
    assert WORDS.similar_words("search", 1) == []
    assert WORDS.similar_words("fiel", 0) == []
    assert similar_words("cat", ["cart", "cut", "dog"], 1) == [("cart", 1), ("cut", 1)]


def test_a_rare_word_says_more() -> None:
    assert rarity(1, 1000) > rarity(100, 1000) > rarity(900, 1000) > 0
