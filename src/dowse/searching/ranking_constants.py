"""Every number that decides an order of hits, in one place, each with what it is worth.

"Worth" is what nDCG@10 on `eval/code-search` loses without the rule (docs/benchmarks.md has the
table). Chosen by coordinate ascent; leaving one repository out gives the figure in that table.
"""

from collections.abc import Mapping
from typing import NamedTuple

from dowse.types import Field, Kind

CHUNK_CANDIDATES = 250
"""Of 250, 400 and 1,500 none is better than another."""
DOCUMENT_CANDIDATES = 200
RANKED_FILES = 120
"""Files that are looked at closely; with 40 or 60 the figure is the same to four digits, but pages beyond the
first have to come from the same pool."""

CHUNK_WEIGHTS: Mapping[Field, float] = {"parts": 0.9, "words": 0.45, "symbols": 0.5, "headings": 0.15}
SYMBOL_CHUNK_WEIGHTS: Mapping[Field, float] = {"parts": 0.3, "words": 0.6, "symbols": 0.2, "headings": 0.3}
"""Identifiers in parts are worth 0.021, whole 0.007, names 0.004, headings 0.002; weights of their own for
symbols 0.002. Headings at 0.3 instead of 0.15 cost SciFact 0.007."""
PATH_WEIGHTS: Mapping[Field, float] = {"path": 0.5, "stem": 0.5}

TOP_THREE = 0.3
"""Mean of a file's best three chunks, beside its best one. Worth 0.015."""
PATH = 0.5
"""Words of the path, by how rare they are among paths. Worth 0.028."""
DEFINITION = 1.0
"""The file defines a name that the query spells out. Worth 0.007, of symbols 0.037."""
PATH_SHARE = 0.9
"""Share of the query, by weight, that the file's name and folder spell out. Worth 0.009."""

EXACT_PATH = 3.0
"""The query is this very path, or its end; more than all other signals together."""

PENALTIES: Mapping[str, float] = {"test": 0.8, "example": 0.3, "legacy": 0.3, "generated": 0.5, "declaration": 0.7}
"""For what is rarely meant, unless the query asks for it. Together worth 0.002; legacy, generated and
declaration alone nothing, since the judged corpora hold hardly any: there they follow the others."""


class Balance(NamedTuple):
    """How much words count and how much meaning."""

    words: float
    meaning: float


WORDS_ONLY = Balance(1.0, 0.0)
MODEL_BALANCE: Mapping[Kind, Balance] = {"code": Balance(0.6, 1.8), "docs": Balance(1.0, 0.7)}
TABLE_BALANCE: Mapping[Kind, Balance] = {"code": Balance(1.0, 0.5), "docs": Balance(1.0, 0.1)}
"""For a question in words, by the encoder whose vectors there are. Worth 0.027 by the model, 0.012 by the table; on
CosQA 0.204 and 0.051. Code with the weights of documents scores 0.877 and CosQA 0.54 instead of 0.595; documents with
those of code 0.68 on SciFact instead of 0.725 (0.5 to 0.9 instead of 0.7 give 0.718 to 0.725), and the table at 0.5
costs SciFact 0.027."""
NAME_BALANCE = Balance(1.0, 0.3)
"""For a name or a path. 0.6 instead of 0.3 costs symbols 0.013; nothing at all 0.004."""
NEAR_CANDIDATES = 400
"""Chunks that are near in meaning; nearness counts from the last one on. With 250 and 600 code scores 0.883 and 0.879
instead of 0.881, SciFact 0.721 and 0.724 instead of 0.725."""
MEANING_TOP_THREE = 0.3
"""Mean of the nearest three chunks of a file, and the nearest one the rest; 0.5 is worth 0.003 less."""
MIN_NEARNESS = 0.35
"""A file that no word leads to has to be at least that near. For questions of letters at random the nearest chunk of
21 repositories is nearer in 11 of 100 cases by the model and in 7 by the table, for claims from medicine in 1 and 9;
for judged questions it is in 99 and 97. With 0.4 files of a few lines are lost that answer in other words."""
FULL_NEARNESS = 0.8
"""As near as anything that is asked in other words: the nearest hundredth of judged questions."""

MAX_SHOWN_CHUNKS = 2
MIN_SHOWN_SHARE = 0.6
"""A file's second chunk is shown when it scores at least this share of its first."""

PASSAGE_RELEVANCE = 0.7
NAME_RELEVANCE = 0.3
MAX_MEANING_RELEVANCE = 0.8
"""What is shown counts most: all words of a query in the passages give 0.7, in a name or heading too 1.0.
Whatever is left of that, what is near in meaning gives its share of, up to 0.8: a hit is never wholly sure by that."""

CORRECTION_WEIGHT = 0.5
"""A term that stands in for a misspelled one counts this much."""
MIN_CORRECTED_LENGTH = 4
"""Shorter terms are not corrected; from twice this length two letters may differ."""
CORRECTION_CANDIDATES = 20_000
"""Words with the same first two letters that are compared: few people misspell the beginning, and
on 90,000 chunks comparing all words with the same first letter takes 15 ms."""
