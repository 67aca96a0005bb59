"""How the commands read and speak: one line for every fault, texts and tables as people pass them, results as pages."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import warnings
from collections import ChainMap
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial, wraps
from inspect import Parameter, signature
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, BinaryIO, NoReturn, TextIO

import typer
from typer.core import TyperCommand, TyperGroup

from summeval_nb.agreement import registry
from summeval_nb.core import files as tables
from summeval_nb.core.addresses import redacted
from summeval_nb.core.base import JsonDict, require_option, require_options
from summeval_nb.core.html import html_page, printable, result_markdown

Parameters = Mapping[str, Parameter]
_OF_INPUT_OR_SURROUNDINGS = (ValueError, TypeError, ImportError, OSError, RuntimeError, ArithmeticError, EOFError)
_presses = 0  # of Ctrl-C


def interrupt(*_: object) -> NoReturn:
    """Count a Ctrl-C and raise what Python raises for it; what a library makes of that is its consequence."""
    global _presses
    _presses += 1
    raise KeyboardInterrupt


# ---------------------------------------------------------------- what is said


def say(text: str, *, err: bool = False, safe: bool = False) -> None:
    """Print a text to standard output or error; only one that is known to be `safe` keeps its escape sequences."""
    try:
        typer.echo(text if safe else printable(redacted(text) if err else text), err=err)
    except OSError as error:
        _drop(sys.stderr if err else sys.stdout)
        if isinstance(error, BrokenPipeError) and not err:  # the reader of a pipe has gone, as in `summeval … | head`
            raise typer.Exit(141) from None
        if not err:  # otherwise nobody can be told
            fail(f"cannot write to standard output: {error.strerror or error}")


def note(message: object) -> None:
    """Print one line to standard error."""
    say("summeval: " + " ".join(str(message).split()), err=True)


def fail(message: str, code: int = 2) -> NoReturn:
    """Print one line to standard error and leave with an exit code (2: bad input, 3: partial failure)."""
    note(message)
    raise typer.Exit(code)


def to_json(data: object) -> str:
    """Return data as JSON that a terminal may show: all that is not plain ASCII is escaped."""
    return json.dumps(data, ensure_ascii=True).replace("\x7f", "\\u007f")


def _drop(stream: TextIO | None) -> None:
    """Send what is left of a stream nowhere, so that leaving does not fail for the same reason again."""
    with suppress(OSError, ValueError, AttributeError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())  # type: ignore[union-attr]
        os.close(nowhere)


def _in_words_of_the_shell(text: str) -> str:
    """A message with the shell's options in the place of Python's arguments."""
    column = lambda found: f"--column {shlex.quote(f'{found[1]}={found[2]}')}"
    text = re.sub(r"columns=\{'(\w{1,40})': '([^']{1,200})'\}", column, text)
    text = text.replace("columns={...}", "--column METRIC'S=YOURS").replace("force=True", "--force")
    text = re.sub(r"format='(\w+)'", r"--format \1", text).replace("resume=False", "--no-resume")
    text = text.replace("draw_items(table, n, path=)", "summeval correct TABLE --draw N --out FILE")
    text = re.sub(r"nltk\.download\('(\w+)'\)", r"python -m nltk.downloader \1", text)
    return re.sub(r"(?<!--column )(?<![\w-])(\w+)=(?=None|True|False|'|\.\.\.|[ ,;:)]|$)", r"-o \1=", text)


def _describe(error: BaseException) -> tuple[str, int]:
    """What is said of an error that ends a command, and the exit code: 2, or 70 for what nobody expected."""
    text = " ".join(str(error).split()) or type(error).__name__
    if _presses or isinstance(error, KeyboardInterrupt):
        return "interrupted", 130
    if hasattr(error, "format_message"):  # a usage error, which comes from another library in each version of Typer
        return f"{error.format_message()} (see summeval --help)", 2
    if os.environ.get("SUMMEVAL_TRACEBACK"):
        raise error
    if isinstance(error, RecursionError):
        return "the input is nested too deeply", 2
    if isinstance(error, MemoryError):
        return f"there is not enough memory: {text}", 2
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename!r}: {error.strerror}" if error.filename else error.strerror, 2
    if isinstance(error, _OF_INPUT_OR_SURROUNDINGS) or type(error) is LookupError:
        return _in_words_of_the_shell(text), 2
    return f"unexpected {type(error).__name__}: {text} (SUMMEVAL_TRACEBACK=1 shows where; please report it)", 70


# ---------------------------------------------------------------- commands and what they share


class Commands(TyperGroup):
    """Commands of which every fault ends with one line on standard error and an exit code."""

    def main(self, args: Sequence[str] | None = None, *given: Any, **more: Any) -> NoReturn:
        """Run the command line and leave with its exit code."""
        _prepare_streams()
        self._main_shell_completion({}, "summeval")
        code = 0
        with warnings.catch_warnings():
            warnings.showwarning = lambda message, *_, **__: note(f"warning: {_in_words_of_the_shell(str(message))}")
            try:
                with self.make_context("summeval", list(sys.argv[1:] if args is None else args) or ["--help"]) as ctx:
                    self.invoke(ctx)
            except typer.Exit as left:
                code = left.exit_code
            except (Exception, KeyboardInterrupt) as error:
                message, code = _describe(error)
                try:
                    sys.stdout.flush()
                except OSError:  # it was this one: what is left in it must not fail once more on leaving
                    _drop(sys.stdout)
                    message = f"cannot write to standard output: {message}"
                note(message)
        raise SystemExit(code)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that the words name; a metric is none, and is told from a slip."""
        if self.get_command(ctx, name := args[0]) is None and (name == "evaluate" or name in registry.METRICS):
            kind, meant = ("the metric faithfulness", "faithfulness") if name == "evaluate" else ("a metric", name)
            fail(f"{name} is {kind}: call summeval score {meant}")
        return super().resolve_command(ctx, args)


class Command(TyperCommand):
    """A command that takes options of the metric or the call by name, too: `--level ordinal` is `-o level=ordinal`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of the command line; what resembles one of the command's own options is left to be refused."""
        own = {name for one in self.params for name in (*one.opts, *one.secondary_opts)} | {"--help"}
        words, read = list(args), list[str]()
        while words and words[0] != "--" and "-o" in own:
            name, equal, value = (word := words.pop(0)).partition("=")
            if name.startswith("--") and name not in own and not get_close_matches(name, own, cutoff=0.85):
                if not equal:
                    value = words.pop(0) if words and not words[0].startswith("-") else "true"
                word = f"-o{name[2:].replace('-', '_')}={value}"
            read.append(word)
        return super().parse_args(ctx, [*read, *words])


def _prepare_streams() -> None:
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
        note("standard output is closed; redirect it, for instance to /dev/null")
        raise SystemExit(2)


app = typer.Typer(
    name="summeval",
    help="Understand, run and trust automatic evaluation of summaries and generated answers.",
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def arg(help: str) -> Any:
    """Return what Typer wants to know of an argument."""
    return typer.Argument(help=help)


def opt(help: str, *names: str, callback: Any = None) -> Any:
    """Return what Typer wants to know of an option; without names it is called as the parameter."""
    return typer.Option(*names, help=help, callback=callback, is_eager=callback is not None)


_STARTS = {"html": b"<!doctype html>\n<!-- summeval -->", "markdown": b"<!-- summeval -->"}  # of what we write


@dataclass(frozen=True, kw_only=True)
class Given:
    """What commands share: how a table is read, the options, and where the result goes."""

    column: Annotated[list[str] | None, opt("METRIC'S=YOURS, e.g. candidate=prediction.", "--column")] = None
    option: Annotated[list[str] | None, opt("NAME=VALUE, of the metric or the call.", "--option", "-o")] = None
    format: Annotated[str | None, opt("jsonl, csv or parquet, where the name does not tell.")] = None
    store: Annotated[str | None, opt("File that keeps vectors and answers between runs.")] = None
    html: Annotated[Path | None, opt("Write the page to this file; - prints it.")] = None
    markdown: Annotated[Path | None, opt("Write the result to this file as Markdown; - prints it.")] = None
    csv: Annotated[Path | None, opt("Write the table to this file; - prints it.")] = None
    as_json: Annotated[bool, opt("Print everything as JSON.", "--json")] = False

    def __post_init__(self) -> None:
        """Fail if two results would be printed, or a page would take the place of a file that is none of ours."""
        pages = {name: str(page) for name in ("html", "markdown", "csv") if (page := getattr(self, name))}
        if [*pages.values()].count("-") + self.as_json > 1:
            fail("only one of the results can go to standard output")
        for name, page in pages.items():
            if self.store and os.path.realpath(page) == os.path.realpath(self.store):
                fail(f"--{name} {page!r} would overwrite the store: name another file")
            if name in _STARTS:
                require_ours(f"--{name}", Path(page), _STARTS[name])


def require_ours(option: str, path: Path, start: bytes) -> None:
    """Fail if a file is there that begins otherwise than what we write: it is input, or somebody's work."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                if file.read(len(start)).lower() not in (start.lower(), b""):
                    fail(f"{option} {str(path)!r} would overwrite a file that is not of summeval: name another file")


def command(name: str, *shared: str, **settings: Any) -> Callable[[Callable[..., None]], Any]:
    """Register a command that takes, after its own, these options of `Given`, and gets them as one argument `given`.

    What is written as a page is written as Markdown, too.
    """
    more = signature(Given, eval_str=True).parameters
    names = [name for given in shared for name in ((given, "markdown") if given == "html" else (given,))]

    def add(function: Callable[..., None]) -> Any:
        own = [one for one in signature(function, eval_str=True).parameters.values() if one.name != "given"]
        parameters = [*(one.replace(kind=Parameter.KEYWORD_ONLY) for one in own), *(more[name] for name in names)]

        @wraps(function)
        def called(**values: Any) -> None:
            given = Given(**{name: values.pop(name) for name in names})
            function(**values, **({"given": given} if names else {}))

        called.__signature__ = signature(function).replace(parameters=parameters)  # type: ignore[attr-defined]
        called.__annotations__ = {one.name: one.annotation for one in parameters}
        first = (function.__doc__ or "").partition("\n")[0]
        return app.command(name, cls=Command, short_help=first, **settings)(called)

    return add


# ---------------------------------------------------------------- options, texts and tables


_WORDS = {"None": None, "True": True, "False": False}  # of Python, beside JSON's
_FLAGS = {"true": True, "yes": True, "false": False, "no": False}


def read_pairs(given: list[str] | None, what: str) -> JsonDict:
    """Return `["n=2", "smooth=exp"]` as `{"n": 2, "smooth": "exp"}`."""
    found: JsonDict = {}
    for item in given or []:
        name, equal, value = item.partition("=")
        if not equal or not name:
            fail(f"{what} must be NAME=VALUE, not {item!r}")
        if name in found:
            fail(f"{what} names {name!r} twice: give it once")
        found[name] = _WORDS.get(value, value)
        with suppress(ValueError, RecursionError):
            found[name] = json.loads(value)
    return found


def choices(known: Callable[..., object] | Parameters, *but: str) -> Parameters:
    """Return the options of a call, or some of these, by name; `but` are given in another way, or fixed."""
    if callable(known):
        named = signature(known).parameters.values()
        known = {one.name: one for one in named if one.kind is one.KEYWORD_ONLY or one.default is not one.empty}
    return {name: one for name, one in known.items() if name not in but}


def read_options(given: Given, caller: str, known: Callable[..., object] | Parameters, *but: str) -> JsonDict:
    """Return what `-o` says of the options of a call; an unknown one names the nearest, and yes and no are flags."""
    known, found = choices(known, "store", "progress", *but), read_pairs(given.option, "--option")
    require_options(caller, found, known)
    for name in found:
        if isinstance(known[name].default, bool) or str(known[name].annotation).startswith("bool"):
            found[name] = _FLAGS.get(str(found[name]).lower(), found[name])
    return found


def find_metric(name: str) -> tuple[Any, JsonDict]:
    """Return a metric and the options that its name fixes; one named by its place may be in the current folder."""
    if ":" in name and (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)  # after all others
    return registry.find_metric(name)


def opened(name: str) -> str | BinaryIO:
    """Return the name of a file, or standard input for `-`."""
    if name == "-" and sys.stdin is None:
        fail("standard input is closed; name a file instead of -")
    return sys.stdin.buffer if name == "-" else name


def read_columns(name: str, format: str | None, columns: Sequence[str]) -> list[JsonDict]:
    """Return the rows of a table that must all have these columns."""
    tables.require_once(columns, "the command")
    items, wanted = tables.open_items(opened(name), format=format), dict(zip(columns, columns, strict=True))
    rows = []
    for item in items:
        row, problem = tables.read_item(item, wanted, {})
        rows.append(fail(f"{name!r}: {problem}") if problem else row)
    return rows or fail(f"{name!r} holds no rows")


def read_table(table: str, given: Given, *metrics: Any) -> tuple[list[list[JsonDict]], int]:
    """Return the rows of a table that all metrics can read, with the columns of each; and how many were left out.

    The first of those are named, and so is a column that no row has where the table has another that may be meant.
    """
    from summeval_nb.runs.running import Job

    columns, jobs = read_pairs(given.column, "--column"), []
    kinds = [Job(metric).kinds for metric in metrics]
    for name in columns:
        require_option(name, "column", ChainMap(*reversed(kinds)))
    for metric, kind in zip(metrics, kinds, strict=True):
        jobs.append(Job(metric, columns={name: columns[name] for name in columns if name in kind}))
    good, bad = [], []
    for item in tables.open_items(opened(table), format=given.format):
        read = [job.read(item) for job in jobs]
        problems = [problem for _, problem in read if problem]
        bad.append(f"at {item.place}: {problems[0]}") if problems else good.append([row for row, _ in read])
    if not good:
        fail(f"{table!r} holds no usable row; {_in_words_of_the_shell(bad[0])}" if bad else f"{table!r} holds no rows")
    for line in bad[:10]:
        note(f"left out: {_in_words_of_the_shell(line)}")
    listed = [list(rows) for rows in zip(*good, strict=True)]
    for job, rows in zip(jobs, listed, strict=True):
        for line in tables.lost_columns(job.kinds, job.may_lack, rows, ["id", *job.columns.values()]):
            note(_in_words_of_the_shell(line))
    return listed, len(bad)


# ---------------------------------------------------------------- results


def write(path: Path, save: Callable[[Path], object]) -> None:
    """Write a file through `save(path)` and say where; a failure ends with one line and code 2. `-` is printed."""
    if str(path) == "-":
        with TemporaryDirectory() as folder:
            save(Path(folder, "result"))
            say(Path(folder, "result").read_text("utf-8").removesuffix("\n"), safe=not sys.stdout.isatty())
        return
    try:
        save(path)
    except OSError as error:
        fail(f"cannot write {str(path)!r}: {error.strerror or error}")
    say(f"written to {path}", err=True)


def write_csv(path: Path, rows: Sequence[JsonDict]) -> None:
    """Write rows as CSV; a file that is there must be such a table already, with the same columns."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    text = tables.csv_text([{name: tables.plain_cell(value) for name, value in row.items()} for row in rows], names)
    require_ours("--csv", path, text.partition("\n")[0].encode("utf-8", "replace"))
    write(path, lambda target: tables.write_whole(target, text))


def show(result: Any, given: Given, title: str, text: str = "", *, safe: bool = False, **drawn: Any) -> None:
    """Print a result as text or JSON, and write its page and its Markdown, `drawn` so, where they are wanted."""
    if given.as_json:
        say(to_json(result.to_dict()))
    elif Path("-") not in (given.html, given.markdown, given.csv):
        say(text or repr(result), safe=safe)
    if given.html:
        plain = lambda path: tables.write_whole(path, html_page(title, result._repr_html_()))
        write(given.html, partial(result.to_html, **drawn) if hasattr(result, "to_html") else plain)
    if given.markdown:
        told = result.to_markdown(**drawn) if hasattr(result, "to_markdown") else result_markdown(title, result)
        write(given.markdown, lambda path: tables.write_whole(path, f"{_STARTS['markdown'].decode()}\n{told}"))
