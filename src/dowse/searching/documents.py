"""Documents by their titles and by what they say, in one order: a title outranks the same words in the text."""

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from dowse.searching.answering import Answer, Hit
from dowse.searching.passages import Passage, holds_phrase
from dowse.searching.query import Query
from dowse.searching.verifying import Current, ReadBytes, verify
from dowse.store.analysis import terms_of
from dowse.types import Store, StoredDocument

Place = Literal["title", "content", "both"]

TITLE_LEAST = 0.8
"""Every word of the query in the title; the rest of the way to 1 is how much else the title says."""
CONTENT_MOST = 0.79
CONTENT = 0.7
PART_OF_TITLE = 0.15
"""The content counts less than a whole title, and a part of the title a little beside it."""
PHRASE_SECONDS = 0.2
"""How long documents may be read to count those that hold a phrase; any left are counted by its words."""


@dataclass(frozen=True, slots=True)
class Titles:
    """The titles of all documents, as they are searched."""

    sequence: int
    documents: Mapping[int, StoredDocument] = field(default_factory=dict)
    terms: Mapping[int, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked for, where, and among which documents."""

    query: Query
    corrected: Mapping[str, str]
    place: Place
    limit: int
    among: Collection[int]


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


def find(store: Store, read: ReadBytes, titles: Titles, asked: Asked, answer: Answer) -> tuple[list[Found], int]:
    """The best documents by title and content, up to the asked limit, and how many there are at all."""
    in_titles = _by_title(titles, asked) if asked.place != "content" else {}
    in_texts = _by_content(store, read, titles, asked) if asked.place != "title" else frozenset()
    if asked.place == "both":
        holders = _excluded_by_text(store, asked.query)
        in_titles = {number: share for number, share in in_titles.items() if number not in holders}
        in_texts -= {number for number in in_texts if _is_excluded(titles.documents[number].title, asked.query)}
    numbers = {document.path: number for number, document in titles.documents.items()}
    hits = {number: hit for hit in answer.hits if (number := numbers.get(hit.path)) in in_texts and number is not None}
    every = [
        _found(titles.documents[number], in_titles.get(number, 0.0), hits.get(number), in_text=number in in_texts)
        for number in {*hits, *in_titles}
    ]
    places = {number: place for place, number in enumerate(hits)}
    last = len(places)  # of equals, as ranked by content
    every.sort(key=lambda one: (-one.relevance, places.get(one.document.id, last), one.document.path))
    shown, gone = _as_they_are(store, read, every, asked.limit)
    return shown, len(in_texts | in_titles.keys()) - gone


def _by_title(titles: Titles, asked: Asked) -> dict[int, float]:
    """Of each document how much of the query, up to 1, its title says; more than 1 for all of it."""
    query = asked.query
    wanted = set(terms_of(" ".join(asked.corrected.get(word.lower(), word) for word in query.positive)))
    required = set(terms_of(" ".join(query.must)))
    found: dict[int, float] = {}
    for number in asked.among if wanted else ():
        terms = titles.terms.get(number, frozenset())
        share = len(wanted & terms) / len(wanted)
        title = titles.documents[number].title if share else ""
        if share and required <= terms and _fits(title, query) and not _is_excluded(title, query):
            found[number] = share + len(wanted) / len(terms) if share == 1 else share
    return found


def _by_content(store: Store, read: ReadBytes, titles: Titles, asked: Asked) -> frozenset[int]:
    """All documents whose text holds what is asked for: every required word, or any word where none is."""
    query, found = asked.query, frozenset(asked.among) & titles.documents.keys()
    required = (*query.must, *(word for phrase in query.phrases for word in phrase.split()))
    if required:
        found = found.intersection(*(store.holders(word) for word in required))
    else:
        found &= frozenset[int]().union(*map(store.holders, (*query.positive, *asked.corrected.values())))
    found = found.difference(*(store.holders(word) for word in query.must_not))
    if query.phrases or query.not_phrases:
        found -= _without_phrase(store, read, titles, found, query)
    return found


def _without_phrase(
    store: Store, read: ReadBytes, titles: Titles, found: Collection[int], query: Query
) -> frozenset[int]:
    """Which documents have the words of a phrase apart, or hold one that is excluded; as many as time allows."""
    wrong, deadline = set[int](), time.monotonic() + PHRASE_SECONDS
    for number in sorted(found):
        if time.monotonic() > deadline:
            break
        current = verify(store, read, titles.documents[number])
        if not isinstance(current, Current) or not _fits(current.data.decode("utf-8", "replace"), query):
            wrong.add(number)
    return frozenset(wrong)


def _excluded_by_text(store: Store, query: Query) -> frozenset[int]:
    return frozenset[int]().union(*(store.holders(word) for word in query.must_not))


def _is_excluded(title: str, query: Query) -> bool:
    words = set(terms_of(title))
    return any(words.issuperset(terms_of(word)) for word in query.must_not if terms_of(word)) or any(
        holds_phrase(title, phrase) for phrase in query.not_phrases
    )


def _fits(text: str, query: Query) -> bool:
    """Whether every phrase is there, and none that is excluded."""
    return all(holds_phrase(text, phrase) for phrase in query.phrases) and not any(
        holds_phrase(text, phrase) for phrase in query.not_phrases
    )


def _found(document: StoredDocument, share: float, hit: Hit | None, *, in_text: bool) -> Found:
    relevance = min(CONTENT_MOST, CONTENT * hit.relevance + PART_OF_TITLE * min(share, 1.0)) if hit else CONTENT * share
    if share >= 1:
        relevance = max(relevance, TITLE_LEAST + (1 - TITLE_LEAST) * min(1.0, share - 1))
    place: Place = "content" if not share else "both" if in_text else "title"
    return Found(document, round(min(relevance, 1.0), 4), place, hit.passages[0] if hit and hit.passages else None)


def _as_they_are(store: Store, read: ReadBytes, found: list[Found], limit: int) -> tuple[list[Found], int]:
    """The first of what was found, without documents that are gone or changed; those found by text were read."""
    shown: list[Found] = []
    gone = 0
    for one in found:
        if len(shown) == limit:
            break
        if one.passage or isinstance(verify(store, read, one.document), Current):
            shown.append(one)
        else:
            gone += 1
    return shown, gone
