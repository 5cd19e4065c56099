"""Exit codes other than those of the errors."""

INTERRUPTED = 130
"""The code that a shell expects from a command interrupted with Ctrl-C."""
