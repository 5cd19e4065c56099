"""Searches of the page: the address holds all of one, and one that nobody waits for leaves the index to the next."""

import asyncio
import itertools
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dowse.errors import SearchStopped
from dowse.page import page_search
from dowse.page.page_search import PageQuery, find_hits, read_query
from dowse.types import View
from tests.examples import examples

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=("Z", "C")), max_size=20)
MODES, KINDS = st.sampled_from(["words", "exact", "regex"]), st.sampled_from(["", "code", "docs"])


@examples(50, many=2000)
@given(WORDS, MODES, WORDS, KINDS, st.integers(1, 50))
def test_a_query_comes_back_from_its_address(text: str, mode: Any, path: str, kind: str, limit: int) -> None:
    query = PageQuery(text, mode, path=path, kind=kind, limit=limit)
    assert read_query(dict(parse_qsl(query.address().partition("?")[2]))) == query


def test_odd_fields_are_ignored() -> None:
    assert read_query({"q": "a", "mode": "x", "kind": "y", "limit": "-3"}) == PageQuery("a")
    assert read_query({"limit": "999"}).limit == 50
    assert read_query({"limit": "٣"}) == PageQuery()


def test_a_query_without_its_filters_has_its_words_alone() -> None:
    typed = PageQuery('peel -path:tests "red  apple" lang:py kind:code', limit=50)
    assert typed.without_filters() == PageQuery('peel "red apple"', limit=50)
    chosen = PageQuery("a  b", "exact", "project", "docs", "python", "src", "2025-01-31", "2025-02-28")
    assert chosen.without_filters() == PageQuery("a  b", "exact")
    for query in (PageQuery("a  b"), PageQuery("a lang:py", "exact"), PageQuery("lang:py")):
        assert query.without_filters() == query


class EndlessIndex:
    """An index with more files than anybody waits for, which is searched on a thread."""

    name = "endless"
    settings = SimpleNamespace(mask_secrets=False)
    exists = True
    has_pending = False

    def __init__(self) -> None:
        self.store = self.source = self
        self.is_read = threading.Event()
        self.error: BaseException | None = None

    def is_ready(self) -> bool:
        return True

    def documents(self) -> Iterator[Any]:
        for number in itertools.count():
            yield SimpleNamespace(id=number, path=f"{number}.py", kind="code", is_verbatim=True, text_start=0)

    def read_bytes(self, _path: str) -> tuple[bytes, None]:
        self.is_read.set()
        return b"apple", None

    async def ask_fresh(self, work: Callable[["EndlessIndex", list[str]], object], _view: View) -> object:
        return await asyncio.to_thread(self._do, work)

    def _do(self, work: Callable[["EndlessIndex", list[str]], object]) -> object:
        try:
            return work(self, [])
        except BaseException as error:
            self.error = error
            raise


def test_an_exact_search_that_is_outdated_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    index = EndlessIndex()
    root = SimpleNamespace(
        name="project/endless", kind="project", kinds=("project",), served=index, main_view=View.PROJECT
    )
    monkeypatch.setattr(page_search, "EXACT_SECONDS", 3600.0)

    async def type_another_letter() -> None:
        sources: Any = SimpleNamespace(roots=lambda: [root])
        search = asyncio.ensure_future(find_hits(sources, PageQuery("pear", mode="exact")))
        assert await asyncio.to_thread(index.is_read.wait, 60), index.error
        search.cancel()
        with pytest.raises(asyncio.CancelledError):
            await search

    asyncio.run(type_another_letter())  # which waits for its threads
    assert isinstance(index.error, SearchStopped)
