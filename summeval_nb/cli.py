"""`summeval`: the package's work on files and standard input, without writing Python.

Each command reads its input, calls one function, and shows the result.
"""

from __future__ import annotations

import sys
from collections import ChainMap, Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from summeval_nb import agreement, core, evidence, judged, overlap, runs, shell, text
from summeval_nb.agreement.registry import METRICS, describe_metric, find_metric, is_ours, is_place, load_metric
from summeval_nb.core.base import JsonDict, require_module, require_option
from summeval_nb.core.html import html_table, text_table
from summeval_nb.core.metric import definition_of
from summeval_nb.core.results import Score, ScoreTable
from summeval_nb.shell import Given, arg, command, fail, leave_for, opt, read_options, say, show

if TYPE_CHECKING:
    from summeval_nb.core.data import SampleSummary
    from summeval_nb.evidence.report import Faithfulness

__all__ = ["app", "main"]

_ABOUT = "Understand, run and trust automatic evaluation of summaries and generated answers."
_PLAIN: dict[str, Any] = {"no_args_is_help": True, "rich_markup_mode": None}
_HELP = {"help_option_names": ["-h", "--help"]}
app = typer.Typer(name="summeval", cls=shell.Commands, pretty_exceptions_enable=False, context_settings=_HELP, **_PLAIN)
Table = Annotated[str, arg("A table with a row per text; - for standard input.")]
AsJson = Annotated[bool, opt("Print everything as JSON.", "--json")]
Names = list[str] | None
Files = Annotated[list[str], arg("A table, or plain files of texts; - for standard input. More metrics may precede.")]
Each = Annotated[bool, opt("A score for each text instead of one for all.", "--each")]
_SCORE = "Score texts with metrics by their names; each says its options by --help."


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


@dataclass(frozen=True)
class _Scores:
    """What metrics say of the same texts: a row for each number, or for each text."""

    found: dict[str, Any]
    each: bool = False

    def rows(self) -> list[JsonDict]:
        if not self.each:
            return [{"metric": name, **row} for name, result in self.found.items() for row in _summary(name, result)]
        shown: dict[str, list[Any]] = {}
        for name, table in self.found.items():
            rows = table.rows()
            for number in table.arrays():
                column = name if number == "score" else f"{name} {number}" if number in shown else number
                shown[column] = [row[number] for row in rows]
        return [dict(zip(shown, row, strict=True)) for row in zip(*shown.values(), strict=True)]

    @property
    def signatures(self) -> str:
        return "\n".join(str(result.signature) for result in self.found.values())

    def to_dict(self) -> JsonDict:
        return {name: result.to_dict() for name, result in self.found.items()}

    def __repr__(self) -> str:
        return f"{text_table(self.rows())}\n{self.signatures}"

    def _repr_html_(self) -> str:
        return html_table(self.rows(), note=self.signatures.replace("\n", ", "))


def _summary(name: str, result: Any) -> list[JsonDict]:
    """Each number of a result: its mean over texts or that of the corpus, with its interval."""
    if isinstance(result, ScoreTable):
        measures = ("measure", "value", "low", "high", "n", "undefined")
        return [{measure: row.get(measure) for measure in measures} for row in result.summary()]
    size = len(getattr(result, "statistics", [result]))
    resamples = max(100, min(1000, 20_000_000 // size))
    low, high, *_ = result.interval(n_resamples=resamples) if result.score is not None and size > 1 else (None, None)
    undefined = size if result.score is None else 0
    return [{"measure": name, "value": result.score, "low": low, "high": high, "n": size, "undefined": undefined}]


def _text_of(name: str, result: Any, each: bool) -> str:
    """What a terminal shows of one metric: what the result says itself, or its numbers with their intervals."""
    if hasattr(result, "to_text"):
        return result.to_text(color=sys.stdout.isatty())
    if each:
        numbers = (outcome.score for outcome in result.outcomes())
        return "\n".join("none" if value is None else f"{value:.4f}" for value in numbers)
    if type(result).__repr__ not in (Score.__repr__, ScoreTable.__repr__):
        return repr(result)
    main, *others = rows = _summary(name, result)
    if main["value"] is None:
        reasons = result.reasons() if isinstance(result, ScoreTable) else [result.reason]
        return f"{name} undefined: {next(filter(None, reasons), '')}\n{result.signature}"
    size, lost = main["n"] + main["undefined"], main["undefined"]
    between = "" if main["low"] is None else f" (95 % interval: {main['low']:.4f} to {main['high']:.4f})"
    left_out = f" ({lost} of {size} texts undefined and left out)" if lost else ""
    lines = [f"{name} {main['value']:.4f}{between}{left_out}", *([text_table(rows)] if others else [])]
    return "\n".join([*lines, str(result.signature)])


def score(names: list[str], files: list[str], given: Given, each: bool = False) -> None:
    """Score a table, or plain texts, with metrics by their names, and show the result."""
    found = {name: find_metric(name) for name in names}
    kinds = [kind for kind, _ in found.values()]
    known = [
        {key: one for key, one in kind.names.items() if key not in fixed and key != "store"}
        for kind, fixed in found.values()
    ]
    said = read_options(given.option, ", ".join(names), dict(ChainMap(*known)))
    own = [{key: said[key] for key in said if key in one} for one in known]
    options = shell.load_named(*zip(kinds, own, strict=True))
    store = {"store": shell.open_store(given.store)} if given.store else {}
    metrics: dict[str, Any] = {
        name: load_metric(name, **chosen, **(store if "store" in kind.options else {}))
        for name, kind, chosen in zip(names, kinds, options, strict=True)
    }
    rows, bad, alone = _read(metrics, files, given)
    results, failed = {}, 0
    for (name, metric), own in zip(metrics.items(), rows, strict=True):
        columns = [[row[column] for row in own] for column in metric.columns]
        if hasattr(metric, "corpus") and not each:
            results[name] = metric.corpus(*columns)
            continue
        table = metric.score_many(*columns, progress=sys.stderr.isatty())
        lost = sum(outcome.status == "failed" for outcome in table.outcomes())
        failed += sum(getattr(result, "n_failed", 0) for result in getattr(table, "results", [table])) or lost
        results[name] = table[0] if alone and not each else table
    together, (first, *others) = _Scores(results, each), results.values()
    if others:
        show(together, given, ", ".join(names), repr(together))
    else:
        show(first, given, names[0], _text_of(names[0], first, each), safe=hasattr(first, "to_text"))
    if given.csv:
        shell.write_csv(given.csv, together.rows())
    shell.say_cost(options)
    if failed:
        fail(f"{failed} judgements failed and are in no score", code=3)
    leave_for(bad, bad + len(rows[0]))


def _read(metrics: dict[str, Any], files: list[str], given: Given) -> tuple[list[list[JsonDict]], int, bool]:
    """The rows that each metric scores, how many others were bad, and whether it is one row of whole texts.

    One file is a table. Several are plain texts: a candidate a line and its references, or else a file for each column.
    """
    if len(files) == 1:
        return *shell.read_table(files[0], given, *metrics), False
    if useless := [f"--{name}" for name in ("column", "format") if getattr(given, name)]:
        fail(f"{' and '.join(useless)} would say how a table is read: leave it out, since plain files have no columns")
    if files.count("-") > 1:
        fail("only one of the files can be standard input")
    kinds = [list(metric.columns) for metric in metrics.values()]
    if odd := [name for name, columns in zip(metrics, kinds, strict=True) if columns != kinds[0]]:
        fail(f"{next(iter(metrics))} and {odd[0]} read different columns: give one table")
    rows = shell.read_files(files, kinds[0], next(iter(metrics)))
    return [rows] * len(metrics), 0, kinds[0] != ["candidate", "references"]


def _help_of(name: str) -> str:
    """The help of a metric's command: what it reads, its range, and its options."""
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
        f"{purpose[0].upper()}{purpose[1:]}\n\nExample: summeval score {name} table.jsonl\n\n"
        f"\b\nOptions of the metric, as -o NAME=VALUE:\n{options}"
    )


class _Metrics(shell.Commands):
    """A command for each metric of the registry, made when it is called; other metrics may follow its name."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(METRICS)

    def get_command(self, ctx: Any, name: str) -> Any:
        def run(files: Files, given: Given, each: Each = False) -> None:
            count = 0  # of the words that name further metrics; a slip of the pen is no file
            while count < len(files) and (
                (word := files[count]) in METRICS
                or is_place(word)
                or not (count == len(files) - 1 or "." in word or word == "-" or Path(word).exists())
            ):
                count += 1
            if count == len(files):
                fail("name a table after the metrics, or plain files of texts; - for standard input")
            for word in files[:count]:
                shell.find_own(word)
            score(list(dict.fromkeys([name, *files[:count]])), files[count:], given, each)

        made = typer.Typer(add_completion=False, rich_markup_mode=None)
        run.__doc__ = _help_of(name)
        keeps = ["store"] if is_ours(name) and "store" in find_metric(name)[0].options else []
        command(made, name, "column", "option", "format", *keeps, "html", "csv", "as_json")(run)
        return typer.main.get_command(made)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        shell.find_own(args[0])
        if args[0] not in METRICS:
            find_metric(args[0])  # is imported, or says what is wrong
        return super().resolve_command(ctx, args)


app.add_typer(typer.Typer(cls=_Metrics, **_PLAIN), name="score", help=_SCORE)


def _with_author(summary: SampleSummary, result: Faithfulness) -> Faithfulness:
    """Return a result that says, where its checker is wrong or unclear, what the author of a sample knows."""
    verdicts = list(result.verdicts)
    for place, (true, why) in enumerate(zip(summary.supported, summary.notes, strict=True)):  # split as written
        verdict = verdicts[place]
        if verdict.state not in (None, "supported" if true else "contradicted"):
            opening = "Unclear to the checker" if verdict.state == "unclear" else "The checker is wrong"
            noted = {"note": f"{opening}; its author knows: {'true' if true else f'false: {why}'}"}
            verdicts[place] = replace(verdict, details={**verdict.details, **noted})
    return replace(result, verdicts=verdicts)


@command(app, "demo")
def demo(
    number: Annotated[int, opt("Which of the bundled articles, from 1.")] = 1,
    html: Annotated[Path, opt("Where to write the report.")] = Path("summeval-demo.html"),
) -> None:
    """Score three summaries of a bundled article and write a report, with no download.

    Example: summeval demo --number 2
    """
    Given(html=html).keep_apart()
    samples = core.sample_articles()
    if not 1 <= number <= len(samples):
        fail(f"--number must lie between 1 and {len(samples)}, not {number}")
    sample = samples[number - 1]
    found = evidence.evaluate_many(
        [sample.text] * len(sample.summaries), [own.text for own in sample.summaries.values()]
    )
    results = [_with_author(*pair) for pair in zip(sample.summaries.values(), found, strict=True)]
    for kind, result in zip(sample.summaries, results, strict=True):
        heading = f"{sample.title}: the {kind} summary"
        say(f"\n{heading}\n{'=' * len(heading)}")
        say(result.to_text(color=sys.stdout.isatty()), safe=sys.stdout.isatty())
    shell.write(html.resolve(), evidence.compare_reports(results, list(sample.summaries)).to_html)


@command(app, "metrics")
def metrics(as_json: AsJson = False) -> None:
    """List the metrics that `score` and `run` know: what each reads and measures, and whether it asks a model.

    Example: summeval metrics
    """
    shell.show_rows(agreement.list_metrics().rows(), as_json)


def _ranked(question: str, system: str, answer: str, ground_truth: str = "") -> None:
    """What `compare --rank` reads of a table."""


@command(app, "compare", "column", "option", "format", "store", "html", "as_json")
def compare(
    table: Table,
    given: Given,
    judge: Annotated[
        str, opt("embedded, words or nli:FOLDER holds both against the true answer; llm: reads both side by side.")
    ] = "embedded",
    rank: Annotated[bool, opt("Rows are question, system, answer; rank the systems.", "--rank")] = False,
) -> None:
    """Compare two answers to each question side by side, in both orders; or rank many systems.

    Example: summeval compare pairs.jsonl --judge llm:FOLDER
    """
    metric: Any = core.Metric(_ranked) if rank else "side_by_side"
    (rows,), bad = shell.read_table(table, given, metric)
    options = read_options(given.option, "compare", judged.compare_answers, but=["judge", "ground_truth"])
    options |= shell.load_named((definition_of(judged.compare_answers), {"judge": judge}))[0]
    many: Callable[..., Any] = judged.rank_systems if rank else judged.compare_answers_many
    result = many(rows, **options, store=shell.open_store(given.store), progress=sys.stderr.isatty())
    show(result, given, "Side by side", repr(result))
    shell.say_cost(options)
    lost = [] if rank else [outcome.reason for outcome in result.outcomes() if outcome.status == "failed"]
    if lost:
        shell.note(f"the first comparison that failed: {lost[0]}")
    leave_for(bad + len(lost), bad + len(rows))


@command(app, "identify", "column", "option", "format", "html", "as_json")
def identify(
    table: Table, score: Annotated[str, opt("The printed number, with all its digits.")], given: Given
) -> None:
    """Search for the configuration of BLEU, ROUGE or chrF that printed a number.

    Example: summeval identify pairs.jsonl --score 41.2 -o 'metrics=["rouge"]'
    """
    (rows,), bad = shell.read_table(table, given, "bleu")
    options = read_options(given.option, "identify", overlap.identify_score)
    columns = [[row[name] for row in rows] for name in ("candidate", "references")]
    result = overlap.identify_score(score, *columns, **options, progress=sys.stderr.isatty())
    show(result, given, "Identified score", repr(result))
    leave_for(bad, bad + len(rows))


def _number(cell: Any) -> float | None:
    """Return the number of a cell; None for an empty one, NA, N/A and nan."""
    return None if cell is None or str(cell).strip().lower() in ("", "na", "n/a", "nan") else float(cell)


def _grid(rows: list[JsonDict], names: list[str], value: str) -> list[list[float | None]]:
    """Return an articles × systems table of one column; absent cells are None, double ones an error."""
    article, system = names
    systems = list(dict.fromkeys(row[system] for row in rows))
    table: dict[object, dict[object, float | None]] = {}
    for row in rows:
        cells = table.setdefault(row[article], {})
        if row[system] in cells:
            fail(f"two rows for article {row[article]!r} and system {row[system]!r}")
        cells[row[system]] = _number(row[value])
    return [[cells.get(column) for column in systems] for cells in table.values()]


@command(app, "correlate", "option", "format", "html", "as_json")
def correlate(
    table: Table,
    given: Given,
    metric: Annotated[str, opt("Column of the metric's numbers.")] = "metric",
    human: Annotated[str, opt("Column of people's ratings.")] = "human",
    article: Annotated[str, opt("Column that names the article.")] = "article",
    system: Annotated[str, opt("Column that names the system, if there are several.")] = "system",
) -> None:
    """Correlate a metric with people's ratings, with a bootstrap interval. Without a column system, each row is a text.

    Example: summeval correlate rated.csv --metric rouge1 --human coherence -o level=system
    """
    named = [name for name in (article, system) if name not in ("article", "system")]
    rows = shell.read_columns(table, given.format, (*named, metric, human))  # they keep their other columns
    options = read_options(given.option, "correlate", agreement.correlate)
    if any(system in row for row in rows):
        if lost := [row for row in rows if article not in row or system not in row]:
            fail(f"{table!r}: a row has no {article if article not in lost[0] else system!r}")
        grids: list[Any] = [_grid(rows, [article, system], value) for value in (metric, human)]
    else:
        known = Counter(str(row[article]) for row in rows if article in row)
        if twice := [name for name, times in known.items() if times > 1]:
            fail(f"several rows for article {twice[0]!r}, and no column {system!r} that tells them apart")
        grids = [[_number(row[value]) for row in rows] for value in (metric, human)]
    result = agreement.correlate(*grids, **options)
    show(result, given, f"{metric} and {human}", f"{result}\n{result.signature}")


@command(app, "annotators", "option", "format", "html", "as_json")
def annotators(
    table: Table,
    raters: Annotated[str, opt("Columns of the raters, such as anna,bert,carla.")],
    given: Given,
    coefficient: Annotated[str, opt("alpha, fleiss or cohen.")] = "alpha",
    level: Annotated[str | None, opt("For alpha: nominal, ordinal, interval or ratio.")] = None,
) -> None:
    """Say how well people agree with one another, beyond chance.

    Example: summeval annotators rated.csv --raters anna,bert --level ordinal
    """
    from summeval_nb.agreement.annotators import read_ratings

    known: dict[str, Any] = {"alpha": agreement.krippendorff_alpha, "fleiss": agreement.fleiss_kappa}
    known["cohen"] = agreement.cohen_kappa
    function = known[require_option(coefficient, "coefficient", known)]
    if (level is not None) != (coefficient == "alpha"):
        fail("--level nominal, ordinal, interval or ratio goes with alpha, and only with it")
    names = raters.split(",")
    read = shell.read_columns(table, given.format, names)
    rows = read_ratings([[row[name] for name in names] for row in read])
    options = read_options(given.option, "annotators", function)
    if coefficient == "cohen" and len(names) != 2:
        fail(f"cohen compares two raters, not {len(names)}: take fleiss or alpha")
    columns = zip(*rows, strict=True) if coefficient == "cohen" else [rows]
    result = function(*map(list, columns), **({} if level is None else {"level": level}), **options)
    show(result, given, "Agreement of raters", f"{result}\n{result.signature}")


def _verdicts(name: str, given: Given, texts: str | None = None) -> list[JsonDict]:
    """Return a table with verdicts, beside the texts with the same ids; of a run's line, id and score."""
    rows, found = shell.read_columns(name, given.format, ()), []
    read = shell.read_columns(texts, None, ()) if texts else []
    known = {str(row.get("id", place)): row for place, row in enumerate(read)}
    for place, row in enumerate(rows):
        if "parts" in row and "status" in row:  # of a run, and its parts tell what the judge thought
            row = {key: row[key] for key in ("id", "score") if row.get(key) is not None or key == "score"}
        key = str(row.get("id", place))
        if texts and key not in known:
            fail(f"{texts!r} has no text for item {key!r}: its ids must be those of {name!r}")
        found.append(known.get(key, {}) | row)
    return found


@command(app, "correct", "option", "format", "html", "as_json")
def correct(
    table: Annotated[str, arg("The judge's table: id, and verdict, probability or score.")],
    given: Given,
    labels: Annotated[str | None, arg("CSV of people's labels: id and label (yes or no).")] = None,
    other: Annotated[str | None, opt("The table of a second system, for the difference.")] = None,
    other_labels: Annotated[str | None, opt("People's labels of the second system.")] = None,
    who: Annotated[str | None, opt("Take the labels of this person only.")] = None,
    width: Annotated[float | None, opt("Say how many labels give an interval so wide.")] = None,
    draw: Annotated[int | None, opt("Draw so many items to label, into --out.")] = None,
    out: Annotated[Path | None, opt("CSV for the drawn items; labels in it are kept.")] = None,
    texts: Annotated[str | None, opt("Table with id and what people shall read.")] = None,
    seed: Annotated[int, opt("Of the drawing.")] = 0,
) -> None:
    """Correct a judge's share of right items by people's labels; or draw the items to label.

    A run's results.jsonl is such a table. Its texts are those of the corpus: --texts.

    Example: summeval correct verdicts.csv --draw 60 --out to_label.csv

    Example: summeval correct verdicts.csv to_label.csv
    """
    options: dict[str, Any] = read_options(given.option, "correct", agreement.correct_score, but=["other"])
    if (draw is None) != (out is None) or (draw is None and texts):
        fail("--draw, --out and --texts go together: --draw 60 --out to_label.csv")
    if (other is None) != (other_labels is None) or (other and width is not None):
        fail("--other and --other-labels go together, and not with --width")
    if draw is not None and out is not None:
        if labels or other or width is not None or options.keys() - {"verdict"}:
            fail("--draw takes no labels and no other option than -o verdict=COLUMN: label first, then correct")
        if out.exists() and any(out.samefile(name) for name in (table, texts) if name and Path(name).exists()):
            fail(f"--out {str(out)!r} would overwrite what is read: name another file")
        drawn = agreement.draw_items(_verdicts(table, given, texts), draw, seed, path=out, **options)
        done = sum(bool(item["label"]) for item in drawn)
        say(f"{out}: {draw} items, {done} labelled; write yes or no into the column label")
    elif width is not None:
        said = None if labels is None else agreement.read_labels(labels, who)
        count = agreement.labels_needed(_verdicts(table, given), width, labels=said, **options)
        say(shell.to_json({"labels_needed": count}) if given.as_json else f"{count} labels")
    elif labels is not None:
        second = (_verdicts(other, given), agreement.read_labels(other_labels, who)) if other and other_labels else None
        result = agreement.correct_score(
            _verdicts(table, given), agreement.read_labels(labels, who), other=second, **options
        )
        show(result, given, "Corrected score", f"{result}\n{result.signature}")
    else:
        fail("name people's labels after the table, or draw items to label: --draw 60 --out to_label.csv")


@command(app, "summeval", "option", "html", "as_json")
def summeval(
    given: Given,
    data: Annotated[Path | None, arg("SummEval ratings; by default the bundled toy ratings.")] = None,
    embedder: Annotated[str, opt("minilm, mpnet, or a sentence-transformers name or folder.")] = "minilm",
) -> None:
    """Run MTEB's SummEval task: does similarity to human summaries agree with human ratings?

    Example: summeval summeval summeval.jsonl --embedder minilm -o quality=coherence
    """
    ratings = core.load_toy_summeval() if data is None else core.load_summeval(data)
    options = read_options(given.option, "summeval", agreement.summeval_task, but=["embedder"])
    result = agreement.summeval_task(ratings, embedder, **options)
    rows = [{"score": name, "value": value} for name, value in result.items()]
    show(result, given, "SummEval", f"{text_table(rows)}\n{result.signature}")


_PLANNED = ("items", "metric", "out", "options", "columns", "format", "store", "batch_size")


@command(app, "run", "option", "column", "format", "store", "html", "as_json")
def run(
    table: Annotated[str, arg("Corpus: JSONL, CSV or Parquet; - for standard input.")],
    metric: Annotated[str, opt("A metric by its name, such as faithfulness, bleu, rouge, answers or rating.")],
    out: Annotated[Path, opt("Folder of the run.")],
    given: Given,
    engine: Annotated[str, opt("local or ray.")] = "local",
    workers: Annotated[int | None, opt("Processes or actors (default: 0 for word metrics, else one per core).")] = None,
    address: Annotated[str | None, opt("Ray cluster, host:port or auto.")] = None,
    num_gpus: Annotated[float, opt("GPUs of each Ray actor.")] = 0,
    timeout: Annotated[float | None, opt("Seconds for an item, then it counts as failed.")] = None,
    on_error: Annotated[str, opt("record or raise.")] = "record",
    resume: Annotated[bool, opt("Continue what the folder holds, or start over.")] = True,
    retry_failed: Annotated[bool, opt("Score again what failed.", "--retry-failed")] = False,
    batch_size: Annotated[int | None, opt("Items scored together (default: 2000 or 500).")] = None,
    dry_run: Annotated[bool, opt("Only estimate what it would take.", "--dry-run")] = False,
) -> None:
    """Score a corpus of any size into DIR/run.sqlite and DIR/results.jsonl; continue after a kill.

    Example: summeval run pairs.jsonl --metric bleu --out runs/bleu --workers 2 -o n=2
    """
    arguments = {name: value for name, value in locals().items() if name not in ("table", "dry_run", "given")}
    shell.find_own(metric)
    kind, fixed = find_metric(metric)
    arguments |= {"options": read_options(given.option, metric, kind.names, but=fixed), "format": given.format}
    arguments |= {"columns": shell.read_pairs(given.column, "--column"), "store": given.store}
    arguments["items"] = shell.standard_input() if table == "-" else table
    if dry_run:
        plan = runs.plan_run(**{name: arguments[name] for name in _PLANNED})
        say(shell.to_json(plan.to_dict()) if given.as_json else str(plan))
        return
    try:
        report = runs.run(**arguments, progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        fail("interrupted; what was scored is kept, and the same command continues", code=130)
    show(report, given, "Run", str(report))
    if not given.html and sys.stderr.isatty():
        say(f"to see it: summeval report {report.folder}", err=True)
    if failed := report.counts["failed"]:
        fail(f"{failed} of {report.info['items']} items failed; their reasons stand in {report.path}", code=3)


@command(app, "how-well")
def how_well(checker: Annotated[str, opt("embedded, careful or words.")] = "embedded", as_json: AsJson = False) -> None:
    """Say how well a packaged checker works: a row for each set of labelled sentences, which it had not seen.

    Example: summeval how-well
    """
    from summeval_nb.evidence import base as measured

    known = measured.how_well()
    require_option(checker, "checker", list(known["checkers"]))
    rows = [row for row in known["rows"] if row["checker"] == checker]
    shell.show_rows(rows, as_json, shown=[measured.shown_row(row) for row in rows])


def _show_bench(result: Any, given: Given, title: str) -> None:
    show(result, given, title, repr(result))
    failed, total = (sum(row[name] for row in result.rows()) for name in ("failed", "n"))
    leave_for(failed, total)


@command(app, "checker-bench", "store", "html", "as_json")
def checker_bench(
    given: Given,
    checker: Annotated[Names, opt("embedded, nli:FOLDER or llm:; repeat to compare.")] = None,
    data: Annotated[Names, opt("FORMAT:FILE, e.g. qags:mturk_cnndm.jsonl; repeat.")] = None,
    set: Annotated[Names, opt("package or everyday; repeat; without --data: package.")] = None,
    reports: Annotated[bool | None, opt("Whether evaluate judges (default but for everyday), or a checker.")] = None,
    limit: Annotated[int | None, opt("At most so many items of each set, articles by lot.")] = None,
) -> None:
    """Measure checkers on labelled sentences: the package's, yours (rows:FILE), or a public set's.

    Example: summeval checker-bench --checker embedded --set everyday --data rows:mine.csv
    """
    from summeval_nb.evidence.labelled import BENCH_SETS

    named = [(name, *name.partition(":")[::2]) for name in data or []]
    if wrong := [name for name, _, file in named if not file]:
        fail(f"--data must be FORMAT:FILE, such as rows:mine.csv, not {wrong[0]!r}")
    chosen = [require_option(name, "set", BENCH_SETS) for name in set or ([] if named else ["package"])]
    sets = {name: BENCH_SETS[name]() for name in chosen}
    sets |= {name: agreement.load_labelled(file, format=format) for name, format, file in named}
    how: dict[str, Any] = {"reports": reports, "limit": limit, "progress": sys.stderr.isatty()}
    judges = {name: name for name in checker or ["embedded"]}
    result = agreement.benchmark_checker(judges, sets, store=shell.open_store(given.store), **how)
    _show_bench(result, given, "Checkers on labelled sentences")


@command(app, "judge-bench", "store", "html", "as_json")
def judge_bench(
    given: Given,
    judge: Annotated[Names, opt("embedded, words, nli:FOLDER or llm:; repeat to compare.")] = None,
    set: Annotated[Names, opt("refusals, pairs, sentences, splits or everyday; repeat; default: not everyday.")] = None,
    rater: Annotated[str | None, opt("A model that gives grades, such as llm:FOLDER.")] = None,
    quality: Annotated[Names, opt("What the rater grades; repeat.")] = None,
    limit: Annotated[int | None, opt("At most so many examples of each set, by lot.")] = None,
) -> None:
    """Measure judges and raters on labelled sets: right answers, kappa, order, costs.

    Example: summeval judge-bench --judge embedded --judge llm:my-model --set pairs
    """
    if bool(rater) != bool(quality):
        fail("--rater and --quality go together, as in --rater llm:M --quality fluency")
    judges: dict[str, Any] = {name: name for name in judge or [] if name}
    judges |= {f"{rater} ({wanted})": core.Metric(judged.rate, quality=wanted, judge=rater) for wanted in quality or []}
    store = shell.open_store(given.store)
    result = agreement.benchmark_judge(judges or {"embedded": "embedded"}, set or None, limit=limit, store=store)
    _show_bench(result, given, "Judges on labelled sets")


@command(app, "card", "html", "as_json")
def card(
    metric: Annotated[str, arg("A metric's name, or a checker's, as in rouge1 or embedded.")], given: Given
) -> None:
    """Try a metric on changes that it must notice, and on changes that it must not.

    Example: summeval card rouge1 --markdown card.md
    """
    result = agreement.metric_card(metric, progress=sys.stderr.isatty())
    show(result, given, f"Metric card: {metric}", repr(result))


@command(app, "languages")
def languages(
    lang: Annotated[str | None, opt("Only what reads this language, such as zh.")] = None, as_json: AsJson = False
) -> None:
    """List checkers, judges, splitters, stemmers and tokenizers with the languages that each reads.

    Example: summeval languages --lang zh
    """
    shell.show_rows(text.language_table(lang), as_json)


@command(app, "report", "html")
def report(
    folder: Annotated[Path, arg("Folder of a finished run.")],
    given: Given,
    other: Annotated[Path | None, opt("An earlier run over the same corpus, to compare with.")] = None,
    worst: Annotated[int, opt("How many of the lowest scores to show.")] = 10,
    fail_on_regression: Annotated[
        bool, opt("Exit with 1 if the run is worse than --other, else 0.", "--fail-on-regression")
    ] = False,
    margin: Annotated[float, opt("How much worse is still allowed, in the units of the score.")] = 0.0,
    better: Annotated[str | None, opt("higher or lower, where the metric does not say it.")] = None,
    confidence: Annotated[float, opt("Of the interval.")] = 0.95,
) -> None:
    """Write a run as one HTML page: failures, distribution, worst items, comparison with another run.

    Without --html it is DIR/report.html.

    As a gate, --fail-on-regression compares the items that both runs scored, matched by id and content. It exits with 1
    if the whole interval of the difference lies on the worse side, beyond the margin, with 0 if not, and with 2 if
    nothing can be told: runs of other items, or too few of them.

    Example: summeval report runs/today --other runs/yesterday --fail-on-regression
    """
    given = replace(given, html=given.html or folder / "report.html")
    given.keep_apart(folder)
    if fail_on_regression and other is None:
        fail("--fail-on-regression compares with an earlier run: name its folder with --other")
    if not folder.is_dir():
        fail(f"{str(folder)!r} is no folder; name the one that summeval run --out was given")
    loaded = runs.RunReport.load(folder)
    compared = runs.compare_runs(other, loaded, confidence=confidence, better=better) if other else None
    say("\n".join([str(loaded), *([str(compared)] if compared else [])]))
    shell.write(given.html or folder, lambda path: loaded.to_html(path, other=compared, worst=worst))
    if given.markdown:
        shell.write_markdown(given.markdown, lambda: loaded.to_markdown(other=compared, worst=worst))
    if compared and fail_on_regression and compared.is_regression(margin):
        fail(f"a regression: {compared.sentence()}", code=1)


@command(app, "book")
def book(
    folder: Annotated[Path, arg("Where to lay it out.")],
    force: Annotated[bool, opt("Replace pages that differ, your own work included.", "--force")] = False,
) -> None:
    """Lay out the book's notebooks in a folder, to read, run and change.

    Example: summeval book my_book
    """
    from summeval_nb.teaching.exercises import lay_out_book

    written = lay_out_book(folder, force=force)
    say(f"pages written to {folder}: {len(written)}; the first is {folder / 'index.ipynb'}")


@command(app, "lab", context_settings={"ignore_unknown_options": True})
def lab(
    options: Annotated[
        Names, typer.Argument(metavar="[OPTION]...", help="Options of JupyterLab, e.g. --port=8889.")
    ] = None,
) -> None:
    """Open the book in JupyterLab; its notebooks are not marked as changed before you change them.

    It opens the book in this folder or in its folder summeval_book. If there is none, it lays one out there.

    Example: summeval lab
    """
    require_module("jupyterlab.labapp", "lab")
    from summeval_nb.teaching.exercises import open_book

    open_book(options or ())


_stores = typer.Typer(help="Look after a store of vectors and answers.", **_PLAIN)
app.add_typer(_stores, name="store")
StoreFile = Annotated[str, arg("The store's file.")]


def _existing_store(path: str) -> Any:
    return shell.open_store(path) if Path(path).exists() else fail(f"there is no store {path!r}")


@command(_stores, "info")
def store_info(path: StoreFile, as_json: AsJson = False) -> None:
    """Say what a store holds.

    Example: summeval store info answers.sqlite
    """
    held = _existing_store(path).info()
    say(shell.to_json(held.to_dict()) if as_json else text_table(held.rows) if held.rows else f"{path} is empty")


@command(_stores, "prune")
def store_prune(
    path: StoreFile,
    kind: Annotated[str | None, opt("Delete this kind.")] = None,
    older_than_days: Annotated[float | None, opt("Delete what is older.")] = None,
    damaged: Annotated[bool, opt("Delete what is damaged.", "--damaged")] = False,
) -> None:
    """Delete items from a store, and make its file smaller.

    Example: summeval store prune answers.sqlite --older-than-days 90
    """
    count = _existing_store(path).prune(kind, older_than_days=older_than_days, damaged=damaged)
    say(f"{count} items deleted from {path}")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and leave with its exit code."""
    raise SystemExit(app(args=arguments))
