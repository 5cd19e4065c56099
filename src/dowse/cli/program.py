"""One run of the program: run the command, and turn its outcome into output and an exit code."""

import contextlib
import os
import sys
from typing import Any, NamedTuple

import click

from dowse.cli.command_list import dowse
from dowse.cli.common_arguments import wants_json
from dowse.cli.output import INTERRUPTED, CommandReply, format_json, say, show
from dowse.errors import DowseError, Failed, UsageError
from dowse.system.platform import writing_error
from dowse.system.signals import interrupt_on_terminate, on_stop_signals, raise_on_interrupt


class _Outcome(NamedTuple):
    """The end of a command whose text is printed."""

    exit_code: int
    value: dict[str, Any] | None = None
    """The value that --json prints."""
    problem: str = ""
    """The error that ended it."""


def run(arguments: list[str] | None) -> int:
    """Run one command and return its exit code. Without arguments, use those of the process and its streams."""
    if arguments is None:
        prepare_streams()
    given = sys.argv[1:] if arguments is None else arguments
    as_json = wants_json(given)
    outcome = _run_command(given, as_json=as_json, is_program=arguments is None)
    # JSON is printed only here, after everything that can fail or be interrupted, so it is always one object.
    exit_code = _print_outcome(outcome, as_json=as_json)
    if arguments is None:
        on_stop_signals(None)  # no work is left to save
    return exit_code if flush_or_silence() else Failed.exit_code


def _run_command(arguments: list[str], *, as_json: bool, is_program: bool) -> _Outcome:
    try:
        interrupt_on_terminate()
        if is_program:
            raise_on_interrupt()
        if sys.flags.optimize > 1:
            raise UsageError(
                "Python leaves out the texts of commands and tools with -OO or PYTHONOPTIMIZE=2. Unset that."
            )
        return _invoke(arguments, as_json=as_json)
    except DowseError as error:
        return _failure(error.code, str(error), error.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return _Outcome(error.exit_code)
    except click.ClickException as error:
        return _failure("INVALID_ARGUMENT", _usage_message(error), 2)
    except (KeyboardInterrupt, click.Abort):
        return _failure("INTERRUPTED", "Interrupted; the work done so far is kept.", INTERRUPTED)
    except BrokenPipeError:
        silence_streams()  # the reader of the pipe has closed it
        return _Outcome(0)
    except OSError as error:
        if refusal := writing_error(error):
            return _failure(refusal.code, str(refusal), refusal.exit_code)
        where = f" ({error.filename})" if error.filename else ""
        return _failure("FAILED", f"{error.strerror or error}{where}.", Failed.exit_code)
    except Exception as error:
        if os.environ.get("DOWSE_DEBUG"):
            raise
        message = f"Unexpected {type(error).__name__}: {error}. Set DOWSE_DEBUG=1 to see the details, and report it."
        return _failure("UNEXPECTED", message, Failed.exit_code)


def _failure(code: str, message: str, exit_code: int) -> _Outcome:
    return _Outcome(exit_code, {"error": {"code": code, "message": message}}, message)


def _invoke(arguments: list[str], *, as_json: bool) -> _Outcome:
    # Not click's own main, which handles broken pipes and Ctrl-C itself.
    if request := os.environ.get("_DOWSE_COMPLETE"):
        from dowse.cli.completions_command import answer_shell

        answer_shell(dowse, request)
        return _Outcome(0)
    try:
        with dowse.make_context("dowse", list(arguments), obj=as_json) as context:
            reply = dowse.invoke(context)
    except click.exceptions.Exit as exit_:  # after --help and --version
        return _Outcome(exit_.exit_code)
    if not isinstance(reply, CommandReply):  # a server has ended
        return _Outcome(0)
    if as_json:
        return _Outcome(reply.exit_code, reply.value() if callable(reply.value) else reply.value)
    reply.show_text()
    return _Outcome(reply.exit_code)


def _print_outcome(outcome: _Outcome, *, as_json: bool) -> int:
    try:
        if outcome.exit_code == INTERRUPTED and outcome.problem and sys.stderr.isatty():
            say()  # the terminal has written ^C into this line
        if outcome.problem:
            say(f"dowse: {outcome.problem}")
        if as_json and outcome.value is not None:
            show(format_json(outcome.value))
        return outcome.exit_code
    except BrokenPipeError:
        silence_streams()
        return 0
    except KeyboardInterrupt:
        return INTERRUPTED
    except (OSError, Failed) as error:
        with contextlib.suppress(OSError, Failed):
            if not outcome.problem:  # else that was printed before
                say(f"dowse: {error}")
        return Failed.exit_code


def _usage_message(error: click.ClickException) -> str:
    message = " ".join(error.format_message().split())
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "dowse"
    return f"{message}{'' if message.endswith(('.', '?')) else '.'} See: {command} --help"


def prepare_streams() -> None:
    """Open streams that are closed, and make them escape characters that they cannot encode."""
    _fill_descriptors()
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8")
    sys.stdout = sys.stdout or os.fdopen(1, "w", encoding="utf-8")
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8")
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")


def silence_streams() -> None:
    """Discard all further output, including what is flushed at exit."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):  # a stream may have no descriptor
            os.dup2(devnull, stream.fileno())
    os.close(devnull)


def flush_or_silence() -> bool:
    """Flush stdout and return whether that succeeds. If it fails, discard further output."""
    try:
        sys.stdout.flush()
    except OSError:
        silence_streams()
        return False
    return True


def _fill_descriptors() -> None:
    """Occupy the descriptors 0 to 2 if they are closed, or a database could get one and receive the output."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(descriptor)
