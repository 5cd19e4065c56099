"""Title, description and tags that a Markdown file states before its text, in YAML or TOML."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MAX_CHARS = 64 * 1024
_MAX_DEPTH = 32
"""Real front matter nests two or three levels; the YAML parser takes quadratic time for thousands."""
_MAX_DOTS = 50
"""The same for the dotted keys of TOML."""

_NULLS = ("", "~", "null", "Null", "NULL")

_FENCED = re.compile(
    r"(?:---[ \t]*(?P<yaml>(?:\r\n|\r|\n)(?s:.*?))(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)"
    r"|\+\+\+[ \t]*(?P<toml>(?:\r\n|\r|\n)(?s:.*?))(?:(?<=\n)|(?<=\r))\+\+\+)"
    r"[ \t]*(?:\r\n|\r|\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What front matter says; `end` is the length of it, in characters, 0 when there is none."""

    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    end: int = 0


def read_front_matter(text: str) -> FrontMatter:
    """The front matter a text begins with; one that cannot be read is no front matter."""
    stated, end = parse_front_matter(text)
    if not end:
        return FrontMatter()
    return FrontMatter(
        _scalar_text(stated.get("title")), _scalar_text(stated.get("description")), _tag_list(stated.get("tags")), end
    )


def parse_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Everything front matter says, in YAML all scalars as they are written, and its length; nothing and 0 without."""
    match = _FENCED.match(text, 0, _MAX_CHARS) if text.startswith(("---", "+++")) else None
    if match is None:
        return {}, 0
    yaml, toml = match["yaml"], match["toml"]
    stated = parse_yaml(yaml) if yaml is not None else _parse_toml(toml)
    return ({}, 0) if stated is None else (stated, match.end())


def _scalar_text(value: Any) -> str:
    return "" if value is None or isinstance(value, (list, dict)) else str(value)


def _tag_list(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    values = map(_scalar_text, value if isinstance(value, list) else [value])
    return tuple(dict.fromkeys(text.strip() for text in values if text.strip()))


def _parse_toml(text: str) -> dict[str, Any] | None:
    import tomllib  # here because most front matter is YAML

    if any(line.partition("=")[0].count(".") > _MAX_DOTS for line in text.splitlines()):
        return None
    try:
        return tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"))
    except (ValueError, RecursionError):
        return None


def parse_yaml(text: str) -> dict[str, Any] | None:
    """A YAML mapping with all scalars as they are written, whatever their tags; None for anything else."""
    # Imported here because it takes 70 ms, and many projects have no front matter at all.
    import yaml

    # Parser events instead of a loaded document: no types to go wrong (a title 1.10 stays 1.10),
    # no recursion in C (the loader crashes on deep nesting), no aliases to expand.
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        first = next((event for event in events if isinstance(event, (yaml.NodeEvent, yaml.StreamEndEvent))), None)
        stated = _build_value(first, events, {}, _MAX_DEPTH) if isinstance(first, yaml.NodeEvent) else {}
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return stated if isinstance(stated, dict) else None


def _build_value(event: Any, events: Iterator[Any], anchors: dict[str, Any], depth: int) -> Any:
    """The value that an event begins: text, a list or a dictionary; all scalars as they are written."""
    import yaml

    if not depth:
        raise yaml.YAMLError("nested too deep")
    if isinstance(event, yaml.AliasEvent):
        return anchors.get(event.anchor or "")
    value: Any = None
    if isinstance(event, yaml.ScalarEvent):
        value = None if event.implicit[0] and event.value in _NULLS else event.value
    elif isinstance(event, yaml.SequenceStartEvent):
        value = [
            _build_value(item, events, anchors, depth - 1) for item in _events_until(yaml.SequenceEndEvent, events)
        ]
    elif isinstance(event, yaml.MappingStartEvent):
        value = {}
        for key in _events_until(yaml.MappingEndEvent, events):
            name = _scalar_text(_build_value(key, events, anchors, depth - 1))
            value[name] = _build_value(next(events), events, anchors, depth - 1)
    if event.anchor:
        anchors[event.anchor] = value
    return value


def _events_until(end: type, events: Iterator[Any]) -> Iterator[Any]:
    for event in events:
        if isinstance(event, end):
            return
        yield event
