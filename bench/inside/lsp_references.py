"""Read places of definitions as JSON, and print the references of each that a language server finds.

    python lsp_references.py ROOT SERVER [ARGUMENT...] < [[path, line, column], ...]

For clangd, a `compile_commands.json` is made in the root if there is none, with the flags in $CLANG_FLAGS, and its background index is awaited.
"""

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

_SOURCES = {".c": ["cc", "-std=c11"], ".cc": ["c++", "-std=c++17"], ".cpp": ["c++", "-std=c++17"]}
_LANGUAGES = {".php": "php", ".c": "c", ".h": "cpp", ".cc": "cpp", ".cpp": "cpp", ".hpp": "cpp"}
_MAX_ROUNDS, _PAUSE_SECONDS = 40, 30
"""A server is asked again until two rounds agree."""


class Server:
    """A language server on the other end of two pipes."""

    def __init__(self, command: list[str], root: Path) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0, cwd=root
        )
        self._stdin: Any = self._process.stdin
        self._stdout: Any = self._process.stdout
        self._number = 0

    def send(self, method: str, params: Any, *, is_request: bool = True) -> Any:
        """Send a request and return its result, or send a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if is_request:
            self._number += 1
            message["id"] = self._number
        self._write(message)
        return self._result(self._number) if is_request else None

    def ask(self, method: str, document: dict[str, Any], position: dict[str, Any], **more: Any) -> Any:
        """Ask about a place of a document; the answer is a list of places."""
        place = {"textDocument": {"uri": document["uri"]}, "position": position}
        found = self.send(f"textDocument/{method}", {**place, **more})
        return [found] if isinstance(found, dict) else found if found or method == "references" else []

    def _write(self, message: dict[str, Any]) -> None:
        data = json.dumps(message).encode()
        self._stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self._stdin.flush()

    def read(self) -> dict[str, Any]:
        """Read one message, and answer the server's own requests with nothing."""
        stream, length = self._stdout, 0
        while line := stream.readline().strip():
            if line.lower().startswith(b"content-length"):
                length = int(line.split(b":")[1])
        data = b""
        while len(data) < length:
            data += stream.read(length - len(data))
        message: dict[str, Any] = json.loads(data)
        if "method" in message and "id" in message:
            items = message.get("params", {}).get("items", []) if isinstance(message.get("params"), dict) else []
            self._write({"jsonrpc": "2.0", "id": message["id"], "result": [None] * len(items) if items else None})
        return message

    def _result(self, number: int) -> Any:
        while True:
            message = self.read()
            if message.get("id") == number and "method" not in message:
                return message.get("result")

    def await_end(self, is_end: re.Pattern[str], seconds: float) -> None:
        """Read messages until one matches, or until none came for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and select.select([self._stdout], [], [], 60)[0]:
            if is_end.search(json.dumps(self.read())):
                return


def make_commands(root: Path) -> None:
    """Write a command to compile each source file."""
    file = root / "compile_commands.json"
    if file.exists():
        return
    folders = {str(path.parent) for path in root.rglob("*.h")} | {str(root), str(root / "include")}
    includes = [*os.environ.get("CLANG_FLAGS", "").split(), *(f"-I{folder}" for folder in sorted(folders))]
    file.write_text(json.dumps([
        {"directory": str(root), "file": str(path), "arguments": [*_SOURCES[path.suffix], *includes, "-c", str(path)]}
        for path in sorted(root.rglob("*")) if path.suffix in _SOURCES
    ]))  # fmt: skip


def has_name(root: Path, place: dict[str, Any], name: str) -> bool:
    """Return whether the line of a place has the name in code: not in a comment, and not only behind a macro."""
    lines = (root / place["uri"][len(root.as_uri()) + 1 :]).read_text(encoding="utf-8", errors="replace").split("\n")
    line = str(lines[place["range"]["start"]["line"]])
    return name in line and not line.lstrip().startswith(("*", "/*", "//"))


def leads_to(found: list[Any], targets: list[Any]) -> bool:
    """Return whether the definitions that a server finds for a use are those asked for, or unknown."""
    return not found or any(
        one["uri"] == other["uri"]
        and one["range"]["start"]["line"] <= other["range"]["start"]["line"] <= one["range"]["end"]["line"]
        for one in found
        for other in targets
    )


def main() -> None:
    """Ask the server for each place."""
    root, command = Path(sys.argv[1]).resolve(), sys.argv[2:]
    wanted = json.load(sys.stdin)
    is_clangd = "clangd" in command[0]
    if is_clangd:
        make_commands(root)
        command += ["--background-index", "-j=2", "--limit-references=0", "--log=error"]
    server = Server(command, root)
    storage = {"storagePath": tempfile.mkdtemp(), "clearCache": True}
    capabilities = {"window": {"workDoneProgress": True}, "textDocument": {"references": {}}}
    folders = [{"uri": root.as_uri(), "name": "root"}]
    server.send(
        "initialize",
        {
            "processId": os.getpid(),
            "rootUri": root.as_uri(),
            "workspaceFolders": folders,
            "capabilities": capabilities,
            "initializationOptions": storage,
        },
    )
    server.send("initialized", {}, is_request=False)
    opened = set()

    def open_file(path: str) -> None:
        if path not in opened:
            opened.add(path)
            text = (root / path).read_text(encoding="utf-8", errors="replace")
            document = {
                "uri": (root / path).as_uri(),
                "languageId": _LANGUAGES[Path(path).suffix],
                "version": 1,
                "text": text,
            }
            server.send("textDocument/didOpen", {"textDocument": document}, is_request=False)

    open_file(wanted[0][0])
    server.await_end(re.compile(r'"kind": "end"|indexingEnded'), float(os.environ.get("INDEX_SECONDS", "560")))

    def ask() -> list[list[Any] | None]:
        found = list[list[Any] | None]()
        for path, line, column in wanted:
            open_file(path)
            place = {"uri": (root / path).as_uri()}, {"line": line - 1, "character": column}
            places = server.ask("references", *place, context={"includeDeclaration": False})
            own = [one for one in places or () if one["uri"].startswith(root.as_uri())]
            found.append(sorted(own, key=json.dumps) if places is not None else None)
        return found

    uses, before = ask(), None
    for _ in range(_MAX_ROUNDS):  # clangd says that its index is ready before it is
        if uses == before:
            break
        time.sleep(_PAUSE_SECONDS)
        uses, before = ask(), uses
    found = list[list[list[str | int]] | None]()
    for (path, line, column), places in zip(wanted, uses, strict=True):
        text = (root / path).read_text(encoding="utf-8", errors="replace").split("\n")[line - 1]
        name = re.split(r"[^\w~]", text[column:])[0]
        own = [one for one in places or () if has_name(root, one, name)]
        if re.match(r"\s*\(", text[column + len(name) :]):  # a use of a method is listed for all that override it
            asked = {"uri": (root / path).as_uri()}, {"line": line - 1, "character": column}
            targets = [{"uri": asked[0]["uri"], "range": {"start": asked[1], "end": asked[1]}}]
            targets += server.ask("definition", *asked) + server.ask("declaration", *asked)
            for one in own:
                open_file(one["uri"][len(root.as_uri()) + 1 :])
            own = [one for one in own if leads_to(server.ask("definition", one, one["range"]["start"]), targets)]
        lines = sorted([one["uri"][len(root.as_uri()) + 1 :], one["range"]["start"]["line"] + 1] for one in own)
        found.append(lines if places is not None else None)
    print(json.dumps(found))
    os._exit(0)


main()
