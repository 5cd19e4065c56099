"""By which names links may call the documents of a folder; built once and asked for every link."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from dowse.reading.nearest_match import Nearest, folders_above

_SOURCE_EXTENSIONS = ("md", "markdown", "mdx", "rst", "adoc", "asciidoc", "ipynb", "txt")
_PAGE_EXTENSIONS = ("html", "htm", "pdf", "docx")
_EXTENSION_RANKS = {ending: rank for rank, ending in enumerate(_SOURCE_EXTENSIONS + _PAGE_EXTENSIONS)}
_FRONT_PAGE_RANKS = {"index": 0, "_index": 100, "readme": 300}
"""What a folder shows when it is the folder that is linked to, as a file's name and its rank."""
_ORDER_PREFIX = re.compile(r"(^|/)\d{1,3}[-_.](?=[^\d/])")
"""Before the names of files and folders it is there for their order: `01-install.md` is shown as `install`."""
_JOINERS = re.compile(r"[\s_-]+")


@dataclass(frozen=True, slots=True)
class LinkTarget:
    """A document that links can lead to."""

    path: str
    """From the root, with forward slashes."""
    title: str = ""
    addresses: tuple[str, ...] = ()
    """Where else its site shows it, as front matter may say: `slug`, `permalink`, `aliases`."""


class LinkTargets:
    """The documents of a folder by path, address, file name and title.

    `bases` are what their site puts before the address of each: `/en-US/docs/`.
    """

    def __init__(self, pages: Iterable[LinkTarget | str], bases: Iterable[str] = ()) -> None:
        listed = (LinkTarget(page) if isinstance(page, str) else page for page in pages)
        self._pages = {page.path: page for page in sorted(listed, key=lambda page: page.path)}
        self._folders = {folder for path in self._pages for folder in folders_above(path)}
        self._names = _pick_best(claim for page in self._pages.values() for claim in _claim_names(page))
        self._fronts = _pick_best(claim for path in self._pages for claim in _claim_folder(path))
        self.bases = _normalize_prefixes(bases)

    def __contains__(self, path: object) -> bool:
        return path in self._pages

    def __len__(self) -> int:
        return len(self._pages)

    def with_bases(self, bases: Iterable[str]) -> "LinkTargets":
        """The same documents on a site with other bases."""
        other = copy(self)
        other.bases = _normalize_prefixes(bases)
        return other

    def find(self, name: str, is_folder: bool = False) -> str | None:
        """The document at a path or address, in another case only where just one would do."""
        if name not in self._names:
            spelled = self._spellings.get(fold_name(name))
            if spelled is None:
                return None
            name = spelled
        return (is_folder and self._fronts.get(name)) or self._names[name]

    def is_ambiguous(self, name: str) -> bool:
        """Whether several documents would do in another case, and none as the name is written."""
        return name not in self._names and self._spellings.get(fold_name(name), "") is None

    def is_folder(self, path: str) -> bool:
        """Whether there are documents below a path."""
        return path in self._folders

    def nearest(self, name: str, folder: str) -> str | None:
        """The document nearest to a folder that has a file name, else a title.

        A name may come with some of its folders (`guide/Install`) and its ending; spaces, hyphens
        and underscores are the same.
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
        fitting = (
            path for path in self._by_file_name.all(short) if f"/{_match_key(_site_address(path))}".endswith(ending)
        )
        return Nearest((short, path) for path in fitting).find(short, folder)

    @cached_property
    def _spellings(self) -> dict[str, str | None]:
        """The names by their form for comparison; None where several documents share it."""
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
    """A name as it is compared where case and composition of letters do not count."""
    if name.isascii():
        return name.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def _normalize_prefixes(written: Iterable[str]) -> tuple[str, ...]:
    """Bases as paths begin with them: without a slash before, with one behind."""
    return tuple(f"{base.strip('/')}/" for base in written if base.strip("/"))


def _pick_best(claims: Iterable[tuple[int, str, str]]) -> dict[str, str]:
    """For each name the path that claims it with the lowest rank, the first of equals."""
    ranks: dict[str, int] = {}
    best: dict[str, str] = {}
    for rank, name, path in claims:
        if rank < ranks.get(name, rank + 1):
            ranks[name], best[name] = rank, path
    return best


def _claim_names(page: LinkTarget) -> Iterator[tuple[int, str, str]]:
    """The names of a page with their ranks: `install.md` comes before `install/index.md`, then
    `install.html`, then `install/README.md`."""
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
    """The folder that a path is the front page of, with its rank among others."""
    stem = _strip_extension(path)
    folder, _, name = stem.rpartition("/")
    if stem != path and (front := _FRONT_PAGE_RANKS.get(name.lower())) is not None:
        rank = _EXTENSION_RANKS[path.rpartition(".")[2].lower()]
        yield front + rank if rank < len(_SOURCE_EXTENSIONS) else front + 200 + rank, folder, path


def _wiki_names(path: str) -> Iterator[str]:
    """What wiki links may call a document: its file name, with and without its folder; of a front page the folder's."""
    parts = _site_address(path).split("/")
    names = {_strip_extension(path).rpartition("/")[2], parts[-1], "/".join(parts[-2:])}
    yield from filter(None, names)


def _site_address(path: str) -> str:
    """Where a site shows a document: the folder of a front page, else the path without its ending."""
    return next((folder for _, folder, _ in _claim_folder(path)), _strip_extension(path))


def _strip_extension(path: str) -> str:
    """A path without the ending of a document; any other ending is part of the name."""
    stem, _, ending = path.rpartition(".")
    return stem if ending.lower() in _EXTENSION_RANKS and stem.rpartition("/")[2] else path


def _match_key(name: str) -> str:
    return _JOINERS.sub("-", fold_name(name.strip()))
