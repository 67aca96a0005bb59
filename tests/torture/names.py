"""Every public name, called with what was not made for it: a good result or a typed error with words.

What an argument may be is read from the function: a name that says it (`PARAMETERS`), else its default and the words
that the docstring quotes.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
import math
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

import summeval_nb
from summeval_nb.core.data import QUALITIES
from summeval_nb.runs.workers import WorkerDied, WorkerRefused
from tests.helpers.public import NAMES, public

from . import corpus, judges
from .harness import Wrong

TYPED = (ValueError, TypeError, OSError, ImportError, NotImplementedError, WorkerDied, WorkerRefused)
TYPED += (summeval_nb.models.StoreError, summeval_nb.models.BackendError, summeval_nb.judged.JudgeFailure)
TYPED += (summeval_nb.runs.RunStopped,)
ACCIDENTS = (UnicodeError, RecursionError)  # ValueErrors of others that name nothing of the caller's

texts = st.one_of(
    st.sampled_from([*corpus.HOSTILE, *corpus.SANE, *corpus.SANE, *corpus.SANE]),
    st.lists(st.sampled_from([*corpus.HOSTILE, *corpus.SANE]), min_size=2, max_size=3).map(" ".join),
    st.text(max_size=40),
)
many = st.lists(texts, max_size=3)
groups = st.one_of(texts, st.lists(texts, min_size=1, max_size=3))
shares = st.floats(0, 1)
numbers = st.one_of(st.floats(), st.integers(-3, 9), st.sampled_from([1e308, 5e-324, 1 << 70, -(10**400)]))
counts = st.one_of(st.integers(1, 6), st.integers(-2, 40))
anything: st.SearchStrategy[Any] = st.one_of(
    *(st.none(), st.booleans(), numbers, texts, st.binary(max_size=9), st.builds(object), st.just(len)),
    *(st.lists(st.one_of(numbers, texts, st.none()), max_size=3), st.dictionaries(texts, numbers, max_size=2)),
    st.just(np.ones((2, 2))),
)
safe_names = texts.map(lambda value: re.sub(r"[/\\]", "_", value)[:60]).filter(lambda value: value.strip(".~ "))
cells = st.one_of(st.integers(1, 5), shares, st.sampled_from([None, float("nan"), 1e308, 0.1 + 0.2]))
tables = st.lists(st.lists(cells, min_size=4, max_size=4), min_size=3, max_size=3)
vectors = st.integers(1, 4).flatmap(
    lambda d: st.lists(st.lists(st.floats(-9, 9, width=32), min_size=d, max_size=d), min_size=1, max_size=4)
)
words = st.lists(st.sampled_from(["the", "a", "cat", "dog", "sat"]), max_size=9)
replies = st.one_of(texts, st.sampled_from(["yes", "no", "3", "{}", "[" * 2000, '{"statements": ["a"]}']))
backends = replies.map(lambda reply: summeval_nb.ScriptedBackend(lambda prompt: reply))
ROW = ["candidate", "text", "summary", "question", "ground_truth", "answer", "contexts", "a", "b"]
ROW += ["system"]
rows = st.lists(st.fixed_dictionaries({**dict.fromkeys(ROW, texts), "references": groups}), max_size=4)
systems = st.sampled_from(["x", "y", "<zzq>", "\x1b[2J", "$\\frac$", "\ud83d", "tie"])
votes = st.one_of(st.tuples(systems, systems, systems), st.tuples(systems, systems, systems, counts), anything)
labelled = st.fixed_dictionaries(
    {"sentence": texts, "label": st.integers(0, 1), "article": texts}, optional={"evidence": many}
)
reports = st.tuples(texts, texts).map(lambda pair: summeval_nb.evaluate(*pair))


@st.composite
def data_sets(draw: Any) -> Any:
    names = draw(st.lists(texts, min_size=1, max_size=3, unique=True))
    rating = st.one_of(st.floats(1, 5), st.none(), st.just(1.666667))
    rated = [
        {"system": name, "summary": draw(texts)} | {quality: draw(rating) for quality in QUALITIES} for name in names
    ]
    return summeval_nb.core.SummEval.from_records(
        [
            {"id": f"{number}{draw(texts)}", "source": draw(texts), "references": [draw(texts)], "systems": rated}
            for number in range(draw(st.integers(1, 3)))
        ]
    )


def _named(text: str, strategy: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    return dict.fromkeys(text.split(), strategy)


FIXED = {  # never anything else: what shows bars, asks a network, leaves the folder or takes minutes
    **_named("progress download", st.just(False)),
    **_named("store annotator device dtype exceptions synonyms address timeout", st.none()),
    **_named("path out folder model", safe_names),
    **_named("workers num_gpus", st.just(0)),
    "limit": st.just(2),
    "base_url": st.one_of(st.just("http://127.0.0.1:9/v1"), texts.map(lambda text: f"http://127.0.0.1:9/{text}")),
    "backend": backends,
    "n_resamples": st.integers(-1, 30),
}
PARAMETERS = {
    **_named("candidates texts summaries answers questions truths ground_truths sentences sens_text names", many),
    **_named("references contexts context", groups),
    **_named("metric metric_a metric_b human ratings sim_matrix", tables),
    **_named("embed_text embed_summary value machine", vectors),
    **_named("x y tokens", words),
    **_named("rows items table", rows),
    **_named("labels probabilities p_values relevant", st.lists(st.one_of(shares, st.none()), max_size=9)),
    **_named("first second", st.one_of(st.tuples(texts, groups).map(lambda p: summeval_nb.bleu_score(*p)), words)),
    **_named("n k size errors accepted n_raters", counts),
    **_named("alpha raw tpr fpr", st.one_of(shares, numbers)),
    "metrics": st.lists(st.sampled_from(["length", "bleu", "rouge1", "chrf"]), max_size=2, unique=True),
    "outcomes": st.lists(votes, max_size=6),
    "labelled": st.lists(st.one_of(labelled, anything), max_size=3),
    "sets": st.one_of(st.just({"mine": ["a text"]}), st.dictionaries(texts, st.lists(labelled, max_size=2))),
    "data": data_sets(),
    "tables": st.dictionaries(st.just("cosine"), tables.map(lambda t: np.array(t, dtype=float)), min_size=1),
    "results": st.lists(reports, min_size=1, max_size=2),
    "exercise": st.one_of(texts, st.just("21_ngrams/1")),
    "responder": st.just(str),
}
RUN = {"items": rows, "metric": st.sampled_from(["bleu", "rouge"]), "engine": st.just("local")}
OWN: dict[str, dict[str, Any]] = {
    "run": RUN,
    "plan_run": RUN,
    "clipped_counts": {"candidate": words, "references": st.lists(words, max_size=3)},
    "ask_many": {
        "judge": backends.map(lambda backend: summeval_nb.judged.LLMJudge(backend)),
        "task": st.sampled_from(["refusal", "statements"]),
        "items": st.lists(st.tuples(texts), max_size=2),
    },
    "compare_runs": _named("a b", st.lists(numbers, min_size=3, max_size=3).map(np.array)),
    "faithfulness_from_dict": {"data": st.one_of(reports.map(lambda r: r.to_dict()), anything)},
    "reference_similarities": {"machine": st.just(np.ones((1, 2, 3))), "human": st.lists(vectors, max_size=2)},
    **{name: {"references": st.lists(groups, max_size=3)} for name in NAMES if re.match("corpus_|.*_many$", name)},
    "bertscore": {"model": st.just("minilm")},
    "bertscore_many": {"model": st.just("minilm"), "references": st.lists(groups, max_size=3)},
    **{name: {"workers": st.just(1)} for name in ("LLMChecker", "LLMJudge", "rubric_score", "rate", "rate_many")},
}
BUILT = "LLMChecker NLIChecker EmbeddedChecker EmbeddedJudge LLMJudge ClaimFinder Store ServerBackend ScriptedBackend"
BUILT += " TransformersBackend SentenceTransformerEmbedder ObjectEmbedder Signature Verdict Score"
BUILT += " Evidence Finding Rating Job LabelledSentence"
# pass on what they are given, or say that NaN is a missing cell
MAY_HOLD_NAN = ["metric_scores", "Signature", "Verdict", "Score", "Evidence", "Rating", "Job", "content_key"]
MAY_HOLD_NAN += ["find_backends", "ObjectEmbedder", "common_slip"]
COSTLY = {"benchmark_checker": 2, "benchmark_judge": 3}  # examples of what takes ten seconds and more for one good call


@cache
def called() -> list[str]:
    """The functions that take arguments, and classes that people build."""
    found = {name: public(name) for name in NAMES}
    functions = [n for n, value in found.items() if inspect.isfunction(value) and inspect.signature(value).parameters]
    return [*functions, *BUILT.split()]


def calls(function: Any, own: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments for a function: each of its kind, now and then anything at all."""
    required, optional = {}, {}
    quoted = re.findall(r'"([\w.:-]{1,20})"', inspect.getdoc(function) or "")
    record = dataclasses.is_dataclass(function)
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        needed = parameter.default is parameter.empty
        strategy = own.get(name, FIXED.get(name))
        if strategy is None:
            known = PARAMETERS[name] if name in PARAMETERS else _like(parameter.default, quoted)
            strategy = known if record else st.integers(0, 19).flatmap(lambda i, known=known: known if i else anything)
        needed = needed or name in ("progress", "limit", "workers", "n_resamples")
        (required if needed else optional)[name] = strategy
    return st.fixed_dictionaries(required, optional=optional)


def _like(default: Any, quoted: list[str]) -> st.SearchStrategy[Any]:
    """Values of the kind of a default; a required argument is a text."""
    if default is inspect.Parameter.empty:
        return texts
    if isinstance(default, bool):
        return st.booleans()
    if isinstance(default, int):
        return counts
    if isinstance(default, float):
        return st.one_of(shares, numbers)
    listed = st.sampled_from(quoted) if quoted else texts
    if isinstance(default, str):
        return st.one_of(st.just(default), listed, texts)
    return st.one_of(st.none(), listed, counts, shares) if default is None else st.one_of(st.just(default), anything)


def names(rng: random.Random, folder: Path) -> None:
    """One public name with several sets of arguments."""
    name = rng.choice(called())
    fuzz(name, rng.randrange(1 << 30), examples=COSTLY.get(name, 12))


def fuzz(name: str, seed: int, *, examples: int, function: Callable[..., Any] | None = None) -> None:
    """Call a public name with arguments drawn by hypothesis."""
    target = function or public(name)
    quiet = {"database": None, "deadline": None, "report_multiple_bugs": False, "print_blob": False}
    checks, phases = list(hypothesis.HealthCheck), [hypothesis.Phase.generate]

    @hypothesis.seed(seed)
    @hypothesis.settings(max_examples=examples, phases=phases, suppress_health_check=checks, **quiet)
    @hypothesis.given(calls(target, OWN.get(name, {})))
    def call(arguments: dict[str, Any]) -> None:
        with tempfile.TemporaryDirectory(dir=".") as inner:
            arguments = {k: Path(inner) / v if k in ("path", "folder", "out") else v for k, v in arguments.items()}
            attempt(target, name, arguments)

    call()


def attempt(target: Callable[..., Any], name: str, arguments: dict[str, Any]) -> None:
    """One call, judged."""
    shown = f"{name}({', '.join(f'{key}={value!r:.400}' for key, value in arguments.items())})"
    finite = name not in MAY_HOLD_NAN
    try:
        value = target(**arguments)
        if isinstance(value, summeval_nb.Metric):
            use(value, name, finite)
        judges.result([*itertools.islice(value, 100)] if isinstance(value, Iterator) else value, name, finite=finite)
        if callable(getattr(value, "close", None)):
            value.close()
    except Wrong as error:
        error.args = (f"{shown}: {error.args[0]}", *error.args[1:])
        raise
    except Exception as error:
        if name == "assert_faithful" and type(error) is AssertionError:
            return  # what it is for
        typed = isinstance(error, TYPED) and not isinstance(error, ACCIDENTS)
        typed |= type(error) is LookupError and "nltk.download" in str(error)  # of data that nltk lacks
        where = f"{type(error).__name__} of {name}" if not typed else f"no words of {name}"
        if not typed or not str(error).strip():
            raise Wrong(f"{shown} raises {type(error).__name__}: {str(error)[:500]}", where) from error


def use(metric: Any, name: str, finite: bool) -> None:
    """What everybody does with a metric that was made: a score, and the means of a table."""
    row = dict.fromkeys(metric.columns, "It rained <zzq>. The cat \x1b[2J sat.")
    row |= {column: [text] for column, text in row.items() if column in ("references", "contexts")}
    judges.result(metric.score(*row.values()), name, finite=finite)
    table = metric.score_many(*([cell] * 2 for cell in row.values()))
    if not all(map(math.isfinite, judges.numbers(table.means() if hasattr(table, "means") else list(table)))):
        raise Wrong(f"{metric} means {table}", f"NaN in means of {name}")
