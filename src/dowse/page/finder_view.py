"""Files and symbols by their names: what `t` and Ctrl-K open."""

import asyncio
from collections.abc import Sequence

from dowse.federation.federation_types import id_of
from dowse.federation.source_list import NoClient, SourceList
from dowse.indexes.name_lookup import FoundName, find_names
from dowse.page.history_view import quoted_name
from dowse.page.item_links import read_address, root_name
from dowse.page.markup import Html, html

LISTED_NAMES = 30
MAX_CHARACTERS = 200
_PAGE = """<h1>Go to a file or symbol</h1>
<form class="inline" action="/find" role="search" aria-label="Find by name">
<label class="hidden" for="name">Name</label>
<input id="name" name="q" type="search" value="{q}" placeholder="A part of a name" autocomplete="off"{focus} maxlength="200">
<button>Find</button></form>{names}
"""


async def find_by_name(sources: SourceList, text: str) -> Html:
    """Return the files and symbols whose names match a text, best first, as a list of links."""
    text = text.strip()[:MAX_CHARACTERS]
    if not text:
        return html(
            '<p class="about">Type a part of a name: <code>shipcost</code>, <code>src/app</code>, <code>OrderForm</code>.</p>'
        )
    await sources.find(NoClient())
    roots = sources.roots()
    asked = (root.served.ask(lambda index: find_names(index, text, LISTED_NAMES), root.main_view) for root in roots)
    found: list[Sequence[FoundName]] = await asyncio.gather(*asked)
    named = [(root.name, one) for root, names in zip(roots, found, strict=True) for one in names]
    named.sort(key=lambda pair: -pair[1].quality)
    if not named:
        return html('<p class="about">Nothing has a name like this. <a href="/?{query}">Search for the words</a></p>',
                    query=f"q={quoted_name(text)}")  # fmt: skip
    rows = [_row(name, one, names_root=len(roots) > 1) for name, one in named[:LISTED_NAMES]]
    return html('<ul class="plain names">{rows}</ul>', rows=rows)


def _row(source: str, found: FoundName, *, names_root: bool) -> Html:
    address = read_address(id_of(source, found.path))
    folder = found.path if found.kind else found.path.rpartition("/")[0]
    place = f"{root_name(source)}: {folder}" if names_root else folder
    if found.kind:
        address += f"&symbol={quoted_name(found.name)}#L{found.line}"
    return html(
        '<li><a href="{address}"><b>{name}</b> <span class="about">{kind}</span> <span class="about place"><bdi>{place}</bdi></span></a></li>',
        address=address, name=found.name, kind=found.kind or "file", place=f"{place}:{found.line}" if found.kind else place,
    )  # fmt: skip


async def finder_page(sources: SourceList, text: str) -> Html:
    """Return the whole view, for a browser without the script."""
    return html(_PAGE, q=text, names=await find_by_name(sources, text), focus=Html(" autofocus"))
