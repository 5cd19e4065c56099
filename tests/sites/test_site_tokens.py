"""The tokenizer and the postings agree with regular expressions."""

import random
import re
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dowse.sites.index_model import Page
from dowse.sites.site_postings import BODY, FIELDS, PostingsBuilder
from dowse.sites.site_tokens import SiteTokenizer
from dowse.sites.word_ids import WordIds

TOKENIZER = SiteTokenizer()
WORD = re.compile(
    rb"(?<![a-z0-9\x80-\xff])[a-z]\+\+(?![a-z0-9\x80-\xff])|(?<![a-z0-9\x80-\xff])[a-z]#(?![a-z0-9\x80-\xff])|[a-z0-9\x80-\xff]+"
)
TEXT = st.text(st.sampled_from("abCZ09 +#-_.\n'é漢🍎"), max_size=60)


def words(text: bytes) -> list[bytes]:
    _, starts, ends = TOKENIZER.tokenize(text)
    return [text[start:end].lower() for start, end in zip(starts, ends, strict=True)]


@given(TEXT)
def test_words_are_what_an_expression_finds(text: str) -> None:
    assert words(text.encode()) == WORD.findall(text.encode().lower())


@given(TEXT, TEXT)
def test_words_have_the_same_hash_when_they_are_the_same(first: str, second: str) -> None:
    data = f"{first}\n{second}".encode()
    hashes, starts, ends = TOKENIZER.tokenize(data)
    by_hash: dict[int, set[bytes]] = {}
    for number, start, end in zip(hashes.tolist(), starts, ends, strict=True):
        by_hash.setdefault(number, set()).add(data[start:end].lower())
    assert all(len(same) == 1 for same in by_hash.values())
    assert len(by_hash) == len({word for same in by_hash.values() for word in same})


def test_text_longer_than_a_window_is_taken_apart_alike() -> None:
    chance = random.Random(1)
    text = " ".join(chance.choice(("alpha", "Beta", "gamma-ray", "C++", "é")) for _ in range(400_000)).encode()
    assert len(text) > 2 << 20
    assert words(text) == WORD.findall(text.lower())


def test_a_word_without_end_does_not_break_it() -> None:
    assert b"".join(words(b"x" * (3 << 20))) == b"x" * (3 << 20)


@given(st.lists(st.lists(st.integers(0, 300), max_size=40), max_size=8))
def test_numbers_are_given_once_and_found_again(batches: list[list[int]]) -> None:
    word_ids, known = WordIds(), dict[int, int]()
    for batch in batches:
        hashes = np.array([number * 0x9E3779B97F4A7C15 % (1 << 64) for number in batch], np.uint64)
        numbers, new = word_ids.find_or_add(hashes)
        for one, number in zip(batch, numbers.tolist(), strict=True):
            assert known.setdefault(one, number) == number
        assert len({batch[at] for at in new.tolist()}) == len(new)
        assert word_ids.find(hashes).tolist() == numbers.tolist()
    assert sorted(known.values()) == list(range(len(word_ids)))


def test_a_full_table_grows() -> None:
    word_ids = WordIds()
    hashes = np.arange(200_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word_ids.find_or_add(hashes)
    assert len(set(word_ids.find(hashes).tolist())) == 200_000


@given(st.lists(st.tuples(TEXT, TEXT, TEXT, st.lists(TEXT, max_size=2)), max_size=5))
def test_postings_count_every_word_of_every_field(texts: list[tuple[str, str, str, list[str]]]) -> None:
    builder = PostingsBuilder(TOKENIZER)
    for body, title, abstract, topics in texts:
        builder.add(Page("/", title, abstract, "", tuple(topics), body))
    postings = builder.build()
    counted: dict[int, Counter[bytes]] = {}
    for number, word in enumerate(postings.words):
        for place, count in zip(*postings.fields_with(number), strict=True):
            counted.setdefault(int(place), Counter())[word] = int(count)
    for page, (body, title, abstract, topics) in enumerate(texts):
        for field, text in enumerate((body, title, abstract, "\n".join(topics))):
            expected = Counter(WORD.findall(text.encode().lower()))
            assert counted.get(page * len(FIELDS) + field, Counter()) == expected
        assert postings.texts.field_bytes(page, BODY) == body.encode()
