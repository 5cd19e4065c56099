"""The scores of several methods as bars."""

from collections.abc import Mapping

_BLOCKS = " ▏▎▍▌▋▊▉█"
BAR_CHARACTERS = 30

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


def _measures(scores: Scores) -> list[str]:
    return list(next(iter(scores.values()), {}))


def _bar(value: float) -> str:
    eighths = round(max(0.0, min(1.0, value)) * BAR_CHARACTERS * 8)
    return "█" * (eighths // 8) + (_BLOCKS[eighths % 8] if eighths % 8 else "")
