"""The values that the library returns: hits, occurrences, uses and states, all frozen."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, overload

if TYPE_CHECKING:
    from dowse.indexes.index import PathDecision
    from dowse.searching.explain import RankExplanation
    from dowse.searching.passages import Passage
    from dowse.searching.references.reference_search import Place
    from dowse.searching.search import SearchHit

Result = TypeVar("Result")
_STYLE = (
    "<style>.dowse-hit pre{margin:0;padding:0 8px;white-space:pre;overflow:auto}"
    ".dowse-hit .nums{opacity:.5;text-align:right;user-select:none}"
    ".dowse-hit .passage{display:flex;font-size:13px}</style>"
)
_HIT = """<div class="dowse-hit"><p><b>{place}</b> {symbol}</p>
<div class="passage"><pre class="nums">{numbers}</pre><pre class="text"><code>{text}</code></pre></div></div>
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A definition, a section, a page or a note that answers a query."""

    path: str
    """Its file; with several folders, it begins with the name of the folder. Of a page or note, its title."""
    lines: tuple[int, int]
    """The first and last line of the text; (0, 0) for an item without lines."""
    text: str
    symbol: str = ""
    """The function, class or section, with those around it: `Client.get`, `Guide > Install`."""
    language: str = ""
    score: float = 0.0
    """How well the file answers, from 0 to 1. Hits are in the order of their definitions, which may be another one."""
    id: str = ""
    """The place that `Index.read` takes: `src/client.py:10-24`."""
    source: str = ""
    """The source of the item, if several kinds were searched: `project/shop`, `site/docs`."""
    url: str = ""
    masked: tuple[str, ...] = ()
    """The kinds of secrets that are masked in the text."""
    flags: tuple[str, ...] = ()
    """Content warnings: the text speaks to an assistant, or hides characters."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A line that defines or uses a name."""

    path: str
    line: int
    text: str
    kind: str
    """How the name is used (`call`, `import`, `inheritance`, `annotation`, `mention`); of a definition, what it is."""
    within: str = ""
    """The definitions around the line, joined by dots."""
    is_definition: bool = False
    confidence: str = "certain"
    """`certain`, `likely`, `possible` or `by its text`."""


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the index of one folder, or of another source."""

    name: str
    state: Literal["not_found", "indexing", "ready", "incomplete", "failed"]
    files: int = 0
    chunks: int = 0
    expected_files: int = 0
    """The files that a run which is under way will have indexed."""
    last_updated: str | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a file is or is not indexed and, for a query, how it ranks."""

    path: str
    is_allowed: bool
    is_indexed: bool
    reason: str = ""
    """Why it is not indexed."""
    rule: str = ""
    """The rule that excludes it, with its file and line."""
    rank: int = 0
    """Its place among the files for the query, from 1; 0 if the query does not find it."""
    of: int = 0
    score: float = 0.0
    signals: Mapping[str, float] = field(default_factory=dict)
    """The parts of the score, by name."""


@dataclass(frozen=True, slots=True)
class Results(Sequence[Result], Generic[Result]):
    """Results, best first, with what to know about them. A notebook shows hits as the page does."""

    items: tuple[Result, ...]
    query: str = ""
    total: int = 0
    """The number of all matches of `find`, and of all uses; elsewhere the number of the items."""
    is_complete: bool = True
    """Whether the answer is about all files as they are now."""
    notes: tuple[str, ...] = ()
    """Sentences about words that were corrected, and files that were left out or not searched."""
    terms: frozenset[str] = field(default=frozenset(), repr=False)
    """The stems of the words that match."""

    @overload
    def __getitem__(self, at: int) -> Result: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, at: int | slice) -> Result | tuple[Result, ...]:
        return self.items[at]

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.items)

    def _repr_html_(self) -> str:
        """Return the results as HTML, with what matches marked."""
        from dowse.page.markup import Html, html

        notes = [html("<p><i>{note}</i></p>", note=note) for note in self.notes]
        return html("{style}{items}{notes}", style=Html(_STYLE), items=list(map(self._shown, self.items)), notes=notes)

    def _shown(self, item: Result) -> str:
        from dowse.page.markup import html
        from dowse.page.page_texts import paint
        from dowse.searching.passages import found_terms

        if not isinstance(item, Hit):
            return html(
                "<pre>{item}</pre>",
                item=f"{getattr(item, 'path', '')}:{getattr(item, 'line', '')} {getattr(item, 'text', item)}",
            )
        first, last = item.lines
        count = item.text.count("\n") + 1
        numbers = "\n".join(map(str, range(first, last + 1))) if first and last - first + 1 == count else ""
        marks = [(start, end) for start, end, _ in found_terms(item.text, dict.fromkeys(self.terms, 1.0))]
        return html(
            _HIT, place=item.id or item.path, symbol=item.symbol, numbers=numbers, text=paint(item.text, (), marks)
        )


def make_hit(hit: "SearchHit", passage: "Passage", path: str) -> Hit:
    """Return a passage of a file that was found as a hit."""
    start, end = passage.start_line, passage.end_line
    return Hit(
        path, (start, end), passage.text, passage.name, hit.language, hit.score,
        f"{path}:{start}-{end}", masked=passage.masked, flags=passage.flags,
    )  # fmt: skip


def make_explanation(
    found: "PathDecision", ranked: "RankExplanation | None", show: Callable[[str], str]
) -> Explanation:
    """Return the explanation of a file."""
    verdict, rule = found.verdict, found.verdict.rule
    line = f", line {rule.line}" if rule and rule.line else ""
    return Explanation(
        show(verdict.path), verdict.is_allowed, found.stored is not None, str(verdict.reason or ""),
        f"{rule.pattern} ({rule.origin}{line})" if rule else "",
        *((ranked.rank or 0, ranked.of, ranked.score, dict(ranked.signals)) if ranked else ()),
    )  # fmt: skip


def make_reference(place: "Place", path: str, *, is_definition: bool) -> Reference:
    """Return a line that a search for references found."""
    return Reference(path, place.line, place.text, place.kind, place.within, is_definition, place.confidence.word)
