"""Hostile hands for as long as you have: `python -m tests.torture --minutes 60 --seed 1`, or `make torture`.

Each kind of torture is a function of a random generator and an empty folder. It raises `Wrong` when a promise is
broken, and any other exception that leaves it is a finding too. A case is known by its kind and seed.
"""

import os

# Lots are forked: threads of the parent's do not come along, and whoever waits for them then waits for ever.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
