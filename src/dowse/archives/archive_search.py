"""Search of the archives by words, tolerant of typos: title before question before content, with highlights."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Literal

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import ArchiveHit, Highlight, StoredArchiveDocument
from dowse.archives.archive_vocabulary import QueryWord, match_exactly, match_fuzzily
from dowse.archives.archive_words import split_words
from dowse.archives.snippets import Snippet, make_snippets, mark_words
from dowse.searching.query_terms import stop_words

MAX_QUERY_WORDS = 32
"""Further words of a query are ignored."""
MAX_CANDIDATES = 80
"""Documents that each full-text query contributes for scoring."""

TITLE_SCORE, TITLE_SHARE_SCORE = 0.8, 0.15
"""Score for all words in the title, and what is added in proportion to the share of the title that they are."""
TITLE_PHRASE_SCORE = 0.05
"""Added where the title has the words as a phrase."""
QUESTION_SCORE, QUESTION_SHARE_SCORE = 0.66, 0.1
CONTENT_SCORE, CONTENT_RANK_SCORE = 0.5, 0.12
"""Score for all words in the content, and what is added in proportion to the BM25 rank."""
PARTIAL_TITLE_SCORE = 0.1
"""Added in proportion to the share of the query in the title, where the title has only a part of it."""
ALSO_IN_CONTENT_SCORE = 0.03
"""Added where the words are in the content as well."""
STOP_WORD_WEIGHT = 0.1
"""Factor for the weight of a stop word in a query that has other words."""
MIN_SCORE = 0.05
"""Documents with a lower score are not returned."""
COMMON_WORD_SHARE = 0.4
"""Words in more than this share of the documents do not select candidates, unless all words are that common."""


@dataclass(frozen=True, slots=True)
class _ArchiveQuery:
    """The words of a query with their matches and weights."""

    words: tuple[QueryWord, ...]
    weights: tuple[float, ...]
    selective: tuple[QueryWord, ...]
    """The words that select candidates."""
    common: dict[int, float]
    """The numbers of the other words that have matches; every candidate counts as having them."""
    groups: dict[str, int]
    """For each matching word, the number of the query word that it matches best."""
    total_weight: float
    """The sum of the weights of all words."""


@dataclass(frozen=True, slots=True)
class _ContentMatches:
    """The matches of a query in the content of one document."""

    qualities: dict[int, float] = field(default_factory=dict)
    """The match quality of each query word, by its number."""
    words: set[str] = field(default_factory=set)
    """The words of the document that match."""


@dataclass(frozen=True, slots=True)
class ArchiveRanking:
    """The best documents for a query with their scores, best first, and what their highlights are made of."""

    documents: tuple[tuple[float, StoredArchiveDocument], ...] = ()
    query: _ArchiveQuery | None = None
    words: Mapping[int, set[str]] = field(default_factory=dict)
    """The words of each document's content that match, by the number of the document."""


def search_archives(
    database: ArchiveDatabase, query: str, limit: int, *, fuzzy: bool = True, masks: bool = True
) -> list[ArchiveHit]:
    """Return the best documents for a query. A query without words finds none. Secrets in snippets are masked."""
    with database.snapshot():
        ranking = _rank_documents(database, query, limit, fuzzy=fuzzy)
        return highlight_documents(database, ranking, ranking.documents, masks=masks)


def rank_archives(database: ArchiveDatabase, query: str, limit: int) -> ArchiveRanking:
    """Return the best documents for a query, whose texts are not read."""
    with database.snapshot():
        return _rank_documents(database, query, limit, fuzzy=True)


def _rank_documents(database: ArchiveDatabase, query: str, limit: int, *, fuzzy: bool) -> ArchiveRanking:
    words = list(dict.fromkeys(split_words(query)))[:MAX_QUERY_WORDS]
    if not words:
        return ArchiveRanking()
    parsed = _build_query(database, words, fuzzy=fuzzy)
    ranks = _find_candidates(database, parsed, limit, fuzzy=fuzzy)
    documents = database.documents(ranks)
    matches = _match_content(database, parsed, ranks)
    scored = [
        (_score(parsed, document, matches[number].qualities, ranks[number]), document)
        for number, document in documents.items()
    ]
    best = sorted(
        ((score, document) for score, document in scored if score >= MIN_SCORE),
        key=lambda hit: (-hit[0], hit[1].path, hit[1].archive),
    )[:limit]
    return ArchiveRanking(
        tuple(best), parsed, {document.number: matches[document.number].words for _, document in best}
    )


def highlight_documents(
    database: ArchiveDatabase,
    ranking: ArchiveRanking,
    documents: Sequence[tuple[float, StoredArchiveDocument]],
    *,
    masks: bool = True,
) -> list[ArchiveHit]:
    """Return some documents of a ranking with their highlights."""
    if ranking.query is None:
        return []
    texts = database.texts(document.number for _, document in documents)
    return [
        ArchiveHit(
            document,
            score,
            _make_highlights(
                ranking.query,
                document,
                ranking.words[document.number],
                *texts.get(document.number, ("", 0)),
                masks=masks,
            ),
        )
        for score, document in documents
    ]


def _build_query(database: ArchiveDatabase, words: list[str], *, fuzzy: bool) -> _ArchiveQuery:
    ((total,),) = database.rows("SELECT COUNT(*) FROM documents")
    query_words = tuple(
        match_fuzzily(database, word, total, is_last=word == words[-1]) if fuzzy else match_exactly(database, word)
        for word in words
    )
    weights = [math.log(1 + total / (0.5 + word.documents)) for word in query_words]
    is_content_word = [word not in stop_words() for word in words]
    if any(is_content_word):
        weights = [
            weight * (1.0 if has_content else STOP_WORD_WEIGHT)
            for weight, has_content in zip(weights, is_content_word, strict=True)
        ]
    found = [word for word in query_words if word.matches]
    uncommon = [word for word in found if word.documents <= COMMON_WORD_SHARE * total and word.word not in stop_words()]
    selective = tuple(uncommon or found)
    common = {number: 1.0 for number, word in enumerate(query_words) if word.matches and word not in selective}
    return _ArchiveQuery(query_words, tuple(weights), selective, common, _group_by_match(query_words), sum(weights))


def _group_by_match(words: tuple[QueryWord, ...]) -> dict[str, int]:
    best = dict[str, tuple[float, int]]()
    for number, word in enumerate(words):
        for match, quality in word.matches.items():
            best[match] = max(best.get(match, (0.0, 0)), (quality, number))
    return {match: number for match, (_, number) in best.items()}


def _find_candidates(database: ArchiveDatabase, query: _ArchiveQuery, limit: int, *, fuzzy: bool) -> dict[int, float]:
    """Return the documents to score, each with its relative BM25 rank up to 1."""
    if not query.selective or (not fuzzy and len(query.words) > sum(bool(word.matches) for word in query.words)):
        return {}
    if not fuzzy:
        return _relative(_rank(database, " AND ".join(map(_match_any, query.words)), "10.0, 5.0, 1.0"))
    every, either = (operator.join(map(_match_any, query.selective)) for operator in (" AND ", " OR "))
    with_every = _matching(database, every, MAX_CANDIDATES) if len(query.selective) > 1 else set()
    if len(with_every) < limit:
        ranked = _rank(database, either, "10.0, 5.0, 1.0")
        # A rank counts all words of an expression, whether AND or OR is between them.
        best = ranked if with_every <= ranked.keys() else _rank(database, every, "10.0, 5.0, 1.0")
        candidates = _relative(ranked) | _relative({number: best[number] for number in with_every})
    else:
        candidates = _relative(_rank(database, every, "10.0, 5.0, 1.0"))
    named = _matching(database, f"{{title question}} : ({either})", MAX_CANDIDATES + 1)
    if len(named) > MAX_CANDIDATES:
        named = {
            number
            for name in ("title", "question")
            for number in _rank(database, f"{name} : ({either})", "1.0, 1.0, 0.0")
        }
    return dict.fromkeys(named, 0.0) | candidates


def _matching(database: ArchiveDatabase, expression: str, limit: int) -> set[int]:
    """Return documents that match an expression, in no order; finding them takes half the time of ranking them."""
    rows = database.rows("SELECT rowid FROM texts WHERE texts MATCH ? LIMIT ?", (expression, limit))
    return {number for (number,) in rows}


def _rank(database: ArchiveDatabase, expression: str, weights: str) -> dict[int, float]:
    """Return the best documents for an expression with their BM25 ranks."""
    rows = database.rows(
        f"SELECT rowid, -bm25(texts, {weights}) FROM texts WHERE texts MATCH ? ORDER BY 2 DESC LIMIT ?",  # noqa: S608 - numbers
        (expression, MAX_CANDIDATES),
    )
    return dict(rows)


def _relative(ranks: Mapping[int, float]) -> dict[int, float]:
    """Return ranks relative to the best of them."""
    best = max(ranks.values(), default=0.0)
    return {number: max(0.0, rank / best) if best > 0 else 0.0 for number, rank in ranks.items()}


def _match_any(word: QueryWord) -> str:
    """Return a full-text expression that matches any match of a query word; each is quoted, so none is read as syntax."""
    return "({})".format(" OR ".join(map(_quote, word.matches)))


def _quote(word: str) -> str:
    return '"{}"'.format(word.replace('"', '""').replace("\0", " "))


def _match_content(
    database: ArchiveDatabase, query: _ArchiveQuery, numbers: Iterable[int]
) -> dict[int, _ContentMatches]:
    """Return the matches of the selective words in the content of each document."""
    found = {number: _ContentMatches() for number in numbers}
    for group, query_word in enumerate(query.words):
        if query_word not in query.selective:
            continue
        for quality, words in _group_by_quality(query_word):
            for word in words:
                expression = f"content : {_quote(word)}"
                for (number,) in database.rows("SELECT rowid FROM texts WHERE texts MATCH ?", (expression,)):
                    if number in found:
                        found[number].qualities.setdefault(group, quality)
                        found[number].words.add(word)
    return found


def _group_by_quality(query_word: QueryWord) -> list[tuple[float, list[str]]]:
    """Return the matches of a query word, grouped by about the same quality, best first."""
    tiers = dict[float, list[str]]()
    for word, quality in query_word.matches.items():
        tiers.setdefault(round(quality, 1), []).append(word)
    return [
        (min(query_word.matches[word] for word in words), words) for _, words in sorted(tiers.items(), reverse=True)
    ]


def _score(
    query: _ArchiveQuery, document: StoredArchiveDocument, content_matches: Mapping[int, float], rank: float
) -> float:
    """Return the score of a document: how much of the query it has, and in which fields."""
    in_title, title_share = _match_text(query, document.title)
    in_question, question_share = _match_text(query, document.question)
    in_content = {**query.common, **content_matches} if content_matches else {}
    found_title, found_content = _weighted_share(query, in_title), _weighted_share(query, in_content)
    anywhere = _weighted_share(query, {**in_content, **in_question, **in_title})
    score = anywhere * (CONTENT_SCORE + CONTENT_RANK_SCORE * rank)
    if len(in_title) == len(query.weights):
        phrase = TITLE_PHRASE_SCORE * _contains_phrase(query, document.title)
        score = max(score, found_title * (TITLE_SCORE + TITLE_SHARE_SCORE * title_share + phrase))
    else:
        score += PARTIAL_TITLE_SCORE * found_title
    if len(in_question) == len(query.weights):
        score = max(
            score, _weighted_share(query, in_question) * (QUESTION_SCORE + QUESTION_SHARE_SCORE * question_share)
        )
    return round(min(1.0, score + ALSO_IN_CONTENT_SCORE * found_content * rank), 4)


def _weighted_share(query: _ArchiveQuery, matches: Mapping[int, float]) -> float:
    """Return the share of the query that the matched words are, by weight and quality."""
    return sum(query.weights[group] * quality for group, quality in matches.items()) / query.total_weight


def _match_text(query: _ArchiveQuery, text: str) -> tuple[dict[int, float], float]:
    """Return the match quality of each query word in a short text, and the share of the text that matches."""
    if not text:
        return {}, 0.0
    words, covered, used = _split_name(text), dict[int, float](), 0
    for word in words:
        if word in query.groups:
            used += 1
            for group, query_word in enumerate(query.words):
                quality = query_word.matches.get(word, 0.0)
                if quality > covered.get(group, 0.0):
                    covered[group] = quality
    return covered, used / len(words) if words else 0.0


@lru_cache(maxsize=4096)
def _split_name(text: str) -> tuple[str, ...]:
    """Return the words of a title or question, which searches compare again and again."""
    return tuple(split_words(text))


def _contains_phrase(query: _ArchiveQuery, title: str) -> bool:
    words, length = _split_name(title), len(query.words)
    return any(
        all(word in query_word.matches for word, query_word in zip(words[at : at + length], query.words, strict=True))
        for at in range(len(words) - length + 1)
    )


def _make_highlights(
    query: _ArchiveQuery, document: StoredArchiveDocument, words: set[str], text: str, body_start: int, *, masks: bool
) -> tuple[Highlight, ...]:
    """Return the marked title, question and passages of a document, whose content has these words of the query."""
    groups, weights = query.groups, dict(enumerate(query.weights))
    in_content = {word: groups[word] for word in words if query.words[groups[word]] in query.selective}
    found = list[Highlight]()
    if title := mark_words(document.title, groups, masks=masks):
        found.append(_make_highlight("title", title))
    if question := mark_words(document.question, groups, masks=masks):
        found.append(_make_highlight("question", question))
    snippets_of = partial(make_snippets, text, in_content, weights, masks=masks)
    if content := snippets_of(document.title, body_start) or snippets_of():
        found.append(_make_highlight("content", *content))
    return tuple(found)


def _make_highlight(field: Literal["title", "question", "content"], *snippets: Snippet) -> Highlight:
    masked = sorted({kind for snippet in snippets for kind in snippet.masked})
    flags = sorted({kind for snippet in snippets for kind in snippet.flags})
    return Highlight(field, tuple(snippet.text for snippet in snippets), tuple(masked), tuple(flags))
