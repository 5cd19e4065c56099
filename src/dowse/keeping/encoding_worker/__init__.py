"""The encoding process, which makes the vectors of a model in the background, and its client in the server."""
