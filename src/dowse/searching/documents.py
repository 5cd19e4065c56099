"""Documents by their titles and by what they say, in one order: a title outranks the same words in the text."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dowse.searching.answering import Answer, Hit
from dowse.searching.passages import Passage, terms_in
from dowse.searching.query import Query
from dowse.store.analysis import terms_of
from dowse.types import Store, StoredDocument

Place = Literal["title", "content", "both"]

TITLE_LEAST = 0.8
"""Every word of the query in the title; the rest of the way to 1 is how much else the title says."""
CONTENT_MOST = 0.79
CONTENT = 0.7
PART_OF_TITLE = 0.15
"""The content counts less than a whole title, and a part of the title a little beside it."""


@dataclass(frozen=True, slots=True)
class Titles:
    """The titles of all documents, as they are searched."""

    sequence: int
    documents: Mapping[int, StoredDocument] = field(default_factory=dict)
    terms: Mapping[int, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """A document that was found, where, and what it says there."""

    document: StoredDocument
    relevance: float
    place: Place
    passage: Passage | None = None


def titles_of(store: Store, sequence: int) -> Titles:
    """Gather the titles of a store: 60 ms for 15,000, so it is done once for each state of it."""
    documents = {document.id: document for document in store.documents()}
    return Titles(sequence, documents, {number: frozenset(terms_of(one.title)) for number, one in documents.items()})


def by_title(titles: Titles, query: Query, corrected: Mapping[str, str], among: Collection[int]) -> dict[int, float]:
    """Of each document how much of the query, up to 1, its title says; 1 and more for all of it."""
    words = [corrected.get(word.lower(), word) for word in query.positive]
    wanted = set(terms_of(" ".join(words)))
    if not wanted:
        return {}
    found: dict[int, float] = {}
    for number in among:
        title = titles.terms.get(number, frozenset())
        share = len(wanted & title) / len(wanted)
        if share:
            found[number] = share + len(wanted) / len(title) if share == 1 else share
    return found


def matching(
    store: Store, titles: Titles, query: Query, corrected: Mapping[str, str], among: Iterable[int]
) -> set[int]:
    """All documents whose text holds what is asked for: every required word, or any word where none is."""
    allowed = set(among)
    required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
    if required:
        found = allowed.intersection(*(store.holders(word) for word in required))
    else:
        words = (*query.positive, *corrected.values())
        found = allowed & set().union(*(store.holders(word) for word in words))
    return found.difference(*(store.holders(word) for word in query.must_not)) & titles.documents.keys()


def in_order(
    titles: Titles, answer: Answer, by_titles: Mapping[int, float], search_in: Place, limit: int
) -> list[Found]:
    """Documents found by title, by content or by both, best first."""
    numbers = {document.path: number for number, document in titles.documents.items()}
    hits = {numbers[hit.path]: hit for hit in answer.hits if hit.path in numbers} if search_in != "title" else {}
    shares = by_titles if search_in != "content" else {}
    found = [_found(titles.documents[number], shares.get(number, 0.0), hits.get(number)) for number in {*hits, *shares}]
    found.sort(key=lambda one: (-one.relevance, one.document.path))
    return found[:limit]


def _found(document: StoredDocument, share: float, hit: Hit | None) -> Found:
    relevance = min(CONTENT_MOST, CONTENT * hit.relevance + PART_OF_TITLE * min(share, 1.0)) if hit else CONTENT * share
    if share >= 1:
        relevance = max(relevance, TITLE_LEAST + (1 - TITLE_LEAST) * min(1.0, share - 1))
    place: Place = (
        "both" if hit and share and _says(hit) else "title" if share and not (hit and _says(hit)) else "content"
    )
    return Found(document, round(min(relevance, 1.0), 4), place, hit.passages[0] if hit and hit.passages else None)


def _says(hit: Hit) -> bool:
    """Whether the passages themselves say something, and not only the names around them."""
    return any(terms_in(passage.text) for passage in hit.passages)
