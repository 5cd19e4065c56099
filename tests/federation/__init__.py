"""Tests of the federated search."""
