"""Queries to hits."""
