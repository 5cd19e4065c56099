"""What a site puts before the addresses of its pages, learned from the links between them."""

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
    """The bases, such as `/en-US/docs/`, of a site whose links are given as source path and target.

    One is believed where most links that begin with it lead to a document without it, and to more than a few.
    """
    left = [
        dict(_split_address(source, address, paths))
        for source, address in islice(_unresolved_addresses(links, paths), _MAX_SAMPLE_LINKS)
    ]
    bases = list[str]()
    while left and len(bases) < _MAX_PREFIXES:
        tried = Counter(base for splits in left for base in splits)
        found = Counter(base for splits in left for base, path in splits.items() if path)
        base, count = next(iter(found.most_common(1)), ("", 0))
        if count * 2 < tried[base] or len({splits.get(base) for splits in left} - {None}) < _MIN_DOCUMENTS:
            break
        bases.append(base)
        left = [splits for splits in left if base not in splits]
    return tuple(bases)


def _unresolved_addresses(links: Iterable[tuple[str, str]], paths: LinkTargets) -> Iterator[tuple[str, str]]:
    """Addresses from the root that lead nowhere as they stand, each once."""
    seen = set[str]()
    for source, target in links:
        address = re.split("[?#]", target, maxsplit=1)[0]
        if address.startswith("/") and not address.startswith("//") and address not in seen:
            seen.add(address)
            if not isinstance(resolve_link(address, source, paths), Internal):
                yield source, address


def _split_address(source: str, address: str, paths: LinkTargets) -> Iterator[tuple[str, str | None]]:
    """The bases that an address may begin with, and the document that the rest leads to."""
    base, rest = "/", address[1:]
    for _ in range(_MAX_PREFIX_PARTS):
        part, _, rest = rest.partition("/")
        if not rest:
            break
        base += f"{part}/"
        found = resolve_link(f"/{rest}", source, paths)
        yield base, found.path if isinstance(found, Internal) else None
