"""`make speed`: how fast and how large indexing is, on real files, beside semble in the same run."""
