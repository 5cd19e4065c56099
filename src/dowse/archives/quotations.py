"""Inferred citations of captured pages that a report quotes without a link; an option of indexing.

Both texts are cut into overlapping runs of eight words, in lower case and without markup. Runs that more than
three pages have are phrases of the language or of a site, and do not count. A report quotes a page when it has
at least five runs of it, which is twelve words in a row. The confidence is 0.5 for five runs and rises to 0.9
for forty and more.
"""

import sqlite3
import zlib
from collections import Counter, defaultdict

from dowse.archives.archive_types import CitationKind
from dowse.archives.archive_words import split_words

RUN_WORDS = 8
MIN_RUNS = 5
MAX_CONFIDENCE_RUNS = 40
MAX_SHARING_PAGES = 3
MIN_CONFIDENCE, MAX_CONFIDENCE = 0.5, 0.9
CONTEXT_CHARACTERS = 200


def find_quotations(connection: sqlite3.Connection) -> None:
    """Replace the citations by quotation of all reports. A page that the report also links to is left out."""
    connection.execute("DELETE FROM citations WHERE kind = ?", (CitationKind.QUOTE,))
    pages_by_run = _pages_by_run(connection)
    for number, page, context, runs in _find_quoted_pages(connection, pages_by_run):
        ordinal = connection.execute("SELECT COALESCE(MAX(ordinal), -1) + 1 FROM citations WHERE source = ?", (number,))
        target, url = page
        connection.execute(
            "INSERT INTO citations (source, ordinal, target, url, written, key, kind, context, line, confidence) "
            "VALUES (?, ?, ?, ?, '', '', ?, ?, 0, ?)",
            (number, ordinal.fetchone()[0], target, url, CitationKind.QUOTE, context, _confidence(runs)),
        )


def _pages_by_run(connection: sqlite3.Connection) -> dict[int, list[int]]:
    """Return, for each run of words in captured pages, the pages that have it."""
    pages_by_run = defaultdict[int, list[int]](list)
    rows = connection.execute(
        "SELECT document, text FROM content JOIN documents ON number = document WHERE source = 'url-content'"
    )
    for number, text in rows:
        for run in set(_hash_runs(split_words(text))):
            if len(pages_by_run[run]) <= MAX_SHARING_PAGES:
                pages_by_run[run].append(number)
    return {run: numbers for run, numbers in pages_by_run.items() if len(numbers) <= MAX_SHARING_PAGES}


def _find_quoted_pages(
    connection: sqlite3.Connection, pages_by_run: dict[int, list[int]]
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
        words = split_words(text)
        counts, first = Counter[int](), dict[int, int]()
        for at, run in enumerate(_hash_runs(words)):
            for page in pages_by_run.get(run, ()):
                counts[page] += 1
                first.setdefault(page, at)
        for page, runs in counts.items():
            if runs >= MIN_RUNS and (number, page) not in linked:
                context = " ".join(words[first[page] : first[page] + 40])[:CONTEXT_CHARACTERS]
                found.append((number, (page, addresses[page]), context, runs))
    return found


def _hash_runs(words: list[str]) -> list[int]:
    """Return the runs of words of a text as hashes that are the same in every process."""
    return [
        zlib.crc32(" ".join(words[at : at + RUN_WORDS]).encode("utf-8", "replace"))
        for at in range(len(words) - RUN_WORDS + 1)
    ]


def _confidence(runs: int) -> float:
    share = min(1.0, (runs - MIN_RUNS) / (MAX_CONFIDENCE_RUNS - MIN_RUNS))
    return round(MIN_CONFIDENCE + (MAX_CONFIDENCE - MIN_CONFIDENCE) * share, 2)
