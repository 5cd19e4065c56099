"""The page for people: search, reading, status and links in a browser."""
