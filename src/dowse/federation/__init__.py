"""Everything that is served as one: asked together, in one order, and read by one kind of id."""
