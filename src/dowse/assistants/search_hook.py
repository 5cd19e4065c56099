"""The hook that adds what dowse finds to an assistant's own grep: it passes the tool call on to a running server.

An assistant runs this file by its path after each of its searches (`python -I -S search_hook.py`), so it imports only
what the start of Python has imported already, and a socket. It prints nothing and exits with 0 whatever happens.
"""

import os
import sys

MAX_SECONDS = 0.3
"""After this long the hook gives up."""
MAX_CALL_BYTES = 1 << 20
"""A longer tool call, with all that it has found, is not passed on."""
MAX_ANSWER_BYTES = 1 << 16
FOLDER = "hooks"
"""The folder of the storage root in which servers listen, each at a socket of its own."""
_SEARCHES = (b"Grep", b"Glob", b"grep", b"rg ", b"find ", b"fd ", b"ag ", b"ack ")


def socket_folder() -> str:
    """Return the folder with the sockets of all servers."""
    home = os.environ.get("DOWSE_HOME") or os.path.join("~", ".mcp", "search")
    return os.path.join(os.path.abspath(os.path.expanduser(home)), FOLDER)


def is_private(folder: str) -> bool:
    """Return whether a folder belongs to this user, and only this user can enter it."""
    try:
        found = os.lstat(folder)
    except OSError:
        return False
    return found.st_mode & 0o170077 == 0o040000 and found.st_uid == os.getuid()


def ask_servers(call: bytes, folder: str) -> bytes:
    """Return the first answer of a server that listens in a folder; nothing if none has one."""
    import socket

    for name in sorted(os.listdir(folder)):
        if not name.endswith(".sock"):
            continue
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(MAX_SECONDS)
            try:
                connection.connect(os.path.join(folder, name))
                connection.sendall(call)
                connection.shutdown(socket.SHUT_WR)
                answer = b""
                while len(answer) < MAX_ANSWER_BYTES and (piece := connection.recv(MAX_ANSWER_BYTES)):
                    answer += piece
            except OSError:  # a server that has ended, or is busy
                continue
        if answer:
            return answer
    return b""


def main() -> None:
    """Read the tool call from stdin, and print what a server adds to it."""
    try:
        import signal

        signal.signal(signal.SIGALRM, lambda *_: os._exit(0))
        signal.setitimer(signal.ITIMER_REAL, MAX_SECONDS)
        call = sys.stdin.buffer.read(MAX_CALL_BYTES + 1)
        folder = socket_folder()
        if len(call) <= MAX_CALL_BYTES and any(word in call for word in _SEARCHES) and is_private(folder):
            answer = ask_servers(call, folder)
            signal.setitimer(signal.ITIMER_REAL, 0)
            os.write(1, answer)
    except BaseException:  # noqa: S110 - a hook must never be in the way
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
