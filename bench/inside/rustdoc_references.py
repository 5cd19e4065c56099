"""Read places of definitions as JSON, and print the uses of each that rustdoc links to it.

    python rustdoc_references.py ROOT < [[path, line, column], ...]

`crates.txt` in ROOT has a folder with a crate on each line, and the flags to compile it; a crate may use those before it. A nightly rustdoc
makes pages of the sources, in which every name links to its definition; the tests of a crate are not among them.
"""

import html
import json
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote

_LINE = re.compile(r'<a href="?#?(\d+)"? id="?\1"?[^>]*>\1</a>|<span id="?(\d+)"?>|<a href=#(\d+) id=\3[^>]*>')
_LINK = re.compile(r'<a (?:class="[^"]*" )?href="([^"#]*)#(\d+)(?:-\d+)?"[^>]*>')


def main() -> None:
    """Document each crate of `crates.txt`, a folder with its flags on each line, and read the links of its pages."""
    root, wanted = Path(sys.argv[1]).resolve(), json.load(sys.stdin)
    out = Path(tempfile.mkdtemp())
    uses = dict[tuple[str, int], set[tuple[str, int]]]()
    crates = [
        shlex.split(line.replace('"', '\\"')) for line in (root / "crates.txt").read_text(encoding="utf-8").splitlines()
    ]
    externs = list[str]()
    for folder, *flags in crates:
        name = Path(folder).name.replace("-", "_")
        common = [
            str(root / folder / "src/lib.rs"),
            "--crate-name",
            name,
            "--edition",
            "2021",
            *flags,
            *externs,
            "-L",
            str(out),
        ]
        subprocess.run(
            [
                "rustc",
                "+nightly",
                *common,
                "--crate-type",
                "lib",
                "--emit",
                "metadata",
                "--out-dir",
                str(out),
                "--cap-lints",
                "allow",
            ],
            check=True,
        )
        options = [
            "-Z",
            "unstable-options",
            "--generate-link-to-definition",
            "--document-private-items",
            "--cap-lints",
            "allow",
        ]
        subprocess.run(["rustdoc", "+nightly", *common, *options, "-o", str(out / "doc")], check=True)
        externs += ["--extern", f"{name}={out}/lib{name}.rmeta"]
        for page in (out / "doc/src" / name).rglob("*.rs.html"):
            path = f"{folder}/src/{page.relative_to(out / 'doc/src' / name)}".removesuffix(".html")
            read_page(page, path, uses, out, {Path(one[0]).name.replace("-", "_"): one[0] for one in crates})
    known = {path for path, _ in uses} | {path for places in uses.values() for path, _ in places}
    found = [
        sorted(uses.get((path, line), ())) if path in known else None
        for path, line, _ in wanted
    ]  # fmt: skip
    print(json.dumps(found))


def read_page(
    page: Path, path: str, uses: dict[tuple[str, int], set[tuple[str, int]]], out: Path, crates: dict[str, str]
) -> None:
    """Note the links of one page."""
    text = page.read_text(encoding="utf-8")
    code = text[text.index("<code>") + 6 :] if "<code>" in text else text
    line = 1
    for part in code.split("\n"):
        for href, target in _LINK.findall(part):
            link = unquote(html.unescape(href))
            place = page if not link else (page.parent / link).resolve()
            try:
                crate, _, below = str(place.relative_to((out / "doc/src").resolve())).partition("/")
            except ValueError:
                continue
            if crate in crates and below.endswith(".rs.html"):
                file = f"{crates[crate]}/src/{below.removesuffix('.html')}"
                uses.setdefault((file, int(target)), set()).add((path, line))
        line += 1


main()
