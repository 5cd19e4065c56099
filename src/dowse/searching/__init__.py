"""Search: from a query to verified hits with passages."""
