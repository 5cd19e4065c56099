"""Front matter in YAML or TOML: title, description and tags before the text of a Markdown file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_MAX_CHARS = 64 * 1024
_MAX_DEPTH = 32
"""Real front matter has two or three levels; the YAML parser takes quadratic time for thousands of levels."""
_MAX_DOTS = 50
"""The same limit for the dotted keys of TOML."""

_NULLS = ("", "~", "null", "Null", "NULL")

_FENCED = re.compile(
    r"(?:---[ \t]*(?P<yaml>(?:\r\n|\r|\n)(?s:.*?))(?:(?<=\n)|(?<=\r))(?:---|\.\.\.)"
    r"|\+\+\+[ \t]*(?P<toml>(?:\r\n|\r|\n)(?s:.*?))(?:(?<=\n)|(?<=\r))\+\+\+)"
    r"[ \t]*(?:\r\n|\r|\n|\Z)"
)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """The fields of front matter; `end` is its length in characters, 0 if there is none."""

    title: str = ""
    description: str = ""
    tags: tuple[str, ...] = ()
    end: int = 0


def read_front_matter(text: str) -> FrontMatter:
    """Return the front matter at the start of a text; invalid front matter counts as none."""
    fields, end = parse_front_matter(text)
    if not end:
        return FrontMatter()
    return FrontMatter(
        _scalar_text(fields.get("title")), _scalar_text(fields.get("description")), _tag_list(fields.get("tags")), end
    )


def parse_front_matter(text: str) -> tuple[dict[str, Any], int]:
    """Return all fields of the front matter, YAML scalars as written, and its length; an empty dict and 0 without."""
    match = _FENCED.match(text, 0, _MAX_CHARS) if text.startswith(("---", "+++")) else None
    if match is None:
        return {}, 0
    yaml, toml = match["yaml"], match["toml"]
    fields = parse_yaml(yaml) if yaml is not None else _parse_toml(toml)
    return ({}, 0) if fields is None else (fields, match.end())


def _scalar_text(value: Any) -> str:
    return "" if value is None or isinstance(value, (list, dict)) else str(value)


def _tag_list(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = value.split(",") if "," in value else value.split()
    values = map(_scalar_text, value if isinstance(value, list) else [value])
    return tuple(dict.fromkeys(text.strip() for text in values if text.strip()))


def _parse_toml(text: str) -> dict[str, Any] | None:
    import tomllib  # imported here because most front matter is YAML

    if any(line.partition("=")[0].count(".") > _MAX_DOTS for line in text.splitlines()):
        return None
    try:
        return tomllib.loads(text.replace("\r\n", "\n").replace("\r", "\n"))
    except (ValueError, RecursionError):
        return None


def parse_yaml(text: str) -> dict[str, Any] | None:
    """Return a YAML mapping with all scalars as written, whatever their tags; None if the text is not a mapping."""
    # Imported here because it takes 70 ms, and many projects have no front matter at all.
    import yaml

    # Uses parser events instead of the loader: scalars keep their spelling (a title 1.10 stays 1.10),
    # there is no recursion in C (the loader crashes on deep nesting), and no aliases are expanded.
    events = yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    try:
        first = next((event for event in events if isinstance(event, (yaml.NodeEvent, yaml.StreamEndEvent))), None)
        fields = _build_value(first, events, {}, _MAX_DEPTH) if isinstance(first, yaml.NodeEvent) else {}
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return fields if isinstance(fields, dict) else None


def _build_value(event: Any, events: Iterator[Any], anchors: dict[str, Any], depth: int) -> Any:
    """Return the value that begins with an event: text, a list or a dictionary, with all scalars as written."""
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
