"""Pages of a site are read by the parser processes, and hostile files do no harm."""

import json
from pathlib import Path

import pytest

from dowse.sites.building.builder import BuildSettings, build
from tests.sample_data import write_tree

SETTINGS = BuildSettings(name="Site", domain="site.example")
LAUGHS = "a0: &a0 [x]\n" + "".join(
    f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 9)}]\n" for number in range(1, 12)
)
"""A few hundred bytes of YAML that stand for thirty billion values."""


def test_a_page_that_cannot_be_parsed_is_left_out_with_its_reason(tmp_path: Path) -> None:
    files = {
        "a.md": "# Apple\n\nText.\n",
        "b.md": ">" * 900_000,
        "c.md": f"---\n{LAUGHS}tags: *a11\n---\n\nText.\n",
        "d.md": "# Date\n",
    }
    built = build(write_tree(tmp_path, files), SETTINGS)
    assert [page["url"] for page in json.loads(built.data)["pages"]] == ["/a", "/d"]
    reasons = {path: reason for reason, paths in built.skipped.items() for path in paths}
    assert reasons["b.md"] == "it takes more than 1.5 s to parse"
    assert reasons["c.md"] in ("it takes more than 1.5 s to parse", "it takes more than 100 MB to parse")


@pytest.mark.parametrize("kind", ["md", "html"])
def test_a_long_page_in_any_script_is_whole(tmp_path: Path, kind: str) -> None:
    text = "Яблоко очищают ножом. " * 100_000
    page = f"# Я\n\n{text}\n" if kind == "md" else f"<meta charset=utf-8><title>Я</title><main><p>{text}</main>"
    built = build(write_tree(tmp_path, {f"a.{kind}": page}), SETTINGS)
    (found,) = json.loads(built.data)["pages"]
    assert found["body"].endswith(text.strip())
