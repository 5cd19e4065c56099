"""`dowse notes`: named indexes on disk, shared with assistants."""

import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from dowse.cli.common_arguments import FILE_TEXT, count_option, json_option, parse_path, prints_json, value_option
from dowse.cli.output import CommandReply, SafeText, confirm, escape, progress_bar, show, show_warnings
from dowse.errors import Failed, NotFound, UsageError
from dowse.indexes.index_status import format_size
from dowse.notes.limits import DEFAULT_K, DEFAULT_MIN_LENGTH, MAX_CONTENT_BYTES, MAX_K, MAX_OFFSET
from dowse.visible_text import pluralize

if TYPE_CHECKING:
    from dowse.notes.notes_documents import NewNote
    from dowse.notes.registry import NotesRegistry

BATCH_DOCUMENTS = 5000
"""Documents per transaction of an import: half a second of work, so Ctrl-C loses little."""


@click.group()
def notes() -> None:
    """Manage and search named indexes of notes.

    The indexes are on disk and shared with assistants, which use them with the tools search_index,
    search_add_document and search_create_index. The commands export and import use JSON Lines, one
    document per line: {"doc_id": ..., "content": ..., "metadata": {...}}. Every command takes --json.
    """


@notes.command()
@click.argument("name")
@value_option("--min-length", int, DEFAULT_MIN_LENGTH, "Minimum characters of a token.")
@click.option("--keep-case", is_flag=True, help="Distinguish upper and lower case.")
@json_option
def create(name: str, *, min_length: int, keep_case: bool) -> CommandReply:
    """Create the index NAME.

    A name consists of letters, digits, - and _.
    """
    with _open_registry() as registry:
        registry.create(name, "disk", {"lowercase": not keep_case, "min_length": min_length})
    return CommandReply({"status": "created", "index_name": name, "backend": "disk"}, [f"Created {name}."])


def _parse_metadata(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--metadata is not JSON: {error}.") from error
    if not isinstance(value, dict):
        raise UsageError("--metadata has to be an object, such as {}.")
    return value


@notes.command()
@click.argument("name")
@click.argument("doc_id")
@click.argument("text", required=False)
@click.option("--metadata", metavar="JSON", type=_parse_metadata, help='A JSON object, such as {"author": "Smith"}.')
@json_option
def add(name: str, doc_id: str, text: str | None, *, metadata: dict[str, Any] | None) -> CommandReply:
    """Add a document to the index NAME, or replace it.

    The document DOC_ID gets the content TEXT. Without TEXT, it is read from stdin.
    """
    from dowse.notes.notes_documents import make_note

    note = make_note(doc_id, _read_stdin() if text is None else text, metadata)
    with _open_registry() as registry:
        (added,) = registry.use(name, lambda index: index.add([note]))
    line = f"{added.doc_id}: {added.status}, {pluralize(added.token_count, 'token')}"
    return CommandReply(asdict(added), [line])


@notes.command()
@click.argument("name")
@click.argument("query")
@count_option("-k", MAX_K, DEFAULT_K, "Maximum number of results.")
@click.option("--offset", type=click.IntRange(0, MAX_OFFSET), default=0, help="Skip this many results.")
@json_option
def search(name: str, query: str, *, k: int, offset: int) -> CommandReply:
    """Search the index NAME for QUERY.

    QUERY is words: +word is required, -word is excluded, "some words" is a phrase.

    Exit code 1: nothing was found.
    """
    from dowse.surfaces.notes.notes_surface import search_reply

    with _open_registry() as registry:
        reply = registry.use(name, lambda index: search_reply(index, query, k, offset, sys.maxsize))
    show_warnings([warning[0].lower() + warning[1:] for warning in reply.get("warnings", ())])
    lines: list[str | tuple[str, ...]] = []
    for result in reply["results"]:
        metadata = json.dumps(result["metadata"], ensure_ascii=False) if result["metadata"] else ""
        lines.append((escape(result["doc_id"], bold=True), f"  ({result['score']:.3f})  {metadata}".rstrip()))
        lines += [f"    {' '.join(highlight.split())}" for highlight in result["highlights"]]
    more = f"; more with --offset {reply['next_offset']}" if "next_offset" in reply else ""
    total = reply["total_matches"]
    count = f"{total:,} match{'' if total == 1 else 'es'}{more}"
    return CommandReply(reply, lines, [count], 0 if reply["results"] else 1)


@notes.command("list")
@json_option
def list_() -> CommandReply:
    """List all named indexes on disk."""
    from dowse.surfaces.notes.notes_surface import list_reply

    with _open_registry() as registry:
        found, problems = registry.list()
    found = [info for info in found if info.backend == "disk"]
    show_warnings(problems)
    lines = []
    for info in found:
        counts = f"{pluralize(info.documents, 'document')}, {pluralize(info.tokens, 'token')}"
        lines.append(f"{info.index_name}  {counts}, {format_size(info.size_bytes)}")
    notes = [] if found else ["There is no named index. Create one with: dowse notes create NAME"]
    return CommandReply(list_reply(found, problems, sys.maxsize), lines, notes)


@notes.command("show")
@click.argument("name")
@click.argument("doc_id", required=False)
@json_option
def show_(name: str, doc_id: str | None) -> CommandReply:
    """Show the index NAME, or its document DOC_ID."""
    from dowse.surfaces.notes.notes_surface import document_reply

    with _open_registry() as registry:
        if doc_id is None:
            info = asdict(registry.use(name, lambda index: index.info()))
            shown = {key: json.dumps(value) if isinstance(value, dict) else value for key, value in info.items()}
            return CommandReply(info, [f"{key}: {value}" for key, value in shown.items()])
        found = registry.use(name, lambda index: index.document(doc_id))
    lines = [escape(line, keeps_tabs=True) for line in found.content.splitlines()]
    metadata = [f"metadata: {json.dumps(found.metadata, ensure_ascii=False)}"] if found.metadata else []
    return CommandReply(document_reply(found, 0, sys.maxsize), lines, metadata)


@notes.command()
@click.argument("name")
@click.argument("doc_ids", metavar="[DOC_ID]...", nargs=-1)
@click.option("--yes", is_flag=True, help="Delete the index without asking.")
@json_option
def remove(name: str, doc_ids: tuple[str, ...], *, yes: bool) -> CommandReply:
    """Delete the index NAME, or only the documents DOC_ID.

    Deleting an index asks for confirmation.
    """
    with _open_registry() as registry:
        if doc_ids:
            for doc_id in doc_ids:  # if one does not exist, none is deleted
                registry.use(name, lambda index, doc_id=doc_id: index.document(doc_id))  # type: ignore[misc]
            for doc_id in doc_ids:
                registry.use(name, lambda index, doc_id=doc_id: index.delete(doc_id))  # type: ignore[misc]
            reply = {"status": "deleted", "index_name": name, "doc_ids": list(doc_ids)}
            return CommandReply(reply, [f"Deleted {pluralize(len(doc_ids), 'document')} of {name}."])
        documents = registry.use(name, lambda index: index.info().documents)
        what = f"{name} and its {pluralize(documents, 'document')}"
        if not yes and not sys.stdin.isatty():
            raise UsageError(f"To delete {what}, add --yes.")
        if not yes and not confirm(f"Delete {what}?"):
            reply = {"status": "cancelled", "index_name": name}
            return CommandReply(reply, notes=["Cancelled; nothing was deleted."], exit_code=1)
        registry.delete(name)
    return CommandReply({"status": "deleted", "index_name": name, "documents": documents}, [f"Deleted {what}."])


@notes.command()
@click.argument("name")
@click.argument("file", required=False, type=FILE_TEXT)
@json_option
def export(name: str, file: str | None) -> CommandReply:
    """Export all documents of the index NAME as JSON Lines.

    The documents are written to FILE or, without FILE, to stdout, in order of their ids.
    """
    if prints_json() and file is None:
        raise UsageError("The exported documents are already JSON; with --json, name a FILE for them.")
    count = 0
    with _open_registry() as registry, _open_output(file) as write:

        def export_all(index: Any) -> None:
            nonlocal count
            for note in index.every_document():
                value = {"doc_id": note.doc_id, "content": note.content, "metadata": note.metadata}
                write(json.dumps(value, ensure_ascii=True))
                count += 1

        registry.use(name, export_all)
    reply = {"status": "exported", "index_name": name, "documents": count}
    return CommandReply(reply, notes=[f"Exported {pluralize(count, 'document')} of {name}."])


@notes.command("import")
@click.argument("name")
@click.argument("file", required=False, type=FILE_TEXT)
@click.option("--create", "creates", is_flag=True, help="Create the index if it does not exist.")
@json_option
def import_(name: str, file: str | None, *, creates: bool) -> CommandReply:
    """Add the documents in FILE, as JSON Lines, to the index NAME.

    Without FILE, they are read from stdin. If a line is invalid, nothing is added.
    """
    counts = {"indexed": 0, "re-indexed": 0}
    with _copied(file or "-") as stream, _open_registry() as registry:
        total = _check_notes(stream)
        if creates:
            try:
                registry.use(name, lambda index: index.info())
            except NotFound:
                registry.create(name, "disk")
        registry.use(name, lambda index: index.info())
        found = _parse_notes(stream, [])
        with progress_bar(f"Importing into {name}") as progress:
            while batch := list(islice(found, BATCH_DOCUMENTS)):
                for one in registry.use(name, lambda index, batch=batch: index.add(batch)):  # type: ignore[misc]
                    counts[one.status] += 1
                progress(sum(counts.values()), total)
    added, replaced = counts["indexed"], counts["re-indexed"]
    reply = {"status": "imported", "index_name": name, "added": added, "replaced": replaced}
    return CommandReply(reply, [f"{name}: {added:,} added, {replaced:,} replaced"])


@contextlib.contextmanager
def _open_registry() -> "Iterator[NotesRegistry]":
    from dowse.notes.registry import NotesRegistry

    registry = NotesRegistry(has_memory=False)
    try:
        yield registry
    except NotFound as error:
        if not str(error).startswith("Index"):
            raise
        raise NotFound(f"{error}. See: dowse notes list. To create it: dowse notes create NAME") from error
    finally:
        registry.close()


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(MAX_CONTENT_BYTES + 1)
    if len(data) > MAX_CONTENT_BYTES:
        raise UsageError(f"stdin has more than {MAX_CONTENT_BYTES // 2**20} MiB. Split it into several documents.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"stdin is not text in UTF-8 ({error.reason} at byte {error.start}).") from error


@contextlib.contextmanager
def _copied(file: str) -> Iterator[IO[bytes]]:
    """Give a block a copy of a file, which is read twice: first all lines are checked, then they are added."""
    with tempfile.TemporaryFile() as copy:
        try:
            with contextlib.nullcontext(sys.stdin.buffer) if file == "-" else parse_path(file).open("rb") as stream:
                shutil.copyfileobj(stream, copy)
        except OSError as error:
            raise UsageError(f"{'stdin' if file == '-' else file} cannot be read: {error.strerror}.") from error
        yield copy


def _check_notes(stream: IO[bytes]) -> int:
    """Return the number of documents of a file. Raise a UsageError that lists the invalid lines."""
    problems: list[str] = []
    total = sum(1 for _ in _parse_notes(stream, problems))
    if problems:
        more = f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""
        raise UsageError(f"Nothing was added: {'; '.join(problems[:5])}{more}")
    return total


def _parse_notes(stream: IO[bytes], problems: list[str]) -> "Iterator[NewNote]":
    """Yield the documents of a file one by one; add the invalid lines to `problems`."""
    from dowse.notes.notes_documents import parse_note

    stream.seek(0)
    for number, line in enumerate(stream, 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            if text.strip():
                yield parse_note(json.loads(text))
        except (UsageError, ValueError, RecursionError) as error:
            problems.append(f"line {number}: {error}")


@contextlib.contextmanager
def _open_output(file: str | None) -> Iterator[Any]:
    if file is None or file == "-":
        yield lambda line: show(SafeText(line))
        return
    path: Path = parse_path(file)
    new = path.with_name(f".{path.name}.new")
    try:
        with new.open("w", encoding="utf-8") as stream:
            yield lambda line: stream.write(f"{line}\n")
        new.replace(path)
    except OSError as error:
        raise Failed(f"{file} cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            new.unlink()
