"""Hostile hands for as long as you have: `python -m tests.torture --minutes 60 --seed 1`, or `make torture`.

Each *kind* of torture (kills, damage, full disks, links, no locks, tables, stores, servers, encodings, proxies, names,
pages, shell) is a function of a random generator and an empty folder. It raises `Wrong` when a promise of SECURITY.md
or of the documentation is broken, and any other exception that leaves it is a finding too. A case is known by its kind
and seed, so that each finding comes with the command that repeats it.
"""

import os

# Lots are forked: threads of the parent's do not come along, and whoever waits for them then waits for ever.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
