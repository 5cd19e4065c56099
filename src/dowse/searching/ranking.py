"""From candidates to an order of files: pure functions over values."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import log

from dowse.searching import constants
from dowse.searching.paths import is_named, is_path, name_terms, unasked
from dowse.types import Scored


@dataclass(frozen=True, slots=True)
class Leg:
    """What one way of searching found: chunks, best first, and how much it counts."""

    name: str
    hits: Sequence[Scored]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that ranking looks at."""

    legs: Sequence[Leg]
    paths: Mapping[int, float]
    """Documents by the words of their path."""
    definers: Sequence[Scored]
    """Chunks that define a name that the query spells out."""
    terms: Mapping[str, float]
    """The query's terms and how rare each is."""
    path: str | None = None
    """The path that the query names, if it looks like one."""
    missing: float = 0.0
    """The weight of what was asked for and is nowhere."""
    corrected: Mapping[str, str] = field(default_factory=dict)
    """Terms that are nowhere, and those that stand in for them."""
    unknown: tuple[str, ...] = ()
    """Words that are nowhere, and nothing near them is."""

    @property
    def defining_documents(self) -> frozenset[int]:
        """Documents that define a name that the query spells out."""
        return frozenset(hit.document_id for hit in self.definers)


@dataclass(frozen=True, slots=True)
class RankedFile:
    """A file in its place, with what put it there."""

    document_id: int
    score: float
    signals: Mapping[str, float] = field(default_factory=dict)


def rarity(frequency: int, total: int) -> float:
    """How much a term says that so many of all chunks hold."""
    return log(1 + (total - frequency + 0.5) / (frequency + 0.5))


LegScores = Mapping[int, Mapping[str, float]]
"""Of each document, what each leg says of it."""


def promising(evidence: Evidence, scores: LegScores, limit: int) -> list[int]:
    """The documents worth a closer look, by what is known without their paths."""
    paths, definers = _scaled(evidence.paths), evidence.defining_documents
    found = {*scores, *paths, *definers}
    rough = {
        document: sum(scores.get(document, {}).values())
        + constants.PATH * paths.get(document, 0.0)
        + constants.DEFINITION * (document in definers)
        for document in found
    }
    return sorted(rough, key=lambda document: (-rough[document], document))[:limit]


def rank(evidence: Evidence, scores: LegScores, paths: Mapping[int, str]) -> list[RankedFile]:
    """The documents whose paths are given, best first; equals by path."""
    by_path = _scaled(evidence.paths)
    definers = evidence.defining_documents
    ranked = []
    for document, path in paths.items():
        found = {
            **scores.get(document, {}),
            "path words": constants.PATH * by_path.get(document, 0.0),
            "definition": constants.DEFINITION * (document in definers),
        }
        ranked.append(_ranked(document, path, found, evidence))
    return sorted(ranked, key=lambda file: (-file.score, paths[file.document_id]))


def _ranked(document: int, path: str, found: Mapping[str, float], evidence: Evidence) -> RankedFile:
    names = name_terms(path)
    total = sum(evidence.terms.values()) or 1.0
    spelled = sum(weight for term, weight in evidence.terms.items() if is_named(term, names)) / total
    signals = {
        **found,
        "share of the query in the name": constants.PATH_SHARE * spelled,
        "the path itself": constants.NAMED_PATH * is_path(evidence.path, path),
    }
    score = sum(signals.values())
    for kind in sorted(unasked(path, frozenset(evidence.terms))):
        signals[f"{kind} file"] = score * (constants.PENALTIES[kind] - 1)
        score *= constants.PENALTIES[kind]
    return RankedFile(document, score, {name: value for name, value in signals.items() if value})


def leg_scores(legs: Sequence[Leg]) -> dict[int, dict[str, float]]:
    """Of each document and leg: its best chunk and the mean of its best three, both scaled."""
    scores: dict[int, dict[str, float]] = {}
    for leg in legs:
        best: dict[int, list[float]] = {}
        for hit in leg.hits:
            best.setdefault(hit.document_id, []).append(hit.score)
        top = _scaled({document: found[0] for document, found in best.items()})
        three = _scaled({document: sum(found[:3]) / 3 for document, found in best.items()})
        for document in best:
            own = scores.setdefault(document, {})
            own[f"{leg.name}: best chunk"] = leg.weight * top[document]
            own[f"{leg.name}: best three"] = leg.weight * constants.TOP_THREE * three[document]
    return scores


def chunks_of(evidence: Evidence, documents: Collection[int]) -> dict[int, list[Scored]]:
    """Of some documents the chunks that any leg found or that define what is asked for, best first."""
    wanted, combined = set(documents), dict[tuple[int, int], float]()
    for leg in (*evidence.legs, Leg("definition", evidence.definers, constants.DEFINITION)):
        highest = leg.hits[0].score if leg.hits else 1.0
        for hit in leg.hits:
            if hit.document_id in wanted:
                key = (hit.document_id, hit.id)
                combined[key] = combined.get(key, 0.0) + leg.weight * hit.score / (highest or 1.0)
    chunks: dict[int, list[Scored]] = {}
    for (document, chunk), score in sorted(combined.items(), key=lambda item: (-item[1], item[0])):
        chunks.setdefault(document, []).append(Scored(chunk, document, score))
    return chunks


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    """Scores as shares of the highest."""
    highest = max(scores.values(), default=0.0)
    return {key: score / highest if highest > 0 else 0.0 for key, score in scores.items()}
