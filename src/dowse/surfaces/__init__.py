"""One module a surface: its tools, what they take and what they reply."""
