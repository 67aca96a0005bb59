"""How the commands read and speak: one line for every fault, texts and tables as people pass them, results as pages."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import partial, wraps
from inspect import Parameter, get_annotations, signature
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO, NoReturn, TextIO

import typer
from typer.core import TyperGroup

from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import JsonDict, require_options
from summeval_nb.core.files import write_whole
from summeval_nb.core.html import printable
from summeval_nb.core.results import ScoreTable

if TYPE_CHECKING:
    from summeval_nb.core.items import ItemStream
    from summeval_nb.models.store import Store
    from summeval_nb.runs.jobs import Job

_IN_WORDS_OF_THE_SHELL = {
    "columns={...}": "--column METRIC'S=YOURS",
    "resume=False": "--no-resume",
    "recover=True": "--recover",
    "force=True": "--force",
    "format='jsonl' or 'csv'": "--format jsonl or --format csv",
    "run nltk.download('wordnet') once": "run python -m nltk.downloader wordnet once",
    "synonyms=None": "-o synonyms=null",
    "'wordnet', None or a mapping": "wordnet, null or a JSON object",
    "give them as options, ": "give them as options, -o ",
    "=..., ": "=... -o ",  # between two of them
    "draw_items(table, n, path=)": "summeval correct TABLE --draw N --out FILE",
    "name verdict=": "name it with -o verdict=",
    "with verdict=": "with -o verdict=",
    "Store(path).prune(damaged=True) deletes": "summeval store prune FILE --damaged deletes",
}
_OF_INPUT_OR_SURROUNDINGS = (ValueError, TypeError, ImportError, OSError, RuntimeError, ArithmeticError, EOFError)


_presses = 0  # of Ctrl-C


def interrupt(number: int, frame: FrameType | None) -> NoReturn:
    """Count a Ctrl-C and raise what Python raises for it."""
    global _presses
    _presses += 1
    raise KeyboardInterrupt


def interrupted() -> bool:
    """Return whether Ctrl-C was pressed; what is raised after that is its consequence, whatever it looks like."""
    return _presses > 0


def say(text: str, *, err: bool = False, safe: bool = False) -> None:
    """Print a text to standard output or error; only one that is known to be `safe` keeps its escape sequences."""
    text = redacted(text) if err else text
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
    """Return data as JSON that a terminal may show: all that is not plain ASCII is escaped.

    Examples
    --------
    >>> print(to_json({"text": "café"}))
    {"text": "caf\\u00e9"}
    """
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
        return _in_words_of_the_shell(text), 2
    return f"unexpected {type(error).__name__}: {text} (SUMMEVAL_TRACEBACK=1 shows where; please report it)", 70


def _in_words_of_the_shell(text: str) -> str:
    """A message with the shell's options in the place of Python's arguments."""
    text = re.sub(
        r"columns=\{'(\w{1,40})': '([^']{1,200})'\}",
        lambda found: f"--column {shlex.quote('='.join(found.groups()))}",
        text,
    )
    for python, shell in _IN_WORDS_OF_THE_SHELL.items():
        text = text.replace(python, shell)
    return text


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

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the words name; a metric is none, and is told from a slip."""
        if args and self.get_command(ctx, args[0]) is None:
            from summeval_nb.agreement.registry import METRICS

            if args[0] in METRICS:
                fail(f"{args[0]} is a metric: call summeval score {args[0]}")
            if args[0] == "evaluate":  # as in Python
                fail("evaluate is the metric faithfulness: call summeval score faithfulness")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with its whole first sentence, on as many lines as that takes."""
        found = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, command.get_short_help_str(_SENTENCE))
            for name, command in found
            if command is not None and not command.hidden
        ]
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


Files = Annotated[list[str], typer.Argument(help="A table, or plain files of texts; - for standard input.")]
Each = Annotated[bool, typer.Option("--each", help="A score for each text instead of one for all.")]
Format = Annotated[str | None, typer.Option("--format", help="jsonl, csv or parquet, where the name does not tell.")]
Column = Annotated[list[str] | None, typer.Option("--column", help="METRIC'S=YOURS, e.g. candidate=prediction.")]
Options = Annotated[list[str] | None, typer.Option("--option", "-o", help="NAME=VALUE, an option of the metric.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print everything as JSON.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write the page to this file.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write the result to this file as Markdown.")]
Kept = Annotated[str | None, typer.Option("--store", help="File that keeps vectors and answers between runs.")]


@dataclass(frozen=True, kw_only=True)
class Given:
    """What a command on a table takes, whatever it makes of the rows."""

    column: Column = None
    option: Options = None
    format: Format = None
    store: Kept = None
    html: Html = None
    markdown: Markdown = None
    as_json: AsJson = False


def takes(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options of `Given`, in this order, after its own; it gets them as one argument, `given`.

    What is written as a page is written as Markdown, too.
    """
    names = tuple(name for given in names for name in ((given, "markdown") if given == "html" else (given,)))
    kinds, defaults = get_annotations(Given, eval_str=True), {field.name: field.default for field in fields(Given)}

    def add(command: Callable[..., None]) -> Callable[..., None]:
        own = [
            parameter
            for parameter in signature(command, eval_str=True).parameters.values()
            if parameter.name != "given"
        ]
        shared = [Parameter(n, Parameter.KEYWORD_ONLY, default=defaults[n], annotation=kinds[n]) for n in names]

        @wraps(command)
        def called(**values: Any) -> None:
            given = Given(**{name: values.pop(name) for name in names})
            command(**values, given=given)

        parameters = [parameter.replace(kind=Parameter.KEYWORD_ONLY) for parameter in own] + shared
        called.__signature__ = signature(command).replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return called

    return add


def read_text(name: str, what: str) -> str:
    """Return the text of a file, or of standard input for `-`; anything unusable ends with one line and code 2."""
    try:
        data = standard_input().read() if name == "-" else Path(name).read_bytes()
    except FileNotFoundError:
        fail(f"{what}: there is no file {name!r}")
    except IsADirectoryError:
        fail(f"{what}: {name!r} is a folder; name a text file")
    except OSError as error:
        fail(f"{what}: cannot read {name!r}: {error.strerror}")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        fail(f"{what}: {name!r} is not UTF-8 text (byte {error.start}); convert it, or extract the text first")
    if "\x00" in text:
        fail(f"{what}: {name!r} looks like a binary file (it holds a NUL character); name a text file")
    if not text.strip():
        fail(f"{what}: {name!r} is empty; there is nothing to evaluate")
    return text


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, which only a newline ends (or one after a carriage return, as on Windows)."""
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def write(path: Path, save: Callable[[Path], object]) -> None:
    """Write a file through `save(path)` and say where; a failure ends with one line and code 2."""
    try:
        save(path)
    except OSError as error:
        fail(f"cannot write {str(path)!r}: {error.strerror or error}")
    say(f"written to {path}", err=True)


_STARTS = {"--html": b"<!doctype html", "--markdown": b"<!-- summeval -->"}  # of files that we may write anew


def keep_apart(given: Given | Path | None, *inputs: str | Path | None) -> None:
    """Fail if a page would take the place of something that is read, or of any other file that is no page."""
    pages = {"--html": given.html, "--markdown": given.markdown} if isinstance(given, Given) else {"--html": given}
    for option, page in pages.items():
        for source in inputs if page else ():
            if source is not None and os.path.realpath(source) == os.path.realpath(page or ""):
                fail(f"{option} {str(page)!r} would overwrite what is read: name another file")
        if page and page.is_file():
            with suppress(OSError), page.open("rb") as file:
                start = file.read(len(_STARTS[option]))
                if start and start.lower() != _STARTS[option]:
                    fail(f"{option} {str(page)!r} would overwrite a file that is no page: name another file")


def load_named(options: JsonDict) -> JsonDict:
    """Return options in which named models are loaded."""
    from summeval_nb.runs.jobs import load_options

    return load_options(options)


def find_own(metric: str) -> None:
    """Let a metric of the user's, named by its place, be found in the current folder as well, after all others."""
    if ":" in metric and (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)


def read_pairs(given: list[str] | None, what: str) -> JsonDict:
    """Return `["n=2", "smooth=exp"]` as `{"n": 2, "smooth": "exp"}`."""
    found: JsonDict = {}
    for item in given or []:
        name, equal, value = item.partition("=")
        if not equal or not name:
            fail(f"{what} must be NAME=VALUE, not {item!r}")
        if name in found:
            fail(f"{what} names {name!r} twice: give it once")
        try:
            found[name] = json.loads(value)
        except (ValueError, RecursionError):
            found[name] = value
    return found


def read_options(
    given: list[str] | None, function: Callable[..., object], caller: str, *, but: Iterable[str] = ()
) -> JsonDict:
    """Return the options of a call, each a keyword of the function; an unknown one names the nearest.

    Yes and no, true and false, are what they say where the function wants a flag. `but` names keywords that are given
    in another way, as the store always is.
    """
    found = read_pairs(given, "--option")
    named = [p for p in signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY or p.default is not p.empty]
    hidden = {"store", "progress", *but}
    require_options(caller, found, [p.name for p in named if p.name not in hidden])
    words = {"true": True, "yes": True, "false": False, "no": False}
    flags = {p.name for p in named if isinstance(p.default, bool) or str(p.annotation).startswith("bool")}
    return {name: words.get(str(value).lower(), value) if name in flags else value for name, value in found.items()}


def read_metric_options(given: Given, name: str) -> JsonDict:
    """Return the options of a metric, but for those that its name fixes."""
    from summeval_nb.agreement.registry import find_metric

    kind, fixed = find_metric(name)
    return read_options(given.option, kind.function, name, but=fixed)


def open_table(name: str, format: str | None) -> ItemStream:
    """Return a file, or standard input for `-`, as a stream of items."""
    from summeval_nb.core.items import open_items

    return open_items(standard_input() if name == "-" else name, format=format)


def read_table(name: str, format: str | None, metric: str, column: list[str] | None) -> tuple[list[JsonDict], int]:
    """Return the good rows of a table with a metric's columns, and how many were bad; those are named."""
    from summeval_nb.runs.jobs import Job

    job = Job(metric, {}, read_pairs(column, "--column"))
    rows, bad = [], []
    for item in open_table(name, format):
        row, problem = job.read(item)
        bad.append(f"at {item.place}: {_in_words_of_the_shell(problem)}") if problem else rows.append(row)
    if not rows:
        fail(f"{name!r} holds no usable row; {bad[0]}" if bad else f"{name!r} holds no rows")
    for line in bad[:10]:
        say(f"summeval: left out: {' '.join(line.split())}", err=True)
    for line in _lacking(job, rows):
        say(f"summeval: {' '.join(_in_words_of_the_shell(line).split())}", err=True)
    return rows, len(bad)


def _lacking(job: Job, rows: list[JsonDict]) -> list[str]:
    """What is said of the columns that no row has, where the table has others that may be meant."""
    from summeval_nb.core.files import no_column, unread_columns

    lacking = [name for name in job.may_lack if all(row.get(name) is None for row in rows)]
    taken = ["id", *job.columns.values()]  # several columns may be one list
    others = [column for column in unread_columns(job.kinds, rows[0]) if column not in taken]
    return [no_column(name, others) for name in lacking if others]


def read_columns(name: str, format: str | None, columns: Sequence[str]) -> list[JsonDict]:
    """Return the rows of a table that must all have these columns."""
    from summeval_nb.core.files import require_once
    from summeval_nb.runs.jobs import read_row

    require_once(columns, "the command")
    read = [read_row(item, {column: column for column in columns}, {}) for item in open_table(name, format)]
    if problems := [problem for _, problem in read if problem]:
        fail(f"{name!r}: {problems[0]}")
    if not read:
        fail(f"{name!r} holds no rows")
    return [row for row, _ in read]


def leave_for(bad: int, total: int) -> None:
    """Leave with code 3 if some rows were bad."""
    if bad:
        fail(f"{bad} of {total} rows failed and were left out", code=3)


def show(result: Any, given: Given, title: str, text: str, *, safe: bool = False) -> None:
    """Print a result as text or JSON, and write its page and its Markdown where they are wanted."""
    from summeval_nb.core.html import html_page

    say(to_json(result.to_dict()) if given.as_json else text, safe=safe and not given.as_json)
    if given.html:
        own = getattr(result, "to_html", None)
        if own and isinstance(result, ScoreTable):
            own = partial(own, title=title)
        write(given.html, own or (lambda path: write_whole(path, html_page(title, result._repr_html_()))))
    if given.markdown:
        write_markdown(given.markdown, lambda: _as_markdown(result, title))


def write_markdown(path: Path, draw: Callable[[], str]) -> None:
    """Write Markdown to a file, behind the mark by which we know it as ours."""
    write(path, lambda target: write_whole(target, f"{_STARTS['--markdown'].decode()}\n{draw()}"))


def show_rows(rows: Sequence[JsonDict], as_json: bool, *, shown: Sequence[JsonDict] | None = None) -> None:
    """Print rows as JSON, or as a table; `shown` are the rows as people read them."""
    from summeval_nb.core.html import text_table

    say(to_json({"rows": rows}) if as_json else text_table(rows if shown is None else shown))


_MOST_ROWS = 100  # of a table in Markdown, which is for pull requests and summaries of jobs


def _as_markdown(result: Any, title: str) -> str:
    """A result's own Markdown, or its rows as a table with what it says of itself."""
    from summeval_nb.core.html import markdown_report

    if hasattr(result, "to_markdown"):
        return str(result.to_markdown())
    rows = result.rows() if hasattr(result, "rows") else [result.to_dict()]
    more = f"The first {_MOST_ROWS} of {len(rows)} rows." if len(rows) > _MOST_ROWS else ""
    said = repr(result).partition("\n")[0]
    return markdown_report(title, [said, *filter(None, [more])], rows[:_MOST_ROWS])


def read_rows(metric: str, files: list[str], given: Given) -> tuple[list[JsonDict], int, bool]:
    """Return the rows that a metric scores, how many others were bad, and whether it is one row of whole texts.

    One file is a table. Several are plain texts: a candidate a line and its references, or else a file for each column.
    """
    if len(files) == 1:
        return *read_table(files[0], given.format, metric, given.column), False
    if useless := [f"--{name}" for name in ("column", "format") if getattr(given, name)]:
        fail(f"{' and '.join(useless)} would say how a table is read: leave it out, since plain files have no columns")
    from summeval_nb.agreement.registry import find_metric

    columns = list(find_metric(metric)[0].columns)
    lines = columns == ["candidate", "references"]
    if files.count("-") > 1:
        fail("only one of the files can be standard input")
    if not lines and len(files) != len(columns):
        fail(f"{metric} reads {', '.join(columns)}: give one table, or {len(columns)} plain files, not {len(files)}")
    texts = [read_text(name, columns[min(place, len(columns) - 1)]) for place, name in enumerate(files)]
    if not lines:
        return [dict(zip(columns, texts, strict=True))], 0, True
    split = [split_lines(text) for text in texts]
    if len({len(lines_of_file) for lines_of_file in split}) > 1:
        sizes = ", ".join(f"{name}: {len(lines_of_file)}" for name, lines_of_file in zip(files, split, strict=True))
        fail(f"the files must have the same number of lines ({sizes})")
    return [{"candidate": first, "references": others} for first, *others in zip(*split, strict=True)], 0, False


def say_cost(options: object) -> None:
    """Say on standard error what the language models in some options have used."""
    from summeval_nb.runs.costs import find_backends

    for backend in find_backends(options):
        used = backend.usage
        tokens = f"{used.prompt_tokens:,} prompt tokens, {used.generated_tokens:,} completion tokens"
        say(f"summeval: {backend.name}: {used.calls:,} calls, {tokens}, {used.seconds:.1f} s", err=True)


def open_store(path: str | None) -> Store | None:
    """Return the store at a path; None for none."""
    from summeval_nb.models.store import Store

    return None if path is None else Store(path)
