"""The text toolkit: analysis, vocabulary with typo correction, and excerpts."""
