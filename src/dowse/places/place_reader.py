"""Reading of a place: its projects, its files with their chunks, and the texts of many files."""

import contextlib
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from dowse.errors import Failed, NotFound, PathRefused
from dowse.places.opened_place import OpenedPlace
from dowse.places.place_rows import (
    CHUNK_COLUMNS,
    DOCUMENT_COLUMNS,
    PublishedProject,
    chunks_of,
    document_of,
    quote,
)
from dowse.places.place_table import SharedPlace, within
from dowse.store.catalog_rows import INVALID_VALUES
from dowse.types import Kind, Stat, StoredChunk, StoredDocument

MAX_LISTED = 2000
"""Up to this many documents are named in a condition; of more, LanceDB finds candidates among all, and others are dropped."""
KEPT_DOCUMENTS = 400
"""Documents with their text and chunks that are kept for the next search."""
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
            if name not in self._opened.projects or (self._served and name not in self._served):
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
        return len(self._served or self._opened.projects) != 1

    def size_bytes(self) -> int:
        """Return the size of the rows and of the indexes of the place."""
        table = self._opened.table
        rows: Mapping[str, Any] = self._opened.ask(table.stats)
        indexes = self._opened.ask(table.list_indices)
        return int(rows.get("total_bytes", 0)) + sum(int(one.size_bytes or 0) for one in indexes)

    def names(self) -> list[str]:
        """Return the names of the projects that are served."""
        return list(self._served or self._opened.projects)

    @property
    def warnings(self) -> list[str]:
        """What a reply says about the place."""
        unindexed = self._opened.unindexed
        if not unindexed:
            return []
        return [f"{unindexed:,} rows of {self.place.name} are not in its indexes yet, and are searched one by one."]

    def projects(self) -> list[PublishedProject]:
        """Return the projects that are searched."""
        found = self._opened.projects
        return [found[name] for name in self._names if name in found] if self._names else list(found.values())

    # Reading

    def _shown(self, full_path: str) -> str:
        return full_path if self.has_several else full_path.partition("/")[2]

    def _full(self, path: str) -> str:
        return path if self.has_several else f"{self.names()[0]}/{path}"

    def _rows(self, condition: str, columns: Sequence[str], limit: int) -> list[dict[str, Any]]:
        return self._opened.run(self._select(condition, columns, limit))

    async def _select(self, condition: str, columns: Sequence[str], limit: int) -> list[dict[str, Any]]:
        query = self._opened.current.table.query().where(condition).select(list(columns)).limit(limit)
        found: list[dict[str, Any]] = await query.to_list()
        return found

    def _load(self, ids: Iterable[int]) -> None:
        """Read documents with their text and chunks, unless they are kept; both at once."""
        opened = self._opened
        missing = sorted({number for number in ids if number not in opened.documents})
        if not missing:
            return
        if len(opened.documents) + len(missing) > KEPT_DOCUMENTS:
            opened.documents, opened.chunks, opened.texts = {}, {}, {}
        listed = f"({', '.join(map(str, missing))})"
        asked = (
            self._select(f"document IN {listed} AND row = 'chunk'", CHUNK_COLUMNS, 100_000),
            self._select(f"id IN {listed}", DOCUMENT_COLUMNS, len(missing)),
        )
        chunks, files = opened.run(opened.gather(asked))
        rows: dict[int, list[dict[str, Any]]] = {}
        for row in sorted(chunks, key=lambda row: row["ordinal"] or 0):
            rows.setdefault(row["document"], []).append(row)
        with self._damage():
            for row in files:
                document = document_of(row, f"{row['project']}/{row['path']}")
                opened.chunks[document.id] = chunks_of(rows.get(document.id, []))
                opened.texts[document.path] = row["text"].encode()
                opened.documents[document.id] = document

    @contextlib.contextmanager
    def _damage(self) -> Iterator[None]:
        """Turn the errors of rows that no publisher writes into Failed."""
        try:
            yield
        except (*INVALID_VALUES, AttributeError) as error:
            raise Failed(f"{self.place.name} has a damaged row ({error}). Publish the project again.") from error

    def read(self, path: str) -> tuple[bytes, Stat]:
        """Return the text of a file that was found, as it was published."""
        full_path = self._full(path)
        if full_path not in self._opened.texts:
            self.find_file(path)
        data = self._opened.texts.get(full_path)
        if data is None:
            raise PathRefused(f"{path[:200]} is not at {self.place.name}.")
        return data, Stat(len(data), 0, 0, 0)

    def find_file(self, path: str) -> StoredDocument | None:
        """Return a file by its path, which begins with the name of its project where there are several."""
        project, _, within_project = self._full(path).partition("/")
        condition = f"project = {quote(project)} AND path = {quote(within_project)} AND row = 'file'"
        if self._names and project not in self._names:
            return None
        ids = [row["id"] for row in self._rows(condition, ["id"], 1)]
        return next(iter(self.documents_by_id(ids).values()), None)

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
        rows = self._rows(condition, ["id", "project", "path"], sum(one.files for one in self.projects()) or 1)
        return [(row["id"], self._shown(f"{row['project']}/{row['path']}")) for row in rows]

    def documents_by_id(self, ids: Iterable[int]) -> dict[int, StoredDocument]:
        wanted = list(ids)
        self._load(wanted)
        known = ((number, self._opened.documents.get(number)) for number in wanted)
        return {
            number: found if self.has_several else replace(found, path=self._shown(found.path))
            for number, found in known
            if found
        }

    def paths_by_id(self, ids: Iterable[int]) -> dict[int, str]:
        known, wanted = self._opened.paths, list(ids)
        if missing := [number for number in wanted if number not in known]:
            self._load(missing)
            known |= {number: found.path for number in missing if (found := self._opened.documents.get(number))}
        return {number: self._shown(known[number]) for number in wanted if number in known}

    def given_words(self) -> frozenset[str]:
        """Return the language of more than half of the code files, if there is one."""
        counts: dict[str, int] = {}
        for project in self.projects():
            for language, files in project.languages.items():
                counts[language] = counts.get(language, 0) + files
        return frozenset(language for language, files in counts.items() if 2 * files > sum(counts.values()))

    def chunks(self, document_id: int) -> list[StoredChunk]:
        self._load([document_id])
        return self._opened.chunks.get(document_id, [])

    def chunk_lines(self, ids: Iterable[int]) -> dict[int, tuple[int, int]]:
        places = self._opened.places
        return {number: places[number] for number in ids if number in places}

    def chunks_by_id(self, ids: Iterable[int]) -> dict[int, StoredChunk]:
        wanted = list(dict.fromkeys(ids))
        loaded = {one.id: one for chunks in self._opened.chunks.values() for one in chunks}
        missing = [number for number in wanted if number not in loaded]
        if missing:
            rows = self._rows(f"id IN ({', '.join(map(str, missing))})", CHUNK_COLUMNS, len(missing))
            loaded |= {one.id: one for one in chunks_of([row for row in rows if row["ordinal"] is not None])}
        return {number: loaded[number] for number in wanted if number in loaded}

    def texts(
        self, needle: str, kind: Kind | None, among: frozenset[int] | None, seconds: float
    ) -> Iterator[tuple[str, str]]:
        """Yield the paths and texts of the files that may have a text, sorted by path; raise TimeoutError if that takes long."""
        contains = f"contains(text, {quote(needle)})" if needle else ""
        condition = self._condition("row = 'file'", contains, kind=kind, among=among)
        query = self._opened.table.search().where(condition).select(["id", "project", "path"]).limit(10_000_000)
        with self.place.errors("read"):
            try:
                rows = within(seconds, query.to_list)
            except TimeoutError:
                rows = None
        if rows is None:
            raise TimeoutError
        listed = sorted((f"{row['project']}/{row['path']}", row["id"]) for row in rows)
        listed = [(path, number) for path, number in listed if among is None or number in among]
        for start in range(0, len(listed), TEXTS_PAGE):
            page = {number: path for path, number in listed[start : start + TEXTS_PAGE]}
            found = self._rows(f"id IN ({', '.join(map(str, page))})", ["id", "text"], len(page))
            texts = {row["id"]: row["text"] or "" for row in found}
            yield from ((self._shown(path), texts[number]) for number, path in page.items() if number in texts)

    def converted_text(self, document_id: int) -> str | None:  # noqa: ARG002 - every text is kept as it is shown
        return None

    def _condition(self, *parts: str, kind: Kind | None = None, among: frozenset[int] | None = None) -> str:
        """Return the condition of the rows that are searched; empty for all."""
        found = [part for part in parts if part]
        if self._names:
            found.append(f"project IN ({', '.join(map(quote, self._names))})")
        if self._language:
            found.append(f"language = {quote(self._language)}")
        if kind:
            found.append(f"kind = {quote(kind)}")
        if among is not None and len(among) <= MAX_LISTED:
            found.append(f"document IN ({', '.join(map(str, sorted(among)))})")
        return " AND ".join(found)
