"""Reading of files: bytes to text, title, description, tags and links. See `file_reading`."""

VERSION = 7
"""Raise it whenever the same bytes would be read differently; stored indexes then read their files again."""
