"""MCP over HTTP: access control, rate limits, and the application."""
