"""Sentences, units and claims, each with its exact place in the text."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

from summeval_nb.core.base import require_count, require_flag, require_text, require_texts
from summeval_nb.core.metric import is_function
from summeval_nb.core.results import Sentence
from summeval_nb.text import markdown, splitters
from summeval_nb.text.language import language_of, start_of
from summeval_nb.text.normalize import Normalized, Unwrapped, in_one_form, unwrapped
from summeval_nb.text.punkt import joined, sentence_ends, sentence_places, shortened

__all__ = ["Reading", "Splitter", "split_many", "split_markdown", "split_sentences", "split_text", "split_units"]
__all__ += ["splitter_name"]

Splitter = str | Callable[[str], Iterable[tuple[int, int]]]


def split_many(
    texts: Iterable[str], *, splitter: Splitter = "punkt", lang: str | None = None, progress: bool | None = None
) -> list[list[Sentence]]:
    """Split many texts into sentences; as one by one, and faster with stanza.

    Parameters
    ----------
    texts : iterable of str
        The texts.
    splitter, lang
        As for `split_sentences`.
    progress : bool, optional
        Whether to show a progress bar while stanza works; by default from 193 paragraphs and list items on.

    Returns
    -------
    list of list of Sentence
        One list for each text, in order.

    Examples
    --------
    >>> [len(sentences) for sentences in split_many(["One. Two.", ""])]
    [2, 0]
    """
    texts = require_texts(texts, "texts")
    return _split(texts, splitter, languages_for([[text] for text in texts], splitter, lang), progress)


def languages_for(texts: Sequence[Sequence[str]], splitter: Splitter, lang: str | None) -> list[str | None]:
    """Return the language of each text, given by its pieces: the one that was named, or what is found."""
    name = splitters.require_splitter(splitter, lang)
    if lang is not None or not name:
        return [lang] * len(texts)
    return [splitters.found_language(name, pieces) for pieces in texts]


def _split(
    texts: Sequence[str], splitter: Splitter, codes: Sequence[str | None], progress: bool | None
) -> list[list[Sentence]]:
    """The sentences of texts in these languages."""
    if is_function(splitter):
        return [markdown.cut_by(splitter, text) for text in texts]
    blocks = [markdown.blocks_of(text) for text in texts]
    stretches = [text[one.body : one.end] for text, own in zip(texts, blocks, strict=True) for one in own]
    bodies = list(map(splitters.without_surrogates, stretches))
    written = [code for code, own in zip(codes, blocks, strict=True) for _ in own]
    found: dict[str | None, Iterator[list[int]]] = {}
    for code in dict.fromkeys(written):
        own = [body for body, other in zip(bodies, written, strict=True) if other == code]
        name = splitters.require_splitter(splitter, code)
        if name == "stanza":
            found[code] = iter(splitters.stanza_places(own, code or "en", progress))
        elif name == "sentencex":
            found[code] = iter(splitters.sentencex_places(own, code or "en"))
        else:
            splitters.warn_of_foreign_marks(own)
            found[code] = iter([sentence_places(body, sentence_ends) for body in own])
    places, pairs = (next(found[code]) for code in written), zip(texts, blocks, strict=True)
    return [markdown.cut_blocks(text, own, [next(places) for _ in own]) for text, own in pairs]


def split_sentences(text: str, *, splitter: Splitter = "punkt", lang: str | None = None) -> list[Sentence]:
    """Split a text into sentences, each with its exact place.

    Parameters
    ----------
    text : str
        Any text. An empty or blank one has no sentences.
    splitter : {"punkt", "stanza", "sentencex"} or callable
        `"punkt"` is nltk's Punkt with this package's English tables and needs no download; where `lang` is another
        language, `"sentencex"` takes its place. A callable takes the text and returns (start, end) pairs. Empty lines
        always end a sentence; with a named splitter, list items and Markdown headings are sentences of their own.
    lang : str, optional
        The language's code, such as `"en"` or `"zh"`. By default English, or what a text is clearly in. Not used by a
        callable.

    Returns
    -------
    list of Sentence
        In order; `text[s.start:s.end] == s.text`, and every character that is not white space is in exactly one.

    Raises
    ------
    TypeError, ValueError
        If the text is not a string, the splitter or its language unknown, or a callable's spans overlap, are out of
        range or lose text.
    FileNotFoundError, ImportError
        If a model or a package is not on this machine; the message holds the command that fetches it.

    References
    ----------
    Kiss and Strunk (2006), Unsupervised Multilingual Sentence Boundary Detection, Computational Linguistics 32(4).

    Examples
    --------
    >>> split_sentences("Dr. Lee left. He was tired.")[1]
    Sentence(text='He was tired.', start=14, end=27)
    """
    return split_many([require_text(text, "text")], splitter=splitter, lang=lang)[0]


def split_text(text: str, *, splitter: Splitter = "punkt", lang: str | None = None) -> list[str]:
    """Return only the sentences' texts; the parameters are the same as for `split_sentences`.

    Examples
    --------
    >>> split_text("Prof. Lee left the U.S. He was tired.")
    ['Prof. Lee left the U.S.', 'He was tired.']
    """
    return [sentence.text for sentence in split_sentences(text, splitter=splitter, lang=lang)]


class Reading(NamedTuple):
    """A sentence with what a checker reads of it.

    `sentence` has its own characters and place; `plain` are its words without markup and citation marks, in one form.
    `places` says where in the sentence each character of `plain` begins, and `ends` where it ends, if it is not the
    next place. `reason` says why it is not for judging, or is empty. A row of a table has its `row`, too.
    """

    sentence: Sentence
    plain: str
    places: Sequence[int]
    reason: str = ""
    row: markdown.Row | None = None
    ends: Sequence[int] = ()

    def in_sentence(self, start: int, end: int) -> tuple[int, int]:
        """Return where `plain[start:end]`, not empty, stands in the sentence."""
        last = self.ends[end - 1] if self.ends else self.places[end - 1] + 1
        return self.places[start], last

    @property
    def reworded(self) -> bool:
        """Whether a checker reads other words than stand in the sentence."""
        own = self.sentence.text
        spans = zip(self.plain, self.places, self.ends, strict=False)
        return any(
            letter.isalnum() and letter != unicodedata.normalize("NFC", own[start:end]) for letter, start, end in spans
        )

    def _of(self, plain: Normalized) -> Self:
        """Return the same sentence with other words, which were made from `plain`."""
        if plain.text == self.plain:
            return self
        spans = [self.in_sentence(*plain.span(i, i + 1)) for i in range(len(plain.text))]
        places, ends = [low for low, _ in spans], [high for _, high in spans]
        return self._replace(plain=plain.text, places=places, ends=ends)


def _in_own_text(text: str, without: Unwrapped, readings: Sequence[Reading]) -> list[Reading]:
    """Return readings of a text without its marks with their places in the text."""
    sentences = [reading.sentence for reading in readings]
    spans = without.with_marks(text, [(s.start, s.end) for s in sentences])
    own, found = without.own, []
    for reading, (low, high) in zip(readings, spans, strict=True):
        first = reading.sentence.start
        starts = [own.starts[first + place] - low for place in reading.places]
        ends = [own.ends[first + place] - low for place in reading.places]
        sentence = Sentence(text[low:high], low, high)
        found.append(reading._replace(sentence=sentence, places=starts, ends=ends))
    return found


def _readings(
    text: str, without: Unwrapped, parts: Iterable[markdown.Read], like: str, lang: str | None
) -> list[Reading]:
    """Return the readings of a text in order: its own, and what wraps it."""
    own = [Reading(*part) for part in parts]
    if without.own.text != text:
        own = _in_own_text(text, without, own)
    own = [
        reading if reading.reason in markdown.NO_EVIDENCE else reading._of(in_one_form(reading.plain, like, lang=lang))
        for reading in own
    ]
    around = [Reading(Sentence(text[a:b], a, b), text[a:b], range(b - a), markdown.WRAPPER) for a, b in without.wraps]
    return sorted([*own, *around], key=lambda reading: reading.sentence.start)


def split_markdown(
    texts: Iterable[str],
    *,
    likes: Iterable[str] | None = None,
    splitter: Splitter = "punkt",
    lang: str | None = None,
    progress: bool | None = None,
) -> list[list[Reading]]:
    """Split texts as people have them: what a checker reads, and where it stands.

    Texts may be Markdown, cite, and be wrapped in what a language model says of them.

    Parameters
    ----------
    texts, splitter, lang, progress
        As for `split_many`. A callable is handed one block of a Markdown text after the other, without markup. With
        another language than English no dates, times and values are rewritten.
    likes : iterable of str, optional
        For each text the one that it is compared with, such as its article: values, titles and initials are read as
        that one writes them; see `normalize`.

    Returns
    -------
    list of list of Reading
        One list for each text, in order; `text[p.sentence.start:p.sentence.end] == p.sentence.text`. Headings, code,
        dividing lines, heads of tables, pictures and what wraps the text carry a `reason`: they are not for judging.

    References
    ----------
    The CommonMark specification, version 0.31.2, and GitHub's tables.

    Examples
    --------
    >>> (heading, fact) = split_markdown(["# News\\n- It **rained** on Jan. 5 [1]."])[0]
    >>> heading.reason, fact.plain
    ('a heading states nothing that could be checked', 'It rained on January 5.')
    """
    texts = require_texts(texts, "texts")
    others = [""] * len(texts) if likes is None else require_texts(likes, "likes")
    bare = [unwrapped(text, like=other) for text, other in zip(texts, others, strict=True)]
    pieces = [markdown.markdown_pieces(without.own.text) for without in bare]
    bodies = [markdown.stated_bodies(without.own.text, own) for without, own in zip(bare, pieces, strict=True)]
    codes = languages_for(bodies, splitter, lang)
    for place, like in enumerate(others):  # what is too short to tell is in the language of the other text
        if like and codes[place] is None and language_of(start_of(bodies[place], 4000)) is None:
            (codes[place],) = languages_for([[like]], splitter, lang)
    written = [code for code, own in zip(codes, bodies, strict=True) for _ in own]
    rest = iter(_split([body for own in bodies for body in own], splitter, written, progress))
    return [
        _readings(text, without, markdown.read_pieces(without.own.text, own, rest), other, code)
        for text, without, own, other, code in zip(texts, bare, pieces, others, codes, strict=True)
    ]


def splitter_name(splitter: Splitter, *, lang: str = "en") -> str:
    """Return what identifies a splitter in a signature or a cache key.

    Parameters
    ----------
    splitter : str or callable
        As for `split_sentences`. A callable is named by its attribute `fingerprint`, or by module and name; two lambdas
        of one module cannot be told apart, so give a callable that matters a `fingerprint`.
    lang : str
        The language's code; named unless it is English.

    Returns
    -------
    str
        The name, with the version of the library for all but `"punkt"`.

    Examples
    --------
    >>> splitter_name("punkt")
    'punkt'
    """
    name = splitters.require_splitter(splitter, lang)
    if name:
        return splitters.versioned_name(name, lang)
    kind: Any = splitter if hasattr(splitter, "__qualname__") else type(splitter)
    own = getattr(splitter, "fingerprint", None)
    return str(own or f"callable:{kind.__module__}.{kind.__qualname__}")


def split_units(
    text: str,
    *,
    splitter: Splitter = "punkt",
    lang: str | None = None,
    max_chars: int = 500,
    min_chars: int = 20,
    keep_lists: bool = False,
) -> list[Sentence]:
    """Split a text into units of bounded length: cut or joined sentences.

    Parameters
    ----------
    text : str
        Any text. An empty or blank one has no units.
    splitter, lang
        As for `split_sentences`.
    max_chars : int
        No unit is longer; at least 1.
    min_chars : int
        Shorter units join the following one (the last one joins the one before) where `max_chars` allows it.
    keep_lists : bool
        Keep list items with the sentence that leads into them, as far as `max_chars` allows.

    Returns
    -------
    list of Sentence
        Spans of the text, in order, that hold every character that is not white space once.

    Examples
    --------
    >>> [unit.text for unit in split_units("Yes. It opened in 1931. It is long.")]
    ['Yes. It opened in 1931. It is long.']
    """
    require_count(max_chars, "max_chars")
    require_flag(keep_lists, "keep_lists")
    require_count(min_chars, "min_chars", minimum=0)
    sentences = split_sentences(text, splitter=splitter, lang=lang)
    spans = [(s.start, s.end) for s in sentences]
    if keep_lists:
        spans = markdown.with_lead_in(text, sentences, max_chars)
    pieces = [p for span in spans for p in shortened(text, *span, max_chars)]
    units = joined(pieces, min_chars, max_chars)
    return [Sentence(text[start:end], start, end) for start, end in units]
