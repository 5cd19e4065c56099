"""Ranking of files by the evidence, and how well they answer: pure functions over values."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import fsum
from typing import NamedTuple

from dowse.searching import ranking_constants
from dowse.searching.passages import Passage
from dowse.searching.path_kinds import NameMatcher, is_requested_path, kinds_of, unrequested_kinds
from dowse.searching.term_positions import terms_among
from dowse.store.lexical_search import level_scores
from dowse.types import Scored, StoredDocument


@dataclass(frozen=True, slots=True)
class Leg:
    """The result of one search method: chunks, best first, and their weight."""

    name: str
    hits: Sequence[Scored]
    weight: float = 1.0
    is_near: bool = False
    """Whether scores are nearness in meaning; then their distance above the last one counts."""
    among: frozenset[int] | None = None
    """Only these documents count; another leg knows the others better."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that ranking takes into account."""

    legs: Sequence[Leg] = ()
    paths: Mapping[int, float] = field(default_factory=dict)
    """Scores of documents by the words of their path."""
    definers: Sequence[Scored] = ()
    """Chunks that define a name in the query."""
    terms: Mapping[str, float] = field(default_factory=dict)
    """The terms of the query, each with its rarity."""
    path: str | None = None
    """The query, if it looks like a path."""
    missing: float = 0.0
    """The weight of the words of the query that do not occur."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Words that do not occur, and the words that replaced them."""
    unknown: tuple[str, ...] = ()
    """Words that do not occur and have no similar word."""
    nearness: Mapping[int, float] = field(default_factory=dict)
    """The nearness in meaning of the nearest chunk of each document, from 0 to 1."""
    half_way: "HalfWay | None" = None
    """Present while the model has encoded some documents and not all."""
    has_code: bool = True
    """Whether code was searched, to which other rules apply than to documents alone."""
    is_pasted: bool = False
    title: "Evidence | None" = None
    """The evidence for the title of pasted text, which is scored by itself."""
    mentioned: Mapping[int, float] = field(default_factory=dict)
    """The documents that pasted text names, each with its weight."""

    @property
    def definition_scores(self) -> dict[int, float]:
        """The documents that define a name in the query; for pasted text as shares of the highest score."""
        best = {document: max(found) for document, found in _scores_by_document(self.definers).items()}
        return _scale(best) if self.is_pasted else best


@dataclass(frozen=True, slots=True)
class HalfWay:
    """The scores of all documents by the table, and of the encoded ones by the model.

    The two scales cannot be compared. So the table ranks all documents, and the model only puts its own in order.
    """

    by_table: Sequence[Leg]
    by_model: Sequence[Leg]
    encoded: frozenset[int]


class RankedFile(NamedTuple):
    """A file with its score and the signals that make it up. A search makes a hundred of them, and shows ten."""

    document_id: int
    path: str
    score: float
    all_signals: Mapping[str, float]
    """Its signals, and 0 for those that it does not have."""

    @property
    def signals(self) -> dict[str, float]:
        """The signals that it has."""
        return {name: value for name, value in self.all_signals.items() if value}

    @property
    def is_found_by_name(self) -> bool:
        """Whether words of the query are in its path, or it defines a name in the query."""
        return any(self.all_signals.get(name, 0.0) > 0 for name in _NAME_SIGNALS)


_NAME_SIGNALS = ("path words", "definition", "share of the query in the name", "the path itself")


LegScores = Mapping[int, Mapping[str, float]]
"""The scores of each document, by leg."""
PathsById = Callable[[Iterable[int]], Mapping[int, str]]


def rank_files(evidence: Evidence, limit: int, paths_by_id: PathsById, also: Collection[int] = ()) -> list[RankedFile]:
    """Rank so many documents that may be the best, and those that are named, best first; ties by path."""
    scores = _leg_scores(evidence.legs)
    paths = paths_by_id({*_shortlist(evidence, scores, limit, paths_by_id), *also})
    if evidence.half_way is None:
        return _rank(evidence, paths, scores, _leg_scores(evidence.title.legs if evidence.title else ()))
    of_title = (evidence.title and evidence.title.half_way) or HalfWay((), (), frozenset())
    by_table, by_model = (
        _rank(evidence, paths, _leg_scores(legs), _leg_scores(title_legs))
        for legs, title_legs in (
            (evidence.half_way.by_table, of_title.by_table),
            (evidence.half_way.by_model, of_title.by_model),
        )
    )
    encoded = evidence.half_way.encoded
    reordered = iter([file for file in by_model if file.document_id in encoded])
    return [  # each with the score of its place, so that scores can be compared
        next(reordered)._replace(score=file.score) if file.document_id in encoded else file for file in by_table
    ]


def _shortlist(evidence: Evidence, scores: LegScores, limit: int, paths_by_id: PathsById) -> list[int]:
    """Return the best documents by the signals that do not need their paths; of the last ones, equal scores by path."""
    paths, definers = _scale(evidence.paths), evidence.definition_scores
    found = {*scores, *paths, *definers, *evidence.mentioned}
    rough = {
        document: sum(scores.get(document, {}).values())
        + ranking_constants.PATH * paths.get(document, 0.0)
        + ranking_constants.DEFINITION * definers.get(document, 0.0)
        + ranking_constants.MENTION * evidence.mentioned.get(document, 0.0)
        for document in found
    }
    if evidence.title:  # half of the places are for the documents that the title finds
        by_title = _shortlist(evidence.title, _leg_scores(evidence.title.legs), limit // 2, paths_by_id)
        rough |= dict.fromkeys(by_title, max(rough.values(), default=0.0))
    ordered = sorted(rough, key=lambda document: (-rough[document], document))
    if len(ordered) <= limit:
        return ordered
    levels = dict(zip(ordered, level_scores(rough[document] for document in ordered), strict=True))
    last = levels[ordered[limit]]
    above = [document for document in ordered if levels[document] > last]
    if len(above) >= limit:
        return above
    tied = [document for document in ordered if levels[document] == last]
    names = paths_by_id(tied)
    return [*above, *sorted(tied, key=lambda document: names.get(document, ""))][:limit]


def found_by_words(evidence: Evidence) -> set[int]:
    """Return the documents that words or names of the query find, and not their meaning alone."""
    found = {hit.document_id for leg in evidence.legs if not leg.is_near for hit in leg.hits}
    return found | {*evidence.paths, *(hit.document_id for hit in evidence.definers)}


def _rank(evidence: Evidence, paths: Mapping[int, str], scores: LegScores, title_scores: LegScores) -> list[RankedFile]:
    """Rank documents by the scores of their chunks and the signals that depend on their paths."""
    terms, none = frozenset(evidence.terms), dict[str, float]()
    signals = {one: {**scores.get(one, none), **own} for one, own in _path_signals(evidence, paths).items()}
    if evidence.title:
        by_path = _path_signals(evidence.title, paths)
        signals = _add_title(signals, {one: {**title_scores.get(one, none), **own} for one, own in by_path.items()})
    if evidence.is_pasted:
        for document, own in signals.items():
            own["named in the text"] = ranking_constants.MENTION * evidence.mentioned.get(document, 0.0)
    ranked = []
    for document, own in signals.items():
        score = sum(own.values())
        for kind, penalty in sorted(_penalties(evidence, terms, paths[document]).items()):
            own[f"{kind} file"] = score * (penalty - 1)
            score *= penalty
        ranked.append(RankedFile(document, paths[document], score, own))
    ranked.sort(key=lambda file: -file.score)
    levels = level_scores([file.score for file in ranked])
    order = sorted(zip(levels, ranked, strict=True), key=lambda one: (-one[0], one[1].path))
    return [file for _, file in order]


def _penalties(evidence: Evidence, terms: frozenset[str], path: str) -> dict[str, float]:
    if evidence.is_pasted:
        return {kind: ranking_constants.PASTED_PENALTIES[kind] for kind in kinds_of(path)}
    penalties = {kind: ranking_constants.PENALTIES[kind] for kind in unrequested_kinds(path, terms)}
    if evidence.has_code:
        penalties["deep"] = ranking_constants.FOLDER ** path.count("/")
    else:
        penalties.pop("prose", None)
    return penalties


def _path_signals(evidence: Evidence, paths: Mapping[int, str]) -> dict[int, dict[str, float]]:
    """Return the signals of each document by name that depend on its path and its definitions."""
    by_path, definers = _scale(evidence.paths), evidence.definition_scores
    total, matcher = sum(evidence.terms.values()) or 1.0, NameMatcher(evidence.terms)
    whole_name = 0.0 if evidence.is_pasted else ranking_constants.WHOLE_NAME  # a long text has many names by chance
    signals = {}
    for document, path in paths.items():
        named_share = fsum([evidence.terms[term] for term in matcher.terms_in(path)]) / total
        signals[document] = {
            "path words": ranking_constants.PATH * by_path.get(document, 0.0),
            "definition": ranking_constants.DEFINITION * definers.get(document, 0.0),
            "share of the query in the name": ranking_constants.PATH_SHARE * named_share,
            "whole name in the query": whole_name * matcher.has_name_of(path),
            "the path itself": ranking_constants.EXACT_PATH * is_requested_path(evidence.path, path),
        }
    return signals


def _add_title(
    by_text: Mapping[int, Mapping[str, float]], by_title: Mapping[int, Mapping[str, float]]
) -> dict[int, dict[str, float]]:
    """Return the mean of the signals by the words of pasted text and by its title."""
    share = ranking_constants.TITLE_SHARE
    return {
        document: {name: (1 - share) * value for name, value in signals.items()}
        | {f"title, {name}": share * value for name, value in by_title[document].items()}
        for document, signals in by_text.items()
    }


def _leg_scores(legs: Sequence[Leg]) -> dict[int, dict[str, float]]:
    """Return the scores of each document: for each leg its best chunk and the mean of its best three, both scaled."""
    scores: dict[int, dict[str, float]] = {}
    for leg in legs:
        best_name, three_name = f"{leg.name}: best chunk", f"{leg.name}: best three"
        scaled = _near_scores(leg) if leg.is_near else _word_scores(leg)
        for document, (best, three) in scaled.items():
            if leg.among is None or document in leg.among:
                own = scores.setdefault(document, {})
                own[best_name] = leg.weight * best
                own[three_name] = leg.weight * three
    return scores


def _word_scores(leg: Leg) -> dict[int, tuple[float, float]]:
    best = _scores_by_document(leg.hits)
    top = _scale({document: found[0] for document, found in best.items()})
    three = _scale({document: sum(found[:3]) / 3 for document, found in best.items()})
    return {document: (top[document], ranking_constants.TOP_THREE * three[document]) for document in best}


def _near_scores(leg: Leg) -> dict[int, tuple[float, float]]:
    lowest = _nearness_baseline(leg)
    share = ranking_constants.MEANING_TOP_THREE
    above = {
        document: [score - lowest for score in found[:3]] for document, found in _scores_by_document(leg.hits).items()
    }
    parts = {document: ((1 - share) * found[0], share * sum(found) / 3) for document, found in above.items()}
    highest = max(map(sum, parts.values()), default=0.0) or 1.0
    return {document: (best / highest, three / highest) for document, (best, three) in parts.items()}


def _nearness_baseline(leg: Leg) -> float:
    """Return the score from which on nearness counts: that of the last candidate, or 0 if all chunks are candidates."""
    last = leg.hits[-1].score if leg.hits else 0.0
    return last if len(leg.hits) >= ranking_constants.NEAR_CANDIDATES else min(last, 0.0)


def _scores_by_document(hits: Sequence[Scored]) -> dict[int, list[float]]:
    found: dict[int, list[float]] = {}
    for _, document, score in hits:
        found.setdefault(document, []).append(score)
    return found


def best_chunks(evidence: Evidence, documents: Collection[int]) -> dict[int, dict[int, float]]:
    """Return the scores of the chunks of some documents that any leg found or that define a queried name, best first."""
    wanted, combined = frozenset(documents), dict[int, dict[int, float]]()
    found = [
        (leg.hits, leg.weight, _nearness_baseline(leg) if leg.is_near else 0.0, leg.among) for leg in evidence.legs
    ]
    for hits, weight, lowest, among in (*found, (evidence.definers, ranking_constants.DEFINITION, 0.0, None)):
        highest = hits[0].score - lowest if hits else 0.0
        counted = wanted if among is None else wanted & among
        share = weight / highest if highest > 0 else 0.0
        for chunk, document, score in hits:
            if document in counted:
                scores = combined.setdefault(document, {})
                scores[chunk] = scores.get(chunk, 0.0) + ((score - lowest) * share or weight * (highest <= 0))
    return {
        document: dict(sorted(scores.items(), key=lambda item: (-item[1], item[0])))
        for document, scores in combined.items()
    }


def _scale(scores: Mapping[int, float]) -> dict[int, float]:
    """Return scores as shares of the highest."""
    highest = max(scores.values(), default=0.0)
    return {key: score / highest if highest > 0 else 0.0 for key, score in scores.items()}


def count_relevant(scores: Sequence[float], words: int) -> int:
    """Return how many hits with these scores, best first, are kept for a query of some words.

    A few are kept always, others if they are not much weaker; for one or two words all of them, because each has the word.
    """
    if words < ranking_constants.MIN_WORDS_OF_CUT:
        return len(scores)
    least = ranking_constants.MIN_SHARE * max(scores, default=0.0)
    weak = (rank for rank, score in enumerate(scores) if rank >= ranking_constants.ALWAYS_KEPT and score < least)
    return next(weak, len(scores))


def relevance_of(document: StoredDocument, passage: Passage, evidence: Evidence) -> float:
    """Return the relevance of a hit, from 0 to 1.

    It depends on the share of the query in its best lines and in the names around them, and on nearness in meaning.
    """
    terms = evidence.terms
    total = sum(terms.values()) + evidence.missing or 1.0
    # The parent folders say little, unless the query is a path.
    path = document.path if evidence.path else document.path.rpartition("/")[2]
    around = [path, document.title, *passage.symbols, *passage.headings]
    wanted = frozenset(terms)
    names = terms_among(" ".join(around), wanted)
    in_names, in_all = (
        fsum(terms[term] for term in found) / total for found in (names, names | terms_among(passage.text, wanted))
    )
    by_words = ranking_constants.PASSAGE_RELEVANCE * in_all + ranking_constants.NAME_RELEVANCE * in_names
    nearness, least = evidence.nearness.get(document.id, 0.0), ranking_constants.MIN_NEARNESS
    near_share = min(1.0, max(0.0, (nearness - least) / (ranking_constants.FULL_NEARNESS - least)))
    return round(by_words + (1 - by_words) * (ranking_constants.MAX_MEANING_RELEVANCE * near_share), 4)
