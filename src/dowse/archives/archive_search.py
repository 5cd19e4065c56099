"""Documents by what they say: title before question before content, typos forgiven, each with its passages."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Literal

from dowse.archives.archive_database import ArchiveDatabase
from dowse.archives.archive_types import ArchiveHit, Highlight, StoredArchiveDocument
from dowse.archives.archive_vocabulary import WordMeaning, exact_meaning, fuzzy_meaning
from dowse.archives.archive_words import words_of
from dowse.archives.snippets import Snippet, marked, snippets
from dowse.searching.query_terms import stop_words

MOST_WORDS = 32
"""Words of a query that are looked for."""
CANDIDATES = 80
"""Documents of each way to find them that are looked at more closely."""

TITLE, TITLE_WHOLE = 0.8, 0.15
"""All words in the title; the rest of the way to 1 is how much else the title says."""
TITLE_PHRASE = 0.05
"""The same words in the same order, side by side."""
QUESTION, QUESTION_WHOLE = 0.66, 0.1
CONTENT, CONTENT_STRONG = 0.5, 0.12
"""All words in the content; the rest is how often, and how rare they are."""
PART_OF_TITLE = 0.1
"""A part of the query in the title, beside all of it in title, question and content together."""
BESIDE = 0.03
"""What a document that is found in one field gains by having the words in its content as well."""
STOP_WORD = 0.1
"""What a word that says nothing weighs beside words that do."""
LEAST = 0.05
"""A document that has less of the query is not shown."""
COMMON = 0.4
"""Words in more than this share of the documents do not choose among them, unless all words are such."""


@dataclass(frozen=True, slots=True)
class _Query:
    """The words of a query with what they may stand for."""

    meanings: tuple[WordMeaning, ...]
    weights: tuple[float, ...]
    choosing: tuple[WordMeaning, ...]
    """Those that candidates are found by."""
    common: dict[int, float]
    """Those that nearly all documents have, as if each had them."""
    groups: dict[str, int]
    """For each word to be looked for, which word of the query it stands for, the best where there are several."""

    @property
    def whole(self) -> float:
        """What all words weigh together."""
        return sum(self.weights)


def search(
    database: ArchiveDatabase, query: str, limit: int, *, fuzzy: bool = True, masks: bool = True
) -> list[ArchiveHit]:
    """The best documents for a query; a query without words finds none. Secrets in passages are masked."""
    words = list(dict.fromkeys(words_of(query)))[:MOST_WORDS]
    if not words:
        return []
    with database.snapshot():
        asked = _query(database, words, fuzzy=fuzzy)
        strengths = _candidates(database, asked, limit, fuzzy=fuzzy)
        documents = database.documents(strengths)
        held = _held(database, asked, strengths)
        scored = [
            (_relevance(asked, document, held.get(number, {}), strengths[number]), document)
            for number, document in documents.items()
        ]
        best = sorted(
            ((score, document) for score, document in scored if score >= LEAST),
            key=lambda one: (-one[0], one[1].path, one[1].archive),
        )[:limit]
        texts = database.texts(document.number for _, document in best)
        return [
            ArchiveHit(document, score, _highlights(asked, document, *texts.get(document.number, ("", 0)), masks=masks))
            for score, document in best
        ]


def _query(database: ArchiveDatabase, words: list[str], *, fuzzy: bool) -> _Query:
    ((total,),) = database.rows("SELECT COUNT(*) FROM documents")
    meanings = tuple(
        fuzzy_meaning(database, word, total, is_last=word == words[-1]) if fuzzy else exact_meaning(database, word)
        for word in words
    )
    weights = [math.log(1 + total / (0.5 + meaning.documents)) for meaning in meanings]
    is_telling = [word not in stop_words() for word in words]
    if any(is_telling):
        weights = [
            weight * (1.0 if telling else STOP_WORD) for weight, telling in zip(weights, is_telling, strict=True)
        ]
    found = [meaning for meaning in meanings if meaning.matches]
    choosing = [
        meaning for meaning in found if meaning.documents <= COMMON * total and meaning.word not in stop_words()
    ]
    chosen = tuple(choosing or found)
    common = {number: 1.0 for number, one in enumerate(meanings) if one.matches and one not in chosen}
    return _Query(meanings, tuple(weights), chosen, common, _groups(meanings))


def _groups(meanings: tuple[WordMeaning, ...]) -> dict[str, int]:
    best = dict[str, tuple[float, int]]()
    for number, meaning in enumerate(meanings):
        for match, quality in meaning.matches.items():
            best[match] = max(best.get(match, (0.0, 0)), (quality, number))
    return {match: number for match, (_, number) in best.items()}


def _candidates(database: ArchiveDatabase, asked: _Query, limit: int, *, fuzzy: bool) -> dict[int, float]:
    """Documents that may be meant, with how strongly their words speak for them, up to 1."""
    if not asked.choosing or (not fuzzy and len(asked.meanings) > sum(bool(one.matches) for one in asked.meanings)):
        return {}
    if not fuzzy:
        return _ranked(database, " AND ".join(map(_any, asked.meanings)), "10.0, 5.0, 1.0")
    every = _ranked(database, " AND ".join(map(_any, asked.choosing)), "10.0, 5.0, 1.0")
    either = " OR ".join(map(_any, asked.choosing))
    if len(every) < limit and len(asked.choosing) > 1:
        every = _ranked(database, either, "10.0, 5.0, 1.0") | every
    for field in ("title", "question"):
        for number in _ranked(database, f"{field} : ({either})", "1.0, 1.0, 0.0"):
            every.setdefault(number, 0.0)
    return every


def _ranked(database: ArchiveDatabase, expression: str, weights: str) -> dict[int, float]:
    rows = database.rows(
        f"SELECT rowid, -bm25(texts, {weights}) FROM texts WHERE texts MATCH ? ORDER BY 2 DESC LIMIT ?",  # noqa: S608 - numbers
        (expression, CANDIDATES),
    )
    most = max((score for _, score in rows), default=0.0)
    return {number: max(0.0, score / most) if most > 0 else 0.0 for number, score in rows}


def _any(meaning: WordMeaning) -> str:
    """What matches any word that one stands for; each is a string to the query language, and nothing else."""
    return "({})".format(" OR ".join(map(_quoted, meaning.matches)))


def _quoted(word: str) -> str:
    return '"{}"'.format(word.replace('"', '""').replace("\0", " "))


def _held(database: ArchiveDatabase, asked: _Query, numbers: Iterable[int]) -> dict[int, dict[int, float]]:
    """Of each document, how well its content has each word of the query that candidates are found by."""
    wanted, held = set(numbers), dict[int, dict[int, float]]()
    for group, meaning in enumerate(asked.meanings):
        if meaning not in asked.choosing:
            continue
        for quality, words in _tiers(meaning):
            expression = "content : ({})".format(" OR ".join(map(_quoted, words)))
            for (number,) in database.rows("SELECT rowid FROM texts WHERE texts MATCH ?", (expression,)):
                if number in wanted:
                    held.setdefault(number, {}).setdefault(group, quality)
    return held


def _tiers(meaning: WordMeaning) -> list[tuple[float, list[str]]]:
    """The words that one may stand for, those that are about as good together, the best first."""
    tiers = dict[float, list[str]]()
    for word, quality in meaning.matches.items():
        tiers.setdefault(round(quality, 1), []).append(word)
    return [(min(meaning.matches[word] for word in words), words) for _, words in sorted(tiers.items(), reverse=True)]


def _relevance(asked: _Query, document: StoredArchiveDocument, held: Mapping[int, float], strength: float) -> float:
    """How much of the query a document has, and where."""
    in_title, of_title = _covered(asked, document.title)
    in_question, of_question = _covered(asked, document.question)
    in_content = {**asked.common, **held} if held else {}
    found_title, found_content = _share(asked, in_title), _share(asked, in_content)
    anywhere = _share(asked, {**in_content, **in_question, **in_title})
    score = anywhere * (CONTENT + CONTENT_STRONG * strength)
    if len(in_title) == len(asked.weights):
        phrase = TITLE_PHRASE * _follow_each_other(asked, document.title)
        score = max(score, found_title * (TITLE + TITLE_WHOLE * of_title + phrase))
    else:
        score += PART_OF_TITLE * found_title
    if len(in_question) == len(asked.weights):
        score = max(score, _share(asked, in_question) * (QUESTION + QUESTION_WHOLE * of_question))
    return round(min(1.0, score + BESIDE * found_content * strength), 4)


def _share(asked: _Query, covered: Mapping[int, float]) -> float:
    """How much of the query is covered, by what its words weigh."""
    return sum(asked.weights[group] * quality for group, quality in covered.items()) / asked.whole


def _covered(asked: _Query, text: str) -> tuple[dict[int, float], float]:
    """How well a short text has each word of the query, and how much of the text that is."""
    if not text:
        return {}, 0.0
    words, covered, used = words_of(text), dict[int, float](), 0
    for word in words:
        if word in asked.groups:
            used += 1
            for group, meaning in enumerate(asked.meanings):
                quality = meaning.matches.get(word, 0.0)
                if quality > covered.get(group, 0.0):
                    covered[group] = quality
    return covered, used / len(words) if words else 0.0


def _follow_each_other(asked: _Query, title: str) -> bool:
    words, length = words_of(title), len(asked.meanings)
    return any(
        all(word in meaning.matches for word, meaning in zip(words[at : at + length], asked.meanings, strict=True))
        for at in range(len(words) - length + 1)
    )


def _highlights(
    asked: _Query, document: StoredArchiveDocument, text: str, body: int, *, masks: bool
) -> tuple[Highlight, ...]:
    groups = asked.groups
    telling = {word: group for word, group in groups.items() if asked.meanings[group] in asked.choosing} or groups
    weights = dict(enumerate(asked.weights))
    found = list[Highlight]()
    if title := marked(document.title, groups, masks=masks):
        found.append(_highlight("title", title))
    if question := marked(document.question, groups, masks=masks):
        found.append(_highlight("question", question))
    cut = partial(snippets, text, telling, weights, masks=masks)
    if passages := cut(document.title, body) or cut():
        found.append(_highlight("content", *passages))
    return tuple(found)


def _highlight(field: Literal["title", "question", "content"], *found: Snippet) -> Highlight:
    masked, flags = (tuple(sorted({kind for one in found for kind in kinds(one)})) for kinds in _KINDS)
    return Highlight(field, tuple(one.text for one in found), masked, flags)


_KINDS = (attrgetter("masked"), attrgetter("flags"))
