"""The limits of named indexes and the thresholds of their storage, each with its reason."""

DEFAULT_INDEX = "default"
"""The index in memory that every server starts with."""
MAX_NAME_CHARACTERS = 64
MAX_INDEXES = 200
"""Of each backend: an assistant that creates more has lost count of them."""

MAX_ID_CHARACTERS = 1024
"""Enough for any URL, and short enough for ten ids in one reply."""
MAX_CONTENT_BYTES = 10 * 2**20
"""Of one document, in UTF-8: a book is a tenth of it, and larger texts belong in files."""
MAX_METADATA_CHARACTERS = 65_536
"""Of one document, as JSON: metadata is returned with every hit."""
MAX_METADATA_DEPTH = 100
"""Levels of nesting; JSON parsers on the way give up at about a thousand."""
MAX_BATCH_DOCUMENTS = 10_000
"""Documents in one call that adds many."""
MAX_MEMORY_BYTES = 2**30
"""Of all memory indexes of a server together: a laptop can afford it, and more belongs on disk."""

MAX_QUERY_CHARACTERS = 200_000
"""About ten thousand words."""
DEFAULT_K = 10
MAX_K = 10_000
MAX_OFFSET = 10_000_000
MAX_CONDITIONS = 100
"""In one filter."""
MAX_CHOICES = 1000
"""Values in the list of one condition."""

DEFAULT_MIN_LENGTH = 2
"""Characters of the shortest token, unless the index is configured otherwise."""
MAX_MIN_LENGTH = 100

MAX_TAIL_TOKENS = 150_000
"""New documents stay in the tail, unsorted, until it exceeds this number of tokens; then they become a segment.

A search scans a full tail in 0.1 ms, and a process that opens the index tokenizes it in 50 ms. Without a tail,
every added document would write to a database page for each of its words.
"""
BULK_TOKENS = 40_000
"""Documents added together become a segment at once above this: tokenizing them twice would cost more."""
FULL_SEGMENT_TOKENS = 2_000_000
"""A segment of this size is not merged any more: a merge of this size takes a second and 130 MB."""
MERGE_SEGMENTS = 6
"""The number of smaller segments that starts a merge: a search reads each, a merge rewrites all of them."""
MAX_DEAD_SHARE = 0.3
"""A segment is rewritten when a larger share of its documents was replaced or deleted."""

BUSY_SECONDS = 60.0
"""How long a writer waits for other writers; adding many documents takes a second or two."""
CACHE_KB = 8000
"""The page cache of each connection: it keeps the postings of words that are searched for often."""
MAX_OPEN_INDEXES = 8
"""Disk indexes that stay open after a query: each takes some MB of memory and three files."""

MAX_HIGHLIGHTS = 3
HIGHLIGHT_CONTEXT_CHARACTERS = 30
"""Context on either side of a match."""
MAX_HIGHLIGHT_CHARACTERS = 120
"""From the start of the first match in a passage to the end of its last."""
MAX_HIGHLIGHT_TOKEN_CHARACTERS = 200
"""A longer token, such as base64 data, is cut."""
MAX_HIGHLIGHT_TOKENS = 32
"""Tokens of a query that are looked for in a text: three passages cannot show more."""
