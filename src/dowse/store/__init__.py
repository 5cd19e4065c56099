"""What is kept of an index."""
