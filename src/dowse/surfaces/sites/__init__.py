"""The tools over static sites."""
