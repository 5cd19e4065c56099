"""Lines and how far they are indented, which is what reStructuredText is built of."""


def indent_of(line: str) -> int:
    """How far a line is indented."""
    return len(line) - len(line.lstrip(" "))


def dedent(lines: list[str]) -> list[str]:
    """Lines without the indentation that all of them share."""
    shared = min((indent_of(line) for line in lines if line), default=0)
    return [line[shared:] for line in lines]


def dedent_by(lines: list[str], by: int) -> list[str]:
    """Lines without so much of their indentation, or all of it where they have less."""
    return [line[min(by, indent_of(line)) :] for line in lines]


def trim_blank_lines(lines: list[str]) -> list[str]:
    """Lines without the blank ones at both ends."""
    filled = [number for number, line in enumerate(lines) if line]
    return lines[filled[0] : filled[-1] + 1] if filled else []


def find_indented_end(lines: list[str], at: int) -> int:
    """Where the lines end that are indented, with the blank ones between them."""
    end = at
    for number in range(at, len(lines)):
        if lines[number].startswith(" "):
            end = number + 1
        elif lines[number]:
            break
    return end


def find_nonblank(lines: list[str], at: int) -> int:
    """The next line that is not blank."""
    return next((number for number in range(at, len(lines)) if lines[number]), len(lines))


def line_after(lines: list[str], at: int) -> str:
    """The line after one, empty at the end."""
    return lines[at + 1] if at + 1 < len(lines) else ""
