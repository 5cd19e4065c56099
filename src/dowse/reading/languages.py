"""Detection of the language of a file by its name, its extension or its first line."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

UNKNOWN = "text"
_ALIASES = {"c++": "cpp", "c#": "csharp", "f#": "fsharp", "golang": "go", "shell": "bash", "objective-c": "objc"}
"""Names of languages that people use and the tables do not."""

BINARY_DOCUMENTS = (".pdf", ".docx", ".xlsx", ".xlsm", ".pptx")
"""Extensions of documents whose bytes are not text."""
_SHEBANG = re.compile(rb"\s*#!\s*(?P<command>[^\r\n]*)")
_CPP = re.compile(
    rb"^[ \t]*(?:class\s+(?:\w+\s+){0,2}\w+\s*[:{;]|namespace(?:\s+[\w:]+)?\s*\{|template[ \t]*<"
    rb"|(?:public|private|protected)[ \t]*:|using[ \t]+(?:namespace\b|\w+[ \t]*=))|\bstd::\w",
    re.MULTILINE,
)
_OBJC = re.compile(rb"^[ \t]*(?:@(?:interface|protocol|class|property|end)\b|#import\b)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _LanguageTables:
    """Languages by whole file name, by beginning of the name, by extension, and by program in the first line."""

    names: dict[str, str]
    beginnings: dict[str, str]
    extensions: dict[str, str]
    programs: dict[str, str]
    known: frozenset[str]
    """The names of all languages."""


def detect_language(path: str, head: bytes) -> str:
    """Return the language of a file, lower-case; `text` if neither its name nor its first line says."""
    name = path.rpartition("/")[2].lower()
    tables = _language_tables()
    language = tables.names.get(name) or _by_extension(name, tables) or _by_beginning(name, tables)
    if language == "c" and name.endswith(".h"):
        return _header_language(head)
    return language or _by_shebang(head, tables) or UNKNOWN


def is_binary_document(path: str) -> bool:
    """Return whether a document's bytes say nothing about its words before it is converted."""
    return path.lower().endswith(BINARY_DOCUMENTS)


def language_called(name: str) -> str:
    """Return the language that a person means by its name or by an extension: `py`, `C++`; other names as they are."""
    folded = name.strip().lower().removeprefix(".")
    tables = _language_tables()
    return folded if folded in tables.known else _ALIASES.get(folded) or tables.extensions.get(folded) or folded


def is_language(name: str) -> bool:
    """Return whether somebody means a language by a name: it has this name or extension, or one spelled almost like it."""
    import difflib  # rarely needed

    known = _language_tables().known
    return language_called(name) in known or bool(difflib.get_close_matches(name.lower(), known, 1, 0.75))


def _by_extension(name: str, tables: _LanguageTables) -> str | None:
    stem, _, extension = name.rpartition(".")
    return tables.extensions.get(extension) if stem else None


def _by_beginning(name: str, tables: _LanguageTables) -> str | None:
    return next((language for start, language in tables.beginnings.items() if name.startswith(start)), None)


def _header_language(head: bytes) -> str:
    """Return the language of a `.h` file, which three languages share: C unless the text is clearly another."""
    if _OBJC.search(head):
        return "objc"
    return "cpp" if _CPP.search(head) else "c"


def _by_shebang(head: bytes, tables: _LanguageTables) -> str | None:
    match = _SHEBANG.match(head)
    if match is None:
        return None
    for word in match["command"].decode("latin-1").lower().split():
        program = word.rpartition("/")[2]
        if program != "env" and not program.startswith("-") and "=" not in program:
            return tables.programs.get(program) or tables.programs.get(program.rstrip("-.0123456789"))
    return None


@cache
def _language_tables() -> _LanguageTables:
    import tomllib  # imported here because commands that read no file start faster without it

    text = Path(__file__).with_name("languages.toml").read_text(encoding="utf-8")
    languages: dict[str, dict[str, list[str]]] = tomllib.loads(text)

    def invert(key: str) -> dict[str, str]:
        return {value.lower(): language for language, table in languages.items() for value in table.get(key, ())}

    return _LanguageTables(
        invert("names"), invert("beginnings"), invert("extensions"), invert("programs"), frozenset(languages)
    )
