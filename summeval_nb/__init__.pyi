"""What most people type: one line a name, imported when first used. The rest is in the parts.

Calls over many texts come from their part, whose stub knows their options.
"""

from . import core as core
from . import text as text
from . import models as models
from . import overlap as overlap
from . import evidence as evidence
from . import judged as judged
from . import agreement as agreement
from . import runs as runs
from . import teaching as teaching
from .text.embed import sentence2embedding as sentence2embedding
from .text.similarity import cosine_similarity as cosine_similarity
from .text.similarity import topk_related as topk_related
from .core.metric import Metric as Metric
from .core.results import Score as Score
from .core.results import Verdict as Verdict
from .core.data import load_summeval as load_summeval
from .core.data import sample_articles as sample_articles
from .agreement.annotators import correct_score as correct_score
from .agreement.correlation import correlate as correlate
from .agreement.annotators import cohen_kappa as cohen_kappa
from .agreement.annotators import krippendorff_alpha as krippendorff_alpha
from .agreement.tables import summeval_task as summeval_task
from .agreement.correlation import compare_metrics as compare_metrics
from .agreement.tables import compare_systems as compare_systems
from .agreement.registry import list_metrics as list_metrics
from .agreement.registry import load_metric as load_metric
from .agreement.tables import metric_table as metric_table
from .agreement.card import metric_card as metric_card
from .models.store import Store as Store
from .models.base import ScriptedBackend as ScriptedBackend
from .models.local import TransformersBackend as TransformersBackend
from .models.server import ServerBackend as ServerBackend
from .evidence.base import Checker as Checker
from .evidence.builtin import EmbeddedChecker as EmbeddedChecker
from .evidence.model_checkers import NLIChecker as NLIChecker
from .evidence.faithfulness import Faithfulness as Faithfulness
from .evidence.model_checkers import LLMChecker as LLMChecker
from .overlap.translation import bleu_score as bleu_score
from .overlap import corpus_bleu as corpus_bleu
from .evidence.faithfulness import assert_faithful as assert_faithful
from .evidence.faithfulness import checker as checker
from .evidence.faithfulness import evaluate as evaluate
from .evidence import evaluate_many as evaluate_many
from .agreement.bench import benchmark_checker as benchmark_checker
from .overlap.rouge import calculate_rouge as calculate_rouge
from .overlap.rouge import calculate_rouge_l as calculate_rouge_l
from .overlap import rouge_many as rouge_many
from .overlap.rouge import rouge_score as rouge_score
from .overlap.identify import identify_score as identify_score
from .overlap.translation import chrf_score as chrf_score
from .overlap import corpus_chrf as corpus_chrf
from .overlap import corpus_ter as corpus_ter
from .overlap.translation import ter_score as ter_score
from .overlap.alignment import bertscore as bertscore
from .overlap.alignment import meteor_score as meteor_score
from .text.split import split_text as split_text
from .judged.answers import evaluate_answer as evaluate_answer
from .judged import evaluate_answers as evaluate_answers
from .judged.rag import evaluate_rag as evaluate_rag
from .judged.citations import check_citations as check_citations
from .judged.summary_score import summarization_score as summarization_score
from .judged.grading import rate as rate
from .judged.grading import compare_answers as compare_answers
from .runs.report import compare_runs as compare_runs
from .runs.running import run as run

__version__: str
