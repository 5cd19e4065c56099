"""dowse: local search for AI assistants and the people beside them."""

__version__ = "0.1.0"
