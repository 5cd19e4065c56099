"""The graph of citations as pictures and files for other programs."""
