"""Cards of six metrics with the package's items, and the time that each takes.

    python benchmarks/card.py [--metric rouge1 ...] [--markdown cards.md]

Seconds are wall time of the first call in this process, loading included. Allowed are 10 s for ROUGE and 90 s for the
embedded checker; exits with 1 if one of them takes longer.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from summeval_nb import metric_card

METRICS = ("rouge1", "rougeL", "bleu", "chrf", "bertscore", "embedded")
ALLOWED = {"rouge1": 10.0, "rougeL": 10.0, "embedded": 90.0}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metric", nargs="+", default=METRICS, help="names of metrics or checkers")
    parser.add_argument("--markdown", type=Path, help="where to write the cards")
    chosen = parser.parse_args()
    late, pages = [], []
    for name in chosen.metric:
        start = time.perf_counter()
        card = metric_card(name, progress=False)
        took = time.perf_counter() - start
        print(card, f"{name}: {took:.1f} s\n", sep="\n", flush=True)
        pages.append(card.to_markdown())
        late += [name] if took > ALLOWED.get(name, float("inf")) else []
    if chosen.markdown:
        chosen.markdown.write_text("\n".join(pages), encoding="utf-8")
    print(f"too slow: {', '.join(late)}" if late else "all within their time")
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
