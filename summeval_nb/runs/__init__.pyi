"""The public names of this part: one line a name, imported when first used."""

from .costs import Ledger as Ledger
from .costs import RecordingBackend as RecordingBackend
from .costs import find_backends as find_backends
from .costs import read_ledger as read_ledger
from .jobs import Job as Job
from .report import RunComparison as RunComparison
from .report import RunReport as RunReport
from .report import compare_runs as compare_runs
from .running import Estimate as Estimate
from .running import RunPlan as RunPlan
from .running import plan_run as plan_run
from .running import run as run
from .workers import RunStopped as RunStopped
