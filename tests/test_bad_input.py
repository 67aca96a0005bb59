"""One table decides: what every public function does with bad or strange input.

Strange *text* works as documented and never gives NaN. What is not text, and arrays and counts that make no sense,
raise an error that names the argument.
"""

import json
import math
import re
import warnings
from functools import cache

import numpy as np
import pytest
from helpers.late import Late

import summeval_nb as s
from summeval_nb import agreement, evidence, judged, overlap, teaching
from summeval_nb.core.metric import score_rows
from summeval_nb.core.results import ScoreTable, Signature
from summeval_nb.overlap import ngrams, rouge, tokens

pd = Late("pandas")
ARTICLE = "The bridge opened in 1931. It is 1,149 metres long."

STRANGE_TEXTS = {
    "empty": "", "white space": " \t\r\n\u00a0\u2003 ",
    "lone surrogates": "half \ud83d a \udc00 character. And more.", "NUL": "before\x00after. And more.",
    "emoji": "👩‍👩‍👧‍👦 laughed 😂. They left 🚗💨.", "right to left": "ذهب الولد إلى المدرسة. عاد في المساء.",
    "Chinese": "桥于一九三一年开放。它很长。", "combining marks": "Zoe\u0301 left a" + "\u0301" * 50,
    "controls": "\x1b[2J\x07 bell.", "punctuation": "... !!! ??? ---", "one character": "a",
    "CRLF": "One line.\r\nAnother line.\r\n\r\nA paragraph.", "html": "<script>alert('x')</script> & more.",
}  # fmt: skip


def checker_or_refusal(evidence, claim):
    """`checker` returns a bool, so it has no room for "not judged": a claim without a word is an error there."""
    if isinstance(claim, str) and not any(character.isalnum() for character in claim):
        with pytest.raises(ValueError, match="holds no word"):
            s.checker(evidence, claim)
    elif not (evidence[0] + claim).isascii() and any(is_unread(text) for text in (evidence[0], claim)):
        with pytest.raises(ValueError, match="no verdict on .* in (Chinese|Arabic)"):
            s.checker(evidence, claim)
    else:
        return s.checker(evidence, claim)
    return None


def is_unread(text):
    """Whether most letters are of a script that an English model does not read."""
    letters = [character for character in text if character.isalpha()]
    return sum(ord(character) > 0x5FF for character in letters) > len(letters) / 2


TEXT_FUNCTIONS = {
    "split_text": s.split_text,
    "split_sentences": s.text.split_sentences,
    "split_units": s.text.split_units,
    "split_claims": s.text.split_claims,
    "sentence2embedding": lambda text: s.sentence2embedding([text]),
    "checker claim": lambda text: checker_or_refusal([ARTICLE], text),
    "checker evidence": lambda text: checker_or_refusal([text], ARTICLE),
    "evaluate article": lambda text: s.evaluate(text, ARTICLE),
    "evaluate summary": lambda text: s.evaluate(ARTICLE, text),
    "evaluate answer": lambda text: s.evaluate_answer(ARTICLE, "When?", "In 1931.", text),
}


def plain_of(value):
    """A result as JSON may say it."""
    return value.to_dict() if hasattr(value, "to_dict") else getattr(value, "tolist", lambda: str(value))()


@pytest.mark.parametrize("function", TEXT_FUNCTIONS.values(), ids=TEXT_FUNCTIONS.keys())
def test_strange_text_works_and_what_is_no_text_is_named(function):
    for text in STRANGE_TEXTS.values():
        json.dumps(function(text), default=plain_of, allow_nan=False)
    for value in (None, b"bytes", 7, math.nan, {"a": 1}, ["a", "list"]):
        with pytest.raises(TypeError, match=type(value).__name__):
            function(value)


def test_reports_of_strange_text_can_be_written(tmp_path):
    for text in STRANGE_TEXTS.values():
        result = s.evaluate(ARTICLE + " " + text, "It opened in 1931. " + text)
        page = result.to_html(tmp_path / "report.html").read_text(encoding="utf-8")
        assert "<script" not in page
        json.loads(json.dumps(result.to_dict()))
        assert not any(c in result.to_text() for c in "\x00\x1b\x07")


HUGE, UNHELD = 10**400, "holds a number that no float can hold"
TWO, EITHER, NAN = [[1, 2]], (TypeError, ValueError), math.nan
TOY = s.core.load_toy_summeval()
YES = s.ScriptedBackend(lambda prompt: "yes")
PERL = {"stemmer": True, "compat": "rouge-1.5.5"}


@cache
def plain():
    return s.evaluate("It rained.", "It rained.").to_dict()


def again(**changes):
    """A result read back from plain data of which something was changed."""
    return evidence.faithfulness_from_dict(plain() | changes)


def blue(**options):
    return s.bleu_score("a", "b", **options)


def red(**options):
    return s.rouge_score("a", "b", **options)


def corr(**options):
    return s.correlate(TWO, TWO, **options)


def paired(*tables, **options):
    return agreement.paired_test(*(tables or (TWO,) * 3), **options)


def kappa(first=(1, 2), second=(1, 2), **options):
    return s.cohen_kappa(list(first), list(second), **options)


def alpha(ratings, level):
    return s.krippendorff_alpha(ratings, level=level)


def in_table(metrics):
    return agreement.metric_scores(TOY, metrics)


def systems(outputs=(("a", ["x"]),), references=("x",), **options):
    return s.compare_systems(dict(outputs), references and list(references), **options)


def cut(spans):
    return s.text.split_sentences("One. Two.", splitter=lambda text: spans)


def embedded(embedder, texts=("a",), **options):
    return s.sentence2embedding(list(texts), embedder=embedder, **options)


def meteor(**options):
    return s.load_metric("meteor", **{"synonyms": None} | options)


def rated(**options):
    return s.rate(ARTICLE, ARTICLE, **{"quality": "fluency", "judge": YES} | options)


def pairwise(**options):
    return agreement.pairwise_accuracy(TWO, TWO, **options)


def threshold(probabilities=(0.9, 0.8), labels=(1, 0), groups=None, **options):
    return evidence.guaranteed_threshold(probabilities, labels, groups, **options)


def labelled(**cells):
    return evidence.guarantee_thresholds([{"sentence": "s", "label": 1} | cells], "words")


def bench(judge, sets="pairs", **options):
    return agreement.benchmark_judge(judge, sets, **options)


class Answers:
    """A metric of somebody's that inherits nothing, and answers always the same."""

    columns = {"candidate": "text"}

    def __init__(self, answer):
        self.answer = answer

    def score_many(self, candidates):
        return self.answer


class Tokenizer:
    name_or_path = "some/model"

    def tokenize(self, text):
        return text.split()


def len_of(candidate: str) -> int:
    return len(candidate)


UNMARKED = type("NoMark", (), {"encode": lambda self, s: s})()
TWO_TABLES = {"a": np.eye(3), "b": np.ones((3, 3))}
LABEL = evidence.LabelledSentence("a", "b", 1)
TWICE = [("a", ["x"]), ("b", ["x", "y"])]
VOTE = {"question": "q", "system": "x", "answer": "a"}

# a call, the error, a word of its message
WRONG = [
    # of core, and of what is called by name
    (lambda: s.core.Signature(None), TypeError, "parts must map"),
    (lambda: ScoreTable(signature=Signature({})), TypeError, "a table needs results, or arrays"),
    (lambda: s.Metric(None), TypeError, "made of a function such as"),
    (lambda: s.load_metric("blue"), ValueError, r"unknown metric 'blue', did you mean 'bleu'\? known: 'length'"),
    (lambda: agreement.METRICS["blue"], KeyError, r"unknown metric 'blue', did you mean 'bleu'\? known"),
    (lambda: agreement.METRICS["rating"], TypeError, "rating needs judge: give them as options, judge=..."),
    (lambda: s.load_metric("bleu", order=2), TypeError, "bleu has no option 'order'; known: 'n', 'tokenize'"),
    (lambda: s.load_metric(s.load_metric("bleu"), n=2), ValueError, "give yours when you make it"),
    (lambda: s.load_metric(s.Metric), TypeError, r"the class Metric: make one, Metric\(\)"),
    (lambda: s.load_metric(3), TypeError, "must be a metric, not int"),
    (lambda: s.load_metric("chrf", word_order=-1), ValueError, "word_order must be at least 0"),
    (lambda: s.load_metric("length").score("a", "b"), TypeError, "length reads candidate: 1 of 2 values"),
    (lambda: s.load_metric("bleu")(["a"], ["a"], progres=False), TypeError, "progres"),
    (lambda: s.load_metric("bleu").score(["a", "b"], "c"), TypeError, "look swapped"),
    (lambda: s.load_metric("chrf").score_many(["a"], ["b", "c"]), ValueError, "one entry per candidate"),
    (lambda: s.load_metric("faithfulness").score_many(["a"], []), ValueError, "repeat an article for each"),
    (lambda: s.load_metric("answers").score_many("a", ["b"], ["c"], ["d"]), TypeError, "for one text call score"),
    (lambda: score_rows(Answers([1.0]), [{"candidate": "a"}] * 2), ValueError, "gave 1 scores for 2 rows"),
    (lambda: score_rows(Answers("ab"), [{"candidate": "a"}]), TypeError, "must return a ScoreTable or a list, not str"),
    (lambda: s.run([], s.Metric, out="x"), TypeError, r"a Metric such as load_metric\('bleu'\)"),
    (lambda: s.run([], s.load_metric("bleu"), out="x", options={"n": 2}), ValueError, "bleu has its own options"),
    (lambda: s.run([], "rouge", out="x", columns={"hypothesis": "a"}), ValueError, "unknown column of rouge"),
    (lambda: s.runs.plan_run([], "bleu", sample=1), ValueError, "sample must be at least 2"),
    (lambda: s.load_summeval("half \ud83d.jsonl"), ValueError, "half a character"),
    (lambda: s.Store("half \ud83d.sqlite"), ValueError, "half a character"),
    # of n-grams and tokenizers
    (lambda: tokens.load_tokenizer("14a"), ValueError, "known: 'none', '13a'"),
    (lambda: tokens.load_tokenizer(3), TypeError, "not int"),
    (lambda: tokens.load_tokenizer(str.lower)("text"), TypeError, "list of tokens, not str"),
    (lambda: tokens.load_tokenizer(lambda text: [[text]])("text"), TypeError, "hashable"),
    (lambda: tokens.load_tokenizer("13a")(["a"]), TypeError, "not list"),
    (lambda: tokens.load_tokenizer(Tokenizer()), TypeError, r"Tokenizer\.tokenize"),
    (lambda: tokens.rouge_tokenizer(**PERL, exceptions=["a"]), TypeError, "mapping"),
    (lambda: tokens.porter_stem("word", "snowball"), ValueError, "known"),
    (lambda: ngrams.list_ngrams("the cat", 2), TypeError, "characters"),
    (lambda: ngrams.list_ngrams(["a"], 0), ValueError, "at least 1"),
    (lambda: ngrams.clipped_counts(["a"], []), ValueError, "at least one reference"),
    # of ROUGE
    (lambda: red(types=["rouge0"]), ValueError, "known: 'rouge1'"),
    (lambda: red(types="rouge1"), TypeError, "list of names"),
    (lambda: red(multi="max"), ValueError, "known: 'best', 'best_recall', 'average', 'pooled'"),
    (lambda: red(compat="perl"), ValueError, "known: 'google', 'rouge-1.5.5'"),
    (lambda: red(tokenizer=str.split, stemmer=True), ValueError, "stem inside it"),
    (lambda: red(exceptions={}), ValueError, "rouge-1.5.5"),
    *((lambda weight=weight: red(weight=weight), ValueError, "weight") for weight in (0, NAN, "2")),
    (lambda: red(types=["rouge1"])["rouge3"], KeyError, "computed: rouge1"),
    (lambda: red().explain("rouge3"), ValueError, "unknown type"),
    (lambda: red().explain(reference=1), ValueError, "number of a reference"),
    (lambda: float(red()), ValueError, "several types"),
    (lambda: red(types=["rouge1", "rouge2"]) > 0.5, ValueError, "rouge1, rouge2"),
    (lambda: s.rouge_many(["a"], ["b"], types=["rouge1"])["rouge2_f1"], ValueError, "unknown number 'rouge2_f1'"),
    (lambda: s.rouge_many([], []), ValueError, "no text to score"),
    (lambda: rouge.calculate_rouge("a", "b", 0), ValueError, "n must be at least 1"),
    (lambda: rouge.calculate_rouge(["a"], "b"), TypeError, "reference must be a string"),
    (lambda: rouge.calculate_rouge_l("a", None), TypeError, "generated must be a string"),
    (lambda: overlap.lcs_length(1, [2]), TypeError, "x must be a sequence"),
    (lambda: red(stemmer="german", compat="rouge-1.5.5"), ValueError, "needs compat='google'"),
    (lambda: red(stemmer="German"), TypeError, "True or False, or the name of a language"),
    # of BLEU, chrF, TER and METEOR
    (lambda: s.bleu_score("a", "b", 2.0), TypeError, "whole number"),
    (lambda: s.bleu_score("a", "a", 10**9), ValueError, "n must be at most 100"),
    (lambda: blue(smooth="laplace"), ValueError, "known: 'exp', 'floor', 'add-k', 'none'"),
    (lambda: blue(tokenize="flores"), ValueError, "known: 'none', '13a'.*'zh'.*'flores200'"),
    (lambda: blue(tokenize=str.upper), TypeError, "list of tokens"),
    (lambda: blue(smooth_value=1), ValueError, "takes none"),
    (lambda: blue(smooth="add-k", smooth_value=HUGE), ValueError, "smooth_value must be a finite number"),
    (lambda: blue().interval(), ValueError, "at least two texts"),
    (lambda: blue().explain(n=0), ValueError, "n must be at least 1"),
    (lambda: s.corpus_bleu(["a", "b"], ["a", "b"]).interval(confidence=1), ValueError, "between 0 and 1"),
    (lambda: s.corpus_bleu(["a", "b"], ["a", "b"]).interval(n_resamples=1), ValueError, "n_resamples"),
    (lambda: s.chrf_score("a", "a", beta=-1), ValueError, "between 0 and 1000"),
    (lambda: overlap.chrf_many(["a"], ["a"], beta=NAN), ValueError, "between 0 and 1000"),
    (lambda: s.chrf_score("a", "a", beta="2"), TypeError, "must be a number"),
    (lambda: overlap.chrf_many(["a"], ["a"], word_order=101), ValueError, "at most 100"),
    (lambda: s.chrf_score("a", "a", lowercase=1), TypeError, "True or False"),
    (lambda: s.ter_score("a", "a", normalized="yes"), TypeError, "True or False"),
    (lambda: blue(effective_order="no"), TypeError, "effective_order must be True or False, not str"),
    (lambda: s.corpus_bleu(["a"], ["a"], lowercase="no"), TypeError, "lowercase must be True or False, not str"),
    (lambda: meteor(alpha=2), ValueError, "alpha must lie between"),
    (lambda: s.meteor_score("a", "a", synonyms=None, tokenize="klingon"), ValueError, "unknown tokenizer 'klingon'"),
    (lambda: meteor(synonyms={"cat": 5}), TypeError, "the synonyms of 'cat' must be a list"),
    (lambda: meteor(synonyms={"cat": ["dog", 5]}), TypeError, r"the synonyms of 'cat'\[1\] must be a string"),
    (lambda: meteor(synonyms={5: ["dog"]}), TypeError, "a word with synonyms must be a string, not int"),
    (lambda: meteor(synonyms=5), ValueError, "synonyms must be 'wordnet', None or a mapping"),
    (lambda: overlap.exact_match(None, "a"), TypeError, "NoneType"),
    # of BERTScore and vectors
    (lambda: s.bertscore("a", "a", model="bert-base-uncased"), ValueError, "nothing is downloaded"),
    (lambda: s.bertscore("a", "a", model=5), TypeError, r"model must be 'minilm' or a folder, not int \(5\)"),
    (lambda: s.bertscore("a", "a", layer=7), ValueError, "at most 6"),
    (lambda: s.bertscore("a", "a", layer=-1), ValueError, "at least 0"),
    (lambda: s.bertscore("a", "a", baseline=1), ValueError, "below 1"),
    (lambda: s.bertscore("a", "a", idf="yes"), TypeError, "True or False"),
    (lambda: s.sentence2embedding("one text"), TypeError, "wrap one text in a list"),
    (lambda: s.sentence2embedding([b"bytes"]), TypeError, r"sentences\[0\].*decode"),
    (lambda: embedded(None), TypeError, "not NoneType"),
    (lambda: embedded("  "), ValueError, "must not be empty"),
    (lambda: embedded(Tokenizer), TypeError, "pass an instance"),
    (lambda: embedded(UNMARKED), TypeError, "needs a fingerprint"),
    *((lambda n=n: embedded("minilm", batch_size=n), EITHER, "batch_size") for n in (0, True, 2.0)),
    *((lambda n=n: s.text.MiniLMEmbedder(n_threads=n), EITHER, "n_threads") for n in (0, -1, True, 1.5)),
    # of a printed number
    (lambda: s.identify_score("forty", ["a"], ["a"]), ValueError, "value must be"),
    (lambda: s.identify_score("nan", ["a"], ["a"]), ValueError, "value must be"),
    (lambda: s.identify_score(True, ["a"], ["a"]), TypeError, "printed number"),
    (lambda: s.identify_score(1, [], []), ValueError, "candidates is empty"),
    (lambda: s.identify_score(1, ["a"], ["a"], metrics=["meteor"]), ValueError, "metrics"),
    (lambda: s.identify_score(1, ["a"], ["a"], metrics="bleu"), TypeError, "list of names"),
    # of metrics in a table, and of systems
    (lambda: agreement.metric_scores(object(), ["length"]), TypeError, "data must be a SummEval"),
    (lambda: s.metric_table([["a"]], ["bleu"]), TypeError, "data must be a SummEval"),
    (lambda: s.metric_table(TOY, ["rouge1"], rank="no"), TypeError, "rank must be True or False"),
    (lambda: in_table(s.load_metric("bleu")), TypeError, "wrap a single one in a list"),
    (lambda: in_table(["answers"]), ValueError, "reads question, ground_truth, answer"),
    (lambda: in_table(["bleu", s.load_metric("bleu", n=2)]), ValueError, "names one twice"),
    (lambda: in_table([len_of, len_of]), ValueError, "names one twice"),
    (lambda: in_table(["rouge9"]), ValueError, "'length', 'bleu'"),
    (lambda: in_table([]), ValueError, "empty"),
    (lambda: in_table({"t": np.zeros((8, 3))}), ValueError, r"\(8, 3\), the data \(8, 4\)"),
    (lambda: in_table({"text": lambda summary: "good"}), ValueError, "the metric returned str, not a number"),
    (lambda: in_table({"odd": lambda verse: 1.0}), ValueError, "'odd' reads verse, which a SummEval has not"),
    (lambda: in_table({"nan": lambda summary: NAN}), ValueError, "returned nan"),
    (lambda: agreement.summeval_scores(None, None), TypeError, "tables must map"),
    (lambda: agreement.summeval_scores({"cosine": np.ones((2, 3))}, np.ones((2, 4))), ValueError, "the same shape"),
    (lambda: agreement.summeval_scores({"cosine": np.ones((2, 3))}, np.eye(3)[:2], main="dot"), ValueError, "main"),
    (lambda: agreement.reference_similarities(HUGE, [[[1.0]]]), ValueError, f"machine {UNHELD}"),
    (lambda: agreement.reference_similarities([[[1.0]]], [[[HUGE]]]), ValueError, f"human {UNHELD}"),
    (lambda: s.compare_systems(["a"], ["a"]), TypeError, "must map names"),
    (lambda: systems(()), ValueError, "at least one system"),
    (lambda: systems(TWICE, metrics=["bleu"]), ValueError, "2"),
    (lambda: systems(TWICE, None, metrics=[len_of]), ValueError, "2 of 'b'"),
    (lambda: systems(baseline="b"), ValueError, "baseline"),
    (lambda: systems(references=None, metrics=["bleu"]), ValueError, "give references="),
    (lambda: systems(metrics=["faithfulness"]), ValueError, "give texts="),
    (lambda: systems(metrics="bleu"), ValueError, "list"),
    (lambda: judged.mrr(["a", "a"], ["a"]), ValueError, "twice"),
    (lambda: judged.mrr("a", ["a"]), TypeError, "retrieved_context_ids"),
    (lambda: judged.mrr(["a"], ["a"], k=0), ValueError, "k"),
    # of correlations and tests
    (lambda: s.correlate([1, 2], [[1, 2]]), ValueError, r"two axes.*pass one row"),
    (lambda: s.correlate([1, 2], [1, 2, 3]), ValueError, r"same shape"),
    (lambda: s.correlate([], []), ValueError, "empty"),
    (lambda: s.correlate([[1, 2], [3]], [[1, 2], [3, 4]]), TypeError, "table of numbers"),
    (lambda: s.correlate(TWO, [[1, -np.inf]]), ValueError, r"human\[0, 1\] is infinite"),
    (lambda: s.correlate([1, 2], [1, 2], level="system"), ValueError, r"two axes.*level='pooled'.*one row"),
    (lambda: s.correlate(pd.Series([1, 2]), pd.Series([1, 2], index=[1, 0])), ValueError, "different labels.*to_numpy"),
    (lambda: corr(coefficient="tau"), ValueError, "'pearson', 'spearman', 'kendall'"),
    (lambda: corr(resample="all"), ValueError, "'both', 'articles', 'systems'"),
    (lambda: corr(level="article"), ValueError, "'summary', 'system', 'pooled'"),
    (lambda: corr(n_resamples=-1), ValueError, "n_resamples"),
    (lambda: corr(confidence=95), ValueError, "confidence"),
    (lambda: paired(n_resamples=0), ValueError, "n_resamples"),
    (lambda: paired(TWO, [[1]], TWO), ValueError, "metric_b"),
    (lambda: paired(permute="cells"), ValueError, "'each'"),
    (lambda: paired([[HUGE]], [[1]], [[1]]), TypeError, "a must be a table of numbers.*no float can hold"),
    (lambda: s.compare_metrics({}, TWO), ValueError, "at least one metric"),
    (lambda: s.compare_metrics({"a": TWO}, TWO, correction="by eye"), ValueError, "'holm'"),
    (lambda: s.compare_metrics({"a": [[1]]}, TWO), ValueError, r"'a' \(1, 1\)"),
    (lambda: s.compare_metrics(NAN, np.ones((2, 3))), TypeError, "metrics must map"),
    (lambda: s.compare_metrics(TWO_TABLES, np.eye(3), alpha=5e-324), ValueError, "alpha must"),
    (lambda: agreement.adjust_p_values([[0.1]]), ValueError, r"\[0, 1\]"),
    (lambda: agreement.adjust_p_values([0.1, HUGE]), ValueError, f"p_values {UNHELD}"),
    (lambda: pairwise(level="pooled"), ValueError, "'summary', 'system'"),
    (lambda: pairwise(epsilon="best"), ValueError, "epsilon"),
    (lambda: pairwise(epsilon=NAN), ValueError, "epsilon"),
    (lambda: pairwise(epsilon=HUGE), ValueError, f"epsilon {UNHELD}"),
    # of annotators
    (lambda: kappa([1, 2], [1]), ValueError, "must pair up, not hold 2 and 1"),
    (lambda: s.cohen_kappa("ab", "ab"), TypeError, "first must be a list"),
    (lambda: kappa(weights="cubic"), ValueError, "unknown weights 'cubic'"),
    (lambda: kappa(weights=[[0, 1]]), ValueError, "row and a column for each of the 2"),
    (lambda: kappa(weights=[[1, 1], [1, 0]]), ValueError, "0 on the diagonal"),
    (lambda: kappa("xy", "xy", weights="linear"), EITHER, "categories="),
    (lambda: kappa("xz", "xy", categories=["x", "y"]), ValueError, "'z' is not among"),
    (lambda: kappa(categories=[1, 1]), ValueError, "categories must be distinct"),
    (lambda: kappa([1, math.inf]), EITHER, r"ratings\[1\]\[0\] must be a number of ordinary size, not inf"),
    (lambda: kappa([1, "2"]), EITHER, "numbers and texts: convert"),
    (lambda: kappa([1, [2]]), TypeError, "not list"),
    (lambda: kappa(confidence=1.0), ValueError, "confidence must lie between 0 and 1"),
    (lambda: kappa(n_resamples=10**18), ValueError, "n_resamples must be at most 10,000,000"),
    (lambda: kappa(seed=-1), ValueError, "seed must be at least 0"),
    (lambda: agreement.fleiss_kappa([[1, 2], [1]]), ValueError, r"ratings\[1\] has 1 ratings, and ratings\[0\] has 2"),
    (lambda: agreement.fleiss_kappa([[1], [2]]), ValueError, "at least two raters in each row"),
    (lambda: agreement.fleiss_kappa([]), ValueError, "has no rows"),
    (lambda: agreement.fleiss_kappa([1, 2]), EITHER, r"ratings\[0\] must be a list"),
    (lambda: agreement.fleiss_kappa(np.ones(3)), EITHER, r"shape \(3,\)"),
    (lambda: agreement.fleiss_kappa([[1, 2], [1, 1]], confidence=HUGE), ValueError, "confidence must lie in"),
    (lambda: alpha([[1, 2]], "rational"), ValueError, "unknown level 'rational'"),
    (lambda: alpha([["a", "b"]], "interval"), EITHER, "needs numbers, not 'a'"),
    (lambda: alpha([["a", "b"]], "ordinal"), EITHER, "needs ratings with an order"),
    (lambda: alpha([[-1, 2]], "ratio"), EITHER, "numbers of at least 0, not -1"),
    (lambda: agreement.metric_ceiling(NAN, 3), ValueError, "at most 1, not nan"),
    (lambda: agreement.metric_ceiling("high", 3), TypeError, "alpha must be a number"),
    (lambda: agreement.metric_ceiling(0.5, 0), ValueError, "n_raters must be at least 1"),
    (lambda: s.compare_runs(np.array([1.0, 2, 1e308]), np.zeros(3)), ValueError, "numbers up to 1e100"),
    (lambda: s.compare_runs([0.1, math.inf, 0.3], [0.1, 0.2, 0.3]), ValueError, "scores must be finite numbers"),
    # of judges, checkers and models
    (lambda: judged.ask_many(3, "statements", [("It rained.",)]), TypeError, "judge must be a Judge"),
    (lambda: judged.ask_many("embedded", "statements", {"a": 1}), TypeError, "items must be a list of tuples"),
    (lambda: s.evaluate_answer(context="a", documents="b"), TypeError, "'documents' is another name of 'contexts'"),
    (lambda: judged.context_recall("a?", "a", "a", max_failed=-HUGE), ValueError, "max_failed must lie in"),
    (lambda: judged.bradley_terry([("x", "y", "x")], n_resamples=HUGE), ValueError, "n_resamples must be at most"),
    (lambda: s.LLMChecker(3), TypeError, "TransformersBackend"),
    (lambda: s.LLMChecker(YES, prompt="Is {claim} true?"), ValueError, "{evidence} once"),
    (lambda: s.LLMChecker(YES, options=("yes", "yes")), ValueError, "two different answers"),
    (lambda: s.LLMChecker(YES, threshold=1.5), ValueError, "threshold"),
    (lambda: s.LLMChecker(YES, claims="arcs"), ValueError, "parser"),
    (lambda: s.LLMChecker(YES, splitter=1), ValueError, "splitter is for"),
    (lambda: s.LLMChecker(YES, workers=0), ValueError, "workers"),
    (lambda: s.TransformersBackend("somebody/some-model"), s.models.BackendRejected, "cannot be loaded.* a folder"),
    (lambda: s.ServerBackend("m", base_url="http://x/v1", dialect="klingon"), ValueError, "unknown dialect 'klingon'"),
    (lambda: s.ServerBackend("m", base_url="http://x/v1", max_retries=-1), ValueError, "max_retries"),
    (lambda: evidence.faithfulness_from_dict({}), ValueError, "'schema' is missing"),
    (lambda: evidence.faithfulness_from_dict({"schema": 2}), ValueError, "'verdicts' is missing"),
    (lambda: again(schema=7), ValueError, "schema 7, and only 2 can be read"),
    (lambda: again(verdicts=[3]), ValueError, "not the plain data of a Faithfulness"),
    (lambda: evidence.accepted_needed(HUGE), ValueError, "errors must be at most"),
    (lambda: evidence.accepted_needed(risk=5e-324), ValueError, "risk must be at least 1e-09"),
    (lambda: evidence.error_bound([0], [HUGE]), ValueError, f"accepted {UNHELD}"),
    (lambda: s.EmbeddedChecker(threshold=0.5, offset=HUGE), ValueError, "offset finite"),
    # of words as a checker, comparisons, ratings, retrieval, coverage and pictures
    (lambda: evidence.WordsChecker().check_many("text"), TypeError, "pairs must be a list"),
    (lambda: evidence.WordsChecker().check_many([(1, 2, 3)]), TypeError, r"pairs\[0\]"),
    (lambda: evidence.WordsChecker(slope=0), ValueError, "slope"),
    (lambda: s.checker([], "It rained."), ValueError, "no evidence sentence"),
    (lambda: s.checker(["a"], "a", using=evidence.WordsChecker), TypeError, "not its class"),
    (lambda: evidence.load_checker(object()), TypeError, "lacks fingerprint, threshold, check_many"),
    (lambda: evidence.reliability([0.5], [1, 0]), ValueError, "1 and 2"),
    (lambda: evidence.reliability([0.5], [2]), ValueError, "2"),
    (lambda: evidence.reliability([1.5], [1]), ValueError, r"\[0, 1\]"),
    (lambda: evidence.reliability(["high"], [1]), TypeError, "numbers"),
    (lambda: evidence.reliability([0.5], [1], n_bins=0), ValueError, "n_bins"),
    (lambda: s.compare_answers("q", "x", None), TypeError, "b must be a string"),
    (lambda: s.compare_answers("q", "x", "y", judge=3), TypeError, "judge must be a name or a Judge"),
    (lambda: judged.compare_answers_many([{"question": "q", "a": "x"}]), ValueError, "there is no 'b'"),
    (lambda: judged.bradley_terry([]), ValueError, "no outcomes"),
    (lambda: judged.bradley_terry(["xy"]), TypeError, "must be"),
    (lambda: judged.bradley_terry([("x", "x", "x")]), ValueError, "two systems"),
    (lambda: judged.bradley_terry([("x", "y", "z")]), ValueError, "must be 'x', 'y' or 'tie', not 'z'"),
    (lambda: judged.rank_systems([VOTE]), ValueError, "two systems at least"),
    (lambda: judged.rank_systems([VOTE] * 2), ValueError, "twice"),
    (lambda: s.load_metric("rubric", rubric=" ", judge=YES), ValueError, "the rubric is empty"),
    (lambda: rated(quality="beauty"), ValueError, "unknown quality 'beauty'; known: 'coherence'"),
    (lambda: rated(scale=(1, 101)), ValueError, "within 0 and 100"),
    (lambda: rated(scale=(5, 1)), ValueError, "scale must run upwards"),
    (lambda: rated(scale="15"), TypeError, "two whole numbers"),
    *(
        (lambda n=n: rated(judge=n), ValueError, f"needed, which '{n}' is not")
        for n in ("words", "nli:FOLDER", "gpt-9")
    ),
    (lambda: judged.rate_many(["a"], ["a", "b"], quality="fluency", judge=YES), ValueError, "1 texts and 2 summ"),
    (lambda: judged.noise_sensitivity("q", [], "a", "a", noise="loud"), ValueError, "unknown noise 'loud'"),
    (lambda: s.evaluate_rag([{"question": "q"}], "context_recall"), TypeError, r'."context_recall".'),
    (lambda: s.evaluate_rag([{"question": "q"}], []), ValueError, "metrics is empty"),
    (lambda: s.evaluate_rag([{"question": "q"}], ["context_recall"]), ValueError, "there is no 'contexts'; there"),
    (lambda: judged.qa_score([]), ValueError, "at least one answer"),
    (lambda: judged.qa_score([2]), ValueError, "an answer must be 0 or 1"),
    (lambda: s.summarization_score("a", "b", coeff="half"), TypeError, "coeff"),
    (lambda: s.summarization_score("a", "b", coeff=1.5), ValueError, "coeff"),
    (lambda: s.summarization_score("a", "b", length="pages"), ValueError, "characters"),
    (lambda: teaching.play_lcs("word " * 31, "word"), ValueError, "the reference has 31 words"),
    (lambda: teaching.play_lcs("a", "b").set(step=4), ValueError, "step must be at most 3"),
    (lambda: teaching.play_evidence("It rained.", " "), ValueError, "nothing to play with: the summary is empty"),
    (lambda: teaching.play_correlation([[1, 2]]), ValueError, "at least two pairs"),
    (
        lambda: teaching.play_correlation([[1e308, 1], [-1e308, 2]]),
        ValueError,
        r"within ±1e\+100 .*at 1e\+308: rescale",
    ),
    # of one text and its summary
    (lambda: s.split_text("a", splitter="Punkt"), ValueError, "'punkt', 'stanza', 'sentencex'"),
    (lambda: s.split_text("a", splitter=None), TypeError, "splitter"),
    (lambda: s.text.split_many([None]), TypeError, "must be a string"),
    (lambda: s.text.split_many("It rained."), TypeError, r"\[text\]"),
    (lambda: cut([(0, 5), (4, 9)]), ValueError, "span 1 of the splitter is 4:9: spans must be ordered"),
    (lambda: cut([(0, 0), (0, 9)]), ValueError, "not empty"),
    (lambda: cut([(0, 4), (6, 9)]), ValueError, "'T'"),
    (lambda: cut([(0, 5)]), ValueError, r"'Two\.'"),
    (lambda: cut([(0, 4, 9)]), TypeError, "pairs of whole numbers"),
    (lambda: s.text.split_units("It rained.", max_chars=True), TypeError, "max_chars"),
    (lambda: s.text.split_units("It rained.", min_chars=-1), ValueError, "min_chars"),
    (lambda: s.text.languages_of(type("Own", (), {"languages": "en"})()), TypeError, "of Own must be a list of codes"),
    (lambda: s.LLMChecker(YES, languages="en"), TypeError, "codes such as"),
    (lambda: judged.LLMJudge(YES, languages=["English language"]), ValueError, "codes such as"),
    (lambda: s.evaluate_many(["a"], ["b", "c"]), ValueError, "there are 1 texts and 2 summaries; repeat an article"),
    (lambda: s.evaluate_many(["a"], "b"), TypeError, "summaries"),
    (lambda: s.evaluate("It rained.", "It rained.", lang={"en": 1}), TypeError, "lang must be a string"),
    (lambda: s.evaluate_many("a", ["c"]), TypeError, "texts must be a list of strings"),
    (lambda: s.text.split_units(ARTICLE, keep_lists="no"), TypeError, "keep_lists must be True or False"),
    (lambda: s.evaluate(ARTICLE, "It is long.", 0), ValueError, "k must"),
    *(
        (lambda name=name: s.evaluate(ARTICLE, "It is long.", **{name: "no-such"}), EITHER, "no-such")
        for name in ("splitter", "embedder", "checker")
    ),
    # of labelled sentences, citations and thresholds
    (lambda: s.evaluate_answer("c", "q", ["t", 3], "a"), TypeError, "must be"),
    (lambda: s.evaluate_answer(["a", None], b"q", "t", "a"), TypeError, "must be"),
    (lambda: s.evaluate_answer("c", "q", "t", "a", judge="oracle"), ValueError, "embedded"),
    (lambda: judged.check_citations("a", [1]), TypeError, "contexts"),
    (lambda: judged.check_citations("a", {1: "a"}), TypeError, "'Smith 2020'"),
    (lambda: judged.check_citations_many(["a"], []), ValueError, "pair up"),
    (lambda: judged.check_citations("a", ["a"], checkr="words"), TypeError, "checkr"),
    (lambda: agreement.metric_card("rouge1", margin=0), ValueError, "margin must lie between 0 and 1, not 0"),
    (lambda: agreement.metric_card("rouge1", limit=1), ValueError, "limit must be at least 2"),
    (lambda: agreement.metric_card("answers"), ValueError, "answers reads .*question.*, which items have not"),
    (lambda: threshold([0.9, NAN]), ValueError, r"probabilities\[1\].*nan"),
    (lambda: threshold("high"), TypeError, "probabilities must be a list"),
    (lambda: threshold(labels=[1, None]), ValueError, r"labels\[1\].*None"),
    (lambda: threshold(labels=[1]), ValueError, "2 probabilities, 1 labels"),
    (lambda: threshold(groups=["a"]), ValueError, "1 groups"),
    (lambda: threshold(groups=["a", ["b"]]), TypeError, r"groups\[1\].*\['b'\]"),
    (lambda: threshold(confidence=90), ValueError, "confidence.*90"),
    (lambda: threshold(side="unclear"), ValueError, "side.*unclear"),
    (lambda: evidence.accepted_needed(-1), ValueError, "errors"),
    (lambda: evidence.error_bound(3, 2), ValueError, "errors must lie between 0 and the number accepted: got 3 and 2"),
    (lambda: evidence.guarantee_thresholds({"sentence": "s"}, "words"), TypeError, "labelled must be a list"),
    (lambda: evidence.guarantee_thresholds(["It is."], "words"), TypeError, r"labelled\[0\] must be a mapping"),
    (lambda: labelled(), ValueError, r"labelled\[0\] needs either 'evidence'"),
    (lambda: evidence.guarantee_thresholds([{"label": 1, "article": "a"}], "words"), ValueError, "lacks 'sentence'"),
    (lambda: labelled(evidence="e"), TypeError, r"\['evidence'\] must be a list"),
    (lambda: labelled(evidence=[]), ValueError, "no evidence sentence"),
    (lambda: labelled(article=7), TypeError, r"\['article'\] must be a string"),
    (lambda: labelled(article="a", label=0.5), ValueError, r"\['label'\].*0.5"),
    (lambda: bench("oracle"), ValueError, "unknown judge 'oracle'"),
    (lambda: bench(3), TypeError, "judge must be a name or a Judge"),
    (lambda: bench({}), ValueError, "judge is empty"),
    (lambda: bench("words", "everything"), ValueError, "unknown set 'everything'"),
    (lambda: bench("words", []), TypeError, "sets must be names"),
    (lambda: bench("words", {}), ValueError, "sets is empty"),
    (lambda: bench("words", {"mine": []}), ValueError, r"sets\['mine'\] is empty"),
    (lambda: bench("words", {"mine": ["x"]}), TypeError, r"sets\['mine'\]\[0\] must be a LabelledSentence"),
    (lambda: bench("words", "pairs", limit=0), ValueError, "limit"),
    (lambda: s.correct_score({"verdict": [0, 1] * 50}, [{"id": 1, "says": 1}]), ValueError, "'id' and 'label'"),
    (lambda: s.correct_score({"verdict": [0, 1] * 50}, dict.fromkeys(range(40), "no")), ValueError, "all 40 labels"),
    (lambda: s.benchmark_checker("embeded"), ValueError, "unknown checker 'embeded'"),
    (lambda: s.benchmark_checker("words", {"s": [{"article": "a", "supported": 1}]}), EITHER, "no field 'sentence'"),
    (lambda: s.benchmark_checker("words", {"s": [LABEL]}), EITHER, r"\[0\].supported must be True or False"),
    (lambda: s.rate("a", "b", judge=YES, rubric=" "), ValueError, "what is graded"),
    (lambda: s.Verdict(probability=0.5, hard="supported"), ValueError, "only one"),
    (lambda: judged.load_judge("nli:"), ValueError, "names no model"),
    (lambda: judged.load_judge("llm:"), ValueError, "name a model"),
    (lambda: judged.load_judge(YES), TypeError, r"LLMJudge\(backend\)"),
    (lambda: judged.LLMJudge(YES, prompts={"entails": "?"}), ValueError, "entail"),
    (lambda: judged.LLMJudge(YES, window=10), ValueError, "at least"),
]


def test_a_wrong_argument_is_named():
    """One table for the wrong arguments of all public calls; `make torture` found many of them."""
    missed = []
    for number, (call, error, message) in enumerate(WRONG):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                missed.append(f"row {number} returned {call()!r}: {message}")
        except error as raised:
            missed += [] if re.search(message, str(raised)) else [f"row {number}: {raised}, not {message}"]
        except Exception as raised:
            missed.append(f"row {number}: {raised!r}, not {message}")
    assert not missed, missed


def test_a_language_is_a_code():
    pytest.importorskip("sentencex")
    with pytest.raises(ValueError, match="lang must be the code of a language"):
        s.text.split_many(["It rained."], splitter="sentencex", lang="\ud800")


def test_names_of_systems_and_rubrics_break_no_figure():
    name = "$\\frac$ a $5 system \ud83d \x1b[2J \u202e <script>"
    ranked = judged.bradley_terry([(name, "x", name), ("x", name, "tie")], n_resamples=5)
    ranked.plot().figure.canvas.draw()
    rubric = s.load_metric("rubric", rubric="Is it polite?", title=name, judge=s.ScriptedBackend(lambda prompt: "4"))
    rubric.score("When?", "At nine.").plot().figure.canvas.draw()


def test_a_flag_of_a_run_is_true_or_false_and_a_number_beyond_all_floats_a_failed_metric(tmp_path):
    for name in ("resume", "retry_failed"):
        with pytest.raises(TypeError, match=f"{name} must be True or False, not str"):
            s.run([{"candidate": "a", "references": "a"}], "bleu", out=tmp_path / "out", **{name: "no"})
        assert not (tmp_path / "out").exists()
    for value, shown in ((HUGE, "1000"), (np.float32("inf"), "np.float32")):
        out = tmp_path / shown
        (row,) = s.run([{"text": "a"}], lambda row, value=value: value, out=out, workers=0, progress=False).rows()
        assert row["status"] == "failed" and f"the metric returned {shown}" in row["reason"]
