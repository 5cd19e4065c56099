"""A mixed set of judged queries: code, papers as documents and as notes, pages of sites, and proposals in an archive.

Each query has its answer in one source and is run on all of them together.
"""

import json
import random
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dowse.federation.federation_types import id_of, source_name

REPOSITORIES = ("axum", "click", "cobra", "dapper", "ecto", "pydantic", "vitest", "rails")
"""Repositories of code-search, in eight languages; without httpx, whose site is one of the sites."""
QUERIES_PER_KIND = 160
"""Number of queries for each kind of source; the same queries in every run."""
_WORD = re.compile(r"[a-z]{4,}")
_TITLE = re.compile(r"^Title: *(.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Judged:
    """A query, the kind of source that has its answer, and the gains of the relevant ids."""

    text: str
    kind: str
    gains: dict[str, float]


@dataclass(frozen=True, slots=True)
class Mixed:
    """The set in folders, ready to be served."""

    roots: list[Path]
    documents: Path
    notes: list[dict[str, Any]]
    sites: list[Path]
    archive: Path
    queries: list[Judged]


def lay_out(judged: Path, code: Path, peps: Path, work: Path) -> Mixed:
    """Create the files of the set below a folder."""
    notes = list(_papers(judged / "scifact", work / "papers"))
    archive = work / "research-archive"
    archive.mkdir(parents=True, exist_ok=True)
    for file in sorted((peps / "peps").glob("pep-*.rst")):
        shutil.copy(file, archive / file.name)
    sites = sorted((judged / "sites").glob("*.index.json"))
    queries = [
        *_sample(_code_queries(judged / "code-search")),
        *_sample(query for query in _paper_queries(judged / "scifact") if query.kind == "documents"),
        *_sample(query for query in _paper_queries(judged / "scifact") if query.kind == "index"),
        *_sample(query for site in sites for query in _site_queries(site)),
        *_sample(_proposal_queries(archive)),
    ]
    return Mixed([code / name for name in REPOSITORIES], work / "papers", notes, sites, archive, queries)


def site_name(file: Path) -> str:
    """Return the name that a site is served by."""
    return file.name.partition("+")[2].partition(".")[0].lower()


def _sample(queries: Iterator[Judged]) -> list[Judged]:
    found = list(queries)
    return random.Random(12).sample(found, min(QUERIES_PER_KIND, len(found)))  # noqa: S311 - no secret


def _is_note(number: str) -> bool:
    """Return whether a paper becomes a note: every other one does, so that both kinds get similar queries."""
    return int(number) % 2 == 1


def _papers(folder: Path, documents: Path) -> Iterator[dict[str, Any]]:
    documents.mkdir(parents=True, exist_ok=True)
    for paper in _read_rows(folder / "corpus.jsonl"):
        if _is_note(paper["_id"]):
            yield {
                "doc_id": paper["_id"],
                "content": f"{paper['title']}\n\n{paper['text']}",
                "metadata": {"title": paper["title"]},
            }
        else:
            text = f"# {paper['title']}\n\n{paper['text']}\n"
            (documents / f"{paper['_id']}.md").write_text(text, encoding="utf-8")


def _code_queries(folder: Path) -> Iterator[Judged]:
    for query in _read_rows(folder / "queries.jsonl"):
        if query["repo"] in REPOSITORIES:
            source = source_name("project", query["repo"])
            gains = {id_of(source, one["path"]): 1.0 for one in query["secondary"]}
            gains |= {id_of(source, one["path"]): 2.0 for one in query["relevant"]}
            yield Judged(query["query"], "project", gains)


def _paper_queries(folder: Path) -> Iterator[Judged]:
    texts = {query["_id"]: query["text"] for query in _read_rows(folder / "queries.jsonl")}
    relevant: dict[str, list[str]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        query, paper, gain = line.split("\t")[:3]
        if int(gain) > 0:
            relevant.setdefault(query, []).append(paper)
    for query, papers in relevant.items():
        kinds = {_is_note(paper) for paper in papers}
        if len(kinds) == 1 and query in texts:
            is_note = kinds.pop()
            source = source_name("index", "default") if is_note else source_name("documents", "papers")
            gains = {id_of(source, paper if is_note else f"{paper}.md"): 1.0 for paper in papers}
            yield Judged(texts[query], "index" if is_note else "documents", gains)


def _site_queries(file: Path) -> Iterator[Judged]:
    queries = json.loads(file.with_name(file.name.replace(".index.", ".queries.")).read_text(encoding="utf-8"))
    source = source_name("site", site_name(file))
    for query in queries:
        yield Judged(query["q"], "site", {id_of(source, query["want"].lstrip("/")): 1.0})


def _proposal_queries(archive: Path) -> Iterator[Judged]:
    """Yield the title and five words of the text of each proposal; its file name is the relevant id."""
    chance = random.Random(12)  # noqa: S311 - no secret
    for file in sorted(archive.glob("*.rst")):
        text = file.read_text(encoding="utf-8", errors="replace")
        title = _TITLE.search(text)
        words = sorted(set(_WORD.findall(text.lower()[2000:6000])))
        gains = {file.name: 1.0}
        if title and len(words) > 40:
            yield Judged(title[1].strip(), "archive", gains)
            yield Judged(" ".join(chance.sample(words, 5)), "archive", gains)


def _read_rows(file: Path) -> Iterator[dict[str, Any]]:
    with file.open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
