"""No regular expression takes more than linear time: each one meets texts that are made from its own parts to stop it.

A pattern that is searched for in a stranger's text holds the interpreter while it runs. A quadratic one takes a second
for the length used here, a linear one a few milliseconds.
"""

import ast
import builtins
import importlib
import pkgutil
import re
import signal
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

import pytest

import dowse
from dowse.archives.url_identities import _tracking_pattern, all_series
from dowse.parsing.grammars import _language_table, language_settings
from dowse.system import platform

CHARACTERS, SECONDS = 20_000, 0.15
METHODS = {"match", "fullmatch", "search", "sub", "subn", "findall", "finditer", "split"}
CALLS = {**{method: method for method in METHODS}, "compile": "finditer"}
EVERYWHERE = {"sub", "subn", "findall", "finditer", "split"}
SHORT = {
    "dowse.searching.path_kinds._KINDS": 4_096,  # a path
    "dowse.sources.denylist:": 4_096,  # a path
    "dowse.reading.html._CHARSET": 4_096,  # the head of a page
    "dowse.reading.markup_text._TITLED": 2_000,  # the text of one link
    "dowse.searching.references.reference_search._QUALIFIED": 500,  # an argument of a tool
    "dowse.searching.query_terms._PASTED": 200,  # a query that was typed
    "dowse.searching.pasted_text._F": 260,  # a run of characters, longer ones are taken out before
    "dowse.parsing.reference_syntax._TYPES": 240,  # what stands around a name
    "dowse.parsing.reference_syntax._SEPARATORS": 240,
    "dowse.parsing.reference_extraction._TEXTS": 200,  # up to the last end of a comment
    "dowse.cli.archive_command._MARK": 4_000,  # a passage of our own
    "dowse.screening.masking": 200,  # a phrase of our own
}
"""Patterns that meet nothing longer, and why."""
SAMPLES = "a Z0_ \t\n-.:/<>(){}[]'\"`*#=!,;&|\\é\r"
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


class Used(NamedTuple):
    """A pattern, where it stands, and how it is used."""

    name: str
    pattern: re.Pattern[Any]
    methods: frozenset[str]


def patterns(package: str) -> dict[tuple[Any, int], Used]:
    """Return the patterns that the modules of a package compile or write in a call; of dowse, those beside the packages."""
    found = dict[tuple[Any, int], Used]()
    path = importlib.import_module(package).__path__
    walk = pkgutil.iter_modules if package == "dowse" else pkgutil.walk_packages
    for info in walk(path, f"{package}."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        methods = _methods(tree)
        for name, value in vars(module).items():
            for pattern in _inside(value):
                used = frozenset(methods.get(name, {"finditer"}))
                found.setdefault((pattern.pattern, pattern.flags), Used(f"{info.name}.{name}", pattern, used))
        known = _Values(vars(module))
        assigned = (node for node in ast.walk(tree) if isinstance(node, ast.Assign))
        kept = {id(node.value): ast.unparse(node.targets[0]) for node in assigned}
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and ast.unparse(call.func) in {f"re.{method}" for method in CALLS}:
                try:
                    values = [eval(ast.unparse(part), {}, known) for part in (call.args[0], *_flags(call))]
                    pattern = re.compile(*values)
                except (NameError, TypeError, AttributeError, re.error):
                    continue  # made from values that only a call knows, and that are no texts
                method = CALLS[ast.unparse(call.func).removeprefix("re.")]
                keeper = kept.get(id(call), "")
                used = frozenset(methods[keeper] if keeper.startswith("self._") and keeper in methods else {method})
                place = f".{call.args[0].id}" if isinstance(call.args[0], ast.Name) else f":{call.lineno}"
                name = f"{info.name}{place}"
                found.setdefault((pattern.pattern, pattern.flags), Used(name, pattern, used))
    return found


class _Values(dict[str, Any]):
    """The values of a module; one that only a call knows is a text, in which a letter is there twice."""

    def __missing__(self, name: str) -> str:
        if hasattr(builtins, name):
            raise KeyError(name)
        return "aab"


def _flags(call: ast.Call) -> list[ast.expr]:
    parts = [*call.args[1:], *(keyword.value for keyword in call.keywords)]
    return [part for part in parts if re.fullmatch(r"re\.[A-Z]+(?: \| re\.[A-Z]+)*", ast.unparse(part))]


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """Return the methods that a module calls of each name, and of a value that an object keeps for nothing else."""
    found = defaultdict[str, set[str]](set)
    kept = defaultdict[str, list[str]](list)
    for node in ast.walk(tree):
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load):
                kept[ast.unparse(part)].append(node.attr if isinstance(node, ast.Attribute) else "")
        if isinstance(node, ast.Attribute) and node.attr in METHODS:
            value = node.value
            while isinstance(value, ast.Subscript):
                value = value.value
            if isinstance(value, ast.Name):
                found[value.id].add(node.attr)
    return found | {name: set(uses) for name, uses in kept.items() if METHODS.issuperset(uses)}


def _inside(value: object, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 3 and isinstance(value, list | tuple | set | frozenset | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _inside(part, depth + 1)


def _fits(items: list[Any], character: str) -> bool:
    fits = False
    for code, value in items:
        if code is codes.LITERAL:
            fits |= ord(character) == value
        elif code is codes.RANGE:
            fits |= value[0] <= ord(character) <= value[1]
        elif code is codes.CATEGORY:
            kind = str(value).rpartition("_")[2]
            is_kind = {"DIGIT": character.isdigit(), "SPACE": character.isspace()}.get(
                kind, character.isalnum() or character == "_"
            )
            fits |= is_kind != ("NOT" in str(value))
    return fits != (items[0][0] is codes.NEGATE)


def _text(code: object, value: Any, way: int) -> str:
    """Return a short text that a part of a pattern matches."""
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.IN:
        written = [chr(part[1]) for part in value if part[0] is codes.LITERAL]
        fitting: list[str] = [character for character in [*written, *SAMPLES] if _fits(value, character)] or ["a"]
        return fitting[way % len(fitting)]
    if code in REPEATS:
        return _texts(value[2], way) * max(int(value[0]), way % 2)
    if code is codes.BRANCH:
        return _texts(value[1][way % len(value[1])], way)
    if code is codes.SUBPATTERN:
        return _texts(value[3], way)
    if code is codes.ATOMIC_GROUP:
        return _texts(value, way)
    return "a x."[way % 4] if code is codes.ANY else "b" if code is codes.NOT_LITERAL else ""


def _texts(parts: Any, way: int) -> str:
    return "".join(_text(code, value, way) for code, value in parts)


def _attacks(parts: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """Yield what leads to each repeated part of a pattern, and texts that go on being repeated there."""
    for at, (code, value) in enumerate(parts):
        here = before + _texts(list(parts)[:at], 0)
        if code in REPEATS:
            if value[1] > 50:
                for way in range(6):
                    again = _texts(value[2], way)
                    yield from ((here, again), ("", again), ("", here + again), ("", here))
            yield from _attacks(value[2], here)
        elif code is codes.ATOMIC_GROUP:
            yield from _attacks(value, here)
        elif code in (codes.SUBPATTERN, codes.ASSERT, codes.ASSERT_NOT):
            yield from _attacks(value[-1], here)
        elif code is codes.BRANCH:
            for branch in value[1]:
                yield from _attacks(branch, here)


class _LateError(Exception):
    pass


def _stop(*_: object) -> None:
    raise _LateError


def slow_text(used: Used) -> str:
    """Return a text that stops a pattern, as it would be written; empty if there is none."""
    pattern, methods = used.pattern, used.methods
    length = next((limit for name, limit in SHORT.items() if used.name.startswith(name)), CHARACTERS)
    ways: list[str] = [method for method in ("match", "fullmatch") if method in methods]
    if len(ways) < len(methods):
        ways.append("finditer" if methods & EVERYWHERE else "search")
    flags = pattern.flags & (re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.ASCII)
    attacks = {attack for attack in _attacks(_parser.parse(pattern.pattern, flags)) if attack[1]}
    for before, again in sorted(attacks):
        for after in ("", "\x00", "\n)}a"):
            text = before + again * (length // len(again)) + after
            for way in ways:
                signal.setitimer(signal.ITIMER_PROF, SECONDS)
                try:
                    found = getattr(pattern, way)(text.encode() if isinstance(pattern.pattern, bytes) else text)
                    for _ in found if way == "finditer" else ():
                        pass
                except _LateError:
                    return f"{way}: {before!r} + {again!r} * {length // len(again)} + {after!r}"
                finally:
                    signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


@pytest.fixture
def timer() -> Iterator[None]:
    previous = signal.signal(signal.SIGPROF, _stop)
    yield
    signal.signal(signal.SIGPROF, previous)


pytestmark = pytest.mark.skipif(platform.IS_WINDOWS, reason="there is no timer that counts processor time")


PACKAGES = sorted(info.name for info in pkgutil.iter_modules(dowse.__path__, "dowse.") if info.ispkg)


@pytest.mark.usefixtures("timer")
@pytest.mark.parametrize("package", [*PACKAGES, "dowse"])
def test_no_pattern_takes_more_than_linear_time(package: str) -> None:
    all_used = patterns(package)
    slow = {f"{used.name} {used.pattern.pattern!r}": text for used in all_used.values() if (text := slow_text(used))}
    assert not slow, "\n".join(f"{name}\n    {text}" for name, text in slow.items())


@pytest.mark.usefixtures("timer")
def test_no_pattern_of_a_table_takes_more_than_linear_time() -> None:
    addresses = [pattern for one in all_series() for pattern in (one.addresses, one.file)]
    names = {str(language_settings(language)["name"]) for language in _language_table()}
    assert len(names) > 3
    used = [Used("", pattern, frozenset({"match", "fullmatch"})) for pattern in (*addresses, _tracking_pattern())]
    used += [Used("", re.compile(name.encode()), frozenset({"finditer"})) for name in names]
    assert [(one.pattern, text) for one in used if (text := slow_text(one))] == []


@pytest.mark.usefixtures("timer")
@pytest.mark.parametrize(
    ("expression", "method"),
    [
        (r"<!--.*?-->|<[^>]*>", "sub"),
        (r" {0,3}(#{1,6})[ \t]+(\S.*?)[ \t#]*$", "match"),
        (r"([({])[^)}]*$", "search"),
        (r"(a+)+b", "match"),
        (r"\s+$", "sub"),
    ],
)
def test_a_pattern_that_takes_longer_is_noticed(expression: str, method: str) -> None:
    assert slow_text(Used("", re.compile(expression, re.DOTALL), frozenset({method})))
