"""One search over everything that is served."""
