"""Matching of a query word against the words of the archives: exact, by form, by prefix, with typos."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_words import stem_words, strip_accents
from dowse.text.vocabulary import Vocabulary

ACCENT_QUALITY = 0.97
"""Match quality of the same word with other accents."""
FORM_QUALITY = 0.95
"""Match quality of another form of the word: `learn`, `learned`."""
PART_QUALITY = 0.5
"""Match quality of a part of a compound that no document has."""
MIN_PREFIX_QUALITY, MAX_PREFIX_QUALITY = 0.5, 0.9
"""Match quality of a longer word that begins with the query word, by how much of it the query word is."""
TYPO_POWER = 3
"""Power to which the share of correct letters is raised for the match quality of a typo: one wrong letter of four
gives 0.42, one of eight 0.67, two of six 0.30. This keeps accidental matches below a score of 0.3."""

MIN_PREFIX_CHARACTERS = 3
MIN_PART_CHARACTERS = 3
MIN_ONE_TYPO_CHARACTERS = 3
MIN_TWO_TYPOS_CHARACTERS = 6
"""Minimum length of a query word to match as a prefix, of a part of a compound, and to match with one and two typos."""
COMMON_SHARE = 0.001
MIN_COMMON_DOCUMENTS = 5
"""A word in this share of the documents, and in at least this number, is taken as spelled correctly."""
MAX_PREFIX_MATCHES = 12
MAX_TYPO_MATCHES = 8


@dataclass(frozen=True, slots=True)
class QueryWord:
    """A word of a query and the words of the archives that match it."""

    word: str
    matches: dict[str, float]
    """The matching words of the archives, each with its match quality up to 1."""
    documents: int
    """The number of documents that have the best matches; a lower bound."""


def match_exactly(database: ArchiveDatabase, word: str) -> QueryWord:
    """Match the word itself and no other."""
    rows = database.rows("SELECT documents FROM words WHERE word = ?", (word,))
    return QueryWord(word, {word: 1.0} if rows else {}, rows[0][0] if rows else 0)


def match_fuzzily(database: ArchiveDatabase, word: str, total: int, *, is_last: bool = True) -> QueryWord:
    """Match the word, its other forms and accents, longer words that begin with it, and words within a typo or two.

    A common word is not matched with typos, and matches as a prefix only where it is the last of the query, as the user may
    still be typing it.
    """
    folded = strip_accents(word)
    (stem,) = stem_words([folded])
    found = dict[str, float]()
    counts = dict[str, int]()
    rows = database.rows(
        "SELECT word, folded, documents FROM words WHERE folded = ? OR stem = ? ORDER BY documents DESC",
        (folded, stem),
    )
    for other, other_folded, documents in rows:
        found[other] = 1.0 if other == word else ACCENT_QUALITY if other_folded == folded else FORM_QUALITY
        counts[other] = documents
    vocabulary = _vocabulary(database)
    for quality, words in (
        (FORM_QUALITY, vocabulary.forms(folded)),
        (PART_QUALITY, () if rows else vocabulary.split_compound(folded, MIN_PART_CHARACTERS)),
    ):
        for other, documents in _spellings(database, words):
            found.setdefault(other, quality)
            counts.setdefault(other, documents)
    # Other forms do not count: the stem of a misspelled word may be that of another word.
    known = sum(counts[other] for other, quality in found.items() if quality >= ACCENT_QUALITY)
    is_common = known >= max(MIN_COMMON_DOCUMENTS, COMMON_SHARE * total)
    if len(folded) >= MIN_PREFIX_CHARACTERS and (is_last or not is_common):
        for other, documents in _words_with_prefix(database, folded):
            share = len(folded) / len(other)
            found.setdefault(other, MIN_PREFIX_QUALITY + (MAX_PREFIX_QUALITY - MIN_PREFIX_QUALITY) * min(1.0, share))
            counts.setdefault(other, documents)
    if not is_common and not any(character.isdigit() for character in folded):
        for other, quality in _words_within_typos(database, folded):
            found.setdefault(other, quality)
    forms = max((counts[other] for other, quality in found.items() if quality >= FORM_QUALITY), default=0)
    return QueryWord(word, found, known or forms or max(counts.values(), default=1 if found else 0))


def _words_with_prefix(database: ArchiveDatabase, folded: str) -> list[Any]:
    return database.rows(
        "SELECT word, documents FROM words WHERE folded > ? AND folded < ? ORDER BY documents DESC LIMIT ?",
        (folded, folded + chr(0x10FFFF), MAX_PREFIX_MATCHES),
    )


def _words_within_typos(database: ArchiveDatabase, folded: str) -> Iterable[tuple[str, float]]:
    """Yield words within one or two typos, with their match quality; two only where no word is within one."""
    if len(folded) < MIN_ONE_TYPO_CHARACTERS:
        return
    vocabulary = _vocabulary(database)
    near = vocabulary.similar_words(folded, 2 if len(folded) >= MIN_TWO_TYPOS_CHARACTERS else 1)
    best = [found for found in near if found[1] == near[0][1]]
    quality = {other: (1 - typos / max(len(folded), len(other))) ** TYPO_POWER for other, typos in best}
    rows = database.rows_in("SELECT word, folded, documents FROM words WHERE folded IN", list(quality)[:500])
    ordered = sorted(rows, key=lambda row: (-quality[row[1]], -row[2], row[0]))
    yield from ((other, quality[other_folded]) for other, other_folded, _ in ordered[:MAX_TYPO_MATCHES])


def _spellings(database: ArchiveDatabase, folded: Sequence[str]) -> Iterable[Any]:
    """Return the words that are these without accents, each with the number of documents that have it."""
    return database.rows_in("SELECT word, documents FROM words WHERE folded IN", list(folded)[:500]) if folded else ()


def _vocabulary(database: ArchiveDatabase) -> Vocabulary:
    """Return all words of the archives without accents."""
    every = "SELECT folded, SUM(documents) FROM words GROUP BY folded"
    return database.derived("vocabulary", lambda: Vocabulary(dict(database.rows(every))))
