"""Reading of a place: its projects, its files with their chunks, and the texts of many files."""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, wait
from dataclasses import replace
from itertools import islice
from typing import Any, Self

from dowse.errors import Failed, NotFound, PathRefused
from dowse.places.opened_place import OpenedPlace
from dowse.places.place_indexes import MAX_UNINDEXED_ROWS
from dowse.places.place_rows import PublishedFile, PublishedProject, quote, unpack_file, unpack_text
from dowse.places.place_table import SharedPlace
from dowse.store.catalog_rows import INVALID_VALUES
from dowse.types import Kind, Stat, StoredChunk, StoredDocument

MAX_LISTED = 2000
"""Up to this many documents are named in a condition; of more, LanceDB finds candidates among all, and others are dropped."""
KEPT_DOCUMENTS = 400
"""Documents with their text and chunks that are kept for the next search."""
MAX_READ_FILES = 40
"""Files of different content that are read for the chunks with a name. One that many projects define would otherwise take a
request for each of 200 files, and 190 ms of processor time."""
TEXTS_PAGE = 100
"""Files whose texts are read at once for an exact search."""


class PlaceReader:
    """The rows of a place that some projects have, or all."""

    def __init__(self, place: SharedPlace, projects: Iterable[str] = ()) -> None:
        """Serve the named projects, or all that the place has at any time."""
        self._opened = OpenedPlace(place)
        self._served: tuple[str, ...] = ()
        self._names: tuple[str, ...] = ()
        self._language = ""
        self._opened.refresh()
        self._served = self._names = self.narrowed(projects)._names

    def narrowed(self, projects: Iterable[str] = (), language: str | None = None) -> Self:
        """Return this store with some projects or one language alone; raise NotFound for a project that it does not have."""
        seen = copy.copy(self)
        seen._names = tuple(dict.fromkeys(projects)) or self._names
        seen._language = (language or "").lower() or self._language
        for name in seen._names:
            if name not in self._opened.current.projects or (self._served and name not in self._served):
                raise NotFound(f"{self.place.name} has no project {name[:100]!r}. It has: {self._some_names()}.")
        return seen

    def _some_names(self) -> str:
        names = self.names()
        return ", ".join(names[:20]) + (f" and {len(names) - 20:,} more" if len(names) > 20 else "")

    @property
    def place(self) -> SharedPlace:
        return self._opened.place

    def refresh(self) -> None:
        """Look for newer rows, unless that was done a moment ago."""
        self._opened.refresh()

    def close(self) -> None:
        """Release the rows that were read."""
        self._opened.close()

    @property
    def has_several(self) -> bool:
        """Whether paths begin with the name of their project: where several are served, whichever of them is meant."""
        return len(self._served or self._opened.current.projects) != 1

    def size_bytes(self) -> int:
        """Return the size of the rows and of the indexes of the place."""
        table = self._opened.current.table
        rows: Mapping[str, Any] = self._opened.run(table.stats())
        indexes = self._opened.run(table.list_indices())
        return int(rows.get("total_bytes", 0)) + sum(int(one.size_bytes or 0) for one in indexes)

    def names(self) -> list[str]:
        """Return the names of the projects that are served."""
        return list(self._served or self._opened.current.projects)

    @property
    def warnings(self) -> list[str]:
        """What a reply says about the place."""
        unindexed = self._opened.current.unindexed
        if unindexed <= MAX_UNINDEXED_ROWS:
            return []
        return [f"{unindexed:,} rows of {self.place.name} are not in its indexes yet, and are searched one by one."]

    def projects(self) -> list[PublishedProject]:
        """Return the projects that are searched."""
        found = self._opened.current.projects
        return [found[name] for name in self._names if name in found] if self._names else list(found.values())

    # Reading

    def _shown(self, full_path: str) -> str:
        return full_path if self.has_several else full_path.partition("/")[2]

    def _full(self, path: str) -> str:
        return path if self.has_several else f"{self.names()[0]}/{path}"

    def _load(self, documents: Iterable[int]) -> dict[int, PublishedFile]:
        """Return files that a search has found; of those with the same content, one is read unless it is kept."""
        opened, wanted = self._opened, list(dict.fromkeys(documents))
        found = {number: opened.files[number] for number in wanted if number in opened.files}
        missing = opened.rows().files_of(number for number in wanted if number not in found)
        if len(opened.files) + len(missing) > KEPT_DOCUMENTS:
            opened.forget_files()
        unread = {one.content: (number, one) for number, one in missing.items() if one.content not in opened.contents}
        rows = [one.row for _, one in unread.values()]
        packed = opened.run(opened.current.take(rows, "text")) if rows else {}
        with self._damage():
            for content, (number, one) in unread.items():
                if one.row in packed:
                    opened.contents[content] = unpack_file(packed[one.row], number, one.path)
        for number, one in missing.items():
            if original := opened.contents.get(one.content):
                found[number] = opened.files[number] = original.copied_to(number, one.path)
        return found

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        """Turn the errors of rows that no publisher writes into Failed."""
        try:
            yield
        except (*INVALID_VALUES, AttributeError, RecursionError) as error:
            raise Failed(f"{self.place.name} has a damaged row ({error}). Publish the project again.") from error

    def read(self, path: str) -> tuple[bytes, Stat]:
        """Return the text of a file as it was published."""
        found = self._file_at(path)
        if found is None:
            raise PathRefused(f"{path[:200]} is not at {self.place.name}.")
        return found.text.encode(), found.document.stat

    def find_file(self, path: str) -> StoredDocument | None:
        """Return a file by its path, which begins with the name of its project where there are several."""
        found = self._file_at(path)
        return replace(found.document, path=path) if found else None

    def _file_at(self, path: str) -> PublishedFile | None:
        full_path = self._full(path)
        if self._names and full_path.partition("/")[0] not in self._names:
            return None
        number = self._opened.rows().document_at(full_path)
        return self._load([number]).get(number) if number else None

    def documents(self, below: str = "", after: str = "") -> Iterator[StoredDocument]:
        """Yield the documents, sorted by path, a part at a time."""
        listed = sorted(
            (path, number) for number, path in self.ids_by_path() if path.startswith(below) and path > after
        )
        for start in range(0, len(listed), KEPT_DOCUMENTS // 2):
            ids = [number for _, number in listed[start : start + KEPT_DOCUMENTS // 2]]
            found = self.documents_by_id(ids)
            yield from (found[number] for number in ids if number in found)

    def ids_by_path(self) -> list[tuple[int, str]]:
        condition = self._condition("row = 'file'")
        query = self._opened.current.table.query().where(condition).select(["document", "file"])
        rows: list[dict[str, Any]] = self._opened.run(query.to_list())
        return [(row["document"], self._shown(row["file"])) for row in rows]

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        found = {number: one.document for number, one in self._load(ids).items()}
        if self.has_several:
            return found
        return {number: replace(one, path=self._shown(one.path)) for number, one in found.items()}

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        return {number: self._shown(one.path) for number, one in self._opened.rows().files_of(ids).items()}

    def given_words(self) -> frozenset[str]:
        """Return the language of more than half of the code files, if there is one."""
        counts: dict[str, int] = {}
        for project in self.projects():
            for language, files in project.languages.items():
                counts[language] = counts.get(language, 0) + files
        return frozenset(language for language, files in counts.items() if 2 * files > sum(counts.values()))

    def chunks(self, document_id: int) -> list[StoredChunk]:
        files = self._load([document_id]).values()
        with self._damage():
            return [chunk for found in files for chunk in found.chunks()]

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        return {number: (one.start_line, one.end_line) for number, one in self.chunks_by_id(ids).items()}

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        """Return chunks that a search has found, best first; their files are read for it, a bounded number of them."""
        known = self._opened.candidates
        wanted = {number: known[number] for number in ids if number in known}
        listed = self._opened.rows().files_of(document for document, _ in wanted.values())
        read = set(islice(dict.fromkeys(one.content for one in listed.values()), MAX_READ_FILES))
        files = self._load(number for number, one in listed.items() if one.content in read)
        with self._damage():
            found = {number: files[one].chunk(ordinal) for number, (one, ordinal) in wanted.items() if one in files}
        return {number: chunk for number, chunk in found.items() if chunk}

    def texts(
        self, needle: str, kind: Kind | None, among: frozenset[int] | None, seconds: float
    ) -> Iterator[tuple[str, str]]:
        """Yield the paths and texts of the files that may have a text, sorted by path; raise TimeoutError if that takes long."""
        contains = f"contains(text, {quote(needle)})" if needle else ""
        condition = self._condition("row = 'file'", contains, kind=kind, among=among)
        version = self._opened.current
        query = version.table.query().where(condition).select(["document", "file"]).with_row_id()
        asked: Future[list[dict[str, Any]]] = self._opened.start(query.to_list())
        if not wait([asked], seconds).done:
            asked.cancel()
            raise TimeoutError
        rows = self._opened.wait(asked)
        listed = sorted((row["file"], row["_rowid"]) for row in rows if among is None or row["document"] in among)
        for start in range(0, len(listed), TEXTS_PAGE):
            page = {number: path for path, number in listed[start : start + TEXTS_PAGE]}
            texts = self._opened.run(version.take(list(page), "text"))
            yield from (
                (self._shown(path), unpack_text(texts[number])) for number, path in page.items() if number in texts
            )

    def converted_text(self, document_id: int) -> str | None:  # noqa: ARG002 - every text is kept as it is shown
        return None

    def _of_projects(self) -> list[str]:
        return [f"project IN ({', '.join(map(quote, self._names))})"] if self._names else []

    def _condition(self, *parts: str, kind: Kind | None = None, among: frozenset[int] | None = None) -> str:
        """Return the condition of the rows that are searched; empty for all."""
        found = [part for part in parts if part]
        found += self._of_projects()
        if self._language:
            found.append(f"language = {quote(self._language)}")
        if kind:
            found.append(f"kind = {quote(kind)}")
        if among is not None and len(among) <= MAX_LISTED:
            found.append(f"document IN ({', '.join(map(str, sorted(among)))})")
        return " AND ".join(found)
