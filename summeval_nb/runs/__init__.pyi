"""The public names of this part: one line a name, imported when first used."""

from .batch import count_work as count_work
from .batch import run as run
from .costs import Ledger as Ledger
from .costs import calls_at_most as calls_at_most
from .costs import find_backends as find_backends
from .costs import plan_run as plan_run
from .costs import read_ledger as read_ledger
from .jobs import Job as Job
from .jobs import Work as Work
from .run_report import RunComparison as RunComparison
from .run_report import RunReport as RunReport
from .run_report import compare_scores as compare_scores
from .workers import RunStopped as RunStopped
