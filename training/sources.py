"""Which repositories text is taken from: `python -m training.sources CLONES` checks them and writes the manifest."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIST = Path(__file__).with_name("repositories.txt")
MANIFEST = Path(__file__).with_name("manifest.json")
"""Who, at which commit, under which licence, and how many pairs of which kind."""
ALLOWED = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "Zlib", "CC0-1.0", "Unlicense"}
WORDS = {
    "MIT": "Permission is hereby granted, free of charge",
    "Apache-2.0": "Apache License",
    "BSD-2-Clause": "Redistribution and use in source and binary forms",
    "BSD-3-Clause": "Redistribution and use in source and binary forms",
    "ISC": "Permission to use, copy, modify",
    "Unlicense": "free and unencumbered",
}
"""What a licence's text has to say."""
MEASURED = [
    "Alamofire/Alamofire", "Bash-it/bash-it", "DapperLib/Dapper", "FasterXML/jackson-databind", "Hejsil/zig-clap",
    "JamesNK/Newtonsoft.Json", "JetBrains/Exposed", "Kotlin/kotlinx.coroutines", "MinishLab/model2vec",
    "MinishLab/semble", "Seldaek/monolog", "SnapKit/SnapKit", "abseil/abseil-cpp", "aio-libs/aiohttp",
    "apache/commons-lang", "axios/axios", "bats-core/bats-core", "circe/circe", "colinhacks/zod", "curl/curl",
    "echasnovski/mini.nvim", "elixir-ecto/ecto", "elixir-plug/plug", "encode/httpx", "encode/starlette",
    "expressjs/express", "fastapi/fastapi", "fmtlib/fmt", "folke/lazy.nvim", "gin-gonic/gin", "go-chi/chi",
    "google/gson", "guzzle/guzzle", "haskell/aeson", "http4s/http4s", "jgm/pandoc", "ktorio/ktor",
    "laravel/framework", "libuv/libuv", "MessagePack-CSharp/MessagePack-CSharp", "nlohmann/json",
    "nvim-telescope/telescope.nvim", "nvm-sh/nvm", "pallets/click", "pallets/flask", "phoenixframework/phoenix",
    "psf/requests", "pydantic/pydantic", "rack/rack", "rails/rails", "redis/redis", "reduxjs/redux", "serde-rs/serde",
    "sinatra/sinatra", "spf13/cobra", "tokio-rs/axum", "tokio-rs/tokio", "trpc/trpc", "typelevel/cats", "vapor/vapor",
    "vitest-dev/vitest", "xmonad/xmonad", "ziglang/zig", "zigtools/zls", "django/django", "kubernetes/website",
    "mdn/content", "python/peps", "rust-lang/book", "lyz-code/blue-book", "jackyzha0/jackyzha0.github.io",
    "obsidianmd/obsidian-help",
]  # fmt: skip
"""Search is measured on these, so nothing is learned from them, nor from forks of them."""

_LICENCE_FILE = re.compile(r"(mit-)?(licen[cs]e|copying|unlicense)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Repository:
    """A clone that text may be taken from."""

    name: str
    licence: str
    folder: Path
    commit: str


def listed() -> Iterator[tuple[str, str]]:
    """Names and licences as the list has them."""
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, _, licence = line.partition(" ")
            yield name, licence


def repositories(clones: Path) -> list[Repository]:
    """Every listed repository with its clone, `owner+name/repo` below a folder of bare clones."""
    found = []
    for name, licence in listed():
        folder = clones / name.replace("/", "+") / "repo"
        found.append(Repository(name, licence, folder, git(folder, "rev-parse", "HEAD").strip()))
    return found


def git(folder: Path, *words: str, is_partial: bool = False) -> str:
    """What git says of a clone; some miss their largest files, and then a part may have to do."""
    done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, check=not is_partial)
    return done.stdout.decode(errors="replace")


def refusal(name: str, licence: str) -> str | None:
    """Why a repository of this name and licence may not be learned from; a fork keeps the name, so that is enough."""
    own = name.lower().partition("/")[2]
    if own in {one.lower().partition("/")[2] for one in MEASURED}:
        return f"{name}: search is measured on it"
    if not set(licence.split(" OR ")) <= ALLOWED:
        return f"{name}: {licence} is not permissive"
    return None


def problems(each: list[Repository]) -> Iterator[str]:
    """Why repositories may not be learned from, by their names and by what their licence files say."""
    for one in each:
        if wrong := refusal(one.name, one.licence):
            yield wrong
        said = " ".join(_licence_text(one.folder).split())
        if not any(WORDS.get(licence, "\0") in said for licence in one.licence.split(" OR ")):
            yield f"{one.name}: its licence file does not say {one.licence}"


def _licence_text(folder: Path) -> str:
    names = [name for name in git(folder, "ls-tree", "--name-only", "HEAD").split("\n") if _LICENCE_FILE.match(name)]
    names = [name for name in names if git(folder, "cat-file", "-t", f"HEAD:{name}").strip() == "blob"]
    return "\n".join(git(folder, "show", f"HEAD:{name}")[:4000] for name in names)


def read_manifest() -> list[dict[str, Any]]:
    """The rows of the manifest."""
    rows: list[dict[str, Any]] = json.loads(MANIFEST.read_text(encoding="utf-8"))
    return rows


def write_manifest(rows: list[dict[str, Any]]) -> None:
    """A row a line."""
    MANIFEST.write_text("[\n" + ",\n".join(f" {json.dumps(row)}" for row in rows) + "\n]\n", encoding="utf-8")


def main(clones: str) -> int:
    """Check, and write the manifest without the counts that mining adds."""
    each = repositories(Path(clones))
    wrong = list(problems(each))
    print("\n".join(wrong) or f"{len(each)} repositories may be learned from")
    if not wrong:
        write_manifest([{"name": one.name, "licence": one.licence, "commit": one.commit} for one in each])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
