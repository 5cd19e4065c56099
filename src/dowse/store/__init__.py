"""Storage of an index: the catalog, the text index, the vectors and the folder layout."""
