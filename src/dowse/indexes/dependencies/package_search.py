"""Searches of the packages that a project uses: of their indexes, and directly of those that are not indexed yet."""

import contextlib
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path

from dowse.encoding.selection import static_encoder
from dowse.errors import DowseError, Failed, NotWritable, PathRefused, UsageError, WordsMissing
from dowse.indexes.dependencies.installed_packages import find_packages
from dowse.indexes.dependencies.package_index import SEPARATOR, PackageCopies, PackageIndex, limit_size, packages_folder
from dowse.indexes.dependencies.package_types import FoundPackages, Package
from dowse.indexes.dependencies.python_packages import is_importable, is_imported_as
from dowse.indexes.joined_search import ask_repaired, read_of
from dowse.indexes.query_vectors import plain_text
from dowse.indexes.user_settings import user_settings
from dowse.parsing.document_parsing import parse_within
from dowse.searching.definition_selection import Compare
from dowse.searching.direct_index import DirectIndex
from dowse.searching.found_files import SearchedFiles
from dowse.searching.joined_store import JoinedStore
from dowse.searching.kept_files import KeptFiles
from dowse.searching.query_terms import SearchQuery
from dowse.searching.ranking_constants import PACKAGE_FILES
from dowse.searching.search import Answer, SearchOptions, search_store
from dowse.settings import Settings
from dowse.system.child_process import own_program
from dowse.system.platform import Lock, make_private_folder, refusal_to_write, start_in_background
from dowse.text.analysis import rarity, terms_of
from dowse.text.query_syntax import NO_FILTERS
from dowse.types import Chunk, Entry, FileContent, Progress, Reading, Verdict
from dowse.visible_text import shown_name

MAX_PACKAGES = 200
"""Packages of a project that are searched at once: each keeps some files open."""
ASKED_PACKAGES = 16
"""Packages whose definitions are ranked: those with the rarest words of the query."""
DIRECT_SECONDS, PARSED_SECONDS = 0.7, 0.4
"""How long files without an index are read, and the best of them parsed."""
WALK_SECONDS = 0.5
"""How long the files of packages without an index are listed."""
TURN_WAIT_SECONDS = 600.0
"""How long the packages of another project are waited for, which are being indexed."""
NAMED_WEIGHT = 1.6
"""Factor of the files of a package that the query names."""
DISTINCTIVE_SHARE = 0.8
"""The share of a word's chunks that a package of this name has, so that the word in a query means this package."""
DISABLED = "Dependencies are not searched until you turn that on: dowse deps --enable"
_SLASH = "\u2215"
"""Looks like a slash, and stands for one in the names of packages where these are the first part of a path."""
_SHOWN = re.compile(r"(?P<name>\S+) (?P<version>\S+) · (?P<path>.+)")
_GO_MAJOR = re.compile(r"/v\d+$")
_NAMED = re.compile(r"(@?[^@\s]+)(?:[@\s](\S+))?")
_WEIGHTS: tuple[tuple[re.Pattern[str], float], ...] = (
    (re.compile(r"/(?:tests?|test_case|__tests__|spec|benches|benchmarks|fixtures)/|[._](?:test|spec)\.[a-z]+$"), 0.6),
    (re.compile(r"/_(?!_)[^/]*/"), 0.9),
    (re.compile(r"/internal/"), 0.6),
    (re.compile(r"/(?:cjs|umd|commonjs|es5|esm5|es2015|bundles?)/|\.(?:cjs|cts|mts|mjs)$"), 0.7),
    (re.compile(r"\.(?:json|ya?ml|toml|css|scss|html)$"), 0.6),
)
"""Factors of paths whose text is rarely meant: tests, private modules, second builds of one source, data."""


@dataclass(frozen=True, slots=True)
class PackageAnswer:
    """Hits in packages, whose paths begin with the key of their package, and what to know about them."""

    answer: Answer
    packages: dict[str, Package]
    notes: tuple[str, ...] = ()

    def show(self, path: str) -> str:
        """Return a path of a hit as users see it: `httpx 0.28.1 · httpx/_client.py`."""
        key, _, rest = path.partition("/")
        return f"{self.packages[key].label}{SEPARATOR}{shown_name(rest)}" if key in self.packages else path


class Dependencies:
    """The packages of one project. All work on them runs on one thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._indexes: dict[tuple[Package, str | None], PackageIndex] = {}
        self._copies = PackageCopies()
        self._ready: set[Path] = set()
        """The folders of the indexes that were complete."""
        self._waiting: dict[str, PackageIndex] = {}
        """The packages that are read directly."""
        self._kept = KeptFiles(self._read_entry)

    def require_enabled(self) -> Settings:
        """Return the settings; raise UsageError unless the user has turned the search of dependencies on."""
        settings = user_settings(self.root)
        if not settings.dependencies:
            raise UsageError(DISABLED)
        return settings

    def choose(self, name: str | None = None) -> tuple[list[Package], list[str]]:
        """Return the direct dependencies, or those of a name; and what there is to know about the others."""
        self.require_enabled()
        if name:
            found = find_packages(self.root, is_all=True)
            chosen = [package for package in found.packages if _is_named(package, name)]
            chosen = chosen or [package for package in found.packages if is_imported_as(package, name)]
            if not chosen:
                raise UsageError(_unknown(found, name))
            return [package for package in chosen if package.is_direct] or chosen, []
        found = find_packages(self.root)
        notes = [*found.notes]
        if len(found.packages) > MAX_PACKAGES:
            notes.append(f"{len(found.packages) - MAX_PACKAGES} packages are not searched; name one with `package`.")
        if not found.packages:
            raise UsageError(f"{self.root.name} has no installed dependencies that can be searched. See: dowse deps")
        return found.packages[:MAX_PACKAGES], notes

    def index(self, package: Package) -> PackageIndex:
        """Return the index of a package, open."""
        listing = self._copies.listing(package)
        if (package, listing) not in self._indexes:
            if len(self._indexes) > MAX_PACKAGES:
                self.close()
            self._indexes[package, listing] = PackageIndex(package, listing)
        return self._indexes[package, listing]

    def find(self, shown: str) -> tuple[PackageIndex, str] | None:
        """Return the package and the path of a place that a hit shows; None for a place of another form."""
        match = _SHOWN.fullmatch(shown)
        if not match:
            return None
        packages, _ = self.choose(match["name"])
        package = next((one for one in packages if one.version == match["version"]), None)
        if package is None:
            there = ", ".join(one.label for one in packages)
            raise UsageError(f"{match['name']} {match['version']} is not installed here. There is {there}.")
        return self.index(package), match["path"]

    def find_file(self, path: str) -> list[tuple[PackageIndex, str]]:
        """Return the packages that have a file, by its path in a package or in an environment, and its path in them."""
        name, path = _installed_path(path)
        packages, _ = self.choose(name)
        return [(index, path) for index in map(self.index, packages) if index.source.verdict(path).is_allowed]

    def find_locator(self, locator: str) -> tuple[PackageIndex, str]:
        """Return the package and the path that the path of a hit names."""
        key, _, path = locator.partition("/")
        name, _, version = key.rpartition("@")
        found = self.find(f"{name.replace(_SLASH, '/')} {version}{SEPARATOR}{path}")
        if found is None:
            raise UsageError(f"{locator} is no file of a package.")
        return found

    def ready_indexes(self) -> dict[str, PackageIndex]:
        """Return the indexes of the direct dependencies that are complete, by the first part of their paths."""
        indexes = {_key(package): self.index(package) for package in self.choose()[0]}
        return {key: index for key, index in indexes.items() if self._is_ready(index)}

    def search(self, query: SearchQuery, options: SearchOptions, name: str | None = None) -> PackageAnswer:
        """Search the dependencies, or one package. Those without an index are searched directly, and indexed meanwhile.

        Paths of filters are those within a package.
        """
        chosen, notes = self.choose(name)
        packages = {_key(package): package for package in chosen}
        ready, waiting = dict[str, PackageIndex](), dict[str, PackageIndex]()
        for key, package in packages.items():
            with contextlib.suppress(DowseError):
                index = self.index(package)
                (ready if self._is_ready(index) else waiting)[key] = index
        if waiting:
            self.index_in_background(name)
        named = _named(packages, query)
        if meant := _distinctive(named, packages, ready) if len(packages) > 1 else None:
            alone = self.search(query, options, packages[meant].label)
            if alone.answer.hits:
                note = f"Only {packages[meant].label} was searched, which the query names."
                return replace(alone, notes=(*alone.notes, note))
        if len(packages) == 1:
            query = _without_name(query, chosen[0])
        options = options.within(query.filters).below("*")
        query = replace(query, filters=NO_FILTERS)
        files, unread = self._read_directly(waiting, query) if waiting else (None, 0)
        ready = _promising(ready, query, named)
        weight = lru_cache(maxsize=None)(lambda path: _weight_of(path, named))
        store = JoinedStore({key: index.store for key, index in ready.items()}, files, weight)
        ask = partial(_ask, store, {**ready, **waiting}, query, options)
        answer = ask() if waiting else ask_repaired(ready, ask)
        if waiting:
            notes.append(_waiting_note(len(waiting), len(packages), unread))
            direct = len(files.files) if files else 0
            answer = replace(answer, searched=SearchedFiles(direct, 0, unread))
        return PackageAnswer(answer, packages, tuple(notes))

    def _is_ready(self, index: PackageIndex) -> bool:
        """Return whether an index is complete; it stays so, until it is removed."""
        if index.folder in self._ready and index.is_in_place():
            return True
        with contextlib.suppress(WordsMissing, Failed):
            if index.is_ready():
                self._ready.add(index.folder)
                return True
        return False

    # Packages without an index

    def _read_directly(self, indexes: dict[str, PackageIndex], query: SearchQuery) -> tuple[DirectIndex, int]:
        """Read the files of packages for a moment; return them, and how many packages or files were not read."""
        entries, skipped, deadline = list[Entry](), 0, time.monotonic() + WALK_SECONDS
        words = set(terms_of(" ".join(query.positive)))
        for key in sorted(indexes, key=lambda key: (-len(words & set(terms_of(key))), key)):
            if time.monotonic() > deadline:
                skipped += 1
                continue
            with contextlib.suppress(DowseError):
                found = indexes[key].source.entries()
                entries += [replace(one, path=f"{key}/{one.path}") for one in found if isinstance(one, Entry)]
        self._waiting = indexes
        files = DirectIndex(entries, self._kept.read, query, DIRECT_SECONDS, kept=self._kept, parse=self._parse)
        return files, skipped + len(files.unread_paths)

    def _read_entry(self, entry: Entry) -> list[FileContent] | Verdict:
        key, _, rest = entry.path.partition("/")
        read = self._waiting[key].source.read(replace(entry, path=rest))
        return read if isinstance(read, Verdict) else [replace(one, path=entry.path) for one in read]

    def _parse(self, files: Sequence[FileContent]) -> Iterator[tuple[FileContent, Reading, Sequence[Chunk]]]:
        source = next(iter(self._waiting.values())).source
        with contextlib.suppress(Failed):  # where no parser can be started, files are searched without
            for content, parsed in parse_within(source, files, PARSED_SECONDS):
                yield content, parsed.document.reading, parsed.chunks

    def index_in_background(self, name: str | None = None) -> None:
        """Start the process that indexes the packages, unless one is running or nothing can be written."""
        with contextlib.suppress(NotWritable, OSError):  # then packages are searched directly
            make_private_folder(packages_folder())
            lock = packages_folder() / "index.lock"
            if not Lock(lock).is_taken() and not refusal_to_write(lock):
                package = ["--package", name] if name else []
                start_in_background(own_program("dowse", "deps", "--index", *package, "--", str(self.root)))

    def index_packages(self, name: str | None = None, progress: Progress | None = None) -> int:
        """Index the packages that have no complete index, one after the other; return how many were."""
        settings, done = self.require_enabled(), 0
        make_private_folder(packages_folder())
        with Lock(packages_folder() / "index.lock").held(TURN_WAIT_SECONDS):
            chosen = self.choose(name)[0]
            for package in chosen:
                if self._copies.listing(package) is None:
                    with contextlib.suppress(PathRefused, Failed):
                        self._copies.look_at(package, self.index(package).source)
            waiting = [package for package in chosen if not self._is_ready(self.index(package))]
            for number, package in enumerate(waiting, 1):
                with contextlib.suppress(PathRefused, Failed):  # the others can be indexed
                    if not self.index(package).update().is_complete:
                        raise KeyboardInterrupt
                    done += 1
                if progress:
                    progress(number, len(waiting))
            limit_size(settings.dependency_bytes)
        return done

    def close(self) -> None:
        """Close all indexes."""
        for index in self._indexes.values():
            index.close()
        self._indexes.clear()


def _ask(store: JoinedStore, indexes: Mapping[str, PackageIndex], query: SearchQuery, options: SearchOptions) -> Answer:
    masks = next((index.settings.mask_secrets for index in indexes.values()), True)
    files = min(options.limit, PACKAGE_FILES) if options.detail == "definitions" else options.limit
    options = replace(options, limit=files, masks_secrets=masks, compare=_comparison(query))
    return search_store(store, read_of(indexes), query, options)


def _comparison(query: SearchQuery) -> Compare:
    """Return a function that compares texts with a query by the vectors of the table."""
    table, text = static_encoder(), plain_text(query)
    vector = table.encode([text])[0]
    return lambda texts: (table.encode(texts, "code") @ vector).tolist()


def _installed_path(path: str) -> tuple[str | None, str]:
    """Return the package, if its folder has its name, and the path in it of a path in an environment."""
    if "site-packages/" in path:
        return None, path.rpartition("site-packages/")[2]
    _, found, rest = path.rpartition("node_modules/")
    parts, count = rest.split("/"), 2 if rest.startswith("@") else 1
    return ("/".join(parts[:count]), "/".join(parts[count:])) if found and len(parts) > count else (None, path)


def _key(package: Package) -> str:
    """Return the first part of the paths of a package, without slashes; its words count as those of a folder."""
    return f"{package.name.replace('/', _SLASH)}@{package.version}"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).casefold()


def _is_named(package: Package, name: str) -> bool:
    """Return whether a name means a package: its name or the last part of it, with its version or without."""
    match = _NAMED.fullmatch(name.strip())
    return match is not None and _plain(match[1]) in _spellings(package) and match[2] in (None, package.version)


def _spellings(package: Package) -> set[str]:
    return {_plain(package.name), _plain(re.split("[/:]", _GO_MAJOR.sub("", package.name))[-1])}


def _named(packages: Mapping[str, Package], query: SearchQuery) -> set[str]:
    """Return the packages whose name is a word of a query; if there is none, those that are imported by one."""
    words = {word.strip("?,.;:!()'\"`") for text in query.positive for word in text.split()}
    plain = set(map(_plain, words))
    by_name = {key for key, package in packages.items() if plain & _spellings(package)}
    roots = {package.root for package in packages.values()}
    imported = [word for word in words if any(is_importable(root, word) for root in roots)] if not by_name else []
    return by_name or {
        key for key, package in packages.items() if any(is_imported_as(package, word) for word in imported)
    }


def _distinctive(named: Set[str], packages: dict[str, Package], ready: dict[str, PackageIndex]) -> str | None:
    """Return the one indexed package that a query names by a word which the others hardly have; `click` is no such word."""
    if len(named) != 1 or not named <= ready.keys():
        return None
    [key] = named
    terms = {term for spelling in _spellings(packages[key]) for term in terms_of(spelling)}
    counts = {one: sum(index.store.chunk_frequencies(terms).values()) for one, index in ready.items()}
    return key if counts[key] >= DISTINCTIVE_SHARE * sum(counts.values()) > 0 else None


def _without_name(query: SearchQuery, package: Package) -> SearchQuery:
    """Return a query to one package without its name, which says nothing there."""
    for spelling in _spellings(package):
        query = query.without_word(spelling)
    return query


def _unknown(found: FoundPackages, name: str) -> str:
    for missing in found.missing:
        if _plain(missing.name) == _plain(name):
            return f"{missing.name} cannot be searched: {missing.why}."
    near = [package.name for package in found.packages if _plain(name) in _plain(package.name)][:5]
    return f"{name} is no dependency that is installed here." + (f" There is {', '.join(near)}." if near else "")


def _waiting_note(waiting: int, packages: int, unread: int) -> str:
    rest = f", {unread:,} files or packages of them not at all" if unread else ""
    return f"Not complete: {waiting} of {packages} packages are being indexed and were searched by words alone{rest}."


def _weight_of(path: str, named: Iterable[str]) -> float:
    weight = NAMED_WEIGHT if path.partition("/")[0] in named else 1.0
    for pattern, factor in _WEIGHTS:
        if pattern.search(path):
            weight *= factor
    return weight


def _promising(indexes: dict[str, PackageIndex], query: SearchQuery, named: set[str]) -> dict[str, PackageIndex]:
    """Return the packages that have the rarest words of a query, and those that it names."""
    if len(indexes) <= ASKED_PACKAGES:
        return indexes
    terms = list(dict.fromkeys(terms_of(" ".join(query.positive))))
    counts = {key: index.store.chunk_frequencies(terms) for key, index in indexes.items()}
    sizes = {key: index.store.chunk_count() or 1 for key, index in indexes.items()}
    total = sum(sizes.values())
    found = {term: sum(one[term] for one in counts.values()) for term in terms}
    rarities = {term: rarity(count, total) for term, count in found.items()}

    def score(key: str) -> float:
        """Return the weight of the words that a package has, more if it has them more often than the others."""
        shares = {term: counts[key][term] / sizes[key] for term in terms if counts[key][term]}
        return sum(rarities[term] * (0.5 + share / (share + found[term] / total)) for term, share in shares.items())

    best = sorted(indexes, key=lambda key: (key not in named, -score(key), sizes[key]))[:ASKED_PACKAGES]
    return {key: indexes[key] for key in indexes if key in best}
