"""How well do the packaged checkers work? Every figure that README, reports and the page say of them comes from here.

    python benchmarks/how_well.py                    judge again the sets that no fit has seen, and print all tables
    python benchmarks/how_well.py --write            and write the items, the package's rows and nbs/how_well.md
    python benchmarks/how_well.py --left-out CSV     take the sets that a checker was fitted to from
                                                     `fit_embedded.py --left-out CSV` (an hour), or, of the careful one
                                                     samples of them, from `measure_careful.py --left-out CSV`

An item is what has a label: a sentence, or a whole summary, which is judged by its worst sentence. Each set is counted
whole, but for the careful checker's samples of the public ones. A set that a shipped checker was fitted to is judged by
models that had seen neither its labels nor its articles; what they said of each item is in `how_well_items.csv.gz`, so
that the tables can be made again without the sets. Intervals are of the bootstrap over articles.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parent))
from _labelled import SETS, documents

from summeval_nb import evaluate_many
from summeval_nb.core.resampling import Resampling
from summeval_nb.evidence import bench_sentences, load_checker
from summeval_nb.evidence.base import article_mark, shown_row
from summeval_nb.evidence.labelled import MEASURES, measure_intervals, weighted_measures

HERE = Path(__file__).parent
ITEMS = HERE / "how_well_items.csv.gz"
ASSETS = HERE.parent / "summeval_nb" / "assets"
PAGE = HERE.parent / "nbs" / "how_well.md"
CHECKERS = ("embedded", "careful", "words")
STATES = ("supported", "unclear", "contradicted")
NAMES = {  # key and domain: what the set is called, what of it is judged, where it is from
    ("qags_cnndm", ""): ("QAGS, CNN/DailyMail", "sentences", "Wang et al. 2020"),
    ("summeval", ""): ("SummEval, consistency", "summaries", "Fabbri et al. 2021"),
    ("xsumfaith", ""): ("XSumFaith", "summaries", "Maynez et al. 2020"),
    ("defacto", ""): ("DeFacto", "summaries", "Liu et al. 2023"),
    ("summedits", "podcast"): ("SummEdits, podcasts", "summaries", "Laban et al. 2023"),
    ("summedits", "sales_email"): ("SummEdits, sales e-mails", "summaries", "Laban et al. 2023"),
    ("package", ""): ("Eight articles of the package", "sentences", "written for this project"),
    ("held_out", ""): ("Ten held-out articles", "sentences", "written for this project"),
    ("near_copies", ""): ("Near copies", "sentences", "written for this project"),
}
WRITTEN = {"held_out": HERE / "fresh_articles_16.json", "near_copies": HERE / "near_copies.json"}
THRESHOLDS = (0.5, 0.6, 0.7)
KINDS = {
    "close": "true, close to the wording",
    "copy": "true, a near copy",
    "paraphrase": "true, a paraphrase",
    "number": "wrong number",
    "name": "wrong name",
    "role": "exchanged roles",
    "negation": "a *not* too many or too few",
    "antonym": "the opposite word",
    "time": "wrong time",
    "cause": "wrong cause",
    "unsaid": "plausible, but nowhere said",
    "kind": "another thing of the same kind",
    "place": "wrong place",
    "other": "another wrong word",
}


def written_items(checker: str) -> pd.DataFrame:
    """Return the items of the sets that were written for this project, as `evaluate` judges them."""
    rows: list[dict[str, Any]] = []
    given = [
        ("package", sentence.article, sentence.text, sentence.supported, sentence.kind)
        for sentence in bench_sentences()
    ]
    for key, file in WRITTEN.items():
        for article in json.loads(file.read_text(encoding="utf-8")):
            given += [(key, article["text"], s["text"], s["supported"], s["kind"]) for s in article["sentences"]]
    results = evaluate_many([item[1] for item in given], [item[2] for item in given], checker=checker, progress=False)
    articles = {text: place for place, text in enumerate(dict.fromkeys(item[1] for item in given))}
    for place, ((key, text, _, label, kind), result) in enumerate(zip(given, results, strict=True)):
        # What a checker without contradictions does not support is stored as contradicted: it has two states.
        found = {"contradicted" if v.state == "not supported" else v.state for v in result.verdicts}
        if None in found:
            raise ValueError(f"{key}, item {place} has no verdict: {result.reason}")
        row = {"checker": checker, "key": key, "domain": "", "article": articles[text], "item": place}
        row |= {"label": int(label), "kind": kind, "state": next(s for s in reversed(STATES) if s in found)}
        rows.append(row | {"probability": min(verdict.probability for verdict in result.verdicts)})
    return pd.DataFrame(rows).round({"probability": 5})


def set_row(items: pd.DataFrame, n_resamples: int = 1000) -> dict[str, Any]:
    """Return the measures of one checker on one set, with 95 % intervals over articles."""
    first = items.iloc[0]
    name, judged, source = NAMES[first["key"], first["domain"]]
    sides = [items["label"].to_numpy(float), items["probability"].to_numpy(float)]
    sides.append((items["state"] == "supported").to_numpy(float))
    values = weighted_measures(*sides, np.ones((1, len(items))))[0].tolist()
    ends = measure_intervals(sides, pd.factorize(items["article"])[0], Resampling(n_resamples))
    row: dict[str, Any] = {"checker": first["checker"], "key": first["key"], "set": name, "judged": judged}
    row |= {"source": source, "n": len(items), "n_false": int((items["label"] == 0).sum())}
    for measure, value, (low, high) in zip(MEASURES, values, ends, strict=True):
        shares = {measure: value, f"{measure}_low": low, f"{measure}_high": high}
        row |= {key: None if share is None or np.isnan(share) else round(share, 4) for key, share in shares.items()}
    denied = items[items["state"] == "contradicted"]
    row["unclear"] = round(float((items["state"] == "unclear").mean()), 4)
    row["contradicted"] = len(denied)
    row["contradicted_right"] = round(float((denied["label"] == 0).mean()), 4) if len(denied) else None
    return row


def set_rows(items: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a row for each checker and set, in the order of the page."""
    lots = dict(iter(items.groupby(["checker", "key", "domain"])))
    return [set_row(lots[checker, *key]) for checker in CHECKERS for key in NAMES]


def kind_rows(items: pd.DataFrame, checker: str) -> list[dict[str, Any]]:
    """Return how many sentences of each kind got which state, over the sets that were written for this project."""
    own = items[(items["checker"] == checker) & items["kind"].isin(KINDS)]
    counts = pd.crosstab(own["kind"], own["state"]).reindex(index=list(KINDS), columns=list(STATES), fill_value=0)
    return [
        {"kind": KINDS[kind], "sentences": int(row.sum()), **{state: int(row[state]) for state in STATES}}
        for kind, row in counts.iterrows()
    ]


def threshold_rows(items: pd.DataFrame) -> list[dict[str, str]]:
    """Return what the embedded checker calls supported at its own threshold and above, in the mean over sets.

    Below its own the states cannot be told from the items: a clash decides there as well.
    """
    own, rows = items[items["checker"] == "embedded"], []
    sets = {"public sets": own["key"].isin(SETS), "held-out articles": own["key"].isin(WRITTEN)}
    for threshold in sorted({load_checker("embedded").threshold, *THRESHOLDS}):
        yes = (own["state"] == "supported") & (own["probability"] >= threshold)
        row = {"threshold": f"{threshold:.2f}".removeprefix("0")}
        for name, chosen in sets.items():
            means = yes[chosen].groupby([own["key"][chosen], own["label"][chosen]]).mean().unstack().mean()
            row[f"{name}, false: not supported"] = f"{1 - means[0]:.2f}".removeprefix("0")
            row[f"{name}, true: supported"] = f"{means[1]:.2f}".removeprefix("0")
        rows.append(row)
    return rows


def markdown(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as a table in Markdown."""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def count(kinds: Sequence[dict[str, Any]], name: str) -> str:
    """Return in words how many sentences of a kind were called supported."""
    chosen = [row for row in kinds if row["kind"] == KINDS[name]]
    return f"{sum(row['supported'] for row in chosen)} of {sum(row['sentences'] for row in chosen)}"


def page(items: pd.DataFrame, rows: Sequence[dict[str, Any]]) -> str:
    """Return the page *How well does it work?*; each of its figures is made of the items."""
    tables = {}
    for checker in CHECKERS:
        own = [row for row in rows if row["checker"] == checker]
        tables[checker] = markdown([shown_row(row) for row in own])
    denied = [
        {
            "set": row["set"],
            "called contradicted": row["contradicted"],
            "of them false": f"{row['contradicted_right']:.2f}".removeprefix("0"),
        }
        for row in rows
        if row["checker"] == "embedded" and row["contradicted"]
    ]
    kinds = kind_rows(items, "embedded")
    passed = {row["key"]: f"{100 - 100 * row['false_found']:.0f} %" for row in rows if row["checker"] == "embedded"}
    told = {name: count(kinds, name.removesuffix("s")) for name in ("numbers", "names", "roles")}
    told |= {"paraphrases": count(kinds, "paraphrase"), "copies_passed": passed["near_copies"]}
    told["unsaid"] = count(kinds, "unsaid")
    aucs = {(row["checker"], row["key"]): row["auc"] for row in rows}
    news = ("qags_cnndm", "summeval", "xsumfaith", "defacto")
    told["ahead"] = str(sum(aucs["words", key] > aucs["embedded", key] for key in news))
    careful, quick = ([row["auc"] for row in rows if row["checker"] == name] for name in ("careful", "embedded"))
    told["careful_ahead"] = str(sum(a > b for a, b in zip(careful, quick, strict=True)))
    published = json.loads((ASSETS / "checker_references.json").read_text(encoding="utf-8"))["published"]
    tables |= {"denied": markdown(denied), "kinds": markdown(kinds), "published": markdown(published)}
    tables["thresholds"] = markdown(threshold_rows(items))
    text = (HERE / "how_well_page.md").read_text(encoding="utf-8")
    return text.format(**tables, **told, qags_passed=passed["qags_cnndm"])


def article_marks(folder: Path) -> dict[str, str]:
    """Return for each set that the checkers were fitted to short marks of its articles."""
    articles, _ = documents(folder)
    marks = {
        name: sorted({article_mark(" ".join(article.sentences)) for article in articles if article.set == name})
        for name in SETS
    }
    return {name: base64.b64encode(b"".join(own)).decode() for name, own in marks.items()}


def main() -> None:
    """Judge, print, and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="write the items, the package's rows and the page")
    parser.add_argument("--left-out", type=Path, nargs="*", default=[], metavar="CSV", help="what left-out models say")
    options = parser.parse_args()
    stored = pd.read_csv(ITEMS, keep_default_na=False) if ITEMS.exists() else pd.DataFrame({"key": []})
    new = [pd.read_csv(path, keep_default_na=False).assign(kind="") for path in options.left_out]
    again = {checker for frame in new for checker in frame["checker"]}
    old = pd.concat([stored[stored["key"].isin(SETS) & ~stored["checker"].isin(again)], *new])
    columns = ["checker", "key", "domain", "article", "item", "label", "kind", "probability", "state"]
    items = pd.concat([old, *map(written_items, CHECKERS)], ignore_index=True)[columns]
    rows = set_rows(items)
    for checker in CHECKERS:
        print(f"\n{checker}\n{pd.DataFrame([shown_row(row) for row in rows if row['checker'] == checker]).to_string()}")
    print(pd.DataFrame(kind_rows(items, "embedded")).to_string())
    text = page(items, rows)
    if not options.write:
        print("the page says so" if PAGE.read_text(encoding="utf-8") == text else "the page says otherwise: --write")
        return
    items.to_csv(ITEMS, index=False, compression={"method": "gzip", "mtime": 0})
    asset = ASSETS / "how_well.json"
    judges = {name: load_checker(name) for name in CHECKERS}
    kept = {name: {"fingerprint": judge.fingerprint, "threshold": judge.threshold} for name, judge in judges.items()}
    marks = json.loads(asset.read_text(encoding="utf-8"))["articles"] if asset.exists() else {}
    if "SUMMEVAL_NB_DATA" in os.environ:
        marks = article_marks(Path(os.environ["SUMMEVAL_NB_DATA"]))
    found = {"checkers": kept, "rows": rows, "articles": marks}
    asset.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(text, encoding="utf-8")
    print(f"wrote {ITEMS.name}, {asset.name} and {PAGE.name}")


if __name__ == "__main__":
    main()
