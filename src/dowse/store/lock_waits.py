"""How long callers wait for the write lock of a store."""

WRITE_WAIT_SECONDS = 60.0
"""How long a writer waits for another one's batch; a batch takes about a second."""
READ_WAIT_SECONDS = 0.3
"""How long a search waits to bring derived files up to date before it uses them as they are."""
