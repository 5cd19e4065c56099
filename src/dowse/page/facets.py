"""The kinds, languages and folders of the files that match a query, with their counts."""

from collections import Counter
from collections.abc import Collection, Iterable
from posixpath import commonpath
from typing import NamedTuple

from dowse.page.markup import Html, link, tag
from dowse.page.page_search import PageQuery
from dowse.reading.languages import detect_language
from dowse.searching.path_kinds import kinds_of

SHOWN_CHOICES = 8
_DOCUMENT_ENDINGS = (".md", ".txt")
_KIND_LABELS = {"code": "Code", "docs": "Documents"}


class Choice(NamedTuple):
    """A value that limits the results, how many files have it, and the address of the search with it or without."""

    label: str
    files: int
    address: str
    is_chosen: bool


def facets_view(query: PageQuery, matched: Collection[tuple[str, str]]) -> Html:
    """Return what the matching files can be limited to; nothing where that would not help."""
    paths = [path for _, path in matched]
    groups = {
        "Root": _roots(query, matched),
        "Kind": _kinds(query, paths),
        "Language": _languages(query, paths),
        "Folder": _folders(query, matched),
        "Tests": _tests(query, paths),
    }
    shown = [_group(name, choices) for name, choices in groups.items() if _helps(name, choices)]
    return tag("aside", shown, class_="facets", aria_label="Narrow the results")


def _helps(name: str, choices: list[Choice]) -> bool:
    return len(choices) > (name != "Tests") or any(choice.is_chosen for choice in choices)


def _group(name: str, choices: list[Choice]) -> Html:
    rows = []
    for choice in choices[:SHOWN_CHOICES]:
        count = tag("span", f"{choice.files:,}", class_="count")
        chosen = {"class_": "chosen", "aria_current": "true", "title": "Remove this filter"} if choice.is_chosen else {}
        rows.append(tag("li", link(choice.address, tag("span", choice.label), " ", count, **chosen)))
    return tag("section", tag("h2", name), tag("ul", rows))


def _roots(query: PageQuery, matched: Iterable[tuple[str, str]]) -> list[Choice]:
    counts = Counter(root for root, _ in matched)
    return [
        Choice(root, count, query.address(source="" if query.source == root else root), query.source == root)
        for root, count in counts.most_common()
    ]


def _kinds(query: PageQuery, paths: Iterable[str]) -> list[Choice]:
    counts = Counter("docs" if path.lower().endswith(_DOCUMENT_ENDINGS) else "code" for path in paths)
    return [_choice(query, "kind", kind, count, _KIND_LABELS[kind]) for kind, count in counts.most_common()]


def _languages(query: PageQuery, paths: Iterable[str]) -> list[Choice]:
    counts = Counter(detect_language(path, b"") for path in paths)
    return [_choice(query, "lang", name, count, name) for name, count in counts.most_common() if name]


def _folders(query: PageQuery, matched: Collection[tuple[str, str]]) -> list[Choice]:
    """Return the folders below the one that has all matching files, and those that were chosen."""
    chosen = [_choice(query, "path", value, len(matched), value) for value in query.values("path")]
    folders = [path.rpartition("/")[0] for _, path in matched]
    shared = commonpath(folders) if folders and all(folders) else ""
    lead = f"{shared}/" if shared else ""
    names = ((path, path[len(lead) :].partition("/")) for _, path in matched)
    counts = Counter(f"{lead}{name}/" for _, (name, slash, _) in names if slash)
    found = [_choice(query, "path", folder, count, folder) for folder, count in counts.most_common()]
    return [*chosen, *(one for one in found if not one.is_chosen)]


def _tests(query: PageQuery, paths: Iterable[str]) -> list[Choice]:
    """Return a choice that leaves out tests, if some of the matching files are tests and others are not."""
    if query.mode != "words":
        return []
    counts = Counter(part for path in paths for part in path.split("/")[:-1] if "test" in kinds_of(f"{part}/x"))
    folder = next(iter(query.values("-path")), None) or next((name for name, _ in counts.most_common(1)), "")
    if not folder:
        return []
    outside = sum(folder not in path.split("/") for path in paths)
    return [_choice(query, "-path", folder, outside, f"Without {folder}")]


def _choice(query: PageQuery, name: str, value: str, count: int, label: str) -> Choice:
    return Choice(label, count, query.toggled(name, value).address(), value in query.values(name))
