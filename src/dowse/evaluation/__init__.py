"""How good search is on a project: questions made of its own history and documentation, and their answers."""
