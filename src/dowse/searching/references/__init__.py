"""References between the files of a project: who uses a name, and which files belong together."""
