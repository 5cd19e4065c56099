"""Fuzzing: every parser gets a million damaged inputs in `make soak`, and the ones that once failed in every test run."""
