"""What cannot be read here."""


class FormatNotReadable(Exception):
    """A format needs a package that is not installed; the message says which and how to get it."""
