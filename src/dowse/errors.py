"""Every error a user can meet.

DowseError
├── UsageError               the command or argument is wrong               exit 2
│   └── TooManyFiles         the project is larger than maxFiles, unasked   exit 2
├── SettingsError            a settings file cannot be used                 exit 2
├── PathRefused              a path leaves the root or is not allowed       exit 2
├── ProjectNotDetected       no root could be found                         exit 2
├── NotIndexed               there is no index for this project             exit 1
├── NotFound                 there is nothing of this name                  exit 1
├── NoSuchDocument           a document or section is not there             exit 1
└── Failed                   it could not be done                           exit 3
    ├── StoreTooNew          the index was written by a newer dowse
    ├── StoreBusy            another process holds the index
    ├── StoreDamaged         the catalog itself cannot be read
    ├── LimitReached         no more of this can be kept
    ├── ModelMissing         an encoder's model cannot be had
    └── DiskFull             no space left

A message says what, where and what to do. Raised close to the cause, rendered at the surface.
"""


class DowseError(Exception):
    """Base of all errors that are shown to a user as one line."""

    exit_code = 3
    code = "FAILED"


class UsageError(DowseError):
    """The command or an argument is wrong."""

    exit_code = 2
    code = "INVALID_ARGUMENT"


class TooManyFiles(UsageError):
    """The project is larger than maxFiles and nobody said yes."""

    code = "FILE_LIMIT_WARNING"


class SettingsError(DowseError):
    """A settings file cannot be used at all."""

    exit_code = 2
    code = "INVALID_CONFIG"


class PathRefused(DowseError):
    """A path leaves the root or is not allowed."""

    exit_code = 2
    code = "FILE_NOT_FOUND"


class ProjectNotDetected(DowseError):
    """No root could be found, or only one that must be named."""

    exit_code = 2
    code = "PROJECT_NOT_DETECTED"


class NotIndexed(DowseError):
    """There is no index for this project."""

    exit_code = 1
    code = "INDEX_NOT_FOUND"


class NotFound(DowseError):
    """There is no index or document of this name."""

    exit_code = 1
    code = "NOT_FOUND"


class NoSuchDocument(DowseError):
    """A document or section is not there, or not to be read."""

    exit_code = 1
    code = "DOCUMENT_NOT_FOUND"


class Failed(DowseError):
    """It could not be done."""


class StoreTooNew(Failed):
    """The index was written by a newer version."""

    code = "INDEX_TOO_NEW"


class StoreBusy(Failed):
    """Another process holds the index."""

    code = "INDEX_BUSY"


class StoreDamaged(Failed):
    """The catalog itself cannot be read."""

    code = "INDEX_CORRUPT"


class LimitReached(Failed):
    """No more of this can be kept."""

    code = "LIMIT_REACHED"


class ModelMissing(Failed):
    """An encoder's model is nowhere and could not be downloaded."""

    code = "MODEL_DOWNLOAD_FAILED"


class DiskFull(Failed):
    """No space is left where the index lives."""

    code = "DISK_FULL"


def error_with(code: str, message: str) -> DowseError:
    """The error that another process told by its code."""
    return next((kind(message) for kind in _kinds(DowseError) if kind.code == code), Failed(message))


def _kinds(kind: type[DowseError]) -> list[type[DowseError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _kinds(child))]
