"""Prefixes that a site puts before the addresses of its pages, learned from the links between them."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

from dowse.reading.link_resolution import Internal, resolve_link
from dowse.reading.link_targets import LinkTargets

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
