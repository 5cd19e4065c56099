"""Building an index from the sources of a site: the Markdown of six generators, or HTML."""
