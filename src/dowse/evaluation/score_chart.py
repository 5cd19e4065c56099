"""The scores of several methods as bars: for a terminal, and as an SVG file."""

from collections.abc import Mapping
from xml.sax.saxutils import escape

_BLOCKS = " ▏▎▍▌▋▊▉█"
BAR_CHARACTERS = 30
_COLOURS = ("#4c6ef5", "#12b886", "#f59f00", "#be4bdb", "#fa5252", "#495057")
_WIDTH, _BAR_HEIGHT, _GAP, _LEFT, _RIGHT = 760, 14, 12, 110, 60

Scores = Mapping[str, Mapping[str, float]]
"""Scores from 0 to 1, by method and measure."""


def as_text(scores: Scores) -> list[str]:
    """Return the scores as lines with bars, the methods of one measure below each other."""
    width = max(map(len, scores), default=0)
    lines = []
    for measure in _measures(scores):
        for place, (method, values) in enumerate(scores.items()):
            name = measure if place == 0 else ""
            lines.append(f"{name:<10}  {method:<{width}}  {values[measure]:6.1%}  {_bar(values[measure])}".rstrip())
    return lines


def as_svg(scores: Scores, title: str) -> str:
    """Return the scores as an SVG picture."""
    group = len(scores) * _BAR_HEIGHT + _GAP
    top = 40 + 18 * len(scores)
    height = top + 10 + group * len(_measures(scores))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" font-size="15">{escape(title)}</text>',
    ]
    for place, method in enumerate(scores):
        y = 34 + 18 * place
        parts.append(f'<rect x="{_LEFT}" y="{y}" width="10" height="10" fill="{_COLOURS[place % len(_COLOURS)]}"/>')
        parts.append(f'<text x="{_LEFT + 15}" y="{y + 9}">{escape(method)}</text>')
    for row, measure in enumerate(_measures(scores)):
        first = top + row * group
        parts.append(f'<text x="{_LEFT - 8}" y="{first + 11}" text-anchor="end">{escape(measure)}</text>')
        for place, values in enumerate(scores.values()):
            y = first + place * _BAR_HEIGHT
            length = round(values[measure] * (_WIDTH - _LEFT - _RIGHT), 1)
            colour = _COLOURS[place % len(_COLOURS)]
            parts.append(f'<rect x="{_LEFT}" y="{y}" width="{length}" height="{_BAR_HEIGHT - 3}" fill="{colour}"/>')
            parts.append(f'<text x="{_LEFT + length + 5}" y="{y + 10}" font-size="10">{values[measure]:.1%}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _measures(scores: Scores) -> list[str]:
    return list(next(iter(scores.values()), {}))


def _bar(value: float) -> str:
    eighths = round(max(0.0, min(1.0, value)) * BAR_CHARACTERS * 8)
    return "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")
