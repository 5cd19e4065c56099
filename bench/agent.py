"""`python -m bench.agent --eval EVAL --checkouts DIR ...`: measure what an assistant reads until it has seen every line to change.

The assistant is a fixed policy without a language model. It gets the text of an issue, looks for the place with one
tool, reads what the tool shows, and stops when it has seen every line that the fix changes, or has read too much.

The policies, which were written before anything was measured:

1. Look. dowse: one call of search_code with the whole text, default arguments. semble: one search with the whole text,
   its default of five chunks. grep: up to six calls, one for each word of the text in the order of `_words`, with line
   numbers, of which the first fifty lines are read.
2. Read around. File by file, in the order of the tool (grep: files with the most of the words first, then the most
   lines, tests last), the lines around everything that was shown of the file, fifty before and fifty after, as one read
   for each stretch; the first ten files.
3. Read on. The first three files from their first line on, 250 lines a read.
4. Look again with the first line of the text alone (grep: with the words of the first line), and steps 2 and 3 for what
   is new.

Every read and every reply counts with all its characters, also of lines that were seen before. A token is four characters.
"""

import argparse
import json
import math
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench import program, quality
from bench.lines import MAX_QUERY, Semble, add_issue_options, ask, load_issues, shown_lines
from bench.report import Row, Table
from dowse.indexes.index import ProjectIndex
from dowse.mcp.replies import CHARACTERS_PER_TOKEN

MARKER = "bench agent"
MAX_TOKENS = 50_000
AROUND_LINES = 50
READ_LINES = 250
FILES, WHOLE_FILES = 10, 3
GREP_WORDS, GREP_LINES = 6, 50
SEMBLE_DEFAULT = 5
SHARES = (0.1, 0.2, 0.3, 0.4, 0.6, 0.8)
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{2,}")
_COMPOUND = re.compile(r"[a-z0-9]_[a-z0-9]|[a-z][A-Z]")

Looked = list[tuple[str, list[int]]]
"""The files that a tool names, best first, with the lines that it shows of each."""


@dataclass(slots=True)
class Assistant:
    """An assistant, and the lines that it has read of an issue's repository."""

    root: Path
    wanted: set[tuple[str, int]]
    characters: int = 0
    calls: int = 0
    seen: set[tuple[str, int]] = field(default_factory=set)

    @property
    def is_done(self) -> bool:
        return self.wanted <= self.seen or self.tokens > MAX_TOKENS

    @property
    def has_succeeded(self) -> bool:
        return self.wanted <= self.seen

    @property
    def tokens(self) -> float:
        return self.characters / CHARACTERS_PER_TOKEN

    def take(self, characters: int, lines: Iterable[tuple[str, int]]) -> None:
        """Read a reply."""
        self.calls += 1
        self.characters += characters
        self.seen.update(lines)

    def read(self, path: str, first: int, last: int) -> None:
        """Read lines of a file, both ends included."""
        lines = self._lines(path)[first - 1 : last]
        self.take(sum(len(line) + 1 for line in lines), ((path, first + at) for at in range(len(lines))))

    def follow(self, looked: Looked, known: set[str]) -> None:
        """Read around what was shown, then the first files from the top."""
        new = [(path, lines) for path, lines in looked[:FILES] if path not in known]
        for path, lines in new:
            for first, last in _stretches(lines):
                if self.is_done:
                    return
                self.read(path, first, last)
        for path, _ in new[:WHOLE_FILES]:
            for first in range(1, len(self._lines(path)) + 1, READ_LINES):
                if self.is_done:
                    return
                self.read(path, first, first + READ_LINES - 1)
        known.update(path for path, _ in new)

    def _lines(self, path: str) -> list[str]:
        return (self.root / path).read_text(encoding="utf-8", errors="replace").split("\n")


def _stretches(lines: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges around lines, those that touch as one."""
    first = last = 0
    for line in sorted(set(lines)):
        if last and line - AROUND_LINES <= last:
            last = line + AROUND_LINES
            continue
        if last:
            yield first, last
        first, last = max(1, line - AROUND_LINES), line + AROUND_LINES
    if last:
        yield first, last


def look_with_dowse(project: ProjectIndex, assistant: Assistant, text: str) -> Looked:
    """Call search_code once."""
    reply = ask(project, text)
    return _take_hits(assistant, reply, len(json.dumps(reply, ensure_ascii=False)))


def look_with_semble(semble: Semble, assistant: Assistant, text: str) -> Looked:
    """Search once with semble, which replies with whole chunks."""
    reply = {"results": semble.search(assistant.root, [text])[0][:SEMBLE_DEFAULT]}
    return _take_hits(assistant, reply, len(json.dumps(reply, ensure_ascii=False)))


def _take_hits(assistant: Assistant, reply: Mapping[str, Any], characters: int) -> Looked:
    shown = [(one.path, one.line) for one in shown_lines(reply)]
    assistant.take(characters, shown)
    by_path: dict[str, list[int]] = {hit["path"]: [] for hit in reply["results"]}
    for path, line in shown:
        by_path.setdefault(path, []).append(line)
    return list(by_path.items())


def look_with_grep(project: ProjectIndex, assistant: Assistant, text: str) -> Looked:
    """Search for a few words, one after the other, and read the first lines of each output."""
    paths = sorted(document.path for document in project.store.documents() if document.kind == "code")
    matches: dict[str, dict[str, list[int]]] = {}
    for word in _words(text, project)[:GREP_WORDS]:
        output = list(_grep(assistant.root, paths, word))[:GREP_LINES]
        assistant.take(
            sum(len(f"{path}:{line}:{content}\n") for path, line, content in output),
            ((path, line) for path, line, _ in output),
        )
        for path, line, _ in output:
            matches.setdefault(path, {}).setdefault(word, []).append(line)
        if assistant.is_done:
            break
    order = sorted(
        matches, key=lambda path: ("test" in path, -len(matches[path]), -sum(map(len, matches[path].values())), path)
    )
    return [(path, [line for lines in matches[path].values() for line in lines]) for path in order]


def _words(text: str, project: ProjectIndex) -> list[str]:
    """Return the words to search for: quoted names first, then compound names, then the others; the rarest first."""
    quoted = {word for part in _QUOTED.findall(text) for word in _IDENTIFIER.findall(part)}
    found = {word: len(project.store.documents_with_word(word)) for word in set(_IDENTIFIER.findall(text))}
    known = [word for word, files in found.items() if files]
    return sorted(known, key=lambda word: (word not in quoted, not _COMPOUND.search(word), found[word], word))


def _grep(root: Path, paths: Sequence[str], word: str) -> Iterator[tuple[str, int, str]]:
    is_in = re.compile(rf"\b{re.escape(word)}\b").search
    for path in paths:
        content = (root / path).read_text(encoding="utf-8", errors="replace")
        if word in content:
            for number, line in enumerate(content.split("\n"), 1):
                if is_in(line):
                    yield path, number, line


def main() -> int:
    """Measure and print the table."""
    return program.run(_options(), MARKER, _tables)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.agent", description=__doc__)
    add_issue_options(parser)
    program.add_markdown(parser, MARKER)
    return parser.parse_args()


def _tables(options: argparse.Namespace, _work: Path) -> list[Table]:
    issues, _ = load_issues(options)
    if not issues:
        return []
    semble = Semble(options.semble, options.semble_model, options.home) if options.semble else None
    done: dict[str, list[Assistant]] = {}
    for issue, root in issues:
        project = quality.open_index(root)
        looks: dict[str, Callable[[Assistant, str], Looked]] = {
            "dowse": partial(look_with_dowse, project),
            "grep and read": partial(look_with_grep, project),
        }
        if semble:
            looks["semble"] = partial(look_with_semble, semble)
        text = issue["text"][:MAX_QUERY]
        for name, look in looks.items():
            assistant = Assistant(root, {(path, line) for path, lines in issue["gold"].items() for line in lines})
            known: set[str] = set()
            for query in (text, text.strip().splitlines()[0]):
                if not assistant.is_done:
                    assistant.follow(look(assistant, query), known)
            done.setdefault(name, []).append(assistant)
        project.close()
    return [
        Table(f"{len(issues)} issues: tokens and calls until every changed line was seen", _rows(done)),
        Table("Tokens for each issue within which a share of the issues is solved", _budgets(done)),
    ]


def _rows(done: Mapping[str, Sequence[Assistant]]) -> list[Row]:
    """Return the figures of each tool, and its tokens on the issues that all of them solve."""
    common = [all(one.has_succeeded for one in ones) for ones in zip(*done.values(), strict=True)]
    rows: list[Row] = [("", "succeeds", "tokens, median", "mean", "calls, mean", "tokens where all succeed, mean")]
    for name, assistants in done.items():
        tokens = [min(one.tokens, MAX_TOKENS) for one in assistants]
        shared = [value for value, is_common in zip(tokens, common, strict=True) if is_common]
        rows.append((
            name, f"{statistics.mean(one.has_succeeded for one in assistants):.0%}", f"{statistics.median(tokens):,.0f}",
            f"{statistics.mean(tokens):,.0f}", f"{statistics.mean(one.calls for one in assistants):.1f}",
            f"{statistics.mean(shared) if shared else math.nan:,.0f}",
        ))  # fmt: skip
    return rows


def _budgets(done: Mapping[str, Sequence[Assistant]]) -> list[Row]:
    """Return what each tool needs for the same success: the tokens of the issue that completes a share."""
    rows: list[Row] = [("", *(f"{share:.0%}" for share in SHARES))]
    for name, assistants in done.items():
        solved = sorted(one.tokens for one in assistants if one.has_succeeded)
        places = [math.ceil(share * len(assistants)) - 1 for share in SHARES]
        rows.append((name, *(f"{solved[at]:,.0f}" if at < len(solved) else "-" for at in places)))
    return rows


if __name__ == "__main__":
    sys.exit(main())
