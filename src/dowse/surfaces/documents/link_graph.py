"""The links between the documents of a folder, looked at once and then followed as they change."""

from array import array
from collections.abc import Iterator
from itertools import groupby

from dowse.reading.link_resolution import Broken, External, Internal, Resolved, resolve_link
from dowse.reading.link_targets import LinkTarget, LinkTargets
from dowse.reading.site_prefixes import find_site_prefixes
from dowse.searching.title_index import FollowableStore

BROKEN_TARGET = -1
"""Where a broken link leads."""
TOP_FOLDERS = 2
"""A site's sources lie at the root of a folder or one or two folders below: `docs/`, `files/en-us/`."""


class LinkGraph:
    """All links of a folder that lead to its documents, or nowhere; to be used on one thread."""

    def __init__(self) -> None:
        self.pages = LinkTargets(())
        self._state = ("", -1)
        self._documents: dict[int, tuple[str, str]] = {}
        """Paths and titles: what links can name."""
        self._places: dict[str, int] = {}
        """A number for each path, which stays when its document is indexed again."""
        self._links: dict[int, array[int]] = {}
        """Of each document two numbers a link: which one it is, and where it leads."""
        self._from_top: dict[tuple[str, str], Resolved | None] = {}

    def follow(self, store: FollowableStore) -> None:
        """Be what the store is now: 1.5 s for 15,000 documents with 76,000 links, unless only texts have changed."""
        state = (store.identity, store.sequence())
        if self._state == state:
            return
        changes = store.changes_since(self._state[1]) if self._state[0] == state[0] else None
        if changes is not None:
            added = {number: (one.path, one.title) for number, one in store.documents_by_id(changes.added).items()}
            removed = {number: self._documents[number] for number in changes.removed if number in self._documents}
            if sorted(added.values()) == sorted(removed.values()):
                self._exchange(store, removed, added)
                self._state = (state[0], changes.sequence)
                return
        self._state = state
        self._read_all(store)

    def sources(self, path: str | None) -> list[tuple[int, int]]:
        """The links that lead to a document, or nowhere: the documents they stand in, and which they are there."""
        wanted = BROKEN_TARGET if path is None else self._places.get(path)
        return [
            (number, links[at])
            for number, links in self._links.items()
            for at in range(0, len(links), 2)
            if links[at + 1] == wanted
        ]

    def _exchange(
        self, store: FollowableStore, removed: dict[int, tuple[str, str]], added: dict[int, tuple[str, str]]
    ) -> None:
        """Other texts under the same paths and titles: only their own links may lead elsewhere."""
        for number in removed:
            del self._documents[number]
            self._links.pop(number, None)
        self._documents |= added
        for number, (path, _) in added.items():
            self._put(number, path, ((at, link.target) for at, link in enumerate(store.links(number))))
        self._from_top = {}

    def _read_all(self, store: FollowableStore) -> None:
        self._documents = {one.id: (one.path, one.title) for one in store.documents()}
        self._places = {path: place for place, (path, _) in enumerate(self._documents.values())}
        pages = LinkTargets(LinkTarget(path, title) for path, title in self._documents.values())
        self.pages = pages.with_prefixes(find_site_prefixes(self._targets(store), pages))
        self._links = {}
        for number, links in groupby(store.link_targets(), key=lambda one: one[0]):
            if number in self._documents:
                self._put(number, self._documents[number][0], ((at, target) for _, at, target in links))
        self._from_top = {}  # it is of use for many links at once

    def _targets(self, store: FollowableStore) -> Iterator[tuple[str, str]]:
        return (
            (self._documents[number][0], target)
            for number, _, target in store.link_targets()
            if number in self._documents
        )

    def _put(self, number: int, path: str, links: Iterator[tuple[int, str]]) -> None:
        found: array[int] = array("q")
        for at, target in links:
            match self._resolved(target, path):
                case Internal(to):
                    found.extend((at, self._places.get(to, BROKEN_TARGET)))
                case Broken():
                    found.extend((at, BROKEN_TARGET))
        if found:
            self._links[number] = found

    def _resolved(self, target: str, path: str) -> Resolved:
        """Where a link leads; what leads to one place from all below a folder is looked up once."""
        if target.startswith("/") or "://" in target:
            # The root of a site is looked for from the outside in, so what is found from here holds below, too.
            top = "".join(f"{folder}/" for folder in path.split("/")[:-1][:TOP_FOLDERS])
            if (target, top) not in self._from_top:
                known = resolve_link(target, top, self.pages)
                self._from_top[target, top] = known if isinstance(known, Internal | External) else None
            if found := self._from_top[target, top]:
                return found
        return resolve_link(target, path, self.pages)
