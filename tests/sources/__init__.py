"""Tests of the sources: the gate in front of every file."""
