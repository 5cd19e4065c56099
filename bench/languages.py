"""Our own questions in five languages, asked of every kind of source.

The short documents of all languages lie in one folder, as they do on a real disk. The questions have other forms of the
words than the documents, compounds that these write apart and the other way round, and no spaces where a language has none.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from bench import quality
from bench.report import Row, Table
from dowse.archives.archive_database import create_database
from dowse.archives.archive_index import ArchiveIndex
from dowse.archives.archive_locations import find_locations
from dowse.archives.archive_search import search_archives
from dowse.archives.archive_update import index_archives
from dowse.indexes.document_search import DocumentQuery, find_documents
from dowse.indexes.index import ProjectIndex
from dowse.searching.query_terms import parse_search_query
from dowse.sites.building.builder import BuildSettings, build
from dowse.sites.site import load_site
from dowse.types import View

QUESTIONS = Path(__file__).with_name("questions") / "languages.jsonl"

Search = Callable[[str], list[str]]
"""Returns the first ten paths for a query."""


def table(work: Path) -> Table:
    """Measure the first ten documents for each question, by words, in each kind of source."""
    questions = _lay_out(work / "research-archive")
    sources = _sources(work)
    rows: list[Row] = [("", "questions", *sources)]
    for language, answers in questions.items():
        means = (
            sum(quality.ndcg(search(text), {path: 1}) for text, path in answers) / len(answers)
            for search in sources.values()
        )
        rows.append((language, str(len(answers)), *(f"{mean:.3f}" for mean in means)))
    return Table("Our own questions in five languages, by words: nDCG@10", rows)


def _lay_out(root: Path) -> dict[str, list[tuple[str, str]]]:
    """Write the documents; return the questions of each language, and the path of the answer to each."""
    questions = {}
    for row in map(json.loads, QUESTIONS.read_text(encoding="utf-8").splitlines()):
        folder = root / row["language"].lower()
        folder.mkdir(parents=True, exist_ok=True)
        for number, document in enumerate(row["documents"], 1):
            (folder / f"{number}.md").write_text(f"# {document.replace(chr(10), chr(10) * 2)}\n", encoding="utf-8")
        questions[row["language"]] = [
            (one["text"], f"{folder.name}/{one['answer']}.md") for one in row["questions"]
        ]  # fmt: skip
    return questions


def _sources(work: Path) -> Mapping[str, Search]:
    root = work / "research-archive"
    project, documents = quality.open_index(root), ProjectIndex(root, View.DOCUMENTS)
    documents.update()
    places = find_locations(root, work / "none", work / "archive.db")
    database = create_database(places.database)
    index_archives(database, places)
    indexes = {archive: ArchiveIndex(folder) for archive, folder in places.present.items()}
    pages = build(root, BuildSettings(name="Languages", domain="languages.example"))
    site = load_site(pages.data)

    def in_documents(text: str) -> list[str]:
        request = DocumentQuery(parse_search_query(text), limit=quality.DEPTH)
        return [hit.document.path for hit in find_documents(documents, request).matches.found if hit.place != "meaning"]

    def in_site(text: str) -> list[str]:
        hits = site.search(parse_search_query(text), quality.DEPTH).hits
        return [f"{site.page(hit.page).url.strip('/')}.md" for hit in hits]

    return {
        "project": lambda text: quality.ranked_paths(project.store, text, (), "docs"),
        "documents": in_documents,
        "archive": lambda text: [hit.document.path for hit in search_archives(indexes, text, quality.DEPTH)],
        "site": in_site,
    }
