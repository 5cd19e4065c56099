"""Pictures of documents, read under the policy of their folder."""

from dowse.errors import ItemNotFound
from dowse.federation.source_list import SourceList
from dowse.page.served_roots import find_item
from dowse.types import Verdict


async def read_picture(sources: SourceList, item_id: str) -> tuple[bytes, str]:
    """Return a picture of a folder and its type; ItemNotFound if there is none that may be read."""
    source, path = await find_item(sources, item_id)
    root = sources.root(source.name)
    if root is None:
        raise ItemNotFound("only folders have pictures")
    found = await root.served.ask(lambda index: index.source.read_picture(path), root.main_view)
    if isinstance(found, Verdict):
        raise ItemNotFound("there is no such picture that may be read")
    return found
