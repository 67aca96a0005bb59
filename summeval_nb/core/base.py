"""What every module needs: types, checks of arguments, numpy when it is used, warnings, bars, names to suggest."""

from __future__ import annotations

import difflib
import functools
import itertools
import math
import numbers
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from importlib import import_module
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, SupportsFloat, TypeAlias, TypeGuard, TypeVar

__all__ = ["as_listed", "attach", "callers_level", "float_array", "Frame", "how_to_install", "hub_only_if"]
__all__ += ["InputWarning", "is_finite", "is_frame", "is_listed", "is_numpy", "JsonDict", "LONG", "made_of", "missing"]
__all__ += ["np", "one_bar", "parts", "pd", "plt", "refuse_lazy", "require_column", "require_count", "require_flag"]
__all__ += ["require_inner_share", "require_module", "require_option", "require_options", "require_share"]
__all__ += ["require_text", "require_texts", "Scores", "short_repr", "Stages", "steps", "suggest", "warn_of_order"]

if TYPE_CHECKING:
    import matplotlib.pyplot as plt
    import numpy as np
    import pandas as pd
    from tqdm.auto import tqdm
else:

    class Lazy:
        """Looks every name up in a module when it is first used, so that one text needs none.

        lazy_loader's own lazy module is not safe when two threads meet it first (Python 3.11.7).
        """

        def __init__(self, module: str):
            self._module = module

        def __reduce__(self) -> tuple[type, tuple[str]]:  # for a function of somebody's that is sent to a process
            return Lazy, (self._module,)

        def __getattr__(self, name: str) -> object:
            value = getattr(import_module(self._module), name)
            setattr(self, name, value)
            return value

    np, pd, plt = Lazy("numpy"), Lazy("pandas"), Lazy("matplotlib.pyplot")

JsonDict: TypeAlias = dict[str, Any]  # what JSON can say of a thing, by name: `to_dict()`, a row of a table


class Frame(Protocol):
    """A table of pandas, polars or Arrow."""

    @property
    def columns(self) -> Any:
        """Its columns, or their names."""

    def __len__(self) -> int: ...


class Scores(Protocol):
    """What scores texts: a `Metric`, or any object with these two attributes."""

    @property
    def columns(self) -> Mapping[str, str]:
        """What it reads, in the order of its arguments."""

    def score_many(self, *columns: Any, **choices: Any) -> Any:
        """Return a table or a list, with one score a text."""


def is_numpy(value: object, kind: str) -> bool:
    """Return whether `value` is of numpy's type of that name, without importing numpy."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def require_text(value: object, name: str) -> str:
    """Return `value` if it is a string; otherwise raise a `TypeError` that names the remedy."""
    if isinstance(value, str):
        return value
    remedies: dict[Any, str] = {
        (bytes, bytearray): "decode it first: value.decode('utf-8')",
        PathLike: "read the file first: value.read_text(encoding='utf-8')",
        (list, tuple): "pass one string; join the parts, or call the function once for each",
        type(None): "pass '' for an empty text",
    }
    usual = "call the function for many texts" if is_frame(value) else "pass one string"
    remedy = next((told for kinds, told in remedies.items() if isinstance(value, kinds)), usual)
    raise TypeError(f"{name} must be a string, not {type(value).__name__} ({short_repr(value)}): {remedy}")


def require_texts(values: object, name: str, wanted: str = "a list of strings") -> list[str]:
    """Return `values` as a list of strings; a single string, None or a non-string element raises a `TypeError`."""
    if type(values) is not list and not is_listed(values):
        remedy = "wrap one text in a list: [text]" if isinstance(values, str) else "pass a list of strings"
        remedy = "pass one of its columns, as in table['text']" if is_frame(values) else remedy
        given = f"{type(values).__name__} ({short_repr(values)})"
        raise TypeError(f"{name} must be {wanted}, not {given}: {remedy}")
    listed = list(as_listed(values))
    if set(map(type, listed)) - {str}:
        return [require_text(value, f"{name}[{index}]") for index, value in enumerate(listed)]
    return listed


def require_column(values: object, name: str) -> list[object]:
    """Return one value for each text as a list; a single text or what cannot be listed raises a `TypeError`."""
    if not is_listed(values):
        remedy = "for one text call score, or wrap it in a list: [text]"
        raise TypeError(f"{name} must be a list, not {type(values).__name__} ({short_repr(values)}): {remedy}")
    return list(as_listed(values))


def is_listed(values: object) -> TypeGuard[Iterable[object]]:
    """Whether these are many values: a text and a mapping are one."""
    single = isinstance(values, (str, bytes, bytearray, Mapping)) or is_frame(values)
    counted = hasattr(values, "__len__") and hasattr(values, "__getitem__")
    return not single and (isinstance(values, Iterable) or counted)


def as_listed(values: Any) -> Any:
    """Return a column of Arrow as a list of what it holds, anything else as it is."""
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def refuse_lazy(values: Any) -> Any:
    """Return the values; a LazyFrame of polars, which has no rows yet, is a `TypeError`."""
    if hasattr(values, "collect_schema") and hasattr(values, "collect"):
        raise TypeError(f"a {type(values).__name__} has no rows yet: call its .collect() first")
    return values


def is_frame(values: object) -> bool:
    """Whether these are a table of pandas, polars or Arrow, of which a list would hold names or columns."""
    rows = ("iloc", "to_dicts", "to_pylist")
    return hasattr(refuse_lazy(values), "columns") and any(hasattr(values, name) for name in rows)


def short_repr(value: object) -> str:
    shown = repr(value)
    return shown if len(shown) <= 40 else shown[:37] + "..."


OWN_CHECKERS = ("embedded", "quick", "careful", "words")  # the package's, and the judges that read with them
_MOST = {"n_resamples": 10_000_000, "errors": 10**9}  # more would take days


def require_count(value: object, name: str, *, minimum: int = 1) -> int:
    """Return `value` as an int of at least `minimum` (numpy integers too); otherwise raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} must be a whole number, not {type(value).__name__} ({short_repr(value)})")
    count = int(value)
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {short_repr(value)}")
    if (most := _MOST.get(name)) is not None and count > most:
        raise ValueError(f"{name} must be at most {most:,}, not {short_repr(value)}")
    return count


def require_flag(value: object, name: str) -> bool:
    """Return `value` if it is True or False (numpy's too); a text, a number or None raises a `TypeError`."""
    if not (isinstance(value, bool) or is_numpy(value, "bool_")):
        raise TypeError(f"{name} must be True or False, not {type(value).__name__} ({short_repr(value)})")
    return bool(value)


def is_finite(value: SupportsFloat) -> bool:
    """Return whether a number is one that a float can hold; not every whole number is."""
    with suppress(OverflowError):
        return math.isfinite(value)
    return False


def require_share(value: object, name: str) -> float:
    """Return `value` as a float in [0, 1]; otherwise raise."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number in [0, 1], not {type(value).__name__} ({short_repr(value)})")
    number: Any = value  # compared as it is: not every whole number is a float
    if not 0 <= number <= 1:
        raise ValueError(f"{name} must lie in [0, 1], not {short_repr(value)}")
    return float(value)


def require_inner_share(value: object, name: str) -> float:
    """Return `value` as a float between 0 and 1, and neither of them; otherwise raise."""
    if (share := require_share(value, name)) in (0, 1):
        raise ValueError(f"{name} must lie between 0 and 1, not {value}")
    return share


def require_option(value: object, name: str, known: Iterable[str]) -> str:
    """Return `value` if it is one of the known names; otherwise raise a `ValueError` that lists them."""
    names = list(known)
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"unknown {name} {short_repr(value)}; known: {', '.join(map(repr, names))}")
    return value


def require_options(caller: str, given: Iterable[str], known: Iterable[str]) -> None:
    """Raise a `TypeError` for an option that `caller`, "bleu" or "evaluate()", has not; it says which was meant."""
    names = list(known)
    for name in given:
        if name not in names:
            nearest = difflib.get_close_matches(str(name), names, n=1, cutoff=0.65)
            meant = f", did you mean {nearest[0]!r}?" if nearest else ";"
            listed = ", ".join(map(repr, names)) or "none"
            raise TypeError(f"{caller} has no option {short_repr(name)}{meant} known: {listed}")


def how_to_install(extra: str) -> str:
    """Return the words in which every message says how to install an extra."""
    return f"pip install -e '.[{extra}]' in your checkout"


def require_module(name: str, extra: str) -> ModuleType:
    """Import and return a module; if it is missing, raise an `ImportError` that names the extra to install.

    Only the absence of the module itself is reported so; an error inside it passes through.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != name.split(".")[0]:
            raise
        message = f"this needs the package {error.name}: {how_to_install(extra)}"
        raise ImportError(message, name=error.name) from error


Given = ParamSpec("Given")
Made = TypeVar("Made")
One = TypeVar("One")


def made_of(what: str) -> Callable[[Callable[Given, Made]], Callable[Given, Made]]:
    """Let a function that reads `what` raise a `ValueError` with a remedy for data that lack a part or its form."""

    def wrap(read: Callable[Given, Made]) -> Callable[Given, Made]:
        @functools.wraps(read)
        def call(*args: Given.args, **kwargs: Given.kwargs) -> Made:
            try:
                return read(*args, **kwargs)
            except KeyError as error:
                raise ValueError(f"this is not {what}: {error} is missing; pass what to_dict() returned") from error
            except (AttributeError, IndexError, TypeError) as error:
                raise ValueError(f"this is not {what}: {error}; pass what to_dict() returned") from error

        return call

    return wrap


def float_array(values: object, name: str) -> np.ndarray:
    """Return numbers as an array of floats; a whole number that no float can hold is a `ValueError`."""
    try:
        return np.asarray(values, dtype=np.float64)
    except OverflowError as error:
        raise ValueError(f"{name} holds a number that no float can hold: {error}") from error


class InputWarning(UserWarning):
    """Something is allowed but probably not meant, such as a path where a text belongs; the message has the remedy."""


def callers_level() -> int:
    """Return the stack level, for the caller of this function, of the first frame outside of this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("summeval_nb."):
        level, frame = level + 1, frame.f_back
    return level


LONG = 300  # characters of a text below which its length says nothing


def warn_of_order(
    sizes: Sequence[tuple[int, int]],
    *,
    judged: tuple[str, str] = ("the summary is", "summaries are"),
    beside: str = "the article",
    remedy: str,
    times: int = 2,
) -> None:
    """Warn of judged texts much longer than what they are held against: (characters of the other, of the judged).

    0 characters of the other say nothing. `judged` is what one such text, and several, are called.
    """
    found = [i for i, (other, own) in enumerate(sizes) if own > LONG and 0 < times * other < own]
    if found:
        other, own = sizes[found[0]]
        which = f"{len(found)} {judged[1]}" if len(found) > 1 else judged[0]
        place = f", first in pair {found[0]}" if len(sizes) > 1 else ""
        said = f"{which} much longer than {beside} ({own:,} characters against {other:,}{place}): {remedy}"
        warnings.warn(said, InputWarning, stacklevel=callers_level())


_ALONE = threading.RLock()  # the switch is one for the whole process


@contextmanager
def hub_only_if(download: bool) -> Iterator[dict[str, Any]]:
    """Yield the arguments for a library's `from_pretrained`; while the block runs, hubs are out of reach or not.

    `local_files_only` alone does not do: before it looks at local files, huggingface_hub 2 asks the hub for a list of
    the programs that may be calling, and sends the name of the one it recognises with every request.
    """
    from huggingface_hub import constants

    require_flag(download, "download")  # a "no" would be true
    with _ALONE:
        before = constants.HF_HUB_OFFLINE
        constants.HF_HUB_OFFLINE = before or not download
        try:
            yield {"local_files_only": not download}
        finally:
            constants.HF_HUB_OFFLINE = before


class _Course(threading.local):
    """A thread's bar, how far the work has come in its items, and where what is at hand will end."""

    bar: tqdm[Any] | None = None
    at = end = shown = 0.0

    def move(self, to: float) -> None:
        """Count the items that are done; a second without one is shown by the clock."""
        if self.bar is None:
            return
        self.at = max(self.at, to)
        done, now = math.floor(self.at + 1e-6) - self.bar.n, time.monotonic()
        if done > 0:
            self.bar.update(done)
        elif now - self.shown >= 1 and not self.bar.disable:
            self.bar.refresh()
        else:
            return
        self.shown = now


_here = _Course()


@contextmanager
def one_bar(total: int, desc: str = "", unit: str = "it", *, show: bool | None = True) -> Iterator[None]:
    """Draw a bar of `total` items for what is done within, or none, if this is a part of what has one.

    With `show=False` nothing is drawn, and nothing within draws either; None draws on a terminal only.
    """
    if _here.bar is not None:
        yield
        return
    from tqdm.auto import tqdm

    with tqdm(total=total, desc=desc or None, unit=unit, disable=None if show is None else not show) as bar:
        _here.bar, _here.at, _here.end, _here.shown = bar, 0.0, float(total), time.monotonic()
        try:
            yield
            _here.move(total)
        finally:
            _here.bar = None


@contextmanager
def _until(end: float) -> Iterator[None]:
    """What is done within moves the bar to `end`."""
    before, _here.end = _here.end, end
    try:
        yield
        _here.move(end)
    finally:
        _here.end = before


def steps(things: Iterable[One], sizes: Sequence[float] | None = None, *, total: int | None = None) -> Iterator[One]:
    """Yield things, and move the bar after each by its share of what is at hand.

    `sizes` says how much work each is; without it all are the same, `total` of them.
    """
    if _here.bar is None or _here.bar.disable:
        yield from things
        return
    if sizes is None:
        sizes = [1] * (len(things) if isinstance(things, Sized) and total is None else total or 0)
    begin, room, done, whole = _here.at, _here.end - _here.at, 0.0, sum(sizes) or 1
    for thing, size in zip(things, sizes, strict=True):
        done += size
        with _until(begin + room * done / whole):
            yield thing


class Stages:
    """The stages of a work over all items, by name with the share of the time that each usually takes.

    To enter one is to move the bar there: `with stage("read"):`. Those before it that were left out are passed by.
    """

    def __init__(self, **shares: float) -> None:
        whole = sum(shares.values()) or 1
        ends = (done / whole for done in itertools.accumulate(shares.values()))
        self._bar, begin, room = _here.bar, _here.at, _here.end - _here.at
        self._ends = {name: begin + room * end for name, end in zip(shares, ends, strict=True)}

    def __call__(self, name: str) -> AbstractContextManager[None]:
        """Enter a stage."""
        end = self._ends[name]
        moves = self._bar is not None and self._bar is _here.bar and not self._bar.disable
        return _until(end) if moves else nullcontext()


PACKAGE = Path(__file__).parents[1]

# What the field and other packages call a thing, by what it is called here. A term is a word of a name, or all of it.
_CALLED = {
    "evaluate faithfulness": "grounded groundedness hallucination hallucinations consistency factuality factual factcc "
    "factscore questeval attribution unieval",
    "NLIChecker": "nli summac minicheck alignscore hhem",
    "evaluate_answer evaluate_answers": "correctness answercorrectness factualcorrectness testcase llmtestcase sample",
    "evaluate_rag evaluate_answers": "rag ragas evaluationdataset",
    "evaluate_rag": "retrieval retrievalscores",
    "assert_faithful evaluate": "assert asserttest",
    "rate rubric_score": "geval aspect aspectcritic likert prometheus feedback rubrics",
    "answer_relevancy": "responserelevancy",
    "context_relevance": "qsrelevance",
    "embedding_score": "semantic semanticsimilarity answersimilarity moverscore",
    "correlate": "kendall kendalltau spearman spearmanr pearson pearsonr correlation",
    "krippendorff_alpha cohen_kappa": "iaa annotator annotators annotatoragreement rater raters interrater",
    "list_metrics": "modules listevaluationmodules availablemetrics",
    "load_metric": "load combine register registermetric",
    "load_summeval open_items": "loaddataset dataset datasets",
    "bertscore": "bertscorer",
    "extractiveness": "coverage density compression novel novelty repetition redundancy abstractiveness copying",
    "summarization_score": "qags questions",
    "compare_metrics paired_test": "significance bootstrap",
    "compare_systems paired_test": "pairedbootstrap pairedbs",
    "compare_systems correlate ScoreTable": "confidence interval",
    "evaluate_many evaluate_rag": "evaluatedataset",
    "evaluate_many rouge_many": "dataframe scoredataframe",
    "split_text": "senttokenize",
    "ter_score": "translationeditrate",
    "compare_answers": "pairwise arena winrate",
    "TransformersBackend": "huggingface hf",
    "ServerBackend": "openai vllm ollama llm",
}
_TERMS = {term: names.split() for names, terms in _CALLED.items() for term in terms.split()}
_LITTLE = frozenset(  # words that do not tell two names of the field apart
    "score scores scorer scoring metric metrics table sentence compute calculate get raw module llm".split()
)
_AS = {"contextual": "context", "response": "answer", "faithful": "faithfulness", "retrieved": "context"}
_MOST_NAMES = 3  # names that an error lists


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a part from its stub; `missing` answers an unknown name."""
    import lazy_loader

    named, listing, names = lazy_loader.attach_stub(package, file)

    def find(name: str) -> object:
        try:
            return named(name)
        except AttributeError:
            raise missing(package, name) from None

    return find, listing, names


def parts() -> dict[str, str]:
    """Return the part of every public name."""
    found: dict[str, str] = {}
    for stub in sorted(PACKAGE.glob("*/__init__.pyi")):
        part = stub.parent.name
        found |= dict.fromkeys(import_module(f"summeval_nb.{part}").__all__, part)
    return found


def missing(package: str, name: str) -> AttributeError | ImportError:
    """Return the error for a name that a package has not: it says where the name is, or which are near.

    It is an AttributeError, which `hasattr` understands. In `from package import name` it is an ImportError, since
    Python would put its own words in the place of the other.

    >>> print(missing("summeval_nb", "split_units"))
    split_units is in summeval_nb.text: from summeval_nb.text import split_units
    >>> print(missing("summeval_nb", "bleu"))
    module 'summeval_nb' has no attribute 'bleu'; did you mean bleu_score or corpus_bleu?
    """
    importing = sys._getframe(2).f_code.co_name == "_handle_fromlist"  # of the caller, a package's `__getattr__`
    kind = ImportError if importing else AttributeError
    error = f"module {package!r} has no attribute {name!r}"
    if importing and find_spec(f"{package}.{name}"):  # a module: Python asks here first, and then finds it
        return AttributeError(error)
    if name.startswith("_"):
        return kind(error)
    known = dict.fromkeys(top := import_module("summeval_nb").__all__, "") | parts()
    if name in known:
        return kind(f"{name} is in summeval_nb.{known[name]}: from summeval_nb.{known[name]} import {name}")
    # what is drawn for a lesson is meant by nobody who asks for a metric
    pool = [word for word, part in known.items() if part != "teaching" or name.startswith("play")]
    here = import_module(package).__all__
    places = {word: "summeval_nb." + (f"{part}." if word not in top else "") for word, part in known.items()}
    near = suggest(name, pool, first=top)
    shown = [word if word in here else places[word] + word for word in near]
    if shown:
        error += f"; did you mean {' or '.join(filter(None, [', '.join(shown[:-1]), shown[-1]]))}?"
    return kind(error)


def suggest(name: str, known: Iterable[str], *, first: Iterable[str] = ()) -> list[str]:
    """Return the known names that somebody may have meant by another, likeliest first, three at most.

    What only differs in case and signs comes first, then the field's other terms for it, then names that share words
    with it, then what is spelled alike. Of names that are equally near, those in `first` hide the others.

    Examples
    --------
    >>> suggest("rouge-l", ["rouge", "rougeL", "bleu"]), suggest("Groundedness", ["bleu", "faithfulness"])
    (['rougeL'], ['faithfulness'])
    """
    words, listed, top = _words(name), list(known), set(first)
    plain = "".join(words)
    if same := [other for other in listed if "".join(_words(other)) == plain]:
        return ([other for other in same if other in top] or same)[:_MOST_NAMES]
    if meant := [other for other in _TERMS.get(plain, ()) if other in listed]:
        return meant
    alike = {other.casefold(): other for other in reversed(listed)}
    slips = [alike[other] for other in difflib.get_close_matches(name.casefold(), alike, n=3, cutoff=0.9)]
    if slips:
        return ([other for other in slips if other in top] or slips)[:1]
    shares = {other: _shared(words, _words(other)) for other in listed}
    best = max(shares.values(), default=0.0)
    if best < 1 and (meant := [other for word in words for other in _TERMS.get(word, ()) if other in listed]):
        return list(dict.fromkeys(meant))[:_MOST_NAMES]
    if best >= 0.3:
        likeness = {other: (shares[other], difflib.SequenceMatcher(None, name, other).ratio()) for other in listed}
        found = sorted((other for other in listed if shares[other] >= best / 2), key=likeness.__getitem__, reverse=True)
        leading = [other for other in found if other in top]
        if leading and shares[leading[0]] >= best:
            found = leading
        return [other for other in found if shares[other] == best or other in top][:_MOST_NAMES]
    return [alike[other] for other in difflib.get_close_matches(name.casefold(), alike, n=1)]


def _words(name: str) -> list[str]:
    """The words of a name in any style, in lower case: `BERTScorer` has two."""
    return [word.casefold() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+|\d+", name)]


def _shared(words: list[str], others: list[str]) -> float:
    """The share of the telling words of two names that both have, spelled alike."""
    left, right = _telling(words) or words, _telling(others)
    pairs = [word for word in left if difflib.get_close_matches(word, right, n=1, cutoff=0.8)]
    total = len(left) + len(right) - len(pairs)
    return len(pairs) / total if total else 0.0


def _telling(words: list[str]) -> list[str]:
    named = [_AS.get(word, word) for word in words]
    return list(dict.fromkeys(word for word in named if word not in _LITTLE))
