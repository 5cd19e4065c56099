"""The index of one root: opened, searched, described, checked."""
