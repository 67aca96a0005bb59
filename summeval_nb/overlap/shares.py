"""Words shared: what a summary copies from its article, and SQuAD's exact match and token F1 of a short answer."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

from summeval_nb.core.base import JsonDict, require_flag, require_option, require_text, require_texts, warn_of_order
from summeval_nb.core.metric import batch, metric
from summeval_nb.core.results import Score, ScoreTable, Signature

from .counting import as_sequences, number_texts, one_character_a_word
from .ngrams import list_ngrams
from .picture import MatchPicture, colored, token_spans
from .tokens import (
    References,
    Tokens,
    load_tokenizer,
    require_candidate,
    require_references,
    tokenizer_name,
    warn_of_lost_texts,
)

__all__ = ["MEASURES", "ExtractiveScore", "exact_match", "exact_match_many", "extractiveness", "extractiveness_many"]
__all__ += ["squad_words", "token_f1", "token_f1_many"]

_ORDERS = range(1, 5)
_BY_ORDER = (f"{name}{n}" for name in ("novel", "repeated") for n in _ORDERS)
MEASURES = ("coverage", "density", "compression", *_BY_ORDER, "length")
NOTHING = "the text holds no words, or the summary too few"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ExtractiveScore(Score):
    """The measures of one summary by name, in `measures`; `score` is the first."""

    measures: Mapping[str, float | None]
    text: str
    summary: str
    tokenize: str | Callable[[str], Tokens]
    lowercase: bool

    def numbers_by_name(self) -> dict[str, float | None]:
        """Return the measures by their names."""
        return dict(self.measures)

    def rows(self) -> list[JsonDict]:
        """Return one row for each measure."""
        return [{"measure": name, "value": value} for name, value in self.measures.items()]

    def fragments(self) -> list[str]:
        """Return the pieces of the summary that stand in the article, in order."""
        return [self.summary[start:end] for start, end in self._places()]

    def explain(self) -> MatchPicture:
        """Mark the pieces of the summary that stand in the article."""
        marks = [colored(span, number, self.summary[slice(*span)]) for number, span in enumerate(self._places())]
        return MatchPicture("copied from the article", [("summary", self.summary, marks)], self.rows())

    def _places(self) -> list[tuple[int, int]]:
        tokens = _tokens([self.text, self.summary], self.tokenize, self.lowercase)
        own = self.summary.lower() if self.lowercase else self.summary
        spans = token_spans(self.summary, load_tokenizer(self.tokenize)(own))
        lengths = _copied_lengths(tokens[self.text], tokens[self.summary])
        found = ([span for span in spans[start : start + size] if span] for start, size in _fragments(lengths))
        return [(places[0][0], places[-1][1]) for places in found if places]


def extractive_signature(
    measures: Sequence[str], tokenize: str | Callable[[str], Tokens], lowercase: bool
) -> Signature:
    """Return every option that could change a number; raise where one is wrong."""
    if isinstance(measures, str) or not isinstance(measures, Sequence) or not measures:
        raise TypeError(f"measures must be a list of names such as ['coverage'], not {measures!r}")
    for name in measures:
        require_option(name, "measure", MEASURES)
    load_tokenizer(tokenize)
    case = "lc" if require_flag(lowercase, "lowercase") else "mixed"
    named = {"metric": "extractiveness", "measures": ",".join(measures), "case": case}
    return Signature(named | {"tok": tokenizer_name(tokenize)})


@metric(
    "extractiveness", probe="It rained.", batch_size=2000, check=extractive_signature, signature=extractive_signature
)
def extractiveness(
    text: str,
    summary: str,
    *,
    measures: Sequence[str] = MEASURES,
    tokenize: str | Callable[[str], Tokens] = "13a",
    lowercase: bool = True,
) -> ExtractiveScore:
    """Return how far a summary copies its article, says it anew or repeats itself.

    A measure is None where the text holds no token, or the summary no n-gram. Errors are those of `bleu_score`.

    The summary is cut into fragments: from its first token on, the longest run of tokens that stands in the article,
    then the longest from the next token on, and so on. `f` is the length of a fragment, `s` and `a` are those of
    summary and article, in tokens.

    Parameters
    ----------
    text : str
        The article.
    summary : str
        What was made of it.
    measures : list of str
        Which, the score first; all by default.
        `coverage`: Σf / s, in [0, 1], the share of copied tokens.
        `density`: Σf² / s, in [0, s], the mean length of the fragment that a token is in.
        `compression`: a / s, above 0, how many times as long the article is.
        `novel1` to `novel4`: the share, in [0, 1], of the summary's different n-grams that are not in the article.
        `repeated1` to `repeated4`: the share, in [0, 1], of the summary's different n-grams that stand in it more than
        once.
        `length`: the words of the summary, counted at white space.
    tokenize : str or callable
        As for `bleu_score`.
    lowercase : bool
        Lower-case both texts first.

    Notes
    -----
    The program of Grusky et al. jumps over places of the article within a run that it has tried. So it may miss the
    longest run where the article says a phrase twice in a row, as in "very very good".

    References
    ----------
    Grusky et al. (2018), "Newsroom", section 3. Fabbri et al. (2021), "SummEval", whose `DataStatsMetric` has the
    shares of novel and repeated n-grams.

    Examples
    --------
    >>> found = extractiveness(text="The cat sat on the mat.", summary="The cat lay on the mat.")
    >>> found.fragments()
    ['The cat', 'on the mat.']
    >>> round(found.measures["coverage"], 3), round(found.measures["density"], 3)
    (0.857, 2.857)
    """
    require_text(text, "text"), require_text(summary, "summary")
    return extractive_table([text], [summary], measures=measures, tokenize=tokenize, lowercase=lowercase)[0]


def extractive_table(
    texts: Sequence[str],
    summaries: Sequence[str],
    *,
    measures: Sequence[str],
    tokenize: str | Callable[[str], Tokens],
    lowercase: bool,
) -> ScoreTable[ExtractiveScore]:
    """Return the measures of each summary; the texts are cut together."""
    signature = extractive_signature(measures, tokenize, lowercase)
    articles, judged = require_texts(texts, "texts"), require_texts(summaries, "summaries")
    if len(articles) != len(judged):
        raise ValueError(f"there must be one text per summary: {len(articles)} texts, {len(judged)} summaries")
    pairs = list(zip(articles, judged, strict=True))
    remedy = "the article is text=, and its summary is summary="
    warn_of_order([(len(article), len(summary)) for article, summary in pairs], remedy=remedy)
    tokens, scores = _tokens([*articles, *judged], tokenize, lowercase), []
    for text, summary in pairs:
        found = _measured(tokens[text], tokens[summary], len(summary.split()))
        chosen: JsonDict = {name: found[name] for name in measures}
        main = next(iter(chosen.values()))
        own: JsonDict = {"score": main, "reason": NOTHING if main is None else "", "signature": signature}
        own |= {"measures": chosen, "text": text, "summary": summary, "tokenize": tokenize, "lowercase": lowercase}
        scores.append(ExtractiveScore(**own))
    return ScoreTable(scores, signature=signature, nothing=NOTHING)


extractiveness_many = batch(extractiveness, extractive_table)


def _tokens(
    texts: Sequence[str], tokenize: str | Callable[[str], Tokens], lowercase: bool
) -> dict[str, Sequence[Hashable]]:
    """Return the tokens of each different text, as characters: they can be searched like a string."""
    different = list(dict.fromkeys(texts))
    numbered = number_texts([text.lower() if lowercase else text for text in different], load_tokenizer(tokenize))
    warn_of_lost_texts(different, numbered.lengths, tokenizer_name(tokenize))
    return dict(zip(different, as_sequences(numbered), strict=True))


def _measured(article: Sequence[Hashable], summary: Sequence[Hashable], words: int) -> dict[str, float | None]:
    """Return every measure of one summary by its name; None where it is undefined."""
    if not article or not summary:
        return dict.fromkeys(MEASURES)
    lengths = _copied_lengths(article, summary)
    sizes = [size for _, size in _fragments(lengths)]
    found: dict[str, float | None] = {
        "coverage": sum(sizes) / len(summary),
        "density": sum(size * size for size in sizes) / len(summary),
        "compression": len(article) / len(summary),
        "length": words,
    }
    for n in _ORDERS:
        grams = list_ngrams(list(summary), n)
        times = Counter(grams)
        novel = {gram for gram, size in zip(grams, lengths, strict=False) if size < n}
        found[f"novel{n}"] = len(novel) / len(times) if times else None
        found[f"repeated{n}"] = sum(count > 1 for count in times.values()) / len(times) if times else None
    return found


def _fragments(lengths: Sequence[int]) -> list[tuple[int, int]]:
    """Return the copied pieces as (place, length), each the longest from where the one before ends."""
    found, place = [], 0
    while place < len(lengths):
        if lengths[place]:
            found.append((place, lengths[place]))
        place += max(lengths[place], 1)
    return found


def _copied_lengths(article: Sequence[Hashable], summary: Sequence[Hashable]) -> list[int]:
    """Return for each place of the summary how many tokens from there on stand in the article in a row."""
    given = article, summary  # lists only in a table with more different words than there are characters
    text, own = map(str, given) if isinstance(article, str) else one_character_a_word(*given)
    lengths, length = list[int](), 0
    for place in range(len(own)):
        length, step = max(length - 1, 0), 1  # what began a token earlier stands there from its second token on
        while step:
            longer = place + length + step
            if longer <= len(own) and own[place:longer] in text:
                length, step = length + step, 2 * step
            else:
                step //= 2
        lengths.append(length)
    return lengths


# ------------------------------------------------------------------------------------- short answers, as in SQuAD

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_MARKS = str.maketrans("", "", string.punctuation)


def squad_words(text: str) -> list[str]:
    """Return the words of an answer in small letters, without English articles and ASCII punctuation.

    Examples
    --------
    >>> squad_words("The old bridge.")
    ['old', 'bridge']
    """
    return _ARTICLES.sub(" ", text.lower().translate(_NO_MARKS)).split()


def _best(name: str, candidate: str, references: References, of: Callable[[list[str], list[str]], float]) -> Score:
    text, listed = require_candidate(candidate, references), require_references(references)
    own = squad_words(text)
    best = max(of(own, squad_words(reference)) for reference in listed)
    return Score(score=best, signature=Signature({"metric": name, "nrefs": len(listed), "norm": "squad"}))


@metric("exact_match", probe="a", batch_size=2000)
def exact_match(candidate: str, references: References) -> Score:
    """Return 1 where an answer has the same words as one of the true answers, in the same order, else 0.

    Parameters
    ----------
    candidate : str
        The answer to judge.
    references : str or list of str
        One true answer or several. Small and capital letters, articles and punctuation make no difference.

    References
    ----------
    Rajpurkar et al. 2016, SQuAD: 100,000+ Questions for Machine Comprehension of Text.

    Examples
    --------
    >>> float(exact_match(candidate="The old bridge.", references="old bridge"))
    1.0
    """
    return _best("exact_match", candidate, references, lambda own, true: float(own == true))


@metric("token_f1", probe="a", batch_size=2000)
def token_f1(candidate: str, references: References) -> Score:
    """Return F1 of the words that an answer shares with a true answer, in [0, 1]; of several the best counts.

    Parameters and source are those of `exact_match`, and so are the words; their order makes no difference. Where one
    side has no word left, the score is 1 if neither has one, and else 0.

    Examples
    --------
    >>> round(float(token_f1(candidate="the bridge of Leeds", references="old bridge")), 2)
    0.4
    """

    def f1(own: list[str], true: list[str]) -> float:
        if not own or not true:
            return float(own == true)
        return 2 * (Counter(own) & Counter(true)).total() / (len(own) + len(true))

    return _best("token_f1", candidate, references, f1)


exact_match_many, token_f1_many = batch(exact_match), batch(token_f1)
