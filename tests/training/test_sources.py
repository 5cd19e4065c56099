"""The training data has permissive licences only, and no repository on which search is measured."""

import re

from training.sources import MEASURED_FILE, find_refusal, read_list, read_manifest


def test_everything_that_is_learned_from_may_be() -> None:
    rows = read_manifest()
    assert len(rows) > 100
    assert [wrong for row in rows if (wrong := find_refusal(row["name"], row["licence"]))] == []


def test_the_manifest_says_who_at_which_commit_and_how_much() -> None:
    rows = read_manifest()
    assert [(row["name"], row["licence"]) for row in rows] == list(read_list())
    assert len({row["name"].lower() for row in rows}) == len(rows)
    assert all(re.fullmatch("[0-9a-f]{40}", row["commit"]) for row in rows)
    assert all(count > 0 for row in rows for count in row["pairs"].values())
    assert sum(sum(row["pairs"].values()) for row in rows) == 555_107


def test_what_search_is_measured_on_is_refused_with_its_forks() -> None:
    measured = [name for name, _ in read_list(MEASURED_FILE)]
    assert len(measured) == 251
    assert {"pallets/flask", "scikit-learn/scikit-learn", "vuejs/core"} <= set(measured)
    for name in measured:
        assert find_refusal(name, "MIT")
        assert find_refusal("somebody/" + name.partition("/")[2].upper(), "MIT")
    for licence in ("GPL-3.0", "CC-BY-SA-4.0", "", "MIT OR GPL-2.0"):
        assert find_refusal("a/b", licence)
    assert find_refusal("a/b", "MIT OR Apache-2.0") is None
