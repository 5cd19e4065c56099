"""The values that the library returns: hits, occurrences, uses and states, all frozen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Generic, Literal, TypeVar, overload

if TYPE_CHECKING:
    from dowse.federation.answers.place_reading import SourceText
    from dowse.indexes.index import PathDecision
    from dowse.indexes.reference_lookup import FoundReferences
    from dowse.searching.explain import RankExplanation
    from dowse.searching.history.history_search import CommitHit, HistoryAnswer

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


def outline_of(source: "SourceText", path: str) -> list[Hit]:
    """Return the definitions or sections of a file, each with its first line."""
    joint = " > " if source.kind == "docs" else "."
    return [
        Hit(
            path, (unit.start + 1, unit.end + 1), source.lines[unit.definition].strip(), joint.join(unit.names),
            source.language, id=f"{path}:{unit.start + 1}-{unit.end + 1}",
        )
        for unit in source.units if unit.names
    ]  # fmt: skip


def references_of(answers: "Mapping[str, FoundReferences]", name: str, limit: int) -> Results[Reference]:
    """Return where a name is defined, then where it is used, by the beginning of the paths of each index."""
    places, notes = list[Reference](), list[str]()
    for lead, (found, _, _) in answers.items():
        for at, group in enumerate((found.definitions, found.overrides, found.uses[:limit])):
            places += [
                Reference(lead + one.path, one.line, one.text, one.kind, one.within, at < 2, one.confidence.word)
                for one in group
            ]
        if found.owners:
            notes.append(f"Several things are called {name}: {', '.join(one.name for one in found.owners)}")
        if found.suggestions:
            notes.append(f"Similar names: {', '.join(found.suggestions)}")
    total = sum(answer.found.total for answer in answers.values())
    is_complete = all(answer.coverage.is_complete for answer in answers.values())
    return Results(tuple(places), name, total, is_complete, tuple(notes))


def commits_of(answers: "Mapping[str, HistoryAnswer]", query: str, limit: int) -> "Results[CommitHit]":
    """Return the commits of all folders, best first."""
    hits = [
        replace(hit, files=tuple(lead + path for path in hit.files))
        for lead, answer in answers.items()
        for hit in answer.hits
    ]
    hits = sorted(hits, key=lambda hit: (-hit.score, -hit.time))[:limit]
    covers = [answer.coverage for answer in answers.values()]
    notes = [note for one in covers for note in (f"Searched {one.text}.", *one.notes())]
    return Results(tuple(hits), query, len(hits), all(one.is_complete for one in covers), tuple(notes))


def explanation_of(found: "PathDecision", ranked: "RankExplanation | None", lead: str) -> Explanation:
    """Return the explanation of a file; in results, a lead goes before its path."""
    verdict, rule = found.verdict, found.verdict.rule
    line = f", line {rule.line}" if rule and rule.line else ""
    return Explanation(
        lead + verdict.path, verdict.is_allowed, found.stored is not None, str(verdict.reason or ""),
        f"{rule.pattern} ({rule.origin}{line})" if rule else "",
        *((ranked.rank or 0, ranked.of, ranked.score, dict(ranked.signals)) if ranked else ()),
    )  # fmt: skip
