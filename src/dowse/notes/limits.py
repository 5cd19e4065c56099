"""How much named indexes take, and where their insides change; every number with its reason."""

DEFAULT_INDEX = "default"
"""Exists from the start of a server, in its memory."""
MAX_NAME = 64
MAX_INDEXES = 200
"""Of one backend: an assistant that makes more has lost count of them."""

MAX_ID = 1024
"""Characters of a document's id: room for any address, and a reply still shows ten of them."""
MAX_CONTENT_BYTES = 10 * 2**20
"""Of one document, in UTF-8: a book has a tenth of it, and larger texts belong into files."""
MAX_METADATA = 65_536
"""Characters of a document's metadata as JSON: it comes back with every hit."""
MAX_DEPTH = 100
"""Levels of metadata within each other; nobody reads more, and parsers on the way give up at about a thousand."""
MAX_BATCH = 10_000
"""Documents that are added in one call."""
MAX_MEMORY_BYTES = 2**30
"""All memory indexes of a server together; a laptop bears it, and what needs more belongs on the disk."""

MAX_QUERY = 200_000
"""Characters of a query: ten thousand words."""
DEFAULT_K = 10
MAX_K = 10_000
MAX_OFFSET = 10_000_000
MAX_CONDITIONS = 100
"""Of a filter."""
MAX_CHOICES = 1000
"""Values that a condition lists."""

MIN_LENGTH = 2
"""Characters of the shortest token, unless an index says otherwise."""
MOST_MIN_LENGTH = 100

TAIL_TOKENS = 150_000
"""New documents are kept as they came until they have so many tokens, then sorted into a segment.

A search looks through them in 0.1 ms, and a process that opens the index cuts them into tokens again in 50 ms;
a note that is added does not touch a page for each of its words.
"""
BULK_TOKENS = 40_000
"""Documents that come together and have so many tokens are sorted at once: to cut them twice would cost more."""
FULL_TOKENS = 2_000_000
"""A segment of so many tokens is merged no more: to merge one takes a second and 130 MB."""
SMALL_SEGMENTS = 6
"""So many smaller ones are merged: a search reads each, a merge writes all of them again."""
DEAD_SHARE = 0.3
"""A segment is written again once so much of it was replaced or deleted."""

BUSY_SECONDS = 60.0
"""How long a writer waits for others; a bulk of documents takes a second or two."""
CACHE_KB = 8000
"""Of an index that each connection keeps in memory: the postings of words that are asked for again and again."""
IDLE_CONNECTIONS = 2
"""Connections to one index that are kept for the next question."""
RESTING_INDEXES = 8
"""Disk indexes that are kept open after a question: each has some MB of memory and three files."""

HIGHLIGHTS = 3
HIGHLIGHT_REACH = 30
"""Characters on either side of a match."""
HIGHLIGHT_LINE = 120
"""Characters from the first match in a passage to the end of its last."""
HIGHLIGHT_TOKEN = 200
"""A longer token is cut: somebody's base64 is no context."""
HIGHLIGHT_TOKENS = 32
"""Tokens of a question that are looked for in a text: three passages show no more."""
HIGHLIGHT_PLACES = 50
"""Occurrences of each token that are looked at; who has more of them is found with these."""
