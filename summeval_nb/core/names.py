"""Where a public name is to be had, and which was probably meant where there is none of that name."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

__all__ = ["attach", "missing", "suggest"]

PACKAGE = Path(__file__).parents[1]

# What the field and other packages call a thing, by what it is called here. A term is a word of a name, or all of it.
_CALLED = {
    "faithfulness": "grounded groundedness hallucination hallucinations consistency factuality factual factcc "
    "factscore questeval attribution unieval",
    "NLIChecker": "nli summac minicheck alignscore hhem",
    "evaluate_answer evaluate_answers": "correctness answercorrectness factualcorrectness testcase llmtestcase sample",
    "evaluate_rag evaluate_answers": "rag ragas evaluationdataset",
    "evaluate_rag": "retrieval retrievalscores",
    "assert_faithful evaluate": "assert asserttest",
    "rate RubricMetric": "geval aspect aspectcritic likert prometheus feedback rubrics",
    "AnswerRelevancyMetric answer_relevancy": "responserelevancy",
    "context_relevance": "qsrelevance",
    "EmbeddingMetric": "semantic semanticsimilarity answersimilarity moverscore",
    "correlate": "kendall kendalltau spearman spearmanr pearson pearsonr correlation",
    "krippendorff_alpha cohen_kappa": "iaa annotator annotators annotatoragreement rater raters interrater",
    "list_metrics": "modules listevaluationmodules availablemetrics",
    "load_metric": "load combine",
    "load_summeval open_items": "loaddataset dataset datasets",
    "bertscore": "bertscorer",
    "extractiveness": "coverage density compression novel novelty repetition redundancy abstractiveness copying",
    "summarization_score": "qags questions",
    "compare_metrics paired_test": "significance bootstrap",
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
_MOST = 3  # names that an error lists


def attach(package: str, file: str) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a part from its stub; an unknown name is answered as `missing`
    does."""
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
    >>> suggest("rouge-l", ["rouge", "rougeL", "bleu"])
    ['rougeL']
    >>> suggest("Groundedness", ["bleu", "faithfulness"])
    ['faithfulness']
    """
    words, listed, top = _words(name), list(known), set(first)
    plain = "".join(words)
    if same := [other for other in listed if "".join(_words(other)) == plain]:
        return ([other for other in same if other in top] or same)[:_MOST]
    if meant := [other for other in _TERMS.get(plain, ()) if other in listed]:
        return meant
    alike = {other.casefold(): other for other in reversed(listed)}
    slips = [alike[other] for other in difflib.get_close_matches(name.casefold(), alike, n=3, cutoff=0.9)]
    if slips:
        return ([other for other in slips if other in top] or slips)[:1]
    shares = {other: _shared(words, _words(other)) for other in listed}
    best = max(shares.values(), default=0.0)
    if best < 1 and (meant := [other for word in words for other in _TERMS.get(word, ()) if other in listed]):
        return list(dict.fromkeys(meant))[:_MOST]
    if best >= 0.3:
        likeness = {other: (shares[other], difflib.SequenceMatcher(None, name, other).ratio()) for other in listed}
        found = sorted((other for other in listed if shares[other] >= best / 2), key=likeness.__getitem__, reverse=True)
        leading = [other for other in found if other in top]
        if leading and shares[leading[0]] >= best:
            found = leading
        return [other for other in found if shares[other] == best or other in top][:_MOST]
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
