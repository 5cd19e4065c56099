"""Detection of keys and tokens in text, and the rules for it."""

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from dowse.errors import Failed, ScreeningTimeout

if TYPE_CHECKING:
    import regex


FindWords = Callable[[str], set[str]]
"""Returns those of some words in lower case that a text contains, in any letter case, also within other words."""


def word_finder(words: Iterable[str]) -> FindWords:
    """Return a function that finds words."""
    import ahocorasick  # type: ignore[import-not-found]

    automaton = ahocorasick.Automaton()
    for word in words:
        automaton.add_word(word, word)
    automaton.make_automaton()
    return lambda text: {word for _, word in automaton.iter(text.lower())}


RULES_FILE = Path(__file__).with_name("secret_rules.json")


class Allowlist(NamedTuple):
    """Exceptions: matches of a rule that are not secrets."""

    target: str
    """The text that the expressions are applied to: `secret`, `match` or `line`."""
    expressions: tuple[str, ...]
    words: tuple[str, ...]


class SecretRule(NamedTuple):
    """The rule for one kind of secret."""

    kind: str
    expression: str
    has_name_prefix: bool
    keywords: tuple[str, ...]
    """Words in lower case; a text without any of them has no such secret."""
    min_entropy: float
    group: int
    path: str
    """An expression for the paths of the files that the rule applies to; empty for all files."""
    allowed: tuple[Allowlist, ...]


class SecretRules(NamedTuple):
    """All rules, and the exceptions that apply to every rule."""

    rules: tuple[SecretRule, ...]
    allowed: tuple[Allowlist, ...]
    by_keyword: Mapping[str, Sequence[SecretRule]]
    find_keywords: FindWords


STRICTER_KEYWORDS = {
    "jwt": (".ey",),
    "twilio-api-key": tuple(f"sk{digit}" for digit in "0123456789abcdef"),
}
"""Keywords that replace those of a rule: every key has the letters `ey`, and every token of this kind has two such parts;
many words have `sk`."""


@cache
def load_secret_rules() -> SecretRules:
    """Return the rules, read on first use. Raise Failed when they are missing: nothing would be masked."""
    try:
        content = json.loads(RULES_FILE.read_bytes())
        rules = tuple(map(_parse_rule, content["rules"]))
        allowed = _parse_allowlists(content["allowed"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"The rules for secrets cannot be read ({error}). Reinstall dowse.") from error
    by_keyword: dict[str, list[SecretRule]] = {}
    for rule in rules:
        for keyword in rule.keywords:
            by_keyword.setdefault(keyword, []).append(rule)
    return SecretRules(rules, allowed, by_keyword, word_finder(by_keyword))


def entropy(text: str) -> float:
    """Return the entropy of a text in bits for each character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _parse_rule(entry: Mapping[str, Any]) -> SecretRule:
    keywords = STRICTER_KEYWORDS.get(entry["kind"]) or entry["keywords"]
    return SecretRule(**{**entry, "keywords": tuple(keywords), "allowed": _parse_allowlists(entry["allowed"])})


def _parse_allowlists(entries: list[dict[str, Any]]) -> tuple[Allowlist, ...]:
    return tuple(Allowlist(entry["target"], tuple(entry["expressions"]), tuple(entry["words"])) for entry in entries)


RULE_SECONDS = 0.25
"""The time limit of one rule on one text; a text that takes longer is not shown."""
NAME_PREFIX_CHARACTERS = 50
"""How far before a match the exceptions of a rule may reach, as in `foreign_key`."""
LINE_CHARACTERS = 1000
"""How much of a line before and after a match its exceptions are looked for in."""
GENERIC_KIND = "generic-api-key"
"""The kind of a random-looking value beside a word such as `secret`."""
_GENERIC_VALUE = re.compile(r"""(?<![\w.=+/-])[\w.=+/-]{10,}+(?=[`'"\s;\\]|\Z)""", re.ASCII)
_ASSIGNED = re.compile(r"""[=>:|,][`'"\s=]{0,5}\Z""", re.ASCII)
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


class Secret(NamedTuple):
    """The position of a secret in a text, in characters, and its kind."""

    start: int
    end: int
    kind: str


def find_secrets(text: str, path: str = "") -> list[Secret]:
    """Return the secrets of a text in order, without overlaps. Raise ScreeningTimeout when a rule takes too long.

    Some rules apply only to certain files, by their path.
    """
    return merge_overlapping(secret for rule in possible_rules(text, path) for secret in _find_by_rule(rule, text))


def possible_rules(text: str, path: str = "", words: Set[str] | None = None) -> list[SecretRule]:
    """Return the rules that may find something in a text or in a part of it; mostly there are none.

    `words` are those of the keywords that it has, among others, if they are known.
    """
    rules = load_secret_rules()
    keywords = rules.find_keywords(text) if words is None else words & rules.by_keyword.keys()
    if not keywords:
        return []
    candidates = {rule.kind: rule for keyword in keywords for rule in rules.by_keyword[keyword]}
    return [
        rule
        for rule in candidates.values()
        if _may_have_value(rule, text) and (not rule.path or (path and _compile(rule.path).search(path)))
    ]


def _may_have_value(rule: SecretRule, text: str) -> bool:
    """Return whether a text with keywords of a rule may have a value for it; some have keywords of most code."""
    is_possible = _VALUE_CHECKS.get(rule.kind)
    return is_possible is None or bool(is_possible(text))


def _may_have_generic_value(text: str) -> bool:
    """Return whether a text has a generic value, with a digit and the signs around it; the rule takes ten times as long."""
    return any(
        any(map(str.isdigit, value[0]))
        and ("=" in value[0][:-10] or _ASSIGNED.search(text, max(0, value.start() - 6), value.start()))
        for value in _GENERIC_VALUE.finditer(text)
    )


_VALUE_CHECKS: dict[str, Callable[[str], object]] = {
    GENERIC_KIND: _may_have_generic_value,
    "lob-api-key": re.compile(r"(?:live|test)_[a-f0-9]{35}", re.ASCII | re.IGNORECASE).search,
    "vault-service-token": re.compile(r"hvs\.|s\.[A-Za-z0-9]{24}", re.ASCII).search,
}
"""Quick checks whether a text may have a value of a rule."""


def _find_by_rule(rule: SecretRule, text: str) -> Iterator[Secret]:
    try:
        for match in _compile(rule.expression).finditer(text, timeout=RULE_SECONDS, concurrent=False):
            group = rule.group or next((number for number, value in enumerate(match.groups(), 1) if value), 0)
            start, end = match.span(group)
            if end > start and not _is_harmless(rule, text, match, text[start:end]):
                yield Secret(start, end, rule.kind)
    except TimeoutError as error:
        raise ScreeningTimeout(rule.kind) from error


def _is_harmless(rule: SecretRule, text: str, match: "regex.Match[str]", secret: str) -> bool:
    """Return whether a match is too regular to be a secret, or a known example or name."""
    if rule.min_entropy and entropy(secret) <= rule.min_entropy:
        return True
    if rule.kind == GENERIC_KIND and not any(map(str.isdigit, secret)):
        return True  # gitleaks does this in its code, outside of its rules
    start = match.start()
    if rule.has_name_prefix:
        limit = max(0, start - NAME_PREFIX_CHARACTERS)
        while start > limit and text[start - 1] in _NAME_CHARACTERS:
            start -= 1
    targets = {"secret": secret, "match": text[start : match.end()], "line": _line_around(text, start, match.end())}
    return any(_allows(allowlist, targets) for allowlist in (*rule.allowed, *load_secret_rules().allowed))


def _allows(allowed: Allowlist, targets: dict[str, str]) -> bool:
    target, small = targets[allowed.target], targets["secret"].lower()
    return any(word in small for word in allowed.words) or any(
        _compile(expression).search(target, timeout=RULE_SECONDS, concurrent=False)
        for expression in allowed.expressions
    )


def _line_around(text: str, start: int, end: int) -> str:
    first, limit = max(0, start - LINE_CHARACTERS), min(len(text), end + LINE_CHARACTERS)
    begin, last = text.rfind("\n", first, start), text.find("\n", end, limit)
    return text[first if begin < 0 else begin + 1 : limit if last < 0 else last]


def merge_overlapping(secrets: Iterable[Secret]) -> list[Secret]:
    """Sort secrets and merge those that overlap; the result has the more specific kind."""
    merged: list[Secret] = []
    for secret in sorted(secrets):
        if merged and secret.start < merged[-1].end:
            last = merged.pop()
            kind = secret.kind if last.kind == GENERIC_KIND else last.kind
            secret = Secret(last.start, max(last.end, secret.end), kind)  # noqa: PLW2901 - what it is merged into
        merged.append(secret)
    return merged


@cache
def _compile(expression: str) -> "regex.Pattern[str]":
    """Compile an expression as gitleaks interprets it, when a text first contains one of its keywords."""
    # The standard library's matcher has no timeout, and no flags within an expression.
    import regex

    return regex.compile(expression, regex.VERSION1 | regex.ASCII)
