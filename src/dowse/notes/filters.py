"""Filters on metadata: parsed and checked once, then compared as values, never run as code.

In `{"author": "Smith", "year": {"gte": 2020}, "tag": ["a", "b"], "draft": {"exists": false}}` every condition must hold.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dowse.errors import UsageError
from dowse.notes.limits import MAX_CHOICES, MAX_CONDITIONS

_ABSENT = object()
Test = Callable[[Any, Any], bool]


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of one metadata value."""

    key: str
    operator: str
    value: Any

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether metadata fulfils this condition."""
        found = _look_up(metadata, self.key)
        if self.operator == "exists":
            return (found is not _ABSENT) is self.value
        if self.operator == "ne":
            return not _equals(found, self.value)
        if found is _ABSENT:
            return False
        return OPERATORS[self.operator](found, self.value)


Filter = tuple[Condition, ...]


def parse_filter(value: Mapping[str, Any] | None) -> Filter:
    """Return the conditions of a filter. Raise a UsageError that names the first invalid one."""
    conditions = [condition for key, wanted in (value or {}).items() for condition in _parse_conditions(key, wanted)]
    if len(conditions) > MAX_CONDITIONS:
        raise UsageError(f"filter has {len(conditions):,} conditions; the maximum is {MAX_CONDITIONS}.")
    return tuple(conditions)


def holds(conditions: Filter, metadata: Mapping[str, Any]) -> bool:
    """Return whether metadata fulfils every condition."""
    return all(condition.holds(metadata) for condition in conditions)


def _parse_conditions(key: str, wanted: Any) -> list[Condition]:
    if isinstance(wanted, list):
        return [_make_condition(key, "in", wanted)]
    if not isinstance(wanted, dict):
        return [Condition(key, "eq", wanted)]
    if not wanted:
        raise UsageError(f"filter.{key[:60]} is empty. It takes: {', '.join(OPERATORS)}.")
    return [_make_condition(key, operator, value) for operator, value in wanted.items()]


def _make_condition(key: str, operator: str, value: Any) -> Condition:
    where = f"filter.{key[:60]}.{operator[:60]}"
    if operator not in OPERATORS:
        raise UsageError(f"{where} is not a comparison. Comparisons: {', '.join(OPERATORS)}.")
    if operator == "in" and not (isinstance(value, list) and len(value) <= MAX_CHOICES):
        raise UsageError(f"{where} has to be a list of at most {MAX_CHOICES:,} values.")
    if operator == "exists" and not isinstance(value, bool):
        raise UsageError(f"{where} has to be true or false.")
    if operator in ("gt", "gte", "lt", "lte") and not (_is_number(value) or isinstance(value, str)):
        raise UsageError(f"{where} has to be a number or a text.")
    return Condition(key, operator, value)


def _look_up(metadata: Mapping[str, Any], key: str) -> Any:
    """Return the value of a key or, if there is no such key, of a path of keys (`author.name`)."""
    if key in metadata:
        return metadata[key]
    found: Any = metadata
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            return _ABSENT
        found = found[part]
    return found


def _equals(found: Any, wanted: Any) -> bool:
    """Return whether a value is the wanted one, or a list that contains it."""
    return _is_same(found, wanted) or (isinstance(found, list) and any(_is_same(item, wanted) for item in found))


def _is_same(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    if type(left) is not type(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(_is_same, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(_is_same(value, right[key]) for key, value in left.items())
    return bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _order_test(compare: Test) -> Test:
    """Return a test that compares numbers with numbers and strings with strings, and fails for other pairs."""

    def test(found: Any, wanted: Any) -> bool:
        both_numbers = _is_number(found) and _is_number(wanted)
        return (both_numbers or (isinstance(found, str) and isinstance(wanted, str))) and compare(found, wanted)

    return test


OPERATORS: dict[str, Test] = {
    "eq": _equals,
    "ne": lambda found, wanted: not _equals(found, wanted),
    "in": lambda found, wanted: any(_equals(found, choice) for choice in wanted),
    "gt": _order_test(lambda found, wanted: bool(found > wanted)),
    "gte": _order_test(lambda found, wanted: bool(found >= wanted)),
    "lt": _order_test(lambda found, wanted: bool(found < wanted)),
    "lte": _order_test(lambda found, wanted: bool(found <= wanted)),
    "exists": lambda _found, wanted: bool(wanted),
}
