"""Bytes to text, title, links."""
