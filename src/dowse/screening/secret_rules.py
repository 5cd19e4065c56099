"""The rules that detect secrets: gitleaks' default rules, from an installed package.

The package is MaskerLogger, which follows gitleaks' default rules to mask logs. dowse reads only
its data file and runs none of its code.
"""

import math
from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from dowse.errors import Failed
from dowse.screening.keyword_matcher import KeywordMatcher

RULES_PACKAGE, RULES_FILE = "maskerlogger", "config/gitleaks.toml"

_NAME_PREFIX = r"[\w.-]{0,50}?"
"""The beginning of many rules: it matches the characters before the name of a service, from every position.

Without it the rules find the same secrets in a tenth of the time. `secrets` checks these characters after a match."""


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


@cache
def load_secret_rules() -> SecretRules:
    """Return the rules, read on first use. Raise Failed when they are missing: nothing would be masked."""
    import tomli  # it comes with the rules, is compiled, and reads them in a third of the time of tomllib

    try:
        content = tomli.loads(_find_rules_file().read_text(encoding="utf-8"))
        rules = tuple(_parse_rule(entry) for entry in content["rules"] if "regex" in entry)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"The rules for secrets cannot be read ({error}). Reinstall dowse.") from error
    by_keyword: dict[str, list[SecretRule]] = {}
    for rule in rules:
        for keyword in rule.keywords:
            by_keyword.setdefault(keyword, []).append(rule)
    general = content.get("allowlist")
    allowed = (_parse_allowlist(general),) if general else ()
    return SecretRules(
        rules, allowed, {keyword: tuple(found) for keyword, found in by_keyword.items()}, KeywordMatcher(by_keyword)
    )


def entropy(text: str) -> float:
    """Return the entropy of a text in bits for each character."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _find_rules_file() -> Path:
    package = find_spec(RULES_PACKAGE)  # this does not import the package
    if package is None or not package.submodule_search_locations:
        raise OSError(f"{RULES_PACKAGE} is not installed")
    return Path(package.submodule_search_locations[0]) / RULES_FILE


def _parse_rule(entry: Mapping[str, Any]) -> SecretRule:
    expression: str = entry["regex"]
    return SecretRule(
        kind=entry["id"],
        expression=expression.replace(_NAME_PREFIX, "", 1),
        has_name_prefix=expression.removeprefix("(?i)").startswith(_NAME_PREFIX),
        keywords=tuple(keyword.lower() for keyword in entry["keywords"]),
        min_entropy=float(entry.get("entropy", 0)),
        group=int(entry.get("secretGroup", 0)),
        path=entry.get("path", ""),
        # Exceptions for certain files only are left out: a hit may be a page without a path.
        allowed=tuple(
            _parse_allowlist(allowlist)
            for allowlist in entry.get("allowlists", ())
            if allowlist.get("condition") != "AND"
        ),
    )


def _parse_allowlist(entry: Mapping[str, Any]) -> Allowlist:
    words = tuple(word.lower() for word in entry.get("stopwords", ()))
    return Allowlist(entry.get("regexTarget", "secret"), tuple(entry.get("regexes", ())), words)
