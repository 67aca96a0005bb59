"""Run the torture for some minutes, or one case again."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path

import summeval_nb

from ..servers.misbehaving import MisbehavingServer
from .harness import Case, attempt, torture
from .names import names
from .pages import pages
from .runs import damage, disks, kills
from .servers import servers
from .shell import shell
from .stores import stores
from .tables import tables

CASES: list[Case] = [kills, damage, disks, tables, stores, servers, names, pages, shell]
KINDS = {case.__name__: case for case in CASES}


def warm() -> None:
    """Import what is slow to import, once, before lots are forked."""
    summeval_nb.evaluate("It rained.", "It rained.")
    summeval_nb.summarization_score("It rained in Paris.", "It rained.")
    with MisbehavingServer() as server:
        summeval_nb.ServerBackend("scripted", base_url=server.url, timeout=60).choose("Well?", ["yes", "no"])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long (default 60)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="where the cases begin (default: the clock)")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=[*KINDS], help="these kinds only")
    parser.add_argument("--again", metavar="KIND:SEED", help="one case, as a finding names it")
    chosen = parser.parse_args()
    if chosen.again:
        kind, _, seed = chosen.again.rpartition(":")
        with tempfile.TemporaryDirectory(prefix="torture-") as folder:
            found = attempt(kind, KINDS[kind], int(seed), Path(folder))
        print(found or "no finding", file=sys.stderr)
        return int(found is not None)
    print(f"seed {chosen.seed}, {chosen.minutes:g} minutes, kinds: {', '.join(chosen.only)}", flush=True)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # says its counts, and leaves no process behind
    if chosen.minutes > 1:
        warm()
    kinds = {name: KINDS[name] for name in chosen.only}
    report = torture(kinds, seed=chosen.seed, seconds=60 * chosen.minutes, say=lambda text: print(text, flush=True))
    print(report)
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
