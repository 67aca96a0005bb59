"""The seven questions put to a language model, held to schemas, checks and one retry."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from summeval_nb.core.base import require_count, require_option
from summeval_nb.judged.asking import TASKS, BulkJudge, place_keyphrase
from summeval_nb.judged.cases import (
    FORM,
    RULE,
    ask_cases,
    ask_group,
    case_forms,
    choice_prompt,
    choose,
    collect,
    plan_statements,
    plan_texts,
    plan_units,
    rejoined,
)
from summeval_nb.judged.judging import (
    LABELS,
    Answer,
    Entailment,
    Flag,
    JudgeFailure,
    Label,
    Question,
    Resolution,
    Statement,
    as_statement,
    word_list,
)
from summeval_nb.models.base import LEAST_MASS, QUOTING, Backend, Choice
from summeval_nb.models.load import load_backend
from summeval_nb.models.store import content_key
from summeval_nb.text.language import foreign_language, language_name, reads, require_languages

__all__ = ["PROMPTS", "Judged", "LLMJudge"]

PROMPTS: Mapping[str, str] = {
    "resolve": """Replace each pronoun in the units by what it stands for. Return the \
units of a case in order, one
string for each. Change nothing else; leave a pronoun whose meaning is unclear.""",
    "statements": """Split each hypothesis into its statements: clauses that are \
claimed to be true by themselves. Use
only its own words, repeat a shared subject, leave nothing out. Do not cut at \
conditions, causes or reported speech.""",
    "entail": """Judge each statement by the premise of its case alone. entailed: a \
reader of the premise would infer
that it is true. contradicted: that it is false. neutral: neither. evidence: the \
numbers of the deciding sentences.""",
    "keyphrases": """List the n most important entities, events, terms and facts of \
each text, most important first, in
the words of the text.""",
    "questions": """For each keyphrase of a case, in order, write one question that \
the text answers with yes, and the
statement that a yes affirms.""",
    "answer": """Answer each question from the text of its case alone: 1 if the text \
says that the answer is yes,
otherwise 0. evidence: the numbers of the deciding sentences.""",
    "refusal": """Does the answer refuse to answer, or say that it cannot answer, \
without giving an answer? An answer
that says something and mentions what is missing is no refusal.""",
    "one entail": """Judge the statement by the premise alone. entailed: a reader of \
the premise would infer that it is
true. contradicted: that it is false. neutral: neither.""",
    "one answer": """Does the text alone say that the answer to the question is yes?""",
}


def _read_statements(texts: Sequence[str], hypothesis: str) -> list[Statement]:
    """Statements as their types, if they are made of the hypothesis and cover it."""
    found = [as_statement(text, hypothesis) for text in dict.fromkeys(texts)]
    for statement in found:
        if not word_list(statement.text) or len(statement.added) > len(word_list(statement.text)) / 2:
            what = f"a statement is not made of its hypothesis: {statement.text[:80]!r}"
            raise ValueError(what)
    own = set(word_list(hypothesis))
    said = {word for statement in found for word in word_list(statement.text)}
    if len(own & said) < len(own) / 2:
        raise ValueError("the statements leave out more than half of the hypothesis")
    return found


def _worst_or_best(found: Sequence[Entailment | Answer | JudgeFailure]) -> Entailment | Answer | JudgeFailure:
    """One entailment (or answer) from those of all windows."""
    said = [finding for finding in found if not isinstance(finding, JudgeFailure)]
    yes = [
        finding
        for finding in said
        if getattr(finding, "label", None) == "entailed" or getattr(finding, "value", 0) == 1
    ]
    if yes:
        return max(yes, key=lambda finding: finding.probability or 0.0)
    failed = next((finding for finding in found if isinstance(finding, JudgeFailure)), None)
    if failed is not None:
        return failed
    return next((finding for finding in found if getattr(finding, "label", None) == "contradicted"), found[0])


def _from_choice(task: str, choice: Choice) -> Entailment | Answer:
    """An entailment or an answer from a choice; ties of probabilities are cautious."""
    chances = choice.probabilities
    if choice.hard:
        if task == "answer":
            return Answer(value=1 if choice.label == "yes" else 0)
        return Entailment(label=next(label for label in LABELS if label == choice.label))
    if task == "answer":
        return Answer(value=1 if chances["yes"] > 0.5 else 0, probability=chances["yes"])
    cautious: tuple[Label, ...] = ("neutral", "contradicted", "entailed")
    best = max(cautious, key=lambda label: chances[label])
    return Entailment(label=best, probability=chances["entailed"])


def _not_read(task: str, item: tuple[Any, ...], reason: str) -> Flag | list[Entailment] | list[Answer] | JudgeFailure:
    """What stands for an answer about a text that is not read: no label, no answer,
    no flag, and why."""
    if task == "refusal":
        return Flag(value=None, reason=reason)
    if task == "entail":
        return [Entailment(label=None, reason=reason) for _ in item[1]]
    if task == "answer":
        return [Answer(value=None, reason=reason) for _ in item[1]]
    return JudgeFailure(task, reason)


Judged: TypeAlias = Entailment | Answer


class LLMJudge(BulkJudge):
    """A language model as the judge, held to schemas, checks and one retry.

    Parameters
    ----------
    backend : Backend or str
        Any `Backend`, or its name, as in `"llm:FOLDER"`.
    probabilities : bool
        False: cases share calls, labels carry evidence and no probability. True: one
        call for each statement and question, which gives the model's own probability
        and no evidence; a server without probabilities gives the label alone. Where the options hold
        less than a thousandth of the model's probability, the call has failed; so it is with refusals in both modes.
    prompts : mapping, optional
        Texts that replace some of `PROMPTS`; their hash is part of the fingerprint.
    window : int
        How many characters of a premise, a context or a text are shown at once.
    group, group_chars : int
        How many cases, and how many characters of them, may share a call.
    workers : int
        How many calls may wait for a server at the same time.
    languages : sequence of str, optional
        Codes of the languages that the model reads, such as ("en", "zh"); None: any. A
        text that is clearly in another one is not asked about, and the reason says so.

    Attributes
    ----------
    calls : int
        How many calls this judge has made so far.
    """

    _forms = case_forms(_read_statements)

    def __init__(
        self,
        backend: Backend | str,
        *,
        probabilities: bool = False,
        prompts: Mapping[str, str] | None = None,
        window: int = 8000,
        group: int = 4,
        group_chars: int = 6000,
        workers: int = 8,
        languages: Sequence[str] | None = None,
    ):
        for name in prompts or {}:
            require_option(name, "prompt", PROMPTS)
        self._backend, self._probabilities = load_backend(backend), bool(probabilities)
        self._prompts = {**PROMPTS, **(prompts or {})}
        self._window = require_count(window, "window", minimum=200)
        self._group = require_count(group, "group")
        self._group_chars = require_count(group_chars, "group_chars")
        self._workers = require_count(workers, "workers")
        self.languages = require_languages(languages)
        self.calls, self._lock = 0, threading.Lock()
        mode = f"choose-{LEAST_MASS}" if probabilities else f"json-{group}-{group_chars}"
        version = f"prompts-{content_key(self._prompts, RULE, FORM, QUOTING)[:12]}"
        self.fingerprint = "+".join(["llm-judge", self._backend.fingerprint, version, mode, f"window{window}"])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __repr__(self) -> str:
        named = f"{self._backend.fingerprint!r}, probabilities={self._probabilities}"
        return f"LLMJudge({named}, calls={self.calls}, {reads(self)})"

    @property
    def backends(self) -> list[Backend]:
        """The language models that it asks."""
        return [self._backend]

    def many(self, task: str, items: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Answer one kind of question for many items, in few calls; see `ask_many`."""
        require_option(task, "task", TASKS)
        return self._asked(task, items) if items else []

    def _asked(self, task: str, items: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The answers to one kind of question for many items, each or a failure;
        nothing in a language it reads not."""
        reasons = [self._unread(item) for item in items]
        if not any(reasons):
            return self._asked_all(task, items)
        read = [item for item, reason in zip(items, reasons, strict=True) if not reason]
        found = iter(self._asked_all(task, read) if read else [])
        return [
            _not_read(task, item, reason) if reason else next(found)
            for item, reason in zip(items, reasons, strict=True)
        ]

    def _unread(self, item: tuple[Any, ...]) -> str:
        """Why an item's text, or a statement about it, is not read; '' where nothing
        speaks against it."""
        if self.languages is None:
            return ""
        listed = item[1] if len(item) > 1 and isinstance(item[1], (list, tuple)) else ()
        for text in (item[0], " ".join(getattr(part, "text", str(part)) for part in listed)):
            if code := foreign_language(str(text)[:4000], self.languages):
                own = " and ".join(map(language_name, self.languages)) or "no language"
                remedy = "ask a model that does, or declare it in languages="
                said = f"the text is in {language_name(code)}"
                return f"{said}, and this judge reads {own}: {remedy}"
        return ""

    def _asked_all(self, task: str, items: Sequence[tuple[Any, ...]]) -> list[Any]:
        if task == "statements":
            return self._cases(task, items)
        if task == "resolve":
            return self._resolved(items)
        if task == "refusal":
            return self._refusals(items)
        return (self._judged if task in ("entail", "answer") else self._texts)(task, items)

    def _count(self, calls: int) -> None:
        """Count calls, from several threads."""
        with self._lock:
            self.calls += calls

    def _cases(self, task: str, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The results of cases in JSON, each or a failure."""

        form = self._forms[task]

        def ask(group: Sequence[tuple[Any, ...]], complaint: str) -> list[Any]:
            self._count(1)
            return ask_group(self._backend, form, task, group, prompt=self._prompts[task], complaint=complaint)

        group, characters = self._group, self._group_chars
        return ask_cases(form.case, cases, ask, most=group, characters=characters, workers=self._workers)

    def _choices(
        self, task: str, cases: Sequence[Mapping[str, object]], options: Sequence[str]
    ) -> list[Choice | JudgeFailure]:
        """The choice for each case, or a failure."""
        prompt = self._prompts[task if task == "refusal" else f"one {task}"]
        self._count(len(cases))
        prompts = [choice_prompt(prompt, case, options) for case in cases]
        return choose(self._backend, task, prompts, options, self._workers)

    def _judged(
        self, task: str, items: Sequence[tuple[str, Sequence[str | Question]]]
    ) -> list[Sequence[Judged | JudgeFailure] | JudgeFailure]:
        """Entailments or answers: planned, asked in JSON or as choices, put
        together."""
        plan = plan_statements(items, self._window)
        if not self._probabilities:
            return collect(
                task,
                items,
                plan,
                self._cases(task, [(window, batch) for _, window, batch in plan]),
                _worst_or_best,
            )
        name, options = ("statement", LABELS) if task == "entail" else ("question", ("yes", "no"))
        singles = [(text, window, [part]) for text, window, batch in plan for part in batch]
        cases = [
            {
                "premise" if task == "entail" else "text": " ".join(s.text for s in window),
                name: getattr(part, "text", part),
            }
            for _, window, (part,) in singles
        ]
        chosen = self._choices(task, cases, options)
        results = [choice if isinstance(choice, JudgeFailure) else [_from_choice(task, choice)] for choice in chosen]
        return collect(task, items, singles, results, _worst_or_best)

    def _refusals(self, items: Sequence[tuple[str]]) -> list[Flag | JudgeFailure]:
        """Flags from the probability of yes.

        A text without a word is undecided and not asked about.
        """
        asked = [text for (text,) in items if re.search(r"\w", text)]
        choices = iter(self._choices("refusal", [{"answer": text} for text in asked], ["yes", "no"]))
        flags: list[Flag | JudgeFailure] = []
        for (text,) in items:
            choice = next(choices) if re.search(r"\w", text) else None
            if choice is None or isinstance(choice, JudgeFailure):
                flags.append(choice or Flag(value=None, reason="the text is empty"))
            elif choice.hard:
                flags.append(Flag(value=choice.label == "yes", reason="asked the model"))
            else:
                chance = min(1.0, choice.probabilities["yes"])
                flags.append(Flag(value=chance > 0.5, probability=chance, reason="asked the model"))
        return flags

    def _resolved(self, items: Sequence[tuple[str, Sequence[str] | None]]) -> list[Resolution | JudgeFailure]:
        """Units with their pronouns replaced, window by window."""
        plan = plan_units(items, self._window)
        joined = rejoined(
            len(items), [item for item, _ in plan], self._cases("resolve", [(units,) for _, units in plan])
        )
        note = "pronouns were resolved by the model"
        return [
            units if isinstance(units, JudgeFailure) else Resolution(units=tuple(units), note=note) for units in joined
        ]

    def _texts(self, task: str, items: Sequence[tuple[str, Any]]) -> list[Any]:
        """Keyphrases (at most n of all windows, placed in the whole text) or
        questions."""
        plan = plan_texts(task, items, self._window)
        joined = rejoined(len(items), [item for item, _, _ in plan], self._cases(task, [case[1:] for case in plan]))
        if task == "questions":
            return joined
        return [
            found
            if isinstance(found, JudgeFailure)
            else [place_keyphrase(text, p, None) for p in dict.fromkeys(k.text for k in found)][:n]
            for (text, n), found in zip(items, joined, strict=True)
        ]
