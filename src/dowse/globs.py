"""Glob patterns over relative paths: `**`, `*`, `?`, `[…]`, `{a,b}`, dotfiles included.

A pattern becomes one regular expression. Patterns come from users, so the cost is bounded: the
length and the number of alternatives are limited, and a star never backtracks.
"""

import re
from functools import lru_cache
from itertools import pairwise

from dowse.errors import UsageError

MAX_PATTERN_CHARACTERS = 1000
MAX_ALTERNATIVES = 256
MAX_EXPANDED_CHARACTERS = 20_000
"""Characters of all alternatives together. A pattern of 1,000 characters could make 250,000, whose expression takes a second."""


@lru_cache(maxsize=512)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """Return the expression that matches whole relative paths, or raise UsageError with the problem."""
    if not pattern:
        raise _invalid_pattern(pattern, "it is empty")
    if len(pattern) > MAX_PATTERN_CHARACTERS:
        raise _invalid_pattern(pattern[:40] + "…", f"it is longer than {MAX_PATTERN_CHARACTERS} characters")
    if "\0" in pattern:
        raise _invalid_pattern(pattern.replace("\0", "␀"), "it contains a NUL character")
    alternatives = list(dict.fromkeys(_expand_braces(pattern, pattern)))
    if sum(map(len, alternatives)) > MAX_EXPANDED_CHARACTERS:
        raise _invalid_pattern(pattern, f"its braces make more than {MAX_EXPANDED_CHARACTERS:,} characters")
    return re.compile("|".join(f"(?:{_translate(alternative, pattern)})" for alternative in alternatives), re.DOTALL)


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


def _expand_braces(pattern: str, whole: str) -> list[str]:
    """Expand `a{b,c}d` to `abd` and `acd`; braces without a comma are literal."""
    results, pending = [], [pattern]
    while pending:
        current = pending.pop()
        group = _find_group(current, whole)
        if group is None:
            results.append(current)
        else:
            start, end, options = group
            pending.extend(current[:start] + option + current[end:] for option in reversed(options))
        if len(results) + len(pending) > MAX_ALTERNATIVES:
            raise _invalid_pattern(whole, f"its braces make more than {MAX_ALTERNATIVES} alternatives")
    return results


def _find_group(text: str, whole: str) -> tuple[int, int, list[str]] | None:
    """Return the start, the end and the options of the first innermost `{…,…}`."""
    position, opened, cuts = 0, -1, list[int]()
    while position < len(text):
        character = text[position]
        if character == "\\":
            position += 1
        elif character == "[":
            position = _find_class_end(text, position, whole) - 1
        elif character == "{":
            opened, cuts = position, []
        elif character == "," and opened >= 0:
            cuts.append(position)
        elif character == "}" and opened >= 0:
            if cuts:
                edges = [opened, *cuts, position]
                return opened, position + 1, [text[a + 1 : b] for a, b in pairwise(edges)]
            opened = -1
        position += 1
    if opened >= 0:
        raise _invalid_pattern(whole, "a '{' is never closed")
    return None


def _find_class_end(text: str, start: int, whole: str) -> int:
    """Return the position after the `]` that closes the class opened at `start`."""
    position = start + 1
    if text[position : position + 1] in ("!", "^"):
        position += 1
    end = text.find("]", position + 1)
    if end < 0:
        raise _invalid_pattern(whole, "a '[' is never closed")
    return end + 1


def _translate(glob: str, whole: str) -> str:
    """Translate a glob without braces to a regular expression without catastrophic backtracking.

    Every star but the last matches up to the earliest place where the rest of the pattern fits, and
    never backtracks (atomic groups): an earlier place is never worse for the following stars. The
    same holds for `**` between whole components.
    """
    runs: list[list[str]] = [[]]
    for component in _split_components(glob, whole):
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


def _split_components(glob: str, whole: str) -> list[list[str]]:
    """Split the glob at slashes; each component is a list of stars and of expressions for one character."""
    components: list[list[str]] = [[]]
    position = 0
    while position < len(glob):
        character, end = glob[position], position + 1
        if character == "/":
            components.append([])
        elif character == "*":
            components[-1].append("*")
        elif character == "?":
            components[-1].append("[^/]")
        elif character == "[":
            end = _find_class_end(glob, position, whole)
            components[-1].append(_translate_class(glob[position + 1 : end - 1], whole))
        else:
            if character == "\\" and end < len(glob):
                character, end = glob[end], end + 1
            components[-1].append(re.escape(character))
        position = end
    return components


def _translate_component(elements: list[str]) -> str:
    pieces = [""]
    for element in elements:
        if element != "*":
            pieces[-1] += element
        elif pieces[-1] or len(pieces) == 1:
            pieces.append("")
    if len(pieces) == 1:
        return pieces[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in pieces[1:-1])
    return f"{pieces[0]}{middle}[^/]*{pieces[-1]}"


def _translate_class(body: str, whole: str) -> str:
    negated = body[:1] in ("!", "^")
    inner = re.sub(r"([\\\[\]^&~|])", r"\\\1", body[1:] if negated else body)
    expression = f"(?!/)[{'^' if negated else ''}{inner}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise _invalid_pattern(whole, f"the character class [{body}] is invalid") from error
    return expression
