"""`python -m bench.archives CORPORA`: measure indexing and search of archives, and check citations against a list."""

import argparse
import contextlib
import json
import math
import os
import random
import re
import statistics
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from bench import meter, program
from bench.report import Row, Table
from dowse.archives.archive_database import ArchiveDatabase, open_database
from dowse.archives.archive_index import ArchiveIndex
from dowse.archives.archive_locations import Archive
from dowse.archives.archive_replies import search_reply
from dowse.archives.archive_search import search_archives
from dowse.reading.file_reading import DOCUMENT_EXTENSIONS
from dowse.store.storage_layout import folder_size

MARKER = "bench archives"
DOCUMENTS = 10_000
SEARCHES = 300
MAX_BYTES = 1_000_000
EDGES = Path("citations") / "peps-edges.tsv"
_SLUG = re.compile(r"^slug: *(\S+)", re.MULTILINE)
_TITLE = re.compile(r"^title: *(.+)", re.MULTILINE)
_PEP_TITLE = re.compile(r"^Title: *(.*\S)", re.MULTILINE)
MIN_WORDS = 40
"""Words that a PEP needs in its first pages to be asked for."""


def main() -> int:
    """Measure and print the tables."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.archives", description=__doc__)
    parser.add_argument("corpora", type=Path, metavar="CORPORA", help="a folder whose folders have documents")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--searches", type=int, default=SEARCHES)
    parser.add_argument("--peps", type=Path, metavar="DIR", help="the sources of the PEPs (default: found in CORPORA)")
    parser.add_argument("--eval", type=Path, metavar="DIR", help=f"a folder with {EDGES}")
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, work: Path) -> list[Table]:
    os.environ["DOWSE_HOME"] = str(work / "storage")
    found = _speed(options, work / "speed"), _extraction(options, work / "peps"), _quality(work / "peps")
    return [table for table in found if table]


def _speed(options: argparse.Namespace, work: Path) -> Table:
    count = _make_archives(options.corpora, options.documents, work)
    first = _index(work)
    again = _index(work)
    _log(f"{count:,} documents are indexed in {first.seconds:.1f} s")
    database = open_database(work / "data" / "search.db")
    began = time.perf_counter()
    indexes = {archive: ArchiveIndex(folder) for archive, folder in database.locations().present.items()}
    search_archives(indexes, "wram up teh search", 10)
    warm = time.perf_counter() - began
    queries = _queries(database, options.searches)
    used = time.process_time()
    times = sorted(_time_search(database, indexes, query) for query in queries)
    used = (time.process_time() - used) * 1000 / len(times)
    own, _ = meter.memory(os.getpid())
    ((citations,),) = database.rows("SELECT COUNT(*) FROM citations WHERE target IS NOT NULL AND is_citation")
    database.close()
    sizes = [folder_size(folder) / 1e6 for folder in (work / "data", work.parent / "storage" / "archives")]
    rows: list[Row] = [
        ("", "measured", "to reach"),
        ("documents", f"{count:,}", ""),
        ("citations between them", f"{citations:,}", ""),
        ("`dowse archive index`, documents/s", f"{count / first.seconds:,.0f}", "≥ 200"),
        ("the same, of processor time", f"{count / (first.cpu_seconds or first.seconds):,.0f}", ""),
        ("a run without a change", f"{again.seconds:.2f} s", "≤ 3 s"),
        ("peak memory while indexing, not file-backed", f"{(first.own_bytes or 0) / 1e6:.0f} MB", "≤ 200 MB"),
        (f"search, citations to depth 3, median of {len(times)}", f"{statistics.median(times):.1f} ms", "≤ 30 ms"),
        ("the same, 99th percentile", f"{times[int(len(times) * 0.99)]:.1f} ms", ""),
        ("the same, processor time of one, mean", f"{used:.1f} ms", ""),
        ("the first search of a process", f"{warm * 1000:.0f} ms", ""),
        ("memory of who searches", f"{own / 1e6:.0f} MB", "≤ 200 MB"),
        ("database, indexes", f"{sizes[0]:.0f} MB, {sizes[1]:.0f} MB", ""),
    ]
    return Table(f"Archives of {count:,} documents", rows)


def _make_archives(folder: Path, count: int, work: Path) -> int:
    """Copy documents evenly from all corpora into archives; those with a slug become captured pages."""
    found = sorted(
        file
        for file in folder.rglob("*")
        if file.suffix in DOCUMENT_EXTENSIONS
        and ".git" not in file.parts
        and file.is_file()
        and file.stat().st_size < MAX_BYTES
    )
    count = min(count, len(found))
    chosen = [found[at * len(found) // count] for at in range(count)]
    for number, file in enumerate(chosen):
        data = file.read_bytes()
        slug, title = (pattern.search(data[:2000].decode("utf-8", "replace")) for pattern in (_SLUG, _TITLE))
        if slug and title and file.suffix == ".md":
            capture = work / "url-content-archive" / f"{number:06x}"
            capture.mkdir(parents=True)
            (capture / "content.md").write_bytes(data)
            facts = {"url": f"https://example.org/en-US/docs/{slug[1]}", "title": title[1].strip("\"'")}
            (capture / "metadata.json").write_text(json.dumps({**facts, "capturedAt": "2025-05-20"}), encoding="utf-8")
        else:
            copy = work / "research-archive" / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(data)
    return len(chosen)


def _index(work: Path) -> meter.Run:
    environment = {key: value for key, value in os.environ.items() if not key.endswith(("_ARCHIVE_PATH", "_DB_PATH"))}
    return meter.measure_command([sys.executable, "-m", "dowse", "archive", "index"], environment, work)


def _queries(database: ArchiveDatabase, count: int) -> list[str]:
    """Return titles, titles with a typo, and words of texts, a third each; the same in every run."""
    chance = random.Random(7)  # noqa: S311 - no secret
    documents = [document for document in database.documents().values() if re.search(r"[a-z]{4}", document.title)]
    queries = list[str]()
    for number, document in enumerate(chance.sample(documents, min(count, len(documents)))):
        words = re.findall(r"[A-Za-z]{4,}", database.text(document.number) if number % 3 == 2 else document.title)
        if number % 3 == 2:
            queries.append(" ".join(chance.sample(words, min(3, len(words)))))
        else:
            queries.append(document.title if number % 3 == 0 else _with_typo(document.title, chance))
    return queries


def _with_typo(title: str, chance: random.Random) -> str:
    at = chance.randrange(1, max(2, len(title) - 1))
    return title[:at] + title[at + 1 :] if chance.random() < 0.5 else title[: at - 1] + title[at : at + 1] + title[at - 1 : at] + title[at + 1 :]  # fmt: skip


def _time_search(database: ArchiveDatabase, indexes: Mapping[Archive, ArchiveIndex], query: str) -> float:
    """Return the milliseconds of one search with snippets, citations and the citation graph."""
    began = time.perf_counter()
    hits = search_archives(indexes, query, 10)
    search_reply(database, hits, {"includeCitations": True, "citationDepth": 3})
    return (time.perf_counter() - began) * 1000


def _extraction(options: argparse.Namespace, work: Path) -> Table | None:
    """Compare the references between PEPs, by role and header, with the list."""
    listed = options.eval / EDGES if options.eval else None
    peps = options.peps or next(iter(sorted(file.parent for file in options.corpora.rglob("pep-0001.rst"))), None)
    if not listed or not listed.is_file() or not peps:
        _log(f"Citations are not checked: that needs --eval with {EDGES} and the sources of the PEPs.")
        return None
    for file in sorted(peps.glob("pep-*.rst")):
        copy = work / "research-archive" / file.name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
    _index(work)
    database = open_database(work / "data" / "search.db")
    rows = database.rows(
        "SELECT DISTINCT s.path, t.path FROM citations JOIN documents s ON s.number = citations.source "
        "JOIN documents t ON t.number = citations.target WHERE is_citation AND kind IN ('role', 'header')"
    )
    database.close()
    found = {(Path(source).stem, Path(target).stem) for source, target in rows}
    peps_present = {file.stem for file in peps.glob("pep-*.rst")}
    pairs = {tuple(line.split("\t")[:2]) for line in listed.read_text(encoding="utf-8").splitlines() if line}
    wanted = {pair for pair in pairs if pair[0] in peps_present and pair[1] in peps_present}
    right = len(found & wanted)
    return Table(
        f"References between {len(peps_present):,} PEPs",
        [
            ("", "measured", "to reach"),
            ("in the list", f"{len(wanted):,}", ""),
            ("found", f"{len(found):,}", ""),
            ("recall", f"{right / len(wanted):.4f}", "≥ 0.98"),
            ("precision", f"{right / max(1, len(found)):.4f}", "≥ 0.98"),
        ],
    )


def _quality(work: Path) -> Table | None:
    """Ask for PEPs by their titles and words; the same in every run."""
    files = sorted((work / "research-archive").glob("*.rst"))
    if not files:
        return None
    chance, asked = random.Random(12), dict[str, list[tuple[str, str]]]()  # noqa: S311 - no secret
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        body, title = text[2000:6000], _PEP_TITLE.search(text)
        words = sorted(set(re.findall(r"[a-z]{4,}", body.lower())))
        if title and len(words) > MIN_WORDS:
            queries = {
                "the title": title[1], "the title with a typo": _with_typo(title[1], chance),
                "five random words": " ".join(chance.sample(words, 5)),
                "three random words": " ".join(chance.sample(words, 3)),
            }  # fmt: skip
            for kind, query in queries.items():
                asked.setdefault(kind, []).append((query, file.name))
    rows: list[Row] = [("query", "queries", "nDCG@10")]
    with contextlib.closing(ArchiveIndex(work / "research-archive")) as index:
        for kind, judged in asked.items():
            values = [_value(index, query, name) for query, name in judged]
            rows.append((kind, f"{len(values):,}", f"{statistics.mean(values):.3f}"))
    return Table(f"Search among {len(files):,} PEPs", rows)


def _value(index: ArchiveIndex, query: str, wanted: str) -> float:
    hits = [hit.document.archive_path for hit in search_archives({"research": index}, query, 10)]
    return 1 / math.log2(2 + hits.index(wanted)) if wanted in hits else 0.0


def _log(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
