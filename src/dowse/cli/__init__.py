"""The command line: data on stdout, talk on stderr, one line for an error, never a traceback."""

from dowse.cli.main import main

__all__ = ["main"]
