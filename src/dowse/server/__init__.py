"""The server that a command starts, and the `dowse.toml` that configures it."""
