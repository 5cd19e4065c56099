"""A headless Chromium, controlled over a pipe: opens pages, clicks, types and takes screenshots."""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 60.0
KEY_CODES = {"Enter": 13, "Escape": 27, "ArrowUp": 38, "ArrowDown": 40, "Tab": 9, "Backspace": 8}


def chromium() -> str:
    """Return the program of the browser; skip the test where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("NO CHROMIUM HERE: install it (apt install chromium) to have the page opened, clicked and searched")
    return found


_REPLACED_PAGE = ("Inspected target navigated or closed", "Cannot find context with specified id")
"""What the browser answers about a page that another one just replaces."""


class PageReplaced(Exception):
    """The page that was asked is gone, because the browser went to another one."""


class Browser:
    """One page in a browser of its own."""

    def __init__(self) -> None:
        program = chromium()
        self._folder = tempfile.TemporaryDirectory(prefix="chromium-", ignore_cleanup_errors=True)
        command = [
            program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
            "--disable-dev-shm-usage", "--remote-debugging-pipe", "--window-size=1200,800",
            f"--user-data-dir={self._folder.name}", "about:blank",
        ]  # fmt: skip
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        # The browser reads from descriptor 3 and writes to 4; ours are first moved out of their way.
        high_read, high_write = (fcntl.fcntl(one, fcntl.F_DUPFD, 10) for one in (to_read, to_write))

        def wire() -> None:
            os.dup2(high_read, 3)
            os.dup2(high_write, 4)

        nothing = subprocess.DEVNULL
        self._process = subprocess.Popen(command, pass_fds=(3, 4), preexec_fn=wire, stdout=nothing, stderr=nothing)  # noqa: PLW1509 - no threads yet
        for one in (to_read, to_write, high_read, high_write):
            os.close(one)
        self._number, self._left, self.requests = 0, b"", list[str]()
        self.complaints = list[str]()
        self._session = ""
        targets = self.send("Target.getTargets")["targetInfos"]
        target = next(one["targetId"] for one in targets if one["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.send(f"{domain}.enable")

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._to)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._from)
        self._folder.cleanup()

    def open(self, file: Path) -> None:
        """Open a file and wait until it is loaded."""
        self.visit(file.as_uri())
        self.wait_for("document.getElementById('count').textContent !== ''")

    def visit(self, url: str) -> None:
        """Open an address and wait until it is loaded."""
        self.value("window.isLeft = true")
        self.send("Page.navigate", url=url)
        self.wait_for("!window.isLeft && document.readyState === 'complete'")

    def look_like(self, width: int = 1200, height: int = 800, *, is_dark: bool = False) -> None:
        """Set the size of the window and the colours that the user prefers."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def type(self, text: str) -> None:
        """Type some text where the cursor is, letter by letter."""
        for letter in text:
            self.send("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
            self.send("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def press(self, key: str) -> None:
        """Press a key such as Enter or ArrowDown."""
        code = KEY_CODES[key]
        text = {"text": "\r"} if key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, **text)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)

    def value(self, expression: str) -> Any:
        """Return the value of an expression in the page."""
        found = self.send("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, expression: str) -> None:
        """Wait, with a time limit, until an expression is true in the page; while a page loads, parts of it are missing."""
        deadline, is_true = time.monotonic() + SECONDS, False
        while not is_true:
            assert time.monotonic() < deadline, expression
            with contextlib.suppress(PageReplaced):
                is_true = self.value(f"(() => {{ try {{ return {expression}; }} catch {{ return false; }} }})()")
            if not is_true:
                time.sleep(0.02)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.send("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def click(self, x: float, y: float) -> None:
        """Press and release the button at a place."""
        self.drag((x, y), (x, y))

    def drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        """Press the button at one place and release it at another."""
        button: dict[str, Any] = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("mousePressed", *start, **button)
        if start != end:
            self.mouse("mouseMoved", (start[0] + end[0]) / 2, (start[1] + end[1]) / 2, **button)
            self.mouse("mouseMoved", *end, **button)
        self.mouse("mouseReleased", *end, **button)

    def screenshot(self, image_format: str = "png") -> bytes:
        """Return a screenshot: `png`, or `webp`, which is a third of the size."""
        quality = {} if image_format == "png" else {"quality": 80}
        return base64.b64decode(self.send("Page.captureScreenshot", format=image_format, **quality)["data"])

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Call a method of the browser's protocol and return its result."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._receive()
            if answer.get("id") == self._number:
                if answer.get("error", {}).get("message") in _REPLACED_PAGE:
                    raise PageReplaced(method)
                assert "error" not in answer, answer
                return dict(answer["result"])
            self._note(answer)

    def _note(self, event: dict[str, Any]) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests += filter(_is_loaded, [parameters["request"]["url"]])
        if method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(parameters["exceptionDetails"]))
        if method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.complaints.append(parameters["entry"]["text"])

    def _receive(self) -> dict[str, Any]:
        deadline = time.monotonic() + SECONDS
        while b"\0" not in self._left:
            ready, _, _ = select.select([self._from], [], [], max(0.0, deadline - time.monotonic()))
            piece = os.read(self._from, 1 << 20) if ready else b""
            assert piece, "the browser does not answer"
            self._left += piece
        message, _, self._left = self._left.partition(b"\0")
        return dict(json.loads(message))


def _is_loaded(url: str) -> bool:
    return not url.startswith("data:")  # the signs of the browser's own fields come so
