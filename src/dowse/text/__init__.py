"""The text toolkit: the syntax of queries, lines, words, vocabulary with typo correction, and excerpts."""
