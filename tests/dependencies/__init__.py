"""Tests of installed packages."""
