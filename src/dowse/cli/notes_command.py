"""`dowse notes`: named indexes on the disk, which an assistant fills and searches too."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import json_option, named_path
from dowse.cli.output import CommandReply, SafeText, counted, progress_bar, say, show, show_text, show_warnings, shown
from dowse.errors import NotFound, UsageError
from dowse.indexes.index_status import as_size
from dowse.notes.limits import DEFAULT_K, MAX_K, MAX_OFFSET, MIN_LENGTH

if TYPE_CHECKING:
    from dowse.notes.notes_documents import NewNote
    from dowse.notes.registry import NotesRegistry

BATCH = 5000
"""Documents that an import adds in one transaction: half a second of work, and little to do again after Ctrl-C."""


@click.group()
def notes() -> None:
    """Named indexes on the disk: what you or an assistant wrote down, searched by its words.

    An assistant reaches them as search_index, search_add_document and search_create_index. Documents go in and out
    as JSON Lines: {"doc_id": ..., "content": ..., "metadata": {...}}. Every command takes --json.
    """


@notes.command()
@click.argument("name")
@click.option("--min-length", type=int, default=MIN_LENGTH, show_default=True, help="Characters of the shortest token.")
@click.option("--keep-case", is_flag=True, help="Tell `Word` from `word`.")
@json_option
def create(name: str, *, min_length: int, keep_case: bool, as_json: bool) -> int | CommandReply:
    """Create the index NAME (letters, digits, - and _)."""
    with _library() as library:
        library.create(name, "disk", {"lowercase": not keep_case, "min_length": min_length})
    if as_json:
        return CommandReply({"status": "created", "index_name": name, "backend": "disk"})
    show(f"Created {name}.")
    return 0


@notes.command()
@click.argument("name")
@click.argument("doc_id")
@click.argument("text", required=False)
@click.option("--file", "file", metavar="FILE", help="Take the text from FILE; - is stdin, as without TEXT.")
@click.option("--metadata", metavar="JSON", help='An object, such as {"author": "Smith"}.')
@json_option
def add(
    name: str, doc_id: str, text: str | None, *, file: str | None, metadata: str | None, as_json: bool
) -> int | CommandReply:
    """Add TEXT to the index NAME as the document DOC_ID, or replace the one of this id."""
    from dowse.notes.notes_documents import note

    if text is not None and file is not None:
        raise UsageError("Give TEXT or --file, not both.")
    content = text if text is not None else _text_of(file or "-")
    one = note(doc_id, content, _object("--metadata", metadata))
    with _library() as library:
        (added,) = library.use(name, lambda index: index.add([one]))
        library.use(name, lambda index: index.tidy())
    if as_json:
        return CommandReply(added.as_json())
    show(f"{added.doc_id}: {added.status}, {counted(added.token_count, 'token')}")
    return 0


@notes.command()
@click.argument("name")
@click.argument("query")
@click.option("-k", type=click.IntRange(1, MAX_K), default=DEFAULT_K, show_default=True, help="Results at most.")
@click.option("--offset", type=click.IntRange(0, MAX_OFFSET), default=0, help="Skip this many results.")
@click.option("--filter", "filter_", metavar="JSON", help='On metadata, such as {"year": {"gte": 2020}}.')
@json_option
def search(name: str, query: str, *, k: int, offset: int, filter_: str | None, as_json: bool) -> int | CommandReply:
    """Search the index NAME: words, +must, -not, "a phrase". Exit code 1 when nothing is found."""
    from dowse.notes.filters import filter_of

    conditions = filter_of(_object("--filter", filter_))
    with _library() as library:
        answer = library.use(name, lambda index: index.search(query, k, offset, conditions))
    if answer.ignored:
        show_warnings([f"the index keeps no token of these words: {', '.join(answer.ignored[:10])}"])
    exit_code = 0 if answer.results else 1
    if as_json:
        results = [result.as_json() for result in answer.results]
        reply: dict[str, Any] = {"results": results, "total_matches": answer.total}
        return CommandReply({**reply, "query_parsed": answer.query.as_json()} if query.strip() else reply, exit_code)
    for result in answer.results:
        metadata = json.dumps(result.metadata, ensure_ascii=False) if result.metadata else ""
        show(shown(result.doc_id, bold=True), f"  ({result.score:.3f})  {metadata}".rstrip())
        for highlight in result.highlights:
            show(f"    {' '.join(highlight.split())}")
    last = offset + len(answer.results)
    more = f"; more with --offset {last}" if answer.results and answer.total > last else ""
    say(f"{answer.total:,} match{'' if answer.total == 1 else 'es'}{more}")
    return exit_code


@notes.command("list")
@json_option
def list_(*, as_json: bool) -> int | CommandReply:
    """List every index on the disk."""
    with _library() as library:
        found, problems = library.list()
    found = [info for info in found if info.backend == "disk"]
    show_warnings(problems)
    if as_json:
        return CommandReply({"indexes": [info.as_json() for info in found], "total_indexes": len(found)})
    for info in found:
        counts = f"{counted(info.documents, 'document')}, {counted(info.tokens, 'token')}, {as_size(info.size_bytes)}"
        show(f"{info.name}  {counts}")
    if not found:
        say("There is no index. Start with: dowse notes create NAME")
    return 0


@notes.command("show")
@click.argument("name")
@click.argument("doc_id", required=False)
@json_option
def show_(name: str, doc_id: str | None, *, as_json: bool) -> int | CommandReply:
    """Show the document DOC_ID of the index NAME; without DOC_ID the index itself."""
    with _library() as library:
        if doc_id is None:
            info = library.use(name, lambda index: index.info()).as_json()
            if as_json:
                return CommandReply(info)
            for key, value in info.items():
                show(f"{key}: {json.dumps(value) if isinstance(value, dict) else value}")
            return 0
        found = library.use(name, lambda index: index.document(doc_id))
    if as_json:
        told = {"doc_id": found.doc_id, "content": found.content, "metadata": found.metadata}
        return CommandReply({**told, "token_count": found.token_count})
    for line in found.content.splitlines():
        show(shown(line, keeps_tabs=True))
    if found.metadata:
        say(f"metadata: {json.dumps(found.metadata, ensure_ascii=False)}")
    return 0


@notes.command()
@click.argument("name")
@click.argument("doc_ids", metavar="[DOC_ID]...", nargs=-1)
@click.option("--yes", is_flag=True, help="Delete a whole index without asking.")
@json_option
def remove(name: str, doc_ids: tuple[str, ...], *, yes: bool, as_json: bool) -> int | CommandReply:
    """Delete documents of the index NAME; without DOC_ID the whole index, after a question."""
    with _library() as library:
        if doc_ids:
            for doc_id in doc_ids:  # none is deleted when one is misspelled
                library.use(name, lambda index, doc_id=doc_id: index.document(doc_id))  # type: ignore[misc]
            for doc_id in doc_ids:
                library.use(name, lambda index, doc_id=doc_id: index.delete(doc_id))  # type: ignore[misc]
            library.use(name, lambda index: index.tidy())
            if as_json:
                return CommandReply({"status": "deleted", "index_name": name, "doc_ids": list(doc_ids)})
            show(f"Deleted {counted(len(doc_ids), 'document')} of {name}.")
            return 0
        documents = library.use(name, lambda index: index.info().documents)
        if not yes and not _is_agreed(name, documents):
            say("Cancelled; nothing was deleted.")
            return CommandReply({"status": "cancelled", "index_name": name}, 1) if as_json else 1
        library.delete(name)
    if as_json:
        return CommandReply({"status": "deleted", "index_name": name, "documents": documents})
    show(f"Deleted {name} and its {counted(documents, 'document')}.")
    return 0


@notes.command()
@click.argument("name")
@click.argument("file", required=False)
@json_option
def export(name: str, file: str | None, *, as_json: bool) -> int | CommandReply:
    """Write all documents of the index NAME to FILE, or to stdout, as JSON Lines, by id."""
    if as_json and file is None:
        raise UsageError("What is exported is JSON already; with --json name a FILE for it.")
    count = 0
    with _library() as library, _output(file) as write:

        def export_all(index: Any) -> None:
            nonlocal count
            for found in index.every_document():
                one = {"doc_id": found.doc_id, "content": found.content, "metadata": found.metadata}
                write(json.dumps(one, ensure_ascii=True))
                count += 1

        library.use(name, export_all)
    if as_json:
        return CommandReply({"status": "exported", "index_name": name, "documents": count})
    say(f"Exported {counted(count, 'document')} of {name}.")
    return 0


@notes.command("import")
@click.argument("name")
@click.argument("file", required=False)
@click.option("--create", "creates", is_flag=True, help="Create the index if there is none of this name.")
@json_option
def import_(name: str, file: str | None, *, creates: bool, as_json: bool) -> int | CommandReply:
    """Add the documents in FILE, or on stdin, to the index NAME: JSON Lines. A line that cannot be read stops it first."""
    found = _read_lines(file)
    counts = {"indexed": 0, "re-indexed": 0}
    with _library() as library:
        if creates:
            try:
                library.use(name, lambda index: index.info())
            except NotFound:
                library.create(name, "disk")
        with progress_bar(f"Importing into {name}", is_expected=len(found) > BATCH) as progress:
            for start in range(0, max(1, len(found)), BATCH):
                some = found[start : start + BATCH]
                for added in library.use(name, lambda index, some=some: index.add(some)):  # type: ignore[misc]
                    counts[added.status] += 1
                library.use(name, lambda index: index.tidy())
                progress(start + len(some), len(found))
    if as_json:
        return CommandReply(
            {"status": "imported", "index_name": name, "added": counts["indexed"], "replaced": counts["re-indexed"]}
        )
    show(f"{name}: {counts['indexed']:,} added, {counts['re-indexed']:,} replaced")
    return 0


@contextmanager
def _library() -> "Iterator[NotesRegistry]":
    from dowse.notes.registry import NotesRegistry

    library = NotesRegistry(has_memory=False)
    try:
        yield library
    except NotFound as error:
        if not str(error).startswith("Index"):
            raise
        raise NotFound(f"{error}. Those there are: dowse notes list; a new one: dowse notes create NAME") from error
    finally:
        library.close()


def _text_of(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == "-" else named_path(file).read_bytes()
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}.") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{'stdin' if file == '-' else file} is not text in UTF-8 ({error.reason} at byte {error.start})."
        ) from error


def _object(option: str, text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{option} is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UsageError(f"{option} has to be an object, such as {{}}.")
    return value


def _read_lines(file: str | None) -> "list[NewNote]":
    """All documents, checked, before the first is added."""
    from dowse.notes.notes_documents import note_of

    notes, problems = [], []
    for number, line in enumerate(_text_of(file or "-").split("\n"), 1):
        if not line.strip():
            continue
        try:
            notes.append(note_of(json.loads(line)))
        except (UsageError, ValueError, RecursionError) as error:
            problems.append(f"line {number}: {error}")
    if problems:
        more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
        raise UsageError(f"Nothing was added: {'; '.join(problems[:5])}{more}")
    return notes


@contextmanager
def _output(file: str | None) -> Iterator[Any]:
    if file is None or file == "-":
        yield lambda line: show_text(SafeText(line))
        return
    path: Path = named_path(file)
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("w", encoding="utf-8") as stream:
            yield lambda line: _write_line(stream, line)
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _write_line(stream: IO[str], line: str) -> None:
    stream.write(line + "\n")


def _is_agreed(name: str, documents: int) -> bool:
    if not sys.stdin.isatty():
        raise UsageError(f"To delete {name} and its {counted(documents, 'document')}, say --yes.")
    click.echo(f"Delete {name} and its {counted(documents, 'document')}? [y/N]: ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
