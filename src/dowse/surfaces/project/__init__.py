"""The tools over the code and documentation of a project."""
