"""Named indexes."""
