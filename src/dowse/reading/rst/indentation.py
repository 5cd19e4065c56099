"""Indentation of lines, on which the structure of reStructuredText is based."""


def indent_of(line: str) -> int:
    """Return the number of spaces at the start of a line."""
    return len(line) - len(line.lstrip(" "))


def dedent(lines: list[str]) -> list[str]:
    """Remove the indentation that all lines share."""
    shared = min((indent_of(line) for line in lines if line), default=0)
    return [line[shared:] for line in lines]


def dedent_by(lines: list[str], width: int) -> list[str]:
    """Remove up to `width` spaces of indentation from each line."""
    return [line[min(width, indent_of(line)) :] for line in lines]


def trim_blank_lines(lines: list[str]) -> list[str]:
    """Remove the blank lines at both ends."""
    nonblank = [number for number, line in enumerate(lines) if line]
    return lines[nonblank[0] : nonblank[-1] + 1] if nonblank else []


def find_indented_end(lines: list[str], at: int) -> int:
    """Return the index after the indented lines that begin here, with the blank lines between them."""
    end = at
    for number in range(at, len(lines)):
        if lines[number].startswith(" "):
            end = number + 1
        elif lines[number]:
            break
    return end


def find_nonblank(lines: list[str], at: int) -> int:
    """Return the index of the next line that is not blank."""
    return next((number for number in range(at, len(lines)) if lines[number]), len(lines))


def line_after(lines: list[str], at: int) -> str:
    """Return the line after a given one; empty at the end."""
    return lines[at + 1] if at + 1 < len(lines) else ""
