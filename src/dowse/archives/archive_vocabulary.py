"""Matching of a query word against the words of the archives: exact, by form, by prefix, with typos."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_words import letter_bits, stem_words, strip_accents

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ACCENT_QUALITY = 0.97
"""Match quality of the same word with other accents."""
FORM_QUALITY = 0.95
"""Match quality of another form of the word: `learn`, `learned`."""
MIN_PREFIX_QUALITY, MAX_PREFIX_QUALITY = 0.5, 0.9
"""Match quality of a longer word that begins with the query word, by how much of it the query word is."""
TYPO_POWER = 3
"""Power to which the share of correct letters is raised for the match quality of a typo: one wrong letter of four
gives 0.42, one of eight 0.67, two of six 0.30. This keeps accidental matches below a score of 0.3."""

MIN_PREFIX_CHARACTERS = 3
MIN_ONE_TYPO_CHARACTERS = 3
MIN_TWO_TYPOS_CHARACTERS = 6
"""Minimum length of a query word to match as a prefix, with one typo, and with two typos."""
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
    spellings = database.derived("spellings", lambda: Spellings.load(database))
    max_distance = 2 if len(folded) >= MIN_TWO_TYPOS_CHARACTERS else 1
    near = spellings.near(folded, max_distance)
    nearest = min((distance for _, distance in near), default=0)
    best = [spelled for spelled in near if spelled[1] == nearest] or near
    quality = {other: (1 - distance / max(len(folded), len(other))) ** TYPO_POWER for other, distance in best}
    rows = database.rows_in("SELECT word, folded, documents FROM words WHERE folded IN", list(quality)[:500])
    ordered = sorted(rows, key=lambda row: (-quality[row[1]], -row[2], row[0]))
    yield from ((other, quality[other_folded]) for other, other_folded, _ in ordered[:MAX_TYPO_MATCHES])


@dataclass(frozen=True, slots=True)
class Spellings:
    """All words without accents, arranged to find those near another word in a millisecond."""

    words: list[str]
    """Sorted by length."""
    starts: list[int]
    """The index of the first word of each length."""
    letter_bits: "NDArray[np.int64]"

    @classmethod
    def load(cls, database: ArchiveDatabase) -> "Spellings":
        """Load the spellings of a database."""
        import numpy as np  # takes 70 ms, and only a search needs it

        rows = database.rows("SELECT DISTINCT folded, letters FROM words ORDER BY LENGTH(folded), folded")
        words = [row[0] for row in rows]
        lengths = list(map(len, words))
        starts = [bisect_left(lengths, length) for length in range((lengths[-1] if lengths else 0) + 2)]
        return cls(words, starts, np.fromiter((row[1] for row in rows), dtype=np.int64, count=len(rows)))

    def near(self, word: str, max_distance: int) -> list[tuple[str, int]]:
        """Return the other words within a number of changed, missing, added or swapped letters, with their distances."""
        import numpy as np
        from rapidfuzz.distance import OSA

        last = len(self.starts) - 1
        first, end = (
            self.starts[min(max(len(word) - max_distance, 0), last)],
            self.starts[min(len(word) + max_distance + 1, last)],
        )
        # A changed letter changes at most two bits, and swapped letters none: this excludes nearly all words.
        differing = np.bitwise_count(self.letter_bits[first:end] ^ np.int64(letter_bits(word)))
        found = list[tuple[str, int]]()
        for place in np.flatnonzero(differing <= 2 * max_distance).tolist():
            other = self.words[first + place]
            distance = OSA.distance(word, other, score_cutoff=max_distance)
            if 0 < distance <= max_distance:
                found.append((other, distance))
        return found
