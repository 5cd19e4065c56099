"""Ranking of archived documents as wholes: title before question before content, by the words that a document has.

The words of a query may be far apart in a document: five random words of a PEP find it among 736 with nDCG@10 0.71, and
with 0.63 if passages are ranked first.
"""

from dataclasses import dataclass, replace

from dowse.archives.archive_words import ArchiveWords
from dowse.protocols import Searchable
from dowse.searching.passages import holds_phrase
from dowse.searching.ranking_constants import DOCS_CHUNK_WEIGHTS
from dowse.types import DocumentMatch, StoredDocument, TextQuery

MAX_CANDIDATES = 150
"""Documents with the most words of a query that are scored."""
MAX_TITLES = 60
"""Documents with the most words of a query in their title that are scored."""
MAX_PASSAGES = 100
"""The best passages of all documents; each raises the score of its document."""

TITLE_SCORE, TITLE_SHARE_SCORE, TITLE_PHRASE_SCORE = 0.8, 0.15, 0.05
"""Score for all words in the title, what is added in proportion to the share of the title that they are, and for the
query as a phrase."""
QUESTION_SCORE, QUESTION_SHARE_SCORE = 0.66, 0.1
CONTENT_SCORE, LENGTH_SCORE, PASSAGE_SCORE = 0.5, 0.1, 0.05
"""Score for all words in the content, and what is added for a short document and for a good passage."""
PARTIAL_TITLE_SCORE = 0.1
"""Added in proportion to the share of the query in the title, where the title has only a part of it."""
MAX_CONTENT_SCORE = 0.79
HALF_LENGTH = 15
"""Chunks of a document that gets half of what is added for a short one."""
MIN_SCORE = 0.05
"""Documents with a lower score are not returned."""


@dataclass(frozen=True, slots=True)
class RankedArchived:
    """A document with its score."""

    document: StoredDocument
    score: float


def rank_archived(store: Searchable, words: ArchiveWords, among: frozenset[int] | None = None) -> list[RankedArchived]:
    """Return the documents with the most words of a query, best first."""
    everywhere = DocumentMatch((), among=among)
    in_titles = store.cover_documents(words.scores, replace(everywhere, in_texts=False), MAX_TITLES)
    titles = {one.id: one.score for one in in_titles}
    passages = _best_passages(store, words, among)
    found = {one.id: one.score for one in store.cover_documents(words.scores, everywhere, MAX_CANDIDATES)}
    if len(found) == MAX_CANDIDATES and (others := (titles.keys() | passages.keys()) - found.keys()):
        more = store.cover_documents(words.scores, replace(everywhere, among=frozenset(others)), len(others))
        found |= {one.id: one.score for one in more}
    ranked = list[tuple[float, float, str, StoredDocument]]()
    for number, document in store.documents_by_id(found).items():
        in_title, passage = titles.get(number, 0.0), passages.get(number, 0.0)
        content = _content_score(document, found[number], in_title, passage)
        score = max(content, _title_score(words, document.title) if in_title else 0.0)
        if score >= MIN_SCORE:
            ranked.append((-score, -content, document.path, document))
    return [RankedArchived(document, -score) for score, _, _, document in sorted(ranked, key=lambda one: one[:3])]


def question_score(words: ArchiveWords, question: str) -> float:
    """Return the score of a document whose question has every word of the query; 0 if it has not."""
    matched = words.match(question) if question else None
    return round(matched[0] * (QUESTION_SCORE + QUESTION_SHARE_SCORE * matched[1]), 4) if matched else 0.0


def _best_passages(store: Searchable, words: ArchiveWords, among: frozenset[int] | None) -> dict[int, float]:
    """Return the score of the best passage of each document, relative to the best of all."""
    best = dict[int, float]()
    for chunk in store.find_chunks(TextQuery(words.spellings, DOCS_CHUNK_WEIGHTS, among=among), MAX_PASSAGES):
        best.setdefault(chunk.document_id, chunk.score)
    highest = max(best.values(), default=1.0)
    return {number: score / highest for number, score in best.items()}


def _title_score(words: ArchiveWords, title: str) -> float:
    """Return the score of a document whose title has every word of the query; 0 if it has not."""
    if not (matched := words.match(title)):
        return 0.0
    phrase = TITLE_PHRASE_SCORE * holds_phrase(title, words.text)
    return round(matched[0] * (TITLE_SCORE + TITLE_SHARE_SCORE * matched[1] + phrase), 4)


def _content_score(document: StoredDocument, anywhere: float, in_title: float, passage: float) -> float:
    shortness = HALF_LENGTH / (HALF_LENGTH + document.chunk_count)
    content = anywhere * (CONTENT_SCORE + LENGTH_SCORE * shortness + PASSAGE_SCORE * passage)
    return round(min(MAX_CONTENT_SCORE, content + PARTIAL_TITLE_SCORE * in_title), 4)
