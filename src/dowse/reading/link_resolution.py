"""Resolution of links: to another document, to the web, or to nothing."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate, islice
from urllib.parse import unquote

from dowse.reading.link_targets import LinkTargets

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_WEB_SCHEMES = frozenset({"http", "https", "ftp"})
_URL_SYNTAX = re.compile(r"[#?%\\:]")
_HTML_EXTENSION = re.compile(r"\.html?$", re.IGNORECASE)
_EXTENSION = re.compile(r"\.\w+$")
_SITE_ENDINGS = (".html", ".htm", "index")
_MAX_PATH_CHARS = 4096
"""Targets longer than this are not looked up; no path is that long."""


class Fault(StrEnum):
    """The reason why a link is broken; the value is the text that users read."""

    MISSING = "no such document"
    FOLDER = "a folder without an index page"
    OUTSIDE = "outside the indexed folder"
    EMPTY = "empty link target"


@dataclass(frozen=True, slots=True)
class Internal:
    """A link to a known document, and to an anchor in it if the link names one."""

    path: str
    anchor: str = ""


@dataclass(frozen=True, slots=True)
class External:
    """A link to the web."""

    url: str


@dataclass(frozen=True, slots=True)
class Broken:
    """A link to a document that does not exist; `path` is where it would be, empty if there is no such path."""

    fault: Fault
    path: str = ""


@dataclass(frozen=True, slots=True)
class Foreign:
    """A link that cannot be read or visited, such as a mail address, a template or the path of an item of code."""


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A link to a file or folder that exists and is not a document."""

    path: str


Resolved = Internal | External | Broken | Foreign | OtherFile


def resolve_link(target: str, source_path: str, paths: LinkTargets) -> Resolved:
    """Resolve a link in the document at `source_path`; a target such as `[[…]]`, from `find_links`, is a wiki link."""
    target = target.strip()
    if target.startswith("[[") and target.endswith("]]"):
        return _resolve_wiki(target[2:-2], source_path, paths)
    found = _resolve_address(target, source_path, paths)
    if isinstance(found, Broken):
        address = unquote(target.partition("#")[0].partition("?")[0]).replace("\\", "/")
        candidates = _candidate_paths(address, source_path, paths.prefixes) if address else ()
        return _find_other_file(candidates, paths) or found
    return found


def _find_other_file(candidates: Iterable[str | None], paths: LinkTargets) -> OtherFile | None:
    """Return the first file that exists; a name that is longer than any path is not looked for."""
    existing = (path for path in candidates if path and len(path) <= _MAX_PATH_CHARS and paths.has_file(path))
    return next(map(OtherFile, existing), None)


def _resolve_address(target: str, source_path: str, paths: LinkTargets) -> Resolved:
    if (scheme := _read_scheme(target)) in _WEB_SCHEMES or target.startswith("//"):
        return External(target)
    if "{{" in target or "{%" in target:
        return Foreign()
    if literal := _find_literal(target, source_path, paths):
        return literal
    if scheme or "::" in target:  # a single letter is a Windows drive, `a::b` an item in the documentation of Rust
        return Broken(Fault.OUTSIDE) if len(scheme) == 1 and "::" not in target else Foreign()
    address, _, anchor = target.partition("#")
    address = address.partition("?")[0]
    if address:
        found = _find_document(unquote(address).replace("\\", "/"), source_path, paths)
    elif target and source_path in paths:
        found = source_path
    else:
        found = Broken(Fault.MISSING if target else Fault.EMPTY)
    return Internal(found, unquote(anchor)) if isinstance(found, str) else found


def _read_scheme(target: str) -> str:
    match = _SCHEME.match(target)
    return match[1].lower() if match else ""


def _find_literal(target: str, source_path: str, paths: LinkTargets) -> Internal | None:
    """Return the document whose name is the literal target, though it contains characters that are URL syntax."""
    if _URL_SYNTAX.search(target) and len(target) <= _MAX_PATH_CHARS:
        path = _join_path(source_path.rpartition("/")[0], target)
        if path is not None and path in paths:
            return Internal(path)
    return None


def _find_document(path: str, source_path: str, paths: LinkTargets) -> "str | Broken":
    if len(path) > _MAX_PATH_CHARS:
        return Broken(Fault.MISSING)
    is_folder = path.endswith(("/", "/.", "/..")) or path in {".", ".."}
    for candidate in _candidate_paths(path, source_path, paths.prefixes):
        if candidate is not None and (found := _find_at(candidate, is_folder, paths)):
            return found
    return _explain_broken(next(_candidate_paths(path, source_path, paths.prefixes)), paths)


def _find_at(path: str, is_folder: bool, paths: LinkTargets) -> str | None:
    """Return the document at a path, also by its name on a site: `guide/index.html` for `guide/README.md`."""
    found = paths.find(path, is_folder)
    if found or not path.lower().endswith(_SITE_ENDINGS):
        return found
    stem = _HTML_EXTENSION.sub("", path)
    folder, _, name = stem.rpartition("/")
    return paths.find(stem) or (paths.find(folder, is_folder=True) if name.lower() == "index" else None)


def _explain_broken(path: str | None, paths: LinkTargets) -> Broken:
    """Return the reason why no document was found at a path; None is a path outside the root."""
    if path is None:
        return Broken(Fault.OUTSIDE)
    return Broken(Fault.FOLDER if paths.is_folder(path) else Fault.MISSING, path)


def _candidate_paths(path: str, source_path: str, prefixes: tuple[str, ...]) -> Iterator[str | None]:
    """Return the paths that a link may mean, the most likely first; None is a path outside the root."""
    if path.startswith("/"):
        yield from _candidate_root_paths(path, source_path, prefixes)
        return
    yield _join_path(source_path.rpartition("/")[0], path)
    if not _EXTENSION.search(path) or _HTML_EXTENSION.search(path):
        # A site may show `guide/install.md` as `/guide/install/`; links in it are then relative to that.
        yield _join_path(_EXTENSION.sub("", source_path), path)
    if "/" in path and not path.startswith("."):
        # A vault may write links from its own root, which is a folder around the document: `content/` for Quartz.
        yield from _candidate_root_paths(f"/{path}", source_path, prefixes)


def _candidate_root_paths(path: str, source_path: str, prefixes: tuple[str, ...]) -> Iterator[str | None]:
    """Return candidates for a path from the root of a site: our root, or any folder around the document."""
    joined = None if path.startswith("//") else _join_path("", path)  # `\\\\host` is another machine
    if joined is None:
        yield None
        return
    paths = [joined, *(joined[len(prefix) :] for prefix in prefixes if f"{joined}/".startswith(prefix))]
    yield from paths
    for folder in accumulate(source_path.split("/")[:-1], "{}/{}".format):
        yield from (f"{folder}/{below}" if below else folder for below in paths)


def _join_path(folder: str, path: str) -> str | None:
    """Return a path relative to a folder as a path from the root; None if it leaves the root on its way."""
    parts = list[str]()
    for part in f"{folder}/{path}".split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part and part != ".":
            parts.append(part)
    return "/".join(parts)


def _resolve_wiki(inner: str, source_path: str, paths: LinkTargets) -> Resolved:
    """Resolve a wiki link: a page by its path, else by its file name or title in any folder."""
    inner = inner.partition("|")[0].strip()
    if _read_scheme(inner) in _WEB_SCHEMES:
        return External(inner)
    name, mark, anchor = inner.partition("#")
    if not name.strip():
        is_anchor = inner and source_path in paths
        return Internal(source_path, anchor.strip()) if is_anchor else Broken(Fault.MISSING if inner else Fault.EMPTY)
    if len(inner) > _MAX_PATH_CHARS:
        return Broken(Fault.MISSING)
    if mark and (found := _find_page(inner, source_path, paths)):  # such as `C#`
        return Internal(found)
    if found := _find_page(name.strip(), source_path, paths):
        return Internal(found, anchor.strip())
    from_root = _join_path("", name.strip().replace("\\", "/"))
    candidates = (*_page_paths(name.strip(), source_path), from_root)
    return _find_other_file(candidates, paths) or Broken(Fault.MISSING, from_root or "")


def _page_paths(name: str, source_path: str) -> list[str | None]:
    folder, name = source_path.rpartition("/")[0], name.replace("\\", "/")
    beside = [] if name.startswith("/") else [_join_path(folder, name)]
    return [*beside, _join_path("", name)] if "/" in name else beside


def _find_page(name: str, source_path: str, paths: LinkTargets) -> str | None:
    folder, name = source_path.rpartition("/")[0], name.replace("\\", "/")
    candidates = _page_paths(name, source_path)
    found = (paths.find(candidate) for candidate in candidates if candidate)
    return next(filter(None, found), None) or paths.find_nearest(name.strip("/"), folder)


_MAX_SAMPLE_LINKS = 5000
_MAX_PREFIX_PARTS = 3
_MAX_PREFIXES = 3
_MIN_DOCUMENTS = 5


def find_site_prefixes(links: Iterable[tuple[str, str]], paths: LinkTargets) -> tuple[str, ...]:
    """Return the prefixes, such as `/en-US/docs/`, of a site; links are pairs of source path and target.

    A prefix is accepted if at least half of the links that begin with it lead to a document without it, and
    if these are at least `_MIN_DOCUMENTS` documents.
    """
    unresolved = islice(_unresolved_addresses(links, paths), _MAX_SAMPLE_LINKS)
    left = [dict(_split_address(source, address, paths)) for source, address in unresolved]
    prefixes = list[str]()
    while left and len(prefixes) < _MAX_PREFIXES:
        tried = Counter(prefix for splits in left for prefix in splits)
        found = Counter(prefix for splits in left for prefix, path in splits.items() if path)
        prefix, count = next(iter(found.most_common(1)), ("", 0))
        if count * 2 < tried[prefix] or len({splits.get(prefix) for splits in left} - {None}) < _MIN_DOCUMENTS:
            break
        prefixes.append(prefix)
        left = [splits for splits in left if prefix not in splits]
    return tuple(prefixes)


def _unresolved_addresses(links: Iterable[tuple[str, str]], paths: LinkTargets) -> Iterator[tuple[str, str]]:
    """Return the addresses from the root that do not resolve as written, each once, with their sources."""
    seen = set[str]()
    for source, target in links:
        address = re.split("[?#]", target, maxsplit=1)[0]
        if address.startswith("/") and not address.startswith("//") and address not in seen:
            seen.add(address)
            if not isinstance(resolve_link(address, source, paths), Internal):
                yield source, address


def _split_address(source: str, address: str, paths: LinkTargets) -> Iterator[tuple[str, str | None]]:
    """Return the prefixes that an address may begin with, each with the document that the rest leads to."""
    prefix, rest = "/", address[1:]
    for _ in range(_MAX_PREFIX_PARTS):
        part, _, rest = rest.partition("/")
        if not rest:
            break
        prefix += f"{part}/"
        found = resolve_link(f"/{rest}", source, paths)
        yield prefix, found.path if isinstance(found, Internal) else None
