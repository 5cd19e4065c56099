"""The commits of a project's repository: which there are, what they changed, and which files change together."""
