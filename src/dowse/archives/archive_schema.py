"""The tables of the database, which is derived from the indexes of the archives for citations and for other programs."""

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
    """,
    """
    -- Earlier formats had files and words of their own.
    DROP TABLE IF EXISTS files;
    DROP TABLE IF EXISTS words;
    DROP TABLE IF EXISTS texts;
    -- The SHA-256 of the files of a document; empty if its text has to be read again.
    ALTER TABLE documents ADD COLUMN hash BLOB NOT NULL DEFAULT x'';
    """,
)
