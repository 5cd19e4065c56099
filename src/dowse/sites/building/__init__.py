"""Building an index from a folder of built HTML, or of Markdown with front matter."""
