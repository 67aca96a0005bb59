"""The public names of this part: one line a name, imported when first used."""

import collections.abc as _abc
import typing as _typing

import summeval_nb.core.results as _results

from .annotators import Agreement as Agreement
from .annotators import CorrectedScore as CorrectedScore
from .annotators import Labelling as Labelling
from .annotators import cohen_kappa as cohen_kappa
from .annotators import correct_score as correct_score
from .annotators import draw_items as draw_items
from .annotators import fleiss_kappa as fleiss_kappa
from .annotators import krippendorff_alpha as krippendorff_alpha
from .annotators import label_items as label_items
from .annotators import labels_needed as labels_needed
from .annotators import read_labels as read_labels
from .annotators import record_label as record_label
from .bench import Bench as Bench
from .bench import benchmark_checker as benchmark_checker
from .bench import benchmark_judge as benchmark_judge
from .bench import load_labelled as load_labelled
from .card import MetricCard as MetricCard
from .card import metric_card as metric_card
from .correction import rogan_gladen as rogan_gladen
from .correlation import Correlation as Correlation
from .correlation import MetricComparisons as MetricComparisons
from .correlation import PairedTest as PairedTest
from .correlation import PairwiseAccuracy as PairwiseAccuracy
from .correlation import compare_metrics as compare_metrics
from .correlation import correlate as correlate
from .correlation import paired_test as paired_test
from .correlation import pairwise_accuracy as pairwise_accuracy
from .disagreement import metric_ceiling as metric_ceiling
from .metrics import embedding_score as embedding_score
from .metrics import length_score as length_score
from .permutation import adjust_p_values as adjust_p_values
from .registry import METRICS as METRICS
from .registry import MetricList as MetricList
from .registry import list_metrics as list_metrics
from .registry import load_metric as load_metric
from .tables import MetricTable as MetricTable
from .tables import SummEvalResult as SummEvalResult
from .tables import SystemComparisons as SystemComparisons
from .tables import compare_systems as compare_systems
from .tables import metric_scores as metric_scores
from .tables import metric_table as metric_table
from .tables import reference_similarities as reference_similarities
from .tables import summeval_scores as summeval_scores
from .tables import summeval_task as summeval_task

if not _typing.TYPE_CHECKING:
    from .metrics import embedding_many as embedding_many
    from .metrics import length_many as length_many

def embedding_many(
    candidates: _typing.Any,
    references: _abc.Iterable[_typing.Any] | None = ...,
    *,
    embedder: _typing.Any = ...,
    progress: bool | None = ...,
) -> _results.ScoreTable[_typing.Any]: ...
def length_many(candidates: _typing.Any, *, progress: bool | None = ...) -> _results.ScoreTable[_typing.Any]: ...
