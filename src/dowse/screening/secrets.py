"""Keys and tokens in a text: where each stands, and what it is."""

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from dowse.errors import ScreeningTimeout
from dowse.screening.secret_rules import Allowlist, SecretRule, entropy, load_secret_rules

if TYPE_CHECKING:
    import regex

RULE_SECONDS = 0.25
"""What one rule may take on one text; a text made to take longer is not shown."""
NAME_PREFIX_CHARACTERS = 50
"""How far before its match a rule may look for what makes it harmless, as in `foreign_key`."""
GENERIC_KIND = "generic-api-key"
"""The kind of what stands beside a word such as `secret` and looks like chance."""
_RUN, _DIGIT = re.compile(r"[\w.=+/-]{10,}", re.ASCII), re.compile("[0-9]")
"""The least of such a value, and of a token of Vault: ten characters, a digit among them."""
_NAME_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


class Secret(NamedTuple):
    """A secret's place in a text, in characters."""

    start: int
    end: int
    kind: str


def find_secrets(text: str, path: str = "") -> list[Secret]:
    """The secrets of a text in order, none within another; TookTooLong for a text that keeps a rule busy.

    Some rules hold in certain files alone, known by their path.
    """
    known = load_secret_rules()
    wanted = {rule.kind: rule for keyword in known.keywords.find_in(text) for rule in known.by_keyword[keyword]}
    found = sorted(
        secret for rule in wanted.values() if _may_match(rule, text, path) for secret in _find_by_rule(rule, text)
    )
    return list(_merge_overlapping(found))


def _may_match(rule: SecretRule, text: str, path: str) -> bool:
    """Whether a closer look is worth it; of the two rules that most code has the words of, seldom."""
    if rule.kind in (GENERIC_KIND, "vault-service-token") and not any(map(_DIGIT.search, _RUN.findall(text))):
        return False
    return not rule.path or (bool(path) and _compile(rule.path).search(path) is not None)


def _find_by_rule(rule: SecretRule, text: str) -> Iterator[Secret]:
    try:
        for match in _compile(rule.expression).finditer(text, timeout=RULE_SECONDS, concurrent=False):
            group = rule.group or next((at for at, one in enumerate(match.groups(), 1) if one), 0)
            start, end = match.span(group)
            if end > start and not _is_harmless(rule, text, match, text[start:end]):
                yield Secret(start, end, rule.kind)
    except TimeoutError as error:
        raise ScreeningTimeout(rule.kind) from error


def _is_harmless(rule: SecretRule, text: str, match: "regex.Match[str]", secret: str) -> bool:
    """Too regular to be a secret, or known as an example or a name."""
    if rule.min_entropy and entropy(secret) <= rule.min_entropy:
        return True
    if rule.kind == GENERIC_KIND and not any(map(str.isdigit, secret)):
        return True  # as gitleaks has it, beside its rules
    start = match.start()
    if rule.has_name_prefix:
        least = max(0, start - NAME_PREFIX_CHARACTERS)
        while start > least and text[start - 1] in _NAME_CHARACTERS:
            start -= 1
    targets = {"secret": secret, "match": text[start : match.end()], "line": _line_around(text, start, match.end())}
    return any(_allows(each, targets) for each in (*rule.allowed, *load_secret_rules().allowed))


def _allows(allowed: Allowlist, targets: dict[str, str]) -> bool:
    target, small = targets[allowed.target], targets["secret"].lower()
    return any(word in small for word in allowed.words) or any(
        _compile(expression).search(target, timeout=RULE_SECONDS, concurrent=False)
        for expression in allowed.expressions
    )


def _line_around(text: str, start: int, end: int) -> str:
    last = text.find("\n", end)
    return text[text.rfind("\n", 0, start) + 1 : last if last >= 0 else len(text)]


def _merge_overlapping(found: list[Secret]) -> Iterator[Secret]:
    """Secrets in order; those that overlap are one, of the kind that says most."""
    last: Secret | None = None
    for one in found:
        if last is None or one.start >= last.end:
            if last:
                yield last
            last = one
        else:
            kind = one.kind if last.kind == GENERIC_KIND else last.kind
            last = Secret(last.start, max(last.end, one.end), kind)
    if last:
        yield last


@cache
def _compile(expression: str) -> "regex.Pattern[str]":
    """An expression as gitleaks means it; compiled when a text has the word that goes with it."""
    # The standard library's matcher cannot be stopped, and knows no flags within an expression.
    import regex

    return regex.compile(expression, regex.VERSION1 | regex.ASCII)
