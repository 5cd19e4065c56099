"""The names of sources as people see them, and the files that the page is asked for."""

from urllib.parse import unquote

from dowse.federation.federated_search import find_source
from dowse.federation.federation_types import ROOT_KINDS, SearchSource
from dowse.federation.result_ids import AS_DOCUMENT
from dowse.federation.source_list import NoClient, SourceList


def root_name(source: str) -> str:
    """Return the name of a source as people see it: a root's own name, `archive`, `site/docs`."""
    kind, _, name = source.partition("/")
    return unquote(name) if kind in ROOT_KINDS and name else unquote(source)


async def find_item(sources: SourceList, item_id: str) -> tuple[SearchSource, str]:
    """Return the source of an id and the place in it, which is the path of a file; ItemNotFound if there is no source."""
    source, locator = await find_source(sources, NoClient(), item_id)
    return source, locator.removesuffix(AS_DOCUMENT)
