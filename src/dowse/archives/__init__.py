"""Research archives: indexing and searching of reports and captured pages, and the graph of their citations."""
