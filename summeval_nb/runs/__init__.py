"""Long runs that can be stopped and go on: workers, jobs, costs, reports."""
