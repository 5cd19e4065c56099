"""Scenarios of the command line: stdout, stderr and exit code of every command."""

import hashlib
import os
import re
from pathlib import Path

from tests.recording.normalize import normalized
from tests.recording.projects import MODIFIED, Place
from tests.recording.starting import Commands, files_below


def help_texts(place: Place) -> str:
    """Record the help of every command, found by following the lists of commands."""
    shell = Commands(place)
    waiting: list[tuple[str, ...]] = [()]
    while waiting:
        words = waiting.pop(0)
        heading = "\nCommands:\n" if words else "\nSearch:\n"
        _, _, listed = shell.run(*words, "--help").partition(heading)
        waiting += [(*words, name) for name in re.findall(r"^  ([a-z][a-z-]*) ", listed, re.MULTILINE)]
    shell.run("docs", ".", "--help")
    shell.run("--version")
    texts, command, versions = shell.text.rpartition("$ dowse --version\n")
    return texts + command + re.sub(r"^(out\| [\w-]+ )(?!version).*", r"\1<VERSION>", versions, flags=re.MULTILINE)


def project_commands(place: Place) -> str:
    """Record the commands about a project, before it is indexed and after."""
    shell = Commands(place)
    for words in ("status", "status --json", "doctor", "doctor --json", "projects", "projects --json", "forget .",
                  "why src/cart.py", "why src/cart.py --json", "why cart src/cart.py", "why src/cart.py cart"):  # fmt: skip
        shell.run(*words.split(), cwd="shop")
    shell.run("index", cwd="shop")
    for words in ("index", "index --json", "status", "status --json", "projects", "projects --json",
                  "doctor", "doctor --json", "doctor --fix"):  # fmt: skip
        shell.run(*words.split(), cwd="shop")
    for path in (".env", "generated/api.py", "assets/logo.bin", "link.md", "src/cart.py", "nowhere.py", "../x.py"):
        shell.run("why", path, cwd="shop")
        shell.run("why", path, "--json", cwd="shop")
    shell.run("why", "total of a cart", "src/cart.py", cwd="shop")
    shell.run("why", "total of a cart", "src/cart.py", "--json", cwd="shop")
    shell.run("why", "hammer", "src/cart.py", cwd="shop")
    _change_files(place, shell)
    shell.run("forget", "shop")
    shell.run("index", "shop", "--json")
    shell.run("forget", "shop", "--json")
    shell.run("forget", "shop", "--json")
    return shell.text


def _change_files(place: Place, shell: Commands) -> None:
    """Add, change and remove a file; record the reported differences and the update of the index."""
    shop = place.folder / "shop"
    for name, text in (
        ("src/new.py", "def brand_new() -> int:\n    return 1\n"),
        ("docs/guide.md", "# Guide\n\nNew.\n"),
    ):
        (shop / name).write_text(text, encoding="utf-8")
        os.utime(shop / name, (MODIFIED + 60, MODIFIED + 60))
    (shop / "web/cart.ts").unlink()
    for words in ("doctor", "doctor --json", "search brand_new --json", "index", "search renderCart", "doctor"):
        shell.run(*words.split(), cwd="shop")


def search_commands(place: Place) -> str:
    """Record searches of a project: ranked, exact, by pattern, restricted and without result."""
    shell = Commands(place)
    shell.run_quietly("index", cwd="shop")
    for words in (
        ["cart"], ["cart", "--json"], ["total of a cart"], ["total of a cart", "--json", "--limit", "2"],
        ["+discount -price"], ['"put an item"'], ["discuont"], ["discuont", "--json"], ["cart", "--path", "web/**"],
        ["cart", "--language", "go"], ["cart", "--code", "--limit", "1"], ["cart", "--docs"], ["cart", "--budget", "40"],
        ["cart", "--budget", "40", "--json"], ["TOKEN"], ["TOKEN", "--json"], ["previous instructions"],
        ["previous instructions", "--json"], ["cart", "--mode", "lexical"], ["cart", "--mode", "vector"],
        ["cart", "--mode", "vector", "--json"], ["cart", "--alpha", "0.5"], ["zzzqqq"], ["zzzqqq", "--json"], ["never-shown"],
        ["--exact", "cents"], ["--exact", "cents", "--json", "--limit", "3"], ["--exact", "cents", "--limit", "1"],
        ["--exact", "cents", "--offset", "8"],
        ["--exact", "TOKEN"], ["--exact", "zzzqqq"], ["--exact", "zzzqqq", "--json"], ["--exact", "never-shown"],
        ["--regex", r"def \w+_cents"], ["--regex", r"def \w+_cents", "--json"], ["--regex", "("], ["--regex", "(", "--json"],
        ["--regex", "cart", "--path", "docs/*", "--docs"], ["cart", "--path", "[a"], ["cart", "--language", "klingon"],
        [""], ["-x"], ["cart", "--offset", "3"], ["--exact", "cart", "--mode", "lexical"],
    ):  # fmt: skip
        shell.run("search", *words, cwd="shop")
    shell.run("search", "hammer", "toolbox", "--wait")
    shell.run("search", "hammer", "toolbox")
    return shell.text


def document_commands(place: Place) -> str:
    """Record the commands about a folder of documents."""
    shell = Commands(place)
    for words in (
        ["list", "handbook"], ["list", "handbook", "--json"], ["list", "empty"], ["list", "nowhere"],
        ["search", "till", "handbook"], ["search", "till", "handbook", "--json"],
        ["search", "glossary", "handbook", "--in", "title"], ["search", "scales", "handbook", "--type", "md", "--limit", "1"],
        ["search", "instructions", "handbook", "--json"], ["search", "zzzqqq", "handbook"],
        ["search", "zzzqqq", "handbook", "--json"], ["search", "till", "handbook", "--type", "exe"], ["search", "glosary", "handbook"],
        ["search", "till +zeppelin", "handbook"], ["search", " ", "handbook"],
        ["read", "guide/install.md", "handbook"], ["read", "guide/install.md#steps", "handbook"],
        ["read", "docs://hours.html", "handbook"], ["read", "history.rst", "handbook", "--json"],
        ["read", "sales.ipynb", "handbook"], ["read", "note.txt", "handbook", "--section", "nothing"],
        ["read", "missing.md", "handbook"], ["read", "missing.md", "handbook", "--json"], ["read", "../shop/.env", "handbook"],
        ["read", ".env", "shop"], ["read", "src/cart.py", "shop"], ["search", "till"], ["read"],
    ):  # fmt: skip
        shell.run("docs", *words)
    for words in (["status", "handbook"], ["status", "handbook", "--json"], ["projects"], ["forget", "handbook"]):
        shell.run(*words)
    return shell.text


def site_commands(place: Place) -> str:
    """Record the commands about a static site."""
    shell = Commands(place)
    built = ["build", "site-source", "-o", "built.json", "--name", "Orchard", "--domain", "orchard.example"]
    for words in (
        ["check", "site.json"], ["check", "site.json", "--json"], ["check", "site.json", "--strict"],
        ["check", "broken.json"], ["check", "broken.json", "--json"], ["check", "not-json.json"],
        ["check", "not-json.json", "--json"], ["check", "nowhere.json"], ["check", "http://example.org/x.json"],
        built, [*built, "--json", "--drafts"], ["build", "site-source"], ["build", "site-source", "-o", "x.json"],
        ["build", "empty", "-o", "x.json", "--name", "E", "--domain", "e.example"],
        ["build", "nowhere", "-o", "x.json", "--name", "E", "--domain", "e.example"],
        [*built, "--base", "/blog", "--prefix", "orchard", "--exclude", "posts/**", "--description", "Fruit"],
        ["check", "built.json", "--strict"], ["serve", "broken.json"], ["serve", "nowhere.json"], ["serve"],
        ["serve", "site.json", "site.json"],
    ):  # fmt: skip
        shell.run("site", *words)
    shell.said.append((place.folder / "built.json").read_text(encoding="utf-8"))
    return shell.text


def archive_commands(place: Place) -> str:
    """Record the commands about research archives."""
    shell = Commands(place)
    for words in (
        ["search", "plums"], ["index"], ["index", "--json"], ["index", "nowhere"],
        ["search", "plums"], ["search", "plumbs", "--json", "--limit", "2"], ["search", "plumbs", "--exact"],
        ["search", "plums", "--citations"], ["search", "plums", "--citations", "--depth", "2", "--json"],
        ["search", "zzzqqq"], ["search", "zzzqqq", "--json"],
        ["graph", "plums", "-o", "x.html"], ["graph", "-o", "all.html", "--json"], ["graph", "zzzqqq"],
        ["search", "plums", "--db", "nowhere.db"], ["search", "plums", "--limit", "0"],
    ):  # fmt: skip
        shell.run("archive", *words)
    for name in ("x.html", "all.html"):
        text = normalized((place.folder / name).read_text(encoding="utf-8"), place.folder)
        digest = hashlib.sha256(text.encode()).hexdigest()
        shell.said.append(f"{name} has the SHA-256 {digest}\n")
    return shell.text


def note_commands(place: Place) -> str:
    """Record the commands about named indexes."""
    shell = Commands(place)
    for words in (
        ["list"], ["list", "--json"], ["create", "ideas"], ["create", "ideas"], ["create", "a b"], ["create", "other", "--json"],
        ["create", "short", "--min-length", "0"], ["create", "cased", "--keep-case", "--min-length", "1"],
        ["import", "ideas", "notes.jsonl"], ["import", "nothing", "notes.jsonl"], ["import", "made", "notes.jsonl", "--create", "--json"],
        ["import", "ideas", "bad-notes.jsonl"], ["import", "ideas", "nowhere.jsonl"],
        ["add", "ideas", "new", "Figs are sweet", "--metadata", '{"year": 2025}'], ["add", "ideas", "new", "Figs are very sweet"],
        ["add", "ideas", "json", "A fig tree", "--json"], ["add", "ideas", "bad", "text", "--metadata", "[1]"],
        ["add", "nothing", "x", "text"], ["search", "ideas", "token"], ["search", "ideas", "+token -permit", "--json"],
        ["search", "ideas", '"rate limiting"'],
        ["search", "ideas", "token rate", "-k", "1", "--offset", "1"], ["search", "ideas", "zzzqqq"],
        ["search", "ideas", "zzzqqq", "--json"], ["search", "nothing", "x"], ["search", "nothing", "x", "--json"],
        ["show", "ideas"], ["show", "ideas", "--json"], ["show", "ideas", "rates"], ["show", "ideas", "rates", "--json"],
        ["show", "ideas", "nothing"], ["show", "nothing"], ["export", "ideas"], ["export", "ideas", "out.jsonl", "--json"],
        ["export", "nothing"], ["remove", "ideas", "new", "missing"], ["remove", "ideas", "json", "--json"], ["remove", "ideas", "new"], ["remove", "ideas"],
        ["remove", "other", "--yes"], ["remove", "made", "--yes", "--json"], ["remove", "other", "--yes"], ["list"],
        ["list", "--json"],
    ):  # fmt: skip
        shell.run("notes", *words)
    shell.run("notes", "add", "ideas", "piped", stdin="From a pipe.\n")
    shell.run("notes", "remove", "ideas", stdin="n\n")
    return shell.text


def wrong_usage(place: Place) -> str:
    """Record the errors of wrong usage and of failing commands."""
    shell = Commands(place)
    for words in (
        [], ["nothing"], ["search"], ["search", "cart", "--limit", "0"], ["search", "cart", "--limit", "many"],
        ["search", "cart", "--nothing"], ["search", "cart", "--mode", "magic"], ["search", "a", "b", "c"],
        ["search", "cart", "--exact", "--regex"], ["search", "cart", "--code", "--docs"], ["search", "cart", "nowhere"],
        ["index", "nowhere"], ["index", "site.json"], ["status", "nowhere"], ["why"], ["why", "a", "b", "c"], ["forget"],
        ["forget", "nowhere"], ["doctor", "nowhere"], ["index", "home"], ["index", "empty"], ["index", "empty", "--json"],
        ["serve", "nowhere"], ["serve", "--tools", "many"], ["serve", "--only", "nothing"], ["serve", "--only", "site"],
        ["serve", "--budget", "10"], ["serve", "--http", "nowhere"], ["serve", "shop", "--http", "0.0.0.0:0"],
        ["serve", "shop", "--http", "0.0.0.0:0", "--allow-remote"],
        ["serve", "--token-file", "token"], ["serve", "shop", "--site", "broken.json"], ["docs", "nowhere"], ["site"],
        ["site", "nothing"], ["archive"], ["archive", "nothing"], ["notes"], ["notes", "nothing"], ["notes", "create"],
        ["docs", "search"],
    ):  # fmt: skip
        shell.run(*words)
    (place.home / "config.json").write_text('{"maxFileSize": "big", "encoder": "none"}', encoding="utf-8")
    shell.run("index", "toolbox")
    (place.home / "config.json").write_text("{", encoding="utf-8")
    shell.run("status", "toolbox", "--json")
    (place.home / "config.json").write_text('{"maxFiles": 1, "encoder": "none"}', encoding="utf-8")
    shell.run("index", "shop")
    shell.run("index", "shop", "--json")
    shell.run("index", "shop", stdin="n\n")
    return shell.text


def _make_every_source(shell: Commands) -> None:
    """Index a project, a folder of documents and an archive, and create a named index."""
    for words in (["index", "shop"], ["docs", "list", "handbook"], ["archive", "index"], ["notes", "create", "ideas"]):
        shell.run_quietly(*words)


def federated_status(place: Place) -> str:
    """Record the status of all sources."""
    shell = Commands(place)
    _make_every_source(shell)
    shell.run("status", "--json", cwd="shop")
    return shell.text


def damage(place: Place) -> str:
    """Record the errors of damaged indexes and files, and their repair."""
    shell = Commands(place)
    for words in (["index", "shop"], ["archive", "index"], ["notes", "create", "ideas"]):
        shell.run_quietly(*words)
    (index,) = (place.home / "indexes").iterdir()
    for path in (index / "catalog.sqlite", place.folder / "search.db", place.home / "notes/index-ideas.db"):
        path.write_bytes(b"no database" * 1000)
    for words in (
        ["status", "shop"], ["status", "shop", "--json"], ["doctor", "shop"], ["doctor", "shop", "--json"],
        ["doctor", "shop", "--fix"], ["search", "cart", "shop", "--limit", "1"],
    ):  # fmt: skip
        shell.run(*words)
    (index / "catalog.sqlite").write_bytes(b"no database" * 1000)
    for words in (
        ["search", "cart", "shop", "--limit", "1", "--wait"],
        ["archive", "search", "plums"], ["archive", "search", "plums", "--json"], ["archive", "index"],
        ["archive", "search", "plums", "--limit", "1"], ["archive", "search", "plums", "--db", "site.json"],
        ["notes", "list"], ["notes", "search", "ideas", "x"], ["notes", "add", "ideas", "x", "text"], ["notes", "show", "ideas", "--json"],
        ["site", "build", "site-source", "-o", "nowhere/x.json", "--name", "E", "--domain", "e.example"],
        ["archive", "graph", "-o", "nowhere/x.html"], ["notes", "export", "ideas", "nowhere/x.jsonl"],
    ):  # fmt: skip
        shell.run(*words)
    for words in (
        ["index", "toolbox"],
        ["index", "toolbox", "--json"],
        ["projects"],
        ["notes", "create", "x"],
        ["docs", "list", "handbook"],
    ):
        shell.run(*words, DOWSE_HOME="site.json")
    return shell.text


def disk(place: Place) -> str:
    """Record the names of all files that indexing writes, and the contents of the JSON files."""
    shell = Commands(place)
    _make_every_source(shell)
    folders = [path for kind in ("indexes", "archives") for path in (place.home / kind).iterdir()]
    hashes = {path.name: f"<HASH of {_project_of(path)}>" for path in folders}
    listed: dict[str, str] = {}
    for path in files_below(place.home):
        name = path.relative_to(place.home).as_posix()
        for found, label in hashes.items():
            name = name.replace(found, label)
        name = re.sub(r"(/lexical-[0-9a-f]{8}/).*", r"\1", name)  # the library chooses the names of these files
        listed[re.sub(r"/linux-\w+|/darwin-\w+|/win\w*-\w+", "/<SYSTEM>", name)] = _told_by(path)
    return "".join(f"{name}\n{text}" for name, text in sorted(listed.items()))


def _project_of(index: Path) -> str:
    for name in ("metadata.json", "documents/metadata.json"):
        if (index / name).exists():
            found = re.search(r'"projectPath": ".*/(.*)"', (index / name).read_text(encoding="utf-8"))
            if found:
                return found[1]
    return "unknown"


def _told_by(path: Path) -> str:
    """Return the content of a JSON file or log of dowse; an empty text for any other file."""
    if "lexical" in path.parent.name or path.suffix not in (".json", ".log"):
        return ""
    text = path.read_text(encoding="utf-8")
    return "".join(f"| {line}" for line in text.splitlines(keepends=True)) + ("" if text.endswith("\n") else "\n")
