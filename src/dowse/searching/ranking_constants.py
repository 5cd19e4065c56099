"""All numbers that decide the order of hits, each with its worth.

The worth of a rule is what nDCG@10 on `eval/code-search` loses without it (bench/FIGURES.md has the
table). The numbers were chosen by coordinate ascent; bench/NOTES.md says what leaving one repository out gives.
"""

from collections.abc import Mapping
from typing import NamedTuple

from dowse.types import Field, Kind

CHUNK_CANDIDATES = 250
"""250, 400 and 1,500 are equally good."""
DOCUMENT_CANDIDATES = 200
RANKED_FILES = 120
"""Files that are ranked with all signals. 40 are as good, but pages after the first have to come from the same pool."""

CHUNK_WEIGHTS: Mapping[Field, float] = {"parts": 0.9, "words": 0.45, "symbols": 0.5, "headings": 0.15}
SYMBOL_CHUNK_WEIGHTS: Mapping[Field, float] = {"parts": 0.3, "words": 0.6, "symbols": 0.2, "headings": 0.3}
"""Split identifiers are worth 0.020, whole ones 0.008, names 0.004, headings nothing; separate weights for symbols 0.002 of
theirs, and 0.006 with the table and with the model. Headings at 0.3 instead of 0.15 cost SciFact 0.007."""
DOCS_CHUNK_WEIGHTS: Mapping[Field, float] = {"parts": 0.9, "words": 0.15, "headings": 0.3}
IDENTIFIER_REPEATS = 5
"""For prose in documents, where a question has other forms of the words than the text, and how often an identifier of
several parts counts again in one piece. With the weights of code, SciFact scores 0.724 instead of 0.733 with the model, and
pages of MDN 0.684 instead of 0.704 by an identifier and two words of a paragraph."""
PATH_WEIGHTS: Mapping[Field, float] = {"path": 0.5, "stem": 0.5}

TOP_THREE = 0.3
"""Weight of the mean of a file's best three chunks, in addition to its best one. Worth 0.013."""
PATH = 0.5
"""Weight of the words of the path, by how rare they are among paths. Worth 0.001, with the table 0.010."""
DEFINITION = 1.0
"""Weight of a file that defines a name in the query. Worth 0.010, for symbols 0.037."""
DEFINERS_POWER = 0.5
"""The weight is divided by this power of the number of files that define the name, so that a namespace, which every file
names, counts little. Of 160 questions with guessed names, 147 instead of 143 have a right file among the first five."""
NAMED_CANDIDATES = 20
"""Chunks whose names are compared with a short query. A name with all its words counts like a name in the query: of 226
names of two words, asked for as "how is the cookie parse", the file comes first for 86 % instead of 64 %."""
PATH_SHARE = 0.9
"""Weight of the share of the query that occurs in the names of the file and its folder. Worth 0.005."""
WHOLE_NAME = 0.4
"""Weight of a file whose whole name the query has, so that `router` comes before `router_cache`. Worth 0.011 by words and
with the table, 0.005 with the model. In pasted text, which has many names by chance, it would cost 1 % of the issues."""

EXACT_PATH = 3.0
"""Weight of a file whose path, or the end of it, is the query: more than all other signals together."""

PENALTIES: Mapping[str, float] = {
    "test": 0.8, "example": 0.3, "prose": 0.8, "migration": 0.6, "translation": 0.5, "generated": 0.6,
    "vendored": 0.4,
}  # fmt: skip
"""Factors for kinds of files that are rarely meant, unless the query requests them. Prose is worth 0.001 by words and 0.003
with the model, tests and examples 0.002, and no repository loses by any of them."""

FOLDER = 0.9
"""Factor for each folder that a file is in: the files near the root are meant more often than their parts. Worth 0.012 by
words, 0.008 with the table and 0.007 with the model. Pasted text would find 3 % fewer of the issues with it."""


class Balance(NamedTuple):
    """The weights of words and of meaning."""

    words: float
    meaning: float


WORDS_ONLY = Balance(1.0, 0.0)
MODEL_BALANCE: Mapping[Kind, Balance] = {"code": Balance(0.6, 1.8), "docs": Balance(1.0, 0.7)}
TABLE_BALANCE: Mapping[Kind, Balance] = {"code": Balance(1.0, 0.5), "docs": Balance(1.0, 0.1)}
"""For a query in prose, by the encoder that made the vectors. Worth 0.027 with the model and 0.012 with the table; on
CosQA 0.204 and 0.051. With the weights of documents, code scores 0.877; with those of code, documents score 0.68 on SciFact
instead of 0.725, and the table at 0.5 costs SciFact 0.027."""
NAME_BALANCE = Balance(1.0, 0.3)
"""For a query that is a name or a path. 0.6 instead of 0.3 costs symbols 0.013; 0 costs 0.004."""
NAMELESS_MEANING = 2.0
"""Factor on the weight of meaning for code if no path has a word of the query, so that names cannot decide. Worth 0.013 on
CosQA with the table and 0.011 with the model."""
NEAR_CANDIDATES = 400
"""Number of chunks that are nearest in meaning; nearness counts above the last one. 250 and 600 are as good."""
MEANING_TOP_THREE = 0.3
"""Weight of the mean of a file's nearest three chunks; the nearest one has the rest. 0.5 is worth 0.003 less."""
MIN_NEARNESS = 0.35
"""Minimum nearness of a file that matches no word. The nearest chunk of 21 repositories is above it in 11 of 100 cases
with the model and 7 with the table for queries of random letters, and in 99 and 97 for judged queries."""
FULL_NEARNESS = 0.8
"""Nearness that counts fully: that of the nearest hundredth of judged queries."""

UNIT_TERMS, MIN_UNIT_RARITY, MIN_TITLE_RARITY = 8, 0.5, 0.2
"""Terms that count within a file: the rarest ones; in pasted text at least half as rare as the rarest, in its title and in
typed queries a fifth. With a half for all, 44 instead of 49 % of 68 issues show a changed line within 1,000 tokens. These
and the next constants were chosen on 85 issues of `eval/issues`, by the share whose changed line is shown within 1,000
tokens. Most other values are within 3 % of these."""
UNIT_CHUNK = 1.4
"""Weight of the best chunk of a unit, beside its words, which weigh up to 2. Chosen without the repository that is measured,
such values show 1.6 % more. Weights that were fitted to the units themselves rank them no better elsewhere."""
UNIT_NAMED = 0.7
"""Weight of a unit whose name is a word of the query."""
UNIT_NAME_TERMS = 1.5
"""Weight of a unit whose name has all terms of a typed query. With 0, 64 % of the 100 questions of `bench/questions` show
an answering line within 1,000 tokens instead of 67."""
UNIT_SYMBOL = 10.0
"""Weight of the definition of a name, for a query that is this name: more than all others."""
UNIT_LENGTH, UNIT_LENGTH_SHARE = 0.4, 0.5
"""Weight of the logarithm of a unit's length: longer ones are changed more often; and how much its words are diluted."""
UNIT_FRAME = 1.0
"""Weight of a unit with a line that a traceback names."""
UNIT_KINDS: Mapping[str, float] = {"function": 0.4, "class": -1.0, "section": 0.0, "block": -0.4}
LINE_REACH, BASE_CHANCE = 3, 0.3
"""Lines around a match that may be meant as well, and the chance of a line that is far from all matches."""
READ_FILES = 3
"""Files of which all units are compared; of others those of the best chunk. Reading all ten takes twice the time and shows
1 % more."""
ASIDE_SIGNALS = frozenset(f"{kind} file" for kind in PENALTIES)
"""Kinds of files whose definitions rank lower, unless the query requests them."""
LIKELY_SHARE, LIKELY_LINES, OTHER_LINES = 0.8, 60, 20
"""Lines that are shown of a file whose score is at least this share of the best one, and of others. The first result of 104
judged queries is a whole function or section for 72 %; with 40 and 15 lines for 64 %, in replies that are 12 % shorter."""

MIN_WORDS_OF_CUT = 3
"""A query of fewer words keeps all hits: in a small project a common word would lose six of nine files that have it."""
ALWAYS_KEPT, MIN_SHARE = 3, 0.35
"""Hits that are always kept, and the share of the best score that others need. Of ten hits for the judged queries of code,
6.8 remain by words and 7.3 with the table, for 0.0026 and 0.0012 of nDCG@10. With 0.2 nothing is lost and 8.5 remain, with
0.4 0.0057 is lost and 5.9 remain."""
PASSAGE_RELEVANCE = 0.7
NAME_RELEVANCE = 0.3
MAX_MEANING_RELEVANCE = 0.8
"""The shown passages count most: all words of a query in the passages give 0.7, in a name or heading as well 1.0.
Nearness in meaning adds up to 0.8 of what is missing to 1, so meaning alone never gives full relevance."""

PASTED_WORDS = 20
"""Words of pasted text that count: the rarest ones. This and the next three were chosen on 76 of the 300 issues in
`eval/issues`, where the changed file is among the first five in 93 %; all words alike gave 66 %. With 12, 16, 24, 32 and 64
words: 91, 93, 91, 88 and 88 %."""
TITLE_SHARE = 0.5
"""Share of the title of pasted text, which is scored by itself. With 0, 0.3, 0.7 and 1: 82, 91, 92 and 82 %."""
MENTION = 1.0
"""Weight of a file that pasted text names, as a file or a module. With 0, 0.5 and 1.5: 88, 92 and 93 %."""
PASTED_PENALTIES: Mapping[str, float] = {**PENALTIES, "test": 0.5, "prose": 0.5}
"""Factors for pasted text, which mentions tests, examples and types without asking for them. With 0.8 for tests 88 %,
with 1 for prose 91 %."""

CORRECTION_WEIGHT = 0.5
"""Weight of a term that replaces a misspelled one."""
MIN_CORRECTED_LENGTH = 4
"""Minimum length of a word that is corrected; from twice this length on, two letters may differ."""
CORRECTION_CANDIDATES = 20_000
"""Maximum number of words that are compared, all with the same first two letters: few people misspell the beginning,
and on 90,000 chunks comparing all words with the same first letter takes 15 ms."""

DEFINITION_WEIGHTS: Mapping[str, float] = {
    "file": 1.5, "words": 1.0, "chunk": 0.7, "coverage": 2.0, "names": 0.5, "length": 0.1, "aside": -2.0, "constructor": -0.3,
    "accessor": -0.5, "symbol": 10.0, "framed": 1.0, "mentioned": 0.7,
}  # fmt: skip
DEFINITION_KINDS: Mapping[str, float] = {"function": 0.8, "class": -0.8, "section": -0.5, "block": -0.8}
FILE_SHARE_POWER = 0.4
"""Chosen on 160 questions about 40 projects that assistants worded without seeing the code (bench/NOTES.md): the definition
that decides comes first for 64 % and is among the first five for 89 %. Most of the weights are flat: half or twice of one
changes at most 2 %, without coverage 1 %. The definition of a name comes first for a query that is this name."""
PACKAGE_DEFINITION_WEIGHTS = {**DEFINITION_WEIGHTS, "file": 2.5, "names": 3.0, "documented": 0.6, "private": -1.5}
PACKAGE_NEARNESS = 2.0
PACKAGE_DEFINITION_KINDS: Mapping[str, float] = {"function": 0.8, "class": 0.4, "section": -0.5, "block": -0.8}
"""For packages, where names and classes say more, and what others can use is meant. Of 120 answers to the half of the
questions that the weights were chosen with, 86 have the definition among the first three; without nearness 78."""
COMPARED_DEFINITIONS, PACKAGE_FILES = 40, 15
"""Definitions of packages that are compared with a query by the table, and the files that they are in. More are as good."""
SCORED_DEFINITIONS, SCORED_CHARACTERS = 16, 800
SCORED_WEIGHT, SCORED_CERTAINTY = 0.5, 1.6
"""The best definitions for a question in prose, which the model scores at the time of the question, the characters of each
that it gets, the weight of its score above their mean, and the certainty with it, which keeps replies as long as before. Of
160 questions as a person asks them, 36.9 % instead of 25.0 show a range that decides whole; with names 92.5 instead of 90.6.
A weight of 0.9 costs 3 to 7 % of reworded ones."""
SCORED_FILES, SCORED_FILE_WEIGHT = 8, 0.1
"""The best files for a question in prose whose best chunks the model scores in the same way, and the weight of a score, where
it has not encoded every chunk. Of 174 questions as a person asks them, 44.3 % instead of 40.2 have a right file among the
first five; `eval/code-search` has 0.8883 instead of 0.8861. With 16 files they are the same, and it takes twice the time."""
DEFINITION_CERTAINTY = 2.5
"""How fast the chance of a definition falls with its score."""
DEFINITION_FILES, DEFINITION_TERMS = 20, 24
"""Files whose definitions are compared, and terms of the query that count in them. With 10 and 14 files, every place that
decides is shown or named for 62 and 64 % of the questions instead of 67."""
DEFINITION_BYTES = 1_000_000
"""Of a larger file, only the definitions of the best chunk are compared. Some projects keep all models in one of 700 KB."""
MAX_DEFINITIONS, NAMED_DEFINITIONS = 5, 10
"""Definitions that are shown whole at most, and those that are named."""


class DefinitionRoom(NamedTuple):
    """The room of a reply for definitions that are shown whole."""

    share: float
    """How many of them, as a share of the limit."""
    characters: int
    enough_chance: float
    """The chance that one of those shown is meant at which no further one is shown."""
    filled_share: float
    """How many are shown at most, as a share of the limit, while a reply has fewer than `filled_characters`."""
    filled_characters: int
    callee_characters: int
    """While a reply has fewer, it shows short functions that are called."""


QUESTION_ROOM = DefinitionRoom(1, 16_000, 0.75, 1.6, 6_000, 6_500)
"""A range that decides is shown whole for 90.6 % of the 160 questions, in replies of 8,564 characters; with 14,000 characters
and nothing filled for 89.4 %. With replies of the same length for every question, 84 % show what decides. A discount for
further definitions of a file costs 1 to 3 %."""
ISSUE_WORDS, ISSUE_ROOM = 40, DefinitionRoom(2, 24_000, 0.95, 2, 0, 0)
"""Pasted text of so many words has more room: an issue says less clearly what is meant than a question. Of the changed lines
of 32 issues, 58 % are shown; with 20,000 characters 55 %, with 32,000 and 14 definitions 61 %, and with the room of a question
40 %."""
CERTAIN_CHANCE = 0.97
"""The chance at which a short reply is not filled, as for a query that is a name."""
