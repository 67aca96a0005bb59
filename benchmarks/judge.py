"""Judged answers: rows per second in bulk against row by row, calls to a backend per row, and a second run.

    python benchmarks/judge.py [--rows 500] [--single 40] [--answers 5]
    python benchmarks/judge.py --agreement 100     # writes the table of numbers that chapter 52 shows
    python benchmarks/judge.py --facts 100          # and the part of it on questions about facts (45 minutes of a core)
    python benchmarks/judge.py --server http://127.0.0.1:8080/v1 --model SmolLM2-135M-Instruct   # the one of chapter 51

The rows are made of SummEval's articles (five systems' summaries as answers, the first reference as the ground truth)
where SUMMEVAL_NB_DATA names the folder of real data, and of the sample articles otherwise. Both ways are timed in the
same process and in turns; on a busy machine the ratio is worth more than the times.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from summeval_nb.core.data import load_summeval, sample_articles
from summeval_nb.evidence.model_checkers import LLMChecker
from summeval_nb.judged.answers import evaluate_answer, evaluate_answers
from summeval_nb.judged.embedded import EmbeddedJudge
from summeval_nb.judged.judging import JudgeFailure, Question
from summeval_nb.judged.llm import LLMJudge
from summeval_nb.judged.summary_score import summarization_scores
from summeval_nb.models.base import ScriptedBackend
from summeval_nb.models.server import ServerBackend
from summeval_nb.models.store import Store

TABLE = Path(__file__).parents[1] / "summeval_nb" / "assets" / "summary_score_agreement.json"


def real_data():
    folder = os.environ.get("SUMMEVAL_NB_DATA")
    return load_summeval(Path(folder) / "summeval.jsonl.gz") if folder else None


def make_rows(count: int, answers: int = 5) -> list[dict[str, str]]:
    """Rows in which some answers share a context."""
    data = real_data()
    if data is None:
        articles = sample_articles()
        rows = [
            {
                "contexts": f"{a.text}\n\nCopy {n}.",
                "question": "What happened?",
                "ground_truth": a.faithful.text,
                "answer": s.text,
            }
            for n in range(count // 12 + 1)
            for a in articles
            for s in a.summaries.values()
        ]
        return rows[:count]
    rows = []
    for article in range(len(data.sources)):
        for system in range(answers):
            texts = {"contexts": data.sources[article], "ground_truth": data.references[article][0]}
            rows.append({**texts, "question": "What happened?", "answer": data.summaries[article][system]})
    return rows[:count]


def speed(rows: list[dict[str, str]], single: int) -> None:
    """Bulk against row by row, a sample of the rows spread over the table; one warm-up each."""
    judge = EmbeddedJudge()
    evaluate_answer(**rows[0], judge=judge)
    chosen = rows[:: max(1, len(rows) // single)][:single]
    start = time.perf_counter()
    one_by_one = [evaluate_answer(**row, judge=judge) for row in chosen]
    slow = (time.perf_counter() - start) / len(chosen)
    start = time.perf_counter()
    table = evaluate_answers(rows, judge=judge, progress=False)
    fast = (time.perf_counter() - start) / len(rows)
    by_answer = {(report.contexts, report.answer): report for report in table}
    same = [
        abs((a or 0) - (b or 0))
        for inferred in one_by_one
        for name in inferred.inferences
        for a, b in [
            (inferred.inferences[name].score, by_answer[inferred.contexts, inferred.answer].inferences[name].score)
        ]
    ]
    print(f"embedded judge, {len(rows)} rows, {sum(len(report.rows()) for report in table)} statements judged")
    print(f"  row by row ({len(chosen)} rows): {1 / slow:6.2f} rows per second")
    print(f"  in bulk:                 {1 / fast:6.2f} rows per second, {slow / fast:.1f} x (floor 3 x, goal 6 x)")
    print(f"  greatest difference of a score: {max(same):.2g}")


def replay(prompt: str) -> str:
    """A backend's replies with the right form: no pronoun changed, one statement a hypothesis, everything neutral."""
    if prompt.startswith("Does the answer refuse"):
        return "no"
    cases = [json.loads(line.partition(": ")[2]) for line in prompt.splitlines() if line.startswith("Case ")]
    reply = {}
    for number, case in enumerate(cases, 1):
        if "units" in case:
            reply[f"case_{number}"] = case["units"]
        elif "hypothesis" in case:
            reply[f"case_{number}"] = [case["hypothesis"]]
        else:
            reply[f"case_{number}"] = [{"label": "neutral", "evidence": []} for _ in case["statements"]]
    return json.dumps(reply)


def calls(rows: list[dict[str, str]]) -> None:
    """How many calls a language model as the judge needs, in bulk and for one row, and in a second run."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "judge.sqlite")
        judge = LLMJudge(ScriptedBackend(replay))
        table = evaluate_answers(rows, judge=judge, store=store, progress=False)
        first = judge.calls
        evaluate_answers(rows, judge=judge, store=store, progress=False)
        again = judge.calls - first
    hypotheses = sum(len(inference.hypotheses) for report in table for inference in report.inferences.values())
    print(f"language model as the judge, {len(rows)} rows, {hypotheses} hypotheses judged, {table.n_failed} failed")
    print(
        f"  {first} calls: {first / len(rows):.2f} a row, {first / hypotheses:.2f} a hypothesis for all four purposes"
    )
    print(f"  second run over the same rows: {again} calls")
    language_judge = LLMJudge(ScriptedBackend(replay))
    evaluate_answer(**rows[0], judge=language_judge)
    print(f"  one row by itself: {language_judge.calls} calls")


def facts(articles: int) -> None:
    """Write the scores of the version that asks about facts, by the default judge, into that table.

    Articles are taken in an order drawn by chance (seed 14), one after the other; what is done is kept in a file of the
    folder for temporary files, so that a second call goes on where the first was stopped.
    """
    data = real_data()
    if data is None:
        raise SystemExit("set SUMMEVAL_NB_DATA to the folder of real data")
    kept = Path(tempfile.gettempdir()) / "summeval_facts.jsonl"
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    done = {row["article"]: row for row in map(json.loads, lines)}
    for i in np.random.default_rng(14).permutation(len(data.sources))[:articles].tolist():
        if i in done:
            continue
        rows = [{"contexts": data.sources[i], "summary": text} for text in data.summaries[i]]
        found = summarization_scores(rows, progress=False)
        done[i] = {"article": i, "signature": str(found.signature), "n_questions": len(found[0].questions)}
        for name in ("qa_score", "guarded"):
            values = [getattr(result, name) for result in found.results]
            done[i][name] = [None if value is None else round(value, 4) for value in values]
        with kept.open("a", encoding="utf-8") as file:
            file.write(json.dumps(done[i]) + "\n")
    drawn = sorted(done)
    part: dict[str, Any] = {"signature": done[drawn[0]]["signature"], "articles": drawn}
    part |= {name: [done[i][name] for i in drawn] for name in ("qa_score", "guarded", "n_questions")}
    write_table(json.loads(TABLE.read_text(encoding="utf-8")) | {"facts": part})
    kept.unlink()


def write_table(table: dict[str, Any]) -> None:
    """Write the table that chapter 52 shows, a row of numbers a line."""
    text = json.dumps(table, separators=(",", ":"))
    TABLE.write_text(re.sub(r"(\],)", r"\1\n", text) + "\n", encoding="utf-8")


def agreement(articles: int) -> None:
    """Write the QA score and conciseness beside people's ratings: numbers only, no text."""
    data = real_data()
    if data is None:
        raise SystemExit("set SUMMEVAL_NB_DATA to the folder of real data")
    chosen = range(min(articles, len(data.sources)))
    rows = [{"contexts": data.sources[i], "summary": text} for i in chosen for text in data.summaries[i]]
    systems = len(data.summaries[0])
    grid = lambda values: [
        [None if x is None else round(x, 4) for x in values[i * systems :][:systems]] for i in chosen
    ]
    results = summarization_scores(rows).results
    table: dict[str, Any] = {"signature": str(results[0].signature)}
    table["qa_score"] = grid([r.qa_score for r in results])
    table["conciseness"] = grid([r.conciseness for r in results])
    table["n_questions"] = [len(results[i * systems].questions) for i in chosen]
    table |= {
        name: [[round(float(x), 4) for x in data.ratings[name][i]] for i in chosen]
        for name in ("relevance", "consistency")
    }
    write_table(table)
    print(f"wrote {TABLE.name}: {len(chosen)} articles x {systems} systems")


def wisdom(server: str, model: str) -> None:
    """Write how often a model behind a server is right on 40 clear statements and 40 fresh refusals and answers."""
    backend = ServerBackend(model, base_url=server, timeout=240)
    grouped, single = LLMJudge(backend, workers=1), LLMJudge(backend, workers=1, probabilities=True)
    pairs = examples("clear_pairs")
    truth = [pair["label"] == "entailed" for pair in pairs]
    items = [(pair["premise"], [pair["statement"]]) for pair in pairs]
    asked = [
        (text, [Question(text=_question(statement), statement=statement) for statement in lot]) for text, lot in items
    ]
    rows = []

    def add(what: str, said: list[bool | None], chances: list[float | None], truth: list[bool]) -> None:
        judged = [(s, t) for s, t in zip(said, truth, strict=True) if s is not None]
        row = {"asked": what, "items": len(truth), "failed": len(truth) - len(judged)}
        row |= {"right": sum(s == t for s, t in judged), "said yes": sum(s for s, _ in judged)}
        both = [(a, b) for a, b in zip(chances[::2], chances[1::2], strict=True) if a is not None and b is not None]
        rows.append(row | {"pairs ranked right": sum(a > b for a, b in both) if both else None, "pairs": len(both)})
        print(rows[-1], flush=True)

    verdicts = LLMChecker(backend, workers=1).check_many([([text], lot[0]) for text, lot in items])
    chances = [verdict.probability for verdict in verdicts]
    add("LLMChecker: yes or no", [None if c is None else c >= 0.5 for c in chances], chances, truth)
    for name, judge in (("labels in JSON", grouped), ("probabilities", single)):
        found = [
            entailments if isinstance(entailments, JudgeFailure) else entailments[0]
            for entailments in judge.many("entail", items)
        ]
        labels = [
            None if isinstance(entailment, JudgeFailure) else entailment.label == "entailed" for entailment in found
        ]
        add(f"entail, {name}", labels, [getattr(entailment, "probability", None) for entailment in found], truth)
        found = [
            answers if isinstance(answers, JudgeFailure) else answers[0] for answers in judge.many("answer", asked)
        ]
        values = [None if isinstance(answer, JudgeFailure) else answer.value == 1 for answer in found]
        add(f"answer, {name}", values, [getattr(answer, "probability", None) for answer in found], truth)
    fresh = examples("refusals_fresh")
    flags = single.many("refusal", [(row["text"],) for row in fresh])
    said = [None if isinstance(flag, JudgeFailure) else bool(flag) for flag in flags]
    add("is it a refusal?", said, [None] * len(fresh), [row["refused"] for row in fresh])
    text = json.dumps({"model": model, "prompts": grouped.fingerprint.split("+")[2], "rows": rows}, indent=1)
    (TABLE.parent / "small_model.json").write_text(text + "\n", encoding="utf-8")


def _question(statement: str) -> str:
    return f"Is it true that {statement[0].lower()}{statement[1:].rstrip('.')}?"


def examples(name: str) -> list[dict[str, Any]]:
    """A file of labelled examples of the package."""
    return [json.loads(line) for line in (TABLE.parent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--single", type=int, default=40)
    parser.add_argument("--answers", type=int, default=5, help="answers that share a context, at most 16")
    parser.add_argument("--agreement", type=int, metavar="ARTICLES")
    parser.add_argument("--facts", type=int, metavar="ARTICLES")
    parser.add_argument("--server", help="the address of a model's server")
    parser.add_argument("--model", default="SmolLM2-135M-Instruct", help="its name there")
    arguments = parser.parse_args()
    if arguments.server:
        wisdom(arguments.server, arguments.model)
        return
    if arguments.facts:
        facts(arguments.facts)
        return
    if arguments.agreement:
        agreement(arguments.agreement)
        return
    rows = make_rows(arguments.rows, arguments.answers)
    if real_data() is None:
        print("without SUMMEVAL_NB_DATA: four sample articles repeated, which flatters the bulk way; not a measurement")
    speed(rows, arguments.single)
    calls(rows)


if __name__ == "__main__":
    main()
