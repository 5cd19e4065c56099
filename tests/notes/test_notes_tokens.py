"""The tokens of a text, and the configuration of the tokenizer."""

import pytest

from dowse.errors import UsageError
from dowse.notes.notes_tokens import NotesTokenizer, parse_tokenizer_config

TEXTS = {
    "Python rate limiting with token buckets": ["python", "rate", "limiting", "with", "token", "buckets"],
    "a bc def": ["bc", "def"],
    "snake_case node-js C++ x86": ["snake_case", "node", "js", "x86"],
    "Größe ΑΒΓ Ёж": ["größe", "αβγ", "ёж"],
    "cafe\N{COMBINING ACUTE ACCENT} क्या": ["cafe\N{COMBINING ACUTE ACCENT}", "क्या"],
    "日本語 テスト": ["日本語", "テスト"],
    "it's 3.14%": ["it", "14"],
    "\0\t\n -- !!": [],
}


def test_a_text_has_these_tokens() -> None:
    for text, tokens in TEXTS.items():
        assert NotesTokenizer().tokens(text) == tokens
        assert [token for _, _, token in NotesTokenizer().spans(text)] == tokens


def test_case_and_length_are_as_configured() -> None:
    assert NotesTokenizer(lowercase=False, min_length=3).tokens("To be OR Not") == ["Not"]
    assert NotesTokenizer(min_length=1).tokens("C++ is İ") == ["c", "is", "i̇"]


def test_spans_are_places_in_the_text() -> None:
    text = "İstanbul and Ünal"
    assert [text[start:end] for start, end, _ in NotesTokenizer().spans(text)] == ["İstanbul", "and", "Ünal"]


def test_null_and_nothing_are_the_defaults() -> None:
    assert (
        parse_tokenizer_config(None)
        == parse_tokenizer_config({})
        == parse_tokenizer_config({"lowercase": None})
        == NotesTokenizer(True, 2)
    )
    assert parse_tokenizer_config({"min_length": 3.0}) == NotesTokenizer(True, 3)


def test_a_configuration_that_makes_no_sense_is_refused() -> None:
    for config, told in (
        ({"stemming": True}, "no field 'stemming'"),
        ({"lowercase": "yes"}, "lowercase has to be true or false"),
        ({"min_length": 0}, "whole number from 1"),
        ({"min_length": 2.5}, "whole number from 1"),
        ({"min_length": True}, "whole number from 1"),
        ({"min_length": 10**9}, "whole number from 1"),
    ):
        with pytest.raises(UsageError, match=told):
            parse_tokenizer_config(config)
