"""Tokenizers, stems and clipped counts against the libraries they must equal, on real and on broken text."""

import gzip
import json
import random
import re
from collections import Counter

import numpy as np
import pytest
from helpers.colours import contrast
from helpers.late import Late
from hypothesis import given, settings
from hypothesis import strategies as st

from summeval_nb.core.html import Mark
from summeval_nb.overlap.counting import (
    NumberedNgrams,
    NumberedTexts,
    as_sequences,
    common_lengths,
    ngram_levels,
    number_texts,
    stable_order,
)
from summeval_nb.overlap.ngrams import clipped_counts, list_ngrams, measure
from summeval_nb.overlap.picture import CLIPPED, COLORS, MatchPicture, ngram_marks, token_spans
from summeval_nb.overlap.tokens import (
    _step_1,
    _steps_2_3,
    load_tokenizer,
    porter_stem,
    rouge_tokenizer,
    tokenizer_name,
)

PorterStemmer = Late("nltk.stem.porter", "PorterStemmer")

settings.register_profile("unhurried", deadline=None)  # a busy machine is no failure
settings.load_profile("unhurried")
AWKWARD = [
    "",
    " \n\t ",
    "U.S. shares fell 3.5%, to $1,000.-2 (see p. 3).",
    "an exam-\nple &quot;quoted&quot; &amp;lt; <skipped>here",
    "„Ja“, sagte sie – «oui» 1999. №5 3²",
    "x..y ,,, .5 5. -5-5 a-b",
    "naïve café K İstanbul ß",
    "我爱你。Привет, мир!",
    "lone \ud800 surrogate and \x00 \x1c\x85\u2003 spaces",
    "don't 'quote' `tick` ~tilde~ {brace}",
]


def fuzzed(count: int, seed: int = 0) -> list[str]:
    rng = random.Random(seed)
    alphabet = "abAB01.,-'\"&;$%() \n\t\u2003\u00a0é—€我"
    return ["".join(rng.choices(alphabet, k=rng.randint(0, 40))) for _ in range(count)]


@pytest.fixture(scope="module")
def summeval_texts(data_folder) -> list[str]:
    with gzip.open(data_folder / "summeval.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [t for row in rows for t in [*row["references"], *(s["summary"] for s in row["systems"])]]


@pytest.mark.parametrize("name", ["13a", "intl", "char", "none"])
def test_tokenizers_equal_sacrebleu(name):
    from sacrebleu.metrics import BLEU

    theirs, ours = BLEU(tokenize=name)._preprocess_segment, load_tokenizer(name)
    for text in [*AWKWARD, *fuzzed(3000)]:
        assert list(ours(text)) == theirs(text).split(), repr(text)


@pytest.mark.parametrize("name", ["13a", "intl", "char", "none"])
def test_tokenizers_equal_sacrebleu_on_summeval(name, summeval_texts):
    from sacrebleu.metrics import BLEU

    theirs, ours = BLEU(tokenize=name)._preprocess_segment, load_tokenizer(name)
    assert all(list(ours(text)) == theirs(text).split() for text in summeval_texts)


@pytest.mark.parametrize("stemmer", [False, True])
def test_rouge_tokenizer_equals_rouge_score(stemmer, summeval_texts):
    from rouge_score.tokenizers import DefaultTokenizer

    theirs, ours = DefaultTokenizer(stemmer), rouge_tokenizer(stemmer=stemmer)
    texts = [text for text in [*AWKWARD, *fuzzed(1000)] if "\ud800" not in text]
    for text in texts + summeval_texts[::4]:
        assert ours(text) == theirs.tokenize(text), repr(text)


def test_stems_equal_nltk_on_real_words(summeval_texts):
    theirs = PorterStemmer()
    for word in {word for text in summeval_texts for word in re.findall("[a-z0-9]+", text.lower())}:
        assert porter_stem(word) == theirs.stem(word)


@settings(max_examples=500)
@given(
    st.text("aeiouybcdlstzwx0", max_size=7),
    st.lists(
        st.sampled_from(
            [
                "ational",
                "alli",
                "fulli",
                "logi",
                "ement",
                "ment",
                "ent",
                "ion",
                "ied",
                "ies",
                "eed",
                "ed",
                "ing",
                "y",
                "ll",
                "e",
                "s",
            ]
        ),
        max_size=3,
    ),
)
def test_stems_equal_nltk_on_invented_words(start, suffixes):
    word = start + "".join(suffixes)
    assert porter_stem(word) == PorterStemmer().stem(word)


# word → stem, printed by the subroutine `stem` of ROUGE-1.5.5.pl under perl 5.36
PERL_STEMS = {
    "accidental": "accid", "accidentally": "accid", "additionally": "addit", "agreement": "agreem", "argument": "argum",
    "commissioner": "commiss", "disorientated": "disori", "documents": "docum", "movement": "movem",
    "parliament": "parliam", "professional": "profess", "attorneys": "attornei", "always": "alwai", "aged": "ag",
    "axes": "ax", "boys": "boi", "buying": "bui", "bubbly": "bubbl", "possibly": "possibl", "apology": "apolog",
    "yzaewizationentli": "yzaewization", "sui0yoationent": "sui0yoation",
}  # fmt: skip


@pytest.mark.parametrize(("word", "stem"), PERL_STEMS.items())
def test_stems_equal_the_perl_script(word, stem):
    assert porter_stem(word, "rouge-1.5.5") == stem


BAD = [
    (lambda: load_tokenizer("14a"), ValueError, "known: 'none', '13a'"),
    (lambda: load_tokenizer(3), TypeError, "not int"),
    (lambda: load_tokenizer(str.lower)("text"), TypeError, "list of tokens, not str"),
    (lambda: load_tokenizer(lambda text: [[text]])("text"), TypeError, "hashable"),
    (lambda: load_tokenizer(lambda text: None)("text"), TypeError, "not NoneType"),
    (lambda: load_tokenizer("13a")(None), TypeError, "text must be a string"),
    (lambda: load_tokenizer("13a")(["a"]), TypeError, "not list"),
    (lambda: rouge_tokenizer(compat="perl"), ValueError, "known: 'google', 'rouge-1.5.5'"),
    (lambda: rouge_tokenizer(exceptions={"a": "b"}), ValueError, "rouge-1.5.5"),
    (lambda: rouge_tokenizer(stemmer=True, compat="rouge-1.5.5", exceptions=["a"]), TypeError, "mapping"),
    (lambda: rouge_tokenizer(stemmer=True, compat="rouge-1.5.5", exceptions="wordnet3"), ValueError, "'wordnet'"),
    (lambda: porter_stem("word", "snowball"), ValueError, "known"),
    (lambda: list_ngrams("the cat", 2), TypeError, "characters"),
    (lambda: list_ngrams(["a"], 0), ValueError, "at least 1"),
    (lambda: list_ngrams(["a"], -1), ValueError, "at least 1"),
    (lambda: list_ngrams(["a"], True), TypeError, "whole number"),
    (lambda: clipped_counts(["a"], []), ValueError, "at least one reference"),
]


@pytest.mark.parametrize(("call", "kind", "message"), BAD)
def test_bad_input_is_named(call, kind, message):
    with pytest.raises(kind, match=message):
        call()


def test_tokenizer_objects_are_refused_with_the_remedy():
    class Tokenizer:
        name_or_path = "some/model"

        def tokenize(self, text):
            return text.split()

    with pytest.raises(TypeError, match=r"Tokenizer\.tokenize"):
        load_tokenizer(Tokenizer())
    assert load_tokenizer(Tokenizer().tokenize)("a b") == ["a", "b"]
    assert tokenizer_name(Tokenizer().tokenize) == "some/model"


words = st.lists(st.sampled_from("abcde"), max_size=12)


@given(words, st.lists(words, min_size=1, max_size=4), st.integers(1, 4))
def test_clipped_counts_are_bounded_and_monotone(candidate, references, n):
    counts = clipped_counts(candidate, references, n)
    assert sum(own for own, _, _ in counts.values()) == max(len(candidate) - n + 1, 0)
    assert all(shared == min(own, greatest) for own, greatest, shared in counts.values())
    more = clipped_counts(candidate, [*references, candidate], n)  # another reference never takes a match away
    assert all(more[gram][2] >= counts[gram][2] for gram in counts)
    assert all(own == shared for own, _, shared in more.values())


@given(st.lists(words, min_size=1, max_size=6), st.integers(1, 4))
def test_numbered_counts_equal_counters(texts, n):
    level = list(ngram_levels(number_texts([" ".join(text) for text in texts], str.split), n))[-1]
    sequences = as_sequences(level, ordered=True)
    grams = [Counter(list_ngrams(text, n)) for text in texts]
    assert common_lengths(sequences, sequences[::-1]).tolist() == [
        (a & b).total() for a, b in zip(grams, grams[::-1], strict=True)
    ]
    ngrams, others = NumberedNgrams(number_texts([" ".join(text) for text in texts], str.split), n), texts[1:]
    union = Counter()
    for counter in grams[1:]:
        union |= counter
    shared = ngrams.shared([0], [tuple(range(1, len(texts)))])[0]
    assert shared[-1] == (grams[0] & union).total() if others else shared[-1] == 0
    assert ngrams.lengths[:, -1].tolist() == [counter.total() for counter in grams]


def test_more_numbers_than_characters_give_the_same_lengths():
    rng = np.random.default_rng(0)
    small = NumberedTexts(rng.integers(0, 50, 400), np.full(8, 50))
    large = NumberedTexts(small.numbers * 10**6, small.lengths)
    few, many = as_sequences(small, ordered=True), as_sequences(large, ordered=True)
    assert isinstance(few[0], str) and isinstance(many[0], list)
    assert (common_lengths(few[:4], few[4:]) == common_lengths(many[:4], many[4:])).all()


def test_numbers_around_the_surrogates_stay_different():
    numbers = np.array([0xD7FF, 0xD800, 0xDFFF, 0xE000, 0x10F7FF])
    (sequence,) = as_sequences(NumberedTexts(numbers, np.array([5])))
    assert len(set(sequence)) == 5 and not any(0xD800 <= ord(c) < 0xE000 for c in sequence)


def test_nothing_to_count():
    empty = number_texts([], str.split)
    assert as_sequences(empty) == [] and common_lengths([], []).tolist() == []
    blank = list(ngram_levels(number_texts(["", ""], load_tokenizer("13a")), 3))[-1]
    assert blank.lengths.tolist() == [0, 0] and as_sequences(blank, ordered=True) == ["", ""]
    assert NumberedNgrams(blank, 2).shared([0, 1], [(1,), ()]).tolist() == [[0, 0], [0, 0]]
    assert stable_order(np.zeros(0, np.int64)).tolist() == []


@given(st.lists(st.sampled_from(AWKWARD + fuzzed(20)), max_size=5), st.sampled_from(["13a", "intl", "char", "rouge"]))
def test_numbering_equals_tokenizing_one_by_one(texts, name):
    tokenizer = load_tokenizer(name)
    lists = [list(tokenizer(text)) for text in texts]
    numbered = number_texts(texts, tokenizer)
    assert numbered.lengths.tolist() == [len(tokens) for tokens in lists]
    names = dict(zip(numbered.numbers.tolist(), [token for tokens in lists for token in tokens], strict=True))
    assert [names[number] for number in numbered.numbers.tolist()] == [token for tokens in lists for token in tokens]
    assert len(set(names.values())) == len(names)


@pytest.mark.parametrize("name", ["13a", "intl", "char", "none", "rouge"])
def test_places_hold_their_tokens(name):
    text = "The U.S. cat's well-known 3.50 mat, on THE mat."
    tokens = load_tokenizer(name)(text)
    spans = token_spans(text, tokens)
    assert [text[start:end].lower() for start, end in spans] == [str(token).lower() for token in tokens]
    assert spans == sorted(spans)


def test_an_order_beyond_every_text_has_no_ngrams():
    assert clipped_counts(["a", "b"], [["a"]], 10**30) == {} and list_ngrams(["a"], 10**30) == []


def test_the_stemmer_of_a_tokenizer_is_true_or_false():
    with pytest.raises(TypeError, match="stemmer must be True or False"):
        rouge_tokenizer(stemmer="no")


def test_porters_own_examples_step_by_step():
    assert [measure(w) for w in ("tr", "ee", "tree", "y", "by")] == [0] * 5
    assert [measure(w) for w in ("trouble", "oats", "trees", "ivy")] == [1] * 4
    assert [measure(w) for w in ("troubles", "private", "oaten", "orrery")] == [2] * 4
    first = ["caresses", "ponies", "cats", "agreed", "plastered", "hopping", "filing", "happy"]
    expected = ["caress", "poni", "cat", "agree", "plaster", "hop", "file", "happi"]
    assert [_step_1(word, "rouge-1.5.5") for word in first] == expected
    second = ["relational", "conditional", "valenci", "digitizer", "triplicate", "hopeful", "goodness"]
    expected = ["relate", "condition", "valence", "digitize", "triplic", "hope", "good"]
    assert [_steps_2_3(word, "rouge-1.5.5") for word in second] == expected


def test_numbers_are_sorted_and_bigrams_numbered():
    wide = np.random.default_rng(0).integers(0, 2**40, 2000)
    assert (wide[stable_order(wide)] == np.sort(wide)).all()
    _, bigrams = ngram_levels(number_texts(["a b a b", "a b"], str.split), 2)
    assert bigrams.lengths.tolist() == [3, 1]
    assert bigrams.numbers[0] == bigrams.numbers[2] == bigrams.numbers[3] != bigrams.numbers[1]


def test_a_picture_of_shared_words():
    panels = [("candidate", "The cat <sat>", [Mark(4, 7, title="cat: 1 of 1")]), ("reference", "A cat", [Mark(2, 5)])]
    picture = MatchPicture("shared words", panels, [{"n-gram": "cat", "shared": 1}])
    assert str(picture).startswith("shared words\ncandidate: The [cat] <sat>\nreference: A [cat]")
    assert "&lt;sat&gt;" in picture._repr_html_()
    text = "the cat and the dog and the mat"
    spans, grams = token_spans(text, text.split()), list_ngrams(text.split(), 1)
    marks = ngram_marks(spans, grams, {("the",): 2, ("cat",): 1, ("mat",): 1})
    assert marks[-1].title == "the: number 3, 2 counted" and marks[-1].background == CLIPPED
    assert min(contrast(color, "#1a1a1a") for color in (*COLORS, CLIPPED)) >= 4.5
