"""Processes of the program: commands, servers on stdin and stdout, servers over HTTP."""

import http.client
import json
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests import forking
from tests.forking import PATIENCE_SECONDS
from tests.mcp.http.http_server import HttpServer
from tests.mcp.stdio.stdio_client import NEWER, OLDER, Message, StdioClient
from tests.recording.projects import Place

__all__ = ["NEWER", "OLDER", "Commands", "Message", "Server", "WebServer"]

ONE_BATCH = {"dowse.indexes.freshness.indexer.FIRST_BATCH_SECONDS": 600.0}
"""A busy machine must not index in more batches than a quiet one: each one changes the statistics of words a little."""


class Commands:
    """A shell in one folder that runs commands one after the other and records their output."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.said: list[str] = []

    def run(
        self, *arguments: str, cwd: str = "", stdin: str = "", shown: Callable[[str], str] | None = None, **more: str
    ) -> str:
        """Run a command, record it and return its stdout."""
        code, stdout, stderr = self.run_quietly(*arguments, cwd=cwd, stdin=stdin, **more)
        where = f"{cwd}$ " if cwd else "$ "
        variables = "".join(f"{name}={value} " for name, value in more.items())
        given = f" <<< {stdin!r}" if stdin else ""
        parts = [f"{where}{variables}dowse {shlex.join(arguments)}{given}\n"]
        parts += [_indented("out", shown(stdout) if shown else stdout), _indented("err", stderr)]
        self.said.append("".join([*parts, f"exit {code}\n"]))
        return stdout

    def run_quietly(self, *arguments: str, cwd: str = "", stdin: str = "", **more: str) -> tuple[int, str, str]:
        """Run a command without recording it; return its exit code, stdout and stderr."""
        environment = {**self.place.environment, **more}
        code, out, err = forking.run(
            *arguments, given=stdin.encode(), env=environment, cwd=str(self.place.folder / cwd), constants=ONE_BATCH
        )
        return code, out.decode(), err.decode()

    @property
    def text(self) -> str:
        """Return everything that was recorded."""
        return "\n".join(self.said)


def _indented(name: str, text: str) -> str:
    """Put the name of a stream before each of its lines, and mark a last line without a newline."""
    if not text:
        return ""
    marked = "".join(f"{name}| {line}" for line in text.splitlines(keepends=True))
    return marked if marked.endswith("\n") else f"{marked}<no newline>\n"


class Server(StdioClient):
    """A server on stdin and stdout, and a client that records every call and its reply."""

    def __init__(
        self,
        place: Place,
        *options: str,
        revision: str = OLDER,
        can_ask: bool = False,
        command: str = "serve",
        cwd: str = "",
    ) -> None:
        self._begin([*command.split(), *options], place.environment, place.folder / cwd)
        self.said: list[Message] = []
        self.answers: list[Message] = []
        """The answers of the user to the next questions."""
        self.initialize(revision, can_ask=can_ask)
        self.introduction = _outcome(self.received[0])

    def call(self, tool: str, /, **arguments: Any) -> Message:
        """Call a tool, record its reply and return it."""
        return self.ask("tools/call", name=tool, arguments=arguments)

    def call_all(self, *calls: tuple[str, Message]) -> None:
        """Call tools with their arguments, one after the other."""
        for tool, arguments in calls:
            self.call(tool, **arguments)

    def call_each(self, calls: Mapping[str, list[Message]]) -> None:
        """Call each tool with each of its arguments."""
        self.call_all(*((tool, arguments) for tool, some in calls.items() for arguments in some))

    def ask(self, method: str, **parameters: Any) -> Message:
        """Send a request, record its reply and return it."""
        questions: list[Message] = []
        reply = self._request(method, questions, parameters)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while _is_at_work(reply) and time.monotonic() < deadline:
            time.sleep(0.05)
            reply = self._request(method, questions, parameters)
        asked: Message = {"ask": method, **parameters}
        if method == "tools/call":
            asked = {"call": parameters["name"], "arguments": parameters["arguments"]}
        told = {"questions": questions} if questions else {}
        self.said.append({**asked, **told, **shortened(reply)})
        return reply

    def request(self, method: str, **parameters: Any) -> Message:
        """Send a request, answer every question of the server, and return the reply."""
        return self._request(method, [], parameters)

    def _request(self, method: str, asked: list[Message], parameters: Message) -> Message:
        reply = self._send(method, asked, parameters)
        while reply.get("result", {}).get("resultType") == "input_required":
            result = reply["result"]
            inputs = result.get("inputRequests", {})
            asked.extend(inputs.values())
            given = {name: self._answer() for name in inputs}
            state = {"requestState": result["requestState"]} if "requestState" in result else {}
            reply = self._send(method, asked, {**parameters, "inputResponses": given, **state})
        return reply

    def wait_until(self, is_done: Callable[[Message], bool], tool: str, /, **arguments: Any) -> None:
        """Call a tool, without recording it, until its structured content is as expected."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            reply = self.request("tools/call", name=tool, arguments=arguments)
            content = reply.get("result", {}).get("structuredContent", {})
            if is_done(content):
                return
            assert time.monotonic() < deadline, f"it did not happen: {content}"
            time.sleep(0.05)

    def _send(self, method: str, asked: list[Message], parameters: Message) -> Message:
        number = self.send_request(method, **parameters)

        def is_for_us(message: Message) -> bool:
            is_reply = "method" not in message and message.get("id") == number
            return is_reply or message.get("method") == "elicitation/create"

        while "method" in (message := self.wait_for_message(is_for_us)):
            asked.append({"method": message["method"], "params": message["params"]})
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": self._answer()})
        return _outcome(message)

    def _answer(self) -> Message:
        assert self.answers, "nobody expected a question"
        return self.answers.pop(0)


def _outcome(reply: Message) -> Message:
    return {name: value for name, value in reply.items() if name in ("result", "error")}


def _is_at_work(reply: Message) -> bool:
    """Return whether a reply reports unfinished work, so that the next reply would differ."""
    content = reply.get("result", {}).get("structuredContent") or {}
    metadata, coverage = content.get("metadata") or {}, content.get("coverage") or {}
    told = f"{content.get('watcher')} {metadata.get('warnings') if isinstance(metadata, dict) else ''}"
    return (
        (isinstance(metadata, dict) and metadata.get("indexing") is True)
        or (isinstance(coverage, dict) and "indexing" in coverage)
        or bool(content.get("pending"))
        or any(words in told for words in ("first look", "first scan", "being indexed"))
    )


def shortened(reply: Message) -> Message:
    """Leave out the text of a reply if it is exactly the JSON of its structured content."""
    result = reply.get("result")
    if not isinstance(result, dict) or "structuredContent" not in result:
        return reply
    text = json.dumps(result["structuredContent"], ensure_ascii=False)
    if result.get("content") == [{"type": "text", "text": text}]:
        return {**reply, "result": {**result, "content": "<structuredContent as plain JSON>"}}
    return reply


class WebServer(HttpServer):
    """A server over HTTP, and a client that sends raw requests and records them with their replies."""

    def __init__(self, place: Place, *options: str) -> None:
        super().__init__(*options, env=place.environment, cwd=place.folder)
        self.said: list[str] = []

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None, note: str = ""
    ) -> tuple[int, dict[str, str], bytes]:
        """Send a request and record it with its status, headers and body."""
        given = dict(headers or {})
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)
        try:
            connection.request(method, path, body or None, given)
            reply = connection.getresponse()
            text = reply.read()
            told = {name.lower(): value for name, value in reply.getheaders()}
        finally:
            connection.close()
        if b"searchTimeMs" in text:  # 9.8 is shorter than 10.2
            told["content-length"] = "<LENGTH>"
        shown = note or body.decode(errors="replace")
        lines = [f"> {method} {path}", *(f"> {name}: {_in_order(name, value)}" for name, value in given.items())]
        lines += [f"> {line}" for line in shown.splitlines()]
        lines += [f"< {reply.status}", *(f"< {name}: {_in_order(name, told[name])}" for name in sorted(told))]
        lines += [f"< {line}" for line in text.decode().splitlines()]
        self.said.append("\n".join(lines).replace(f":{self.port}", ":<PORT>") + "\n")
        return reply.status, told, text


def _in_order(name: str, value: str) -> str:
    """Return the value of a header without the parts that differ from run to run."""
    if name.lower() == "allow":  # the framework uses a set, which has no fixed order
        return ", ".join(sorted(value.split(", ")))
    if name.lower() == "mcp-session-id":
        return "<SESSION>" if value != "nothing" else value
    return "<TIME>" if name.lower() == "date" else value


def files_below(folder: Path) -> Sequence[Path]:
    """List every file below a folder, in order."""
    return sorted(path for path in folder.rglob("*") if path.is_file())
