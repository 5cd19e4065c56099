"""The tables of the database."""

APPLICATION_ID = 0x646F7761
"""Spells `dowa`, and tells this database from any other."""

STEPS: tuple[str, ...] = (
    """
    CREATE TABLE facts (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID;
    INSERT INTO facts VALUES ('sequence', '0');

    -- `archive` is the folder that a document lies in, `path` is below it.
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        archive TEXT NOT NULL,
        path TEXT NOT NULL,
        title TEXT NOT NULL,
        date TEXT,
        source TEXT NOT NULL CHECK (source IN ('research', 'url-content')),
        type TEXT NOT NULL,
        question TEXT NOT NULL,
        url TEXT NOT NULL,
        names TEXT NOT NULL,
        UNIQUE (archive, path)
    );

    -- `body` is the character at which the text begins after its front matter.
    CREATE TABLE content (
        document INTEGER PRIMARY KEY REFERENCES documents (number) ON DELETE CASCADE,
        text TEXT NOT NULL,
        body INTEGER NOT NULL
    );

    -- Every file that was looked at; without a document it is a bibliography or was turned away.
    CREATE TABLE files (
        archive TEXT NOT NULL,
        path TEXT NOT NULL,
        document INTEGER REFERENCES documents (number) ON DELETE CASCADE,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        inode INTEGER NOT NULL,
        ctime_ns INTEGER NOT NULL,
        checked_ns INTEGER NOT NULL,
        hash BLOB NOT NULL,
        refusal TEXT NOT NULL,
        PRIMARY KEY (archive, path)
    ) WITHOUT ROWID;
    CREATE INDEX files_by_document ON files (document);

    -- What citations may know a document by: `url:…`, `doi:…`, `pep:8`.
    CREATE TABLE identities (
        key TEXT NOT NULL,
        document INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
        PRIMARY KEY (key, document)
    ) WITHOUT ROWID;
    CREATE INDEX identities_by_document ON identities (document);

    CREATE TABLE bibliography (
        archive TEXT NOT NULL,
        path TEXT NOT NULL,
        key TEXT NOT NULL,
        url TEXT NOT NULL,
        identity TEXT NOT NULL,
        title TEXT NOT NULL,
        PRIMARY KEY (archive, path, key)
    ) WITHOUT ROWID;

    -- `written` is what a link says whose `target`, or for an @key whose address, other documents decide;
    -- `is_citation` is 0 for a link of a document to itself, and for an @name that no bibliography has.
    CREATE TABLE citations (
        source INTEGER NOT NULL REFERENCES documents (number) ON DELETE CASCADE,
        ordinal INTEGER NOT NULL,
        target INTEGER REFERENCES documents (number) ON DELETE SET NULL,
        url TEXT NOT NULL,
        written TEXT NOT NULL,
        key TEXT NOT NULL,
        kind TEXT NOT NULL,
        context TEXT NOT NULL,
        line INTEGER NOT NULL,
        confidence REAL NOT NULL DEFAULT 1.0,
        fault TEXT NOT NULL DEFAULT '',
        is_citation INTEGER NOT NULL DEFAULT 1,
        PRIMARY KEY (source, ordinal)
    ) WITHOUT ROWID;
    CREATE INDEX citations_by_target ON citations (target, source);
    CREATE INDEX citations_by_key ON citations (key);

    -- Every word of the documents, and how many have it; the others are how it is compared: without accents and
    -- by its stem. Words with similar letters are found in memory.
    CREATE TABLE words (
        word TEXT PRIMARY KEY,
        folded TEXT NOT NULL,
        stem TEXT NOT NULL,
        documents INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX words_by_folded ON words (folded, documents);
    CREATE INDEX words_by_stem ON words (stem);

    -- Words are cut by us and given one by one: marks and underscores are parts of words.
    CREATE VIRTUAL TABLE texts USING fts5 (
        title, question, content, content = '', columnsize = 1,
        tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co'"
    );
    """,
)
