"""Words of documents in other languages than English: the language of a text, and the stems of its words.

A stem that was made by the rules of a language carries a mark and the letter of the language. So it is no term of an
English text, and tells how other words are to be compared with it.
"""

import re
import unicodedata
from collections.abc import Container, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

MARK = "\u02ec"
"""A letter that no text has in practice. Stems of other languages begin with it, and end with it so that English rules
leave them alone."""

_SAMPLE_CHARACTERS = 1500
"""The beginning of a text, which its language is judged by."""
_MIN_COMMON_WORDS = 2
"""Different common words of a language that a text in it has."""
_ENGLISH_COMMON_WORDS = 8
"""A text with more common words of English is not compared with other languages."""
MIN_PART_CHARACTERS = 4
"""Shortest stem that is looked for in compounds; shorter ones are in too many words by chance."""
_COMMON_LETTERS = 3
"""Letters at the beginning of a stem that all forms of a word have."""
_CYRILLIC, _SCRIPT_SHARE = re.compile("[\u0430-\u045f]"), 3
"""A text whose letters are Cyrillic, one in three or more, is read as Russian."""
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])[A-Z]")


class Language(NamedTuple):
    """A language, its letter in terms, and the common words that a text is recognized by."""

    name: str
    letter: str
    has_compounds: bool
    common_words: frozenset[str]


@cache
def languages() -> tuple[Language, ...]:
    """Return the languages that have stems of their own."""
    return _known_languages()[1:]


@cache
def _known_languages() -> tuple[Language, ...]:
    lines = Path(__file__).with_name("stemmed_languages.txt").read_text(encoding="utf-8").splitlines()
    rows = [line.split() for line in lines if not line.startswith("#")]
    return tuple(Language(name, how[0], "+" in how, frozenset(words)) for name, how, *words in rows)


@lru_cache(maxsize=64)
def detect_language(text: str) -> Language | None:
    """Return the language of a text; None for English and for others that have no stems of their own."""
    sample = text[:_SAMPLE_CHARACTERS].lower()
    if not sample.isascii() and _SCRIPT_SHARE * len(_CYRILLIC.findall(sample)) > len(sample):
        return _by_letter()["r"]
    words = set(sample.split())
    if len(words & _known_languages()[0].common_words) > _ENGLISH_COMMON_WORDS:
        return None
    found = [words & language.common_words for language in _known_languages()]
    best = max(found, key=len)
    is_certain = len(best) >= max(_MIN_COMMON_WORDS, len(found[0]) + 1) and max(map(len, best)) > 2
    return _known_languages()[found.index(best)] if is_certain else None


def mark_stems(text: str, language: Language) -> str:
    """Return the marked stems of the words of a text, with spaces between them."""
    return " ".join(mark_stem(stem, language) for stem in stem_words(text, language))


def mark_stem(stem: str, language: Language) -> str:
    """Return the term of a stem."""
    return f"{MARK}{language.letter}{stem}{MARK}"


def marked_language(term: str) -> Language | None:
    """Return the language of a marked stem; None for another term."""
    return _by_letter()[term[1]] if term.startswith(MARK) else None


def bare_stem(term: str) -> str:
    """Return a term without its mark."""
    return term[2:-1] if term.startswith(MARK) else term


@lru_cache(maxsize=20_000)
def is_form(word: str, term: str) -> bool:
    """Return whether a word is a form of a marked stem, or a compound that begins or ends with it."""
    language, stem = marked_language(term), bare_stem(term)
    if stem[:_COMMON_LETTERS] not in strip_accents(word.lower()):
        return False
    for own in stem_words(word, language) if language else ():
        is_part = language and language.has_compounds and len(stem) >= MIN_PART_CHARACTERS
        if own == stem or (is_part and (own.startswith(stem) or own.endswith(stem))):
            return True
    return False


def split_compound(stem: str, language: Language, known: Container[str]) -> list[str]:
    """Return the stems of the words that a compound is made of, as far as they are known; the best split."""
    best: list[str] = []
    for at in range(len(stem) - MIN_PART_CHARACTERS, MIN_PART_CHARACTERS - 2, -1):
        first = next(stem_words(stem[:at], language), "")
        parts = [part for part in (first, stem[at:]) if len(part) >= MIN_PART_CHARACTERS - 1 and part in known]
        if (len(parts), sum(map(len, parts))) > (len(best), sum(map(len, best))):
            best = parts
    return best


@cache
def _by_letter() -> dict[str, Language]:
    return {language.letter: language for language in languages()}


def stem_words(text: str, language: Language) -> Iterator[str]:
    """Yield the stem of each word of a text by the rules of a language, without accents."""
    return map(strip_accents, _analyzer(language.name).analyze(_HUMP.sub(r" \g<0>", text)))


@cache
def _analyzer(language: str) -> Any:
    import tantivy  # takes 7 ms, and only searches of other languages need it

    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple()).filter(tantivy.Filter.remove_long(200))
    return builder.filter(tantivy.Filter.lowercase()).filter(tantivy.Filter.stemmer(language)).build()


@lru_cache(maxsize=10_000)
def strip_accents(word: str) -> str:
    """Return a word without accents and other marks."""
    if word.isascii():
        return word
    plain = unicodedata.normalize("NFKD", word).translate(LETTER_REPLACEMENTS)
    return unicodedata.normalize("NFC", _ACCENTS.sub("", plain))


_ACCENTS = re.compile("[\u0300-\u036f]+")
LETTER_REPLACEMENTS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ŧ": "t", "ħ": "h"}
)
"""The common replacements of letters that have no Unicode decomposition."""
