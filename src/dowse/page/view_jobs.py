"""The jobs of the page in a parser process: colour code, outline it, and take Markdown apart.

They return numbers, names and text, never HTML: the server writes every tag itself.
"""

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pygments.lexer import Lexer

COLOURS = ("", "k", "s", "c", "n", "f", "t", "b", "d", "v", "h", "i", "x")
"""The classes of the style sheet: keyword, string, comment, number, function, type, builtin, decorator, variable,
heading, inserted, deleted."""
_BY_TOKEN = {
    "Token.Keyword": 1, "Token.Keyword.Type": 6, "Token.Operator.Word": 1, "Token.Literal.String": 2,
    "Token.Literal.String.Doc": 3, "Token.Comment": 3, "Token.Comment.Preproc": 8, "Token.Literal.Number": 4,
    "Token.Name.Function": 5, "Token.Name.Class": 6, "Token.Name.Builtin": 7, "Token.Name.Decorator": 8,
    "Token.Name.Exception": 6, "Token.Name.Tag": 1, "Token.Name.Attribute": 5, "Token.Name.Constant": 4,
    "Token.Name.Variable": 9, "Token.Name.Namespace": 6, "Token.Generic.Heading": 10, "Token.Generic.Subheading": 10,
    "Token.Generic.Inserted": 11, "Token.Generic.Deleted": 12, "Token.Generic.Emph": 2, "Token.Generic.Strong": 1,
}  # fmt: skip
_LANGUAGE_NAMES = {"c_sharp": "csharp", "objc": "objective-c", "shell": "bash", "vim": "vim", "text": "text"}
"""The languages that Pygments calls otherwise."""

Fields = dict[str, Any]


def prepare(fields: Fields) -> None:
    """Import the lexers and grammars, so that no file pays for it."""
    if fields["job"] == "colours":
        for language, path, _ in fields["texts"]:
            _lexer(language, path if "." in path else "")
    elif fields["job"] == "symbols":
        from dowse import chunking

        chunking.prepare(fields["language"])


def run_job(fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Do one job."""
    match fields["job"]:
        case "colours":
            return {"colours": _colours(fields["texts"], data)}, b""
        case "symbols":
            return {"symbols": _symbols(fields["language"], data.decode("utf-8", "surrogatepass"))}, b""
        case "markdown":
            return _markdown(data.decode("utf-8", "surrogatepass")), b""
    raise ValueError(f"no job is called {fields['job']}")


def _colours(texts: list[tuple[str, str, int]], data: bytes) -> list[list[int]]:
    """Return, for each text, lengths and colours in turn; nothing for a language without a lexer."""
    found, at = [], 0
    for language, path, size in texts:
        text = data[at : at + size].decode("utf-8", "surrogatepass")
        lexer = _lexer(language, path if "." in path else "")
        found.append(_runs(lexer, text) if lexer else [])
        at += size
    return found


def _runs(lexer: "Lexer", text: str) -> list[int]:
    runs: list[int] = []
    for _, token, value in lexer.get_tokens_unprocessed(text):
        colour = _colour_of(token)
        if runs and runs[-1] == colour:
            runs[-2] += len(value)
        elif value:
            runs += (len(value), colour)
    return runs


@cache
def _colour_of(token: Any) -> int:
    while token is not None:
        if (colour := _BY_TOKEN.get(str(token))) is not None:
            return colour
        token = token.parent
    return 0


@cache
def _lexer(language: str, path: str) -> "Lexer | None":
    """Return the lexer of a language or, where Pygments does not know it, of a file name."""
    from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
    from pygments.util import ClassNotFound

    if language in ("", "text", "markdown"):  # prose is read better without colours
        return None
    try:
        return get_lexer_by_name(_LANGUAGE_NAMES.get(language, language))
    except ClassNotFound:
        pass
    try:
        return get_lexer_for_filename(path.rpartition("/")[2]) if path else None
    except ClassNotFound:
        return None


def _symbols(language: str, text: str) -> list[tuple[str, str, int]]:
    from dowse import chunking

    chunks, _ = chunking.chunk(text, language, "code")
    return list(dict.fromkeys((one.name, one.kind, one.line) for chunk in chunks for one in chunk.symbols))


def _markdown(text: str) -> Fields:
    """Return the events of a Markdown text after its front matter, and its headings with their anchors."""
    from dowse.reading.front_matter import parse_front_matter
    from dowse.reading.markdown_events import parse_markdown
    from dowse.reading.outlines import Outline

    _, start = parse_front_matter(text)
    body = text[start:]
    utf8 = body.encode("utf-8", "surrogatepass")
    before = text[:start].count("\n")
    events: list[Any] = []
    line, at = 1 + before, 0
    for event, where in parse_markdown(body):
        if where["start"] > at:
            line += utf8.count(b"\n", at, where["start"])
            at = where["start"]
        events.append((event, line if where["start"] == at else 0))
    headings = [(one.level, one.text, one.line, one.anchor) for one in Outline(text).headings]
    return {"events": events, "headings": headings}
