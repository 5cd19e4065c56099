"""Exit codes that no error of dowse has."""

INTERRUPTED = 130
"""The code that a shell expects of a command that Ctrl-C ended."""
