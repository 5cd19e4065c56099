"""The targets: every parser of untrusted bytes, with its samples and the errors that it is allowed to raise."""

import atexit
import contextlib
import gc
import io
import json
import os
import shutil
import signal
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from dowse.errors import DowseError, FormatNotReadable, InvalidMessage, TooManyRules
from tests.fuzzing import samples
from tests.fuzzing.mutation import MAX_BYTES, make_input
from tests.sample_data import index

Run = Callable[[bytes], object]
FOLDER = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where targets write the files that they then read."""


@dataclass(frozen=True)
class Target:
    """One parser."""

    run: Run
    make_samples: Callable[[], samples.Samples]
    tokens: samples.Samples = ()
    expected: tuple[type[BaseException], ...] = (DowseError,)
    max_bytes: int = MAX_BYTES
    share: float = 1.0
    """How many inputs it gets in a campaign over all targets; less where an input takes long."""

    @cached_property
    def samples(self) -> samples.Samples:
        """The inputs that are damaged."""
        return self.make_samples()

    def input(self, seed: object) -> bytes:
        """Return the damaged input of a seed."""
        return make_input(seed, self.samples, self.tokens, self.max_bytes)


@cache
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-scratch", dir=os.environ.get("FUZZ_SCRATCH", FOLDER)))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


# Queries, patterns and rules


def parse_queries(data: bytes) -> None:
    from dowse.notes.notes_tokens import NotesTokenizer, tokenize_query
    from dowse.searching.query_terms import parse_search_query
    from dowse.text.query_syntax import parse_query

    text = _text(data)
    query = parse_search_query(text)
    assert isinstance(query.positive + query.names, tuple)
    tokenize_query(parse_query(text), NotesTokenizer())


def match_globs(data: bytes) -> None:
    from dowse.globs import compile_glob, to_path_glob

    text = _text(data)
    for pattern in (text[:1000], to_path_glob(text)[:1000]):
        with contextlib.suppress(DowseError):
            expression = compile_glob.__wrapped__(pattern)
            for path in samples.PATHS:
                expression.fullmatch(path.decode())


def parse_ignore_rules(data: bytes) -> None:
    from dowse.sources.gitignore import parse_ignore_file
    from dowse.sources.repository import submodule_paths

    for folds_case in (False, True):
        rules = parse_ignore_file(data, folds_case=folds_case)
        for path in samples.PATHS:
            name = path.rpartition(b"/")[2]
            rules.deciding_rule(path, name, is_folder=False)
            rules.deciding_rule(path, name, is_folder=True)
            rules.reaches_below(path)
    submodule_paths(_text(data))


# Documents and code


def read_documents(extension: str) -> Run:
    def run(data: bytes) -> None:
        from tests.fuzzing.parsers import chunk, outline, read_document

        reading = read_document(data, f"folder/page.{extension}")
        reading.text.encode()
        chunks, _ = chunk(reading.text, "markdown", "docs")
        source = reading.text.encode()
        assert all(source[one.start_byte : one.end_byte] == one.text.encode() for one in chunks)
        outline(reading.text)

    return run


def read_front_matter(data: bytes) -> None:
    from dowse.reading.front_matter import read_front_matter as read

    read(data.decode("utf-8", "replace"))


def parse_in_the_pool(data: bytes) -> None:
    """Have a file read and cut by the parser processes; the first line is its path."""
    from tests.fuzzing.parsers import parse_in_pool

    path, _, content = data.partition(b"\n")
    parse_in_pool(path.decode("utf-8", "surrogateescape").replace("\0", ""), content)


def _files() -> samples.Samples:
    """Return a file of every kind, its path in the first line."""
    formats = {
        "md": samples.MARKDOWN, "html": samples.HTML, "rst": samples.RST, "adoc": samples.ASCIIDOC,
        "ipynb": samples.NOTEBOOKS, "docx": samples.WORD, "txt": samples.TEXTS, "py": samples.TEXTS, "c": samples.IGNORES,
    }  # fmt: skip
    return tuple(f"folder/page.{ending}\n".encode() + one for ending, found in formats.items() for one in found)


def cut_code(data: bytes) -> None:
    """Have code cut by the parser processes, because some grammars crash or take forever; the first line is its language."""
    from tests.fuzzing.parsers import cut_in_pool

    language, _, source = data.partition(b"\n")
    cut_in_pool(language.decode("utf-8", "replace"), source)


def cut_text(data: bytes) -> None:
    from dowse.reading.decoding import decode
    from tests.fuzzing.parsers import chunk

    text = decode(data).text
    text.encode()
    chunk(text, "markdown", "docs")
    chunk(text, "text", "docs")
    chunk(text, "text", "code")


def screen_text(data: bytes) -> None:
    from dowse.screening.masking import find_flags
    from dowse.screening.masking import screen_text as screen
    from dowse.sources.denylist import find_private_key

    text = data.decode("utf-8", "replace")
    shown = screen(text, path="a/b.py")
    assert shown.text.count("\n") == text.count("\n")
    find_flags(text)
    find_private_key(data)


# Messages


def parse_messages(data: bytes) -> None:
    from dowse.mcp.jsonrpc_lines import format_line, parse_line

    line = format_line(parse_line(data))
    assert line.count(b"\n") == 1


def answer_requests(data: bytes) -> None:
    from tests.fuzzing.http_gate import answer

    answer(data)


# Files of dowse's own


def _write(name: str, data: bytes) -> Path:
    file = _scratch() / name
    file.write_bytes(data)
    return file


def read_settings(data: bytes) -> None:
    from dowse.settings import load_settings

    load_settings(_write("config.json", data))


def load_sites(data: bytes) -> None:
    from dowse.searching.query_terms import parse_search_query
    from dowse.sites.index_check import inspect_bytes
    from dowse.sites.site import load_site

    inspect_bytes(data)
    site = load_site(data)
    results = site.search(parse_search_query("apple words istanbul"), limit=3)
    for number in range(len(site)):
        site.page(number)
        site.full_url(number)
        site.passage(number, results)
    assert site.topics is not None


def read_archived_files(data: bytes) -> None:
    from dowse.archives.archive_documents import details_from_json, read_archived
    from dowse.archives.archive_files import FileGroup
    from dowse.types import Entry, Stat

    stat = Stat(size=len(data), mtime_ns=1, inode=1, ctime_ns=1)
    entries = (Entry("p/content.md", "docs", stat), Entry("p/metadata.json", "docs", stat))
    joined = FileGroup(entries).join([data, data])
    for path, given in (("p/content.md", joined), ("p/result.json", joined), ("r/rfc1234.txt", data)):
        details_from_json(read_archived(path, given).details, path)


def read_notes(data: bytes) -> None:
    from dowse.notes.notes_documents import parse_note

    try:
        value = json.loads(data.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return
    with contextlib.suppress(DowseError):
        parse_note(value)


def _run_command(*arguments: object) -> None:
    """Run a command in this process; an error that is not expected is raised."""
    from dowse.cli import main

    os.environ["DOWSE_DEBUG"] = "1"
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()) as messages:
        code = main([str(argument) for argument in arguments])
    gc.unfreeze()  # a command that serves keeps its objects for as long as its process lives
    assert code in (0, 1, 2, 3), code
    assert "Traceback" not in messages.getvalue(), messages.getvalue()


@cache
def _archive_database() -> bytes:
    from tests.archives.sample_archives import captured_page, make_database

    folder = _scratch() / "archives"
    pages = {"p": captured_page("https://a.org/b", "Apples", "# Apples\n\nGreen apples, see [pears](https://c.org).\n")}
    database = make_database(folder, {"a.md": "# Pears\n\nApples too: https://a.org/b\n"}, pages)
    database.close()
    return (folder / "data" / "search.db").read_bytes()


def open_archive_databases(data: bytes) -> None:
    folder = _scratch() / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "search.db").write_bytes(data)
    for command in (("search", "apples"), ("broken",), ("status",)):
        _run_command("archive", *command, "--db", folder / "search.db", "--json")


@cache
def _storage() -> tuple[Path, Path]:
    """Return a small project and a storage root that holds its index."""
    from tests.sample_data import write_tree

    root = write_tree(
        _scratch() / "project",
        {"pyproject.toml": "", "src/apple.py": "def peel_apple():\n    return 'red'\n", "docs/guide.md": "# Apple\n"},
    )
    home = _scratch() / "whole"
    os.environ["DOWSE_HOME"] = str(home)
    index(root)
    return root, home


def _storage_files() -> samples.Samples:
    _, home = _storage()
    files = [file for file in sorted(home.rglob("*")) if file.is_file() and "grammars" not in file.parts]
    return tuple(str(file.relative_to(home)).encode() + b"\n" + file.read_bytes() for file in files)


def open_damaged_storage(data: bytes) -> None:
    root, whole = _storage()
    name, _, content = data.partition(b"\n")
    home = _scratch() / "home"
    shutil.rmtree(home, ignore_errors=True)
    shutil.copytree(whole, home)
    known = {sample.partition(b"\n")[0] for sample in TARGETS["storage"].samples}
    if name not in known:
        return
    file = home / os.fsdecode(name)
    file.write_bytes(content)
    os.environ["DOWSE_HOME"] = str(home)
    for command in (("search", "apple"), ("status",), ("doctor", "--fix"), ("search", "apple")):
        _run_command(*command, root, "--json")


def fail_on_purpose(data: bytes) -> None:
    """Fail as the input asks for, to test the campaign itself."""
    if b"raise" in data:
        raise ValueError("as asked")
    while b"hang" in data:
        pass
    if b"swell" in data:
        bytearray(400_000_000)[::4096] = bytes(97_657)
    if b"crash" in data:
        os.kill(os.getpid(), signal.SIGSEGV)


_JSON = samples.JSON_TOKENS
_READ = (DowseError, FormatNotReadable)

TARGETS: dict[str, Target] = {
    "queries": Target(parse_queries, lambda: samples.QUERIES, samples.QUERY_TOKENS, share=2.0),
    "globs": Target(match_globs, lambda: samples.GLOBS, samples.GLOB_TOKENS, share=2.0),
    "ignore_files": Target(
        parse_ignore_rules,
        lambda: samples.IGNORES + samples.GIT_MODULES,
        samples.GLOB_TOKENS,
        (DowseError, TooManyRules),
    ),
    "front_matter": Target(read_front_matter, lambda: samples.FRONT_MATTER, samples.YAML_TOKENS + samples.TOML_TOKENS),
    "markdown": Target(read_documents("md"), lambda: samples.MARKDOWN, samples.MARKDOWN_TOKENS, _READ),
    "html": Target(read_documents("html"), lambda: samples.HTML, samples.HTML_TOKENS, _READ),
    "rst": Target(read_documents("rst"), lambda: samples.RST, samples.RST_TOKENS, _READ),
    "asciidoc": Target(read_documents("adoc"), lambda: samples.ASCIIDOC, samples.ASCIIDOC_TOKENS, _READ),
    "ipynb": Target(read_documents("ipynb"), lambda: samples.NOTEBOOKS, _JSON + samples.MARKDOWN_TOKENS, _READ),
    "docx": Target(read_documents("docx"), lambda: samples.WORD, samples.XML_TOKENS, _READ),
    "pdf": Target(read_documents("pdf"), lambda: samples.PDF, samples.PDF_TOKENS, _READ, share=0.02),
    "text": Target(cut_text, lambda: samples.TEXTS + samples.MARKDOWN, samples.MARKDOWN_TOKENS),
    "code": Target(cut_code, samples.code, share=3.0),
    "parser_pool": Target(parse_in_the_pool, _files, samples.MARKDOWN_TOKENS, share=0.3),
    "screening": Target(screen_text, lambda: samples.TEXTS),
    "messages": Target(parse_messages, lambda: samples.MESSAGES, _JSON, (DowseError, InvalidMessage), share=2.0),
    "http": Target(answer_requests, lambda: samples.REQUESTS, samples.HTTP_TOKENS, share=0.5),
    "settings": Target(read_settings, lambda: samples.SETTINGS, _JSON),
    "sites": Target(load_sites, lambda: samples.SITES, _JSON, share=0.1),
    "archived_files": Target(
        read_archived_files,
        lambda: samples.METADATA + samples.RFC + samples.MARKDOWN + samples.FRONT_MATTER,
        _JSON + samples.MARKDOWN_TOKENS,
        _READ,
    ),
    "notes": Target(read_notes, lambda: samples.NOTES, _JSON, share=2.0),
    "archive_database": Target(open_archive_databases, lambda: (_archive_database(),), max_bytes=1_000_000, share=0.02),
    "storage": Target(open_damaged_storage, _storage_files, max_bytes=1_000_000, share=0.01),
}
"""Every target by its name."""

BROKEN = {"broken on purpose": Target(fail_on_purpose, lambda: (b"fine",))}
"""A target that fails, to test the campaign."""
