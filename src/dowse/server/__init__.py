"""The service that every surface shares."""
