# A plain private module: edited here, exported by no notebook, tested in tests/test_judge.py.
"""How a language model is asked the seven questions (chapter 46): cases planned, put in JSON or as choices, joined."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from summeval_nb.judged._bounds import Asked
from summeval_nb.judged._llm_bounds import choice_calls, json_calls, most_of_item
from summeval_nb.judged._llm_plans import ask_cases, collect, plan_statements, plan_texts, plan_units, rejoined
from summeval_nb.judged._llm_tasks import Task, ask_group, choice_prompt, choose
from summeval_nb.judged.judge import place_keyphrase
from summeval_nb.judged.judging import LABELS, Answer, BulkJudge, Entailment, Flag, JudgeFailure, Question, Resolution
from summeval_nb.models.base import Backend
from summeval_nb.text.language import foreign_language, language_name, reads


def _not_read(
    purpose: str, item: tuple[Any, ...], reason: str
) -> Flag | list[Entailment] | list[Answer] | JudgeFailure:
    """What stands for an answer about a text that is not read: no label, no answer, no flag, and why."""
    if purpose == "refusal":
        return Flag(value=None, reason=reason)
    if purpose == "entail":
        return [Entailment(label=None, reason=reason) for _ in item[1]]
    if purpose == "answer":
        return [Answer(value=None, reason=reason) for _ in item[1]]
    return JudgeFailure(purpose, reason)


Judged: TypeAlias = Entailment | Answer


class AskingJudge(BulkJudge):
    """The plumbing of `LLMJudge`, which says what is asked, how statements are read and windows are put together."""

    _tasks: Mapping[str, Task]
    _put_together: Callable[[Sequence[Judged | JudgeFailure]], Judged | JudgeFailure]
    _from_choice: Callable[[str, Mapping[str, float]], Judged]
    _backend: Backend
    _prompts: Mapping[str, str]
    _probabilities: bool
    _window: int
    _group: int
    _group_chars: int
    _workers: int
    _lock: threading.Lock
    calls: int
    languages: tuple[str, ...] | None = None

    @property
    def backends(self) -> list[Backend]:
        """The language models that it asks."""
        return [self._backend]

    def calls_for(self, purpose: str, items: Sequence[tuple[Any, ...]]) -> Asked:
        """At most what `many(purpose, items)` calls, and what each reply holds; a `Most` stands for unknown texts."""
        chosen = self._probabilities and purpose in ("entail", "answer")
        found = [most_of_item(purpose, item, self._window, one_by_one=chosen) for item in items]
        if chosen or purpose == "refusal":
            options = LABELS if purpose == "entail" else ("yes", "no")
            prompt = self._prompts[purpose if purpose == "refusal" else f"one {purpose}"]
            calls = choice_calls(prompt, options, [one for one, _ in found])
        else:
            group = self._group, self._group_chars
            calls = json_calls(self._prompts[purpose], [one for one, _ in found], *group)
        return Asked(calls, [reply for _, reply in found])

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def __repr__(self) -> str:
        named = f"{self._backend.fingerprint!r}, probabilities={self._probabilities}"
        return f"LLMJudge({named}, calls={self.calls}, {reads(self)})"

    def _asked(self, purpose: str, items: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The answers to one kind of question for many items, each or a failure; nothing in a language it reads not."""
        reasons = [self._unread(item) for item in items]
        if not any(reasons):
            return self._asked_all(purpose, items)
        read = [item for item, reason in zip(items, reasons, strict=True) if not reason]
        found = iter(self._asked_all(purpose, read) if read else [])
        return [
            _not_read(purpose, item, reason) if reason else next(found)
            for item, reason in zip(items, reasons, strict=True)
        ]

    def _unread(self, item: tuple[Any, ...]) -> str:
        """Why an item's text, or a statement about it, is not read; '' where nothing speaks against it."""
        if self.languages is None:
            return ""
        listed = item[1] if len(item) > 1 and isinstance(item[1], (list, tuple)) else ()
        for text in (item[0], " ".join(getattr(one, "text", str(one)) for one in listed)):
            if code := foreign_language(str(text)[:4000], self.languages):
                own = " and ".join(map(language_name, self.languages)) or "no language"
                remedy = "ask a model that does, or declare it in languages="
                return f"the text is in {language_name(code)}, and this judge reads {own}: {remedy}"
        return ""

    def _asked_all(self, purpose: str, items: Sequence[tuple[Any, ...]]) -> list[Any]:
        if purpose == "statements":
            return self._cases(purpose, items)
        if purpose == "resolve":
            return self._resolved(items)
        if purpose == "refusal":
            return self._refusals(items)
        return (self._judged if purpose in ("entail", "answer") else self._texts)(purpose, items)

    def _count(self, calls: int) -> None:
        """Count calls, from several threads."""
        with self._lock:
            self.calls += calls

    def _cases(self, purpose: str, cases: Sequence[tuple[Any, ...]]) -> list[Any]:
        """The results of cases in JSON, each or a failure."""

        task = self._tasks[purpose]

        def ask(group: Sequence[tuple[Any, ...]], complaint: str) -> list[Any]:
            self._count(1)
            return ask_group(
                self._backend,
                task,
                purpose,
                group,
                prompt=self._prompts[purpose],
                complaint=complaint,
            )

        group, characters = self._group, self._group_chars
        return ask_cases(task.case, cases, ask, most=group, characters=characters, workers=self._workers)

    def _choices(
        self,
        purpose: str,
        cases: Sequence[Mapping[str, object]],
        options: Sequence[str],
    ) -> list[dict[str, float] | JudgeFailure]:
        """The options' probabilities for each case, or a failure."""
        prompt = self._prompts[purpose if purpose == "refusal" else f"one {purpose}"]
        self._count(len(cases))
        prompts = [choice_prompt(prompt, case, options) for case in cases]
        return choose(self._backend, purpose, prompts, options, self._workers)

    def _judged(
        self, purpose: str, items: Sequence[tuple[str, Sequence[str | Question]]]
    ) -> list[Sequence[Judged | JudgeFailure] | JudgeFailure]:
        """Entailments or answers: planned, asked in JSON or as choices, put together."""
        plan = plan_statements(items, self._window)
        if not self._probabilities:
            return collect(
                purpose,
                items,
                plan,
                self._cases(purpose, [(window, lot) for _, window, lot in plan]),
                self._put_together,
            )
        name, options = ("statement", LABELS) if purpose == "entail" else ("question", ("yes", "no"))
        singles = [(text, window, [part]) for text, window, lot in plan for part in lot]
        cases = [
            {
                "premise" if purpose == "entail" else "text": " ".join(s.text for s in window),
                name: getattr(part, "text", part),
            }
            for _, window, (part,) in singles
        ]
        chosen = self._choices(purpose, cases, options)
        results = [one if isinstance(one, JudgeFailure) else [self._from_choice(purpose, one)] for one in chosen]
        return collect(purpose, items, singles, results, self._put_together)

    def _refusals(self, items: Sequence[tuple[str]]) -> list[Flag | JudgeFailure]:
        """Flags from the probability of yes; a text without a word is undecided and not asked about."""
        asked = [text for (text,) in items if re.search(r"\w", text)]
        chances = iter(self._choices("refusal", [{"answer": text} for text in asked], ["yes", "no"]))
        flags: list[Flag | JudgeFailure] = []
        for (text,) in items:
            one = next(chances) if re.search(r"\w", text) else None
            if one is None or isinstance(one, JudgeFailure):
                flags.append(one or Flag(value=None, reason="the text is empty"))
            else:
                flags.append(
                    Flag(
                        value=one["yes"] > 0.5,
                        probability=min(1.0, one["yes"]),
                        reason="asked the model",
                    )
                )
        return flags

    def _resolved(self, items: Sequence[tuple[str, Sequence[str] | None]]) -> list[Resolution | JudgeFailure]:
        """Units with their pronouns replaced, window by window."""
        plan = plan_units(items, self._window)
        joined = rejoined(
            len(items),
            [item for item, _ in plan],
            self._cases("resolve", [(units,) for _, units in plan]),
        )
        note = "pronouns were resolved by the model"
        return [one if isinstance(one, JudgeFailure) else Resolution(units=tuple(one), note=note) for one in joined]

    def _texts(self, purpose: str, items: Sequence[tuple[str, Any]]) -> list[Any]:
        """Keyphrases (at most n of all windows, placed in the whole text) or questions."""
        plan = plan_texts(purpose, items, self._window)
        joined = rejoined(
            len(items),
            [item for item, _, _ in plan],
            self._cases(purpose, [case[1:] for case in plan]),
        )
        if purpose == "questions":
            return joined
        return [
            found
            if isinstance(found, JudgeFailure)
            else [place_keyphrase(text, p, None) for p in dict.fromkeys(k.text for k in found)][:n]
            for (text, n), found in zip(items, joined, strict=True)
        ]
