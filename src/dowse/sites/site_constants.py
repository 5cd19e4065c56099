"""The constants of the ranking of pages."""

FIELD_WEIGHTS = (0.35, 0.30, 0.20, 0.15)
"""Weights of body, title, abstract and topics, as the specification states them."""

# Weights of words that match a typed word without being equal to it. An equal word has 1.
FORM_WEIGHT = 0.85
PREFIX_WEIGHT = 0.6
INFIX_WEIGHT = 0.4
ONE_TYPO_WEIGHT = 0.75
TWO_TYPOS_WEIGHT = 0.5
OTHER_FIRST_LETTER_FACTOR = 0.8
"""Factor for a typo in the first letter, which people rarely make."""
SPLIT_WORD_WEIGHT = 0.7
"""Weight of `file system` for `filesystem` and the reverse."""

MIN_PREFIX_CHARACTERS = 3
MIN_INFIX_CHARACTERS = 4
MIN_TWO_TYPOS_CHARACTERS = 7
MIN_COMPOUND_CHARACTERS = 6
MIN_HALF_CHARACTERS = 3
MAX_SIMILAR_WORDS = 20

MAX_TERMS = 64
MAX_CORRECTED_WORDS = 12
"""Maximum number of words of a query that count, and of unknown ones among them that are corrected. Each costs time."""

STOP_WORD_FACTOR = 0.15
"""Factor for the importance of stop words."""

SATURATION = 1.2
"""BM25's `k1`."""
LENGTH_NORMALIZATION = (0.75, 0.5, 0.5, 0.75)
"""BM25's `b` for each field: how much its length counts against it. Topics may be a long list."""

MAX_CANDIDATES = 30
"""Pages that the index finds, whose words, titles and word distances are then compared with the query."""
MAX_RANKED_BYTES = 30_000
RANKED_CONTEXT_BYTES = 500
"""Of a longer field, this beginning is compared, and what is around the first later place of each word: to split a body
of 1 MB into words takes 100 ms."""
CLOSE = 0.5
"""Words that match with this weight choose candidates by how often a page has them; others all alike."""
CLOSE_SCORE, DISTANT_SCORE = 1.0, 0.4
TITLE_CANDIDATE_SCORE = 1000.0
"""Scores that choose candidates, beside those of BM25: of a word that matches closely or distantly, relative to its
importance, and of a similar title."""
COVERAGE_EXPONENT = 2.0
"""Exponent of the share of the query that a page has. It ranks pages with all words before pages with one word often."""
TITLE_WEIGHT = 0.9
TITLE_EXPONENT = 3.0
PROXIMITY_WEIGHT = 0.6
PROXIMITY_HALF_WORDS = 4.0
"""Number of words between two words of the query that halves their closeness."""
REVERSED_ORDER_FACTOR = 0.8
MIN_TITLE_SIMILARITY = 0.75
"""Minimum similarity, by characters, of a title that is compared with the query as a whole."""
MAX_TITLE_CHARACTERS = 300
