"""Translation of git's wildcard patterns to regular expressions over bytes.

Git compares bytes, so `?` matches one byte and `é` needs two. Matching follows git's wildmatch.c
with all its quirks, and backtracking is bounded: every star but the last matches up to the earliest
place where the rest of the pattern fits, and never backtracks (atomic groups).

The path of a folder ends in a NUL, which no name can contain. So the same expressions serve rules
for everything and rules for folders only.
"""

import re
import string

STAR = b"[^/]*"
_ANY_BYTE = b"[^/\\x00]"
_NEVER = b"(?!)"
_SPECIAL = re.compile(rb"[*?\[\\]")
_SLASHES = (b"/", b"\\/")
_STARS = b"**"

_DOUBLE_STAR = {
    None: (b"", b".*"),
    b"/": (b"(?:.*?/)??", b"(?:.*/)?"),
    b"\\/": (b".*?/", b".*/"),
}
"""The lazy and the greedy expression for a `**`, by the token after it. Git tries the empty match
only before a slash that is not escaped."""

_ITEM = re.compile(
    rb"""\[:(?P<named>[^\]]*):\]
       | (?P<first>\\.|[^\\]) - (?P<last>\\.|[^\\\]])
       | (?P<one>\\.|[^\\])""",
    re.VERBOSE | re.DOTALL,
)
_NAMED = {
    b"alnum": string.ascii_letters + string.digits,
    b"alpha": string.ascii_letters,
    b"blank": " \t",
    b"cntrl": "".join(map(chr, [*range(32), 127])),
    b"digit": string.digits,
    b"graph": "".join(map(chr, range(33, 127))),
    b"lower": string.ascii_lowercase,
    b"print": "".join(map(chr, range(32, 127))),
    b"punct": string.punctuation,
    b"space": " \t\n\r",  # git's own ctype has neither form feed nor vertical tab
    b"upper": string.ascii_uppercase,
    b"xdigit": string.hexdigits,
}


def name_expression(pattern: bytes) -> bytes | None:
    """Return the expression for a pattern without a slash, to match a name; None when nothing can match."""
    tokens = _tokenize(pattern)
    return None if tokens is None else _translate_segment(tokens)


def path_expression(pattern: bytes) -> bytes | None:
    """Return the expression for a pattern with a slash, to match a path; None when nothing can match."""
    tokens = _tokenize(pattern)
    if tokens is None:
        return None
    special = _SPECIAL.search(pattern)
    runs, leads = _split_at_double_stars(tokens, special.start() if special else len(pattern))
    if not leads:
        return _translate_segment(runs[0])
    middle = b"".join(
        b"(?>%b%b)" % (_DOUBLE_STAR[lead][0], _translate_segment(run))
        for lead, run in zip(leads, runs[1:-1], strict=False)
    )
    return _translate_segment(runs[0]) + middle + _DOUBLE_STAR[leads[-1]][1] + _translate_segment(runs[-1])


def is_literal(pattern: bytes) -> bool:
    """Return whether a pattern has no wildcards."""
    return _SPECIAL.search(pattern) is None


def _tokenize(pattern: bytes) -> list[bytes] | None:
    """Split a pattern into stars, slashes and expressions for one byte; None for a pattern that git never matches."""
    tokens: list[bytes] = []
    position = 0
    while position < len(pattern):
        character, end = pattern[position : position + 1], position + 1
        if character == b"*":
            while pattern[end : end + 1] == b"*":
                end += 1
            tokens.append(b"*" if end == position + 1 else _STARS)
        elif character == b"?":
            tokens.append(_ANY_BYTE)
        elif character == b"[":
            bracket = _translate_bracket(pattern, end)
            if bracket is None:
                return None
            expression, end = bracket
            tokens.append(expression)
        elif character == b"\\":
            if end == len(pattern):
                return None
            tokens.append(b"\\/" if pattern[end : end + 1] == b"/" else re.escape(pattern[end : end + 1]))
            end += 1
        else:
            tokens.append(re.escape(character))
        position = end
    return tokens


def _split_at_double_stars(tokens: list[bytes], literal_length: int) -> tuple[list[list[bytes]], list[bytes | None]]:
    """Split the tokens at each `**` that crosses folders; also return the token after each of them."""
    runs: list[list[bytes]] = [[]]
    leads: list[bytes | None] = []
    after_wide = False
    for position, token in enumerate(tokens):
        after = tokens[position + 1] if position + 1 < len(tokens) else None
        # Git compares the literal beginning separately and treats the rest as a pattern of its own:
        # in `a**/b` the stars begin that pattern, so they cross folders.
        begins = position == literal_length or (position > 0 and tokens[position - 1] in _SLASHES)
        if token == _STARS and begins and (after is None or after in _SLASHES):
            leads.append(after)
            runs.append([])
            after_wide = True
        elif after_wide:
            after_wide = False  # the expression for the stars includes the slash after them
        else:
            runs[-1].append(token)
    return runs, leads


def _split_components(tokens: list[bytes]) -> list[list[bytes]]:
    components: list[list[bytes]] = [[]]
    for token in tokens:
        if token in _SLASHES:
            components.append([])
        else:
            components[-1].append(token)
    return components


def _translate_segment(tokens: list[bytes]) -> bytes:
    """Translate whole components, whose stars do not cross folders."""
    return b"/".join(_translate_component(component) for component in _split_components(tokens))


def _translate_component(tokens: list[bytes]) -> bytes:
    pieces = [b""]
    for token in tokens:
        if token not in (b"*", _STARS):
            pieces[-1] += token
        elif pieces[-1] or len(pieces) == 1:
            pieces.append(b"")
    if len(pieces) == 1:
        return pieces[0]
    middle = b"".join(b"(?>[^/]*?%b)" % piece for piece in pieces[1:-1])
    return pieces[0] + middle + STAR + pieces[-1]


def _translate_bracket(pattern: bytes, start: int) -> tuple[bytes, int] | None:
    """Return the expression for the bracket opened before `start`, and the position after it."""
    is_negated = pattern[start : start + 1] in (b"!", b"^")
    first = position = start + is_negated
    members: set[int] = set()
    while position == first or pattern[position : position + 1] != b"]":
        item = _ITEM.match(pattern, position)
        if item is None or (item["named"] is not None and item["named"] not in _NAMED):
            return None
        members |= _members(item)
        position = item.end()
    return _byte_class(members, is_negated=is_negated), position + 1


def _members(item: re.Match[bytes]) -> set[int]:
    if item["named"] is not None:
        return set(_NAMED[item["named"]].encode())
    if item["one"] is not None:
        return {item["one"][-1]}
    first, last = item["first"][-1], item["last"][-1]
    return {first, *range(first, last + 1)}  # a backward range is its first byte


def _byte_class(members: set[int], *, is_negated: bool) -> bytes:
    reserved = {0, ord("/")}
    listed = b"".join(
        b"\\x%02x" % member for member in sorted(members | reserved if is_negated else members - reserved)
    )
    if is_negated:
        return b"[^%b]" % listed
    return b"[%b]" % listed if listed else _NEVER
