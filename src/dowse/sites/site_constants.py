"""Every number that decides which page comes first, and what it is good for."""

FIELD_WEIGHTS = (0.35, 0.30, 0.20, 0.15)
"""Of body, title, abstract and topics: the specification's."""

# How surely another word is meant than the one that was typed.
FORM = 0.85
PREFIX = 0.6
INSIDE = 0.4
ONE_ERROR = 0.75
TWO_ERRORS = 0.5
OTHER_START = 0.8
"""People rarely miss the first letter."""
SPLIT = 0.7
"""`file system` for `filesystem`, and the other way round."""

LEAST_PREFIX = 3
LEAST_INSIDE = 4
LEAST_FOR_TWO_ERRORS = 7
LEAST_COMPOUND = 6
LEAST_HALF = 3
MOST_LONGER = 200
MOST_SIMILAR = 20

MOST_TERMS = 64
MOST_UNKNOWN = 12
"""Of a query so many words count, and of those that are nowhere so many are taken for similar ones: each costs time."""

STOP_WORD = 0.15
"""What a word that says nothing counts beside the others."""

SATURATION = 1.2
LENGTH_SHARES = (0.75, 0.5, 0.5, 0.75)
"""How much a field's length counts against it; topics may be a long list."""

CANDIDATES = 60
"""Pages that are looked at closely: titles word by word, and how near to each other words stand."""
COVERED = 2.0
"""Exponent of the share of the query that a page has: pages with all words come before those with one of them often."""
TITLE = 0.9
TITLE_EXPONENT = 3.0
NEAR = 0.6
NEAR_WORDS = 4.0
"""Words between two words of the query that halve the worth of their being near."""
REVERSED = 0.8
SIMILAR_TITLE = 0.75
"""Share of a title's characters that have to be right where its words need not be."""
LONGEST_TITLE = 300
