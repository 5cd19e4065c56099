"""Research archives: reports and captured pages, searched with typos forgiven, and what cites what."""
