"""Keeping the indexes of a running server equal to their files."""
