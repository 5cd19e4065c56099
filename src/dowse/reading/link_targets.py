"""The names by which links can refer to the documents of a folder; built once, used for every link."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property


class Nearest:
    """Documents by a key that several can share, such as a file name or a title."""

    def __init__(self, keyed: Iterable[tuple[str, str]]) -> None:
        self._paths: dict[str, list[str]] = defaultdict(list)
        for key, path in keyed:
            self._paths[key].append(path)
        self._tables: dict[str, dict[str, str]] = {}

    def paths_with(self, key: str) -> list[str]:
        """Return the paths of all documents with a key."""
        return self._paths.get(key, [])

    def find(self, key: str, folder: str) -> str | None:
        """Return the document with a key below the closest enclosing folder that has any, the least deep one there."""
        paths = self.paths_with(key)
        if len(paths) < 2:
            return paths[0] if paths else None
        if key not in self._tables:  # so that a name shared by thousands is not searched for every link
            self._tables[key] = _shallowest_by_folder(paths)
        table = self._tables[key]
        return next((table[around] for around in folders_above(f"{folder}/") if around in table), None)


def folders_above(path: str) -> Iterator[str]:
    """Return the folders around a path, the nearest first; the root, an empty string, comes last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _shallowest_by_folder(paths: list[str]) -> dict[str, str]:
    """Return for each folder the least deep path below it."""
    table: dict[str, str] = {}
    for path in sorted(paths, key=lambda path: (path.count("/"), path)):
        for folder in folders_above(path):
            table.setdefault(folder, path)
    return table


_SOURCE_EXTENSIONS = ("md", "markdown", "mdx", "rst", "adoc", "asciidoc", "ipynb", "txt")
_PAGE_EXTENSIONS = ("html", "htm", "pdf", "docx")
_EXTENSION_RANKS = {ending: rank for rank, ending in enumerate(_SOURCE_EXTENSIONS + _PAGE_EXTENSIONS)}
_FRONT_PAGE_RANKS = {"index": 0, "_index": 100, "readme": 300}
"""Names of files that are the front page of their folder, with their ranks."""
_ORDER_PREFIX = re.compile(r"(^|/)\d{1,3}[-_.](?=[^\d/])")
"""A number that only sorts files and folders: a site shows `01-install.md` as `install`."""
_JOINERS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A document that links can lead to."""

    path: str
    """Relative to the root, with forward slashes."""
    title: str = ""
    addresses: tuple[str, ...] = ()
    """Further addresses on its site, from front matter: `slug`, `permalink`, `aliases`."""


class LinkTargets:
    """The documents of a folder by path, address, file name and title.

    `prefixes` are the beginnings that their site puts before each address: `/en-US/docs/`. `has_file` says whether
    there is a file at a path, of any kind.
    """

    def __init__(
        self,
        pages: Iterable[LinkTarget | str],
        prefixes: Iterable[str] = (),
        has_file: Callable[[str], bool] = lambda _path: False,
    ) -> None:
        self.has_file = has_file
        listed = (LinkTarget(page) if isinstance(page, str) else page for page in pages)
        self._pages = {page.path: page for page in sorted(listed, key=lambda page: page.path)}
        self._folders = {folder for path in self._pages for folder in folders_above(path)}
        self._names = _pick_best(claim for page in self._pages.values() for claim in _claim_names(page))
        self._fronts = _pick_best(claim for path in self._pages for claim in _claim_folder(path))
        self.prefixes = _normalize_prefixes(prefixes)

    def __contains__(self, path: object) -> bool:
        return path in self._pages

    def __len__(self) -> int:
        return len(self._pages)

    def with_prefixes(self, prefixes: Iterable[str]) -> "LinkTargets":
        """Return the same documents on a site with other prefixes."""
        other = copy(self)
        other.prefixes = _normalize_prefixes(prefixes)
        return other

    def find(self, name: str, is_folder: bool = False) -> str | None:
        """Return the document at a path or address; another case is accepted if only one document matches."""
        if name not in self._names:
            spelling = self._spellings.get(fold_name(name))
            if spelling is None:
                return None
            name = spelling
        return (is_folder and self._fronts.get(name)) or self._names[name]

    def is_folder(self, path: str) -> bool:
        """Return whether there are documents below a path."""
        return path in self._folders

    def find_nearest(self, name: str, folder: str) -> str | None:
        """Return the document nearest to a folder with a given file name, else with a given title.

        The name may include some of its folders (`guide/Install`) and its extension. Spaces, hyphens
        and underscores are equal.
        """
        return self._nearest_file(_match_key(_strip_extension(name)), folder) or self._by_title.find(
            _match_key(name), folder
        )

    def _nearest_file(self, key: str, folder: str) -> str | None:
        parts = key.split("/")
        if len(parts) > 1 and parts[-1] in _FRONT_PAGE_RANKS:
            parts.pop()
        short = "/".join(parts[-2:])
        if len(parts) <= 2:
            return self._by_file_name.find(short, folder)
        ending = "/" + "/".join(parts)
        matching = (
            path
            for path in self._by_file_name.paths_with(short)
            if f"/{_match_key(_site_address(path))}".endswith(ending)
        )
        return Nearest((short, path) for path in matching).find(short, folder)

    @cached_property
    def _spellings(self) -> dict[str, str | None]:
        """Names by their folded form; None if several documents share it."""
        spellings: dict[str, str | None] = {}
        for name, path in self._names.items():
            other = spellings.setdefault(fold_name(name), name)
            if other is not None and self._names[other] != path:
                spellings[fold_name(name)] = None
        return spellings

    @cached_property
    def _by_file_name(self) -> Nearest:
        return Nearest((_match_key(name), path) for path in self._pages for name in _wiki_names(path))

    @cached_property
    def _by_title(self) -> Nearest:
        return Nearest((_match_key(page.title), page.path) for page in self._pages.values() if page.title)


def fold_name(name: str) -> str:
    """Return a name in a form for comparison that ignores case and the composition of letters."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _normalize_prefixes(prefixes: Iterable[str]) -> tuple[str, ...]:
    """Return prefixes in the form in which paths begin with them: no leading slash, one trailing slash."""
    return tuple(f"{prefix.strip('/')}/" for prefix in prefixes if prefix.strip("/"))


def _pick_best(claims: Iterable[tuple[int, str, str]]) -> dict[str, str]:
    """Return for each name the path that claims it with the lowest rank, the first of equals."""
    ranks: dict[str, int] = {}
    best: dict[str, str] = {}
    for rank, name, path in claims:
        if rank < ranks.get(name, rank + 1):
            ranks[name], best[name] = rank, path
    return best


def _claim_names(page: LinkTarget) -> Iterator[tuple[int, str, str]]:
    """Return the names of a page with their ranks.

    `install.md` comes before `install/index.md`, then `install.html`, then `install/README.md`.
    """
    path = page.path
    yield 0, path, path
    yield from ((1, address.strip("/"), path) for address in page.addresses)
    for rank, name in _derive_addresses(path):
        yield rank, name, path
        if name != (unnumbered := _ORDER_PREFIX.sub(r"\1", name)):
            yield 1000 + rank, unnumbered, path


def _derive_addresses(path: str) -> Iterator[tuple[int, str]]:
    stem = _strip_extension(path)
    if stem != path:
        rank = _EXTENSION_RANKS[path.rpartition(".")[2].lower()]
        yield 100 + rank if rank < len(_SOURCE_EXTENSIONS) else 300 + rank, stem
    yield from ((200 + rank, folder) for rank, folder, _ in _claim_folder(path))


def _claim_folder(path: str) -> Iterator[tuple[int, str, str]]:
    """Return the folder of which a path is the front page, if it is one, with its rank among others."""
    stem = _strip_extension(path)
    folder, _, name = stem.rpartition("/")
    if stem != path and (front := _FRONT_PAGE_RANKS.get(name.lower())) is not None:
        rank = _EXTENSION_RANKS[path.rpartition(".")[2].lower()]
        yield front + rank if rank < len(_SOURCE_EXTENSIONS) else front + 200 + rank, folder, path


def _wiki_names(path: str) -> Iterator[str]:
    """Return the names that wiki links can use: the file name, with and without its folder; for a front page the folder."""
    parts = _site_address(path).split("/")
    names = {_strip_extension(path).rpartition("/")[2], parts[-1], "/".join(parts[-2:])}
    yield from filter(None, names)


def _site_address(path: str) -> str:
    """Return the address of a document on a site: the folder of a front page, else the path without its extension."""
    return next((folder for _, folder, _ in _claim_folder(path)), _strip_extension(path))


def _strip_extension(path: str) -> str:
    """Return a path without its document extension; any other extension is part of the name."""
    stem, _, extension = path.rpartition(".")
    return stem if extension.lower() in _EXTENSION_RANKS and stem.rpartition("/")[2] else path


def _match_key(name: str) -> str:
    return _JOINERS.sub("-", fold_name(name.strip()))
