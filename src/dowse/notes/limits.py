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

DEFAULT_MIN_LENGTH = 2
"""Characters of the shortest token, unless the index is configured otherwise."""
MAX_MIN_LENGTH = 100

BATCH_TOKENS = 20_000
"""Documents are posted together when they have this many tokens. A search splits the texts of those that are not posted
yet, which takes 5 ms for this many, and looks up each word in every batch, which takes a microsecond."""

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
