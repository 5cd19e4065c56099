"""Text analysis: how text becomes terms, for indexing and for queries alike, and what a term is worth.

Tantivy's simple tokenizer splits at every character that is not a letter or digit and runs without
the interpreter's lock; a regular-expression tokenizer takes three times as long. This module
therefore prepares the text for the simple one, in two ways: `keep_identifiers` keeps an identifier
in one piece, and `split_identifiers` also splits it into its words.

Documents in other languages than English have the stems of their words beside that. A stem that was made by the rules
of a language carries a mark and the letter of the language. So it is no term of an English text, and tells how other
words are to be compared with it.
"""

import re
import unicodedata
from collections.abc import Container, Iterable, Iterator
from functools import cache, lru_cache
from math import log
from pathlib import Path
from typing import Any, NamedTuple

import tantivy

_JOINER = "\u02cd"
"""A letter that looks like an underscore and does not occur in practice: it keeps `snake_case` whole."""

_HUMP = re.compile(r"[A-Z](?:(?<=[a-z0-9][A-Z])|(?<=[A-Z][A-Z])(?=[a-z]))")
"""The capital that begins a new word: the `U` of `getUser`, the `S` of `HTTPServer`. An expression that begins with the
capital is searched twice as fast as one that begins with a condition."""
_UNSPACED_CHARACTERS = r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
_UNSPACED_RUN = re.compile(f"{_UNSPACED_CHARACTERS}+")
"""Characters of scripts without spaces between words: whole terms are single characters, parts are pairs."""
_PAIRED_RUN = re.compile(f"(?:{_UNSPACED_CHARACTERS}|[\uac00-\ud7a3])+")
"""The same with Korean, whose words have many endings, so that their parts are pairs as well."""
_ENDINGS = re.compile(r"[\u3040-\u309f]+")

ASCII_LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
"""The letters and digits of ASCII, as bytes."""
_CAPITALS, _SPACE, _FIRST_BEYOND_ASCII = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"), 32, 128

_LETTERS = bytes(97 if chr(code).isalnum() else 32 for code in range(128)).ljust(256)
"""Makes every letter and digit of ASCII one letter, and all else a space."""
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_LONG_RUN = b"a" * 50
"""Letters that may be a word which is too long to be indexed: a letter has up to four bytes."""

_WORD = re.compile(r"[^\W_]+")
_NO_WORD = re.compile(r"[\W_]+")
_FOLDABLE = re.compile("[^\x00-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf\u2000-\u2bff]+")
"""Letters and marks beyond ASCII; most texts have only typographic signs, which need no folding. The class names the
characters that it leaves out: naming all others takes 8 ms to compile."""
_FOLDED_WORD = re.compile(rf"(?:{_FOLDABLE.pattern}|[^\W_])+")
_WRITTEN_WORD = re.compile(r"(?:[^\W_][\u0300-\u036f]*)+(?:\+\+|#)?")


def keep_identifiers(text: str) -> str:
    """Prepare a text so that the tokenizer keeps each identifier in one piece."""
    spaced = text if text.isascii() else _UNSPACED_RUN.sub(lambda run: f" {' '.join(run[0])} ", text)
    return spaced.replace("_", _JOINER)


def split_identifiers(text: str) -> str:
    """Prepare a text so that the tokenizer splits identifiers at changes of case.

    It splits at underscores by itself.
    """
    plain = text if text.isascii() else _FOLDABLE.sub(lambda run: _split_run(run[0]), text)
    return _HUMP.sub(lambda capital: f" {capital[0]}", plain)


def begins_term(data: bytes, at: int) -> bool:
    """Return whether a term of the split identifiers of a text in UTF-8 begins at a letter or digit."""
    before, letter = data[at - 1] if at else _SPACE, data[at]
    if before < _FIRST_BEYOND_ASCII and letter < _FIRST_BEYOND_ASCII:
        if before not in ASCII_LETTERS:
            return True
        return letter in _CAPITALS and (before not in _CAPITALS or data[at + 1 : at + 2].islower())
    around = data[max(0, at - 4) : at].decode("utf-8", "ignore")[-1:], data[at : at + 4].decode("utf-8", "ignore")[:1]
    return not around[0].isalnum() or any(map(_UNSPACED_RUN.match, around))


def remove_separators(name: str) -> str:
    """Remove the separators between the words of a name, so that `loginUser` finds `login_user`."""
    return name.replace("_", "").replace("-", "")


@lru_cache(maxsize=10_000)
def _split_run(run: str) -> str:
    """Return letters beyond ASCII as parts: without accents, and unspaced scripts in pairs."""
    return _PAIRED_RUN.sub(_space_out_pairs, strip_accents(run))


def fold(text: str) -> str:
    """Prepare a text so that its words are found without regard to case, accents and width.

    Scripts without spaces become pairs of characters.
    """
    for signs in ("++", "#"):
        if signs in text:
            text = _keep_signs(text, signs)
    small = text.lower()
    return small if small.isascii() else _FOLDABLE.sub(lambda run: _fold_run(run[0]), small)


def is_folded(text: str) -> bool:
    """Return whether the words of a text are compared as they are written, but in lower case."""
    return text.isascii() or _FOLDABLE.search(text) is None


def words_beyond_ascii(text: str) -> Iterator["re.Match[str]"]:
    """Yield the words of a text that have letters beyond ASCII, which are indexed in another form."""
    end = 0
    for run in _FOLDABLE.finditer(text):
        if run.start() >= end:
            start = run.start()
            while start > end and (text[start - 1].isalnum() or unicodedata.combining(text[start - 1])):
                start -= 1
            found = _FOLDED_WORD.match(text, start)
            if found:
                end = max(found.end(), run.end())
                yield found


def folded_words(text: str) -> list[str]:
    """Return the words of a text, folded."""
    return _WORD.findall(fold(text))


def folded_spans(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the folded words of a text with the start and end of each."""
    for found in _WRITTEN_WORD.finditer(text):
        for word in folded_words(found[0]):
            yield word, found.start(), found.end()


def _keep_signs(text: str, signs: str) -> str:
    """Replace the signs of `C++` and `C#`, which are words, by letters. An expression takes ten times as long."""
    before, *rest = text.split(signs)
    pieces = [before]
    for after in rest:
        is_word = before[-1:].isalpha() and not before[-2:-1].isalnum() and not after[:1].isalnum()
        pieces += [_JOINER * len(signs) if is_word else signs, after]
        before = after
    return "".join(pieces)


@lru_cache(maxsize=10_000)
def _fold_run(run: str) -> str:
    # Some letters have a small form only once they are plain: the bold capitals of mathematics.
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", run).casefold())
    plain = unicodedata.normalize("NFC", "".join(letter for letter in plain if not unicodedata.combining(letter)))
    return _UNSPACED_RUN.sub(_space_out_pairs, _NO_WORD.sub(" ", plain))


def _space_out_pairs(run: "re.Match[str]") -> str:
    characters = run[0]
    pairs = (characters[at : at + 2] for at in range(max(1, len(characters) - 1)))
    return f" {' '.join(pairs)} "


def terms_of(text: str) -> list[str]:
    """Return the terms of a text as they are indexed: identifiers split, lower case, stemmed."""
    found: list[str] = PARTS_ANALYZER.analyze(split_identifiers(text))
    return found


def is_unspaced(word: str) -> bool:
    """Return whether a word has letters of a script that is written without spaces."""
    return re.search(_UNSPACED_CHARACTERS, word) is not None


def split_unspaced(words: Iterable[str]) -> Iterator[str]:
    """Yield words, and pairs of characters instead of words in scripts without spaces, which may be sentences.

    Pairs of Japanese endings and particles are left out, unless a word has no others.
    """
    for word in words:
        if word.isascii() or _PAIRED_RUN.search(word) is None:
            yield word
        else:
            pairs = split_identifiers(word).split()
            yield from [pair for pair in pairs if not _ENDINGS.fullmatch(pair)] or pairs


def whole_terms_of(text: str) -> list[str]:
    """Return the terms of a text with identifiers kept in one piece, lower case."""
    found: list[str] = WHOLE_ANALYZER.analyze(keep_identifiers(text))
    return found


def count_terms(prepared: str, analyzer: Any) -> int:
    """Return how many terms an analyzer finds in a prepared text, in a tenth of its time."""
    plain = prepared.replace(_JOINER, "a")  # code is full of them
    plain = plain if plain.isascii() else _BEYOND_ASCII.sub(lambda run: _classify(run[0]), plain)
    letters = plain.encode().translate(_LETTERS)
    return len(analyzer.analyze(prepared)) if _LONG_RUN in letters else len(letters.split())


@lru_cache(maxsize=10_000)
def _classify(run: str) -> str:
    """Return a letter for each character that is a part of a word, and a space for each other one."""
    return "".join("a" if WHOLE_ANALYZER.analyze(character) else " " for character in run)


def restore_underscores(term: str) -> str:
    """Return a whole term as it is written in a text."""
    return term.replace(_JOINER, "_")


@cache
def _analyzer(language: str = "") -> Any:
    """Return an analyzer that makes stems by the rules of a language, or keeps the words in lower case."""
    builder = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.simple())
    builder = builder.filter(tantivy.Filter.remove_long(200)).filter(tantivy.Filter.lowercase())
    return (builder.filter(tantivy.Filter.stemmer(language)) if language else builder).build()


WHOLE_ANALYZER, PARTS_ANALYZER = _analyzer(), _analyzer("english")


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
_CAPITAL = re.compile(r"(?<=[^\W\d_A-Z])[A-Z]")


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
        return _language_of("r")
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
    return _language_of(term[1]) if term.startswith(MARK) else None


@cache
def _language_of(letter: str) -> Language:
    return next(language for language in languages() if language.letter == letter)


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


def stem_words(text: str, language: Language) -> Iterator[str]:
    """Yield the stem of each word of a text by the rules of a language, without accents."""
    return map(strip_accents, _analyzer(language.name).analyze(_CAPITAL.sub(r" \g<0>", text)))


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


def rarity(frequency: int, total: int) -> float:
    """Return the weight of a term that occurs in `frequency` of `total` texts."""
    return log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def other_forms(term: str) -> tuple[str, ...]:
    """Return the terms of the short forms of a long word that code abbreviates, such as `cfg`, or of the long forms of a short one."""
    return _forms().get(term, ())


@cache
def _forms() -> dict[str, tuple[str, ...]]:
    lines = Path(__file__).with_name("abbreviations.txt").read_text(encoding="utf-8").splitlines()
    found: dict[str, tuple[str, ...]] = {}
    for line in lines:
        if not line.startswith("#"):
            short, long = (tuple(dict.fromkeys(terms_of(part))) for part in line.split(":"))
            for terms, others in ((short, long), (long, short)):
                for term in terms:
                    found[term] = tuple(dict.fromkeys((*found.get(term, ()), *others)))
    return found
