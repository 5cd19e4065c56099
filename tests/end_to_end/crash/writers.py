"""Every command that writes but `dowse index`, with a view of what it has written: killed at any moment, it has done all or nothing."""

import contextlib
import json
from abc import ABC, abstractmethod
from pathlib import Path

from dowse.archives.archive_database import open_database
from dowse.errors import NotFound
from dowse.indexes.index import ProjectIndex
from dowse.notes.registry import NotesRegistry
from dowse.store import storage_layout
from tests.archives.sample_archives import captured_page, locations_in
from tests.end_to_end.crash.project import WORDS, assert_consistent, make_project
from tests.sample_data import write_tree


class Writer(ABC):
    """A command that writes, and the state that it leaves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @abstractmethod
    def change(self, age: int) -> list[str]:
        """Change what the command reads, so that it has work; return the arguments of the command."""

    @abstractmethod
    def state(self) -> object:
        """Return everything that a user can observe of what was written; fail where it is damaged."""

    def is_between(self, _before: object, _found: object, _after: object) -> bool:
        """Return whether a state is one of those that a run goes through, besides the first and the last."""
        return False


class Vectors(Writer):
    """`dowse index --wait`, which encodes every chunk."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.root = make_project(folder / "project", files=12)

    def change(self, age: int) -> list[str]:
        write_tree(self.root, {f"src/new{age}/{n}.py": f"def {WORDS[n % 7]}_{age}_{n}(): ...\n" for n in range(3)})
        return ["index", str(self.root), "--wait"]

    def state(self) -> object:
        with contextlib.closing(ProjectIndex(self.root)) as project:
            if not project.exists:
                return {}
            project.store.refresh()  # as a search does: what a killed writer has not written yet is replayed
            assert project.store.check() == []
            return {version: project.store.vector_counts(version) for version in project.store.catalog.encoders()}

    def is_between(self, _before: object, found: object, _after: object) -> bool:
        return all(0 <= filled <= all_of for filled, all_of in found.values())  # type: ignore[attr-defined]


class Archive(Writer):
    """`dowse archive index`, which takes effect as a whole."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.locations = locations_in(folder)

    def change(self, age: int) -> list[str]:
        write_tree(
            self.folder / "research-archive",
            {f"{n}.md": f"# Note {n}\n\n{WORDS[n % 7]} {age}: https://a.org/{n}\n" for n in range(30)},
        )
        page = captured_page(f"https://a.org/{age % 40}", f"Page {age % 40}", f"# Page\n\n{WORDS[age % 7]} {age}\n")
        write_tree(self.folder / "url-content-archive" / f"p{age % 40}", page)
        places = ["--urls", str(self.locations.url_content), "--db", str(self.locations.database)]
        return ["archive", "index", str(self.locations.research), *places]

    def state(self) -> object:
        if not self.locations.database.is_file():
            return []
        with contextlib.closing(open_database(self.locations.database)) as database:
            assert database.rows("PRAGMA integrity_check") == [("ok",)]
            assert database.rows(
                "SELECT COUNT(*) FROM citations WHERE source NOT IN (SELECT number FROM documents)"
            ) == [(0,)]
            texts = database.texts(database.documents())
            return sorted(texts.values())


class Import(Writer):
    """`dowse notes import`, which adds all documents or none."""

    def change(self, age: int) -> list[str]:
        file = self.folder / "notes.jsonl"
        notes: list[dict[str, object]]
        notes = [{"doc_id": f"n{age}-{n}", "content": f"{WORDS[n % 7]} {age} " * 40} for n in range(300)]
        notes += [{"doc_id": f"kept{n}", "content": f"age {age}", "metadata": {"age": age}} for n in range(50)]
        file.write_text("".join(json.dumps(note) + "\n" for note in notes), encoding="utf-8")
        return ["notes", "import", "fruit", str(file), "--create"]

    def state(self) -> object:
        with contextlib.closing(NotesRegistry()) as registry:
            if "fruit" not in registry.names():
                return []
            found = registry.use(
                "fruit", lambda index: [(note.doc_id, note.content) for note in index.every_document()]
            )
            count = registry.use("fruit", lambda index: index.info().documents)
            assert count == len(found)
            return found

    def is_between(self, before: object, found: object, _after: object) -> bool:
        return before == [] == found  # the index is there, and empty


class Add(Import):
    """`dowse notes add`, which replaces a document."""

    def change(self, age: int) -> list[str]:
        if age == 1:
            return super().change(1)
        return ["notes", "add", "fruit", f"kept{age % 50}", f"{WORDS[age % 7]} {age} " * 1000]


class Names(Writer):
    """`dowse notes create` and `dowse notes remove`."""

    def change(self, age: int) -> list[str]:
        names = self.state()
        if age % 2 and isinstance(names, list) and len(names) > 3:
            return ["notes", "remove", names[age % len(names)], "--yes"]
        return ["notes", "create", f"index{age}"]

    def state(self) -> object:
        with contextlib.closing(NotesRegistry(has_memory=False)) as registry:
            found = []
            for name in registry.names():
                with contextlib.suppress(NotFound):  # it is deleted, and its file could not be removed
                    assert registry.use(name, lambda index: index.info().documents) == 0
                    found.append(name)
            return found


class Site(Writer):
    """`dowse site build`, which publishes one file."""

    def change(self, age: int) -> list[str]:
        pages = {f"content/{n}.md": f"---\ntitle: Page {n}\n---\n\n{WORDS[n % 7]} {age}\n" * 20 for n in range(40)}
        write_tree(self.folder / "site", pages)
        where = ["--output", str(self.folder / "public" / "index.json"), "--name", "Fruit", "--domain", "a.org"]
        (self.folder / "public").mkdir(exist_ok=True)
        return ["site", "build", str(self.folder / "site"), *where]

    def state(self) -> object:
        file = self.folder / "public" / "index.json"
        if not file.exists():
            return None
        content = json.loads(file.read_bytes())
        assert content["pageCount"] == len(content["pages"])
        return content["pages"]


class Registry(Writer):
    """`dowse forget`, which takes an index off the list of projects, and `dowse index`, which puts it there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.root = make_project(folder / "project", files=12)

    def change(self, age: int) -> list[str]:
        return ["forget" if self.state() else "index", str(self.root)]

    def state(self) -> object:
        listed = [project for project in storage_layout.list_projects() if project.root == self.root]
        with contextlib.closing(ProjectIndex(self.root)) as project:
            assert_consistent(project)
            return project.exists and bool(listed)


WRITERS: dict[str, type[Writer]] = {
    "vectors": Vectors, "archive": Archive, "import": Import, "add": Add, "names": Names, "site": Site,
    "registry": Registry,
}  # fmt: skip
