"""What of a found text is not shown, and what of it a reader is warned of."""
