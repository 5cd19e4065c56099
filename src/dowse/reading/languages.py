"""Detection of the language of a file by its name, its extension or its first line."""

import re
from functools import cache
from pathlib import Path

_ALIASES = {
    "c++": "cpp", "c#": "csharp", "f#": "fsharp", "golang": "go", "makefile": "make", "objective-c": "objc", "protobuf": "proto",
    "shell": "bash", "terraform": "hcl",
}  # fmt: skip
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


def detect_language(path: str, head: bytes) -> str:
    """Return the language of a file, lower-case; `text` if neither its name nor its first line says."""
    name = path.rpartition("/")[2].lower()
    stem, _, extension = name.rpartition(".")
    tables = language_tables()
    language = tables["names"].get(name) or (stem and tables["extensions"].get(extension))
    language = language or next(
        (found for start, found in tables["beginnings"].items() if name.startswith(start)), None
    )
    if language == "c" and extension == "h":  # three languages share it: it is C unless the text is clearly another
        return "objc" if _OBJC.search(head) else "cpp" if _CPP.search(head) else "c"
    return language or _by_shebang(head) or "text"


def is_binary_document(path: str) -> bool:
    """Return whether a document's bytes say nothing about its words before it is converted."""
    return path.lower().endswith(BINARY_DOCUMENTS)


def language_called(name: str) -> str:
    """Return the language that a person means by its name or by an extension: `py`, `C++`; other names as they are."""
    folded = name.strip().lower().removeprefix(".")
    if folded in known_languages():
        return folded
    return _ALIASES.get(folded) or language_tables()["extensions"].get(folded) or folded


def is_language(name: str) -> bool:
    """Return whether somebody means a language by a name: it has this name or extension, or one spelled almost like it."""
    import difflib  # rarely needed

    known = known_languages()
    return language_called(name) in known or bool(difflib.get_close_matches(name.lower(), known, 1, 0.75))


def _by_shebang(head: bytes) -> str | None:
    match = _SHEBANG.match(head)
    if match is None:
        return None
    for word in match["command"].decode("latin-1").lower().split():
        program = word.rpartition("/")[2]
        if program != "env" and not program.startswith("-") and "=" not in program:
            programs = language_tables()["programs"]
            return programs.get(program) or programs.get(program.rstrip("-.0123456789"))
    return None


@cache
def known_languages() -> dict[str, dict[str, list[str]]]:
    """Return the facts about each language by its name: its extensions, its file names, its other names."""
    import tomllib  # imported here because commands that read no file start faster without it

    return tomllib.loads(Path(__file__).with_name("languages.toml").read_text(encoding="utf-8"))


@cache
def language_tables() -> dict[str, dict[str, str]]:
    """Return the languages by whole file name, by beginning of the name, by extension, and by program in the first line."""
    return {
        key: {value.lower(): language for language, table in known_languages().items() for value in table.get(key, ())}
        for key in ("names", "beginnings", "extensions", "programs")
    }
