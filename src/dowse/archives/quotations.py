"""Captured pages whose words a report repeats, though no link says so; inferred, and only where it was asked for.

The measure: both texts are cut into runs of eight words in a row, small letters and no markup. Runs that more
than three documents have are phrases of the language or of a site, and do not count. A report quotes a page
when it has at least five runs of it; the confidence is 0.5 for five and rises to 0.9 for forty and more. Five
runs are twelve words in a row.
"""

import sqlite3
import zlib
from collections import Counter, defaultdict

from dowse.archives.archive_types import CitationKind
from dowse.archives.archive_words import words_of

RUN_WORDS = 8
LEAST_RUNS = 5
MANY_RUNS = 40
MOST_SHARERS = 3
LEAST_CONFIDENCE, MOST_CONFIDENCE = 0.5, 0.9
CONTEXT_CHARACTERS = 200


def find_quotations(connection: sqlite3.Connection) -> None:
    """Write anew which reports quote which captured pages; where an explicit link says the same, it says enough."""
    connection.execute("DELETE FROM citations WHERE kind = ?", (CitationKind.QUOTE,))
    owners = _owners(connection)
    for number, path_url, context, runs in _quoted(connection, owners):
        ordinal = connection.execute("SELECT COALESCE(MAX(ordinal), -1) + 1 FROM citations WHERE source = ?", (number,))
        target, url = path_url
        connection.execute(
            "INSERT INTO citations (source, ordinal, target, url, written, key, kind, context, line, confidence) "
            "VALUES (?, ?, ?, ?, '', '', ?, ?, 0, ?)",
            (number, ordinal.fetchone()[0], target, url, CitationKind.QUOTE, context, _confidence(runs)),
        )


def _owners(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """For each run of words of a captured page, the pages that have it."""
    owners = defaultdict[int, list[int]](list)
    rows = connection.execute(
        "SELECT document, text FROM content JOIN documents ON number = document WHERE source = 'url-content'"
    )
    for number, text in rows:
        for run in set(_runs(words_of(text))):
            if len(owners[run]) <= MOST_SHARERS:
                owners[run].append(number)
    return {run: numbers for run, numbers in owners.items() if len(numbers) <= MOST_SHARERS}


def _quoted(
    connection: sqlite3.Connection, owners: dict[int, list[int]]
) -> list[tuple[int, tuple[int, str], str, int]]:
    addresses = dict(connection.execute("SELECT number, url FROM documents").fetchall())
    linked = {
        (source, target)
        for source, target in connection.execute(
            "SELECT DISTINCT source, target FROM citations WHERE target IS NOT NULL AND is_citation AND kind != ?",
            (CitationKind.MENTION,),
        )
    }
    found = list[tuple[int, tuple[int, str], str, int]]()
    rows = connection.execute(
        "SELECT document, text FROM content JOIN documents ON number = document WHERE source = 'research'"
    )
    for number, text in rows:
        words = words_of(text)
        counts, first = Counter[int](), dict[int, int]()
        for at, run in enumerate(_runs(words)):
            for page in owners.get(run, ()):
                counts[page] += 1
                first.setdefault(page, at)
        for page, runs in counts.items():
            if runs >= LEAST_RUNS and (number, page) not in linked:
                context = " ".join(words[first[page] : first[page] + 40])[:CONTEXT_CHARACTERS]
                found.append((number, (page, addresses[page]), context, runs))
    return found


def _runs(words: list[str]) -> list[int]:
    """The runs of words of a text as numbers that are the same in every process."""
    return [
        zlib.crc32(" ".join(words[at : at + RUN_WORDS]).encode("utf-8", "replace"))
        for at in range(len(words) - RUN_WORDS + 1)
    ]


def _confidence(runs: int) -> float:
    share = min(1.0, (runs - LEAST_RUNS) / (MANY_RUNS - LEAST_RUNS))
    return round(LEAST_CONFIDENCE + (MOST_CONFIDENCE - LEAST_CONFIDENCE) * share, 2)
