"""A static site's search index: read, checked, searched and built."""
