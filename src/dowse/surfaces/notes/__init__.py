"""The tools over named indexes."""
