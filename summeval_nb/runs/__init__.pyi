"""The public names of this part: one line a name, imported when first used."""

from .batch import run as run
from .costs import Ledger as Ledger
from .costs import find_backends as find_backends
from .costs import read_ledger as read_ledger
from .jobs import Job as Job
from .plan import Estimate as Estimate
from .plan import RecordingBackend as RecordingBackend
from .plan import RunPlan as RunPlan
from .plan import plan_run as plan_run
from .run_report import RunComparison as RunComparison
from .run_report import RunReport as RunReport
from .run_report import compare_runs as compare_runs
from .workers import RunStopped as RunStopped
