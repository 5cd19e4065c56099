"""Storage that cannot be written: searches answer, writes refuse, and all is well once it can be written again."""
