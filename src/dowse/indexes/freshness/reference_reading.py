"""Reading of the references of indexed documents, by the parser processes."""

from collections.abc import Callable, Iterable, Iterator

from dowse.sources.project_files import ProjectFiles
from dowse.types import StoredDocument, Verdict

_Referenced = tuple[StoredDocument, bytes | None]


def reference_reader(
    source: Callable[[], ProjectFiles],
) -> Callable[[Iterable[StoredDocument]], Iterator[_Referenced]]:
    """Return a function that reads the references of documents; those of a changed file are None until it is indexed."""

    def read(documents: Iterable[StoredDocument]) -> Iterator[_Referenced]:
        from dowse.parsing.parser_pool import read_ahead, shared_pool  # a search does not need them

        files, wanted = source(), list(documents)
        shared_pool().expect(sum(document.kind == "code" for document in wanted))
        return read_ahead(_start(files, document) for document in wanted)

    return read


def _start(source: ProjectFiles, document: StoredDocument) -> tuple[Callable[[], _Referenced], int]:
    if document.kind != "code":
        return (lambda: (document, b"")), 0
    read = source.read_path(document.path)
    contents = [] if isinstance(read, Verdict) else [one for one in read if one.views & document.views]
    if not contents or contents[0].content_hash != document.content_hash:
        return (lambda: (document, None)), 0
    from dowse.parsing.document_parsing import start_parsing  # imports readers, which a search does not need

    wait = start_parsing(source, contents[0], is_cut=False, has_references=True)

    def finish() -> _Referenced:
        parsed = wait()
        return document, None if isinstance(parsed, Verdict) else parsed.references

    return finish, len(contents[0].data)
