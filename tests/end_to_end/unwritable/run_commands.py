"""Run several commands in one process; print the exit code and the output of each as JSON."""

import contextlib
import io
import json
import sys

from dowse.cli.program import run


def main() -> None:
    results = []
    for arguments in json.loads(sys.argv[1]):
        output, messages = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
            code = run(arguments)
        results.append((code, output.getvalue(), messages.getvalue()))
    print(json.dumps(results))


if __name__ == "__main__":
    main()
