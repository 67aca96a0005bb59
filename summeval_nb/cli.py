"""`summeval`: the package's work on files and standard input, without writing Python.

Each command reads its input, calls one function, and shows the result.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from summeval_nb.core.base import JsonDict, require_module, require_option
from summeval_nb.core.html import text_table
from summeval_nb.core.results import Score, ScoreTable
from summeval_nb.shell import (
    AsJson,
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
    read_columns,
    read_metric_options,
    read_options,
    read_pairs,
    read_rows,
    read_table,
    say,
    say_cost,
    say_usage_error,
    show,
    show_rows,
    show_warning,
    standard_input,
    takes,
    to_json,
    write,
    write_markdown,
)

if TYPE_CHECKING:
    from summeval_nb.core.data import SampleSummary
    from summeval_nb.evidence.report import Faithfulness
    from summeval_nb.models.store import Store

__all__ = ["app", "main"]

_ABOUT = "Understand, run and trust automatic evaluation of summaries and generated answers."
_PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}
app = typer.Typer(
    name="summeval",
    help=_ABOUT,
    cls=OneLine,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    **_PLAIN,
)
Table = Annotated[str, typer.Argument(help="A table with a row per text; - for standard input.")]


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
    kind = find_metric(name)[0]
    options = load_named(read_metric_options(given, name))
    kept = {"store": open_store(given.store)} if given.store else {}
    metric: Any = load_metric(name, **options, **kept)
    rows, bad, alone = read_rows(name, files, given)
    columns = [[row[column] for row in rows] for column in kind.columns]
    failed = 0
    if hasattr(metric, "corpus") and not each:
        result = metric.corpus(*columns)
    else:
        table = metric.score_many(*columns, progress=sys.stderr.isatty())
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
    for option in kind.options.values():
        if option.name not in {"store", *fixed}:
            usual = ", needed" if option.default is option.empty else f" = {option.default!r}"
            said = option.annotation
            said = "" if said is option.empty else f": {getattr(said, '__name__', said)}"
            lines.append(f"  {option.name}{said}{usual}")
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


_scores = typer.Typer(
    cls=_Metrics, help="Score texts with a metric by its name; each says its options by --help.", **_PLAIN
)
app.add_typer(_scores, name="score")


def _with_author(summary: SampleSummary, result: Faithfulness) -> Faithfulness:
    """Return a result that says, where its checker is wrong or unclear, what the author of a sample knows."""

    verdicts = list(result.verdicts)
    for place, (true, why) in enumerate(zip(summary.supported, summary.notes, strict=True)):  # split as written
        verdict = verdicts[place]
        if verdict.state in (None, "supported" if true else "contradicted"):
            continue
        known = "true" if true else f"false: {why}"
        opening = "Unclear to the checker" if verdict.state == "unclear" else "The checker is wrong"
        noted = {**verdict.details, "note": f"{opening}; its author knows: {known}"}
        verdicts[place] = replace(verdict, details=noted)
    return replace(result, verdicts=verdicts)


@app.command("demo")
def demo(
    number: Annotated[int, typer.Option(help="Which of the bundled articles, from 1.")] = 1,
    html: Annotated[Path, typer.Option(help="Where to write the report.")] = Path("summeval-demo.html"),
) -> None:
    """Score three summaries of a bundled article and write a report, with no download.

    Example: summeval demo --number 2
    """
    from summeval_nb.core.data import sample_articles
    from summeval_nb.evidence.faithfulness import evaluate_many
    from summeval_nb.evidence.report import compare_reports

    keep_apart(html)
    samples = sample_articles()
    if not 1 <= number <= len(samples):
        fail(f"--number must lie between 1 and {len(samples)}, not {number}")
    sample = samples[number - 1]
    summaries = {kind: summary.text for kind, summary in sample.summaries.items()}
    judged = evaluate_many([sample.text] * len(summaries), list(summaries.values()))
    results = [_with_author(*pair) for pair in zip(sample.summaries.values(), judged, strict=True)]
    for kind, result in zip(summaries, results, strict=True):
        heading = f"{sample.title}: the {kind} summary"
        say(f"\n{heading}\n{'=' * len(heading)}")
        say(result.to_text(color=sys.stdout.isatty()), safe=sys.stdout.isatty())
    write(html.resolve(), compare_reports(results, list(summaries)).to_html)


@app.command("metrics")
def metrics(as_json: AsJson = False) -> None:
    """List the metrics that `score` and `run` know: what each reads and measures, and whether it asks a model.

    Example: summeval metrics
    """
    from summeval_nb.agreement.registry import list_metrics

    found = list_metrics()
    say(to_json(found.to_dict()) if as_json else repr(found))


def _ranked(question: str, system: str, answer: str, truth: str = "") -> None:
    """What `compare --rank` reads of a table."""


@app.command("compare")
@takes("column", "option", "format", "store", "html", "as_json")
def compare(
    table: Annotated[str, typer.Argument(help="Table of pairs of answers; - for standard input.")],
    given: Given,
    judge: Annotated[str, typer.Option(help="Who judges: embedded, or llm: with a model.")] = "embedded",
    backend: Annotated[str | None, typer.Option(help="llm: with a model that reads both answers.")] = None,
    rank: Annotated[bool, typer.Option("--rank", help="Rows are question, system, answer; rank the systems.")] = False,
) -> None:
    """Compare two answers to each question side by side, in both orders; or rank many systems.

    Example: summeval compare pairs.jsonl --backend llm:FOLDER
    """
    from summeval_nb.core.metric import Metric
    from summeval_nb.judged.comparisons import compare_answers, compare_answers_many, rank_systems

    keep_apart(given, table, given.store)
    metric: Any = Metric(_ranked) if rank else "side_by_side"
    rows, bad = read_table(table, given.format, metric, given.column)
    options = read_options(given.option, compare_answers, "compare", but=["judge", "backend", "truth"])
    options |= load_named({"judge": judge} | ({"backend": backend} if backend else {}))
    many: Callable[..., Any] = rank_systems if rank else compare_answers_many
    result = many(rows, **options, store=open_store(given.store), progress=sys.stderr.isatty())
    show(result, given, "Side by side", repr(result))
    say_cost(options)
    lost = [] if rank else [outcome.reason for outcome in result.outcomes() if outcome.status == "failed"]
    if lost:
        say(f"summeval: the first comparison that failed: {lost[0]}", err=True)
    leave_for(bad + len(lost), bad + len(rows))


@app.command("identify")
@takes("column", "option", "format", "html", "as_json")
def identify(
    table: Annotated[str, typer.Argument(help="Table with a row per text and its references; - for standard input.")],
    score: Annotated[str, typer.Option(help="The printed number, with all its digits.")],
    given: Given,
) -> None:
    """Search for the configuration of BLEU, ROUGE or chrF that printed a number.

    Example: summeval identify pairs.jsonl --score 41.2 -o 'metrics=["rouge"]'
    """
    keep_apart(given, table)
    from summeval_nb.overlap.identify import identify_score

    rows, bad = read_table(table, given.format, "bleu", given.column)
    options = read_options(given.option, identify_score, "identify")
    texts, references = [row["candidate"] for row in rows], [row["references"] for row in rows]
    result = identify_score(score, texts, references, **options, progress=sys.stderr.isatty())
    show(result, given, "Identified score", repr(result))
    leave_for(bad, bad + len(rows))


def _number(cell: Any) -> float | None:
    """Return the number of a cell; None for an empty one, NA, N/A and nan."""
    return None if cell is None or str(cell).strip().lower() in ("", "na", "n/a", "nan") else float(cell)


def _grid(rows: list[JsonDict], names: list[str], value: str) -> list[list[float | None]]:
    """Return an articles × systems table of one column; absent cells are None, double ones an error.

    Examples
    --------
    >>> rows = [{"article": 1, "system": "a", "human": "4"}, {"article": 1, "system": "b", "human": ""}]
    >>> _grid(rows, ["article", "system"], "human")
    [[4.0, None]]
    """
    article, system = names
    systems = list(dict.fromkeys(row[system] for row in rows))
    table: dict[object, dict[object, float | None]] = {}
    for row in rows:
        cells = table.setdefault(row[article], {})
        if row[system] in cells:
            fail(f"two rows for article {row[article]!r} and system {row[system]!r}")
        cells[row[system]] = _number(row[value])
    return [[cells.get(column) for column in systems] for cells in table.values()]


@app.command("correlate")
@takes("option", "format", "html", "as_json")
def correlate(
    table: Annotated[str, typer.Argument(help="Table with a row per summary; - for standard input.")],
    given: Given,
    metric: Annotated[str, typer.Option(help="Column of the metric's numbers.")] = "metric",
    human: Annotated[str, typer.Option(help="Column of people's ratings.")] = "human",
    article: Annotated[str, typer.Option(help="Column that names the article.")] = "article",
    system: Annotated[str, typer.Option(help="Column that names the system, if there are several.")] = "system",
) -> None:
    """Correlate a metric with people's ratings, with a bootstrap interval. Without a column system, each row is a text.

    Example: summeval correlate rated.csv --metric rouge1 --human coherence -o level=system
    """
    keep_apart(given, table)
    from summeval_nb.agreement.correlation import correlate as correlate_tables

    named = [name for name in (article, system) if name not in ("article", "system")]
    rows = read_columns(table, given.format, (*named, metric, human))  # they keep their other columns
    options = read_options(given.option, correlate_tables, "correlate")
    values = metric, human
    if any(system in row for row in rows):
        if lost := [row for row in rows if article not in row or system not in row]:
            fail(f"{table!r}: a row has no {article if article not in lost[0] else system!r}")
        grids: list[Any] = [_grid(rows, [article, system], value) for value in values]
    else:
        known = [row[article] for row in rows if article in row]
        if twice := [name for name, times in Counter(map(str, known)).items() if times > 1]:
            fail(f"several rows for article {twice[0]!r}, and no column {system!r} that tells them apart")
        grids = [[_number(row[value]) for row in rows] for value in values]
    result = correlate_tables(*grids, **options)
    show(result, given, f"{metric} and {human}", f"{result}\n{result.signature}")


@app.command("annotators")
@takes("option", "format", "html", "as_json")
def annotators(
    table: Annotated[str, typer.Argument(help="Table with a row per item; - for standard input.")],
    raters: Annotated[str, typer.Option(help="Columns of the raters, such as anna,bert,carla.")],
    given: Given,
    coefficient: Annotated[str, typer.Option(help="alpha, fleiss or cohen.")] = "alpha",
    level: Annotated[str | None, typer.Option(help="For alpha: nominal, ordinal, interval or ratio.")] = None,
) -> None:
    """Say how well people agree with one another, beyond chance.

    Example: summeval annotators rated.csv --raters anna,bert --level ordinal
    """
    keep_apart(given, table)
    from summeval_nb.agreement import annotators as chapter

    known: dict[str, Callable[..., Any]] = {"cohen": chapter.cohen_kappa}
    known["alpha"] = chapter.krippendorff_alpha
    known["fleiss"] = chapter.fleiss_kappa
    function = known[require_option(coefficient, "coefficient", known)]
    if (level is not None) != (coefficient == "alpha"):
        fail("--level nominal, ordinal, interval or ratio goes with alpha, and only with it")
    names = raters.split(",")
    read = read_columns(table, given.format, names)
    rows = chapter.read_ratings([[row[name] for name in names] for row in read])
    options = read_options(given.option, function, "annotators")
    if coefficient != "cohen":
        named = {} if level is None else {"level": level}
        result = function(rows, **named, **options)
    elif len(names) == 2:
        result = function(*map(list, zip(*rows, strict=True)), **options)
    else:
        fail(f"cohen compares two raters, not {len(names)}: take fleiss or alpha")
    show(result, given, "Agreement of raters", f"{result}\n{result.signature}")


def _verdicts(name: str, given: Given, texts: str | None = None) -> list[JsonDict]:
    """Return a table with verdicts, beside the texts with the same ids; of a run's line, id and score."""
    rows, known = read_columns(name, given.format, ()), {}
    if texts is not None:
        known = {str(row.get("id", place)): row for place, row in enumerate(read_columns(texts, None, ()))}
    found = []
    for place, row in enumerate(rows):
        if "parts" in row and "status" in row:  # of a run, and its parts tell what the judge thought
            row = {key: row[key] for key in ("id", "score") if row.get(key) is not None or key == "score"}
        key = str(row.get("id", place))
        if texts is not None and key not in known:
            fail(f"{texts!r} has no text for item {key!r}: its ids must be those of {name!r}")
        found.append(known.get(key, {}) | row)
    return found


@app.command("correct")
@takes("option", "format", "html", "as_json")
def correct(
    table: Annotated[str, typer.Argument(help="The judge's table: id, and verdict, probability or score.")],
    given: Given,
    labels: Annotated[str | None, typer.Argument(help="CSV of people's labels: id and label (yes or no).")] = None,
    other: Annotated[str | None, typer.Option(help="The table of a second system, for the difference.")] = None,
    other_labels: Annotated[str | None, typer.Option(help="People's labels of the second system.")] = None,
    who: Annotated[str | None, typer.Option(help="Take the labels of this person only.")] = None,
    width: Annotated[float | None, typer.Option(help="Say how many labels give an interval so wide.")] = None,
    draw: Annotated[int | None, typer.Option(help="Draw so many items to label, into --out.")] = None,
    out: Annotated[Path | None, typer.Option(help="CSV for the drawn items; labels in it are kept.")] = None,
    texts: Annotated[str | None, typer.Option(help="Table with id and what people shall read.")] = None,
    seed: Annotated[int, typer.Option(help="Of the drawing.")] = 0,
) -> None:
    """Correct a judge's share of right items by people's labels; or draw the items to label.

    A run's results.jsonl is such a table. Its texts are those of the corpus: --texts.

    Example: summeval correct verdicts.csv --draw 60 --out to_label.csv

    Example: summeval correct verdicts.csv to_label.csv
    """
    from summeval_nb.agreement.labels import correct_score, draw_items, labels_needed, read_labels

    keep_apart(given, table, labels, other, other_labels, texts)
    options: dict[str, Any] = read_options(given.option, correct_score, "correct", but=["other"])
    if (draw is None) != (out is None) or (draw is None and texts):
        fail("--draw, --out and --texts go together: --draw 60 --out to_label.csv")
    if (other is None) != (other_labels is None) or (other and width is not None):
        fail("--other and --other-labels go together, and not with --width")
    if draw is not None and out is not None:
        if labels or other or width is not None or options.keys() - {"verdict"}:
            fail("--draw takes no labels and no other option than -o verdict=COLUMN: label first, then correct")
        if out.exists() and any(out.samefile(name) for name in (table, texts) if name and Path(name).exists()):
            fail(f"--out {str(out)!r} would overwrite what is read: name another file")
        drawn = draw_items(_verdicts(table, given, texts), draw, seed, path=out, **options)
        done = sum(bool(item["label"]) for item in drawn)
        say(f"{out}: {draw} items, {done} labelled; write yes or no into the column label")
    elif width is not None:
        said = None if labels is None else read_labels(labels, who)
        count = labels_needed(_verdicts(table, given), width, labels=said, **options)
        say(to_json({"labels_needed": count}) if given.as_json else f"{count} labels")
    elif labels is not None:
        second = (_verdicts(other, given), read_labels(other_labels, who)) if other and other_labels else None
        result = correct_score(_verdicts(table, given), read_labels(labels, who), other=second, **options)
        show(result, given, "Corrected score", f"{result}\n{result.signature}")
    else:
        fail("name people's labels after the table, or draw items to label: --draw 60 --out to_label.csv")


@app.command("summeval")
@takes("option", "html", "as_json")
def summeval(
    given: Given,
    data: Annotated[Path | None, typer.Argument(help="SummEval ratings; by default the bundled toy ratings.")] = None,
    embedder: Annotated[str, typer.Option(help="minilm, mpnet, or a sentence-transformers name or folder.")] = "minilm",
) -> None:
    """Run MTEB's SummEval task: does similarity to human summaries agree with human ratings?

    Example: summeval summeval summeval.jsonl --embedder minilm -o quality=coherence
    """
    keep_apart(given, data)
    from summeval_nb.agreement.tables import summeval_task
    from summeval_nb.core.data import load_summeval, load_toy_summeval

    ratings = load_toy_summeval() if data is None else load_summeval(data)
    options = read_options(given.option, summeval_task, "summeval", but=["embedder"])
    result = summeval_task(ratings, embedder, **options)
    rows = [{"score": name, "value": value} for name, value in result.items()]
    show(result, given, "SummEval", f"{text_table(rows)}\n{result.signature}")


_PLANNED = ("items", "metric", "out", "options", "columns", "format", "store", "shard_size")


def _files_of_run(folder: Path) -> list[Path]:
    names = ("manifest.json", "results.jsonl", "results.parquet", "ledger.jsonl")
    return [folder / name for name in names]


def _run_and_print(arguments: JsonDict, given: Given) -> None:
    from summeval_nb.runs.batch import run as run_corpus

    try:
        report = run_corpus(**arguments)
    except KeyboardInterrupt:
        fail("interrupted; what was scored is kept, and the same command continues", code=130)
    show(report, given, "Run", str(report))
    if not given.html and sys.stderr.isatty():
        say(f"to see it: summeval report {report.folder}", err=True)
    if failed := report.counts["failed"]:
        total = report.manifest["items"]
        fail(f"{failed} of {total} items failed; their reasons stand in {report.path}", code=3)


@app.command("run")
@takes("option", "column", "format", "store", "html", "as_json")
def run(
    table: Annotated[str, typer.Argument(help="Corpus: JSONL, CSV or Parquet; - for standard input.")],
    metric: Annotated[
        str, typer.Option(help="A metric by its name, such as faithfulness, bleu, rouge, answers or rating.")
    ],
    out: Annotated[Path, typer.Option(help="Folder of the run.")],
    given: Given,
    engine: Annotated[str, typer.Option(help="local or ray.")] = "local",
    workers: Annotated[
        int | None, typer.Option(help="Processes or actors (default: 0 for word metrics, else one per core).")
    ] = None,
    address: Annotated[str | None, typer.Option(help="Ray cluster, host:port or auto.")] = None,
    num_gpus: Annotated[float, typer.Option(help="GPUs of each Ray actor.")] = 0,
    timeout: Annotated[float | None, typer.Option(help="Seconds for an item, then it counts as failed.")] = None,
    on_error: Annotated[str, typer.Option(help="record or raise.")] = "record",
    resume: Annotated[bool, typer.Option(help="Continue what the folder holds, or start over.")] = True,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Score shards with failures again.")] = False,
    recover: Annotated[
        bool, typer.Option("--recover", help="Write a lost or damaged manifest anew; whole shards are kept.")
    ] = False,
    shard_size: Annotated[int | None, typer.Option(help="Items in a shard (default: 2000 or 500).")] = None,
    output: Annotated[str, typer.Option(help="jsonl or parquet.")] = "jsonl",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only estimate what it would take.")] = False,
) -> None:
    """Score a corpus of any size into DIR/results.jsonl and DIR/manifest.json; continue after a kill.

    Example: summeval run pairs.jsonl --metric bleu --out runs/bleu --workers 2 -o n=2
    """
    arguments = dict(locals())
    for name in ("table", "dry_run", "given"):
        del arguments[name]
    from summeval_nb.runs.plan import plan_run

    keep_apart(given, table, given.store, *_files_of_run(out))
    find_own(metric)
    arguments |= {"options": read_metric_options(given, metric), "format": given.format}
    arguments |= {"columns": read_pairs(given.column, "--column"), "store": given.store}
    arguments["items"] = standard_input() if table == "-" else table
    if dry_run:
        plan = plan_run(**{name: arguments[name] for name in _PLANNED})
        say(to_json(plan.to_dict()) if given.as_json else str(plan))
    else:
        _run_and_print(arguments | {"progress": sys.stderr.isatty()}, given)


@app.command("how-well")
def how_well(
    checker: Annotated[str, typer.Option(help="embedded or words.")] = "embedded", as_json: AsJson = False
) -> None:
    """Say how well a packaged checker works: a row for each set of labelled sentences, which it had not seen.

    Example: summeval how-well
    """
    from summeval_nb.evidence.base import how_well as measured
    from summeval_nb.evidence.base import shown_row

    require_option(checker, "checker", list(measured()["checkers"]))
    rows = [row for row in measured()["rows"] if row["checker"] == checker]
    show_rows(rows, as_json, shown=[shown_row(row) for row in rows])


def _show_bench(result: Any, given: Given, title: str) -> None:
    show(result, given, title, repr(result))
    failed, total = (sum(row[name] for row in result.rows()) for name in ("failed", "n"))
    leave_for(failed, total)


@app.command("checker-bench")
@takes("store", "html", "as_json")
def checker_bench(
    given: Given,
    checker: Annotated[list[str] | None, typer.Option(help="embedded, nli:FOLDER or llm:; repeat to compare.")] = None,
    data: Annotated[list[str] | None, typer.Option(help="FORMAT:FILE, e.g. qags:mturk_cnndm.jsonl; repeat.")] = None,
    set: Annotated[list[str] | None, typer.Option(help="package or everyday; repeat; without --data: package.")] = None,
    reports: Annotated[
        bool | None, typer.Option(help="Whether evaluate judges, or the checker alone (default but for everyday).")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many items of each set, articles by lot.")] = None,
) -> None:
    """Measure checkers on labelled sentences: the package's, yours (rows:FILE), or a public set's.

    Example: summeval checker-bench --checker embedded --set everyday --data rows:mine.csv
    """
    from summeval_nb.agreement.bench import benchmark_checker, load_labelled
    from summeval_nb.evidence.labelled import BENCH_SETS

    named = [(name, *name.partition(":")[::2]) for name in data or []]
    keep_apart(given, given.store, *(file for _, _, file in named))
    if wrong := [name for name, _, file in named if not file]:
        fail(f"--data must be FORMAT:FILE, such as rows:mine.csv, not {wrong[0]!r}")
    chosen = [require_option(name, "set", BENCH_SETS) for name in set or ([] if named else ["package"])]
    sets = {name: BENCH_SETS[name]() for name in chosen}
    sets |= {name: load_labelled(file, format=format) for name, format, file in named}
    judges = {name: name for name in checker or ["embedded"]}
    how: dict[str, Any] = {"reports": reports, "limit": limit, "progress": sys.stderr.isatty()}
    result = benchmark_checker(judges, sets, store=open_store(given.store), **how)
    _show_bench(result, given, "Checkers on labelled sentences")


@app.command("judge-bench")
@takes("store", "html", "as_json")
def judge_bench(
    given: Given,
    judge: Annotated[
        list[str] | None, typer.Option(help="embedded, words, nli:FOLDER or llm:; repeat to compare.")
    ] = None,
    set: Annotated[
        list[str] | None,
        typer.Option(help="refusals, pairs, sentences, splits or everyday; repeat; default: not everyday."),
    ] = None,
    rater: Annotated[str | None, typer.Option(help="A model that gives grades, such as llm:FOLDER.")] = None,
    quality: Annotated[list[str] | None, typer.Option(help="What the rater grades; repeat.")] = None,
    limit: Annotated[int | None, typer.Option(help="At most so many examples of each set, by lot.")] = None,
) -> None:
    """Measure judges and raters on labelled sets: right answers, kappa, order, costs.

    Example: summeval judge-bench --judge embedded --judge llm:my-model --set pairs
    """
    keep_apart(given, given.store)
    from summeval_nb.agreement.bench import benchmark_judge
    from summeval_nb.core.metric import Metric
    from summeval_nb.judged.grading import rate

    if bool(rater) != bool(quality):
        fail("--rater and --quality go together, as in --rater llm:M --quality fluency")
    judges: dict[str, Any] = {name: name for name in judge or [] if name}
    if rater:
        judges |= {f"{rater} ({wanted})": Metric(rate, quality=wanted, backend=rater) for wanted in quality or []}
    judges = judges or {"embedded": "embedded"}
    result = benchmark_judge(judges, set or None, limit=limit, store=open_store(given.store))
    _show_bench(result, given, "Judges on labelled sets")


@app.command("card")
@takes("html", "as_json")
def card(
    metric: Annotated[str, typer.Argument(help="A metric's name, or a checker's, as in rouge1 or embedded.")],
    given: Given,
) -> None:
    """Try a metric on changes that it must notice, and on changes that it must not.

    Example: summeval card rouge1 --markdown card.md
    """
    from summeval_nb.agreement.card import metric_card

    result = metric_card(metric, progress=sys.stderr.isatty())
    show(result, given, f"Metric card: {metric}", repr(result))


@app.command("languages")
def languages(
    lang: Annotated[str | None, typer.Option(help="Only what reads this language, such as zh.")] = None,
    as_json: AsJson = False,
) -> None:
    """List checkers, judges, splitters, stemmers and tokenizers with the languages that each reads.

    Example: summeval languages --lang zh
    """
    from summeval_nb.text.split import language_table

    rows = language_table(lang)
    show_rows(rows, as_json)


@app.command("report")
@takes("html")
def report(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    given: Given,
    other: Annotated[Path | None, typer.Option(help="An earlier run over the same corpus, to compare with.")] = None,
    worst: Annotated[int, typer.Option(help="How many of the lowest scores to show.")] = 10,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 1 if the run is worse than --other, else 0.")
    ] = False,
    margin: Annotated[float, typer.Option(help="How much worse is still allowed, in the units of the score.")] = 0.0,
    better: Annotated[str | None, typer.Option(help="higher or lower, where the metric does not say it.")] = None,
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
) -> None:
    """Write a run as one HTML page: failures, distribution, worst items, comparison with another run.

    Without --html it is DIR/report.html.

    As a gate, --fail-on-regression compares the items that both runs scored, matched by id and content. It exits with 1
    if the whole interval of the difference lies on the worse side, beyond the margin, with 0 if not, and with 2 if
    nothing can be told: runs of other items, or too few of them.

    Example: summeval report runs/today --other runs/yesterday --fail-on-regression
    """
    from summeval_nb.runs.run_report import RunReport, compare_runs

    given = replace(given, html=given.html or folder / "report.html")
    keep_apart(given, *_files_of_run(folder), *_files_of_run(other or folder))
    if fail_on_regression and other is None:
        fail("--fail-on-regression compares with an earlier run: name its folder with --other")
    if not folder.is_dir():
        fail(f"{str(folder)!r} is no folder; name the one that summeval run --out was given")
    loaded = RunReport.load(folder)
    compared = compare_runs(other, loaded, confidence=confidence, better=better) if other else None
    say("\n".join([str(loaded), *([str(compared)] if compared else [])]))
    write(given.html or folder, lambda path: loaded.to_html(path, other=compared, worst=worst))
    if given.markdown:
        write_markdown(given.markdown, lambda: loaded.to_markdown(other=compared, worst=worst))
    if compared and fail_on_regression and compared.is_regression(margin):
        fail(f"a regression: {compared.sentence()}", code=1)


_GRADES = b"student,points,"  # so begins a table that we wrote, and may write anew


@app.command("grade")
@takes("html", "as_json")
def grade(
    folder: Annotated[Path, typer.Argument(help="Folder of hand-ins, as a learning platform gives them.")],
    given: Given,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write one row a student to this CSV file.")] = None,
) -> None:
    """Grade the hand-ins of a class, each from its own student number.

    Example: summeval grade hand_ins -o grades.csv
    """
    keep_apart(given, out)
    from summeval_nb.teaching.exercise_sets import grade as grade_folder

    if out and out.is_file():
        with out.open("rb") as file:
            if file.read(len(_GRADES)) not in (_GRADES, b""):
                fail(f"--out {str(out)!r} would overwrite a file that holds no grades: name another file")
    result = grade_folder(folder)
    show(result, given, "Grades", repr(result))
    if out:
        write(out, result.to_csv)
    if result.failed:
        fail(f"{len(result.failed)} of {len(result.hand_ins)} hand-ins could not be graded; the table says why", code=3)


@app.command("book")
def book(
    folder: Annotated[Path, typer.Argument(help="Where to lay it out.")],
    force: Annotated[bool, typer.Option("--force", help="Replace pages that differ, your own work included.")] = False,
) -> None:
    """Lay out the book's notebooks in a folder, to read, run and change.

    Example: summeval book my_book
    """
    from summeval_nb.teaching.book import lay_out_book

    written = lay_out_book(folder, force=force)
    say(f"pages written to {folder}: {len(written)}; the first is {folder / 'index.ipynb'}")


@app.command("lab", context_settings={"ignore_unknown_options": True})
def lab(
    options: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OPTION]...", help="Options of JupyterLab, such as --no-browser or --port=8889."),
    ] = None,
) -> None:
    """Open the book in JupyterLab; its notebooks are not marked as changed before you change them.

    It opens the book in this folder or in its folder summeval_book. If there is none, it lays one out there.

    Example: summeval lab
    """
    require_module("jupyterlab.labapp", "lab")
    from summeval_nb.teaching.book import open_book

    open_book(options or ())


_stores = typer.Typer(help="Look after a store of vectors and answers.", **_PLAIN)
app.add_typer(_stores, name="store")
StoreFile = Annotated[Path, typer.Argument(help="The store's file.")]


def _existing_store(path: Path) -> Store:
    if not path.exists():
        fail(f"there is no store {str(path)!r}")
    from summeval_nb.models.store import Store

    return Store(str(path))


@_stores.command("info")
def store_info(path: StoreFile, as_json: AsJson = False) -> None:
    """Say what a store holds.

    Example: summeval store info answers.sqlite
    """
    held = _existing_store(path).info()
    say(to_json(held.to_dict()) if as_json else text_table(held.rows) if held.rows else f"{path} is empty")


@_stores.command("prune")
def store_prune(
    path: StoreFile,
    kind: Annotated[str | None, typer.Option(help="Delete this kind.")] = None,
    older_than_days: Annotated[float | None, typer.Option(help="Delete what is older.")] = None,
    damaged: Annotated[bool, typer.Option("--damaged", help="Delete what is damaged.")] = False,
) -> None:
    """Delete items from a store, and make its file smaller.

    Example: summeval store prune answers.sqlite --older-than-days 90
    """
    found = _existing_store(path)
    count = found.prune(kind, older_than_days=older_than_days, damaged=damaged)
    say(f"{count} items deleted from {path}")


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
