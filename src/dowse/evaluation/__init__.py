"""How good search is on a project: questions made of its own history, and their answers."""
