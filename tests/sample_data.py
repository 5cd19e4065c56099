"""Sample documents, puts, files and indexes."""

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dowse.errors import LexicalDamaged
from dowse.indexes.index import ProjectIndex
from dowse.store.lexical import LexicalIndex
from dowse.store.local import LocalStore
from dowse.system.platform import Lock
from dowse.types import (
    Chunk,
    Document,
    Field,
    Kind,
    Put,
    Reading,
    Scored,
    Stat,
    StoredDocument,
    Symbol,
    TextQuery,
    View,
)


class World:
    """Files that exist only in memory, for a store that has to read them again."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def put(self, path: str, text: str, *, kind: Kind = "code", is_verbatim: bool = True) -> Put:
        """Write a file and describe it as the indexer would."""
        self.files[path] = text
        return make_put(path, text, kind=kind, is_verbatim=is_verbatim)

    def read_text(self, document: StoredDocument) -> str | None:
        """Return the text of a document, as the store requests it when it rebuilds."""
        text = self.files.get(document.path)
        return text if text is not None and digest(text) == document.content_hash else None


def make_put(path: str, text: str, *, kind: Kind = "code", is_verbatim: bool = True) -> Put:
    """Return a put whose chunks are the text's paragraphs, each defining its first word."""
    reading = Reading(text=text, title=path, is_verbatim=is_verbatim, tags=("made",))
    document = Document(path, kind, "text", make_stat(text), digest(text), reading)
    return Put(document, tuple(paragraphs(text)))


def make_stat(text: str, mtime_ns: int = 1) -> Stat:
    """Return a stat that differs when the length does."""
    return Stat(size=len(text.encode()), mtime_ns=mtime_ns, inode=1, ctime_ns=mtime_ns)


def digest(text: str) -> bytes:
    """Return the hash that a source would compute."""
    return hashlib.sha256(text.encode()).digest()


def paragraphs(text: str) -> list[Chunk]:
    """Return one chunk for each paragraph."""
    chunks, at, line = [], 0, 1
    for paragraph in text.split("\n\n"):
        size = len(paragraph.encode())
        last = line + paragraph.count("\n")
        if paragraph.strip():
            name = Symbol(paragraph.split()[0], "function", line)
            chunks.append(Chunk(paragraph, at, at + size, line, last, (name,), ("Top",)))
        at, line = at + size + 2, last + 2
    return chunks


def write_tree(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder and return it."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def open_indexed(root: Path, view: View = View.PROJECT) -> ProjectIndex:
    """Index a root in this process and return its index, open."""
    project = ProjectIndex(root, view)
    project.update()
    return project


def index(*roots: Path, view: View = View.PROJECT) -> None:
    """Index roots in this process."""
    for root in roots:
        open_indexed(root, view).close()


EVERYWHERE: dict[Field, float] = {"words": 1.0, "parts": 0.5, "symbols": 0.5, "names": 0.5, "headings": 0.5}


def find(store: LocalStore, *words: str, limit: int = 50, kind: Kind | None = None) -> list[Scored]:
    """Return the chunks that have one of the words in any field."""
    store.refresh()
    return store.find_chunks(TextQuery(words, EVERYWHERE, kind), limit)


@contextlib.contextmanager
def another_writer(project: ProjectIndex) -> Iterator[list[float]]:
    """Hold the write lock of an index in a block, as another process that writes for long.

    Give the block a list that gets the seconds that its thread would wait for the lock each time; it does not wait.
    """
    waits, asking, really_acquire = list[float](), threading.get_ident(), Lock.acquire

    def acquire(lock: Lock, wait_seconds: float) -> None:
        if lock.path.name == "write.lock" and threading.get_ident() == asking:
            waits.append(wait_seconds)
            wait_seconds = 0.0
        really_acquire(lock, wait_seconds)

    with Lock(project.folder / "write.lock").held(30.0), patch.object(Lock, "acquire", acquire):
        yield waits


class _Unreadable:
    """A searcher that meets damage, whatever it is asked."""

    def __getattr__(self, name: str) -> object:
        raise LexicalDamaged(f"{name}: Tantivy panics")


@contextlib.contextmanager
def damaged_words() -> Iterator[None]:
    """Let queries of lexical indexes find damage in a block that the checksums of the files do not show."""
    searching = LexicalIndex.searching

    @contextlib.contextmanager
    def damaged(index: LexicalIndex) -> Iterator[Any]:
        with searching(index):
            yield _Unreadable()

    with patch.object(LexicalIndex, "searching", damaged):
        yield


def make_words_older(index_folder: Path) -> None:
    """Give the lexical indexes of an index the format of an earlier version of dowse."""
    for record in index_folder.glob("lexical-*/reached.json"):
        content = json.loads(record.read_bytes())
        content["marker"]["format"] -= 1
        record.write_text(json.dumps(content), encoding="utf-8")
