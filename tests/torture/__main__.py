"""Run the torture for some minutes, or one case again."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

from .harness import Report, again, torture
from .kinds import KINDS, warm


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=None, help="where the cases begin (default: the clock)")
    parser.add_argument("--only", nargs="+", choices=KINDS, help="these kinds only")
    parser.add_argument("--again", metavar="KIND:SEED", help="one case, as a finding names it")
    chosen = parser.parse_args()
    if chosen.again:
        kind, _, seed = chosen.again.rpartition(":")
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            return again(KINDS[kind], int(seed), Path(folder))
    seed = int(time.time()) if chosen.seed is None else chosen.seed
    kinds = {name: KINDS[name] for name in chosen.only or KINDS}
    print(f"seed {seed}, {chosen.minutes:g} minutes, kinds: {', '.join(kinds)}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # says its counts, and leaves no process behind
    if chosen.minutes > 1:
        warm()
    report: Report = torture(kinds, seed=seed, seconds=60 * chosen.minutes, say=lambda text: print(text, flush=True))
    print(report)
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
