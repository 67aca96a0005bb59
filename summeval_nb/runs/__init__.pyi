"""The public names of this part: one line a name, imported when first used."""

from .costs import Estimate as Estimate
from .costs import RecordingBackend as RecordingBackend
from .costs import RunPlan as RunPlan
from .costs import plan_run as plan_run
from .report import RunComparison as RunComparison
from .report import RunReport as RunReport
from .report import compare_runs as compare_runs
from .running import Job as Job
from .running import run as run
from .workers import RunStopped as RunStopped
