"""`summeval`: the package's work on files and standard input, without writing Python.

Each command reads its input, calls one function, and shows the result.
"""

from __future__ import annotations

import sys
from collections import ChainMap
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Annotated, Any

import typer

from summeval_nb import __version__, agreement, core, evidence, runs, shell
from summeval_nb.agreement.registry import (
    METRICS,
    MetricScores,
    describe_metric,
    describe_options,
    is_place,
    load_metric,
)
from summeval_nb.core.base import JsonDict, require_module, require_option
from summeval_nb.core.files import read_plain
from summeval_nb.core.html import text_table
from summeval_nb.shell import Given, app, arg, command, fail, find_metric, opt, read_options, say, show

__all__ = ["app", "main"]

Table = Annotated[str, arg("A table with a row per text; - for standard input.")]
Names = list[str] | None


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"summeval {__version__}")
        raise typer.Exit


@app.callback()
def _options(version: Annotated[bool, opt("Print it.", "--version", callback=_print_version)] = False) -> None: ...


# ---------------------------------------------------------------- score


def _load(names: list[str], given: Given) -> dict[str, Any]:
    """The metrics of some names, each with those options that it has, and a named model loaded once."""
    from summeval_nb.runs.running import load_options

    found = {name: find_metric(name) for name in names}
    known: dict[str, Any] = {name: shell.choices(kind.names, "store", *fixed) for name, (kind, fixed) in found.items()}
    said = read_options(given, ", ".join(names), ChainMap(*known.values()))
    metrics = {}
    for name, (kind, _) in found.items():
        own = load_options({key: said[key] for key in said if key in known[name]}, kind)
        metrics[name] = load_metric(name, **own, **({"store": given.store} if "store" in kind.options else {}))
    return metrics


def _read(metrics: dict[str, Any], files: list[str], given: Given) -> tuple[list[list[JsonDict]], int, bool]:
    """The rows that each metric scores, how many others were bad, and whether it is one row of whole texts."""
    if len(files) == 1:
        return *shell.read_table(files[0], given, *metrics.values()), False
    if useless := [f"--{name}" for name in ("column", "format") if getattr(given, name)]:
        fail(f"{' and '.join(useless)} would say how a table is read: leave it out, since plain files have no columns")
    if files.count("-") > 1:
        fail("only one of the files can be standard input")
    (first, columns), *others = [(name, list(metric.columns)) for name, metric in metrics.items()]
    if odd := [name for name, own in others if own != columns]:
        fail(f"{first} and {odd[0]} read different columns: give one table")
    alone = columns != ["candidate", "references"]
    if alone and len(files) != len(columns):
        fail(f"{first} reads {', '.join(columns)}: give one table, or {len(columns)} plain files, not {len(files)}")
    return [read_plain([shell.opened(name) for name in files], columns)] * len(metrics), 0, alone


def _score(names: list[str], files: list[str], given: Given, *, each: bool = False) -> None:
    """Score files with metrics, and show one result, or one table of several; and what language models were asked."""
    from summeval_nb.models.base import find_backends

    metrics = _load(names, given)
    rows, bad, alone = _read(metrics, files, given)
    results, failed = {}, 0
    for (name, metric), own in zip(metrics.items(), rows, strict=True):
        columns = [[row[column] for row in own] for column in metric.columns]
        if hasattr(metric, "corpus") and not each:
            whole = [row for row in zip(*columns, strict=True) if None not in row]
            if lacking := len(own) - len(whole):
                shell.note(f"{name} is of {len(whole)} of {len(own)} rows: a cell is empty in {lacking}")
            results[name] = metric.corpus(*map(list, zip(*whole, strict=True))) if whole else fail("no row is whole")
            continue
        table = metric.score_many(*columns, progress=sys.stderr.isatty())
        lost = sum(outcome.status == "failed" for outcome in table.outcomes())
        failed += sum(getattr(result, "n_failed", 0) for result in getattr(table, "results", [table])) or lost
        results[name] = table[0] if alone and not each else table
    together, first = MetricScores(results, each), results[names[0]]
    report = first.to_text(color=sys.stdout.isatty()) if hasattr(first, "to_text") and len(names) == 1 else ""
    show(together if names[1:] else first, given, ", ".join(names), report or repr(together), safe=bool(report))
    if given.csv:
        shell.write_csv(given.csv, together.rows())
    for backend in find_backends([metric.bound() for metric in metrics.values()]):
        used = f"{backend.usage.calls:,} calls, {backend.usage.prompt_tokens:,} prompt tokens"
        used = f"{used}, {backend.usage.generated_tokens:,} completion tokens, {backend.usage.seconds:.1f} s"
        shell.note(f"{backend.name}: {used}")
    if failed:
        fail(f"{failed} judgements failed and are in no score", code=3)
    if bad:
        fail(f"{bad} of {bad + len(rows[0])} rows failed and were left out", code=3)


@command("score", "column", "option", "format", "store", "html", "csv", "as_json")
def score(
    words: Annotated[list[str], arg("Metrics by name, then a table, or plain files of texts; - for standard input.")],
    given: Given,
    each: Annotated[bool, opt("A score for each text instead of one for all.", "--each")] = False,
) -> None:
    """Score texts with metrics by their names.

    One file is a table. Several are plain texts: a candidate a line and its references, or else a file for each column.
    summeval metrics lists the metrics, and summeval metrics rouge says the options of one of them.

    Example: summeval score rouge bleu chrf pairs.jsonl
    """
    is_file = lambda place, word: place == len(words) - 1 or "." in word or word == "-" or Path(word).exists()
    files = [place for place, word in enumerate(words) if word not in METRICS and not is_place(word)]
    count = next((place for place in files if place and is_file(place, words[place])), len(words))
    if count == len(words):  # and a slip of the pen is no file
        fail("name a table after the metrics, or plain files of texts; - for standard input")
    _score(list(dict.fromkeys(words[:count])), words[count:], given, each=each)


@command("metrics", "as_json")
def metrics(given: Given, name: Annotated[str | None, arg("Say the options of this one.")] = None) -> None:
    """List the metrics that `score` and `run` know: what each reads and measures, and whether it asks a model.

    Example: summeval metrics rouge
    """
    if name is None:
        show(agreement.list_metrics(), given, "Metrics")
        return
    find_metric(name)  # perhaps in the current folder
    row, told = describe_metric(name), describe_options(name)
    table = f"Options, as -o NAME=VALUE:\n{text_table(told)}" if told else "It has no options."
    say(shell.to_json(row | {"options": told}) if given.as_json else f"{text_table([row])}\n\n{table}")


@command("compare", "column", "option", "format", "store", "html", "csv", "as_json")
def compare(
    table: Table,
    given: Given,
    judge: Annotated[str, opt("embedded, words, nli:FOLDER: against the truth; llm: side by side.")] = "embedded",
) -> None:
    """Compare two answers to each question side by side, in both orders: the metric side_by_side.

    Example: summeval compare pairs.jsonl --judge llm:FOLDER
    """
    _score(["side_by_side"], [table], replace(given, option=[*(given.option or ()), f"judge={judge}"]))


# ---------------------------------------------------------------- how good checkers, judges and metrics are


@command("how-well", "as_json")
def say_how_well(given: Given, checker: Annotated[str, opt("embedded, careful or words.")] = "embedded") -> None:
    """Say how well a packaged checker works: a row for each set of labelled sentences, which it had not seen.

    Example: summeval how-well
    """
    from summeval_nb.evidence.base import how_well, shown_row

    require_option(checker, "checker", how_well()["checkers"])
    rows = [row for row in how_well()["rows"] if row["checker"] == checker]
    say(shell.to_json({"rows": rows}) if given.as_json else text_table(list(map(shown_row, rows))))


@command("bench", "store", "html", "as_json")
def bench(
    given: Given,
    checker: Annotated[Names, opt("A checker: embedded, careful, nli:FOLDER or llm:; repeat to compare.")] = None,
    judge: Annotated[Names, opt("A judge: embedded, words, nli:FOLDER or llm:; repeat to compare.")] = None,
    set: Annotated[Names, opt("package, everyday; of judges refusals, pairs, sentences, splits; repeat.")] = None,
    data: Annotated[Names, opt("Your own for checkers, FORMAT:FILE, e.g. rows:mine.csv; repeat.")] = None,
    reports: Annotated[bool | None, opt("Whether evaluate judges (default but for everyday), or a checker.")] = None,
    limit: Annotated[int | None, opt("At most so many items of each set, by lot.")] = None,
) -> None:
    """Measure checkers on labelled sentences, or judges on labelled sets: right answers, order, costs.

    Example: summeval bench --checker embedded --set everyday --data rows:mine.csv

    Example: summeval bench --judge embedded --judge llm:my-model --set pairs
    """
    from summeval_nb.evidence.labelled import BENCH_SETS

    how: dict[str, Any] = {"limit": limit, "store": given.store}
    if judge:
        if checker or data or reports is not None:
            fail("--checker, --data and --reports measure checkers: call bench for judges without them")
        result: Any = agreement.benchmark_judge({name: name for name in judge}, set or None, **how)
    else:
        named = [(name, *name.partition(":")[::2]) for name in data or []]
        if wrong := [name for name, _, file in named if not file]:
            fail(f"--data must be FORMAT:FILE, such as rows:mine.csv, not {wrong[0]!r}")
        chosen = [require_option(name, "set", BENCH_SETS) for name in set or ([] if named else ["package"])]
        sets: dict[str, Any] = {name: BENCH_SETS[name]() for name in chosen}
        sets |= {name: agreement.load_labelled(file, format=format) for name, format, file in named}
        how |= {"reports": reports, "progress": sys.stderr.isatty()}
        result = agreement.benchmark_checker({name: name for name in checker or ["embedded"]}, sets, **how)
    show(result, given, "On labelled sets")
    if failed := sum(row["failed"] for row in result.rows()):
        fail(f"{failed} of {sum(row['n'] for row in result.rows())} rows failed and were left out", code=3)


@command("card", "html", "as_json")
def card(metric: Annotated[str, arg("The name of a metric or a checker: rouge1, embedded.")], given: Given) -> None:
    """Try a metric on changes that it must notice, and on changes that it must not.

    Example: summeval card rouge1 --markdown card.md
    """
    show(agreement.metric_card(metric, progress=sys.stderr.isatty()), given, f"Metric card: {metric}")


# ---------------------------------------------------------------- tables of ratings and of labels


@command("correlate", "option", "format", "html", "as_json")
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
    from summeval_nb.agreement.annotators import rating_grids

    named = [name for name in (article, system) if name not in ("article", "system")]
    rows = shell.read_columns(table, given.format, (*named, metric, human))  # they keep their other columns
    grids = rating_grids(rows, metric, human, article=article, system=system)
    result = agreement.correlate(*grids, **read_options(given, "correlate", agreement.correlate))
    show(result, given, f"{metric} and {human}", f"{result}\n{result.signature}")


@command("annotators", "option", "format", "html", "as_json")
def annotators(
    table: Table,
    raters: Annotated[str, opt("Columns of the raters, such as anna,bert,carla.")],
    given: Given,
    coefficient: Annotated[str, opt("alpha, fleiss or cohen.")] = "alpha",
) -> None:
    """Say how well people agree with one another, beyond chance.

    Alpha needs a level: nominal, ordinal, interval or ratio.

    Example: summeval annotators rated.csv --raters anna,bert --level ordinal
    """
    from summeval_nb.agreement.annotators import read_ratings

    known: dict[str, Any] = {"alpha": agreement.krippendorff_alpha, "fleiss": agreement.fleiss_kappa}
    known["cohen"] = agreement.cohen_kappa
    function, names = known[require_option(coefficient, "coefficient", known)], raters.split(",")
    options = read_options(given, coefficient, function)
    if coefficient == "cohen" and len(names) != 2:
        fail(f"cohen compares two raters, not {len(names)}: take fleiss or alpha")
    read = read_ratings([[row[name] for name in names] for row in shell.read_columns(table, given.format, names)])
    result = function(*(map(list, zip(*read, strict=True)) if coefficient == "cohen" else [read]), **options)
    show(result, given, "Agreement of raters", f"{result}\n{result.signature}")


def _verdicts(name: str, given: Given, texts: str | None = None) -> list[JsonDict]:
    """Return a table with verdicts, beside the texts with the same ids."""
    from summeval_nb.agreement.annotators import beside_texts

    rows = shell.read_columns(name, given.format, ())
    return beside_texts(rows, shell.read_columns(texts, None, ()) if texts else None)


@command("correct", "option", "format", "html", "as_json")
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
    texts: Annotated[str | None, opt("Table with id and the texts that people read.")] = None,
    seed: Annotated[int, opt("Seed of the random draw.")] = 0,
) -> None:
    """Correct a judge's share of right items by people's labels; or draw the items to label.

    A run's results.jsonl is such a table. Its texts are those of the corpus: --texts.

    Example: summeval correct verdicts.csv --draw 60 --out to_label.csv

    Example: summeval correct verdicts.csv to_label.csv
    """
    options: JsonDict = read_options(given, "correct", agreement.correct_score, "other")
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
        return
    verdicts, said = _verdicts(table, given), None if labels is None else agreement.read_labels(labels, who)
    if width is not None:
        count = agreement.labels_needed(verdicts, width, labels=said, **options)
        say(shell.to_json({"labels_needed": count}) if given.as_json else f"{count} labels")
        return
    if said is None:
        fail("name people's labels after the table, or draw items to label: --draw 60 --out to_label.csv")
    second = (_verdicts(other, given), agreement.read_labels(other_labels, who)) if other and other_labels else None
    result = agreement.correct_score(verdicts, said, other=second, **options)
    show(result, given, "Corrected score", f"{result}\n{result.signature}")


# ---------------------------------------------------------------- runs


@command("run", "option", "column", "format", "store", "html", "as_json")
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
    kind, fixed = find_metric(metric)
    arguments |= {"options": read_options(given, metric, kind.names, *fixed), "format": given.format}
    columns = shell.read_pairs(given.column, "--column")
    arguments |= {"columns": columns, "store": given.store, "items": shell.opened(table)}
    if dry_run:
        known = arguments.keys() & signature(runs.plan_run).parameters.keys()
        show(runs.plan_run(**{name: arguments[name] for name in known}), given, "Plan")
        return
    try:
        report = runs.run(**arguments, progress=sys.stderr.isatty())
    except KeyboardInterrupt:
        fail("interrupted; what was scored is kept, and the same command continues", code=130)
    show(report, given, "Run")
    if failed := report.counts["failed"]:
        fail(f"{failed} of {report.info['items']} items failed; their reasons stand in {report.path}", code=3)


@command("report", "option", "html")
def report(
    folder: Annotated[Path, arg("Folder of a finished run.")],
    given: Given,
    other: Annotated[Path | None, opt("An earlier run over the same corpus, to compare with.")] = None,
    worst: Annotated[int, opt("How many of the lowest scores to show.")] = 10,
    fail_on_regression: Annotated[bool, opt("Exit with 1 if it is worse.", "--fail-on-regression")] = False,
    margin: Annotated[float, opt("How much worse is still allowed, in the units of the score.")] = 0.0,
) -> None:
    """Write a run as one HTML page: failures, distribution, worst items, comparison with another run.

    Without --html it is DIR/report.html. As a gate, --fail-on-regression compares the items that both runs scored. It
    exits with 1 if the whole interval of the difference lies on the worse side, beyond the margin, with 0 if not, and
    with 2 if nothing can be told: runs of other items, or too few of them.

    Example: summeval report runs/today --other runs/yesterday --fail-on-regression
    """
    given = replace(given, html=given.html or folder / "report.html")
    options = read_options(given, "report", runs.compare_runs)
    if other is None and (fail_on_regression or options):
        fail("--fail-on-regression and -o compare with an earlier run: name its folder with --other")
    if not folder.is_dir():
        fail(f"{str(folder)!r} is no folder; name the one that summeval run --out was given")
    loaded = runs.RunReport.load(folder)
    compared = runs.compare_runs(other, loaded, **options) if other else None
    show(loaded, given, "Run", "\n".join(map(str, filter(None, [loaded, compared]))), other=compared, worst=worst)
    if compared and fail_on_regression and compared.is_regression(margin):
        fail(f"a regression: {compared.sentence()}", code=1)


# ---------------------------------------------------------------- first contact and the book


@command("demo")
def demo(
    number: Annotated[int, opt("Which of the bundled articles, from 1.")] = 1,
    html: Annotated[Path, opt("Where to write the report.")] = Path("summeval-demo.html"),
) -> None:
    """Score three summaries of a bundled article and write a report, with no download.

    Example: summeval demo --number 2
    """
    Given(html=html)  # fails if a file that is none of ours is there
    samples = core.sample_articles()
    if not 1 <= number <= len(samples):
        fail(f"--number must lie between 1 and {len(samples)}, not {number}")
    article, summaries = samples[number - 1], samples[number - 1].summaries
    found = evidence.evaluate_many([article.text] * len(summaries), [own.text for own in summaries.values()])
    results = []
    for (kind, own), result in zip(summaries.items(), found, strict=True):
        results.append(result := replace(result, verdicts=own.noted(result.verdicts)))
        heading = f"{article.title}: the {kind} summary"
        say(f"\n{heading}\n{'=' * len(heading)}")
        say(result.to_text(color=sys.stdout.isatty()), safe=sys.stdout.isatty())
    shell.write(html.resolve(), evidence.compare_reports(results, list(summaries)).to_html)


@command("book")
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


@command("lab", context_settings={"ignore_unknown_options": True})
def lab(
    options: Annotated[Names, arg("Options of JupyterLab, e.g. --port=8889.")] = None,
) -> None:
    """Open the book in JupyterLab; its notebooks are not marked as changed before you change them.

    It opens the book in this folder or in its folder summeval_book. If there is none, it lays one out there.

    Example: summeval lab
    """
    require_module("jupyterlab.labapp", "lab")
    from summeval_nb.teaching.exercises import open_book

    open_book(options or ())


main = app  # runs the command line, and leaves with its exit code
