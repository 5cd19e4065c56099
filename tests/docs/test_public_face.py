"""The public face changes only on purpose."""

import difflib

import pytest

from tests.docs.public_face import RECORDED, record


def test_the_public_face_is_as_recorded() -> None:
    expected, found = RECORDED.read_text(encoding="utf-8").splitlines(), record().splitlines()
    if found != expected:
        lines = list(difflib.unified_diff(expected, found, "recorded", "now", n=3, lineterm=""))
        remedy = "Record it with `python -m tests.docs.public_face`, and see CONTRIBUTING.md for what that means for the version."
        pytest.fail("\n".join([*lines[:80], remedy]), pytrace=False)
