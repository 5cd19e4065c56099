"""Pictures of the graph of citations, and the graph in the formats of other programs."""
