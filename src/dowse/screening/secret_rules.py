"""The rules that detect secrets: gitleaks' default rules, which the build of the package generates (`hatch_build.py`)."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import Failed


class KeywordMatcher:
    """A set of words in lower case."""

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(words)

    def find_in(self, text: str) -> set[str]:
        """Return the words that a text contains, in any letter case, also within other words."""
        return {word for _, word in self._automaton.iter(text.lower())}

    @cached_property
    def _automaton(self) -> Any:
        import ahocorasick  # type: ignore[import-not-found]

        automaton = ahocorasick.Automaton()
        for word in self._words:
            automaton.add_word(word, word)
        automaton.make_automaton()
        return automaton


RULES_FILE = Path(__file__).with_suffix(".json")


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
    by_keyword: Mapping[str, tuple[SecretRule, ...]]
    keywords: KeywordMatcher


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
    return SecretRules(
        rules, allowed, {keyword: tuple(found) for keyword, found in by_keyword.items()}, KeywordMatcher(by_keyword)
    )


def entropy(text: str) -> float:
    """Return the entropy of a text in bits for each character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _parse_rule(entry: Mapping[str, Any]) -> SecretRule:
    keywords = STRICTER_KEYWORDS.get(entry["kind"]) or entry["keywords"]
    lists = {"keywords": tuple(keywords), "allowed": _parse_allowlists(entry["allowed"])}
    return SecretRule(**{**entry, **lists})


def _parse_allowlists(entries: list[dict[str, Any]]) -> tuple[Allowlist, ...]:
    return tuple(Allowlist(entry["target"], tuple(entry["expressions"]), tuple(entry["words"])) for entry in entries)
