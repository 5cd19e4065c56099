"""Reading, checking, searching and building the search index of a static site."""
