# A plain private module: edited here, exported by no notebook, tested in tests/test_cli_faults.py.
"""What the command line does so that nobody meets a traceback, and no terminal obeys a text from outside."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from summeval_nb._start import interrupted
from summeval_nb.ground.addresses import without_secrets
from summeval_nb.ground.html import printable

_IN_WORDS_OF_THE_SHELL = {
    "columns={...}": "--column METRIC'S=YOURS",
    "resume=False": "--no-resume",
    "recover=True": "--recover",
    "format='jsonl' or 'csv'": "--format jsonl or --format csv",
    "run nltk.download('wordnet') once": "run python -m nltk.downloader wordnet once",
    "synonyms=None": "-o synonyms=null",
    "'wordnet', None or a mapping": "wordnet, null or a JSON object",
    "Store(path).prune(damaged=True) deletes": "summeval store prune FILE --damaged deletes",
}
_OF_INPUT_OR_SURROUNDINGS = (ValueError, TypeError, ImportError, OSError, RuntimeError, ArithmeticError, EOFError)


def say(text: str, *, err: bool = False, safe: bool = False) -> None:
    """Print a text to standard output or error; only one that is known to be `safe` keeps its escape sequences."""
    text = without_secrets(text) if err else text
    try:
        typer.echo(text if safe else printable(text), err=err)
    except OSError as error:
        _drop(sys.stderr if err else sys.stdout)
        if isinstance(error, BrokenPipeError) and not err:  # the reader of a pipe has gone, as in `summeval … | head`
            raise typer.Exit(141) from None
        if not err:  # otherwise nobody can be told
            fail(f"cannot write to standard output: {error.strerror or error}")


def fail(message: str, code: int = 2) -> NoReturn:
    """Print one line to standard error and leave with an exit code (2: bad input, 3: partial failure)."""
    say("summeval: " + " ".join(message.split()), err=True)
    raise typer.Exit(code)


def to_json(data: object) -> str:
    """Return data as JSON that a terminal may show: all that is not plain ASCII is escaped."""
    return json.dumps(data, ensure_ascii=True).replace("\x7f", "\\u007f")


def standard_input() -> BinaryIO:
    """Return standard input as bytes."""
    if sys.stdin is None:
        fail("standard input is closed; name a file instead of -")
    return sys.stdin.buffer


def describe_fault(error: BaseException) -> tuple[str, int]:
    """Return what is said of an exception, and its exit code: 2, or 70 for what nobody expected."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, RecursionError):
        return "the input is nested too deeply", 2
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {text}", 2
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename!r}: {error.strerror}" if error.filename else error.strerror, 2
    if isinstance(error, _OF_INPUT_OR_SURROUNDINGS) or type(error) is LookupError:
        for python, shell in _IN_WORDS_OF_THE_SHELL.items():
            text = text.replace(python, shell)
        return text, 2
    return f"unexpected {type(error).__name__}: {text} (SUMMEVAL_TRACEBACK=1 shows where; please report it)", 70


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except (typer.Exit, typer.Abort):
        raise
    except KeyboardInterrupt:
        fail("interrupted", 130)
    except Exception as error:
        if interrupted():  # a library made something else of it
            fail("interrupted", 130)
        if hasattr(error, "format_message") or os.environ.get("SUMMEVAL_TRACEBACK"):
            raise
        message, code = describe_fault(error)
        try:
            sys.stdout.flush()
        except OSError:  # it was this one: what is left in it must not fail once more on leaving
            _drop(sys.stdout)
            message = f"cannot write to standard output: {message}"
        fail(message, code)


_SENTENCE = 1000  # characters: no first sentence is longer


class OneLine(TyperGroup):
    """Commands of which every fault ends with one line on standard error and an exit code."""

    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the command line; `--help` and `--version` are answered here."""
        with _one_line():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _one_line():
            return super().invoke(ctx)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with its whole first sentence, on as many lines as that takes."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, one.get_short_help_str(_SENTENCE)) for name, one in found if one is not None and not one.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def prepare_streams() -> None:
    """Make standard streams safe: none closed, so that no file takes its number, and none that stops at a letter."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is this one
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    if sys.stdout is None:
        say("summeval: standard output is closed; redirect it, for instance to /dev/null", err=True)
        raise SystemExit(2)


def show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as one line, in the place of `warnings.showwarning`."""
    say("summeval: warning: " + " ".join(str(message).split()), err=True)


def say_usage_error(error: Exception) -> int:
    """Print a usage error as one line and return 2; raise anything else again.

    Which library a usage error comes from differs between versions of Typer, so it is known by its method.
    """
    if not hasattr(error, "format_message"):
        raise error
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        say(message)
    else:
        say(f"summeval: {' '.join(message.split())} (see summeval --help)", err=True)
    return 2


def _drop(stream: TextIO | None) -> None:
    """Send what is left of a stream nowhere, so that leaving does not fail for the same reason again."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)
