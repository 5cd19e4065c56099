"""Where documents come from, behind one policy."""
