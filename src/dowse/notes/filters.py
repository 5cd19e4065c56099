"""Conditions on metadata: read once, checked, and compared as values. Nothing of them ever becomes code.

`{"author": "Smith", "year": {"gte": 2020}, "tag": ["a", "b"], "draft": {"exists": false}}`: all have to hold.
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
    """One comparison of one value."""

    key: str
    operator: str
    value: Any

    def holds(self, metadata: Mapping[str, Any]) -> bool:
        """Whether metadata has what is wanted."""
        found = _looked_up(metadata, self.key)
        if self.operator == "exists":
            return (found is not _ABSENT) is self.value
        if self.operator == "ne":
            return not _equals(found, self.value)
        if found is _ABSENT:
            return False
        return OPERATORS[self.operator](found, self.value)


Filter = tuple[Condition, ...]


def filter_of(given: Mapping[str, Any] | None) -> Filter:
    """The conditions of a filter; UsageError says what is wrong with which."""
    conditions = [condition for key, wanted in (given or {}).items() for condition in _conditions(key, wanted)]
    if len(conditions) > MAX_CONDITIONS:
        raise UsageError(f"filter has {len(conditions):,} conditions; {MAX_CONDITIONS} are the most.")
    return tuple(conditions)


def holds(conditions: Filter, metadata: Mapping[str, Any]) -> bool:
    """Whether all conditions hold."""
    return all(condition.holds(metadata) for condition in conditions)


def _conditions(key: str, wanted: Any) -> list[Condition]:
    if isinstance(wanted, list):
        return [_checked(key, "in", wanted)]
    if not isinstance(wanted, dict):
        return [Condition(key, "eq", wanted)]
    if not wanted:
        raise UsageError(f"filter.{key[:60]} is empty. It takes: {', '.join(OPERATORS)}.")
    return [_checked(key, operator, value) for operator, value in wanted.items()]


def _checked(key: str, operator: str, value: Any) -> Condition:
    where = f"filter.{key[:60]}.{operator[:60]}"
    if operator not in OPERATORS:
        raise UsageError(f"{where} is no comparison. There are: {', '.join(OPERATORS)}.")
    if operator == "in" and not (isinstance(value, list) and len(value) <= MAX_CHOICES):
        raise UsageError(f"{where} has to be a list of at most {MAX_CHOICES:,} values.")
    if operator == "exists" and not isinstance(value, bool):
        raise UsageError(f"{where} has to be true or false.")
    if operator in ("gt", "gte", "lt", "lte") and not (_is_number(value) or isinstance(value, str)):
        raise UsageError(f"{where} has to be a number or a text.")
    return Condition(key, operator, value)


def _looked_up(metadata: Mapping[str, Any], key: str) -> Any:
    """The value of a key, or of a path of keys (`author.name`) where no key is called so."""
    if key in metadata:
        return metadata[key]
    found: Any = metadata
    for part in key.split("."):
        if not isinstance(found, dict) or part not in found:
            return _ABSENT
        found = found[part]
    return found


def _equals(found: Any, wanted: Any) -> bool:
    """The same value, or a list that has it."""
    return _same(found, wanted) or (isinstance(found, list) and any(_same(one, wanted) for one in found))


def _same(one: Any, other: Any) -> bool:
    if _is_number(one) and _is_number(other):
        return bool(one == other)
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    return bool(one == other)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ordered(compare: Test) -> Test:
    """A comparison of what has an order: numbers with numbers, texts with texts."""

    def test(found: Any, wanted: Any) -> bool:
        both_numbers = _is_number(found) and _is_number(wanted)
        return (both_numbers or (isinstance(found, str) and isinstance(wanted, str))) and compare(found, wanted)

    return test


OPERATORS: dict[str, Test] = {
    "eq": _equals,
    "ne": lambda found, wanted: not _equals(found, wanted),
    "in": lambda found, wanted: any(_equals(found, one) for one in wanted),
    "gt": _ordered(lambda found, wanted: bool(found > wanted)),
    "gte": _ordered(lambda found, wanted: bool(found >= wanted)),
    "lt": _ordered(lambda found, wanted: bool(found < wanted)),
    "lte": _ordered(lambda found, wanted: bool(found <= wanted)),
    "exists": lambda _found, wanted: bool(wanted),
}
