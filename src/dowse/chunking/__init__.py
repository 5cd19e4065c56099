"""Text to chunks with lines and symbols."""
