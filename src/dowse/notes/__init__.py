"""Named indexes that an assistant fills and searches itself."""
