"""The tools for assistants: search, read, find and uses, whose replies are text to read."""
