"""Every number that decides which page comes first, and what it is good for."""

FIELD_WEIGHTS = (0.35, 0.30, 0.20, 0.15)
"""Of body, title, abstract and topics: the specification's."""

# How surely another word is meant than the one that was typed.
FORM_WEIGHT = 0.85
PREFIX_WEIGHT = 0.6
INFIX_WEIGHT = 0.4
ONE_TYPO_WEIGHT = 0.75
TWO_TYPOS_WEIGHT = 0.5
OTHER_FIRST_LETTER_FACTOR = 0.8
"""People rarely miss the first letter."""
SPLIT_WORD_WEIGHT = 0.7
"""`file system` for `filesystem`, and the other way round."""

MIN_PREFIX_CHARACTERS = 3
MIN_INFIX_CHARACTERS = 4
MIN_TWO_TYPOS_CHARACTERS = 7
MIN_COMPOUND_CHARACTERS = 6
MIN_HALF_CHARACTERS = 3
MAX_LONGER_WORDS = 200
MAX_SIMILAR_WORDS = 20

MAX_TERMS = 64
MAX_CORRECTED_WORDS = 12
"""Of a query so many words count, and of those that are nowhere so many are taken for similar ones: each costs time."""

STOP_WORD_FACTOR = 0.15
"""What a word that says nothing counts beside the others."""

SATURATION = 1.2
LENGTH_NORMALIZATION = (0.75, 0.5, 0.5, 0.75)
"""How much a field's length counts against it; topics may be a long list."""

MAX_CANDIDATES = 60
"""Pages that are looked at closely: titles word by word, and how near to each other words stand."""
COVERAGE_EXPONENT = 2.0
"""Exponent of the share of the query that a page has: pages with all words come before those with one of them often."""
TITLE_WEIGHT = 0.9
TITLE_EXPONENT = 3.0
PROXIMITY_WEIGHT = 0.6
PROXIMITY_HALF_WORDS = 4.0
"""Words between two words of the query that halve the worth of their being near."""
REVERSED_ORDER_FACTOR = 0.8
MIN_TITLE_SIMILARITY = 0.75
"""Share of a title's characters that have to be right where its words need not be."""
MAX_TITLE_CHARACTERS = 300
