"""Every error of the package, in two trees.

Errors that a user can meet. A message says what is wrong, where, and what to do; it is raised close to the cause
and rendered at the surface.

DowseError
├── UsageError                       the command or an argument is wrong               exit 2
│   ├── TooManyFiles                 the project has more than maxFiles files          exit 2
│   ├── InvalidArgument              an argument of a tool is wrong                    exit 2
│   ├── InvalidDocuments             some documents of a bulk cannot be added          exit 2
│   └── ResourceNotFound             a URI names nothing that may be read              exit 2
├── SettingsError                    a settings file cannot be used                    exit 2
├── PathRefused                      a path leaves the root or is not allowed          exit 2
├── ProjectNotDetected               no root could be found                            exit 2
├── NotIndexed                       there is no index for this project                exit 1
├── NotFound                         there is nothing of this name                     exit 1
│   └── ItemNotFound                 an id names nothing that may be read              exit 1
├── NoSuchDocument                   a document or section does not exist              exit 1
├── CatalogError                     an error by its code in the error catalog         exit 3
├── SourceNotReady                   a source cannot answer yet                        exit 3
├── SearchStopped                    the client no longer waits for the answer         exit 3
├── LexicalDamaged                   the lexical index has to be rebuilt               exit 3
└── Failed                           it could not be done                              exit 3
    ├── StoreTooNew                  the index was written by a newer dowse
    ├── StoreBusy                    another process holds the index
    │   └── WordsMissing             the lexical index waits for the process that builds it
    ├── StoreDamaged                 the catalog itself cannot be read
    ├── LimitReached                 no more of this can be kept
    ├── DownloadFailed               a server cannot be reached, or its reply is cut
    ├── ModelMissing                 an encoder's model cannot be had
    ├── ModelCrashed                 the process of a model has ended by itself
    ├── NotWritable                  nothing can be written there
    │   └── DiskFull                 no space is left
    ├── NoHistory                    there is no history of commits that may be read
    └── NotASiteIndex                a file is no index of a site

Signals that one module raises and another catches. No user sees them.

Signal
├── BodyRefused                      the body of a request is not accepted
├── CannotWatch                      the system gives no events for a folder
├── ConfirmationNeeded               a call ends with a question to the user
├── FormatNotReadable                a format needs a package that is not installed
├── InvalidMessage                   a line is no message of the protocol
├── PackageRefused                   a DOCX file holds what no document needs
├── ParserEnded                      a parser process ended, and its file is not the reason
├── ScreeningTimeout                 a text could not be screened for secrets in time
└── TooManyRules                     an ignore file has more rules than are read
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from dowse.error_catalog import UNKNOWN_FACTS, user_message


class DowseError(Exception):
    """Base of all errors that are shown to a user as one line."""

    exit_code = 3
    code = "FAILED"
    facts: Mapping[str, Any] = MappingProxyType({})
    """The values that the messages of the error catalog name."""


class UsageError(DowseError):
    """The command or an argument is wrong."""

    exit_code = 2
    code = "INVALID_ARGUMENT"


class TooManyFiles(UsageError):
    """The project has more than maxFiles files and nobody agreed to index it."""

    code = "FILE_LIMIT_WARNING"


class InvalidArgument(UsageError):
    """An argument of a tool is missing or wrong."""

    def __init__(self, argument: str, message: str) -> None:
        super().__init__(message)
        self.argument = argument


class InvalidDocuments(UsageError):
    """Some documents of a bulk cannot be added, so none was added."""

    def __init__(self, message: str, errors: list[dict[str, Any]]) -> None:
        super().__init__(message)
        self.errors = errors


class ResourceNotFound(UsageError):
    """A URI names nothing that may be read."""


class SettingsError(DowseError):
    """A settings file cannot be used at all."""

    exit_code = 2
    code = "INVALID_CONFIG"


class PathRefused(DowseError):
    """A path leaves the root or is not allowed."""

    exit_code = 2
    code = "FILE_NOT_FOUND"

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.facts = {"path": path} if path else {}
        """The path as it was asked for, if the message for a client may name it."""


class ProjectNotDetected(DowseError):
    """No root could be found, or only one that has to be named."""

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


class ItemNotFound(NotFound):
    """An id of a federated search names nothing that may be read."""


class NoSuchDocument(DowseError):
    """A document or section does not exist, or may not be read."""

    exit_code = 1
    code = "DOCUMENT_NOT_FOUND"


class CatalogError(DowseError):
    """An error by its code in the error catalog, with the facts that its messages name."""

    def __init__(self, code: str, **facts: Any) -> None:
        self.code = code
        self.facts = {**UNKNOWN_FACTS, **facts}
        super().__init__(user_message(code, self.facts))


class SourceNotReady(DowseError):
    """A source of a federated search cannot answer yet; the message says what to do."""

    code = "NOT_READY"


class SearchStopped(DowseError):
    """The client no longer waits for the answer."""


class LexicalDamaged(DowseError):
    """The lexical index cannot be used and has to be rebuilt; the store does so by itself."""


class Failed(DowseError):
    """It could not be done."""


class StoreTooNew(Failed):
    """The index was written by a newer version."""

    code = "INDEX_TOO_NEW"


class StoreBusy(Failed):
    """Another process holds the index."""

    code = "INDEX_BUSY"


class WordsMissing(StoreBusy):
    """The lexical index has to be built again, which takes longer than a search may wait."""


class StoreDamaged(Failed):
    """The catalog itself cannot be read."""

    code = "INDEX_CORRUPT"


class LimitReached(Failed):
    """No more of this can be kept."""

    code = "LIMIT_REACHED"


class DownloadFailed(Failed):
    """A server cannot be reached, answers too slowly, or its reply ends too early."""


class ModelMissing(Failed):
    """An encoder's model was not found and could not be downloaded."""

    code = "MODEL_DOWNLOAD_FAILED"


class ModelCrashed(Failed):
    """The process of a model has ended by itself."""


class NotWritable(Failed):
    """Nothing can be written there: the file system is read-only, or the user has no permission."""

    code = "NOT_WRITABLE"


class DiskFull(NotWritable):
    """No space is left on the disk that holds the index."""

    code = "DISK_FULL"


class NoHistory(Failed):
    """There is no repository, or none whose history may be read."""

    code = "NO_HISTORY"


class NotASiteIndex(Failed):
    """A file is not a JSON object, so it is no index of a site."""


class Signal(Exception):
    """Base of the exceptions that never reach a user."""


class BodyRefused(Signal):
    """The body of a request is not accepted; `reply` is the HTTP response, None if the client is gone."""

    def __init__(self, reply: Any) -> None:
        super().__init__()
        self.reply = reply


class CannotWatch(Signal):
    """The system gives no events for a folder; the message says why."""


class ConfirmationNeeded(Signal):
    """A call ends with a question to the user; the client repeats the call with the answer."""

    def __init__(self, result: Any) -> None:
        super().__init__("a question is open")
        self.result = result


class FormatNotReadable(Signal):
    """A format needs a package that is not installed; the message names it and how to install it."""


class InvalidMessage(Signal):
    """A line from the client is no message of the protocol; `refusal` is the JSON-RPC error to send."""

    def __init__(self, refusal: Any) -> None:
        super().__init__(refusal.error.message)
        self.refusal = refusal


class PackageRefused(Signal):
    """A part of a DOCX file declares a document type, which no document needs and which could declare entities."""


class ParserEnded(Signal):
    """A parser process ended for a reason that has nothing to do with its file, or did not answer."""


class ScreeningTimeout(Signal):
    """A text could not be screened for secrets in time."""


class TooManyRules(Signal):
    """An ignore file has more rules than can be read in a reasonable time; the message says what is too much."""


def error_with(code: str, message: str) -> DowseError:
    """Return the error of a code that another process reported."""
    return next((kind(message) for kind in _subclasses(DowseError) if kind.code == code), Failed(message))


def _subclasses(kind: type[DowseError]) -> list[type[DowseError]]:
    return [kind, *(below for child in kind.__subclasses__() for below in _subclasses(child))]
