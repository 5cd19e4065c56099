"""The relevance of a hit, from 0 to 1, and where relevance ends."""

from collections.abc import Sequence
from math import fsum

from dowse.searching import ranking_constants
from dowse.searching.passages import Passage
from dowse.searching.ranking import Evidence
from dowse.searching.term_positions import terms_among
from dowse.types import StoredDocument


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
    everything = names | terms_among(passage.text, wanted)
    in_names, in_all = (fsum(terms[term] for term in found) / total for found in (names, everything))
    by_words = ranking_constants.PASSAGE_RELEVANCE * in_all + ranking_constants.NAME_RELEVANCE * in_names
    return round(by_words + (1 - by_words) * _meaning_relevance(evidence.nearness.get(document.id, 0.0)), 4)


def _meaning_relevance(nearness: float) -> float:
    """Return the relevance by nearness in meaning: 0 up to the minimum nearness, then increasing."""
    span = ranking_constants.FULL_NEARNESS - ranking_constants.MIN_NEARNESS
    share = min(1.0, max(0.0, (nearness - ranking_constants.MIN_NEARNESS) / span))
    return ranking_constants.MAX_MEANING_RELEVANCE * share
