"""The catalog's tables, as the steps that lead from an empty database to the current format.

A step is never edited once released: a change is a new step, and an older catalog runs the
steps it lacks when it is opened.
"""

APPLICATION_ID = 0x646F7773
"""Spells `dows`; tells our catalog from any other SQLite database."""

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE facts (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;

    -- A row is never changed but for its stat: new content is a new row with a new id.
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL UNIQUE,
        kind TEXT NOT NULL,
        language TEXT NOT NULL,
        title TEXT NOT NULL,
        description TEXT NOT NULL,
        tags TEXT NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        checked_ns INTEGER NOT NULL,
        content_hash BLOB NOT NULL,
        encoding TEXT NOT NULL,
        text_start INTEGER NOT NULL,
        is_verbatim INTEGER NOT NULL,
        is_truncated INTEGER NOT NULL,
        chunk_count INTEGER NOT NULL,
        recipe TEXT NOT NULL
    );

    CREATE TABLE chunks (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        start_byte INTEGER NOT NULL,
        end_byte INTEGER NOT NULL,
        start_line INTEGER NOT NULL,
        end_line INTEGER NOT NULL,
        text_hash BLOB NOT NULL,
        input_hash BLOB NOT NULL,
        symbols TEXT NOT NULL,
        headings TEXT NOT NULL
    );
    CREATE INDEX chunks_by_document ON chunks (document_id, ordinal);
    CREATE INDEX chunks_by_input ON chunks (input_hash);

    CREATE TABLE links (
        document_id INTEGER NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        target TEXT NOT NULL,
        text TEXT NOT NULL,
        line INTEGER NOT NULL,
        PRIMARY KEY (document_id, ordinal)
    ) WITHOUT ROWID;

    -- The text of documents that is not the bytes of their file.
    CREATE TABLE texts (
        document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
        text BLOB NOT NULL
    );

    -- Files that were read and turned away for their content, so that they are not read again.
    CREATE TABLE refusals (
        path TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL
    ) WITHOUT ROWID;

    -- Keyed by what was encoded, so that content that comes back finds its vector again.
    CREATE TABLE vectors (
        encoder TEXT NOT NULL,
        input_hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (encoder, input_hash)
    ) WITHOUT ROWID;

    -- What the derived parts have to follow; `subject` is a document's or a chunk's id.
    CREATE TABLE changes (
        sequence INTEGER NOT NULL,
        what TEXT NOT NULL CHECK (what IN ('added', 'removed', 'encoded')),
        subject INTEGER NOT NULL
    );
    CREATE INDEX changes_by_sequence ON changes (sequence);

    -- The catalog's own name, the number of its last transaction, and how far back changes go.
    INSERT INTO facts VALUES
        ('catalog', lower(hex(randomblob(16)))), ('sequence', '0'), ('horizon', '0'), ('encoded_horizon', '0');
    """,
    """
    -- A file that was moved or copied is known by what it holds.
    CREATE INDEX documents_by_content ON documents (content_hash);
    """,
    """
    -- A vector is a scale and eight bits a dimension. A borrowed one is of the same text under another
    -- path: it serves until the right one is there.
    DROP TABLE vectors;
    CREATE TABLE vectors (
        encoder TEXT NOT NULL,
        input_hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        is_borrowed INTEGER NOT NULL,
        PRIMARY KEY (encoder, input_hash)
    ) WITHOUT ROWID;
    -- The lexical index follows documents, and need not read past 100,000 vectors for that.
    DROP INDEX changes_by_sequence;
    CREATE INDEX changes_by_kind ON changes (what, sequence);
    """,
)
