"""The packages that a project uses as a source, which is searched only where it is named."""

from dowse.errors import DowseError, ItemNotFound, SourceNotReady, UsageError
from dowse.federation.federation_types import (
    FetchedItem,
    Item,
    ListedItem,
    LookAtText,
    SourceKind,
    SourceQuery,
    SourceResult,
    SourceStatus,
)
from dowse.federation.result_ids import id_of, source_name
from dowse.federation.root_source import brief_options, file_key, with_passage
from dowse.indexes.dependencies.package_search import Dependencies, PackageAnswer
from dowse.indexes.document_search import read_now
from dowse.keeping.served_packages import ServedPackages
from dowse.searching.search import SearchHit
from dowse.surfaces.documents.document_replies import TITLE_CHARACTERS
from dowse.surfaces.project.path_search import relative_pattern
from dowse.visible_text import one_line


class PackageSearchSource:
    """The packages that one project uses, at the versions that are installed."""

    kind: SourceKind = "dependencies"
    kinds = (kind,)

    def __init__(self, packages: ServedPackages, project: str) -> None:
        self.name = source_name(self.kind, project)
        self._packages = packages

    def unsupported_filter(self, query: SourceQuery) -> str:
        return "the files of packages have the dates of their installation" if query.is_dated else ""

    def keys(self, locator: str) -> frozenset[str]:  # noqa: ARG002 - only an open package knows its folder
        return frozenset()

    async def find_items(self, query: SourceQuery) -> SourceResult:
        try:
            return await self._packages.ask(lambda dependencies: self._find_items(dependencies, query))
        except UsageError as error:
            raise SourceNotReady(str(error)) from error

    def _find_items(self, dependencies: Dependencies, query: SourceQuery) -> SourceResult:
        glob = f"*/{relative_pattern(query.path)}" if query.path else None
        found = dependencies.search(query.query, brief_options(query, glob))
        items = tuple(self._item(found, hit) for hit in found.answer.hits)
        return SourceResult(items, corrected=found.answer.corrected, warnings=found.notes)

    def _item(self, found: PackageAnswer, hit: SearchHit) -> Item:
        key, _, path = hit.path.partition("/")
        shown, package = found.show(hit.path), found.packages[key]
        item = Item(
            id_of(self.name, hit.path), self.name, one_line(shown, TITLE_CHARACTERS), f"package:{shown}", "",
            hit.relevance, path.rpartition("/")[2], file_key(f"{package.root}/{path}"),
            {"path": shown, "package": package.name, "version": package.version}, hit.data,
        )  # fmt: skip
        return with_passage(item, next(iter(hit.passages), None), found.answer.terms)

    async def fetch(self, locator: str) -> FetchedItem:
        return await self._packages.ask(lambda dependencies: self._fetch(dependencies, locator))

    def _fetch(self, dependencies: Dependencies, locator: str) -> FetchedItem:
        try:
            index, path = dependencies.find_locator(locator)
            document = read_now(index, path)
        except DowseError as error:
            raise ItemNotFound(str(error)) from error
        if document is None:
            raise ItemNotFound(f"{self.name} has no such file that may be read")
        shown = index.shown_path(path)
        facts = {"path": shown, "language": document.language, "package": index.package.name}
        facts["version"] = index.package.version
        return FetchedItem(one_line(shown, TITLE_CHARACTERS), document.reading.text, f"package:{shown}", facts)

    async def list_items(self) -> list[ListedItem]:
        def find(dependencies: Dependencies) -> list[ListedItem]:
            return [
                ListedItem(path, path)
                for key, index in dependencies.ready_indexes().items()
                for path in (f"{key}/{one}" for _, one in index.store.ids_by_path())
            ]

        return await self._packages.ask(find)

    async def each_text(self, look: LookAtText) -> None:
        def read(dependencies: Dependencies) -> None:
            for key, index in dependencies.ready_indexes().items():
                for _, path in index.store.ids_by_path():
                    if document := read_now(index, path):
                        look(f"{key}/{path}", document.reading.text)

        await self._packages.ask(read)

    async def prepare(self, query: SourceQuery) -> None:
        """Do nothing: packages are opened when they are first asked for."""

    async def status(self) -> SourceStatus:
        def find(dependencies: Dependencies) -> SourceStatus:
            packages, ready = dependencies.choose()[0], dependencies.ready_indexes()
            state = "ready" if len(ready) == len(packages) else "incomplete"
            return SourceStatus(self.kind, self.name, state, {"packages": len(packages)})

        try:
            return await self._packages.ask(find)
        except UsageError as error:
            return SourceStatus(self.kind, self.name, "not_found", problem=str(error))
