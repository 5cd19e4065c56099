"""Searches of the page: one that nobody waits for any more leaves the index to the next."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from dowse.errors import SearchStopped
from dowse.page import page_search
from dowse.page.page_search import PageQuery, find_hits
from dowse.types import View


class EndlessIndex:
    """An index with more files than anybody waits for."""

    settings = SimpleNamespace(mask_secrets=False)
    exists = True

    def __init__(self) -> None:
        self.store = self.source = self
        self.is_read = threading.Event()

    def is_ready(self) -> bool:
        return True

    def documents(self) -> Iterator[Any]:
        for number in itertools.count():
            yield SimpleNamespace(id=number, path=f"{number}.py", kind="code", is_verbatim=True, text_start=0)

    def read_bytes(self, _path: str) -> tuple[bytes, None]:
        self.is_read.set()
        return b"apple", None


class ServedEndlessIndex:
    """It is searched on a thread, as an index is."""

    name = "endless"

    def __init__(self) -> None:
        self.index = EndlessIndex()
        self.error: BaseException | None = None

    async def ask_fresh(self, work: Callable[[EndlessIndex, list[str]], object], _view: View) -> object:
        def do() -> object:
            try:
                return work(self.index, [])
            except BaseException as error:
                self.error = error
                raise

        return await asyncio.to_thread(do)


def test_an_exact_search_that_is_outdated_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    served = ServedEndlessIndex()
    root = SimpleNamespace(
        name="project/endless", kind="project", kinds=("project",), served=served, main_view=View.PROJECT
    )
    monkeypatch.setattr(page_search, "EXACT_SECONDS", 3600.0)

    async def type_another_letter() -> None:
        sources: Any = SimpleNamespace(roots=lambda: [root])
        search = asyncio.ensure_future(find_hits(sources, PageQuery("pear", mode="exact")))
        await asyncio.to_thread(served.index.is_read.wait)
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search

    asyncio.run(type_another_letter())  # which waits for its threads
    assert isinstance(served.error, SearchStopped)
