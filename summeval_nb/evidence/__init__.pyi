"""The public names of this part: one line a name, imported when first used."""

import collections.abc as _abc
import typing as _typing

import summeval_nb.core.results as _results

from .base import Checker as Checker
from .base import PairVectors as PairVectors
from .builtin import EmbeddedChecker as EmbeddedChecker
from .builtin import WordsChecker as WordsChecker
from .claims import Claim as Claim
from .faithfulness import Faithfulness as Faithfulness
from .faithfulness import ReportComparison as ReportComparison
from .faithfulness import assert_faithful as assert_faithful
from .faithfulness import checker as checker
from .faithfulness import compare_reports as compare_reports
from .faithfulness import evaluate as evaluate
from .faithfulness import faithfulness_from_dict as faithfulness_from_dict
from .guarantee import Guarantee as Guarantee
from .guarantee import Reliability as Reliability
from .guarantee import guarantee_thresholds as guarantee_thresholds
from .guarantee import guaranteed_threshold as guaranteed_threshold
from .guarantee import reliability as reliability
from .labelled import LabelledSentence as LabelledSentence
from .labelled import bench_sentences as bench_sentences
from .labelled import everyday_sentences as everyday_sentences
from .labelled import nli_recipe as nli_recipe
from .model_checkers import ClaimFinder as ClaimFinder
from .model_checkers import LLMChecker as LLMChecker
from .model_checkers import NLIChecker as NLIChecker
from .model_checkers import load_checker as load_checker
from .promise import accepted_needed as accepted_needed
from .promise import error_bound as error_bound

if not _typing.TYPE_CHECKING:
    from .faithfulness import evaluate_many as evaluate_many

def evaluate_many(
    texts: _typing.Any,
    summaries: _abc.Iterable[_typing.Any] | None = ...,
    k: int | None = ...,
    *,
    splitter: _typing.Any = ...,
    embedder: _typing.Any = ...,
    checker: str | Checker = ...,
    judge: str | Checker | None = ...,
    threshold: float | None = ...,
    store: _typing.Any = ...,
    lang: str | None = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[Faithfulness]: ...
