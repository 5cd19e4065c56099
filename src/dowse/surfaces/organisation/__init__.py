"""The tools over the projects of a place."""
