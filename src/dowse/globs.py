"""Glob patterns over relative paths: `**`, `*`, `?`, `[…]`, `{a,b}`, dotfiles included.

A pattern becomes one regular expression. Patterns come from users, so the cost is bounded: the
length and the number of alternatives are limited, and a star never backtracks.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from dowse.errors import UsageError

MAX_PATTERN_CHARACTERS = 1000
MAX_ALTERNATIVES = 256
MAX_EXPANDED_CHARACTERS = 20_000
"""Characters of all alternatives together. A pattern of 1,000 characters could make 250,000, whose expression takes a second."""
_SIGN = re.compile(r"\\.|\[[!^]?+(?:.[^\]]*+\]?+)?+|.", re.DOTALL)
"""An escaped character, a class, which may lack its end, or any other character."""
_CLASS = re.compile(r"\[[!^]?+.[^\]]*+\]", re.DOTALL)


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression that matches whole relative paths, or raise UsageError with the problem."""
    if not pattern:
        raise _invalid_pattern(pattern, "it is empty")
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise _invalid_pattern(pattern[:40] + "…", f"it is longer than {MAX_PATTERN_CHARACTERS} characters")
    if "\0" in pattern:
        raise _invalid_pattern(pattern.replace("\0", "␀"), "it contains a NUL character")
    signs = [_to_expression(sign, pattern) for sign in _SIGN.findall(pattern)]
    alternatives = dict.fromkeys(map(tuple, _expand_braces(signs, pattern)))
    if sum(map(len, alternatives)) > MAX_EXPANDED_CHARACTERS:
        raise _invalid_pattern(pattern, f"its braces make more than {MAX_EXPANDED_CHARACTERS:,} characters")
    return re.compile("|".join(f"(?:{_translate(alternative)})" for alternative in alternatives), re.DOTALL)


@lru_cache(maxsize=512)
def compile_path_filter(text: str) -> re.Pattern[str]:
    """Return the expression that matches whole relative paths which a person means by a path.

    A name or a part of a path is the file or folder of that name at any depth, with everything below it; a slash at
    the beginning means the top. A pattern with a slash is a glob over whole paths, and one without for names.
    """
    if any(sign in text for sign in "*?[{"):
        expression = compile_glob(text.removeprefix("./"))
        return expression if "/" in text else compile_glob(f"**/{text}")
    bare = text.removeprefix("./").strip("/")
    if bare in ("", ".") and text:
        return compile_glob("**")
    found = compile_glob(bare)
    return re.compile(f"{'' if text.startswith('/') else '(?:.*/)?'}(?:{found.pattern})(?:/.*)?", re.DOTALL)


def to_path_glob(pattern: str) -> str:
    """Turn a pattern of a settings file into a glob over whole paths; without a slash it matches names at any depth."""
    bare = pattern.removesuffix("/")
    return bare.removeprefix("/") if "/" in bare else f"**/{bare}"


def _invalid_pattern(pattern: str, why: str) -> UsageError:
    return UsageError(f"The search pattern '{pattern}' is invalid: {why}. Please check the syntax.")


def _to_expression(sign: str, whole: str) -> str:
    """Return the expression that matches what a sign stands for; stars, slashes, braces and commas stay as they are."""
    if sign in ("*", "/", "{", ",", "}"):
        return sign
    if sign == "?":
        return "[^/]"
    if sign.startswith("["):
        if not _CLASS.fullmatch(sign):
            raise _invalid_pattern(whole, "a '[' is never closed")
        return _translate_class(sign[1:-1], whole)
    return re.escape(sign) if len(sign) == 1 else f"(?:{re.escape(sign[1])})"


def _translate_class(body: str, whole: str) -> str:
    negated = body[:1] in ("!", "^")
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negated else body)
    expression = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise _invalid_pattern(whole, f"the character class [{body}] is invalid") from error
    return expression


def _expand_braces(signs: list[str], whole: str) -> list[list[str]]:
    """Expand `a{b,c}d` to `abd` and `acd`; braces without a comma are literal."""
    groups: list[list[list[list[str]]]] = [[[[]]]]
    """The groups that are open, the innermost last: each has options, and an option has alternatives."""
    for sign in signs:
        if sign == "{":
            groups.append([[[]]])
        elif sign == "," and len(groups) > 1:
            groups[-1].append([[]])
        elif sign == "}" and len(groups) > 1:
            options = groups.pop()
            ends = [one for option in options for one in option]
            if len(options) == 1:
                ends = [[r"\{", *one, r"\}"] for one in ends]
            beginnings = groups[-1][-1]
            if len(beginnings) * len(ends) > MAX_ALTERNATIVES:
                raise _invalid_pattern(whole, f"its braces make more than {MAX_ALTERNATIVES} alternatives")
            groups[-1][-1] = [[*beginning, *end] for beginning in beginnings for end in ends]
        else:
            for alternative in groups[-1][-1]:
                alternative.append(sign)
    if len(groups) > 1:
        raise _invalid_pattern(whole, "a '{' is never closed")
    return groups[0][0]


def _translate(signs: Sequence[str]) -> str:
    """Translate a glob without braces to a regular expression without catastrophic backtracking.

    Every star but the last matches up to the earliest place where the rest of the pattern fits, and
    never backtracks (atomic groups): an earlier place is never worse for the following stars. The
    same holds for `**` between whole components.
    """
    components: list[list[str]] = [[]]
    for sign in signs:
        if sign == "/":
            components.append([])
        else:
            components[-1].append(sign)
    runs: list[list[str]] = [[]]
    for component in components:
        if component == ["*", "*"]:
            if runs[-1] or len(runs) == 1:
                runs.append([])
        else:
            runs[-1].append(_translate_component(component))
    if len(runs) == 1:
        return "/".join(runs[0])
    head = "".join(f"{component}/" for component in runs[0])
    middle = "".join(f"(?>(?:[^/]+/)*?{'/'.join(run)}/)" for run in runs[1:-1])
    tail = "(?:[^/]+/)*" + "/".join(runs[-1]) if runs[-1] else ".+"
    return head + middle + tail


def _translate_component(signs: list[str]) -> str:
    pieces = [""]
    for sign in signs:
        if sign != "*":
            pieces[-1] += sign
        elif pieces[-1] or len(pieces) == 1:
            pieces.append("")
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"
