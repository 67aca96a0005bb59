"""`summeval`: the package's work on files and standard input, without writing Python."""

from __future__ import annotations

import sys
import warnings
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, signature
from typing import Annotated, Any, NoReturn

import typer

from summeval_nb import commands
from summeval_nb.core.html import text_table
from summeval_nb.core.metric import MetricDefinition
from summeval_nb.core.results import Score, ScoreTable
from summeval_nb.shell import (
    Each,
    Files,
    Given,
    OneLine,
    fail,
    find_own,
    keep_apart,
    leave_for,
    load_named,
    open_store,
    prepare_streams,
    read_options,
    read_rows,
    say,
    say_cost,
    say_usage_error,
    show,
    show_warning,
    takes,
)

__all__ = ["app", "demo", "score", "main"]

_ABOUT = """Understand, run and trust automatic evaluation of summaries and generated \
answers."""
app = typer.Typer(
    name="summeval",
    help=_ABOUT,
    no_args_is_help=True,
    rich_markup_mode=None,
    cls=OneLine,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(show: bool) -> None:
    if show:
        from summeval_nb import __version__

        say(f"summeval {__version__}")
        raise typer.Exit


@app.callback(help=_ABOUT)
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    pass


def score(name: str, files: list[str], given: Given, each: bool = False) -> None:
    """Score a table, or plain texts, with a metric by its name, and show the result."""
    from summeval_nb.agreement.registry import find_metric, load_metric

    keep_apart(given, *files, given.store)
    kind, fixed = find_metric(name)
    options = load_named(read_options(given.option, kind if isinstance(kind, type) else kind.function, name, but=fixed))
    kept = {"store": open_store(given.store)} if given.store else {}
    metric: Any = load_metric(name, **options, **kept)
    rows, bad, alone = read_rows(name, files, given)
    columns = [[row[column] for row in rows] for column in kind.columns]
    failed = 0
    if hasattr(metric, "corpus") and not each:
        result = metric.corpus(*columns)
    else:
        known = signature(metric.score_many).parameters
        bar = {"progress": sys.stderr.isatty()} if "progress" in known or isinstance(kind, MetricDefinition) else {}
        table = metric.score_many(*columns, **bar)
        failed = _count_failed(table)
        result = table[0] if alone and not each else table
    shown, colored = _text_of(name, result, each), hasattr(result, "to_text")
    show(result, given, name, shown, safe=colored)
    say_cost(options)
    if failed:
        fail(f"{failed} judgements failed and are in no score", code=3)
    leave_for(bad, bad + len(rows))


def _count_failed(table: ScoreTable) -> int:
    """How many questions to a checker, a judge or a model have no answer."""
    results = getattr(table, "results", [table])
    lost = sum(outcome.status == "failed" for outcome in table.outcomes())
    return sum(getattr(result, "n_failed", 0) for result in results) or lost


def _text_of(name: str, result: Any, each: bool) -> str:
    """What a terminal shows: what the result says itself, or its number and parts."""
    if hasattr(result, "to_text"):
        return result.to_text(color=sys.stdout.isatty())
    if each:
        numbers = (outcome.score for outcome in result.outcomes())
        return "\n".join("none" if value is None else f"{value:.4f}" for value in numbers)
    if type(result).__repr__ not in (Score.__repr__, ScoreTable.__repr__):
        return repr(result)
    if isinstance(result, Score):
        number, reasons, parts, lost = result.score, [result.reason], {}, 0
    else:
        number, reasons, parts = result.mean(), result.reasons(), result.means()
        lost = result.n_undefined
    if number is None:
        return f"{name} undefined: {next(filter(None, reasons), '')}\n{result.signature}"
    left_out = f" ({lost} of {len(reasons)} texts undefined and left out)" if lost else ""
    rows = [{"number": part, "mean": value} for part, value in parts.items()]
    lines = [f"{name} {number:.4f}{left_out}", *[text_table(rows)] * (len(rows) > 1)]
    return "\n".join([*lines, str(result.signature)])


def _help_of(name: str) -> str:
    """The help of a metric's command: what it reads, its range, and its options."""
    from summeval_nb.agreement.registry import describe_metric, find_metric

    row = describe_metric(name)
    if not row["reads"]:  # somebody's, and broken
        return row["purpose"]
    kind, fixed = find_metric(name)
    better = "" if row["better"] in ("neither", "") else f", {row['better']} is better"
    bounds = f"; {row['range']}{better}" if row["range"] else ""
    purpose = f"{row['purpose'] or name}: reads {row['reads']}{bounds}."
    lines = []
    if isinstance(kind, type):
        kinds = {field.name: field.type for field in fields(kind)} if is_dataclass(kind) else {}
    else:
        kinds = {option.name: option.annotation for option in kind.options.values()}
    for option, default in kind.defaults().items():
        if option not in {"store", *fixed}:
            usual = ", needed" if default is MISSING else f" = {default!r}"
            said = "" if kinds[option] is Parameter.empty else f": {getattr(kinds[option], '__name__', kinds[option])}"
            lines.append(f"  {option}{said}{usual}")
    options = "\n".join(lines) or "  none"
    return (
        f"{purpose[0].upper()}{purpose[1:]}\n\nExample: summeval score {name} "
        f"table.jsonl\n\n\b\nOptions of the metric, as -o NAME=VALUE:\n{options}"
    )


def _command_of(name: str) -> Any:
    """Make the command of a metric."""
    from summeval_nb.agreement.registry import find_metric, is_ours

    keeps = ["store"] if is_ours(name) and "store" in find_metric(name)[0].defaults() else []

    @takes("column", "option", "format", *keeps, "html", "as_json")
    def command(files: Files, given: Given, each: Each = False) -> None:
        score(name, files, given, each)

    command.__doc__ = _help_of(name)
    made = typer.Typer(add_completion=False, rich_markup_mode=None)
    made.command(name)(command)
    return typer.main.get_command(made)


class _Metrics(OneLine):
    """A command for each metric of the registry, made when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        from summeval_nb.agreement.registry import METRICS

        return list(METRICS)

    def get_command(self, ctx: Any, name: str) -> Any:
        return _command_of(name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from summeval_nb.agreement.registry import METRICS, find_metric

        find_own(args[0])
        if args[0] not in METRICS:
            find_metric(args[0])  # is imported, or says what is wrong
        return super().resolve_command(ctx, args)


_ABOUT_SCORE = "Score texts with a metric by its name; each says its options by --help."
_scores = typer.Typer(cls=_Metrics, help=_ABOUT_SCORE, no_args_is_help=True, rich_markup_mode=None)
app.add_typer(_scores, name="score")

demo = app.command("demo")(commands.demo)

commands.register(app)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    prepare_streams()
    with warnings.catch_warnings():
        warnings.showwarning = show_warning
        try:
            code = app(args=arguments, standalone_mode=False)
        except (typer.Abort, KeyboardInterrupt):
            say("summeval: interrupted", err=True)
            code = 130
        except Exception as error:
            code = say_usage_error(error)
    raise SystemExit(code if isinstance(code, int) else 0)
