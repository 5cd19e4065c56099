"""The tools over research archives."""
