"""An open index that an event loop asks."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial, wraps
from typing import Any, Concatenate, ParamSpec, Self, TypedDict, TypeVar, Unpack

from dowse.api.library import Index, Location
from dowse.errors import UsageError
from dowse.types import Progress

P = ParamSpec("P")
R = TypeVar("R")


def _awaited(
    method: Callable[Concatenate[Index, P], R],
) -> "Callable[Concatenate[AsyncIndex, P], Coroutine[Any, Any, R]]":
    """Return a method of an index that does not hold up the event loop."""

    @wraps(method)
    async def call(self: "AsyncIndex", /, *given: P.args, **named: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.index, *given, **named)

    return call


class Options(TypedDict, total=False):
    """The arguments of an index, by name."""

    store: str | None
    projects: Sequence[str]
    documents: bool
    dependencies: bool
    package: str | None
    sites: Sequence[str]
    archives: bool
    notes: bool
    progress: Progress | None


class AsyncIndex:
    """An index for an event loop: `async with dowse.open_async("shop") as index: await index.search("…")`."""

    def __init__(self, *folders: Location, **options: Unpack[Options]) -> None:
        """Take the arguments of `Index`; nothing is opened before `async with`."""
        self._open = partial(Index, *folders, **options)
        self._index: Index | None = None

    @property
    def index(self) -> Index:
        """The index itself, once it is open."""
        if self._index is None:
            raise UsageError("This index is not open. Write: async with dowse.open_async(…) as index")
        return self._index

    search = _awaited(Index.search)
    find = _awaited(Index.find)
    uses = _awaited(Index.uses)
    related = _awaited(Index.related)
    explain = _awaited(Index.explain)
    history = _awaited(Index.history)
    commit = _awaited(Index.commit)
    outline = _awaited(Index.outline)
    documents = _awaited(Index.documents)
    links = _awaited(Index.links)
    publish = _awaited(Index.publish)
    reindex = _awaited(Index.reindex)
    read = _awaited(Index.read)
    files = _awaited(Index.files)
    wait = _awaited(Index.wait)
    status = _awaited(Index.status)
    close = _awaited(Index.close)

    async def __aenter__(self) -> Self:
        self._index = await asyncio.to_thread(self._open)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
