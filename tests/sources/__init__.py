"""Tests of the sources of files and their policy."""
