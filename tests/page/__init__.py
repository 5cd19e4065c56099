"""Tests of the page for people."""
