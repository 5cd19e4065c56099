"""Pictures of documents, read under the policy of their folder."""

from dowse.errors import ItemNotFound
from dowse.federation.federated_search import find_source
from dowse.federation.source_list import NoClient, SourceList
from dowse.page.served_roots import served_folder
from dowse.types import Verdict


async def read_picture(sources: SourceList, item_id: str) -> tuple[bytes, str]:
    """Return a picture of a folder and its type; ItemNotFound if there is none that may be read."""
    source, path = await find_source(sources, NoClient(), item_id)
    folder = served_folder(sources, source.name)
    if folder is None:
        raise ItemNotFound("only folders have pictures")
    served, view = folder
    found = await served.ask(lambda index: index.source.read_picture(path), view)
    if isinstance(found, Verdict):
        raise ItemNotFound("there is no such picture that may be read")
    return found
