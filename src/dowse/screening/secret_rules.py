"""The rules by which secrets are known: those of gitleaks, as an installed package brings them.

The package is MaskerLogger, which keeps up with gitleaks' default rules for masking logs. Only its
data file is read; none of its code runs.
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
"""How many of the rules begin: what stands before the name of a service, looked at from every character.

Without it they find the same secrets in a tenth of the time; `secrets` looks at what stands there after a match."""


class Allowlist(NamedTuple):
    """What is no secret although a rule finds it."""

    target: str
    """What the expressions are held against: `secret`, `match` or `line`."""
    expressions: tuple[str, ...]
    words: tuple[str, ...]


class SecretRule(NamedTuple):
    """One kind of secret."""

    kind: str
    expression: str
    has_name_prefix: bool
    keywords: tuple[str, ...]
    """In small letters; a text without any of them has no such secret."""
    min_entropy: float
    group: int
    path: str
    """It holds in files whose path matches; empty for all."""
    allowed: tuple[Allowlist, ...]


class SecretRules(NamedTuple):
    """All of them, and what is allowed whatever rule finds it."""

    every: tuple[SecretRule, ...]
    allowed: tuple[Allowlist, ...]
    by_keyword: Mapping[str, tuple[SecretRule, ...]]
    keywords: KeywordMatcher


@cache
def load_secret_rules() -> SecretRules:
    """The rules, read when they are first needed; Failed where they are not there, for then nothing would be masked."""
    import tomli  # comes with the rules; compiled, it reads them in a third of the time of tomllib

    try:
        found = tomli.loads(_find_rules_file().read_text(encoding="utf-8"))
        every = tuple(_parse_rule(one) for one in found["rules"] if "regex" in one)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failed(f"The rules for secrets cannot be read ({error}). Install dowse again.") from error
    by_keyword: dict[str, list[SecretRule]] = {}
    for rule in every:
        for keyword in rule.keywords:
            by_keyword.setdefault(keyword, []).append(rule)
    general = found.get("allowlist")
    allowed = (_parse_allowlist(general),) if general else ()
    return SecretRules(
        every, allowed, {keyword: tuple(those) for keyword, those in by_keyword.items()}, KeywordMatcher(by_keyword)
    )


def entropy(text: str) -> float:
    """Bits a character, by how often each occurs."""
    return -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())


def _find_rules_file() -> Path:
    package = find_spec(RULES_PACKAGE)  # which does not import it
    if package is None or not package.submodule_search_locations:
        raise OSError(f"{RULES_PACKAGE} is not installed")
    return Path(package.submodule_search_locations[0]) / RULES_FILE


def _parse_rule(one: Mapping[str, Any]) -> SecretRule:
    expression: str = one["regex"]
    return SecretRule(
        kind=one["id"],
        expression=expression.replace(_NAME_PREFIX, "", 1),
        has_name_prefix=expression.removeprefix("(?i)").startswith(_NAME_PREFIX),
        keywords=tuple(keyword.lower() for keyword in one["keywords"]),
        min_entropy=float(one.get("entropy", 0)),
        group=int(one.get("secretGroup", 0)),
        path=one.get("path", ""),
        # Those that hold in certain files only are left out: a hit may be of a page without a path.
        allowed=tuple(_parse_allowlist(each) for each in one.get("allowlists", ()) if each.get("condition") != "AND"),
    )


def _parse_allowlist(one: Mapping[str, Any]) -> Allowlist:
    words = tuple(word.lower() for word in one.get("stopwords", ()))
    return Allowlist(one.get("regexTarget", "secret"), tuple(one.get("regexes", ())), words)
