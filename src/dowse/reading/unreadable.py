"""What cannot be read here."""


class NotReadable(Exception):
    """A format needs a package that is not installed; the message says which and how to get it."""
