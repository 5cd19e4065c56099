"""Keeps the store equal to the files."""
