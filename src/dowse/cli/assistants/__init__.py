"""The configuration files of assistants: where they are, and how dowse is added to and removed from them."""
