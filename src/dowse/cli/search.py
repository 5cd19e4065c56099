"""`dowse search`: ranked hits with the lines that matter, or every occurrence of a text."""

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from dowse.cli.output import counted, json_option, named_folder, progress_bar, show_json, show_warnings, styled

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dowse.searching.answering import Answer, Hit
    from dowse.searching.exact import Occurrences
    from dowse.searching.passages import Passage
    from dowse.serving.asking import Coverage

MAX_PAGE = 1000


@click.command()
@click.argument("query")
@click.argument("folder", metavar="[DIR]", required=False)
@click.option("--limit", type=click.IntRange(1, MAX_PAGE), default=None, help="Hits to show (10; occurrences: 100).")
@click.option("--path", "glob", metavar="GLOB", help="Only files whose path matches, such as 'src/**/*.py'.")
@click.option("--language", metavar="NAME", help="Only files in this language, such as python.")
@click.option("--code", "kind", flag_value="code", help="Only code.")
@click.option("--docs", "kind", flag_value="docs", help="Only documentation.")
@click.option("--budget", metavar="TOKENS", type=click.IntRange(1), default=20_000, help="Show no more than this.")
@click.option("--exact", is_flag=True, help="Every occurrence of QUERY, letter by letter.")
@click.option("--regex", "is_pattern", is_flag=True, help="Every match of the regular expression QUERY.")
@click.option("--offset", type=click.IntRange(0), default=0, help="Skip so many occurrences (--exact, --regex).")
@click.option("--seconds", type=click.FloatRange(0.1, 600), default=10.0, help="Time limit (--exact, --regex).")
@click.option("--wait", is_flag=True, help="Index everything before answering.")
@json_option
def search(query: str, folder: str | None, *, exact: bool, is_pattern: bool, as_json: bool, **how: Any) -> int:
    """Search DIR, or the project around the working directory, for QUERY.

    Words, names, questions; +word must be there, -word must not, "these words" stand together.
    A project without an index is indexed: the first hits come while that goes on, and the answer
    says how much was searched. Exit code 1 when nothing is found.
    """
    from dowse.serving.asking import Options, find_all
    from dowse.serving.asking import search as ask
    from dowse.serving.project import open_or_find

    if exact and is_pattern:
        raise click.UsageError("--exact and --regex exclude each other")
    project = open_or_find(named_folder(folder))
    show_warnings(project.warnings)
    limit = how["limit"] or (100 if exact or is_pattern else 10)
    options = Options(limit, how["kind"], how["glob"], how["language"], how["budget"])
    with progress_bar(f"Indexing {project.root.name}") as progress:
        if exact or is_pattern:
            page = {"offset": how["offset"], "seconds": how["seconds"]}
            found, coverage = find_all(project, query, options, is_pattern=is_pattern, progress=progress, **page)
        else:
            answer, coverage = ask(project, query, options, waits=how["wait"], progress=progress)
    project.close()
    if exact or is_pattern:
        return _show_occurrences(found, coverage, as_json=as_json)
    return _show_answer(answer, coverage, as_json=as_json)


def _show_answer(answer: "Answer", coverage: "Coverage", *, as_json: bool) -> int:
    if as_json:
        show_json(
            {
                "query_parsed": answer.query.as_json(),
                "results": [_hit_as_json(hit) for hit in answer.hits],
                "totalResults": len(answer.hits),
                "corrected": dict(answer.corrected),
                "cut": answer.is_cut,
                "outdated": list(answer.outdated),
                "coverage": {**asdict(coverage), "is_complete": coverage.is_complete},
                "searchTimeMs": round(answer.seconds * 1000, 1),
            }
        )
    else:
        for hit in answer.hits:
            _show_hit(hit, answer.terms)
        _say(_notes(answer, coverage))
    return 0 if answer.hits else 1


def _notes(answer: "Answer", coverage: "Coverage") -> list[str]:
    notes = []
    if not answer.hits:
        notes.append("nothing found")
    if answer.corrected:
        notes.append("taken for: " + ", ".join(f"{known} for {asked}" for asked, known in answer.corrected.items()))
    if answer.is_cut:
        notes.append("the budget is spent; see more with --budget")
    if answer.outdated:
        notes.append(f"left out, changed while we looked: {', '.join(answer.outdated[:5])}")
    return [*notes, *_coverage_notes(coverage)]


def _coverage_notes(coverage: "Coverage") -> list[str]:
    if coverage.is_indexing:
        of = f" of {coverage.expected:,}" if coverage.expected else ""
        return [f"searched {coverage.files:,}{of} files; indexing goes on in the background (--wait waits for it)"]
    if coverage.pending:
        return [f"{counted(coverage.pending, 'file')} changed and are being indexed in the background"]
    return []


def _show_hit(hit: "Hit", terms: "Mapping[str, float]") -> None:
    first = hit.passages[0] if hit.passages else None
    names = ".".join((*first.headings, *first.symbols[:1])) if first else ""
    lines = f":{first.start_line}-{first.end_line}" if first else ""
    click.echo(f"{styled(hit.path + lines, bold=True)}  {names}  ({hit.relevance:.2f})".replace("    ", "  "))
    for number, passage in enumerate(hit.passages):
        if number:
            click.echo("      …")
        _show_passage(passage, terms)
    click.echo()


def _show_passage(passage: "Passage", terms: "Mapping[str, float]") -> None:
    from dowse.searching.passages import matches_in

    for number, line in enumerate(passage.text.splitlines(), passage.start_line):
        click.echo(f"{number:>6}  {_marked(line[:300], matches_in(line[:300], terms))}")


def _marked(line: str, spans: list[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [styled(line[at:start]), styled(line[start:end], fg="red", bold=True)]
        at = end
    return "".join([*pieces, styled(line[at:])])


def _hit_as_json(hit: "Hit") -> dict[str, Any]:
    return {
        "path": hit.path,
        "score": hit.relevance,
        "startLine": hit.passages[0].start_line if hit.passages else 1,
        "endLine": hit.passages[0].end_line if hit.passages else 1,
        "language": hit.language,
        "kind": hit.kind,
        "title": hit.title,
        "passages": [asdict(passage) for passage in hit.passages],
    }


def _show_occurrences(found: "Occurrences", coverage: "Coverage", *, as_json: bool) -> int:
    more = found.offset + len(found.found) < found.total
    if as_json:
        show_json(
            {
                "occurrences": [asdict(one) for one in found.found],
                "total": found.total,
                "files": found.files,
                "complete": found.is_complete,
                "nextOffset": found.offset + len(found.found) if more else None,
                "coverage": {**asdict(coverage), "is_complete": coverage.is_complete},
                "searchTimeMs": round(found.seconds * 1000, 1),
            }
        )
    else:
        for one in found.found:
            click.echo(f"{styled(one.path)}:{one.line}:{one.column}: {styled(one.text)}")
        complete = "yes" if found.is_complete else "no"
        summary = f"{counted(found.total, 'occurrence')} in {counted(found.files, 'file')}, complete: {complete}"
        notes = [f"more with --offset {found.offset + len(found.found)}"] if more else []
        _say([summary, *notes, *_coverage_notes(coverage)])
    return 0 if found.total else 1


def _say(notes: list[str]) -> None:
    sys.stdout.flush()
    for note in notes:
        click.echo(note, err=True)
