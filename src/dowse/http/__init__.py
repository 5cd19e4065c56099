"""The protocol over HTTP: who may connect, how often, and the application."""
