"""Publishing a commit of a repository as a shared index."""
