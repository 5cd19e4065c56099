"""The encoders, which turn texts into vectors."""
