"""Snippets: the places of words in long texts."""

import random

from dowse.archives.archive_words import split_words, word_spans
from dowse.archives.snippets import FoundWord, WordFinder, make_snippets

WORDS = ("pear", "pears", "apple", "naïve", "梨", "İstanbul", "a")


def test_every_word_of_a_long_text_is_found_in_order() -> None:
    chance = random.Random(4)
    text = "".join(chance.choice((*WORDS, "pearl", "snapple", "Pear")) + chance.choice(" \n,-") for _ in range(3000))
    groups = {word: number for number, word in enumerate(WORDS[:-2])}
    places = dict[str, list[FoundWord]]()
    for (start, end), word in zip(word_spans(text), split_words(text), strict=True):
        if word in groups:
            places.setdefault(word, []).append(FoundWord(start, end, groups[word]))
    expected = sorted(place for found in places.values() for place in found[:25])
    assert list(WordFinder(groups).places_in(text)) == expected


def test_a_snippet_far_into_a_text_has_all_its_words() -> None:
    text = "filler " * 3000 + "a ripe pear beside an apple\n\n" + "filler " * 3000
    (snippet,) = make_snippets(text, WordFinder({"pear": 0, "apple": 1}), {0: 1.0, 1: 1.0})
    assert "<mark>pear</mark> beside an <mark>apple</mark>" in snippet.text
