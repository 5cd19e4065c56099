"""The schema of the catalog, as steps from an empty database to the current format.

A change of the format is a new step, which an older catalog runs when it is opened.
"""

APPLICATION_ID = 0x646F7773
"""Spells `dows`; distinguishes a catalog of dowse from any other SQLite database."""

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE facts (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;

    -- Only the stat of a row ever changes: new content is a new row with a new id. A file may have two representations,
    -- one for each view: its own text, and what a reader of documents sees. `problem` says why a file was read as plain
    -- text: its parser took too much time or memory, or failed.
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path TEXT NOT NULL,
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
        recipe TEXT NOT NULL,
        problem TEXT NOT NULL,
        views INTEGER NOT NULL,
        UNIQUE (path, views)
    );
    -- A file that was moved or copied is recognized by its content.
    CREATE INDEX documents_by_content ON documents (content_hash);

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

    -- The text of documents that were converted from their file.
    CREATE TABLE texts (
        document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
        text BLOB NOT NULL
    );

    -- The packed references of the documents, once they were asked for. `module` is the last part of the name by which
    -- others import the file.
    CREATE TABLE source_references (
        document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
        module TEXT NOT NULL,
        data BLOB NOT NULL
    );
    CREATE INDEX references_by_module ON source_references (module);

    -- Checksums of names: two names with the same one are told apart by the references themselves.
    CREATE TABLE reference_names (
        name INTEGER NOT NULL,
        document_id INTEGER NOT NULL,
        PRIMARY KEY (name, document_id)
    ) WITHOUT ROWID;

    -- Files that were refused for their content, so that they are not read again.
    CREATE TABLE refusals (
        path TEXT PRIMARY KEY,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        reason TEXT NOT NULL,
        detail TEXT NOT NULL
    ) WITHOUT ROWID;

    -- Keyed by the encoder's input, so that content that comes back has its vector at once. A vector is a scale and eight
    -- bits per dimension. A borrowed vector belongs to the same text under another path; it is used until the chunk has
    -- its own.
    CREATE TABLE vectors (
        encoder TEXT NOT NULL,
        input_hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        is_borrowed INTEGER NOT NULL,
        PRIMARY KEY (encoder, input_hash)
    ) WITHOUT ROWID;

    -- The changes that the derived parts follow; `subject` is the id of a document or a chunk, `views` those of a document.
    CREATE TABLE changes (
        sequence INTEGER NOT NULL,
        what TEXT NOT NULL CHECK (what IN ('added', 'removed', 'encoded')),
        subject INTEGER NOT NULL,
        views INTEGER NOT NULL
    );
    -- The lexical index follows documents only; this index lets it skip 100,000 changes of vectors.
    CREATE INDEX changes_by_kind ON changes (what, sequence);

    -- The catalog's own id, the number of its last transaction, and the transactions from which on changes are kept.
    INSERT INTO facts VALUES
        ('catalog', lower(hex(randomblob(16)))), ('sequence', '0'), ('horizon', '0'), ('encoded_horizon', '0');
    """,
    """
    -- The checksum of all rows of a document, and its views, which may change. Rows that were written before this step have none.
    CREATE TABLE checks (
        document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
        checksum INTEGER NOT NULL,
        views INTEGER NOT NULL
    );
    ALTER TABLE vectors ADD COLUMN checksum INTEGER;
    """,
    """
    -- What is special to the documents of a source, as JSON.
    CREATE TABLE details (
        document_id INTEGER PRIMARY KEY REFERENCES documents (id) ON DELETE CASCADE,
        value BLOB NOT NULL
    );
    """,
)
