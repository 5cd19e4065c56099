"""Which words of the archives a word of a query may stand for, and how well."""

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_words import fold, letters, stems

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ACCENTS = 0.97
"""The same word with other accents."""
FORM = 0.95
"""Another form of the word: `learn`, `learned`."""
PREFIX_LEAST, PREFIX_MOST = 0.5, 0.9
"""A word that begins so, by how much of it was written."""
TYPO_POWER = 3
"""Each letter that is right counts, and the more of a short word: one wrong of four 0.42, of eight 0.67, two of six
0.30, so that a word that is like nothing stays below the 0.3 of what nobody meant."""

PREFIX_CHARACTERS = 3
ONE_TYPO_CHARACTERS = 3
TWO_TYPOS_CHARACTERS = 6
"""From how many letters on a word may be a beginning, may have one wrong letter, may have two."""
COMMON_SHARE = 0.001
COMMON_LEAST = 5
"""A word that so many documents have is spelled as it was meant."""
MOST_PREFIXED = 12
MOST_TYPOS = 8


@dataclass(frozen=True, slots=True)
class WordMeaning:
    """What a word of a query may stand for."""

    word: str
    matches: dict[str, float]
    """Words of the archives, and how well each stands for it, up to 1."""
    documents: int
    """How many have the best of them, at least."""


def exact_meaning(database: ArchiveDatabase, word: str) -> WordMeaning:
    """The word itself and nothing else."""
    rows = database.rows("SELECT documents FROM words WHERE word = ?", (word,))
    return WordMeaning(word, {word: 1.0} if rows else {}, rows[0][0] if rows else 0)


def fuzzy_meaning(database: ArchiveDatabase, word: str, total: int, *, is_last: bool = True) -> WordMeaning:
    """The word, its other forms and accents, what it may be the beginning of or a slip of the pen for.

    A common word is taken as it is, but that the last one of a query may be a beginning: who types has not
    finished it yet.
    """
    folded = fold(word)
    (stem,) = stems([folded])
    found = dict[str, float]()
    counts = dict[str, int]()
    rows = database.rows(
        "SELECT word, folded, documents FROM words WHERE folded = ?1 OR stem = ?2 ORDER BY documents DESC",
        (folded, stem),
    )
    for other, bare, documents in rows:
        found[other] = 1.0 if other == word else ACCENTS if bare == folded else FORM
        counts[other] = documents
    # Not its other forms: the stem of a slip may be that of another word.
    known = sum(counts[other] for other, quality in found.items() if quality >= ACCENTS)
    is_common = known >= max(COMMON_LEAST, COMMON_SHARE * total)
    if len(folded) >= PREFIX_CHARACTERS and (is_last or not is_common):
        for other, documents in _beginning_with(database, folded):
            share = len(folded) / len(other)
            found.setdefault(other, PREFIX_LEAST + (PREFIX_MOST - PREFIX_LEAST) * min(1.0, share))
            counts.setdefault(other, documents)
    if not is_common and not any(sign.isdigit() for sign in folded):
        for other, quality in _nearly(database, folded):
            found.setdefault(other, quality)
    forms = max((counts[other] for other, quality in found.items() if quality >= FORM), default=0)
    return WordMeaning(word, found, known or forms or max(counts.values(), default=1 if found else 0))


def _beginning_with(database: ArchiveDatabase, folded: str) -> list[Any]:
    return database.rows(
        "SELECT word, documents FROM words WHERE folded > ? AND folded < ? ORDER BY documents DESC LIMIT ?",
        (folded, folded + chr(0x10FFFF), MOST_PREFIXED),
    )


def _nearly(database: ArchiveDatabase, folded: str) -> Iterable[tuple[str, float]]:
    """Words with a wrong letter or two; two only where one is not enough to be a word."""
    if len(folded) < ONE_TYPO_CHARACTERS:
        return
    spellings = database.derived("spellings", lambda: Spellings.of(database))
    most = 2 if len(folded) >= TWO_TYPOS_CHARACTERS else 1
    near = spellings.near(folded, most)
    least = min((distance for _, distance in near), default=0)
    best = [spelled for spelled in near if spelled[1] == least] or near
    quality = {other: (1 - distance / max(len(folded), len(other))) ** TYPO_POWER for other, distance in best}
    rows = database.rows_in("SELECT word, folded, documents FROM words WHERE folded IN", list(quality)[:500])
    ordered = sorted(rows, key=lambda row: (-quality[row[1]], -row[2], row[0]))
    yield from ((other, quality[bare]) for other, bare, _ in ordered[:MOST_TYPOS])


@dataclass(frozen=True, slots=True)
class Spellings:
    """All words without their accents, laid out so that those near to another are found in a millisecond."""

    words: list[str]
    """By length."""
    starts: list[int]
    """Where the words of each length begin."""
    letters: "NDArray[np.int64]"

    @classmethod
    def of(cls, database: ArchiveDatabase) -> "Spellings":
        """The spellings of a database."""
        import numpy as np  # 70 ms, for those who search

        rows = database.rows("SELECT DISTINCT folded, letters FROM words ORDER BY LENGTH(folded), folded")
        words = [row[0] for row in rows]
        lengths = list(map(len, words))
        starts = [bisect_left(lengths, length) for length in range((lengths[-1] if lengths else 0) + 2)]
        return cls(words, starts, np.fromiter((row[1] for row in rows), dtype=np.int64, count=len(rows)))

    def near(self, word: str, most: int) -> list[tuple[str, int]]:
        """The words at a distance of at most so many changed, missing, added or swapped letters; not the word itself."""
        import numpy as np
        from rapidfuzz.distance import OSA

        last = len(self.starts) - 1
        first, end = self.starts[min(max(len(word) - most, 0), last)], self.starts[min(len(word) + most + 1, last)]
        # A changed letter changes two bits at most, and swapped ones none: nearly all words are left out by that.
        differing = np.bitwise_count(self.letters[first:end] ^ np.int64(letters(word)))
        found = list[tuple[str, int]]()
        for place in np.flatnonzero(differing <= 2 * most).tolist():
            other = self.words[first + place]
            distance = OSA.distance(word, other, score_cutoff=most)
            if 0 < distance <= most:
                found.append((other, distance))
        return found
